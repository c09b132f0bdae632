//! Stack protection: decides which functions check that no array was overrun, and orders their
//! stack variables.
//!
//! The rules are those of LLVM's `StackProtector`: by the function's attribute, arrays of
//! characters, any array, or any variable whose address escapes. Large arrays are next to the
//! guard, then small ones, then variables whose address escapes: an overrun hits the guard before
//! anything else. The check is before each return and before calls that leave by an exception.
//!
//! Compiled code has LLVM's own guards.

use super::Lowering;
use crate::isa::{self, Enc, Opcode, op};
use hashbrown::HashMap;
use ompvm_ir::{Callee, GlobalRef, Op, Protect, Type, TypeId};
use std::mem::offset_of;

/// The least bytes of a protected array of characters (`-fstack-protector`'s `ssp-buffer-size`).
const BUFFER: u64 = 8;

unsafe extern "C" {
    fn __stack_chk_fail() -> !;
}

/// A variable's distance class from the guard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum GuardDistance {
    /// A variable that cannot be overrun.
    Far,
    AddressTaken,
    SmallArray,
    LargeArray,
}

impl Lowering<'_> {
    /// Decides whether the function has a guard; returns the distance class of each alloca.
    pub(super) fn choose_guard(&mut self) -> HashMap<u32, GuardDistance> {
        let level = self.f.attrs.protect;
        let mut all = HashMap::new();
        if level == Protect::Never {
            return all;
        }
        let users = self.users(level);
        let mut guarded = level == Protect::Always;
        for i in 0..self.body.insts.len() {
            let Op::Alloca { elem, count, .. } = self.body.insts[i].op else {
                continue;
            };
            let v = (self.nparams + i) as u32;
            let count = self.int_const(count);
            let mut near = match count {
                Some(1) => self.array_in(elem, level),
                Some(n) if (n as u64) >= BUFFER => GuardDistance::LargeArray,
                Some(_) if level >= Protect::Strong => GuardDistance::SmallArray,
                Some(_) => GuardDistance::Far,
                None => GuardDistance::LargeArray,
            };
            if near == GuardDistance::Far
                && level >= Protect::Strong
                && self.address_taken(v, &users)
            {
                near = GuardDistance::AddressTaken;
            }
            guarded |= near > GuardDistance::Far;
            all.insert(v, near);
        }
        self.guard = guarded.then_some(0);
        all
    }

    /// Lays out the static allocas of a function that has a guard, and the guard above them.
    pub(super) fn lay_out_guarded(&mut self, all: &HashMap<u32, GuardDistance>) {
        if self.guard.is_none() {
            return;
        }
        let mut placed = Vec::new();
        for &v in self.allocas.keys() {
            let i = v as usize - self.nparams;
            if let Op::Alloca { elem, count, align } = self.body.insts[i].op {
                let count = self.int_const(count).unwrap_or(0);
                let size = self.m.layout(elem).size * count as u64;
                placed.push((all.get(&v), v, size as u32, align.max(1)));
            }
        }
        placed.sort_by_key(|&(near, v, ..)| (near, v));
        self.alloca_bytes = 0;
        for (_, v, size, align) in placed {
            let at = self.alloca_bytes.next_multiple_of(align);
            self.alloca_bytes = at + size;
            self.allocas.insert(v, at);
        }
        let at = self.alloca_bytes.next_multiple_of(8);
        self.alloca_bytes = at + 16;
        self.guard = Some(at);
    }

    /// Emits an instruction on the guard.
    pub(super) fn guard_op(&mut self, code: Opcode<isa::Guard>, a: u16) {
        let Some(off) = self.guard else { return };
        let fail = self.guard_failure_function();
        let ops = isa::Guard {
            a,
            off: off as i32,
            fail,
        };
        let at = self.emit(code, ops);
        self.frame_fixups
            .push(at + offset_of!(Enc<isa::Guard>, ops.off));
    }

    /// Emits the check of a function that has a guard.
    pub(super) fn check_guard(&mut self) {
        self.guard_op(op::guard_check, 0);
    }

    /// Returns the function to call if a guard was overwritten: the program's own, or the C
    /// library's.
    pub(super) fn guard_failure_function(&self) -> usize {
        match self.m.symbol("__stack_chk_fail") {
            Some(GlobalRef::Func(id)) if self.image.func_ref(id).is_some() => {
                self.image.func_address(id)
            }
            _ => __stack_chk_fail as *const () as usize,
        }
    }

    /// Returns the class of the array that a type is or contains.
    fn array_in(&self, ty: TypeId, level: Protect) -> GuardDistance {
        match self.ty(ty) {
            Type::Array { elem, .. } => {
                let strong = level >= Protect::Strong;
                if !matches!(self.ty(*elem), Type::Int(8)) && !strong {
                    GuardDistance::Far
                } else if self.m.layout(ty).size >= BUFFER {
                    GuardDistance::LargeArray
                } else if strong {
                    GuardDistance::SmallArray
                } else {
                    GuardDistance::Far
                }
            }
            Type::Struct { fields, .. } => {
                let all = fields.iter().map(|&f| self.array_in(f, level));
                all.max().unwrap_or(GuardDistance::Far)
            }
            _ => GuardDistance::Far,
        }
    }

    /// Returns the instructions that use each value.
    fn users(&self, level: Protect) -> Vec<Vec<u32>> {
        let mut users = vec![Vec::new(); self.slot.len()];
        if level >= Protect::Strong {
            for (i, inst) in self.body.insts.iter().enumerate() {
                inst.op.for_each_operand(&mut |o| {
                    if let Ok(v) = o.unpack() {
                        users[v.as_u32() as usize].push(i as u32);
                    }
                });
            }
        }
        users
    }

    /// Returns true if the address of a variable, or of an unknown element of it, escapes.
    fn address_taken(&self, v: u32, users: &[Vec<u32>]) -> bool {
        let (mut todo, mut seen) = (vec![v], vec![v]);
        while let Some(v) = todo.pop() {
            let is_it = |o: ompvm_ir::Operand| o.unpack().is_ok_and(|u| u.as_u32() == v);
            for &user in &users[v as usize] {
                let derived = match &self.body.insts[user as usize].op {
                    Op::Load { .. } => false,
                    Op::Store { value, .. } | Op::AtomicRmw { value, .. } if is_it(*value) => {
                        return true;
                    }
                    Op::Store { .. } | Op::AtomicRmw { .. } | Op::ICmp { .. } => false,
                    Op::Gep { .. } => {
                        let mut known = true;
                        self.body.insts[user as usize]
                            .op
                            .for_each_operand(&mut |o| {
                                known &= is_it(o) || o.unpack().is_err();
                            });
                        if !known {
                            return true;
                        }
                        true
                    }
                    Op::Select { .. } | Op::Phi { .. } | Op::Freeze { .. } => true,
                    Op::Call(call) => match &call.callee {
                        Callee::Symbol(GlobalRef::Func(id))
                            if self.m.functions[*id].name.starts_with("llvm.lifetime.") =>
                        {
                            false
                        }
                        _ => return true,
                    },
                    _ => return true,
                };
                let to = (self.nparams as u32) + user;
                if derived && !seen.contains(&to) {
                    seen.push(to);
                    todo.push(to);
                }
            }
        }
        false
    }
}
