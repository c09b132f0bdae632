//! Detects threads of this process that share a processor.
//!
//! Threads register ([`register`]). A waiting thread calls [`leave_shared_processor`] to learn
//! whether it is on the processor of another registered thread that works. If so, it moves to a
//! processor that none of them is on, or is told to yield its own. The kernel looks for a better
//! processor when it wakes a thread, but the members of a spinning team are never woken. A thread
//! that computes beside a full team makes two members share a processor; each barrier then costs
//! one of them a time slice, and they keep sharing long after that thread has ended.
//!
//! The kernel keeps the number of the processor in a thread's own memory (restartable sequences,
//! Linux 4.18; registered by glibc since 2.35), which other threads may read. Without it, no thread
//! is seen to share a processor.
//!
//! Does not balance between processes, whose threads are invisible here. A thread that blocks in a
//! call of the program counts as working on its last processor, so a thread that shares it yields
//! in vain. Threads of the lowest priority do not register, so others may move to their processors.
//! A move does not change the set of processors on which a thread may run.

use crossbeam::utils::CachePadded;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicBool, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering,
};

/// The most registered threads at a time. Others are ignored.
const MOST: usize = 1024;

/// The activity of a registered thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Activity {
    /// The thread needs no processor.
    Asleep,
    /// The thread needs its processor, and no member of a team waits for it.
    Occupying,
    /// Others may wait for the thread's work. Includes waiting by the thread itself, since its work
    /// may arrive.
    Working,
}

/// The entry of a registered thread.
#[derive(Debug)]
pub struct Entry {
    /// The address at which the kernel keeps the number of the thread's processor; null in a free
    /// entry.
    cpu: AtomicPtr<AtomicU32>,
    activity: AtomicU8,
    /// True while the thread reads other entries; their threads must not end meanwhile.
    reading: AtomicBool,
}

/// The registered threads of a process.
struct Threads {
    entries: [CachePadded<Entry>; MOST],
    /// Number of entries that were ever taken; these come first.
    claimed: AtomicUsize,
    /// Distance from the thread pointer to the kernel's area of a thread, [`NO_AREA`], or 0 before
    /// the first use.
    kernel_area: AtomicIsize,
}

/// Value of [`Threads::kernel_area`] if the system does not tell the processors of threads.
const NO_AREA: isize = isize::MAX;

/// The threads of this process: all that share its processors, of whatever program. All zeros, so
/// that the executable does not contain it.
static THREADS: Threads = Threads {
    entries: [const {
        CachePadded::new(Entry {
            cpu: AtomicPtr::new(null_mut()),
            activity: AtomicU8::new(Activity::Asleep as u8),
            reading: AtomicBool::new(false),
        })
    }; MOST],
    claimed: AtomicUsize::new(0),
    kernel_area: AtomicIsize::new(0),
};

