//! Analysis of kernels for several devices that share one league: whether a kernel can be divided
//! among them, and how it uses the memory that its parameters point to.
//!
//! A kernel is divided by giving each device a share of the teams and of the iterations
//! (`runtime-c/device/device.h`). Every address means the same on all devices, so the analysis is
//! needed for two things only: variables that remain in the image ([`super::share_variables`]), of
//! which each device has its own, and placement. Memory that every team may read gains by a copy on each device; memory that a team
//! accesses at its own iterations gains by lying where these run.
//!
//! The analysis runs on the final code, after inlining. It follows pointers through address
//! computations. A pointer that it cannot follow counts as written.

use super::cleanup::reached;
use super::footprint::Footprint;
use super::grid_analysis::functions_of;
use super::share_variables::SharedVariable;
use super::{CONSTANT, SHARED};
use crate::handles::{Function, Instruction, Module, Opcode, Value, Variable};
use hashbrown::HashSet;
use std::fmt;

/// Variable that holds a device's share; see [`omp_abi::League`].
pub const LEAGUE: &str = "__ompvm_league";

/// Variable that holds the number of the device.
pub const DEVICE_NUMBER: &str = "__ompvm_device_number";

/// Variables that the host writes.
pub(super) const WRITTEN_BY_HOST: [&str; 2] = [LEAGUE, DEVICE_NUMBER];

/// Use of the memory that a kernel's parameter points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ParameterUse {
    /// No access.
    None,
    /// Only read, at addresses that follow from the thread's number.
    ReadOwn,
    /// Only read, also at addresses that do not follow from the thread's number: the same for all
    /// threads, or found in memory.
    ReadAny,
    /// Written, or passed on.
    Written,
}

/// Division of a kernel among devices, or the reason against it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Division {
    /// Reason why the kernel runs on one device only.
    pub refused: Option<String>,
    /// Use of each parameter.
    pub parameters: Vec<ParameterUse>,
    /// Use of the shared variables that occur in the kernel, by their names.
    pub variables: Vec<(String, ParameterUse)>,
    /// True if the kernel may write through pointers that it finds in memory.
    pub writes_elsewhere: bool,
    /// Parameters that lead to results of a reduction alone: bit `n` for parameter `n`.
    pub results: u64,
    /// The bytes that a launch accesses, for devices without a common memory.
    pub footprint: Footprint,
}

impl fmt::Display for Division {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.refused {
            Some(why) => write!(f, "not divided: {why}")?,
            None => f.write_str("divided")?,
        }
        write!(f, "; parameters {:?}", self.parameters)?;
        for (name, used) in &self.variables {
            write!(f, "; `{name}` {used:?}")?;
        }
        if self.results != 0 {
            let numbers: Vec<u32> = (0..64).filter(|n| self.results >> n & 1 != 0).collect();
            write!(f, "; results {numbers:?}")?;
        }
        if self.writes_elsewhere {
            f.write_str("; writes through pointers in memory")?;
        }
        if let Some(why) = &self.footprint.unknown {
            write!(f, "; footprint unknown: {why}")?;
        }
        Ok(())
    }
}

/// Returns why a kernel of the images cannot be divided, as far as its calls tell. Must run before
/// the runtime is linked, which makes such calls itself.
pub(super) fn refusal(module: Module, kernel: &str) -> Option<&'static str> {
    const BLOCK: [&str; 4] = ["ctaid", "ompx_", "smid", "clusterid"];
    const HEAP: [&str; 5] = ["malloc", "calloc", "_Znw", "_Zna", "omp_alloc"];
    let found = mentioned(module.function(kernel)?);
    let names: Vec<Box<str>> = found.iter().map(|f| f.name()).collect();
    let any = |parts: &[&str]| names.iter().any(|n| parts.iter().any(|p| n.contains(p)));
    if any(&BLOCK) {
        Some("it observes the number of its block")
    } else if any(&HEAP) {
        Some("it allocates memory on the device")
    } else if found.into_iter().any(has_assembly) {
        Some("it calls functions through pointers, or assembly")
    } else {
        None
    }
}

