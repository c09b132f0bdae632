//! This layer's variables of a thread.

use crate::emulated::block::Block;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::Duration;

/// Variables without a destructor, since signal handlers and fork handlers read them.
pub(crate) struct ThreadLocals {
    /// CUDA's current context, as far as it was set here.
    pub(crate) cuda_context: Cell<*mut c_void>,
    /// The block of an emulated device that the thread executes.
    pub(crate) emulated_block: Cell<*mut Block<'static>>,
    /// Memory of the block that the thread executes as one of a processor.
    pub(crate) processor_block: Cell<*mut u8>,
    /// Name of the kernel that the thread executes as one of a processor; empty if there is none.
    pub(crate) processor_kernel: Cell<&'static str>,
    /// Time of the launch on processors that the thread has awaited last.
    pub(crate) processor_time: Cell<Duration>,
    /// The kernel of a group that the thread asked the shape of last: its handle, the blocks for all
    /// members, and those for the first one.
    pub(crate) group_shape: Cell<(u64, u32, u32)>,
}

thread_local! {
    /// The variables of the calling thread.
    pub(crate) static LOCALS: ThreadLocals = const {
        ThreadLocals {
            cuda_context: Cell::new(null_mut()),
            emulated_block: Cell::new(null_mut()),
            processor_block: Cell::new(null_mut()),
            processor_kernel: Cell::new(""),
            processor_time: Cell::new(Duration::ZERO),
            group_shape: Cell::new((0, 0, 0)),
        }
    };
}

/// Returns a number of the calling thread.
pub(crate) fn this_thread() -> usize {
    LOCALS.with(|locals| std::ptr::from_ref(locals) as usize)
}

const _: () = assert!(!std::mem::needs_drop::<ThreadLocals>());
