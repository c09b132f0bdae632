//! The thread_local variables of native libraries that a program uses.
//!
//! The dynamic linker finds the calling thread's instance by name, which takes half a microsecond.
//! So the variable's place is kept: the number of its library, and its offset in the library's
//! block (ELF Handling for Thread-Local Storage, section 3.4.6, whose function also makes blocks).
//! The library stays loaded, as natively: the program refers to it.

use std::ffi::{CString, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A thread_local variable of a library.
#[derive(Debug)]
pub struct LibraryVariable {
    name: CString,
    /// Number of the library; 0 until the variable has been found.
    library: AtomicUsize,
    /// Offset in the library's block.
    offset: AtomicUsize,
}

/// The argument of the function that returns addresses (`tls_index`).
#[repr(C)]
struct Place {
    library: usize,
    offset: usize,
}

unsafe extern "C" {
    fn __tls_get_addr(place: *const Place) -> *mut c_void;
}

impl LibraryVariable {
    /// Creates the variable of that name, which is looked up at its first use.
    pub(super) fn new(name: &str) -> LibraryVariable {
        LibraryVariable {
            name: CString::new(name).unwrap_or_default(),
            library: AtomicUsize::new(0),
            offset: AtomicUsize::new(0),
        }
    }

    /// Returns the address of the calling thread's instance; 0 if there is no such variable.
    pub fn address(&self) -> usize {
        match self.library.load(Ordering::Acquire) {
            0 => self.find(),
            library => {
                let offset = self.offset.load(Ordering::Relaxed);
                // SAFETY: the place is that of a variable of a loaded library.
                unsafe { __tls_get_addr(&Place { library, offset }) as usize }
            }
        }
    }

    /// Looks the variable up, and keeps its place. A signal handler may do so at the same time.
    #[cold]
    fn find(&self) -> usize {
        // SAFETY: the name is a C string.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, self.name.as_ptr()) as usize };
        if let Some(place) = place_of(address) {
            self.offset.store(place.offset, Ordering::Relaxed);
            self.library.store(place.library, Ordering::Release);
        }
        address
    }
}

/// Returns the address of the calling thread's instance of a variable, for generated code; 0 for
/// none.
pub extern "C" fn library_variable(variable: Option<&LibraryVariable>) -> usize {
    variable.map_or(0, LibraryVariable::address)
}

/// Returns the place of an address in the calling thread's blocks.
fn place_of(address: usize) -> Option<Place> {
    struct Search {
        address: usize,
        found: Option<Place>,
    }
    unsafe extern "C" fn look(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        search: *mut c_void,
    ) -> c_int {
        // SAFETY: the linker passes a library's description and its headers, and `search` is that
        // of the call below.
        unsafe {
            let (info, search) = (&*info, &mut *search.cast::<Search>());
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            let block = headers.iter().find(|h| h.p_type == libc::PT_TLS);
            let length = block.map_or(0, |h| h.p_memsz as usize);
            let offset = search.address.wrapping_sub(info.dlpi_tls_data as usize);
            if !info.dlpi_tls_data.is_null() && offset < length {
                let library = info.dlpi_tls_modid;
                search.found = Some(Place { library, offset });
            }
            search.found.is_some().into()
        }
    }
    let mut search = Search {
        address,
        found: None,
    };
    // SAFETY: `look` takes the search as its argument.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_finds_its_own_instance() {
        // A thread_local variable of glibc. The first use of a record looks it up by name.
        let by_name = || LibraryVariable::new("__h_errno").address();
        let variable = LibraryVariable::new("__h_errno");
        let first = variable.address();
        assert!(first != 0 && variable.library.load(Ordering::Relaxed) != 0);
        assert_eq!([variable.address(), by_name()], [first; 2]);
        let other = std::thread::spawn(move || [variable.address(), by_name()]);
        let [address, expected] = other.join().unwrap();
        assert!(address == expected && address != first);
        assert_eq!(LibraryVariable::new("no_such_variable").address(), 0);
    }
}
