//! Modules, their context, and the layout of data.

use super::{Builder, Function, Type, Variable, handle, list};
use crate::raw::{copy_cstr, llvm};
use inkwell::llvm_sys::analysis::LLVMVerifierFailureAction;
use inkwell::llvm_sys::target::LLVMTargetDataRef;
use std::ffi::CStr;
use std::fmt;
use std::marker::PhantomData;

handle! {
    /// A module: functions, global variables, metadata.
    Module(LLVMModuleRef)
}

handle! {
    /// The owner of types and constants. Modules of one context can be linked.
    Context(LLVMContextRef)
}

impl<'m> Module<'m> {
    /// Returns the context that the module belongs to.
    pub(crate) fn context(self) -> Context<'m> {
        // SAFETY: a module's context is live while the module is.
        unsafe { Context::from_raw(llvm!(core::LLVMGetModuleContext(self.raw()))) }
    }

    /// Returns the layout of the module's target.
    pub(crate) fn layout(self) -> DataLayout<'m> {
        let raw = llvm!(target::LLVMGetModuleDataLayout(self.raw()));
        DataLayout(raw, PhantomData)
    }

    /// Returns the target triple.
    pub(crate) fn triple(self) -> Box<str> {
        copy_cstr(llvm!(core::LLVMGetTarget(self.raw())))
    }

    /// Iterates over the functions, defined and declared.
    pub(crate) fn functions(self) -> impl Iterator<Item = Function<'m>> {
        // SAFETY: the list holds live functions of the module.
        let first =
            unsafe { Function::from_nullable(llvm!(core::LLVMGetFirstFunction(self.raw()))) };
        list(first, |f| {
            // SAFETY: as for the first one.
            unsafe { Function::from_nullable(llvm!(core::LLVMGetNextFunction(f.raw()))) }
        })
    }

    /// Iterates over the global variables, defined and declared.
    pub(crate) fn variables(self) -> impl Iterator<Item = Variable<'m>> {
        // SAFETY: the list holds live variables of the module.
        let first = unsafe { Variable::from_nullable(llvm!(core::LLVMGetFirstGlobal(self.raw()))) };
        list(first, |v| {
            // SAFETY: as for the first one.
            unsafe { Variable::from_nullable(llvm!(core::LLVMGetNextGlobal(v.raw()))) }
        })
    }

    /// Finds the function with that name, defined or declared.
    pub(crate) fn function(self, name: &str) -> Option<Function<'m>> {
        // SAFETY: LLVM returns a live function of the module or null.
        unsafe {
            Function::from_nullable(llvm!(core::LLVMGetNamedFunctionWithLength(
                self.raw(),
                name.as_ptr().cast(),
                name.len()
            )))
        }
    }

    /// Finds the global variable with that name.
    pub(crate) fn variable(self, name: &str) -> Option<Variable<'m>> {
        // SAFETY: LLVM returns a live variable of the module or null.
        unsafe {
            Variable::from_nullable(llvm!(core::LLVMGetNamedGlobalWithLength(
                self.raw(),
                name.as_ptr().cast(),
                name.len()
            )))
        }
    }

    /// Adds a declaration. LLVM changes the name if it is taken.
    pub(crate) fn add_function(self, name: &str, of: Type<'m>) -> Function<'m> {
        assert!(of.is_function(), "a function's type is a function type");
        let name = super::value::terminated(name);
        // SAFETY: the new function is live and of this module.
        unsafe {
            Function::from_raw(llvm!(core::LLVMAddFunction(
                self.raw(),
                name.as_ptr(),
                of.raw()
            )))
        }
    }

    /// Returns the function with that name, and declares it if there is none.
    pub(crate) fn function_or_declare(self, name: &str, of: Type<'m>) -> Function<'m> {
        self.function(name)
            .unwrap_or_else(|| self.add_function(name, of))
    }

    /// Adds a global variable without an initializer. LLVM changes the name if it is taken.
    pub(crate) fn add_variable(self, name: &str, of: Type<'m>, space: u32) -> Variable<'m> {
        let name = super::value::terminated(name);
        // SAFETY: the new variable is live and of this module.
        unsafe {
            Variable::from_raw(llvm!(core::LLVMAddGlobalInAddressSpace(
                self.raw(),
                of.raw(),
                name.as_ptr(),
                space
            )))
        }
    }

    /// Returns the declaration of an intrinsic (`llvm.memset`) for these types, which overloaded
    /// ones need.
    pub(crate) fn intrinsic(self, name: &str, types: &[Type<'m>]) -> Function<'m> {
        let id = llvm!(core::LLVMLookupIntrinsicID(
            name.as_ptr().cast(),
            name.len()
        ));
        assert!(id != 0, "{name} is no intrinsic of LLVM");
        let mut types: Vec<_> = types.iter().map(|t| t.raw()).collect();
        // SAFETY: the declaration is live and of this module.
        unsafe {
            Function::from_raw(llvm!(core::LLVMGetIntrinsicDeclaration(
                self.raw(),
                id,
                types.as_mut_ptr(),
                types.len()
            )))
        }
    }

    /// Returns the assembly that belongs to no function.
    pub(crate) fn inline_asm(self) -> Box<str> {
        let mut len = 0;
        let text = llvm!(core::LLVMGetModuleInlineAsm(self.raw(), &mut len));
        crate::raw::copy_text(text, len)
    }

    /// Removes debug information from the module and its functions. Returns true if there was any.
    pub(crate) fn strip_debug_info(self) -> bool {
        llvm!(debuginfo::LLVMStripModuleDebugInfo(self.raw())) != 0
    }

    /// Checks that the module is well-formed.
    ///
    /// # Errors
    /// Returns LLVM's message about the first violation.
    pub(crate) fn verify(self) -> Result<(), String> {
        let mut message = std::ptr::null_mut();
        let broken = llvm!(analysis::LLVMVerifyModule(
            self.raw(),
            LLVMVerifierFailureAction::LLVMReturnStatusAction,
            &mut message
        )) != 0;
        let message = crate::raw::take_message(message);
        match broken {
            true => Err(crate::parse::one_line(&message)),
            false => Ok(()),
        }
    }

    /// Returns the module as textual IR.
    pub(crate) fn text(self) -> String {
        crate::raw::take_message(llvm!(core::LLVMPrintModuleToString(self.raw())))
    }

    /// Returns the module as bitcode.
    pub(crate) fn bitcode(self) -> Vec<u8> {
        crate::raw::take_buffer(llvm!(bit_writer::LLVMWriteBitcodeToMemoryBuffer(
            self.raw()
        )))
    }

    /// Returns the layout of data in the syntax of IR.
    pub(crate) fn layout_text(self) -> Box<str> {
        copy_cstr(llvm!(core::LLVMGetDataLayoutStr(self.raw())))
    }

    /// Removes assembly that belongs to no function.
    pub(crate) fn drop_inline_asm(self) {
        llvm!(core::LLVMSetModuleInlineAsm2(self.raw(), c"".as_ptr(), 0));
    }

    /// Runs passes, named as for `opt -passes=`, without a target.
    ///
    /// # Errors
    /// Returns LLVM's message.
    ///
    /// # Safety
    /// No handle of what the passes may remove is used afterwards.
    pub(crate) unsafe fn run_passes(self, passes: &CStr) -> Result<(), String> {
        super::machine::run_passes(self, passes, std::ptr::null_mut())
    }

    /// Returns the number of operands of metadata with that name; 0 if there is none.
    pub(crate) fn metadata_count(self, name: &CStr) -> u32 {
        llvm!(core::LLVMGetNamedMetadataNumOperands(
            self.raw(),
            name.as_ptr()
        ))
    }

    /// Returns the version of the debug information; 0 if there is none.
    pub(crate) fn debug_version(self) -> u32 {
        llvm!(debuginfo::LLVMGetModuleDebugMetadataVersion(self.raw()))
    }
}

impl fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl<'m> Context<'m> {
    /// Returns the integer type of that many bits.
    pub(crate) fn int(self, bits: u32) -> Type<'m> {
        // SAFETY: types live as long as their context.
        unsafe { Type::from_raw(llvm!(core::LLVMIntTypeInContext(self.raw(), bits))) }
    }

    /// Returns the type of pointers to the default address space.
    pub(crate) fn pointer(self) -> Type<'m> {
        self.pointer_to(0)
    }

    /// Returns the type of pointers to an address space.
    pub(crate) fn pointer_to(self, space: u32) -> Type<'m> {
        // SAFETY: types live as long as their context.
        unsafe { Type::from_raw(llvm!(core::LLVMPointerTypeInContext(self.raw(), space))) }
    }

    /// Returns the type of functions without a result.
    pub(crate) fn void(self) -> Type<'m> {
        // SAFETY: types live as long as their context.
        unsafe { Type::from_raw(llvm!(core::LLVMVoidTypeInContext(self.raw()))) }
    }

    /// Creates a builder that stands nowhere yet.
    pub(crate) fn builder(self) -> Builder<'m> {
        Builder::new(self)
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "context {:p}", self.raw())
    }
}

