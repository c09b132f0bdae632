//! The register cache: keeps slots in registers inside a block and across a loop's blocks.
//!
//! A slot may be in a general register, in a vector register, or be half of a pair in one. A copy
//! that is newer than memory is dirty, and at most one copy of a slot is dirty. A loop's pinned
//! slots keep their registers in all its blocks. A register is locked from the moment an
//! instruction has its operand there until the instruction ends. The caller tells which slots die;
//! the cache does not look ahead.

use super::asm::{Asm, G, Mem, RSI, Rm, X, at, pp};

/// The absence of a register.
pub const NO_REGISTER: u8 = 0xff;
/// The absence of a slot.
const NO_SLOT: u16 = u16::MAX;
/// Flag of a register number that holds the slot as the upper half of a pair.
const HIGH_HALF: u8 = 0x80;

/// General registers that may hold slots: all but rax, rcx, rdx, rsp, rsi, rdi, and rbp. A wrong
/// address with rbp as its base would raise a different fault (of the stack segment, SIGBUS).
pub const GENERAL_REGISTERS: u16 = 0b1111_1111_0000_1000;
/// Vector registers that may hold slots: all but xmm0 and xmm1.
pub const VECTOR_REGISTERS: u16 = 0b1111_1111_1111_1100;

/// The registers of one class.
#[derive(Clone, Debug)]
pub struct RegisterFile {
    slot: [u16; 16],
    stamp: [u32; 16],
    /// Registers that hold a slot.
    pub used: u16,
    /// Registers whose slot is stale in memory.
    pub dirty: u16,
    /// Registers that hold a slot and the one after it.
    pub pair: u16,
    /// Registers that keep their slot while the loop's state lasts.
    pub pinned: u16,
    locked: u16,
    all: u16,
}

impl RegisterFile {
    fn new(all: u16) -> RegisterFile {
        RegisterFile {
            slot: [NO_SLOT; 16],
            stamp: [0; 16],
            used: 0,
            dirty: 0,
            pair: 0,
            pinned: 0,
            locked: 0,
            all,
        }
    }

    /// Chooses the register to take: a free one, otherwise the least recently used.
    fn choose(&self) -> u8 {
        let may = self.all & !self.pinned & !self.locked;
        let free = may & !self.used;
        if free != 0 {
            return free.trailing_zeros() as u8;
        }
        let mut best = NO_REGISTER;
        let mut left = may;
        while left != 0 {
            let r = left.trailing_zeros() as u8;
            if best == NO_REGISTER || self.stamp[r as usize] < self.stamp[best as usize] {
                best = r;
            }
            left &= left - 1;
        }
        best
    }
}

/// The contents of the registers at a point of the code.
#[derive(Clone, Debug)]
pub struct RegisterState {
    g: RegisterFile,
    x: RegisterFile,
}

/// The register cache, and the code into which it emits loads and stores.
#[derive(Debug)]
pub struct RegisterCache {
    /// The code.
    pub asm: Asm,
    /// General registers.
    pub g: RegisterFile,
    /// Vector registers.
    pub x: RegisterFile,
    in_g: Vec<u8>,
    in_x: Vec<u8>,
    clock: u32,
}

/// A slot whose register is newer than memory.
#[derive(Clone, Copy, Debug)]
pub struct DirtySlot {
    reg: u8,
    slot: u16,
    vector: bool,
    pair: bool,
}

/// Returns the location of a slot in the frame.
pub fn home(slot: u16) -> Mem {
    at(RSI, i32::from(slot) * 8)
}

impl RegisterCache {
    /// Creates a cache with empty registers.
    pub fn new(slots: usize, asm: Asm) -> RegisterCache {
        RegisterCache {
            asm,
            g: RegisterFile::new(GENERAL_REGISTERS),
            x: RegisterFile::new(VECTOR_REGISTERS),
            in_g: vec![NO_REGISTER; slots + 1],
            in_x: vec![NO_REGISTER; slots + 1],
            clock: 0,
        }
    }

