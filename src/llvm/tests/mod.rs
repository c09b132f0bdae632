//! Tests of the reader: textual IR is read, and must print as it was.

mod errors;
mod instructions;
mod layout;
mod lazy_link;
mod native;
mod parallel_read;
mod saved;
mod symbols;

use super::*;
use ompvm_ir::{Const, ConstId, Op};

/// Reads a snippet.
fn read_text(text: &str) -> Result<Module, Error> {
    read(&[input("test.ll", text.as_bytes())])
}

fn input(name: &str, bytes: &[u8]) -> Input {
    Input {
        name: name.into(),
        bytes: bytes.to_vec(),
    }
}

/// Reads a valid snippet.
fn module(text: &str) -> Module {
    match read_text(text) {
        Ok(module) => module,
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// Returns the printed instructions of the first function with a body.
fn lines(module: &Module) -> Vec<String> {
    let body = module
        .functions
        .values()
        .find_map(|f| f.body.as_ref())
        .expect("a defined function");
    body.insts
        .iter()
        .map(|inst| module.show_inst(inst).to_string())
        .collect()
}

/// Reads a function with that head and these instructions, and returns the printed instructions.
fn body(head: &str, code: &str) -> Vec<String> {
    lines(&module(&format!("define {head} {{\n{code}\n}}\n")))
}

/// Returns the printed initializer of `@g`.
fn constant(globals: &str) -> String {
    let module = module(globals);
    let init = module
        .globals
        .values()
        .find(|g| &*g.name == "g")
        .and_then(|g| g.init)
        .expect("a variable g with an initializer");
    module.show_const(init).to_string()
}

#[test]
fn version_is_22() {
    assert_eq!(version().0, 22);
}

/// A module that uses every construct is read without unsupported items.
#[test]
fn every_construct_is_read() {
    let m = module(instructions::ALL);
    for (id, c) in &m.consts {
        let _: ConstId = id;
        assert!(!matches!(c, Const::Unsupported(_)), "{c:?}");
    }
    for f in m.functions.values() {
        for inst in f.body.iter().flat_map(|b| &b.insts) {
            assert!(!matches!(inst.op, Op::Unsupported(_)), "{:?}", inst.op);
        }
    }
}
