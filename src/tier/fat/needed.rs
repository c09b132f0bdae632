//! Finds the shared libraries that an executable was linked with, as the system's loader does.
//!
//! The order is that of ld.so(8): `DT_RPATH`, the folders of `LD_LIBRARY_PATH`, `DT_RUNPATH`, and then
//! the loader's own folders, which are left to it.

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, FileHeader};
use object::{LittleEndian, read};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Beginnings of the names of libraries that the process has, or that `tier::libraries` opens by
/// default.
const ALWAYS: [&[u8]; 14] = [
    b"libc.so.",
    b"libm.so.",
    b"libmvec.so.",
    b"libpthread.so.",
    b"libdl.so.",
    b"librt.so.",
    b"libutil.so.",
    b"ld-linux-x86-64.so.",
    b"libgcc_s.so.",
    b"libstdc++.so.",
    b"libatomic.so.",
    b"libomp.so",
    b"libiomp5.so",
    b"libomptarget.so",
];

/// The lists in the dynamic section of a file.
#[derive(Default)]
struct Dynamic<'b> {
    needed: Vec<&'b [u8]>,
    rpath: Vec<&'b [u8]>,
    runpath: Vec<&'b [u8]>,
}

/// Returns the libraries of the executable `program` with these bytes, without those that every
/// process has: paths, or `:NAME` for those that the system's loader searches. `loader_path` is the
/// value of `LD_LIBRARY_PATH`.
pub fn libraries(program: &Path, bytes: &[u8], loader_path: Option<&OsStr>) -> Vec<String> {
    let dynamic = dynamic(bytes).unwrap_or_default();
    let program = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let origin = program.parent().unwrap_or(Path::new("/"));
    let loader_path = loader_path.map_or(&b""[..], OsStr::as_bytes);
    // DT_RUNPATH disables DT_RPATH.
    let rpath = match dynamic.runpath.is_empty() {
        true => &dynamic.rpath[..],
        false => &[],
    };
    let lists = rpath.iter().chain([&loader_path]).chain(&dynamic.runpath);
    let folders: Vec<PathBuf> = lists
        .flat_map(|list| list.split(|&b| b == b':'))
        .filter(|folder| !folder.is_empty())
        .map(|folder| expand(folder, origin))
        .collect();
    let others = dynamic
        .needed
        .iter()
        .filter(|name| !ALWAYS.iter().any(|always| name.starts_with(always)));
    let place = |name: &&[u8]| {
        let file = Path::new(OsStr::from_bytes(name));
        let mut found = folders.iter().map(|folder| folder.join(file));
        match found.find(|path| path.is_file()) {
            Some(path) => path.display().to_string(),
            None if name.contains(&b'/') => file.display().to_string(),
            None => format!(":{}", file.display()),
        }
    };
    others.map(place).collect()
}

/// Replaces `$ORIGIN` at the start of a folder.
fn expand(folder: &[u8], origin: &Path) -> PathBuf {
    for token in [&b"$ORIGIN"[..], b"${ORIGIN}"] {
        if let Some(rest) = folder.strip_prefix(token) {
            let rest = rest.strip_prefix(b"/").unwrap_or(rest);
            return origin.join(OsStr::from_bytes(rest));
        }
    }
    OsStr::from_bytes(folder).into()
}

fn dynamic(bytes: &[u8]) -> read::Result<Dynamic<'_>> {
    let endian = LittleEndian;
    let header = FileHeader64::<LittleEndian>::parse(bytes)?;
    let sections = header.sections(endian, bytes)?;
    let mut found = Dynamic::default();
    let Some((entries, link)) = sections.dynamic(endian, bytes)? else {
        return Ok(found);
    };
    let strings = sections.strings(endian, bytes, link)?;
    for entry in entries {
        let list = match entry.tag(endian) {
            elf::DT_NEEDED => &mut found.needed,
            elf::DT_RPATH => &mut found.rpath,
            elf::DT_RUNPATH => &mut found.runpath,
            _ => continue,
        };
        list.push(entry.string(endian, strings)?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_is_the_folder_of_the_program() {
        let origin = Path::new("/opt/x/bin");
        assert_eq!(expand(b"$ORIGIN/../lib", origin), origin.join("../lib"));
        assert_eq!(expand(b"${ORIGIN}", origin), origin.join(""));
        assert_eq!(expand(b"/lib", origin), Path::new("/lib"));
    }
}
