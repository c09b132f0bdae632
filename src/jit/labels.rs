//! Decides how functions whose labels' addresses are taken are compiled.
//!
//! A label's address is the same in every tier: compiled code uses the synthetic address of the
//! image ([`CodeAddresses`]), as an offset from a symbol of the function, and jumps to it by a
//! switch over the labels' numbers (`src/llvm/labels.cpp`). So addresses may be stored, passed,
//! returned and compared, a table of labels or of their differences has one copy, and a frame may
//! change tiers while its values hold labels. No block of compiled code has its address taken, so
//! LLVM inlines and copies these functions as any other.
//!
//! These stay in the tier below:
//! - functions whose assembly jumps to labels (`asm goto`), whose targets are not known here,
//! - where a tool traces calls, functions that jump to labels or may be in both tiers. The tool
//!   compares labels with the return addresses of calls, which compiled code has its own of. C
//!   permits other label addresses there if a function only inspects them, and if none of its
//!   frames is interpreted: so only where everything is compiled before the program runs.
//!
//! [`CodeAddresses`]: ompvm_memory::code_addresses::CodeAddresses

use cranelift_entity::EntityRef;
use hashbrown::{HashMap, HashSet};
use ompvm_ir::{Const, ConstExpr, ConstId, FuncId, Module, Op};
use ompvm_llvm::native::{LabelAddresses, LabelOffset};
use ompvm_memory::image::Image;

/// Returns the functions that must not be compiled because their labels' addresses are taken.
/// `whole` is true if everything is compiled before the program runs.
pub(super) fn must_interpret(image: &Image, whole: bool) -> HashSet<FuncId> {
    match image.code_addresses.has_returns() {
        true => incomparable(&image.module, whole),
        false => HashSet::new(),
    }
}

/// Returns the functions whose labels' addresses are taken, with the labels whose addresses are the
/// same in every tier.
pub(super) fn addresses(image: &Image) -> Vec<LabelAddresses> {
    let codes = &image.code_addresses;
    let mut list: Vec<LabelAddresses> = Vec::new();
    for (f, block, offset) in codes.label_offsets() {
        let function = f.index();
        if list.last().is_none_or(|l| l.function != function) {
            list.push(LabelAddresses {
                function,
                labels: Vec::new(),
            });
        }
        if let Some(of) = list.last_mut().filter(|_| !codes.has_returns()) {
            let block = block.as_u32();
            of.labels.push(LabelOffset { block, offset });
        }
    }
    list
}

/// Returns the functions that must not be compiled where a tool compares labels with the return
/// addresses of calls.
fn incomparable(module: &Module, whole: bool) -> HashSet<FuncId> {
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
        incomparable(&module, whole).contains(&f)
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
