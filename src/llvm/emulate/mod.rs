//! Emulation: device code made to run on this processor, with every memory access checked.
//!
//! Bitcode for a GPU is linked and retargeted to x86-64 (triple, layout, address spaces). Its
//! variables get addresses that the caller chooses. Every load, store, atomic and block operation
//! goes through a function of the caller that translates the address. The result is compiled in
//! memory.
//!
//! Address spaces are removed from the textual form (`retarget`), since LLVM has no pass for that.
//! The device's own instructions become calls of functions named `ompvm.nvvm...`; the rest is
//! `checks`.
//!
//! Threads, blocks and memory are the caller's: it decides what an address means.

mod checks;
mod reach;
mod retarget;

pub(super) use checks::function_location;

use super::guard;
use super::native::pipeline::HostMachine;
use super::orc::Jit;
use super::parse::{self, Parsed};
use super::raw::{copy_text, llvm};
use super::{Input, initialize_target};
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::prelude::*;
use ompvm_support::log;
use std::ffi::CString;
use std::sync::Arc;

/// Prefix of the device's intrinsics, which are ordinary functions here.
pub const INTRINSICS: &str = "ompvm.";

/// Environment of the emulated code, provided by the caller.
pub trait DeviceEnvironment: Send + Sync {
    /// Returns the device address of a variable.
    ///
    /// # Errors
    /// Returns the reason if there is no room.
    fn variable(&self, name: &str, size: u64, align: u64) -> Result<u64, String>;

    /// Returns the device address of a shared variable at this offset.
    fn shared(&self, offset: u64) -> u64;

    /// Returns the address of the function that replaces one that the code does not define; 0 if
    /// there is none.
    fn function(&self, name: &str) -> usize;
}

/// A variable of the device.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The variable's name; `ompvm.` and a number for unnamed ones.
    pub name: String,
    /// The device address.
    pub address: u64,
    /// The size in bytes.
    pub size: u64,
    /// Host address of the initial contents; `None` means zeros.
    pub contents: Option<usize>,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The kernel's name.
    pub name: String,
    /// Address of an `extern "C" fn(*const u64)` that takes the arguments from an array of words.
    pub address: usize,
    /// Number of arguments.
    pub args: u32,
    /// Reason why it cannot run, if so; address and arguments are then 0.
    pub refused: Option<Refusal>,
}

/// A source location: file name and line.
pub type SourceLocation = (Box<str>, u32);

/// Device code compiled for this processor.
#[derive(Debug)]
pub struct Emulated {
    /// The variables, except shared ones.
    pub variables: Vec<Variable>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// Size of a block's shared variables, in bytes.
    pub shared: u64,
    /// Source locations by the numbers that checks are called with.
    pub locations: Vec<SourceLocation>,
    /// Sorted addresses of the functions, which are the valid targets of calls through pointers.
    pub functions: Vec<usize>,
    jit: Jit,
}

impl Emulated {
    /// Returns the address of a function; `None` if there is none of the name.
    pub fn function(&self, name: &str) -> Option<usize> {
        self.jit.lookup(name).ok().filter(|&a| a != 0)
    }
}

/// Reason why device code cannot be emulated.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The code is damaged, or not for this device.
    Damaged(String),
    /// It uses something that does not exist, at this source location.
    Unsupported(String, Option<String>),
}

/// Links device code, of which the first input is the program's, retargets and compiles it.
///
/// # Errors
/// See [`Refusal`].
pub fn emulate(
    inputs: Vec<Input>,
    environment: Arc<dyn DeviceEnvironment>,
) -> Result<Emulated, Refusal> {
    let limits = guard::ResourceLimits::for_input(inputs.iter().map(|i| i.bytes.len()).sum());
    let work = move || work(&inputs, &*environment);
    guard::run(&limits, work).unwrap_or_else(|cause| Err(Refusal::Damaged(cause)))
}

