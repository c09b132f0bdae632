//! Private-array reduction: private arrays that loops only add to become part of the loop's
//! reduction.
//!
//! After the loop such an array holds what the thread's iterations have added. The host schedule
//! ([`super::partition`]) stands for a single thread, so it must read the sum over all iterations.
//! Each array gets a copy, which is zeroed and to which the loop adds. The copies are combined as
//! part of the loop's reduction, or of a new one, and the result is added to the array, which
//! device and schedule share ([`super::HostSchedule`]).
//!
//! This is sound because in the loop a value read from the array only flows back to the same
//! element, plus a number that does not depend on it. Integers may be added in any order, also as
//! `double`; for fractions another order would give other digits, and the program did not ask for a
//! reduction. Outside of loops the array is only zeroed, so threads without iterations contribute
//! nothing.
//!
//! Arrays whose elements a loop inspects and sums of fractions are not handled.

use super::kernel_text::always_inline;
use super::partition::LoopSection;
use super::runtime_calls::{PREFIX, Reduction};
use super::{Refusal, constant, refuse, users};
use crate::nvptx::{called, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use crate::shim;
use hashbrown::HashSet;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};
use std::ffi::CString;

/// Largest record of an iteration, in bytes.
const RECORD: u64 = super::runtime_calls::RECORD;
/// Largest absolute value of constants that are added as `double`, so that their sum stays exact.
const LARGEST: f64 = 4_294_967_296.0;
/// Largest width of integers that are added as `double`, in bits.
const BITS: u32 = 32;

/// An array to which loops add.
struct SummedArray {
    array: LLVMValueRef,
    size: u64,
    /// Type of its elements.
    of: LLVMTypeRef,
    /// Accesses in loops, with the loops' indices.
    inside: Vec<(usize, LLVMValueRef)>,
}

/// Result of placing the arrays of a function.
#[derive(Default)]
pub(super) struct PlacedArrays {
    /// Arrays that the device has, too.
    pub shared: HashSet<LLVMValueRef>,
    /// Reason why an array that resembles a sum is none.
    pub hint: Option<Refusal>,
}

/// Reason why an array is no sum.
enum NotASum {
    /// Other uses.
    Other,
    /// Fractions are added.
    Fraction(LLVMValueRef),
}

/// Finds such arrays and makes the loops reduce them.
pub(super) fn place(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    sections: &[LoopSection],
    reductions: &mut Vec<Reduction>,
) -> PlacedArrays {
    let mut placed = PlacedArrays::default();
    let mut found = Vec::new();
    for array in instructions(function) {
        if llvm!(core::LLVMIsAAllocaInst(array)).is_null() {
            continue;
        }
        match sum(module, sections, array) {
            Ok(sum) => found.push(sum),
            Err(NotASum::Other) => {}
            Err(NotASum::Fraction(at)) => {
                placed.hint = Some(refuse(
                    "a private array adds up fractions over iterations, whose order affects the digits",
                    Some(at),
                ));
            }
        }
    }
    let context = llvm!(core::LLVMGetModuleContext(module));
    let mut it = ReductionBuilder {
        module,
        function,
        builder: llvm!(core::LLVMCreateBuilderInContext(context)),
        reductions,
    };
    let mut begun: Vec<Option<LLVMValueRef>> = sections.iter().map(|s| s.reduction()).collect();
    for sum in found {
        let mut loops: Vec<usize> = sum.inside.iter().map(|i| i.0).collect();
        loops.dedup();
        loops.sort_unstable();
        loops.dedup();
        if loops.iter().any(|&l| !it.fits(begun[l], sum.size)) {
            continue;
        }
        for number in loops {
            let accesses: Vec<LLVMValueRef> = sum
                .inside
                .iter()
                .filter(|i| i.0 == number)
                .map(|i| i.1)
                .collect();
            begun[number] = it.reduce(&sum, &sections[number], &accesses, begun[number]);
        }
        placed.shared.insert(sum.array);
    }
    llvm!(core::LLVMDisposeBuilder(it.builder));
    placed
}

