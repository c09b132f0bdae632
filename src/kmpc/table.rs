//! Table of all entries of the OpenMP runtime's ABI.
//!
//! A row has the ABI's name, the kinds of the arguments and of the result, the implementation, and
//! the section of the OpenMP 5.2 specification (or "libomp" for libomp's own entries). Its
//! expansions are the array [`ENTRIES`], with which the virtual machine resolves guest symbols, and
//! the exports of the shared library in `libomp/`. The compiler checks that each implementation has
//! the signature of its row.
//!
//! Rows under `variadic` are variadic in the ABI: the virtual machine passes an array of the
//! variable arguments to the first implementation, native code calls the second. Rows under
//! `unsupported` name the missing construct. A program that uses one is refused when it is loaded,
//! and ends with that message when it calls one through the shared library.
//!
//! To add an entry, add a row and its implementation; nothing else is needed.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::OnceLock;

use crate::*;

/// Kind of an argument or a result, as far as a calling convention distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// No result.
    Void,
    /// 8-bit integer, signed or not.
    I8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// `float _Complex`, in one SSE register.
    C32,
    /// `double _Complex`, in two SSE registers.
    C64,
    /// `long double`, on the stack or the x87 stack.
    F80,
    /// `long double _Complex`, on the stack or the x87 stack.
    C80,
    /// A pointer (to data or code).
    Ptr,
}

/// Support of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The entry is implemented.
    Supported,
    /// The entry is not implemented.
    Unsupported {
        /// The missing construct.
        reason: &'static str,
    },
}

/// Address of an implementation.
#[derive(Clone, Copy, Debug)]
pub struct Address(pub *const c_void);

// SAFETY: the address of a function, which all threads may use.
unsafe impl Sync for Address {}
// SAFETY: the address of a function, which all threads may use.
unsafe impl Send for Address {}

/// One entry of the runtime.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name in the ABI.
    pub name: &'static str,
    /// Kinds of the arguments; empty for unsupported entries.
    pub args: &'static [ArgKind],
    /// Kind of the result.
    pub ret: ArgKind,
    /// Address of the `extern "C-unwind"` implementation; null for unsupported entries.
    pub address: Address,
    /// True if the ABI's entry takes variable arguments in place of the last argument here, their
    /// array.
    pub variadic: bool,
    /// Section of the OpenMP 5.2 specification.
    pub spec: &'static str,
    /// Support of the entry.
    pub status: Status,
}

