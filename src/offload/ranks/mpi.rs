//! MPI, loaded at run time.
//!
//! Three binary interfaces are known: the standard one of MPI 5.0 (`libmpi_abi.so`), MPICH's, which
//! Intel MPI and others share (`libmpi.so.12`), and Open MPI's (`libmpi.so.40`). They differ in the
//! values of constants and in the types of handles, which are integers of 32 bits in MPICH and
//! pointers elsewhere. Either kind is passed in a register, so one set of functions with handles of
//! the size of a pointer serves all; [`Constants`] has the values. A status is opaque storage that
//! is large enough for all.
//!
//! The values are those of MPI 5.0, chapter 20, of MPICH's `mpi.h`, and of Open MPI's `mpi.h`,
//! where a constant is the address of a variable.
//!
//! Initializes MPI for several threads. A library that only allows one call at a time gets a lock.

use super::launcher::{self, Launched, Launcher};
use super::wire::{Transfer, Wire};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use ompvm_support::settings::{MpiChoice, Settings};
use parking_lot::Mutex;
use std::ffi::{OsStr, OsString, c_char, c_int, c_void};
use std::fmt::{self, Debug};
use std::path::Path;
use std::ptr::null_mut;

/// A binary interface of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Abi {
    /// That of MPI 5.0.
    Standard,
    /// MPICH's.
    Mpich,
    /// Open MPI's.
    OpenMpi,
}

/// Values of constants. Handles have the size of a pointer.
#[derive(Clone, Copy, Debug)]
struct Constants {
    world: usize,
    byte: usize,
    errors_return: usize,
    serialized: c_int,
    multiple: c_int,
}

/// Storage of a status, which has 20 to 32 bytes.
type Status = [u64; 8];

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($arg:ty),*);)*) => {
        /// The functions of MPI. Each returns an error code.
        struct Functions {
            $($name: unsafe extern "C" fn($($arg),*) -> c_int,)*
        }

        impl Functions {
            /// Looks the functions up.
            ///
            /// # Safety
            /// The library must be one of MPI, and never be unloaded.
            unsafe fn of(library: &Library) -> Result<Functions, String> {
                // SAFETY: names and types are those of the standard, as the file head explains.
                unsafe {
                    Ok(Functions {
                        $($name: *library
                            .get($symbol.as_bytes())
                            .map_err(|_| format!("it lacks `{}`", $symbol))?,)*
                    })
                }
            }
        }
    };
}

functions! {
    init = "MPI_Init_thread" (*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    finalize = "MPI_Finalize" ();
    rank = "MPI_Comm_rank" (usize, *mut c_int);
    size = "MPI_Comm_size" (usize, *mut c_int);
    set_errors = "MPI_Comm_set_errhandler" (usize, usize);
    send = "MPI_Isend" (*const c_void, c_int, usize, c_int, c_int, usize, *mut u64);
    receive = "MPI_Irecv" (*mut c_void, c_int, usize, c_int, c_int, usize, *mut u64);
    test = "MPI_Test" (*mut u64, *mut c_int, *mut Status);
    count = "MPI_Get_count" (*const Status, usize, *mut c_int);
    error_text = "MPI_Error_string" (c_int, *mut c_char, *mut c_int);
}

/// MPI, initialized.
pub struct Mpi {
    functions: Functions,
    constants: Constants,
    /// Taken for each call if the library allows only one at a time.
    one_at_a_time: Option<Mutex<()>>,
    /// File name of the library.
    library: String,
}

impl Debug for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mpi")
            .field("library", &self.library)
            .finish()
    }
}

impl Mpi {
    /// Loads the library that belongs to the launcher, or the one that the settings name, and
    /// initializes it.
    ///
    /// # Errors
    /// The reason in words.
    pub fn start(launched: &Launched, settings: &Settings) -> Result<Mpi, String> {
        let (library, file) = load(launched, settings)?;
        let abi = abi(&library, &file);
        let told = |why: String| format!("{}: {why}", file.display());
        // SAFETY: the file is MPI's by its name or by the user's choice; it is never unloaded.
        let functions = unsafe { Functions::of(&library) }.map_err(told)?;
        let constants = constants(&library, abi).map_err(told)?;
        // The library's threads run until the end of the process.
        std::mem::forget(library);
        let mut mpi = Mpi {
            functions,
            constants,
            one_at_a_time: None,
            library: file.display().to_string(),
        };
        mpi.init(launched).map_err(told)?;
        Ok(mpi)
    }

