//! Resolves the references of the merged members once their sections are placed.
//!
//! Distances within the object are written at once; addresses become relocations of the loader;
//! what leads out of the object is recorded in the [`Table`], for [`super::super::bind`].

use super::super::objects::{Definition, NativeMembers, Relocation, SectionClass, Symbol};
use super::super::table::{
    self, Fixup, Global, IFuncChoice, SymbolLocation, Table, UndefinedSymbol,
};
use super::{JUMP, Layout, Requirements};
use crate::loader::write;
use hashbrown::HashMap;
use object::elf;

/// Target of a reference when the object is created.
#[derive(Clone, Copy)]
enum Target {
    /// Offset in the object.
    Own(usize),
    /// Offset in a thread's TLS block.
    Thread(usize),
    /// Absolute value.
    Absolute(usize),
    /// Index into [`Table::undefined`].
    UndefinedSymbol(u32),
}

/// Resolves the references that are known, and records the others.
pub(super) struct Relocator<'a> {
    pub natives: &'a NativeMembers,
    pub layout: &'a Layout,
    pub out: &'a mut [u8],
    pub table: Table,
    /// Indices into [`Table::undefined`], by symbol.
    pub undefined: HashMap<u32, u32>,
    /// Words that hold an address in the object: their offset and the target's.
    pub relative: Vec<(usize, usize)>,
    /// The other dynamic relocations.
    pub others: Vec<[u64; 3]>,
}

