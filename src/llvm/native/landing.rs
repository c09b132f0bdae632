//! Loop entries that an exception has landed before: a frame may be taken over in a cleanup that
//! has a loop in it.
//!
//! What: LLVM numbers the types of a function as it generates code, and compares with these numbers
//! later (`llvm.eh.typeid.for`); a loop entry must have those of the frame ([`number`]) instead, in
//! what it compares with and in what its own landing pads give. And LLVM takes for unreachable
//! what resumes an exception but can be reached from no landing pad of the function
//! (`DwarfEHPrepare`); so a loop entry calls the unwinder itself.
//!
//! What not: functions that are entered at their start stay as they are.

use super::prepare::{instructions, intrinsic};
use crate::llvm::raw::llvm;
use hashbrown::HashMap;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};

/// What a frame has for a type info, given as the number of its variable; none catches everything.
/// Cleanups have 0, filters less.
pub fn number(variable: Option<usize>) -> i32 {
    variable.map_or(1, |n| n as i32 + 2)
}

/// What a frame has where none of the frame's function compares with it.
const OTHER: i32 = i32::MAX;

/// Makes a loop entry go on with what landed in its frame; `variables` says which number each
/// variable has.
///
/// # Errors
/// Why it cannot be.
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
        Some(&n) => Ok(number(Some(n))),
        None if llvm!(core::LLVMIsNull(info)) != 0 => Ok(number(None)),
        None => Err("it catches a type of an unknown form"),
    };
    // Even where nothing is compared: what is may have been moved before the loop, so that the
    // number comes from the frame.
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

/// LLVM's intrinsic for the number of a type.
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
    /// Puts a call of the unwinder in the place of a `resume`.
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

    /// After a landing pad, puts a frame's number in the place of LLVM's. A call that is inlined
    /// may bring a number of its own function here, which is none of the frame's.
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
