//! The outcomes other than success, each of which says who is to blame.
//!
//! A fault of the guest program ([`Trap`]), a feature that this version does not support
//! ([`Unsupported`]) and a defect of ompvm (`bug!`, a panic with a fixed prefix) are three types,
//! since each asks for a different reaction. [`Error`] joins them with bad input for callers of the
//! API.

use std::fmt;

/// A feature that the program needs and this version does not support. Found at load if possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The unsupported feature, in the field's terms (`"__kmpc_omp_task (OpenMP tasks)"`).
    pub what: String,
    /// The source location, such as `file.c:12`, if debug information has it.
    pub place: Option<String>,
    /// The function that contains the use.
    pub function: Option<String>,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}", self.what)?;
        if let Some(function) = &self.function {
            write!(f, " in function `{function}`")?;
        }
        Ok(())
    }
}

/// A floating-point exception of IEEE 754, section 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FpException {
    /// A finite number was divided by zero.
    DivisionByZero,
    /// The result was too large.
    Overflow,
    /// The result was too small, or an operand was denormal.
    Underflow,
    /// The result was rounded.
    Inexact,
    /// No result is meaningful.
    Invalid,
    /// The system does not say which.
    Unknown,
}

impl FpException {
    /// Returns the exception that the system reports with a SIGFPE (sigaction(2)); `None` for a
    /// fault of integer division.
    pub fn of_code(code: i32) -> Option<FpException> {
        match code {
            1 | 2 => None,
            3 => Some(FpException::DivisionByZero),
            4 => Some(FpException::Overflow),
            5 => Some(FpException::Underflow),
            6 => Some(FpException::Inexact),
            7 => Some(FpException::Invalid),
            _ => Some(FpException::Unknown),
        }
    }
}

impl fmt::Display for FpException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FpException::DivisionByZero => "floating-point division by zero",
            FpException::Overflow => "floating-point overflow",
            FpException::Underflow => "floating-point underflow",
            FpException::Inexact => "an inexact floating-point result",
            FpException::Invalid => "an invalid floating-point operation",
            FpException::Unknown => "a floating-point exception",
        })
    }
}

/// The kind of a guest's fault, which also determines the signal that a native run would have died
/// of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrapKind {
    /// A read or write of an address that is not mapped or not permitted.
    BadAddress(usize),
    /// An access that the processor refuses without naming an address: one that is not canonical,
    /// or a vector access that is not aligned.
    RefusedAccess,
    /// Integer division by zero or overflow of a signed division.
    IntegerDivision,
    /// A floating-point exception that the guest had unmasked (`feenableexcept`).
    FloatingPoint(FpException),
    /// The guest's stack overflowed.
    StackOverflow,
    /// Control flow reached an `unreachable` instruction.
    Unreachable,
    /// `llvm.trap` (`__builtin_trap`).
    BuiltinTrap,
    /// A call through a null or wild function pointer.
    BadCall(usize),
    /// `longjmp` with a buffer that `setjmp` did not fill.
    BadJump,
    /// `abort`.
    Abort,
    /// A `target` region or its mapping failed on a device; the message was printed before.
    Device,
    /// A C++ exception that nothing caught.
    UncaughtException,
    /// The host cancelled the call.
    Cancelled,
    /// The call took longer than the host allows.
    OutOfTime,
    /// The program executed as many instructions as the host allows.
    OutOfFuel,
}

impl TrapKind {
    /// Returns the signal that ends a native run in the same situation.
    pub fn signal(self) -> i32 {
        match self {
            TrapKind::BadAddress(_)
            | TrapKind::RefusedAccess
            | TrapKind::StackOverflow
            | TrapKind::BadCall(_) => libc::SIGSEGV,
            TrapKind::IntegerDivision | TrapKind::FloatingPoint(_) => libc::SIGFPE,
            TrapKind::Unreachable | TrapKind::BuiltinTrap => libc::SIGILL,
            TrapKind::BadJump
            | TrapKind::Abort
            | TrapKind::Device
            | TrapKind::UncaughtException => libc::SIGABRT,
            TrapKind::Cancelled => libc::SIGTERM,
            TrapKind::OutOfTime | TrapKind::OutOfFuel => libc::SIGXCPU,
        }
    }
}

