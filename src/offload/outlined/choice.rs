//! Host or device, from times alone: no clock, no device, no program.
//!
//! The promise: what is lost by trying is at most a [`SHARE`]th of what the host would have taken. So all
//! regions of a program share a [`Ledger`], which holds the host's time and what was lost, and a trial must
//! fit into what is left. How a region is decided ([`Measured`]):
//!
//! - It runs on the host until a trial is affordable: copies of what the device lacks and of what is to come
//!   back, at the speed that was measured, the start of a kernel, and, with few iterations, what a GPU's
//!   slow threads cost.
//! - It stays on the device while its runs, with all that belongs to them, are not slower than on the host.
//! - What the host took is trusted less the longer ago that was: at first its code may not have been
//!   compiled. So the host is measured again now and then, each time with some runs, of which the fastest
//!   counts: the first has data to fetch. Each time that confirms the device it is twice as long until the
//!   next.
//! - A region that was slower on the device is tried again, each time later.
//!
//! What not: gains are not booked. They rest on what the host is believed to take, which may be wrong.

/// The part of the host's time that may be lost.
pub(super) const SHARE: u64 = 20;
/// A region that is shorter, in nanoseconds, stays on the host.
pub(super) const SHORT: u64 = 40_000;
/// What a trial is expected to take beside copies, in nanoseconds.
pub(super) const TRIAL: u64 = 1_000_000;
/// Runs on the host before anything else is thought of.
const FIRST: u64 = 2;
/// Runs on the device after which its time is compared.
const WINDOW: u64 = 64;
/// Runs on the device before the host is measured again.
const LEAST: u64 = 8;
/// Runs on the host that measure it again, at least.
const AGAIN: u32 = 3;
/// How many times what that costs the device ran, before the first time.
const EARLY: u64 = 4;
/// How often the device counts as slower where an earlier run of the program found it so.
const DOUBTS: u32 = 4;
/// How much slower a thread of a GPU is than one of the host, and how many of them run at once. An H200 took 44
/// to 225 times as long as a core for the iterations of the solvers of NAS BT and SP, a hundred of them.
const SLOWER: u64 = 128;
const AT_ONCE: u64 = 1 << 16;

/// What all regions took together, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ledger {
    /// What the host took, or would have taken at least.
    pub host: u64,
    /// What was lost against that.
    pub lost: u64,
}

impl Ledger {
    pub fn affords(&self, cost: u64) -> bool {
        (self.lost + cost).saturating_mul(SHARE) <= self.host
    }
}

/// Bytes that a run on the other side moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moves {
    /// The device lacks them.
    pub to: u64,
    /// It writes them.
    pub from: u64,
    /// The host lacks them.
    pub away: u64,
}

/// Where the next run is best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// On the host, for a reason.
    Host(&'static str),
    /// On the device.
    Device,
    /// On the device for the first time, if that is affordable.
    Trial,
    /// On the host to measure it again, if that is affordable.
    Again,
}

/// Times of a region, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    /// Runs on the host, and what one is believed to take.
    host: (u64, u64),
    /// The host's time since the device was tried last.
    since: u64,
    /// Whether the region runs on the device now.
    pub there: bool,
    /// Runs there, and what one takes of late; those that brought the data there do not count.
    device: (u64, u64),
    /// The next run there brings data.
    moving: bool,
    /// What the first run there took, with all that it brought.
    first: u64,
    /// What runs there took longer than on the host, and how much of that may be.
    excess: u64,
    allowance: u64,
    /// The device's runs and time since the host was measured last.
    away: (u64, u64),
    /// Runs left that measure the host again, and the fastest so far.
    again: u32,
    fastest: u64,
    /// How often that confirmed the device.
    confirmed: u32,
    /// How often the device was found slower.
    lost: u32,
    /// What a run on the device took in an earlier run of the program, until it is tried; else 0.
    hope: u64,
    /// Runs on either side.
    runs: u64,
    /// What a trial, or measuring the host again, was last found to cost: to look at the data costs
    /// something, too.
    dear: u64,
}

impl Measured {
    /// What earlier runs of the program found: what a run takes on the host and, unless 0, on the device.
    pub fn known(host: u64, device: u64) -> Measured {
        Measured {
            host: (FIRST, host),
            // That may pay for a trial where the region runs only once.
            since: if device == 0 { host } else { 0 },
            hope: device,
            lost: if device > host { DOUBTS } else { 0 },
            ..Measured::default()
        }
    }

