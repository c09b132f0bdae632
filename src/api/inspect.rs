//! Lists a module's functions, parallel regions and runtime entries, without running it.
//!
//! `Module::check` decides whether it can run.

use ompvm_ir::{Callee, FuncId, Function, GlobalRef, LocId, Module, Op};
use std::collections::BTreeMap;

/// A defined function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionInfo {
    /// Symbol name.
    pub name: String,
    /// Source location such as `file.c:12` of its head or its first located instruction.
    pub place: Option<String>,
    /// Number of IR instructions.
    pub instructions: usize,
}

/// A call that forks a team (`__kmpc_fork_call` and its variants).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionInfo {
    /// Runtime entry that forks.
    pub entry: String,
    /// The outlined function, if known statically.
    pub outlined: Option<String>,
    /// The function that forks.
    pub function: String,
    /// Source location.
    pub place: Option<String>,
    /// Number of captured values.
    pub captured: usize,
}

/// A runtime entry that is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryInfo {
    /// ABI name.
    pub name: String,
    /// Number of call sites.
    pub sites: usize,
    /// Source location of the first call.
    pub place: Option<String>,
}

/// The contents of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Defined functions, in module order.
    pub functions: Vec<FunctionInfo>,
    /// Parallel regions, in module order.
    pub regions: Vec<RegionInfo>,
    /// OpenMP runtime entries, sorted by name.
    pub entries: Vec<EntryInfo>,
}

/// Entries that fork, with the index of the outlined function among the arguments.
const FORKS: [(&str, usize); 3] = [
    ("__kmpc_fork_call", 2),
    ("__kmpc_fork_call_if", 2),
    ("__kmpc_fork_teams", 2),
];

impl Inspection {
    /// Lists the contents of a module.
    pub fn of_module(module: &Module) -> Self {
        let mut found = Inspection::default();
        let mut entries: BTreeMap<&str, EntryInfo> = BTreeMap::new();
        for function in module.functions.values() {
            let Some(body) = &function.body else { continue };
            found.functions.push(FunctionInfo {
                name: function.name.to_string(),
                place: location_of(module, function),
                instructions: body.insts.len(),
            });
            for inst in &body.insts {
                let (Op::Call(call) | Op::Invoke { call, .. }) = &inst.op else {
                    continue;
                };
                let Callee::Symbol(GlobalRef::Func(id)) = call.callee else {
                    continue;
                };
                let callee = &module.functions[id];
                if callee.body.is_some() || !is_runtime_entry(&callee.name) {
                    continue;
                }
                let place = inst.loc.map(|l| module.debug.describe(l));
                entries
                    .entry(&callee.name)
                    .or_insert_with(|| EntryInfo {
                        name: callee.name.to_string(),
                        sites: 0,
                        place: place.clone(),
                    })
                    .sites += 1;
                if let Some(&(_, at)) = FORKS.iter().find(|f| *f.0 == *callee.name) {
                    found.regions.push(RegionInfo {
                        entry: callee.name.to_string(),
                        outlined: call
                            .args
                            .get(at)
                            .and_then(|a| outlined(module, a.unpack().err()?))
                            .map(|id| module.functions[id].name.to_string()),
                        function: function.name.to_string(),
                        place,
                        captured: call.args.len().saturating_sub(at + 1),
                    });
                }
            }
        }
        found.entries = entries.into_values().collect();
        found
    }
}

/// Returns true if a name belongs to the OpenMP runtime.
fn is_runtime_entry(name: &str) -> bool {
    ["__kmpc_", "omp_", "__tgt_", "kmp_", "ompx_", "GOMP_"]
        .iter()
        .any(|p| name.starts_with(p))
}

fn outlined(module: &Module, constant: ompvm_ir::ConstId) -> Option<FuncId> {
    match module.consts[constant] {
        ompvm_ir::Const::Global(GlobalRef::Func(id)) => Some(id),
        _ => None,
    }
}

fn location_of(module: &Module, function: &Function) -> Option<String> {
    if let Some(scope) = function.scope {
        let scope = &module.debug.scopes[scope];
        return Some(format!(
            "{}:{}",
            module.debug.files[scope.file].name, scope.line
        ));
    }
    let loc: LocId = function.body.as_ref()?.first_loc()?;
    Some(module.debug.describe(loc))
}
