//! A running program: its image, start, main function and end.
//!
//! A program runs in one of two modes. *Native*: the process is the program. Exit handlers go to
//! the C library, a fault ends the process by its signal, and `exit` does not return. *Embedded*:
//! the program is a guest in the process of an embedder. `exit`, handlers and faults come back as
//! values.
//!
//! Main runs on the caller's thread, so that the first thread's stack limit, signals and `gettid()
//! == getpid()` are as in a native run.
//!
//! If an embedded guest calls `exit` on a thread that it created itself, the process ends, because
//! the threads of a team cannot be unwound from outside.
//!
//! This file starts a program, runs its main function and ends it. [`startup`] runs constructors,
//! [`calls`] runs the guest so that faults and exits come back, [`leaf`] finds calls that
//! need to save less, [`exits`] replaces the functions that end a program, and
//! [`devices`] announces it to devices. [`offline`] compiles a module that is not to run.

mod calls;
mod devices;
mod exits;
mod leaf;
mod offline;
mod startup;

pub use calls::signature;
pub use exits::{embedded_overrides, native_overrides};
pub use leaf::RegisterCall;
pub use offline::{baseline_listing, compile};

use super::argument_vector::ArgumentVector;
use super::cancel::Interrupts;
use super::dlfcn;
use super::exports::Exports;
use super::link::Linked;
use super::policy::{TierPolicy, Tiers};
use super::restart::{self, Restart};
use super::runtime;
use super::thread_exit::{self, Lifetime};
use exits::Handlers;
use ompvm_auto_offload as auto_offload;
use ompvm_cache::CacheEntry;
use ompvm_interp as interp;
use ompvm_ir::{GlobalRef, Type};
use ompvm_jit::tools;
use ompvm_kmpc::{hooks, lock, ompt};
use ompvm_memory::image::{Image, PlaceOptions};
use ompvm_memory::{stack, throws};
use ompvm_offload::options::OffloadOptions;
use ompvm_offload::program;
use ompvm_support::error::Error;
use ompvm_support::fp_env;
use ompvm_support::settings::Settings;
use startup::{Main, environ};
use std::ffi::CString;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Options for starting a process.
#[derive(Debug, Default)]
pub struct ProcessOptions {
    /// `argv`, the program's name first.
    pub args: Vec<CString>,
    /// Environment of the guest, set in the whole process before it starts.
    pub env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// True for the native mode, false for the embedded mode.
    pub native: bool,
    /// Size in bytes of the stack that embedded calls run on; 0 for the caller's own stack.
    pub stack: usize,
    /// Tier policy.
    pub mode: TierPolicy,
    /// The program's cache entry.
    pub cache_entry: Option<Arc<CacheEntry>>,
    /// Command that runs a native guest again when it executes itself. `None` passes such calls to
    /// the C library.
    pub restart: Option<Restart>,
    /// True if a native guest begins with denormals flushed to zero. `None` takes the module's
    /// setting.
    pub flush_denormals: Option<bool>,
    /// Settings of the tiers.
    pub settings: &'static Settings,
    /// Counts the instructions that the interpreter and the baseline tier execute.
    pub count_instructions: bool,
    /// Settings for offloading.
    pub offload: OffloadOptions,
    /// The calls that can be cancelled together with those of this program.
    pub interrupts: Option<Arc<Interrupts>>,
    /// Time that a call may take.
    pub time_limit: Option<Duration>,
    /// Instructions that the program may execute, which only the interpreter counts.
    pub fuel: Option<u64>,
}

/// A started program.
#[derive(Debug)]
pub struct Process {
    /// Dropped first, because compiled code refers to the image.
    _tiers: Tiers,
    /// Dropped before the image, to which the registration refers.
    _devices: Option<program::Registration>,
    /// Dropped before the image, to which the registration refers.
    _regions: Option<auto_offload::Registration>,
    /// Dropped before the image, to which the registration refers.
    _names: dlfcn::Registration,
    image: Arc<Image>,
    /// Declared after the image, so that libraries and host functions outlive it.
    linked: Linked,
    argv: Arc<ArgumentVector>,
    native: bool,
    stack: usize,
    handlers: Arc<Handlers>,
    interrupts: Option<Arc<Interrupts>>,
    time_limit: Option<Duration>,
    /// `None` in the native mode, in which programs are never unloaded.
    lifetime: Option<Arc<Lifetime>>,
    /// True once main has been called.
    main_called: AtomicBool,
    /// True once main has ended, so that the exit handlers have run.
    main_ended: AtomicBool,
}

