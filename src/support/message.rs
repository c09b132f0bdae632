//! Messages of ompvm on standard error: the table of their kinds, and their two formats.
//!
//! [`KINDS`] says for each kind who is to blame, how the process ends, and what helps; the page
//! docs/src/messages.md is compared with it. [`Message::print`] writes `ompvm: ` and the text, or one
//! JSON object a line. It neither allocates nor takes a lock, since signal handlers print, too.
//!
//! Leaves reports that a user asks for (`--stats`, the log) and the guest's own output as they are.

mod json;
mod table;
#[cfg(test)]
mod tests;

use crate::error::{Error, Unsupported};
use crate::progress;
pub use json::Object;
use std::fmt::{self, Display, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
pub use table::{Blame, Ending, KINDS, Kind, Row};

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
                .region(trap.region.as_deref().unwrap_or(""))
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
        progress::erase_line();
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
        let mut object = Object::begin("level", self.kind.level());
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
