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

use super::argument_vector::ArgumentVector;
use super::builtins;
use super::cancel::Interrupts;
use super::dlfcn;
use super::link::Linked;
use super::policy::{TierPolicy, Tiers};
use super::restart::{self, Restart};
use super::runtime;
use super::sample;
use super::single_thread;
use super::thread_exit::{self, Lifetime};
use super::value::ValueKind;
use ompvm_auto_offload as auto_offload;
use ompvm_cache::CacheEntry;
use ompvm_interp as interp;
use ompvm_ir::{Function, GlobalRef, Type};
use ompvm_jit::tools;
use ompvm_kmpc::{hooks, lock, ompt};
use ompvm_memory::activation::{self, Activation, Exit};
use ompvm_memory::fuel::Share;
use ompvm_memory::image::{Image, PlaceOptions};
use ompvm_memory::stack::{self, Stack};
use ompvm_memory::{func, heap};
use ompvm_memory::{signals, thread, throws};
use ompvm_offload::options::OffloadOptions;
use ompvm_offload::program;
use ompvm_support::error::{Error, Trap, TrapKind};
use ompvm_support::fp_env;
use ompvm_support::settings::Settings;
use parking_lot::Mutex;
use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;
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

/// A handler of `atexit` or `__cxa_atexit`.
struct Handler {
    run: unsafe extern "C-unwind" fn(*mut c_void),
    arg: usize,
}

/// Handlers of an embedded guest; the last one runs first.
#[derive(Default)]
struct Handlers(Mutex<Vec<Handler>>);

impl std::fmt::Debug for Handlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} handlers", self.0.lock().len())
    }
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
    ended: bool,
}

// Threads of the host may call a program concurrently, as its own threads do. The state of a thread
// (guest stack, thread_local variables, activations) is created at its first call and dropped when
// it ends.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Process>();
};

/// State that takes an embedded run on this thread back to its start.
struct EmbeddedRun {
    act: Activation,
    /// Handlers of the process, which outlives the run.
    handlers: *const Handlers,
    /// Serial number of the process's image.
    serial: u64,
}

/// Returns the innermost run of an embedded program on this thread; null if there is none.
fn embedded_run() -> *mut EmbeddedRun {
    // SAFETY: null, or this thread's state.
    let state = unsafe { thread::current_or_null().as_ref() };
    state.map_or(ptr::null_mut(), |state| state.embedded_run.cast())
}

thread_local! {
    /// The stack of this thread's last embedded call, and its size.
    static STACK: Cell<Option<(usize, Stack)>> = const { Cell::new(None) };
}

/// Calls `f` on a stack of `bytes` bytes.
fn on_stack<R>(bytes: usize, f: impl FnOnce() -> R) -> Result<R, Error> {
    let stack = match STACK.take() {
        Some((size, stack)) if size == bytes => stack,
        _ => Stack::new(bytes)
            .map_err(|why| Error::Host(format!("no memory for a stack of {bytes} bytes: {why}")))?,
    };
    let result = stack.call(f);
    STACK.set(Some((bytes, stack)));
    Ok(result)
}

type Main = extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
    fn __cxa_atexit(
        f: extern "C-unwind" fn(*mut c_void),
        arg: *mut c_void,
        dso: *mut c_void,
    ) -> c_int;
}

/// Returns the program's own `ompt_start_tool`.
pub fn ompt_start_tool(module: &ompvm_ir::Module) -> Option<ompvm_ir::FuncId> {
    match module.symbol("ompt_start_tool") {
        Some(GlobalRef::Func(f)) if module.functions[f].body.is_some() => Some(f),
        _ => None,
    }
}

/// Compiles a linked module into a cache without running any of it. Returns a sentence for each
/// function that LLVM cannot compile.
///
/// # Errors
/// Fails if the host refuses memory or a thread.
pub fn compile(
    linked: &Linked,
    cache_entry: Arc<CacheEntry>,
    settings: &Settings,
) -> Result<Vec<String>, Error> {
    let placement = PlaceOptions::default();
    let image = Image::place(linked.module.clone(), placement, &mut |name, kind| {
        linked.resolve(name, kind)
    })?;
    let overrides = &linked.environment.overrides;
    let entry = Some(cache_entry);
    let tiers = Tiers::start(&image, overrides, TierPolicy::Opt, false, entry, settings)?;
    Ok(tiers.impossible())
}

