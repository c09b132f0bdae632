//! Replaces a region's runtime calls by those of `runtime-c/device/outlined.c`. A call that cannot
//! be replaced is the reason why the region stays on the host.

use super::{Refusal, constant, device_names, refuse, users};
use crate::nvptx::{called, cleanup, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use crate::shim;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::prelude::*;
use omp_abi::schedule;
use std::ffi::CString;

/// Size of the largest record of a reduction, in bytes: each thread has several on its stack.
pub(super) const RECORD: u64 = 2048;

/// Entry that ends a statically divided loop.
pub(super) const STATIC_FINI: &str = "__kmpc_for_static_fini";
/// Prefix of the replacements for the runtime's entries.
pub(super) const PREFIX: &str = "__ompvm_outlined_";

/// Execution mode of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegionMode {
    /// Its loops are kernels that also run the code around them.
    KernelsOnly,
    /// The host runs the code around them ([`super::partition`]).
    HostSchedule,
}

/// A region's reduction.
#[derive(Clone, Debug)]
pub(super) struct Reduction {
    /// Size of each private copy, in bytes.
    pub items: Vec<u64>,
    /// The compiler's function that combines two lists of copies.
    pub combine: LLVMValueRef,
    /// Name of the function that is called where the reduction begins.
    pub name: String,
}

/// Schedules that give each thread one chunk.
const STATIC: i64 = schedule::STATIC as i64;
const STATIC_BALANCED: i64 = schedule::STATIC_BALANCED as i64;
/// Ordered schedules, which are refused.
const ORDERED: std::ops::RangeInclusive<i64> =
    schedule::ORDERED_LOWER as i64..=schedule::ORDERED_UPPER as i64;

struct CallRewriter {
    module: LLVMModuleRef,
    function: LLVMValueRef,
    builder: LLVMBuilderRef,
    mode: RegionMode,
    reductions: Vec<Reduction>,
    /// Number of loops so far.
    loops: u32,
    /// True if there is more than one loop.
    several: bool,
}

impl Drop for CallRewriter {
    fn drop(&mut self) {
        llvm!(core::LLVMDisposeBuilder(self.builder));
    }
}

/// Rewrites a region's function and returns its reductions.
pub(super) fn rewrite(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    mode: RegionMode,
) -> Result<Vec<Reduction>, Refusal> {
    let context = llvm!(core::LLVMGetModuleContext(module));
    let mut it = CallRewriter {
        module,
        function,
        builder: llvm!(core::LLVMCreateBuilderInContext(context)),
        mode,
        reductions: Vec::new(),
        loops: 0,
        several: false,
    };
    for index in 0..2 {
        shim::drop_parameter_attributes(function, index);
    }
    // Reductions come first, because they make code dead.
    for instruction in instructions(function).collect::<Vec<_>>() {
        let begins = |name: &str| matches!(name, "__kmpc_reduce" | "__kmpc_reduce_nowait");
        if called(instruction).is_some_and(|f| begins(&name_of(f))) {
            it.reduction(instruction)?;
        }
    }
    if !it.reductions.is_empty() {
        super::flatten::simplify(function)?;
    }
    let begins = |name: &str| {
        name.starts_with("__kmpc_for_static_init_") || name.starts_with("__kmpc_dispatch_init_")
    };
    let loops = instructions(function)
        .filter(|&i| called(i).is_some_and(|f| begins(&name_of(f))))
        .count();
    it.several = loops > 1 || mode == RegionMode::HostSchedule;
    for instruction in instructions(function).collect::<Vec<_>>() {
        it.instruction(instruction)?;
    }
    if it.loops == 0 {
        return Err(refuse("it has no worksharing loop", None));
    }
    if mode == RegionMode::KernelsOnly && it.loops > 1 && !it.reductions.is_empty() {
        return Err(refuse("several loops, one with a reduction", None));
    }
    for index in 0..2 {
        it.number(llvm!(core::LLVMGetParam(function, index)))?;
    }
    shim::drop_personality(function);
    for reduction in &it.reductions {
        check_combine(reduction.combine)?;
    }
    Ok(std::mem::take(&mut it.reductions))
}

