//! The shares of a kernel's iterations that members get.
//!
//! Shares are equal at first, as the parts of arrays are. If the members then take different times,
//! since iterations differ or other work slows one down, the borders between the shares move by the
//! measured rates. Borders that do not make the whole faster are taken back: memory of other
//! members may cost more than the balance gains. After [`ATTEMPTS`] such attempts the borders stay.
//! If memory is moved, measurements begin anew. Launches with other numbers of teams, or with other
//! arrays, have shares of their own: they are other loops, or other sizes.
//!
//! A kernel of less than [`LONGEST_ALONE`] is tried on the first member alone, too, and stays there
//! if that is faster. A trial may take many times as long, since the memory of other members is
//! used over the links. Hence only very short kernels are tried soon, and others once many launches
//! pay for it.
//!
//! Members without common memory have equal shares, since moved borders move data. Their kernels of
//! less than [`LONGEST_SEPARATE`] are tried alone, as dividing one costs messages, unless the first
//! member would need much of what others hold.
//!
//! Members whose times mean nothing get other shares in each launch, which tests that results do not
//! depend on them, until a case has had [`VARIED`] launches.
//!
//! Processors that help GPUs begin with a small share ([`HELPING`]), since they may be many times
//! slower. They are tried against the GPUs alone once their share has settled, however long the
//! kernel takes, and give up at once if their rates promise too little. A launch with new borders is
//! not measured there, since it moves data.

use super::distributed::layout::helper;
use crate::device::Device;
use hashbrown::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Relative imbalance at which borders move.
const IMBALANCE: f64 = 0.05;
/// Relative gain that new borders must have.
const GAIN: f64 = 0.01;
/// Number of attempts without a gain.
const ATTEMPTS: u32 = 3;
/// Duration below which times say little.
const SHORTEST: Duration = Duration::from_micros(100);
/// Duration from which a kernel is not tried on one member alone.
const LONGEST_ALONE: Duration = Duration::from_micros(500);
/// The same for members without common memory.
const LONGEST_SEPARATE: Duration = Duration::from_millis(1);
/// Number of launches after which a kernel of more than [`SHORTEST`] is tried there.
const PAID: u32 = 100;
/// Factor by which a launch there takes longer if another one need not be tried.
const HOPELESS: u32 = 4;
/// Number of cases that are told apart.
const MOST_CASES: usize = 64;
/// Number of launches that are measured one after the other, and distance of later measurements:
/// measuring waits for the kernel.
const MEASURED: u32 = 16;
/// Number of launches on the first member alone that are compared with those on all.
const TRIALS: u32 = 2;
/// Number of launches with other shares each.
const VARIED: u32 = 64;
/// Number of launches that are not measured: the first one includes preparations of the driver.
const UNMEASURED: u32 = 1;
/// Part of the iterations that processors beside GPUs begin with.
const HELPING: f64 = 1.0 / 256.0;
/// Factor by which their part grows at most in one step: the first times include preparations.
const GROWTH: f64 = 8.0;
/// Share of the iterations below which they are no help, and number of measurements that must say so:
/// the first one includes preparations.
const HELPFUL: f64 = 0.02;
const UNHELPFUL: u32 = 2;
/// Number of launches after which they are compared with the GPUs alone.
const SETTLED: u32 = 10;
/// The same for kernels of less than [`SHORT`], where they rarely pay.
const SOON: u32 = 3;
const SHORT: Duration = Duration::from_millis(5);

/// Way in which a launch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// True if all members run it; else the first one does.
    pub divided: bool,
    /// True if its time is of interest.
    pub measured: bool,
}

/// The first member alone, compared with all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alone {
    Untried,
    /// Being tried. The first time may include preparations; the shorter one counts.
    Trying {
        launches: u32,
        best: Duration,
    },
    Worse,
    Better,
}

/// Key of similar launches of a kernel: the number of teams, and a hash of the blocks of memory
/// that its parameters lead to.
pub(super) type Case = (u32, u64);

/// The shares of one kernel.
#[derive(Debug)]
pub(super) struct Balances {
    /// First shares of each case.
    first: Balance,
    by_case: HashMap<Case, Balance>,
    /// Number of placements of memory that came before the measurements.
    placements: u64,
}

impl Balances {
    /// Returns the first shares of all launches.
    pub(super) fn of_members(members: &[Arc<dyn Device>], common: bool) -> Balances {
        Balances::new(match helper(members) {
            None => Balance {
                fixed: !common,
                varied: match members[0].predicts_no_speed() {
                    true => VARIED,
                    false => 0,
                },
                ..Balance::new(members.len())
            },
            Some(helper) => Balance::helped(members.len(), helper),
        })
    }

