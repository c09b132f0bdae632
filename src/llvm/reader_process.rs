//! Reads files in a process of its own, whose death the caller survives.
//!
//! `guard` survives a crash of LLVM's reader, but not a write outside of its objects that goes
//! unnoticed. So a host that is handed hostile bytes lets an `ompvm` read them ([`read`]): the
//! child ([`serve`]) gets the bytes as its standard input, reads, links and verifies them, and
//! answers with the module in `ir`'s serialized form. No code of LLVM sees the bytes in the host.
//!
//! Before it reads, the child limits its memory and its processor time, closes all other files, and
//! gives up all system calls that an allocator and a thread do not need ([`sandbox`]). A file that
//! takes over the child can answer with any module, and can do nothing else.
//!
//! The request is a file in memory and the answer a pipe that the host only reads, so a child that
//! dies raises no SIGPIPE in the host. Leaves to others: where the executable is (`api`).

mod sandbox;

use super::guard::ResourceLimits;
use super::{Input, ReadOptions};
use ompvm_ir::{Module, serialized};
use ompvm_support::error::Error;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The first argument of an `ompvm` that reads for another process.
const ARGUMENT: &str = "--read-for-host";
/// First bytes of a request and of an answer. Both sides must have the same form of modules.
const MARK: &[u8] = concat!("ompvm reader 1 ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
/// Byte before a module in an answer, and before a message.
const MODULE: u8 = b'+';
const MESSAGE: u8 = b'-';
/// Address space of the child beside the memory that reading may take, in bytes: its executable and
/// the stacks of two threads.
const OWN_SPACE: u64 = 1 << 30;
/// Wall time that a child may take beyond its processor time.
const WAITING: Duration = Duration::from_secs(60);
/// Time after which a silent child is looked at again.
const TICK: Duration = Duration::from_millis(200);
/// Number of looks in a row that find all threads of a child asleep. They have nothing to wait for
/// but locks, and one that LLVM held when it crashed is never released.
const ASLEEP: u32 = 15;
/// Wall time from the end of the answer to the child's end.
const ENDING: Duration = Duration::from_secs(1);

/// Returns true if this process was started to read for another one.
pub fn is_request(arguments: &[OsString]) -> bool {
    arguments.len() == 2 && arguments[1] == ARGUMENT
}

/// Reads and links the files in a child process that executes `program`, an `ompvm` of this version.
///
/// # Errors
/// Returns [`Error::Input`] as [`super::read`] does, also if the child dies or takes too long, and
/// [`Error::Host`] if `program` cannot be executed or has another version.
pub fn read(program: &Path, inputs: &[Input], contract: bool) -> Result<Module, Error> {
    let host = |what: &str, e: io::Error| {
        Error::Host(format!(
            "files cannot be read in a process apart: {what}: {e}"
        ))
    };
    let request = request(inputs, contract).map_err(|e| host("its request", e))?;
    let mut child = Command::new(program)
        .arg(ARGUMENT)
        .stdin(Stdio::from(request))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| host(&program.display().to_string(), e))?;
    let size = inputs.iter().map(|i| i.bytes.len()).sum();
    let limits = ResourceLimits::for_reading(size);
    let most = usize::try_from(limits.memory).unwrap_or(usize::MAX);
    let answer = match receive(&mut child, limits.time + WAITING, most) {
        Ok(answer) => answer,
        Err(cause) => {
            // Its answer has not ended, so the child lives and has not been waited for.
            let _ = child.kill();
            let _ = child.wait();
            return Err(refused(inputs, cause));
        }
    };
    let status = wait(&mut child);
    let Some(answer) = answer.strip_prefix(MARK) else {
        return Err(match (answer.is_empty(), status) {
            (true, Some(status)) if !status.success() => refused(inputs, describe(status)),
            (true, None) => refused(inputs, "the process that reads it ended".into()),
            _ => Error::Host(format!(
                "{} is another version of ompvm than this one, or another program",
                program.display()
            )),
        });
    };
    match answer.split_first() {
        Some((&MODULE, bytes)) => {
            let module = serialized::load_all(bytes.to_vec());
            let mut module = module.ok_or_else(|| refused(inputs, FORM.into()))?;
            module.name = inputs.first().map_or("", |i| &i.name).to_owned();
            module.files = inputs
                .iter()
                .map(|i| (i.name.clone(), i.bytes.clone()))
                .collect();
            module.contracted = contract;
            Ok(module)
        }
        Some((&MESSAGE, text)) => {
            let text = String::from_utf8_lossy(text);
            let (file, cause) = text.split_once('\0').unwrap_or(("", &text));
            Err(Error::Input {
                file: file.to_owned(),
                cause: cause.to_owned(),
            })
        }
        _ => Err(refused(inputs, FORM.into())),
    }
}

