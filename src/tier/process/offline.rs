//! Compiles a linked module without running any of it, not even its constructors.

use crate::link::Linked;
use crate::policy::{TierPolicy, Tiers};
use ompvm_cache::CacheEntry;
use ompvm_interp as interp;
use ompvm_ir::GlobalRef;
use ompvm_memory::image::{Image, PlaceOptions};
use ompvm_support::error::Error;
use ompvm_support::settings::Settings;
use std::sync::Arc;

/// Places a module in memory.
fn place(linked: &Linked) -> Result<Arc<Image>, Error> {
    let placement = PlaceOptions::default();
    Image::place(linked.module.clone(), placement, &mut |name, kind| {
        linked.resolve(name, kind)
    })
}

/// Compiles a linked module into a cache without running any of it. Returns a sentence for each
/// function that LLVM cannot compile.
///
/// # Errors
/// Fails if the host refuses memory or a thread.
pub fn compile(
    linked: &Linked,
    cache_entry: Arc<CacheEntry>,
    settings: &Settings,
) -> Result<Vec<String>, Error> {
    let image = place(linked)?;
    let overrides = &linked.environment.overrides;
    let entry = Some(cache_entry);
    let tiers = Tiers::start(&image, overrides, TierPolicy::Opt, false, entry, settings)?;
    Ok(tiers.impossible())
}

/// Returns the machine code that the baseline compiler makes of a function as text, without running
/// any of the module.
///
/// # Errors
/// Fails if the module does not define the function, if the compiler leaves it to the interpreter,
/// or if the host refuses memory.
pub fn baseline_listing(linked: &Linked, function: &str) -> Result<String, Error> {
    let module = &linked.module;
    let wrong = |cause: String| Error::Input {
        file: module.name.clone(),
        cause,
    };
    let Some(GlobalRef::Func(id)) = module.symbol(function) else {
        return Err(wrong(format!("it has no function `{function}`")));
    };
    let image = place(linked)?;
    let Some(func) = image.func_ref(id) else {
        return Err(wrong(format!(
            "it does not define the function `{function}`"
        )));
    };
    ompvm_baseline::listing(interp::lower_function(func)).ok_or_else(|| {
        wrong(format!(
            "`{function}` stays interpreted in the baseline tier"
        ))
    })
}
