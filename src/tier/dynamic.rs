//! The program's symbols for those who ask at run time: `dlsym`, `dladdr`, `backtrace_symbols`.
//!
//! Natively the loader knows an executable's symbols (those of `-rdynamic`), and finds the caller of
//! `dlsym(RTLD_NEXT, ..)` by its address. The guest is in no list of the loader, and its code lies in memory that
//! belongs to no file. So its calls of these functions come here: what the program defines comes first, then what
//! this process has instead of a library's function, then the libraries. They are asked from our own code, which
//! is the executable, so that "next" means the same as for the guest.
//!
//! Native libraries that ask for a symbol of the whole program find the guest's, too (`interpose` binds their
//! calls to [`for_libraries`]); everything else goes on to the C library, with the caller that it looks at.
//!
//! `dl_iterate_phdr` lists the guest's functions, constants and data as the executable's segments, in the place of ours: a
//! collector finds its roots there. As for an executable that is linked at a fixed place, the lowest of them begins at the base
//! that `dladdr` tells, and addresses are offsets.
//!
//! Left out: versions of the guest's symbols.

use super::link::{Environment, Runtime};
use crate::interp;
use crate::ir::{FuncId, GlobalRef, Linkage, Module};
use crate::jit;
use crate::memory::func;
use crate::memory::image::Image;
use hashbrown::HashMap;
use std::arch::naked_asm;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::hint::black_box;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A running program.
struct Program {
    image: *const Image,
    runtime: fn(&str) -> Runtime,
    overrides: HashMap<&'static str, usize>,
    name: CString,
    /// Addresses, sizes and numbers of the variables that have names, in order.
    variables: Vec<(usize, usize, u32)>,
    /// Symbols as the loader keeps them, for `dladdr1`, by their addresses.
    entries: HashMap<usize, Box<Symbol>>,
    names: HashMap<usize, CString>,
    /// Its constants and its data.
    segments: Arc<[libc::Elf64_Phdr; 4]>,
}

// SAFETY: the image is shared between threads anyway, and outlives its registration.
unsafe impl Send for Program {}

static PROGRAMS: Mutex<Vec<Program>> = Mutex::new(Vec::new());

fn programs() -> MutexGuard<'static, Vec<Program>> {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a program off the list when dropped.
#[derive(Debug)]
pub struct Registered(*const Image);

// SAFETY: only compared.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

impl Drop for Registered {
    fn drop(&mut self) {
        programs().retain(|p| p.image != self.0);
    }
}

/// Makes a program's symbols known until the result is dropped.
pub fn register(image: &Image, environment: &Environment) -> Registered {
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
    programs().push(Program {
        image,
        runtime: environment.runtime,
        overrides: environment.overrides.clone(),
        name: CString::new(module.name.as_str()).unwrap_or_default(),
        variables,
        entries: HashMap::new(),
        names: HashMap::new(),
        segments: Arc::new(segments(image)),
    });
    Registered(image)
}

fn is_visible(linkage: Linkage) -> bool {
    matches!(
        linkage,
        Linkage::External | Linkage::Weak | Linkage::LinkOnce | Linkage::Common
    )
}

/// The module's definition of a name that others may see.
fn visible(module: &Module, name: &str) -> Option<GlobalRef> {
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

impl Program {
    fn image(&self) -> &Image {
        // SAFETY: the image outlives its registration.
        unsafe { &*self.image }
    }

    /// The address of the program's own symbol, this thread's for thread-local ones.
    fn own(&self, name: &str) -> Option<usize> {
        let image = self.image();
        match visible(&image.module, name)? {
            GlobalRef::Var(g) if image.module.globals[g].thread_local => Some(image.tls_address(g)),
            GlobalRef::IFunc(i) => Some(image.ifunc_target(i)),
            symbol => Some(image.symbol_address(symbol)),
        }
    }

    /// The address that this process has in the place of a library's function.
    fn instead(&self, name: &str) -> Option<usize> {
        if let Some(&address) = self.overrides.get(name) {
            return Some(address);
        }
        match (self.runtime)(name) {
            Runtime::Address(address) => Some(address),
            _ => super::builtins::first(name),
        }
    }
}

/// The handle of the whole program: what `dlopen(NULL)` gives.
fn whole() -> *mut c_void {
    static HANDLE: OnceLock<usize> = OnceLock::new();
    // SAFETY: opens nothing that is not open.
    *HANDLE.get_or_init(|| unsafe { libc::dlopen(ptr::null(), libc::RTLD_LAZY) } as usize)
        as *mut c_void
}

/// The program's symbol, then what is there in its place, for a handle that includes the program.
fn find(handle: *mut c_void, name: &CStr) -> Option<usize> {
    let next = handle == libc::RTLD_NEXT;
    if !next && handle != libc::RTLD_DEFAULT && handle != whole() {
        return None;
    }
    let name = name.to_str().ok()?;
    let list = programs();
    let own = list.iter().filter(|_| !next).find_map(|p| p.own(name));
    own.or_else(|| list.iter().find_map(|p| p.instead(name)))
}

/// `dlsym` of the guest.
unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: as the guest asks.
    unsafe {
        match find(handle, CStr::from_ptr(name)) {
            Some(address) => address as *mut c_void,
            // The C library looks at its caller, so this must not become a jump.
            None => black_box(libc::dlsym(handle, name)),
        }
    }
}

/// `dlvsym` of the guest: asked from here, as `dlsym` is.
unsafe extern "C" fn dlvsym(
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
) -> *mut c_void {
    // SAFETY: as the guest asks.
    unsafe { black_box(libc::dlvsym(handle, name, version)) }
}

