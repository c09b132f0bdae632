//! Backtraces of the guest: the frames of a thread, and those of the threads that forked its teams.
//!
//! Compiled frames are found on the native stack ([`super::walk`]), interpreted ones from the
//! activation whose native frame the walk meets. If no table describes the native code in between
//! (the baseline tier's code has none), the walk continues at the activation's own frame. A
//! worker's stack ends in the runtime. The frames that forked its team are on another thread's
//! stack, whose position at the fork is computed from the address of the region's arguments
//! ([`Fork`]), so a fork records nothing.
//!
//! Neither allocates nor locks, since it runs in signal handlers. Other threads keep running
//! meanwhile, but not the frames that wait for the region. Functions inlined into compiled frames
//! are missing: the tables name the innermost one only.

use super::abi;
use super::activation::Activation;
use super::hooks::HOOKS;
use super::thread::ThreadState;
use super::walk::{self, Registers};
use std::ffi::c_void;
use std::mem;
use std::sync::atomic::Ordering;

/// Calls `each` for the interpreter's frames of one activation from the inside out, beginning with
/// the innermost frame (slot 0) and its bytecode position, until `each` returns false. Returns
/// false if `each` did. For the thread's innermost activation `sp` is the guest's stack pointer,
/// for the recorded frame may have been left; null otherwise.
pub type FramesHook = fn(
    frame: *mut u8,
    sp: *mut u8,
    ip: *const u64,
    each: &mut dyn FnMut(*const u64) -> bool,
) -> bool;

/// The fork of a thread's team.
#[derive(Clone, Copy, Debug)]
pub struct Fork {
    /// The address of the array of the region's arguments in the entry's frame.
    pub arguments: usize,
    /// The length of the array.
    pub count: u32,
    /// The enclosing team, for the next query, and the number that the forking thread has in it.
    pub outer: (*const c_void, u32),
    /// True if the queried member forked the team itself, so that the frames are on its own stack.
    pub own: bool,
}

/// Returns the fork of a team, as seen by the member of a number; a null team means that of the
/// calling thread. `None` outside of regions.
pub type ForkHook = fn(team: *const c_void, number: u32) -> Option<Fork>;

/// The runtime entry that forks teams: its address, and the distance from the array of arguments to
/// the frame pointer by the number of arguments.
pub type EntryHook = (usize, fn(u32) -> usize);

/// Registers the hook that knows the interpreter's frames.
pub fn set_frames_hook(hook: FramesHook) {
    HOOKS.frames.set(hook);
}

/// Registers the hook that knows teams.
pub fn set_fork_hook(hook: ForkHook, entry: EntryHook) {
    HOOKS.fork_distance.set(entry.1);
    HOOKS.fork_entry.store(entry.0, Ordering::Release);
    HOOKS.fork.set(hook);
}

/// A step of a backtrace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A guest frame: a position in compiled code or in bytecode.
    Frame(*const u64),
    /// The following frames forked the team of the preceding ones.
    Forked,
}

/// The most native frames of a walk; a recursion may be a million deep.
const MAX_NATIVE: usize = 20_000;

struct Walk<'a> {
    each: &'a mut dyn FnMut(Step) -> bool,
    compiled: fn(usize) -> bool,
    left: usize,
    stopped: bool,
}

/// Calls `each` for the guest's frames from the inside out until it returns false. `state` is the
/// calling thread's or null, `from` the registers to begin at, `ip` the innermost bytecode position
/// if the innermost guest frame is interpreted.
///
/// # Safety
/// `state` is the calling thread's state or null.
pub unsafe fn walk(
    state: *mut ThreadState,
    from: Registers,
    ip: *const u64,
    compiled: fn(usize) -> bool,
    each: &mut dyn FnMut(Step) -> bool,
) {
    let mut walk = Walk {
        each,
        compiled,
        left: MAX_NATIVE,
        stopped: false,
    };
    // SAFETY: the state is this thread's by contract.
    let inner = unsafe { state.as_ref() }.map(|s| (s.activation.cast_const(), s.sp));
    let (inner, sp) = inner.unwrap_or((std::ptr::null(), std::ptr::null_mut()));
    walk.show_own(from, inner, sp, ip);
    walk.show_forks();
}

