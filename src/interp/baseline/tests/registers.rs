//! Tests the register cache against a model of the machine: operands are where the cache says, and
//! memory holds what it was told to store.
//!
//! Random sequences of requests are made. After each, the code that the cache emitted is decoded
//! and executed on named values instead of bits. The cache's typical mistakes are missing moves,
//! which only show when exactly that register is reused. Arithmetic is not modeled: a result is a
//! new name, which the test puts where the cache wants it.

use super::decoded;
use crate::asm::{Asm, G, RSI, Rm, X};
use crate::register_cache::{RegisterCache, RegisterState, home};
use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

const SLOTS: u16 = 24;
/// The value of a dead slot.
const ANYTHING: u32 = 0;

/// A machine whose words are names of values.
#[derive(Clone, Default)]
struct Machine {
    g: [u32; 16],
    x: [[u32; 2]; 16],
    memory: Vec<u32>,
}

fn number(r: Register) -> usize {
    r.number()
}

impl Machine {
    /// Returns the slot that the instruction moves from or to.
    fn slot(inst: &Instruction) -> usize {
        assert_eq!(inst.memory_base(), Register::RSI, "{inst}: not a slot");
        assert_eq!(inst.memory_displacement64() % 8, 0, "{inst}");
        inst.memory_displacement64() as usize / 8
    }

    fn execute(&mut self, inst: &Instruction) {
        let memory = |k| inst.op_kind(k) == OpKind::Memory;
        let reg = |k| number(inst.op_register(k));
        match inst.mnemonic() {
            M::Mov if memory(0) => self.memory[Self::slot(inst)] = self.g[reg(1)],
            M::Mov if memory(1) => self.g[reg(0)] = self.memory[Self::slot(inst)],
            M::Vmovsd if memory(0) => self.memory[Self::slot(inst)] = self.x[reg(1)][0],
            M::Vmovsd if memory(1) => {
                self.x[reg(0)] = [self.memory[Self::slot(inst)], ANYTHING];
            }
            M::Vmovups if memory(0) => {
                let at = Self::slot(inst);
                self.memory[at..at + 2].copy_from_slice(&self.x[reg(1)]);
            }
            M::Vmovups if memory(1) => {
                let at = Self::slot(inst);
                self.x[reg(0)].copy_from_slice(&self.memory[at..at + 2]);
            }
            M::Vmovq if inst.op_register(0).is_xmm() => {
                self.x[reg(0)] = [self.g[reg(1)], ANYTHING];
            }
            M::Vmovq => self.g[reg(0)] = self.x[reg(1)][0],
            M::Vpextrq => self.g[reg(0)] = self.x[reg(1)][inst.immediate8() as usize],
            M::Vunpcklpd => self.x[reg(0)] = [self.x[reg(1)][0], self.x[reg(2)][0]],
            M::Vunpckhpd => self.x[reg(0)] = [self.x[reg(1)][1], self.x[reg(2)][1]],
            _ => panic!("not a move: {inst}"),
        }
    }
}

/// Marsaglia's xorshift (Journal of Statistical Software 8(14), 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u16) -> u16 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as u16 % n
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// A cache, the machine that runs its code, and the value that each slot should hold.
struct Bench {
    c: RegisterCache,
    machine: Machine,
    done: usize,
    truth: Vec<u32>,
    names: u32,
}

impl Bench {
    fn new() -> Bench {
        let mut bench = Bench {
            c: RegisterCache::new(usize::from(SLOTS), Asm::default()),
            machine: Machine::default(),
            done: 0,
            truth: vec![ANYTHING; usize::from(SLOTS)],
            names: 0,
        };
        for slot in 0..SLOTS {
            bench.truth[usize::from(slot)] = bench.name();
        }
        bench.machine.memory.clone_from(&bench.truth);
        bench
    }