/// Passes all rows to the macro `$callback`: `supported { .. } variadic { .. } unsupported { .. }`.
#[macro_export]
macro_rules! for_each_runtime_entry {
    ($callback:ident) => {
        $callback! {
            supported {
                // Fork and join.
                "__kmpc_fork_call_if" (ident, i32, cptr, i32, ptr) = fork::parallel_if, "10.1";
                "__kmpc_serialized_parallel" (ident, i32) = fork::begin_serialized, "10.1";
                "__kmpc_end_serialized_parallel" (ident, i32) = fork::end_serialized, "10.1";
                "__kmpc_push_num_threads" (ident, i32, i32) = fork::push_num_threads, "10.1.2";
                "__kmpc_push_num_threads_strict" (ident, i32, i32, i32, cstr) = fork::push_num_threads_strict, "10.1.2";
                "__kmpc_push_num_threads_list" (ident, i32, u32, pi32c) = fork::push_num_threads_list, "10.1.2";
                "__kmpc_push_num_threads_list_strict" (ident, i32, u32, pi32c, i32, cstr) = fork::push_num_threads_list_strict, "10.1.2";
                "__kmpc_pop_num_threads" (ident, i32) = fork::pop_num_threads, "10.1.2";
                "__kmpc_push_proc_bind" (ident, i32, i32) = fork::push_proc_bind, "10.1.3";
                "__kmpc_global_thread_num" (ident) -> i32 = queries::global_thread_num, "10.1";
                "__kmpc_global_num_threads" (ident) -> i32 = queries::global_num_threads, "10.1";
                "__kmpc_bound_thread_num" (ident) -> i32 = queries::bound_thread_num, "10.1";
                "__kmpc_bound_num_threads" (ident) -> i32 = queries::bound_num_threads, "10.1";
                "__kmpc_in_parallel" (ident) -> i32 = queries::in_parallel, "10.1";
                "__kmpc_ok_to_fork" (ident) -> i32 = queries::ok_to_fork, "10.1";
                "__kmpc_begin" (ident, i32) = program::begin, "10.1";
                "__kmpc_end" (ident) = program::end, "10.1";
                // Teams on the host.
                "__kmpc_push_num_teams" (ident, i32, i32, i32) = teams::push_num_teams, "10.2.1";
                "__kmpc_push_num_teams_51" (ident, i32, i32, i32, i32) = teams::push_num_teams_bounds, "10.2.1";
                "__kmpc_set_thread_limit" (ident, i32, i32) = teams::set_thread_limit, "13.3";
                // Static worksharing and distribute.
                "__kmpc_for_static_init_4" (ident, i32, i32, pi32, pi32, pi32, pi32, i32, i32) = static_loop::init_i32, "11.5.3";
                "__kmpc_for_static_init_4u" (ident, i32, i32, pi32, pu32, pu32, pi32, i32, i32) = static_loop::init_u32, "11.5.3";
                "__kmpc_for_static_init_8" (ident, i32, i32, pi32, pi64, pi64, pi64, i64, i64) = static_loop::init_i64, "11.5.3";
                "__kmpc_for_static_init_8u" (ident, i32, i32, pi32, pu64, pu64, pi64, i64, i64) = static_loop::init_u64, "11.5.3";
                "__kmpc_dist_for_static_init_4" (ident, i32, i32, pi32, pi32, pi32, pi32, pi32, i32, i32) = static_loop::init_dist_i32, "11.6";
                "__kmpc_dist_for_static_init_4u" (ident, i32, i32, pi32, pu32, pu32, pu32, pi32, i32, i32) = static_loop::init_dist_u32, "11.6";
                "__kmpc_dist_for_static_init_8" (ident, i32, i32, pi32, pi64, pi64, pi64, pi64, i64, i64) = static_loop::init_dist_i64, "11.6";
                "__kmpc_dist_for_static_init_8u" (ident, i32, i32, pi32, pu64, pu64, pu64, pi64, i64, i64) = static_loop::init_dist_u64, "11.6";
                "__kmpc_team_static_init_4" (ident, i32, pi32, pi32, pi32, pi32, i32, i32) = static_loop::init_team_i32, "11.6";
                "__kmpc_team_static_init_4u" (ident, i32, pi32, pu32, pu32, pi32, i32, i32) = static_loop::init_team_u32, "11.6";
                "__kmpc_team_static_init_8" (ident, i32, pi32, pi64, pi64, pi64, i64, i64) = static_loop::init_team_i64, "11.6";
                "__kmpc_team_static_init_8u" (ident, i32, pi32, pu64, pu64, pi64, i64, i64) = static_loop::init_team_u64, "11.6";
                "__kmpc_for_static_fini" (ident, i32) = static_loop::fini, "11.5.3";
                // Dispatched loops, ordered, sections.
                "__kmpc_dispatch_init_4" (ident, i32, i32, i32, i32, i32, i32) = dispatch::init_i32, "11.5.3";
                "__kmpc_dist_dispatch_init_4" (ident, i32, i32, pi32, i32, i32, i32, i32) = dispatch::init_dist_i32, "11.6";
                "__kmpc_dispatch_next_4" (ident, i32, pi32, pi32, pi32, pi32) -> i32 = dispatch::next_i32, "11.5.3";
                "__kmpc_dispatch_fini_4" (ident, i32) = dispatch::fini, "15.10";
                "__kmpc_dispatch_init_4u" (ident, i32, i32, u32, u32, i32, i32) = dispatch::init_u32, "11.5.3";
                "__kmpc_dist_dispatch_init_4u" (ident, i32, i32, pi32, u32, u32, i32, i32) = dispatch::init_dist_u32, "11.6";
                "__kmpc_dispatch_next_4u" (ident, i32, pi32, pu32, pu32, pi32) -> i32 = dispatch::next_u32, "11.5.3";
                "__kmpc_dispatch_fini_4u" (ident, i32) = dispatch::fini, "15.10";
                "__kmpc_dispatch_init_8" (ident, i32, i32, i64, i64, i64, i64) = dispatch::init_i64, "11.5.3";
                "__kmpc_dist_dispatch_init_8" (ident, i32, i32, pi32, i64, i64, i64, i64) = dispatch::init_dist_i64, "11.6";
                "__kmpc_dispatch_next_8" (ident, i32, pi32, pi64, pi64, pi64) -> i32 = dispatch::next_i64, "11.5.3";
                "__kmpc_dispatch_fini_8" (ident, i32) = dispatch::fini, "15.10";
                "__kmpc_dispatch_init_8u" (ident, i32, i32, u64, u64, i64, i64) = dispatch::init_u64, "11.5.3";
                "__kmpc_dist_dispatch_init_8u" (ident, i32, i32, pi32, u64, u64, i64, i64) = dispatch::init_dist_u64, "11.6";
                "__kmpc_dispatch_next_8u" (ident, i32, pi32, pu64, pu64, pi64) -> i32 = dispatch::next_u64, "11.5.3";
                "__kmpc_dispatch_fini_8u" (ident, i32) = dispatch::fini, "15.10";
                "__kmpc_dispatch_deinit" (ident, i32) = dispatch::deinit, "11.5.3";
                "__kmpc_ordered" (ident, i32) = dispatch::ordered_begin, "15.10.2";
                "__kmpc_end_ordered" (ident, i32) = dispatch::ordered_end, "15.10.2";
                "__kmpc_doacross_init" (ident, i32, i32, pdims) = doacross::init, "15.9.6";
                "__kmpc_doacross_wait" (ident, i32, pi64c) = doacross::wait, "15.9.6";
                "__kmpc_doacross_post" (ident, i32, pi64c) = doacross::post, "15.9.6";
                "__kmpc_doacross_fini" (ident, i32) = doacross::fini, "15.9.6";
                "__kmpc_process_loop_nest_rectang" (ident, i32, pbounds, i32) -> u64 = collapse::process_rectangular, "4.4.3";
                "__kmpc_calc_original_ivs_rectang" (ident, u64, pboundsc, pu64, i32) = collapse::rectangular_variables, "4.4.3";
                "__kmpc_for_collapsed_init" (ident, i32, pbounds, pbounds, i32, pi32) -> i32 = collapse::init, "4.4.2";
                "__kmpc_sections_init" (ident, i32) = dispatch::sections_init, "11.3";
                "__kmpc_next_section" (ident, i32, i32) -> i32 = dispatch::next_section, "11.3";
                "__kmpc_end_sections" (ident, i32) = dispatch::sections_end, "11.3";
                // Barriers, flush, master, single, critical.
                "__kmpc_barrier" (ident, i32) = barrier::wait, "15.3.1";
                "__kmpc_cancel_barrier" (ident, i32) -> i32 = cancel::barrier, "16";
                "__kmpc_cancel" (ident, i32, i32) -> i32 = cancel::request, "16.1";
                "__kmpc_cancellationpoint" (ident, i32, i32) -> i32 = cancel::point, "16.2";
                "kmp_get_cancellation_status" (i32) -> i32 = cancel::status, "libomp";
                "kmp_get_cancellation_status_" (pi32c) -> i32 = cancel::status_of, "libomp";
                "__kmpc_barrier_master" (ident, i32) -> i32 = barrier::barrier_master, "15.3.1";
                "__kmpc_end_barrier_master" (ident, i32) = barrier::end_barrier_master, "15.3.1";
                "__kmpc_barrier_master_nowait" (ident, i32) -> i32 = barrier::barrier_master_nowait, "15.3.1";
                "__kmpc_flush" (ident) = barrier::flush, "15.8.5";
                "__kmpc_master" (ident, i32) -> i32 = barrier::master, "10.5";
                "__kmpc_end_master" (ident, i32) = barrier::end_master, "10.5";
                "__kmpc_masked" (ident, i32, i32) -> i32 = barrier::masked, "10.5";
                "__kmpc_end_masked" (ident, i32) = barrier::end_masked, "10.5";
                "__kmpc_single" (ident, i32) -> i32 = barrier::single, "11.1";
                "__kmpc_end_single" (ident, i32) = barrier::end_single, "11.1";
                "__kmpc_copyprivate" (ident, i32, usize, ptr, fn2, i32) = barrier::copyprivate, "5.7.2";
                "__kmpc_copyprivate_light" (ident, i32, ptr) -> ptr = barrier::copyprivate_light, "5.7.2";
                "__kmpc_scope" (ident, i32, ptr) = barrier::scope, "11.2";
                "__kmpc_end_scope" (ident, i32, ptr) = barrier::scope, "11.2";
                "__kmpc_critical" (ident, i32, ptr) = lock::critical, "15.2";
                "__kmpc_critical_with_hint" (ident, i32, ptr, u32) = lock::critical_with_hint, "15.2";
                "__kmpc_end_critical" (ident, i32, ptr) = lock::end_critical, "15.2";
                "__kmpc_error" (ident, i32, cstr) = program::error, "8.5";
                // Explicit tasks.
                "__kmpc_omp_task_alloc" (ident, i32, i32, usize, usize, routine) -> payload = task::create::alloc, "12.5";
                "__kmpc_omp_task" (ident, i32, payload) -> i32 = task::create::submit, "12.5";
                "__kmpc_omp_task_parts" (ident, i32, payload) -> i32 = task::create::submit, "12.5";
                "__kmpc_omp_task_begin_if0" (ident, i32, payload) = task::create::begin_undeferred, "12.5";
                "__kmpc_omp_task_complete_if0" (ident, i32, payload) = task::create::end_undeferred, "12.5";
                "__kmpc_omp_taskwait" (ident, i32) -> i32 = task::wait::taskwait, "15.5";
                "__kmpc_omp_taskyield" (ident, i32, i32) -> i32 = task::wait::taskyield, "12.7";
                "__kmpc_taskgroup" (ident, i32) = task::wait::begin_group, "15.4";
                "__kmpc_end_taskgroup" (ident, i32) = task::wait::end_group, "15.4";
                "__kmpc_omp_target_task_alloc" (ident, i32, i32, usize, usize, routine, i64) -> payload = task::create::alloc_target, "13.8";
                "__kmpc_omp_task_with_deps" (ident, i32, payload, i32, items, i32, items) -> i32 = task::depend::submit, "15.9.5";
                "__kmpc_omp_wait_deps" (ident, i32, i32, items, i32, items) = task::depend::wait_for, "15.9.5";
                "__kmpc_omp_taskwait_deps_51" (ident, i32, i32, items, i32, items, i32) = task::depend::taskwait, "15.5";
                "__kmpc_omp_reg_task_with_affinity" (ident, i32, payload, i32, cptr) -> i32 = task::depend::affinity, "12.5.1";
                "__kmpc_taskloop" (ident, i32, payload, i32, pu64, pu64, i64, i32, i32, u64, copy) = task::taskloop::run, "12.6";
                "__kmpc_taskloop_5" (ident, i32, payload, i32, pu64, pu64, i64, i32, i32, u64, i32, copy) = task::taskloop::run_strict, "12.6";
                "__kmpc_taskred_init" (i32, i32, reduced) -> ptr = task::reduction::begin, "5.5.9";
                "__kmpc_task_reduction_init" (i32, i32, reducedold) -> ptr = task::reduction::begin_old, "5.5.9";
                "__kmpc_taskred_modifier_init" (ident, i32, i32, i32, reduced) -> ptr = task::reduction::begin_modifier, "5.5.8";
                "__kmpc_task_reduction_modifier_init" (ident, i32, i32, i32, reducedold) -> ptr = task::reduction::begin_modifier_old, "5.5.8";
                "__kmpc_task_reduction_modifier_fini" (ident, i32, i32) = task::reduction::end_modifier, "5.5.8";
                "__kmpc_task_reduction_get_th_data" (i32, ptr, ptr) -> ptr = task::reduction::private_copy, "5.5.10";
                "__kmpc_task_allow_completion_event" (ident, i32, payload) -> usize = task::event::of_task, "12.5.2";
                "__kmpc_proxy_task_completed" (i32, payload) = task::event::proxy_completed, "libomp";
                "__kmpc_proxy_task_completed_ooo" (payload) = task::event::proxy_completed_anywhere, "libomp";
                "omp_get_num_interop_properties" (cptr) -> i32 = interop::own_properties, "18.12.1";
                "omp_get_interop_int" (cptr, i32, ptr) -> i64 = interop::integer, "18.12.2";
                "omp_get_interop_ptr" (cptr, i32, ptr) -> ptr = interop::pointer, "18.12.3";
                "omp_get_interop_str" (cptr, i32, ptr) -> cptr = interop::text, "18.12.4";
                "omp_get_interop_name" (cptr, i32) -> cptr = interop::name, "18.12.5";
                "omp_get_interop_type_desc" (cptr, i32) -> cptr = interop::type_name, "18.12.6";
                "omp_get_interop_rc_desc" (cptr, i32) -> cptr = interop::code_name, "18.12.7";
                "omp_fulfill_event" (usize) = task::event::fulfill, "18.11.1";
                "omp_fulfill_event_" (usize) = task::event::fulfill, "18.11.1";
                "__kmpc_get_taskid" () -> u64 = task::create::number, "libomp";
                "__kmpc_get_parent_taskid" () -> u64 = task::create::parent_number, "libomp";
                // Reductions.
                "__kmpc_reduce" (ident, i32, i32, usize, ptr, fn2, ptr) -> i32 = reduce::begin, "5.5";
                "__kmpc_end_reduce" (ident, i32, ptr) = reduce::end, "5.5";
                "__kmpc_reduce_nowait" (ident, i32, i32, usize, ptr, fn2, ptr) -> i32 = reduce::begin_nowait, "5.5";
                "__kmpc_end_reduce_nowait" (ident, i32, ptr) = reduce::end_nowait, "5.5";
                // Threadprivate.
                "__kmpc_threadprivate_register" (ident, ptr, fn1p, fn2p, fn1) = threadprivate::register, "5.2";
                "__kmpc_threadprivate_cached" (ident, i32, ptr, usize, ptr) -> ptr = threadprivate::address_cached, "5.2";
                "__kmpc_threadprivate" (ident, i32, ptr, usize) -> ptr = threadprivate::address, "5.2";
                // Locks.
                "__kmpc_init_lock" (ident, i32, ptr) = lock::init_at, "18.9";
                "omp_init_lock" (ptr) = lock::init, "18.9";
                "omp_init_lock_" (ptr) = lock::init, "18.9";
                "__kmpc_init_nest_lock" (ident, i32, ptr) = lock::nest_init_at, "18.9";
                "omp_init_nest_lock" (ptr) = lock::nest_init, "18.9";
                "omp_init_nest_lock_" (ptr) = lock::nest_init, "18.9";
                "__kmpc_init_lock_with_hint" (ident, i32, ptr, u32) = lock::init_hint_at, "18.9";
                "omp_init_lock_with_hint" (ptr, u32) = lock::init_hint, "18.9";
                "omp_init_lock_with_hint_" (ptr, pi32c) = fortran::init_lock_hint, "18.9";
                "__kmpc_init_nest_lock_with_hint" (ident, i32, ptr, u32) = lock::nest_init_hint_at, "18.9";
                "omp_init_nest_lock_with_hint" (ptr, u32) = lock::nest_init_hint, "18.9";
                "omp_init_nest_lock_with_hint_" (ptr, pi32c) = fortran::init_lock_hint, "18.9";
                "__kmpc_destroy_lock" (ident, i32, ptr) = lock::destroy_at, "18.9";
                "omp_destroy_lock" (ptr) = lock::destroy, "18.9";
                "omp_destroy_lock_" (ptr) = lock::destroy, "18.9";
                "__kmpc_destroy_nest_lock" (ident, i32, ptr) = lock::nest_destroy_at, "18.9";
                "omp_destroy_nest_lock" (ptr) = lock::nest_destroy, "18.9";
                "omp_destroy_nest_lock_" (ptr) = lock::nest_destroy, "18.9";
                "__kmpc_set_lock" (ident, i32, ptr) = lock::set_at, "18.9";
                "omp_set_lock" (ptr) = lock::set, "18.9";
                "omp_set_lock_" (ptr) = lock::set, "18.9";
                "__kmpc_set_nest_lock" (ident, i32, ptr) = lock::nest_set_at, "18.9";
                "omp_set_nest_lock" (ptr) = lock::nest_set, "18.9";
                "omp_set_nest_lock_" (ptr) = lock::nest_set, "18.9";
                "__kmpc_unset_lock" (ident, i32, ptr) = lock::unset_at, "18.9";
                "omp_unset_lock" (ptr) = lock::unset, "18.9";
                "omp_unset_lock_" (ptr) = lock::unset, "18.9";
                "__kmpc_unset_nest_lock" (ident, i32, ptr) = lock::nest_unset_at, "18.9";
                "omp_unset_nest_lock" (ptr) = lock::nest_unset, "18.9";
                "omp_unset_nest_lock_" (ptr) = lock::nest_unset, "18.9";
                "__kmpc_test_lock" (ident, i32, ptr) -> i32 = lock::test_at, "18.9";
                "omp_test_lock" (ptr) -> i32 = lock::test, "18.9";
                "omp_test_lock_" (ptr) -> i32 = lock::test, "18.9";
                "__kmpc_test_nest_lock" (ident, i32, ptr) -> i32 = lock::nest_test_at, "18.9";
                "omp_test_nest_lock" (ptr) -> i32 = lock::nest_test, "18.9";
                "omp_test_nest_lock_" (ptr) -> i32 = lock::nest_test, "18.9";
                // Routines.
                "omp_get_num_threads" () -> i32 = routines::get_num_threads, "18.2.2";
                "omp_get_num_threads_" () -> i32 = routines::get_num_threads, "18.2.2";
                "omp_get_thread_num" () -> i32 = routines::get_thread_num, "18.2.4";
                "omp_get_thread_num_" () -> i32 = routines::get_thread_num, "18.2.4";
                "omp_get_max_threads" () -> i32 = routines::get_max_threads, "18.2.3";
                "omp_get_max_threads_" () -> i32 = routines::get_max_threads, "18.2.3";
                "omp_get_num_procs" () -> i32 = routines::get_num_procs, "18.7.1";
                "omp_get_num_procs_" () -> i32 = routines::get_num_procs, "18.7.1";
                "omp_in_parallel" () -> i32 = routines::in_parallel, "18.2.5";
                "omp_in_parallel_" () -> i32 = routines::in_parallel, "18.2.5";
                "omp_get_dynamic" () -> i32 = routines::get_dynamic, "18.2.7";
                "omp_get_dynamic_" () -> i32 = routines::get_dynamic, "18.2.7";
                "omp_get_nested" () -> i32 = routines::get_nested, "18.2.10";
                "omp_get_nested_" () -> i32 = routines::get_nested, "18.2.10";
                "omp_get_max_active_levels" () -> i32 = routines::get_max_active_levels, "18.2.16";
                "omp_get_max_active_levels_" () -> i32 = routines::get_max_active_levels, "18.2.16";
                "omp_get_supported_active_levels" () -> i32 = routines::get_supported_active_levels, "18.2.14";
                "omp_get_supported_active_levels_" () -> i32 = routines::get_supported_active_levels, "18.2.14";
                "omp_get_thread_limit" () -> i32 = routines::get_thread_limit, "18.2.13";
                "omp_get_thread_limit_" () -> i32 = routines::get_thread_limit, "18.2.13";
                "omp_get_level" () -> i32 = routines::get_level, "18.2.17";
                "omp_get_level_" () -> i32 = routines::get_level, "18.2.17";
                "omp_get_active_level" () -> i32 = routines::get_active_level, "18.2.20";
                "omp_get_active_level_" () -> i32 = routines::get_active_level, "18.2.20";
                "omp_get_default_device" () -> i32 = routines::get_default_device, "18.7.3";
                "omp_get_default_device_" () -> i32 = routines::get_default_device, "18.7.3";
                "omp_is_initial_device" () -> i32 = routines::is_initial_device, "18.7.6";
                "omp_is_initial_device_" () -> i32 = routines::is_initial_device, "18.7.6";
                "omp_get_num_devices" () -> i32 = routines::get_num_devices, "18.7.4";
                "omp_get_num_devices_" () -> i32 = routines::get_num_devices, "18.7.4";
                "omp_get_initial_device" () -> i32 = routines::get_initial_device, "18.7.7";
                "omp_get_initial_device_" () -> i32 = routines::get_initial_device, "18.7.7";
                "omp_get_num_teams" () -> i32 = routines::get_num_teams, "18.4.1";
                "omp_get_num_teams_" () -> i32 = routines::get_num_teams, "18.4.1";
                "omp_get_team_num" () -> i32 = routines::get_team_num, "18.4.2";
                "omp_get_team_num_" () -> i32 = routines::get_team_num, "18.4.2";
                "omp_get_max_teams" () -> i32 = routines::get_max_teams, "18.4.4";
                "omp_get_max_teams_" () -> i32 = routines::get_max_teams, "18.4.4";
                "omp_get_teams_thread_limit" () -> i32 = routines::get_teams_thread_limit, "18.4.6";
                "omp_get_teams_thread_limit_" () -> i32 = routines::get_teams_thread_limit, "18.4.6";
                "omp_get_cancellation" () -> i32 = routines::get_cancellation, "18.2.8";
                "omp_get_cancellation_" () -> i32 = routines::get_cancellation, "18.2.8";
                "omp_get_max_task_priority" () -> i32 = routines::get_max_task_priority, "18.5.1";
                "omp_get_max_task_priority_" () -> i32 = routines::get_max_task_priority, "18.5.1";
                "omp_get_proc_bind" () -> i32 = routines::get_proc_bind, "18.3.1";
                "omp_get_proc_bind_" () -> i32 = routines::get_proc_bind, "18.3.1";
                "omp_get_num_places" () -> i32 = affinity::routines::get_num_places, "18.3.2";
                "omp_get_num_places_" () -> i32 = affinity::routines::get_num_places, "18.3.2";
                "omp_get_place_num" () -> i32 = affinity::routines::get_place_num, "18.3.5";
                "omp_get_place_num_" () -> i32 = affinity::routines::get_place_num, "18.3.5";
                "omp_get_partition_num_places" () -> i32 = affinity::routines::get_partition_num_places, "18.3.6";
                "omp_get_partition_num_places_" () -> i32 = affinity::routines::get_partition_num_places, "18.3.6";
                "omp_get_device_num" () -> i32 = routines::get_initial_device, "18.7.5";
                "omp_get_device_num_" () -> i32 = routines::get_initial_device, "18.7.5";
                "omp_in_final" () -> i32 = task::create::in_final, "18.5.3";
                "omp_in_final_" () -> i32 = task::create::in_final, "18.5.3";
                "omp_in_explicit_task" () -> i32 = task::create::in_explicit_task, "18.5.2";
                "omp_in_explicit_task_" () -> i32 = task::create::in_explicit_task, "18.5.2";
                "omp_get_wtime" () -> f64 = routines::get_wtime, "18.10.1";
                "omp_get_wtime_" () -> f64 = routines::get_wtime, "18.10.1";
                "omp_get_wtick" () -> f64 = routines::get_wtick, "18.10.2";
                "omp_get_wtick_" () -> f64 = routines::get_wtick, "18.10.2";
                "omp_set_num_threads" (i32) = routines::set_num_threads, "18.2.1";
                "omp_set_num_threads_" (pi32c) = fortran::set_num_threads, "18.2.1";
                "omp_set_dynamic" (i32) = routines::set_dynamic, "18.2.6";
                "omp_set_dynamic_" (pi32c) = fortran::set_dynamic, "18.2.6";
                "omp_set_nested" (i32) = routines::set_nested, "18.2.9";
                "omp_set_nested_" (pi32c) = fortran::set_nested, "18.2.9";
                "omp_set_max_active_levels" (i32) = routines::set_max_active_levels, "18.2.15";
                "omp_set_max_active_levels_" (pi32c) = fortran::set_max_active_levels, "18.2.15";
                "omp_set_schedule" (i32, i32) = routines::set_schedule, "18.2.11";
                "omp_set_schedule_" (pi32c, pi32c) = fortran::set_schedule, "18.2.11";
                "omp_get_ancestor_thread_num" (i32) -> i32 = routines::get_ancestor_thread_num, "18.2.18";
                "omp_get_ancestor_thread_num_" (pi32c) -> i32 = fortran::get_ancestor_thread_num, "18.2.18";
                "omp_get_team_size" (i32) -> i32 = routines::get_team_size, "18.2.19";
                "omp_get_team_size_" (pi32c) -> i32 = fortran::get_team_size, "18.2.19";
                "omp_set_default_device" (i32) = routines::set_default_device, "18.7.2";
                "omp_set_default_device_" (pi32c) = fortran::set_default_device, "18.7.2";
                "omp_set_num_teams" (i32) = routines::set_num_teams, "18.4.3";
                "omp_set_num_teams_" (pi32c) = fortran::set_num_teams, "18.4.3";
                "omp_set_teams_thread_limit" (i32) = routines::set_teams_thread_limit, "18.4.5";
                "omp_set_teams_thread_limit_" (pi32c) = fortran::set_teams_thread_limit, "18.4.5";
                "omp_get_place_num_procs" (i32) -> i32 = affinity::routines::get_place_num_procs, "18.3.3";
                "omp_get_place_num_procs_" (pi32c) -> i32 = fortran::get_place_num_procs, "18.3.3";
                "omp_display_env" (i32) = routines::display_env, "18.15";
                "omp_display_env_" (pi32c) = fortran::display_env, "18.15";
                "omp_pause_resource" (i32, i32) -> i32 = routines::pause_resource, "18.6.1";
                "omp_pause_resource_" (pi32c, pi32c) -> i32 = fortran::pause_resource, "18.6.1";
                "omp_pause_resource_all" (i32) -> i32 = routines::pause_resource_all, "18.6.2";
                "omp_pause_resource_all_" (pi32c) -> i32 = fortran::pause_resource_all, "18.6.2";
                "omp_get_schedule" (pi32, pi32) = routines::get_schedule, "18.2.12";
                "omp_get_schedule_" (pi32, pi32) = routines::get_schedule, "18.2.12";
                "omp_get_place_proc_ids" (i32, pi32) = affinity::routines::get_place_proc_ids, "18.3.4";
                "omp_get_place_proc_ids_" (pi32c, pi32) = fortran::get_place_proc_ids, "18.3.4";
                "omp_get_partition_place_nums" (pi32) = affinity::routines::get_partition_place_nums, "18.3.7";
                "omp_get_partition_place_nums_" (pi32) = affinity::routines::get_partition_place_nums, "18.3.7";
                "ompc_set_affinity_format" (cstr) = affinity::routines::set_format_c, "18.3.8";
                "omp_set_affinity_format" (cstr, usize) = affinity::routines::set_format, "18.3.8";
                "omp_set_affinity_format_" (cstr, usize) = affinity::routines::set_format, "18.3.8";
                "ompc_get_affinity_format" (cbuf, usize) -> usize = affinity::routines::get_format_c, "18.3.9";
                "omp_get_affinity_format" (cbuf, usize) -> usize = affinity::routines::get_format, "18.3.9";
                "omp_get_affinity_format_" (cbuf, usize) -> usize = affinity::routines::get_format, "18.3.9";
                "ompc_display_affinity" (cstr) = affinity::routines::display_c, "18.3.10";
                "omp_display_affinity" (cstr, usize) = affinity::routines::display, "18.3.10";
                "omp_display_affinity_" (cstr, usize) = affinity::routines::display, "18.3.10";
                "ompc_capture_affinity" (cbuf, usize, cstr) -> usize = affinity::routines::capture_c, "18.3.11";
                "omp_capture_affinity" (cbuf, cstr, usize, usize) -> usize = affinity::routines::capture, "18.3.11";
                "omp_capture_affinity_" (cbuf, cstr, usize, usize) -> usize = affinity::routines::capture, "18.3.11";
                "kmp_create_affinity_mask" (pmask) = affinity::routines::create_mask, "libomp";
                "kmp_create_affinity_mask_" (pmask) = affinity::routines::create_mask, "libomp";
                "kmp_destroy_affinity_mask" (pmask) = affinity::routines::destroy_mask, "libomp";
                "kmp_destroy_affinity_mask_" (pmask) = affinity::routines::destroy_mask, "libomp";
                "kmp_set_affinity" (pmask) -> i32 = affinity::routines::set_affinity, "libomp";
                "kmp_set_affinity_" (pmask) -> i32 = affinity::routines::set_affinity, "libomp";
                "kmp_get_affinity" (pmask) -> i32 = affinity::routines::get_affinity, "libomp";
                "kmp_get_affinity_" (pmask) -> i32 = affinity::routines::get_affinity, "libomp";
                "kmp_set_thread_affinity_mask_initial" () -> i32 = affinity::routines::unbind, "libomp";
                "kmp_get_affinity_max_proc" () -> i32 = affinity::routines::max_proc, "libomp";
                "kmp_get_affinity_max_proc_" () -> i32 = affinity::routines::max_proc, "libomp";
                "kmp_set_affinity_mask_proc" (i32, pmask) -> i32 = affinity::routines::mask_add, "libomp";
                "kmpc_set_affinity_mask_proc" (i32, pmask) -> i32 = affinity::routines::mask_add, "libomp";
                "kmp_set_affinity_mask_proc_" (pi32c, pmask) -> i32 = fortran::mask_add, "libomp";
                "kmp_unset_affinity_mask_proc" (i32, pmask) -> i32 = affinity::routines::mask_remove, "libomp";
                "kmpc_unset_affinity_mask_proc" (i32, pmask) -> i32 = affinity::routines::mask_remove, "libomp";
                "kmp_unset_affinity_mask_proc_" (pi32c, pmask) -> i32 = fortran::mask_remove, "libomp";
                "kmp_get_affinity_mask_proc" (i32, pmask) -> i32 = affinity::routines::mask_has, "libomp";
                "kmpc_get_affinity_mask_proc" (i32, pmask) -> i32 = affinity::routines::mask_has, "libomp";
                "kmp_get_affinity_mask_proc_" (pi32c, pmask) -> i32 = fortran::mask_has, "libomp";
                "omp_control_tool" (i32, i32, ptr) -> i32 = routines::control_tool, "18.14";
                "ompc_set_num_threads" (i32) = routines::set_num_threads, "18.2";
                "ompc_set_dynamic" (i32) = routines::set_dynamic, "18.2";
                "ompc_set_nested" (i32) = routines::set_nested, "18.2";
                "ompc_set_max_active_levels" (i32) = routines::set_max_active_levels, "18.2";
                "ompc_set_schedule" (i32, i32) = routines::set_schedule, "18.2";
                "ompc_get_ancestor_thread_num" (i32) -> i32 = routines::get_ancestor_thread_num, "18.2.18";
                "ompc_get_team_size" (i32) -> i32 = routines::get_team_size, "18.2.19";
                "__kmpc_get_target_offload" () -> i32 = routines::get_target_offload, "21.2.8";
                // Allocators.
                "omp_alloc" (usize, usize) -> ptr = alloc::alloc, "18.13";
                "omp_aligned_alloc" (usize, usize, usize) -> ptr = alloc::aligned_alloc, "18.13";
                "omp_calloc" (usize, usize, usize) -> ptr = alloc::calloc, "18.13";
                "omp_aligned_calloc" (usize, usize, usize, usize) -> ptr = alloc::aligned_calloc, "18.13";
                "omp_realloc" (ptr, usize, usize, usize) -> ptr = alloc::realloc, "18.13";
                "omp_free" (ptr, usize) = alloc::free, "18.13";
                "omp_init_allocator" (usize, i32, ptraits) -> usize = alloc::init, "18.13";
                "omp_destroy_allocator" (usize) = alloc::destroy, "18.13";
                "omp_set_default_allocator" (usize) = alloc::set_default, "18.13";
                "omp_get_default_allocator" () -> usize = alloc::get_default, "18.13";
                "omp_get_default_allocator_" () -> usize = alloc::get_default, "18.13";
                "omp_set_default_allocator_" (usize) = alloc::set_default, "18.13";
                "omp_destroy_allocator_" (usize) = alloc::destroy, "18.13";
                "__kmpc_alloc" (i32, usize, usize) -> ptr = alloc::alloc_at, "18.13";
                "__kmpc_aligned_alloc" (i32, usize, usize, usize) -> ptr = alloc::aligned_alloc_at, "18.13";
                "__kmpc_calloc" (i32, usize, usize, usize) -> ptr = alloc::calloc_at, "18.13";
                "__kmpc_realloc" (i32, ptr, usize, usize, usize) -> ptr = alloc::realloc_at, "18.13";
                "__kmpc_free" (i32, ptr, usize) = alloc::free_at, "18.13";
                "__kmpc_init_allocator" (i32, usize, i32, ptraits) -> usize = alloc::init_at, "18.13";
                "__kmpc_destroy_allocator" (i32, usize) = alloc::destroy_at, "18.13";
                "__kmpc_set_default_allocator" (i32, usize) = alloc::set_default_at, "18.13";
                "__kmpc_get_default_allocator" (i32) -> usize = alloc::get_default_at, "18.13";
                "omp_init_allocator_" (pusizec, pi32c, ptraits) -> usize = fortran::init_allocator, "18.13";
                "omp_get_devices_memspace" (i32, pi32c, usize) -> usize = alloc::spaces::of_devices, "6.0, 27.1";
                "omp_get_devices_memspace_" (pi32c, pi32c, pusizec) -> usize = fortran::space_of_devices, "6.0, 27.1";
                "omp_get_devices_and_host_memspace" (i32, pi32c, usize) -> usize = alloc::spaces::of_devices, "6.0, 27.1";
                "omp_get_devices_and_host_memspace_" (pi32c, pi32c, pusizec) -> usize = fortran::space_of_devices, "6.0, 27.1";
                "omp_get_device_memspace" (i32, usize) -> usize = alloc::spaces::of_device, "6.0, 27.1";
                "omp_get_device_memspace_" (pi32c, pusizec) -> usize = fortran::space_of_device, "6.0, 27.1";
                "omp_get_device_and_host_memspace" (i32, usize) -> usize = alloc::spaces::of_device, "6.0, 27.1";
                "omp_get_device_and_host_memspace_" (pi32c, pusizec) -> usize = fortran::space_of_device, "6.0, 27.1";
                "omp_get_devices_all_memspace" (usize) -> usize = alloc::spaces::of_all, "6.0, 27.1";
                "omp_get_devices_all_memspace_" (pusizec) -> usize = fortran::space_of_all, "6.0, 27.1";
                "omp_get_devices_allocator" (i32, pi32c, usize) -> usize = alloc::spaces::allocator_of_devices, "6.0, 27.2";
                "omp_get_devices_allocator_" (pi32c, pi32c, pusizec) -> usize = fortran::allocator_of_devices, "6.0, 27.2";
                "omp_get_devices_and_host_allocator" (i32, pi32c, usize) -> usize = alloc::spaces::allocator_of_devices, "6.0, 27.2";
                "omp_get_devices_and_host_allocator_" (pi32c, pi32c, pusizec) -> usize = fortran::allocator_of_devices, "6.0, 27.2";
                "omp_get_device_allocator" (i32, usize) -> usize = alloc::spaces::allocator_of_device, "6.0, 27.2";
                "omp_get_device_allocator_" (pi32c, pusizec) -> usize = fortran::allocator_of_device, "6.0, 27.2";
                "omp_get_device_and_host_allocator" (i32, usize) -> usize = alloc::spaces::allocator_of_device, "6.0, 27.2";
                "omp_get_device_and_host_allocator_" (pi32c, pusizec) -> usize = fortran::allocator_of_device, "6.0, 27.2";
                "omp_get_devices_all_allocator" (usize) -> usize = alloc::spaces::allocator_of_all, "6.0, 27.2";
                "omp_get_devices_all_allocator_" (pusizec) -> usize = fortran::allocator_of_all, "6.0, 27.2";
                "omp_get_memspace_num_resources" (usize) -> i32 = alloc::spaces::resources, "6.0, 27.1";
                "omp_get_memspace_num_resources_" (pusizec) -> i32 = fortran::space_resources, "6.0, 27.1";
                "omp_get_submemspace" (usize, i32, pi32c) -> usize = alloc::spaces::part, "6.0, 27.1";
                "omp_get_submemspace_" (pusizec, pi32c, pi32c) -> usize = fortran::space_part, "6.0, 27.1";
                "omp_get_uid_from_device" (i32) -> cstr = routines::device_uid, "6.0, 24.8";
                "omp_get_device_from_uid" (cstr) -> i32 = routines::device_of_uid, "6.0, 24.7";
                "omp_get_uid_from_device_" (i32) -> cstr = routines::device_uid, "6.0, 24.8";
                "omp_get_device_from_uid_" (cstr) -> i32 = routines::device_of_uid, "6.0, 24.7";
                "kmp_malloc_" (pusizec) -> ptr = fortran::kmp_malloc, "libomp";
                "kmp_aligned_malloc_" (pusizec, pusizec) -> ptr = fortran::kmp_aligned_malloc, "libomp";
                "kmp_calloc_" (pusizec, pusizec) -> ptr = fortran::kmp_calloc, "libomp";
                "kmp_realloc_" (pptr, pusizec) -> ptr = fortran::kmp_realloc, "libomp";
                "kmp_free_" (pptr) = fortran::kmp_free, "libomp";
                "kmp_get_library_" () -> i32 = routines::get_library, "libomp";
                "kmp_get_num_known_threads_" () -> i32 = routines::get_num_known_threads, "libomp";
                "kmp_get_stacksize_" () -> i32 = routines::get_stacksize, "libomp";
                "kmp_get_stacksize_s_" () -> usize = routines::get_stacksize_s, "libomp";
                "kmp_set_defaults_" (cstr, usize) = fortran::ignore_str, "libomp";
                "kmp_set_disp_num_buffers_" (pi32c) = fortran::ignore_i32, "libomp";
                "kmp_set_library_" (pi32c) = fortran::ignore_i32, "libomp";
                "kmp_set_library_serial_" () = routines::ignore, "libomp";
                "kmp_set_library_throughput_" () = routines::ignore, "libomp";
                "kmp_set_library_turnaround_" () = routines::ignore, "libomp";
                "kmp_set_stacksize_" (pi32c) = fortran::ignore_i32, "libomp";
                "kmp_set_stacksize_s_" (pusizec) = fortran::ignore_usize, "libomp";
                "kmp_set_warnings_off_" () = routines::ignore, "libomp";
                "kmp_set_warnings_on_" () = routines::ignore, "libomp";
                "kmp_malloc" (usize) -> ptr = alloc::plain_malloc, "libomp";
                "kmp_aligned_malloc" (usize, usize) -> ptr = alloc::plain_aligned_malloc, "libomp";
                "kmp_calloc" (usize, usize) -> ptr = alloc::plain_calloc, "libomp";
                "kmp_realloc" (ptr, usize) -> ptr = alloc::plain_realloc, "libomp";
                "kmp_free" (ptr) = alloc::plain_free, "libomp";
                "kmpc_malloc" (usize) -> ptr = alloc::plain_malloc, "libomp";
                "kmpc_aligned_malloc" (usize, usize) -> ptr = alloc::plain_aligned_malloc, "libomp";
                "kmpc_calloc" (usize, usize) -> ptr = alloc::plain_calloc, "libomp";
                "kmpc_realloc" (ptr, usize) -> ptr = alloc::plain_realloc, "libomp";
                "kmpc_free" (ptr) = alloc::plain_free, "libomp";
                // libomp's own settings.
                "kmp_get_blocktime" () -> i32 = routines::get_blocktime, "libomp";
                "kmp_get_blocktime_" () -> i32 = routines::get_blocktime, "libomp";
                "kmp_set_blocktime" (i32) = routines::set_blocktime, "libomp";
                "kmpc_set_blocktime" (i32) = routines::set_blocktime, "libomp";
                "kmp_set_blocktime_" (pi32c) = fortran::set_blocktime, "libomp";
                "kmp_get_stacksize" () -> i32 = routines::get_stacksize, "libomp";
                "kmp_get_stacksize_s" () -> usize = routines::get_stacksize_s, "libomp";
                "kmp_set_stacksize" (i32) = routines::ignore_i32, "libomp";
                "kmp_set_stacksize_s" (usize) = routines::ignore_usize, "libomp";
                "kmp_set_library" (i32) = routines::ignore_i32, "libomp";
                "kmp_set_disp_num_buffers" (i32) = routines::ignore_i32, "libomp";
                "kmp_set_defaults" (cstr) = routines::set_defaults, "libomp";
                "kmpc_set_stacksize" (i32) = routines::ignore_i32, "libomp";
                "kmpc_set_stacksize_s" (usize) = routines::ignore_usize, "libomp";
                "kmpc_set_library" (i32) = routines::ignore_i32, "libomp";
                "kmpc_set_disp_num_buffers" (i32) = routines::ignore_i32, "libomp";
                "kmpc_set_defaults" (cstr) = routines::set_defaults, "libomp";
                "kmp_set_library_serial" () = routines::ignore, "libomp";
                "kmp_set_library_throughput" () = routines::ignore, "libomp";
                "kmp_set_library_turnaround" () = routines::ignore, "libomp";
                "kmp_set_warnings_on" () = routines::ignore, "libomp";
                "kmp_set_warnings_off" () = routines::ignore, "libomp";
                "kmp_get_library" () -> i32 = routines::get_library, "libomp";
                "kmp_get_num_known_threads" () -> i32 = routines::get_num_known_threads, "libomp";
                // Atomics.
                "__kmpc_atomic_1" (ident, i32, ptr, ptr, fn3) = atomic::update_by::<u8>, "15.8.4";
                "__kmpc_atomic_10" (ident, i32, ptr, ptr, fn3) = atomic::update_by_locked, "15.8.4";
                "__kmpc_atomic_16" (ident, i32, ptr, ptr, fn3) = atomic::update_by_locked, "15.8.4";
                "__kmpc_atomic_2" (ident, i32, ptr, ptr, fn3) = atomic::update_by::<u16>, "15.8.4";
                "__kmpc_atomic_20" (ident, i32, ptr, ptr, fn3) = atomic::update_by_locked, "15.8.4";
                "__kmpc_atomic_32" (ident, i32, ptr, ptr, fn3) = atomic::update_by_locked, "15.8.4";
                "__kmpc_atomic_4" (ident, i32, ptr, ptr, fn3) = atomic::update_by::<u32>, "15.8.4";
                "__kmpc_atomic_8" (ident, i32, ptr, ptr, fn3) = atomic::update_by::<u64>, "15.8.4";
                "__kmpc_atomic_bool_1_cas" (ident, i32, pi8, i8, i8) -> i8 = atomic::cas::<i8>, "15.8.4";
                "__kmpc_atomic_bool_1_cas_cpt" (ident, i32, pi8, i8, i8, pi8) -> i8 = atomic::cas_capture::<i8>, "15.8.4";
                "__kmpc_atomic_bool_2_cas" (ident, i32, pi16, i16, i16) -> i8 = atomic::cas::<i16>, "15.8.4";
                "__kmpc_atomic_bool_2_cas_cpt" (ident, i32, pi16, i16, i16, pi16) -> i8 = atomic::cas_capture::<i16>, "15.8.4";
                "__kmpc_atomic_bool_4_cas" (ident, i32, pi32, i32, i32) -> i8 = atomic::cas::<i32>, "15.8.4";
                "__kmpc_atomic_bool_4_cas_cpt" (ident, i32, pi32, i32, i32, pi32) -> i8 = atomic::cas_capture::<i32>, "15.8.4";
                "__kmpc_atomic_bool_8_cas" (ident, i32, pi64, i64, i64) -> i8 = atomic::cas::<i64>, "15.8.4";
                "__kmpc_atomic_bool_8_cas_cpt" (ident, i32, pi64, i64, i64, pi64) -> i8 = atomic::cas_capture::<i64>, "15.8.4";
                "__kmpc_atomic_cmplx4_add" (ident, i32, pc32, c32) = atomic::update::<atomic::Complex<f32>, atomic::Complex<f32>, atomic::Add>, "15.8.4";
                "__kmpc_atomic_cmplx4_add_cmplx8" (ident, i32, pc32, c64) = atomic::update::<atomic::Complex<f32>, atomic::Complex<f64>, atomic::Add>, "15.8.4";
                "__kmpc_atomic_cmplx4_add_cpt" (ident, i32, pc32, c32, pc32, i32) = atomic::capture_to::<atomic::Complex<f32>, atomic::Add>, "15.8.4";
                "__kmpc_atomic_cmplx4_div" (ident, i32, pc32, c32) = atomic::update::<atomic::Complex<f32>, atomic::Complex<f32>, atomic::Div>, "15.8.4";
                "__kmpc_atomic_cmplx4_div_cmplx8" (ident, i32, pc32, c64) = atomic::update::<atomic::Complex<f32>, atomic::Complex<f64>, atomic::Div>, "15.8.4";
                "__kmpc_atomic_cmplx4_div_cpt" (ident, i32, pc32, c32, pc32, i32) = atomic::capture_to::<atomic::Complex<f32>, atomic::Div>, "15.8.4";
                "__kmpc_atomic_cmplx4_div_cpt_rev" (ident, i32, pc32, c32, pc32, i32) = atomic::capture_to::<atomic::Complex<f32>, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_cmplx4_div_rev" (ident, i32, pc32, c32) = atomic::update::<atomic::Complex<f32>, atomic::Complex<f32>, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_cmplx4_mul" (ident, i32, pc32, c32) = atomic::update::<atomic::Complex<f32>, atomic::Complex<f32>, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_cmplx4_mul_cmplx8" (ident, i32, pc32, c64) = atomic::update::<atomic::Complex<f32>, atomic::Complex<f64>, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_cmplx4_mul_cpt" (ident, i32, pc32, c32, pc32, i32) = atomic::capture_to::<atomic::Complex<f32>, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_cmplx4_rd" (ident, i32, pc32) -> c32 = atomic::read::<atomic::Complex<f32>>, "15.8.4";
                "__kmpc_atomic_cmplx4_sub" (ident, i32, pc32, c32) = atomic::update::<atomic::Complex<f32>, atomic::Complex<f32>, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_cmplx4_sub_cmplx8" (ident, i32, pc32, c64) = atomic::update::<atomic::Complex<f32>, atomic::Complex<f64>, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_cmplx4_sub_cpt" (ident, i32, pc32, c32, pc32, i32) = atomic::capture_to::<atomic::Complex<f32>, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_cmplx4_sub_cpt_rev" (ident, i32, pc32, c32, pc32, i32) = atomic::capture_to::<atomic::Complex<f32>, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_cmplx4_sub_rev" (ident, i32, pc32, c32) = atomic::update::<atomic::Complex<f32>, atomic::Complex<f32>, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_cmplx4_swp" (ident, i32, pc32, c32, pc32) = atomic::swap_to::<atomic::Complex<f32>>, "15.8.4";
                "__kmpc_atomic_cmplx4_wr" (ident, i32, pc32, c32) = atomic::update::<atomic::Complex<f32>, atomic::Complex<f32>, atomic::Set>, "15.8.4";
                "__kmpc_atomic_cmplx8_add" (ident, i32, pc64, c64) = atomic::update::<atomic::Complex<f64>, atomic::Complex<f64>, atomic::Add>, "15.8.4";
                "__kmpc_atomic_cmplx8_add_cpt" (ident, i32, pc64, c64, i32) -> c64 = atomic::capture::<atomic::Complex<f64>, atomic::Add>, "15.8.4";
                "__kmpc_atomic_cmplx8_div" (ident, i32, pc64, c64) = atomic::update::<atomic::Complex<f64>, atomic::Complex<f64>, atomic::Div>, "15.8.4";
                "__kmpc_atomic_cmplx8_div_cpt" (ident, i32, pc64, c64, i32) -> c64 = atomic::capture::<atomic::Complex<f64>, atomic::Div>, "15.8.4";
                "__kmpc_atomic_cmplx8_div_cpt_rev" (ident, i32, pc64, c64, i32) -> c64 = atomic::capture::<atomic::Complex<f64>, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_cmplx8_div_rev" (ident, i32, pc64, c64) = atomic::update::<atomic::Complex<f64>, atomic::Complex<f64>, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_cmplx8_mul" (ident, i32, pc64, c64) = atomic::update::<atomic::Complex<f64>, atomic::Complex<f64>, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_cmplx8_mul_cpt" (ident, i32, pc64, c64, i32) -> c64 = atomic::capture::<atomic::Complex<f64>, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_cmplx8_rd" (ident, i32, pc64) -> c64 = atomic::read::<atomic::Complex<f64>>, "15.8.4";
                "__kmpc_atomic_cmplx8_sub" (ident, i32, pc64, c64) = atomic::update::<atomic::Complex<f64>, atomic::Complex<f64>, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_cmplx8_sub_cpt" (ident, i32, pc64, c64, i32) -> c64 = atomic::capture::<atomic::Complex<f64>, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_cmplx8_sub_cpt_rev" (ident, i32, pc64, c64, i32) -> c64 = atomic::capture::<atomic::Complex<f64>, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_cmplx8_sub_rev" (ident, i32, pc64, c64) = atomic::update::<atomic::Complex<f64>, atomic::Complex<f64>, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_cmplx8_swp" (ident, i32, pc64, c64) -> c64 = atomic::swap::<atomic::Complex<f64>>, "15.8.4";
                "__kmpc_atomic_cmplx8_wr" (ident, i32, pc64, c64) = atomic::update::<atomic::Complex<f64>, atomic::Complex<f64>, atomic::Set>, "15.8.4";
                "__kmpc_atomic_end" () = atomic::end, "15.8.4";
                "__kmpc_atomic_cmplx10_add" (ident, i32, pc80, c80) = abi::x87::update::<abi::x87::ExtendedComplex, atomic::WideAdd>, "15.8.4";
                "__kmpc_atomic_cmplx10_add_cpt" (ident, i32, pc80, c80, i32) -> c80 = abi::x87::capture_complex::<atomic::WideAdd, abi::x87::ExtendedComplex>, "15.8.4";
                "__kmpc_atomic_cmplx10_div" (ident, i32, pc80, c80) = abi::x87::update::<abi::x87::ExtendedComplex, atomic::WideDiv>, "15.8.4";
                "__kmpc_atomic_cmplx10_div_cpt" (ident, i32, pc80, c80, i32) -> c80 = abi::x87::capture_complex::<atomic::WideDiv, abi::x87::ExtendedComplex>, "15.8.4";
                "__kmpc_atomic_cmplx10_div_cpt_rev" (ident, i32, pc80, c80, i32) -> c80 = abi::x87::capture_complex::<atomic::WideDivRev, abi::x87::ExtendedComplex>, "15.8.4";
                "__kmpc_atomic_cmplx10_div_rev" (ident, i32, pc80, c80) = abi::x87::update::<abi::x87::ExtendedComplex, atomic::WideDivRev>, "15.8.4";
                "__kmpc_atomic_cmplx10_mul" (ident, i32, pc80, c80) = abi::x87::update::<abi::x87::ExtendedComplex, atomic::WideMul>, "15.8.4";
                "__kmpc_atomic_cmplx10_mul_cpt" (ident, i32, pc80, c80, i32) -> c80 = abi::x87::capture_complex::<atomic::WideMul, abi::x87::ExtendedComplex>, "15.8.4";
                "__kmpc_atomic_cmplx10_rd" (ident, i32, pc80) -> c80 = abi::x87::read_complex::<atomic::WideKeep, abi::x87::ExtendedComplex>, "15.8.4";
                "__kmpc_atomic_cmplx10_sub" (ident, i32, pc80, c80) = abi::x87::update::<abi::x87::ExtendedComplex, atomic::WideSub>, "15.8.4";
                "__kmpc_atomic_cmplx10_sub_cpt" (ident, i32, pc80, c80, i32) -> c80 = abi::x87::capture_complex::<atomic::WideSub, abi::x87::ExtendedComplex>, "15.8.4";
                "__kmpc_atomic_cmplx10_sub_cpt_rev" (ident, i32, pc80, c80, i32) -> c80 = abi::x87::capture_complex::<atomic::WideSubRev, abi::x87::ExtendedComplex>, "15.8.4";
                "__kmpc_atomic_cmplx10_sub_rev" (ident, i32, pc80, c80) = abi::x87::update::<abi::x87::ExtendedComplex, atomic::WideSubRev>, "15.8.4";
                "__kmpc_atomic_cmplx10_swp" (ident, i32, pc80, c80) -> c80 = abi::x87::swap_complex::<atomic::WideSet, abi::x87::ExtendedComplex>, "15.8.4";
                "__kmpc_atomic_cmplx10_wr" (ident, i32, pc80, c80) = abi::x87::update::<abi::x87::ExtendedComplex, atomic::WideSet>, "15.8.4";
                "__kmpc_atomic_float10_add" (ident, i32, pf80, f80) = abi::x87::update::<abi::x87::Extended, atomic::WideAdd>, "15.8.4";
                "__kmpc_atomic_float10_add_cpt" (ident, i32, pf80, f80, i32) -> f80 = abi::x87::capture::<atomic::WideAdd, abi::x87::Extended>, "15.8.4";
                "__kmpc_atomic_float10_div" (ident, i32, pf80, f80) = abi::x87::update::<abi::x87::Extended, atomic::WideDiv>, "15.8.4";
                "__kmpc_atomic_float10_div_cpt" (ident, i32, pf80, f80, i32) -> f80 = abi::x87::capture::<atomic::WideDiv, abi::x87::Extended>, "15.8.4";
                "__kmpc_atomic_float10_div_cpt_rev" (ident, i32, pf80, f80, i32) -> f80 = abi::x87::capture::<atomic::WideDivRev, abi::x87::Extended>, "15.8.4";
                "__kmpc_atomic_float10_div_rev" (ident, i32, pf80, f80) = abi::x87::update::<abi::x87::Extended, atomic::WideDivRev>, "15.8.4";
                "__kmpc_atomic_float10_max" (ident, i32, pf80, f80) = abi::x87::update::<abi::x87::Extended, atomic::WideMax>, "15.8.4";
                "__kmpc_atomic_float10_max_cpt" (ident, i32, pf80, f80, i32) -> f80 = abi::x87::capture::<atomic::WideMax, abi::x87::Extended>, "15.8.4";
                "__kmpc_atomic_float10_min" (ident, i32, pf80, f80) = abi::x87::update::<abi::x87::Extended, atomic::WideMin>, "15.8.4";
                "__kmpc_atomic_float10_min_cpt" (ident, i32, pf80, f80, i32) -> f80 = abi::x87::capture::<atomic::WideMin, abi::x87::Extended>, "15.8.4";
                "__kmpc_atomic_float10_mul" (ident, i32, pf80, f80) = abi::x87::update::<abi::x87::Extended, atomic::WideMul>, "15.8.4";
                "__kmpc_atomic_float10_mul_cpt" (ident, i32, pf80, f80, i32) -> f80 = abi::x87::capture::<atomic::WideMul, abi::x87::Extended>, "15.8.4";
                "__kmpc_atomic_float10_rd" (ident, i32, pf80) -> f80 = abi::x87::read::<atomic::WideKeep, abi::x87::Extended>, "15.8.4";
                "__kmpc_atomic_float10_sub" (ident, i32, pf80, f80) = abi::x87::update::<abi::x87::Extended, atomic::WideSub>, "15.8.4";
                "__kmpc_atomic_float10_sub_cpt" (ident, i32, pf80, f80, i32) -> f80 = abi::x87::capture::<atomic::WideSub, abi::x87::Extended>, "15.8.4";
                "__kmpc_atomic_float10_sub_cpt_rev" (ident, i32, pf80, f80, i32) -> f80 = abi::x87::capture::<atomic::WideSubRev, abi::x87::Extended>, "15.8.4";
                "__kmpc_atomic_float10_sub_rev" (ident, i32, pf80, f80) = abi::x87::update::<abi::x87::Extended, atomic::WideSubRev>, "15.8.4";
                "__kmpc_atomic_float10_swp" (ident, i32, pf80, f80) -> f80 = abi::x87::swap::<atomic::WideSet, abi::x87::Extended>, "15.8.4";
                "__kmpc_atomic_float10_wr" (ident, i32, pf80, f80) = abi::x87::update::<abi::x87::Extended, atomic::WideSet>, "15.8.4";
                "__kmpc_atomic_fixed1_add" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Add>, "15.8.4";
                "__kmpc_atomic_fixed1_add_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Add>, "15.8.4";
                "__kmpc_atomic_fixed1_andb" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::And>, "15.8.4";
                "__kmpc_atomic_fixed1_andb_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::And>, "15.8.4";
                "__kmpc_atomic_fixed1_andl" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::AndL>, "15.8.4";
                "__kmpc_atomic_fixed1_andl_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::AndL>, "15.8.4";
                "__kmpc_atomic_fixed1_div" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed1_div_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed1_div_cpt_rev" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed1_div_float8" (ident, i32, pi8, f64) = atomic::update::<i8, f64, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed1_div_rev" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed1_eqv" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Eqv>, "15.8.4";
                "__kmpc_atomic_fixed1_eqv_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Eqv>, "15.8.4";
                "__kmpc_atomic_fixed1_max" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Max>, "15.8.4";
                "__kmpc_atomic_fixed1_max_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Max>, "15.8.4";
                "__kmpc_atomic_fixed1_min" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Min>, "15.8.4";
                "__kmpc_atomic_fixed1_min_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Min>, "15.8.4";
                "__kmpc_atomic_fixed1_mul" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed1_mul_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed1_mul_float8" (ident, i32, pi8, f64) = atomic::update::<i8, f64, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed1_neqv" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed1_neqv_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed1_orb" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Or>, "15.8.4";
                "__kmpc_atomic_fixed1_orb_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Or>, "15.8.4";
                "__kmpc_atomic_fixed1_orl" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::OrL>, "15.8.4";
                "__kmpc_atomic_fixed1_orl_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::OrL>, "15.8.4";
                "__kmpc_atomic_fixed1_rd" (ident, i32, pi8) -> i8 = atomic::read::<i8>, "15.8.4";
                "__kmpc_atomic_fixed1_shl" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Shl>, "15.8.4";
                "__kmpc_atomic_fixed1_shl_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Shl>, "15.8.4";
                "__kmpc_atomic_fixed1_shl_cpt_rev" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::ShlRev>, "15.8.4";
                "__kmpc_atomic_fixed1_shl_rev" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::ShlRev>, "15.8.4";
                "__kmpc_atomic_fixed1_shr" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed1_shr_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed1_shr_cpt_rev" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed1_shr_rev" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed1_sub" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_fixed1_sub_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_fixed1_sub_cpt_rev" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_fixed1_sub_rev" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_fixed1_swp" (ident, i32, pi8, i8) -> i8 = atomic::swap::<i8>, "15.8.4";
                "__kmpc_atomic_fixed1_wr" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Set>, "15.8.4";
                "__kmpc_atomic_fixed1_xor" (ident, i32, pi8, i8) = atomic::update::<i8, i8, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed1_xor_cpt" (ident, i32, pi8, i8, i32) -> i8 = atomic::capture::<i8, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed1u_div" (ident, i32, pu8, u8) = atomic::update::<u8, u8, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed1u_div_cpt" (ident, i32, pu8, u8, i32) -> u8 = atomic::capture::<u8, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed1u_div_cpt_rev" (ident, i32, pu8, u8, i32) -> u8 = atomic::capture::<u8, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed1u_div_rev" (ident, i32, pu8, u8) = atomic::update::<u8, u8, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed1u_shr" (ident, i32, pu8, u8) = atomic::update::<u8, u8, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed1u_shr_cpt" (ident, i32, pu8, u8, i32) -> u8 = atomic::capture::<u8, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed1u_shr_cpt_rev" (ident, i32, pu8, u8, i32) -> u8 = atomic::capture::<u8, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed1u_shr_rev" (ident, i32, pu8, u8) = atomic::update::<u8, u8, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed2_add" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Add>, "15.8.4";
                "__kmpc_atomic_fixed2_add_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Add>, "15.8.4";
                "__kmpc_atomic_fixed2_andb" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::And>, "15.8.4";
                "__kmpc_atomic_fixed2_andb_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::And>, "15.8.4";
                "__kmpc_atomic_fixed2_andl" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::AndL>, "15.8.4";
                "__kmpc_atomic_fixed2_andl_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::AndL>, "15.8.4";
                "__kmpc_atomic_fixed2_div" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed2_div_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed2_div_cpt_rev" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed2_div_float8" (ident, i32, pi16, f64) = atomic::update::<i16, f64, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed2_div_rev" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed2_eqv" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Eqv>, "15.8.4";
                "__kmpc_atomic_fixed2_eqv_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Eqv>, "15.8.4";
                "__kmpc_atomic_fixed2_max" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Max>, "15.8.4";
                "__kmpc_atomic_fixed2_max_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Max>, "15.8.4";
                "__kmpc_atomic_fixed2_min" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Min>, "15.8.4";
                "__kmpc_atomic_fixed2_min_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Min>, "15.8.4";
                "__kmpc_atomic_fixed2_mul" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed2_mul_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed2_mul_float8" (ident, i32, pi16, f64) = atomic::update::<i16, f64, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed2_neqv" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed2_neqv_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed2_orb" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Or>, "15.8.4";
                "__kmpc_atomic_fixed2_orb_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Or>, "15.8.4";
                "__kmpc_atomic_fixed2_orl" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::OrL>, "15.8.4";
                "__kmpc_atomic_fixed2_orl_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::OrL>, "15.8.4";
                "__kmpc_atomic_fixed2_rd" (ident, i32, pi16) -> i16 = atomic::read::<i16>, "15.8.4";
                "__kmpc_atomic_fixed2_shl" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Shl>, "15.8.4";
                "__kmpc_atomic_fixed2_shl_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Shl>, "15.8.4";
                "__kmpc_atomic_fixed2_shl_cpt_rev" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::ShlRev>, "15.8.4";
                "__kmpc_atomic_fixed2_shl_rev" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::ShlRev>, "15.8.4";
                "__kmpc_atomic_fixed2_shr" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed2_shr_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed2_shr_cpt_rev" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed2_shr_rev" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed2_sub" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_fixed2_sub_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_fixed2_sub_cpt_rev" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_fixed2_sub_rev" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_fixed2_swp" (ident, i32, pi16, i16) -> i16 = atomic::swap::<i16>, "15.8.4";
                "__kmpc_atomic_fixed2_wr" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Set>, "15.8.4";
                "__kmpc_atomic_fixed2_xor" (ident, i32, pi16, i16) = atomic::update::<i16, i16, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed2_xor_cpt" (ident, i32, pi16, i16, i32) -> i16 = atomic::capture::<i16, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed2u_div" (ident, i32, pu16, u16) = atomic::update::<u16, u16, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed2u_div_cpt" (ident, i32, pu16, u16, i32) -> u16 = atomic::capture::<u16, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed2u_div_cpt_rev" (ident, i32, pu16, u16, i32) -> u16 = atomic::capture::<u16, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed2u_div_rev" (ident, i32, pu16, u16) = atomic::update::<u16, u16, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed2u_shr" (ident, i32, pu16, u16) = atomic::update::<u16, u16, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed2u_shr_cpt" (ident, i32, pu16, u16, i32) -> u16 = atomic::capture::<u16, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed2u_shr_cpt_rev" (ident, i32, pu16, u16, i32) -> u16 = atomic::capture::<u16, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed2u_shr_rev" (ident, i32, pu16, u16) = atomic::update::<u16, u16, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed4_add" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Add>, "15.8.4";
                "__kmpc_atomic_fixed4_add_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Add>, "15.8.4";
                "__kmpc_atomic_fixed4_andb" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::And>, "15.8.4";
                "__kmpc_atomic_fixed4_andb_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::And>, "15.8.4";
                "__kmpc_atomic_fixed4_andl" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::AndL>, "15.8.4";
                "__kmpc_atomic_fixed4_andl_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::AndL>, "15.8.4";
                "__kmpc_atomic_fixed4_div" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed4_div_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed4_div_cpt_rev" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed4_div_float8" (ident, i32, pi32, f64) = atomic::update::<i32, f64, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed4_div_rev" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed4_eqv" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Eqv>, "15.8.4";
                "__kmpc_atomic_fixed4_eqv_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Eqv>, "15.8.4";
                "__kmpc_atomic_fixed4_max" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Max>, "15.8.4";
                "__kmpc_atomic_fixed4_max_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Max>, "15.8.4";
                "__kmpc_atomic_fixed4_min" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Min>, "15.8.4";
                "__kmpc_atomic_fixed4_min_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Min>, "15.8.4";
                "__kmpc_atomic_fixed4_mul" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed4_mul_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed4_mul_float8" (ident, i32, pi32, f64) = atomic::update::<i32, f64, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed4_neqv" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed4_neqv_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed4_orb" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Or>, "15.8.4";
                "__kmpc_atomic_fixed4_orb_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Or>, "15.8.4";
                "__kmpc_atomic_fixed4_orl" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::OrL>, "15.8.4";
                "__kmpc_atomic_fixed4_orl_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::OrL>, "15.8.4";
                "__kmpc_atomic_fixed4_rd" (ident, i32, pi32) -> i32 = atomic::read::<i32>, "15.8.4";
                "__kmpc_atomic_fixed4_shl" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Shl>, "15.8.4";
                "__kmpc_atomic_fixed4_shl_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Shl>, "15.8.4";
                "__kmpc_atomic_fixed4_shl_cpt_rev" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::ShlRev>, "15.8.4";
                "__kmpc_atomic_fixed4_shl_rev" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::ShlRev>, "15.8.4";
                "__kmpc_atomic_fixed4_shr" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed4_shr_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed4_shr_cpt_rev" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed4_shr_rev" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed4_sub" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_fixed4_sub_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_fixed4_sub_cpt_rev" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_fixed4_sub_rev" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_fixed4_swp" (ident, i32, pi32, i32) -> i32 = atomic::swap::<i32>, "15.8.4";
                "__kmpc_atomic_fixed4_wr" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Set>, "15.8.4";
                "__kmpc_atomic_fixed4_xor" (ident, i32, pi32, i32) = atomic::update::<i32, i32, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed4_xor_cpt" (ident, i32, pi32, i32, i32) -> i32 = atomic::capture::<i32, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed4u_div" (ident, i32, pu32, u32) = atomic::update::<u32, u32, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed4u_div_cpt" (ident, i32, pu32, u32, i32) -> u32 = atomic::capture::<u32, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed4u_div_cpt_rev" (ident, i32, pu32, u32, i32) -> u32 = atomic::capture::<u32, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed4u_div_rev" (ident, i32, pu32, u32) = atomic::update::<u32, u32, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed4u_shr" (ident, i32, pu32, u32) = atomic::update::<u32, u32, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed4u_shr_cpt" (ident, i32, pu32, u32, i32) -> u32 = atomic::capture::<u32, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed4u_shr_cpt_rev" (ident, i32, pu32, u32, i32) -> u32 = atomic::capture::<u32, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed4u_shr_rev" (ident, i32, pu32, u32) = atomic::update::<u32, u32, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed8_add" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Add>, "15.8.4";
                "__kmpc_atomic_fixed8_add_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Add>, "15.8.4";
                "__kmpc_atomic_fixed8_andb" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::And>, "15.8.4";
                "__kmpc_atomic_fixed8_andb_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::And>, "15.8.4";
                "__kmpc_atomic_fixed8_andl" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::AndL>, "15.8.4";
                "__kmpc_atomic_fixed8_andl_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::AndL>, "15.8.4";
                "__kmpc_atomic_fixed8_div" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed8_div_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed8_div_cpt_rev" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed8_div_float8" (ident, i32, pi64, f64) = atomic::update::<i64, f64, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed8_div_rev" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed8_eqv" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Eqv>, "15.8.4";
                "__kmpc_atomic_fixed8_eqv_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Eqv>, "15.8.4";
                "__kmpc_atomic_fixed8_max" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Max>, "15.8.4";
                "__kmpc_atomic_fixed8_max_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Max>, "15.8.4";
                "__kmpc_atomic_fixed8_min" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Min>, "15.8.4";
                "__kmpc_atomic_fixed8_min_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Min>, "15.8.4";
                "__kmpc_atomic_fixed8_mul" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed8_mul_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed8_mul_float8" (ident, i32, pi64, f64) = atomic::update::<i64, f64, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_fixed8_neqv" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed8_neqv_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed8_orb" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Or>, "15.8.4";
                "__kmpc_atomic_fixed8_orb_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Or>, "15.8.4";
                "__kmpc_atomic_fixed8_orl" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::OrL>, "15.8.4";
                "__kmpc_atomic_fixed8_orl_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::OrL>, "15.8.4";
                "__kmpc_atomic_fixed8_rd" (ident, i32, pi64) -> i64 = atomic::read::<i64>, "15.8.4";
                "__kmpc_atomic_fixed8_shl" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Shl>, "15.8.4";
                "__kmpc_atomic_fixed8_shl_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Shl>, "15.8.4";
                "__kmpc_atomic_fixed8_shl_cpt_rev" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::ShlRev>, "15.8.4";
                "__kmpc_atomic_fixed8_shl_rev" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::ShlRev>, "15.8.4";
                "__kmpc_atomic_fixed8_shr" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed8_shr_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed8_shr_cpt_rev" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed8_shr_rev" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed8_sub" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_fixed8_sub_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_fixed8_sub_cpt_rev" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_fixed8_sub_rev" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_fixed8_swp" (ident, i32, pi64, i64) -> i64 = atomic::swap::<i64>, "15.8.4";
                "__kmpc_atomic_fixed8_wr" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Set>, "15.8.4";
                "__kmpc_atomic_fixed8_xor" (ident, i32, pi64, i64) = atomic::update::<i64, i64, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed8_xor_cpt" (ident, i32, pi64, i64, i32) -> i64 = atomic::capture::<i64, atomic::Xor>, "15.8.4";
                "__kmpc_atomic_fixed8u_div" (ident, i32, pu64, u64) = atomic::update::<u64, u64, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed8u_div_cpt" (ident, i32, pu64, u64, i32) -> u64 = atomic::capture::<u64, atomic::Div>, "15.8.4";
                "__kmpc_atomic_fixed8u_div_cpt_rev" (ident, i32, pu64, u64, i32) -> u64 = atomic::capture::<u64, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed8u_div_rev" (ident, i32, pu64, u64) = atomic::update::<u64, u64, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_fixed8u_shr" (ident, i32, pu64, u64) = atomic::update::<u64, u64, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed8u_shr_cpt" (ident, i32, pu64, u64, i32) -> u64 = atomic::capture::<u64, atomic::Shr>, "15.8.4";
                "__kmpc_atomic_fixed8u_shr_cpt_rev" (ident, i32, pu64, u64, i32) -> u64 = atomic::capture::<u64, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_fixed8u_shr_rev" (ident, i32, pu64, u64) = atomic::update::<u64, u64, atomic::ShrRev>, "15.8.4";
                "__kmpc_atomic_float4_add" (ident, i32, pf32, f32) = atomic::update::<f32, f32, atomic::Add>, "15.8.4";
                "__kmpc_atomic_float4_add_cpt" (ident, i32, pf32, f32, i32) -> f32 = atomic::capture::<f32, atomic::Add>, "15.8.4";
                "__kmpc_atomic_float4_add_float8" (ident, i32, pf32, f64) = atomic::update::<f32, f64, atomic::Add>, "15.8.4";
                "__kmpc_atomic_float4_div" (ident, i32, pf32, f32) = atomic::update::<f32, f32, atomic::Div>, "15.8.4";
                "__kmpc_atomic_float4_div_cpt" (ident, i32, pf32, f32, i32) -> f32 = atomic::capture::<f32, atomic::Div>, "15.8.4";
                "__kmpc_atomic_float4_div_cpt_rev" (ident, i32, pf32, f32, i32) -> f32 = atomic::capture::<f32, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_float4_div_float8" (ident, i32, pf32, f64) = atomic::update::<f32, f64, atomic::Div>, "15.8.4";
                "__kmpc_atomic_float4_div_rev" (ident, i32, pf32, f32) = atomic::update::<f32, f32, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_float4_max" (ident, i32, pf32, f32) = atomic::update::<f32, f32, atomic::Max>, "15.8.4";
                "__kmpc_atomic_float4_max_cpt" (ident, i32, pf32, f32, i32) -> f32 = atomic::capture::<f32, atomic::Max>, "15.8.4";
                "__kmpc_atomic_float4_min" (ident, i32, pf32, f32) = atomic::update::<f32, f32, atomic::Min>, "15.8.4";
                "__kmpc_atomic_float4_min_cpt" (ident, i32, pf32, f32, i32) -> f32 = atomic::capture::<f32, atomic::Min>, "15.8.4";
                "__kmpc_atomic_float4_mul" (ident, i32, pf32, f32) = atomic::update::<f32, f32, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_float4_mul_cpt" (ident, i32, pf32, f32, i32) -> f32 = atomic::capture::<f32, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_float4_mul_float8" (ident, i32, pf32, f64) = atomic::update::<f32, f64, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_float4_rd" (ident, i32, pf32) -> f32 = atomic::read::<f32>, "15.8.4";
                "__kmpc_atomic_float4_sub" (ident, i32, pf32, f32) = atomic::update::<f32, f32, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_float4_sub_cpt" (ident, i32, pf32, f32, i32) -> f32 = atomic::capture::<f32, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_float4_sub_cpt_rev" (ident, i32, pf32, f32, i32) -> f32 = atomic::capture::<f32, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_float4_sub_float8" (ident, i32, pf32, f64) = atomic::update::<f32, f64, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_float4_sub_rev" (ident, i32, pf32, f32) = atomic::update::<f32, f32, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_float4_swp" (ident, i32, pf32, f32) -> f32 = atomic::swap::<f32>, "15.8.4";
                "__kmpc_atomic_float4_wr" (ident, i32, pf32, f32) = atomic::update::<f32, f32, atomic::Set>, "15.8.4";
                "__kmpc_atomic_float8_add" (ident, i32, pf64, f64) = atomic::update::<f64, f64, atomic::Add>, "15.8.4";
                "__kmpc_atomic_float8_add_cpt" (ident, i32, pf64, f64, i32) -> f64 = atomic::capture::<f64, atomic::Add>, "15.8.4";
                "__kmpc_atomic_float8_div" (ident, i32, pf64, f64) = atomic::update::<f64, f64, atomic::Div>, "15.8.4";
                "__kmpc_atomic_float8_div_cpt" (ident, i32, pf64, f64, i32) -> f64 = atomic::capture::<f64, atomic::Div>, "15.8.4";
                "__kmpc_atomic_float8_div_cpt_rev" (ident, i32, pf64, f64, i32) -> f64 = atomic::capture::<f64, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_float8_div_rev" (ident, i32, pf64, f64) = atomic::update::<f64, f64, atomic::DivRev>, "15.8.4";
                "__kmpc_atomic_float8_max" (ident, i32, pf64, f64) = atomic::update::<f64, f64, atomic::Max>, "15.8.4";
                "__kmpc_atomic_float8_max_cpt" (ident, i32, pf64, f64, i32) -> f64 = atomic::capture::<f64, atomic::Max>, "15.8.4";
                "__kmpc_atomic_float8_min" (ident, i32, pf64, f64) = atomic::update::<f64, f64, atomic::Min>, "15.8.4";
                "__kmpc_atomic_float8_min_cpt" (ident, i32, pf64, f64, i32) -> f64 = atomic::capture::<f64, atomic::Min>, "15.8.4";
                "__kmpc_atomic_float8_mul" (ident, i32, pf64, f64) = atomic::update::<f64, f64, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_float8_mul_cpt" (ident, i32, pf64, f64, i32) -> f64 = atomic::capture::<f64, atomic::Mul>, "15.8.4";
                "__kmpc_atomic_float8_rd" (ident, i32, pf64) -> f64 = atomic::read::<f64>, "15.8.4";
                "__kmpc_atomic_float8_sub" (ident, i32, pf64, f64) = atomic::update::<f64, f64, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_float8_sub_cpt" (ident, i32, pf64, f64, i32) -> f64 = atomic::capture::<f64, atomic::Sub>, "15.8.4";
                "__kmpc_atomic_float8_sub_cpt_rev" (ident, i32, pf64, f64, i32) -> f64 = atomic::capture::<f64, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_float8_sub_rev" (ident, i32, pf64, f64) = atomic::update::<f64, f64, atomic::SubRev>, "15.8.4";
                "__kmpc_atomic_float8_swp" (ident, i32, pf64, f64) -> f64 = atomic::swap::<f64>, "15.8.4";
                "__kmpc_atomic_float8_wr" (ident, i32, pf64, f64) = atomic::update::<f64, f64, atomic::Set>, "15.8.4";
                "__kmpc_atomic_start" () = atomic::start, "15.8.4";
                "__kmpc_atomic_val_1_cas" (ident, i32, pi8, i8, i8) -> i8 = atomic::cas_value::<i8>, "15.8.4";
                "__kmpc_atomic_val_1_cas_cpt" (ident, i32, pi8, i8, i8, pi8) -> i8 = atomic::cas_value_capture::<i8>, "15.8.4";
                "__kmpc_atomic_val_2_cas" (ident, i32, pi16, i16, i16) -> i16 = atomic::cas_value::<i16>, "15.8.4";
                "__kmpc_atomic_val_2_cas_cpt" (ident, i32, pi16, i16, i16, pi16) -> i16 = atomic::cas_value_capture::<i16>, "15.8.4";
                "__kmpc_atomic_val_4_cas" (ident, i32, pi32, i32, i32) -> i32 = atomic::cas_value::<i32>, "15.8.4";
                "__kmpc_atomic_val_4_cas_cpt" (ident, i32, pi32, i32, i32, pi32) -> i32 = atomic::cas_value_capture::<i32>, "15.8.4";
                "__kmpc_atomic_val_8_cas" (ident, i32, pi64, i64, i64) -> i64 = atomic::cas_value::<i64>, "15.8.4";
                "__kmpc_atomic_val_8_cas_cpt" (ident, i32, pi64, i64, i64, pi64) -> i64 = atomic::cas_value_capture::<i64>, "15.8.4";
            }
            variadic {
                "__kmpc_fork_call" (ident, i32, cptr, pptr)
                    = fork::parallel, abi::fork_call_variadic, "10.1";
                "__kmpc_fork_teams" (ident, i32, cptr, pptr)
                    = teams::fork, abi::fork_teams_variadic, "10.2";
            }
            unsupported {
                "explicit tasks", "12": [
                    "__kmpc_invoke_task_func", "__kmpc_omp_has_task_team", "__kmpc_task_get_depnode",
                    "__kmpc_task_get_successors",
                ];
                "asynchronous device launches of tasks", "libomp": [
                    "__kmpc_omp_get_target_async_handle_ptr",
                ];
                "an entry of libomp that no compiler emits today", "libomp": [
                    "__kmpc_pause_resource", "omp_control_tool_",
                ];
                "threadprivate arrays with constructors", "5.2": [
                    "__kmpc_threadprivate_register_vec",
                ];
                "interoperability with foreign runtimes", "14.1": [
                    "omp_get_interop_int_", "omp_get_interop_name_", "omp_get_interop_ptr_",
                    "omp_get_interop_rc_desc_", "omp_get_interop_str_",
                    "omp_get_interop_type_desc_", "omp_get_num_interop_properties_",
                    "__tgt_interop_get", "__tgt_interop_release", "__tgt_interop_use60",
                    "ompx_interop_add_completion_callback",
                ];
            }
        }
    };
}

