//! The IR: an immutable form of an LLVM module with types, constants, functions, instructions and
//! debug locations.
//!
//! It represents one linked module, complete enough that no later layer needs LLVM to interpret it.
//! LLVM's in-memory form does not serve: several threads cannot read it at once, walking it through
//! the C interface is expensive, and it must not leak above `llvm`.
//!
//! Transforms nothing and resolves nothing to an address; `llvm::read` builds the module, `interp`
//! lowers it.
//!
//! Numbering: a function's values are its parameters (`0..nparams`) followed by one value per
//! instruction in block order (void instructions occupy a number too), so a [`Value`] is an
//! index into [`Body::insts`] after subtracting the number of parameters.

pub mod constant;
pub mod convention;
pub mod debug;
pub mod function;
pub mod inline_asm;
pub mod inst;
pub mod jump;
pub mod layout;
pub mod module;
pub mod names;
mod print;
mod print_inst;
pub mod reach;
pub mod serialized;
pub mod setjmp_asm;
pub mod types;
pub mod visit;

pub use constant::{Const, ConstExpr, ConstId};
pub use debug::{DebugInfo, FileId, Loc, LocId, Scope, ScopeId};
pub use function::{
    Block, BlockId, Body, BodySize, FuncId, Function, FunctionAttrs, ParamAttrs, Protect,
    UnsafeMath,
};
pub use inst::{
    AsmCall, AtomicScope, BinOp, Call, Callee, CastOp, Clause, FastMath, FloatPred, Inst, IntFlags,
    IntPred, Op, Operand, Ordering, RmwOp, TailKind, Value,
};
pub use jump::{JUMP_BUFFER, JUMP_BUFFER_WORD};
pub use module::{
    Alias, AliasId, Global, GlobalId, GlobalRef, IFunc, IFuncId, LineTables, Linkage, Module,
    Opened, Xtor,
};
pub use serialized::Lazy;
pub use types::{FloatKind, Type, TypeId, TypeTable};
