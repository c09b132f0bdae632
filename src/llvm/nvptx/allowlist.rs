//! Allowlist of the constructs that LLVM's code generator for GPUs supports.
//!
//! Instructions that it cannot select end the process, and functions that the code calls must exist
//! on the device, so the list names what is known to work for all GPUs from `sm_70` on. Anything
//! else is refused, with the source location of its use.

use super::{LoweringRequest, Refusal, called, instructions, math_library};
use crate::raw::{copy_text, llvm};
use crate::reader::name_of;
use crate::shim;
use hashbrown::HashSet;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use std::ptr::null_mut;

/// Functions that the driver links in.
const DRIVER: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// Intrinsics by the part of their name before the type, without `llvm.`. A name ends at a dot.
const INTRINSICS: &[&str] = &[
    "nvvm",
    "fma",
    "fmuladd",
    "sqrt",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "nearbyint",
    "roundeven",
    "round",
    "minnum",
    "maxnum",
    "minimum",
    "maximum",
    "minimumnum",
    "maximumnum",
    "copysign",
    "canonicalize",
    "is.fpclass",
    "smin",
    "smax",
    "umin",
    "umax",
    "abs",
    "ctpop",
    "ctlz",
    "cttz",
    "bswap",
    "bitreverse",
    "fshl",
    "fshr",
    "sadd",
    "uadd",
    "ssub",
    "usub",
    "smul",
    "umul",
    "scmp",
    "ucmp",
    "memcpy",
    "memmove",
    "memset",
    "lifetime",
    "dbg",
    "assume",
    "expect",
    "experimental.noalias.scope.decl",
    "trap",
    "debugtrap",
    "ubsantrap",
    "sideeffect",
    "donothing",
    "vector.reduce",
    "vector.insert",
    "vector.extract",
    "objectsize",
    "is.constant",
    "invariant",
    "launder.invariant.group",
    "strip.invariant.group",
    "annotation",
    "ptr.annotation",
    "var.annotation",
    "pseudoprobe",
    "fptoui.sat",
    "fptosi.sat",
    "ldexp",
    "stacksave",
    "stackrestore",
    "va_start",
    "va_end",
    "va_copy",
    "prefetch",
    "load.relative",
    "ptrmask",
    "threadlocal.address",
    "allow.runtime.check",
    "used.conditional",
];

struct Checker<'a> {
    request: &'a LoweringRequest,
    seen: HashSet<LLVMValueRef>,
    open: Vec<LLVMValueRef>,
}

/// Returns the reason why a kernel cannot be compiled, if there is one.
pub(super) fn kernel(
    module: LLVMModuleRef,
    name: &str,
    request: &LoweringRequest,
) -> Option<Refusal> {
    let function = super::function(module, name)?;
    let mut checker = Checker {
        request,
        seen: HashSet::new(),
        open: vec![function],
    };
    while let Some(value) = checker.open.pop() {
        if !checker.seen.insert(value) {
            continue;
        }
        if !llvm!(core::LLVMIsAFunction(value)).is_null() {
            if let Some(refusal) = checker.function(value) {
                return Some(refusal);
            }
        } else if let Some(reason) = checker.constant(value) {
            return Some(Refusal {
                reason,
                place: None,
            });
        }
    }
    None
}

