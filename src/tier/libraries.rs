//! Shared libraries that the guest uses: those named with `-l` and `-L`, then the process.
//!
//! Libraries are opened with global visibility, as if the guest had been linked against them.
//! What a C or C++ program gets without asking (libm, libstdc++, libgcc_s) is opened when the
//! first symbol is not found without.
//!
//! Where there is no shared library of a name, a static archive takes its place; what becomes of
//! it is [`super::archive`]'s business.

use crate::support::error::Error;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_NOW};
use std::ffi::{CString, c_int};
use std::path::{Path, PathBuf};

/// The open libraries, in the order named.
#[derive(Debug, Default)]
pub struct Libraries {
    open: Vec<Library>,
    usual: bool,
    /// Static archives that were named.
    pub archives: Vec<PathBuf>,
}

/// Parts of glibc and of the OpenMP runtime, which the process always has.
const ALWAYS: [&str; 9] = [
    "c", "pthread", "dl", "rt", "util", "omp", "gomp", "iomp5", "gcc",
];

impl Libraries {
    /// Opens the named libraries (`m`, `mylib`, or a path with a slash), searching `paths` first.
    ///
    /// # Errors
    /// [`Error::Input`] naming the library and why it cannot be opened.
    pub fn open(names: &[String], paths: &[PathBuf]) -> Result<Libraries, Error> {
        let mut this = Libraries::default();
        for name in names {
            if ALWAYS.contains(&name.as_str()) {
                continue;
            }
            match open_named(name, paths)? {
                Found::Shared(library) => this.open.push(library),
                Found::Archive(path) => this.archives.push(path),
            }
        }
        Ok(this)
    }

    /// The address of a symbol.
    pub fn find(&mut self, name: &str) -> Option<usize> {
        let name = CString::new(name).ok()?;
        for library in &self.open {
            // SAFETY: only the address is taken.
            if let Ok(s) = unsafe { library.get::<*const ()>(name.as_bytes_with_nul()) } {
                return Some(s.into_raw() as usize);
            }
        }
        if let Some(a) = in_process(&name) {
            return Some(a);
        }
        if !self.usual {
            self.usual = true;
            for file in [
                "libm.so.6",
                "libstdc++.so.6",
                "libgcc_s.so.1",
                "libatomic.so.1",
            ] {
                // Those that are not installed are not needed.
                self.open.extend(open_file(Path::new(file)).ok());
            }
            return self.find(name.to_str().ok()?);
        }
        // Symbols of libgcc that exist for old binaries only, by their version.
        // SAFETY: both strings are C strings.
        let old = unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.as_ptr(), c"GCC_4.8.0".as_ptr()) };
        (!old.is_null()).then_some(old as usize)
    }
}

fn in_process(name: &CString) -> Option<usize> {
    // SAFETY: the name is a C string. A symbol may have the address null, which nobody wants.
    let p = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!p.is_null()).then_some(p as usize)
}

/// Linked as these are natively, a library stays to the end of the process, whatever becomes of
/// who opened it: it may have threads of its own (those of libgomp wait in libgomp's code).
const RTLD_NODELETE: c_int = libc::RTLD_NODELETE;

/// Opens a library. One that expects functions of the guest, which the loader does not know, is
/// bound lazily: before the guest starts, [`super::interpose`] binds those.
fn open_file(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: running a library's initialisers is what the user asks for by naming it.
    unsafe {
        Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE).or_else(|error| {
            if !cause(&error).contains("undefined symbol") {
                return Err(error);
            }
            Library::open(Some(path), RTLD_LAZY | RTLD_GLOBAL | RTLD_NODELETE)
        })
    }
}