    fn forget(&mut self) {
        for r in 0..16 {
            if self.g.used >> r & 1 != 0 {
                self.in_g[self.g.slot[r] as usize] = NO_REGISTER;
            }
            if self.x.used >> r & 1 != 0 {
                let s = self.x.slot[r] as usize;
                self.in_x[s] = NO_REGISTER;
                if self.x.pair >> r & 1 != 0 {
                    self.in_x[s + 1] = NO_REGISTER;
                }
            }
        }
    }

    /// Empties all registers, pinned ones too, without storing.
    pub fn clear(&mut self) {
        self.forget();
        self.g = RegisterFile::new(GENERAL_REGISTERS);
        self.x = RegisterFile::new(VECTOR_REGISTERS);
    }

    /// Returns the current contents of the registers.
    pub fn state(&self) -> RegisterState {
        RegisterState {
            g: self.g.clone(),
            x: self.x.clone(),
        }
    }

    /// Continues from a state.
    pub fn set_state(&mut self, state: RegisterState) {
        self.forget();
        self.g = state.g;
        self.x = state.x;
        for r in 0..16u8 {
            if self.g.used >> r & 1 != 0 {
                self.in_g[self.g.slot[r as usize] as usize] = r;
            }
            if self.x.used >> r & 1 != 0 {
                let s = self.x.slot[r as usize] as usize;
                self.in_x[s] = r;
                if self.x.pair >> r & 1 != 0 {
                    self.in_x[s + 1] = r | HIGH_HALF;
                }
            }
        }
    }

    /// Pins a slot to a general register while the state lasts.
    pub fn pin_g(&mut self, r: G, slot: u16, dirty: bool) {
        self.map_g(r, slot, dirty);
        self.g.pinned |= 1 << r;
    }

    /// Pins a slot, or a pair of slots, to a vector register.
    pub fn pin_x(&mut self, r: X, slot: u16, pair: bool, dirty: bool) {
        self.map_x(r, slot, pair, dirty);
        self.x.pinned |= 1 << r;
    }

    /// Ends an instruction: its operands may move.
    pub fn unlock(&mut self) {
        self.g.locked = 0;
        self.x.locked = 0;
    }

    fn touch_g(&mut self, r: G) {
        self.clock += 1;
        self.g.stamp[r as usize] = self.clock;
        self.g.locked |= 1 << r;
    }

    fn touch_x(&mut self, r: X) {
        self.clock += 1;
        self.x.stamp[r as usize] = self.clock;
        self.x.locked |= 1 << r;
    }

    fn map_g(&mut self, r: G, slot: u16, dirty: bool) {
        self.g.slot[r as usize] = slot;
        self.g.used |= 1 << r;
        if dirty {
            self.g.dirty |= 1 << r;
        } else {
            self.g.dirty &= !(1 << r);
        }
        self.in_g[slot as usize] = r;
    }

    fn map_x(&mut self, r: X, slot: u16, pair: bool, dirty: bool) {
        self.x.slot[r as usize] = slot;
        self.x.used |= 1 << r;
        if dirty {
            self.x.dirty |= 1 << r;
        } else {
            self.x.dirty &= !(1 << r);
        }
        self.in_x[slot as usize] = r;
        if pair {
            self.x.pair |= 1 << r;
            self.in_x[slot as usize + 1] = r | HIGH_HALF;
        } else {
            self.x.pair &= !(1 << r);
        }
    }

    fn unmap_g(&mut self, r: G) {
        let bit = 1 << r;
        if self.g.used & bit != 0 && self.g.pinned & bit == 0 {
            self.in_g[self.g.slot[r as usize] as usize] = NO_REGISTER;
            self.g.used &= !bit;
            self.g.dirty &= !bit;
        }
    }

    fn unmap_x(&mut self, r: X) {
        let bit = 1 << r;
        if self.x.used & bit != 0 && self.x.pinned & bit == 0 {
            let s = self.x.slot[r as usize] as usize;
            self.in_x[s] = NO_REGISTER;
            if self.x.pair & bit != 0 {
                self.in_x[s + 1] = NO_REGISTER;
            }
            self.x.used &= !bit;
            self.x.dirty &= !bit;
            self.x.pair &= !bit;
        }
    }

