//! Finds private arrays that loops only add to.
//!
//! In the loop a value that is read from such an array only flows back to the same element, plus a
//! number that does not depend on it. Integers may be added in any order, also as `double`; for
//! fractions another order would give other digits, and the program did not ask for a reduction.
//! Outside of loops the array is only zeroed, so threads without iterations contribute nothing.
//!
//! Arrays whose elements a loop inspects and sums of fractions are not handled.

use super::partition::LoopSection;
use super::{callee_name, calls};
use crate::handles::{Alloca, Instruction, Load, Module, Opcode, Store, Type, TypeKind, Value};
use hashbrown::HashSet;

/// Largest absolute value of constants that are added as `double`, so that their sum stays exact.
const LARGEST: f64 = 4_294_967_296.0;
/// Largest width of integers that are added as `double`, in bits.
const BITS: u32 = 32;

/// An array to which loops add.
pub(super) struct SummedArray<'m> {
    pub array: Alloca<'m>,
    pub size: u64,
    /// Type of its elements.
    pub of: Type<'m>,
    /// Accesses in loops, with the loops' indices.
    pub inside: Vec<(usize, Instruction<'m>)>,
}

/// Reason why an array is no sum.
pub(super) enum NotASum<'m> {
    /// Other uses.
    Other,
    /// Fractions are added.
    Fraction(Instruction<'m>),
}

/// Returns the scalar type of a type's elements.
fn scalar(of: Type<'_>) -> Type<'_> {
    match of.kind() {
        TypeKind::LLVMVectorTypeKind => of.element().unwrap_or(of),
        _ => of,
    }
}

/// Analyzes all uses of a variable.
pub(super) fn sum<'m>(
    module: Module<'m>,
    sections: &[LoopSection<'m>],
    array: Alloca<'m>,
) -> Result<SummedArray<'m>, NotASum<'m>> {
    use Opcode::*;
    let owner = |i| sections.iter().position(|s| s.contains(i));
    let bytes = |of| module.layout().size(of);
    if array.count().signed() != Some(1) {
        return Err(NotASum::Other);
    }
    let size = bytes(array.allocated());
    let mut inside = Vec::new();
    let (mut loads, mut stores): (Vec<Load<'m>>, Vec<Store<'m>>) = Default::default();
    let mut read_outside = false;
    let mut open: Vec<Value<'m>> = vec![array.into()];
    while let Some(pointer) = open.pop() {
        for at in pointer.users() {
            let at = at.as_instruction().ok_or(NotASum::Other)?;
            let number = owner(at);
            match at.opcode() {
                LLVMGetElementPtr if at.operand(0) == pointer => open.push(at.into()),
                LLVMLoad => match number {
                    Some(number) => {
                        inside.push((number, at));
                        loads.extend(at.as_load());
                    }
                    None => read_outside = true,
                },
                LLVMStore if at.operand(0) != pointer => match number {
                    Some(number) => {
                        inside.push((number, at));
                        stores.extend(at.as_store());
                    }
                    None if at.operand(0).is_zero() => {}
                    None => return Err(NotASum::Other),
                },
                LLVMCall if calls(at, "llvm.lifetime.") => {}
                LLVMCall => {
                    let name = callee_name(at).ok_or(NotASum::Other)?;
                    let fills = name.starts_with("llvm.memset.") && number.is_none();
                    if !fills || at.operand(1).unsigned() != Some(0) {
                        return Err(NotASum::Other);
                    }
                }
                _ => return Err(NotASum::Other),
            }
        }
    }
    if !read_outside || stores.is_empty() {
        return Err(NotASum::Other);
    }
    let mut sums: HashSet<Value<'m>> = HashSet::new();
    let mut fraction = None;
    for &load in &loads {
        added(load, &mut sums, &mut fraction).ok_or(NotASum::Other)?;
    }
    if stores.iter().any(|s| !sums.contains(&s.value())) {
        return Err(NotASum::Other);
    }
    if let Some(at) = fraction {
        return Err(NotASum::Fraction(at));
    }
    let mut numbers = loads.iter().map(|l| scalar(l.of()));
    let of = numbers.next().ok_or(NotASum::Other)?;
    if numbers.any(|n| n != of) || !size.is_multiple_of(bytes(of)) {
        return Err(NotASum::Other);
    }
    Ok(SummedArray {
        array,
        size,
        of,
        inside,
    })
}

/// Follows a value that was read: it must only flow back to the same address, with something added.
fn added<'m>(
    load: Load<'m>,
    sums: &mut HashSet<Value<'m>>,
    fraction: &mut Option<Instruction<'m>>,
) -> Option<()> {
    use Opcode::*;
    let mut chain: HashSet<Value<'m>> = HashSet::new();
    chain.insert(load.into());
    let mut open: Vec<Instruction<'m>> = vec![load.into()];
    let (mut additions, mut joins) = (Vec::new(), Vec::new());
    while let Some(value) = open.pop() {
        let value = Value::from(value);
        for user in value.users() {
            let user = user.as_instruction()?;
            let first = user.operand(0) == value;
            match user.opcode() {
                LLVMStore if first && user.operand(1) == load.pointer() => continue,
                LLVMAdd => additions.push(user),
                LLVMSub if first => additions.push(user),
                LLVMFAdd | LLVMFSub => {
                    if !first && user.opcode() == LLVMFSub {
                        return None;
                    }
                    if !exact(user.operand(u32::from(first))) {
                        *fraction = Some(user);
                    }
                    additions.push(user);
                }
                LLVMPHI | LLVMSelect => joins.push(user),
                _ => return None,
            }
            if chain.insert(user.into()) {
                open.push(user);
            }
        }
    }
    if additions
        .iter()
        .any(|a| a.operands().all(|o| chain.contains(&o)))
    {
        return None;
    }
    for join in joins {
        let all = match join.as_phi() {
            Some(phi) => phi.incoming().all(|(value, _)| chain.contains(&value)),
            None => {
                !chain.contains(&join.operand(0))
                    && join.operands().skip(1).all(|o| chain.contains(&o))
            }
        };
        if !all {
            return None;
        }
    }
    sums.extend(chain);
    Some(())
}

/// Returns true if a floating-point number is an integer of limited size.
fn exact(value: Value<'_>) -> bool {
    let of = value.of();
    if scalar(of).kind() != TypeKind::LLVMDoubleTypeKind {
        return false;
    }
    if let Some(number) = value.real() {
        return number.fract() == 0.0 && number.abs() <= LARGEST;
    }
    if value.is_constant() {
        let count = match of.kind() {
            TypeKind::LLVMVectorTypeKind => of.len().unwrap_or(0) as u32,
            _ => 0,
        };
        return count > 0 && (0..count).all(|i| value.element(i).is_some_and(exact));
    }
    match value.opcode() {
        Some(Opcode::LLVMSIToFP | Opcode::LLVMUIToFP) => {
            let from = scalar(value.operand(0).of());
            from.int_width().is_some_and(|bits| bits <= BITS)
        }
        Some(Opcode::LLVMSelect) => value.operands().skip(1).all(exact),
        _ => false,
    }
}