/// Maps an argument kind to its Rust type.
#[doc(hidden)]
#[macro_export]
macro_rules! entry_rust_type {
    (ident) => { *const $crate::ident::Ident };
    (ptr) => { *mut std::ffi::c_void };
    (cptr) => { *const std::ffi::c_void };
    (pptr) => { *const *mut std::ffi::c_void };
    (cstr) => { *const std::ffi::c_char };
    (cbuf) => { *mut std::ffi::c_char };
    (pmask) => { *mut *mut std::ffi::c_void };
    (ptraits) => { *const $crate::alloc::Trait };
    (pbounds) => { *mut $crate::collapse::Bounds };
    (pboundsc) => { *const $crate::collapse::Bounds };
    (pdims) => { *const $crate::doacross::Dim };
    (pi32c) => { *const i32 };
    (pi64c) => { *const i64 };
    (pusizec) => { *const usize };
    (pi8) => { *mut i8 };
    (pu8) => { *mut u8 };
    (pi16) => { *mut i16 };
    (pu16) => { *mut u16 };
    (pi32) => { *mut i32 };
    (pu32) => { *mut u32 };
    (pi64) => { *mut i64 };
    (pu64) => { *mut u64 };
    (pf32) => { *mut f32 };
    (pf64) => { *mut f64 };
    (pc32) => { *mut $crate::atomic::Complex<f32> };
    (pc64) => { *mut $crate::atomic::Complex<f64> };
    (pf80) => { *mut $crate::abi::x87::Extended };
    (pc80) => { *mut $crate::abi::x87::ExtendedComplex };
    (f80) => { $crate::abi::x87::Extended };
    (c80) => { $crate::abi::x87::ExtendedComplex };
    (c32) => { $crate::atomic::Complex<f32> };
    (c64) => { $crate::atomic::Complex<f64> };
    (payload) => { *mut $crate::task::Payload };
    (items) => { *const $crate::task::depend::Item };
    (reduced) => { *const $crate::task::reduction::Input };
    (reducedold) => { *const $crate::task::reduction::OldInput };
    (copy) => { $crate::task::taskloop::Copy };
    (routine) => { Option<$crate::task::Routine> };
    (fn1) => { Option<unsafe extern "C-unwind" fn(*mut std::ffi::c_void)> };
    (fn1p) => { Option<unsafe extern "C-unwind" fn(*mut std::ffi::c_void) -> *mut std::ffi::c_void> };
    (fn2) => { Option<unsafe extern "C-unwind" fn(*mut std::ffi::c_void, *mut std::ffi::c_void)> };
    (fn2p) => {
        Option<
            unsafe extern "C-unwind" fn(*mut std::ffi::c_void, *mut std::ffi::c_void) -> *mut std::ffi::c_void,
        >
    };
    (fn3) => {
        Option<
            unsafe extern "C-unwind" fn(*mut std::ffi::c_void, *mut std::ffi::c_void, *mut std::ffi::c_void),
        >
    };
    ($plain:ident) => { $plain };
}