    fn clean_g(&mut self, r: G) {
        if self.g.dirty >> r & 1 != 0 {
            self.asm.store(home(self.g.slot[r as usize]), r);
            self.g.dirty &= !(1 << r);
        }
    }

    fn clean_x(&mut self, r: X) {
        if self.x.dirty >> r & 1 != 0 {
            let m = home(self.x.slot[r as usize]);
            if self.x.pair >> r & 1 != 0 {
                self.asm.vstore128(m, r);
            } else {
                self.asm.vstore64(m, r);
            }
            self.x.dirty &= !(1 << r);
        }
    }

    /// Takes a general register for a new value, and locks it.
    pub fn take_g(&mut self) -> G {
        let r = self.g.choose();
        self.clean_g(r);
        self.unmap_g(r);
        self.touch_g(r);
        r
    }

    /// Takes a vector register for a new value, and locks it.
    pub fn take_x(&mut self) -> X {
        let r = self.x.choose();
        self.clean_x(r);
        self.unmap_x(r);
        self.touch_x(r);
        r
    }

    /// Returns the vector register that holds a slot alone.
    pub fn single_x(&self, slot: u16) -> Option<X> {
        let r = self.in_x[slot as usize];
        (r != NO_REGISTER && r & HIGH_HALF == 0).then_some(r)
    }

    /// Returns true if a slot is in a general register.
    pub fn has_g(&self, slot: u16) -> bool {
        self.in_g[slot as usize] != NO_REGISTER
    }

    /// Returns true if a slot is in a vector register.
    pub fn has_x(&self, slot: u16) -> bool {
        self.in_x[slot as usize] != NO_REGISTER
    }

    /// Returns a slot as an operand of an integer instruction. It stays in a register if it is used
    /// again.
    pub fn read_g(&mut self, slot: u16, again: bool) -> Rm {
        let r = self.in_g[slot as usize];
        if r != NO_REGISTER {
            self.touch_g(r);
            return Rm::Reg(r);
        }
        let x = self.in_x[slot as usize];
        if x != NO_REGISTER {
            let r = self.take_g();
            if x & HIGH_HALF != 0 {
                self.asm.vpextrq_high(r, x & !HIGH_HALF);
            } else {
                self.asm.vmovq_to_g(r, x);
            }
            self.map_g(r, slot, false);
            return Rm::Reg(r);
        }
        if !again {
            return Rm::Mem(home(slot));
        }
        let r = self.take_g();
        self.asm.mov(r, Rm::Mem(home(slot)));
        self.map_g(r, slot, false);
        Rm::Reg(r)
    }

    /// Returns a slot in a general register: `scratch` if it is in memory and not used again.
    pub fn reg_g(&mut self, slot: u16, again: bool, scratch: G) -> G {
        match self.read_g(slot, again) {
            Rm::Reg(r) => r,
            m @ Rm::Mem(_) => {
                self.asm.mov(scratch, m);
                scratch
            }
        }
    }

    /// Returns a slot as an operand of a scalar float instruction.
    pub fn read_x(&mut self, slot: u16, again: bool) -> Rm {
        let x = self.in_x[slot as usize];
        if x != NO_REGISTER {
            self.touch_x(x & !HIGH_HALF);
            if x & HIGH_HALF == 0 {
                return Rm::Reg(x);
            }
            let r = self.take_x();
            // vunpckhpd
            self.asm
                .v(pp::P66, 0x15, r, x & !HIGH_HALF, Rm::Reg(x & !HIGH_HALF));
            return Rm::Reg(r);
        }
        let g = self.in_g[slot as usize];
        if g != NO_REGISTER {
            let r = self.take_x();
            self.asm.vmovq_from_g(r, g);
            self.map_x(r, slot, false, false);
            return Rm::Reg(r);
        }
        if !again {
            return Rm::Mem(home(slot));
        }
        let r = self.take_x();
        self.asm.vload64(r, home(slot));
        self.map_x(r, slot, false, false);
        Rm::Reg(r)
    }

