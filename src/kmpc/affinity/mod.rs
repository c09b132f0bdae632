//! Binding of threads to places under `OMP_PROC_BIND`, `OMP_PLACES`, `KMP_AFFINITY` and the
//! `proc_bind` clause. OpenMP 5.2, sections 10.1.3, 21.1.6 and 21.1.7.
//!
//! [`places`] determines the places, [`partition`] assigns one to each member of a team,
//! [`mod@format`] displays them, [`routines`] holds the routines. This file combines them: the
//! master of a region describes its binding in the team before the start. Each member derives its
//! own place assignment from that, and calls the kernel only if its place has changed. None of this
//! code runs unless the environment requests it: then `Icvs::placement` is not 0, which is all that
//! a fork checks.

pub mod format;
pub mod partition;
pub mod places;
pub mod routines;

use ompvm_support::log;
use std::cell::{Cell, OnceCell};
use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::icv::{self, settings};
use crate::runtime::RUNTIME;
use crate::team::Team;
use crate::thread::Thread;
use ompvm_support::machine::{Machine, TopologyLevel};
use ompvm_support::sync::Mutex;
use ompvm_support::topology;
use partition::{BY_NUMBER, Binding, PlaceAssignment};
use places::{AffinityOrder, Place};

/// Bit of `Icvs::placement`: display where threads are (`OMP_DISPLAY_AFFINITY`). The other bits are
/// an `omp_proc_bind_t`.
pub const DISPLAY: u8 = 0x80;

/// The places of this process.
#[derive(Debug)]
pub struct PlaceLayout {
    /// place-partition-var of the initial thread.
    pub places: Vec<Place>,
    /// True if threads are bound.
    bound: bool,
    /// Place of thread 0 (`KMP_AFFINITY`).
    offset: u32,
    /// Number of places in each core (`KMP_AFFINITY=balanced`).
    balanced: Option<u32>,
    /// True if threads of the program return to their previous mask after each outermost region
    /// (`KMP_AFFINITY=reset`).
    reset: bool,
}

/// Places of a process and their display.
pub(crate) struct ProcessAffinity {
    /// See [`layout`].
    layout: OnceLock<PlaceLayout>,
    /// See [`expected_team`].
    expected: OnceLock<ExpectedTeam>,
    /// The last version of a team's placement.
    last_version: AtomicU64,
    /// affinity-format-var as set by a routine.
    format: Mutex<Option<String>>,
}

impl ProcessAffinity {
    /// Returns the state before the first region.
    pub(crate) const fn new() -> ProcessAffinity {
        ProcessAffinity {
            layout: OnceLock::new(),
            expected: OnceLock::new(),
            last_version: AtomicU64::new(0),
            format: Mutex::new(None),
        }
    }
}

/// Returns the places, which the first call determines.
pub fn layout() -> &'static PlaceLayout {
    RUNTIME.affinity.layout.get_or_init(|| {
        let machine = Machine::read(Path::new("/sys"), topology::program_cpus());
        PlaceLayout::resolve(settings(), machine, &mut |text| icv::warn(&text))
    })
}

impl PlaceLayout {
    /// Returns the places that settings request on a machine.
    fn resolve(
        settings: &icv::Settings,
        mut machine: Machine,
        warn: &mut dyn FnMut(String),
    ) -> Self {
        if let Some(text) = &settings.hw_subset
            && places::apply_hw_subset(text, &mut machine).is_none()
        {
            warn(format!(
                "#250: KMP_HW_SUBSET={text:?} does not fit this machine; ignored"
            ));
        }
        let kmp = settings.kmp_affinity.as_ref();
        let disabled = kmp.is_some_and(|k| k.order == AffinityOrder::Disabled);
        let mut layout = Self {
            places: Vec::new(),
            bound: settings.bind && !disabled,
            offset: 0,
            balanced: None,
            reset: kmp.is_some_and(|k| k.reset),
        };
        if disabled {
            return layout;
        }
        let mut ignored = Vec::new();
        if settings.bind {
            layout.places = match (&settings.places, kmp) {
                (Some(request), _) => places::resolve(request, &machine, &mut ignored),
                (None, Some(kmp)) if settings.proc_bind.first() == Some(&BY_NUMBER) => {
                    layout.offset = kmp.offset as u32;
                    let list = places::resolve_kmp(kmp, &machine, &mut ignored);
                    if kmp.order == AffinityOrder::Balanced {
                        let cores = machine.groups(TopologyLevel::Core).len();
                        layout.balanced = Some((list.len() / cores.max(1)).max(1) as u32);
                    }
                    list
                }
                _ => machine.groups(TopologyLevel::Core),
            };
            if !ignored.is_empty() {
                warn(format!(
                    "#124: processors {ignored:?} in a list of places are not available; ignored"
                ));
            }
            if layout.places.is_empty() {
                warn("#250: no place is left on this machine, using cores".to_owned());
                layout.places = machine.groups(TopologyLevel::Core);
            }
        } else {
            layout.places = machine.groups(TopologyLevel::Machine);
        }
        layout
    }

