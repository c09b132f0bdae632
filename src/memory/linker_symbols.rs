//! The symbols that a linker defines for a program: the start and end of its code, its data and its
//! constructor arrays (`etext`, `edata`, `end`, `__executable_start`, `__init_array_start`; GNU
//! ld's default script).
//!
//! If a program names one of them, its constants and its data lie in one mapping behind an ELF
//! header, in the order of an executable: header, arrays, constants, initialized data,
//! zero-initialized data. So all of its variables are between `__executable_start` and `end`, and
//! the writable ones between `__data_start` and `end`.
//!
//! Functions do not lie between `__executable_start` and `etext`, since their code is made while
//! the program runs. Programs that name none of these symbols keep the layout of [`super::image`].

use ompvm_ir::{GlobalRef, Module};
use std::ptr;

const PAGE: usize = 4096;
/// Bytes of an ELF header, and of a program header (System V ABI, "Object Files").
const HEADER: usize = 64;
const SEGMENT: usize = 56;

/// The meaning of a linker-defined symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LinkerSymbol {
    Start,
    TextEnd,
    Data,
    /// The end of initialized data and start of zero-initialized data.
    DataEnd,
    End,
    /// The bounds of the arrays of constructors and destructors.
    Constructors,
    ConstructorsEnd,
    Destructors,
    DestructorsEnd,
    /// Either bound of an array that is always empty.
    Empty,
}

const NAMES: [(&str, LinkerSymbol); 24] = [
    ("__executable_start", LinkerSymbol::Start),
    ("__ehdr_start", LinkerSymbol::Start),
    ("etext", LinkerSymbol::TextEnd),
    ("_etext", LinkerSymbol::TextEnd),
    ("__etext", LinkerSymbol::TextEnd),
    ("__data_start", LinkerSymbol::Data),
    ("data_start", LinkerSymbol::Data),
    ("edata", LinkerSymbol::DataEnd),
    ("_edata", LinkerSymbol::DataEnd),
    ("__bss_start", LinkerSymbol::DataEnd),
    ("__TMC_END__", LinkerSymbol::DataEnd),
    ("end", LinkerSymbol::End),
    ("_end", LinkerSymbol::End),
    ("__bss_end__", LinkerSymbol::End),
    ("__end__", LinkerSymbol::End),
    ("__init_array_start", LinkerSymbol::Constructors),
    ("__init_array_end", LinkerSymbol::ConstructorsEnd),
    ("__fini_array_start", LinkerSymbol::Destructors),
    ("__fini_array_end", LinkerSymbol::DestructorsEnd),
    ("__preinit_array_start", LinkerSymbol::Empty),
    ("__preinit_array_end", LinkerSymbol::Empty),
    ("__rela_iplt_start", LinkerSymbol::Empty),
    ("__rela_iplt_end", LinkerSymbol::Empty),
    ("_DYNAMIC", LinkerSymbol::Empty),
];

fn linker_symbol(name: &str) -> Option<LinkerSymbol> {
    NAMES.iter().find(|n| n.0 == name).map(|n| n.1)
}

/// Returns true if a linker defines the symbol for a module that does not define it itself.
pub fn is_linker_defined(name: &str) -> bool {
    linker_symbol(name).is_some()
}

/// Returns true if a module leaves such a symbol to the linker.
pub(super) fn needed_by(module: &Module) -> bool {
    NAMES.iter().any(|(name, _)| match module.symbol(name) {
        Some(GlobalRef::Func(f)) => module.functions[f].body.is_none(),
        Some(GlobalRef::Var(g)) => module.globals[g].init.is_none(),
        _ => false,
    })
}

/// The layout of the mapping of a program that names linker-defined symbols.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramLayout {
    pub base: usize,
    /// Bytes of the header with its arrays, in whole pages.
    pub head: usize,
    /// Bytes of the constants behind the header, in whole pages.
    pub constants: usize,
    /// Bytes of initialized data, and of all data.
    pub initialized: usize,
    pub data: usize,
    /// The numbers of constructors and destructors.
    pub arrays: [usize; 2],
}

