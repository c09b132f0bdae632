//! Maps compiled code to source lines.
//!
//! [`LineTable::read`] converts the line tables in LLVM's object file (DWARF 5, sections 3.3.8 and
//! 6.2) into one compact table; [`LineTable::location`] looks a position up. A look-up runs in a
//! signal handler, where nothing may be allocated, and the table is cached with the code, so
//! neither needs to decode DWARF again. Positions are offsets from the start of a function, whose
//! symbol contains its number (`ompvm.f7`), so the table does not depend on the link address.
//!
//! Layout of the table, in little-endian words of 32 bits: [`MAGIC`], number of functions, number
//! of places, size of the rows in bytes; per function its number and the start and end of its rows;
//! per place the file, line, column and function. Then follow the rows (two LEB128 numbers: bytes
//! since the row before; place plus one, or 0 for code without a line) and the text (a length in
//! LEB128, the bytes).
//!
//! Variables and types are not included; debuggers get LLVM's own sections (see [`super::tools`]).

use gimli::{AttributeValue, Dwarf, EndianSlice, LittleEndian, SectionId, UnitOffset};
use hashbrown::HashMap;
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionIndex};

const MAGIC: u32 = 0x314c_4d4f;
const HEADER: usize = 4 * 4;
const FUNCTION: usize = 3 * 4;
const LOCATION: usize = 4 * 4;

/// A source location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceLocation<'a> {
    /// File name as passed to the compiler.
    pub file: &'a str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// Innermost inlined function; empty if the location belongs to the function that was looked
    /// up.
    pub function: &'a str,
}

/// The line table of one object.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct LineTable {
    bytes: Vec<u8>,
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;

impl LineTable {
    /// Reads the table of an object file from LLVM; empty if it holds no line tables.
    ///
    /// # Errors
    /// Describes the damage of the object.
    pub fn read(object: &[u8]) -> Result<LineTable, String> {
        let file: ElfFile<'_, FileHeader64<object::Endianness>> =
            ElfFile::parse(object).map_err(|e| e.to_string())?;
        if file.section_by_name(".debug_line").is_none() {
            return Ok(LineTable::default());
        }
        let mut sections: HashMap<&'static str, Vec<u8>> = HashMap::new();
        for id in NEEDED {
            sections.insert(id.name(), section(&file, id)?);
        }
        let mut work = LineTableBuilder::default();
        work.read(&sections).map_err(|e| e.to_string())?;
        Ok(work.write(&functions(&file)))
    }

    /// Wraps the bytes of a table that was written before.
    pub fn from_bytes(bytes: Vec<u8>) -> LineTable {
        LineTable { bytes }
    }

    /// Returns the bytes of the table.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn word(&self, at: usize) -> Option<u32> {
        let word = self.bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(word.try_into().ok()?))
    }

    /// Returns the starts of the places, the rows and the text.
    fn starts(&self) -> Option<[usize; 3]> {
        if self.word(0)? != MAGIC {
            return None;
        }
        let word = |i: usize| Some(self.word(i * 4)? as usize);
        let places = HEADER + word(1)? * FUNCTION;
        let rows = places + word(2)? * LOCATION;
        Some([places, rows, rows + word(3)?])
    }

    /// Returns the location `offset` bytes into a function's code. Does not allocate.
    pub fn location(&self, function: u32, offset: u32) -> Option<SourceLocation<'_>> {
        self.rows(function)?
            .take_while(|&(start, _)| start <= offset)
            .last()?
            .1
    }

    /// Returns the rows of a function: start offset and location.
    pub fn rows(
        &self,
        function: u32,
    ) -> Option<impl Iterator<Item = (u32, Option<SourceLocation<'_>>)>> {
        let [_, rows, _] = self.starts()?;
        let count = self.word(4)? as usize;
        let number = |i: usize| self.word(HEADER + i * FUNCTION).unwrap_or(u32::MAX);
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high) / 2;
            if number(middle) < function {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low == count || number(low) != function {
            return None;
        }
        let bound = |i: usize| Some(rows + self.word(HEADER + low * FUNCTION + i * 4)? as usize);
        let mut stream = self.bytes.get(bound(1)?..bound(2)?)?;
        let mut offset = 0u32;
        Some(std::iter::from_fn(move || {
            offset = offset.wrapping_add(take_leb128(&mut stream)?);
            let location = take_leb128(&mut stream)?;
            Some((
                offset,
                location.checked_sub(1).and_then(|p| self.location_at(p)),
            ))
        }))
    }

    fn location_at(&self, index: u32) -> Option<SourceLocation<'_>> {
        let [places, _, text] = self.starts()?;
        let field = |i: usize| self.word(places + index as usize * LOCATION + i * 4);
        let string = |at: u32| {
            let mut rest = self.bytes.get(text + at as usize..)?;
            let length = take_leb128(&mut rest)? as usize;
            std::str::from_utf8(rest.get(..length)?).ok()
        };
        Some(SourceLocation {
            file: string(field(0)?)?,
            line: field(1)?,
            column: field(2)?,
            function: string(field(3)?)?,
        })
    }
}

