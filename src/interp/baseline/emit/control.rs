//! Function entry, branches, returns, calls, and exits to handlers.
//!
//! A comparison is emitted with its branch, since the flags live no longer. Native code is called
//! by handlers only.

use super::ops;
use crate::asm::{Alu, G, RAX, RCX, RDI, RDX, RSI, Rm, at, cc, pp};
use crate::flow::{Inst, by_handler};
use crate::generate::Generator;
use crate::register_cache::home;
use crate::table::{Comparison, FloatComparison, Flow, Template as T};
use ompvm_interp::frame::{HEADER_WORDS, LoweredFunction};
use ompvm_interp::isa::{self, Enc, tail_bytes};
use ompvm_memory::func::FuncRef;
use ompvm_memory::thread::ThreadState;
use std::mem::offset_of;

/// Returns the location of a word of a frame's header, counted as in [`ompvm_interp::frame`].
fn header(regs: G, word: i32) -> crate::asm::Mem {
    at(regs, -8 * word)
}

const SP: i32 = offset_of!(ThreadState, sp) as i32;
/// Bytes of a frame's header.
const HEADER_BYTES: i32 = HEADER_WORDS as i32 * 8;
const LIMIT: i32 = offset_of!(ThreadState, limit) as i32;

impl Generator<'_> {
    pub(super) fn enter(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Enter`; see [`Generator::emit`].
        let o: isa::Enter = unsafe { ops(inst) };
        let asm = &mut self.c.asm;
        asm.lea(true, RAX, at(RSI, -HEADER_BYTES));
        asm.store(at(RDX, SP), RAX);
        for i in 0..usize::from(o.count) {
            // SAFETY: the lowering put `count` values and slots into the pool.
            let (value, slot) = unsafe {
                (
                    *(o.pool as *const u64).add(i),
                    *(o.slots as *const u16).add(i),
                )
            };
            match i32::try_from(value as i64) {
                Ok(imm) => asm.store_imm(home(slot), imm),
                Err(_) => {
                    asm.mov_imm(RAX, value);
                    asm.store(home(slot), RAX);
                }
            }
        }
    }

    pub(super) fn count(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Count`; see [`Generator::emit`].
        let o: isa::Count = unsafe { ops(inst) };
        let counter = at(RDX, offset_of!(ThreadState, interp) as i32);
        self.c
            .asm
            .alu_imm(Alu::Add, true, Rm::Mem(counter), o.n as i32);
    }

    /// Emits an instruction that ends its block.
    pub fn terminator(&mut self, inst: &Inst) {
        match inst.row.template {
            T::Jump => self.jump(inst),
            T::MoveJump => {
                self.move_word(inst);
                self.jump(inst);
            }
            T::BranchIf => self.branch_if(inst),
            T::Branch(test) => self.branch(inst, test),
            T::BranchImm(test) => self.branch_imm(inst, test),
            T::BranchTest => self.branch_test(inst),
            T::BranchFloat(test, double) => self.branch_float(inst, test, double),
            T::Step(test) => self.step_branch(inst, test),
            T::StepImm(test) => self.step_branch_imm(inst, test),
            T::Walk(test) => self.walk_branch(inst, test),
            T::WalkImm(test) => self.walk_branch_imm(inst, test),
            T::Inc(test) => self.increment_branch(inst, test),
            T::IncImm(test) => self.increment_branch_imm(inst, test),
            T::Ret0 => self.leave_frame(),
            T::Ret1 => self.return_word(inst),
            T::Call(near) => self.call(inst, near),
            T::Call1(near) => self.call1(inst, near),
            _ if by_handler(inst) => {
                self.c.flush(true, |_| true);
                self.jump_to_handler(inst.at, inst.number);
            }
            _ => {}
        }
    }

    fn jump(&mut self, inst: &Inst) {
        self.flush(false);
        self.continue_in(self.branch_block(inst, self.then(inst)));
    }

    fn branch_if(&mut self, inst: &Inst) {
        let a = self.g(inst, 0);
        self.flush(false);
        match a {
            Rm::Reg(r) => {
                self.c.asm.op8(0xf6, 0, Rm::Reg(r));
            }
            m => {
                self.c.asm.op(false, 0xf6, 0, m);
            }
        }
        self.c.asm.imm8(1);
        self.fork(inst, cc::NE);
    }

    fn branch(&mut self, inst: &Inst, test: Comparison) {
        let (ra, rb) = self.sides(inst, 0, 1, test);
        self.flush(false);
        self.c.asm.alu(Alu::Cmp, test.1 == 64, ra, rb);
        self.fork(inst, test.0);
    }

    fn branch_imm(&mut self, inst: &Inst, test: Comparison) {
        // SAFETY: instructions of this template have shape `Brai`; see [`Generator::emit`].
        let o: isa::Brai = unsafe { ops(inst) };
        let a = self.g(inst, 0);
        self.flush(false);
        self.compare_with(a, test.1 == 64, o.imm);
        self.fork(inst, test.0);
    }

    fn branch_test(&mut self, inst: &Inst) {
        // SAFETY: instructions of this template have shape `Brai`; see [`Generator::emit`].
        let o: isa::Brai = unsafe { ops(inst) };
        let a = self.g(inst, 0);
        self.flush(false);
        // test a, imm (sign-extended)
        self.c.asm.op(true, 0xf7, 0, a);
        self.c.asm.imm32(o.imm);
        self.fork(inst, cc::NE);
    }

    fn branch_float(&mut self, inst: &Inst, test: FloatComparison, double: bool) {
        let (condition, parity) = self.float_test(inst, 0, 1, test, double, true);
        if parity {
            let els = self.branch_block(inst, self.els(inst));
            let els = self.target(els);
            self.c.asm.jcc(cc::P, els);
        }
        self.fork(inst, condition);
    }

    fn step_branch(&mut self, inst: &Inst, test: Comparison) {
        // SAFETY: instructions of this template have shape `Brstep`; see [`Generator::emit`].
        let o: isa::Brstep = unsafe { ops(inst) };
        let b = self.bound(inst, 2);
        let d = self.step(inst, test, o.step);
        self.flush(false);
        self.c.asm.alu(Alu::Cmp, test.1 == 64, d, Rm::Reg(b));
        self.fork(inst, test.0);
    }

    fn step_branch_imm(&mut self, inst: &Inst, test: Comparison) {
        // SAFETY: instructions of this template have shape `Brstepi`; see [`Generator::emit`].
        let o: isa::Brstepi = unsafe { ops(inst) };
        let d = self.step(inst, test, o.step);
        self.flush(false);
        self.compare_with(Rm::Reg(d), test.1 == 64, o.imm);
        self.fork(inst, test.0);
    }

    fn walk_branch(&mut self, inst: &Inst, test: Comparison) {
        let b = self.bound(inst, 2);
        let d = self.walk(inst, test, 3);
        self.flush(false);
        self.c.asm.alu(Alu::Cmp, test.1 == 64, d, Rm::Reg(b));
        self.fork(inst, test.0);
    }

    fn walk_branch_imm(&mut self, inst: &Inst, test: Comparison) {
        // SAFETY: instructions of this template have shape `Brwalki`; see [`Generator::emit`].
        let o: isa::Brwalki = unsafe { ops(inst) };
        let d = self.walk(inst, test, 2);
        self.flush(false);
        self.compare_with(Rm::Reg(d), test.1 == 64, o.imm);
        self.fork(inst, test.0);
    }

    /// Emits the sum first, since it may be an operand of the comparison.
    fn increment_branch(&mut self, inst: &Inst, test: Comparison) {
        // SAFETY: instructions of this template have shape `Brinc`; see [`Generator::emit`].
        let o: isa::Brinc = unsafe { ops(inst) };
        self.increment(inst, o.step);
        let (x, y) = self.sides(inst, 2, 3, test);
        self.flush(false);
        self.c.asm.alu(Alu::Cmp, test.1 == 64, x, y);
        self.fork(inst, test.0);
    }

    fn increment_branch_imm(&mut self, inst: &Inst, test: Comparison) {
        // SAFETY: instructions of this template have shape `Brinci`; see [`Generator::emit`].
        let o: isa::Brinci = unsafe { ops(inst) };
        self.increment(inst, o.step);
        let x = self.g(inst, 2);
        self.flush(false);
        self.compare_with(x, test.1 == 64, o.imm);
        self.fork(inst, test.0);
    }

    /// Writes one word to the caller's frame and leaves the callee's.
    fn return_word(&mut self, inst: &Inst) {
        let slot = self.slot(inst, 0);
        let value = match self.c.single_x(slot) {
            Some(x) if !self.c.has_g(slot) => {
                self.c.asm.vmovq_to_g(RAX, x);
                RAX
            }
            _ => self.c.reg_g(slot, false, RAX),
        };
        // The slot is in the low half of the word.
        self.c.asm.movzx(16, RCX, Rm::Mem(header(RSI, 4)));
        self.c.asm.mov(RDI, Rm::Mem(header(RSI, 2)));
        let to = crate::asm::Mem {
            base: RDI,
            index: RCX,
            scale: 3,
            disp: 0,
        };
        self.c.asm.store(to, value);
        self.leave_frame();
    }

    fn then(&self, inst: &Inst) -> u8 {
        match inst.row.flow {
            Flow::Branch(then, _) => then,
            _ => 0,
        }
    }

    fn els(&self, inst: &Inst) -> u8 {
        match inst.row.flow {
            Flow::Branch(_, els) => els,
            _ => 0,
        }
    }

    /// Jumps to one successor on a condition, otherwise to the other.
    fn fork(&mut self, inst: &Inst, condition: u8) {
        self.c.unlock();
        let then = self.branch_block(inst, self.then(inst));
        let els = self.branch_block(inst, self.els(inst));
        if then == self.block + 1 && els != then {
            let els = self.target(els);
            self.c.asm.jcc(condition ^ 1, els);
            self.continue_in(then);
        } else {
            let then = self.target(then);
            self.c.asm.jcc(condition, then);
            self.continue_in(els);
        }
    }

    /// Returns the bound of a counter in a register that the counter's new value does not
    /// overwrite.
    fn bound(&mut self, inst: &Inst, k: usize) -> G {
        if self.slot(inst, k) == self.slot(inst, 0) {
            let b = self.g(inst, k);
            self.c.asm.mov(RCX, b);
            return RCX;
        }
        self.gr(inst, k, RCX)
    }

    /// Emits `dst = a + s` with `s` in field `k`; returns the register.
    fn walk(&mut self, inst: &Inst, test: Comparison, k: usize) -> G {
        let wide = test.1 == 64;
        let (a, s) = (self.g(inst, 1), self.g(inst, k));
        if wide {
            self.c.asm.mov(RAX, a);
        } else {
            self.c.asm.mov32(RAX, a);
        }
        self.c.asm.alu(Alu::Add, wide, RAX, s);
        let d = self.c.def_g(self.slot(inst, 0), self.dead(0));
        self.c.asm.mov(d, Rm::Reg(RAX));
        d
    }

    /// Emits `dst = a + step` in 64 bits, and keeps it for the comparison, which may read it.
    fn increment(&mut self, inst: &Inst, step: i32) {
        let a = self.g(inst, 1);
        let d = self.c.def_g(self.slot(inst, 0), false);
        self.add_imm(true, d, a, step);
    }

    /// Emits `dst = a + step`; returns the register.
    fn step(&mut self, inst: &Inst, test: Comparison, step: i32) -> G {
        let wide = test.1 == 64;
        let a = self.g(inst, 1);
        let dst = self.slot(inst, 0);
        let d = self.c.def_g(dst, self.dead(0));
        self.add_imm(wide, d, a, step);
        d
    }

    /// Emits `d = a + imm`.
    pub(super) fn add_imm(&mut self, wide: bool, d: G, a: Rm, imm: i32) {
        match a {
            Rm::Reg(r) if r == d => self.c.asm.alu_imm(Alu::Add, wide, a, imm),
            Rm::Reg(r) => self.c.asm.lea(wide, d, at(r, imm)),
            m => {
                if wide {
                    self.c.asm.mov(d, m);
                } else {
                    self.c.asm.mov32(d, m);
                }
                self.c.asm.alu_imm(Alu::Add, wide, Rm::Reg(d), imm);
            }
        }
    }

    /// Emits a comparison with an immediate.
    pub(super) fn compare_with(&mut self, a: Rm, wide: bool, imm: i32) {
        match a {
            Rm::Reg(r) if imm == 0 => self.c.asm.op(wide, 0x85, r, a),
            _ => self.c.asm.alu_imm(Alu::Cmp, wide, a, imm),
        }
    }

    /// Returns the operands of a comparison; narrow signed ones are extended into rax and rcx.
    pub(super) fn sides(&mut self, inst: &Inst, a: usize, b: usize, test: Comparison) -> (G, Rm) {
        if test.2 && test.1 < 32 {
            let bits = u32::from(test.1);
            let (a, b) = (self.g(inst, a), self.g(inst, b));
            self.c.asm.movsx(bits, false, RAX, a);
            self.c.asm.movsx(bits, false, RCX, b);
            return (RAX, Rm::Reg(RCX));
        }
        let ra = self.gr(inst, a, RAX);
        let rb = self.g(inst, b);
        (ra, rb)
    }

    /// Compares floats. Returns the condition under which the test holds, and whether parity (a
    /// NaN) also decides: against it for positive tests, for it for negative ones.
    pub(super) fn float_test(
        &mut self,
        inst: &Inst,
        a: usize,
        b: usize,
        test: FloatComparison,
        double: bool,
        flush: bool,
    ) -> (u8, bool) {
        use FloatComparison::{Eq, Le, Lt, Ne, NotEq, NotLe, NotLt, NotNe, NotOrd, Ord};
        let swap = matches!(test, Lt | Le | NotLt | NotLe);
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let ra = self.xr(inst, a, 0);
        let rb = self.x(inst, b);
        if flush {
            self.flush(false);
        }
        let pp = if double { pp::P66 } else { pp::NONE };
        self.c.asm.v(pp, 0x2e, ra, 0, rb);
        match test {
            Lt => (cc::A, false),
            Le => (cc::AE, false),
            NotLt => (cc::BE, false),
            NotLe => (cc::B, false),
            Ne => (cc::NE, false),
            NotNe => (cc::E, false),
            Ord => (cc::NP, false),
            NotOrd => (cc::P, false),
            Eq => (cc::E, true),
            NotEq => (cc::NE, true),
        }
    }

    /// Leaves the frame that rsi points at, and restores the caller's.
    fn leave_frame(&mut self) {
        let asm = &mut self.c.asm;
        asm.mov(RAX, Rm::Mem(header(RSI, 6)));
        asm.mov(RDI, Rm::Mem(header(RSI, 1)));
        asm.mov(RSI, Rm::Mem(header(RSI, 2)));
        asm.store(at(RDX, SP), RAX);
        asm.jmp_rm(Rm::Mem(at(RDI, 0)));
    }

    /// Emits a call with listed arguments; with `near` the caller's frame has a fixed size.
    fn call(&mut self, inst: &Inst, near: bool) {
        // SAFETY: instructions of this template have shape `Call`; see [`Generator::emit`].
        let o: isa::Call = unsafe { ops(inst) };
        let slots = inst.ip.wrapping_byte_add(size_of::<Enc<isa::Call>>());
        // SAFETY: the lowering put `n` slot numbers after the instruction.
        let slots: Vec<u16> = (0..usize::from(o.n))
            .map(|i| unsafe { *slots.cast::<u16>().add(i) })
            .collect();
        let after = inst.at + (size_of::<Enc<isa::Call>>() + tail_bytes(slots.len())) as u32;
        if !self.begin_call(inst, o.func, (o.dst, o.words), near) {
            return;
        }
        for (i, &slot) in slots.iter().enumerate() {
            let to = at(RDI, i as i32 * 8);
            match self.c.single_x(slot) {
                Some(x) if !self.c.has_g(slot) => self.c.asm.vstore64(to, x),
                _ => {
                    let r = self.c.reg_g(slot, false, RAX);
                    self.c.asm.store(to, r);
                }
            }
            self.c.unlock();
        }
        self.end_call(after, (o.dst, o.words), near);
    }

    /// Emits a call with the argument `a + imm`.
    fn call1(&mut self, inst: &Inst, near: bool) {
        // SAFETY: instructions of this template have shape `Call1`; see [`Generator::emit`].
        let o: isa::Call1 = unsafe { ops(inst) };
        let after = inst.at + size_of::<Enc<isa::Call1>>() as u32;
        if !self.begin_call(inst, o.func, (o.dst, o.words), near) {
            return;
        }
        let a = self.c.read_g(o.a, false);
        self.add_imm(true, RAX, a, o.imm);
        self.c.asm.store(at(RDI, 0), RAX);
        self.end_call(after, (o.dst, o.words), near);
    }

    /// Loads the callee's code to rcx and slot 0 of its frame to rdi; false if the handler performs
    /// the call.
    fn begin_call(
        &mut self,
        inst: &Inst,
        func: usize,
        (dst, words): (u16, u16),
        near: bool,
    ) -> bool {
        // If the callee is not lowered yet or the space is used up, the handler performs the call
        // and reads everything from memory.
        self.c.flush(true, |_| true);
        if i32::try_from(u32::from(dst) | u32::from(words) << 16).is_err() {
            self.jump_to_handler(inst.at, inst.number);
            return false;
        }
        let first = self.bail(inst);
        self.c.asm.mov_imm(RCX, func as u64);
        let code = offset_of!(FuncRef, code) as i32;
        self.c.asm.mov(RCX, Rm::Mem(at(RCX, code)));
        self.c.asm.op(true, 0x85, RCX, Rm::Reg(RCX));
        self.c.asm.jcc(cc::E, first);
        match near {
            true => self.c.asm.lea(true, RDI, at(RSI, -HEADER_BYTES)),
            false => self.c.asm.mov(RDI, Rm::Mem(at(RDX, SP))),
        }
        let asm = &mut self.c.asm;
        asm.mov32(
            RAX,
            Rm::Mem(at(RCX, offset_of!(LoweredFunction, frame) as i32)),
        );
        asm.alu(Alu::Sub, true, RDI, Rm::Reg(RAX));
        asm.op(true, 0x3b, RDI, Rm::Mem(at(RDX, LIMIT)));
        asm.jcc(cc::B, first);
        true
    }

    /// Writes the header and jumps to the callee.
    fn end_call(&mut self, after: u32, (dst, words): (u16, u16), near: bool) {
        let ip = self.address(after);
        let asm = &mut self.c.asm;
        asm.mov_imm(RAX, ip);
        asm.store(header(RDI, 1), RAX);
        asm.store(header(RDI, 2), RSI);
        asm.store(header(RDI, 3), RCX);
        asm.store_imm(header(RDI, 4), i32::from(dst) | i32::from(words) << 16);
        asm.store_imm(header(RDI, 5), 0);
        match near {
            true => asm.lea(true, RAX, at(RSI, -HEADER_BYTES)),
            false => asm.mov(RAX, Rm::Mem(at(RDX, SP))),
        }
        asm.store(header(RDI, 6), RAX);
        asm.mov(RSI, Rm::Reg(RDI));
        asm.mov(
            RDI,
            Rm::Mem(at(RCX, offset_of!(LoweredFunction, entry) as i32)),
        );
        asm.jmp_rm(Rm::Mem(at(RDI, 0)));
    }
}
