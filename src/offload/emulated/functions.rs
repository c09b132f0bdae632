//! The functions that device code may call on the emulated device and that know of its threads and
//! memory: the device's instructions and its C library. Others are in
//! [`plain_functions`].
//!
//! Names that start with `ompvm.nvvm` are LLVM intrinsics of the device. Images that use a function
//! without a row here are refused when they are loaded.

use super::block::{self, ThreadState};
use super::check;
use super::warp::{WarpOp, shuffle_value};
use crate::device::{Failure, Fault};
use crate::plain_functions::{self, functions};
use crate::printf;

functions! {
    "ompvm.check" => check::read;
    "ompvm.check_write" => check::write;
    "ompvm.call" => check::call;
    "ompvm.enter" => block::check_stack;
    "ompvm.tick" => block::count_iteration;
    "ompvm.division" => check::division;
    "ompvm.nvvm.read.ptx.sreg.tid.x" => tid_x;
    "ompvm.nvvm.read.ptx.sreg.tid.y" => tid_y;
    "ompvm.nvvm.read.ptx.sreg.tid.z" => tid_z;
    "ompvm.nvvm.read.ptx.sreg.ntid.x" => ntid_x;
    "ompvm.nvvm.read.ptx.sreg.ntid.y" => ntid_y;
    "ompvm.nvvm.read.ptx.sreg.ntid.z" => ntid_z;
    "ompvm.nvvm.read.ptx.sreg.ctaid.x" => ctaid_x;
    "ompvm.nvvm.read.ptx.sreg.ctaid.y" => ctaid_y;
    "ompvm.nvvm.read.ptx.sreg.ctaid.z" => ctaid_z;
    "ompvm.nvvm.read.ptx.sreg.nctaid.x" => nctaid_x;
    "ompvm.nvvm.read.ptx.sreg.nctaid.y" => nctaid_y;
    "ompvm.nvvm.read.ptx.sreg.nctaid.z" => nctaid_z;
    "ompvm.nvvm.read.ptx.sreg.laneid" => laneid;
    "ompvm.nvvm.read.ptx.sreg.warpid" => warpid;
    "ompvm.nvvm.read.ptx.sreg.warpsize" => warpsize;
    "ompvm.nvvm.read.ptx.sreg.smid" => ctaid_x;
    "ompvm.nvvm.read.ptx.sreg.lanemask.eq" => lanemask_eq;
    "ompvm.nvvm.read.ptx.sreg.lanemask.lt" => lanemask_lt;
    "ompvm.nvvm.read.ptx.sreg.lanemask.le" => lanemask_le;
    "ompvm.nvvm.read.ptx.sreg.lanemask.gt" => lanemask_gt;
    "ompvm.nvvm.read.ptx.sreg.lanemask.ge" => lanemask_ge;
    "ompvm.nvvm.read.ptx.sreg.clock" => clock;
    "ompvm.nvvm.read.ptx.sreg.clock64" => nanoseconds;
    "ompvm.nvvm.read.ptx.sreg.globaltimer" => nanoseconds;
    "ompvm.nvvm.read.ptx.sreg.dynamic.smem.size" => dynamic_size;
    "ompvm.nvvm.read.ptx.sreg.dynamic_smem_size" => dynamic_size;
    "ompvm.nvvm.read.ptx.sreg.total.smem.size" => total_size;
    "ompvm.nvvm.activemask" => active_mask;
    "ompvm.nvvm.barrier.cta.sync.all" => barrier_all;
    "ompvm.nvvm.barrier.cta.sync.aligned.all" => aligned_all;
    "ompvm.nvvm.barrier.cta.sync.count" => barrier_count;
    "ompvm.nvvm.barrier.cta.sync.aligned.count" => aligned_count;
    "ompvm.nvvm.barrier.sync" => barrier_all;
    "ompvm.nvvm.barrier.sync.cnt" => barrier_count;
    "ompvm.nvvm.barrier.n" => aligned_all;
    "ompvm.nvvm.barrier" => barrier_count;
    "ompvm.nvvm.barrier0" => barrier_zero;
    "ompvm.nvvm.bar.sync" => barrier_all;
    "ompvm.nvvm.bar.warp.sync" => sync;
    "ompvm.nvvm.shfl.sync.up.i32" => shuffle_up;
    "ompvm.nvvm.shfl.sync.down.i32" => shuffle_down;
    "ompvm.nvvm.shfl.sync.bfly.i32" => shuffle_xor;
    "ompvm.nvvm.shfl.sync.idx.i32" => shuffle_index;
    "ompvm.nvvm.shfl.sync.up.f32" => shuffle_up_f;
    "ompvm.nvvm.shfl.sync.down.f32" => shuffle_down_f;
    "ompvm.nvvm.shfl.sync.bfly.f32" => shuffle_xor_f;
    "ompvm.nvvm.shfl.sync.idx.f32" => shuffle_index_f;
    "ompvm.nvvm.vote.any.sync" => vote_any;
    "ompvm.nvvm.vote.all.sync" => vote_all;
    "ompvm.nvvm.vote.uni.sync" => vote_uniform;
    "ompvm.nvvm.vote.ballot.sync" => ballot;
    "ompvm.nvvm.match.any.sync.i32" => match_any;
    "ompvm.nvvm.redux.sync.add" => redux_add;
    "ompvm.nvvm.redux.sync.umin" => redux_umin;
    "ompvm.nvvm.redux.sync.umax" => redux_umax;
    "ompvm.nvvm.redux.sync.min" => redux_min;
    "ompvm.nvvm.redux.sync.max" => redux_max;
    "ompvm.nvvm.redux.sync.and" => redux_and;
    "ompvm.nvvm.redux.sync.or" => redux_or;
    "ompvm.nvvm.redux.sync.xor" => redux_xor;
    "ompvm.nvvm.nanosleep" => nanosleep;
    "ompvm.nvvm.exit" => block_exit;
    "ompvm.nvvm.isspacep.shared" => is_shared;
    "ompvm.nvvm.isspacep.global" => is_global;
    "ompvm.nvvm.isspacep.local" => is_local;
    "ompvm.nvvm.isspacep.const" => is_constant;
    "vprintf" => vprintf;
    "__llvm_omp_vprintf" => vprintf_sized;
    "malloc" => malloc;
    "calloc" => calloc;
    "free" => free;
    "__assertfail" => assert_fail;
    "__assert_fail" => assert_fail;
    "abort" => abort;
    "exit" => abort;
    "memcpy" => memcpy;
    "memmove" => memcpy;
    "memset" => memset;
    "memcmp" => memcmp;
    "strlen" => strlen;
    "strcmp" => strcmp;
    "__nv_sincos" => sincos;
    "__nv_sincosf" => sincosf;
    "__nv_fast_sincosf" => sincosf;
    "sincos" => sincos;
    "sincosf" => sincosf;
    "__nv_frexp" => frexp;
    "__nv_frexpf" => frexpf;
    "frexp" => frexp;
    "frexpf" => frexpf;
    "__nv_modf" => modf;
    "__nv_modff" => modff;
    "modf" => modf;
    "modff" => modff;
    "__nv_remquo" => remquo;
    "__nv_remquof" => remquof;
}

