//! Links a module: finds a definition for each symbol that it uses but does not define.
//!
//! Definitions are searched in this order: the guest itself, our OpenMP runtime, functions given by
//! the embedder, programs that were started before, functions that a C library has only in its
//! static part ([`super::builtins`]), named libraries, the process. Everything unsupported or
//! unresolved is collected and reported at once, each with the first place that uses it, before the
//! first instruction runs.
//!
//! Symbols that nothing uses are not searched.

use super::archive::{self, Archive, MemberKind, NativeMembers};
use super::assembly;
use super::assembly::Assembly;
use super::builtins;
use super::host::HostFunction;
use super::late;
use super::libraries::{self, Libraries};
use super::native_policy::{NativePolicy, Permission};
use super::value::ValueKind;
use crate::exports::Exports;
use hashbrown::{HashMap, HashSet};
use ompvm_cache::CacheEntry;
use ompvm_interp as interp;
use ompvm_ir::reach;
use ompvm_ir::visit::{Use, Uses};
use ompvm_ir::{Callee, Const, GlobalRef, Linkage, Module, Op};
use ompvm_memory::heap_limit::HeapLimit;
use ompvm_memory::image::{Image, SymbolKind};
use ompvm_memory::linker_symbols;
use ompvm_memory::throws::{self, Family};
use ompvm_support::error::{Error, Unsupported};
use ompvm_support::log;
use std::sync::Arc;

/// Answer of our OpenMP runtime to a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuntimeLookup {
    /// Address of the entry.
    Address(usize),
    /// The runtime knows the name but does not support it; the text describes the entry.
    Unsupported(String),
    /// The name is not one of the runtime's.
    Unknown,
}

/// The definitions that a module may be linked against.
#[derive(Debug)]
pub struct Environment {
    /// Function that looks a name up in our runtime.
    pub runtime: fn(&str) -> RuntimeLookup,
    /// The program's symbols that libraries may refer to.
    pub exports: Exports,
    /// True for an executable, whose linker has resolved every symbol that the program can reach.
    pub executable: bool,
    /// Functions of the embedder.
    pub host: HashMap<String, Arc<HostFunction>>,
    /// Addresses of the functions and variables of started programs. The caller keeps these
    /// programs alive.
    pub programs: HashMap<Box<str>, usize>,
    /// Named libraries and the process.
    pub libraries: Libraries,
    /// Static archives, searched before the libraries.
    pub archives: Vec<Arc<Archive>>,
    /// The archives' native members that the program needs; set by linking.
    pub natives: Option<archive::LoadedMembers>,
    /// The module's file-scope assembly.
    pub assembly: Option<Assembly>,
    /// Cache entry in which linked native members are stored.
    pub cache_entry: Option<Arc<CacheEntry>>,
    /// True to start the program although entries of the runtime are missing. A call of one then
    /// ends the program.
    pub late: bool,
    /// Native functions that the program may use; `None` allows all.
    pub policy: Option<NativePolicy>,
    /// Names that are replaced for this process (`exit` of an embedded program).
    pub overrides: HashMap<&'static str, usize>,
    /// Limit of the program's heap memory; see [`Environment::limit_memory`].
    pub heap_limit: Option<Arc<HeapLimit>>,
}

/// A linked module: every symbol it uses has an address.
#[derive(Debug)]
pub struct Linked {
    /// The module.
    pub module: Arc<Module>,
    addresses: HashMap<Box<str>, usize>,
    /// The symbols that it uses.
    pub uses: Box<[GlobalRef]>,
    /// The C++ library that the module was linked with, unless it is the process's own.
    pub cpp: Option<throws::Functions>,
    /// Kept alive for the program.
    pub environment: Environment,
}

impl Linked {
    /// Returns the address found for an undefined symbol.
    pub fn resolve(&self, name: &str, kind: SymbolKind) -> Option<usize> {
        if let Some(&address) = self.addresses.get(name) {
            return Some(address);
        }
        // The module defines the symbol itself, or the symbol bounds a section.
        let here = match self.module.symbol(name) {
            Some(GlobalRef::Func(f)) if self.module.functions[f].body.is_some() => true,
            _ => is_linker_defined(&self.module, name),
        };
        // The remaining symbols are weak or unused, and need no address.
        (!here || kind == SymbolKind::ThreadLocal).then_some(0)
    }