    fn count(&self) -> u32 {
        self.places.len() as u32
    }
}

/// The default team of a region of the initial thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedTeam {
    /// Number of threads.
    pub threads: usize,
    /// Processors that they are bound to, ascending; empty if they are not bound.
    pub cpus: Vec<usize>,
}

/// Returns the team that the environment describes, for callers that need it before the program
/// forms one. Prints no warnings: the program does so when it uses the settings.
pub fn expected_team() -> &'static ExpectedTeam {
    RUNTIME.affinity.expected.get_or_init(|| {
        // The program may narrow its mask later, so its number of processors is not settled yet.
        let settings = icv::of_environment(&mut |_| {});
        let machine = || Machine::read(Path::new("/sys"), topology::allowed_cpus());
        ExpectedTeam::new(&settings, topology::usable_cpus() as u32, machine)
    })
}

impl ExpectedTeam {
    fn new(settings: &icv::Settings, processors: u32, machine: impl FnOnce() -> Machine) -> Self {
        let team = settings.team(processors);
        let mut expected = Self {
            threads: team as usize,
            cpus: Vec::new(),
        };
        if settings.bind {
            let layout = PlaceLayout::resolve(settings, machine(), &mut |_| {});
            expected.cpus = layout.claimed_cpus(settings, team);
        }
        expected
    }
}

impl PlaceLayout {
    /// Returns the processors that members of an outermost team of `size` threads are bound to.
    fn claimed_cpus(&self, settings: &icv::Settings, size: u32) -> Vec<usize> {
        let Some(count) = NonZero::new(self.count()).filter(|_| self.bound) else {
            return Vec::new();
        };
        let binding = Binding {
            policy: settings.proc_bind.first().copied().unwrap_or(0),
            size,
            primary: PlaceAssignment {
                place: self.offset % count,
                first: 0,
                count: count.get(),
            },
            places: count.get(),
        };
        let place = |tid: u32| match self.balanced {
            Some(per_core) => balanced(tid, size, count.get(), per_core),
            None => binding.assign(tid, tid.wrapping_add(self.offset)).place,
        };
        let taken: BTreeSet<usize> = (0..size)
            .flat_map(|tid| self.places[place(tid) as usize].iter().copied())
            .collect();
        taken.into_iter().collect()
    }
}

/// Binding of a thread; used by the thread alone.
#[derive(Debug, Default)]
pub struct ThreadBinding {
    /// Current place and partition.
    pub assignment: Cell<PlaceAssignment>,
    /// The place that the kernel was told, plus one; 0 if none was, or if another mask was set
    /// since.
    kernel_place: Cell<u32>,
    /// Size and level of the team when the thread was last displayed.
    displayed: Cell<(u32, u32)>,
    /// The last place assignment, with the version of its binding and the number of the member.
    last: Cell<(u64, u32, PlaceAssignment)>,
    /// Mask of a thread of the program before it was bound, if the thread returns to it.
    initial_cpus: OnceCell<Vec<usize>>,
}

/// Binding of the members of a team; written by its master between regions.
#[derive(Debug, Default)]
pub struct TeamPlacement {
    binding: Cell<Binding>,
    /// Unique number of the binding, by which members recognize it; never 0.
    version: Cell<u64>,
    /// True if the members display their places.
    display: Cell<bool>,
}

impl ThreadBinding {
    fn bind_to(&self, layout: &PlaceLayout, place: u32) {
        if layout.reset {
            self.initial_cpus.get_or_init(topology::current_cpus);
        }
        if self.kernel_place.get() != place + 1
            && let Some(cpus) = layout.places.get(place as usize)
        {
            topology::bind_current_thread(cpus);
            tracing::debug!(target: log::KMPC, place, ?cpus, "bound a thread");
            self.kernel_place.set(place + 1);
        }
    }

    /// Discards the recorded place, because another caller has changed the thread's mask.
    pub fn forget(&self) {
        self.kernel_place.set(0);
    }
}

/// Assigns a place to a thread of the program, if binding is on and the thread has none: when it
/// first begins a region, or queries or displays places, as in libomp. Other calls leave its mask
/// unchanged.
fn bind_root(thread: &Thread) {
    if thread.binding.assignment.get().count != 0 || !settings().bind || !thread.is_root() {
        return;
    }
    let layout = layout();
    if layout.bound {
        let place = (thread.gtid as u32 + layout.offset) % layout.count();
        thread.binding.assignment.set(PlaceAssignment {
            place,
            first: 0,
            count: layout.count(),
        });
        thread.binding.bind_to(layout, place);
    }
}

