//! Source locations: each `DILocation` and subprogram is translated once.
//!
//! Lexical blocks are folded into their subprogram, but the file of the innermost one counts
//! (`#include` inside a function). The C interface has no getters for a scope's parent and name, so
//! they are read as operands of the metadata node, at their fixed positions in `DebugInfoMetadata`
//! (file, scope, name).

use super::raw::{copy_text, llvm};
use super::reader::Reader;
use inkwell::llvm_sys::debuginfo::LLVMMetadataKind;
use inkwell::llvm_sys::prelude::*;
use ompvm_ir::debug::{File, FileId, Loc, LocId, Scope, ScopeId};
use std::ptr::null_mut;

/// Operand numbers of scope nodes.
const PARENT: usize = 1;
const NAME: usize = 2;
/// Operand numbers of Fortran common blocks.
const COMMON_PARENT: usize = 0;
const COMMON_FILE: usize = 3;

/// Limit of a chain of lexical blocks or inlined calls; longer ones are cut.
const DEPTH: usize = 10_000;

impl Reader<'_> {
    /// Returns the location of an instruction.
    pub(super) fn location(&mut self, instruction: LLVMValueRef) -> Option<LocId> {
        let loc = llvm!(debuginfo::LLVMInstructionGetDebugLoc(instruction));
        if loc.is_null() {
            return None;
        }
        if let Some((last, id)) = self.last_loc
            && last == loc
        {
            return Some(id);
        }
        let id = self.location_id(loc);
        self.last_loc = Some((loc, id));
        Some(id)
    }

    fn location_id(&mut self, loc: LLVMMetadataRef) -> LocId {
        // The chain of call sites, innermost first, up to a known one.
        let mut chain = Vec::new();
        let mut next = loc;
        let mut outer = None;
        while !next.is_null() && chain.len() < DEPTH {
            if let Some(&id) = self.locs.get(&next) {
                outer = Some(id);
                break;
            }
            chain.push(next);
            next = llvm!(debuginfo::LLVMDILocationGetInlinedAt(next));
        }
        for &node in chain.iter().rev() {
            let block = llvm!(debuginfo::LLVMDILocationGetScope(node));
            let (file, scope) = self.scope_of(block);
            let id = self.tables.lock().loc(Loc {
                file,
                line: llvm!(debuginfo::LLVMDILocationGetLine(node)),
                column: llvm!(debuginfo::LLVMDILocationGetColumn(node)),
                scope,
                inlined_at: outer,
            });
            self.locs.insert(node, id);
            outer = Some(id);
        }
        outer.unwrap_or_else(|| ompvm_support::bug!("a location without a scope"))
    }

    /// Returns the file of a local scope and its enclosing subprogram.
    fn scope_of(&mut self, block: LLVMMetadataRef) -> (FileId, ScopeId) {
        if let Some(&known) = self.scopes.get(&block) {
            return known;
        }
        let file = self.file_of(block);
        let mut node = block;
        for _ in 0..DEPTH {
            if !is_lexical(&llvm!(debuginfo::LLVMGetMetadataKind(node))) {
                break;
            }
            let common = is_common_block(node);
            let parent = self.operand_of(node, if common { COMMON_PARENT } else { PARENT });
            if parent.is_null() {
                break;
            }
            node = llvm!(core::LLVMValueAsMetadata(parent));
        }
        let scope = self.subprogram(node);
        self.scopes.insert(block, (file, scope));
        (file, scope)
    }

    /// Returns the scope of a `DISubprogram`.
    pub(super) fn subprogram(&mut self, node: LLVMMetadataRef) -> ScopeId {
        if let Some(&id) = self.subprograms.get(&node) {
            return id;
        }
        let file = self.file_of(node);
        let is_subprogram = matches!(
            llvm!(debuginfo::LLVMGetMetadataKind(node)),
            LLVMMetadataKind::LLVMDISubprogramMetadataKind
        );
        let (name, line) = if is_subprogram {
            let line = llvm!(debuginfo::LLVMDISubprogramGetLine(node));
            (self.string_operand(node, NAME), line)
        } else {
            (Box::default(), 0)
        };
        let id = self.tables.lock().scope(Scope { name, file, line });
        self.subprograms.insert(node, id);
        id
    }

    fn file_of(&mut self, scope: LLVMMetadataRef) -> FileId {
        // LLVM takes every scope's first operand for its file; a common block keeps it elsewhere.
        let node = if is_common_block(scope) {
            let file = self.operand_of(scope, COMMON_FILE);
            if file.is_null() {
                null_mut()
            } else {
                llvm!(core::LLVMValueAsMetadata(file))
            }
        } else {
            llvm!(debuginfo::LLVMDIScopeGetFile(scope))
        };
        self.file(node)
    }

    fn file(&mut self, node: LLVMMetadataRef) -> FileId {
        if let Some(&id) = self.files.get(&node) {
            return id;
        }
        let file = if node.is_null() {
            File {
                directory: Box::default(),
                name: "(unknown file)".into(),
            }
        } else {
            let mut len = 0;
            let text = llvm!(debuginfo::LLVMDIFileGetDirectory(node, &mut len));
            let directory = copy_text(text, len as usize);
            let text = llvm!(debuginfo::LLVMDIFileGetFilename(node, &mut len));
            File {
                directory,
                name: copy_text(text, len as usize),
            }
        };
        let id = self.tables.lock().file(file);
        self.files.insert(node, id);
        id
    }

    /// Returns an operand of a metadata node; null if there is none.
    fn operand_of(&self, node: LLVMMetadataRef, index: usize) -> LLVMValueRef {
        let value = llvm!(core::LLVMMetadataAsValue(self.parsed.context, node));
        let count = llvm!(core::LLVMGetMDNodeNumOperands(value)) as usize;
        let mut operands = vec![null_mut(); count];
        llvm!(core::LLVMGetMDNodeOperands(value, operands.as_mut_ptr()));
        operands.get(index).copied().unwrap_or(null_mut())
    }

    fn string_operand(&self, node: LLVMMetadataRef, index: usize) -> Box<str> {
        let operand = self.operand_of(node, index);
        if operand.is_null() || llvm!(core::LLVMIsAMDString(operand)).is_null() {
            return Box::default();
        }
        let mut len = 0;
        let text = llvm!(core::LLVMGetMDString(operand, &mut len));
        copy_text(text, len as usize)
    }

    /// Returns the declaration's location of a global variable.
    pub(super) fn global_location(&mut self, global: LLVMValueRef) -> Option<LocId> {
        let mut count = 0;
        let entries = llvm!(core::LLVMGlobalCopyAllMetadata(global, &mut count));
        if entries.is_null() {
            return None;
        }
        let mut found = None;
        for index in 0..count as u32 {
            let node = llvm!(core::LLVMValueMetadataEntriesGetMetadata(entries, index));
            if matches!(
                llvm!(debuginfo::LLVMGetMetadataKind(node)),
                LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind
            ) {
                let variable = llvm!(debuginfo::LLVMDIGlobalVariableExpressionGetVariable(node));
                if !variable.is_null() {
                    found = Some(self.variable_location(variable));
                    break;
                }
            }
        }
        llvm!(core::LLVMDisposeValueMetadataEntries(entries));
        found
    }

    fn variable_location(&mut self, variable: LLVMMetadataRef) -> LocId {
        let file = self.file(llvm!(debuginfo::LLVMDIVariableGetFile(variable)));
        let line = llvm!(debuginfo::LLVMDIVariableGetLine(variable));
        let scope = llvm!(debuginfo::LLVMDIVariableGetScope(variable));
        let scope = if scope.is_null() {
            self.tables.lock().scope(Scope {
                name: Box::default(),
                file,
                line: 0,
            })
        } else {
            self.scope_of(scope).1
        };
        self.tables.lock().loc(Loc {
            file,
            line,
            column: 0,
            scope,
            inlined_at: None,
        })
    }
}

fn is_common_block(node: LLVMMetadataRef) -> bool {
    matches!(
        llvm!(debuginfo::LLVMGetMetadataKind(node)),
        LLVMMetadataKind::LLVMDICommonBlockMetadataKind
    )
}

fn is_lexical(kind: &LLVMMetadataKind) -> bool {
    matches!(
        kind,
        LLVMMetadataKind::LLVMDILexicalBlockMetadataKind
            | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind
            | LLVMMetadataKind::LLVMDICommonBlockMetadataKind
    )
}
