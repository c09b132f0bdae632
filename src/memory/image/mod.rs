//! A module placed in memory: addresses of its symbols, initial values, thread_local template.
//!
//! Guest pointers are host pointers, so an image is built as a static linker and loader would: one
//! mapping for variables, one for constants (read-only afterwards, so a write faults as it does
//! natively), a stub per defined function, and the process's own addresses for symbols that are
//! only declared. Zero-initialized variables are never touched, so large ones cost no memory.
//!
//! [`data_layout`] gives variables their offsets, [`constants`] evaluates their initial values. The
//! caller resolves undefined symbols (`tier::link`) and runs the constructors.

mod constants;
mod data_layout;
mod library_variable;
mod mapping;

pub use data_layout::LARGE;
pub use library_variable::{LibraryVariable, library_variable};
pub(super) use mapping::Mapping;

use crate::code_addresses::CodeAddresses;
use crate::fuel::Tank;
use crate::func::{FuncRef, StubKind, Stubs};
use crate::huge;
use crate::linker_symbols::ProgramLayout;
use crate::signal_safe::SignalSafe;
use crate::thread;
use crate::throws;
use cranelift_entity::{EntityRef, SecondaryMap};
use data_layout::{DataLayout, is_defined};
use hashbrown::HashMap;
use ompvm_ir::{
    AliasId, Const, ConstId, FuncId, GlobalId, GlobalRef, IFuncId, Linkage, Module, ParamAttrs,
    Xtor,
};
use ompvm_support::error::Error;
use ompvm_support::log;
use once_cell::race::OnceBox;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Value of [`Image::interpreted_first`] if only LLVM compiles the functions.
pub const NEVER_COMPILED: u32 = u32::MAX;

/// The kind of a symbol to resolve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A variable.
    Variable,
    /// A thread_local variable. Only its existence matters.
    ThreadLocal,
}

/// A jump to a function that 32-bit distances do not reach, with the cell that it reads.
#[derive(Debug)]
struct FarJump {
    stubs: Stubs,
    _target: Box<AtomicUsize>,
}

/// A placed module.
#[derive(Debug)]
pub struct Image {
    /// The module.
    pub module: Arc<Module>,
    /// The defined functions.
    pub funcs: Box<[FuncRef]>,
    /// One more than the index into `funcs`; 0 if the function is not defined here.
    func_index: SecondaryMap<FuncId, u32>,
    /// Addresses of functions that are not defined here.
    native: SecondaryMap<FuncId, usize>,
    globals: SecondaryMap<GlobalId, usize>,
    /// One more than the offset in the thread's block; 0 if the variable is not in it.
    tls_offsets: SecondaryMap<GlobalId, usize>,
    /// The thread_local variables that are defined elsewhere, at fixed addresses.
    library_variables: HashMap<GlobalId, Box<LibraryVariable>>,
    tls_init: Box<[u8]>,
    tls_align: usize,
    stubs: Stubs,
    ifunc_cells: Box<[AtomicUsize]>,
    /// Jumps to functions of libraries, by their addresses; see [`Image::nearby_jump`].
    jumps: Mutex<HashMap<usize, FarJump>>,
    /// Addresses of labels and, if tools trace calls, of call sites.
    pub code_addresses: CodeAddresses,
    data: Mapping,
    constants: Mapping,
    serial: u64,
    /// The cell in which compiled code finds a thread's block, chosen at the first use.
    fast_tls: OnceLock<Option<usize>>,
    /// The C++ library that the module was linked with, unless it is the process's own.
    cpp: OnceLock<throws::Library>,
    /// Executions of a function's entry and loops before the tier below LLVM compiles it;
    /// [`NEVER_COMPILED`] if it does not. Set before the first call.
    pub interpreted_first: AtomicU32,
    /// True if the interpreter counts the instructions of functions that it lowers.
    pub counts_instructions: AtomicBool,
    /// The instructions that the program may execute in the interpreter. A limit is set before the
    /// first function is lowered.
    pub fuel: Tank,
}

// SAFETY: the FuncRefs' raw pointers lead back to this image; everything else is immutable after
// `place`, atomic, or behind a lock. The guest's threads share the guest's data as natively.
unsafe impl Send for Image {}
// SAFETY: the same argument as for `Send`.
unsafe impl Sync for Image {}