    /// Returns a slot in a vector register: `scratch` if it is in memory and not used again.
    pub fn reg_x(&mut self, slot: u16, again: bool, scratch: X) -> X {
        match self.read_x(slot, again) {
            Rm::Reg(r) => r,
            Rm::Mem(m) => {
                self.asm.vload64(scratch, m);
                scratch
            }
        }
    }

    /// Returns two slots as an operand of a packed instruction.
    pub fn read_p(&mut self, slot: u16, again: bool) -> Rm {
        let x = self.in_x[slot as usize];
        if x & HIGH_HALF == 0 && self.x.pair >> x & 1 != 0 {
            self.touch_x(x);
            return Rm::Reg(x);
        }
        let y = self.in_x[slot as usize + 1];
        if x & HIGH_HALF == 0 && y & HIGH_HALF == 0 {
            self.touch_x(x);
            self.touch_x(y);
            let r = self.take_x();
            // vunpcklpd
            self.asm.v(pp::P66, 0x14, r, x, Rm::Reg(y));
            return Rm::Reg(r);
        }
        self.write_back(slot, 2);
        if !again {
            return Rm::Mem(home(slot));
        }
        self.drop_x(slot);
        self.drop_x(slot + 1);
        let r = self.take_x();
        self.asm.vload128(r, home(slot));
        self.map_x(r, slot, true, false);
        Rm::Reg(r)
    }

    /// Returns two slots in a vector register: `scratch` if they are in memory and not used again.
    pub fn reg_p(&mut self, slot: u16, again: bool, scratch: X) -> X {
        match self.read_p(slot, again) {
            Rm::Reg(r) => r,
            Rm::Mem(m) => {
                self.asm.vload128(scratch, m);
                scratch
            }
        }
    }

    /// Stores slots that are newer in registers; they stay there.
    pub fn write_back(&mut self, slot: u16, words: u16) {
        for s in slot..slot + words {
            let g = self.in_g[s as usize];
            if g != NO_REGISTER {
                self.clean_g(g);
            }
            let x = self.in_x[s as usize];
            if x != NO_REGISTER {
                self.clean_x(x & !HIGH_HALF);
            }
        }
    }

    /// Returns the vector register of a word, and true if the word is its upper half.
    pub fn lane(&mut self, slot: u16, scratch: X) -> (X, bool) {
        let x = self.in_x[slot as usize];
        if x != NO_REGISTER {
            self.touch_x(x & !HIGH_HALF);
            return (x & !HIGH_HALF, x & HIGH_HALF != 0);
        }
        (self.reg_x(slot, true, scratch), false)
    }

    /// Lists the slots that are newer in registers.
    pub fn dirty(&self) -> Vec<DirtySlot> {
        let all = |file: &RegisterFile, vector: bool| {
            let file = file.clone();
            (0..16u8)
                .filter(move |r| file.dirty >> r & 1 != 0)
                .map(move |r| (r, file.slot[r as usize], file.pair >> r & 1 != 0))
                .map(move |(reg, slot, pair)| DirtySlot {
                    reg,
                    slot,
                    vector,
                    pair,
                })
                .collect::<Vec<_>>()
        };
        let mut out = all(&self.g, false);
        out.extend(all(&self.x, true));
        out
    }

    /// Stores a slot from its register.
    pub fn store_back(&mut self, s: DirtySlot) {
        let m = home(s.slot);
        match (s.vector, s.pair) {
            (true, true) => self.asm.vstore128(m, s.reg),
            (true, false) => self.asm.vstore64(m, s.reg),
            _ => self.asm.store(m, s.reg),
        }
    }

    fn drop_x(&mut self, slot: u16) {
        let x = self.in_x[slot as usize];
        if x != NO_REGISTER {
            self.clean_x(x & !HIGH_HALF);
            self.unmap_x(x & !HIGH_HALF);
        }
    }

