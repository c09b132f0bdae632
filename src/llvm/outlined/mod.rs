//! Regions of the host as kernels: `parallel for` of a program that says nothing of devices.
//!
//! What: [`outline`] looks at each function that `__kmpc_fork_call` runs, or `__kmpc_fork_call_if`, says of
//! each whether its iterations can run on a device and if not why not, and makes one unit of device code,
//! like those that compilers make of `target` regions, with a kernel for each that can. How: a region's
//! function and what it calls become one function ([`flatten`]); its calls of the runtime become calls of
//! `runtime-c/device/outlined.c`, which have it run one iteration ([`entries`]); its accesses say what is to
//! be where ([`accesses`]); and [`kernel`] calls it for each iteration that falls to a thread. Several loops
//! are as many kernels ([`phases`]). [`copies`] says where the private copies of a reduction are.
//!
//! Why that is right: a loop that is divided over threads may be divided over any number of them, where
//! nothing in it asks for their number; and a private variable of a thread that runs one iteration is
//! initialised for it. What a region does around its loop it does once for each iteration: [`entries`]
//! refuses what could tell the difference.
//!
//! What not: nothing is known here of devices or addresses (`offload::outlined`).

mod accesses;
mod copies;
mod entries;
mod flatten;
mod kernel;
mod loops;
mod names;
mod phases;
mod trips;

use super::nvptx::Refusal;
use super::{Input, guard, parse};
use crate::llvm::raw::{copy_text, llvm};
use crate::llvm::reader::name_of;
use inkwell::llvm_sys::prelude::*;
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
    let found = flatten::candidates(module);
    if found.is_empty() {
        return Ok(Outlined::default());
    }
    flatten::flatten(module, &found)?;
    let mut regions = Vec::new();
    let mut made = Vec::new();
    for (index, candidate) in found.iter().enumerate() {
        let verdict = candidate
            .refused
            .clone()
            .map_or(Ok(()), Err)
            .and_then(|()| {
                let entries = entries::rewrite(module, candidate.function)?;
                flatten::simplify(candidate.function)?;
                let loops = loops::find(candidate.function)?;
                let roots = accesses::roots(module, candidate.function, &loops)?;
                let words: u32 = roots.iter().map(|r| r.passing.words()).sum();
                if words > kernel::WORDS {
                    return Err(refuse(
                        "it captures more than a kernel's arguments hold",
                        None,
                    ));
                }
                let phase = |(n, at): (usize, &loops::Loop)| Phase {
                    kernel: match n {
                        0 => format!("__ompvm_outlined_{index}"),
                        _ => format!("__ompvm_outlined_{index}_{n}"),
                    },
                    number: at.number,
                    bounds: trips::bounds(&roots, candidate.function, module, at.begin),
                };
                let phases = loops.iter().enumerate().map(phase).collect();
                let plan = Plan {
                    phases,
                    roots,
                    reduction: entries.reduction.is_some(),
                };
                Ok((plan, entries))
            });
        let verdict = match verdict {
            Ok((plan, entries)) => {
                made.push((candidate.function, plan.clone(), entries));
                Ok(plan)
            }
            Err(refusal) => {
                super::shim::forget_body(candidate.function);
                Err(refusal)
            }
        };
        regions.push(Region {
            function: candidate.name.clone(),
            place: candidate.place.clone(),
            verdict,
        });
    }
    let unit = if made.is_empty() {
        Vec::new()
    } else {
        kernel::unit(&parsed, &made)?
    };
    Ok(Outlined { unit, regions })
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
