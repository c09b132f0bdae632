//! The C header of the constants and layouts.

use crate::GROUPS;
use crate::layout::STRUCTURES;
use std::fmt::Write;

/// Returns the text of `omp_abi.h`. It needs C11 and nothing of a C library but the types of
/// `stdint.h`, `stdbool.h` and `stddef.h`, so that it also serves freestanding device code.
pub fn c_header() -> String {
    let mut text = String::from(
        "/* Written by the build from the tables of src/abi. */\n\
         #ifndef OMP_ABI_H\n#define OMP_ABI_H\n\n\
         #include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n",
    );
    for (prefix, constants) in GROUPS {
        // Enumerators are `int` in C11; larger values are macros of an unsigned type.
        let (small, large): (Vec<_>, Vec<_>) = constants
            .iter()
            .partition(|(_, value)| i32::try_from(*value).is_ok());
        text.push_str("\nenum {\n");
        for (name, value) in small {
            let _ = writeln!(text, "  {prefix}{name} = {value},");
        }
        text.push_str("};\n");
        for (name, value) in large {
            let _ = writeln!(text, "#define {prefix}{name} {value:#x}ull");
        }
    }
    for structure in STRUCTURES {
        let name = structure.name;
        text.push_str("\ntypedef struct {\n");
        for (of, field, _) in structure.fields {
            let space = if of.ends_with('*') { "" } else { " " };
            let _ = writeln!(text, "  {of}{space}{field};");
        }
        let _ = writeln!(text, "}} {name};");
        for (_, field, offset) in structure.fields {
            let _ = writeln!(
                text,
                "_Static_assert(offsetof({name}, {field}) == {offset}, \"{name}.{field}\");"
            );
        }
        let size = structure.size;
        let _ = writeln!(
            text,
            "_Static_assert(sizeof({name}) == {size}, \"{name}\");"
        );
    }
    text.push_str("\n#endif\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_is_in_the_header_once() {
        let header = c_header();
        for (prefix, constants) in GROUPS {
            for (name, value) in *constants {
                let line = format!("  {prefix}{name} = {value},");
                let define = format!("#define {prefix}{name} {value:#x}ull");
                let found = header
                    .lines()
                    .filter(|l| *l == line || *l == define)
                    .count();
                assert_eq!(found, 1, "{prefix}{name}");
            }
        }
    }

    #[test]
    fn structures_have_the_offsets_of_the_compilers() {
        let header = c_header();
        // LLVM's configuration: three bytes, then words from offset 4.
        for expected in [
            "offsetof(KernelConfiguration, mode) == 2,",
            "offsetof(KernelConfiguration, least_threads) == 4,",
            "offsetof(KernelConfiguration, reduction_length) == 24,",
            "offsetof(LaunchEnvironment, buffer) == 8,",
            "  void *buffer;",
            "sizeof(VirtualThread) == 56,",
        ] {
            assert!(header.contains(expected), "{expected}");
        }
    }
}
