//! Structures that both languages access, field by field.

use std::ffi::c_void;

/// Defines structures: the layout in Rust, and a row of [`STRUCTURES`] for the header, which also
/// asserts the offsets that Rust computes.
macro_rules! structures {
    ($(
        $(#[$doc:meta])*
        $name:ident { $( $(#[$line:meta])* $field:ident: $of:ty = $c:literal; )* }
    )*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name { $( $(#[$line])* pub $field: $of, )* }
        )*

        /// The structures: name, size, and for each field its declaration in C and its offset.
        pub(crate) const STRUCTURES: &[Structure] = &[
            $( Structure {
                name: stringify!($name),
                size: size_of::<$name>(),
                fields: &[ $( ($c, stringify!($field), std::mem::offset_of!($name, $field)) ),* ],
            } ),*
        ];
    };
}

/// A structure of the header.
pub(crate) struct Structure {
    pub name: &'static str,
    pub size: usize,
    /// Type in C, with `*` for pointers; name; offset in bytes.
    pub fields: &'static [(&'static str, &'static str, usize)],
}

structures! {
    /// A kernel's configuration, the first member of the constant `<kernel>_kernel_environment`
    /// (`ConfigurationEnvironmentTy` of LLVM 22).
    KernelConfiguration {
        /// 1 if threads wait for regions.
        state_machine: u8 = "uint8_t";
        /// 1 if regions may nest.
        nested: u8 = "uint8_t";
        /// Execution mode, see [`mode`](crate::mode).
        mode: u8 = "uint8_t";
        /// Minimum number of threads in a block; 0 or less: open.
        least_threads: i32 = "int32_t";
        /// Maximum number of threads in a block; 0 or less: open.
        most_threads: i32 = "int32_t";
        /// Minimum number of teams; 0 or less: open.
        least_teams: i32 = "int32_t";
        /// Maximum number of teams; 0 or less: open.
        most_teams: i32 = "int32_t";
        /// Size of a team's contribution to a reduction over teams, in bytes.
        reduction_size: i32 = "int32_t";
        /// Number of teams that the compiler expects in its buffer.
        reduction_length: i32 = "int32_t";
    }

    /// State of one launch, the first argument of a kernel. The buffer has room for the records
    /// that the launch's teams add to a reduction over teams.
    LaunchEnvironment {
        /// Number of teams that have arrived at the reduction.
        arrived: u32 = "uint32_t";
        /// Padding.
        unused: u32 = "uint32_t";
        /// The teams' records.
        buffer: *mut c_void = "void *";
        /// Environment whose buffer has a record for each device that shares the league; null if
        /// one device runs all of it.
        league: *mut c_void = "void *";
    }

    /// Share of one device in a league that several devices run together. The host writes it to the
    /// variable `__ompvm_league` of each device before a launch.
    League {
        /// Number of this device's share.
        part: u32 = "uint32_t";
        /// Number of shares; 1 if the device runs the whole league.
        parts: u32 = "uint32_t";
        /// Beginning of the share of a divided loop's iterations, as a fraction of 2^64.
        from: u64 = "uint64_t";
        /// End of that share; 0 if it ends with the loop.
        to: u64 = "uint64_t";
        /// Number of the share's first team, if `teams` is not 0.
        first: u32 = "uint32_t";
        /// Number of teams in the league; 0 if all shares have as many as this one.
        teams: u32 = "uint32_t";
    }

    /// The first fields of the host runtime's record of a thread.
    ThreadHead {
        /// The thread's number in its team.
        number: u32 = "uint32_t";
        /// Size of the team.
        size: u32 = "uint32_t";
        /// 1 if the team has one thread and no task that its barriers must wait for, and belongs to
        /// no league, whose teams reduce into the same variables.
        alone: u32 = "uint32_t";
    }

    /// State of a thread in an auto-offloaded region. The generated kernel puts two pointers behind
    /// it: to the thread's record, and to what is kept at the end.
    VirtualThread {
        /// Read as the thread's number, and only passed on.
        number: i32 = "int32_t";
        /// Purpose of the call, see [`outlined`](crate::outlined).
        phase: i32 = "int32_t";
        /// The thread's present iteration.
        iteration: u64 = "uint64_t";
        /// Distance to its next one.
        distance: u64 = "uint64_t";
        /// Number of the loop's iterations.
        trips: u64 = "uint64_t";
        /// End of this device's share of them.
        end: u64 = "uint64_t";
        /// The loop variable's first value, of dispatched loops.
        lower: i64 = "int64_t";
        /// True once the iteration has been handed out, of dispatched loops.
        fetched: bool = "bool";
        /// The loop whose iterations are executed; others have none.
        executed_loop: i16 = "int16_t";
        /// The loop that began last.
        latest_loop: i16 = "int16_t";
    }
}
