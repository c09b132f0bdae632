//! The interface of the C library: declarations of `include/ompvm.h`, values of its constants, and
//! sizes and offsets of its structures on this machine, which the C compiler computes.

use super::Interface;
use crate::process::{capture_ok, root};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

/// Returns the interface as it is now.
pub(super) fn interface() -> Result<Interface, String> {
    let header = root().join("include/ompvm.h");
    let text =
        std::fs::read_to_string(&header).map_err(|e| format!("{}: {e}", header.display()))?;
    let version = text
        .lines()
        .find_map(|line| line.strip_prefix("#define OMPVM_ABI "))
        .ok_or("include/ompvm.h defines no OMPVM_ABI")?;
    let declarations = declarations(&text);
    let mut items: BTreeSet<String> = BTreeSet::new();
    let mut program = String::from("#include <ompvm.h>\n#include <stdio.h>\nint main(void) {\n");
    for declaration in &declarations {
        let Some((head, body)) = declaration.split_once('{') else {
            items.insert(declaration.clone());
            continue;
        };
        let (body, name) = body.rsplit_once('}').unwrap_or((body, ""));
        let name = name.trim();
        if head.contains("enum") {
            for constant in body.split(',').filter_map(|c| c.split('=').next()) {
                let constant = constant.trim();
                if !constant.is_empty() {
                    let _ = writeln!(
                        program,
                        "printf(\"{name} {constant} = %d\\n\", (int){constant});"
                    );
                }
            }
        } else {
            let _ = writeln!(
                program,
                "printf(\"{name}: %zu bytes, aligned to %zu\\n\", sizeof({name}), _Alignof({name}));"
            );
            for field in body.split(';').map(str::trim).filter(|f| !f.is_empty()) {
                let member = field.rsplit([' ', '*']).next().unwrap_or(field);
                let _ = writeln!(
                    program,
                    "printf(\"{name}: {field} at %zu, %zu bytes\\n\", offsetof({name}, {member}), \
                     sizeof((({name} *)0)->{member}));"
                );
            }
        }
    }
    program += "return 0;\n}\n";
    items.extend(run(&program)?.lines().map(str::to_owned));
    Ok(Interface {
        record: "c.txt",
        version: format!("OMPVM_ABI {version}"),
        items,
    })
}

/// Compiles and runs a program.
fn run(program: &str) -> Result<String, String> {
    let folder = root().join("target/interface");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let stem = folder.join(format!("layout-{}", std::process::id()));
    let source = stem.with_extension("c");
    std::fs::write(&source, program).map_err(|e| format!("{}: {e}", source.display()))?;
    let mut cc = Command::new("cc");
    cc.arg("-std=c11").arg("-I").arg(root().join("include"));
    let printed = capture_ok(cc.arg(&source).arg("-o").arg(&stem))
        .and_then(|_| capture_ok(&mut Command::new(&stem)));
    let _ = std::fs::remove_file(&source);
    let _ = std::fs::remove_file(&stem);
    printed
}

/// Returns the declarations of a header, each on one line, without comments and lines of the
/// preprocessor.
fn declarations(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        plain += before;
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    plain += rest;
    let lines = plain.lines().filter(|line| !line.starts_with('#'));
    let plain: String = lines.map(|line| format!("{line} ")).collect();
    let plain = plain.replace("extern \"C\" {", "");
    let (mut depth, mut found, mut part) = (0, Vec::new(), String::new());
    for character in plain.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ';' if depth == 0 => {
                found.push(part.split_whitespace().collect::<Vec<_>>().join(" "));
                part.clear();
                continue;
            }
            _ => {}
        }
        part.push(character);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_taken_apart() {
        let text = "/* a; */\n#define X 1\nextern \"C\" {\ntypedef struct s {\n  int a; /* b */\n  char *c;\n} s;\n\
                    void f(int a,\n       s *b); /* NULL; */\n}\n";
        assert_eq!(
            declarations(text),
            [
                "typedef struct s { int a; char *c; } s",
                "void f(int a, s *b)"
            ]
        );
    }
}
