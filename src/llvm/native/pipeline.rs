//! The passes over a unit, and its code generation.
//!
//! The input has passed clang's own pipeline, for a processor of the year 2003. [`Level::Full`]
//! runs a second pipeline made from the link-time optimizations: it inlines across source files,
//! and above all vectorizes straight-line code and loops again with this processor's registers.
//! [`Level::Quick`] only inlines and applies the passes that cost next to nothing, and generates
//! code without scheduling instructions (`code_pipeline.cpp`).
//!
//! Both levels unroll nests over small matrices (`mark_unroll.cpp`), pack again
//! (`repack_vectors.cpp`) what clang vectorized for 128-bit registers (`split_vectors.cpp`), and
//! order loads for code generation (`hoist_indices.cpp`). `Full` also unrolls what clang vectorized
//! for 128-bit registers, versions loops for arrays that do not overlap (`version_aliases.cpp`),
//! makes nests of collapsed loops (`uncollapse.cpp`), keeps arrays in memory that would not fit in
//! registers (`keep_in_memory.cpp`), and orders stores by cache line (`cluster_stores.cpp`). Packing
//! and unrolling are part of quick code because packing saves as much code generation time as it
//! takes, and the unrolled nests run faster.
//!
//! No pass may change a result. `rewire` has removed fused multiplications and permissions to
//! reassociate, so the passes can reorder integer and memory operations only.
//!
//! Debug information for debuggers is left to `debug`. Loop strength reduction is disabled (see
//! [`OPTIONS`]).

use super::{CompileError, Level};
use crate::deferred_init;
use crate::handles::{Module, TargetMachine, machine};
use crate::heap_growth;
use crate::process::{LLVM, OWNED};
use crate::shim::{self, CodePipeline};
use hashbrown::HashSet;
use ompvm_support::progress;
use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::rc::Rc;

/// LLVM's process-wide options for generated code.
///
/// Loop strength reduction takes a quarter to a third of code generation and gains nothing after
/// [`LOOPS`]; without it, code that has not passed [`LOOPS`] is slightly slower.
///
/// The others bound what takes quadratic time in a large block, such as an unrolled nest: the
/// instructions that vectorizing straight-line code may look at, and the memory accesses between
/// which the scheduler looks for dependences.
pub(crate) const OPTIONS: [&CStr; 4] = [
    c"-disable-lsr",
    c"-slp-schedule-budget=5000",
    c"-dag-maps-huge-region=100",
    c"-dag-maps-reduction-size=50",
];

/// The first passes of [`Level::Full`], before loops are versioned.
///
/// Propagation of constants and ranges comes first: the loops of SP are unrolled only after it has
/// found their remainders empty.
const FIRST: &CStr =
    c"ipsccp,cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>)";

/// Fully unrolls nests over small matrices (`mark_unroll.cpp`): the outer loops, which makes the
/// trip counts of the inner loops constants, then the inner loops.
const NESTS: &CStr = c"function(loop(indvars,loop-unroll-full),sccp,simplifycfg,\
    instcombine<no-verify-fixpoint>,loop(indvars,loop-unroll-full),sccp,simplifycfg,\
    instcombine<no-verify-fixpoint>)";

/// Promotes the arrays of unrolled nests to values; runs after [`NESTS`].
const VALUES: &CStr = c"function(sroa,early-cse<memssa>)";

/// Unrolls by two the loops that `mark_unroll.cpp` marked.
const VECTORS: &CStr =
    c"function(loop-unroll<O3;no-partial;no-peeling;no-runtime;no-upperbound;no-profile-peeling>,\
    instcombine<no-verify-fixpoint>)";

/// Vectorizes and unrolls loops.
const LOOPS: &CStr = c"function(loop-mssa(licm),gvn,memcpyopt,dse,mldst-motion,\
    loop(indvars,loop-deletion,loop-unroll-full),loop-distribute,loop-vectorize,\
    infer-alignment,loop-unroll<O3>)";

/// Vectorizes straight-line code. Runs after [`LOOPS`], where indices have become constants and
/// arrays become values.
const STRAIGHT: &CStr = c"function(sroa,instcombine<no-verify-fixpoint>,simplifycfg,sccp,bdce,\
    slp-vectorizer,vector-combine)";

/// The last passes, after vector re-packing.
const LAST: &CStr = c"function(infer-alignment,instcombine<no-verify-fixpoint>,\
    loop-mssa(licm),alignment-from-assumptions,jump-threading,\
    loop-sink,div-rem-pairs,simplifycfg)";

/// The passes of [`Level::Quick`], for calls within the unit.
const QUICK: &CStr =
    c"cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

/// Properties of a unit that select its passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitProperties {
    /// True if the rewiring left calls that must be inlined.
    pub inline: bool,
    /// True if there is more than one function.
    pub several: bool,
    /// True if the compiler that made the vectors knew of registers wider than 128 bits.
    pub wide: bool,
}

