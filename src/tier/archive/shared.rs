//! Creates one shared object of the merged members, which the system's loader loads.
//!
//! The file holds the members' sections, cells (GOT entries) and jumps (PLT entries), and the
//! program headers that the loader and unwinders read (TLS template, unwind table). Every distance
//! within the object is final. Addresses in the object, the number of its TLS block and offsets
//! from the thread pointer are dynamic relocations, which the loader applies. References that lead
//! out of the object are recorded in the [`Table`] and filled in by [`super::bind`], in place; so
//! the only segment is loaded writable and protected afterwards. Addresses in the file are offsets.
//!
//! Layouts are those of the System V ABI ("Object Files", "Dynamic Linking") and, for
//! `.eh_frame_hdr`, of the Linux Standard Base, section 10.6.2.

mod relocator;

use super::objects::{Definition, NativeMembers, Relocation, SectionClass, Symbol};
use super::table::{ArrayPhase, FunctionArray, Table};
use crate::loader::{self, HEADER, PROGRAM_HEADER, Segment, Writer, write};
use hashbrown::HashMap;
use object::elf;
use ompvm_support::error::Error;
use relocator::Relocator;
use std::ops::Range;

const PAGE: usize = 4096;
/// Size of a jump in bytes: `jmp [rip + cell]`, padded.
const JUMP: usize = 8;
/// Size of a dynamic relocation in bytes.
const RELOCATION: usize = 24;
/// Size of the dynamic section in bytes: eleven entries.
const DYNAMIC: usize = 11 * 16;

/// A shared object and its load-time table.
#[derive(Debug)]
pub(super) struct Object {
    pub file: Vec<u8>,
    pub table: Table,
}

/// Layout of the object, as offsets from its base.
#[derive(Debug, Default)]
struct Layout {
    jumps: usize,
    cells: usize,
    /// Cell with the TLS block's offset from the thread pointer.
    thread: usize,
    /// Pair with which `__tls_get_addr` returns the start of the module's TLS block.
    block: usize,
    /// Initial bytes of a thread's TLS block.
    template: usize,
    /// Number of these bytes.
    template_len: usize,
    len: usize,
    /// Size and alignment of a thread's TLS block.
    tls: (usize, usize),
}

/// Requirements of the relocations beside the sections.
struct Requirements {
    cells: u32,
    jumps: u32,
    block: bool,
    static_tls: bool,
}

/// Scans the relocations and assigns numbers of cells, jumps and pairs to the symbols.
fn needs(natives: &mut NativeMembers) -> Result<Requirements, String> {
    let mut needs = Requirements {
        cells: 0,
        jumps: 0,
        block: false,
        static_tls: false,
    };
    let list: Vec<Relocation> = natives.relocations.clone();
    for r in list {
        let code = natives.sections[r.section as usize].class == SectionClass::Code;
        let symbol = &mut natives.symbols[r.symbol as usize];
        let mut take = |slot: &mut u32, n: u32| {
            if *slot == 0 {
                *slot = needs.cells + 1;
                needs.cells += n;
            }
        };
        match elf::RelocationType(r.kind) {
            elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
                take(&mut symbol.got, 1);
            }
            elf::R_X86_64_PLT32 | elf::R_X86_64_PC32 => {
                let far = symbol.ifunc || symbol.value == Definition::Undefined;
                if far && (code || r.kind == elf::R_X86_64_PLT32.0) && symbol.jump == 0 {
                    take(&mut symbol.got, 1);
                    needs.jumps += 1;
                    symbol.jump = needs.jumps;
                }
            }
            elf::R_X86_64_64 if symbol.ifunc && symbol.jump == 0 => {
                take(&mut symbol.got, 1);
                needs.jumps += 1;
                symbol.jump = needs.jumps;
            }
            elf::R_X86_64_TLSGD => take(&mut symbol.pair, 2),
            elf::R_X86_64_TLSLD => needs.block = true,
            elf::R_X86_64_GOTTPOFF => {
                needs.static_tls = true;
                take(&mut symbol.offset, 1);
            }
            elf::R_X86_64_TPOFF32 | elf::R_X86_64_TPOFF64 => needs.static_tls = true,
            elf::R_X86_64_NONE
            | elf::R_X86_64_64
            | elf::R_X86_64_PC64
            | elf::R_X86_64_SIZE32
            | elf::R_X86_64_SIZE64
            | elf::R_X86_64_DTPOFF32
            | elf::R_X86_64_DTPOFF64
            | elf::R_X86_64_GOTPC32
            | elf::R_X86_64_GOTOFF64 => {}
            elf::R_X86_64_32 | elf::R_X86_64_32S => {
                return Err(format!(
                    "{} is not position-independent code; compile it with -fPIC or -fPIE",
                    natives.member_name(natives.sections[r.section as usize].member)
                ));
            }
            elf::RelocationType(other) => {
                return Err(format!(
                    "{} has a relocation of type {other}, which is not supported",
                    natives.member_name(natives.sections[r.section as usize].member)
                ));
            }
        }
    }
    // Every ifunc needs a cell for its choice.
    for symbol in &mut natives.symbols {
        if symbol.ifunc && symbol.value != Definition::Undefined && symbol.jump == 0 {
            if symbol.got == 0 {
                symbol.got = needs.cells + 1;
                needs.cells += 1;
            }
            needs.jumps += 1;
            symbol.jump = needs.jumps;
        }
    }
    Ok(needs)
}

