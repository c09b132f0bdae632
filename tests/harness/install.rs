//! Completions, manual pages, and the tree that packages are made of.
//!
//! A completion is read by its shell, and a manual page is set by `man`, if these are installed.
//! Leaves the packages to `cargo xtask package`, and the compilers' names to `compilers.rs`.

use crate::compilers::Place;
use crate::run::End;
use libtest_mimic::Trial;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns true if a program can be started.
fn installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok()
}

/// Checks the completions for each shell, which parses them.
fn completions() -> Result<(), String> {
    let p = Place::new("completions")?;
    for (shell, part) in [
        ("bash", "complete -F _ompvm"),
        ("zsh", "#compdef ompvm"),
        ("fish", "complete -c ompvm"),
    ] {
        let ran = p.ran(&format!("ompvm completions {shell}"), "")?;
        let complete = ["deny-native", "c++", "inspect", part];
        if ran.end != End::Exit(0) || complete.iter().any(|part| !ran.stdout.contains(part)) {
            return Err(format!(
                "completions for {shell} lack a part: {:?}",
                ran.end
            ));
        }
        p.write(shell, &ran.stdout)?;
        if installed(shell) {
            p.build(&format!("{shell} -n {shell}"))?;
        }
    }
    let ran = p.ran("ompvm completions sh", "")?;
    match ran.end == End::Exit(2) && ran.stderr.contains("bash, zsh, fish") {
        true => Ok(()),
        false => Err(format!("should list the shells: {}", ran.summary())),
    }
}

/// Checks what bash offers for words of a command line.
fn bash_completes() -> Result<(), String> {
    let p = Place::new("bash-completes")?;
    let ran = p.ran("ompvm completions bash", "")?;
    let script = format!(
        "{}\nCOMP_WORDS=(ompvm comp); COMP_CWORD=1; _ompvm ompvm comp ompvm; echo \"${{COMPREPLY[*]}}\"\n\
         COMP_WORDS=(ompvm run --tier in); COMP_CWORD=3; _ompvm ompvm in --tier; echo \"${{COMPREPLY[*]}}\"\n",
        ran.stdout
    );
    p.write("script", &script)?;
    p.prints("bash script", "compile completions compare\ninterp\n")
}

/// Checks the manual pages: one for each command, which `man` sets without warnings.
fn manual() -> Result<(), String> {
    let p = Place::new("manual")?;
    p.build("ompvm install prefix")?;
    let names = "- -run -inspect -compile -cache -compare -install -completions -cc -c++ -fc";
    for name in names.split(' ') {
        let name = name.strip_suffix('-').unwrap_or(name);
        let page = format!("prefix/share/man/man1/ompvm{name}.1");
        p.build(&format!("test -s {page}"))?;
        if !installed("man") {
            continue;
        }
        let mut man = Command::new("man");
        man.current_dir(p.folder())
            .args(["--warnings", "--local-file", &page]);
        let set = man
            .env("MANWIDTH", "100")
            .output()
            .map_err(|e| e.to_string())?;
        let (text, warnings) = (
            String::from_utf8_lossy(&set.stdout),
            String::from_utf8_lossy(&set.stderr),
        );
        if !set.status.success() || !warnings.is_empty() || !text.contains(&format!("ompvm{name}"))
        {
            return Err(format!("{page}: {warnings}"));
        }
    }
    Ok(())
}

/// Checks that a copied tree has no link out of it, runs after it was moved, and can be made again.
fn copied() -> Result<(), String> {
    let p = Place::new("copied")?;
    p.write(
        "main.c",
        "#include <stdio.h>\nint main(void) { puts(\"ran\"); return 0; }\n",
    )?;
    p.build(
        "ompvm install --copy --libdir lib/x86_64-linux-gnu tree
         ompvm install --copy --libdir lib/x86_64-linux-gnu tree
         mv tree moved
         moved/bin/ompvm-cc main.c -o program
         test -f moved/share/bash-completion/completions/ompvm
         test -f moved/share/zsh/site-functions/_ompvm
         test -f moved/share/fish/vendor_completions.d/ompvm.fish",
    )?;
    p.prints("moved/bin/ompvm run program", "ran\n")?;
    let mut folders = vec![p.folder().join("moved")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)
            .map_err(|e| e.to_string())?
            .flatten()
        {
            let path = entry.path();
            match path.read_link() {
                Ok(target) if target.is_absolute() => {
                    return Err(format!("{} leads to {}", path.display(), target.display()));
                }
                Ok(_) if !path.exists() => return Err(format!("{} leads nowhere", path.display())),
                Err(_) if path.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    if installed("pkg-config") {
        let config = "env PKG_CONFIG_PATH=moved/lib/x86_64-linux-gnu/pkgconfig pkg-config";
        let ran = p.ran(&format!("{config} --variable=libdir ompvm"), "")?;
        let libdir = Path::new(ran.stdout.trim());
        let expected = p.folder().join("moved/lib/x86_64-linux-gnu");
        let found = p.folder().join(libdir).canonicalize();
        if found.ok() != expected.canonicalize().ok() {
            return Err(format!("pkg-config names {}", ran.summary()));
        }
    }
    let ran = p.ran("ompvm install --libdir ../lib tree", "")?;
    match ran.end == End::Exit(2) && ran.stderr.contains("below the prefix") {
        true => Ok(()),
        false => Err(format!("should be refused: {}", ran.summary())),
    }
}

/// A check of this file.
type Check = fn() -> Result<(), String>;

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    let checks: [(&str, Check); 4] = [
        ("completions", completions),
        ("bash", bash_completes),
        ("manual", manual),
        ("copied", copied),
    ];
    let trial =
        |(name, check): (&str, Check)| Trial::test(format!("install/{name}"), move || Ok(check()?));
    checks.into_iter().map(trial).collect()
}
