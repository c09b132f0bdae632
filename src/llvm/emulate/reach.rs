//! Finds kernels that use functionality that the emulated device lacks.
//!
//! Follows each kernel's calls, and the addresses of functions and variables that it uses, to the
//! first missing item: a function or variable that no image defines, inline assembly, or an
//! intrinsic without emulation. Such a kernel is refused, and the others of the image run.

use super::{DeviceEnvironment, INTRINSICS, Refusal, checks, is_declaration, name_of};
use crate::nvptx::{function, instructions};
use crate::raw::llvm;
use hashbrown::{HashMap, HashSet};
use inkwell::llvm_sys::prelude::*;

/// A function or constant: what it uses, and what it lacks.
#[derive(Default)]
struct Node {
    uses: Vec<LLVMValueRef>,
    missing: Option<MissingItem>,
}

/// A missing item, and the source location of its use.
#[derive(Clone)]
struct MissingItem {
    what: String,
    place: Option<String>,
}

/// Finds what kernels missing.
pub(super) struct ReachabilityCheck<'a> {
    environment: &'a dyn DeviceEnvironment,
    /// Names of the shared variables; a launch provides those without a definition.
    shared: &'a [String],
    nodes: HashMap<LLVMValueRef, Node>,
}

impl<'a> ReachabilityCheck<'a> {
    pub(super) fn new(
        environment: &'a dyn DeviceEnvironment,
        shared: &'a [String],
    ) -> ReachabilityCheck<'a> {
        ReachabilityCheck {
            environment,
            shared,
            nodes: HashMap::new(),
        }
    }

    /// Returns the reason why a kernel cannot run; `None` if it can.
    pub(super) fn refusal(&mut self, module: LLVMModuleRef, kernel: &str) -> Option<Refusal> {
        let start = function(module, kernel)?;
        let mut seen = HashSet::new();
        // Breadth first, so that the nearest location is reported.
        let mut open = std::collections::VecDeque::from([(start, None::<String>)]);
        while let Some((value, from)) = open.pop_front() {
            if !seen.insert(value) {
                continue;
            }
            let node = self.node(value);
            if let Some(missing) = node.missing.clone() {
                return Some(Refusal::Unsupported(missing.what, missing.place.or(from)));
            }
            open.extend(node.uses.iter().map(|&u| (u, from.clone())));
        }
        None
    }

    fn node(&mut self, value: LLVMValueRef) -> &Node {
        if !self.nodes.contains_key(&value) {
            let node = self.look(value);
            self.nodes.insert(value, node);
        }
        &self.nodes[&value]
    }

    fn look(&self, value: LLVMValueRef) -> Node {
        let mut node = Node::default();
        if !llvm!(core::LLVMIsAFunction(value)).is_null() {
            if is_declaration(value) {
                let what = self.undefined(value);
                node.missing = what.map(|what| MissingItem { what, place: None });
                return node;
            }
            for instruction in instructions(value) {
                self.instruction(instruction, &mut node);
                if node.missing.is_some() {
                    break;
                }
            }
            return node;
        }
        if !llvm!(core::LLVMIsAGlobalVariable(value)).is_null() {
            let name = name_of(value);
            if !is_declaration(value) {
                node.uses.push(llvm!(core::LLVMGetInitializer(value)));
            } else if !self.shared.contains(&name) {
                node.missing = Some(MissingItem {
                    what: format!("the variable `{name}`, which the device code does not define"),
                    place: None,
                });
            }
            return node;
        }
        operands(value, |operand| node.uses.push(operand));
        node
    }

    fn instruction(&self, instruction: LLVMValueRef, node: &mut Node) {
        let place =
            || checks::location_of(instruction).map(|(file, line)| format!("{file}:{line}"));
        if let Some(what) = checks::unemulated(instruction) {
            node.missing = Some(MissingItem {
                what,
                place: place(),
            });
            return;
        }
        operands(instruction, |operand| {
            let is_missing =
                !llvm!(core::LLVMIsAGlobalValue(operand)).is_null() && is_declaration(operand);
            // Reported with the location of its use.
            let missing = is_missing.then(|| self.look(operand).missing).flatten();
            match missing {
                Some(missing) => {
                    node.missing = Some(MissingItem {
                        what: missing.what,
                        place: place(),
                    });
                }
                None => node.uses.push(operand),
            }
        });
    }

    /// Describes a missing function; `None` if it exists.
    fn undefined(&self, function: LLVMValueRef) -> Option<String> {
        let name = name_of(function);
        if name.starts_with("llvm.") || self.environment.function(&name) != 0 {
            return None;
        }
        Some(match name.strip_prefix(INTRINSICS) {
            Some(rest) => format!("the intrinsic function `llvm.{rest}`"),
            None => format!("the function `{name}`, which the device code does not define"),
        })
    }
}

/// Calls `each` with the operands that are constants.
fn operands(user: LLVMValueRef, mut each: impl FnMut(LLVMValueRef)) {
    if llvm!(core::LLVMIsAUser(user)).is_null() {
        return;
    }
    for index in 0..llvm!(core::LLVMGetNumOperands(user)) as u32 {
        let operand = llvm!(core::LLVMGetOperand(user, index));
        if !operand.is_null() && !llvm!(core::LLVMIsAConstant(operand)).is_null() {
            each(operand);
        }
    }
}