impl CallRewriter {
    fn operand(&self, instruction: LLVMValueRef, index: u32) -> LLVMValueRef {
        llvm!(core::LLVMGetOperand(instruction, index))
    }

    fn instruction(&mut self, instruction: LLVMValueRef) -> Result<(), Refusal> {
        use LLVMOpcode::*;
        let at = Some(instruction);
        match llvm!(core::LLVMGetInstructionOpcode(instruction)) {
            LLVMInvoke | LLVMLandingPad | LLVMResume | LLVMCleanupRet | LLVMCatchSwitch => {
                return Err(refuse("an exception may pass through it", at));
            }
            LLVMIndirectBr | LLVMCallBr => {
                return Err(refuse("a jump to the address of a label", at));
            }
            LLVMFence => return Err(refuse("a flush: threads may wait for each other", at)),
            LLVMCall => {}
            _ => return Ok(()),
        }
        let Some(callee) = called(instruction) else {
            let value = llvm!(core::LLVMGetCalledValue(instruction));
            return Err(refuse(
                match llvm!(core::LLVMIsAInlineAsm(value)).is_null() {
                    true => "a call through a pointer",
                    false => "assembly",
                },
                at,
            ));
        };
        let name = name_of(callee);
        if let Some(suffix) = name.strip_prefix("__kmpc_for_static_init_") {
            return self.divided(instruction, suffix);
        }
        if let Some(suffix) = name.strip_prefix("__kmpc_dispatch_init_") {
            return self.fetched(instruction, suffix);
        }
        if let Some(suffix) = name.strip_prefix("__kmpc_dispatch_next_") {
            let arguments = [2, 3, 4, 5].map(|i| self.operand(instruction, i));
            self.replace(
                instruction,
                &format!("{PREFIX}fetched_{suffix}"),
                &arguments,
            );
            return Ok(());
        }
        match &*name {
            STATIC_FINI => {
                self.forget_thread(instruction);
                Ok(())
            }
            "__kmpc_end_reduce" | "__kmpc_end_reduce_nowait" | "__kmpc_dispatch_deinit" => {
                llvm!(core::LLVMInstructionEraseFromParent(instruction));
                Ok(())
            }
            // Each of several loops is a kernel, whose end implies a barrier.
            "__kmpc_barrier" if self.several || cleanup::nothing_follows(instruction) => {
                llvm!(core::LLVMInstructionEraseFromParent(instruction));
                Ok(())
            }
            "__kmpc_single" | "__kmpc_master" if self.mode == RegionMode::HostSchedule => {
                self.replace(instruction, super::partition::ONE, &[]);
                Ok(())
            }
            "__kmpc_masked"
                if self.mode == RegionMode::HostSchedule
                    && constant(self.operand(instruction, 2)) == Some(0) =>
            {
                self.replace(instruction, super::partition::ONE, &[]);
                Ok(())
            }
            // Checked once the loops are known.
            "__kmpc_critical" | "__kmpc_critical_with_hint" | "__kmpc_end_critical"
                if self.mode == RegionMode::HostSchedule =>
            {
                self.forget_thread(instruction);
                Ok(())
            }
            // The schedule runs as one thread, which has the values already.
            "__kmpc_end_single" | "__kmpc_end_master" | "__kmpc_end_masked"
            | "__kmpc_copyprivate"
                if self.mode == RegionMode::HostSchedule =>
            {
                llvm!(core::LLVMInstructionEraseFromParent(instruction));
                Ok(())
            }
            // Checked once all of its users are replaced.
            "__kmpc_global_thread_num" => Ok(()),
            own if own.starts_with(PREFIX) => Ok(()),
            _ => self.other(instruction, callee, &name),
        }
    }

    /// Clears location and thread number in a call that stays.
    fn forget_thread(&self, call: LLVMValueRef) {
        let context = llvm!(core::LLVMGetModuleContext(self.module));
        let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
        let number = llvm!(core::LLVMInt32TypeInContext(context));
        for (index, of) in [(0, pointer), (1, number)] {
            let nothing = llvm!(core::LLVMConstNull(of));
            llvm!(core::LLVMSetOperand(call, index, nothing));
        }
    }

