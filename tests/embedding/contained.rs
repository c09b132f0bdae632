//! Modules that a process of its own reads: they run as others do, errors are the same, and a reader
//! that dies, lingers or answers nonsense is an error.

use super::{REGION, one_at_a_time};
use ompvm::api::{Config, Engine, Error, Linker, Module};
use ompvm::llvm::reader_process::read;
use ompvm::llvm::{Input, ReadOptions, read_program};
use std::path::Path;
use std::process::Command;

const READER: &str = env!("CARGO_BIN_EXE_ompvm");

fn input(bytes: &[u8]) -> [Input; 1] {
    [Input {
        name: "input".into(),
        bytes: bytes.into(),
    }]
}

#[test]
fn a_contained_module_runs() {
    let _turn = one_at_a_time();
    // SAFETY: other tests wait for their turn. The engine finds the reader in `PATH`, if another
    // test has created an engine before.
    unsafe {
        let folder = Path::new(READER).parent().unwrap().display();
        let path = std::env::var("PATH").unwrap_or_default();
        std::env::set_var("PATH", format!("{folder}:{path}"));
    }
    let engine = Engine::new().contain_reading(true);
    let module = Module::from_bytes(&engine, "region.ll", REGION.as_bytes()).unwrap();
    let plain = Module::from_bytes(&Engine::new(), "region.ll", REGION.as_bytes()).unwrap();
    let functions = |module: &Module| format!("{:?}", module.inspect().functions);
    assert_eq!(functions(&module), functions(&plain));
    let program = Linker::new(&engine).link(&module).unwrap();
    let process = program.start(Config::new()).unwrap();
    super::fill(&process, 1);
}

#[test]
fn errors_are_those_of_reading_here() {
    let texts: [&[u8]; 5] = [
        b"",
        b"BC\xC0\xDEmore bytes",
        b"\x00\x01",
        b"define i32 @f() { ret i64 0 }",
        b"target triple = \"aarch64-linux-gnu\"",
    ];
    for text in texts {
        let contained = read(Path::new(READER), &input(text), false).unwrap_err();
        let here = read_program(&input(text), ReadOptions::default()).unwrap_err();
        assert_eq!(contained.to_string(), here.to_string());
    }
}

/// Reads with a reader that is a script. Another process writes it: a child that another test starts
/// meanwhile would have this process's open file, and no file can be executed that is open for
/// writing.
fn by_script(script: &str) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reader");
    let text = format!("#!/bin/sh\n{script}\n");
    let write = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let mut shell = Command::new("sh");
    let status = shell.args(["-c", write]).arg(&file).arg(text).status();
    assert!(status.unwrap().success());
    read(&file, &input(REGION.as_bytes()), false).unwrap_err()
}

#[test]
fn a_reader_that_dies_or_lies_is_an_error() {
    let head = concat!("printf 'ompvm reader 1 ", env!("CARGO_PKG_VERSION"), "\\n");
    for (script, cause) in [
        (
            "kill -SEGV $$",
            "input: damaged LLVM IR, LLVM crashed on it (signal 11)",
        ),
        (
            "kill -KILL $$",
            "input: damaged LLVM IR, reading it takes too long or too much memory",
        ),
        (
            "exit 3",
            "input: damaged LLVM IR, the process that reads it ended with exit status: 3",
        ),
        (
            "exec >&-; exec sleep 100",
            "takes too long or too much memory",
        ),
        (
            "echo hello",
            "is another version of ompvm than this one, or another program",
        ),
        (&format!("{head}'"), "gave no valid answer"),
        (&format!("{head}+'"), "gave no valid answer"),
        (
            &format!("{head}+\\377\\377\\377\\377\\377\\377\\377\\377'"),
            "gave no valid answer",
        ),
        (&format!("{head}*'"), "gave no valid answer"),
    ] {
        let error = by_script(script).to_string();
        assert!(error.contains(cause), "{script}: {error}");
    }
}
