//! Chooses native members and merges their sections, symbols and relocations into one list each.
//!
//! As in linkers, a member is chosen if its archive's index has a symbol that is needed and not yet
//! defined (System V ABI, "Archive File"). Of COMDAT groups with the same name the first is kept.

use super::{Archive, MemberKind};
use hashbrown::{HashMap, HashSet};
use object::elf;
use object::read::elf::{FileHeader, Rela, SectionHeader, Sym};
use object::{LittleEndian, SectionIndex, SymbolIndex};
use ompvm_support::error::Error;
use std::sync::Arc;

const LE: LittleEndian = LittleEndian;
type Header = elf::FileHeader64<LittleEndian>;

/// Part of the shared object that a section goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SectionClass {
    Code,
    Constant,
    Unwind,
    Data,
    Tls,
    TlsZero,
    Zero,
}

/// A section that is kept.
#[derive(Debug)]
pub(super) struct Section {
    pub class: SectionClass,
    pub member: u32,
    pub name: Box<str>,
    /// Offset and length of the section's bytes in the member; length 0 for zeros.
    pub bytes: (usize, usize),
    pub size: usize,
    pub align: usize,
    /// Offset in the shared object; for a thread-local section, in the TLS block.
    pub at: usize,
}

/// Definition of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Definition {
    /// No member defines it.
    Undefined,
    /// An offset in a section.
    Section(u32, usize),
    /// An absolute value.
    Absolute(usize),
    /// An offset in a section that was dropped.
    Gone,
}

/// A symbol.
#[derive(Debug)]
pub(super) struct Symbol {
    pub name: Box<str>,
    pub value: Definition,
    pub weak: bool,
    pub tls: bool,
    pub ifunc: bool,
    pub data: bool,
    /// Number of its cell, counted from 1; 0 if it has none.
    pub got: u32,
    /// Number of its jump, counted from 1; 0 if it has none.
    pub jump: u32,
    /// Number of its pair for `__tls_get_addr`, counted from 1; 0 if it has none.
    pub pair: u32,
    /// Number of its cell with the offset from the thread pointer, counted from 1; 0 if it has
    /// none.
    pub offset: u32,
    /// The first member that uses it.
    pub user: u32,
}

/// A relocation of a kept section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relocation {
    pub section: u32,
    pub offset: usize,
    pub kind: u32,
    pub symbol: u32,
    pub addend: i64,
}

/// The chosen members, merged.
#[derive(Debug, Default)]
pub struct NativeMembers {
    pub(super) members: Vec<(Arc<Archive>, u32)>,
    pub(super) sections: Vec<Section>,
    pub(super) symbols: Vec<Symbol>,
    pub(super) globals: HashMap<Box<str>, u32>,
    pub(super) relocations: Vec<Relocation>,
    groups: HashSet<Box<[u8]>>,
    /// Size and alignment of common symbols (`common` in Fortran and old C).
    commons: HashMap<u32, (usize, usize)>,
}

/// Returns the names of the global symbols that an object defines, and of those that it needs.
pub(super) fn names(bytes: &[u8]) -> Result<(Vec<String>, Vec<String>), String> {
    let text = |e: object::read::Error| e.to_string();
    let header = Header::parse(bytes).map_err(text)?;
    let sections = header.sections(LE, bytes).map_err(text)?;
    let symbols = sections.symbols(LE, bytes, elf::SHT_SYMTAB).map_err(text)?;
    let (mut defined, mut needed) = (Vec::new(), Vec::new());
    for symbol in symbols.iter().skip(1) {
        if symbol.st_bind() == elf::STB_LOCAL {
            continue;
        }
        let name = symbols.symbol_name(LE, symbol).map_err(text)?;
        let name = String::from_utf8_lossy(name).into_owned();
        if symbol.st_shndx(LE) == elf::SHN_UNDEF {
            if symbol.st_bind() != elf::STB_WEAK {
                needed.push(name);
            }
        } else {
            defined.push(name);
        }
    }
    Ok((defined, needed))
}

impl NativeMembers {
    /// Chooses the members that `wanted` needs. `elsewhere` returns true for names that the guest
    /// or the runtime defines, which are not searched.
    ///
    /// # Errors
    /// Returns [`Error::Input`] naming the member that cannot be used.
    pub fn choose(
        &mut self,
        archives: &[Arc<Archive>],
        wanted: Vec<String>,
        elsewhere: &mut dyn FnMut(&str) -> bool,
    ) -> Result<(), Error> {
        let mut wanted = wanted;
        for archive in archives.iter().filter(|a| a.whole) {
            wanted.extend(self.take(archive, 0)?);
        }
        // Linkers process needed names in order, which determines the order of constructors.
        wanted.reverse();
        while let Some(name) = wanted.pop() {
            if self.defines(&name) || elsewhere(&name) {
                continue;
            }
            let found = archives.iter().find_map(|a| {
                let m = a.find(&name)?;
                (a.members[m as usize].kind == MemberKind::Native).then_some((a, m))
            });
            let Some((archive, member)) = found else {
                continue;
            };
            if self
                .members
                .iter()
                .any(|(a, m)| Arc::ptr_eq(a, archive) && *m == member)
            {
                continue;
            }
            let needed = self.take(archive, member)?;
            wanted.extend(needed.into_iter().rev());
        }
        Ok(())
    }

