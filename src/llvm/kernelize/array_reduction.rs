//! Private-array reduction: private arrays that loops only add to become part of the loop's
//! reduction.
//!
//! After the loop such an array holds what the thread's iterations have added. The host schedule
//! ([`super::partition`]) stands for a single thread, so it must read the sum over all iterations.
//! Each array gets a copy, which is zeroed and to which the loop adds. The copies are combined as
//! part of the loop's reduction, or of a new one, and the result is added to the array, which
//! device and schedule share ([`super::HostSchedule`]).
//!
//! [`array_sums`](super::array_sums) finds the arrays, and says why this is sound.

use super::array_sums::{NotASum, SummedArray, sum};
use super::partition::LoopSection;
use super::runtime_calls::{PREFIX, RECORD, Reduction};
use super::{Refusal, refuse_at};
use crate::handles::{
    Alloca, Block, Builder, Call, Function, Instruction, IntPredicate, Module, Opcode, Position,
    Type, Value,
};
use crate::shim;
use hashbrown::HashSet;

/// Result of placing the arrays of a function.
#[derive(Default)]
pub(super) struct PlacedArrays<'m> {
    /// Arrays that the device has, too.
    pub shared: HashSet<Alloca<'m>>,
    /// Reason why an array that resembles a sum is none.
    pub hint: Option<Refusal>,
}

/// Finds such arrays and makes the loops reduce them.
pub(super) fn place<'m>(
    module: Module<'m>,
    function: Function<'m>,
    sections: &[LoopSection<'m>],
    reductions: &mut Vec<Reduction<'m>>,
) -> PlacedArrays<'m> {
    let mut placed = PlacedArrays::default();
    let mut found = Vec::new();
    for array in function.instructions().filter_map(|i| i.as_alloca()) {
        match sum(module, sections, array) {
            Ok(sum) => found.push(sum),
            Err(NotASum::Other) => {}
            Err(NotASum::Fraction(at)) => {
                placed.hint = Some(refuse_at(
                    "a private array adds up fractions over iterations, whose order affects the \
                     digits",
                    at,
                ));
            }
        }
    }
    let mut it = ReductionBuilder {
        module,
        function,
        builder: module.context().builder(),
        reductions,
    };
    let mut begun: Vec<Option<Call<'m>>> = sections.iter().map(|s| s.reduction()).collect();
    for sum in found {
        let mut loops: Vec<usize> = sum.inside.iter().map(|i| i.0).collect();
        loops.sort_unstable();
        loops.dedup();
        if loops.iter().any(|&l| !it.fits(begun[l], sum.size)) {
            continue;
        }
        for number in loops {
            begun[number] = Some(it.reduce(&sum, number, &sections[number], begun[number]));
        }
        placed.shared.insert(sum.array);
    }
    placed
}

struct ReductionBuilder<'a, 'm> {
    module: Module<'m>,
    function: Function<'m>,
    builder: Builder<'m>,
    reductions: &'a mut Vec<Reduction<'m>>,
}