fn work(inputs: &[Input], environment: &dyn DeviceEnvironment) -> Result<Emulated, Refusal> {
    initialize_target();
    let damaged = |e: String| Refusal::Damaged(e);
    let device =
        parse::parse_for(inputs, "nvptx64").map_err(|e| Refusal::Damaged(e.to_string()))?;
    super::shim::resolve_aliases(device.module);
    let mut kernels = prepare(&device)?;
    let printed = super::raw::take_message(llvm!(core::LLVMPrintModuleToString(device.module)));
    let shared = shared_names(&device);
    drop(device);
    let text = retarget::retarget(&printed, &layout()?);
    let host = Input {
        name: "device code".into(),
        bytes: text.into_bytes(),
    };
    let parsed = parse::parse(&[host]).map_err(|e| Refusal::Damaged(e.to_string()))?;
    let module = parsed.module;
    if gather_constructors(module) {
        kernels.push(CONSTRUCTORS.into());
    }
    let refused = refuse(module, &mut kernels, &shared, environment)?;
    let machine = HostMachine::for_module(parsed.module(), true).map_err(damaged)?;
    keep_kernels(module, &kernels);
    machine
        .run_passes(parsed.module(), PASSES)
        .map_err(damaged)?;
    forget_unreached(module, &shared, environment);
    let mut locations = Vec::new();
    checks::insert(module, &mut locations)?;
    let shared = place_shared(module, &shared, environment);
    let mut variables = place_variables(module, environment)?;
    let count = table_functions(module);
    let wrappers = wrap_kernels(module, &kernels);
    llvm!(debuginfo::LLVMStripModuleDebugInfo(module));
    let ir = super::raw::take_message(llvm!(core::LLVMPrintModuleToString(module)));
    drop(parsed);
    tracing::trace!(target: log::IR, kernels = kernels.len(), text = ir, "an emulated device image");
    let mut jit = Jit::closed().map_err(damaged)?;
    let names = undefined_names(&ir);
    let mut symbols = Vec::new();
    for name in names {
        let address = environment.function(&name);
        if address != 0 {
            symbols.push((name, address));
        }
    }
    jit.define(&symbols).map_err(damaged)?;
    jit.add_ir(&ir).map_err(damaged)?;
    for variable in &mut variables {
        if variable.contents.is_some() {
            variable.contents = Some(jit.lookup(&variable.name).map_err(damaged)?);
        }
    }
    let mut list = Vec::new();
    for (name, args) in kernels.into_iter().zip(wrappers) {
        let address = jit.lookup(&wrapper(&name)).map_err(damaged)?;
        list.push(Kernel {
            name,
            address,
            args,
            refused: None,
        });
    }
    list.extend(refused);
    let mut functions = Vec::new();
    if count > 0 {
        let table = jit.lookup(FUNCTIONS).map_err(damaged)?;
        // SAFETY: `table` is the array of `count` addresses that `table_functions` defined.
        functions.extend(unsafe { std::slice::from_raw_parts(table as *const usize, count) });
        functions.sort_unstable();
    }
    Ok(Emulated {
        variables,
        kernels: list,
        shared,
        locations,
        functions,
        jit,
    })
}

/// Passes to run before checks make the code opaque; they create neither vectors nor new accesses.
const PASSES: &std::ffi::CStr = c"always-inline,cgscc(inline),function(sroa,early-cse<memssa>,\
    instcombine<no-verify-fixpoint>,simplifycfg),globaldce";

/// Returns the data layout of this system.
fn layout() -> Result<String, Refusal> {
    Ok("e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128".into())
}

/// Returns the functions of a module.
fn functions(module: LLVMModuleRef) -> Vec<LLVMValueRef> {
    let mut list = Vec::new();
    let mut f = llvm!(core::LLVMGetFirstFunction(module));
    while !f.is_null() {
        list.push(f);
        f = llvm!(core::LLVMGetNextFunction(f));
    }
    list
}

/// Returns the variables of a module.
fn globals(module: LLVMModuleRef) -> Vec<LLVMValueRef> {
    let mut list = Vec::new();
    let mut g = llvm!(core::LLVMGetFirstGlobal(module));
    while !g.is_null() {
        list.push(g);
        g = llvm!(core::LLVMGetNextGlobal(g));
    }
    list
}

fn name_of(value: LLVMValueRef) -> String {
    let mut len = 0;
    let name = llvm!(core::LLVMGetValueName2(value, &mut len));
    copy_text(name, len).into()
}

