//! From the device images of a program to PTX for one kind of GPU.
//!
//! What: [`lower`] links the units' images with each other, with the devices' runtime
//! (`runtime-c/device/`) and with a library of mathematics, makes of it what the kernels need and no
//! more, and generates code. How it gets short: everything is known here, so nothing is left
//! general. Which of the two kinds of kernels there are becomes a constant of the runtime ([`groups`]);
//! a construct that is a loop over teams and threads at once becomes one loop over the grid
//! ([`grid`]), whose iterations go to blocks as tiles of the indices where its body gains by that (`tile.cpp`); what
//! a thread keeps of itself in its block's memory becomes registers ([`promote`]); barriers
//! after which nothing is read go ([`finish`]); what a collapsed loop divides has 32
//! bits where that is enough (`narrow.cpp`). The rest LLVM's passes do, since
//! the runtime is inlined.
//!
//! What LLVM's code generator cannot do ends the process there, so [`check`] looks before: a kernel
//! that needs such a thing is refused, with reason and place, and the others are made. All of it runs
//! guarded.
//!
//! What not: no driver, no files, no cache (`offload::nvptx`).

mod check;
mod early;
mod environment;
pub(in crate::llvm) mod finish;
mod grid;
mod groups;
pub(in crate::llvm) mod machine;
mod mathematics;
mod promote;
mod shape;

pub use environment::Environment;
pub use mathematics::Mathematics;

use super::guard;
use super::parse::{self, Parsed};
use super::raw::llvm;
use super::reader::{list, name_of};
use super::{Input, device};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage};
use machine::{Machine, PROMOTED};
use std::ptr::null_mut;

/// The address space of what each block has for itself.
const SHARED: u32 = 3;

/// What is to be made.
#[derive(Clone, Debug)]
pub struct Request {
    /// The units' images, as bitcode.
    pub units: Vec<Input>,
    /// The GPU: 90 for `sm_90`.
    pub architecture: u32,
    /// The version of PTX: 78 for 7.8.
    pub version: u32,
    /// Where `__nv_exp` and its like come from.
    pub mathematics: Mathematics,
    /// `nteams-var` of the device; 0 where nothing bounds the teams.
    pub teams: u32,
}

/// One kernel of the images.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// What the compiler says of it; none for a kernel that is not OpenMP's.
    pub environment: Option<Environment>,
    /// Number of its parameters, the launch environment included; each is a word.
    pub parameters: u32,
    /// Why there is no code for it, and where in the source.
    pub refused: Option<Refusal>,
    /// The number of teams changes none of its results, so the device may choose it.
    pub any_grid: bool,
}

/// Why something cannot run on the device.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refusal {
    /// What, in words.
    pub reason: String,
    /// `file.c:12`, when known.
    pub place: Option<String>,
}

/// A variable of the images that the host can find.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Lowered {
    /// The code, empty when every kernel was refused and there are no variables.
    pub ptx: Vec<u8>,
    /// The kernels, refused ones included.
    pub kernels: Vec<Kernel>,
}

/// Links and lowers.
///
/// # Errors
/// One sentence, when an image is damaged, when they do not fit together, or when LLVM gives up.
pub fn lower(request: &Request) -> Result<Lowered, String> {
    if device::RUNTIME.is_empty() {
        return Err("this build has no runtime for devices: it was made without clang 22".into());
    }
    let request = request.clone();
    let limits = guard::Limits::for_input(request.units.iter().map(|u| u.bytes.len()).sum());
    guard::run(&limits, move || lower_here(&request))?
}

fn lower_here(request: &Request) -> Result<Lowered, String> {
    super::initialise_nvptx();
    let parsed = parse::parse_for(&request.units, "nvptx64").map_err(|e| e.to_string())?;
    let module = parsed.module;
    let machine = Machine::new(request.architecture, request.version)?;
    machine.adopt(module);
    super::shim::resolve_aliases(module);
    let mut kernels = environment::read(module);
    let own = own_symbols(module);
    prepare(module, &machine)?;
    environment::make_room(module, &kernels);
    grid::rewrite(module, &kernels);
    for kernel in &mut kernels {
        kernel.any_grid = shape::any_grid(module, kernel);
        if kernel.any_grid {
            shape::mark_interchangeable(module, kernel);
        }
        shape::mark_static_loop(module, kernel);
        if let Some(environment) = &mut kernel.environment {
            environment.nested &= shape::nests(module, &kernel.name);
        }
    }
    mathematics::name(module, &request.mathematics);
    link(&parsed, device::RUNTIME, "runtime")?;
    allow_inlining(module);
    groups::set_constant(module, c"__ompvm_max_teams", request.teams.into());
    mathematics::link(&parsed, &request.mathematics)?;
    // Functions of another processor would not be inlined.
    machine.adopt(module);
    // LLVM's own pass over OpenMP's calls would turn kernels of one kind into the other, when what
    // depends on that is settled; it goes by a flag.
    super::shim::forget_flags(module);
    groups::specialise(&parsed, &machine, &kernels, &own)?;
    for kernel in &mut kernels {
        kernel.refused = check::kernel(module, &kernel.name, request);
    }
    finish::remove(module, &kernels)?;
    check::disarm(module, request);
    if promote::variables_of_blocks(module, &kernels) {
        machine.run(module, PROMOTED)?;
    }
    finish::unread(module);
    promote::leading_barriers(module, &kernels);
    machine.widen_counters(module)?;
    super::shim::tile(module);
    super::shim::narrow(module);
    machine.run(
        module,
        c"function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg,adce),globaldce",
    )?;
    finish::barriers(module);
    finish::zeros(module);
    early::loads(module);
    // A chain of such operations gets no shorter by it, and the assembler takes up to 20 s.
    super::shim::keep_rolled(module);
    let ptx = machine.assembly(module)?;
    Ok(Lowered { ptx, kernels })
}

