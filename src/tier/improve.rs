//! When compiled code is compiled once more with all effort.
//!
//! What: an improvement ([`Better`]) costs a processor for a while and saves a part of what the function
//! takes from then on; how long the program will go on is unknown. While a processor is idle, it is worth it
//! as soon as the function has executed for half as long as its compilation takes. Where a team occupies
//! every processor, it waits until it would have earned its cost, had it been there from the start: so it
//! never costs more than was lost by waiting (the rental of skis; Karlin, Manasse, Rudolph and Sleator,
//! Competitive snoopy caching, 1988). What nobody comes to any more earns nothing: a fifth of what LLVM took of
//! the processors was better code for what had set up the problem and was over (MG, class A, 16 threads on 16
//! processors).
//!
//! Where a team has a thread for every processor, one that is idle will soon be wanted again: two members shared
//! a processor while an improvement, as nice as it was, kept another for the 54 ms that were left of it (CG,
//! class A, 16 threads on 16 processors: .14 s instead of .07). There it begins when the processor was idle for as
//! long as it will take ([`Idle`]).
//!
//! Why [`together`]: members of a team wait for each other, so the compilation on one member's processor
//! stops all of them, and others on the processors of those who wait cost nothing more. Several improvements
//! that share the cost have earned it long before each has earned its own.
//!
//! What not: who makes them ([`super::queue`]).

use std::time::{Duration, Instant};

/// An improvement is taken to save this part of a function's time. Measured on the NAS benchmarks, class W,
/// it was between a fifteenth (IS) and a half (FT, LU, BT, SP); with a quarter here, runs of a second on a
/// full machine paid for what they had no use of any more (class W, 2 threads on 2 processors: lu, bt, sp
/// 1.35 of native, with a tenth 1.22).
pub const GAINS: u64 = 10;
/// A function's part of the time is not taken to be less.
const LEAST_SHARE: f64 = 0.1;

/// Better code for what is compiled already: what it costs, and when it is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Better {
    /// Since when it would have helped.
    from: Instant,
    /// What it is expected to take of a processor.
    cost: Duration,
    /// When it has earned its cost; never, where it would help nobody who is known to come.
    due: Option<Instant>,
    /// Until when somebody came to what it would replace.
    used: Instant,
}

impl Better {
    /// Of a function that executes for a `share` of the time from `now` on.
    pub fn new(cost: Duration, now: Instant, share: f64) -> Better {
        let gain = share.clamp(LEAST_SHARE, 1.0) / GAINS as f64;
        Better {
            from: now,
            cost,
            due: Some(now + cost.div_f64(gain)),
            used: now,
        }
    }

    /// The same for one who may come.
    pub fn spare(self) -> Better {
        Better { due: None, ..self }
    }

    /// Whether nobody is known to come.
    pub fn is_spare(&self) -> bool {
        self.due.is_none()
    }

    /// The same, due from `at` on if it was not before.
    pub fn due_at(self, at: Instant) -> Better {
        let due = Some(self.due.map_or(at, |due| due.min(at)));
        let used = self.used.max(at);
        Better { due, used, ..self }
    }

    /// Somebody has come to what it would replace.
    pub fn use_until(&mut self, now: Instant) {
        self.used = now;
    }

    /// Whether it is worth a processor that is idle.
    pub fn is_worth_idle_time(&self, now: Instant) -> bool {
        self.from + self.cost / 2 <= now
    }

    /// Whether it takes no longer than this.
    pub fn fits(&self, time: Duration) -> bool {
        self.cost <= time
    }

    /// Whether it has earned its cost.
    pub fn is_due(&self) -> bool {
        self.due.is_some_and(|at| at <= self.used)
    }

    /// What it would have saved by now, if somebody always came; nothing where nobody is known to come.
    pub fn saved(&self, now: Instant) -> Duration {
        self.cost.mul_f64(self.earned(now))
    }

