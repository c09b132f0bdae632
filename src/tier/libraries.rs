//! Shared libraries of the guest: those named with `-l` and `-L`, then the process.
//!
//! Libraries are opened with global visibility, as if the guest had been linked against them. The
//! libraries that a C or C++ program gets by default (libm, libstdc++, libgcc_s) are opened when
//! the first symbol is not found without them.
//!
//! The process has a libstdc++ already, which LLVM brings along, and the loader would bind the
//! references of a libc++ to it: both define `__cxa_throw` and `std::exception`. So libraries are
//! opened in a scope of their own if one of them is libc++ or was linked with it
//! ([`super::loader::scope`]). A program that uses libc++ gets it by default, too.
//!
//! If no shared library of a name exists, a static archive takes its place, which
//! [`super::archive`] handles.

use super::loader;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_NOW};
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{Dyn, FileHeader};
use ompvm_support::error::Error;
use ompvm_support::log;
use std::ffi::{CStr, CString, OsString, c_int};
use std::path::{Path, PathBuf};

/// The open libraries, in the order named.
#[derive(Debug, Default)]
pub struct Libraries {
    open: Vec<Library>,
    /// Default libraries, opened once a symbol was not found without them.
    usual: Option<Vec<Library>>,
    /// Names of the named libraries.
    names: Vec<String>,
    /// Folders that are searched first.
    paths: Vec<PathBuf>,
    /// Static archives among the named libraries.
    pub archives: Vec<PathBuf>,
    /// Folders that the dynamic loader searches.
    pub loader_path: Option<OsString>,
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
        let mut this = Libraries {
            names: names.to_vec(),
            paths: paths.to_vec(),
            ..Libraries::default()
        };
        let mut shared = Vec::new();
        for name in names {
            if ALWAYS.contains(&name.as_str()) {
                continue;
            }
            match archive(name, paths) {
                Some(path) => this.archives.push(path),
                None => shared.push(name),
            }
        }
        let uses_libcpp = |name: &&String| file_of(name, paths).is_some_and(|f| uses_libcpp(&f));
        if shared.iter().any(uses_libcpp) {
            let files = shared
                .iter()
                .map(|name| file_of(name, paths).unwrap_or_else(|| file_name(name).into()))
                .collect();
            let names: Vec<_> = shared.iter().map(|name| format!("-l{name}")).collect();
            this.open_apart(files).map_err(|cause| Error::Input {
                file: names.join(" "),
                cause,
            })?;
            return Ok(this);
        }
        for name in shared {
            this.open.push(open_named(name, paths)?);
        }
        Ok(this)
    }

    /// Opens libraries in a scope of their own, as a link with libc++ would bind them.
    fn open_apart(&mut self, mut files: Vec<PathBuf>) -> Result<(), String> {
        // The unwinder must be the one that has the tables of compiled code; libc++ may name
        // another one.
        files.extend(["libm.so.6", "libgcc_s.so.1"].map(PathBuf::from));
        let names: Result<Vec<_>, _> = files
            .into_iter()
            .map(|f| CString::new(f.into_os_string().into_encoded_bytes()))
            .collect();
        let names = names.map_err(|_| "a name contains a zero byte".to_owned())?;
        let flags = RTLD_GLOBAL | RTLD_NODELETE;
        let handle = loader::scope(&names, RTLD_NOW | flags).or_else(|cause| {
            if !cause.contains("undefined symbol") {
                return Err(cause);
            }
            loader::scope(&names, RTLD_LAZY | flags)
        })?;
        tracing::debug!(target: log::MEMORY, files = ?names, "opened libraries apart");
        // SAFETY: the handle is from the loader and not used elsewhere.
        self.open.push(unsafe { Library::from_raw(handle) });
        Ok(())
    }

    /// Returns a text of everything that decides which libraries are searched.
    pub fn describe(&self) -> String {
        let (names, paths, folders) = (&self.names, &self.paths, &self.loader_path);
        format!("{names:?} {paths:?} {:?} {folders:?}", self.archives)
    }

    /// Opens libc++, if installed, for a program that uses it and did not name it.
    pub fn open_libcpp(&mut self) {
        if self.has_libcpp() {
            return;
        }
        let file = file_of("c++", &self.paths).or_else(libcpp_of_compiler);
        let file = file.unwrap_or_else(|| "libc++.so.1".into());
        // Without libc++ the link reports the missing symbols.
        let _ = self.open_apart(vec![file]);
    }

    /// Returns true if a symbol comes from libc++ and from no other library. Most of libc++ is in a
    /// namespace of its own. Classes that the language itself uses (`std::exception_ptr`) are not,
    /// but partly have other members than those of libstdc++.
    pub fn is_of_libcpp(&mut self, name: &str) -> bool {
        const STD: [&str; 5] = ["_ZNSt", "_ZNKSt", "_ZSt", "_ZTISt", "_ZTVSt"];
        is_in_libcpp(name) || (STD.iter().any(|s| name.starts_with(s)) && self.find(name).is_none())
    }

    /// Returns true if a shared libc++ is open.
    pub fn has_libcpp(&self) -> bool {
        self.find_named("_ZNSt3__15mutex4lockEv").is_some()
    }

    /// Returns the address of a symbol in the named libraries.
    pub fn find_named(&self, name: &str) -> Option<usize> {
        let name = CString::new(name).ok()?;
        self.open.iter().find_map(|library| {
            // SAFETY: the symbol is not dereferenced; only its address is taken.
            let symbol = unsafe { library.get::<*const ()>(name.as_bytes_with_nul()) };
            symbol.ok().map(|s| s.into_raw() as usize)
        })
    }

    /// Returns the address of a symbol in the named libraries, the process and the default
    /// libraries.
    pub fn find(&mut self, name: &str) -> Option<usize> {
        if let Some(a) = self.find_named(name) {
            return Some(a);
        }
        let name = CString::new(name).ok()?;
        if let Some(a) = in_process(&name) {
            return Some(a);
        }
        if self.usual.is_none() {
            let files = [
                "libm.so.6",
                "libstdc++.so.6",
                "libgcc_s.so.1",
                "libatomic.so.1",
            ];
            // A library that is not installed is skipped.
            let open = files.iter().filter_map(|f| open_file(Path::new(f)).ok());
            self.usual = Some(open.collect());
            if let Some(a) = in_process(&name) {
                return Some(a);
            }
        }
        // Some symbols of libgcc exist for old binaries only, under their version.
        // SAFETY: both strings are C strings.
        let old = unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.as_ptr(), c"GCC_4.8.0".as_ptr()) };
        (!old.is_null()).then_some(old as usize)
    }
}

