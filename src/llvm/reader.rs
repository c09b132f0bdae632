//! Copies a module's symbols: functions, variables, aliases, ifuncs and constructors.
//!
//! Every symbol gets its number first, so that constants and code may refer to any of them; then
//! each is filled in. All lookups go by address in hash tables, so the time is linear in the size
//! of the module.

use super::attributes::Kinds;
use super::attributes::rare_features;
use super::handles::{
    self, Attribute, Builder, DebugLocation, Linkage as Linked, SourceFile, ValueKind, Variable,
};
use super::parse::Parsed;
use super::tables::Tables;
use hashbrown::{HashMap, HashSet};
use ompvm_ir::{
    Alias, AliasId, BlockId, ConstId, FileId, FuncId, Function, Global, GlobalId, GlobalRef, IFunc,
    IFuncId, Linkage, LocId, Module, ScopeId, TypeId, Value, Xtor,
};
use parking_lot::Mutex;

/// State of copying one module.
pub(super) struct Reader<'p> {
    pub(super) parsed: &'p Parsed,
    out: Module,
    /// Tables shared by the readers of one program.
    pub(super) tables: &'p Mutex<Tables>,
    /// Folds constants; stands nowhere.
    pub(super) builder: Builder<'p>,
    pub(super) kinds: Kinds,
    pub(super) types: HashMap<handles::Type<'p>, TypeId>,
    pub(super) consts: HashMap<handles::Value<'p>, ConstId>,
    pub(super) symbols: HashMap<handles::Value<'p>, GlobalRef>,
    /// Functions with blocks whose address is taken, and all blocks of these functions.
    pub(super) addressed: HashSet<handles::Function<'p>>,
    pub(super) addressed_blocks: HashMap<handles::Block<'p>, BlockId>,
    /// Parameters, instructions and blocks of the function being read.
    pub(super) values: HashMap<handles::Value<'p>, Value>,
    pub(super) blocks: HashMap<handles::Block<'p>, BlockId>,
    /// Scratch buffer for attribute lists.
    pub(super) attributes: Vec<Attribute<'p>>,
    pub(super) locs: HashMap<DebugLocation<'p>, LocId>,
    pub(super) last_loc: Option<(DebugLocation<'p>, LocId)>,
    pub(super) scopes: HashMap<handles::Scope<'p>, (FileId, ScopeId)>,
    pub(super) subprograms: HashMap<handles::Scope<'p>, ScopeId>,
    pub(super) files: HashMap<Option<SourceFile<'p>>, FileId>,
}

fn linkage(value: handles::Value) -> Linkage {
    match value.linkage() {
        Linked::LLVMExternalLinkage
        | Linked::LLVMDLLImportLinkage
        | Linked::LLVMDLLExportLinkage
        | Linked::LLVMGhostLinkage => Linkage::External,
        Linked::LLVMAvailableExternallyLinkage => Linkage::AvailableExternally,
        Linked::LLVMLinkOnceAnyLinkage
        | Linked::LLVMLinkOnceODRLinkage
        | Linked::LLVMLinkOnceODRAutoHideLinkage => Linkage::LinkOnce,
        Linked::LLVMWeakAnyLinkage | Linked::LLVMWeakODRLinkage => Linkage::Weak,
        Linked::LLVMAppendingLinkage => Linkage::Appending,
        Linked::LLVMInternalLinkage => Linkage::Internal,
        Linked::LLVMPrivateLinkage
        | Linked::LLVMLinkerPrivateLinkage
        | Linked::LLVMLinkerPrivateWeakLinkage => Linkage::Private,
        Linked::LLVMExternalWeakLinkage => Linkage::ExternWeak,
        Linked::LLVMCommonLinkage => Linkage::Common,
    }
}

/// Returns true for variables that only inform the linker; constructors are read separately.
pub(super) fn is_bookkeeping(name: &str, section: Option<&str>) -> bool {
    matches!(
        name,
        "llvm.used" | "llvm.compiler.used" | "llvm.global_ctors" | "llvm.global_dtors"
    ) || (name.starts_with("llvm.") && section == Some("llvm.metadata"))
}

