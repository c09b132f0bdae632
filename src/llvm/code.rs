//! Function bodies: every LLVM instruction becomes one `ir` instruction of the same number.
//!
//! All instructions and blocks get their numbers first (operands may refer forward), then each
//! instruction is copied. Instructions that no program for x86-64 Linux needs (the funclet pads of
//! other systems' exceptions) become [`Op::Unsupported`] with LLVM's text.

use super::constants::text;
use super::raw::{copy_text, llvm};
use super::reader::Reader;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp as Rmw, LLVMInlineAsmDialect, LLVMIntPredicate,
    LLVMOpcode as Opcode, LLVMRealPredicate, LLVMTailCallKind, LLVMTypeKind, LLVMValueKind as Kind,
};
use ompvm_ir::{
    AsmCall, AtomicScope, BinOp, Block, BlockId, Body, Call, Callee, CastOp, Clause, Const,
    FastMath, FloatPred, GlobalRef, Inst, IntFlags, IntPred, Op, Operand, Ordering, RmwOp,
    TailKind, Type, Value,
};

/// LLVM's number for the scope of one thread and its signal handlers; 1 is the whole system.
const SINGLE_THREAD: u32 = 0;

impl Reader<'_> {
    /// Copies the body of a defined function.
    pub(super) fn body(&mut self, function: LLVMValueRef) -> Body {
        self.values.clear();
        self.blocks.clear();
        let mut number = 0;
        let mut param = llvm!(core::LLVMGetFirstParam(function));
        while !param.is_null() {
            self.values.insert(param, Value::from_u32(number));
            number += 1;
            param = llvm!(core::LLVMGetNextParam(param));
        }
        let mut instructions = Vec::new();
        let mut blocks = Vec::new();
        let mut block = llvm!(core::LLVMGetFirstBasicBlock(function));
        while !block.is_null() {
            self.blocks
                .insert(block, BlockId::from_u32(blocks.len() as u32));
            let start = instructions.len() as u32;
            let mut inst = llvm!(core::LLVMGetFirstInstruction(block));
            while !inst.is_null() {
                self.values.insert(inst, Value::from_u32(number));
                number += 1;
                instructions.push(inst);
                inst = llvm!(core::LLVMGetNextInstruction(inst));
            }
            let end = instructions.len() as u32;
            blocks.push(Block { start, end });
            block = llvm!(core::LLVMGetNextBasicBlock(block));
        }
        let insts = instructions
            .iter()
            .map(|&inst| Inst {
                op: self.op(inst),
                ty: self.type_of(inst),
                loc: self.location(inst),
            })
            .collect();
        Body { insts, blocks }
    }

    /// Returns a value of the current function, a constant, or a null for anything else (metadata,
    /// labels, inline assembly).
    fn value(&mut self, value: LLVMValueRef) -> Operand {
        if let Some(&number) = self.values.get(&value) {
            return Operand::value(number);
        }
        if let Some(&id) = self.consts.get(&value) {
            return Operand::constant(id);
        }
        let id = match llvm!(core::LLVMGetValueKind(value)) {
            Kind::LLVMBasicBlockValueKind => self.null_of(Type::Label),
            Kind::LLVMInlineAsmValueKind => {
                let ty = self.tables.lock().types.intern(Type::Ptr(0));
                self.add_constant(Const::Unsupported(text(value)), ty)
            }
            _ => self.constant(value),
        };
        Operand::constant(id)
    }

    fn operand_at(&mut self, inst: LLVMValueRef, index: u32) -> Operand {
        self.value(llvm!(core::LLVMGetOperand(inst, index)))
    }

    fn block(&self, block: LLVMBasicBlockRef) -> BlockId {
        match self.blocks.get(&block) {
            Some(&id) => id,
            None => ompvm_support::bug!("a branch to a block of another function"),
        }
    }

    fn successor(&self, inst: LLVMValueRef, index: u32) -> BlockId {
        self.block(llvm!(core::LLVMGetSuccessor(inst, index)))
    }

    fn op(&mut self, inst: LLVMValueRef) -> Op {
        let opcode = llvm!(core::LLVMGetInstructionOpcode(inst));
        if let Some(op) = bin_op(opcode) {
            return Op::Binary {
                op,
                a: self.operand_at(inst, 0),
                b: self.operand_at(inst, 1),
                flags: int_flags(op, inst),
                fast: fast_math(inst),
            };
        }
        if let Some(op) = cast_op(opcode) {
            let a = self.operand_at(inst, 0);
            return Op::Cast { op, a };
        }
        match opcode {
            Opcode::LLVMFNeg => Op::FNeg {
                a: self.operand_at(inst, 0),
            },
            Opcode::LLVMICmp => Op::ICmp {
                pred: int_pred(llvm!(core::LLVMGetICmpPredicate(inst))),
                a: self.operand_at(inst, 0),
                b: self.operand_at(inst, 1),
            },
            Opcode::LLVMFCmp => Op::FCmp {
                pred: float_pred(llvm!(core::LLVMGetFCmpPredicate(inst))),
                a: self.operand_at(inst, 0),
                b: self.operand_at(inst, 1),
            },
            Opcode::LLVMSelect => Op::Select {
                cond: self.operand_at(inst, 0),
                a: self.operand_at(inst, 1),
                b: self.operand_at(inst, 2),
            },
            Opcode::LLVMFreeze => Op::Freeze {
                a: self.operand_at(inst, 0),
            },
            Opcode::LLVMPHI => {
                let count = llvm!(core::LLVMCountIncoming(inst));
                let incoming = (0..count)
                    .map(|i| {
                        let block = llvm!(core::LLVMGetIncomingBlock(inst, i));
                        let value = llvm!(core::LLVMGetIncomingValue(inst, i));
                        (self.block(block), self.value(value))
                    })
                    .collect();
                Op::Phi { incoming }
            }
            Opcode::LLVMExtractElement => Op::ExtractElement {
                vector: self.operand_at(inst, 0),
                index: self.operand_at(inst, 1),
            },
            Opcode::LLVMInsertElement => Op::InsertElement {
                vector: self.operand_at(inst, 0),
                elem: self.operand_at(inst, 1),
                index: self.operand_at(inst, 2),
            },
            Opcode::LLVMShuffleVector => {
                let count = llvm!(core::LLVMGetNumMaskElements(inst));
                Op::ShuffleVector {
                    a: self.operand_at(inst, 0),
                    b: self.operand_at(inst, 1),
                    mask: (0..count)
                        .map(|i| llvm!(core::LLVMGetMaskValue(inst, i)))
                        .collect(),
                }
            }
            Opcode::LLVMExtractValue => Op::ExtractValue {
                agg: self.operand_at(inst, 0),
                indices: indices(inst),
            },
            Opcode::LLVMInsertValue => Op::InsertValue {
                agg: self.operand_at(inst, 0),
                elem: self.operand_at(inst, 1),
                indices: indices(inst),
            },
            Opcode::LLVMCall
            | Opcode::LLVMInvoke
            | Opcode::LLVMCallBr
            | Opcode::LLVMLandingPad
            | Opcode::LLVMResume => self.call_op(opcode, inst),
            Opcode::LLVMRet
            | Opcode::LLVMBr
            | Opcode::LLVMSwitch
            | Opcode::LLVMIndirectBr
            | Opcode::LLVMUnreachable => self.control_op(opcode, inst),
            _ => self.memory_op(opcode, inst),
        }
    }

    fn memory_op(&mut self, opcode: Opcode, inst: LLVMValueRef) -> Op {
        match opcode {
            Opcode::LLVMAlloca => Op::Alloca {
                elem: self.type_id(llvm!(core::LLVMGetAllocatedType(inst))),
                count: self.operand_at(inst, 0),
                align: llvm!(core::LLVMGetAlignment(inst)),
            },
            Opcode::LLVMLoad => {
                let (ordering, scope) = ordering_of(inst);
                Op::Load {
                    ptr: self.operand_at(inst, 0),
                    align: llvm!(core::LLVMGetAlignment(inst)),
                    volatile: llvm!(core::LLVMGetVolatile(inst)) != 0,
                    ordering,
                    scope,
                }
            }
            Opcode::LLVMStore => {
                let (ordering, scope) = ordering_of(inst);
                Op::Store {
                    value: self.operand_at(inst, 0),
                    ptr: self.operand_at(inst, 1),
                    align: llvm!(core::LLVMGetAlignment(inst)),
                    volatile: llvm!(core::LLVMGetVolatile(inst)) != 0,
                    ordering,
                    scope,
                }
            }
            Opcode::LLVMGetElementPtr => {
                let count = llvm!(core::LLVMGetNumOperands(inst)) as u32;
                Op::Gep {
                    elem: self.type_id(llvm!(core::LLVMGetGEPSourceElementType(inst))),
                    base: self.operand_at(inst, 0),
                    indices: (1..count).map(|i| self.operand_at(inst, i)).collect(),
                }
            }
            Opcode::LLVMFence => {
                let (ordering, scope) = ordering_of(inst);
                Op::Fence { ordering, scope }
            }
            Opcode::LLVMAtomicCmpXchg => Op::CmpXchg {
                ptr: self.operand_at(inst, 0),
                expected: self.operand_at(inst, 1),
                new: self.operand_at(inst, 2),
                success: ordering(llvm!(core::LLVMGetCmpXchgSuccessOrdering(inst))),
                failure: ordering(llvm!(core::LLVMGetCmpXchgFailureOrdering(inst))),
                weak: llvm!(core::LLVMGetWeak(inst)) != 0,
                scope: scope_of(inst),
            },
            Opcode::LLVMAtomicRMW => {
                let (ordering, scope) = ordering_of(inst);
                Op::AtomicRmw {
                    op: rmw_op(llvm!(core::LLVMGetAtomicRMWBinOp(inst))),
                    ptr: self.operand_at(inst, 0),
                    value: self.operand_at(inst, 1),
                    ordering,
                    scope,
                }
            }
            Opcode::LLVMVAArg => Op::VaArg {
                list: self.operand_at(inst, 0),
            },
            _ => Op::Unsupported(text(inst)),
        }
    }

    fn control_op(&mut self, opcode: Opcode, inst: LLVMValueRef) -> Op {
        match opcode {
            Opcode::LLVMRet => {
                let some = llvm!(core::LLVMGetNumOperands(inst)) > 0;
                let value = some.then(|| self.operand_at(inst, 0));
                Op::Ret { value }
            }
            Opcode::LLVMBr => {
                if llvm!(core::LLVMGetNumSuccessors(inst)) == 1 {
                    let target = self.successor(inst, 0);
                    return Op::Br { target };
                }
                Op::CondBr {
                    cond: self.value(llvm!(core::LLVMGetCondition(inst))),
                    then: self.successor(inst, 0),
                    otherwise: self.successor(inst, 1),
                }
            }
            Opcode::LLVMSwitch => {
                let count = llvm!(core::LLVMGetNumSuccessors(inst));
                let cases = (1..count)
                    .map(|i| {
                        let case = llvm!(core::LLVMGetSwitchCaseValue(inst, i));
                        let id = self.constant(case);
                        let value = match &self.tables.lock().consts[id] {
                            Const::Int(value) => *value,
                            _ => return None,
                        };
                        Some((value, self.successor(inst, i)))
                    })
                    .collect::<Option<_>>();
                let Some(cases) = cases else {
                    return Op::Unsupported("a switch on an integer over 128 bits".into());
                };
                Op::Switch {
                    cond: self.operand_at(inst, 0),
                    default: self.block(llvm!(core::LLVMGetSwitchDefaultDest(inst))),
                    cases,
                }
            }
            Opcode::LLVMIndirectBr => {
                let count = llvm!(core::LLVMGetNumSuccessors(inst));
                Op::IndirectBr {
                    address: self.operand_at(inst, 0),
                    targets: (0..count).map(|i| self.successor(inst, i)).collect(),
                }
            }
            _ => Op::Unreachable,
        }
    }

    fn call_op(&mut self, opcode: Opcode, inst: LLVMValueRef) -> Op {
        match opcode {
            Opcode::LLVMInvoke => Op::Invoke {
                call: self.call(inst, false),
                normal: self.block(llvm!(core::LLVMGetNormalDest(inst))),
                unwind: self.block(llvm!(core::LLVMGetUnwindDest(inst))),
            },
            Opcode::LLVMCallBr => {
                let count = llvm!(core::LLVMGetCallBrNumIndirectDests(inst));
                Op::CallBr {
                    call: self.call(inst, false),
                    fallthrough: self.block(llvm!(core::LLVMGetCallBrDefaultDest(inst))),
                    indirect: (0..count)
                        .map(|i| self.block(llvm!(core::LLVMGetCallBrIndirectDest(inst, i))))
                        .collect(),
                }
            }
            Opcode::LLVMLandingPad => {
                let count = llvm!(core::LLVMGetNumClauses(inst));
                Op::LandingPad {
                    cleanup: llvm!(core::LLVMIsCleanup(inst)) != 0,
                    clauses: (0..count)
                        .map(|i| self.clause(llvm!(core::LLVMGetClause(inst, i))))
                        .collect(),
                }
            }
            Opcode::LLVMResume => Op::Resume {
                value: self.operand_at(inst, 0),
            },
            _ => Op::Call(self.call(inst, true)),
        }
    }

    /// Copies a clause. Filters differ from catches by their type, an array.
    fn clause(&mut self, clause: LLVMValueRef) -> Clause {
        let ty = llvm!(core::LLVMTypeOf(clause));
        let filter = llvm!(core::LLVMGetTypeKind(ty)) == LLVMTypeKind::LLVMArrayTypeKind;
        let id = self.constant(clause);
        if filter {
            Clause::Filter(id)
        } else {
            Clause::Catch(id)
        }
    }

    fn call(&mut self, inst: LLVMValueRef, may_be_tail: bool) -> Box<Call> {
        let called = llvm!(core::LLVMGetCalledValue(inst));
        let count = llvm!(core::LLVMGetNumArgOperands(inst));
        let (arg_attrs, ret_attrs) = self.call_attrs(inst, count);
        let tail = match may_be_tail.then(|| llvm!(core::LLVMGetTailCallKind(inst))) {
            None | Some(LLVMTailCallKind::LLVMTailCallKindNone) => TailKind::None,
            Some(LLVMTailCallKind::LLVMTailCallKindTail) => TailKind::Tail,
            Some(LLVMTailCallKind::LLVMTailCallKindMustTail) => TailKind::MustTail,
            Some(LLVMTailCallKind::LLVMTailCallKindNoTail) => TailKind::NoTail,
        };
        Box::new(Call {
            callee: self.callee(called),
            fn_ty: self.type_id(llvm!(core::LLVMGetCalledFunctionType(inst))),
            args: (0..count).map(|i| self.operand_at(inst, i)).collect(),
            arg_attrs,
            ret_attrs,
            tail,
            calling_convention: llvm!(core::LLVMGetInstructionCallConv(inst)),
            bundles: bundles(inst),
        })
    }

    fn callee(&mut self, called: LLVMValueRef) -> Callee {
        if let Some(&symbol) = self.symbols.get(&called)
            && !matches!(symbol, GlobalRef::Var(_))
        {
            return Callee::Symbol(symbol);
        }
        if llvm!(core::LLVMGetValueKind(called)) == Kind::LLVMInlineAsmValueKind {
            return Callee::Asm(asm(called));
        }
        Callee::Pointer(self.value(called))
    }
}

