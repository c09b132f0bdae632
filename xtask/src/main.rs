//! The project's own commands, as `cargo xtask COMMAND`: set-up, demonstration, tests, bitcode of
//! the NAS benchmarks, and benchmarks against peers.
//!
//! This is a Rust program so that it runs on a machine that has only git and cargo. It must build
//! before LLVM is installed, so it depends on nothing that links LLVM.

mod bench;
mod demo;
mod dist;
mod fuzz;
mod limited;
mod npb;
mod process;
mod setup;
mod stress;
mod test;

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
    /// Find LLVM 22 and clang, install what is missing where that is possible
    Setup,
    /// Build everything and run the main job: the NAS Parallel Benchmarks on ompvm
    Demo,
    /// Make the executable to install and to measure, target/dist/ompvm: laid out by a profile
    Dist,
    /// Run every test
    Test {
        /// Only tests whose name contains this
        filter: Option<String>,
        /// `loop`: the programs alone, all of them, with handlers that return to a loop
        #[arg(long)]
        dispatch: Option<test::Dispatch>,
        /// The programs alone, with the executable that `dist` makes
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
    /// Run random programs natively and on every tier, and compare
    Fuzz(fuzz::Options),
    /// Run random nestings of OpenMP constructs that check themselves, under random settings
    Stress(stress::Options),
    /// Measure ompvm beside its peers and print a table
    Bench {
        #[command(subcommand)]
        bench: bench::Bench,
    },
}

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Setup => setup::ensure().map(|tools| {
            println!("{}", tools.describe());
            setup::for_tests(&tools);
        }),
        Command::Demo => demo::run(),
        Command::Dist => dist::start(),
        Command::Test {
            filter, dist: true, ..
        } => test::run_dist(filter.as_deref()),
        Command::Test {
            filter, dispatch, ..
        } => test::run(filter.as_deref(), dispatch),
        Command::Npb { class, names } => npb::build_all(&class, &names),
        Command::Fuzz(options) => fuzz::run(&options),
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