impl<'m> ReductionBuilder<'_, 'm> {
    /// Returns the index of a reduction by the call that begins it.
    fn number(&self, begin: Call<'m>) -> Option<usize> {
        let name = begin.callee()?.name();
        self.reductions.iter().position(|r| *r.name == *name)
    }

    /// Returns true if the record of a loop's reduction has room for `size` more bytes.
    fn fits(&self, begin: Option<Call<'m>>, size: u64) -> bool {
        let Some(begin) = begin else {
            return size <= RECORD;
        };
        let Some(number) = self.number(begin) else {
            return false;
        };
        let items = &self.reductions[number].items;
        let whole: u64 = items.iter().map(|s| s.next_multiple_of(8)).sum();
        begin.argument(1).as_alloca().is_some() && result(begin).is_some() && whole + size <= RECORD
    }

    fn pointer(&self) -> Type<'m> {
        self.module.context().pointer()
    }

    fn word(&self, value: u64) -> Value<'m> {
        self.module.context().int(64).constant(value)
    }

    /// Creates a private variable.
    fn variable(&self, of: Type<'m>, align: u32) -> Alloca<'m> {
        let made = self.builder.at_entry(self.function).alloca(of);
        made.set_alignment(align);
        made
    }

    /// Redirects a loop's accesses to a copy, which becomes part of its reduction. Returns the call
    /// that begins the reduction.
    fn reduce(
        &mut self,
        sum: &SummedArray<'m>,
        number: usize,
        section: &LoopSection<'m>,
        begin: Option<Call<'m>>,
    ) -> Call<'m> {
        let copy = self.variable(sum.array.allocated(), 16);
        let mark = section.entry.first();
        let start = mark.and_then(Instruction::next);
        let start = start.expect("a loop begins with its marker and a branch at least");
        let zero = self.module.context().int(8).zero();
        self.builder
            .before(start)
            .fill(copy, zero, self.word(sum.size), 16);
        for &(_, at) in sum.inside.iter().filter(|i| i.0 == number) {
            let index = u32::from(at.opcode() == Opcode::LLVMStore);
            at.set_operand(index, self.moved(at.operand(index), copy, at));
        }
        let adds = self.adds(sum);
        let begin = match begin {
            Some(begin) => self.extend(begin, copy, sum, adds),
            None => self.begin(section, copy, sum, adds),
        };
        self.add_result(begin, sum, copy, adds);
        begin
    }

    /// Rebases an address from the array, from which GEPs compute it, to the copy.
    fn moved(&self, address: Value<'m>, copy: Alloca<'m>, before: Instruction<'m>) -> Value<'m> {
        let Some(computed) = address.as_gep() else {
            return copy.into();
        };
        let base = self.moved(computed.pointer(), copy, before);
        let made = self.builder.before(before).copy(computed);
        made.set_operand(0, base);
        made.into()
    }

    fn add_function(&self, name: &str) -> Function<'m> {
        let nothing = self.module.context().void();
        let signature = nothing.function(&[self.pointer(); 2]);
        let made = self.module.add_function(name, signature);
        made.add_attribute(Position::Function, "alwaysinline", 0);
        made
    }

    /// Defines a function that adds an array's elements to those of another.
    fn adds(&self, sum: &SummedArray<'m>) -> Function<'m> {
        let count = sum.size / self.module.layout().size(sum.of);
        let function = self.add_function(&format!("{PREFIX}adds"));
        let b = &self.builder;
        let [entry, each, end] = [0; 3].map(|_| function.append_block());
        b.at_end(entry).branch(each);
        b.at_end(each);
        let zero = self.word(0);
        let index = b.phi(zero.of());
        let [to, from] = [0, 1].map(|i| b.gep(sum.of, function.parameter(i), &[index.into()]));
        let old = b.load(sum.of, to);
        let more = b.load(sum.of, from);
        let new = match sum.of.int_width() {
            Some(_) => b.add(old, more),
            None => b.binary(Opcode::LLVMFAdd, old, more),
        };
        b.store(new, to);
        let next = b.add(index, self.word(1));
        let last = b.compare(IntPredicate::LLVMIntEQ, next, self.word(count));
        b.branch_if(last, end, each);
        index.add_incoming(zero, entry);
        index.add_incoming(next, each);
        b.at_end(end).ret(None);
        function
    }

    /// Defines a function that combines two lists of copies: the array at `index`, and the others
    /// as before.
    fn combine(
        &self,
        name: &str,
        others: Option<Function<'m>>,
        index: usize,
        adds: Function<'m>,
    ) -> Function<'m> {
        let function = self.add_function(&format!("{name}.combine"));
        let lists = [0, 1].map(|i| function.parameter(i));
        let b = &self.builder;
        b.at_end(function.append_block());
        if let Some(others) = others {
            b.call(others, &lists);
        }
        let arrays = lists.map(|list| {
            let at = b.offset(list, self.word(8 * index as u64));
            b.load(self.pointer(), at).into()
        });
        b.call(adds, &arrays);
        b.ret(None);
        function
    }

    fn list(&self, count: usize) -> Alloca<'m> {
        self.variable(self.pointer().array(count as u64), 8)
    }

    /// Adds a copy to a reduction.
    fn extend(
        &mut self,
        begin: Call<'m>,
        copy: Alloca<'m>,
        sum: &SummedArray<'m>,
        adds: Function<'m>,
    ) -> Call<'m> {
        let number = self.number(begin);
        let (Some(number), Some(old)) = (number, begin.argument(1).as_alloca()) else {
            return begin;
        };
        let known = self.reductions[number].clone();
        let index = known.items.len();
        let list = self.list(index + 1);
        old.replace_by(list);
        // SAFETY: the new list has replaced it, and the handle ends here.
        unsafe { old.erase() };
        self.builder.before(begin);
        let place = self.builder.offset(list, self.word(8 * index as u64));
        self.builder.store(copy, place);
        let combine = self.combine(&known.name, Some(known.combine), index, adds);
        let reduction = &mut self.reductions[number];
        reduction.items.push(sum.size);
        reduction.combine = combine;
        begin
    }

    /// Creates a reduction after a loop.
    fn begin(
        &mut self,
        section: &LoopSection<'m>,
        copy: Alloca<'m>,
        sum: &SummedArray<'m>,
        adds: Function<'m>,
    ) -> Call<'m> {
        let name = format!(
            "{PREFIX}reduce.{}.{}",
            self.function.name(),
            self.reductions.len()
        );
        let combine = self.combine(&name, None, 0, adds);
        let list = self.list(1);
        let bit = self.module.context().int(1);
        let signature = bit.function(&[self.pointer(); 2]);
        let reduces = self.module.add_function(&name, signature);
        let first = section.after.first().expect("a block with a terminator");
        self.builder.before(first).store(copy, list);
        let arguments = [self.function.parameter(0), list.into()];
        let begin = self.builder.call(reduces, &arguments);
        self.reductions.push(Reduction {
            items: vec![sum.size],
            combine,
            name,
        });
        begin
    }

    /// Adds the result of a reduction to the array.
    fn add_result(
        &self,
        begin: Call<'m>,
        sum: &SummedArray<'m>,
        copy: Alloca<'m>,
        adds: Function<'m>,
    ) {
        let arguments = [sum.array.into(), copy.into()];
        let call = match result(begin) {
            Some(result) => {
                let first = result.instructions().find(|i| i.as_phi().is_none());
                let first = first.expect("a block with a terminator");
                self.builder.before(first).call(adds, &arguments)
            }
            None => {
                let here = begin.block();
                let next = begin.next().expect("a block with a terminator");
                let rest = shim::split_before(next);
                let end = here.terminator().expect("a branch to the rest");
                let result = self.function.append_block();
                self.builder
                    .before(end)
                    .branch_if(begin.into(), result, rest);
                // SAFETY: branches have no value, and the handle ends here.
                unsafe { end.erase() };
                let call = self.builder.at_end(result).call(adds, &arguments);
                self.builder.branch(rest);
                call
            }
        };
        // SAFETY: the handle ends here.
        unsafe { shim::inline_call(call) };
    }
}

/// Returns the block that only the thread with the reduction's result enters.
fn result(begin: Call<'_>) -> Option<Block<'_>> {
    let branches = begin
        .users()
        .filter_map(Value::as_instruction)
        .filter(|u| u.opcode() == Opcode::LLVMBr)
        .map(|u| u.successors().collect::<Vec<_>>());
    let [then, other] = branches.into_iter().find(|to| to.len() == 2)?[..] else {
        return None;
    };
    let only = then.predecessors().count() == 1 && then != other;
    only.then_some(then)
}
