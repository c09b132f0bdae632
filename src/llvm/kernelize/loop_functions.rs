//! Functions of the loops of a region with a host schedule, which become kernels.
//!
//! LLVM outlines a loop to a function with a parameter for each value from around it. Kernels get
//! the region's data and then words ([`LaunchArgument`]). So [`part`] makes a function with these
//! parameters, which computes the values again that need no word, and inlines the loop into it.
//!
//! Leaves the values that a launch evaluates on the host to [`super::schedule_builder`].

use super::partition::marks;
use super::private_variables::{VariableAccess, accesses_to};
use super::runtime_calls::{PREFIX, Reduction};
use super::schedule_builder::{IterationBound, LaunchArgument, LaunchSite, bits};
use super::{Refusal, accesses, callee_name, flatten, kernel_sequence, refuse, refuse_at};
use crate::handles::{
    Alloca, Builder, Call, Function, Instruction, Module, Opcode, TypeKind, Value,
};
use crate::shim;
use hashbrown::{HashMap, HashSet};

/// A loop outlined to a function.
#[derive(Debug)]
pub(super) struct LoopFunction<'m> {
    /// The function, with the parameters of the region's function and then words.
    pub function: Function<'m>,
    /// The loop's number.
    pub number: u32,
    pub reduction: Option<Reduction<'m>>,
}

/// Converts a loop's function to one with the parameters of the region's function and then words.
pub(super) fn part<'m>(
    module: Module<'m>,
    function: Function<'m>,
    inner: Function<'m>,
    phase: u32,
    reductions: &[Reduction<'m>],
    shared: &HashSet<Alloca<'m>>,
) -> Result<(LoopFunction<'m>, LaunchSite<'m>), Refusal> {
    let call = inner.users().next().and_then(Value::as_call);
    let call = call.ok_or_else(|| refuse("its loop is never reached"))?;
    let given: Vec<Value<'m>> = call.arguments().collect();
    let mut launch = launched(inner, &given, call, phase)?;
    let mut it = LoopFunctionBuilder {
        module,
        function,
        shared,
        words: Vec::new(),
        parts: HashMap::new(),
    };
    for &value in &given {
        it.collect(value)?;
    }
    let mark = marks(inner, &format!("{PREFIX}at")).into_iter().next();
    let number = mark.and_then(|m| m.operand(1).signed());
    let own = it.make(inner, &given)?;
    launch.words = it.words;
    let begins = format!("{PREFIX}reduce.");
    let reduces = own
        .instructions()
        .find_map(|i| callee_name(i).filter(|name| name.starts_with(&*begins)));
    let reduction = reduces.and_then(|n| reductions.iter().find(|r| *r.name == *n).cloned());
    let part = LoopFunction {
        function: own,
        number: number.map_or(u32::MAX, |n| n as u32),
        reduction,
    };
    Ok((part, launch))
}

/// Collects what the schedule needs to know to launch a loop.
fn launched<'m>(
    inner: Function<'m>,
    given: &[Value<'m>],
    call: Call<'m>,
    phase: u32,
) -> Result<LaunchSite<'m>, Refusal> {
    let odd = || refuse_at("the trip count of a loop is unknown", call);
    let (divided, fetch) = (format!("{PREFIX}static_"), format!("{PREFIX}fetch_"));
    let found = inner.instructions().find_map(|i| {
        let name = callee_name(i)?;
        let suffix = name.strip_prefix(&*divided).map(|s| (s, true));
        let (suffix, stored) = suffix.or_else(|| Some((name.strip_prefix(&*fetch)?, false)))?;
        Some((i, suffix.to_owned(), stored))
    });
    let (begin, suffix, stored) = found.ok_or_else(odd)?;
    let outer = |value: Value<'m>| {
        let mut parameters = inner.parameters().zip(given);
        let outside = parameters.find(|&(p, _)| p == value).map(|(_, &v)| v);
        outside
            .or_else(|| value.is_constant().then_some(value))
            .ok_or_else(odd)
    };
    let limit = |index| {
        let value = outer(begin.operand(index))?;
        Ok(match stored {
            true => IterationBound::In(value),
            false => IterationBound::Value(value),
        })
    };
    let (first, last) = match stored {
        true => (2, 3),
        false => (1, 2),
    };
    Ok(LaunchSite {
        call,
        phase,
        first: limit(first)?,
        last: limit(last)?,
        bits: if suffix.starts_with('8') { 64 } else { 32 },
        unsigned: suffix.ends_with('u'),
        words: Vec::new(),
    })
}

