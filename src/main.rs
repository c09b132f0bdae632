//! The command line's entry: hands the arguments to [`ompvm::cli`] and exits with its status.

/// The allocator of this process. Faults are described without the C library's, in which the guest
/// may have faulted.
#[global_allocator]
static ALLOCATOR: ompvm::support::fault_alloc::FaultAlloc = ompvm::support::fault_alloc::FaultAlloc;

fn main() -> std::process::ExitCode {
    ompvm::support::limits::share_malloc_heap();
    ompvm::support::fault_alloc::map_reserve();
    ompvm::cli::main()
}
