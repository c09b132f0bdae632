//! Links the bitcode of a linked file into one module.
//!
//! A linker only concatenates the bitcode of its inputs. Each first run would link it, on one thread,
//! before the program can start, while one module is read on several threads and compiled from as it
//! is. One module is smaller, too: declarations and types occur once. It takes the place of the
//! sources' bitcode in the file.
//!
//! Bitcode that LLVM cannot link stays as it is, and `ompvm run` says why. So does a large program:
//! linking takes tens of times its size in memory, and time that whoever links may not have.

use ompvm_ir::LineTables;
use ompvm_llvm::native::Bitcode;
use ompvm_tier::fat::{self, ElfFile, section};

/// Total size of the largest bitcode that is linked, in bytes.
const LARGE: usize = 8 << 20;

/// Links the bitcode of a linked file. The file's size and other contents stay the same.
pub(super) fn merge(file: &mut [u8], linked: &ElfFile) {
    let size: usize = linked.bitcode.iter().map(|part| part.range.len()).sum();
    let native = !linked.native_only.is_empty();
    if linked.bitcode.len() < 2 || native || size > LARGE {
        return;
    }
    let Some(place) = fat::section_range(file, section::NAME) else {
        return;
    };
    let parts = linked.bitcode.iter();
    let files = parts.map(|part| {
        let name = part.name.clone().unwrap_or_default();
        (name, file[part.range.clone()].to_vec())
    });
    let bitcode = Bitcode::new(files.collect(), LineTables::default());
    let Ok(whole) = bitcode.bytes() else {
        return;
    };
    let mut entry = section::bitcode(&name(linked), whole);
    if entry.len() <= place.len() {
        // Readers skip the zeros.
        entry.resize(place.len(), 0);
        file[place].copy_from_slice(&entry);
    }
}

/// Returns the name of the module.
fn name(linked: &ElfFile) -> String {
    let first = linked.bitcode.first().and_then(|part| part.name.as_deref());
    let (first, others) = (first.unwrap_or_default(), linked.bitcode.len() - 1);
    match others {
        1 => format!("{first} and another source"),
        _ => format!("{first} and {others} other sources"),
    }
}
