//! Frames of guest functions on the native stack, and the code that they run.
//!
//! A frame is a header of [`HEADER_WORDS`] words below slot 0, the slots, and the static allocas.
//! Frames grow down, as native ones do: a call puts the callee's frame directly below the caller's,
//! in the space that the activation has reserved ([`ompvm_memory::activation`]). A call that finds
//! too little space moves the native stack pointer down and starts again, so guest calls need no
//! native frames.
//!
//! Header words, counted down from slot 0: -1 the bytecode position to return to; -2 slot 0 of the
//! caller; -3 the [`LoweredFunction`] code (null in the base frame of an activation); -4 the
//! caller's destination of the result (slot, and number of words << 16); -5 the [`VaList`] that
//! `va_start` copies; -6 the stack pointer to restore.

use super::exec::VaList;
use super::isa::INSTRUCTIONS;
use ompvm_ir::{BlockId, FuncId, LocId};
use ompvm_memory::abi::{CallPlan, VariadicArgs};
use ompvm_memory::image::Image;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

/// Words of the header.
pub const HEADER_WORDS: usize = ompvm_memory::thread::HEADER;
/// Bytes of the header.
pub const HEADER_BYTES: usize = HEADER_WORDS * 8;

/// The unit of frame sizes in bytes: calls copy arguments four words at a time.
pub const FRAME_ALIGN: u32 = 32;

/// A lowered function.
#[repr(C)]
#[derive(Debug)]
pub struct LoweredFunction {
    /// The first instruction.
    pub entry: *const u64,
    /// Bytes of a frame above its header, a multiple of [`FRAME_ALIGN`].
    pub frame: u32,
    /// The function's id.
    pub func: FuncId,
    /// The image that owns this code (a `*const Image`).
    pub image: usize,
    /// The bytecode.
    pub code: Box<[u64]>,
    /// Byte offset and opcode number of each instruction.
    pub ops: Box<[(u32, u16)]>,
    /// Slots of a frame.
    pub slots: u32,
    /// True once the baseline tier has processed the function, with or without success.
    pub baseline_attempted: AtomicBool,
    /// Executions of the entry and the loops before the baseline tier gets the function; see
    /// [`super::warm_up`].
    pub interpreted: AtomicU32,
    /// Constants that are copied into each frame.
    pub pool: Box<[u64]>,
    /// Byte offset of each block's code.
    pub blocks: Box<[u32]>,
    /// First slot of each parameter, and one past the last.
    pub params: Box<[u16]>,
    /// Number of words of the result.
    pub ret_words: u16,
    /// Offset of a frame's stack guard, and the function to call when it was overwritten.
    pub guard: Option<(u32, usize)>,
    /// Byte offsets at which a new source location starts.
    pub lines: Vec<(u32, Option<LocId>)>,
    /// End of each call's code, and the address after the call, for tools that trace calls.
    pub traced_calls: Box<[(u32, usize)]>,
    /// The landing pads of calls.
    pub landing_pads: Vec<LandingPad>,
    /// Data of call sites, thunks and messages that the code points at.
    pub sites: Vec<SiteData>,
    /// The function's entry and loop heads, ordered by position; see [`super::osr`].
    pub osr_points: Box<[OsrPoint]>,
    /// The slots of the function's values.
    pub layout: super::lower::FrameLayout,
}

/// An OSR point: an instruction that every call, or every iteration of a loop, passes through, and
/// whose word 0 may be changed while it is executed.
#[derive(Debug)]
pub struct OsrPoint {
    /// Byte offset in the code.
    pub at: u32,
    /// The block that begins here; `None` for the function's entry.
    pub block: Option<BlockId>,
    /// The handler of the instruction while the point is not patched.
    pub own_handler: AtomicUsize,
    /// Nonzero while word 0 is patched. Machine code of the baseline tier tests this before it
    /// jumps to the point directly.
    pub patched: AtomicU32,
    /// Number of executions counted so far.
    pub hits: AtomicU32,
    /// Number of executions before compiled code is entered.
    pub delay: AtomicU32,
    /// Address of the compiled code to enter, or 0.
    pub code: AtomicUsize,
    /// Nonzero to make quickly compiled code exit at this point: better code exists, or the tier
    /// asks whether the loop still runs ([`super::osr`]).
    pub exit_request: AtomicU32,
}

// SAFETY: all fields but the atomics are immutable once published; the raw pointer leads into
// `code`.
unsafe impl Send for LoweredFunction {}
// SAFETY: shared access is as sound as moving: see `Send`.
unsafe impl Sync for LoweredFunction {}

/// Data that the code points at.
#[derive(Debug)]
#[expect(missing_docs, reason = "the variants hold what they are named for")]
pub enum SiteData {
    Call(Box<CallSite>),
    Thunk(Box<ThunkSite>),
    Text(Box<String>),
}

/// A call site described by data.
#[derive(Debug)]
pub struct CallSite {
    /// The native calling convention of the arguments.
    pub plan: Arc<CallPlan>,
    /// First slot of each argument.
    pub args: Box<[u16]>,
    /// Words of each argument.
    pub words: Box<[u16]>,
    /// The native address; 0 for a call through a pointer.
    pub target: usize,
    /// Arguments beyond the fixed ones, for a guest callee; `None` if the called type is not
    /// variadic.
    pub variadic: Option<VariadicArgs>,
    /// The fingerprint of the fixed arguments and the result; see [`ompvm_memory::abi::fingerprint`].
    pub fingerprint: u32,
}

