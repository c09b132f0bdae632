//! Reads the files of a program and sorts their contents: bitcode, archives, libraries.
//!
//! A file is classified by its contents, not by its name. Compressed files are expanded first.
//! Leaves to others: which members of archives are needed ([`super::module`]), and what the
//! bitcode means (`llvm`).

use super::config::Engine;
use super::source::{self, Source};
use hashbrown::HashMap;
use ompvm_llvm::Input;
use ompvm_support::error::Error;
use ompvm_support::settings::{self, Settings};
use ompvm_tier::archive::{self, Archive};
use ompvm_tier::exports::Exports;
use ompvm_tier::fat::record::LinkRecord;
use ompvm_tier::fat::{self, ElfFile, ElfKind, exported, needed};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of a program by their contents.
#[derive(Debug, Default)]
pub(super) struct ProgramFiles {
    /// Bitcode and textual IR.
    pub inputs: Vec<Input>,
    /// Archives, and native objects.
    pub archives: Vec<Arc<Archive>>,
    /// Paths of shared libraries, or `:NAME` for those that the loader searches.
    pub libraries: Vec<String>,
    /// Warnings of the compilers about sources.
    pub warnings: String,
    /// True if bitcode of shared libraries is among the inputs.
    pub has_library_bitcode: bool,
    /// The symbols that the executables export.
    pub exports: Exports,
    /// True if an executable is among the inputs.
    pub has_executable: bool,
    library_use: LibraryUse,
    /// Libraries of executables that were read.
    visited: Vec<String>,
}

/// Use of the shared libraries that an executable was linked with, if they carry bitcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum LibraryUse {
    /// Their bitcode becomes part of the program.
    #[default]
    Bitcode,
    /// Their native code is opened, as that of other libraries.
    Native,
}

/// Reads and sorts the files.
///
/// # Errors
/// Returns [`Error::Input`] naming the file and the cause.
pub(super) fn sort(
    files: &[PathBuf],
    engine: &Engine,
    libraries: LibraryUse,
) -> Result<ProgramFiles, Error> {
    let mut found = ProgramFiles {
        library_use: libraries,
        ..ProgramFiles::default()
    };
    let mut compiled = compile_sources(files, engine, &mut found.warnings)?;
    for (number, file) in files.iter().enumerate() {
        let bytes = match compiled.remove(&number) {
            Some(bitcode) => bitcode,
            None => read(file)?,
        };
        found
            .add(file, bytes, engine.settings)
            .map_err(|cause| match cause {
                Cause::Text(cause) => error(file, cause),
                Cause::Error(error) => error,
            })?;
    }
    Ok(found)
}

/// Compiles the sources among the files. Returns the bitcode by the number of the file.
fn compile_sources(
    files: &[PathBuf],
    engine: &Engine,
    warnings: &mut String,
) -> Result<HashMap<usize, Vec<u8>>, Error> {
    let mut compiled = HashMap::new();
    let sources = files.iter().enumerate();
    let sources = sources.filter_map(|(n, f)| Some((n, Source::file(f)?)));
    let mut sources: Vec<(usize, Source)> = sources.collect();
    if sources.is_empty() {
        return Ok(compiled);
    }
    // A Fortran source needs the module files of the others, and the first file is the program.
    if sources[0].0 == 0 {
        sources.rotate_left(1);
    }
    let modules = source::module_folder()?;
    for (number, source) in sources {
        // The compilers' messages about files that they cannot read differ.
        read(&files[number])?;
        let source = source.flags(&engine.compiler_flags);
        let result = source.compile(engine.settings, Some(modules.path()))?;
        warnings.push_str(&result.warnings);
        compiled.insert(number, result.bitcode);
    }
    Ok(compiled)
}

/// A failure with or without the name of its file.
enum Cause {
    Text(String),
    Error(Error),
}

impl From<String> for Cause {
    fn from(text: String) -> Cause {
        Cause::Text(text)
    }
}

impl From<Error> for Cause {
    fn from(error: Error) -> Cause {
        Cause::Error(error)
    }
}

