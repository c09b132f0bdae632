//! Instructions: one [`Op`] variant per LLVM instruction, operands resolved to numbers.
//!
//! Each LLVM instruction has exactly one variant, so code that reads the module can rely on LLVM's
//! language reference. Has no use lists, since nothing changes a body.

use super::constant::ConstId;
use super::debug::LocId;
use super::function::{BlockId, ParamAttrs};
use super::module::GlobalRef;
use super::types::TypeId;
use cranelift_entity::{EntityRef, entity_impl};
use serde::{Deserialize, Serialize};

/// A parameter or an instruction's result, by number (see the module documentation of `ir`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Value(u32);
entity_impl!(Value, "%");

/// A value or a constant in one word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Operand(u32);

impl Operand {
    const CONST: u32 = 1 << 31;

    /// Wraps a value.
    pub fn value(v: Value) -> Self {
        Operand(v.as_u32())
    }

    /// Wraps a constant.
    pub fn constant(c: ConstId) -> Self {
        Operand(c.as_u32() | Self::CONST)
    }

    /// Returns the value, or else the constant.
    #[inline]
    pub fn unpack(self) -> Result<Value, ConstId> {
        if self.0 & Self::CONST == 0 {
            Ok(Value::from_u32(self.0))
        } else {
            Err(ConstId::new((self.0 & !Self::CONST) as usize))
        }
    }
}

impl std::fmt::Debug for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.unpack() {
            Ok(v) => write!(f, "{v}"),
            Err(c) => write!(f, "{c}"),
        }
    }
}

/// Two-operand arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are LLVM's own")]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

/// Conversions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are LLVM's own")]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    PtrToInt,
    IntToPtr,
    PtrToAddr,
    BitCast,
    AddrSpaceCast,
}

/// Integer comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are LLVM's own")]
pub enum IntPred {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

/// Floating-point comparison (`O`: ordered, false with a NaN; `U`: unordered, true with one).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are LLVM's own")]
pub enum FloatPred {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Uno,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    True,
}

/// The operation of an `atomicrmw`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are LLVM's own")]
pub enum RmwOp {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    FAdd,
    FSub,
    FMax,
    FMin,
    FMaximum,
    FMinimum,
    UIncWrap,
    UDecWrap,
    USubCond,
    USubSat,
}

/// Memory orderings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are LLVM's own")]
pub enum Ordering {
    NotAtomic,
    Unordered,
    Monotonic,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// The synchronization scope of an atomic operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum AtomicScope {
    /// Every thread.
    System,
    /// Only the thread itself and its signal handlers.
    SingleThread,
}

/// `nuw`, `nsw` and `exact`. Hints only: an interpreter may ignore them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are LLVM's own")]
pub struct IntFlags {
    pub nuw: bool,
    pub nsw: bool,
    pub exact: bool,
}

/// Fast-math flags.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct FastMath(pub u8);

impl FastMath {
    /// Returns true if the operation may be reassociated (`reassoc`).
    pub fn reassociates(self) -> bool {
        self.0 & 1 != 0
    }
}

/// The tail-call marker of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum TailKind {
    /// No marker.
    #[default]
    None,
    /// `tail`: the call may become a jump.
    Tail,
    /// `musttail`: the call must become a jump (the frame is gone during the call).
    MustTail,
    /// `notail`: the call must not become a jump.
    NoTail,
}

/// The target of a call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Callee {
    /// A symbol known at load (intrinsics are functions named `llvm.*`).
    Symbol(GlobalRef),
    /// An address.
    Pointer(Operand),
    /// Inline assembly.
    Asm(Box<AsmCall>),
}

/// Inline assembly.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AsmCall {
    /// The template, in LLVM's syntax (`$0`, `${1:w}`).
    pub template: Box<str>,
    /// The constraint string.
    pub constraints: Box<str>,
    /// True if the assembly has effects beyond its outputs.
    pub side_effects: bool,
    /// True for Intel syntax, false for AT&T.
    pub intel: bool,
}

