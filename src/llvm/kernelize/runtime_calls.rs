//! Replaces a region's runtime calls by those of `runtime-c/device/outlined.c`. A call that cannot
//! be replaced is the reason why the region stays on the host.

use super::{Refusal, callee_name, calls, device_names, flatten, refuse, refuse_at};
use crate::handles::{Alloca, Builder, Call, Function, Instruction, Module, Opcode, Type, Value};
use crate::nvptx::cleanup;
use crate::shim;
use omp_abi::schedule;

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
pub(super) struct Reduction<'m> {
    /// Size of each private copy, in bytes.
    pub items: Vec<u64>,
    /// The compiler's function that combines two lists of copies.
    pub combine: Function<'m>,
    /// Name of the function that is called where the reduction begins.
    pub name: String,
}

/// Schedules that give each thread one chunk.
const STATIC: i64 = schedule::STATIC as i64;
const STATIC_BALANCED: i64 = schedule::STATIC_BALANCED as i64;
/// Ordered schedules, which are refused.
const ORDERED: std::ops::RangeInclusive<i64> =
    schedule::ORDERED_LOWER as i64..=schedule::ORDERED_UPPER as i64;

struct CallRewriter<'m> {
    module: Module<'m>,
    function: Function<'m>,
    builder: Builder<'m>,
    mode: RegionMode,
    reductions: Vec<Reduction<'m>>,
    /// Number of loops so far.
    loops: u32,
    /// True if there is more than one loop.
    several: bool,
}

/// Rewrites a region's function and returns its reductions.
///
/// # Safety
/// No handle of the function's blocks and instructions is used afterwards.
pub(super) unsafe fn rewrite<'m>(
    module: Module<'m>,
    function: Function<'m>,
    mode: RegionMode,
) -> Result<Vec<Reduction<'m>>, Refusal> {
    let mut it = CallRewriter {
        module,
        function,
        builder: module.context().builder(),
        mode,
        reductions: Vec::new(),
        loops: 0,
        several: false,
    };
    for index in 0..2 {
        shim::drop_parameter_attributes(function, index);
    }
    // Reductions come first, because they make code dead.
    for instruction in function.instructions() {
        if let Some(call) = instruction.as_call()
            && callee_name(call)
                .is_some_and(|n| matches!(&*n, "__kmpc_reduce" | "__kmpc_reduce_nowait"))
        {
            it.reduction(call)?;
        }
    }
    if !it.reductions.is_empty() {
        // SAFETY: neither the caller nor the rewriter keeps an instruction.
        unsafe { flatten::simplify(function) }?;
    }
    let begins = |&i: &Instruction<'_>| {
        calls(i, "__kmpc_for_static_init_") || calls(i, "__kmpc_dispatch_init_")
    };
    let loops = function.instructions().filter(begins).count();
    it.several = loops > 1 || mode == RegionMode::HostSchedule;
    for instruction in function.instructions() {
        it.instruction(instruction)?;
    }
    if it.loops == 0 {
        return Err(refuse("it has no worksharing loop"));
    }
    if mode == RegionMode::KernelsOnly && it.loops > 1 && !it.reductions.is_empty() {
        return Err(refuse("several loops, one with a reduction"));
    }
    for index in 0..2 {
        it.number(function.parameter(index))?;
    }
    shim::drop_personality(function);
    for reduction in &it.reductions {
        check_combine(reduction.combine)?;
    }
    Ok(it.reductions)
}

/// Returns an argument of a runtime call.
fn argument<'m>(call: Call<'m>, index: u32) -> Result<Value<'m>, Refusal> {
    call.arguments()
        .nth(index as usize)
        .ok_or_else(|| refuse_at("a runtime call without all of its arguments", call))
}

/// Removes a call of an entry without a result.
fn remove(call: Call<'_>) {
    if !call.of().is_void() {
        call.replace_by(call.of().undef());
    }
    // SAFETY: nothing uses its value, and the callers return.
    unsafe { call.erase() };
}

