//! The synchronisation core of a team: launch, barrier, gather/release, join.
//!
//! A gang is one master and the workers attached to it. It only moves epochs between threads; what
//! a region executes, and every OpenMP notion, is `Team`'s. README.md beside this file states the
//! protocol with its states and transitions; loom checks it (`loom_*` tests below).
//!
//! It does not create threads, and it does not decide how many take part.

use std::cell::{Cell, UnsafeCell};

use crossbeam::utils::CachePadded;

use super::parker::{Parker, Patience};
use crate::support::sync::{AtomicU32, AtomicU64, Ordering, publish};

/// Value of the participant half of the launch word that dismisses every worker.
const DISMISS: u32 = u32::MAX;
/// Teams up to this size use the all-to-all barrier.
const ALL_TO_ALL_MAX: u32 = 4;
/// Teams up to this size gather directly at the master.
const FLAT_MAX: u32 = 8;
/// Fan-in of the gathering tree of larger teams.
const FAN_IN: u32 = 4;

/// How the members of a gang meet. The master chooses at launch; all members use the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// Few threads, one each on a processor: everyone writes its own flag and reads all others.
    AllToAll,
    /// Many threads: flags are gathered along a tree, one word releases everyone.
    Tree,
    /// More threads than processors: one counter, so that only the last arrival wakes others.
    Counter,
}

/// One member's place in a gang. The address is stable for the gang's life.
#[derive(Debug)]
pub struct Slot<L> {
    /// The number of the meeting this member reached last. Written by the member alone.
    arrived: CachePadded<AtomicU64>,
    parker: CachePadded<Parker>,
    /// The member's own count of meetings (barriers, gathers, joins), never reset in a gang.
    epoch: Cell<u64>,
    /// What the layer above keeps for the member; touched only by the member itself.
    pub local: L,
}

/// What a member does while it waits for others.
pub trait Errand {
    /// Whether there may be something to do. Who makes it so wakes a member that sleeps.
    fn called(&self) -> bool;
    /// Does it, until `done` or nothing can come any more; what it waits for meanwhile is its own.
    fn attend(&self, done: &dyn Fn() -> bool);
    /// It was woken, perhaps for an errand, and goes on without having looked for one.
    fn decline(&self);
}

/// Nothing to do but wait.
pub struct Idle;

impl Errand for Idle {
    #[inline(always)]
    fn called(&self) -> bool {
        false
    }

    fn attend(&self, _done: &dyn Fn() -> bool) {}

    fn decline(&self) {}
}

/// What a waiting worker is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Take part in region `region` of `size` members.
    Run {
        /// The region's number in this gang.
        region: u32,
        /// Members that take part.
        size: u32,
        /// The worker was woken, perhaps for another reason.
        woken: bool,
    },
    /// Help the region that was joined last.
    Help,
    /// Leave the gang.
    Dismissed,
}

impl<L> Slot<L> {
    /// The member's own count of meetings; only the member may ask.
    pub fn epoch(&self) -> u64 {
        self.epoch.get()
    }
}

#[repr(C)]
struct Launch<D> {
    /// region << 32 | participants.
    word: AtomicU64,
    /// The master's meeting count at the start of the region: what participants count on from.
    base: UnsafeCell<u64>,
    /// What the region is; its first fields share the word's cache line.
    description: UnsafeCell<D>,
}

/// The synchronisation core of a team. See README.md.
pub struct Gang<L, D = ()> {
    launch: CachePadded<Launch<D>>,
    release: CachePadded<AtomicU64>,
    count: CachePadded<AtomicU32>,
    sleepers: CachePadded<AtomicU32>,
    slots: UnsafeCell<Vec<Box<Slot<L>>>>,
}

// SAFETY: `slots` and the description are changed only by the master while no worker takes part in a region, and
// read by participants between their launch (Acquire) and their join (Release); a slot's `epoch`
// and `local` are used by its member alone; the rest is atomic.
unsafe impl<L: Send, D> Sync for Gang<L, D> {}
// SAFETY: as above; nothing in it is bound to the creating thread.
unsafe impl<L: Send, D> Send for Gang<L, D> {}

