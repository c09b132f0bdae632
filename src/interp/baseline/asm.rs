//! An assembler for the x86-64 instructions that the templates use.
//!
//! Encodings are from the Intel SDM, volume 2. Floating-point and vector instructions are
//! VEX-encoded (three operands, unaligned memory operands), hence the tier requires AVX. Jumps go
//! to labels and are 32 bits wide, since most are forward and nothing is emitted twice. The
//! assembler does not check that a form exists.

/// A general register's number.
pub type G = u8;
/// A vector register's number.
pub type X = u8;

/// A scratch register.
pub const RAX: G = 0;
/// A scratch register, and the count of shifts.
pub const RCX: G = 1;
/// The thread's state, as in every handler.
pub const RDX: G = 2;
/// Slot 0 of the frame, as in every handler.
pub const RSI: G = 6;
/// The instruction for a handler; scratch in between.
pub const RDI: G = 7;

/// A memory operand `base + (index << scale) + disp`; without an index, `index` is [`NO_INDEX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mem {
    /// Base register.
    pub base: G,
    /// Index register.
    pub index: G,
    /// Logarithm to base 2 of the scale.
    pub scale: u8,
    /// Displacement.
    pub disp: i32,
}

/// No index register (the number of rsp, which cannot be one).
pub const NO_INDEX: G = 4;

/// An operand in a register or in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rm {
    /// A register.
    Reg(u8),
    /// A memory location.
    Mem(Mem),
}

/// Returns the memory operand at a register plus a displacement.
pub const fn at(base: G, disp: i32) -> Mem {
    Mem {
        base,
        index: NO_INDEX,
        scale: 0,
        disp,
    }
}

/// A position in the code, bound or not yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(pub u32);

/// Two-operand arithmetic by its `/digit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    Cmp = 7,
}

/// Conditions, numbered as in `jcc`.
pub mod cc {
    pub const O: u8 = 0;
    pub const B: u8 = 2;
    pub const AE: u8 = 3;
    pub const E: u8 = 4;
    pub const NE: u8 = 5;
    pub const BE: u8 = 6;
    pub const A: u8 = 7;
    pub const P: u8 = 10;
    pub const NP: u8 = 11;
    pub const L: u8 = 12;
    pub const LE: u8 = 14;
    pub const G: u8 = 15;
}

/// Mandatory prefixes as VEX numbers them.
pub mod pp {
    pub const NONE: u8 = 0;
    pub const P66: u8 = 1;
    pub const F3: u8 = 2;
    pub const F2: u8 = 3;
}

const UNBOUND: u32 = u32::MAX;

/// The code buffer.
#[derive(Debug, Default)]
pub struct Asm {
    /// The code emitted so far.
    pub code: Vec<u8>,
    labels: Vec<u32>,
    fixups: Vec<(u32, Label)>,
}

impl Asm {
    /// Creates an empty buffer with the given capacity.
    pub fn with_capacity(bytes: usize) -> Self {
        Asm {
            code: Vec::with_capacity(bytes),
            ..Asm::default()
        }
    }

    /// Returns the number of bytes emitted.
    pub fn here(&self) -> u32 {
        self.code.len() as u32
    }

