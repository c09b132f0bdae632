//! Definitions of the command line: ompvm's options before the file, the guest's arguments after
//! it.
//!
//! They are in one place, because `--help`, the parser and the tests use the same definitions. The
//! commands' modules implement the options.

use super::compare::CompareOptions;
use super::link_options::{self, OptionMatch};
use crate::api::{Config, find_archive};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use ompvm_support::log::LogFilter;
use ompvm_support::message::Format;
use ompvm_support::settings;
use std::ffi::OsString;
use std::path::{Component, PathBuf};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  clang-22 -O2 -fopenmp -g -c -emit-llvm hello.c -o hello.bc
  ompvm hello.bc one two               run it; `run` is the default command
  OMP_NUM_THREADS=4 ompvm run --stats hello.bc
  ompvm run --with solver.bc main.bc -x      link two files; -x goes to the guest
  ompvm run -l blas -L /opt/lib solver.bc    resolve symbols in a native library
  clang-22 -fopenmp -c -emit-llvm hello.c -o - | ompvm run -
  ompvm run --cflags='-O3 -DN=5' hello.c     compile a source with clang, and run it
  ompvm compare solver.bc              beside what clang -O2 makes of it
  ompvm cc -O2 -fopenmp hello.c -o hello     a native executable that runs under ompvm
  ompvm inspect hello.bc               functions, regions, runtime entries, what is unsupported

Exit status: the guest's own; 125 when ompvm itself cannot go on; 2 for wrong usage.";

#[derive(Parser)]
#[command(
    name = "ompvm",
    version,
    about = "Runs the LLVM bitcode of OpenMP programs (clang -fopenmp) without libomp",
    override_usage = "ompvm [run] [OPTIONS] FILE [ARGUMENTS]...\n       \
                      ompvm repl\n       \
                      ompvm inspect FILE...\n       \
                      ompvm compare [OPTIONS] FILE [ARGUMENTS]...",
    after_help = EXAMPLES
)]
pub struct CommandLine {
    /// Appearance of messages.
    #[command(flatten)]
    pub messages: MessageOptions,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

// The options of all commands. clap would take a doc comment for the program's description.
#[derive(Args, Clone, Copy, Debug)]
pub struct MessageOptions {
    /// Print messages as `text`, or as `json`, one object a line [also: `OMPVM_MESSAGE_FORMAT`]
    #[arg(long, value_name = "FORMAT", global = true, value_parser = message_format)]
    pub message_format: Option<Format>,
    /// Colour messages; `auto` does so on a terminal, unless `NO_COLOR` is set
    #[arg(long, value_enum, value_name = "WHEN", global = true)]
    pub color: Option<Color>,
}

/// Colours of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Color {
    /// On a terminal.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// Parses the value of `--message-format`.
fn message_format(text: &str) -> Result<Format, String> {
    Format::parse(text).ok_or_else(|| "expected `text` or `json`".into())
}

/// A command with its options.
#[derive(Subcommand)]
pub enum Command {
    /// Run a program (the default)
    Run(Box<RunOptions>),
    /// Read C with OpenMP cell by cell, and run each cell at once
    Repl(ReplOptions),
    /// List a file's contents and unsupported constructs
    Inspect(InspectOptions),
    /// Compile a program into the cache ahead of time
    Compile(CompileOptions),
    /// Show or empty the cache of compiled programs
    Cache(CacheOptions),
    /// Install names of the compilers, libraries, headers, manual pages, completions and files for
    /// CMake and pkg-config under a prefix
    Install(InstallOptions),
    /// Print completions for a shell
    Completions(CompletionsOptions),
    /// Run a program here and as a native executable, side by side
    Compare(Box<CompareOptions>),
}

/// The tier that executes the guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Tier {
    /// Interpret everything.
    Interp,
    /// Compile each function at its first call with ompvm's own quick compiler.
    Baseline,
    /// Compile everything before the program starts.
    Opt,
    /// Start at once, and compile hot code in the background.
    Auto,
}

/// Value of `--device`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Device {
    /// Devices of a kind.
    Kind(crate::api::Devices),
    /// Number of the default device.
    Number(u32),
}

