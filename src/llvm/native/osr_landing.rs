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

use super::rewire::{instructions, intrinsic};
use crate::raw::llvm;
use hashbrown::HashMap;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};

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
pub(super) fn take_over(
    module: LLVMModuleRef,
    entry: LLVMValueRef,
    variables: &HashMap<LLVMValueRef, usize>,
) -> Result<(), &'static str> {
    let context = llvm!(core::LLVMGetModuleContext(module));
    let builder = Builder(llvm!(core::LLVMCreateBuilderInContext(context)));
    let (resumes, all): (Vec<_>, Vec<_>) = instructions(entry)
        .into_iter()
        .partition(|&i| opcode(i) == LLVMOpcode::LLVMResume);
    for resume in resumes {
        builder.call_unwinder(module, context, resume);
    }
    let compared: Vec<_> = all
        .iter()
        .copied()
        .filter(|&i| opcode(i) == LLVMOpcode::LLVMCall)
        .filter(|&i| intrinsic(llvm!(core::LLVMGetCalledValue(i)), "llvm.eh.typeid.for"))
        .collect();
    let int = llvm!(core::LLVMInt32TypeInContext(context));
    let constant = |n: i32| llvm!(core::LLVMConstInt(int, n as u64, 1));
    let number_of = |info: LLVMValueRef| match variables.get(&info) {
        Some(&n) => Ok(type_selector(Some(n))),
        None if llvm!(core::LLVMIsNull(info)) != 0 => Ok(type_selector(None)),
        None => Err("it catches a type of an unknown form"),
    };
    // Landing pads are translated even if the entry compares nothing: the comparison's operand may
    // have been hoisted out of the loop and then comes from the frame.
    for &pad in &all {
        if opcode(pad) == LLVMOpcode::LLVMLandingPad {
            let type_number = type_number(module, context);
            let mut catches = Vec::new();
            for i in 0..llvm!(core::LLVMGetNumClauses(pad)) {
                let clause = llvm!(core::LLVMGetClause(pad, i));
                let ty = llvm!(core::LLVMTypeOf(clause));
                let kind = llvm!(core::LLVMGetTypeKind(ty));
                if kind != LLVMTypeKind::LLVMArrayTypeKind {
                    catches.push((clause, constant(number_of(clause)?)));
                }
            }
            builder.translate(pad, type_number, &catches, [constant(0), constant(OTHER)]);
        }
    }
    for call in compared {
        let number = number_of(llvm!(core::LLVMGetOperand(call, 0)))?;
        llvm!(core::LLVMReplaceAllUsesWith(call, constant(number)));
        llvm!(core::LLVMInstructionEraseFromParent(call));
    }
    Ok(())
}

/// Declares LLVM's intrinsic for the number of a type.
fn type_number(module: LLVMModuleRef, context: LLVMContextRef) -> LLVMValueRef {
    let name = "llvm.eh.typeid.for";
    let id = llvm!(core::LLVMLookupIntrinsicID(
        name.as_ptr().cast(),
        name.len()
    ));
    let mut pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
    llvm!(core::LLVMGetIntrinsicDeclaration(
        module,
        id,
        &mut pointer,
        1
    ))
}

fn opcode(inst: LLVMValueRef) -> LLVMOpcode {
    llvm!(core::LLVMGetInstructionOpcode(inst))
}

struct Builder(LLVMBuilderRef);

impl Drop for Builder {
    fn drop(&mut self) {
        llvm!(core::LLVMDisposeBuilder(self.0));
    }
}

impl Builder {
    /// Replaces a `resume` by a call of the unwinder.
    fn call_unwinder(&self, module: LLVMModuleRef, context: LLVMContextRef, resume: LLVMValueRef) {
        let name = c"_Unwind_Resume";
        let mut pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
        let void = llvm!(core::LLVMVoidTypeInContext(context));
        let ty = llvm!(core::LLVMFunctionType(void, &mut pointer, 1, 0));
        let mut unwinder = llvm!(core::LLVMGetNamedFunction(module, name.as_ptr()));
        if unwinder.is_null() {
            unwinder = llvm!(core::LLVMAddFunction(module, name.as_ptr(), ty));
        }
        let b = self.0;
        llvm!(core::LLVMPositionBuilderBefore(b, resume));
        let landed = llvm!(core::LLVMGetOperand(resume, 0));
        let mut exception = llvm!(core::LLVMBuildExtractValue(b, landed, 0, c"".as_ptr()));
        llvm!(core::LLVMBuildCall2(
            b,
            ty,
            unwinder,
            &mut exception,
            1,
            c"".as_ptr()
        ));
        llvm!(core::LLVMBuildUnreachable(b));
        llvm!(core::LLVMInstructionEraseFromParent(resume));
    }

    /// Replaces LLVM's number after a landing pad by the frame's. An inlined call may bring a
    /// number of its own function here, which is none of the frame's.
    fn translate(
        &self,
        pad: LLVMValueRef,
        type_number: LLVMValueRef,
        catches: &[(LLVMValueRef, LLVMValueRef)],
        [zero, other]: [LLVMValueRef; 2],
    ) {
        let b = self.0;
        let next = llvm!(core::LLVMGetNextInstruction(pad));
        llvm!(core::LLVMPositionBuilderBefore(b, next));
        let select = |condition: LLVMValueRef, yes: LLVMValueRef, no: LLVMValueRef| {
            llvm!(core::LLVMBuildSelect(b, condition, yes, no, c"".as_ptr()))
        };
        let compare = |predicate, x: LLVMValueRef, y: LLVMValueRef| {
            llvm!(core::LLVMBuildICmp(b, predicate, x, y, c"".as_ptr()))
        };
        let given = llvm!(core::LLVMBuildExtractValue(b, pad, 1, c"".as_ptr()));
        let caught = compare(LLVMIntPredicate::LLVMIntSGT, given, zero);
        let mut number = select(caught, other, given);
        let ty = llvm!(core::LLVMGlobalGetValueType(type_number));
        for &(mut info, frame) in catches {
            let own = llvm!(core::LLVMBuildCall2(
                b,
                ty,
                type_number,
                &mut info,
                1,
                c"".as_ptr()
            ));
            let same = compare(LLVMIntPredicate::LLVMIntEQ, given, own);
            number = select(same, frame, number);
        }
        let new = llvm!(core::LLVMBuildInsertValue(b, pad, number, 1, c"".as_ptr()));
        llvm!(core::LLVMReplaceAllUsesWith(pad, new));
        for own in [given, new] {
            llvm!(core::LLVMSetOperand(own, 0, pad));
        }
    }
}