fn section_of(value: LLVMValueRef) -> String {
    let section = llvm!(core::LLVMGetSection(value));
    super::raw::copy_cstr(section).into()
}

fn rename(value: LLVMValueRef, name: &str) {
    llvm!(core::LLVMSetValueName2(
        value,
        name.as_ptr().cast(),
        name.len()
    ));
}

fn is_declaration(value: LLVMValueRef) -> bool {
    llvm!(core::LLVMIsDeclaration(value)) != 0
}

/// `LLVMPTXKernelCallConv`.
pub(super) const KERNEL: u32 = 71;

/// Removes what only the device's code generator understands, and returns the names of the kernels.
fn prepare(device: &Parsed) -> Result<Vec<String>, Refusal> {
    let mut kernels = Vec::new();
    for f in functions(device.module) {
        let name = name_of(f);
        for key in ["target-cpu", "target-features", "tune-cpu"] {
            llvm!(core::LLVMRemoveStringAttributeAtIndex(
                f,
                FUNCTION,
                key.as_ptr().cast(),
                key.len() as u32
            ));
        }
        if let Some(rest) = name.strip_prefix("llvm.nvvm.") {
            rename(f, &format!("{INTRINSICS}nvvm.{rest}"));
        }
        if !is_declaration(f) && llvm!(core::LLVMGetFunctionCallConv(f)) == KERNEL {
            kernels.push(name);
        }
    }
    for (n, g) in globals(device.module).into_iter().enumerate() {
        let name = name_of(g);
        // Lists of symbols to keep and other notes to the compiler; flang leaves one for each
        // region.
        if section_of(g) == "llvm.metadata" {
            llvm!(core::LLVMDeleteGlobal(g));
        } else if name.is_empty() {
            rename(g, &format!("{INTRINSICS}g{n}"));
        }
    }
    Ok(kernels)
}

/// LLVM's index of a function's own attributes.
const FUNCTION: u32 = u32::MAX;

/// Returns the names of the shared variables.
fn shared_names(device: &Parsed) -> Vec<String> {
    const SHARED: u32 = 3;
    let mut list = globals(device.module);
    list.retain(|&g| {
        let of = llvm!(core::LLVMTypeOf(g));
        llvm!(core::LLVMGetPointerAddressSpace(of)) == SHARED
    });
    list.into_iter().map(name_of).collect()
}

/// Removes kernels that use missing functionality from list and module.
///
/// # Errors
/// Fails if the constructors, which run before every kernel, are among them.
fn refuse(
    module: LLVMModuleRef,
    kernels: &mut Vec<String>,
    shared: &[String],
    environment: &dyn DeviceEnvironment,
) -> Result<Vec<Kernel>, Refusal> {
    let mut reach = reach::ReachabilityCheck::new(environment, shared);
    let mut refused = Vec::new();
    for name in kernels.iter() {
        let Some(refusal) = reach.refusal(module, name) else {
            continue;
        };
        if name == CONSTRUCTORS {
            return Err(refusal);
        }
        refused.push(Kernel {
            name: name.clone(),
            address: 0,
            args: 0,
            refused: Some(refusal),
        });
    }
    for kernel in &refused {
        kernels.retain(|k| *k != kernel.name);
        if let Some(function) = super::nvptx::function(module, &kernel.name) {
            super::shim::drop_body(function);
        }
    }
    Ok(refused)
}

/// Sets the addresses of missing symbols to null: no kernel reaches them.
fn forget_unreached(module: LLVMModuleRef, shared: &[String], environment: &dyn DeviceEnvironment) {
    for g in globals(module) {
        if is_declaration(g) && !shared.contains(&name_of(g)) {
            let of = llvm!(core::LLVMTypeOf(g));
            let nothing = llvm!(core::LLVMConstNull(of));
            llvm!(core::LLVMReplaceAllUsesWith(g, nothing));
        }
    }
    for f in functions(module) {
        let name = name_of(f);
        if is_declaration(f) && !name.starts_with("llvm.") && environment.function(&name) == 0 {
            let of = llvm!(core::LLVMTypeOf(f));
            let nothing = llvm!(core::LLVMConstNull(of));
            llvm!(core::LLVMReplaceAllUsesWith(f, nothing));
        }
    }
}

