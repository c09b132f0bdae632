//! The passes over a unit and its code generation.
//!
//! What comes in left clang's own pipeline, for a processor of the year 2003. [`Level::Full`] runs a
//! second one, made from what the optimiser does at link time: it inlines across what was compiled
//! apart, and above all packs straight-line code and the rest of the loops again with the registers
//! this processor has. [`Level::Quick`] only inlines, and does what costs next to nothing.
//!
//! In both, nests over small matrices are unrolled (`unroll.cpp`), what clang packed for registers of 128 bits
//! (`split.cpp`) is packed once more (`pairs.cpp`), and loads are put in an order for code generation (`loads.cpp`).
//! With all effort, what clang vectorised for registers of 128 bits is unrolled, loops get a second version that knows
//! its arrays to be apart (`speculate.cpp`), arrays stay in memory that
//! would not fit into registers (`carried.cpp`), and stores are put in the order of the cache's lines (`lines.cpp`).
//!
//! Why both in quick code: packing takes no longer than it saves in code generation (all of SP 119 ms of a processor
//! without, 117 with it), nests took LU 26 ms more on 96. On two processors that the program needs itself LU takes .93
//! (class W) and .97 (A) of what it took without both in the NAS benchmarks; others differ by less than they scatter.
//!
//! Nothing may change a result: fused multiplications and permissions to reassociate are gone when
//! a unit comes here (`prepare`), so a pass can reorder integers and memory only.
//!
//! What not: nothing of the debugger's; no loop strength reduction (see [`OPTIONS`]).

use super::{Level, Trouble};
use crate::llvm::arena;
use crate::llvm::late;
use crate::llvm::raw::{llvm, take_buffer, take_message};
use crate::llvm::shim;
use hashbrown::HashSet;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target_machine::*;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::OnceLock;

/// LLVM's process-wide options for generated code.
///
/// Loop strength reduction takes a quarter to a third of code generation and gains nothing where
/// [`LOOPS`] has run; without that the code is 3% slower for it (class W of the NAS benchmarks).
pub(in crate::llvm) const OPTIONS: [&CStr; 1] = [c"-disable-lsr"];

/// The first passes of [`Level::Full`], before loops get their second versions.
///
/// Propagation of constants and ranges comes first: the loops of SP are unrolled only where it has
/// found that their remainders are empty, a tenth of SP's time.
const FIRST: &CStr =
    c"ipsccp,cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>)";

/// What unrolls nests over small matrices (`unroll.cpp`): the outer loops, which makes the lengths of the inner
/// ones constants, and the inner ones.
const NESTS: &CStr = c"function(loop(indvars,loop-unroll-full),sccp,simplifycfg,\
    instcombine<no-verify-fixpoint>,loop(indvars,loop-unroll-full),sccp,simplifycfg,\
    instcombine<no-verify-fixpoint>)";

/// Behind [`NESTS`]: their arrays are no memory any more.
const VALUES: &CStr = c"function(sroa,early-cse<memssa>)";

/// What makes one iteration of two where `unroll.cpp` says so.
const VECTORS: &CStr =
    c"function(loop-unroll<O3;no-partial;no-peeling;no-runtime;no-upperbound;no-profile-peeling>,\
    instcombine<no-verify-fixpoint>)";

/// Those that vectorise and unroll loops.
const LOOPS: &CStr = c"function(loop-mssa(licm),gvn,memcpyopt,dse,mldst-motion,\
    loop(indvars,loop-deletion,loop-unroll-full),loop-distribute,loop-vectorize,\
    infer-alignment,loop-unroll<O3>)";

/// Those that vectorise what is not a loop. Behind [`LOOPS`], whose indices became constants, arrays become values.
const STRAIGHT: &CStr = c"function(sroa,instcombine<no-verify-fixpoint>,simplifycfg,sccp,bdce,\
    slp-vectorizer,vector-combine)";

/// The last of them, behind the packing of vectors in pairs.
const LAST: &CStr = c"function(infer-alignment,instcombine<no-verify-fixpoint>,\
    loop-mssa(licm),alignment-from-assumptions,jump-threading,\
    loop-sink,div-rem-pairs,simplifycfg)";

/// The passes of [`Level::Quick`], for calls within the unit.
const QUICK: &CStr =
    c"cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

/// What the passes go by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Properties {
    /// The rewiring left calls that must go.
    pub inline: bool,
    /// There is more than one function.
    pub several: bool,
    /// A compiler that knew of wide registers made the vectors.
    pub wide: bool,
}

