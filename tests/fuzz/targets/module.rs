//! Bitcode and textual IR: a file is read, or refused with an error; reading again gives the same.
//!
//! Where LLVM itself fails, the reader contains that as in `ompvm run` and leaves LLVM's memory
//! behind, so runs need `-detect_leaks=0`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ompvm_llvm::{Input, read};

fuzz_target!(|bytes: &[u8]| {
    let input = || Input {
        name: "input".into(),
        bytes: bytes.to_vec(),
    };
    let first = read(&[input()]).map(|module| module.functions.len());
    let again = read(&[input()]).map(|module| module.functions.len());
    match (first, again) {
        (Ok(first), Ok(again)) => assert_eq!(first, again),
        (Err(first), Err(again)) => assert_eq!(first.to_string(), again.to_string()),
        (first, again) => panic!("{first:?}, then {again:?}"),
    }
});
