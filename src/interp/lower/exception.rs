//! Landing pads: the table entries of invokes, and the code that enters a pad's block.
//!
//! A table lets code that does not throw run at no cost. [`crate::unwind`] decides which
//! clause takes an exception.

use super::{Label, Lowering};
use crate::frame::{LandingPad, LandingPadClause};
use cranelift_entity::EntityRef;
use ompvm_ir::{Clause, Const, ConstId, GlobalRef, Op};
use ompvm_llvm::native::osr_landing;

/// A landing whose code is still to be emitted.
pub(super) struct Landing {
    label: Label,
    from: usize,
    to: usize,
    pad: usize,
}

impl Lowering<'_> {
    /// Records that exceptions of the call at `call`, which ends at `after`, go to block `to`.
    pub(super) fn landing(&mut self, call: usize, after: u32, to: usize) {
        let block = self.body.blocks[to];
        let mut pad = LandingPad {
            call: call as u32,
            after,
            land: 0,
            block: to as u32,
            dst: self.scratch,
            cleanup: true,
            clauses: Box::new([]),
        };
        for i in block.start as usize..block.end as usize {
            let Op::LandingPad { cleanup, clauses } = &self.body.insts[i].op else {
                continue;
            };
            let v = self.nparams + i;
            if self.slot[v] != super::NO_SLOT {
                pad.dst = self.slot[v];
            }
            pad.cleanup = *cleanup;
            pad.clauses = clauses.iter().map(|c| self.clause(c)).collect();
            break;
        }
        let label = self.new_label();
        let index = self.landing_pads.len();
        self.landing_pads.push(pad);
        let from = self.current;
        self.landings.push(Landing {
            label,
            from,
            to,
            pad: index,
        });
    }

    fn clause(&self, clause: &Clause) -> LandingPadClause {
        match clause {
            Clause::Catch(c) => LandingPadClause::Catch {
                info: self.image.eval(*c) as usize,
                number: self.type_number(*c),
            },
            Clause::Filter(c) => LandingPadClause::Filter(self.filter(*c)),
        }
    }

    /// Returns the number of a type info in selectors and `llvm.eh.typeid.for`.
    pub(super) fn type_number(&self, info: ConstId) -> i32 {
        let mut at = info;
        loop {
            match &self.m.consts[at] {
                Const::Null => return osr_landing::type_selector(None),
                Const::Global(GlobalRef::Var(id)) => {
                    return osr_landing::type_selector(Some(id.index()));
                }
                Const::Global(GlobalRef::Alias(id)) => at = self.m.aliases[*id].target,
                // No compiler emits such a constant; it gets a number of its own.
                _ => return osr_landing::type_selector(Some(self.m.globals.len() + at.index())),
            }
        }
    }

    fn filter(&self, c: ConstId) -> Box<[usize]> {
        match &self.m.consts[c] {
            Const::Aggregate(items) => items.iter().map(|&i| self.image.eval(i) as usize).collect(),
            _ => Box::new([]),
        }
    }

    /// Emits the landings after the blocks.
    pub(super) fn finish_landings(&mut self) {
        for landing in std::mem::take(&mut self.landings) {
            let at = self.here();
            self.bind(landing.label);
            self.landing_pads[landing.pad].land = at;
            self.current = landing.from;
            self.edge(landing.from, landing.to);
            self.release_temps();
        }
    }
}
