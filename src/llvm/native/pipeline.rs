//! The passes over a unit and its code generation.
//!
//! What comes in left clang's own pipeline, for a processor of the year 2003. [`Level::Full`] runs a
//! second one, made from what the optimiser does at link time: it inlines across what was compiled
//! apart, and above all packs straight-line code and the rest of the loops again with the registers
//! this processor has. [`Level::Quick`] only inlines.
//!
//! In between loops get a second version that knows its arrays to be apart (`speculate.cpp`), and what clang
//! packed for registers of 128 bits is packed once more (`pairs.cpp`).
//!
//! Nothing may change a result: fused multiplications and permissions to reassociate are gone when
//! a unit comes here (`prepare`), so a pass can reorder integers and memory only.
//!
//! What not: nothing of the debugger's; no loop strength reduction (see [`OPTIONS`]).

use super::Level;
use crate::llvm::arena;
use crate::llvm::error::take_error;
use crate::llvm::raw::{llvm, take_buffer, take_message};
use crate::llvm::shim;
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
/// [`FULL`] has run; without that the code is 3% slower for it (class W of the NAS benchmarks).
pub(in crate::llvm) const OPTIONS: [&CStr; 1] = [c"-disable-lsr"];

/// The first passes of [`Level::Full`], before loops get their second versions.
///
/// Propagation of constants and ranges comes first: the loops of SP are unrolled only where it has
/// found that their remainders are empty, a tenth of SP's time.
const FIRST: &CStr =
    c"ipsccp,cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>)";

/// Those that vectorise.
const FULL: &CStr = c"function(loop-mssa(licm),gvn,memcpyopt,dse,mldst-motion,\
    loop(indvars,loop-deletion,loop-unroll-full),loop-distribute,loop-vectorize,\
    infer-alignment,loop-unroll<O3>,sroa,instcombine<no-verify-fixpoint>,simplifycfg,sccp,bdce,\
    slp-vectorizer,vector-combine)";

/// The last of them, behind the packing of vectors in pairs.
const LAST: &CStr = c"function(infer-alignment,instcombine<no-verify-fixpoint>,\
    loop-mssa(licm),alignment-from-assumptions,jump-threading,\
    loop-sink,div-rem-pairs,simplifycfg)";

/// The passes of [`Level::Quick`], for calls within the unit.
const QUICK: &CStr =
    c"cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

/// Improves the IR of a unit; `inline` says that the rewiring left calls that must go,
/// `several` that there is more than one function.
///
/// # Errors
/// LLVM's message when a pass fails.
pub(super) fn run(
    module: LLVMModuleRef,
    machine: &Machine,
    level: Level,
    inline: bool,
    several: bool,
) -> Result<(), String> {
    if inline {
        machine.run(module, c"always-inline")?;
    }
    match level {
        Level::Quick if several => machine.run(module, QUICK),
        Level::Quick => Ok(()),
        Level::Full => {
            machine.run(module, FIRST)?;
            shim::speculate(module);
            machine.run(module, FULL)?;
            shim::pairs(module, machine.0.0);
            machine.run(module, LAST)
        }
    }
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
                let fresh = Rc::new(generator(host, position_independent)?);
                GENERATORS.with_borrow_mut(|g| g[index] = Some(fresh.clone()));
                fresh
            }
        };
        // What code generation goes by, the passes must too; a module may have no layout.
        let layout = llvm!(target_machine::LLVMCreateTargetDataLayout(generator.0));
        llvm!(target::LLVMSetModuleDataLayout(module, layout));
        llvm!(target::LLVMDisposeTargetData(layout));
        Ok(Machine(generator))
    }

    /// Runs passes, named as `opt -passes=` does.
    pub(in crate::llvm) fn run(&self, module: LLVMModuleRef, passes: &CStr) -> Result<(), String> {
        let options = llvm!(transforms::pass_builder::LLVMCreatePassBuilderOptions());
        let result = take_error(llvm!(transforms::pass_builder::LLVMRunPasses(
            module,
            passes.as_ptr(),
            self.0.0,
            options
        )));
        llvm!(transforms::pass_builder::LLVMDisposePassBuilderOptions(
            options
        ));
        result
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
}

