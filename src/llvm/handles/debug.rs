//! Debug information: where in the source an instruction or a function is.

use super::{Context, Function, Instruction, Value, Variable, handle};
use crate::raw::{copy_text, llvm};
use inkwell::llvm_sys::debuginfo::LLVMMetadataKind;
use std::ptr::null_mut;

handle! {
    /// A function or block of the source.
    Scope(LLVMMetadataRef)
}

handle! {
    /// A line and column in a scope.
    DebugLocation(LLVMMetadataRef)
}

handle! {
    /// A file of the source.
    SourceFile(LLVMMetadataRef)
}

handle! {
    /// A variable of the source.
    DebugVariable(LLVMMetadataRef)
}

/// Numbers of a scope's operands that the C interface has no getters for. They are fixed by
/// `DebugInfoMetadata.h` (file, scope, name).
const PARENT: u32 = 1;
const NAME: u32 = 2;
/// Numbers of the operands of Fortran common blocks.
const COMMON_PARENT: u32 = 0;
const COMMON_FILE: u32 = 3;

impl<'m> Function<'m> {
    /// Returns the function's scope, if the module tells it.
    pub(crate) fn subprogram(self) -> Option<Scope<'m>> {
        // SAFETY: LLVM returns metadata of the context or null.
        unsafe { Scope::from_nullable(llvm!(debuginfo::LLVMGetSubprogram(self.raw()))) }
    }

    /// Returns the file and the line where the function begins, if the module tells them.
    pub(crate) fn source_line(self) -> Option<(Box<str>, u32)> {
        let scope = self.subprogram()?;
        let line = llvm!(debuginfo::LLVMDISubprogramGetLine(scope.raw()));
        (line != 0).then_some((scope.file_name()?, line))
    }
}

impl<'m> Instruction<'m> {
    /// Returns the place in the source, if the module tells it.
    pub(crate) fn debug_location(self) -> Option<DebugLocation<'m>> {
        // SAFETY: LLVM returns metadata of the context or null.
        unsafe {
            DebugLocation::from_nullable(llvm!(debuginfo::LLVMInstructionGetDebugLoc(self.raw())))
        }
    }

    /// Returns file and line of the source, if the module tells them.
    pub(crate) fn source_line(self) -> Option<(Box<str>, u32)> {
        let location = self.debug_location()?;
        let line = location.line();
        (line != 0).then_some((location.scope().file_name()?, line))
    }

    /// Sets or removes the place in the source.
    pub(crate) fn set_debug_location(self, location: Option<DebugLocation<'m>>) {
        let raw = location.map_or(null_mut(), DebugLocation::raw);
        llvm!(debuginfo::LLVMInstructionSetDebugLoc(self.raw(), raw));
    }
}

impl<'m> Context<'m> {
    /// Returns the place without a line in a scope, for instructions that no line has.
    pub(crate) fn artificial_location(self, scope: Scope<'m>) -> DebugLocation<'m> {
        // SAFETY: LLVM returns metadata of the context.
        unsafe {
            DebugLocation::from_raw(llvm!(debuginfo::LLVMDIBuilderCreateDebugLocation(
                self.raw(),
                0,
                0,
                scope.raw(),
                null_mut()
            )))
        }
    }
}

impl<'m> DebugLocation<'m> {
    /// Returns the line; 0 if none is known.
    pub(crate) fn line(self) -> u32 {
        llvm!(debuginfo::LLVMDILocationGetLine(self.raw()))
    }

    /// Returns the scope.
    pub(crate) fn scope(self) -> Scope<'m> {
        // SAFETY: locations have a scope.
        unsafe { Scope::from_raw(llvm!(debuginfo::LLVMDILocationGetScope(self.raw()))) }
    }
}

impl<'m> DebugLocation<'m> {
    /// Returns the column; 0 if none is known.
    pub(crate) fn column(self) -> u32 {
        llvm!(debuginfo::LLVMDILocationGetColumn(self.raw()))
    }

    /// Returns the call into which the place's function was inlined, if it was.
    pub(crate) fn inlined_at(self) -> Option<DebugLocation<'m>> {
        // SAFETY: LLVM returns a location of the context or null.
        unsafe { Self::from_nullable(llvm!(debuginfo::LLVMDILocationGetInlinedAt(self.raw()))) }
    }
}

impl<'m> Scope<'m> {
    /// Returns the file's name as the compiler was given it, if it is known.
    pub(crate) fn file_name(self) -> Option<Box<str>> {
        self.own_file().map(SourceFile::name)
    }

