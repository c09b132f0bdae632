//! The `omp_*` routines: queries, settings, time. OpenMP 5.2, chapter 18.
//!
//! [`fortran`](super::fortran) has the Fortran forms, which take arguments by reference,
//! [`lock`](super::lock) the locks, and [`alloc`](super::alloc) the allocators.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::Ordering;

use crate::affinity::DISPLAY;
use crate::alloc::spaces::is_host;
use crate::icv::{self, RunSchedule, SCHEDULE_MONOTONIC, TRAPEZOIDAL, settings};
use crate::runtime::RUNTIME;
use crate::team::{Shape, Team};
use crate::thread::{Thread, current, known_threads};
use crate::{env, hooks, ompt};

fn set_icv(change: impl FnOnce(&mut icv::Icvs)) {
    let thread = current();
    let mut icvs = thread.icvs.get();
    change(&mut icvs);
    thread.icvs.set(icvs);
}

/// Implements `omp_set_num_threads`.
pub unsafe extern "C-unwind" fn set_num_threads(threads: i32) {
    // As libomp: less than one thread is one.
    set_icv(|icvs| icvs.nthreads = threads.max(1) as u32);
}

/// Implements `omp_get_num_threads`.
pub unsafe extern "C-unwind" fn get_num_threads() -> i32 {
    current().team().size() as i32
}

/// Implements `omp_get_thread_num`.
pub unsafe extern "C-unwind" fn get_thread_num() -> i32 {
    current().tid() as i32
}

/// Implements `omp_get_max_threads`.
pub unsafe extern "C-unwind" fn get_max_threads() -> i32 {
    current().icvs.get().threads() as i32
}

/// Implements `omp_get_num_procs`.
pub unsafe extern "C-unwind" fn get_num_procs() -> i32 {
    icv::processors() as i32
}

/// Implements `omp_in_parallel`.
pub unsafe extern "C-unwind" fn in_parallel() -> i32 {
    (current().team().shape().active_level > 0) as i32
}

/// Implements `omp_set_dynamic`.
pub unsafe extern "C-unwind" fn set_dynamic(on: i32) {
    set_icv(|icvs| icvs.dynamic = on != 0);
}

/// Implements `omp_get_dynamic`.
pub unsafe extern "C-unwind" fn get_dynamic() -> i32 {
    current().icvs.get().dynamic as i32
}

/// Implements `omp_set_nested`.
pub unsafe extern "C-unwind" fn set_nested(on: i32) {
    set_icv(|icvs| icvs.max_active_levels = if on != 0 { i32::MAX as u32 } else { 1 });
}

/// Implements `omp_get_nested`.
pub unsafe extern "C-unwind" fn get_nested() -> i32 {
    (current().icvs.get().max_active_levels > 1) as i32
}

/// Implements `omp_set_max_active_levels`.
pub unsafe extern "C-unwind" fn set_max_active_levels(levels: i32) {
    if levels >= 0 {
        set_icv(|icvs| icvs.max_active_levels = levels as u32);
    }
}

/// Implements `omp_get_max_active_levels`.
pub unsafe extern "C-unwind" fn get_max_active_levels() -> i32 {
    current().icvs.get().max_active_levels as i32
}

/// Implements `omp_get_supported_active_levels`.
pub unsafe extern "C-unwind" fn get_supported_active_levels() -> i32 {
    i32::MAX
}

/// Implements `omp_set_schedule`.
pub unsafe extern "C-unwind" fn set_schedule(kind: i32, chunk: i32) {
    let (mut kind, mut chunk) = (kind as u32, chunk);
    let mut plain = kind & !SCHEDULE_MONOTONIC;
    if !matches!(plain, 1..=4 | TRAPEZOIDAL) {
        // As libomp: the default, static without chunks.
        icv::warn(&format!(
            "#37: omp_set_schedule: {kind} is no kind of schedule (omp_sched_t); using static"
        ));
        (kind, plain, chunk) = (1, 1, 0);
    }
    let chunk = match plain {
        4 => 1,
        _ => chunk.max(env::default_chunk(plain)),
    };
    set_icv(|icvs| icvs.schedule = RunSchedule { kind, chunk });
}

/// Implements `omp_get_schedule`.
///
/// # Safety
/// The pointers are valid.
pub unsafe extern "C-unwind" fn get_schedule(kind: *mut i32, chunk: *mut i32) {
    let schedule = current().icvs.get().schedule;
    // SAFETY: both pointers are valid (caller's contract).
    unsafe {
        *kind = schedule.kind as i32;
        *chunk = schedule.chunk;
    }
}

/// Implements `omp_get_thread_limit`.
pub unsafe extern "C-unwind" fn get_thread_limit() -> i32 {
    current().icvs.get().thread_limit as i32
}

