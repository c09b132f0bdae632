//! Binds the references of the loaded members, and lists their constructors and destructors.
//!
//! References within the members are final or bound by the loader. The others lead to the addresses
//! that [`Resolve`] returns: in the guest, the OpenMP runtime, or libraries.

use super::cached::CachedObject;
use super::shared::Object;
use super::table::{ArrayPhase, FixupValue, SymbolLocation, Table};
use crate::loader::{self, Loaded};
use object::elf;
use ompvm_support::error::Error;
use std::ffi::{c_int, c_void};
use std::ptr::with_exposed_provenance_mut as pointer;

/// The loaded members of a program's archives.
#[derive(Debug)]
pub struct LoadedMembers {
    table: Table,
    loaded: Loaded,
    /// Constructors that run before the guest's.
    before: Vec<usize>,
    /// Constructors that run after the guest's.
    after: Vec<usize>,
    /// Destructors.
    fini: Vec<usize>,
}

/// Resolver of undefined symbols.
pub trait Resolve {
    /// Returns the address of a symbol that no member defines. `user` is the member that needs it.
    fn undefined(&mut self, name: &str, weak: bool, user: &str) -> Option<usize>;
}

impl LoadedMembers {
    /// Loads the chosen members. No code of theirs may run before [`LoadedMembers::bind`].
    ///
    /// # Errors
    /// Returns the loader's message.
    pub(super) fn load(object: Object) -> Result<LoadedMembers, Error> {
        let table = object.table;
        match loader::open(&object.file) {
            Ok(loaded) => Ok(LoadedMembers::new(table, loaded)),
            Err(cause) => {
                let file = table.file;
                Err(Error::Input { file, cause })
            }
        }
    }

    /// Loads the object that an earlier run cached; `None` if the loader refuses it.
    pub(super) fn load_cached(cached: CachedObject) -> Option<LoadedMembers> {
        let loaded = loader::open_file(&cached.file).ok()?;
        Some(LoadedMembers::new(cached.table, loaded))
    }

    fn new(table: Table, loaded: Loaded) -> LoadedMembers {
        LoadedMembers {
            table,
            loaded,
            before: Vec::new(),
            after: Vec::new(),
            fini: Vec::new(),
        }
    }

    /// Leaves the members loaded for the life of the process.
    pub fn stay(&mut self) {
        self.loaded.stays = true;
    }

    /// Returns the address of a function or variable that a member defines.
    pub fn address(&self, name: &str) -> Option<usize> {
        match self.table.location(name)? {
            SymbolLocation::At(at) => Some(self.loaded.base + at),
            SymbolLocation::ThreadLocal => self.loaded.thread_local(name),
            SymbolLocation::Absolute(a) => Some(a),
        }
    }

    /// Returns the names of symbols that no member defines.
    pub fn undefined(&self) -> impl Iterator<Item = &str> {
        self.table.undefined.iter().map(|o| &*o.name)
    }

    /// Fills in all gaps. The caller reports the symbols for which its `resolve` returns `None`.
    ///
    /// # Errors
    /// Names the member and symbol of a reference that does not reach its target.
    pub fn bind(&mut self, resolve: &mut dyn Resolve) -> Result<(), Error> {
        let addresses: Vec<usize> = self
            .table
            .undefined
            .iter()
            .map(|o| resolve.undefined(&o.name, o.weak, &o.user).unwrap_or(0))
            .collect();
        let fail = |cause: String| Error::Input {
            file: self.table.file.clone(),
            cause,
        };
        // SAFETY: the gaps lie in the loaded object, which nothing uses yet. The symbol numbers
        // come from the object's own table.
        unsafe { self.fill(&addresses).map_err(fail)? };
        self.own_block();
        self.protect().map_err(fail)?;
        for choice in &self.table.ifunc_choices {
            let base = self.loaded.base;
            // SAFETY: the code is complete and executable. A resolver takes nothing and returns an
            // address.
            unsafe {
                let resolver: extern "C-unwind" fn() -> usize =
                    std::mem::transmute(base + choice.resolver);
                *pointer::<usize>(base + choice.cell) = resolver();
            }
        }
        self.find_constructors();
        Ok(())
    }

