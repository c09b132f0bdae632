//! The threads that work on the jobs: their start, the jobs that they take, and the units that they
//! make of them.
//!
//! The rules by which jobs become due or superfluous are those of [`super::state`].

use super::cost::PER_UNIT;
use super::job::{Job, MAX_THREADS};
use super::state::QueueState;
use super::{Queue, RECHECK, left_by_team};
use crate::call_closure;
use crate::compiler::EventKind;
use crate::units::{self, SMALL};
use cranelift_entity::EntityRef;
use ompvm_interp::{self as interp, osr};
use ompvm_ir::FuncId;
use ompvm_jit::{Level, OsrEntry, Unit};
use ompvm_kmpc::affinity;
use ompvm_memory::func::FuncRef;
use ompvm_memory::internal_thread;
use ompvm_support::clock::thread_time;
use ompvm_support::log;
use ompvm_support::processor_sharing::{self, Activity};
use ompvm_support::topology;
use parking_lot::MutexGuard;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most instructions that callees add to the unit of their caller.
const MAX_ADDED: usize = 200;

/// Time without jobs after which the opened program is closed. Units that follow soon use it.
const REST: Duration = Duration::from_millis(500);

/// Niceness of the threads that recompile in idle time.
const LOW_PRIORITY: i32 = 19;

impl Queue {
    /// Starts a thread if there are fewer than `most` of its class. Returns true if it did.
    pub(super) fn start(
        self: &Arc<Queue>,
        state: &mut QueueState,
        low_priority: bool,
        most: usize,
    ) -> bool {
        let kind = usize::from(low_priority);
        if state.stop || state.started[kind] >= topology::usable_cpus().min(most) {
            return false;
        }
        let me = self.clone();
        // If no thread can be started, the job waits for the existing ones.
        let Some(thread) =
            internal_thread::spawn_with_own_descriptors(c"ompvm compile", move || {
                me.work(low_priority)
            })
        else {
            return false;
        };
        state.started[kind] += 1;
        state.threads.push(thread);
        tracing::debug!(
            target: log::QUEUE,
            threads = state.threads.len(),
            jobs = state.jobs.len(),
            low_priority,
            "started a compile thread"
        );
        true
    }

    /// Makes recompilations due and starts threads for them.
    pub(super) fn make_due(self: &Arc<Queue>, now: Instant) {
        let mut state = self.state.lock();
        let due = state.make_due(now, topology::usable_cpus().min(MAX_THREADS));
        for _ in state.free[0]..due {
            if !self.start(&mut state, false, MAX_THREADS) {
                break;
            }
        }
        drop(state);
        if due > 0 {
            tracing::debug!(target: log::QUEUE, due, "recompilations are due");
            self.wake.notify_all();
        }
    }

    /// Returns the job that this thread takes next, and its expected end if its code is cached.
    /// Waits for a job; returns `None` once the queue is stopped.
    fn next(&self, low_priority: bool) -> Option<(Job, Option<Instant>)> {
        let mut state = self.state.lock();
        let mut rests = false;
        loop {
            if state.stop {
                return None;
            }
            let now = Instant::now();
            let idle = self.idle() > 0;
            let lasts = match self.left_over_beside(state.compiling()) {
                _ if !idle => Duration::ZERO,
                0 => state.idle.length(now),
                1.. => Duration::MAX,
            };
            // If all jobs so far were recompilations, no thread of normal priority exists, so a
            // low-priority thread takes the due ones.
            let due = !low_priority || idle && state.started[0] == 0;
            let mine = |j: &Job| j.is_eligible(low_priority, lasts, due, now);
            let best = (0..state.jobs.len())
                .filter(|&i| mine(&state.jobs[i]))
                .max_by_key(|&i| state.jobs[i].priority());
            if let Some(best) = best {
                let job = state.take_at(best);
                state.eager_at_work += usize::from(job.eager_threads > 0);
                if job.head.is_none() {
                    let end = now + self.expected(job.function, job.level);
                    state.ends.push(end);
                    return Some((job, Some(end)));
                }
                return Some((job, None));
            }
            state.free[usize::from(low_priority)] += 1;
            processor_sharing::set_activity(processor_sharing::own_entry(), Activity::Asleep);
            if !state.jobs.is_empty() {
                self.wake.wait_for(&mut state, RECHECK);
            } else if rests {
                self.wake.wait(&mut state);
            } else {
                rests = self.wake.wait_for(&mut state, REST).timed_out() && state.jobs.is_empty();
                if rests {
                    MutexGuard::unlocked(&mut state, || self.compiler.program().rest());
                }
            }
            processor_sharing::set_activity(processor_sharing::own_entry(), Activity::Occupying);
            state.free[usize::from(low_priority)] -= 1;
        }
    }