impl ProgramFiles {
    fn add(&mut self, file: &Path, bytes: Vec<u8>, settings: &Settings) -> Result<(), Cause> {
        let name = file.display().to_string();
        if archive::is_archive(&bytes) {
            self.archives.push(Archive::of_bytes(file, bytes)?);
            return Ok(());
        }
        let Some(elf) = fat::read(&bytes)? else {
            self.inputs.push(Input { name, bytes });
            return Ok(());
        };
        match elf.kind {
            // The first file is the program.
            ElfKind::Shared if self.is_empty() && !elf.bitcode.is_empty() => {
                self.add_executable(file, &elf, &bytes, settings)?;
            }
            ElfKind::Shared => {
                // The loader would search for a name without a slash.
                let here = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
                self.libraries.push(here.display().to_string());
            }
            ElfKind::Object if elf.bitcode.is_empty() => {
                refuse_native_only(&elf)?;
                self.archives.push(Archive::of_object(file, bytes)?);
            }
            ElfKind::Object => {
                refuse_native_only(&elf)?;
                self.add_bitcode(&name, &elf, &bytes);
            }
            ElfKind::Executable if elf.bitcode.is_empty() && elf.native_only.is_empty() => {
                return Err(no_bitcode("a native executable").into());
            }
            ElfKind::Executable => self.add_executable(file, &elf, &bytes, settings)?,
            ElfKind::Other => return Err(no_bitcode("an ELF file for another processor").into()),
        }
        Ok(())
    }

    /// Returns true if nothing was added yet.
    fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.archives.is_empty() && self.libraries.is_empty()
    }

    /// Adds an executable, or a library in its place: its bitcode, its native members, and the
    /// libraries that it was linked with.
    fn add_executable(
        &mut self,
        file: &Path,
        elf: &ElfFile,
        bytes: &[u8],
        settings: &Settings,
    ) -> Result<(), Cause> {
        let record = LinkRecord::of(bytes)?;
        refuse_native_only(elf)?;
        if let Some(why) = record.native_only {
            return Err(only_natively(&why).into());
        }
        self.exports = exported::names(bytes);
        self.has_executable = true;
        // Constructors of libraries run before those of the program.
        self.add_libraries(file, bytes, settings)?;
        self.add_code(file, elf, bytes, record)
    }

    /// Adds the libraries that a file was linked with, after those that they were linked with.
    fn add_libraries(
        &mut self,
        file: &Path,
        bytes: &[u8],
        settings: &Settings,
    ) -> Result<(), Cause> {
        for name in needed::libraries(file, bytes, settings.loader_path.as_deref()) {
            if self.visited.contains(&name) {
                continue;
            }
            self.visited.push(name.clone());
            let path = Path::new(&name);
            if self.library_use == LibraryUse::Bitcode
                && fat::carries_bitcode(path)
                && let Ok(library) = read(path)
                && let Some(elf) = fat::read(&library)?
                && let record = LinkRecord::of(&library)?
                && elf.native_only.is_empty()
                && record.native_only.is_none()
            {
                self.exports.add(exported::names(&library));
                self.add_libraries(path, &library, settings)?;
                self.add_code(path, &elf, &library, record)?;
                self.has_library_bitcode = true;
            } else {
                self.libraries.push(name);
            }
        }
        Ok(())
    }

    /// Adds the bitcode and the native members of a linked file.
    fn add_code(
        &mut self,
        file: &Path,
        elf: &ElfFile,
        bytes: &[u8],
        record: LinkRecord,
    ) -> Result<(), Cause> {
        self.add_bitcode(&file.display().to_string(), elf, bytes);
        for member in record.members {
            let archive = Archive::of_member(file, member.name, member.bytes)?;
            self.archives.push(archive);
        }
        Ok(())
    }

    fn add_bitcode(&mut self, name: &str, elf: &ElfFile, bytes: &[u8]) {
        for part in &elf.bitcode {
            self.inputs.push(Input {
                name: match &part.name {
                    Some(source) => format!("{name}({source})"),
                    None => name.to_owned(),
                },
                bytes: bytes[part.range.clone()].to_vec(),
            });
        }
    }
}

/// Returns true if an executable can only run natively: it has no bitcode, or its link or one of its
/// sources allows nothing else.
pub fn is_native_only(file: &Path) -> bool {
    let Ok(bytes) = read(file) else { return false };
    match fat::read(&bytes) {
        Ok(Some(elf)) if elf.kind == ElfKind::Executable => {
            let record = LinkRecord::of(&bytes).unwrap_or_default();
            elf.bitcode.is_empty() || !elf.native_only.is_empty() || record.native_only.is_some()
        }
        _ => false,
    }
}

