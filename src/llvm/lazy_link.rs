//! Linking of bitcode files that reads each inline function once.
//!
//! The files of a C++ program share templates and inline functions, of which one definition stays
//! (`linkonce`). The others are opened and dropped unread, and the linked module is verified as a
//! whole, so neither costs anything for them.
//!
//! This module does not diagnose files. Anything unusual, such as a file of another LLVM, a symbol
//! that is defined twice, or a module that does not verify, results in `None`; [`parse::parse`] then
//! reports it with the file's name.

use super::Input;
use super::handles::{Linkage, Module, OwnedModule};
use super::parse::{self, Parsed};
use super::shim::{self, Linker};
use hashbrown::HashMap;
use ompvm_support::error::Error;

/// Links the files in order and verifies the module; `None` if that is impossible. The debug
/// information has locations only (see [`parse::open`]), and the module does not refer to the files'
/// bytes.
pub(super) fn link(inputs: &[Input]) -> Option<Result<Parsed, Error>> {
    let parsed = join(inputs, false)?;
    parsed.module().verify().ok()?;
    Some(Ok(parsed))
}

/// Links the files into one bitcode file with complete debug information, which is not verified;
/// `None` if that is impossible.
pub(super) fn merge(inputs: &[Input]) -> Option<Vec<u8>> {
    Some(join(inputs, true)?.module().bitcode())
}

fn join(inputs: &[Input], types: bool) -> Option<Parsed> {
    let [first, others @ ..] = inputs else {
        return None;
    };
    if !inputs.iter().all(is_plain) {
        return None;
    }
    let parsed = parse::open(&first.bytes, types).ok()?;
    let all = parsed.module();
    let mut defined = HashMap::new();
    shim::read_metadata(all).ok()?;
    parse::is_for_host(all).ok()?;
    shim::read_all(all).ok()?;
    shim::copy_abi_attributes(all);
    parse::duplicate(all, 0, &mut defined);
    let mut linker = Linker::new(all);
    for (index, input) in (1..).zip(others) {
        let module = open_needed(all, &input.bytes, types)?;
        if parse::duplicate(module.module(), index, &mut defined).is_some() {
            return None;
        }
        // SAFETY: there are no handles of the modules' functions and variables.
        if !unsafe { linker.link(module) } {
            return None;
        }
    }
    drop(linker);
    Some(parsed)
}

/// Returns true for bitcode of one module that this LLVM wrote.
fn is_plain(input: &Input) -> bool {
    parse::is_bitcode(&input.bytes) && shim::is_current(&input.bytes)
}

/// Opens a file and reads its functions, but for those that the module before it defines.
fn open_needed<'p>(all: Module<'p>, bytes: &'p [u8], types: bool) -> Option<OwnedModule<'p>> {
    let module = shim::open_lazily(all.context(), bytes, types).ok()?;
    // SAFETY: the module is new, and its context and the bytes live as long as the result.
    let owned = unsafe { OwnedModule::from_raw(module) };
    let module = owned.module();
    shim::read_metadata(module).ok()?;
    parse::is_for_host(module).ok()?;
    for function in module.functions().filter(|f| !f.is_declaration()) {
        let inline = matches!(
            function.linkage(),
            Linkage::LLVMLinkOnceAnyLinkage | Linkage::LLVMLinkOnceODRLinkage
        );
        let known = || {
            let other = all.function(&function.name());
            other.is_some_and(|other| !other.is_declaration())
        };
        if !(inline && known()) {
            shim::read_function(function).ok()?;
        }
    }
    shim::copy_abi_attributes(module);
    Some(owned)
}