/// Cause if an answer has not its form.
const FORM: &str = "damaged LLVM IR, the process that reads it gave no valid answer";

fn refused(inputs: &[Input], cause: String) -> Error {
    let names: Vec<&str> = inputs.iter().map(|i| &*i.name).collect();
    Error::Input {
        file: names.join(", "),
        cause,
    }
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(libc::SIGXCPU | libc::SIGKILL) => {
            "damaged LLVM IR, reading it takes too long or too much memory".into()
        }
        Some(signal) => format!("damaged LLVM IR, LLVM crashed on it (signal {signal})"),
        None => format!("damaged LLVM IR, the process that reads it ended with {status}"),
    }
}

/// Returns a file in memory with the inputs, at its beginning.
fn request(inputs: &[Input], contract: bool) -> io::Result<File> {
    // SAFETY: the name is a C string, and the result is checked before it becomes a file.
    let mut file = unsafe {
        let file = libc::memfd_create(c"ompvm-request".as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        File::from_raw_fd(file)
    };
    file.write_all(MARK)?;
    file.write_all(&[u8::from(contract)])?;
    for input in inputs {
        for part in [input.name.as_bytes(), &input.bytes] {
            file.write_all(&(part.len() as u64).to_le_bytes())?;
            file.write_all(part)?;
        }
    }
    file.rewind()?;
    Ok(file)
}

/// Returns the inputs of a request, and whether to contract; `None` if it has not the form.
fn parse_request(bytes: &[u8]) -> Option<(Vec<Input>, bool)> {
    let (&contract, mut rest) = bytes.strip_prefix(MARK)?.split_first()?;
    let mut part = || {
        let (len, bytes) = rest.split_first_chunk::<8>()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let (part, after) = bytes.split_at_checked(len)?;
        rest = after;
        Some(part)
    };
    let mut inputs = Vec::new();
    while let Some(name) = part() {
        inputs.push(Input {
            name: String::from_utf8_lossy(name).into_owned(),
            bytes: part()?.to_vec(),
        });
    }
    rest.is_empty().then_some((inputs, contract != 0))
}

/// Receives the child's answer.
///
/// # Errors
/// Returns the cause if it takes longer than `limit` or has more than `most` bytes.
fn receive(child: &mut Child, limit: Duration, most: usize) -> Result<Vec<u8>, String> {
    let Some(mut pipe) = child.stdout.take() else {
        return Err(FORM.into());
    };
    let end = Instant::now() + limit;
    let mut asleep = 0;
    let mut answer = Vec::new();
    let mut part = vec![0; 1 << 16];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let mut poll = libc::pollfd {
            fd: pipe.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let millis = left.min(TICK).as_millis() as i32;
        // SAFETY: the entry is a live local.
        let ready = unsafe { libc::poll(&mut poll, 1, millis) };
        if left.is_zero() {
            return Err("damaged LLVM IR, reading it takes too long".into());
        }
        if ready <= 0 {
            asleep = if sleeps(child.id()) { asleep + 1 } else { 0 };
            if asleep > ASLEEP {
                return Err("damaged LLVM IR, LLVM hangs on it".into());
            }
            continue;
        }
        asleep = 0;
        match pipe.read(&mut part) {
            Ok(0) => return Ok(answer),
            Ok(count) => answer.extend_from_slice(&part[..count]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(FORM.into()),
        }
        if answer.len() > most {
            return Err("damaged LLVM IR, reading it takes too much memory".into());
        }
    }
}

/// Returns true if all threads of a process sleep. A thread that a busy machine delays does not.
fn sleeps(process: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else {
        return false;
    };
    let mut states = threads.map(|thread| {
        let text = std::fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        // proc(5): the state follows the name, which is in parentheses.
        text.rsplit_once(") ")?.1.chars().next()
    });
    states.all(|state| state == Some('S'))
}

/// Waits for a child whose answer has ended. Returns `None` if the host has waited for it or ignores
/// its children's ends.
fn wait(child: &mut Child) -> Option<ExitStatus> {
    let end = Instant::now() + ENDING;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_micros(200)),
            Ok(None) => {
                let _ = child.kill();
                return child.wait().ok();
            }
            Err(_) => return None,
        }
    }
}

