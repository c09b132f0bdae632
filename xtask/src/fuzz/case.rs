//! One generated program: built natively and as bitcode, run in every way, compared.
//!
//! Why outcomes and outputs only: generated programs print whatever they compute. What not: which
//! programs, and for how long (`fuzz`).

use super::generate::{Source, source};
use crate::limited::{Ran, run, write};
use crate::setup::Tools;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How one program is compiled.
pub const LEVELS: [(&str, &[&str]); 3] = [
    ("O0", &["-O0"]),
    ("O2", &["-O2"]),
    ("O3n", &["-O3", "-march=native"]),
];

/// The same for another machine, whose processor we do not know.
pub const PORTABLE: [(&str, &[&str]); 3] = [
    ("O0", &["-O0"]),
    ("O2", &["-O2"]),
    ("O3v3", &["-O3", "-march=x86-64-v3"]),
];

/// The longest a run may take.
pub const LIMIT: Duration = Duration::from_secs(60);

/// A way to run ompvm.
#[derive(Clone, Debug)]
pub struct Way {
    /// Its name in reports.
    pub name: String,
    /// Options of `ompvm run`.
    pub options: Vec<String>,
    /// Environment.
    pub env: Vec<(String, String)>,
    /// The program's argument: how many rounds.
    pub rounds: u32,
    /// Whether a second run, which finds what the first one kept, must agree as well.
    pub again: bool,
}

impl Way {
    fn new(name: &str, options: &[&str], rounds: u32) -> Way {
        Way {
            name: name.into(),
            options: options.iter().map(|o| (*o).to_owned()).collect(),
            env: Vec::new(),
            rounds,
            again: false,
        }
    }

    /// The ways that there may be; [`present`] says which there are.
    pub fn all() -> Vec<Way> {
        let mut ways = vec![
            Way::new("interp", &["--tier=interp"], 1),
            Way::new("baseline", &["--tier=baseline"], 1),
            Way::new("opt", &["--tier=opt", "--no-cache"], 1),
            Way::new("auto", &["--tier=auto", "--no-cache"], 8),
            // What an earlier run compiled, for its own reasons, and what this one adds.
            Way {
                again: true,
                ..Way::new("kept", &["--tier=auto"], 4)
            },
        ];
        // The last bit decides what runs until LLVM has compiled it (`tier::chaos`).
        for (name, choices) in [("chaos", "SEED1"), ("chaos-baseline", "SEED0")] {
            ways.push(Way {
                env: vec![("OMPVM_CHAOS".into(), choices.into())],
                ..Way::new(name, &["--tier=auto"], 2)
            });
        }
        ways
    }

    /// The command for a program.
    pub fn command(&self, ompvm: &Path, bitcode: &Path, setting: &Setting) -> Command {
        let mut command = Command::new(ompvm);
        command.arg("run").args(&self.options).arg(bitcode);
        command.arg(self.rounds.to_string());
        setting.apply(&mut command);
        let folder = bitcode.parent().unwrap_or(Path::new("."));
        command.env("OMPVM_CACHE_DIR", folder.join("cache"));
        for (key, value) in &self.env {
            command.env(key, value.replace("SEED", &setting.seed.to_string()));
        }
        command
    }
}

/// Which of the ways this ompvm has: it runs an empty program that way.
pub fn present(tools: &Tools, ompvm: &Path, dir: &Path) -> Result<Vec<Way>, String> {
    let source = dir.join("empty.c");
    write(&source, "int main(void) { return 0; }\n")?;
    let bitcode = dir.join("empty.bc");
    let mut clang = Command::new(tools.llvm("clang"));
    clang
        .args(["-c", "-emit-llvm", "-o"])
        .arg(&bitcode)
        .arg(&source);
    let built = run(&mut clang, dir, LIMIT)?;
    if built.status != 0 {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned());
    }
    let mut ways = Vec::new();
    for way in Way::all() {
        let ran = run(
            &mut way.command(ompvm, &bitcode, &Setting::of(0)),
            dir,
            LIMIT,
        )?;
        if ran.status == 0 {
            ways.push(way);
        }
    }
    Ok(ways)
}

/// The environment of a run, from the program's seed.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Seed.
    pub seed: u64,
    /// Threads.
    pub threads: u64,
    /// `OMP_SCHEDULE`.
    pub schedule: &'static str,
}

impl Setting {
    /// The setting of a seed.
    pub fn of(seed: u64) -> Setting {
        let schedules = ["static", "dynamic,3", "guided", "static,2"];
        Setting {
            seed,
            threads: 1 + seed / 3 % 4,
            schedule: schedules[(seed / 5 % 4) as usize],
        }
    }

