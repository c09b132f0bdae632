//! Finds kernels that use functionality that the emulated device lacks.
//!
//! Follows each kernel's calls, and the addresses of functions and variables that it uses, to the
//! first missing item: a function or variable that no image defines, inline assembly, or an
//! intrinsic without emulation. Such a kernel is refused, and the others of the image run.

use super::{INTRINSICS, Refusal, World, checks, is_declaration, name_of};
use crate::nvptx::{function, instructions};
use crate::raw::llvm;
use hashbrown::{HashMap, HashSet};
use inkwell::llvm_sys::prelude::*;

/// A function or constant: what it uses, and what it lacks.
#[derive(Default)]
struct Node {
    uses: Vec<LLVMValueRef>,
    lack: Option<Lack>,
}

/// A missing item, and the source location of its use.
#[derive(Clone)]
struct Lack {
    what: String,
    place: Option<String>,
}

/// Finds what kernels lack.
pub(super) struct Reach<'a> {
    world: &'a dyn World,
    /// Names of the shared variables; a launch provides those without a definition.
    shared: &'a [String],
    nodes: HashMap<LLVMValueRef, Node>,
}

impl<'a> Reach<'a> {
    pub(super) fn new(world: &'a dyn World, shared: &'a [String]) -> Reach<'a> {
        Reach {
            world,
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
            if let Some(lack) = node.lack.clone() {
                return Some(Refusal::Unsupported(lack.what, lack.place.or(from)));
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
                node.lack = what.map(|what| Lack { what, place: None });
                return node;
            }
            for instruction in instructions(value) {
                self.instruction(instruction, &mut node);
                if node.lack.is_some() {
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
                node.lack = Some(Lack {
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
        let place = || checks::place_of(instruction).map(|(file, line)| format!("{file}:{line}"));
        if let Some(what) = checks::without_meaning(instruction) {
            node.lack = Some(Lack {
                what,
                place: place(),
            });
            return;
        }
        operands(instruction, |operand| {
            let lacking =
                !llvm!(core::LLVMIsAGlobalValue(operand)).is_null() && is_declaration(operand);
            // Reported with the location of its use.
            let lack = lacking.then(|| self.look(operand).lack).flatten();
            match lack {
                Some(lack) => {
                    node.lack = Some(Lack {
                        what: lack.what,
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
        if name.starts_with("llvm.") || self.world.function(&name) != 0 {
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
