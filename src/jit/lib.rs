//! The optimizing tier: functions of a placed module as machine code.
//!
//! A [`Program`] compiles units of its module with LLVM, or loads cached code of earlier runs, and
//! links it to the image's data and stubs. It also maps native positions to functions, for
//! messages. `tier` decides when to compile, what forms a unit, and which callers switch to its
//! code. This module does not know the interpreter.

mod labels;
mod lines;
mod map;
mod process;
pub mod tools;

use cranelift_entity::EntityRef;
use hashbrown::{HashMap, HashSet};
use lines::LineTable;
pub use map::{function_at, is_compiled};
use ompvm_cache::{self as cache, CacheEntry};
use ompvm_ir::{FuncId, GlobalId, GlobalRef, IFuncId, Module};
use ompvm_llvm::native::symbol::Symbol;
use ompvm_llvm::native::{
    Bitcode, CompileRequest, FunctionBinding, Object, Session, VariableBinding,
};
pub use ompvm_llvm::native::{CANNOT_COMPILE, Level, LocationKind, OsrEntry, Unit, ValueLocation};
use ompvm_memory::heap;
use ompvm_memory::image::{Image, library_variable};
use ompvm_memory::link::{LinkedCode, NEAR};
use ompvm_memory::thread;
use ompvm_memory::trampoline;
use ompvm_support::builtins;
use ompvm_support::log;
use ompvm_support::registry::Registration;
use ompvm_support::settings::Settings;
use parking_lot::{Mutex, RwLock};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Name in the cache of the program's bitcode with line tables only.
const LINE_TABLES: &str = "line-tables";
/// Longest wait for a thread that looks up the line tables: reading a hundred megabytes takes less.
const LONGEST_LOOKUP: Duration = Duration::from_secs(1);

/// A compiled unit.
#[derive(Debug)]
pub struct Compiled {
    /// Each compiled function with its address.
    pub functions: Vec<(FuncId, usize)>,
    /// Each loop entry, by its index in the unit, with its address.
    pub entries: Vec<(usize, usize)>,
    /// Functions left to the tier below, with the reason.
    pub skipped: Vec<(FuncId, String)>,
    /// Functions compiled at a lower level than `level`, with the reason.
    pub degraded: Vec<(FuncId, String)>,
    /// Time for parsing, rewiring, code generation and linking.
    pub times: [Duration; 4],
    /// Level of the code.
    pub level: Level,
    /// Size of the object file in bytes.
    pub object_bytes: usize,
    /// Name of its cache entry, if this run stored one.
    stored: Option<String>,
    _registration: Option<Registration<map::LinkedCode>>,
    _announced: tools::Announced,
    _code: Option<LinkedCode>,
}

/// A program whose units are compiled, or loaded from a cache.
#[derive(Debug)]
pub struct Program {
    request: CompileRequest,
    bitcode: Bitcode,
    /// True once the program's line tables were looked up in the cache. Other threads wait for that,
    /// since linking the files again takes far longer.
    looked: Mutex<bool>,
    /// Set once the cache has the line tables.
    stored: AtomicBool,
    instead: HashMap<&'static str, usize>,
    cell: Option<isize>,
    cache_entry: Option<Arc<CacheEntry>>,
    excluded: HashMap<FuncId, &'static str>,
    /// Functions that turned out to be impossible to compile.
    refused: RwLock<HashSet<FuncId>>,
}

impl Program {
    /// Creates the program of an image.
    ///
    /// `instead` maps functions of the C library that must know the interpreter, or are replaced for
    /// the program, to their replacements. `cache_entry` is the program's cache entry. `whole` is
    /// true if everything is compiled before the program runs. `settings` name functions that stay interpreted, and
    /// failures to inject.
    pub fn new(
        image: &Image,
        instead: HashMap<&'static str, usize>,
        cache_entry: Option<Arc<CacheEntry>>,
        whole: bool,
        settings: &Settings,
    ) -> Program {
        let cell = image.fast_tls().and_then(thread::fast_cell_offset);
        let resolver = SymbolResolver {
            image,
            instead: &instead,
        };
        let excluded = excluded(image, whole, &settings.interpret);
        Program {
            request: request(&resolver, cell.is_some(), &excluded, settings),
            bitcode: Bitcode::of(&image.module),
            looked: Mutex::default(),
            stored: AtomicBool::new(false),
            instead,
            cell,
            cache_entry,
            excluded,
            refused: RwLock::default(),
        }
    }