impl<L: Default, D: Default> Default for Gang<L, D> {
    fn default() -> Self {
        Self::new(D::default())
    }
}

impl<L: Default, D> Gang<L, D> {
    /// A gang with the master's slot alone.
    pub fn new(description: D) -> Self {
        let gang = Self {
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
        // SAFETY: nobody else knows the gang yet.
        unsafe { gang.grow(1) };
        gang
    }

    /// What the running region is.
    #[inline(always)]
    pub fn description(&self) -> &D {
        // SAFETY: written between regions; only participants and the master ask.
        unsafe { &*self.launch.description.get() }
    }

    /// Sets what the next region is.
    ///
    /// # Safety
    /// Only the master may call it, while no region runs.
    #[inline(always)]
    pub unsafe fn describe(&self, change: impl FnOnce(&mut D)) {
        // SAFETY: no region runs, so nobody else looks (caller's contract).
        change(unsafe { &mut *self.launch.description.get() });
    }

    /// Makes room for `size` members.
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

    /// The members the gang has room for.
    ///
    /// # Safety
    /// Only the master may call it, or a participant of the running region.
    pub unsafe fn capacity(&self) -> usize {
        // SAFETY: nobody changes the vector now (caller's contract).
        unsafe { (&*self.slots.get()).len() }
    }

    /// The place of member `tid`.
    ///
    /// # Safety
    /// The caller is a participant of the running region, or the master between regions, and
    /// `tid` is below the capacity.
    #[inline(always)]
    pub unsafe fn slot(&self, tid: u32) -> &Slot<L> {
        // SAFETY: the vector does not change during a region, and tid is in range (contract).
        unsafe { (&*self.slots.get()).get_unchecked(tid as usize) }
    }

    /// Master: starts the next region with `size` members and returns its number.
    ///
    /// Everything the master wrote before is visible to the participants (Release here, Acquire
    /// in [`Gang::await_order`]).
    ///
    /// # Safety
    /// Only the master may call it, after the last region was joined; `size` slots exist.
    #[inline]
    pub unsafe fn start(&self, size: u32) -> u32 {
        let region = ((self.launch.word.load(Ordering::Relaxed) >> 32) as u32).wrapping_add(1);
        // SAFETY: the master's own slot, between regions: no participant reads the base.
        unsafe { *self.launch.base.get() = self.slot(0).epoch.get() };
        publish(&self.launch.word, (region as u64) << 32 | size as u64);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            for tid in 1..size {
                // SAFETY: the master reads slots below `size`.
                unsafe { self.slot(tid) }.parker.unpark();
            }
        }
        region
    }

    /// Master: tells every worker to leave. The gang must not be started again.
    ///
    /// # Safety
    /// Only the master may call it, while no region runs.
    pub unsafe fn dismiss(&self) {
        let region = ((self.launch.word.load(Ordering::Relaxed) >> 32) as u32).wrapping_add(1);
        publish(&self.launch.word, (region as u64) << 32 | DISMISS as u64);
        // SAFETY: the master reads the slots while no region runs.
        for slot in unsafe { &*self.slots.get() } {
            slot.parker.unpark();
        }
    }

    /// The number of the region started last.
    pub fn region(&self) -> u32 {
        (self.launch.word.load(Ordering::Relaxed) >> 32) as u32
    }

    /// Worker `tid`: waits for a region after `last` that it takes part in, or until `called`.
    ///
    /// A worker that does not take part may miss regions; one that does cannot, because the
    /// master starts no other region before it joined.
    ///
    /// # Safety
    /// `slot` is the caller's own place, `tid` its number.
    pub unsafe fn await_order(
        &self,
        slot: &Slot<L>,
        tid: u32,
        last: u32,
        patience: Patience,
        called: impl Fn() -> bool,
    ) -> Order {
        let look = || {
            let word = self.launch.word.load(Ordering::Acquire);
            let (region, size) = ((word >> 32) as u32, word as u32);
            if size == DISMISS {
                Some(Order::Dismissed)
            } else if region != last && tid < size {
                let woken = false;
                Some(Order::Run {
                    region,
                    size,
                    woken,
                })
            } else {
                None
            }
        };
        let was_woken = slot
            .parker
            .wait_until(&self.sleepers, patience, || look().is_some() || called());
        let mut order = look().unwrap_or(Order::Help);
        if let Order::Run { woken, .. } = &mut order {
            *woken = was_woken;
            // SAFETY: written before the launch that we acquired; we take part, so the master
            // writes it again only after our join.
            slot.epoch.set(unsafe { *self.launch.base.get() });
        }
        order
    }

