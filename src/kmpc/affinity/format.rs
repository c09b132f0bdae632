//! The affinity format: the text that `OMP_DISPLAY_AFFINITY` and the routines of OpenMP 5.2,
//! sections 18.3.8 to 18.3.11, produce for a thread. Section 21.2.5 defines the fields.
//!
//! Lines go through C's standard output, which the program uses, so that order is preserved.

use std::ffi::CString;

use crate::affinity::layout;
use crate::icv::settings;
use crate::runtime::RUNTIME;
use crate::thread::Thread;
use ompvm_support::sync::{self, MutexGuard};
use ompvm_support::{machine, topology};

/// The default format, which is libomp's.
pub const DEFAULT: &str = "OMP: pid %P tid %i thread %n bound to OS proc set {%A}";

/// Locks affinity-format-var as set by a routine, also for the time in which the process forks.
pub fn lock_format() -> MutexGuard<'static, Option<String>> {
    sync::lock(&RUNTIME.affinity.format)
}

/// Returns affinity-format-var.
pub fn current() -> String {
    let set = lock_format();
    set.clone()
        .unwrap_or_else(|| settings().affinity_format.clone())
}

/// Sets affinity-format-var.
pub fn set(format: String) {
    *lock_format() = Some(format);
}

/// Short and long names of the fields.
const FIELDS: [(char, &str); 10] = [
    ('t', "team_num"),
    ('T', "num_teams"),
    ('L', "nesting_level"),
    ('n', "thread_num"),
    ('N', "num_threads"),
    ('a', "ancestor_tnum"),
    ('H', "host"),
    ('P', "process_id"),
    ('i', "native_thread_id"),
    ('A', "thread_affinity"),
];

/// Expands `format`. `value` returns the text of a field by its short name.
fn expand(format: &str, value: &dyn Fn(char) -> String) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let zeros = rest.starts_with('0');
        rest = rest.strip_prefix('0').unwrap_or(rest);
        let right = rest.starts_with('.');
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        // Limits the width, which no field reaches, to bound the memory.
        let width = rest[..digits].parse().map_or(0, |w: usize| w.min(1 << 12));
        rest = &rest[digits..];
        let (name, after) = if let Some(long) = rest.strip_prefix('{') {
            let (name, after) = long.split_once('}').unwrap_or((long, ""));
            let field = FIELDS.iter().find(|(_, l)| *l == name);
            (field.map(|f| f.0), after)
        } else {
            let mut chars = rest.chars();
            let name = chars.next();
            let field = FIELDS.iter().find(|(short, _)| Some(*short) == name);
            (field.map(|f| f.0), chars.as_str())
        };
        rest = after;
        let text = name.map_or_else(|| "undefined".to_owned(), value);
        let number = text.parse::<i64>().is_ok() && name != Some('A') && name != Some('H');
        let pad = width.saturating_sub(text.chars().count());
        match (right, name) {
            (true, Some(_)) if zeros && number => {
                let digits = text.strip_prefix('-');
                out.push_str(if digits.is_some() { "-" } else { "" });
                out.extend(std::iter::repeat_n('0', pad));
                out.push_str(digits.unwrap_or(&text));
            }
            (true, Some(_)) => {
                out.extend(std::iter::repeat_n(' ', pad));
                out.push_str(&text);
            }
            (false, Some(_)) => {
                out.push_str(&text);
                out.extend(std::iter::repeat_n(' ', pad));
            }
            (_, None) => out.push_str(&text),
        }
    }
    out.push_str(rest);
    out
}

/// Returns the expansion of `format` for the calling thread; affinity-format-var if it is `None` or
/// empty.
pub fn capture(thread: &Thread, format: Option<&str>) -> String {
    super::bind_root(thread);
    let own;
    let format = match format {
        Some(given) if !given.is_empty() => given,
        _ => {
            own = current();
            &own
        }
    };
    let shape = thread.team().shape();
    expand(format, &|field| match field {
        't' => shape.league.1.to_string(),
        'T' => shape.league.0.to_string(),
        'L' => shape.level.to_string(),
        'n' => thread.tid().to_string(),
        'N' => shape.size.to_string(),
        'a' if shape.level == 0 => "-1".to_owned(),
        'a' => shape.parent_tid.to_string(),
        'H' => host(),
        'P' => std::process::id().to_string(),
        // SAFETY: takes no arguments and always succeeds.
        'i' => unsafe { libc::gettid() }.to_string(),
        _ if layout().places.is_empty() => "disabled".to_owned(),
        _ => machine::format_cpu_list(&topology::current_cpus()),
    })
}

fn host() -> String {
    let mut name = [0u8; 256];
    // SAFETY: a live buffer, one byte longer than the length passed.
    let rc = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name.iter().position(|&b| b == 0).unwrap_or(0);
    match rc {
        0 => String::from_utf8_lossy(&name[..end]).into_owned(),
        _ => "unknown".to_owned(),
    }
}

/// Writes the line of the calling thread.
pub fn display(thread: &Thread, format: Option<&str>) {
    let line: Vec<u8> = capture(thread, format).into_bytes();
    if let Ok(line) = CString::new(line) {
        // SAFETY: a null-terminated string.
        unsafe { libc::puts(line.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::expand;

    fn shown(format: &str) -> String {
        expand(format, &|field| match field {
            'n' => "7".to_owned(),
            'a' => "-1".to_owned(),
            'A' => "0,1".to_owned(),
            'H' => "node".to_owned(),
            _ => field.to_string(),
        })
    }

    #[test]
    fn kmpc_affinity_format_fields() {
        assert_eq!(shown("%n|%{thread_num}|%A|%%|x"), "7|7|0,1|%|x");
        assert_eq!(shown("%5n|%.5n|%0.5n|%0.5a"), "7    |    7|00007|-0001");
        assert_eq!(shown("%.8A|%8H|%0.6H"), "     0,1|node    |  node");
        assert_eq!(shown("%q %{what} %n"), "undefined undefined 7");
        assert_eq!(shown("100%"), "100undefined");
        assert_eq!(shown("%{thread_num"), "7");
    }
}
