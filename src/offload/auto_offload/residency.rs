//! Blocks of host memory that are resident on the device.
//!
//! An [`Object`] is a block with pages of its own and its copy on the device. One side or both have
//! its current contents. If both have them, the host's pages are read-only; if only the device has
//! them, the host's pages are inaccessible. A fault on such a page calls [`handle_fault`], and a
//! service thread copies the whole object back, so host code needs no changes.
//!
//! A separate thread does the copy, because a signal handler must not allocate, as device drivers
//! do. The contents arrive in fresh pages that replace the old ones atomically, so that other
//! threads never see a partial copy.
//!
//! System calls fail instead of faulting, and drivers must not fault, so their memory is copied to
//! the host before, and stays accessible meanwhile ([`in_use`](super::in_use)).
//!
//! Objects are copied as a whole, and only one device is used.

use super::AUTO_OFFLOAD;
use super::heap::{Block, PAGE};
use super::in_use::InUse;
use crate::locals::LOCALS;
use ompvm_memory::internal_thread;
use ompvm_offload::device::{Failure, MemoryKind, Queue, Result};
use ompvm_offload::devices::DeviceState;
use ompvm_offload::fallback;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Access of the host to an object's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostAccess {
    Free,
    Read,
    None,
}

/// A block that is resident on the device.
#[derive(Debug)]
pub(crate) struct Object {
    /// Host address.
    pub start: usize,
    /// Size in bytes.
    pub size: usize,
    state: &'static DeviceState,
    /// Device address.
    pub device: u64,
    /// True if the host has the current contents.
    pub on_host: bool,
    /// True if the device has the current contents.
    pub on_device: bool,
    host_access: HostAccess,
    /// Counter of the region that last wrote the object on the device; charged with the time of
    /// copying it back.
    pub writer: Option<&'static AtomicU64>,
}

/// All objects.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    list: BTreeMap<usize, Object>,
    /// Running totals of data transfers.
    pub traffic: Traffic,
}

/// Data transfer statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Bytes copied to the device.
    pub to: u64,
    /// Bytes copied from the device.
    pub from: u64,
    /// Duration of the copies in nanoseconds.
    pub time: u64,
}

/// The resident objects of a process, and the service thread that copies them back.
#[repr(align(128))]
pub(super) struct Residency {
    objects: Mutex<Objects>,
    /// Number of objects, and of regions that may add some. If it is 0, the lock need not be taken.
    count: AtomicUsize,
    in_use: InUse,
    /// True in a forked child and at exit: the device can no longer be used.
    device_unusable: AtomicBool,
    /// Write end of the pipe for requests; -1 before the service thread runs.
    request_pipe: AtomicI32,
    /// Done once the service thread was started.
    service: Once,
}

impl Residency {
    /// Returns the state without objects.
    pub(super) const fn new() -> Residency {
        Residency {
            objects: Mutex::new(Objects {
                list: BTreeMap::new(),
                traffic: Traffic {
                    to: 0,
                    from: 0,
                    time: 0,
                },
            }),
            count: AtomicUsize::new(0),
            in_use: InUse::new(),
            device_unusable: AtomicBool::new(false),
            request_pipe: AtomicI32::new(-1),
            service: Once::new(),
        }
    }
}

/// Returns the resident objects of this process.
fn residency() -> &'static Residency {
    &AUTO_OFFLOAD.residency
}

/// Exclusive access to the objects. The fields are dropped in this order.
pub(crate) struct ObjectsGuard(MutexGuard<'static, Objects>, HoldsObjects);

impl std::ops::Deref for ObjectsGuard {
    type Target = Objects;
    fn deref(&self) -> &Objects {
        &self.0
    }
}

impl std::ops::DerefMut for ObjectsGuard {
    fn deref_mut(&mut self) -> &mut Objects {
        &mut self.0
    }
}

/// Lets signal handlers know that their thread may hold the objects, from before they are locked
/// until after they are unlocked.
struct HoldsObjects;

impl Drop for HoldsObjects {
    fn drop(&mut self) {
        LOCALS.with(|l| l.holds_objects.set(false));
    }
}

/// Locks the objects.
pub(super) fn lock_objects() -> ObjectsGuard {
    LOCALS.with(|l| l.holds_objects.set(true));
    ObjectsGuard(residency().objects.lock(), HoldsObjects)
}

/// Returns the ranges in use.
pub(super) fn in_use() -> &'static InUse {
    &residency().in_use
}

/// Returns true if there are no objects, and no region is about to add some.
pub(super) fn is_empty() -> bool {
    residency().count.load(Ordering::Acquire) == 0
}

