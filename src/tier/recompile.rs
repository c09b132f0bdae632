//! Decides when compiled code is compiled once more at the full level.
//!
//! A recompilation ([`Recompilation`]) takes a processor for a while and saves a part of the
//! function's time from then on; how long the program will go on is unknown. While a processor is
//! idle, a recompilation is worth it as soon as the function has executed for half as long as the
//! compilation takes. Where a team occupies every processor, it waits until it would have earned
//! its cost, had its code been there from the start. So it never costs more than the wait has lost
//! (ski rental; Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy caching", 1988). Code
//! that is no longer used earns nothing: otherwise a large part of LLVM's time goes into functions
//! that only set up the problem.
//!
//! Where a team has a thread for every processor, an idle processor will soon be wanted again, and
//! even a thread of the lowest priority then delays a member. There a recompilation starts only
//! after the processor was idle for as long as the recompilation will take ([`IdlePeriod`]).
//!
//! [`jointly_due`] exists because members of a team wait for each other: a compilation on one
//! member's processor stops all of them, and further compilations on the processors of the waiting
//! members cost nothing more. Several recompilations that share this cost have earned it long
//! before each has earned its own.
//!
//! [`super::queue`] runs the recompilations.

use std::time::{Duration, Instant};

/// Divisor: a recompilation is assumed to save this part of a function's time. The part differs
/// widely between programs; a larger assumed gain makes short runs pay for code that they no longer
/// use.
pub const GAIN_PART: u64 = 10;
/// Lower bound of a function's share of the time.
const MIN_SHARE: f64 = 0.1;

/// The cost and the deadline of a recompilation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recompilation {
    /// Time from which on the new code would have helped.
    from: Instant,
    /// Processor time that the recompilation is expected to take.
    cost: Duration,
    /// Deadline: the time at which the new code would have earned its cost. `None` for a
    /// speculative recompilation, whose function nobody is known to call again.
    deadline: Option<Instant>,
    /// Last time at which the code to be replaced was seen in use.
    used: Instant,
}

impl Recompilation {
    /// Creates the recompilation of a function that takes `share` of the program's time from `now`
    /// on.
    pub fn new(cost: Duration, now: Instant, share: f64) -> Recompilation {
        let gain = share.clamp(MIN_SHARE, 1.0) / GAIN_PART as f64;
        Recompilation {
            from: now,
            cost,
            deadline: Some(now + cost.div_f64(gain)),
            used: now,
        }
    }

    /// Returns the same without a deadline: a speculative recompilation.
    pub fn speculative(self) -> Recompilation {
        Recompilation {
            deadline: None,
            ..self
        }
    }

    /// Returns true for a speculative recompilation.
    pub fn is_speculative(&self) -> bool {
        self.deadline.is_none()
    }

    /// Returns the same with a deadline of `at`, or an earlier one if it had that.
    pub fn with_deadline(self, at: Instant) -> Recompilation {
        let deadline = Some(self.deadline.map_or(at, |deadline| deadline.min(at)));
        let used = self.used.max(at);
        Recompilation {
            deadline,
            used,
            ..self
        }
    }

    /// Records that the code to be replaced was in use at `now`.
    pub fn mark_used(&mut self, now: Instant) {
        self.used = now;
    }

    /// Returns true if the recompilation is worth the time of an idle processor.
    pub fn is_worth_idle_time(&self, now: Instant) -> bool {
        self.from + self.cost / 2 <= now
    }

    /// Returns true if the recompilation is expected to take at most `time`.
    pub fn fits(&self, time: Duration) -> bool {
        self.cost <= time
    }

    /// Returns true if the code to be replaced was still in use at the deadline.
    pub fn is_due(&self) -> bool {
        self.deadline.is_some_and(|at| at <= self.used)
    }

    /// Returns true if the code to be replaced was in use in the second half of the time since then:
    /// code that only set up the problem is not used any more.
    fn is_in_use(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) <= self.used.saturating_duration_since(self.from)
    }

    /// Returns the time that the new code would have saved by `now` if it had been in use
    /// throughout; zero for a speculative recompilation.
    pub fn saved(&self, now: Instant) -> Duration {
        self.cost.mul_f64(self.earned(now))
    }

    /// Returns the part of its cost that the recompilation would have earned by `now`.
    fn earned(&self, now: Instant) -> f64 {
        let Some(deadline) = self.deadline else {
            return 0.0;
        };
        let all = deadline.saturating_duration_since(self.from).as_secs_f64();
        now.saturating_duration_since(self.from).as_secs_f64() / all.max(1e-9)
    }
}

/// Start of the period in which the program has left a processor idle, if one is idle.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdlePeriod(Option<Instant>);

impl IdlePeriod {
    /// Records whether a processor is idle at `now`.
    pub fn record(&mut self, idle: bool, now: Instant) {
        self.0 = idle.then(|| self.0.unwrap_or(now));
    }

