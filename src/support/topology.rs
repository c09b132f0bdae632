//! How many processors this process may use, and binding of threads to them.
//!
//! The answer is the smaller of the affinity mask and the CPU quota of the control group the
//! process runs in (version 1 or 2, every ancestor that is visible), rounded up: under a quota of
//! 1.5 CPUs two threads are useful, sixteen are throttled. It does not look at caches or sockets.

use std::fs;
use std::sync::OnceLock;

/// The processors of the affinity mask at first use, in ascending order.
pub fn allowed_cpus() -> &'static [usize] {
    static CPUS: OnceLock<Vec<usize>> = OnceLock::new();
    CPUS.get_or_init(|| {
        // SAFETY: cpu_set_t is plain data for which all-zero is a valid value.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        let size = std::mem::size_of::<libc::cpu_set_t>();
        // SAFETY: `set` is a live buffer of the size passed; 0 names the calling thread.
        let rc = unsafe { libc::sched_getaffinity(0, size, &mut set) };
        let mut cpus = Vec::new();
        if rc == 0 {
            for cpu in 0..size * 8 {
                // SAFETY: `cpu` is below the number of bits of the set.
                if unsafe { libc::CPU_ISSET(cpu, &set) } {
                    cpus.push(cpu);
                }
            }
        }
        if cpus.is_empty() {
            let n = std::thread::available_parallelism().map_or(1, |n| n.get());
            cpus.extend(0..n);
        }
        cpus
    })
}

/// The number of processors useful to this process: affinity mask, limited by the CPU quota.
pub fn usable_cpus() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| {
        let mask = allowed_cpus().len();
        match quota() {
            Some(q) => mask.min((q.ceil() as usize).max(1)),
            None => mask,
        }
    })
}

/// The CPU quota of the process's control group in CPUs, the smallest among its ancestors.
fn quota() -> Option<f64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    quota_from(&groups, &mounts, &|path| fs::read_to_string(path).ok())
}

/// Finds the quota given the texts of `/proc/self/cgroup` and `/proc/self/mountinfo` and a way to
/// read files.
fn quota_from(groups: &str, mounts: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<f64> {
    let mut best: Option<f64> = None;
    let mut see = |q: f64| best = Some(best.map_or(q, |b: f64| b.min(q)));
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let v2 = controllers.is_empty();
        if !v2 && !controllers.split(',').any(|c| c == "cpu") {
            continue;
        }
        let Some((mount, root)) = mount_of(mounts, v2) else {
            continue;
        };
        let relative = path
            .strip_prefix(root.trim_end_matches('/'))
            .unwrap_or(path);
        let mut relative = relative.trim_end_matches('/');
        loop {
            let dir = format!("{mount}{relative}");
            if v2 {
                if let Some(q) = read(&format!("{dir}/cpu.max")).and_then(|t| parse_max(&t)) {
                    see(q);
                }
            } else {
                let number = |name: &str| -> Option<f64> {
                    read(&format!("{dir}/{name}"))?.trim().parse().ok()
                };
                if let (Some(q), Some(p)) =
                    (number("cpu.cfs_quota_us"), number("cpu.cfs_period_us"))
                    && q > 0.0
                    && p > 0.0
                {
                    see(q / p);
                }
            }
            match relative.rfind('/') {
                Some(at) => relative = &relative[..at],
                None => break,
            }
        }
    }
    best
}

/// The mount point and the root of the control group hierarchy that holds the CPU controller.
fn mount_of(mounts: &str, v2: bool) -> Option<(String, String)> {
    for line in mounts.lines() {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (root, mount) = (left.next()?, left.next()?);
        let mut right = right.split(' ');
        let fstype = right.next()?;
        let options = right.nth(1).unwrap_or("");
        if (v2 && fstype == "cgroup2")
            || (!v2 && fstype == "cgroup" && options.split(',').any(|o| o == "cpu"))
        {
            return Some((mount.to_owned(), root.to_owned()));
        }
    }
    None
}

/// Parses `cpu.max`: "max 100000" or "150000 100000".
fn parse_max(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let quota: f64 = words.next()?.parse().ok()?;
    let period: f64 = words.next().unwrap_or("100000").parse().ok()?;
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// Binds the calling thread to one processor; returns whether the kernel agreed.
pub fn bind_current_thread(cpu: usize) -> bool {
    // SAFETY: cpu_set_t is plain data for which all-zero is a valid value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    if cpu >= std::mem::size_of::<libc::cpu_set_t>() * 8 {
        return false;
    }
    // SAFETY: `cpu` is below the number of bits of the set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: `set` is a live buffer of the size passed; 0 names the calling thread.
    unsafe { libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &set) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kmpc_quota_of_version_2_takes_the_smallest_ancestor() {
        let read = |p: &str| match p {
            "/sys/fs/cgroup/a/b/cpu.max" => Some("max 100000\n".to_owned()),
            "/sys/fs/cgroup/a/cpu.max" => Some("150000 100000\n".to_owned()),
            _ => None,
        };
        let mounts = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(quota_from("0::/a/b\n", mounts, &read), Some(1.5));
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
            Some(2.5)
        );
        assert_eq!(quota_from("", mounts, &read), None);
    }
}
