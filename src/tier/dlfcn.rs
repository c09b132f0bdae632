//! The program's symbols for run-time queries: `dlsym`, `dladdr`, `backtrace_symbols`.
//!
//! Natively the loader knows an executable's symbols (those of `-rdynamic`), and finds the caller
//! of `dlsym(RTLD_NEXT, ..)` by its address. The loader does not list the guest, whose code lies in
//! memory that belongs to no file. So the guest's calls of these functions are redirected here.
//! They find the program's own definitions first, then this process's replacements of library
//! functions, then the libraries. The libraries are queried from our own code, which is the
//! executable, so "next" means the same as for the guest.
//!
//! Native libraries that query a symbol of the whole program find the guest's, too
//! ([`super::interpose`] binds their calls to [`dlsym_for_libraries`]). All other queries go on to
//! the C library, with the caller's address that it inspects.
//!
//! `dl_iterate_phdr` lists the guest's functions, constants and data as the executable's segments,
//! in place of ours: garbage collectors find their roots there. As for an executable that is linked
//! at a fixed place, the lowest segment begins at the base that `dladdr` returns, and addresses are
//! offsets.
//!
//! Symbol versions of the guest are not supported.

use super::exports::{self, Exports};
use super::link::{Environment, RuntimeLookup};
use super::registry::REGISTRY;
use hashbrown::HashMap;
use ompvm_interp as interp;
use ompvm_ir::{FuncId, GlobalRef, Linkage, Module};
use ompvm_jit as jit;
use ompvm_memory::func;
use ompvm_memory::image::Image;
use std::arch::naked_asm;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::hint::black_box;
use std::ptr;
use std::sync::{Arc, MutexGuard, OnceLock, PoisonError, TryLockError};

/// A running program.
pub(super) struct RegisteredProgram {
    image: *const Image,
    runtime: fn(&str) -> RuntimeLookup,
    overrides: HashMap<&'static str, usize>,
    name: CString,
    /// Address, size and number of each named variable, sorted.
    variables: Vec<(usize, usize, u32)>,
    /// Symbol table entries returned by `dladdr1`, by address.
    entries: HashMap<usize, Box<Symbol>>,
    names: HashMap<usize, CString>,
    /// The segments reported by `dl_iterate_phdr`.
    segments: Arc<[libc::Elf64_Phdr; 4]>,
    /// The symbols that libraries may refer to, and whether the loader knows them.
    exports: Exports,
    published: Arc<OnceLock<()>>,
}

// SAFETY: `Image` is `Sync`, and the image outlives its registration.
unsafe impl Send for RegisteredProgram {}

fn programs() -> MutexGuard<'static, Vec<RegisteredProgram>> {
    let programs = &REGISTRY.symbols;
    programs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registration of a program; removes it from the list when dropped.
#[derive(Debug)]
pub struct Registration(*const Image);

// SAFETY: the pointer is only compared.
unsafe impl Send for Registration {}
// SAFETY: the pointer is only compared.
unsafe impl Sync for Registration {}

impl Drop for Registration {
    fn drop(&mut self) {
        programs().retain(|p| p.image != self.0);
    }
}

/// Registers a program's symbols until the result is dropped. `exports` are those that libraries
/// may refer to.
pub fn register(image: &Image, environment: &Environment, exports: Exports) -> Registration {
    let module = &image.module;
    let mut variables: Vec<(usize, usize, u32)> = module
        .globals
        .iter()
        .filter(|(_, g)| g.init.is_some() && !g.thread_local && is_visible(g.linkage))
        .map(|(id, g)| {
            let size = module.layout(g.ty).size as usize;
            (image.global_address(id), size.max(1), id.as_u32())
        })
        .collect();
    variables.sort_unstable();
    programs().push(RegisteredProgram {
        image,
        runtime: environment.runtime,
        overrides: environment.overrides.clone(),
        name: CString::new(module.name.as_str()).unwrap_or_default(),
        variables,
        entries: HashMap::new(),
        names: HashMap::new(),
        segments: Arc::new(segments(image)),
        exports,
        published: Arc::default(),
    });
    Registration(image)
}

