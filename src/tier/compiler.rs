//! Compiles units of one process and switches callers to the new code.
//!
//! [`Compiler::compile`] compiles a unit and publishes its code: one store per function, one for
//! the interpreter's callers, and one per loop entry. Several threads may call it at once. It keeps
//! a log for `--stats` and `--explain`. [`super::sample`] decides what is compiled and when.

use super::advice::{self, CompileTime};
use super::call_closure;
use cranelift_entity::EntityRef;
use hashbrown::{HashMap, HashSet};
use ompvm_cache::CacheEntry;
use ompvm_interp as interp;
use ompvm_ir::FuncId;
use ompvm_jit::{CANNOT_COMPILE, Compiled, Level, Program, Unit};
use ompvm_memory::image::Image;
use ompvm_support::clock::thread_time;
use ompvm_support::log;
use ompvm_support::settings::Settings;
use ompvm_support::{demangle, internal_work};
use parking_lot::Mutex;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A logged event in the life of a function.
#[derive(Clone, Debug)]
pub struct Event {
    /// Time since the image was placed.
    pub at: Duration,
    /// The function.
    pub function: FuncId,
    /// The event itself.
    pub kind: EventKind,
}

/// Event that a function can undergo.
#[derive(Clone, Debug)]
pub enum EventKind {
    /// Queued for compilation, with the reason.
    Queued(String),
    /// Time below compiled code in earlier runs, and the expected time of a quick compilation.
    Profiled(Duration, Duration),
    /// Queued for compilation at startup, with the finding of earlier runs.
    WarmStarted(String),
    /// Compiled, alone or as part of a unit.
    Compiled {
        /// Wall-clock time of the unit's compilation.
        took: Duration,
        /// Processor time of the unit's compilation.
        worked: Duration,
        /// Level of the code.
        level: Level,
        /// Number of functions and loop entries in the unit.
        unit_size: usize,
        /// Block of the loop head that the code is entered at; `None` for the function's entry.
        head: Option<u32>,
    },
    /// Loaded from the cache.
    Cached,
    /// Compiled at a lower level than intended, with the reason.
    Degraded(String),
    /// Left in the tier below, with the reason.
    Skipped(String),
}

/// The functions whose code was loaded from the cache.
#[derive(Debug, Default)]
pub struct CachedCode {
    /// All functions with cached code, and those that cannot be compiled.
    pub all: Vec<FuncId>,
    /// Functions whose cached code is of the quick level.
    pub quick: Vec<FuncId>,
}

/// The result of a unit's compilation.
#[derive(Debug)]
pub struct CompiledUnit {
    /// Code of the unit, in several pieces where LLVM gave up on some functions.
    pub pieces: Vec<Arc<Compiled>>,
    /// Wall-clock and processor time of the compilation.
    pub took: [Duration; 2],
}

/// The compiled code of one process, and its compilation.
#[derive(Debug)]
pub struct Compiler {
    image: usize,
    program: Program,
    started: Instant,
    units: Mutex<Vec<Arc<Compiled>>>,
    /// Functions with code of the full level.
    full: Mutex<HashSet<FuncId>>,
    log: Mutex<Vec<Event>>,
    busy: AtomicUsize,
    taken: CompileTime,
}

impl Compiler {
    /// Creates a compiler for the program of an image. `whole` is true if everything is compiled
    /// before the program runs. `overrides` are functions that are replaced for the program.
    /// `settings` as for [`Program::new`].
    pub fn new(
        image: &Image,
        overrides: &HashMap<&'static str, usize>,
        cache_entry: Option<Arc<CacheEntry>>,
        whole: bool,
        settings: &Settings,
    ) -> Compiler {
        Compiler {
            image: std::ptr::from_ref(image) as usize,
            program: Program::new(
                image,
                overrides
                    .iter()
                    .map(|(&name, &address)| (name, address))
                    .chain(interp::library_replacements(image))
                    .collect::<HashMap<_, _>>(),
                cache_entry,
                whole,
                settings,
            ),
            started: Instant::now(),
            units: Mutex::default(),
            full: Mutex::default(),
            log: Mutex::default(),
            busy: AtomicUsize::new(0),
            taken: CompileTime::default(),
        }
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns true if this is the compiler of the image.
    pub fn is_for(&self, image: &Image) -> bool {
        std::ptr::eq(image, self.image as *const Image)
    }

    /// Returns true if LLVM is at work.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire) > 0
    }