/// Replaces the body of each remaining function that needs unsupported constructs by a trap. No
/// compiled kernel calls it, but a table of pointers may keep it, and the driver refuses a whole
/// image for one undefined name.
pub(super) fn replace_by_traps(module: LLVMModuleRef, request: &LoweringRequest) {
    let refused: Vec<LLVMValueRef> = super::functions(module)
        .filter(|&function| {
            let used = !llvm!(core::LLVMGetFirstUse(function)).is_null();
            let intrinsic = llvm!(core::LLVMGetIntrinsicID(function)) != 0;
            used && !intrinsic && is_unsupported(function, request)
        })
        .collect();
    let context = llvm!(core::LLVMGetModuleContext(module));
    let builder = llvm!(core::LLVMCreateBuilderInContext(context));
    let name = "llvm.trap";
    let number = llvm!(core::LLVMLookupIntrinsicID(
        name.as_ptr().cast(),
        name.len()
    ));
    for function in refused {
        shim::drop_body(function);
        let entry = llvm!(core::LLVMAppendBasicBlockInContext(
            context,
            function,
            c"".as_ptr()
        ));
        llvm!(core::LLVMPositionBuilderAtEnd(builder, entry));
        let trap = llvm!(core::LLVMGetIntrinsicDeclaration(
            module,
            number,
            null_mut(),
            0
        ));
        let signature = llvm!(core::LLVMGlobalGetValueType(trap));
        llvm!(core::LLVMBuildCall2(
            builder,
            signature,
            trap,
            null_mut(),
            0,
            c"".as_ptr()
        ));
        llvm!(core::LLVMBuildUnreachable(builder));
        let linkage = LLVMLinkage::LLVMInternalLinkage;
        llvm!(core::LLVMSetLinkage(function, linkage));
    }
    llvm!(core::LLVMDisposeBuilder(builder));
}

/// Returns true if a function is unsupported regardless of the functions that it calls.
fn is_unsupported(function: LLVMValueRef, request: &LoweringRequest) -> bool {
    let mut checker = Checker {
        request,
        seen: HashSet::new(),
        open: Vec::new(),
    };
    if checker.function(function).is_some() {
        return true;
    }
    while let Some(value) = checker.open.pop() {
        let is_function = !llvm!(core::LLVMIsAFunction(value)).is_null();
        if checker.seen.insert(value) && !is_function && checker.constant(value).is_some() {
            return true;
        }
    }
    false
}

impl Checker<'_> {
    fn function(&mut self, function: LLVMValueRef) -> Option<Refusal> {
        let at = |reason: String| Refusal {
            reason,
            place: None,
        };
        if llvm!(core::LLVMIsDeclaration(function)) != 0 {
            // Calls are checked where they occur; this is an address that is taken.
            return self.callable(&name_of(function)).err().map(at);
        }
        for instruction in instructions(function) {
            if let Some(reason) = self.instruction(instruction) {
                return Some(Refusal {
                    reason,
                    place: source_location(instruction),
                });
            }
        }
        None
    }

    fn instruction(&mut self, instruction: LLVMValueRef) -> Option<String> {
        use LLVMOpcode::*;
        let opcode = llvm!(core::LLVMGetInstructionOpcode(instruction));
        if matches!(
            opcode,
            LLVMInvoke
                | LLVMLandingPad
                | LLVMResume
                | LLVMCleanupRet
                | LLVMCatchRet
                | LLVMCatchPad
                | LLVMCleanupPad
                | LLVMCatchSwitch
        ) {
            return Some("exceptions cannot be caught on a device".into());
        }
        if matches!(opcode, LLVMIndirectBr | LLVMCallBr) {
            return Some("a jump to the address of a label".into());
        }
        if let Some(reason) = unknown_type(llvm!(core::LLVMTypeOf(instruction))) {
            return Some(reason);
        }
        let callee = called(instruction);
        let count = llvm!(core::LLVMGetNumOperands(instruction));
        for index in 0..count as u32 {
            let operand = llvm!(core::LLVMGetOperand(instruction, index));
            if Some(operand) == callee && index + 1 == count as u32 {
                continue;
            }
            if let Some(reason) = unknown_type(llvm!(core::LLVMTypeOf(operand))) {
                return Some(reason);
            }
            if !llvm!(core::LLVMIsAConstant(operand)).is_null() {
                self.open.push(operand);
            }
        }
        let callee = callee?;
        if llvm!(core::LLVMIsDeclaration(callee)) != 0 {
            return self.callable(&name_of(callee)).err();
        }
        self.open.push(callee);
        None
    }

    /// Checks that a function that is not defined here exists on the device.
    fn callable(&self, name: &str) -> Result<(), String> {
        if let Some(intrinsic) = name.strip_prefix("llvm.") {
            let is = |known: &&str| {
                intrinsic
                    .strip_prefix(*known)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            if INTRINSICS.iter().any(is) {
                return Ok(());
            }
            if self.request.math_library.is_missing() {
                return Err(format!(
                    "`{name}` needs a mathematics library, and none was found"
                ));
            }
            return Err(format!("the instruction `{name}`"));
        }
        if DRIVER.contains(&name) {
            return Ok(());
        }
        if let Some(plain) = name.strip_prefix(math_library::PREFIX) {
            return Err(if self.request.math_library.is_missing() {
                format!(
                    "`{plain}` needs a mathematics library, and none was found (libdevice of a \
                     CUDA installation, or Debian's package libclc-22)"
                )
            } else {
                format!("`{plain}` is not in the mathematics library that was found")
            });
        }
        if name.starts_with("__kmpc_") || name.starts_with("omp_") {
            return Err(format!(
                "the runtime entry `{name}` does not exist on devices"
            ));
        }
        Err(format!(
            "`{name}` is called, which does not exist on devices"
        ))
    }

    fn constant(&mut self, value: LLVMValueRef) -> Option<String> {
        if !llvm!(core::LLVMIsAGlobalVariable(value)).is_null() {
            if llvm!(core::LLVMIsThreadLocal(value)) != 0 {
                return Some(format!("the variable `{}` is thread-local", name_of(value)));
            }
            if llvm!(core::LLVMIsDeclaration(value)) != 0 {
                let pointer = llvm!(core::LLVMTypeOf(value));
                // A block's dynamic shared memory has no definition.
                let dynamic = llvm!(core::LLVMGetPointerAddressSpace(pointer)) == 3;
                return (!dynamic).then(|| {
                    format!(
                        "the variable `{}` is not defined on the device",
                        name_of(value)
                    )
                });
            }
            self.open.push(llvm!(core::LLVMGetInitializer(value)));
            return unknown_type(llvm!(core::LLVMGlobalGetValueType(value)));
        }
        if llvm!(core::LLVMIsAUser(value)).is_null() {
            return None;
        }
        let count = llvm!(core::LLVMGetNumOperands(value));
        for index in 0..count as u32 {
            let operand = llvm!(core::LLVMGetOperand(value, index));
            if !llvm!(core::LLVMIsAConstant(operand)).is_null() {
                self.open.push(operand);
            }
        }
        None
    }
}