/// Returns the source location of the first use in an instruction that has one (`file.c:12`).
fn first_use(value: LLVMValueRef) -> Option<String> {
    let mut at = llvm!(core::LLVMGetFirstUse(value));
    while !at.is_null() {
        let user = llvm!(core::LLVMGetUser(at));
        if !llvm!(core::LLVMIsAInstruction(user)).is_null()
            && let Some((file, line)) = checks::location_of(user)
        {
            return Some(format!("{file}:{line}"));
        }
        at = llvm!(core::LLVMGetNextUse(at));
    }
    None
}

/// Kernel that constructs objects with static storage, if there are any: one thread calls it before
/// all others.
pub const CONSTRUCTORS: &str = "ompvm.constructors";

/// Creates [`CONSTRUCTORS`] from the compiler's list. Returns true if there is one.
fn gather_constructors(module: LLVMModuleRef) -> bool {
    let list = llvm!(core::LLVMGetNamedGlobal(
        module,
        c"llvm.global_ctors".as_ptr()
    ));
    if list.is_null() {
        return false;
    }
    let context = llvm!(core::LLVMGetModuleContext(module));
    let nothing = llvm!(core::LLVMVoidTypeInContext(context));
    let of = llvm!(core::LLVMFunctionType(nothing, std::ptr::null_mut(), 0, 0));
    let name = format!("{CONSTRUCTORS}\0");
    let all = llvm!(core::LLVMAddFunction(module, name.as_ptr().cast(), of));
    let block = llvm!(core::LLVMAppendBasicBlockInContext(
        context,
        all,
        c"".as_ptr()
    ));
    let builder = llvm!(core::LLVMCreateBuilderInContext(context));
    llvm!(core::LLVMPositionBuilderAtEnd(builder, block));
    let rows = llvm!(core::LLVMGetInitializer(list));
    // Rows are (priority, function, data), in the order of priorities.
    for n in 0..llvm!(core::LLVMGetNumOperands(rows)) {
        let row = llvm!(core::LLVMGetOperand(rows, n as u32));
        let f = llvm!(core::LLVMGetOperand(row, 1));
        llvm!(core::LLVMBuildCall2(
            builder,
            of,
            f,
            std::ptr::null_mut(),
            0,
            c"".as_ptr()
        ));
    }
    llvm!(core::LLVMBuildRetVoid(builder));
    llvm!(core::LLVMDisposeBuilder(builder));
    llvm!(core::LLVMDeleteGlobal(list));
    let after = llvm!(core::LLVMGetNamedGlobal(
        module,
        c"llvm.global_dtors".as_ptr()
    ));
    if !after.is_null() {
        llvm!(core::LLVMDeleteGlobal(after));
    }
    true
}

/// Makes everything but kernels internal, so that unused functions are removed.
fn keep_kernels(module: LLVMModuleRef, kernels: &[String]) {
    let table = |name: &str| name.ends_with("_kernel_environment");
    for f in functions(module) {
        let name = name_of(f);
        if !is_declaration(f) && !kernels.contains(&name) && !is_entry(&name) {
            llvm!(core::LLVMSetLinkage(f, LLVMLinkage::LLVMInternalLinkage));
        }
    }
    for g in globals(module) {
        let linkage = llvm!(core::LLVMGetLinkage(g));
        let visible = !matches!(
            linkage,
            LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage
        );
        if visible && table(&name_of(g)) {
            llvm!(core::LLVMSetLinkage(g, LLVMLinkage::LLVMExternalLinkage));
        }
    }
}

/// Returns true if the host may look up a function by name: constructors and indirectly called
/// functions have this prefix.
fn is_entry(name: &str) -> bool {
    name.starts_with("__omp_offloading_")
}

fn layout_of(module: LLVMModuleRef) -> inkwell::llvm_sys::target::LLVMTargetDataRef {
    llvm!(target::LLVMGetModuleDataLayout(module))
}