/// What the loader said.
fn cause(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// What stands behind a name.
enum Found {
    Shared(Library),
    Archive(PathBuf),
}

/// Where libraries are looked for after the folders that were named.
const USUAL: [&str; 6] = [
    "/usr/local/lib",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/usr/lib",
];

/// The static archive that `-l name` stands for: `:file.a`, a path to one, or `libname.a` where
/// no folder has a shared library of that name.
pub fn archive(name: &str, paths: &[PathBuf]) -> Option<PathBuf> {
    if ALWAYS.contains(&name) {
        return None;
    }
    let folders = || {
        let usual = USUAL.iter().map(Path::new);
        paths.iter().map(PathBuf::as_path).chain(usual)
    };
    let is_archive = |path: &Path| {
        use std::io::Read;
        let mut magic = [0; 8];
        std::fs::File::open(path)
            .and_then(|mut f| f.read_exact(&mut magic))
            .is_ok_and(|()| super::archive::is_archive(&magic))
    };
    if let Some(file) = name.strip_prefix(':') {
        return folders().map(|f| f.join(file)).find(|p| is_archive(p));
    }
    if name.contains('/') {
        return is_archive(Path::new(name)).then(|| name.into());
    }
    for folder in folders() {
        if in_directory(folder, &format!("lib{name}.so")).is_some() {
            return None;
        }
        let file = folder.join(format!("lib{name}.a"));
        if is_archive(&file) {
            return Some(file);
        }
    }
    None
}

fn open_named(name: &str, paths: &[PathBuf]) -> Result<Found, Error> {
    let fail = |cause: String| Error::Input {
        file: format!("-l{name}"),
        cause,
    };
    if let Some(path) = archive(name, paths) {
        return Ok(Found::Archive(path));
    }
    let shared = |r: Result<Library, libloading::Error>| match r {
        Ok(library) => Ok(Found::Shared(library)),
        Err(e) => Err(fail(cause(&e))),
    };
    if name.contains('/') {
        return shared(open_file(Path::new(name)));
    }
    let wanted = match name.strip_prefix(':') {
        Some(file) => file.to_owned(),
        None => format!("lib{name}.so"),
    };
    for directory in paths {
        if let Some(file) = in_directory(directory, &wanted) {
            return shared(open_file(&file));
        }
    }
    let first = match open_file(Path::new(&wanted)) {
        Ok(library) => return Ok(Found::Shared(library)),
        Err(e) => cause(&e),
    };
    for directory in USUAL {
        if let Some(file) = in_directory(Path::new(directory), &wanted)
            && let Ok(library) = open_file(&file)
        {
            return Ok(Found::Shared(library));
        }
    }
    Err(fail(first))
}

/// `libx.so`, or else a `libx.so.N`, unless it is a linker script.
fn in_directory(directory: &Path, wanted: &str) -> Option<PathBuf> {
    let plain = directory.join(wanted);
    if is_elf(&plain) {
        return Some(plain);
    }
    let prefix = format!("{wanted}.");
    let mut found: Vec<_> = std::fs::read_dir(directory)
        .ok()?
        .flatten()
        .map(|e| e.path())
        .filter(|p| {
            p.file_name()
                .and_then(|n| n.to_str())
                .is_some_and(|n| n.starts_with(&prefix))
        })
        .filter(|p| is_elf(p))
        .collect();
    found.sort_by_key(|p| p.as_os_str().len());
    found.into_iter().next()
}

fn is_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 4];
    std::fs::File::open(path)
        .and_then(|mut f| f.read_exact(&mut magic))
        .is_ok_and(|()| magic == *b"\x7fELF")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_libm_and_the_process_and_names_what_is_missing() {
        let mut l = Libraries::open(&["m".into(), "pthread".into()], &[]).unwrap();
        assert!(l.find("cos").is_some());
        assert!(l.find("getpid").is_some());
        assert!(l.find("_ZNSt9exceptionD2Ev").is_some());
        assert!(l.find("no_such_symbol_at_all").is_none());
        let e = Libraries::open(&["no_such_library".into()], &[]).unwrap_err();
        assert!(e.to_string().starts_with("-lno_such_library: "), "{e}");
    }
}