    fn work(self: Arc<Queue>, low_priority: bool) {
        let team = &affinity::expected_team().cpus;
        if left_by_team() > 0 && !team.is_empty() {
            topology::bind_current_thread(&topology::others(team));
        }
        if low_priority {
            // SAFETY: `setpriority` takes plain values and changes only this thread's priority; a
            // failure changes nothing.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as u32, LOW_PRIORITY) };
        } else {
            // Compile threads do not migrate by themselves. A low-priority thread does not count,
            // because its processor is as good as free.
            processor_sharing::register();
            processor_sharing::set_activity(processor_sharing::own_entry(), Activity::Occupying);
        }
        let rotates = !low_priority && left_by_team() == 0;
        while let Some((job, end)) = self.next(low_priority) {
            if rotates {
                self.rotation.lock().enter();
            }
            let (jobs, mut unit, end) = self.batch(job, end);
            let mut compiled: Vec<FuncId> = Vec::new();
            let mut entered = false;
            let start = thread_time();
            let effort = self.effort(&jobs[0], &unit);
            match self.compile(&jobs, &mut unit, &mut compiled) {
                Ok(enters) => {
                    entered = enters;
                    let took = thread_time().saturating_sub(start);
                    if jobs[0].awaited || self.idle() == 0 && self.left_over() == 0 {
                        self.compiler.add_compile_time(took);
                    }
                    self.record_cost(jobs[0].level, took.saturating_sub(PER_UNIT), effort);
                }
                // One of the functions may keep the others from being compiled.
                Err(_) if jobs.len() > 1 => {
                    for job in jobs.chunks(1) {
                        let mut unit = self.unit(&job[0]);
                        if let Err(why) = self.compile(job, &mut unit, &mut compiled) {
                            self.refuse(&job[0], why);
                        }
                    }
                }
                Err(why) => self.refuse(&jobs[0], why),
            }
            if rotates {
                self.rotation.lock().leave();
            }
            let mut state = self.state.lock();
            state.drop_superseded(&compiled, jobs[0].level);
            for job in &jobs {
                state.awaited -= usize::from(job.awaited);
                state.eager_at_work -= usize::from(job.eager_threads > 0);
                if job.recompilation.is_some() {
                    state.drop_recompilations(job.target());
                } else if job.head.is_some() && !entered && job.level == Level::Quick {
                    state.promote(job.target());
                }
            }
            if let Some(i) = state.ends.iter().position(|&at| Some(at) == end) {
                state.ends.swap_remove(i);
            }
            drop(state);
            self.done.notify_all();
        }
    }

    /// Compiles the unit of some jobs and adds the compiled functions to `compiled`. Returns true
    /// if running activations enter a loop of it.
    fn compile(
        &self,
        jobs: &[Job],
        unit: &mut Unit,
        compiled: &mut Vec<FuncId>,
    ) -> Result<bool, String> {
        let job = &jobs[0];
        tracing::debug!(
            target: log::QUEUE,
            function = self.compiler.program().name(job.function),
            block = job.osr_block().map(|block| block.as_u32()),
            level = ?job.level,
            recompilation = job.recompilation.is_some(),
            jobs = jobs.len(),
            functions = unit.functions.as_ref().map(Vec::len),
            effort = self.effort(job, unit),
            "takes a job"
        );
        call_closure::complete(&self.image, self.compiler.program(), unit)?;
        let pieces = self.compiler.compile(&self.image, unit)?;
        let pieces = || pieces.iter();
        compiled.extend(pieces().flat_map(|c| &c.functions).map(|f| f.0));
        let skipped = pieces().flat_map(|c| &c.skipped).map(|s| s.0);
        if job.head.is_none() {
            self.state.lock().refused.extend(skipped);
        }
        let mut enters = false;
        for &(index, address) in pieces().flat_map(|c| &c.entries) {
            if let Some((code, head)) = job.head {
                debug_assert_eq!(index, 0);
                enters = true;
                let yields = job.level == Level::Quick;
                osr::install_entry(code, head, address, 0, yields);
                tracing::debug!(
                    target: log::TIER,
                    function = self.compiler.program().name(job.function),
                    head,
                    address = ?address as *const (),
                    yields,
                    "installed an OSR entry"
                );
            }
        }
        Ok(enters)
    }

