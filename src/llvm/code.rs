//! Function bodies: every LLVM instruction becomes one `ir` instruction of the same number.
//!
//! All instructions and blocks get their numbers first (operands may refer forward), then each
//! instruction is copied. Instructions that no program for x86-64 Linux needs (the funclet pads of
//! other systems' exceptions) become [`Op::Unsupported`] with LLVM's text.

use super::constants::text;
use super::handles::{
    self, AtomicOperation as Rmw, CallBr, InlineAsm, Instruction, InstructionKind, IntPredicate,
    Invoke, LandingPad, Opcode, Ordering as LlvmOrdering, RealPredicate, Switch, TailCall,
    ValueKind,
};
use super::reader::Reader;
use ompvm_ir::{
    AsmCall, AtomicScope, BinOp, Block, BlockId, Body, Call, Callee, CastOp, Clause, Const,
    FastMath, FloatPred, GlobalRef, Inst, IntFlags, IntPred, Op, Operand, Ordering, RmwOp,
    TailKind, Type, Value,
};

/// LLVM's number for the scope of one thread and its signal handlers; 1 is the whole system.
const SINGLE_THREAD: u32 = 0;

impl<'p> Reader<'p> {
    /// Copies the body of a defined function.
    pub(super) fn body(&mut self, function: handles::Function<'p>) -> Body {
        self.values.clear();
        self.blocks.clear();
        let mut numbers = (0..).map(Value::from_u32);
        let parameters = function.parameters().zip(&mut numbers);
        self.values.extend(parameters);
        let mut instructions = Vec::new();
        let mut blocks = Vec::new();
        for block in function.blocks() {
            self.blocks
                .insert(block, BlockId::from_u32(blocks.len() as u32));
            let start = instructions.len() as u32;
            for (inst, number) in block.instructions().zip(&mut numbers) {
                self.values.insert(*inst, number);
                instructions.push(inst);
            }
            let end = instructions.len() as u32;
            blocks.push(Block { start, end });
        }
        let insts = instructions
            .iter()
            .map(|&inst| Inst {
                op: self.op(inst),
                ty: self.type_of(*inst),
                loc: self.location(inst),
            })
            .collect();
        Body { insts, blocks }
    }

    /// Returns a value of the current function, a constant, or a null for anything else (metadata,
    /// labels, inline assembly).
    fn value(&mut self, value: handles::Value<'p>) -> Operand {
        if let Some(&number) = self.values.get(&value) {
            return Operand::value(number);
        }
        if let Some(&id) = self.consts.get(&value) {
            return Operand::constant(id);
        }
        let id = match value.kind() {
            ValueKind::LLVMBasicBlockValueKind => self.null_of(Type::Label),
            ValueKind::LLVMInlineAsmValueKind => {
                let ty = self.tables.lock().types.intern(Type::Ptr(0));
                self.add_constant(Const::Unsupported(text(value)), ty)
            }
            _ => self.constant(value),
        };
        Operand::constant(id)
    }

    /// Returns an instruction's first operands.
    fn operands<const N: usize>(&mut self, inst: Instruction<'p>) -> [Operand; N] {
        inst.first_operands().map(|value| self.value(value))
    }

    fn block(&self, block: handles::Block<'p>) -> BlockId {
        match self.blocks.get(&block) {
            Some(&id) => id,
            None => ompvm_support::bug!("a branch to a block of another function"),
        }
    }

