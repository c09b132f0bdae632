//! Interposition: binds references of shared libraries to the guest's functions.
//!
//! Natively a library's reference binds to the executable's definition if there is one (System V
//! ABI, "Dynamic Linking": the executable comes first in the search). So libstdc++ allocates with a
//! program's own `operator new`. Here the guest is loaded after the libraries are bound, so their
//! relocated slots are rewritten for every function that the guest exports.
//!
//! The libraries are shared with our own code, LLVM above all, which may run on the same thread. So
//! a slot gets a small stub that jumps to the library's original binding while our own code is at
//! work ([`internal_work`]), and else to the guest.
//!
//! C++ type infos and their names are bound in the same way: libc++ compares types by the address
//! of the name, so a class that a library and the program share must have one.
//!
//! Not interposed are other variables (the library may have used its own already), inline functions
//! (their copies are equal by the one-definition rule), libraries that the guest opens later, and
//! libraries of embedded programs, whose process is not theirs. A few blocks that the C library
//! allocated before the guest was loaded, or while our own code was at work, reach the guest's
//! `free` at exit: those in which it lists a thread's destructors.

use super::{dlfcn, restart};
use hashbrown::HashMap;
use ompvm_ir::Linkage;
use ompvm_memory::image::Image;
use ompvm_memory::signal_actions;
use ompvm_support::internal_work;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

const PAGE: usize = 4096;
/// Size of a stub in bytes: 24 of code, the guest's address, the library's.
const STUB: usize = 40;

/// Dynamic section tags (System V ABI, table 5-10).
mod tag {
    pub const PLTRELSZ: u64 = 2;
    pub const STRTAB: u64 = 5;
    pub const SYMTAB: u64 = 6;
    pub const RELA: u64 = 7;
    pub const RELASZ: u64 = 8;
    pub const STRSZ: u64 = 10;
    pub const SYMBOLIC: u64 = 16;
    pub const JMPREL: u64 = 23;
    pub const FLAGS: u64 = 30;
}
const DF_SYMBOLIC: u64 = 2;
/// Relocations that name a symbol and hold its address (x86-64 psABI, table 4.9).
const RELOCATIONS: [u64; 3] = [1, 6, 7];

#[repr(C)]
struct Rela {
    offset: u64,
    info: u64,
    addend: i64,
}

#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// A guest function and, once a slot needs it, its stub.
struct Export {
    guest: usize,
    stub: usize,
}

/// A library's slot and its new value.
struct Slot {
    at: *mut usize,
    value: usize,
    /// True if the loader made the slot's page read-only.
    protected: bool,
}

struct Interposition {
    exports: HashMap<Box<[u8]>, Export>,
    /// Addresses of the guest's type infos and of their names.
    types: HashMap<Box<[u8]>, usize>,
    /// The beginnings of all these names.
    prefixes: Prefixes,
    stubs: StubPages,
    slots: Vec<Slot>,
    first: bool,
}

/// Rewrites the slots of all loaded libraries for the functions that `image` exports.
pub fn apply(image: &Image) {
    let module = &image.module;
    let mut exports: HashMap<Box<[u8]>, Export> = HashMap::new();
    for (id, f) in &module.functions {
        if f.body.is_some() && matches!(f.linkage, Linkage::External | Linkage::Weak) {
            let guest = image.func_address(id);
            exports.insert(f.name.as_bytes().into(), Export { guest, stub: 0 });
        }
    }
    // Libraries that query a symbol by name find the guest's, as those that refer to it.
    let ask = dlfcn::dlsym_for_libraries as *const () as usize;
    let export = Export {
        guest: ask,
        stub: 0,
    };
    exports.entry(b"dlsym"[..].into()).or_insert(export);
    // Libraries that inspect or start the executable find the guest's file, as `std::filesystem`
    // does; those that install handlers for the program may install its functions.
    let actions = signal_actions::NAMES.iter();
    let actions = actions.filter_map(|&name| Some((name, signal_actions::address(name)?)));
    for (name, guest) in restart::overrides().into_iter().chain(actions) {
        let export = Export { guest, stub: 0 };
        exports.entry(name.as_bytes().into()).or_insert(export);
    }
    let is_type = |name: &str| name.starts_with("_ZTI") || name.starts_with("_ZTS");
    let variables = module.globals.iter();
    let types = variables.filter(|(_, g)| {
        let shared = super::archive::is_shared(g.linkage);
        g.init.is_some() && shared && is_type(&g.name)
    });
    let types = types.map(|(id, g)| (g.name.as_bytes().into(), image.global_address(id)));
    let Some(flag) = internal_work::offset() else {
        return;
    };
    let types: HashMap<Box<[u8]>, usize> = types.collect();
    let mut prefixes = Prefixes([0; 64]);
    exports.keys().for_each(|name| prefixes.add(name));
    types.keys().for_each(|name| prefixes.add(name));
    let mut work = Interposition {
        exports,
        types,
        prefixes,
        stubs: StubPages {
            flag,
            at: ptr::null_mut(),
            left: 0,
            refused: false,
        },
        slots: Vec::new(),
        first: true,
    };
    // SAFETY: `visit` gets the live `work` and reads structures of the loader.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut work).cast()) };
    work.stubs.seal();
    // Without memory for machine code the libraries keep their own functions, because the stubs
    // cannot run.
    if work.stubs.refused {
        return;
    }
    // All slots are written last, because threads of ours that free memory go through them
    // meanwhile.
    for slot in &work.slots {
        // SAFETY: the slot was found in a library that is bound already. The guest, which could
        // close the library, does not run yet.
        unsafe { write(slot) };
    }
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    work: *mut c_void,
) -> c_int {
    // SAFETY: `apply` passes its live `Interposition`; the loader keeps the information valid
    // during the call.
    unsafe {
        let (info, work) = (&*info, &mut *work.cast::<Interposition>());
        let name = CStr::from_ptr(info.dlpi_name).to_bytes();
        // The first object is our own executable. The loader itself is skipped.
        let skip = std::mem::take(&mut work.first)
            || name.is_empty()
            || name.windows(6).any(|w| w == b"ld-lin")
            || name.starts_with(b"linux-vdso");
        if !skip {
            library(info, work);
        }
    }
    0
}

