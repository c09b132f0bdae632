//! A started program. A guest is trusted like a library.

use super::func::Func;
use super::stats::Stats;
use super::typed::{Arguments, TypedFunc};
use ompvm_ir::GlobalRef;
use ompvm_memory::image::Image;
use ompvm_support::error::Error;
use ompvm_tier::process;
use ompvm_tier::value::{GuestPtr, GuestValue};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A program that has been started. Its data lives as long as this value.
///
/// Threads of the host may share it and call its functions concurrently, see
/// [threads](super#threads).
///
/// ```no_run
/// # use ompvm::api::{Config, Engine, Error, Linker, Module};
/// # fn main() -> Result<(), Error> {
/// # let engine = Engine::default();
/// # let module = Module::from_files(&engine, &["solver.bc".into()])?;
/// let program = Linker::new(&engine).link(&module)?;
/// let process = program.start(Config::new().arg("solver").arg("input.dat"))?;
/// match process.run_main() {
///     Ok(status) => println!("{status}"),
///     Err(Error::Trap(trap)) => println!("the program faulted: {trap}"),
///     Err(other) => return Err(other),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Process {
    inner: process::Process,
    /// The processes whose functions and variables it uses. Declared after `inner`, so that they
    /// outlive it.
    _linked_with: Vec<Arc<Process>>,
}

/// Exit status of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExitStatus(i32);

impl ExitStatus {
    /// Returns the value of `main` or of `exit`, as the program passed it.
    pub fn code(self) -> i32 {
        self.0
    }

    /// Returns true if the status is zero.
    pub fn success(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit status {}", self.0 & 0xff)
    }
}

impl Process {
    pub(super) fn new(inner: process::Process, linked_with: Vec<Arc<Process>>) -> Process {
        Process {
            inner,
            _linked_with: linked_with,
        }
    }

    /// Returns the placed module.
    pub(super) fn image(&self) -> &Image {
        self.inner.image()
    }

    /// Calls a guest function without arguments and result. Returns the status if it calls `exit`.
    ///
    /// # Errors
    /// Returns [`Error::Host`] if there is no such function; [`Error::Trap`] if the guest faults.
    ///
    /// # Safety
    /// The function takes no arguments.
    pub(super) unsafe fn call_cell(&self, name: &str) -> Result<Option<ExitStatus>, Error> {
        let id = super::func::find(&self.inner, name)?;
        let function = self.image().func_ref(id);
        let function = function.ok_or_else(|| Error::Host(format!("`{name}` has no body")))?;
        // SAFETY: the stub is the function's entry for native code, and the function takes no
        // arguments by contract. The closure has nothing to drop.
        let exited = unsafe {
            let entry = std::mem::transmute::<usize, extern "C-unwind" fn()>(function.stub);
            self.inner.call_until_exit(|| entry())
        };
        Ok(exited?.map(ExitStatus))
    }

    /// Ends the search for hot functions in a process whose functions no longer run.
    pub(super) fn stop_sampling(&self) {
        self.inner.stop_sampling();
    }

    /// Runs `main` on this thread and then the exit handlers, once: every further call is an error.
    /// Other threads may call functions of the program meanwhile. As in C, they must not use what
    /// exit handlers destroy.
    ///
    /// In the native mode ([`super::Config::native`]) handlers run when the caller passes the
    /// status to `exit`, and neither a fault nor the guest's own `exit` returns.
    ///
    /// # Errors
    /// Returns [`Error::Input`] if there is no main function; [`Error::Host`] if `run_main` has been
    /// called before, no matter how that ended; [`Error::Trap`] if the guest faults, see [after a
    /// trap](super#after-a-trap). After a fault the exit handlers run when the process is dropped.
    pub fn run_main(&self) -> Result<ExitStatus, Error> {
        self.inner.run_main().map(ExitStatus)
    }

