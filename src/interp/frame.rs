//! Frames of guest functions on the native stack, and the code they run.
//!
//! A frame is a header of [`HEADER`] words below slot 0, the slots, and the static allocas. Frames
//! grow down, as native ones do: a call places the callee's frame right below what the caller uses, in the
//! room that the activation has ([`crate::memory::activation`]). A call that finds too little moves the
//! native stack pointer down and begins anew, so guest calls need no native frames.
//!
//! Header, counted down from slot 0: -1 the bytecode position to return to, -2 slot 0 of the
//! caller, -3 the [`Lowered`] code (null in the base frame of an activation), -4 where the
//! caller wants the result (slot, and number of words << 16), -5 the [`VaList`] that `va_start`
//! copies, -6 the stack pointer to restore.

use super::exec::VaList;
use crate::ir::{BlockId, FuncId, LocId};
use crate::memory::abi::CallPlan;
use crate::memory::image::Image;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

/// Words of the header.
pub const HEADER: usize = crate::memory::thread::HEADER;
/// Bytes of the header.
pub const HEAD: usize = HEADER * 8;

/// Frames are a multiple of so many bytes: calls copy arguments four words at a time.
pub const FRAME_UNIT: u32 = 32;

/// A lowered function.
#[repr(C)]
#[derive(Debug)]
pub struct Lowered {
    /// The first instruction.
    pub entry: *const u64,
    /// Bytes of a frame above its header, a multiple of [`FRAME_UNIT`].
    pub frame: u32,
    /// The function.
    pub func: FuncId,
    /// Its image (a `*const Image`), which owns this.
    pub image: usize,
    /// The code.
    pub code: Box<[u64]>,
    /// Byte offset and number of each instruction.
    pub ops: Box<[(u32, u16)]>,
    /// Slots of a frame.
    pub slots: u32,
    /// Whether the baseline tier was here.
    pub compiled: AtomicBool,
    /// Constants copied into each frame.
    pub pool: Box<[u64]>,
    /// Byte offset of each block's code.
    pub blocks: Box<[u32]>,
    /// First slot of each parameter, and one past the last.
    pub params: Box<[u16]>,
    /// Words of the result.
    pub ret_words: u16,
    /// Where a frame's guard is, and what is called when it was overwritten.
    pub guard: Option<(u32, usize)>,
    /// Byte offsets where a new source location starts.
    pub lines: Vec<(u32, Option<LocId>)>,
    /// The end of each call's code and the address behind the call, where tools are told of calls.
    pub told: Box<[(u32, usize)]>,
    /// What happens to exceptions thrown at calls.
    pub pads: Vec<Pad>,
    /// Data of call sites, thunks and messages, kept alive for the code.
    pub sites: Vec<Kept>,
    /// Its entry and the heads of its loops, by position; see [`super::watch`].
    pub heads: Box<[Head]>,
    /// Where its values are in the frame.
    pub layout: super::lower::Layout,
}

/// An instruction whose word 0 may be changed while it is executed, through which every iteration
/// of a loop, or every call, goes.
#[derive(Debug)]
pub struct Head {
    /// Its byte offset in the code.
    pub at: u32,
    /// The block that begins there; none is the function's entry.
    pub block: Option<BlockId>,
    /// The handler that it has when nobody watches.
    pub plain: AtomicUsize,
    /// Not 0 while the instruction has another handler: what jumps from compiled bytecode to a
    /// head looks here.
    pub turned: AtomicU32,
    /// How often it was executed while watched.
    pub hits: AtomicU32,
    /// How often it is still executed before compiled code is entered.
    pub after: AtomicU32,
    /// Compiled code to go on in, or 0.
    pub code: AtomicUsize,
    /// Not 0 once there is better code than the first, or to ask who goes round ([`super::watch`]): what was made
    /// quickly leaves at the head then.
    pub better: AtomicU32,
}

// SAFETY: immutable once published; the raw pointers lead into itself and to the image.
unsafe impl Send for Lowered {}
// SAFETY: as above.
unsafe impl Sync for Lowered {}

/// Data the code points at.
#[derive(Debug)]
#[expect(missing_docs, reason = "the variants hold what they are named for")]
pub enum Kept {
    Call(Box<CallSite>),
    Thunk(Box<ThunkSite>),
    Text(Box<String>),
}

