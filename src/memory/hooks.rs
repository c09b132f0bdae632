//! The functions that upper layers register with this crate, in one record.
//!
//! Each is set before the first use of the layer that sets it, and read without a lock, since most
//! readers run in signal handlers or inside the unwinder. The modules that read a hook define its
//! type and its setter.

use super::abi::EntryHook;
use super::activation::SearchHook;
use super::backtrace::{ForkHook, FramesHook};
use super::dump::DescribeHook;
use super::interrupt::LeavableHook;
use super::signal_actions::HandlerHook;
use super::signals::{
    CompiledHook, CompilerHook, CurrentRegionHook, DeviceHook, LocateHook, NativeLocateHook,
    PositionHook, RegionHook, RestoreHook, ThreadHook, TypeHook, UncaughtHook,
};
use ompvm_support::hook;
use ompvm_support::hook::Hook;
use std::sync::atomic::AtomicUsize;

/// The hooks of all modules.
pub(super) struct Hooks {
    /// Runs a guest function for native code.
    pub(super) entry: Hook<EntryHook>,
    /// Finds the handler of an exception among an activation's frames.
    pub(super) search: Hook<SearchHook>,
    /// Prepares a guest function that becomes a signal handler.
    pub(super) handler: Hook<HandlerHook>,
    /// Contains faults of the compiler.
    pub(super) compiler: Hook<CompilerHook>,
    /// Restores memory whose access was revoked.
    pub(super) restore: Hook<RestoreHook>,
    /// Handles faults in a device's code.
    pub(super) device: Hook<DeviceHook>,
    /// Finds the bytecode position of a fault.
    pub(super) position: Hook<PositionHook>,
    /// Names a bytecode position.
    pub(super) locate: Hook<LocateHook>,
    /// Recognizes compiled code.
    pub(super) compiled: Hook<CompiledHook>,
    /// Names a position in compiled code.
    pub(super) native_locate: Hook<NativeLocateHook>,
    /// Tells uncaught exceptions from other aborts.
    pub(super) uncaught: Hook<UncaughtHook>,
    /// Names the type of an uncaught exception.
    pub(super) exception_type: Hook<TypeHook>,
    /// Numbers OpenMP threads.
    pub(super) thread: Hook<ThreadHook>,
    /// Finds the construct that a thread executes.
    pub(super) current_region: Hook<CurrentRegionHook>,
    /// Names a construct.
    pub(super) region: Hook<RegionHook>,
    /// Describes OpenMP threads.
    pub(super) describe: Hook<DescribeHook>,
    /// Tells whether the thread's team failed.
    pub(super) team_failed: Hook<fn() -> bool>,
    /// Leaves a wait of the OpenMP runtime.
    pub(super) leave_wait: Hook<fn() -> bool>,
    /// Recognizes code that may be left anywhere.
    pub(super) leavable: Hook<LeavableHook>,
    /// Walks the interpreter's frames.
    pub(super) frames: Hook<FramesHook>,
    /// Finds the fork of a team.
    pub(super) fork: Hook<ForkHook>,
    /// The address of the runtime entry that forks teams; 0 if none is registered.
    pub(super) fork_entry: AtomicUsize,
    /// Returns the distance from a fork's arguments to its frame pointer.
    pub(super) fork_distance: Hook<fn(u32) -> usize>,
}

/// The hooks of this process: it has one interpreter, one OpenMP runtime, and one action per
/// signal, no matter how many programs it runs.
pub(super) static HOOKS: Hooks = Hooks {
    entry: hook!(EntryHook),
    search: hook!(SearchHook),
    handler: hook!(HandlerHook),
    compiler: hook!(CompilerHook),
    restore: hook!(RestoreHook),
    device: hook!(DeviceHook),
    position: hook!(PositionHook),
    locate: hook!(LocateHook),
    compiled: hook!(CompiledHook),
    native_locate: hook!(NativeLocateHook),
    uncaught: hook!(UncaughtHook),
    exception_type: hook!(TypeHook),
    thread: hook!(ThreadHook),
    current_region: hook!(CurrentRegionHook),
    region: hook!(RegionHook),
    describe: hook!(DescribeHook),
    team_failed: hook!(fn() -> bool),
    leave_wait: hook!(fn() -> bool),
    leavable: hook!(LeavableHook),
    frames: hook!(FramesHook),
    fork: hook!(ForkHook),
    fork_entry: AtomicUsize::new(0),
    fork_distance: hook!(fn(u32) -> usize),
};
