//! Insertion of checks: addresses, divisors, stack space, and a count of loop iterations.
//!
//! Before each access stands a call that takes the address, the size and the number of the source
//! location, and returns the address to use. Accesses at constant offsets in variables of the
//! function's own frame need none. Every branch to an earlier block counts an iteration; in any
//! order of blocks each loop has such a branch.

use super::{Refusal, SourceLocation, file_name, functions, is_declaration};
use crate::raw::llvm;
use hashbrown::HashMap;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::prelude::*;

/// Takes (address, bytes, location) and returns the address on the host.
pub const CHECK: &str = "ompvm.check";
/// Takes what [`CHECK`] takes, for an access that changes memory.
pub const CHECK_WRITE: &str = "ompvm.check_write";
/// Takes (function, location): a call through a pointer.
pub const CALL: &str = "ompvm.call";
/// Takes (location): a function begins.
pub const ENTER: &str = "ompvm.enter";
/// Called once for each iteration of a loop.
pub const TICK: &str = "ompvm.tick";
/// Takes (location): a division by zero.
pub const DIVISION: &str = "ompvm.division";

struct Checks<'a> {
    module: LLVMModuleRef,
    builder: LLVMBuilderRef,
    layout: inkwell::llvm_sys::target::LLVMTargetDataRef,
    locations: &'a mut Vec<SourceLocation>,
    numbers: HashMap<SourceLocation, u32>,
    read: (LLVMValueRef, LLVMTypeRef),
    write: (LLVMValueRef, LLVMTypeRef),
    enter: (LLVMValueRef, LLVMTypeRef),
    tick: (LLVMValueRef, LLVMTypeRef),
    division: (LLVMValueRef, LLVMTypeRef),
    call: (LLVMValueRef, LLVMTypeRef),
    word: LLVMTypeRef,
    pointer: LLVMTypeRef,
}

/// Inserts checks into every function of a module.
pub(super) fn insert(
    module: LLVMModuleRef,
    locations: &mut Vec<SourceLocation>,
) -> Result<(), Refusal> {
    let context = llvm!(core::LLVMGetModuleContext(module));
    let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
    let word = llvm!(core::LLVMInt64TypeInContext(context));
    let nothing = llvm!(core::LLVMVoidTypeInContext(context));
    let declare = |name: &str, ret, params: &mut [LLVMTypeRef]| {
        let name = format!("{name}\0");
        let of = llvm!(core::LLVMFunctionType(
            ret,
            params.as_mut_ptr(),
            params.len() as u32,
            0
        ));
        (
            llvm!(core::LLVMAddFunction(module, name.as_ptr().cast(), of)),
            of,
        )
    };
    locations.push(("".into(), 0));
    let list = functions(module);
    let mut checks = Checks {
        module,
        builder: llvm!(core::LLVMCreateBuilderInContext(context)),
        layout: super::layout_of(module),
        locations,
        numbers: HashMap::new(),
        read: declare(CHECK, pointer, &mut [pointer, word, word]),
        write: declare(CHECK_WRITE, pointer, &mut [pointer, word, word]),
        enter: declare(ENTER, nothing, &mut [word]),
        tick: declare(TICK, nothing, &mut []),
        division: declare(DIVISION, word, &mut [word]),
        call: declare(CALL, nothing, &mut [pointer, word]),
        word,
        pointer,
    };
    let mut result = Ok(());
    for f in list {
        if !is_declaration(f) {
            result = checks.function(f);
            if result.is_err() {
                break;
            }
        }
    }
    llvm!(core::LLVMDisposeBuilder(checks.builder));
    result
}

/// Returns file and line of an instruction.
pub(super) fn location_of(instruction: LLVMValueRef) -> Option<SourceLocation> {
    let location = llvm!(debuginfo::LLVMInstructionGetDebugLoc(instruction));
    if location.is_null() {
        return None;
    }
    let line = llvm!(debuginfo::LLVMDILocationGetLine(location));
    let scope = llvm!(debuginfo::LLVMDILocationGetScope(location));
    if line == 0 || scope.is_null() {
        return None;
    }
    Some((file_name(scope)?, line))
}

/// Returns file and line of a function.
pub(crate) fn function_location(f: LLVMValueRef) -> Option<SourceLocation> {
    let scope = llvm!(debuginfo::LLVMGetSubprogram(f));
    if scope.is_null() {
        return None;
    }
    let line = llvm!(debuginfo::LLVMDISubprogramGetLine(scope));
    (line != 0).then_some((file_name(scope)?, line))
}

