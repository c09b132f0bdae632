//! A module in the cache: damaged bytes are refused or load, and never end the process.
//!
//! An input is where a valid file is cut and which of its bytes change. The cache compares digests
//! before it loads, so this is the second line of defence.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ompvm_ir::serialized::{load, save};
use ompvm_llvm::{Input, read};
use std::sync::OnceLock;

const TEXT: &str = "
@g = global [3 x double] zeroinitializer
@p = global ptr @g
declare i32 @printf(ptr, ...)
define i32 @f(i32 %x, ptr %to) {
entry:
  %c = icmp eq i32 %x, 3
  br i1 %c, label %yes, label %no
yes:
  %at = getelementptr double, ptr @g, i32 %x
  store double 1.5, ptr %at
  br label %no
no:
  %y = phi i32 [ 1, %entry ], [ %x, %yes ]
  %n = call i32 (ptr, ...) @printf(ptr %to, i32 %y)
  ret i32 %n
}
";

fn saved() -> &'static [u8] {
    static SAVED: OnceLock<Vec<u8>> = OnceLock::new();
    SAVED.get_or_init(|| {
        let input = Input {
            name: "input".into(),
            bytes: TEXT.into(),
        };
        let module = read(&[input]).expect("the text is a module");
        save(&module, Box::default()).expect("a module can be saved")
    })
}

fuzz_target!(|input: (u16, Vec<(u16, u8)>)| {
    let (cut, changes) = input;
    let mut bytes = saved().to_vec();
    let len = bytes.len();
    for (at, value) in changes {
        bytes[usize::from(at) % len] = value;
    }
    bytes.truncate(len - usize::from(cut) % len);
    let _ = load(bytes);
});
