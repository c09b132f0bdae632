//! Auto-offload: turns host regions (`parallel for` without `target`) into device kernels.
//!
//! [`kernelize`] examines each function that `__kmpc_fork_call` or `__kmpc_fork_call_if` runs. It
//! decides whether the function's iterations can run on a device, and gives the reason if not. It
//! produces one unit of device code, like those that compilers make of `target` regions, with a
//! kernel for each region that can:
//!
//! - [`flatten`] inlines everything that a region's function calls.
//! - [`runtime_calls`] replaces its runtime calls by calls of `runtime-c/device/outlined.c`, which
//!   make it run one iteration.
//! - [`accesses`] determines which memory must be on the device.
//! - [`kernel_text`] calls the function for each iteration of a thread.
//! - [`kernel_sequence`] turns several loops into a sequence of kernels. If the kernels cannot run
//!   the code around the loops, the host runs it between them ([`partition`]).
//! - [`reduction_records`] and [`record_copies`] place the private copies of a reduction.
//!
//! This is sound because a loop that is divided over threads may be divided over any number of them
//! if nothing in it queries their number, and because a thread that runs one iteration initializes
//! its private variables for it. Code around a loop runs once for each iteration; [`runtime_calls`]
//! refuses what could observe the difference.
//!
//! Devices and addresses are left to `ompvm-auto-offload`.

mod accesses;
mod array_reduction;
mod array_sums;
mod bounds;
mod device_names;
mod enclosing_sync;
mod flatten;
mod host_schedule;
mod kernel_sequence;
mod kernel_text;
mod late_loads;
mod loop_functions;
mod loops;
mod partition;
mod private_variables;
mod record_copies;
mod reduction_records;
mod runtime_calls;
mod schedule_builder;
mod schedule_instructions;
mod threadprivate;

use super::nvptx::Refusal;
use super::{Input, guard, parse, shim};
use crate::handles::{Function, Module, Value};
pub use bounds::{Expression, IntOperation, RootReader};
pub use host_schedule::{
    Conversion, FloatOperation, HostSchedule, KernelLaunch, ScheduleOperand, ScheduleStep,
};
use kernel_text::Kernel;
use runtime_calls::RegionMode;
use serde::{Deserialize, Serialize};

/// A region's function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// The function's name.
    pub function: String,
    /// Source location of the construct (`file.c:12`), if known.
    pub place: Option<String>,
    /// The plan for running it on a device, or the reason why it cannot run there.
    pub verdict: Result<RegionPlan, Refusal>,
}

/// Plan for running a region on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionPlan {
    /// The region's loops in order.
    pub phases: Vec<LoopKernel>,
    /// Host data that the region uses.
    pub roots: Vec<Root>,
    /// True if the region has a reduction.
    pub reduction: bool,
    /// The host schedule, which runs the code between the loops; `None` if the kernels do that, one
    /// after the other.
    pub schedule: Option<HostSchedule>,
}

/// A loop of a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopKernel {
    /// Name of the loop's kernel. Its first argument is the launch environment; the arguments of
    /// the plan's `roots` follow.
    pub kernel: String,
    /// The loop's number in the region's function.
    pub number: u32,
    /// The first and the last iteration's number, if the host can compute them.
    pub bounds: Option<(Expression, Expression)>,
    /// Indices of the plan's roots that the loop writes; only for host schedules.
    pub writes: Vec<u32>,
    /// Private memory of an iteration, in bytes. A GPU reserves it for each thread that it may run
    /// at once, tens of thousands or more, so beyond some KiB it is far from the processors.
    pub private: u64,
    /// Device memory per thread for variables that are too large for private memory, in bytes.
    pub scratch: u64,
}

/// A value or object that a region gets from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Its origin on the host.
    pub origin: Origin,
    /// Form in which the kernel gets it.
    pub passing: Passing,
}

/// Origin of a value or object on the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Origin {
    /// An argument of the region's function, not counting the two that the runtime adds.
    Captured(u32),
    /// A variable of the program.
    Global(String),
}

