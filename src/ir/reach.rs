//! Reachability: the symbols that a program can come to from given ones.
//!
//! A reference from a function's body, a variable's initial value, an alias or an indirect function
//! counts as a use, whether it runs or not. Linkers decide by the same rule what
//! `--gc-sections` removes.

use super::constant::{Const, ConstExpr, ConstId};
use super::inst::Callee;
use super::module::{GlobalRef, Module};
use hashbrown::HashSet;

/// Returns the symbols that can be reached from `roots`, with the roots.
pub fn reachable(
    module: &Module,
    roots: impl IntoIterator<Item = GlobalRef>,
) -> HashSet<GlobalRef> {
    let mut walk = Walk {
        module,
        found: HashSet::new(),
        seen: HashSet::new(),
        work: Vec::new(),
    };
    for root in roots {
        walk.symbol(root);
    }
    for x in module.ctors.iter().chain(&module.dtors) {
        walk.constant(x.func);
    }
    while let Some(symbol) = walk.work.pop() {
        walk.visit(symbol);
    }
    walk.found
}

struct Walk<'a> {
    module: &'a Module,
    found: HashSet<GlobalRef>,
    seen: HashSet<ConstId>,
    /// Symbols that were found and not visited.
    work: Vec<GlobalRef>,
}

impl Walk<'_> {
    fn symbol(&mut self, symbol: GlobalRef) {
        if self.found.insert(symbol) {
            self.work.push(symbol);
        }
    }

    /// Finds everything that a symbol's definition refers to.
    fn visit(&mut self, symbol: GlobalRef) {
        let module = self.module;
        let id = match symbol {
            GlobalRef::Func(f) => {
                self.function(f);
                return;
            }
            GlobalRef::Var(g) => module.globals[g].init,
            GlobalRef::Alias(a) => Some(module.aliases[a].target),
            GlobalRef::IFunc(i) => Some(module.ifuncs[i].resolver),
        };
        if let Some(id) = id {
            self.constant(id);
        }
    }

    fn function(&mut self, id: super::FuncId) {
        let function = &self.module.functions[id];
        let Some(body) = &function.body else { return };
        if let Some(p) = function.personality {
            self.constant(p);
        }
        for inst in &body.insts {
            if let Some(Callee::Symbol(s)) = inst.op.as_call().map(|c| &c.callee) {
                self.symbol(*s);
            }
            inst.op.for_each_operand(&mut |operand| {
                if let Err(c) = operand.unpack() {
                    self.constant(c);
                }
            });
        }
    }

    fn constant(&mut self, id: ConstId) {
        if !self.seen.insert(id) {
            return;
        }
        match &self.module.consts[id] {
            Const::Global(symbol) => self.symbol(*symbol),
            Const::BlockAddress(f, _) => self.symbol(GlobalRef::Func(*f)),
            Const::Aggregate(items) => items.iter().for_each(|&c| self.constant(c)),
            Const::Expr(ConstExpr::Gep { base, indices, .. }) => {
                self.constant(*base);
                indices.iter().for_each(|&c| self.constant(c));
            }
            Const::Expr(ConstExpr::Cast(_, c)) => self.constant(*c),
            Const::Expr(ConstExpr::Binary(_, a, b)) => {
                self.constant(*a);
                self.constant(*b);
            }
            _ => {}
        }
    }
}
