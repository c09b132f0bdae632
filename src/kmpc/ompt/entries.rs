//! The entries that have a traced form, by name.
//!
//! A row has the ABI's name and the function that notifies the tool and calls the runtime's own.

use std::ffi::c_void;

use super::{TOOL, loops, mutex, region, sync, tasks};
use crate::abi;
use crate::table::Address;

/// An entry with a traced form.
#[derive(Debug)]
pub struct Traced {
    /// Name in the ABI.
    pub name: &'static str,
    /// Address of the traced form, to be called as the ABI says.
    pub address: Address,
}

macro_rules! traced {
    ($($name:literal = $path:path;)*) => {
        const TRACED: &[Traced] = &[$(Traced {
            name: $name,
            address: Address($path as *const c_void),
        }),*];
    };
}
traced! {
    "__kmpc_fork_call" = abi::traced_fork_call_variadic;
    "__kmpc_fork_teams" = abi::traced_fork_teams_variadic;
    "__kmpc_fork_call_if" = region::fork_if;
    "__kmpc_serialized_parallel" = region::begin_serialized;
    "__kmpc_end_serialized_parallel" = region::end_serialized;
    "__kmpc_for_static_init_4" = loops::init_i32;
    "__kmpc_dist_for_static_init_4" = loops::init_dist_i32;
    "__kmpc_dispatch_init_4" = loops::dinit_i32;
    "__kmpc_dist_dispatch_init_4" = loops::ddist_i32;
    "__kmpc_dispatch_next_4" = loops::next_i32;
    "__kmpc_for_static_init_4u" = loops::init_u32;
    "__kmpc_dist_for_static_init_4u" = loops::init_dist_u32;
    "__kmpc_dispatch_init_4u" = loops::dinit_u32;
    "__kmpc_dist_dispatch_init_4u" = loops::ddist_u32;
    "__kmpc_dispatch_next_4u" = loops::next_u32;
    "__kmpc_for_static_init_8" = loops::init_i64;
    "__kmpc_dist_for_static_init_8" = loops::init_dist_i64;
    "__kmpc_dispatch_init_8" = loops::dinit_i64;
    "__kmpc_dist_dispatch_init_8" = loops::ddist_i64;
    "__kmpc_dispatch_next_8" = loops::next_i64;
    "__kmpc_for_static_init_8u" = loops::init_u64;
    "__kmpc_dist_for_static_init_8u" = loops::init_dist_u64;
    "__kmpc_dispatch_init_8u" = loops::dinit_u64;
    "__kmpc_dist_dispatch_init_8u" = loops::ddist_u64;
    "__kmpc_dispatch_next_8u" = loops::next_u64;
    "__kmpc_for_static_fini" = loops::fini;
    "__kmpc_sections_init" = loops::sections_init;
    "__kmpc_next_section" = loops::next_section;
    "__kmpc_end_sections" = loops::sections_end;
    "__kmpc_doacross_wait" = loops::doacross_wait;
    "__kmpc_doacross_post" = loops::doacross_post;
    "__kmpc_ordered" = mutex::ordered;
    "__kmpc_end_ordered" = mutex::end_ordered;
    "__kmpc_critical" = mutex::critical;
    "__kmpc_critical_with_hint" = mutex::critical_with_hint;
    "__kmpc_end_critical" = mutex::end_critical;
    "__kmpc_init_lock" = mutex::init_at;
    "omp_init_lock" = mutex::init;
    "omp_init_lock_" = mutex::init;
    "__kmpc_init_nest_lock" = mutex::nest_init_at;
    "omp_init_nest_lock" = mutex::nest_init;
    "omp_init_nest_lock_" = mutex::nest_init;
    "__kmpc_destroy_lock" = mutex::destroy_at;
    "omp_destroy_lock" = mutex::destroy;
    "omp_destroy_lock_" = mutex::destroy;
    "__kmpc_destroy_nest_lock" = mutex::nest_destroy_at;
    "omp_destroy_nest_lock" = mutex::nest_destroy;
    "omp_destroy_nest_lock_" = mutex::nest_destroy;
    "__kmpc_set_lock" = mutex::set_at;
    "omp_set_lock" = mutex::set;
    "omp_set_lock_" = mutex::set;
    "__kmpc_set_nest_lock" = mutex::nest_set_at;
    "omp_set_nest_lock" = mutex::nest_set;
    "omp_set_nest_lock_" = mutex::nest_set;
    "__kmpc_unset_lock" = mutex::unset_at;
    "omp_unset_lock" = mutex::unset;
    "omp_unset_lock_" = mutex::unset;
    "__kmpc_unset_nest_lock" = mutex::nest_unset_at;
    "omp_unset_nest_lock" = mutex::nest_unset;
    "omp_unset_nest_lock_" = mutex::nest_unset;
    "__kmpc_test_lock" = mutex::test_at;
    "omp_test_lock" = mutex::test;
    "omp_test_lock_" = mutex::test;
    "__kmpc_test_nest_lock" = mutex::nest_test_at;
    "omp_test_nest_lock" = mutex::nest_test;
    "omp_test_nest_lock_" = mutex::nest_test;
    "__kmpc_init_lock_with_hint" = mutex::init_hint_at;
    "omp_init_lock_with_hint" = mutex::init_hint;
    "omp_init_lock_with_hint_" = mutex::init_hint_fortran;
    "__kmpc_init_nest_lock_with_hint" = mutex::nest_init_hint_at;
    "omp_init_nest_lock_with_hint" = mutex::nest_init_hint;
    "omp_init_nest_lock_with_hint_" = mutex::nest_init_hint_fortran;
    "__kmpc_barrier" = sync::barrier;
    "__kmpc_cancel_barrier" = sync::cancel_barrier;
    "__kmpc_cancel" = sync::cancel;
    "__kmpc_cancellationpoint" = sync::cancellation_point;
    "__kmpc_flush" = sync::flush;
    "__kmpc_master" = sync::master;
    "__kmpc_end_master" = sync::end_masked;
    "__kmpc_masked" = sync::masked;
    "__kmpc_end_masked" = sync::end_masked;
    "__kmpc_single" = sync::single;
    "__kmpc_end_single" = sync::end_single;
    "__kmpc_copyprivate" = sync::copyprivate;
    "__kmpc_scope" = sync::scope;
    "__kmpc_end_scope" = sync::end_scope;
    "__kmpc_reduce" = sync::reduce;
    "__kmpc_end_reduce" = sync::end_reduce;
    "__kmpc_reduce_nowait" = sync::reduce_nowait;
    "__kmpc_end_reduce_nowait" = sync::end_reduce_nowait;
    "__kmpc_error" = sync::error;
    "__kmpc_omp_taskwait" = sync::taskwait;
    "__kmpc_omp_taskyield" = sync::taskyield;
    "__kmpc_taskgroup" = sync::begin_group;
    "__kmpc_end_taskgroup" = sync::end_group;
    "omp_control_tool" = sync::control_tool;
    "__kmpc_omp_task_alloc" = tasks::alloc;
    "__kmpc_omp_target_task_alloc" = tasks::alloc_target;
    "__kmpc_omp_task" = tasks::submit;
    "__kmpc_omp_task_parts" = tasks::submit;
    "__kmpc_omp_task_begin_if0" = tasks::begin_undeferred;
    "__kmpc_omp_task_complete_if0" = tasks::end_undeferred;
    "__kmpc_omp_task_with_deps" = tasks::submit_with;
    "__kmpc_omp_wait_deps" = tasks::wait_for;
    "__kmpc_omp_taskwait_deps_51" = tasks::taskwait_with;
    "__kmpc_taskloop" = tasks::taskloop;
    "__kmpc_taskloop_5" = tasks::taskloop_strict;
    "omp_fulfill_event" = tasks::fulfill;
    "omp_fulfill_event_" = tasks::fulfill;
}

/// Returns the traced form of an entry.
pub fn traced(name: &str) -> Option<&'static Traced> {
    TOOL.traced
        .get_or_init(|| TRACED.iter().map(|row| (row.name, row)).collect())
        .get(name)
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    #[test]
    fn kmpc_ompt_traces_entries_of_the_table() {
        for row in TRACED {
            let entry = table::lookup(row.name);
            assert!(
                entry.is_some_and(|e| e.status == table::Status::Supported),
                "{}",
                row.name
            );
            let found = traced(row.name);
            assert!(found.is_some_and(|t| t.name == row.name), "{}", row.name);
        }
    }
}
