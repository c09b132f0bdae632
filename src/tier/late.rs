//! Entries of the runtime that this version lacks, for programs started all the same: each has an
//! address, and calling it ends the program with the message that loading would have given.
//!
//! Why: a program may refer to tasks in code that its usual arguments never reach. What not: it
//! is not the default, since a message in the middle of a long run is worse than one before it.

use crate::interp;
use crate::memory::func::{HostEntry, StubKind, Stubs};
use crate::memory::thread;
use crate::support::error::{Error, Unsupported};

/// The status of a program that reached something unsupported.
const STATUS: i32 = 125;

/// An address whose call says that `what` is not supported and ends the program, by `exit` when
/// it is given, else the C library's. It stays for the life of the process.
///
/// # Errors
/// When the system has no memory for the stub.
pub fn address(what: String, exit: Option<usize>) -> Result<usize, Error> {
    let run = move |_: &mut _| -> () {
        eprintln!("ompvm: {}", Error::Unsupported(vec![reached(&what)]));
        // SAFETY: `exit` is a function of exit's type; both leave the guest for good.
        unsafe {
            if let Some(exit) = exit {
                std::mem::transmute::<usize, extern "C-unwind" fn(i32) -> !>(exit)(STATUS)
            }
            libc::exit(STATUS)
        }
    };
    let entry = Box::leak(Box::new(HostEntry { run: Box::new(run) }));
    let stubs = Box::leak(Box::new(Stubs::new(1).map_err(Error::Host)?));
    stubs.write(&[StubKind::Host(entry)]).map_err(Error::Host)?;
    Ok(stubs.address(0))
}

/// `what` at the place that the calling thread is at.
fn reached(what: &str) -> Unsupported {
    // SAFETY: this thread's state; the guest called, so it has one.
    let ip = unsafe { (*thread::current()).position() };
    let (mut place, mut function) = (None, None);
    if let Some((image, func, loc)) = interp::locate(ip) {
        place = loc.map(|l| image.module.debug.describe(l));
        function = Some(image.module.functions[func].name.to_string());
    }
    Unsupported {
        what: what.to_owned(),
        place,
        function,
    }
}
