//! The guest's identity: its name, and what happens when it executes itself.
//!
//! A native program finds its own file as `/proc/self/exe` and by `argv[0]`, and executes it anew. Here the first is
//! ompvm and the second is bitcode, which the system does not execute. So the guest's calls of the functions that
//! execute a file ([`overrides`]) come here first: one that means the guest becomes a command line of ompvm, with the
//! options of this run, that runs the same file with the new arguments. `readlink("/proc/self/exe")` names the
//! guest's file, so that what lies beside it is found.
//!
//! Calls by native libraries are not seen, and `/proc/self/exe` is still ompvm where it is opened.
//! `/proc/self/cmdline` is the command line that was typed.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::OnceLock;

/// How the guest is started again.
#[derive(Debug, Clone)]
pub struct Restart {
    /// A command line of ompvm up to the program's file: its own name, `run`, options.
    pub command: Vec<CString>,
    /// The program's file, an absolute path.
    pub file: CString,
}

#[derive(Debug)]
struct Known {
    restart: Restart,
    /// The name that this run of the guest has.
    name: CString,
    /// Device and number of the program's file, and of ompvm.
    file: Option<(u64, u64)>,
    own: Option<(u64, u64)>,
}

static KNOWN: OnceLock<Known> = OnceLock::new();

const OWN: &CStr = c"/proc/self/exe";

/// Tells how the guest named `name` is started again.
pub fn set(restart: Restart, name: &CStr) {
    let _ = KNOWN.set(Known {
        file: identity(&restart.file),
        own: identity(OWN),
        name: name.to_owned(),
        restart,
    });
}

unsafe extern "C" {
    static mut program_invocation_name: *mut c_char;
    static mut program_invocation_short_name: *mut c_char;
}

/// The last part of a path.
fn base_name(path: &CStr) -> &CStr {
    let bytes = path.to_bytes_with_nul();
    let start = path
        .to_bytes()
        .iter()
        .rposition(|&b| b == b'/')
        .map_or(0, |slash| slash + 1);
    CStr::from_bytes_with_nul(&bytes[start..]).unwrap_or(path)
}

/// Gives the process the guest's name: that of the C library's messages, and that of its first thread (`comm`).
pub fn take_name(name: &CStr) {
    // Exit handlers may use it until the very end.
    let name: &'static CStr = Box::leak(name.to_owned().into_boxed_c_str());
    let short = base_name(name);
    // SAFETY: the variables of the C library, set before the guest runs, as its start-up code does; both texts stay.
    // The system copies the name.
    unsafe {
        program_invocation_name = name.as_ptr().cast_mut();
        program_invocation_short_name = short.as_ptr().cast_mut();
        libc::prctl(libc::PR_SET_NAME, short.as_ptr());
    }
}

fn identity(path: &CStr) -> Option<(u64, u64)> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: a path and a structure to fill, which is read only if it was.
    unsafe {
        (libc::stat(path.as_ptr(), status.as_mut_ptr()) == 0).then(|| {
            let status = status.assume_init();
            (status.st_dev, status.st_ino)
        })
    }
}

fn identity_of(file: c_int) -> Option<(u64, u64)> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: as for a path.
    unsafe {
        (libc::fstat(file, status.as_mut_ptr()) == 0).then(|| {
            let status = status.assume_init();
            (status.st_dev, status.st_ino)
        })
    }
}

/// Returns true if a path is the link to the executable of this process.
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

impl Known {
    /// Returns true if the file, known by its identity, is the guest's own: its bitcode, or ompvm where the new
    /// arguments do not begin as a command line of ompvm would.
    fn is_guest(&self, file: Option<(u64, u64)>, first: Option<&CStr>) -> bool {
        let named = |path: &CStr| base_name(path) == c"ompvm";
        file.is_some() && (file == self.file || file == self.own && !first.is_some_and(named))
    }

