//! Links an object file into this process, all of it in the low two gigabytes.
//!
//! [`LinkedCode::new`] places an ELF object's sections in one mapping, finds its symbols' values,
//! applies its relocations ([`relocate`]) and registers its unwind tables. LLVM's linker does not
//! serve: linking cached code must not start LLVM, an instance of LLVM's linker is slow and large,
//! and code in low memory can use 32-bit absolute addresses. W^X holds: everything is written
//! before anything is executable; code is read-only from then on.
//!
//! Links nothing lazily. Supports no common symbols, no thread-local ones and no constructors,
//! since code generation emits none.

mod relocate;

use crate::walk;
use hashbrown::HashMap;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym, SymbolTable};
use relocate::{Placement, Tables};
use std::ffi::{CString, c_void};
use std::ptr;

type Header = elf::FileHeader64<object::LittleEndian>;
type Section = elf::SectionHeader64<object::LittleEndian>;
const LITTLE: object::LittleEndian = object::LittleEndian;

/// Code and everything it addresses directly lies below this address.
pub const NEAR: usize = 1 << 31;

const PAGE: usize = 4096;

/// The use of a section's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SectionUse {
    /// Executed memory.
    Code,
    /// Read-only memory.
    Constant,
    /// Writable memory.
    Data,
}

/// A loaded section of an object.
#[derive(Clone, Debug)]
pub struct LoadedSection {
    /// Its number in the object file.
    pub index: usize,
    /// Its name.
    pub name: Box<str>,
    /// The address of the section.
    pub address: usize,
    /// The length in bytes.
    pub len: usize,
    /// The use of the memory.
    pub kind: SectionUse,
}

/// Linked code; its memory is released when this is dropped.
#[derive(Debug)]
pub struct LinkedCode {
    /// The unwind table's registration, undone before the memory is released.
    _frames: Option<walk::UnwindRegistration>,
    memory: Memory,
    sections: Vec<LoadedSection>,
    /// Start and length of the executable part, including jumps to far functions.
    code: (usize, usize),
    /// Address and size of each function that is visible outside of the object.
    functions: HashMap<Box<str>, (usize, usize)>,
}

impl LinkedCode {
    /// Links an object. `resolve` returns the values of its undefined symbols; the process is
    /// searched for symbols that `resolve` does not know.
    ///
    /// # Errors
    /// A defect of the object, the symbols that nothing defines, or exhausted low memory.
    pub fn new(
        object: &[u8],
        resolve: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<LinkedCode, String> {
        PlacedObject::new(object)?.link(object, resolve)
    }

    /// Returns the address of a function of the object.
    ///
    /// # Errors
    /// The object does not define the name.
    pub fn lookup(&self, name: &str) -> Result<usize, String> {
        match self.functions.get(name) {
            Some(&(address, _)) => Ok(address),
            None => Err(format!("the object does not define `{name}`")),
        }
    }

    /// Returns name, address and length of each function that is visible outside of the object.
    pub fn functions(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        self.functions.iter().map(|(n, &(a, l))| (&**n, a, l))
    }

    /// Returns start and length of each piece of code.
    pub fn ranges(&self) -> Vec<(usize, usize)> {
        vec![self.code]
    }

    /// Returns the loaded sections, for describing the code to debuggers.
    pub fn sections(&self) -> &[LoadedSection] {
        &self.sections
    }

    /// Returns the bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.memory.len
    }

    /// Returns a copy of the object (the one that this was linked from) whose section headers hold
    /// the addresses of the sections, as debuggers expect; relocations of its debug sections are
    /// left to them.
    ///
    /// # Errors
    /// The object is a different one.
    pub fn described(&self, object: &[u8]) -> Result<Vec<u8>, String> {
        let mut bytes = object.to_vec();
        let header = Header::parse(object).map_err(|e| e.to_string())?;
        let table = header.e_shoff(LITTLE) as usize;
        for section in &self.sections {
            let at = table
                + section.index * size_of::<Section>()
                + std::mem::offset_of!(Section, sh_addr);
            let field = bytes
                .get_mut(at..at + 8)
                .ok_or("the object has fewer sections than were linked")?;
            field.copy_from_slice(&(section.address as u64).to_le_bytes());
        }
        Ok(bytes)
    }
}

