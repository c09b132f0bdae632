//! The table of kinds of messages.

use crate::error::{Error, TrapKind};

/// The party that can remove the cause of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The program that runs.
    Guest,
    /// This version of ompvm lacks a feature.
    NotSupported,
    /// ompvm has a defect.
    Defect,
    /// The command line, an input file, or the machine.
    Caller,
}

impl Blame {
    /// Returns the value of the field `blame`.
    pub const fn name(self) -> &'static str {
        match self {
            Blame::Guest => "guest",
            Blame::NotSupported => "not-supported",
            Blame::Defect => "ompvm",
            Blame::Caller => "caller",
        }
    }
}

/// The end of the process after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// An exit status.
    Status(u8),
    /// The signal that would end a native run.
    Signal,
    /// None: the program goes on.
    Continues,
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The guest faulted or aborted.
    GuestFault,
    /// Nothing caught an exception of the guest.
    UncaughtException,
    /// A kernel faulted.
    DeviceFault,
    /// A device failed although offloading is mandatory.
    DeviceFailure,
    /// A `target` construct ended the program; the message of its device came before.
    TargetConstruct,
    /// All threads of the program wait for each other.
    Deadlock,
    /// A thread in the report of a deadlock or of SIGQUIT.
    Thread,
    /// SIGQUIT asked where the threads are.
    Dump,
    /// The program needs a feature that this version lacks.
    Unsupported,
    /// `--deny-native` forbids a function.
    NotAllowed,
    /// Nothing defines a symbol.
    Unresolved,
    /// A file cannot be used.
    Input,
    /// The command line is wrong.
    Usage,
    /// The system refuses memory, threads or files before the program starts, or to ompvm itself.
    Resources,
    /// The system refuses memory or threads to the running program.
    GuestResources,
    /// Another rank of MPI is lost.
    RankLost,
    /// A device is lost that had the only copy of the program's data.
    DataLost,
    /// LLVM reported a fatal error.
    Llvm,
    /// ompvm found an inconsistency in itself.
    Defect,
    /// Something is done in another way than asked for, or left out.
    Note,
    /// As [`Kind::Note`], with `warning:` in front of the text.
    Warning,
}

/// A row of [`KINDS`].
#[derive(Debug)]
pub struct Row {
    /// The kind.
    pub kind: Kind,
    /// Value of the field `kind`.
    pub name: &'static str,
    /// The party that can remove the cause.
    pub blame: Blame,
    /// The end of the process.
    pub ending: Ending,
    /// The remedy: a sentence in Markdown without its stop.
    pub remedy: &'static str,
}