/// Returns the machine code that the baseline compiler makes of a function as text, without running
/// any of the module.
///
/// # Errors
/// Fails if the module does not define the function, if the compiler leaves it to the interpreter,
/// or if the host refuses memory.
pub fn baseline_listing(linked: &Linked, function: &str) -> Result<String, Error> {
    let module = &linked.module;
    let wrong = |cause: String| Error::Input {
        file: module.name.clone(),
        cause,
    };
    let Some(GlobalRef::Func(id)) = module.symbol(function) else {
        return Err(wrong(format!("it has no function `{function}`")));
    };
    let placement = PlaceOptions::default();
    let image = Image::place(module.clone(), placement, &mut |name, kind| {
        linked.resolve(name, kind)
    })?;
    let Some(func) = image.func_ref(id) else {
        return Err(wrong(format!(
            "it does not define the function `{function}`"
        )));
    };
    ompvm_baseline::listing(interp::lower_function(func)).ok_or_else(|| {
        wrong(format!(
            "`{function}` stays interpreted in the baseline tier"
        ))
    })
}

/// Registers the offload entries and device images of a placed program.
fn register(
    image: &Image,
    options: &OffloadOptions,
) -> Result<Option<program::Registration>, Error> {
    let module = &image.module;
    let (mut entries, mut images) = (Vec::new(), Vec::new());
    for (id, global) in &module.globals {
        let Some(init) = global.init else {
            continue;
        };
        let size = module.layout(global.ty).size as usize;
        match global.section.as_deref() {
            Some("llvm_offload_entries") => entries.push(program::SectionPiece {
                start: image.global_address(id),
                size,
            }),
            // This section is not placed in memory: only we read it.
            Some(".llvm.offloading") => {
                let mut bytes = vec![0; size];
                image.const_to_memory(init, &mut bytes);
                images.push(bytes);
            }
            _ => {}
        }
    }
    // SAFETY: the entries are placed variables, which live as long as the image. The `Process`
    // drops the registration before the image.
    unsafe { program::register(&module.name, &entries, &images, options) }
}

