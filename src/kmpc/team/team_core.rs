//! The team core: the synchronization of a team, which is launch, barrier, gather/release and join.
//!
//! A team core (`TeamCore`) has one master and the workers attached to it. It only moves epochs
//! between threads; `Team` knows what a region executes, and every OpenMP notion. README.md beside
//! this file specifies the protocol with its states and transitions; loom checks it (the `loom_*`
//! tests below).
//!
//! It neither creates threads nor decides how many take part.

use std::cell::{Cell, UnsafeCell};

use crossbeam::utils::CachePadded;

use super::parker::{Parker, SpinPolicy};
use crate::waits::{Construct, PossibleWait};
use ompvm_support::sync::{AtomicU32, AtomicU64, Ordering, fence, publish};

/// Participant half of the launch word that dismisses every worker.
const DISMISS: u32 = u32::MAX;
/// Maximum size of teams with the all-to-all barrier.
const ALL_TO_ALL_MAX: u32 = 4;
/// Maximum size of teams that gather directly at the master.
const FLAT_MAX: u32 = 8;
/// Fan-in of the gathering tree of larger teams.
const FAN_IN: u32 = 4;

/// Barrier algorithm. The master chooses it at launch for all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierAlgorithm {
    /// For few threads, each on its own processor: every member writes its own flag and reads all
    /// others.
    AllToAll,
    /// For many threads: flags are gathered along a tree, and one word releases everyone.
    Tree,
    /// For more threads than processors: one counter, so that only the last arrival wakes the
    /// others.
    Counter,
}

/// State of one member. Its address is stable for the life of the team core.
#[derive(Debug)]
pub struct Slot<L> {
    /// Number of the barrier that this member reached last. Written by the member alone.
    arrived: CachePadded<AtomicU64>,
    parker: CachePadded<Parker>,
    /// The member's own count of barriers, gathers and joins; never reset.
    epoch: Cell<u64>,
    /// State of the member for the layer above; accessed by the member alone.
    pub local: L,
}

/// Idle work: what a member does while it waits for others.
pub trait IdleWork {
    /// Returns true if work may be available. A producer must wake sleeping members.
    fn is_available(&self) -> bool;
    /// Executes work until `done` returns true or no more work can appear. May wait in between.
    fn execute(&self, done: &dyn Fn() -> bool);
    /// Called if the member was woken, possibly for idle work, and continues without looking for
    /// any.
    fn decline(&self);
}

/// No idle work: the member only waits.
pub struct NoIdleWork;

impl IdleWork for NoIdleWork {
    #[inline(always)]
    fn is_available(&self) -> bool {
        false
    }

    fn execute(&self, _done: &dyn Fn() -> bool) {}

    fn decline(&self) {}
}

/// Command to a waiting worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerCommand {
    /// Take part in region `region` of `size` members.
    Run {
        /// Number of the region in this team.
        region: u32,
        /// Number of participants.
        size: u32,
        /// True if the worker was woken, possibly for another reason.
        woken: bool,
    },
    /// Help the region that was joined last.
    Help,
    /// Leave the team.
    Dismissed,
}

impl<L> Slot<L> {
    /// Returns the member's own count of barriers. Only the member may call it.
    pub fn epoch(&self) -> u64 {
        self.epoch.get()
    }
}

#[repr(C)]
struct Launch<D> {
    /// region << 32 | participants.
    word: AtomicU64,
    /// Epoch of the master at the start of the region, from which participants count on.
    base: UnsafeCell<u64>,
    /// Description of the region; its first fields share the word's cache line.
    description: UnsafeCell<D>,
}

/// The synchronization core of a team. See README.md.
pub struct TeamCore<L, D = ()> {
    launch: CachePadded<Launch<D>>,
    release: CachePadded<AtomicU64>,
    count: CachePadded<AtomicU32>,
    sleepers: CachePadded<AtomicU32>,
    slots: UnsafeCell<Vec<Box<Slot<L>>>>,
}

