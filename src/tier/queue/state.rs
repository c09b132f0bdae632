//! The state of the queue that its lock guards: waiting jobs, threads, and what both have found.
//!
//! Knows neither threads nor LLVM, so that its rules are tested without them. Who changes the state
//! and who wakes whom is left to [`super::threads`].

use super::job::Job;
use crate::recompile::{self, IdlePeriod, Recompilation};
use ompvm_interp::osr;
use ompvm_ir::{BlockId, FuncId};
use ompvm_jit::Level;
use ompvm_memory::image::Image;
use ompvm_memory::internal_thread::InternalThread;
use std::time::Instant;

/// Most waiting jobs that are considered for the unit of another job.
const MAX_JOINING: usize = 16;

#[derive(Debug, Default)]
pub(super) struct QueueState {
    pub jobs: Vec<Job>,
    /// Recompilations that were started before their deadline, in idle time.
    pub started_early: Vec<Job>,
    pub threads: Vec<InternalThread>,
    /// Number of threads, by class: normal and low priority.
    pub started: [usize; 2],
    /// Number of threads that wait for a job, by class.
    pub free: [usize; 2],
    /// Number of threads at work on eager jobs.
    pub eager_at_work: usize,
    /// Number of jobs that the program waits for.
    pub awaited: usize,
    /// Expected ends of the compilations under way whose code is cached.
    pub ends: Vec<Instant>,
    /// Functions that LLVM could not compile.
    pub refused: Vec<FuncId>,
    /// Period in which the program has left a processor idle, compile threads aside.
    pub idle: IdlePeriod,
    pub stop: bool,
}

impl QueueState {
    /// Returns the number of threads that compile.
    pub(super) fn compiling(&self) -> usize {
        self.started.iter().sum::<usize>() - self.free.iter().sum::<usize>()
    }

    /// Takes the job at an index for a thread that starts it.
    pub(super) fn take_at(&mut self, index: usize) -> Job {
        let job = self.jobs.swap_remove(index);
        if job.recompilation.is_some_and(|b| !b.is_due()) {
            self.started_early.push(job.clone());
        }
        job
    }

    /// Takes a job that was found waiting earlier, if it still waits.
    pub(super) fn take(&mut self, job: &Job) -> Option<Job> {
        let same = |j: &Job| {
            j.target() == job.target()
                && j.level == job.level
                && j.recompilation.is_some() == job.recompilation.is_some()
        };
        let index = self.jobs.iter().position(same)?;
        Some(self.take_at(index))
    }

    /// Returns the waiting jobs that may be compiled in the unit of a job, hottest first: those of
    /// functions, of its kind.
    pub(super) fn joining(&self, job: &Job, now: Instant) -> Vec<Job> {
        let plain = |j: &Job| j.head.is_none() && j.eager_threads == 0 && !j.awaited;
        let due = |j: &Job| j.recompilation.map(|b| b.is_due());
        // The first job has found idle time enough for itself.
        let worth = |j: &Job| {
            let recompilation = j.recompilation.as_ref();
            recompilation.is_none_or(|b| b.is_due() || b.is_worth_idle_time(now))
        };
        let joins = |j: &&Job| plain(j) && j.level == job.level && due(j) == due(job) && worth(j);
        if !plain(job) {
            return Vec::new();
        }
        let mut found: Vec<Job> = self.jobs.iter().filter(joins).cloned().collect();
        found.sort_by_key(|j| std::cmp::Reverse(j.priority()));
        found.truncate(MAX_JOINING);
        found
    }

    /// Makes recompilations due that together have earned their cost on a full machine. Duplicates
    /// those already started in idle time. Returns how many became due.
    pub(super) fn make_due(&mut self, now: Instant, processors: usize) -> usize {
        let both = self.jobs.iter().chain(&self.started_early).enumerate();
        let (places, waiting): (Vec<usize>, Vec<Recompilation>) = both
            .filter_map(|(i, j)| Some((i, j.recompilation?)))
            .unzip();
        let chosen = recompile::jointly_due(&waiting, now, processors);
        let begun = self.jobs.len();
        for &i in &chosen {
            let recompilation = Some(waiting[i].with_deadline(now));
            match places[i].checked_sub(begun) {
                None => self.jobs[places[i]].recompilation = recompilation,
                Some(at) => self.jobs.push(Job {
                    recompilation,
                    ..self.started_early[at].clone()
                }),
            }
        }
        let again = &self.jobs[begun..];
        let waits = |j: &Job| !again.iter().any(|a| a.target() == j.target());
        self.started_early.retain(waits);
        chosen.len()
    }

    /// Records for each recompilation whether the code that it would replace still runs.
    pub(super) fn record_use(&mut self, image: &Image, now: Instant) {
        for job in self.jobs.iter_mut().chain(&mut self.started_early) {
            let Some(recompilation) = job.recompilation.as_mut().filter(|b| !b.is_speculative())
            else {
                continue;
            };
            let used = match job.head {
                Some((code, head)) => osr::probe_loop(code, head),
                None => image.func_ref(job.function).is_some_and(|f| f.was_called()),
            };
            if used {
                recompilation.mark_used(now);
            }
        }
    }

    /// Replaces the speculative recompilation of a function by one with a deadline, because the
    /// function was called.
    pub(super) fn set_deadline(&mut self, function: FuncId, recompilation: Recompilation) {
        let both = self.jobs.iter_mut().chain(&mut self.started_early);
        let of_it = both.filter(|j| j.target() == (function, None));
        for waiting in of_it.filter_map(|j| j.recompilation.as_mut()) {
            if waiting.is_speculative() {
                *waiting = recompilation;
            }
        }
    }

    /// Turns the recompilation of a target into a first compilation that does not wait, because the
    /// quick compilation failed.
    pub(super) fn promote(&mut self, target: (FuncId, Option<BlockId>)) {
        for job in self.jobs.iter_mut().filter(|j| j.target() == target) {
            job.recompilation = None;
        }
    }

    /// Drops queued jobs for functions that another unit has already compiled at this level.
    pub(super) fn drop_superseded(&mut self, functions: &[FuncId], level: Level) {
        let other = |j: &Job| {
            j.head.is_some()
                || j.awaited
                || level == Level::Quick && j.level == Level::Full
                || !functions.contains(&j.function)
        };
        self.started_early.retain(other);
        self.jobs.retain(other);
    }

    /// Drops every other recompilation of a target, because one of them is done.
    pub(super) fn drop_recompilations(&mut self, target: (FuncId, Option<BlockId>)) {
        let other = |j: &Job| j.recompilation.is_none() || j.target() != target;
        self.started_early.retain(other);
        self.jobs.retain(other);
    }
}