/// Moves loads of such arrays after the loop's end if a compiler has placed them at the end of the
/// loop and merged them with zero for a loop without iterations.
pub(super) fn read_behind(module: LLVMModuleRef, function: LLVMValueRef) {
    let joins: Vec<LLVMValueRef> = instructions(function)
        .filter(|&i| opcode(i) == Some(LLVMOpcode::LLVMPHI))
        .collect();
    for join in joins {
        let count = llvm!(core::LLVMCountIncoming(join));
        let incoming = |i| {
            (
                llvm!(core::LLVMGetIncomingValue(join, i)),
                llvm!(core::LLVMGetIncomingBlock(join, i)),
            )
        };
        let arms: Vec<(LLVMValueRef, LLVMBasicBlockRef)> = (0..count).map(incoming).collect();
        if let Some(load) = same_place(module, function, &arms) {
            read_again(join, load);
        }
    }
}

/// Returns one of the loads that are merged with zeros, if all would read the same value after the
/// merge.
fn same_place(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    arms: &[(LLVMValueRef, LLVMBasicBlockRef)],
) -> Option<LLVMValueRef> {
    let is_load = |v: &LLVMValueRef| opcode(*v) == Some(LLVMOpcode::LLVMLoad);
    let load = arms.iter().map(|a| a.0).find(is_load)?;
    let place = |v| shim::constant_offset(module, operand(v, 0));
    let (array, offset) = place(load);
    if llvm!(core::LLVMIsAAllocaInst(array)).is_null()
        || llvm!(core::LLVMGetVolatile(load)) != 0
        || constant(operand(array, 0)) != Some(1)
    {
        return None;
    }
    let layout = llvm!(target::LLVMGetModuleDataLayout(module));
    let whole = llvm!(core::LLVMGetAllocatedType(array));
    let size = llvm!(target::LLVMABISizeOfType(layout, whole)) as i64;
    let writes = |i: LLVMValueRef| {
        super::kernel_sequence::accesses(i)
            .iter()
            .any(|&(to, write)| write && super::kernel_sequence::variables(to).contains(&array))
    };
    let clears = |i: LLVMValueRef| {
        called(i).is_some_and(|f| name_of(f).starts_with("llvm.memset."))
            && operand(i, 0) == array
            && constant(operand(i, 1)) == Some(0)
            && constant(operand(i, 2)) == Some(size)
    };
    let block = |i| llvm!(core::LLVMGetInstructionParent(i));
    let all: Vec<LLVMValueRef> = instructions(function).collect();
    // If its address escapes, it may be written elsewhere.
    let known = super::partition::is_seen(module, array);
    let (cleared, written): (Vec<_>, Vec<_>) = all
        .iter()
        .copied()
        .filter(|&i| writes(i))
        .partition(|&i| clears(i));
    let walls: HashSet<LLVMBasicBlockRef> = cleared.into_iter().map(block).collect();
    let from: Vec<LLVMBasicBlockRef> = written.iter().map(|&i| block(i)).collect();
    let changed = super::partition::reached(&from, &|b| walls.contains(&b));
    let fine = |&(value, edge): &(LLVMValueRef, LLVMBasicBlockRef)| {
        if is_load(&value) {
            let mut at = llvm!(core::LLVMGetNextInstruction(value));
            let mut kept = block(value) == edge && place(value) == (array, offset);
            while !at.is_null() {
                kept &= !writes(at);
                at = llvm!(core::LLVMGetNextInstruction(at));
            }
            return kept;
        }
        let zero = opcode(value).is_none() && llvm!(core::LLVMIsNull(value)) != 0;
        zero && !changed.contains(&edge) && !from.contains(&edge)
    };
    (known && arms.iter().all(fine)).then_some(load)
}

/// Replaces the merged value by a load after the loop's end.
fn read_again(join: LLVMValueRef, load: LLVMValueRef) {
    let next = |i| llvm!(core::LLVMGetNextInstruction(i));
    let mut at = join;
    let mut behind = join;
    while !at.is_null() {
        let ends = called(at).is_some_and(|f| *name_of(f) == *super::runtime_calls::STATIC_FINI);
        if ends || opcode(at) == Some(LLVMOpcode::LLVMPHI) {
            behind = at;
        }
        at = next(at);
    }
    let mut used = join;
    while used != behind {
        used = next(used);
        if users(join).contains(&used) && used != behind {
            return;
        }
    }
    let of = llvm!(core::LLVMTypeOf(join));
    let context = llvm!(core::LLVMGetTypeContext(of));
    let builder = llvm!(core::LLVMCreateBuilderInContext(context));
    llvm!(core::LLVMPositionBuilderBefore(builder, next(behind)));
    let mut address = operand(load, 0);
    if opcode(address) == Some(LLVMOpcode::LLVMGetElementPtr) {
        // The address may not be available here.
        address = llvm!(core::LLVMInstructionClone(address));
        llvm!(core::LLVMInsertIntoBuilder(builder, address));
    }
    let made = llvm!(core::LLVMBuildLoad2(builder, of, address, c"".as_ptr()));
    llvm!(core::LLVMDisposeBuilder(builder));
    llvm!(core::LLVMReplaceAllUsesWith(join, made));
    llvm!(core::LLVMInstructionEraseFromParent(join));
}