/// # Safety
/// `info` must describe a loaded library.
unsafe fn library(info: &libc::dl_phdr_info, work: &mut Interposition) {
    let base = info.dlpi_addr as usize;
    // SAFETY: the loader describes a loaded object, whose dynamic section it has relocated.
    unsafe {
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        let find = |kind| headers.iter().find(|h| h.p_type == kind);
        let Some(dynamic) = find(libc::PT_DYNAMIC) else {
            return;
        };
        let relro = find(libc::PT_GNU_RELRO).map_or(0..0, |h| {
            let start = (base + h.p_vaddr as usize) & !(PAGE - 1);
            // The loader protects whole pages only.
            start..(base + (h.p_vaddr + h.p_memsz) as usize) & !(PAGE - 1)
        });
        let mut entry = (base + dynamic.p_vaddr as usize) as *const [u64; 2];
        let mut of = HashMap::new();
        while (*entry)[0] != 0 {
            of.insert((*entry)[0], (*entry)[1] as usize);
            entry = entry.add(1);
        }
        let get = |t| of.get(&t).copied().unwrap_or(0);
        let (symbols, strings) = (get(tag::SYMTAB), get(tag::STRTAB));
        let names = get(tag::STRSZ);
        if symbols < base || strings < base {
            return;
        }
        let symbolic = of.contains_key(&tag::SYMBOLIC) || get(tag::FLAGS) as u64 & DF_SYMBOLIC != 0;
        for (table, bytes) in [(tag::JMPREL, tag::PLTRELSZ), (tag::RELA, tag::RELASZ)] {
            let (table, count) = (get(table), get(bytes) / size_of::<Rela>());
            if table < base || count == 0 {
                continue;
            }
            for rela in std::slice::from_raw_parts(table as *const Rela, count) {
                if !RELOCATIONS.contains(&(rela.info & 0xffff_ffff)) || rela.addend != 0 {
                    continue;
                }
                let symbol = &*(symbols as *const Symbol).add((rela.info >> 32) as usize);
                let bound_inside = symbolic && symbol.section != 0;
                if symbol.info >> 4 == 0 || symbol.other & 3 != 0 || bound_inside {
                    continue;
                }
                let name = (strings + symbol.name as usize) as *const c_char;
                if symbol.name as usize + 8 <= names && !work.prefixes.may_have(prefix_at(name)) {
                    continue;
                }
                let name = CStr::from_ptr(name);
                let at = (base + rela.offset as usize) as *mut usize;
                let value = match work.exports.get_mut(name.to_bytes()) {
                    Some(export) => export.stub(name, *at, &mut work.stubs),
                    None => work.types.get(name.to_bytes()).copied(),
                };
                if let Some(value) = value {
                    let protected = relro.contains(&(at as usize));
                    work.slots.push(Slot {
                        at,
                        value,
                        protected,
                    });
                }
            }
        }
    }
}

/// Filters names by their first eight bytes (a Bloom filter), which reject most names of a library.
///
/// The libraries of a C program have four thousand slots with names; to hash each whole name took a
/// tenth of a short run.
struct Prefixes([u64; 64]);

impl Prefixes {
    fn place(prefix: u64) -> (usize, u64) {
        let hash = prefix.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
        ((hash >> 6) as usize, 1 << (hash & 63))
    }

    fn add(&mut self, name: &[u8]) {
        let mut first = [0; 8];
        let n = name.len().min(8);
        first[..n].copy_from_slice(&name[..n]);
        let (word, bit) = Self::place(u64::from_le_bytes(first));
        self.0[word] |= bit;
    }

