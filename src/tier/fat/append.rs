//! Adds a section that is not allocated to an ELF file, at the file's end.
//!
//! New bytes come after the old ones: the section, the names of sections with the new one, and the
//! table of sections. Only the file header changes in place. So nothing that refers to an offset of
//! the file is affected, in objects, shared libraries and executables alike.

use object::elf;
use object::read::elf::{FileHeader, SectionHeader};
use object::{LittleEndian, U16, U32, U64, pod};

const LE: LittleEndian = LittleEndian;
type Header = elf::FileHeader64<LittleEndian>;
type Section = elf::SectionHeader64<LittleEndian>;

/// Returns the file with a further section of program bits.
///
/// # Errors
/// Returns a description if the bytes are no valid ELF file with a table of sections.
pub fn append(mut file: Vec<u8>, name: &str, data: &[u8], align: u64) -> Result<Vec<u8>, String> {
    let text = |e: object::read::Error| e.to_string();
    let header = *Header::parse(&*file).map_err(text)?;
    let mut sections: Vec<Section> = header.section_headers(LE, &*file).map_err(text)?.to_vec();
    let strings = header.shstrndx(LE, &*file).map_err(text)? as usize;
    let Some(names) = sections.get(strings) else {
        return Err("it has no table of sections".into());
    };
    let mut names = names.data(LE, &*file).map_err(text)?.to_vec();
    let name_at = names.len() as u32;
    names.extend(name.as_bytes());
    names.push(0);

    let place = |file: &mut Vec<u8>, bytes: &[u8], align: usize| {
        file.resize(file.len().next_multiple_of(align), 0);
        let at = file.len() as u64;
        file.extend_from_slice(bytes);
        at
    };
    let data_at = place(&mut file, data, align.max(1) as usize);
    let names_at = place(&mut file, &names, 1);
    sections[strings].sh_offset = U64::new(LE, names_at);
    sections[strings].sh_size = U64::new(LE, names.len() as u64);
    sections.push(Section {
        sh_name: U32::new(LE, name_at),
        sh_type: U32::new(LE, elf::SHT_PROGBITS),
        sh_flags: U64::new(LE, elf::SectionFlags(0)),
        sh_addr: U64::new(LE, 0),
        sh_offset: U64::new(LE, data_at),
        sh_size: U64::new(LE, data.len() as u64),
        sh_link: U32::new(LE, 0),
        sh_info: U32::new(LE, 0),
        sh_addralign: U64::new(LE, align),
        sh_entsize: U64::new(LE, 0),
    });
    let mut header = header;
    // A large count is in the first section's size (System V ABI, "Sections").
    let count = sections.len();
    if count >= usize::from(elf::SHN_LORESERVE) {
        header.e_shnum = U16::new(LE, 0);
        sections[0].sh_size = U64::new(LE, count as u64);
    } else {
        header.e_shnum = U16::new(LE, count as u16);
    }
    let table_at = place(&mut file, pod::bytes_of_slice(&sections), 8);
    header.e_shoff = U64::new(LE, table_at);
    file[..size_of::<Header>()].copy_from_slice(pod::bytes_of(&header));
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_refused() {
        assert!(append(b"BC\xC0\xDE".to_vec(), ".x", b"data", 8).is_err());
    }
}