    /// Returns the symbol of a function.
    pub fn name(&self, id: FuncId) -> &str {
        &self.request.names[id.index()]
    }

    /// Returns true if units may contain a function: it is the guest's, and is not excluded.
    pub fn can_compile(&self, id: FuncId) -> bool {
        self.request.functions[id.index()] == FunctionBinding::Compiled
            && !self.refused.read().contains(&id)
    }

    /// Returns the guest's functions that no unit may contain, as far as is known.
    pub fn refused(&self) -> Vec<FuncId> {
        let refused = self.refused.read();
        refused
            .iter()
            .chain(self.excluded.keys())
            .copied()
            .collect()
    }

    /// Excludes functions from all later units.
    pub fn refuse(&self, functions: impl IntoIterator<Item = FuncId>) {
        self.refused.write().extend(functions);
    }

    /// Returns the guest's functions that were excluded before any compilation, with the reason.
    pub fn excluded(&self) -> &HashMap<FuncId, &'static str> {
        &self.excluded
    }

    /// Returns the cache entry in which compiled code is stored.
    pub fn cache_entry(&self) -> Option<&Arc<CacheEntry>> {
        self.cache_entry.as_ref()
    }

    /// Links the cached code of earlier runs. Code of the full level comes last. Code of the quick
    /// level is included only if `early` is true, for functions without better code.
    pub fn cached(&self, image: &Image, early: bool) -> Vec<Compiled> {
        let objects = self
            .cache_entry
            .as_ref()
            .map(|s| s.objects(&self.request, early));
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
            // An object that cannot be linked in this process is compiled again.
            .filter_map(|(object, lines)| {
                let lines = LineTable::from_bytes(lines);
                self.link(image, &[], object, lines).ok()
            })
            .collect()
    }

    /// Compiles a unit and links it. Stores it in the cache unless it has loop entries, which
    /// depend on the interpreter's frames. Returns several pieces if LLVM gave up on some of its
    /// functions.
    ///
    /// # Errors
    /// Returns the reason if nothing could be compiled.
    pub fn compile(&self, image: &Image, unit: &Unit) -> Result<Vec<Compiled>, String> {
        self.find_line_tables();
        // A short program may end before its first unit is compiled.
        self.bitcode.link(self.request.debug);
        self.store_line_tables();
        let objects = Session::open(&self.request, &self.bitcode).compile(unit)?;
        self.store_line_tables();
        cache::compiled();
        let linked = objects.into_iter().map(|object| {
            // Without line tables messages name only the function.
            let lines = LineTable::read(&object.bytes).unwrap_or_default();
            let cache_entry = self
                .cache_entry
                .as_ref()
                .filter(|_| unit.entries.is_empty());
            let stored =
                cache_entry.and_then(|s| s.put_object(&self.request, &object, lines.as_bytes()));
            let linked = self.link(image, &unit.entries, object, lines)?;
            Ok(Compiled { stored, ..linked })
        });
        linked.collect()
    }

    /// Frees what is kept for units that follow soon.
    pub fn rest(&self) {
        self.bitcode.close();
    }

    fn find_line_tables(&self) {
        // A child of `fork` may find it locked for ever.
        let Some(mut looked) = self.looked.try_lock_for(LONGEST_LOOKUP) else {
            return;
        };
        if std::mem::replace(&mut *looked, true) {
            return;
        }
        if let Some(bytes) = self.cache_entry.as_ref().and_then(|s| s.bytes(LINE_TABLES)) {
            self.bitcode.take_line_tables(bytes);
            self.stored.store(true, Ordering::Relaxed);
        }
    }

    fn store_line_tables(&self) {
        if let (Some(cache_entry), Some(bytes)) = (&self.cache_entry, self.bitcode.line_tables())
            && !self.stored.swap(true, Ordering::Relaxed)
        {
            cache_entry.put_bytes(LINE_TABLES, bytes);
        }
    }

    /// Removes code from the cache that calls a function of the tier below and cannot do so. If the
    /// reason is permanent, the cache records it; if memory was short, a later run would load the
    /// caller without knowing the reason.
    pub fn forget(&self, compiled: &Compiled) {
        if let (Some(cache_entry), Some(name)) = (&self.cache_entry, &compiled.stored) {
            cache_entry.forget(name);
        }
    }

    fn link(
        &self,
        image: &Image,
        loops: &[OsrEntry],
        object: Object,
        lines: LineTable,
    ) -> Result<Compiled, String> {
        let linking = Instant::now();
        let named = |list: Vec<(usize, String)>| -> Vec<(FuncId, String)> {
            let each = list.into_iter();
            each.map(|(n, why)| (FuncId::new(n), why)).collect()
        };
        let (skipped, degraded) = (named(object.skipped), named(object.degraded));
        if object.bytes.is_empty() {
            return Ok(Compiled {
                functions: Vec::new(),
                entries: Vec::new(),
                skipped,
                degraded,
                times: [Duration::ZERO; 4],
                level: object.level,
                object_bytes: 0,
                stored: None,
                _registration: None,
                _announced: tools::Announced::default(),
                _code: None,
            });
        }
        let resolver = SymbolResolver {
            image,
            instead: &self.instead,
        };
        let code = LinkedCode::new(&object.bytes, &|name| resolver.resolve(name, self.cell))?;
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
        tracing::debug!(
            target: log::JIT,
            functions = functions.len(),
            loops = entries.len(),
            level = ?object.level,
            bytes = object.bytes.len(),
            address = ?starts.first().map(|s| s.0 as *const ()),
            ms = %log::ms(linking.elapsed()),
            "linked a unit"
        );
        for (address, function) in &starts {
            let function = self.name(*function);
            tracing::trace!(
                target: log::JIT,
                function,
                address = ?*address as *const (),
                "has code"
            );
        }
        let [parse, prepare, generate] = object.times;
        Ok(Compiled {
            functions,
            entries,
            skipped,
            degraded,
            times: [parse, prepare, generate, linking.elapsed()],
            level: object.level,
            object_bytes: object.bytes.len(),
            stored: None,
            _registration: Some(map::list(map::LinkedCode {
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

/// Builds LLVM's request for an image.
fn request(
    resolver: &SymbolResolver<'_>,
    thread_cell: bool,
    excluded: &HashMap<FuncId, &'static str>,
    settings: &Settings,
) -> CompileRequest {
    let image = resolver.image;
    let module = &image.module;
    let functions = module
        .functions
        .iter()
        .map(|(id, f)| {
            if f.name.starts_with("llvm.") {
                return FunctionBinding::Intrinsic;
            }
            match image.func_ref(id) {
                Some(_) if !excluded.contains_key(&id) => FunctionBinding::Compiled,
                _ if resolver.function(id) == 0 => FunctionBinding::Null,
                _ => FunctionBinding::External,
            }
        })
        .collect();
    let variables = module
        .globals
        .iter()
        .map(|(id, g)| match image.tls_offset(id) {
            Some(offset) => VariableBinding::ThreadLocal(offset),
            None if g.thread_local => VariableBinding::Foreign,
            None => {
                let start = image.global_address(id);
                let end = start.saturating_add(module.layout(g.ty).size as usize);
                match start {
                    0 => VariableBinding::Null,
                    _ if end < NEAR => VariableBinding::Near,
                    _ => VariableBinding::Far,
                }
            }
        })
        .collect();
    CompileRequest {
        names: module.functions.values().map(|f| f.name.clone()).collect(),
        functions,
        variables,
        labels: labels::addresses(image),
        thread_cell,
        debug: tools::debug(),
        contracted: module.contracted,
        switches_stacks: module.switches_stacks,
        fail: settings.fail.clone(),
    }
}

/// Reports an object to profilers and debuggers, if any is enabled.
fn announce(
    module: &Module,
    object: &[u8],
    code: &LinkedCode,
    lines: &LineTable,
) -> tools::Announced {
    if !tools::any_enabled() {
        return tools::Announced::default();
    }
    let named = |(symbol, address, size): (&str, usize, usize)| {
        let Symbol::Function(number) = Symbol::parse(symbol)? else {
            return None;
        };
        Some(tools::NamedFunction {
            name: &module.functions.get(FuncId::new(number))?.name,
            number: number as u32,
            address,
            size,
        })
    };
    let mut functions: Vec<tools::NamedFunction<'_>> = code.functions().filter_map(named).collect();
    functions.sort_unstable_by_key(|f| f.address);
    tools::announce(&tools::Loaded {
        object,
        code,
        functions: &functions,
        lines,
    })
}

/// Returns functions that stay interpreted without an attempt to compile them, with the reason.
///
/// Functions whose names contain one of the `words` stay interpreted: for tests that mix the tiers
/// on purpose.
fn excluded(image: &Image, whole: bool, words: &[String]) -> HashMap<FuncId, &'static str> {
    let module = &image.module;
    let labels = labels::must_interpret(image, whole).into_iter();
    let mut excluded: HashMap<FuncId, &'static str> = labels
        .map(|f| (f, "the addresses of its labels are taken"))
        .collect();
    for (id, f) in &module.functions {
        let named = words.iter().any(|word| f.name.contains(word));
        if named && image.func_ref(id).is_some() {
            excluded.insert(id, "OMPVM_INTERPRET names it");
        }
    }
    excluded
}

/// Resolver of the symbols that an object leaves undefined.
struct SymbolResolver<'a> {
    image: &'a Image,
    instead: &'a HashMap<&'static str, usize>,
}

impl SymbolResolver<'_> {
    /// Returns the value of an object's symbol; `None` if the symbol is unknown.
    fn resolve(&self, name: &str, cell: Option<isize>) -> Option<usize> {
        let Some(symbol) = Symbol::parse(name) else {
            // LLVM adds calls that the program does not make: of `calloc` for `malloc` and `memset`.
            let instead = || self.instead.get(name).copied();
            let own = self.declared(name).or_else(instead);
            return own.or_else(|| builtins::address(name));
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
            Symbol::Labels(n) => self.image.code_addresses.start(function(n)?)?,
            Symbol::LibraryVariable(n) if n < module.globals.len() => {
                ptr::from_ref(self.image.library_variable(GlobalId::new(n))?) as usize
            }
            Symbol::LibraryInstance => library_variable as *const () as usize,
            Symbol::ThreadCell => cell? as usize,
            Symbol::MakeBlock => thread::fast_block as *const () as usize,
            Symbol::Threads => ompvm_kmpc::thread::table_address(),
            Symbol::Image => ptr::from_ref(self.image) as usize,
            Symbol::Distinct => heap::distinct as *const () as usize,
            Symbol::InitTrampoline => trampoline::init as *const () as usize,
            Symbol::AdjustTrampoline => trampoline::adjust as *const () as usize,
            Symbol::SetJump => *self.instead.get("setjmp")?,
            Symbol::LongJump => *self.instead.get("longjmp")?,
            _ => return None,
        })
    }

    /// Returns the address of a module's symbol under its own name.
    fn declared(&self, name: &str) -> Option<usize> {
        let module = &self.image.module;
        let symbol = module.symbol(name);
        let symbol = symbol.or_else(|| module.symbol(&format!("\u{1}{name}")))?;
        match symbol {
            GlobalRef::Func(id) => Some(self.function(id)),
            // Only inline assembly refers to such symbols.
            other => Some(self.image.symbol_address(other)),
        }
    }

    /// Returns the address that calls and pointers use; 0 for an undefined weak function.
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
