//! The layout of the buffers of `__builtin_setjmp`, which is the same in every tier.
//!
//! Such a buffer has five words, too few for the state that a jump between tiers restores. So one
//! of them holds the address of a jump buffer in the frame that filled it. A jump is allowed only
//! while that frame lives.

/// Bytes of a jump buffer in every tier, equal to those of glibc's `jmp_buf`.
pub const JUMP_BUFFER: u32 = 200;

/// Byte offset of the word that holds the jump buffer's address. The compiler uses the words before
/// it.
pub const JUMP_BUFFER_WORD: i32 = 24;
