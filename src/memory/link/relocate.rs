//! The relocations of x86-64 that LLVM emits into objects (System V ABI, AMD64 supplement,
//! table 4.9), static and position-independent code alike.
//!
//! Code is in low memory, but its callees need not be: a call that cannot reach its function goes
//! through a jump beside the code, whose target is in a cell. An address loaded from the offset
//! table has a cell too, unless it is near enough to be computed.
//!
//! Supports no thread-local relocations; an unknown relocation is an error that names its number.

use super::{Header, LITTLE, Section, SectionUse};
use object::elf;
use object::read::elf::{SectionHeader, SectionTable, SymbolTable};

/// Bytes of a jump to a far function: `jmp [rip + cell]`, padded.
pub(super) const JUMP: usize = 8;

/// The placement of a section in memory.
#[derive(Debug)]
pub(super) struct Placement {
    /// Index of the section in the object.
    pub index: usize,
    /// Offset in the mapping.
    pub offset: usize,
    /// Address in memory, once the mapping exists.
    pub address: usize,
    pub len: usize,
    pub align: usize,
    pub kind: SectionUse,
}

/// Start of the jumps and of the cells.
#[derive(Clone, Copy)]
pub(super) struct Far {
    pub jumps: usize,
    pub cells: usize,
}

/// The symbols that relocations use, with the cells and jumps that they need.
pub(super) struct Tables {
    /// Per symbol: true if it is used, the number of its cell, the number of its jump (from 1; 0
    /// for none).
    symbols: Vec<(bool, u32, u32)>,
    cells: u32,
    jumps: u32,
}

impl Tables {
    /// Scans the relocations of the loaded sections.
    pub(super) fn of(
        sections: &SectionTable<'_, Header>,
        symbols: &SymbolTable<'_, Header>,
        object: &[u8],
        loaded: impl Fn(usize) -> bool,
    ) -> Result<Tables, String> {
        let mut tables = Tables {
            symbols: vec![(false, 0, 0); symbols.len()],
            cells: 0,
            jumps: 0,
        };
        for section in sections.iter() {
            let target = section.sh_info(LITTLE) as usize;
            if section.sh_type(LITTLE) == elf::SHT_REL && loaded(target) {
                return Err("the object's relocations lack addends".into());
            }
            if section.sh_type(LITTLE) != elf::SHT_RELA || !loaded(target) {
                continue;
            }
            for relocation in relocations(section, object)? {
                let index = relocation.r_sym(LITTLE, false) as usize;
                let (used, cell, jump) = tables
                    .symbols
                    .get_mut(index)
                    .ok_or("a relocation names no symbol")?;
                *used = true;
                let kind = relocation.r_type(LITTLE, false);
                // Addresses decide whether a call needs its jump, and they are not known yet.
                let call = kind == elf::R_X86_64_PLT32;
                if *cell == 0 && (call || in_table(kind)) {
                    tables.cells += 1;
                    *cell = tables.cells;
                }
                if *jump == 0 && call {
                    tables.jumps += 1;
                    *jump = tables.jumps;
                }
            }
        }
        Ok(tables)
    }

    /// Returns true if a relocation uses a symbol.
    pub(super) fn uses(&self, symbol: usize) -> bool {
        self.symbols[symbol].0
    }

    pub(super) fn cells(&self) -> usize {
        self.cells as usize
    }

    pub(super) fn jumps(&self) -> usize {
        self.jumps as usize
    }
}

/// Returns true for a relocation against the table of addresses.
fn in_table(kind: elf::RelocationType) -> bool {
    matches!(
        kind,
        elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX
    )
}

fn relocations<'d>(
    section: &Section,
    object: &'d [u8],
) -> Result<&'d [elf::Rela64<object::LittleEndian>], String> {
    section
        .data_as_array(LITTLE, object)
        .map_err(|e| format!("the object's relocations cannot be read: {e}"))
}

/// Applies the relocations of every loaded section; `values` holds the value of every used symbol.
pub(super) fn apply(
    sections: &SectionTable<'_, Header>,
    object: &[u8],
    places: &[Placement],
    values: &[usize],
    tables: &Tables,
    far: Far,
) -> Result<(), String> {
    for section in sections.iter() {
        let target = section.sh_info(LITTLE) as usize;
        if section.sh_type(LITTLE) != elf::SHT_RELA {
            continue;
        }
        let Some(place) = places.iter().find(|p| p.index == target) else {
            continue;
        };
        // SAFETY: the section's place in the object's own mapping, which is still writable and not
        // shared yet.
        let bytes = unsafe { std::slice::from_raw_parts_mut(place.address as *mut u8, place.len) };
        for relocation in relocations(section, object)? {
            let index = relocation.r_sym(LITTLE, false) as usize;
            let symbol = Symbol {
                value: values[index] as i64,
                cell: item_address(far.cells, tables.symbols[index].1, 8),
                jump: item_address(far.jumps, tables.symbols[index].2, JUMP),
            };
            let at = relocation.r_offset.get(LITTLE) as usize;
            let kind = relocation.r_type(LITTLE, false);
            let addend = relocation.r_addend.get(LITTLE);
            apply_one(bytes, place.address, at, kind, addend, symbol)?;
        }
    }
    Ok(())
}

