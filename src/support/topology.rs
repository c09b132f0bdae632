//! The number of processors that this process may use, and the binding of threads to them.
//!
//! The number is the smaller one of the affinity mask and the CPU quota of the process's control
//! group (version 1 or 2, every visible ancestor), rounded up: under a quota of 1.5 CPUs two
//! threads are useful, sixteen are throttled. Ignores caches and sockets.

use super::cgroup::{self, Group};
use std::fs;
use std::io::Read;
use std::sync::OnceLock;

/// The processors of a process, each field found at its first use.
struct Processors {
    allowed: OnceLock<Vec<usize>>,
    usable: OnceLock<usize>,
    program: OnceLock<Vec<usize>>,
    program_usable: OnceLock<usize>,
    /// In thousandths of a processor.
    quota: OnceLock<Option<u64>>,
}

/// The processors of this process, which has one affinity mask at its start and one control group.
static PROCESSORS: Processors = Processors {
    allowed: OnceLock::new(),
    usable: OnceLock::new(),
    program: OnceLock::new(),
    program_usable: OnceLock::new(),
    quota: OnceLock::new(),
};

/// Returns the processors of the affinity mask at the first use, in ascending order.
pub fn allowed_cpus() -> &'static [usize] {
    PROCESSORS.allowed.get_or_init(|| {
        let mut cpus = current_cpus();
        if cpus.is_empty() {
            let n = std::thread::available_parallelism().map_or(1, |n| n.get());
            cpus.extend(0..n);
        }
        cpus
    })
}

/// Returns the number of processors useful to this process: the affinity mask, limited by the CPU
/// quota.
pub fn usable_cpus() -> usize {
    let count = || within_quota(allowed_cpus().len());
    *PROCESSORS.usable.get_or_init(count)
}

/// Returns the processors of the program's threads: the affinity mask of the thread that first
/// enters the OpenMP runtime, at that time. The program may have narrowed the mask since
/// [`allowed_cpus`] read it, and compiler threads need not follow.
pub fn program_cpus() -> &'static [usize] {
    PROCESSORS.program.get_or_init(|| match current_cpus() {
        cpus if cpus.is_empty() => allowed_cpus().to_vec(),
        cpus => cpus,
    })
}

/// Returns the number of processors useful to the program: [`program_cpus`], limited by the CPU
/// quota.
pub fn program_usable() -> usize {
    let count = || within_quota(program_cpus().len());
    *PROCESSORS.program_usable.get_or_init(count)
}

fn within_quota(cpus: usize) -> usize {
    match *PROCESSORS.quota.get_or_init(quota) {
        Some(thousandths) => cpus.min(thousandths.div_ceil(1000) as usize),
        None => cpus,
    }
}

/// Returns the number of threads that run or wait for a processor, including the caller, or 0 if
/// the system does not say. `/proc/loadavg` counts the whole machine's threads; as many of them as
/// there are processors that this process may not use are subtracted, for jobs that share a machine
/// by processors (`taskset`, cpusets of a batch system) run there.
pub fn running_threads() -> usize {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    // SAFETY: has no preconditions.
    let all = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    let elsewhere = usize::try_from(all).map_or(0, |n| n.saturating_sub(allowed_cpus().len()));
    running_here(&text, elsewhere)
}

/// Computes the same from that file's text and the number of the other processors.
fn running_here(text: &str, elsewhere: usize) -> usize {
    let running = text
        .split_whitespace()
        .nth(3)
        .and_then(|w| w.split_once('/'));
    match running.and_then(|(n, _)| n.parse::<usize>().ok()) {
        Some(n) if n > 0 => (n - 1).saturating_sub(elsewhere) + 1,
        _ => 0,
    }
}

/// Returns the CPU quota of the process's control group in thousandths of a CPU, the smallest among
/// its ancestors.
///
/// A thread of the guest may be the first that asks. Integers leave its floating-point exception
/// flags alone, and do not trap.
fn quota() -> Option<u64> {
    // These files say that they are empty, so a string without room is read by 32 bytes at first.
    let whole = |path| {
        let mut text = String::with_capacity(4096);
        fs::File::open(path).ok()?.read_to_string(&mut text).ok()?;
        Some(text)
    };
    let groups = whole("/proc/self/cgroup")?;
    let mounts = whole("/proc/self/mountinfo")?;
    quota_from(&groups, &mounts, &|path| fs::read_to_string(path).ok())
}

/// Finds the quota in the texts of `/proc/self/cgroup` and `/proc/self/mountinfo`, reading files by
/// `read`.
fn quota_from(groups: &str, mounts: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let one = |group: &Group| {
        let folder = &group.folder;
        if group.unified {
            return parse_max(&read(&format!("{folder}/cpu.max"))?);
        }
        let quota = read(&format!("{folder}/cpu.cfs_quota_us"))?;
        let period = read(&format!("{folder}/cpu.cfs_period_us"))?;
        thousandths(&quota, &period)
    };
    let all = cgroup::groups_from(groups, mounts, "cpu");
    all.iter().filter_map(one).min()
}

/// Parses `cpu.max`: "max 100000" or "150000 100000".
fn parse_max(text: &str) -> Option<u64> {
    let mut words = text.split_whitespace();
    thousandths(words.next()?, words.next().unwrap_or("100000"))
}

