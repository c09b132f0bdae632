//! The choice of the functions that stay interpreted, each with the reason.
//!
//! Compiled code cannot return twice through a frame of another tier, jump to an address that the
//! interpreter gave a label, or use another module's thread-local variable. A function that does
//! stays interpreted, and its OSR entries with it.
//!
//! Leaves the symbols of such functions to [`super::symbols`].

use super::Work;
use crate::native::{FunctionBinding, VariableBinding};
use crate::raw::llvm;
use crate::reader::name_of;
use hashbrown::HashMap;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode};

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

impl Work<'_> {
    /// Chooses the functions that must stay interpreted, with the reason.
    pub(super) fn choose(
        &mut self,
        all: &[LLVMValueRef],
        globals: &[LLVMValueRef],
    ) -> Result<HashMap<usize, &'static str>, String> {
        let mut out: HashMap<usize, &'static str> = HashMap::new();
        // An OSR entry must stay interpreted if its function must.
        let entries = self.extra.iter().map(|e| (e.value, e.function));
        let number: HashMap<LLVMValueRef, usize> = all
            .iter()
            .enumerate()
            .map(|(i, &f)| (f, i))
            .chain(entries)
            .collect();
        let kind = "returns_twice";
        let twice_kind = llvm!(core::LLVMGetEnumAttributeKindForName(
            kind.as_ptr().cast(),
            kind.len()
        ));
        for &f in all {
            let has = !llvm!(core::LLVMGetEnumAttributeAtIndex(
                f,
                LLVMAttributeFunctionIndex,
                twice_kind
            ))
            .is_null();
            let name = name_of(f);
            let listed = FRAMES.iter().find(|(known, _)| *known == &*name);
            let why = match listed {
                Some(&(_, why)) => why,
                None if has && !JUMPS.contains(&&*name) => FRAMES[0].1,
                None => continue,
            };
            for user in users(f).unwrap_or_default() {
                if let Some(&n) = number.get(&user) {
                    out.insert(n, why);
                }
            }
        }
        for (&f, &n) in &number {
            if self.request.functions[n] != FunctionBinding::Compiled {
                continue;
            }
            let mut block = llvm!(core::LLVMGetFirstBasicBlock(f));
            while !block.is_null() {
                let last = llvm!(core::LLVMGetBasicBlockTerminator(block));
                match llvm!(core::LLVMGetInstructionOpcode(last)) {
                    LLVMOpcode::LLVMIndirectBr => {
                        let address = llvm!(core::LLVMGetOperand(last, 0));
                        // clang leaves one without an address where nothing jumps.
                        if llvm!(core::LLVMIsUndef(address)) == 0 {
                            out.insert(n, "it jumps to addresses of labels");
                        }
                    }
                    LLVMOpcode::LLVMCallBr => {
                        out.insert(n, "its assembly jumps to labels");
                    }
                    _ => {}
                }
                block = llvm!(core::LLVMGetNextBasicBlock(block));
            }
        }
        let foreign = "it uses a library's thread_local variable";
        for (i, &g) in globals.iter().enumerate() {
            if self.request.variables[i] != VariableBinding::Foreign {
                continue;
            }
            for user in users(g).unwrap_or_default() {
                if let Some(&n) = number.get(&user) {
                    out.insert(n, foreign);
                }
            }
        }
        for (&n, &why) in &out {
            if self.request.functions[n] == FunctionBinding::Compiled {
                self.out.skipped.push((n, why.to_owned()));
            }
        }
        self.out.skipped.sort_unstable();
        Ok(out)
    }
}

/// Lists the functions whose instructions use a value; `None` if there are none.
fn users(value: LLVMValueRef) -> Option<Vec<LLVMValueRef>> {
    let mut out = Vec::new();
    let mut at = llvm!(core::LLVMGetFirstUse(value));
    while !at.is_null() {
        let user = llvm!(core::LLVMGetUser(at));
        at = llvm!(core::LLVMGetNextUse(at));
        if !llvm!(core::LLVMIsAInstruction(user)).is_null() {
            let block = llvm!(core::LLVMGetInstructionParent(user));
            out.push(llvm!(core::LLVMGetBasicBlockParent(block)));
        }
    }
    (!out.is_empty()).then_some(out)
}
