//! Source locations: each `DILocation` and subprogram is translated once.
//!
//! Lexical blocks are folded into their subprogram, but the file of the innermost one counts
//! (`#include` inside a function).

use super::handles::{
    DebugLocation, DebugVariable, Instruction, Scope as SourceScope, SourceFile, Variable,
};
use super::reader::Reader;
use ompvm_ir::debug::{File, FileId, Loc, LocId, Scope, ScopeId};

/// Limit of a chain of lexical blocks or inlined calls; longer ones are cut.
const DEPTH: usize = 10_000;

impl<'p> Reader<'p> {
    /// Returns the location of an instruction.
    pub(super) fn location(&mut self, instruction: Instruction<'p>) -> Option<LocId> {
        let loc = instruction.debug_location()?;
        if let Some((last, id)) = self.last_loc
            && last == loc
        {
            return Some(id);
        }
        let id = self.location_id(loc);
        self.last_loc = Some((loc, id));
        Some(id)
    }

    fn location_id(&mut self, loc: DebugLocation<'p>) -> LocId {
        // The chain of call sites, innermost first, up to a known one.
        let mut chain = Vec::new();
        let mut next = Some(loc);
        let mut outer = None;
        while let Some(node) = next.filter(|_| chain.len() < DEPTH) {
            if let Some(&id) = self.locs.get(&node) {
                outer = Some(id);
                break;
            }
            chain.push(node);
            next = node.inlined_at();
        }
        for &node in chain.iter().rev() {
            let (file, scope) = self.scope_of(node.scope());
            let id = self.tables.lock().loc(Loc {
                file,
                line: node.line(),
                column: node.column(),
                scope,
                inlined_at: outer,
            });
            self.locs.insert(node, id);
            outer = Some(id);
        }
        outer.unwrap_or_else(|| ompvm_support::bug!("a location without a scope"))
    }

    /// Returns the file of a local scope and its enclosing subprogram.
    fn scope_of(&mut self, block: SourceScope<'p>) -> (FileId, ScopeId) {
        if let Some(&known) = self.scopes.get(&block) {
            return known;
        }
        let context = self.builder.context();
        let file = self.file(block.file(context));
        let mut node = block;
        for _ in 0..DEPTH {
            if !node.is_block() {
                break;
            }
            let Some(parent) = node.parent(context) else {
                break;
            };
            node = parent;
        }
        let scope = self.subprogram(node);
        self.scopes.insert(block, (file, scope));
        (file, scope)
    }

    /// Returns the scope of a `DISubprogram`.
    pub(super) fn subprogram(&mut self, node: SourceScope<'p>) -> ScopeId {
        if let Some(&id) = self.subprograms.get(&node) {
            return id;
        }
        let context = self.builder.context();
        let file = self.file(node.file(context));
        let (name, line) = (node.name(context), node.line());
        let id = self.tables.lock().scope(Scope { name, file, line });
        self.subprograms.insert(node, id);
        id
    }

    fn file(&mut self, node: Option<SourceFile<'p>>) -> FileId {
        if let Some(&id) = self.files.get(&node) {
            return id;
        }
        let file = match node {
            Some(node) => File {
                directory: node.directory(),
                name: node.name(),
            },
            None => File {
                directory: Box::default(),
                name: "(unknown file)".into(),
            },
        };
        let id = self.tables.lock().file(file);
        self.files.insert(node, id);
        id
    }

    /// Returns the declaration's location of a global variable.
    pub(super) fn global_location(&mut self, global: Variable<'p>) -> Option<LocId> {
        let variable = global.debug_variable()?;
        Some(self.variable_location(variable))
    }

    fn variable_location(&mut self, variable: DebugVariable<'p>) -> LocId {
        let file = self.file(variable.file());
        let scope = match variable.scope() {
            Some(scope) => self.scope_of(scope).1,
            None => self.tables.lock().scope(Scope {
                name: Box::default(),
                file,
                line: 0,
            }),
        };
        self.tables.lock().loc(Loc {
            file,
            line: variable.line(),
            column: 0,
            scope,
            inlined_at: None,
        })
    }
}
