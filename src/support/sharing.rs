//! Which of this process' threads share a processor.
//!
//! What: threads that take part say so ([`join`]); one that waits asks ([`relieve`]) whether it is on
//! the processor of another that works. Then it moves to a processor that none of them is on, or is told to give
//! its own up. Why: the kernel looks for a better place when a thread is woken, and members of a team
//! that spin are not; a thread that computes beside a full team makes two of its members share a
//! processor, each meeting then costs one of them a time slice, and they share it long after that thread has ended
//! (CG of the NAS benchmarks, class A, 16 threads on 16 processors, seen with a profiler: for 70 ms of a compilation
//! and 40 ms after it a sixth of the speed).
//!
//! How: the kernel keeps the number of the processor in a thread's own memory (restartable
//! sequences, Linux 4.18; registered by glibc since 2.35), where others may read it. Without it nobody
//! is seen to share anything.
//!
//! What not: no balance between processes, whose threads are not seen. A thread that waits in a call of the
//! program's own is taken to work where it was last: who shares that place gives it up for nothing. Threads as nice as can be do not take part:
//! who moves to their processor has it. A thread that moves may run where it might before, then and later.

use crossbeam::utils::CachePadded;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};

/// Threads that can take part at a time. Others are not looked at.
const MOST: usize = 1024;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Activity {
    /// It needs no processor.
    Asleep,
    /// It needs its processor, and no member of a team waits for it.
    Occupying,
    /// Others may wait for what it does, also where it waits itself: what for may be there.
    Working,
}

/// A thread that takes part.
#[derive(Debug)]
pub struct Place {
    /// Where the kernel keeps the number of its processor; null where nobody is.
    cpu: AtomicPtr<AtomicU32>,
    activity: AtomicU8,
    /// It looks at others: none of these may end.
    looks: AtomicBool,
}

static PLACES: [CachePadded<Place>; MOST] = [const {
    CachePadded::new(Place {
        cpu: AtomicPtr::new(null_mut()),
        activity: AtomicU8::new(Activity::Asleep as u8),
        looks: AtomicBool::new(false),
    })
}; MOST];