/// Returns the functions that a kernel calls, or passes to others such as the runtime, including
/// itself.
fn mentioned(kernel: Function) -> HashSet<Function> {
    let mut found = HashSet::new();
    let mut open = vec![kernel];
    while let Some(function) = open.pop() {
        if found.insert(function) {
            open.extend(function.instructions().flat_map(functions_of));
        }
    }
    found
}

/// Returns true if a kernel runs one loop of a region that the program does not offload itself: it
/// divides the loop and combines its reductions. Must run before the runtime is linked.
pub(super) fn is_outlined(module: Module, kernel: &str) -> bool {
    let kernel = module.function(kernel);
    let mut found = kernel.into_iter().flat_map(reached);
    found.any(|f| f.name().starts_with("__ompvm_outlined_"))
}

/// Returns true if a function calls something other than a function: assembly, whose effects are
/// unknown, or a pointer.
fn has_assembly(function: Function) -> bool {
    let mut calls = function.instructions().filter_map(|i| i.as_call());
    calls.any(|call| call.callee().is_none())
}

/// Analyzes a kernel of the final module.
///
/// `written` are the variables of the image that device code may change, and `shared` those that
/// were moved out of it.
pub(super) fn analyze(
    module: Module,
    kernel: &str,
    written: &HashSet<Variable>,
    shared: &[SharedVariable],
) -> Division {
    let mut division = Division {
        refused: None,
        parameters: Vec::new(),
        variables: Vec::new(),
        writes_elsewhere: false,
        results: 0,
        footprint: Footprint::default(),
    };
    let Some(entry) = module.function(kernel).filter(|f| !f.is_declaration()) else {
        division.refused = Some("it has no code".into());
        division.writes_elsewhere = true;
        return division;
    };
    division.parameters = entry.parameters().map(parameter_use).collect();
    let reached = reached(entry);
    for variable in shared {
        if let Some(used) = shared_use(module, variable, kernel, &reached) {
            division.variables.push((variable.name.clone(), used));
        }
    }
    for function in reached {
        for instruction in function.instructions() {
            division.writes_elsewhere |= written_pointers(instruction)
                .into_iter()
                .any(|pointer| leads_elsewhere(pointer, entry));
            if let Some(variable) = variables_of(instruction).find(|v| written.contains(v)) {
                let name = variable.name();
                division.refused = Some(format!("it uses the variable `{name}` of the device"));
            }
        }
    }
    division
}

/// Returns the use of a shared variable in a kernel; `None` if it does not occur there.
fn shared_use(
    module: Module,
    shared: &SharedVariable,
    kernel: &str,
    reached: &HashSet<Function>,
) -> Option<ParameterUse> {
    let loads = |pointer: &str| -> Vec<Instruction> {
        let pointer = module.variable(pointer).map(Value::from);
        let users = pointer.into_iter().flat_map(Value::users);
        let users = users.filter_map(Value::as_instruction);
        users.filter(|i| reached.contains(&i.function())).collect()
    };
    // The kernel cannot give other functions its own pointer, so their reads count as writes.
    if !loads(&shared.pointer).is_empty() {
        return Some(ParameterUse::Written);
    }
    let own = shared.own_pointers.get(kernel)?;
    let load = loads(own).first().copied()?;
    Some(use_of(Value::from(load)))
}

/// Returns the variables of a module that device code may change.
pub(super) fn written_variables(module: Module) -> HashSet<Variable> {
    module
        .variables()
        .filter(|v| !v.is_read_only() && !v.name().starts_with("llvm."))
        .filter(|v| v.address_space() != SHARED && v.address_space() != CONSTANT)
        .filter(|v| use_of(Value::from(*v)) == ParameterUse::Written)
        .collect()
}

/// Returns the variables among an instruction's operands, also within constant expressions.
fn variables_of<'m>(instruction: Instruction<'m>) -> impl Iterator<Item = Variable<'m>> {
    let mut open: Vec<Value> = instruction.operands().collect();
    let mut found = Vec::new();
    while let Some(value) = open.pop() {
        if let Some(variable) = value.as_variable() {
            found.push(variable);
        } else if value.is_constant_expression() {
            open.extend(value.operands());
        }
    }
    found.into_iter()
}