// SAFETY: the master changes `slots` and the description only while no worker takes part in a
// region; participants read them between their launch (Acquire) and their join (Release). Only its
// member accesses a slot's `epoch` and `local`. Everything else is atomic.
unsafe impl<L: Send, D> Sync for TeamCore<L, D> {}
// SAFETY: no field is bound to the creating thread, and slots and description may be sent.
unsafe impl<L: Send, D> Send for TeamCore<L, D> {}

impl<L: Default, D: Default> Default for TeamCore<L, D> {
    fn default() -> Self {
        Self::new(D::default())
    }
}

impl<L: Default, D> TeamCore<L, D> {
    /// Creates a team core with the master's slot alone.
    pub fn new(description: D) -> Self {
        let core = Self {
            launch: CachePadded::new(Launch {
                word: AtomicU64::new(0),
                base: UnsafeCell::new(0),
                description: UnsafeCell::new(description),
            }),
            release: CachePadded::new(AtomicU64::new(0)),
            count: CachePadded::new(AtomicU32::new(0)),
            sleepers: CachePadded::new(AtomicU32::new(0)),
            slots: UnsafeCell::new(Vec::new()),
        };
        // SAFETY: no other thread knows the new value, so no region runs.
        unsafe { core.grow(1) };
        core
    }

    /// Returns the description of the running region.
    #[inline(always)]
    pub fn description(&self) -> &D {
        // SAFETY: only participants and the master call this, and the description is written
        // between regions.
        unsafe { &*self.launch.description.get() }
    }

    /// Changes the description for the next region.
    ///
    /// # Safety
    /// Only the master may call it, while no region runs.
    #[inline(always)]
    pub unsafe fn describe(&self, change: impl FnOnce(&mut D)) {
        // SAFETY: no region runs, so no other thread reads the description (caller's contract).
        change(unsafe { &mut *self.launch.description.get() });
    }

    /// Adds slots until there are `size`.
    ///
    /// # Safety
    /// Only the master may call it, while no region runs.
    pub unsafe fn grow(&self, size: usize) {
        // SAFETY: no region runs, so no participant reads the vector (caller's contract).
        let slots = unsafe { &mut *self.slots.get() };
        while slots.len() < size {
            slots.push(Box::new(Slot {
                arrived: CachePadded::new(AtomicU64::new(0)),
                parker: CachePadded::new(Parker::new()),
                epoch: Cell::new(0),
                local: L::default(),
            }));
        }
    }

    /// Returns the number of slots.
    ///
    /// # Safety
    /// Only the master may call it, or a participant of the running region.
    pub unsafe fn capacity(&self) -> usize {
        // SAFETY: only the master changes the vector, between regions; the caller is the master or
        // keeps the region running.
        unsafe { (&*self.slots.get()).len() }
    }

    /// Returns the slot of member `tid`.
    ///
    /// # Safety
    /// The caller is a participant of the running region, or the master between regions, and `tid`
    /// is below the capacity.
    #[inline(always)]
    pub unsafe fn slot(&self, tid: u32) -> &Slot<L> {
        // SAFETY: the vector does not change during a region, and `tid` is in range (caller's
        // contract).
        unsafe { (&*self.slots.get()).get_unchecked(tid as usize) }
    }

