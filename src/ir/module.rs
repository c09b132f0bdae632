//! The module: its symbols and the tables that they share.
//!
//! Modules are immutable, so every thread and tier reads them without a lock. Addresses belong to
//! the image.

use super::constant::{Const, ConstId};
use super::debug::DebugInfo;
use super::function::{FuncId, Function, UnsafeMath};
use super::serialized::Lazy;
use super::types::{TypeId, TypeTable};
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock};

/// Reference to a global variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GlobalId(u32);
entity_impl!(GlobalId, "g");

/// Reference to an alias.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AliasId(u32);
entity_impl!(AliasId, "alias");

/// Reference to an ifunc.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IFuncId(u32);
entity_impl!(IFuncId, "ifunc");

/// Any symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum GlobalRef {
    /// A function, defined or declared.
    Func(FuncId),
    /// A variable, defined or declared.
    Var(GlobalId),
    /// An alias.
    Alias(AliasId),
    /// An indirect function, resolved at start.
    IFunc(IFuncId),
}

/// The role of a symbol in linking.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Linkage {
    /// Visible outside.
    External,
    /// Defined elsewhere too; this copy is for inlining only.
    AvailableExternally,
    /// `linkonce`, `linkonce_odr`.
    LinkOnce,
    /// `weak`, `weak_odr`.
    Weak,
    /// Concatenated arrays (`llvm.global_ctors`).
    Appending,
    /// Local.
    Internal,
    /// Local without a symbol.
    Private,
    /// Null if no module defines the symbol.
    ExternWeak,
    /// A tentative definition.
    Common,
}

/// A global variable.
#[derive(Debug, Serialize, Deserialize)]
pub struct Global {
    /// The symbol's name.
    pub name: Box<str>,
    /// The type of its value.
    pub ty: TypeId,
    /// The initial value; `None` for a declaration.
    pub init: Option<ConstId>,
    /// Alignment in bytes; 0 for the type's ABI alignment.
    pub align: u32,
    /// Linkage.
    pub linkage: Linkage,
    /// True if the variable is never written.
    pub constant: bool,
    /// True for one instance per thread.
    pub thread_local: bool,
    /// Section name, if any.
    pub section: Option<Box<str>>,
    /// The location of the declaration, if debug information has it.
    pub loc: Option<super::debug::LocId>,
}

/// An alias of a symbol or of a constant address.
#[derive(Debug, Serialize, Deserialize)]
pub struct Alias {
    /// The symbol's name.
    pub name: Box<str>,
    /// The symbol or constant address that the alias stands for.
    pub target: ConstId,
    /// Linkage.
    pub linkage: Linkage,
}

/// An indirect function: calling `resolver` at start returns its address.
#[derive(Debug, Serialize, Deserialize)]
pub struct IFunc {
    /// The symbol's name.
    pub name: Box<str>,
    /// The resolver.
    pub resolver: ConstId,
    /// The type of the function it resolves to.
    pub ty: TypeId,
    /// Linkage.
    pub linkage: Linkage,
}

/// An entry of `llvm.global_ctors` or `llvm.global_dtors`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Xtor {
    /// The priority: lower ones run earlier for constructors and later for destructors.
    pub priority: u32,
    /// The function, `void()`.
    pub func: ConstId,
}

/// One linked module.
#[derive(Default, Debug)]
pub struct Module {
    /// The name of the first file that the module was read from.
    pub name: String,
    /// The target triple.
    pub triple: String,
    /// The data layout.
    pub data_layout: String,
    /// Types.
    pub types: TypeTable,
    /// Constants.
    pub consts: PrimaryMap<ConstId, Const>,
    /// The type of each constant.
    pub const_types: SecondaryMap<ConstId, Option<TypeId>>,
    /// Global variables.
    pub globals: PrimaryMap<GlobalId, Global>,
    /// Functions, intrinsics and declarations included.
    pub functions: PrimaryMap<FuncId, Function>,
    /// Aliases.
    pub aliases: PrimaryMap<AliasId, Alias>,
    /// Indirect functions.
    pub ifuncs: PrimaryMap<IFuncId, IFunc>,
    /// Every named symbol.
    pub symbols: HashMap<Box<str>, GlobalRef>,
    /// Constructors, in execution order.
    pub ctors: Vec<Xtor>,
    /// Destructors, in execution order.
    pub dtors: Vec<Xtor>,
    /// Module-level inline assembly.
    pub module_asm: String,
    /// The module-level assembly as an object file; empty if there is none.
    pub assembly: Vec<u8>,
    /// Source locations.
    pub debug: Lazy<DebugInfo>,
    /// The symbols that the module uses, if it was saved after a link without errors.
    pub linked_before: Option<Box<[GlobalRef]>>,
    /// True if `a * b + c` rounds once where the source allows it and it is profitable; the bodies
    /// then call `llvm.fma` already.
    pub contracted: bool,
    /// True if the program has code that switches stacks, so that a function may return on another
    /// thread.
    pub switches_stacks: bool,
    /// The files that the module was read from, name and contents, for the compiler.
    pub files: Arc<[(String, Vec<u8>)]>,
    /// The program as one piece of bitcode with line tables as its only debug information, once
    /// that is made.
    pub line_tables: LineTables,
    /// The program as its reader has left it open.
    pub opened: Opened,
}

/// Bitcode that may still be made while the program runs; `None` if it cannot be made.
pub type LineTables = Arc<OnceLock<Option<Box<[u8]>>>>;

/// Programs that a reader has left open for the compiler, which knows their type.
pub type Opened = Arc<Mutex<Vec<Box<dyn Any + Send>>>>;

impl Module {
    /// Returns true if a native link of the program would make it flush denormals to zero
    /// (`crtfastmath.o`): its main function and its operations show `-ffast-math`, which the link
    /// is assumed to use too.
    pub fn flushes_denormals(&self) -> bool {
        let shows = |name| match self.symbol(name) {
            Some(GlobalRef::Func(f)) => self.functions[f].attrs.unsafe_math,
            _ => UnsafeMath::No,
        };
        // flang's main program is a separate function.
        shows("main").max(shows("_QQmain")) != UnsafeMath::No
            && self
                .functions
                .values()
                .any(|f| f.attrs.unsafe_math == UnsafeMath::Certain)
    }

    /// Returns the symbol with a name.
    pub fn symbol(&self, name: &str) -> Option<GlobalRef> {
        self.symbols.get(name).copied()
    }

    /// Returns the type of a constant.
    ///
    /// # Panics
    /// If the constant is not of this module.
    pub fn const_type(&self, id: ConstId) -> TypeId {
        self.const_types[id].expect("the reader gives every constant a type")
    }
}