/// A fault of the guest program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The kind of fault.
    pub kind: TrapKind,
    /// The type of an uncaught exception.
    pub detail: Option<String>,
    /// The source location, such as `file.c:12`, if known.
    pub place: Option<String>,
    /// The guest function, if known.
    pub function: Option<String>,
    /// The OpenMP thread number in the team.
    pub thread: Option<u32>,
    /// The parallel region, such as ``parallel region at file.c:12 in `f` ``; `None` outside of
    /// regions.
    pub region: Option<String>,
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TrapKind::BadAddress(a) if a < 4096 => {
                write!(f, "access through a null pointer (address {a:#x})")
            }
            TrapKind::BadAddress(a) => write!(
                f,
                "access to address {a:#x}, which is not mapped or not permitted"
            ),
            TrapKind::RefusedAccess => write!(
                f,
                "access to an address that cannot exist (a damaged pointer?), or a vector access \
                 that is not aligned"
            ),
            TrapKind::IntegerDivision => write!(f, "integer division by zero or overflow"),
            TrapKind::FloatingPoint(exception) => {
                write!(f, "{exception}, which the program has made a trap")
            }
            TrapKind::StackOverflow => write!(
                f,
                "stack overflow (OMP_STACKSIZE sets a thread's stack, `ulimit -s` the first one's)"
            ),
            TrapKind::Unreachable => write!(f, "code marked unreachable was reached"),
            TrapKind::BuiltinTrap => write!(f, "__builtin_trap was called"),
            TrapKind::BadCall(a) => write!(f, "call through a bad function pointer ({a:#x})"),
            TrapKind::BadJump => write!(f, "longjmp with a buffer that setjmp did not fill"),
            TrapKind::Abort => write!(f, "the program called abort"),
            TrapKind::Device => write!(f, "a target construct failed, as said above"),
            TrapKind::UncaughtException => {
                write!(f, "an exception was thrown that nothing catches")
            }
            TrapKind::Cancelled => write!(f, "the host cancelled the call"),
            TrapKind::OutOfTime => write!(f, "the call took longer than the host allows"),
            TrapKind::OutOfFuel => {
                write!(
                    f,
                    "the program executed as many instructions as the host allows"
                )
            }
        }?;
        if let Some(detail) = &self.detail {
            write!(f, ", of type `{detail}`,")?;
        }
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        if let Some(function) = &self.function {
            write!(f, " in `{function}`")?;
        }
        if let Some(thread) = self.thread {
            write!(f, ", thread {thread}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Trap {}

/// The ways in which a call of the API can fail.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input cannot be used. Names the file and the cause.
    #[error("{file}: {cause}")]
    Input {
        /// The file.
        file: String,
        /// The cause, one sentence.
        cause: String,
    },
    /// The program uses unsupported features; lists all of them.
    #[error("{}", list_unsupported(.0))]
    Unsupported(Vec<Unsupported>),
    /// The program uses native functions or code that the user does not allow; lists all of them.
    #[error("{}", list_not_allowed(.0))]
    NotAllowed(Vec<Unsupported>),
    /// Symbols that nothing defines, each with the location of a use.
    #[error(
        "unresolved symbol{}: {}{}",
        if .0.len() == 1 { "" } else { "s" },
        .0.join(", "),
        super::hints::for_unresolved(.0)
    )]
    Unresolved(Vec<String>),
    /// The guest faulted.
    #[error(transparent)]
    Trap(#[from] Trap),
    /// The host refused a resource (memory, threads, files).
    #[error("{0}")]
    Host(String),
}

fn list_not_allowed(items: &[Unsupported]) -> String {
    list("not allowed, because native functions are denied:", items)
}

fn list_unsupported(items: &[Unsupported]) -> String {
    list("not supported by this version of ompvm:", items)
}

fn list(head: &str, items: &[Unsupported]) -> String {
    let mut text = String::from(head);
    for item in items {
        text.push_str("\n  ");
        text.push_str(&item.to_string());
    }
    text
}

/// Panics with a message that reports a defect of ompvm.
#[macro_export]
macro_rules! bug {
    ($($arg:tt)*) => {
        panic!("this is a defect of ompvm, please report it: {}", format_args!($($arg)*))
    };
}