/// The guest's symbol for a library that asks; 0 leaves the question to the C library.
unsafe extern "C" fn asked_by_library(handle: *mut c_void, name: *const c_char) -> usize {
    if handle != libc::RTLD_DEFAULT && handle != whole() {
        return 0;
    }
    // SAFETY: as the library asks.
    let name = unsafe { CStr::from_ptr(name) };
    let Ok(name) = name.to_str() else { return 0 };
    let list = programs();
    list.iter().find_map(|p| p.own(name)).unwrap_or(0)
}

/// `dlsym` of native libraries. The C library looks at its caller's address, so it is jumped to.
#[unsafe(naked)]
pub unsafe extern "C" fn for_libraries(handle: *mut c_void, name: *const c_char) -> *mut c_void {
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

/// A symbol of the program: its name, where it begins, and what it is.
struct Found {
    program: usize,
    name: Box<str>,
    start: usize,
    size: usize,
    function: bool,
}

/// The program's function whose code, or variable in which an address lies.
fn at(list: &[Program], address: usize) -> Option<Found> {
    let of = |image: *const Image, id: FuncId| -> Option<Found> {
        let program = list.iter().position(|p| ptr::eq(p.image, image))?;
        // SAFETY: the image is registered.
        let image = unsafe { &*image };
        Some(Found {
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
        let name = &module.globals[crate::ir::GlobalId::from_u32(id)].name;
        (address - start < size).then(|| Found {
            program,
            name: name.clone(),
            start,
            size,
            function: false,
        })
    })
}

/// An entry of a symbol table (ELF-64).
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: usize,
}

/// Flags of `dladdr1`: results beyond `dladdr` (`dlfcn.h`).
const SYMBOL: c_int = 1;
const LINK_MAP: c_int = 2;

unsafe extern "C" fn dladdr1(
    address: *const c_void,
    info: *mut libc::Dl_info,
    extra: *mut *mut c_void,
    flags: c_int,
) -> c_int {
    let mut list = programs();
    let Some(found) = at(&list, address as usize) else {
        drop(list);
        // SAFETY: as the guest asks.
        return unsafe { system::dladdr1(address, info, extra, flags) };
    };
    let program = &mut list[found.program];
    let text = || CString::new(&*found.name).unwrap_or_default();
    let name = program.names.entry(found.start).or_insert_with(text);
    // SAFETY: the guest's structure; names and symbols stay as long as the program.
    unsafe {
        (*info).dli_fname = program.name.as_ptr();
        (*info).dli_fbase = ptr::from_ref(whole_base()).cast_mut().cast();
        (*info).dli_sname = name.as_ptr();
        (*info).dli_saddr = found.start as *mut c_void;
        if flags == SYMBOL && !extra.is_null() {
            // Global; a function or an object.
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
            *extra = whole();
        }
    }
    1
}

/// The base that is told for the program: what begins there is the header of this executable.
fn whole_base() -> &'static u8 {
    unsafe extern "C" {
        static __executable_start: u8;
    }
    // SAFETY: the linker defines it.
    unsafe { &__executable_start }
}

unsafe extern "C" fn dladdr(address: *const c_void, info: *mut libc::Dl_info) -> c_int {
    // SAFETY: as the guest asks.
    unsafe { dladdr1(address, info, ptr::null_mut(), 0) }
}

/// A line of `backtrace_symbols` for an address of the program.
fn line(list: &[Program], address: usize) -> Option<String> {
    let found = at(list, address)?;
    let file = list[found.program].name.to_string_lossy();
    // Machine code lies elsewhere than the address that the program sees.
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
    // SAFETY: as the guest asks; the C library's block is given back, ours is the guest's to free.
    unsafe {
        let native = system::backtrace_symbols(array, count as c_int);
        if native.is_null() {
            return native;
        }
        let lines: Vec<CString> = {
            let list = programs();
            let text = |i: usize| match line(&list, *array.add(i) as usize) {
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
        // SAFETY: as the guest asks.
        unsafe {
            let own = line(&programs(), *array.add(i) as usize);
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

/// Lists the segments that the loader would have mapped of a program, in the order of their addresses: the header, with
/// which [`whole_base`] says that it begins, its functions, its constants and its data.
fn segments(image: &Image) -> [libc::Elf64_Phdr; 4] {
    let [functions, constants, data] = image.segments();
    let header = (ptr::from_ref(whole_base()).addr(), 4096);
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

/// The callback of `dl_iterate_phdr`, called for each object until it returns something else than 0.
type Visitor = unsafe extern "C-unwind" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int;

/// A walk through the objects of the process for the guest.
struct Walk {
    visitor: Visitor,
    argument: *mut c_void,
    /// The programs, in the place of the first object, which is our executable.
    programs: Vec<Arc<[libc::Elf64_Phdr; 4]>>,
    started: bool,
}

unsafe extern "C-unwind" fn visit(
    info: *mut libc::dl_phdr_info,
    size: usize,
    walk: *mut c_void,
) -> c_int {
    // SAFETY: `walk` is `dl_iterate_phdr`'s below; the guest's function takes what the loader hands out.
    unsafe {
        let walk = &mut *walk.cast::<Walk>();
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

/// `dl_iterate_phdr` of the guest.
unsafe extern "C-unwind" fn dl_iterate_phdr(visitor: Visitor, argument: *mut c_void) -> c_int {
    let mut walk = Walk {
        visitor,
        argument,
        programs: programs().iter().map(|p| p.segments.clone()).collect(),
        started: false,
    };
    // SAFETY: the visitor is the guest's and may unwind, as through the C library's walk.
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

/// The guest's functions by their names.
pub fn address(name: &str) -> Option<usize> {
    Some(match name {
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
