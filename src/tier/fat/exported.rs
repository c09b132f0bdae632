//! Finds the symbols that an executable exports: the definitions of its dynamic symbol table.

use crate::exports::Exports;
use object::{Object, ObjectSymbol};
use std::sync::Arc;

/// Returns the symbols that the executable with these bytes exports.
pub fn names(bytes: &[u8]) -> Exports {
    let Ok(file) = object::File::parse(bytes) else {
        return Exports::Nothing;
    };
    let symbols = file.dynamic_symbols();
    let defined = symbols.filter(|s| s.is_definition() && s.is_global());
    let names = defined.filter_map(|s| Some(s.name().ok()?.into()));
    Exports::Names(Arc::new(names.collect()))
}