    /// The same for a path; `search`: it is looked for in `PATH` where it has no slash.
    fn is_guest_path(&self, path: &CStr, search: bool, first: Option<&CStr>) -> bool {
        if is_own_link(path) {
            return true;
        }
        if search && !path.to_bytes().contains(&b'/') {
            // Natively the shell has found it so.
            return path == &*self.name;
        }
        self.is_guest(identity(path), first)
    }

    /// The command line for new arguments of the guest; the texts in front of theirs live as long as the result.
    unsafe fn command(&self, args: *const *const c_char) -> Command {
        // SAFETY: the caller's arguments, which end with null.
        let args = unsafe { list(args) };
        let first = args.first().map_or(&b""[..], |&a| {
            // SAFETY: a text of the caller's.
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
        // The words that follow are the guest's, another `--` included.
        all.push(c"--".as_ptr());
        all.extend(args.iter().skip(1));
        all.push(ptr::null());
        Command { all, _name: name }
    }
}

struct Command {
    all: Vec<*const c_char>,
    _name: CString,
}

/// The elements of a list that ends with null; none of a null list.
unsafe fn list(start: *const *const c_char) -> Vec<*const c_char> {
    let mut all = Vec::new();
    if !start.is_null() {
        let mut at = start;
        // SAFETY: the list ends with null (the caller's promise).
        unsafe {
            while !(*at).is_null() {
                all.push(*at);
                at = at.add(1);
            }
        }
    }
    all
}

/// The command that starts the guest again, where the path means the guest.
unsafe fn again(path: *const c_char, search: bool, args: *const *const c_char) -> Option<Command> {
    let known = KNOWN.get()?;
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller's texts and list.
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
}

unsafe extern "C" fn guest_execve(
    path: *const c_char,
    args: *const *const c_char,
    env: *const *const c_char,
) -> c_int {
    // SAFETY: as the C function's.
    unsafe {
        match again(path, false, args) {
            Some(command) => libc::execve(OWN.as_ptr(), command.all.as_ptr(), env),
            None => libc::execve(path, args, env),
        }
    }
}

unsafe extern "C" fn guest_execvpe(
    path: *const c_char,
    args: *const *const c_char,
    env: *const *const c_char,
) -> c_int {
    // SAFETY: as the C function's.
    unsafe {
        match again(path, true, args) {
            Some(command) => libc::execve(OWN.as_ptr(), command.all.as_ptr(), env),
            None => execvpe(path, args, env),
        }
    }
}

unsafe extern "C" fn guest_execv(path: *const c_char, args: *const *const c_char) -> c_int {
    // SAFETY: as the C function's.
    unsafe { guest_execve(path, args, environ) }
}

unsafe extern "C" fn guest_execvp(path: *const c_char, args: *const *const c_char) -> c_int {
    // SAFETY: as the C function's.
    unsafe { guest_execvpe(path, args, environ) }
}

/// The command that starts the guest again, where the descriptor is of its file.
unsafe fn again_of(file: c_int, args: *const *const c_char) -> Option<Command> {
    let known = KNOWN.get()?;
    // SAFETY: the caller's list of texts.
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
    // SAFETY: as the C function's.
    unsafe {
        match again_of(file, args) {
            Some(command) => libc::execve(OWN.as_ptr(), command.all.as_ptr(), env),
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
    // SAFETY: as the C function's.
    unsafe {
        let text = CStr::from_ptr(path);
        let command = if text.is_empty() && flags & libc::AT_EMPTY_PATH != 0 {
            again_of(folder, args)
        } else if text.to_bytes().starts_with(b"/") || folder == libc::AT_FDCWD {
            again(path, false, args)
        } else {
            None
        };
        match command {
            Some(command) => libc::execve(OWN.as_ptr(), command.all.as_ptr(), env),
            None => execveat(folder, path, args, env, flags),
        }
    }
}

/// Defines a function that starts a process: the guest itself, else what `libc`'s function of the same form starts.
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
            // SAFETY: as the C function's.
            unsafe {
                match again(path, $searches, args.cast()) {
                    Some(command) => {
                        let all = command.all.as_ptr().cast();
                        libc::posix_spawn(process, OWN.as_ptr(), actions, attributes, all, env)
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

/// The arguments of a variadic call up to null, and what follows it: `registers` has the first five, `stack` the rest.
unsafe fn gather(
    registers: *const *const c_char,
    stack: *const *const c_char,
) -> (Vec<*const c_char>, *const *const c_char) {
    let mut all = Vec::new();
    for i in 0.. {
        // SAFETY: the caller passed arguments up to null, and one more where it is asked for.
        let at = |i: usize| unsafe {
            match i {
                0..5 => registers.add(i).read(),
                _ => stack.add(i - 5).read(),
            }
        };
        all.push(at(i));
        if at(i).is_null() {
            // The next one may not be there; whoever wants it knows that it is.
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
    // SAFETY: the variadic function's arguments.
    unsafe { guest_execv(path, gather(registers, stack).0.as_ptr()) }
}

unsafe extern "C" fn execlp_of(
    path: *const c_char,
    registers: *const *const c_char,
    stack: *const *const c_char,
) -> c_int {
    // SAFETY: the variadic function's arguments.
    unsafe { guest_execvp(path, gather(registers, stack).0.as_ptr()) }
}

unsafe extern "C" fn execle_of(
    path: *const c_char,
    registers: *const *const c_char,
    stack: *const *const c_char,
) -> c_int {
    // SAFETY: the variadic function's arguments; the environment follows them.
    unsafe {
        let (args, env) = gather(registers, stack);
        guest_execve(path, args.as_ptr(), env.read().cast())
    }
}

/// Defines a variadic function of the x86-64 psABI (section 3.5.7) that passes on its first argument, the address of
/// the next five, and that of the others.
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

/// The guest's file, where the path is the link to the executable.
unsafe fn linked(path: *const c_char) -> Option<&'static CStr> {
    let known = KNOWN.get()?;
    // SAFETY: a text of the caller's, or null.
    (!path.is_null() && is_own_link(unsafe { CStr::from_ptr(path) }))
        .then_some(known.restart.file.as_c_str())
}

unsafe fn copy(file: &CStr, to: *mut c_char, size: usize) -> isize {
    let bytes = file.to_bytes();
    let len = bytes.len().min(size);
    // SAFETY: the caller's buffer has room for `size` bytes.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), len) };
    len as isize
}

unsafe extern "C" fn guest_readlink(path: *const c_char, to: *mut c_char, size: usize) -> isize {
    // SAFETY: as the C function's.
    unsafe {
        match linked(path) {
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
    // SAFETY: as the C function's.
    unsafe {
        match linked(path) {
            Some(file) => copy(file, to, size),
            None => libc::readlinkat(folder, path, to, size),
        }
    }
}

unsafe extern "C" fn guest_realpath(path: *const c_char, to: *mut c_char) -> *mut c_char {
    // SAFETY: as the C function's.
    unsafe { realpath(linked(path).map_or(path, CStr::as_ptr), to) }
}

unsafe extern "C" fn guest_canonical(path: *const c_char) -> *mut c_char {
    // SAFETY: as the C function's.
    unsafe { guest_realpath(path, ptr::null_mut()) }
}

/// The functions that a native guest gets instead of the C library's. Their checked forms (`_FORTIFY_SOURCE`) have the
/// buffer's size behind the other arguments, which natively was checked before.
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

/// A text of the system as one of C; what follows a zero byte, which no argument has, is left out.
pub fn text(text: &std::ffi::OsStr) -> CString {
    let bytes = text.as_bytes();
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_the_executable_are_known() {
        assert!(is_own_link(OWN) && is_own_link(c"/proc/thread-self/exe"));
        let number = text(format!("/proc/{}/exe", std::process::id()).as_ref());
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