fn bytes(natives: &NativeMembers, section: usize) -> &[u8] {
    let s = &natives.sections[section];
    let (archive, member) = &natives.members[s.member as usize];
    &archive.bytes(*member)[s.bytes.0..s.bytes.0 + s.bytes.1]
}

/// Places every section and writes the object. `replaced` returns true if the guest has a
/// definition of its own in place of a weak one; its second argument is true for a variable.
///
/// # Errors
/// Fails if a member has an unsupported construct.
pub(super) fn make(
    mut natives: NativeMembers,
    replaced: &dyn Fn(&str, bool) -> bool,
) -> Result<Object, Error> {
    let file = natives_name(&natives);
    let made = make_object(&mut natives, replaced);
    made.map_err(|cause| Error::Input { file, cause })
}

fn make_object(
    natives: &mut NativeMembers,
    replaced: &dyn Fn(&str, bool) -> bool,
) -> Result<Object, String> {
    natives.place_commons();
    for symbol in &mut natives.symbols {
        let ours = symbol.weak && !symbol.tls && symbol.value != Definition::Undefined;
        if ours && replaced(&symbol.name, symbol.data) {
            symbol.value = Definition::Undefined;
            symbol.ifunc = false;
        }
    }
    let needs = needs(natives)?;
    let mut layout = Layout::default();
    let mut table = Table {
        file: natives_name(natives),
        ..Table::default()
    };
    lay_out_tls(natives, &mut layout);
    let mut out = Writer(vec![0; HEADER + 5 * PROGRAM_HEADER]);
    let symbols = write_symbols(natives, &mut out);
    let dynamic_at = out.align(16);
    out.0.resize(dynamic_at + DYNAMIC, 0);
    let mut unwind = reserve_unwind_header(natives, &mut out);
    write_code(natives, &needs, &mut layout, &mut table, &mut out);
    write_constants(natives, &mut unwind, &mut table, &mut out);
    write_data(natives, &needs, &mut layout, &mut table, &mut out);
    // The number of relocations is known only after all sections, the zero-filled ones too, are
    // placed.
    let relocations_at = out.align(8);
    let room = relocation_bound(natives) * RELOCATION;
    layout.len = relocations_at + room;
    for i in of_class(natives, SectionClass::Zero) {
        let s = &mut natives.sections[i];
        s.at = layout.len.next_multiple_of(s.align);
        layout.len = s.at + s.size;
    }
    let tls = layout.tls.0 > 0;
    let static_tls = needs.static_tls && tls;
    if static_tls {
        table.thread = Some(layout.thread);
    }
    table.arrays = arrays(natives);
    let mut relocator = Relocator {
        natives,
        layout: &layout,
        out: &mut out.0,
        table,
        undefined: HashMap::new(),
        relative: Vec::new(),
        others: Vec::new(),
    };
    relocator.globals();
    relocator.cells(&needs, tls)?;
    relocator.relocate()?;
    let (table, relative, others) = (relocator.table, relocator.relative, relocator.others);
    let relocations = DynamicRelocations {
        at: relocations_at,
        relative: relative.len(),
        static_tls,
    };
    let relative = relative.iter().map(|&(at, addend)| {
        [
            at as u64,
            u64::from(elf::R_X86_64_RELATIVE.0),
            addend as u64,
        ]
    });
    for entry in relative.chain(others) {
        out.put(&entry);
    }
    debug_assert!(
        out.0.len() - relocations_at <= room,
        "a relocation has no room"
    );
    write_dynamic(&symbols, &relocations, dynamic_at, &mut out.0);
    unwind_header(natives, &unwind, &mut out.0);
    write_headers(&layout, &unwind, dynamic_at, &mut out.0);
    Ok(Object { file: out.0, table })
}