    /// Starts the next region with `size` members and returns its number. Called by the master.
    ///
    /// All earlier writes of the master are visible to the participants (Release here, Acquire in
    /// [`TeamCore::await_command`]).
    ///
    /// # Safety
    /// Only the master may call it, after the last region was joined; `size` slots exist.
    #[inline]
    pub unsafe fn start(&self, size: u32) -> u32 {
        let region = ((self.launch.word.load(Ordering::Relaxed) >> 32) as u32).wrapping_add(1);
        // SAFETY: the master accesses its own slot and the base between regions, when no
        // participant reads the base.
        unsafe { *self.launch.base.get() = self.slot(0).epoch.get() };
        publish(&self.launch.word, (region as u64) << 32 | size as u64);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            for tid in 1..size {
                // SAFETY: `size` slots exist (caller's contract), and the vector does not change
                // during a region.
                unsafe { self.slot(tid) }.parker.unpark();
            }
        }
        region
    }

    /// Tells every worker to leave. Called by the master; no region may be started afterwards.
    ///
    /// # Safety
    /// Only the master may call it, while no region runs.
    pub unsafe fn dismiss(&self) {
        let region = ((self.launch.word.load(Ordering::Relaxed) >> 32) as u32).wrapping_add(1);
        publish(&self.launch.word, (region as u64) << 32 | DISMISS as u64);
        // SAFETY: only the caller, the master, changes the vector.
        for slot in unsafe { &*self.slots.get() } {
            slot.parker.unpark();
        }
    }

    /// Returns the number of the region started last.
    pub fn region(&self) -> u32 {
        (self.launch.word.load(Ordering::Relaxed) >> 32) as u32
    }

    /// Waits for a region after `last` in which worker `tid` takes part, or until `work_available`
    /// returns true. `joined` is the number of the barrier by which the worker joined its last region,
    /// for the record of its wait.
    ///
    /// A worker that does not take part may miss regions. One that takes part cannot, because the
    /// master starts no other region before it has joined.
    ///
    /// # Safety
    /// `slot` is the caller's own slot, `tid` its number.
    pub unsafe fn await_command(
        &self,
        slot: &Slot<L>,
        tid: u32,
        last: u32,
        joined: u64,
        spin_policy: SpinPolicy,
        work_available: impl Fn() -> bool,
    ) -> WorkerCommand {
        let look = || {
            let word = self.launch.word.load(Ordering::Acquire);
            let (region, size) = ((word >> 32) as u32, word as u32);
            if size == DISMISS {
                Some(WorkerCommand::Dismissed)
            } else if region != last && tid < size {
                let woken = false;
                Some(WorkerCommand::Run {
                    region,
                    size,
                    woken,
                })
            } else {
                None
            }
        };
        let construct = Construct::IDLE;
        let wait = PossibleWait { construct, joined };
        let was_woken = slot
            .parker
            .wait_until(&self.sleepers, spin_policy, wait, || {
                look().is_some() || work_available()
            });
        let mut command = look().unwrap_or(WorkerCommand::Help);
        if let WorkerCommand::Run { woken, .. } = &mut command {
            *woken = was_woken;
            // SAFETY: the master wrote the base before the launch that we acquired. We take part,
            // so it writes the base again only after our join.
            slot.epoch.set(unsafe { *self.launch.base.get() });
        }
        command
    }

    /// Returns the member's count of barriers so far, which is equal in all members between two
    /// barriers.
    ///
    /// # Safety
    /// `tid` is the caller's own number in the running region.
    #[inline(always)]
    pub unsafe fn epoch(&self, tid: u32) -> u64 {
        // SAFETY: a participant reads its own slot (caller's contract).
        unsafe { self.slot(tid) }.epoch.get()
    }

    /// Waits in `construct` for a condition of the layer above. Whoever makes it true announces that
    /// with [`TeamCore::wake_all`]. Returns true if the member was woken, possibly for another reason.
    ///
    /// # Safety
    /// `tid` is the caller's own number in the running region.
    pub unsafe fn wait(
        &self,
        tid: u32,
        spin_policy: SpinPolicy,
        construct: Construct,
        done: impl Fn() -> bool,
    ) -> bool {
        // SAFETY: a participant uses its own slot (caller's contract).
        let me = unsafe { self.slot(tid) };
        let wait = PossibleWait::at(construct);
        me.parker
            .wait_until(&self.sleepers, spin_policy, wait, done)
    }

    /// Like [`TeamCore::wait`], with a cheaper check while spinning; see [`Parker::wait_until_or`].
    ///
    /// # Safety
    /// As for [`TeamCore::wait`].
    pub unsafe fn wait_or(
        &self,
        tid: u32,
        spin_policy: SpinPolicy,
        construct: Construct,
        glance: impl Fn() -> bool,
        done: impl Fn() -> bool,
        woken: impl Fn(),
    ) -> bool {
        // SAFETY: a participant uses its own slot (caller's contract).
        let me = unsafe { self.slot(tid) };
        let wait = PossibleWait::at(construct);
        me.parker
            .wait_until_or(&self.sleepers, spin_policy, wait, glance, done, woken)
    }

    /// Returns true if any thread of the team sleeps or is about to. Meaningful after a full fence.
    #[inline(always)]
    pub fn anyone_sleeps(&self) -> bool {
        self.sleepers.load(Ordering::Relaxed) > 0
    }

    /// Wakes member `tid` if it sleeps. The caller has published the member's condition.
    ///
    /// # Safety
    /// The caller takes part in the running region, or keeps it from ending, and `tid` is below the
    /// capacity.
    pub unsafe fn unpark(&self, tid: u32) {
        // SAFETY: the region does not end meanwhile, and `tid` is in range (caller's contract).
        unsafe { self.slot(tid) }.parker.unpark();
    }

    /// Wakes one sleeping member of those that `fits` accepts. Returns false if there is none.
    ///
    /// # Safety
    /// As for [`TeamCore::unpark`], in a region of `size` members.
    pub unsafe fn unpark_one(&self, size: u32, fits: impl Fn(&L) -> bool) -> bool {
        (0..size).any(|tid| {
            // SAFETY: the region does not end meanwhile, and `tid` is below its size (caller's
            // contract).
            let slot = unsafe { self.slot(tid) };
            fits(&slot.local) && slot.parker.unpark()
        })
    }

    /// Waits in `construct` for `done` and does idle work meanwhile.
    #[inline(always)]
    fn await_with(
        &self,
        me: &Slot<L>,
        construct: Construct,
        spin_policy: SpinPolicy,
        idle_work: &impl IdleWork,
        done: impl Fn() -> bool,
    ) {
        while !done() {
            let wait = PossibleWait::at(construct);
            let woken = me.parker.wait_until(&self.sleepers, spin_policy, wait, || {
                done() || idle_work.is_available()
            });
            if done() {
                if woken {
                    idle_work.decline();
                }
                return;
            }
            idle_work.execute(&done);
        }
    }

    /// Wakes all sleeping members. The caller has published their condition.
    ///
    /// # Safety
    /// The caller takes part in the running region of `size` members.
    #[inline]
    pub unsafe fn wake_all(&self, size: u32) {
        self.wake_others(u32::MAX, size);
    }

    #[inline(always)]
    fn wait_arrived(
        &self,
        me: &Slot<L>,
        other: &Slot<L>,
        epoch: u64,
        construct: Construct,
        spin_policy: SpinPolicy,
        idle_work: &impl IdleWork,
    ) {
        self.await_with(me, construct, spin_policy, idle_work, || {
            other.arrived.load(Ordering::Acquire) >= epoch
        });
    }

    fn wake_others(&self, tid: u32, size: u32) {
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            for other in (0..size).filter(|&other| other != tid) {
                // SAFETY: callers take part in the region, and `other` is below its size.
                unsafe { self.slot(other) }.parker.unpark();
            }
        }
    }

    /// Waits until all `size` members have arrived. All earlier writes of each member are visible
    /// to all members afterwards (Release of the arrival, Acquire of each waiter; with `Tree` and
    /// `Counter` transitively through the master or the counter).
    ///
    /// # Safety
    /// `tid` is the caller's own number in the running region, `size` the region's size.
    #[inline]
    pub unsafe fn barrier(
        &self,
        tid: u32,
        size: u32,
        barrier_algorithm: BarrierAlgorithm,
        spin_policy: SpinPolicy,
        idle_work: &impl IdleWork,
    ) {
        // SAFETY: a participant uses its own slot (caller's contract).
        let me = unsafe { self.slot(tid) };
        let epoch = me.epoch.get() + 1;
        let at = Construct::BARRIER;
        match barrier_algorithm {
            BarrierAlgorithm::AllToAll => {
                me.epoch.set(epoch);
                publish(&me.arrived, epoch);
                self.wake_others(tid, size);
                for other in (0..size).filter(|&other| other != tid) {
                    // SAFETY: `other` is below the region's size.
                    let other = unsafe { self.slot(other) };
                    self.wait_arrived(me, other, epoch, at, spin_policy, idle_work);
                }
            }
            BarrierAlgorithm::Tree => {
                // SAFETY: `tid` and `size` are the caller's and the region's, and `release` follows
                // `gather`.
                unsafe {
                    self.gather(tid, size, spin_policy, idle_work, |_| {});
                    self.release(tid, size, spin_policy, idle_work);
                }
            }
            BarrierAlgorithm::Counter => {
                me.epoch.set(epoch);
                if self.count.fetch_add(1, Ordering::AcqRel) + 1 == size {
                    self.count.store(0, Ordering::Relaxed);
                    publish(&self.release, epoch);
                    self.wake_others(tid, size);
                } else {
                    self.await_with(me, at, spin_policy, idle_work, || {
                        self.release.load(Ordering::Acquire) >= epoch
                    });
                }
            }
        }
    }

    /// First half of a barrier: returns at the master when all have arrived, at others once their
    /// own arrival is announced. Calls `absorb(child)` for each member whose arrival the caller has
    /// observed directly, so that data can be combined on the way.
    ///
    /// # Safety
    /// As for [`TeamCore::barrier`]; every member must call [`TeamCore::release`] next.
    pub unsafe fn gather(
        &self,
        tid: u32,
        size: u32,
        spin_policy: SpinPolicy,
        idle_work: &impl IdleWork,
        absorb: impl FnMut(u32),
    ) {
        // SAFETY: a participant uses its own slot (caller's contract).
        let me = unsafe { self.slot(tid) };
        let epoch = me.epoch.get() + 1;
        me.epoch.set(epoch);
        // SAFETY: `tid` and `size` are the caller's and the region's, and the epoch is the next
        // one.
        unsafe { self.arrive::<false>(tid, size, epoch, spin_policy, idle_work, absorb) };
    }

    /// Second half of a barrier: the master lets the others continue.
    ///
    /// # Safety
    /// The same member has called [`TeamCore::gather`] before.
    pub unsafe fn release(
        &self,
        tid: u32,
        size: u32,
        spin_policy: SpinPolicy,
        idle_work: &impl IdleWork,
    ) {
        // SAFETY: a participant uses its own slot (caller's contract).
        let me = unsafe { self.slot(tid) };
        let epoch = me.epoch.get();
        if tid == 0 {
            publish(&self.release, epoch);
            self.wake_others(0, size);
        } else {
            self.await_with(me, Construct::BARRIER, spin_policy, idle_work, || {
                self.release.load(Ordering::Acquire) >= epoch
            });
        }
    }

    unsafe fn arrive<const REGION_END: bool>(
        &self,
        tid: u32,
        size: u32,
        epoch: u64,
        spin_policy: SpinPolicy,
        idle_work: &impl IdleWork,
        mut absorb: impl FnMut(u32),
    ) {
        // SAFETY: callers pass their own number in the running region.
        let me = unsafe { self.slot(tid) };
        let at = match REGION_END {
            true => Construct::REGION_END,
            false => Construct::BARRIER,
        };
        let fan_in = if size <= FLAT_MAX { size } else { FAN_IN };
        let first = tid as u64 * fan_in as u64 + 1;
        for child in first..(first + fan_in as u64).min(size as u64) {
            // SAFETY: `child` is below the region's size.
            let child_slot = unsafe { self.slot(child as u32) };
            self.wait_arrived(me, child_slot, epoch, at, spin_policy, idle_work);
            absorb(child as u32);
        }
        if tid != 0 {
            // Looked up before the arrival: afterwards the master may end the region and grow the
            // vector. The slot itself lives as long as the team core, which workers keep alive.
            // SAFETY: the parent's number is below the caller's, so it is in the region.
            let parent = &unsafe { self.slot((tid - 1) / fan_in) }.parker;
            publish(&me.arrived, epoch);
            if self.sleepers.load(Ordering::Relaxed) > 0 {
                parent.unpark();
            }
        }
    }

    /// Waits in a contained region until `finished` is true of each member below `size` but the
    /// master, which calls this.
    ///
    /// # Safety
    /// As for [`TeamCore::barrier`].
    pub unsafe fn await_members(
        &self,
        size: u32,
        spin_policy: SpinPolicy,
        idle_work: &impl IdleWork,
        finished: impl Fn(&L) -> bool,
    ) {
        // SAFETY: the master uses its own slot (caller's contract).
        let me = unsafe { self.slot(0) };
        for tid in 1..size {
            // SAFETY: `tid` is below the region's size.
            let member = unsafe { self.slot(tid) };
            self.await_with(me, Construct::REGION_END, spin_policy, idle_work, || {
                finished(&member.local)
            });
        }
    }

    /// Announces by `finish` that a member has left a contained region, and wakes the master. Counts
    /// the join if the region did not fail.
    ///
    /// # Safety
    /// `tid` is the caller's own number in the running region; it accesses nothing of the region
    /// afterwards.
    pub unsafe fn finish_member(&self, tid: u32, joins: bool, finish: impl FnOnce(&L)) {
        // SAFETY: a participant uses its own slot and that of the master, which live as long as the
        // team core (caller's contract).
        let (me, master) = unsafe { (self.slot(tid), self.slot(0)) };
        if joins {
            me.epoch.set(me.epoch.get() + 1);
        }
        finish(&me.local);
        fence(Ordering::SeqCst);
        if tid != 0 && self.sleepers.load(Ordering::Relaxed) > 0 {
            master.parker.unpark();
        }
    }

    /// The join at the end of a region: workers announce their arrival and may continue, the master
    /// waits for all.
    ///
    /// # Safety
    /// As for [`TeamCore::barrier`]; a worker accesses nothing of the region afterwards.
    #[inline]
    pub unsafe fn join(
        &self,
        tid: u32,
        size: u32,
        spin_policy: SpinPolicy,
        idle_work: &impl IdleWork,
    ) {
        // SAFETY: a participant uses its own slot (caller's contract).
        let me = unsafe { self.slot(tid) };
        let epoch = me.epoch.get() + 1;
        me.epoch.set(epoch);
        // SAFETY: `tid` and `size` are the caller's and the region's, and the epoch is the next
        // one.
        unsafe { self.arrive::<true>(tid, size, epoch, spin_policy, idle_work, |_| {}) };
    }
}

