//! What the virtual machine may hang into the runtime.
//!
//! The runtime knows no tier; a tier that needs something per worker thread (a guest stack, a
//! name for messages) registers functions here before the first region.

use crate::support::limits;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Functions called on worker threads.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Called on each worker once, before its first region, with its global thread number; the
    /// result is kept for the thread.
    pub worker_start: fn(gtid: i32) -> *mut c_void,
}

static HOOKS: OnceLock<Hooks> = OnceLock::new();

static REGION: AtomicUsize = AtomicUsize::new(0);

/// What is asked about the devices besides the host.
#[derive(Debug)]
pub struct Devices {
    /// How many there are.
    pub count: fn() -> i32,
    /// The identifier of one, which no other has.
    pub uid: fn(device: i32) -> Option<&'static CStr>,
}

static DEVICES: AtomicPtr<Devices> = AtomicPtr::new(null_mut());

/// Registers what answers questions about devices.
pub fn set_devices(devices: &'static Devices) {
    DEVICES.store(std::ptr::from_ref(devices).cast_mut(), Ordering::Release);
}

fn registered() -> Option<&'static Devices> {
    // SAFETY: only `set_devices` stores here.
    unsafe { DEVICES.load(Ordering::Acquire).as_ref() }
}

/// How many devices there are besides the host.
pub(crate) fn devices() -> i32 {
    registered().map_or(0, |devices| (devices.count)())
}

/// The identifier of a device besides the host.
pub(crate) fn device_uid(device: i32) -> Option<&'static CStr> {
    (registered()?.uid)(device)
}

/// A parallel region that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// The construct.
    pub ident: *const super::ident::Ident,
    /// The region's function.
    pub microtask: *const c_void,
    /// How many pointers it gets.
    pub argc: i32,
    /// These.
    pub argv: *const *mut c_void,
}

/// Runs a region elsewhere than on a team of threads, or says that it did not.
pub type Elsewhere = unsafe fn(region: &Region) -> bool;

static ELSEWHERE: AtomicUsize = AtomicUsize::new(0);

/// Registers a function that is offered each parallel region that is in no other, before a team is
/// made for it.
pub fn set_elsewhere(run: Elsewhere) {
    ELSEWHERE.store(run as usize, Ordering::Release);
}

/// Takes the function of [`set_elsewhere`] away again.
pub fn clear_elsewhere() {
    ELSEWHERE.store(0, Ordering::Release);
}

/// The function of [`set_elsewhere`].
#[inline]
pub(crate) fn elsewhere() -> Option<Elsewhere> {
    let hook = ELSEWHERE.load(Ordering::Relaxed);
    if hook == 0 {
        return None;
    }
    // SAFETY: only `set_elsewhere` stores here.
    Some(unsafe { std::mem::transmute::<usize, Elsewhere>(hook) })
}

static STACK_SCALE: AtomicUsize = AtomicUsize::new(1);

/// Makes the native stacks of workers `times` as large as `OMP_STACKSIZE` says, from now on: what
/// executes the guest may take more of it than native code.
pub fn scale_stacks(times: usize) {
    STACK_SCALE.store(times.max(1), Ordering::Relaxed);
}

/// The size in bytes of a worker's native stack. Large ones stay as they are: many times several
/// gigabytes may be more than the system promises.
pub(crate) fn worker_stack(asked: usize) -> usize {
    const LARGE: usize = 256 << 20;
    let scaled = asked.saturating_mul(STACK_SCALE.load(Ordering::Relaxed));
    limits::reserve(scaled.min(LARGE.max(asked)), 40, asked)
}

/// Registers a function that each thread calls before it starts a parallel region.
pub fn set_region_hook(hook: fn()) {
    REGION.store(hook as usize, Ordering::Release);
}

/// Takes the function of [`set_region_hook`] away again.
pub fn clear_region_hook() {
    REGION.store(0, Ordering::Release);
}

#[inline]
pub(crate) fn before_region() {
    let hook = REGION.load(Ordering::Acquire);
    if hook != 0 {
        // SAFETY: only `set_region_hook` stores here.
        let hook = unsafe { std::mem::transmute::<usize, fn()>(hook) };
        hook();
    }
}

/// Registers the hooks; false if some are registered already.
pub fn install(hooks: Hooks) -> bool {
    HOOKS.set(hooks).is_ok()
}

pub(crate) fn worker_start(gtid: i32) -> *mut c_void {
    HOOKS
        .get()
        .map_or(null_mut(), |hooks| (hooks.worker_start)(gtid))
}

/// What the start hook returned for the calling worker; null on other threads.
pub fn thread_data() -> *mut c_void {
    crate::kmpc::thread::current_if_known().map_or(null_mut(), |thread| thread.hook_data())
}
