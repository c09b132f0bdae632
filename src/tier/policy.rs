//! Tier policy: starts the tiers of a process.
//!
//! `opt` compiles everything before the program starts, on all processors. `auto` starts in the
//! baseline tier, or interpreted where that is not available. A thread samples the functions in
//! which the guest's threads are ([`super::sample`]), and functions whose samples exceed their
//! compilation time are compiled beside the program, hottest first. A switch is one store per
//! function and kind of caller, and one per loop, so that running activations switch, too, each
//! thread by itself.
//!
//! [`super::sample`] decides what `auto` compiles and when; [`super::compiler`] compiles the units
//! and switches the callers.

use super::call_closure;
use super::compiler::{CachedCode, CompiledUnit, Compiler, EventKind};
use super::registry::REGISTRY;
use super::sample::{self, Sampler};
use super::units;
use cranelift_entity::EntityRef;
use hashbrown::{HashMap, HashSet};
use ompvm_baseline as baseline;
use ompvm_cache::CacheEntry;
use ompvm_ir::{FuncId, setjmp_asm};
use ompvm_jit::{CANNOT_COMPILE, Unit};
use ompvm_kmpc::hooks;
use ompvm_llvm::native::Session;
use ompvm_memory::image::Image;
use ompvm_memory::{internal_thread, thread};
use ompvm_support::error::{Error, Unsupported};
use ompvm_support::log;
use ompvm_support::progress::Compilation;
use ompvm_support::settings::Settings;
use ompvm_support::topology;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// Tier policy of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TierPolicy {
    /// Interprets everything.
    #[default]
    Interp,
    /// Compiles each function at its first call with the baseline compiler.
    Baseline,
    /// Compiles everything before the program starts.
    Opt,
    /// Compiles hot code in the background.
    Auto,
}

/// The compiled code of one process.
#[derive(Debug, Default)]
pub struct Tiers {
    compiler: Option<Arc<Compiler>>,
    sampler: Mutex<Option<Sampler>>,
}

impl Tiers {
    /// Compiles an image, or starts to compile it in the background. `settings` control chaos mode,
    /// eager compilation and the exclusion of functions.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if only compiled code can run the program, and `mode` excludes it.
    pub fn start(
        image: &Arc<Image>,
        overrides: &HashMap<&'static str, usize>,
        mode: TierPolicy,
        native: bool,
        cache_entry: Option<Arc<CacheEntry>>,
        settings: &Settings,
    ) -> Result<Tiers, Error> {
        let (mode, chaos) = match returns_twice(image, mode)? {
            true => (TierPolicy::Opt, None),
            false => (mode, settings.chaos.map(super::chaos::Chaos::new)),
        };
        if mode == TierPolicy::Interp && chaos.is_none() {
            tracing::info!(target: log::TIER, tier = ?mode, "starts the program");
            return Ok(Tiers::default());
        }
        if mode == TierPolicy::Baseline && chaos.is_none() {
            // Code that cannot be compiled stays in the interpreter.
            if let Err(why) = baseline::set_compile_at_first_call(image) {
                ompvm_support::message!(Note, "the baseline tier is not used: {why}");
            }
            tracing::info!(target: log::TIER, tier = ?mode, "starts the program");
            return Ok(Tiers::default());
        }
        // Without a baseline tier, the interpreter runs the code that is not compiled yet.
        let below = matches!(mode, TierPolicy::Auto | TierPolicy::Baseline);
        let _ = match chaos {
            None if below => baseline::set_compile_when_warm(image),
            Some(c) if below || c.baseline() => baseline::set_compile_at_first_call(image),
            _ => Ok(()),
        };
        // Fault handlers need the thread's signal stack, which otherwise only the interpreter
        // creates.
        thread::current();
        hooks::install(hooks::Hooks {
            worker_start: |_| thread::current().cast(),
        });
        let compiler = Arc::new(Compiler::new(
            image,
            overrides,
            cache_entry,
            mode == TierPolicy::Opt && chaos.is_none(),
            settings,
        ));
        REGISTRY.compilers.lock().push(compiler.clone());
        let mut tiers = Tiers::default();
        let cached = match chaos {
            None => compiler.load_cached(image, mode == TierPolicy::Auto),
            Some(_) => CachedCode::default(),
        };
        tracing::info!(
            target: log::TIER,
            tier = ?mode,
            seed = settings.chaos,
            functions = image.module.functions.len(),
            cached = cached.all.len(),
            "starts the program"
        );
        if let Some(chaos) = chaos {
            super::chaos::start(chaos, &compiler);
        } else if mode == TierPolicy::Opt {
            compile_all(image, &compiler, &cached.all);
            if compiler.skipped_any() {
                let _ = baseline::set_compile_at_first_call(image);
            }
        } else {
            let sampler = Sampler::start(image.clone(), compiler.clone(), &cached, settings.eager);
            if native {
                leave_quickly();
                sampler.detach();
            } else {
                tiers.sampler = Mutex::new(Some(sampler));
            }
        }
        // Exit handlers of a native process run compiled code until the process ends.
        if !native {
            tiers.compiler = Some(compiler);
        }
        Ok(tiers)
    }
}

