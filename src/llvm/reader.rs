//! Copies a module's symbols: functions, variables, aliases, ifuncs and constructors.
//!
//! Every symbol gets its number first, so that constants and code may refer to any of them; then
//! each is filled in. All lookups go by address in hash tables, so the time is linear in the size
//! of the module.

use super::attributes::Kinds;
use super::attributes::rare_features;
use super::parse::Parsed;
use super::raw::{copy_cstr, copy_text, llvm};
use super::tables::Tables;
use hashbrown::{HashMap, HashSet};
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::LLVMValueKind;
use inkwell::llvm_sys::prelude::*;
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
    /// Folds constants; never positioned.
    pub(super) builder: LLVMBuilderRef,
    /// The type `i64`.
    pub(super) word_type: LLVMTypeRef,
    pub(super) kinds: Kinds,
    pub(super) types: HashMap<LLVMTypeRef, TypeId>,
    pub(super) consts: HashMap<LLVMValueRef, ConstId>,
    pub(super) symbols: HashMap<LLVMValueRef, GlobalRef>,
    /// Functions with blocks whose address is taken, and all blocks of these functions.
    pub(super) addressed: HashSet<LLVMValueRef>,
    pub(super) addressed_blocks: HashMap<LLVMBasicBlockRef, BlockId>,
    /// Parameters, instructions and blocks of the function being read.
    pub(super) values: HashMap<LLVMValueRef, Value>,
    pub(super) blocks: HashMap<LLVMBasicBlockRef, BlockId>,
    /// Scratch buffer for attribute lists.
    pub(super) attributes: Vec<LLVMAttributeRef>,
    pub(super) locs: HashMap<LLVMMetadataRef, LocId>,
    pub(super) last_loc: Option<(LLVMMetadataRef, LocId)>,
    pub(super) scopes: HashMap<LLVMMetadataRef, (FileId, ScopeId)>,
    pub(super) subprograms: HashMap<LLVMMetadataRef, ScopeId>,
    pub(super) files: HashMap<LLVMMetadataRef, FileId>,
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        llvm!(core::LLVMDisposeBuilder(self.builder));
    }
}

/// Iterates over one of LLVM's linked lists.
pub(super) fn list<T>(
    first: *mut T,
    next: impl Fn(*mut T) -> *mut T,
) -> impl Iterator<Item = *mut T> {
    let some = |v: *mut T| (!v.is_null()).then_some(v);
    std::iter::successors(some(first), move |&v| some(next(v)))
}

pub(super) fn name_of(value: LLVMValueRef) -> Box<str> {
    let mut len = 0;
    let name = llvm!(core::LLVMGetValueName2(value, &mut len));
    copy_text(name, len)
}

fn linkage(value: LLVMValueRef) -> Linkage {
    match llvm!(core::LLVMGetLinkage(value)) {
        LLVMLinkage::LLVMExternalLinkage
        | LLVMLinkage::LLVMDLLImportLinkage
        | LLVMLinkage::LLVMDLLExportLinkage
        | LLVMLinkage::LLVMGhostLinkage => Linkage::External,
        LLVMLinkage::LLVMAvailableExternallyLinkage => Linkage::AvailableExternally,
        LLVMLinkage::LLVMLinkOnceAnyLinkage
        | LLVMLinkage::LLVMLinkOnceODRLinkage
        | LLVMLinkage::LLVMLinkOnceODRAutoHideLinkage => Linkage::LinkOnce,
        LLVMLinkage::LLVMWeakAnyLinkage | LLVMLinkage::LLVMWeakODRLinkage => Linkage::Weak,
        LLVMLinkage::LLVMAppendingLinkage => Linkage::Appending,
        LLVMLinkage::LLVMInternalLinkage => Linkage::Internal,
        LLVMLinkage::LLVMPrivateLinkage
        | LLVMLinkage::LLVMLinkerPrivateLinkage
        | LLVMLinkage::LLVMLinkerPrivateWeakLinkage => Linkage::Private,
        LLVMLinkage::LLVMExternalWeakLinkage => Linkage::ExternWeak,
        LLVMLinkage::LLVMCommonLinkage => Linkage::Common,
    }
}

