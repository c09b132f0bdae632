//! Translation of LLVM's types to `ir`'s, each once.

use super::handles::{self, TypeKind as Kind};
use super::reader::Reader;
use ompvm_ir::{FloatKind, Type, TypeId};

impl<'p> Reader<'p> {
    /// Returns the id of an LLVM type.
    pub(super) fn type_id(&mut self, ty: handles::Type<'p>) -> TypeId {
        if let Some(&id) = self.types.get(&ty) {
            return id;
        }
        let translated = self.translate_type(ty);
        let id = self.tables.lock().types.intern(translated);
        self.types.insert(ty, id);
        id
    }

    /// Returns the id of a value's type.
    pub(super) fn type_of(&mut self, value: handles::Value<'p>) -> TypeId {
        self.type_id(value.of())
    }

    fn type_ids(&mut self, types: Vec<handles::Type<'p>>) -> Box<[TypeId]> {
        types.into_iter().map(|t| self.type_id(t)).collect()
    }

    fn translate_type(&mut self, ty: handles::Type<'p>) -> Type {
        if let Some(bits) = ty.int_width() {
            return Type::Int(bits);
        }
        if let Some(space) = ty.address_space() {
            return Type::Ptr(space);
        }
        if let Some(ret) = ty.result() {
            return Type::Func {
                ret: self.type_id(ret),
                params: self.type_ids(ty.parameters()),
                variadic: ty.is_variadic(),
            };
        }
        if let Some(elem) = ty.element() {
            return self.sequence(ty, elem);
        }
        match ty.kind() {
            Kind::LLVMVoidTypeKind => Type::Void,
            Kind::LLVMHalfTypeKind => Type::Float(FloatKind::Half),
            Kind::LLVMBFloatTypeKind => Type::Float(FloatKind::BFloat),
            Kind::LLVMFloatTypeKind => Type::Float(FloatKind::Float),
            Kind::LLVMDoubleTypeKind => Type::Float(FloatKind::Double),
            Kind::LLVMX86_FP80TypeKind => Type::Float(FloatKind::X86Fp80),
            Kind::LLVMFP128TypeKind => Type::Float(FloatKind::Fp128),
            Kind::LLVMStructTypeKind if ty.is_opaque() => Type::Opaque,
            Kind::LLVMStructTypeKind => Type::Struct {
                fields: self.type_ids(ty.fields()),
                packed: ty.is_packed(),
            },
            Kind::LLVMLabelTypeKind => Type::Label,
            Kind::LLVMMetadataTypeKind => Type::Metadata,
            Kind::LLVMTokenTypeKind => Type::Token,
            Kind::LLVMX86_AMXTypeKind => Type::Amx,
            Kind::LLVMTargetExtTypeKind => Type::Target(ty.target_name().unwrap_or_default()),
            Kind::LLVMPPC_FP128TypeKind => Type::Target("ppc_fp128".into()),
            Kind::LLVMIntegerTypeKind
            | Kind::LLVMPointerTypeKind
            | Kind::LLVMFunctionTypeKind
            | Kind::LLVMArrayTypeKind
            | Kind::LLVMVectorTypeKind
            | Kind::LLVMScalableVectorTypeKind => {
                ompvm_support::bug!("a type without its parts: {ty:?}")
            }
        }
    }

    fn sequence(&mut self, ty: handles::Type<'p>, elem: handles::Type<'p>) -> Type {
        let elem = self.type_id(elem);
        match ty.lanes() {
            Some(len) => Type::Vector {
                elem,
                len,
                scalable: ty.kind() == Kind::LLVMScalableVectorTypeKind,
            },
            None => Type::Array {
                elem,
                len: ty.len().unwrap_or(0),
            },
        }
    }
}
