//! Messages of ompvm on standard error: the table of their kinds, and their two formats.
//!
//! [`KINDS`] says for each kind who is to blame, how the process ends, and what helps; the page
//! docs/src/messages.md is compared with it. [`Message::print`] writes `ompvm: ` and the text, or one
//! JSON object a line. It neither allocates nor takes a lock, since signal handlers print, too.
//!
//! Leaves reports that a user asks for (`--stats`, the log) and the guest's own output as they are.

#[cfg(test)]
mod tests;

use crate::error::{Error, TrapKind, Unsupported};
use std::fmt::{self, Display, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

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
    /// What helps: a sentence in Markdown without its stop.
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
    fn level(self) -> &'static str {
        match self {
            Kind::Warning => "warning",
            Kind::Thread | Kind::Dump | Kind::Note => "note",
            _ => "error",
        }
    }
}

/// The format of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl Format {
    /// Parses `text` or `json`.
    pub fn parse(text: &str) -> Option<Format> {
        match text {
            "text" => Some(Format::Text),
            "json" => Some(Format::Json),
            _ => None,
        }
    }
}

/// The appearance of messages.
struct Style {
    format: AtomicU8,
    color: AtomicBool,
}

/// No format is set yet, so it is text.
const UNSET: u8 = u8::MAX;

/// The appearance of this process's messages: it has one standard error.
static STYLE: Style = Style {
    format: AtomicU8::new(UNSET),
    color: AtomicBool::new(false),
};

/// Sets the format of the process's messages.
pub fn set_format(format: Format) {
    STYLE.format.store(format as u8, Ordering::Relaxed);
}

/// Sets the format unless it has been set.
pub fn set_default_format(format: Format) {
    let (new, order) = (format as u8, Ordering::Relaxed);
    // A failure means that an option comes before the setting.
    let _ = STYLE.format.compare_exchange(UNSET, new, order, order);
}

/// Returns true if messages are JSON.
pub fn is_json() -> bool {
    STYLE.format.load(Ordering::Relaxed) == Format::Json as u8
}

/// Sets whether the head of a message is coloured.
pub fn set_color(color: bool) {
    STYLE.color.store(color, Ordering::Relaxed);
}

/// Prints a message of a kind, with a text as for `format!`.
#[macro_export]
macro_rules! message {
    ($kind:ident, $($arg:tt)*) => {
        $crate::message::Message::new($crate::message::Kind::$kind, &format_args!($($arg)*)).print()
    };
}

/// A message. The text has the place in words, too; the fields are for programs.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    kind: Kind,
    text: &'a dyn Display,
    place: &'a str,
    function: &'a str,
    region: &'a str,
    thread: Option<u32>,
    signal: Option<i32>,
    items: &'a [Unsupported],
}