fn asm(value: LLVMValueRef) -> Box<AsmCall> {
    let mut len = 0;
    let template = llvm!(core::LLVMGetInlineAsmAsmString(value, &mut len));
    let template = copy_text(template, len);
    let constraints = llvm!(core::LLVMGetInlineAsmConstraintString(value, &mut len));
    let constraints = copy_text(constraints, len);
    let dialect = llvm!(core::LLVMGetInlineAsmDialect(value));
    Box::new(AsmCall {
        template,
        constraints,
        side_effects: llvm!(core::LLVMGetInlineAsmHasSideEffects(value)) != 0,
        intel: dialect == LLVMInlineAsmDialect::LLVMInlineAsmDialectIntel,
    })
}

fn bundles(inst: LLVMValueRef) -> Box<[Box<str>]> {
    let count = llvm!(core::LLVMGetNumOperandBundles(inst));
    (0..count)
        .map(|index| {
            let bundle = llvm!(core::LLVMGetOperandBundleAtIndex(inst, index));
            let mut len = 0;
            let tag = llvm!(core::LLVMGetOperandBundleTag(bundle, &mut len));
            let tag = copy_text(tag, len);
            llvm!(core::LLVMDisposeOperandBundle(bundle));
            tag
        })
        .collect()
}

fn indices(inst: LLVMValueRef) -> Box<[u32]> {
    let count = llvm!(core::LLVMGetNumIndices(inst)) as usize;
    let start = llvm!(core::LLVMGetIndices(inst));
    if count == 0 || start.is_null() {
        return Box::default();
    }
    // SAFETY: LLVM keeps `count` indices at that address for the instruction's life.
    unsafe { std::slice::from_raw_parts(start, count) }.into()
}

