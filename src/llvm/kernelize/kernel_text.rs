//! Generation of kernels, which call a region's function for each iteration of a thread.
//!
//! Kernels are written as textual IR and linked to the regions' functions. Everything is inlined
//! into them; then the program's variables in those functions are replaced by the kernel's
//! arguments.

use super::reduction_records::{self, Records, STATE};
use super::runtime_calls::{PREFIX, Reduction};
use super::{Origin, Passing, Root, calls, device_names};
use crate::handles::{Alloca, Function, Linkage, Module, Position};
use crate::nvptx::machine::GpuMachine;
use crate::parse::Parsed;
use crate::shim;
use hashbrown::HashMap;
use omp_abi::limit;
use omp_abi::outlined::{ITERATE, RESULT};
use ompvm_support::log;
use std::fmt::Write;

/// Most words in a kernel's arguments beside the launch environment.
pub(super) const WORDS: u32 = 400;

/// Threads of a warp.
pub(super) const WARP: u32 = limit::WARP_SIZE;
/// Most threads of a block: whole warps.
const THREADS: u32 = limit::OUTLINED_WARPS * WARP;
/// Size of the largest record for which `outlined.c` uses no buffer within a block, in bytes.
const EXCHANGED: u64 = 4 * limit::EXCHANGED_WORDS as u64;
/// Size in bytes from which a variable lies in memory that the launch provides: a GPU reserves a
/// thread's private memory for all threads that it may run at once, at most 512 KiB each.
const LARGE: u64 = 16 << 10;
/// Granularity of a thread's slice, in bytes.
const SLICE: u64 = 256;
/// Number of blocks whose records a reduction has room for; devices make room for more.
const BLOCKS: u32 = 1024;

/// A kernel to generate.
#[derive(Debug)]
pub(super) struct Kernel<'m> {
    pub name: String,
    /// Number of the loop.
    pub number: u32,
    /// The function that it calls, with the parameters of the region's function and then words.
    pub function: Function<'m>,
    pub reduction: Option<Reduction<'m>>,
}

/// All kernels of a program.
#[derive(Debug, Default)]
pub(super) struct KernelUnit {
    /// The device code.
    pub bitcode: Vec<u8>,
    /// Private memory of an iteration, by kernel.
    pub memory: HashMap<String, KernelMemory>,
}

/// Sizes of an iteration's private variables, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KernelMemory {
    /// In the device's own private memory.
    pub private: u64,
    /// In slices of memory that the launch provides.
    pub scratch: u64,
}

