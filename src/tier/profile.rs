//! The persisted profile of a program: what its runs have cost below compiled code.
//!
//! A run of 50 ms ends before any compilation has proved worth its cost, and so do all later ones.
//! A [`Profile`] adds up over runs the time that each function spent below compiled code, and the
//! time that recompilation would have saved. A function that has cost half of its compilation is
//! compiled as soon as a run begins. This is the rule of ski rental (Karlin, Manasse, Rudolph and
//! Sleator, "Competitive snoopy caching", 1988): rent until the rent has reached the price, which
//! never costs more than twice what knowing the future would. With half of the price it is three
//! times at worst, and less for programs that run again.
//!
//! The second run counts the costs of the first twice, so that the third run finds the code that it
//! would compile otherwise.
//!
//! While a processor is idle, a fraction of that cost suffices. While none is, the program waits
//! for its compilations: the progress that it could make meanwhile it would lose to them anyway,
//! because a team waits for its slowest member.
//!
//! A run may wait at its end for a compilation under way, whose work would otherwise be lost. Over
//! all runs these waits take at most a fiftieth of the time ([`Profile::allowance`]).
//!
//! Nothing here accesses clocks, files or threads; [`super::sample`] and [`super::warm_start`] do.

use super::eager::{FULL_LATENCY, MAX_EAGER_TIME};
use super::recompile;
use ompvm_jit::Level;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Name of the profile in the program's cache entry.
pub const NAME: &str = "tier-profile";
/// Most functions in a profile.
const MAX_FUNCTIONS: usize = 2000;
/// Most doublings of the expected cost after compilations in vain.
const MAX_VAIN: u32 = 10;
/// Nanoseconds of earlier runs that count; sums are halved beyond it, so older runs fade.
const MAX_HISTORY: u64 = 20_000_000_000;
/// Divisor: the part of the time of all runs that waits at their ends may take.
const WAITED_PART: u64 = 50;
/// Longest wait at the end of one run.
const MAX_WAIT: Duration = Duration::from_millis(30);
/// Processor time that starting LLVM takes on each processor.
const LLVM_START: Duration = Duration::from_millis(5);
/// Divisor: a run that could gain less than this part of its time stores nothing.
const WORTH_PART: u32 = 50;
/// Most processors that compile at once.
const MAX_AT_ONCE: usize = 16;
/// Divisor: a function that has cost this part of its compilation is compiled. Functions that ran
/// in earlier runs are likely to run again.
const PAID_PART: u32 = 2;
/// Divisor of the compilation cost that suffices while a processor is idle.
const IDLE_PART: u32 = 12;
/// Number of first runs that begin with compilations whenever these are paid for, because no run
/// becomes twice as long.
const EAGER_RUNS: u64 = 2;
/// Factor of the costs that the second run counts: whoever runs a program twice runs it a third
/// time, and that run would compile what the two have paid for.
const SECOND_RUN_FACTOR: u32 = 2;
/// Growth of the number of runs after which a later run begins with compilations again.
const RARE_FACTOR: u64 = 4;
/// Divisor: a run begins with compilations at any time if they are expected to save this part of
/// it.
const MUCH_PART: u64 = 20;
/// Number of runs after which a program's time is known.
const KNOWN_RUNS: u64 = 2;
/// Divisor: a run may exceed the known time by this part and still count as known.
const LONGER_PART: u64 = 4;
/// Divisor: the part of the time below it that quick code takes.
const QUICK_PART: u64 = 2;

/// The row of one function. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct FunctionProfile {
    /// Time below compiled code.
    below: u64,
    /// Number of runs with time below compiled code.
    runs: u32,
    /// Time that recompilation of quick code would have saved, as expected.
    missed: u64,
    /// True if samples ever showed it called.
    called: bool,
    /// True if it cannot be compiled.
    refused: bool,
    /// Number of compilations begun and lost as the run ended. Each doubles the expected time.
    vain: u32,
}

impl FunctionProfile {
    /// Returns the average time below compiled code in one run.
    fn each(&self) -> u64 {
        self.below / u64::from(self.runs.max(1))
    }
}

/// A function that the last stored run lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierLowered {
    /// Index of the function.
    pub function: u32,
    /// True if the baseline tier compiled it.
    pub warm: bool,
}