/// Returns ordering and scope of a load, store, fence or read-modify-write.
fn ordering_of(inst: LLVMValueRef) -> (Ordering, AtomicScope) {
    let ordering = ordering(llvm!(core::LLVMGetOrdering(inst)));
    // Only atomic operations have a scope that may be queried.
    let scope = if ordering == Ordering::NotAtomic {
        AtomicScope::System
    } else {
        scope_of(inst)
    };
    (ordering, scope)
}

fn scope_of(inst: LLVMValueRef) -> AtomicScope {
    if llvm!(core::LLVMGetAtomicSyncScopeID(inst)) == SINGLE_THREAD {
        AtomicScope::SingleThread
    } else {
        AtomicScope::System
    }
}

fn ordering(ordering: LLVMAtomicOrdering) -> Ordering {
    match ordering {
        LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic => Ordering::NotAtomic,
        LLVMAtomicOrdering::LLVMAtomicOrderingUnordered => Ordering::Unordered,
        LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic => Ordering::Monotonic,
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquire => Ordering::Acquire,
        LLVMAtomicOrdering::LLVMAtomicOrderingRelease => Ordering::Release,
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease => Ordering::AcqRel,
        LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent => Ordering::SeqCst,
    }
}

fn int_flags(op: BinOp, inst: LLVMValueRef) -> IntFlags {
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl => IntFlags {
            nuw: llvm!(core::LLVMGetNUW(inst)) != 0,
            nsw: llvm!(core::LLVMGetNSW(inst)) != 0,
            exact: false,
        },
        BinOp::UDiv | BinOp::SDiv | BinOp::LShr | BinOp::AShr => IntFlags {
            nuw: false,
            nsw: false,
            exact: llvm!(core::LLVMGetExact(inst)) != 0,
        },
        _ => IntFlags::default(),
    }
}

