//! Waits of threads: where each thread waits, and for what.
//!
//! A thread that does not get on at once fills in its record before it spins for long or sleeps, and
//! empties it afterwards. No fast path touches a record: a barrier whose members arrive together and
//! an uncontended lock cost what they cost without. The records are statics by thread number, so a
//! signal handler or another thread can read one at any time, also that of a thread that has ended.
//! A record names the thread's team and not more of it than an address: the team may be gone.
//!
//! Constructs have the numbers of OMPT's thread states ([`record::state`](super::ompt::record)), and
//! numbers of their own where OMPT has none. A tool gets its states from the traced entries, which
//! know the begin of a construct; the records know only the waits in it.
//!
//! [`report`] puts waits into words, [`watchdog`] proves deadlocks. Source lines are not recorded:
//! `memory::dump` finds them on the thread's stack.

pub mod report;
pub mod watchdog;

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::atomic::{Ordering, fence};

use crate::ident::Ident;
use crate::ompt::record::state;
use crate::team::Team;
use crate::thread::{self, MAX_THREADS};

/// Construct in which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Construct(u32);

impl Construct {
    /// A barrier, other than that at the end of a region.
    pub const BARRIER: Construct = Construct(state::BARRIER_IMPLEMENTATION);
    /// The barrier at the end of a region.
    pub const REGION_END: Construct = Construct(state::BARRIER_PARALLEL);
    /// `taskwait`.
    pub const TASKWAIT: Construct = Construct(state::TASKWAIT);
    /// The end of `taskgroup`.
    pub const TASKGROUP: Construct = Construct(state::TASKGROUP);
    /// `omp_set_lock`.
    pub const LOCK: Construct = Construct(state::LOCK);
    /// `critical`, or a reduction that uses one.
    pub const CRITICAL: Construct = Construct(state::CRITICAL);
    /// `ordered`.
    pub const ORDERED: Construct = Construct(state::ORDERED);
    /// No region: the worker waits for the next one.
    pub const IDLE: Construct = Construct(state::IDLE);
    /// `omp_set_nest_lock`.
    pub const NEST_LOCK: Construct = Construct(0x1001);
    /// A task with dependences that the thread executes itself, or `taskwait` with dependences.
    pub const DEPENDENCES: Construct = Construct(0x1002);
    /// `ordered doacross`.
    pub const DOACROSS: Construct = Construct(0x1003);
    /// The begin of a loop, several loops ahead of the slowest thread.
    pub const LOOP: Construct = Construct(0x1004);
    /// An atomic update that the processor does not have.
    pub const ATOMIC: Construct = Construct(0x1005);
    /// A barrier that all members have reached, for tasks that are not complete.
    pub const BARRIER_TASKS: Construct = Construct(0x1006);
}

/// A wait that may become long: constants, for which the fast path keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct PossibleWait {
    /// The construct.
    pub construct: Construct,
    /// For an idle worker, the number of the barrier by which it joined its last region; else 0.
    pub joined: u64,
}

impl PossibleWait {
    /// Returns a wait in a region.
    #[inline(always)]
    pub const fn at(construct: Construct) -> PossibleWait {
        let joined = 0;
        PossibleWait { construct, joined }
    }
}

/// A wait that begins.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The construct.
    pub construct: Construct,
    /// Address of the lock, or 0.
    pub object: usize,
    /// True if the thread holds the lock itself.
    pub own: bool,
    /// For an idle worker, the number of the barrier by which it joined its last region; else 0.
    pub barrier: u64,
}

impl From<PossibleWait> for Wait {
    fn from(wait: PossibleWait) -> Wait {
        Wait {
            barrier: wait.joined,
            ..Wait::at(wait.construct)
        }
    }
}

impl Wait {
    /// Returns a wait for no object.
    pub fn at(construct: Construct) -> Wait {
        Wait {
            construct,
            object: 0,
            own: false,
            barrier: 0,
        }
    }
}

/// The wait of one thread. Only the thread itself writes it.
#[repr(align(64))]
struct Record {
    /// Number of begun and ended waits: odd while the thread waits.
    changes: AtomicU32,
    /// The system's number of the thread; 0 if the runtime does not know it.
    system: AtomicI32,
    construct: AtomicU32,
    /// Number of the thread in its team.
    member: AtomicU32,
    /// Size of the team; 0 for [`Construct::IDLE`].
    size: AtomicU32,
    /// True if the thread spins until the wait is over.
    spins: AtomicBool,
    /// True if the thread holds the lock itself.
    own: AtomicBool,
    object: AtomicUsize,
    barrier: AtomicU64,
    team: AtomicUsize,
    /// The `parallel` directive of the team.
    region: AtomicPtr<Ident>,
}

impl Record {
    const fn new() -> Record {
        Record {
            changes: AtomicU32::new(0),
            system: AtomicI32::new(0),
            construct: AtomicU32::new(0),
            member: AtomicU32::new(0),
            size: AtomicU32::new(0),
            spins: AtomicBool::new(false),
            own: AtomicBool::new(false),
            object: AtomicUsize::new(0),
            barrier: AtomicU64::new(0),
            team: AtomicUsize::new(0),
            region: AtomicPtr::new(null_mut()),
        }
    }

