//! The watchdog: proves that no thread of the program can go on, reports that, and ends the process.
//!
//! A thread of its own looks at the records of all threads ([`super`]) ten times in the given time.
//! A deadlock is proven if each time
//! - every thread that the system lists for the process is one that the runtime knows, or does
//!   ompvm's internal work, or has ended,
//! - every thread that the runtime knows is in the same wait as before, and at least one of them
//!   waits for something else than a new region,
//! - and the system says that every one of them sleeps in a futex, except those that the program
//!   lets spin for ever (`OMP_WAIT_POLICY=active`).
//!
//! All of these waits end only by an act of another thread of OpenMP, so none ends. A thread that
//! runs, is about to run, or waits in another system call (input, `sleep`, `pthread_join`) may act;
//! so may one that OpenMP does not know, such as a thread of the program's own or of a GPU's driver.
//! While there is one, nothing is reported. A signal handler that would release a lock is not
//! expected: OpenMP does not permit it.
//!
//! Only one wait is not proven to be endless where it lasts: that of a thread that spins. It may not
//! have had a processor in all of that time.
//!
//! A child of `fork` has no watchdog.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Construct, threads};
use crate::lock;
use ompvm_memory::{dump, internal_thread};

/// Number of looks in the given time.
const LOOKS: u32 = 10;
/// Shortest and longest time between two looks.
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1);

/// Exit status of a program that the watchdog ends.
const DEADLOCK: i32 = 125;

/// Starts the watchdog. `limit` is how long a deadlock lasts before it is reported. Programs that are
/// linked from now on record who holds a lock. Returns false if the system has no thread.
pub fn start(limit: Duration) -> bool {
    lock::named::want();
    internal_thread::spawn(c"ompvm watchdog", move || watch(limit)).is_some()
}

/// Returns true if programs are linked for the watchdog.
pub fn started() -> bool {
    lock::named::wanted()
}

fn watch(limit: Duration) {
    let pause = (limit / LOOKS).clamp(SHORTEST, LONGEST);
    let mut begun = Instant::now();
    let mut looks = 0;
    let mut before = None;
    loop {
        std::thread::sleep(pause);
        let now = stuck();
        if now.is_none() || now != before {
            before = now;
            (begun, looks) = (Instant::now(), 0);
            continue;
        }
        // A process that was stopped is looked at often enough all the same.
        looks += 1;
        if begun.elapsed() >= limit && looks >= LOOKS.min(limit.div_duration_f64(pause) as u32) {
            end();
        }
    }
}

/// Returns the waits of all threads, by thread and number of the wait, if none of them can go on
/// unless another one does.
fn stuck() -> Option<Vec<(u32, u32)>> {
    let mut known = HashMap::new();
    let mut waits = Vec::new();
    let mut busy = false;
    for (number, system, record) in threads() {
        let waiting = record.read(number)?;
        busy |= waiting.construct != Construct::IDLE;
        known.insert(system, waiting.spins);
        waits.push((number, waiting.changes));
    }
    let asleep = |thread: i32| match known.get(&thread) {
        Some(spins) => *spins || sleeps(thread),
        None => ended_or_internal(thread),
    };
    (busy && system_threads()?.into_iter().all(asleep)).then_some(waits)
}

/// Returns the numbers of the threads of the process.
fn system_threads() -> Option<Vec<i32>> {
    let list = std::fs::read_dir("/proc/self/task").ok()?;
    list.map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

/// Returns the state letter of a thread and its name; `None` if the thread has ended.
fn state(thread: i32) -> Option<(char, String)> {
    let text = std::fs::read(format!("/proc/self/task/{thread}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    // The name may contain anything, so its end is the last parenthesis.
    let (name, rest) = text.rsplit_once(") ")?;
    let name = name.split_once('(')?.1;
    Some((rest.chars().next()?, name.to_owned()))
}

/// Returns true if a thread sleeps in a futex.
fn sleeps(thread: i32) -> bool {
    if state(thread).is_none_or(|(state, _)| state != 'S') {
        return false;
    }
    // Some kernels do not tell the call; then the wait's record must do.
    let call = std::fs::read_to_string(format!("/proc/self/task/{thread}/syscall"));
    let futex = libc::SYS_futex.to_string();
    call.map_or(true, |call| call.split(' ').next() == Some(&futex))
}

/// Returns true if a thread that the runtime does not know has ended, or does internal work.
fn ended_or_internal(thread: i32) -> bool {
    state(thread).is_none_or(|(state, name)| {
        matches!(state, 'Z' | 'X' | 'x') || dump::is_internal(thread, &name)
    })
}

/// Reports the deadlock and ends the process.
fn end() {
    let headline = "deadlock: every thread of the program waits, and none can go on";
    if !dump::write_others(headline) {
        return;
    }
    flush();
    // SAFETY: ends the process. Exit handlers of the program do not run, because they may wait for
    // its threads.
    unsafe { libc::_exit(DEADLOCK) };
}

/// Writes out the streams of the C library, unless a thread holds the lock of one.
fn flush() {
    /// Milliseconds that this may take.
    const LIMIT: u32 = 1_000;
    let done = Arc::new(AtomicBool::new(false));
    let flushed = Arc::clone(&done);
    let started = internal_thread::spawn(c"ompvm flush", move || {
        // SAFETY: a null stream stands for all.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        flushed.store(true, Ordering::Release);
    });
    for _ in 0..LIMIT {
        if started.is_none() || done.load(Ordering::Acquire) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn kmpc_watchdog_sees_what_a_thread_does() {
        // SAFETY: the call takes no arguments.
        let me = unsafe { libc::gettid() };
        assert_eq!(state(me).map(|s| s.0), Some('R'));
        assert!(!sleeps(me) && !ended_or_internal(me));
        assert!(system_threads().is_some_and(|all| all.contains(&me)));
        assert!(ended_or_internal(i32::MAX));
        let (sender, receiver) = std::sync::mpsc::channel();
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let sleeper = std::thread::spawn(move || {
            // SAFETY: the call takes no arguments.
            sender.send(unsafe { libc::gettid() }).unwrap();
            let _ = held.recv();
        });
        let other = receiver.recv().unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while !sleeps(other) {
            assert!(Instant::now() < deadline);
            std::thread::yield_now();
        }
        drop(hold);
        sleeper.join().unwrap();
    }
}