const ARRAYS: usize = HEADER + 2 * SEGMENT;

impl ProgramLayout {
    /// Returns the bytes of a module's header, in whole pages.
    pub fn head(module: &Module) -> usize {
        // A zero entry follows the arrays; `_DYNAMIC` refers to it.
        (ARRAYS + 8 * (module.ctors.len() + module.dtors.len()) + 16).next_multiple_of(PAGE)
    }

    /// Returns the address of a symbol, or `None` if it is no linker-defined one.
    pub fn address(&self, name: &str) -> Option<usize> {
        let text_end = self.base + self.head;
        let data = text_end + self.constants;
        let arrays = self.base + ARRAYS;
        let [constructors, destructors] = self.arrays.map(|n| n * 8);
        Some(match linker_symbol(name)? {
            LinkerSymbol::Start => self.base,
            LinkerSymbol::TextEnd => text_end,
            LinkerSymbol::Data => data,
            LinkerSymbol::DataEnd => data + self.initialized,
            LinkerSymbol::End => data + self.data,
            LinkerSymbol::Constructors => arrays,
            LinkerSymbol::ConstructorsEnd | LinkerSymbol::Destructors => arrays + constructors,
            LinkerSymbol::DestructorsEnd | LinkerSymbol::Empty => {
                arrays + constructors + destructors
            }
        })
    }

    /// Writes the header and the arrays of functions.
    ///
    /// # Safety
    /// The mapping has this layout, is writable, and is not shared yet.
    pub unsafe fn write(&self, constructors: &[usize], destructors: &[usize]) {
        // SAFETY: the mapping is writable and unshared by contract; header, segments and arrays fit
        // `head`.
        unsafe {
            let at = self.base as *mut u8;
            let header = header(self.base);
            ptr::copy_nonoverlapping(header.as_ptr(), at, header.len());
            let data = self.base + self.head + self.constants;
            let read_only = segment(4, self.base, self.head + self.constants);
            let writable = segment(6, data, self.data);
            let segments = at.add(HEADER);
            ptr::copy_nonoverlapping(read_only.as_ptr(), segments, read_only.len());
            let second = segments.add(read_only.len());
            ptr::copy_nonoverlapping(writable.as_ptr(), second, writable.len());
            let mut array = at.add(ARRAYS).cast::<usize>();
            for &function in constructors.iter().chain(destructors) {
                array.write(function);
                array = array.add(1);
            }
        }
    }
}

/// Returns the header of an executable for x86-64 with two segments.
fn header(base: usize) -> [u8; HEADER] {
    let mut out = [0; HEADER];
    let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
    // The magic number, 64 bits, little-endian, version 1.
    put(0, b"\x7fELF\x02\x01\x01");
    let executable = 2u16;
    let x86_64 = 62u16;
    put(16, &executable.to_le_bytes());
    put(18, &x86_64.to_le_bytes());
    put(20, &1u32.to_le_bytes());
    put(24, &(base as u64).to_le_bytes());
    put(32, &(HEADER as u64).to_le_bytes());
    for (at, number) in [(52, HEADER as u16), (54, SEGMENT as u16), (56, 2), (58, 64)] {
        put(at, &number.to_le_bytes());
    }
    out
}

/// Returns the program header of a loaded segment with its access rights (4: read, 2: write).
fn segment(rights: u32, start: usize, len: usize) -> [u8; SEGMENT] {
    let mut out = [0; SEGMENT];
    let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &1u32.to_le_bytes());
    put(4, &rights.to_le_bytes());
    for at in [16, 24] {
        put(at, &(start as u64).to_le_bytes());
    }
    for at in [32, 40] {
        put(at, &(len as u64).to_le_bytes());
    }
    put(48, &(PAGE as u64).to_le_bytes());
    out
}
