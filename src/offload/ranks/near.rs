//! Memory of another process of this host.
//!
//! A rank copies what rank 0 uploads directly out of rank 0's memory, and what it downloads into
//! it (process_vm_readv(2)): one copy on as many threads as the rank has, where messages take two
//! on one. Libraries of MPI copy long messages in the same way.
//!
//! The kernel permits it among processes of one user. Where Yama restricts that to descendants of
//! the other process, rank 0 permits it to what the launcher has started, which is the parent of
//! both. [`Proof`] finds out whether it works; otherwise memory travels in messages.

use serde::{Deserialize, Serialize};
use std::io;

/// The memory of a process of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessMemory {
    /// Number of the process.
    process: u32,
}

/// A word of rank 0's memory, which shows another process that it reads the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    address: u64,
    word: u64,
}

/// A system call that copies between processes.
type Copy = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> libc::ssize_t;

impl ProcessMemory {
    /// Returns the memory of a process, if this process may access it.
    pub fn of(process: u32, proof: Proof) -> Option<ProcessMemory> {
        let memory = ProcessMemory { process };
        let mut word = 0_u64;
        let to = (&raw mut word).cast();
        // SAFETY: the word is writable.
        let read = unsafe { memory.read(to, proof.address, size_of::<u64>()) };
        (read.is_ok() && word == proof.word).then_some(memory)
    }

    /// Copies out of the process.
    ///
    /// # Safety
    /// `len` bytes at `to` must be writable, and used by nobody else.
    ///
    /// # Errors
    /// That of the system; `EFAULT` if the range is not readable there. Part of it may be copied.
    pub unsafe fn read(self, to: *mut u8, from: u64, len: usize) -> io::Result<()> {
        // SAFETY: by this function's contract. The system checks the other process's range.
        unsafe { self.copy(libc::process_vm_readv, to, from, len) }
    }

    /// Copies into the process.
    ///
    /// # Safety
    /// `len` bytes at `from` must be readable. The other process must wait for the copy.
    ///
    /// # Errors
    /// As for [`ProcessMemory::read`].
    pub unsafe fn write(self, to: u64, from: *const u8, len: usize) -> io::Result<()> {
        // SAFETY: by this function's contract; the call does not write to `from`.
        unsafe { self.copy(libc::process_vm_writev, from.cast_mut(), to, len) }
    }

    /// # Safety
    /// As for [`ProcessMemory::read`] or [`ProcessMemory::write`].
    unsafe fn copy(self, call: Copy, here: *mut u8, there: u64, len: usize) -> io::Result<()> {
        let range = |address: usize, done: usize| libc::iovec {
            iov_base: (address + done) as *mut libc::c_void,
            iov_len: len - done,
        };
        let mut done = 0;
        while done < len {
            let (own, other) = (range(here as usize, done), range(there as usize, done));
            // SAFETY: the range here is valid by this function's contract; the system checks the
            // other one.
            let copied = unsafe { call(self.process as libc::pid_t, &own, 1, &other, 1, 0) };
            match copied {
                1.. => done += copied as usize,
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => match io::Error::last_os_error() {
                    error if error.kind() == io::ErrorKind::Interrupted => {}
                    error => return Err(error),
                },
            }
        }
        Ok(())
    }
}

impl Proof {
    /// Returns the proof of this process, and lets processes of the same launcher access it.
    pub fn of_this_process() -> Proof {
        static WORD: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
        // Neither known to another process nor the same in it.
        let word = WORD.get_or_init(|| {
            permit_siblings();
            let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
            now.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(40) | 1
        });
        Proof {
            address: std::ptr::from_ref(word) as u64,
            word: *word,
        }
    }
}

/// Lets descendants of the launcher access this process's memory where Yama restricts that to its
/// own descendants (prctl(2), `PR_SET_PTRACER`).
fn permit_siblings() {
    const PATH: &str = "/proc/sys/kernel/yama/ptrace_scope";
    let restricted = std::fs::read_to_string(PATH).is_ok_and(|text| text.trim() == "1");
    let parent = std::os::unix::process::parent_id();
    if restricted && parent > 1 {
        // SAFETY: the option takes the number of a process.
        unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::c_ulong::from(parent)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_memory_of_a_process_is_copied_both_ways() {
        let proof = Proof::of_this_process();
        let own = ProcessMemory::of(std::process::id(), proof).unwrap();
        let (from, mut to) = (vec![7_u8; 100_000], vec![0_u8; 100_000]);
        // SAFETY: the vectors outlive the calls.
        unsafe {
            own.read(to.as_mut_ptr(), from.as_ptr() as u64, from.len())
                .unwrap();
            assert!(to == from);
            to.fill(0);
            own.write(to.as_mut_ptr() as u64, from.as_ptr(), from.len())
                .unwrap();
        }
        assert!(to == from);
        // SAFETY: the vector outlives the call.
        let unmapped = unsafe { own.read(to.as_mut_ptr(), 16, 8) };
        assert_eq!(unmapped.unwrap_err().raw_os_error(), Some(libc::EFAULT));
    }

    #[test]
    fn ranks_memory_of_another_process_is_refused() {
        let proof = Proof::of_this_process();
        assert_eq!(ProcessMemory::of(u32::MAX / 2, proof), None);
        let wrong = Proof {
            word: proof.word + 2,
            ..proof
        };
        assert_eq!(ProcessMemory::of(std::process::id(), wrong), None);
    }
}
