//! A program that stays open between units.
//!
//! Opening a program of thousands of functions takes longer than compiling most units: LLVM reads
//! all its declarations, and frees them at the end. A [`Source`] is opened once. Each unit is a
//! module of its own in the source's context (`extract.cpp`), so that the work for it depends on
//! what it uses, not on the program.
//!
//! Constants and locations stay in a context until its end, so that a source serves for [`UNITS`].
//! A context belongs to one thread at a time; [`super::Bitcode`] keeps the sources that no thread
//! uses.
//!
//! Programs that a unit must read as a whole are left to [`super::Session`].

use super::rewire::Symbols;
use super::{CompileRequest, FunctionBinding};
use crate::handles::{Function, Module, OwnedModule, Variable};
use crate::parse::{self, Parsed};
use crate::reader::is_bookkeeping;
use crate::shim;
use hashbrown::HashMap;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use std::sync::Arc;

/// Number of units that a source serves.
const UNITS: u32 = 64;

/// A program that its reader has opened, from the bytes of the first file.
pub(crate) struct OpenedProgram {
    parsed: Parsed,
    /// Freed after the module, which refers to the bytes.
    files: Arc<[(String, Vec<u8>)]>,
}

// SAFETY: its owner alone uses the context and the module, on one thread at a time.
unsafe impl Send for OpenedProgram {}

impl OpenedProgram {
    /// Wraps a program that was opened lazily, without types, from the bytes of the first file.
    pub(crate) fn new(parsed: Parsed, files: Arc<[(String, Vec<u8>)]>) -> OpenedProgram {
        OpenedProgram { parsed, files }
    }
}

/// A symbol of the program with its number.
#[derive(Clone, Copy)]
enum Numbered {
    Function(usize),
    Variable(usize),
    IFunc(usize),
}

/// An opened program of which units take functions.
pub(super) struct Source {
    parsed: Parsed,
    /// Address of the bitcode.
    bytes: usize,
    /// The functions, in order.
    functions: Vec<LLVMValueRef>,
    numbers: HashMap<LLVMValueRef, Numbered>,
    /// True if the program has more debug information than line tables.
    typed: bool,
    units: u32,
}

// SAFETY: one thread at a time uses a source, whose context and module nothing else refers to.
unsafe impl Send for Source {}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Source of {} functions", self.functions.len())
    }
}

impl Source {
    /// Opens a program, whose bytes outlive the source. Returns `None` for a program of another
    /// version of LLVM, whose symbols change while it is read.
    ///
    /// # Errors
    /// Returns LLVM's message.
    pub(super) fn open(bytes: &[u8], request: &CompileRequest) -> Result<Option<Source>, String> {
        if !shim::is_current(bytes) {
            return Ok(None);
        }
        let parsed = parse::open(bytes, false)?;
        shim::read_metadata(parsed.module())?;
        Ok(Source::of(parsed, bytes, request))
    }

    /// Takes over a program that its reader has opened from `files`; `None` if it is not usable.
    /// The functions that the reader has read need not be read again.
    pub(super) fn take_over(
        opened: OpenedProgram,
        files: &Arc<[(String, Vec<u8>)]>,
        request: &CompileRequest,
    ) -> Option<Source> {
        let [(_, bytes)] = &files[..] else {
            return None;
        };
        let same = Arc::ptr_eq(&opened.files, files);
        same.then(|| Source::of(opened.parsed, bytes, request))?
    }

    fn of(parsed: Parsed, bytes: &[u8], request: &CompileRequest) -> Option<Source> {
        let mut source = Source {
            parsed,
            bytes: bytes.as_ptr() as usize,
            functions: Vec::new(),
            numbers: HashMap::new(),
            typed: false,
            units: 0,
        };
        source.number(request).then_some(source)
    }

    /// Numbers the symbols. Returns false if they are not those of the request.
    fn number(&mut self, request: &CompileRequest) -> bool {
        let module = self.parsed.module();
        self.typed = shim::has_types(module);
        for (n, function) in module.functions().enumerate() {
            if request.names.get(n) != Some(&function.name()) {
                return false;
            }
            self.functions.push(function.raw());
            self.numbers.insert(function.raw(), Numbered::Function(n));
        }
        // Reading the program may have declared more intrinsics.
        let mut rest = request.functions[self.functions.len()..].iter();
        if !rest.all(|&f| f == FunctionBinding::Intrinsic) {
            return false;
        }
        let known = |v: &Variable| !is_bookkeeping(&v.name(), v.section().as_deref());
        let mut variables = 0;
        for variable in module.variables().filter(known) {
            let numbered = Numbered::Variable(variables);
            self.numbers.insert(variable.raw(), numbered);
            variables += 1;
        }
        for (n, ifunc) in module.ifuncs().enumerate() {
            self.numbers.insert(ifunc.raw(), Numbered::IFunc(n));
        }
        variables == request.variables.len()
    }

    /// Returns true if the source is one of this bitcode and serves for another unit.
    pub(super) fn serves(&self, bytes: &[u8]) -> bool {
        self.bytes == bytes.as_ptr() as usize && self.units < UNITS
    }

    /// Returns what owns the context.
    pub(super) fn parsed(&self) -> &Parsed {
        &self.parsed
    }

    /// Returns true if the program has more debug information than line tables.
    pub(super) fn is_typed(&self) -> bool {
        self.typed
    }

    /// Counts a unit.
    pub(super) fn served(&mut self) {
        self.units += 1;
    }

    /// Makes a module of functions, given by their numbers, and of all that they use.
    ///
    /// # Errors
    /// Returns LLVM's message. The source must not be used again.
    pub(super) fn part(&self, functions: &[usize]) -> Result<Part<'_>, String> {
        let wanted: Option<Vec<Function>> = functions
            .iter()
            .map(|&n| {
                let &function = self.functions.get(n)?;
                // SAFETY: the function lives as long as the module, which is the source's.
                Some(unsafe { Function::from_raw(function) })
            })
            .collect();
        let wanted = wanted.ok_or("the files changed since they were read")?;
        let (module, copies) = shim::extract(self.parsed.module(), &wanted)?;
        let numbered = |&(from, copy): &(LLVMValueRef, _)| Some((*self.numbers.get(&from)?, copy));
        let symbols = copies.iter().filter_map(numbered).collect();
        Ok(Part { module, symbols })
    }
}

/// A module with some of a program's functions.
pub(super) struct Part<'s> {
    module: OwnedModule<'s>,
    /// The module's symbols that the program has.
    symbols: Vec<(Numbered, LLVMValueRef)>,
}

impl Part<'_> {
    /// Returns a handle of the module.
    pub(super) fn module(&self) -> Module<'_> {
        self.module.module()
    }

    /// Returns the symbols of the module.
    pub(super) fn symbols(&self) -> Symbols<'_> {
        let mut symbols = Symbols::default();
        for &(numbered, copy) in &self.symbols {
            // SAFETY: the copy is of the kind that the number says, and lives as long as the
            // module.
            unsafe {
                match numbered {
                    Numbered::Function(n) => symbols.functions.push((n, Function::from_raw(copy))),
                    Numbered::IFunc(n) => symbols.ifuncs.push((n, Function::from_raw(copy))),
                    Numbered::Variable(n) => symbols.variables.push((n, Variable::from_raw(copy))),
                }
            }
        }
        symbols
    }
}