/// Counts a region as an object while it may add some.
pub(super) struct Adding(());

impl Adding {
    pub(super) fn new() -> Adding {
        residency().count.fetch_add(1, Ordering::AcqRel);
        Adding(())
    }
}

impl Drop for Adding {
    fn drop(&mut self) {
        // A forked child has set the count to 0, but only the thread that forks runs there.
        residency().count.fetch_sub(1, Ordering::Release);
    }
}

/// Returns true if this process can use the device.
pub(super) fn is_device_usable() -> bool {
    !residency().device_unusable.load(Ordering::Relaxed)
}

fn protect(start: usize, size: usize, to: i32) {
    // SAFETY: the range consists of whole pages of a live block that owns them.
    let failed =
        unsafe { libc::mprotect(start as *mut c_void, size.next_multiple_of(PAGE), to) } != 0;
    if failed {
        end_without_data("mprotect failed");
    }
}

/// Ends the process after data was lost on the device.
fn end_without_data(why: &str) -> ! {
    fallback::end_for_lost_data(&format_args!(
        "the program's data was lost on the device: {why}"
    ))
}

impl Object {
    fn set_access(&mut self, host_access: HostAccess) {
        if self.host_access == host_access {
            return;
        }
        let to = match host_access {
            HostAccess::Free => libc::PROT_READ | libc::PROT_WRITE,
            HostAccess::Read => libc::PROT_READ,
            HostAccess::None => libc::PROT_NONE,
        };
        protect(self.start, self.size, to);
        self.host_access = host_access;
    }

    /// Copies the contents to the device if it lacks them.
    fn upload(&mut self, traffic: &mut Traffic) -> Result<()> {
        if self.on_device {
            return Ok(());
        }
        // Write-protects the pages, so that later writes are noticed.
        self.set_access(HostAccess::Read);
        let since = Instant::now();
        // SAFETY: a live block whose pages are readable.
        let done = unsafe {
            self.state
                .device
                .upload(Queue::SYNC, self.device, self.start as *const u8, self.size)
        };
        traffic.time += since.elapsed().as_nanos() as u64;
        if done.is_err() {
            self.set_access(HostAccess::Free);
        } else {
            traffic.to += self.size as u64;
            self.on_device = true;
        }
        done
    }

    /// Copies the contents to the host if it lacks them; both sides have them afterwards.
    fn download(&mut self, traffic: &mut Traffic) {
        if self.on_host {
            return;
        }
        let since = Instant::now();
        let whole = self.size.next_multiple_of(PAGE);
        // With the same offset within a huge page, `mremap` moves whole page tables.
        const HUGE: usize = 2 << 20;
        // SAFETY: only the fresh mapping is written and unmapped; the moved part replaces pages
        // that belong to the block alone.
        unsafe {
            let all = libc::mmap(
                std::ptr::null_mut(),
                whole + HUGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            );
            if all == libc::MAP_FAILED {
                end_without_data("there is no host memory to copy it back to");
            }
            let all = all as usize;
            let at = all + (self.start.wrapping_sub(all)) % HUGE;
            if let Err(why) =
                self.state
                    .device
                    .download(Queue::SYNC, at as *mut u8, self.device, self.size)
            {
                end_without_data(&why.to_string());
            }
            libc::mprotect(at as *mut c_void, whole, libc::PROT_READ);
            let moved = libc::mremap(
                at as *mut c_void,
                whole,
                whole,
                libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
                self.start as *mut c_void,
            );
            if moved == libc::MAP_FAILED {
                end_without_data("mremap failed");
            }
            if at > all {
                libc::munmap(all as *mut c_void, at - all);
            }
            let rest = at + whole;
            libc::munmap(rest as *mut c_void, all + whole + HUGE - rest);
        }
        self.host_access = HostAccess::Read;
        self.on_host = true;
        let time = since.elapsed().as_nanos() as u64;
        traffic.from += self.size as u64;
        traffic.time += time;
        if let Some(writer) = self.writer {
            writer.fetch_add(time, Ordering::Relaxed);
        }
    }

    /// Copies the contents to the host; with `write`, invalidates the device's copy.
    fn copy_to_host(&mut self, write: bool, traffic: &mut Traffic) {
        self.download(traffic);
        if write {
            self.on_device = false;
            self.set_access(HostAccess::Free);
        }
    }

    fn discard(mut self) {
        self.set_access(HostAccess::Free);
        // Freeing may fail only on a device that has failed, where nothing can be freed.
        let _ = self.state.device.free(self.device, MemoryKind::Device);
    }
}

