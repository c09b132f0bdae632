//! Gives the loaded members' references their addresses, and runs their constructors.
//!
//! References go to the members themselves, or to where `resolve` says: the guest, the OpenMP
//! runtime, libraries. Only the guest's definitions win over weak ones of the members, as they come first in a
//! native link.

use super::objects::{Class, Natives, Symbol, Value};
use super::shared::{self, JUMP, Loaded, Plan};
use crate::support::error::Error;
use object::elf;
use std::ffi::{c_int, c_void};
use std::ptr::with_exposed_provenance_mut as pointer;

/// The members of a program's archives, loaded.
#[derive(Debug)]
pub struct Symbols {
    natives: Natives,
    plan: Plan,
    loaded: Loaded,
    /// Functions to run before the guest's constructors, after them, and at the end.
    before: Vec<usize>,
    after: Vec<usize>,
    fini: Vec<usize>,
}

/// Where undefined symbols are, and what the guest has in the place of weak ones.
pub trait Resolve {
    /// The address of a symbol that no member defines; `user` is the member that needs it.
    fn undefined(&mut self, name: &str, weak: bool, user: &str) -> Option<usize>;
    /// The guest's own definition of a weak symbol of a member.
    fn instead(&mut self, name: &str, data: bool) -> Option<usize>;
}

impl Symbols {
    /// Loads the chosen members. Nothing of them may run before [`Symbols::bind`].
    ///
    /// # Errors
    /// What is not supported in a member.
    pub fn load(mut natives: Natives) -> Result<Symbols, Error> {
        let (plan, loaded) = shared::load(&mut natives)?;
        Ok(Symbols {
            natives,
            plan,
            loaded,
            before: Vec::new(),
            after: Vec::new(),
            fini: Vec::new(),
        })
    }

    /// Leaves the members loaded for the life of the process.
    pub fn stay(&mut self) {
        self.loaded.stays = true;
    }

    /// The address of a function or variable that a member defines.
    pub fn address(&self, name: &str) -> Option<usize> {
        let symbol = self.global(name)?;
        match symbol.value {
            Value::Section(..) if symbol.tls => self.loaded.thread_local(name),
            Value::Section(..) if symbol.ifunc => Some(self.jump(symbol)),
            Value::Section(s, at) => Some(self.place(s) + at),
            Value::Absolute(a) => Some(a),
            Value::Undefined | Value::Gone => None,
        }
    }

    fn global(&self, name: &str) -> Option<&Symbol> {
        let number = *self.natives.globals.get(name)?;
        Some(&self.natives.symbols[number as usize])
    }

    fn place(&self, section: u32) -> usize {
        self.loaded.base + self.natives.sections[section as usize].at
    }

    fn jump(&self, symbol: &Symbol) -> usize {
        self.loaded.base + self.plan.jumps + (symbol.jump as usize - 1) * JUMP
    }

    fn cell(&self, number: u32) -> usize {
        self.loaded.base + self.plan.cells + (number as usize - 1) * 8
    }

    /// Fills everything in. Symbols that nobody has are reported together by the caller, whose
    /// `resolve` gives `None` for them.
    ///
    /// # Errors
    /// A reference that does not reach, naming member and symbol.
    pub fn bind(&mut self, resolve: &mut dyn Resolve) -> Result<(), Error> {
        let file = self.natives.member_name(0);
        let fail = |cause: String| Error::Input {
            file: file.clone(),
            cause,
        };
        let addresses = self.addresses(resolve).map_err(fail)?;
        // SAFETY: all of it lies in the loaded object, which nothing uses yet; the numbers come
        // from its own layout.
        unsafe {
            self.cells(&addresses);
            self.relocate(&addresses).map_err(fail)?;
        }
        self.own_block();
        self.protect().map_err(fail)?;
        // SAFETY: the code is complete; a resolver takes nothing and returns an address.
        unsafe {
            for symbol in self
                .natives
                .symbols
                .iter()
                .filter(|s| s.ifunc && s.jump != 0)
            {
                if let Value::Section(s, at) = symbol.value {
                    let resolver: extern "C-unwind" fn() -> usize =
                        std::mem::transmute(self.place(s) + at);
                    *pointer::<usize>(self.cell(symbol.got)) = resolver();
                }
            }
        }
        self.find_constructors();
        Ok(())
    }

