//! Formats the value of a cell's last expression. The functions here are the host's side of
//! `show.h`, which chooses one by the expression's type.

use crate::api::{GuestPtr, Linker};
use ompvm_support::error::Error;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// Text before a cell that has a value.
pub(super) const HEAD: &str = include_str!("show.h");

/// The value that the running cell has shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown(Arc<Mutex<String>>);

impl Shown {
    /// Takes the text; `None` if there was no value.
    pub(super) fn take(&self) -> Option<String> {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = std::mem::take(&mut *text);
        let text = text.trim_end();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn add(&self, text: std::fmt::Arguments<'_>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a string does not fail.
        let _ = all.write_fmt(text);
    }

    /// Defines the functions that `show.h` declares.
    ///
    /// # Errors
    /// Returns [`Error::Host`] if the system has no memory for their stubs.
    pub(super) fn define(&self, linker: &mut Linker) -> Result<(), Error> {
        let own = || self.clone();
        let (a, b, c, d, e) = (own(), own(), own(), own(), own());
        let (f, g, h, i, j) = (own(), own(), own(), own(), own());
        linker
            .func("__ompvm_show_bool", move |v: bool| {
                a.add(format_args!("{v}"));
            })?
            .func("__ompvm_show_char", move |v: i8| {
                b.add(format_args!("'{}'", escaped(&[v as u8], '\'')));
            })?
            .func("__ompvm_show_signed", move |v: i64| {
                c.add(format_args!("{v}"));
            })?
            .func("__ompvm_show_unsigned", move |v: u64| {
                d.add(format_args!("{v}"));
            })?
            .func("__ompvm_show_float", move |v: f32| {
                e.add(format_args!("{v:?}"));
            })?
            .func("__ompvm_show_double", move |v: f64| {
                f.add(format_args!("{v:?}"));
            })?
            .func("__ompvm_show_complex", move |real: f64, imaginary: f64| {
                g.add(format_args!("{real:?} + {imaginary:?}i"));
            })?
            .func("__ompvm_show_pointer", move |v: GuestPtr<u8>| {
                match v.address() {
                    0 => h.add(format_args!("NULL")),
                    address => h.add(format_args!("{address:#x}")),
                }
            })?
            .func(
                "__ompvm_show_string",
                move |v: GuestPtr<u8>, length: u64| {
                    // SAFETY: `show.h` measured the length of the text.
                    let bytes = unsafe { v.as_slice(length as usize) };
                    i.add(format_args!("\"{}\"", escaped(bytes, '"')));
                },
            )?
            .func("__ompvm_show_raw", move |v: GuestPtr<u8>, length: u64| {
                // SAFETY: as above.
                let bytes = unsafe { v.as_slice(length as usize) };
                j.add(format_args!("{}", String::from_utf8_lossy(bytes)));
            })?;
        Ok(())
    }
}

/// Returns a text as C writes it between quotes.
fn escaped(bytes: &[u8], quote: char) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                '\0' => text.push_str("\\0"),
                '\\' => text.push_str("\\\\"),
                c if c == quote => text.extend(['\\', c]),
                c if c.is_control() => {
                    let _ = write!(text, "\\x{:02x}", c as u32);
                }
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escaped(b"a\"\n\\\xff\x01", '"'), "a\\\"\\n\\\\\\xff\\x01");
    }
}
