//! One generated program: builds it natively and as bitcode, runs it in every way, and compares.
//!
//! Only status and output are compared, because generated programs print everything they compute.
//! The selection of programs and the time limit belong to `fuzz`.

use super::generate::{Source, source};
use crate::setup::Tools;
use crate::timed::{TimedRun, run, write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Optimization levels of a program.
pub const LEVELS: [(&str, &[&str]); 3] = [
    ("O0", &["-O0"]),
    ("O2", &["-O2"]),
    ("O3n", &["-O3", "-march=native"]),
];

/// Optimization levels for another machine with an unknown processor.
pub const PORTABLE: [(&str, &[&str]); 3] = [
    ("O0", &["-O0"]),
    ("O2", &["-O2"]),
    ("O3v3", &["-O3", "-march=x86-64-v3"]),
];

/// Time limit of a run.
pub const LIMIT: Duration = Duration::from_secs(60);

/// A way to run ompvm.
#[derive(Clone, Debug)]
pub struct RunMode {
    /// Name in reports.
    pub name: String,
    /// Options of `ompvm run`.
    pub options: Vec<String>,
    /// Environment variables.
    pub env: Vec<(String, String)>,
    /// The program's argument: its number of rounds.
    pub rounds: u32,
    /// True if a second run, which uses the cache of the first, is compared as well.
    pub again: bool,
}

impl RunMode {
    fn new(name: &str, options: &[&str], rounds: u32) -> RunMode {
        RunMode {
            name: name.into(),
            options: options.iter().map(|o| (*o).to_owned()).collect(),
            env: Vec::new(),
            rounds,
            again: false,
        }
    }

    /// Returns all ways; [`present`] selects those that an ompvm supports.
    pub fn all() -> Vec<RunMode> {
        let mut ways = vec![
            RunMode::new("interp", &["--tier=interp"], 1),
            RunMode::new("baseline", &["--tier=baseline"], 1),
            RunMode::new("opt", &["--tier=opt", "--no-cache"], 1),
            RunMode::new("auto", &["--tier=auto", "--no-cache"], 8),
            // Runs with the cache of earlier runs and adds to it.
            RunMode {
                again: true,
                ..RunMode::new("kept", &["--tier=auto"], 4)
            },
        ];
        // The lowest bit of the seed selects the tier that runs until LLVM has compiled
        // (`tier::chaos`).
        for (name, choices) in [("chaos", "SEED1"), ("chaos-baseline", "SEED0")] {
            ways.push(RunMode {
                env: vec![("OMPVM_CHAOS".into(), choices.into())],
                ..RunMode::new(name, &["--tier=auto"], 2)
            });
        }
        ways
    }

    /// Returns the command for a program.
    pub fn command(&self, ompvm: &Path, bitcode: &Path, setting: &Environment) -> Command {
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

/// Returns the ways that this ompvm supports, by running an empty program.
pub fn present(tools: &Tools, ompvm: &Path, dir: &Path) -> Result<Vec<RunMode>, String> {
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
    for mode in RunMode::all() {
        let ran = run(
            &mut mode.command(ompvm, &bitcode, &Environment::from_seed(0)),
            dir,
            LIMIT,
        )?;
        if ran.status == 0 {
            ways.push(mode);
        }
    }
    Ok(ways)
}

/// Environment of a run, derived from the program's seed.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    /// Seed of the program.
    pub seed: u64,
    /// Number of threads.
    pub threads: u64,
    /// `OMP_SCHEDULE`.
    pub schedule: &'static str,
}

impl Environment {
    /// Returns the setting of a seed.
    pub fn from_seed(seed: u64) -> Environment {
        let schedules = ["static", "dynamic,3", "guided", "static,2"];
        Environment {
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

/// Result of a comparison.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Both runs agree.
    Same,
    /// ompvm behaves differently.
    Differs {
        /// Native run.
        expected: TimedRun,
        /// Run by ompvm.
        got: TimedRun,
    },
}

/// A program with its location and build tools.
pub struct Case<'a> {
    /// Compilers.
    pub tools: &'a Tools,
    /// The ompvm under test.
    pub ompvm: &'a Path,
    /// Folder for files.
    pub dir: PathBuf,
    /// Source text.
    pub source: Source,
    /// Environment.
    pub setting: Environment,
}

impl<'a> Case<'a> {
    /// Returns the program of a seed.
    pub fn from_seed(tools: &'a Tools, ompvm: &'a Path, dir: &Path, seed: u64) -> Case<'a> {
        Case {
            tools,
            ompvm,
            dir: dir.to_owned(),
            source: source(seed),
            setting: Environment::from_seed(seed),
        }
    }

    /// Returns the same case with another text.
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

    /// Returns the name of the source file.
    pub fn file(&self) -> &'static str {
        if self.source.cpp {
            "program.cpp"
        } else {
            "program.c"
        }
    }

    /// Returns the compiler's flags.
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

    /// Builds bitcode and executable at one level.
    ///
    /// # Errors
    /// The compiler's first error.
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

    /// Runs the executable natively.
    pub fn native(&self, executable: &Path, rounds: u32) -> Result<TimedRun, String> {
        let mut command = Command::new(executable);
        command.arg(rounds.to_string());
        self.setting.apply(&mut command);
        run(&mut command, &self.dir, LIMIT)
    }

    /// Compares one way with the native run.
    pub fn compare(
        &self,
        mode: &RunMode,
        bitcode: &Path,
        expected: &TimedRun,
    ) -> Result<Verdict, String> {
        for _ in 0..1 + u32::from(mode.again) {
            let mut command = mode.command(self.ompvm, bitcode, &self.setting);
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

    /// Returns true if every correct implementation must run the program alike: several native runs
    /// without optimization agree with `expected`.
    pub fn is_sound(&self, expected: &TimedRun, rounds: u32) -> Result<bool, String> {
        let (_, plain) = self.build("plain", &["-O0"])?;
        for _ in 0..4 {
            if !self.native(&plain, rounds)?.agrees(expected) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
