//! Makes one shared object of the merged members, in memory, and has the system load it.
//!
//! The file holds the sections as they are in the members, room for cells and jumps, the program
//! headers that the loader and unwinders read (thread-local template, unwind table), and only
//! those dynamic relocations that the loader alone can do: the module's number and its offset from
//! the thread pointer. Everything else is filled in afterwards by [`super::bind`], in place; so
//! its one segment is loaded writable and protected then. Addresses in the file are offsets.
//!
//! Layouts are those of the System V ABI ("Object Files", "Dynamic Linking") and, for
//! `.eh_frame_hdr`, of the Linux Standard Base, section 10.6.2.

use super::objects::{Class, Natives, Relocation, Value};
use crate::support::error::Error;
use crate::tier::loader;
use hashbrown::HashMap;
use object::elf;
use std::ffi::{CString, c_void};
use std::ops::Range;

const PAGE: usize = 4096;
/// Bytes of a jump: `jmp [rip + cell]`, padded.
pub(super) const JUMP: usize = 8;

/// Where the parts of the object are, as offsets from its base.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub code: Range<usize>,
    pub constants: Range<usize>,
    pub jumps: usize,
    pub cells: usize,
    /// Cells that the loader fills: the module's number, the offset from the thread pointer.
    pub module: usize,
    pub offset: usize,
    /// The pair with which `__tls_get_addr` gives the start of the module's block.
    pub block: usize,
    /// The initial bytes of a thread's block.
    pub template: usize,
    pub template_len: usize,
    pub len: usize,
    /// Bytes and alignment of a thread's block.
    pub tls: (usize, usize),
}

/// A loaded object.
#[derive(Debug)]
pub(super) struct Loaded {
    pub base: usize,
    handle: usize,
    /// Not unloaded when this is dropped: exit handlers run later.
    pub stays: bool,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.stays {
            return;
        }
        // SAFETY: the handle is from dlopen and closed once; who holds this holds all that runs
        // its code.
        unsafe { libc::dlclose(self.handle as *mut c_void) };
    }
}

impl Loaded {
    /// This thread's address of a thread-local variable of the object.
    pub fn thread_local(&self, name: &str) -> Option<usize> {
        let name = CString::new(name).ok()?;
        // SAFETY: the handle is open and the name a C string.
        let p = unsafe { libc::dlsym(self.handle as *mut c_void, name.as_ptr()) } as usize;
        (p != 0).then_some(p)
    }
}

/// What the relocations need besides the sections.
pub(super) struct Needs {
    cells: u32,
    jumps: u32,
    block: bool,
    static_tls: bool,
}