/// Returns the barrier algorithm for a team of `size` on `processors` processors.
pub fn choose_barrier_algorithm(size: u32, processors: u32) -> BarrierAlgorithm {
    if size > processors {
        BarrierAlgorithm::Counter
    } else if size <= ALL_TO_ALL_MAX {
        BarrierAlgorithm::AllToAll
    } else {
        BarrierAlgorithm::Tree
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64 as Plain;

    const NAP: SpinPolicy = SpinPolicy {
        checks: 10,
        micros: 1,
        yields: false,
    };

    /// Runs `regions` regions of each size in turn, with `barriers` barriers each, and checks that
    /// no member passes a barrier before all have arrived.
    fn exercise(sizes: &[u32], barrier_algorithm: BarrierAlgorithm, regions: u32, barriers: u64) {
        let core = Arc::new(TeamCore::<()>::new(()));
        let most = *sizes.iter().max().unwrap();
        // SAFETY: no region runs.
        unsafe { core.grow(most as usize) };
        let arrivals = Arc::new(Plain::new(0));
        let body = move |core: &TeamCore<()>, arrivals: &Plain, tid: u32, size: u32, base: u64| {
            for barrier in 1..=barriers {
                arrivals.fetch_add(1, Ordering::Relaxed);
                // SAFETY: `tid` is the participant's own number.
                unsafe { core.barrier(tid, size, barrier_algorithm, NAP, &NoIdleWork) };
                assert!(arrivals.load(Ordering::Relaxed) >= base + barrier * size as u64);
                // SAFETY: `tid` is the participant's own number.
                unsafe { core.barrier(tid, size, barrier_algorithm, NAP, &NoIdleWork) };
            }
        };
        let base_cell = Arc::new(Plain::new(0));
        let workers: Vec<_> = (1..most)
            .map(|tid| {
                let (core, arrivals, base) = (core.clone(), arrivals.clone(), base_cell.clone());
                // SAFETY: the team core has a slot for `tid`, whose address is stable.
                let slot = unsafe { core.slot(tid) as *const Slot<()> } as usize;
                std::thread::spawn(move || {
                    let mut last = 0;
                    loop {
                        // SAFETY: the worker's own slot, which lives as long as the team core.
                        let slot = unsafe { &*(slot as *const Slot<()>) };
                        // SAFETY: the worker's own slot and number.
                        match unsafe { core.await_command(slot, tid, last, 0, NAP, || false) } {
                            WorkerCommand::Run { region, size, .. } => {
                                last = region;
                                let base = base.load(Ordering::Relaxed);
                                body(&core, &arrivals, tid, size, base);
                                // SAFETY: the worker takes part in the region with this number.
                                unsafe { core.join(tid, size, NAP, &NoIdleWork) };
                            }
                            WorkerCommand::Help | WorkerCommand::Dismissed => return,
                        }
                    }
                })
            })
            .collect();
        for round in 0..regions {
            let size = sizes[round as usize % sizes.len()];
            let base = arrivals.load(Ordering::Relaxed);
            base_cell.store(base, Ordering::Relaxed);
            // SAFETY: this thread is the master, and the last region was joined.
            unsafe {
                core.start(size);
                body(&core, &arrivals, 0, size, base);
                core.join(0, size, NAP, &NoIdleWork);
            }
            assert_eq!(
                arrivals.load(Ordering::Relaxed),
                base + barriers * size as u64
            );
        }
        // SAFETY: no region runs.
        unsafe { core.dismiss() };
        for worker in workers {
            worker.join().unwrap();
        }
    }

    #[test]
    fn kmpc_team_core_all_to_all_barrier() {
        exercise(&[2, 4, 3], BarrierAlgorithm::AllToAll, 60, 5);
    }

    #[test]
    fn kmpc_team_core_tree_barrier() {
        exercise(&[12, 2, 9], BarrierAlgorithm::Tree, 30, 3);
    }

    #[test]
    fn kmpc_team_core_counter_barrier() {
        exercise(&[12, 2, 5], BarrierAlgorithm::Counter, 30, 3);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::cell::UnsafeCell as Tracked;
    use loom::sync::Arc;

    /// Sleeps at once, so that every path through the parker is explored.
    const SLEEPY: SpinPolicy = SpinPolicy::NONE;

    struct Shared {
        core: TeamCore<()>,
        /// Values that each member writes before a barrier and others read after it; loom reports a
        /// race.
        cells: Vec<Tracked<u32>>,
    }

    // SAFETY: the code under test orders the accesses; loom checks that it does.
    unsafe impl Sync for Shared {}
    // SAFETY: no field is bound to a thread.
    unsafe impl Send for Shared {}

    fn check(size: u32, regions: u32, body: fn(&Shared, u32, u32)) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let core = TeamCore::new(());
            // SAFETY: no region runs.
            unsafe { core.grow(size as usize) };
            let cells = (0..size).map(|_| Tracked::new(0)).collect();
            let shared = Arc::new(Shared { core, cells });
            let workers: Vec<_> = (1..size)
                .map(|tid| {
                    let shared = shared.clone();
                    loom::thread::spawn(move || {
                        let mut last = 0;
                        loop {
                            // SAFETY: the worker's own slot and number.
                            let command = unsafe {
                                let slot = shared.core.slot(tid);
                                shared
                                    .core
                                    .await_command(slot, tid, last, 0, SLEEPY, || false)
                            };
                            let WorkerCommand::Run { region, size, .. } = command else {
                                return;
                            };
                            last = region;
                            body(&shared, tid, size);
                            // SAFETY: the worker takes part in the region with this number.
                            unsafe { shared.core.join(tid, size, SLEEPY, &NoIdleWork) };
                        }
                    })
                })
                .collect();
            for _ in 0..regions {
                for cell in &shared.cells {
                    // SAFETY: only the master accesses the cells between regions; loom checks it.
                    cell.with_mut(|p| unsafe { *p += 1 });
                }
                // SAFETY: this thread is the master, and the last region was joined.
                unsafe {
                    shared.core.start(size);
                    body(&shared, 0, size);
                    shared.core.join(0, size, SLEEPY, &NoIdleWork);
                }
            }
            // SAFETY: no region runs.
            unsafe { shared.core.dismiss() };
            for worker in workers {
                worker.join().unwrap();
            }
        });
    }

    fn write_own(shared: &Shared, tid: u32) {
        // SAFETY: each member writes its own cell; loom checks it.
        shared.cells[tid as usize].with_mut(|p| unsafe { *p += 1 });
    }

    fn read_all(shared: &Shared) {
        let mut seen = shared.cells.iter().map(|c| {
            // SAFETY: no member writes between the two barriers; loom checks it.
            c.with(|p| unsafe { *p })
        });
        let first = seen.next().unwrap();
        assert!(seen.all(|v| v == first));
    }

    fn barrier_body(barrier_algorithm: BarrierAlgorithm) -> fn(&Shared, u32, u32) {
        macro_rules! body {
            ($m:expr) => {
                |shared, tid, size| {
                    write_own(shared, tid);
                    // SAFETY: `tid` is the participant's own number.
                    unsafe { shared.core.barrier(tid, size, $m, SLEEPY, &NoIdleWork) };
                    read_all(shared);
                }
            };
        }
        match barrier_algorithm {
            BarrierAlgorithm::AllToAll => body!(BarrierAlgorithm::AllToAll),
            BarrierAlgorithm::Tree => body!(BarrierAlgorithm::Tree),
            BarrierAlgorithm::Counter => body!(BarrierAlgorithm::Counter),
        }
    }

    #[test]
    fn loom_launch_and_join_publish() {
        check(2, 2, |shared, tid, _| write_own(shared, tid));
    }

    #[test]
    fn loom_all_to_all() {
        check(2, 1, barrier_body(BarrierAlgorithm::AllToAll));
    }

    #[test]
    fn loom_tree() {
        check(2, 1, barrier_body(BarrierAlgorithm::Tree));
    }

    #[test]
    fn loom_counter() {
        check(2, 1, barrier_body(BarrierAlgorithm::Counter));
    }

    #[test]
    fn loom_gather_combines_before_the_release() {
        check(2, 1, |shared, tid, size| {
            write_own(shared, tid);
            // SAFETY: `tid` is the participant's own number.
            unsafe {
                shared.core.gather(tid, size, SLEEPY, &NoIdleWork, |child| {
                    // The child waits for the release, so its cell may be read and written.
                    write_own(shared, child);
                });
                shared.core.release(tid, size, SLEEPY, &NoIdleWork);
            }
            // SAFETY: `tid` is the participant's own number.
            unsafe {
                shared
                    .core
                    .barrier(tid, size, BarrierAlgorithm::AllToAll, SLEEPY, &NoIdleWork)
            };
        });
    }
}
