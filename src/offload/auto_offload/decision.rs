//! Chooses between host and device for one region, from times alone.
//!
//! Trials on the device may lose at most one [`LOSS_SHARE`]th of the time that the host would have
//! taken. To enforce this, all regions of a program share a [`Ledger`] of host time and losses, and
//! a trial must fit into the remaining budget. [`RegionTimes`] decides for a region:
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
pub(super) const LOSS_SHARE: u64 = 20;
/// Regions shorter than this, in nanoseconds, stay on the host.
pub(super) const MIN_REGION_TIME: u64 = 40_000;
/// Expected cost of a trial without copies, in nanoseconds.
pub(super) const TRIAL_COST: u64 = 1_000_000;
/// Minimum number of host runs before a trial.
const MIN_HOST_RUNS: u64 = 2;
/// Number of device runs between comparisons with the host.
const WINDOW: u64 = 64;
/// Minimum number of device runs before the host is re-timed.
const MIN_DEVICE_RUNS: u64 = 8;
/// Minimum number of host runs of a re-timing.
const RETIMING_RUNS: u32 = 3;
/// Re-time the host once the device has run for this many times the cost of re-timing.
const RETIMING_FACTOR: u64 = 4;
/// Assumed number of failed trials if an earlier run of the program found the device slower.
const ASSUMED_LOSSES: u32 = 4;
/// Time of a GPU thread relative to a host thread, and number of GPU threads that run at once.
/// Loops with few, long iterations leave most of a GPU idle.
const THREAD_SLOWDOWN: u64 = 128;
const CONCURRENT_THREADS: u64 = 1 << 16;

/// Total times of all regions, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ledger {
    /// Host time, plus a lower bound of the time that device runs would have taken on the host.
    pub host: u64,
    /// Time lost by trials, compared to the host.
    pub lost: u64,
}

impl Ledger {
    pub fn can_afford(&self, cost: u64) -> bool {
        (self.lost + cost).saturating_mul(LOSS_SHARE) <= self.host
    }
}

/// Bytes that a run on the other side moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TransferSize {
    /// Bytes to copy to the device.
    pub to: u64,
    /// Bytes that the kernel writes.
    pub from: u64,
    /// Bytes that the host lacks.
    pub to_host: u64,
}

/// Decision for the next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Run on the host, with the reason.
    Host(&'static str),
    /// Run on the device.
    Device,
    /// Try the device, if affordable.
    Trial,
    /// Re-time the host, if affordable.
    Retime,
}

/// Measurements of a region, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RegionTimes {
    /// Number of host runs, and estimated time of one.
    host: (u64, u64),
    /// Host time since the last trial.
    host_since_trial: u64,
    /// True if the region currently runs on the device.
    pub uses_device: bool,
    /// Number of device runs and recent mean time, without runs that copied data first.
    device: (u64, u64),
    /// True if the next device run copies data first.
    copies_data: bool,
    /// Time of the first device run, with its copies.
    first: u64,
    /// Time lost on the device against the host, and its limit.
    window_loss: u64,
    window_limit: u64,
    /// Number and total time of device runs since the host was timed.
    device_since_timing: (u64, u64),
    /// Remaining host runs of a re-timing, and the fastest so far.
    retiming_runs: u32,
    fastest_host: u64,
    /// Number of re-timings in a row that confirmed the device.
    confirmations: u32,
    /// Number of times that the device was found slower.
    lost: u32,
    /// Device time from an earlier run of the program, until the device is tried; 0 if unknown.
    expected_device: u64,
    /// Number of runs on both sides.
    runs: u64,
    /// Cost of the last trial or re-timing that was refused. Avoids examining the data again, which
    /// costs time itself.
    refused_cost: u64,
}

impl RegionTimes {
    /// Restores measurements of earlier runs of the program: time of a run on the host and on the
    /// device (0 if unknown).
    pub fn from_earlier_runs(host: u64, device: u64) -> RegionTimes {
        RegionTimes {
            host: (MIN_HOST_RUNS, host),
            // Counting the host time may pay for a trial even if the region runs only once.
            host_since_trial: if device == 0 { host } else { 0 },
            expected_device: device,
            lost: if device > host { ASSUMED_LOSSES } else { 0 },
            ..RegionTimes::default()
        }
    }

    /// Returns true if earlier runs of the program found the device faster and it has not been
    /// tried since.
    pub fn expects_gain(&self) -> bool {
        self.expected_device > 0 && self.expected_device < self.host.1 / 5 * 4
    }

