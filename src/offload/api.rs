//! Device memory routines. OpenMP 5.2, section 18.8, and the `llvm_omp_target_*` extensions.
//!
//! The host counts as a device: its number is the number of available devices.

use super::device::{Failure, MemoryKind, Queue};
use super::devices::{self, Allocation, DeviceState};
use super::map::table::{Lifetime, Lookup, MappedRange};
use super::{data_entries, host_access, program};
use std::ffi::c_void;
use std::ptr::null_mut;

/// The target of a device number.
enum Endpoint {
    Host,
    Device(&'static DeviceState),
    Invalid,
}

fn endpoint(number: i32) -> Endpoint {
    if number == devices::count() as i32 || number == -1 {
        return Endpoint::Host;
    }
    match devices::get(number) {
        Some(state) => Endpoint::Device(state),
        // The data of a disabled device is on the host.
        None if usize::try_from(number).is_ok_and(|n| n < devices::count()) => Endpoint::Host,
        None => Endpoint::Invalid,
    }
}

/// Returns where an address of a device is: on that device even if it is disabled, as long as the
/// block is its own.
fn endpoint_of(address: u64, number: i32) -> Endpoint {
    let disabled = || {
        let state = devices::all().get(usize::try_from(number).ok()?)?;
        (state.is_disabled() && state.device.owns(address)).then_some(state)
    };
    match endpoint(number) {
        Endpoint::Host => disabled().map_or(Endpoint::Host, Endpoint::Device),
        other => other,
    }
}

/// Returns the kind of memory to allocate: shared memory if a program requires unified memory.
fn memory_kind(memory: MemoryKind) -> MemoryKind {
    match program::is_unified() {
        true => MemoryKind::Shared,
        false => memory,
    }
}

fn allocate(size: usize, number: i32, memory: MemoryKind) -> *mut c_void {
    if size == 0 {
        return null_mut();
    }
    match endpoint(number) {
        // SAFETY: `malloc` has no preconditions.
        Endpoint::Host => unsafe { libc::malloc(size) },
        Endpoint::Device(state) => match state.device.alloc(size as u64, 64, memory_kind(memory)) {
            Ok(address) => {
                let kind = memory_kind(memory);
                let block = Allocation { size, kind };
                state.allocations.lock().insert(address, block);
                address as *mut c_void
            }
            Err(_) => null_mut(),
        },
        Endpoint::Invalid => null_mut(),
    }
}

/// `omp_target_alloc`.
pub unsafe extern "C-unwind" fn alloc(size: usize, number: i32) -> *mut c_void {
    allocate(size, number, MemoryKind::Device)
}

/// `llvm_omp_target_alloc_host`.
pub unsafe extern "C-unwind" fn alloc_host(size: usize, number: i32) -> *mut c_void {
    allocate(size, number, MemoryKind::Host)
}

/// `llvm_omp_target_alloc_shared`.
pub unsafe extern "C-unwind" fn alloc_shared(size: usize, number: i32) -> *mut c_void {
    allocate(size, number, MemoryKind::Shared)
}

/// `omp_target_free`, `llvm_omp_target_free_host`, `_shared`, `_device`.
pub unsafe extern "C-unwind" fn free(address: *mut c_void, number: i32) {
    if address.is_null() {
        return;
    }
    match endpoint_of(address as u64, number) {
        // SAFETY: `allocate` allocated host blocks by `malloc`, and the program frees each once.
        Endpoint::Host => unsafe { libc::free(address) },
        Endpoint::Device(state) => {
            let block = state.allocations.lock().remove(&(address as u64));
            let kind = block.map_or(MemoryKind::Device, |block| block.kind);
            let freed = state.device.free(address as u64, kind);
            if let Err(failure) = freed {
                ompvm_support::message!(Note, "omp_target_free: {failure}");
            }
        }
        Endpoint::Invalid => {}
    }
}

/// `omp_target_is_present`.
pub unsafe extern "C-unwind" fn is_present(address: *const c_void, number: i32) -> i32 {
    if address.is_null() {
        return 0;
    }
    match endpoint(number) {
        Endpoint::Host => 1,
        Endpoint::Device(state) => {
            load(state);
            let found = state.table.lock().find(address as usize, 0);
            i32::from(matches!(found, Lookup::Contained(_)))
        }
        Endpoint::Invalid => 0,
    }
}

/// Loads all programs, since variables of `declare target` are present from the start.
fn load(state: &DeviceState) {
    // A failure is reported when a region is reached.
    let _ = state.load_all();
}

/// `omp_target_is_accessible`.
pub unsafe extern "C-unwind" fn is_accessible(
    address: *const c_void,
    size: usize,
    number: i32,
) -> i32 {
    if address.is_null() {
        return 0;
    }
    match endpoint(number) {
        Endpoint::Host => 1,
        Endpoint::Device(state) => {
            let blocks = state.allocations.lock();
            let shared =
                blocks
                    .range(..=address as u64)
                    .next_back()
                    .is_some_and(|(&start, block)| {
                        let offset = (address as usize).wrapping_sub(start as usize);
                        block.kind != MemoryKind::Device
                            && offset < block.size
                            && size <= block.size - offset
                    });
            let own = || {
                let last = (address as u64).checked_add(size.max(1) as u64 - 1);
                let both = last.map(|last| [address as u64, last]);
                both.is_some_and(|ends| ends.iter().all(|&end| state.device.owns(end)))
            };
            i32::from(((shared || program::is_unified()) && size > 0) || own())
        }
        Endpoint::Invalid => 0,
    }
}

/// `omp_get_mapped_ptr`.
pub unsafe extern "C-unwind" fn mapped(address: *const c_void, number: i32) -> *mut c_void {
    match endpoint(number) {
        Endpoint::Host => address.cast_mut(),
        Endpoint::Device(state) => {
            load(state);
            let there = state.table.lock().translate(address as usize, 0);
            there.unwrap_or(0) as *mut c_void
        }
        Endpoint::Invalid => null_mut(),
    }
}

/// `omp_target_associate_ptr`.
pub unsafe extern "C-unwind" fn associate(
    host: *const c_void,
    device: *const c_void,
    size: usize,
    offset: usize,
    number: i32,
) -> i32 {
    const INVALID: i32 = libc::EINVAL;
    let Endpoint::Device(state) = endpoint(number) else {
        return INVALID;
    };
    let end = (host as usize).checked_add(size);
    if host.is_null() || device.is_null() || size == 0 || end.is_none() {
        return INVALID;
    }
    let there = device as u64 + offset as u64;
    let mut table = state.table.lock();
    match table.find(host as usize, size) {
        Lookup::Contained(start) => {
            let same = table.get(start).is_some_and(|r| {
                r.life == Lifetime::Associated && r.device + (host as u64 - start as u64) == there
            });
            if same { 0 } else { INVALID }
        }
        Lookup::Partial(_) => INVALID,
        Lookup::Unmapped => {
            let range = MappedRange::new(size, there, Lifetime::Associated);
            table.insert(host as usize, range);
            0
        }
    }
}

/// `omp_target_disassociate_ptr`.
pub unsafe extern "C-unwind" fn disassociate(host: *const c_void, number: i32) -> i32 {
    let Endpoint::Device(state) = endpoint(number) else {
        return libc::EINVAL;
    };
    let mut table = state.table.lock();
    let associated = table
        .get(host as usize)
        .is_some_and(|r| r.life == Lifetime::Associated);
    if !associated {
        return libc::EINVAL;
    }
    table.remove(host as usize);
    0
}

/// Copies between any two devices.
///
/// # Safety
/// The host ranges must be readable and writable, respectively.
unsafe fn copy(
    to: (*mut c_void, i32),
    from: (*const c_void, i32),
    len: usize,
) -> Result<(), Failure> {
    let (at, start) = (to.0 as u64, from.0 as u64);
    if len == 0 {
        return Ok(());
    }
    // SAFETY: by this function's contract, `len` bytes are accessible on the host side.
    unsafe {
        let side = |address: u64, number| match endpoint_of(address, number) {
            Endpoint::Device(s) if program::is_unified() && !s.device.owns(address) => {
                Endpoint::Host
            }
            other => other,
        };
        match (side(at, to.1), side(start, from.1)) {
            (Endpoint::Host, Endpoint::Host) => {
                std::ptr::copy(from.0.cast::<u8>(), to.0.cast::<u8>(), len);
                Ok(())
            }
            (Endpoint::Device(d), Endpoint::Host) => {
                host_access::during(from.0 as usize, len, false, || {
                    d.device.upload(Queue::SYNC, at, from.0.cast(), len)
                })
            }
            (Endpoint::Host, Endpoint::Device(d)) => {
                host_access::during(to.0 as usize, len, true, || {
                    d.device.download(Queue::SYNC, to.0.cast(), start, len)
                })
            }
            (Endpoint::Device(d), Endpoint::Device(s)) if d.number == s.number => {
                d.device.copy(Queue::SYNC, at, start, len as u64)
            }
            (Endpoint::Device(d), Endpoint::Device(s)) => {
                if d.device
                    .copy_from(Queue::SYNC, at, &*s.device, start, len as u64)?
                {
                    return Ok(());
                }
                let mut between = vec![0u8; len];
                s.device
                    .download(Queue::SYNC, between.as_mut_ptr(), start, len)?;
                d.device.upload(Queue::SYNC, at, between.as_ptr(), len)
            }
            _ => Err(Failure::Lost("there is no such device".into())),
        }
    }
}

fn status(result: Result<(), Failure>, what: &str) -> i32 {
    match result {
        Ok(()) => 0,
        Err(failure) => {
            ompvm_support::message!(Note, "{what}: {failure}");
            libc::EINVAL
        }
    }
}

/// `omp_target_memcpy`.
pub unsafe extern "C-unwind" fn memcpy(
    to: *mut c_void,
    from: *const c_void,
    len: usize,
    to_offset: usize,
    from_offset: usize,
    to_device: i32,
    from_device: i32,
) -> i32 {
    if to.is_null() || from.is_null() {
        return libc::EINVAL;
    }
    // SAFETY: the ABI: both ranges are valid for `len` bytes.
    let done = unsafe {
        copy(
            (to.wrapping_byte_add(to_offset), to_device),
            (from.wrapping_byte_add(from_offset), from_device),
            len,
        )
    };
    status(done, "omp_target_memcpy")
}

/// `omp_target_memcpy_async`.
pub unsafe extern "C-unwind" fn memcpy_async(
    to: *mut c_void,
    from: *const c_void,
    len: usize,
    to_offset: usize,
    from_offset: usize,
    to_device: i32,
    from_device: i32,
    count: i32,
    list: *mut c_void,
) -> i32 {
    // SAFETY: the ABI: `list` has `count` dependences, and both ranges are valid.
    unsafe {
        data_entries::await_dependences(count, list);
        memcpy(
            to,
            from,
            len,
            to_offset,
            from_offset,
            to_device,
            from_device,
        )
    }
}

/// A multi-dimensional copy.
struct Rect {
    element: usize,
    volume: Vec<usize>,
    offsets: [Vec<usize>; 2],
    sizes: [Vec<usize>; 2],
}

impl Rect {
    /// Copies all elements of the dimensions from `dim` on.
    ///
    /// # Safety
    /// The host ranges must be valid for the whole volume.
    unsafe fn copy(
        &self,
        dim: usize,
        to: (*mut c_void, i32),
        from: (*const c_void, i32),
    ) -> Result<(), Failure> {
        let stride = |side: usize| {
            let inner = self.sizes[side][dim + 1..].iter().product::<usize>();
            inner * self.element
        };
        let (out, into) = (stride(0), stride(1));
        let to_start = to.0.wrapping_byte_add(self.offsets[0][dim] * out);
        let from_start = from.0.wrapping_byte_add(self.offsets[1][dim] * into);
        // SAFETY: by this function's contract, the ranges are valid; offsets lie within them.
        unsafe {
            if dim + 1 == self.volume.len() {
                let len = self.volume[dim] * self.element;
                return copy((to_start, to.1), (from_start, from.1), len);
            }
            for n in 0..self.volume[dim] {
                self.copy(
                    dim + 1,
                    (to_start.wrapping_byte_add(n * out), to.1),
                    (from_start.wrapping_byte_add(n * into), from.1),
                )?;
            }
        }
        Ok(())
    }
}

/// `omp_target_memcpy_rect`.
pub unsafe extern "C-unwind" fn memcpy_rect(
    to: *mut c_void,
    from: *const c_void,
    element: usize,
    dims: i32,
    volume: *const usize,
    to_offsets: *const usize,
    from_offsets: *const usize,
    to_sizes: *const usize,
    from_sizes: *const usize,
    to_device: i32,
    from_device: i32,
) -> i32 {
    if to.is_null() && from.is_null() {
        // The routine then returns the maximum number of dimensions.
        return i32::MAX;
    }
    let lists = [volume, to_offsets, from_offsets, to_sizes, from_sizes];
    if to.is_null()
        || from.is_null()
        || element == 0
        || dims < 1
        || lists.iter().any(|l| l.is_null())
    {
        return libc::EINVAL;
    }
    // SAFETY: the ABI: each list has `dims` elements.
    let list = |l: *const usize| unsafe { std::slice::from_raw_parts(l, dims as usize) }.to_vec();
    let rect = Rect {
        element,
        volume: list(volume),
        offsets: [list(to_offsets), list(from_offsets)],
        sizes: [list(to_sizes), list(from_sizes)],
    };
    // SAFETY: the ABI: the ranges are valid for the whole volume.
    let done = unsafe { rect.copy(0, (to, to_device), (from, from_device)) };
    status(done, "omp_target_memcpy_rect")
}

/// `omp_target_memcpy_rect_async`.
pub unsafe extern "C-unwind" fn memcpy_rect_async(
    to: *mut c_void,
    from: *const c_void,
    element: usize,
    dims: i32,
    volume: *const usize,
    to_offsets: *const usize,
    from_offsets: *const usize,
    to_sizes: *const usize,
    from_sizes: *const usize,
    to_device: i32,
    from_device: i32,
    count: i32,
    list: *mut c_void,
) -> i32 {
    // SAFETY: the ABI: `list` has `count` dependences; the other arguments are `memcpy_rect`'s.
    unsafe {
        data_entries::await_dependences(count, list);
        memcpy_rect(
            to,
            from,
            element,
            dims,
            volume,
            to_offsets,
            from_offsets,
            to_sizes,
            from_sizes,
            to_device,
            from_device,
        )
    }
}

/// `omp_target_memset`.
pub unsafe extern "C-unwind" fn memset(
    address: *mut c_void,
    value: i32,
    len: usize,
    number: i32,
) -> *mut c_void {
    if address.is_null() || len == 0 {
        return address;
    }
    match endpoint_of(address as u64, number) {
        // SAFETY: the ABI: `len` bytes at `address` are writable.
        Endpoint::Host => unsafe { address.cast::<u8>().write_bytes(value as u8, len) },
        Endpoint::Device(state) => {
            let filled = state
                .device
                .fill(Queue::SYNC, address as u64, value as u8, len as u64);
            status(filled, "omp_target_memset");
        }
        Endpoint::Invalid => {}
    }
    address
}

/// `omp_target_memset_async`.
pub unsafe extern "C-unwind" fn memset_async(
    address: *mut c_void,
    value: i32,
    len: usize,
    number: i32,
    count: i32,
    list: *mut c_void,
) -> *mut c_void {
    // SAFETY: the ABI: `list` has `count` dependences, and `address` is writable.
    unsafe {
        data_entries::await_dependences(count, list);
        memset(address, value, len, number)
    }
}

/// `llvm_omp_target_dynamic_shared_alloc`: null, since the host has no dynamic shared memory.
pub unsafe extern "C-unwind" fn dynamic_shared() -> *mut c_void {
    null_mut()
}

/// `llvm_omp_target_lock_mem`: pins host memory.
pub unsafe extern "C-unwind" fn lock(
    address: *mut c_void,
    size: usize,
    number: i32,
) -> *mut c_void {
    if let Endpoint::Device(state) = endpoint(number) {
        state.device.pin(address.cast(), size);
    }
    address
}

/// `llvm_omp_target_unlock_mem`.
pub unsafe extern "C-unwind" fn unlock(address: *mut c_void, number: i32) {
    if let Endpoint::Device(state) = endpoint(number) {
        state.device.unpin(address.cast());
    }
}

/// `__tgt_set_info_flag`: ignored; `--offload-report` replaces LLVM's reports.
pub unsafe extern "C-unwind" fn set_info(_bits: u32) {}

/// `__tgt_print_device_info`.
pub unsafe extern "C-unwind" fn print_info(number: i64) -> i32 {
    match devices::get(i32::try_from(number).unwrap_or(-1)) {
        Some(state) => {
            println!("{}: {:?}", state.device.name(), state.device.limits());
            1
        }
        None => 0,
    }
}

/// `ompx_dump_mapping_tables`.
pub unsafe extern "C-unwind" fn dump_tables() {
    for state in devices::all() {
        ompvm_support::eprintln!("ompvm: mapped on {}:", state.device.name());
        for (start, range) in state.table.lock().iter() {
            ompvm_support::eprintln!(
                "  {start:#x}, {} bytes, at {:#x}, {:?}, counts {} and {}",
                range.size,
                range.device,
                range.life,
                range.count,
                range.held
            );
        }
    }
}