impl Objects {
    /// Returns the objects that overlap a range.
    fn overlapping(&mut self, start: usize, size: usize) -> impl Iterator<Item = &mut Object> {
        // Blocks do not overlap, so the search goes down from the end of the range.
        self.list
            .range_mut(..start.saturating_add(size.max(1)))
            .rev()
            .map(|(_, o)| o)
            .take_while(move |o| o.start + o.size.next_multiple_of(PAGE) > start)
    }

    /// Copies the objects that overlap a range to the host.
    pub fn copy_to_host(&mut self, start: usize, size: usize, write: bool) {
        let mut traffic = self.traffic;
        for object in self.overlapping(start, size) {
            object.copy_to_host(write, &mut traffic);
        }
        self.traffic = traffic;
    }

    /// Returns the object of a block and makes the device's copy current.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] if evicting all objects that are not in `used` does not suffice.
    pub fn make_resident(
        &mut self,
        state: &'static DeviceState,
        block: &Block,
        used: &[usize],
    ) -> Result<&mut Object> {
        let known = self.list.get(&block.start);
        if known.is_some_and(|o| o.size != block.size || o.state.number != state.number) {
            self.release(block.start);
        }
        if !self.list.contains_key(&block.start) {
            start_service();
            let device = self.allocate_evicting(state, block.size, used)?;
            residency().count.fetch_add(1, Ordering::Release);
            let object = Object {
                start: block.start,
                size: block.size,
                state,
                device,
                on_host: true,
                on_device: false,
                host_access: HostAccess::Free,
                writer: None,
            };
            self.list.insert(block.start, object);
        }
        let mut traffic = self.traffic;
        let object = self
            .list
            .get_mut(&block.start)
            .ok_or(Failure::OutOfMemory {
                size: block.size as u64,
            })?;
        let done = object.upload(&mut traffic);
        self.traffic = traffic;
        done.map(|()| object)
    }

    /// Allocates device memory, evicting objects that are not in `used`.
    fn allocate_evicting(
        &mut self,
        state: &DeviceState,
        size: usize,
        used: &[usize],
    ) -> Result<u64> {
        let device = &state.device;
        let mut answer = device.alloc(size as u64, 256, MemoryKind::Device);
        while matches!(answer, Err(Failure::OutOfMemory { .. })) {
            let idle = self.list.keys().copied().find(|s| !used.contains(s));
            let Some(idle) = idle else { break };
            self.release(idle);
            answer = device.alloc(size as u64, 256, MemoryKind::Device);
        }
        answer
    }

    /// Returns the object that begins at `start`.
    pub fn get(&mut self, start: usize) -> Option<&mut Object> {
        self.list.get_mut(&start)
    }

    /// Copies an object to the host and removes it.
    pub fn release(&mut self, start: usize) {
        if let Some(mut object) = self.list.remove(&start) {
            residency().count.fetch_sub(1, Ordering::Release);
            object.copy_to_host(true, &mut self.traffic);
            object.discard();
        }
    }

    /// Removes an object and discards its contents.
    fn discard_object(&mut self, start: usize) {
        if let Some(object) = self.list.remove(&start) {
            residency().count.fetch_sub(1, Ordering::Release);
            object.discard();
        }
    }

    /// Makes the host's pages inaccessible before a kernel writes the object.
    pub fn block_host_access(&mut self, start: usize) {
        if let Some(object) = self.list.get_mut(&start) {
            object.set_access(HostAccess::None);
        }
    }

    /// Records that a kernel has written an object.
    pub fn mark_written(&mut self, start: usize, writer: &'static AtomicU64) {
        if let Some(object) = self.list.get_mut(&start) {
            object.on_host = false;
            object.on_device = true;
            object.writer = Some(writer);
        }
    }

    /// Invalidates the device's copy after a failed kernel that may have written it.
    pub fn invalidate_device_copy(&mut self, start: usize) {
        if let Some(object) = self.list.get_mut(&start) {
            if !object.on_host {
                end_without_data("a kernel failed while changing the only copy");
            }
            object.on_device = false;
            object.set_access(HostAccess::Free);
        }
    }
}

/// Copies a range to the host before a system call or the device accesses it.
pub(super) fn copy_range_to_host(start: usize, size: usize, write: bool) {
    // A thread that holds the lock is interrupted by a signal handler that calls this.
    let holds = || LOCALS.with(|l| l.holds_objects.get());
    if residency().count.load(Ordering::Acquire) > 0 && !holds() {
        lock_objects().copy_to_host(start, size, write);
    }
}

/// Discards the object of a block that is about to be freed.
pub(super) fn discard_block(start: usize) {
    if residency().count.load(Ordering::Acquire) > 0 {
        lock_objects().discard_object(start);
    }
}

