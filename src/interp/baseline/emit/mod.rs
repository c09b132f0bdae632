//! Templates: the machine code of each bytecode instruction.
//!
//! A template takes its operands from the register cache, releases those that die
//! ([`Generator::release`]) once only its last machine instruction is left to read them, and takes
//! its destination. Results are bit-identical to the handlers'. 32-bit operations zero-extend by
//! themselves. Native code is called only through handlers.

mod control;
mod float;
mod int;
mod lanes;
mod memory;
mod moves;
mod vector;

use super::asm::pp;
use super::flow::Inst;
use super::generate::Generator;
use super::table::Template as T;
use ompvm_interp::isa::{self, Enc};

/// Returns the operands of an instruction.
///
/// # Safety
/// The instruction has shape `S`, as its template implies.
unsafe fn ops<S: isa::Shape>(inst: &Inst) -> S {
    // SAFETY: the instruction has shape `S` (the caller's contract).
    unsafe { (*inst.ip.cast::<Enc<S>>()).ops }
}

impl Generator<'_> {
    /// Emits an instruction that falls through. The body is one table from templates to functions.
    pub fn emit(&mut self, inst: &Inst) {
        // SAFETY (of `ops` in all templates): the table checks the shapes of its rows by the
        // opcodes' types, and a template reads the shape of its rows.
        match inst.row.template {
            T::Enter => self.enter(inst),
            T::Count => self.count(inst),
            T::Move => self.move_word(inst),
            T::MoveWide => self.move_wide(inst),
            T::ConstWord => self.const_word(inst),
            T::Lea => self.lea(inst),
            T::MoveBytes => self.move_bytes(inst),
            T::LoadLane(bits) => self.load_lane(inst, bits),
            T::Mask => self.mask(inst),
            T::SextBits => self.sext_bits(inst),
            T::Select => self.select(inst),
            T::Arith(op, bits) => self.arith(inst, op, bits),
            T::Mul(bits) => self.mul(inst, bits),
            T::Divide { bits, signed, rem } => self.divide(inst, bits, signed, rem),
            T::Shift(which, bits) => self.shift(inst, which, bits),
            T::ArithImm(op, bits) => self.arith_imm(inst, op, bits),
            T::RsubImm(bits) => self.rsub_imm(inst, bits),
            T::MulImm(bits) => self.mul_imm(inst, bits),
            T::ShiftImm(which, bits) => self.shift_imm(inst, which, bits),
            T::Compare(test) => self.compare(inst, test),
            T::CompareImm(test) => self.compare_imm(inst, test),
            T::Sext(bits, wide) => self.sext(inst, bits, wide),
            T::MinMax(test) => self.min_max(inst, test),
            T::Abs(bits) => self.abs(inst, bits),
            T::Float(opcode, double) => self.float(inst, opcode, double),
            T::FloatUnary(what, double) => self.float_unary(inst, what, double),
            T::FloatCompare(test, double) => self.float_compare(inst, test, double),
            T::MulAdd(double) => self.mul_add(inst, double),
            T::MulSub => self.mul_sub(inst),
            T::NegMulAdd => self.neg_mul_add(inst),
            T::FloatToFloat(widen) => self.float_to_float(inst, widen),
            T::FloatToInt { double, wide, bits } => self.float_to_int(inst, double, wide, bits),
            T::IntToFloat {
                double,
                bits,
                signed,
            } => self.int_to_float(inst, double, bits, signed),
            T::Load(bits, index) => self.load(inst, bits, index),
            T::Store(bits, index) => self.store(inst, bits, index),
            T::LoadPair(index) => self.load_pair(inst, index),
            T::StorePair(index) => self.store_pair(inst, index),
            T::Gep(signed) => self.gep(inst, signed),
            T::Fused { how, pair, index } => self.fused(inst, how, pair, index),
            T::ScaleAddLoaded => self.scale_add_loaded(inst),
            T::StoreResult(opcode, index) => self.store_result(inst, opcode, index),
            T::StoreMulAdd(index) => self.store_mul_add(inst, index),
            T::BothLoaded(opcode, add) => self.both_loaded(inst, opcode, add),
            T::AccumulateBoth => self.accumulate_both(inst),
            T::Gather => self.gather(inst),
            T::LoadWords => self.load_words(inst),
            T::StoreWords => self.store_words(inst),
            T::IntsToDoubles => self.ints_to_doubles(inst),
            T::DoublesToInts => self.doubles_to_ints(inst),
            T::FloatExtreme(opcode, double) => self.float_extreme(inst, opcode, double),
            T::Choose(test) => self.choose(inst, test),
            T::ChooseFloat(test) => self.choose_float(inst, test),
            T::ChooseImm(test) => self.choose_imm(inst, test),
            T::ChooseTest => self.choose_test(inst),
            T::Affine(bits) => self.affine(inst, bits),
            T::NegMul => self.neg_mul(inst),
            T::StoreSum => self.store_sum(inst),
            T::Accumulate(indexed) => self.accumulate(inst, indexed),
            T::PairLoaded => self.pair_loaded(inst),
            T::Packed(pp, map, opcode) => self.packed(inst, pp, map, opcode),
            T::PackedMulAdd => self.packed_mul_add(inst),
            T::Scale(add) => self.scale(inst, add),
            T::Pair => self.pair(inst),
            T::Quad => self.quad(inst),
            T::PackedN(pp, map, opcode) => self.packed_n(inst, (pp, map, false), opcode),
            T::ShiftN(opcode, wide) => self.packed_n(inst, (pp::P66, 2, wide), opcode),
            T::CompareN(test, wide) => self.compare_n(inst, test, wide),
            T::SelectN(wide) => self.select_n(inst, wide),
            T::MulAddN(double) => self.mul_add_n(inst, double),
            T::UnaryN(opcode, double) => self.unary_n(inst, opcode, double),
            T::MoveWords => self.move_words(inst),
            T::ZeroWords => self.zero_words(inst),
            T::Shuffle => self.shuffle(inst),
            T::Reduce(pp, map, opcode, bits) => self.reduce(inst, (pp, map, opcode), bits == 32),
            T::FillWords => self.fill_words(inst),
            T::MemcpyFixed => self.memcpy_fixed(inst),
            T::Tls => self.tls(inst),
            T::Rmw(opcode, negate, bits) => self.rmw(inst, opcode, negate, bits),
            T::StackSave => self.stack_save(inst),
            T::StackRestore => self.stack_restore(inst),
            // Instructions that end a block, and those that handlers run.
            T::Handler
            | T::Call(_)
            | T::Call1(_)
            | T::Walk(_)
            | T::WalkImm(_)
            | T::Inc(_)
            | T::IncImm(_)
            | T::Jump
            | T::MoveJump
            | T::BranchIf
            | T::Branch(_)
            | T::BranchImm(_)
            | T::BranchTest
            | T::BranchFloat(..)
            | T::Step(_)
            | T::StepImm(_)
            | T::Ret0
            | T::Ret1 => {}
        }
    }
}
