//! Cancels calls of guests from other threads of the host.

use ompvm_tier::cancel::Interrupts;
use std::sync::Arc;

/// Ends the running calls of programs that were started with it ([`super::Config::cancelled_by`]).
/// Clones cancel the same calls.
///
/// ```no_run
/// # use ompvm::api::{CancelHandle, Config, Engine, Error, Linker, Module, TrapKind};
/// # use std::time::Duration;
/// # fn main() -> Result<(), Error> {
/// # let engine = Engine::default();
/// # let module = Module::from_files(&engine, &["solver.bc".into()])?;
/// let handle = CancelHandle::new();
/// let config = Config::new().cancelled_by(&handle);
/// let process = Linker::new(&engine).link(&module)?.start(config)?;
/// std::thread::spawn(move || {
///     std::thread::sleep(Duration::from_secs(1));
///     handle.cancel();
/// });
/// match process.run_main() {
///     Err(Error::Trap(trap)) if trap.kind == TrapKind::Cancelled => println!("too slow"),
///     other => println!("{other:?}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelHandle {
    pub(super) interrupts: Arc<Interrupts>,
}

impl CancelHandle {
    /// Creates a handle that cancels nothing yet.
    pub fn new() -> CancelHandle {
        CancelHandle::default()
    }

    /// Ends the calls that run now, in every tier, with [`super::TrapKind::Cancelled`]; a parallel
    /// region ends on all of its threads. Returns at once. A call ends when its threads are in the
    /// guest's own code, or wait for each other: a function of the host or of a library returns
    /// first, and a lock that a thread waits for is awaited.
    ///
    /// The program may be called again. Its data are as the call left them, and locks that the call
    /// held stay held; see [after a trap](super#after-a-trap). Threads that the guest created itself
    /// go on.
    pub fn cancel(&self) {
        self.interrupts.cancel();
    }
}
