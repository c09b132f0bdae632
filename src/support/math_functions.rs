//! The functions of `math.h` that devices have.
//!
//! One table serves both the code that lowers a function for devices and the code that runs it on
//! the emulated device: a function that the former takes from a device's mathematics library, the
//! latter finds in this process's. Does not implement the functions.

/// The support of a function on devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceSupport {
    /// A function from numbers to a number.
    Plain,
    /// A function that stores part of its result through a pointer into the caller's memory.
    Pointer,
    /// A function that devices' libraries lack.
    Host,
}

use DeviceSupport::{Host, Plain, Pointer};

/// Names in sorted order; each also stands for the one with suffix `f`. Devices' libraries have
/// them as `__nv_<name>`.
const FUNCTIONS: &[(&str, DeviceSupport)] = &[
    ("acos", Plain),
    ("acosh", Plain),
    ("asin", Plain),
    ("asinh", Plain),
    ("atan", Plain),
    ("atan2", Plain),
    ("atanh", Plain),
    ("cbrt", Plain),
    ("ceil", Plain),
    ("copysign", Plain),
    ("cos", Plain),
    ("cosh", Plain),
    ("erf", Plain),
    ("erfc", Plain),
    ("exp", Plain),
    ("exp10", Plain),
    ("exp2", Plain),
    ("expm1", Plain),
    ("fabs", Plain),
    ("fdim", Plain),
    ("floor", Plain),
    ("fma", Plain),
    ("fmax", Plain),
    ("fmin", Plain),
    ("fmod", Plain),
    ("frexp", Pointer),
    ("hypot", Plain),
    ("ilogb", Plain),
    ("j0", Plain),
    ("j1", Plain),
    ("ldexp", Plain),
    ("lgamma", Plain),
    ("llrint", Plain),
    ("llround", Plain),
    ("log", Plain),
    ("log10", Plain),
    ("log1p", Plain),
    ("log2", Plain),
    ("logb", Plain),
    ("lrint", Plain),
    ("lround", Plain),
    ("modf", Pointer),
    ("nearbyint", Plain),
    ("nextafter", Plain),
    ("pow", Plain),
    ("remainder", Plain),
    ("rint", Plain),
    ("round", Plain),
    ("roundeven", Host),
    ("scalbln", Host),
    ("scalbn", Plain),
    ("sin", Plain),
    ("sincos", Pointer),
    ("sinh", Plain),
    ("sqrt", Plain),
    ("tan", Plain),
    ("tanh", Plain),
    ("tgamma", Plain),
    ("trunc", Plain),
    ("y0", Plain),
    ("y1", Plain),
];

/// Returns the function that a name stands for, without suffix `f`, and its kind.
pub fn function(name: &str) -> Option<(&'static str, DeviceSupport)> {
    let known = |name: &str| {
        let at = FUNCTIONS.binary_search_by_key(&name, |f| f.0);
        at.ok().map(|at| FUNCTIONS[at])
    };
    known(name).or_else(|| known(name.strip_suffix('f')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_name() {
        assert!(FUNCTIONS.is_sorted_by_key(|f| f.0));
        assert_eq!(function("exp"), Some(("exp", Plain)));
        assert_eq!(function("expf"), Some(("exp", Plain)));
        assert_eq!(function("erf"), Some(("erf", Plain)));
        assert_eq!(function("erff"), Some(("erf", Plain)));
        assert_eq!(function("modff"), Some(("modf", Pointer)));
        assert_eq!(function("roundeven"), Some(("roundeven", Host)));
        assert_eq!(function("expff"), None);
        assert_eq!(function("printf"), None);
    }
}
