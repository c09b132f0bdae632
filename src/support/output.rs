//! Lines on standard error and standard output that may be lost.
//!
//! The standard library's macros panic if a line cannot be written: on a full disk, a closed
//! terminal or pipe. A warning in the middle of a region would end the program. The macros of this
//! crate have the same names and arguments; [`eprintln!`](crate::eprintln) drops such a line.

use crate::progress;
use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// Exit status of a process whose own output cannot be written.
const FAILED: i32 = 125;

/// Writes to standard error. What cannot be written is lost.
pub fn write_error(text: Arguments) {
    progress::erase_line();
    let _ = std::io::stderr().lock().write_fmt(text);
}

/// Writes the output of a command to standard output. Ends the process if that is not possible.
pub fn write_output(text: Arguments) {
    progress::erase_line();
    if let Err(why) = std::io::stdout().lock().write_fmt(text) {
        // A reader such as `head` has ended, and wants no message.
        if why.kind() != ErrorKind::BrokenPipe {
            write_error(format_args!(
                "ompvm: standard output cannot be written: {why}\n"
            ));
        }
        std::process::exit(FAILED);
    }
}

/// Prints to standard error like the standard library's macro, and loses what cannot be written.
#[macro_export]
macro_rules! eprint {
    ($($text:tt)*) => {
        $crate::output::write_error(::std::format_args!($($text)*))
    };
}

/// Prints a line to standard error like the standard library's macro, and loses what cannot be
/// written.
#[macro_export]
macro_rules! eprintln {
    () => {
        $crate::eprint!("\n")
    };
    ($($text:tt)*) => {
        $crate::output::write_error(::std::format_args!(
            "{}\n",
            ::std::format_args!($($text)*)
        ))
    };
}
