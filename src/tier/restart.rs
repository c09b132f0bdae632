//! The guest's identity: its name, and its execution of itself.
//!
//! A native program finds its own file as `/proc/self/exe` and in `argv[0]`, and executes it anew.
//! Here the first is ompvm and the second is bitcode, which the kernel does not execute. So the
//! guest's calls of functions that execute a file ([`overrides`]) are redirected here. A call that
//! means the guest becomes a command line of ompvm, with the options of this run, that runs the
//! same file with the new arguments. `readlink("/proc/self/exe")` returns the guest's file, so that
//! the guest finds files beside it.
//!
//! Calls by native libraries are not redirected, and opening `/proc/self/exe` opens ompvm.
//! `/proc/self/cmdline` is the command line that was typed.

use super::registry::REGISTRY;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

/// Command that starts the guest again.
#[derive(Debug, Clone)]
pub struct Restart {
    /// Command line of ompvm up to the program's file: its own name, `run`, options.
    pub command: Vec<CString>,
    /// Absolute path of the program's file.
    pub file: CString,
}

#[derive(Debug)]
pub(super) struct GuestIdentity {
    restart: Restart,
    /// Name of this run of the guest.
    name: CString,
    /// Device and inode numbers of the program's file.
    file: Option<(u64, u64)>,
    /// Device and inode numbers of ompvm.
    own: Option<(u64, u64)>,
}

const OWN_EXE: &CStr = c"/proc/self/exe";

/// Sets the command that starts the guest named `name` again.
pub fn set(restart: Restart, name: &CStr) {
    let _ = REGISTRY.guest.set(GuestIdentity {
        file: identity(&restart.file),
        own: identity(OWN_EXE),
        name: name.to_owned(),
        restart,
    });
}

unsafe extern "C" {
    static mut program_invocation_name: *mut c_char;
    static mut program_invocation_short_name: *mut c_char;
}

/// Returns the last part of a path.
fn base_name(path: &CStr) -> &CStr {
    let bytes = path.to_bytes_with_nul();
    let start = path
        .to_bytes()
        .iter()
        .rposition(|&b| b == b'/')
        .map_or(0, |slash| slash + 1);
    CStr::from_bytes_with_nul(&bytes[start..]).unwrap_or(path)
}

/// Gives the process the guest's name, for messages of the C library and as the name of the first
/// thread (`comm`).
pub fn set_process_name(name: &CStr) {
    // Exit handlers may use the name until the process ends.
    let name: &'static CStr = Box::leak(name.to_owned().into_boxed_c_str());
    let short = base_name(name);
    // SAFETY: sets variables of the C library before the guest runs, as the start-up code does;
    // both texts are leaked. The kernel copies the thread's name.
    unsafe {
        program_invocation_name = name.as_ptr().cast_mut();
        program_invocation_short_name = short.as_ptr().cast_mut();
        libc::prctl(libc::PR_SET_NAME, short.as_ptr());
    }
}

fn identity(path: &CStr) -> Option<(u64, u64)> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: passes a C string and a structure to fill, which is read only if the call has filled
    // it.
    unsafe {
        (libc::stat(path.as_ptr(), status.as_mut_ptr()) == 0).then(|| {
            let status = status.assume_init();
            (status.st_dev, status.st_ino)
        })
    }
}

fn identity_of(file: c_int) -> Option<(u64, u64)> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: passes a structure to fill, which is read only if the call has filled it.
    unsafe {
        (libc::fstat(file, status.as_mut_ptr()) == 0).then(|| {
            let status = status.assume_init();
            (status.st_dev, status.st_ino)
        })
    }
}

/// Returns true if a path is the link to this process's executable.
fn is_own_link(path: &CStr) -> bool {
    let Ok(text) = path.to_str() else {
        return false;
    };
    match text
        .strip_prefix("/proc/")
        .and_then(|t| t.strip_suffix("/exe"))
    {
        Some("self" | "thread-self") => true,
        Some(number) => number.parse() == Ok(std::process::id()),
        None => false,
    }
}

impl GuestIdentity {
    /// Returns true if the file with this identity means the guest: its bitcode, or ompvm if the
    /// new arguments do not begin like a command line of ompvm.
    fn is_guest(&self, file: Option<(u64, u64)>, first: Option<&CStr>) -> bool {
        let named = |path: &CStr| base_name(path) == c"ompvm";
        file.is_some() && (file == self.file || file == self.own && !first.is_some_and(named))
    }