    /// Returns for how long a processor has been idle.
    pub fn length(&self, now: Instant) -> Duration {
        self.0
            .map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }
}

/// Returns the indices of the waiting recompilations that together have earned what a full machine
/// loses by running all of them at once on `processors` processors.
pub fn jointly_due(waiting: &[Recompilation], now: Instant, processors: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..waiting.len())
        .filter(|&i| waiting[i].is_worth_idle_time(now) && waiting[i].is_in_use(now))
        .map(|i| (waiting[i].earned(waiting[i].used), i))
        .filter(|&(earned, _)| earned > 0.0)
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut earned, mut longest, mut all) = (0.0, 0.0_f64, 0.0);
    let mut chosen = 0;
    for (count, &(part, i)) in order.iter().enumerate() {
        let cost = waiting[i].cost.as_secs_f64();
        earned += part * cost;
        all += cost;
        longest = longest.max(cost);
        if earned >= longest.max(all / processors.max(1) as f64) {
            chosen = count + 1;
        }
    }
    order.into_iter().take(chosen).map(|(_, i)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn used(mut recompilation: Recompilation, until: Instant) -> Recompilation {
        recompilation.mark_used(until);
        recompilation
    }

    #[test]
    fn a_single_recompilation_waits_until_it_has_earned_its_cost() {
        let now = Instant::now();
        let recompilation = Recompilation::new(SECOND, now, 0.5);
        let deadline = SECOND.div_f64(0.5) * GAIN_PART as u32;
        assert!(
            !recompilation.is_worth_idle_time(now)
                && recompilation.is_worth_idle_time(now + SECOND / 2)
        );
        let (half, all) = (
            used(recompilation, now + deadline / 2),
            used(recompilation, now + deadline),
        );
        assert!(!half.is_due() && all.is_due());
        assert!(jointly_due(&[half], now + deadline / 2, 16).is_empty());
        assert_eq!(jointly_due(&[all], now + deadline, 16), [0]);
        // The code has been out of use for long.
        assert!(jointly_due(&[half], now + deadline * 9, 16).is_empty());
        let speculative = used(recompilation.speculative(), now + deadline * 9);
        assert!(!speculative.is_due() && speculative.is_worth_idle_time(now + SECOND));
        assert!(jointly_due(&[speculative], now + deadline * 9, 16).is_empty());
    }

    #[test]
    fn interrupted_idle_time_does_not_add_up() {
        let now = Instant::now();
        let mut idle = IdlePeriod::default();
        assert_eq!(idle.length(now), Duration::ZERO);
        idle.record(true, now);
        idle.record(true, now + SECOND);
        let recompilation = Recompilation::new(SECOND * 2, now, 0.5);
        assert!(
            !recompilation.fits(idle.length(now + SECOND))
                && recompilation.fits(idle.length(now + SECOND * 2))
        );
        idle.record(false, now + SECOND * 2);
        idle.record(true, now + SECOND * 3);
        assert!(!recompilation.fits(idle.length(now + SECOND * 4)));
    }

    #[test]
    fn several_recompilations_share_the_processors_of_waiting_members() {
        let now = Instant::now();
        let deadline = SECOND.div_f64(0.25) * GAIN_PART as u32;
        let four = |part| {
            let at = now + deadline.mul_f64(part);
            let recompilation = used(Recompilation::new(SECOND, now, 0.25), at);
            move |processors| jointly_due(&[recompilation; 4], at, processors).len()
        };
        // On one processor their costs add up; on four all cost as much as one.
        assert_eq!((four(0.9)(1), four(0.24)(4)), (0, 0));
        assert_eq!((four(0.26)(4), four(0.51)(2)), (4, 4));
    }

    #[test]
    fn a_small_one_joins_a_due_one_and_a_long_one_does_not() {
        let now = Instant::now();
        let deadline = Recompilation::new(SECOND, now, 1.0);
        let small = Recompilation::new(SECOND / 2, now, 0.1);
        let long = Recompilation::new(SECOND * 60, now, 1.0);
        let at = now + SECOND * GAIN_PART as u32;
        let [deadline, small, long] = [deadline, small, long].map(|b| used(b, at));
        assert_eq!(jointly_due(&[small, deadline], at, 2), [1, 0]);
        let later = now + SECOND * 61;
        let both = [long, deadline].map(|b| used(b, later));
        assert_eq!(jointly_due(&both, later, 1), [1]);
        // Code that has not been used for longer than it was used is left alone.
        assert!(jointly_due(&[long, deadline], later, 1).is_empty());
        // A function that has not executed for half as long as its compilation takes is not yet
        // worth it.
        assert_eq!(jointly_due(&[long, deadline], at, 2), [1]);
    }
}
