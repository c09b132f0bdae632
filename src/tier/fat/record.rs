//! The record of a link: what of a program or shared library is native.
//!
//! A linker merges the code of its inputs, so native members (assembler files, objects of other
//! compilers) cannot be taken out of a linked file again. `ompvm cc` stores them in a section of
//! the file, where `ompvm run` finds them.

use serde::{Deserialize, Serialize};

/// Name of the section.
pub const NAME: &str = ".ompvm.link";

/// First bytes of the section, with the version of its format.
const MAGIC: &[u8; 8] = b"OMPVMLK\x01";

/// A native member of a program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NativeMember {
    /// Name of the object, as `libx.a(y.o)` if it is from an archive.
    pub name: String,
    /// The object file.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// The record of a link.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LinkRecord {
    /// Native members, in link order.
    pub members: Vec<NativeMember>,
    /// Reason why the linked file can only run natively, if there is one.
    pub native_only: Option<String>,
}

impl LinkRecord {
    /// Returns the content of the section.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(postcard::to_allocvec(self).unwrap_or_default());
        out
    }

    /// Reads the section of a file. A file without one was linked by another compiler, and has an
    /// empty record.
    ///
    /// # Errors
    /// Returns a description if the section is damaged.
    pub fn of(file: &[u8]) -> Result<LinkRecord, String> {
        let Some(bytes) = super::section_data(file, NAME) else {
            return Ok(LinkRecord::default());
        };
        let body = bytes.strip_prefix(MAGIC);
        body.and_then(|body| postcard::from_bytes(body).ok())
            .ok_or_else(|| {
                format!("the section `{NAME}` is damaged or of another version of ompvm")
            })
    }
}
