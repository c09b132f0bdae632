//! A message as one JSON object a line.

use super::Output;
use std::fmt::{self, Display, Write};

/// A JSON object that is being written.
pub struct Object(Output);

impl Object {
    /// Begins an object with its first field.
    pub(super) fn begin(field: &str, value: &str) -> Object {
        let mut object = Object(Output::new());
        object.raw("{");
        object.raw(format_args!("\"{field}\":"));
        object.quoted(value);
        object
    }

    /// Adds a field with a text.
    pub(super) fn text(&mut self, field: &str, value: impl Display) {
        self.raw(format_args!(",\"{field}\":"));
        self.quoted(value);
    }

    /// Writes text as it is.
    pub(super) fn raw(&mut self, text: impl Display) {
        let _ = write!(self.0, "{text}");
    }

    /// Writes a string.
    pub(super) fn quoted(&mut self, value: impl Display) {
        self.raw("\"");
        let _ = write!(Escaped(&mut self.0), "{value}");
        self.raw("\"");
    }

    /// Writes a place such as `file.c:12:3` as an object.
    pub(super) fn place(&mut self, place: &str, function: &str, forked: bool) {
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
pub(super) fn split_place(place: &str) -> (&str, Option<u32>, Option<u32>) {
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