    fn op(&mut self, inst: Instruction<'p>) -> Op {
        match inst.by_kind() {
            InstructionKind::Alloca(alloca) => Op::Alloca {
                elem: self.type_id(alloca.allocated()),
                count: self.value(alloca.count()),
                align: alloca.alignment(),
            },
            InstructionKind::Load(load) => {
                let (ordering, scope) = ordering_of(inst, load.ordering());
                Op::Load {
                    ptr: self.value(load.pointer()),
                    align: load.alignment(),
                    volatile: load.is_volatile(),
                    ordering,
                    scope,
                }
            }
            InstructionKind::Store(store) => {
                let (ordering, scope) = ordering_of(inst, store.ordering());
                Op::Store {
                    value: self.value(store.value()),
                    ptr: self.value(store.pointer()),
                    align: store.alignment(),
                    volatile: store.is_volatile(),
                    ordering,
                    scope,
                }
            }
            InstructionKind::Gep(gep) => Op::Gep {
                elem: self.type_id(gep.source_type()),
                base: self.value(gep.pointer()),
                indices: gep.indices().map(|index| self.value(index)).collect(),
            },
            InstructionKind::CompareExchange(access) => {
                let [ptr, expected, new] = self.operands(inst);
                Op::CmpXchg {
                    ptr,
                    expected,
                    new,
                    success: ordering(access.success_ordering()),
                    failure: ordering(access.failure_ordering()),
                    weak: access.is_weak(),
                    scope: scope_of(inst),
                }
            }
            InstructionKind::IntComparison(comparison) => {
                let [a, b] = self.operands(inst);
                let pred = int_pred(comparison.predicate());
                Op::ICmp { pred, a, b }
            }
            InstructionKind::FloatComparison(comparison) => {
                let [a, b] = self.operands(inst);
                let pred = float_pred(comparison.predicate());
                Op::FCmp { pred, a, b }
            }
            InstructionKind::Phi(phi) => {
                let incoming = phi.incoming();
                let incoming =
                    incoming.map(|(value, block)| (self.block(block), self.value(value)));
                Op::Phi {
                    incoming: incoming.collect(),
                }
            }
            InstructionKind::Shuffle(shuffle) => {
                let [a, b] = self.operands(inst);
                let mask = shuffle.mask().collect();
                Op::ShuffleVector { a, b, mask }
            }
            InstructionKind::Call(call) => Op::Call(self.call(call)),
            InstructionKind::Invoke(invoke) => self.invoke(invoke),
            InstructionKind::CallBr(call) => self.call_br(call),
            InstructionKind::LandingPad(pad) => self.landing_pad(pad),
            InstructionKind::Branch(branch) => match branch.conditional() {
                Some((cond, [then, otherwise])) => Op::CondBr {
                    cond: self.value(cond),
                    then: self.block(then),
                    otherwise: self.block(otherwise),
                },
                None => Op::Br {
                    target: self.block(branch.target()),
                },
            },
            InstructionKind::Switch(switch) => self.switch(switch),
            InstructionKind::IndirectBranch(branch) => Op::IndirectBr {
                address: self.value(branch.address()),
                targets: branch.successors().map(|block| self.block(block)).collect(),
            },
            InstructionKind::Other(opcode) => self.other_op(opcode, inst),
        }
    }

    /// Copies an instruction that has little more than operands.
    fn other_op(&mut self, opcode: Opcode, inst: Instruction<'p>) -> Op {
        if let Some(op) = bin_op(opcode) {
            let [a, b] = self.operands(inst);
            return Op::Binary {
                op,
                a,
                b,
                flags: int_flags(op, inst),
                fast: FastMath(inst.fast_math() as u8),
            };
        }
        if let Some(op) = cast_op(opcode) {
            let [a] = self.operands(inst);
            return Op::Cast { op, a };
        }
        match opcode {
            Opcode::LLVMFNeg => {
                let [a] = self.operands(inst);
                Op::FNeg { a }
            }
            Opcode::LLVMSelect => {
                let [cond, a, b] = self.operands(inst);
                Op::Select { cond, a, b }
            }
            Opcode::LLVMFreeze => {
                let [a] = self.operands(inst);
                Op::Freeze { a }
            }
            Opcode::LLVMExtractElement => {
                let [vector, index] = self.operands(inst);
                Op::ExtractElement { vector, index }
            }
            Opcode::LLVMInsertElement => {
                let [vector, elem, index] = self.operands(inst);
                Op::InsertElement {
                    vector,
                    elem,
                    index,
                }
            }
            Opcode::LLVMExtractValue => {
                let [agg] = self.operands(inst);
                let indices = inst.aggregate_indices();
                Op::ExtractValue { agg, indices }
            }
            Opcode::LLVMInsertValue => {
                let [agg, elem] = self.operands(inst);
                let indices = inst.aggregate_indices();
                Op::InsertValue { agg, elem, indices }
            }
            Opcode::LLVMResume => {
                let [value] = self.operands(inst);
                Op::Resume { value }
            }
            Opcode::LLVMRet => Op::Ret {
                value: inst.operands().next().map(|value| self.value(value)),
            },
            Opcode::LLVMUnreachable => Op::Unreachable,
            Opcode::LLVMFence => {
                let (ordering, scope) = atomic_ordering(inst);
                Op::Fence { ordering, scope }
            }
            Opcode::LLVMAtomicRMW => self.update(inst),
            Opcode::LLVMVAArg => {
                let [list] = self.operands(inst);
                Op::VaArg { list }
            }
            _ => Op::Unsupported(text(*inst)),
        }
    }

