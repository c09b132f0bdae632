//! Functions, blocks and attributes.
//!
//! Why bodies may be decoded later: a program that is compiled already never looks at them. What
//! not: instructions (`inst`).

use super::constant::ConstId;
use super::debug::{LocId, ScopeId};
use super::inst::{Inst, Operand, Value};
use super::module::{Linkage, Module};
use super::saved::Lazy;
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
    /// Passed by value in memory: the type copied.
    pub byval: Option<TypeId>,
    /// The hidden pointer to the result.
    pub sret: Option<TypeId>,
    /// Alignment of the pointee (or of the byval copy), 0 when not given.
    pub align: u32,
    /// Sign-extended by the caller.
    pub signext: bool,
    /// Zero-extended by the caller.
    pub zeroext: bool,
    /// The static chain (`nest`).
    pub nest: bool,
    /// Does not alias.
    pub noalias: bool,
}

/// How far a function shows that it was compiled with `-ffast-math` or `-funsafe-math-optimizations`, whose links
/// have the program flush denormals.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub enum UnsafeMath {
    /// Not at all.
    #[default]
    No,
    /// It takes no heed of signed zeros, which those options imply, and has no operation that would tell.
    Possible,
    /// It computes with reciprocals and in any order.
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
    /// Signs of `-ffast-math`.
    pub unsafe_math: UnsafeMath,
    /// True if it checks that no array was overrun.
    pub protect: Protect,
}

/// When a function checks at its end that no array of its frame was overrun (LLVM's attributes `ssp`, `sspstrong` and
/// `sspreq`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub enum Protect {
    /// Never.
    #[default]
    Never,
    /// With arrays of characters, or memory of variable size.
    Characters,
    /// With any array, or a variable whose address is passed on.
    Strong,
    /// Always.
    Always,
}

/// A function: declared (no body), defined, or an intrinsic (its name starts with `llvm.`).
#[derive(Debug, Serialize, Deserialize)]
pub struct Function {
    /// The symbol's name.
    pub name: Box<str>,
    /// Its function type.
    pub ty: TypeId,
    /// One per fixed parameter.
    pub params: Box<[ParamAttrs]>,
    /// The return value's attributes.
    pub ret_attrs: ParamAttrs,
    /// Attributes of the function.
    pub attrs: FunctionAttrs,
    /// Rare features of the processor that its compiler could use, each as `+NAME`, with commas between;
    /// mostly empty.
    pub features: Box<str>,
    /// LLVM's calling convention number (0 is C).
    pub calling_convention: u32,
    /// Linkage.
    pub linkage: Linkage,
    /// The personality function (exceptions).
    pub personality: Option<ConstId>,
    /// Its place in the source.
    pub scope: Option<ScopeId>,
    /// The body; `None` for a declaration.
    #[serde(skip)]
    pub body: Option<Lazy<Body>>,
}

impl Function {
    /// Return type and parameter types.
    ///
    /// # Panics
    /// When `ty` is not a function type (the reader guarantees it is).
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

    /// The type of an operand inside this function.
    pub fn operand_type(&self, module: &Module, operand: Operand) -> TypeId {
        match operand.unpack() {
            Ok(value) => self.value_type(module, value),
            Err(constant) => module.const_type(constant),
        }
    }

    /// The type of a parameter or an instruction's result.
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
    /// Every instruction, block after block.
    pub insts: Vec<Inst>,
    /// The blocks: each is a range of `insts` ending with its terminator.
    pub blocks: Vec<Block>,
}

/// One block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Index of its first instruction.
    pub start: u32,
    /// One past its terminator.
    pub end: u32,
}

impl Body {
    /// The instructions of a block.
    pub fn block(&self, id: BlockId) -> &[Inst] {
        let b = self.blocks[id.as_u32() as usize];
        &self.insts[b.start as usize..b.end as usize]
    }

    /// The first location in the function, for messages.
    pub fn first_loc(&self) -> Option<LocId> {
        self.insts.iter().find_map(|i| i.loc)
    }
}