    fn own_file(self) -> Option<SourceFile<'m>> {
        // SAFETY: LLVM returns a file of the context or null.
        unsafe { SourceFile::from_nullable(llvm!(debuginfo::LLVMDIScopeGetFile(self.raw()))) }
    }

    fn kind(self) -> LLVMMetadataKind {
        llvm!(debuginfo::LLVMGetMetadataKind(self.raw()))
    }

    /// Returns true for functions.
    pub(crate) fn is_subprogram(self) -> bool {
        matches!(self.kind(), LLVMMetadataKind::LLVMDISubprogramMetadataKind)
    }

    /// Returns true for blocks in functions and for Fortran's common blocks.
    pub(crate) fn is_block(self) -> bool {
        matches!(
            self.kind(),
            LLVMMetadataKind::LLVMDILexicalBlockMetadataKind
                | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind
                | LLVMMetadataKind::LLVMDICommonBlockMetadataKind
        )
    }

    fn is_common_block(self) -> bool {
        matches!(self.kind(), LLVMMetadataKind::LLVMDICommonBlockMetadataKind)
    }

    /// Returns the line where a function begins; 0 for other scopes.
    pub(crate) fn line(self) -> u32 {
        match self.is_subprogram() {
            true => llvm!(debuginfo::LLVMDISubprogramGetLine(self.raw())),
            false => 0,
        }
    }

    /// Returns the file.
    pub(crate) fn file(self, context: Context<'m>) -> Option<SourceFile<'m>> {
        // LLVM takes every scope's first operand for its file; a common block keeps it elsewhere.
        if !self.is_common_block() {
            return self.own_file();
        }
        let file = self.operand(context, COMMON_FILE)?;
        // SAFETY: this operand of a common block is its file.
        unsafe { SourceFile::from_nullable(llvm!(core::LLVMValueAsMetadata(file.raw()))) }
    }

    /// Returns the scope around this one.
    pub(crate) fn parent(self, context: Context<'m>) -> Option<Scope<'m>> {
        let common = self.is_common_block();
        let parent = self.operand(context, if common { COMMON_PARENT } else { PARENT })?;
        // SAFETY: these operands are scopes.
        unsafe { Scope::from_nullable(llvm!(core::LLVMValueAsMetadata(parent.raw()))) }
    }

    /// Returns a function's name; empty for other scopes.
    pub(crate) fn name(self, context: Context<'m>) -> Box<str> {
        if !self.is_subprogram() {
            return Box::default();
        }
        let name = self.operand(context, NAME);
        name.and_then(Value::metadata_string).unwrap_or_default()
    }

    fn operand(self, context: Context<'m>, index: u32) -> Option<Value<'m>> {
        let node = llvm!(core::LLVMMetadataAsValue(context.raw(), self.raw()));
        // SAFETY: the value holds the node, and lives as long as the context.
        unsafe { Value::from_raw(node) }.metadata_operand(index)
    }
}

impl SourceFile<'_> {
    /// Returns the folder to which the name is relative.
    pub(crate) fn directory(self) -> Box<str> {
        let mut length = 0;
        let text = llvm!(debuginfo::LLVMDIFileGetDirectory(self.raw(), &mut length));
        copy_text(text, length as usize)
    }

    /// Returns the name as the compiler was given it.
    pub(crate) fn name(self) -> Box<str> {
        let mut length = 0;
        let text = llvm!(debuginfo::LLVMDIFileGetFilename(self.raw(), &mut length));
        copy_text(text, length as usize)
    }
}

impl<'m> Variable<'m> {
    /// Returns the variable of the source that this one is or is part of, if the module tells it.
    pub(crate) fn debug_variable(self) -> Option<DebugVariable<'m>> {
        let mut count = 0;
        let entries = llvm!(core::LLVMGlobalCopyAllMetadata(self.raw(), &mut count));
        if entries.is_null() {
            return None;
        }
        let mut variables = (0..count as u32).filter_map(|index| {
            let node = llvm!(core::LLVMValueMetadataEntriesGetMetadata(entries, index));
            let kind = llvm!(debuginfo::LLVMGetMetadataKind(node));
            if !matches!(
                kind,
                LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind
            ) {
                return None;
            }
            let variable = llvm!(debuginfo::LLVMDIGlobalVariableExpressionGetVariable(node));
            // SAFETY: LLVM returns a variable of the context or null.
            unsafe { DebugVariable::from_nullable(variable) }
        });
        let first = variables.next();
        llvm!(core::LLVMDisposeValueMetadataEntries(entries));
        first
    }
}

impl<'m> DebugVariable<'m> {
    /// Returns the file of the declaration.
    pub(crate) fn file(self) -> Option<SourceFile<'m>> {
        // SAFETY: LLVM returns a file of the context or null.
        unsafe { SourceFile::from_nullable(llvm!(debuginfo::LLVMDIVariableGetFile(self.raw()))) }
    }

    /// Returns the line of the declaration; 0 if it is not known.
    pub(crate) fn line(self) -> u32 {
        llvm!(debuginfo::LLVMDIVariableGetLine(self.raw()))
    }

    /// Returns the scope of the declaration.
    pub(crate) fn scope(self) -> Option<Scope<'m>> {
        // SAFETY: LLVM returns a scope of the context or null.
        unsafe { Scope::from_nullable(llvm!(debuginfo::LLVMDIVariableGetScope(self.raw()))) }
    }
}