    /// Whether earlier runs of the program say that the device is faster, and it was not tried since.
    pub fn hopes(&self) -> bool {
        self.hope > 0 && self.hope < self.host.1 / 5 * 4
    }

    /// What a run takes on the host and on the device, where that is known, and what all runs of this
    /// process take less on the device, wherever they were.
    pub fn outcome(&self) -> Option<(u64, u64, u64)> {
        let host = self.host.1;
        let known = [self.device.1, self.first, self.hope];
        let device = known.into_iter().find(|&d| d > 0).unwrap_or(0);
        let gain = if device > 0 {
            host.saturating_sub(device)
        } else {
            0
        };
        (self.host.0 > 0).then_some((host, device, gain.saturating_mul(self.runs)))
    }

    /// What to do next, as far as that can be said without looking at the data.
    pub fn choose(&self, ledger: &Ledger) -> Choice {
        if self.there {
            if self.again > 0 {
                return Choice::Host("the host is measured again");
            }
            let gap = self.host.1.abs_diff(self.device.1);
            return match self.away.0 >= LEAST && self.may_measure(gap.max(self.dear)) {
                true => Choice::Again,
                false => Choice::Device,
            };
        }
        if self.host.0 >= FIRST && self.host.1 < SHORT {
            return Choice::Host("it is too short for a device");
        }
        if self.hopes() {
            return Choice::Trial;
        }
        if self.host.0 >= FIRST && self.may_try(ledger, self.dear.max(TRIAL)) {
            return Choice::Trial;
        }
        self.waits()
    }

    /// Why a run that could be elsewhere is on the host.
    pub fn waits(&self) -> Choice {
        Choice::Host(match self.lost {
            0 => "it has not taken long enough for a trial on the device",
            _ => "the device was slower",
        })
    }

    /// The host's time since the device was tried, or the device's since the host was measured.
    pub fn time(&self) -> u64 {
        if self.there { self.away.1 } else { self.since }
    }

    /// What was just found out was too dear: nobody is to look again before so much is affordable.
    pub fn refuse(&mut self, cost: u64) {
        self.dear = cost;
    }

    /// What a trial is expected to take longer than the host, with copies at so many bytes in a microsecond.
    pub fn trial(&self, moves: Moves, speed: u64, trips: Option<u64>, threads: u64) -> u64 {
        let copies = (moves.to + moves.from).saturating_mul(1000) / speed.max(1);
        let slow = trips.map_or(0, |trips| {
            let alone = self.host.1.saturating_mul(threads * SLOWER);
            (alone / trips.clamp(1, AT_ONCE)).saturating_sub(self.host.1)
        });
        TRIAL + copies + slow.max(self.hope.saturating_sub(self.host.1))
    }

    /// Whether a trial that may lose so much can be made.
    pub fn may_try(&self, ledger: &Ledger, cost: u64) -> bool {
        if self.hopes() {
            return true;
        }
        // Each time that the device was slower it waits longer.
        self.since >= cost.saturating_mul(1 << self.lost.min(20)) && ledger.affords(cost)
    }

    /// What measuring the host again takes longer than going on.
    pub fn measuring(&self, moves: Moves, speed: u64) -> u64 {
        let copies = (moves.to + moves.from + moves.away).saturating_mul(1000) / speed.max(1);
        copies + self.host.1.abs_diff(self.device.1)
    }

    /// Whether the host may be measured again for so much.
    pub fn may_measure(&self, cost: u64) -> bool {
        // Against the host nothing is lost by it.
        let enough = cost.saturating_mul(EARLY);
        self.away.1 >= enough.saturating_mul(1 << self.confirmed.min(20))
    }

    /// Begins to measure the host again.
    pub fn measure(&mut self) {
        self.again = AGAIN;
        self.dear = 0;
        self.fastest = u64::MAX;
    }

    /// A run on the host took so long.
    pub fn on_host(&mut self, time: u64, ledger: &mut Ledger) {
        ledger.host += time;
        self.runs += 1;
        if !self.there {
            self.since += time;
            let (runs, believed) = self.host;
            // A faster run says more than a slower one: what compiles, or fills caches, does so once.
            let value = match (runs, time < believed) {
                (0, _) => time,
                (_, true) => believed - (believed - time).div_ceil(2),
                (_, false) => believed + (time - believed) / 8,
            };
            self.host = (runs + 1, value);
            return;
        }
        // Times that still fall are not the last word.
        if self.fastest != u64::MAX && time < self.fastest / 4 * 3 {
            self.again = self.again.max(2);
        }
        self.fastest = self.fastest.min(time);
        self.again = self.again.saturating_sub(1);
        if self.again == 0 {
            self.settle(ledger);
        }
    }

