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

use super::Kernel;
use crate::handles::{Call, Function, Gep, Module, Opcode, TypeKind, Value};
use hashbrown::{HashMap, HashSet};

/// Schedule kinds that compilers give the two loops.
const STATIC_CHUNKED: u64 = omp_abi::schedule::STATIC_CHUNKED as u64;
const DISTRIBUTE_CHUNKED: u64 = omp_abi::schedule::DISTRIBUTE_CHUNKED as u64;

/// Positions of arguments of the entries that divide loops.
const SCHEDULE: u32 = 2;
const LOWER: u32 = 4;
const UPPER: u32 = 5;
const CHUNK: u32 = 8;

/// Positions of arguments of the entry that runs regions.
const CONDITION: u32 = 2;
const THREADS: u32 = 3;
const FUNCTION: usize = 5;
const WRAPPER: u32 = 6;
const CAPTURED: u32 = 7;

/// A `distribute` and the regions of its loop.
struct Construct<'m> {
    distribute: Call<'m>,
    regions: Vec<Call<'m>>,
}

/// Rewrites the constructs that it recognizes.
pub(crate) fn rewrite(module: Module, kernels: &[Kernel]) {
    let Some(parallel) = module.function("__kmpc_parallel_60") else {
        return;
    };
    let sizes: HashSet<u64> = kernels
        .iter()
        .filter_map(|k| u64::try_from(k.environment?.threads.1).ok())
        .filter(|&n| n > 0)
        .collect();
    let mut found = Vec::new();
    for outer in module.functions() {
        found.extend(constructs(outer, parallel, &sizes));
    }
    // A function that is also called from elsewhere is left alone, and so are constructs that share
    // it.
    let regions: HashSet<Value> = found
        .iter()
        .flat_map(|c: &Construct| c.regions.iter().map(|&r| r.into()))
        .collect();
    found.retain(|c| {
        let mut functions = c.regions.iter().filter_map(|&r| region_function(r));
        functions.all(|f| f.users().all(|user| regions.contains(&user)))
    });
    let mut divided = HashSet::new();
    for construct in found {
        replace(
            construct.distribute,
            "__kmpc_distribute_static_init_",
            "__ompvm_distribute_whole_",
        );
        for &region in &construct.regions {
            if let Some(inner) = region_function(region)
                && divided.insert(inner)
                && let Some(init) = inner_loop(inner)
            {
                replace(init, "__kmpc_for_static_init_", "__ompvm_for_grid_");
            }
            replace(region, "__kmpc_parallel_60", "__ompvm_parallel_grid");
        }
    }
}

/// Returns the constructs that begin in a function.
fn constructs<'m>(
    outer: Function<'m>,
    parallel: Function<'m>,
    sizes: &HashSet<u64>,
) -> Vec<Construct<'m>> {
    let mut distributes = Vec::new();
    let mut regions = Vec::new();
    for (call, callee) in calls(outer) {
        if callee == parallel && call.argument_count() > CAPTURED {
            regions.push(call);
        } else if callee.name().starts_with("__kmpc_distribute_static_init_")
            && call.argument_count() > CHUNK
            && call.argument(SCHEDULE).unsigned() == Some(DISTRIBUTE_CHUNKED)
        {
            distributes.push(call);
        }
    }
    let mut by_distribute: HashMap<Call, Construct> = HashMap::new();
    for &region in &regions {
        let Some((lower, upper)) = passed_bounds(region) else {
            continue;
        };
        let (lower, upper) = (origins(lower), origins(upper));
        let mut fitting = distributes.iter().filter(|d| {
            lower.contains(&through_casts(d.argument(LOWER)))
                && upper.contains(&through_casts(d.argument(UPPER)))
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
            block_sized(c.distribute.argument(CHUNK), sizes)
                && c.regions.iter().all(|&r| whole_block(r, sizes))
        })
        .collect()
}

/// Iterates over the direct calls in a function.
pub(super) fn calls<'m>(function: Function<'m>) -> impl Iterator<Item = (Call<'m>, Function<'m>)> {
    function
        .instructions()
        .filter_map(|i| Some((i.as_call()?, i.direct_callee()?)))
}

/// Returns true if a chunk is as long as a block has threads.
fn block_sized(chunk: Value, sizes: &HashSet<u64>) -> bool {
    match chunk.unsigned() {
        Some(size) => sizes.contains(&size),
        None => through_casts(chunk)
            .direct_callee()
            .is_some_and(|f| &*f.name() == "__kmpc_get_hardware_num_threads_in_block"),
    }
}