/// Places that were ever taken: those below.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Where the calling thread is found, until it ends.
struct Mine(Cell<Option<&'static Place>>);

thread_local! {
    static MINE: Mine = const { Mine(Cell::new(None)) };
}

/// The calling thread takes part until it ends, as one that works, if the system tells where threads are.
pub fn join() {
    let Some(cpu) = own_cpu() else { return };
    // It fails only while the thread ends.
    let _ = MINE.try_with(|mine| {
        if mine.0.get().is_none() {
            mine.0.set(take(cpu));
            set(mine.0.get(), Activity::Working);
        }
    });
}

fn take(cpu: &'static AtomicU32) -> Option<&'static Place> {
    let cpu = std::ptr::from_ref(cpu).cast_mut();
    let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
    let free = |place: &Place| {
        let null = null_mut();
        place.cpu.load(failure).is_null()
            && place
                .cpu
                .compare_exchange(null, cpu, success, failure)
                .is_ok()
    };
    let index = PLACES.iter().position(|place| free(place))?;
    TAKEN.fetch_max(index + 1, Ordering::SeqCst);
    Some(&PLACES[index])
}

impl Drop for Mine {
    fn drop(&mut self) {
        let Some(place) = self.0.take() else { return };
        place.cpu.store(null_mut(), Ordering::SeqCst);
        // Whoever looks from now on finds nobody here; who looked already may still read.
        for other in taken() {
            while other.looks.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        }
    }
}

/// Where the calling thread is found.
pub fn place() -> Option<&'static Place> {
    MINE.try_with(|mine| mine.0.get()).ok()?
}

/// In a child of `fork`: the calling thread is the only one.
pub fn forget_others() {
    let mine = place().map(std::ptr::from_ref);
    for place in taken().filter(|&p| Some(std::ptr::from_ref(p)) != mine) {
        place.cpu.store(null_mut(), Ordering::Relaxed);
        place.looks.store(false, Ordering::Relaxed);
    }
}

/// Says what the thread does that is found there.
#[inline]
pub fn set(place: Option<&Place>, activity: Activity) {
    if let Some(place) = place {
        place.activity.store(activity as u8, Ordering::Relaxed);
    }
}

/// For a thread that waits: whether it is on the processor of another that works, and had better give it up.
/// Where there is a processor that no other is on, it moves there first.
pub fn relieve() -> bool {
    let Some(mine) = place() else { return false };
    let Some((here, used)) = look(mine) else {
        return false;
    };
    let Some(allowed) = allowed() else {
        return true;
    };
    let free = allowed.nearest(here, &used);
    !free.is_some_and(|cpu| move_to(cpu, &allowed))
}

/// If another thread works on the caller's processor: that, and those that others need or keep.
fn look(mine: &Place) -> Option<(usize, Mask)> {
    mine.looks.store(true, Ordering::SeqCst);
    let cpu = |place: &Place| {
        // SAFETY: a thread that ends clears this and then waits for those that look, of whom we
        // are one (all SeqCst), so what is found here lives; the kernel alone writes it.
        let cpu = unsafe { place.cpu.load(Ordering::SeqCst).as_ref() }?;
        Some(cpu.load(Ordering::Relaxed) as usize)
    };
    let others = || taken().filter(|&p| !std::ptr::eq(p, mine));
    let does = |p: &Place, what: Activity| p.activity.load(Ordering::Relaxed) == what as u8;
    let here = cpu(mine);
    let shared = others().any(|p| does(p, Activity::Working) && cpu(p) == here);
    let found = here.filter(|_| shared).map(|here| {
        let awake = others().filter(|p| !does(p, Activity::Asleep));
        let mut used = Mask::default();
        awake.filter_map(cpu).for_each(|cpu| used.insert(cpu));
        used.insert(here);
        (here, used)
    });
    mine.looks.store(false, Ordering::SeqCst);
    found
}

fn taken() -> impl Iterator<Item = &'static Place> {
    let count = TAKEN.load(Ordering::SeqCst);
    PLACES[..count].iter().map(|place| &**place)
}

/// Processors, a bit each, as the kernel reads and writes them. Larger numbers are left out. Not the lists of
/// `topology`: these allocate, and a waiting thread is the program's, whose allocator that may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mask([u64; 16]);

impl Mask {
    fn insert(&mut self, cpu: usize) {
        if let Some(word) = self.0.get_mut(cpu / 64) {
            *word |= 1 << (cpu % 64);
        }
    }

    /// The processor next to `here` of those that are not used: memory and caches are near there.
    fn nearest(&self, here: usize, used: &Mask) -> Option<usize> {
        let free = |cpu: &usize| (self.0[cpu / 64] & !used.0[cpu / 64]) >> (cpu % 64) & 1 == 1;
        let all = 0..self.0.len() * 64;
        all.filter(free).min_by_key(|cpu| cpu.abs_diff(here))
    }
}

/// The processors that the calling thread may run on, unless there are more than a mask has.
fn allowed() -> Option<Mask> {
    let mut mask = Mask::default();
    let words = mask.0.as_mut_ptr();
    // SAFETY: a live mask of the size passed; 0 names the calling thread.
    let got = unsafe { libc::sched_getaffinity(0, size_of::<Mask>(), words.cast()) };
    (got == 0).then_some(mask)
}

/// The calling thread may run on these from now on; whether the kernel agreed.
fn allow(mask: &Mask) -> bool {
    let words = mask.0.as_ptr();
    // SAFETY: as above.
    unsafe { libc::sched_setaffinity(0, size_of::<Mask>(), words.cast()) == 0 }
}

/// Moves the calling thread, which may run on `allowed` before and after; whether the kernel agreed.
fn move_to(cpu: usize, allowed: &Mask) -> bool {
    let mut there = Mask::default();
    there.insert(cpu);
    // The second is refused only when the process lost all these processors meanwhile; then the kernel chose others.
    allow(&there) && allow(allowed)
}

