//! Tells the languages of sources apart, by their endings or by `-x`, as clang does.

use crate::api;
use std::path::Path;

/// Language of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Language {
    /// C, C++, Objective-C, preprocessed or not, and LLVM's IR.
    C,
    /// Fortran.
    Fortran,
    /// Another language whose objects carry no bitcode: assembler, headers, CUDA.
    Other,
}

/// Returns the language that a value of `-x` names.
pub(super) fn language_of_name(name: &str) -> Language {
    match name {
        "c" | "c++" | "cpp-output" | "c++-cpp-output" | "objective-c" | "objective-c++" | "ir" => {
            Language::C
        }
        "f77" | "f95" | "f77-cpp-input" | "f95-cpp-input" => Language::Fortran,
        _ => Language::Other,
    }
}

/// Returns the language of a file by its ending; `None` for a file for the linker.
pub(super) fn language_of_file(file: &str) -> Option<Language> {
    match api::Language::of_file(Path::new(file)) {
        Some(api::Language::C | api::Language::Cpp) => return Some(Language::C),
        Some(api::Language::Fortran) => return Some(Language::Fortran),
        None => {}
    }
    let ending = file.rsplit('/').next()?.rsplit_once('.')?.1;
    Some(match ending {
        "m" | "mm" | "mi" | "M" | "ll" | "bc" => Language::C,
        "s" | "S" | "asm" | "sx" | "h" | "H" | "hh" | "hpp" | "hxx" | "cu" | "cui" | "hip"
        | "cl" | "pcm" | "ast" => Language::Other,
        _ => return None,
    })
}