fn fast_math(inst: LLVMValueRef) -> FastMath {
    if llvm!(core::LLVMCanValueUseFastMathFlags(inst)) == 0 {
        return FastMath::default();
    }
    FastMath(llvm!(core::LLVMGetFastMathFlags(inst)) as u8)
}

/// Maps an opcode to a binary operation.
pub(super) fn bin_op(opcode: Opcode) -> Option<BinOp> {
    Some(match opcode {
        Opcode::LLVMAdd => BinOp::Add,
        Opcode::LLVMSub => BinOp::Sub,
        Opcode::LLVMMul => BinOp::Mul,
        Opcode::LLVMUDiv => BinOp::UDiv,
        Opcode::LLVMSDiv => BinOp::SDiv,
        Opcode::LLVMURem => BinOp::URem,
        Opcode::LLVMSRem => BinOp::SRem,
        Opcode::LLVMShl => BinOp::Shl,
        Opcode::LLVMLShr => BinOp::LShr,
        Opcode::LLVMAShr => BinOp::AShr,
        Opcode::LLVMAnd => BinOp::And,
        Opcode::LLVMOr => BinOp::Or,
        Opcode::LLVMXor => BinOp::Xor,
        Opcode::LLVMFAdd => BinOp::FAdd,
        Opcode::LLVMFSub => BinOp::FSub,
        Opcode::LLVMFMul => BinOp::FMul,
        Opcode::LLVMFDiv => BinOp::FDiv,
        Opcode::LLVMFRem => BinOp::FRem,
        _ => return None,
    })
}

