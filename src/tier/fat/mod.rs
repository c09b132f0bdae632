//! Fat objects: native ELF files that carry the bitcode of their code.
//!
//! Three kinds of sections hold bitcode. `ompvm cc` writes [`section::NAME`], whose entries name
//! their sources and can be concatenated by any linker. Clang writes `.llvm.lto`
//! (`-ffat-lto-objects`) and `.llvmbc` (`-fembed-bitcode`); linkers concatenate the second, and
//! [`split`] takes it apart again. [`append`] adds a section to a file, [`record`] describes what
//! of a linked program is native, [`exported`] finds its exports and [`needed`] its libraries.
//!
//! Leaves to others: reading the bitcode (`llvm`), native code beside it ([`super::archive`]), and
//! compiling (`cli::driver`).

pub mod append;
pub mod exported;
pub mod needed;
pub mod record;
pub mod section;

use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader};
use object::{Object, ObjectSection, elf};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Type of an ELF file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElfKind {
    /// A relocatable object for x86-64.
    Object,
    /// A shared library for x86-64.
    Shared,
    /// An executable for x86-64.
    Executable,
    /// A file for another processor.
    Other,
}

/// Bitcode in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Name of the source, if it is known.
    pub name: Option<String>,
    /// Its bytes in the file.
    pub range: Range<usize>,
}

/// An ELF file with what it carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ElfFile {
    /// Type of the file.
    pub kind: ElfKind,
    /// Bitcode, in link order.
    pub bitcode: Vec<Part>,
    /// Sources whose code can only run natively, with the reason.
    pub native_only: Vec<(String, String)>,
}

/// Returns true if bytes begin like bitcode, with or without the wrapper header.
pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&[0xDE, 0xC0, 0x17, 0x0B])
}

/// Returns the type of an ELF file; `None` if the bytes are something else.
pub fn kind(bytes: &[u8]) -> Option<ElfKind> {
    if !bytes.starts_with(b"\x7fELF") {
        return None;
    }
    // EI_CLASS 64, little-endian, e_machine x86-64; then e_type (System V ABI, "ELF Header").
    let native = bytes[4..].starts_with(&[2, 1]) && bytes.get(18..20) == Some(&[62, 0]);
    Some(match bytes.get(16..18) {
        _ if !native => ElfKind::Other,
        Some(&[1, 0]) => ElfKind::Object,
        Some(&[2, 0]) => ElfKind::Executable,
        Some(&[3, 0]) if is_position_independent_program(bytes) => ElfKind::Executable,
        Some(&[3, 0]) => ElfKind::Shared,
        _ => ElfKind::Other,
    })
}

/// Returns true if a file of the type of shared libraries is a program: it names an interpreter, or
/// says so itself (`DF_1_PIE`, as `-static-pie` has it).
fn is_position_independent_program(bytes: &[u8]) -> bool {
    let endian = object::LittleEndian;
    let Ok(header) = elf::FileHeader64::<object::LittleEndian>::parse(bytes) else {
        return false;
    };
    let headers = header.program_headers(endian, bytes).unwrap_or_default();
    headers.iter().any(|h| {
        let entries = h.dynamic(endian, bytes).ok().flatten().unwrap_or_default();
        h.p_type(endian) == elf::PT_INTERP
            || entries
                .iter()
                .any(|d| d.tag(endian) == elf::DT_FLAGS_1 && d.val(endian) & DF_1_PIE != 0)
    })
}

/// The bit of `DT_FLAGS_1` that marks a position-independent executable (elf.h of the GNU C
/// library).
const DF_1_PIE: u64 = 0x0800_0000;

/// Reads an ELF file; `None` if the bytes are something else. The first kind of section that holds
/// bitcode applies: an object has each file's bitcode once.
///
/// # Errors
/// Returns a description if an entry of [`section::NAME`] is damaged.
pub fn read(bytes: &[u8]) -> Result<Option<ElfFile>, String> {
    let Some(kind) = kind(bytes) else {
        return Ok(None);
    };
    let mut found = ElfFile {
        kind,
        bitcode: Vec::new(),
        native_only: Vec::new(),
    };
    if kind == ElfKind::Other {
        return Ok(Some(found));
    }
    let Ok(file) = object::File::parse(bytes) else {
        return Ok(Some(found));
    };
    let range = |name: &str| range_of(&file, bytes, name);
    if let Some(place) = range(section::NAME) {
        for entry in section::entries(&bytes[place.clone()])? {
            match entry.content {
                section::Content::Bitcode(r) => found.bitcode.push(Part {
                    name: Some(entry.name),
                    range: place.start + r.start..place.start + r.end,
                }),
                section::Content::NativeOnly(why) => found.native_only.push((entry.name, why)),
            }
        }
        return Ok(Some(found));
    }
    for name in [".llvm.lto", ".llvmbc"] {
        let Some(place) = range(name) else { continue };
        for r in split(&bytes[place.clone()]) {
            found.bitcode.push(Part {
                name: None,
                range: place.start + r.start..place.start + r.end,
            });
        }
        if !found.bitcode.is_empty() {
            break;
        }
    }
    Ok(Some(found))
}

