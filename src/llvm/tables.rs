//! Tables of one program's types, constants and locations, which several readers fill concurrently.
//!
//! The tables are shared so that functions copied by different readers refer to types and locations
//! by the same numbers. Lookups by address are each reader's own; equal entries get one number
//! here, except constants, of which every reader has its own copies. The numbers depend on the
//! order of arrival, so persistent data must not refer to them.

use cranelift_entity::{PrimaryMap, SecondaryMap};
use hashbrown::HashMap;
use ompvm_ir::debug::{DebugInfo, File, FileId, Loc, LocId, Scope, ScopeId};
use ompvm_ir::{Const, ConstId, Module, TypeId, TypeTable};

/// The tables, in the form of a [`Module`].
#[derive(Default)]
pub(super) struct Tables {
    pub types: TypeTable,
    pub consts: PrimaryMap<ConstId, Const>,
    pub const_types: SecondaryMap<ConstId, Option<TypeId>>,
    debug: DebugInfo,
    locs: HashMap<Loc, LocId>,
    /// By the name in the debug information, which may be empty.
    scopes: HashMap<Scope, ScopeId>,
    files: HashMap<File, FileId>,
}

impl Tables {
    /// Returns the number of a location.
    pub(super) fn loc(&mut self, loc: Loc) -> LocId {
        let debug = &mut self.debug;
        *self.locs.entry(loc).or_insert_with(|| debug.locs.push(loc))
    }

    /// Returns the number of a scope.
    pub(super) fn scope(&mut self, scope: Scope) -> ScopeId {
        let debug = &mut self.debug;
        let new = |scope: &Scope| debug.scopes.push(scope.clone());
        *self.scopes.entry(scope).or_insert_with_key(new)
    }

    /// Names a scope without a name after its function.
    pub(super) fn name(&mut self, scope: ScopeId, function: &str) {
        let scope = &mut self.debug.scopes[scope];
        if scope.name.is_empty() {
            scope.name = function.into();
        }
    }

    /// Returns the number of a file.
    pub(super) fn file(&mut self, file: File) -> FileId {
        let debug = &mut self.debug;
        let new = |file: &File| debug.files.push(file.clone());
        *self.files.entry(file).or_insert_with_key(new)
    }

    /// Moves the tables into the module.
    pub(super) fn put(self, module: &mut Module) {
        module.types = self.types;
        module.consts = self.consts;
        module.const_types = self.const_types;
        module.debug = self.debug.into();
    }
}
