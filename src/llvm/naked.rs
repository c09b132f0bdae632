//! Naked functions: assembly from the first to the last instruction, without a frame.
//!
//! No tier has a frame to run them in, so they become routines of the module's file-scope assembly,
//! which is assembled for all tiers alike. Functions with operands are left and reported as
//! unsupported.

use ompvm_ir::{Callee, Function, Linkage, Module, Op};
use std::fmt::Write;

/// Turns the module's naked functions into file-scope assembly.
pub(super) fn assemble(module: &mut Module) {
    let ids: Vec<_> = module.functions.keys().collect();
    for id in ids {
        let function = &module.functions[id];
        if !function.attrs.naked {
            continue;
        }
        let Some(text) = routine(function) else {
            continue;
        };
        module.module_asm.push_str(&text);
        let function = &mut module.functions[id];
        function.body = None;
        function.linkage = Linkage::External;
    }
}

/// Returns the function as a routine; `None` if it is more than assembly.
fn routine(function: &Function) -> Option<String> {
    let body = function.body.as_ref()?;
    let (mut code, mut end) = (String::new(), "");
    for inst in &body.insts {
        match &inst.op {
            Op::Ret { .. } => {}
            // Unreachable code traps, as elsewhere.
            Op::Unreachable => end = "ud2\n",
            Op::Call(call) => {
                let Callee::Asm(asm) = &call.callee else {
                    return None;
                };
                if !call.args.is_empty() {
                    return None;
                }
                let text = plain(&asm.template)?;
                match asm.intel {
                    true => writeln!(code, ".intel_syntax noprefix\n{text}\n.att_syntax"),
                    false => writeln!(code, "{text}"),
                }
                .ok()?;
            }
            _ => return None,
        }
    }
    if code.is_empty() {
        return None;
    }
    let name = format!("\"{}\"", function.name);
    let visibility = match function.linkage {
        Linkage::Internal | Linkage::Private => ".local",
        Linkage::Weak | Linkage::LinkOnce => ".weak",
        _ => ".globl",
    };
    Some(format!(
        "\n.text\n.balign 16\n{visibility} {name}\n.type {name},@function\n{name}:\n\
         {code}{end}.size {name}, . - {name}\n"
    ))
}

/// Converts a template without operands to the assembler's syntax.
fn plain(template: &str) -> Option<String> {
    let mut out = String::with_capacity(template.len());
    let mut rest = template.chars();
    while let Some(c) = rest.next() {
        match c {
            '$' => match rest.next()? {
                '$' => out.push('$'),
                _ => return None,
            },
            _ => out.push(c),
        }
    }
    Some(out)
}