/// Returns the sections of a class.
fn of_class(natives: &NativeMembers, class: SectionClass) -> Vec<usize> {
    let all = 0..natives.sections.len();
    all.filter(|&i| natives.sections[i].class == class)
        .collect()
}

/// Writes the sections of a class one after the other and records their places.
fn write_sections(natives: &mut NativeMembers, class: SectionClass, out: &mut Writer) {
    for i in of_class(natives, class) {
        natives.sections[i].at = out.align(natives.sections[i].align);
        out.0.extend_from_slice(bytes(natives, i));
    }
}

/// Places the sections of a thread's block. This comes first, because its offsets are values of
/// symbols.
fn lay_out_tls(natives: &mut NativeMembers, layout: &mut Layout) {
    for class in [SectionClass::Tls, SectionClass::TlsZero] {
        for i in of_class(natives, class) {
            let s = &mut natives.sections[i];
            s.at = layout.tls.0.next_multiple_of(s.align);
            layout.tls = (s.at + s.size, layout.tls.1.max(s.align));
        }
    }
}

/// Places of the symbols and their names.
struct SymbolTables {
    symbols: usize,
    hash: usize,
    names: usize,
    names_len: usize,
}

/// Writes the symbols: thread-local variables, which the guest looks up through the loader.
fn write_symbols(natives: &NativeMembers, out: &mut Writer) -> SymbolTables {
    let exported = exported(natives);
    let mut text = vec![0u8];
    let symbols = out.align(8);
    out.put(&[0, 0, 0]);
    for (name, value, size) in &exported {
        // Name, type with binding, visibility, section (any), value, size.
        let info = (elf::STT_TLS.0 as u32) | (elf::STB_GLOBAL.0 as u32) << 4;
        out.put32(&[text.len() as u32, info | 1 << 16]);
        out.put(&[*value as u64, *size as u64]);
        text.extend(name.as_bytes());
        text.push(0);
    }
    let count = exported.len() as u32 + 1;
    let hash = out.align(8);
    // One bucket. The chain holds all symbols and ends at the null symbol.
    out.put32(&[1, count, if count > 1 { 1 } else { 0 }]);
    for i in 0..count {
        out.put32(&[if i == 0 || i + 1 == count { 0 } else { i + 1 }]);
    }
    let (names, names_len) = (out.0.len(), text.len());
    out.0.extend(text);
    SymbolTables {
        symbols,
        hash,
        names,
        names_len,
    }
}

/// The records for unwinding and the table that finds them.
struct Unwind {
    sections: Vec<usize>,
    /// Number of functions in the table.
    entries: usize,
    /// Place of the table.
    header: usize,
    /// Place of the records.
    records: usize,
}

impl Unwind {
    /// Returns the size of the table in bytes.
    fn header_len(&self) -> usize {
        12 + self.entries * 8
    }
}

/// Makes room for the table of the unwinder.
fn reserve_unwind_header(natives: &NativeMembers, out: &mut Writer) -> Unwind {
    let sections = of_class(natives, SectionClass::Unwind);
    let entries = sections
        .iter()
        .map(|&i| records(bytes(natives, i)).filter(|r| r.1).count())
        .sum();
    let unwind = Unwind {
        sections,
        entries,
        header: out.align(4),
        records: 0,
    };
    out.0.resize(unwind.header + unwind.header_len(), 0);
    unwind
}

/// Writes the code, on pages of its own, and room for the jumps.
fn write_code(
    natives: &mut NativeMembers,
    needs: &Requirements,
    layout: &mut Layout,
    table: &mut Table,
    out: &mut Writer,
) {
    table.code.start = out.align(PAGE);
    write_sections(natives, SectionClass::Code, out);
    layout.jumps = out.align(16);
    out.0
        .resize(layout.jumps + needs.jumps as usize * JUMP, 0xcc);
    table.code.end = out.align(PAGE);
}

