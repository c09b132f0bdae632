//! Counters of `--stats`: IR instructions per entered function and thread, and the cost of
//! lowering.
//!
//! A function entered from native code (main, an outlined parallel region called by the OpenMP
//! runtime, a callback of `qsort`) owns the instructions executed below it until the next such
//! entry. The rows are therefore the serial part, each region, and each callback. Blocks count
//! themselves into the thread's state ([`super::isa`]'s `count`, emitted only while counting is
//! on); when an entry ends, its count is added to its row.
//!
//! Threads that are still inside a region when another thread calls `exit` are not counted.

use super::lower;
use super::process::INTERPRETER;
use ompvm_kmpc as kmpc;
use ompvm_memory::activation::Activation;
use ompvm_memory::func::FuncRef;
use ompvm_memory::signal_safe::SignalSafe;
use ompvm_memory::thread::{self, ThreadState};
use ompvm_support::{demangle, fork_lock};
use std::collections::BTreeMap;
use std::time::Duration;

/// Index of the word of `ThreadState::interp` that blocks count into.
const COUNTER: usize = 0;
/// Indices of the words of `Activation::interp` for the outer entry's count and the entered
/// function.
const OUTER: usize = 2;
const FUNCTION: usize = 3;

/// The counts of one entered function on one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCounts {
    /// The function's symbol.
    pub function: String,
    /// `file.c:12` of the function's head, if there is debug information.
    pub place: Option<String>,
    /// True for the outlined body of a parallel region.
    pub region: bool,
    /// The OpenMP thread number in its team; `None` for a thread unknown to the runtime.
    pub thread: Option<u32>,
    /// Number of entries.
    pub entries: u64,
    /// IR instructions executed.
    pub instructions: u64,
}

/// The counts of this process so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// One row per entered function and thread, most instructions first.
    pub rows: Vec<FunctionCounts>,
    /// Functions lowered to bytecode.
    pub lowered_functions: u64,
    /// IR instructions of those functions.
    pub lowered_instructions: u64,
    /// Time spent lowering, all threads together.
    pub lowering: Duration,
}

/// The counters of a process.
pub(super) struct Counters {
    /// Entries and instructions by address of the function reference and thread number. Their
    /// images exist: [`end_program`] takes the rows of one that ends.
    rows: BTreeMap<(usize, Option<u32>), (u64, u64)>,
    /// The rows of ended programs.
    ended: Vec<FunctionCounts>,
    lowered_functions: u64,
    lowered_instructions: u64,
    lowering: Duration,
}

/// Records that an activation begins to run `func`.
///
/// # Safety
/// `cx` is the calling thread's state.
pub(super) unsafe fn begin_entry(act: &mut Activation, cx: *mut ThreadState, func: &FuncRef) {
    if lower::counts(func) {
        // SAFETY: `cx` is the calling thread's state (the caller's contract).
        let counter = unsafe { &mut (*cx).interp[COUNTER] };
        act.interp[OUTER] = std::mem::take(counter);
        act.interp[FUNCTION] = std::ptr::from_ref(func).expose_provenance();
    }
}

/// Records that the activation ends, in whatever way.
///
/// # Safety
/// `cx` is the calling thread's state.
pub(super) unsafe fn end_entry(act: &Activation, cx: *mut ThreadState) {
    if act.interp[FUNCTION] != 0 {
        // SAFETY: `cx` is the calling thread's state (the caller's contract).
        let counter = unsafe { &mut (*cx).interp[COUNTER] };
        let count = std::mem::replace(counter, act.interp[OUTER]);
        let _section = SignalSafe::enter();
        fork_lock::lock(&INTERPRETER.counters).add(act.interp[FUNCTION], count as u64);
    }
}

/// Records that a function was lowered.
pub(super) fn record_lowering(instructions: usize, time: Duration) {
    let mut state = fork_lock::lock(&INTERPRETER.counters);
    state.lowered_functions += 1;
    state.lowered_instructions += instructions as u64;
    state.lowering += time;
}

impl Counters {
    /// Returns counters at zero.
    pub(super) const fn new() -> Counters {
        Counters {
            rows: BTreeMap::new(),
            ended: Vec::new(),
            lowered_functions: 0,
            lowered_instructions: 0,
            lowering: Duration::ZERO,
        }
    }

    fn add(&mut self, function: usize, instructions: u64) {
        let thread = kmpc::region_position().map(|c| c.thread_num);
        let row = self.rows.entry((function, thread)).or_default();
        row.0 += 1;
        row.1 += instructions;
    }
}

/// Returns the counts so far: of the ended entries of all threads and of the calling thread's open
/// ones.
pub fn counts() -> Counts {
    let _section = SignalSafe::enter();
    let mut open = Vec::new();
    let state = thread::current_or_null();
    // SAFETY: this thread's own state, and activations that are on its stack now.
    unsafe {
        if let Some(cx) = state.as_ref() {
            let mut count = cx.interp[COUNTER];
            let mut act = cx.activation;
            while let Some(a) = act.as_ref() {
                if a.interp[FUNCTION] != 0 {
                    open.push((a.interp[FUNCTION], count as u64));
                    count = a.interp[OUTER];
                }
                // An activation of another stack may be gone.
                let outer = a.prev as usize;
                let known = outer > act as usize && cx.on_own_stack(act as usize);
                act = match known && cx.on_own_stack(outer) {
                    true => a.prev,
                    false => std::ptr::null_mut(),
                };
            }
        }
    }
    let state = fork_lock::lock(&INTERPRETER.counters);
    let mut all = Counters {
        rows: state.rows.clone(),
        ..Counters::new()
    };
    for (function, count) in open {
        all.add(function, count);
    }
    let mut rows: Vec<FunctionCounts> = all.rows.iter().map(named).collect();
    rows.extend_from_slice(&state.ended);
    rows.sort_by_key(|r| std::cmp::Reverse(r.instructions));
    Counts {
        rows,
        lowered_functions: state.lowered_functions,
        lowered_instructions: state.lowered_instructions,
        lowering: state.lowering,
    }
}

/// Returns a row with the names of its function.
fn named(
    (&(function, thread), &(entries, instructions)): (&(usize, Option<u32>), &(u64, u64)),
) -> FunctionCounts {
    let func = function_at(function);
    let module = &func.image().module;
    let f = &module.functions[func.id];
    let place = f.scope.map(|s| {
        let scope = &module.debug.scopes[s];
        format!("{}:{}", module.debug.files[scope.file].name, scope.line)
    });
    FunctionCounts {
        function: demangle::source_name(&f.name).into_owned(),
        place,
        region: f.name.contains(".omp_outlined"),
        thread,
        entries,
        instructions,
    }
}

fn function_at<'a>(address: usize) -> &'a FuncRef {
    // SAFETY: the address of a function reference, which lives as long as its image. The image
    // exists, since `end_program` takes its rows away.
    unsafe { &*std::ptr::with_exposed_provenance::<FuncRef>(address) }
}

/// Names the rows of a program that ends, whose function references are freed after it.
pub(super) fn end_program(serial: u64) {
    let mut state = fork_lock::lock(&INTERPRETER.counters);
    let counters = &mut *state;
    let ends =
        |&(address, _): &(usize, Option<u32>)| function_at(address).image().serial() == serial;
    let rows = counters.rows.iter().filter(|(key, _)| ends(key));
    counters.ended.extend(rows.map(named));
    counters.rows.retain(|key, _| !ends(key));
}
