//! Search, start and end of a tool. OpenMP 5.2, section 19.2.
//!
//! `OMP_TOOL` may disable tools. `ompt_start_tool` is searched in the guest, in the process, and in
//! the libraries that `OMP_TOOL_LIBRARIES` lists, in that order; the first that returns a result is
//! the tool. `OMP_TOOL_VERBOSE_INIT` logs the search, in libomp's words.
//!
//! The search happens once, when the program first calls the runtime (in the virtual machine before
//! `main` at the latest). The tool ends at exit, or on its own request: workers are ended so that
//! each reports its own end, but those that are still in a region are not awaited.

use ompvm_support::log;
use std::env;
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_void};
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{ACTIVE, NONE, TOOL, UNDECIDED, callbacks, gate, inquiry, record};
use crate::{routines, thread};

/// `ompt_start_tool_result_t`.
#[repr(C)]
struct Tool {
    initialize: Option<unsafe extern "C-unwind" fn(Lookup, c_int, *mut u64) -> c_int>,
    finalize: Option<unsafe extern "C-unwind" fn(*mut u64)>,
    data: u64,
}

type Lookup = unsafe extern "C-unwind" fn(*const c_char) -> *const c_void;
type StartTool = unsafe extern "C-unwind" fn(u32, *const c_char) -> *mut Tool;

/// The OpenMP version (`_OPENMP`) that is passed to tools.
const OPENMP: u32 = 202_011;
/// The runtime version that is passed to tools.
const VERSION: &CStr = c"ompvm";

const START_TOOL: &CStr = c"ompt_start_tool";

/// Maximum time for which workers that are still in a region are awaited at the end.
const END_TIMEOUT: Duration = Duration::from_millis(500);

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// The variables that select a tool.
///
/// Read at two times, when a program is linked and when a tool is looked for, because the host and
/// the program's constructors may set them in between.
struct ToolVariables {
    tool: OsString,
    libraries: Option<OsString>,
    verbose_init: Option<OsString>,
}

impl ToolVariables {
    fn read() -> ToolVariables {
        ToolVariables {
            tool: env::var_os("OMP_TOOL").unwrap_or_default(),
            libraries: env::var_os("OMP_TOOL_LIBRARIES"),
            verbose_init: env::var_os("OMP_TOOL_VERBOSE_INIT"),
        }
    }

    /// Returns true if `OMP_TOOL` allows a tool; `None` if its value is invalid.
    fn allowed(&self) -> Option<bool> {
        match self.tool.to_string_lossy().to_lowercase().as_str() {
            "" | "enabled" => Some(true),
            "disabled" => Some(false),
            _ => None,
        }
    }

    /// Returns true if libraries are named.
    fn names_libraries(&self) -> bool {
        self.libraries.as_ref().is_some_and(|list| !list.is_empty())
    }
}

/// Destination of the log of the search (`OMP_TOOL_VERBOSE_INIT`).
enum Log {
    Off,
    Out,
    Err,
    File(File),
}

impl Log {
    fn new(variables: &ToolVariables) -> Self {
        let Some(value) = &variables.verbose_init else {
            return Log::Off;
        };
        match value.to_string_lossy().to_lowercase().as_str() {
            "" | "disabled" => Log::Off,
            "stdout" => Log::Out,
            "stderr" => Log::Err,
            _ => File::create(value).map_or(Log::Off, Log::File),
        }
    }

    fn say(&mut self, text: &str) {
        // A message that cannot be written is lost; nothing depends on it.
        let _ = match self {
            Log::Off => Ok(()),
            Log::Out => {
                // The stream that the program and the tool also use, to keep the order of the
                // output.
                if let Ok(text) = CString::new(text) {
                    // SAFETY: C's stream and a null-terminated string.
                    unsafe { libc::fputs(text.as_ptr(), stdout) };
                }
                Ok(())
            }
            Log::Err => std::io::stderr().write_all(text.as_bytes()),
            Log::File(file) => file.write_all(text.as_bytes()),
        };
    }
}

/// Returns the process's own `ompt_start_tool`.
fn in_process() -> *mut c_void {
    // SAFETY: looks up a null-terminated name.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, START_TOOL.as_ptr()) }
}

/// Returns true if there may be a tool, so that entries must be reached through gates. `guest` is
/// true if the guest defines `ompt_start_tool`.
pub fn wanted(guest: bool) -> bool {
    let variables = ToolVariables::read();
    if variables.verbose_init.is_some() {
        return true;
    }
    // An invalid value is let pass, since the search reports it.
    variables.allowed() != Some(false)
        && (guest || variables.names_libraries() || !in_process().is_null())
}

/// Looks for a tool and starts it, once. The calling thread is reported to the tool like every
/// other, when it first calls an entry.
#[inline]
pub fn decide() {
    if TOOL.state.load(Ordering::Relaxed) == UNDECIDED {
        decide_slowly();
    }
}

#[cold]
fn decide_slowly() {
    let _lock = TOOL.deciding.lock();
    if TOOL.state.load(Ordering::Relaxed) != UNDECIDED || gate::silent() {
        return;
    }
    let started = gate::without_callbacks(start);
    // Release: publishes the tool's setup; other threads acquire it with the lock, or with this.
    TOOL.state
        .store(if started { ACTIVE } else { NONE }, Ordering::SeqCst);
    if started {
        extern "C" fn at_exit() {
            finish();
        }
        // SAFETY: a function of this library.
        unsafe { libc::atexit(at_exit) };
    }
}