/// Removes a LEB128 number from the front.
fn take_leb128(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(byte & 0x7f).wrapping_shl(shift);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn push_leb128(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The sections with line information.
const NEEDED: [SectionId; 8] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

type Elf<'a> = ElfFile<'a, FileHeader64<object::Endianness>>;

/// Returns an artificial address for an offset in a code section, because sections overlap in an
/// object file.
fn address(section: SectionIndex, offset: u64) -> u64 {
    (section.0 as u64) << 32 | offset
}

/// Returns a section's contents with its relocations applied: offsets into other sections for words
/// of 32 bits, artificial addresses for those of 64.
fn section(file: &Elf<'_>, id: SectionId) -> Result<Vec<u8>, String> {
    let Some(section) = file.section_by_name(id.name()) else {
        return Ok(Vec::new());
    };
    let mut bytes = section.data().map_err(|e| e.to_string())?.to_vec();
    for (at, relocation) in section.relocations() {
        let base = match relocation.target() {
            RelocationTarget::Symbol(symbol) => {
                let symbol = file.symbol_by_index(symbol).map_err(|e| e.to_string())?;
                match symbol.section_index() {
                    Some(section) if relocation.size() == 64 => address(section, symbol.address()),
                    _ => symbol.address(),
                }
            }
            _ => 0,
        };
        let value = base.wrapping_add_signed(relocation.addend()).to_le_bytes();
        let width = usize::from(relocation.size() / 8);
        let at = at as usize;
        match (bytes.get_mut(at..at + width), value.get(..width)) {
            (Some(word), Some(value)) => word.copy_from_slice(value),
            _ => return Err(format!("a relocation lies outside of {}", id.name())),
        }
    }
    Ok(bytes)
}

/// Returns start, length and number of every compiled function, by address.
fn functions(file: &Elf<'_>) -> Vec<(u64, u64, u32)> {
    let mut out: Vec<(u64, u64, u32)> = file
        .symbols()
        .filter_map(|s| {
            let name = s.name().ok()?;
            let number = match name.strip_prefix("ompvm.o") {
                // A loop entry: its object does not also contain the whole function.
                Some(entry) => entry.split_once('.')?.0,
                None => name.strip_prefix("ompvm.f")?,
            };
            let number = number.parse().ok()?;
            let start = address(s.section_index()?, s.address());
            Some((start, s.size(), number))
        })
        .collect();
    out.sort_unstable();
    out
}

/// A code range of an inlined function.
struct InlinedRange {
    start: u64,
    end: u64,
    depth: isize,
    /// Offset in `.debug_info` of the entry with its name.
    name: usize,
}

/// The line information of all units.
#[derive(Default)]
struct LineTableBuilder {
    text: Vec<u8>,
    strings: HashMap<String, u32>,
    places: Vec<[u32; 4]>,
    known: HashMap<[u32; 4], u32>,
    /// Address, file, line and column; line 0 for code without a line.
    rows: Vec<(u64, u32, u32, u32)>,
    names: HashMap<usize, u32>,
    inlined: Vec<InlinedRange>,
}

impl LineTableBuilder {
    fn string(&mut self, text: &str) -> u32 {
        if let Some(&at) = self.strings.get(text) {
            return at;
        }
        let at = self.text.len() as u32;
        push_leb128(&mut self.text, text.len() as u32);
        self.text.extend_from_slice(text.as_bytes());
        self.strings.insert(text.to_owned(), at);
        at
    }

    fn read(&mut self, sections: &HashMap<&'static str, Vec<u8>>) -> gimli::Result<()> {
        let dwarf = Dwarf::load(|id| {
            let bytes = sections.get(id.name()).map_or(&[][..], Vec::as_slice);
            Ok::<_, gimli::Error>(EndianSlice::new(bytes, LittleEndian))
        })?;
        // The empty string means "not inlined".
        self.string("");
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            let unit = dwarf.unit(header)?;
            self.lines(&dwarf, &unit)?;
            self.functions(&dwarf, &unit)?;
        }
        Ok(())
    }

    fn lines(
        &mut self,
        dwarf: &Dwarf<Slice<'_>>,
        unit: &gimli::Unit<Slice<'_>>,
    ) -> gimli::Result<()> {
        let Some(program) = unit.line_program.clone() else {
            return Ok(());
        };
        let mut files: HashMap<u64, u32> = HashMap::new();
        let mut rows = program.rows();
        while let Some((header, row)) = rows.next_row()? {
            if row.end_sequence() {
                self.rows.push((row.address(), 0, 0, 0));
                continue;
            }
            let index = row.file_index();
            let file = match files.get(&index) {
                Some(&file) => file,
                None => {
                    let name = match row.file(header) {
                        Some(entry) => file_name(dwarf, unit, header, entry)?,
                        None => String::new(),
                    };
                    let file = self.string(&name);
                    files.insert(index, file);
                    file
                }
            };
            let line = row.line().map_or(0, |l| l.get() as u32);
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(c) => c.get() as u32,
            };
            self.rows.push((row.address(), file, line, column));
        }
        Ok(())
    }

    fn functions(
        &mut self,
        dwarf: &Dwarf<Slice<'_>>,
        unit: &gimli::Unit<Slice<'_>>,
    ) -> gimli::Result<()> {
        let global = |o: UnitOffset| o.to_debug_info_offset(&unit.header).map(|o| o.0);
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            let inlined = entry.tag() == gimli::DW_TAG_inlined_subroutine;
            if !inlined && entry.tag() != gimli::DW_TAG_subprogram {
                continue;
            }
            let Some(own) = global(entry.offset()) else {
                continue;
            };
            let name = entry.attr_value(gimli::DW_AT_name);
            if let Some(name) = name {
                let name = dwarf.attr_string(unit, name)?;
                let name = self.string(&name.to_string_lossy());
                self.names.insert(own, name);
            }
            if !inlined {
                continue;
            }
            let origin = match entry.attr_value(gimli::DW_AT_abstract_origin) {
                Some(AttributeValue::UnitRef(at)) => global(at),
                Some(AttributeValue::DebugInfoRef(at)) => Some(at.0),
                _ => None,
            };
            let Some(name) = origin else { continue };
            let depth = entry.depth();
            let mut ranges = dwarf.die_ranges(unit, entry)?;
            while let Some(range) = ranges.next()? {
                self.inlined.push(InlinedRange {
                    start: range.begin,
                    end: range.end,
                    depth,
                    name,
                });
            }
        }
        Ok(())
    }

    fn write(mut self, functions: &[(u64, u64, u32)]) -> LineTable {
        // Of rows at one address the last counts, so the end of a sequence is sorted first.
        self.rows
            .sort_by_key(|&(address, _, line, _)| (address, line != 0));
        self.inlined.sort_by_key(|i| (i.start, i.depth));
        let rows = std::mem::take(&mut self.rows);
        let mut inlined = std::mem::take(&mut self.inlined).into_iter().peekable();
        let mut around: Vec<InlinedRange> = Vec::new();
        let mut rows = rows.into_iter().peekable();
        let (mut stream, mut heads) = (Vec::new(), Vec::new());
        for &(start, size, number) in functions {
            let from = stream.len() as u32;
            let (mut last_offset, mut last_place) = (0, None);
            while let Some(&(address, ..)) = rows.peek()
                && address < start + size
            {
                let (_, file, line, column) = rows.next().unwrap_or_default();
                let next = rows.peek().map(|r| r.0);
                if address < start || next == Some(address) {
                    continue;
                }
                while let Some(piece) = inlined.next_if(|i| i.start <= address) {
                    around.push(piece);
                }
                around.retain(|piece| piece.end > address);
                let function = around.last().and_then(|i| self.names.get(&i.name));
                let location = match line {
                    0 => 0,
                    _ => self.location([file, line, column, function.copied().unwrap_or(0)]) + 1,
                };
                if last_place == Some(location) {
                    continue;
                }
                let offset = (address - start) as u32;
                push_leb128(&mut stream, offset - last_offset);
                push_leb128(&mut stream, location);
                (last_offset, last_place) = (offset, Some(location));
            }
            heads.push([number, from, stream.len() as u32]);
        }
        heads.sort_unstable();
        let head = [
            MAGIC,
            heads.len() as u32,
            self.places.len() as u32,
            stream.len() as u32,
        ];
        let words = head.iter().chain(heads.iter().flatten());
        let words = words.chain(self.places.iter().flatten());
        let mut bytes: Vec<u8> = words.flat_map(|w| w.to_le_bytes()).collect();
        bytes.extend_from_slice(&stream);
        bytes.extend_from_slice(&self.text);
        LineTable { bytes }
    }

    fn location(&mut self, location: [u32; 4]) -> u32 {
        *self.known.entry(location).or_insert_with(|| {
            self.places.push(location);
            self.places.len() as u32 - 1
        })
    }
}