impl std::str::FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(number) = text.parse() {
            return Ok(Device::Number(number));
        }
        crate::api::parse_devices(text)
            .map(Device::Kind)
            .ok_or_else(|| {
                "expected `cpu`, `emulated`, `emulated:COUNT`, `host` or a number".into()
            })
    }
}

/// Parses the value of `--devices`.
fn device_group(text: &str) -> Result<crate::api::DeviceGroup, String> {
    crate::api::DeviceGroup::parse(text).ok_or_else(|| {
        "expected `all`, `auto`, `each`, a number of devices, or a list of numbers and `cpu`".into()
    })
}

/// Format in which a profiler reads compiled code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Profile {
    /// Names, in /tmp/perf-PID.map, for `perf report`.
    Perfmap,
    /// Names, lines and code, in jit-PID.dump, for `perf inject --jit`.
    Jitdump,
}

/// Offload of parallel loops outside of `target` regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Offload {
    /// Run none of them on a device.
    Off,
    /// Run those that are faster on a device.
    Auto,
    /// Run all that can on a device.
    Force,
}

/// Contraction of `a * b + c` to one rounding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum FpContract {
    /// Round twice, as a native program for any x86-64 does.
    #[default]
    Off,
    /// Round once if the source allows it and the processor supports it.
    On,
}

/// Treatment of denormals when the program starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum FlushDenormals {
    /// Flush them if the bitcode was compiled with `-ffast-math`.
    #[default]
    Auto,
    /// Flush them, as a native program linked with `-ffast-math` does.
    On,
    /// Keep them, as a native program linked with `-mno-daz-ftz` does.
    Off,
}

/// Options of `run`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RunOptions {
    /// Tier that executes the guest
    #[arg(long, value_enum, default_value_t = Tier::Auto)]
    pub tier: Tier,
    /// Print when and why this function was compiled, or why not, at exit; its symbol or its name
    /// in the source, or a part of it; may be given several times
    #[arg(long, value_name = "FUNCTION")]
    pub explain: Vec<String>,
    /// Print executed instructions, per region and thread, and compilations at exit
    #[arg(long)]
    pub stats: bool,
    /// Print what ompvm does, such as `tier=debug,offload=trace` [also: `OMPVM_LOG`]
    #[arg(long, value_name = "FILTER")]
    pub log: Option<LogFilter>,
    /// Report a deadlock once it has lasted for this long (10 s), with the place where each thread
    /// waits, and end the program with status 125 [default: `OMPVM_WATCHDOG`, else off]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true,
          default_missing_value = "10", value_parser = seconds)]
    pub watchdog: Option<Watchdog>,
    /// Write a timeline of compilations and of the tiers that take the processor time
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// Neither load compiled code from the cache nor store it
    #[arg(long)]
    pub no_cache: bool,
    /// Suppress the line at exit on the time that compiling beforehand would have saved
    /// [also: `OMPVM_ADVICE=off`]
    #[arg(long)]
    pub no_advice: bool,
    /// Round `a * b + c` once where the source allows it, as `clang -march=native` does
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub fp_contract: FpContract,
    /// Flush denormals to zero, as programs linked natively with `-ffast-math` do
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub flush_denormals: FlushDenormals,
    /// Describe compiled code to perf
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub profile: Option<Profile>,
    /// Describe compiled code to gdb; everything is compiled before the program starts
    #[arg(long)]
    pub gdb: bool,
    /// Start although the program uses unsupported constructs; fail when one is reached
    #[arg(long)]
    pub late: bool,
    /// Allow only listed native functions: those that compute in memory, write to the given streams, and
    /// read the time; no boundary against hostile programs [also: `OMPVM_DENY_NATIVE`]
    #[arg(long)]
    pub deny_native: bool,
    /// With `--deny-native`, allow these functions, too; `@c++`, `@threads`, `@environment`,
    /// `@libraries` and `@asm` are groups [also: `OMPVM_ALLOW_NATIVE`]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub allow_native: Vec<String>,
    /// Show all functions and variables of the program to libraries that it opens, as linkers do with
    /// `-rdynamic`
    #[arg(long)]
    pub export_dynamic: bool,
    /// Run `target` regions on `emulated` devices (`emulated:2`: two), the processors as a device
    /// (`cpu`), the `host`, or device N
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<Device>,
    /// Run regions on several devices together: `all`, `auto`, a COUNT, or numbers such as `0,2`;
    /// with the processors: `all,cpu`, `0,cpu`; `each`: number those of all ranks of MPI
    /// [default: `OMPVM_DEVICES`, else one]
    #[arg(long, value_name = "DEVICES", value_parser = device_group)]
    pub devices: Option<crate::api::DeviceGroup>,
    /// Run parallel loops outside of `target` regions on a device, too [default: `OMPVM_OFFLOAD`,
    /// else off]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub offload: Option<Offload>,
    /// Print where each `target` region ran, the bytes moved, the time, and how several devices
    /// divided it, at exit
    #[arg(long)]
    pub offload_report: bool,
    /// The guest's `argv[0]`, for guests that execute themselves
    #[arg(long, value_name = "NAME", hide = true)]
    pub argv0: Option<OsString>,
    /// The program has started itself, and goes on natively if it has no bitcode
    #[arg(long, hide = true)]
    pub self_started: bool,
    /// Link this file in, too: bitcode, textual IR, an archive, a native object or shared library
    #[arg(long = "with", value_name = "FILE")]
    pub with: Vec<PathBuf>,
    /// Sources and libraries.
    #[command(flatten)]
    pub build: BuildOptions,
    /// Bitcode, textual IR, a source in C, C++ or Fortran, or a native file with bitcode in it (`-`
    /// is the standard input, with bitcode), and the guest's arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = false,
        value_names = ["FILE", "ARGUMENTS"]
    )]
    pub program: Vec<OsString>,
}

