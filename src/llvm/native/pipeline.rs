//! The passes over a unit and its code generation.
//!
//! What comes in left clang's own pipeline, for a processor of the year 2003. [`Level::Full`] runs a
//! second one, made from what the optimiser does at link time: it inlines across what was compiled
//! apart, and above all packs straight-line code and the rest of the loops again with the registers
//! this processor has. [`Level::Quick`] only inlines.
//!
//! In between nests over small matrices and what clang vectorised for registers of 128 bits are unrolled
//! (`unroll.cpp`), loops get a second version that knows its arrays to be apart (`speculate.cpp`), and what clang
//! packed for registers of 128 bits (`split.cpp`) is packed once more (`pairs.cpp`). At the end of both levels
//! loads are put in an order for code generation (`loads.cpp`).
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

/// What unrolls nests over small matrices (`unroll.cpp`): the outer loops, which makes the lengths of the inner
/// ones constants, and the inner ones; then their arrays are no memory any more.
const NESTS: &CStr = c"function(loop(indvars,loop-unroll-full),sccp,simplifycfg,\
    instcombine<no-verify-fixpoint>,loop(indvars,loop-unroll-full),sccp,simplifycfg,\
    instcombine<no-verify-fixpoint>,sroa,early-cse<memssa>)";

/// What makes one iteration of two where `unroll.cpp` says so.
const VECTORS: &CStr =
    c"function(loop-unroll<O3;no-partial;no-peeling;no-runtime;no-upperbound;no-profile-peeling>,\
    instcombine<no-verify-fixpoint>)";

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
/// LLVM's message when a pass fails.
pub(super) fn run(
    module: LLVMModuleRef,
    machine: &Machine,
    level: Level,
    unit: Properties,
) -> Result<(), String> {
    if unit.inline {
        machine.run(module, c"always-inline")?;
    }
    match level {
        Level::Quick if unit.several => machine.run(module, QUICK)?,
        Level::Quick => {}
        Level::Full => {
            if !unit.wide {
                shim::split(module);
            }
            machine.run(module, FIRST)?;
            let unroll = shim::unroll(module, machine.0.0);
            if unroll.nests {
                machine.run(module, NESTS)?;
            }
            shim::speculate(module);
            if unroll.vectors {
                machine.run(module, VECTORS)?;
                shim::pairs(module, machine.0.0);
            }
            machine.run(module, FULL)?;
            shim::pairs(module, machine.0.0);
            machine.run(module, LAST)?;
        }
    }
    shim::loads(module);
    Ok(())
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

    /// What all passes make of a module's text.
    fn optimised(text: &str, wide: bool) -> String {
        made(text, wide, Level::Full)
    }

    fn made(text: &str, wide: bool, level: Level) -> String {
        crate::llvm::initialise_target();
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "full");
        let module = context.create_module_from_ir(buffer).unwrap();
        let machine = Machine::host(module.as_mut_ptr(), true).unwrap();
        let unit = Properties {
            inline: false,
            several: false,
            wide,
        };
        run(module.as_mut_ptr(), &machine, level, unit).unwrap();
        module.verify().unwrap();
        module.print_to_string().to_string()
    }

    /// A loop as clang vectorises it: each number and both of its neighbours, of which the next iteration has one.
    fn neighbours(to: &str) -> String {
        format!(
            "define void @f(ptr noalias %from, ptr noalias %other, i64 %n) {{
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %before = phi <2 x double> [ zeroinitializer, %0 ], [ %c, %loop ]
  %p = getelementptr double, ptr %from, i64 %i
  %a = load <2 x double>, ptr %p, align 8
  %next = add nuw i64 %i, 2
  %q = getelementptr double, ptr %from, i64 %next
  %c = load <2 x double>, ptr %q, align 8
  %s = shufflevector <2 x double> %before, <2 x double> %c, <2 x i32> <i32 1, i32 2>
  %t = fadd <2 x double> %s, %a
  %u = fadd <2 x double> %t, %c
  %o = getelementptr double, ptr {to}
  store <2 x double> %u, ptr %o, align 8
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop, !llvm.loop !0
out:
  ret void
}}
!0 = distinct !{{!0, !1, !2}}
!1 = !{{!\"llvm.loop.isvectorized\", i32 1}}
!2 = !{{!\"llvm.loop.unroll.runtime.disable\"}}
"
        )
    }

    #[test]
    fn iterations_over_vectors_become_pairs() {
        if !std::arch::is_x86_feature_detected!("avx") {
            return;
        }
        let apart = optimised(&neighbours("%other, i64 %i"), false);
        assert_eq!(apart.matches("fadd <4 x double>").count(), 2, "{apart}");
        assert_eq!(apart.matches("store <4 x double>").count(), 1, "{apart}");
        // What one iteration writes, the next one reads.
        let after = optimised(&neighbours("%from, i64 %next"), false);
        assert!(!after.contains("store <4 x double>"), "{after}");
    }

    /// The lines of a loop over so many gathered values that load, or add to the sum, in their order. `between`
    /// comes behind the first sum.
    fn gathering(count: usize, between: &str) -> Vec<String> {
        let one = |k: usize| {
            let before = k.checked_sub(1).map_or("sum".into(), |b| format!("sum{b}"));
            let between = if k == 0 { between } else { "" };
            format!(
                "  %i{k} = add i64 %i, {k}
  %pa{k} = getelementptr double, ptr %a, i64 %i{k}
  %a{k} = load double, ptr %pa{k}
  %pc{k} = getelementptr i64, ptr %c, i64 %i{k}
  %c{k} = load i64, ptr %pc{k}
  %pp{k} = getelementptr double, ptr %p, i64 %c{k}
  %p{k} = load double, ptr %pp{k}
  %m{k} = fmul double %a{k}, %p{k}
  %sum{k} = fadd double %{before}, %m{k}
{between}"
            )
        };
        let all: String = (0..count).map(one).collect();
        let last = count - 1;
        let text = format!(
            "define double @f(ptr %a, ptr %c, ptr %p, i64 %n) {{
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi double [ 0.0, %0 ], [ %sum{last}, %loop ]
{all}  %next = add i64 %i, {count}
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop
out:
  ret double %sum{last}
}}
declare void @g()
"
        );
        let made = made(&text, false, Level::Quick);
        let lines = made.lines().map(str::trim);
        let wanted = |l: &str| l.contains(" = load") || l.contains(" = fadd");
        let name = |l: &str| l.split(" = ").next().unwrap().to_owned();
        lines.filter(|l| wanted(l)).map(name).collect()
    }

    #[test]
    fn gathered_values_have_their_indices_first() {
        let early = ["%c0", "%c1", "%a0", "%a1", "%p0", "%sum0", "%p1", "%sum1"];
        assert_eq!(gathering(2, ""), early);
        // Eight are put together, for registers; the next ones follow where the first of them was.
        let five = gathering(5, "").join(" ");
        let first = "%c0 %c1 %c2 %c3 %a0 %a1 %a2 %a3 %p0 %sum0 %p1 %sum1 %p2 %sum2 %p3 %sum3";
        assert_eq!(five, format!("{first} %c4 %a4 %p4 %sum4"));
        // What may write, or end the program, stays before what comes behind it.
        let late = ["%a0", "%c0", "%p0", "%sum0", "%a1", "%c1", "%p1", "%sum1"];
        assert_eq!(gathering(2, "  store double %sum0, ptr %p\n"), late);
        assert_eq!(gathering(2, "  call void @g()\n"), late);
    }

    #[test]
    fn vectors_for_two_registers_are_two() {
        // The halves swapped: across the register as one vector, nothing to be done as two.
        let text = "define void @f(ptr noalias %to, ptr noalias %from) {
  %a = load <4 x double>, ptr %from, align 8
  %b = shufflevector <4 x double> %a, <4 x double> poison, <4 x i32> <i32 2, i32 3, i32 0, i32 1>
  %c = fmul <4 x double> %b, %b
  store <4 x double> %c, ptr %to, align 8
  ret void
}
";
        let narrow = optimised(text, false);
        assert!(!narrow.contains("shufflevector"), "{narrow}");
        assert!(narrow.contains("fmul <2 x double>"), "{narrow}");
        let wide = optimised(text, true);
        assert!(wide.contains("fmul <4 x double>"), "{wide}");
    }

    #[test]
    fn nests_over_small_matrices_become_one_block() {
        let text = "define void @f(ptr noalias %m, ptr noalias %x) {
  br label %outer
outer:
  %k = phi i64 [ 0, %0 ], [ %up, %behind ]
  %row = getelementptr [5 x double], ptr %m, i64 %k
  %at = getelementptr double, ptr %row, i64 %k
  %diagonal = load double, ptr %at
  %pivot = fdiv double 1.0, %diagonal
  store double %pivot, ptr %at
  %up = add nuw nsw i64 %k, 1
  %last = icmp eq i64 %k, 4
  br i1 %last, label %behind, label %rows
rows:
  %r = phi i64 [ %up, %outer ], [ %below, %step ]
  %other = getelementptr [5 x double], ptr %m, i64 %r
  %first = getelementptr double, ptr %other, i64 %k
  %scale = load double, ptr %first
  %factor = fmul double %scale, %pivot
  br label %columns
columns:
  %c = phi i64 [ %up, %rows ], [ %right, %columns ]
  %p = getelementptr double, ptr %row, i64 %c
  %a = load double, ptr %p
  %b = fmul double %a, %factor
  %q = getelementptr double, ptr %other, i64 %c
  %old = load double, ptr %q
  %new = fsub double %old, %b
  store double %new, ptr %q
  %right = add nuw nsw i64 %c, 1
  %end = icmp eq i64 %right, 5
  br i1 %end, label %step, label %columns
step:
  %mine = getelementptr double, ptr %x, i64 %k
  %u = load double, ptr %mine
  %v = fmul double %u, %factor
  %its = getelementptr double, ptr %x, i64 %r
  %w = load double, ptr %its
  %z = fsub double %w, %v
  store double %z, ptr %its
  %below = add nuw nsw i64 %r, 1
  %bottom = icmp eq i64 %below, 5
  br i1 %bottom, label %behind, label %rows
behind:
  %done = icmp eq i64 %up, 5
  br i1 %done, label %out, label %outer
out:
  ret void
}
";
        let made = optimised(text, false);
        assert!(!made.contains("br i1"), "{made}");
    }
}