    /// Returns the time of a run on the host and on the device (0 if unknown), and the time that
    /// the device saves over all runs of this process, wherever they ran.
    pub fn outcome(&self) -> Option<(u64, u64, u64)> {
        let host = self.host.1;
        let known = [self.device.1, self.first, self.expected_device];
        let device = known.into_iter().find(|&d| d > 0).unwrap_or(0);
        let gain = if device > 0 {
            host.saturating_sub(device)
        } else {
            0
        };
        (self.host.0 > 0).then_some((host, device, gain.saturating_mul(self.runs)))
    }

    /// Decides the next run, as far as possible without examining the data.
    pub fn choose(&self, ledger: &Ledger) -> Decision {
        if self.uses_device {
            if self.retiming_runs > 0 {
                return Decision::Host("the host is re-timed");
            }
            let gap = self.host.1.abs_diff(self.device.1);
            return match self.device_since_timing.0 >= MIN_DEVICE_RUNS
                && self.can_afford_retiming(gap.max(self.refused_cost))
            {
                true => Decision::Retime,
                false => Decision::Device,
            };
        }
        if self.host.0 >= MIN_HOST_RUNS && self.host.1 < MIN_REGION_TIME {
            return Decision::Host("it is too short for a device");
        }
        if self.expects_gain() {
            return Decision::Trial;
        }
        if self.host.0 >= MIN_HOST_RUNS
            && self.can_afford_trial(ledger, self.refused_cost.max(TRIAL_COST))
        {
            return Decision::Trial;
        }
        self.reason_to_stay()
    }

    /// Returns the reason for staying on the host although the device could run the region.
    pub fn reason_to_stay(&self) -> Decision {
        Decision::Host(match self.lost {
            0 => "it has not run long enough for a trial on the device",
            _ => "the device was slower",
        })
    }

    /// Returns the host time since the last trial, or the device time since the host was timed.
    pub fn time_since_switch(&self) -> u64 {
        if self.uses_device {
            self.device_since_timing.1
        } else {
            self.host_since_trial
        }
    }

    /// Records the cost of a refused trial or re-timing.
    pub fn refuse(&mut self, cost: u64) {
        self.refused_cost = cost;
    }

    /// Returns the expected loss of a trial; `speed` is in bytes per microsecond.
    pub fn trial_cost(
        &self,
        moves: TransferSize,
        speed: u64,
        trips: Option<u64>,
        threads: u64,
    ) -> u64 {
        let copies = (moves.to + moves.from).saturating_mul(1000) / speed.max(1);
        let slow = trips.map_or(0, |trips| {
            let alone = self.host.1.saturating_mul(threads * THREAD_SLOWDOWN);
            (alone / trips.clamp(1, CONCURRENT_THREADS)).saturating_sub(self.host.1)
        });
        TRIAL_COST + copies + slow.max(self.expected_device.saturating_sub(self.host.1))
    }

    /// Returns true if a trial of this cost is affordable.
    pub fn can_afford_trial(&self, ledger: &Ledger, cost: u64) -> bool {
        if self.expects_gain() {
            return true;
        }
        // The delay doubles each time the device was slower.
        self.host_since_trial >= cost.saturating_mul(1 << self.lost.min(20))
            && ledger.can_afford(cost)
    }

    /// Returns the expected cost of re-timing the host.
    pub fn retiming_cost(&self, moves: TransferSize, speed: u64) -> u64 {
        let copies = (moves.to + moves.from + moves.to_host).saturating_mul(1000) / speed.max(1);
        copies + self.host.1.abs_diff(self.device.1)
    }

    /// Returns true if re-timing the host at this cost is affordable.
    pub fn can_afford_retiming(&self, cost: u64) -> bool {
        // Re-timing loses nothing against the host, so the ledger is not involved.
        let enough = cost.saturating_mul(RETIMING_FACTOR);
        self.device_since_timing.1 >= enough.saturating_mul(1 << self.confirmations.min(20))
    }

    /// Starts re-timing the host.
    pub fn begin_retiming(&mut self) {
        self.retiming_runs = RETIMING_RUNS;
        self.refused_cost = 0;
        self.fastest_host = u64::MAX;
    }

