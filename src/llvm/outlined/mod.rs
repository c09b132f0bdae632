//! Regions of the host as kernels: `parallel for` of a program that says nothing of devices.
//!
//! What: [`outline`] looks at each function that `__kmpc_fork_call` runs, or `__kmpc_fork_call_if`, says of
//! each whether its iterations can run on a device and if not why not, and makes one unit of device code,
//! like those that compilers make of `target` regions, with a kernel for each that can. How: a region's
//! function and what it calls become one function ([`flatten`]); its calls of the runtime become calls of
//! `runtime-c/device/outlined.c`, which have it run one iteration ([`entries`]); its accesses say what is to
//! be where ([`accesses`]); and [`kernel`] calls it for each iteration that falls to a thread. Several loops
//! are as many kernels ([`phases`]); where what is around them cannot be done by each, the host does it between
//! the kernels ([`walk`]). [`copies`] says where the private copies of a reduction are.
//!
//! Why that is right: a loop that is divided over threads may be divided over any number of them, where
//! nothing in it asks for their number; and a private variable of a thread that runs one iteration is
//! initialised for it. What a region does around its loop it does once for each iteration: [`entries`]
//! refuses what could tell the difference.
//!
//! What not: nothing is known here of devices or addresses (`offload::outlined`).

mod accesses;
mod around;
mod control;
mod copies;
mod entries;
mod flatten;
mod kernel;
mod loops;
mod names;
mod own;
mod phases;
mod script;
mod sums;
mod trips;
mod walk;

use super::nvptx::Refusal;
use super::{Input, guard, parse, shim};
use crate::llvm::raw::{copy_text, llvm};
use crate::llvm::reader::name_of;
use entries::Way;
use inkwell::llvm_sys::prelude::*;
use kernel::Kernel;
pub use script::{Conversion, Operand, Real, Run, Script, Step};
use serde::{Deserialize, Serialize};
pub use trips::{Expression, Operation, Words};

/// A region's function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Its name.
    pub function: String,
    /// `file.c:12` of the construct, when known.
    pub place: Option<String>,
    /// How it runs on a device, or why not.
    pub verdict: Result<Plan, Refusal>,
}

/// How a region runs on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its loops, in their order.
    pub phases: Vec<Phase>,
    /// What it uses of the host.
    pub roots: Vec<Root>,
    /// Whether it has a reduction.
    pub reduction: bool,
    /// What the host does between its loops; none where the kernels do that, one after the other.
    pub script: Option<Script>,
}

/// A loop of a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Its kernel. Its first argument is the launch environment; then come those of the plan's `roots`.
    pub kernel: String,
    /// Its number in the region's function.
    pub number: u32,
    /// The first iteration's number, and the last's, where the host can tell.
    pub bounds: Option<(Expression, Expression)>,
    /// Which of the plan's roots it writes, by their numbers; of a script's alone.
    pub writes: Vec<u32>,
    /// Bytes of memory that each iteration has for itself. A GPU has them for each of the threads that it may
    /// run at once, ten thousands and more, so from some KiB on they are far from the processors.
    pub private: u64,
    /// Bytes of memory of the device that each of its threads has for what is too large for that.
    pub scratch: u64,
}

/// Something that a region gets from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Where the host has it.
    pub origin: Origin,
    /// How the kernel gets it.
    pub passing: Passing,
}

/// Where the host has something.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Origin {
    /// An argument of the region's function, counted without the two that the runtime adds.
    Captured(u32),
    /// A variable of the program.
    Global(String),
}

/// How a kernel gets something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Passing {
    /// As the word that the host has.
    Value,
    /// The memory at the address, as words.
    Copy {
        /// Bytes.
        size: u32,
        /// Pointers in it, by offset, a multiple of 8: how what they lead to is passed in their place.
        pointers: Vec<(u32, Passing)>,
    },
    /// The address of an object; of one that is neither read nor written only to be compared with others.
    Object(Access),
}