/// Returns the place assignment of a thread, also if nothing is bound.
pub fn place_assignment(thread: &Thread) -> PlaceAssignment {
    bind_root(thread);
    match thread.binding.assignment.get() {
        PlaceAssignment { count: 0, .. } => PlaceAssignment {
            place: 0,
            first: 0,
            count: layout().count(),
        },
        assignment => assignment,
    }
}

/// Describes the binding of a team before a region of `size` threads at `level` starts. Returns the
/// place assignment that the master restores after the region. `placement` is the thread's,
/// `clause` the directive's.
#[cold]
pub fn place_team(
    thread: &Thread,
    team: &Team,
    size: u32,
    level: u32,
    placement: u8,
    clause: Option<u8>,
) -> PlaceAssignment {
    bind_root(thread);
    let own = placement & !DISPLAY;
    let policy = match clause {
        Some(clause @ 2..=4) if (1..BY_NUMBER).contains(&own) => clause,
        _ => own,
    };
    let assignment = thread.binding.assignment.get();
    let binding = Binding {
        policy,
        size,
        primary: assignment,
        places: if policy == 0 { 0 } else { layout().count() },
    };
    let team_placement = &team.placement;
    let same = team_placement.binding.replace(binding) == binding;
    if !same {
        let last = &RUNTIME.affinity.last_version;
        let version = last.fetch_add(1, Ordering::Relaxed) + 1;
        team_placement.version.set(version);
    }
    if placement & DISPLAY != 0 {
        let news = !same || thread.binding.displayed.get() != (size, level);
        team_placement.display.set(news);
    }
    assignment
}

/// Restores the place assignment of a master after its region.
#[cold]
pub fn leave(thread: &Thread, assignment: PlaceAssignment) {
    thread.binding.assignment.set(assignment);
    if layout().reset
        && thread.is_root()
        && thread.team().shape().level == 0
        && let Some(cpus) = thread.binding.initial_cpus.get()
    {
        topology::bind_current_thread(cpus);
        thread.binding.forget();
        thread.binding.assignment.set(PlaceAssignment::default());
    }
}

/// Applies the place assignment of a member of a bound team, and displays it if requested.
#[inline]
pub fn apply_place_assignment(thread: &Thread, team: &Team, tid: u32) {
    let team_placement = &team.placement;
    let (version, number, assignment) = thread.binding.last.get();
    let there = version == team_placement.version.get()
        && number == tid
        && thread.binding.kernel_place.get() == assignment.place + 1;
    if there && !team_placement.display.get() {
        thread.binding.assignment.set(assignment);
    } else {
        compute_place_assignment(thread, team, tid);
    }
}

#[cold]
fn compute_place_assignment(thread: &Thread, team: &Team, tid: u32) {
    let binding = team.placement.binding.get();
    let shape = team.shape();
    if binding.policy != 0 && binding.places != 0 {
        let layout = layout();
        let number = (thread.gtid as u32).wrapping_add(layout.offset);
        let mut assignment = binding.assign(tid, number);
        if let (Some(per_core), 1) = (layout.balanced, shape.level) {
            assignment.place = balanced(tid, shape.size, layout.count(), per_core);
        }
        thread.binding.assignment.set(assignment);
        thread.binding.bind_to(layout, assignment.place);
        if layout.balanced.is_none() {
            let last = (team.placement.version.get(), tid, assignment);
            thread.binding.last.set(last);
        }
    }
    if team.placement.display.get() {
        thread.binding.displayed.set((shape.size, shape.level));
        format::display(thread, None);
    }
}

/// Displays a region of one thread at its start, if requested; `placement` is the thread's.
#[cold]
pub fn enter_serial(thread: &Thread, placement: u8) {
    bind_root(thread);
    if placement & DISPLAY == 0 {
        return;
    }
    let shape = thread.team().shape();
    if thread.binding.displayed.replace((1, shape.level)) != (1, shape.level) {
        format::display(thread, None);
    }
}