    fn init(&mut self, launched: &Launched) -> Result<(), String> {
        let Constants {
            world,
            errors_return,
            serialized,
            multiple,
            ..
        } = self.constants;
        let (mut provided, mut rank, mut size) = (0, 0, 0);
        // SAFETY: MPI was not initialized; without arguments the pointers may be null, and the
        // other one is valid.
        self.check(unsafe {
            (self.functions.init)(null_mut(), null_mut(), multiple, &mut provided)
        })?;
        if provided < serialized {
            return Err(
                "it allows calls on one thread only; use an MPI that was built for threads".into(),
            );
        }
        self.one_at_a_time = (provided < multiple).then(Mutex::default);
        // SAFETY: MPI is initialized, and the pointers are valid.
        unsafe {
            self.check((self.functions.set_errors)(world, errors_return))?;
            self.check((self.functions.rank)(world, &mut rank))?;
            self.check((self.functions.size)(world, &mut size))?;
        }
        if (rank, size) != (launched.rank as c_int, launched.size as c_int) {
            return Err(format!(
                "it does not belong to the launcher, which started {} ranks, while the library \
                 sees {size}; name the launcher's library with OMPVM_MPI",
                launched.size
            ));
        }
        Ok(())
    }

    /// Returns the file name of the library.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Finalizes MPI, which waits for the other ranks. Nothing may be called afterwards.
    pub fn finalize(&self) {
        let _lock = self.one_at_a_time.as_ref().map(Mutex::lock);
        // SAFETY: MPI is initialized, and the caller takes care that no thread calls it any more.
        unsafe { (self.functions.finalize)() };
    }

    /// Starts a transfer with a call, which stores the handle of its request.
    fn start_transfer(
        &self,
        receives: bool,
        call: impl FnOnce(&mut u64) -> c_int,
    ) -> Result<Transfer, String> {
        let mut request = 0;
        let _lock = self.one_at_a_time.as_ref().map(Mutex::lock);
        self.check(call(&mut request))?;
        Ok(Transfer { request, receives })
    }

    /// Converts an error code to the library's text.
    fn check(&self, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // Larger than the limit of every library.
        let mut text = [0_u8; 8192];
        let mut len = 0;
        // SAFETY: the buffer has room for the longest text; the other pointer is valid.
        let failed =
            unsafe { (self.functions.error_text)(code, text.as_mut_ptr().cast(), &mut len) };
        let len = usize::try_from(len).unwrap_or(0).min(text.len());
        if failed != 0 || len == 0 {
            return Err(format!("MPI returned the error {code}"));
        }
        Err(String::from_utf8_lossy(&text[..len])
            .trim()
            .replace('\n', "; "))
    }
}

impl Wire for Mpi {
    unsafe fn send(
        &self,
        to: u32,
        tag: i32,
        bytes: *const u8,
        len: usize,
    ) -> Result<Transfer, String> {
        let Constants { world, byte, .. } = self.constants;
        let (len, to, send) = (len as c_int, to as c_int, self.functions.send);
        self.start_transfer(false, |request| {
            // SAFETY: the memory is readable by this function's contract; the handles are MPI's.
            unsafe { send(bytes.cast(), len, byte, to, tag, world, request) }
        })
    }

    unsafe fn receive(
        &self,
        from: u32,
        tag: i32,
        bytes: *mut u8,
        len: usize,
    ) -> Result<Transfer, String> {
        let Constants { world, byte, .. } = self.constants;
        let (len, from, receive) = (len as c_int, from as c_int, self.functions.receive);
        self.start_transfer(true, |request| {
            // SAFETY: the memory is writable by this function's contract; the handles are MPI's.
            unsafe { receive(bytes.cast(), len, byte, from, tag, world, request) }
        })
    }