fn translate(address: u64, size: u64) -> *mut u8 {
    // SAFETY: only device code calls the functions below.
    unsafe { check::checked_pointer(address, size) }
}

fn read_string(address: u64) -> Vec<u8> {
    printf::read_string(translate, address)
}

fn read_text(address: u64) -> String {
    printf::read_text(translate, address)
}

extern "C" fn vprintf(format: u64, arguments: u64) -> i32 {
    printf::print(translate, format, arguments)
}

extern "C" fn vprintf_sized(format: u64, arguments: u64, _size: u32) -> i32 {
    vprintf(format, arguments)
}

/// Returns the address of the function with that name, or 0.
pub fn address(name: &str) -> usize {
    match built_in(name) {
        0 => plain_functions::address(name),
        address => address,
    }
}

/// Returns the index of the calling thread in three dimensions.
fn thread_index() -> [u32; 3] {
    // SAFETY: only device code calls this; the reference ends here.
    let block = unsafe { block::current() };
    let [w, h, _] = block.grid.threads;
    let n = block.thread();
    [n % w, n / w % h, n / (w * h)]
}

macro_rules! register {
    ($($name:ident = $value:expr;)*) => {
        $(extern "C" fn $name() -> u32 {
            $value
        })*
    };
}

/// Returns the block of the calling device code.
fn current_block() -> &'static mut block::Block<'static> {
    // SAFETY: only device code calls this; no caller below keeps the reference while its fiber
    // yields.
    unsafe { block::current() }
}

