//! Builds the NAS Parallel Benchmarks: linked bitcode for ompvm and native executables as peers.
//!
//! The bitcode is linked, because all benchmarks share `common/`. Four have a device version in
//! `target/`, whose bitcode also contains device code. Nothing is run here.

use crate::process::{root, run};
use crate::setup::{self, Tools};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// A problem class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
#[value(rename_all = "UPPER")]
pub enum Class {
    /// Sample.
    S,
    /// Workstation.
    W,
    /// The small standard size.
    A,
    /// Four times A.
    B,
    /// Four times B.
    C,
}

impl Class {
    /// Returns its letter.
    pub fn letter(self) -> char {
        match self {
            Class::S => 'S',
            Class::W => 'W',
            Class::A => 'A',
            Class::B => 'B',
            Class::C => 'C',
        }
    }
}

/// A benchmark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
#[value(rename_all = "lower")]
pub enum Name {
    Is,
    Ep,
    Mg,
    Ft,
    Cg,
    Lu,
    Bt,
    Sp,
}

impl Name {
    /// All eight.
    pub const ALL: [Name; 8] = [
        Name::Is,
        Name::Ep,
        Name::Mg,
        Name::Ft,
        Name::Cg,
        Name::Lu,
        Name::Bt,
        Name::Sp,
    ];

    /// Benchmarks with a device version.
    pub const TARGET: [Name; 4] = [Name::Ep, Name::Cg, Name::Mg, Name::Ft];

    /// Returns the name in lower case, as in file names.
    pub fn lower(self) -> &'static str {
        match self {
            Name::Is => "is",
            Name::Ep => "ep",
            Name::Mg => "mg",
            Name::Ft => "ft",
            Name::Cg => "cg",
            Name::Lu => "lu",
            Name::Bt => "bt",
            Name::Sp => "sp",
        }
    }
}

/// Form that a benchmark is built in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Linked bitcode, clang -O2 -fopenmp.
    Bitcode,
    /// Native executable, clang -O2 -fopenmp with libomp.
    Native,
    /// Native executable tuned for this processor: -O3 -march=native.
    Tuned,
    /// Native executable without OpenMP: clang -O2.
    Sequential,
    /// Bitcode that calls the benchmark several times (`bench/npb/steady.c`).
    SteadyBitcode,
    /// Native executable that calls the benchmark several times.
    SteadyNative,
    /// Linked bitcode of the device version, with code for NVIDIA GPUs.
    Target,
}

/// Options that compile for a device without a CUDA installation.
pub const OFFLOAD: [&str; 3] = ["--offload-arch=sm_90", "-nogpulib", "--cuda-feature=+ptx83"];

impl Form {
    /// Returns the path of the built file, relative to the root.
    pub fn path(self, name: Name, class: Class) -> PathBuf {
        let stem = format!("{}.{}", name.lower(), class.letter());
        PathBuf::from(match self {
            Form::Bitcode => format!("npb/bc/{stem}.bc"),
            Form::Native => format!("npb/bin/{stem}"),
            Form::Tuned => format!("npb/bin/{stem}.O3"),
            Form::Sequential => format!("npb/bin/{stem}.seq"),
            Form::SteadyBitcode => format!("npb/bc/{stem}.steady.bc"),
            Form::SteadyNative => format!("npb/bin/{stem}.steady"),
            Form::Target => format!("npb/bc/{stem}.target.bc"),
        })
    }

    fn flags(self) -> &'static [&'static str] {
        match self {
            Form::Bitcode | Form::Native | Form::Target => &["-O2", "-fopenmp"],
            Form::Tuned => &["-O3", "-march=native", "-fopenmp"],
            Form::Sequential => &["-O2"],
            Form::SteadyBitcode | Form::SteadyNative => &["-O2", "-fopenmp", "-Dmain=npb_main"],
        }
    }

    /// Returns an additional source, if the form has one.
    fn more(self) -> Option<&'static Path> {
        match self {
            Form::Bitcode | Form::Native | Form::Tuned | Form::Target => None,
            Form::Sequential => Some(Path::new("bench/npb/sequential.c")),
            Form::SteadyBitcode | Form::SteadyNative => Some(Path::new("bench/npb/steady.c")),
        }
    }

    fn is_bitcode(self) -> bool {
        matches!(self, Form::Bitcode | Form::SteadyBitcode | Form::Target)
    }
}

/// The two standard forms of a benchmark.
#[derive(Clone, Debug)]
pub struct Built {
    /// Linked bitcode.
    pub bitcode: PathBuf,
    /// Native executable, clang -O2 -fopenmp with libomp.
    pub native: PathBuf,
}

