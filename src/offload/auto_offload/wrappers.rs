//! Wrappers of C library functions that a program calls: allocators, so that blocks are tracked,
//! and functions whose system calls access memory, which must be on the host then.
//!
//! Functions on strings are not wrapped, because the library itself reads strings before a system
//! call. Calls from native libraries are not intercepted.

use super::in_use::{self, Purpose};
use super::{AUTO_OFFLOAD, Mode, heap, residency};
use hashbrown::HashMap;
use libc::{c_char, c_int, c_void, iovec, msghdr, size_t, ssize_t};
use ompvm_memory::signal_actions;
use std::sync::atomic::Ordering;

macro_rules! wrappers {
    ($($name:literal => $f:expr;)*) => {
        /// Returns the wrappers by name for a program, or none if its mode is [`Mode::Off`].
        pub fn overrides(mode: Mode) -> HashMap<&'static str, usize> {
            let mut rows = HashMap::new();
            if mode != Mode::Off {
                $(rows.insert($name, $f as *const () as usize);)*
            }
            rows
        }
    };
}

wrappers! {
    "malloc" => malloc;
    "calloc" => calloc;
    "realloc" => realloc;
    "reallocarray" => reallocarray;
    "free" => free;
    "aligned_alloc" => aligned_alloc;
    "memalign" => aligned_alloc;
    "posix_memalign" => posix_memalign;
    "_Znwm" => operator_new;
    "_Znam" => operator_new;
    "_ZdlPv" => free;
    "_ZdaPv" => free;
    "_ZdlPvm" => delete_sized;
    "_ZdaPvm" => delete_sized;
    "sigaction" => sigaction;
    "signal" => signal;
    "read" => read;
    "write" => write;
    "pread" => pread;
    "pread64" => pread;
    "pwrite" => pwrite;
    "pwrite64" => pwrite;
    "fread" => fread;
    "fwrite" => fwrite;
    "recv" => recv;
    "recvfrom" => recvfrom;
    "send" => send;
    "sendto" => sendto;
    "readv" => readv;
    "writev" => writev;
    "preadv" => preadv;
    "preadv64" => preadv;
    "pwritev" => pwritev;
    "pwritev64" => pwritev;
    "stat" => stat;
    "stat64" => stat;
    "lstat" => lstat;
    "lstat64" => lstat;
    "fstat" => fstat;
    "fstat64" => fstat;
    "fstatat" => fstatat;
    "fstatat64" => fstatat;
    "getrusage" => getrusage;
    "uname" => uname;
    "sysinfo" => sysinfo;
    "poll" => poll;
    "getcwd" => getcwd;
    "recvmsg" => recvmsg;
    "sendmsg" => sendmsg;
    "getrandom" => getrandom;
}

unsafe extern "C" fn malloc(size: size_t) -> *mut c_void {
    heap::allocate(size, false)
}

unsafe extern "C" fn calloc(count: size_t, size: size_t) -> *mut c_void {
    match count.checked_mul(size) {
        Some(whole) => heap::allocate(whole, true),
        // SAFETY: the overflow makes `calloc` fail as it does natively.
        None => unsafe { libc::calloc(count, size) },
    }
}

/// `operator new`. If memory is exhausted, the native operator handles the failure.
unsafe extern "C-unwind" fn operator_new(size: size_t) -> *mut c_void {
    let p = heap::allocate(size.max(1), false);
    if !p.is_null() {
        return p;
    }
    // SAFETY: the symbol `_Znwm` names a function of this type.
    unsafe {
        let own = libc::dlsym(libc::RTLD_DEFAULT, c"_Znwm".as_ptr());
        if own.is_null() {
            libc::abort();
        }
        std::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn(size_t) -> *mut c_void>(own)(
            size,
        )
    }
}

unsafe extern "C" fn delete_sized(p: *mut c_void, _size: size_t) {
    // SAFETY: the C++ ABI passes a block of the allocator.
    unsafe { free(p) };
}

unsafe extern "C" fn free(p: *mut c_void) {
    if p.is_null() {
        return;
    }
    // SAFETY: the ABI passes a live block of the allocator.
    let noted = unsafe { libc::malloc_usable_size(p) } >= heap::min_tracked();
    if noted && heap::remove(p as usize).is_some_and(|b| b.owns_pages()) {
        residency::discard_block(p as usize);
    }
    // SAFETY: the ABI passes a live block of the allocator.
    unsafe { libc::free(p) };
}