    /// The member's count of meetings so far; equal in all members between two meetings.
    ///
    /// # Safety
    /// `tid` is the caller's own number in the running region.
    #[inline(always)]
    pub unsafe fn epoch(&self, tid: u32) -> u64 {
        // SAFETY: the caller's own slot.
        unsafe { self.slot(tid) }.epoch.get()
    }

    /// Waits for a condition of the layer above, which whoever makes it true announces with
    /// [`Gang::wake_all`]. True if somebody woke it, perhaps for another reason.
    ///
    /// # Safety
    /// `tid` is the caller's own number in the running region.
    pub unsafe fn wait(&self, tid: u32, patience: Patience, done: impl Fn() -> bool) -> bool {
        // SAFETY: the caller's own slot.
        let me = unsafe { self.slot(tid) };
        me.parker.wait_until(&self.sleepers, patience, done)
    }

    /// As [`Gang::wait`] with a cheaper question while spinning, see [`Parker::wait_until_or`].
    ///
    /// # Safety
    /// As for [`Gang::wait`].
    pub unsafe fn wait_or(
        &self,
        tid: u32,
        patience: Patience,
        glance: impl Fn() -> bool,
        done: impl Fn() -> bool,
        woken: impl Fn(),
    ) -> bool {
        // SAFETY: the caller's own slot.
        let me = unsafe { self.slot(tid) };
        me.parker
            .wait_until_or(&self.sleepers, patience, glance, done, woken)
    }

    /// Whether any thread of the gang sleeps or is about to. Asked after a full fence.
    #[inline(always)]
    pub fn anyone_sleeps(&self) -> bool {
        self.sleepers.load(Ordering::Relaxed) > 0
    }

    /// Wakes member `tid` if it sleeps. The caller has published its condition.
    ///
    /// # Safety
    /// The caller takes part in the running region, or keeps it from ending, and `tid` is below
    /// the capacity.
    pub unsafe fn unpark(&self, tid: u32) {
        // SAFETY: the caller's contract.
        unsafe { self.slot(tid) }.parker.unpark();
    }

    /// Wakes one sleeping member of those that `fits` accepts; false if there is none.
    ///
    /// # Safety
    /// As for [`Gang::unpark`], in a region of `size` members.
    pub unsafe fn unpark_one(&self, size: u32, fits: impl Fn(&L) -> bool) -> bool {
        (0..size).any(|tid| {
            // SAFETY: the caller's contract.
            let slot = unsafe { self.slot(tid) };
            fits(&slot.local) && slot.parker.unpark()
        })
    }

    /// Waits for `done`, on an errand where there is one.
    #[inline(always)]
    fn await_with(
        &self,
        me: &Slot<L>,
        patience: Patience,
        errand: &impl Errand,
        done: impl Fn() -> bool,
    ) {
        while !done() {
            let woken = me
                .parker
                .wait_until(&self.sleepers, patience, || done() || errand.called());
            if done() {
                if woken {
                    errand.decline();
                }
                return;
            }
            errand.attend(&done);
        }
    }