/// Generates the unit of kernels for regions with these roots.
///
/// # Safety
/// No handle of the module's functions, variables and instructions is used afterwards.
pub(super) unsafe fn unit<'m>(
    parsed: &'m Parsed,
    made: &[(&Kernel<'m>, &[Root])],
) -> Result<KernelUnit, String> {
    let module = parsed.module();
    for function in module.functions().filter(|f| f.is_declaration()) {
        if let Some(name) = device_names::device_math_name(&function.name()) {
            rename(module, function, &name);
        }
    }
    let mut text = String::new();
    let _ = writeln!(text, "target datalayout = \"{}\"", module.layout_text());
    let _ = writeln!(text, "target triple = \"{}\"", module.triple());
    text.push_str(COMMON);
    let mut known: HashMap<Function<'_>, Option<Records>> = HashMap::new();
    for (kernel, roots) in made {
        let function = kernel.function;
        let fresh = !known.contains_key(&function);
        let records = known.entry(function).or_insert_with(|| {
            let reduction = kernel.reduction.as_ref()?;
            let name = &kernel.name;
            Some(reduction_records::lay_out(
                module, function, name, reduction, THREADS,
            ))
        });
        if fresh {
            function.add_attribute(Position::Function, "alwaysinline", 0);
            reveal(module, roots, kernel.reduction.as_ref());
            declare(&mut text, function);
        }
        write_kernel(&mut text, kernel, roots, records.as_ref());
    }
    // SAFETY: the kernels are found by name from here on.
    unsafe {
        parsed
            .link_text(&text)
            .map_err(|e| format!("the kernels generated for its regions {e}"))?;
        module.run_passes(c"always-inline")?;
    }
    let kernels: Vec<&str> = made.iter().map(|(k, _)| &*k.name).collect();
    for kernel in kernels.iter().filter_map(|k| module.function(k)) {
        place_globals(kernel);
    }
    hide(module, &kernels);
    shim::drop_module_flags(module);
    // SAFETY: no handle of a function or instruction is kept.
    unsafe {
        module.run_passes(
            c"globaldce,function(sroa,early-cse<memssa>,\
              instcombine<no-verify-fixpoint>,simplifycfg)",
        )?;
    }
    let memory = kernels.iter().map(|&name| {
        let kernel = module.function(name);
        let memory = kernel.map(|k| memory(module, k));
        (name.to_owned(), memory.unwrap_or_default())
    });
    let memory = memory.collect();
    GpuMachine::new(70, 63)?.adopt(module);
    module.verify().map_err(|message| {
        format!("the kernels generated for its regions are not valid LLVM IR: {message}")
    })?;
    tracing::trace!(
        target: log::IR,
        kernels = made.len(),
        text = module.text(),
        "auto-offload kernels"
    );
    Ok(KernelUnit {
        bitcode: module.bitcode(),
        memory,
    })
}

/// Returns the size of a kernel's variables, and moves those that are too large for private memory
/// to the thread's slice of the launch's memory.
fn memory<'m>(module: Module<'m>, kernel: Function<'m>) -> KernelMemory {
    let mut memory = KernelMemory::default();
    let mut large = Vec::new();
    for variable in kernel.instructions().filter_map(|i| i.as_alloca()) {
        let count = variable.count().unsigned();
        let size = module.layout().size(variable.allocated()) * count.unwrap_or(1);
        if size < LARGE || count.is_none() {
            memory.private += size;
            continue;
        }
        large.push((variable, memory.scratch));
        memory.scratch += size.next_multiple_of(SLICE);
    }
    if !large.is_empty() {
        slice(module, kernel, &large, memory.scratch);
    }
    memory
}

/// Moves variables to the thread's slice, each at its offset.
fn slice<'m>(module: Module<'m>, kernel: Function<'m>, large: &[(Alloca<'m>, u64)], size: u64) {
    let context = module.context();
    let (word, pointer) = (context.int(64), context.pointer());
    let signature = pointer.function(&[pointer, word]);
    let gives = module.function_or_declare(&format!("{PREFIX}slice"), signature);
    let builder = context.builder();
    let arguments = [kernel.parameter(1), word.constant(size)];
    let start = builder.at_entry(kernel).call(gives, &arguments);
    for &(variable, at) in large {
        let place = builder.before(variable).offset(start, word.constant(at));
        let uses = variable.users().filter_map(|u| u.as_call());
        for marker in uses.filter(|&u| calls(u, "llvm.lifetime.")) {
            // SAFETY: markers have no value, and each uses the variable once.
            unsafe { marker.erase() };
        }
        variable.replace_by(place);
        // SAFETY: the place has replaced it, and the list is not used again.
        unsafe { variable.erase() };
    }
}

/// Declarations for all kernels; `runtime-c/device/outlined.c` defines the functions.
const COMMON: &str = "
declare void @__ompvm_outlined_begin(ptr, i32)
declare void @__ompvm_outlined_phase(ptr, i32)
declare i1 @__ompvm_outlined_any(ptr)
declare i1 @__ompvm_outlined_next(ptr)
declare i1 @__ompvm_outlined_combine(ptr, ptr, ptr, i32, ptr, ptr, ptr)
declare i1 @__ompvm_outlined_combine_slots(ptr, ptr, i32, i32, ptr, ptr, i32, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @__ompvm_outlined_global(ptr, ptr)
";

/// Quotes a name in LLVM's syntax.
pub(super) fn quoted(name: &str) -> String {
    let mut out = String::from("@\"");
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' | 0..=31 | 127.. => {
                let _ = write!(out, "\\{byte:02X}");
            }
            _ => out.push(char::from(byte)),
        }
    }
    out + "\""
}

