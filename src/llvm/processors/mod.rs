//! Lowering of device images for the processors of this machine.
//!
//! The code of a region's kernel runs on each processor over a share of the iterations. It is
//! linked and optimized as for a GPU (`nvptx::optimize`), but for blocks of one thread
//! (`nvptx/one_thread.rs`), so the same analyses of division and footprints hold. Then it is
//! retargeted like emulated code (`emulate`), without checks, and LLVM's pipeline for the processor
//! vectorizes it. What a block's threads share, and its share of the league, lies in memory of the
//! block ([`blocks`]).
//!
//! The result is an object file, which [`load`] links into the process. Threads, memory and the
//! functions that kernels call are the caller's.

mod blocks;

use super::emulate::{self, entries, retarget, variables};
use super::handles::{Linkage, Module, Position};
use super::native::Level;
use super::native::pipeline::HostMachine;
use super::nvptx::machine::GpuMachine;
use super::nvptx::{self, Kernel, LoweringRequest, Optimized, SharedVariable};
use super::orc::Jit;
use super::parse::{self, Parsed};
use super::{Input, initialize_nvptx, initialize_target, shim};
use std::ffi::CStr;

/// Prefix of the names of the device's instructions for which the caller provides functions.
pub const INSTRUCTIONS: &str = "ompvm.nvvm.";

/// Name of the function that returns the memory of the calling thread's block. Its first bytes are
/// the block's [`omp_abi::League`].
pub const BLOCK: &str = blocks::CURRENT;

/// Moves conditions that a loop does not change out of it. The iterations of a plain loop ask whether
/// there are any, and divide their counter only then.
const UNSWITCH: &CStr = c"function(loop-mssa(simple-loop-unswitch<nontrivial;trivial>))";

/// Code of a program for processors.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ProcessorCode {
    /// Object file.
    pub object: Vec<u8>,
    /// The kernels, including refused ones.
    pub kernels: Vec<Kernel>,
    /// Variables that all devices share, in code for that.
    pub shared: Vec<SharedVariable>,
    /// Names and sizes in bytes of the variables that the host may access.
    pub variables: Vec<(String, u64)>,
    /// Size of the memory of a block, in bytes.
    pub block_bytes: u64,
    /// Names of the functions that the caller provides.
    pub undefined: Vec<String>,
}

/// Links and lowers a program's images. The request's math library is ignored.
///
/// # Errors
/// Returns one sentence if an image is damaged, if the images do not fit together, or if LLVM gives
/// up.
pub fn lower(request: &LoweringRequest) -> Result<ProcessorCode, String> {
    nvptx::guarded(request, lower_here)
}

fn lower_here(request: &LoweringRequest) -> Result<ProcessorCode, String> {
    initialize_nvptx();
    initialize_target();
    let parsed = parse::parse_for(&request.units, "nvptx64").map_err(|e| e.to_string())?;
    let device = parsed.module();
    let machine = GpuMachine::new(request.architecture, request.version)?;
    let Optimized {
        mut kernels,
        refusals,
        footprints,
    } = nvptx::optimize(&parsed, &machine, request)?;
    let shared = match request.divided {
        true => nvptx::divide(device, &mut kernels, &refusals, footprints),
        false => Vec::new(),
    };
    let names = emulate::prepare(device);
    let of_blocks = variables::shared_names(device);
    let host = retargeted(device)?;
    drop(parsed);
    let module = host.module();
    let block_bytes = blocks::place(module, &of_blocks);
    for function in module.functions() {
        // The numbers of a grid's threads and the ends of shares are inlined only now.
        function.remove_attribute(Position::Function, "noinline");
    }
    entries::wrap_kernels(module, &names);
    entries::keep_kernels(module, &wrappers(&names));
    let variables = visible(module);
    let machine = HostMachine::for_module(module, true)?;
    machine.run_passes(module, UNSWITCH)?;
    shim::uncollapse(module);
    machine.run_passes(module, c"default<O3>")?;
    module.strip_debug_info();
    let undefined = module
        .functions()
        .filter(|f| f.is_declaration() && !f.is_intrinsic())
        .map(|f| f.name().into())
        .collect();
    let object = machine.object(module, Level::Full)?;
    Ok(ProcessorCode {
        object,
        kernels,
        shared,
        variables,
        block_bytes,
        undefined,
    })
}

/// Returns the module's code for this system.
fn retargeted(device: Module<'_>) -> Result<Parsed, String> {
    let text = retarget::retarget(&device.text(), emulate::LAYOUT);
    let host = Input {
        name: "device code".into(),
        bytes: text.into_bytes(),
    };
    parse::parse(&[host]).map_err(|e| e.to_string())
}

fn wrappers(kernels: &[String]) -> Vec<String> {
    kernels.iter().map(|name| entries::wrapper(name)).collect()
}

/// Returns names and sizes of the variables that the host may access.
fn visible(module: Module<'_>) -> Vec<(String, u64)> {
    let layout = module.layout();
    module
        .variables()
        .filter(|v| !v.is_declaration() && v.linkage() == Linkage::LLVMExternalLinkage)
        .map(|v| (v.name().into(), layout.size(v.contents())))
        .collect()
}

/// Code that is linked into this process.
#[derive(Debug)]
pub struct LoadedCode(Jit);

/// Links code into this process. `function` returns the address of a function that the code calls,
/// or 0.
///
/// # Errors
/// Returns LLVM's message if the object is damaged.
pub fn load(code: &ProcessorCode, function: impl Fn(&str) -> usize) -> Result<LoadedCode, String> {
    // Code generation calls functions of the C library on its own.
    let mut jit = Jit::new()?;
    let undefined = code.undefined.iter();
    let symbols: Vec<(String, usize)> = undefined
        .map(|name| (name.clone(), function(name)))
        .filter(|(_, address)| *address != 0)
        .collect();
    jit.define(&symbols)?;
    jit.add_object(&code.object)?;
    Ok(LoadedCode(jit))
}

impl LoadedCode {
    /// Returns the address of an `extern "C" fn(*const u64)` that takes a kernel's arguments from an
    /// array of words.
    pub fn kernel(&self, name: &str) -> Option<usize> {
        self.symbol(&entries::wrapper(name))
    }

    /// Returns the address of a variable or function.
    pub fn symbol(&self, name: &str) -> Option<usize> {
        self.0.lookup(name).ok().filter(|&address| address != 0)
    }
}
