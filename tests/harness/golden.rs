//! The bytecode that functions lower to, compared with the listing beside each program.
//!
//! What: `tests/golden/NAME.ll` calls `@golden`; the listing of its bytecode must be
//! `NAME.code`. Why: a change of the lowering shows in review as what it does to a loop.
//! `OMPVM_BLESS=1` writes the listings anew. What not: that the code is right is what the
//! differential tests say.

use crate::run::{End, LIMIT, run};
use crate::{files, ompvm, root};
use libtest_mimic::Trial;
use std::path::Path;
use std::process::Command;

/// One trial per program in `tests/golden`.
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
    command.env("OMPVM_DUMP", "golden");
    let ran = run(&mut command, "", LIMIT)?;
    if ran.end != End::Exit(0) {
        return Err(ran.summary());
    }
    // How long the lowering took is not part of it.
    let lines = ran.stderr.lines().filter(|l| !l.starts_with(';'));
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