register! {
    tid_x = thread_index()[0];
    tid_y = thread_index()[1];
    tid_z = thread_index()[2];
    ntid_x = current_block().grid.threads[0];
    ntid_y = current_block().grid.threads[1];
    ntid_z = current_block().grid.threads[2];
    ctaid_x = current_block().index[0];
    ctaid_y = current_block().index[1];
    ctaid_z = current_block().index[2];
    nctaid_x = current_block().grid.blocks[0];
    nctaid_y = current_block().grid.blocks[1];
    nctaid_z = current_block().grid.blocks[2];
    laneid = current_block().thread() % block::WARP_SIZE;
    warpid = current_block().thread() / block::WARP_SIZE;
    warpsize = block::WARP_SIZE;
    lanemask_eq = 1 << laneid();
    lanemask_lt = (1 << laneid()) - 1;
    lanemask_le = lanemask_lt() | lanemask_eq();
    lanemask_gt = !lanemask_le();
    lanemask_ge = !lanemask_lt();
    clock = nanoseconds() as u32;
    dynamic_size = current_block().grid.dynamic;
    total_size = current_block().grid.shared as u32;
    // Threads of a warp do not run in lockstep, so each may be the only active one.
    active_mask = 1 << laneid();
}

extern "C" fn nanoseconds() -> u64 {
    // Code that reads a clock may be polling for other threads, so it yields.
    // SAFETY: only device code calls this.
    unsafe { block::yield_now() };
    plain_functions::nanoseconds()
}

extern "C" fn barrier_count(number: u32, count: u32) {
    // SAFETY: only device code calls this.
    unsafe { block::wait(ThreadState::Barrier { number, count }, 0) };
}

extern "C" fn barrier_all(number: u32) {
    barrier_count(number, 0);
}

// All threads execute aligned barriers together; if some reach another kind of barrier, they have
// diverged.
extern "C" fn aligned_count(number: u32, count: u32) {
    barrier_count(number | block::ALIGNED, count);
}

extern "C" fn aligned_all(number: u32) {
    aligned_count(number, 0);
}

extern "C" fn barrier_zero() {
    aligned_count(0, 0);
}

fn warp_operation(op: WarpOp, mask: u32, value: u64) -> u64 {
    let kind = op as u32;
    // SAFETY: only device code calls this.
    unsafe { block::wait(ThreadState::Warp { kind, mask }, value) }
}

extern "C" fn sync(mask: u32) {
    warp_operation(WarpOp::Sync, mask, 0);
}

macro_rules! shuffles {
    ($($name:ident, $float:ident = $op:expr;)*) => {
        $(extern "C" fn $name(mask: u32, value: u32, lane: u32, clamp: u32) -> u32 {
            warp_operation($op, mask, shuffle_value(value, lane, clamp)) as u32
        }
        extern "C" fn $float(mask: u32, value: f32, lane: u32, clamp: u32) -> f32 {
            f32::from_bits($name(mask, value.to_bits(), lane, clamp))
        })*
    };
}

