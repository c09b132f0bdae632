//! Memory that lies on the device and, as long as that is true, on the host.
//!
//! What: an [`Object`] is a block with pages of its own and its copy on the device. Either side or both
//! hold its present contents. Where both do, the host's pages can only be read; where the device alone
//! does, they cannot be accessed. An access that is refused arrives at [`absent`]: a thread of our own
//! then brings the whole object back. So the host's code needs to know nothing.
//!
//! Why a thread: a handler may not allocate, and the device's driver does. Why the contents come back as
//! fresh pages that take the place of the old ones at once: other threads must not see half of them.
//!
//! System calls do not fault but fail: [`touch`] is called before them by `super::library`.
//!
//! What not: parts of objects; more devices than one.

use super::heap::{Block, PAGE};
use crate::memory::own_thread;
use crate::offload::device::{Failure, Memory, Queue, Result};
use crate::offload::devices::State;
use parking_lot::{Mutex, MutexGuard};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// What the host may do with an object's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pages {
    Free,
    Read,
    None,
}

/// A block that is on the device.
#[derive(Debug)]
pub(super) struct Object {
    /// Its address.
    pub start: usize,
    /// Its size.
    pub size: usize,
    state: &'static State,
    /// Where it is on the device.
    pub device: u64,
    /// Whether the host's pages hold its contents.
    pub on_host: bool,
    /// Whether the device's memory does.
    pub on_device: bool,
    pages: Pages,
    /// Who wrote it on the device last: what bringing it back costs is put down there.
    pub writer: Option<&'static AtomicU64>,
}

/// All objects.
#[derive(Debug, Default)]
pub(super) struct Objects {
    list: BTreeMap<usize, Object>,
    /// Bytes to and from the device, and the time of that, since somebody asked.
    pub traffic: Traffic,
}

/// What was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    /// Bytes to the device.
    pub to: u64,
    /// Bytes from it.
    pub from: u64,
    /// Nanoseconds.
    pub time: u64,
}

static OBJECTS: Mutex<Objects> = Mutex::new(Objects {
    list: BTreeMap::new(),
    traffic: Traffic {
        to: 0,
        from: 0,
        time: 0,
    },
});

