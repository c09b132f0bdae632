//! Golden tests of lowering: the bytecode of functions, compared with the listing beside each
//! program.
//!
//! `tests/golden/NAME.ll` calls `@golden`, whose bytecode must equal the listing `NAME.code`. So a
//! review shows how a change of the lowering affects a loop. `OMPVM_BLESS=1` rewrites the listings.
//! The differential tests check that the code is right.

use crate::run::{End, LIMIT, run};
use crate::{files, ompvm, root};
use libtest_mimic::Trial;
use std::path::Path;
use std::process::Command;

/// Returns one trial per program in `tests/golden`.
pub fn trials() -> Vec<Trial> {
    files(&root().join("tests/golden"), &["ll"])
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            Trial::test(format!("golden/{name}"), move || Ok(check(&path)?))
        })
        .collect()
}

fn check(program: &Path) -> Result<(), String> {
    let mut command = Command::new(ompvm());
    command.args(["run", "--tier=interp"]).arg(program);
    command.env("OMPVM_LOG", "interp::bytecode/golden");
    let ran = run(&mut command, "", LIMIT)?;
    if ran.end != End::Exit(0) {
        return Err(ran.summary());
    }
    // Each listing follows the line of its event.
    let lines = ran.stderr.lines().filter(|l| !l.starts_with('['));
    let code: String = lines.map(|l| format!("{}\n", l.trim_end())).collect();
    let listing = program.with_extension("code");
    if std::env::var_os("OMPVM_BLESS").is_some() {
        return std::fs::write(&listing, code).map_err(|e| format!("{}: {e}", listing.display()));
    }
    let wanted = std::fs::read_to_string(&listing).unwrap_or_default();
    if wanted == code {
        Ok(())
    } else {
        Err(format!(
            "the listing changed (OMPVM_BLESS=1 accepts it)\nwas:\n{wanted}\nis:\n{code}"
        ))
    }
}
