//! The processors that this process may use, sorted by the machine's topology: socket, NUMA node,
//! last-level cache, core. Read from the kernel's description under `/sys`, or under another root
//! in tests.
//!
//! If the description is missing or partial (small containers), every processor is a core of its
//! own in one socket. Offline processors and those outside of the affinity mask do not appear.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// A level of the topology that processors can share, from the smallest to the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopologyLevel {
    /// A hardware thread.
    Thread,
    /// The threads of a core.
    Core,
    /// The processors that share the last-level cache.
    Cache,
    /// A NUMA node.
    Numa,
    /// A socket.
    Socket,
    /// All processors.
    Machine,
}

/// One processor and the groups that it belongs to. The numbers only identify groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// The kernel's number.
    pub cpu: usize,
    /// `physical_package_id`.
    pub socket: usize,
    /// The NUMA node.
    pub numa: usize,
    /// The first processor that shares the last-level cache.
    pub cache: usize,
    /// The first thread of the core.
    pub core: usize,
}

impl Processor {
    fn key(&self, level: TopologyLevel) -> [usize; 5] {
        let path = [self.socket, self.numa, self.cache, self.core, self.cpu];
        let depth = match level {
            TopologyLevel::Machine => 0,
            TopologyLevel::Socket => 1,
            TopologyLevel::Numa => 2,
            TopologyLevel::Cache => 3,
            TopologyLevel::Core => 4,
            TopologyLevel::Thread => 5,
        };
        std::array::from_fn(|i| if i < depth { path[i] } else { 0 })
    }
}

/// The processors of a machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The processors, sorted by topology.
    pub processors: Vec<Processor>,
}

impl Machine {
    /// Reads the kernel's description of the `allowed` processors under `root` (`/sys`).
    pub fn read(root: &Path, allowed: &[usize]) -> Self {
        let nodes = numa_nodes(root);
        let mut processors: Vec<_> = allowed
            .iter()
            .map(|&cpu| {
                let folder = root.join(format!("devices/system/cpu/cpu{cpu}"));
                let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
                let socket = text("topology/physical_package_id")
                    .and_then(|t| t.trim().parse::<i64>().ok())
                    .map_or(0, |id| id.max(0) as usize);
                let core = text("topology/thread_siblings_list")
                    .or_else(|| text("topology/core_cpus_list"))
                    .and_then(|t| parse_cpu_list(&t)?.into_iter().min())
                    .unwrap_or(cpu);
                Processor {
                    cpu,
                    socket,
                    numa: nodes.get(&cpu).copied().unwrap_or(0),
                    cache: last_cache(&folder).unwrap_or(0),
                    core,
                }
            })
            .collect();
        processors.sort_by_key(|p| p.key(TopologyLevel::Thread));
        Self { processors }
    }

    /// Returns the processors grouped by what they share at `level`, each group sorted.
    pub fn groups(&self, level: TopologyLevel) -> Vec<Vec<usize>> {
        self.processors
            .chunk_by(|a, b| a.key(level) == b.key(level))
            .map(|group| {
                let mut cpus: Vec<_> = group.iter().map(|p| p.cpu).collect();
                cpus.sort_unstable();
                cpus
            })
            .collect()
    }

    /// Keeps, of each group of level `outer`, the groups of level `inner` with numbers from `skip`
    /// to `skip + count`.
    pub fn restrict(
        &mut self,
        outer: TopologyLevel,
        inner: TopologyLevel,
        skip: usize,
        count: usize,
    ) {
        let mut kept = Vec::new();
        for group in self
            .processors
            .chunk_by(|a, b| a.key(outer) == b.key(outer))
        {
            for part in group
                .chunk_by(|a, b| a.key(inner) == b.key(inner))
                .skip(skip)
                .take(count)
            {
                kept.extend_from_slice(part);
            }
        }
        self.processors = kept;
    }
}

/// Returns the NUMA node of each processor.
fn numa_nodes(root: &Path) -> HashMap<usize, usize> {
    let mut nodes = HashMap::new();
    let Ok(entries) = fs::read_dir(root.join("devices/system/node")) else {
        return nodes;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|n| n.strip_prefix("node"));
        let Some(node) = number.and_then(|n| n.parse().ok()) else {
            continue;
        };
        let cpus = fs::read_to_string(entry.path().join("cpulist")).unwrap_or_default();
        for cpu in parse_cpu_list(&cpus).unwrap_or_default() {
            nodes.insert(cpu, node);
        }
    }
    nodes
}

/// Returns the first processor that shares the cache of the highest level.
fn last_cache(folder: &Path) -> Option<usize> {
    let mut best = None;
    for index in 0..16 {
        let folder = folder.join(format!("cache/index{index}"));
        let Ok(level) = fs::read_to_string(folder.join("level")) else {
            break;
        };
        let level: u32 = level.trim().parse().unwrap_or(0);
        let sharers = fs::read_to_string(folder.join("shared_cpu_list")).ok();
        let first = sharers.and_then(|t| parse_cpu_list(&t)?.into_iter().min());
        if best.is_none_or(|(l, _)| level > l)
            && let Some(first) = first
        {
            best = Some((level, first));
        }
    }
    best.map(|(_, first)| first)
}

