//! ompvm's OpenMP runtime as a shared library with libomp's C ABI (soname `libomp.so.5`).
//!
//! It exports one jump per row of the runtime's table, under the ABI's name and symbol version, so
//! that a program linked with libomp runs on it unchanged: `LD_LIBRARY_PATH=dir program`, where
//! `dir/libomp.so.5` is this library. An unsupported row exports an entry that reports itself and
//! ends the program with status 125.
//!
//! Each jump first reads one word: while no thread has looked for a tool (`kmpc::ompt`), and while
//! a tool is active, it goes through a gate.

use std::arch::global_asm;

use ompvm_kmpc::*;

/// Exports `$name@@VERSION` as a jump to `$path`.
macro_rules! jump {
    ($name:literal, $path:path) => {
        global_asm!(
            ".pushsection .text.ompvm_exports,\"axR\",@progbits",
            concat!(".globl ompvm.", $name),
            concat!(".type ompvm.", $name, ",@function"),
            concat!("ompvm.", $name, ": cmp dword ptr [rip + {state}], 0"),
            "jne 3f",
            "jmp {target}",
            "3: lea r11, [rip + 2f]",
            "jmp {gate}",
            concat!("2: .asciz \"", $name, "\""),
            concat!(".size ompvm.", $name, ", . - ompvm.", $name),
            concat!(".symver ompvm.", $name, ", ", $name, "@@VERSION"),
            ".popsection",
            target = sym $path,
            state = sym ompt::TOOL,
            gate = sym ompt::gate::enter,
        );
    };
}

/// Exports `$name@@VERSION` as an entry that reports itself as unsupported.
macro_rules! refuse {
    ($name:literal) => {
        global_asm!(
            ".pushsection .text.ompvm_exports,\"axR\",@progbits",
            concat!(".globl ompvm.", $name),
            concat!(".type ompvm.", $name, ",@function"),
            concat!("ompvm.", $name, ": lea rdi, [rip + 2f]"),
            "jmp {target}",
            concat!("2: .asciz \"", $name, "\""),
            concat!(".size ompvm.", $name, ", . - ompvm.", $name),
            concat!(".symver ompvm.", $name, ", ", $name, "@@VERSION"),
            ".popsection",
            target = sym program::unsupported,
        );
    };
}

macro_rules! exports {
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
        $(jump!($name, $path);)*
        $(jump!($v_name, $v_entry);)*
        $($(refuse!($u_name);)*)*
    };
}
ompvm_kmpc::for_each_runtime_entry!(exports);

// The reference makes a program that is linked with this library export its `ompt_start_tool`, if
// it has one. Otherwise the runtime could not find it by name.
global_asm!(
    ".weak ompt_start_tool",
    ".pushsection .data.rel.ro.ompvm_tool,\"awR\",@progbits",
    ".balign 8",
    ".quad ompt_start_tool",
    ".popsection",
);

/// Exports a number in the form of libomp's handles of allocators and memory spaces.
macro_rules! constant {
    ($($name:literal = $value:literal;)*) => {
        $(global_asm!(
            ".pushsection .rodata.ompvm_handles,\"aR\",@progbits",
            ".balign 8",
            concat!(".globl ompvm.", $name),
            concat!(".type ompvm.", $name, ",@object"),
            concat!("ompvm.", $name, ": .quad ", $value),
            concat!(".size ompvm.", $name, ", 8"),
            concat!(".symver ompvm.", $name, ", ", $name, "@@VERSION"),
            ".popsection",
        );)*
    };
}
constant! {
    "omp_null_allocator" = 0;
    "omp_default_mem_alloc" = 1;
    "omp_large_cap_mem_alloc" = 2;
    "omp_const_mem_alloc" = 3;
    "omp_high_bw_mem_alloc" = 4;
    "omp_low_lat_mem_alloc" = 5;
    "omp_cgroup_mem_alloc" = 6;
    "omp_pteam_mem_alloc" = 7;
    "omp_thread_mem_alloc" = 8;
    "kmp_max_mem_alloc" = 1024;
    "omp_null_mem_space" = 0;
    "omp_default_mem_space" = 99;
    "omp_large_cap_mem_space" = 1;
    "omp_const_mem_space" = 2;
    "omp_high_bw_mem_space" = 3;
    "omp_low_lat_mem_space" = 4;
    "kmp_max_mem_space" = 1024;
}