/// Registers the regions of a placed program that may run on devices.
fn register_regions(image: &Image, options: &OffloadOptions) -> Option<auto_offload::Registration> {
    if options.mode == auto_offload::Mode::Off {
        return None;
    }
    let module = &image.module;
    let mut contents = auto_offload::ProgramParts {
        name: module.name.clone(),
        files: module.files.to_vec(),
        ..auto_offload::ProgramParts::default()
    };
    for (id, function) in &module.functions {
        if let Some(f) = image.func_ref(id) {
            contents.functions.push((function.name.to_string(), f.stub));
        }
    }
    for (id, global) in &module.globals {
        let address = image.global_address(id);
        let hidden = global.name.starts_with("llvm.") || global.thread_local;
        if address == 0 || hidden || global.init.is_none() {
            continue;
        }
        let name = global.name.to_string();
        if global.constant {
            contents.constants.push((name, address));
        } else {
            let size = module.layout(global.ty).size as usize;
            contents.variables.push((name, address, size));
        }
    }
    auto_offload::register(contents, options)
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
        let names = dlfcn::register(&image, &linked.environment);
        let registration = register(&image, &options.offload)?;
        let regions = match linked.traced() {
            true => None,
            false => register_regions(&image, &options.offload),
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
            ended: false,
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
            0
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

    fn resolve_ifuncs(&self) {
        for (id, ifunc) in &self.image.module.ifuncs {
            let resolver = self.image.eval(ifunc.resolver) as usize;
            // SAFETY: the module declares the function as an ifunc resolver, which takes nothing
            // and returns an address.
            let f =
                unsafe { std::mem::transmute::<usize, extern "C-unwind" fn() -> usize>(resolver) };
            self.image.set_ifunc(id, f());
        }
    }

    fn run_constructors(&self) {
        if self.native {
            // Floating-point exceptions of our own start are not the program's.
            fp_env::forget_exceptions();
        }
        let natives = self.linked.environment.natives.as_ref();
        let guest = self.image.module.ctors.iter();
        let guest = guest.map(|c| self.image.eval(c.func) as usize);
        let assembly = self.linked.environment.assembly.as_ref();
        let own = assembly.map_or(Vec::new(), |a| a.listed(".init_array"));
        let before = natives.map_or(&[][..], |n| n.before());
        let after = natives.map_or(&[][..], |n| n.after());
        for address in before
            .iter()
            .copied()
            .chain(guest)
            .chain(own)
            .chain(after.iter().copied())
        {
            // SAFETY: the addresses are constructors. glibc gives them main's arguments; those that
            // take none ignore them.
            unsafe {
                let f = std::mem::transmute::<usize, Main>(address);
                f(self.argv.count(), self.argv.as_ptr(), environ);
            }
        }
    }

    fn register_destructors(&self) {
        let natives = self.linked.environment.natives.as_ref();
        let guest = self.image.module.dtors.iter().rev();
        let guest = guest.map(|d| self.image.eval(d.func) as usize);
        // The handler registered last runs first: the members' destructors run after the guest's.
        let mut members: Vec<usize> = natives.map_or(Vec::new(), |n| n.destructors().collect());
        members.reverse();
        for address in members.into_iter().chain(guest) {
            // SAFETY: the addresses are destructors, which take nothing and ignore the argument.
            unsafe {
                let run = std::mem::transmute::<usize, extern "C-unwind" fn(*mut c_void)>(address);
                if self.native {
                    __cxa_atexit(run, ptr::null_mut(), ptr::null_mut());
                } else {
                    self.handlers.0.lock().push(Handler { run, arg: 0 });
                }
            }
        }
    }

    /// Runs `f`, which runs guest code. In the embedded mode exits and faults come back as values.
    /// Allocates nothing, because this is most of the cost of an empty call from Rust.
    #[inline]
    fn guarded(&self, f: impl FnOnce(&Process) -> usize) -> Result<Option<i32>, Error> {
        match self.stack {
            0 => self.guarded_here(f),
            bytes => on_stack(bytes, || self.guarded_here(f))?,
        }
    }

    /// Does the work of [`Self::guarded`] on the current stack.
    fn guarded_here(&self, f: impl FnOnce(&Process) -> usize) -> Result<Option<i32>, Error> {
        let state = thread::current();
        // SAFETY: this thread's state.
        unsafe { heap::record_allocations(state) };
        if self.native {
            heap::retain_free_memory();
            activation::at_stack_bottom(|| {
                f(self);
            });
            return Ok(None);
        }
        let mut run = EmbeddedRun {
            act: Activation::default(),
            handlers: &raw const *self.handlers,
            serial: self.image.serial(),
        };
        run.act.catch_traps = true;
        // SAFETY: this thread's state, which lives as long as the thread.
        let (exception_snapshot, outer) = unsafe {
            let run = (&raw mut run).cast();
            (
                throws::exception_snapshot(state, self.image.cpp()),
                std::mem::replace(&mut (*state).embedded_run, run),
            )
        };
        let interrupts = self.interrupts.as_ref();
        let mut once = Some(|| f(self));
        // SAFETY: `run` and `once` outlive the activation. `f` runs guest code called through
        // stubs, and this function's own frames below it have nothing to drop when a jump leaves
        // them.
        let exit = unsafe {
            // Dropped in place: to move it takes a sixth of an empty call.
            let _cancellable = interrupts.map(|i| i.begin(self.time_limit));
            let tank = &self.image.fuel;
            let outer_share = tank
                .is_limited()
                .then(|| Share::begin(state, tank))
                .flatten();
            run.act.push(state);
            let exit = activation::call_contained(
                &mut run.act,
                run_closure(&once),
                (&raw mut once).cast(),
                0,
            );
            run.act.pop(state);
            Share::end(state, tank, outer_share);
            exit
        };
        // SAFETY: this thread's state.
        unsafe {
            (*state).embedded_run = outer;
            if matches!(exit, Exit::Jumped(_) | Exit::Trapped) {
                exception_snapshot.restore(state);
            }
        }
        match exit {
            Exit::Returned(_) => Ok(None),
            Exit::Jumped(status) => Ok(Some(status as i32)),
            Exit::Trapped => {
                let raw = run.act.trap.take();
                Err(raw.map_or_else(unknown_trap, signals::describe).into())
            }
            // SAFETY: the activation is popped, so the exception continues in this frame's caller.
            Exit::Unwound(e) => unsafe { activation::resume_unwind(e) },
        }
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
    /// Fails if there is no main function or, in the embedded mode, if the guest faults.
    pub fn run_main(&mut self) -> Result<i32, Error> {
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
        let mut status = 0;
        let exited = self.guarded(|p| {
            ompt::decide();
            // SAFETY: `environ` is read as the C library's start-up code reads it; `argv` is
            // null-terminated and lives as long as the process.
            status = unsafe { main(p.argv.count(), p.argv.as_ptr(), environ) };
            0
        })?;
        self.ended = true;
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
            run_exit_handlers(&p.handlers);
            0
        });
        // SAFETY: `fflush` accepts null, for every stream.
        unsafe { libc::fflush(ptr::null_mut()) };
        exited
    }

    /// Calls a function defined in the guest with scalar arguments in slot form.
    ///
    /// # Errors
    /// Fails if the function cannot be called natively or, in the embedded mode, if the guest
    /// faults or exits.
    ///
    /// # Safety
    /// The arguments and `ret` must match the signature of the guest's function.
    pub unsafe fn call(
        &self,
        id: ompvm_ir::FuncId,
        args: &[u64],
        ret: &mut u64,
    ) -> Result<(), Error> {
        let Some(func) = self.image.func_ref(id) else {
            return Err(Error::Host(
                "the function is not defined in the program".into(),
            ));
        };
        let plan = func.plan().map_err(Error::Host)?;
        let slots: Vec<*const u64> = args.iter().map(ptr::from_ref).collect();
        // SAFETY: the slots match the function's signature by this function's contract; the closure
        // has nothing to drop.
        unsafe { self.call_guest(|| plan.call(func.stub, &slots, ret)) }
    }

    /// Runs `f`, which calls a function of the guest.
    ///
    /// # Errors
    /// Fails if the guest, in the embedded mode, faults or exits.
    ///
    /// # Safety
    /// `f` must call functions of this program with arguments that match their signatures, and must
    /// hold nothing that has to be dropped if the call does not return.
    #[inline]
    pub unsafe fn call_guest(&self, f: impl FnOnce()) -> Result<(), Error> {
        // SAFETY: this function's contract is the callee's.
        match unsafe { self.call_until_exit(f) }? {
            None => Ok(()),
            Some(status) => Err(exit_in_call(status)),
        }
    }

    /// Runs `f`, which calls a function of the guest. Returns the status if the guest, in the
    /// embedded mode, calls `exit`.
    ///
    /// # Errors
    /// Fails if the guest, in the embedded mode, faults.
    ///
    /// # Safety
    /// The contract of [`Self::call_guest`].
    #[inline]
    pub unsafe fn call_until_exit(&self, f: impl FnOnce()) -> Result<Option<i32>, Error> {
        self.guarded(|_| {
            f();
            0
        })
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
            let _ = self.guarded(|_| {
                ompt::finish();
                0
            });
        }
        if !self.native && !self.ended {
            // A process that never ran main still has destructors. Nobody can receive their faults.
            let _ = self.run_handlers();
        }
        if let Some(lifetime) = &self.lifetime {
            lifetime.end();
        }
        interp::end_program(&self.image);
    }
}