/// Returns true if assembly of the program may return twice. Frames of the interpreter and of the
/// baseline tier have state beside the native stack, which such assembly does not restore.
///
/// # Errors
/// Returns [`Error::Unsupported`] if the program does and `mode` is one of these tiers.
fn returns_twice(image: &Image, mode: TierPolicy) -> Result<bool, Error> {
    let Some(name) = setjmp_asm::saving_routine(&image.module.module_asm) else {
        return Ok(false);
    };
    let tier = match mode {
        TierPolicy::Opt | TierPolicy::Auto => return Ok(true),
        TierPolicy::Interp => "the interpreter",
        TierPolicy::Baseline => "the baseline tier",
    };
    Err(Error::Unsupported(vec![Unsupported {
        what: format!(
            "assembly that saves the caller's registers, as `setjmp` does, in {tier} (`--tier=opt` runs it)"
        ),
        place: None,
        function: Some(name.to_owned()),
    }]))
}

impl Tiers {
    /// Returns a sentence for each function that LLVM cannot compile, or only at the quick level.
    pub fn impossible(&self) -> Vec<String> {
        let compiler = self.compiler.iter();
        compiler.flat_map(|c| c.impossible()).collect()
    }

    /// Ends the search for hot functions, after the compilations under way. The compiled code
    /// stays.
    pub fn stop_sampling(&self) {
        let sampler = self.sampler.lock().take();
        sampler.into_iter().for_each(Sampler::stop);
    }
}

impl Drop for Tiers {
    fn drop(&mut self) {
        self.stop_sampling();
        if let Some(compiler) = self.compiler.take() {
            REGISTRY
                .compilers
                .lock()
                .retain(|c| !Arc::ptr_eq(c, &compiler));
            super::chaos::stop(&compiler);
        }
    }
}