    fn name(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    /// Executes the code emitted since the last call.
    fn catch_up(&mut self) {
        for inst in decoded(&self.c.asm.code[self.done..]) {
            self.machine.execute(&inst);
        }
        self.done = self.c.asm.code.len();
    }

    fn live(&self, slot: u16) -> bool {
        self.truth[usize::from(slot)] != ANYTHING
    }

    fn at(&self, slot: u16) -> u32 {
        self.truth[usize::from(slot)]
    }

    fn memory(&self, slot: u16) -> u32 {
        self.machine.memory[usize::from(slot)]
    }

    /// Returns the value of an integer operand.
    fn value_g(&self, rm: Rm) -> u32 {
        match rm {
            Rm::Reg(r) => self.machine.g[usize::from(r)],
            Rm::Mem(m) => self.in_memory(m.base, m.disp),
        }
    }

    /// Returns the low word of a float operand.
    fn value_x(&self, rm: Rm) -> u32 {
        match rm {
            Rm::Reg(r) => self.machine.x[usize::from(r)][0],
            Rm::Mem(m) => self.in_memory(m.base, m.disp),
        }
    }

    fn value_p(&self, rm: Rm) -> [u32; 2] {
        match rm {
            Rm::Reg(r) => self.machine.x[usize::from(r)],
            Rm::Mem(m) => [
                self.in_memory(m.base, m.disp),
                self.in_memory(m.base, m.disp + 8),
            ],
        }
    }

    fn in_memory(&self, base: G, disp: i32) -> u32 {
        assert_eq!(base, RSI);
        self.machine.memory[disp as usize / 8]
    }

    fn read_g(&mut self, slot: u16, again: bool) {
        let rm = self.c.read_g(slot, again);
        self.catch_up();
        assert_eq!(self.value_g(rm), self.at(slot), "slot {slot} as {rm:?}");
    }

    fn read_x(&mut self, slot: u16, again: bool) {
        let rm = self.c.read_x(slot, again);
        self.catch_up();
        assert_eq!(self.value_x(rm), self.at(slot), "slot {slot} as {rm:?}");
    }

    fn read_p(&mut self, slot: u16, again: bool) {
        let rm = self.c.read_p(slot, again);
        self.catch_up();
        let want = [self.at(slot), self.at(slot + 1)];
        assert_eq!(self.value_p(rm), want, "slots {slot}.. as {rm:?}");
    }

    fn write_g(&mut self, slot: u16) {
        let r = self.c.def_g(slot, false);
        self.catch_up();
        let name = self.name();
        self.truth[usize::from(slot)] = name;
        self.machine.g[usize::from(r)] = name;
    }

    fn write_x(&mut self, slot: u16) {
        let r = self.c.def_x(slot, false);
        self.catch_up();
        let name = self.name();
        self.truth[usize::from(slot)] = name;
        self.machine.x[usize::from(r)] = [name, ANYTHING];
    }

    fn write_p(&mut self, slot: u16) {
        let r = self.c.def_p(slot, false);
        self.catch_up();
        let names = [self.name(), self.name()];
        self.truth[usize::from(slot)..usize::from(slot) + 2].copy_from_slice(&names);
        self.machine.x[usize::from(r)] = names;
    }

    fn kill(&mut self, slot: u16) {
        self.c.kill(slot);
        self.catch_up();
        self.truth[usize::from(slot)] = ANYTHING;
    }

    /// Checks that a flush puts every live slot into memory, pinned ones too.
    fn flush(&mut self) {
        let truth = self.truth.clone();
        self.c.flush(true, |s| truth[usize::from(s)] != ANYTHING);
        self.catch_up();
        for slot in (0..SLOTS).filter(|&s| self.live(s)) {
            assert_eq!(
                self.memory(slot),
                self.at(slot),
                "slot {slot} after a flush"
            );
        }
    }

    /// Checks that the stores of an exit in the middle of a block are complete.
    fn check_dirty(&mut self) {
        let (kept, done) = (self.machine.clone(), self.c.asm.code.len());
        for store in self.c.dirty() {
            self.c.store_back(store);
        }
        self.catch_up();
        for slot in (0..SLOTS).filter(|&s| self.live(s)) {
            assert_eq!(self.memory(slot), self.at(slot), "slot {slot} on a way out");
        }
        // The exit is out of line: the block continues without its stores.
        self.machine = kept;
        self.c.asm.code.truncate(done);
        self.done = done;
    }
}

#[test]
fn operands_are_where_the_cache_says() {
    for seed in 1..400u64 {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut b = Bench::new();
        for _ in 0..300 {
            let (slot, again) = (r.below(SLOTS), r.coin());
            let pair = slot + 1 < SLOTS && b.live(slot) && b.live(slot + 1);
            match r.below(10) {
                0 | 1 if b.live(slot) => b.read_g(slot, again),
                2 | 3 if b.live(slot) => b.read_x(slot, again),
                4 if pair => b.read_p(slot, again),
                5 => b.write_g(slot),
                6 => b.write_x(slot),
                7 if slot + 1 < SLOTS => b.write_p(slot),
                8 if r.coin() => b.kill(slot),
                9 if r.below(6) == 0 => b.check_dirty(),
                _ => {}
            }
            // An instruction has up to three operands.
            if r.coin() {
                b.c.unlock();
            }
            if r.below(40) == 0 {
                b.c.unlock();
                b.flush();
            }
        }
        b.c.unlock();
        b.flush();
    }
}

#[test]
fn a_state_is_gone_on_from() {
    for seed in 1..200u64 {
        let mut r = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let mut b = Bench::new();
        let mut kept: Option<(RegisterState, Machine, Vec<u32>)> = None;
        for _ in 0..200 {
            let slot = r.below(SLOTS);
            match r.below(8) {
                0 | 1 if b.live(slot) => b.read_g(slot, true),
                2 if b.live(slot) => b.read_x(slot, true),
                3 => b.write_g(slot),
                4 if slot + 1 < SLOTS => b.write_p(slot),
                5 => b.write_x(slot),
                6 if r.below(5) == 0 => {
                    kept = Some((b.c.state(), b.machine.clone(), b.truth.clone()));
                }
                7 if r.below(5) == 0 => {
                    // As at a block with a single predecessor.
                    if let Some((state, machine, truth)) = kept.take() {
                        b.c.set_state(state);
                        b.machine = machine;
                        b.truth = truth;
                    }
                }
                _ => {}
            }
            b.c.unlock();
        }
        b.flush();
    }
}

#[test]
fn pinned_slots_keep_their_registers() {
    const INT: (G, u16) = (15, 3);
    const FLOAT: (X, u16) = (15, 7);
    const PAIR: (X, u16) = (14, 10);
    for seed in 1..200u64 {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut b = Bench::new();
        // As at a loop's entry: its pinned slots are in registers.
        b.machine.g[usize::from(INT.0)] = b.at(INT.1);
        b.machine.x[usize::from(FLOAT.0)] = [b.at(FLOAT.1), ANYTHING];
        b.machine.x[usize::from(PAIR.0)] = [b.at(PAIR.1), b.at(PAIR.1 + 1)];
        b.c.pin_g(INT.0, INT.1, true);
        b.c.pin_x(FLOAT.0, FLOAT.1, false, true);
        b.c.pin_x(PAIR.0, PAIR.1, true, true);
        b.c.unlock();
        let pinned = [INT.1, FLOAT.1, PAIR.1, PAIR.1 + 1];
        for _ in 0..200 {
            let slot = r.below(SLOTS);
            let free = !pinned.contains(&slot);
            match r.below(9) {
                0 | 1 => b.read_g(slot, r.coin()),
                2 if slot != INT.1 => b.read_x(slot, r.coin()),
                3 => b.read_p(PAIR.1, r.coin()),
                4 if free => b.write_g(slot),
                5 if free => b.write_x(slot),
                6 => b.write_g(INT.1),
                7 => b.write_x(FLOAT.1),
                _ => b.write_p(PAIR.1),
            }
            b.c.unlock();
            assert!(b.c.pinned_g(INT.1) && b.c.pinned_x(FLOAT.1) && b.c.pinned_x(PAIR.1));
            assert_eq!(b.machine.g[usize::from(INT.0)], b.at(INT.1));
            assert_eq!(b.machine.x[usize::from(FLOAT.0)][0], b.at(FLOAT.1));
            let pair = [b.at(PAIR.1), b.at(PAIR.1 + 1)];
            assert_eq!(b.machine.x[usize::from(PAIR.0)], pair);
        }
        b.flush();
    }
}

#[test]
fn a_slot_that_nobody_wants_is_not_stored() {
    let mut c = RegisterCache::new(4, Asm::default());
    let _ = c.def_g(1, false);
    c.kill(1);
    let _ = c.def_x(2, true);
    c.unlock();
    c.flush(true, |_| true);
    assert!(c.asm.code.is_empty());
    let _ = c.def_g(3, false);
    c.unlock();
    c.flush(true, |s| s != 3);
    assert!(c.asm.code.is_empty());
    assert!(!c.has_g(3), "a stale register would be taken for the slot");
    assert_eq!(home(3).disp, 24);
}