#[cold]
fn exit_in_call(status: i32) -> Error {
    Error::Host(format!("the guest exited with status {status}"))
}

/// Returns the kinds of a function's parameters and result if all are scalars.
pub fn signature(
    module: &ompvm_ir::Module,
    function: &Function,
) -> Option<(Vec<ValueKind>, ValueKind)> {
    let (ret, params, variadic) = function.signature(module);
    if variadic {
        return None;
    }
    let params = params
        .iter()
        .map(|&t| ValueKind::from_type(&module.types[t]))
        .collect::<Option<Vec<_>>>()?;
    Some((params, ValueKind::from_type(&module.types[ret])?))
}

fn unknown_trap() -> Trap {
    Trap {
        kind: TrapKind::Abort,
        detail: None,
        place: None,
        function: None,
        thread: None,
        region: None,
    }
}

/// Returns an entry that runs a `FnOnce` of the type of `_f`.
fn run_closure<F: FnOnce() -> usize>(
    _f: &Option<F>,
) -> extern "C-unwind" fn(*mut c_void, usize) -> usize {
    extern "C-unwind" fn go<F: FnOnce() -> usize>(f: *mut c_void, _: usize) -> usize {
        // SAFETY: `guarded_here` passes the address of its live `Option<F>`.
        let f = unsafe { (*f.cast::<Option<F>>()).take() };
        f.map_or(0, |f| f())
    }
    go::<F>
}