    /// Returns the thread's wait; `None` if it does not wait.
    fn read(&self, number: u32) -> Option<WaitingThread> {
        // Acquire, and the fence: the fields are those of this wait if the count stays.
        let changes = self.changes.load(Ordering::Acquire);
        let waiting = WaitingThread {
            number,
            changes,
            construct: Construct(self.construct.load(Ordering::Relaxed)),
            member: self.member.load(Ordering::Relaxed),
            size: self.size.load(Ordering::Relaxed),
            spins: self.spins.load(Ordering::Relaxed),
            own: self.own.load(Ordering::Relaxed),
            object: self.object.load(Ordering::Relaxed),
            barrier: self.barrier.load(Ordering::Relaxed),
            team: self.team.load(Ordering::Relaxed),
            region: self.region.load(Ordering::Relaxed),
        };
        fence(Ordering::Acquire);
        (changes % 2 == 1 && self.changes.load(Ordering::Relaxed) == changes).then_some(waiting)
    }
}

/// Copy of a record.
#[derive(Clone, Copy, Debug)]
struct WaitingThread {
    /// Global number of the thread.
    number: u32,
    changes: u32,
    construct: Construct,
    member: u32,
    size: u32,
    spins: bool,
    own: bool,
    object: usize,
    barrier: u64,
    team: usize,
    region: *const Ident,
}

/// The records of all threads by number: a static beside the table of threads, with whose numbers it
/// is indexed. Pages that no thread has used take no memory.
static RECORDS: [Record; MAX_THREADS] = [const { Record::new() }; MAX_THREADS];

/// Greatest number of a thread so far, plus one.
static NUMBERS: AtomicU32 = AtomicU32::new(0);

/// Makes the calling thread's record known to readers.
pub(crate) fn register(number: i32) {
    // SAFETY: the call takes no arguments.
    let system = unsafe { libc::gettid() };
    RECORDS[number as usize]
        .system
        .store(system, Ordering::Release);
    NUMBERS.fetch_max(number as u32 + 1, Ordering::Release);
}

/// Marks a record as that of no thread.
pub(crate) fn unregister(number: i32) {
    let record = &RECORDS[number as usize];
    record.system.store(0, Ordering::Release);
    let changes = record.changes.load(Ordering::Relaxed);
    record
        .changes
        .store(changes + changes % 2, Ordering::Release);
}

/// Returns the records of the threads that the runtime knows, with the system's numbers.
fn threads() -> impl Iterator<Item = (u32, i32, &'static Record)> {
    let known = NUMBERS.load(Ordering::Acquire);
    (0..known).filter_map(|number| {
        let record = &RECORDS[number as usize];
        let system = record.system.load(Ordering::Acquire);
        (system != 0).then_some((number, system, record))
    })
}

/// Guard: while it lives, the calling thread waits.
pub struct Waiting(Option<&'static Record>);

/// Begins a wait of the calling thread; does nothing on a thread that the runtime does not know.
/// `spins` is true if the thread spins until the wait is over.
#[cold]
pub fn begin(wait: Wait, spins: bool) -> Waiting {
    let Some(thread) = thread::current_if_known() else {
        return Waiting(None);
    };
    let record = &RECORDS[thread.gtid as usize];
    let changes = record.changes.load(Ordering::Relaxed);
    if changes % 2 == 1 {
        // A signal handler waits inside a wait, which goes on afterwards.
        return Waiting(None);
    }
    let team: *const Team = thread.team();
    // The master may be describing the next region of an idle worker's team.
    let (size, region, barrier) = match wait.construct {
        Construct::IDLE => (0, std::ptr::null(), wait.barrier),
        _ => {
            let (team, tid) = (thread.team(), thread.tid());
            let shape = team.shape();
            // SAFETY: a thread that is not idle takes part in its team's region with this number.
            (shape.size, shape.ident, unsafe { team.slot(tid) }.epoch())
        }
    };
    let plain = Ordering::Relaxed;
    record.construct.store(wait.construct.0, plain);
    record.object.store(wait.object, plain);
    record.barrier.store(barrier, plain);
    record.member.store(thread.tid(), plain);
    record.size.store(size, plain);
    record.spins.store(spins, plain);
    record.own.store(wait.own, plain);
    record.team.store(team.addr(), plain);
    record.region.store(region.cast_mut(), plain);
    // Release: pairs with the Acquire of `read`.
    record.changes.store(changes + 1, Ordering::Release);
    Waiting(Some(record))
}

/// Ends the calling thread's record of a wait that it leaves by a jump. Returns false if it is in no
/// wait, or in one that it must not leave: a lock knows its waiters by their frames, and an idle
/// worker belongs to no region.
pub fn leave() -> bool {
    let Some(thread) = thread::current_if_known() else {
        return false;
    };
    let record = &RECORDS[thread.gtid as usize];
    let plain = Ordering::Relaxed;
    let changes = record.changes.load(plain);
    let bound = record.object.load(plain) != 0 || record.construct.load(plain) == Construct::IDLE.0;
    if changes.is_multiple_of(2) || bound {
        return false;
    }
    record
        .changes
        .store(changes.wrapping_add(1), Ordering::Release);
    true
}

/// Returns the system's number of a thread by its global number; 0 if the runtime does not know it.
pub fn system_number(gtid: i32) -> i32 {
    RECORDS[gtid as usize].system.load(Ordering::Relaxed)
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(record) = self.0 {
            let changes = record.changes.load(Ordering::Relaxed);
            record
                .changes
                .store(changes.wrapping_add(1), Ordering::Release);
            // The next wait writes its fields after this.
            fence(Ordering::Release);
        }
    }
}
