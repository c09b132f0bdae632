//! Takes from this process what reading does not need: files, memory, time and system calls.
//!
//! The filter allows what an allocator, a thread and a timer call (`seccomp(2)`). Every other call
//! fails with EPERM, so code that can go without continues. Without a kernel that filters, the limits
//! and the border between processes remain.

use std::mem::offset_of;
use std::time::Duration;

/// System calls that need no check of their arguments.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_close,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_delete,
    libc::SYS_getrandom,
    libc::SYS_pause,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Closes all files but the standard ones.
pub(super) fn close_other_files() {
    // SAFETY: nothing has opened files yet; those of the host are not used here.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
}

/// Limits this process to that much address space in bytes and that much processor time, and gives
/// up the other system calls. There must be no other thread yet.
pub(super) fn enter(memory: u64, time: Duration) {
    // The reading thread's own limit comes first, and has a better message.
    let seconds = time.as_secs() + 2;
    let limits = [
        (libc::RLIMIT_AS, memory),
        (libc::RLIMIT_CPU, seconds),
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_FSIZE, 0),
    ];
    for (resource, value) in limits {
        let limit = libc::rlimit {
            rlim_cur: value,
            rlim_max: value,
        };
        // SAFETY: the limit is a live local. A limit that the system refuses is one less.
        unsafe { libc::setrlimit(resource, &raw const limit) };
    }
    let filter = filter();
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the program and its filter live during the call; the kernel checks and copies them.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        );
    }
}

/// Returns the filter's instructions.
#[cfg(target_arch = "x86_64")]
fn filter() -> Vec<libc::sock_filter> {
    /// `AUDIT_ARCH_X86_64`.
    const X86_64: u32 = 0xC000_003E;
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let missing = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    let allow = libc::SECCOMP_RET_ALLOW;
    let end = |action| statement(libc::BPF_RET | libc::BPF_K, action);
    let number = load(offset_of!(libc::seccomp_data, nr));
    let mut code = vec![
        load(offset_of!(libc::seccomp_data, arch)),
        jump(libc::BPF_JEQ, X86_64, 1, 0),
        end(libc::SECCOMP_RET_KILL_PROCESS),
        number,
    ];
    for &call in ALLOWED {
        code.extend([jump(libc::BPF_JEQ, call as u32, 0, 1), end(allow)]);
    }
    // glibc then calls `clone`, whose flags a filter can see.
    code.extend([
        jump(libc::BPF_JEQ, libc::SYS_clone3 as u32, 0, 1),
        end(missing),
    ]);
    // Each call with the word of its argument that decides, the bits, and what these allow.
    let argument = |n: usize| load(offset_of!(libc::seccomp_data, args) + 8 * n);
    let (yes, no) = (end(allow), end(refuse));
    for (call, place, bits, set, clear) in [
        (libc::SYS_clone, 0, libc::CLONE_THREAD as u32, yes, no),
        (libc::SYS_mmap, 2, libc::PROT_EXEC as u32, no, yes),
        (libc::SYS_mprotect, 2, libc::PROT_EXEC as u32, no, yes),
    ] {
        code.extend([
            jump(libc::BPF_JEQ, call as u32, 0, 4),
            argument(place),
            jump(libc::BPF_JSET, bits, 0, 1),
            set,
            clear,
        ]);
    }
    // The name of a thread, and a signal to one of this process's own.
    let own = std::process::id();
    code.extend([
        jump(libc::BPF_JEQ, libc::SYS_prctl as u32, 0, 4),
        argument(0),
        jump(libc::BPF_JEQ, libc::PR_SET_NAME as u32, 0, 1),
        yes,
        no,
    ]);
    for call in [libc::SYS_tgkill, libc::SYS_rt_tgsigqueueinfo] {
        code.extend([
            jump(libc::BPF_JEQ, call as u32, 0, 4),
            argument(0),
            jump(libc::BPF_JEQ, own, 0, 1),
            yes,
            no,
        ]);
    }
    code.push(no);
    code
}

/// Other processors have other numbers of calls, and no filter.
#[cfg(not(target_arch = "x86_64"))]
fn filter() -> Vec<libc::sock_filter> {
    vec![statement(
        libc::BPF_RET | libc::BPF_K,
        libc::SECCOMP_RET_ALLOW,
    )]
}

fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    }
}

/// Loads a word of the call's description.
fn load(offset: usize) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset as u32)
}

/// Skips instructions by a comparison with a constant.
fn jump(comparison: u32, k: u32, yes: u8, no: u8) -> libc::sock_filter {
    let code = libc::BPF_JMP | comparison | libc::BPF_K;
    libc::sock_filter {
        jt: yes,
        jf: no,
        ..statement(code, k)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_in_the_sandbox_can_only_compute() {
        // SAFETY: the child makes system calls only, and ends by `_exit`.
        let child = unsafe { libc::fork() };
        if child == 0 {
            enter(1 << 40, Duration::from_secs(5));
            // SAFETY: each call is one whose refusal is checked, or maps fresh memory.
            let failed = unsafe {
                let map = |access| {
                    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                    libc::mmap(std::ptr::null_mut(), 4096, access, flags, -1, 0) != libc::MAP_FAILED
                };
                let refused =
                    |result: libc::c_long| result == -1 && *libc::__errno_location() == libc::EPERM;
                let flags = libc::SIGCHLD;
                [
                    !refused(libc::syscall(
                        libc::SYS_openat,
                        -100,
                        c"/dev/null".as_ptr(),
                        0,
                    )),
                    !refused(libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0)),
                    !refused(libc::syscall(
                        libc::SYS_socket,
                        libc::AF_INET,
                        libc::SOCK_STREAM,
                        0,
                    )),
                    !refused(libc::syscall(libc::SYS_kill, libc::getppid(), 0)),
                    !refused(libc::syscall(libc::SYS_execve, c"/bin/true".as_ptr(), 0, 0)),
                    map(libc::PROT_READ | libc::PROT_EXEC),
                    !map(libc::PROT_READ | libc::PROT_WRITE),
                ]
            };
            let failed = failed.iter().position(|&failed| failed);
            // SAFETY: `_exit` has no preconditions.
            unsafe { libc::_exit(failed.map_or(0, |n| n as i32 + 1)) };
        }
        let mut status = -1;
        // SAFETY: `status` is a live local.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert!(libc::WIFEXITED(status), "status {status:#x}");
        assert_eq!(libc::WEXITSTATUS(status), 0);
    }
}