/// A thunk and the slots of its operands.
#[derive(Debug)]
pub struct ThunkSite {
    /// The code.
    pub code: super::thunk::ThunkFn,
    /// First slot of each operand.
    pub args: Box<[u16]>,
    /// Words of each operand.
    pub words: Box<[u16]>,
}

/// The landing pad of an `invoke`.
#[derive(Clone, Debug)]
pub struct LandingPad {
    /// Byte offset of the call instruction.
    pub call: u32,
    /// Byte offset of the instruction after it.
    pub after: u32,
    /// Byte offset of the landing code.
    pub land: u32,
    /// Number of the pad's block.
    pub block: u32,
    /// Slots of the landing pad's value `{ptr, i32}`.
    pub dst: u16,
    /// True if the pad is entered when no clause matches.
    pub cleanup: bool,
    /// The pad's clauses.
    pub clauses: Box<[LandingPadClause]>,
}

/// A landing pad's clause with resolved type infos.
#[derive(Clone, Debug)]
pub enum LandingPadClause {
    /// Catches one type.
    Catch {
        /// The type info; 0 catches everything.
        info: usize,
        /// The number that selectors use for it.
        number: i32,
    },
    /// Enters if the type is none of these.
    Filter(Box<[usize]>),
}

impl LoweredFunction {
    /// Returns true if a bytecode position lies in this function's code.
    pub fn contains(&self, ip: *const u64) -> bool {
        self.code.as_ptr_range().contains(&ip)
    }

    /// Returns the address after the call at a bytecode position, if tools trace calls.
    pub fn address_after_call(&self, ip: *const u64) -> Option<usize> {
        let off = (ip as usize).wrapping_sub(self.code.as_ptr() as usize) as u32;
        let i = self.traced_calls.partition_point(|&(end, _)| end <= off);
        self.traced_calls.get(i).map(|&(_, address)| address)
    }

    /// Returns the source location of a bytecode position in this function.
    pub fn loc(&self, ip: *const u64) -> Option<LocId> {
        let off = (ip as usize).wrapping_sub(self.code.as_ptr() as usize) as u32;
        let i = self.lines.partition_point(|&(start, _)| start <= off);
        i.checked_sub(1).and_then(|i| self.lines[i].1)
    }

    /// Formats the instruction with this number in [`LoweredFunction::ops`] as text: its name and
    /// its operands.
    pub fn instruction_text(&self, number: usize) -> String {
        let (at, opcode) = self.ops[number];
        let info = &INSTRUCTIONS.info[usize::from(opcode)];
        let place = self.code.as_ptr().wrapping_byte_add(at as usize);
        // SAFETY: the lowering recorded an instruction with this opcode at this offset.
        let fields = unsafe { (info.fields)(place) };
        format!("{:14} {fields}", info.name)
    }

    /// Returns the start of a block's code.
    pub fn block(&self, block: BlockId) -> *const u64 {
        let off = self.blocks[block.as_u32() as usize] as usize;
        self.code.as_ptr().wrapping_byte_add(off)
    }

    /// Returns the image that owns the code.
    pub fn image(&self) -> &Image {
        // SAFETY: the image owns this code and therefore outlives it.
        unsafe { &*(self.image as *const Image) }
    }
}

/// The words of a frame's header.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The bytecode position to return to.
    pub return_ip: *const u64,
    /// Slot 0 of the caller.
    pub caller: *mut u64,
    /// The frame's code.
    pub code: *const LoweredFunction,
    /// Slot and number of words of the result.
    pub dst: u32,
    /// The list that `va_start` copies.
    pub va: *const VaList,
    /// The stack pointer to restore.
    pub sp: *mut u8,
}

/// Writes a frame's header.
///
/// # Safety
/// The [`HEADER_WORDS`] words below `regs` must be writable and belong to the frame.
#[inline(always)]
pub unsafe fn write_header(regs: *mut u64, h: Header) {
    // SAFETY: the header belongs to the frame (the caller's contract).
    unsafe {
        regs.sub(1).write(h.return_ip as u64);
        regs.sub(2).write(h.caller as u64);
        regs.sub(3).write(h.code as u64);
        regs.sub(4).write(u64::from(h.dst));
        regs.sub(5).write(h.va as u64);
        regs.sub(6).write(h.sp as u64);
    }
}

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident $word:literal $t:ty;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// `regs` is slot 0 of a live frame.
        #[inline(always)]
        pub unsafe fn $name(regs: *mut u64) -> $t {
            // SAFETY: a live frame has a header below slot 0 (the caller's contract).
            unsafe { *regs.sub($word) as $t }
        }
    )* };
}
fields! {
    /// Returns the bytecode position that the frame returns to.
    return_ip 1 *const u64;
    /// Returns slot 0 of the caller.
    caller 2 *mut u64;
    /// Returns the frame's code.
    code 3 *const LoweredFunction;
    /// Returns slot and number of words of the result.
    dst 4 u32;
    /// Returns the start of the variable argument list.
    va_info 5 *const VaList;
    /// Returns the stack pointer to restore.
    saved_sp 6 *mut u8;
}
