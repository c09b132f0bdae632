//! Constants: each LLVM constant is translated once and found again by its address.
//!
//! Arrays of simple elements are copied as bytes in one call. Integers beyond 64 bits are taken
//! apart by constant shifts, since the C interface exposes 64 bits only. Constants that it cannot
//! express become [`Const::Unsupported`] with LLVM's text.

use super::code::{bin_op, cast_op};
use super::handles::{self, TypeKind, Value, ValueKind as Kind};
use super::reader::Reader;
use ompvm_ir::{BlockId, Const, ConstExpr, ConstId, GlobalRef, Type, TypeId};

impl<'p> Reader<'p> {
    /// Returns the id of an LLVM constant (or of metadata used as an operand).
    pub(super) fn constant(&mut self, value: Value<'p>) -> ConstId {
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

    fn constants_of(&mut self, value: Value<'p>) -> impl Iterator<Item = ConstId> {
        value.operands().map(|operand| self.constant(operand))
    }

    fn translate_constant(&mut self, value: Value<'p>) -> Const {
        match value.kind() {
            Kind::LLVMConstantIntValueKind => self.integer(value),
            Kind::LLVMConstantFPValueKind => self.float(value),
            Kind::LLVMConstantPointerNullValueKind => Const::Null,
            Kind::LLVMConstantAggregateZeroValueKind => Const::Zero,
            Kind::LLVMUndefValueValueKind
            | Kind::LLVMConstantTokenNoneValueKind
            | Kind::LLVMConstantTargetNoneValueKind => Const::Undef,
            Kind::LLVMPoisonValueKind => Const::Poison,
            Kind::LLVMConstantDataArrayValueKind | Kind::LLVMConstantDataVectorValueKind => {
                Const::Data(value.raw_elements().unwrap_or_default())
            }
            Kind::LLVMConstantArrayValueKind
            | Kind::LLVMConstantStructValueKind
            | Kind::LLVMConstantVectorValueKind => {
                Const::Aggregate(self.constants_of(value).collect())
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
                let target = value.operands().next();
                match target.and_then(|target| self.symbols.get(&target)) {
                    Some(&symbol) => Const::Global(symbol),
                    None => unsupported(value),
                }
            }
            _ => unsupported(value),
        }
    }

    /// Returns the bits of a constant integer, least significant word first.
    fn words(&self, integer: Value<'p>, bits: u32) -> Vec<u64> {
        match integer.unsigned() {
            Some(word) => vec![word],
            None => (0..bits.div_ceil(64))
                .map(|word| self.builder.word(integer, word))
                .collect(),
        }
    }

    fn integer(&mut self, value: Value<'p>) -> Const {
        let ty = value.of();
        let Some(bits) = ty.int_width() else {
            return self.splat(value, ty);
        };
        let words = self.words(value, bits);
        if bits > 128 {
            return Const::BigInt(words.into());
        }
        Const::Int(join(&words))
    }

    fn float(&mut self, value: Value<'p>) -> Const {
        let ty = value.of();
        let bits = match ty.kind() {
            TypeKind::LLVMHalfTypeKind | TypeKind::LLVMBFloatTypeKind => 16,
            TypeKind::LLVMFloatTypeKind => 32,
            TypeKind::LLVMDoubleTypeKind => 64,
            TypeKind::LLVMX86_FP80TypeKind => 80,
            TypeKind::LLVMFP128TypeKind => 128,
            TypeKind::LLVMVectorTypeKind => return self.splat(value, ty),
            _ => return unsupported(value),
        };
        let integer = value.with_type(self.builder.context().int(bits));
        if integer.kind() != Kind::LLVMConstantIntValueKind {
            return unsupported(value);
        }
        Const::Float(join(&self.words(integer, bits)))
    }

    /// Translates a scalar constant of vector type, in which every lane is equal.
    fn splat(&mut self, value: Value<'p>, ty: handles::Type<'p>) -> Const {
        if ty.kind() != TypeKind::LLVMVectorTypeKind {
            return unsupported(value);
        }
        let lane = value.element(0).filter(|&lane| lane != value);
        let (Some(lanes), Some(lane)) = (ty.lanes(), lane) else {
            return unsupported(value);
        };
        let lane = self.constant(lane);
        Const::Aggregate(vec![lane; lanes as usize].into())
    }

    fn block_address(&mut self, value: Value<'p>) -> Const {
        let Some((function, block)) = value.addressed_block() else {
            return unsupported(value);
        };
        let Some(&GlobalRef::Func(id)) = self.symbols.get(&*function) else {
            return unsupported(value);
        };
        if self.addressed.insert(function) {
            let blocks = (0..).zip(function.blocks());
            let blocks = blocks.map(|(number, block)| (block, BlockId::from_u32(number)));
            self.addressed_blocks.extend(blocks);
        }
        match self.addressed_blocks.get(&block) {
            Some(&block) => Const::BlockAddress(id, block),
            None => unsupported(value),
        }
    }

    fn expression(&mut self, value: Value<'p>) -> Const {
        if let Some(elem) = value.constant_gep_type() {
            let elem = self.type_id(elem);
            let mut operands = self.constants_of(value);
            return match operands.next() {
                Some(base) => Const::Expr(ConstExpr::Gep {
                    elem,
                    base,
                    indices: operands.collect(),
                }),
                None => unsupported(value),
            };
        }
        let Some(opcode) = value.constant_opcode() else {
            return unsupported(value);
        };
        if let Some(op) = cast_op(opcode) {
            return Const::Expr(ConstExpr::Cast(op, self.constant(value.operand(0))));
        }
        if let Some(op) = bin_op(opcode) {
            let a = self.constant(value.operand(0));
            let b = self.constant(value.operand(1));
            return Const::Expr(ConstExpr::Binary(op, a, b));
        }
        unsupported(value)
    }

    /// Translates metadata that is an argument of an intrinsic: a string (rounding modes, register
    /// names), or a node that begins with one, to its bytes; anything else to null.
    fn metadata(&mut self, value: Value<'p>) -> Const {
        let string = match value.is_metadata_node() {
            true => value.metadata_operand(0),
            false => Some(value),
        };
        match string.and_then(Value::metadata_string) {
            Some(text) => Const::Data(text.into_boxed_bytes()),
            None => Const::Null,
        }
    }

    /// Creates a null constant of that type, for operands that carry nothing.
    pub(super) fn null_of(&mut self, ty: Type) -> ConstId {
        let ty = self.tables.lock().types.intern(ty);
        self.add_constant(Const::Null, ty)
    }
}

fn join(words: &[u64]) -> u128 {
    let high = words.get(1).copied().unwrap_or(0);
    u128::from(words[0]) | u128::from(high) << 64
}

/// Returns LLVM's text of a value that `ir` cannot express.
pub(super) fn text(value: Value) -> Box<str> {
    let text = format!("{value:?}");
    let text = text.trim();
    match text.char_indices().nth(400) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

fn unsupported(value: Value) -> Const {
    Const::Unsupported(text(value))
}
