//! Emulation: device code made to run on this processor, with every memory access checked.
//!
//! Bitcode for a GPU is linked and retargeted to x86-64 (triple, layout, address spaces). Its
//! variables get addresses that the caller chooses. Every load, store, atomic and block operation
//! goes through a function of the caller that translates the address. The result is compiled in
//! memory.
//!
//! Address spaces are removed from the textual form (`retarget`), since LLVM has no pass for that.
//! The device's own instructions become calls of functions named `ompvm.nvvm...`. `variables`
//! places the variables, `checks` guards the accesses, and `entries` makes what the host calls.
//!
//! Threads, blocks and memory are the caller's: it decides what an address means.

mod checks;
pub(super) mod entries;
mod reach;
pub(super) mod retarget;
pub(super) mod variables;

use super::constructors::{self, CONSTRUCTORS};
use super::guard;
use super::handles::{self, Module};
use super::native::pipeline::HostMachine;
use super::nvptx::{self, SharedVariable, share_variables};
use super::orc::Jit;
use super::parse;
use super::{Input, initialize_target};
use ompvm_support::log;
use std::sync::Arc;

/// Prefix of the device's intrinsics, which are ordinary functions here.
pub const INTRINSICS: &str = "ompvm.";

/// Environment of the emulated code, provided by the caller.
pub trait DeviceEnvironment: Send + Sync {
    /// Returns the device address of a variable.
    ///
    /// # Errors
    /// Returns the reason if there is no room.
    fn variable(&self, name: &str, size: u64, align: u64) -> Result<u64, String>;

    /// Returns the device address of a shared variable at this offset.
    fn shared(&self, offset: u64) -> u64;

    /// Returns the address of the function that replaces one that the code does not define; 0 if
    /// there is none.
    fn function(&self, name: &str) -> usize;
}

/// A variable of the device.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The variable's name; `ompvm.` and a number for unnamed ones.
    pub name: String,
    /// The device address.
    pub address: u64,
    /// The size in bytes.
    pub size: u64,
    /// Host address of the initial contents; `None` means zeros.
    pub contents: Option<usize>,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The kernel's name.
    pub name: String,
    /// Address of an `extern "C" fn(*const u64)` that takes the arguments from an array of words.
    pub address: usize,
    /// Number of arguments.
    pub args: u32,
    /// Reason why it cannot run, if so; address and arguments are then 0.
    pub refused: Option<Refusal>,
}

/// A source location: file name and line.
pub type SourceLocation = (Box<str>, u32);

/// Device code compiled for this processor.
#[derive(Debug)]
pub struct Emulated {
    /// The variables, except those that a block's threads share.
    pub variables: Vec<Variable>,
    /// Variables that all devices share, in code for that.
    pub shared_variables: Vec<SharedVariable>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// Size of a block's shared variables, in bytes.
    pub shared: u64,
    /// Source locations by the numbers that checks are called with.
    pub locations: Vec<SourceLocation>,
    /// Sorted addresses of the functions, which are the valid targets of calls through pointers.
    pub functions: Vec<usize>,
    jit: Jit,
}

impl Emulated {
    /// Returns the address of a function; `None` if there is none of the name.
    pub fn function(&self, name: &str) -> Option<usize> {
        self.jit.lookup(name).ok().filter(|&a| a != 0)
    }
}

/// Reason why device code cannot be emulated.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The code is damaged, or not for this device.
    Damaged(String),
    /// It uses something that does not exist, at this source location.
    Unsupported(String, Option<String>),
}

/// Links device code, of which the first input is the program's, retargets and compiles it;
/// `divided` for several devices that share leagues.
///
/// # Errors
/// See [`Refusal`].
pub fn emulate(
    inputs: Vec<Input>,
    divided: bool,
    environment: Arc<dyn DeviceEnvironment>,
) -> Result<Emulated, Refusal> {
    let limits = guard::ResourceLimits::for_input(inputs.iter().map(|i| i.bytes.len()).sum());
    let work = move || work(&inputs, divided, &*environment);
    guard::run(&limits, work).unwrap_or_else(|cause| Err(Refusal::Damaged(cause)))
}