/// Returns the place of member `tid` of `size` if neighbors share cores, of `per_core` places,
/// evenly.
fn balanced(tid: u32, size: u32, places: u32, per_core: u32) -> u32 {
    let cores = (places / per_core).max(1);
    let (each, rest) = (size / cores, size % cores);
    let border = rest * (each + 1);
    let (core, thread) = if tid < border {
        (tid / (each + 1), tid % (each + 1))
    } else {
        let after = tid - border;
        (rest + after / each.max(1), after % each.max(1))
    };
    (core * per_core + thread % per_core) % places.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env;
    use ompvm_support::machine::{fictitious, format_cpu_list};

    fn settings(vars: &[(&str, &str)], warnings: &mut Vec<String>) -> icv::Settings {
        let mut settings = icv::Settings::new();
        let var = |name: &str| {
            let found = vars.iter().find(|(n, _)| *n == name);
            found.map(|(_, v)| (*v).to_owned())
        };
        env::read(&mut settings, &var, &mut |w| warnings.push(w));
        settings
    }

    fn layout(name: &str, vars: &[(&str, &str)], cpus: &[usize]) -> (PlaceLayout, Vec<String>) {
        let tree = fictitious::tree(name, 2, 8, 2);
        let mut warnings = Vec::new();
        let settings = settings(vars, &mut warnings);
        let layout = PlaceLayout::resolve(&settings, Machine::read(&tree.0, cpus), &mut |w| {
            warnings.push(w);
        });
        (layout, warnings)
    }

    #[test]
    fn kmpc_layout_of_the_variables() {
        let all: Vec<_> = (0..32).collect();
        let (l, w) = layout("l0", &[], &all);
        assert!(!l.bound && l.places.len() == 1 && w.is_empty());
        let (l, _) = layout("l1", &[("OMP_PROC_BIND", "true")], &all);
        assert!(l.bound && l.places.len() == 16 && format_cpu_list(&l.places[1]) == "1,17");
        let (l, w) = layout("l2", &[("OMP_PLACES", "nonsense")], &all);
        assert_eq!((l.places.len(), w.len()), (16, 1), "{w:?}");
        let (l, w) = layout("l3", &[("OMP_PLACES", "{0,1},{77}")], &all);
        assert_eq!((l.places.len(), w.len()), (1, 1), "{w:?}");
        let (l, w) = layout("l4", &[("OMP_PLACES", "{40}")], &all);
        assert_eq!((l.places.len(), w.len()), (16, 2), "{w:?}");
        let (l, _) = layout("l5", &[("OMP_PLACES", "sockets")], &[1, 9, 10]);
        assert_eq!(l.places, [vec![1], vec![9, 10]]);
        let (l, _) = layout("l6", &[("KMP_AFFINITY", "scatter,0,1")], &all);
        assert!(l.bound && l.offset == 1 && format_cpu_list(&l.places[1]) == "8,24");
        let (l, _) = layout("l7", &[("KMP_AFFINITY", "disabled")], &all);
        assert!(!l.bound && l.places.is_empty());
        let (l, w) = layout(
            "l8",
            &[("OMP_PLACES", "threads"), ("KMP_HW_SUBSET", "1s,2c,1t")],
            &all,
        );
        assert_eq!((l.places, w.len()), (vec![vec![0], vec![1]], 0));
        let (l, _) = layout("l9", &[("GOMP_CPU_AFFINITY", "3 1-2")], &all);
        assert_eq!(l.places, [[3], [1], [2]]);
    }

    #[test]
    fn kmpc_expected_teams_claim_their_processors() {
        let all: Vec<_> = (0..32).collect();
        let expected = |vars: &[(&str, &str)]| {
            let tree = fictitious::tree("expected", 2, 8, 2);
            let settings = settings(vars, &mut Vec::new());
            ExpectedTeam::new(&settings, 32, || Machine::read(&tree.0, &all))
        };
        let threads = ("OMP_NUM_THREADS", "3");
        let none = expected(&[]);
        assert_eq!((none.threads, none.cpus), (32, vec![]));
        // Limited by the largest team, so that the computation terminates quickly.
        let endless = [
            ("OMP_NUM_THREADS", "2147483647"),
            ("OMP_PROC_BIND", "spread"),
        ];
        assert_eq!(expected(&endless).cpus, all);
        let limited = expected(&[threads, ("OMP_THREAD_LIMIT", "2")]);
        assert_eq!((limited.threads, limited.cpus), (2, vec![]));
        let close = [threads, ("OMP_PLACES", "cores"), ("OMP_PROC_BIND", "close")];
        assert_eq!(expected(&close).cpus, [0, 1, 2, 16, 17, 18]);
        let spread = [
            threads,
            ("OMP_PLACES", "threads"),
            ("OMP_PROC_BIND", "spread"),
        ];
        assert_eq!(expected(&spread).cpus.len(), 3);
        let many = [
            ("OMP_NUM_THREADS", "64"),
            ("OMP_PLACES", "cores"),
            ("OMP_PROC_BIND", "close"),
        ];
        assert_eq!(expected(&many).cpus, all);
    }

    #[test]
    fn kmpc_balanced_shares_cores_evenly() {
        let places = |size, per| (0..size).map(|t| balanced(t, size, 4 * per, per)).collect();
        let on_cores: Vec<u32> = places(6, 1);
        assert_eq!(on_cores, [0, 0, 1, 1, 2, 3]);
        let on_threads: Vec<u32> = places(6, 2);
        assert_eq!(on_threads, [0, 1, 2, 3, 4, 6]);
        let few: Vec<u32> = places(3, 2);
        assert_eq!(few, [0, 2, 4]);
    }
}