    /// Records a host run.
    pub fn on_host(&mut self, time: u64, ledger: &mut Ledger) {
        ledger.host += time;
        self.runs += 1;
        if !self.uses_device {
            self.host_since_trial += time;
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
        if self.fastest_host != u64::MAX && time < self.fastest_host / 4 * 3 {
            self.retiming_runs = self.retiming_runs.max(2);
        }
        self.fastest_host = self.fastest_host.min(time);
        self.retiming_runs = self.retiming_runs.saturating_sub(1);
        if self.retiming_runs == 0 {
            self.finish_retiming(ledger);
        }
    }

    /// Completes the re-timing of the host.
    fn finish_retiming(&mut self, ledger: &mut Ledger) {
        let before = self.host.1;
        self.host.1 = self.fastest_host;
        self.copies_data = true;
        let (runs, _) = std::mem::take(&mut self.device_since_timing);
        if self.fastest_host < self.device.1 {
            // The device was slower all the time, so its excess was lost unnoticed.
            ledger.lost += (self.device.1 - self.fastest_host).saturating_mul(runs);
            self.return_to_host();
        } else if self.fastest_host < before / 4 * 3 {
            self.confirmations = 0;
        } else {
            self.confirmations += 1;
        }
    }

    /// Starts a trial, which may lose `cost`.
    pub fn begin_trial(&mut self, cost: u64) {
        let known = self.expects_gain();
        self.uses_device = true;
        self.refused_cost = 0;
        self.copies_data = true;
        self.device = (0, 0);
        self.first = 0;
        self.window_loss = 0;
        self.window_limit = if known {
            cost.max(self.window_allowance())
        } else {
            cost
        };
        self.expected_device = 0;
        self.device_since_timing = (0, 0);
        self.confirmations = 0;
    }

    /// Records a device run of which `kernel` nanoseconds were spent in kernels.
    pub fn on_device(&mut self, time: u64, kernel: u64, ledger: &mut Ledger) {
        let host = self.host.1;
        ledger.host += time.min(host);
        self.runs += 1;
        self.device_since_timing = (
            self.device_since_timing.0 + 1,
            self.device_since_timing.1 + time,
        );
        if std::mem::take(&mut self.copies_data) {
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
        let before = self.window_loss;
        self.window_loss = (before + time).saturating_sub(host);
        // A region's gains offset its own losses only.
        ledger.lost = (ledger.lost + self.window_loss).saturating_sub(before);
        let ends = self.device.0 > 0 && self.device.0.is_multiple_of(WINDOW);
        // Copies may be a one-time cost; kernel time is not.
        let hopeless = self.device.0 <= 1 && kernel / 2 > host;
        if hopeless && self.device.0 == 0 {
            self.device = (1, kernel);
        }
        if hopeless || self.window_loss > self.window_limit || ends && self.device.1 > host {
            self.return_to_host();
        } else if ends {
            self.window_loss = 0;
            self.window_limit = self.window_allowance();
        }
    }

    /// Returns the maximum excess of a window of device runs.
    fn window_allowance(&self) -> u64 {
        self.host.1.saturating_mul(WINDOW) / LOSS_SHARE
    }

    /// Returns to the host after a loss.
    pub fn return_to_host(&mut self) {
        self.uses_device = false;
        self.refused_cost = 0;
        self.retiming_runs = 0;
        self.lost += 1;
        self.host_since_trial = 0;
        self.window_loss = 0;
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
        measured: RegionTimes,
        ledger: Ledger,
        /// Host time, by the number of host runs and the elapsed time.
        host: &'a dyn Fn(u64, u64) -> u64,
        device: &'a dyn Fn(u64) -> u64,
        data: TransferSize,
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
            data: TransferSize,
        ) -> Machine<'a> {
            Machine {
                measured: RegionTimes::default(),
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
                true => TransferSize {
                    to: 0,
                    from: self.data.from,
                    to_host: self.data.from,
                },
                false => self.data,
            };
            let mut choice = self.measured.choose(&self.ledger);
            if choice == Decision::Trial {
                let cost = self.measured.trial_cost(moves, SPEED, Some(1 << 20), 16);
                choice = match self.measured.can_afford_trial(&self.ledger, cost) {
                    true => {
                        self.measured.begin_trial(cost);
                        Decision::Device
                    }
                    false => {
                        self.measured.refuse(cost);
                        self.measured.reason_to_stay()
                    }
                };
            }
            if choice == Decision::Retime {
                let cost = self.measured.retiming_cost(moves, SPEED);
                choice = match self.measured.can_afford_retiming(cost) {
                    true => {
                        self.measured.begin_retiming();
                        Decision::Host("")
                    }
                    false => {
                        self.measured.refuse(cost);
                        Decision::Device
                    }
                };
            }
            let mut time = 0;
            if choice == Decision::Device {
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
    fn auto_offload_short_regions_stay_on_the_host() {
        let mut m = Machine::new(&|_, _| MIN_REGION_TIME / 2, &|_| 1, TransferSize::default());
        for _ in 0..100_000 {
            m.run();
        }
        assert_eq!(m.device_runs, 0);
    }

    #[test]
    fn auto_offload_slower_device_loses_at_most_a_twentieth() {
        for (host, device) in [(MS, 3 * MS), (MS, MS * 6 / 5), (50 * US, 70 * US)] {
            let host_time = move |_, _| host;
            let device_time = move |_| device;
            let mut m = Machine::new(&host_time, &device_time, TransferSize::default());
            let runs = 2_000_000 * US / host;
            for _ in 0..runs {
                m.run();
            }
            let limit = host * runs * 21 / 20;
            assert!(m.passed <= limit, "{host} {device}: {} > {limit}", m.passed);
            assert!(!m.measured.uses_device || m.device_runs < runs / 10);
        }
    }

    #[test]
    fn auto_offload_faster_device_is_kept_until_it_slows_down() {
        let slow = std::cell::Cell::new(false);
        let device = |_| if slow.get() { 2 * MS } else { MS / 100 };
        let data = TransferSize {
            to: 200_000_000,
            ..TransferSize::default()
        };
        let mut m = Machine::new(&|_, _| MS, &device, data);
        while !m.measured.uses_device {
            m.run();
        }
        // 4 ms of copies and the start of the kernel, a twentieth of which may be lost.
        assert_eq!(m.host_runs, 5 * LOSS_SHARE);
        for _ in 0..20_000 {
            m.run();
        }
        assert!(m.measured.uses_device);
        assert!(m.device_runs > 19_950, "{}", m.device_runs);
        slow.set(true);
        for _ in 0..2 * WINDOW {
            m.run();
        }
        assert!(!m.measured.uses_device);
    }

    #[test]
    fn auto_offload_host_is_retimed_after_compilation() {
        // Time of interpreted code, and of compiled code from the 14th run on or after 50 ms.
        let by_runs = |runs: u64, _| if runs < 14 { 2700 * US } else { 2800 };
        let by_time = |_, passed: u64| if passed < 50 * MS { 2700 * US } else { 2800 };
        let scripts: [&dyn Fn(u64, u64) -> u64; 2] = [&by_runs, &by_time];
        for host in scripts {
            let mut m = Machine::new(host, &|_| 13 * US, TransferSize::default());
            for _ in 0..1_000_000 {
                m.run();
            }
            assert!(!m.measured.uses_device);
            assert!(m.device_runs < 20_000, "{}", m.device_runs);
        }
    }

    #[test]
    fn auto_offload_retiming_intervals_grow() {
        let mut m = Machine::new(&|_, _| 10 * MS, &|_| 100 * US, TransferSize::default());
        for _ in 0..1_000_000 {
            m.run();
        }
        // 100 s on the device: a few re-timings of three runs each.
        assert!(m.host_runs < 60, "{}", m.host_runs);
        assert!(m.host_runs > 20, "{}", m.host_runs);
    }

    #[test]
    fn auto_offload_gigabyte_stream_is_tried_within_a_second() {
        // The region reads two arrays and writes one; 100 GB/s on the host.
        let data = TransferSize {
            to: 1 << 30,
            from: 1 << 29,
            to_host: 0,
        };
        let mut m = Machine::new(&|_, _| 16 * MS, &|_| MS / 2, data);
        while !m.measured.uses_device {
            m.run();
        }
        assert!(m.passed < 700 * MS, "{}", m.passed);
        let reading = TransferSize { from: 0, ..data };
        let mut m = Machine::new(&|_, _| 16 * MS, &|_| MS / 2, reading);
        while !m.measured.uses_device {
            m.run();
        }
        assert!(m.passed < 500 * MS, "{}", m.passed);
    }

    #[test]
    fn auto_offload_regions_that_copy_both_ways_stay_on_the_host() {
        // The host reads the results each time, which counts as device time.
        let back = Machine::copy(1 << 29);
        let device = move |_| back + MS;
        let data = TransferSize {
            to: 1 << 29,
            from: 1 << 29,
            to_host: 0,
        };
        let mut m = Machine::new(&|_, _| 6 * MS, &device, data);
        for _ in 0..10_000 {
            m.run();
        }
        assert!(!m.measured.uses_device);
        assert!(m.passed <= 10_000 * 6 * MS * 21 / 20, "{}", m.passed);
    }

    #[test]
    fn auto_offload_regions_share_the_loss_budget() {
        let mut ledger = Ledger {
            host: 2 * LOSS_SHARE * MS,
            lost: 0,
        };
        let mut m = RegionTimes::default();
        for _ in 0..3 {
            m.on_host(MS / 2, &mut ledger);
        }
        // 1.5 ms suffice if other regions took long.
        assert_eq!(m.choose(&ledger), Decision::Trial);
        ledger.lost += 2 * MS;
        assert_ne!(m.choose(&ledger), Decision::Trial);
    }

    #[test]
    fn auto_offload_earlier_runs_are_trusted_until_measured() {
        // A much faster device is tried at once, regardless of the budget.
        let mut m = Machine::new(&|_, _| 10 * MS, &|_| MS, TransferSize::default());
        m.measured = RegionTimes::from_earlier_runs(10 * MS, MS);
        for _ in 0..100 {
            m.run();
        }
        assert!(m.host_runs <= 6, "{}", m.host_runs);
        assert_eq!(m.measured.outcome(), Some((10 * MS, MS, 900 * MS)));
        // A device that has become slow is left within the losses of one window.
        let mut m = Machine::new(&|_, _| 10 * MS, &|_| 100 * MS, TransferSize::default());
        m.measured = RegionTimes::from_earlier_runs(10 * MS, MS);
        for _ in 0..100 {
            m.run();
        }
        assert_eq!((m.device_runs, m.measured.uses_device), (1, false));
        // A device that was slower is tried later than an unknown one.
        let mut m = Machine::new(&|_, _| 10 * MS, &|_| 20 * MS, TransferSize::default());
        m.measured = RegionTimes::from_earlier_runs(10 * MS, 20 * MS);
        assert!(!m.measured.expects_gain());
        while m.device_runs == 0 {
            m.run();
        }
        assert!(m.host_runs >= 22, "{}", m.host_runs);
        assert_eq!(m.measured.outcome().map(|o| o.2), Some(0));
    }

    #[test]
    fn auto_offload_single_run_region_is_tried_and_remembered() {
        let mut ledger = Ledger::default();
        // The region was timed before its kernels existed.
        let mut m = RegionTimes::from_earlier_runs(2700 * MS, 0);
        ledger.host = 2700 * MS;
        assert_eq!(m.choose(&ledger), Decision::Trial);
        assert!(m.can_afford_trial(
            &ledger,
            m.trial_cost(TransferSize::default(), SPEED, Some(16384), 16)
        ));
        m.begin_trial(TRIAL_COST);
        m.on_device(100 * MS, 90 * MS, &mut ledger);
        let (host, device, won) = m.outcome().unwrap();
        assert_eq!((host, device, won), (2700 * MS, 100 * MS, 2600 * MS));
        let next = RegionTimes::from_earlier_runs(host, device);
        assert!(next.expects_gain());
        assert_eq!(next.choose(&Ledger::default()), Decision::Trial);
        // A slower device is not expected to win.
        let mut m = RegionTimes::from_earlier_runs(200 * MS, 0);
        m.begin_trial(TRIAL_COST);
        m.on_device(500 * MS, 490 * MS, &mut ledger);
        let (host, device, _) = m.outcome().unwrap();
        assert!(!RegionTimes::from_earlier_runs(host, device).expects_gain());
    }

    #[test]
    fn auto_offload_few_iterations_raise_the_trial_cost() {
        let mut m = RegionTimes::default();
        let mut ledger = Ledger::default();
        m.on_host(MS, &mut ledger);
        let none = TransferSize::default();
        let many = m.trial_cost(none, SPEED, Some(1 << 20), 16);
        assert_eq!(many, TRIAL_COST);
        assert_eq!(m.trial_cost(none, SPEED, None, 16), TRIAL_COST);
        let few = m.trial_cost(none, SPEED, Some(16), 16);
        assert_eq!(few, TRIAL_COST + (THREAD_SLOWDOWN - 1) * MS);
    }
}