impl<'m> CallRewriter<'m> {
    fn instruction(&mut self, instruction: Instruction<'m>) -> Result<(), Refusal> {
        use Opcode::*;
        let call = match instruction.opcode() {
            LLVMInvoke | LLVMLandingPad | LLVMResume | LLVMCleanupRet | LLVMCatchSwitch => {
                return Err(refuse_at("an exception may pass through it", instruction));
            }
            LLVMIndirectBr | LLVMCallBr => {
                return Err(refuse_at("a jump to the address of a label", instruction));
            }
            LLVMFence => {
                let reason = "a flush: threads may wait for each other";
                return Err(refuse_at(reason, instruction));
            }
            LLVMCall => instruction.as_call(),
            _ => None,
        };
        let Some(call) = call else { return Ok(()) };
        let Some(callee) = call.callee() else {
            let reason = match call.called().is_inline_asm() {
                true => "assembly",
                false => "a call through a pointer",
            };
            return Err(refuse_at(reason, call));
        };
        let name = callee.name();
        if let Some(suffix) = name.strip_prefix("__kmpc_for_static_init_") {
            return self.divided(call, suffix);
        }
        if let Some(suffix) = name.strip_prefix("__kmpc_dispatch_init_") {
            return self.fetched(call, suffix);
        }
        if let Some(suffix) = name.strip_prefix("__kmpc_dispatch_next_") {
            return self.replace(call, &format!("{PREFIX}fetched_{suffix}"), &[2, 3, 4, 5]);
        }
        let schedules = self.mode == RegionMode::HostSchedule;
        match &*name {
            STATIC_FINI => self.forget_thread(call),
            "__kmpc_end_reduce" | "__kmpc_end_reduce_nowait" | "__kmpc_dispatch_deinit" => {
                remove(call);
            }
            // Each of several loops is a kernel, whose end implies a barrier.
            "__kmpc_barrier" if self.several || cleanup::is_last(call.into()) => {
                remove(call);
            }
            "__kmpc_single" | "__kmpc_master" if schedules => {
                self.replace(call, super::partition::ONE, &[])?;
            }
            "__kmpc_masked" if schedules && argument(call, 2)?.signed() == Some(0) => {
                self.replace(call, super::partition::ONE, &[])?;
            }
            // Checked once the loops are known.
            "__kmpc_critical" | "__kmpc_critical_with_hint" | "__kmpc_end_critical"
                if schedules =>
            {
                self.forget_thread(call);
            }
            // The schedule runs as one thread, which has the values already.
            "__kmpc_end_single" | "__kmpc_end_master" | "__kmpc_end_masked"
            | "__kmpc_copyprivate"
                if schedules =>
            {
                remove(call);
            }
            // Checked once all of its users are replaced.
            "__kmpc_global_thread_num" => {}
            own if own.starts_with(PREFIX) => {}
            fused if fused.starts_with("llvm.fmuladd.") => self.unfused(call),
            _ => check_call(callee, &name, call)?,
        }
        Ok(())
    }

    /// Clears location and thread number in a call that stays.
    fn forget_thread(&self, call: Call<'m>) {
        for index in 0..call.argument_count().min(2) {
            call.set_operand(index, call.argument(index).of().zero());
        }
    }

    /// Splits a fused operation into multiplication and addition, as in every tier.
    fn unfused(&self, call: Call<'m>) {
        let [a, b, c] = [0, 1, 2].map(|i| call.argument(i));
        self.builder.before(call);
        let product = self.builder.binary(Opcode::LLVMFMul, a, b);
        let sum = self.builder.binary(Opcode::LLVMFAdd, product, c);
        call.replace_by(sum);
        // SAFETY: the sum has replaced its value, and the caller returns.
        unsafe { call.erase() };
    }