// Threads of the host may call a program concurrently, as its own threads do. The state of a thread
// (guest stack, thread_local variables, activations) is created at its first call and dropped when
// it ends.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Process>();
};

/// Returns the program's own `ompt_start_tool`.
pub fn ompt_start_tool(module: &ompvm_ir::Module) -> Option<ompvm_ir::FuncId> {
    match module.symbol("ompt_start_tool") {
        Some(GlobalRef::Func(f)) if module.functions[f].body.is_some() => Some(f),
        _ => None,
    }
}

impl Process {
    /// Places a linked module, resolves its ifuncs and runs its constructors.
    ///
    /// # Errors
    /// Fails if the host refuses memory or a thread, or if a constructor faults.
    pub fn start(mut linked: Linked, options: ProcessOptions) -> Result<Process, Error> {
        for (key, value) in &options.env {
            // SAFETY: `ProcessOptions::env` documents that these variables are set for the whole
            // process. Constructors have not run, so the guest has no thread that could read them.
            unsafe { std::env::set_var(key, value) };
        }
        runtime::install_fault_handlers();
        if !options.native {
            runtime::contain_regions();
        }
        hooks::scale_stacks(stack::SCALE);
        if options.native {
            stack::grow_first();
            stack::grow_threads();
        }
        let placement = PlaceOptions {
            trace_calls: linked.traced(),
            separate_large: options.offload.mode != auto_offload::Mode::Off,
        };
        let image = Image::place(linked.module.clone(), placement, &mut |name, kind| {
            linked.resolve(name, kind)
        })?;
        if options.count_instructions {
            interp::count_instructions(&image);
        }
        if let Some(instructions) = options.fuel {
            image.fuel.fill(instructions);
        }
        linked.environment.bind_members(&image)?;
        linked.environment.bind_assembly(&image)?;
        if let Some(functions) = linked.cpp {
            image.set_cpp(throws::Library::new(functions).map_err(Error::Host)?);
        }
        if linked.traced() || lock::named::wanted() {
            // Inlined entries do not report to tools, and do not record who holds a lock.
            ompvm_llvm::native::disable_fast_paths();
        }
        if linked.traced() {
            let own = ompt_start_tool(&linked.module).and_then(|f| image.func_ref(f));
            ompt::set_guest_tool(own.map_or(0, |f| f.stub));
            tools::announce_code_addresses(&image);
        }
        if options.native
            && let Some(natives) = &mut linked.environment.natives
        {
            // Exit handlers may call native members until the process ends.
            natives.stay();
        }
        if let Some(assembly) = &mut linked.environment.assembly {
            assembly.stays = options.native;
        }
        // An embedded program's symbols do not outlive it.
        let exports = match options.native {
            true => linked.environment.exports.clone(),
            false => Exports::Nothing,
        };
        let names = dlfcn::register(&image, &linked.environment, exports);
        let registration = devices::register(&image, &options.offload)?;
        let regions = match linked.traced() {
            true => None,
            false => devices::register_regions(&image, &options.offload),
        };
        let lifetime = (!options.native).then(|| Lifetime::begin(image.serial()));
        if let Some(cache_entry) = &options.cache_entry {
            interp::attach_cache(&image, cache_entry.clone());
        }
        let tiers = Tiers::start(
            &image,
            &linked.environment.overrides,
            options.mode,
            options.native,
            options.cache_entry,
            options.settings,
        )?;
        let argv = if options.native {
            // SAFETY: the program has not started, and ompvm's own threads do not use the
            // environment. `take_over` keeps the vector for ever.
            unsafe { ArgumentVector::of_process(options.args) }
        } else {
            ArgumentVector::new(options.args)
        };
        let process = Process {
            _devices: registration,
            _regions: regions,
            _names: names,
            image,
            _tiers: tiers,
            linked,
            argv: Arc::new(argv),
            native: options.native,
            stack: options.stack,
            handlers: Arc::default(),
            interrupts: options.interrupts,
            time_limit: options.time_limit,
            lifetime,
            main_called: AtomicBool::new(false),
            main_ended: AtomicBool::new(false),
        };
        if process.native {
            process.take_over(options.restart, options.flush_denormals);
        }
        process.guarded(|p| {
            p.resolve_ifuncs();
            if p.native {
                super::interpose::apply(&p.image);
            }
            p.register_destructors();
            p.image.make_thread_locals();
            p.run_constructors();
        })?;
        Ok(process)
    }