/// How many objects there are: without any, nobody has to wait for the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The process was forked, and this is the child: the device is the parent's.
static LEFT: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this thread has the lock: a fault of its own could not be answered.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The objects, for this thread alone.
pub(super) struct Hold(MutexGuard<'static, Objects>);

impl std::ops::Deref for Hold {
    type Target = Objects;
    fn deref(&self) -> &Objects {
        &self.0
    }
}

impl std::ops::DerefMut for Hold {
    fn deref_mut(&mut self) -> &mut Objects {
        &mut self.0
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

/// Takes the lock.
pub(super) fn hold() -> Hold {
    let guard = OBJECTS.lock();
    INSIDE.set(true);
    Hold(guard)
}

/// Whether this process can have anything on a device.
pub(super) fn usable() -> bool {
    !LEFT.load(Ordering::Relaxed)
}

fn protect(start: usize, size: usize, to: i32) {
    // SAFETY: whole pages of a live block, which nothing else lies on.
    let failed =
        unsafe { libc::mprotect(start as *mut c_void, size.next_multiple_of(PAGE), to) } != 0;
    if failed {
        lost("the system does not protect memory");
    }
}

/// Data is on a device that does not give it back: nothing can go on.
fn lost(why: &str) -> ! {
    eprintln!("ompvm: data of the program is lost on the device: {why}");
    std::process::abort()
}

impl Object {
    fn set(&mut self, pages: Pages) {
        if self.pages == pages {
            return;
        }
        let to = match pages {
            Pages::Free => libc::PROT_READ | libc::PROT_WRITE,
            Pages::Read => libc::PROT_READ,
            Pages::None => libc::PROT_NONE,
        };
        protect(self.start, self.size, to);
        self.pages = pages;
    }

    /// Brings the contents to the device, where they are not.
    fn upload(&mut self, traffic: &mut Traffic) -> Result<()> {
        if self.on_device {
            return Ok(());
        }
        // What is written from now on is noticed.
        self.set(Pages::Read);
        let since = Instant::now();
        // SAFETY: a live block, which can be read.
        let done = unsafe {
            self.state
                .device
                .upload(Queue::SYNC, self.device, self.start as *const u8, self.size)
        };
        traffic.time += since.elapsed().as_nanos() as u64;
        if done.is_err() {
            self.set(Pages::Free);
        } else {
            traffic.to += self.size as u64;
            self.on_device = true;
        }
        done
    }

    /// Brings the contents to the host, where they are not; then both have them.
    fn download(&mut self, traffic: &mut Traffic) {
        if self.on_host {
            return;
        }
        let since = Instant::now();
        let whole = self.size.next_multiple_of(PAGE);
        // As far from a boundary of huge pages as the block: then the tables move as a whole.
        const HUGE: usize = 2 << 20;
        // SAFETY: a fresh mapping; what is not needed of it is given back; what is moved takes the
        // place of pages that belong to the block alone.
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
                lost("there is no memory to bring it back to");
            }
            let all = all as usize;
            let at = all + (self.start.wrapping_sub(all)) % HUGE;
            if let Err(why) =
                self.state
                    .device
                    .download(Queue::SYNC, at as *mut u8, self.device, self.size)
            {
                lost(&why.to_string());
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
                lost("the system does not move memory");
            }
            if at > all {
                libc::munmap(all as *mut c_void, at - all);
            }
            let rest = at + whole;
            libc::munmap(rest as *mut c_void, all + whole + HUGE - rest);
        }
        self.pages = Pages::Read;
        self.on_host = true;
        let time = since.elapsed().as_nanos() as u64;
        traffic.from += self.size as u64;
        traffic.time += time;
        if let Some(writer) = self.writer {
            writer.fetch_add(time, Ordering::Relaxed);
        }
    }

    /// Has the host have the contents, to write them or only to read them.
    fn bring(&mut self, write: bool, traffic: &mut Traffic) {
        self.download(traffic);
        if write {
            self.on_device = false;
            self.set(Pages::Free);
        }
    }

    fn discard(mut self) {
        self.set(Pages::Free);
        // A device that fails has nothing to give back.
        let _ = self.state.device.free(self.device, Memory::Device);
    }
}

impl Objects {
    /// Objects that have bytes in a range.
    fn within(&mut self, start: usize, size: usize) -> impl Iterator<Item = &mut Object> {
        // Blocks do not overlap, so those that begin before its end are looked at from there.
        self.list
            .range_mut(..start.saturating_add(size.max(1)))
            .rev()
            .map(|(_, o)| o)
            .take_while(move |o| o.start + o.size.next_multiple_of(PAGE) > start)
    }

    /// Has the host have the bytes of a range.
    pub fn bring(&mut self, start: usize, size: usize, write: bool) {
        let mut traffic = self.traffic;
        for object in self.within(start, size) {
            object.bring(write, &mut traffic);
        }
        self.traffic = traffic;
    }

    /// The object of a block, on the device with its present contents.
    ///
    /// # Errors
    /// No memory left there, even without the objects that are not in `used`.
    pub fn on_device(
        &mut self,
        state: &'static State,
        block: &Block,
        used: &[usize],
    ) -> Result<&mut Object> {
        let known = self.list.get(&block.start);
        if known.is_some_and(|o| o.size != block.size || o.state.number != state.number) {
            self.release(block.start);
        }
        if !self.list.contains_key(&block.start) {
            start_service();
            let device = self.room(state, block.size, used)?;
            COUNT.fetch_add(1, Ordering::Release);
            let object = Object {
                start: block.start,
                size: block.size,
                state,
                device,
                on_host: true,
                on_device: false,
                pages: Pages::Free,
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

    /// Memory on a device; what is not needed now makes room.
    fn room(&mut self, state: &State, size: usize, used: &[usize]) -> Result<u64> {
        let device = &state.device;
        let mut answer = device.alloc(size as u64, 256, Memory::Device);
        while matches!(answer, Err(Failure::OutOfMemory { .. })) {
            let idle = self.list.keys().copied().find(|s| !used.contains(s));
            let Some(idle) = idle else { break };
            self.release(idle);
            answer = device.alloc(size as u64, 256, Memory::Device);
        }
        answer
    }

    /// The object that begins there.
    pub fn get(&mut self, start: usize) -> Option<&mut Object> {
        self.list.get_mut(&start)
    }

    /// Brings an object back and forgets it.
    pub fn release(&mut self, start: usize) {
        if let Some(mut object) = self.list.remove(&start) {
            COUNT.fetch_sub(1, Ordering::Release);
            object.bring(true, &mut self.traffic);
            object.discard();
        }
    }

    /// Forgets an object whose contents nobody wants any more.
    fn drop_object(&mut self, start: usize) {
        if let Some(object) = self.list.remove(&start) {
            COUNT.fetch_sub(1, Ordering::Release);
            object.discard();
        }
    }

    /// What is about to be written by a kernel: the host waits for it.
    pub fn take_away(&mut self, start: usize) {
        if let Some(object) = self.list.get_mut(&start) {
            object.set(Pages::None);
        }
    }

    /// What a kernel wrote.
    pub fn written(&mut self, start: usize, writer: &'static AtomicU64) {
        if let Some(object) = self.list.get_mut(&start) {
            object.on_host = false;
            object.on_device = true;
            object.writer = Some(writer);
        }
    }

    /// What a kernel that failed may have written: the host's contents count, where it has them.
    pub fn spoilt(&mut self, start: usize) {
        if let Some(object) = self.list.get_mut(&start) {
            if !object.on_host {
                lost("the kernel that failed was changing the only copy");
            }
            object.on_device = false;
            object.set(Pages::Free);
        }
    }
}

/// Before the host's system calls access memory.
pub(super) fn touch(start: usize, size: usize, write: bool) {
    if COUNT.load(Ordering::Acquire) > 0 {
        hold().bring(start, size, write);
    }
}

/// Before a block is freed: its contents are not wanted any more.
pub(super) fn forget(start: usize) {
    if COUNT.load(Ordering::Acquire) > 0 {
        hold().drop_object(start);
    }
}

/// Brings all objects back to the host and forgets them.
pub(super) fn bring_all_back() {
    if COUNT.load(Ordering::Acquire) > 0 {
        let mut objects = hold();
        let all: Vec<usize> = objects.list.keys().copied().collect();
        for start in all {
            objects.release(start);
        }
    }
}

/// A fault, as its handler passes it on.
#[repr(C)]
struct Request {
    address: usize,
    write: bool,
    /// 0: waits; 1: the access can be made again; 2: the memory is none of ours.
    answer: AtomicU32,
}

/// Where requests are written to.
static ENTRANCE: AtomicI32 = AtomicI32::new(-1);

/// In a signal handler: whether memory that the host may not access has come back.
pub(super) fn absent(address: usize, write: bool) -> bool {
    let entrance = ENTRANCE.load(Ordering::Acquire);
    if entrance < 0 || COUNT.load(Ordering::Acquire) == 0 || INSIDE.get() || !usable() {
        return false;
    }
    let request = Request {
        address,
        write,
        answer: AtomicU32::new(0),
    };
    let message = (&raw const request) as usize;
    // SAFETY: eight bytes; the request lives until it is answered.
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

/// Starts the thread that answers requests, once.
fn start_service() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut ends = [0; 2];
        // SAFETY: an array of two; the handlers are functions without unwinding.
        unsafe {
            if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
                lost("the system has no pipe for faults");
            }
            libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child));
            // Before the device's driver ends: what runs at exit may want the data.
            libc::atexit(at_exit);
        }
        let exit = ends[0];
        let thread = own_thread::spawn(c"ompvm memory", move || serve(exit));
        if thread.is_none() {
            lost("the system has no thread for faults");
        }
        ENTRANCE.store(ends[1], Ordering::Release);
    });
}