/// A call of any kind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The target.
    pub callee: Callee,
    /// The function type of the call site.
    pub fn_ty: TypeId,
    /// The arguments, including variadic ones. Metadata arguments are constants of metadata type: a
    /// string (a rounding mode, a register's name) is [`super::Const::Data`], anything else is
    /// [`super::Const::Null`].
    pub args: Box<[Operand]>,
    /// The attributes of each argument; empty if no argument has any.
    pub arg_attrs: Box<[ParamAttrs]>,
    /// The return value's attributes.
    pub ret_attrs: ParamAttrs,
    /// The tail-call marker.
    pub tail: TailKind,
    /// LLVM's calling convention number.
    pub calling_convention: u32,
    /// Fast-math flags, of calls that return floating-point numbers.
    pub fast: FastMath,
    /// Tags of the operand bundles, if any.
    pub bundles: Box<[Box<str>]>,
}

/// A clause of a landing pad.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Clause {
    /// `catch`: a type info (null catches everything).
    Catch(ConstId),
    /// `filter`: an array of the type infos allowed through.
    Filter(ConstId),
}

/// The operation of an instruction.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "operands are named as in LLVM's language reference"
)]
pub enum Op {
    Binary {
        op: BinOp,
        a: Operand,
        b: Operand,
        flags: IntFlags,
        fast: FastMath,
    },
    FNeg {
        a: Operand,
    },
    Cast {
        op: CastOp,
        a: Operand,
    },
    ICmp {
        pred: IntPred,
        a: Operand,
        b: Operand,
    },
    FCmp {
        pred: FloatPred,
        a: Operand,
        b: Operand,
    },
    Select {
        cond: Operand,
        a: Operand,
        b: Operand,
    },
    Freeze {
        a: Operand,
    },
    Phi {
        incoming: Box<[(BlockId, Operand)]>,
    },
    Alloca {
        elem: TypeId,
        count: Operand,
        align: u32,
    },
    Load {
        ptr: Operand,
        align: u32,
        volatile: bool,
        ordering: Ordering,
        scope: AtomicScope,
    },
    Store {
        value: Operand,
        ptr: Operand,
        align: u32,
        volatile: bool,
        ordering: Ordering,
        scope: AtomicScope,
    },
    Gep {
        elem: TypeId,
        base: Operand,
        indices: Box<[Operand]>,
    },
    ExtractElement {
        vector: Operand,
        index: Operand,
    },
    InsertElement {
        vector: Operand,
        elem: Operand,
        index: Operand,
    },
    /// A mask element of -1 is an undefined lane.
    ShuffleVector {
        a: Operand,
        b: Operand,
        mask: Box<[i32]>,
    },
    ExtractValue {
        agg: Operand,
        indices: Box<[u32]>,
    },
    InsertValue {
        agg: Operand,
        elem: Operand,
        indices: Box<[u32]>,
    },
    Call(Box<Call>),
    Invoke {
        call: Box<Call>,
        normal: BlockId,
        unwind: BlockId,
    },
    /// `asm goto`.
    CallBr {
        call: Box<Call>,
        fallthrough: BlockId,
        indirect: Box<[BlockId]>,
    },
    LandingPad {
        cleanup: bool,
        clauses: Box<[Clause]>,
    },
    Resume {
        value: Operand,
    },
    Ret {
        value: Option<Operand>,
    },
    Br {
        target: BlockId,
    },
    CondBr {
        cond: Operand,
        then: BlockId,
        otherwise: BlockId,
    },
    Switch {
        cond: Operand,
        default: BlockId,
        cases: Box<[(u128, BlockId)]>,
    },
    IndirectBr {
        address: Operand,
        targets: Box<[BlockId]>,
    },
    Unreachable,
    Fence {
        ordering: Ordering,
        scope: AtomicScope,
    },
    CmpXchg {
        ptr: Operand,
        expected: Operand,
        new: Operand,
        success: Ordering,
        failure: Ordering,
        weak: bool,
        scope: AtomicScope,
    },
    AtomicRmw {
        op: RmwOp,
        ptr: Operand,
        value: Operand,
        ordering: Ordering,
        scope: AtomicScope,
    },
    VaArg {
        list: Operand,
    },
    /// An instruction that was read but cannot run, as text; reported at load.
    Unsupported(Box<str>),
}

/// One instruction: its operation, the type of its result, its source location.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// The type of the result; void if there is none.
    pub ty: TypeId,
    /// The source location.
    pub loc: Option<LocId>,
}
