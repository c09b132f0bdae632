//! The `argv` of a program, which the environment and the auxiliary vector follow as on the stack of
//! a new process (System V ABI for AMD64, section 3.4.1).
//!
//! Programs rely on this order: they take `argv + argc + 1` for the environment, search the auxiliary
//! vector behind it, or read an argument too many and find the first variable.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

/// Pointers to the arguments, which the value owns, and a terminating null; what follows belongs to
/// the process.
#[derive(Debug)]
pub(crate) struct ArgumentVector {
    pointers: Vec<*mut c_char>,
    strings: Vec<CString>,
}

// SAFETY: the pointers lead to the heap buffers of `strings`, which move with neither the value nor
// the vector, and to the environment; the host only reads them.
unsafe impl Send for ArgumentVector {}
// SAFETY: the host only reads the vectors and the strings after construction.
unsafe impl Sync for ArgumentVector {}

impl ArgumentVector {
    /// Creates the vector of a program within a host process, which keeps its environment.
    pub(crate) fn new(strings: Vec<CString>) -> ArgumentVector {
        let pointers = strings.iter().map(|a| a.as_ptr().cast_mut());
        ArgumentVector {
            pointers: pointers.chain([ptr::null_mut()]).collect(),
            strings,
        }
    }

    /// Creates the vector of a program that is the whole process, and makes the copy of the
    /// environment behind it the process's.
    ///
    /// # Safety
    /// No other thread uses the environment, and the value is never dropped.
    pub(crate) unsafe fn of_process(strings: Vec<CString>) -> ArgumentVector {
        let mut vector = ArgumentVector::new(strings);
        let at = vector.pointers.len();
        // SAFETY: the environment is null or ends with a null, and nobody changes it meanwhile.
        unsafe {
            let mut next = environ;
            while !next.is_null() && !(*next).is_null() {
                vector.pointers.push(*next);
                next = next.add(1);
            }
        }
        vector.pointers.push(ptr::null_mut());
        vector.pointers.extend(auxiliary_vector());
        // SAFETY: as above; the vector is complete, so its buffer does not move any more.
        unsafe { environ = vector.pointers.as_mut_ptr().add(at) };
        vector
    }

    /// Returns `argv`.
    pub(crate) fn as_ptr(&self) -> *mut *mut c_char {
        self.pointers.as_ptr().cast_mut()
    }

    /// Returns `argc`.
    pub(crate) fn count(&self) -> c_int {
        self.strings.len() as c_int
    }

    /// Returns `argv[0]`.
    pub(crate) fn name(&self) -> Option<&CStr> {
        self.strings.first().map(CString::as_c_str)
    }
}

/// Returns the words of the auxiliary vector with its end; the end alone if the kernel does not show
/// it.
fn auxiliary_vector() -> Vec<*mut c_char> {
    let bytes = std::fs::read("/proc/self/auxv").unwrap_or_default();
    let (words, _) = bytes.as_chunks::<{ size_of::<usize>() }>();
    let words = words.iter().map(|&w| usize::from_ne_bytes(w));
    let words = words.map(ptr::without_provenance_mut);
    words.chain([ptr::null_mut(); 2]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_auxiliary_vector_ends() {
        let words = auxiliary_vector();
        assert!(words.len().is_multiple_of(2));
        assert!(words.ends_with(&[ptr::null_mut(); 2]));
    }

    #[test]
    fn a_vector_counts_its_arguments_and_ends() {
        let vector = ArgumentVector::new(vec![c"a".to_owned(), c"b".to_owned()]);
        assert_eq!((vector.count(), vector.name()), (2, Some(c"a")));
        // SAFETY: two arguments and the null follow each other.
        assert!(unsafe { *vector.as_ptr().add(2) }.is_null());
    }
}