/// Returns the reason why values of a type are not supported.
fn unknown_type(of: LLVMTypeRef) -> Option<String> {
    use LLVMTypeKind::*;
    let name = match llvm!(core::LLVMGetTypeKind(of)) {
        LLVMX86_FP80TypeKind => "80-bit `long double`",
        LLVMFP128TypeKind => "128-bit floating point",
        LLVMPPC_FP128TypeKind => "`long double` of two doubles",
        LLVMX86_AMXTypeKind | LLVMTargetExtTypeKind | LLVMScalableVectorTypeKind => {
            "a type of another processor"
        }
        LLVMIntegerTypeKind if llvm!(core::LLVMGetIntTypeWidth(of)) > 128 => {
            "an integer of more than 128 bits"
        }
        LLVMArrayTypeKind | LLVMVectorTypeKind => {
            return unknown_type(llvm!(core::LLVMGetElementType(of)));
        }
        LLVMStructTypeKind => {
            let count = llvm!(core::LLVMCountStructElementTypes(of));
            return (0..count)
                .find_map(|i| unknown_type(llvm!(core::LLVMStructGetTypeAtIndex(of, i))));
        }
        _ => return None,
    };
    Some(format!("{name} does not exist on the device"))
}

/// Returns the source location of an instruction (`file.c:12`).
fn source_location(instruction: LLVMValueRef) -> Option<String> {
    let line = llvm!(core::LLVMGetDebugLocLine(instruction));
    let mut length = 0;
    let name = llvm!(core::LLVMGetDebugLocFilename(instruction, &mut length));
    let file = copy_text(name, length as usize);
    (line != 0 && !file.is_empty()).then(|| format!("{file}:{line}"))
}
