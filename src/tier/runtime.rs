//! The OpenMP runtime as the linker sees it: its table of entries, by name.
//!
//! What not: names that only look like entries but that the guest may define itself are not
//! special here; guest symbols win before this is asked.

use super::link::Runtime;

/// Prefixes of names that belong to an OpenMP runtime and nobody else.
const PREFIXES: [&str; 6] = ["__kmpc_", "omp_", "__tgt_", "kmp_", "ompx_", "GOMP_"];

/// What our runtime says about a name.
pub fn lookup(name: &str) -> Runtime {
    if PREFIXES.iter().any(|p| name.starts_with(p)) {
        return Runtime::Unsupported(format!("`{name}` of the OpenMP runtime"));
    }
    Runtime::Unknown
}