    /// Wakes members that sleep. The caller has published their condition.
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
        patience: Patience,
        errand: &impl Errand,
    ) {
        self.await_with(me, patience, errand, || {
            other.arrived.load(Ordering::Acquire) >= epoch
        });
    }

    fn wake_others(&self, tid: u32, size: u32) {
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            for other in (0..size).filter(|&other| other != tid) {
                // SAFETY: callers are participants, and `other` is below the size.
                unsafe { self.slot(other) }.parker.unpark();
            }
        }
    }

    /// Waits until all `size` members have come here. Everything each wrote before is visible to
    /// all after (Release of the arrival, Acquire of each waiter; with `Tree` and `Counter`
    /// transitively through the master or the counter).
    ///
    /// # Safety
    /// `tid` is the caller's own number in the running region, `size` the region's size.
    #[inline]
    pub unsafe fn barrier(
        &self,
        tid: u32,
        size: u32,
        meeting: Meeting,
        patience: Patience,
        errand: &impl Errand,
    ) {
        // SAFETY: the caller's own slot.
        let me = unsafe { self.slot(tid) };
        let epoch = me.epoch.get() + 1;
        match meeting {
            Meeting::AllToAll => {
                me.epoch.set(epoch);
                publish(&me.arrived, epoch);
                self.wake_others(tid, size);
                for other in (0..size).filter(|&other| other != tid) {
                    // SAFETY: `other` is a participant.
                    self.wait_arrived(me, unsafe { self.slot(other) }, epoch, patience, errand);
                }
            }
            Meeting::Tree => {
                // SAFETY: as ours.
                unsafe {
                    self.gather(tid, size, patience, errand, |_| {});
                    self.release(tid, size, patience, errand);
                }
            }
            Meeting::Counter => {
                me.epoch.set(epoch);
                if self.count.fetch_add(1, Ordering::AcqRel) + 1 == size {
                    self.count.store(0, Ordering::Relaxed);
                    publish(&self.release, epoch);
                    self.wake_others(tid, size);
                } else {
                    self.await_with(me, patience, errand, || {
                        self.release.load(Ordering::Acquire) >= epoch
                    });
                }
            }
        }
    }

    /// First half of a barrier: returns at the master when all have arrived, at others once their
    /// own arrival is announced. `absorb(child)` runs for each member whose arrival the caller
    /// has seen directly, so that data can be combined on the way.
    ///
    /// # Safety
    /// As for [`Gang::barrier`]; every member must call [`Gang::release`] next.
    pub unsafe fn gather(
        &self,
        tid: u32,
        size: u32,
        patience: Patience,
        errand: &impl Errand,
        absorb: impl FnMut(u32),
    ) {
        // SAFETY: the caller's own slot.
        let me = unsafe { self.slot(tid) };
        let epoch = me.epoch.get() + 1;
        me.epoch.set(epoch);
        // SAFETY: as ours.
        unsafe { self.arrive(tid, size, epoch, patience, errand, absorb) };
    }

    /// Second half of a barrier: the master lets the others go on.
    ///
    /// # Safety
    /// After [`Gang::gather`] by the same member.
    pub unsafe fn release(&self, tid: u32, size: u32, patience: Patience, errand: &impl Errand) {
        // SAFETY: the caller's own slot.
        let me = unsafe { self.slot(tid) };
        let epoch = me.epoch.get();
        if tid == 0 {
            publish(&self.release, epoch);
            self.wake_others(0, size);
        } else {
            self.await_with(me, patience, errand, || {
                self.release.load(Ordering::Acquire) >= epoch
            });
        }
    }

    unsafe fn arrive(
        &self,
        tid: u32,
        size: u32,
        epoch: u64,
        patience: Patience,
        errand: &impl Errand,
        mut absorb: impl FnMut(u32),
    ) {
        // SAFETY: the caller's own slot.
        let me = unsafe { self.slot(tid) };
        let fan_in = if size <= FLAT_MAX { size } else { FAN_IN };
        let first = tid as u64 * fan_in as u64 + 1;
        for child in first..(first + fan_in as u64).min(size as u64) {
            // SAFETY: `child` is below the size.
            let child_slot = unsafe { self.slot(child as u32) };
            self.wait_arrived(me, child_slot, epoch, patience, errand);
            absorb(child as u32);
        }
        if tid != 0 {
            // Looked up before the arrival: after it the master may end the region and grow the
            // vector. The slot itself lives as long as the gang, which workers keep alive.
            // SAFETY: the parent is a participant.
            let parent = &unsafe { self.slot((tid - 1) / fan_in) }.parker;
            publish(&me.arrived, epoch);
            if self.sleepers.load(Ordering::Relaxed) > 0 {
                parent.unpark();
            }
        }
    }

    /// The join at the region's end: workers announce themselves and are free of the region, the
    /// master waits for all.
    ///
    /// # Safety
    /// As for [`Gang::barrier`]; a worker touches nothing of the region afterwards.
    #[inline]
    pub unsafe fn join(&self, tid: u32, size: u32, patience: Patience, errand: &impl Errand) {
        // SAFETY: the caller's own slot.
        let me = unsafe { self.slot(tid) };
        let epoch = me.epoch.get() + 1;
        me.epoch.set(epoch);
        // SAFETY: as ours.
        unsafe { self.arrive(tid, size, epoch, patience, errand, |_| {}) };
    }
}