const PAGE: usize = 4096;
/// Returns true for LLVM's own bookkeeping symbols (`llvm.used`, intrinsics).
fn is_internal(name: &str) -> bool {
    name.starts_with("llvm.")
}

/// Returns true if fresh zeroed memory already has this initial value.
fn is_zero(module: &Module, id: ConstId) -> bool {
    matches!(
        module.consts[id],
        Const::Zero | Const::Null | Const::Undef | Const::Poison | Const::Int(0)
    )
}

/// Choices for the placement of a module.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlaceOptions {
    /// Gives call sites addresses for tools that trace calls.
    pub trace_calls: bool,
    /// Gives variables of at least [`LARGE`] bytes pages of their own, which can be protected.
    pub separate_large: bool,
}

/// Addresses of a module's symbols.
#[derive(Default)]
struct Symbols {
    /// The defined functions.
    defined: Vec<FuncId>,
    /// As [`Image::func_index`].
    func_index: SecondaryMap<FuncId, u32>,
    /// As [`Image::native`].
    native: SecondaryMap<FuncId, usize>,
    globals: SecondaryMap<GlobalId, usize>,
    /// Names of symbols without an address.
    unresolved: Vec<String>,
}

/// Returns the address of a symbol that the module does not define.
type Resolve<'a> = dyn FnMut(&str, SymbolKind) -> Option<usize> + 'a;

impl Symbols {
    /// Numbers the defined functions and resolves the others. A definition that another module has,
    /// too (`available_externally`), counts only if that one is not found.
    fn add_functions(
        &mut self,
        module: &Module,
        bounds: Option<&ProgramLayout>,
        resolve: &mut Resolve<'_>,
    ) {
        for (id, f) in &module.functions {
            if is_internal(&f.name) {
                continue;
            }
            let here = f.body.is_some();
            if here && f.linkage != Linkage::AvailableExternally {
                self.defined.push(id);
                continue;
            }
            let bound = || bounds.and_then(|b| b.address(&f.name));
            match resolve(&f.name, SymbolKind::Function).or_else(bound) {
                Some(address) => self.native[id] = address,
                None if here => self.defined.push(id),
                None if f.linkage == Linkage::ExternWeak => {}
                None => self.unresolved.push(f.name.to_string()),
            }
        }
        // Stubs of one section are adjacent.
        self.defined
            .sort_by_key(|&id| module.functions[id].section.as_deref());
        for (i, &id) in (1..).zip(&self.defined) {
            self.func_index[id] = i;
        }
    }

    /// Returns the address of a bound (`__start_NAME`, `__stop_NAME`) of a section of functions.
    fn function_bound(&self, module: &Module, stubs: &Stubs, name: &str) -> Option<usize> {
        let (start, section) = match name.strip_prefix("__start_") {
            Some(section) => (true, section),
            None => (false, name.strip_prefix("__stop_")?),
        };
        let is_inside = |&id: &FuncId| module.functions[id].section.as_deref() == Some(section);
        let mut all = self.defined.iter();
        match start {
            true => all.position(is_inside).map(|first| stubs.address(first)),
            false => all.rposition(is_inside).map(|last| stubs.end(last)),
        }
    }

    /// Gives the module's own variables and constants their addresses.
    fn place_variables(
        &mut self,
        module: &Module,
        layout: &DataLayout,
        data: usize,
        constants: usize,
    ) {
        let mut large = Vec::new();
        for &(id, offset) in &layout.data {
            self.globals[id] = data + offset;
            let global = &module.globals[id];
            let size = module.layout(global.ty).size as usize;
            if size >= huge::LARGE && global.init.is_some_and(|i| is_zero(module, i)) {
                large.push((self.globals[id], size));
            }
        }
        huge::advise(&large);
        for &(id, offset) in &layout.constants {
            self.globals[id] = constants + offset;
        }
    }

