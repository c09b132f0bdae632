//! Expected costs of compilations, from measured ones.
//!
//! The time that recompiled code saves is left to [`crate::recompile`].

use super::Queue;
use super::job::Job;
use crate::units;
use cranelift_entity::EntityRef;
use ompvm_ir::{BlockId, FuncId};
use ompvm_jit::{Level, Unit};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Expected fixed cost of a compilation.
pub(super) const PER_UNIT: Duration = Duration::from_millis(2);

/// Expected cost of one unit of [`units::effort`] in nanoseconds, by level, until compilations have
/// been measured.
pub(super) const PER_EFFORT: [u32; 2] = [12_000, 30_000];

/// Upper bound of the measured cost, in nanoseconds.
pub(super) const MAX_PER_EFFORT: u32 = 1 << 20;

impl Queue {
    /// Returns the measured cost of one unit of effort in nanoseconds, by level; 0 if nothing was
    /// measured.
    pub fn measured(&self) -> [u32; 2] {
        [0, 1].map(|level| match self.cost[level].load(Ordering::Relaxed) {
            cost if cost == PER_EFFORT[level] => 0,
            cost => cost,
        })
    }

    /// Returns the processor time that compiling a function is expected to take.
    pub fn expected(&self, function: FuncId, level: Level) -> Duration {
        self.expected_for(units::effort(&self.image.module, function), level)
    }

    /// Returns the processor time that compiling a loop of a function is expected to take.
    pub fn expected_loop(&self, function: FuncId, head: BlockId, level: Level) -> Duration {
        self.expected_for(self.effort_of_loop(function, head), level)
    }

    /// Returns the processor time that compiling a unit of this effort is expected to take.
    pub(super) fn expected_for(&self, effort: usize, level: Level) -> Duration {
        PER_UNIT + Duration::from_nanos(self.per_effort(level)) * effort as u32
    }

    /// Returns the expected cost of one unit of effort in nanoseconds. Until the full level is
    /// measured, it follows the quick one: what makes that slow here makes both slow.
    fn per_effort(&self, level: Level) -> u64 {
        let [quick, full] = [0, 1].map(|level| self.cost[level].load(Ordering::Relaxed));
        let [of_quick, of_full] = PER_EFFORT.map(u64::from);
        match level {
            Level::Quick => u64::from(quick),
            Level::Full if full == PER_EFFORT[1] => u64::from(quick) * of_full / of_quick,
            Level::Full => u64::from(full),
        }
    }

    /// Updates the measured cost per unit of effort by one compilation.
    pub(super) fn record_cost(&self, level: Level, took: Duration, effort: usize) {
        let cost = &self.cost[level as usize];
        let per = (took / effort.max(1) as u32)
            .as_nanos()
            .min(u128::from(MAX_PER_EFFORT)) as u32;
        let old = cost.load(Ordering::Relaxed);
        cost.store((old * 3 + per) / 4, Ordering::Relaxed);
    }

    /// Returns the effort of a job's unit.
    pub(super) fn effort(&self, job: &Job, unit: &Unit) -> usize {
        let of = |f| units::effort(&self.image.module, f);
        let functions = unit.functions.iter().flatten();
        let all: usize = functions.map(|&f| of(FuncId::new(f))).sum();
        all + job
            .osr_block()
            .map_or(0, |head| self.effort_of_loop(job.function, head))
    }

    fn effort_of_loop(&self, function: FuncId, head: BlockId) -> usize {
        let module = &self.image.module;
        units::effort_of(module, function, &units::in_loop(module, function, head))
    }
}
