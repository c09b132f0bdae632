//! Tells the languages of sources apart, by their endings or by `-x`, as clang does.

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
    let ending = file.rsplit('/').next()?.rsplit_once('.')?.1;
    Some(match ending {
        "c" | "i" | "C" | "cc" | "CC" | "cp" | "cpp" | "CPP" | "cxx" | "c++" | "C++" | "ii"
        | "m" | "mm" | "mi" | "M" | "ll" | "bc" | "cppm" | "ixx" => Language::C,
        "f" | "F" | "for" | "FOR" | "ftn" | "fpp" | "FPP" | "f77" | "f90" | "F90" | "f95"
        | "F95" | "f03" | "F03" | "f08" | "F08" | "f18" | "F18" => Language::Fortran,
        "s" | "S" | "asm" | "sx" | "h" | "H" | "hh" | "hpp" | "hxx" | "cu" | "cui" | "hip"
        | "cl" | "pcm" | "ast" => Language::Other,
        _ => return None,
    })
}