/// Returns true if a symbol is in the namespace of libc++.
pub fn is_in_libcpp(name: &str) -> bool {
    name.starts_with("_Z") && name.contains("St3__1")
}

/// Returns the address of an unwinder function. The process's own takes precedence over libraries,
/// because it has the tables of compiled code.
pub fn unwinder(name: &str) -> Option<usize> {
    if name.starts_with("_Unwind_") {
        in_process(&CString::new(name).ok()?)
    } else {
        None
    }
}

fn in_process(name: &CStr) -> Option<usize> {
    // SAFETY: the name is a C string. A symbol with the address null counts as missing.
    let p = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!p.is_null()).then_some(p as usize)
}

/// A library that is linked natively stays loaded until the process ends. It may have threads of
/// its own (those of libgomp wait in libgomp's code), so it stays loaded here, too.
const RTLD_NODELETE: c_int = libc::RTLD_NODELETE;

/// Opens a library. A library that expects functions of the guest, which the loader does not know,
/// is bound lazily; [`super::interpose`] binds them before the guest starts.
fn open_file(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the user asks for a library's initializers by naming it.
    let opened = unsafe {
        Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE).or_else(|error| {
            if !cause(&error).contains("undefined symbol") {
                return Err(error);
            }
            Library::open(Some(path), RTLD_LAZY | RTLD_GLOBAL | RTLD_NODELETE)
        })
    };
    match &opened {
        Ok(_) => tracing::debug!(target: log::MEMORY, file = %path.display(), "opened a library"),
        Err(why) => tracing::debug!(
            target: log::MEMORY,
            file = %path.display(),
            why = cause(why),
            "cannot open a library"
        ),
    }
    opened
}