    /// Creates a label.
    pub fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() as u32 - 1)
    }

    /// Binds a label here.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.here();
    }

    /// Returns the position of a bound label.
    pub fn position(&self, label: Label) -> u32 {
        self.labels[label.0 as usize]
    }

    /// Returns true if a label is bound.
    pub fn is_bound(&self, label: Label) -> bool {
        self.position(label) != UNBOUND
    }

    /// Fills in the distances of all jumps, whose labels must be bound.
    pub fn resolve(&mut self) {
        for (field, label) in std::mem::take(&mut self.fixups) {
            let target = self.position(label);
            debug_assert!(target != UNBOUND);
            let rel = target.wrapping_sub(field + 4);
            self.code[field as usize..field as usize + 4].copy_from_slice(&rel.to_le_bytes());
        }
    }

    /// Appends the low `n` bytes of a word.
    #[inline(always)]
    fn put(&mut self, word: u64, n: usize) {
        self.code.reserve(8);
        // SAFETY: eight bytes are reserved; the length grows by the `n` that count.
        unsafe {
            let len = self.code.len();
            self.code
                .as_mut_ptr()
                .add(len)
                .cast::<u64>()
                .write_unaligned(word);
            self.code.set_len(len + n);
        }
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        self.put(u64::from(byte), 1);
    }

    /// Appends ModRM, SIB and displacement.
    #[inline(always)]
    fn operand(&mut self, reg: u8, rm: Rm) {
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Reg(r) => self.byte(0xc0 | reg | (r & 7)),
            Rm::Mem(m) => {
                let sib = m.index != NO_INDEX || m.base & 7 == 4;
                let (mode, bytes) = if m.disp == 0 && m.base & 7 != 5 {
                    (0, 0)
                } else if i8::try_from(m.disp).is_ok() {
                    (0x40, 1)
                } else {
                    (0x80, 4)
                };
                let disp = u64::from(m.disp as u32);
                if sib {
                    let s = m.scale << 6 | (m.index & 7) << 3 | (m.base & 7);
                    let word = u64::from(mode | reg | 4) | u64::from(s) << 8 | disp << 16;
                    self.put(word, 2 + bytes);
                } else {
                    self.put(u64::from(mode | reg | (m.base & 7)) | disp << 8, 1 + bytes);
                }
            }
        }
    }

    /// Returns the bits R, X, B of a prefix.
    #[inline(always)]
    fn rxb(reg: u8, rm: Rm) -> u8 {
        let (x, b) = match rm {
            Rm::Reg(r) => (0, r >> 3),
            Rm::Mem(m) => (m.index >> 3, m.base >> 3),
        };
        (reg >> 3) << 2 | x << 1 | b
    }

    /// Appends a legacy-encoded instruction of the one-byte map.
    #[inline(always)]
    pub fn op(&mut self, wide: bool, opcode: u8, reg: u8, rm: Rm) {
        let rex = u8::from(wide) << 3 | Self::rxb(reg, rm);
        if rex != 0 {
            self.byte(0x40 | rex);
        }
        self.byte(opcode);
        self.operand(reg, rm);
    }

    /// Appends [`Asm::op`] on bytes: REX makes any register's low byte accessible.
    #[inline(always)]
    pub fn op8(&mut self, opcode: u8, reg: u8, rm: Rm) {
        self.byte(0x40 | Self::rxb(reg, rm));
        self.byte(opcode);
        self.operand(reg, rm);
    }

    /// Appends [`Asm::op`] with the 16-bit prefix.
    pub fn op16(&mut self, opcode: u8, reg: u8, rm: Rm) {
        self.byte(0x66);
        self.op(false, opcode, reg, rm);
    }

    /// Appends a legacy-encoded instruction of the `0f` map, with an optional prefix byte.
    #[inline(always)]
    pub fn op0f(&mut self, prefix: u8, wide: bool, opcode: u8, reg: u8, rm: Rm) {
        if prefix != 0 {
            self.byte(prefix);
        }
        // Always with REX: byte registers need it, and one path suffices.
        self.byte(0x40 | u8::from(wide) << 3 | Self::rxb(reg, rm));
        self.put(0x0f | u64::from(opcode) << 8, 2);
        self.operand(reg, rm);
    }

    /// Appends a VEX-encoded 128-bit instruction; `map` 1 is `0f`, 2 `0f38`, 3 `0f3a`.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the fields of the encoding")]
    pub fn vex(&mut self, pp: u8, map: u8, wide: bool, opcode: u8, reg: X, v: X, rm: Rm) {
        let rxb = Self::rxb(reg, rm);
        let low = (!v & 15) << 3 | pp;
        if rxb & 3 == 0 && map == 1 && !wide {
            let second = (!(rxb >> 2) & 1) << 7 | low;
            self.put(0xc5 | u64::from(second) << 8 | u64::from(opcode) << 16, 3);
        } else {
            let second = (!rxb & 7) << 5 | map;
            let third = u8::from(wide) << 7 | low;
            let word =
                0xc4 | u64::from(second) << 8 | u64::from(third) << 16 | u64::from(opcode) << 24;
            self.put(word, 4);
        }
        self.operand(reg, rm);
    }

    /// Appends a signed 32-bit immediate.
    pub fn imm32(&mut self, imm: i32) {
        self.put(u64::from(imm as u32), 4);
    }

    /// Appends a byte.
    pub fn imm8(&mut self, imm: u8) {
        self.byte(imm);
    }

    /// Emits `dst = src`, 64 bits.
    pub fn mov(&mut self, dst: G, src: Rm) {
        if src != Rm::Reg(dst) {
            self.op(true, 0x8b, dst, src);
        }
    }

    /// Emits `dst = src`, 32 bits zero-extended.
    pub fn mov32(&mut self, dst: G, src: Rm) {
        self.op(false, 0x8b, dst, src);
    }

    /// Emits `[m] = src`, 64 bits.
    pub fn store(&mut self, m: Mem, src: G) {
        self.op(true, 0x89, src, Rm::Mem(m));
    }

    /// Emits `[m] = imm`, sign-extended to 64 bits.
    pub fn store_imm(&mut self, m: Mem, imm: i32) {
        self.op(true, 0xc7, 0, Rm::Mem(m));
        self.imm32(imm);
    }

    /// Emits `dst = imm` in the shortest form.
    pub fn mov_imm(&mut self, dst: G, imm: u64) {
        if imm == 0 {
            self.op(false, 0x31, dst, Rm::Reg(dst));
        } else if u32::try_from(imm).is_ok() {
            if dst >= 8 {
                self.byte(0x41);
            }
            self.put(u64::from(0xb8 | (dst & 7)) | imm << 8, 5);
        } else if i32::try_from(imm as i64).is_ok() {
            self.op(true, 0xc7, 0, Rm::Reg(dst));
            self.imm32(imm as i32);
        } else {
            self.put(
                u64::from(0x48 | dst >> 3) | u64::from(0xb8 | (dst & 7)) << 8,
                2,
            );
            self.put(imm, 8);
        }
    }

    /// Emits `dst = dst op src`.
    pub fn alu(&mut self, op: Alu, wide: bool, dst: G, src: Rm) {
        self.op(wide, (op as u8) << 3 | 3, dst, src);
    }

    /// Emits `rm = rm op imm`.
    pub fn alu_imm(&mut self, op: Alu, wide: bool, rm: Rm, imm: i32) {
        if let Ok(small) = i8::try_from(imm) {
            self.op(wide, 0x83, op as u8, rm);
            self.byte(small as u8);
        } else {
            self.op(wide, 0x81, op as u8, rm);
            self.imm32(imm);
        }
    }

    /// Emits `dst = address`.
    pub fn lea(&mut self, wide: bool, dst: G, m: Mem) {
        self.op(wide, 0x8d, dst, Rm::Mem(m));
    }

    /// Emits `dst = src * imm`.
    pub fn imul_imm(&mut self, wide: bool, dst: G, src: Rm, imm: i32) {
        if let Ok(small) = i8::try_from(imm) {
            self.op(wide, 0x6b, dst, src);
            self.byte(small as u8);
        } else {
            self.op(wide, 0x69, dst, src);
            self.imm32(imm);
        }
    }

    /// Emits a shift by an immediate: 4 left, 5 logical right, 7 arithmetic right.
    pub fn shift_imm(&mut self, which: u8, wide: bool, dst: G, imm: u8) {
        self.op(wide, 0xc1, which, Rm::Reg(dst));
        self.byte(imm);
    }

    /// Emits a shift by `cl`.
    pub fn shift_cl(&mut self, which: u8, wide: bool, dst: G) {
        self.op(wide, 0xd3, which, Rm::Reg(dst));
    }

    /// Emits `dst = src`, with `bits` 8, 16 or 32 sign-extended to 32 or 64.
    pub fn movsx(&mut self, bits: u32, wide: bool, dst: G, src: Rm) {
        match bits {
            8 => self.op0f(0, wide, 0xbe, dst, src),
            16 => self.op0f(0, wide, 0xbf, dst, src),
            _ if wide => self.op(true, 0x63, dst, src),
            _ => self.mov32(dst, src),
        }
    }

    /// Emits `dst = src`, with `bits` 8, 16 or 32 zero-extended.
    pub fn movzx(&mut self, bits: u32, dst: G, src: Rm) {
        match bits {
            8 => self.op0f(0, false, 0xb6, dst, src),
            16 => self.op0f(0, false, 0xb7, dst, src),
            _ => self.mov32(dst, src),
        }
    }

    /// Emits `dst = condition ? 1 : 0` in the low byte.
    pub fn setcc(&mut self, condition: u8, dst: G) {
        self.op0f(0, false, 0x90 | condition, 0, Rm::Reg(dst));
    }

    /// Emits `dst = condition ? src : dst`.
    pub fn cmov(&mut self, condition: u8, dst: G, src: Rm) {
        self.op0f(0, true, 0x40 | condition, dst, src);
    }

    /// Emits a jump to a label.
    pub fn jmp(&mut self, label: Label) {
        self.byte(0xe9);
        self.fixups.push((self.here(), label));
        self.imm32(0);
    }

    /// Emits a conditional jump to a label.
    pub fn jcc(&mut self, condition: u8, label: Label) {
        self.put(0x0f | u64::from(0x80 | condition) << 8, 2);
        self.fixups.push((self.here(), label));
        self.imm32(0);
    }

    /// Emits a jump to the address in a register or in memory.
    pub fn jmp_rm(&mut self, rm: Rm) {
        self.op(false, 0xff, 4, rm);
    }

    /// Emits scalar or packed arithmetic of the `0f` map: `dst = a op b`.
    pub fn v(&mut self, pp: u8, opcode: u8, dst: X, a: X, b: Rm) {
        self.vex(pp, 1, false, opcode, dst, a, b);
    }

    /// Emits `dst = src`, the whole register.
    pub fn vmov(&mut self, dst: X, src: X) {
        if dst != src {
            self.v(pp::NONE, 0x28, dst, 0, Rm::Reg(src));
        }
    }

    /// Emits `dst = [m]`, 8 bytes, the rest zero.
    pub fn vload64(&mut self, dst: X, m: Mem) {
        self.v(pp::F2, 0x10, dst, 0, Rm::Mem(m));
    }

    /// Emits `dst = [m]`, 4 bytes, the rest zero.
    pub fn vload32(&mut self, dst: X, m: Mem) {
        self.v(pp::F3, 0x10, dst, 0, Rm::Mem(m));
    }

    /// Emits `dst = [m]`, 16 bytes.
    pub fn vload128(&mut self, dst: X, m: Mem) {
        self.v(pp::NONE, 0x10, dst, 0, Rm::Mem(m));
    }

    /// Emits `[m] = src`, 8 bytes.
    pub fn vstore64(&mut self, m: Mem, src: X) {
        self.v(pp::F2, 0x11, src, 0, Rm::Mem(m));
    }

    /// Emits `[m] = src`, 4 bytes.
    pub fn vstore32(&mut self, m: Mem, src: X) {
        self.v(pp::F3, 0x11, src, 0, Rm::Mem(m));
    }

    /// Emits `[m] = src`, 16 bytes.
    pub fn vstore128(&mut self, m: Mem, src: X) {
        self.v(pp::NONE, 0x11, src, 0, Rm::Mem(m));
    }

    /// Emits `dst = src`, 64 bits from a vector register's low lane.
    pub fn vmovq_to_g(&mut self, dst: G, src: X) {
        self.vex(pp::P66, 1, true, 0x7e, src, 0, Rm::Reg(dst));
    }

    /// Emits `dst = src`, 64 bits into the low lane.
    pub fn vmovq_from_g(&mut self, dst: X, src: G) {
        self.vex(pp::P66, 1, true, 0x6e, dst, 0, Rm::Reg(src));
    }

    /// Emits `dst = src`'s high lane.
    pub fn vpextrq_high(&mut self, dst: G, src: X) {
        self.vex(pp::P66, 3, true, 0x16, src, 0, Rm::Reg(dst));
        self.byte(1);
    }
}