unsafe extern "C" fn realloc(p: *mut c_void, size: size_t) -> *mut c_void {
    if p.is_null() {
        return heap::allocate(size, false);
    }
    // SAFETY: the ABI passes a live block of the allocator.
    if size < heap::min_tracked() && unsafe { libc::malloc_usable_size(p) } < heap::min_tracked() {
        // SAFETY: the ABI passes a live block of the allocator.
        return unsafe { libc::realloc(p, size) };
    }
    let known = heap::find(p as usize).filter(|b| b.start == p as usize);
    let large = known.is_some_and(|b| b.kind == heap::BlockKind::Large);
    // SAFETY: `p` is a live block of at least `old` bytes; `fresh` has at least `size`.
    unsafe {
        if size == 0 {
            free(p);
            return std::ptr::null_mut();
        }
        if !large && size < heap::LARGE {
            let fresh = libc::realloc(p, size);
            if !fresh.is_null() {
                heap::remove(p as usize);
                if size >= heap::min_tracked() {
                    heap::add(fresh as usize, size, heap::BlockKind::Small);
                }
            }
            return fresh;
        }
        let old = known.map_or_else(|| libc::malloc_usable_size(p), |b| b.size);
        let fresh = heap::allocate(size, false);
        if !fresh.is_null() {
            let kept = old.min(size);
            // An explicit copy avoids the page fault in `memcpy`.
            residency::copy_range_to_host(p as usize, kept, false);
            std::ptr::copy_nonoverlapping(p.cast::<u8>(), fresh.cast::<u8>(), kept);
            free(p);
        }
        fresh
    }
}

