//! Modules: bitcode that has been read.
//!
//! Linking is separate, because one module may be linked and started many times. Nothing is placed
//! in memory here.

use super::config::Engine;
use super::inputs::{self, LibraryUse, ProgramFiles};
use super::inspect::Inspection;
use super::source::Source;
use ompvm_cache::{Cache, CacheEntry};
use ompvm_ir as ir;
use ompvm_llvm::native::Bitcode;
use ompvm_llvm::{Input, ReadOptions};
use ompvm_support::error::{Error, Unsupported};
use ompvm_support::settings::Settings;
use ompvm_tier::archive::{self, Archive, MemberId};
use ompvm_tier::exports::Exports;
use ompvm_tier::fat::{self, ElfKind};
use ompvm_tier::{link, runtime};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Role of a file in a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// Bitcode of one module, or textual IR.
    Program,
    /// Bitcode that compilers take only for link-time optimization: several modules in one file, an
    /// archive of bitcode, or an object with bitcode beside its code.
    ForLinkTime,
    /// Native code: an object, a shared library, an archive of objects.
    Native,
}

/// Returns the role of a file by its contents.
///
/// # Errors
/// Returns [`Error::Input`] if the file cannot be read.
pub fn file_kind(file: &Path) -> Result<FileKind, Error> {
    let bytes = inputs::read(file)?;
    if archive::is_archive(&bytes) {
        let archive = [Archive::of_bytes(file, bytes)?];
        return Ok(match archive::any_bitcode(&archive) {
            true => FileKind::ForLinkTime,
            false => FileKind::Native,
        });
    }
    let elf = fat::read(&bytes).map_err(|cause| Error::Input {
        file: file.display().to_string(),
        cause,
    })?;
    Ok(match elf {
        Some(elf) if elf.kind != ElfKind::Shared && !elf.bitcode.is_empty() => {
            FileKind::ForLinkTime
        }
        Some(_) => FileKind::Native,
        None if ompvm_llvm::has_modules(&bytes) => FileKind::ForLinkTime,
        None => FileKind::Program,
    })
}

/// A module read from bitcode or textual IR. Immutable; cheap to clone.
///
/// ```no_run
/// # use ompvm::api::{Engine, Error, Module};
/// # fn main() -> Result<(), Error> {
/// let engine = Engine::default();
/// // A static archive adds the members that the program needs.
/// let files = ["main.bc".into(), "libsolver.a".into()];
/// let module = Module::from_files(&engine, &files)?;
/// for construct in module.check() {
///     println!("not supported: {construct}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Module {
    pub(super) ir: Arc<ir::Module>,
    /// The program's entry in the engine's cache.
    pub(super) cache_entry: Option<Arc<CacheEntry>>,
    /// The engine's cache.
    pub(super) cache: Option<Cache>,
    pub(super) archives: Vec<Arc<Archive>>,
    /// Paths of the shared libraries among the files.
    pub(super) libraries: Vec<String>,
    /// The symbols that an executable among the files exports.
    pub(super) exports: Exports,
    /// True if an executable is among the files.
    pub(super) executable: bool,
    /// Warnings of the compilers about sources.
    warnings: String,
    /// Settings of the engine.
    pub(super) settings: &'static Settings,
}

impl Module {
    /// Reads one module from memory. `name` is used in messages.
    ///
    /// # Errors
    /// Returns [`Error::Input`] if the bytes are not valid bitcode or textual IR for this machine, and
    /// [`Error::Host`] if they should be read in a process of its own and there is none
    /// ([`Engine::contain_reading`]).
    pub fn from_bytes(engine: &Engine, name: &str, bytes: &[u8]) -> Result<Module, Error> {
        let input = Input {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
        };
        Module::new(engine, vec![input], Vec::new())
    }

    /// Compiles a source with clang or flang, as `ompvm cc` and `ompvm fc` find them, and reads the
    /// result.
    ///
    /// # Errors
    /// Returns [`Error::Input`] with the messages of the compiler, or if it cannot be started.
    pub fn from_source(engine: &Engine, source: &Source) -> Result<Module, Error> {
        let compiled = source.compile(engine.settings, None)?;
        let input = Input {
            name: source.name(),
            bytes: compiled.bitcode,
        };
        let mut module = Module::new(engine, vec![input], Vec::new())?;
        module.warnings = compiled.warnings;
        Ok(module)
    }

    /// Returns the warnings of the compilers about the sources of the module, or an empty string.
    pub fn warnings(&self) -> &str {
        &self.warnings
    }

    /// Reads files and links them into one module.
    ///
    /// A file with the ending of a source in C, C++ or Fortran is compiled, see
    /// [`Engine::compiler_flags`]. The first file is compiled last, so that a Fortran program finds
    /// the modules of the others. Another file holds bitcode or textual IR, also compressed by gzip, or is a native file with bitcode
    /// in it: an object, or an executable. An executable brings its native members and the
    /// libraries that it was linked with along. Of a static archive the members that are needed are
    /// taken: bitcode becomes part of the module, and native objects, like native objects named
    /// themselves, are linked when the program starts. If all files are archives, the member that
    /// defines `main` is the first. A shared library is opened before those of
    /// [`super::Config::library`].
    ///
    /// # Errors
    /// Returns [`Error::Input`] naming the file and the cause.
    pub fn from_files(engine: &Engine, files: &[PathBuf]) -> Result<Module, Error> {
        let found = inputs::sort(files, engine, LibraryUse::Bitcode)?;
        if !found.has_library_bitcode {
            return Module::from_program(engine, files, found);
        }
        // A program and its libraries may define the same symbol, one module may not.
        let names = found.inputs.iter().map(|i| &i.bytes[..]);
        let key = names.chain([APART.as_bytes()]);
        let apart = engine.cache.as_ref().and_then(|c| c.entry(key));
        if apart.as_ref().is_none_or(|a| a.bytes(APART).is_none()) {
            match Module::from_program(engine, files, found) {
                Err(Error::Input { .. }) => {}
                read => return read,
            }
            if let Some(apart) = apart {
                apart.put_bytes(APART, b"");
            }
        }
        let found = inputs::sort(files, engine, LibraryUse::Native)?;
        Module::from_program(engine, files, found)
    }

