//! Visitors: the operands of an instruction, and the symbols that a module really uses.
//!
//! Guarantees no order beyond program order of instructions.

use super::constant::{Const, ConstExpr, ConstId};
use super::debug::LocId;
use super::function::{BlockId, FuncId};
use super::inst::{Call, Callee, Clause, Op, Operand};
use super::module::{GlobalRef, Module};
use hashbrown::{HashMap, HashSet};

impl Op {
    /// Calls `f` with every operand; constants of landing-pad clauses count as operands.
    pub fn for_each_operand(&self, f: &mut impl FnMut(Operand)) {
        match self {
            Op::Binary { a, b, .. } | Op::ICmp { a, b, .. } | Op::FCmp { a, b, .. } => {
                f(*a);
                f(*b);
            }
            Op::FNeg { a } | Op::Cast { a, .. } | Op::Freeze { a } => f(*a),
            Op::Select { cond, a, b } => [cond, a, b].into_iter().for_each(|&x| f(x)),
            Op::Phi { incoming } => incoming.iter().for_each(|&(_, x)| f(x)),
            Op::Alloca { count, .. } => f(*count),
            Op::Load { ptr, .. } => f(*ptr),
            Op::Store { value, ptr, .. } | Op::AtomicRmw { value, ptr, .. } => {
                f(*value);
                f(*ptr);
            }
            Op::Gep { base, indices, .. } => {
                f(*base);
                indices.iter().for_each(|&x| f(x));
            }
            Op::ExtractElement { vector, index } => {
                f(*vector);
                f(*index);
            }
            Op::InsertElement {
                vector,
                elem,
                index,
            } => {
                [vector, elem, index].into_iter().for_each(|&x| f(x));
            }
            Op::ShuffleVector { a, b, .. } => {
                f(*a);
                f(*b);
            }
            Op::ExtractValue { agg, .. } => f(*agg),
            Op::InsertValue { agg, elem, .. } => {
                f(*agg);
                f(*elem);
            }
            Op::Call(call) | Op::Invoke { call, .. } | Op::CallBr { call, .. } => {
                if let Callee::Pointer(p) = &call.callee {
                    f(*p);
                }
                call.args.iter().for_each(|&a| f(a));
            }
            Op::LandingPad { clauses, .. } => {
                for clause in clauses {
                    let (Clause::Catch(c) | Clause::Filter(c)) = clause;
                    f(Operand::constant(*c));
                }
            }
            Op::Resume { value } => f(*value),
            Op::Ret { value } => value.iter().for_each(|&x| f(x)),
            Op::CondBr { cond, .. } | Op::Switch { cond, .. } => f(*cond),
            Op::IndirectBr { address, .. } => f(*address),
            Op::CmpXchg {
                ptr, expected, new, ..
            } => {
                [ptr, expected, new].into_iter().for_each(|&x| f(x));
            }
            Op::VaArg { list } => f(*list),
            Op::Br { .. } | Op::Unreachable | Op::Fence { .. } | Op::Unsupported(_) => {}
        }
    }

    /// Calls `f` with every successor block.
    pub fn for_each_successor(&self, f: &mut impl FnMut(BlockId)) {
        match self {
            Op::Br { target } => f(*target),
            Op::CondBr {
                then, otherwise, ..
            } => {
                f(*then);
                f(*otherwise);
            }
            Op::Switch { default, cases, .. } => {
                f(*default);
                cases.iter().for_each(|c| f(c.1));
            }
            Op::IndirectBr { targets, .. } => targets.iter().for_each(|&t| f(t)),
            Op::Invoke { normal, unwind, .. } => {
                f(*normal);
                f(*unwind);
            }
            Op::CallBr {
                fallthrough,
                indirect,
                ..
            } => {
                f(*fallthrough);
                indirect.iter().for_each(|&t| f(t));
            }
            _ => {}
        }
    }

    /// Returns the call of a call-like instruction.
    pub fn as_call(&self) -> Option<&Call> {
        match self {
            Op::Call(c) => Some(c),
            Op::Invoke { call, .. } | Op::CallBr { call, .. } => Some(call),
            _ => None,
        }
    }
}

/// The first use of a symbol or constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The using function; `None` for a use in a variable's initial value or the like.
    pub function: Option<FuncId>,
    /// The location of the use, if debug information has it.
    pub loc: Option<LocId>,
}

impl Use {
    /// Formats the location, such as `file.c:12`, if it is known.
    pub fn place(&self, module: &Module) -> Option<String> {
        self.loc.map(|l| module.debug.describe(l))
    }

    /// Returns the using function's name, if there is one.
    pub fn function_name(&self, module: &Module) -> Option<String> {
        self.function.map(|f| module.functions[f].name.to_string())
    }
}

/// The symbols and constants that a module uses, each with its first use in program order.
#[derive(Default, Debug)]
pub struct Uses {
    /// The symbols.
    pub symbols: HashMap<GlobalRef, Use>,
    /// The used constants that no layer supports.
    pub unsupported: Vec<(ConstId, Use)>,
    seen: HashSet<ConstId>,
}

impl Uses {
    /// Visits the whole module.
    pub fn of(module: &Module) -> Uses {
        let mut uses = Uses::default();
        for (id, function) in &module.functions {
            let Some(body) = &function.body else { continue };
            let head = Use {
                function: Some(id),
                loc: body.first_loc(),
            };
            if let Some(p) = function.personality {
                uses.constant(module, p, head);
            }
            for inst in &body.insts {
                let at = Use {
                    function: Some(id),
                    loc: inst.loc,
                };
                if let Some(Callee::Symbol(s)) = inst.op.as_call().map(|c| &c.callee) {
                    uses.symbols.entry(*s).or_insert(at);
                }
                inst.op.for_each_operand(&mut |operand| {
                    if let Err(c) = operand.unpack() {
                        uses.constant(module, c, at);
                    }
                });
            }
        }
        for global in module.globals.values() {
            if let Some(init) = global.init {
                uses.constant(
                    module,
                    init,
                    Use {
                        function: None,
                        loc: global.loc,
                    },
                );
            }
        }
        let nowhere = Use {
            function: None,
            loc: None,
        };
        for c in module.aliases.values().map(|a| a.target) {
            uses.constant(module, c, nowhere);
        }
        for c in module.ifuncs.values().map(|i| i.resolver) {
            uses.constant(module, c, nowhere);
        }
        for x in module.ctors.iter().chain(&module.dtors) {
            uses.constant(module, x.func, nowhere);
        }
        uses
    }

    fn constant(&mut self, module: &Module, id: ConstId, at: Use) {
        if !self.seen.insert(id) {
            return;
        }
        match &module.consts[id] {
            Const::Global(symbol) => {
                self.symbols.entry(*symbol).or_insert(at);
            }
            Const::Aggregate(items) => items.iter().for_each(|&c| self.constant(module, c, at)),
            Const::Expr(ConstExpr::Gep { base, indices, .. }) => {
                self.constant(module, *base, at);
                indices.iter().for_each(|&c| self.constant(module, c, at));
            }
            Const::Expr(ConstExpr::Cast(_, c)) => self.constant(module, *c, at),
            Const::Expr(ConstExpr::Binary(_, a, b)) => {
                self.constant(module, *a, at);
                self.constant(module, *b, at);
            }
            Const::Unsupported(_) => self.unsupported.push((id, at)),
            _ => {}
        }
    }
}
