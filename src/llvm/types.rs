//! Translation of LLVM's types to `ir`'s, each once.

use super::raw::{copy_cstr, llvm};
use super::reader::Reader;
use inkwell::llvm_sys::LLVMTypeKind as Kind;
use inkwell::llvm_sys::prelude::*;
use ompvm_ir::{FloatKind, Type, TypeId};
use std::ptr::null_mut;

impl Reader<'_> {
    /// Returns the id of an LLVM type.
    pub(super) fn type_id(&mut self, ty: LLVMTypeRef) -> TypeId {
        if let Some(&id) = self.types.get(&ty) {
            return id;
        }
        let translated = self.translate_type(ty);
        let id = self.tables.lock().types.intern(translated);
        self.types.insert(ty, id);
        id
    }

    /// Returns the id of a value's type.
    pub(super) fn type_of(&mut self, value: LLVMValueRef) -> TypeId {
        self.type_id(llvm!(core::LLVMTypeOf(value)))
    }

    fn type_ids(&mut self, types: &[LLVMTypeRef]) -> Box<[TypeId]> {
        types.iter().map(|&t| self.type_id(t)).collect()
    }

    fn translate_type(&mut self, ty: LLVMTypeRef) -> Type {
        let kind = llvm!(core::LLVMGetTypeKind(ty));
        match kind {
            Kind::LLVMVoidTypeKind => Type::Void,
            Kind::LLVMHalfTypeKind => Type::Float(FloatKind::Half),
            Kind::LLVMBFloatTypeKind => Type::Float(FloatKind::BFloat),
            Kind::LLVMFloatTypeKind => Type::Float(FloatKind::Float),
            Kind::LLVMDoubleTypeKind => Type::Float(FloatKind::Double),
            Kind::LLVMX86_FP80TypeKind => Type::Float(FloatKind::X86Fp80),
            Kind::LLVMFP128TypeKind => Type::Float(FloatKind::Fp128),
            Kind::LLVMIntegerTypeKind => Type::Int(llvm!(core::LLVMGetIntTypeWidth(ty))),
            Kind::LLVMPointerTypeKind => Type::Ptr(llvm!(core::LLVMGetPointerAddressSpace(ty))),
            Kind::LLVMVectorTypeKind | Kind::LLVMScalableVectorTypeKind => Type::Vector {
                elem: self.type_id(llvm!(core::LLVMGetElementType(ty))),
                len: llvm!(core::LLVMGetVectorSize(ty)),
                scalable: kind == Kind::LLVMScalableVectorTypeKind,
            },
            Kind::LLVMArrayTypeKind => Type::Array {
                elem: self.type_id(llvm!(core::LLVMGetElementType(ty))),
                len: llvm!(core::LLVMGetArrayLength2(ty)),
            },
            Kind::LLVMStructTypeKind => {
                if llvm!(core::LLVMIsOpaqueStruct(ty)) != 0 {
                    return Type::Opaque;
                }
                let count = llvm!(core::LLVMCountStructElementTypes(ty));
                let mut fields = vec![null_mut(); count as usize];
                llvm!(core::LLVMGetStructElementTypes(ty, fields.as_mut_ptr()));
                Type::Struct {
                    fields: self.type_ids(&fields),
                    packed: llvm!(core::LLVMIsPackedStruct(ty)) != 0,
                }
            }
            Kind::LLVMFunctionTypeKind => {
                let count = llvm!(core::LLVMCountParamTypes(ty));
                let mut params = vec![null_mut(); count as usize];
                llvm!(core::LLVMGetParamTypes(ty, params.as_mut_ptr()));
                Type::Func {
                    ret: self.type_id(llvm!(core::LLVMGetReturnType(ty))),
                    params: self.type_ids(&params),
                    variadic: llvm!(core::LLVMIsFunctionVarArg(ty)) != 0,
                }
            }
            Kind::LLVMLabelTypeKind => Type::Label,
            Kind::LLVMMetadataTypeKind => Type::Metadata,
            Kind::LLVMTokenTypeKind => Type::Token,
            Kind::LLVMX86_AMXTypeKind => Type::Amx,
            Kind::LLVMTargetExtTypeKind => {
                Type::Target(copy_cstr(llvm!(core::LLVMGetTargetExtTypeName(ty))))
            }
            Kind::LLVMPPC_FP128TypeKind => Type::Target("ppc_fp128".into()),
        }
    }
}