/// Copies all objects to the host and removes them.
pub(super) fn copy_all_to_host() {
    if residency().count.load(Ordering::Acquire) > 0 {
        let mut objects = lock_objects();
        let all: Vec<usize> = objects.list.keys().copied().collect();
        for start in all {
            objects.release(start);
        }
    }
}

/// A page fault that a signal handler passes to the service thread.
#[repr(C)]
struct Request {
    address: usize,
    write: bool,
    /// 0: pending; 1: the access can be repeated; 2: no object.
    answer: AtomicU32,
}

/// Handles a fault in a signal handler. Returns true if the access can be repeated.
pub(super) fn handle_fault(address: usize, write: bool) -> bool {
    let entrance = residency().request_pipe.load(Ordering::Acquire);
    if entrance < 0
        || residency().count.load(Ordering::Acquire) == 0
        || LOCALS.with(|l| l.holds_objects.get())
        || !is_device_usable()
    {
        return false;
    }
    let request = Request {
        address,
        write,
        answer: AtomicU32::new(0),
    };
    let message = (&raw const request) as usize;
    // SAFETY: writes eight bytes; `request` lives until it is answered.
    unsafe {
        let written = libc::write(entrance, (&raw const message).cast(), 8);
        if written != 8 {
            return false;
        }
        while request.answer.load(Ordering::Acquire) == 0 {
            libc::syscall(
                libc::SYS_futex,
                request.answer.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                0,
                std::ptr::null::<libc::timespec>(),
            );
        }
    }
    request.answer.load(Ordering::Acquire) == 1
}

/// Starts the service thread once.
fn start_service() {
    residency().service.call_once(|| {
        let mut ends = [0; 2];
        // SAFETY: `ends` has two elements; the fork and exit handlers do not unwind.
        unsafe {
            if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
                end_without_data("no pipe for page faults can be created");
            }
            libc::pthread_atfork(
                Some(before_fork),
                Some(after_fork_in_parent),
                Some(after_fork_in_child),
            );
            // Registered after the driver, so it runs before the driver shuts down.
            libc::atexit(at_exit);
        }
        let exit = ends[0];
        let thread = internal_thread::spawn(c"ompvm memory", move || serve_faults(exit));
        if thread.is_none() {
            end_without_data("no thread for page faults can be created");
        }
        residency().request_pipe.store(ends[1], Ordering::Release);
    });
}

extern "C" fn at_exit() {
    let mut objects = lock_objects();
    let all: Vec<usize> = objects.list.keys().copied().collect();
    for start in all {
        objects.copy_to_host(start, 1, true);
    }
    residency().device_unusable.store(true, Ordering::Relaxed);
}

fn serve_faults(exit: i32) {
    loop {
        let mut message = 0usize;
        // SAFETY: `message` has eight bytes.
        let got = unsafe { libc::read(exit, (&raw mut message).cast(), 8) };
        if got != 8 {
            // SAFETY: errno of this thread.
            if got < 0 && unsafe { *libc::__errno_location() } == libc::EINTR {
                continue;
            }
            return;
        }
        // SAFETY: the handler that sent the request waits for the answer, so it is live.
        let request = unsafe { &*(message as *const Request) };
        let found = {
            let mut objects = lock_objects();
            let mut traffic = objects.traffic;
            let object = objects.overlapping(request.address, 1).next();
            let found = object.map(|o| o.copy_to_host(request.write, &mut traffic));
            objects.traffic = traffic;
            found.is_some()
        };
        let at = request.answer.as_ptr();
        request
            .answer
            .store(if found { 1 } else { 2 }, Ordering::Release);
        // SAFETY: the wake-up uses the address as a key and does not access the memory.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                at,
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1,
            )
        };
    }
}

/// Releases the lock that the calling thread holds during a fork.
fn release_after_fork() {
    let held = LOCALS.with(|l| l.fork_guard.take());
    drop(held.map(ManuallyDrop::into_inner));
}

/// Copies all objects to the host, since the child cannot use the device.
extern "C" fn before_fork() {
    let mut objects = lock_objects();
    let all: Vec<usize> = objects.list.keys().copied().collect();
    for start in all {
        objects.copy_to_host(start, 1, true);
    }
    LOCALS.with(|l| l.fork_guard.set(Some(ManuallyDrop::new(objects))));
}

extern "C" fn after_fork_in_parent() {
    release_after_fork();
}

extern "C" fn after_fork_in_child() {
    residency().device_unusable.store(true, Ordering::Relaxed);
    residency().count.store(0, Ordering::Relaxed);
    release_after_fork();
}