/// A part of an executable that runs natively.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NativePart {
    /// Name of the object, library or source.
    pub name: String,
    /// Reason.
    pub reason: String,
}

/// Returns what of an executable is native, and why; nothing for other files.
pub fn native_parts(file: &Path) -> Vec<NativePart> {
    let mut parts = Vec::new();
    let mut add = |name: &str, reason: &str| {
        parts.push(NativePart {
            name: name.into(),
            reason: reason.into(),
        });
    };
    let Ok(bytes) = read(file) else { return parts };
    let Ok(Some(elf)) = fat::read(&bytes) else {
        return parts;
    };
    if elf.kind != ElfKind::Executable {
        return parts;
    }
    let record = LinkRecord::of(&bytes).unwrap_or_default();
    if elf.bitcode.is_empty() {
        add("(all)", "no bitcode");
    }
    if let Some(why) = &record.native_only {
        add("(all)", why);
    }
    for (source, why) in &elf.native_only {
        add(source, why);
    }
    for member in &record.members {
        add(&member.name, "an object without bitcode");
    }
    let loader_path = settings::current().loader_path.as_deref();
    for library in needed::libraries(file, &bytes, loader_path) {
        // The loader finds it, so its contents are not known before the program starts.
        if let Some(name) = library.strip_prefix(':') {
            add(name, "a shared library in the loader's own folders");
        } else if !fat::carries_bitcode(Path::new(&library)) {
            add(&library, "a shared library without bitcode");
        }
    }
    parts
}

/// Refuses code that can only run natively.
fn refuse_native_only(elf: &ElfFile) -> Result<(), String> {
    match elf.native_only.first() {
        Some((source, why)) => Err(only_natively(&format!("{source}: {why}"))),
        None => Ok(()),
    }
}

fn only_natively(why: &str) -> String {
    format!(
        "it can only run natively ({why}); start it with `OMPVM_OFF=1`, or build it without that"
    )
}

fn no_bitcode(what: &str) -> String {
    format!(
        "this is {what} without LLVM bitcode (compile and link with `ompvm cc`, or compile with \
         `clang -fopenmp -c -emit-llvm`)"
    )
}

/// Returns the error for files among which none has bitcode of a program.
pub(super) fn without_bitcode(files: &[PathBuf]) -> Error {
    let first = files.first().cloned().unwrap_or_default();
    let bytes = read(&first).unwrap_or_default();
    let cause = match fat::kind(&bytes) {
        _ if archive::is_archive(&bytes) => {
            "this is an archive, and none of its members is LLVM bitcode that defines `main`".into()
        }
        Some(ElfKind::Shared) => no_bitcode("a shared library"),
        Some(_) => no_bitcode("a native ELF file"),
        None => "there is no input".into(),
    };
    error(&first, cause)
}

fn error(file: &Path, cause: String) -> Error {
    Error::Input {
        file: file.display().to_string(),
        cause,
    }
}

/// Size in bytes that a compressed file may expand to: a kilobyte can stand for a megabyte.
const MOST_EXPANDED: u64 = 512 << 20;

/// Returns the file's bytes, expanded if they are compressed by gzip.
///
/// # Errors
/// Returns [`Error::Input`] with the cause in words, without the error number.
pub(super) fn read(file: &Path) -> Result<Vec<u8>, Error> {
    use std::io::ErrorKind;
    let bytes = std::fs::read(file).map_err(|e| {
        let cause = match e.kind() {
            ErrorKind::NotFound => "no such file".into(),
            ErrorKind::PermissionDenied => "no permission to read it".into(),
            ErrorKind::IsADirectory => "it is a directory".into(),
            _ => e.to_string(),
        };
        error(file, cause)
    })?;
    // RFC 1952, section 2.3.1.
    if !bytes.starts_with(b"\x1f\x8b") {
        return Ok(bytes);
    }
    let mut expanded = Vec::new();
    let decoder = flate2::read::MultiGzDecoder::new(&*bytes);
    match decoder.take(MOST_EXPANDED + 1).read_to_end(&mut expanded) {
        Ok(size) if size as u64 > MOST_EXPANDED => Err(error(
            file,
            "the gzip data expands to more than 512 MiB".into(),
        )),
        Ok(_) => Ok(expanded),
        Err(_) => Err(error(file, "the gzip data is damaged or truncated".into())),
    }
}
