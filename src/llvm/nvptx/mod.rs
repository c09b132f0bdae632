//! Lowering of a program's device images to PTX for one kind of GPU.
//!
//! [`lower`] links the units' images with each other, with the device runtime (`runtime-c/device/`)
//! and with a mathematics library, removes everything that the kernels do not need, and generates
//! code. Since everything is known, nothing is left general:
//!
//! - The execution mode of the kernels becomes a constant of the runtime ([`specialize`]).
//! - A combined loop over teams and threads becomes one loop over the grid ([`grid`]), whose
//!   iterations go to blocks as tiles of the indices if the body gains by that (`tile_loops.cpp`).
//! - Shared variables that only one thread uses become registers ([`promote`]).
//! - The functions that combine a reduction's values have no loops (`unroll_reductions.cpp`).
//! - Redundant barriers are removed ([`cleanup`]).
//! - Divisions of a collapsed loop have 32 bits if that suffices (`narrow_indices.cpp`).
//!
//! LLVM's passes do the rest, since the runtime is inlined.
//!
//! LLVM's code generator ends the process at input that it cannot select, so [`allowlist`] looks
//! before: a kernel with such a construct is refused, with reason and location, and the others are
//! compiled. All of this runs guarded.
//!
//! [`processors`](super::processors) lowers the same images for the host's processors. Its blocks
//! have one thread, so [`one_thread`] replaces the device's instructions, and each block has a
//! contiguous share of the iterations, as a device of a group has.
//!
//! Driver, files and cache are left to `offload::nvptx`.

mod allowlist;
pub(crate) mod cleanup;
mod division;
pub mod footprint;
pub(crate) mod grid;
mod grid_analysis;
pub(crate) mod hoist_loads;
pub(crate) mod kernel_environment;
pub(crate) mod machine;
mod math_library;
mod one_thread;
pub(crate) mod promote;
mod results;
pub(crate) mod share_variables;
mod specialize;

pub use division::{DEVICE_NUMBER, Division, LEAGUE, ParameterUse};
pub use kernel_environment::KernelEnvironment;
pub use math_library::MathLibrary;
pub use share_variables::SharedVariable;

use super::constructors;
use super::guard;
use super::parse::{self, Parsed};
use super::{Input, device, shim};
use crate::handles::{Linkage, Module, OwnedModule, Position};
use footprint::Footprint;
use hashbrown::HashSet;
use machine::{GpuMachine, PROMOTED};
use std::ffi::CStr;

/// The address space of shared memory, which each block has for itself.
const SHARED: u32 = 3;
/// The address space of constants.
const CONSTANT: u32 = 4;

/// Input of a lowering.
#[derive(Clone, Debug)]
pub struct LoweringRequest {
    /// The units' images, as bitcode.
    pub units: Vec<Input>,
    /// Architecture of the GPU: 90 for `sm_90`.
    pub architecture: u32,
    /// Version of PTX: 78 for 7.8.
    pub version: u32,
    /// Library that defines `__nv_exp` and similar functions.
    pub math_library: MathLibrary,
    /// `nteams-var` of the device; 0 if the number of teams is not bounded.
    pub teams: u32,
    /// True for code of devices that share leagues.
    pub divided: bool,
    /// For code that processors run: returns true for the names of functions that exist there.
    pub provided: Option<fn(&str) -> bool>,
}

/// A kernel of the images.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Kernel {
    /// The kernel's name.
    pub name: String,
    /// The compiler's description; `None` for a kernel that is not OpenMP's.
    pub environment: Option<KernelEnvironment>,
    /// Number of parameters, including the launch environment; each is a word.
    pub parameters: u32,
    /// Reason why there is no code for the kernel, with its source location.
    pub refused: Option<Refusal>,
    /// True if no result depends on the number of teams, so the device may choose it.
    pub any_grid: bool,
    /// Parameters that lead to results of a reduction alone, see [`results`].
    pub results: u64,
    /// Division of the kernel among devices, in code compiled for that.
    pub division: Option<Division>,
}