/// A call described by data.
#[derive(Debug)]
pub struct CallSite {
    /// How arguments travel natively.
    pub plan: Arc<CallPlan>,
    /// First slot of each argument.
    pub args: Box<[u16]>,
    /// Words of each argument.
    pub words: Box<[u16]>,
    /// The native address, 0 when the call is through a pointer.
    pub target: usize,
    /// Arguments beyond the fixed ones, for a guest callee.
    pub variadic: Box<[VarArg]>,
    /// Bytes of the area they take.
    pub area: u32,
    /// Whether the called type is variadic.
    pub is_variadic: bool,
}

/// A variadic argument in the overflow area.
#[derive(Clone, Copy, Debug)]
pub struct VarArg {
    /// Its first slot (for byval: the slot of the pointer).
    pub slot: u16,
    /// Offset in the area.
    pub offset: u32,
    /// Bytes to copy.
    pub bytes: u32,
    /// Copy what the pointer points at.
    pub byval: bool,
}

/// A thunk and its operands' slots.
#[derive(Debug)]
pub struct ThunkSite {
    /// The code.
    pub code: super::thunk::ThunkFn,
    /// First slot of each operand.
    pub args: Box<[u16]>,
    /// Words of each operand.
    pub words: Box<[u16]>,
}

/// An `invoke`'s landing pad.
#[derive(Clone, Debug)]
pub struct Pad {
    /// Byte offset of the call instruction.
    pub call: u32,
    /// Byte offset of the instruction after it.
    pub after: u32,
    /// Byte offset of the landing code.
    pub land: u32,
    /// Slots of the landing pad's value `{ptr, i32}`.
    pub dst: u16,
    /// Whether it is entered when no clause matches.
    pub cleanup: bool,
    /// The clauses.
    pub clauses: Box<[PadClause]>,
}

/// A clause with its type infos resolved.
#[derive(Clone, Debug)]
pub enum PadClause {
    /// Catches a type.
    Catch {
        /// Its type info; 0 catches everything.
        info: usize,
        /// What stands for it in selectors.
        number: i32,
    },
    /// Enters when the type is none of these.
    Filter(Box<[usize]>),
}

impl Lowered {
    /// Whether a bytecode position lies in this function's code.
    pub fn contains(&self, ip: *const u64) -> bool {
        self.code.as_ptr_range().contains(&ip)
    }

    /// The address behind the call at a bytecode position, where tools are told of calls.
    pub fn behind(&self, ip: *const u64) -> Option<usize> {
        let off = (ip as usize).wrapping_sub(self.code.as_ptr() as usize) as u32;
        let i = self.told.partition_point(|&(end, _)| end <= off);
        self.told.get(i).map(|&(_, address)| address)
    }

    /// The source location of a bytecode position inside this function.
    pub fn loc(&self, ip: *const u64) -> Option<LocId> {
        let off = (ip as usize).wrapping_sub(self.code.as_ptr() as usize) as u32;
        let i = self.lines.partition_point(|&(start, _)| start <= off);
        i.checked_sub(1).and_then(|i| self.lines[i].1)
    }

    /// The code of a block.
    pub fn block(&self, block: BlockId) -> *const u64 {
        let off = self.blocks[block.as_u32() as usize] as usize;
        self.code.as_ptr().wrapping_byte_add(off)
    }

    /// The image.
    pub fn image(&self) -> &Image {
        // SAFETY: the image owns its functions' code.
        unsafe { &*(self.image as *const Image) }
    }
}

/// The words of a header.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Where to go on.
    pub return_ip: *const u64,
    /// Slot 0 of the caller.
    pub caller: *mut u64,
    /// The code.
    pub code: *const Lowered,
    /// Slot and words of the result.
    pub dst: u32,
    /// For `va_start`.
    pub va: *const VaList,
    /// The stack pointer to restore.
    pub sp: *mut u8,
}

/// Writes a frame's header.
///
/// # Safety
/// `HEADER` words below `regs` are the frame's.
#[inline(always)]
pub unsafe fn write_header(regs: *mut u64, h: Header) {
    // SAFETY: the caller's promise.
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
            // SAFETY: the caller's promise.
            unsafe { *regs.sub($word) as $t }
        }
    )* };
}
fields! {
    /// Where the frame returns to.
    return_ip 1 *const u64;
    /// Slot 0 of the caller.
    caller 2 *mut u64;
    /// The code.
    lowered 3 *const Lowered;
    /// Slot and words of the result.
    dst 4 u32;
    /// The variable argument list's start.
    va_info 5 *const VaList;
    /// The stack pointer to restore.
    saved_sp 6 *mut u8;
}
