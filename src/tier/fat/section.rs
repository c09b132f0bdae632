//! The section of bitcode that `ompvm cc` adds to native objects.
//!
//! A linker concatenates the sections of its inputs, and adds zeros for alignment. So each entry has
//! a header with its length, and readers skip zeros between entries. The section is not allocated:
//! a running program does not map it.
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 8 | [`MAGIC`] |
//! | 8 | 4 | kind: 1 bitcode, 2 native only |
//! | 12 | 4 | length of the name |
//! | 16 | 8 | length of the content |
//! | 24 | | name of the source, content, zeros up to a multiple of [`ALIGN`] |

use std::ops::Range;

/// Name of the section.
pub const NAME: &str = ".ompvm.bc";

/// Alignment of the section and of its entries, in bytes.
pub const ALIGN: usize = 8;

const MAGIC: &[u8; 8] = b"OMPVMBC\x01";
const HEADER: usize = 24;

/// Content of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// Bitcode, at this place in the section.
    Bitcode(Range<usize>),
    /// Nothing, because the object's code can only run natively, with the reason.
    NativeOnly(String),
}

/// An entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Name of the source.
    pub name: String,
    /// Content.
    pub content: Content,
}

/// Returns an entry with the bitcode of a source.
pub fn bitcode(name: &str, bytes: &[u8]) -> Vec<u8> {
    entry(1, name, bytes)
}

/// Returns an entry that says why the code of a source can only run natively.
pub fn native_only(name: &str, why: &str) -> Vec<u8> {
    entry(2, name, why.as_bytes())
}

fn entry(kind: u32, name: &str, content: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(kind.to_le_bytes());
    out.extend((name.len() as u32).to_le_bytes());
    out.extend((content.len() as u64).to_le_bytes());
    out.extend(name.as_bytes());
    out.extend(content);
    out.resize(out.len().next_multiple_of(ALIGN), 0);
    out
}

/// Returns the entries of a section.
///
/// # Errors
/// Returns a description if an entry is damaged, or of a later version.
pub fn entries(section: &[u8]) -> Result<Vec<Entry>, String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = section.get(at..)
        && !rest.is_empty()
    {
        if rest[0] == 0 {
            at += 1;
            continue;
        }
        let damaged = || format!("the section `{NAME}` is damaged at offset {at}");
        let header = rest.get(..HEADER).ok_or_else(damaged)?;
        if !header.starts_with(MAGIC) {
            return Err(match header.starts_with(&MAGIC[..7]) {
                true => format!("the section `{NAME}` is of a later version of ompvm"),
                false => damaged(),
            });
        }
        let number = |from: usize, len: usize| {
            let bytes = &header[from..from + len];
            bytes.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b))
        };
        let name_end = HEADER as u64 + number(12, 4);
        let end = name_end.saturating_add(number(16, 8));
        if end > rest.len() as u64 {
            return Err(damaged());
        }
        let (name_end, end) = (name_end as usize, end as usize);
        let content = &rest[name_end..end];
        found.push(Entry {
            name: String::from_utf8_lossy(&rest[HEADER..name_end]).into_owned(),
            content: match number(8, 4) {
                1 => Content::Bitcode(at + name_end..at + end),
                2 => Content::NativeOnly(String::from_utf8_lossy(content).into_owned()),
                _ => return Err(damaged()),
            },
        });
        at += end;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concatenated_entries_are_read_back() {
        let mut section = bitcode("a.c", b"BC\xC0\xDEx");
        section.extend([0; 16]);
        section.extend(native_only("b.c", "why"));
        let read = entries(&section).unwrap();
        let Content::Bitcode(range) = &read[0].content else {
            panic!("the first entry has bitcode")
        };
        assert_eq!(&section[range.clone()], b"BC\xC0\xDEx");
        assert_eq!(read[0].name, "a.c");
        assert_eq!(read[1].content, Content::NativeOnly("why".into()));
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn damage_is_an_error() {
        let good = bitcode("a.c", b"BC\xC0\xDE");
        assert!(entries(&good[..good.len() - 8]).is_err());
        let mut later = good.clone();
        later[7] = 2;
        assert!(entries(&later).unwrap_err().contains("later version"));
        let mut long = good;
        long[16..24].fill(0xff);
        assert!(entries(&long).is_err());
        assert_eq!(entries(&[0; 32]), Ok(Vec::new()));
    }
}