/// Writes the constants and the records for unwinding, on pages of their own.
fn write_constants(
    natives: &mut NativeMembers,
    unwind: &mut Unwind,
    table: &mut Table,
    out: &mut Writer,
) {
    table.constants.start = table.code.end;
    write_sections(natives, SectionClass::Constant, out);
    unwind.records = out.align(8);
    for &i in &unwind.sections {
        natives.sections[i].at = out.align(natives.sections[i].align.min(8));
        let b = bytes(natives, i);
        // A terminator would hide the records after it.
        let end = records(b).map(|r| r.0.end).max().unwrap_or(0);
        out.0.extend_from_slice(&b[..end]);
    }
    out.put32(&[0]);
    table.constants.end = out.align(PAGE);
}

/// Writes the cells, the data and the initial bytes of a thread's block.
fn write_data(
    natives: &mut NativeMembers,
    needs: &Requirements,
    layout: &mut Layout,
    table: &mut Table,
    out: &mut Writer,
) {
    layout.cells = out.0.len();
    out.0.resize(layout.cells + needs.cells as usize * 8, 0);
    table.cells = layout.cells;
    layout.thread = out.0.len();
    layout.block = layout.thread + 8;
    out.0.resize(layout.block + 16, 0);
    write_sections(natives, SectionClass::Data, out);
    layout.template = out.align(layout.tls.1.max(16));
    for i in of_class(natives, SectionClass::Tls) {
        out.0.resize(layout.template + natives.sections[i].at, 0);
        out.0.extend_from_slice(bytes(natives, i));
    }
    table.template = layout.template..out.0.len();
    layout.template_len = table.template.len();
}

/// The relocations that the loader applies; they end the file.
struct DynamicRelocations {
    at: usize,
    /// Number of relative ones, which come first.
    relative: usize,
    /// True if code uses offsets from the thread pointer.
    static_tls: bool,
}

/// Writes the section that the loader reads.
fn write_dynamic(
    symbols: &SymbolTables,
    relocations: &DynamicRelocations,
    at: usize,
    out: &mut [u8],
) {
    let dynamic = [
        (elf::DT_HASH.0, symbols.hash),
        (elf::DT_STRTAB.0, symbols.names),
        (elf::DT_SYMTAB.0, symbols.symbols),
        (elf::DT_STRSZ.0, symbols.names_len),
        (elf::DT_SYMENT.0, 24),
        (elf::DT_RELA.0, relocations.at),
        (elf::DT_RELASZ.0, out.len() - relocations.at),
        (elf::DT_RELAENT.0, RELOCATION),
        (elf::DT_RELACOUNT.0, relocations.relative),
        (elf::DT_FLAGS.0, if relocations.static_tls { 16 } else { 0 }),
    ];
    for (i, (tag, value)) in dynamic.iter().enumerate() {
        write(out, at + i * 16, &[*tag as u64, *value as u64]);
    }
}

/// Writes the headers of the file and its segments.
fn write_headers(layout: &Layout, unwind: &Unwind, dynamic_at: usize, out: &mut [u8]) {
    let file_len = out.len();
    let (tls_len, tls_align) = layout.tls;
    let tls = match tls_len {
        0 => elf::PT_NULL.0,
        _ => elf::PT_TLS.0,
    };
    let segment = Segment::new;
    loader::headers(
        out,
        &[
            Segment {
                memory: layout.len,
                ..segment(elf::PT_LOAD.0, 0, file_len, PAGE)
            },
            segment(elf::PT_DYNAMIC.0, dynamic_at, DYNAMIC, 8),
            segment(elf::PT_GNU_STACK.0, 0, 0, 16),
            segment(
                elf::PT_GNU_EH_FRAME.0,
                unwind.header,
                unwind.header_len(),
                4,
            ),
            Segment {
                memory: tls_len,
                ..segment(tls, layout.template, layout.template_len, tls_align.max(1))
            },
        ],
    );
}

