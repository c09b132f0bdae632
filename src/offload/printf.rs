//! `printf` of device code that runs on processors, written to the C library's standard output like
//! that of the guest.
//!
//! The arguments follow each other, each aligned to its size; integers shorter than four bytes and
//! `float` are promoted as in a call (CUDA C++ programming guide, formatted output).

use std::ffi::{CString, c_char};

/// Returns the host's address of a range of device memory, given by address and size. Device code
/// calls it, and does not return from a range that it may not access.
pub(super) type Translate = fn(u64, u64) -> *mut u8;

/// Reads a zero-terminated string of the device, without the terminator.
pub(super) fn read_string(translate: Translate, mut address: u64) -> Vec<u8> {
    let mut out = Vec::new();
    if address == 0 {
        return out;
    }
    loop {
        // SAFETY: `translate` checks the byte.
        let byte = unsafe { translate(address, 1).read() };
        if byte == 0 {
            return out;
        }
        out.push(byte);
        address += 1;
    }
}

/// Reads a string of the device as text.
pub(super) fn read_text(translate: Translate, address: u64) -> String {
    String::from_utf8_lossy(&read_string(translate, address)).into_owned()
}

unsafe extern "C" {
    static mut stdout: *mut libc::FILE;
    fn snprintf(to: *mut c_char, size: usize, format: *const c_char, ...) -> i32;
}

/// Reads the arguments in order.
struct Arguments {
    at: u64,
    translate: Translate,
}

impl Arguments {
    fn next<T: Copy>(&mut self) -> T {
        let size = size_of::<T>() as u64;
        self.at = self.at.next_multiple_of(size);
        // SAFETY: `translate` checks the range.
        let value = unsafe { (self.translate)(self.at, size).cast::<T>().read_unaligned() };
        self.at += size;
        value
    }
}

/// Formats and prints what `vprintf` of device code is given; returns the number of bytes.
pub(super) fn print(translate: Translate, format: u64, arguments: u64) -> i32 {
    let format = read_string(translate, format);
    let mut arguments = Arguments {
        at: arguments,
        translate,
    };
    let mut out: Vec<u8> = Vec::new();
    let mut at = 0;
    while at < format.len() {
        if format[at] != b'%' {
            out.push(format[at]);
            at += 1;
            continue;
        }
        at += format_conversion(&format[at..], &mut arguments, &mut out);
    }
    // SAFETY: `out` has that length, and `stdout` is the C library's stream.
    unsafe { libc::fwrite(out.as_ptr().cast(), 1, out.len(), stdout) };
    out.len() as i32
}

/// Formats one conversion; returns the length of its specification.
fn format_conversion(format: &[u8], arguments: &mut Arguments, out: &mut Vec<u8>) -> usize {
    let mut spec = vec![b'%'];
    let mut long = 0;
    let mut n = 1;
    while n < format.len() {
        let c = format[n];
        n += 1;
        match c {
            b'%' => {
                out.push(b'%');
                return n;
            }
            b'*' => spec.extend(arguments.next::<i32>().to_string().bytes()),
            b'l' | b'j' | b'z' | b't' => long += 1,
            b'h' => spec.push(c),
            b'0'..=b'9' | b'.' | b'-' | b'+' | b' ' | b'#' => spec.push(c),
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => {
                if long > 0 {
                    spec.extend(b"ll");
                    spec.push(c);
                    let value = arguments.next::<i64>();
                    convert(
                        &spec,
                        |to, size, f| {
                            // SAFETY: the conversion takes a `long long`.
                            unsafe { snprintf(to, size, f, value) }
                        },
                        out,
                    );
                } else {
                    spec.push(c);
                    let value = arguments.next::<i32>();
                    convert(
                        &spec,
                        |to, size, f| {
                            // SAFETY: the conversion takes an `int`.
                            unsafe { snprintf(to, size, f, value) }
                        },
                        out,
                    );
                }
                return n;
            }
            b'c' => {
                let character = arguments.next::<i32>() as u8;
                pad(&spec, &[character], out);
                return n;
            }
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                spec.push(c);
                let value = arguments.next::<f64>();
                convert(
                    &spec,
                    |to, size, f| {
                        // SAFETY: the conversion takes a `double`.
                        unsafe { snprintf(to, size, f, value) }
                    },
                    out,
                );
                return n;
            }
            b'p' => {
                let value = arguments.next::<u64>();
                pad(&spec, format!("{value:#x}").as_bytes(), out);
                return n;
            }
            b's' => {
                spec.push(c);
                let address = arguments.next::<u64>();
                let text = if address == 0 {
                    b"(null)".to_vec()
                } else {
                    read_string(arguments.translate, address)
                };
                let Ok(text) = CString::new(text) else {
                    return n;
                };
                convert(
                    &spec,
                    |to, size, f| {
                        // SAFETY: the conversion takes a C string, which outlives the call.
                        unsafe { snprintf(to, size, f, text.as_ptr()) }
                    },
                    out,
                );
                return n;
            }
            _ => {
                out.extend(&format[..n]);
                return n;
            }
        }
    }
    out.extend(&format[..n]);
    n
}

/// Writes a text in the field width of a conversion. The C library is not asked: a character may be
/// zero, and its pointers look otherwise.
fn pad(spec: &[u8], text: &[u8], out: &mut Vec<u8>) {
    let is_flag = |c: &u8| b"-+ #0".contains(c);
    let flags = spec[1..].iter().take_while(|c| is_flag(c)).count();
    let left = spec[1..=flags].contains(&b'-');
    let digits = spec[1 + flags..].iter().take_while(|c| c.is_ascii_digit());
    let width = digits.fold(0usize, |sum, c| {
        (sum * 10 + usize::from(c - b'0')).min(i32::MAX as usize)
    });
    let spaces = std::iter::repeat_n(b' ', width.saturating_sub(text.len()));
    if left {
        out.extend(text);
        out.extend(spaces);
    } else {
        out.extend(spaces);
        out.extend(text);
    }
}

fn convert(
    spec: &[u8],
    print: impl Fn(*mut c_char, usize, *const c_char) -> i32,
    out: &mut Vec<u8>,
) {
    let Ok(spec) = CString::new(spec) else {
        return;
    };
    let len = print(std::ptr::null_mut(), 0, spec.as_ptr()).max(0) as usize;
    let mut buffer = vec![0u8; len + 1];
    print(buffer.as_mut_ptr().cast(), len + 1, spec.as_ptr());
    out.extend(&buffer[..len]);
}
