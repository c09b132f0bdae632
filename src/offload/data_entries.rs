//! The entries that compilers emit for constructs that only move data. OpenMP 5.2, sections 13.5 to
//! 13.9.
//!
//! Asynchronous forms run synchronously: the task that the compiler makes for them waits. Without a
//! device the constructs have no effect. A copy that fails half-way ends the program, because the
//! host could not continue with stale data.
//!
//! [`DataConstruct`] does the work, and [`fallback`] handles failures.

use super::device::{Failure, Queue};
use super::fallback::{self, ConstructSite};
use super::map::data::DataConstruct;
use super::map::items::{self, MapArrays, MapItem};
use super::map::table::MappingTable;
use ompvm_kmpc::ident::Ident;
use ompvm_kmpc::task;
use ompvm_support::message::Kind;
use std::ffi::c_void;

/// Operation of a data construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DataOperation {
    Enter,
    Leave,
    Update,
}

/// Runs the operation of a construct on the data environment of its device.
///
/// # Safety
/// `arrays` must be those of the compiler, whose items must be live host memory.
unsafe fn data_construct(
    ident: *const Ident,
    name: &'static str,
    device: i64,
    arrays: MapArrays,
    operation: DataOperation,
) {
    let site = ConstructSite::new(ident, name);
    let state = match fallback::device_for(device) {
        Ok(state) => state,
        Err(why) => {
            if fallback::is_mandatory() {
                fallback::record_host_run(site, &why);
            }
            return;
        }
    };
    if let Err(failure) = state.load_all() {
        // All regions run on the host, so no data is mapped.
        let why = fallback::handle_failure(site, Some(state), &failure);
        fallback::record_host_run(site, &why);
        return;
    }
    // SAFETY: the ABI passes arrays of `count` elements.
    let items: Vec<MapItem> = unsafe { items::collect(&arrays) };
    let mut table: parking_lot::MutexGuard<'_, MappingTable> = state.table.lock();
    let mut data = DataConstruct::new(&*state.device, &mut table, Queue::SYNC);
    // SAFETY: the items are live host memory: the program maps them.
    let done = unsafe {
        match operation {
            DataOperation::Enter => data.enter(&items, arrays.bases),
            DataOperation::Leave => data.leave(&items),
            DataOperation::Update => data.update(&items),
        }
    };
    let traffic = data.traffic;
    match done {
        Ok(()) => {
            drop(table);
            fallback::record_device_run(site, state, traffic, (0, 0), None);
        }
        Err(failure) => {
            if operation == DataOperation::Enter {
                let references = data.take_entered();
                data.undo(references);
            }
            drop(table);
            // Skipping a copy would leave stale data, so the program ends.
            if operation != DataOperation::Enter && matches!(failure, Failure::Unsupported { .. }) {
                fallback::abort_with_report(Kind::DeviceFailure, site, &failure.to_string());
            }
            let why = fallback::handle_failure(site, Some(state), &failure);
            fallback::record_host_run(site, &why);
        }
    }
}

macro_rules! data_entries {
    ($($doc:literal $name:ident, $nowait:ident, $old:ident, $old_nowait:ident = $what:literal, $step:expr;)*) => {
        $(
            #[doc = $doc]
            pub unsafe extern "C-unwind" fn $name(
                ident: *const Ident,
                device: i64,
                count: i32,
                bases: *mut c_void,
                begins: *mut c_void,
                sizes: *mut c_void,
                map_types: *mut c_void,
                _names: *mut c_void,
                mappers: *mut c_void,
            ) {
                let arrays = MapArrays {
                    count: count.max(0) as usize,
                    bases: bases.cast(),
                    begins: begins.cast(),
                    sizes: sizes.cast(),
                    map_types: map_types.cast(),
                    mappers: mappers.cast(),
                };
                // SAFETY: the arguments are those of the compiler's call, unchanged.
                unsafe { data_construct(ident, $what, device, arrays, $step) };
            }

            #[doc = concat!($doc, " Runs synchronously; an enclosing task waits.")]
            pub unsafe extern "C-unwind" fn $nowait(
                ident: *const Ident,
                device: i64,
                count: i32,
                bases: *mut c_void,
                begins: *mut c_void,
                sizes: *mut c_void,
                map_types: *mut c_void,
                names: *mut c_void,
                mappers: *mut c_void,
                _dependences: i32,
                _list: *mut c_void,
                _others: i32,
                _other_list: *mut c_void,
            ) {
                // SAFETY: the arguments are those of the compiler's call, unchanged.
                unsafe {
                    $name(ident, device, count, bases, begins, sizes, map_types, names, mappers)
                };
            }

            #[doc = concat!($doc, " Emitted by compilers before version 12.")]
            pub unsafe extern "C-unwind" fn $old(
                device: i64,
                count: i32,
                bases: *mut c_void,
                begins: *mut c_void,
                sizes: *mut c_void,
                map_types: *mut c_void,
            ) {
                let (ident, none) = (std::ptr::null(), std::ptr::null_mut());
                // SAFETY: the arguments are those of the compiler's call; the arrays that it lacks
                // are null.
                unsafe {
                    $name(ident, device, count, bases, begins, sizes, map_types, none, none)
                };
            }

            #[doc = concat!($doc, " Emitted by compilers before version 12.")]
            pub unsafe extern "C-unwind" fn $old_nowait(
                device: i64,
                count: i32,
                bases: *mut c_void,
                begins: *mut c_void,
                sizes: *mut c_void,
                map_types: *mut c_void,
                _dependences: i32,
                _list: *mut c_void,
                _others: i32,
                _other_list: *mut c_void,
            ) {
                // SAFETY: the arguments are those of the compiler's call, unchanged.
                unsafe { $old(device, count, bases, begins, sizes, map_types) };
            }
        )*
    };
}

data_entries! {
    "`__tgt_target_data_begin_mapper`."
        enter, enter_nowait, enter_old, enter_nowait_old = "target data construct", DataOperation::Enter;
    "`__tgt_target_data_end_mapper`."
        leave, leave_nowait, leave_old, leave_nowait_old = "target data construct", DataOperation::Leave;
    "`__tgt_target_data_update_mapper`."
        update, update_nowait, update_old, update_nowait_old = "target update construct", DataOperation::Update;
}

/// `__tgt_target_nowait_query`: reports completion, since regions run synchronously.
pub unsafe extern "C-unwind" fn query(handle: *mut *mut c_void) {
    // SAFETY: the compiler passes its own variable, or null.
    if let Some(handle) = unsafe { handle.as_mut() } {
        *handle = std::ptr::null_mut();
    }
}

/// Waits for the dependences of an asynchronous routine.
///
/// # Safety
/// `list` must hold `count` objects of type `omp_depend_t` that the program initialized.
pub unsafe fn await_dependences(count: i32, list: *mut c_void) {
    for n in 0..count.max(0) as usize {
        // SAFETY: by this function's contract; each object points to an array that its length
        // precedes.
        unsafe {
            let items = *list.cast::<*const task::depend::Item>().add(n);
            if items.is_null() {
                continue;
            }
            let count = *items.cast::<usize>().sub(3) as i32;
            let ident = std::ptr::null();
            let gtid = ompvm_kmpc::queries::global_thread_num(ident);
            task::depend::taskwait(ident, gtid, count, items, 0, std::ptr::null(), 0);
        }
    }
}