/// Describes what in an instruction cannot be emulated; `None` if it can.
pub(super) fn unemulated(i: LLVMValueRef) -> Option<String> {
    if llvm!(core::LLVMIsACallInst(i)).is_null() && llvm!(core::LLVMIsAInvokeInst(i)).is_null() {
        return None;
    }
    let callee = llvm!(core::LLVMGetCalledValue(i));
    if !llvm!(core::LLVMIsAInlineAsm(callee)).is_null() {
        return Some("inline assembly".into());
    }
    let name = super::name_of(callee);
    // Accesses that the checks do not see.
    let unseen = name.starts_with("llvm.masked.") || name.starts_with("llvm.vp.");
    unseen.then(|| format!("`{name}`"))
}

impl Checks<'_> {
    fn function(&mut self, f: LLVMValueRef) -> Result<(), Refusal> {
        let mut blocks = Vec::new();
        let mut block = llvm!(core::LLVMGetFirstBasicBlock(f));
        while !block.is_null() {
            blocks.push(block);
            block = llvm!(core::LLVMGetNextBasicBlock(block));
        }
        let order: HashMap<LLVMBasicBlockRef, usize> =
            blocks.iter().enumerate().map(|(n, &b)| (b, n)).collect();
        for (n, &block) in blocks.iter().enumerate() {
            let mut list = Vec::new();
            let mut i = llvm!(core::LLVMGetFirstInstruction(block));
            while !i.is_null() {
                list.push(i);
                i = llvm!(core::LLVMGetNextInstruction(i));
            }
            for i in list {
                self.instruction(i)?;
            }
            let end = llvm!(core::LLVMGetBasicBlockTerminator(block));
            let back = (0..llvm!(core::LLVMGetNumSuccessors(end))).any(|s| {
                let to = llvm!(core::LLVMGetSuccessor(end, s));
                order.get(&to).is_some_and(|&at| at <= n)
            });
            if back {
                llvm!(core::LLVMPositionBuilderBefore(self.builder, end));
                self.call(self.tick, &mut []);
            }
        }
        self.begin(f, &blocks);
        Ok(())
    }

    /// Checks the stack after the variables of a function's frame.
    fn begin(&mut self, f: LLVMValueRef, blocks: &[LLVMBasicBlockRef]) {
        let mut first = llvm!(core::LLVMGetFirstInstruction(blocks[0]));
        while !llvm!(core::LLVMIsAAllocaInst(first)).is_null() {
            first = llvm!(core::LLVMGetNextInstruction(first));
        }
        let place = match function_location(f) {
            Some(place) => self.numbered(place),
            None => self.number(0),
        };
        llvm!(core::LLVMPositionBuilderBefore(self.builder, first));
        self.call(self.enter, &mut [place]);
    }

    fn instruction(&mut self, i: LLVMValueRef) -> Result<(), Refusal> {
        let operand = |n| llvm!(core::LLVMGetOperand(i, n));
        match llvm!(core::LLVMGetInstructionOpcode(i)) {
            LLVMOpcode::LLVMLoad => self.access(i, 0, llvm!(core::LLVMTypeOf(i)), false),
            LLVMOpcode::LLVMStore => {
                let of = llvm!(core::LLVMTypeOf(operand(0)));
                self.access(i, 1, of, true);
            }
            LLVMOpcode::LLVMAtomicRMW => {
                let of = llvm!(core::LLVMTypeOf(operand(1)));
                self.access(i, 0, of, true);
            }
            LLVMOpcode::LLVMAtomicCmpXchg => {
                let of = llvm!(core::LLVMTypeOf(operand(1)));
                self.access(i, 0, of, true);
            }
            LLVMOpcode::LLVMUDiv
            | LLVMOpcode::LLVMSDiv
            | LLVMOpcode::LLVMURem
            | LLVMOpcode::LLVMSRem => self.divisor(i),
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => return self.called(i),
            _ => {}
        }
        Ok(())
    }

    fn called(&mut self, i: LLVMValueRef) -> Result<(), Refusal> {
        let callee = llvm!(core::LLVMGetCalledValue(i));
        if let Some(what) = unemulated(i) {
            let place = location_of(i).map(|(file, line)| format!("{file}:{line}"));
            return Err(Refusal::Unsupported(what, place));
        }
        if llvm!(core::LLVMIsAFunction(callee)).is_null() {
            let place = self.location(i);
            llvm!(core::LLVMPositionBuilderBefore(self.builder, i));
            self.call(self.call, &mut [callee, place]);
            return Ok(());
        }
        let name = super::name_of(callee);
        let block = |prefix: &str| name.starts_with(prefix);
        if block("llvm.memcpy.") || block("llvm.memmove.") {
            self.range(i, 0, 2, true);
            self.range(i, 1, 2, false);
        } else if block("llvm.memset.") {
            self.range(i, 0, 2, true);
        }
        Ok(())
    }

    fn location(&mut self, i: LLVMValueRef) -> LLVMValueRef {
        match location_of(i) {
            None => self.number(0),
            Some(place) => self.numbered(place),
        }
    }

    fn numbered(&mut self, place: SourceLocation) -> LLVMValueRef {
        let next = self.locations.len() as u32;
        let number = *self.numbers.entry(place.clone()).or_insert(next);
        if number == next {
            self.locations.push(place);
        }
        self.number(number.into())
    }

    fn number(&self, value: u64) -> LLVMValueRef {
        llvm!(core::LLVMConstInt(self.word, value, 0))
    }

    fn call(&self, f: (LLVMValueRef, LLVMTypeRef), args: &mut [LLVMValueRef]) -> LLVMValueRef {
        llvm!(core::LLVMBuildCall2(
            self.builder,
            f.1,
            f.0,
            args.as_mut_ptr(),
            args.len() as u32,
            c"".as_ptr()
        ))
    }

    /// Checks an access of a value's size at the address in operand `n`.
    fn access(&mut self, i: LLVMValueRef, n: u32, of: LLVMTypeRef, write: bool) {
        let address = llvm!(core::LLVMGetOperand(i, n));
        let size = llvm!(target::LLVMStoreSizeOfType(self.layout, of));
        if self.is_in_frame(address) {
            return;
        }
        let size = self.number(size);
        self.checked(i, n, size, write);
    }

    /// Checks a block operation with the address in operand `n` and the size in operand `len`.
    fn range(&mut self, i: LLVMValueRef, n: u32, len: u32, write: bool) {
        let size = llvm!(core::LLVMGetOperand(i, len));
        llvm!(core::LLVMPositionBuilderBefore(self.builder, i));
        let size = llvm!(core::LLVMBuildZExtOrBitCast(
            self.builder,
            size,
            self.word,
            c"".as_ptr()
        ));
        self.checked(i, n, size, write);
    }

    fn checked(&mut self, i: LLVMValueRef, n: u32, size: LLVMValueRef, write: bool) {
        let place = self.location(i);
        llvm!(core::LLVMPositionBuilderBefore(self.builder, i));
        let address = llvm!(core::LLVMGetOperand(i, n));
        let f = if write { self.write } else { self.read };
        let host = self.call(f, &mut [address, size, place]);
        llvm!(core::LLVMSetOperand(i, n, host));
        debug_assert!(!self.pointer.is_null() && !self.module.is_null());
    }

    /// Returns true if an address is at a constant offset in a variable of the frame.
    fn is_in_frame(&self, mut address: LLVMValueRef) -> bool {
        loop {
            if !llvm!(core::LLVMIsAAllocaInst(address)).is_null() {
                return true;
            }
            if !llvm!(core::LLVMIsABitCastInst(address)).is_null() {
                address = llvm!(core::LLVMGetOperand(address, 0));
                continue;
            }
            let fixed = !llvm!(core::LLVMIsAGetElementPtrInst(address)).is_null()
                && (1..llvm!(core::LLVMGetNumOperands(address))).all(|n| {
                    let index = llvm!(core::LLVMGetOperand(address, n as u32));
                    llvm!(core::LLVMIsConstant(index)) != 0
                });
            if !fixed {
                return false;
            }
            address = llvm!(core::LLVMGetOperand(address, 0));
        }
    }

    /// Guards a division by zero, which would fault on this processor; on the device it is the
    /// program's error.
    fn divisor(&mut self, i: LLVMValueRef) {
        let divisor = llvm!(core::LLVMGetOperand(i, 1));
        let of = llvm!(core::LLVMTypeOf(divisor));
        let scalar = llvm!(core::LLVMGetTypeKind(of))
            == inkwell::llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind;
        if llvm!(core::LLVMIsConstant(divisor)) != 0 || !scalar {
            return;
        }
        let place = self.location(i);
        llvm!(core::LLVMPositionBuilderBefore(self.builder, i));
        let (nothing, one) = (
            llvm!(core::LLVMConstNull(of)),
            llvm!(core::LLVMConstInt(of, 1, 0)),
        );
        let fine = self.number(u64::MAX);
        let zero = llvm!(core::LLVMBuildICmp(
            self.builder,
            inkwell::llvm_sys::LLVMIntPredicate::LLVMIntEQ,
            divisor,
            nothing,
            c"".as_ptr()
        ));
        let where_zero = llvm!(core::LLVMBuildSelect(
            self.builder,
            zero,
            place,
            fine,
            c"".as_ptr()
        ));
        self.call(self.division, &mut [where_zero]);
        let safe = llvm!(core::LLVMBuildSelect(
            self.builder,
            zero,
            one,
            divisor,
            c"".as_ptr()
        ));
        llvm!(core::LLVMSetOperand(i, 1, safe));
    }
}