    /// Checks a call of a function outside of the runtime.
    fn other(
        &mut self,
        call: LLVMValueRef,
        callee: LLVMValueRef,
        name: &str,
    ) -> Result<(), Refusal> {
        if name.starts_with("llvm.fmuladd.") {
            self.unfused(call);
            return Ok(());
        }
        check_call(callee, name, call)
    }

    /// Splits a fused operation into multiplication and addition, as in every tier.
    fn unfused(&self, call: LLVMValueRef) {
        let [a, b, c] = [0, 1, 2].map(|i| self.operand(call, i));
        llvm!(core::LLVMPositionBuilderBefore(self.builder, call));
        let product = llvm!(core::LLVMBuildFMul(self.builder, a, b, c"".as_ptr()));
        let sum = llvm!(core::LLVMBuildFAdd(self.builder, product, c, c"".as_ptr()));
        llvm!(core::LLVMReplaceAllUsesWith(call, sum));
        llvm!(core::LLVMInstructionEraseFromParent(call));
    }

    /// Replaces a call by one that also gets the state that stands for the thread's number.
    fn replace(&self, call: LLVMValueRef, name: &str, arguments: &[LLVMValueRef]) -> LLVMValueRef {
        let of = llvm!(core::LLVMTypeOf(call));
        let fresh = self.call(call, name, of, arguments);
        llvm!(core::LLVMReplaceAllUsesWith(call, fresh));
        llvm!(core::LLVMInstructionEraseFromParent(call));
        fresh
    }

    fn call(
        &self,
        before: LLVMValueRef,
        name: &str,
        result: LLVMTypeRef,
        arguments: &[LLVMValueRef],
    ) -> LLVMValueRef {
        let mut values = vec![llvm!(core::LLVMGetParam(self.function, 0))];
        values.extend(arguments);
        let mut types: Vec<LLVMTypeRef> =
            values.iter().map(|&v| llvm!(core::LLVMTypeOf(v))).collect();
        let of = llvm!(core::LLVMFunctionType(
            result,
            types.as_mut_ptr(),
            types.len() as u32,
            0
        ));
        let name = CString::new(name).unwrap_or_default();
        let mut callee = llvm!(core::LLVMGetNamedFunction(self.module, name.as_ptr()));
        if callee.is_null() {
            callee = llvm!(core::LLVMAddFunction(self.module, name.as_ptr(), of));
        }
        llvm!(core::LLVMPositionBuilderBefore(self.builder, before));
        llvm!(core::LLVMBuildCall2(
            self.builder,
            of,
            callee,
            values.as_mut_ptr(),
            values.len() as u32,
            c"".as_ptr()
        ))
    }

    /// Rewrites a statically divided loop.
    fn divided(&mut self, call: LLVMValueRef, suffix: &str) -> Result<(), Refusal> {
        let schedule = constant(self.operand(call, 2)).unwrap_or(0) & 0xffff;
        if ORDERED.contains(&schedule) {
            return Err(refuse("an ordered loop", Some(call)));
        }
        if constant(self.operand(call, 7)) != Some(1) {
            return Err(refuse("a loop whose step is not 1", Some(call)));
        }
        self.count(call);
        let arguments = [3, 4, 5, 6].map(|i| self.operand(call, i));
        if matches!(schedule, STATIC | STATIC_BALANCED) {
            self.within(call, arguments[2]);
        }
        self.replace(call, &format!("{PREFIX}static_{suffix}"), &arguments);
        Ok(())
    }

    /// Marks the loop that begins.
    fn count(&mut self, begin: LLVMValueRef) {
        let context = llvm!(core::LLVMGetModuleContext(self.module));
        let number = llvm!(core::LLVMInt32TypeInContext(context));
        let nothing = llvm!(core::LLVMVoidTypeInContext(context));
        let which = llvm!(core::LLVMConstInt(number, self.loops.into(), 0));
        self.call(begin, &format!("{PREFIX}at"), nothing, &[which]);
        self.loops += 1;
    }

