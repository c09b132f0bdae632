//! Chooses between host and device for one region, from times alone.
//!
//! Trials on the device may lose at most one [`SHARE`]th of the time that the host would have
//! taken. To enforce this, all regions of a program share a [`Ledger`] of host time and losses, and
//! a trial must fit into the remaining budget. [`Measured`] decides for a region:
//!
//! - A region runs on the host until a trial is affordable. Its cost consists of the copies to and
//!   from the device at the measured bandwidth, the start of a kernel, and, for few iterations, the
//!   low speed of a single GPU thread.
//! - It stays on the device while its runs, with all their costs, are not slower than on the host.
//! - The host is re-timed at growing intervals, because its first measurement may have been of
//!   interpreted code. Each re-timing takes several runs, of which the fastest counts, since the
//!   first one has to fetch data. Whenever it confirms the device, the interval doubles.
//! - A region that was slower on the device is tried again later, with growing delays.
//!
//! Gains do not extend the budget, because they depend on an assumed host time that may be wrong.

/// Inverse of the share of the host's time that may be lost.
pub(super) const SHARE: u64 = 20;
/// Regions shorter than this, in nanoseconds, stay on the host.
pub(super) const SHORT: u64 = 40_000;
/// Expected cost of a trial without copies, in nanoseconds.
pub(super) const TRIAL: u64 = 1_000_000;
/// Minimum number of host runs before a trial.
const FIRST: u64 = 2;
/// Number of device runs between comparisons with the host.
const WINDOW: u64 = 64;
/// Minimum number of device runs before the host is re-timed.
const LEAST: u64 = 8;
/// Minimum number of host runs of a re-timing.
const AGAIN: u32 = 3;
/// Re-time the host once the device has run for this many times the cost of re-timing.
const EARLY: u64 = 4;
/// Assumed number of failed trials if an earlier run of the program found the device slower.
const DOUBTS: u32 = 4;
/// Time of a GPU thread relative to a host thread, and number of GPU threads that run at once.
/// Loops with few, long iterations leave most of a GPU idle.
const SLOWER: u64 = 128;
const AT_ONCE: u64 = 1 << 16;

/// Total times of all regions, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ledger {
    /// Host time, plus a lower bound of the time that device runs would have taken on the host.
    pub host: u64,
    /// Time lost by trials, compared to the host.
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
    /// Bytes to copy to the device.
    pub to: u64,
    /// Bytes that the kernel writes.
    pub from: u64,
    /// Bytes that the host lacks.
    pub away: u64,
}

/// Decision for the next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Run on the host, with the reason.
    Host(&'static str),
    /// Run on the device.
    Device,
    /// Try the device, if affordable.
    Trial,
    /// Re-time the host, if affordable.
    Again,
}

/// Measurements of a region, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    /// Number of host runs, and estimated time of one.
    host: (u64, u64),
    /// Host time since the last trial.
    since: u64,
    /// True if the region currently runs on the device.
    pub there: bool,
    /// Number of device runs and recent mean time, without runs that copied data first.
    device: (u64, u64),
    /// True if the next device run copies data first.
    moving: bool,
    /// Time of the first device run, with its copies.
    first: u64,
    /// Time lost on the device against the host, and its limit.
    excess: u64,
    allowance: u64,
    /// Number and total time of device runs since the host was timed.
    away: (u64, u64),
    /// Remaining host runs of a re-timing, and the fastest so far.
    again: u32,
    fastest: u64,
    /// Number of re-timings in a row that confirmed the device.
    confirmed: u32,
    /// Number of times that the device was found slower.
    lost: u32,
    /// Device time from an earlier run of the program, until the device is tried; 0 if unknown.
    hope: u64,
    /// Number of runs on both sides.
    runs: u64,
    /// Cost of the last trial or re-timing that was refused. Avoids examining the data again, which
    /// costs time itself.
    dear: u64,
}

impl Measured {
    /// Restores measurements of earlier runs of the program: time of a run on the host and on the
    /// device (0 if unknown).
    pub fn known(host: u64, device: u64) -> Measured {
        Measured {
            host: (FIRST, host),
            // Counting the host time may pay for a trial even if the region runs only once.
            since: if device == 0 { host } else { 0 },
            hope: device,
            lost: if device > host { DOUBTS } else { 0 },
            ..Measured::default()
        }
    }

    /// Returns true if earlier runs of the program found the device faster and it has not been
    /// tried since.
    pub fn hopes(&self) -> bool {
        self.hope > 0 && self.hope < self.host.1 / 5 * 4
    }

    /// Returns the time of a run on the host and on the device (0 if unknown), and the time that
    /// the device saves over all runs of this process, wherever they ran.
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

    /// Decides the next run, as far as possible without examining the data.
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

    /// Returns the reason for staying on the host although the device could run the region.
    pub fn waits(&self) -> Choice {
        Choice::Host(match self.lost {
            0 => "it has not taken long enough for a trial on the device",
            _ => "the device was slower",
        })
    }

    /// Returns the host time since the last trial, or the device time since the host was timed.
    pub fn time(&self) -> u64 {
        if self.there { self.away.1 } else { self.since }
    }

    /// Records the cost of a refused trial or re-timing.
    pub fn refuse(&mut self, cost: u64) {
        self.dear = cost;
    }

    /// Returns the expected loss of a trial; `speed` is in bytes per microsecond.
    pub fn trial(&self, moves: Moves, speed: u64, trips: Option<u64>, threads: u64) -> u64 {
        let copies = (moves.to + moves.from).saturating_mul(1000) / speed.max(1);
        let slow = trips.map_or(0, |trips| {
            let alone = self.host.1.saturating_mul(threads * SLOWER);
            (alone / trips.clamp(1, AT_ONCE)).saturating_sub(self.host.1)
        });
        TRIAL + copies + slow.max(self.hope.saturating_sub(self.host.1))
    }