    /// The value of every symbol: an address, or for thread-local ones the offset in the block.
    fn addresses(&self, resolve: &mut dyn Resolve) -> Result<Vec<usize>, String> {
        let mut used = vec![false; self.natives.symbols.len()];
        for r in &self.natives.relocations {
            used[r.symbol as usize] = true;
        }
        let mut list = Vec::with_capacity(used.len());
        for (i, symbol) in self.natives.symbols.iter().enumerate() {
            let section = |s: u32| &self.natives.sections[s as usize];
            let instead = symbol.weak && used[i] && !symbol.tls && symbol.value != Value::Undefined;
            let instead = if instead {
                resolve.instead(&symbol.name, symbol.data)
            } else {
                None
            };
            list.push(match symbol.value {
                _ if instead.is_some() => instead.unwrap_or(0),
                Value::Section(s, at) if matches!(section(s).class, Class::Tls | Class::TlsZero) => {
                    section(s).at + at
                }
                Value::Section(..) if symbol.ifunc => self.jump(symbol),
                Value::Section(s, at) => self.place(s) + at,
                Value::Absolute(a) => a,
                Value::Gone => 0,
                Value::Undefined if symbol.name.is_empty() || !used[i] => 0,
                Value::Undefined if &*symbol.name == "_GLOBAL_OFFSET_TABLE_" => {
                    self.loaded.base + self.plan.cells
                }
                Value::Undefined if symbol.tls => {
                    return Err(format!(
                        "{} uses the thread-local variable `{}` of the program, which is not supported",
                        self.natives.member_name(symbol.user),
                        symbol.name
                    ));
                }
                Value::Undefined => {
                    let user = self.natives.member_name(symbol.user);
                    resolve.undefined(&symbol.name, symbol.weak, &user).unwrap_or(0)
                }
            });
        }
        Ok(list)
    }

    /// # Safety
    /// The object is loaded and not protected yet; `addresses` has a value per symbol.
    unsafe fn cells(&self, addresses: &[usize]) {
        let base = self.loaded.base;
        // SAFETY: as the caller says.
        unsafe {
            let store = |at: usize, value: usize| pointer::<usize>(at).write_unaligned(value);
            let module = *pointer::<usize>(base + self.plan.module);
            let thread = *pointer::<usize>(base + self.plan.offset);
            store(base + self.plan.block, module);
            for (symbol, &address) in self.natives.symbols.iter().zip(addresses) {
                if symbol.got != 0 {
                    store(self.cell(symbol.got), address);
                }
                if symbol.pair != 0 {
                    store(self.cell(symbol.pair), module);
                    store(self.cell(symbol.pair + 1), address);
                }
                if symbol.offset != 0 {
                    store(self.cell(symbol.offset), thread.wrapping_add(address));
                }
                if symbol.jump != 0 {
                    let at = self.jump(symbol);
                    // jmp [rip + distance], counted from the end of the six bytes; two-byte nop
                    let distance = self.cell(symbol.got).wrapping_sub(at + 6) as u32;
                    let mut code = [0xff, 0x25, 0, 0, 0, 0, 0x66, 0x90];
                    code[2..6].copy_from_slice(&distance.to_le_bytes());
                    pointer::<[u8; JUMP]>(at).write(code);
                }
            }
        }
    }