/// What is done with an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// It is read.
    pub read: bool,
    /// It is written.
    pub write: bool,
    /// Bytes from its address on that can be touched, when known.
    pub size: Option<u64>,
}

impl Passing {
    /// Words of the kernel's arguments.
    pub fn words(&self) -> u32 {
        match self {
            Passing::Value | Passing::Object(_) => 1,
            Passing::Copy { size, pointers } => {
                let more = pointers.iter().map(|(_, p)| p.words() - 1);
                size.div_ceil(8) + more.sum::<u32>()
            }
        }
    }
}

/// What became of a program's regions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlined {
    /// Device code with all kernels, as bitcode; empty when there are none.
    pub unit: Vec<u8>,
    /// The regions.
    pub regions: Vec<Region>,
}

/// Makes kernels of a program's regions.
///
/// # Errors
/// One sentence, when a file is damaged or LLVM gives up.
pub fn outline(files: &[Input]) -> Result<Outlined, String> {
    let files = files.to_vec();
    let limits = guard::Limits::for_input(files.iter().map(|f| f.bytes.len()).sum());
    guard::run(&limits, move || outline_here(&files))?
}

fn outline_here(files: &[Input]) -> Result<Outlined, String> {
    super::initialise_nvptx();
    let parsed = parse::parse(files).map_err(|e| e.to_string())?;
    let module = parsed.module;
    // Compilers call a constructor by an alias of it; a region's code has to be one function.
    shim::resolve_aliases(module);
    let mut found = flatten::candidates(module);
    if found.is_empty() {
        return Ok(Outlined::default());
    }
    let mut owns = own::survey(module, &found);
    flatten::flatten(module, &found)?;
    own::replace(&mut owns, &mut found);
    let mut regions = Vec::new();
    let mut made = Vec::new();
    for (index, candidate) in found.iter().enumerate() {
        let verdict = match candidate.refused.clone() {
            Some(refusal) => Err(refusal),
            None => plan(module, candidate.function, index),
        };
        let verdict = verdict.map(|(plan, kernels)| {
            made.push((plan.roots.clone(), kernels));
            plan
        });
        if candidate.refused.is_some() {
            shim::forget_body(candidate.function);
        }
        regions.push(Region {
            function: candidate.name.clone(),
            place: candidate.place.clone(),
            verdict,
        });
    }
    let unit = if made.is_empty() {
        kernel::Unit::default()
    } else {
        let kernels: Vec<_> = made
            .iter()
            .flat_map(|(roots, list)| list.iter().map(move |made| (made, roots.as_slice())))
            .collect();
        kernel::unit(&parsed, &kernels)?
    };
    for region in &mut regions {
        let Ok(plan) = &mut region.verdict else {
            continue;
        };
        for phase in &mut plan.phases {
            let of = unit.memory.get(&phase.kernel).copied().unwrap_or_default();
            (phase.private, phase.scratch) = (of.private, of.scratch);
        }
    }
    Ok(Outlined {
        unit: unit.bitcode,
        regions,
    })
}

/// Decides how a region runs: as kernels alone, else with a walk between them.
fn plan(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    index: usize,
) -> Result<(Plan, Vec<Kernel>), Refusal> {
    let copy = shim::clone(function);
    if let Ok(made) = whole(module, function, index) {
        shim::forget_body(copy);
        return Ok(made);
    }
    shim::forget_body(function);
    // What it says is the narrower reason: it takes more.
    walked(module, copy, index).inspect_err(|_| shim::forget_body(copy))
}

fn kernel_name(index: usize, phase: usize) -> String {
    match phase {
        0 => format!("__ompvm_outlined_{index}"),
        _ => format!("__ompvm_outlined_{index}_{phase}"),
    }
}