/// Maps an opcode to a conversion.
pub(super) fn cast_op(opcode: Opcode) -> Option<CastOp> {
    Some(match opcode {
        Opcode::LLVMTrunc => CastOp::Trunc,
        Opcode::LLVMZExt => CastOp::ZExt,
        Opcode::LLVMSExt => CastOp::SExt,
        Opcode::LLVMFPTrunc => CastOp::FpTrunc,
        Opcode::LLVMFPExt => CastOp::FpExt,
        Opcode::LLVMFPToUI => CastOp::FpToUi,
        Opcode::LLVMFPToSI => CastOp::FpToSi,
        Opcode::LLVMUIToFP => CastOp::UiToFp,
        Opcode::LLVMSIToFP => CastOp::SiToFp,
        Opcode::LLVMPtrToInt => CastOp::PtrToInt,
        Opcode::LLVMPtrToAddr => CastOp::PtrToAddr,
        Opcode::LLVMIntToPtr => CastOp::IntToPtr,
        Opcode::LLVMBitCast => CastOp::BitCast,
        Opcode::LLVMAddrSpaceCast => CastOp::AddrSpaceCast,
        _ => return None,
    })
}

fn int_pred(pred: LLVMIntPredicate) -> IntPred {
    match pred {
        LLVMIntPredicate::LLVMIntEQ => IntPred::Eq,
        LLVMIntPredicate::LLVMIntNE => IntPred::Ne,
        LLVMIntPredicate::LLVMIntUGT => IntPred::Ugt,
        LLVMIntPredicate::LLVMIntUGE => IntPred::Uge,
        LLVMIntPredicate::LLVMIntULT => IntPred::Ult,
        LLVMIntPredicate::LLVMIntULE => IntPred::Ule,
        LLVMIntPredicate::LLVMIntSGT => IntPred::Sgt,
        LLVMIntPredicate::LLVMIntSGE => IntPred::Sge,
        LLVMIntPredicate::LLVMIntSLT => IntPred::Slt,
        LLVMIntPredicate::LLVMIntSLE => IntPred::Sle,
    }
}

