//! Reports at the end of a program: `--stats`, `--explain`, `--offload-report`, the timeline's file,
//! and the advice to compile first.
//!
//! The first three go to the standard error that the program was started with. The program may close it before
//! they are printed, as gnulib's `close_stdout` does, or give its number to a file of its own. So a
//! duplicate is kept if a report was asked for, and only then: the reader of a pipe would wait for
//! a daemon that has closed its end.

use crate::api::{self, Stats};
use ompvm_support::fp_env::DefaultFpEnv;
use ompvm_support::write_signal::NoWriteSignal;
use std::ffi::c_int;
use std::fs::File;
use std::io::{IsTerminal, Write as _};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Lowest number of the duplicate: the guest gets the numbers that it gets natively.
const LOWEST: c_int = 1_000;

/// A duplicate of standard error, and the device and inode of what it refers to.
struct KeptStream {
    descriptor: c_int,
    file: (u64, u64),
}

impl KeptStream {
    /// Duplicates standard error. Returns `None` if it is closed, or so few descriptors are allowed
    /// that the guest would miss one.
    fn keep() -> Option<KeptStream> {
        // SAFETY: takes plain values.
        let descriptor = unsafe { libc::fcntl(libc::STDERR_FILENO, libc::F_DUPFD_CLOEXEC, LOWEST) };
        let file = (descriptor >= 0).then(|| file_of(descriptor))??;
        Some(KeptStream { descriptor, file })
    }

    /// Returns the descriptor if the guest has not closed it and used its number.
    fn get(&self) -> Option<c_int> {
        (file_of(self.descriptor) == Some(self.file)).then_some(self.descriptor)
    }
}

/// Returns the device and inode of an open descriptor.
fn file_of(descriptor: c_int) -> Option<(u64, u64)> {
    // SAFETY: the file is not closed here, and a wrong number gives an error.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    let data = file.metadata().ok()?;
    Some((data.dev(), data.ino()))
}

static STREAM: OnceLock<Option<KeptStream>> = OnceLock::new();

/// Prints a report. What cannot be written is lost.
fn print(text: &str) {
    let kept = STREAM.get().and_then(Option::as_ref);
    let Some(descriptor) = kept.and_then(KeptStream::get) else {
        eprint!("{text}");
        return;
    };
    // SAFETY: as in `file_of`.
    let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    ompvm_support::progress::erase_line();
    let _ = file.write_all(text.as_bytes());
}

/// The arguments of the exit handlers.
pub(super) struct ExitReports {
    /// Functions given to `--explain`.
    pub explain: Vec<String>,
    /// Path of the timeline file.
    pub timeline: Option<PathBuf>,
    /// Id of the process that runs the program, and the command that would have made its run
    /// shorter.
    pub remedy: Option<(u32, String)>,
}

/// The arguments of this process's exit handlers, which the C library calls without any.
static EXIT_REPORTS: OnceLock<ExitReports> = OnceLock::new();

extern "C" fn print_advice() {
    let reports = EXIT_REPORTS.get();
    let Some((process, command)) = reports.and_then(|r| r.remedy.as_ref()) else {
        return;
    };
    let mut out = std::io::stderr();
    // A child of `fork` runs this handler, too.
    if *process != std::process::id() || !out.is_terminal() {
        return;
    }
    if let Some(saving) = api::compile_saving() {
        // The guest may have closed the stream, so a failure is ignored.
        let _ = writeln!(
            out,
            "ompvm: compiling took {:.2} s of this run; `{command}` before the first run saves \
             that (shown once per program; OMPVM_ADVICE=off disables it)",
            saving.as_secs_f64()
        );
    }
}

/// Registers the reports to run at exit, because a guest may call `exit` itself. They come after
/// the tiers' exit handlers, which may end the process, and before the guest's handlers.
pub(super) fn register(reports: ExitReports, stats: bool, offload: bool) {
    let reports = EXIT_REPORTS.get_or_init(|| reports);
    if stats || offload || !reports.explain.is_empty() {
        let _ = STREAM.set(KeptStream::keep());
    }
    if !reports.explain.is_empty() {
        // SAFETY: the handler takes no arguments and lives as long as the process.
        unsafe { libc::atexit(print_explanation) };
    }
    if reports.timeline.is_some() {
        // SAFETY: the handler takes no arguments and lives as long as the process.
        unsafe { libc::atexit(write_timeline) };
    }
    if offload {
        // SAFETY: the handler takes no arguments and lives as long as the process.
        unsafe { libc::atexit(print_offload) };
    }
    if reports.remedy.is_some() {
        // SAFETY: the handler takes no arguments and lives as long as the process.
        unsafe { libc::atexit(print_advice) };
    }
    if stats {
        // SAFETY: the handler takes no arguments and lives as long as the process.
        unsafe { libc::atexit(print_stats) };
    }
}

extern "C" fn write_timeline() {
    // The guest may have unmasked floating-point exceptions, in which case formatting numbers would
    // trap.
    let _environment = DefaultFpEnv::enter();
    let samples = api::timeline::finish();
    let _no_signal = NoWriteSignal::begin();
    // The empty string matches every function.
    let text = api::compile_report(Some("")) + &samples;
    if let Some(path) = EXIT_REPORTS.get().and_then(|r| r.timeline.as_ref())
        && let Err(error) = std::fs::write(path, text)
    {
        ompvm_support::message!(Input, "{}: {error}", path.display());
    }
}

extern "C" fn print_stats() {
    let _environment = DefaultFpEnv::enter();
    print(&format!(
        "{}{}",
        Stats::collect(),
        api::compile_report(None)
    ));
}

extern "C" fn print_offload() {
    let _environment = DefaultFpEnv::enter();
    print(&api::offload_report().to_string());
}

extern "C" fn print_explanation() {
    let _environment = DefaultFpEnv::enter();
    for function in EXIT_REPORTS.get().into_iter().flat_map(|r| &r.explain) {
        let text = api::compile_report(Some(function));
        if text.is_empty() {
            ompvm_support::message!(
                Note,
                "no function that matches `{function}` was compiled or queued for \
                 compilation"
            );
        }
        print(&text);
    }
}