/// Where the kernel keeps the number of the calling thread's processor.
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
fn own_cpu() -> Option<&'static AtomicU32> {
    /// `struct rseq`: `cpu_id` comes after `cpu_id_start` (linux/rseq.h).
    const CPU_ID: isize = 4;
    static OFFSET: OnceLock<Option<isize>> = OnceLock::new();
    let offset = (*OFFSET.get_or_init(|| {
        // SAFETY: names of constants of glibc, null where it does not define them.
        unsafe {
            let size = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr());
            let offset = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr());
            let size = size.cast::<u32>().as_ref()?;
            (*size > 0).then_some(*offset.cast::<isize>().as_ref()?)
        }
    }))?;
    let thread: usize;
    // SAFETY: reads the thread pointer, which the ABI keeps at offset 0 of the segment.
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) thread, options(nostack, readonly)) };
    let address = thread.wrapping_add_signed(offset + CPU_ID);
    // SAFETY: glibc's area for this thread, which lives as long as it; the end of [`Mine`] ends its use by others.
    let cpu = unsafe { &*(address as *const AtomicU32) };
    // Negative: not registered.
    (cpu.load(Ordering::Relaxed) as i32 >= 0).then_some(cpu)
}

#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
fn own_cpu() -> Option<&'static AtomicU32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::topology::{allowed_cpus, bind_current_thread};
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

    /// Two threads on a processor that meet.
    fn two_on(cpu: usize, body: impl Fn(usize, &dyn Fn()) + Sync) {
        let meeting = Barrier::new(2);
        std::thread::scope(|scope| {
            for i in 0..2 {
                let (body, meeting) = (&body, &meeting);
                scope.spawn(move || {
                    assert!(bind_current_thread(&[cpu]));
                    join();
                    body(i, &|| {
                        meeting.wait();
                    });
                });
            }
        });
    }

    /// Whether another of the two works where the caller is; other tests' threads may do so, too.
    fn sees(other: &Place) -> bool {
        let cpu = |place: &Place| {
            // SAFETY: both live during the test.
            unsafe { &*place.cpu.load(Ordering::SeqCst) }.load(Ordering::Relaxed)
        };
        let here = place().is_some_and(|mine| cpu(mine) == cpu(other));
        here && other.activity.load(Ordering::Relaxed) == Activity::Working as u8
    }

    #[test]
    fn a_thread_sees_who_works_on_its_processor() {
        let cpus = allowed_cpus();
        if own_cpu().is_none() {
            return;
        }
        let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
        let places = [const { AtomicPtr::new(null_mut()) }; 2];
        two_on(first, |i, meet| {
            places[i].store(
                std::ptr::from_ref(place().unwrap()).cast_mut(),
                Ordering::SeqCst,
            );
            meet();
            // SAFETY: places are static.
            let other: &Place = unsafe { &*places[1 - i].load(Ordering::SeqCst) };
            if i == 0 {
                assert!(sees(other));
                // Bound to one processor, it cannot move.
                assert!(relieve());
                set(place(), Activity::Occupying);
                assert!(look(place().unwrap()).is_some_and(|(here, used)| {
                    here == first && used.nearest(first, &Mask::default()) == Some(first)
                }));
            } else {
                meet_waiting(other);
            }
            meet();
            if i == 0 && first != last {
                // It may run on either again, and is alone on the other as far as these two go.
                assert!(move_to(last, &mask(&[first, last])));
                assert_eq!(allowed(), Some(mask(&[first, last])));
            }
            meet();
        });
    }

    /// Who only waits is not seen to need the processor.
    fn meet_waiting(other: &Place) {
        while sees(other) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn who_ends_is_not_found() {
        static CPU: AtomicU32 = AtomicU32::new(0);
        let found = || taken().any(|p| std::ptr::eq(p.cpu.load(Ordering::SeqCst), &CPU));
        let mine = Mine(Cell::new(take(&CPU)));
        assert!(found());
        drop(mine);
        assert!(!found());
    }
}