/// Options for sources and libraries, which `run`, `repl` and `compile` share.
#[derive(Args, Debug)]
pub struct BuildOptions {
    /// Compile sources with these options, too, separated by blanks; may be given several times
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub cflags: Vec<String>,
    /// Resolve symbols in this native library
    #[arg(short = 'l', value_name = "NAME")]
    pub libraries: Vec<String>,
    /// Search this folder for libraries first
    #[arg(short = 'L', value_name = "DIR")]
    pub library_paths: Vec<PathBuf>,
}

impl BuildOptions {
    /// Moves the archives among the libraries to the files of the program, because their members may
    /// be bitcode.
    pub fn take_archives(&mut self, files: &mut Vec<PathBuf>) {
        let folders = &self.library_paths;
        self.libraries
            .retain(|name| match find_archive(name, folders) {
                Some(archive) => {
                    files.push(archive);
                    false
                }
                None => true,
            });
    }

    /// Adds the libraries to the configuration of a start.
    pub fn configure(self, mut config: Config) -> Config {
        for name in self.libraries {
            config = config.library(name);
        }
        for path in self.library_paths {
            config = config.library_path(path);
        }
        config
    }
}

/// Options of `repl`.
#[derive(Args, Debug)]
pub struct ReplOptions {
    /// Tier that executes the cells
    #[arg(long, value_enum, default_value_t = Tier::Auto)]
    pub tier: Tier,
    /// Sources and libraries.
    #[command(flatten)]
    pub build: BuildOptions,
    /// Files to run first, each as one cell
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Options of `inspect`.
#[derive(Args, Debug)]
pub struct InspectOptions {
    /// Print instead the PTX of the device images for a GPU architecture (`sm_90`)
    #[arg(long, value_name = "ARCH", value_parser = architecture)]
    pub ptx: Option<u32>,
    /// Print instead which parallel regions can run on a device without `target`, and why not; with
    /// `--ptx` their code
    #[arg(long)]
    pub offload: bool,
    /// Print instead the machine code that the baseline tier makes of a function
    #[arg(long, value_name = "FUNCTION")]
    pub baseline: Option<String>,
    /// Print instead the textual IR of one file after these passes, for the tests of passes
    #[arg(long = "pass", value_name = "NAME [OPTION=VALUE]...", hide = true)]
    pub passes: Vec<String>,
    /// Compile sources with these options, too, as for `run`
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub cflags: Vec<String>,
    /// The bitcode, textual IR or source files, linked together
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Time limit of the watchdog; `None` switches it off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watchdog(pub Option<Duration>);

/// Parses a number of seconds.
fn seconds(text: &str) -> Result<Watchdog, String> {
    let limit = settings::timeout(text).map(Watchdog);
    limit.ok_or_else(|| "expected a number of seconds such as 10".to_owned())
}

/// Parses a GPU architecture such as `sm_90`.
fn architecture(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix("sm_").unwrap_or(text);
    let known = digits.parse().ok().filter(|n| (70..=199).contains(n));
    known.ok_or_else(|| "expected a GPU architecture from sm_70 on, such as sm_90".to_owned())
}

/// Options of `compile`.
#[derive(Args, Debug)]
pub struct CompileOptions {
    /// Sources and libraries.
    #[command(flatten)]
    pub build: BuildOptions,
    /// Round `a * b + c` once where the source allows it, as for `run`
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub fp_contract: FpContract,
    /// Print the compilations
    #[arg(long)]
    pub stats: bool,
    /// The bitcode, textual IR or source files, linked together, in the order in which they will be run
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Options of `install`.
#[derive(Args, Debug)]
pub struct InstallOptions {
    /// Copy the executable and the libraries; without it, link to them. The copies can be moved as one
    /// tree
    #[arg(long)]
    pub copy: bool,
    /// Folder of libraries below the prefix, such as `lib/x86_64-linux-gnu`
    #[arg(long, value_name = "DIR", default_value = "lib", value_parser = below_prefix)]
    pub libdir: PathBuf,
    /// The prefix, such as `~/.local`
    #[arg(required = true, value_name = "PREFIX")]
    pub prefix: PathBuf,
}

/// Parses a folder below a prefix.
fn below_prefix(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let plain = |part| matches!(part, Component::Normal(_));
    match !text.is_empty() && path.components().all(plain) {
        true => Ok(path),
        false => Err("expected a folder below the prefix, such as lib64".to_owned()),
    }
}

/// Options of `completions`.
#[derive(Args, Debug)]
pub struct CompletionsOptions {
    /// The shell that reads them
    #[arg(value_enum)]
    pub shell: Shell,
}

/// A shell that has completions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Shell {
    /// For `source <(ompvm completions bash)`, or a file in `share/bash-completion/completions`.
    Bash,
    /// For a file `_ompvm` in a folder of `fpath`.
    Zsh,
    /// For `ompvm completions fish | source`.
    Fish,
}

/// Options of `cache`.
#[derive(Args, Debug)]
pub struct CacheOptions {
    /// Action
    #[arg(value_enum)]
    pub action: CacheAction,
}

/// Action of `cache`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum CacheAction {
    /// Print its folder, contents and size limit.
    Stats,
    /// Remove everything in it.
    Clear,
}

/// Returns the definition of the command line.
pub fn definition() -> clap::Command {
    CommandLine::command()
}

/// The first words that are commands.
const WORDS: [&str; 9] = [
    "run",
    "repl",
    "inspect",
    "compile",
    "cache",
    "compare",
    "install",
    "completions",
    "help",
];

/// Moves a command to the front of the options of all commands that stand before it.
pub fn put_command_first(arguments: &mut [OsString]) {
    let mut at = 1;
    while let Some(word) = arguments.get(at).and_then(|word| word.to_str()) {
        at += match word.split_once('=') {
            Some(("--message-format" | "--color", _)) => 1,
            None if matches!(word, "--message-format" | "--color") => 2,
            _ => break,
        };
    }
    if arguments
        .get(at)
        .is_some_and(|word| WORDS.iter().any(|w| word == w))
    {
        arguments[1..=at].rotate_right(1);
    }
}

/// Parses the command line. A first word that is not a command implies `run`.
pub fn parse(mut arguments: Vec<OsString>) -> Result<CommandLine, clap::Error> {
    put_command_first(&mut arguments);
    let own = ["-h", "--help", "-V", "--version"];
    if let Some(first) = arguments.get(1)
        && !WORDS.iter().any(|w| first == w)
        && !own.iter().any(|w| first == w)
    {
        arguments.insert(1, "run".into());
    }
    let arguments = without_compiler_options(arguments)?;
    CommandLine::try_parse_from(arguments)
}

/// Translates options of compilers' link lines (see [`link_options`]).
fn without_compiler_options(mut arguments: Vec<OsString>) -> Result<Vec<OsString>, clap::Error> {
    let Some(name) = arguments.get(1).and_then(|n| n.to_str()) else {
        return Ok(arguments);
    };
    let line = CommandLine::command();
    let Some(command) = line.find_subcommand(name) else {
        return Ok(arguments);
    };
    let takes_value =
        |option: &clap::Arg| option.get_action().takes_values() && !option.is_require_equals_set();
    let own = |word: &str| {
        let found = |option: Option<&clap::Arg>, joined: bool| match option {
            Some(option) if takes_value(option) && !joined => OptionMatch::WithNext,
            Some(option) if option.get_action().takes_values() || !joined => OptionMatch::Whole,
            _ => OptionMatch::None,
        };
        let mut options = command.get_arguments().chain(line.get_arguments());
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long
                .split_once('=')
                .map_or((long, None), |(n, v)| (n, Some(v)));
            return found(
                options.find(|o| o.get_long() == Some(name)),
                value.is_some(),
            );
        }
        let mut letters = word.chars().skip(1);
        let letter = letters.next();
        let option = options.find(|o| letter.is_some() && o.get_short() == letter);
        found(option, letters.next().is_some())
    };
    let files = matches!(name, "compile" | "inspect");
    let rest = arguments.split_off(2);
    arguments.extend(link_options::translate(rest, &own, files)?);
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> RunOptions {
        let words = std::iter::once("ompvm").chain(words.iter().copied());
        match parse(words.map(OsString::from).collect()) {
            Ok(CommandLine {
                command: Command::Run(options),
                ..
            }) => *options,
            _ => panic!("should be a run"),
        }
    }