/// Returns the loader's message.
fn cause(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// The system's folders of libraries.
const USUAL: [&str; 6] = [
    "/usr/local/lib",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/usr/lib",
];

/// Returns the folders that are searched after the named ones. That of the compiler is last and
/// looked for only if the others were not enough.
fn usual_folders() -> impl Iterator<Item = PathBuf> {
    let compiler = std::iter::once_with(super::archive::compiler_folder).flatten();
    USUAL.iter().map(PathBuf::from).chain(compiler)
}

/// Returns the static archive that `-l name` stands for: `:file.a`, a path to one, or `libname.a`
/// if no folder has a shared library of that name.
pub fn archive(name: &str, paths: &[PathBuf]) -> Option<PathBuf> {
    if ALWAYS.contains(&name) {
        return None;
    }
    let folders = || {
        let named = paths.iter().cloned();
        named.chain(usual_folders())
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
        if in_directory(&folder, &format!("lib{name}.so")).is_some() {
            return None;
        }
        let file = folder.join(format!("lib{name}.a"));
        if is_archive(&file) {
            return Some(file);
        }
    }
    None
}

/// Returns the file name that `-l name` stands for.
fn file_name(name: &str) -> String {
    match name.strip_prefix(':') {
        Some(file) => file.to_owned(),
        None if name.contains('/') => name.to_owned(),
        None => format!("lib{name}.so"),
    }
}

/// Returns the path of the shared library that `-l name` stands for, if one of the folders has it.
fn file_of(name: &str, paths: &[PathBuf]) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(name.into());
    }
    let mut folders = paths.iter().cloned().chain(usual_folders());
    let wanted = file_name(name);
    folders.find_map(|folder| in_directory(&folder, &wanted))
}

/// Returns the libc++ of the newest installed compiler that is not newer than our LLVM.
fn libcpp_of_compiler() -> Option<PathBuf> {
    let ours = ompvm_llvm::version().0;
    let mut versions = (14..=ours).rev();
    versions.find_map(|version| {
        let folder = PathBuf::from(format!("/usr/lib/llvm-{version}/lib"));
        in_directory(&folder, "libc++.so")
    })
}

/// Returns true if a shared library is libc++ or libc++abi, or was linked with one of them.
fn uses_libcpp(file: &Path) -> bool {
    let is = |name: &[u8]| name.starts_with(b"libc++.so") || name.starts_with(b"libc++abi.so");
    if is(file.file_name().unwrap_or_default().as_encoded_bytes()) {
        return true;
    }
    let Ok(bytes) = std::fs::read(file) else {
        return false;
    };
    needed(&bytes).is_ok_and(|names| names.iter().any(|n| is(n)))
}

/// Returns true if a static archive is libc++ or libc++abi.
pub fn is_libcpp_archive(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    name == "libc++.a" || name == "libc++abi.a"
}

/// Returns the libraries that a shared library was linked with (`DT_NEEDED`).
fn needed(bytes: &[u8]) -> object::read::Result<Vec<&[u8]>> {
    let endian = LittleEndian;
    let header = FileHeader64::<LittleEndian>::parse(bytes)?;
    let sections = header.sections(endian, bytes)?;
    let Some((entries, link)) = sections.dynamic(endian, bytes)? else {
        return Ok(Vec::new());
    };
    let strings = sections.strings(endian, bytes, link)?;
    let needed = entries
        .iter()
        .filter(|e| e.tag(endian) == object::elf::DT_NEEDED);
    needed.map(|e| e.string(endian, strings)).collect()
}

fn open_named(name: &str, paths: &[PathBuf]) -> Result<Library, Error> {
    let fail = |cause: String| Error::Input {
        file: format!("-l{name}"),
        cause,
    };
    let open = |file: &Path| open_file(file).map_err(|e| fail(cause(&e)));
    let wanted = file_name(name);
    if name.contains('/') {
        return open(Path::new(name));
    }
    for directory in paths {
        if let Some(file) = in_directory(directory, &wanted) {
            return open(&file);
        }
    }
    let first = match open_file(Path::new(&wanted)) {
        Ok(library) => return Ok(library),
        Err(e) => cause(&e),
    };
    for directory in usual_folders() {
        if let Some(file) = in_directory(&directory, &wanted)
            && let Ok(library) = open_file(&file)
        {
            return Ok(library);
        }
    }
    Err(fail(first))
}

/// Finds `libx.so`, or else a `libx.so.N`, in a folder. Skips linker scripts.
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
    fn finds_libm_and_the_process_and_names_missing_libraries() {
        let mut l = Libraries::open(&["m".into(), "pthread".into()], &[]).unwrap();
        assert!(l.find("cos").is_some());
        assert!(l.find("getpid").is_some());
        assert!(l.find("_ZNSt9exceptionD2Ev").is_some());
        assert!(l.find("no_such_symbol_at_all").is_none());
        let e = Libraries::open(&["no_such_library".into()], &[]).unwrap_err();
        assert!(e.to_string().starts_with("-lno_such_library: "), "{e}");
    }
}
