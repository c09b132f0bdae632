//! The compiled tier: functions of a placed module as machine code.
//!
//! What: a [`Program`] asks LLVM for units of its module, or takes what an earlier run kept, bound
//! to the image's data and stubs, and names the function of a native position for messages. What
//! not: when to compile, what is a unit and who switches over is decided in `tier`; the
//! interpreter is not known here.

mod labels;
mod lines;
mod map;
pub mod tools;

use crate::ir::{FuncId, GlobalId, GlobalRef, IFuncId, Module};
use crate::llvm::cache::{self, Shelf};
use crate::llvm::native::symbol::Symbol;
use crate::llvm::native::{Bitcode, Function, Object, Request, Session, Variable};
pub use crate::llvm::native::{CANNOT, Level, LoopEntry, Place, PlaceKind, Unit};
use crate::memory::heap;
use crate::memory::image::Image;
use crate::memory::link::{Code, NEAR};
use crate::memory::thread;
use crate::memory::trampoline;
use crate::support::builtins;
use crate::support::seen::Listed;
use cranelift_entity::EntityRef;
use hashbrown::{HashMap, HashSet};
use lines::Lines;
pub use map::{function_at, is_compiled};
use parking_lot::RwLock;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The cache's entry for a program with line tables only.
const LINE_TABLES: &str = "line-tables";

/// A compiled unit.
#[derive(Debug)]
pub struct Compiled {
    /// Each compiled function and its address.
    pub functions: Vec<(FuncId, usize)>,
    /// Each loop entry, by its index in the unit, and its address.
    pub entries: Vec<(usize, usize)>,
    /// Functions left to the tier below, and why.
    pub skipped: Vec<(FuncId, String)>,
    /// Functions that have less effort in their code than the level says, and why.
    pub plain: Vec<(FuncId, String)>,
    /// Time for parsing, rewiring, code generation and linking.
    pub times: [Duration; 4],
    /// How much effort went into it.
    pub level: Level,
    /// Bytes of the object file.
    pub object_bytes: usize,
    /// The cache's entry for it, if this run made one.
    stored: Option<String>,
    _listed: Option<Listed<map::Code>>,
    _announced: tools::Announced,
    _code: Option<Code>,
}

/// An image that units are compiled of, or whose code is taken from a cache.
#[derive(Debug)]
pub struct Program {
    request: Request,
    bitcode: Bitcode,
    /// Set once the program's line tables were looked for in the cache.
    looked: AtomicBool,
    /// Set once the cache has them.
    stored: AtomicBool,
    instead: HashMap<&'static str, usize>,
    cell: Option<isize>,
    shelf: Option<Arc<Shelf>>,
    left_out: HashMap<FuncId, &'static str>,
    /// Functions that turned out to be impossible to compile.
    refused: RwLock<HashSet<FuncId>>,
}

impl Program {
    /// The program of an image.
    ///
    /// `instead` gives other addresses for functions of the C library that must know the
    /// interpreter; `shelf` is the program's place in a cache; `whole` says that everything is compiled
    /// before it runs.
    pub fn new(
        image: &Image,
        instead: HashMap<&'static str, usize>,
        shelf: Option<Arc<Shelf>>,
        whole: bool,
    ) -> Program {
        let cell = image.fast_tls().and_then(thread::fast_cell_offset);
        let outside = Outside {
            image,
            instead: &instead,
        };
        let left_out = kept(image, whole);
        Program {
            request: request(&outside, cell.is_some(), &left_out),
            bitcode: Bitcode::new(image.module.files.clone(), image.module.line_tables.clone()),
            looked: AtomicBool::new(false),
            stored: AtomicBool::new(false),
            instead,
            cell,
            shelf,
            left_out,
            refused: RwLock::default(),
        }
    }

    /// Whether units may hold a function: it is the guest's, and does not stay interpreted for the
    /// addresses of its labels.
    pub fn can_compile(&self, id: FuncId) -> bool {
        self.request.functions[id.index()] == Function::Compiled
            && !self.refused.read().contains(&id)
    }

    /// The guest's functions that no unit may hold, as far as is known.
    pub fn refused(&self) -> Vec<FuncId> {
        let refused = self.refused.read();
        refused
            .iter()
            .chain(self.left_out.keys())
            .copied()
            .collect()
    }

    /// No unit may hold these functions from now on.
    pub fn refuse(&self, functions: impl IntoIterator<Item = FuncId>) {
        self.refused.write().extend(functions);
    }

