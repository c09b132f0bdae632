//! Fuses loads, sums and splats into operands of their user.
//!
//! `postpone` decides which instructions are postponed to their user; `arithmetic` and `store`
//! select the user's instruction that performs both; this file has the table of such instructions
//! and the handling of postponed operands. Fusion pays because dispatch and frame accesses are most
//! of a bytecode instruction's cost. Integers, floats and wider vectors are not fused, since no
//! profile shows a need.

mod arithmetic;
mod postpone;
mod store;

use super::Lowering;
use super::address::Addr;
use crate::isa::{self, Dab, Dabc, Fcx, Fm, Fx, Fxx, Opcode, op};
use cranelift_entity::EntityRef;
use ompvm_ir::{BinOp, Op, Operand};

/// The forms of an instruction with an operand in memory: at a base, or at a base plus an index.
#[derive(Clone, Copy)]
struct MemoryForms<X: isa::Shape> {
    base: Opcode<Fm>,
    index: Opcode<X>,
}

/// Pairs the two forms.
const fn memory_forms<X: isa::Shape>(base: Opcode<Fm>, index: Opcode<X>) -> MemoryForms<X> {
    MemoryForms { base, index }
}

/// An operation on doubles, or on pairs of them, in all its forms.
struct Arithmetic {
    op: BinOp,
    pair: bool,
    plain: Opcode<Dab>,
    /// The form with a loaded right operand.
    right: MemoryForms<Fx>,
    /// The form with a loaded left operand.
    left: MemoryForms<Fx>,
    /// The form with two loaded operands.
    both: Option<Opcode<Fxx>>,
    /// The form with a stored result.
    stored: Option<MemoryForms<Fcx>>,
}

/// The operations with a double in memory as operand or result.
const ARITHMETIC: &[Arithmetic] = &[
    Arithmetic {
        op: BinOp::FAdd,
        pair: false,
        plain: op::fadd64,
        right: memory_forms(op::fadd64_m, op::fadd64_x),
        left: memory_forms(op::fadd64_m, op::fadd64_x),
        both: Some(op::fadd64_xx),
        stored: Some(memory_forms(op::fadd64_st, op::fadd64_stx)),
    },
    Arithmetic {
        op: BinOp::FSub,
        pair: false,
        plain: op::fsub64,
        right: memory_forms(op::fsub64_m, op::fsub64_x),
        left: memory_forms(op::frsub64_m, op::frsub64_x),
        both: Some(op::fsub64_xx),
        stored: Some(memory_forms(op::fsub64_st, op::fsub64_stx)),
    },
    Arithmetic {
        op: BinOp::FMul,
        pair: false,
        plain: op::fmul64,
        right: memory_forms(op::fmul64_m, op::fmul64_x),
        left: memory_forms(op::fmul64_m, op::fmul64_x),
        both: Some(op::fmul64_xx),
        stored: Some(memory_forms(op::fmul64_st, op::fmul64_stx)),
    },
    Arithmetic {
        op: BinOp::FAdd,
        pair: true,
        plain: op::v2fadd,
        right: memory_forms(op::v2fadd_m, op::v2fadd_x),
        left: memory_forms(op::v2fadd_m, op::v2fadd_x),
        both: None,
        stored: None,
    },
    Arithmetic {
        op: BinOp::FSub,
        pair: true,
        plain: op::v2fsub,
        right: memory_forms(op::v2fsub_m, op::v2fsub_x),
        left: memory_forms(op::v2frsub_m, op::v2frsub_x),
        both: None,
        stored: None,
    },
    Arithmetic {
        op: BinOp::FMul,
        pair: true,
        plain: op::v2fmul,
        right: memory_forms(op::v2fmul_m, op::v2fmul_x),
        left: memory_forms(op::v2fmul_m, op::v2fmul_x),
        both: None,
        stored: None,
    },
];

/// Returns the row of an operation; `None` if it has no forms in memory.
fn arithmetic(op: BinOp, pair: bool) -> Option<&'static Arithmetic> {
    ARITHMETIC.iter().find(|r| r.op == op && r.pair == pair)
}

/// The forms of `a * b + c`, or of `c - a * b`.
struct MultiplyAdd {
    plain: Opcode<Dabc>,
    /// The form with a loaded factor.
    factor: MemoryForms<Fcx>,
    /// The form with a loaded addend.
    summand: Option<MemoryForms<Fcx>>,
}

const MULTIPLY_ADD: MultiplyAdd = MultiplyAdd {
    plain: op::muladd64,
    factor: memory_forms(op::muladd64_m, op::muladd64_x),
    summand: Some(memory_forms(op::muladd64_am, op::muladd64_ax)),
};

const MULTIPLY_ADD_PAIR: MultiplyAdd = MultiplyAdd {
    plain: op::v2muladd,
    factor: memory_forms(op::v2muladd_m, op::v2muladd_x),
    summand: Some(memory_forms(op::v2muladd_am, op::v2muladd_ax)),
};

