//! Switches: a table for dense keys, a binary search for sparse ones, comparisons for at most two
//! cases or for wide keys.
//!
//! A table costs memory proportional to its span, a search costs time, and a comparison only
//! itself. `edge` emits the moves of edges.

use super::control::{on_number, on_slot};
use super::{Label, Lowering};
use crate::isa::{self, Enc, op};
use ompvm_ir::Operand;
use std::mem::offset_of;

impl Lowering<'_> {
    pub(super) fn switch(
        &mut self,
        cond: Operand,
        default: usize,
        cases: &[(u128, ompvm_ir::BlockId)],
    ) {
        if self.int_bits(cond).is_none_or(|b| b > 64) {
            self.wide_switch(cond, default, cases);
            return;
        }
        let a = self.operand(cond);
        let default = self.target(default);
        let mut cases: Vec<(u64, Label)> = cases
            .iter()
            .map(|&(k, b)| (k as u64, self.target(b.as_u32() as usize)))
            .collect();
        cases.sort_by_key(|c| c.0);
        if cases.len() <= 2 && cases.iter().all(|c| i32::try_from(c.0).is_ok()) {
            for &(key, then) in &cases {
                let next = self.new_label();
                self.branch_two(op::br_eqi, on_number(a, key as i32), then, next);
                self.bind(next);
            }
            let at = self.emit(op::jump, isa::Br { target: 0 });
            self.branch_to(at, offset_of!(Enc<isa::Br>, ops.target), default);
            return;
        }
        let low = cases.first().map_or(0, |c| c.0);
        let span = cases.last().map_or(0, |c| c.0 - low);
        let head = size_of::<Enc<isa::Switch>>();
        if span < cases.len() as u64 * 4 + 16 {
            let n = span as u32 + 1;
            let at = self.emit(
                op::switch_table,
                isa::Switch {
                    a,
                    n,
                    default: 0,
                    low,
                },
            );
            self.branch_to(at, offset_of!(Enc<isa::Switch>, ops.default), default);
            self.code
                .resize(self.code.len() + (n as usize).div_ceil(2), 0);
            let mut next = cases.iter().peekable();
            for k in 0..n as usize {
                let label = match next.peek() {
                    Some(&&(key, label)) if key - low == k as u64 => {
                        next.next();
                        label
                    }
                    _ => default,
                };
                self.branch_to(at, head + k * 4, label);
            }
        } else {
            let n = cases.len();
            let at = self.emit(
                op::switch_search,
                isa::Switch {
                    a,
                    n: n as u32,
                    default: 0,
                    low: 0,
                },
            );
            self.branch_to(at, offset_of!(Enc<isa::Switch>, ops.default), default);
            self.code.extend(cases.iter().map(|c| c.0));
            self.code.resize(self.code.len() + n.div_ceil(2), 0);
            for (k, &(_, label)) in cases.iter().enumerate() {
                self.branch_to(at, head + n * 8 + k * 4, label);
            }
        }
    }

    fn wide_switch(&mut self, cond: Operand, default: usize, cases: &[(u128, ompvm_ir::BlockId)]) {
        let a = self.operand(cond);
        let (key, hit) = (self.temp(2), self.temp(1));
        for &(k, b) in cases {
            self.emit(
                op::const_word,
                isa::Di {
                    dst: key,
                    imm: k as i64,
                },
            );
            self.emit(
                op::const_word,
                isa::Di {
                    dst: key + 1,
                    imm: (k >> 64) as i64,
                },
            );
            self.emit(
                op::eq128,
                isa::Dab {
                    dst: hit,
                    a,
                    b: key,
                },
            );
            let (then, next) = (self.target(b.as_u32() as usize), self.new_label());
            self.branch_two(op::br_if, on_slot(hit), then, next);
            self.bind(next);
        }
        self.edge(self.current, default);
    }
}