fn work(
    inputs: &[Input],
    divided: bool,
    environment: &dyn DeviceEnvironment,
) -> Result<Emulated, Refusal> {
    initialize_target();
    let damaged = |e: String| Refusal::Damaged(e);
    let device =
        parse::parse_for(inputs, "nvptx64").map_err(|e| Refusal::Damaged(e.to_string()))?;
    super::shim::resolve_aliases(device.module());
    // Without optimization the code stays as its compiler wrote it.
    if divided || nvptx::is_optimized(device.module()) {
        nvptx::merge_loops(device.module()).map_err(damaged)?;
    }
    let mut kernels = prepare(device.module());
    let printed = device.module().text();
    let shared = variables::shared_names(device.module());
    drop(device);
    let text = retarget::retarget(&printed, LAYOUT);
    let host = Input {
        name: "device code".into(),
        bytes: text.into_bytes(),
    };
    let parsed = parse::parse(&[host]).map_err(|e| Refusal::Damaged(e.to_string()))?;
    let module = parsed.module();
    if constructors::gather(module, divided).is_some() {
        kernels.push(CONSTRUCTORS.into());
    }
    let refused = refuse(module, &mut kernels, &shared, environment)?;
    let machine = HostMachine::for_module(module, true).map_err(damaged)?;
    entries::keep_kernels(module, &kernels);
    machine.run_passes(module, PASSES).map_err(damaged)?;
    forget_unreached(module, &shared, environment);
    let mut shared_variables = Vec::new();
    if divided {
        let names: Vec<&str> = kernels.iter().map(String::as_str).collect();
        let in_blocks = |v: handles::Variable<'_>| variables::is_among(&shared, v);
        shared_variables = share_variables::share(module, &names, SPACES, true, in_blocks);
    }
    let mut locations = Vec::new();
    checks::insert(module, &mut locations)?;
    let shared = variables::place_shared(module, &shared, environment);
    let mut variables = variables::place(module, environment)?;
    let count = entries::table_functions(module);
    let wrappers = entries::wrap_kernels(module, &kernels);
    module.strip_debug_info();
    let ir = module.text();
    drop(parsed);
    tracing::trace!(
        target: log::IR,
        kernels = kernels.len(),
        text = ir,
        "an emulated device image",
    );
    let mut jit = Jit::closed().map_err(damaged)?;
    let names = undefined_names(&ir);
    let mut symbols = Vec::new();
    for name in names {
        let address = environment.function(&name);
        if address != 0 {
            symbols.push((name, address));
        }
    }
    jit.define(&symbols).map_err(damaged)?;
    jit.add_ir(&ir).map_err(damaged)?;
    for variable in &mut variables {
        if variable.contents.is_some() {
            variable.contents = Some(jit.lookup(&variable.name).map_err(damaged)?);
        }
    }
    let mut list = Vec::new();
    for (name, args) in kernels.into_iter().zip(wrappers) {
        let address = jit.lookup(&entries::wrapper(&name)).map_err(damaged)?;
        list.push(Kernel {
            name,
            address,
            args,
            refused: None,
        });
    }
    list.extend(refused);
    let mut functions = Vec::new();
    if count > 0 {
        let table = jit.lookup(entries::FUNCTIONS).map_err(damaged)?;
        // SAFETY: `table` is the array of `count` addresses that `table_functions` defined.
        functions.extend(unsafe { std::slice::from_raw_parts(table as *const usize, count) });
        functions.sort_unstable();
    }
    Ok(Emulated {
        variables,
        shared_variables,
        kernels: list,
        shared,
        locations,
        functions,
        jit,
    })
}

/// Passes to run before checks make the code opaque; they create neither vectors nor new accesses.
const PASSES: &std::ffi::CStr = c"always-inline,cgscc(inline),function(sroa,early-cse<memssa>,\
    instcombine<no-verify-fixpoint>,simplifycfg),globaldce";

/// The data layout of this system.
pub(super) const LAYOUT: &str =
    "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";

/// The address spaces of the retargeted code.
const SPACES: share_variables::Spaces = share_variables::Spaces {
    global: 0,
    constant: 0,
};

/// `LLVMPTXKernelCallConv`.
pub(super) const KERNEL: u32 = 71;

