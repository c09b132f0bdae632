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

use super::objects::{Definition, NativeMembers, Relocation, SectionClass, Symbol};
use super::table::{
    self, ArrayPhase, Fixup, FunctionArray, Global, IFuncChoice, SymbolLocation, Table,
    UndefinedSymbol,
};
use crate::loader::{self, HEADER, PROGRAM_HEADER, Segment, Writer, write};
use hashbrown::HashMap;
use object::elf;
use ompvm_support::error::Error;
use std::ops::Range;

const PAGE: usize = 4096;
/// Size of a jump in bytes: `jmp [rip + cell]`, padded.
const JUMP: usize = 8;
/// Size of a dynamic relocation in bytes.
const RELOCATION: usize = 24;

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
    let of = |class: SectionClass, natives: &NativeMembers| -> Vec<usize> {
        let all = 0..natives.sections.len();
        all.filter(|&i| natives.sections[i].class == class)
            .collect()
    };
    // The TLS block comes first, because its offsets are values of symbols.
    for class in [SectionClass::Tls, SectionClass::TlsZero] {
        for i in of(class, natives) {
            let s = &mut natives.sections[i];
            s.at = layout.tls.0.next_multiple_of(s.align);
            layout.tls = (s.at + s.size, layout.tls.1.max(s.align));
        }
    }
    let exported = exported(natives);
    let mut names = vec![0u8];
    let mut out = Writer(vec![0; HEADER + 5 * PROGRAM_HEADER]);
    // Symbols: thread-local variables, which the guest looks up through the loader.
    let symbols_at = out.align(8);
    out.put(&[0, 0, 0]);
    for (name, value, size) in &exported {
        // Name, type with binding, visibility, section (any), value, size.
        let info = (elf::STT_TLS.0 as u32) | (elf::STB_GLOBAL.0 as u32) << 4;
        out.put32(&[names.len() as u32, info | 1 << 16]);
        out.put(&[*value as u64, *size as u64]);
        names.extend(name.as_bytes());
        names.push(0);
    }
    let count = exported.len() as u32 + 1;
    let hash_at = out.align(8);
    // One bucket. The chain holds all symbols and ends at the null symbol.
    out.put32(&[1, count, if count > 1 { 1 } else { 0 }]);
    for i in 0..count {
        out.put32(&[if i == 0 || i + 1 == count { 0 } else { i + 1 }]);
    }
    let names_at = out.0.len();
    let names_len = names.len();
    out.0.extend(names);
    let dynamic_at = out.align(16);
    let dynamic_len = 11 * 16;
    out.0.resize(dynamic_at + dynamic_len, 0);
    let unwind_sections = of(SectionClass::Unwind, natives);
    let header_at = out.align(4);
    let entries: usize = unwind_sections
        .iter()
        .map(|&i| records(bytes(natives, i)).filter(|r| r.1).count())
        .sum();
    out.0.resize(header_at + 12 + entries * 8, 0);

    table.code.start = out.align(PAGE);
    for i in of(SectionClass::Code, natives) {
        natives.sections[i].at = out.align(natives.sections[i].align);
        let b = bytes(natives, i);
        out.0.extend_from_slice(b);
    }
    layout.jumps = out.align(16);
    out.0
        .resize(layout.jumps + needs.jumps as usize * JUMP, 0xcc);
    table.code.end = out.align(PAGE);
    table.constants.start = table.code.end;
    for i in of(SectionClass::Constant, natives) {
        natives.sections[i].at = out.align(natives.sections[i].align);
        let b = bytes(natives, i);
        out.0.extend_from_slice(b);
    }
    let unwind_at = out.align(8);
    for &i in &unwind_sections {
        natives.sections[i].at = out.align(natives.sections[i].align.min(8));
        let b = bytes(natives, i);
        // A terminator would hide the records after it.
        let end = records(b).map(|r| r.0.end).max().unwrap_or(0);
        let b = &b[..end];
        out.0.extend_from_slice(b);
    }
    out.put32(&[0]);
    table.constants.end = out.align(PAGE);
    layout.cells = out.0.len();
    out.0.resize(layout.cells + needs.cells as usize * 8, 0);
    table.cells = layout.cells;
    layout.thread = out.0.len();
    layout.block = layout.thread + 8;
    out.0.resize(layout.block + 16, 0);
    for i in of(SectionClass::Data, natives) {
        natives.sections[i].at = out.align(natives.sections[i].align);
        let b = bytes(natives, i);
        out.0.extend_from_slice(b);
    }
    let template_at = out.align(layout.tls.1.max(16));
    for i in of(SectionClass::Tls, natives) {
        out.0.resize(template_at + natives.sections[i].at, 0);
        let b = bytes(natives, i);
        out.0.extend_from_slice(b);
    }
    layout.template = template_at;
    let template_len = out.0.len() - template_at;
    table.template = template_at..out.0.len();
    // The number of relocations is known only after all sections, the zero-filled ones too, are
    // placed.
    let relocations_at = out.align(8);
    let room = relocation_bound(natives) * RELOCATION;
    layout.len = relocations_at + room;
    for i in of(SectionClass::Zero, natives) {
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
    let count = relative.len();
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
    let relocations_len = out.0.len() - relocations_at;
    debug_assert!(relocations_len <= room, "a relocation has no room");
    let file_len = out.0.len();
    let dynamic = [
        (elf::DT_HASH.0, hash_at),
        (elf::DT_STRTAB.0, names_at),
        (elf::DT_SYMTAB.0, symbols_at),
        (elf::DT_STRSZ.0, names_len),
        (elf::DT_SYMENT.0, 24),
        (elf::DT_RELA.0, relocations_at),
        (elf::DT_RELASZ.0, relocations_len),
        (elf::DT_RELAENT.0, RELOCATION),
        (elf::DT_RELACOUNT.0, count),
        (elf::DT_FLAGS.0, if static_tls { 16 } else { 0 }),
    ];
    for (i, (tag, value)) in dynamic.iter().enumerate() {
        write(
            &mut out.0,
            dynamic_at + i * 16,
            &[*tag as u64, *value as u64],
        );
    }
    unwind_header(
        natives,
        &unwind_sections,
        &mut out.0,
        header_at,
        unwind_at,
        entries,
    );
    let header_len = 12 + entries * 8;
    let segment = Segment::new;
    loader::headers(
        &mut out.0,
        &[
            Segment {
                memory: layout.len,
                ..segment(elf::PT_LOAD.0, 0, file_len, PAGE)
            },
            segment(elf::PT_DYNAMIC.0, dynamic_at, dynamic_len, 8),
            segment(elf::PT_GNU_STACK.0, 0, 0, 16),
            segment(elf::PT_GNU_EH_FRAME.0, header_at, header_len, 4),
            Segment {
                memory: layout.tls.0,
                ..segment(
                    if tls { elf::PT_TLS.0 } else { elf::PT_NULL.0 },
                    template_at,
                    template_len,
                    layout.tls.1.max(1),
                )
            },
        ],
    );
    Ok(Object { file: out.0, table })
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
struct Relocator<'a> {
    natives: &'a NativeMembers,
    layout: &'a Layout,
    out: &'a mut [u8],
    table: Table,
    /// Indices into [`Table::undefined`], by symbol.
    undefined: HashMap<u32, u32>,
    /// Words that hold an address in the object: their offset and the target's.
    relative: Vec<(usize, usize)>,
    /// The other dynamic relocations.
    others: Vec<[u64; 3]>,
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
    fn globals(&mut self) {
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
    fn cells(&mut self, needs: &Requirements, tls: bool) -> Result<(), String> {
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

    /// Applies the members' relocations (AMD64 supplement of the System V ABI, table 4.9).
    fn relocate(&mut self) -> Result<(), String> {
        let natives = self.natives;
        for r in &natives.relocations {
            let section = &natives.sections[r.section as usize];
            let symbol = &natives.symbols[r.symbol as usize];
            if symbol.value == Definition::Gone {
                // Unwind records of a dropped duplicate function; no reference leads to them.
                continue;
            }
            let kind = elf::RelocationType(r.kind);
            let wide = matches!(
                kind,
                elf::R_X86_64_64
                    | elf::R_X86_64_PC64
                    | elf::R_X86_64_DTPOFF64
                    | elf::R_X86_64_TPOFF64
                    | elf::R_X86_64_GOTOFF64
            );
            let filled = !matches!(section.class, SectionClass::Zero | SectionClass::TlsZero);
            if !filled || r.offset + if wide { 8 } else { 4 } > section.bytes.1 {
                return Err("damaged object: a relocation outside of its section".into());
            }
            let at = match section.class {
                SectionClass::Tls => self.layout.template + section.at + r.offset,
                _ => section.at + r.offset,
            };
            let addend = r.addend;
            let add = |value: usize| value.wrapping_add(addend as usize);
            let target = self.target(r.symbol)?;
            let cell = |this: &Self, number: u32| add(this.cell(number)).wrapping_sub(at);
            // Values that are known now, absolute or relative.
            let number = match (kind, target) {
                (elf::R_X86_64_NONE, _) => continue,
                (elf::R_X86_64_64, Target::Own(value)) => {
                    self.relative.push((at, add(value)));
                    continue;
                }
                (elf::R_X86_64_64, Target::Thread(value) | Target::Absolute(value)) => add(value),
                (elf::R_X86_64_64, Target::UndefinedSymbol(n)) => {
                    self.fixup(at, table::FixupValue::Address(n), addend);
                    continue;
                }
                (elf::R_X86_64_PC64, Target::UndefinedSymbol(n)) => {
                    self.fixup(at, table::FixupValue::Distance(n), addend);
                    continue;
                }
                (elf::R_X86_64_PLT32, Target::UndefinedSymbol(_)) if symbol.jump != 0 => {
                    add(self.jump(symbol)).wrapping_sub(at)
                }
                (elf::R_X86_64_PLT32 | elf::R_X86_64_PC32, Target::UndefinedSymbol(n)) => {
                    let jump = (symbol.jump != 0).then(|| self.jump(symbol));
                    self.fixup(at, table::FixupValue::Near(n, jump), addend);
                    continue;
                }
                (
                    elf::R_X86_64_PC64 | elf::R_X86_64_PC32 | elf::R_X86_64_PLT32,
                    Target::Own(value),
                ) => add(value).wrapping_sub(at),
                (
                    elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX,
                    _,
                ) => cell(&*self, symbol.got),
                (elf::R_X86_64_TLSGD, _) => cell(&*self, symbol.pair),
                (elf::R_X86_64_TLSLD, _) => add(self.layout.block).wrapping_sub(at),
                (elf::R_X86_64_GOTTPOFF, _) => cell(&*self, symbol.offset),
                (
                    elf::R_X86_64_DTPOFF32 | elf::R_X86_64_DTPOFF64,
                    Target::Thread(value) | Target::Absolute(value),
                ) => add(value),
                (elf::R_X86_64_TPOFF32, Target::Thread(value)) => {
                    let value = add(value) as i64;
                    self.fixup(at, table::FixupValue::Thread { wide: false }, value);
                    continue;
                }
                (elf::R_X86_64_TPOFF64, Target::Thread(value)) => {
                    let value = add(value) as i64;
                    self.fixup(at, table::FixupValue::Thread { wide: true }, value);
                    continue;
                }
                (elf::R_X86_64_GOTPC32, _) => add(self.layout.cells).wrapping_sub(at),
                (elf::R_X86_64_GOTOFF64, Target::Own(value)) => {
                    add(value).wrapping_sub(self.layout.cells)
                }
                (elf::R_X86_64_GOTOFF64, Target::UndefinedSymbol(n)) => {
                    self.fixup(at, table::FixupValue::FromCells(n), addend);
                    continue;
                }
                (other, _) => {
                    return Err(format!(
                        "{} has a relocation of type {} to `{}`, which is not supported",
                        natives.member_name(section.member),
                        other.0,
                        symbol.name
                    ));
                }
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
fn unwind_header(
    natives: &NativeMembers,
    sections: &[usize],
    out: &mut [u8],
    at: usize,
    unwind: usize,
    room: usize,
) {
    let mut targets: HashMap<(u32, usize), (u32, i64)> = HashMap::new();
    for r in &natives.relocations {
        if natives.sections[r.section as usize].class == SectionClass::Unwind {
            targets.insert((r.section, r.offset), (r.symbol, r.addend));
        }
    }
    let mut table = Vec::new();
    for &i in sections {
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
    table.truncate(room);
    let mut header = Writer::default();
    // Version; relative to itself, 4 bytes; a 4-byte count; entries relative to the header.
    header.0.extend([1, 0x1b, 0x03, 0x3b]);
    header.put32(&[(unwind as i64 - (at as i64 + 4)) as u32, table.len() as u32]);
    for (start, record) in table {
        let relative = |a: i64| (a - at as i64) as u32;
        header.put32(&[relative(start), relative(record as i64)]);
    }
    out[at..at + header.0.len()].copy_from_slice(&header.0);
}