    /// Replaces a call by one that gets some of its arguments and the state that stands for the
    /// thread's number.
    fn replace(&self, call: Call<'m>, name: &str, indices: &[u32]) -> Result<(), Refusal> {
        let arguments: Result<Vec<_>, _> = indices.iter().map(|&i| argument(call, i)).collect();
        let fresh = self.call(call, name, call.of(), &arguments?);
        call.replace_by(fresh);
        // SAFETY: the new call has replaced its value, and the callers return.
        unsafe { call.erase() };
        Ok(())
    }

    fn call(
        &self,
        before: Call<'m>,
        name: &str,
        result: Type<'m>,
        arguments: &[Value<'m>],
    ) -> Call<'m> {
        let arguments = [&[self.function.parameter(0)], arguments].concat();
        let types: Vec<_> = arguments.iter().map(|v| v.of()).collect();
        let signature = result.function(&types);
        let callee = self.module.function_or_declare(name, signature);
        self.builder
            .before(before)
            .call_pointer(signature, callee, &arguments)
    }

    /// Rewrites a statically divided loop.
    fn divided(&mut self, call: Call<'m>, suffix: &str) -> Result<(), Refusal> {
        let schedule = self.begin(call, 7)?;
        if matches!(schedule, STATIC | STATIC_BALANCED) {
            self.within(call, argument(call, 5)?);
        }
        self.replace(call, &format!("{PREFIX}static_{suffix}"), &[3, 4, 5, 6])
    }

    /// Rewrites a dynamically scheduled loop.
    fn fetched(&mut self, call: Call<'m>, suffix: &str) -> Result<(), Refusal> {
        self.begin(call, 5)?;
        self.replace(call, &format!("{PREFIX}fetch_{suffix}"), &[3, 4])
    }

    /// Marks the loop that begins, whose step is the argument with that number. Returns its
    /// schedule.
    fn begin(&mut self, call: Call<'m>, step: u32) -> Result<i64, Refusal> {
        let schedule = argument(call, 2)?.signed().unwrap_or(0) & 0xffff;
        if ORDERED.contains(&schedule) {
            return Err(refuse_at("an ordered loop", call));
        }
        if argument(call, step)?.signed() != Some(1) {
            return Err(refuse_at("a loop whose step is not 1", call));
        }
        let context = self.module.context();
        let number = context.int(32).constant(self.loops.into());
        self.call(call, &format!("{PREFIX}at"), context.void(), &[number]);
        self.loops += 1;
        Ok(schedule)
    }

    /// Removes the comparison of an iteration's end with the loop's, which it cannot exceed.
    fn within(&self, init: Call<'m>, upper: Value<'m>) {
        for load in upper.users().filter_map(Value::as_load) {
            // Skips loads of earlier values.
            if !init.following().any(|i| i == load.into()) {
                continue;
            }
            for user in load.users() {
                if calls(user, "llvm.smin.") || calls(user, "llvm.umin.") {
                    user.replace_by(load);
                }
            }
        }
    }

    /// Rewrites a reduction: one of its three results no longer occurs, so the code for it becomes
    /// dead.
    fn reduction(&mut self, call: Call<'m>) -> Result<(), Refusal> {
        if self.mode == RegionMode::KernelsOnly && !self.reductions.is_empty() {
            return Err(refuse_at("several reductions in one region", call));
        }
        let count = argument(call, 2)?.signed().unwrap_or(0);
        let list = argument(call, 4)?;
        let combine = argument(call, 5)?
            .as_function()
            .ok_or_else(|| refuse_at("a reduction by an unknown function", call))?;
        let mut items = Vec::new();
        for index in 0..count {
            let copy = private(self.module, self.function, list, 8 * index);
            let (_, size) = copy
                .ok_or_else(|| refuse_at("a reduction over an array of variable length", call))?;
            items.push(size);
        }
        let whole: u64 = items.iter().map(|s| s.next_multiple_of(8)).sum();
        if whole > RECORD {
            let reason = format!("a reduction of {whole} bytes, more than {RECORD}");
            return Err(refuse_at(reason, call));
        }
        let name = format!(
            "{PREFIX}reduce.{}.{}",
            self.function.name(),
            self.reductions.len()
        );
        let done = self.call(call, &name, self.module.context().int(1), &[list]);
        let number = self.builder.cast(Opcode::LLVMZExt, done, call.of());
        call.replace_by(number);
        // SAFETY: the number has replaced its value, and the caller goes on with the next one.
        unsafe { call.erase() };
        self.reductions.push(Reduction {
            items,
            combine,
            name,
        });
        Ok(())
    }