    /// The part of its cost that it would have earned by `now`.
    fn earned(&self, now: Instant) -> f64 {
        let Some(due) = self.due else { return 0.0 };
        let all = due.saturating_duration_since(self.from).as_secs_f64();
        now.saturating_duration_since(self.from).as_secs_f64() / all.max(1e-9)
    }
}

/// Since when the program has left a processor idle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Idle(Option<Instant>);

impl Idle {
    /// One is idle now, or none.
    pub fn see(&mut self, idle: bool, now: Instant) {
        self.0 = idle.then(|| self.0.unwrap_or(now));
    }

    /// For how long one was.
    pub fn lasted(&self, now: Instant) -> Duration {
        self.0
            .map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }
}

/// Which of the improvements that wait have together earned what it costs a full machine to make all of
/// them at once on so many processors: their indices.
pub fn together(waiting: &[Better], now: Instant, processors: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..waiting.len())
        .filter(|&i| waiting[i].is_worth_idle_time(now))
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

    fn used(mut better: Better, until: Instant) -> Better {
        better.use_until(until);
        better
    }

    #[test]
    fn one_alone_waits_until_it_has_earned_its_cost() {
        let now = Instant::now();
        let better = Better::new(SECOND, now, 0.5);
        let due = SECOND.div_f64(0.5) * GAINS as u32;
        assert!(!better.is_worth_idle_time(now) && better.is_worth_idle_time(now + SECOND / 2));
        let (half, all) = (used(better, now + due / 2), used(better, now + due));
        assert!(!half.is_due() && all.is_due());
        assert!(together(&[half], now + due / 2, 16).is_empty());
        assert_eq!(together(&[all], now + due, 16), [0]);
        // Nobody has come for long.
        assert!(together(&[half], now + due * 9, 16).is_empty());
        let spare = used(better.spare(), now + due * 9);
        assert!(!spare.is_due() && spare.is_worth_idle_time(now + SECOND));
        assert!(together(&[spare], now + due * 9, 16).is_empty());
    }

    #[test]
    fn idle_time_that_ends_does_not_add_up() {
        let now = Instant::now();
        let mut idle = Idle::default();
        assert_eq!(idle.lasted(now), Duration::ZERO);
        idle.see(true, now);
        idle.see(true, now + SECOND);
        let better = Better::new(SECOND * 2, now, 0.5);
        assert!(
            !better.fits(idle.lasted(now + SECOND)) && better.fits(idle.lasted(now + SECOND * 2))
        );
        idle.see(false, now + SECOND * 2);
        idle.see(true, now + SECOND * 3);
        assert!(!better.fits(idle.lasted(now + SECOND * 4)));
    }

    #[test]
    fn several_share_the_processors_of_those_who_wait() {
        let now = Instant::now();
        let due = SECOND.div_f64(0.25) * GAINS as u32;
        let four = |part| {
            let at = now + due.mul_f64(part);
            let better = used(Better::new(SECOND, now, 0.25), at);
            move |processors| together(&[better; 4], at, processors).len()
        };
        // On one processor they cost one after the other, on four no more than one.
        assert_eq!((four(0.9)(1), four(0.24)(4)), (0, 0));
        assert_eq!((four(0.26)(4), four(0.51)(2)), (4, 4));
    }

    #[test]
    fn what_is_small_goes_with_what_is_due_and_what_is_long_does_not() {
        let now = Instant::now();
        let due = Better::new(SECOND, now, 1.0);
        let small = Better::new(SECOND / 2, now, 0.1);
        let long = Better::new(SECOND * 60, now, 1.0);
        let at = now + SECOND * GAINS as u32;
        let [due, small, long] = [due, small, long].map(|b| used(b, at));
        assert_eq!(together(&[small, due], at, 2), [1, 0]);
        assert_eq!(together(&[long, due], now + SECOND * 61, 1), [1]);
        // What has not executed for half as long as its own compilation takes is not yet worth it.
        assert_eq!(together(&[long, due], at, 2), [1]);
    }
}
