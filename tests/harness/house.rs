//! Rules of the project: layers point down, the examples run.
//!
//! Rules that no test checks erode. Those that lints check are left to the lints.

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

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("house/layers_point_down", || Ok(layers()?))];
    trials.push(Trial::test(
        "house/readme_example",
        || Ok(readme_example()?),
    ));
    for name in ["run_main", "call_function", "host_functions", "readme"] {
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

/// Compares the README's example of embedding with the program that is compiled and run: the
/// program must contain all of its lines, in order.
fn readme_example() -> Result<(), String> {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).map_err(|e| e.to_string());
    let (readme, program) = (read("README.md")?, read("examples/readme.rs")?);
    let block = readme
        .split_once("## Embed it")
        .map_or("", |(_, rest)| rest);
    let block = block.split_once("```rust").map_or("", |(_, rest)| rest);
    let block = block.split_once("```").map_or("", |(text, _)| text);
    // rustfmt decides the line breaks.
    let letters = |text: &str| text.split_whitespace().collect::<String>();
    let program = letters(&program);
    let (mut rest, mut compared) = (&*program, 0);
    // The rest of the fence's line is its language.
    for line in block
        .lines()
        .skip(1)
        .map(str::trim)
        .filter(|l| !l.is_empty())
    {
        compared += 1;
        match rest.split_once(&letters(line)) {
            Some((_, behind)) => rest = behind,
            None => return Err(format!("examples/readme.rs has no line `{line}` there")),
        }
    }
    match compared {
        0..5 => Err("the README has no example".into()),
        _ => Ok(()),
    }
}

/// Runs an example (cargo built it next to the program under test).
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
