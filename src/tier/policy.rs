//! When code is compiled, and the switch to it.
//!
//! `opt` compiles the whole module before the program starts. `auto` starts interpreted while a
//! thread compiles; a parallel region that is about to start waits for a compilation under way,
//! but no longer than it is expected to take, since a region entered in the interpreter stays
//! there until it ends. Switching is one store per function for native callers and one for the
//! interpreter's; code already entered goes on in the tier it is in.
//!
//! What not: no counters yet, no replacement of running activations.

use crate::interp;
use crate::ir::FuncId;
use crate::jit::cache::Shelf;
use crate::jit::{Compiled, Program};
use crate::kmpc::hooks;
use crate::memory::image::Image;
use crate::memory::thread;
use crate::support::error::Error;
use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When to compile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Never.
    #[default]
    Interp,
    /// Each function at its first call, by the interpreter's own compiler.
    Baseline,
    /// Everything before the program starts.
    Opt,
    /// In the background.
    Auto,
}

/// What compiling one instruction of the IR takes, all in all (measured on the NAS benchmarks:
/// 30 to 60 us a line; see the design notes on `lli`).
const PER_INSTRUCTION: Duration = Duration::from_micros(60);

/// The compiled code of one process.
#[derive(Debug, Default)]
pub struct Tiers {
    flight: Option<Arc<Flight>>,
    /// Code that earlier runs made.
    _kept: Vec<Compiled>,
}

/// A compilation, under way or done.
#[derive(Debug)]
struct Flight {
    started: Instant,
    expected: Duration,
    done: AtomicBool,
    result: Mutex<Option<Arc<Compiled>>>,
    finished: Condvar,
}

/// Compilations whose end regions may wait for, and compiled code for messages.
static FLIGHTS: Mutex<Vec<Arc<Flight>>> = Mutex::new(Vec::new());

impl Tiers {
    /// Compiles an image now, or starts to.
    ///
    /// # Errors
    /// In `opt`, why nothing could be compiled.
    pub fn start(
        image: &Arc<Image>,
        mode: Mode,
        explain: bool,
        native: bool,
        shelf: Option<Arc<Shelf>>,
    ) -> Result<Tiers, Error> {
        if mode == Mode::Interp {
            return Ok(Tiers::default());
        }
        if mode == Mode::Baseline {
            // What cannot be compiled goes on in the interpreter.
            if let Err(why) = interp::baseline::compile_first() {
                eprintln!("ompvm: the baseline tier is not used: {why}");
            }
            return Ok(Tiers::default());
        }
        // Faults need the thread's signal stack, which else only the interpreter makes.
        thread::current();
        hooks::install(hooks::Hooks {
            worker_start: |_| thread::current().cast(),
        });
        let kept = kept(image, shelf.as_deref(), explain);
        if kept.complete {
            // Exit handlers of a native process run compiled code until the very end.
            if native {
                std::mem::forget(kept.code);
                return Ok(Tiers::default());
            }
            return Ok(Tiers {
                flight: None,
                _kept: kept.code,
            });
        }
        let instructions: usize = image
            .module
            .functions
            .values()
            .filter_map(|f| f.body.as_ref())
            .map(|b| b.insts.len())
            .sum();
        let flight = Arc::new(Flight {
            started: Instant::now(),
            expected: PER_INSTRUCTION * instructions as u32 + Duration::from_millis(20),
            done: AtomicBool::new(false),
            result: Mutex::new(None),
            finished: Condvar::new(),
        });
        FLIGHTS.lock().push(flight.clone());
        // Exit handlers of a native process run compiled code until the very end.
        let tiers = Tiers {
            flight: (!native).then(|| flight.clone()),
            _kept: kept.code,
        };
        if mode == Mode::Opt {
            flight
                .run(image, explain, shelf.as_deref())
                .map_err(|why| Error::Host(format!("the program cannot be compiled: {why}")))?;
            return Ok(tiers);
        }
        hooks::set_region_hook(wait_for_code);
        if native {
            leave_quickly();
        }
        let image = image.clone();
        let spawned = std::thread::Builder::new()
            .name("ompvm compile".into())
            .stack_size(64 << 20)
            .spawn(move || {
                // What cannot be compiled goes on in the interpreter.
                if let Err(why) = flight.run(&image, explain, shelf.as_deref())
                    && explain
                {
                    eprintln!("ompvm: not compiled: {why}");
                }
            });
        drop(spawned);
        Ok(tiers)
    }
}

/// Code of earlier runs, and whether it is all of the program's.
struct Kept {
    code: Vec<Compiled>,
    complete: bool,
}

