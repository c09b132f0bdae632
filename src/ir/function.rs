//! Functions, blocks and attributes.
//!
//! Bodies are decoded lazily: a program that is already compiled never needs them. Instructions are
//! in `inst`.

use super::constant::ConstId;
use super::debug::{LocId, ScopeId};
use super::inst::{Inst, Operand, Value};
use super::module::{Linkage, Module};
use super::serialized::Lazy;
use super::types::{Type, TypeId};
use cranelift_entity::{EntityRef, entity_impl};
use serde::{Deserialize, Serialize};

/// Reference to a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FuncId(u32);
entity_impl!(FuncId, "fn");

/// Reference to a block of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockId(u32);
entity_impl!(BlockId, "bb");

/// The attributes of one parameter, argument or return value that decide how it is passed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ParamAttrs {
    /// The type that is copied if the argument is passed by value in memory.
    pub byval: Option<TypeId>,
    /// The type of the result behind a hidden pointer.
    pub sret: Option<TypeId>,
    /// The type in memory of an operand whose address is passed to inline assembly
    /// (`elementtype`).
    pub element: Option<TypeId>,
    /// Alignment of the pointee (or of the byval copy); 0 if not given.
    pub align: u32,
    /// Sign-extended by the caller.
    pub signext: bool,
    /// Zero-extended by the caller.
    pub zeroext: bool,
    /// The static chain (`nest`).
    pub nest: bool,
    /// The pointer does not alias.
    pub noalias: bool,
}

/// The evidence in a function that it was compiled with `-ffast-math` or
/// `-funsafe-math-optimizations`. Linking with these options makes the program flush denormals.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub enum UnsafeMath {
    /// No evidence.
    #[default]
    No,
    /// The function ignores signed zeros, as those options imply, and has no operation that would
    /// tell more.
    Possible,
    /// The function uses reciprocals and reassociates.
    Certain,
}

/// Attributes of a function that change what a call does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FunctionAttrs {
    /// Never returns.
    pub noreturn: bool,
    /// Never unwinds.
    pub nounwind: bool,
    /// May return twice (`setjmp`).
    pub returns_twice: bool,
    /// No prologue or epilogue.
    pub naked: bool,
    /// Must not be inlined.
    pub noinline: bool,
    /// Should be inlined.
    pub alwaysinline: bool,
    /// Evidence of `-ffast-math`.
    pub unsafe_math: UnsafeMath,
    /// The stack protector's level.
    pub protect: Protect,
}

/// The condition on which a function checks at its end that no array of its frame was overrun
/// (LLVM's attributes `ssp`, `sspstrong` and `sspreq`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub enum Protect {
    /// Never.
    #[default]
    Never,
    /// If the frame has arrays of characters, or memory of variable size.
    Characters,
    /// If the frame has any array, or a variable whose address is passed on.
    Strong,
    /// Always.
    Always,
}

/// A function: declared (no body), defined, or an intrinsic (its name starts with `llvm.`).
#[derive(Debug, Serialize, Deserialize)]
pub struct Function {
    /// The symbol's name.
    pub name: Box<str>,
    /// The function type.
    pub ty: TypeId,
    /// The attributes of each fixed parameter.
    pub params: Box<[ParamAttrs]>,
    /// The return value's attributes.
    pub ret_attrs: ParamAttrs,
    /// Attributes of the function.
    pub attrs: FunctionAttrs,
    /// Uncommon processor features that the function may use, each as `+NAME`, separated by commas;
    /// usually empty.
    pub features: Box<str>,
    /// LLVM's calling convention number (0 is C).
    pub calling_convention: u32,
    /// Linkage.
    pub linkage: Linkage,
    /// The section to place the function in.
    pub section: Option<Box<str>>,
    /// The personality function (exceptions).
    pub personality: Option<ConstId>,
    /// The function's scope in the source.
    pub scope: Option<ScopeId>,
    /// The body; `None` for a declaration.
    #[serde(skip)]
    pub body: Option<Lazy<Body>>,
}

impl Function {
    /// Returns the return type, the parameter types, and true if variadic.
    ///
    /// # Panics
    /// If `ty` is not a function type; the reader guarantees that it is one.
    pub fn signature<'m>(&self, module: &'m Module) -> (TypeId, &'m [TypeId], bool) {
        match &module.types[self.ty] {
            Type::Func {
                ret,
                params,
                variadic,
            } => (*ret, params, *variadic),
            other => unreachable!("a function's type is a function type, not {other:?}"),
        }
    }

    /// Returns the type of an operand inside this function.
    pub fn operand_type(&self, module: &Module, operand: Operand) -> TypeId {
        match operand.unpack() {
            Ok(value) => self.value_type(module, value),
            Err(constant) => module.const_type(constant),
        }
    }

    /// Returns the type of a parameter or of an instruction's result.
    pub fn value_type(&self, module: &Module, value: Value) -> TypeId {
        let (_, params, _) = self.signature(module);
        let index = value.index();
        if index < params.len() {
            params[index]
        } else {
            let body = self.body.as_ref().expect("a value of a defined function");
            body.insts[index - params.len()].ty
        }
    }
}

/// The code of a function. Block 0 is the entry.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Body {
    /// The blocks: each is a range of `insts` that ends with its terminator. First, so that
    /// [`Lazy::size`] finds them.
    pub blocks: Vec<Block>,
    /// All instructions, block after block.
    pub insts: Vec<Inst>,
}

/// The size of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodySize {
    /// Number of instructions.
    pub insts: usize,
    /// Number of blocks.
    pub blocks: usize,
}

/// One block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Index of the first instruction.
    pub start: u32,
    /// One past the index of the terminator.
    pub end: u32,
}

impl Body {
    /// Returns the instructions of a block.
    pub fn block(&self, id: BlockId) -> &[Inst] {
        let b = self.blocks[id.as_u32() as usize];
        &self.insts[b.start as usize..b.end as usize]
    }

    /// Returns the first location in the function, for messages.
    pub fn first_loc(&self) -> Option<LocId> {
        self.insts.iter().find_map(|i| i.loc)
    }
}
