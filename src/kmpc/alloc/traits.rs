//! Traits of an allocator, and the value of `OMP_ALLOCATOR`. OpenMP 5.2, sections 6.2 and 21.5.1.
//!
//! `sync_hint` and `access` have no effect: every thread may use all memory.

/// `omp_alloctrait_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Trait {
    pub(super) key: i32,
    pub(super) value: usize,
}

/// Behavior of an allocation that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Allocate ordinary memory.
    DefaultMem,
    /// Return a null pointer.
    Null,
    /// End the program.
    Abort,
    /// Allocate from another allocator.
    Allocator(usize),
}

/// Placement of memory on NUMA nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// By the system's policy.
    Environment,
    /// On the node of the allocating thread.
    Nearest,
    /// A part of equal size on each node.
    Blocked,
    /// Page by page on each node in turn.
    Interleaved,
}

/// The traits that have an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Alignment in bytes, at least that of `malloc`.
    pub alignment: usize,
    /// Maximum number of bytes in use, if limited.
    pub pool: Option<usize>,
    /// See [`Fallback`].
    pub fallback: Fallback,
    /// True if its pages stay in memory.
    pub pinned: bool,
    /// See [`Partition`].
    pub partition: Partition,
}

impl Traits {
    /// Returns true if its blocks are more than ordinary memory.
    pub fn needs_registration(&self) -> bool {
        self.pool.is_some() || self.pinned || self.partition != Partition::Environment
    }
}

/// A parsed value of `OMP_ALLOCATOR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllocatorRequest {
    /// A predefined allocator.
    Predefined(u16),
    /// An allocator with traits.
    Made(Traits),
}

/// `omp_atv_default`.
const BY_DEFAULT: usize = usize::MAX;

/// The predefined allocators, by handle from 1.
pub const ALLOCATORS: [&str; 8] = [
    "omp_default_mem_alloc",
    "omp_large_cap_mem_alloc",
    "omp_const_mem_alloc",
    "omp_high_bw_mem_alloc",
    "omp_low_lat_mem_alloc",
    "omp_cgroup_mem_alloc",
    "omp_pteam_mem_alloc",
    "omp_thread_mem_alloc",
];

/// The allocator of high-bandwidth memory, and its space.
const HIGH_BANDWIDTH: (u16, usize) = (4, 3);

const SPACES: [(&str, usize); 5] = [
    ("omp_default_mem_space", 99),
    ("omp_large_cap_mem_space", 1),
    ("omp_const_mem_space", 2),
    ("omp_high_bw_mem_space", HIGH_BANDWIDTH.1),
    ("omp_low_lat_mem_space", 4),
];

/// Keys by number from 1.
const KEYS: [&str; 14] = [
    "sync_hint",
    "alignment",
    "access",
    "pool_size",
    "fallback",
    "fb_data",
    "pinned",
    "partition",
    "pin_device",
    "preferred_device",
    "device_access",
    "target_access",
    "atomic_scope",
    "part_size",
];

/// Named values.
const VALUES: [(&str, usize); 18] = [
    ("false", 0),
    ("true", 1),
    ("contended", 3),
    ("uncontended", 4),
    ("serialized", 5),
    ("sequential", 5),
    ("private", 6),
    ("all", 19),
    ("thread", 8),
    ("pteam", 9),
    ("cgroup", 10),
    ("default_mem_fb", 11),
    ("null_fb", 12),
    ("abort_fb", 13),
    ("allocator_fb", 14),
    ("environment", 15),
    ("nearest", 16),
    ("interleaved", 18),
];

/// The value of `blocked`, which is named, too.
const BLOCKED: usize = 17;

/// Returns the traits of an allocator of `space`; `None` if they are invalid or there is no such
/// memory.
pub fn read(space: usize, given: &[Trait]) -> Option<Traits> {
    let mut traits = Traits {
        alignment: 16,
        pool: None,
        fallback: Fallback::DefaultMem,
        pinned: false,
        partition: Partition::Environment,
    };
    let (mut to_allocator, mut data) = (false, 0);
    for t in given {
        let value = t.value;
        if value == BY_DEFAULT {
            continue;
        }
        match usize::try_from(t.key)
            .ok()
            .and_then(|k| KEYS.get(k.checked_sub(1)?))
        {
            Some(&"alignment") if value.is_power_of_two() => {
                traits.alignment = traits.alignment.max(value);
            }
            Some(&"pool_size") => traits.pool = Some(value),
            Some(&"fallback") => {
                to_allocator = value == 14;
                traits.fallback = match value {
                    11 | 14 => Fallback::DefaultMem,
                    12 => Fallback::Null,
                    13 => Fallback::Abort,
                    _ => return None,
                };
            }
            Some(&"fb_data") => data = value,
            Some(&"pinned") => traits.pinned = value == 1,
            Some(&"partition") => {
                traits.partition = match value {
                    15 => Partition::Environment,
                    16 => Partition::Nearest,
                    BLOCKED => Partition::Blocked,
                    18 => Partition::Interleaved,
                    _ => return None,
                };
            }
            Some(&"alignment") | None => return None,
            Some(_) => {}
        }
    }
    if to_allocator {
        if data == 0 {
            return None;
        }
        traits.fallback = Fallback::Allocator(data);
    }
    (space != HIGH_BANDWIDTH.1).then_some(traits)
}