/// Optimizes the IR of a unit.
///
/// # Errors
/// Returns the function that grew out of proportion, or LLVM's message if a pass fails.
pub(crate) fn optimize(
    module: Module<'_>,
    machine: &HostMachine,
    level: Level,
    unit: UnitProperties,
) -> Result<(), CompileError> {
    shim::order_iterations(module);
    if unit.inline {
        machine.run_passes(module, c"always-inline")?;
    }
    if !unit.wide {
        shim::split_vectors(module);
    }
    // Quick code replaces code that grew, and is at most inlined, so it is not checked.
    let growth = (level == Level::Full).then(|| shim::GrowthGuard::record(module));
    let check = || growth.as_ref().map_or(Ok(()), shim::GrowthGuard::check);
    let run = |passes| -> Result<(), CompileError> {
        shim::run_passes(module, passes, machine.handle(), growth.as_ref())?;
        Ok(check()?)
    };
    // A step of `Session::STEPS`.
    let run_step = |passes| -> Result<(), CompileError> {
        run(passes)?;
        progress::step();
        Ok(())
    };
    match level {
        Level::Quick if unit.several => run(QUICK)?,
        Level::Quick => {}
        Level::Full => run_step(FIRST)?,
    }
    let unroll = shim::mark_unroll(module, machine.handle());
    let mut kept = false;
    if unroll.nests {
        run(NESTS)?;
        kept |= shim::keep_in_memory(module);
        run(VALUES)?;
    }
    match level {
        Level::Quick => shim::repack_vectors(module, machine.handle()),
        Level::Full => {
            shim::version_aliases(module);
            // The guards of alias versioning stay before all rows.
            shim::uncollapse(module);
            if unroll.vectors {
                run(VECTORS)?;
                kept |= shim::keep_in_memory(module);
                shim::repack_vectors(module, machine.handle());
            }
            run_step(LOOPS)?;
            kept |= shim::keep_in_memory(module);
            run_step(STRAIGHT)?;
            shim::repack_vectors(module, machine.handle());
            shim::cluster_stores(module);
            run_step(LAST)?;
        }
    }
    if kept {
        shim::release_arrays(module);
    }
    shim::hoist_indices(module);
    Ok(check()?)
}

/// A code generator of LLVM, with the passes of each level once they were needed.
pub(crate) struct CodeGenerator {
    /// Dropped before the machine, which they use.
    pipelines: [Cell<Option<CodePipeline>>; 2],
    machine: TargetMachine,
}

impl CodeGenerator {
    fn new(machine: TargetMachine) -> Rc<CodeGenerator> {
        Rc::new(CodeGenerator {
            pipelines: Default::default(),
            machine,
        })
    }
}

/// LLVM's code generator for this processor, owned by the calling thread.
pub(crate) struct HostMachine(Rc<CodeGenerator>);

/// Drops the calling thread's code generators after LLVM gave up in one of them.
pub(super) fn forget_machines() {
    // Their state is unknown, so they are neither used nor destroyed.
    std::mem::forget(OWNED.with(|owned| owned.generators.take()));
}

impl HostMachine {
    /// Returns the code generator for a module, which gets this system's triple.
    ///
    /// # Errors
    /// Returns LLVM's message if it has no code generator for this processor.
    pub(crate) fn for_module(
        module: Module<'_>,
        position_independent: bool,
    ) -> Result<HostMachine, String> {
        let host = host()?;
        let index = usize::from(position_independent);
        let generator = match OWNED.with(|owned| owned.generators.borrow()[index].clone()) {
            Some(generator) => generator,
            None => {
                heap_growth::populate();
                let name = &host.name;
                let fresh =
                    TargetMachine::small(&host.triple, name, &host.features, position_independent)?;
                let fresh = CodeGenerator::new(fresh);
                let kept = Some(fresh.clone());
                OWNED.with(|owned| owned.generators.borrow_mut()[index] = kept);
                fresh
            }
        };
        let machine = HostMachine(generator);
        machine.adopt(module);
        Ok(machine)
    }

    /// Creates a code generator for position-dependent code with every feature of this processor.
    /// It shares nothing with the thread's other machines.
    ///
    /// # Errors
    /// Fails as [`HostMachine::for_module`] does.
    pub(super) fn with_all_features() -> Result<HostMachine, String> {
        let host = host()?;
        heap_growth::populate();
        let fresh = TargetMachine::small(&host.triple, &host.name, &host.all_features, false)?;
        Ok(HostMachine(CodeGenerator::new(fresh)))
    }

    /// Creates a code generator for a named processor, so that the passes decide alike on every
    /// machine.
    ///
    /// # Errors
    /// Fails as [`HostMachine::for_module`] does.
    pub(crate) fn for_processor(module: Module<'_>, name: &CStr) -> Result<HostMachine, String> {
        let fresh = TargetMachine::small(&host()?.triple, name, c"", false)?;
        let machine = HostMachine(CodeGenerator::new(fresh));
        machine.adopt(module);
        Ok(machine)
    }