/// Implements `omp_get_level`.
pub unsafe extern "C-unwind" fn get_level() -> i32 {
    current().team().shape().level as i32
}

/// Implements `omp_get_active_level`.
pub unsafe extern "C-unwind" fn get_active_level() -> i32 {
    current().team().shape().active_level as i32
}

/// Returns the ancestor of `thread` at `level` as (thread number, team's shape).
fn ancestor(thread: &Thread, level: i32) -> Option<(u32, &Shape)> {
    let mut tid = thread.tid();
    let mut shape = thread.team().shape();
    if level < 0 || level as u32 > shape.level {
        return None;
    }
    while shape.level > level as u32 && !shape.parent.is_null() {
        tid = shape.parent_tid;
        // SAFETY: null, or an enclosing team, which lives as long as the region in it runs.
        let parent: &Team = unsafe { &*shape.parent };
        shape = parent.shape();
    }
    Some((tid, shape))
}

/// Implements `omp_get_ancestor_thread_num`.
pub unsafe extern "C-unwind" fn get_ancestor_thread_num(level: i32) -> i32 {
    ancestor(current(), level).map_or(-1, |(tid, _)| tid as i32)
}

/// Implements `omp_get_team_size`.
pub unsafe extern "C-unwind" fn get_team_size(level: i32) -> i32 {
    ancestor(current(), level).map_or(-1, |(_, shape)| shape.size as i32)
}

/// Implements `omp_get_wtime`: returns the seconds since a fixed time.
pub unsafe extern "C-unwind" fn get_wtime() -> f64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a live timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Implements `omp_get_wtick`.
pub unsafe extern "C-unwind" fn get_wtick() -> f64 {
    1e-9
}

/// Implements `omp_get_default_device`.
pub unsafe extern "C-unwind" fn get_default_device() -> i32 {
    current().icvs.get().default_device
}

/// Implements `omp_set_default_device`.
pub unsafe extern "C-unwind" fn set_default_device(device: i32) {
    set_icv(|icvs| icvs.default_device = device);
}

/// Implements `omp_is_initial_device`: returns 1 on the host.
pub unsafe extern "C-unwind" fn is_initial_device() -> i32 {
    1
}

/// Implements `omp_get_num_devices`.
pub unsafe extern "C-unwind" fn get_num_devices() -> i32 {
    hooks::devices()
}

/// Implements `omp_get_initial_device` and `omp_get_device_num`: returns the host's number, which
/// follows the devices'.
pub unsafe extern "C-unwind" fn get_initial_device() -> i32 {
    hooks::devices()
}

/// Result of `omp_get_device_from_uid` if there is no such device.
const INVALID_DEVICE: i32 = -2;
/// Identifier of the host, as in libomp.
const HOST_UID: &CStr = c"HOST";

fn uid(device: i32) -> Option<&'static CStr> {
    match is_host(device) {
        true => Some(HOST_UID),
        false => hooks::device_uid(device),
    }
}

/// Implements `omp_get_uid_from_device`; returns null if there is no such device.
pub unsafe extern "C-unwind" fn device_uid(device: i32) -> *const c_char {
    uid(device).map_or(std::ptr::null(), CStr::as_ptr)
}

/// Implements `omp_get_device_from_uid`.
///
/// # Safety
/// `name` is a string, or null.
pub unsafe extern "C-unwind" fn device_of_uid(name: *const c_char) -> i32 {
    if name.is_null() {
        return INVALID_DEVICE;
    }
    // SAFETY: `name` is null or null-terminated (caller's contract).
    let name = unsafe { CStr::from_ptr(name) };
    let found = (0..=hooks::devices()).find(|&d| uid(d) == Some(name));
    found.unwrap_or(INVALID_DEVICE)
}

/// Implements `omp_get_num_teams`.
pub unsafe extern "C-unwind" fn get_num_teams() -> i32 {
    current().team().shape().league.0 as i32
}

/// Implements `omp_get_team_num`.
pub unsafe extern "C-unwind" fn get_team_num() -> i32 {
    current().team().shape().league.1 as i32
}

/// Implements `omp_set_num_teams`.
pub unsafe extern "C-unwind" fn set_num_teams(teams: i32) {
    if teams > 0 {
        RUNTIME.icv.num_teams.store(teams, Ordering::Relaxed);
    }
}

/// Implements `omp_get_max_teams`.
pub unsafe extern "C-unwind" fn get_max_teams() -> i32 {
    let set = RUNTIME.icv.num_teams.load(Ordering::Relaxed);
    if set > 0 {
        set
    } else {
        settings().num_teams as i32
    }
}