    /// Removes the comparison of an iteration's end with the loop's, which it cannot exceed.
    fn within(&self, init: LLVMValueRef, upper: LLVMValueRef) {
        for load in users(upper) {
            if llvm!(core::LLVMIsALoadInst(load)).is_null() {
                continue;
            }
            // Skips loads of earlier values.
            let block = |i| llvm!(core::LLVMGetInstructionParent(i));
            let mut at = init;
            while !at.is_null() && at != load {
                at = llvm!(core::LLVMGetNextInstruction(at));
            }
            if at.is_null() || block(load) != block(init) {
                continue;
            }
            for user in users(load) {
                let least = called(user).is_some_and(|f| {
                    let name = name_of(f);
                    name.starts_with("llvm.smin.") || name.starts_with("llvm.umin.")
                });
                if least {
                    llvm!(core::LLVMReplaceAllUsesWith(user, load));
                }
            }
        }
    }

    /// Rewrites a dynamically scheduled loop.
    fn fetched(&mut self, call: LLVMValueRef, suffix: &str) -> Result<(), Refusal> {
        let schedule = constant(self.operand(call, 2)).unwrap_or(0) & 0xffff;
        if ORDERED.contains(&schedule) {
            return Err(refuse("an ordered loop", Some(call)));
        }
        if constant(self.operand(call, 5)) != Some(1) {
            return Err(refuse("a loop whose step is not 1", Some(call)));
        }
        self.count(call);
        let arguments = [3, 4].map(|i| self.operand(call, i));
        self.replace(call, &format!("{PREFIX}fetch_{suffix}"), &arguments);
        Ok(())
    }

    /// Rewrites a reduction: one of its three results no longer occurs, so the code for it becomes
    /// dead.
    fn reduction(&mut self, call: LLVMValueRef) -> Result<(), Refusal> {
        if self.mode == RegionMode::KernelsOnly && !self.reductions.is_empty() {
            return Err(refuse("several reductions in one region", Some(call)));
        }
        let count = constant(self.operand(call, 2)).unwrap_or(0);
        let list = self.operand(call, 4);
        let combine = self.operand(call, 5);
        if llvm!(core::LLVMIsAFunction(combine)).is_null() {
            return Err(refuse("a reduction by an unknown function", Some(call)));
        }
        let mut items = Vec::new();
        for index in 0..count {
            let size = self.private_size(list, 8 * index).ok_or_else(|| {
                refuse("a reduction over an array of variable length", Some(call))
            })?;
            items.push(size);
        }
        let whole: u64 = items.iter().map(|s| s.next_multiple_of(8)).sum();
        if whole > RECORD {
            return Err(refuse(
                format!("a reduction of {whole} bytes, more than {RECORD}"),
                Some(call),
            ));
        }
        let name = format!(
            "{PREFIX}reduce.{}.{}",
            name_of(self.function),
            self.reductions.len()
        );
        let context = llvm!(core::LLVMGetModuleContext(self.module));
        let bit = llvm!(core::LLVMInt1TypeInContext(context));
        let done = self.call(call, &name, bit, &[list]);
        let of = llvm!(core::LLVMTypeOf(call));
        let number = llvm!(core::LLVMBuildZExt(self.builder, done, of, c"".as_ptr()));
        llvm!(core::LLVMReplaceAllUsesWith(call, number));
        llvm!(core::LLVMInstructionEraseFromParent(call));
        self.reductions.push(Reduction {
            items,
            combine,
            name,
        });
        Ok(())
    }

    /// Returns the size of the variable whose address is in a list of addresses.
    fn private_size(&self, list: LLVMValueRef, at: i64) -> Option<u64> {
        let (_, size) = private(self.module, self.function, list, at)?;
        Some(size)
    }

