//! Waits in words: what a thread waits for, who holds it, and who is missing at a barrier.
//!
//! [`describe`] runs in a signal handler on the thread that it describes, so it reads records only,
//! takes no lock, and writes to the caller's output. Of other threads it says what their records say
//! at that moment. In a deadlock they do not change; otherwise another thread may have moved on by
//! the time that it is described itself.

use std::ffi::{CStr, c_void};
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Construct, RECORDS, WaitingThread, threads};
use crate::ident::Ident;
use crate::{lock, thread};
use ompvm_memory::dump::Description;
use ompvm_support::hook;
use ompvm_support::hook::Hook;

/// Writes the name of the program's variable at an address; writes nothing if it has none, or if the
/// table of names is in use.
pub type VariableHook = fn(address: usize, out: &mut dyn Write);

/// The hook that names variables: the process has one table of the symbols of its programs.
static VARIABLE: Hook<VariableHook> = hook!(VariableHook);

/// Registers the hook that names variables.
pub fn set_variable_hook(hook: VariableHook) {
    VARIABLE.set(hook);
}

/// Describes the calling thread for a dump; see [`ompvm_memory::dump::DescribeHook`].
pub fn describe(place: &str, out: &mut dyn Write) -> Description {
    let Some(me) = thread::current_if_known() else {
        return Description::Unknown;
    };
    let waiting = RECORDS[me.gtid as usize].read(me.gtid as u32);
    // A message that cannot be written is lost.
    let _ = match waiting {
        Some(waiting) if waiting.construct == Construct::IDLE => return Description::Idle,
        Some(waiting) => write_waiting(&waiting, place, out),
        None => write_running(me, place, out),
    };
    Description::Written
}

fn write_running(me: &thread::Thread, place: &str, out: &mut dyn Write) -> fmt::Result {
    write!(out, "ompvm: thread {} runs", me.tid())?;
    write_place(place, me.team().shape().ident, out)?;
    writeln!(out)
}

/// Writes a place, or else the thread's region: a call at the end of a compiled function leaves no
/// frame of that function.
fn write_place(place: &str, region: *const Ident, out: &mut dyn Write) -> fmt::Result {
    match place {
        "" => write_region(region, out),
        place => write!(out, " at {place}"),
    }
}

fn write_waiting(waiting: &WaitingThread, place: &str, out: &mut dyn Write) -> fmt::Result {
    write!(out, "ompvm: thread {} waits ", waiting.member)?;
    write_construct(waiting, out)?;
    let held = write_holder(waiting, out)?;
    write!(out, "{}", if held && !place.is_empty() { "," } else { "" })?;
    write_place(place, waiting.region, out)?;
    writeln!(out)?;
    if is_barrier(waiting.construct) {
        write_members(waiting, out)?;
    }
    Ok(())
}

fn is_barrier(construct: Construct) -> bool {
    [
        Construct::BARRIER,
        Construct::REGION_END,
        Construct::BARRIER_TASKS,
    ]
    .contains(&construct)
}

/// A buffer for a name; longer ones are cut.
struct Name {
    bytes: [u8; 128],
    length: usize,
}

impl Name {
    /// Returns the name of the variable at an address; empty if it has none.
    fn of(address: usize) -> Name {
        let mut name = Name {
            bytes: [0; 128],
            length: 0,
        };
        if let Some(hook) = VARIABLE.get() {
            hook(address, &mut name);
        }
        name
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

impl Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.len() - self.length;
        let part = &text.as_bytes()[..text.len().min(room)];
        self.bytes[self.length..self.length + part.len()].copy_from_slice(part);
        self.length += part.len();
        Ok(())
    }
}

/// Returns the name of a critical section, given that of its variable: empty for the unnamed one,
/// `None` for another variable. clang and flang put the name between these two parts.
fn section(variable: &str) -> Option<&str> {
    let name = variable.strip_prefix(".gomp_critical_user_")?;
    Some(name.strip_suffix(".var").unwrap_or(name))
}