/// Maps an argument kind to its [`ArgKind`].
#[doc(hidden)]
#[macro_export]
macro_rules! entry_kind {
    (i8) => {
        $crate::table::ArgKind::I8
    };
    (u8) => {
        $crate::table::ArgKind::I8
    };
    (i16) => {
        $crate::table::ArgKind::I16
    };
    (u16) => {
        $crate::table::ArgKind::I16
    };
    (i32) => {
        $crate::table::ArgKind::I32
    };
    (u32) => {
        $crate::table::ArgKind::I32
    };
    (i64) => {
        $crate::table::ArgKind::I64
    };
    (u64) => {
        $crate::table::ArgKind::I64
    };
    (usize) => {
        $crate::table::ArgKind::I64
    };
    (f32) => {
        $crate::table::ArgKind::F32
    };
    (f64) => {
        $crate::table::ArgKind::F64
    };
    (f80) => {
        $crate::table::ArgKind::F80
    };
    (c80) => {
        $crate::table::ArgKind::C80
    };
    (c32) => {
        $crate::table::ArgKind::C32
    };
    (c64) => {
        $crate::table::ArgKind::C64
    };
    ($pointer:ident) => {
        $crate::table::ArgKind::Ptr
    };
    () => {
        $crate::table::ArgKind::Void
    };
}

