//! Translation of single instructions to the steps of a host schedule.
//!
//! Instructions without a corresponding step, and effects that every thread would have, are refused
//! ([`super::schedule_builder`]).

use super::host_schedule::{Conversion, FloatOperation, ScheduleOperand, ScheduleStep};
use super::schedule_builder::{ScheduleBuilder, bits, bits_of};
use super::{IntOperation, Refusal, has_no_effect, refuse_at};
use crate::handles::{Block, Call, Instruction, Opcode, Value};

impl<'m> ScheduleBuilder<'m> {
    pub fn instruction(&mut self, block: Block<'m>, at: Instruction<'m>) -> Result<(), Refusal> {
        use Opcode::*;
        let opcode = at.opcode();
        let whole = match opcode {
            LLVMAdd => Some(IntOperation::Add),
            LLVMSub => Some(IntOperation::Sub),
            LLVMMul => Some(IntOperation::Mul),
            LLVMSDiv => Some(IntOperation::SDiv),
            LLVMUDiv => Some(IntOperation::UDiv),
            LLVMSRem => Some(IntOperation::SRem),
            LLVMURem => Some(IntOperation::URem),
            LLVMShl => Some(IntOperation::Shl),
            LLVMLShr => Some(IntOperation::LShr),
            LLVMAShr => Some(IntOperation::AShr),
            LLVMAnd => Some(IntOperation::And),
            LLVMOr => Some(IntOperation::Or),
            LLVMXor => Some(IntOperation::Xor),
            LLVMICmp => at.int_predicate().map(IntOperation::from),
            LLVMSExt => Some(IntOperation::SignExtend),
            LLVMZExt => Some(IntOperation::ZeroExtend),
            LLVMTrunc => Some(IntOperation::Truncate),
            _ => None,
        };
        if let Some(operation) = whole {
            let bits = bits_of(at.operand(0))?;
            return self.whole(at, operation, bits, at.operand_count());
        }
        match opcode {
            LLVMFAdd => self.real(at, FloatOperation::Add, 2),
            LLVMFSub => self.real(at, FloatOperation::Sub, 2),
            LLVMFMul => self.real(at, FloatOperation::Mul, 2),
            LLVMFDiv => self.real(at, FloatOperation::Div, 2),
            LLVMFRem => self.real(at, FloatOperation::Rem, 2),
            LLVMFNeg => self.real(at, FloatOperation::Negate, 1),
            LLVMFCmp => {
                // LLVM's predicates are masks of the outcomes for which they are true.
                let wanted = at.real_predicate().map_or(0, |predicate| predicate as u8);
                self.real(at, FloatOperation::Compare(wanted), 2)
            }
            LLVMSelect => self.whole(at, IntOperation::Select, 64, 3),
            LLVMFreeze | LLVMBitCast | LLVMPtrToInt | LLVMIntToPtr => {
                let from = self.at(at.operand(0))?;
                bits_of(at.into())?;
                let word = self.result(at)?;
                self.push(ScheduleStep::Move(vec![(word, from)]));
                Ok(())
            }
            LLVMSIToFP => self.convert(at, Conversion::SignedToReal),
            LLVMUIToFP => self.convert(at, Conversion::UnsignedToReal),
            LLVMFPToSI => self.convert(at, Conversion::RealToSigned),
            LLVMFPToUI => self.convert(at, Conversion::RealToUnsigned),
            LLVMFPExt | LLVMFPTrunc => self.convert(at, Conversion::RealToReal),
            LLVMAlloca | LLVMPHI => Ok(()),
            LLVMLoad | LLVMStore if at.is_volatile() => {
                Err(refuse_at("a volatile variable around its loops", at))
            }
            LLVMLoad if at.is_atomic() => Err(refuse_at(
                "an atomic read around its loops: it may wait for another thread",
                at,
            )),
            LLVMLoad => {
                let (bytes, from) = (self.stored(at.into())?, self.at(at.operand(0))?);
                let word = self.result(at)?;
                self.push(ScheduleStep::Load(word, from, bytes));
                Ok(())
            }
            LLVMStore => {
                let bytes = self.stored(at.operand(0))?;
                let (value, to) = (self.at(at.operand(0))?, self.at(at.operand(1))?);
                self.push(ScheduleStep::Store(to, value, bytes));
                Ok(())
            }
            LLVMGetElementPtr => self.element(at),
            LLVMBr => self.branch(block, at),
            LLVMSwitch => self.switch(block, at),
            LLVMRet => {
                self.push(ScheduleStep::End);
                Ok(())
            }
            LLVMUnreachable => Err(refuse_at("the program may end around its loops", at)),
            LLVMAtomicRMW | LLVMAtomicCmpXchg => Err(refuse_at(
                "an atomic update around its loops, once for each thread",
                at,
            )),
            LLVMCall => match at.as_call() {
                Some(call) => self.call(call),
                None => Ok(()),
            },
            _ => Err(refuse_at("an unsupported instruction around its loops", at)),
        }
    }

