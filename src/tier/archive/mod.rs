//! Static archives: adds the members that define what a program needs to it.
//!
//! [`Archive`] reads an archive and its index. Bitcode members are linked into the module when the
//! program is read ([`choose_bitcode`]). Native objects are linked into the process when it starts:
//! [`objects`] chooses and merges them, [`shared`] creates a shared object of them, which the
//! system's loader loads, and [`bind`] binds the references that lead out of it. [`cached`] caches
//! the object, so that a later run reads no archive.
//!
//! The system's loader is used because it gives every thread its copy of thread-local variables in
//! each of the four TLS models, and because unwinders find the tables by themselves; LLVM's linker
//! needs a runtime of its own for both. Our own linker runs before it because no compiler or linker
//! is needed where programs run, and because symbols come from the guest and from our runtime,
//! which the loader does not know.
//!
//! Code that is not position-independent (`-fno-pie`), thin archives, and members for other
//! processors are not supported.

mod bind;
mod cached;
mod objects;
mod shared;
mod table;

pub use bind::{LoadedMembers, Resolve};
pub use objects::NativeMembers;

use crate::fat::{self, ElfKind};
use hashbrown::HashMap;
use object::read::archive::ArchiveFile;
use ompvm_cache::CacheEntry;
use ompvm_ir::visit::Uses;
use ompvm_ir::{GlobalRef, Linkage, Module};
use ompvm_llvm::{Input, reader_process};
use ompvm_support::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Contents of a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberKind {
    /// An ELF object for x86-64.
    Native,
    /// LLVM bitcode, alone or in a fat object.
    Bitcode,
    /// Anything else; never chosen.
    Other,
}

/// A member of an archive.
#[derive(Debug)]
pub struct Member {
    /// Name in the archive.
    pub name: String,
    /// Contents.
    pub kind: MemberKind,
    start: usize,
    len: usize,
    /// Places of its bitcode in the archive. A fat object that a linker merged has several.
    bitcode: Vec<Range<usize>>,
}

impl Member {
    /// Describes the member at a place of an archive.
    fn new(name: String, data: &[u8], start: usize, len: usize) -> Result<Member, String> {
        let bytes = &data[start..start + len];
        let (kind, bitcode) = match fat::read(bytes)? {
            Some(file) if !file.bitcode.is_empty() => {
                let at = |r: &Range<usize>| start + r.start..start + r.end;
                let places = file.bitcode.iter().map(|part| at(&part.range));
                (MemberKind::Bitcode, places.collect())
            }
            Some(file) if file.kind != ElfKind::Other => (MemberKind::Native, Vec::new()),
            None if fat::is_bitcode(bytes) => (
                MemberKind::Bitcode,
                std::iter::once(start..start + len).collect(),
            ),
            _ => (MemberKind::Other, Vec::new()),
        };
        Ok(Member {
            name,
            kind,
            start,
            len,
            bitcode,
        })
    }
}

/// An archive with its index.
#[derive(Debug)]
pub struct Archive {
    /// Path of the file.
    pub path: PathBuf,
    /// The whole file. It is read and not mapped: to touch a mapping of a file that another process
    /// truncates ends the program by SIGBUS.
    data: Box<[u8]>,
    /// Members, in file order.
    pub members: Vec<Member>,
    /// True for a single object file, which becomes part of the program in any case.
    pub whole: bool,
    /// Member that defines each symbol, from the archive's index.
    index: HashMap<Box<[u8]>, u32>,
}

/// Returns true if bytes begin like an archive.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n")
}