impl Relocator<'_> {
    fn jump(&self, symbol: &Symbol) -> usize {
        self.layout.jumps + (symbol.jump as usize - 1) * JUMP
    }

    fn cell(&self, number: u32) -> usize {
        self.layout.cells + (number as usize - 1) * 8
    }

    fn target(&mut self, number: u32) -> Result<Target, String> {
        let natives = self.natives;
        let symbol = &natives.symbols[number as usize];
        Ok(match symbol.value {
            Definition::Section(s, at) => {
                let section = &natives.sections[s as usize];
                match section.class {
                    SectionClass::Tls | SectionClass::TlsZero => Target::Thread(section.at + at),
                    _ if symbol.ifunc => Target::Own(self.jump(symbol)),
                    _ => Target::Own(section.at + at),
                }
            }
            Definition::Absolute(a) => Target::Absolute(a),
            Definition::Gone => Target::Absolute(0),
            Definition::Undefined if symbol.name.is_empty() => Target::Absolute(0),
            Definition::Undefined if &*symbol.name == "_GLOBAL_OFFSET_TABLE_" => {
                Target::Own(self.layout.cells)
            }
            Definition::Undefined if symbol.tls => {
                return Err(format!(
                    "{} uses the thread-local variable `{}` of the program, which is not supported",
                    natives.member_name(symbol.user),
                    symbol.name
                ));
            }
            Definition::Undefined => {
                let list = &mut self.table.undefined;
                let at = *self.undefined.entry(number).or_insert_with(|| {
                    list.push(UndefinedSymbol {
                        name: symbol.name.to_string(),
                        weak: symbol.weak,
                        user: natives.member_name(symbol.user),
                    });
                    list.len() as u32 - 1
                });
                Target::UndefinedSymbol(at)
            }
        })
    }

    /// Lists the global symbols by name.
    pub(super) fn globals(&mut self) {
        let natives = self.natives;
        let mut names: Vec<_> = natives.globals.iter().collect();
        names.sort_unstable();
        for (name, &number) in names {
            let symbol = &natives.symbols[number as usize];
            let location = match symbol.value {
                Definition::Section(..) if symbol.tls => SymbolLocation::ThreadLocal,
                Definition::Section(..) if symbol.ifunc => SymbolLocation::At(self.jump(symbol)),
                Definition::Section(s, at) => {
                    SymbolLocation::At(natives.sections[s as usize].at + at)
                }
                Definition::Absolute(a) => SymbolLocation::Absolute(a),
                Definition::Undefined | Definition::Gone => continue,
            };
            let start = self.table.names.len() as u32;
            self.table.names.push_str(name);
            self.table.globals.push(Global {
                name: start..self.table.names.len() as u32,
                location,
            });
        }
    }

    fn fixup(&mut self, at: usize, value: table::FixupValue, addend: i64) {
        self.table.fixups.push(Fixup { at, value, addend });
    }

    /// Adds a relocation by which the loader writes the number of the TLS block, or an offset in it
    /// from the thread pointer.
    fn by_loader(&mut self, at: usize, kind: elf::RelocationType, addend: usize) {
        let entry = [at as u64, u64::from(kind.0), addend as u64];
        self.others.push(entry);
    }

    /// Fills in the cells and jumps.
    pub(super) fn cells(&mut self, needs: &Requirements, tls: bool) -> Result<(), String> {
        let natives = self.natives;
        if self.table.thread.is_some() {
            self.by_loader(self.layout.thread, elf::R_X86_64_TPOFF64, 0);
        }
        if needs.block && tls {
            self.by_loader(self.layout.block, elf::R_X86_64_DTPMOD64, 0);
        }
        for (number, symbol) in natives.symbols.iter().enumerate() {
            if symbol.got == 0 && symbol.pair == 0 && symbol.offset == 0 {
                continue;
            }
            let target = self.target(number as u32)?;
            if symbol.got != 0 {
                let at = self.cell(symbol.got);
                match target {
                    _ if symbol.ifunc && symbol.value != Definition::Undefined => {
                        if let Definition::Section(s, offset) = symbol.value {
                            let resolver = natives.sections[s as usize].at + offset;
                            self.table
                                .ifunc_choices
                                .push(IFuncChoice { cell: at, resolver });
                        }
                    }
                    Target::Own(value) => self.relative.push((at, value)),
                    Target::Thread(value) | Target::Absolute(value) => {
                        write(self.out, at, &[value as u64]);
                    }
                    Target::UndefinedSymbol(n) => self.fixup(at, table::FixupValue::Address(n), 0),
                }
            }
            let in_block = match target {
                Target::Thread(value) => value,
                _ => 0,
            };
            if symbol.pair != 0 {
                let at = self.cell(symbol.pair);
                self.by_loader(at, elf::R_X86_64_DTPMOD64, 0);
                write(self.out, at + 8, &[in_block as u64]);
            }
            if symbol.offset != 0 {
                let at = self.cell(symbol.offset);
                self.by_loader(at, elf::R_X86_64_TPOFF64, in_block);
            }
            if symbol.jump != 0 {
                let at = self.jump(symbol);
                // jmp [rip + distance], counted from the end of the six bytes; two-byte nop
                let distance = self.cell(symbol.got).wrapping_sub(at + 6) as u32;
                let mut code = [0xff, 0x25, 0, 0, 0, 0, 0x66, 0x90];
                code[2..6].copy_from_slice(&distance.to_le_bytes());
                self.out[at..at + JUMP].copy_from_slice(&code);
            }
        }
        Ok(())
    }

    /// Applies the members' relocations.
    pub(super) fn relocate(&mut self) -> Result<(), String> {
        let natives = self.natives;
        for r in &natives.relocations {
            let section = &natives.sections[r.section as usize];
            let symbol = &natives.symbols[r.symbol as usize];
            if symbol.value == Definition::Gone {
                // Unwind records of a dropped duplicate function; no reference leads to them.
                continue;
            }
            let wide = is_wide(elf::RelocationType(r.kind));
            let filled = !matches!(section.class, SectionClass::Zero | SectionClass::TlsZero);
            if !filled || r.offset + if wide { 8 } else { 4 } > section.bytes.1 {
                return Err("damaged object: a relocation outside of its section".into());
            }
            let at = match section.class {
                SectionClass::Tls => self.layout.template + section.at + r.offset,
                _ => section.at + r.offset,
            };
            let Some(number) = self.value(r, at)? else {
                continue;
            };
            if wide {
                write(self.out, at, &[number as u64]);
                continue;
            }
            let Ok(short) = i32::try_from(number as isize) else {
                return Err(format!(
                    "{} cannot reach `{}` directly; compile it with -fPIC",
                    natives.member_name(section.member),
                    symbol.name
                ));
            };
            self.out[at..at + 4].copy_from_slice(&short.to_le_bytes());
        }
        Ok(())
    }

    /// Returns the number that a relocation puts at `at` (AMD64 supplement of the System V ABI,
    /// table 4.9). Records the relocation and returns `None` if the number is known later.
    fn value(&mut self, r: &Relocation, at: usize) -> Result<Option<usize>, String> {
        let natives = self.natives;
        let symbol = &natives.symbols[r.symbol as usize];
        let addend = r.addend;
        let add = |value: usize| value.wrapping_add(addend as usize);
        let distance = |value: usize| add(value).wrapping_sub(at);
        let target = self.target(r.symbol)?;
        Ok(Some(match (elf::RelocationType(r.kind), target) {
            (elf::R_X86_64_NONE, _) => return Ok(None),
            (elf::R_X86_64_64, Target::Own(value)) => {
                self.relative.push((at, add(value)));
                return Ok(None);
            }
            (elf::R_X86_64_64, Target::Thread(value) | Target::Absolute(value)) => add(value),
            (elf::R_X86_64_64, Target::UndefinedSymbol(n)) => {
                return self.later(at, table::FixupValue::Address(n), addend);
            }
            (elf::R_X86_64_PC64, Target::UndefinedSymbol(n)) => {
                return self.later(at, table::FixupValue::Distance(n), addend);
            }
            (elf::R_X86_64_PLT32, Target::UndefinedSymbol(_)) if symbol.jump != 0 => {
                distance(self.jump(symbol))
            }
            (elf::R_X86_64_PLT32 | elf::R_X86_64_PC32, Target::UndefinedSymbol(n)) => {
                let jump = (symbol.jump != 0).then(|| self.jump(symbol));
                return self.later(at, table::FixupValue::Near(n, jump), addend);
            }
            (elf::R_X86_64_PC64 | elf::R_X86_64_PC32 | elf::R_X86_64_PLT32, Target::Own(value)) => {
                distance(value)
            }
            (elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX, _) => {
                distance(self.cell(symbol.got))
            }
            (elf::R_X86_64_TLSGD, _) => distance(self.cell(symbol.pair)),
            (elf::R_X86_64_TLSLD, _) => distance(self.layout.block),
            (elf::R_X86_64_GOTTPOFF, _) => distance(self.cell(symbol.offset)),
            (
                elf::R_X86_64_DTPOFF32 | elf::R_X86_64_DTPOFF64,
                Target::Thread(value) | Target::Absolute(value),
            ) => add(value),
            (elf::R_X86_64_TPOFF32, Target::Thread(value)) => {
                let value = add(value) as i64;
                return self.later(at, table::FixupValue::Thread { wide: false }, value);
            }
            (elf::R_X86_64_TPOFF64, Target::Thread(value)) => {
                let value = add(value) as i64;
                return self.later(at, table::FixupValue::Thread { wide: true }, value);
            }
            (elf::R_X86_64_GOTPC32, _) => distance(self.layout.cells),
            (elf::R_X86_64_GOTOFF64, Target::Own(value)) => {
                add(value).wrapping_sub(self.layout.cells)
            }
            (elf::R_X86_64_GOTOFF64, Target::UndefinedSymbol(n)) => {
                return self.later(at, table::FixupValue::FromCells(n), addend);
            }
            (other, _) => {
                let section = &natives.sections[r.section as usize];
                return Err(format!(
                    "{} has a relocation of type {} to `{}`, which is not supported",
                    natives.member_name(section.member),
                    other.0,
                    symbol.name
                ));
            }
        }))
    }

    /// Records a number that is known once the object is bound to a program.
    fn later(
        &mut self,
        at: usize,
        value: table::FixupValue,
        addend: i64,
    ) -> Result<Option<usize>, String> {
        self.fixup(at, value, addend);
        Ok(None)
    }
}

/// Returns true for relocations of eight bytes; the others have four.
fn is_wide(kind: elf::RelocationType) -> bool {
    matches!(
        kind,
        elf::R_X86_64_64
            | elf::R_X86_64_PC64
            | elf::R_X86_64_DTPOFF64
            | elf::R_X86_64_TPOFF64
            | elf::R_X86_64_GOTOFF64
    )
}
