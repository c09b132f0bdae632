//! Dependences between sibling tasks. OpenMP 5.2, section 15.9.5 (depend), 15.5 (taskwait depend).
//!
//! A task with dependences has a [`Node`]. The parent of the siblings has a [`Table`] from
//! addresses to the nodes that the next sibling may depend on. Only the parent's thread uses it, in
//! program order, so it needs no lock. An edge is an entry in the predecessor's list, which that
//! node's lock guards against the predecessor's completion.
//!
//! Addresses decide, not ranges: the specification requires list items to be identical or disjoint.
//! depobj and iterators arrive here as ordinary lists. Tasks that exclude each other
//! (mutexinoutset) are ordered like `in` and acquire their exclusions when they become ready.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hashbrown::HashMap;

use super::create::{self, adopt, count, current};
use super::{Payload, Task, flag, wait};
use crate::ident::Ident;
use crate::runtime::RUNTIME;
use crate::team::Team;
use crate::thread::{Thread, by_number};
use crate::waits::Construct;
use omp_abi::depend as kind;
use ompvm_support::sync::{self, Mutex, MutexGuard, fence_after_exchange};

/// One item of a `depend` clause, in the compiler's layout.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub(crate) address: usize,
    length: usize,
    /// One of [`omp_abi::depend`]. `in` and `inoutset` are treated alike: tasks of one of these
    /// kinds may overlap, and are ordered against all other kinds.
    pub(crate) kind: u8,
}

/// The address of `omp_all_memory`.
const EVERYWHERE: usize = usize::MAX;

impl Item {
    /// Returns true for `omp_all_memory`.
    pub(crate) fn everywhere(&self) -> bool {
        self.kind & kind::ALL != 0 || self.address == EVERYWHERE
    }

    /// Returns the kind at an address: in 1, out 2, mutexinoutset 4, inoutset 8.
    pub(crate) fn plain_kind(&self) -> u8 {
        self.kind & !kind::ALL
    }
}

/// A task as a node of the graph of its siblings.
pub struct Node {
    /// The task; null for a wait.
    task: *mut Task,
    /// The task that waits, if `task` is null.
    waits: *mut Task,
    /// Number of predecessors that are not complete, plus one while they are being collected.
    before: AtomicUsize,
    /// True once complete. Set with `after` locked; read without the lock only to drop complete
    /// nodes.
    done: AtomicBool,
    /// Successors that wait for this node.
    after: Mutex<Vec<Arc<Node>>>,
    /// Exclusions that the task must acquire.
    exclusions: Mutex<Vec<Arc<Exclusion>>>,
}

// SAFETY: the pointers are to tasks, whose memory always holds a task.
unsafe impl Sync for Node {}
// SAFETY: no field is bound to a thread.
unsafe impl Send for Node {}

/// An exclusion between mutexinoutset tasks. All are changed under the lock of
/// [`lock_exclusions`].
#[derive(Default)]
pub struct Exclusion {
    /// True if a task holds it, and the tasks that found it held.
    state: Mutex<(bool, Vec<usize>)>,
}

/// Locks all exclusions, to acquire several at once or for the time in which the process forks.
pub fn lock_exclusions() -> MutexGuard<'static, ()> {
    sync::lock(&RUNTIME.tasks.exclusions)
}

impl Node {
    fn new(task: *mut Task, waits: *mut Task) -> Arc<Self> {
        Arc::new(Self {
            task,
            waits,
            before: AtomicUsize::new(1),
            done: AtomicBool::new(false),
            after: Mutex::new(Vec::new()),
            exclusions: Mutex::new(Vec::new()),
        })
    }

    /// Makes `self` a successor of `other`, unless that is complete.
    fn follow(self: &Arc<Self>, other: &Arc<Self>) {
        if Arc::ptr_eq(self, other) {
            return;
        }
        let mut after = sync::lock(&other.after);
        // Relaxed: set with the lock held.
        if other.done.load(Ordering::Relaxed) || after.last().is_some_and(|n| Arc::ptr_eq(n, self))
        {
            return;
        }
        // Relaxed: the thread that decrements it takes the lock after this one.
        self.before.fetch_add(1, Ordering::Relaxed);
        after.push(self.clone());
        if crate::ompt::on() && !self.task.is_null() && !other.task.is_null() {
            // SAFETY: the sibling that is not complete, and the one being submitted.
            unsafe { crate::ompt::depends(&*other.task, &*self.task) };
        }
    }