    fn update(&mut self, inst: Instruction<'p>) -> Op {
        let Some(operation) = inst.update() else {
            return Op::Unsupported(text(*inst));
        };
        let (ordering, scope) = atomic_ordering(inst);
        let [ptr, value] = self.operands(inst);
        Op::AtomicRmw {
            op: rmw_op(operation),
            ptr,
            value,
            ordering,
            scope,
        }
    }

    fn switch(&mut self, switch: Switch<'p>) -> Op {
        let cases = switch
            .cases()
            .map(|(case, block)| {
                let id = self.constant(case);
                let value = match &self.tables.lock().consts[id] {
                    Const::Int(value) => *value,
                    _ => return None,
                };
                Some((value, self.block(block)))
            })
            .collect::<Option<_>>();
        let Some(cases) = cases else {
            return Op::Unsupported("a switch on an integer over 128 bits".into());
        };
        let [cond] = self.operands(*switch);
        Op::Switch {
            cond,
            default: self.block(switch.default()),
            cases,
        }
    }

    fn invoke(&mut self, invoke: Invoke<'p>) -> Op {
        Op::Invoke {
            call: self.call(*invoke),
            normal: self.block(invoke.normal()),
            unwind: self.block(invoke.unwind()),
        }
    }

    fn call_br(&mut self, call: CallBr<'p>) -> Op {
        Op::CallBr {
            call: self.call(*call),
            fallthrough: self.block(call.fallthrough()),
            indirect: call.targets().map(|block| self.block(block)).collect(),
        }
    }

    fn landing_pad(&mut self, pad: LandingPad<'p>) -> Op {
        Op::LandingPad {
            cleanup: pad.is_cleanup(),
            clauses: pad.clauses().map(|clause| self.clause(clause)).collect(),
        }
    }

    /// Copies a clause. Filters differ from catches by their type, an array.
    fn clause(&mut self, clause: handles::Value<'p>) -> Clause {
        let id = self.constant(clause);
        if clause.of().is_array() {
            Clause::Filter(id)
        } else {
            Clause::Catch(id)
        }
    }

    fn call(&mut self, call: handles::Call<'p>) -> Box<Call> {
        let arguments = call.arguments();
        let (arg_attrs, ret_attrs) = self.call_attrs(call, arguments.len() as u32);
        let tail = match call.tail() {
            TailCall::LLVMTailCallKindNone => TailKind::None,
            TailCall::LLVMTailCallKindTail => TailKind::Tail,
            TailCall::LLVMTailCallKindMustTail => TailKind::MustTail,
            TailCall::LLVMTailCallKindNoTail => TailKind::NoTail,
        };
        Box::new(Call {
            callee: self.callee(call.called()),
            fn_ty: self.type_id(call.signature()),
            args: arguments.map(|value| self.value(value)).collect(),
            arg_attrs,
            ret_attrs,
            tail,
            calling_convention: call.convention(),
            fast: FastMath(call.fast_math() as u8),
            bundles: call.bundle_tags().collect(),
        })
    }

    fn callee(&mut self, called: handles::Value<'p>) -> Callee {
        if let Some(&symbol) = self.symbols.get(&called)
            && !matches!(symbol, GlobalRef::Var(_))
        {
            return Callee::Symbol(symbol);
        }
        match called.as_inline_asm() {
            Some(assembly) => Callee::Asm(asm(assembly)),
            None => Callee::Pointer(self.value(called)),
        }
    }
}

fn asm(assembly: InlineAsm) -> Box<AsmCall> {
    Box::new(AsmCall {
        template: assembly.template(),
        constraints: assembly.constraints(),
        side_effects: assembly.has_side_effects(),
        intel: !assembly.is_att(),
    })
}

