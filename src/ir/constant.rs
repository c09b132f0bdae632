//! Constants, interned per module by the reader, so that a shared initializer is read once.

use super::function::{BlockId, FuncId};
use super::inst::{BinOp, CastOp};
use super::module::GlobalRef;
use super::types::TypeId;
use cranelift_entity::entity_impl;
use serde::{Deserialize, Serialize};

/// Reference to a constant of the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ConstId(u32);
entity_impl!(ConstId, "const");

/// A constant. [`super::Module::const_types`] holds its type.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Const {
    /// An integer of at most 128 bits, zero-extended.
    Int(u128),
    /// A wider integer, least significant word first.
    BigInt(Box<[u64]>),
    /// The bits of a floating-point number, zero-extended.
    Float(u128),
    /// The null pointer.
    Null,
    /// `zeroinitializer` of an aggregate or vector.
    Zero,
    /// `undef` (read as zero).
    Undef,
    /// `poison` (read as zero).
    Poison,
    /// An aggregate or vector, element by element.
    Aggregate(Box<[ConstId]>),
    /// An array or vector of simple elements, as its bytes in memory (little endian).
    Data(#[serde(with = "serde_bytes")] Box<[u8]>),
    /// The address of a symbol.
    Global(GlobalRef),
    /// The address of a block.
    BlockAddress(FuncId, BlockId),
    /// An expression over constants.
    Expr(ConstExpr),
    /// A constant that no layer above can use, as text (reported at load if it is used).
    Unsupported(Box<str>),
}

/// A constant expression.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ConstExpr {
    /// `getelementptr`.
    Gep {
        /// The source element type.
        elem: TypeId,
        /// The base address.
        base: ConstId,
        /// The indices.
        indices: Box<[ConstId]>,
    },
    /// A cast.
    Cast(CastOp, ConstId),
    /// Integer arithmetic (`add`, `sub`, `mul`, `xor`, ...; also that of older bitcode).
    Binary(BinOp, ConstId, ConstId),
}