    /// Refuses uses of the thread's number other than in replaced calls.
    fn number(&self, parameter: Value<'m>) -> Result<(), Refusal> {
        let reason = "the thread number is used";
        for user in parameter.users().filter(|&u| !calls(u, PREFIX)) {
            let used = user.users().next();
            if user.as_load().is_none() || used.is_some() {
                return Err(refuse_at(reason, used.unwrap_or(user)));
            }
        }
        for call in self.function.instructions() {
            if callee_name(call).is_none_or(|n| &*n != "__kmpc_global_thread_num") {
                continue;
            }
            if let Some(user) = call.users().next() {
                return Err(refuse_at(reason, user));
            }
            // SAFETY: nothing uses its value, and the loop has the next instruction already.
            unsafe { call.erase() };
        }
        Ok(())
    }
}

/// Returns the variable whose address is in a list of addresses, at this byte offset, and its size.
pub(super) fn private<'m>(
    module: Module<'m>,
    function: Function<'m>,
    list: Value<'m>,
    at: i64,
) -> Option<(Alloca<'m>, u64)> {
    let (list, first) = shim::constant_offset(module, list);
    let mut found = None;
    for store in function.instructions().filter_map(|i| i.as_store()) {
        if shim::constant_offset(module, store.pointer()) != (list, first + at) {
            continue;
        }
        let (variable, 0) = shim::constant_offset(module, store.value()) else {
            return None;
        };
        let variable = variable.as_alloca()?;
        let size = module.layout().size(variable.allocated());
        found = Some((variable, size.checked_mul(variable.count().unsigned()?)?));
    }
    found
}

/// Checks that a call can be made on a device.
fn check_call<'m>(callee: Function<'m>, name: &str, call: Call<'m>) -> Result<(), Refusal> {
    if let Some(intrinsic) = name.strip_prefix("llvm.") {
        let own = ["x86.", "aarch64.", "eh.", "stackrestore", "coro."];
        return match own.iter().any(|o| intrinsic.starts_with(o)) {
            true => Err(refuse_at(
                format!("an instruction of the host processor (`{name}`)"),
                call,
            )),
            false => Ok(()),
        };
    }
    if !callee.is_declaration() {
        return Err(refuse_at(
            format!("`{name}` cannot be inlined, because it may be recursive"),
            call,
        ));
    }
    match device_names::device_math_name(name) {
        Some(_) => Ok(()),
        None => Err(refuse_at(device_names::reason(name), call)),
    }
}

/// Checks that the function that combines two private copies can run on a device.
fn check_combine(function: Function<'_>) -> Result<(), Refusal> {
    let plain_calls = function
        .instructions()
        .filter(|i| i.opcode() == Opcode::LLVMCall)
        .filter_map(|i| i.as_call());
    for call in plain_calls {
        match call.callee() {
            Some(callee) => check_call(callee, &callee.name(), call)?,
            None => return Err(refuse_at("a call through a pointer", call)),
        }
    }
    for instruction in function.instructions() {
        let mut variables = instruction.operands().filter_map(Value::as_variable);
        if let Some(variable) = variables.find(|v| !v.is_read_only()) {
            let reason = format!("the reduction uses the variable `{}`", variable.name());
            return Err(refuse_at(reason, instruction));
        }
    }
    Ok(())
}