impl Archive {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Input`] naming the file and why it cannot be used.
    pub fn open(path: &Path) -> Result<Arc<Archive>, Error> {
        let fail = |cause: String| Error::Input {
            file: path.display().to_string(),
            cause,
        };
        let data = std::fs::read(path).map_err(|e| fail(e.to_string()))?;
        Self::of_bytes(path, data)
    }

    /// Reads an archive that is in memory. `path` is used in messages.
    ///
    /// # Errors
    /// [`Error::Input`] naming the file and why it cannot be used.
    pub fn of_bytes(path: &Path, data: Vec<u8>) -> Result<Arc<Archive>, Error> {
        Self::parse(path, data.into()).map_err(|cause| Error::Input {
            file: path.display().to_string(),
            cause,
        })
    }

    /// Wraps a native object file in an archive of one member that is needed in any case.
    ///
    /// # Errors
    /// [`Error::Input`] naming the file and why it cannot be used.
    pub fn of_object(path: &Path, data: Vec<u8>) -> Result<Arc<Archive>, Error> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Self::of_member(path, name.into(), data)
    }

    /// Wraps a native object that is part of the file `path` like [`Archive::of_object`]; `name` is
    /// the object's name.
    ///
    /// # Errors
    /// [`Error::Input`] naming the object and why it cannot be used.
    pub fn of_member(path: &Path, name: String, data: Vec<u8>) -> Result<Arc<Archive>, Error> {
        let member = Member {
            name: name.clone(),
            kind: MemberKind::Native,
            start: 0,
            len: data.len(),
            bitcode: Vec::new(),
        };
        let mut archive = Archive {
            path: path.to_owned(),
            data: data.into(),
            members: vec![member],
            whole: true,
            index: HashMap::new(),
        };
        archive.make_index().map_err(|cause| Error::Input {
            file: name,
            cause: format!("damaged object: {cause}"),
        })?;
        Ok(Arc::new(archive))
    }

    fn parse(path: &Path, data: Box<[u8]>) -> Result<Arc<Archive>, String> {
        let damaged = |e: object::read::Error| format!("damaged archive: {e}");
        let mut members = Vec::new();
        let mut starts = HashMap::new();
        let mut index = HashMap::new();
        let mut indexed = false;
        {
            let file = ArchiveFile::parse(&*data).map_err(damaged)?;
            if file.is_thin() {
                return Err(
                    "a thin archive does not contain its members; create it with `ar rc`".into(),
                );
            }
            for member in file.members() {
                let member = member.map_err(damaged)?;
                let (start, len) = member.file_range();
                member.data(&*data).map_err(damaged)?;
                starts.insert(start, members.len() as u32);
                let name = String::from_utf8_lossy(member.name()).into_owned();
                let member = Member::new(name.clone(), &data, start as usize, len as usize);
                members.push(member.map_err(|cause| format!("{name}: {cause}"))?);
            }
            for symbol in file.symbols().map_err(damaged)?.into_iter().flatten() {
                let symbol = symbol.map_err(damaged)?;
                let member = file.member(symbol.offset()).map_err(damaged)?;
                if let Some(&n) = starts.get(&member.file_range().0) {
                    indexed = true;
                    index.entry(symbol.name().into()).or_insert(n);
                }
            }
        }
        let mut archive = Archive {
            path: path.to_owned(),
            data,
            members,
            whole: false,
            index,
        };
        if !indexed {
            archive.make_index()?;
        }
        Ok(Arc::new(archive))
    }

    /// Returns the symbols of the bitcode members that the archive's index lacks, because the tool
    /// that wrote it did not know bitcode, with the member that defines each.
    fn unindexed(&self, reader: Option<&Path>) -> Result<HashMap<Box<[u8]>, u32>, Error> {
        let indexed: hashbrown::HashSet<u32> = self.index.values().copied().collect();
        let mut found = HashMap::new();
        for (n, member) in (0u32..).zip(&self.members) {
            if member.kind != MemberKind::Bitcode || indexed.contains(&n) {
                continue;
            }
            let (defined, _) = self.symbols(n, reader).map_err(|cause| Error::Input {
                file: self.describe(n),
                cause,
            })?;
            for name in defined {
                found.entry(name.into_bytes().into()).or_insert(n);
            }
        }
        Ok(found)
    }

    /// Returns the whole file.
    pub fn contents(&self) -> &[u8] {
        &self.data
    }

    fn make_index(&mut self) -> Result<(), String> {
        for n in 0..self.members.len() as u32 {
            if self.members[n as usize].kind == MemberKind::Native {
                for name in self.symbols(n, None)?.0 {
                    self.index.entry(name.into_bytes().into()).or_insert(n);
                }
            }
        }
        Ok(())
    }

    /// Returns the bytes of a member.
    pub fn bytes(&self, member: u32) -> &[u8] {
        let m = &self.members[member as usize];
        &self.data[m.start..m.start + m.len]
    }

    /// Returns the member that defines a symbol.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.index.get(name.as_bytes()).copied()
    }

    /// Returns the bitcode of a member as inputs.
    fn bitcode_inputs(&self, member: u32) -> Vec<Input> {
        let places = &self.members[member as usize].bitcode;
        let input = |place: &Range<usize>| Input {
            name: self.describe(member),
            bytes: self.data[place.clone()].to_vec(),
        };
        places.iter().map(input).collect()
    }

    /// Returns the name of a member with that of its archive, for messages.
    pub fn describe(&self, member: u32) -> String {
        if self.whole {
            return self.members[member as usize].name.clone();
        }
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{file}({})", self.members[member as usize].name)
    }

    /// Returns the names that a member defines and those that it needs.
    fn symbols(
        &self,
        member: u32,
        reader: Option<&Path>,
    ) -> Result<(Vec<String>, Vec<String>), String> {
        let bytes = self.bytes(member);
        match self.members[member as usize].kind {
            MemberKind::Native => objects::names(bytes),
            MemberKind::Bitcode => {
                ir_symbols(&self.bitcode_inputs(member), reader).map_err(|e| e.to_string())
            }
            MemberKind::Other => Ok((Vec::new(), Vec::new())),
        }
    }
}

/// Returns the names that bitcode files export together and those that they need.
fn ir_symbols(
    inputs: &[Input],
    reader: Option<&Path>,
) -> Result<(Vec<String>, Vec<String>), Error> {
    let module = match reader {
        Some(program) => reader_process::read(program, inputs, false)?,
        None => ompvm_llvm::read(inputs)?,
    };
    let uses = Uses::of(&module);
    let symbols: Vec<GlobalRef> = uses.symbols.keys().copied().collect();
    Ok((defined(&module), needed(&module, &symbols)))
}

/// Returns true if other files may use a symbol of this linkage.
pub fn is_shared(linkage: Linkage) -> bool {
    !matches!(
        linkage,
        Linkage::Internal | Linkage::Private | Linkage::AvailableExternally
    )
}

fn defined(module: &Module) -> Vec<String> {
    let functions = module.functions.values();
    let functions = functions
        .filter(|f| f.body.is_some() && is_shared(f.linkage))
        .map(|f| f.name.to_string());
    let globals = module.globals.values();
    let globals = globals
        .filter(|g| g.init.is_some() && is_shared(g.linkage))
        .map(|g| g.name.to_string());
    let aliases = module.aliases.values().map(|a| a.name.to_string());
    functions.chain(globals).chain(aliases).collect()
}

/// Returns the names of the `symbols` that the module does not define, without weak references.
pub fn needed(module: &Module, symbols: &[GlobalRef]) -> Vec<String> {
    let mut names: Vec<String> = symbols
        .iter()
        .filter_map(|&symbol| match symbol {
            GlobalRef::Func(f) => {
                let f = &module.functions[f];
                let here = f.body.is_some() && f.linkage != Linkage::AvailableExternally;
                (!here && f.linkage != Linkage::ExternWeak).then(|| f.name.to_string())
            }
            GlobalRef::Var(g) => {
                let g = &module.globals[g];
                let here = g.init.is_some() && g.linkage != Linkage::AvailableExternally;
                (!here && g.linkage != Linkage::ExternWeak).then(|| g.name.to_string())
            }
            GlobalRef::Alias(_) | GlobalRef::IFunc(_) => None,
        })
        .filter(|n| !n.starts_with("llvm."))
        .collect();
    // The order decides which member comes first, so it must not depend on a hash.
    names.sort();
    names
}

/// Returns true if an archive has a member that is bitcode.
pub fn any_bitcode(archives: &[Arc<Archive>]) -> bool {
    let mut members = archives.iter().flat_map(|a| &a.members);
    members.any(|m| m.kind == MemberKind::Bitcode)
}

/// A member of one of several archives: index of the archive and of the member.
pub type MemberId = (u32, u32);

/// Returns the bitcode members of `archives` that `inputs` and the symbols `roots` need, directly or
/// through other members, in link order.
///
/// `reader` is the executable that reads them in a process of its own, if any.
///
/// # Errors
/// Returns [`Error::Input`] if a file or member cannot be read.
pub fn choose_bitcode(
    inputs: &[Input],
    archives: &[Arc<Archive>],
    roots: &[&str],
    reader: Option<&Path>,
) -> Result<Vec<MemberId>, Error> {
    let mut chosen = Vec::new();
    let mut defined = hashbrown::HashSet::new();
    let mut wanted: Vec<String> = roots.iter().map(|&root| root.to_owned()).collect();
    for input in inputs {
        let (d, w) = ir_symbols(std::slice::from_ref(input), reader)?;
        defined.extend(d);
        wanted.extend(w);
    }
    let whole = archives.iter().filter(|a| a.whole);
    for archive in whole {
        let (d, w) = archive.symbols(0, reader).map_err(|cause| Error::Input {
            file: archive.describe(0),
            cause,
        })?;
        defined.extend(d);
        wanted.extend(w);
    }
    let unindexed = archives.iter().map(|a| a.unindexed(reader));
    let unindexed: Vec<_> = unindexed.collect::<Result<_, _>>()?;
    let mut taken = hashbrown::HashSet::new();
    while let Some(name) = wanted.pop() {
        if defined.contains(&name) {
            continue;
        }
        let find = |(archive, more): (&Arc<Archive>, &HashMap<Box<[u8]>, u32>)| {
            archive
                .find(&name)
                .or_else(|| more.get(name.as_bytes()).copied())
        };
        let found = (0u32..)
            .zip(archives.iter().zip(&unindexed))
            .find_map(|(i, pair)| Some((i, find(pair)?)));
        let Some((i, member)) = found else { continue };
        if !taken.insert((i, member)) {
            continue;
        }
        let archive = &archives[i as usize];
        let (d, w) = archive
            .symbols(member, reader)
            .map_err(|cause| Error::Input {
                file: archive.describe(member),
                cause,
            })?;
        defined.extend(d);
        wanted.extend(w);
        if archive.members[member as usize].kind == MemberKind::Bitcode {
            chosen.push((i, member));
        }
    }
    Ok(chosen)
}

/// Returns the chosen members as inputs; `None` if one of them is not bitcode.
pub fn member_inputs(archives: &[Arc<Archive>], chosen: &[MemberId]) -> Option<Vec<Input>> {
    let mut inputs = Vec::new();
    for &(i, member) in chosen {
        let archive = archives.get(i as usize)?;
        let kind = archive.members.get(member as usize)?.kind;
        if kind != MemberKind::Bitcode {
            return None;
        }
        inputs.extend(archive.bitcode_inputs(member));
    }
    Some(inputs)
}

/// Loads the chosen native members. `replaced` returns true if the guest has a definition of its
/// own in place of a weak one; its second argument is true for a variable. `place` is the cache
/// entry for the result and the key for everything that it depends on beside the program and the
/// archives.
///
/// # Errors
/// Fails if a member has an unsupported construct, or if the loader refuses the object.
pub fn load(
    natives: NativeMembers,
    archives: &[Arc<Archive>],
    replaced: &dyn Fn(&str, bool) -> bool,
    place: Option<(&CacheEntry, &[u8; 32])>,
) -> Result<LoadedMembers, Error> {
    let mut object = shared::make(natives, replaced)?;
    if let Some((cache_entry, key)) = place {
        cached::put(cache_entry, key, archives, &mut object);
    }
    LoadedMembers::load(object)
}

/// Loads the object that [`load`] cached in an earlier run, if it is still current.
pub fn load_cached(cache_entry: &CacheEntry, key: &[u8; 32]) -> Option<LoadedMembers> {
    LoadedMembers::load_cached(cached::find(cache_entry, key)?)
}

/// Returns the path of flang's runtime, if installed: that of the newest compiler not newer than
/// our LLVM, else the newest.
pub fn fortran_runtime() -> Option<PathBuf> {
    let ours = ompvm_llvm::version().0;
    let mut found: Vec<(bool, u32, PathBuf)> = Vec::new();
    let list = |dir: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        entries.map(|e| e.path()).collect()
    };
    let prefixes = ["/usr/lib", "/usr/local/lib", "/opt"]
        .iter()
        .flat_map(|d| list(Path::new(d)))
        .filter(|p| {
            p.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("llvm"))
        })
        .chain(["/usr".into(), "/usr/local".into()]);
    for prefix in prefixes {
        for version in list(&prefix.join("lib/clang")) {
            let number = version
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let Some(major) = number.split('.').next().and_then(|n| n.parse().ok()) else {
                continue;
            };
            for target in list(&version.join("lib")) {
                let file = target.join("libflang_rt.runtime.a");
                let x86 = target
                    .file_name()
                    .is_some_and(|n| n.to_string_lossy().starts_with("x86_64"));
                if x86 && file.exists() {
                    found.push((major <= ours, major, file));
                }
            }
        }
    }
    found.sort();
    found.pop().map(|(.., file)| file)
}

/// Returns the path of the compiler's archive of helper functions, which a native link always has.
pub fn compiler_helpers() -> Option<PathBuf> {
    compiler_folder().map(|folder| folder.join("libgcc.a"))
}

/// Returns the folder of the newest compiler's libraries, which a native link searches, too.
pub fn compiler_folder() -> Option<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for dir in [
        "/usr/lib/gcc/x86_64-linux-gnu",
        "/usr/lib/gcc/x86_64-redhat-linux",
        "/usr/lib/gcc/x86_64-pc-linux-gnu",
    ] {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let folder = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            let major = name
                .split('.')
                .next()
                .and_then(|n| n.parse().ok())
                .unwrap_or(0);
            if folder.join("libgcc.a").exists() {
                found.push((major, folder));
            }
        }
    }
    found.sort();
    found.pop().map(|(_, folder)| folder)
}

/// Returns names and contents of the members of an archive; none if it is damaged.
pub fn members<'a>(archive: &'a [u8]) -> Vec<(String, &'a [u8])> {
    let Ok(file) = ArchiveFile::parse(archive) else {
        return Vec::new();
    };
    let member = |member: object::read::archive::ArchiveMember<'a>| {
        let name = String::from_utf8_lossy(member.name()).into_owned();
        Some((name, member.data(archive).ok()?))
    };
    file.members().flatten().filter_map(member).collect()
}