    /// Returns true if the runtime's entries are reached through gates, because there may be a
    /// tool.
    pub fn traced(&self) -> bool {
        self.environment.runtime as usize == super::runtime::lookup_traced as *const () as usize
    }

    /// Returns true if an outside definition of a symbol was found.
    pub fn has(&self, name: &str) -> bool {
        self.addresses.contains_key(name)
    }
}

/// Returns name, kind and linkage of a symbol that needs an outside definition, and whether it is a
/// function with a body of its own. Returns `None` if the module defines the symbol.
fn undefined(module: &Module, symbol: GlobalRef) -> Option<(&str, SymbolKind, Linkage, bool)> {
    match symbol {
        GlobalRef::Func(f) => {
            let f = &module.functions[f];
            let outside = f.linkage == Linkage::AvailableExternally;
            let wanted = (f.body.is_none() || outside) && !f.name.starts_with("llvm.");
            wanted.then_some((&*f.name, SymbolKind::Function, f.linkage, f.body.is_some()))
        }
        GlobalRef::Var(g) => {
            let g = &module.globals[g];
            let outside = g.init.is_none() || g.linkage == Linkage::AvailableExternally;
            let kind = if g.thread_local {
                SymbolKind::ThreadLocal
            } else {
                SymbolKind::Variable
            };
            (outside && !g.name.starts_with("llvm.")).then_some((&*g.name, kind, g.linkage, false))
        }
        GlobalRef::Alias(_) | GlobalRef::IFunc(_) => None,
    }
}

/// Links a module.
///
/// Returns [`Error::Unsupported`] with everything this version does not support, else
/// [`Error::NotAllowed`] with everything that the policy refuses, else [`Error::Unresolved`] with
/// every symbol without a definition.
pub fn link(module: Arc<Module>, mut environment: Environment) -> Result<Linked, Error> {
    environment.assembly = Assembly::reserve(&module)?;
    if let Some(symbols) = &module.linked_before {
        environment.choose_members(&module, symbols)?;
    }
    // A report needs the places of the uses.
    if environment.policy.is_none()
        && let Some(symbols) = &module.linked_before
        && let Some(addresses) = relink(&module, &mut environment, symbols)
    {
        check_host_functions(&module, &environment)?;
        let uses = symbols.clone();
        let cpp = foreign_cpp_library(&module, &mut environment);
        return Ok(Linked {
            module,
            addresses,
            uses,
            cpp,
            environment,
        });
    }
    let uses = Uses::of(&module);
    let mut addresses = HashMap::new();
    let mut unsupported = collect_unsupported(&module, &uses);
    if !environment.late {
        unsupported.extend(unsupported_instructions(&module));
    }
    let mut unresolved = Vec::new();
    let (mut missing_entries, mut refused) = (HashMap::new(), HashMap::new());
    check_host_functions(&module, &environment)?;
    let symbols: Vec<GlobalRef> = uses.symbols.keys().copied().collect();
    environment.choose_members(&module, &symbols)?;
    for (&symbol, at) in &uses.symbols {
        let Some((name, kind, linkage, has_body)) = undefined(&module, symbol) else {
            continue;
        };
        if linker_symbols::is_linker_defined(name) {
            continue;
        }
        if let Permission::Refused(what) = environment.permission(name) {
            if linkage == Linkage::ExternWeak {
                continue;
            }
            match environment.refusal_at_call(&what, kind) {
                Some(stub) => {
                    addresses.insert(name.into(), stub?);
                }
                None => {
                    refused.insert(symbol, what);
                }
            }
            continue;
        }
        match environment.find(name, kind) {
            RuntimeLookup::Address(a) => {
                addresses.insert(name.into(), a);
            }
            RuntimeLookup::Unsupported(what) if environment.late => {
                let exit = environment.overrides.get("exit").copied();
                addresses.insert(name.into(), late::stub_for(Error::Unsupported, what, exit)?);
            }
            RuntimeLookup::Unsupported(what) => {
                missing_entries.insert(symbol, what);
            }
            RuntimeLookup::Unknown if linkage == Linkage::ExternWeak || has_body => {}
            RuntimeLookup::Unknown if is_linker_defined(&module, name) => {}
            RuntimeLookup::Unknown => unresolved.push((symbol, name, at)),
        }
    }
    if environment.executable && !unresolved.is_empty() {
        let reached = environment.reached(&module);
        unresolved.retain(|(symbol, ..)| reached.contains(symbol));
    }
    unsupported.extend(uses_of(&module, &uses, &missing_entries));
    if !unsupported.is_empty() {
        sort(&mut unsupported);
        return Err(Error::Unsupported(unsupported));
    }
    let mut refused = uses_of(&module, &uses, &refused);
    refused.extend(environment.refused_code(&module));
    if !refused.is_empty() {
        sort(&mut refused);
        return Err(Error::NotAllowed(refused));
    }
    if !unresolved.is_empty() {
        let unresolved = unresolved.iter();
        let mut unresolved: Vec<String> = unresolved
            .map(|(_, name, at)| describe_unresolved(&module, name, at))
            .collect();
        unresolved.sort();
        return Err(Error::Unresolved(unresolved));
    }
    let cpp = foreign_cpp_library(&module, &mut environment);
    Ok(Linked {
        module,
        addresses,
        cpp,
        uses: uses.symbols.into_keys().collect(),
        environment,
    })
}