/// Returns an upper bound of the number of dynamic relocations: one for each absolute address and
/// cell.
fn relocation_bound(natives: &NativeMembers) -> usize {
    let absolute = |r: &&Relocation| r.kind == elf::R_X86_64_64.0;
    let cells = |s: &Symbol| {
        let numbers = [s.got, s.pair, s.offset];
        numbers.iter().filter(|&&n| n != 0).count()
    };
    let symbols: usize = natives.symbols.iter().map(cells).sum();
    natives.relocations.iter().filter(absolute).count() + symbols + 2
}

/// Returns the arrays of constructors and destructors.
fn arrays(natives: &NativeMembers) -> Vec<FunctionArray> {
    let when = |name: &str| {
        if name == ".init_array" {
            Some(ArrayPhase::Start)
        } else if let Some(number) = name.strip_prefix(".init_array.") {
            Some(ArrayPhase::First(number.parse().unwrap_or(65535)))
        } else if name == ".preinit_array" {
            Some(ArrayPhase::First(0))
        } else {
            name.starts_with(".fini_array").then_some(ArrayPhase::End)
        }
    };
    let sections = natives.sections.iter();
    sections
        .filter_map(|s| {
            Some(FunctionArray {
                when: when(&s.name)?,
                at: s.at,
                count: s.size / 8,
            })
        })
        .collect()
}

fn natives_name(natives: &NativeMembers) -> String {
    let first = natives.members.first();
    first.map_or_else(String::new, |(a, _)| a.path.display().to_string())
}

/// Returns name, offset and size of the thread-local variables that the guest may look up.
fn exported(natives: &NativeMembers) -> Vec<(Box<str>, usize, usize)> {
    let globals: HashMap<_, _> = natives.globals.iter().collect();
    let mut list: Vec<_> = globals
        .into_iter()
        .filter_map(|(name, &i)| {
            let symbol = &natives.symbols[i as usize];
            let Definition::Section(s, at) = symbol.value else {
                return None;
            };
            (symbol.tls).then(|| (name.clone(), natives.sections[s as usize].at + at, 8))
        })
        .collect();
    list.sort();
    list
}

/// Returns the range of each record of an `.eh_frame` section, and true if it describes a function.
fn records(bytes: &[u8]) -> impl Iterator<Item = (Range<usize>, bool)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let word = |i: usize| {
            let b = bytes.get(i..i + 4)?;
            Some(u32::from_le_bytes(b.try_into().ok()?))
        };
        let len = word(at)? as usize;
        // A zero length ends the section. The format with 64-bit lengths is not used on this
        // processor.
        if len == 0 || len >= 0xffff_fff0 || at + 4 + len > bytes.len() {
            return None;
        }
        let function = word(at + 4)? != 0;
        let range = at..at + 4 + len;
        at = range.end;
        Some((range, function))
    })
}

/// Writes `.eh_frame_hdr`: the functions' addresses in order, with their records.
fn unwind_header(natives: &NativeMembers, unwind: &Unwind, out: &mut [u8]) {
    let at = unwind.header;
    let mut targets: HashMap<(u32, usize), (u32, i64)> = HashMap::new();
    for r in &natives.relocations {
        if natives.sections[r.section as usize].class == SectionClass::Unwind {
            targets.insert((r.section, r.offset), (r.symbol, r.addend));
        }
    }
    let mut table = Vec::new();
    for &i in &unwind.sections {
        let section = &natives.sections[i];
        for (range, function) in records(bytes(natives, i)) {
            // The function's address follows the length and the distance to the common record.
            let target = targets.get(&(i as u32, range.start + 8));
            if let (true, Some(&(symbol, addend))) = (function, target)
                && let Definition::Section(s, offset) = natives.symbols[symbol as usize].value
            {
                let start = (natives.sections[s as usize].at + offset) as i64 + addend;
                table.push((start, section.at + range.start));
            }
        }
    }
    table.sort_unstable();
    table.truncate(unwind.entries);
    let mut header = Writer::default();
    // Version; relative to itself, 4 bytes; a 4-byte count; entries relative to the header.
    header.0.extend([1, 0x1b, 0x03, 0x3b]);
    header.put32(&[
        (unwind.records as i64 - (at as i64 + 4)) as u32,
        table.len() as u32,
    ]);
    for (start, record) in table {
        let relative = |a: i64| (a - at as i64) as u32;
        header.put32(&[relative(start), relative(record as i64)]);
    }
    out[at..at + header.0.len()].copy_from_slice(&header.0);
}
