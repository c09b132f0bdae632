//! Rules of the house: layers point down, the examples run.
//!
//! Why a test: what nobody checks wears off. What not: what lints check already.

use crate::compile::llvm_bin;
use crate::run::{End, LIMIT, run};
use crate::{files, ompvm, root};
use libtest_mimic::Trial;
use std::process::Command;

/// The layers, lowest first; those in one entry never import each other.
const LAYERS: [&[&str]; 10] = [
    &["support"],
    &["ir"],
    &["llvm"],
    &["memory"],
    &["kmpc"],
    &["offload"],
    &["interp", "jit"],
    &["tier"],
    &["api"],
    &["cli"],
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("house/layers_point_down", || Ok(layers()?))];
    for name in ["run_main", "call_function", "host_functions"] {
        trials.push(Trial::test(format!("house/example/{name}"), move || {
            Ok(example(name)?)
        }));
    }
    trials
}

fn height(layer: &str) -> Option<usize> {
    LAYERS.iter().position(|names| names.contains(&layer))
}

fn layers() -> Result<(), String> {
    let src = root().join("src");
    let mut wrong = Vec::new();
    for file in files(&src, &["rs"]) {
        let relative = file.strip_prefix(&src).unwrap_or(&file);
        let mut parts = relative.components();
        let from = parts
            .next()
            .map(|c| c.as_os_str().to_string_lossy().into_owned());
        let Some(from) = from.filter(|f| height(f).is_some()) else {
            continue;
        };
        let text = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for used in code
                .match_indices("crate::")
                .map(|(i, m)| &code[i + m.len()..])
            {
                let to: String = used
                    .chars()
                    .take_while(|c| c.is_ascii_lowercase())
                    .collect();
                if to == from {
                    continue;
                }
                if height(&to) >= height(&from) && height(&to).is_some() {
                    wrong.push(format!(
                        "{}:{}: {from} uses {to}",
                        relative.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// Runs an example (cargo built it beside the program under test).
fn example(name: &str) -> Result<(), String> {
    let dir = ompvm().parent().ok_or("the program has a folder")?;
    let mut command = Command::new(dir.join("examples").join(name));
    command
        .current_dir(root())
        .env("LLVM_SYS_221_PREFIX", llvm_bin().join(".."));
    let ran = run(&mut command, "", LIMIT)?;
    if ran.end == End::Exit(0) {
        Ok(())
    } else {
        Err(ran.summary())
    }
}