/// Entries, with an index by name that the first look-up makes.
#[derive(Debug)]
pub struct EntryTable {
    rows: &'static [Entry],
    index: OnceLock<HashMap<&'static str, usize>>,
}

impl EntryTable {
    #[doc(hidden)]
    pub const fn new(rows: &'static [Entry]) -> EntryTable {
        EntryTable {
            rows,
            index: OnceLock::new(),
        }
    }

    /// Returns the entries, in the order of the table.
    pub fn iter(&self) -> std::slice::Iter<'static, Entry> {
        self.rows.iter()
    }

    /// Returns the entry with the given ABI name.
    pub fn lookup(&self, name: &str) -> Option<&'static Entry> {
        Some(&self.rows[self.position(name)?])
    }

    /// Returns the position of the entry with the given ABI name.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        let rows = || self.iter().enumerate();
        let index = || rows().map(|(i, entry)| (entry.name, i)).collect();
        self.index.get_or_init(index).get(name).copied()
    }
}

/// Expands rows to the static `ENTRIES` and its `Entry` values.
#[doc(hidden)]
#[macro_export]
macro_rules! runtime_entries {
    (
        supported {
            $($name:literal ($($arg:ident),*) $(-> $ret:ident)? = $path:path, $spec:literal;)*
        }
        variadic {
            $($v_name:literal ($($v_arg:ident),*)
                = $v_path:path, $v_entry:path, $v_spec:literal;)*
        }
        unsupported {
            $($reason:literal, $u_spec:literal: [$($u_name:literal,)*];)*
        }
    ) => {
        /// All entries of this crate, with one index: the ABI is the same for every program of the
        /// process.
        pub static ENTRIES: $crate::table::EntryTable = $crate::table::EntryTable::new(ROWS);

        const ROWS: &[$crate::table::Entry] = &[
            $($crate::table::Entry {
                name: $name,
                args: &[$($crate::entry_kind!($arg)),*],
                ret: $crate::entry_kind!($($ret)?),
                address: $crate::table::Address({
                    let f: unsafe extern "C-unwind" fn($($crate::entry_rust_type!($arg)),*)
                        $(-> $crate::entry_rust_type!($ret))? = $path;
                    f as *const std::ffi::c_void
                }),
                variadic: false,
                spec: $spec,
                status: $crate::table::Status::Supported,
            },)*
            $($crate::table::Entry {
                name: $v_name,
                args: &[$($crate::entry_kind!($v_arg)),*],
                ret: $crate::table::ArgKind::Void,
                address: $crate::table::Address({
                    let f: unsafe extern "C-unwind" fn($($crate::entry_rust_type!($v_arg)),*) = $v_path;
                    f as *const std::ffi::c_void
                }),
                variadic: true,
                spec: $v_spec,
                status: $crate::table::Status::Supported,
            },)*
            $($($crate::table::Entry {
                name: $u_name,
                args: &[],
                ret: $crate::table::ArgKind::Void,
                address: $crate::table::Address(std::ptr::null()),
                variadic: false,
                spec: $u_spec,
                status: $crate::table::Status::Unsupported { reason: $reason },
            },)*)*
        ];
    };
}
for_each_runtime_entry!(runtime_entries);