    /// Returns the bytes that a store of a value writes.
    fn stored(&self, value: Value<'m>) -> Result<u32, Refusal> {
        bits_of(value)?;
        Ok(self.module.layout().stored(value.of()) as u32)
    }

    fn parts(&mut self, at: Instruction<'m>, count: u32) -> Result<Vec<ScheduleOperand>, Refusal> {
        (0..count).map(|i| self.at(at.operand(i))).collect()
    }

    fn whole(
        &mut self,
        at: Instruction<'m>,
        operation: IntOperation,
        bits: u32,
        count: u32,
    ) -> Result<(), Refusal> {
        let parts = self.parts(at, count)?;
        let word = self.result(at)?;
        self.push(ScheduleStep::Int(word, operation, bits, parts));
        Ok(())
    }

    fn real(
        &mut self,
        at: Instruction<'m>,
        operation: FloatOperation,
        count: u32,
    ) -> Result<(), Refusal> {
        let bits = bits_of(at.operand(0))?;
        let parts = self.parts(at, count)?;
        let word = self.result(at)?;
        self.push(ScheduleStep::Float(word, operation, bits, parts));
        Ok(())
    }

    fn convert(&mut self, at: Instruction<'m>, conversion: Conversion) -> Result<(), Refusal> {
        let sizes = (bits_of(at.operand(0))?, bits_of(at.into())?);
        let from = self.at(at.operand(0))?;
        let word = self.result(at)?;
        self.push(ScheduleStep::Convert(word, conversion, sizes, from));
        Ok(())
    }

    fn branch(&mut self, block: Block<'m>, at: Instruction<'m>) -> Result<(), Refusal> {
        let next: Vec<Block<'m>> = at.successors().collect();
        match next[..] {
            [then, otherwise] => {
                let condition = self.at(at.operand(0))?;
                self.either(condition, block, then)?;
                self.edge(block, otherwise)
            }
            _ => next.into_iter().try_for_each(|to| self.edge(block, to)),
        }
    }

    fn switch(&mut self, block: Block<'m>, at: Instruction<'m>) -> Result<(), Refusal> {
        let value = self.at(at.operand(0))?;
        let bits = bits_of(at.operand(0))?;
        for (case, to) in at.cases() {
            let wanted = self.at(case)?;
            let word = self.fresh();
            let parts = vec![value, wanted];
            self.push(ScheduleStep::Int(word, IntOperation::Equal, bits, parts));
            self.either(ScheduleOperand::Word(word), block, to)?;
        }
        let mut default = at.successors().take(1);
        default.try_for_each(|to| self.edge(block, to))
    }

    /// Branches to a block under a condition, and otherwise continues.
    fn either(
        &mut self,
        condition: ScheduleOperand,
        from: Block<'m>,
        to: Block<'m>,
    ) -> Result<(), Refusal> {
        let here = self.schedule.steps.len();
        self.push(ScheduleStep::End);
        self.edge(from, to)?;
        let after = self.schedule.steps.len() as u32;
        self.schedule.steps[here] = ScheduleStep::Branch(condition, here as u32 + 1, after);
        Ok(())
    }