    /// The host was measured again.
    fn settle(&mut self, ledger: &mut Ledger) {
        let before = self.host.1;
        self.host.1 = self.fastest;
        self.moving = true;
        let (runs, _) = std::mem::take(&mut self.away);
        if self.fastest < self.device.1 {
            // So much was lost meanwhile, unknown.
            ledger.lost += (self.device.1 - self.fastest).saturating_mul(runs);
            self.back();
        } else if self.fastest < before / 4 * 3 {
            self.confirmed = 0;
        } else {
            self.confirmed += 1;
        }
    }

    /// The device is tried: it may lose so much.
    pub fn begin(&mut self, cost: u64) {
        let known = self.hopes();
        self.there = true;
        self.dear = 0;
        self.moving = true;
        self.device = (0, 0);
        self.first = 0;
        self.excess = 0;
        self.allowance = if known { cost.max(self.window()) } else { cost };
        self.hope = 0;
        self.away = (0, 0);
        self.confirmed = 0;
    }

    /// A run on the device took so long, `kernel` of it in the kernel.
    pub fn on_device(&mut self, time: u64, kernel: u64, ledger: &mut Ledger) {
        let host = self.host.1;
        ledger.host += time.min(host);
        self.runs += 1;
        self.away = (self.away.0 + 1, self.away.1 + time);
        if std::mem::take(&mut self.moving) {
            if self.first == 0 {
                self.first = time;
            }
        } else {
            let (runs, mean) = self.device;
            let value = match runs {
                0 => time,
                _ if time < mean => mean - (mean - time) / 8,
                _ => mean + (time - mean) / 8,
            };
            self.device = (runs + 1, value);
        }
        let before = self.excess;
        self.excess = (before + time).saturating_sub(host);
        // What it gains makes good for its own losses alone.
        ledger.lost = (ledger.lost + self.excess).saturating_sub(before);
        let ends = self.device.0 > 0 && self.device.0.is_multiple_of(WINDOW);
        // Copies may have been the last, kernels never are.
        let hopeless = self.device.0 <= 1 && kernel / 2 > host;
        if hopeless && self.device.0 == 0 {
            self.device = (1, kernel);
        }
        if hopeless || self.excess > self.allowance || ends && self.device.1 > host {
            self.back();
        } else if ends {
            self.excess = 0;
            self.allowance = self.window();
        }
    }

    /// What a window of runs on the device may take longer than on the host.
    fn window(&self) -> u64 {
        self.host.1.saturating_mul(WINDOW) / SHARE
    }

    /// To the host again.
    pub fn back(&mut self) {
        self.there = false;
        self.dear = 0;
        self.again = 0;
        self.lost += 1;
        self.since = 0;
        self.excess = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const US: u64 = 1_000;
    /// Bytes in a microsecond: 50 GB/s.
    const SPEED: u64 = 50_000;

    /// A machine whose times are scripted.
    struct Machine<'a> {
        measured: Measured,
        ledger: Ledger,
        /// By the runs that the host had, and the time that has passed.
        host: &'a dyn Fn(u64, u64) -> u64,
        device: &'a dyn Fn(u64) -> u64,
        data: Moves,
        /// Whether the data is on the device.
        resident: bool,
        host_runs: u64,
        device_runs: u64,
        passed: u64,
    }

    impl<'a> Machine<'a> {
        fn new(
            host: &'a dyn Fn(u64, u64) -> u64,
            device: &'a dyn Fn(u64) -> u64,
            data: Moves,
        ) -> Machine<'a> {
            Machine {
                measured: Measured::default(),
                ledger: Ledger::default(),
                host,
                device,
                data,
                resident: false,
                host_runs: 0,
                device_runs: 0,
                passed: 0,
            }
        }

        fn copy(bytes: u64) -> u64 {
            bytes * 1000 / SPEED
        }

