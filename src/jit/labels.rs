//! Decides which functions whose labels' addresses are taken can be compiled.
//!
//! Compiled code has label addresses of its own. C permits that if a function only inspects them
//! (prints them, or compares them with the return addresses that a tool receives), and if none of
//! its frames is interpreted: so only where everything is compiled before the program runs.
//! Functions that jump to labels stay interpreted, because the addresses may be stored anywhere in
//! memory.

use hashbrown::{HashMap, HashSet};
use ompvm_ir::{Const, ConstExpr, ConstId, FuncId, Module, Op};

/// Returns the functions that must stay interpreted because their labels' addresses are taken.
/// `whole` is true if everything is compiled before the program runs.
pub(super) fn must_interpret(module: &Module, whole: bool) -> HashSet<FuncId> {
    let holders = holders(module);
    let mut kept: HashSet<FuncId> = holders.values().flatten().copied().collect();
    if !whole || kept.is_empty() {
        return kept;
    }
    let taken = std::mem::take(&mut kept);
    for global in module.globals.values() {
        let held = global.init.and_then(|init| holders.get(&init));
        kept.extend(held.into_iter().flatten());
    }
    for (id, f) in &module.functions {
        let Some(body) = &f.body else { continue };
        for inst in &body.insts {
            if taken.contains(&id) && jumps(module, &inst.op) {
                kept.insert(id);
            }
            inst.op.for_each_operand(&mut |operand| {
                let held = operand.unpack().err().and_then(|c| holders.get(&c));
                kept.extend(held.into_iter().flatten().filter(|&&of| of != id));
            });
        }
    }
    kept
}

/// Returns the constants that are, or contain, addresses of labels, with the functions of these
/// labels.
fn holders(module: &Module) -> HashMap<ConstId, Vec<FuncId>> {
    let mut found: HashMap<ConstId, Vec<FuncId>> = HashMap::new();
    let mut parents: HashMap<ConstId, Vec<ConstId>> = HashMap::new();
    for (id, constant) in &module.consts {
        if let Const::BlockAddress(f, _) = constant {
            found.insert(id, vec![*f]);
        }
    }
    if found.is_empty() {
        return found;
    }
    for (id, constant) in &module.consts {
        for part in parts(constant) {
            parents.entry(part).or_default().push(id);
        }
    }
    let mut work: Vec<ConstId> = found.keys().copied().collect();
    while let Some(part) = work.pop() {
        let of = found[&part].clone();
        for &whole in parents.get(&part).into_iter().flatten() {
            let known = found.entry(whole).or_default();
            let before = known.len();
            known.extend(&of);
            known.sort_unstable();
            known.dedup();
            if known.len() > before {
                work.push(whole);
            }
        }
    }
    found
}

/// Returns the operands of a constant.
fn parts(constant: &Const) -> Vec<ConstId> {
    match constant {
        Const::Aggregate(list) => list.to_vec(),
        Const::Expr(ConstExpr::Gep { base, indices, .. }) => {
            std::iter::once(base).chain(indices).copied().collect()
        }
        Const::Expr(ConstExpr::Cast(_, a)) => vec![*a],
        Const::Expr(ConstExpr::Binary(_, a, b)) => vec![*a, *b],
        _ => Vec::new(),
    }
}

/// Returns true if an instruction may jump to labels. In a function that takes addresses without
/// jumping, clang leaves an unreachable jump to an undefined address.
fn jumps(module: &Module, op: &Op) -> bool {
    match op {
        Op::IndirectBr { address, .. } => !address
            .unpack()
            .is_err_and(|c| matches!(module.consts[c], Const::Undef | Const::Poison)),
        Op::CallBr { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ompvm_ir::GlobalRef;
    use ompvm_llvm::{Input, read};

    /// Returns true if a function that takes a label's address stays interpreted. `body` is its
    /// remaining code, `rest` the remaining module.
    fn stays(body: &str, rest: &str, whole: bool) -> bool {
        let text = format!(
            "target triple = \"x86_64-unknown-linux-gnu\"\n\
             @seen = global ptr null\n\
             define void @f(ptr %p) {{\n\
             store ptr blockaddress(@f, %a), ptr @seen\nbr label %a\na:\n{body}\n\
             b:\nindirectbr ptr poison, [label %a]\n}}\n{rest}"
        );
        let name = "test.ll".into();
        let bytes = text.into_bytes();
        let module = read(&[Input { name, bytes }]).unwrap();
        let Some(GlobalRef::Func(f)) = module.symbol("f") else {
            panic!("no f")
        };
        must_interpret(&module, whole).contains(&f)
    }

    #[test]
    fn functions_that_only_inspect_labels_are_compiled() {
        assert!(!stays("ret void", "", true));
        assert!(stays("ret void", "", false), "tiers have other addresses");
        let jump = "indirectbr ptr %p, [label %a]";
        assert!(stays(jump, "", true), "it jumps to labels");
        let table = "@table = constant [1 x ptr] [ptr blockaddress(@f, %a)]";
        assert!(stays("ret void", table, true), "a variable has one");
        let other = "define i64 @g() {\n\
                     ret i64 ptrtoint (ptr blockaddress(@f, %a) to i64)\n}";
        assert!(stays("ret void", other, true), "another function has one");
    }
}