extern "C" fn at_exit() {
    let mut objects = hold();
    let all: Vec<usize> = objects.list.keys().copied().collect();
    for start in all {
        objects.bring(start, 1, true);
    }
    LEFT.store(true, Ordering::Relaxed);
}

fn serve(exit: i32) {
    loop {
        let mut message = 0usize;
        // SAFETY: eight bytes of a local.
        let got = unsafe { libc::read(exit, (&raw mut message).cast(), 8) };
        if got != 8 {
            // SAFETY: this thread's variable.
            if got < 0 && unsafe { *libc::__errno_location() } == libc::EINTR {
                continue;
            }
            return;
        }
        // SAFETY: the request of a handler that waits for the answer.
        let request = unsafe { &*(message as *const Request) };
        let found = {
            let mut objects = hold();
            let mut traffic = objects.traffic;
            let object = objects.within(request.address, 1).next();
            let found = object.map(|o| o.bring(request.write, &mut traffic));
            objects.traffic = traffic;
            found.is_some()
        };
        let at = request.answer.as_ptr();
        request
            .answer
            .store(if found { 1 } else { 2 }, Ordering::Release);
        // SAFETY: wakes whoever waits there; nothing is read.
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

thread_local! {
    /// Held over a fork.
    static FORKING: Cell<Option<Hold>> = const { Cell::new(None) };
}

/// The child must have everything in its memory.
extern "C" fn before_fork() {
    let mut objects = hold();
    let all: Vec<usize> = objects.list.keys().copied().collect();
    for start in all {
        objects.bring(start, 1, true);
    }
    FORKING.set(Some(objects));
}

extern "C" fn after_fork() {
    FORKING.set(None);
}

extern "C" fn in_child() {
    LEFT.store(true, Ordering::Relaxed);
    COUNT.store(0, Ordering::Relaxed);
    FORKING.set(None);
}
