//! Promotes variables in shared memory to registers if only one thread uses them or all threads see
//! the same value.
//!
//! The device runtime keeps per-thread state in shared arrays indexed by the thread. Compilers let
//! the block's first thread store captured variables in shared memory, for all threads to load.
//! LLVM keeps neither in registers across a barrier, which it treats as a write of all memory, so
//! each query after a barrier is a load and a branch. Once everything is inlined into a kernel,
//!
//! - an array whose elements are only accessed at the thread's own index becomes a local variable
//!   ([`own_elements`]);
//! - a variable that is stored once, with an argument of the kernel, is replaced by the argument
//!   ([`arguments`]);
//! - a barrier before which the kernel touched no memory is removed ([`leading_barriers`]).
//!
//! This runs before [`super::cleanup::unread`], which removes the remaining stores. Functions that
//! are not inlined are not analyzed: a variable that one of them uses is left alone.

use super::Kernel;
use super::cleanup::{is_barrier, shared_variables, touches_memory};
use crate::handles::{Function, Gep, Instruction, Module, Opcode, Type, TypeKind, Value, Variable};
use hashbrown::HashSet;

/// Promotes variables of all OpenMP kernels. Returns true if it changed one.
pub(crate) fn variables_of_blocks(module: Module, kernels: &[Kernel]) -> bool {
    let shared = shared_variables(module);
    let mut changed = false;
    // Threads of bare kernels may have an index of several dimensions.
    for kernel in kernels
        .iter()
        .filter(|k| k.refused.is_none() && k.environment.is_some_and(|e| e.mode & 3 != 0))
    {
        let Some(kernel) = module.function(&kernel.name) else {
            continue;
        };
        let reached = super::cleanup::reached(kernel);
        for &variable in &shared {
            let Some(accesses) = accesses(variable, kernel, &reached) else {
                continue;
            };
            changed |= own_elements(variable, kernel, &accesses) || arguments(kernel, &accesses);
        }
    }
    changed
}

/// A load or store of a variable.
struct Access<'m> {
    instruction: Instruction<'m>,
    /// The computation of an element's address; `None` for the variable itself.
    element: Option<Gep<'m>>,
}

impl<'m> Access<'m> {
    /// Returns the type that is transferred.
    fn transferred(&self) -> Type<'m> {
        match self.instruction.as_store() {
            Some(store) => store.value().of(),
            None => self.instruction.of(),
        }
    }
}

/// Returns a kernel's accesses to a variable; `None` if the variable is used in another way, or by
/// another function that the kernel may call.
fn accesses<'m>(
    variable: Variable<'m>,
    kernel: Function<'m>,
    reached: &HashSet<Function<'m>>,
) -> Option<Vec<Access<'m>>> {
    let mut found = Vec::new();
    let mut open = vec![(Value::from(variable), None)];
    while let Some((pointer, element)) = open.pop() {
        for user in pointer.users() {
            if user.is_constant_expression() {
                let cast = user.constant_opcode() == Some(Opcode::LLVMAddrSpaceCast);
                open.push(cast.then_some((user, element))?);
                continue;
            }
            let instruction = user.as_instruction()?;
            let function = instruction.function();
            if function != kernel {
                if reached.contains(&function) {
                    return None;
                }
                continue;
            }
            let plain = || !instruction.is_volatile() && !instruction.is_atomic();
            let access = Access {
                instruction,
                element,
            };
            match instruction.opcode() {
                Opcode::LLVMAddrSpaceCast => open.push((user, element)),
                Opcode::LLVMGetElementPtr if element.is_none() => open.push((user, user.as_gep())),
                Opcode::LLVMLoad if plain() => found.push(access),
                Opcode::LLVMStore if plain() && user.operand(0) != pointer => found.push(access),
                _ => return None,
            }
        }
    }
    Some(found)
}

/// Replaces an array by a local variable if the kernel only accesses each thread's own element.
/// Returns true if it did.
fn own_elements<'m>(variable: Variable<'m>, kernel: Function<'m>, accesses: &[Access<'m>]) -> bool {
    let whole = variable.contents();
    if !whole.is_array() || accesses.is_empty() {
        return false;
    }
    let Some(of) = whole.element() else {
        return false;
    };
    let own = |access: &Access<'m>| {
        access.transferred() == of
            && access
                .element
                .is_some_and(|gep| is_own_element(gep, whole, of))
    };
    if !accesses.iter().all(own) {
        return false;
    }
    let builder = of.context().builder();
    let local = builder.at_entry(kernel).alloca(of);
    for access in accesses {
        let old = access.instruction;
        builder.before(old);
        match old.as_store() {
            Some(store) => {
                builder.store(store.value(), local);
            }
            None => old.replace_by(builder.load(of, local)),
        }
        // SAFETY: a store has no users, and those of a load have another value. The list has each
        // access once, and the caller drops it.
        unsafe { old.erase() };
    }
    true
}

