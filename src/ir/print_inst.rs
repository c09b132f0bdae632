//! The text of instructions; see `print`.
//!
//! It resembles LLVM's, which readers know, but cannot be parsed back.

use super::{
    AtomicScope, BlockId, Call, Callee, Clause, Inst, Module, Op, Operand, Ordering, ParamAttrs,
    TailKind,
};
use std::fmt::{self, Display, Formatter, Write};

impl Module {
    /// Returns the text of one instruction, without its number and location.
    pub fn show_inst<'a>(&'a self, inst: &'a Inst) -> impl Display + 'a {
        fmt::from_fn(move |f| self.write_inst(f, inst))
    }

    fn show_operand(&self, operand: Operand) -> impl Display + '_ {
        fmt::from_fn(move |f| match operand.unpack() {
            Ok(value) => write!(f, "{value}"),
            Err(id) => self.write_const(f, id, 0),
        })
    }

    fn write_operands(&self, f: &mut Formatter<'_>, list: &[Operand]) -> fmt::Result {
        for (i, &operand) in list.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{}", self.show_operand(operand))?;
        }
        Ok(())
    }

    fn write_inst(&self, f: &mut Formatter<'_>, inst: &Inst) -> fmt::Result {
        let o = |operand: &Operand| self.show_operand(*operand);
        let ty = self.show_type(inst.ty);
        match &inst.op {
            Op::Binary { .. } => self.write_binary(f, inst),
            Op::FNeg { a } => write!(f, "FNeg {ty} {}", o(a)),
            Op::Cast { op, a } => write!(f, "{op:?} {} to {ty}", o(a)),
            Op::ICmp { pred, a, b } => write!(f, "ICmp {pred:?} {}, {}", o(a), o(b)),
            Op::FCmp { pred, a, b } => write!(f, "FCmp {pred:?} {}, {}", o(a), o(b)),
            Op::Select { cond, a, b } => {
                write!(f, "Select {ty} {}, {}, {}", o(cond), o(a), o(b))
            }
            Op::Freeze { a } => write!(f, "Freeze {ty} {}", o(a)),
            Op::Phi { incoming } => {
                write!(f, "Phi {ty}")?;
                for (i, (block, value)) in incoming.iter().enumerate() {
                    let comma = if i > 0 { "," } else { "" };
                    write!(f, "{comma} [{block}: {}]", o(value))?;
                }
                Ok(())
            }
            Op::ExtractElement { vector, index } => {
                write!(f, "ExtractElement {ty} {}, {}", o(vector), o(index))
            }
            Op::InsertElement {
                vector,
                elem,
                index,
            } => write!(
                f,
                "InsertElement {ty} {}, {}, {}",
                o(vector),
                o(elem),
                o(index)
            ),
            Op::ShuffleVector { a, b, mask } => {
                write!(f, "ShuffleVector {ty} {}, {}, {mask:?}", o(a), o(b))
            }
            Op::ExtractValue { agg, indices } => {
                write!(f, "ExtractValue {ty} {}, {indices:?}", o(agg))
            }
            Op::InsertValue { agg, elem, indices } => {
                write!(f, "InsertValue {ty} {}, {}, {indices:?}", o(agg), o(elem))
            }
            Op::LandingPad { cleanup, clauses } => {
                write!(f, "LandingPad {ty}")?;
                self.write_clauses(f, *cleanup, clauses)
            }
            Op::Resume { value } => write!(f, "Resume {}", o(value)),
            Op::VaArg { list } => write!(f, "VaArg {}, {ty}", o(list)),
            Op::Unsupported(text) => write!(f, "Unsupported {text:?}"),
            Op::Call(call) => self.write_call(f, "Call", call, inst),
            Op::Invoke {
                call,
                normal,
                unwind,
            } => {
                self.write_call(f, "Invoke", call, inst)?;
                write!(f, " to {normal} unwind {unwind}")
            }
            Op::CallBr {
                call,
                fallthrough,
                indirect,
            } => {
                self.write_call(f, "CallBr", call, inst)?;
                write!(f, " to {fallthrough} or {indirect:?}")
            }
            Op::Ret { .. }
            | Op::Br { .. }
            | Op::CondBr { .. }
            | Op::Switch { .. }
            | Op::IndirectBr { .. }
            | Op::Unreachable => self.write_control(f, inst),
            Op::Alloca { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Gep { .. }
            | Op::Fence { .. }
            | Op::CmpXchg { .. }
            | Op::AtomicRmw { .. } => self.write_memory(f, inst),
        }
    }

    fn write_binary(&self, f: &mut Formatter<'_>, inst: &Inst) -> fmt::Result {
        let Op::Binary {
            op,
            a,
            b,
            flags,
            fast,
        } = &inst.op
        else {
            return Ok(());
        };
        write!(f, "{op:?}")?;
        for (set, name) in [
            (flags.nuw, " nuw"),
            (flags.nsw, " nsw"),
            (flags.exact, " exact"),
        ] {
            if set {
                f.write_str(name)?;
            }
        }
        if fast.0 != 0 {
            write!(f, " fast({:#x})", fast.0)?;
        }
        let (ty, a, b) = (
            self.show_type(inst.ty),
            self.show_operand(*a),
            self.show_operand(*b),
        );
        write!(f, " {ty} {a}, {b}")
    }

    fn write_clauses(
        &self,
        f: &mut Formatter<'_>,
        cleanup: bool,
        clauses: &[Clause],
    ) -> fmt::Result {
        if cleanup {
            f.write_str(" cleanup")?;
        }
        clauses.iter().try_for_each(|clause| match clause {
            Clause::Catch(id) => write!(f, " catch {}", self.show_const(*id)),
            Clause::Filter(id) => write!(f, " filter {}", self.show_const(*id)),
        })
    }

    fn write_control(&self, f: &mut Formatter<'_>, inst: &Inst) -> fmt::Result {
        let o = |operand: &Operand| self.show_operand(*operand);
        match &inst.op {
            Op::Ret { value: Some(value) } => write!(f, "Ret {}", o(value)),
            Op::Ret { value: None } => f.write_str("Ret"),
            Op::Br { target } => write!(f, "Br {target}"),
            Op::CondBr {
                cond,
                then,
                otherwise,
            } => write!(f, "Br {}, {then}, {otherwise}", o(cond)),
            Op::Switch {
                cond,
                default,
                cases,
            } => {
                write!(f, "Switch {}, {default}", o(cond))?;
                let case = |(value, block): &(u128, BlockId)| write!(f, " [{value}: {block}]");
                cases.iter().try_for_each(case)
            }
            Op::IndirectBr { address, targets } => {
                write!(f, "IndirectBr {}, {targets:?}", o(address))
            }
            _ => f.write_str("Unreachable"),
        }
    }

    fn write_memory(&self, f: &mut Formatter<'_>, inst: &Inst) -> fmt::Result {
        let o = |operand: &Operand| self.show_operand(*operand);
        let ty = self.show_type(inst.ty);
        match &inst.op {
            Op::Alloca { elem, count, align } => {
                let elem = self.show_type(*elem);
                write!(f, "Alloca {elem}, {}, align {align}", o(count))
            }
            Op::Load {
                ptr,
                align,
                volatile,
                ordering,
                scope,
            } => {
                let marks = marks(*volatile, *ordering, *scope);
                write!(f, "Load{marks} {ty}, {}, align {align}", o(ptr))
            }
            Op::Store {
                value,
                ptr,
                align,
                volatile,
                ordering,
                scope,
            } => {
                let marks = marks(*volatile, *ordering, *scope);
                write!(f, "Store{marks} {}, {}, align {align}", o(value), o(ptr))
            }
            Op::Gep {
                elem,
                base,
                indices,
            } => {
                write!(f, "Gep {}, {}, ", self.show_type(*elem), o(base))?;
                self.write_operands(f, indices)
            }
            Op::Fence { ordering, scope } => {
                write!(f, "Fence{}", marks(false, *ordering, *scope))
            }
            Op::CmpXchg {
                ptr,
                expected,
                new,
                success,
                failure,
                weak,
                scope,
            } => {
                let word = if *weak { " weak" } else { "" };
                let marks = marks(false, *success, *scope);
                write!(
                    f,
                    "CmpXchg{word}{marks} {failure:?} {}, {}, {}",
                    o(ptr),
                    o(expected),
                    o(new)
                )
            }
            Op::AtomicRmw {
                op,
                ptr,
                value,
                ordering,
                scope,
            } => {
                let marks = marks(false, *ordering, *scope);
                write!(f, "AtomicRmw {op:?}{marks} {ty} {}, {}", o(ptr), o(value))
            }
            _ => Ok(()),
        }
    }

    fn write_call(
        &self,
        f: &mut Formatter<'_>,
        word: &str,
        call: &Call,
        inst: &Inst,
    ) -> fmt::Result {
        match call.tail {
            TailKind::None => {}
            kind => write!(f, "{kind:?} ")?,
        }
        f.write_str(word)?;
        if call.calling_convention != 0 {
            write!(f, " cc{}", call.calling_convention)?;
        }
        let ret = self.show_attrs(&call.ret_attrs);
        write!(f, "{ret} {} ", self.show_type(inst.ty))?;
        match &call.callee {
            Callee::Symbol(symbol) => write!(f, "@{}", self.symbol_name(*symbol))?,
            Callee::Pointer(pointer) => write!(f, "{}", self.show_operand(*pointer))?,
            Callee::Asm(asm) => {
                let effects = if asm.side_effects { " sideeffect" } else { "" };
                let dialect = if asm.intel { " intel" } else { "" };
                write!(
                    f,
                    "asm{effects}{dialect} {:?}, {:?}",
                    asm.template, asm.constraints
                )?;
            }
        }
        f.write_char('(')?;
        let none = ParamAttrs::default();
        for (i, &arg) in call.args.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let attrs = self.show_attrs(call.arg_attrs.get(i).unwrap_or(&none));
            write!(f, "{comma}{}{attrs}", self.show_operand(arg))?;
        }
        f.write_char(')')?;
        call.bundles
            .iter()
            .try_for_each(|tag| write!(f, " [{tag}]"))
    }
}

/// Formats ` volatile`, ` Acquire`, ` SingleThread`, as they apply.
fn marks(volatile: bool, ordering: Ordering, scope: AtomicScope) -> impl Display {
    fmt::from_fn(move |f| {
        if volatile {
            f.write_str(" volatile")?;
        }
        if ordering != Ordering::NotAtomic {
            write!(f, " {ordering:?}")?;
        }
        match scope {
            AtomicScope::System => Ok(()),
            AtomicScope::SingleThread => f.write_str(" SingleThread"),
        }
    })
}