/// Asked once: a virtual machine's host answers each of the questions behind it.
fn host() -> Result<&'static Host, String> {
    static HOST: OnceLock<Result<Host, String>> = OnceLock::new();
    let ask = || {
        let triple = take_message(llvm!(target_machine::LLVMGetDefaultTargetTriple()));
        let name = take_message(llvm!(target_machine::LLVMGetHostCPUName()));
        let features = take_message(llvm!(target_machine::LLVMGetHostCPUFeatures()));
        // What rounds otherwise than the guest's own target is left out.
        let features = format!("{features},-avx512bf16,-avxneconvert,-avx512fp16");
        let text = |t: String| CString::new(t).map_err(|e| e.to_string());
        Ok(Host {
            triple: text(triple)?,
            name: text(name)?,
            features: text(features)?,
        })
    };
    HOST.get_or_init(ask).as_ref().map_err(String::clone)
}

fn generator(host: &Host, position_independent: bool) -> Result<Generator, String> {
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
        host.features.as_ptr(),
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
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// What the packing of pairs makes of these lines in a function of two pointers.
    fn packed(lines: &str) -> String {
        let text = format!(
            "define void @f(ptr %to, ptr %from) {{\n{lines}  ret void\n}}\ndeclare void @g()\n"
        );
        crate::llvm::initialise_target();
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "pairs");
        let module = context.create_module_from_ir(buffer).unwrap();
        let machine = Machine::host(module.as_mut_ptr(), true).unwrap();
        shim::pairs(module.as_mut_ptr(), machine.0.0);
        module.verify().unwrap();
        module.print_to_string().to_string()
    }

    /// Two lines of a sum; `between` comes before the second, whose numbers are added the other way around.
    fn lines(between: &str) -> String {
        format!(
            "  %a = load <2 x double>, ptr %from, align 8, !alias.scope !1
  %b = fadd <2 x double> %a, splat (double 3.0)
  store <2 x double> %b, ptr %to, align 8, !noalias !1
{between}  %q = getelementptr i8, ptr %from, i64 16
  %c = load <2 x double>, ptr %q, align 8, !alias.scope !1
  %d = fadd <2 x double> splat (double 4.0), %c
  %p = getelementptr i8, ptr %to, i64 16
  store <2 x double> %d, ptr %p, align 8, !noalias !1
"
        )
    }

    fn with_scopes(lines: &str) -> String {
        let scopes = "!0 = distinct !{!0}\n!1 = !{!2}\n!2 = distinct !{!2, !0}\n";
        packed(&format!(
            "{lines}  ret void\n}}\n{scopes}define void @h() {{\n"
        ))
    }

    #[test]
    fn pairs_of_vectors_become_one() {
        if !std::arch::is_x86_feature_detected!("avx") {
            return;
        }
        let one = with_scopes(&lines(""));
        assert!(one.contains("fadd <4 x double>"), "{one}");
        assert!(!one.contains("store <2 x double>"), "{one}");
        // The first half is stored elsewhere, too: behind, it is taken out of the whole; before that is
        // there, it has to stay.
        let elsewhere = "  store <2 x double> %b, ptr null, align 8, !noalias !1\n";
        let behind = with_scopes(&format!("{}{elsewhere}", lines("")));
        assert!(behind.contains("shufflevector <4 x double>"), "{behind}");
        assert!(!behind.contains("fadd <2 x double>"), "{behind}");
        let between = with_scopes(&lines(elsewhere));
        assert!(!between.contains("<4 x double>"), "{between}");
    }

    #[test]
    fn pairs_stay_apart_where_the_order_can_be_told() {
        // A call may end the thread, or read what was stored; a fence orders; without scopes the second load
        // may read what the first line stored.
        for between in ["  call void @g()\n", "  fence seq_cst\n"] {
            let both = with_scopes(&lines(between));
            assert!(
                both.contains("store <2 x double>") && !both.contains("store <4 x"),
                "{both}"
            );
        }
        let open = lines("")
            .replace(", !alias.scope !1", "")
            .replace(", !noalias !1", "");
        let both = packed(&open);
        assert!(!both.contains("store <4 x double>"), "{both}");
    }
}