    /// Returns LLVM's code generator.
    pub(crate) fn handle(&self) -> &TargetMachine {
        &self.0.machine
    }

    /// Gives a module this system's triple and data layout: the passes must use it, too, and a
    /// module may have none.
    pub(super) fn adopt(&self, module: Module<'_>) {
        self.handle().adopt(module);
    }

    /// Runs passes, named as for `opt -passes=`. Callers do not use handles of what the passes may
    /// remove.
    pub(crate) fn run_passes(&self, module: Module<'_>, passes: &CStr) -> Result<(), String> {
        shim::run_passes(module, passes, self.handle(), None)
    }

    /// Generates an object file for a module that was adopted. Callers do not use handles of its
    /// contents afterwards.
    ///
    /// # Errors
    /// Returns one sentence if LLVM writes no object files for this processor.
    pub(crate) fn object(&self, module: Module<'_>, level: Level) -> Result<Vec<u8>, String> {
        let quick = level == Level::Quick;
        let kept = &self.0.pipelines[usize::from(quick)];
        // If LLVM gives up, the passes are lost, and the next object gets new ones.
        let pipeline = kept.take().or_else(|| {
            // SAFETY: the machine is dropped after its pipelines.
            unsafe { CodePipeline::new(self.handle(), quick) }
        });
        let mut pipeline = pipeline.ok_or("LLVM writes no object files for this processor")?;
        let spent = CodePipeline::is_spent_by(module);
        // SAFETY: compilations and snippets end with their code, and keep no handle.
        let object = unsafe { pipeline.object(module) };
        if !spent {
            kept.set(Some(pipeline));
        }
        Ok(object)
    }

    /// Drops the passes of code generation after they have reported an error.
    pub(crate) fn forget_passes(&self) {
        for kept in &self.0.pipelines {
            kept.take();
        }
    }
}

/// LLVM's description of this system and processor.
pub(crate) struct Host {
    triple: CString,
    name: CString,
    features: CString,
    /// `features` and those that round differently from the guest's own target.
    all_features: CString,
    /// Names of the features that the processor lacks or that `features` leaves out.
    absent: HashSet<String>,
    /// Names of the features that the processor lacks.
    lacking: HashSet<String>,
}

/// Returns true if this processor lacks one of the features (`+NAME,-NAME`) that a function asks
/// for.
pub fn host_lacks(own: &str) -> bool {
    let mut on = own
        .split(',')
        .filter_map(|f| f.strip_prefix('+'))
        .peekable();
    let host = on.peek().and_then(|_| host().ok());
    host.is_some_and(|host| on.any(|f| host.lacking.contains(f)))
}

/// Returns this processor's features plus those that a function's `target-features` (`+NAME,-NAME`)
/// asks for beyond them; `None` if it asks for none.
///
/// A function keeps the features it asks for even if the processor lacks them, since LLVM only
/// selects instructions that the function may use. If such an instruction is reached without the
/// feature, it faults, as it does natively.
pub fn host_features_with(own: &str) -> Option<String> {
    let asks = own.split(',').any(|f| f.starts_with('+'));
    let host = asks.then(host)?.ok()?;
    let on = own.split(',').filter_map(|f| f.strip_prefix('+'));
    let mut beyond: Vec<&str> = on.filter(|f| host.absent.contains(*f)).collect();
    if beyond.is_empty() {
        return None;
    }
    // Sorted, because LLVM makes tables for each distinct text: equal sets must have equal texts.
    beyond.sort_unstable();
    beyond.dedup();
    let common = host.features.to_str().ok()?;
    Some(format!("{common},+{}", beyond.join(",+")))
}

/// Queries the host once: under virtualization every CPUID query traps to the hypervisor.
fn host() -> Result<&'static Host, String> {
    let ask = || {
        deferred_init::start();
        let triple = machine::host_triple();
        let name = machine::host_processor();
        let features = machine::host_features();
        let all = features.clone();
        let without = |features: &str| {
            let off = features.split(',').filter_map(|f| f.strip_prefix('-'));
            off.map(str::to_owned).collect::<HashSet<_>>()
        };
        let lacking = without(&features);
        // These round differently from the guest's own target; only functions that ask for them get
        // them.
        let features = format!("{features},-avx512bf16,-avxneconvert,-avx512fp16");
        let absent = without(&features);
        let text = |t: String| CString::new(t).map_err(|e| e.to_string());
        Ok(Host {
            triple: text(triple)?,
            name: text(name)?,
            features: text(features)?,
            all_features: text(all)?,
            absent,
            lacking,
        })
    };
    LLVM.host.get_or_init(ask).as_ref().map_err(String::clone)
}

#[cfg(test)]
mod tests;
