//! Placement of a reduction's private copies in the thread's record.
//!
//! A copy of which iterations update elements by index is initialized once, and iterations add to
//! it in place ([`stays`]); why so, [`super::reduction_records`] says.
//!
//! This is sound because iterations then see what earlier ones of the thread left there, as on a
//! host thread. But the compiler knew the initial value and may have folded it. So each write in
//! the loop must follow a read of the same address: then the compiler did not know the contents.
//!
//! The layout of records is left to [`super::reduction_records`].

use super::reduction_records::{ALIGN, PHASE, RECORD, RecordPart};
use super::runtime_calls::{self, PREFIX, Reduction};
use super::{callee_name, calls};
use crate::handles::{
    Alloca, Block, Builder, Function, Instruction, IntPredicate, Module, Opcode, Store, Value,
};
use crate::shim;
use hashbrown::HashSet;
use omp_abi::outlined::ITERATE;

/// Moves copies to the record where that is sound, and marks their parts. Returns true if there was
/// such a copy.
pub(super) fn move_copies<'m>(
    module: Module<'m>,
    function: Function<'m>,
    reduction: &Reduction<'m>,
    parts: &mut [RecordPart],
) -> bool {
    let begin = function
        .instructions()
        .find(|&i| callee_name(i).is_some_and(|n| *n == *reduction.name));
    let list = begin.and_then(|b| b.operands().nth(1));
    let (Some(list), Some(order)) = (list, LoopOrder::find(function)) else {
        return false;
    };
    let mut copies = Vec::new();
    for (k, part) in parts.iter_mut().enumerate() {
        let copy = runtime_calls::private(module, function, list, 8 * k as i64);
        let Some((copy, _)) = copy.filter(|&(copy, _)| stays(module, &order, copy)) else {
            continue;
        };
        if u64::from(copy.alignment()) <= ALIGN {
            part.stays = true;
            copies.push((copy, *part));
        }
    }
    if !copies.is_empty() {
        put(module, function, &order, &copies);
    }
    !copies.is_empty()
}

/// Partition of a function's code: before the loop, or in and after it.
struct LoopOrder<'m> {
    begin: Instruction<'m>,
    late: HashSet<Block<'m>>,
}

impl<'m> LoopOrder<'m> {
    fn find(function: Function<'m>) -> Option<LoopOrder<'m>> {
        let (divided, fetched) = (format!("{PREFIX}static_"), format!("{PREFIX}fetch_"));
        let begin = function
            .instructions()
            .find(|&i| calls(i, &divided) || calls(i, &fetched))?;
        let mut late = HashSet::new();
        let mut open = vec![begin.block()];
        while let Some(block) = open.pop() {
            open.extend(block.successors().filter(|&next| late.insert(next)));
        }
        Some(LoopOrder { begin, late })
    }

    /// Returns true if an instruction is before the loop.
    fn early(&self, instruction: Instruction<'m>) -> bool {
        let block = instruction.block();
        if block != self.begin.block() {
            return !self.late.contains(&block);
        }
        instruction == self.begin || instruction.following().any(|i| i == self.begin)
    }
}

/// Returns true if a copy can be part of the record: it is accessed by index, and each write in the
/// loop follows a read of the same address.
fn stays<'m>(module: Module<'m>, order: &LoopOrder<'m>, copy: Alloca<'m>) -> bool {
    let mut open: Vec<Value<'m>> = vec![copy.into()];
    let mut seen = HashSet::new();
    let mut indexed = false;
    while let Some(pointer) = open.pop() {
        for user in pointer.users() {
            let Some(user) = user.as_instruction() else {
                return false;
            };
            let early = order.early(user);
            match user.opcode() {
                Opcode::LLVMGetElementPtr => {
                    let constant = |i: Value<'m>| i.signed().is_some();
                    indexed |= !early && !user.operands().skip(1).all(constant);
                    open.push(user.into());
                }
                Opcode::LLVMPHI | Opcode::LLVMSelect => {
                    indexed |= !early;
                    if seen.insert(user) {
                        open.push(user.into());
                    }
                }
                Opcode::LLVMStore => {
                    let Some(store) = user.as_store() else {
                        return false;
                    };
                    let into = store.pointer() == pointer;
                    if into && !early && !follows_read(module, order, store) {
                        return false;
                    }
                    // The list of the copies may hold its address.
                    if store.value() == pointer && pointer != copy.into() {
                        return false;
                    }
                }
                Opcode::LLVMCall => {
                    let Some(name) = callee_name(user) else {
                        return false;
                    };
                    let written = name.starts_with("llvm.mem");
                    if !early && written && user.operand(0) == pointer {
                        return false;
                    }
                    if !written && !name.starts_with("llvm.lifetime.") {
                        return false;
                    }
                }
                Opcode::LLVMLoad | Opcode::LLVMICmp => {}
                _ => return false,
            }
        }
    }
    indexed
}