/// Returns ordering and scope of a fence or read-modify-write.
fn atomic_ordering(inst: Instruction) -> (Ordering, AtomicScope) {
    let ordering = inst.ordering();
    ordering_of(
        inst,
        ordering.unwrap_or(LlvmOrdering::LLVMAtomicOrderingNotAtomic),
    )
}

/// Returns ordering and scope of an access with that ordering.
fn ordering_of(inst: Instruction, of: LlvmOrdering) -> (Ordering, AtomicScope) {
    let ordering = ordering(of);
    // Only atomic operations have a scope.
    let scope = match ordering {
        Ordering::NotAtomic => AtomicScope::System,
        _ => scope_of(inst),
    };
    (ordering, scope)
}

fn scope_of(inst: Instruction) -> AtomicScope {
    match inst.sync_scope() {
        Some(SINGLE_THREAD) => AtomicScope::SingleThread,
        _ => AtomicScope::System,
    }
}

fn ordering(ordering: LlvmOrdering) -> Ordering {
    match ordering {
        LlvmOrdering::LLVMAtomicOrderingNotAtomic => Ordering::NotAtomic,
        LlvmOrdering::LLVMAtomicOrderingUnordered => Ordering::Unordered,
        LlvmOrdering::LLVMAtomicOrderingMonotonic => Ordering::Monotonic,
        LlvmOrdering::LLVMAtomicOrderingAcquire => Ordering::Acquire,
        LlvmOrdering::LLVMAtomicOrderingRelease => Ordering::Release,
        LlvmOrdering::LLVMAtomicOrderingAcquireRelease => Ordering::AcqRel,
        LlvmOrdering::LLVMAtomicOrderingSequentiallyConsistent => Ordering::SeqCst,
    }
}

fn int_flags(op: BinOp, inst: Instruction) -> IntFlags {
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl => {
            let (nuw, nsw) = inst.no_wrap();
            IntFlags {
                nuw,
                nsw,
                exact: false,
            }
        }
        BinOp::UDiv | BinOp::SDiv | BinOp::LShr | BinOp::AShr => IntFlags {
            nuw: false,
            nsw: false,
            exact: inst.is_exact(),
        },
        _ => IntFlags::default(),
    }
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

fn int_pred(pred: IntPredicate) -> IntPred {
    match pred {
        IntPredicate::LLVMIntEQ => IntPred::Eq,
        IntPredicate::LLVMIntNE => IntPred::Ne,
        IntPredicate::LLVMIntUGT => IntPred::Ugt,
        IntPredicate::LLVMIntUGE => IntPred::Uge,
        IntPredicate::LLVMIntULT => IntPred::Ult,
        IntPredicate::LLVMIntULE => IntPred::Ule,
        IntPredicate::LLVMIntSGT => IntPred::Sgt,
        IntPredicate::LLVMIntSGE => IntPred::Sge,
        IntPredicate::LLVMIntSLT => IntPred::Slt,
        IntPredicate::LLVMIntSLE => IntPred::Sle,
    }
}

fn float_pred(pred: RealPredicate) -> FloatPred {
    match pred {
        RealPredicate::LLVMRealPredicateFalse => FloatPred::False,
        RealPredicate::LLVMRealOEQ => FloatPred::Oeq,
        RealPredicate::LLVMRealOGT => FloatPred::Ogt,
        RealPredicate::LLVMRealOGE => FloatPred::Oge,
        RealPredicate::LLVMRealOLT => FloatPred::Olt,
        RealPredicate::LLVMRealOLE => FloatPred::Ole,
        RealPredicate::LLVMRealONE => FloatPred::One,
        RealPredicate::LLVMRealORD => FloatPred::Ord,
        RealPredicate::LLVMRealUNO => FloatPred::Uno,
        RealPredicate::LLVMRealUEQ => FloatPred::Ueq,
        RealPredicate::LLVMRealUGT => FloatPred::Ugt,
        RealPredicate::LLVMRealUGE => FloatPred::Uge,
        RealPredicate::LLVMRealULT => FloatPred::Ult,
        RealPredicate::LLVMRealULE => FloatPred::Ule,
        RealPredicate::LLVMRealUNE => FloatPred::Une,
        RealPredicate::LLVMRealPredicateTrue => FloatPred::True,
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