shuffles! {
    shuffle_up, shuffle_up_f = WarpOp::ShuffleUp;
    shuffle_down, shuffle_down_f = WarpOp::ShuffleDown;
    shuffle_xor, shuffle_xor_f = WarpOp::ShuffleXor;
    shuffle_index, shuffle_index_f = WarpOp::ShuffleIndex;
}

extern "C" fn vote_any(mask: u32, yes: u8) -> bool {
    warp_operation(WarpOp::Any, mask, u64::from(yes & 1)) != 0
}

extern "C" fn vote_all(mask: u32, yes: u8) -> bool {
    warp_operation(WarpOp::All, mask, u64::from(yes & 1)) != 0
}

extern "C" fn vote_uniform(mask: u32, yes: u8) -> bool {
    warp_operation(WarpOp::Uniform, mask, u64::from(yes & 1)) != 0
}

extern "C" fn ballot(mask: u32, yes: u8) -> u32 {
    warp_operation(WarpOp::Ballot, mask, u64::from(yes & 1)) as u32
}

macro_rules! reduxes {
    ($($name:ident = $op:expr;)*) => {
        $(extern "C" fn $name(value: u32, mask: u32) -> u32 {
            warp_operation($op, mask, u64::from(value)) as u32
        })*
    };
}

reduxes! {
    redux_add = WarpOp::Add;
    redux_umin = WarpOp::Min;
    redux_umax = WarpOp::Max;
    redux_min = WarpOp::MinSigned;
    redux_max = WarpOp::MaxSigned;
    redux_and = WarpOp::And;
    redux_or = WarpOp::Or;
    redux_xor = WarpOp::Xor;
}

extern "C" fn match_any(mask: u32, value: u32) -> u32 {
    warp_operation(WarpOp::MatchAny, mask, u64::from(value)) as u32
}

extern "C" fn nanosleep(_: u32) {
    // SAFETY: only device code calls this.
    unsafe { block::yield_now() };
}

extern "C" fn block_exit() {
    // SAFETY: only device code calls this.
    unsafe { block::exit() };
}

extern "C" fn is_shared(address: u64) -> bool {
    current_block().shared_at(address, 1).is_some()
}

extern "C" fn is_global(address: u64) -> bool {
    let grid = &current_block().grid;
    grid.arena.owns(address) || grid.peers.iter().any(|p| p.owns(address))
}

extern "C" fn is_local(address: u64) -> bool {
    let (low, high) = current_block().stack();
    (low as u64..high as u64).contains(&address)
}

extern "C" fn is_constant(_: u64) -> bool {
    false
}

extern "C" fn malloc(size: u64) -> u64 {
    // As on a GPU, the result is null when memory is exhausted.
    current_block().grid.arena.alloc(size, 16).unwrap_or(0)
}

extern "C" fn calloc(count: u64, size: u64) -> u64 {
    let Some(bytes) = count.checked_mul(size) else {
        return 0;
    };
    let address = malloc(bytes);
    if let Some(host) = current_block().grid.arena.translate(address, bytes.max(1)) {
        // SAFETY: `translate` checked the whole block.
        unsafe { host.write_bytes(0, bytes as usize) };
    }
    address
}

extern "C" fn free(address: u64) {
    if address == 0 {
        return;
    }
    if let Err(failure) = current_block().grid.arena.free(address) {
        let failure = match failure {
            Failure::Fault(f) => check::fault(0, f.what, None),
            other => other,
        };
        // SAFETY: only device code calls this.
        unsafe { block::fail(failure) };
    }
}

extern "C" fn assert_fail(message: u64, file: u64, line: u32, function: u64) {
    let fault = Fault {
        what: format!(
            "the assertion `{}` failed in `{}`",
            read_text(message),
            read_text(function)
        ),
        place: Some(format!("{}:{line}", read_text(file))),
        thread: Some((current_block().number(), current_block().thread())),
        help: None,
    };
    // SAFETY: only device code calls this.
    unsafe { block::fail(Failure::Fault(Box::new(fault))) };
}