    fn new(first: Balance) -> Balances {
        Balances {
            first,
            by_case: HashMap::new(),
            placements: 0,
        }
    }

    /// Forgets all measurements if memory was moved since: `placements` counts how often it was.
    pub(super) fn follow(&mut self, placements: u64) {
        if self.placements != placements {
            self.placements = placements;
            self.by_case.clear();
        }
    }

    /// Returns the shares of such launches.
    pub(super) fn of(&mut self, case: Case) -> &mut Balance {
        if self.by_case.len() >= MOST_CASES && !self.by_case.contains_key(&case) {
            self.by_case.clear();
        }
        let first = &self.first;
        self.by_case.entry(case).or_insert_with(|| first.clone())
    }
}

/// The shares of one kernel in one case.
#[derive(Clone, Debug)]
pub(super) struct Balance {
    /// The processors that help GPUs.
    helper: Option<usize>,
    /// True if the shares stay equal.
    fixed: bool,
    /// Number of launches that still get other shares each.
    varied: u32,
    /// True if the borders have moved since the latest launch.
    moved: bool,
    /// Relative size of each member's share.
    shares: Vec<f64>,
    /// Best shares so far and the time with them.
    best: Option<(Vec<f64>, Duration)>,
    launches: u32,
    failures: u32,
    /// Number of measurements by which a helper would get less than [`HELPFUL`].
    unhelpful: u32,
    alone: Alone,
    /// State of the generator of varied shares.
    random: u64,
}

impl Balance {
    /// Returns equal shares.
    pub(super) fn new(members: usize) -> Balance {
        Balance {
            helper: None,
            fixed: false,
            varied: 0,
            moved: false,
            shares: vec![1.0 / members as f64; members],
            best: None,
            launches: 0,
            failures: 0,
            unhelpful: 0,
            alone: Alone::Untried,
            random: 1,
        }
    }

    /// Returns equal shares but for the member of that index, which helps the others.
    fn helped(members: usize, helper: usize) -> Balance {
        let mut balance = Balance::new(members);
        let others = (members - 1) as f64;
        balance.shares.fill((1.0 - HELPING) / others);
        balance.shares[helper] = HELPING;
        balance.helper = Some(helper);
        balance
    }

    /// Returns the borders of the next launch as fractions of 2^64: the beginning of each share,
    /// and 0 for the end of the last one.
    pub(super) fn borders(&self) -> Vec<u64> {
        let mut sum = 0.0;
        let mut borders = vec![0];
        for share in &self.shares[..self.shares.len() - 1] {
            sum += share;
            borders.push(fraction(sum));
        }
        borders.push(0);
        borders
    }

    /// Plans a launch.
    pub(super) fn begin(&mut self) -> Plan {
        if self.varied > 0 {
            self.varied -= 1;
            return self.vary();
        }
        if self.launches == 0 && self.random != 1 {
            let equal = 1.0 / self.shares.len() as f64;
            self.shares.fill(equal);
        }
        self.launches = self.launches.saturating_add(1);
        if self.alone == Alone::Better {
            return Plan {
                divided: false,
                measured: false,
            };
        }
        let takes_less = |than| self.best.as_ref().is_some_and(|(_, time)| *time < than);
        let due = match self.helper {
            Some(_) if takes_less(SHORT) => self.launches > SOON,
            Some(_) => self.launches > SETTLED,
            None if self.fixed => takes_less(LONGEST_SEPARATE) && self.launches > UNMEASURED + 1,
            None if takes_less(SHORTEST) => self.launches > UNMEASURED + 1,
            None => takes_less(LONGEST_ALONE) && self.launches > PAID,
        };
        if self.alone == Alone::Untried && due {
            self.alone = Alone::Trying {
                launches: 0,
                best: Duration::MAX,
            };
        }
        if let Alone::Trying { .. } = self.alone {
            return Plan {
                divided: false,
                measured: true,
            };
        }
        let (soon, late) = match self.helper {
            None => (self.launches <= UNMEASURED, UNMEASURED + MEASURED),
            Some(_) => (std::mem::take(&mut self.moved), 2 * MEASURED),
        };
        let measured = !soon
            && self.failures < ATTEMPTS
            && (self.launches <= late || self.launches.is_multiple_of(MEASURED));
        Plan {
            divided: true,
            measured,
        }
    }

    /// Plans a launch on all members in place of one that was to try the first one, and no further
    /// ones of that kind.
    pub(super) fn refuse_alone(&mut self) -> Plan {
        self.alone = Alone::Worse;
        Plan {
            divided: true,
            measured: false,
        }
    }