/// Returns a quota of microseconds per period in thousandths of a CPU, rounded up; `None` if one of
/// them is no positive number.
fn thousandths(quota: &str, period: &str) -> Option<u64> {
    let quota: u64 = quota.trim().parse().ok()?;
    let period: u64 = period.trim().parse().ok()?;
    (quota > 0 && period > 0).then(|| quota.saturating_mul(1000).div_ceil(period))
}

/// Returns the processors of the affinity mask at the first use that are not among these.
pub fn others(cpus: &[usize]) -> Vec<usize> {
    let all = allowed_cpus().iter();
    all.copied().filter(|cpu| !cpus.contains(cpu)).collect()
}

/// Returns a mask of processors, in the words that the kernel reads.
pub fn mask_of(cpus: &[usize]) -> Vec<u64> {
    let words = cpus.iter().max().map_or(1, |most| most / 64 + 1);
    let mut mask = vec![0; words.max(16)];
    for cpu in cpus {
        mask[cpu / 64] |= 1 << (cpu % 64);
    }
    mask
}

/// Returns the processors in a mask, ascending.
pub fn cpus_of(mask: &[u64]) -> Vec<usize> {
    // The kernel fills a mask with room for 65,536 processors, of which a few words are not zero.
    let words = mask.iter().enumerate().filter(|(_, word)| **word != 0);
    let bits = words.flat_map(|(i, word)| (0..64).map(move |bit| (i * 64 + bit, word >> bit & 1)));
    bits.filter_map(|(cpu, set)| (set == 1).then_some(cpu))
        .collect()
}

/// Binds the calling thread to processors; returns true if the kernel agreed.
pub fn bind_current_thread(cpus: &[usize]) -> bool {
    let mask = mask_of(cpus);
    // SAFETY: `mask` is a live buffer of the size passed; 0 names the calling thread.
    unsafe { libc::sched_setaffinity(0, mask.len() * 8, mask.as_ptr().cast()) == 0 }
}

/// Gives the calling thread, and threads that it starts, time slices of half a millisecond on
/// shared processors. Its share of the time does not change. Needs Linux 6.12; has no effect on
/// older kernels.
pub fn use_short_time_slices() {
    const TURN: u64 = 500_000;
    // SAFETY: zero is a valid value of each field.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    let size = size_of_val(&attributes) as u32;
    // SAFETY: the arguments are a live structure of the given size, and 0 for the calling thread; a
    // refusal changes nothing.
    unsafe {
        let attributes = &raw mut attributes;
        if libc::syscall(libc::SYS_sched_getattr, 0, attributes, size, 0) == 0
            && (*attributes).sched_policy == libc::SCHED_OTHER as u32
        {
            (*attributes).sched_runtime = TURN;
            libc::syscall(libc::SYS_sched_setattr, 0, attributes, 0);
        }
    }
}

/// Returns the processors that the calling thread may run on now.
pub fn current_cpus() -> Vec<usize> {
    let mut mask = vec![0u64; 1 << 10];
    // SAFETY: `mask` is a live buffer of the size passed; 0 names the calling thread.
    match unsafe { libc::sched_getaffinity(0, mask.len() * 8, mask.as_mut_ptr().cast()) } {
        0 => cpus_of(&mask),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_time_slices_change_nothing_else() {
        std::thread::spawn(|| {
            // SAFETY: reads this thread's niceness.
            let nice = || unsafe { libc::getpriority(libc::PRIO_PROCESS, libc::gettid() as u32) };
            // SAFETY: raises this thread's niceness.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as u32, 7) };
            use_short_time_slices();
            assert_eq!(nice(), 7);
            // SAFETY: reads the calling thread's policy.
            assert_eq!(unsafe { libc::sched_getscheduler(0) }, libc::SCHED_OTHER);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn the_caller_runs() {
        assert!(running_threads() > 0);
    }

    #[test]
    fn threads_with_processors_elsewhere_are_not_counted() {
        let text = "3.01 2.50 1.00 9/312 4711\n";
        assert_eq!(running_here(text, 0), 9);
        assert_eq!(running_here(text, 6), 3);
        assert_eq!(running_here(text, 12), 1);
        assert_eq!(running_here("0.00 0.00 0.00 0/80 1", 4), 0);
        assert_eq!(running_here("", 4), 0);
    }

    #[test]
    fn kmpc_quota_of_version_2_takes_the_smallest_ancestor() {
        let read = |p: &str| match p {
            "/sys/fs/cgroup/a/b/cpu.max" => Some("max 100000\n".to_owned()),
            "/sys/fs/cgroup/a/cpu.max" => Some("150000 100000\n".to_owned()),
            _ => None,
        };
        let mounts = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(quota_from("0::/a/b\n", mounts, &read), Some(1500));
    }

    #[test]
    fn kmpc_quota_of_version_1_reads_quota_and_period() {
        let read = |p: &str| match p {
            "/cg/cpu/x/cpu.cfs_quota_us" => Some("250000\n".to_owned()),
            "/cg/cpu/x/cpu.cfs_period_us" => Some("100000\n".to_owned()),
            "/cg/cpu/cpu.cfs_quota_us" => Some("-1\n".to_owned()),
            "/cg/cpu/cpu.cfs_period_us" => Some("100000\n".to_owned()),
            _ => None,
        };
        let mounts = "32 31 0:29 /docker /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";
        assert_eq!(
            quota_from("3:cpu,cpuacct:/docker/x\n", mounts, &read),
            Some(2500)
        );
        assert_eq!(quota_from("", mounts, &read), None);
    }
}