/// Returns true if an address is that of the array element with the thread's number.
fn is_own_element<'m>(gep: Gep<'m>, whole: Type<'m>, of: Type<'m>) -> bool {
    let source = gep.source_type();
    let indices: Vec<_> = gep.indices().collect();
    match indices[..] {
        [index] if source == of => is_thread(index),
        [index] => scaled(index, source, of),
        [first, index] if source == whole => first.is_zero() && is_thread(index),
        _ => false,
    }
}

/// Returns true if an index in units of `source` is the thread's number in units of `of`, as in
/// bytes for larger elements.
fn scaled<'m>(index: Value<'m>, source: Type<'m>, of: Type<'m>) -> bool {
    let bytes = |t: Type| match t.kind() {
        TypeKind::LLVMIntegerTypeKind => t.int_width().map_or(0, |bits| u64::from(bits) / 8),
        TypeKind::LLVMPointerTypeKind => 8,
        _ => 0,
    };
    let index = match index.opcode() {
        Some(Opcode::LLVMZExt) => index.operand(0),
        _ => index,
    };
    let by = || index.operand(1).unsigned();
    let factor = match index.opcode() {
        Some(Opcode::LLVMShl) => by().map(|by| 1u64.checked_shl(by as u32).unwrap_or(0)),
        Some(Opcode::LLVMMul) => by(),
        _ => None,
    };
    let fits = |factor| bytes(source) != 0 && factor * bytes(source) == bytes(of);
    factor.is_some_and(fits) && is_thread(index.operand(0))
}

/// Returns true if a value is the thread's number in its block.
fn is_thread(mut value: Value) -> bool {
    while matches!(value.opcode(), Some(Opcode::LLVMZExt | Opcode::LLVMSExt)) {
        value = value.operand(0);
    }
    value
        .direct_callee()
        .is_some_and(|f| &*f.name() == "llvm.nvvm.read.ptx.sreg.tid.x")
}

/// Replaces loads of a variable that only ever holds one argument of the kernel by the argument.
/// Returns true if it did.
///
/// A load that runs before the store reads uninitialized memory, so any value is correct.
fn arguments<'m>(kernel: Function<'m>, accesses: &[Access<'m>]) -> bool {
    let mut stores = accesses.iter().filter_map(|a| a.instruction.as_store());
    let (Some(store), None) = (stores.next(), stores.next()) else {
        return false;
    };
    let value = store.value();
    let whole = |a: &Access| a.element.is_none() && a.transferred() == value.of();
    if accesses.len() < 2 || !accesses.iter().all(whole) {
        return false;
    }
    let Some(casts) = casts_of_argument(value) else {
        return false;
    };
    // All threads need the value, so it is computed in the entry block.
    let mut after = kernel.entry().and_then(|entry| entry.first());
    for cast in casts {
        if after == Some(cast) {
            after = cast.next();
        } else if let Some(after) = after {
            cast.move_before(after);
        }
    }
    let loads = accesses.iter().filter_map(|a| a.instruction.as_load());
    for load in loads {
        load.replace_by(value);
        // SAFETY: its users have another value. The list has each load once, and the caller drops
        // it.
        unsafe { load.erase() };
    }
    true
}

/// Returns the conversions between an argument or constant and a value, innermost first; `None` if
/// it is computed in another way.
fn casts_of_argument(value: Value) -> Option<Vec<Instruction>> {
    let mut casts = Vec::new();
    let mut at = value;
    while let Some(cast) = at.as_cast() {
        casts.push(cast);
        at = cast.operand(0);
    }
    casts.reverse();
    (at.is_argument() || at.is_constant()).then_some(casts)
}

/// Removes barriers before which a kernel touches no memory.
pub(crate) fn leading_barriers(module: Module, kernels: &[Kernel]) {
    for kernel in kernels.iter().filter(|k| k.refused.is_none()) {
        let Some(kernel) = module.function(&kernel.name) else {
            continue;
        };
        let idle: Vec<_> = kernel
            .instructions()
            .filter(|&i| is_barrier(i) && nothing_precedes(i))
            .collect();
        for barrier in idle {
            // SAFETY: barriers have no result, and the list has each once.
            unsafe { barrier.erase() };
        }
    }
}

fn nothing_precedes(barrier: Instruction) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![(barrier.block(), barrier.previous())];
    while let Some((block, last)) = open.pop() {
        let mut before = std::iter::successors(last, |i| i.previous());
        if before.any(|i| touches_memory(i) && !is_barrier(i)) {
            return false;
        }
        for from in block.predecessors() {
            if seen.insert(from) {
                open.push((from, from.terminator()));
            }
        }
    }
    true
}