    /// Loads the code that earlier runs compiled, including code of the quick level if `early` is
    /// true, and switches callers to it.
    pub fn load_cached(&self, image: &Image, early: bool) -> CachedCode {
        let mut cached = CachedCode::default();
        if self.program.cache_entry().is_none() {
            return cached;
        }
        let all = self.program.cached(image, early);
        let skipped = all.iter().flat_map(|c| &c.skipped).map(|s| s.0);
        self.program.refuse(skipped);
        // An earlier run may have compiled these functions before it refused others.
        let stranded = call_closure::stranded(image, self.program.refused());
        self.program.refuse(stranded.iter().copied());
        for compiled in all {
            if compiled.functions.iter().any(|f| stranded.contains(&f.0)) {
                continue;
            }
            let compiled = Arc::new(compiled);
            self.units.lock().push(compiled.clone());
            for &(id, address) in &compiled.functions {
                if let Some(func) = image.func_ref(id) {
                    func.entry.store(address, Ordering::Release);
                    if let Err(why) = interp::redirect_callers(func) {
                        let text = format!("calls from interpreted code: {why}");
                        self.note(id, EventKind::Skipped(text));
                    }
                }
                self.note(id, EventKind::Cached);
                cached.all.push(id);
                if compiled.level == Level::Quick {
                    cached.quick.push(id);
                } else {
                    self.full.lock().insert(id);
                    cached.quick.retain(|&e| e != id);
                }
            }
            for (id, why) in &compiled.skipped {
                self.note(*id, EventKind::Skipped(why.clone()));
                cached.all.push(*id);
            }
            for (id, why) in &compiled.degraded {
                self.note(*id, EventKind::Degraded(why.clone()));
            }
        }
        cached
    }

    /// Compiles a unit and switches callers to the functions that LLVM could compile.
    ///
    /// # Errors
    /// Returns the reason if nothing could be compiled, or if the compiled functions depend on
    /// others that could not be.
    pub fn compile(&self, image: &Image, unit: &Unit) -> Result<Vec<Arc<Compiled>>, String> {
        let CompiledUnit { pieces, took } = self.make(image, unit)?;
        let skipped = pieces.iter().flat_map(|c| &c.skipped).map(|s| s.0);
        let stranded = call_closure::stranded(image, skipped);
        if !stranded.is_empty() {
            let has = |c: &Arc<Compiled>| {
                c.functions.iter().any(|f| stranded.contains(&f.0))
                    || unit
                        .entries
                        .iter()
                        .any(|e| stranded.contains(&FuncId::new(e.function)))
            };
            self.program.refuse(stranded.iter().copied());
            for piece in pieces.iter().filter(|c| has(c)) {
                self.program.forget(piece);
            }
            if pieces.iter().any(has) {
                for (id, why) in pieces.iter().flat_map(|c| &c.skipped) {
                    self.note(*id, EventKind::Skipped(why.clone()));
                }
                return Err(call_closure::STRANDED.into());
            }
        }
        for compiled in &pieces {
            self.switch(image, unit, compiled, took);
        }
        Ok(pieces)
    }

    /// Compiles a unit without switching callers to it.
    ///
    /// # Errors
    /// Returns the reason if nothing could be compiled.
    pub fn make(&self, image: &Image, unit: &Unit) -> Result<CompiledUnit, String> {
        let start = (Instant::now(), thread_time());
        self.busy.fetch_add(1, Ordering::AcqRel);
        let done = {
            // LLVM must not call replacements of library functions that the guest supplies.
            let _own = internal_work::enter();
            self.program.compile(image, unit)
        };
        self.busy.fetch_sub(1, Ordering::AcqRel);
        let pieces: Vec<_> = done?.into_iter().map(Arc::new).collect();
        // Registered before the code can be entered, so that reports can name it.
        self.units.lock().extend(pieces.iter().cloned());
        // A loop that cannot be entered says nothing about its function.
        let asked = |f: &FuncId| {
            let mut functions = unit.functions.iter().flatten();
            functions.any(|&n| n == f.index())
        };
        let skipped = pieces.iter().flat_map(|c| &c.skipped).map(|s| s.0);
        self.program.refuse(skipped.filter(asked));
        Ok(CompiledUnit {
            pieces,
            took: [start.0.elapsed(), thread_time().saturating_sub(start.1)],
        })
    }