    /// Returns true if a path means the guest. If `search` is true, a path without a slash is
    /// looked up in `PATH`.
    fn is_guest_path(&self, path: &CStr, search: bool, first: Option<&CStr>) -> bool {
        if is_own_link(path) {
            return true;
        }
        if search && !path.to_bytes().contains(&b'/') {
            // Natively the shell has found the program under this name.
            return path == &*self.name;
        }
        self.is_guest(identity(path), first)
    }

    /// Returns the command line for new arguments of the guest. It refers to the caller's texts.
    ///
    /// # Safety
    /// `args` must be null or a null-terminated list of C strings that outlive the result.
    unsafe fn command(&self, args: *const *const c_char) -> CommandLine {
        // SAFETY: `args` is such a list by this function's contract.
        let args = unsafe { list(args) };
        let first = args.first().map_or(&b""[..], |&a| {
            // SAFETY: an element of a list of C strings.
            unsafe { CStr::from_ptr(a) }.to_bytes()
        });
        let mut name = b"--argv0=".to_vec();
        name.extend_from_slice(first);
        let name = CString::new(name).unwrap_or_default();
        let command = &self.restart.command;
        let mut all: Vec<*const c_char> = command[..2].iter().map(|a| a.as_ptr()).collect();
        all.push(name.as_ptr());
        all.extend(command[2..].iter().map(|a| a.as_ptr()));
        all.push(self.restart.file.as_ptr());
        // The arguments after `--` are the guest's, a further `--` included.
        all.push(c"--".as_ptr());
        all.extend(args.iter().skip(1));
        all.push(ptr::null());
        CommandLine { all, _name: name }
    }
}

struct CommandLine {
    all: Vec<*const c_char>,
    _name: CString,
}

/// Returns the elements of a null-terminated list; none for a null pointer.
///
/// # Safety
/// `start` must be null or a null-terminated list.
unsafe fn list(start: *const *const c_char) -> Vec<*const c_char> {
    let mut all = Vec::new();
    if !start.is_null() {
        let mut at = start;
        // SAFETY: the list ends with null by this function's contract.
        unsafe {
            while !(*at).is_null() {
                all.push(*at);
                at = at.add(1);
            }
        }
    }
    all
}

/// Returns the command that starts the guest again, if the path means the guest.
///
/// # Safety
/// `path` must be null or a C string, and `args` null or a null-terminated list of C strings that
/// outlive the result.
unsafe fn restart_command(
    path: *const c_char,
    search: bool,
    args: *const *const c_char,
) -> Option<CommandLine> {
    let known = REGISTRY.guest.get()?;
    if path.is_null() {
        return None;
    }
    // SAFETY: `path` is not null here; path and list are valid by this function's contract.
    unsafe {
        let first = args
            .as_ref()
            .filter(|a| !a.is_null())
            .map(|a| CStr::from_ptr(*a));
        known
            .is_guest_path(CStr::from_ptr(path), search, first)
            .then(|| known.command(args))
    }
}

unsafe extern "C" {
    static environ: *const *const c_char;
    fn execvpe(file: *const c_char, args: *const *const c_char, env: *const *const c_char)
    -> c_int;
    fn execveat(
        folder: c_int,
        path: *const c_char,
        args: *const *const c_char,
        env: *const *const c_char,
        flags: c_int,
    ) -> c_int;
    fn realpath(path: *const c_char, to: *mut c_char) -> *mut c_char;
    fn __chk_fail() -> !;
}

unsafe extern "C" fn guest_execve(
    path: *const c_char,
    args: *const *const c_char,
    env: *const *const c_char,
) -> c_int {
    // SAFETY: the arguments are those of the C function of this name.
    unsafe {
        match restart_command(path, false, args) {
            Some(command) => libc::execve(OWN_EXE.as_ptr(), command.all.as_ptr(), env),
            None => libc::execve(path, args, env),
        }
    }
}