/// Parses a list of numbers in the kernel's form: `0-3,8,10-11`.
pub fn parse_cpu_list(text: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|p| !p.is_empty()) {
        match part.split_once('-') {
            Some((from, to)) => {
                let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
                if to.checked_sub(from)? > 1 << 16 {
                    return None;
                }
                numbers.extend(from..=to);
            }
            None => numbers.push(part.parse().ok()?),
        }
    }
    Some(numbers)
}

/// Formats sorted numbers for [`parse_cpu_list`]; three or more consecutive ones become a range.
pub fn format_cpu_list(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let shown: Vec<_> = runs
        .map(|run| match run {
            [one] => one.to_string(),
            [one, two] => format!("{one},{two}"),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        })
        .collect();
    shown.join(",")
}

#[cfg(any(test, feature = "testing"))]
pub mod fictitious {
    //! Descriptions of fictitious machines.

    use std::fs;
    use std::path::PathBuf;

    /// A folder that is removed when dropped.
    pub struct Tree(pub PathBuf);

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Makes the description of `sockets` sockets (each a NUMA node with a cache) of `cores` cores
    /// of `threads` threads, numbered as in Linux: first the first thread of every core.
    pub fn tree(name: &str, sockets: usize, cores: usize, threads: usize) -> Tree {
        let root = std::env::temp_dir().join(format!("ompvm-{}-{name}", std::process::id()));
        let write = |path: String, text: String| {
            let path = root.join("devices/system").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text + "\n").unwrap();
        };
        let total = sockets * cores;
        let join = |cpus: &mut dyn Iterator<Item = usize>| {
            cpus.map(|c| c.to_string()).collect::<Vec<_>>().join(",")
        };
        for socket in 0..sockets {
            let of_socket = join(
                &mut (0..threads)
                    .flat_map(|t| (0..cores).map(move |c| t * total + socket * cores + c)),
            );
            write(format!("node/node{socket}/cpulist"), of_socket.clone());
            for core in 0..cores {
                let first = socket * cores + core;
                let siblings = join(&mut (0..threads).map(|t| t * total + first));
                for thread in 0..threads {
                    let cpu = format!("cpu/cpu{}", thread * total + first);
                    write(
                        format!("{cpu}/topology/physical_package_id"),
                        socket.to_string(),
                    );
                    write(
                        format!("{cpu}/topology/thread_siblings_list"),
                        siblings.clone(),
                    );
                    write(format!("{cpu}/cache/index0/level"), "1".into());
                    write(
                        format!("{cpu}/cache/index0/shared_cpu_list"),
                        siblings.clone(),
                    );
                    write(format!("{cpu}/cache/index1/level"), "3".into());
                    write(
                        format!("{cpu}/cache/index1/shared_cpu_list"),
                        of_socket.clone(),
                    );
                }
            }
        }
        Tree(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sockets_of_eight_cores_of_two_threads() {
        let tree = fictitious::tree("full", 2, 8, 2);
        let all: Vec<_> = (0..32).collect();
        let machine = Machine::read(&tree.0, &all);
        assert_eq!(machine.groups(TopologyLevel::Thread).len(), 32);
        assert_eq!(
            machine.groups(TopologyLevel::Core)[..2],
            [vec![0, 16], vec![1, 17]]
        );
        assert_eq!(machine.groups(TopologyLevel::Core).len(), 16);
        for level in [
            TopologyLevel::Cache,
            TopologyLevel::Numa,
            TopologyLevel::Socket,
        ] {
            let groups = machine.groups(level);
            assert_eq!(groups.len(), 2);
            assert_eq!(format_cpu_list(&groups[1]), "8-15,24-31");
        }
        assert_eq!(machine.groups(TopologyLevel::Machine), [all]);
    }

    #[test]
    fn a_mask_restricts_the_processors() {
        let tree = fictitious::tree("mask", 2, 8, 2);
        let machine = Machine::read(&tree.0, &[3, 9, 19, 25]);
        assert_eq!(machine.groups(TopologyLevel::Core), [[3, 19], [9, 25]]);
        assert_eq!(machine.groups(TopologyLevel::Socket).len(), 2);
        let machine = Machine::read(&tree.0, &[3, 4]);
        assert_eq!(machine.groups(TopologyLevel::Socket), [[3, 4]]);
    }

    #[test]
    fn without_a_description_every_processor_is_a_core() {
        let machine = Machine::read(Path::new("/nonexistent"), &[0, 2, 5]);
        assert_eq!(
            machine.groups(TopologyLevel::Core),
            [vec![0], vec![2], vec![5]].to_vec()
        );
        assert_eq!(machine.groups(TopologyLevel::Cache), [[0, 2, 5]]);
        assert_eq!(machine.groups(TopologyLevel::Socket), [[0, 2, 5]]);
    }

    #[test]
    fn a_subset_keeps_the_first_of_each() {
        let tree = fictitious::tree("subset", 2, 8, 2);
        let mut machine = Machine::read(&tree.0, &(0..32).collect::<Vec<_>>());
        machine.restrict(TopologyLevel::Socket, TopologyLevel::Core, 2, 3);
        machine.restrict(TopologyLevel::Core, TopologyLevel::Thread, 0, 1);
        assert_eq!(
            format_cpu_list(&machine.groups(TopologyLevel::Machine)[0]),
            "2-4,10-12"
        );
    }

    #[test]
    fn lists_are_read_and_shown() {
        assert_eq!(parse_cpu_list("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse_cpu_list("x"), None);
        assert_eq!(format_cpu_list(&[0, 1, 3, 5, 6, 7]), "0,1,3,5-7");
    }
}
