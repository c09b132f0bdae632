//! Counts of programs that ran with [`super::Config::stats`].
//!
//! Instructions are counted by region and thread, because these are what an OpenMP programmer can
//! change. [`super::compile_report`] reports compilations.

use ompvm_cache::{self as cache, CacheCounts};
use ompvm_interp::stats::{self, FunctionCounts};
use std::fmt;
use std::time::Duration;

/// The instructions of one entered function (main, a parallel region, a callback) on one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatsRow {
    /// Name of the function in the source, with the compiler's suffix.
    pub function: String,
    /// Source location of its head such as `file.c:12`, if the debug information has it.
    pub place: Option<String>,
    /// True for the outlined body of a parallel region.
    pub region: bool,
    /// OpenMP thread number in the team; `None` on a thread unknown to the runtime.
    pub thread: Option<u32>,
    /// Number of times it was entered.
    pub entries: u64,
    /// Number of IR instructions executed.
    pub instructions: u64,
}

/// Counts of the host process: the sums over all programs in it that were started with
/// [`super::Config::stats`], and the use of all caches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Number of IR instructions executed by all threads.
    pub instructions: u64,
    /// The instructions by entered function and thread, most instructions first.
    pub rows: Vec<StatsRow>,
    /// Number of functions lowered to bytecode.
    pub lowered_functions: u64,
    /// Number of IR instructions of the lowered functions.
    pub lowered_instructions: u64,
    /// Time spent lowering by all threads.
    pub lowering: Duration,
    /// Counts of the cache and of compilations.
    pub cache: CacheCounts,
}

impl Stats {
    /// Returns the counts so far.
    pub fn collect() -> Stats {
        let counts = stats::counts();
        let rows: Vec<StatsRow> = counts.rows.into_iter().map(StatsRow::from).collect();
        Stats {
            instructions: rows.iter().map(|r| r.instructions).sum(),
            rows,
            lowered_functions: counts.lowered_functions,
            lowered_instructions: counts.lowered_instructions,
            lowering: counts.lowering,
            cache: cache::counts(),
        }
    }
}

impl From<FunctionCounts> for StatsRow {
    fn from(r: FunctionCounts) -> Self {
        StatsRow {
            function: r.function,
            place: r.place,
            region: r.region,
            thread: r.thread,
            entries: r.entries,
            instructions: r.instructions,
        }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rows[..] {
            [] => writeln!(
                f,
                "instructions executed: not counted, as nothing was interpreted"
            )?,
            // LLVM's code is not counted, so with `opt` and `auto` this covers a part of the run.
            _ => writeln!(f, "instructions executed: {}", self.instructions)?,
        }
        if self.lowered_functions > 0 {
            writeln!(
                f,
                "lowered: {} functions, {} instructions, {:.3} ms",
                self.lowered_functions,
                self.lowered_instructions,
                self.lowering.as_secs_f64() * 1e3
            )?;
        }
        let cache = &self.cache;
        let mut unused = CacheCounts::default();
        unused.llvm = cache.llvm;
        if *cache == unused {
            writeln!(f, "cache: not used")?;
            return self.write_rows(f);
        }
        write!(
            f,
            "cache: {} modules and {} objects loaded, {} compiled, {} entries stored, {} damaged",
            cache.modules, cache.objects, cache.compiled, cache.stored, cache.damaged
        )?;
        if !cache.llvm {
            write!(f, ", LLVM not started")?;
        }
        match &cache.note {
            Some(note) => writeln!(f, "; {note}")?,
            None => writeln!(f)?,
        }
        self.write_rows(f)
    }
}

impl Stats {
    fn write_rows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "{:>16} {:>10} {:>7}  entered function",
            "instructions", "entries", "thread"
        )?;
        for row in &self.rows {
            let thread = row.thread.map_or("-".into(), |t| t.to_string());
            let kind = if row.region { "region " } else { "" };
            let place = row.place.as_deref().unwrap_or("-");
            writeln!(
                f,
                "{:>16} {:>10} {thread:>7}  {kind}{} {place}",
                row.instructions, row.entries, row.function
            )?;
        }
        Ok(())
    }
}
