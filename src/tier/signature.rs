//! The types of a function whose caller is not compiled with it: a C or Python program, or a
//! closure over slots.
//!
//! IR has no signedness and no pointee types, so a signature that is read from the program takes
//! integers as signed. A signature written as in C says more: `double (long, const double *)`.
//! Pointers are all alike, and structs by value have no notation.

use super::value::ValueKind;
use std::fmt;
use std::str::FromStr;

/// Type of a parameter or of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// Kind as the guest sees it.
    pub kind: ValueKind,
    /// True for an integer that C sign-extends.
    pub signed: bool,
}

impl Scalar {
    /// Returns the type of this kind, signed if it is an integer of more than one bit.
    pub fn of_kind(kind: ValueKind) -> Scalar {
        let signed = matches!(kind, ValueKind::Int(bits) if bits > 1);
        Scalar { kind, signed }
    }

    /// Extends the low bits of a slot to all 64.
    pub fn extend(self, slot: u64) -> u64 {
        match self.kind {
            ValueKind::Int(bits @ 1..64) => {
                let above = 64 - bits;
                match self.signed {
                    true => ((slot << above) as i64 >> above) as u64,
                    false => slot << above >> above,
                }
            }
            ValueKind::F32 => slot & 0xffff_ffff,
            _ => slot,
        }
    }

    /// Reads a C type. Names of parameters are not allowed.
    fn parse(text: &str) -> Result<Scalar, String> {
        let unknown = || format!("`{}` is not a C type that can be passed", text.trim());
        let scalar = |kind, signed| Ok(Scalar { kind, signed });
        if text.trim_end().ends_with('*') {
            return scalar(ValueKind::Ptr, false);
        }
        let words = text.split_whitespace();
        let words: Vec<_> = words
            .filter(|word| !matches!(*word, "const" | "volatile" | "register"))
            .collect();
        match words[..] {
            ["void"] => return scalar(ValueKind::Void, false),
            ["bool" | "_Bool"] => return scalar(ValueKind::Int(1), false),
            ["float"] => return scalar(ValueKind::F32, false),
            ["double"] => return scalar(ValueKind::F64, false),
            ["size_t" | "uintptr_t"] => return scalar(ValueKind::Int(64), false),
            ["ssize_t" | "ptrdiff_t" | "intptr_t"] => return scalar(ValueKind::Int(64), true),
            [name] if name.ends_with("_t") => {
                let (digits, signed) = match name.strip_prefix('u') {
                    Some(rest) => (rest, false),
                    None => (name, true),
                };
                let bits = digits.trim_end_matches("_t").strip_prefix("int");
                let bits = bits.and_then(|bits| bits.parse().ok());
                return match bits {
                    Some(bits @ (8 | 16 | 32 | 64)) => scalar(ValueKind::Int(bits), signed),
                    _ => Err(unknown()),
                };
            }
            _ => {}
        }
        let count = |word: &str| words.iter().filter(|w| **w == word).count();
        let (signed, unsigned) = (count("signed"), count("unsigned"));
        let (char, short, long, int) = (count("char"), count("short"), count("long"), count("int"));
        let known = signed + unsigned + char + short + long + int;
        let bits = match (char, short, long, int) {
            (1, 0, 0, 0) => 8,
            (0, 1, 0, 0 | 1) => 16,
            (0, 0, 0, 1) => 32,
            (0, 0, 0, 0) if known > 0 => 32,
            (0, 0, 1 | 2, 0 | 1) => 64,
            _ => return Err(unknown()),
        };
        if known != words.len() || signed + unsigned > 1 {
            return Err(unknown());
        }
        scalar(ValueKind::Int(bits), unsigned == 0)
    }
}

/// Types of a function's parameters and result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Types of the parameters.
    pub params: Vec<Scalar>,
    /// Type of the result.
    pub ret: Scalar,
}

impl Signature {
    /// Returns the kinds of the parameters.
    pub fn kinds(&self) -> Vec<ValueKind> {
        self.params.iter().map(|p| p.kind).collect()
    }
}

impl fmt::Display for Signature {
    /// Writes the kinds as the guest sees them, such as `double(i64, pointer)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.ret.kind)?;
        for (i, param) in self.params.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{}", param.kind)?;
        }
        f.write_str(")")
    }
}

impl FromStr for Signature {
    type Err = String;

    /// Reads a type as in C, without names: `double (long, const double *)`.
    fn from_str(text: &str) -> Result<Signature, String> {
        let wrong = || format!("`{text}` is not a signature such as `double (long, double *)`");
        let (ret, rest) = text.split_once('(').ok_or_else(wrong)?;
        let list = rest.trim_end().strip_suffix(')').ok_or_else(wrong)?;
        let ret = Scalar::parse(ret)?;
        if matches!(list.trim(), "" | "void") {
            return Ok(Signature {
                params: Vec::new(),
                ret,
            });
        }
        let params = list.split(',').map(Scalar::parse);
        let params = params.collect::<Result<Vec<_>, _>>()?;
        if params.iter().any(|p| p.kind == ValueKind::Void) {
            return Err(wrong());
        }
        Ok(Signature { params, ret })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        text.parse::<Signature>()
            .map_or_else(|why| why, |s| s.to_string())
    }

    #[test]
    fn types_of_c_are_read() {
        assert_eq!(
            shown("double (long, const double *, double*)"),
            "double(i64, pointer, pointer)"
        );
        assert_eq!(shown("void(void)"), "void()");
        assert_eq!(shown("int ()"), "i32()");
        assert_eq!(
            shown("unsigned long long (signed char, short int, uint16_t, bool, float, unsigned)"),
            "i64(i8, i16, i16, i1, float, i32)"
        );
        assert_eq!(
            shown("char const *(size_t, long unsigned int)"),
            "pointer(i64, i64)"
        );
        let unsigned: Signature = "uint8_t (unsigned short, ptrdiff_t)".parse().unwrap();
        let signed: Vec<_> = unsigned.params.iter().map(|p| p.signed).collect();
        assert_eq!((signed, unsigned.ret.signed), (vec![false, true], false));
    }

    #[test]
    fn wrong_signatures_are_refused() {
        for text in [
            "",
            "double",
            "double(",
            "double (long",
            "void (void, int)",
            "long double ()",
            "int (struct point)",
            "int (int,)",
            "int24_t ()",
            "long long long ()",
            "int (unsigned double)",
        ] {
            assert!(text.parse::<Signature>().is_err(), "{text}");
        }
    }

    #[test]
    fn narrow_values_are_extended() {
        let scalar = |text: &str| Scalar::parse(text).unwrap();
        assert_eq!(scalar("int").extend(0xffff_fffe), u64::MAX - 1);
        assert_eq!(scalar("unsigned").extend(u64::MAX), 0xffff_ffff);
        assert_eq!(scalar("bool").extend(3), 1);
        assert_eq!(scalar("long").extend(u64::MAX), u64::MAX);
    }
}