/// Returns true if all threads of a block run the region, each with its own view of captured
/// variables, and the region's function divides its bounds.
fn whole_block(region: Call, sizes: &HashSet<u64>) -> bool {
    const ALL: u64 = u32::MAX as u64;
    let condition = region.argument(CONDITION).unsigned() == Some(1);
    let threads = region
        .argument(THREADS)
        .unsigned()
        .is_some_and(|n| n == ALL || sizes.iter().all(|&size| size <= n));
    let wrapper = region.argument(WRAPPER).is_zero();
    condition && threads && wrapper && region_function(region).and_then(inner_loop).is_some()
}

/// Returns the function that a region runs, if the call names it.
pub(super) fn region_function(region: Call) -> Option<Function> {
    through_casts(region.arguments().nth(FUNCTION)?).as_function()
}

/// Returns the first two variables passed to a region.
fn passed_bounds<'m>(region: Call<'m>) -> Option<(Value<'m>, Value<'m>)> {
    let captured = through_casts(region.argument(CAPTURED)).as_alloca()?;
    let mut stored = [None, None];
    for (offset, value) in stores(captured.into()) {
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
fn inner_loop(inner: Function) -> Option<Call> {
    if inner.parameter_count() < 4 {
        return None;
    }
    let only = |place: Value, wanted: u32| {
        let stored = stores(through_casts(place));
        matches!(stored[..], [(0, value)] if through_casts(value) == inner.parameter(wanted))
    };
    let mut found = calls(inner).filter(|(call, callee)| {
        callee.name().starts_with("__kmpc_for_static_init_")
            && call.argument_count() > CHUNK
            && call.argument(SCHEDULE).unsigned() == Some(STATIC_CHUNKED)
            && call.argument(CHUNK).unsigned() == Some(1)
            && only(call.argument(LOWER), 2)
            && only(call.argument(UPPER), 3)
    });
    match (found.next(), found.next()) {
        (Some((init, _)), None) => Some(init),
        _ => None,
    }
}

/// Strips conversions from a value.
fn through_casts(mut value: Value) -> Value {
    while let Some(cast) = value.as_cast() {
        value = cast.operand(0);
    }
    value
}

/// Returns offset and value of every direct store to a local variable.
fn stores(variable: Value) -> Vec<(u64, Value)> {
    let mut found = Vec::new();
    let mut open = vec![(variable, 0u64)];
    while let Some((pointer, offset)) = open.pop() {
        for user in pointer.users() {
            if user.as_cast().is_some() {
                open.push((user, offset));
            } else if let Some(gep) = user.as_gep() {
                match constant_offset(gep) {
                    Some(more) => open.push((user, offset.wrapping_add(more))),
                    // The offset is unknown.
                    None => found.push((u64::MAX, user)),
                }
            } else if let Some(store) = user.as_store()
                && store.pointer() == pointer
            {
                found.push((offset, store.value()));
            }
        }
    }
    found
}

/// Returns the byte offset that an address computation adds, in the forms that compilers emit for
/// arrays of words.
fn constant_offset(gep: Gep) -> Option<u64> {
    const WORD: u64 = 8;
    let element = gep.source_type();
    let indices: Option<Vec<u64>> = gep.indices().map(Value::unsigned).collect();
    let array = || element.element().filter(|of| of.is_pointer());
    match (element.kind(), &indices?[..]) {
        (TypeKind::LLVMIntegerTypeKind, [index]) => {
            Some(index.wrapping_mul(u64::from(element.int_width()? / 8)))
        }
        (TypeKind::LLVMPointerTypeKind, [index]) => Some(index.wrapping_mul(WORD)),
        (TypeKind::LLVMArrayTypeKind, [0, index]) => array().map(|_| index.wrapping_mul(WORD)),
        _ => None,
    }
}

/// Returns the local variables that a value is computed from.
fn origins(value: Value) -> HashSet<Value> {
    let mut found = HashSet::new();
    let mut seen = HashSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let Some(instruction) = value.as_instruction().filter(|_| seen.insert(value)) else {
            continue;
        };
        match instruction.opcode() {
            Opcode::LLVMLoad => {
                found.insert(through_casts(instruction.operand(0)));
            }
            Opcode::LLVMCall => {
                if let Some(call) = value.as_call()
                    && call.callee().is_some_and(|f| f.name().starts_with("llvm."))
                {
                    open.extend(call.arguments());
                }
            }
            _ => open.extend(instruction.operands()),
        }
    }
    found
}

/// Redirects a call to the function whose name begins with `to` in place of `from`.
pub(super) fn replace(call: Call, from: &str, to: &str) {
    let Some(callee) = call.callee() else {
        return;
    };
    let name = callee.name();
    let Some(suffix) = name.strip_prefix(from) else {
        return;
    };
    let instead = callee
        .module()
        .function_or_declare(&format!("{to}{suffix}"), callee.signature());
    call.set_operand(call.operand_count() - 1, instead);
}