/// Reads for the process that started this one: a request on standard input, the answer on standard
/// output.
pub fn serve() -> ExitCode {
    sandbox::close_other_files();
    let mut request = Vec::new();
    if io::stdin().lock().read_to_end(&mut request).is_err() {
        return ExitCode::FAILURE;
    }
    let Some((inputs, contract)) = parse_request(&request) else {
        ompvm_support::eprintln!("ompvm: {ARGUMENT} is for processes of ompvm only");
        return ExitCode::FAILURE;
    };
    let limits = ResourceLimits::for_reading(request.len());
    drop(request);
    sandbox::enter(limits.memory + OWN_SPACE, limits.time);
    let options = ReadOptions {
        contract,
        ..ReadOptions::default()
    };
    let answer = super::read_module(&inputs, options, false).and_then(super::finish);
    let mut bytes = MARK.to_vec();
    match answer.map(|module| serialized::save(&module, Box::default())) {
        Ok(Ok(module)) => {
            bytes.push(MODULE);
            bytes.extend(module);
        }
        Ok(Err(why)) => message(&mut bytes, "", &format!("the module cannot be sent: {why}")),
        Err(Error::Input { file, cause }) => message(&mut bytes, &file, &cause),
        Err(other) => message(&mut bytes, "", &other.to_string()),
    }
    // Without the exit handlers: threads on which LLVM gave up sleep for ever.
    let done = io::stdout()
        .lock()
        .write_all(&bytes)
        .and_then(|()| io::stdout().flush());
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(i32::from(done.is_err())) }
}

fn message(bytes: &mut Vec<u8>, file: &str, cause: &str) {
    bytes.push(MESSAGE);
    bytes.extend(file.as_bytes());
    bytes.push(0);
    bytes.extend(cause.as_bytes());
}

/// Returns the executable that reads for this process if no setting names one: this process's own
/// if that is `ompvm`, or the `ompvm` in the folder of this code's library or in the `bin` beside
/// it. Else `ompvm` is searched in `PATH`.
pub fn find() -> std::path::PathBuf {
    let name = OsStr::new("ompvm");
    let own = std::env::current_exe().ok();
    let library = own_library();
    let own = own.filter(|own| own.file_name() == Some(name));
    let beside = library.iter().filter_map(|library| library.parent());
    let beside = beside.flat_map(|folder| [folder.join(name), folder.join("../bin").join(name)]);
    let mut candidates = own.into_iter().chain(beside);
    candidates
        .find(|c| c.is_file())
        .unwrap_or_else(|| name.into())
}

/// Returns the file that this code was loaded from.
pub fn own_library() -> Option<std::path::PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the call fills the structure if it succeeds, and the name is a C string of the loader.
    unsafe {
        if libc::dladdr(own_library as *const libc::c_void, info.as_mut_ptr()) == 0 {
            return None;
        }
        let name = info.assume_init().dli_fname;
        let name = (!name.is_null()).then(|| std::ffi::CStr::from_ptr(name))?;
        let file = Path::new(OsStr::from_bytes(name.to_bytes()));
        file.canonicalize().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_of(script: &str) -> (Result<Vec<u8>, String>, Duration) {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]);
        let mut child = command
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let since = Instant::now();
        let answer = receive(&mut child, Duration::from_secs(30), 1 << 20);
        let _ = child.kill();
        let _ = child.wait();
        (answer, since.elapsed())
    }

    #[test]
    fn a_child_that_sleeps_for_long_is_given_up() {
        let (answer, took) = answer_of("exec sleep 20");
        assert!(answer.unwrap_err().contains("hangs"));
        assert!(took < Duration::from_secs(15), "{took:?}");
        assert_eq!(answer_of("sleep 1; echo x").0, Ok(b"x\n".to_vec()));
    }

    #[test]
    fn a_request_is_read_back() {
        let input = |name: &str, bytes: &[u8]| Input {
            name: name.into(),
            bytes: bytes.into(),
        };
        let sent = [input("a", b"some bytes"), input("", b"")];
        let mut file = request(&sent, true).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        let (inputs, contract) = parse_request(&bytes).unwrap();
        assert!(contract);
        let texts = |i: &Input| (i.name.clone(), i.bytes.clone());
        assert!(inputs.iter().map(texts).eq(sent.iter().map(texts)));
        for at in 0..bytes.len() {
            let part = parse_request(&bytes[..at]);
            assert!(part.is_none_or(|(inputs, _)| inputs.len() < 2), "{at}");
        }
    }

    #[test]
    fn a_program_that_is_not_ompvm_is_an_error() {
        let read = |program: &str| {
            read(Path::new(program), &[], false)
                .unwrap_err()
                .to_string()
        };
        let text = read("/bin/echo");
        assert!(
            text.contains("/bin/echo is another version of ompvm"),
            "{text}"
        );
        // Found in `PATH`.
        let text = read("echo");
        assert!(text.contains("echo is another version of ompvm"), "{text}");
        let text = read("/nonexistent/ompvm");
        assert!(text.contains("/nonexistent/ompvm: No such file"), "{text}");
    }
}