/// Form in which a kernel gets a root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Passing {
    /// As the host's word.
    Value,
    /// As a copy of the memory at the address, in words.
    Copy {
        /// Size of the memory, in bytes.
        size: u32,
        /// Pointers in it, by offset (a multiple of 8), with how their targets are passed in their
        /// place.
        pointers: Vec<(u32, Passing)>,
    },
    /// As an object's address. An object that is neither read nor written is only compared with
    /// others.
    Object(Access),
}

/// Accesses to an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// True if it is read.
    pub read: bool,
    /// True if it is written.
    pub write: bool,
    /// Number of bytes from its address on that may be accessed, if known.
    pub size: Option<u64>,
}

impl Passing {
    /// Returns the number of words in the kernel's arguments.
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

/// Result of auto-offload for a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernelized {
    /// Device code with all kernels, as bitcode; empty if there are none.
    pub unit: Vec<u8>,
    /// The regions.
    pub regions: Vec<Region>,
}

/// Turns a program's regions into kernels.
///
/// # Errors
/// Returns one sentence if a file is damaged or LLVM gives up.
pub fn kernelize(files: &[Input]) -> Result<Kernelized, String> {
    let files = files.to_vec();
    let limits = guard::ResourceLimits::for_input(files.iter().map(|f| f.bytes.len()).sum());
    guard::run(&limits, move || kernelize_guarded(&files))?
}

fn kernelize_guarded(files: &[Input]) -> Result<Kernelized, String> {
    super::initialize_nvptx();
    let parsed = parse::parse(files).map_err(|e| e.to_string())?;
    let module = parsed.module();
    // Compilers call constructors through aliases, but a region's code has to be one function.
    shim::resolve_aliases(module);
    let mut found = flatten::candidates(module);
    if found.is_empty() {
        return Ok(Kernelized::default());
    }
    let mut owns = threadprivate::survey(module, &found);
    // SAFETY: `found` has further functions beside the regions', but nothing reads them after this.
    unsafe { flatten::flatten(module, &found) }?;
    threadprivate::replace(&mut owns, &mut found);
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
            // SAFETY: nothing keeps instructions of a refused region.
            unsafe { candidate.function.drop_body() };
        }
        regions.push(Region {
            function: candidate.name.clone(),
            place: candidate.place.clone(),
            verdict,
        });
    }
    let unit = if made.is_empty() {
        kernel_text::KernelUnit::default()
    } else {
        let kernels: Vec<_> = made
            .iter()
            .flat_map(|(roots, list)| list.iter().map(move |made| (made, roots.as_slice())))
            .collect();
        // SAFETY: the regions' verdicts and plans have no handles.
        unsafe { kernel_text::unit(&parsed, &kernels) }?
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
    Ok(Kernelized {
        unit: unit.bitcode,
        regions,
    })
}

/// Decides how a region runs: as kernels alone, or with a host schedule between them.
fn plan<'m>(
    module: Module<'m>,
    function: Function<'m>,
    index: usize,
) -> Result<(RegionPlan, Vec<Kernel<'m>>), Refusal> {
    let copy = shim::clone_function(function);
    // SAFETY: plans and kernels have handles of functions alone, and refusals have none.
    unsafe {
        if let Ok(made) = plan_kernels_only(module, function, index) {
            copy.drop_body();
            return Ok(made);
        }
        function.drop_body();
        // Its reason is the more specific one, since it accepts more.
        plan_with_schedule(module, copy, index).inspect_err(|_| copy.drop_body())
    }
}

fn kernel_name(index: usize, phase: usize) -> String {
    match phase {
        0 => format!("__ompvm_outlined_{index}"),
        _ => format!("__ompvm_outlined_{index}_{phase}"),
    }
}

fn check_words(roots: &[Root], more: usize) -> Result<(), Refusal> {
    let words: u32 = roots.iter().map(|r| r.passing.words()).sum();
    match words as usize + more > kernel_text::WORDS as usize {
        true => Err(refuse("it captures more than a kernel's arguments hold")),
        false => Ok(()),
    }
}

