//! Work left for when a shared object of archive members is loaded: the references that the
//! system's loader cannot bind, since they lead to the guest and to the OpenMP runtime.
//!
//! A table is made together with the object ([`super::shared`]) and may be kept with it
//! ([`super::kept`]), so it holds offsets from the object's start and no address.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The object's table.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Table {
    /// The archive of the first member, for messages.
    pub file: String,
    /// Ranges that become executable, and only readable, once everything is filled in.
    pub code: Range<usize>,
    pub constants: Range<usize>,
    /// The initial bytes of a thread's block.
    pub template: Range<usize>,
    /// Holds the block's offset from the thread pointer, where the code needs one.
    pub thread: Option<usize>,
    /// The start of the table of cells.
    pub cells: usize,
    /// The names of global symbols, in order, each behind the one before it.
    pub names: String,
    pub globals: Vec<Global>,
    /// Symbols that no member defines.
    pub outside: Vec<Outside>,
    pub gaps: Vec<Gap>,
    pub choices: Vec<Choice>,
    pub arrays: Vec<Array>,
}

/// A global symbol that a member defines.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Global {
    /// Its name, within [`Table::names`].
    pub name: Range<u32>,
    pub place: Place,
}

/// The place that a global symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Place {
    /// The offset of a function, a variable, or the jump to a function that is chosen.
    At(usize),
    /// A thread-local variable, which the loader knows by name.
    ThreadLocal,
    /// A number.
    Absolute(usize),
}

/// A symbol that no member defines.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Outside {
    pub name: String,
    pub weak: bool,
    /// The member that uses it, for messages.
    pub user: String,
}

/// A place that is filled in when the object is loaded.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Gap {
    pub at: usize,
    pub value: Value,
    pub addend: i64,
}

/// The value of a gap, before the addend; symbols are numbers in [`Table::outside`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Value {
    /// The symbol's address, in 8 bytes.
    Address(u32),
    /// The distance to the symbol, in 8 bytes.
    Distance(u32),
    /// The distance to the symbol, in 4 bytes; to this jump if that is a function out of reach.
    Near(u32, Option<usize>),
    /// The distance from the cells to the symbol, in 8 bytes.
    FromCells(u32),
    /// An offset from the thread pointer, in 4 or 8 bytes.
    Thread { wide: bool },
}

/// A function that is chosen when the program starts (`ifunc`).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Choice {
    /// The cell for its address.
    pub cell: usize,
    pub resolver: usize,
}

/// An array of functions that run at the start or at the end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Array {
    pub when: When,
    pub at: usize,
    pub count: usize,
}

/// When the functions of an array run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum When {
    /// Before the guest's constructors, by this number.
    First(u32),
    /// After the guest's constructors, whose files come first in a link.
    Start,
    End,
}

impl Table {
    /// Finds the place that a global symbol stands for.
    pub fn place(&self, name: &str) -> Option<Place> {
        let name_of = |g: &Global| &self.names[g.name.start as usize..g.name.end as usize];
        let found = self.globals.binary_search_by(|g| name_of(g).cmp(name));
        found.ok().map(|i| self.globals[i].place)
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
                place: Place::At(at),
            });
        }
        assert_eq!(table.place("ab"), Some(Place::At(2)));
        assert_eq!(table.place("b"), Some(Place::At(3)));
        for name in ["", "aa", "abc", "c"] {
            assert_eq!(table.place(name), None, "{name}");
        }
    }
}