/// Returns the use of a parameter. A number is no address, or one of which nothing is known.
fn parameter_use(parameter: Value) -> ParameterUse {
    if parameter.of().is_pointer() {
        use_of(parameter)
    } else if becomes_address(parameter) {
        ParameterUse::Written
    } else {
        ParameterUse::None
    }
}

/// Returns how the memory behind a pointer is used.
pub(super) fn use_of(pointer: Value) -> ParameterUse {
    let mut result = ParameterUse::None;
    let mut seen = HashSet::new();
    let mut open = vec![pointer];
    while let Some(pointer) = open.pop() {
        if !seen.insert(pointer) {
            continue;
        }
        for user in pointer.users() {
            let Some(instruction) = user.as_instruction() else {
                if user.is_constant_expression() {
                    open.push(user);
                    continue;
                }
                return ParameterUse::Written;
            };
            match instruction.opcode() {
                Opcode::LLVMGetElementPtr if instruction.operand(0) == pointer => open.push(user),
                Opcode::LLVMAddrSpaceCast
                | Opcode::LLVMBitCast
                | Opcode::LLVMPHI
                | Opcode::LLVMSelect
                | Opcode::LLVMFreeze => open.push(user),
                Opcode::LLVMICmp => {}
                Opcode::LLVMLoad => {
                    result = match (result, address(pointer)) {
                        (_, Address::Any) | (ParameterUse::ReadAny, _) => ParameterUse::ReadAny,
                        _ => ParameterUse::ReadOwn,
                    };
                }
                _ => return ParameterUse::Written,
            }
        }
    }
    result
}

/// Returns true if an address may be computed from a number.
fn becomes_address(number: Value) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![number];
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        for user in value.users().filter_map(Value::as_instruction) {
            match user.opcode() {
                Opcode::LLVMIntToPtr => return true,
                // Memory and other functions may keep it.
                Opcode::LLVMStore if user.operand(0) == value => return true,
                Opcode::LLVMCall if user.direct_callee().is_none_or(|f| !f.is_intrinsic()) => {
                    return true;
                }
                Opcode::LLVMGetElementPtr | Opcode::LLVMLoad | Opcode::LLVMICmp => {}
                _ => open.push(user.into()),
            }
        }
    }
    false
}

/// Origin of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Address {
    /// It follows from the thread's number.
    Own,
    /// It does not, or also from memory.
    Any,
}

/// Returns what an address follows from.
fn address(pointer: Value) -> Address {
    let mut thread = false;
    let mut seen = HashSet::new();
    let mut open = vec![pointer];
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        let Some(instruction) = value.as_instruction() else {
            continue;
        };
        match instruction.opcode() {
            Opcode::LLVMLoad => {
                let from = instruction.operand(0);
                // The share of the device says nothing about the thread, and a local variable is
                // rarely an index.
                if is_in_space(from, CONSTANT) || is_local(from) {
                    continue;
                }
                return Address::Any;
            }
            Opcode::LLVMCall => {
                let callee = instruction.direct_callee();
                let name = callee.map(|f| f.name());
                let name = name.as_deref().unwrap_or("");
                if name.contains("sreg.tid") || name.contains("sreg.ctaid") {
                    thread = true;
                } else if name.starts_with("llvm.") {
                    open.extend(instruction.operands());
                } else {
                    return Address::Any;
                }
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => return Address::Any,
            _ => open.extend(instruction.operands()),
        }
    }
    if thread { Address::Own } else { Address::Any }
}