struct LoopFunctionBuilder<'a, 'm> {
    module: Module<'m>,
    /// The region's function.
    function: Function<'m>,
    /// Variables that the device has, too.
    shared: &'a HashSet<Alloca<'m>>,
    words: Vec<LaunchArgument<'m>>,
    /// First word of each value and variable.
    parts: HashMap<Value<'m>, usize>,
}

impl<'m> LoopFunctionBuilder<'_, 'm> {
    fn size(&self, variable: Alloca<'m>) -> Option<u64> {
        let count = u64::try_from(variable.count().signed()?).ok()?;
        let size = self.module.layout().size(variable.allocated());
        size.checked_mul(count)
    }

    /// Records a word for a value.
    fn word(&mut self, value: Value<'m>, word: LaunchArgument<'m>) {
        self.parts.insert(value, self.words.len());
        self.words.push(word);
    }

    /// Records the words that a value needs.
    fn collect(&mut self, value: Value<'m>) -> Result<(), Refusal> {
        use Opcode::*;
        let Some(instruction) = value.as_instruction() else {
            return Ok(());
        };
        if self.parts.contains_key(&value) {
            return Ok(());
        }
        if let Some(variable) = instruction.as_alloca() {
            return self.collect_variable(variable);
        }
        let pointer = value.of().is_pointer();
        if !pointer && bits(value.of()).is_some() {
            self.word(value, LaunchArgument::Value(value));
            return Ok(());
        }
        let fixed = || {
            let load = instruction.as_load().filter(|_| pointer);
            load.is_some_and(|l| accesses::path(self.module, self.function, l.pointer()).is_some())
        };
        let computed = matches!(
            instruction.opcode(),
            LLVMGetElementPtr
                | LLVMSelect
                | LLVMFreeze
                | LLVMBitCast
                | LLVMInsertElement
                | LLVMShuffleVector
        );
        if !computed && !fixed() {
            if !pointer {
                return Err(refuse_at(
                    "a loop needs a value from around it that is neither a number nor an address",
                    value,
                ));
            }
            if !kernel_sequence::variables(value).is_empty() {
                return Err(refuse_at(
                    "the address of a private variable is chosen around its loops",
                    value,
                ));
            }
            // A choice between known addresses, such as of alternating buffers.
            self.word(value, LaunchArgument::Address(value));
            return Ok(());
        }
        for part in instruction.operands() {
            self.collect(part)?;
        }
        Ok(())
    }

    /// Records the words that hold a variable's contents.
    fn collect_variable(&mut self, variable: Alloca<'m>) -> Result<(), Refusal> {
        let value = Value::from(variable);
        if self.shared.contains(&variable) {
            self.word(value, LaunchArgument::Address(value));
            return Ok(());
        }
        let size = self.size(variable);
        let size = size.ok_or_else(|| refuse("a private array of variable length"))?;
        let known = accesses_to(self.module, variable).unwrap_or_default();
        // The loops are calls by now.
        let writes = |t: &VariableAccess<'m>| {
            let memory = callee_name(t.at).is_some_and(|n| n.starts_with("llvm.mem"));
            t.write && (memory || t.at.as_store().is_some())
        };
        self.parts.insert(value, self.words.len());
        if known.iter().any(writes) {
            let words = size.div_ceil(8);
            if words > u64::from(super::kernel_text::WORDS) {
                return Err(refuse("a large private variable is passed to a loop"));
            }
            let parts = (0..words).map(|w| LaunchArgument::Part(value, 8 * w));
            self.words.extend(parts);
        }
        Ok(())
    }

    /// Creates the function: it calls the loop's function with all of its arguments, and inlines
    /// it.
    fn make(&self, inner: Function<'m>, given: &[Value<'m>]) -> Result<Function<'m>, Refusal> {
        let context = self.module.context();
        let mut types: Vec<_> = self.function.parameters().map(|p| p.of()).collect();
        let first = types.len() as u32;
        types.extend(self.words.iter().map(|given| match given {
            LaunchArgument::Address(_) => context.pointer(),
            _ => context.int(64),
        }));
        let name = format!("{}.part", inner.name());
        let made = self
            .module
            .add_function(&name, context.void().function(&types));
        let entry = made.append_block();
        entry.label().set_name("entry");
        let builder = context.builder();
        builder.at_end(entry);
        let mut body = FunctionBody {
            making: self,
            made,
            builder,
            first,
            known: self.function.parameters().zip(made.parameters()).collect(),
        };
        let arguments: Vec<_> = given.iter().map(|&v| body.value(v)).collect();
        let call = body.builder.call(inner, &arguments);
        body.builder.ret(None);
        // SAFETY: the handles of the new function's instructions end here.
        unsafe {
            if !shim::inline_call(call) {
                return Err(refuse("its loop cannot be outlined"));
            }
            flatten::simplify(made)?;
        }
        Ok(made)
    }
}