/// Reason for which a value of `OMP_ALLOCATOR` is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocatorError {
    /// The value is malformed.
    Malformed,
    /// The memory does not exist.
    Unavailable,
}

/// Parses `OMP_ALLOCATOR`: a predefined allocator, or a memory space with traits.
pub fn parse(text: &str) -> Result<AllocatorRequest, AllocatorError> {
    let text = text.trim().to_ascii_lowercase();
    let number = text.parse().ok().filter(|n| (1..=8).contains(n));
    let known = ALLOCATORS.iter().position(|a| *a == text);
    if let Some(handle) = number.or(known.map(|i| i as u16 + 1)) {
        if handle == HIGH_BANDWIDTH.0 {
            return Err(AllocatorError::Unavailable);
        }
        return Ok(AllocatorRequest::Predefined(handle));
    }
    let (space, list) = text.split_once(':').unwrap_or((&text, ""));
    let space = SPACES.iter().find(|(name, _)| *name == space.trim());
    let &(_, space) = space.ok_or(AllocatorError::Malformed)?;
    let mut given = Vec::new();
    for part in list.split(',').filter(|p| !p.trim().is_empty()) {
        let (key, value) = part.split_once('=').ok_or(AllocatorError::Malformed)?;
        let key = KEYS.iter().position(|k| *k == key.trim());
        let key = key.ok_or(AllocatorError::Malformed)? as i32 + 1;
        let value = value.trim();
        let named = VALUES.iter().find(|(name, _)| *name == value);
        let allocator = ALLOCATORS.iter().position(|a| *a == value);
        let value = match (named, allocator) {
            (Some(&(_, value)), _) => value,
            (_, Some(place)) => place + 1,
            _ if value == "blocked" => BLOCKED,
            _ => value.parse().map_err(|_| AllocatorError::Malformed)?,
        };
        given.push(Trait { key, value });
    }
    if read(SPACES[0].1, &given).is_none() {
        return Err(AllocatorError::Malformed);
    }
    read(space, &given)
        .map(AllocatorRequest::Made)
        .ok_or(AllocatorError::Unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kmpc_allocator_traits() {
        let t = |key, value| Trait { key, value };
        let a = read(99, &[t(2, 4096), t(4, 1000), t(5, 12), t(7, 1), t(8, 18)]).unwrap();
        assert_eq!((a.alignment, a.pool, a.pinned), (4096, Some(1000), true));
        assert_eq!(
            (a.fallback, a.partition),
            (Fallback::Null, Partition::Interleaved)
        );
        let next = read(99, &[t(5, 14), t(6, 5)]).unwrap();
        assert_eq!(next.fallback, Fallback::Allocator(5));
        assert!(
            read(99, &[t(2, BY_DEFAULT), t(1, 4), t(3, 8)])
                .is_some_and(|a| !a.needs_registration())
        );
        for bad in [t(2, 48), t(5, 14), t(5, 3), t(99, 1), t(0, 1), t(8, 3)] {
            assert_eq!(read(99, &[bad]), None, "{bad:?}");
        }
        assert_eq!(read(3, &[]), None);
    }

    #[test]
    fn kmpc_omp_allocator_forms() {
        assert_eq!(
            parse("omp_const_mem_alloc"),
            Ok(AllocatorRequest::Predefined(3))
        );
        assert_eq!(
            parse("omp_high_bw_mem_alloc"),
            Err(AllocatorError::Unavailable)
        );
        let Ok(AllocatorRequest::Made(a)) =
            parse("omp_large_cap_mem_space:alignment=64,pinned=true,partition=blocked")
        else {
            panic!();
        };
        assert_eq!(
            (a.alignment, a.pinned, a.partition),
            (64, true, Partition::Blocked)
        );
        assert!(matches!(
            parse("omp_default_mem_space"),
            Ok(AllocatorRequest::Made(_))
        ));
        let hbw = "omp_high_bw_mem_space:pool_size=1048576,fallback=allocator_fb,\
                   fb_data=omp_low_lat_mem_alloc";
        assert_eq!(parse(hbw), Err(AllocatorError::Unavailable));
        for bad in [
            "",
            "111",
            "omp_default_mem_alloc_xyz",
            "omp_default_mem_space:size=3",
            "omp_default_mem_space:alignment=3",
            "omp_default_mem_space:fallback=allocator_fb",
        ] {
            assert_eq!(parse(bad), Err(AllocatorError::Malformed), "{bad}");
        }
    }
}