    /// Drops the value of a dead slot.
    pub fn kill(&mut self, slot: u16) {
        let g = self.in_g[slot as usize];
        if g != NO_REGISTER {
            self.unmap_g(g);
        }
        let x = self.in_x[slot as usize];
        if x != NO_REGISTER {
            let r = x & !HIGH_HALF;
            if self.x.pinned >> r & 1 != 0 {
                return;
            }
            if self.x.pair >> r & 1 != 0 {
                // The other half is live.
                self.clean_x(r);
            }
            self.unmap_x(r);
        }
    }

    /// Drops the values of two dead slots.
    pub fn kill_pair(&mut self, slot: u16) {
        let x = self.in_x[slot as usize];
        if x & HIGH_HALF == 0 && self.x.pair >> x & 1 != 0 {
            self.unmap_x(x);
        }
        self.kill(slot);
        self.kill(slot + 1);
    }

    /// Returns the general register for a slot's new value.
    pub fn def_g(&mut self, slot: u16, dead: bool) -> G {
        let g = self.in_g[slot as usize];
        if g != NO_REGISTER && self.g.pinned >> g & 1 != 0 {
            self.kill(slot);
            self.g.dirty |= 1 << g;
            return g;
        }
        self.kill(slot);
        let r = self.take_g();
        if !dead {
            self.map_g(r, slot, true);
        }
        r
    }

    /// Returns the vector register for a slot's new float.
    pub fn def_x(&mut self, slot: u16, dead: bool) -> X {
        let x = self.in_x[slot as usize];
        if x & HIGH_HALF == 0 && self.x.pinned >> x & 1 != 0 {
            self.kill(slot);
            self.x.dirty |= 1 << x;
            return x;
        }
        self.kill(slot);
        let r = self.take_x();
        if !dead {
            self.map_x(r, slot, false, true);
        }
        r
    }

    /// Returns the vector register for two slots' new values.
    pub fn def_p(&mut self, slot: u16, dead: bool) -> X {
        let x = self.in_x[slot as usize];
        if x & HIGH_HALF == 0 && self.x.pinned >> x & 1 != 0 {
            self.kill(slot);
            self.kill(slot + 1);
            self.x.dirty |= 1 << x;
            return x;
        }
        self.kill_pair(slot);
        let r = self.take_x();
        if !dead {
            self.map_x(r, slot, true, true);
        }
        r
    }

    /// Returns true if a slot is pinned in a vector register.
    pub fn pinned_x(&self, slot: u16) -> bool {
        let x = self.in_x[slot as usize];
        x != NO_REGISTER && self.x.pinned >> (x & !HIGH_HALF) & 1 != 0
    }

    /// Returns true if a slot is pinned in a general register.
    pub fn pinned_g(&self, slot: u16) -> bool {
        let g = self.in_g[slot as usize];
        g != NO_REGISTER && self.g.pinned >> g & 1 != 0
    }

    /// Stores the dirty slots that are wanted; pinned ones only with `pins`.
    pub fn flush(&mut self, pins: bool, wanted: impl Fn(u16) -> bool) {
        let mut left = self.g.dirty & if pins { !0 } else { !self.g.pinned };
        while left != 0 {
            let r = left.trailing_zeros() as u8;
            left &= left - 1;
            if self.g.pinned >> r & 1 != 0 || wanted(self.g.slot[r as usize]) {
                self.clean_g(r);
            } else {
                self.unmap_g(r);
            }
        }
        let mut left = self.x.dirty & if pins { !0 } else { !self.x.pinned };
        while left != 0 {
            let r = left.trailing_zeros() as u8;
            left &= left - 1;
            let s = self.x.slot[r as usize];
            let pair = self.x.pair >> r & 1 != 0;
            if self.x.pinned >> r & 1 != 0 || wanted(s) || pair && wanted(s + 1) {
                self.clean_x(r);
            } else {
                self.unmap_x(r);
            }
        }
    }
}
