//! Exports: the program's functions and variables that native libraries may refer to.
//!
//! Natively a library that the program opens finds the symbols that the executable exports: those in
//! its dynamic symbol table, all with `-rdynamic`. Here the guest is not the process's executable. So
//! before the guest opens its first library, the loader gets an object with these symbols
//! ([`super::loader::define`]). Most programs open none.
//!
//! Two differences remain. A symbol that a library of the program defines, too, is found there. A
//! `thread_local` variable is not found.

use super::dlfcn;
use super::loader::{self, Definition};
use hashbrown::HashSet;
use ompvm_ir::GlobalRef;
use ompvm_memory::image::Image;
use ompvm_support::log;
use std::ffi::CString;
use std::sync::Arc;

/// Symbols of a program that native libraries may refer to.
#[derive(Clone, Debug, Default)]
pub enum Exports {
    /// None.
    #[default]
    Nothing,
    /// All that other files may see.
    Everything,
    /// Those with these names.
    Names(Arc<HashSet<Box<str>>>),
}

impl Exports {
    pub(super) fn contain(&self, name: &str) -> bool {
        match self {
            Exports::Nothing => false,
            Exports::Everything => true,
            Exports::Names(names) => names.contains(name),
        }
    }

    /// Returns true if a query of the running program finds a symbol that other files may see. The
    /// dynamic symbol table of an executable says so; bitcode has none, and all are found.
    pub(super) fn are_queried(&self, name: &str) -> bool {
        match self {
            Exports::Nothing | Exports::Everything => true,
            Exports::Names(names) => names.contains(name),
        }
    }

    /// Adds those of a library that becomes one module with the program.
    pub fn add(&mut self, library: Exports) {
        match (self, library) {
            (Exports::Names(own), Exports::Names(others)) => {
                Arc::make_mut(own).extend(others.iter().cloned());
            }
            (own @ Exports::Nothing, others) => *own = others,
            (Exports::Everything | Exports::Names(_), _) => {}
        }
    }

    /// Returns the definitions of a program that libraries may refer to.
    pub(super) fn definitions(&self, image: &Image) -> Vec<Definition> {
        let module = &image.module;
        let functions = module
            .functions
            .iter()
            .map(|(id, f)| (&f.name, GlobalRef::Func(id)));
        let variables = module.globals.iter();
        let variables = variables.filter(|(_, g)| !g.thread_local);
        let variables = variables.map(|(id, g)| (&g.name, GlobalRef::Var(id)));
        let aliases = module
            .aliases
            .iter()
            .map(|(id, a)| (&a.name, GlobalRef::Alias(id)));
        let all = functions.chain(variables).chain(aliases);
        let exported = all.filter(|(name, symbol)| {
            self.contain(name) && dlfcn::visible(module, name) == Some(*symbol)
        });
        let definitions = exported.filter_map(|(name, symbol)| {
            let function = !matches!(image.resolve_alias(symbol), GlobalRef::Var(_));
            let size = match image.resolve_alias(symbol) {
                GlobalRef::Var(g) => module.layout(module.globals[g].ty).size as usize,
                _ => 0,
            };
            Some(Definition {
                name: CString::new(&**name).ok()?,
                address: image.symbol_address(symbol),
                size,
                function,
            })
        });
        definitions.collect()
    }
}

/// Makes symbols known to the loader. A failure is reported by the library that misses them.
pub(super) fn publish(symbols: &[Definition]) {
    if symbols.is_empty() {
        return;
    }
    if let Err(why) = loader::define(symbols) {
        tracing::debug!(target: log::TIER, why, "hides the program's symbols from libraries");
    }
}