    /// Returns true if a trial of this cost is affordable.
    pub fn may_try(&self, ledger: &Ledger, cost: u64) -> bool {
        if self.hopes() {
            return true;
        }
        // The delay doubles each time the device was slower.
        self.since >= cost.saturating_mul(1 << self.lost.min(20)) && ledger.affords(cost)
    }

    /// Returns the expected cost of re-timing the host.
    pub fn measuring(&self, moves: Moves, speed: u64) -> u64 {
        let copies = (moves.to + moves.from + moves.away).saturating_mul(1000) / speed.max(1);
        copies + self.host.1.abs_diff(self.device.1)
    }

    /// Returns true if re-timing the host at this cost is affordable.
    pub fn may_measure(&self, cost: u64) -> bool {
        // Re-timing loses nothing against the host, so the ledger is not involved.
        let enough = cost.saturating_mul(EARLY);
        self.away.1 >= enough.saturating_mul(1 << self.confirmed.min(20))
    }

    /// Starts re-timing the host.
    pub fn measure(&mut self) {
        self.again = AGAIN;
        self.dear = 0;
        self.fastest = u64::MAX;
    }

    /// Records a host run.
    pub fn on_host(&mut self, time: u64, ledger: &mut Ledger) {
        ledger.host += time;
        self.runs += 1;
        if !self.there {
            self.since += time;
            let (runs, believed) = self.host;
            // Faster runs count more: slow ones may include compilation or cold caches.
            let value = match (runs, time < believed) {
                (0, _) => time,
                (_, true) => believed - (believed - time).div_ceil(2),
                (_, false) => believed + (time - believed) / 8,
            };
            self.host = (runs + 1, value);
            return;
        }
        // If times are still falling, another run follows.
        if self.fastest != u64::MAX && time < self.fastest / 4 * 3 {
            self.again = self.again.max(2);
        }
        self.fastest = self.fastest.min(time);
        self.again = self.again.saturating_sub(1);
        if self.again == 0 {
            self.settle(ledger);
        }
    }

    /// Completes the re-timing of the host.
    fn settle(&mut self, ledger: &mut Ledger) {
        let before = self.host.1;
        self.host.1 = self.fastest;
        self.moving = true;
        let (runs, _) = std::mem::take(&mut self.away);
        if self.fastest < self.device.1 {
            // The device was slower all the time, so its excess was lost unnoticed.
            ledger.lost += (self.device.1 - self.fastest).saturating_mul(runs);
            self.back();
        } else if self.fastest < before / 4 * 3 {
            self.confirmed = 0;
        } else {
            self.confirmed += 1;
        }
    }

    /// Starts a trial, which may lose `cost`.
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

    /// Records a device run of which `kernel` nanoseconds were spent in kernels.
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
        // A region's gains offset its own losses only.
        ledger.lost = (ledger.lost + self.excess).saturating_sub(before);
        let ends = self.device.0 > 0 && self.device.0.is_multiple_of(WINDOW);
        // Copies may be a one-time cost; kernel time is not.
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

    /// Returns the maximum excess of a window of device runs.
    fn window(&self) -> u64 {
        self.host.1.saturating_mul(WINDOW) / SHARE
    }

    /// Returns to the host after a loss.
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
    /// Copy bandwidth in bytes per microsecond: 50 GB/s.
    const SPEED: u64 = 50_000;

    /// A machine with scripted times.
    struct Machine<'a> {
        measured: Measured,
        ledger: Ledger,
        /// Host time, by the number of host runs and the elapsed time.
        host: &'a dyn Fn(u64, u64) -> u64,
        device: &'a dyn Fn(u64) -> u64,
        data: Moves,
        /// True if the data is on the device.
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
        // 4 ms of copies and the start of the kernel, a twentieth of which may be lost.
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
        // Time of interpreted code, and of compiled code from the 14th run on or after 50 ms.
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
        // 100 s on the device: a few re-timings of three runs each.
        assert!(m.host_runs < 60, "{}", m.host_runs);
        assert!(m.host_runs > 20, "{}", m.host_runs);
    }

    #[test]
    fn outlined_a_stream_of_a_gigabyte_is_tried_within_a_second() {
        // The region reads two arrays and writes one; 100 GB/s on the host.
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
        // The host reads the results each time, which counts as device time.
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
        // 1.5 ms suffice if other regions took long.
        assert_eq!(m.choose(&ledger), Choice::Trial);
        ledger.lost += 2 * MS;
        assert_ne!(m.choose(&ledger), Choice::Trial);
    }

    #[test]
    fn outlined_what_earlier_runs_found_is_believed_until_it_is_measured() {
        // A much faster device is tried at once, regardless of the budget.
        let mut m = Machine::new(&|_, _| 10 * MS, &|_| MS, Moves::default());
        m.measured = Measured::known(10 * MS, MS);
        for _ in 0..100 {
            m.run();
        }
        assert!(m.host_runs <= 6, "{}", m.host_runs);
        assert_eq!(m.measured.outcome(), Some((10 * MS, MS, 900 * MS)));
        // A device that has become slow is left within the losses of one window.
        let mut m = Machine::new(&|_, _| 10 * MS, &|_| 100 * MS, Moves::default());
        m.measured = Measured::known(10 * MS, MS);
        for _ in 0..100 {
            m.run();
        }
        assert_eq!((m.device_runs, m.measured.there), (1, false));
        // A device that was slower is tried later than an unknown one.
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
        // The region was timed before its kernels existed.
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
        // A slower device is not expected to win.
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