    /// Applies the relocations (AMD64 supplement of the System V ABI, table 4.9).
    ///
    /// # Safety
    /// As for [`Symbols::cells`], which has run.
    unsafe fn relocate(&self, addresses: &[usize]) -> Result<(), String> {
        let base = self.loaded.base;
        // SAFETY: the loader has filled the cell.
        let thread = unsafe { *pointer::<usize>(base + self.plan.offset) };
        for r in &self.natives.relocations {
            let section = &self.natives.sections[r.section as usize];
            let symbol = &self.natives.symbols[r.symbol as usize];
            if symbol.value == Value::Gone {
                // Unwind records of a function that another member has; nothing leads to them.
                continue;
            }
            let value = addresses[r.symbol as usize].wrapping_add(r.addend as usize);
            let kind = elf::RelocationType(r.kind);
            let tls = matches!(section.class, Class::Tls);
            let at = if tls {
                self.template() + section.at + r.offset
            } else {
                base + section.at + r.offset
            };
            if r.offset + 4 > section.size.max(section.bytes.1) {
                return Err("damaged object: a relocation outside of its section".into());
            }
            let cell = |n: u32| {
                self.cell(n)
                    .wrapping_add(r.addend as usize)
                    .wrapping_sub(at)
            };
            let far = |distance: usize| i32::try_from(distance as isize).is_err();
            let (number, wide) = match kind {
                elf::R_X86_64_NONE => continue,
                elf::R_X86_64_64 => (value, true),
                elf::R_X86_64_PC64 => (value.wrapping_sub(at), true),
                elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => {
                    let direct = value.wrapping_sub(at);
                    // A call of a function that is far away goes over a jump.
                    let call =
                        kind == elf::R_X86_64_PLT32 || self.is_code(addresses[r.symbol as usize]);
                    if symbol.jump != 0 && far(direct) && call {
                        let jump = self.jump(symbol).wrapping_add(r.addend as usize);
                        (jump.wrapping_sub(at), false)
                    } else {
                        (direct, false)
                    }
                }
                elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
                    (cell(symbol.got), false)
                }
                elf::R_X86_64_TLSGD => (cell(symbol.pair), false),
                elf::R_X86_64_TLSLD => {
                    let pair = base + self.plan.block;
                    (pair.wrapping_add(r.addend as usize).wrapping_sub(at), false)
                }
                elf::R_X86_64_GOTTPOFF => (cell(symbol.offset), false),
                elf::R_X86_64_DTPOFF32 => (value, false),
                elf::R_X86_64_DTPOFF64 => (value, true),
                elf::R_X86_64_TPOFF32 => (thread.wrapping_add(value), false),
                elf::R_X86_64_TPOFF64 => (thread.wrapping_add(value), true),
                elf::R_X86_64_GOTPC32 => {
                    let table = base + self.plan.cells;
                    (
                        table.wrapping_add(r.addend as usize).wrapping_sub(at),
                        false,
                    )
                }
                elf::R_X86_64_GOTOFF64 => (value.wrapping_sub(base + self.plan.cells), true),
                other => return Err(format!("a relocation of type {} is not supported", other.0)),
            };
            // SAFETY: inside of the section, see above; eight bytes are only written where the
            // relocation is that wide.
            unsafe {
                if wide {
                    pointer::<usize>(at).write_unaligned(number);
                    continue;
                }
                let Ok(short) = i32::try_from(number as isize) else {
                    return Err(format!(
                        "{} cannot reach `{}` directly; compile it with -fPIC",
                        self.natives.member_name(section.member),
                        symbol.name
                    ));
                };
                pointer::<i32>(at).write_unaligned(short);
            }
        }
        Ok(())
    }

    /// This thread's block was made before the template was complete, when its place is fixed.
    fn own_block(&self) {
        // SAFETY: the loader filled the cell with the block's offset from the thread pointer, which
        // is kept at its own address (TLS ABI, variant II); both hold as many bytes.
        unsafe {
            let offset = *pointer::<usize>(self.loaded.base + self.plan.offset);
            if offset != 0 {
                let thread: usize;
                std::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) thread, options(nostack, readonly));
                let from = pointer::<u8>(self.template());
                std::ptr::copy_nonoverlapping(
                    from,
                    pointer(thread.wrapping_add(offset)),
                    self.plan.template_len,
                );
            }
        }
    }

    fn template(&self) -> usize {
        self.loaded.base + self.plan.template
    }

    /// Whether an address lies in code: of the guest's stubs, of a library.
    fn is_code(&self, address: usize) -> bool {
        // What is not in the object and not known as data can only be asked for as a function.
        address == 0 || !is_library_data(address)
    }

    fn protect(&self) -> Result<(), String> {
        for (range, protection) in [
            (&self.plan.code, libc::PROT_READ | libc::PROT_EXEC),
            (&self.plan.constants, libc::PROT_READ),
        ] {
            let start = pointer::<c_void>(self.loaded.base + range.start);
            // SAFETY: whole pages of the loaded object.
            if unsafe { libc::mprotect(start, range.len(), protection) } != 0 {
                return Err(std::io::Error::last_os_error().to_string());
            }
        }
        Ok(())
    }

    /// Reads the arrays of constructors and destructors, in the order in which linkers put them:
    /// by the number in the section's name, those without last.
    fn find_constructors(&mut self) {
        let mut first: Vec<(u32, usize)> = Vec::new();
        let (mut after, mut fini) = (Vec::new(), Vec::new());
        for section in &self.natives.sections {
            let list = || {
                let start = self.loaded.base + section.at;
                // SAFETY: the section is an array of addresses, filled in by now.
                (0..section.size / 8).map(move |i| unsafe { *pointer::<usize>(start + i * 8) })
            };
            let name = &*section.name;
            if name == ".init_array" {
                after.extend(list());
            } else if let Some(number) = name.strip_prefix(".init_array.") {
                first.extend(list().map(|f| (number.parse().unwrap_or(65535), f)));
            } else if name == ".preinit_array" {
                first.extend(list().map(|f| (0, f)));
            } else if name.starts_with(".fini_array") {
                fini.extend(list());
            }
        }
        first.sort_by_key(|f| f.0);
        let real = |f: &usize| *f != 0 && *f != usize::MAX;
        self.before = first.into_iter().map(|f| f.1).filter(real).collect();
        self.after = after.into_iter().filter(real).collect();
        self.fini = fini.into_iter().filter(real).collect();
    }

    /// Constructors with a priority: they run before the guest's.
    pub fn before(&self) -> &[usize] {
        &self.before
    }

    /// Constructors without: they run after the guest's, whose files come first in a link.
    pub fn after(&self) -> &[usize] {
        &self.after
    }

    /// Destructors, the first to run first.
    pub fn destructors(&self) -> impl Iterator<Item = usize> {
        self.fini.iter().rev().copied()
    }
}

/// Whether an address is in a library's data (not its code).
fn is_library_data(address: usize) -> bool {
    // SAFETY: asks the loader; all-zero is a valid value of the structure.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let mut symbol: *mut elf::Sym64<object::LittleEndian> = std::ptr::null_mut();
        // RTLD_DL_SYMENT (`dlfcn.h`) gives the symbol, which says what it is.
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