fn run_exit_handlers(handlers: &Handlers) {
    loop {
        // A handler may register further handlers.
        let Some(h) = handlers.0.lock().pop() else {
            return;
        };
        // SAFETY: the guest registered the handler with this argument.
        unsafe { (h.run)(ptr::with_exposed_provenance_mut(h.arg)) };
    }
}

// Replacements of C library functions for an embedded guest.

extern "C-unwind" fn embedded_exit(status: c_int) -> ! {
    let run = embedded_run();
    if run.is_null() {
        // SAFETY: `exit` has no preconditions. The guest created this thread, so the process ends.
        unsafe { libc::exit(status) }
    }
    // SAFETY: the pointer leads to the run of an outer frame on this thread, which is live and
    // whose activation is pushed.
    unsafe {
        thread_exit::run_own((*run).serial);
        run_exit_handlers(&*(*run).handlers);
        libc::fflush(ptr::null_mut());
        activation::jump(&raw const (*run).act, status as usize)
    }
}

extern "C-unwind" fn embedded_quick_exit(status: c_int) -> ! {
    let run = embedded_run();
    if run.is_null() {
        // SAFETY: `_exit` has no preconditions.
        unsafe { libc::_exit(status) }
    }
    // SAFETY: the pointer leads to the run of an outer frame on this thread, which is live and
    // whose activation is pushed.
    unsafe { activation::jump(&raw const (*run).act, status as usize) }
}

extern "C-unwind" fn embedded_cxa_atexit(
    run: extern "C-unwind" fn(*mut c_void),
    arg: *mut c_void,
    _dso: *mut c_void,
) -> c_int {
    let current = embedded_run();
    if current.is_null() {
        return -1;
    }
    // SAFETY: the pointer leads to the run of an outer frame on this thread; its process
    // outlives it.
    let handlers = unsafe { &*(*current).handlers };
    handlers.0.lock().push(Handler {
        run,
        arg: arg.expose_provenance(),
    });
    0
}

extern "C-unwind" fn embedded_atexit(run: extern "C-unwind" fn(*mut c_void)) -> c_int {
    embedded_cxa_atexit(run, ptr::null_mut(), ptr::null_mut())
}

/// Implements `__cxa_thread_atexit` (Itanium C++ ABI, 3.3.5).
extern "C-unwind" fn embedded_thread_atexit(
    run: thread_exit::Destructor,
    arg: *mut c_void,
    _dso: *mut c_void,
) -> c_int {
    let program = func::from_address(run as usize).map(|f| f.image().serial());
    let registered = program.and_then(|serial| thread_exit::register(serial, run, arg));
    // A destructor in a library remains valid as long as the library, so the C library keeps it.
    registered.unwrap_or_else(|| builtins::thread_atexit(run, arg))
}

extern "C-unwind" fn native_quick_exit(status: c_int) -> ! {
    sample::end_sampling();
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(status) }
}

/// Returns the names that are replaced for a native guest. An end without exit handlers is an end
/// of the run, too, and executing the program's own file runs it again.
pub fn native_overrides() -> hashbrown::HashMap<&'static str, usize> {
    let address = native_quick_exit as *const () as usize;
    let ends = ["_exit", "_Exit"].map(|name| (name, address));
    let single = single_thread::overrides();
    ends.into_iter()
        .chain(restart::overrides())
        .chain(single)
        .collect()
}

/// Returns the names that are replaced for an embedded guest.
pub fn embedded_overrides() -> hashbrown::HashMap<&'static str, usize> {
    [
        ("exit", embedded_exit as *const () as usize),
        ("_exit", embedded_quick_exit as *const () as usize),
        ("_Exit", embedded_quick_exit as *const () as usize),
        ("quick_exit", embedded_quick_exit as *const () as usize),
        ("__cxa_atexit", embedded_cxa_atexit as *const () as usize),
        ("atexit", embedded_atexit as *const () as usize),
        (
            "__cxa_thread_atexit",
            embedded_thread_atexit as *const () as usize,
        ),
        (
            "__cxa_thread_atexit_impl",
            embedded_thread_atexit as *const () as usize,
        ),
    ]
    .into_iter()
    .collect()
}