/// Sizes and offsets of types on a module's target.
#[derive(Clone, Copy)]
pub(crate) struct DataLayout<'m>(LLVMTargetDataRef, super::Owner<'m>);

impl<'m> DataLayout<'m> {
    /// Returns the size of a variable of this type with padding behind it, in bytes.
    pub(crate) fn size(self, of: Type<'m>) -> u64 {
        assert!(of.is_sized(), "{of:?} has no size");
        llvm!(target::LLVMABISizeOfType(self.0, of.raw()))
    }

    /// Returns the bytes that a store of this type writes.
    pub(crate) fn stored(self, of: Type<'m>) -> u64 {
        assert!(of.is_sized(), "{of:?} has no size");
        llvm!(target::LLVMStoreSizeOfType(self.0, of.raw()))
    }

    /// Returns the alignment of this type in bytes.
    #[cfg(test)]
    pub(crate) fn alignment(self, of: Type<'m>) -> u32 {
        assert!(of.is_sized(), "{of:?} has no size");
        llvm!(target::LLVMABIAlignmentOfType(self.0, of.raw()))
    }

    /// Returns the offset of a structure's field, in bytes.
    pub(crate) fn offset(self, of: Type<'m>, field: u32) -> u64 {
        assert!(of.field(field).is_some(), "{of:?} has no field {field}");
        llvm!(target::LLVMOffsetOfElement(self.0, of.raw(), field))
    }

    /// Returns the alignment that LLVM gives a global variable, in bytes.
    pub(crate) fn preferred_alignment(self, variable: Variable<'m>) -> u32 {
        llvm!(target::LLVMPreferredAlignmentOfGlobal(
            self.0,
            variable.raw()
        ))
    }
}