/// Places the shared variables one after the other, and returns their total size in bytes.
fn place_shared(
    module: LLVMModuleRef,
    names: &[String],
    environment: &dyn DeviceEnvironment,
) -> u64 {
    let layout = layout_of(module);
    let mut at = 0u64;
    // Memory that a launch adds, as variables without a definition, comes after all others.
    for external in [false, true] {
        for g in globals(module) {
            if !names.contains(&name_of(g)) || is_declaration(g) != external {
                continue;
            }
            let of = llvm!(core::LLVMGlobalGetValueType(g));
            let size = llvm!(target::LLVMABISizeOfType(layout, of));
            let align = u64::from(llvm!(target::LLVMPreferredAlignmentOfGlobal(layout, g))).max(16);
            at = at.next_multiple_of(align);
            replace(module, g, environment.shared(at));
            llvm!(core::LLVMDeleteGlobal(g));
            at += size;
        }
    }
    at.next_multiple_of(16)
}

/// Gives each variable a device address; its initial contents stay under its name.
fn place_variables(
    module: LLVMModuleRef,
    environment: &dyn DeviceEnvironment,
) -> Result<Vec<Variable>, Refusal> {
    let layout = layout_of(module);
    let mut list = Vec::new();
    for (n, g) in globals(module).into_iter().enumerate() {
        let mut name = name_of(g);
        if is_declaration(g) {
            if llvm!(core::LLVMGetFirstUse(g)).is_null() {
                continue;
            }
            let what = format!("the variable `{name}`, which the device code does not define");
            return Err(Refusal::Unsupported(what, first_use(g)));
        }
        let of = llvm!(core::LLVMGlobalGetValueType(g));
        let size = llvm!(target::LLVMABISizeOfType(layout, of));
        let align = u64::from(llvm!(target::LLVMPreferredAlignmentOfGlobal(layout, g)));
        if name.is_empty() {
            name = format!("{INTRINSICS}v{n}");
            rename(g, &name);
        }
        let address = environment
            .variable(&name, size, align.max(1))
            .map_err(Refusal::Damaged)?;
        replace(module, g, address);
        let first = llvm!(core::LLVMGetInitializer(g));
        let zero = llvm!(core::LLVMIsNull(first)) != 0;
        if zero {
            llvm!(core::LLVMDeleteGlobal(g));
        } else {
            llvm!(core::LLVMSetLinkage(g, LLVMLinkage::LLVMExternalLinkage));
            llvm!(core::LLVMSetVisibility(
                g,
                inkwell::llvm_sys::LLVMVisibility::LLVMDefaultVisibility
            ));
        }
        list.push(Variable {
            name,
            address,
            size,
            // Filled in after compilation.
            contents: (!zero).then_some(0),
        });
    }
    Ok(list)
}

/// Replaces every use of a variable by its address.
fn replace(module: LLVMModuleRef, variable: LLVMValueRef, address: u64) {
    let context = llvm!(core::LLVMGetModuleContext(module));
    let word = llvm!(core::LLVMInt64TypeInContext(context));
    let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
    let number = llvm!(core::LLVMConstInt(word, address, 0));
    let fixed = llvm!(core::LLVMConstIntToPtr(number, pointer));
    llvm!(core::LLVMReplaceAllUsesWith(variable, fixed));
}

/// Name of the array of all functions' addresses.
const FUNCTIONS: &str = "ompvm.functions";

/// Creates the array of all functions' addresses, and returns their number.
fn table_functions(module: LLVMModuleRef) -> usize {
    let context = llvm!(core::LLVMGetModuleContext(module));
    let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
    let mut list = functions(module);
    list.retain(|&f| !is_declaration(f));
    if list.is_empty() {
        return 0;
    }
    let count = list.len();
    let array = llvm!(core::LLVMConstArray2(
        pointer,
        list.as_mut_ptr(),
        count as u64
    ));
    let of = llvm!(core::LLVMArrayType2(pointer, count as u64));
    let name = format!("{FUNCTIONS}\0");
    let table = llvm!(core::LLVMAddGlobal(module, of, name.as_ptr().cast()));
    llvm!(core::LLVMSetInitializer(table, array));
    count
}

fn wrapper(kernel: &str) -> String {
    format!("{INTRINSICS}kernel.{kernel}")
}

