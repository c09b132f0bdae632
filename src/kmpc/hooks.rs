//! Hooks that let the virtual machine extend the runtime.
//!
//! The runtime depends on no tier. A tier that needs something per worker thread (a guest stack, a
//! name for messages) registers functions here before the first region.

use crate::runtime::RUNTIME;
use ompvm_support::hook::Hook;
use ompvm_support::{hook, limits};
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Functions called on worker threads.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Called on each worker once, before its first region, with its global thread number. The
    /// runtime keeps the result for the thread.
    pub worker_start: fn(gtid: i32) -> *mut c_void,
}

/// Functions and values that the virtual machine registered.
pub(crate) struct Registered {
    workers: OnceLock<Hooks>,
    /// Called by each thread before it starts a region.
    region: Hook<fn()>,
    /// Offered each outermost region.
    interceptor: Hook<RegionInterceptor>,
    devices: AtomicPtr<Devices>,
    /// Factor by which workers' stacks are larger than requested.
    stack_scale: AtomicUsize,
}

impl Registered {
    /// Returns the state in which nothing is registered.
    pub(crate) const fn new() -> Registered {
        Registered {
            workers: OnceLock::new(),
            region: hook!(fn()),
            interceptor: hook!(RegionInterceptor),
            devices: AtomicPtr::new(null_mut()),
            stack_scale: AtomicUsize::new(1),
        }
    }
}

/// Returns the hooks of this process.
#[inline(always)]
fn registered() -> &'static Registered {
    &RUNTIME.hooks
}

/// Queries about the devices besides the host.
#[derive(Debug)]
pub struct Devices {
    /// Returns the number of devices.
    pub count: fn() -> i32,
    /// Returns the unique identifier of a device.
    pub uid: fn(device: i32) -> Option<&'static CStr>,
}

/// Registers the functions that answer queries about devices.
pub fn set_devices(devices: &'static Devices) {
    let devices = std::ptr::from_ref(devices).cast_mut();
    registered().devices.store(devices, Ordering::Release);
}

fn registered_devices() -> Option<&'static Devices> {
    // SAFETY: null, or a static reference that `set_devices` stored.
    unsafe { registered().devices.load(Ordering::Acquire).as_ref() }
}

/// Returns the number of devices besides the host.
pub(crate) fn devices() -> i32 {
    registered_devices().map_or(0, |devices| (devices.count)())
}

/// Returns the identifier of a device besides the host.
pub(crate) fn device_uid(device: i32) -> Option<&'static CStr> {
    (registered_devices()?.uid)(device)
}

/// A parallel region that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct RegionStart {
    /// The `parallel` directive.
    pub ident: *const super::ident::Ident,
    /// Outlined function of the region.
    pub microtask: *const c_void,
    /// Number of pointer arguments.
    pub argc: i32,
    /// The arguments.
    pub argv: *const *mut c_void,
}

/// Executes a region elsewhere than on a team of threads. Returns false if it did not.
pub type RegionInterceptor = unsafe fn(region: &RegionStart) -> bool;

/// Registers a function that is offered each outermost parallel region before a team is formed for
/// it.
pub fn set_region_interceptor(run: RegionInterceptor) {
    registered().interceptor.set(run);
}

/// Removes the function of [`set_region_interceptor`].
pub fn clear_region_interceptor() {
    registered().interceptor.clear();
}

/// Returns the function of [`set_region_interceptor`].
#[inline]
pub(crate) fn region_interceptor() -> Option<RegionInterceptor> {
    registered().interceptor.get()
}

/// Makes the native stacks of workers created from now on `times` as large as `OMP_STACKSIZE`,
/// because the executing tier may need more stack than native code.
pub fn scale_stacks(times: usize) {
    registered()
        .stack_scale
        .store(times.max(1), Ordering::Relaxed);
}

/// Returns the size in bytes of a worker's native stack. Large stacks are not scaled: a multiple of
/// several gigabytes may exceed the memory that the system commits.
pub(crate) fn worker_stack(asked: usize) -> usize {
    const LARGE: usize = 256 << 20;
    let scaled = asked.saturating_mul(registered().stack_scale.load(Ordering::Relaxed));
    limits::reserve(scaled.min(LARGE.max(asked)), 40, asked)
}

/// Registers a function that each thread calls before it starts a parallel region.
pub fn set_region_hook(hook: fn()) {
    registered().region.set(hook);
}

/// Removes the function of [`set_region_hook`].
pub fn clear_region_hook() {
    registered().region.clear();
}

#[inline]
pub(crate) fn before_region() {
    if let Some(hook) = registered().region.get() {
        hook();
    }
}

/// Registers the hooks. Returns false if some are registered already.
pub fn install(hooks: Hooks) -> bool {
    registered().workers.set(hooks).is_ok()
}

pub(crate) fn worker_start(gtid: i32) -> *mut c_void {
    registered()
        .workers
        .get()
        .map_or(null_mut(), |hooks| (hooks.worker_start)(gtid))
}

/// Returns the start hook's result for the calling worker; null on other threads.
pub fn thread_data() -> *mut c_void {
    crate::thread::current_if_known().map_or(null_mut(), |thread| thread.hook_data())
}