    fn is_done(&self) -> bool {
        // Acquire: a thread that drops a node must see the effects of its task.
        self.done.load(Ordering::Acquire)
    }
}

/// The nodes that the next sibling may depend on at one address.
#[derive(Default)]
struct Entry {
    /// The last task that was ordered against all others.
    last: Option<Arc<Node>>,
    /// Subsequent tasks that may overlap, all of one kind.
    set: Vec<Arc<Node>>,
    kind: u8,
    /// The set before that one, if it was of another kind.
    earlier: Vec<Arc<Node>>,
    exclusion: Option<Arc<Exclusion>>,
}

/// The dependences of one task's children.
#[derive(Default)]
pub struct Table {
    entries: HashMap<usize, Entry>,
    /// The last task that depends on all memory.
    all: Option<Arc<Node>>,
}

impl Table {
    /// Makes `node` a successor of those before it at `item`, and a predecessor of later ones,
    /// unless it is a `wait`, which is complete before the next sibling exists.
    fn add(&mut self, node: &Arc<Node>, item: &Item, wait: bool) {
        if item.everywhere() {
            return self.add_all(node, wait);
        }
        let entry = self.entries.entry(item.address).or_insert_with(|| Entry {
            last: self.all.clone(),
            ..Entry::default()
        });
        // A wait is over before the next sibling exists, so it needs no exclusion.
        let last_of_set = wait && item.kind == kind::MUTEX;
        if item.kind & kind::OUT != 0 || last_of_set {
            for other in &entry.set {
                node.follow(other);
            }
            if entry.set.is_empty()
                && let Some(last) = &entry.last
            {
                node.follow(last);
            }
            entry.set.clear();
            entry.earlier.clear();
            entry.last = (!wait).then(|| node.clone());
            return;
        }
        let same = entry.kind == item.kind && !entry.set.is_empty();
        if wait {
            let before = if same { &entry.earlier } else { &entry.set };
            for other in before.iter().chain(&entry.last) {
                node.follow(other);
            }
            return;
        }
        if !same {
            entry.kind = item.kind;
            entry.earlier = std::mem::take(&mut entry.set);
        }
        for other in entry.earlier.iter().chain(&entry.last) {
            node.follow(other);
        }
        if entry.set.len() == entry.set.capacity() {
            entry.set.retain(|other| !other.is_done());
        }
        entry.set.push(node.clone());
        if item.kind == kind::MUTEX {
            let exclusion = entry.exclusion.get_or_insert_default();
            let mut exclusions = sync::lock(&node.exclusions);
            if !exclusions.iter().any(|other| Arc::ptr_eq(other, exclusion)) {
                exclusions.push(exclusion.clone());
            }
        }
    }

    fn add_all(&mut self, node: &Arc<Node>, wait: bool) {
        for entry in self.entries.values() {
            for other in entry.set.iter().chain(&entry.last) {
                node.follow(other);
            }
        }
        if let Some(all) = &self.all {
            node.follow(all);
        }
        self.entries.clear();
        self.all = (!wait).then(|| node.clone());
    }
}

impl Task {
    /// Returns the table of the task's children.
    ///
    /// # Safety
    /// Only the thread that executes the task may call it, and must hold no other reference to the
    /// table.
    #[expect(
        clippy::mut_from_ref,
        reason = "the thread that executes the task has it alone"
    )]
    unsafe fn dependences(&self) -> &mut Table {
        if self.table.get().is_null() {
            self.table.set(Box::into_raw(Box::default()));
        }
        // SAFETY: created above or before, and referenced only by the caller (caller's contract).
        unsafe { &mut *self.table.get() }
    }

    /// Drops the dependences of the task's children, which no later child will have.
    ///
    /// # Safety
    /// Only the thread that executes the task may call it.
    #[inline]
    pub unsafe fn forget_dependences(&self) {
        let table = self.table.get();
        if !table.is_null() {
            self.table.set(null_mut());
            // SAFETY: `dependences` boxed the table, and only this thread accesses it.
            drop(unsafe { Box::from_raw(table) });
        }
    }
}