/// The sum of all runs of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Number of functions in the module.
    module: u32,
    /// Number of runs.
    runs: u64,
    /// Duration of the runs in nanoseconds.
    wall: u64,
    /// Processor time of the runs in nanoseconds.
    cpu: u64,
    /// Time that runs have waited at their ends in nanoseconds.
    waited: u64,
    /// Value of `runs` when the last run began with compilations.
    planned: u64,
    /// Measured cost of one unit of effort in nanoseconds, by level; 0 if unknown.
    pub per_instruction: [u32; 2],
    functions: BTreeMap<u32, FunctionProfile>,
    /// The functions that the last stored run lowered, in the order of their first calls.
    pub lowered: Vec<EarlierLowered>,
}

/// The code that a function has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeState {
    /// No compiled code.
    None,
    /// Code of the quick level.
    Quick,
    /// Code of the full level.
    Full,
}

/// The findings of one run about a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfileRow {
    /// Time below compiled code.
    pub below: Duration,
    /// True if samples showed it called.
    pub called: bool,
    /// True if LLVM could not compile it.
    pub refused: bool,
    /// True if its compilation was planned at the start and not done at the end.
    pub lost: bool,
    /// Time that recompilation would have saved.
    pub missed: Duration,
}

/// The findings of one run.
#[derive(Clone, Debug, Default)]
pub struct RunProfile {
    /// Duration of the run.
    pub wall: Duration,
    /// Processor time of all threads.
    pub cpu: Duration,
    /// Time waited at the end.
    pub waited: Duration,
    /// True if the run began with compilations.
    pub planned: bool,
    /// Measured cost of one unit of effort in nanoseconds, by level; 0 if unknown.
    pub per_instruction: [u32; 2],
    /// The findings by function.
    pub rows: BTreeMap<u32, ProfileRow>,
    /// The lowered functions without other code, in the order of their first calls.
    pub lowered: Vec<EarlierLowered>,
}

/// A compilation that a run begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedCompile {
    /// Index of the function.
    pub function: u32,
    /// Level to compile at.
    pub level: Level,
    /// Time that the function has cost so far.
    pub cost: Duration,
    /// Expected processor time of the compilation.
    pub price: Duration,
    /// True if the function has no compiled code yet.
    pub first: bool,
    /// True if the program waits for it.
    pub wait: bool,
}