unsafe extern "C" fn reallocarray(p: *mut c_void, count: size_t, size: size_t) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the arguments are `realloc`'s.
        Some(whole) => unsafe { realloc(p, whole) },
        None => {
            // SAFETY: errno of this thread.
            unsafe { *libc::__errno_location() = libc::ENOMEM };
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn aligned_alloc(align: size_t, size: size_t) -> *mut c_void {
    let mut p = std::ptr::null_mut();
    // SAFETY: the result pointer is valid.
    match unsafe { posix_memalign(&raw mut p, align.max(size_of::<usize>()), size) } {
        0 => p,
        error => {
            // SAFETY: errno of this thread.
            unsafe { *libc::__errno_location() = error };
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn posix_memalign(to: *mut *mut c_void, align: size_t, size: size_t) -> c_int {
    let large = size >= heap::LARGE;
    let (wide, whole, kind) = match large {
        true => (
            align.max(heap::PAGE),
            size.next_multiple_of(heap::PAGE),
            heap::BlockKind::Large,
        ),
        false => (align, size, heap::BlockKind::Small),
    };
    // SAFETY: the ABI passes a valid result pointer.
    unsafe {
        let error = libc::posix_memalign(to, wide, whole);
        if error == 0 && size >= heap::min_tracked() {
            heap::add(*to as usize, size, kind);
        }
        error
    }
}

/// Turns auto-offload off in this process, which has one action per signal: a program with its own
/// handler must see every access fault.
fn disable_for_fault_handler(signal: c_int) {
    if signal == libc::SIGSEGV {
        AUTO_OFFLOAD.disabled.store(true, Ordering::Release);
        ompvm_kmpc::hooks::clear_region_interceptor();
        residency::copy_all_to_host();
    }
}

unsafe extern "C" fn sigaction(
    number: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    if !new.is_null() {
        disable_for_fault_handler(number);
    }
    // SAFETY: the arguments are the caller's, unchanged.
    unsafe { signal_actions::sigaction(number, new, old) }
}

unsafe extern "C" fn signal(number: c_int, handler: usize) -> usize {
    disable_for_fault_handler(number);
    // SAFETY: the arguments are the caller's, unchanged.
    unsafe { signal_actions::signal(number, handler) }
}

/// Ends a use by a system call, whose `errno` stays. Frames between may be left by cancellation or
/// `longjmp`, so no destructor does this.
fn end_call(used: Option<u64>) {
    // SAFETY: errno of this thread.
    let errno = unsafe { &mut *libc::__errno_location() };
    let kept = *errno;
    in_use::end(used);
    *errno = kept;
}

/// Begins the use of a stream's operation. Short ones go through the stream's buffer, where page
/// faults help, so they need not be listed; streams without a buffer are not considered.
fn begin_stream(at: usize, len: usize, write: bool) -> Option<u64> {
    const BUFFER_BYTES: usize = 4096;
    if len < BUFFER_BYTES {
        residency::copy_range_to_host(at, len, write);
        return None;
    }
    in_use::begin(at, len, write, Purpose::Call)
}

unsafe extern "C-unwind" fn fread(
    to: *mut c_void,
    size: size_t,
    n: size_t,
    file: *mut libc::FILE,
) -> size_t {
    let used = begin_stream(to as usize, size.saturating_mul(n), true);
    // SAFETY: the arguments are the caller's, unchanged.
    let result = unsafe { libc::fread(to, size, n, file) };
    end_call(used);
    result
}

unsafe extern "C-unwind" fn fwrite(
    from: *const c_void,
    size: size_t,
    n: size_t,
    file: *mut libc::FILE,
) -> size_t {
    let used = begin_stream(from as usize, size.saturating_mul(n), false);
    // SAFETY: the arguments are the caller's, unchanged.
    let result = unsafe { libc::fwrite(from, size, n, file) };
    end_call(used);
    result
}

/// Functions whose system calls access `len` bytes at an address.
macro_rules! system_calls {
    ($($name:ident($($p:ident: $t:ty),*) -> $r:ty, $at:ident, $len:expr, $write:literal;)*) => {$(
        unsafe extern "C-unwind" fn $name($($p: $t),*) -> $r {
            let used = in_use::begin($at as usize, $len, $write, Purpose::Call);
            // SAFETY: the arguments are the caller's, unchanged.
            let result = unsafe { libc::$name($($p),*) };
            end_call(used);
            result
        }
    )*};
}

system_calls! {
    read(fd: c_int, to: *mut c_void, n: size_t) -> ssize_t, to, n, true;
    write(fd: c_int, from: *const c_void, n: size_t) -> ssize_t, from, n, false;
    pread(fd: c_int, to: *mut c_void, n: size_t, at: i64) -> ssize_t, to, n, true;
    pwrite(fd: c_int, from: *const c_void, n: size_t, at: i64) -> ssize_t, from, n, false;
    recv(fd: c_int, to: *mut c_void, n: size_t, flags: c_int) -> ssize_t, to, n, true;
    send(fd: c_int, from: *const c_void, n: size_t, flags: c_int) -> ssize_t, from, n, false;
    recvfrom(fd: c_int, to: *mut c_void, n: size_t, flags: c_int, who: *mut libc::sockaddr,
        size: *mut libc::socklen_t) -> ssize_t, to, n, true;
    sendto(fd: c_int, from: *const c_void, n: size_t, flags: c_int, who: *const libc::sockaddr,
        size: libc::socklen_t) -> ssize_t, from, n, false;
    getrandom(to: *mut c_void, n: size_t, flags: libc::c_uint) -> ssize_t, to, n, true;
    stat(path: *const c_char, to: *mut libc::stat) -> c_int, to, size_of::<libc::stat>(), true;
    lstat(path: *const c_char, to: *mut libc::stat) -> c_int, to, size_of::<libc::stat>(), true;
    fstat(fd: c_int, to: *mut libc::stat) -> c_int, to, size_of::<libc::stat>(), true;
    fstatat(fd: c_int, path: *const c_char, to: *mut libc::stat, flags: c_int) -> c_int,
        to, size_of::<libc::stat>(), true;
    getrusage(who: c_int, to: *mut libc::rusage) -> c_int, to, size_of::<libc::rusage>(), true;
    uname(to: *mut libc::utsname) -> c_int, to, size_of::<libc::utsname>(), true;
    sysinfo(to: *mut libc::sysinfo) -> c_int, to, size_of::<libc::sysinfo>(), true;
    poll(list: *mut libc::pollfd, n: libc::nfds_t, timeout: c_int) -> c_int,
        list, (n as usize).saturating_mul(size_of::<libc::pollfd>()), true;
    getcwd(to: *mut c_char, n: size_t) -> *mut c_char, to, n, true;
}

/// Makes the buffers of a vector accessible to a system call, until [`end_call`].
///
/// # Safety
/// `list` must have `count` entries.
unsafe fn begin_vector(list: *const iovec, count: usize, write: bool) -> Option<u64> {
    let parts = (0..count).map(|index| {
        // SAFETY: by this function's contract, `index` is in bounds.
        let part = unsafe { &*list.add(index) };
        (part.iov_base as usize, part.iov_len)
    });
    in_use::begin_all(parts, write, Purpose::Call)
}

/// Functions whose system calls access the buffers of a vector.
macro_rules! vector_calls {
    ($($name:ident($($at:ident: $t:ty)?), $write:literal;)*) => {$(
        unsafe extern "C-unwind" fn $name(
            fd: c_int,
            list: *const iovec,
            count: c_int,
            $($at: $t)?
        ) -> ssize_t {
            // SAFETY: the ABI: `list` has `count` entries; the arguments are the caller's,
            // unchanged.
            unsafe {
                let used = begin_vector(list, count.max(0) as usize, $write);
                let result = libc::$name(fd, list, count, $($at)?);
                end_call(used);
                result
            }
        }
    )*};
}

vector_calls! {
    readv(), true;
    writev(), false;
    preadv(at: i64), true;
    pwritev(at: i64), false;
}

unsafe extern "C-unwind" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the ABI: `message` is valid, and its list has `msg_iovlen` entries.
    unsafe {
        let used = begin_vector((*message).msg_iov, (*message).msg_iovlen, true);
        let result = libc::recvmsg(fd, message, flags);
        end_call(used);
        result
    }
}

unsafe extern "C-unwind" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the ABI: `message` is valid, and its list has `msg_iovlen` entries.
    unsafe {
        let used = begin_vector((*message).msg_iov, (*message).msg_iovlen, false);
        let result = libc::sendmsg(fd, message, flags);
        end_call(used);
        result
    }
}