    /// Functions that no unit may hold though they are the guest's, and why.
    pub fn left_out(&self) -> &HashMap<FuncId, &'static str> {
        &self.left_out
    }

    /// Where what is compiled is kept for later runs.
    pub fn shelf(&self) -> Option<&Arc<Shelf>> {
        self.shelf.as_ref()
    }

    /// What earlier runs compiled, linked: the code with most effort last, and what took less only
    /// if asked for and where there is nothing better.
    pub fn kept(&self, image: &Image, early: bool) -> Vec<Compiled> {
        let objects = self.shelf.as_ref().map(|s| s.objects(&self.request, early));
        let objects = objects.unwrap_or_default();
        let full = objects.iter().filter(|(o, _)| o.level == Level::Full);
        let best: HashSet<usize> = full.flat_map(|(o, _)| &o.functions).map(|f| f.0).collect();
        objects
            .into_iter()
            .filter(|(o, _)| {
                o.level == Level::Full
                    || o.functions.is_empty()
                    || !o.functions.iter().all(|(f, _)| best.contains(f))
            })
            // One that cannot be linked here is compiled again.
            .filter_map(|(object, lines)| {
                let lines = Lines::from_bytes(lines);
                self.link(image, &[], object, lines).ok()
            })
            .collect()
    }

    /// Compiles a unit, links it, and keeps it for later runs unless it has loop entries, which
    /// depend on the interpreter's frames. It comes in several pieces where LLVM gave up on some of its
    /// functions.
    ///
    /// # Errors
    /// Why nothing can be compiled.
    pub fn compile(&self, image: &Image, unit: &Unit) -> Result<Vec<Compiled>, String> {
        self.find_line_tables();
        let objects = Session::open(&self.request, &self.bitcode).compile(unit)?;
        self.store_line_tables();
        cache::compiled();
        let linked = objects.into_iter().map(|object| {
            // Without them messages name the function alone.
            let lines = Lines::read(&object.bytes).unwrap_or_default();
            let shelf = self.shelf.as_ref().filter(|_| unit.entries.is_empty());
            let stored = shelf.and_then(|s| s.put_object(&self.request, &object, lines.as_bytes()));
            let linked = self.link(image, &unit.entries, object, lines)?;
            Ok(Compiled { stored, ..linked })
        });
        linked.collect()
    }

    fn find_line_tables(&self) {
        if self.looked.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some(bytes) = self.shelf.as_ref().and_then(|s| s.bytes(LINE_TABLES)) {
            self.bitcode.take_line_tables(bytes);
            self.stored.store(true, Ordering::Relaxed);
        }
    }

    fn store_line_tables(&self) {
        if let (Some(shelf), Some(bytes)) = (&self.shelf, self.bitcode.line_tables())
            && !self.stored.swap(true, Ordering::Relaxed)
        {
            shelf.put_bytes(LINE_TABLES, bytes);
        }
    }

    /// Removes from the cache code that calls a function of the tier below and cannot do so. Where that is for good, the
    /// cache knows it; where memory was short, a later run would take the caller and not know.
    pub fn forget(&self, compiled: &Compiled) {
        if let (Some(shelf), Some(name)) = (&self.shelf, &compiled.stored) {
            shelf.forget(name);
        }
    }

    fn link(
        &self,
        image: &Image,
        loops: &[LoopEntry],
        object: Object,
        lines: Lines,
    ) -> Result<Compiled, String> {
        let linking = Instant::now();
        let named = |list: Vec<(usize, String)>| -> Vec<(FuncId, String)> {
            let each = list.into_iter();
            each.map(|(n, why)| (FuncId::new(n), why)).collect()
        };
        let (skipped, plain) = (named(object.skipped), named(object.plain));
        if object.bytes.is_empty() {
            return Ok(Compiled {
                functions: Vec::new(),
                entries: Vec::new(),
                skipped,
                plain,
                times: [Duration::ZERO; 4],
                level: object.level,
                object_bytes: 0,
                stored: None,
                _listed: None,
                _announced: tools::Announced::default(),
                _code: None,
            });
        }
        let outside = Outside {
            image,
            instead: &self.instead,
        };
        let code = Code::new(&object.bytes, &|name| outside.resolve(name, self.cell))?;
        let mut functions = Vec::with_capacity(object.functions.len());
        for (number, name) in &object.functions {
            functions.push((FuncId::new(*number), code.lookup(name)?));
        }
        let announced = announce(&image.module, &object.bytes, &code, &lines);
        let mut starts: Vec<(usize, FuncId)> = functions.iter().map(|&(f, a)| (a, f)).collect();
        let mut entries = Vec::with_capacity(object.entries.len());
        for (index, name) in &object.entries {
            let address = code.lookup(name)?;
            entries.push((*index, address));
            starts.push((address, FuncId::new(loops[*index].function)));
        }
        starts.sort_unstable();
        let [parse, prepare, generate] = object.times;
        Ok(Compiled {
            functions,
            entries,
            skipped,
            plain,
            times: [parse, prepare, generate, linking.elapsed()],
            level: object.level,
            object_bytes: object.bytes.len(),
            stored: None,
            _listed: Some(map::list(map::Code {
                image,
                ranges: code.ranges(),
                functions: starts,
                lines,
            })),
            _announced: announced,
            _code: Some(code),
        })
    }
}

