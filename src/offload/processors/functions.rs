//! Functions that device code calls on processors. Its memory is that of the process, so those of
//! the C library are the process's own.

use super::workers;
use crate::{plain_functions, printf};
use ompvm_llvm::processors::{BLOCK, INSTRUCTIONS};
use ompvm_support::math_functions::{DeviceSupport, function as known};

plain_functions::functions! {
    "ompvm.nvvm.nanosleep" => nanosleep;
    "ompvm.nvvm.read.ptx.sreg.globaltimer" => plain_functions::nanoseconds;
    "ompvm.nvvm.read.ptx.sreg.clock64" => plain_functions::nanoseconds;
    "vprintf" => vprintf;
    "__llvm_omp_vprintf" => vprintf_sized;
    "__assertfail" => assert_fail;
}

/// Functions of the C library that device code may call.
const LIBRARY: [&str; 11] = [
    "malloc", "calloc", "free", "abort", "exit", "memcpy", "memmove", "memset", "memcmp", "strlen",
    "strcmp",
];

/// Returns the address of the function of that name, or 0.
pub(super) fn address(name: &str) -> usize {
    if name == BLOCK {
        return workers::current_block as *const () as usize;
    }
    if LIBRARY.contains(&name) {
        return plain_functions::process(name);
    }
    match built_in(name) {
        0 => match plain_functions::address(name) {
            0 => with_pointer(name),
            address => address,
        },
        address => address,
    }
}

/// Returns the address of a mathematical function that stores a part of its result, or 0.
fn with_pointer(name: &str) -> usize {
    let plain = name.strip_prefix("__nv_").unwrap_or(name);
    match known(plain) {
        Some((_, DeviceSupport::Pointer)) => plain_functions::process(plain),
        _ => 0,
    }
}

/// Returns true if there is a function of that name. Intrinsics of the device are named `llvm.nvvm`,
/// and others stand for functions of the mathematical library.
pub(super) fn is_provided(name: &str) -> bool {
    let Some(intrinsic) = name.strip_prefix("llvm.") else {
        return address(name) != 0;
    };
    match intrinsic.strip_prefix("nvvm.") {
        Some(instruction) => address(&format!("{INSTRUCTIONS}{instruction}")) != 0,
        None => {
            let plain = intrinsic.split('.').next().unwrap_or_default();
            known(plain).is_some() || plain == "powi"
        }
    }
}

extern "C" fn nanosleep(_: u32) {
    // The threads that this one waits for may need its processor.
    std::thread::yield_now();
}

fn in_place(address: u64, _: u64) -> *mut u8 {
    address as *mut u8
}

extern "C" fn vprintf(format: u64, arguments: u64) -> i32 {
    printf::print(in_place, format, arguments)
}

extern "C" fn vprintf_sized(format: u64, arguments: u64, _size: u32) -> i32 {
    vprintf(format, arguments)
}

/// Reports a failed assertion as the C library does, and ends the process.
extern "C" fn assert_fail(message: u64, file: u64, line: u32, function: u64) -> ! {
    let text = |address| printf::read_text(in_place, address);
    ompvm_support::eprintln!(
        "{}:{line}: {}: Assertion `{}' failed.",
        text(file),
        text(function),
        text(message)
    );
    // SAFETY: `abort` has no preconditions.
    unsafe { libc::abort() }
}