/// Makes the symbols that the text refers to external.
fn reveal(module: Module<'_>, roots: &[Root], reduction: Option<&Reduction<'_>>) {
    if let Some(reduction) = reduction {
        reduction.combine.set_linkage(Linkage::LLVMExternalLinkage);
    }
    for root in roots {
        if let Origin::Global(name) = &root.origin
            && let Some(variable) = module.variable(name)
        {
            variable.set_linkage(Linkage::LLVMExternalLinkage);
        }
    }
}

fn types(function: Function<'_>) -> Vec<String> {
    function.parameters().map(|p| p.of().text()).collect()
}

fn declare(text: &mut String, function: Function<'_>) {
    let name = quoted(&function.name());
    let _ = writeln!(text, "declare void {name}({})", types(function).join(", "));
}

fn write_kernel(text: &mut String, kernel: &Kernel<'_>, roots: &[Root], records: Option<&Records>) {
    let name = quoted(&kernel.name);
    let region = quoted(&kernel.function.name());
    let types = types(kernel.function);
    let mut parameters = vec!["ptr %launch".to_owned(), "ptr %slices".to_owned()];
    let mut body = String::new();
    let mut arguments = vec!["ptr %virtual".to_owned(), "ptr %virtual".to_owned()];
    for (n, root) in roots.iter().enumerate() {
        let of = match &root.origin {
            Origin::Captured(i) => types[*i as usize + 2].clone(),
            Origin::Global(_) => "ptr".to_owned(),
        };
        let value = pass(
            &n.to_string(),
            &root.passing,
            &of,
            &mut parameters,
            &mut body,
        );
        match &root.origin {
            Origin::Captured(_) => arguments.push(format!("{of} {value}")),
            Origin::Global(global) => {
                let global = quoted(global);
                if !text.contains(&format!("\n{global} = ")) {
                    let _ = writeln!(text, "\n{global} = external global i8");
                }
                let _ = writeln!(
                    body,
                    "  call void @__ompvm_outlined_global(ptr {global}, ptr {value})"
                );
            }
        }
    }
    for (n, of) in types.iter().enumerate().skip(arguments.len()) {
        parameters.push(format!("{of} %more{n}"));
        arguments.push(format!("{of} %more{n}"));
    }
    let call = format!("  call void {region}({})", arguments.join(", "));
    let threads = records.map_or(THREADS, |r| r.threads);
    // Room in the launch's buffer for each block, or for each of its warps.
    let room = records.map_or(0, |r| match r.slot.is_none() && r.size > EXCHANGED {
        true => r.size * u64::from(threads / WARP),
        false => r.size,
    });
    let environment = quoted(&format!("{}_kernel_environment", kernel.name));
    let _ = writeln!(
        text,
        "{environment} = weak_odr protected constant {{ {{ i8, i8, i8, i32, i32, i32, i32, i32, \
         i32 }}, ptr, ptr }} \
         {{ {{ i8, i8, i8, i32, i32, i32, i32, i32, i32 }} {{ i8 0, i8 0, i8 2, i32 1, i32 \
         {threads}, i32 -1, i32 -1, i32 {room}, i32 {BLOCKS} }}, ptr null, ptr null }}, align 8"
    );
    let _ = writeln!(
        text,
        "define weak_odr protected ptx_kernel void {name}({}) \"nvvm.maxntid\"=\"{threads}\" {{",
        parameters.join(", ")
    );
    let _ = writeln!(text, "entry:\n  %virtual = alloca [{STATE} x i8], align 16");
    text.push_str(&body);
    if let Some(records) = records {
        records.declare(text);
    }
    // The first call runs no iteration: it gives the number of iterations and the initial values of
    // a reduction.
    let _ = writeln!(
        text,
        "  call void @__ompvm_outlined_begin(ptr %virtual, i32 {})\n{call}\n  \
         call void @__ompvm_outlined_phase(ptr %virtual, i32 {ITERATE})\n  \
         %any = call i1 @__ompvm_outlined_any(ptr %virtual)\n  \
         br i1 %any, label %loop, label %after\nloop:\n{call}\n  \
         %more = call i1 @__ompvm_outlined_next(ptr %virtual)\n  \
         br i1 %more, label %loop, label %after\nafter:",
        kernel.number
    );
    let (Some(reduction), Some(records)) = (&kernel.reduction, records) else {
        text.push_str("  ret void\n}\n");
        return;
    };
    let combine = quoted(&reduction.combine.name());
    records.combine(text, &combine);
    let _ = writeln!(
        text,
        "  call void @__ompvm_outlined_phase(ptr %virtual, i32 {RESULT})\n{call}\n  br label %end\n\
         end:\n  ret void\n}}"
    );
    if !text.contains(&format!("declare void {combine}(")) {
        let _ = writeln!(text, "declare void {combine}(ptr, ptr)");
    }
    records.define_slots(text, &kernel.name);
    records.define_reduce(text, &reduction.name, &combine);
}