/// Returns the entry with the given ABI name.
pub fn lookup(name: &str) -> Option<&'static Entry> {
    ENTRIES.lookup(name)
}

/// Returns the reason for which a name of the runtime's without a row is not supported; `None` for
/// names that are not the runtime's.
pub fn missing_reason(name: &str) -> Option<&'static str> {
    let families = [
        ("GOMP_", "libgomp's interface (code compiled by gcc)"),
        ("__tgt_", "offload to devices"),
        (
            "__kmpc_",
            "an entry of libomp that this runtime does not implement",
        ),
        ("omp_", "a routine that this runtime does not implement"),
        ("ompc_", "a routine that this runtime does not implement"),
        (
            "kmp_",
            "a routine of libomp's own that this runtime does not implement",
        ),
        (
            "kmpc_",
            "a routine of libomp's own that this runtime does not implement",
        ),
        ("ompx_", "an extension of LLVM's OpenMP"),
    ];
    families
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map(|&(_, reason)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kmpc_table_names_each_entry_once() {
        let mut names: Vec<_> = ENTRIES.iter().map(|e| e.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(count > 700, "{count}");
    }

    #[test]
    fn kmpc_table_looks_up() {
        let fork = lookup("__kmpc_fork_call").unwrap();
        assert!(fork.variadic && !fork.address.0.is_null());
        let interop = lookup("__tgt_interop_get").unwrap();
        assert_eq!(
            interop.status,
            Status::Unsupported {
                reason: "interoperability with foreign runtimes"
            }
        );
        assert!(lookup("printf").is_none() && missing_reason("printf").is_none());
        assert!(missing_reason("GOMP_parallel").is_some());
    }
}
