//! Prepares a signal handler when the program installs it: lowers the handler and the functions
//! that it may reach, nearest first.
//!
//! A function that a handler calls for the first time is lowered in the handler, which works at any
//! point ([`ompvm_memory::signal_safe`]) unless LLVM must compile a rare instruction of it. So what
//! can be found is lowered before: direct callees, functions whose address the code takes, and
//! those in the initial values of variables that it names, such as virtual tables and tables of
//! function pointers. Functions behind pointers that other code stores are not found.
//!
//! [`MAX_INSTRUCTIONS`] bounds the time that this takes.

use super::entry;
use hashbrown::HashSet;
use ompvm_ir::{Callee, Const, ConstExpr, ConstId, GlobalId, GlobalRef};
use ompvm_memory::func::{self, FuncRef};
use ompvm_memory::image::Image;
use ompvm_memory::signal_safe::SignalSafe;
use std::collections::VecDeque;
use std::ptr;

/// The most IR instructions to lower for one handler, some milliseconds' worth.
const MAX_INSTRUCTIONS: usize = 10_000;
/// The most constants to visit for one handler.
const MAX_CONSTANTS: usize = 100_000;

/// Lowers a handler and the functions that it may reach.
pub(super) fn prepare(handler: &'static FuncRef) {
    // A handler may install another one.
    let _section = SignalSafe::enter();
    let mut closure = Closure::default();
    closure.add(handler);
    let mut left = MAX_INSTRUCTIONS;
    while let Some(func) = closure.queue.pop_front() {
        entry::lower_function(func);
        // The first entry makes the plan. A signature without one is reported there.
        let _ = func.plan().is_ok();
        let body = func.image().module.functions[func.id].body.as_ref();
        let Some(rest) = left.checked_sub(body.map_or(0, |b| b.insts.len())) else {
            return;
        };
        left = rest;
        closure.visit(func);
    }
}

/// The functions that a handler may reach.
#[derive(Default)]
struct Closure {
    /// Functions that are not lowered yet.
    queue: VecDeque<&'static FuncRef>,
    functions: HashSet<usize>,
    /// Constants by their image.
    constants: HashSet<(usize, ConstId)>,
    /// Variables by their image.
    variables: HashSet<(usize, GlobalId)>,
}

impl Closure {
    fn add(&mut self, func: &'static FuncRef) {
        if self.functions.insert(ptr::from_ref(func) as usize) {
            self.queue.push_back(func);
        }
    }

    /// Adds the functions that the body of `func` names.
    fn visit(&mut self, func: &'static FuncRef) {
        let image = func.image();
        let Some(body) = &image.module.functions[func.id].body else {
            return;
        };
        for inst in &body.insts {
            if let Some(Callee::Symbol(symbol)) = inst.op.as_call().map(|c| &c.callee) {
                self.symbol(image, *symbol);
            }
            inst.op.for_each_operand(&mut |operand| {
                if let Err(constant) = operand.unpack() {
                    self.constant(image, constant);
                }
            });
        }
    }

    fn symbol(&mut self, image: &Image, symbol: GlobalRef) {
        match image.resolve_alias(symbol) {
            // The function may be another image's.
            GlobalRef::Func(id) => {
                if let Some(func) = func::from_address(image.func_address(id)) {
                    self.add(func);
                }
            }
            GlobalRef::Var(id) => {
                if self.variables.insert((ptr::from_ref(image) as usize, id))
                    && let Some(init) = image.module.globals[id].init
                {
                    self.constant(image, init);
                }
            }
            GlobalRef::Alias(_) | GlobalRef::IFunc(_) => {}
        }
    }

    /// Adds the functions that a constant names. Does not recurse, since initial values may be
    /// nested deeply.
    fn constant(&mut self, image: &Image, constant: ConstId) {
        let mut todo = vec![constant];
        while let Some(id) = todo.pop() {
            if self.constants.len() >= MAX_CONSTANTS
                || !self.constants.insert((ptr::from_ref(image) as usize, id))
            {
                continue;
            }
            match &image.module.consts[id] {
                Const::Global(GlobalRef::Var(variable)) => {
                    let key = (ptr::from_ref(image) as usize, *variable);
                    if self.variables.insert(key) {
                        todo.extend(image.module.globals[*variable].init);
                    }
                }
                Const::Global(symbol) => self.symbol(image, *symbol),
                // In order: the first function of a table comes first.
                Const::Aggregate(items) => todo.extend(items.iter().rev()),
                Const::Expr(ConstExpr::Gep { base, .. }) => todo.push(*base),
                Const::Expr(ConstExpr::Cast(_, c)) => todo.push(*c),
                Const::Expr(ConstExpr::Binary(_, a, b)) => todo.extend([*a, *b]),
                _ => {}
            }
        }
    }
}