    /// Plans a launch with other shares than the one before, or on the first member alone.
    fn vary(&mut self) -> Plan {
        for share in &mut self.shares {
            self.random = self
                .random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            *share = (self.random >> 40) as f64 + 1.0;
        }
        normalize(&mut self.shares);
        Plan {
            divided: self.random >> 61 != 0,
            measured: false,
        }
    }

    /// Takes the times of a launch into account: that of the whole, and that of each member.
    pub(super) fn measured(&mut self, whole: Duration, times: &[Duration]) {
        let least = times.iter().copied().min().unwrap_or_default();
        let most = times.iter().copied().max().unwrap_or_default();
        if let Alone::Trying { launches, best } = self.alone {
            let best = best.min(whole);
            let divided = self.best.as_ref().map_or(Duration::MAX, |(_, time)| *time);
            let hopeless = best > divided.saturating_mul(HOPELESS);
            self.alone = if launches + 1 < TRIALS && !hopeless {
                let launches = launches + 1;
                Alone::Trying { launches, best }
            } else if best < divided {
                Alone::Better
            } else {
                Alone::Worse
            };
            return;
        }
        // The launch could not be divided.
        if times.len() < self.shares.len() {
            return;
        }
        if let Some(helper) = self.helper {
            self.unhelpful += u32::from(rated(&self.shares, times)[helper] < HELPFUL);
            if self.unhelpful >= UNHELPFUL {
                self.alone = Alone::Better;
                return;
            }
        }
        match &self.best {
            Some((shares, time)) if whole.as_secs_f64() > time.as_secs_f64() * (1.0 - GAIN) => {
                if *shares != self.shares {
                    self.failures += 1;
                    self.shares = shares.clone();
                    self.moved = true;
                    return;
                }
            }
            _ => self.best = Some((self.shares.clone(), whole)),
        }
        if self.fixed {
            return;
        }
        let balanced = least.as_secs_f64() > most.as_secs_f64() * (1.0 - IMBALANCE);
        if balanced || most < SHORTEST {
            return;
        }
        let before = std::mem::take(&mut self.shares);
        self.shares = rated(&before, times);
        if let Some(helper) = self.helper {
            let (share, most) = (self.shares[helper], GROWTH * before[helper]);
            if share > most {
                let rest = (1.0 - most) / (1.0 - share);
                self.shares.iter_mut().for_each(|share| *share *= rest);
                self.shares[helper] = most;
            }
        }
        self.moved = true;
    }
}

/// Returns the shares with which members take the same time, which take `times` with these ones.
fn rated(shares: &[f64], times: &[Duration]) -> Vec<f64> {
    let each = shares.iter().zip(times);
    let mut rates: Vec<f64> = each.map(|(s, t)| s / t.as_secs_f64().max(1e-9)).collect();
    normalize(&mut rates);
    rates
}

/// Makes the sum of shares 1.
fn normalize(shares: &mut [f64]) {
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
}