/// Emits how a root is passed, and returns the value as an operand.
fn pass(
    n: &str,
    passing: &Passing,
    of: &str,
    parameters: &mut Vec<String>,
    body: &mut String,
) -> String {
    match passing {
        Passing::Value => {
            parameters.push(format!("{of} %w{n}"));
            format!("%w{n}")
        }
        Passing::Object(_) => {
            parameters.push(format!("ptr %w{n}"));
            format!("%w{n}")
        }
        Passing::Copy { size, pointers } => {
            let words = size.div_ceil(8);
            let _ = writeln!(body, "  %c{n} = alloca [{words} x i64], align 16");
            for word in 0..words {
                let inner = format!("{n}.{word}");
                let pointer = pointers.iter().find(|(offset, _)| *offset == 8 * word);
                let (of, value) = match pointer {
                    Some((_, passing)) => ("ptr", pass(&inner, passing, "ptr", parameters, body)),
                    None => {
                        parameters.push(format!("i64 %w{inner}"));
                        ("i64", format!("%w{inner}"))
                    }
                };
                let _ = writeln!(
                    body,
                    "  %p{inner} = getelementptr i8, ptr %c{n}, i64 {}\n  \
                     store {of} {value}, ptr %p{inner}, align 8",
                    8 * word
                );
            }
            format!("%c{n}")
        }
    }
}

/// Renames a declaration, or redirects its uses to the symbol that has the name.
fn rename<'m>(module: Module<'m>, function: Function<'m>, name: &str) {
    match module.function(name) {
        Some(there) => function.replace_by(there),
        None => function.set_name(name),
    }
}

/// Replaces the program's variables in a kernel by its arguments.
fn place_globals(kernel: Function<'_>) {
    let name = format!("{PREFIX}global");
    let marks: Vec<_> = kernel
        .instructions()
        .filter_map(|i| i.as_call())
        .filter(|c| c.callee().is_some_and(|f| *f.name() == *name))
        .collect();
    for mark in marks {
        let (variable, instead) = (mark.argument(0), mark.argument(1));
        // SAFETY: markers have no value, and the list is not used again.
        unsafe { mark.erase() };
        shim::replace_in_function(kernel, variable, instead);
    }
}

/// Makes everything but the kernels internal.
fn hide(module: Module<'_>, kernels: &[&str]) {
    for function in module.functions().filter(|f| !f.is_declaration()) {
        if !kernels.contains(&&*function.name()) {
            function.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    for variable in module.variables().filter(|v| !v.is_declaration()) {
        variable.leave_section();
        if !variable.name().ends_with("_kernel_environment") {
            variable.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
}