/// Improves the IR of a unit.
///
/// # Errors
/// The function that grew out of proportion, or LLVM's message when a pass fails.
pub(super) fn run(
    module: LLVMModuleRef,
    machine: &Machine,
    level: Level,
    unit: Properties,
) -> Result<(), Trouble> {
    if unit.inline {
        machine.run(module, c"always-inline")?;
    }
    if !unit.wide {
        shim::split(module);
    }
    // Quick code takes the place of what grew, and is inlined at most.
    let growth = (level == Level::Full).then(|| shim::Growth::of(module));
    let check = || growth.as_ref().map_or(Ok(()), shim::Growth::check);
    let run = |passes| -> Result<(), Trouble> {
        shim::passes(module, passes, machine.0.0, growth.as_ref())?;
        Ok(check()?)
    };
    match level {
        Level::Quick if unit.several => run(QUICK)?,
        Level::Quick => {}
        Level::Full => run(FIRST)?,
    }
    let unroll = shim::unroll(module, machine.0.0);
    let mut kept = false;
    if unroll.nests {
        run(NESTS)?;
        kept |= shim::keep_in_memory(module);
        run(VALUES)?;
    }
    match level {
        Level::Quick => shim::pairs(module, machine.0.0),
        Level::Full => {
            shim::speculate(module);
            if unroll.vectors {
                run(VECTORS)?;
                kept |= shim::keep_in_memory(module);
                shim::pairs(module, machine.0.0);
            }
            run(LOOPS)?;
            kept |= shim::keep_in_memory(module);
            run(STRAIGHT)?;
            shim::pairs(module, machine.0.0);
            shim::lines(module);
            run(LAST)?;
        }
    }
    if kept {
        shim::release(module);
    }
    shim::loads(module);
    Ok(check()?)
}

/// LLVM's code generator for this processor, the calling thread's own.
pub(in crate::llvm) struct Machine(Rc<Generator>);

struct Generator(LLVMTargetMachineRef);

impl Drop for Generator {
    fn drop(&mut self) {
        llvm!(target_machine::LLVMDisposeTargetMachine(self.0));
    }
}

thread_local! {
    /// Those that the thread made, for code at a fixed place and for code at any place. Making one
    /// and its tables takes longer than a small unit's code.
    static GENERATORS: RefCell<[Option<Rc<Generator>>; 2]> = const { RefCell::new([None, None]) };
}

/// Forgets the calling thread's code generators: LLVM gave up in one of them.
pub(super) fn forget_machines() {
    // Neither used nor destroyed: nobody knows what state they are in.
    std::mem::forget(GENERATORS.take());
}

impl Machine {
    /// For a module, which gets this system's triple.
    ///
    /// # Errors
    /// LLVM's message when it has no code generator for this processor.
    pub(in crate::llvm) fn host(
        module: LLVMModuleRef,
        position_independent: bool,
    ) -> Result<Machine, String> {
        let host = host()?;
        llvm!(core::LLVMSetTarget(module, host.triple.as_ptr()));
        let index = usize::from(position_independent);
        let generator = match GENERATORS.with_borrow(|g| g[index].clone()) {
            Some(generator) => generator,
            None => {
                arena::provide();
                let fresh = Rc::new(generator(host, &host.features, position_independent)?);
                GENERATORS.with_borrow_mut(|g| g[index] = Some(fresh.clone()));
                fresh
            }
        };
        let machine = Machine(generator);
        machine.lay_out(module);
        Ok(machine)
    }

    /// Code for a fixed place and with every feature of this processor. Shares nothing with the
    /// thread's other machines.
    ///
    /// # Errors
    /// As for [`Machine::host`].
    pub(super) fn whole() -> Result<Machine, String> {
        let host = host()?;
        arena::provide();
        let fresh = generator(host, &host.all_features, false)?;
        Ok(Machine(Rc::new(fresh)))
    }

    /// Gives a module this system's triple and layout.
    pub(super) fn adopt(&self, module: LLVMModuleRef) -> Result<(), String> {
        llvm!(core::LLVMSetTarget(module, host()?.triple.as_ptr()));
        self.lay_out(module);
        Ok(())
    }

    /// Gives a module the layout of code generation: the passes must use it, too, and a module may have none.
    fn lay_out(&self, module: LLVMModuleRef) {
        let layout = llvm!(target_machine::LLVMCreateTargetDataLayout(self.0.0));
        llvm!(target::LLVMSetModuleDataLayout(module, layout));
        llvm!(target::LLVMDisposeTargetData(layout));
    }

