//! The tables of one program's types, constants and places, which several readers fill at once.
//!
//! Why shared: a function that one reader copies refers to types and places by the same numbers as
//! another's. What is found by address is each reader's own; what is equal gets one number here,
//! but for constants, of which every reader has its own copies. The numbers depend on who comes
//! first, so nothing that is kept may be found by them.

use crate::ir::debug::{DebugInfo, File, FileId, Loc, LocId, Scope, ScopeId};
use crate::ir::{Const, ConstId, Module, TypeId, TypeTable};
use cranelift_entity::{PrimaryMap, SecondaryMap};
use hashbrown::HashMap;

/// The tables, as a [`Module`] has them.
#[derive(Default)]
pub(super) struct Tables {
    pub types: TypeTable,
    pub consts: PrimaryMap<ConstId, Const>,
    pub const_types: SecondaryMap<ConstId, Option<TypeId>>,
    debug: DebugInfo,
    locs: HashMap<Loc, LocId>,
    /// Under the name in the debug information, which may be none.
    scopes: HashMap<Scope, ScopeId>,
    files: HashMap<File, FileId>,
}

impl Tables {
    /// The number of a place.
    pub(super) fn loc(&mut self, loc: Loc) -> LocId {
        let debug = &mut self.debug;
        *self.locs.entry(loc).or_insert_with(|| debug.locs.push(loc))
    }

    /// The number of a scope.
    pub(super) fn scope(&mut self, scope: Scope) -> ScopeId {
        let debug = &mut self.debug;
        let new = |scope: &Scope| debug.scopes.push(scope.clone());
        *self.scopes.entry(scope).or_insert_with_key(new)
    }

    /// Names a scope that has no name after its function.
    pub(super) fn name(&mut self, scope: ScopeId, function: &str) {
        let scope = &mut self.debug.scopes[scope];
        if scope.name.is_empty() {
            scope.name = function.into();
        }
    }

    /// The number of a file.
    pub(super) fn file(&mut self, file: File) -> FileId {
        let debug = &mut self.debug;
        let new = |file: &File| debug.files.push(file.clone());
        *self.files.entry(file).or_insert_with_key(new)
    }

    /// Hands the tables over to the module.
    pub(super) fn put(self, module: &mut Module) {
        module.types = self.types;
        module.consts = self.consts;
        module.const_types = self.const_types;
        module.debug = self.debug.into();
    }
}