fn operand(value: LLVMValueRef, index: u32) -> LLVMValueRef {
    llvm!(core::LLVMGetOperand(value, index))
}

fn opcode(value: LLVMValueRef) -> Option<LLVMOpcode> {
    let instruction = !llvm!(core::LLVMIsAInstruction(value)).is_null();
    instruction.then(|| llvm!(core::LLVMGetInstructionOpcode(value)))
}

fn is_lifetime(at: LLVMValueRef) -> bool {
    called(at).is_some_and(|f| name_of(f).starts_with("llvm.lifetime."))
}

/// Returns the scalar type of a type's elements.
fn scalar(of: LLVMTypeRef) -> LLVMTypeRef {
    match llvm!(core::LLVMGetTypeKind(of)) {
        LLVMTypeKind::LLVMVectorTypeKind => llvm!(core::LLVMGetElementType(of)),
        _ => of,
    }
}

/// Analyzes all uses of a variable.
fn sum(
    module: LLVMModuleRef,
    sections: &[LoopSection],
    array: LLVMValueRef,
) -> Result<SummedArray, NotASum> {
    let owner = |i| sections.iter().position(|s| s.contains(i));
    let layout = llvm!(target::LLVMGetModuleDataLayout(module));
    let bytes = |of| llvm!(target::LLVMABISizeOfType(layout, of));
    let whole = llvm!(core::LLVMGetAllocatedType(array));
    if constant(operand(array, 0)) != Some(1) {
        return Err(NotASum::Other);
    }
    let mut it = SummedArray {
        array,
        size: bytes(whole),
        of: whole,
        inside: Vec::new(),
    };
    let mut numbers: Vec<LLVMTypeRef> = Vec::new();
    let (mut loads, mut stores) = (Vec::new(), Vec::new());
    let mut read_outside = false;
    let mut open = vec![array];
    while let Some(pointer) = open.pop() {
        for at in users(pointer) {
            let number = owner(at);
            match opcode(at) {
                Some(LLVMOpcode::LLVMGetElementPtr) if operand(at, 0) == pointer => open.push(at),
                Some(LLVMOpcode::LLVMLoad) => {
                    let kind = scalar(llvm!(core::LLVMTypeOf(at)));
                    match number {
                        Some(number) => {
                            it.inside.push((number, at));
                            numbers.push(kind);
                            loads.push(at);
                        }
                        None => read_outside = true,
                    }
                }
                Some(LLVMOpcode::LLVMStore) if operand(at, 0) != pointer => {
                    let value = operand(at, 0);
                    match number {
                        Some(number) => {
                            it.inside.push((number, at));
                            stores.push(at);
                        }
                        None if llvm!(core::LLVMIsNull(value)) != 0 => {}
                        None => return Err(NotASum::Other),
                    }
                }
                Some(LLVMOpcode::LLVMCall) if is_lifetime(at) => {}
                Some(LLVMOpcode::LLVMCall) => {
                    let name = called(at).map(name_of).ok_or(NotASum::Other)?;
                    let fills = name.starts_with("llvm.memset.") && number.is_none();
                    if !fills || constant(operand(at, 1)) != Some(0) {
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
    let mut sums: HashSet<LLVMValueRef> = HashSet::new();
    let mut fraction = None;
    for &load in &loads {
        added(load, &mut sums, &mut fraction).ok_or(NotASum::Other)?;
    }
    if stores.iter().any(|&s| !sums.contains(&operand(s, 0))) {
        return Err(NotASum::Other);
    }
    if let Some(at) = fraction {
        return Err(NotASum::Fraction(at));
    }
    it.of = *numbers.first().ok_or(NotASum::Other)?;
    if numbers.iter().any(|&n| n != it.of) || !it.size.is_multiple_of(bytes(it.of)) {
        return Err(NotASum::Other);
    }
    Ok(it)
}

/// Follows a value that was read: it must only flow back to the same address, with something added.
fn added(
    load: LLVMValueRef,
    sums: &mut HashSet<LLVMValueRef>,
    fraction: &mut Option<LLVMValueRef>,
) -> Option<()> {
    use LLVMOpcode::*;
    let place = operand(load, 0);
    let mut chain: HashSet<LLVMValueRef> = HashSet::new();
    chain.insert(load);
    let mut open = vec![load];
    let mut joins = Vec::new();
    while let Some(value) = open.pop() {
        for user in users(value) {
            match opcode(user)? {
                LLVMStore if operand(user, 0) == value && operand(user, 1) == place => continue,
                LLVMAdd => {}
                LLVMSub if operand(user, 0) == value => {}
                LLVMFAdd | LLVMFSub => {
                    let first = operand(user, 0) == value;
                    if !first && opcode(user)? == LLVMFSub {
                        return None;
                    }
                    let other = operand(user, u32::from(first));
                    if !exact(other) {
                        *fraction = Some(user);
                    }
                }
                LLVMPHI | LLVMSelect => joins.push(user),
                _ => return None,
            }
            if chain.insert(user) {
                open.push(user);
            }
        }
    }
    for &value in &chain {
        let twice = matches!(opcode(value)?, LLVMAdd | LLVMSub | LLVMFAdd | LLVMFSub)
            && chain.contains(&operand(value, 0))
            && chain.contains(&operand(value, 1));
        if twice {
            return None;
        }
    }
    for join in joins {
        let all = match opcode(join)? {
            LLVMPHI => {
                let count = llvm!(core::LLVMCountIncoming(join));
                let incoming = |i| llvm!(core::LLVMGetIncomingValue(join, i));
                (0..count).all(|i| chain.contains(&incoming(i)))
            }
            _ => {
                !chain.contains(&operand(join, 0))
                    && [1, 2].iter().all(|&i| chain.contains(&operand(join, i)))
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
fn exact(value: LLVMValueRef) -> bool {
    use LLVMOpcode::*;
    let of = llvm!(core::LLVMTypeOf(value));
    let wide = llvm!(core::LLVMGetTypeKind(scalar(of))) == LLVMTypeKind::LLVMDoubleTypeKind;
    if !wide {
        return false;
    }
    if !llvm!(core::LLVMIsAConstantFP(value)).is_null() {
        let mut loses = 0;
        let number = llvm!(core::LLVMConstRealGetDouble(value, &mut loses));
        return number.fract() == 0.0 && number.abs() <= LARGEST;
    }
    if !llvm!(core::LLVMIsAConstant(value)).is_null() {
        let vector = llvm!(core::LLVMGetTypeKind(of)) == LLVMTypeKind::LLVMVectorTypeKind;
        let count = if vector {
            llvm!(core::LLVMGetVectorSize(of))
        } else {
            0
        };
        let part = |i| llvm!(core::LLVMGetAggregateElement(value, i));
        return count > 0 && (0..count).all(|i| !part(i).is_null() && exact(part(i)));
    }
    match opcode(value) {
        Some(LLVMSIToFP | LLVMUIToFP) => {
            let from = scalar(llvm!(core::LLVMTypeOf(operand(value, 0))));
            llvm!(core::LLVMGetIntTypeWidth(from)) <= BITS
        }
        Some(LLVMSelect) => [1, 2].iter().all(|&i| exact(operand(value, i))),
        _ => false,
    }
}

struct ReductionBuilder<'a> {
    module: LLVMModuleRef,
    function: LLVMValueRef,
    builder: LLVMBuilderRef,
    reductions: &'a mut Vec<Reduction>,
}

impl ReductionBuilder<'_> {
    /// Returns the index of a reduction by the call that begins it.
    fn number(&self, begin: LLVMValueRef) -> Option<usize> {
        let name = name_of(called(begin)?);
        self.reductions.iter().position(|r| *r.name == *name)
    }

    /// Returns true if the record of a loop's reduction has room for `size` more bytes.
    fn fits(&self, begin: Option<LLVMValueRef>, size: u64) -> bool {
        let Some(begin) = begin else {
            return size <= RECORD;
        };
        let list = operand(begin, 1);
        let Some(number) = self.number(begin) else {
            return false;
        };
        let items = &self.reductions[number].items;
        let whole: u64 = items.iter().map(|s| s.next_multiple_of(8)).sum();
        !llvm!(core::LLVMIsAAllocaInst(list)).is_null()
            && result(begin).is_some()
            && whole + size <= RECORD
    }

    fn context(&self) -> LLVMContextRef {
        llvm!(core::LLVMGetModuleContext(self.module))
    }

    fn pointer(&self) -> LLVMTypeRef {
        llvm!(core::LLVMPointerTypeInContext(self.context(), 0))
    }

    fn word(&self, value: u64) -> LLVMValueRef {
        let of = llvm!(core::LLVMInt64TypeInContext(self.context()));
        llvm!(core::LLVMConstInt(of, value, 0))
    }

    fn before(&self, at: LLVMValueRef) {
        llvm!(core::LLVMPositionBuilderBefore(self.builder, at));
    }

    /// Creates a private variable.
    fn variable(&self, of: LLVMTypeRef, align: u32) -> LLVMValueRef {
        let entry = llvm!(core::LLVMGetEntryBasicBlock(self.function));
        self.before(llvm!(core::LLVMGetFirstInstruction(entry)));
        let made = llvm!(core::LLVMBuildAlloca(self.builder, of, c"".as_ptr()));
        llvm!(core::LLVMSetAlignment(made, align));
        made
    }

    fn offset(&self, pointer: LLVMValueRef, by: u64) -> LLVMValueRef {
        let byte = llvm!(core::LLVMInt8TypeInContext(self.context()));
        let mut index = [self.word(by)];
        llvm!(core::LLVMBuildGEP2(
            self.builder,
            byte,
            pointer,
            index.as_mut_ptr(),
            1,
            c"".as_ptr()
        ))
    }

    fn call(&self, function: LLVMValueRef, arguments: &[LLVMValueRef]) -> LLVMValueRef {
        let mut arguments = arguments.to_vec();
        let of = llvm!(core::LLVMGlobalGetValueType(function));
        llvm!(core::LLVMBuildCall2(
            self.builder,
            of,
            function,
            arguments.as_mut_ptr(),
            arguments.len() as u32,
            c"".as_ptr()
        ))
    }

    /// Redirects a loop's accesses to a copy, which becomes part of its reduction. Returns the call
    /// that begins the reduction.
    fn reduce(
        &mut self,
        sum: &SummedArray,
        section: &LoopSection,
        accesses: &[LLVMValueRef],
        begin: Option<LLVMValueRef>,
    ) -> Option<LLVMValueRef> {
        let of = llvm!(core::LLVMGetAllocatedType(sum.array));
        let copy = self.variable(of, 16);
        // After the marker of the loop's start.
        let mark = llvm!(core::LLVMGetFirstInstruction(section.entry));
        self.before(llvm!(core::LLVMGetNextInstruction(mark)));
        let byte = llvm!(core::LLVMInt8TypeInContext(self.context()));
        let nothing = llvm!(core::LLVMConstNull(byte));
        llvm!(core::LLVMBuildMemSet(
            self.builder,
            copy,
            nothing,
            self.word(sum.size),
            16
        ));
        for &at in accesses {
            let index = u32::from(opcode(at) == Some(LLVMOpcode::LLVMStore));
            let address = self.moved(operand(at, index), sum.array, copy, at);
            llvm!(core::LLVMSetOperand(at, index, address));
        }
        let adds = self.adds(sum);
        let begin = match begin {
            Some(begin) => self.extend(begin, copy, sum, adds),
            None => self.begin(section, copy, sum, adds),
        };
        self.add_result(begin, sum, copy, adds);
        Some(begin)
    }

    /// Rebases an address from the array to the copy.
    fn moved(
        &self,
        address: LLVMValueRef,
        array: LLVMValueRef,
        copy: LLVMValueRef,
        before: LLVMValueRef,
    ) -> LLVMValueRef {
        if address == array {
            return copy;
        }
        let base = self.moved(operand(address, 0), array, copy, before);
        let made = llvm!(core::LLVMInstructionClone(address));
        llvm!(core::LLVMSetOperand(made, 0, base));
        self.before(before);
        llvm!(core::LLVMInsertIntoBuilder(self.builder, made));
        made
    }

    fn add_function(&self, name: &str) -> LLVMValueRef {
        let nothing = llvm!(core::LLVMVoidTypeInContext(self.context()));
        let mut types = [self.pointer(); 2];
        let of = llvm!(core::LLVMFunctionType(nothing, types.as_mut_ptr(), 2, 0));
        let name = CString::new(name).unwrap_or_default();
        let made = llvm!(core::LLVMAddFunction(self.module, name.as_ptr(), of));
        always_inline(made);
        made
    }

    fn block(&self, function: LLVMValueRef) -> LLVMBasicBlockRef {
        llvm!(core::LLVMAppendBasicBlockInContext(
            self.context(),
            function,
            c"".as_ptr()
        ))
    }

    /// Defines a function that adds an array's elements to those of another.
    fn adds(&self, sum: &SummedArray) -> LLVMValueRef {
        let layout = llvm!(target::LLVMGetModuleDataLayout(self.module));
        let count = sum.size / llvm!(target::LLVMABISizeOfType(layout, sum.of));
        let function = self.add_function(&format!("{PREFIX}adds"));
        let (into, from) = (
            llvm!(core::LLVMGetParam(function, 0)),
            llvm!(core::LLVMGetParam(function, 1)),
        );
        let (b, none) = (self.builder, c"".as_ptr());
        let [entry, each, end] = [0; 3].map(|_| self.block(function));
        llvm!(core::LLVMPositionBuilderAtEnd(b, entry));
        llvm!(core::LLVMBuildBr(b, each));
        llvm!(core::LLVMPositionBuilderAtEnd(b, each));
        let zero = self.word(0);
        let word = llvm!(core::LLVMTypeOf(zero));
        let index = llvm!(core::LLVMBuildPhi(b, word, none));
        let [to, what] = [into, from].map(|array| {
            let mut at = [index];
            llvm!(core::LLVMBuildGEP2(
                b,
                sum.of,
                array,
                at.as_mut_ptr(),
                1,
                none
            ))
        });
        let old = llvm!(core::LLVMBuildLoad2(b, sum.of, to, none));
        let more = llvm!(core::LLVMBuildLoad2(b, sum.of, what, none));
        let whole = llvm!(core::LLVMGetTypeKind(sum.of)) == LLVMTypeKind::LLVMIntegerTypeKind;
        let new = match whole {
            true => llvm!(core::LLVMBuildAdd(b, old, more, none)),
            false => llvm!(core::LLVMBuildFAdd(b, old, more, none)),
        };
        llvm!(core::LLVMBuildStore(b, new, to));
        let next = llvm!(core::LLVMBuildAdd(b, index, self.word(1), none));
        let equal = inkwell::llvm_sys::LLVMIntPredicate::LLVMIntEQ;
        let last = llvm!(core::LLVMBuildICmp(b, equal, next, self.word(count), none));
        llvm!(core::LLVMBuildCondBr(b, last, end, each));
        let (mut values, mut blocks) = ([zero, next], [entry, each]);
        llvm!(core::LLVMAddIncoming(
            index,
            values.as_mut_ptr(),
            blocks.as_mut_ptr(),
            2
        ));
        llvm!(core::LLVMPositionBuilderAtEnd(b, end));
        llvm!(core::LLVMBuildRetVoid(b));
        function
    }

    /// Defines a function that combines two lists of copies: the array at `index`, and the others
    /// as before.
    fn combine(
        &self,
        name: &str,
        others: Option<LLVMValueRef>,
        index: usize,
        adds: LLVMValueRef,
    ) -> LLVMValueRef {
        let function = self.add_function(&format!("{name}.combine"));
        let lists = [0, 1].map(|i| llvm!(core::LLVMGetParam(function, i)));
        let entry = self.block(function);
        llvm!(core::LLVMPositionBuilderAtEnd(self.builder, entry));
        if let Some(others) = others {
            self.call(others, &lists);
        }
        let arrays = lists.map(|list| {
            let at = self.offset(list, 8 * index as u64);
            llvm!(core::LLVMBuildLoad2(
                self.builder,
                self.pointer(),
                at,
                c"".as_ptr()
            ))
        });
        self.call(adds, &arrays);
        llvm!(core::LLVMBuildRetVoid(self.builder));
        function
    }

    fn list(&self, count: usize) -> LLVMValueRef {
        let of = llvm!(core::LLVMArrayType2(self.pointer(), count as u64));
        self.variable(of, 8)
    }

    /// Adds a copy to a reduction.
    fn extend(
        &mut self,
        begin: LLVMValueRef,
        copy: LLVMValueRef,
        sum: &SummedArray,
        adds: LLVMValueRef,
    ) -> LLVMValueRef {
        let Some(number) = self.number(begin) else {
            return begin;
        };
        let known = self.reductions[number].clone();
        let index = known.items.len();
        let old = operand(begin, 1);
        let list = self.list(index + 1);
        llvm!(core::LLVMReplaceAllUsesWith(old, list));
        llvm!(core::LLVMInstructionEraseFromParent(old));
        self.before(begin);
        let place = self.offset(list, 8 * index as u64);
        llvm!(core::LLVMBuildStore(self.builder, copy, place));
        let combine = self.combine(&known.name, Some(known.combine), index, adds);
        let reduction = &mut self.reductions[number];
        reduction.items.push(sum.size);
        reduction.combine = combine;
        begin
    }

    /// Creates a reduction after a loop.
    fn begin(
        &mut self,
        section: &LoopSection,
        copy: LLVMValueRef,
        sum: &SummedArray,
        adds: LLVMValueRef,
    ) -> LLVMValueRef {
        let name = format!(
            "{PREFIX}reduce.{}.{}",
            name_of(self.function),
            self.reductions.len()
        );
        let combine = self.combine(&name, None, 0, adds);
        let list = self.list(1);
        let bit = llvm!(core::LLVMInt1TypeInContext(self.context()));
        let mut types = [self.pointer(); 2];
        let of = llvm!(core::LLVMFunctionType(bit, types.as_mut_ptr(), 2, 0));
        let text = CString::new(&*name).unwrap_or_default();
        let reduces = llvm!(core::LLVMAddFunction(self.module, text.as_ptr(), of));
        self.before(llvm!(core::LLVMGetFirstInstruction(section.after)));
        llvm!(core::LLVMBuildStore(self.builder, copy, list));
        let thread = llvm!(core::LLVMGetParam(self.function, 0));
        let begin = self.call(reduces, &[thread, list]);
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
        begin: LLVMValueRef,
        sum: &SummedArray,
        copy: LLVMValueRef,
        adds: LLVMValueRef,
    ) {
        if let Some(result) = result(begin) {
            let mut first = llvm!(core::LLVMGetFirstInstruction(result));
            while !llvm!(core::LLVMIsAPHINode(first)).is_null() {
                first = llvm!(core::LLVMGetNextInstruction(first));
            }
            self.before(first);
            let call = self.call(adds, &[sum.array, copy]);
            shim::inline_call(call);
            return;
        }
        let here = llvm!(core::LLVMGetInstructionParent(begin));
        let rest = shim::split_before(llvm!(core::LLVMGetNextInstruction(begin)));
        let end = llvm!(core::LLVMGetBasicBlockTerminator(here));
        let result = self.block(self.function);
        self.before(end);
        llvm!(core::LLVMBuildCondBr(self.builder, begin, result, rest));
        llvm!(core::LLVMInstructionEraseFromParent(end));
        llvm!(core::LLVMPositionBuilderAtEnd(self.builder, result));
        let call = self.call(adds, &[sum.array, copy]);
        llvm!(core::LLVMBuildBr(self.builder, rest));
        shim::inline_call(call);
    }
}

/// Returns the block that only the thread with the reduction's result enters.
fn result(begin: LLVMValueRef) -> Option<LLVMBasicBlockRef> {
    let chosen = users(begin).into_iter().find(|&u| {
        opcode(u) == Some(LLVMOpcode::LLVMBr) && llvm!(core::LLVMGetNumSuccessors(u)) == 2
    })?;
    let [then, other] = [0, 1].map(|i| llvm!(core::LLVMGetSuccessor(chosen, i)));
    let only = super::partition::predecessors(then).len() == 1 && then != other;
    only.then_some(then)
}
