//! Finds a device math library on this machine.
//!
//! The search order is: the file that the settings name, libdevice of a CUDA installation (in the
//! settings, `/usr/local/cuda`, `/opt/cuda`, the directories of distributions),
//! libdevice of the Python package `nvidia-cuda-nvcc`, and libclc's open library. None of them is
//! part of ompvm.

use ompvm_llvm::nvptx::MathLibrary;
use ompvm_support::settings::Settings;
use std::path::{Path, PathBuf};

/// Path of libdevice in a CUDA installation.
const LIBDEVICE: &str = "nvvm/libdevice/libdevice.10.bc";
/// Path of libclc's library, which needs no NVIDIA software.
const LIBCLC: &str = "clc/nvptx64--.bc";

/// Returns the digest of the library for a program's cache key.
pub(super) fn digest(library: &MathLibrary) -> [u8; 32] {
    let (kind, bytes): (u8, &[u8]) = match library {
        MathLibrary::Missing => (0, &[]),
        MathLibrary::Libdevice(bytes) => (1, bytes),
        MathLibrary::Libclc(bytes) => (2, bytes),
    };
    *blake3::Hasher::new()
        .update(&[kind])
        .update(bytes)
        .finalize()
        .as_bytes()
}

/// Searches for the math library.
pub(super) fn find(settings: &Settings) -> MathLibrary {
    let read = |path: &Path| std::fs::read(path).ok().map(Into::into);
    if let Some(named) = &settings.math_library {
        return match read(named) {
            Some(bytes) if named.to_string_lossy().contains("libdevice") => {
                MathLibrary::Libdevice(bytes)
            }
            Some(bytes) => MathLibrary::Libclc(bytes),
            None => MathLibrary::Missing,
        };
    }
    let folders = cuda_folders(&settings.cuda_folders);
    if let Some(bytes) = folders.iter().find_map(|p| read(&p.join(LIBDEVICE))) {
        return MathLibrary::Libdevice(bytes);
    }
    let prefixes = [
        "/usr/lib",
        "/usr/share",
        "/usr/local/share",
        "/usr/lib/llvm-22/share",
    ];
    match prefixes
        .iter()
        .find_map(|p| read(&Path::new(p).join(LIBCLC)))
    {
        Some(bytes) => MathLibrary::Libclc(bytes),
        None => MathLibrary::Missing,
    }
}

/// Returns the folders of CUDA installations, those in `first` first.
fn cuda_folders(first: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = first.to_vec();
    let usual = [
        "/usr/local/cuda",
        "/opt/cuda",
        "/usr/lib/cuda",
        "/usr/lib/nvidia-cuda-toolkit",
    ];
    found.extend(usual.map(PathBuf::from));
    found.extend(subfolders("/usr/local", "cuda-"));
    let python = ["/usr/lib", "/usr/local/lib"]
        .iter()
        .flat_map(|p| subfolders(p, "python3"));
    for folder in python {
        for packages in ["site-packages", "dist-packages"] {
            let nvidia = folder.join(packages).join("nvidia");
            found.push(nvidia.join("cuda_nvcc"));
            found.push(nvidia.join("cu13"));
        }
    }
    found
}

/// Returns the subfolders whose name starts with `prefix`, in descending order.
fn subfolders(folder: &str, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|e| e.file_name().to_string_lossy().starts_with(prefix))
        .map(|e| e.path())
        .collect();
    found.sort();
    found.reverse();
    found
}
