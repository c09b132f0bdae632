//! Which functions are compiled together when everything is.
//!
//! What: [`split`] divides a module's functions into as many groups of about the same size as
//! there are processors to compile on. Small functions stay with one of their callers, since a
//! call into another unit goes through a stub. What not: units of single hot functions need no
//! division; [`super::policy`] chooses them.

use crate::ir::{Callee, FuncId, GlobalRef, Module};
use cranelift_entity::EntityRef;

/// Functions up to so many instructions go where a caller of theirs goes.
const SMALL: usize = 80;
/// A group is worth a thread from so many instructions on.
const WORTH: usize = 300;

/// Instructions of a function.
pub fn size(module: &Module, id: FuncId) -> usize {
    let body = module.functions[id].body.as_ref();
    body.map_or(0, |b| b.insts.len())
}

/// Divides functions into at most `parts` groups.
pub fn split(module: &Module, functions: &[FuncId], parts: usize) -> Vec<Vec<usize>> {
    let sizes: Vec<usize> = functions.iter().map(|&f| size(module, f)).collect();
    let total: usize = sizes.iter().sum();
    let parts = parts.min(total / WORTH).max(1);
    if parts == 1 {
        return vec![functions.iter().map(|f| f.index()).collect()];
    }
    // Each small function follows its first caller, who may itself follow another.
    let mut place = vec![usize::MAX; module.functions.len()];
    for (i, f) in functions.iter().enumerate() {
        place[f.index()] = i;
    }
    let mut leader: Vec<usize> = (0..functions.len()).collect();
    for (i, &caller) in functions.iter().enumerate() {
        let body = module.functions[caller].body.iter();
        for inst in body.flat_map(|b| &b.insts) {
            if let Some(Callee::Symbol(GlobalRef::Func(f))) = inst.op.as_call().map(|c| &c.callee) {
                let callee = place[f.index()];
                if callee != usize::MAX
                    && callee != i
                    && sizes[callee] <= SMALL
                    && leader[callee] == callee
                    && root(&leader, i) != callee
                {
                    leader[callee] = i;
                }
            }
        }
    }
    let mut clusters: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new()); functions.len()];
    for (i, f) in functions.iter().enumerate() {
        let r = root(&leader, i);
        clusters[r].0 += sizes[i];
        clusters[r].1.push(f.index());
    }
    clusters.retain(|c| !c.1.is_empty());
    clusters.sort_by_key(|c| std::cmp::Reverse(c.0));
    let mut groups: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new()); parts];
    for (n, members) in clusters {
        if let Some(least) = groups.iter_mut().min_by_key(|g| g.0) {
            least.0 += n;
            least.1.extend(members);
        }
    }
    groups
        .into_iter()
        .map(|g| g.1)
        .filter(|g| !g.is_empty())
        .collect()
}

fn root(leader: &[usize], mut i: usize) -> usize {
    while leader[i] != i {
        i = leader[i];
    }
    i
}