/// Looks through the relocations: numbers of cells, jumps and pairs go into the symbols.
fn needs(natives: &mut Natives) -> Result<Needs, String> {
    let mut needs = Needs {
        cells: 0,
        jumps: 0,
        block: false,
        static_tls: false,
    };
    let list: Vec<Relocation> = natives.relocations.clone();
    for r in list {
        let code = natives.sections[r.section as usize].class == Class::Code;
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
                let far = symbol.ifunc || symbol.value == Value::Undefined;
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
    // Every ifunc needs a place where its choice is kept.
    for symbol in &mut natives.symbols {
        if symbol.ifunc && symbol.value != Value::Undefined && symbol.jump == 0 {
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

/// A growing file.
struct Writer(Vec<u8>);

impl Writer {
    fn align(&mut self, to: usize) -> usize {
        let len = self.0.len().next_multiple_of(to);
        self.0.resize(len, 0);
        len
    }
    fn put(&mut self, values: &[u64]) {
        for v in values {
            self.0.extend(v.to_le_bytes());
        }
    }
    fn put32(&mut self, values: &[u32]) {
        for v in values {
            self.0.extend(v.to_le_bytes());
        }
    }
}

fn bytes(natives: &Natives, section: usize) -> &[u8] {
    let s = &natives.sections[section];
    let (archive, member) = &natives.members[s.member as usize];
    &archive.bytes(*member)[s.bytes.0..s.bytes.0 + s.bytes.1]
}

/// Places every section, writes the object and loads it.
///
/// # Errors
/// What is not supported in a member, or why the system does not load it.
pub(super) fn load(natives: &mut Natives) -> Result<(Plan, Loaded), Error> {
    let file = natives_name(natives);
    let fail = |cause: String| Error::Input { file, cause };
    natives.place_commons();
    let needs = match needs(natives) {
        Ok(needs) => needs,
        Err(cause) => return Err(fail(cause)),
    };
    let mut plan = Plan::default();
    let of = |class: Class, natives: &Natives| -> Vec<usize> {
        let all = 0..natives.sections.len();
        all.filter(|&i| natives.sections[i].class == class)
            .collect()
    };
    // The thread's block first: its offsets are values of symbols.
    for class in [Class::Tls, Class::TlsZero] {
        for i in of(class, natives) {
            let s = &mut natives.sections[i];
            s.at = plan.tls.0.next_multiple_of(s.align);
            plan.tls = (s.at + s.size, plan.tls.1.max(s.align));
        }
    }
    let exported = exported(natives);
    let mut names = vec![0u8];
    let mut out = Writer(vec![0; 64 + 6 * 56]);
    // Symbols: thread-local variables, which the guest asks the loader for.
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
    // One bucket: the chain goes through all symbols, the first one (null) ends it.
    out.put32(&[1, count, if count > 1 { 1 } else { 0 }]);
    for i in 0..count {
        out.put32(&[if i == 0 || i + 1 == count { 0 } else { i + 1 }]);
    }
    let names_at = out.0.len();
    let names_len = names.len();
    out.0.extend(names);
    let dynamic_at = out.align(16);
    let dynamic_len = 10 * 16;
    out.0.resize(dynamic_at + dynamic_len, 0);
    let relocations_at = out.align(8);
    out.0.resize(relocations_at + 2 * 24, 0);
    let unwind_sections = of(Class::Unwind, natives);
    let header_at = out.align(4);
    let entries: usize = unwind_sections
        .iter()
        .map(|&i| records(bytes(natives, i)).filter(|r| r.1).count())
        .sum();
    out.0.resize(header_at + 12 + entries * 8, 0);

    plan.code.start = out.align(PAGE);
    for i in of(Class::Code, natives) {
        natives.sections[i].at = out.align(natives.sections[i].align);
        let b = bytes(natives, i);
        out.0.extend_from_slice(b);
    }
    plan.jumps = out.align(16);
    out.0.resize(plan.jumps + needs.jumps as usize * JUMP, 0xcc);
    plan.code.end = out.align(PAGE);
    plan.constants.start = plan.code.end;
    for i in of(Class::Constant, natives) {
        natives.sections[i].at = out.align(natives.sections[i].align);
        let b = bytes(natives, i);
        out.0.extend_from_slice(b);
    }
    let unwind_at = out.align(8);
    for &i in &unwind_sections {
        natives.sections[i].at = out.align(natives.sections[i].align.min(8));
        let b = bytes(natives, i);
        // A terminator would hide what follows.
        let end = records(b).map(|r| r.0.end).max().unwrap_or(0);
        let b = &b[..end];
        out.0.extend_from_slice(b);
    }
    out.put32(&[0]);
    plan.constants.end = out.align(PAGE);
    plan.cells = out.0.len();
    out.0.resize(plan.cells + needs.cells as usize * 8, 0);
    plan.module = out.0.len();
    plan.offset = plan.module + 8;
    plan.block = plan.module + 16;
    out.0.resize(plan.module + 32, 0);
    for i in of(Class::Data, natives) {
        natives.sections[i].at = out.align(natives.sections[i].align);
        let b = bytes(natives, i);
        out.0.extend_from_slice(b);
    }
    let template_at = out.align(plan.tls.1.max(16));
    for i in of(Class::Tls, natives) {
        out.0.resize(template_at + natives.sections[i].at, 0);
        let b = bytes(natives, i);
        out.0.extend_from_slice(b);
    }
    plan.template = template_at;
    let template_len = out.0.len() - template_at;
    plan.template_len = template_len;
    let file_len = out.0.len();
    plan.len = file_len;
    for i in of(Class::Zero, natives) {
        let s = &mut natives.sections[i];
        s.at = plan.len.next_multiple_of(s.align);
        plan.len = s.at + s.size;
    }

    let tls = plan.tls.0 > 0;
    let mut relocations = Vec::new();
    if tls {
        relocations.push((plan.module, elf::R_X86_64_DTPMOD64.0));
    }
    if needs.static_tls && tls {
        relocations.push((plan.offset, elf::R_X86_64_TPOFF64.0));
    }
    for (i, (at, kind)) in relocations.iter().enumerate() {
        let entry = [*at as u64, u64::from(*kind), 0];
        write(&mut out.0, relocations_at + i * 24, &entry);
    }
    let dynamic = [
        (elf::DT_HASH.0, hash_at),
        (elf::DT_STRTAB.0, names_at),
        (elf::DT_SYMTAB.0, symbols_at),
        (elf::DT_STRSZ.0, names_len),
        (elf::DT_SYMENT.0, 24),
        (elf::DT_RELA.0, relocations_at),
        (elf::DT_RELASZ.0, relocations.len() * 24),
        (elf::DT_RELAENT.0, 24),
        (
            elf::DT_FLAGS.0,
            if needs.static_tls && tls { 16 } else { 0 },
        ),
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
    headers(
        &mut out.0,
        &[
            (elf::PT_LOAD.0, 0, file_len, plan.len, PAGE),
            (elf::PT_DYNAMIC.0, dynamic_at, dynamic_len, dynamic_len, 8),
            (elf::PT_GNU_STACK.0, 0, 0, 0, 16),
            (elf::PT_GNU_EH_FRAME.0, header_at, header_len, header_len, 4),
            (
                if tls { elf::PT_TLS.0 } else { elf::PT_NULL.0 },
                template_at,
                template_len,
                plan.tls.0,
                plan.tls.1.max(1),
            ),
        ],
    );
    let loaded = open(&out.0).map_err(fail)?;
    Ok((plan, loaded))
}

fn natives_name(natives: &Natives) -> String {
    let first = natives.members.first();
    first.map_or_else(String::new, |(a, _)| a.path.display().to_string())
}

/// Thread-local variables that the guest may ask for: name, offset, size.
fn exported(natives: &Natives) -> Vec<(Box<str>, usize, usize)> {
    let globals: HashMap<_, _> = natives.globals.iter().collect();
    let mut list: Vec<_> = globals
        .into_iter()
        .filter_map(|(name, &i)| {
            let symbol = &natives.symbols[i as usize];
            let Value::Section(s, at) = symbol.value else {
                return None;
            };
            (symbol.tls).then(|| (name.clone(), natives.sections[s as usize].at + at, 8))
        })
        .collect();
    list.sort();
    list
}

fn write(out: &mut [u8], at: usize, values: &[u64]) {
    for (i, v) in values.iter().enumerate() {
        out[at + i * 8..at + i * 8 + 8].copy_from_slice(&v.to_le_bytes());
    }
}

/// ELF and program headers: kind, offset, bytes in the file, bytes in memory, alignment.
fn headers(out: &mut [u8], programs: &[(u32, usize, usize, usize, usize)]) {
    let mut head = Writer(Vec::new());
    // Class 64, little-endian, version 1.
    head.0.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    head.put32(&[
        u32::from(elf::ET_DYN.0) | u32::from(elf::EM_X86_64.0) << 16,
        1,
    ]);
    head.put(&[0, 64, 0]);
    // Flags; sizes of this header and of a program header; their number; no sections.
    head.put32(&[0, 64 | 56 << 16, programs.len() as u32 | 64 << 16, 0]);
    for &(kind, at, file, memory, align) in programs {
        // Readable and writable; code is made executable when it is complete.
        head.put32(&[kind, 6]);
        head.put(&[
            at as u64,
            at as u64,
            at as u64,
            file as u64,
            memory as u64,
            align as u64,
        ]);
    }
    out[..head.0.len()].copy_from_slice(&head.0);
}

/// The records of an `.eh_frame` section: where each lies, and whether it describes a function.
fn records(bytes: &[u8]) -> impl Iterator<Item = (Range<usize>, bool)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let word = |i: usize| {
            let b = bytes.get(i..i + 4)?;
            Some(u32::from_le_bytes(b.try_into().ok()?))
        };
        let len = word(at)? as usize;
        // Zero ends the section; the form with 64-bit lengths is not used on this processor.
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
    natives: &Natives,
    sections: &[usize],
    out: &mut [u8],
    at: usize,
    unwind: usize,
    room: usize,
) {
    let mut targets: HashMap<(u32, usize), (u32, i64)> = HashMap::new();
    for r in &natives.relocations {
        if natives.sections[r.section as usize].class == Class::Unwind {
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
                && let Value::Section(s, offset) = natives.symbols[symbol as usize].value
            {
                let start = (natives.sections[s as usize].at + offset) as i64 + addend;
                table.push((start, section.at + range.start));
            }
        }
    }
    table.sort_unstable();
    table.truncate(room);
    let mut header = Writer(Vec::new());
    // Version; relative to itself, 4 bytes; a 4-byte count; entries relative to the header.
    header.0.extend([1, 0x1b, 0x03, 0x3b]);
    header.put32(&[(unwind as i64 - (at as i64 + 4)) as u32, table.len() as u32]);
    for (start, record) in table {
        let relative = |a: i64| (a - at as i64) as u32;
        header.put32(&[relative(start), relative(record as i64)]);
    }
    out[at..at + header.0.len()].copy_from_slice(&header.0);
}

/// Gives the file to the loader, which runs no code of the object: it names no initialisers.
fn open(file: &[u8]) -> Result<Loaded, String> {
    let handle = loader::open_bytes(file, libc::RTLD_NOW | libc::RTLD_GLOBAL)?;
    let mut map: *mut LinkMap = std::ptr::null_mut();
    // SAFETY: the handle is open, and the loader's structure lives as long.
    unsafe {
        if libc::dlinfo(handle, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) != 0 {
            return Err("the loader does not say where it is".into());
        }
        Ok(Loaded {
            base: (*map).base,
            handle: handle as usize,
            stays: false,
        })
    }
}

/// The start of the loader's `struct link_map` (`link.h`).
#[repr(C)]
struct LinkMap {
    base: usize,
}
