//! `ompvm completions`: completions for shells, and manual pages, from the definition of the command
//! line.
//!
//! The compilers take clang's options and are not part of that definition, so they are added to it
//! here with their names only. Leaves to others: where the files go (`install`).

use super::args::{self, CompletionsOptions, Shell};
use clap::Command;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Name of the program in completions and manual pages.
const PROGRAM: &str = "ompvm";

/// The compilers: name, language, and the program that gets the options.
const COMPILERS: [(&str, &str, &str); 3] = [
    ("cc", "C", "clang"),
    ("c++", "C++", "clang"),
    ("fc", "Fortran", "flang"),
];

/// Prints the completions for a shell.
pub fn run(options: &CompletionsOptions) -> ExitCode {
    // A closed pipe is the reader's choice, and no failure.
    let _ = io::stdout().write_all(&completions(options.shell));
    ExitCode::SUCCESS
}

/// Returns the completions for a shell.
pub fn completions(shell: Shell) -> Vec<u8> {
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut definition(), PROGRAM, &mut text);
    text
}

/// Writes the manual page of the program, and one for each command, into a folder.
///
/// # Errors
/// Returns the error of a file that cannot be written.
pub fn write_manual(folder: &Path) -> io::Result<()> {
    clap_mangen::generate_to(definition().disable_help_subcommand(true), folder)
}

/// Returns the definition of the command line, with the compilers.
fn definition() -> Command {
    COMPILERS.iter().fold(args::definition(), |line, compiler| {
        let (name, language, program) = compiler;
        let about = format!("Compile and link {language} natively, with the bitcode inside");
        let long = format!(
            "{about}.\n\nEvery option goes to {program} 22, or to the compiler that the environment names \
             (OMPVM_CLANG, OMPVM_FLANG). An executable runs under ompvm when it is started; with OMPVM_OFF=1 it \
             runs natively."
        );
        let words = clap::Arg::new("ARGUMENTS")
            .help(format!("Options of {program}, and files"))
            .num_args(0..)
            .trailing_var_arg(true)
            .value_hint(clap::ValueHint::FilePath);
        let command = Command::new(*name).about(about).long_about(long);
        line.subcommand(command.arg(words).disable_help_flag(true))
    })
}