fn check_words(roots: &[Root], more: usize) -> Result<(), Refusal> {
    let words: u32 = roots.iter().map(|r| r.passing.words()).sum();
    match words as usize + more > kernel::WORDS as usize {
        true => Err(refuse(
            "it captures more than a kernel's arguments hold",
            None,
        )),
        false => Ok(()),
    }
}

/// A region whose kernels do what is around its loops, too.
fn whole(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    index: usize,
) -> Result<(Plan, Vec<Kernel>), Refusal> {
    let reductions = entries::rewrite(module, function, Way::Whole)?;
    flatten::simplify(function)?;
    let loops = loops::find(function)?;
    let roots = accesses::roots(module, function, &loops)?;
    check_words(&roots, 0)?;
    let phase = |(n, at): (usize, &loops::Loop)| Phase {
        kernel: kernel_name(index, n),
        number: at.number,
        bounds: trips::bounds(&roots, function, module, at.begin),
        writes: Vec::new(),
        private: 0,
        scratch: 0,
    };
    let phases: Vec<Phase> = loops.iter().enumerate().map(phase).collect();
    let kernel = |phase: &Phase| Kernel {
        name: phase.kernel.clone(),
        number: phase.number,
        function,
        reduction: reductions.first().cloned(),
    };
    let kernels = phases.iter().map(kernel).collect();
    let plan = Plan {
        phases,
        reduction: !reductions.is_empty(),
        roots,
        script: None,
    };
    Ok((plan, kernels))
}

/// A region with kernels between which the host walks.
fn walked(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    index: usize,
) -> Result<(Plan, Vec<Kernel>), Refusal> {
    let mut reductions = entries::rewrite(module, function, Way::Walk)?;
    flatten::simplify(function)?;
    let roots = accesses::all_roots(module, function)?;
    let mut bounds = trips::once(&roots, function, module);
    let (parts, script) = walk::apart(module, function, &mut reductions)?;
    let mut phases = Vec::new();
    let mut kernels = Vec::new();
    for (n, part) in parts.into_iter().enumerate() {
        let captured = llvm!(core::LLVMCountParams(function)) as usize;
        let words = llvm!(core::LLVMCountParams(part.function)) as usize - captured;
        check_words(&roots, words)?;
        phases.push(Phase {
            kernel: kernel_name(index, n),
            number: part.number,
            bounds: bounds.remove(&part.number),
            writes: accesses::written(module, part.function, &roots)?,
            private: 0,
            scratch: 0,
        });
        kernels.push(Kernel {
            name: kernel_name(index, n),
            number: part.number,
            function: part.function,
            reduction: part.reduction,
        });
    }
    let plan = Plan {
        phases,
        roots,
        reduction: !reductions.is_empty(),
        script: Some(script),
    };
    Ok((plan, kernels))
}

fn refuse(reason: impl Into<String>, at: Option<LLVMValueRef>) -> Refusal {
    Refusal {
        reason: reason.into(),
        place: at.and_then(place),
    }
}

/// `file.c:12` of an instruction.
fn place(instruction: LLVMValueRef) -> Option<String> {
    let line = llvm!(core::LLVMGetDebugLocLine(instruction));
    let mut length = 0;
    let name = llvm!(core::LLVMGetDebugLocFilename(instruction, &mut length));
    let file = copy_text(name, length as usize);
    (line != 0 && !file.is_empty()).then(|| format!("{file}:{line}"))
}

fn constant(value: LLVMValueRef) -> Option<i64> {
    (!llvm!(core::LLVMIsAConstantInt(value)).is_null())
        .then(|| llvm!(core::LLVMConstIntGetSExtValue(value)))
}

/// The users of a value.
fn users(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut list = Vec::new();
    let mut usage = llvm!(core::LLVMGetFirstUse(value));
    while !usage.is_null() {
        list.push(llvm!(core::LLVMGetUser(usage)));
        usage = llvm!(core::LLVMGetNextUse(usage));
    }
    list
}

fn function_name(function: LLVMValueRef) -> String {
    name_of(function).into_string()
}