    /// Adds a member. Returns the names that it needs.
    fn take(&mut self, archive: &Arc<Archive>, member: u32) -> Result<Vec<String>, Error> {
        self.members.push((archive.clone(), member));
        let number = self.members.len() as u32 - 1;
        self.merge(archive.bytes(member), number)
            .map_err(|cause| Error::Input {
                file: archive.describe(member),
                cause,
            })
    }

    /// Returns true if a chosen member defines a symbol.
    pub fn defines(&self, name: &str) -> bool {
        self.globals
            .get(name)
            .is_some_and(|&s| self.symbols[s as usize].value != Definition::Undefined)
    }

    /// Returns true if no member was chosen.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the names that members need and no member defines, without weak ones.
    pub fn needed(&self) -> Vec<String> {
        let undefined =
            |s: &&Symbol| s.value == Definition::Undefined && !s.weak && !s.name.is_empty();
        self.symbols
            .iter()
            .filter(undefined)
            .map(|s| s.name.to_string())
            .collect()
    }

    /// Merges a member's sections, symbols and relocations. Returns the names that it needs.
    fn merge(&mut self, bytes: &[u8], member: u32) -> Result<Vec<String>, String> {
        let text = |e: object::read::Error| format!("damaged object: {e}");
        let header = Header::parse(bytes).map_err(text)?;
        if header.e_type.get(LE) != elf::ET_REL {
            return Err("this is not a relocatable object".into());
        }
        let sections = header.sections(LE, bytes).map_err(text)?;
        let symbols = sections.symbols(LE, bytes, elf::SHT_SYMTAB).map_err(text)?;
        // Sections of groups that an earlier member has are dropped.
        let mut gone = HashSet::new();
        for section in sections.iter() {
            let Some((flags, list)) = section.group(LE, bytes).map_err(text)? else {
                continue;
            };
            if flags != elf::GRP_COMDAT {
                continue;
            }
            let signature = symbols
                .symbol(SymbolIndex(section.sh_info(LE) as usize))
                .and_then(|s| symbols.symbol_name(LE, s))
                .map_err(text)?;
            if !self.groups.insert(signature.into()) {
                gone.extend(list.iter().map(|i| i.get(LE) as usize));
            }
        }
        let mut kept: HashMap<usize, u32> = HashMap::new();
        for (index, section) in sections.enumerate() {
            let flags = section.sh_flags(LE).0;
            if flags & elf::SHF_ALLOC.0 == 0 || gone.contains(&index.0) {
                continue;
            }
            let kind = section.sh_type(LE);
            if kind == elf::SHT_NOTE {
                continue;
            }
            let name = sections.section_name(LE, section).map_err(text)?;
            let name = String::from_utf8_lossy(name);
            let zero = kind == elf::SHT_NOBITS;
            let class = if flags & elf::SHF_TLS.0 != 0 {
                if zero {
                    SectionClass::TlsZero
                } else {
                    SectionClass::Tls
                }
            } else if zero {
                SectionClass::Zero
            } else if name == ".eh_frame" {
                SectionClass::Unwind
            } else if flags & elf::SHF_EXECINSTR.0 != 0 {
                SectionClass::Code
            } else if flags & elf::SHF_WRITE.0 != 0 {
                SectionClass::Data
            } else {
                SectionClass::Constant
            };
            let range = section.file_range(LE).unwrap_or((0, 0));
            if !zero && bytes.len() < (range.0 + range.1) as usize {
                return Err("damaged object: a section lies outside of it".into());
            }
            kept.insert(index.0, self.sections.len() as u32);
            self.sections.push(Section {
                class,
                member,
                name: name.into(),
                bytes: (range.0 as usize, range.1 as usize),
                size: section.sh_size(LE) as usize,
                align: (section.sh_addralign(LE) as usize).max(1),
                at: 0,
            });
        }
        let mut numbers = Vec::with_capacity(symbols.len());
        let mut needed = Vec::new();
        for (index, symbol) in symbols.enumerate() {
            let section = symbols.symbol_section(LE, symbol, index).map_err(text)?;
            numbers.push(self.symbol(&symbols, symbol, section, &kept, member, &mut needed)?);
        }
        for section in sections.iter() {
            let Some(&target) = kept.get(&(section.sh_info(LE) as usize)) else {
                continue;
            };
            let Some((list, _)) = section.rela(LE, bytes).map_err(text)? else {
                continue;
            };
            for r in list {
                let symbol = r.r_sym(LE, false) as usize;
                self.relocations.push(Relocation {
                    section: target,
                    offset: r.r_offset(LE) as usize,
                    kind: r.r_type(LE, false).0,
                    symbol: *numbers
                        .get(symbol)
                        .ok_or("damaged object: no such symbol")?,
                    addend: r.r_addend(LE),
                });
            }
        }
        Ok(needed)
    }