    /// Runs passes, named as `opt -passes=` does.
    pub(in crate::llvm) fn run(&self, module: LLVMModuleRef, passes: &CStr) -> Result<(), String> {
        shim::passes(module, passes, self.0.0, None)
    }

    /// The module as an object file.
    pub(super) fn object(&self, module: LLVMModuleRef) -> Result<Vec<u8>, String> {
        let mut message = null_mut();
        let mut buffer = null_mut();
        let failed = llvm!(target_machine::LLVMTargetMachineEmitToMemoryBuffer(
            self.0.0,
            module,
            LLVMCodeGenFileType::LLVMObjectFile,
            &mut message,
            &mut buffer
        )) != 0;
        if failed {
            return Err(take_message(message));
        }
        Ok(take_buffer(buffer))
    }
}

/// What LLVM calls this system and processor.
struct Host {
    triple: CString,
    name: CString,
    features: CString,
    /// Those, and what rounds otherwise than the guest's own target.
    all_features: CString,
    /// The names of the features that it lacks, or that are left out.
    absent: HashSet<String>,
    /// Those that it lacks.
    lacking: HashSet<String>,
}

/// Returns true if this processor lacks one of the features (`+NAME,-NAME`) that a function asks for.
pub fn lacks(own: &str) -> bool {
    let mut on = own
        .split(',')
        .filter_map(|f| f.strip_prefix('+'))
        .peekable();
    let host = on.peek().and_then(|_| host().ok());
    host.is_some_and(|host| on.any(|f| host.lacking.contains(f)))
}

/// All of this processor's features, with those that a function asks for beyond them: one of the list
/// (`+NAME,-NAME`) of its own `target-features`. `None` where it asks for none.
///
/// A function keeps what it asks for whether the processor has it or not, since LLVM can only select instructions
/// that the function may use. Reached without the processor having them they fault, as natively.
pub fn features_with(own: &str) -> Option<CString> {
    let asks = own.split(',').any(|f| f.starts_with('+'));
    let host = asks.then(host)?.ok()?;
    let on = own.split(',').filter_map(|f| f.strip_prefix('+'));
    let mut beyond: Vec<&str> = on.filter(|f| host.absent.contains(*f)).collect();
    if beyond.is_empty() {
        return None;
    }
    // LLVM makes tables for each text, so equal sets have equal texts.
    beyond.sort_unstable();
    beyond.dedup();
    let common = host.features.to_str().ok()?;
    CString::new(format!("{common},+{}", beyond.join(",+"))).ok()
}

/// Asked once: a virtual machine's host answers each of the questions behind it.
fn host() -> Result<&'static Host, String> {
    static HOST: OnceLock<Result<Host, String>> = OnceLock::new();
    let ask = || {
        late::start();
        let triple = take_message(llvm!(target_machine::LLVMGetDefaultTargetTriple()));
        let name = take_message(llvm!(target_machine::LLVMGetHostCPUName()));
        let features = take_message(llvm!(target_machine::LLVMGetHostCPUFeatures()));
        let all = features.clone();
        let without = |features: &str| {
            let off = features.split(',').filter_map(|f| f.strip_prefix('-'));
            off.map(str::to_owned).collect::<HashSet<_>>()
        };
        let lacking = without(&features);
        // Rounds otherwise than the guest's own target, where the function does not ask for it.
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
    HOST.get_or_init(ask).as_ref().map_err(String::clone)
}

fn generator(
    host: &Host,
    features: &CStr,
    position_independent: bool,
) -> Result<Generator, String> {
    let mut target = null_mut();
    let mut message = null_mut();
    let failed = llvm!(target_machine::LLVMGetTargetFromTriple(
        host.triple.as_ptr(),
        &mut target,
        &mut message
    )) != 0;
    if failed {
        return Err(take_message(message));
    }
    let machine = llvm!(target_machine::LLVMCreateTargetMachine(
        target,
        host.triple.as_ptr(),
        host.name.as_ptr(),
        features.as_ptr(),
        LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
        if position_independent {
            LLVMRelocMode::LLVMRelocPIC
        } else {
            LLVMRelocMode::LLVMRelocStatic
        },
        LLVMCodeModel::LLVMCodeModelSmall
    ));
    if machine.is_null() {
        return Err("LLVM has no code generator for this processor".into());
    }
    Ok(Generator(machine))
}

#[cfg(test)]
mod tests;