/// Every kind of message.
pub const KINDS: &[Row] = &[
    row(
        Kind::GuestFault,
        "guest-fault",
        Blame::Guest,
        Ending::Signal,
        "correct the program at the place; the frames show how it came there",
    ),
    row(
        Kind::UncaughtException,
        "uncaught-exception",
        Blame::Guest,
        Ending::Signal,
        "catch the exception inside of the region or function that throws it",
    ),
    row(
        Kind::DeviceFault,
        "device-fault",
        Blame::Guest,
        Ending::Signal,
        "run with `--device=emulated`, which checks every access of a kernel",
    ),
    row(
        Kind::DeviceFailure,
        "device-failure",
        Blame::Caller,
        Ending::Signal,
        "free memory of the device, or run without `OMP_TARGET_OFFLOAD=mandatory`",
    ),
    row(
        Kind::TargetConstruct,
        "target-construct",
        Blame::Guest,
        Ending::Signal,
        "see the message of the device before this one",
    ),
    row(
        Kind::Deadlock,
        "deadlock",
        Blame::Guest,
        Ending::Status(125),
        "compare what each thread waits for; the messages of kind `thread` follow",
    ),
    row(
        Kind::Thread,
        "thread",
        Blame::Guest,
        Ending::Continues,
        "none: this is a part of a report",
    ),
    row(
        Kind::Dump,
        "dump",
        Blame::Caller,
        Ending::Signal,
        "none: SIGQUIT asked for the report",
    ),
    row(
        Kind::Unsupported,
        "unsupported",
        Blame::NotSupported,
        Ending::Status(125),
        "`ompvm run --late` starts the program anyway and fails when it reaches one of these",
    ),
    row(
        Kind::NotAllowed,
        "not-allowed",
        Blame::Caller,
        Ending::Status(125),
        "`--allow-native=NAME,@GROUP,...` allows more",
    ),
    row(
        Kind::Unresolved,
        "unresolved",
        Blame::Caller,
        Ending::Status(125),
        "name the library or file that defines the symbol, by `-l` or `--with`",
    ),
    row(
        Kind::Input,
        "input",
        Blame::Caller,
        Ending::Status(125),
        "name a file that exists and is bitcode, a source, or a native file with bitcode",
    ),
    row(
        Kind::Usage,
        "usage",
        Blame::Caller,
        Ending::Status(2),
        "see `ompvm help`",
    ),
    row(
        Kind::Resources,
        "resources",
        Blame::Caller,
        Ending::Status(125),
        "raise the limit that the message names, or run fewer threads",
    ),
    row(
        Kind::GuestResources,
        "guest-resources",
        Blame::Caller,
        Ending::Signal,
        "raise the limits of the shell or container, or run fewer threads",
    ),
    row(
        Kind::RankLost,
        "rank-lost",
        Blame::Caller,
        Ending::Status(125),
        "see the messages of that rank and of the launcher",
    ),
    row(
        Kind::DataLost,
        "data-lost",
        Blame::Caller,
        Ending::Status(125),
        "run again without the device that the message names",
    ),
    row(
        Kind::Llvm,
        "llvm",
        Blame::Defect,
        Ending::Status(125),
        "report it with the input; `--tier=interp` may run the program meanwhile",
    ),
    row(
        Kind::Defect,
        "defect",
        Blame::Defect,
        Ending::Status(101),
        "report it with the input; another `--tier` may run the program meanwhile",
    ),
    row(
        Kind::Note,
        "note",
        Blame::Caller,
        Ending::Continues,
        "remove the cause that the message names, if it matters",
    ),
    row(
        Kind::Warning,
        "warning",
        Blame::Caller,
        Ending::Continues,
        "change the setting or limit that the message names",
    ),
];

const fn row(
    kind: Kind,
    name: &'static str,
    blame: Blame,
    ending: Ending,
    remedy: &'static str,
) -> Row {
    Row {
        kind,
        name,
        blame,
        ending,
        remedy,
    }
}

impl Kind {
    /// Returns the kind's row of the table, which lists the kinds in the order of their definition.
    pub fn row(self) -> &'static Row {
        &KINDS[self as usize]
    }

    /// Returns the kind of an error.
    pub fn of_error(error: &Error) -> Kind {
        match error {
            Error::Input { .. } => Kind::Input,
            Error::Unsupported(_) => Kind::Unsupported,
            Error::NotAllowed(_) => Kind::NotAllowed,
            Error::Unresolved(_) => Kind::Unresolved,
            Error::Trap(trap) => Kind::of_trap(trap.kind),
            Error::Host(_) => Kind::Resources,
        }
    }

    /// Returns the kind of a fault.
    pub fn of_trap(kind: TrapKind) -> Kind {
        match kind {
            TrapKind::UncaughtException => Kind::UncaughtException,
            TrapKind::Device => Kind::TargetConstruct,
            _ => Kind::GuestFault,
        }
    }

    /// Returns the value of the field `level`.
    pub(super) fn level(self) -> &'static str {
        match self {
            Kind::Warning => "warning",
            Kind::Thread | Kind::Dump | Kind::Note => "note",
            _ => "error",
        }
    }
}
