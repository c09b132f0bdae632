//! Key of a program in the cache: a hash of everything that its compiled code depends on.
//!
//! The key covers the bitcode, LLVM's version, the processor, and ompvm itself by the size and time
//! of its executable or of its library in another one, such as Python's. So development builds need
//! no version bump; [`FORMAT`] is for builds that these do not tell apart. The processor is queried
//! by CPUID rather than through LLVM, whose queries cost more than the rest of a warm start.

use ompvm_llvm::reader_process;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Version of the stored format; incremented when it changes.
const FORMAT: u32 = 4;

/// A program's key.
pub(super) type Key = [u8; 32];

/// Computes the key of a program that consists of these files.
pub(super) fn compute<'f>(files: impl Iterator<Item = &'f [u8]>) -> Key {
    let mut hash = blake3::Hasher::new();
    hash.update(&FORMAT.to_le_bytes());
    hash.update(env!("CARGO_PKG_VERSION").as_bytes());
    let (major, minor, patch) = ompvm_llvm::version();
    for word in [major, minor, patch] {
        hash.update(&word.to_le_bytes());
    }
    if let Some(meta) = own_file().and_then(|file| std::fs::metadata(file).ok()) {
        for word in [meta.size(), meta.mtime() as u64, meta.mtime_nsec() as u64] {
            hash.update(&word.to_le_bytes());
        }
    }
    processor(&mut hash);
    for bytes in files {
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    *hash.finalize().as_bytes()
}

/// Returns the file that holds this code.
fn own_file() -> Option<PathBuf> {
    unsafe extern "C" {
        /// The header of the ELF file that this code is linked into; linkers define it.
        static __ehdr_start: libc::Elf64_Ehdr;
    }
    // SAFETY: the header is mapped read-only with the file, and `getauxval` has no preconditions.
    let (own, program) = unsafe {
        let headers = __ehdr_start.e_phoff as usize;
        let own = (&raw const __ehdr_start as usize).wrapping_add(headers);
        (own, libc::getauxval(libc::AT_PHDR) as usize)
    };
    match own == program {
        true => Some("/proc/self/exe".into()),
        false => reader_process::own_library(),
    }
}

/// Hashes vendor, model and features of the processor, including the features that the system
/// enables (Intel SDM, volume 2, `CPUID`).
#[cfg(target_arch = "x86_64")]
fn processor(hash: &mut blake3::Hasher) {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    let mut add = |words: [u32; 4]| {
        for word in words {
            hash.update(&word.to_le_bytes());
        }
    };
    let maker = __cpuid(0);
    add([maker.eax, maker.ebx, maker.ecx, maker.edx]);
    let model = __cpuid(1);
    // The second word holds the number of the current core.
    add([model.eax, 0, model.ecx, model.edx]);
    if maker.eax >= 7 {
        let features = __cpuid_count(7, 0);
        add([0, features.ebx, features.ecx, features.edx]);
        if features.eax >= 1 {
            let more = __cpuid_count(7, 1);
            add([more.eax, more.ebx, more.ecx, more.edx]);
        }
    }
    let more = __cpuid(0x8000_0001);
    add([more.eax, 0, more.ecx, more.edx]);
    let enabled = match model.ecx >> 27 & 1 {
        0 => 0,
        // SAFETY: bit 27 of ECX (OSXSAVE) says that the system lets programs read this register.
        _ => unsafe { std::arch::x86_64::_xgetbv(0) },
    };
    hash.update(&enabled.to_le_bytes());
}

#[cfg(not(target_arch = "x86_64"))]
fn processor(_hash: &mut blake3::Hasher) {}