    /// Lets the process of the host be that of the program: signals, name, floating-point
    /// environment.
    fn take_over(&self, restart: Option<Restart>, flush_denormals: Option<bool>) {
        // Rust programs start with SIGPIPE ignored; C programs do not.
        // SAFETY: restores the default action of a signal; no handler is involved.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        // Exit handlers may call guest functions and read the arguments until the process ends.
        std::mem::forget(self.image.clone());
        std::mem::forget(self.argv.clone());
        if let Some(name) = self.argv.name() {
            restart::set_process_name(name);
            if let Some(way) = restart {
                restart::set(way, name);
            }
        }
        let shown = || self.image.module.flushes_denormals();
        if flush_denormals.unwrap_or_else(shown) {
            fp_env::flush_denormals();
        }
    }

    /// Returns the placed module.
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// Returns the link result that the process was started from.
    pub fn linked(&self) -> &Linked {
        &self.linked
    }

    /// Returns the bytes of heap memory that the program holds; `None` without a limit.
    pub fn memory_used(&self) -> Option<usize> {
        let limit = self.linked.environment.heap_limit.as_ref();
        limit.map(|limit| limit.used())
    }

    /// Returns true if the program has a main function.
    pub fn has_main(&self) -> bool {
        let main = self.image.module.symbol("main");
        matches!(main, Some(GlobalRef::Func(f)) if self.image.func_ref(f).is_some())
    }

    /// Runs main, then, in the embedded mode, the exit handlers. Returns the exit status.
    ///
    /// In the native mode the caller passes the status to `exit`, which runs the handlers.
    ///
    /// # Errors
    /// Fails if there is no main function, if main has been called before, or, in the embedded mode,
    /// if the guest faults.
    pub fn run_main(&self) -> Result<i32, Error> {
        let Some(GlobalRef::Func(id)) = self.image.module.symbol("main") else {
            return Err(self.no_main());
        };
        let Some(func) = self.image.func_ref(id) else {
            return Err(self.no_main());
        };
        let (ret, _, _) = self.image.module.functions[id].signature(&self.image.module);
        let void = self.image.module.types[ret] == Type::Void;
        // SAFETY: `func.stub` is the native-callable entry of main. Every form of main may be
        // called with three arguments (psABI).
        let main = unsafe { std::mem::transmute::<usize, Main>(func.stub) };
        if self.main_called.swap(true, Ordering::Relaxed) {
            return Err(Error::Host(
                "main has been called before: start the program again to run it again".into(),
            ));
        }
        let mut status = 0;
        let exited = self.guarded(|p| {
            ompt::decide();
            // SAFETY: `environ` is read as the C library's start-up code reads it; `argv` is
            // null-terminated and lives as long as the process.
            status = unsafe { main(p.argv.count(), p.argv.as_ptr(), environ) };
        })?;
        self.main_ended.store(true, Ordering::Relaxed);
        match exited {
            Some(s) => Ok(s),
            None => {
                let status = if void { 0 } else { status };
                if self.native {
                    return Ok(status);
                }
                self.run_handlers().map(|s| s.unwrap_or(status))
            }
        }
    }

    fn no_main(&self) -> Error {
        Error::Input {
            file: self.image.module.name.clone(),
            cause: "the program has no main function".into(),
        }
    }

    fn run_handlers(&self) -> Result<Option<i32>, Error> {
        let exited = self.guarded(|p| {
            // Destructors of this thread's objects run before those of static objects (C++17,
            // 6.9.3.4).
            thread_exit::run_own(p.image.serial());
            exits::run_exit_handlers(&p.handlers);
        });
        // SAFETY: `fflush` accepts null, for every stream.
        unsafe { libc::fflush(ptr::null_mut()) };
        exited
    }

    /// Ends the search for hot functions, for a program whose functions no longer run.
    pub fn stop_sampling(&self) {
        self._tiers.stop_sampling();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.native && self.linked.traced() {
            // A tool in the guest ends with the guest.
            let _ = self.guarded(|_| ompt::finish());
        }
        if !self.native && !self.main_ended.load(Ordering::Relaxed) {
            // A process that never ran main still has destructors. Nobody can receive their faults.
            let _ = self.run_handlers();
        }
        if let Some(lifetime) = &self.lifetime {
            lifetime.end();
        }
        interp::end_program(&self.image);
    }
}