fn write_construct(waiting: &WaitingThread, out: &mut dyn Write) -> fmt::Result {
    let fixed = match waiting.construct {
        Construct::BARRIER => "at a barrier",
        Construct::REGION_END => "at the end of the region",
        Construct::BARRIER_TASKS => "at a barrier for tasks that are not complete",
        Construct::TASKWAIT => "in taskwait",
        Construct::TASKGROUP => "at the end of a taskgroup",
        Construct::ORDERED => "in ordered for its turn",
        Construct::DOACROSS => "in ordered doacross for another iteration",
        Construct::DEPENDENCES => "for the tasks that a task depends on",
        Construct::LOOP => "to begin a loop, far ahead of the slowest thread",
        Construct::ATOMIC => "in atomic",
        Construct::IDLE => "for a region",
        Construct::CRITICAL => {
            let name = Name::of(waiting.object);
            return match section(name.text()) {
                Some("") => write!(out, "in critical (unnamed)"),
                Some(".reduction") => write!(out, "in a reduction"),
                Some(section) => write!(out, "in critical `{section}`"),
                None => write!(out, "in critical"),
            };
        }
        Construct::NEST_LOCK => return write_lock("nestable lock", waiting.object, out),
        _ => return write_lock("lock", waiting.object, out),
    };
    out.write_str(fixed)
}

fn write_lock(kind: &str, address: usize, out: &mut dyn Write) -> fmt::Result {
    let name = Name::of(address);
    match name.text() {
        "" => write!(out, "for a {kind}"),
        name => write!(out, "for {kind} `{name}`"),
    }
}

/// Returns file, function and line of a `parallel` directive; `None` if the program was compiled
/// without debug information.
fn directive(region: *const Ident) -> Option<[&'static str; 3]> {
    // SAFETY: null or a constant of the program, which lives as long as the program runs.
    let source = unsafe { region.as_ref() }.map_or(std::ptr::null(), |ident| ident.psource);
    if source.is_null() {
        return None;
    }
    // SAFETY: the compiler's null-terminated string, as constant as the ident.
    let source = unsafe { CStr::from_ptr(source) }.to_str().unwrap_or("");
    let mut parts = source.split(';').skip(1);
    let parts = [parts.next()?, parts.next()?, parts.next()?];
    (parts[0] != "unknown").then_some(parts)
}

/// Writes the place of a `parallel` directive.
fn write_region(region: *const Ident, out: &mut dyn Write) -> fmt::Result {
    match directive(region) {
        Some([file, _, line]) => write!(out, " in the region of {file}:{line}"),
        None => Ok(()),
    }
}

/// Returns the identification of the innermost `parallel` region that the calling thread executes;
/// null outside of regions. See [`ompvm_memory::signals::CurrentRegionHook`].
pub fn current_region() -> *const c_void {
    let shape = thread::current_if_known().map(|me| me.team().shape());
    shape
        .filter(|shape| shape.level > 0)
        .map_or(std::ptr::null(), |shape| shape.ident.cast())
}

/// Writes a region that [`current_region`] returned.
pub fn write_parallel(region: *const c_void, out: &mut dyn Write) {
    // A message that cannot be written is lost.
    let _ = match directive(region.cast()) {
        Some([file, function, line]) => {
            write!(out, "parallel region at {file}:{line} in `{function}`")
        }
        None => write!(out, "parallel region"),
    };
}