/// Returns a file's name as passed to the compiler: with its folder, unless that is the folder of
/// the compilation.
fn file_name(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &gimli::Unit<Slice<'_>>,
    header: &gimli::LineProgramHeader<Slice<'_>>,
    entry: &gimli::FileEntry<Slice<'_>>,
) -> gimli::Result<String> {
    let name = dwarf.attr_string(unit, entry.path_name())?;
    let name = name.to_string_lossy().into_owned();
    if entry.directory_index() == 0 || name.starts_with('/') {
        return Ok(name);
    }
    let Some(folder) = entry.directory(header) else {
        return Ok(name);
    };
    let folder = dwarf.attr_string(unit, folder)?;
    Ok(format!("{}/{name}", folder.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns rows at 0, 4 and 9 of function 3: two places and a range without a line.
    fn table() -> LineTable {
        let mut work = LineTableBuilder::default();
        work.string("");
        let file = work.string("dir/a.c");
        let inner = work.string("inner");
        work.names.insert(77, inner);
        let base = 1u64 << 32 | 0x40;
        work.rows = vec![
            (base, file, 10, 3),
            (base + 4, file, 20, 0),
            (base + 9, 0, 0, 0),
            (base + 16, file, 30, 1),
        ];
        work.inlined.push(InlinedRange {
            start: base + 4,
            end: base + 9,
            depth: 2,
            name: 77,
        });
        work.write(&[(base, 12, 3), (base + 16, 300, 1)])
    }

    #[test]
    fn a_position_is_found_in_its_row() {
        let lines = table();
        let first = SourceLocation {
            file: "dir/a.c",
            line: 10,
            column: 3,
            function: "",
        };
        assert_eq!(lines.location(3, 0), Some(first));
        assert_eq!(lines.location(3, 3), Some(first));
        let second = SourceLocation {
            file: "dir/a.c",
            line: 20,
            column: 0,
            function: "inner",
        };
        assert_eq!(lines.location(3, 4), Some(second));
        assert_eq!(lines.location(3, 8), Some(second));
        assert_eq!(lines.location(3, 9), None);
        assert_eq!(lines.location(1, 299).map(|p| p.line), Some(30));
        assert_eq!(lines.location(2, 0), None);
    }

    #[test]
    fn a_table_survives_serialization_and_damage_costs_lines_only() {
        let lines = table();
        assert_eq!(LineTable::from_bytes(lines.as_bytes().to_vec()), lines);
        for keep in 0..lines.as_bytes().len() {
            let cut = LineTable::from_bytes(lines.as_bytes()[..keep].to_vec());
            for offset in 0..12 {
                if let Some(location) = cut.location(3, offset) {
                    assert_eq!(Some(location), lines.location(3, offset));
                }
            }
        }
        for at in 0..lines.as_bytes().len() {
            let mut bytes = lines.as_bytes().to_vec();
            bytes[at] = !bytes[at];
            let _ = LineTable::from_bytes(bytes).location(3, 5);
        }
    }
}