/// Switches to what earlier runs compiled.
fn kept(image: &Image, shelf: Option<&Shelf>, explain: bool) -> Kept {
    if shelf.is_none() {
        return Kept {
            code: Vec::new(),
            complete: false,
        };
    }
    let instead: HashMap<&str, usize> = interp::instead().into_iter().collect();
    let program = Program::new(image, &instead, shelf);
    let code = program.kept();
    for unit in &code {
        for &(id, address) in &unit.functions {
            switch(image, id, address, explain);
        }
    }
    Kept {
        complete: program.is_complete(&code),
        code,
    }
}

impl Drop for Tiers {
    fn drop(&mut self) {
        let Some(flight) = &self.flight else { return };
        flight.wait(None);
        FLIGHTS.lock().retain(|f| !Arc::ptr_eq(f, flight));
    }
}

impl Flight {
    fn run(&self, image: &Arc<Image>, explain: bool, shelf: Option<&Shelf>) -> Result<(), String> {
        let instead: HashMap<&str, usize> = interp::instead().into_iter().collect();
        let done = {
            // What the guest put in the place of library functions is not for LLVM.
            let _own = thread::own_work();
            Program::new(image, &instead, shelf).compile()
        };
        let result = match done {
            Ok(compiled) => {
                let compiled = Arc::new(compiled);
                // Named before it can be entered.
                *self.result.lock() = Some(compiled.clone());
                for &(id, address) in &compiled.functions {
                    switch(image, id, address, explain);
                }
                if explain {
                    report(image, &compiled);
                }
                Ok(())
            }
            Err(why) => Err(why),
        };
        let guard = self.result.lock();
        self.done.store(true, Ordering::Release);
        self.finished.notify_all();
        drop(guard);
        result
    }

    /// Waits until it is done, at most until `limit`.
    fn wait(&self, limit: Option<Instant>) {
        let mut guard = self.result.lock();
        while !self.done.load(Ordering::Acquire) {
            match limit {
                None => self.finished.wait(&mut guard),
                Some(limit) => {
                    if self.finished.wait_until(&mut guard, limit).timed_out() {
                        return;
                    }
                }
            }
        }
    }
}

/// Lets every caller of a function reach its compiled code.
fn switch(image: &Image, id: FuncId, address: usize, explain: bool) {
    let Some(func) = image.func_ref(id) else {
        return;
    };
    func.entry.store(address, Ordering::Release);
    if let Err(why) = interp::enter_compiled(func, address)
        && explain
    {
        let name = &image.module.functions[id].name;
        eprintln!("ompvm: `{name}` stays interpreted for interpreted callers: {why}");
    }
}

fn report(image: &Image, compiled: &Compiled) {
    let mut text = format!("ompvm: {compiled}\n");
    for (id, why) in &compiled.skipped {
        let name = &image.module.functions[*id].name;
        let _ = writeln!(text, "ompvm: `{name}` stays interpreted: {why}");
    }
    eprint!("{text}");
}

/// Called before a parallel region starts.
fn wait_for_code() {
    let mut waiting = false;
    let Some(flights) = FLIGHTS.try_lock() else {
        return;
    };
    let under_way: Vec<Arc<Flight>> = flights
        .iter()
        .filter(|f| !f.done.load(Ordering::Acquire))
        .cloned()
        .collect();
    drop(flights);
    for flight in under_way {
        waiting = true;
        flight.wait(Some(flight.started + flight.expected * 2));
    }
    if !waiting {
        hooks::clear_region_hook();
    }
}

/// Ends the process without LLVM's destructors when a compilation is still under way, after the
/// guest's own exit handlers, which are registered later and so run before.
fn leave_quickly() {
    unsafe extern "C" {
        fn on_exit(
            f: extern "C" fn(libc::c_int, *mut libc::c_void),
            arg: *mut libc::c_void,
        ) -> libc::c_int;
        #[link_name = "_ZNSo5flushEv"]
        fn flush(stream: *mut libc::c_void) -> *mut libc::c_void;
        #[link_name = "_ZSt4cout"]
        static mut COUT: usize;
    }
    extern "C" fn leave(status: libc::c_int, _: *mut libc::c_void) {
        let busy = FLIGHTS
            .try_lock()
            .is_none_or(|f| f.iter().any(|f| !f.done.load(Ordering::Acquire)));
        if busy {
            // SAFETY: what remains of `exit` once the streams are flushed.
            unsafe {
                // Its first word is its table of functions: null when nobody constructed it.
                if COUT != 0 {
                    flush((&raw mut COUT).cast());
                }
                libc::fflush(std::ptr::null_mut());
                libc::_exit(status)
            }
        }
    }
    // SAFETY: the handler has the type that is asked for.
    unsafe { on_exit(leave, std::ptr::null_mut()) };
}
