//! The load-time table of a shared object of archive members: the references that the system's
//! loader cannot bind, because they lead to the guest or to the OpenMP runtime.
//!
//! A table is created with the object ([`super::shared`]) and may be cached with it
//! ([`super::cached`]), so it holds offsets from the object's start and no addresses.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Load-time table of an object.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Table {
    /// Path of the first member's archive, for messages.
    pub file: String,
    /// Range that becomes executable once all gaps are filled.
    pub code: Range<usize>,
    /// Range that becomes read-only once all gaps are filled.
    pub constants: Range<usize>,
    /// Initial bytes of a thread's TLS block.
    pub template: Range<usize>,
    /// Cell with the TLS block's offset from the thread pointer, if the code needs one.
    pub thread: Option<usize>,
    /// Start of the cells.
    pub cells: usize,
    /// Names of the global symbols, sorted and concatenated.
    pub names: String,
    pub globals: Vec<Global>,
    /// Symbols that no member defines.
    pub undefined: Vec<UndefinedSymbol>,
    pub fixups: Vec<Fixup>,
    pub ifunc_choices: Vec<IFuncChoice>,
    pub arrays: Vec<FunctionArray>,
}

/// A global symbol that a member defines.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Global {
    /// Range of the name within [`Table::names`].
    pub name: Range<u32>,
    pub location: SymbolLocation,
}

/// Location of a global symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SymbolLocation {
    /// Offset of a function, of a variable, or of the jump to an ifunc's choice.
    At(usize),
    /// A thread-local variable, which the loader finds by name.
    ThreadLocal,
    /// An absolute value.
    Absolute(usize),
}

/// A symbol that no member defines.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct UndefinedSymbol {
    pub name: String,
    pub weak: bool,
    /// The member that uses it, for messages.
    pub user: String,
}

/// A reference that is filled in when the object is loaded.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Fixup {
    pub at: usize,
    pub value: FixupValue,
    pub addend: i64,
}

/// Value of a fixup before its addend. Symbols are indices into [`Table::undefined`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum FixupValue {
    /// Address of the symbol, in 8 bytes.
    Address(u32),
    /// Distance to the symbol, in 8 bytes.
    Distance(u32),
    /// Distance to the symbol, in 4 bytes; to this jump if the symbol is a function out of reach.
    Near(u32, Option<usize>),
    /// Distance from the cells to the symbol, in 8 bytes.
    FromCells(u32),
    /// Offset from the thread pointer, in 4 or 8 bytes.
    Thread { wide: bool },
}

/// A function that its resolver chooses when the program starts (`ifunc`).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct IFuncChoice {
    /// Cell for the chosen address.
    pub cell: usize,
    pub resolver: usize,
}

/// An array of constructors or destructors.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct FunctionArray {
    pub when: ArrayPhase,
    pub at: usize,
    pub count: usize,
}

/// Time at which the functions of an array run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ArrayPhase {
    /// Before the guest's constructors, ordered by this number.
    First(u32),
    /// After the guest's constructors, whose files come first in a link.
    Start,
    End,
}

impl Table {
    /// Finds the location of a global symbol.
    pub fn location(&self, name: &str) -> Option<SymbolLocation> {
        let name_of = |g: &Global| &self.names[g.name.start as usize..g.name.end as usize];
        let found = self.globals.binary_search_by(|g| name_of(g).cmp(name));
        found.ok().map(|i| self.globals[i].location)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_found_by_its_whole_name() {
        let mut table = Table::default();
        for (name, at) in [("a", 1), ("ab", 2), ("b", 3)] {
            let start = table.names.len() as u32;
            table.names.push_str(name);
            table.globals.push(Global {
                name: start..table.names.len() as u32,
                location: SymbolLocation::At(at),
            });
        }
        assert_eq!(table.location("ab"), Some(SymbolLocation::At(2)));
        assert_eq!(table.location("b"), Some(SymbolLocation::At(3)));
        for name in ["", "aa", "abc", "c"] {
            assert_eq!(table.location(name), None, "{name}");
        }
    }
}