/// Builds several benchmarks and prints their paths.
pub fn build_all(classes: &[Class], names: &[Name]) -> Result<(), String> {
    let tools = setup::ensure()?;
    let names = if names.is_empty() {
        &Name::ALL[..]
    } else {
        names
    };
    for &class in classes {
        for &name in names {
            let built = build(&tools, name, class)?;
            println!("{}", built.bitcode.display());
            if Name::TARGET.contains(&name) {
                let built = build_form(&tools, name, class, Form::Target)?;
                println!("{}", built.display());
            }
        }
    }
    Ok(())
}

/// Builds the two standard forms of a benchmark.
pub fn build(tools: &Tools, name: Name, class: Class) -> Result<Built, String> {
    Ok(Built {
        bitcode: build_form(tools, name, class, Form::Bitcode)?,
        native: build_form(tools, name, class, Form::Native)?,
    })
}

/// Builds one form unless it is newer than all sources.
pub fn build_form(tools: &Tools, name: Name, class: Class, form: Form) -> Result<PathBuf, String> {
    let npb = root().join("npb");
    let out = root().join(form.path(name, class));
    let folder = out.parent().expect("a file in a folder");
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    if modified(&out).is_some_and(|m| m > newest_source(&npb)) {
        return Ok(out);
    }
    let mut sources = sources(&npb, name)?;
    sources.extend(form.more().map(Path::to_owned));
    let own = PathBuf::from(format!("npb/{}.c", name.lower()));
    let for_device = PathBuf::from(format!("npb/target/{}.c", name.lower()));
    if form == Form::Target {
        sources.retain(|s| *s != own);
        sources.push(for_device.clone());
    }
    if !form.is_bitcode() {
        let large = class == Class::C && matches!(name, Name::Mg | Name::Ft);
        run(clang(tools, class, form)
            .args(large.then_some("-mcmodel=medium"))
            .arg("-o")
            .arg(&out)
            .args(&sources)
            .arg("-lm")
            .arg(format!("-Wl,-rpath,{}", tools.prefix.join("lib").display())))?;
        return Ok(out);
    }
    let objects = out.with_extension("parts");
    std::fs::create_dir_all(&objects).map_err(|e| format!("{}: {e}", objects.display()))?;
    let mut parts = Vec::new();
    for source in &sources {
        let part = objects
            .join(source.file_stem().expect("a source file"))
            .with_extension("bc");
        // The shared files contain no device code except for what headers define.
        let offload = (*source == for_device).then_some(OFFLOAD);
        run(clang(tools, class, form)
            .args(offload.into_iter().flatten())
            .args(["-c", "-emit-llvm", "-o"])
            .arg(&part)
            .arg(source))?;
        parts.push(part);
    }
    run(Command::new(tools.llvm("llvm-link"))
        .arg("-o")
        .arg(&out)
        .args(&parts))?;
    let _ = std::fs::remove_dir_all(&objects);
    Ok(out)
}

fn clang(tools: &Tools, class: Class, form: Form) -> Command {
    let mut clang = Command::new(tools.llvm("clang"));
    // Relative paths keep local folder names out of the debug information.
    clang.current_dir(root());
    clang.args(["-std=c11", "-g"]).args(form.flags());
    clang.arg(format!("-DNPB_CLASS={}", class.letter()));
    clang
}

/// Returns `npb/NAME.c`, `npb/NAME_*.c` and `npb/common/*.c`, relative to the root.
fn sources(npb: &Path, name: Name) -> Result<Vec<PathBuf>, String> {
    let list = |dir: &Path| -> Result<Vec<String>, String> {
        let entries = std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let mut names: Vec<String> = entries
            .filter_map(|e| Some(e.ok()?.file_name().to_string_lossy().into_owned()))
            .filter(|n| n.ends_with(".c"))
            .collect();
        names.sort();
        Ok(names)
    };
    let main = format!("{}.c", name.lower());
    let more = format!("{}_", name.lower());
    let mut sources: Vec<PathBuf> = list(npb)?
        .into_iter()
        .filter(|n| *n == main || n.starts_with(&more))
        .map(|n| Path::new("npb").join(n))
        .collect();
    sources.extend(
        list(&npb.join("common"))?
            .into_iter()
            .map(|n| Path::new("npb/common").join(n)),
    );
    Ok(sources)
}

fn modified(file: &Path) -> Option<SystemTime> {
    file.metadata().ok()?.modified().ok()
}

fn newest_source(npb: &Path) -> SystemTime {
    ["", "common", "reference", "target", "../bench/npb"]
        .iter()
        .filter_map(|dir| std::fs::read_dir(npb.join(dir)).ok())
        .flatten()
        .filter_map(|e| {
            let path = e.ok()?.path();
            let source = path.extension().is_some_and(|x| x == "c" || x == "h");
            source.then(|| modified(&path)).flatten()
        })
        .max()
        .unwrap_or(SystemTime::UNIX_EPOCH)
}