/// An object with memory: its symbols have addresses, but it is not linked.
#[derive(Debug)]
pub struct PlacedObject {
    plan: Plan,
    layout: Layout,
    memory: Memory,
    /// The symbols that the object defines, including local ones.
    defined: HashMap<Box<str>, usize>,
    /// The undefined symbols that relocations use.
    undefined: Vec<String>,
}

impl PlacedObject {
    /// Maps memory and places the object's sections in it.
    ///
    /// # Errors
    /// A defect of the object, or exhausted low memory.
    pub fn new(object: &[u8]) -> Result<PlacedObject, String> {
        let bad = |e: object::Error| format!("the object cannot be read: {e}");
        let (sections, symbols) = tables_of(object)?;
        let mut plan = Plan::of(&sections)?;
        let tables = Tables::of(&sections, &symbols, object, |i| plan.place(i).is_some())?;
        let layout = plan.layout(&tables);
        let memory = Memory::new(layout.len)?;
        for place in &mut plan.places {
            place.address = memory.base + place.offset;
        }
        let (mut defined, mut undefined) = (HashMap::new(), Vec::new());
        for (index, symbol) in symbols.iter().enumerate() {
            let name = symbols.symbol_name(LITTLE, symbol).map_err(bad)?;
            let name = String::from_utf8_lossy(name);
            match symbol.st_shndx(LITTLE) {
                _ if name.is_empty() => {}
                elf::SHN_UNDEF if tables.uses(index) => undefined.push(name.into_owned()),
                elf::SHN_UNDEF => {}
                elf::SHN_ABS => {
                    defined.insert(name.into(), symbol.st_value(LITTLE) as usize);
                }
                section => {
                    if let Some(place) = plan.place_of(section) {
                        let address = place.address + symbol.st_value(LITTLE) as usize;
                        defined.insert(name.into(), address);
                    }
                }
            }
        }
        Ok(PlacedObject {
            plan,
            layout,
            memory,
            defined,
            undefined,
        })
    }

    /// Returns the addresses of the symbols that the object defines, including local ones.
    pub fn symbols(&self) -> &HashMap<Box<str>, usize> {
        &self.defined
    }

    /// Returns the names of the undefined symbols.
    pub fn undefined(&self) -> &[String] {
        &self.undefined
    }

    /// Returns address and length of the section with a name.
    pub fn section(&self, object: &[u8], name: &str) -> Option<(usize, usize)> {
        let (sections, _) = tables_of(object).ok()?;
        self.plan.places.iter().find_map(|place| {
            let section = sections.section(object::SectionIndex(place.index)).ok()?;
            let own = sections.section_name(LITTLE, section).ok()?;
            (own == name.as_bytes()).then_some((place.address, place.len))
        })
    }