/// What is asked of LLVM for an image.
fn request(
    outside: &Outside<'_>,
    thread_cell: bool,
    kept: &HashMap<FuncId, &'static str>,
) -> Request {
    let image = outside.image;
    let module = &image.module;
    let functions = module
        .functions
        .iter()
        .map(|(id, f)| {
            if f.name.starts_with("llvm.") {
                return Function::Intrinsic;
            }
            match image.func_ref(id) {
                Some(_) if !kept.contains_key(&id) => Function::Compiled,
                _ if outside.function(id) == 0 => Function::Null,
                _ => Function::External,
            }
        })
        .collect();
    let variables = module
        .globals
        .iter()
        .map(|(id, g)| match image.tls_offset(id) {
            Some(offset) => Variable::ThreadLocal(offset),
            None if g.thread_local => Variable::Foreign,
            None => {
                let start = image.global_address(id);
                let end = start.saturating_add(module.layout(g.ty).size as usize);
                match start {
                    0 => Variable::Null,
                    _ if end < NEAR => Variable::Near,
                    _ => Variable::Far,
                }
            }
        })
        .collect();
    Request {
        names: module.functions.values().map(|f| f.name.clone()).collect(),
        functions,
        variables,
        thread_cell,
        debug: tools::debug(),
        contracted: module.contracted,
    }
}

/// Tells profilers and debuggers of an object, when there are any.
fn announce(module: &Module, object: &[u8], code: &Code, lines: &Lines) -> tools::Announced {
    if !tools::listening() {
        return tools::Announced::default();
    }
    let named = |(symbol, address, size): (&str, usize, usize)| {
        let Symbol::Function(number) = Symbol::parse(symbol)? else {
            return None;
        };
        Some(tools::Named {
            name: &module.functions.get(FuncId::new(number))?.name,
            number: number as u32,
            address,
            size,
        })
    };
    let mut functions: Vec<tools::Named<'_>> = code.functions().filter_map(named).collect();
    functions.sort_unstable_by_key(|f| f.address);
    tools::announce(&tools::Loaded {
        object,
        code,
        functions: &functions,
        lines,
    })
}

/// Functions that stay interpreted before LLVM is asked, and why.
///
/// `OMPVM_INTERPRET`, a list of names with commas between, keeps functions whose names contain one
/// of them interpreted: for tests that mix the tiers on purpose.
fn kept(image: &Image, whole: bool) -> HashMap<FuncId, &'static str> {
    let module = &image.module;
    let labels = labels::kept(module, whole).into_iter();
    let mut kept: HashMap<FuncId, &'static str> = labels
        .map(|f| (f, "addresses of its labels are taken"))
        .collect();
    let names = std::env::var("OMPVM_INTERPRET").unwrap_or_default();
    for (id, f) in &module.functions {
        let mut words = names.split(',').filter(|w| !w.is_empty());
        if image.func_ref(id).is_some() && words.any(|w| f.name.contains(w)) {
            kept.insert(id, "OMPVM_INTERPRET names it");
        }
    }
    kept
}

/// Where this process has what an object leaves open.
struct Outside<'a> {
    image: &'a Image,
    instead: &'a HashMap<&'static str, usize>,
}

impl Outside<'_> {
    /// The value of a name in an object; `None` for what is not the module's.
    fn resolve(&self, name: &str, cell: Option<isize>) -> Option<usize> {
        let Some(symbol) = Symbol::parse(name) else {
            return self.declared(name).or_else(|| builtins::address(name));
        };
        let module = &self.image.module;
        let function = |n| (n < module.functions.len()).then(|| FuncId::new(n));
        Some(match symbol {
            Symbol::Variable(n) if n < module.globals.len() => {
                self.image.global_address(GlobalId::new(n))
            }
            Symbol::IFunc(n) if n < module.ifuncs.len() => {
                self.image.ifunc_address(IFuncId::new(n))
            }
            Symbol::Stub(n) | Symbol::Function(n) | Symbol::External(n) | Symbol::Operand(n) => {
                self.function(function(n)?)
            }
            Symbol::ThreadCell => cell? as usize,
            Symbol::MakeBlock => thread::fast_block as *const () as usize,
            Symbol::Threads => crate::kmpc::thread::table_address(),
            Symbol::Image => ptr::from_ref(self.image) as usize,
            Symbol::Distinct => heap::distinct as *const () as usize,
            Symbol::InitTrampoline => trampoline::init as *const () as usize,
            Symbol::AdjustTrampoline => trampoline::adjust as *const () as usize,
            Symbol::SetJump => *self.instead.get("setjmp")?,
            Symbol::LongJump => *self.instead.get("longjmp")?,
            _ => return None,
        })
    }

    /// A symbol of the module under its own name.
    fn declared(&self, name: &str) -> Option<usize> {
        let module = &self.image.module;
        let symbol = module.symbol(name);
        let symbol = symbol.or_else(|| module.symbol(&format!("\u{1}{name}")))?;
        match symbol {
            GlobalRef::Func(id) => Some(self.function(id)),
            // Assembly names it.
            other => Some(self.image.symbol_address(other)),
        }
    }

    /// The address that calls and pointers use; 0 for an undefined weak function.
    fn function(&self, id: FuncId) -> usize {
        let function = &self.image.module.functions[id];
        match self.image.func_ref(id) {
            Some(func) => func.stub,
            None => match self.instead.get(&*function.name) {
                Some(&address) => address,
                None => self.image.func_address(id),
            },
        }
    }
}
