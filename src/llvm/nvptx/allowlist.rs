//! Allowlist of the constructs that LLVM's code generator for GPUs supports.
//!
//! Instructions that it cannot select end the process, and functions that the code calls must exist
//! on the device, so the list names what is known to work for all GPUs from `sm_70` on. Anything
//! else is refused, with the source location of its use.
//!
//! Code for processors passes the same list, without the instructions of GPUs and with the functions
//! that their device provides.

use super::{LoweringRequest, Refusal, SHARED, math_library};
use crate::handles::{Call, Function, Instruction, Linkage, Module, Opcode, Type, TypeKind, Value};
use hashbrown::HashSet;

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

struct Checker<'a, 'm> {
    request: &'a LoweringRequest,
    seen: HashSet<Value<'m>>,
    open: Vec<Value<'m>>,
}

/// Returns the reason why a kernel cannot be compiled, if there is one.
pub(super) fn kernel(module: Module, name: &str, request: &LoweringRequest) -> Option<Refusal> {
    let function = module.function(name)?;
    let mut checker = Checker {
        request,
        seen: HashSet::new(),
        open: vec![function.into()],
    };
    while let Some(value) = checker.open.pop() {
        if !checker.seen.insert(value) {
            continue;
        }
        if let Some(function) = value.as_function() {
            if let Some(refusal) = checker.function(function) {
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
pub(super) fn replace_by_traps(module: Module, request: &LoweringRequest) {
    let refused: Vec<_> = module
        .functions()
        .filter(|f| !f.is_unused() && !f.is_intrinsic() && is_unsupported(*f, request))
        .collect();
    let builder = module.context().builder();
    for function in refused {
        // SAFETY: this step keeps no handle of the body, and no handles outlive a step.
        unsafe { function.drop_body() };
        builder.at_end(function.append_block());
        builder.call(module.intrinsic("llvm.trap", &[]), &[]);
        builder.unreachable();
        function.set_linkage(Linkage::LLVMInternalLinkage);
    }
}

/// Returns true if a function is unsupported regardless of the functions that it calls.
fn is_unsupported(function: Function, request: &LoweringRequest) -> bool {
    let mut checker = Checker {
        request,
        seen: HashSet::new(),
        open: Vec::new(),
    };
    if checker.function(function).is_some() {
        return true;
    }
    while let Some(value) = checker.open.pop() {
        let is_function = value.as_function().is_some();
        if checker.seen.insert(value) && !is_function && checker.constant(value).is_some() {
            return true;
        }
    }
    false
}

impl<'m> Checker<'_, 'm> {
    /// Returns true if a GPU runs the code.
    fn by_gpu(&self) -> bool {
        self.request.provided.is_none()
    }

    /// Returns true if the device of processors provides a function.
    fn is_provided(&self, name: &str) -> bool {
        self.request.provided.is_some_and(|provides| provides(name))
    }

    fn function(&mut self, function: Function<'m>) -> Option<Refusal> {
        let at = |reason: String| Refusal {
            reason,
            place: None,
        };
        if function.is_declaration() {
            // Calls are checked where they occur; this is an address that is taken.
            return self.callable(&function.name()).err().map(at);
        }
        for instruction in function.instructions() {
            if let Some(reason) = self.instruction(instruction) {
                return Some(Refusal {
                    reason,
                    place: instruction.source_location(),
                });
            }
        }
        None
    }

    fn instruction(&mut self, instruction: Instruction<'m>) -> Option<String> {
        use Opcode::*;
        let opcode = instruction.opcode();
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
        if let Some(reason) = unknown_type(instruction.of()) {
            return Some(reason);
        }
        let is_assembly = |call: Call<'_>| call.called().is_inline_asm();
        if !self.by_gpu() && instruction.as_call().is_some_and(is_assembly) {
            return Some("assembly of a GPU".into());
        }
        let callee = instruction.direct_callee();
        let count = instruction.operand_count() as usize;
        // A call's last operand is the function.
        let data = count - usize::from(callee.is_some());
        for operand in instruction.operands().take(data) {
            if let Some(reason) = unknown_type(operand.of()) {
                return Some(reason);
            }
            if operand.is_constant() {
                self.open.push(operand);
            }
        }
        let callee = callee?;
        if callee.is_declaration() {
            return self.callable(&callee.name()).err();
        }
        self.open.push(callee.into());
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
            let other_processor = is(&"nvvm") && !self.by_gpu();
            if INTRINSICS.iter().any(is) && !other_processor || self.is_provided(name) {
                return Ok(());
            }
            if !self.by_gpu() {
                return Err(format!("the instruction `{name}`"));
            }
            if self.request.math_library.is_missing() {
                return Err(format!(
                    "`{name}` needs a mathematics library, and none was found"
                ));
            }
            return Err(format!("the instruction `{name}`"));
        }
        if DRIVER.contains(&name) || self.is_provided(name) {
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

    fn constant(&mut self, value: Value<'m>) -> Option<String> {
        if let Some(variable) = value.as_variable() {
            if variable.is_thread_local() {
                return Some(format!(
                    "the variable `{}` is thread-local",
                    variable.name()
                ));
            }
            let Some(contents) = variable.initializer() else {
                // A block's dynamic shared memory has no definition.
                return (variable.address_space() != SHARED).then(|| {
                    format!(
                        "the variable `{}` is not defined on the device",
                        variable.name()
                    )
                });
            };
            self.open.push(contents);
            return unknown_type(variable.contents());
        }
        self.open
            .extend(value.operands().filter(|operand| operand.is_constant()));
        None
    }
}

/// Returns the reason why values of a type are not supported.
fn unknown_type(of: Type) -> Option<String> {
    use TypeKind::*;
    let name = match of.kind() {
        LLVMX86_FP80TypeKind => "80-bit `long double`",
        LLVMFP128TypeKind => "128-bit floating point",
        LLVMPPC_FP128TypeKind => "`long double` of two doubles",
        LLVMX86_AMXTypeKind | LLVMTargetExtTypeKind | LLVMScalableVectorTypeKind => {
            "a type of another processor"
        }
        LLVMIntegerTypeKind if of.int_width() > Some(128) => "an integer of more than 128 bits",
        LLVMArrayTypeKind | LLVMVectorTypeKind => return unknown_type(of.element()?),
        LLVMStructTypeKind => return of.fields().into_iter().find_map(unknown_type),
        _ => return None,
    };
    Some(format!("{name} does not exist on the device"))
}