fn float_pred(pred: LLVMRealPredicate) -> FloatPred {
    match pred {
        LLVMRealPredicate::LLVMRealPredicateFalse => FloatPred::False,
        LLVMRealPredicate::LLVMRealOEQ => FloatPred::Oeq,
        LLVMRealPredicate::LLVMRealOGT => FloatPred::Ogt,
        LLVMRealPredicate::LLVMRealOGE => FloatPred::Oge,
        LLVMRealPredicate::LLVMRealOLT => FloatPred::Olt,
        LLVMRealPredicate::LLVMRealOLE => FloatPred::Ole,
        LLVMRealPredicate::LLVMRealONE => FloatPred::One,
        LLVMRealPredicate::LLVMRealORD => FloatPred::Ord,
        LLVMRealPredicate::LLVMRealUNO => FloatPred::Uno,
        LLVMRealPredicate::LLVMRealUEQ => FloatPred::Ueq,
        LLVMRealPredicate::LLVMRealUGT => FloatPred::Ugt,
        LLVMRealPredicate::LLVMRealUGE => FloatPred::Uge,
        LLVMRealPredicate::LLVMRealULT => FloatPred::Ult,
        LLVMRealPredicate::LLVMRealULE => FloatPred::Ule,
        LLVMRealPredicate::LLVMRealUNE => FloatPred::Une,
        LLVMRealPredicate::LLVMRealPredicateTrue => FloatPred::True,
    }
}

fn rmw_op(op: Rmw) -> RmwOp {
    match op {
        Rmw::LLVMAtomicRMWBinOpXchg => RmwOp::Xchg,
        Rmw::LLVMAtomicRMWBinOpAdd => RmwOp::Add,
        Rmw::LLVMAtomicRMWBinOpSub => RmwOp::Sub,
        Rmw::LLVMAtomicRMWBinOpAnd => RmwOp::And,
        Rmw::LLVMAtomicRMWBinOpNand => RmwOp::Nand,
        Rmw::LLVMAtomicRMWBinOpOr => RmwOp::Or,
        Rmw::LLVMAtomicRMWBinOpXor => RmwOp::Xor,
        Rmw::LLVMAtomicRMWBinOpMax => RmwOp::Max,
        Rmw::LLVMAtomicRMWBinOpMin => RmwOp::Min,
        Rmw::LLVMAtomicRMWBinOpUMax => RmwOp::UMax,
        Rmw::LLVMAtomicRMWBinOpUMin => RmwOp::UMin,
        Rmw::LLVMAtomicRMWBinOpFAdd => RmwOp::FAdd,
        Rmw::LLVMAtomicRMWBinOpFSub => RmwOp::FSub,
        Rmw::LLVMAtomicRMWBinOpFMax => RmwOp::FMax,
        Rmw::LLVMAtomicRMWBinOpFMin => RmwOp::FMin,
        Rmw::LLVMAtomicRMWBinOpFMaximum => RmwOp::FMaximum,
        Rmw::LLVMAtomicRMWBinOpFMinimum => RmwOp::FMinimum,
        Rmw::LLVMAtomicRMWBinOpUIncWrap => RmwOp::UIncWrap,
        Rmw::LLVMAtomicRMWBinOpUDecWrap => RmwOp::UDecWrap,
        Rmw::LLVMAtomicRMWBinOpUSubCond => RmwOp::USubCond,
        Rmw::LLVMAtomicRMWBinOpUSubSat => RmwOp::USubSat,
    }
}