/// Plans a region whose kernels also run the code around its loops.
///
/// # Safety
/// No handle of the function's blocks and instructions is used afterwards.
unsafe fn plan_kernels_only<'m>(
    module: Module<'m>,
    function: Function<'m>,
    index: usize,
) -> Result<(RegionPlan, Vec<Kernel<'m>>), Refusal> {
    // SAFETY: the caller's promise, and no instruction is kept here yet.
    let reductions = unsafe {
        let reductions = runtime_calls::rewrite(module, function, RegionMode::KernelsOnly)?;
        flatten::simplify(function)?;
        reductions
    };
    let loops = loops::find(function)?;
    let roots = accesses::roots(module, function, &loops)?;
    check_words(&roots, 0)?;
    let phase = |(n, at): (usize, &loops::Loop<'m>)| LoopKernel {
        kernel: kernel_name(index, n),
        number: at.number,
        bounds: bounds::bounds(&roots, function, module, at.begin),
        writes: Vec::new(),
        private: 0,
        scratch: 0,
    };
    let phases: Vec<LoopKernel> = loops.iter().enumerate().map(phase).collect();
    let kernel = |phase: &LoopKernel| Kernel {
        name: phase.kernel.clone(),
        number: phase.number,
        function,
        reduction: reductions.first().cloned(),
    };
    let kernels = phases.iter().map(kernel).collect();
    let plan = RegionPlan {
        phases,
        reduction: !reductions.is_empty(),
        roots,
        schedule: None,
    };
    Ok((plan, kernels))
}

/// Plans a region with a host schedule between its kernels.
///
/// # Safety
/// No handle of the function's blocks and instructions is used afterwards.
unsafe fn plan_with_schedule<'m>(
    module: Module<'m>,
    function: Function<'m>,
    index: usize,
) -> Result<(RegionPlan, Vec<Kernel<'m>>), Refusal> {
    // SAFETY: the caller's promise, and no instruction is kept here yet.
    let mut reductions = unsafe {
        let reductions = runtime_calls::rewrite(module, function, RegionMode::HostSchedule)?;
        flatten::simplify(function)?;
        reductions
    };
    let roots = accesses::all_roots(module, function)?;
    let mut bounds = bounds::once(&roots, function, module);
    // SAFETY: the caller's promise; roots and bounds have no handles.
    let (parts, schedule) = unsafe { partition::partition(module, function, &mut reductions) }?;
    let mut phases = Vec::new();
    let mut kernels = Vec::new();
    for (n, part) in parts.into_iter().enumerate() {
        let words = part.function.parameter_count() - function.parameter_count();
        check_words(&roots, words as usize)?;
        phases.push(LoopKernel {
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
    let plan = RegionPlan {
        phases,
        roots,
        reduction: !reductions.is_empty(),
        schedule: Some(schedule),
    };
    Ok((plan, kernels))
}

fn refuse(reason: impl Into<String>) -> Refusal {
    Refusal {
        reason: reason.into(),
        place: None,
    }
}

/// Refuses with the source location of an instruction; other values have none.
fn refuse_at<'m>(reason: impl Into<String>, at: impl Into<Value<'m>>) -> Refusal {
    Refusal {
        reason: reason.into(),
        place: at.into().as_instruction().and_then(|i| i.source_location()),
    }
}

/// Returns the name of the function that a call instruction names.
fn callee_name<'m>(at: impl Into<Value<'m>>) -> Option<Box<str>> {
    at.into().direct_callee().map(|callee| callee.name())
}

/// Returns true for calls of functions whose names begin so.
fn calls<'m>(at: impl Into<Value<'m>>, start: &str) -> bool {
    callee_name(at).is_some_and(|name| name.starts_with(start))
}

/// Returns true for intrinsics that tell LLVM something and do nothing.
fn has_no_effect(name: &str) -> bool {
    [
        "llvm.lifetime.",
        "llvm.dbg.",
        "llvm.assume",
        "llvm.experimental.noalias",
        "llvm.prefetch",
        "llvm.invariant.",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}
