//! Reads the persisted profile when a run begins, and updates it when the run ends.
//!
//! [`WarmStart`] reads the [`Profile`] in the program's cache entry, queues the compilations that
//! it has paid for before any sample was taken, and adds the findings of this run at its end. It
//! reads the profile again before it writes, because other processes may have ended meanwhile. Of
//! two processes that end at the same moment one is lost, which costs a little time later; the file
//! itself is always whole.
//!
//! [`super::profile`] decides which compilations are paid for.

use super::compiler::{CachedCode, Compiler, EventKind};
use super::profile::{self, CodeState, EarlierLowered, PlanInputs, Profile, RunProfile};
use super::queue::{Job, Queue};
use super::units::{self, SMALL};
use cranelift_entity::EntityRef;
use hashbrown::HashSet;
use ompvm_cache::CacheEntry;
use ompvm_interp as interp;
use ompvm_ir::FuncId;
use ompvm_jit::Level;
use ompvm_memory::image::Image;
use ompvm_support::clock::process_time;
use ompvm_support::topology;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Longest time that the end of the process waits for the profile to be stored.
pub const MAX_STORE_WAIT: Duration = Duration::from_millis(20);
/// Factor by which the wait for the first compilations may exceed their expected time.
const WAIT_FACTOR: u32 = 2;
/// Time per instruction that any called function costs below compiled code: for lowering and the
/// baseline compiler.
const LOWERING_COST: Duration = Duration::from_nanos(500);

/// The profile of earlier runs and the code that they left.
#[derive(Debug)]
pub struct WarmStart {
    profile: Profile,
    cache_entry: Option<Arc<CacheEntry>>,
    /// Code of each function at the start of this run.
    code: Vec<CodeState>,
    planned: OnceLock<HashSet<FuncId>>,
    process: libc::pid_t,
}

impl WarmStart {
    /// Reads the profile of a program whose cached code has been loaded.
    pub fn load(image: &Image, compiler: &Compiler, cached: &CachedCode) -> WarmStart {
        let functions = image.module.functions.len();
        let cache_entry = compiler.program().cache_entry().cloned();
        let bytes = cache_entry.as_ref().and_then(|s| s.bytes(profile::NAME));
        let mut code = vec![CodeState::None; functions];
        for f in image.module.functions.keys() {
            if !compiler.program().can_compile(f) {
                code[f.index()] = CodeState::Full;
            }
        }
        for f in &cached.all {
            code[f.index()] = CodeState::Full;
        }
        for f in &cached.quick {
            code[f.index()] = CodeState::Quick;
        }
        WarmStart {
            profile: Profile::read(bytes, functions),
            cache_entry,
            code,
            planned: OnceLock::new(),
            // SAFETY: `getpid` has no preconditions.
            process: unsafe { libc::getpid() },
        }
    }

    /// Returns the profile of all earlier runs.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns true in the process that began the run, false in its children.
    pub fn is_of_this_process(&self) -> bool {
        // SAFETY: `getpid` has no preconditions.
        self.process == unsafe { libc::getpid() }
    }

    /// Returns the functions that are compiled because of earlier runs.
    pub fn planned(&self) -> &HashSet<FuncId> {
        self.planned.get_or_init(HashSet::new)
    }

    /// Returns true if a function is compiled because of earlier runs.
    pub fn plans(&self, function: FuncId) -> bool {
        self.planned().contains(&function)
    }

