//! Comparative benchmarks: ours and the peers' runs alternate; tables have medians and ratios.
//!
//! Each benchmark prints a Markdown table, then `geomean R` (ours over the peer, smaller is better)
//! and, if rows are constructs, `worst R`. `--json FILE` writes the same.

mod bench_root;
mod cache;
mod devices;
pub mod epcc;
mod hello;
mod interp;
mod npb;
mod offload;
mod pack;
mod ranks;
mod steady;
mod table;

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// A benchmark.
#[derive(Subcommand)]
pub enum Bench {
    /// The interpreter: nanoseconds per IR instruction, slowdown against clang -O2, speed against
    /// lli's interpreter
    Interp(Options),
    /// OpenMP constructs by the EPCC method: our runtime against libomp under one executable, and
    /// libgomp
    Epcc(epcc::EpccOptions),
    /// Programs made of tasks: our runtime against libomp with one executable, and libgomp
    Tasks(epcc::EpccOptions),
    /// The NAS benchmarks as whole processes against clang -O2 and -O3 -march=native
    Npb(npb::NpbOptions),
    /// `target` regions compared with CUDA, and the offload tests on a device
    Offload(offload::OffloadOptions),
    /// Loops on several devices together, or on those of several ranks, compared with one device
    Devices(devices::DevicesOptions),
    /// Bytes that ranks send each other for a region, simulated for up to 1,024 ranks
    Ranks,
    /// Time of a program with one parallel region: native, ompvm cold and warm, lli
    Hello(hello::HelloOptions),
    /// The NAS benchmarks called repeatedly in one process
    Steady(steady::SteadyOptions),
}

/// Options common to several benchmarks.
#[derive(Args, Clone)]
pub struct Options {
    /// Number of counted runs of each side, after one warm-up
    #[arg(long, short = 'n', default_value_t = 5)]
    pub runs: usize,
    /// Number of threads, if the benchmark is parallel
    #[arg(long, default_value_t = 2)]
    pub threads: usize,
    /// Write the table as JSON too
    #[arg(long)]
    pub json: Option<PathBuf>,
}

/// Runs a benchmark.
pub fn run(bench: &Bench) -> Result<(), String> {
    match bench {
        Bench::Interp(options) => interp::run(options),
        Bench::Epcc(options) => epcc::run(options),
        Bench::Tasks(options) => epcc::tasks(options),
        Bench::Npb(options) => npb::run(options),
        Bench::Offload(options) => offload::pack_and_run(options),
        Bench::Devices(options) => devices::pack_and_run(options),
        Bench::Ranks => ranks::simulate(),
        Bench::Hello(options) => hello::run(options),
        Bench::Steady(options) => steady::run(options),
    }
}