/// Removes what only the device's code generator understands, and returns the names of the kernels.
pub(super) fn prepare(device: Module<'_>) -> Vec<String> {
    let mut kernels = Vec::new();
    for function in device.functions() {
        let name = function.name();
        for key in ["target-cpu", "target-features", "tune-cpu"] {
            function.remove_text_attribute(key);
        }
        if let Some(rest) = name.strip_prefix("llvm.nvvm.") {
            function.set_name(&format!("{INTRINSICS}nvvm.{rest}"));
        }
        if !function.is_declaration() && function.convention() == KERNEL {
            kernels.push(name.into());
        }
    }
    for (n, variable) in device.variables().enumerate() {
        // Lists of symbols to keep and other notes to the compiler; flang leaves one for each
        // region.
        if variable.section().as_deref() == Some("llvm.metadata") {
            if !variable.is_unused() {
                variable.replace_by(variable.of().zero());
            }
            // SAFETY: all uses are replaced, and the handle is not used again.
            unsafe { variable.delete() };
        } else if variable.name().is_empty() {
            variable.set_name(&format!("{INTRINSICS}g{n}"));
        }
    }
    kernels
}

/// Removes kernels that use missing functionality from list and module.
///
/// # Errors
/// Fails if the constructors, which run before every kernel, are among them.
fn refuse(
    module: Module<'_>,
    kernels: &mut Vec<String>,
    shared: &[String],
    environment: &dyn DeviceEnvironment,
) -> Result<Vec<Kernel>, Refusal> {
    let mut reach = reach::ReachabilityCheck::new(environment, shared);
    let mut refused = Vec::new();
    for name in kernels.iter() {
        let Some(refusal) = reach.refusal(module, name) else {
            continue;
        };
        if name == CONSTRUCTORS {
            return Err(refusal);
        }
        refused.push(Kernel {
            name: name.clone(),
            address: 0,
            args: 0,
            refused: Some(refusal),
        });
    }
    for kernel in &refused {
        kernels.retain(|k| *k != kernel.name);
        if let Some(function) = module.function(&kernel.name) {
            // SAFETY: the search for missing items is over, and its handles are not used again.
            unsafe { function.drop_body() };
        }
    }
    Ok(refused)
}

/// Sets the addresses of missing symbols to null: no kernel reaches them.
fn forget_unreached(module: Module<'_>, shared: &[String], environment: &dyn DeviceEnvironment) {
    for variable in module.variables() {
        let is_shared = variables::is_among(shared, variable);
        if variable.is_declaration() && !is_shared {
            variable.replace_by(variable.of().zero());
        }
    }
    for function in module.functions() {
        let name = function.name();
        let missing = !name.starts_with("llvm.") && environment.function(&name) == 0;
        if function.is_declaration() && missing {
            function.replace_by(function.of().zero());
        }
    }
}

/// Returns the names that textual IR declares, and those that code generation may call on its own.
fn undefined_names(ir: &str) -> Vec<String> {
    const OF_LLVM: [&str; 14] = [
        "memcpy",
        "memmove",
        "memset",
        "memcmp",
        "fmod",
        "fmodf",
        "ldexp",
        "ldexpf",
        "frexp",
        "frexpf",
        "__udivti3",
        "__umodti3",
        "__divti3",
        "__modti3",
    ];
    let mut names: Vec<String> = OF_LLVM.map(str::to_owned).to_vec();
    for line in ir.lines().filter(|l| l.starts_with("declare ")) {
        let Some((_, rest)) = line.split_once('@') else {
            continue;
        };
        let name = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => rest.split('(').next(),
        };
        names.extend(name.map(str::to_owned));
    }
    // Mathematical functions that intrinsics become.
    for name in [
        "sin", "cos", "tan", "exp", "exp2", "exp10", "log", "log2", "log10", "pow",
    ] {
        names.push(name.to_owned());
        names.push(format!("{name}f"));
    }
    for name in [
        "fmin",
        "fmax",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "nearbyint",
        "round",
    ] {
        names.push(name.to_owned());
        names.push(format!("{name}f"));
    }
    for name in [
        "roundeven",
        "fma",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
    ] {
        names.push(name.to_owned());
        names.push(format!("{name}f"));
    }
    names.sort();
    names.dedup();
    names.retain(|n| !n.starts_with("llvm."));
    names
}
