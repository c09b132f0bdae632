//! Calls whose arguments and result are whole words in registers: the common case, made without the
//! list of moves of a [`CallPlan`].
//!
//! A slot that holds such a word has the form of the register, so a call loads all argument
//! registers from slots, used or not. What lies on the stack, is extended, or shares a word with
//! another value is left to the plan.

use super::{CallPlan, Location, Move};

/// The slots and registers of one signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterCall {
    /// Words for the general registers, each by argument and word within it; unused registers get
    /// the first argument's word.
    pub integers: [Word; 6],
    /// Words for the vector registers.
    pub floats: [Word; 8],
    /// True if an argument is in a vector register.
    pub has_floats: bool,
    /// The registers of the result.
    pub result: ResultRegisters,
    /// Number of words of the result.
    pub result_words: u16,
    /// Bits of the result's first word that it defines; the others are 0 in its slot.
    pub mask: u64,
}

impl RegisterCall {
    /// Returns what `of` returns for the words of the general registers, then of the vector ones.
    pub fn words<T>(&self, of: impl FnMut(&Word) -> T) -> Vec<T> {
        self.integers.iter().chain(&self.floats).map(of).collect()
    }
}

/// A word of an argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Number of the argument.
    pub argument: u16,
    /// Number of the word within the argument's slots.
    pub word: u16,
}

/// The registers of a result of at most two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum ResultRegisters {
    /// rax, and rdx for a second word.
    Integers,
    /// xmm0, and xmm1 for a second word.
    Floats,
    /// rax, then xmm0.
    IntegerFloat,
    /// xmm0, then rax.
    FloatInteger,
}

/// Returns the word of a move between a register and a whole word of slots.
fn word(m: &Move) -> Option<Word> {
    let is_exact = m.bits == 0 || m.bits >= 32 || !m.sign;
    let word = Word {
        argument: m.arg as u16,
        word: (m.offset / 8) as u16,
    };
    (m.offset.is_multiple_of(8) && m.bytes <= 8 && is_exact).then_some(word)
}

impl CallPlan {
    /// Returns the call if all arguments, at least one, and the result are words in registers.
    pub fn in_registers(&self) -> Option<RegisterCall> {
        let plain = self.stack_bytes == 0 && self.x87 == 0 && !self.variadic && !self.wide;
        if !plain || !self.copies.is_empty() {
            return None;
        }
        let first = word(self.moves.first()?)?;
        let (mut integers, mut floats) = ([first; 6], [first; 8]);
        for m in &self.moves {
            match m.place {
                Location::Gpr(n) => *integers.get_mut(usize::from(n))? = word(m)?,
                Location::Xmm(n) => *floats.get_mut(usize::from(n))? = word(m)?,
                Location::Nest | Location::Stack(_) | Location::St(_) => return None,
            }
        }
        for (n, m) in self.ret.iter().enumerate() {
            (usize::from(word(m)?.word) == n).then_some(())?;
        }
        use Location::{Gpr, Xmm};
        let places: Vec<Location> = self.ret.iter().map(|m| m.place).collect();
        let result = match places[..] {
            [] | [Gpr(0)] | [Gpr(0), Gpr(1)] => ResultRegisters::Integers,
            [Xmm(0)] | [Xmm(0), Xmm(1)] => ResultRegisters::Floats,
            [Gpr(0), Xmm(0)] => ResultRegisters::IntegerFloat,
            [Xmm(0), Gpr(0)] => ResultRegisters::FloatInteger,
            _ => return None,
        };
        let bits = self.ret.first().map_or(64, |m| match m.bits {
            0 => u32::from(m.bytes) * 8,
            bits => u32::from(bits),
        });
        Some(RegisterCall {
            integers,
            floats,
            has_floats: self.xmms > 0,
            result,
            result_words: places.len() as u16,
            mask: u64::MAX >> (64 - bits),
        })
    }
}