fn is_visible(linkage: Linkage) -> bool {
    matches!(
        linkage,
        Linkage::External | Linkage::Weak | Linkage::LinkOnce | Linkage::Common
    )
}

/// Returns the module's definition of a name, if other files may see it.
pub(super) fn visible(module: &Module, name: &str) -> Option<GlobalRef> {
    let symbol = module.symbol(name)?;
    let (here, linkage) = match symbol {
        GlobalRef::Func(f) => (
            module.functions[f].body.is_some(),
            module.functions[f].linkage,
        ),
        GlobalRef::Var(g) => (module.globals[g].init.is_some(), module.globals[g].linkage),
        GlobalRef::Alias(a) => (true, module.aliases[a].linkage),
        GlobalRef::IFunc(i) => (true, module.ifuncs[i].linkage),
    };
    (here && is_visible(linkage)).then_some(symbol)
}

impl RegisteredProgram {
    fn image(&self) -> &Image {
        // SAFETY: the image outlives its registration, and an unregistered program is not in the
        // list.
        unsafe { &*self.image }
    }

    /// Returns the address of the program's own symbol; this thread's for a thread-local one.
    fn own_symbol(&self, name: &str) -> Option<usize> {
        let image = self.image();
        if !self.exports.are_queried(name) {
            return None;
        }
        match visible(&image.module, name)? {
            GlobalRef::Var(g) if image.module.globals[g].thread_local => Some(image.tls_address(g)),
            GlobalRef::IFunc(i) => Some(image.ifunc_target(i)),
            symbol => Some(image.symbol_address(symbol)),
        }
    }

    /// Returns the address of this process's replacement of a library function.
    fn replacement(&self, name: &str) -> Option<usize> {
        if let Some(&address) = self.overrides.get(name) {
            return Some(address);
        }
        match (self.runtime)(name) {
            RuntimeLookup::Address(address) => Some(address),
            _ => super::builtins::preferred(name),
        }
    }
}

/// Returns the handle of the whole program, as `dlopen(NULL)` does.
fn whole_program() -> *mut c_void {
    // SAFETY: a null name opens no file.
    let open = || unsafe { libc::dlopen(ptr::null(), libc::RTLD_LAZY) } as usize;
    *REGISTRY.whole_program.get_or_init(open) as *mut c_void
}

/// Returns the address of the program's symbol, or of a replacement, if the handle covers the
/// program.
fn find(handle: *mut c_void, name: &CStr) -> Option<usize> {
    let next = handle == libc::RTLD_NEXT;
    if !next && handle != libc::RTLD_DEFAULT && handle != whole_program() {
        return None;
    }
    let name = name.to_str().ok()?;
    let list = programs();
    let own = list
        .iter()
        .filter(|_| !next)
        .find_map(|p| p.own_symbol(name));
    own.or_else(|| list.iter().find_map(|p| p.replacement(name)))
}

/// Implements `dlsym` for the guest.
unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: the guest passes a handle and a C string, as to the C function.
    unsafe {
        match find(handle, CStr::from_ptr(name)) {
            Some(address) => address as *mut c_void,
            // The C library inspects its return address, so this must not become a tail call.
            None => black_box(libc::dlsym(handle, name)),
        }
    }
}

/// Implements `dlopen` for the guest: the library may refer to the program's symbols.
unsafe extern "C" fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void {
    publish_exports();
    // SAFETY: the guest passes what it would pass to the C function, which inspects its return
    // address, so this must not become a tail call.
    unsafe { black_box(libc::dlopen(name, flags)) }
}

/// Makes the exported symbols of all programs known to the loader, once.
fn publish_exports() {
    let unpublished: Vec<_> = {
        let list = programs();
        let unpublished = list.iter().filter(|p| p.published.get().is_none());
        unpublished
            .map(|p| (p.published.clone(), p.exports.definitions(p.image())))
            .collect()
    };
    // The loader must not be entered with the list locked: initializers of a library that another
    // thread opens may query it.
    for (published, symbols) in unpublished {
        published.get_or_init(|| exports::publish(&symbols));
    }
}

/// Implements `dlvsym` for the guest. The C library is called from here, as in `dlsym`.
unsafe extern "C" fn dlvsym(
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
) -> *mut c_void {
    // SAFETY: the guest passes a handle and C strings, as to the C function.
    unsafe { black_box(libc::dlvsym(handle, name, version)) }
}