/// Returns the pointers that an instruction may write through.
fn written_pointers<'m>(instruction: Instruction<'m>) -> Vec<Value<'m>> {
    match instruction.opcode() {
        Opcode::LLVMStore => vec![instruction.operand(1)],
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => vec![instruction.operand(0)],
        Opcode::LLVMCall => {
            let Some(call) = instruction.as_call() else {
                return Vec::new();
            };
            let harmless = call.callee().is_some_and(|f| {
                let name = f.name();
                let writes = name.starts_with("llvm.mem");
                f.is_intrinsic() && !writes || &*name == "vprintf" || &*name == "free"
            });
            if harmless {
                return Vec::new();
            }
            call.arguments().filter(|a| a.of().is_pointer()).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns true if a pointer may lead to memory other than that of the kernel's parameters, of the
/// thread and of variables.
fn leads_elsewhere<'m>(pointer: Value<'m>, kernel: Function<'m>) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![pointer];
    while let Some(value) = open.pop() {
        if !seen.insert(value) || value.as_variable().is_some() || value.is_constant() {
            continue;
        }
        let Some(instruction) = value.as_instruction() else {
            if kernel.parameters().any(|p| p == value) {
                continue;
            }
            return true;
        };
        match instruction.opcode() {
            Opcode::LLVMGetElementPtr
            | Opcode::LLVMAddrSpaceCast
            | Opcode::LLVMBitCast
            | Opcode::LLVMIntToPtr
            | Opcode::LLVMFreeze => open.push(instruction.operand(0)),
            Opcode::LLVMSelect => open.extend([instruction.operand(1), instruction.operand(2)]),
            Opcode::LLVMPHI => open.extend(instruction.operands()),
            Opcode::LLVMAlloca => {}
            // A pointer to a shared variable.
            Opcode::LLVMLoad if is_in_space(instruction.operand(0), CONSTANT) => {}
            // The launch environment leads to the buffers of reductions.
            Opcode::LLVMLoad if is_environment(value, kernel, &mut HashSet::new()) => {}
            _ => return true,
        }
    }
    false
}

/// Returns true if a value is the pointer to the launch environment, which a team keeps, or a
/// pointer in it.
pub(super) fn is_environment<'m>(
    value: Value<'m>,
    kernel: Function<'m>,
    seen: &mut HashSet<Value<'m>>,
) -> bool {
    /// State of a team in the runtime, which begins with that pointer.
    const TEAM: &str = "team";
    let value = base(value);
    if !seen.insert(value) || value.is_zero() || value == kernel.parameter(0) {
        return true;
    }
    let Some(instruction) = value.as_instruction() else {
        return false;
    };
    match instruction.opcode() {
        Opcode::LLVMPHI => instruction
            .operands()
            .all(|v| is_environment(v, kernel, seen)),
        Opcode::LLVMSelect => instruction
            .operands()
            .skip(1)
            .all(|v| is_environment(v, kernel, seen)),
        Opcode::LLVMLoad => {
            let from = base(instruction.operand(0));
            match from.as_variable() {
                Some(variable) => variable.address_space() == SHARED && &*variable.name() == TEAM,
                None => is_environment(from, kernel, seen),
            }
        }
        _ => false,
    }
}

/// Returns true if a pointer points into a variable of the thread.
fn is_local(pointer: Value) -> bool {
    base(pointer).as_alloca().is_some()
}

fn is_in_space(pointer: Value, space: u32) -> bool {
    base(pointer)
        .as_variable()
        .is_some_and(|v| v.address_space() == space)
}

/// Strips address computations.
fn base(mut pointer: Value) -> Value {
    while pointer.as_cast().is_some()
        || pointer.as_gep().is_some()
        || pointer.is_constant_expression()
    {
        pointer = pointer.operand(0);
    }
    pointer
}

/// Makes atomic operations in PTX visible to all devices. LLVM's code generator writes additions
/// without a scope, which means the device's own.
pub(super) fn widen_scopes(ptx: Vec<u8>) -> Vec<u8> {
    const NARROW: [(&str, &str); 4] = [
        ("atom.global.", "atom.sys.global."),
        ("red.global.", "red.sys.global."),
        ("\tatom.add.", "\tatom.sys.add."),
        (".gpu.", ".sys."),
    ];
    let Ok(mut text) = String::from_utf8(ptx) else {
        return Vec::new();
    };
    for (narrow, wide) in NARROW {
        text = text.replace(narrow, wide);
    }
    text.into_bytes()
}