/// The way of meeting for a team of `size` on `processors` processors.
pub fn meeting_for(size: u32, processors: u32) -> Meeting {
    if size > processors {
        Meeting::Counter
    } else if size <= ALL_TO_ALL_MAX {
        Meeting::AllToAll
    } else {
        Meeting::Tree
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64 as Plain;

    const NAP: Patience = Patience {
        checks: 10,
        micros: 1,
        yields: false,
    };

    /// Runs `regions` regions of each size in turn, with `barriers` barriers each, and checks that
    /// nobody passes a barrier before all have come.
    fn exercise(sizes: &[u32], meeting: Meeting, regions: u32, barriers: u64) {
        let gang = Arc::new(Gang::<()>::new(()));
        let most = *sizes.iter().max().unwrap();
        // SAFETY: no region runs.
        unsafe { gang.grow(most as usize) };
        let arrivals = Arc::new(Plain::new(0));
        let body = move |gang: &Gang<()>, arrivals: &Plain, tid: u32, size: u32, base: u64| {
            for barrier in 1..=barriers {
                arrivals.fetch_add(1, Ordering::Relaxed);
                // SAFETY: a participant with its number.
                unsafe { gang.barrier(tid, size, meeting, NAP, &Idle) };
                assert!(arrivals.load(Ordering::Relaxed) >= base + barrier * size as u64);
                // SAFETY: as above.
                unsafe { gang.barrier(tid, size, meeting, NAP, &Idle) };
            }
        };
        let base_cell = Arc::new(Plain::new(0));
        let workers: Vec<_> = (1..most)
            .map(|tid| {
                let (gang, arrivals, base) = (gang.clone(), arrivals.clone(), base_cell.clone());
                // SAFETY: the gang has room for `tid`; the slot's address is stable.
                let slot = unsafe { gang.slot(tid) as *const Slot<()> } as usize;
                std::thread::spawn(move || {
                    let mut last = 0;
                    loop {
                        // SAFETY: the worker's own slot, alive with the gang.
                        let slot = unsafe { &*(slot as *const Slot<()>) };
                        // SAFETY: its own slot and number.
                        match unsafe { gang.await_order(slot, tid, last, NAP, || false) } {
                            Order::Run { region, size, .. } => {
                                last = region;
                                let base = base.load(Ordering::Relaxed);
                                body(&gang, &arrivals, tid, size, base);
                                // SAFETY: a participant.
                                unsafe { gang.join(tid, size, NAP, &Idle) };
                            }
                            Order::Help | Order::Dismissed => return,
                        }
                    }
                })
            })
            .collect();
        for round in 0..regions {
            let size = sizes[round as usize % sizes.len()];
            let base = arrivals.load(Ordering::Relaxed);
            base_cell.store(base, Ordering::Relaxed);
            // SAFETY: the master; the last region was joined.
            unsafe {
                gang.start(size);
                body(&gang, &arrivals, 0, size, base);
                gang.join(0, size, NAP, &Idle);
            }
            assert_eq!(
                arrivals.load(Ordering::Relaxed),
                base + barriers * size as u64
            );
        }
        // SAFETY: no region runs.
        unsafe { gang.dismiss() };
        for worker in workers {
            worker.join().unwrap();
        }
    }

    #[test]
    fn kmpc_gang_meets_all_to_all() {
        exercise(&[2, 4, 3], Meeting::AllToAll, 60, 5);
    }

    #[test]
    fn kmpc_gang_meets_along_the_tree() {
        exercise(&[12, 2, 9], Meeting::Tree, 30, 3);
    }

    #[test]
    fn kmpc_gang_meets_at_the_counter() {
        exercise(&[12, 2, 5], Meeting::Counter, 30, 3);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::cell::UnsafeCell as Tracked;
    use loom::sync::Arc;

    /// Sleeps at once, so that every path through the parker is explored.
    const SLEEPY: Patience = Patience::NONE;

    struct Shared {
        gang: Gang<()>,
        /// What each member writes before and others read after a meeting; loom reports a race.
        cells: Vec<Tracked<u32>>,
    }

    // SAFETY: the gang under test orders the accesses; loom checks that it does.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}

    fn check(size: u32, regions: u32, body: fn(&Shared, u32, u32)) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let gang = Gang::new(());
            // SAFETY: no region runs.
            unsafe { gang.grow(size as usize) };
            let cells = (0..size).map(|_| Tracked::new(0)).collect();
            let shared = Arc::new(Shared { gang, cells });
            let workers: Vec<_> = (1..size)
                .map(|tid| {
                    let shared = shared.clone();
                    loom::thread::spawn(move || {
                        let mut last = 0;
                        loop {
                            // SAFETY: the worker's own slot and number.
                            let order = unsafe {
                                let slot = shared.gang.slot(tid);
                                shared.gang.await_order(slot, tid, last, SLEEPY, || false)
                            };
                            let Order::Run { region, size, .. } = order else {
                                return;
                            };
                            last = region;
                            body(&shared, tid, size);
                            // SAFETY: a participant.
                            unsafe { shared.gang.join(tid, size, SLEEPY, &Idle) };
                        }
                    })
                })
                .collect();
            for _ in 0..regions {
                for cell in &shared.cells {
                    // SAFETY: between regions the cells are the master's; loom checks it.
                    cell.with_mut(|p| unsafe { *p += 1 });
                }
                // SAFETY: the master; the last region was joined.
                unsafe {
                    shared.gang.start(size);
                    body(&shared, 0, size);
                    shared.gang.join(0, size, SLEEPY, &Idle);
                }
            }
            // SAFETY: no region runs.
            unsafe { shared.gang.dismiss() };
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
            // SAFETY: nobody writes between the meetings; loom checks it.
            c.with(|p| unsafe { *p })
        });
        let first = seen.next().unwrap();
        assert!(seen.all(|v| v == first));
    }

    fn meet(meeting: Meeting) -> fn(&Shared, u32, u32) {
        macro_rules! body {
            ($m:expr) => {
                |shared, tid, size| {
                    write_own(shared, tid);
                    // SAFETY: a participant with its number.
                    unsafe { shared.gang.barrier(tid, size, $m, SLEEPY, &Idle) };
                    read_all(shared);
                }
            };
        }
        match meeting {
            Meeting::AllToAll => body!(Meeting::AllToAll),
            Meeting::Tree => body!(Meeting::Tree),
            Meeting::Counter => body!(Meeting::Counter),
        }
    }

    #[test]
    fn loom_launch_and_join_publish() {
        check(2, 2, |shared, tid, _| write_own(shared, tid));
    }

    #[test]
    fn loom_all_to_all() {
        check(2, 1, meet(Meeting::AllToAll));
    }

    #[test]
    fn loom_tree() {
        check(2, 1, meet(Meeting::Tree));
    }

    #[test]
    fn loom_counter() {
        check(2, 1, meet(Meeting::Counter));
    }

    #[test]
    fn loom_gather_combines_before_the_release() {
        check(2, 1, |shared, tid, size| {
            write_own(shared, tid);
            // SAFETY: a participant with its number.
            unsafe {
                shared.gang.gather(tid, size, SLEEPY, &Idle, |child| {
                    // The child waits for the release: its cell may be read and written.
                    write_own(shared, child);
                });
                shared.gang.release(tid, size, SLEEPY, &Idle);
            }
            // SAFETY: a participant with its number.
            unsafe {
                shared
                    .gang
                    .barrier(tid, size, Meeting::AllToAll, SLEEPY, &Idle)
            };
        });
    }
}
