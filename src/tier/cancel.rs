//! Cancels calls of embedded programs: by a handle, or when a call takes too long.
//!
//! A call of a program that can be cancelled is in the list of its [`Interrupts`] while it runs. A
//! thread that starts with the first such call asks the calls that are to end, again and again
//! ([`ompvm_memory::interrupt`]), until each has left the guest's code with a trap.
//!
//! Leaves threads alone that the guest created itself. Memory has no limit here.

use ompvm_memory::interrupt::{self, Request};
use ompvm_memory::thread;
use ompvm_support::error::TrapKind;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Time between two interrupts of the same call.
const PERIOD: Duration = Duration::from_millis(1);

/// The running calls that one handle cancels.
#[derive(Debug, Default)]
pub struct Interrupts {
    calls: Mutex<Vec<RunningCall>>,
    /// Notified when a call begins that has a deadline, when calls are cancelled, and at the end.
    changed: Condvar,
    /// True once the thread that interrupts runs.
    started: AtomicBool,
}

/// A call on a thread of the host.
#[derive(Debug)]
struct RunningCall {
    request: Arc<Request>,
    /// The system's number of the thread.
    thread: i32,
    deadline: Option<Instant>,
    asked: bool,
}

/// Guard: while it lives, the calling thread's call can be cancelled.
#[derive(Debug)]
pub(super) struct Cancellable<'a> {
    interrupts: &'a Interrupts,
    request: Arc<Request>,
    outer: *const Request,
}

impl Interrupts {
    /// Ends the calls that run now.
    pub fn cancel(&self) {
        let mut calls = self.calls.lock();
        for call in calls.iter_mut() {
            call.ask(TrapKind::Cancelled);
        }
        self.changed.notify_all();
    }

    /// Adds a call of this thread, which may take as long as `limit`.
    pub(super) fn begin(self: &Arc<Self>, limit: Option<Duration>) -> Cancellable<'_> {
        if !self.started.swap(true, Ordering::AcqRel) {
            let me = Arc::downgrade(self);
            let watch = move || watch(&me);
            let thread = std::thread::Builder::new().name("ompvm cancel".into());
            if thread.spawn(watch).is_err() {
                // The next call tries again.
                self.started.store(false, Ordering::Release);
            }
        }
        let request = Arc::new(Request::default());
        let state = thread::current();
        // SAFETY: this thread's state. The guard keeps the request alive and restores the field.
        let outer = unsafe { std::mem::replace(&mut (*state).request, Arc::as_ptr(&request)) };
        self.calls.lock().push(RunningCall {
            request: request.clone(),
            // SAFETY: the call takes no arguments.
            thread: unsafe { libc::gettid() },
            // A limit beyond what the clock can count is none.
            deadline: limit.and_then(|limit| Instant::now().checked_add(limit)),
            asked: false,
        });
        if limit.is_some() {
            self.changed.notify_all();
        }
        Cancellable {
            interrupts: self,
            request,
            outer,
        }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.changed.notify_all();
    }
}

impl Drop for Cancellable<'_> {
    fn drop(&mut self) {
        let mut calls = self.interrupts.calls.lock();
        calls.retain(|call| !Arc::ptr_eq(&call.request, &self.request));
        // SAFETY: this thread's state.
        unsafe { (*thread::current()).request = self.outer };
    }
}

impl RunningCall {
    fn ask(&mut self, kind: TrapKind) {
        if !self.asked {
            self.request.set(kind);
            self.asked = true;
        }
    }
}

/// Interrupts the calls that are to end, until the calls' owner is dropped.
fn watch(interrupts: &Weak<Interrupts>) {
    while let Some(interrupts) = interrupts.upgrade() {
        let mut calls = interrupts.calls.lock();
        let now = Instant::now();
        for call in calls.iter_mut() {
            if call.deadline.is_some_and(|deadline| deadline <= now) {
                call.ask(TrapKind::OutOfTime);
            }
            if call.asked {
                // The thread cannot end before it has removed its call.
                interrupt::send(call.thread);
            }
        }
        wait(&interrupts.changed, &mut calls, now);
    }
}

/// Waits until there may be a call to interrupt.
fn wait(changed: &Condvar, calls: &mut MutexGuard<'_, Vec<RunningCall>>, now: Instant) {
    /// Time after which the thread looks whether the owner still exists.
    const LOOK: Duration = Duration::from_millis(200);
    let deadlines = calls.iter().filter_map(|call| call.deadline);
    let next = deadlines.map(|d| d.saturating_duration_since(now)).min();
    let asked = calls.iter().any(|call| call.asked);
    let time = match asked {
        true => PERIOD,
        false => next.unwrap_or(LOOK).min(LOOK),
    };
    changed.wait_for(calls, time);
}