/// Creates functions that take a kernel's arguments from an array of words, and returns the number
/// of arguments of each.
fn wrap_kernels(module: LLVMModuleRef, kernels: &[String]) -> Vec<u32> {
    let context = llvm!(core::LLVMGetModuleContext(module));
    let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
    let word = llvm!(core::LLVMInt64TypeInContext(context));
    let nothing = llvm!(core::LLVMVoidTypeInContext(context));
    let builder = llvm!(core::LLVMCreateBuilderInContext(context));
    let mut counts = Vec::new();
    for kernel in kernels {
        let Ok(name) = CString::new(kernel.as_str()) else {
            continue;
        };
        let Ok(own) = CString::new(wrapper(kernel)) else {
            continue;
        };
        let f = llvm!(core::LLVMGetNamedFunction(module, name.as_ptr()));
        let of = llvm!(core::LLVMGlobalGetValueType(f));
        let count = llvm!(core::LLVMCountParamTypes(of));
        let mut params = [pointer];
        let signature = llvm!(core::LLVMFunctionType(nothing, params.as_mut_ptr(), 1, 0));
        let wrap = llvm!(core::LLVMAddFunction(module, own.as_ptr(), signature));
        let block = llvm!(core::LLVMAppendBasicBlockInContext(
            context,
            wrap,
            c"".as_ptr()
        ));
        llvm!(core::LLVMPositionBuilderAtEnd(builder, block));
        let mut values = Vec::new();
        for n in 0..count {
            let mut index = [llvm!(core::LLVMConstInt(word, n.into(), 0))];
            let words = llvm!(core::LLVMGetParam(wrap, 0));
            let at = llvm!(core::LLVMBuildGEP2(
                builder,
                word,
                words,
                index.as_mut_ptr(),
                1,
                c"".as_ptr()
            ));
            let param = llvm!(core::LLVMGetParam(f, n));
            let param = llvm!(core::LLVMTypeOf(param));
            values.push(llvm!(core::LLVMBuildLoad2(
                builder,
                param,
                at,
                c"".as_ptr()
            )));
        }
        llvm!(core::LLVMBuildCall2(
            builder,
            of,
            f,
            values.as_mut_ptr(),
            count,
            c"".as_ptr()
        ));
        llvm!(core::LLVMBuildRetVoid(builder));
        counts.push(count);
    }
    llvm!(core::LLVMDisposeBuilder(builder));
    counts
}

/// Returns the names that textual IR declares, and those that code generation may call on its own.
fn undefined_names(ir: &str) -> Vec<String> {
    const OF_LLVM: [&str; 14] = [
        "memcpy",
        "memmove",
        "memset",
        "memcmp",
        "fmod",
        "fmodf",
        "ldexp",
        "ldexpf",
        "frexp",
        "frexpf",
        "__udivti3",
        "__umodti3",
        "__divti3",
        "__modti3",
    ];
    let mut names: Vec<String> = OF_LLVM.map(str::to_owned).to_vec();
    for line in ir.lines().filter(|l| l.starts_with("declare ")) {
        let Some((_, rest)) = line.split_once('@') else {
            continue;
        };
        let name = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => rest.split('(').next(),
        };
        names.extend(name.map(str::to_owned));
    }
    // Mathematical functions that intrinsics become.
    for name in [
        "sin", "cos", "tan", "exp", "exp2", "exp10", "log", "log2", "log10", "pow",
    ] {
        names.push(name.to_owned());
        names.push(format!("{name}f"));
    }
    for name in [
        "fmin",
        "fmax",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "nearbyint",
        "round",
    ] {
        names.push(name.to_owned());
        names.push(format!("{name}f"));
    }
    for name in [
        "roundeven",
        "fma",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
    ] {
        names.push(name.to_owned());
        names.push(format!("{name}f"));
    }
    names.sort();
    names.dedup();
    names.retain(|n| !n.starts_with("llvm."));
    names
}

/// Returns the file name of a scope as the debug information has it.
fn file_name(scope: LLVMMetadataRef) -> Option<Box<str>> {
    let file = llvm!(debuginfo::LLVMDIScopeGetFile(scope));
    if file.is_null() {
        return None;
    }
    let mut len = 0;
    let name = llvm!(debuginfo::LLVMDIFileGetFilename(file, &mut len));
    Some(copy_text(name, len as usize))
}