/// The calling thread's entry until it ends.
struct OwnEntry(Cell<Option<&'static Entry>>);

thread_local! {
    /// The entry of this thread.
    static OWN_ENTRY: OwnEntry = const { OwnEntry(Cell::new(None)) };
}

/// Registers the calling thread until it ends, as a working one, if the system tells the processors
/// of threads.
pub fn register() {
    let Some(cpu) = own_cpu() else { return };
    // Fails only while the thread ends.
    let _ = OWN_ENTRY.try_with(|own| {
        if own.0.get().is_none() {
            own.0.set(claim(cpu));
            set_activity(own.0.get(), Activity::Working);
        }
    });
}

fn claim(cpu: &'static AtomicU32) -> Option<&'static Entry> {
    let cpu = std::ptr::from_ref(cpu).cast_mut();
    let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
    let free = |entry: &Entry| {
        let null = null_mut();
        entry.cpu.load(failure).is_null()
            && entry
                .cpu
                .compare_exchange(null, cpu, success, failure)
                .is_ok()
    };
    let index = THREADS.entries.iter().position(|entry| free(entry))?;
    THREADS.claimed.fetch_max(index + 1, Ordering::SeqCst);
    Some(&THREADS.entries[index])
}

impl Drop for OwnEntry {
    fn drop(&mut self) {
        let Some(entry) = self.0.take() else { return };
        entry.cpu.store(null_mut(), Ordering::SeqCst);
        // New readers find no thread here; a reader that began earlier is waited for.
        for other in claimed() {
            while other.reading.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        }
    }
}

/// Returns the calling thread's entry.
pub fn own_entry() -> Option<&'static Entry> {
    OWN_ENTRY.try_with(|own| own.0.get()).ok()?
}

/// Removes all other threads' entries, in a child of `fork`, in which only the calling thread is
/// left.
pub fn forget_others() {
    let own = own_entry().map(std::ptr::from_ref);
    for entry in claimed().filter(|&p| Some(std::ptr::from_ref(p)) != own) {
        entry.cpu.store(null_mut(), Ordering::Relaxed);
        entry.reading.store(false, Ordering::Relaxed);
    }
}

/// Sets the activity of the entry's thread.
#[inline]
pub fn set_activity(entry: Option<&Entry>, activity: Activity) {
    if let Some(entry) = entry {
        entry.activity.store(activity as u8, Ordering::Relaxed);
    }
}

/// Returns true if the caller, a waiting thread, is on the processor of another thread that works,
/// and should yield it. First tries to move to a processor that no other registered thread is on.
pub fn leave_shared_processor() -> bool {
    let Some(own) = own_entry() else { return false };
    let Some((here, used)) = inspect(own) else {
        return false;
    };
    let Some(allowed) = allowed() else {
        return true;
    };
    let free = allowed.nearest(here, &used);
    !free.is_some_and(|cpu| move_to(cpu, &allowed))
}

/// Returns the caller's processor and the processors in use by others, if another thread works on
/// the former.
fn inspect(own: &Entry) -> Option<(usize, Mask)> {
    own.reading.store(true, Ordering::SeqCst);
    let cpu = |entry: &Entry| {
        // SAFETY: a thread that ends clears this and then waits for readers, this one among them
        // (all SeqCst), so the memory behind a non-null pointer is live; the kernel alone writes
        // it.
        let cpu = unsafe { entry.cpu.load(Ordering::SeqCst).as_ref() }?;
        Some(cpu.load(Ordering::Relaxed) as usize)
    };
    let others = || claimed().filter(|&p| !std::ptr::eq(p, own));
    let does = |p: &Entry, what: Activity| p.activity.load(Ordering::Relaxed) == what as u8;
    let here = cpu(own);
    let shared = others().any(|p| does(p, Activity::Working) && cpu(p) == here);
    let found = here.filter(|_| shared).map(|here| {
        let awake = others().filter(|p| !does(p, Activity::Asleep));
        let mut used = Mask::default();
        awake.filter_map(cpu).for_each(|cpu| used.insert(cpu));
        used.insert(here);
        (here, used)
    });
    own.reading.store(false, Ordering::SeqCst);
    found
}

fn claimed() -> impl Iterator<Item = &'static Entry> {
    let count = THREADS.claimed.load(Ordering::SeqCst);
    THREADS.entries[..count].iter().map(|entry| &**entry)
}

/// A set of processors, one bit each, in the kernel's format; larger numbers are left out. The
/// lists of `topology` do not serve here: they allocate, and on a waiting guest thread the
/// allocator may be the guest's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mask([u64; 16]);

impl Mask {
    fn insert(&mut self, cpu: usize) {
        if let Some(word) = self.0.get_mut(cpu / 64) {
            *word |= 1 << (cpu % 64);
        }
    }

    /// Returns the unused processor nearest to `here` by number, since memory and caches are near
    /// there.
    fn nearest(&self, here: usize, used: &Mask) -> Option<usize> {
        let free = |cpu: &usize| (self.0[cpu / 64] & !used.0[cpu / 64]) >> (cpu % 64) & 1 == 1;
        let all = 0..self.0.len() * 64;
        all.filter(free).min_by_key(|cpu| cpu.abs_diff(here))
    }
}

/// Returns the processors that the calling thread may run on; `None` if there are more than a mask
/// holds.
fn allowed() -> Option<Mask> {
    let mut mask = Mask::default();
    let words = mask.0.as_mut_ptr();
    // SAFETY: a live mask of the size passed; 0 names the calling thread.
    let got = unsafe { libc::sched_getaffinity(0, size_of::<Mask>(), words.cast()) };
    (got == 0).then_some(mask)
}

/// Restricts the calling thread to these processors; returns true if the kernel agreed.
fn allow(mask: &Mask) -> bool {
    let words = mask.0.as_ptr();
    // SAFETY: a live mask of the size passed; 0 names the calling thread.
    unsafe { libc::sched_setaffinity(0, size_of::<Mask>(), words.cast()) == 0 }
}

/// Moves the calling thread, which may run on `allowed` before and after; returns true if the
/// kernel agreed.
fn move_to(cpu: usize, allowed: &Mask) -> bool {
    let mut there = Mask::default();
    there.insert(cpu);
    // The second call fails only if the process lost all these processors meanwhile; then the
    // kernel chose others.
    allow(&there) && allow(allowed)
}