    /// Computes an address in an array or structure.
    fn element(&mut self, at: Instruction<'m>) -> Result<(), Refusal> {
        let Some(at) = at.as_gep() else { return Ok(()) };
        let layout = self.module.layout();
        let mut sum = self.at(at.pointer())?;
        let mut of = at.source_type();
        for (n, index) in at.indices().enumerate() {
            let member = index.unsigned().unwrap_or(0) as u32;
            let field = (n > 0).then(|| of.field(member)).flatten();
            let distance = if let Some(field) = field {
                let offset = layout.offset(of, member);
                of = field;
                ScheduleOperand::Constant(offset)
            } else {
                if n > 0 {
                    let unsupported = "an unsupported value around its loops";
                    of = of.element().ok_or_else(|| refuse_at(unsupported, at))?;
                }
                let size = layout.size(of);
                let (bits, number) = (bits_of(index)?, self.at(index)?);
                let (wide, times) = (self.fresh(), self.fresh());
                let parts = vec![ScheduleOperand::Word(wide), ScheduleOperand::Constant(size)];
                let extend = IntOperation::SignExtend;
                self.push(ScheduleStep::Int(wide, extend, bits, vec![number]));
                self.push(ScheduleStep::Int(times, IntOperation::Mul, 64, parts));
                ScheduleOperand::Word(times)
            };
            let word = self.fresh();
            let parts = vec![sum, distance];
            self.push(ScheduleStep::Int(word, IntOperation::Add, 64, parts));
            sum = ScheduleOperand::Word(word);
        }
        let word = self.result(at)?;
        self.push(ScheduleStep::Move(vec![(word, sum)]));
        Ok(())
    }

    fn call(&mut self, at: Call<'m>) -> Result<(), Refusal> {
        let Some(callee) = at.callee() else {
            return Err(refuse_at("a call through a pointer", at));
        };
        let name = callee.name();
        if has_no_effect(&name) {
            return Ok(());
        }
        let intrinsic = name
            .strip_prefix("llvm.")
            .and_then(|name| name.split('.').next());
        let whole = match intrinsic {
            Some("smin") => Some(IntOperation::SMin),
            Some("smax") => Some(IntOperation::SMax),
            Some("umin") => Some(IntOperation::UMin),
            Some("umax") => Some(IntOperation::UMax),
            _ => None,
        };
        if let Some(operation) = whole {
            return self.whole(at.into(), operation, bits_of(at.into())?, 2);
        }
        if matches!(intrinsic, Some("memcpy" | "memmove" | "memset"))
            && let Some(size) = at.argument(2).signed()
            && let Ok(size) = u64::try_from(size)
        {
            let (to, from) = (self.at(at.argument(0))?, self.at(at.argument(1))?);
            self.push(match intrinsic {
                Some("memset") => ScheduleStep::Fill(to, from, size),
                _ => ScheduleStep::Copy(to, from, size),
            });
            return Ok(());
        }
        let plain = match intrinsic {
            Some(intrinsic) => intrinsic,
            None if bits(at.of()) == Some(32) => name.strip_suffix('f').unwrap_or(&name),
            None => &name,
        };
        match real_operation(plain) {
            Some((operation, count)) => self.real(at.into(), operation, count),
            None => Err(refuse_at(
                format!("`{name}` is called around its loops"),
                at,
            )),
        }
    }
}

/// Returns the operation of a function of `math.h` or an intrinsic, and the number of its operands.
fn real_operation(name: &str) -> Option<(FloatOperation, u32)> {
    Some(match name {
        "sqrt" => (FloatOperation::SquareRoot, 1),
        "fabs" => (FloatOperation::Absolute, 1),
        "floor" => (FloatOperation::Floor, 1),
        "ceil" => (FloatOperation::Ceiling, 1),
        "trunc" => (FloatOperation::Truncate, 1),
        "exp" => (FloatOperation::Exponential, 1),
        "log" => (FloatOperation::Logarithm, 1),
        "sin" => (FloatOperation::Sine, 1),
        "cos" => (FloatOperation::Cosine, 1),
        "pow" => (FloatOperation::Power, 2),
        "fma" => (FloatOperation::Fused, 3),
        "minnum" | "fmin" => (FloatOperation::Least, 2),
        "maxnum" | "fmax" => (FloatOperation::Most, 2),
        "fmod" => (FloatOperation::Rem, 2),
        _ => return None,
    })
}