/// Returns a number between 0 and 1 as a fraction of 2^64.
fn fraction(number: f64) -> u64 {
    // Conversions saturate, and 0 would mean the end of the loop.
    ((number * 2f64.powi(64)) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(times: &[u64]) -> Vec<Duration> {
        times.iter().map(|&t| Duration::from_millis(t)).collect()
    }

    #[test]
    fn offload_group_shares_follow_the_members_rates() {
        let mut balance = Balance::new(2);
        assert_eq!(balance.borders(), [0, 1 << 63, 0]);
        assert!(!balance.begin().measured && balance.begin().measured);
        balance.measured(Duration::from_millis(30), &millis(&[10, 30]));
        let three_quarters = |borders: &[u64]| (borders[1] >> 48).abs_diff(0xc000) <= 1;
        assert!(three_quarters(&balance.borders()));
        // It took less time, so the new shares stay.
        balance.measured(Duration::from_millis(15), &millis(&[15, 15]));
        assert!(three_quarters(&balance.borders()));
    }

    #[test]
    fn offload_group_shares_that_gain_nothing_are_taken_back() {
        let mut balance = Balance::new(2);
        balance.begin();
        for _ in 0..ATTEMPTS {
            assert!(balance.begin().measured);
            balance.measured(Duration::from_millis(20), &millis(&[10, 20]));
            assert_ne!(balance.borders(), [0, 1 << 63, 0]);
            balance.begin();
            balance.measured(Duration::from_millis(25), &millis(&[25, 25]));
            assert_eq!(balance.borders(), [0, 1 << 63, 0]);
        }
        assert!(!balance.begin().measured);
    }

    #[test]
    fn offload_group_short_kernels_stay_on_one_member_if_that_is_faster() {
        for (alone, divided) in [(20, false), (40, true)] {
            let micros = Duration::from_micros;
            let mut balance = Balance::new(2);
            balance.begin();
            assert!(balance.begin().divided);
            balance.measured(micros(35), &[micros(30), micros(30)]);
            for preparing in [100, 0] {
                let trial = balance.begin();
                assert!(!trial.divided && trial.measured);
                let time = micros(alone + preparing);
                balance.measured(time, &[time]);
            }
            assert_eq!(balance.begin().divided, divided);
        }
        // A trial that takes far longer is the only one.
        let mut balance = Balance::new(2);
        balance.begin();
        assert!(balance.begin().divided);
        balance.measured(Duration::from_micros(90), &millis(&[0, 0]));
        assert!(!balance.begin().divided);
        balance.measured(Duration::from_micros(900), &millis(&[1]));
        assert!(balance.begin().divided);
        // One that takes longer is tried once many launches have paid for it.
        let mut balance = Balance::new(2);
        for launch in 1..=PAID {
            let plan = balance.begin();
            assert!(plan.divided);
            if plan.measured && launch <= MEASURED {
                let micros = Duration::from_micros(300);
                balance.measured(micros, &[micros, micros]);
            }
        }
        assert!(!balance.begin().divided);
        // A long kernel is not tried. Another size is another loop.
        let mut balances = Balances::new(Balance::new(2));
        balances.of((8, 0)).begin();
        balances.of((8, 0)).begin();
        balances
            .of((8, 0))
            .measured(Duration::from_millis(3), &millis(&[3, 3]));
        for _ in 0..4 {
            assert!(balances.of((8, 0)).begin().divided && balances.of((9, 0)).begin().divided);
        }
    }

    #[test]
    fn offload_group_shares_of_separate_members_stay_equal() {
        let mut balance = Balance {
            fixed: true,
            ..Balance::new(2)
        };
        balance.begin();
        assert!(balance.begin().measured);
        balance.measured(Duration::from_micros(900), &millis(&[1, 3]));
        assert_eq!(balance.borders(), [0, 1 << 63, 0]);
        // A trial of the first member is due, and may be refused.
        assert!(!balance.begin().divided);
        assert!(balance.refuse_alone().divided && balance.begin().divided);
    }

    #[test]
    fn offload_group_shares_without_speed_vary_at_first() {
        let mut balance = Balance {
            varied: VARIED,
            ..Balance::new(2)
        };
        let plans: Vec<Plan> = (0..VARIED).map(|_| balance.begin()).collect();
        let divided = plans.iter().filter(|plan| plan.divided).count();
        assert!(divided > 40 && divided < plans.len());
        assert_ne!(balance.borders(), [0, 1 << 63, 0]);
        assert!(balance.begin().divided);
        assert_eq!(balance.borders(), [0, 1 << 63, 0]);
    }

    #[test]
    fn offload_group_processors_begin_with_a_small_share_and_grow() {
        let mut balance = Balance::helped(2, 1);
        let share = |balance: &Balance| 1.0 - balance.borders()[1] as f64 / 2f64.powi(64);
        assert!((share(&balance) - HELPING).abs() < 1e-6);
        assert!(balance.begin().measured);
        // They would compute a fifth of it in the same time.
        balance.measured(Duration::from_millis(51), &millis(&[51, 1]));
        assert!((share(&balance) - GROWTH * HELPING).abs() < 1e-6);
        // The launch with new borders moves data.
        assert!(!balance.begin().measured && balance.begin().measured);
        balance.measured(Duration::from_millis(50), &millis(&[50, 8]));
        assert!(share(&balance) > 0.16 && share(&balance) < 0.18);
        assert!(!balance.begin().measured && balance.begin().measured);
        balance.measured(Duration::from_millis(43), &millis(&[43, 43]));
        while balance.launches < SETTLED {
            assert!(balance.begin().divided);
        }
        // The GPU alone takes longer, so they go on.
        for _ in 0..TRIALS {
            assert!(!balance.begin().divided);
            balance.measured(Duration::from_millis(64), &millis(&[64]));
        }
        assert!(balance.begin().divided);
        // A launch that ran on one member after all says nothing.
        balance.measured(Duration::from_millis(10), &millis(&[10]));
        // A hundredth is no help.
        let mut balance = Balance::helped(2, 1);
        assert!(balance.begin().divided);
        balance.measured(Duration::from_millis(40), &millis(&[10, 40]));
        assert!(!balance.begin().measured && balance.begin().divided);
        balance.measured(Duration::from_millis(10), &millis(&[10, 10]));
        assert!(!balance.begin().divided);
    }
}