/// Returns the addresses of the symbols of a module that was linked before without errors. Returns
/// `None` if there is an error this time, whose report needs the places of the uses.
fn relink(
    module: &Module,
    environment: &mut Environment,
    symbols: &[GlobalRef],
) -> Option<HashMap<Box<str>, usize>> {
    let mut unresolved = Vec::new();
    let mut addresses = HashMap::new();
    for &symbol in symbols {
        let Some((name, kind, linkage, has_body)) = undefined(module, symbol) else {
            continue;
        };
        if linker_symbols::is_linker_defined(name) {
            continue;
        }
        match environment.find(name, kind) {
            RuntimeLookup::Address(a) => {
                addresses.insert(name.into(), a);
            }
            RuntimeLookup::Unknown
                if linkage == Linkage::ExternWeak
                    || has_body
                    || is_linker_defined(module, name) => {}
            RuntimeLookup::Unknown if environment.executable => unresolved.push(symbol),
            _ => return None,
        }
    }
    if !unresolved.is_empty() {
        let reached = environment.reached(module);
        if unresolved.iter().any(|s| reached.contains(s)) {
            return None;
        }
    }
    Some(addresses)
}

/// Returns the C++ library of a module that throws or catches, if it is not the process's own.
fn foreign_cpp_library(
    module: &Module,
    environment: &mut Environment,
) -> Option<throws::Functions> {
    if uses_exceptions(module) {
        environment.foreign_cpp_library()
    } else {
        None
    }
}

/// Returns true if a module throws or catches C++ exceptions.
fn uses_exceptions(module: &Module) -> bool {
    let names = ["__gxx_personality_v0", "__cxa_throw", "__cxa_rethrow"];
    names.iter().any(|name| module.symbol(name).is_some())
}