    /// Links the object. `resolve` returns the values of its undefined symbols; the process is
    /// searched for symbols that `resolve` does not know.
    ///
    /// # Errors
    /// The same as for [`LinkedCode::new`].
    pub fn link(
        self,
        object: &[u8],
        resolve: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<LinkedCode, String> {
        let bad = |e: object::Error| format!("the object cannot be read: {e}");
        let (sections, symbols) = tables_of(object)?;
        let PlacedObject {
            plan,
            layout,
            memory,
            ..
        } = self;
        let tables = Tables::of(&sections, &symbols, object, |i| plan.place(i).is_some())?;
        let mut placed = Vec::with_capacity(plan.places.len());
        for place in &plan.places {
            let section = sections
                .section(object::SectionIndex(place.index))
                .map_err(bad)?;
            let bytes = section.data(LITTLE, object).map_err(bad)?;
            // SAFETY: the layout placed the section here, in this object's own mapping, which is
            // still writable.
            unsafe {
                ptr::copy_nonoverlapping(bytes.as_ptr(), place.address as *mut u8, bytes.len())
            };
            let name = sections.section_name(LITTLE, section).map_err(bad)?;
            placed.push(LoadedSection {
                index: place.index,
                name: String::from_utf8_lossy(name).into(),
                address: place.address,
                len: place.len,
                kind: place.kind,
            });
        }
        let values = values(&symbols, &tables, &plan, resolve)?;
        let far = relocate::Far {
            jumps: memory.base + layout.jumps,
            cells: memory.base + layout.cells,
        };
        relocate::apply(&sections, object, &plan.places, &values, &tables, far)?;
        let mut functions = HashMap::new();
        for symbol in symbols.iter() {
            if symbol.st_type() != elf::STT_FUNC || symbol.is_local() {
                continue;
            }
            let Some(place) = plan.place_of(symbol.st_shndx(LITTLE)) else {
                continue;
            };
            let name = symbols.symbol_name(LITTLE, symbol).map_err(bad)?;
            let address = place.address + symbol.st_value(LITTLE) as usize;
            let size = symbol.st_size(LITTLE) as usize;
            functions.insert(String::from_utf8_lossy(name).into(), (address, size));
        }
        memory.protect(0, layout.constants, libc::PROT_READ | libc::PROT_EXEC)?;
        memory.protect(layout.constants, layout.data, libc::PROT_READ)?;
        let frames = placed.iter().find(|s| &*s.name == ".eh_frame");
        let code = (memory.base, layout.code);
        // SAFETY: the table is complete, ends with a zero length (the layout leaves one after it),
        // and is deregistered before its memory is released.
        let known = frames.map(|s| unsafe { walk::register(code, (s.address, s.len)) });
        Ok(LinkedCode {
            code,
            memory,
            sections: placed,
            functions,
            _frames: known,
        })
    }
}

/// Returns the tables of sections and of symbols of an object for this machine.
fn tables_of(object: &[u8]) -> Result<(SectionTable<'_, Header>, SymbolTable<'_, Header>), String> {
    let bad = |e: object::Error| format!("the object cannot be read: {e}");
    let header = Header::parse(object).map_err(bad)?;
    if header.e_machine(LITTLE) != elf::EM_X86_64 || header.e_type(LITTLE) != elf::ET_REL {
        return Err("the object is not a relocatable x86-64 object".into());
    }
    let sections = header.sections(LITTLE, object).map_err(bad)?;
    let symbols = sections
        .symbols(LITTLE, object, elf::SHT_SYMTAB)
        .map_err(bad)?;
    Ok((sections, symbols))
}

/// Returns the values of all symbols, 0 for those that no relocation uses.
fn values(
    symbols: &SymbolTable<'_, Header>,
    tables: &Tables,
    plan: &Plan,
    resolve: &dyn Fn(&str) -> Option<usize>,
) -> Result<Vec<usize>, String> {
    let mut values = vec![0; symbols.len()];
    let mut missing = Vec::new();
    for (index, value) in values.iter_mut().enumerate() {
        if !tables.uses(index) {
            continue;
        }
        let symbol = symbols
            .symbol(object::SymbolIndex(index))
            .map_err(|e| e.to_string())?;
        let name = symbols.symbol_name(LITTLE, symbol).unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        *value = match symbol.st_shndx(LITTLE) {
            elf::SHN_UNDEF if index == 0 => 0,
            elf::SHN_UNDEF => match resolve(&name).or_else(|| in_process(&name)) {
                Some(value) => value,
                None if symbol.st_bind() == elf::STB_WEAK => 0,
                None => {
                    missing.push(format!("`{name}`"));
                    0
                }
            },
            elf::SHN_ABS => symbol.st_value(LITTLE) as usize,
            section => match plan.place_of(section) {
                Some(place) => place.address.wrapping_add(symbol.st_value(LITTLE) as usize),
                None => return Err(format!("`{name}` is in a section that is not loaded")),
            },
        };
    }
    if missing.is_empty() {
        Ok(values)
    } else {
        Err(format!("undefined symbols: {}", missing.join(", ")))
    }
}

/// Returns the address of a symbol of the executable or of one of its libraries.
fn in_process(name: &str) -> Option<usize> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name is a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found as usize)
}