/// Names of what the images define for others to find: kernels, variables, functions.
fn own_symbols(module: LLVMModuleRef) -> Vec<Box<str>> {
    let visible = |&value: &LLVMValueRef| {
        llvm!(core::LLVMIsDeclaration(value)) == 0
            && !matches!(
                llvm!(core::LLVMGetLinkage(value)),
                LLVMLinkage::LLVMInternalLinkage
                    | LLVMLinkage::LLVMPrivateLinkage
                    | LLVMLinkage::LLVMAppendingLinkage
            )
    };
    let hidden = |name: &str| {
        name.ends_with("_kernel_environment")
            || name.ends_with("_dynamic_environment")
            || name.starts_with("__openmp_nvptx_")
            || name.starts_with("llvm.")
    };
    variables(module)
        .filter(visible)
        .map(name_of)
        .filter(|n| !hidden(n))
        .collect()
}

pub(in crate::llvm) fn variables(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    list(llvm!(core::LLVMGetFirstGlobal(module)), |v| {
        llvm!(core::LLVMGetNextGlobal(v))
    })
}

pub(in crate::llvm) fn functions(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    list(llvm!(core::LLVMGetFirstFunction(module)), |f| {
        llvm!(core::LLVMGetNextFunction(f))
    })
}

pub(in crate::llvm) fn instructions(function: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    let mut blocks = Vec::new();
    let mut block = llvm!(core::LLVMGetFirstBasicBlock(function));
    while !block.is_null() {
        blocks.push(block);
        block = llvm!(core::LLVMGetNextBasicBlock(block));
    }
    blocks.into_iter().flat_map(|block| {
        list(llvm!(core::LLVMGetFirstInstruction(block)), |i| {
            llvm!(core::LLVMGetNextInstruction(i))
        })
    })
}

/// The function with that name, defined or declared.
pub(in crate::llvm) fn function(module: LLVMModuleRef, name: &str) -> Option<LLVMValueRef> {
    let found = llvm!(core::LLVMGetNamedFunctionWithLength(
        module,
        name.as_ptr().cast(),
        name.len()
    ));
    (!found.is_null()).then_some(found)
}

/// The function that a call calls by name.
pub(in crate::llvm) fn called(instruction: LLVMValueRef) -> Option<LLVMValueRef> {
    if llvm!(core::LLVMIsACallInst(instruction)).is_null() {
        return None;
    }
    let called = llvm!(core::LLVMGetCalledValue(instruction));
    (!llvm!(core::LLVMIsAFunction(called)).is_null()).then_some(called)
}

/// Brings unoptimised images to the form that the rewriting knows, and has one processor named.
fn prepare(module: LLVMModuleRef, machine: &Machine) -> Result<(), String> {
    for function in functions(module) {
        let remove = |name: &std::ffi::CStr| {
            let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
                name.as_ptr(),
                name.count_bytes()
            ));
            let index = LLVMAttributeFunctionIndex;
            let there = !llvm!(core::LLVMGetEnumAttributeAtIndex(function, index, kind)).is_null();
            if there {
                llvm!(core::LLVMRemoveEnumAttributeAtIndex(function, index, kind));
            }
            there
        };
        // Without optimisation both are on every function, whatever the program says.
        if remove(c"optnone") {
            remove(c"noinline");
        }
    }
    machine.run(
        module,
        c"function(sroa,early-cse<memssa>,dse,instcombine<no-verify-fixpoint>,simplifycfg)",
    )
}

/// Drops from the runtime's entries that they know no library functions: LLVM inlines no function into one that
/// knows more. Functions of the library itself keep it, or they would be recognised as calls of themselves.
fn allow_inlining(module: LLVMModuleRef) {
    const NAME: &std::ffi::CStr = c"no-builtins";
    for function in functions(module) {
        let name = name_of(function);
        if ["omp_", "__kmpc_", "__ompvm_"]
            .iter()
            .any(|entry| name.starts_with(entry))
        {
            llvm!(core::LLVMRemoveStringAttributeAtIndex(
                function,
                LLVMAttributeFunctionIndex,
                NAME.as_ptr(),
                NAME.count_bytes() as u32
            ));
        }
    }
}

/// Links what is used of another piece of bitcode.
fn link(parsed: &Parsed, bytes: &[u8], what: &str) -> Result<(), String> {
    let buffer = llvm!(core::LLVMCreateMemoryBufferWithMemoryRangeCopy(
        bytes.as_ptr().cast(),
        bytes.len(),
        c"library".as_ptr()
    ));
    let mut library = null_mut();
    let failed = llvm!(bit_reader::LLVMParseBitcodeInContext2(
        parsed.context,
        buffer,
        &mut library
    )) != 0;
    llvm!(core::LLVMDisposeMemoryBuffer(buffer));
    if failed {
        return Err(format!(
            "the {what} cannot be read: {}",
            parsed.take_errors()
        ));
    }
    // No complaint about other libraries' names for the same target.
    let triple = llvm!(core::LLVMGetTarget(parsed.module));
    llvm!(core::LLVMSetTarget(library, triple));
    let layout = llvm!(core::LLVMGetDataLayoutStr(parsed.module));
    llvm!(core::LLVMSetDataLayout(library, layout));
    if super::shim::link_needed(parsed.module, library) {
        Ok(())
    } else {
        Err(format!(
            "the {what} cannot be linked: {}",
            parsed.take_errors()
        ))
    }
}