/// Inputs of a plan.
pub struct PlanInputs<'a> {
    /// Number of processors that the program may use.
    pub cpus: usize,
    /// Returns the number of processors that other programs use.
    pub others: &'a dyn Fn() -> usize,
    /// Returns the expected processor time of compiling a function.
    pub expected: &'a dyn Fn(u32, Level) -> Duration,
    /// Returns the code that a function has; [`CodeState::Full`] also if it cannot be compiled.
    pub code: &'a dyn Fn(u32) -> CodeState,
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Profile {
    /// Decodes the stored profile of a module with `module` functions. Returns an empty profile if
    /// the bytes are damaged or belong to another module.
    pub fn read(bytes: Option<Vec<u8>>, module: usize) -> Profile {
        let profile = bytes.and_then(|b| postcard::from_bytes::<Profile>(&b).ok());
        let fits = |p: &Profile| {
            let mut lowered = p.lowered.iter().map(|l| l.function);
            p.module as usize == module
                && p.functions.keys().all(|&f| (f as usize) < module)
                && lowered.all(|f| (f as usize) < module)
        };
        profile.filter(fits).unwrap_or_else(|| Profile {
            module: module as u32,
            ..Profile::default()
        })
    }

    /// Returns the bytes to store.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        postcard::to_allocvec(self).ok()
    }

    /// Returns how long a run that has taken `wall` may wait at its end.
    pub fn allowance(&self, wall: Duration) -> Duration {
        let all = self.wall.saturating_add(nanoseconds(wall));
        let left = Duration::from_nanos((all / WAITED_PART).saturating_sub(self.waited));
        left.min(MAX_WAIT)
    }

    /// Returns the longest expected time of a run, or `None` after too few runs.
    pub fn known_time(&self) -> Option<Duration> {
        let each = self.wall.checked_div(self.runs)?;
        (self.runs >= KNOWN_RUNS).then(|| Duration::from_nanos(each + each / LONGER_PART))
    }

    /// Returns true if a run may begin with these compilations. Each time costs the start of LLVM
    /// and gains less than the time before. So later runs begin with compilations rarely, and then
    /// with many together, unless they gain much.
    fn is_time_for(&self, starts: &[PlannedCompile]) -> bool {
        let gain = |s: &PlannedCompile| match s.first {
            true => self.functions[&s.function].each() / QUICK_PART,
            false => nanoseconds(s.cost) / self.runs.max(1),
        };
        let gain: u64 = starts.iter().map(gain).sum();
        self.runs < EAGER_RUNS
            || self.runs >= self.planned * RARE_FACTOR
            || gain * MUCH_PART * self.runs >= self.wall
    }

    /// Returns the number of processors that earlier runs left idle; 0 before the first run.
    fn idle(&self, cpus: usize) -> usize {
        if self.wall == 0 {
            return 0;
        }
        let busy = self.cpu as f64 / self.wall as f64;
        cpus.saturating_sub((busy + 0.25).ceil() as usize)
    }

    /// Returns the time below compiled code of each function, over all runs.
    pub fn below(&self) -> impl Iterator<Item = (u32, Duration)> {
        let functions = self.functions.iter();
        functions.map(|(&f, past)| (f, Duration::from_nanos(past.below)))
    }

    /// Returns the compilations that a run begins with, highest cost first, and the number of
    /// processors for them.
    pub fn plan(&self, at: &PlanInputs<'_>) -> (Vec<PlannedCompile>, usize) {
        if self.functions.is_empty() {
            return (Vec::new(), 0);
        }
        let idle = match self.idle(at.cpus) {
            0 => 0,
            idle => idle.saturating_sub((at.others)()),
        };
        // While the program waits, it lacks all of its processors.
        let (threads, at_once) = match (idle, at.cpus.clamp(1, MAX_AT_ONCE)) {
            (0, all) => (all, all),
            (idle, _) => (idle.min(MAX_AT_ONCE), 1),
        };
        let most = Duration::from_nanos(self.wall / self.runs.max(1));
        let ahead = |price| match self.runs == 1 && price <= most {
            true => SECOND_RUN_FACTOR,
            false => 1,
        };
        let mut starts: Vec<PlannedCompile> = Vec::new();
        for (&function, past) in &self.functions {
            if past.refused {
                continue;
            }
            let expected = |level| (at.expected)(function, level) * (1 << past.vain.min(MAX_VAIN));
            let (quick, full) = (expected(Level::Quick), expected(Level::Full));
            let below = Duration::from_nanos(past.below);
            let code = (at.code)(function);
            let (cost, level) = match code {
                CodeState::Full => continue,
                CodeState::Quick => (Duration::from_nanos(past.missed), Level::Full),
                CodeState::None
                    if below * ahead(full) >= full * 2 || idle > 0 && full <= FULL_LATENCY =>
                {
                    (below, Level::Full)
                }
                CodeState::None => (below, Level::Quick),
            };
            let price = if level == Level::Full { full } else { quick };
            let paid = cost * ahead(price) * PAID_PART >= price / at_once as u32;
            if !paid && (idle == 0 || cost < price / IDLE_PART) {
                continue;
            }
            // A function that is one long call has no use for code that comes later.
            let alone = !past.called && past.each() >= nanoseconds(price) * 2;
            starts.push(PlannedCompile {
                function,
                level,
                cost,
                price,
                first: code == CodeState::None,
                wait: paid && (idle == 0 || alone && code == CodeState::None),
            });
        }
        starts.sort_by_key(|s| (std::cmp::Reverse(s.cost), s.function));
        if idle == 0 {
            // No run becomes twice as long, unless a single function takes more.
            let mut processors = vec![LLVM_START; at_once];
            let mut all = Duration::ZERO;
            let mut taken = 0;
            for (n, start) in starts.iter().enumerate() {
                if let Some(least) = processors.iter_mut().min() {
                    *least += start.price;
                }
                all += start.cost * ahead(start.price);
                let longest = processors.iter().max().copied().unwrap_or_default();
                if longest > most && n >= at_once {
                    break;
                }
                // The start of LLVM has to be paid for, too.
                if all * PAID_PART >= longest {
                    taken = n + 1;
                }
            }
            starts.truncate(taken);
        } else {
            let mut left = MAX_EAGER_TIME * idle as u32;
            starts.retain(|s| {
                let fits = s.wait || s.price <= left;
                if fits {
                    left = left.saturating_sub(s.price);
                }
                fits
            });
        }
        if !self.is_time_for(&starts) {
            starts.clear();
        }
        (starts, threads)
    }

    /// Adds the findings of a run. `before` and `code` return the code of a function at the start
    /// and at the end of the run. Returns true if the result is worth storing.
    pub fn add(
        &mut self,
        run: &RunProfile,
        before: &dyn Fn(u32) -> CodeState,
        code: &dyn Fn(u32) -> CodeState,
    ) -> bool {
        let mut gain = Duration::ZERO;
        for (&function, seen) in &run.rows {
            if seen.lost {
                self.functions.entry(function).or_default().vain += 1;
            }
            if code(function) != CodeState::None && before(function) != CodeState::None {
                if !seen.missed.is_zero() {
                    self.functions.entry(function).or_default();
                }
                continue;
            }
            let past = self.functions.entry(function).or_default();
            past.called |= seen.called;
            if !past.refused {
                gain += seen.below;
            }
            past.refused |= seen.refused;
            past.below = past.below.saturating_add(nanoseconds(seen.below));
            past.runs = past.runs.saturating_add(1);
        }
        for (&function, past) in &mut self.functions {
            let seen = run.rows.get(&function).map_or(0, |s| nanoseconds(s.missed));
            let expected = match before(function) {
                CodeState::Quick => past.each() / QUICK_PART / recompile::GAIN_PART,
                CodeState::None | CodeState::Full => 0,
            };
            let missed = seen.max(expected);
            past.missed = past.missed.saturating_add(missed);
            gain += Duration::from_nanos(missed);
        }
        self.functions.retain(|&f, _| before(f) != CodeState::Full);
        while self.functions.len() > MAX_FUNCTIONS {
            let least = self.functions.iter().min_by_key(|(_, p)| p.below);
            let Some((&least, _)) = least else { break };
            self.functions.remove(&least);
        }
        for (known, &new) in self.per_instruction.iter_mut().zip(&run.per_instruction) {
            if new > 0 {
                *known = new;
            }
        }
        if run.planned {
            self.planned = self.runs;
        }
        self.runs += 1;
        self.wall = self.wall.saturating_add(nanoseconds(run.wall));
        self.cpu = self.cpu.saturating_add(nanoseconds(run.cpu));
        self.waited = self.waited.saturating_add(nanoseconds(run.waited));
        while self.wall > MAX_HISTORY {
            for sum in [
                &mut self.runs,
                &mut self.planned,
                &mut self.wall,
                &mut self.cpu,
                &mut self.waited,
            ] {
                *sum /= 2;
            }
        }
        self.lowered.clone_from(&run.lowered);
        self.lowered.truncate(MAX_FUNCTIONS);
        let lost = run.rows.values().any(|s| s.lost);
        gain >= run.wall / WORTH_PART || !run.waited.is_zero() || lost || run.planned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A program whose runs take 40 ms on two processors. `functions` holds the time below compiled
    /// code and the size of each function.
    struct SimulatedProgram {
        profile: Profile,
        cpus: usize,
        threads: u32,
        functions: Vec<(Duration, u32)>,
        code: Vec<CodeState>,
    }

    /// Returns 2 ms plus 20 us for each instruction, or 40 at the full level.
    fn expected(size: u32, level: Level) -> Duration {
        let per = Duration::from_micros(20) * size;
        MS * 2 + if level == Level::Full { per * 2 } else { per }
    }

    impl SimulatedProgram {
        fn new(cpus: usize, functions: &[(Duration, u32)]) -> SimulatedProgram {
            SimulatedProgram {
                profile: Profile::read(None, functions.len()),
                cpus,
                threads: 2,
                functions: functions.to_vec(),
                code: vec![CodeState::None; functions.len()],
            }
        }

        fn plan(&self) -> Vec<PlannedCompile> {
            let plan = self.profile.plan(&PlanInputs {
                cpus: self.cpus,
                others: &|| 0,
                expected: &|f, level| expected(self.functions[f as usize].1, level),
                code: &|f| self.code[f as usize],
            });
            plan.0
        }

        /// Executes one run that compiles what its plan says. Returns the plan, and whether the run
        /// stored something.
        fn run(&mut self) -> (Vec<PlannedCompile>, bool) {
            let plan = self.plan();
            let before = self.code.clone();
            for start in &plan {
                self.code[start.function as usize] = match start.level {
                    Level::Quick => CodeState::Quick,
                    Level::Full => CodeState::Full,
                };
            }
            let wall = MS * 40;
            let mut run = RunProfile {
                wall,
                cpu: wall * self.threads,
                planned: !plan.is_empty(),
                ..RunProfile::default()
            };
            for (i, &(below, _)) in self.functions.iter().enumerate() {
                let seen = ProfileRow {
                    below,
                    called: true,
                    ..ProfileRow::default()
                };
                if self.code[i] == CodeState::None {
                    run.rows.insert(i as u32, seen);
                }
            }
            let code = self.code.clone();
            let mut next = self.profile.clone();
            let stores = next.add(&run, &|f| before[f as usize], &|f| code[f as usize]);
            if stores {
                self.profile = Profile::read(next.bytes(), self.functions.len());
                assert_eq!(self.profile, next);
            }
            (plan, stores)
        }
    }

    #[test]
    fn the_last_run_says_what_to_lower_ahead() {
        let lowered = |functions: &[u32]| -> Vec<EarlierLowered> {
            let one = |&function| EarlierLowered {
                function,
                warm: function == 1,
            };
            functions.iter().map(one).collect()
        };
        let mut profile = Profile::read(None, 3);
        for functions in [&[2, 0][..], &[1]] {
            let run = RunProfile {
                lowered: lowered(functions),
                ..RunProfile::default()
            };
            profile.add(&run, &|_| CodeState::None, &|_| CodeState::None);
            assert_eq!(Profile::read(profile.bytes(), 3), profile);
            assert_eq!(profile.lowered, lowered(functions));
        }
        // The profile of another module.
        profile.lowered = lowered(&[3]);
        assert_eq!(Profile::read(profile.bytes(), 3).lowered, []);
    }

    #[test]
    fn runs_too_short_to_decide_add_up() {
        // Compiling takes 12 ms, and the start of LLVM 5. Each run spends 3 ms in the function.
        let mut script = SimulatedProgram::new(2, &[(MS * 3, 500), (MS / 10, 500)]);
        for _ in 0..3 {
            assert_eq!(script.run(), (vec![], true));
        }
        let start = PlannedCompile {
            function: 0,
            level: Level::Quick,
            cost: MS * 9,
            price: MS * 12,
            first: true,
            wait: true,
        };
        assert_eq!(script.run().0, [start]);
        // The rest is not worth compiling.
        let (plan, stores) = script.run();
        assert!(plan.is_empty());
        assert!(!stores);
    }

    #[test]
    fn the_third_run_finds_what_two_runs_have_paid_for() {
        // Compiling takes 12 and 8 ms, the start of LLVM 5. Two runs have paid for both, one for
        // none.
        let mut script = SimulatedProgram::new(2, &[(MS * 2, 500), (MS * 5 / 2, 300)]);
        script.run();
        let (plan, _) = script.run();
        assert_eq!(plan.len(), 2);
        assert!(plan.iter().all(|s| s.level == Level::Quick && s.wait));
        assert!(script.run().0.is_empty());
    }

    #[test]
    fn costly_functions_start_at_the_full_level() {
        let mut script = SimulatedProgram::new(2, &[(MS * 100, 500)]);
        script.run();
        let (plan, _) = script.run();
        assert_eq!(plan[0].level, Level::Full);
        assert!(plan[0].wait);
        // No further gain is left.
        let (plan, stores) = script.run();
        assert!(plan.is_empty() && !stores);
    }

    #[test]
    fn compilations_cost_at_most_twice_the_time_that_they_would_have_saved() {
        let sizes = [(MS * 10, 500), (MS * 3, 300), (MS / 2, 60), (MS / 50, 2000)];
        let mut script = SimulatedProgram::new(2, &sizes);
        let (mut below, mut compiling) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..200 {
            let (plan, _) = script.run();
            let mut processors = [Duration::ZERO; 2];
            for s in &plan {
                let least = processors.iter_mut().min().unwrap();
                *least += expected(script.functions[s.function as usize].1, s.level);
            }
            compiling += processors[0].max(processors[1]);
            for (&(time, _), &code) in script.functions.iter().zip(&script.code) {
                below += if code == CodeState::None {
                    time
                } else {
                    Duration::ZERO
                };
                // Time that the full level would save counts as a cost of lower levels.
                below += if code == CodeState::Quick {
                    time / 20
                } else {
                    Duration::ZERO
                };
            }
            assert!(compiling <= below * PAID_PART, "{compiling:?} {below:?}");
        }
        assert!(!script.code[..3].contains(&CodeState::None));
        assert_eq!(script.code[3], CodeState::None);
    }

    #[test]
    fn no_run_becomes_twice_as_long() {
        // Each takes 22 ms, a run 40: two processors compile two of them in 27 ms, three in 49.
        let mut script = SimulatedProgram::new(2, &[(MS * 12, 1000); 5]);
        script.run();
        assert_eq!(script.run().0.len(), 2);
        assert_eq!(script.run().0.len(), 2);
        assert_eq!(script.run().0.len(), 1);
        // One function may take as long as it has cost.
        let mut script = SimulatedProgram::new(2, &[(MS * 30, 4000)]);
        script.run();
        assert_eq!(script.run().0.len(), 0);
        assert_eq!(script.run().0.len(), 1);
    }

    #[test]
    fn later_runs_begin_with_compilations_rarely() {
        // Sixty functions. Each takes a little longer to pay for itself than the one before.
        let sizes: Vec<_> = (0..60).map(|i| (MS / 4, 100 + i * 100)).collect();
        for cpus in [2, 4] {
            let mut script = SimulatedProgram::new(cpus, &sizes);
            let plans: Vec<bool> = (0..40).map(|_| !script.run().0.is_empty()).collect();
            let late = plans.iter().skip(4).filter(|&&began| began).count();
            assert!((1..=3).contains(&late), "{cpus}: {plans:?}");
        }
    }

    #[test]
    fn a_large_gain_is_compiled_in_any_run() {
        let mut script =
            SimulatedProgram::new(2, &[(MS * 10, 300), (MS / 10, 300), (MS * 10, 300)]);
        script.code[2] = CodeState::Full;
        for _ in 0..5 {
            script.run();
        }
        // Another function becomes hot.
        script.code[2] = CodeState::None;
        script.run();
        assert_eq!(script.run().0.first().map(|s| s.function), Some(2));
    }

    #[test]
    fn a_time_is_known_after_two_runs() {
        let mut script = SimulatedProgram::new(2, &[(MS * 10, 9000)]);
        script.run();
        assert_eq!(script.profile.known_time(), None);
        script.run();
        assert_eq!(script.profile.known_time(), Some(MS * 50));
    }

    #[test]
    fn idle_processors_start_earlier_and_the_program_does_not_wait() {
        let mut script =
            SimulatedProgram::new(16, &[(MS * 10, 2000), (MS * 2, 300), (MS / 10, 2000)]);
        script.run();
        let (plan, _) = script.run();
        let what: Vec<_> = plan.iter().map(|s| (s.function, s.level, s.wait)).collect();
        // The second takes 14 ms at the full level.
        assert_eq!(what, [(0, Level::Quick, false), (1, Level::Full, false)]);
        // Other programs may have taken the processors.
        script.code = vec![CodeState::None; 3];
        let at = PlanInputs {
            cpus: 16,
            others: &|| 14,
            expected: &|f, level| expected(script.functions[f as usize].1, level),
            code: &|_| CodeState::None,
        };
        assert!(script.profile.plan(&at).0.is_empty());
    }

    #[test]
    fn one_long_call_is_waited_for() {
        let mut script = SimulatedProgram::new(16, &[(MS * 100, 500)]);
        script.run();
        script.profile.functions.get_mut(&0).unwrap().called = false;
        assert!(script.plan()[0].wait);
        script.profile.functions.get_mut(&0).unwrap().below /= 5;
        assert!(!script.plan()[0].wait);
    }

    #[test]
    fn refused_functions_are_not_tried_again() {
        let mut script = SimulatedProgram::new(2, &[(MS * 100, 500)]);
        script.run();
        script.profile.functions.get_mut(&0).unwrap().refused = true;
        assert!(script.plan().is_empty());
        let (_, stores) = script.run();
        assert!(!stores);
    }

    #[test]
    fn missed_savings_add_up_over_runs() {
        // The full level takes 22 ms, and the start of LLVM 5.
        let mut script = SimulatedProgram::new(1, &[(MS, 500)]);
        script.code[0] = CodeState::Quick;
        let seen = ProfileRow {
            missed: MS * 4,
            ..ProfileRow::default()
        };
        let run = RunProfile {
            wall: MS * 40,
            cpu: MS * 40,
            rows: BTreeMap::from([(0, seen)]),
            ..RunProfile::default()
        };
        for _ in 0..4 {
            assert!(script.plan().is_empty());
            assert!(
                script
                    .profile
                    .add(&run, &|_| CodeState::Quick, &|_| CodeState::Quick)
            );
        }
        let plan = script.plan();
        assert_eq!((plan[0].level, plan[0].wait), (Level::Full, true));
    }

    #[test]
    fn a_lost_compilation_doubles_the_expected_cost() {
        let mut script = SimulatedProgram::new(1, &[(MS * 10, 500)]);
        script.run();
        let price = |s: &SimulatedProgram| s.plan().first().map(|s| s.price);
        let lost = |function| {
            let seen = ProfileRow {
                below: MS * 10,
                lost: true,
                ..ProfileRow::default()
            };
            BTreeMap::from([(function, seen)])
        };
        let run = |seen| RunProfile {
            wall: MS * 40,
            cpu: MS * 40,
            rows: seen,
            ..RunProfile::default()
        };
        let none = |_: u32| CodeState::None;
        for expected in [Some(MS * 12), Some(MS * 24), Some(MS * 48), None] {
            assert_eq!(price(&script), expected);
            assert!(script.profile.add(&run(lost(0)), &none, &none));
        }
    }

    #[test]
    fn waits_at_exit_take_a_fiftieth_of_all_runs() {
        let mut profile = Profile::read(None, 0);
        let mut run = RunProfile {
            wall: MS * 200,
            ..RunProfile::default()
        };
        let none = |_: u32| CodeState::None;
        assert_eq!(profile.allowance(run.wall), MS * 4);
        profile.add(&run, &none, &none);
        assert_eq!(profile.allowance(run.wall), MS * 8);
        run.waited = MS * 7;
        assert!(profile.add(&run, &none, &none));
        assert_eq!(profile.allowance(run.wall), MS * 5);
        // This is the longest wait, however long runs are.
        run = RunProfile {
            wall: MS * 1_000_000,
            ..RunProfile::default()
        };
        profile.add(&run, &none, &none);
        assert_eq!(profile.allowance(Duration::ZERO), MAX_WAIT);
    }

    #[test]
    fn damaged_and_foreign_profiles_are_dropped() {
        let mut script = SimulatedProgram::new(2, &[(MS * 10, 500), (MS, 10)]);
        script.run();
        let good = script.profile.bytes().unwrap();
        assert_ne!(Profile::read(Some(good.clone()), 2), Profile::read(None, 2));
        // From a module with another number of functions.
        assert_eq!(Profile::read(Some(good.clone()), 3), Profile::read(None, 3));
        for len in 0..good.len() {
            let cut = good[..len].to_vec();
            assert_eq!(Profile::read(Some(cut), 2), Profile::read(None, 2), "{len}");
        }
        assert_eq!(
            Profile::read(Some(b"something else".to_vec()), 2),
            Profile::read(None, 2)
        );
    }

    #[test]
    fn a_profile_does_not_grow_without_end() {
        let mut profile = Profile::read(None, MAX_FUNCTIONS * 2);
        let mut run = RunProfile::default();
        for f in 0..MAX_FUNCTIONS as u32 + 10 {
            let below = MS * (f + 1);
            run.rows.insert(
                f,
                ProfileRow {
                    below,
                    ..ProfileRow::default()
                },
            );
        }
        let none = |_: u32| CodeState::None;
        profile.add(&run, &none, &none);
        assert_eq!(profile.functions.len(), MAX_FUNCTIONS);
        assert!(!profile.functions.contains_key(&9) && profile.functions.contains_key(&10));
        assert!(profile.bytes().unwrap().len() < 64 << 10);
    }
}