/// Returns the guest's symbol for a library's query; 0 passes the query on to the C library.
unsafe extern "C" fn asked_by_library(handle: *mut c_void, name: *const c_char) -> usize {
    if handle != libc::RTLD_DEFAULT && handle != whole_program() {
        return 0;
    }
    // SAFETY: the library passes a C string, as to the C function.
    let name = unsafe { CStr::from_ptr(name) };
    let Ok(name) = name.to_str() else { return 0 };
    let list = programs();
    list.iter().find_map(|p| p.own_symbol(name)).unwrap_or(0)
}

/// Implements `dlsym` for native libraries. The C library inspects its return address, so it is
/// reached by a jump.
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym_for_libraries(
    handle: *mut c_void,
    name: *const c_char,
) -> *mut c_void {
    naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {ask}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jne 2f",
        "jmp [rip + {system}@GOTPCREL]",
        "2:",
        "ret",
        ask = sym asked_by_library,
        system = sym libc::dlsym,
    )
}

/// A symbol of the program.
struct FoundSymbol {
    program: usize,
    name: Box<str>,
    start: usize,
    size: usize,
    function: bool,
}

/// Returns the function or variable of the program that contains an address.
fn symbol_at(list: &[RegisteredProgram], address: usize) -> Option<FoundSymbol> {
    let of = |image: *const Image, id: FuncId| -> Option<FoundSymbol> {
        let program = list.iter().position(|p| ptr::eq(p.image, image))?;
        // SAFETY: the list contains the image, so it is registered and live.
        let image = unsafe { &*image };
        Some(FoundSymbol {
            program,
            name: image.module.functions[id].name.clone(),
            start: image.func_address(id),
            size: 0,
            function: true,
        })
    };
    if let Some(f) = func::containing(address) {
        return of(f.image, f.id);
    }
    if let Some((image, id)) = jit::function_at(address) {
        return of(image, id);
    }
    if let Some((image, id)) = interp::function_at(address) {
        return of(image, id);
    }
    list.iter().enumerate().find_map(|(program, p)| {
        let after = p.variables.partition_point(|v| v.0 <= address);
        let &(start, size, id) = p.variables.get(after.checked_sub(1)?)?;
        let module = &p.image().module;
        let name = &module.globals[ompvm_ir::GlobalId::from_u32(id)].name;
        (address - start < size).then(|| FoundSymbol {
            program,
            name: name.clone(),
            start,
            size,
            function: false,
        })
    })
}

/// Writes the name of the program's variable at an address, if it has one that other files may see;
/// see [`ompvm_kmpc::waits::report::VariableHook`].
pub(super) fn write_variable(address: usize, out: &mut dyn std::fmt::Write) {
    // Runs in a signal handler, which may have interrupted the holder of the lock.
    let list = match REGISTRY.symbols.try_lock() {
        Ok(list) => list,
        Err(TryLockError::Poisoned(list)) => list.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    for program in list.iter() {
        let Ok(at) = program.variables.binary_search_by_key(&address, |v| v.0) else {
            continue;
        };
        let id = ompvm_ir::GlobalId::from_u32(program.variables[at].2);
        // A name that is cut is better than none.
        let _ = out.write_str(&program.image().module.globals[id].name);
        return;
    }
}

/// Symbol table entry (ELF-64).
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: usize,
}

/// Flag of `dladdr1` that asks for the symbol table entry (`dlfcn.h`).
const SYMBOL: c_int = 1;
/// Flag of `dladdr1` that asks for the link map (`dlfcn.h`).
const LINK_MAP: c_int = 2;

