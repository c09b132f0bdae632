//! Tries packages in roots of their own: in each one lie the package and the libraries that it asks
//! for, and nothing else.
//!
//! The libraries are this machine's, by the packages that the Debian package depends on, or those of
//! an older system. A root is entered with `unshare` and `chroot`. Where the system does not let us,
//! the trial is reported as not tried.

use super::{fresh, shown};
use crate::process::{capture, capture_ok};
use crate::setup::Tools;
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program with a parallel region, and its output.
const PROGRAM: &str = "\
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int n = 0;
  double sum = 0;
#pragma omp parallel reduction(+: n, sum)
  {
    n++;
#pragma omp for
    for (int i = 0; i < 1000; i++) sum += sqrt(i);
  }
  char *text = malloc(100);
  snprintf(text, 100, \"%d threads, %.3f\", n, sum);
  puts(text);
  return argc - 1;
}
";
const PRINTED: &str = "3 threads, 21065.833\n";

/// A program in C++ that throws through a library's frames.
const CPP_PROGRAM: &str = "\
#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <vector>
int main() {
  std::vector<int> v{3, 1, 2};
  try {
    std::sort(v.begin(), v.end(), [](int a, int b) { if (a == b) throw 1; return a < b; });
    v.at(v[2]) = 1;
  } catch (const std::out_of_range &) { std::cout << \"caught \" << v[0] << std::endl; }
}
";

/// Commands of a trial, in a shell whose PATH has the package; each ends with what must be seen.
const COMMANDS: [(&str, &str); 8] = [
    ("ompvm --version", "ompvm "),
    ("OMP_NUM_THREADS=3 ompvm --no-cache /hello.bc", PRINTED),
    (
        "OMP_NUM_THREADS=3 ompvm run --no-cache --tier=opt /hello.bc",
        PRINTED,
    ),
    (
        "OMP_NUM_THREADS=3 ompvm run --no-cache --tier=interp /hello.bc",
        PRINTED,
    ),
    ("ompvm run --no-cache /throws.bc", "caught 1\n"),
    ("ompvm run --no-cache --tier=opt /throws.bc", "caught 1\n"),
    ("ompvm inspect /hello.bc", "Parallel regions (1)"),
    ("ompvm completions bash", "complete -F _ompvm"),
];

/// Tries the packages. Returns a line for each trial.
pub fn all(
    tools: &Tools,
    work: &Path,
    tarball: &Path,
    package: &Path,
    older: &[PathBuf],
) -> Result<Vec<String>, String> {
    let mut report = Vec::new();
    let depends = capture_ok(
        Command::new("dpkg-deb")
            .arg("-f")
            .arg(package)
            .arg("Depends"),
    )?;
    let libraries = files_of_packages(&depends)?;
    let mut try_in = |title: String, fill: &dyn Fn(&Path) -> Result<(), String>, path: &str| {
        let root = fresh(&work.join("root"))?;
        programs(tools, &root)?;
        fill(&root)?;
        let outcome = match enter(&root, path)? {
            Some(outcome) => outcome,
            None => "not tried: the system allows neither a user namespace nor chroot".to_owned(),
        };
        let _ = std::fs::remove_dir_all(&root);
        report.push(format!("{title}: {outcome}"));
        Ok::<(), String>(())
    };
    let unpack = |root: &Path| {
        let mut tar = Command::new("tar");
        let to = root.join("opt");
        std::fs::create_dir_all(&to).map_err(|e| e.to_string())?;
        capture_ok(
            tar.arg("-xJf")
                .arg(tarball)
                .arg("-C")
                .arg(&to)
                .arg("--strip-components=1"),
        )
        .map(|_| ())
    };
    try_in(
        format!("{} with its dependencies", shown(package)),
        &|root| {
            copy_all(&libraries, root)?;
            capture_ok(Command::new("dpkg-deb").arg("-x").arg(package).arg(root)).map(|_| ())
        },
        "/usr/bin",
    )?;
    try_in(
        format!("{} with the same libraries", shown(tarball)),
        &|root| {
            copy_all(&libraries, root)?;
            unpack(root)
        },
        "/opt/bin",
    )?;
    for system in older {
        let title = format!("{} on {}", shown(tarball), describe(system));
        let fill = |root: &Path| {
            let from = system.join(".");
            capture_ok(Command::new("cp").args(["-a"]).arg(&from).arg(root))?;
            unpack(root)
        };
        try_in(title, &fill, "/opt/bin")?;
    }
    if older.is_empty() {
        report.push(format!(
            "{} on an older system: not tried (--older-root=DIR names one)",
            shown(tarball)
        ));
    }
    Ok(report)
}

/// Names the C library of a system.
fn describe(system: &Path) -> String {
    let libc = system.join("lib/x86_64-linux-gnu/libc.so.6");
    match libc.canonicalize() {
        Ok(libc) => format!(
            "{} ({})",
            system.display(),
            libc.file_name().unwrap_or_default().display()
        ),
        Err(_) => system.display().to_string(),
    }
}

/// Puts the programs to run, and a shell, into a root.
fn programs(tools: &Tools, root: &Path) -> Result<(), String> {
    let write = |name: &str, text: &str, compiler: &str| {
        let source = root.join(name);
        std::fs::write(&source, text).map_err(|e| format!("{}: {e}", source.display()))?;
        let mut clang = Command::new(tools.llvm(compiler));
        clang
            .current_dir(root)
            .args(["-O2", "-fopenmp", "-c", "-emit-llvm"]);
        capture_ok(clang.arg(name)).map(|_| ())
    };
    write("hello.c", PROGRAM, "clang")?;
    write("throws.cpp", CPP_PROGRAM, "clang++")?;
    for folder in ["proc", "dev", "tmp"] {
        std::fs::create_dir_all(root.join(folder)).map_err(|e| e.to_string())?;
    }
    // Devices can be bound to files only.
    for device in ["null", "urandom"] {
        std::fs::write(root.join("dev").join(device), "").map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Returns the libraries of the packages that a list of dependencies names, and of theirs, as they are
/// installed here.
fn files_of_packages(depends: &str) -> Result<BTreeSet<PathBuf>, String> {
    let names = |list: &str| -> Vec<String> {
        let words = list.split(',').filter_map(|d| d.split(['|', '(']).next());
        let words = words.map(|word| word.trim().split(':').next().unwrap_or_default().to_owned());
        words.filter(|word| !word.is_empty()).collect()
    };
    let mut open = names(depends);
    let (mut seen, mut files) = (BTreeSet::new(), BTreeSet::new());
    while let Some(package) = open.pop() {
        if !seen.insert(package.clone()) {
            continue;
        }
        let mut query = Command::new("dpkg-query");
        let of = capture_ok(query.args(["-W", "-f=${Depends}, ${Pre-Depends}\n", &package]))?;
        open.extend(of.lines().next().map(names).unwrap_or_default());
        let list = capture_ok(Command::new("dpkg-query").args(["-L", &package]))?;
        let library = |file: &&str| {
            let name = file.rsplit('/').next().unwrap_or_default();
            file.contains("/lib") && (name.ends_with(".so") || name.contains(".so."))
        };
        let libraries = list.lines().filter(library).map(PathBuf::from);
        files.extend(libraries.filter(|file| !file.is_dir()));
    }
    Ok(files)
}

/// Copies files to the same places below a root, with their links.
fn copy_all(files: &BTreeSet<PathBuf>, root: &Path) -> Result<(), String> {
    // Folders of libraries may be links on this machine; below the root each leads to one in usr.
    for folder in ["lib", "lib64"] {
        std::fs::create_dir_all(root.join("usr").join(folder))
            .and_then(|()| symlink(Path::new("usr").join(folder), root.join(folder)))
            .map_err(|e| format!("{folder}: {e}"))?;
    }
    for file in files {
        let to = root.join(file.strip_prefix("/").unwrap_or(file));
        std::fs::create_dir_all(to.parent().unwrap_or(root))
            .and_then(|()| match file.read_link() {
                Ok(target) => symlink(target, &to),
                Err(_) => std::fs::copy(file, &to).map(|_| ()),
            })
            .map_err(|e| format!("{}: {e}", to.display()))?;
    }
    Ok(())
}

/// Runs the commands below a root. Returns `None` if the system does not let us enter it.
fn enter(root: &Path, path: &str) -> Result<Option<String>, String> {
    const ENTER: &str = "mount -t proc proc \"$0/proc\" && mount --bind /dev/null \"$0/dev/null\" \
        && mount --bind /dev/urandom \"$0/dev/urandom\" && exec chroot \"$0\" \"$@\"";
    let inside = |words: &[&str], settings: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args([
            "--user",
            "--map-root-user",
            "--mount",
            "--pid",
            "--fork",
            "sh",
            "-c",
            ENTER,
        ]);
        unshare.arg(root).args(words);
        unshare
            .env_clear()
            .env("PATH", format!("/usr/bin:/bin:/usr/sbin:/sbin:{path}"));
        if let Some((name, value)) = settings.split_once('=') {
            unshare.env(name, value);
        }
        capture(&mut unshare)
    };
    // A statically linked program would be needed to find out whether a root can be entered; the
    // messages of the tools around it say the same.
    let mut passed = 0;
    for (line, expected) in COMMANDS {
        let mut words: Vec<&str> = line.split(' ').collect();
        let settings = match words[0].contains('=') {
            true => words.remove(0),
            false => "",
        };
        let program = format!("{path}/{}", words[0]);
        words[0] = &program;
        let output = inside(&words, settings)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        if ["unshare:", "mount:", "sh:"]
            .iter()
            .any(|tool| errors.starts_with(tool))
        {
            eprintln!("{}", errors.trim());
            return Ok(None);
        }
        if !output.status.success() || !text.contains(expected) {
            return Err(format!(
                "`{line}` below {} ended with {} and printed {text:?}\n{errors}",
                root.display(),
                output.status
            ));
        }
        passed += 1;
    }
    Ok(Some(format!("{passed} commands pass")))
}
