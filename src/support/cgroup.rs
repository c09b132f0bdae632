//! The limits of this process's control groups, and the memory that they leave.
//!
//! A limit holds for a group and all groups below it, so the smallest visible one counts. Supports
//! versions 1 and 2 as described in `cgroups(7)`.

use std::fs;

/// A control group of the process, or an ancestor of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The group's folder.
    pub folder: String,
    /// True for version 2.
    pub unified: bool,
}

/// Returns the groups of this process that a controller may limit, each before its ancestors.
pub fn of_process(controller: &str) -> Vec<Group> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    groups_from(&groups, &mounts, controller)
}

/// Returns the memory limit of this process in bytes; `None` if there is none.
pub fn memory_limit() -> Option<u64> {
    let limit = |group: &Group| {
        let file = match group.unified {
            true => "memory.max",
            false => "memory.limit_in_bytes",
        };
        let text = fs::read_to_string(format!("{}/{file}", group.folder)).ok()?;
        text.trim().parse().ok()
    };
    of_process("memory").iter().filter_map(limit).min()
}

/// Returns the bytes of memory available to this process, or `None` if the system does not tell.
pub fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    let limit = memory_limit().unwrap_or(u64::MAX);
    Some(limit.min(kilobytes << 10))
}

/// Finds the groups in the texts of `/proc/self/cgroup` and `/proc/self/mountinfo`.
pub(super) fn groups_from(groups: &str, mounts: &str, controller: &str) -> Vec<Group> {
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|c| c == controller) {
            continue;
        }
        let Some((mount, root)) = mount_of(mounts, controller, unified) else {
            continue;
        };
        let relative = path.strip_prefix(root.trim_end_matches('/'));
        let mut relative = relative.unwrap_or(path).trim_end_matches('/');
        loop {
            found.push(Group {
                folder: format!("{mount}{relative}"),
                unified,
            });
            match relative.rfind('/') {
                Some(at) => relative = &relative[..at],
                None => break,
            }
        }
    }
    found
}

/// Returns the mount point and the root of the hierarchy that holds a controller.
fn mount_of(mounts: &str, controller: &str, unified: bool) -> Option<(String, String)> {
    for line in mounts.lines() {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (root, mount) = (left.next()?, left.next()?);
        let mut right = right.split(' ');
        let fstype = right.next()?;
        let options = right.nth(1).unwrap_or("");
        if (unified && fstype == "cgroup2")
            || (!unified && fstype == "cgroup" && options.split(',').any(|o| o == controller))
        {
            return Some((mount.to_owned(), root.to_owned()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_before_their_ancestors() {
        let mounts = "32 31 0:29 /docker /cg/memory rw - cgroup cgroup rw,memory\n\
            30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let groups = "5:memory:/docker/x\n3:cpu:/y\n0::/a\n";
        let group = |folder: &str, unified| Group {
            folder: folder.into(),
            unified,
        };
        let expected = [
            group("/cg/memory/x", false),
            group("/cg/memory", false),
            group("/sys/fs/cgroup/a", true),
            group("/sys/fs/cgroup", true),
        ];
        assert_eq!(groups_from(groups, mounts, "memory"), expected);
        assert_eq!(groups_from("", mounts, "memory"), []);
    }
}