    /// Returns true if code of this level should be installed. Quick code that came with a loop or
    /// another function does not replace code of the full level.
    fn improves(&self, function: FuncId, level: Level) -> bool {
        let mut full = self.full.lock();
        match level {
            Level::Quick => !full.contains(&function),
            Level::Full => {
                full.insert(function);
                true
            }
        }
    }

    /// Switches callers to one piece of a unit. `took` and `worked` are the wall-clock and
    /// processor time of the unit's compilation.
    pub fn switch(
        &self,
        image: &Image,
        unit: &Unit,
        compiled: &Compiled,
        [took, worked]: [Duration; 2],
    ) {
        let unit_size = compiled.functions.len() + compiled.entries.len();
        let note = |function, head| {
            self.note(
                function,
                EventKind::Compiled {
                    took,
                    worked,
                    level: unit.level,
                    unit_size,
                    head,
                },
            );
        };
        for &(id, address) in &compiled.functions {
            let Some(func) = image.func_ref(id) else {
                continue;
            };
            if !self.improves(id, unit.level) {
                continue;
            }
            let first = !func.is_compiled();
            func.entry.store(address, Ordering::Release);
            note(id, None);
            if first && let Err(why) = interp::redirect_callers(func) {
                self.note(
                    id,
                    EventKind::Skipped(format!("calls from interpreted code: {why}")),
                );
            }
        }
        for &(index, _) in &compiled.entries {
            let entry = &unit.entries[index];
            note(FuncId::new(entry.function), Some(entry.block));
        }
        for (id, why) in &compiled.skipped {
            self.note(*id, EventKind::Skipped(why.clone()));
        }
        for (id, why) in &compiled.degraded {
            self.note(*id, EventKind::Degraded(why.clone()));
        }
    }

    /// Returns how long the program has run.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the functions that this run compiled for their callers, with their levels, in order.
    pub fn outcomes(&self) -> Vec<(FuncId, Level)> {
        let log = self.log.lock();
        let of = |event: &Event| match event.kind {
            EventKind::Compiled {
                level, head: None, ..
            } => Some((event.function, level)),
            _ => None,
        };
        log.iter().filter_map(of).collect()
    }

    /// Adds the processor time of a compilation that delayed the program.
    pub fn add_compile_time(&self, time: Duration) {
        self.taken.add(time);
    }

    /// Returns how much shorter the run would have been with the program in the cache. Returns
    /// `None` if the saving is small, if there is no cache, or if the user was told before.
    pub fn compile_saving(&self) -> Option<Duration> {
        let saving = self.taken.saving()?;
        let cache_entry = self.program.cache_entry()?;
        if cache_entry.bytes(advice::MARKER).is_some() {
            return None;
        }
        cache_entry.put_bytes(advice::MARKER, &[]);
        Some(saving)
    }

    /// Returns a sentence for each function that LLVM cannot compile, or only at the quick level.
    pub fn impossible(&self) -> Vec<String> {
        // SAFETY: `image` was a live `Image` in `new`, and policy takes a compiler off its list
        // before it drops the image.
        let image = unsafe { &*(self.image as *const Image) };
        let log = self.log.lock();
        let of = |event: &Event| {
            let name = &image.module.functions[event.function].name;
            match &event.kind {
                EventKind::Skipped(why) if why.starts_with(CANNOT_COMPILE) => {
                    Some(format!("`{name}` stays interpreted: {why}"))
                }
                EventKind::Degraded(why) => Some(format!("`{name}` {}", plain(why))),
                _ => None,
            }
        };
        log.iter().filter_map(of).collect()
    }

    /// Returns true if a function was left to the tier below.
    pub fn skipped_any(&self) -> bool {
        let log = self.log.lock();
        log.iter().any(|e| matches!(e.kind, EventKind::Skipped(_)))
    }

    /// Appends an event to the log.
    pub fn note(&self, function: FuncId, kind: EventKind) {
        self.log_event(function, &kind);
        let at = self.started.elapsed();
        self.log.lock().push(Event { at, function, kind });
    }

