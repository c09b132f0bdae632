//! The project's own commands, as `cargo xtask COMMAND`: set-up, demonstration, tests, bitcode of
//! the NAS benchmarks, and benchmarks against peers.
//!
//! This is a Rust program so that it runs on a machine that has only git and cargo. It must build
//! before LLVM is installed, so it depends on nothing that links LLVM.

mod bench;
mod count;
mod demo;
mod dist;
mod fuzz;
mod interface;
mod named;
mod npb;
mod oldest;
mod package;
mod process;
mod setup;
mod stress;
mod test;
mod timed;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Build, test, demonstrate and measure ompvm",
    version
)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Find LLVM 22 and clang, or install them if possible
    Setup,
    /// Build everything and run the NAS Parallel Benchmarks on ompvm
    Demo,
    /// Build target/dist/ompvm, the executable to install and to measure, laid out by a profile
    Dist,
    /// Make a tarball, a Debian package and a crate below target/package, and try each in a clean root
    Package(package::Options),
    /// Record what is new in the public interfaces of the crate and of the C library, below tests/interface
    Interface,
    /// Run every test, or those of a name in the development build
    Test {
        /// Run only tests whose name contains this, and build only what they need
        filter: Option<String>,
        /// Run the tests of this name in the release build
        #[arg(long, requires = "filter", conflicts_with = "dispatch")]
        release: bool,
        /// `loop`: run all programs, and only these, with handlers that return to a loop
        #[arg(long)]
        dispatch: Option<test::Dispatch>,
        /// Run only the programs, with the executable that `dist` builds
        #[arg(long, conflicts_with = "dispatch")]
        dist: bool,
    },
    /// Build the NAS benchmarks: npb/bc/NAME.CLASS.bc and npb/bin/NAME.CLASS
    Npb {
        /// Classes, separated by commas
        #[arg(long, default_value = "S", value_delimiter = ',')]
        class: Vec<npb::Class>,
        /// Benchmarks (default: all eight)
        names: Vec<npb::Name>,
    },
    /// Check the sources with the oldest supported compiler
    Oldest,
    /// Count what the house rules ask for, in revisions and the working tree
    Count {
        /// Revisions of git
        revisions: Vec<String>,
    },
    /// Compare random programs natively and in every tier
    Fuzz(fuzz::Options),
    /// Compare random programs that move data between host and emulated devices
    FuzzCoherence(fuzz::coherence::Options),
    /// Hand damaged bytes, values and calls to everything that reads them
    FuzzInputs(fuzz::inputs::Options),
    /// Run random, self-checking nestings of OpenMP constructs under random settings
    Stress(stress::Options),
    /// Measure ompvm and its peers and print a table
    Bench {
        #[command(subcommand)]
        bench: bench::Bench,
    },
}

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Setup => setup::ensure().map(|tools| {
            println!("{}", tools.describe());
            setup::install_test_requirements(&tools);
        }),
        Command::Demo => demo::run(),
        Command::Dist => dist::build_and_print(),
        Command::Package(options) => package::run(&options),
        Command::Interface => interface::run(),
        Command::Test {
            filter, dist: true, ..
        } => test::run_dist(filter.as_deref()),
        Command::Test {
            filter: Some(filter),
            release: false,
            dispatch: None,
            ..
        } => named::run(&filter),
        Command::Test {
            filter, dispatch, ..
        } => test::run(filter.as_deref(), dispatch),
        Command::Npb { class, names } => npb::build_all(&class, &names),
        Command::Oldest => oldest::check(),
        Command::Count { revisions } => count::run(&revisions),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::FuzzCoherence(options) => fuzz::coherence::start(&options),
        Command::FuzzInputs(options) => fuzz::inputs::run(&options),
        Command::Stress(options) => stress::run(&options),
        Command::Bench { bench } => bench::run(&bench),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