/// Returns the address of the item numbered from 1 in a row of items of `size` bytes; meaningless
/// for 0, the number of an absent item.
fn item_address(row: usize, number: u32, size: usize) -> usize {
    row.wrapping_add((number as usize).wrapping_sub(1).wrapping_mul(size))
}

/// A symbol with its cell and jump.
#[derive(Clone, Copy)]
struct Symbol {
    value: i64,
    /// Address of its cell, if it has one.
    cell: usize,
    /// Address of its jump, if it has one.
    jump: usize,
}

impl Symbol {
    /// Fills the cell and returns its address.
    fn fill_cell(self) -> i64 {
        // SAFETY: `Tables::of` counted this symbol's cell, so it lies in the mapping.
        unsafe { (self.cell as *mut i64).write(self.value) };
        self.cell as i64
    }

    /// Writes the jump and returns its address.
    fn write_jump(self) -> i64 {
        let cell = self.fill_cell();
        let mut code = [0xcc; JUMP];
        code[..2].copy_from_slice(&[0xff, 0x25]); // jmp [rip + cell]
        let distance = (cell - (self.jump as i64 + 6)) as i32;
        code[2..6].copy_from_slice(&distance.to_le_bytes());
        // SAFETY: `Tables::of` counted this symbol's jump, so it lies in the mapping.
        unsafe { (self.jump as *mut [u8; JUMP]).write(code) };
        self.jump as i64
    }
}

fn apply_one(
    bytes: &mut [u8],
    section: usize,
    at: usize,
    kind: elf::RelocationType,
    addend: i64,
    symbol: Symbol,
) -> Result<(), String> {
    let here = (section + at) as i64;
    let value = symbol.value.wrapping_add(addend);
    let relative = value.wrapping_sub(here);
    let mut put = |word: &[u8]| match bytes.get_mut(at..at + word.len()) {
        Some(field) => {
            field.copy_from_slice(word);
            Ok(())
        }
        None => Err("a relocation lies outside of its section".to_owned()),
    };
    let narrow = |v: i64| {
        i32::try_from(v).map_err(|_| format!("relocation {} does not reach its target", kind.0))
    };
    match kind {
        elf::R_X86_64_NONE => Ok(()),
        elf::R_X86_64_64 => put(&value.to_le_bytes()),
        elf::R_X86_64_PC64 => put(&relative.to_le_bytes()),
        elf::R_X86_64_32S => put(&narrow(value)?.to_le_bytes()),
        elf::R_X86_64_32 => match u32::try_from(value) {
            Ok(word) => put(&word.to_le_bytes()),
            Err(_) => narrow(value).map(|_| ()).and(Err(
                "a negative value does not fit an unsigned relocation".into(),
            )),
        },
        elf::R_X86_64_PC32 => put(&narrow(relative)?.to_le_bytes()),
        elf::R_X86_64_PLT32 => {
            let distance = match i32::try_from(relative) {
                Ok(near) => near,
                Err(_) => narrow(symbol.write_jump() + addend - here)?,
            };
            put(&distance.to_le_bytes())
        }
        elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
            // `mov reg, [rip + cell]` becomes `lea reg, [rip + symbol]` if that reaches. The plain
            // relocation does not guarantee such an instruction.
            let load = kind != elf::R_X86_64_GOTPCREL
                && addend == -4
                && at >= 2
                && bytes.get(at - 2) == Some(&0x8b);
            let word = match i32::try_from(relative) {
                Ok(near) if load => {
                    bytes[at - 2] = 0x8d;
                    near
                }
                _ => narrow(symbol.fill_cell() + addend - here)?,
            };
            match bytes.get_mut(at..at + 4) {
                Some(field) => {
                    field.copy_from_slice(&word.to_le_bytes());
                    Ok(())
                }
                None => Err("a relocation lies outside of its section".to_owned()),
            }
        }
        _ => Err(format!("unknown relocation {}", kind.0)),
    }
}
