//! A whole module to machine code in this process.
//!
//! What: [`compile`] parses the program's files again in a context of its own (LLVM is
//! single-threaded per context), rewires every symbol to where the running program has it
//! ([`prepare`]), generates an object file for this processor and links it into low memory
//! ([`link`]). Why the whole module: calls between its functions stay direct, and it is one
//! parse. Why low memory and 32-bit addresses: data and code are then addressed as in a native
//! executable that is linked at a fixed place.
//!
//! What not: no passes over the IR beyond what the rewiring needs: the files come out of clang's
//! pipeline. Nothing knows the interpreter; addresses come in with the request.

mod link;
mod prepare;

use super::raw::{llvm, take_message};
use super::{Input, parse};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target_machine::*;
pub use link::Code;
use std::ffi::{CStr, CString};
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What becomes of one of the module's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// It is compiled; where its address is taken it is `stub`.
    Compiled {
        /// The guest's function pointer.
        stub: usize,
    },
    /// Calls and pointers go to this address; 0 is an undefined weak symbol.
    External(usize),
    /// LLVM's own.
    Intrinsic,
}

/// Where one of the module's variables is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// At this address, with this many bytes.
    At(usize, usize),
    /// At this offset in the thread's block.
    ThreadLocal(usize),
    /// In another module's thread-local storage: functions that use it are not compiled.
    Foreign,
}

/// How compiled code finds the thread's block.
#[derive(Clone, Copy, Debug)]
pub struct ThreadBlock {
    /// Offset from the thread pointer to a cell that holds the block's address, or null when the
    /// thread has none yet.
    pub cell: Option<isize>,
    /// `extern "C" fn(argument) -> block`, which makes it and fills the cell.
    pub make: usize,
    /// Its argument.
    pub argument: usize,
}

/// What to compile, in the order in which the module has its symbols.
#[derive(Debug)]
pub struct Request {
    /// The program's files, as they were read.
    pub files: Arc<[(String, Vec<u8>)]>,
    /// One per function.
    pub functions: Vec<Function>,
    /// One per variable, LLVM's own bookkeeping left out.
    pub variables: Vec<Variable>,
    /// The address of each ifunc.
    pub ifuncs: Vec<usize>,
    /// Functions that generated code may call and the process may lack.
    pub helpers: Vec<(&'static str, usize)>,
    /// Thread-local storage.
    pub thread_block: ThreadBlock,
}

/// What came out.
#[derive(Debug)]
pub struct Compiled {
    /// The code, which lives as long as this.
    pub code: Code,
    /// Number and address of each compiled function.
    pub functions: Vec<(usize, usize)>,
    /// Functions left to the interpreter, and why.
    pub skipped: Vec<(usize, &'static str)>,
    /// Time for parsing, rewiring, code generation and linking.
    pub times: [Duration; 4],
    /// Bytes of the object file.
    pub object_bytes: usize,
}

/// Compiles a module.
///
/// # Errors
/// LLVM's message when the files cannot be parsed again, compiled or linked.
pub fn compile(request: &Request) -> Result<Compiled, String> {
    let mut times = [Duration::ZERO; 4];
    let mut last = Instant::now();
    let mut lap = |i: usize| {
        times[i] = last.elapsed();
        last = Instant::now();
    };
    super::initialise_target();
    let inputs: Vec<Input> = request
        .files
        .iter()
        .map(|(name, bytes)| Input {
            name: name.clone(),
            bytes: bytes.clone(),
        })
        .collect();
    let parsed = parse::parse(&inputs).map_err(|e| e.to_string())?;
    lap(0);
    let prepared = prepare::prepare(&parsed, request)?;
    lap(1);
    // Describing it for debuggers takes a fifth of the time.
    llvm!(debuginfo::LLVMStripModuleDebugInfo(parsed.module));
    let object = {
        let machine = Machine::host(parsed.module, prepared.position_independent)?;
        if prepared.inline {
            machine.run(parsed.module, c"always-inline")?;
        }
        machine.object(parsed.module)?
    };
    if !parsed.take_errors().is_empty() {
        llvm!(core::LLVMDisposeMemoryBuffer(object));
        return Err("LLVM reported an error in the program's assembly".into());
    }
    drop(parsed);
    lap(2);
    let object_bytes = llvm!(core::LLVMGetBufferSize(object));
    let code = Code::new(object, &prepared.symbols)?;
    let mut functions = Vec::with_capacity(prepared.compiled.len());
    for (number, name) in &prepared.compiled {
        functions.push((*number, code.lookup(name)?));
    }
    lap(3);
    Ok(Compiled {
        code,
        functions,
        skipped: prepared.skipped,
        times,
        object_bytes,
    })
}

/// LLVM's code generator for this processor.
struct Machine(LLVMTargetMachineRef);

impl Machine {
    fn host(module: LLVMModuleRef, position_independent: bool) -> Result<Machine, String> {
        let triple = llvm!(target_machine::LLVMGetDefaultTargetTriple());
        llvm!(core::LLVMSetTarget(module, triple));
        let mut target = null_mut();
        let mut message = null_mut();
        let failed = llvm!(target_machine::LLVMGetTargetFromTriple(
            triple,
            &mut target,
            &mut message
        )) != 0;
        if failed {
            llvm!(core::LLVMDisposeMessage(triple));
            return Err(take_message(message));
        }
        let name = take_message(llvm!(target_machine::LLVMGetHostCPUName()));
        let features = take_message(llvm!(target_machine::LLVMGetHostCPUFeatures()));
        let name = CString::new(name).map_err(|e| e.to_string())?;
        // What rounds otherwise than the guest's own target is left out.
        let features = format!("{features},-avx512bf16,-avxneconvert,-avx512fp16");
        let features = CString::new(features).map_err(|e| e.to_string())?;
        let machine = llvm!(target_machine::LLVMCreateTargetMachine(
            target,
            triple,
            name.as_ptr(),
            features.as_ptr(),
            LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            if position_independent {
                LLVMRelocMode::LLVMRelocPIC
            } else {
                LLVMRelocMode::LLVMRelocStatic
            },
            LLVMCodeModel::LLVMCodeModelSmall
        ));
        llvm!(core::LLVMDisposeMessage(triple));
        if machine.is_null() {
            return Err("LLVM has no code generator for this processor".into());
        }
        Ok(Machine(machine))
    }

    fn run(&self, module: LLVMModuleRef, passes: &CStr) -> Result<(), String> {
        let options = llvm!(transforms::pass_builder::LLVMCreatePassBuilderOptions());
        let result = super::error::take_error(llvm!(transforms::pass_builder::LLVMRunPasses(
            module,
            passes.as_ptr(),
            self.0,
            options
        )));
        llvm!(transforms::pass_builder::LLVMDisposePassBuilderOptions(
            options
        ));
        result
    }

    fn object(&self, module: LLVMModuleRef) -> Result<LLVMMemoryBufferRef, String> {
        let mut message = null_mut();
        let mut buffer = null_mut();
        let failed = llvm!(target_machine::LLVMTargetMachineEmitToMemoryBuffer(
            self.0,
            module,
            LLVMCodeGenFileType::LLVMObjectFile,
            &mut message,
            &mut buffer
        )) != 0;
        if failed {
            return Err(take_message(message));
        }
        Ok(buffer)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        llvm!(target_machine::LLVMDisposeTargetMachine(self.0));
    }
}