/// Returns true if a file is an ELF file that `ompvm cc` has made. Reads only its table of sections,
/// because libraries may be large.
pub fn carries_bitcode(file: &Path) -> bool {
    fn has_section(file: &Path) -> Option<bool> {
        let endian = object::LittleEndian;
        let file = File::open(file).ok()?;
        let take = |at: u64, len: u64| {
            let mut bytes = vec![0; usize::try_from(len).ok().filter(|&n| n < 1 << 26)?];
            file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
        };
        let head = take(
            0,
            size_of::<elf::FileHeader64<object::LittleEndian>>() as u64,
        )?;
        let header = elf::FileHeader64::<object::LittleEndian>::parse(&*head).ok()?;
        let (count, names) = (header.e_shnum(endian), header.e_shstrndx(endian));
        let table = take(header.e_shoff(endian), u64::from(count) * 64)?;
        type Section = elf::SectionHeader64<object::LittleEndian>;
        let (sections, _) =
            object::pod::slice_from_bytes::<Section>(&table, usize::from(count)).ok()?;
        let names = sections.get(usize::from(names.0))?;
        let names = take(names.sh_offset(endian), names.sh_size(endian))?;
        Some(sections.iter().any(|section| {
            let name = names.get(section.sh_name(endian) as usize..);
            name.is_some_and(|n| {
                n.strip_prefix(section::NAME.as_bytes())
                    .is_some_and(|rest| rest.first() == Some(&0))
            })
        }))
    }
    has_section(file).unwrap_or(false)
}

/// Returns the place of a section in a file.
pub fn section_range(bytes: &[u8], name: &str) -> Option<Range<usize>> {
    range_of(&object::File::parse(bytes).ok()?, bytes, name)
}

fn range_of(file: &object::File, bytes: &[u8], name: &str) -> Option<Range<usize>> {
    let (start, len) = file.section_by_name(name)?.file_range()?;
    let range = start as usize..(start as usize).checked_add(len as usize)?;
    bytes.get(range.clone()).map(|_| range)
}

/// Returns the bytes of a section of a file.
pub fn section_data<'b>(bytes: &'b [u8], name: &str) -> Option<&'b [u8]> {
    let file = object::File::parse(bytes).ok()?;
    file.section_by_name(name)?.data().ok()
}

/// Divides bitcode files that a linker has concatenated. Reads only the headers of the outermost
/// blocks (LLVM Bitcode File Format, "Bitstream Format").
fn split(bytes: &[u8]) -> Vec<Range<usize>> {
    const ENTER_SUBBLOCK: u32 = 1;
    let word = |at: usize| {
        let word = bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
    };
    let mut files = Vec::new();
    let mut at = 0;
    while at + 8 <= bytes.len() {
        if !is_bitcode(&bytes[at..]) {
            // Padding.
            at += 1;
            continue;
        }
        let start = at;
        if bytes[at] == 0xDE {
            // A wrapper header gives the offset and length of the bitcode.
            let len = word(at + 8).unwrap_or(0) as usize + word(at + 12).unwrap_or(0) as usize;
            at = at.saturating_add(len.max(8));
        } else {
            at += 4;
            // The outermost abbreviation ids are two bits wide; the length in words follows.
            while word(at).is_some_and(|head| head & 3 == ENTER_SUBBLOCK) {
                // A truncated file goes to the end.
                let len = word(at + 4).map_or(bytes.len(), |len| 8 + 4 * len as usize);
                at = at.saturating_add(len);
            }
        }
        at = at.min(bytes.len());
        files.push(start..at);
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a bitcode file with one empty block.
    fn file(block: u32) -> Vec<u8> {
        let mut bytes = b"BC\xC0\xDE".to_vec();
        for word in [1 | block << 2, 1, 0] {
            bytes.extend(u32::to_le_bytes(word));
        }
        bytes
    }

    #[test]
    fn concatenated_files_are_divided() {
        let both = [file(13), vec![0; 7], file(8)].concat();
        assert_eq!(split(&both), [0..16, 23..39]);
        assert_eq!(
            split(&both[..10]).as_slice(),
            std::slice::from_ref(&(0..10))
        );
        assert!(split(b"no bitcode here").is_empty());
    }

    #[test]
    fn other_files_are_no_elf_files() {
        assert_eq!(read(b"BC\xC0\xDE"), Ok(None));
        assert_eq!(kind(b"\x7fELF"), Some(ElfKind::Other));
    }
}
