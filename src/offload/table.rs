//! The table of offload entries, expanded by the runtime's macro.
//!
//! The entries are not part of `kmpc::table`, because they need devices, which lie a layer above.
//! The drop-in shared library does not have them: programs linked with it bring their own offload
//! runtime.

use crate::{api as memory, data_entries, interop, map::items, region};
use ompvm_kmpc::table::Entry;

ompvm_kmpc::runtime_entries! {
    supported {
        // Regions and data constructs.
        "__tgt_target_kernel" (ident, i64, i32, i32, ptr, ptr) -> i32 = region::target_kernel, "13.8";
        "__tgt_target_data_begin_mapper" (ident, i64, i32, ptr, ptr, ptr, ptr, ptr, ptr) = data_entries::enter, "13.5";
        "__tgt_target_data_end_mapper" (ident, i64, i32, ptr, ptr, ptr, ptr, ptr, ptr) = data_entries::leave, "13.5";
        "__tgt_target_data_update_mapper" (ident, i64, i32, ptr, ptr, ptr, ptr, ptr, ptr) = data_entries::update, "13.9";
        "__tgt_target_data_begin_nowait_mapper" (ident, i64, i32, ptr, ptr, ptr, ptr, ptr, ptr, i32, ptr, i32, ptr) = data_entries::enter_nowait, "13.6";
        "__tgt_target_data_end_nowait_mapper" (ident, i64, i32, ptr, ptr, ptr, ptr, ptr, ptr, i32, ptr, i32, ptr) = data_entries::leave_nowait, "13.7";
        "__tgt_target_data_update_nowait_mapper" (ident, i64, i32, ptr, ptr, ptr, ptr, ptr, ptr, i32, ptr, i32, ptr) = data_entries::update_nowait, "13.9";
        "__tgt_target_data_begin" (i64, i32, ptr, ptr, ptr, ptr) = data_entries::enter_old, "13.5";
        "__tgt_target_data_end" (i64, i32, ptr, ptr, ptr, ptr) = data_entries::leave_old, "13.5";
        "__tgt_target_data_update" (i64, i32, ptr, ptr, ptr, ptr) = data_entries::update_old, "13.9";
        "__tgt_target_data_begin_nowait" (i64, i32, ptr, ptr, ptr, ptr, i32, ptr, i32, ptr) = data_entries::enter_nowait_old, "13.6";
        "__tgt_target_data_end_nowait" (i64, i32, ptr, ptr, ptr, ptr, i32, ptr, i32, ptr) = data_entries::leave_nowait_old, "13.7";
        "__tgt_target_data_update_nowait" (i64, i32, ptr, ptr, ptr, ptr, i32, ptr, i32, ptr) = data_entries::update_nowait_old, "13.9";
        "__tgt_mapper_num_components" (ptr) -> i64 = items::count, "5.8.8";
        "__tgt_push_mapper_component" (ptr, usize, usize, i64, u64, cptr) = items::push, "5.8.8";
        "__tgt_target_nowait_query" (pmask) = data_entries::query, "libomptarget";
        "__tgt_register_requires" (i64) = region::register_requires, "8.2";
        "__tgt_register_lib" (ptr) = region::register_library, "libomptarget";
        "__tgt_unregister_lib" (ptr) = region::register_library, "libomptarget";
        "__tgt_init_all_rtls" () = region::no_op, "libomptarget";
        "__tgt_rtl_init" () = region::no_op, "libomptarget";
        "__tgt_rtl_deinit" () = region::no_op, "libomptarget";
        "__tgt_set_info_flag" (u32) = memory::set_info, "libomptarget";
        "__tgt_print_device_info" (i64) -> i32 = memory::print_info, "libomptarget";
        // Foreign runtimes; `kmpc::interop` answers queries of their objects.
        "__tgt_interop_init" (ident, i32, ptr, i32, i32, i32, ptr, i32) = interop::init, "14.1";
        "__tgt_interop_use" (ident, i32, ptr, i32, i32, ptr, i32) = interop::use_object, "14.1";
        "__tgt_interop_destroy" (ident, i32, ptr, i32, i32, ptr, i32) = interop::destroy, "14.1";
        // Device memory routines.
        "omp_target_alloc" (usize, i32) -> ptr = memory::alloc, "18.8.1";
        "omp_target_free" (ptr, i32) = memory::free, "18.8.2";
        "omp_target_is_present" (cptr, i32) -> i32 = memory::is_present, "18.8.3";
        "omp_target_is_accessible" (cptr, usize, i32) -> i32 = memory::is_accessible, "18.8.4";
        "omp_target_memcpy" (ptr, cptr, usize, usize, usize, i32, i32) -> i32 = memory::memcpy, "18.8.5";
        "omp_target_memcpy_rect" (ptr, cptr, usize, i32, pusizec, pusizec, pusizec, pusizec, pusizec, i32, i32) -> i32 = memory::memcpy_rect, "18.8.6";
        "omp_target_memcpy_async" (ptr, cptr, usize, usize, usize, i32, i32, i32, ptr) -> i32 = memory::memcpy_async, "18.8.7";
        "omp_target_memcpy_rect_async" (ptr, cptr, usize, i32, pusizec, pusizec, pusizec, pusizec, pusizec, i32, i32, i32, ptr) -> i32 = memory::memcpy_rect_async, "18.8.8";
        "omp_target_memset" (ptr, i32, usize, i32) -> ptr = memory::memset, "6.0, 25.8";
        "omp_target_memset_async" (ptr, i32, usize, i32, i32, ptr) -> ptr = memory::memset_async, "6.0, 25.8";
        "omp_target_associate_ptr" (cptr, cptr, usize, usize, i32) -> i32 = memory::associate, "18.8.9";
        "omp_target_disassociate_ptr" (cptr, i32) -> i32 = memory::disassociate, "18.8.10";
        "omp_get_mapped_ptr" (cptr, i32) -> ptr = memory::mapped, "18.8.11";
        "llvm_omp_target_alloc_device" (usize, i32) -> ptr = memory::alloc, "libomptarget";
        "llvm_omp_target_alloc_host" (usize, i32) -> ptr = memory::alloc_host, "libomptarget";
        "llvm_omp_target_alloc_shared" (usize, i32) -> ptr = memory::alloc_shared, "libomptarget";
        "llvm_omp_target_free_device" (ptr, i32) = memory::free, "libomptarget";
        "llvm_omp_target_free_host" (ptr, i32) = memory::free, "libomptarget";
        "llvm_omp_target_free_shared" (ptr, i32) = memory::free, "libomptarget";
        "llvm_omp_target_dynamic_shared_alloc" () -> ptr = memory::dynamic_shared, "libomptarget";
        "llvm_omp_get_dynamic_shared" () -> ptr = memory::dynamic_shared, "libomptarget";
        "llvm_omp_target_lock_mem" (ptr, usize, i32) -> ptr = memory::lock, "libomptarget";
        "llvm_omp_target_unlock_mem" (ptr, i32) = memory::unlock, "libomptarget";
        "ompx_dump_mapping_tables" () = memory::dump_tables, "libomptarget";
    }
    variadic {}
    unsupported {
        "offload by compilers before version 15", "13.8": [
            "__tgt_target", "__tgt_target_nowait", "__tgt_target_teams", "__tgt_target_teams_nowait",
            "__tgt_target_mapper", "__tgt_target_nowait_mapper", "__tgt_target_teams_mapper",
            "__tgt_target_teams_nowait_mapper", "__tgt_target_kernel_nowait",
            "__kmpc_push_target_tripcount", "__kmpc_push_target_tripcount_mapper",
        ];
        "recording and replaying of kernels", "libomptarget": [
            "__tgt_activate_record_replay", "__tgt_target_kernel_replay",
        ];
        "LLVM's own view of devices", "libomptarget": [
            "__tgt_get_device_info", "__tgt_target_sync",
        ];
    }
}

/// Returns the entry with the given ABI name.
pub fn lookup(name: &str) -> Option<&'static Entry> {
    ENTRIES.lookup(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offload_entry_names_are_unique() {
        let mut names: Vec<_> = ENTRIES.iter().map(|e| e.name).collect();
        names.extend(ompvm_kmpc::table::ENTRIES.iter().map(|e| e.name));
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|w| w[0] == w[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
