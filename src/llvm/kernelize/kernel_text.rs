//! Generation of kernels, which call a region's function for each iteration of a thread.
//!
//! Kernels are written as textual IR and linked to the regions' functions. Everything is inlined
//! into them; then the program's variables in those functions are replaced by the kernel's
//! arguments.

use super::reduction_records::{self, Records, STATE};
use super::runtime_calls::{PREFIX, Reduction};
use super::{Origin, Passing, Root, device_names};
use crate::nvptx::machine::GpuMachine;
use crate::nvptx::{called, functions, instructions, variables};
use crate::parse::Parsed;
use crate::raw::{copy_cstr, llvm, take_buffer, take_message};
use crate::reader::name_of;
use crate::shim;
use hashbrown::HashMap;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::prelude::*;
use omp_abi::limit;
use omp_abi::outlined::{ITERATE, RESULT};
use ompvm_support::log;
use std::fmt::Write;
use std::ptr::null_mut;

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
pub(super) struct Kernel {
    pub name: String,
    /// Number of the loop.
    pub number: u32,
    /// The function that it calls, with the parameters of the region's function and then words.
    pub function: LLVMValueRef,
    pub reduction: Option<Reduction>,
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
pub(super) fn unit(parsed: &Parsed, made: &[(&Kernel, &[Root])]) -> Result<KernelUnit, String> {
    let module = parsed.module;
    for function in functions(module).collect::<Vec<_>>() {
        if let Some(name) = device_names::device_math_name(&name_of(function))
            && llvm!(core::LLVMIsDeclaration(function)) != 0
        {
            rename(module, function, &name);
        }
    }
    let mut text = String::new();
    let triple = copy_cstr(llvm!(core::LLVMGetTarget(module)));
    let layout = copy_cstr(llvm!(core::LLVMGetDataLayoutStr(module)));
    let _ = writeln!(text, "target datalayout = \"{layout}\"");
    let _ = writeln!(text, "target triple = \"{triple}\"");
    text.push_str(COMMON);
    let mut known: HashMap<LLVMValueRef, Option<Records>> = HashMap::new();
    for (kernel, roots) in made {
        let fresh = !known.contains_key(&kernel.function);
        let records = known.entry(kernel.function).or_insert_with(|| {
            let reduction = kernel.reduction.as_ref()?;
            let function = kernel.function;
            let name = &kernel.name;
            Some(reduction_records::lay_out(
                module, function, name, reduction, THREADS,
            ))
        });
        if fresh {
            always_inline(kernel.function);
            reveal(module, roots, kernel.reduction.as_ref());
            declare(&mut text, kernel.function);
        }
        write_kernel(&mut text, kernel, roots, records.as_ref());
    }
    link_text(parsed, &text)?;
    super::flatten::run_passes(module, c"always-inline")?;
    let kernels: Vec<&str> = made.iter().map(|(k, _)| &*k.name).collect();
    for kernel in &kernels {
        place_globals(module, kernel);
    }
    hide(module, &kernels);
    shim::drop_module_flags(module);
    super::flatten::run_passes(
        module,
        c"globaldce,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)",
    )?;
    let memory = kernels.iter().map(|k| (k.to_string(), memory(module, k)));
    let memory = memory.collect();
    GpuMachine::new(70, 63)?.adopt(module);
    let mut message = null_mut();
    let broken = llvm!(analysis::LLVMVerifyModule(
        module,
        inkwell::llvm_sys::analysis::LLVMVerifierFailureAction::LLVMReturnStatusAction,
        &mut message
    ));
    let message = take_message(message);
    if broken != 0 {
        return Err(format!(
            "the kernels generated for its regions are not valid LLVM IR: {message}"
        ));
    }
    tracing::trace!(
        target: log::IR,
        kernels = made.len(),
        text = take_message(llvm!(core::LLVMPrintModuleToString(module))),
        "auto-offload kernels"
    );
    let buffer = llvm!(bit_writer::LLVMWriteBitcodeToMemoryBuffer(module));
    Ok(KernelUnit {
        bitcode: take_buffer(buffer),
        memory,
    })
}

/// Returns the size of a kernel's variables, and moves those that are too large for private memory
/// to the thread's slice of the launch's memory.
fn memory(module: LLVMModuleRef, kernel: &str) -> KernelMemory {
    let mut memory = KernelMemory::default();
    let Some(kernel) = crate::nvptx::function(module, kernel) else {
        return memory;
    };
    let layout = llvm!(target::LLVMGetModuleDataLayout(module));
    let mut large = Vec::new();
    for variable in instructions(kernel) {
        if llvm!(core::LLVMIsAAllocaInst(variable)).is_null() {
            continue;
        }
        let of = llvm!(core::LLVMGetAllocatedType(variable));
        let count = super::constant(llvm!(core::LLVMGetOperand(variable, 0)));
        let size = llvm!(target::LLVMABISizeOfType(layout, of)) * count.unwrap_or(1) as u64;
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
fn slice(module: LLVMModuleRef, kernel: LLVMValueRef, large: &[(LLVMValueRef, u64)], size: u64) {
    let context = llvm!(core::LLVMGetModuleContext(module));
    let byte = llvm!(core::LLVMInt8TypeInContext(context));
    let word = llvm!(core::LLVMInt64TypeInContext(context));
    let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
    let none = c"".as_ptr();
    let mut types = [pointer, word];
    let of = llvm!(core::LLVMFunctionType(pointer, types.as_mut_ptr(), 2, 0));
    let name = format!("{PREFIX}slice");
    let gives = crate::nvptx::function(module, &name).unwrap_or_else(|| {
        let name = format!("{name}\0");
        llvm!(core::LLVMAddFunction(module, name.as_ptr().cast(), of))
    });
    let builder = llvm!(core::LLVMCreateBuilderInContext(context));
    let entry = llvm!(core::LLVMGetEntryBasicBlock(kernel));
    let first = llvm!(core::LLVMGetFirstInstruction(entry));
    llvm!(core::LLVMPositionBuilderBefore(builder, first));
    let slices = llvm!(core::LLVMGetParam(kernel, 1));
    let mut arguments = [slices, llvm!(core::LLVMConstInt(word, size, 0))];
    let start = llvm!(core::LLVMBuildCall2(
        builder,
        of,
        gives,
        arguments.as_mut_ptr(),
        2,
        none
    ));
    for &(variable, at) in large {
        let mut index = [llvm!(core::LLVMConstInt(word, at, 0))];
        llvm!(core::LLVMPositionBuilderBefore(builder, variable));
        let place = llvm!(core::LLVMBuildGEP2(
            builder,
            byte,
            start,
            index.as_mut_ptr(),
            1,
            none
        ));
        for user in super::users(variable) {
            if called(user).is_some_and(|f| name_of(f).starts_with("llvm.lifetime.")) {
                llvm!(core::LLVMInstructionEraseFromParent(user));
            }
        }
        llvm!(core::LLVMReplaceAllUsesWith(variable, place));
        llvm!(core::LLVMInstructionEraseFromParent(variable));
    }
    llvm!(core::LLVMDisposeBuilder(builder));
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

fn type_of(value: LLVMValueRef) -> String {
    let of = llvm!(core::LLVMTypeOf(value));
    take_message(llvm!(core::LLVMPrintTypeToString(of)))
}

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
fn reveal(module: LLVMModuleRef, roots: &[Root], reduction: Option<&Reduction>) {
    let visible = |value| {
        llvm!(core::LLVMSetLinkage(
            value,
            LLVMLinkage::LLVMExternalLinkage
        ));
    };
    if let Some(reduction) = reduction {
        visible(reduction.combine);
    }
    for root in roots {
        let Origin::Global(name) = &root.origin else {
            continue;
        };
        let text = format!("{name}\0");
        let variable = llvm!(core::LLVMGetNamedGlobal(module, text.as_ptr().cast()));
        if !variable.is_null() {
            visible(variable);
        }
    }
}

fn types(function: LLVMValueRef) -> Vec<String> {
    let count = llvm!(core::LLVMCountParams(function));
    (0..count)
        .map(|i| type_of(llvm!(core::LLVMGetParam(function, i))))
        .collect()
}

fn declare(text: &mut String, function: LLVMValueRef) {
    let name = quoted(&name_of(function));
    let _ = writeln!(text, "declare void {name}({})", types(function).join(", "));
}

fn write_kernel(text: &mut String, kernel: &Kernel, roots: &[Root], records: Option<&Records>) {
    let name = quoted(&kernel.name);
    let region = quoted(&name_of(kernel.function));
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
        "{environment} = weak_odr protected constant {{ {{ i8, i8, i8, i32, i32, i32, i32, i32, i32 }}, ptr, ptr }} \
         {{ {{ i8, i8, i8, i32, i32, i32, i32, i32, i32 }} {{ i8 0, i8 0, i8 2, i32 1, i32 {threads}, i32 -1, i32 -1, \
         i32 {room}, i32 {BLOCKS} }}, ptr null, ptr null }}, align 8"
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
    let combine = quoted(&name_of(reduction.combine));
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

pub(super) fn always_inline(function: LLVMValueRef) {
    let name = c"alwaysinline";
    let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
        name.as_ptr(),
        name.count_bytes()
    ));
    let module = llvm!(core::LLVMGetGlobalParent(function));
    let context = llvm!(core::LLVMGetModuleContext(module));
    let attribute = llvm!(core::LLVMCreateEnumAttribute(context, kind, 0));
    let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
    llvm!(core::LLVMAddAttributeAtIndex(function, index, attribute));
}

/// Renames a declaration, or redirects its uses to the symbol that has the name.
fn rename(module: LLVMModuleRef, function: LLVMValueRef, name: &str) {
    let text = format!("{name}\0");
    let there = llvm!(core::LLVMGetNamedFunction(module, text.as_ptr().cast()));
    if there.is_null() {
        llvm!(core::LLVMSetValueName2(
            function,
            name.as_ptr().cast(),
            name.len()
        ));
    } else {
        llvm!(core::LLVMReplaceAllUsesWith(function, there));
    }
}

fn link_text(parsed: &Parsed, text: &str) -> Result<(), String> {
    let buffer = llvm!(core::LLVMCreateMemoryBufferWithMemoryRangeCopy(
        text.as_ptr().cast(),
        text.len(),
        c"kernels".as_ptr()
    ));
    let (mut kernels, mut message) = (null_mut(), null_mut());
    let failed = llvm!(ir_reader::LLVMParseIRInContext2(
        parsed.context,
        buffer,
        &mut kernels,
        &mut message
    )) != 0;
    llvm!(core::LLVMDisposeMemoryBuffer(buffer));
    if failed {
        return Err(format!(
            "the kernels generated for its regions cannot be parsed: {}",
            take_message(message)
        ));
    }
    if llvm!(linker::LLVMLinkModules2(parsed.module, kernels)) != 0 {
        return Err(format!(
            "the kernels generated for its regions cannot be linked: {}",
            parsed.take_errors()
        ));
    }
    Ok(())
}

/// Replaces the program's variables in a kernel by its arguments.
fn place_globals(module: LLVMModuleRef, kernel: &str) {
    let Some(kernel) = crate::nvptx::function(module, kernel) else {
        return;
    };
    let marks: Vec<LLVMValueRef> = instructions(kernel)
        .filter(|&i| called(i).is_some_and(|f| *name_of(f) == *format!("{PREFIX}global")))
        .collect();
    for mark in marks {
        let variable = llvm!(core::LLVMGetOperand(mark, 0));
        let instead = llvm!(core::LLVMGetOperand(mark, 1));
        llvm!(core::LLVMInstructionEraseFromParent(mark));
        shim::replace_in_function(kernel, variable, instead);
    }
}

/// Makes everything but the kernels internal.
fn hide(module: LLVMModuleRef, kernels: &[&str]) {
    for function in functions(module) {
        if llvm!(core::LLVMIsDeclaration(function)) == 0 && !kernels.contains(&&*name_of(function))
        {
            llvm!(core::LLVMSetLinkage(
                function,
                LLVMLinkage::LLVMInternalLinkage
            ));
        }
    }
    for variable in variables(module).collect::<Vec<_>>() {
        let name = name_of(variable);
        if llvm!(core::LLVMIsDeclaration(variable)) != 0 {
            continue;
        }
        llvm!(core::LLVMSetSection(variable, c"".as_ptr()));
        if !name.ends_with("_kernel_environment") {
            llvm!(core::LLVMSetLinkage(
                variable,
                LLVMLinkage::LLVMInternalLinkage
            ));
        }
    }
}