unsafe extern "C" fn guest_execvpe(
    path: *const c_char,
    args: *const *const c_char,
    env: *const *const c_char,
) -> c_int {
    // SAFETY: the arguments are those of the C function of this name.
    unsafe {
        match restart_command(path, true, args) {
            Some(command) => libc::execve(OWN_EXE.as_ptr(), command.all.as_ptr(), env),
            None => execvpe(path, args, env),
        }
    }
}

unsafe extern "C" fn guest_execv(path: *const c_char, args: *const *const c_char) -> c_int {
    // SAFETY: the arguments are those of the C function of this name.
    unsafe { guest_execve(path, args, environ) }
}

unsafe extern "C" fn guest_execvp(path: *const c_char, args: *const *const c_char) -> c_int {
    // SAFETY: the arguments are those of the C function of this name.
    unsafe { guest_execvpe(path, args, environ) }
}

/// Returns the command that starts the guest again, if the descriptor is of the guest's file.
///
/// # Safety
/// `args` must be null or a null-terminated list of C strings that outlive the result.
unsafe fn restart_command_of(file: c_int, args: *const *const c_char) -> Option<CommandLine> {
    let known = REGISTRY.guest.get()?;
    // SAFETY: `args` is such a list by this function's contract.
    unsafe {
        let first = args
            .as_ref()
            .filter(|a| !a.is_null())
            .map(|a| CStr::from_ptr(*a));
        known
            .is_guest(identity_of(file), first)
            .then(|| known.command(args))
    }
}

unsafe extern "C" fn guest_fexecve(
    file: c_int,
    args: *const *const c_char,
    env: *const *const c_char,
) -> c_int {
    // SAFETY: the arguments are those of the C function of this name.
    unsafe {
        match restart_command_of(file, args) {
            Some(command) => libc::execve(OWN_EXE.as_ptr(), command.all.as_ptr(), env),
            None => libc::fexecve(file, args, env),
        }
    }
}

unsafe extern "C" fn guest_execveat(
    folder: c_int,
    path: *const c_char,
    args: *const *const c_char,
    env: *const *const c_char,
    flags: c_int,
) -> c_int {
    // SAFETY: the arguments are those of the C function of this name.
    unsafe {
        // Linux takes null for an empty path from version 6.11 on, and refuses it before.
        let text = (!path.is_null()).then(|| CStr::from_ptr(path).to_bytes());
        let command = match text {
            Some(b"") if flags & libc::AT_EMPTY_PATH != 0 => restart_command_of(folder, args),
            Some([b'/', ..]) => restart_command(path, false, args),
            Some(_) if folder == libc::AT_FDCWD => restart_command(path, false, args),
            _ => None,
        };
        match command {
            Some(command) => libc::execve(OWN_EXE.as_ptr(), command.all.as_ptr(), env),
            None => execveat(folder, path, args, env, flags),
        }
    }
}

/// Defines a function that starts a process: the guest itself, or the program that the `libc`
/// function with the same signature starts.
macro_rules! spawns {
    ($($name:ident: $original:ident, searches $searches:literal;)*) => { $(
        unsafe extern "C" fn $name(
            process: *mut libc::pid_t,
            path: *const c_char,
            actions: *const libc::posix_spawn_file_actions_t,
            attributes: *const libc::posix_spawnattr_t,
            args: *const *mut c_char,
            env: *const *mut c_char,
        ) -> c_int {
            // SAFETY: the arguments are those of the C function of this name.
            unsafe {
                match restart_command(path, $searches, args.cast()) {
                    Some(command) => {
                        let all = command.all.as_ptr().cast();
                        libc::posix_spawn(process, OWN_EXE.as_ptr(), actions, attributes, all, env)
                    }
                    None => libc::$original(process, path, actions, attributes, args, env),
                }
            }
        }
    )* };
}
spawns! {
    guest_posix_spawn: posix_spawn, searches false;
    guest_posix_spawnp: posix_spawnp, searches true;
}