/// Implements `omp_set_teams_thread_limit`.
pub unsafe extern "C-unwind" fn set_teams_thread_limit(limit: i32) {
    if limit > 0 {
        set_icv(|icvs| icvs.teams_thread_limit = limit.min(u16::MAX.into()) as u16);
    }
}

/// Implements `omp_get_teams_thread_limit`.
pub unsafe extern "C-unwind" fn get_teams_thread_limit() -> i32 {
    current().icvs.get().teams_thread_limit as i32
}

/// Implements `omp_get_cancellation`.
pub unsafe extern "C-unwind" fn get_cancellation() -> i32 {
    i32::from(settings().cancellation)
}

/// Implements `omp_get_max_task_priority`.
pub unsafe extern "C-unwind" fn get_max_task_priority() -> i32 {
    settings().max_task_priority
}

/// Implements `omp_get_proc_bind`.
pub unsafe extern "C-unwind" fn get_proc_bind() -> i32 {
    i32::from(current().icvs.get().placement & !DISPLAY)
}

/// Implements `omp_display_env`.
pub unsafe extern "C-unwind" fn display_env(verbose: i32) {
    ompvm_support::eprint!("{}", env::display::listing(settings(), verbose != 0));
}

/// Implements `omp_pause_resource`; succeeds at once, since workers hold nothing that can be freed.
pub unsafe extern "C-unwind" fn pause_resource(kind: i32, _device: i32) -> i32 {
    i32::from(!PAUSES.contains(&kind))
}

/// Implements `omp_pause_resource_all`, which may also end the tool.
pub unsafe extern "C-unwind" fn pause_resource_all(kind: i32) -> i32 {
    if kind == STOP_TOOL {
        ompt::finish();
        return 0;
    }
    i32::from(!PAUSES.contains(&kind))
}

/// `omp_pause_resume` to `omp_pause_hard`.
const PAUSES: std::ops::RangeInclusive<i32> = 0..=2;
/// `omp_pause_stop_tool`.
const STOP_TOOL: i32 = 3;

/// Implements `omp_control_tool` without a tool.
pub unsafe extern "C-unwind" fn control_tool(_command: i32, _modifier: i32, _: *mut c_void) -> i32 {
    -2
}

/// Implements `kmp_get_blocktime`: returns milliseconds.
pub unsafe extern "C-unwind" fn get_blocktime() -> i32 {
    match icv::spin_micros() {
        u32::MAX => i32::MAX,
        micros => (micros / 1000) as i32,
    }
}

/// Implements `kmp_set_blocktime`: takes milliseconds.
pub unsafe extern "C-unwind" fn set_blocktime(ms: i32) {
    icv::set_blocktime_ms(ms);
}

/// Implements `kmp_get_stacksize`.
pub unsafe extern "C-unwind" fn get_stacksize() -> i32 {
    settings().stack_size.min(i32::MAX as usize) as i32
}

/// Implements `kmp_get_stacksize_s`.
pub unsafe extern "C-unwind" fn get_stacksize_s() -> usize {
    settings().stack_size
}

/// Implements `kmp_set_stacksize` and other settings that would come too late to have an effect.
pub unsafe extern "C-unwind" fn ignore_i32(_value: i32) {}

/// Implements `kmp_set_stacksize_s`.
pub unsafe extern "C-unwind" fn ignore_usize(_value: usize) {}

/// Implements `kmp_set_warnings_on` and other routines without arguments; does nothing.
pub unsafe extern "C-unwind" fn ignore() {}

/// Implements `kmp_set_defaults`: takes `OMP_TARGET_OFFLOAD=value`. Other variables would come too
/// late to have an effect.
pub unsafe extern "C-unwind" fn set_defaults(text: *const std::ffi::c_char) {
    if text.is_null() {
        return;
    }
    // SAFETY: `text` is null or null-terminated (caller's contract).
    let text = unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy();
    if let Some(value) = text.strip_prefix("OMP_TARGET_OFFLOAD=") {
        let kind = env::target_offload(value).unwrap_or(icv::TargetOffload::Default);
        RUNTIME
            .icv
            .target_offload
            .store(kind as i32, Ordering::Relaxed);
    }
}

/// Implements `kmp_get_library`.
pub unsafe extern "C-unwind" fn get_library() -> i32 {
    settings().library as i32
}

/// Implements `kmp_get_num_known_threads`.
pub unsafe extern "C-unwind" fn get_num_known_threads() -> i32 {
    known_threads()
}

/// Implements `__kmpc_get_target_offload`.
pub unsafe extern "C-unwind" fn get_target_offload() -> i32 {
    match RUNTIME.icv.target_offload.load(Ordering::Relaxed) {
        -1 => settings().target_offload as i32,
        set => set,
    }
}