/// Returns the items of both of the compiler's lists.
///
/// # Safety
/// The lists have as many items as the counts say.
pub(crate) unsafe fn items<'a>(
    count: i32,
    list: *const Item,
    more: i32,
    other: *const Item,
) -> impl Iterator<Item = &'a Item> {
    let slice = |count: i32, list: *const Item| {
        if count <= 0 || list.is_null() {
            return &[][..];
        }
        // SAFETY: the list has `count` items (caller's contract).
        unsafe { std::slice::from_raw_parts(list, count as usize) }
    };
    // The compiler marks an erased item by address 0.
    slice(count, list)
        .iter()
        .chain(slice(more, other))
        .filter(|item| item.address != 0 || item.kind & kind::ALL != 0)
}

/// Adds a node's items to the table. A task that has several kinds at an address is ordered against
/// all others there.
fn add_items<'a>(
    table: &mut Table,
    node: &Arc<Node>,
    items: impl Iterator<Item = &'a Item>,
    wait: bool,
) {
    let mut merged: Vec<Item> = Vec::with_capacity(8);
    for item in items {
        match merged.iter_mut().find(|m| m.address == item.address) {
            Some(same) if same.kind != item.kind => same.kind |= item.kind | kind::OUT,
            Some(_) => {}
            None => merged.push(*item),
        }
    }
    for item in &merged {
        table.add(node, item, wait);
    }
}

/// Submits a task with dependences.
///
/// # Safety
/// [`create::alloc`] returned the payload, and the lists have as many items as the counts say.
pub unsafe extern "C-unwind" fn submit(
    ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
    count: i32,
    list: *const Item,
    more: i32,
    other: *const Item,
) -> i32 {
    // SAFETY: `alloc` returned the payload (caller's contract).
    let task = unsafe { Task::from_payload(payload) };
    // SAFETY: the task is not complete, since it is only now submitted or being executed.
    let t = unsafe { &*task };
    // SAFETY: this thread executes the parent.
    let parent = unsafe { &*t.parent() };
    let thread = by_number(gtid);
    // For an included task of a task without living children, its predecessors are complete, and it
    // will be complete before the next sibling exists.
    let alone = thread.team().size() == 1 || parent.has(flag::FINAL);
    if t.has(flag::STARTED) || alone && parent.children_done() && !t.completes_later() {
        // SAFETY: `alloc` returned the payload (caller's contract).
        return unsafe { create::submit(ident, gtid, payload) };
    }
    // SAFETY: the task is not submitted yet, the lists are as long as the counts say (caller's
    // contract), and the thread executes the parent.
    unsafe {
        adopt(thread, task);
        self::count(thread, t);
        let node = Node::new(task, null_mut());
        t.node.set(Arc::into_raw(node.clone()));
        let items = items(count, list, more, other);
        add_items(parent.dependences(), &node, items, false);
        // AcqRel: the last of the predecessors and this thread sees all their effects.
        if node.before.fetch_sub(1, Ordering::AcqRel) == 1 && acquire_exclusions(&node) {
            create::execute_or_offer(thread, task);
        }
    }
    0
}

/// Acquires all exclusions of the node's task. If one is held, the task is queued there and the
/// function returns false.
fn acquire_exclusions(node: &Node) -> bool {
    let exclusions = sync::lock(&node.exclusions);
    if exclusions.is_empty() {
        return true;
    }
    let _lock = lock_exclusions();
    for exclusion in exclusions.iter() {
        let mut state = sync::lock(&exclusion.state);
        if state.0 {
            state.1.push(node.task.expose_provenance());
            return false;
        }
    }
    for exclusion in exclusions.iter() {
        sync::lock(&exclusion.state).0 = true;
    }
    true
}

/// Releases a task's exclusions and returns the tasks that waited for them.
fn release_exclusions(node: &Node) -> Vec<usize> {
    let exclusions = sync::lock(&node.exclusions);
    if exclusions.is_empty() {
        return Vec::new();
    }
    let _lock = lock_exclusions();
    let mut waiting = Vec::new();
    for exclusion in exclusions.iter() {
        let mut state = sync::lock(&exclusion.state);
        state.0 = false;
        waiting.append(&mut state.1);
    }
    waiting
}

