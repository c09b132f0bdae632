//! Finds clang and flang, and knows the options that they need from ompvm.
//!
//! [`super::Source`] and the command line's compilers (`ompvm cc`) use the same ones. Leaves running
//! them to these two.

use super::Language;
use ompvm_support::settings::Settings;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Part of the message that flang repeats for devices: it gives the host's code the device's
/// features, too.
pub(crate) const FORTRAN_DEVICE_NOISE: &str = "'+ptx83' is not a recognized feature";

/// The compilers to use, each by a name or a path.
#[derive(Clone, Debug)]
pub(crate) struct Compilers {
    pub clang: PathBuf,
    pub flang: PathBuf,
}

impl Compilers {
    /// Returns the compilers that are set, or those of our LLVM's version: in the folder of
    /// Debian's packages, else in `PATH`.
    pub(crate) fn find(settings: &Settings) -> Compilers {
        Compilers {
            clang: find(settings.clang.as_deref(), "clang"),
            flang: find(settings.flang.as_deref(), "flang"),
        }
    }

    /// Returns a command of the compiler for a language.
    pub(crate) fn command(&self, language: Language) -> Command {
        match language {
            Language::C => Command::new(&self.clang),
            Language::Cpp => {
                let mut command = Command::new(&self.clang);
                command.arg("--driver-mode=g++");
                command
            }
            Language::Fortran => Command::new(&self.flang),
        }
    }
}

fn find(set: Option<&Path>, name: &str) -> PathBuf {
    if let Some(set) = set {
        return set.to_owned();
    }
    let version = ompvm_llvm::version().0;
    let packaged = PathBuf::from(format!("/usr/lib/llvm-{version}/bin/{name}"));
    if packaged.exists() {
        return packaged;
    }
    format!("{name}-{version}").into()
}

/// Says that a compiler could not be started, and the remedy.
pub(crate) fn not_started(command: &Command, error: &io::Error) -> String {
    let program = command.get_program().to_string_lossy();
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => {
            "; install it, or name another one with OMPVM_CLANG or OMPVM_FLANG"
        }
        _ => "",
    };
    format!("cannot start the compiler {program}: {error}{remedy}")
}

/// Returns the options with which bitcode for NVIDIA's GPUs is made without a CUDA installation: no
/// math library of the device, which ompvm has, and a version of PTX that knows the GPU. Returns
/// `None` if the `options` name no such GPU.
pub(crate) fn device_options(language: Language, options: &[&OsStr]) -> Option<Vec<&'static str>> {
    let begins = |option: &OsStr, words: &[&str]| {
        let bytes = option.as_bytes();
        words.iter().any(|w| bytes.starts_with(w.as_bytes()))
    };
    let nvidia = options.iter().any(|o| {
        let text = o.to_string_lossy();
        begins(o, &["--offload-arch=", "-fopenmp-targets="])
            && (text.contains("sm_") || text.contains("nvptx"))
    });
    if !nvidia {
        return None;
    }
    let mut added = Vec::new();
    if !options
        .iter()
        .any(|o| *o == "-nogpulib" || *o == "--no-offloadlib")
    {
        added.push("-nogpulib");
    }
    if options
        .iter()
        .any(|o| begins(o, &["--cuda-feature", "--cuda-path"]))
    {
        return Some(added);
    }
    match language {
        Language::Fortran => {
            added.extend(["-Xflang", "-target-feature", "-Xflang", "+ptx83"]);
        }
        Language::C | Language::Cpp => added.push("--cuda-feature=+ptx83"),
    }
    Some(added)
}
