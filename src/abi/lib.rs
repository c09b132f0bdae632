//! Numbers and layouts that OpenMP compilers, the runtime on the host and the runtime on devices
//! share.
//!
//! Each number stands here once. Rust uses the constants; [`c_header`] writes the same ones for
//! `runtime-c/`, whose files include it as `omp_abi.h`, so the two languages cannot differ. Most
//! are those of LLVM 22 (`kmp.h`, the device runtime's headers, LLVM's OpenMP frontend), which
//! compilers emit; [`outlined`], [`lock`], [`limit`] and [`ThreadHead`] are a contract of ompvm
//! with itself: between the generator of kernels and the device runtime, and between the host's
//! runtime and the parts of it that are inlined into programs.
//!
//! Omits numbers that only one side uses, such as the flags that the runtime keeps for itself.

mod header;
mod layout;

pub use header::c_header;
pub use layout::{KernelConfiguration, LaunchEnvironment, League, ThreadHead, VirtualThread};

/// A group's constants by name.
type Constants = &'static [(&'static str, i128)];

/// Defines groups of constants: a module for Rust, and a row of [`GROUPS`] for the header.
macro_rules! groups {
    ($(
        $(#[$doc:meta])*
        $module:ident in $prefix:literal: $of:ty {
            $( $(#[$line:meta])* $name:ident = $value:expr; )*
        }
    )*) => {
        $(
            $(#[$doc])*
            pub mod $module {
                $( $(#[$line])* pub const $name: $of = $value; )*
            }
        )*

        /// The groups: prefix in C, constants.
        const GROUPS: &[(&str, Constants)] = &[
            $( ($prefix, &[ $( (stringify!($name), $module::$name as i128) ),* ]) ),*
        ];
    };
}

groups! {
    /// Schedule kinds (`enum sched_type` of `kmp.h`), without modifier bits.
    schedule in "SCHEDULE_": i32 {
        /// Added to the kind for loops with an `ordered` clause.
        ORDERED = 32;
        /// `schedule(static, chunk)`.
        STATIC_CHUNKED = 33;
        /// `schedule(static)`.
        STATIC = 34;
        /// `schedule(dynamic)`.
        DYNAMIC = 35;
        /// `schedule(guided)`.
        GUIDED = 36;
        /// `schedule(runtime)`.
        RUNTIME = 37;
        /// `schedule(auto)`.
        AUTO = 38;
        /// Trapezoid self-scheduling.
        TRAPEZOIDAL = 39;
        /// Even shares rounded up.
        STATIC_GREEDY = 40;
        /// Even shares.
        STATIC_BALANCED = 41;
        /// A variant of guided.
        GUIDED_ITERATIVE = 42;
        /// A variant of guided.
        GUIDED_ANALYTICAL = 43;
        /// Dynamic by stealing.
        STATIC_STEAL = 44;
        /// `schedule(simd: static)`: even shares rounded up to whole chunks.
        STATIC_SIMD = 45;
        /// `schedule(simd: guided)`.
        GUIDED_SIMD = 46;
        /// `schedule(simd: runtime)`.
        RUNTIME_SIMD = 47;
        /// Lower bound of the kinds with `ordered`, exclusive.
        ORDERED_LOWER = 64;
        /// Upper bound of the kinds with `ordered`, exclusive.
        ORDERED_UPPER = 72;
        /// `dist_schedule(static, chunk)`.
        DISTRIBUTE_CHUNKED = 91;
        /// `dist_schedule(static)`.
        DISTRIBUTE = 92;
        /// Added to the kind if the compiler does not merge chunks.
        NO_MERGE = 128;
        /// The `monotonic` modifier.
        MONOTONIC = 1 << 29;
        /// The `nonmonotonic` modifier.
        NONMONOTONIC = 1 << 30;
    }

    /// Flags of an `ident_t` (`KMP_IDENT_*` of `kmp.h`).
    ident_flag in "IDENT_": i32 {
        /// The compiler also generated an atomic form of a reduction.
        ATOMIC_REDUCE = 0x10;
        /// A barrier written in the program.
        EXPLICIT_BARRIER = 0x20;
        /// The barriers at the end of a construct.
        IMPLICIT_BARRIERS = 0x1c0;
        /// A loop is a `sections` construct.
        SECTIONS = 0x400;
        /// A loop is a `distribute` construct.
        DISTRIBUTE = 0x800;
    }

    /// Flags of a task that compilers pass (`kmp_tasking_flags_t`).
    task_flag in "TASK_": u32 {
        /// Tied to the thread that starts it.
        TIED = 1;
        /// Final: its descendants are final and included.
        FINAL = 2;
        /// Private variables need destructors.
        DESTRUCTORS = 8;
        /// Proxy task: complete only when reported.
        PROXY = 16;
        /// A priority was given.
        PRIORITY = 32;
        /// Detached: complete only when its event is fulfilled, too.
        DETACHED = 64;
    }

    /// Kinds of an item of a `depend` clause (`kmp_depend_info_t`).
    depend in "DEPEND_": u8 {
        /// `in`.
        IN = 1;
        /// `out` and `inout`.
        OUT = 2;
        /// `mutexinoutset`.
        MUTEX = 4;
        /// `inoutset`.
        SET = 8;
        /// `omp_all_memory`.
        ALL = 0x80;
    }

    /// Kinds of canceled constructs (`kmp_cancel_kind_t`).
    cancel in "CANCEL_": i32 {
        /// `cancel parallel`.
        PARALLEL = 1;
        /// `cancel for`.
        LOOP = 2;
        /// `cancel sections`.
        SECTIONS = 3;
        /// `cancel taskgroup`.
        TASKGROUP = 4;
    }

    /// Flags of a mapped item (`OpenMPOffloadMappingFlags` of LLVM).
    map_type in "MAP_": u64 {
        /// Copied to the device.
        TO = 1;
        /// Copied from the device.
        FROM = 2;
        /// Copied even if already mapped.
        ALWAYS = 4;
        /// Unmapped regardless of its reference count.
        DELETE = 8;
        /// The base is the address of a pointer, which is made to point to the item.
        PTR_AND_OBJ = 16;
        /// Argument of the kernel.
        TARGET_PARAM = 32;
        /// The device address is written back into the array of bases.
        RETURN_PARAM = 64;
        /// Private copy per region.
        PRIVATE = 128;
        /// Value passed by copy.
        LITERAL = 256;
        /// Mapped implicitly, without a clause.
        IMPLICIT = 512;
        /// Allocated on the device even if it can access host memory.
        CLOSE = 0x400;
        /// Must be mapped already (`present`).
        PRESENT = 0x1000;
        /// Reference-counted separately (`ompx_hold`).
        HOLD = 0x2000;
        /// A device pointer is made to point to mapped data.
        ATTACH = 0x4000;
        /// The item is an array of dimensions.
        NON_CONTIGUOUS = 1 << 44;
        /// Index plus one of the item that it is a member of.
        MEMBER_OF = 0xffff << 48;
    }

    /// Bits of a kernel's execution mode (`OMPTgtExecModeFlags` of LLVM).
    mode in "MODE_": u8 {
        /// One thread executes the region, the others wait for parallel regions.
        GENERIC = 1;
        /// All threads begin together (single program, multiple data).
        SPMD = 2;
    }

    /// Purposes of a call of an outlined region's function on a device.
    outlined in "OUTLINED_": i32 {
        /// Runs no iteration: determines their number, and the initial values of a reduction.
        LOOK = 0;
        /// Runs one iteration.
        ITERATE = 1;
        /// Runs no iteration: stores the record to the variables, through the private copies.
        RESULT = 2;
    }

    /// Words of locks and critical sections that compiled programs change themselves. Other values
    /// name the thread to which a lock with waiters was handed over.
    lock in "LOCK_": u32 {
        /// Held by no thread.
        FREE = 0;
        /// Held by a thread that found the lock free, without waiters.
        HELD = 1;
    }

    /// Limits of ompvm that both languages must agree on.
    limit in "": u32 {
        /// Threads that the host's runtime numbers.
        HOST_THREADS = (1 << 15) - 2;
        /// Threads of a warp.
        WARP_SIZE = 32;
        /// Threads of a block.
        BLOCK_THREADS = 1024;
        /// Captured variables of a region on a device.
        MAX_CAPTURED = 64;
        /// Warps in a block of an auto-offloaded loop.
        OUTLINED_WARPS = 8;
        /// Words of the largest record that warps exchange in the block's memory; larger ones go
        /// through the launch's buffer, which then has one for each warp.
        EXCHANGED_WORDS = 64;
    }
}
