//! Machine code of a few lines of textual IR: thunks of the interpreter, and a module's own assembly.
//!
//! Why not a unit ([`super::Session`]): the text is ours, so nothing has to be rewired, and its code may use
//! every feature of this processor where the text says so.
//!
//! Left out: passes; linking is `memory::link`'s business.

use super::pipeline::Machine;
use crate::llvm::{Input, contain, parse};
use crate::support::error::Error;
use std::fmt::Write as _;
use std::mem::ManuallyDrop;
use std::time::Duration;

/// A compiler of single functions. Each takes as long as its code generation.
pub struct Compiler(Machine);

impl std::fmt::Debug for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Compiler")
    }
}

// SAFETY: the machine's reference count is this value's alone (`Machine::whole`), and LLVM's target machines may
// be used by one thread after another.
unsafe impl Send for Compiler {}

impl Compiler {
    /// A compiler for this processor.
    ///
    /// # Errors
    /// LLVM's message when it has no code generator for this processor.
    pub fn new() -> Result<Compiler, String> {
        crate::llvm::initialise_target();
        Ok(Compiler(Machine::whole()?))
    }

    /// The text as an object file.
    ///
    /// # Errors
    /// LLVM's message when the text is no valid IR, or an error of the assembly in it.
    pub fn object(&mut self, text: &str) -> Result<Vec<u8>, String> {
        let input = Input {
            name: "thunk".into(),
            bytes: text.as_bytes().to_vec(),
        };
        let parsed = parse::parse(&[input]).map_err(|e| match e {
            Error::Input { cause, .. } => cause,
            other => other.to_string(),
        })?;
        self.0.adopt(parsed.module)?;
        let object = self.0.object(parsed.module);
        let errors = parsed.take_errors();
        if !errors.is_empty() {
            return Err(errors);
        }
        object
    }
}

/// Processor time for a compilation: some thousand times what is usual.
const TIME: Duration = Duration::from_secs(20);

/// Compiles text with the compiler that is given or a new one; gives the compiler back, and the object file. A compiler
/// in which LLVM gave up is not used any more.
///
/// # Errors
/// Why it cannot be compiled.
pub fn contained(
    compiler: Option<Compiler>,
    text: &str,
) -> (Option<Compiler>, Result<Vec<u8>, String>) {
    let mut compiler = ManuallyDrop::new(compiler);
    let done = contain::run(TIME, || {
        let compiler = match &mut *compiler {
            Some(compiler) => compiler,
            none => none.insert(Compiler::new()?),
        };
        compiler.object(text)
    });
    match done {
        Ok(result) => (ManuallyDrop::into_inner(compiler), result),
        Err(failure) => {
            let why = format!("LLVM cannot compile it: {}", failure.why);
            (None, Err(why))
        }
    }
}

/// Assembles text, as a module has it outside of its functions, to an object file.
///
/// # Errors
/// LLVM's message with the line in the text.
pub fn assemble(text: &str) -> Result<Vec<u8>, String> {
    let mut module = String::new();
    for line in text.lines() {
        module.push_str("module asm \"");
        for &byte in line.as_bytes() {
            match byte {
                b'"' | b'\\' | 0..=0x1f | 0x7f.. => {
                    let _ = write!(module, "\\{byte:02X}");
                }
                _ => module.push(byte as char),
            }
        }
        module.push_str("\"\n");
    }
    contained(None, &module).1
}