    /// Leaves a function that cannot be compiled in its tier.
    fn refuse(&self, job: &Job, why: String) {
        self.compiler.note(job.function, EventKind::Skipped(why));
        if job.head.is_none() {
            self.state.lock().refused.push(job.function);
        }
    }

    /// Returns a job with waiting jobs that cost much less in its unit than in their own, because
    /// they call the same small functions; the unit; and its expected end, given that of the job.
    fn batch(&self, job: Job, end: Option<Instant>) -> (Vec<Job>, Unit, Option<Instant>) {
        let mut unit = self.unit(&job);
        let candidates = {
            let state = self.state.lock();
            // Idle threads compile the others at the same time.
            if state.free[usize::from(job.recompilation.is_some())] > 0 {
                Vec::new()
            } else {
                state.joining(&job, Instant::now())
            }
        };
        let mut jobs = vec![job];
        let Some(end) = end.filter(|_| !candidates.is_empty()) else {
            return (jobs, unit, end);
        };
        let functions = unit.functions.get_or_insert_default();
        let cost = |functions: &[usize]| {
            let all = functions.iter().map(|&f| FuncId::new(f));
            let effort = all.map(|f| units::effort(&self.image.module, f)).sum();
            self.expected_for(effort, jobs[0].level)
        };
        let most = cost(functions);
        let mut added = Duration::ZERO;
        let mut chosen = Vec::new();
        for other in candidates {
            let all = self.unit(&other).functions.unwrap_or_default();
            let fresh: Vec<usize> = all
                .iter()
                .filter(|f| !functions.contains(f))
                .copied()
                .collect();
            let more = cost(&fresh).saturating_sub(PER_UNIT);
            if more <= cost(&all) / 2 && added + more <= most {
                added += more;
                functions.extend(fresh);
                chosen.push(other);
            }
        }
        let later = end + added;
        let mut state = self.state.lock();
        for other in chosen {
            jobs.extend(state.take(&other));
        }
        if let Some(at) = state.ends.iter_mut().find(|at| **at == end) {
            *at = later;
        }
        (jobs, unit, Some(later))
    }

    /// Returns true if a function was called without compiled code, here or in an earlier run that
    /// had it lowered ahead.
    fn is_lowered(&self, function: FuncId) -> bool {
        self.image
            .func_ref(function)
            .is_some_and(interp::is_lowered)
    }

    /// Returns the unit of a job: its function or loop, the small functions called there, and all
    /// members of their strongly connected sets. Callees with compiled code are part of the unit,
    /// too, because only calls within a unit can be inlined. Quick code leaves out what nobody has
    /// called yet, such as the code of error messages.
    fn unit(&self, job: &Job) -> Unit {
        let module = &self.image.module;
        // Nothing is known of what a function calls that was never called itself.
        let all = job.level != Level::Quick || !self.is_lowered(job.function);
        let is_compiled = |f| self.image.func_ref(f).is_some_and(FuncRef::is_compiled);
        let is_wanted = |f| all || self.is_lowered(f) || is_compiled(f);
        let osr_block = job.osr_block();
        let inside = osr_block.map(|block| units::in_loop(module, job.function, block));
        let own = inside.as_ref().map_or_else(
            || units::size(module, job.function),
            |blocks| units::effort_of(module, job.function, blocks),
        );
        let mut size = inside.as_ref().map_or(0, |_| own);
        let mut functions: Vec<usize> = Vec::new();
        let mut entries = Vec::new();
        let mut todo = Vec::new();
        let mut add = |f: FuncId, todo: &mut Vec<FuncId>| {
            for f in units::strongly_connected(module, f) {
                if !functions.contains(&f.index()) && self.compiler.program().can_compile(f) {
                    size += units::size(module, f);
                    functions.push(f.index());
                    todo.extend(units::called(module, f));
                }
            }
            size
        };
        if let (Some((code, _)), Some(block), Some(inside)) = (job.head, osr_block, inside) {
            todo = units::called_from(module, job.function, &inside);
            if let Some((locations, words)) = osr::value_locations(code) {
                entries.push(OsrEntry {
                    function: job.function.index(),
                    block: block.as_u32(),
                    words,
                    locations,
                });
            }
        } else {
            add(job.function, &mut todo);
        }
        let mut total = own;
        while let Some(f) = todo.pop() {
            let is_small = units::size(module, f) <= SMALL && total <= own + MAX_ADDED;
            if f != job.function && is_small && is_wanted(f) {
                total = add(f, &mut todo);
            }
        }
        Unit {
            functions: Some(functions),
            entries,
            level: job.level,
            degraded: false,
        }
    }
}
