//! The layout of the buffers of `__builtin_setjmp`, which every tier fills alike.
//!
//! Such a buffer has five words, too few for what a jump between tiers restores. So one of them
//! holds the address of a jump buffer in the frame that filled it. A jump is allowed only while
//! that frame lives.

/// Bytes of a jump buffer of any tier, as of glibc's `jmp_buf`.
pub const JUMP_BUFFER: u32 = 200;

/// Offset of the word that holds the jump buffer's address. The compiler uses the words before.
pub const JUMP_BUFFER_WORD: i32 = 24;
