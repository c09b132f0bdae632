//! Loops of one instruction: if a block consists of an instruction of `exec/repeat.rs` and the step
//! that branches back to it, the instruction gets its repeating form.
//!
//! The step must count the instruction's index in place, and the instruction may read nothing else
//! that changes, apart from its own sum. Loops of several instructions are left alone.

use super::{Label, Lowering};
use crate::isa::{
    Brstep, Brstepi, Brwalk, Brwalki, Enc, Fcx, Fg, Fx, Fxx, INSTRUCTIONS, Memx, Opcode, Shape, op,
};

impl Lowering<'_> {
    /// Returns the operands of an instruction of shape `T`.
    fn operands_at<T: Shape>(&self, at: usize) -> T {
        // SAFETY: the caller has found an instruction of this shape at `at`.
        unsafe { (*self.code.as_ptr().byte_add(at).cast::<Enc<T>>()).ops }
    }

    /// Returns the slot that a step just emitted counts in place, and the other slots that it
    /// reads. `None` if one of these is the counter: a loop may double it.
    fn counter(&self, at: usize, number: u16) -> Option<(u16, [u16; 2])> {
        let is = |codes: &[u16]| codes.contains(&number);
        let (dst, a, others) = if is(&[
            op::step_eqi64.number,
            op::step_slti64.number,
            op::step_ulti64.number,
        ]) {
            let o: Brstepi = self.operands_at(at);
            (o.dst, o.a, [u16::MAX; 2])
        } else if is(&[
            op::step_eq64.number,
            op::step_slt64.number,
            op::step_ult64.number,
        ]) {
            let o: Brstep = self.operands_at(at);
            (o.dst, o.a, [o.b, u16::MAX])
        } else if is(&[op::walk_slti64.number, op::walk_ulti64.number]) {
            let o: Brwalki = self.operands_at(at);
            (o.dst, o.a, [o.s, u16::MAX])
        } else if is(&[op::walk_slt64.number, op::walk_ult64.number]) {
            let o: Brwalk = self.operands_at(at);
            (o.dst, o.a, [o.s, o.b])
        } else {
            return None;
        };
        (dst == a && !others.contains(&dst)).then_some((dst, others))
    }

    /// Gives the instruction before the step just emitted its repeating form, if the current block
    /// consists of these two and the step branches back to it.
    pub(super) fn repeat(&mut self, then: Label, els: Label) {
        let [.., (first, what), (step, number)] = self.ops[..] else {
            return;
        };
        let own = Label::from_number(self.current as u32);
        let labels = (then, els);
        if self.fence != first || self.labels[self.current] != first {
            return;
        }
        // A step on equality leaves the loop when true; one on less-than continues it.
        let until = number == op::step_eqi64.number || number == op::step_eq64.number;
        if (until && labels.1 != own) || (!until && labels.0 != own) || then == els {
            return;
        }
        let Some((i, reads)) = self.counter(step as usize, number) else {
            return;
        };
        let at = first as usize;
        let stays = |slot: u16| slot != i;
        let summed = |sum: u16, same: u16, others: &[u16]| {
            sum == same && sum != i && !reads.contains(&sum) && !others.contains(&sum)
        };
        fn form<T: Shape>(what: u16, code: Opcode<T>, repeated: Opcode<T>) -> Option<u16> {
            (what == code.number).then_some(repeated.number)
        }
        let fill = form(what, op::store8x, op::store8x_loop)
            .or(form(what, op::store16x, op::store16x_loop))
            .or(form(what, op::store32x, op::store32x_loop))
            .or(form(what, op::store64x, op::store64x_loop));
        let repeated = if let Some(code) = fill {
            let o: Memx = self.operands_at(at);
            (o.index == i && stays(o.base) && stays(o.reg)).then_some(code)
        } else if let Some(code) = form(what, op::fadd64_x, op::fadd64_x_loop) {
            let o: Fx = self.operands_at(at);
            (o.index == i && stays(o.base) && summed(o.dst, o.a, &[o.base])).then_some(code)
        } else if let Some(code) = form(what, op::muladd64_x, op::muladd64_x_loop) {
            let o: Fcx = self.operands_at(at);
            let fine = o.index == i && stays(o.base) && stays(o.a);
            (fine && summed(o.dst, o.c, &[o.base, o.a])).then_some(code)
        } else if let Some(code) = form(what, op::muladd64_xx, op::muladd64_xx_loop) {
            let o: Fxx = self.operands_at(at);
            let fine = o.index == i && o.index2 == i && stays(o.base) && stays(o.base2);
            (fine && summed(o.dst, o.c, &[o.base, o.base2])).then_some(code)
        } else if let Some(code) = form(what, op::macc64_xx, op::macc64_xx_loop) {
            let o: Fxx = self.operands_at(at);
            let fine = o.index == i && o.index2 == i && stays(o.base) && stays(o.base2);
            (fine && stays(o.c)).then_some(code)
        } else if let Some(code) = form(what, op::muladd64_gather, op::muladd64_gather_loop) {
            let o: Fg = self.operands_at(at);
            let fine = o.index == i && stays(o.base) && stays(o.base2) && stays(o.base3);
            (fine && summed(o.dst, o.c, &[o.base, o.base2, o.base3])).then_some(code)
        } else {
            None
        };
        let Some(code) = repeated else { return };
        let k = self.ops.len() - 2;
        self.ops[k].1 = code;
        // SAFETY: the first word of an instruction is its handler, and both forms have the same
        // shape.
        unsafe {
            self.code
                .as_mut_ptr()
                .byte_add(at)
                .cast::<crate::exec::Handler>()
                .write(INSTRUCTIONS.handlers[code as usize]);
        }
    }
}
