//! Names of operations, predicates, orderings and formats in LLVM's textual form.
//!
//! The dump in [`super::print`] shows this crate's own names instead.

use super::inst::{BinOp, CastOp, FloatPred, IntPred, Ordering, RmwOp};
use super::types::FloatKind;

impl FloatKind {
    /// Returns the type's name.
    pub fn llvm_name(self) -> &'static str {
        match self {
            Self::Half => "half",
            Self::BFloat => "bfloat",
            Self::Float => "float",
            Self::Double => "double",
            Self::X86Fp80 => "x86_fp80",
            Self::Fp128 => "fp128",
        }
    }
}

impl Ordering {
    /// Returns the ordering's keyword; empty if not atomic.
    pub fn llvm_name(self) -> &'static str {
        match self {
            Self::NotAtomic => "",
            Self::Unordered => "unordered",
            Self::Monotonic => "monotonic",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcqRel => "acq_rel",
            Self::SeqCst => "seq_cst",
        }
    }
}

impl BinOp {
    /// Returns the instruction's name.
    pub fn llvm_name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::UDiv => "udiv",
            Self::SDiv => "sdiv",
            Self::URem => "urem",
            Self::SRem => "srem",
            Self::Shl => "shl",
            Self::LShr => "lshr",
            Self::AShr => "ashr",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::FAdd => "fadd",
            Self::FSub => "fsub",
            Self::FMul => "fmul",
            Self::FDiv => "fdiv",
            Self::FRem => "frem",
        }
    }
}

impl CastOp {
    /// Returns the instruction's name.
    pub fn llvm_name(self) -> &'static str {
        match self {
            Self::Trunc => "trunc",
            Self::ZExt => "zext",
            Self::SExt => "sext",
            Self::FpTrunc => "fptrunc",
            Self::FpExt => "fpext",
            Self::FpToUi => "fptoui",
            Self::FpToSi => "fptosi",
            Self::UiToFp => "uitofp",
            Self::SiToFp => "sitofp",
            Self::PtrToInt => "ptrtoint",
            Self::PtrToAddr => "ptrtoaddr",
            Self::IntToPtr => "inttoptr",
            Self::BitCast => "bitcast",
            Self::AddrSpaceCast => "addrspacecast",
        }
    }
}

impl IntPred {
    /// Returns the predicate of `icmp`.
    pub fn llvm_name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Ugt => "ugt",
            Self::Uge => "uge",
            Self::Ult => "ult",
            Self::Ule => "ule",
            Self::Sgt => "sgt",
            Self::Sge => "sge",
            Self::Slt => "slt",
            Self::Sle => "sle",
        }
    }
}

impl FloatPred {
    /// Returns the predicate of `fcmp`.
    pub fn llvm_name(self) -> &'static str {
        match self {
            Self::False => "false",
            Self::Oeq => "oeq",
            Self::Ogt => "ogt",
            Self::Oge => "oge",
            Self::Olt => "olt",
            Self::Ole => "ole",
            Self::One => "one",
            Self::Ord => "ord",
            Self::Uno => "uno",
            Self::Ueq => "ueq",
            Self::Ugt => "ugt",
            Self::Uge => "uge",
            Self::Ult => "ult",
            Self::Ule => "ule",
            Self::Une => "une",
            Self::True => "true",
        }
    }
}

impl RmwOp {
    /// Returns the operation of `atomicrmw`.
    pub fn llvm_name(self) -> &'static str {
        match self {
            Self::Xchg => "xchg",
            Self::Add => "add",
            Self::Sub => "sub",
            Self::And => "and",
            Self::Nand => "nand",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Max => "max",
            Self::Min => "min",
            Self::UMax => "umax",
            Self::UMin => "umin",
            Self::FAdd => "fadd",
            Self::FSub => "fsub",
            Self::FMax => "fmax",
            Self::FMin => "fmin",
            Self::FMaximum => "fmaximum",
            Self::FMinimum => "fminimum",
            Self::UIncWrap => "uinc_wrap",
            Self::UDecWrap => "udec_wrap",
            Self::USubCond => "usub_cond",
            Self::USubSat => "usub_sat",
        }
    }
}
