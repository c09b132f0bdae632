//! What is decided before emission: how often values are used, which are produced where they
//! stand and which at their uses, where loops are, which slots values have.

use super::{Lower, NONE};
use crate::ir::{CastOp, FloatKind, Op, Operand, Type, TypeId, Value};
use cranelift_entity::EntityRef;

/// How a value is produced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Where it stands, in a slot of its own.
    Plain,
    /// It is its operand: the slot form is the same.
    Alias,
    /// At its only use, later in the same block.
    Late,
    /// Derived anew at each use (static alloca, constant-offset gep, a double in both lanes).
    Address,
    /// Never: nobody uses it and it has no effect.
    Dead,
}

/// Calls `f` with every operand of an instruction.
pub(super) fn each_operand(op: &Op, mut f: impl FnMut(Operand)) {
    match op {
        Op::Binary { a, b, .. } | Op::ICmp { a, b, .. } | Op::FCmp { a, b, .. } => {
            f(*a);
            f(*b);
        }
        Op::ShuffleVector { a, b, .. } => {
            f(*a);
            f(*b);
        }
        Op::FNeg { a } | Op::Cast { a, .. } | Op::Freeze { a } => f(*a),
        Op::Select { cond, a, b } => {
            f(*cond);
            f(*a);
            f(*b);
        }
        Op::Phi { incoming } => incoming.iter().for_each(|&(_, o)| f(o)),
        Op::Alloca { count, .. } => f(*count),
        Op::Load { ptr, .. } => f(*ptr),
        Op::Store { value, ptr, .. } | Op::AtomicRmw { ptr, value, .. } => {
            f(*value);
            f(*ptr);
        }
        Op::Gep { base, indices, .. } => {
            f(*base);
            indices.iter().for_each(|&i| f(i));
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
            f(*vector);
            f(*elem);
            f(*index);
        }
        Op::ExtractValue { agg, .. } => f(*agg),
        Op::InsertValue { agg, elem, .. } => {
            f(*agg);
            f(*elem);
        }
        Op::Call(call) | Op::Invoke { call, .. } | Op::CallBr { call, .. } => {
            if let crate::ir::Callee::Pointer(p) = call.callee {
                f(p);
            }
            call.args.iter().for_each(|&a| f(a));
        }
        Op::Resume { value } => f(*value),
        Op::Ret { value } => {
            if let Some(v) = value {
                f(*v);
            }
        }
        Op::CondBr { cond, .. } | Op::Switch { cond, .. } => f(*cond),
        Op::IndirectBr { address, .. } => f(*address),
        Op::CmpXchg {
            ptr, expected, new, ..
        } => {
            f(*ptr);
            f(*expected);
            f(*new);
        }
        Op::VaArg { list } => f(*list),
        Op::LandingPad { .. }
        | Op::Br { .. }
        | Op::Unreachable
        | Op::Fence { .. }
        | Op::Unsupported(_) => {}
    }
}

/// Calls `f` with every block an instruction can go to.
pub(super) fn each_successor(op: &Op, mut f: impl FnMut(usize)) {
    let mut g = |b: crate::ir::BlockId| f(b.as_u32() as usize);
    match op {
        Op::Br { target } => g(*target),
        Op::CondBr {
            then, otherwise, ..
        } => {
            g(*then);
            g(*otherwise);
        }
        Op::Switch { default, cases, .. } => {
            g(*default);
            cases.iter().for_each(|c| g(c.1));
        }
        Op::IndirectBr { targets, .. } => targets.iter().for_each(|&t| g(t)),
        Op::Invoke { normal, unwind, .. } => {
            g(*normal);
            g(*unwind);
        }
        Op::CallBr {
            fallthrough,
            indirect,
            ..
        } => {
            g(*fallthrough);
            indirect.iter().for_each(|&t| g(t));
        }
        _ => {}
    }
}