/// Searches for a tool; returns true if one is active.
fn start() -> bool {
    let variables = ToolVariables::read();
    let mut log = Log::new(&variables);
    let allowed = variables.allowed();
    if allowed.is_none() {
        ompvm_support::eprintln!(
            "Warning: OMP_TOOL has invalid value \"{}\".\n  legal values are \
             (NULL,\"\",\"disabled\",\"enabled\").",
            variables.tool.to_string_lossy()
        );
    }
    if allowed != Some(true) {
        log.say("OMP tool disabled. \n");
        return false;
    }
    let Some(tool) = search(&mut log, variables.libraries) else {
        tracing::debug!(target: log::KMPC, "no tool");
        return false;
    };
    // SAFETY: the tool's structure, which lives as long as the tool.
    let initialized = unsafe {
        let device = routines::get_initial_device();
        match (*tool).initialize {
            Some(f) => f(inquiry::lookup, device, &raw mut (*tool).data) != 0,
            None => false,
        }
    };
    tracing::info!(target: log::KMPC, initialized, "asked a tool");
    if initialized {
        *TOOL.tool.lock() = tool.expose_provenance();
    } else {
        callbacks::clear();
    }
    initialized
}

/// Calls an `ompt_start_tool`; returns its tool, if any.
unsafe fn ask(address: *mut c_void) -> Option<*mut Tool> {
    if address.is_null() {
        return None;
    }
    // SAFETY: a function of this name has this type.
    let tool = unsafe {
        let start = std::mem::transmute::<*mut c_void, StartTool>(address);
        start(OPENMP, VERSION.as_ptr())
    };
    (!tool.is_null()).then_some(tool)
}

const USED: &str = "Tool was started and is using the OMPT interface.\n";
const LAST: &str = "----- END LOGGING OF TOOL REGISTRATION -----\n";

fn search(log: &mut Log, libraries: Option<OsString>) -> Option<*mut Tool> {
    log.say("----- START LOGGING OF TOOL REGISTRATION -----\n");
    log.say("Search for OMP tool in current address space... ");
    let guest = std::ptr::with_exposed_provenance_mut(TOOL.guest_tool.load(Ordering::Acquire));
    // SAFETY: null, or functions of this name.
    let found = unsafe { ask(guest).or_else(|| ask(in_process())) };
    if found.is_some() {
        log.say("Success.\n");
        log.say(USED);
        log.say(LAST);
        return found;
    }
    log.say("Failed.\n");
    let found = match libraries {
        None => {
            log.say("No OMP_TOOL_LIBRARIES defined.\n");
            None
        }
        Some(list) => {
            log.say("Searching tool libraries...\n");
            log.say(&format!(
                "OMP_TOOL_LIBRARIES = {}\n",
                list.to_string_lossy()
            ));
            let list = list.into_vec();
            list.split(|&byte| byte == b':')
                .filter(|name| !name.is_empty())
                .find_map(|name| in_library(log, name))
        }
    };
    if found.is_none() {
        log.say("...searching tool libraries failed.\n");
        log.say("No OMP tool loaded.\n");
    }
    log.say(LAST);
    found
}

/// Returns the dynamic loader's last error.
fn loaders_error() -> String {
    // SAFETY: the loader's text, or null; it stays valid until this thread's next call of the
    // loader.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            return "ompt_start_tool = NULL".into();
        }
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }
}

fn in_library(log: &mut Log, name: &[u8]) -> Option<*mut Tool> {
    let shown = String::from_utf8_lossy(name).into_owned();
    let name = CString::new(name).ok()?;
    log.say(&format!("Opening {shown}... "));
    // SAFETY: the user requests to load this library, initializers included.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY) };
    if library.is_null() {
        log.say(&format!("Failed: {}\n", loaders_error()));
        return None;
    }
    log.say("Success. \n");
    log.say(&format!("Searching for ompt_start_tool in {shown}... "));
    // SAFETY: an open library; the first call clears the loader's error.
    let start = unsafe {
        libc::dlerror();
        libc::dlsym(library, START_TOOL.as_ptr())
    };
    if start.is_null() {
        log.say(&format!("Failed: {}\n", loaders_error()));
    }
    // SAFETY: null, or a function of this name.
    if let Some(tool) = unsafe { ask(start) } {
        log.say("Success.\n");
        log.say(USED);
        return Some(tool);
    }
    if !start.is_null() {
        log.say("Found but not using the OMPT interface.\n");
        log.say("Continuing search...\n");
    }
    // SAFETY: the library was opened above, and nothing of it is used.
    unsafe { libc::dlclose(library) };
    None
}

/// Ends the tool once: the workers' ends, the initial thread's, `finalize`. Nothing is reported
/// afterwards.
pub fn finish() {
    if !super::on() || TOOL.finished.swap(true, Ordering::SeqCst) {
        return;
    }
    // At exit the runtime has already released the initial thread and its teams.
    if let Some(thread) = thread::current_if_known()
        && thread.team().shape().level == 0
    {
        thread::dismiss_spares(thread);
    }
    let deadline = Instant::now() + END_TIMEOUT;
    while record::workers() > 0 && Instant::now() < deadline {
        if !thread::end_worker() {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
    if let Some(me) = record::current_if_known() {
        record::root_ends(me);
    }
    TOOL.state.store(NONE, Ordering::SeqCst);
    let tool = std::mem::take(&mut *TOOL.tool.lock());
    gate::without_callbacks(|| {
        let tool = std::ptr::with_exposed_provenance_mut::<Tool>(tool);
        // SAFETY: the tool's own structure, which lives as long as the tool.
        unsafe {
            if let Some(tool) = tool.as_mut()
                && let Some(finalize) = tool.finalize
            {
                finalize(&raw mut tool.data);
            }
        }
    });
    callbacks::clear();
}