struct FunctionBody<'a, 'm> {
    making: &'a LoopFunctionBuilder<'a, 'm>,
    made: Function<'m>,
    builder: Builder<'m>,
    /// Index of the parameter that holds the first word.
    first: u32,
    known: HashMap<Value<'m>, Value<'m>>,
}

impl<'m> FunctionBody<'_, 'm> {
    fn word(&self, index: usize) -> Value<'m> {
        self.made.parameter(self.first + index as u32)
    }

    fn value(&mut self, value: Value<'m>) -> Value<'m> {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        let Some(instruction) = value.as_instruction() else {
            return value;
        };
        let shared = self.making.shared;
        let variable = instruction.as_alloca().filter(|v| !shared.contains(v));
        let made = match (self.making.parts.get(&value), variable) {
            (Some(&first), Some(variable)) => self.variable(variable, first).into(),
            (Some(&first), None) => self.number(value, first),
            (None, _) => {
                let parts: Vec<_> = instruction.operands().map(|o| self.value(o)).collect();
                let copy = self.copy(instruction);
                for (index, part) in parts.into_iter().enumerate() {
                    copy.set_operand(index as u32, part);
                }
                copy.into()
            }
        };
        self.known.insert(value, made);
        made
    }

    fn copy(&self, of: Instruction<'m>) -> Instruction<'m> {
        let copy = self.builder.copy(of);
        copy.clear_location();
        copy
    }

    fn number(&self, value: Value<'m>, at: usize) -> Value<'m> {
        let word = self.word(at);
        let of = value.of();
        match of.kind() {
            TypeKind::LLVMFloatTypeKind => {
                let half = of.context().int(32);
                let bits = self.builder.cast(Opcode::LLVMTrunc, word, half);
                self.builder.cast(Opcode::LLVMBitCast, bits, of)
            }
            TypeKind::LLVMPointerTypeKind => word,
            TypeKind::LLVMDoubleTypeKind => self.builder.cast(Opcode::LLVMBitCast, word, of),
            _ if bits(of) == Some(64) => word,
            _ => self.builder.cast(Opcode::LLVMTrunc, word, of),
        }
    }

    /// Recreates a variable with the contents that were passed.
    fn variable(&self, variable: Alloca<'m>, first: usize) -> Instruction<'m> {
        let context = self.builder.context();
        let copy = self.copy(variable.into());
        let size = self.making.size(variable).unwrap_or(0);
        let own = variable.alignment().max(1);
        let given = self
            .making
            .words
            .iter()
            .skip(first)
            .map_while(|w| match *w {
                LaunchArgument::Part(v, at) if v == variable.into() => Some(at),
                _ => None,
            });
        for (index, at) in given.enumerate() {
            let there = self.builder.offset(copy, context.int(64).constant(at));
            let bits = 8 * (size - at).min(8) as u32;
            let word = self.word(first + index);
            let part = match bits {
                64 => word,
                _ => self
                    .builder
                    .cast(Opcode::LLVMTrunc, word, context.int(bits)),
            };
            let store = self.builder.store(part, there);
            // Variables are aligned to powers of two.
            let most = 1 << (bits / 8).trailing_zeros();
            store.set_alignment(own.min(most));
        }
        copy
    }
}
