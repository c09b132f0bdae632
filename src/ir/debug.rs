//! Source locations: the subset of debug metadata that names file, line, function and inline chain.
//!
//! Messages name locations and nothing else, so variables and types are left out.

use cranelift_entity::{PrimaryMap, entity_impl};
use serde::{Deserialize, Serialize};

/// Reference to a source file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileId(u32);
entity_impl!(FileId, "file");

/// Reference to a scope (a subprogram; lexical blocks are folded into theirs).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ScopeId(u32);
entity_impl!(ScopeId, "scope");

/// Reference to a location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LocId(u32);
entity_impl!(LocId, "loc");

/// A source file as the compiler recorded it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct File {
    /// The directory of compilation.
    pub directory: Box<str>,
    /// The name, absolute or relative to the directory.
    pub name: Box<str>,
}

/// A subprogram.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Scope {
    /// The function's name in the source.
    pub name: Box<str>,
    /// The function's file.
    pub file: FileId,
    /// The line of the function's head.
    pub line: u32,
}

/// A location in the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Loc {
    /// The file of the innermost scope.
    pub file: FileId,
    /// Line, from 1; 0 for code without a line.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// The innermost subprogram.
    pub scope: ScopeId,
    /// The call site, if inlined.
    pub inlined_at: Option<LocId>,
}

/// All of a module's locations.
#[derive(Default, Debug)]
pub struct DebugInfo {
    /// The files.
    pub files: PrimaryMap<FileId, File>,
    /// The subprograms.
    pub scopes: PrimaryMap<ScopeId, Scope>,
    /// The distinct locations.
    pub locs: PrimaryMap<LocId, Loc>,
}

impl DebugInfo {
    /// Formats a location as `file.c:12` or `file.c:12:3`.
    pub fn describe(&self, loc: LocId) -> String {
        let l = &self.locs[loc];
        let name = &self.files[l.file].name;
        if l.column > 0 {
            format!("{name}:{}:{}", l.line, l.column)
        } else {
            format!("{name}:{}", l.line)
        }
    }
}