impl<'a> Message<'a> {
    /// Makes a message with its text, which does not begin with `ompvm: `.
    pub fn new(kind: Kind, text: &'a dyn Display) -> Message<'a> {
        Message {
            kind,
            text,
            place: "",
            function: "",
            region: "",
            thread: None,
            signal: None,
            items: &[],
        }
    }

    /// Makes the message of an error.
    pub fn of_error(error: &'a Error) -> Message<'a> {
        let message = Message::new(Kind::of_error(error), error);
        match error {
            Error::Input { file, .. } => message.place(file),
            Error::Unsupported(items) | Error::NotAllowed(items) => message.items(items),
            Error::Trap(trap) => message
                .place(trap.place.as_deref().unwrap_or(""))
                .function(trap.function.as_deref().unwrap_or(""))
                .thread(trap.thread)
                .signal(trap.kind.signal()),
            Error::Unresolved(_) | Error::Host(_) => message,
        }
    }

    /// Adds the place such as `file.c:12:3`; empty if it is not known.
    pub fn place(self, place: &'a str) -> Message<'a> {
        Message { place, ..self }
    }

    /// Adds the function; empty if it is not known.
    pub fn function(self, function: &'a str) -> Message<'a> {
        Message { function, ..self }
    }

    /// Adds the construct that failed.
    pub fn region(self, region: &'a str) -> Message<'a> {
        Message { region, ..self }
    }

    /// Adds the OpenMP number of the thread.
    pub fn thread(self, thread: Option<u32>) -> Message<'a> {
        Message { thread, ..self }
    }

    /// Adds the signal that ends the process.
    pub fn signal(self, signal: i32) -> Message<'a> {
        let signal = Some(signal);
        Message { signal, ..self }
    }

    /// Adds the listed features.
    pub fn items(self, items: &'a [Unsupported]) -> Message<'a> {
        Message { items, ..self }
    }

    /// Writes the message to standard error. A message that cannot be written is lost.
    pub fn print(&self) {
        match is_json() {
            true => self.object().end(),
            false => self.print_text(),
        }
    }

    fn print_text(&self) {
        let mut out = Output::new();
        let (begin, end) = match (STYLE.color.load(Ordering::Relaxed), self.kind.level()) {
            (false, _) => ("", ""),
            (true, "error") => ("\x1b[1;31m", "\x1b[0m"),
            (true, "warning") => ("\x1b[1;33m", "\x1b[0m"),
            (true, _) => ("\x1b[1m", "\x1b[0m"),
        };
        let warning = match self.kind {
            Kind::Warning => " warning:",
            _ => "",
        };
        let _ = writeln!(out, "{begin}ompvm:{warning}{end} {}", self.text);
    }

    /// Writes the fields of the JSON object, to which the caller may add frames.
    pub fn object(&self) -> Object {
        let row = self.kind.row();
        let mut object = Object(Output::new());
        let _ = object.0.write_str("{");
        object.first("level", self.kind.level());
        object.text("kind", row.name);
        object.text("blame", row.blame.name());
        object.text("message", self.text);
        if !self.place.is_empty() || !self.function.is_empty() {
            object.raw(",\"place\":");
            object.place(self.place, self.function, false);
        }
        if !self.region.is_empty() {
            object.text("region", self.region);
        }
        if let Some(thread) = self.thread {
            object.raw(format_args!(",\"thread\":{thread}"));
        }
        for (i, item) in self.items.iter().enumerate() {
            object.raw(if i == 0 { ",\"items\":[" } else { "," });
            object.raw("{\"what\":");
            object.quoted(&item.what);
            object.raw(",\"place\":");
            let text = |field: &'a Option<String>| field.as_deref().unwrap_or("");
            object.place(text(&item.place), text(&item.function), false);
            object.raw(if i + 1 == self.items.len() { "}]" } else { "}" });
        }
        object.text("remedy", row.remedy);
        match (self.signal, row.ending) {
            (Some(signal), _) => {
                let status = 128 + signal;
                object.raw(format_args!(",\"signal\":{signal},\"status\":{status}"));
            }
            (None, Ending::Status(status)) => object.raw(format_args!(",\"status\":{status}")),
            (None, Ending::Signal | Ending::Continues) => {}
        }
        object
    }
}

/// A JSON object that is being written.
pub struct Object(Output);

impl Object {
    fn first(&mut self, field: &str, value: &str) {
        self.raw(format_args!("\"{field}\":"));
        self.quoted(value);
    }

    fn text(&mut self, field: &str, value: impl Display) {
        self.raw(format_args!(",\"{field}\":"));
        self.quoted(value);
    }

    fn raw(&mut self, text: impl Display) {
        let _ = write!(self.0, "{text}");
    }

    fn quoted(&mut self, value: impl Display) {
        self.raw("\"");
        let _ = write!(Escaped(&mut self.0), "{value}");
        self.raw("\"");
    }

    /// Writes a place such as `file.c:12:3` as an object.
    fn place(&mut self, place: &str, function: &str, forked: bool) {
        let (file, line, column) = split_place(place);
        let mut separator = "{";
        for (field, value) in [("file", file), ("function", function)] {
            if !value.is_empty() {
                self.raw(format_args!("{separator}\"{field}\":"));
                self.quoted(value);
                separator = ",";
            }
        }
        for (field, value) in [("line", line), ("column", column)] {
            if let Some(value) = value {
                self.raw(format_args!("{separator}\"{field}\":{value}"));
                separator = ",";
            }
        }
        if forked {
            self.raw(format_args!("{separator}\"forked\":true"));
            separator = ",";
        }
        self.raw(if separator == "{" { "{}" } else { "}" });
    }

    /// Begins the array of frames.
    pub fn begin_backtrace(&mut self) {
        self.raw(",\"backtrace\":[");
    }

    /// Adds a frame, the innermost one first. `forked` is true for the frame that forked the team of
    /// the frames before.
    pub fn frame(&mut self, number: usize, place: &str, function: &str, forked: bool) {
        if number > 0 {
            self.raw(",");
        }
        self.place(place, function, forked);
    }

    /// Ends the array of frames. `omitted` counts frames that were left out in the middle.
    pub fn end_backtrace(&mut self, omitted: usize) {
        self.raw("]");
        if omitted > 0 {
            self.raw(format_args!(",\"omitted_frames\":{omitted}"));
        }
    }

    /// Ends the object and its line.
    pub fn end(mut self) {
        self.raw("}\n");
    }
}

/// Returns file, line and column of a place such as `file.c:12:3`.
fn split_place(place: &str) -> (&str, Option<u32>, Option<u32>) {
    let number = |text: &str| -> Option<(usize, u32)> {
        let (rest, last) = text.rsplit_once(':')?;
        Some((rest.len(), last.parse().ok()?))
    };
    match number(place) {
        None => (place, None, None),
        Some((end, last)) => match number(&place[..end]) {
            Some((file, line)) => (&place[..file], Some(line), Some(last)),
            None => (&place[..end], Some(last), None),
        },
    }
}

/// Escapes text for a string of JSON.
struct Escaped<'a>(&'a mut Output);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '"' => self.0.write_str("\\\"")?,
                '\\' => self.0.write_str("\\\\")?,
                '\n' => self.0.write_str("\\n")?,
                c if c < ' ' || c == '\x7f' => write!(self.0, "\\u{:04x}", c as u32)?,
                c => self.0.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Standard error through a buffer on the stack.
struct Output {
    bytes: [u8; 1024],
    len: usize,
}

impl Output {
    fn new() -> Output {
        Output {
            bytes: [0; 1024],
            len: 0,
        }
    }

    fn flush(&mut self) {
        let mut rest = &self.bytes[..self.len];
        while !rest.is_empty() {
            // SAFETY: the bytes are live.
            let written = unsafe { libc::write(2, rest.as_ptr().cast(), rest.len()) };
            match usize::try_from(written) {
                Ok(written) if written > 0 => rest = &rest[written..],
                _ => break,
            }
        }
        self.len = 0;
    }
}

impl Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            if self.len == self.bytes.len() {
                self.flush();
            }
            let n = rest.len().min(self.bytes.len() - self.len);
            self.bytes[self.len..self.len + n].copy_from_slice(&rest[..n]);
            self.len += n;
            rest = &rest[n..];
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.flush();
    }
}
