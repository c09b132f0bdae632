//! Other names of functions and variables, and functions that a resolver chooses.

use super::{Function, Module, Type, Value, list, narrower};
use crate::raw::llvm;

narrower! {
    /// Another name of a function or variable, or an address in one.
    Alias of Value
}

narrower! {
    /// A function whose address a resolver returns when the program is loaded.
    IFunc of Value
}

impl<'m> Module<'m> {
    /// Iterates over the aliases.
    pub(crate) fn aliases(self) -> impl Iterator<Item = Alias<'m>> {
        // SAFETY: the list holds live aliases of the module.
        let first =
            unsafe { Alias::from_nullable(llvm!(core::LLVMGetFirstGlobalAlias(self.raw()))) };
        list(first, |a| {
            // SAFETY: as for the first one.
            unsafe { Alias::from_nullable(llvm!(core::LLVMGetNextGlobalAlias(a.raw()))) }
        })
    }

    /// Iterates over the functions that resolvers choose.
    pub(crate) fn ifuncs(self) -> impl Iterator<Item = IFunc<'m>> {
        // SAFETY: the list holds live ifuncs of the module.
        let first =
            unsafe { IFunc::from_nullable(llvm!(core::LLVMGetFirstGlobalIFunc(self.raw()))) };
        list(first, |i| {
            // SAFETY: as for the first one.
            unsafe { IFunc::from_nullable(llvm!(core::LLVMGetNextGlobalIFunc(i.raw()))) }
        })
    }
}

impl<'m> Alias<'m> {
    /// Returns what the alias names.
    pub(crate) fn aliasee(self) -> Value<'m> {
        // SAFETY: aliases name a constant.
        unsafe { Value::from_raw(llvm!(core::LLVMAliasGetAliasee(self.raw()))) }
    }

    /// Makes it the name of something else.
    ///
    /// # Panics
    /// Panics if the value is no constant or has another type.
    pub(crate) fn set_aliasee(self, value: impl Into<Value<'m>>) {
        let value = value.into();
        assert!(value.is_constant() && value.of() == self.of(), "{self:?}");
        llvm!(core::LLVMAliasSetAliasee(self.raw(), value.raw()));
    }
}

impl<'m> IFunc<'m> {
    /// Returns what chooses the function.
    pub(crate) fn resolver(self) -> Value<'m> {
        // SAFETY: ifuncs have a resolver.
        unsafe { Value::from_raw(llvm!(core::LLVMGetGlobalIFuncResolver(self.raw()))) }
    }

    /// Returns the type of the function.
    pub(crate) fn signature(self) -> Type<'m> {
        // SAFETY: ifuncs have a value type.
        unsafe { Type::from_raw(llvm!(core::LLVMGlobalGetValueType(self.raw()))) }
    }

    /// Replaces it by a function and removes it from its module.
    ///
    /// # Safety
    /// No handle of it is used afterwards.
    pub(crate) unsafe fn replace_and_delete(self, function: Function<'m>) {
        self.replace_by(function);
        llvm!(core::LLVMEraseGlobalIFunc(self.raw()));
    }
}