/// Completes a node: its successors may become ready.
///
/// # Safety
/// As for [`complete`](super::execution::complete); the task has a node.
#[cold]
pub unsafe fn complete(thread: Option<&Thread>, team: &Team, task: &Task) {
    // SAFETY: `submit` stored it with `Arc::into_raw`, and it is taken back once.
    let node = unsafe { Arc::from_raw(task.node.replace(std::ptr::null())) };
    for waiting in release_exclusions(&node) {
        let waiting = std::ptr::with_exposed_provenance_mut::<Task>(waiting);
        // SAFETY: the task waits for an exclusion, so it is not complete and has its node.
        unsafe {
            if acquire_exclusions(&*(*waiting).node.get()) {
                make_ready(thread, team, waiting);
            }
        }
    }
    let after = {
        let mut after = sync::lock(&node.after);
        // Release: see `is_done`.
        node.done.store(true, Ordering::Release);
        std::mem::take(&mut *after)
    };
    for next in after {
        // SeqCst: before the check for sleepers below; otherwise AcqRel as in `submit`.
        if next.before.fetch_sub(1, Ordering::SeqCst) != 1 {
            continue;
        }
        if !next.task.is_null() {
            if acquire_exclusions(&next) {
                // SAFETY: the task's dependences are met, which exactly one thread finds.
                unsafe { make_ready(thread, team, next.task) };
            }
        } else {
            fence_after_exchange();
            if team.core.anyone_sleeps() {
                // SAFETY: the memory of tasks always holds tasks; the team waits for the task being
                // completed.
                unsafe {
                    let waiter = (*next.waits).waiter.load(Ordering::Relaxed);
                    if waiter != 0 {
                        team.core.unpark(waiter - 1);
                    }
                }
            }
        }
    }
}

/// Offers a task whose dependences are met.
///
/// Two kinds of tasks go into the line: one that the thread may not begin now, since it fulfills an
/// event within another task, and one that a foreign thread made ready. In a deque such a task
/// would keep the owner from the tasks below. The thread that made it ready may never look for it,
/// so all members are woken.
///
/// # Safety
/// The task is ready, and no other thread has found that.
unsafe fn make_ready(thread: Option<&Thread>, team: &Team, task: *mut Task) {
    // SAFETY: the task is ready and not yet offered (caller's contract).
    unsafe {
        match thread {
            Some(thread) if wait::may_begin(thread, task) => create::offer(thread, task),
            _ => {
                team.tasks.queue_up(task);
                if team.core.anyone_sleeps() {
                    team.core.wake_all(team.size());
                }
            }
        }
    }
}

/// Waits for the siblings that a task with these dependences would have to wait for.
///
/// # Safety
/// The lists have as many items as the counts say.
pub unsafe extern "C-unwind" fn wait_for(
    _ident: *const Ident,
    gtid: i32,
    count: i32,
    list: *const Item,
    more: i32,
    other: *const Item,
) {
    let thread = by_number(gtid);
    // SAFETY: the task that the thread executes.
    let task = unsafe { &*current(thread) };
    if task.table.get().is_null() || task.children_done() {
        return;
    }
    let node = Node::new(null_mut(), current(thread));
    // SAFETY: the lists are as long as the counts say (caller's contract), and the thread executes
    // the task.
    unsafe {
        let items = items(count, list, more, other);
        add_items(task.dependences(), &node, items, true);
        node.before.fetch_sub(1, Ordering::AcqRel);
        // Acquire: the effects of the predecessors are visible.
        wait::execute_until(thread, task, Construct::DEPENDENCES, || {
            node.before.load(Ordering::Acquire) == 0
        });
    }
}

/// Implements `taskwait` with dependences; with `nowait` it submits an empty task that has them.
///
/// # Safety
/// As for [`wait_for`].
pub unsafe extern "C-unwind" fn taskwait(
    ident: *const Ident,
    gtid: i32,
    count: i32,
    list: *const Item,
    more: i32,
    other: *const Item,
    nowait: i32,
) {
    unsafe extern "C-unwind" fn nothing(_gtid: i32, _task: *mut Payload) -> i32 {
        0
    }
    // SAFETY: the lists are as long as the counts say (caller's contract); the payload is from
    // `alloc`.
    unsafe {
        if nowait == 0 {
            return wait_for(ident, gtid, count, list, more, other);
        }
        let flags = flag::TIED as i32;
        let size = size_of::<Payload>();
        let task = create::alloc(ident, gtid, flags, size, 0, Some(nothing));
        submit(ident, gtid, task, count, list, more, other);
    }
}

/// Registers affinity hints; does nothing.
pub unsafe extern "C-unwind" fn affinity(
    _ident: *const Ident,
    _gtid: i32,
    _task: *mut Payload,
    _count: i32,
    _list: *const c_void,
) -> i32 {
    0
}