impl Lower<'_> {
    pub(super) fn analyse(&mut self) {
        let values = self.slot.len();
        let mut uses = vec![0u32; values];
        let mut last_user = vec![u32::MAX; values];
        let mut only_addresses = vec![true; values];
        let mut only_scales = vec![true; values];
        let mut reach = vec![None; self.body.blocks.len()];
        for (b, block) in self.body.blocks.iter().enumerate() {
            if let Some(inst) = self.body.insts.get(block.start as usize)
                && let Op::Phi { incoming } = &inst.op
                && incoming.len() > 8
            {
                let places = incoming.iter().enumerate();
                self.incoming
                    .extend(places.map(|(k, (from, _))| ((from.as_u32() as usize, b), k as u32)));
            }
            for i in block.start as usize..block.end as usize {
                self.block_of[self.nparams + i] = b as u32;
                let op = &self.body.insts[i].op;
                each_operand(op, |o| {
                    if let Ok(v) = o.unpack() {
                        uses[v.index()] += 1;
                        last_user[v.index()] = i as u32;
                        let address = match op {
                            Op::Load { ptr, ordering, .. } => {
                                *ptr == o && *ordering == crate::ir::Ordering::NotAtomic
                            }
                            Op::Store {
                                ptr,
                                value,
                                ordering,
                                ..
                            } => {
                                *ptr == o
                                    && *value != o
                                    && *ordering == crate::ir::Ordering::NotAtomic
                            }
                            Op::Gep { base, .. } => *base == o,
                            _ => false,
                        };
                        only_addresses[v.index()] &= address;
                        only_scales[v.index()] = only_scales[v.index()] && self.scales(op, o);
                    }
                });
                each_successor(op, |to| {
                    if to <= b {
                        reach[to] = reach[to].max(Some(b));
                    }
                });
            }
        }
        // From a loop's first block to the last that branches back to it.
        let mut end = None;
        for (b, &to) in reach.iter().enumerate() {
            end = end.max(to);
            self.in_loop[b] = end >= Some(b);
        }
        for i in 0..self.body.insts.len() {
            let v = self.nparams + i;
            self.kind[v] = self.classify(i, uses[v], last_user[v], only_addresses[v]);
        }
        for i in 0..self.body.insts.len() {
            let v = self.nparams + i;
            if self.kind[v] == Kind::Plain
                && only_scales[v]
                && let Some(lane) = self.is_splat(i, &uses)
            {
                self.kind[v] = Kind::Address;
                self.kind[lane] = Kind::Late;
            }
        }
        self.fuse(&uses, &last_user);
        self.assign_slots();
    }

    fn classify(&mut self, i: usize, uses: u32, user: u32, only_addresses: bool) -> Kind {
        let inst = &self.body.insts[i];
        let pure = matches!(
            inst.op,
            Op::Binary { .. }
                | Op::FNeg { .. }
                | Op::Cast { .. }
                | Op::ICmp { .. }
                | Op::FCmp { .. }
                | Op::Select { .. }
                | Op::Freeze { .. }
                | Op::Phi { .. }
                | Op::Gep { .. }
                | Op::ExtractElement { .. }
                | Op::InsertElement { .. }
                | Op::ShuffleVector { .. }
                | Op::ExtractValue { .. }
                | Op::InsertValue { .. }
                | Op::Alloca { .. }
        );
        if uses == 0 && pure {
            // A division that traps must still be performed.
            if let Op::Binary { op, .. } = inst.op {
                use crate::ir::BinOp::{SDiv, SRem, UDiv, URem};
                if matches!(op, UDiv | SDiv | URem | SRem) {
                    return Kind::Plain;
                }
            }
            return Kind::Dead;
        }
        let v = self.nparams + i;
        let same_block = user != u32::MAX
            && uses == 1
            && self.block_of[self.nparams + user as usize] == self.block_of[v]
            && !matches!(self.body.insts[user as usize].op, Op::Phi { .. });
        let scalar = !matches!(self.ty(inst.ty), Type::Vector { .. });
        match &inst.op {
            Op::Alloca { elem, count, align } if self.block_of[v] == 0 => {
                let Some(n) = self.int_const(*count) else {
                    return Kind::Plain;
                };
                let size = self.m.layout(*elem).size.saturating_mul(n as u64);
                if *align > 16 || size > 1 << 20 {
                    return Kind::Plain;
                }
                let align = (*align).max(1);
                let at = self.alloca_bytes.next_multiple_of(align);
                self.alloca_bytes = at + size as u32;
                self.allocas.insert(v as u32, at);
                Kind::Address
            }
            Op::Cast { op, a } if self.same_slots(*op, self.type_of(*a), inst.ty) => Kind::Alias,
            Op::Freeze { .. } => Kind::Alias,
            // A lane of a whole slot is that slot.
            Op::ExtractElement { vector, index } if self.words(inst.ty) == 1 => {
                let whole = match self.ty(self.type_of(*vector)) {
                    Type::Vector { elem, len, .. } => {
                        super::lane_bytes(self.m, *elem) == 8
                            && self
                                .int_const(*index)
                                .is_some_and(|k| (k as u64) < u64::from(*len))
                    }
                    _ => false,
                };
                if whole { Kind::Alias } else { Kind::Plain }
            }
            Op::ExtractValue { agg, indices } => {
                let (off, member) = self.member(self.type_of(*agg), indices);
                let whole = matches!(
                    self.ty(member),
                    Type::Int(64) | Type::Ptr(_) | Type::Float(FloatKind::Double)
                );
                if whole && off % 8 == 0 {
                    Kind::Alias
                } else {
                    Kind::Plain
                }
            }
            // Into nothing, for the insertion of the other lane.
            Op::InsertElement { vector, index, .. } if same_block && self.words(inst.ty) == 2 => {
                let fresh = vector.unpack().is_err_and(|c| {
                    matches!(
                        self.m.consts[c],
                        crate::ir::Const::Undef | crate::ir::Const::Poison
                    )
                });
                let pair = matches!(
                    (&self.body.insts[user as usize].op, self.ty(inst.ty)),
                    (Op::InsertElement { elem, .. }, Type::Vector { len: 2, .. })
                        if elem.unpack().ok().is_none_or(|e| e.index() != v)
                );
                if fresh && pair && matches!(self.int_const(*index), Some(0 | 1)) {
                    Kind::Late
                } else {
                    Kind::Plain
                }
            }
            Op::Gep { indices, .. } if scalar => {
                let constant = indices.iter().all(|&i| self.int_const(i).is_some());
                if constant && only_addresses {
                    Kind::Address
                } else if same_block {
                    Kind::Late
                } else {
                    Kind::Plain
                }
            }
            Op::ICmp { .. } | Op::FCmp { .. } if scalar && same_block => Kind::Late,
            Op::Cast {
                op: CastOp::SExt, ..
            } if scalar && same_block => Kind::Late,
            Op::Binary {
                op: crate::ir::BinOp::FMul,
                ..
            } if same_block && scalar => match self.body.insts[user as usize].op {
                Op::Binary {
                    op: crate::ir::BinOp::FAdd | crate::ir::BinOp::FSub,
                    ..
                } => Kind::Late,
                _ => Kind::Plain,
            },
            _ => Kind::Plain,
        }
    }

    /// Whether a cast leaves the slots as they are.
    fn same_slots(&self, op: CastOp, from: TypeId, to: TypeId) -> bool {
        let small = |t: TypeId| match self.ty(t) {
            Type::Int(bits) => *bits <= 64,
            Type::Ptr(_) => true,
            _ => false,
        };
        match op {
            CastOp::ZExt => small(from) && small(to),
            CastOp::AddrSpaceCast => small(from),
            CastOp::PtrToInt | CastOp::PtrToAddr => {
                matches!(self.ty(to), Type::Int(64)) && small(from)
            }
            CastOp::IntToPtr => small(from) && small(to),
            CastOp::BitCast => self.same_bits(from, to),
            _ => false,
        }
    }

    fn same_bits(&self, from: TypeId, to: TypeId) -> bool {
        if from == to {
            return true;
        }
        let plain = |t: TypeId| match self.ty(t) {
            Type::Vector { elem, .. } => {
                let bits = self.m.types.lane_bits(*elem);
                bits >= 8 && bits.is_power_of_two()
            }
            Type::Float(FloatKind::X86Fp80) => false,
            _ => true,
        };
        // Into an integer narrower than its slot the upper bits must be cleared.
        let clean = match self.ty(to) {
            Type::Int(bits) => bits % 64 == 0 || matches!(self.ty(from), Type::Int(_)),
            _ => true,
        };
        plain(from) && plain(to) && clean && self.words(from) == self.words(to)
    }

    /// Slots of a value, emitting it here when it was postponed.
    pub(super) fn value(&mut self, v: usize) -> u16 {
        match self.kind[v] {
            Kind::Plain if self.slot[v] != NONE => self.slot[v],
            // Undefined (unreachable code) or without slots.
            Kind::Plain | Kind::Dead => self.scratch,
            Kind::Alias => match &self.body.insts[v - self.nparams].op {
                Op::Cast { a, .. } | Op::Freeze { a } => self.operand(*a),
                Op::ExtractElement { vector, index } => {
                    let k = self.int_const(*index).unwrap_or(0) as u16;
                    self.operand(*vector) + k
                }
                Op::ExtractValue { agg, indices } => {
                    let (off, _) = self.member(self.type_of(*agg), indices);
                    self.operand(*agg) + (off / 8) as u16
                }
                _ => self.scratch,
            },
            Kind::Late | Kind::Address => {
                let i = v - self.nparams;
                let dst = self.temp(self.words(self.body.insts[i].ty));
                self.produce(i, dst);
                dst
            }
        }
    }

    /// The instruction of an operand that is to be produced at its use.
    pub(super) fn late(&self, o: Operand) -> Option<&'_ Op> {
        let v: Value = o.unpack().ok()?;
        matches!(self.kind[v.index()], Kind::Late | Kind::Address)
            .then(|| &self.body.insts[v.index() - self.nparams].op)
    }

    /// The operand that a value renames, through aliases.
    pub(super) fn origin(&self, mut o: Operand) -> Operand {
        while let Ok(v) = o.unpack() {
            if self.kind[v.index()] != Kind::Alias {
                break;
            }
            match &self.body.insts[v.index() - self.nparams].op {
                Op::Cast { a, .. } | Op::Freeze { a } => o = *a,
                _ => break,
            }
        }
        o
    }
}