unsafe extern "C" fn dladdr1(
    address: *const c_void,
    info: *mut libc::Dl_info,
    extra: *mut *mut c_void,
    flags: c_int,
) -> c_int {
    let mut list = programs();
    let Some(found) = symbol_at(&list, address as usize) else {
        drop(list);
        // SAFETY: passes the guest's call on to the C library with the same arguments.
        return unsafe { system::dladdr1(address, info, extra, flags) };
    };
    let program = &mut list[found.program];
    let text = || CString::new(&*found.name).unwrap_or_default();
    let name = program.names.entry(found.start).or_insert_with(text);
    // SAFETY: the guest passes a writable structure. Names and entries live as long as the program.
    unsafe {
        (*info).dli_fname = program.name.as_ptr();
        (*info).dli_fbase = ptr::from_ref(base_address()).cast_mut().cast();
        (*info).dli_sname = name.as_ptr();
        (*info).dli_saddr = found.start as *mut c_void;
        if flags == SYMBOL && !extra.is_null() {
            // Global binding; type function or object.
            let info = 1 << 4 | if found.function { 2 } else { 1 };
            let entry = program.entries.entry(found.start).or_insert_with(|| {
                Box::new(Symbol {
                    name: 0,
                    info,
                    other: 0,
                    section: 1,
                    value: found.start,
                    size: found.size,
                })
            });
            *extra = ptr::from_mut(&mut **entry).cast();
        } else if flags == LINK_MAP && !extra.is_null() {
            *extra = whole_program();
        }
    }
    1
}

/// Returns the base address reported for the program: the start of this executable's ELF header.
fn base_address() -> &'static u8 {
    unsafe extern "C" {
        static __executable_start: u8;
    }
    // SAFETY: the linker defines the symbol.
    unsafe { &__executable_start }
}

unsafe extern "C" fn dladdr(address: *const c_void, info: *mut libc::Dl_info) -> c_int {
    // SAFETY: the contract is that of `dladdr1`; a null `extra` is not written.
    unsafe { dladdr1(address, info, ptr::null_mut(), 0) }
}

/// Returns the line of `backtrace_symbols` for an address in the program.
fn backtrace_line(list: &[RegisteredProgram], address: usize) -> Option<String> {
    let found = symbol_at(list, address)?;
    let file = list[found.program].name.to_string_lossy();
    // Compiled code does not lie at the address that the program sees, so a large distance is no
    // offset.
    let offset = address.checked_sub(found.start).filter(|&o| o < 1 << 24);
    let name = &found.name;
    Some(match offset {
        Some(offset) => format!("{file}({name}+{offset:#x}) [{address:#x}]"),
        None => format!("{file}({name}) [{address:#x}]"),
    })
}

unsafe extern "C" fn backtrace_symbols(
    array: *const *mut c_void,
    count: c_int,
) -> *mut *mut c_char {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: `array` holds `count` addresses, as for the C function. The C library's block is
    // freed here, and ours is the guest's to free.
    unsafe {
        let native = system::backtrace_symbols(array, count as c_int);
        if native.is_null() {
            return native;
        }
        let lines: Vec<CString> = {
            let list = programs();
            let text = |i: usize| match backtrace_line(&list, *array.add(i) as usize) {
                Some(text) => CString::new(text).unwrap_or_default(),
                None => CStr::from_ptr(*native.add(i)).to_owned(),
            };
            (0..count).map(text).collect()
        };
        libc::free(native.cast());
        let table = count * size_of::<*mut c_char>();
        let bytes: usize = lines.iter().map(|l| l.as_bytes_with_nul().len()).sum();
        let block = libc::malloc((table + bytes).max(1)).cast::<*mut c_char>();
        if block.is_null() {
            return block;
        }
        let mut at = block.byte_add(table).cast::<c_char>();
        for (i, l) in lines.iter().enumerate() {
            let l = l.as_bytes_with_nul();
            ptr::copy_nonoverlapping(l.as_ptr().cast(), at, l.len());
            block.add(i).write(at);
            at = at.add(l.len());
        }
        block
    }
}

unsafe extern "C" fn backtrace_symbols_fd(
    array: *const *mut c_void,
    count: c_int,
    descriptor: c_int,
) {
    for i in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: `array` holds `count` addresses, as for the C function.
        unsafe {
            let own = backtrace_line(&programs(), *array.add(i) as usize);
            match own {
                Some(text) => {
                    let text = text + "\n";
                    libc::write(descriptor, text.as_ptr().cast(), text.len());
                }
                None => system::backtrace_symbols_fd(array.add(i), 1, descriptor),
            }
        }
    }
}

