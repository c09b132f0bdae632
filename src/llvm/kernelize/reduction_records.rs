//! Placement of a reduction's private copies, and layout of the records that they leave.
//!
//! Each iteration has its own private copies ([`super`]): they are initialized, and after the
//! iteration they are combined with the thread's record. For a number that costs one operation in
//! registers. For an array of which an iteration updates some elements by index, it would cost all
//! elements, in memory. Such a copy becomes part of the record itself: it is initialized once, and
//! iterations add to it in place ([`stays`]).
//!
//! This is sound because iterations then see what earlier ones of the thread left there, as on a
//! host thread. But the compiler knew the initial value and may have folded it. So each write in
//! the loop must follow a read of the same address: then the compiler did not know the contents.
//!
//! Records with such copies are in shared memory, where an access takes a few cycles; on the stack
//! the copies of all threads would exceed the cache. A variable per kernel has a slot for each
//! thread. The slot size is an odd multiple of [`ALIGN`], so that the same part of different
//! threads' records is in different banks. A block has as many threads as find room in [`ROOM`];
//! records that are too large for one warp are on the stack.

use super::constant;
use super::kernel_text::{WARP, quoted};
use super::runtime_calls::{self, PREFIX, Reduction};
use crate::nvptx::{called, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use crate::shim;
use hashbrown::HashSet;
use inkwell::llvm_sys::prelude::*;
use omp_abi::VirtualThread;
use omp_abi::outlined::{ITERATE, RESULT};
use std::fmt::Write;

/// Shared memory of a block for records, in bytes; the rest of 48 KiB is the runtime's.
const ROOM: u64 = 44 << 10;
/// Alignment of a record's parts, the largest that compilers rely on.
const ALIGN: u64 = 16;
/// Offsets in a thread's state: the phase, and behind it the pointers to the thread's record and to
/// what is kept at the end.
const PHASE: u64 = std::mem::offset_of!(VirtualThread, phase) as u64;
const RECORD: u64 = size_of::<VirtualThread>() as u64;
const KEPT: u64 = RECORD + 8;
/// Size of the state with the pointers, in bytes.
pub(super) const STATE: u64 = KEPT + 8;
/// Most loads and stores that copy a part of a record; a larger one is copied by a loop.
const WORDS: u64 = 64;

/// The part of a record that belongs to a private copy.
#[derive(Clone, Copy, Debug)]
struct RecordPart {
    /// Offset in the record, in bytes.
    at: u64,
    size: u64,
    /// True if the copy itself is in the record.
    stays: bool,
}

/// Layout of a reduction's records.
#[derive(Debug)]
pub(super) struct Records {
    /// Number of threads in a block.
    pub threads: u32,
    /// Size of a record, in bytes.
    pub size: u64,
    /// Distance of records in shared memory, in bytes, if they are there.
    pub slot: Option<u64>,
    /// Name of the function that returns a thread's slot.
    name: String,
    parts: Vec<RecordPart>,
}

/// Decides the layout for a region's function, and makes the function use it.
pub(super) fn lay_out(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    kernel: &str,
    reduction: &Reduction,
    most: u32,
) -> Records {
    let mut parts = Vec::new();
    let mut size = 0;
    for bytes in &reduction.items {
        parts.push(RecordPart {
            at: size,
            size: *bytes,
            stays: false,
        });
        size += bytes.next_multiple_of(ALIGN);
    }
    let mut records = Records {
        threads: most,
        size,
        slot: None,
        name: format!("{PREFIX}slot.{kernel}"),
        parts,
    };
    let begin =
        instructions(function).find(|&i| called(i).is_some_and(|f| *name_of(f) == *reduction.name));
    let Some(begin) = begin else { return records };
    let list = llvm!(core::LLVMGetOperand(begin, 1));
    let Some(order) = LoopOrder::find(function) else {
        return records;
    };
    let mut copies = Vec::new();
    for (k, part) in records.parts.iter_mut().enumerate() {
        let copy = runtime_calls::private(module, function, list, 8 * k as i64);
        let Some((copy, _)) = copy.filter(|&(copy, _)| stays(module, &order, copy)) else {
            continue;
        };
        if u64::from(llvm!(core::LLVMGetAlignment(copy))) <= ALIGN {
            part.stays = true;
            copies.push((copy, *part));
        }
    }
    if copies.is_empty() {
        return records;
    }
    if let Some((slot, threads)) = fit(size, most) {
        records.slot = Some(slot);
        records.threads = threads;
    }
    put(module, function, &order, &copies);
    records
}

/// Partition of a function's code: before the loop, or in and after it.
struct LoopOrder {
    begin: LLVMValueRef,
    late: HashSet<LLVMBasicBlockRef>,
}

impl LoopOrder {
    fn find(function: LLVMValueRef) -> Option<LoopOrder> {
        let (divided, fetched) = (format!("{PREFIX}static_"), format!("{PREFIX}fetch_"));
        let begin = instructions(function).find(|&i| {
            called(i).is_some_and(|f| {
                let name = name_of(f);
                name.starts_with(&*divided) || name.starts_with(&*fetched)
            })
        })?;
        let mut late = HashSet::new();
        let mut open = vec![llvm!(core::LLVMGetInstructionParent(begin))];
        while let Some(block) = open.pop() {
            let end = llvm!(core::LLVMGetBasicBlockTerminator(block));
            for index in 0..llvm!(core::LLVMGetNumSuccessors(end)) {
                let next = llvm!(core::LLVMGetSuccessor(end, index));
                if late.insert(next) {
                    open.push(next);
                }
            }
        }
        Some(LoopOrder { begin, late })
    }

    /// Returns true if an instruction is before the loop.
    fn early(&self, instruction: LLVMValueRef) -> bool {
        let block = llvm!(core::LLVMGetInstructionParent(instruction));
        if block != llvm!(core::LLVMGetInstructionParent(self.begin)) {
            return !self.late.contains(&block);
        }
        let mut at = instruction;
        while !at.is_null() {
            if at == self.begin {
                return true;
            }
            at = llvm!(core::LLVMGetNextInstruction(at));
        }
        false
    }
}

/// Returns true if a copy can be part of the record: it is accessed by index, and each write in the
/// loop follows a read of the same address.
fn stays(module: LLVMModuleRef, order: &LoopOrder, copy: LLVMValueRef) -> bool {
    let mut open = vec![copy];
    let mut seen = HashSet::new();
    let mut indexed = false;
    while let Some(pointer) = open.pop() {
        for user in super::users(pointer) {
            let early = order.early(user);
            if !llvm!(core::LLVMIsAGetElementPtrInst(user)).is_null() {
                let count = llvm!(core::LLVMGetNumOperands(user)) as u32;
                let mut indices = (1..count).map(|i| llvm!(core::LLVMGetOperand(user, i)));
                indexed |= !early && indices.any(|i| constant(i).is_none());
                open.push(user);
            } else if !llvm!(core::LLVMIsAPHINode(user)).is_null()
                || !llvm!(core::LLVMIsASelectInst(user)).is_null()
            {
                indexed |= !early;
                if seen.insert(user) {
                    open.push(user);
                }
            } else if !llvm!(core::LLVMIsAStoreInst(user)).is_null() {
                let into = llvm!(core::LLVMGetOperand(user, 1)) == pointer;
                if into && !early && !follows_read(module, order, user) {
                    return false;
                }
                // The list of the copies may hold its address.
                let whole = llvm!(core::LLVMGetOperand(user, 0)) == pointer;
                if whole && pointer != copy {
                    return false;
                }
            } else if !llvm!(core::LLVMIsACallInst(user)).is_null() {
                let Some(callee) = called(user) else {
                    return false;
                };
                let name = name_of(callee);
                let written = name.starts_with("llvm.mem");
                if !early && written && llvm!(core::LLVMGetOperand(user, 0)) == pointer {
                    return false;
                }
                if !written && !name.starts_with("llvm.lifetime.") {
                    return false;
                }
            } else if llvm!(core::LLVMIsALoadInst(user)).is_null()
                && llvm!(core::LLVMIsAICmpInst(user)).is_null()
            {
                return false;
            }
        }
    }
    indexed
}

/// Returns true if every path in the loop to a store has read the stored bytes.
fn follows_read(module: LLVMModuleRef, order: &LoopOrder, store: LLVMValueRef) -> bool {
    let loads = |at| !llvm!(core::LLVMIsALoadInst(at)).is_null();
    let place = |at| {
        let address = llvm!(core::LLVMGetOperand(at, u32::from(!loads(at))));
        shim::constant_offset(module, address)
    };
    let size = |at| {
        let value = match loads(at) {
            true => at,
            false => llvm!(core::LLVMGetOperand(at, 0)),
        };
        let of = llvm!(core::LLVMTypeOf(value));
        let layout = llvm!(target::LLVMGetModuleDataLayout(module));
        llvm!(target::LLVMStoreSizeOfType(layout, of)) as i64
    };
    let (base, first) = place(store);
    let end = first + size(store);
    // Byte ranges that were read.
    let mut read: Vec<(i64, i64)> = Vec::new();
    let mut at = llvm!(core::LLVMGetPreviousInstruction(store));
    let mut block = llvm!(core::LLVMGetInstructionParent(store));
    loop {
        while !at.is_null() {
            if at == order.begin {
                return false;
            }
            if loads(at) {
                let (from, offset) = place(at);
                if from == base {
                    read.push((offset, offset + size(at)));
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
            at = llvm!(core::LLVMGetPreviousInstruction(at));
        }
        let Some(before) = only_predecessor(block) else {
            return false;
        };
        block = before;
        at = llvm!(core::LLVMGetBasicBlockTerminator(block));
    }
}

fn only_predecessor(block: LLVMBasicBlockRef) -> Option<LLVMBasicBlockRef> {
    let jumps = super::users(llvm!(core::LLVMBasicBlockAsValue(block)));
    let mut from = jumps
        .into_iter()
        .filter(|&u| !llvm!(core::LLVMIsATerminatorInst(u)).is_null())
        .map(|u| llvm!(core::LLVMGetInstructionParent(u)));
    let first = from.next()?;
    from.all(|other| other == first).then_some(first)
}

/// Returns the distance of records and the number of threads in a block; `None` if there is no
/// room.
fn fit(size: u64, most: u32) -> Option<(u64, u32)> {
    let slot = (size.div_ceil(ALIGN) | 1) * ALIGN;
    let mut threads = most;
    while slot * u64::from(threads) > ROOM {
        threads /= 2;
    }
    (threads >= WARP).then_some((slot, threads))
}

/// Moves copies to their places in the thread's record; writes before the loop go there once.
fn put(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    order: &LoopOrder,
    copies: &[(LLVMValueRef, RecordPart)],
) {
    let context = llvm!(core::LLVMGetModuleContext(module));
    let byte = llvm!(core::LLVMInt8TypeInContext(context));
    let number = llvm!(core::LLVMInt32TypeInContext(context));
    let word = llvm!(core::LLVMInt64TypeInContext(context));
    let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
    let it = CopyRedirection {
        byte,
        builder: llvm!(core::LLVMCreateBuilderInContext(context)),
        order,
    };
    let entry = llvm!(core::LLVMGetEntryBasicBlock(function));
    let first = llvm!(core::LLVMGetFirstInstruction(entry));
    llvm!(core::LLVMPositionBuilderBefore(it.builder, first));
    let place = llvm!(core::LLVMGetParam(function, 0));
    let none = c"".as_ptr();
    let at = it.offset(place, llvm!(core::LLVMConstInt(word, PHASE, 0)));
    let phase = llvm!(core::LLVMBuildLoad2(it.builder, number, at, none));
    let one = llvm!(core::LLVMConstInt(number, ITERATE as u64, 0));
    let equal = inkwell::llvm_sys::LLVMIntPredicate::LLVMIntEQ;
    let iterates = llvm!(core::LLVMBuildICmp(it.builder, equal, phase, one, none));
    let at = it.offset(place, llvm!(core::LLVMConstInt(word, RECORD, 0)));
    let record = llvm!(core::LLVMBuildLoad2(it.builder, pointer, at, none));
    let mut places = Vec::new();
    for (copy, part) in copies {
        let there = it.offset(record, llvm!(core::LLVMConstInt(word, part.at, 0)));
        let of = llvm!(core::LLVMArrayType2(byte, part.size));
        let aside = llvm!(core::LLVMBuildAlloca(it.builder, of, none));
        llvm!(core::LLVMSetAlignment(aside, ALIGN as u32));
        let early = llvm!(core::LLVMBuildSelect(
            it.builder, iterates, aside, there, none
        ));
        places.push((*copy, early, there));
    }
    for (copy, early, there) in places {
        it.redirect(copy, early, there);
        llvm!(core::LLVMInstructionEraseFromParent(copy));
    }
    llvm!(core::LLVMDisposeBuilder(it.builder));
}

struct CopyRedirection<'a> {
    byte: LLVMTypeRef,
    builder: LLVMBuilderRef,
    order: &'a LoopOrder,
}

impl CopyRedirection<'_> {
    fn offset(&self, pointer: LLVMValueRef, by: LLVMValueRef) -> LLVMValueRef {
        let mut index = [by];
        let index = index.as_mut_ptr();
        let none = c"".as_ptr();
        llvm!(core::LLVMBuildGEP2(
            self.builder,
            self.byte,
            pointer,
            index,
            1,
            none
        ))
    }

    /// Redirects uses of a pointer before the loop to `early`, and others to `late`.
    fn redirect(&self, pointer: LLVMValueRef, early: LLVMValueRef, late: LLVMValueRef) {
        let mut users = super::users(pointer);
        users.sort_unstable();
        users.dedup();
        for user in users {
            if called(user).is_some_and(|f| name_of(f).starts_with("llvm.lifetime.")) {
                llvm!(core::LLVMInstructionEraseFromParent(user));
                continue;
            }
            if !llvm!(core::LLVMIsAGetElementPtrInst(user)).is_null() {
                // An address computed before the loop may be used in it.
                let [first, second] = [early, late].map(|base| {
                    let copy = llvm!(core::LLVMInstructionClone(user));
                    llvm!(core::LLVMSetOperand(copy, 0, base));
                    llvm!(core::LLVMPositionBuilderBefore(self.builder, user));
                    llvm!(core::LLVMInsertIntoBuilder(self.builder, copy));
                    copy
                });
                self.redirect(user, first, second);
                llvm!(core::LLVMInstructionEraseFromParent(user));
                continue;
            }
            let instead = match self.order.early(user) {
                true => early,
                false => late,
            };
            for index in 0..llvm!(core::LLVMGetNumOperands(user)) as u32 {
                if llvm!(core::LLVMGetOperand(user, index)) == pointer {
                    llvm!(core::LLVMSetOperand(user, index, instead));
                }
            }
        }
    }
}

impl Records {
    /// Defines the function that returns a thread's slot, as text.
    pub fn define_slots(&self, text: &mut String, kernel: &str) {
        let Some(slot) = self.slot else { return };
        let memory = quoted(&format!("{kernel}_records"));
        let name = quoted(&self.name);
        let bytes = slot * u64::from(self.threads);
        let _ = writeln!(
            text,
            "{memory} = internal addrspace(3) global [{bytes} x i8] undef, align {ALIGN}\n\
             define hidden ptr {name}() alwaysinline {{\n  \
             %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  \
             %number = zext i32 %thread to i64\n  %at = mul i64 %number, {slot}\n  \
             %place = getelementptr i8, ptr addrspace(3) {memory}, i64 %at\n  \
             %slot = addrspacecast ptr addrspace(3) %place to ptr\n  ret ptr %slot\n}}"
        );
    }

    /// Declares a kernel's record, another one (which may hold what is kept), and lists of the
    /// addresses in both.
    pub fn declare(&self, text: &mut String) {
        let (size, items) = (self.size, self.parts.len());
        let _ = match self.slot {
            Some(_) => writeln!(text, "  %record = call ptr {}()", quoted(&self.name)),
            None => writeln!(text, "  %record = alloca [{size} x i8], align {ALIGN}"),
        };
        let _ = writeln!(
            text,
            "  %other = alloca [{size} x i8], align {ALIGN}\n  \
             %into = alloca [{items} x ptr], align 16\n  %from = alloca [{items} x ptr], align 16"
        );
        for (k, RecordPart { at, .. }) in self.parts.iter().enumerate() {
            for (list, of) in [("into", "record"), ("from", "other")] {
                let _ = writeln!(
                    text,
                    "  %{list}.{k} = getelementptr i8, ptr %{of}, i64 {at}\n  \
                     %{list}.at.{k} = getelementptr i8, ptr %{list}, i64 {}\n  \
                     store ptr %{list}.{k}, ptr %{list}.at.{k}, align 8",
                    8 * k
                );
            }
        }
        let kept = if self.has_copies() { "other" } else { "record" };
        let _ = writeln!(
            text,
            "  %record.place = getelementptr i8, ptr %virtual, i64 {RECORD}\n  \
             store ptr %record, ptr %record.place, align 8\n  \
             %kept.place = getelementptr i8, ptr %virtual, i64 {KEPT}\n  \
             store ptr %{kept}, ptr %kept.place, align 8"
        );
    }

    /// Returns true if private copies are parts of the record.
    fn has_copies(&self) -> bool {
        self.parts.iter().any(|p| p.stays)
    }

    /// Combines the records; `result:` begins the code of the thread that has the result.
    pub fn combine(&self, text: &mut String, combine: &str) {
        let words = self.size / 4;
        let _ = match self.slot {
            None => writeln!(
                text,
                "  %last = call i1 @__ompvm_outlined_combine(ptr %launch, ptr %record, ptr %other, \
                 i32 {words}, ptr %into, ptr %from, ptr {combine})"
            ),
            Some(slot) => writeln!(
                text,
                "  %last = call i1 @__ompvm_outlined_combine_slots(ptr %launch, ptr %record, i32 {slot}, \
                 i32 {words}, ptr %into, ptr %from, i32 {}, ptr {combine})",
                self.parts.len()
            ),
        };
        text.push_str("  br i1 %last, label %result, label %end\nresult:\n");
        if self.has_copies() {
            let _ = writeln!(
                text,
                "  call void @llvm.memcpy.p0.p0.i64(ptr align {ALIGN} %other, ptr align {ALIGN} %record, \
                 i64 {}, i1 false)",
                self.size
            );
        }
    }

    /// Defines the function that a region calls where its reduction begins. At first it copies the
    /// private copies to the record, then it combines them with it, and at the end it copies the
    /// kept result to them and returns true.
    pub fn define_reduce(&self, text: &mut String, name: &str, combine: &str) {
        let name = quoted(name);
        let items = self.parts.len();
        let _ = writeln!(
            text,
            "define hidden i1 {name}(ptr %virtual, ptr %list) alwaysinline {{\nentry:\n  \
             %into = alloca [{items} x ptr], align 16\n  %from = alloca [{items} x ptr], align 16"
        );
        for (k, part) in self.parts.iter().enumerate().filter(|(_, p)| p.stays) {
            let _ = writeln!(
                text,
                "  %unused.{k} = alloca [{0} x i8], align {ALIGN}\n  \
                 %nothing.{k} = alloca [{0} x i8], align {ALIGN}",
                part.size
            );
        }
        let _ = writeln!(
            text,
            "  %at = getelementptr i8, ptr %virtual, i64 {PHASE}\n  %phase = load i32, ptr %at, align 4\n  \
             %record.at = getelementptr i8, ptr %virtual, i64 {RECORD}\n  \
             %record = load ptr, ptr %record.at, align 8\n  \
             %kept.at = getelementptr i8, ptr %virtual, i64 {KEPT}\n  \
             %kept = load ptr, ptr %kept.at, align 8\n  \
             switch i32 %phase, label %begin [ i32 {ITERATE}, label %iterate\n i32 {RESULT}, label %result ]"
        );
        for label in ["begin", "iterate", "result"] {
            let _ = writeln!(text, "{label}:");
            // Parts that are in the record already need nothing.
            let combines = label == "iterate" && self.parts.iter().any(|p| !p.stays);
            if combines || label != "iterate" {
                for (k, part) in self.parts.iter().enumerate() {
                    self.write_part(text, label, k, *part);
                }
            }
            if combines {
                let _ = writeln!(text, "  call void {combine}(ptr %into, ptr %from)");
            }
            let _ = writeln!(text, "  ret i1 {}", label == "result");
        }
        text.push_str("}\n");
    }

    fn write_part(&self, text: &mut String, label: &str, k: usize, part: RecordPart) {
        let from = if label == "result" { "kept" } else { "record" };
        let (record, copy) = (format!("%{label}.r.{k}"), format!("%{label}.p.{k}"));
        let _ = writeln!(
            text,
            "  {record} = getelementptr i8, ptr %{from}, i64 {}\n  \
             {copy}.at = getelementptr i8, ptr %list, i64 {}\n  \
             {copy} = load ptr, ptr {copy}.at, align 8",
            part.at,
            8 * k
        );
        match label {
            "begin" if part.stays => {}
            "begin" => write_copy(text, &record, &copy, part.size),
            "result" => write_copy(text, &copy, &record, part.size),
            _ => {
                let (into, other) = match part.stays {
                    // Dummies with values that the program could have there.
                    true => {
                        let aside = [format!("%unused.{k}"), format!("%nothing.{k}")];
                        for to in &aside {
                            write_copy(text, to, &record, part.size);
                        }
                        aside.into()
                    }
                    false => (record, copy),
                };
                for (list, what) in [("into", into), ("from", other)] {
                    let _ = writeln!(
                        text,
                        "  %{list}.{k} = getelementptr i8, ptr %{list}, i64 {}\n  \
                         store ptr {what}, ptr %{list}.{k}, align 8",
                        8 * k
                    );
                }
            }
        }
    }
}

/// Copies a part by words: the code generator's loop goes by bytes.
fn write_copy(text: &mut String, to: &str, from: &str, size: u64) {
    // A size is a multiple of the alignment.
    let width = 1u64 << size.trailing_zeros().min(3);
    if size / width > WORDS {
        let _ = writeln!(
            text,
            "  call void @llvm.memcpy.p0.p0.i64(ptr align {width} {to}, ptr align {width} {from}, i64 {size}, i1 false)"
        );
        return;
    }
    for at in (0..size).step_by(width as usize) {
        let bits = 8 * width;
        let _ = writeln!(
            text,
            "  {to}.f.{at} = getelementptr i8, ptr {from}, i64 {at}\n  \
             {to}.w.{at} = load i{bits}, ptr {to}.f.{at}, align {width}\n  \
             {to}.{at} = getelementptr i8, ptr {to}, i64 {at}\n  \
             store i{bits} {to}.w.{at}, ptr {to}.{at}, align {width}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_fit_in_a_block() {
        assert_eq!(fit(48, 256), Some((48, 256)));
        // 24 doubles: slots of 13 times 16 bytes.
        assert_eq!(fit(192, 256), Some((208, 128)));
        assert_eq!(fit(1392, 256), Some((1392, 32)));
        assert_eq!(fit(1424, 256), None);
        for size in (16..1400).step_by(16) {
            let (slot, threads) = fit(size, 256).unwrap();
            assert!(slot >= size && slot * u64::from(threads) <= ROOM);
            assert!(!(slot / ALIGN).is_multiple_of(2));
        }
    }
}