    /// Refuses uses of the thread's number other than in replaced calls.
    fn number(&self, parameter: LLVMValueRef) -> Result<(), Refusal> {
        for user in users(parameter) {
            if called(user).is_some_and(|f| name_of(f).starts_with(PREFIX)) {
                continue;
            }
            let load = !llvm!(core::LLVMIsALoadInst(user)).is_null();
            let used = users(user).into_iter().next();
            if !load || used.is_some() {
                return Err(refuse(
                    "the thread number is used",
                    Some(used.unwrap_or(user)),
                ));
            }
        }
        for call in instructions(self.function) {
            let asks = called(call).is_some_and(|f| &*name_of(f) == "__kmpc_global_thread_num");
            if asks && let Some(user) = users(call).into_iter().next() {
                return Err(refuse("the thread number is used", Some(user)));
            }
        }
        let idle = instructions(self.function)
            .filter(|&i| called(i).is_some_and(|f| &*name_of(f) == "__kmpc_global_thread_num"));
        for call in idle.collect::<Vec<_>>() {
            llvm!(core::LLVMInstructionEraseFromParent(call));
        }
        Ok(())
    }
}

/// Returns the variable whose address is in a list of addresses, at this byte offset, and its size.
pub(super) fn private(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    list: LLVMValueRef,
    at: i64,
) -> Option<(LLVMValueRef, u64)> {
    let operand = |value, index| llvm!(core::LLVMGetOperand(value, index));
    let (list, first) = shim::constant_offset(module, list);
    let mut found = None;
    for store in instructions(function) {
        if llvm!(core::LLVMIsAStoreInst(store)).is_null() {
            continue;
        }
        let (base, offset) = shim::constant_offset(module, operand(store, 1));
        if base != list || offset != first + at {
            continue;
        }
        let (variable, 0) = shim::constant_offset(module, operand(store, 0)) else {
            return None;
        };
        if llvm!(core::LLVMIsAAllocaInst(variable)).is_null() {
            return None;
        }
        let count = constant(operand(variable, 0))?;
        let of = llvm!(core::LLVMGetAllocatedType(variable));
        let layout = llvm!(target::LLVMGetModuleDataLayout(module));
        let size = llvm!(target::LLVMABISizeOfType(layout, of)) * count as u64;
        found = Some((variable, size));
    }
    found
}

/// Checks that a call can be made on a device.
fn check_call(callee: LLVMValueRef, name: &str, call: LLVMValueRef) -> Result<(), Refusal> {
    if let Some(intrinsic) = name.strip_prefix("llvm.") {
        let own = ["x86.", "aarch64.", "eh.", "stackrestore", "coro."];
        return match own.iter().any(|o| intrinsic.starts_with(o)) {
            true => Err(refuse(
                format!("an instruction of the host processor (`{name}`)"),
                Some(call),
            )),
            false => Ok(()),
        };
    }
    if llvm!(core::LLVMIsDeclaration(callee)) == 0 {
        return Err(refuse(
            format!("`{name}` cannot be inlined, because it may be recursive"),
            Some(call),
        ));
    }
    match device_names::device_math_name(name) {
        Some(_) => Ok(()),
        None => Err(refuse(device_names::reason(name), Some(call))),
    }
}

/// Checks that the function that combines two private copies can run on a device.
fn check_combine(function: LLVMValueRef) -> Result<(), Refusal> {
    for instruction in instructions(function) {
        if llvm!(core::LLVMIsACallInst(instruction)).is_null() {
            continue;
        }
        match called(instruction) {
            Some(callee) => check_call(callee, &name_of(callee), instruction)?,
            None => return Err(refuse("a call through a pointer", Some(instruction))),
        }
    }
    for instruction in instructions(function) {
        for index in 0..llvm!(core::LLVMGetNumOperands(instruction)) as u32 {
            let operand = llvm!(core::LLVMGetOperand(instruction, index));
            let variable = !operand.is_null()
                && !llvm!(core::LLVMIsAGlobalVariable(operand)).is_null()
                && llvm!(core::LLVMIsGlobalConstant(operand)) == 0;
            if variable {
                return Err(refuse(
                    format!("the reduction uses the variable `{}`", name_of(operand)),
                    Some(instruction),
                ));
            }
        }
    }
    Ok(())
}