/// Returns the arguments of a variadic call up to null, and a pointer to the one after it.
/// `registers` holds the first five, `stack` the others.
///
/// # Safety
/// `registers` and `stack` must be those of a live variadic call with a null argument.
unsafe fn collect_arguments(
    registers: *const *const c_char,
    stack: *const *const c_char,
) -> (Vec<*const c_char>, *const *const c_char) {
    let mut all = Vec::new();
    for i in 0.. {
        // SAFETY: the caller passed arguments up to null, and `i` does not exceed the index of the
        // null.
        let at = |i: usize| unsafe {
            match i {
                0..5 => registers.add(i).read(),
                _ => stack.add(i - 5).read(),
            }
        };
        all.push(at(i));
        if at(i).is_null() {
            // The next argument may be missing; a caller that reads it knows that it exists.
            let next = if i + 1 < 5 {
                registers.wrapping_add(i + 1)
            } else {
                stack.wrapping_add(i + 1 - 5)
            };
            return (all, next);
        }
    }
    (all, ptr::null())
}

unsafe extern "C" fn execl_of(
    path: *const c_char,
    registers: *const *const c_char,
    stack: *const *const c_char,
) -> c_int {
    // SAFETY: the variadic function passes its own arguments.
    unsafe { guest_execv(path, collect_arguments(registers, stack).0.as_ptr()) }
}

unsafe extern "C" fn execlp_of(
    path: *const c_char,
    registers: *const *const c_char,
    stack: *const *const c_char,
) -> c_int {
    // SAFETY: the variadic function passes its own arguments.
    unsafe { guest_execvp(path, collect_arguments(registers, stack).0.as_ptr()) }
}

unsafe extern "C" fn execle_of(
    path: *const c_char,
    registers: *const *const c_char,
    stack: *const *const c_char,
) -> c_int {
    // SAFETY: the variadic function passes its own arguments, and the environment follows the null.
    unsafe {
        let (args, env) = collect_arguments(registers, stack);
        guest_execve(path, args.as_ptr(), env.read().cast())
    }
}

/// Defines a variadic function of the x86-64 psABI (section 3.5.7) that passes on its first
/// argument, the address of the next five, and the address of the others.
#[cfg(target_arch = "x86_64")]
macro_rules! variadic {
    ($($name:ident => $to:ident),*) => { $(
        #[unsafe(naked)]
        unsafe extern "C" fn $name() -> c_int {
            std::arch::naked_asm!(
                "sub rsp, 56",
                "mov [rsp], rsi",
                "mov [rsp + 8], rdx",
                "mov [rsp + 16], rcx",
                "mov [rsp + 24], r8",
                "mov [rsp + 32], r9",
                "mov rsi, rsp",
                "lea rdx, [rsp + 64]",
                "call {to}",
                "add rsp, 56",
                "ret",
                to = sym $to,
            )
        }
    )* };
}
#[cfg(target_arch = "x86_64")]
variadic!(guest_execl => execl_of, guest_execlp => execlp_of, guest_execle => execle_of);

/// Returns the guest's file if the path is the link to the executable.
///
/// # Safety
/// `path` must be null or a C string.
unsafe fn guest_file(path: *const c_char) -> Option<&'static CStr> {
    let known = REGISTRY.guest.get()?;
    // SAFETY: a path that is not null is a C string by this function's contract.
    (!path.is_null() && is_own_link(unsafe { CStr::from_ptr(path) }))
        .then_some(known.restart.file.as_c_str())
}

/// Copies a path into a buffer without a terminating zero, as `readlink` does. Returns its length,
/// cut to `size`.
///
/// # Safety
/// `to` must be valid for writes of `size` bytes.
unsafe fn copy(file: &CStr, to: *mut c_char, size: usize) -> isize {
    let bytes = file.to_bytes();
    let len = bytes.len().min(size);
    // SAFETY: the buffer has room for `size` bytes by this function's contract, and `len` is at
    // most that.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), len) };
    len as isize
}

unsafe extern "C" fn guest_readlink(path: *const c_char, to: *mut c_char, size: usize) -> isize {
    // SAFETY: the arguments are those of the C function of this name.
    unsafe {
        match guest_file(path) {
            Some(file) => copy(file, to, size),
            None => libc::readlink(path, to, size),
        }
    }
}

unsafe extern "C" fn guest_readlinkat(
    folder: c_int,
    path: *const c_char,
    to: *mut c_char,
    size: usize,
) -> isize {
    // SAFETY: the arguments are those of the C function of this name.
    unsafe {
        match guest_file(path) {
            Some(file) => copy(file, to, size),
            None => libc::readlinkat(folder, path, to, size),
        }
    }
}

