//! Demangles symbols of C++ (Itanium ABI) and of flang.
//!
//! A suffix that a compiler appended to a name (`.omp_outlined`) stays. Memory comes from Rust's
//! allocator alone, so names can be demangled after a fault. Does not decode Fortran's types.

use std::borrow::Cow;

/// The longest name that is demangled; the decoder bounds the length of its result.
const LONGEST: usize = 4096;

/// Returns the source name of a symbol, or the symbol itself if it is not mangled.
pub fn source_name(symbol: &str) -> Cow<'_, str> {
    if symbol.len() > LONGEST || !symbol.starts_with('_') {
        return symbol.into();
    }
    if let Some(text) = kernel(symbol) {
        return text.into();
    }
    let (name, suffix) = match symbol.find('.') {
        Some(dot) => symbol.split_at(dot),
        None => (symbol, ""),
    };
    let decoded = match () {
        () if name.starts_with("_Z") => cpp(name),
        () if name.starts_with("_Q") => fortran(name),
        () => None,
    };
    match decoded {
        Some(text) => (text + suffix).into(),
        None => symbol.into(),
    }
}

/// Returns true if a user may mean this symbol by `wanted`: a part of it or of its source name.
pub fn name_matches(symbol: &str, wanted: &str) -> bool {
    symbol.contains(wanted) || source_name(symbol).contains(wanted)
}

/// Decodes clang's name of a `target` region: device and file numbers, the enclosing function, the
/// line.
fn kernel(name: &str) -> Option<String> {
    let rest = name.strip_prefix("__omp_offloading_")?;
    let (around, line) = rest.rsplit_once("_l")?;
    let mut parts = around.splitn(3, '_');
    let number = |part: Option<&str>| {
        part.is_some_and(|p| !p.is_empty() && p.chars().all(|c| c.is_ascii_hexdigit()))
    };
    if !number(parts.next()) || !number(parts.next()) {
        return None;
    }
    let function = parts.next()?;
    line.parse::<u32>().ok()?;
    Some(format!("line {line} of {}", source_name(function)))
}

fn cpp(name: &str) -> Option<String> {
    let options = cpp_demangle::DemangleOptions::new().no_return_type();
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    let text = symbol.demangle_with_options(&options).ok()?;
    Some(text)
}

/// Decodes `_QMmodFhostPinner` (flang's name uniquer): each upper-case letter is the kind of the
/// name after it.
fn fortran(name: &str) -> Option<String> {
    let mut rest = name.strip_prefix("_Q")?;
    if rest == "Qmain" {
        return Some("main program".into());
    }
    let mut text = String::new();
    while !rest.is_empty() {
        rest = rest.strip_prefix(['M', 'S', 'F', 'P', 'E', 'C', 'T', 'N'])?;
        let end = rest
            .find(|c: char| c.is_ascii_uppercase())
            .unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        let ordinary = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if part.is_empty() || !part.chars().all(ordinary) {
            return None;
        }
        if !text.is_empty() {
            text.push_str("::");
        }
        text.push_str(part);
        rest = behind;
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_languages_are_decoded() {
        for (symbol, text) in [
            ("main", "main"),
            ("_ZN3foo3barEi", "foo::bar(int)"),
            ("_ZN3foo3barEi.omp_outlined", "foo::bar(int).omp_outlined"),
            ("_Z3twoIdEvT_", "two<double>(double)"),
            ("_QMmodPproc", "mod::proc"),
            ("_QPsub", "sub"),
            ("_QQmain", "main program"),
            ("_QQmain..omp_par", "main program..omp_par"),
            ("_QMmFhostPinner_1", "m::host::inner_1"),
            ("_Zgarbage", "_Zgarbage"),
            ("__omp_offloading_802_1f3_main_l12", "line 12 of main"),
            (
                "__omp_offloading_802_1f3__Z3addPd_l7",
                "line 7 of add(double*)",
            ),
            ("_QXno", "_QXno"),
            ("_start", "_start"),
            (".omp.reduction.func", ".omp.reduction.func"),
        ] {
            assert_eq!(source_name(symbol), text);
        }
    }

    #[test]
    fn users_may_write_either_name() {
        for wanted in ["foo::bar", "_ZN3foo", "bar(int)"] {
            assert!(name_matches("_ZN3foo3barEi", wanted), "{wanted}");
        }
        assert!(!name_matches("_ZN3foo3barEi", "baz"));
    }
}
