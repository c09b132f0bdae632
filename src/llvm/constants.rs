//! Constants: each LLVM constant is translated once and found again by its address.
//!
//! Arrays of simple elements are copied as bytes in one call. Integers beyond 64 bits are taken
//! apart by constant shifts, since the C interface exposes 64 bits only. Constants that it cannot
//! express become [`Const::Unsupported`] with LLVM's text.

use super::code::{bin_op, cast_op};
use super::raw::{copy_text, llvm, take_message};
use super::reader::Reader;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind, LLVMValueKind as Kind};
use ompvm_ir::{BlockId, Const, ConstExpr, ConstId, GlobalRef, Type, TypeId};

impl Reader<'_> {
    /// Returns the id of an LLVM constant (or of metadata used as an operand).
    pub(super) fn constant(&mut self, value: LLVMValueRef) -> ConstId {
        if let Some(&id) = self.consts.get(&value) {
            return id;
        }
        let translated = self.translate_constant(value);
        let ty = self.type_of(value);
        let id = self.add_constant(translated, ty);
        self.consts.insert(value, id);
        id
    }

    /// Adds a constant without looking for an equal one.
    pub(super) fn add_constant(&mut self, constant: Const, ty: TypeId) -> ConstId {
        let mut tables = self.tables.lock();
        let id = tables.consts.push(constant);
        tables.const_types[id] = Some(ty);
        id
    }

    fn operand(&mut self, value: LLVMValueRef, index: u32) -> ConstId {
        self.constant(llvm!(core::LLVMGetOperand(value, index)))
    }

    fn translate_constant(&mut self, value: LLVMValueRef) -> Const {
        match llvm!(core::LLVMGetValueKind(value)) {
            Kind::LLVMConstantIntValueKind => self.integer(value),
            Kind::LLVMConstantFPValueKind => self.float(value),
            Kind::LLVMConstantPointerNullValueKind => Const::Null,
            Kind::LLVMConstantAggregateZeroValueKind => Const::Zero,
            Kind::LLVMUndefValueValueKind
            | Kind::LLVMConstantTokenNoneValueKind
            | Kind::LLVMConstantTargetNoneValueKind => Const::Undef,
            Kind::LLVMPoisonValueKind => Const::Poison,
            Kind::LLVMConstantDataArrayValueKind | Kind::LLVMConstantDataVectorValueKind => {
                Const::Data(raw_data(value))
            }
            Kind::LLVMConstantArrayValueKind
            | Kind::LLVMConstantStructValueKind
            | Kind::LLVMConstantVectorValueKind => {
                let count = llvm!(core::LLVMGetNumOperands(value)) as u32;
                Const::Aggregate((0..count).map(|i| self.operand(value, i)).collect())
            }
            Kind::LLVMFunctionValueKind
            | Kind::LLVMGlobalVariableValueKind
            | Kind::LLVMGlobalAliasValueKind
            | Kind::LLVMGlobalIFuncValueKind => match self.symbols.get(&value) {
                Some(&symbol) => Const::Global(symbol),
                None => unsupported(value),
            },
            Kind::LLVMBlockAddressValueKind => self.block_address(value),
            Kind::LLVMConstantExprValueKind => self.expression(value),
            Kind::LLVMMetadataAsValueValueKind => self.metadata(value),
            // The C interface has no kind for `dso_local_equivalent` and `no_cfi`, and reports them
            // as instructions; both mean the address of the function they hold.
            Kind::LLVMInstructionValueKind => {
                let target = llvm!(core::LLVMGetOperand(value, 0));
                match self.symbols.get(&target) {
                    Some(&symbol) => Const::Global(symbol),
                    None => unsupported(value),
                }
            }
            _ => unsupported(value),
        }
    }

    /// Returns the bits of a constant integer, least significant word first.
    fn words(&self, integer: LLVMValueRef, bits: u32) -> Vec<u64> {
        let low = |v| llvm!(core::LLVMConstIntGetZExtValue(v));
        if bits <= 64 {
            return vec![low(integer)];
        }
        let ty = llvm!(core::LLVMTypeOf(integer));
        (0..bits.div_ceil(64))
            .map(|word| {
                let by = llvm!(core::LLVMConstInt(ty, u64::from(word) * 64, 0));
                let name = c"".as_ptr();
                // Folds to a constant; nothing is inserted.
                let shifted = llvm!(core::LLVMBuildLShr(self.builder, integer, by, name));
                let word = self.word_type;
                let name = c"".as_ptr();
                low(llvm_trunc(self.builder, shifted, word, name))
            })
            .collect()
    }

    fn integer(&mut self, value: LLVMValueRef) -> Const {
        let ty = llvm!(core::LLVMTypeOf(value));
        if llvm!(core::LLVMGetTypeKind(ty)) != LLVMTypeKind::LLVMIntegerTypeKind {
            return self.splat(value, ty);
        }
        let bits = llvm!(core::LLVMGetIntTypeWidth(ty));
        let words = self.words(value, bits);
        if bits > 128 {
            return Const::BigInt(words.into());
        }
        Const::Int(join(&words))
    }

    fn float(&mut self, value: LLVMValueRef) -> Const {
        let ty = llvm!(core::LLVMTypeOf(value));
        let bits = match llvm!(core::LLVMGetTypeKind(ty)) {
            LLVMTypeKind::LLVMHalfTypeKind | LLVMTypeKind::LLVMBFloatTypeKind => 16,
            LLVMTypeKind::LLVMFloatTypeKind => 32,
            LLVMTypeKind::LLVMDoubleTypeKind => 64,
            LLVMTypeKind::LLVMX86_FP80TypeKind => 80,
            LLVMTypeKind::LLVMFP128TypeKind => 128,
            LLVMTypeKind::LLVMVectorTypeKind => return self.splat(value, ty),
            _ => return unsupported(value),
        };
        let int = llvm!(core::LLVMIntTypeInContext(self.parsed.context, bits));
        let integer = llvm!(core::LLVMConstBitCast(value, int));
        if llvm!(core::LLVMGetValueKind(integer)) != Kind::LLVMConstantIntValueKind {
            return unsupported(value);
        }
        Const::Float(join(&self.words(integer, bits)))
    }

    /// Translates a scalar constant of vector type, in which every lane is equal.
    fn splat(&mut self, value: LLVMValueRef, ty: LLVMTypeRef) -> Const {
        if llvm!(core::LLVMGetTypeKind(ty)) != LLVMTypeKind::LLVMVectorTypeKind {
            return unsupported(value);
        }
        let lanes = llvm!(core::LLVMGetVectorSize(ty));
        let lane = llvm!(core::LLVMGetAggregateElement(value, 0));
        if lane.is_null() || lane == value {
            return unsupported(value);
        }
        let lane = self.constant(lane);
        Const::Aggregate(vec![lane; lanes as usize].into())
    }

    fn block_address(&mut self, value: LLVMValueRef) -> Const {
        let function = llvm!(core::LLVMGetBlockAddressFunction(value));
        let block = llvm!(core::LLVMGetBlockAddressBasicBlock(value));
        let Some(&GlobalRef::Func(id)) = self.symbols.get(&function) else {
            return unsupported(value);
        };
        if self.addressed.insert(function) {
            let mut number = 0;
            let mut next = llvm!(core::LLVMGetFirstBasicBlock(function));
            while !next.is_null() {
                self.addressed_blocks
                    .insert(next, BlockId::from_u32(number));
                number += 1;
                next = llvm!(core::LLVMGetNextBasicBlock(next));
            }
        }
        match self.addressed_blocks.get(&block) {
            Some(&block) => Const::BlockAddress(id, block),
            None => unsupported(value),
        }
    }

    fn expression(&mut self, value: LLVMValueRef) -> Const {
        let opcode = llvm!(core::LLVMGetConstOpcode(value));
        if opcode == LLVMOpcode::LLVMGetElementPtr {
            let elem = self.type_id(llvm!(core::LLVMGetGEPSourceElementType(value)));
            let count = llvm!(core::LLVMGetNumOperands(value)) as u32;
            return Const::Expr(ConstExpr::Gep {
                elem,
                base: self.operand(value, 0),
                indices: (1..count).map(|i| self.operand(value, i)).collect(),
            });
        }
        if let Some(op) = cast_op(opcode) {
            return Const::Expr(ConstExpr::Cast(op, self.operand(value, 0)));
        }
        if let Some(op) = bin_op(opcode) {
            let a = self.operand(value, 0);
            let b = self.operand(value, 1);
            return Const::Expr(ConstExpr::Binary(op, a, b));
        }
        unsupported(value)
    }

    /// Translates metadata that is an argument of an intrinsic: a string (rounding modes, register
    /// names), or a node that begins with one, to its bytes; anything else to null.
    fn metadata(&mut self, value: LLVMValueRef) -> Const {
        let mut string = value;
        if !llvm!(core::LLVMIsAMDNode(value)).is_null() {
            let count = llvm!(core::LLVMGetMDNodeNumOperands(value)) as usize;
            let mut operands = vec![std::ptr::null_mut(); count];
            llvm!(core::LLVMGetMDNodeOperands(value, operands.as_mut_ptr()));
            match operands.first() {
                Some(&first) if !first.is_null() => string = first,
                _ => return Const::Null,
            }
        }
        if llvm!(core::LLVMIsAMDString(string)).is_null() {
            return Const::Null;
        }
        let mut len = 0;
        let text = llvm!(core::LLVMGetMDString(string, &mut len));
        Const::Data(copy_text(text, len as usize).into_boxed_bytes())
    }

    /// Creates a null constant of that type, for operands that carry nothing.
    pub(super) fn null_of(&mut self, ty: Type) -> ConstId {
        let ty = self.tables.lock().types.intern(ty);
        self.add_constant(Const::Null, ty)
    }
}