    /// Queues the compilations that are paid for. Returns when those that the program waits for are
    /// done.
    pub fn compile_planned(&self, image: &Image, compiler: &Compiler, queue: &Arc<Queue>) {
        let module = &image.module;
        let cpus = topology::usable_cpus();
        let expected = |f: u32, level| queue.expected(FuncId::new(f as usize), level);
        let (mut starts, threads) = self.profile.plan(&PlanInputs {
            cpus,
            others: &|| topology::running_threads().saturating_sub(1),
            expected: &expected,
            code: &|f| self.code[f as usize],
        });
        let id = |f: u32| FuncId::new(f as usize);
        for (f, below) in self.profile.below() {
            if self.code[f as usize] == CodeState::None {
                compiler.note(id(f), EventKind::Profiled(below, expected(f, Level::Quick)));
            }
        }
        if starts.is_empty() {
            return;
        }
        let callers = starts.iter().map(|s| id(s.function));
        let called: HashSet<FuncId> = callers
            .flat_map(|f| units::called(module, f).filter(move |&callee| callee != f))
            .collect();
        // Small functions are compiled as part of their callers' units.
        starts.retain(|s| {
            units::size(module, id(s.function)) > SMALL || !called.contains(&id(s.function))
        });
        let _ = self
            .planned
            .set(starts.iter().map(|s| id(s.function)).collect());
        let mut waiting = Duration::ZERO;
        for start in &starts {
            let ms = start.cost.as_secs_f64() * 1e3;
            let text = match self.code[start.function as usize] {
                CodeState::Quick => {
                    format!("recompilation would have saved earlier runs {ms:.1} ms")
                }
                _ => format!("earlier runs spent {ms:.1} ms in it"),
            };
            compiler.note(id(start.function), EventKind::WarmStarted(text));
            if start.wait {
                waiting += start.price;
            }
            queue.push(Job {
                score: start.cost,
                function: id(start.function),
                head: None,
                level: start.level,
                recompilation: None,
                eager_threads: threads,
                awaited: start.wait,
            });
        }
        if !waiting.is_zero() {
            queue.wait(waiting * WAIT_FACTOR);
        }
    }

    /// Adds this run to the stored profile, if that is worth it. `seen` yields functions, their
    /// time below compiled code, and whether they were called; `waited` is the time that the
    /// program has waited at its end.
    pub fn store(
        &self,
        image: &Image,
        compiler: &Compiler,
        queue: &Queue,
        seen: impl Iterator<Item = (FuncId, Duration, bool)>,
        waited: Duration,
    ) {
        let Some(cache_entry) = &self.cache_entry else {
            return;
        };
        let mut run = RunProfile {
            wall: compiler.elapsed(),
            cpu: process_time(),
            waited,
            planned: !self.planned().is_empty(),
            per_instruction: queue.measured(),
            ..RunProfile::default()
        };
        let number = |f: FuncId| f.index() as u32;
        let this = std::ptr::from_ref(image) as usize;
        // Of what was lowered ahead, the next run is not told of functions that were not called.
        let never_executed = image.interpreted_first.load(Ordering::Relaxed);
        for code in
            interp::lowered_functions().filter(|c| c.image == this && !c.osr_points.is_empty())
        {
            let warm = code.baseline_attempted.load(Ordering::Relaxed);
            if warm || code.interpreted.load(Ordering::Relaxed) != never_executed {
                run.lowered.push(EarlierLowered {
                    function: number(code.func),
                    warm,
                });
            }
            if self.code[code.func.index()] == CodeState::None {
                let size = units::size(&image.module, code.func) as u32;
                run.rows.entry(number(code.func)).or_default().below += LOWERING_COST * size;
            }
        }
        run.lowered.reverse();
        for (function, below, called) in seen {
            let of = run.rows.entry(number(function)).or_default();
            of.below += below;
            of.called |= called;
        }
        for (function, saved) in queue.missed_savings(Instant::now()) {
            run.rows.entry(number(function)).or_default().missed += saved;
        }
        for function in queue.refused() {
            run.rows.entry(number(function)).or_default().refused = true;
        }
        let mut code = self.code.clone();
        for (function, level) in compiler.outcomes() {
            code[function.index()] = match level {
                Level::Quick => CodeState::Quick,
                Level::Full => CodeState::Full,
            };
        }
        for &function in self.planned() {
            if code[function.index()] == self.code[function.index()] {
                run.rows.entry(number(function)).or_default().lost = true;
            }
        }
        let bytes = cache_entry.bytes(profile::NAME);
        let mut all = Profile::read(bytes, image.module.functions.len());
        let before = |f: u32| self.code[f as usize];
        if all.add(&run, &before, &|f| code[f as usize])
            && let Some(bytes) = all.bytes()
        {
            cache_entry.put_bytes(profile::NAME, &bytes);
        }
    }
}