    /// Resolves the variables that the module does not define.
    fn resolve_variables(
        &mut self,
        module: &Module,
        (layout, stubs): (&DataLayout, &Stubs),
        bounds: Option<&ProgramLayout>,
        resolve: &mut Resolve<'_>,
    ) {
        for (id, g) in &module.globals {
            if is_internal(&g.name) || is_defined(module, id) {
                continue;
            }
            let kind = if g.thread_local {
                SymbolKind::ThreadLocal
            } else {
                SymbolKind::Variable
            };
            let found = resolve(&g.name, kind)
                .or_else(|| layout.section_bound(&g.name, &self.globals))
                .or_else(|| self.function_bound(module, stubs, &g.name))
                .or_else(|| bounds.and_then(|b| b.address(&g.name)));
            match found {
                Some(address) => self.globals[id] = address,
                None if g.linkage == Linkage::ExternWeak => {}
                None => self.unresolved.push(g.name.to_string()),
            }
        }
    }
}

/// Returns the reference of a defined function that has no code yet. Its image is set later.
fn new_function(module: &Module, id: FuncId, stub: usize) -> FuncRef {
    let function = &module.functions[id];
    let (ret, types, _) = function.signature(module);
    let types = types.iter().copied();
    let all = types.clone().chain([ret]);
    let none = ParamAttrs::default();
    let attrs = function.params.iter().chain(std::iter::repeat(&none));
    FuncRef {
        stub,
        entry: AtomicUsize::new(super::abi::first_entry(module, all)),
        code: AtomicPtr::new(ptr::null_mut()),
        id,
        fingerprint: super::abi::fingerprint(module, types.zip(attrs), ret),
        called: AtomicBool::new(false),
        handles_signals: AtomicBool::new(false),
        direct: AtomicUsize::new(0),
        image: ptr::null(),
        plan: OnceBox::new(),
    }
}

/// Returns the thread_local variables without an offset.
fn library_variables(
    module: &Module,
    offsets: &SecondaryMap<GlobalId, usize>,
) -> HashMap<GlobalId, Box<LibraryVariable>> {
    let all = module.globals.iter();
    let elsewhere = all.filter(|(id, g)| g.thread_local && offsets[*id] == 0);
    elsewhere
        .map(|(id, g)| (id, Box::new(LibraryVariable::new(&g.name))))
        .collect()
}

impl Image {
    /// Places a module in memory. `resolve` returns addresses of symbols that it does not define.
    ///
    /// # Errors
    /// All unresolved symbols at once, or the reason why the host refused memory.
    pub fn place(
        module: Arc<Module>,
        options: PlaceOptions,
        resolve: &mut dyn FnMut(&str, SymbolKind) -> Option<usize>,
    ) -> Result<Arc<Image>, Error> {
        let layout = DataLayout::new(&module, options.separate_large);
        let (constants, data, bounds) = layout.map(&module)?;
        let mut symbols = Symbols::default();
        symbols.add_functions(&module, bounds.as_ref(), resolve);
        let first_constant = constants.base + bounds.map_or(0, |b| b.head);
        symbols.place_variables(&module, &layout, data.base, first_constant);
        let len = symbols.defined.len() + module.ifuncs.len();
        let stubs = Stubs::new(len).map_err(Error::Host)?;
        symbols.resolve_variables(&module, (&layout, &stubs), bounds.as_ref(), resolve);
        if !symbols.unresolved.is_empty() {
            symbols.unresolved.sort();
            return Err(Error::Unresolved(symbols.unresolved));
        }
        let defined = symbols.defined;
        let code_addresses = CodeAddresses::new(&module, options.trace_calls)?;
        let reference = |(i, &id)| new_function(&module, id, stubs.address(i));
        let funcs: Box<[FuncRef]> = defined.iter().enumerate().map(reference).collect();
        /// The next serial number: threads cache blocks of images of the whole process by it.
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let mut image = Arc::new(Image {
            funcs,
            func_index: symbols.func_index,
            native: symbols.native,
            globals: symbols.globals,
            library_variables: library_variables(&module, &layout.tls_offsets),
            tls_offsets: layout.tls_offsets,
            tls_init: vec![0; layout.tls_len].into(),
            tls_align: layout.tls_align,
            stubs,
            jumps: Mutex::default(),
            ifunc_cells: module.ifuncs.keys().map(|_| AtomicUsize::new(0)).collect(),
            code_addresses,
            data,
            constants,
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            fast_tls: OnceLock::new(),
            cpp: OnceLock::new(),
            interpreted_first: AtomicU32::new(NEVER_COMPILED),
            counts_instructions: AtomicBool::new(false),
            fuel: Tank::default(),
            module,
        });
        let address = Arc::as_ptr(&image);
        let this = Arc::get_mut(&mut image)
            .unwrap_or_else(|| ompvm_support::bug!("a new image is shared"));
        for f in &mut this.funcs {
            f.image = address;
        }
        this.write_stubs()?;
        this.initialize(&layout.data)?;
        this.initialize(&layout.constants)?;
        this.initialize_tls();
        if let Some(bounds) = bounds {
            let addresses = |list: &[Xtor]| -> Vec<usize> {
                list.iter().map(|x| this.eval(x.func) as usize).collect()
            };
            let (constructors, destructors) =
                (addresses(&this.module.ctors), addresses(&this.module.dtors));
            // SAFETY: `DataLayout::map` made the mapping with this layout; it is not shared yet.
            unsafe { bounds.write(&constructors, &destructors) };
        }
        this.log_placement();
        this.constants.make_read_only();
        Ok(image)
    }