/// Returns true if every path in the loop to a store has read the stored bytes.
fn follows_read<'m>(module: Module<'m>, order: &LoopOrder<'m>, store: Store<'m>) -> bool {
    let size = |value: Value<'m>| module.layout().stored(value.of()) as i64;
    let (base, first) = shim::constant_offset(module, store.pointer());
    let end = first + size(store.value());
    // Byte ranges that were read.
    let mut read: Vec<(i64, i64)> = Vec::new();
    let mut block = store.block();
    let mut at = store.previous();
    loop {
        while let Some(instruction) = at {
            if instruction == order.begin {
                return false;
            }
            at = instruction.previous();
            let Some(load) = instruction.as_load() else {
                continue;
            };
            let (from, offset) = shim::constant_offset(module, load.pointer());
            if from == base {
                read.push((offset, offset + size(load.into())));
                read.sort_unstable();
                let covered = read.iter().fold(first, |to, &(a, b)| match a <= to {
                    true => to.max(b),
                    false => to,
                });
                if covered >= end {
                    return true;
                }
            }
        }
        let Some(before) = only_predecessor(block) else {
            return false;
        };
        block = before;
        at = block.terminator();
    }
}

fn only_predecessor(block: Block<'_>) -> Option<Block<'_>> {
    let mut from = block.predecessors();
    let first = from.next()?;
    from.all(|other| other == first).then_some(first)
}

/// Moves copies to their places in the thread's record; writes before the loop go there once.
fn put<'m>(
    module: Module<'m>,
    function: Function<'m>,
    order: &LoopOrder<'m>,
    copies: &[(Alloca<'m>, RecordPart)],
) {
    let context = module.context();
    let (number, word) = (context.int(32), context.int(64));
    let builder = context.builder();
    builder.at_entry(function);
    let state = function.parameter(0);
    let at = builder.offset(state, word.constant(PHASE));
    let phase = builder.load(number, at);
    let iterates = builder.compare(
        IntPredicate::LLVMIntEQ,
        phase,
        number.constant(ITERATE as u64),
    );
    let at = builder.offset(state, word.constant(RECORD));
    let record = builder.load(context.pointer(), at);
    let mut places = Vec::new();
    for (copy, part) in copies {
        let there = builder.offset(record, word.constant(part.at));
        let aside = builder.alloca(context.int(8).array(part.size));
        aside.set_alignment(ALIGN as u32);
        places.push((*copy, builder.select(iterates, aside, there), there));
    }
    let it = CopyRedirection { builder, order };
    for (copy, early, there) in places {
        it.redirect(copy.into(), early, there);
        // SAFETY: all of its uses are redirected, and no one reads `copies` again.
        unsafe { copy.erase() };
    }
}

struct CopyRedirection<'a, 'm> {
    builder: Builder<'m>,
    order: &'a LoopOrder<'m>,
}

impl<'m> CopyRedirection<'_, 'm> {
    /// Redirects uses of a pointer before the loop to `early`, and others to `late`.
    fn redirect(&self, pointer: Value<'m>, early: Value<'m>, late: Value<'m>) {
        let mut seen = HashSet::new();
        let users = pointer.users().filter_map(Value::as_instruction);
        let users: Vec<_> = users.filter(|&u| seen.insert(u)).collect();
        for user in users {
            if calls(user, "llvm.lifetime.") {
                // SAFETY: markers have no value, and each user is visited once.
                unsafe { user.erase() };
                continue;
            }
            if user.opcode() == Opcode::LLVMGetElementPtr {
                // An address computed before the loop may be used in it.
                let [first, second] = [early, late].map(|base| {
                    let copy = self.builder.before(user).copy(user);
                    copy.set_operand(0, base);
                    copy.into()
                });
                self.redirect(user.into(), first, second);
                // SAFETY: all of its uses are redirected, and each user is visited once.
                unsafe { user.erase() };
                continue;
            }
            let instead = match self.order.early(user) {
                true => early,
                false => late,
            };
            for index in 0..user.operand_count() {
                if user.operand(index) == pointer {
                    user.set_operand(index, instead);
                }
            }
        }
    }
}