    fn apply(&self, command: &mut Command) {
        command
            .env("OMP_NUM_THREADS", self.threads.to_string())
            .env("OMP_SCHEDULE", self.schedule);
    }
}

/// What a comparison found.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Both agree.
    Same,
    /// ompvm does something else.
    Differs {
        /// Native.
        expected: Ran,
        /// ompvm.
        got: Ran,
    },
}

/// A program's text with where and how to build it.
pub struct Case<'a> {
    /// Tools.
    pub tools: &'a Tools,
    /// The ompvm to test.
    pub ompvm: &'a Path,
    /// Folder for files.
    pub dir: PathBuf,
    /// The program.
    pub source: Source,
    /// Environment.
    pub setting: Setting,
}

impl<'a> Case<'a> {
    /// The program of a seed.
    pub fn of(tools: &'a Tools, ompvm: &'a Path, dir: &Path, seed: u64) -> Case<'a> {
        Case {
            tools,
            ompvm,
            dir: dir.to_owned(),
            source: source(seed),
            setting: Setting::of(seed),
        }
    }

    /// The same with another text.
    pub fn with(&self, dir: &Path, text: String) -> Case<'a> {
        Case {
            dir: dir.to_owned(),
            source: Source {
                text,
                cpp: self.source.cpp,
                openmp: self.source.openmp,
            },
            ..*self
        }
    }

    /// The source file's name.
    pub fn file(&self) -> &'static str {
        if self.source.cpp {
            "program.cpp"
        } else {
            "program.c"
        }
    }

    /// Flags of the compiler.
    pub fn flags(&self) -> Vec<&'static str> {
        let mut flags = vec!["-w", "-Werror=return-type", "-Werror=uninitialized"];
        if self.source.cpp {
            flags.extend(["-std=c++17", "-Wno-narrowing"]);
        }
        if self.source.openmp {
            flags.push("-fopenmp");
        }
        flags
    }

    fn clang(&self) -> Command {
        let program = if self.source.cpp { "clang++" } else { "clang" };
        let mut command = Command::new(self.tools.llvm(program));
        command.current_dir(&self.dir).args(self.flags());
        command
    }

    /// Builds bitcode and executable of a level.
    ///
    /// # Errors
    /// The compiler's first complaint.
    pub fn build(&self, level: &str, options: &[&str]) -> Result<(PathBuf, PathBuf), String> {
        write(&self.dir.join(self.file()), &self.source.text)?;
        let (bitcode, native) = (
            self.dir.join(format!("{level}.bc")),
            self.dir.join(format!("{level}.exe")),
        );
        let mut compile = self.clang();
        compile.args(options).args(["-c", "-emit-llvm", "-o"]);
        self.tool(compile.arg(&bitcode).arg(self.file()))?;
        let mut link = self.clang();
        link.args(options).arg("-o").arg(&native).arg(&bitcode);
        link.arg("-lm").arg(format!(
            "-Wl,-rpath,{}",
            self.tools.prefix.join("lib").display()
        ));
        self.tool(&mut link)?;
        Ok((bitcode, native))
    }

    fn tool(&self, command: &mut Command) -> Result<(), String> {
        let ran = run(command, &self.dir, Duration::from_secs(120))?;
        if ran.status == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&ran.stderr).into_owned();
        let error = text
            .lines()
            .find(|l| l.contains("error"))
            .unwrap_or("the compiler failed");
        Err(error.to_owned())
    }

    /// A native run.
    pub fn native(&self, executable: &Path, rounds: u32) -> Result<Ran, String> {
        let mut command = Command::new(executable);
        command.arg(rounds.to_string());
        self.setting.apply(&mut command);
        run(&mut command, &self.dir, LIMIT)
    }

    /// Compares one way with the native run.
    pub fn compare(&self, way: &Way, bitcode: &Path, expected: &Ran) -> Result<Verdict, String> {
        for _ in 0..1 + u32::from(way.again) {
            let mut command = way.command(self.ompvm, bitcode, &self.setting);
            let got = run(&mut command, &self.dir, LIMIT)?;
            if !got.agrees(expected) {
                return Ok(Verdict::Differs {
                    expected: expected.clone(),
                    got,
                });
            }
        }
        Ok(Verdict::Same)
    }

    /// Whether the program is one that every correct implementation runs alike: the native build
    /// at no optimisation says the same, several times.
    pub fn is_sound(&self, expected: &Ran, rounds: u32) -> Result<bool, String> {
        let (_, plain) = self.build("plain", &["-O0"])?;
        for _ in 0..4 {
            if !self.native(&plain, rounds)?.agrees(expected) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