/// The sections that need memory.
#[derive(Debug)]
struct Plan {
    places: Vec<Placement>,
    /// For each section, one more than its position in `places`, or 0.
    index: Vec<u32>,
}

/// Offsets in the mapping: code, jumps to far functions, constants, addresses, data.
#[derive(Debug)]
struct Layout {
    jumps: usize,
    /// End of the executable part.
    code: usize,
    constants: usize,
    cells: usize,
    data: usize,
    len: usize,
}

impl Plan {
    fn of(sections: &SectionTable<'_, Header>) -> Result<Plan, String> {
        let mut places = Vec::new();
        let mut index = vec![0; sections.len()];
        for (number, section) in sections.iter().enumerate() {
            let flags = section.sh_flags(LITTLE);
            let has = |flag: elf::SectionFlags| flags.0 & flag.0 != 0;
            let len = section.sh_size(LITTLE) as usize;
            if !has(elf::SHF_ALLOC) || len == 0 {
                continue;
            }
            if has(elf::SHF_TLS) {
                return Err(
                    "the object defines thread-local data, which this linker does not support"
                        .into(),
                );
            }
            places.push(Placement {
                index: number,
                offset: 0,
                address: 0,
                len,
                align: (section.sh_addralign(LITTLE) as usize).max(1),
                kind: match (has(elf::SHF_EXECINSTR), has(elf::SHF_WRITE)) {
                    (true, _) => SectionUse::Code,
                    (_, true) => SectionUse::Data,
                    _ => SectionUse::Constant,
                },
            });
            index[number] = places.len() as u32;
        }
        Ok(Plan { places, index })
    }

    fn place(&self, section: usize) -> Option<&Placement> {
        let n = *self.index.get(section)?;
        self.places.get((n as usize).checked_sub(1)?)
    }

    /// Returns the place of the section that defines a symbol.
    fn place_of(&self, section: elf::SymbolSection) -> Option<&Placement> {
        self.place(usize::from(section.index()?))
    }

    fn layout(&mut self, tables: &Tables) -> Layout {
        let mut end = 0usize;
        let mut put = |kind: SectionUse, end: &mut usize| {
            for place in self.places.iter_mut().filter(|p| p.kind == kind) {
                place.offset = end.next_multiple_of(place.align);
                // The zero length that ends an unwind table.
                *end = place.offset + place.len + size_of::<u32>();
            }
        };
        put(SectionUse::Code, &mut end);
        let jumps = end.next_multiple_of(relocate::JUMP);
        let code = jumps + tables.jumps() * relocate::JUMP;
        end = code.next_multiple_of(PAGE);
        let constants = end;
        put(SectionUse::Constant, &mut end);
        let cells = end.next_multiple_of(8);
        end = (cells + tables.cells() * 8).next_multiple_of(PAGE);
        let data = end;
        put(SectionUse::Data, &mut end);
        Layout {
            jumps,
            code,
            constants,
            cells,
            data,
            len: end.max(1).next_multiple_of(PAGE),
        }
    }
}

/// A mapping in the low two gigabytes.
#[derive(Debug)]
struct Memory {
    base: usize,
    len: usize,
}

impl Memory {
    fn new(len: usize) -> Result<Memory, String> {
        // SAFETY: a fresh anonymous mapping.
        let p = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT,
                -1,
                0,
            )
        };
        if p == libc::MAP_FAILED {
            let why = std::io::Error::last_os_error();
            return Err(format!(
                "no free memory in the low two gigabytes for {len} bytes of code: {why}"
            ));
        }
        Ok(Memory {
            base: p as usize,
            len,
        })
    }

    fn protect(&self, from: usize, to: usize, protection: i32) -> Result<(), String> {
        if from == to {
            return Ok(());
        }
        let start = (self.base + from) as *mut c_void;
        // SAFETY: whole pages of this value's own mapping.
        if unsafe { libc::mprotect(start, to - from, protection) } != 0 {
            return Err(std::io::Error::last_os_error().to_string());
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping; the owner of the code ensures that nothing executes
        // it any more.
        unsafe { libc::munmap(self.base as *mut c_void, self.len) };
    }
}

#[cfg(test)]
mod tests;