/// Writes who holds the lock that a thread waits for; returns false if that is not a lock.
fn write_holder(waiting: &WaitingThread, out: &mut dyn Write) -> Result<bool, fmt::Error> {
    let kind = waiting.construct;
    let locks = [
        Construct::LOCK,
        Construct::NEST_LOCK,
        Construct::CRITICAL,
        Construct::ATOMIC,
    ];
    if !locks.contains(&kind) {
        return Ok(false);
    }
    let word = std::ptr::with_exposed_provenance::<AtomicU32>(waiting.object);
    // SAFETY: the calling thread waits for this lock, so the object is alive.
    let word = unsafe { &*word }.load(Ordering::Relaxed);
    match lock::holder(word, kind) {
        Some(holder) if holder == waiting.number => write!(out, ", which it holds itself")?,
        Some(holder) => {
            write!(out, ", held by ")?;
            write_thread(holder, waiting.team, out)?;
        }
        None if waiting.own => write!(out, ", which it holds itself")?,
        None => {
            let waits = threads().filter_map(|(number, _, record)| record.read(number));
            let mut same = waits.filter(|other| other.object == waiting.object);
            match same.find(|other| other.own) {
                Some(holder) => {
                    write!(out, ", held by ")?;
                    write_thread(holder.number, waiting.team, out)?;
                }
                None => write!(out, ", held by a thread that is not recorded")?,
            }
        }
    }
    Ok(true)
}

/// Writes the number of a thread, in its team if it waits, seen from a member of `team`.
fn write_thread(number: u32, team: usize, out: &mut dyn Write) -> fmt::Result {
    let record = RECORDS.get(number as usize);
    match record.and_then(|record| record.read(number)) {
        Some(other) if other.team == team => write!(out, "thread {}", other.member),
        Some(other) if other.construct == Construct::IDLE => {
            write!(out, "thread {} of a region that has ended", other.member)
        }
        Some(other) => {
            write!(out, "thread {} of another team", other.member)?;
            write_region(other.region, out)
        }
        None => write!(out, "a thread that runs"),
    }
}

/// Writes which members have reached a barrier, and where the others are. Only the first waiting
/// member writes it for all.
fn write_members(waiting: &WaitingThread, out: &mut dyn Write) -> fmt::Result {
    let member = |number: u32| {
        let waits = threads().filter_map(|(number, _, record)| record.read(number));
        waits
            .filter(|other| other.team == waiting.team)
            .find(|other| other.member == number)
    };
    let arrived = |other: &WaitingThread| {
        let at_barrier = is_barrier(other.construct) || other.construct == Construct::IDLE;
        at_barrier && other.barrier >= waiting.barrier
    };
    let same =
        |other: &WaitingThread| is_barrier(other.construct) && other.barrier == waiting.barrier;
    if (0..waiting.member).any(|number| member(number).is_some_and(|other| same(&other))) {
        return Ok(());
    }
    let end = waiting.construct == Construct::REGION_END;
    // The end of a region is a barrier of its own: a member that waits there, or has passed it,
    // does not come to another one.
    let present = |other: &WaitingThread| match other.construct {
        Construct::IDLE | Construct::REGION_END if !end => false,
        _ => arrived(other),
    };
    let is_present = |&number: &u32| member(number).is_some_and(|other| present(&other));
    let mut before = match (0..waiting.size).filter(is_present).count() {
        1 => "  arrived: thread",
        _ => "  arrived: threads",
    };
    for number in (0..waiting.size).filter(is_present) {
        write!(out, "{before} {number}")?;
        before = ",";
    }
    writeln!(out)?;
    for number in 0..waiting.size {
        match member(number) {
            Some(other) if present(&other) => continue,
            Some(other) if other.construct == Construct::IDLE => {
                write!(out, "  thread {number} has ended the region")?;
                if waiting.barrier > other.barrier {
                    let missing = waiting.barrier - other.barrier;
                    let barriers = if missing == 1 { "barrier" } else { "barriers" };
                    write!(out, " with {missing} {barriers} fewer")?;
                }
            }
            Some(other) => {
                write!(out, "  thread {number} waits ")?;
                write_construct(&other, out)?;
            }
            None => write!(out, "  thread {number} has not arrived")?,
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn kmpc_names_of_critical_sections_are_those_of_the_source() {
        assert_eq!(section(".gomp_critical_user_a.var"), Some("a"));
        assert_eq!(section(".gomp_critical_user_.var"), Some(""));
        assert_eq!(
            section(".gomp_critical_user_.reduction.var"),
            Some(".reduction")
        );
        assert_eq!(section("guard"), None);
    }
}
