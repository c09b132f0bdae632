//! The choice of the functions that stay interpreted, each with the reason.
//!
//! Compiled code cannot return twice through a frame of another tier, or jump to a label that is not
//! known as one. A function that does stays interpreted, and its OSR entries with it.
//!
//! Leaves the symbols of such functions to [`super::symbols`].

use super::Work;
use crate::handles::{Function, Opcode, Position, Value};
use crate::native::FunctionBinding;
use hashbrown::HashMap;

/// Functions that return twice and that compiled code may call: compiled code has its own versions.
const JUMPS: [&str; 4] = ["setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp"];

/// Functions that affect their caller's frame however they are declared, with the reason why their
/// callers stay interpreted.
const FRAMES: [(&str, &str); 3] = [
    ("vfork", "it calls a function that returns twice"),
    ("getcontext", "it calls a function that returns twice"),
    (
        "__pthread_register_cancel",
        "it registers a handler for thread cancellation",
    ),
];

impl<'m> Work<'m> {
    /// Chooses the functions that must stay interpreted, with the reason.
    pub(super) fn choose(&mut self, all: &[(usize, Function<'m>)]) -> HashMap<usize, &'static str> {
        let mut out: HashMap<usize, &'static str> = HashMap::new();
        // An OSR entry must stay interpreted if its function must.
        let entries = self.extra.iter().map(|e| (e.value, e.function));
        let number: HashMap<Function, usize> =
            all.iter().map(|&(n, f)| (f, n)).chain(entries).collect();
        let frames = FRAMES.map(|(name, why)| (self.module.function(name), why));
        for &(_, f) in all {
            let listed = frames.iter().find(|(known, _)| *known == Some(f));
            let why = match listed {
                Some(&(_, why)) => why,
                None if f.has_attribute(Position::Function, "returns_twice")
                    && !JUMPS.contains(&&*f.name()) =>
                {
                    FRAMES[0].1
                }
                None => continue,
            };
            let users = functions_using(f).filter_map(|user| number.get(&user));
            out.extend(users.map(|&n| (n, why)));
        }
        for (&f, &n) in &number {
            if self.request.functions[n] != FunctionBinding::Compiled {
                continue;
            }
            for last in f.blocks().filter_map(|block| block.terminator()) {
                match last.opcode() {
                    // clang leaves one without an address where nothing jumps.
                    Opcode::LLVMIndirectBr if !last.operand(0).is_undef() => {
                        out.insert(n, "it jumps to addresses of labels");
                    }
                    Opcode::LLVMCallBr => {
                        out.insert(n, "its assembly jumps to labels");
                    }
                    _ => {}
                }
            }
        }
        for (&n, &why) in &out {
            if self.request.functions[n] == FunctionBinding::Compiled {
                self.out.skipped.push((n, why.to_owned()));
            }
        }
        self.out.skipped.sort_unstable();
        out
    }
}

/// Iterates over the functions whose instructions use a value, once per use.
fn functions_using<'m>(value: impl Into<Value<'m>>) -> impl Iterator<Item = Function<'m>> {
    let users = value.into().users().filter_map(Value::as_instruction);
    users.map(|user| user.function())
}