/// Compiles every function that can be compiled and is not in `cached`. The others stay in the tier
/// below.
fn compile_all(image: &Arc<Image>, compiler: &Arc<Compiler>, cached: &[FuncId]) {
    let module = &image.module;
    let note_stranded = |stranded: &HashSet<FuncId>| {
        for &function in stranded {
            compiler.note(function, EventKind::Skipped(call_closure::STRANDED.into()));
        }
    };
    // Earlier runs or their instructions show that some functions cannot be compiled.
    let stranded = call_closure::stranded(image, compiler.program().refused());
    compiler.program().refuse(stranded.iter().copied());
    note_stranded(&stranded);
    let functions: Vec<_> = module
        .functions
        .keys()
        .filter(|&f| compiler.program().can_compile(f) && !cached.contains(&f))
        .collect();
    for (&function, &why) in compiler.program().excluded() {
        compiler.note(function, EventKind::Skipped(why.to_owned()));
    }
    if functions.is_empty() {
        return;
    }
    let groups = units::split(module, &functions, topology::usable_cpus());
    // The guest begins only after the end of this has been shown.
    let _shown = Compilation::begin(functions.len(), groups.len() * Session::STEPS);
    let make = |groups: Vec<Vec<usize>>| {
        let work = |functions| {
            let unit = Unit {
                functions: Some(functions),
                ..Unit::default()
            };
            move || match compiler.make(image, &unit) {
                Ok(made) => Some((unit, made)),
                Err(why) => {
                    let why = format!("{CANNOT_COMPILE}: {why}");
                    for &function in unit.functions.iter().flatten() {
                        compiler.note(FuncId::new(function), EventKind::Skipped(why.clone()));
                    }
                    None
                }
            }
        };
        let made = internal_thread::run_all(groups.into_iter().map(work).collect());
        made.into_iter().flatten().collect::<Vec<_>>()
    };
    let mut made = make(groups);
    let skipped = made.iter().flat_map(|(_, made)| &made.pieces);
    let skipped = skipped.flat_map(|c| &c.skipped).map(|s| s.0);
    let stranded = call_closure::stranded(image, skipped);
    if !stranded.is_empty() {
        // The program has not started, so units that contain stranded functions are compiled once
        // more without them.
        compiler.program().refuse(stranded.iter().copied());
        let has = |(unit, _): &(Unit, CompiledUnit)| {
            let mut all = unit.functions.iter().flatten();
            all.any(|&f| stranded.contains(&FuncId::new(f)))
        };
        let (again, rest): (Vec<_>, Vec<_>) = made.into_iter().partition(has);
        for (id, why) in again
            .iter()
            .flat_map(|(_, m)| &m.pieces)
            .flat_map(|c| &c.skipped)
        {
            compiler.note(*id, EventKind::Skipped(why.clone()));
        }
        note_stranded(&stranded);
        for piece in again.iter().flat_map(|(_, made)| &made.pieces) {
            if piece.functions.iter().any(|f| stranded.contains(&f.0)) {
                compiler.program().forget(piece);
            }
        }
        let without = |(unit, _): (Unit, CompiledUnit)| -> Vec<usize> {
            let all = unit.functions.into_iter().flatten();
            all.filter(|&f| compiler.program().can_compile(FuncId::new(f)))
                .collect()
        };
        made = make(again.into_iter().map(without).collect());
        made.extend(rest);
    }
    for (unit, CompiledUnit { pieces, took }) in &made {
        for compiled in pieces {
            compiler.switch(image, unit, compiled, *took);
        }
    }
}

/// Returns the text of `--stats` and `--explain` about compiled code, for every live process.
pub fn report(explain: Option<&str>) -> String {
    // The lock keeps a process that ends from dropping its image, which the report reads.
    let compilers = REGISTRY.compilers.lock();
    let mut text = String::new();
    for compiler in compilers.iter() {
        compiler.report(explain, &mut text);
    }
    text
}

/// Returns how much shorter this run would have been with its program in the cache, once per
/// program; `None` if the saving is small. May be called at exit, in any state in which the guest
/// has left its threads.
pub fn compile_saving() -> Option<Duration> {
    let compilers = REGISTRY.compilers.try_lock()?;
    compilers.iter().find_map(|c| c.compile_saving())
}

/// Registers exit handlers, once, that end the process without LLVM's destructors if a compilation
/// is still under way. Handlers that are registered later, such as the guest's, run before them;
/// earlier ones do not run if a compilation is under way, so a library that must not miss its own
/// is initialized after this call.
pub fn leave_quickly() {
    REGISTRY.exit_handlers.call_once(register_exit_handlers);
}

fn register_exit_handlers() {
    unsafe extern "C" {
        fn on_exit(
            f: extern "C" fn(libc::c_int, *mut libc::c_void),
            arg: *mut libc::c_void,
        ) -> libc::c_int;
        fn at_quick_exit(f: extern "C" fn()) -> libc::c_int;
        #[link_name = "_ZNSo5flushEv"]
        fn flush(stream: *mut libc::c_void) -> *mut libc::c_void;
        #[link_name = "_ZSt4cout"]
        static mut COUT: usize;
    }
    extern "C" fn leave(status: libc::c_int, _: *mut libc::c_void) {
        sample::end_sampling();
        let busy = REGISTRY
            .compilers
            .try_lock()
            .is_none_or(|c| c.iter().any(|c| c.is_busy()));
        if busy {
            // SAFETY: flushing the streams and `_exit` are the remaining steps of `exit`, which
            // runs this handler. A constructed `std::cout` lives until the process ends.
            unsafe {
                // The first word of a C++ stream is its vtable pointer; null if it was never
                // constructed.
                if COUT != 0 {
                    flush((&raw mut COUT).cast());
                }
                libc::fflush(std::ptr::null_mut());
                libc::_exit(status)
            }
        }
    }
    // SAFETY: the handlers have the types that `on_exit` and `at_quick_exit` expect, and live as
    // long as the process.
    unsafe {
        on_exit(leave, std::ptr::null_mut());
        at_quick_exit(sample::end_sampling);
    }
}