/// Checks that the guest declares each host function as the embedder wrote it.
fn check_host_functions(module: &Module, environment: &Environment) -> Result<(), Error> {
    for (name, host) in &environment.host {
        let Some(GlobalRef::Func(id)) = module.symbol(name) else {
            continue;
        };
        let function = &module.functions[id];
        if function.body.is_some() {
            continue;
        }
        let fits = match super::process::signature(module, function) {
            Some((params, ret)) => params == host.params && ret == host.ret,
            None => false,
        };
        if !fits {
            let list = |kinds: &[ValueKind]| {
                kinds
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let guest = match super::process::signature(module, function) {
                Some((params, ret)) => format!("{ret}({})", list(&params)),
                None => "a signature with structs, vectors or variadic arguments".into(),
            };
            return Err(Error::Host(format!(
                "the host function `{name}` is {}({}), but the program declares {guest}",
                host.ret,
                list(&host.params),
            )));
        }
    }
    Ok(())
}

/// Returns everything in a module that this version does not support, without linking it.
pub fn unsupported(module: &Module, runtime: fn(&str) -> RuntimeLookup) -> Vec<Unsupported> {
    if let Some(symbols) = &module.linked_before {
        let missing = symbols.iter().any(|&s| {
            undefined(module, s)
                .is_some_and(|(name, ..)| matches!(runtime(name), RuntimeLookup::Unsupported(_)))
        });
        if !missing {
            return Vec::new();
        }
    }
    let uses = Uses::of(module);
    let mut list = collect_unsupported(module, &uses);
    list.extend(unsupported_instructions(module));
    list.extend(interp::find_unsupported(module));
    let mut missing_entries = HashMap::new();
    for &symbol in uses.symbols.keys() {
        if let Some((name, ..)) = undefined(module, symbol)
            && let RuntimeLookup::Unsupported(what) = runtime(name)
        {
            missing_entries.insert(symbol, what);
        }
    }
    list.extend(uses_of(module, &uses, &missing_entries));
    sort(&mut list);
    list
}

fn sort(list: &mut Vec<Unsupported>) {
    list.sort_by(|a, b| (&a.place, &a.what).cmp(&(&b.place, &b.what)));
    list.dedup();
}

/// Returns every call of one of the entries, and the first use of each entry that is never called.
fn uses_of(module: &Module, uses: &Uses, entries: &HashMap<GlobalRef, String>) -> Vec<Unsupported> {
    let mut list = Vec::new();
    if entries.is_empty() {
        return list;
    }
    let mut push = |what: &str, at: &Use| {
        list.push(Unsupported {
            what: what.to_owned(),
            place: at.place(module),
            function: at.function_name(module),
        });
    };
    let mut called = HashSet::new();
    for (id, function) in &module.functions {
        for inst in function.body.iter().flat_map(|b| &b.insts) {
            if let Some(Callee::Symbol(symbol)) = inst.op.as_call().map(|c| &c.callee)
                && let Some(what) = entries.get(symbol)
            {
                called.insert(*symbol);
                let at = Use {
                    function: Some(id),
                    loc: inst.loc,
                };
                push(what, &at);
            }
        }
    }
    for (symbol, what) in entries {
        if !called.contains(symbol) {
            push(what, &uses.symbols[symbol]);
        }
    }
    list
}

fn describe_unresolved(module: &Module, name: &str, at: &Use) -> String {
    let mut text = format!("`{name}`");
    if let Some(function) = at.function_name(module) {
        text.push_str(&format!(" (used in `{function}`"));
        if let Some(place) = at.place(module) {
            text.push_str(&format!(" at {place}"));
        }
        text.push(')');
    }
    text
}

/// Returns true if a linker would define the symbol: a bound of a section or of the whole program.
fn is_linker_defined(module: &Module, name: &str) -> bool {
    if linker_symbols::is_linker_defined(name) {
        return true;
    }
    let section = name
        .strip_prefix("__start_")
        .or_else(|| name.strip_prefix("__stop_"));
    let variables = module.globals.values().map(|g| &g.section);
    let functions = module.functions.values().filter(|f| f.body.is_some());
    let mut sections = variables.chain(functions.map(|f| &f.section));
    section.is_some_and(|s| sections.any(|known| known.as_deref() == Some(s)))
}

/// Returns the instructions that the reader did not understand. The interpreter fails when it
/// reaches one.
fn unsupported_instructions(module: &Module) -> Vec<Unsupported> {
    let mut list = Vec::new();
    for function in module.functions.values() {
        for inst in function.body.iter().flat_map(|b| &b.insts) {
            if let Op::Unsupported(text) = &inst.op {
                list.push(Unsupported {
                    what: text.to_string(),
                    place: inst.loc.map(|l| module.debug.describe(l)),
                    function: Some(function.name.to_string()),
                });
            }
        }
    }
    list
}

fn collect_unsupported(module: &Module, uses: &Uses) -> Vec<Unsupported> {
    let mut list = Vec::new();
    let mut push = |what: &str, at: Use| {
        list.push(Unsupported {
            what: what.to_owned(),
            place: at.place(module),
            function: at.function_name(module),
        });
    };
    for &(c, at) in &uses.unsupported {
        if let Const::Unsupported(text) = &module.consts[c] {
            push(text, at);
        }
    }
    list
}

impl Environment {
    /// Returns the symbols that an executable can reach from where it starts, and from everything
    /// that native code knows. Variables in sections are found by the sections' bounds.
    fn reached(&self, module: &Module) -> HashSet<GlobalRef> {
        let functions = module.functions.iter();
        let functions = functions.map(|(id, f)| (&f.name, GlobalRef::Func(id), false));
        let variables = module.globals.iter();
        let variables = variables.map(|(id, g)| (&g.name, GlobalRef::Var(id), g.section.is_some()));
        let named = functions.chain(variables);
        let roots = named.filter(|(name, _, root)| *root || self.exports.contain(name));
        let native = self.natives.iter().flat_map(|n| n.undefined());
        let assembly = self.assembly.iter().flat_map(|a| a.undefined());
        let native = native.chain(assembly.map(String::as_str)).chain(["main"]);
        let native = native.filter_map(|name| module.symbol(name));
        reach::reachable(module, roots.map(|(_, s, _)| s).chain(native))
    }

    /// Loads the native members of archives that a module with these symbols needs, once.
    fn choose_members(&mut self, module: &Module, symbols: &[GlobalRef]) -> Result<(), Error> {
        if self.natives.is_some() {
            return Ok(());
        }
        let mut wanted = archive::needed(module, symbols);
        if let Some(assembly) = &self.assembly {
            wanted.extend(assembly.undefined().iter().cloned());
            wanted.retain(|name| assembly.address(name).is_none());
        }
        wanted.retain(|name| self.own_definition(name).is_none());
        // C code may call only the functions of `ISO_Fortran_binding.h`.
        let fortran = |n: &String| n.starts_with("_FortranA") || n.starts_with("CFI_");
        let named = !self.archives.is_empty() || !self.libraries.archives.is_empty();
        let cache_entry = self.cache_entry.clone();
        let cache_entry = cache_entry.filter(|_| named || wanted.iter().any(fortran));
        let key = self.members_key();
        if let Some(cache_entry) = &cache_entry
            && let Some(cached) = archive::load_cached(cache_entry, &key)
        {
            wanted.retain(|name| cached.address(name).is_none());
            let outside = cached.undefined().filter(|name| {
                exported(module, name).is_none() && self.own_definition(name).is_none()
            });
            wanted.extend(outside.map(str::to_owned));
            let throws = cached.address("__cxa_throw").is_none();
            self.provide_libcpp(module, &wanted, throws);
            self.natives = Some(cached);
            return Ok(());
        }
        for path in std::mem::take(&mut self.libraries.archives) {
            self.archives.push(Archive::open(&path)?);
        }
        // A shared library may have a part of the runtime.
        if wanted.iter().any(|n| {
            fortran(n)
                && !self.archives.iter().any(|a| a.find(n).is_some())
                && self.libraries.find(n).is_none()
        }) && let Some(path) = archive::fortran_runtime()
        {
            self.archives.push(Archive::open(&path)?);
        }
        let elsewhere = |n: &&String| !self.archives.iter().any(|a| a.find(n).is_some());
        let others: Vec<String> = wanted.iter().filter(elsewhere).cloned().collect();
        let throws = elsewhere(&&"__cxa_throw".to_owned());
        self.provide_libcpp(module, &others, throws);
        if self.archives.is_empty() {
            return Ok(());
        }
        let mut natives = NativeMembers::default();
        let mut list = self.archives.clone();
        if self.libraries.has_libcpp() {
            // A shared libc++ does not mix with a static one: each knows only its own exceptions.
            list.retain(|a| !libraries::is_libcpp_archive(&a.path));
        }
        let mut elsewhere =
            |name: &str| exported(module, name).is_some() || self.own_definition(name).is_some();
        natives.choose(&list, wanted, &mut elsewhere)?;
        if natives.is_empty() {
            return Ok(());
        }
        // Compilers emit calls of helper functions, which are in an archive that every native link
        // has.
        let mut missing = natives.needed();
        missing.retain(|n| exported(module, n).is_none() && self.own_definition(n).is_none());
        if missing.iter().any(|n| self.libraries.is_of_libcpp(n)) {
            self.libraries.open_libcpp();
        }
        missing.retain(|n| self.libraries.find(n).is_none());
        if !missing.is_empty()
            && let Some(path) = archive::compiler_helpers()
        {
            let helpers = [Archive::open(&path)?];
            self.archives.extend(helpers.iter().cloned());
            let mut elsewhere = |name: &str| {
                exported(module, name).is_some() || self.own_definition(name).is_some()
            };
            natives.choose(&helpers, missing, &mut elsewhere)?;
        }
        // The guest's own definitions come first in a link, and take precedence over weak ones.
        let replaced = |name: &str, data: bool| match exported(module, name) {
            Some(GlobalRef::Func(f)) => module.functions[f].linkage == Linkage::External,
            Some(GlobalRef::Var(g)) => data && !module.globals[g].thread_local,
            _ => false,
        };
        let place = cache_entry
            .as_deref()
            .map(|cache_entry| (cache_entry, &key));
        self.natives = Some(archive::load(natives, &self.archives, &replaced, place)?);
        Ok(())
    }

    /// Opens libc++ for a program that uses it. `wanted` holds the symbols that neither the program
    /// nor its archives define. The functions of libc++ are mostly inlined, so definitions of them
    /// in the program may be the only trace. In that case libc++ is opened for a program that uses
    /// exceptions, unless an archive (`throws` is false) or a named library defines `__cxa_throw`.
    fn provide_libcpp(&mut self, module: &Module, wanted: &[String], throws: bool) {
        let mut functions = module.functions.iter();
        if wanted.iter().any(|n| self.libraries.is_of_libcpp(n))
            || throws
                && uses_exceptions(module)
                && self.libraries.find_named("__cxa_throw").is_none()
                && functions.any(|(_, f)| libraries::is_in_libcpp(&f.name))
        {
            self.libraries.open_libcpp();
        }
    }

    /// Returns a hash of everything beside the program and the archives that decides which members
    /// are taken.
    fn members_key(&self) -> [u8; 32] {
        let mut names: Vec<&str> = self.host.keys().map(String::as_str).collect();
        names.extend(self.overrides.keys());
        names.sort_unstable();
        let archives: Vec<_> = self.archives.iter().map(|a| &a.path).collect();
        let libraries = self.libraries.describe();
        let text = format!("{names:?} {archives:?} {libraries} {}", self.late);
        *blake3::hash(text.as_bytes()).as_bytes()
    }

    /// Binds the native members to the definitions of the symbols that they use.
    ///
    /// # Errors
    /// Returns everything unsupported or unresolved in them.
    pub fn bind_members(&mut self, image: &Image) -> Result<(), Error> {
        let Some(mut natives) = self.natives.take() else {
            return Ok(());
        };
        let mut resolver = Resolver {
            environment: self,
            image,
            unresolved: Vec::new(),
            unsupported: Vec::new(),
        };
        let bound = natives.bind(&mut resolver);
        let (mut unresolved, unsupported) = (resolver.unresolved, resolver.unsupported);
        self.natives = Some(natives);
        if !unsupported.is_empty() {
            return Err(Error::Unsupported(unsupported));
        }
        if !unresolved.is_empty() {
            unresolved.sort();
            return Err(Error::Unresolved(unresolved));
        }
        bound
    }

    /// Returns the C++ library of a program, if it is not the process's own.
    fn foreign_cpp_library(&mut self) -> Option<throws::Functions> {
        let mut find = |name: &str| match self.find(name, SymbolKind::Function) {
            RuntimeLookup::Address(a) => Some(a),
            _ => None,
        };
        let globals = find(throws::GLOBALS)?;
        if globals == throws::own_globals() {
            return None;
        }
        // Only libc++abi has this function; it belongs to its interface.
        let clang = find("__cxa_current_primary_exception").is_some();
        Some(throws::Functions {
            throw: find("__cxa_throw")?,
            rethrow: find("__cxa_rethrow")?,
            globals,
            terminate: find("_ZSt9terminatev").unwrap_or(0),
            family: if clang { Family::Clang } else { Family::Gnu },
        })
    }

    /// Looks up a name for which our definition takes precedence over archives and libraries.
    fn own_definition(&self, name: &str) -> Option<RuntimeLookup> {
        if let Some(&a) = self.overrides.get(name) {
            return Some(RuntimeLookup::Address(a));
        }
        match (self.runtime)(name) {
            RuntimeLookup::Unknown => {}
            found => return Some(found),
        }
        if let Some(f) = self.host.get(name) {
            return Some(RuntimeLookup::Address(f.address()));
        }
        if let Some(&a) = self.programs.get(name) {
            return Some(RuntimeLookup::Address(a));
        }
        let first = builtins::preferred(name).or_else(|| libraries::unwinder(name));
        first.map(RuntimeLookup::Address)
    }

    /// Links the module's assembly. The symbols of the image must have addresses.
    ///
    /// # Errors
    /// Names every symbol that the assembly refers to and that has no definition.
    pub fn bind_assembly(&mut self, image: &Image) -> Result<(), Error> {
        let Some(mut assembly) = self.assembly.take() else {
            return Ok(());
        };
        let mut unresolved = Vec::new();
        let mut addresses = HashMap::new();
        for name in assembly.undefined() {
            let found = match assembly::defined(&image.module, name) {
                Some(symbol) => RuntimeLookup::Address(image.symbol_address(symbol)),
                None => self.find(name, SymbolKind::Function),
            };
            match found {
                RuntimeLookup::Address(address) => {
                    addresses.insert(name.clone(), address);
                }
                _ => unresolved.push(format!("`{name}` (used in assembly outside of functions)")),
            }
        }
        if !unresolved.is_empty() {
            unresolved.sort();
            return Err(Error::Unresolved(unresolved));
        }
        let bound = assembly.bind(&addresses);
        self.assembly = Some(assembly);
        bound
    }

    fn find(&mut self, name: &str, kind: SymbolKind) -> RuntimeLookup {
        let found = self.look_up(name, kind);
        match &found {
            RuntimeLookup::Address(address) => tracing::trace!(
                target: log::MEMORY,
                name,
                address = ?*address as *const (),
                "bound a symbol"
            ),
            RuntimeLookup::Unsupported(what) => {
                tracing::debug!(target: log::MEMORY, name, what, "a symbol is not supported");
            }
            RuntimeLookup::Unknown => {
                tracing::debug!(target: log::MEMORY, name, "a symbol has no definition");
            }
        }
        found
    }

    fn look_up(&mut self, name: &str, kind: SymbolKind) -> RuntimeLookup {
        if let Some(address) = self.assembly.as_ref().and_then(|a| a.address(name)) {
            return RuntimeLookup::Address(address);
        }
        if let Some(found) = self.own_definition(name) {
            return found;
        }
        if let Some(a) = self.natives.as_ref().and_then(|n| n.address(name)) {
            return RuntimeLookup::Address(a);
        }
        match self.libraries.find(name) {
            Some(a) => return self.allocator(name, a),
            None if kind == SymbolKind::ThreadLocal => return RuntimeLookup::Unknown,
            None => {}
        }
        builtins::fallback(name).map_or(RuntimeLookup::Unknown, RuntimeLookup::Address)
    }
}

/// Returns the addresses of the functions and variables of a placed module that other modules may
/// use. A `thread_local` variable has no address.
pub fn definitions(image: &Image) -> impl Iterator<Item = (&str, usize)> {
    let module = &image.module;
    let functions = module.functions.values().map(|f| &*f.name);
    let variables = module.globals.values().filter(|g| !g.thread_local);
    functions
        .chain(variables.map(|g| &*g.name))
        .filter(|name| !name.starts_with("llvm."))
        .filter_map(|name| Some((name, image.symbol_address(exported(module, name)?))))
}

/// Returns the module's own definition of a name, if other files may use it.
fn exported(module: &Module, name: &str) -> Option<GlobalRef> {
    let symbol = module.symbol(name)?;
    let (here, linkage) = match symbol {
        GlobalRef::Func(f) => (
            module.functions[f].body.is_some(),
            module.functions[f].linkage,
        ),
        GlobalRef::Var(g) => (module.globals[g].init.is_some(), module.globals[g].linkage),
        GlobalRef::Alias(_) | GlobalRef::IFunc(_) => (true, Linkage::External),
    };
    let shared = archive::is_shared(linkage);
    (here && shared).then_some(symbol)
}

/// Resolves the undefined symbols of native members.
struct Resolver<'a> {
    environment: &'a mut Environment,
    image: &'a Image,
    unresolved: Vec<String>,
    unsupported: Vec<Unsupported>,
}

impl archive::Resolve for Resolver<'_> {
    fn undefined(&mut self, name: &str, weak: bool, user: &str) -> Option<usize> {
        if let Some(symbol) = exported(&self.image.module, name) {
            return Some(self.image.symbol_address(symbol));
        }
        match self.environment.find(name, SymbolKind::Function) {
            RuntimeLookup::Address(a) => return Some(a),
            RuntimeLookup::Unsupported(what) if self.environment.late => {
                let exit = self.environment.overrides.get("exit").copied();
                return late::stub_for(Error::Unsupported, what, exit).ok();
            }
            RuntimeLookup::Unsupported(what) => self.unsupported.push(Unsupported {
                what,
                place: None,
                function: Some(user.to_owned()),
            }),
            RuntimeLookup::Unknown if weak => {}
            RuntimeLookup::Unknown => {
                let bitcode = self.environment.archives.iter().any(|a| {
                    a.find(name)
                        .is_some_and(|m| a.members[m as usize].kind == MemberKind::Bitcode)
                });
                let hint = if bitcode {
                    "; an archive defines it as bitcode: pass the archive among the program's files"
                } else {
                    ""
                };
                self.unresolved
                    .push(format!("`{name}` (used in {user}{hint})"));
            }
        }
        None
    }
}