    fn symbol<'d>(
        &mut self,
        table: &object::read::elf::SymbolTable<'d, Header>,
        symbol: &elf::Sym64<LittleEndian>,
        section: Option<SectionIndex>,
        kept: &HashMap<usize, u32>,
        member: u32,
        needed: &mut Vec<String>,
    ) -> Result<u32, String> {
        let name = table.symbol_name(LE, symbol).map_err(|e| e.to_string())?;
        let name = String::from_utf8_lossy(name);
        let at = symbol.st_value(LE) as usize;
        let common = symbol.st_shndx(LE) == elf::SHN_COMMON;
        let value = match section {
            Some(s) => kept
                .get(&s.0)
                .map_or(Definition::Gone, |&s| Definition::Section(s, at)),
            None if symbol.st_shndx(LE) == elf::SHN_ABS => Definition::Absolute(at),
            None => Definition::Undefined,
        };
        let new = Symbol {
            name: name.as_ref().into(),
            value,
            weak: symbol.st_bind() == elf::STB_WEAK,
            tls: symbol.st_type() == elf::STT_TLS,
            ifunc: symbol.st_type() == elf::STT_GNU_IFUNC,
            data: symbol.st_type() == elf::STT_OBJECT || common,
            got: 0,
            jump: 0,
            pair: 0,
            offset: 0,
            user: member,
        };
        let number = self.symbols.len() as u32;
        if symbol.st_bind() == elf::STB_LOCAL {
            self.symbols.push(new);
            return Ok(number);
        }
        if value == Definition::Undefined && !common && !new.weak && !self.defines(&name) {
            needed.push(name.to_string());
        }
        let number = match self.globals.get(name.as_ref()) {
            Some(&n) => n,
            None => {
                self.globals.insert(name.as_ref().into(), number);
                self.symbols.push(new);
                if common {
                    self.commons.insert(number, (0, 1));
                }
                self.common(number, symbol, common);
                return Ok(number);
            }
        };
        let old = &mut self.symbols[number as usize];
        let undefined = matches!(old.value, Definition::Undefined | Definition::Gone);
        if matches!(value, Definition::Section(..) | Definition::Absolute(_)) {
            if undefined || (old.weak && !new.weak) {
                let user = old.user;
                *old = Symbol { user, ..new };
                self.commons.remove(&number);
            } else if !old.weak && !new.weak {
                let (archive, m) = &self.members[member as usize];
                return Err(format!(
                    "`{name}` is defined here ({}) and in another member",
                    archive.describe(*m)
                ));
            }
        } else if value == Definition::Undefined && !new.weak && undefined {
            old.weak = false;
        }
        self.common(number, symbol, common);
        Ok(number)
    }

    fn common(&mut self, number: u32, symbol: &elf::Sym64<LittleEndian>, common: bool) {
        let old = self.symbols[number as usize].value;
        if common && old == Definition::Undefined {
            let entry = self.commons.entry(number).or_insert((0, 1));
            entry.0 = entry.0.max(symbol.st_size(LE) as usize);
            // The value of a common symbol is its alignment.
            entry.1 = entry.1.max(symbol.st_value(LE) as usize);
        }
    }

    /// Gives each common symbol a section.
    pub(super) fn place_commons(&mut self) {
        let mut list: Vec<_> = self.commons.drain().collect();
        list.sort_unstable();
        for (number, (size, align)) in list {
            let section = self.sections.len() as u32;
            let symbol = &mut self.symbols[number as usize];
            symbol.value = Definition::Section(section, 0);
            self.sections.push(Section {
                class: SectionClass::Zero,
                member: symbol.user,
                name: "COMMON".into(),
                bytes: (0, 0),
                size,
                align,
                at: 0,
            });
        }
    }

    /// Returns the name of a member, for messages.
    pub(super) fn member_name(&self, member: u32) -> String {
        let (archive, m) = &self.members[member as usize];
        archive.describe(*m)
    }
}
