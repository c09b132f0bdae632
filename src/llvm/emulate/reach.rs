//! Finds kernels that use functionality that the emulated device lacks.
//!
//! Follows each kernel's calls, and the addresses of functions and variables that it uses, to the
//! first missing item: a function or variable that no image defines, inline assembly, or an
//! intrinsic without emulation. Such a kernel is refused, and the others of the image run.

use super::{DeviceEnvironment, INTRINSICS, Refusal, checks};
use crate::handles::{Function, Instruction, Module, Value};
use hashbrown::{HashMap, HashSet};

/// A function or constant: what it uses, and what it lacks.
#[derive(Default)]
struct Node<'m> {
    uses: Vec<Value<'m>>,
    missing: Option<MissingItem>,
}

/// A missing item, and the source location of its use.
#[derive(Clone)]
struct MissingItem {
    what: String,
    place: Option<String>,
}

/// Finds what kernels missing.
pub(super) struct ReachabilityCheck<'a, 'm> {
    environment: &'a dyn DeviceEnvironment,
    /// Names of the shared variables; a launch provides those without a definition.
    shared: &'a [String],
    nodes: HashMap<Value<'m>, Node<'m>>,
}

impl<'a, 'm> ReachabilityCheck<'a, 'm> {
    pub(super) fn new(
        environment: &'a dyn DeviceEnvironment,
        shared: &'a [String],
    ) -> ReachabilityCheck<'a, 'm> {
        ReachabilityCheck {
            environment,
            shared,
            nodes: HashMap::new(),
        }
    }

    /// Returns the reason why a kernel cannot run; `None` if it can.
    pub(super) fn refusal(&mut self, module: Module<'m>, kernel: &str) -> Option<Refusal> {
        let start: Value = module.function(kernel)?.into();
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

    fn node(&mut self, value: Value<'m>) -> &Node<'m> {
        if !self.nodes.contains_key(&value) {
            let node = self.look(value);
            self.nodes.insert(value, node);
        }
        &self.nodes[&value]
    }

    fn look(&self, value: Value<'m>) -> Node<'m> {
        let mut node = Node::default();
        if let Some(function) = value.as_function() {
            if function.is_declaration() {
                let what = self.undefined(function);
                node.missing = what.map(|what| MissingItem { what, place: None });
                return node;
            }
            for instruction in function.instructions() {
                self.instruction(instruction, &mut node);
                if node.missing.is_some() {
                    break;
                }
            }
        } else if let Some(variable) = value.as_variable() {
            let name = variable.name();
            if !variable.is_declaration() {
                node.uses.extend(variable.initializer());
            } else if !self.shared.iter().any(|shared| **shared == *name) {
                node.missing = Some(MissingItem {
                    what: format!("the variable `{name}`, which the device code does not define"),
                    place: None,
                });
            }
        } else {
            node.uses.extend(constants(value));
        }
        node
    }

    fn instruction(&self, instruction: Instruction<'m>, node: &mut Node<'m>) {
        let place = || {
            let (file, line) = instruction.source_line()?;
            Some(format!("{file}:{line}"))
        };
        if let Some(what) = checks::unemulated(instruction) {
            node.missing = Some(MissingItem {
                what,
                place: place(),
            });
            return;
        }
        for operand in constants(*instruction) {
            let is_missing = operand.is_global_value() && operand.is_declaration();
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
        }
    }

    /// Describes a missing function; `None` if it exists.
    fn undefined(&self, function: Function<'m>) -> Option<String> {
        let name = function.name();
        if name.starts_with("llvm.") || self.environment.function(&name) != 0 {
            return None;
        }
        Some(match name.strip_prefix(INTRINSICS) {
            Some(rest) => format!("the intrinsic function `llvm.{rest}`"),
            None => format!("the function `{name}`, which the device code does not define"),
        })
    }
}

/// Iterates over the operands that are constants.
fn constants(user: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    user.operands().filter(|operand| operand.is_constant())
}