/// Reason why something cannot run on the device.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refusal {
    /// The reason in words.
    pub reason: String,
    /// Source location (`file.c:12`), if known.
    pub place: Option<String>,
}

/// Result of a lowering.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Lowered {
    /// The code; empty if every kernel was refused and there are no variables.
    pub ptx: Vec<u8>,
    /// The kernels, including refused ones.
    pub kernels: Vec<Kernel>,
    /// Variables that all devices share, in code for that.
    pub shared: Vec<SharedVariable>,
}

/// Links and lowers a program's images.
///
/// # Errors
/// Returns one sentence if an image is damaged, if the images do not fit together, or if LLVM gives
/// up.
pub fn lower(request: &LoweringRequest) -> Result<Lowered, String> {
    guarded(request, lower_here)
}

/// Runs a lowering guarded.
///
/// # Errors
/// Returns the error of `work`, or one sentence if LLVM gives up or there is no device runtime.
pub(super) fn guarded<T: Send + 'static>(
    request: &LoweringRequest,
    work: fn(&LoweringRequest) -> Result<T, String>,
) -> Result<T, String> {
    if device::RUNTIME.is_empty() {
        return Err(
            "this build has no device runtime, because it was built without clang 22".into(),
        );
    }
    let request = request.clone();
    let limits =
        guard::ResourceLimits::for_input(request.units.iter().map(|u| u.bytes.len()).sum());
    guard::run(&limits, move || work(&request))?
}

fn lower_here(request: &LoweringRequest) -> Result<Lowered, String> {
    super::initialize_nvptx();
    let parsed = parse::parse_for(&request.units, "nvptx64").map_err(|e| e.to_string())?;
    let module = parsed.module();
    let machine = GpuMachine::new(request.architecture, request.version)?;
    let Optimized {
        mut kernels,
        refusals,
        footprints,
    } = optimize(&parsed, &machine, request)?;
    shim::tile_loops(module);
    shim::narrow_indices(module);
    machine.run_passes(
        module,
        c"function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg,adce),globaldce",
    )?;
    cleanup::barriers(module);
    cleanup::zeros(module);
    hoist_loads::hoist(module);
    // Unrolling does not shorten a chain of such operations, and the assembler takes up to 20 s on
    // it.
    shim::disable_unrolling(module);
    drop_unused(module, &division::WRITTEN_BY_HOST);
    if !request.divided {
        let ptx = machine.assembly(module)?;
        return Ok(Lowered {
            ptx,
            kernels,
            shared: Vec::new(),
        });
    }
    let shared = divide(module, &mut kernels, &refusals, footprints);
    let ptx = division::widen_scopes(machine.assembly(module)?);
    Ok(Lowered {
        ptx,
        kernels,
        shared,
    })
}

/// Kernels of optimized images, see [`optimize`].
pub(super) struct Optimized {
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// Why devices cannot share each of them, in code for several devices.
    pub refusals: Vec<Option<&'static str>>,
    /// Their footprints, in code for several devices.
    pub footprints: Vec<Footprint>,
}