    /// Adds the members of archives that a program needs, and reads it.
    fn from_program(
        engine: &Engine,
        files: &[PathBuf],
        mut found: ProgramFiles,
    ) -> Result<Module, Error> {
        if archive::any_bitcode(&found.archives) {
            let members = bitcode_members(engine, &found.inputs, &found.archives)?;
            found.inputs.extend(members);
        }
        if found.inputs.is_empty() {
            return Err(inputs::without_bitcode(files));
        }
        let mut module = Module::new(engine, found.inputs, found.archives)?;
        module.libraries = found.libraries;
        module.exports = found.exports;
        module.executable = found.has_executable;
        module.warnings = found.warnings;
        Ok(module)
    }

    /// Loads a module from the engine's cache, or else reads its inputs.
    fn new(
        engine: &Engine,
        inputs: Vec<Input>,
        archives: Vec<Arc<Archive>>,
    ) -> Result<Module, Error> {
        // Contraction changes the module and its code, so it is part of the cache's key.
        let mode = engine.contract.then_some(&b"contract"[..]);
        let files = inputs.iter().map(|i| &i.bytes[..]).chain(mode);
        let cache_entry = engine.cache.as_ref().and_then(|c| c.entry(files));
        let kept = cache_entry.as_ref().and_then(CacheEntry::module);
        let ir = match kept {
            Some(mut module) => {
                module.name = inputs.first().map_or("", |i| &i.name).to_owned();
                module.files = inputs.into_iter().map(|i| (i.name, i.bytes)).collect();
                module.contracted = engine.contract;
                module
            }
            None => ompvm_llvm::read_program(
                &inputs,
                ReadOptions {
                    contract: engine.contract,
                    parallel: engine.settings.chaos.is_some(),
                    reader: engine.reader().as_deref(),
                },
            )?,
        };
        Ok(Module {
            ir: Arc::new(ir),
            cache_entry: cache_entry.map(Arc::new),
            cache: engine.cache.clone(),
            archives,
            libraries: Vec::new(),
            exports: Exports::Nothing,
            executable: false,
            warnings: String::new(),
            settings: engine.settings,
        })
    }

    /// Returns the bitcode and textual IR files of the module, linked into one bitcode file.
    ///
    /// # Errors
    /// Returns [`Error::Input`] if LLVM cannot link them again.
    pub fn bitcode(&self) -> Result<Vec<u8>, Error> {
        let fail = |cause: String| Error::Input {
            file: self.ir.name.clone(),
            cause,
        };
        let bitcode = Bitcode::of(&self.ir);
        Ok(bitcode.bytes().map_err(fail)?.to_vec())
    }

    /// Lists the module's functions, parallel regions and runtime entries.
    pub fn inspect(&self) -> Inspection {
        Inspection::of_module(&self.ir)
    }

    /// Returns everything in the module that this version does not support, each with its place. If
    /// the list is empty, nothing unsupported prevents linking.
    pub fn check(&self) -> Vec<Unsupported> {
        link::unsupported(&self.ir, runtime::lookup)
    }

    /// Returns the module in ompvm's own IR.
    pub fn ir(&self) -> &ir::Module {
        &self.ir
    }
}

/// Name of the cache entry for programs whose libraries cannot be linked with them.
const APART: &str = "apart";

/// Name of the cache entry with the choice of archive members.
const MEMBERS: &str = "members";

/// Returns the bitcode members that a program needs. Finding them needs LLVM, so the choice is
/// cached under the contents of all files that it depends on.
fn bitcode_members(
    engine: &Engine,
    inputs: &[Input],
    archives: &[Arc<Archive>],
) -> Result<Vec<Input>, Error> {
    let files = inputs.iter().map(|i| &i.bytes[..]);
    let archived = archives.iter().map(|a| a.contents());
    // A program that consists of archives begins where a linker begins.
    let roots = if inputs.is_empty() {
        &["main"][..]
    } else {
        &[]
    };
    let key = files.chain([MEMBERS.as_bytes()]).chain(archived);
    let cache_entry = engine.cache.as_ref().and_then(|c| c.entry(key));
    let kept = cache_entry.as_ref().and_then(|s| s.bytes(MEMBERS));
    let kept = kept.and_then(|bytes| postcard::from_bytes::<Vec<MemberId>>(&bytes).ok());
    if let Some(members) = kept.and_then(|k| archive::member_inputs(archives, &k)) {
        return Ok(members);
    }
    let chosen = archive::choose_bitcode(inputs, archives, roots, engine.reader().as_deref())?;
    if let (Some(cache_entry), Ok(bytes)) = (&cache_entry, postcard::to_allocvec(&chosen)) {
        cache_entry.put_bytes(MEMBERS, &bytes);
    }
    let members = archive::member_inputs(archives, &chosen);
    Ok(members.unwrap_or_else(|| ompvm_support::bug!("a member was chosen that is not bitcode")))
}