/// Returns the segments that the loader would have mapped for a program, sorted by address: the
/// header at [`base_address`], functions, constants and data.
fn segments(image: &Image) -> [libc::Elf64_Phdr; 4] {
    let [functions, constants, data] = image.segments();
    let header = (ptr::from_ref(base_address()).addr(), 4096);
    let segment = |(start, len): (usize, usize), flags| libc::Elf64_Phdr {
        p_type: libc::PT_LOAD,
        p_flags: flags,
        p_offset: 0,
        p_vaddr: start as u64,
        p_paddr: start as u64,
        p_filesz: len as u64,
        p_memsz: len as u64,
        p_align: 4096,
    };
    let mut all = [
        segment(header, libc::PF_R),
        segment(functions, libc::PF_R | libc::PF_X),
        segment(constants, libc::PF_R),
        segment(data, libc::PF_R | libc::PF_W),
    ];
    all.sort_unstable_by_key(|s| s.p_vaddr);
    all
}

/// Callback of `dl_iterate_phdr`, called for each object until it returns a value other than 0.
type Visitor = unsafe extern "C-unwind" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int;

/// State of the guest's walk over the objects of the process.
struct ObjectWalk {
    visitor: Visitor,
    argument: *mut c_void,
    /// Segments of the programs, which replace the first object, our executable.
    programs: Vec<Arc<[libc::Elf64_Phdr; 4]>>,
    started: bool,
}

unsafe extern "C-unwind" fn visit(
    info: *mut libc::dl_phdr_info,
    size: usize,
    walk: *mut c_void,
) -> c_int {
    // SAFETY: `walk` points to the `ObjectWalk` in `dl_iterate_phdr` below, whose callback takes
    // the loader's arguments.
    unsafe {
        let walk = &mut *walk.cast::<ObjectWalk>();
        if std::mem::replace(&mut walk.started, true) {
            return (walk.visitor)(info, size, walk.argument);
        }
        for segments in &walk.programs {
            let mut own = *info;
            own.dlpi_addr = 0;
            own.dlpi_phdr = segments.as_ptr();
            own.dlpi_phnum = segments.len() as u16;
            own.dlpi_tls_modid = 0;
            own.dlpi_tls_data = ptr::null_mut();
            let result = (walk.visitor)(&raw mut own, size, walk.argument);
            if result != 0 {
                return result;
            }
        }
        0
    }
}

/// Implements `dl_iterate_phdr` for the guest.
unsafe extern "C-unwind" fn dl_iterate_phdr(visitor: Visitor, argument: *mut c_void) -> c_int {
    let mut walk = ObjectWalk {
        visitor,
        argument,
        programs: programs().iter().map(|p| p.segments.clone()).collect(),
        started: false,
    };
    // SAFETY: `visit` gets the live `walk`. The guest's callback may unwind, as through the C
    // library's walk.
    unsafe { system::dl_iterate_phdr(visit, (&raw mut walk).cast()) }
}

/// The C library's functions of these names.
mod system {
    use super::{Visitor, c_char, c_int, c_void};
    unsafe extern "C-unwind" {
        pub fn dl_iterate_phdr(visitor: Visitor, argument: *mut c_void) -> c_int;
    }
    unsafe extern "C" {
        pub fn dladdr1(
            address: *const c_void,
            info: *mut libc::Dl_info,
            extra: *mut *mut c_void,
            flags: c_int,
        ) -> c_int;
        pub fn backtrace_symbols(array: *const *mut c_void, count: c_int) -> *mut *mut c_char;
        pub fn backtrace_symbols_fd(array: *const *mut c_void, count: c_int, descriptor: c_int);
    }
}

/// Returns the replacement of a function for the guest.
pub fn address(name: &str) -> Option<usize> {
    Some(match name {
        "dlopen" => dlopen as *const () as usize,
        "dlsym" => dlsym as *const () as usize,
        "dlvsym" => dlvsym as *const () as usize,
        "dladdr" => dladdr as *const () as usize,
        "dladdr1" => dladdr1 as *const () as usize,
        "dl_iterate_phdr" => dl_iterate_phdr as *const () as usize,
        "backtrace_symbols" => backtrace_symbols as *const () as usize,
        "backtrace_symbols_fd" => backtrace_symbols_fd as *const () as usize,
        _ => return None,
    })
}