/// Links the images with the runtime, specializes and optimizes them, and refuses the kernels that
/// the device cannot run.
///
/// Each step takes the module and keeps no handle of its functions and instructions beyond its end,
/// so a step may erase them.
pub(super) fn optimize(
    parsed: &Parsed,
    machine: &GpuMachine,
    request: &LoweringRequest,
) -> Result<Optimized, String> {
    let module = parsed.module();
    machine.adopt(module);
    shim::order_iterations(module);
    shim::resolve_aliases(module);
    gather_constructors(module, machine, request.divided)?;
    let mut kernels = kernel_environment::read(module);
    let mut own = own_symbols(module);
    prepare(module, machine)?;
    kernel_environment::make_room(module, &kernels);
    grid::rewrite(module, &kernels);
    for kernel in &mut kernels {
        kernel.any_grid = grid_analysis::any_grid(module, kernel);
        if kernel.any_grid {
            grid_analysis::mark_interchangeable(module, kernel);
        }
        grid_analysis::mark_static_loop(module, kernel);
        if let Some(environment) = &mut kernel.environment {
            environment.nested &= grid_analysis::nests(module, &kernel.name);
        }
    }
    let refusals: Vec<Option<&str>> = kernels
        .iter()
        .map(|k| {
            request
                .divided
                .then(|| division::refusal(module, &k.name))?
        })
        .collect();
    let divides: Vec<bool> = kernels
        .iter()
        .map(|k| k.any_grid || division::is_outlined(module, &k.name))
        .collect();
    shim::unroll_reductions(module);
    let by_processors = request.provided.is_some();
    if by_processors {
        one_thread::name_functions(module);
    }
    math_library::name(module, &request.math_library);
    link(parsed, device::RUNTIME, "runtime")?;
    allow_inlining(module);
    specialize::set_constant(module, "__ompvm_max_teams", request.teams.into());
    if request.divided || by_processors {
        specialize::set_constant(module, "__ompvm_divided", 1);
    }
    own.extend(division::WRITTEN_BY_HOST.map(Into::into));
    math_library::link(parsed, &request.math_library)?;
    // Functions for another processor would not be inlined.
    machine.adopt(module);
    // LLVM's own OpenMP pass would change execution modes after other decisions depend on them; it
    // runs only if this flag is set.
    shim::drop_module_flags(module);
    let mut passes = machine::FULL;
    if by_processors {
        one_thread::replace(module);
        passes = one_thread::PASSES;
    }
    specialize::specialize(parsed, machine, &kernels, &own, passes)?;
    for kernel in &mut kernels {
        kernel.refused = allowlist::kernel(module, &kernel.name, request);
    }
    cleanup::remove(module, &kernels);
    allowlist::replace_by_traps(module, request);
    if promote::variables_of_blocks(module, &kernels) {
        machine.run_passes(module, PROMOTED)?;
    }
    cleanup::unread(module);
    promote::leading_barriers(module, &kernels);
    machine::widen_counters(module)?;
    for kernel in &mut kernels {
        kernel.results = results::results(module, &kernel.name);
    }
    let footprints = footprints(module, &kernels, &divides, request.divided);
    Ok(Optimized {
        kernels,
        refusals,
        footprints,
    })
}

/// Makes a kernel of the constructors that LLVM cannot evaluate, and of what PTX cannot express.
fn gather_constructors(module: Module, machine: &GpuMachine, divided: bool) -> Result<(), String> {
    if module.variable("llvm.global_ctors").is_some() {
        machine.run_passes(module, c"globalopt")?;
    }
    if let Some(kernel) = constructors::gather(module, divided) {
        kernel.set_convention(kernel_environment::KERNEL);
    }
    Ok(())
}

/// Removes variables that no kernel uses.
fn drop_unused(module: Module, names: &[&str]) {
    for variable in names.iter().filter_map(|name| module.variable(name)) {
        if variable.is_unused() {
            // SAFETY: nothing uses the variable, and its handle is not used again.
            unsafe { variable.delete() };
        }
    }
}

/// Returns the kernels' footprints, in code for several devices.
fn footprints(
    module: Module,
    kernels: &[Kernel],
    divides: &[bool],
    divided: bool,
) -> Vec<Footprint> {
    let kernels = kernels.iter().zip(divides).filter(|_| divided);
    kernels
        .map(|(kernel, &only)| footprint::analyze(module, &kernel.name, only))
        .collect()
}