    /// Passes an event on to the log of the process.
    fn log_event(&self, function: FuncId, kind: &EventKind) {
        let function = self.program.name(function);
        match kind {
            EventKind::Queued(why) => {
                tracing::debug!(target: log::TIER, function, why, "is hot");
            }
            EventKind::Profiled(below, cost) => tracing::debug!(
                target: log::TIER,
                function,
                below_ms = %log::ms(*below),
                cost_ms = %log::ms(*cost),
                "was hot in earlier runs"
            ),
            EventKind::WarmStarted(why) => {
                tracing::debug!(target: log::TIER, function, why, "is compiled at startup");
            }
            EventKind::Compiled {
                took,
                worked,
                level,
                unit_size,
                head,
            } => tracing::debug!(
                target: log::TIER,
                function,
                block = *head,
                level = ?level,
                ms = %log::ms(*took),
                cpu_ms = %log::ms(*worked),
                unit_size,
                "{}",
                match head {
                    Some(_) => "a loop enters compiled code",
                    None => "callers enter compiled code",
                }
            ),
            EventKind::Cached => {
                tracing::debug!(target: log::TIER, function, "has code from the cache");
            }
            EventKind::Degraded(why) => {
                tracing::info!(target: log::TIER, function, why, "keeps quick code");
            }
            EventKind::Skipped(why) => {
                tracing::info!(target: log::TIER, function, why, "stays in the tier below");
            }
        }
    }

    /// Appends the log to `text`: one short line per function, or, for functions whose symbol or
    /// demangled name contains `explain`, every event.
    pub fn report(&self, explain: Option<&str>, text: &mut String) {
        // SAFETY: as in `impossible`: policy takes a compiler off its list before it drops the
        // image.
        let image = unsafe { &*(self.image as *const Image) };
        let log = self.log.lock();
        if explain.is_none() && !log.is_empty() {
            let units = self.units.lock();
            let bytes: usize = units.iter().map(|u| u.object_bytes).sum();
            let mut times = [Duration::ZERO; 4];
            for unit in units.iter() {
                for (sum, t) in times.iter_mut().zip(unit.times) {
                    *sum += t;
                }
            }
            let [parse, prepare, generate, link] = times.map(|t| t.as_secs_f64() * 1e3);
            let _ = writeln!(
                text,
                "ompvm: compiled {} functions and {} loops in {} units ({bytes} bytes): parse \
                 {parse:.1} ms, prepare {prepare:.1}, generate {generate:.1}, link {link:.1}",
                units.iter().map(|u| u.functions.len()).sum::<usize>(),
                units.iter().map(|u| u.entries.len()).sum::<usize>(),
                units.len(),
            );
        }
        for event in log.iter() {
            let name = &image.module.functions[event.function].name;
            if explain.is_some_and(|e| !demangle::name_matches(name, e)) {
                continue;
            }
            let what = match &event.kind {
                EventKind::Queued(_) | EventKind::Profiled(..) if explain.is_none() => continue,
                EventKind::Profiled(below, price) => format!(
                    "earlier runs spent {:.1} ms in it below compiled code; a quick compilation \
                     takes {:.1} ms",
                    below.as_secs_f64() * 1e3,
                    price.as_secs_f64() * 1e3
                ),
                EventKind::Queued(why) => format!("queued for compilation: {why}"),
                EventKind::WarmStarted(why) => format!("queued for compilation at startup: {why}"),
                EventKind::Compiled {
                    took,
                    worked,
                    level,
                    unit_size,
                    head,
                } => {
                    let place = match head {
                        None => "its callers".to_owned(),
                        Some(block) => format!("its loop at block {block}"),
                    };
                    let how = match level {
                        Level::Quick => "quickly ",
                        Level::Full => "",
                    };
                    format!(
                        "compiled {how}for {place} in {:.1} ms ({:.1} ms of processor time), \
                         {unit_size} in the unit",
                        took.as_secs_f64() * 1e3,
                        worked.as_secs_f64() * 1e3
                    )
                }
                EventKind::Degraded(why) => plain(why),
                EventKind::Cached => "loaded from the cache".to_owned(),
                EventKind::Skipped(why) => format!("stays interpreted: {why}"),
            };
            let name = demangle::source_name(name);
            let at = event.at.as_secs_f64() * 1e3;
            let _ = writeln!(text, "ompvm: {at:9.1} ms  `{name}` {what}");
        }
    }
}

fn plain(why: &str) -> String {
    format!("keeps quick code, because at the full level {why}")
}