    fn may_have(&self, prefix: u64) -> bool {
        let (word, bit) = Self::place(prefix);
        self.0[word] & bit != 0
    }
}

/// Returns the first eight bytes of a C string, zeros behind its end.
///
/// # Safety
/// Eight bytes must be readable at `name`.
unsafe fn prefix_at(name: *const c_char) -> u64 {
    // SAFETY: the caller's promise.
    let word = unsafe { name.cast::<u64>().read_unaligned() };
    let ends = word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080;
    match ends {
        0 => word,
        // The lowest bit marks the first zero byte.
        _ => word & ((1 << (ends.trailing_zeros() & !7)) - 1),
    }
}

impl Export {
    /// Returns the stub for a slot that held `bound`.
    fn stub(&mut self, name: &CStr, bound: usize, stubs: &mut StubPages) -> Option<usize> {
        if self.stub == 0 {
            // A lazily bound slot does not hold the binding, which the search order gives.
            // SAFETY: the name is a C string; only the address is taken.
            let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
            let library = [found, bound, self.guest].into_iter().find(|&a| a != 0)?;
            self.stub = stubs.add(self.guest, library)?;
        }
        Some(self.stub)
    }
}

/// # Safety
/// `slot` must be a library's relocated slot, and its stub must be executable.
unsafe fn write(slot: &Slot) {
    let page = ((slot.at as usize) & !(PAGE - 1)) as *mut c_void;
    // SAFETY: the page is the library's, and gets the protection back that the loader gave it. A
    // slot is aligned, so a concurrent reader sees the old value or the new one.
    unsafe {
        if slot.protected && libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            return;
        }
        (*slot.at.cast::<std::sync::atomic::AtomicUsize>())
            .store(slot.value, std::sync::atomic::Ordering::Release);
        if slot.protected {
            libc::mprotect(page, PAGE, libc::PROT_READ);
        }
    }
}

/// Pages of stubs. They live as long as the process, like the slots.
struct StubPages {
    /// Offset of the thread's flag from the thread pointer.
    flag: i32,
    at: *mut u8,
    left: usize,
    /// True if the kernel has refused to make a page executable.
    refused: bool,
}

impl StubPages {
    fn add(&mut self, guest: usize, library: usize) -> Option<usize> {
        if self.left < STUB {
            self.seal();
            // SAFETY: creates a fresh mapping.
            let p = unsafe {
                libc::mmap(
                    ptr::null_mut(),
                    PAGE,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if p == libc::MAP_FAILED {
                return None;
            }
            (self.at, self.left) = (p.cast(), PAGE);
        }
        let mut code = [0xccu8; STUB];
        // cmp dword ptr fs:[flag], 0
        code[..4].copy_from_slice(&[0x64, 0x83, 0x3c, 0x25]);
        code[4..8].copy_from_slice(&self.flag.to_le_bytes());
        code[8] = 0;
        // jne to the second jump; jmp [guest]; jmp [library]
        code[9..11].copy_from_slice(&[0x75, 6]);
        code[11..17].copy_from_slice(&[0xff, 0x25, 7, 0, 0, 0]);
        code[17..23].copy_from_slice(&[0xff, 0x25, 9, 0, 0, 0]);
        code[24..32].copy_from_slice(&guest.to_le_bytes());
        code[32..].copy_from_slice(&library.to_le_bytes());
        let stub = self.at;
        // SAFETY: the page is ours and writable, and has room for a stub.
        unsafe {
            ptr::copy_nonoverlapping(code.as_ptr(), stub, STUB);
            self.at = stub.add(STUB);
        }
        self.left -= STUB;
        Some(stub as usize)
    }

    /// Makes the current page executable and closes it for further stubs.
    fn seal(&mut self) {
        if !self.at.is_null() {
            let page = ((self.at as usize - 1) & !(PAGE - 1)) as *mut c_void;
            // SAFETY: the page is ours and holds complete stubs.
            let done = unsafe { libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_EXEC) };
            self.refused |= done != 0;
        }
        (self.at, self.left) = (ptr::null_mut(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Prefixes, prefix_at};

    #[test]
    fn prefixes_of_strings_and_names_agree() {
        let names = [
            c"",
            c"a",
            c"seven77",
            c"eight888",
            c"_ZNSt6vectorIiE",
            c"\x80\xff\x01",
        ];
        for (i, name) in names.iter().enumerate() {
            let mut prefixes = Prefixes([0; 64]);
            prefixes.add(name.to_bytes());
            for (k, other) in names.iter().enumerate() {
                let mut bytes = other.to_bytes_with_nul().to_vec();
                // Another name follows each name.
                bytes.extend(*b"next one");
                // SAFETY: eight bytes are there.
                let prefix = unsafe { prefix_at(bytes.as_ptr().cast()) };
                assert_eq!(prefixes.may_have(prefix), i == k, "{name:?} {other:?}");
            }
        }
    }
}