    /// Looks up a guest function by name, to be called with the arguments `P` (a tuple of scalars,
    /// [`GuestPtr`]s and slices) and the result `R`. A look-up costs more than a call, so keep the
    /// result.
    ///
    /// # Errors
    /// Returns [`Error::Host`] if there is no such function or its signature differs.
    ///
    /// # Safety
    /// The guest function's parameters must have the meaning of `P`: IR has no signedness and no
    /// pointee types, and a slice passes only its address.
    pub unsafe fn typed_func<P: Arguments, R: GuestValue>(
        &self,
        name: &str,
    ) -> Result<TypedFunc<'_, P, R>, Error> {
        TypedFunc::new(&self.inner, name)
    }

    /// Looks up a guest function by name, to be called with types that are known at run time.
    /// `signature` is its type as in C, without names, such as `double (long, const double *)`;
    /// without one the types are those of the program, with every integer signed.
    ///
    /// # Errors
    /// Returns [`Error::Host`] if there is no such function, or if its signature differs or has
    /// structs, vectors or variadic arguments.
    pub fn func(&self, name: &str, signature: Option<&str>) -> Result<Func<'_>, Error> {
        Func::new(&self.inner, name, signature)
    }

    /// Returns the address of a guest variable, if the guest defines it and it is not thread_local.
    pub fn global<T>(&self, name: &str) -> Option<GuestPtr<T>> {
        let image = self.inner.image();
        match image.module.symbol(name)? {
            symbol @ (GlobalRef::Var(_) | GlobalRef::Alias(_)) => {
                Some(GuestPtr::from_address(image.symbol_address(symbol)))
            }
            _ => None,
        }
    }

    /// Allocates memory for `len` values that the guest can use, filled with `value`.
    ///
    /// # Errors
    /// Returns [`Error::Host`] if there is no memory.
    pub fn alloc<T: Copy>(&self, value: T, len: usize) -> Result<GuestSlice<T>, Error> {
        GuestSlice::new(len, |_| value)
    }

    /// Allocates memory that the guest can use, with a copy of the values.
    ///
    /// # Errors
    /// Returns [`Error::Host`] if there is no memory.
    pub fn alloc_slice<T: Copy>(&self, values: &[T]) -> Result<GuestSlice<T>, Error> {
        GuestSlice::new(values.len(), |i| values[i])
    }

    /// Returns the instructions that the program may still execute, without those that threads have
    /// taken that execute it now. `None` without a limit, see [`super::Config::fuel`].
    pub fn fuel(&self) -> Option<u64> {
        self.image().fuel.left()
    }

    /// Sets the number of instructions that the program may execute from now on.
    ///
    /// # Errors
    /// Returns [`Error::Host`] if the program was started without fuel.
    pub fn set_fuel(&self, instructions: u64) -> Result<(), Error> {
        let tank = &self.image().fuel;
        if !tank.is_limited() {
            return Err(Error::Host(
                "the program was started without fuel, so its code does not count instructions"
                    .into(),
            ));
        }
        tank.fill(instructions);
        Ok(())
    }

    /// Returns the bytes of heap memory that the program holds now; `None` without a limit, see
    /// [`super::Config::memory_limit`].
    pub fn memory_used(&self) -> Option<usize> {
        self.inner.memory_used()
    }

    /// Returns the counts so far, of the whole host process.
    pub fn stats(&self) -> Stats {
        Stats::collect()
    }
}

/// Memory allocated with the C library's `malloc`, so that the guest may `realloc` or keep it
/// (after [`GuestSlice::into_guest`]). Freed when dropped.
///
/// ```no_run
/// # use ompvm::api::{Config, Engine, Error, GuestPtr, Linker, Module};
/// # fn main() -> Result<(), Error> {
/// # let engine = Engine::default();
/// # let module = Module::from_files(&engine, &["solver.bc".into()])?;
/// # let process = Linker::new(&engine).link(&module)?.start(Config::new())?;
/// let mut field = process.alloc(0.0, 1000)?;
/// field[500] = 1.0;
/// // SAFETY: the C function is `void smooth(double *field, long n)`.
/// let smooth = unsafe { process.typed_func::<(GuestPtr<f64>, i64), ()>("smooth")? };
/// smooth.call((field.ptr(), field.len() as i64))?;
/// # Ok(())
/// # }
/// ```
pub struct GuestSlice<T> {
    ptr: GuestPtr<T>,
    len: usize,
}

// SAFETY: it owns its memory like a `Box<[T]>`.
unsafe impl<T: Send> Send for GuestSlice<T> {}
// SAFETY: it owns its memory like a `Box<[T]>`; a shared reference gives only shared slices and the
// address.
unsafe impl<T: Sync> Sync for GuestSlice<T> {}

impl<T: Copy> GuestSlice<T> {
    fn new(len: usize, value: impl Fn(usize) -> T) -> Result<GuestSlice<T>, Error> {
        let bytes = len.saturating_mul(size_of::<T>());
        if align_of::<T>() > 16 {
            return Err(Error::Host("malloc aligns to 16 bytes only".into()));
        }
        // SAFETY: the size passed to `malloc` is not zero.
        let p: *mut T = unsafe { libc::malloc(bytes.max(1)) }.cast();
        if p.is_null() {
            return Err(Error::Host(format!("no memory for {bytes} bytes")));
        }
        for i in 0..len {
            // SAFETY: the element lies inside the allocation, whose alignment of 16 suffices for
            // `T`.
            unsafe { p.add(i).write(value(i)) };
        }
        Ok(GuestSlice {
            ptr: GuestPtr::from_address(p.expose_provenance()),
            len,
        })
    }
}

impl<T> GuestSlice<T> {
    /// Returns the guest's pointer to the first value.
    pub fn ptr(&self) -> GuestPtr<T> {
        self.ptr
    }

    /// Passes ownership of the memory to the guest, which frees it.
    pub fn into_guest(self) -> GuestPtr<T> {
        std::mem::ManuallyDrop::new(self).ptr
    }
}

impl<T> Deref for GuestSlice<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: all `len` values are initialized and owned by `self`, which is borrowed.
        unsafe { self.ptr.as_slice(self.len) }
    }
}

impl<T> DerefMut for GuestSlice<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: all `len` values are initialized and owned by `self`, which is borrowed mutably.
        unsafe { self.ptr.as_slice_mut(self.len) }
    }
}

impl<T> Drop for GuestSlice<T> {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated with `malloc` and not passed on.
        unsafe { libc::free(self.ptr.as_ptr().cast()) };
    }
}

impl<T: fmt::Debug> fmt::Debug for GuestSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