/// Moves variables out of the image, finds out how devices share the kernels, and returns the
/// variables.
pub(super) fn divide(
    module: Module,
    kernels: &mut [Kernel],
    refusals: &[Option<&'static str>],
    footprints: Vec<Footprint>,
) -> Vec<SharedVariable> {
    let names: Vec<&str> = kernels.iter().map(|k| &*k.name).collect();
    let nothing = HashSet::new();
    let all = names
        .iter()
        .any(|kernel| division::analyze(module, kernel, &nothing, &[]).writes_elsewhere);
    let spaces = share_variables::OF_GPU;
    let shared = share_variables::share(module, &names, spaces, all, |_| false);
    let written = division::written_variables(module);
    let found = kernels.iter_mut().zip(refusals).zip(footprints);
    for ((kernel, refusal), footprint) in found {
        let mut division = division::analyze(module, &kernel.name, &written, &shared);
        if kernel.environment.is_none() {
            division.refused = Some("it is no kernel of OpenMP".into());
        } else if let Some(why) = refusal {
            division.refused = Some((*why).into());
        }
        division.footprint = footprint;
        division.results = kernel.results;
        kernel.division = Some(division);
    }
    shared
}

/// Returns the names of the variables that the images define for others.
fn own_symbols(module: Module) -> Vec<Box<str>> {
    let hidden = |name: &str| {
        name.ends_with("_kernel_environment")
            || name.ends_with("_dynamic_environment")
            || name.starts_with("__openmp_nvptx_")
            || name.starts_with("llvm.")
    };
    module
        .variables()
        .filter(|v| !v.is_declaration())
        .filter(|v| {
            !matches!(
                v.linkage(),
                Linkage::LLVMInternalLinkage
                    | Linkage::LLVMPrivateLinkage
                    | Linkage::LLVMAppendingLinkage
            )
        })
        .map(|v| v.name())
        .filter(|n| !hidden(n))
        .collect()
}

/// Passes that bring unoptimized images to the form that the rewriting expects.
const READABLE: &CStr =
    c"function(sroa,early-cse<memssa>,dse,instcombine<no-verify-fixpoint>,simplifycfg)";

/// Brings unoptimized images to the form that the rewriting expects.
fn prepare(module: Module, machine: &GpuMachine) -> Result<(), String> {
    optimize_all(module);
    machine.run_passes(module, READABLE)
}

/// Lets passes optimize all functions.
fn optimize_all(module: Module) {
    for function in module.functions() {
        // Without optimization both are on every function, regardless of the source.
        if function.remove_attribute(Position::Function, "optnone") {
            function.remove_attribute(Position::Function, "noinline");
        }
    }
}

/// Returns true for an image that its compiler optimized.
pub(super) fn is_optimized(module: Module) -> bool {
    let mut functions = module.functions();
    !functions.any(|f| f.has_attribute(Position::Function, "optnone"))
}

/// Merges the loops over teams and threads in code that another target runs, so that it divides
/// iterations among devices as the code of GPUs does, and a team reduces once instead of once for
/// each of its chunks. Footprints hold for that.
///
/// # Errors
/// LLVM's message.
pub(super) fn merge_loops(module: Module) -> Result<(), String> {
    optimize_all(module);
    // SAFETY: no handle of what the passes remove is used again.
    unsafe { module.run_passes(READABLE) }?;
    grid::rewrite(module, &kernel_environment::read(module));
    Ok(())
}

/// Removes `no-builtins` from the runtime's entries: LLVM does not inline a function with it into
/// one without. Functions of the library itself keep it, or they would be recognized as calls of
/// themselves.
fn allow_inlining(module: Module) {
    const ENTRIES: [&str; 3] = ["omp_", "__kmpc_", "__ompvm_"];
    for function in module.functions() {
        let name = function.name();
        if ENTRIES.iter().any(|entry| name.starts_with(entry)) {
            function.remove_text_attribute("no-builtins");
        }
    }
}

/// Links the used parts of another piece of bitcode.
fn link(parsed: &Parsed, bytes: &[u8], what: &str) -> Result<(), String> {
    let module = parsed.module();
    let failure = |done: &str| format!("the {what} cannot be {done}: {}", parsed.take_errors());
    let library = OwnedModule::parse(module.context(), bytes).ok_or_else(|| failure("read"))?;
    // Avoids warnings about other libraries' names for the same target.
    library.take_target(module);
    // SAFETY: no handle of the declarations that linking replaces outlives a step.
    match unsafe { library.link_needed_into(module) } {
        true => Ok(()),
        false => Err(failure("linked")),
    }
}
