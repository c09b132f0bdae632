//! Types.

use super::{Context, TypeKind, Value, handle};
use crate::raw::{copy_cstr, llvm, take_message};
use std::fmt;

handle! {
    /// A type. Two handles are equal if the types are.
    Type(LLVMTypeRef)
}

impl<'m> Type<'m> {
    /// Returns the kind.
    pub(crate) fn kind(self) -> TypeKind {
        llvm!(core::LLVMGetTypeKind(self.raw()))
    }

    /// Returns the context that the type belongs to.
    pub(crate) fn context(self) -> Context<'m> {
        // SAFETY: a type's context is live while the type is.
        unsafe { Context::from_raw(llvm!(core::LLVMGetTypeContext(self.raw()))) }
    }

    pub(crate) fn is_void(self) -> bool {
        self.kind() == TypeKind::LLVMVoidTypeKind
    }

    pub(crate) fn is_pointer(self) -> bool {
        self.kind() == TypeKind::LLVMPointerTypeKind
    }

    pub(crate) fn is_function(self) -> bool {
        self.kind() == TypeKind::LLVMFunctionTypeKind
    }

    pub(crate) fn is_array(self) -> bool {
        self.kind() == TypeKind::LLVMArrayTypeKind
    }

    pub(crate) fn is_struct(self) -> bool {
        self.kind() == TypeKind::LLVMStructTypeKind
    }

    /// Returns true if variables can have this type.
    pub(crate) fn is_sized(self) -> bool {
        llvm!(core::LLVMTypeIsSized(self.raw())) != 0
    }

    /// Returns the bits of an integer type.
    pub(crate) fn int_width(self) -> Option<u32> {
        (self.kind() == TypeKind::LLVMIntegerTypeKind)
            .then(|| llvm!(core::LLVMGetIntTypeWidth(self.raw())))
    }

    /// Returns the address space of a pointer type.
    pub(crate) fn address_space(self) -> Option<u32> {
        self.is_pointer()
            .then(|| llvm!(core::LLVMGetPointerAddressSpace(self.raw())))
    }

    /// Returns the type of an array's or vector's elements.
    pub(crate) fn element(self) -> Option<Type<'m>> {
        let holds = matches!(
            self.kind(),
            TypeKind::LLVMArrayTypeKind
                | TypeKind::LLVMVectorTypeKind
                | TypeKind::LLVMScalableVectorTypeKind
        );
        // SAFETY: arrays and vectors have an element type.
        holds.then(|| unsafe { Type::from_raw(llvm!(core::LLVMGetElementType(self.raw()))) })
    }

    /// Returns the number of an array's or vector's elements.
    pub(crate) fn len(self) -> Option<u64> {
        match self.kind() {
            TypeKind::LLVMArrayTypeKind => Some(llvm!(core::LLVMGetArrayLength2(self.raw()))),
            TypeKind::LLVMVectorTypeKind => {
                Some(u64::from(llvm!(core::LLVMGetVectorSize(self.raw()))))
            }
            _ => None,
        }
    }

    /// Returns the type of an array of this type.
    pub(crate) fn array(self, len: u64) -> Type<'m> {
        // SAFETY: types live as long as their context.
        unsafe { Type::from_raw(llvm!(core::LLVMArrayType2(self.raw(), len))) }
    }

    /// Returns the type of a structure's field.
    pub(crate) fn field(self, index: u32) -> Option<Type<'m>> {
        let there =
            self.is_struct() && index < llvm!(core::LLVMCountStructElementTypes(self.raw()));
        // SAFETY: the field exists.
        there.then(|| unsafe {
            Type::from_raw(llvm!(core::LLVMStructGetTypeAtIndex(self.raw(), index)))
        })
    }

    /// Returns the types of a structure's fields; none for other types.
    pub(crate) fn fields(self) -> Vec<Type<'m>> {
        if !self.is_struct() {
            return Vec::new();
        }
        let count = llvm!(core::LLVMCountStructElementTypes(self.raw())) as usize;
        let mut raw = vec![std::ptr::null_mut(); count];
        llvm!(core::LLVMGetStructElementTypes(
            self.raw(),
            raw.as_mut_ptr()
        ));
        // SAFETY: LLVM has written all of them.
        raw.into_iter()
            .map(|t| unsafe { Type::from_raw(t) })
            .collect()
    }

    /// Returns the type of a function's result.
    pub(crate) fn result(self) -> Option<Type<'m>> {
        // SAFETY: function types have a result.
        self.is_function()
            .then(|| unsafe { Type::from_raw(llvm!(core::LLVMGetReturnType(self.raw()))) })
    }

    /// Returns the types of a function's parameters; none for other types.
    pub(crate) fn parameters(self) -> Vec<Type<'m>> {
        if !self.is_function() {
            return Vec::new();
        }
        let count = llvm!(core::LLVMCountParamTypes(self.raw())) as usize;
        let mut raw = vec![std::ptr::null_mut(); count];
        llvm!(core::LLVMGetParamTypes(self.raw(), raw.as_mut_ptr()));
        // SAFETY: LLVM has written all of them.
        raw.into_iter()
            .map(|t| unsafe { Type::from_raw(t) })
            .collect()
    }

    /// Returns true if a function takes further arguments.
    pub(crate) fn is_variadic(self) -> bool {
        self.is_function() && llvm!(core::LLVMIsFunctionVarArg(self.raw())) != 0
    }

    /// Returns the type of functions with this result.
    pub(crate) fn function(self, parameters: &[Type<'m>]) -> Type<'m> {
        let mut raw: Vec<_> = parameters.iter().map(|t| t.raw()).collect();
        // SAFETY: types live as long as their context.
        unsafe {
            Type::from_raw(llvm!(core::LLVMFunctionType(
                self.raw(),
                raw.as_mut_ptr(),
                raw.len() as u32,
                0
            )))
        }
    }

    /// Returns an integer constant of this type: the value's low bits.
    pub(crate) fn constant(self, value: u64) -> Value<'m> {
        assert!(self.int_width().is_some(), "{self:?} is no integer type");
        // SAFETY: constants live as long as their context.
        unsafe { Value::from_raw(llvm!(core::LLVMConstInt(self.raw(), value, 0))) }
    }

    /// Returns zero, null or a zeroed aggregate.
    pub(crate) fn zero(self) -> Value<'m> {
        // SAFETY: constants live as long as their context.
        unsafe { Value::from_raw(llvm!(core::LLVMConstNull(self.raw()))) }
    }

    /// Returns a value of this type that is undefined.
    pub(crate) fn undef(self) -> Value<'m> {
        // SAFETY: constants live as long as their context.
        unsafe { Value::from_raw(llvm!(core::LLVMGetUndef(self.raw()))) }
    }

    /// Returns the pointer of this type with that address.
    pub(crate) fn at_address(self, address: u64) -> Value<'m> {
        assert!(self.is_pointer(), "{self:?} is no type of pointers");
        let address = self.context().int(64).constant(address);
        // SAFETY: constants live as long as their context.
        unsafe { Value::from_raw(llvm!(core::LLVMConstIntToPtr(address.raw(), self.raw()))) }
    }

    /// Returns a constant array of values of this type.
    ///
    /// # Panics
    /// Panics if one has another type or is no constant.
    pub(crate) fn array_of(self, values: &[Value<'m>]) -> Value<'m> {
        let fits = |v: &Value<'m>| v.of() == self && v.is_constant();
        assert!(values.iter().all(fits), "elements of {self:?}");
        let mut values: Vec<_> = values.iter().map(|v| v.raw()).collect();
        // SAFETY: constants live as long as their context.
        unsafe {
            Value::from_raw(llvm!(core::LLVMConstArray2(
                self.raw(),
                values.as_mut_ptr(),
                values.len() as u64
            )))
        }
    }

    /// Returns the number of a vector's elements; for scalable ones, the least.
    pub(crate) fn lanes(self) -> Option<u32> {
        let vector = matches!(
            self.kind(),
            TypeKind::LLVMVectorTypeKind | TypeKind::LLVMScalableVectorTypeKind
        );
        vector.then(|| llvm!(core::LLVMGetVectorSize(self.raw())))
    }

    /// Returns true for structures whose fields are not known.
    pub(crate) fn is_opaque(self) -> bool {
        self.is_struct() && llvm!(core::LLVMIsOpaqueStruct(self.raw())) != 0
    }

    /// Returns true for structures without padding.
    pub(crate) fn is_packed(self) -> bool {
        self.is_struct() && llvm!(core::LLVMIsPackedStruct(self.raw())) != 0
    }

    /// Returns the name of a type that only some target has.
    pub(crate) fn target_name(self) -> Option<Box<str>> {
        (self.kind() == TypeKind::LLVMTargetExtTypeKind)
            .then(|| copy_cstr(llvm!(core::LLVMGetTargetExtTypeName(self.raw()))))
    }

    /// Returns the type in the syntax of IR.
    pub(crate) fn text(self) -> String {
        take_message(llvm!(core::LLVMPrintTypeToString(self.raw())))
    }
}

impl fmt::Debug for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}
