//! Comparisons of lanes, and selections by their results.
//!
//! The result of a comparison is a word with a byte for each lane, 0 or 1. A comparison of 128 bits
//! has all bits of a lane set or clear, so it is packed to bytes, and a selection widens its bytes
//! to lanes again. Longer vectors and lanes of other sizes are left to handlers (see
//! `flow::by_handler`).

use super::ops;
use crate::asm::{Rm, X, pp};
use crate::flow::Inst;
use crate::generate::Generator;
use crate::table::LaneTest;
use ompvm_interp::isa;

impl Generator<'_> {
    /// Returns word `i` (and `i + 1` if `two`) of operand `k`.
    fn part(&mut self, inst: &Inst, k: usize, i: u16, two: bool) -> Rm {
        let slot = self.slot(inst, k) + i;
        if two {
            self.c.read_p(slot, self.again(k))
        } else {
            // Memory behind a single word is no part of the operand.
            self.c.read_x(slot, true)
        }
    }

    /// Emits a comparison of 128 bits: each lane of `to` becomes all ones or zeros, or the reverse
    /// (see [`LaneTest::is_inverted`]).
    fn compare_part(&mut self, inst: &Inst, (test, wide): (LaneTest, bool), i: u16, to: X) {
        // SAFETY: the row describes the instruction, and its second field is a vector.
        let two = i + 2 <= unsafe { inst.row.fields[1].count(inst.ip) };
        // `a < b` is `b > a`.
        let (first, second) = match test {
            LaneTest::Less => (2, 1),
            _ => (1, 2),
        };
        let a = self.words(inst, first, i, two, 0);
        let b = self.part(inst, second, i, two);
        let asm = &mut self.c.asm;
        match (test, wide) {
            (LaneTest::Equal | LaneTest::NotEqual, false) => asm.v(pp::P66, 0x76, to, a, b),
            (LaneTest::Equal | LaneTest::NotEqual, true) => {
                asm.vex(pp::P66, 2, false, 0x29, to, a, b);
            }
            (LaneTest::Less | LaneTest::LessOrEqual, false) => asm.v(pp::P66, 0x66, to, a, b),
            (LaneTest::Less | LaneTest::LessOrEqual, true) => {
                asm.vex(pp::P66, 2, false, 0x37, to, a, b);
            }
            (LaneTest::Float(predicate), _) => {
                // vcmpps, vcmppd
                asm.v(if wide { pp::P66 } else { pp::NONE }, 0xc2, to, a, b);
                asm.imm8(predicate);
            }
        }
        self.c.unlock();
    }

    /// Compares up to eight lanes of 32 bits, or up to four of 64.
    pub(super) fn compare_n(&mut self, inst: &Inst, test: LaneTest, wide: bool) {
        // SAFETY: the row describes the instruction, and its second field is a vector.
        let words = unsafe { inst.row.fields[1].count(inst.ip) };
        let mut other = 0;
        if words > 2 {
            self.compare_part(inst, (test, wide), 2, 1);
            other = 1;
        }
        self.compare_part(inst, (test, wide), 0, 0);
        if wide {
            // vshufps: the lower halves of all lanes.
            self.c.asm.v(pp::NONE, 0xc6, 0, 0, Rm::Reg(other));
            self.c.asm.imm8(0x88);
            other = 0;
        }
        // vpackssdw, vpacksswb
        self.c.asm.v(pp::P66, 0x6b, 0, 0, Rm::Reg(other));
        self.c.asm.v(pp::P66, 0x63, 0, 0, Rm::Reg(0));
        let d = self.result_x(inst);
        if test.is_inverted() {
            // vpcmpeqd, vpsubb: adds 1.
            self.c.asm.v(pp::P66, 0x76, 1, 1, Rm::Reg(1));
            self.c.asm.v(pp::P66, 0xf8, d, 0, Rm::Reg(1));
        } else {
            // vpabsb
            self.c.asm.vex(pp::P66, 2, false, 0x1c, d, 0, Rm::Reg(0));
        }
    }

    /// Selects up to eight lanes of 32 or 64 bits.
    pub(super) fn select_n(&mut self, inst: &Inst, wide: bool) {
        // SAFETY: instructions of this template have shape `Dabcn`; see [`Generator::emit`].
        let o: isa::Dabcn = unsafe { ops(inst) };
        let words = self.length(inst);
        // vpmovzxbq, vpsllq, vblendvpd; vpmovzxbd, vpslld, vblendvps
        let (widen, shift, sign, blend) = match wide {
            true => (0x32, 0x73, 63, 0x4b),
            false => (0x31, 0x72, 31, 0x4a),
        };
        let lanes_per_word = if wide { 1 } else { 2 };
        for i in (0..words).step_by(2) {
            let two = i + 2 <= words;
            let last = i + 2 >= words;
            let mask = self.c.reg_x(o.a, !last || self.again(1), 1);
            let asm = &mut self.c.asm;
            if i > 0 {
                // vpsrldq
                asm.v(pp::P66, 0x73, 3, 1, Rm::Reg(mask));
                asm.imm8((i * lanes_per_word) as u8);
            }
            // The sign of a lane selects.
            let from = Rm::Reg(if i > 0 { 1 } else { mask });
            asm.vex(pp::P66, 2, false, widen, 1, 0, from);
            asm.v(pp::P66, shift, 6, 1, Rm::Reg(1));
            asm.imm8(sign);
            let c = self.words(inst, 3, i, two, 0);
            let b = self.part(inst, 2, i, two);
            if last && self.dead(1) {
                self.c.kill(o.a);
            }
            let d = self.result_of(inst, i, two, 2);
            self.c.asm.vex(pp::P66, 3, false, blend, d, c, b);
            self.c.asm.imm8(1 << 4);
        }
    }
}