const SUBTRACT_PRODUCT: MultiplyAdd = MultiplyAdd {
    plain: op::negmuladd64,
    factor: memory_forms(op::negmuladd64_m, op::negmuladd64_x),
    summand: None,
};

/// The location of an operand in memory: a slot plus a constant, or also a scaled index.
#[derive(Clone, Copy)]
enum OperandAddress {
    Base(u16, i32),
    Index(Indexed),
}

/// `base + index * scale + off`.
#[derive(Clone, Copy)]
struct Indexed {
    base: u16,
    index: u16,
    scale: i32,
    off: i32,
}

impl OperandAddress {
    /// Returns the location with an index in any case: an existing slot, times zero.
    fn indexed(self) -> Indexed {
        match self {
            OperandAddress::Base(base, off) => Indexed {
                base,
                index: base,
                scale: 0,
                off,
            },
            OperandAddress::Index(all) => all,
        }
    }
}

impl Lowering<'_> {
    /// Returns true if the operand is a postponed load.
    fn loads(&self, o: Operand) -> bool {
        matches!(self.postponed(o), Some(Op::Load { .. }))
    }

    /// Returns the operand of a postponed negation.
    fn negated(&self, o: Operand) -> Option<Operand> {
        match self.postponed(o)? {
            Op::FNeg { a } => Some(*a),
            _ => None,
        }
    }

    /// Returns the double that a postponed splat has in both lanes.
    fn splat(&self, o: Operand) -> Option<Operand> {
        let Op::ShuffleVector { a, .. } = self.postponed(o)? else {
            return None;
        };
        self.lane_zero(*a).map(|(_, elem)| elem)
    }

    /// Returns the address of a postponed load, which the caller's instruction then performs;
    /// `None` for an address in the frame, which few instructions can encode.
    fn loaded(&mut self, o: Operand) -> Option<Addr> {
        let Op::Load { ptr, .. } = self.postponed(o)? else {
            return None;
        };
        let ptr = *ptr;
        let inst = o.unpack().ok()?.index() - self.nparams;
        let addr = self.address(ptr);
        if matches!(addr, Addr::Frame(_)) {
            return None;
        }
        self.note_line(inst);
        Some(addr)
    }

    /// Returns the address of a postponed load as [`Self::loaded`] does, but copies an address in
    /// the frame to a slot.
    fn loaded_anywhere(&mut self, o: Operand) -> Option<Addr> {
        if let Some(addr) = self.loaded(o) {
            return Some(addr);
        }
        let Op::Load { ptr, .. } = self.postponed(o)? else {
            return None;
        };
        let ptr = *ptr;
        let addr = self.address(ptr);
        let slot = self.address_slot(addr);
        Some(Addr::Base(slot, 0))
    }

    /// Converts an address for the fused instructions; a signed index is extended first.
    fn operand_address(&mut self, addr: Addr) -> OperandAddress {
        match addr {
            Addr::Base(base, off) => OperandAddress::Base(base, off),
            Addr::Frame(_) => OperandAddress::Base(self.address_slot(addr), 0),
            Addr::Index(base, index, scale, off, signed) => {
                let index = if signed {
                    self.sign_extended(index, 32)
                } else {
                    index
                };
                OperandAddress::Index(Indexed {
                    base,
                    index,
                    scale,
                    off,
                })
            }
        }
    }

    /// Emits the form that fits the location.
    fn emit_memory_form(
        &mut self,
        forms: MemoryForms<Fcx>,
        [dst, a, c]: [u16; 3],
        address: OperandAddress,
    ) {
        match address {
            OperandAddress::Base(base, off) => self.emit_base(forms.base, [dst, a, c], base, off),
            OperandAddress::Index(at) => self.emit_indexed(forms.index, [dst, a, c], at),
        }
    }

    /// Emits an instruction with an operand at a base.
    fn emit_base(&mut self, code: Opcode<Fm>, [dst, a, c]: [u16; 3], base: u16, off: i32) {
        self.emit(
            code,
            Fm {
                dst,
                a,
                c,
                base,
                off,
            },
        );
    }

    /// Emits an instruction with an operand at a base and an index.
    fn emit_indexed(&mut self, code: Opcode<Fcx>, [dst, a, c]: [u16; 3], at: Indexed) {
        let Indexed {
            base,
            index,
            scale,
            off,
        } = at;
        self.emit(
            code,
            Fcx {
                dst,
                a,
                c,
                base,
                index,
                scale,
                off,
            },
        );
    }
}

/// Builds the operands of an instruction on two locations.
fn two_addresses(dst: u16, c: u16, first: OperandAddress, second: OperandAddress) -> Fxx {
    let (first, second) = (first.indexed(), second.indexed());
    Fxx {
        dst,
        c,
        base: first.base,
        index: first.index,
        base2: second.base,
        index2: second.index,
        scale: first.scale,
        off: first.off,
        scale2: second.scale,
        off2: second.off,
    }
}