    #[test]
    fn a_file_alone_is_run() {
        let options = run(&["a.bc", "one", "--two", "-l"]);
        assert_eq!(options.program, ["a.bc", "one", "--two", "-l"]);
        assert!(options.build.libraries.is_empty());
        assert_eq!(options.tier, Tier::Auto);
    }

    #[test]
    fn options_come_before_the_file() {
        let options = run(&["--stats", "-l", "m", "--tier=interp", "a.bc", "--stats"]);
        assert!(options.stats);
        assert_eq!(options.build.libraries, ["m"]);
        assert_eq!(options.tier, Tier::Interp);
        assert_eq!(options.program, ["a.bc", "--stats"]);
    }

    #[test]
    fn the_watchdog_takes_its_time_behind_an_equals_sign() {
        let limit = |words: &[&str]| run(words).watchdog.and_then(|w| w.0);
        assert_eq!(limit(&["a.bc"]), None);
        let options = run(&["--watchdog", "a.bc", "x"]);
        assert_eq!(
            options.watchdog,
            Some(Watchdog(Some(Duration::from_secs(10))))
        );
        assert_eq!(options.program, ["a.bc", "x"]);
        let half = Some(Duration::from_millis(500));
        assert_eq!(limit(&["run", "--watchdog=.5", "a.bc"]), half);
        assert_eq!(
            run(&["--watchdog=0", "a.bc"]).watchdog,
            Some(Watchdog(None))
        );
        let wrong = ["ompvm", "run", "--watchdog=soon", "a.bc"];
        assert!(parse(wrong.map(OsString::from).to_vec()).is_err());
    }

    #[test]
    fn options_of_messages_may_precede_the_command() {
        for words in [
            "ompvm --message-format json --color=never inspect a.bc",
            "ompvm inspect --message-format=json a.bc",
        ] {
            let line = parse(words.split(' ').map(OsString::from).collect()).unwrap();
            assert_eq!(line.messages.message_format, Some(Format::Json));
            assert!(matches!(line.command, Command::Inspect(_)));
        }
        assert_eq!(
            run(&["--color=always", "a.bc", "--color"]).program,
            ["a.bc", "--color"]
        );
    }

    #[test]
    fn two_dashes_end_the_options() {
        let options = run(&["run", "a.bc", "--", "-x"]);
        assert_eq!(options.program[0], "a.bc");
        assert!(options.program.contains(&OsString::from("-x")));
    }

    #[test]
    fn an_unknown_option_is_wrong_usage() {
        let words = ["ompvm", "run", "--nonsense"].map(OsString::from).to_vec();
        assert_eq!(parse(words).err().map(|e| e.exit_code()), Some(2));
    }
}
