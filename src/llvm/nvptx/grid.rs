//! Merges loops that are divided over teams and then over threads into one loop over the grid.
//!
//! For `distribute parallel for` compilers emit a loop over chunks of as many iterations as a block
//! has threads, with a parallel region in each, in which each thread takes one iteration. So every
//! chunk costs a region with its barrier and, with a reduction, a reduction over the block. The
//! same threads get the same iterations if the outer loop runs once over everything and each thread
//! advances by the size of the grid, as `__ompvm_distribute_whole_*`, `__ompvm_for_grid_*` and
//! `__ompvm_parallel_grid` do.
//!
//! The construct is recognized by these properties: the region's function sets the bounds of its
//! loop from its third and fourth argument, which no other construct does; these come from the
//! bounds of one `distribute` whose chunk is the block's size; nothing else calls the function; and
//! every thread of the block takes part. Other constructs are left unchanged.

use super::{Kernel, called, function, functions, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use hashbrown::{HashMap, HashSet};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::prelude::*;

/// Schedule kinds that compilers give the two loops.
const STATIC_CHUNKED: u64 = omp_abi::schedule::STATIC_CHUNKED as u64;
const DISTRIBUTE_CHUNKED: u64 = omp_abi::schedule::DISTRIBUTE_CHUNKED as u64;

/// Positions of arguments of the entries that divide loops.
const SCHEDULE: u32 = 2;
const LOWER: u32 = 4;
const UPPER: u32 = 5;
const CHUNK: u32 = 8;

/// A `distribute` and the regions of its loop.
struct Construct {
    distribute: LLVMValueRef,
    regions: Vec<LLVMValueRef>,
}

/// Rewrites the constructs that it recognizes.
pub(crate) fn rewrite(module: LLVMModuleRef, kernels: &[Kernel]) {
    let Some(parallel) = function(module, "__kmpc_parallel_60") else {
        return;
    };
    let sizes: HashSet<u64> = kernels
        .iter()
        .filter_map(|k| u64::try_from(k.environment?.threads.1).ok())
        .filter(|&n| n > 0)
        .collect();
    let mut found = Vec::new();
    for outer in functions(module) {
        found.extend(constructs(outer, parallel, &sizes));
    }
    // A function that is also called from elsewhere is left alone, and so are constructs that share
    // it.
    let regions: HashSet<LLVMValueRef> = found
        .iter()
        .flat_map(|c: &Construct| c.regions.iter().copied())
        .collect();
    found.retain(|c| {
        c.regions
            .iter()
            .all(|&r| only_called_by(region_function(r), &regions))
    });
    let mut divided = HashSet::new();
    for construct in found {
        replace(
            module,
            construct.distribute,
            "__kmpc_distribute_static_init_",
            "__ompvm_distribute_whole_",
        );
        for &region in &construct.regions {
            let inner = region_function(region);
            if divided.insert(inner)
                && let Some(init) = inner_loop(inner)
            {
                replace(module, init, "__kmpc_for_static_init_", "__ompvm_for_grid_");
            }
            replace(
                module,
                region,
                "__kmpc_parallel_60",
                "__ompvm_parallel_grid",
            );
        }
    }
}

/// Returns the constructs that begin in a function.
fn constructs(outer: LLVMValueRef, parallel: LLVMValueRef, sizes: &HashSet<u64>) -> Vec<Construct> {
    let mut distributes = Vec::new();
    let mut regions = Vec::new();
    for instruction in instructions(outer) {
        let Some(callee) = called(instruction) else {
            continue;
        };
        if callee == parallel {
            regions.push(instruction);
        } else if name_of(callee).starts_with("__kmpc_distribute_static_init_")
            && constant(argument(instruction, SCHEDULE)) == Some(DISTRIBUTE_CHUNKED)
        {
            distributes.push(instruction);
        }
    }
    let mut by_distribute: HashMap<LLVMValueRef, Construct> = HashMap::new();
    for &region in &regions {
        let Some((lower, upper)) = passed_bounds(region) else {
            continue;
        };
        let (lower, upper) = (origins(lower), origins(upper));
        let mut fitting = distributes.iter().filter(|&&d| {
            lower.contains(&memory(argument(d, LOWER)))
                && upper.contains(&memory(argument(d, UPPER)))
        });
        let (Some(&distribute), None) = (fitting.next(), fitting.next()) else {
            continue;
        };
        by_distribute
            .entry(distribute)
            .or_insert(Construct {
                distribute,
                regions: Vec::new(),
            })
            .regions
            .push(region);
    }
    by_distribute
        .into_values()
        .filter(|c| {
            block_sized(argument(c.distribute, CHUNK), sizes)
                && c.regions.iter().all(|&r| whole_block(r, sizes))
        })
        .collect()
}

fn argument(call: LLVMValueRef, index: u32) -> LLVMValueRef {
    llvm!(core::LLVMGetOperand(call, index))
}

pub(super) fn constant(value: LLVMValueRef) -> Option<u64> {
    (!llvm!(core::LLVMIsAConstantInt(value)).is_null())
        .then(|| llvm!(core::LLVMConstIntGetZExtValue(value)))
}

/// Returns true if a chunk is as long as a block has threads.
fn block_sized(chunk: LLVMValueRef, sizes: &HashSet<u64>) -> bool {
    match constant(chunk) {
        Some(size) => sizes.contains(&size),
        None => called(through_casts(chunk))
            .is_some_and(|f| &*name_of(f) == "__kmpc_get_hardware_num_threads_in_block"),
    }
}

/// Returns true if all threads of a block run the region, each with its own view of captured
/// variables, and the region's function divides its bounds.
fn whole_block(region: LLVMValueRef, sizes: &HashSet<u64>) -> bool {
    const ALL: u64 = u32::MAX as u64;
    let condition = constant(argument(region, 2)) == Some(1);
    let threads = constant(argument(region, 3))
        .is_some_and(|n| n == ALL || sizes.iter().all(|&size| size <= n));
    let wrapper = llvm!(core::LLVMIsNull(argument(region, 6))) != 0;
    let function = region_function(region);
    condition
        && threads
        && wrapper
        && !llvm!(core::LLVMIsAFunction(function)).is_null()
        && inner_loop(function).is_some()
}

pub(super) fn region_function(region: LLVMValueRef) -> LLVMValueRef {
    through_casts(argument(region, 5))
}

/// Returns the first two variables passed to a region.
fn passed_bounds(region: LLVMValueRef) -> Option<(LLVMValueRef, LLVMValueRef)> {
    let captured = memory(argument(region, 7));
    if llvm!(core::LLVMIsAAllocaInst(captured)).is_null() {
        return None;
    }
    let mut stored = [None, None];
    for (offset, value) in stores(captured) {
        let slot = match offset {
            0 => &mut stored[0],
            8 => &mut stored[1],
            _ => continue,
        };
        if slot.replace(value).is_some() {
            return None;
        }
    }
    Some((stored[0]?, stored[1]?))
}

/// Returns the call that divides the loop whose bounds are the function's third and fourth
/// argument.
fn inner_loop(inner: LLVMValueRef) -> Option<LLVMValueRef> {
    if llvm!(core::LLVMIsAFunction(inner)).is_null() || llvm!(core::LLVMCountParams(inner)) < 4 {
        return None;
    }
    let lower = llvm!(core::LLVMGetParam(inner, 2));
    let upper = llvm!(core::LLVMGetParam(inner, 3));
    let only = |place: LLVMValueRef, wanted: LLVMValueRef| {
        let mut stored = stores(memory(place)).into_iter();
        let first = stored.next();
        first.is_some_and(|(offset, value)| offset == 0 && through_casts(value) == wanted)
            && stored.next().is_none()
    };
    let mut found = instructions(inner).filter(|&i| {
        called(i).is_some_and(|f| name_of(f).starts_with("__kmpc_for_static_init_"))
            && constant(argument(i, SCHEDULE)) == Some(STATIC_CHUNKED)
            && constant(argument(i, CHUNK)) == Some(1)
            && only(argument(i, LOWER), lower)
            && only(argument(i, UPPER), upper)
    });
    match (found.next(), found.next()) {
        (Some(init), None) => Some(init),
        _ => None,
    }
}

/// Strips conversions from a value.
fn through_casts(mut value: LLVMValueRef) -> LLVMValueRef {
    while !llvm!(core::LLVMIsACastInst(value)).is_null() {
        value = llvm!(core::LLVMGetOperand(value, 0));
    }
    value
}

/// Returns the variable that a pointer points into.
fn memory(pointer: LLVMValueRef) -> LLVMValueRef {
    through_casts(pointer)
}

/// Returns offset and value of every direct store to a local variable.
fn stores(variable: LLVMValueRef) -> Vec<(u64, LLVMValueRef)> {
    let mut found = Vec::new();
    let mut open = vec![(variable, 0)];
    while let Some((pointer, offset)) = open.pop() {
        let mut usage = llvm!(core::LLVMGetFirstUse(pointer));
        while !usage.is_null() {
            let user = llvm!(core::LLVMGetUser(usage));
            usage = llvm!(core::LLVMGetNextUse(usage));
            if !llvm!(core::LLVMIsACastInst(user)).is_null() {
                open.push((user, offset));
            } else if !llvm!(core::LLVMIsAGetElementPtrInst(user)).is_null() {
                match constant_offset(user) {
                    Some(more) => open.push((user, offset + more)),
                    // The offset is unknown.
                    None => found.push((u64::MAX, user)),
                }
            } else if !llvm!(core::LLVMIsAStoreInst(user)).is_null()
                && llvm!(core::LLVMGetOperand(user, 1)) == pointer
            {
                found.push((offset, llvm!(core::LLVMGetOperand(user, 0))));
            }
        }
    }
    found
}

/// Returns the byte offset that an address computation adds, in the forms that compilers emit for
/// arrays of words.
fn constant_offset(gep: LLVMValueRef) -> Option<u64> {
    let element = llvm!(core::LLVMGetGEPSourceElementType(gep));
    let kind = llvm!(core::LLVMGetTypeKind(element));
    let count = llvm!(core::LLVMGetNumIndices(gep));
    let index = |i: u32| constant(llvm!(core::LLVMGetOperand(gep, i)));
    use inkwell::llvm_sys::LLVMTypeKind::*;
    match (kind, count) {
        (LLVMIntegerTypeKind, 1) => {
            let bytes = u64::from(llvm!(core::LLVMGetIntTypeWidth(element))) / 8;
            Some(index(1)? * bytes)
        }
        (LLVMPointerTypeKind, 1) => Some(index(1)? * 8),
        (LLVMArrayTypeKind, 2) if index(1)? == 0 => {
            let of = llvm!(core::LLVMGetElementType(element));
            (llvm!(core::LLVMGetTypeKind(of)) == LLVMPointerTypeKind).then_some(())?;
            Some(index(2)? * 8)
        }
        _ => None,
    }
}

/// Returns the local variables that a value is computed from.
fn origins(value: LLVMValueRef) -> HashSet<LLVMValueRef> {
    let mut found = HashSet::new();
    let mut seen = HashSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if !seen.insert(value) || llvm!(core::LLVMIsAInstruction(value)).is_null() {
            continue;
        }
        match llvm!(core::LLVMGetInstructionOpcode(value)) {
            LLVMOpcode::LLVMLoad => {
                found.insert(memory(llvm!(core::LLVMGetOperand(value, 0))));
            }
            LLVMOpcode::LLVMPHI => {
                let count = llvm!(core::LLVMCountIncoming(value));
                open.extend((0..count).map(|i| llvm!(core::LLVMGetIncomingValue(value, i))));
            }
            LLVMOpcode::LLVMCall => {
                if called(value).is_some_and(|f| name_of(f).starts_with("llvm.")) {
                    let count = llvm!(core::LLVMGetNumArgOperands(value));
                    open.extend((0..count).map(|i| argument(value, i)));
                }
            }
            _ => {
                let count = llvm!(core::LLVMGetNumOperands(value));
                open.extend((0..count as u32).map(|i| argument(value, i)));
            }
        }
    }
    found
}

/// Returns true if only these regions use a region's function.
fn only_called_by(inner: LLVMValueRef, regions: &HashSet<LLVMValueRef>) -> bool {
    let mut usage = llvm!(core::LLVMGetFirstUse(inner));
    while !usage.is_null() {
        if !regions.contains(&llvm!(core::LLVMGetUser(usage))) {
            return false;
        }
        usage = llvm!(core::LLVMGetNextUse(usage));
    }
    true
}

/// Redirects a call to the function whose name begins with `to` in place of `from`.
pub(super) fn replace(module: LLVMModuleRef, call: LLVMValueRef, from: &str, to: &str) {
    let Some(callee) = called(call) else {
        return;
    };
    let name = name_of(callee);
    let Some(suffix) = name.strip_prefix(from) else {
        return;
    };
    let name = format!("{to}{suffix}");
    let instead = function(module, &name).unwrap_or_else(|| {
        let of = llvm!(core::LLVMGlobalGetValueType(callee));
        let name = format!("{name}\0");
        llvm!(core::LLVMAddFunction(module, name.as_ptr().cast(), of))
    });
    let last = llvm!(core::LLVMGetNumOperands(call)) - 1;
    llvm!(core::LLVMSetOperand(call, last as u32, instead));
}