impl Walk<'_> {
    fn report(&mut self, step: Step) -> bool {
        self.stopped |= !(self.each)(step);
        !self.stopped
    }

    /// Walks native frames up to that of an activation, which it returns; `None` at the end.
    fn walk_native(&mut self, from: Registers, skip: bool) -> Option<Registers> {
        let entry = HOOKS.fork_entry.load(Ordering::Acquire);
        let mut found = None;
        let mut first = skip;
        walk::walk(from, |frame, start| {
            let position = frame.position();
            let skipped = mem::take(&mut first);
            self.left = self.left.saturating_sub(1);
            if self.left == 0 {
                self.stopped = true;
            } else if skipped {
            } else if abi::in_enter(position) {
                found = Some(*frame);
            } else if (self.compiled)(position) {
                self.report(Step::Frame(position as *const u64));
            } else if start != 0 && start == entry {
                self.report(Step::Forked);
            }
            self.stopped || found.is_some()
        });
        found
    }

    /// Shows the interpreter's frames of the activation at an address, from its recorded position
    /// unless `ip` is given.
    fn show_interpreted(&mut self, activation: usize, sp: *mut u8, ip: *const u64) {
        let field = |offset: usize| walk::read(activation + offset);
        let frame = field(mem::offset_of!(Activation, frame)).unwrap_or(0);
        let noted = field(mem::offset_of!(Activation, ip)).unwrap_or(0);
        let Some(hook) = HOOKS.frames.get().filter(|_| frame != 0) else {
            return;
        };
        let ip = if ip.is_null() {
            noted as *const u64
        } else {
            ip
        };
        hook(frame as *mut u8, sp, ip, &mut |ip| {
            self.report(Step::Frame(ip))
        });
    }

    /// Shows the calling thread's own frames. `inner` is its innermost activation, whose frame is
    /// the next one if native code hides its caller; `sp` and `ip` are its stack pointer and
    /// position.
    fn show_own(&mut self, from: Registers, inner: *const Activation, sp: *mut u8, ip: *const u64) {
        let (mut from, mut skip, mut inner) = (from, false, inner);
        loop {
            let met = self.walk_native(from, skip);
            if self.stopped {
                return;
            }
            // SAFETY: the innermost activation of a thread is alive.
            let met = met.or_else(|| Some(unsafe { inner.as_ref() }?.frame_registers()));
            let Some(frame) = met else { return };
            let Some(address) = activation_of(&frame) else {
                return;
            };
            let innermost = address == inner as usize;
            let (sp, ip) = match innermost {
                true => (sp, ip),
                false => (std::ptr::null_mut(), std::ptr::null()),
            };
            self.show_interpreted(address, sp, ip);
            if self.stopped {
                return;
            }
            (from, skip, inner) = (frame, true, std::ptr::null());
        }
    }

    /// Shows the frames of the threads that forked the team, and of the enclosing teams.
    fn show_forks(&mut self) {
        let (Some(hook), Some(distance)) = (HOOKS.fork.get(), HOOKS.fork_distance.get()) else {
            return;
        };
        let mut asked = (std::ptr::null(), 0);
        // A deeper nesting means damaged data.
        for _ in 0..64 {
            let Some(fork) = hook(asked.0, asked.1) else {
                return;
            };
            if self.stopped {
                return;
            }
            asked = fork.outer;
            if fork.own {
                // The frames of its fork followed those of the region on the same stack.
                continue;
            }
            let Some(returns) = walk::read(fork.arguments.wrapping_sub(8)) else {
                return;
            };
            let frame = fork.arguments + distance(fork.count);
            let entry = HOOKS.fork_entry.load(Ordering::Acquire);
            if returns.wrapping_sub(entry) > 256 {
                return;
            }
            let from = Registers::of_caller(returns, fork.arguments, frame);
            self.show_own(
                from,
                std::ptr::null(),
                std::ptr::null_mut(),
                std::ptr::null(),
            );
        }
    }
}

/// Returns the address of the activation that runs in a frame of the boundary.
pub(super) fn activation_of(frame: &Registers) -> Option<usize> {
    let pointer = match abi::in_run(frame.position()) {
        // Machine code preserves no register: the lowest word leads to everything.
        true => walk::read(frame.stack())?,
        false => frame.frame_pointer(),
    };
    walk::read(pointer.wrapping_sub(abi::ACTIVATION_SLOT))
}
