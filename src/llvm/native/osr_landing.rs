//! OSR entries into frames in which an exception has landed: a frame may be taken over in a cleanup
//! that contains a loop.
//!
//! LLVM numbers a function's type infos during code generation and compares selectors with these
//! numbers later (`llvm.eh.typeid.for`). An OSR entry must use the frame's numbers
//! ([`type_selector`]) instead, both in its comparisons and in the selectors of its own landing
//! pads. Furthermore, LLVM treats a `resume` as unreachable if no landing pad of the function
//! reaches it (`DwarfEHPrepare`), so an OSR entry calls the unwinder itself.
//!
//! Functions that are entered at their start are left unchanged.

use crate::handles::{
    Builder, Function, Instruction, IntPredicate, LandingPad, Module, Opcode, Value, Variable,
};
use hashbrown::HashMap;

/// Returns a frame's selector for a type info, given as the number of its variable; `None` is
/// catch-all. Cleanups have 0, filters less.
pub fn type_selector(variable: Option<usize>) -> i32 {
    variable.map_or(1, |n| n as i32 + 2)
}

/// A frame's selector for a type info that its function does not compare with.
const OTHER: i32 = i32::MAX;

/// Makes an OSR entry continue with the exception that landed in its frame. `variables` maps each
/// variable to its number.
///
/// # Errors
/// Returns the reason if that is impossible.
pub(super) fn take_over<'m>(
    module: Module<'m>,
    entry: Function<'m>,
    variables: &HashMap<Variable<'m>, usize>,
) -> Result<(), &'static str> {
    let context = module.context();
    let builder = context.builder();
    let (mut resumes, mut pads, mut compared) = (Vec::new(), Vec::new(), Vec::new());
    for instruction in entry.instructions() {
        match instruction.opcode() {
            Opcode::LLVMResume => resumes.push(instruction),
            Opcode::LLVMLandingPad => pads.extend(instruction.as_landing_pad()),
            Opcode::LLVMCall => compared.extend(instruction.as_call().filter(|call| {
                let callee = call.callee();
                callee.is_some_and(|f| f.is_intrinsic() && f.name().starts_with(TYPE_NUMBER))
            })),
            _ => {}
        }
    }
    for resume in resumes {
        call_unwinder(module, &builder, resume);
    }
    let constant = |n: i32| context.int(32).constant(n as u64);
    let number_of = |info: Value<'m>| match info.as_variable().and_then(|v| variables.get(&v)) {
        Some(&n) => Ok(type_selector(Some(n))),
        None if info.is_zero() => Ok(type_selector(None)),
        None => Err("it catches a type of an unknown form"),
    };
    // Landing pads are translated even if the entry compares nothing: the comparison's operand may
    // have been hoisted out of the loop and then comes from the frame.
    for pad in pads {
        let type_number = module.intrinsic(TYPE_NUMBER, &[context.pointer()]);
        let mut catches = Vec::new();
        for clause in pad.clauses().filter(|clause| !clause.of().is_array()) {
            catches.push((clause, constant(number_of(clause)?)));
        }
        let bounds = [constant(0), constant(OTHER)];
        translate(&builder, pad, type_number, &catches, bounds);
    }
    for call in compared {
        call.replace_by(constant(number_of(call.argument(0))?));
        // SAFETY: all uses are replaced, and the handle is not used again.
        unsafe { call.erase() };
    }
    Ok(())
}

/// LLVM's intrinsic for the number of a type.
const TYPE_NUMBER: &str = "llvm.eh.typeid.for";

/// Replaces a `resume` by a call of the unwinder. Its handle is not used afterwards.
fn call_unwinder<'m>(module: Module<'m>, builder: &Builder<'m>, resume: Instruction<'m>) {
    let context = module.context();
    let of = context.void().function(&[context.pointer()]);
    let unwinder = module.function_or_declare("_Unwind_Resume", of);
    let exception = builder.before(resume).extract(resume.operand(0), 0);
    builder.call_pointer(of, unwinder, &[exception]);
    builder.unreachable();
    // SAFETY: a terminator without a value has no users, and callers do not use the handle again.
    unsafe { resume.erase() };
}

/// Replaces LLVM's number after a landing pad by the frame's. An inlined call may bring a number of
/// its own function here, which is none of the frame's.
fn translate<'m>(
    builder: &Builder<'m>,
    pad: LandingPad<'m>,
    type_number: Function<'m>,
    catches: &[(Value<'m>, Value<'m>)],
    [zero, other]: [Value<'m>; 2],
) {
    let Some(next) = pad.next() else { return };
    let given = builder.before(next).extract(pad, 1);
    let caught = builder.compare(IntPredicate::LLVMIntSGT, given, zero);
    let mut number = builder.select(caught, other, given);
    for &(info, frame) in catches {
        let own = builder.call(type_number, &[info]);
        let same = builder.compare(IntPredicate::LLVMIntEQ, given, own);
        number = builder.select(same, frame, number);
    }
    let new = builder.insert(pad, number, 1);
    pad.replace_by(new);
    for own in [given, new] {
        own.set_operand(0, pad);
    }
}