        fn run(&mut self) {
            let moves = match self.resident {
                true => Moves {
                    to: 0,
                    from: self.data.from,
                    away: self.data.from,
                },
                false => self.data,
            };
            let mut choice = self.measured.choose(&self.ledger);
            if choice == Choice::Trial {
                let cost = self.measured.trial(moves, SPEED, Some(1 << 20), 16);
                choice = match self.measured.may_try(&self.ledger, cost) {
                    true => {
                        self.measured.begin(cost);
                        Choice::Device
                    }
                    false => {
                        self.measured.refuse(cost);
                        self.measured.waits()
                    }
                };
            }
            if choice == Choice::Again {
                let cost = self.measured.measuring(moves, SPEED);
                choice = match self.measured.may_measure(cost) {
                    true => {
                        self.measured.measure();
                        Choice::Host("")
                    }
                    false => {
                        self.measured.refuse(cost);
                        Choice::Device
                    }
                };
            }
            let mut time = 0;
            if choice == Choice::Device {
                if !self.resident {
                    time += Self::copy(self.data.to);
                }
                self.resident = true;
                let kernel = (self.device)(self.device_runs);
                time += kernel;
                self.device_runs += 1;
                self.measured.on_device(time, kernel, &mut self.ledger);
            } else {
                if self.resident {
                    time += Self::copy(self.data.from);
                }
                self.resident = false;
                time += (self.host)(self.host_runs, self.passed);
                self.host_runs += 1;
                self.measured.on_host(time, &mut self.ledger);
            }
            self.passed += time;
        }
    }

    #[test]
    fn outlined_short_regions_stay_on_the_host() {
        let mut m = Machine::new(&|_, _| SHORT / 2, &|_| 1, Moves::default());
        for _ in 0..100_000 {
            m.run();
        }
        assert_eq!(m.device_runs, 0);
    }

    #[test]
    fn outlined_a_slower_device_costs_a_twentieth() {
        for (host, device) in [(MS, 3 * MS), (MS, MS * 6 / 5), (50 * US, 70 * US)] {
            let host_time = move |_, _| host;
            let device_time = move |_| device;
            let mut m = Machine::new(&host_time, &device_time, Moves::default());
            let runs = 2_000_000 * US / host;
            for _ in 0..runs {
                m.run();
            }
            let limit = host * runs * 21 / 20;
            assert!(m.passed <= limit, "{host} {device}: {} > {limit}", m.passed);
            assert!(!m.measured.there || m.device_runs < runs / 10);
        }
    }

    #[test]
    fn outlined_a_faster_device_is_kept_and_left_when_it_gets_slow() {
        let slow = std::cell::Cell::new(false);
        let device = |_| if slow.get() { 2 * MS } else { MS / 100 };
        let data = Moves {
            to: 200_000_000,
            ..Moves::default()
        };
        let mut m = Machine::new(&|_, _| MS, &device, data);
        while !m.measured.there {
            m.run();
        }
        // 4 ms of copies and the kernel's start, of which a twentieth may be lost.
        assert_eq!(m.host_runs, 5 * SHARE);
        for _ in 0..20_000 {
            m.run();
        }
        assert!(m.measured.there);
        assert!(m.device_runs > 19_950, "{}", m.device_runs);
        slow.set(true);
        for _ in 0..2 * WINDOW {
            m.run();
        }
        assert!(!m.measured.there);
    }

    #[test]
    fn outlined_the_host_is_measured_again_when_its_code_is_compiled() {
        // What an interpreter takes, and the compiled code from the 14th run on, or after 50 ms.
        let by_runs = |runs: u64, _| if runs < 14 { 2700 * US } else { 2800 };
        let by_time = |_, passed: u64| if passed < 50 * MS { 2700 * US } else { 2800 };
        let scripts: [&dyn Fn(u64, u64) -> u64; 2] = [&by_runs, &by_time];
        for host in scripts {
            let mut m = Machine::new(host, &|_| 13 * US, Moves::default());
            for _ in 0..1_000_000 {
                m.run();
            }
            assert!(!m.measured.there);
            assert!(m.device_runs < 20_000, "{}", m.device_runs);
        }
    }

    #[test]
    fn outlined_trust_in_the_device_grows() {
        let mut m = Machine::new(&|_, _| 10 * MS, &|_| 100 * US, Moves::default());
        for _ in 0..1_000_000 {
            m.run();
        }
        // 100 s on the device: measured some times, each with three runs of 10 ms.
        assert!(m.host_runs < 60, "{}", m.host_runs);
        assert!(m.host_runs > 20, "{}", m.host_runs);
    }

    #[test]
    fn outlined_a_stream_of_a_gigabyte_is_tried_within_a_second() {
        // Two arrays are read, one is written; 100 GB/s on the host.
        let data = Moves {
            to: 1 << 30,
            from: 1 << 29,
            away: 0,
        };
        let mut m = Machine::new(&|_, _| 16 * MS, &|_| MS / 2, data);
        while !m.measured.there {
            m.run();
        }
        assert!(m.passed < 700 * MS, "{}", m.passed);
        let reading = Moves { from: 0, ..data };
        let mut m = Machine::new(&|_, _| 16 * MS, &|_| MS / 2, reading);
        while !m.measured.there {
            m.run();
        }
        assert!(m.passed < 500 * MS, "{}", m.passed);
    }

    #[test]
    fn outlined_data_that_goes_to_and_fro_ends_on_the_host() {
        // The host looks at the results each time: it is in the device's time.
        let back = Machine::copy(1 << 29);
        let device = move |_| back + MS;
        let data = Moves {
            to: 1 << 29,
            from: 1 << 29,
            away: 0,
        };
        let mut m = Machine::new(&|_, _| 6 * MS, &device, data);
        for _ in 0..10_000 {
            m.run();
        }
        assert!(!m.measured.there);
        assert!(m.passed <= 10_000 * 6 * MS * 21 / 20, "{}", m.passed);
    }

    #[test]
    fn outlined_regions_share_what_may_be_lost() {
        let mut ledger = Ledger {
            host: 2 * SHARE * MS,
            lost: 0,
        };
        let mut m = Measured::default();
        for _ in 0..3 {
            m.on_host(MS / 2, &mut ledger);
        }
        // 1.5 ms are enough where other regions took long.
        assert_eq!(m.choose(&ledger), Choice::Trial);
        ledger.lost += 2 * MS;
        assert_ne!(m.choose(&ledger), Choice::Trial);
    }

    #[test]
    fn outlined_what_earlier_runs_found_is_believed_until_it_is_measured() {
        // Much faster there: at once, whatever may be lost.
        let mut m = Machine::new(&|_, _| 10 * MS, &|_| MS, Moves::default());
        m.measured = Measured::known(10 * MS, MS);
        for _ in 0..100 {
            m.run();
        }
        assert!(m.host_runs <= 6, "{}", m.host_runs);
        assert_eq!(m.measured.outcome(), Some((10 * MS, MS, 900 * MS)));
        // It is slow today: that is found out within a window's losses.
        let mut m = Machine::new(&|_, _| 10 * MS, &|_| 100 * MS, Moves::default());
        m.measured = Measured::known(10 * MS, MS);
        for _ in 0..100 {
            m.run();
        }
        assert_eq!((m.device_runs, m.measured.there), (1, false));
        // It was slower: later than without that knowledge.
        let mut m = Machine::new(&|_, _| 10 * MS, &|_| 20 * MS, Moves::default());
        m.measured = Measured::known(10 * MS, 20 * MS);
        assert!(!m.measured.hopes());
        while m.device_runs == 0 {
            m.run();
        }
        assert!(m.host_runs >= 22, "{}", m.host_runs);
        assert_eq!(m.measured.outcome().map(|o| o.2), Some(0));
    }

    #[test]
    fn outlined_a_region_that_runs_once_is_tried_and_known_in_the_next_run() {
        let mut ledger = Ledger::default();
        // It was timed before there were kernels.
        let mut m = Measured::known(2700 * MS, 0);
        ledger.host = 2700 * MS;
        assert_eq!(m.choose(&ledger), Choice::Trial);
        assert!(m.may_try(&ledger, m.trial(Moves::default(), SPEED, Some(16384), 16)));
        m.begin(TRIAL);
        m.on_device(100 * MS, 90 * MS, &mut ledger);
        let (host, device, won) = m.outcome().unwrap();
        assert_eq!((host, device, won), (2700 * MS, 100 * MS, 2600 * MS));
        let next = Measured::known(host, device);
        assert!(next.hopes());
        assert_eq!(next.choose(&Ledger::default()), Choice::Trial);
        // Slower than the host, it is not.
        let mut m = Measured::known(200 * MS, 0);
        m.begin(TRIAL);
        m.on_device(500 * MS, 490 * MS, &mut ledger);
        let (host, device, _) = m.outcome().unwrap();
        assert!(!Measured::known(host, device).hopes());
    }

    #[test]
    fn outlined_few_iterations_make_a_trial_dear() {
        let mut m = Measured::default();
        let mut ledger = Ledger::default();
        m.on_host(MS, &mut ledger);
        let none = Moves::default();
        let many = m.trial(none, SPEED, Some(1 << 20), 16);
        assert_eq!(many, TRIAL);
        assert_eq!(m.trial(none, SPEED, None, 16), TRIAL);
        let few = m.trial(none, SPEED, Some(16), 16);
        assert_eq!(few, TRIAL + (SLOWER - 1) * MS);
    }
}
