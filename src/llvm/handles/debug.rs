//! Debug information: where in the source an instruction or a function is.

use super::{Context, Function, Instruction, handle};
use crate::raw::{copy_text, llvm};
use std::ptr::null_mut;

handle! {
    /// A function or block of the source.
    Scope(LLVMMetadataRef)
}

handle! {
    /// A line and column in a scope.
    DebugLocation(LLVMMetadataRef)
}

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

impl Scope<'_> {
    /// Returns the file's name as the compiler was given it, if it is known.
    pub(crate) fn file_name(self) -> Option<Box<str>> {
        let file = llvm!(debuginfo::LLVMDIScopeGetFile(self.raw()));
        if file.is_null() {
            return None;
        }
        let mut length = 0;
        let name = llvm!(debuginfo::LLVMDIFileGetFilename(file, &mut length));
        Some(copy_text(name, length as usize))
    }
}