fn llvm_trunc(
    builder: LLVMBuilderRef,
    value: LLVMValueRef,
    ty: LLVMTypeRef,
    name: *const std::ffi::c_char,
) -> LLVMValueRef {
    llvm!(core::LLVMBuildTrunc(builder, value, ty, name))
}

fn join(words: &[u64]) -> u128 {
    let high = words.get(1).copied().unwrap_or(0);
    u128::from(words[0]) | u128::from(high) << 64
}

/// Returns the elements of a `ConstantDataSequential` as bytes in memory order.
fn raw_data(value: LLVMValueRef) -> Box<[u8]> {
    let mut len = 0usize;
    // llvm-sys declares the out parameter, a `size_t *`, as an integer of the same size.
    let address = &raw mut len as usize;
    let start = llvm!(core::LLVMGetRawDataValues(value, address));
    if start.is_null() || len == 0 {
        return Box::default();
    }
    // SAFETY: LLVM returned the start and, through `address`, the number of bytes that follow it;
    // the constant lives as long as its context.
    unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) }.into()
}

/// Returns LLVM's text of a value that `ir` cannot express.
pub(super) fn text(value: LLVMValueRef) -> Box<str> {
    let text = take_message(llvm!(core::LLVMPrintValueToString(value)));
    let text = text.trim();
    match text.char_indices().nth(400) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

fn unsupported(value: LLVMValueRef) -> Const {
    Const::Unsupported(text(value))
}
