//! Provides addresses for runtime entries that this version lacks, and for native functions that are
//! not allowed, in programs started with `--late`. A call of one ends the program with the message that
//! linking would have given.
//!
//! A program may refer to tasks in code that its usual arguments never reach. This is not the
//! default, because a message in the middle of a long run is worse than one before it.

use ompvm_interp as interp;
use ompvm_memory::func::{HostEntry, StubKind, Stubs};
use ompvm_memory::thread;
use ompvm_support::error::{Error, Unsupported};
use ompvm_support::message::Message;

/// Exit status of a program that reached something unsupported.
const STATUS: i32 = 125;

/// Returns an address whose call reports `what` as an error of this kind and ends the program, by `exit`
/// if given, else by the C library's. The stub lives as long as the process.
///
/// # Errors
/// Fails if the system has no memory for the stub.
pub fn stub_for(
    error: fn(Vec<Unsupported>) -> Error,
    what: String,
    exit: Option<usize>,
) -> Result<usize, Error> {
    let run = move |_: &mut _| -> () {
        let error = error(vec![at_current_position(&what)]);
        Message::of_error(&error).print();
        // SAFETY: `exit` is the address of a function of exit's type. Neither call returns to the
        // guest.
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

/// Returns `what` with the current position of the calling thread.
fn at_current_position(what: &str) -> Unsupported {
    // SAFETY: the guest called this function on this thread, so its state is initialized.
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
