//! The code buffer: instructions, branch targets, temporaries and constants.
//!
//! Branches are patched at the end, since most go forward. `slots` computes the lifetimes of slots.

use super::super::thunk;
use super::{Fixup, Label, Lowering, NO_SLOT};
use crate::frame::SiteData;
use crate::isa::{self, Enc, INSTRUCTIONS, Opcode, Shape, op};
use cranelift_entity::EntityRef;
use ompvm_ir::{Const, ConstId, Operand, Type};

/// The most words of constants that are loaded at a function's start for code outside loops.
const MOST_OUTSIDE_LOOPS: usize = 16;
/// The most words for a loop of more than [`LONG_LOOP`] instructions: each of its constants is a
/// small part of an iteration.
const MOST_IN_LONG_LOOPS: usize = 32;
/// The most words for any loop.
const MOST_PRELOADED: usize = 256;
/// The number of IR instructions from which a loop is long, such as a bytecode interpreter's.
const LONG_LOOP: u32 = 1_000;

impl Lowering<'_> {
    /// Returns the byte offset of the next instruction.
    pub(super) fn here(&self) -> u32 {
        (self.code.len() * 8) as u32
    }

    /// Appends an instruction; returns its byte offset.
    pub(super) fn emit<T: Shape>(&mut self, code: Opcode<T>, ops: T) -> usize {
        let at = self.code.len();
        let bytes = size_of::<Enc<T>>();
        self.code.resize(at + bytes / 8, 0);
        let enc = Enc {
            handler: INSTRUCTIONS.handlers[code.number as usize],
            ops,
        };
        debug_assert_eq!(INSTRUCTIONS.info[code.number as usize].bytes, bytes);
        // SAFETY: the words were just added, as many as an `Enc<T>` has.
        unsafe { self.code.as_mut_ptr().add(at).cast::<Enc<T>>().write(enc) };
        self.ops.push(((at * 8) as u32, code.number));
        at * 8
    }

    /// Appends slot numbers, padded to a word.
    pub(super) fn tail(&mut self, slots: &[u16]) {
        isa::push_tail(&mut self.code, slots);
    }

    /// Overwrites the operands of an instruction.
    pub(super) fn patch<T: Shape>(&mut self, at: usize, ops: T) {
        // SAFETY: an instruction of this shape was emitted at `at`.
        unsafe { (*self.code.as_mut_ptr().byte_add(at).cast::<Enc<T>>()).ops = ops };
    }

    pub(super) fn patch32(&mut self, at: usize, value: i32) {
        // SAFETY: `at` is the position of a 32-bit field of an emitted instruction.
        unsafe {
            self.code
                .as_mut_ptr()
                .byte_add(at)
                .cast::<i32>()
                .write(value)
        };
    }

    pub(super) fn read32(&self, at: usize) -> i32 {
        // SAFETY: `at` is the position of a 32-bit field of an emitted instruction.
        unsafe { self.code.as_ptr().byte_add(at).cast::<i32>().read() }
    }

    /// Records that the 32-bit field at byte `field` of the instruction at `at` is the distance to
    /// `label`.
    pub(super) fn branch_to(&mut self, at: usize, field: usize, label: Label) {
        self.fixups.push(Fixup { at, field, label });
    }

    /// Binds a label here: branches may reach the next instruction.
    pub(super) fn bind(&mut self, label: Label) {
        self.fence = self.here();
        self.labels[label.0 as usize] = self.fence;
    }

    pub(super) fn new_label(&mut self) -> Label {
        self.labels.push(u32::MAX);
        Label(self.labels.len() as u32 - 1)
    }

    /// Allocates slots that live to the end of the function.
    pub(super) fn fresh(&mut self, words: u16) -> u16 {
        let at = self.next_slot;
        self.next_slot += u32::from(words.max(1));
        at.min(u32::from(NO_SLOT) - 1) as u16
    }

    /// Allocates slots that live to the end of the current instruction.
    pub(super) fn temp(&mut self, words: u16) -> u16 {
        let words = words.max(1);
        let at = match self.free_temps.take(words) {
            Some(at) => at,
            None => self.fresh(words),
        };
        self.temps.push((words, at));
        at
    }

    pub(super) fn release_temps(&mut self) {
        while let Some((words, at)) = self.temps.pop() {
            self.free_temps.give(words, at);
        }
    }

    pub(super) fn mov(&mut self, dst: u16, a: u16, words: u16) {
        if dst == a {
            return;
        }
        match words {
            0 => {}
            1 => {
                self.emit(op::mov, isa::Da { dst, a });
            }
            2 => {
                self.emit(op::mov128, isa::Da { dst, a });
            }
            n => {
                self.emit(op::mov_words, isa::Dan { dst, a, n });
            }
        }
    }

    /// Returns true if a constant of the current block may have slots that are loaded at the
    /// function's start: each call pays for them, and they make the frame longer.
    fn may_preload(&self, words: u16) -> bool {
        let most = match self.loop_length[self.current] {
            None => MOST_OUTSIDE_LOOPS,
            Some(length) if length > LONG_LOOP => MOST_IN_LONG_LOOPS,
            Some(_) => MOST_PRELOADED,
        };
        self.pool.len() + usize::from(words) <= most
    }

    /// Returns the slot of a one-word constant.
    pub(super) fn word(&mut self, value: u64) -> u16 {
        if let Some(&slot) = self.const_words.get(&value) {
            return slot;
        }
        if self.may_preload(1) {
            let slot = self.fresh(1);
            self.pool.push((slot, value));
            self.const_words.insert(value, slot);
            slot
        } else {
            let dst = self.temp(1);
            self.emit(
                op::const_word,
                isa::Di {
                    dst,
                    imm: value as i64,
                },
            );
            dst
        }
    }

    /// Returns a constant's words.
    pub(super) fn const_value(&self, c: ConstId) -> Vec<u64> {
        let n = self.words(self.m.const_type(c));
        let mut out = vec![0; n as usize];
        self.image.const_to_slots(c, &mut out);
        out
    }

    /// Returns the slots that hold a constant.
    pub(super) fn constant(&mut self, c: ConstId) -> u16 {
        let ty = self.m.const_type(c);
        if matches!(self.ty(ty), Type::Ptr(_))
            && !matches!(self.m.consts[c], Const::Null | Const::Undef | Const::Poison)
            && let Some((global, off)) = self.image.tls_constant(c)
        {
            let dst = self.temp(1);
            self.tls(dst, global, off);
            return dst;
        }
        let n = self.words(ty);
        if n == 1 {
            let mut value = [0];
            self.image.const_to_slots(c, &mut value);
            return self.word(value[0]);
        }
        if let Some(&slot) = self.const_wide.get(&c) {
            return slot;
        }
        let value = self.const_value(c);
        if n > 0 && n <= 16 && self.loop_length[self.current].is_some() && self.may_preload(n) {
            let slot = self.fresh(n);
            for (i, &v) in value.iter().enumerate() {
                self.pool.push((slot + i as u16, v));
            }
            self.const_wide.insert(c, slot);
            return slot;
        }
        let dst = self.temp(n);
        self.put_words(dst, &value);
        dst
    }

    fn put_words(&mut self, dst: u16, value: &[u64]) {
        if value.len() > 2 && value.iter().all(|&v| v == 0) {
            self.emit(
                op::zero_words,
                isa::Dan {
                    dst,
                    a: dst,
                    n: value.len() as u16,
                },
            );
            return;
        }
        for (i, &v) in value.iter().enumerate() {
            self.emit(
                op::const_word,
                isa::Di {
                    dst: dst + i as u16,
                    imm: v as i64,
                },
            );
        }
    }

    /// Writes a constant into given slots.
    pub(super) fn constant_into(&mut self, dst: u16, c: ConstId) {
        let ty = self.m.const_type(c);
        if matches!(self.ty(ty), Type::Ptr(_)) && self.image.tls_constant(c).is_some() {
            let a = self.constant(c);
            self.mov(dst, a, 1);
            return;
        }
        if matches!(self.m.consts[c], Const::Undef | Const::Poison) {
            return;
        }
        let value = self.const_value(c);
        if value.len() == 1
            && let Some(&slot) = self.const_words.get(&value[0])
        {
            self.mov(dst, slot, 1);
            return;
        }
        self.put_words(dst, &value);
    }

    /// Returns the slots of an operand, and emits it here if it was postponed.
    pub(super) fn operand(&mut self, o: Operand) -> u16 {
        match o.unpack() {
            Err(c) => self.constant(c),
            Ok(v) => self.value(v.index()),
        }
    }

    /// Returns the value of an operand that is an integer constant, sign-extended from its type.
    pub(super) fn int_const(&self, o: Operand) -> Option<i64> {
        let c = o.unpack().err()?;
        let Type::Int(bits @ 1..=64) = *self.ty(self.m.const_type(c)) else {
            return match self.m.consts[c] {
                Const::Null => Some(0),
                _ => None,
            };
        };
        match self.m.consts[c] {
            Const::Int(v) => {
                let shift = 64 - bits;
                Some(((v as u64) << shift) as i64 >> shift)
            }
            Const::Zero => Some(0),
            _ => None,
        }
    }

    /// Returns the value of an integer constant that fits into an immediate; see
    /// [`Self::int_const`].
    pub(super) fn imm(&self, o: Operand) -> Option<i32> {
        self.int_const(o).and_then(|v| i32::try_from(v).ok())
    }

    pub(super) fn unsupported(&mut self, what: &str) {
        // Natively the processor faults here, too.
        if thunk::lacks_features(self.f) {
            self.emit(op::trap, isa::Nil);
            return;
        }
        let text = Box::new(match self.body.insts.get(self.inst).and_then(|i| i.loc) {
            Some(loc) => format!(
                "{}: {what} in function `{}`",
                self.m.debug.describe(loc),
                self.f.name
            ),
            None => format!("{what} in function `{}`", self.f.name),
        });
        let site = std::ptr::from_ref(&*text) as usize;
        self.sites.push(SiteData::Text(text));
        self.emit(op::unsupported, isa::Site { dst: 0, n: 0, site });
    }
}