    fn log_placement(&self) {
        tracing::debug!(
            target: log::MEMORY,
            functions = self.funcs.len(),
            data = ?self.data.base as *const (),
            data_bytes = self.data.len,
            constants = ?self.constants.base as *const (),
            constant_bytes = self.constants.len,
            thread_local_bytes = self.tls_init.len(),
            "placed an image"
        );
    }

    fn write_stubs(&self) -> Result<(), Error> {
        let functions = self
            .funcs
            .iter()
            .map(|f| StubKind::Function(ptr::from_ref(f)));
        let jumps = self
            .ifunc_cells
            .iter()
            .map(|c| StubKind::Jump(ptr::from_ref(c)));
        let kinds: Vec<_> = functions.chain(jumps).collect();
        self.stubs.write(&kinds).map_err(Error::Host)
    }

    fn initialize(&self, list: &[(GlobalId, usize)]) -> Result<(), Error> {
        for &(id, _) in list {
            let g = &self.module.globals[id];
            let Some(init) = g.init else { continue };
            if is_zero(&self.module, init) {
                continue;
            }
            let len = self.module.layout(g.ty).size as usize;
            // SAFETY: the variable lies in a mapping of this image, which is not shared yet.
            let out = unsafe {
                std::slice::from_raw_parts_mut(
                    ptr::with_exposed_provenance_mut(self.globals[id]),
                    len,
                )
            };
            self.const_to_memory(init, out);
        }
        Ok(())
    }

    fn initialize_tls(&mut self) {
        let mut bytes = std::mem::take(&mut self.tls_init);
        for (id, g) in &self.module.globals {
            if let (Some(offset), Some(init)) = (self.tls_offset(id), g.init) {
                let len = self.module.layout(g.ty).size as usize;
                self.const_to_memory(init, &mut bytes[offset..offset + len]);
            }
        }
        self.tls_init = bytes;
    }

    /// Sets the module's own C++ library. Must be called before any of its code runs.
    pub fn set_cpp(&self, library: throws::Library) {
        let _ = self.cpp.set(library);
    }

    /// Returns the module's own C++ library; `None` if it uses the process's.
    #[inline]
    pub fn cpp(&self) -> Option<&throws::Library> {
        self.cpp.get()
    }

    /// Returns a number that no other image of the process ever had.
    #[inline]
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Returns the index of this image's cell for [`thread::fast_block`]; `None` if no cell is
    /// left.
    pub fn fast_tls(&self) -> Option<usize> {
        *self.fast_tls.get_or_init(thread::take_fast_cell)
    }

    /// Makes the calling thread's copies of thread_locals. Other threads make theirs at their first
    /// use; one that exists from the start never gets the address of a copy of an ended thread.
    pub fn make_thread_locals(&self) {
        if !self.tls_init.is_empty() {
            // SAFETY: the state is this thread's.
            unsafe { thread::tls_block(thread::current(), self) };
        }
    }

    /// Returns the initial bytes and the alignment of a thread's block of thread_locals.
    pub fn tls_template(&self) -> (&[u8], usize) {
        (&self.tls_init, self.tls_align)
    }