/// Returns the memory in which the kernel keeps the number of the calling thread's processor.
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
fn own_cpu() -> Option<&'static AtomicU32> {
    /// `struct rseq`: `cpu_id` comes after `cpu_id_start` (linux/rseq.h).
    const CPU_ID: isize = 4;
    let offset = match THREADS.kernel_area.load(Ordering::Relaxed) {
        0 => {
            let offset = find_kernel_area().unwrap_or(NO_AREA);
            THREADS.kernel_area.store(offset, Ordering::Relaxed);
            offset
        }
        offset => offset,
    };
    if offset == NO_AREA {
        return None;
    }
    let thread: usize;
    // SAFETY: reads the thread pointer, which the ABI keeps at offset 0 of the segment.
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) thread, options(nostack, readonly)) };
    let address = thread.wrapping_add_signed(offset + CPU_ID);
    // SAFETY: glibc's area of this thread, which lives as long as the thread; dropping [`OwnEntry`]
    // ends its use by others.
    let cpu = unsafe { &*(address as *const AtomicU32) };
    // A negative number means that the thread is not registered with the kernel.
    (cpu.load(Ordering::Relaxed) as i32 >= 0).then_some(cpu)
}

/// Returns the distance from the thread pointer to the kernel's area, as glibc tells it. It is not
/// 0, where the thread control block begins.
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
fn find_kernel_area() -> Option<isize> {
    // SAFETY: names of constants of glibc; null if it does not define them.
    unsafe {
        let size = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr());
        let offset = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr());
        let size = size.cast::<u32>().as_ref()?;
        (*size > 0).then_some(*offset.cast::<isize>().as_ref()?)
    }
}

#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
fn own_cpu() -> Option<&'static AtomicU32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{allowed_cpus, bind_current_thread};
    use std::sync::Barrier;

    fn mask(cpus: &[usize]) -> Mask {
        let mut mask = Mask::default();
        cpus.iter().for_each(|&cpu| mask.insert(cpu));
        mask
    }

    #[test]
    fn the_nearest_free_processor_is_taken() {
        let all = mask(&[0, 1, 5, 6, 9, 700]);
        assert_eq!(all.nearest(5, &mask(&[5, 6])), Some(1));
        assert_eq!(all.nearest(5, &mask(&[0, 1, 5, 6, 9])), Some(700));
        assert_eq!(all.nearest(5, &all), None);
    }

    /// Runs two threads on a processor, with a barrier between them.
    fn two_on(cpu: usize, body: impl Fn(usize, &dyn Fn()) + Sync) {
        let meeting = Barrier::new(2);
        std::thread::scope(|scope| {
            for i in 0..2 {
                let (body, meeting) = (&body, &meeting);
                scope.spawn(move || {
                    assert!(bind_current_thread(&[cpu]));
                    register();
                    body(i, &|| {
                        meeting.wait();
                    });
                });
            }
        });
    }

    /// Returns true if the other of the two works on the caller's processor; other tests' threads
    /// may do so, too.
    fn sees(other: &Entry) -> bool {
        let cpu = |entry: &Entry| {
            // SAFETY: both threads live during the test.
            unsafe { &*entry.cpu.load(Ordering::SeqCst) }.load(Ordering::Relaxed)
        };
        let here = own_entry().is_some_and(|own| cpu(own) == cpu(other));
        here && other.activity.load(Ordering::Relaxed) == Activity::Working as u8
    }

    #[test]
    fn a_thread_sees_others_working_on_its_processor() {
        let cpus = allowed_cpus();
        if own_cpu().is_none() {
            return;
        }
        let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
        let places = [const { AtomicPtr::new(null_mut()) }; 2];
        two_on(first, |i, meet| {
            places[i].store(
                std::ptr::from_ref(own_entry().unwrap()).cast_mut(),
                Ordering::SeqCst,
            );
            meet();
            // SAFETY: entries are static.
            let other: &Entry = unsafe { &*places[1 - i].load(Ordering::SeqCst) };
            if i == 0 {
                assert!(sees(other));
                // Bound to one processor, it cannot move.
                assert!(leave_shared_processor());
                set_activity(own_entry(), Activity::Occupying);
                assert!(inspect(own_entry().unwrap()).is_some_and(|(here, used)| {
                    here == first && used.nearest(first, &Mask::default()) == Some(first)
                }));
            } else {
                meet_waiting(other);
            }
            meet();
            if i == 0 && first != last {
                // The thread may run on either again, and is alone on the other as far as these two
                // go.
                assert!(move_to(last, &mask(&[first, last])));
                assert_eq!(allowed(), Some(mask(&[first, last])));
            }
            meet();
        });
    }

    /// Waits as a thread that is not seen to need the processor.
    fn meet_waiting(other: &Entry) {
        while sees(other) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn an_ended_thread_is_not_found() {
        let cpu: &AtomicU32 = Box::leak(Box::default());
        let found = || claimed().any(|p| std::ptr::eq(p.cpu.load(Ordering::SeqCst), cpu));
        let own = OwnEntry(Cell::new(claim(cpu)));
        assert!(found());
        drop(own);
        assert!(!found());
    }
}