/// Returns true for variables that only inform the linker; constructors are read separately.
pub(super) fn is_bookkeeping(name: &str, section: Option<&str>) -> bool {
    matches!(
        name,
        "llvm.used" | "llvm.compiler.used" | "llvm.global_ctors" | "llvm.global_dtors"
    ) || (name.starts_with("llvm.") && section == Some("llvm.metadata"))
}

pub(super) fn section_of(value: LLVMValueRef) -> Option<Box<str>> {
    let section = copy_cstr(llvm!(core::LLVMGetSection(value)));
    (!section.is_empty()).then_some(section)
}

impl<'p> Reader<'p> {
    /// Creates a reader of a parsed module that adds to the tables.
    pub(super) fn new(parsed: &'p Parsed, tables: &'p Mutex<Tables>) -> Self {
        Reader {
            parsed,
            out: Module::default(),
            tables,
            builder: llvm!(core::LLVMCreateBuilderInContext(parsed.context)),
            word_type: llvm!(core::LLVMInt64TypeInContext(parsed.context)),
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
    pub(super) fn number_all(&mut self) -> Vec<LLVMValueRef> {
        let module = self.parsed.module;
        let functions: Vec<_> = list(llvm!(core::LLVMGetFirstFunction(module)), |v| {
            llvm!(core::LLVMGetNextFunction(v))
        })
        .collect();
        for (i, &v) in (0..).zip(&functions) {
            self.number(v, GlobalRef::Func(FuncId::from_u32(i)));
        }
        for (i, v) in (0..).zip(self.globals()) {
            self.number(v, GlobalRef::Var(GlobalId::from_u32(i)));
        }
        for (i, v) in (0..).zip(self.aliases()) {
            self.number(v, GlobalRef::Alias(AliasId::from_u32(i)));
        }
        for (i, v) in (0..).zip(self.ifuncs()) {
            self.number(v, GlobalRef::IFunc(IFuncId::from_u32(i)));
        }
        functions
    }

    fn globals(&self) -> Vec<LLVMValueRef> {
        list(llvm!(core::LLVMGetFirstGlobal(self.parsed.module)), |v| {
            llvm!(core::LLVMGetNextGlobal(v))
        })
        .filter(|&v| !is_bookkeeping(&name_of(v), section_of(v).as_deref()))
        .collect()
    }

    fn aliases(&self) -> Vec<LLVMValueRef> {
        let first = llvm!(core::LLVMGetFirstGlobalAlias(self.parsed.module));
        list(first, |v| llvm!(core::LLVMGetNextGlobalAlias(v))).collect()
    }

    fn ifuncs(&self) -> Vec<LLVMValueRef> {
        let first = llvm!(core::LLVMGetFirstGlobalIFunc(self.parsed.module));
        list(first, |v| llvm!(core::LLVMGetNextGlobalIFunc(v))).collect()
    }

    /// Copies everything but functions and tables. All symbols must have numbers.
    pub(super) fn symbols(&mut self, name: &str) -> Module {
        let module = self.parsed.module;
        self.out.name = name.to_string();
        self.out.triple = copy_cstr(llvm!(core::LLVMGetTarget(module))).into();
        self.out.data_layout = copy_cstr(llvm!(core::LLVMGetDataLayoutStr(module))).into();
        let mut len = 0;
        let text = llvm!(core::LLVMGetModuleInlineAsm(module, &mut len));
        self.out.module_asm = copy_text(text, len).into();
        for v in self.globals() {
            let global = self.global(v);
            self.out.globals.push(global);
        }
        for v in self.aliases() {
            let target = self.constant(llvm!(core::LLVMAliasGetAliasee(v)));
            self.out.aliases.push(Alias {
                name: name_of(v),
                target,
                linkage: linkage(v),
            });
        }
        for v in self.ifuncs() {
            let resolver = self.constant(llvm!(core::LLVMGetGlobalIFuncResolver(v)));
            let ty = self.type_id(llvm!(core::LLVMGlobalGetValueType(v)));
            self.out.ifuncs.push(IFunc {
                name: name_of(v),
                resolver,
                ty,
                linkage: linkage(v),
            });
        }
        self.out.ctors = self.xtors(c"llvm.global_ctors");
        self.out.dtors = self.xtors(c"llvm.global_dtors");
        // Tables of destructors are walked backwards.
        self.out.dtors.reverse();
        std::mem::take(&mut self.out)
    }

    fn number(&mut self, value: LLVMValueRef, symbol: GlobalRef) {
        self.symbols.insert(value, symbol);
        let name = name_of(value);
        if !name.is_empty() {
            self.out.symbols.insert(name, symbol);
        }
    }

    fn global(&mut self, value: LLVMValueRef) -> Global {
        let init = llvm!(core::LLVMGetInitializer(value));
        Global {
            name: name_of(value),
            ty: self.type_id(llvm!(core::LLVMGlobalGetValueType(value))),
            init: (!init.is_null()).then(|| self.constant(init)),
            align: llvm!(core::LLVMGetAlignment(value)),
            linkage: linkage(value),
            constant: llvm!(core::LLVMIsGlobalConstant(value)) != 0,
            thread_local: llvm!(core::LLVMIsThreadLocal(value)) != 0,
            section: section_of(value),
            loc: self.global_location(value),
        }
    }

    /// Copies a function, and its body if it has one.
    pub(super) fn function(&mut self, value: LLVMValueRef) -> Function {
        let (params, ret_attrs) = self.signature_attrs(value);
        let has_personality = llvm!(core::LLVMHasPersonalityFn(value)) != 0;
        let subprogram = llvm!(debuginfo::LLVMGetSubprogram(value));
        let name = name_of(value);
        let scope = (!subprogram.is_null()).then(|| {
            let scope = self.subprogram(subprogram);
            self.tables.lock().name(scope, &name);
            scope
        });
        let declared = llvm!(core::LLVMIsDeclaration(value)) != 0;
        Function {
            name,
            ty: self.type_id(llvm!(core::LLVMGlobalGetValueType(value))),
            params,
            ret_attrs,
            attrs: self.function_attrs(value),
            features: rare_features(value),
            calling_convention: llvm!(core::LLVMGetFunctionCallConv(value)),
            linkage: linkage(value),
            personality: has_personality
                .then(|| self.constant(llvm!(core::LLVMGetPersonalityFn(value)))),
            scope,
            body: (!declared).then(|| self.body(value).into()),
        }
    }

    /// Returns the entries of a constructor table by ascending priority number, without entries
    /// that have no function.
    fn xtors(&mut self, name: &std::ffi::CStr) -> Vec<Xtor> {
        let module = self.parsed.module;
        let table = llvm!(core::LLVMGetNamedGlobal(module, name.as_ptr()));
        if table.is_null() {
            return Vec::new();
        }
        let init = llvm!(core::LLVMGetInitializer(table));
        if init.is_null()
            || llvm!(core::LLVMGetValueKind(init)) != LLVMValueKind::LLVMConstantArrayValueKind
        {
            return Vec::new();
        }
        let mut entries = Vec::new();
        for index in 0..llvm!(core::LLVMGetNumOperands(init)) as u32 {
            let entry = llvm!(core::LLVMGetOperand(init, index));
            if llvm!(core::LLVMGetValueKind(entry)) != LLVMValueKind::LLVMConstantStructValueKind {
                continue;
            }
            let priority = llvm!(core::LLVMGetOperand(entry, 0));
            let func = llvm!(core::LLVMGetOperand(entry, 1));
            if llvm!(core::LLVMIsNull(func)) != 0 {
                continue;
            }
            entries.push(Xtor {
                priority: llvm!(core::LLVMConstIntGetZExtValue(priority)) as u32,
                func: self.constant(func),
            });
        }
        entries.sort_by_key(|e| e.priority);
        entries
    }
}