    /// # Safety
    /// The object must be loaded and not yet protected, and `addresses` must have a value for each
    /// symbol in `Table::undefined`.
    unsafe fn fill(&self, addresses: &[usize]) -> Result<(), String> {
        let base = self.loaded.base;
        let thread = self.table.thread.map_or(0, |cell| {
            // SAFETY: the cell lies in the loaded object, and the loader has filled it.
            unsafe { *pointer::<usize>(base + cell) }
        });
        for fixup in &self.table.fixups {
            let at = base + fixup.at;
            let add = |value: usize| value.wrapping_add(fixup.addend as usize);
            let of = |n: u32| addresses[n as usize];
            let number = match fixup.value {
                FixupValue::Address(n) => add(of(n)),
                FixupValue::Distance(n) => add(of(n)).wrapping_sub(at),
                FixupValue::FromCells(n) => add(of(n)).wrapping_sub(base + self.table.cells),
                FixupValue::Thread { .. } => add(thread),
                FixupValue::Near(n, jump) => {
                    let direct = add(of(n)).wrapping_sub(at);
                    match jump {
                        // A call of a function that is out of reach goes through a jump.
                        Some(jump) if !is_near(direct) && !is_library_data(of(n)) => {
                            add(base + jump).wrapping_sub(at)
                        }
                        _ => direct,
                    }
                }
            };
            // SAFETY: the gap lies in the object, which is writable by this function's contract,
            // and has the bytes that its kind implies.
            unsafe {
                if !matches!(
                    fixup.value,
                    FixupValue::Near(..) | FixupValue::Thread { wide: false }
                ) {
                    pointer::<usize>(at).write_unaligned(number);
                    continue;
                }
                let Ok(short) = i32::try_from(number as isize) else {
                    let FixupValue::Near(n, _) = fixup.value else {
                        return Err("an offset from the thread pointer is too large".into());
                    };
                    let undefined = &self.table.undefined[n as usize];
                    return Err(format!(
                        "{} cannot reach `{}` directly; compile it with -fPIC",
                        undefined.user, undefined.name
                    ));
                };
                pointer::<i32>(at).write_unaligned(short);
            }
        }
        Ok(())
    }

    /// Completes this thread's TLS block if the loader created it before the template was complete.
    fn own_block(&self) {
        let template = &self.table.template;
        let late = self.table.fixups.iter().any(|g| template.contains(&g.at));
        let Some(cell) = self.table.thread.filter(|_| late) else {
            return;
        };
        // SAFETY: the loader filled the cell with the block's offset from the thread pointer, which
        // is stored at its own address (TLS ABI, variant II). Template and block have the same
        // size.
        unsafe {
            let offset = *pointer::<usize>(self.loaded.base + cell);
            let thread: usize;
            std::arch::asm!(
                "mov {}, qword ptr fs:[0]",
                out(reg) thread,
                options(nostack, readonly),
            );
            let from = pointer::<u8>(self.loaded.base + template.start);
            let to = pointer(thread.wrapping_add(offset));
            std::ptr::copy_nonoverlapping(from, to, template.len());
        }
    }

    fn protect(&self) -> Result<(), String> {
        for (range, protection) in [
            (&self.table.code, libc::PROT_READ | libc::PROT_EXEC),
            (&self.table.constants, libc::PROT_READ),
        ] {
            let start = pointer::<c_void>(self.loaded.base + range.start);
            // SAFETY: the range covers whole pages of the loaded object.
            if unsafe { libc::mprotect(start, range.len(), protection) } != 0 {
                return Err(std::io::Error::last_os_error().to_string());
            }
        }
        Ok(())
    }

    /// Reads the arrays of constructors and destructors in the order of linkers: by the number in
    /// the section's name, those without a number last.
    fn find_constructors(&mut self) {
        let mut first: Vec<(u32, usize)> = Vec::new();
        let (mut after, mut fini) = (Vec::new(), Vec::new());
        for array in &self.table.arrays {
            let start = self.loaded.base + array.at;
            // SAFETY: the section is an array of `count` addresses, which are filled in by now.
            let list = (0..array.count).map(|i| unsafe { *pointer::<usize>(start + i * 8) });
            match array.when {
                ArrayPhase::First(number) => first.extend(list.map(|f| (number, f))),
                ArrayPhase::Start => after.extend(list),
                ArrayPhase::End => fini.extend(list),
            }
        }
        first.sort_by_key(|f| f.0);
        let real = |f: &usize| *f != 0 && *f != usize::MAX;
        self.before = first.into_iter().map(|f| f.1).filter(real).collect();
        self.after = after.into_iter().filter(real).collect();
        self.fini = fini.into_iter().filter(real).collect();
    }

    /// Returns the constructors with a priority, which run before the guest's.
    pub fn before(&self) -> &[usize] {
        &self.before
    }

    /// Returns the constructors without a priority. They run after the guest's, whose files come
    /// first in a link.
    pub fn after(&self) -> &[usize] {
        &self.after
    }

    /// Returns the destructors in the order in which they run.
    pub fn destructors(&self) -> impl Iterator<Item = usize> {
        self.fini.iter().rev().copied()
    }
}

fn is_near(distance: usize) -> bool {
    i32::try_from(distance as isize).is_ok()
}

/// Returns true if an address is in a library's data, not in its code.
fn is_library_data(address: usize) -> bool {
    if address == 0 {
        return false;
    }
    // SAFETY: all-zero is a valid value of the structures, which live during the call.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let mut symbol: *mut elf::Sym64<object::LittleEndian> = std::ptr::null_mut();
        // RTLD_DL_SYMENT (`dlfcn.h`) returns the symbol with its type.
        let found = dladdr1(
            address as *const c_void,
            &mut info,
            (&raw mut symbol).cast(),
            1,
        );
        found != 0 && !symbol.is_null() && (*symbol).st_type() == elf::STT_OBJECT
    }
}

unsafe extern "C" {
    fn dladdr1(
        address: *const c_void,
        info: *mut libc::Dl_info,
        extra: *mut *mut c_void,
        flags: c_int,
    ) -> c_int;
}