extern "C" fn abort() {
    // SAFETY: only device code calls this.
    unsafe {
        block::fail(check::fault(
            0,
            "the device code called `abort`".into(),
            None,
        ))
    };
}

// The compiler's calls pass host addresses that are checked already; the program's pass device
// addresses.
fn checked_or_host(address: u64, size: u64, write: bool) -> *mut u8 {
    let at = address as usize;
    let foreign = address >> 47 == 0;
    if foreign {
        return at as *mut u8;
    }
    if write {
        check::write(address, size, 0)
    } else {
        check::read(address, size, 0)
    }
}

extern "C" fn memcpy(to: u64, from: u64, len: u64) -> u64 {
    // SAFETY: `checked_or_host` checks both ranges, or they were checked before.
    unsafe {
        std::ptr::copy(
            checked_or_host(from, len, false),
            checked_or_host(to, len, true),
            len as usize,
        )
    };
    to
}

extern "C" fn memset(to: u64, value: i32, len: u64) -> u64 {
    // SAFETY: `checked_or_host` checks the range, or it was checked before.
    unsafe { checked_or_host(to, len, true).write_bytes(value as u8, len as usize) };
    to
}

extern "C" fn memcmp(a: u64, b: u64, len: u64) -> i32 {
    // SAFETY: `checked_or_host` checks both ranges, or they were checked before.
    unsafe {
        libc::memcmp(
            checked_or_host(a, len, false).cast(),
            checked_or_host(b, len, false).cast(),
            len as usize,
        )
    }
}

extern "C" fn strlen(text: u64) -> u64 {
    read_string(text).len() as u64
}

extern "C" fn strcmp(a: u64, b: u64) -> i32 {
    read_string(a).cmp(&read_string(b)) as i32
}

/// Stores a value at a device address.
fn store<T: Copy>(address: u64, value: T) {
    let size = size_of::<T>() as u64;
    // SAFETY: `pointer` checks the range; device code may store unaligned.
    unsafe {
        check::checked_pointer(address, size)
            .cast::<T>()
            .write_unaligned(value)
    };
}

extern "C" fn sincos(x: f64, sin: u64, cos: u64) {
    store(sin, x.sin());
    store(cos, x.cos());
}

extern "C" fn sincosf(x: f32, sin: u64, cos: u64) {
    store(sin, x.sin());
    store(cos, x.cos());
}

unsafe extern "C" {
    #[link_name = "frexp"]
    fn libm_frexp(x: f64, exponent: *mut i32) -> f64;
    #[link_name = "remquo"]
    fn libm_remquo(x: f64, y: f64, quotient: *mut i32) -> f64;
    #[link_name = "remquof"]
    fn libm_remquof(x: f32, y: f32, quotient: *mut i32) -> f32;
}

extern "C" fn frexp(x: f64, exponent: u64) -> f64 {
    let mut e = 0;
    // SAFETY: the result pointer is valid.
    let mantissa = unsafe { libm_frexp(x, &raw mut e) };
    store(exponent, e);
    mantissa
}

extern "C" fn frexpf(x: f32, exponent: u64) -> f32 {
    frexp(x.into(), exponent) as f32
}

extern "C" fn modf(x: f64, whole: u64) -> f64 {
    store(whole, x.trunc());
    x.fract()
}

extern "C" fn modff(x: f32, whole: u64) -> f32 {
    store(whole, x.trunc());
    x.fract()
}

extern "C" fn remquo(x: f64, y: f64, quotient: u64) -> f64 {
    let mut q = 0;
    // SAFETY: the result pointer is valid.
    let rest = unsafe { libm_remquo(x, y, &raw mut q) };
    store(quotient, q);
    rest
}

extern "C" fn remquof(x: f32, y: f32, quotient: u64) -> f32 {
    let mut q = 0;
    // SAFETY: the result pointer is valid.
    let rest = unsafe { libm_remquof(x, y, &raw mut q) };
    store(quotient, q);
    rest
}