    /// Returns the address of a function: its stub, or its address in the process; 0 for an
    /// undefined weak one and for intrinsics.
    pub fn func_address(&self, id: FuncId) -> usize {
        match self.func_ref(id) {
            Some(f) => f.stub,
            None => self.native[id],
        }
    }

    /// Returns the reference of a function defined here.
    pub fn func_ref(&self, id: FuncId) -> Option<&FuncRef> {
        let n = self.func_index[id];
        if n == 0 {
            None
        } else {
            Some(&self.funcs[n as usize - 1])
        }
    }

    /// Returns start and length of the functions, the constants and the data.
    pub fn segments(&self) -> [(usize, usize); 3] {
        let [constants, data] = [&self.constants, &self.data].map(|m| (m.base, m.len));
        [self.stubs.pages(), constants, data]
    }

    /// Returns the address of a variable that is not thread_local; 0 for an undefined weak one.
    pub fn global_address(&self, id: GlobalId) -> usize {
        self.globals[id]
    }

    /// Returns the offset of a thread_local variable in the thread's block, if it is defined here.
    pub fn tls_offset(&self, id: GlobalId) -> Option<usize> {
        self.tls_offsets[id].checked_sub(1)
    }

    /// Returns this thread's address of a thread_local variable, wherever it is defined.
    pub fn tls_address(&self, id: GlobalId) -> usize {
        if let Some(offset) = self.tls_offset(id) {
            // SAFETY: `current` returns this thread's state.
            return unsafe { thread::tls_block(thread::current(), self) } as usize + offset;
        }
        self.library_variable(id)
            .map_or(0, LibraryVariable::address)
    }

    /// Returns a thread_local variable that is defined elsewhere.
    pub fn library_variable(&self, id: GlobalId) -> Option<&LibraryVariable> {
        self.library_variables.get(&id).map(|v| &**v)
    }

    /// Returns the address of any symbol that is not thread_local.
    pub fn symbol_address(&self, symbol: GlobalRef) -> usize {
        match symbol {
            GlobalRef::Func(f) => self.func_address(f),
            GlobalRef::Var(g) => self.global_address(g),
            GlobalRef::Alias(a) => self.alias_address(a),
            GlobalRef::IFunc(i) => self.ifunc_address(i),
        }
    }

    /// Returns the address of an alias.
    pub fn alias_address(&self, id: AliasId) -> usize {
        self.eval(self.module.aliases[id].target) as usize
    }

    /// Returns the address of an ifunc: a stub that jumps to the target that [`Image::set_ifunc`]
    /// stored.
    pub fn ifunc_address(&self, id: IFuncId) -> usize {
        self.stubs.address(self.funcs.len() + id.index())
    }

    /// Stores the target that an ifunc's resolver returned.
    pub fn set_ifunc(&self, id: IFuncId, target: usize) {
        self.ifunc_cells[id.index()].store(target, Ordering::Release);
    }

    /// Returns the target that an ifunc's resolver returned; 0 before that.
    pub fn ifunc_target(&self, id: IFuncId) -> usize {
        self.ifunc_cells[id.index()].load(Ordering::Acquire)
    }

    /// Returns the symbol at the end of a chain of aliases, or the last alias if its target is no
    /// symbol.
    pub fn resolve_alias(&self, symbol: GlobalRef) -> GlobalRef {
        let mut symbol = symbol;
        while let GlobalRef::Alias(a) = symbol {
            match self.module.consts[self.module.aliases[a].target] {
                Const::Global(next) => symbol = next,
                _ => break,
            }
        }
        symbol
    }

    /// Returns an address among the stubs that jumps to the function at `target`, as an entry of a
    /// native linker's procedure linkage table does; `None` if memory is short.
    fn nearby_jump(&self, target: usize) -> Option<usize> {
        let _section = SignalSafe::enter();
        let mut jumps = self.jumps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(jump) = jumps.get(&target) {
            return Some(jump.stubs.address(0));
        }
        let stubs = Stubs::new(1).ok()?;
        let cell = Box::new(AtomicUsize::new(target));
        stubs.write(&[StubKind::Jump(&raw const *cell)]).ok()?;
        let address = stubs.address(0);
        let jump = FarJump {
            stubs,
            _target: cell,
        };
        jumps.insert(target, jump);
        Some(address)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        thread::forget_image(self.serial);
    }
}