unsafe extern "C" fn guest_realpath(path: *const c_char, to: *mut c_char) -> *mut c_char {
    // SAFETY: the arguments are those of the C function of this name.
    unsafe { realpath(guest_file(path).map_or(path, CStr::as_ptr), to) }
}

/// Ends the guest, as the C library does, if a buffer has less room than a call may write
/// (`_FORTIFY_SOURCE`).
fn check_room(size: usize, room: usize) {
    if size > room {
        // SAFETY: the function takes no argument; it reports the overflow and aborts.
        unsafe { __chk_fail() }
    }
}

unsafe extern "C" fn guest_readlink_chk(
    path: *const c_char,
    to: *mut c_char,
    size: usize,
    room: usize,
) -> isize {
    check_room(size, room);
    // SAFETY: the arguments are those of the C function of this name.
    unsafe { guest_readlink(path, to, size) }
}

unsafe extern "C" fn guest_readlinkat_chk(
    folder: c_int,
    path: *const c_char,
    to: *mut c_char,
    size: usize,
    room: usize,
) -> isize {
    check_room(size, room);
    // SAFETY: the arguments are those of the C function of this name.
    unsafe { guest_readlinkat(folder, path, to, size) }
}

unsafe extern "C" fn guest_realpath_chk(
    path: *const c_char,
    to: *mut c_char,
    room: usize,
) -> *mut c_char {
    check_room(libc::PATH_MAX as usize, room);
    // SAFETY: the arguments are those of the C function of this name.
    unsafe { guest_realpath(path, to) }
}

unsafe extern "C" fn guest_canonical(path: *const c_char) -> *mut c_char {
    // SAFETY: the arguments are those of the C function of this name.
    unsafe { guest_realpath(path, ptr::null_mut()) }
}

/// Returns the functions that replace the C library's for a native guest. The checked forms
/// (`_FORTIFY_SOURCE`) take the room in the buffer as a further argument.
pub fn overrides() -> Vec<(&'static str, usize)> {
    let address = |f: *const c_void| f as usize;
    let mut all = vec![
        ("execv", address(guest_execv as *const c_void)),
        ("execve", address(guest_execve as *const c_void)),
        ("execvp", address(guest_execvp as *const c_void)),
        ("execvpe", address(guest_execvpe as *const c_void)),
        ("fexecve", address(guest_fexecve as *const c_void)),
        ("execveat", address(guest_execveat as *const c_void)),
        ("posix_spawn", address(guest_posix_spawn as *const c_void)),
        ("posix_spawnp", address(guest_posix_spawnp as *const c_void)),
        ("readlink", address(guest_readlink as *const c_void)),
        ("readlinkat", address(guest_readlinkat as *const c_void)),
        ("realpath", address(guest_realpath as *const c_void)),
        (
            "__readlink_chk",
            address(guest_readlink_chk as *const c_void),
        ),
        (
            "__readlinkat_chk",
            address(guest_readlinkat_chk as *const c_void),
        ),
        (
            "__realpath_chk",
            address(guest_realpath_chk as *const c_void),
        ),
        (
            "canonicalize_file_name",
            address(guest_canonical as *const c_void),
        ),
    ];
    #[cfg(target_arch = "x86_64")]
    all.extend([
        ("execl", address(guest_execl as *const c_void)),
        ("execlp", address(guest_execlp as *const c_void)),
        ("execle", address(guest_execle as *const c_void)),
    ]);
    all
}

/// Converts a system string to a C string; cut at a zero byte, which no argument contains.
pub fn c_string(text: &std::ffi::OsStr) -> CString {
    let bytes = text.as_bytes();
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_the_executable_are_known() {
        assert!(is_own_link(OWN_EXE) && is_own_link(c"/proc/thread-self/exe"));
        let number = c_string(format!("/proc/{}/exe", std::process::id()).as_ref());
        assert!(is_own_link(&number));
        assert!(!is_own_link(c"/proc/1/exe") && !is_own_link(c"/proc/self/maps"));
    }

    #[test]
    fn the_name_of_a_path_is_its_last_part() {
        assert_eq!(base_name(c"/a/b.bc"), c"b.bc");
        assert_eq!(base_name(c"b.bc"), c"b.bc");
        assert_eq!(base_name(c"a/"), c"");
    }
}