    fn poll(&self, transfer: &mut Transfer) -> Result<Option<usize>, String> {
        let mut status = Status::default();
        let (mut done, mut count) = (0, 0);
        let _lock = self.one_at_a_time.as_ref().map(Mutex::lock);
        // SAFETY: the request is one of MPI that is not complete; the pointers are valid.
        self.check(unsafe {
            (self.functions.test)(&mut transfer.request, &mut done, &mut status)
        })?;
        if done == 0 {
            return Ok(None);
        }
        if transfer.receives {
            // SAFETY: `test` filled the status of a complete receive.
            self.check(unsafe {
                (self.functions.count)(&status, self.constants.byte, &mut count)
            })?;
        }
        Ok(Some(usize::try_from(count).unwrap_or(0)))
    }
}

/// Loads the library. Its symbols become those of the process, because parts of Open MPI are
/// modules that expect them there.
fn load(launched: &Launched, settings: &Settings) -> Result<(Library, OsString), String> {
    let open = |file: &OsStr| {
        // SAFETY: MPI libraries have initializers that do not depend on the caller.
        unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) }
    };
    if let MpiChoice::Library(file) = &settings.mpi {
        return match open(file) {
            Ok(library) => Ok((library, file.clone())),
            Err(why) => Err(reason(&why)),
        };
    }
    const STANDARD: [&str; 2] = ["libmpi_abi.so.1", "libmpi_abi.so"];
    const MPICH: &str = "libmpi.so.12";
    const OPEN_MPI: &str = "libmpi.so.40";
    let names: &[&str] = match launched.launcher {
        Launcher::Pmi => &[MPICH, STANDARD[0], STANDARD[1]],
        Launcher::OpenMpi => &[OPEN_MPI, STANDARD[0], STANDARD[1]],
        Launcher::Slurm => &[OPEN_MPI, MPICH, STANDARD[0], STANDARD[1]],
    };
    for folder in launcher::library_folders() {
        for name in names {
            let file = folder.join(name).into_os_string();
            if Path::new(&file).exists()
                && let Ok(library) = open(&file)
            {
                return Ok((library, file));
            }
        }
    }
    let mut first = String::new();
    for name in names {
        match open(OsStr::new(name)) {
            Ok(library) => return Ok((library, OsString::from(name))),
            Err(why) if first.is_empty() => first = reason(&why),
            Err(_) => {}
        }
    }
    Err(format!(
        "none of {} was found ({first}); add its folder to LD_LIBRARY_PATH, or name the file with \
         OMPVM_MPI",
        names.join(", ")
    ))
}

/// Returns the loader's own words, which name the file.
fn reason(why: &libloading::Error) -> String {
    std::error::Error::source(why).map_or_else(|| why.to_string(), ToString::to_string)
}

/// Returns the binary interface of a library: Open MPI's has variables for handles; the other two
/// have the same functions and differ in their names.
fn abi(library: &Library, file: &OsStr) -> Abi {
    // SAFETY: only the address is used.
    if unsafe { library.get::<*const c_void>(b"ompi_mpi_comm_world") }.is_ok() {
        return Abi::OpenMpi;
    }
    let file = std::fs::canonicalize(file).unwrap_or_else(|_| file.into());
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match name.starts_with("libmpi_abi") {
        true => Abi::Standard,
        false => Abi::Mpich,
    }
}

fn constants(library: &Library, abi: Abi) -> Result<Constants, String> {
    let address = |name: &str| -> Result<usize, String> {
        // SAFETY: only the address of the variable is used.
        let symbol = unsafe { library.get::<*const c_void>(name.as_bytes()) };
        let symbol = symbol.map_err(|_| format!("it lacks `{name}`"))?;
        Ok(symbol.as_raw_ptr() as usize)
    };
    Ok(match abi {
        Abi::Standard => Constants {
            world: 0x101,
            byte: 0x247,
            errors_return: 0x143,
            serialized: 2048,
            multiple: 4096,
        },
        Abi::Mpich => Constants {
            world: 0x4400_0000,
            byte: 0x4c00_010d,
            errors_return: 0x5400_0001,
            serialized: 2,
            multiple: 3,
        },
        Abi::OpenMpi => Constants {
            world: address("ompi_mpi_comm_world")?,
            byte: address("ompi_mpi_byte")?,
            errors_return: address("ompi_mpi_errors_return")?,
            serialized: 2,
            multiple: 3,
        },
    })
}