impl<'p> Reader<'p> {
    /// Creates a reader of a parsed module that adds to the tables.
    pub(super) fn new(parsed: &'p Parsed, tables: &'p Mutex<Tables>) -> Self {
        Reader {
            parsed,
            out: Module::default(),
            tables,
            builder: parsed.module().context().builder(),
            kinds: Kinds::new(),
            types: HashMap::new(),
            consts: HashMap::new(),
            symbols: HashMap::new(),
            addressed: HashSet::new(),
            addressed_blocks: HashMap::new(),
            values: HashMap::new(),
            blocks: HashMap::new(),
            attributes: Vec::new(),
            locs: HashMap::new(),
            last_loc: None,
            scopes: HashMap::new(),
            subprograms: HashMap::new(),
            files: HashMap::new(),
        }
    }

    /// Copies the module, including function bodies.
    pub(super) fn read(mut self, name: &str) -> Module {
        let functions = self.number_all();
        let functions: Vec<_> = functions.iter().map(|&v| self.function(v)).collect();
        let mut module = self.symbols(name);
        module.functions = functions.into_iter().collect();
        std::mem::take(&mut *self.tables.lock()).put(&mut module);
        module
    }

    /// Gives every symbol its number, and returns the functions in that order.
    pub(super) fn number_all(&mut self) -> Vec<handles::Function<'p>> {
        let module = self.parsed.module();
        let functions: Vec<_> = module.functions().collect();
        for (i, &v) in (0..).zip(&functions) {
            self.number(*v, GlobalRef::Func(FuncId::from_u32(i)));
        }
        for (i, v) in (0..).zip(self.globals()) {
            self.number(*v, GlobalRef::Var(GlobalId::from_u32(i)));
        }
        for (i, v) in (0..).zip(module.aliases()) {
            self.number(*v, GlobalRef::Alias(AliasId::from_u32(i)));
        }
        for (i, v) in (0..).zip(module.ifuncs()) {
            self.number(*v, GlobalRef::IFunc(IFuncId::from_u32(i)));
        }
        functions
    }

    fn globals(&self) -> impl Iterator<Item = Variable<'p>> + use<'p> {
        let variables = self.parsed.module().variables();
        variables.filter(|v| !is_bookkeeping(&v.name(), v.section().as_deref()))
    }

    /// Copies everything but functions and tables. All symbols must have numbers.
    pub(super) fn symbols(&mut self, name: &str) -> Module {
        let module = self.parsed.module();
        self.out.name = name.to_string();
        self.out.triple = module.triple().into();
        self.out.data_layout = module.layout_text().into();
        self.out.module_asm = module.inline_asm().into();
        for v in self.globals() {
            let global = self.global(v);
            self.out.globals.push(global);
        }
        for v in module.aliases() {
            let target = self.constant(v.aliasee());
            self.out.aliases.push(Alias {
                name: v.name(),
                target,
                linkage: linkage(*v),
            });
        }
        for v in module.ifuncs() {
            let resolver = self.constant(v.resolver());
            let ty = self.type_id(v.signature());
            self.out.ifuncs.push(IFunc {
                name: v.name(),
                resolver,
                ty,
                linkage: linkage(*v),
            });
        }
        self.out.ctors = self.xtors("llvm.global_ctors", constructor_priority);
        self.out.dtors = self.xtors("llvm.global_dtors", destructor_priority);
        // Tables of destructors are walked backwards.
        self.out.dtors.reverse();
        std::mem::take(&mut self.out)
    }

    fn number(&mut self, value: handles::Value<'p>, symbol: GlobalRef) {
        self.symbols.insert(value, symbol);
        let name = value.name();
        if !name.is_empty() {
            self.out.symbols.insert(name, symbol);
        }
    }

    fn global(&mut self, variable: Variable<'p>) -> Global {
        Global {
            name: variable.name(),
            ty: self.type_id(variable.contents()),
            init: variable.initializer().map(|v| self.constant(v)),
            align: variable.alignment(),
            linkage: linkage(*variable),
            constant: variable.is_read_only(),
            thread_local: variable.is_thread_local(),
            section: variable.section(),
            loc: self.global_location(variable),
        }
    }

    /// Copies a function, and its body if it has one.
    pub(super) fn function(&mut self, function: handles::Function<'p>) -> Function {
        let (params, ret_attrs) = self.signature_attrs(function);
        let name = function.name();
        let scope = function.subprogram().map(|subprogram| {
            let scope = self.subprogram(subprogram);
            self.tables.lock().name(scope, &name);
            scope
        });
        Function {
            name,
            ty: self.type_id(function.signature()),
            params,
            ret_attrs,
            attrs: self.function_attrs(function),
            features: rare_features(function),
            calling_convention: function.convention(),
            linkage: linkage(*function),
            section: function.section(),
            personality: function.personality().map(|p| self.constant(p)),
            scope,
            body: (!function.is_declaration()).then(|| self.body(function).into()),
        }
    }

    /// Returns constructors or destructors in the order of priorities: pointers in variables of the
    /// sections that have one, then the entries of a table.
    fn xtors(&mut self, table: &str, priority_of: fn(&str) -> Option<i32>) -> Vec<Xtor> {
        let mut found: Vec<(i32, handles::Value<'p>)> = Vec::new();
        for variable in self.parsed.module().variables() {
            let priority = variable.section().and_then(|section| priority_of(&section));
            if let (Some(priority), Some(value)) = (priority, variable.initializer()) {
                match value.kind() {
                    ValueKind::LLVMConstantArrayValueKind => {
                        found.extend(value.operands().map(|f| (priority, f)));
                    }
                    _ => found.push((priority, value)),
                }
            }
        }
        found.retain(|(_, value)| {
            matches!(
                value.kind(),
                ValueKind::LLVMFunctionValueKind | ValueKind::LLVMGlobalAliasValueKind
            )
        });
        let table = self.parsed.module().variable(table);
        let table = table.and_then(|v| v.initializer());
        let is_array = |v: &handles::Value| v.kind() == ValueKind::LLVMConstantArrayValueKind;
        for entry in table.filter(is_array).iter().flat_map(|v| v.operands()) {
            if entry.kind() != ValueKind::LLVMConstantStructValueKind {
                continue;
            }
            let mut fields = entry.operands();
            let (Some(priority), Some(function)) = (fields.next(), fields.next()) else {
                continue;
            };
            if !function.is_zero() {
                found.push((priority.unsigned().unwrap_or(0) as i32, function));
            }
        }
        found.sort_by_key(|&(priority, _)| priority);
        let xtor = |(priority, function): (i32, _)| Xtor {
            priority: priority.max(0) as u32,
            func: self.constant(function),
        };
        found.into_iter().map(xtor).collect()
    }
}

/// The priority of constructors and destructors that have none.
const DEFAULT_PRIORITY: i32 = 65535;

/// Returns the priority of constructors in a section. The linker sorts `.init_array.N` by number and
/// `.ctors.N` the other way, and the loader runs `.preinit_array` first (System V ABI, "Dynamic
/// Section").
fn constructor_priority(section: &str) -> Option<i32> {
    if section == ".preinit_array" {
        return Some(-1);
    }
    array_priority(section, ".init_array", ".ctors")
}

/// Returns the priority of destructors in a section.
fn destructor_priority(section: &str) -> Option<i32> {
    array_priority(section, ".fini_array", ".dtors")
}

fn array_priority(section: &str, array: &str, old: &str) -> Option<i32> {
    if section == array || section == old {
        return Some(DEFAULT_PRIORITY);
    }
    let number = |name: &str| -> Option<i32> {
        let rest = section.strip_prefix(name)?;
        rest.strip_prefix('.')?.parse().ok()
    };
    number(array).or_else(|| DEFAULT_PRIORITY.checked_sub(number(old)?))
}
