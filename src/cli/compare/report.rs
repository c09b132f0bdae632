//! Reports of a comparison: text, CSV and JSON.
//!
//! Ratios of pairs are printed beside the medians, because their spread shows how far to trust the
//! machine. The figures are not judged.

use super::native::Native;
use super::outputs::{Difference, Verdict};
use super::{CompareOptions, Series};
use clap::ValueEnum;
use ompvm_measure::{Run, Spread};
use serde_json::{Value, json};
use std::path::Path;

/// Accessor of one figure of a run.
type Figure = fn(&Run) -> f64;

const WALL: Figure = |r| r.wall;
const CPU: Figure = |r| r.cpu;
const PEAK: Figure = |r| r.peak as f64;

impl Series {
    /// Returns the spread of one figure, ours and theirs.
    pub fn spreads(&self, figure: Figure) -> [Spread; 2] {
        [
            Spread::of(self.pairs.iter().map(|p| figure(&p.0))),
            Spread::of(self.pairs.iter().map(|p| figure(&p.1))),
        ]
    }

    /// Returns the spread of the wall clock, ours and theirs.
    pub fn walls(&self) -> [Spread; 2] {
        self.spreads(WALL)
    }

    /// Returns the spread of the pairs' ratios, ours over theirs.
    fn ratio(&self, figure: Figure) -> Spread {
        Spread::of(self.pairs.iter().map(|p| figure(&p.0) / figure(&p.1)))
    }
}

/// Returns a heading with the two sides and the settings.
pub fn heading(options: &CompareOptions, file: &Path, native: &Native) -> String {
    let variables: Vec<String> = openmp_variables()
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!(
        "{}: ompvm --tier={} (cache {}) against {}\n{} pairs in turn after {} not counted; {}",
        file.display(),
        name(&options.tier),
        name(&options.cache),
        native.described,
        options.runs,
        options.warmup,
        if variables.is_empty() {
            "no OMP_ variable is set".to_owned()
        } else {
            variables.join(" ")
        }
    )
}

fn name(value: &impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map(|v| v.get_name().to_owned())
        .unwrap_or_default()
}

fn openmp_variables() -> Vec<(String, String)> {
    let mut found: Vec<_> = std::env::vars()
        .filter(|(name, _)| name.starts_with("OMP_"))
        .collect();
    found.sort();
    found
}

/// Returns a table with one row per figure and team size.
pub fn table(all: &[Series]) -> String {
    let mut rows = vec![
        [
            "threads", "", "ompvm", "native", "ratio", "lowest", "highest",
        ]
        .map(str::to_owned),
    ];
    for series in all {
        let threads = series.threads.map_or("-".into(), |t| t.to_string());
        let megabytes: Figure = |r| PEAK(r) / 1e6;
        let figures: [(&str, Figure, usize); 3] = [
            ("wall, s", WALL, 4),
            ("cpu, s", CPU, 4),
            ("peak memory, MB", megabytes, 1),
        ];
        for (what, figure, places) in figures {
            let [ours, theirs] = series.spreads(figure);
            let ratio = series.ratio(figure);
            rows.push([
                threads.clone(),
                what.to_owned(),
                format!("{:.places$}", ours.median),
                format!("{:.places$}", theirs.median),
                format!("{:.3}", ratio.median),
                format!("{:.3}", ratio.min),
                format!("{:.3}", ratio.max),
            ]);
        }
    }
    let widths: [usize; 7] =
        std::array::from_fn(|c| rows.iter().map(|r| r[c].len()).max().unwrap_or(0));
    let mut text = String::from("\n");
    for row in &rows {
        let cells: Vec<String> = (0..7)
            .map(|c| {
                if c == 1 {
                    format!("{:<1$}", row[c], widths[c])
                } else {
                    format!("{:>1$}", row[c], widths[c])
                }
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text.push_str("\nMedians; ratio: ompvm over native, of each pair, below 1 ompvm is better\n");
    text
}

/// Returns true if the outputs agree, and a sentence.
pub fn verdict(series: &Series) -> (bool, String) {
    let with = series.threads.map_or(String::new(), |t| {
        format!(" with {t} thread{}", if t == 1 { "" } else { "s" })
    });
    match &series.verdict {
        Verdict::Agree(passed) => {
            let mut notes = Vec::new();
            let mut note = |n: usize, what: &str| {
                if n > 0 {
                    notes.push(format!("{n} {what}"));
                }
            };
            note(
                passed.masked,
                "numbers that vary or tell a time not compared",
            );
            note(passed.close, "numbers equal within the tolerance only");
            note(passed.ignored, "lines left out");
            if passed.unordered {
                notes.push("lines compared without their order".into());
            }
            let notes = if notes.is_empty() {
                String::new()
            } else {
                format!(" ({})", notes.join(", "))
            };
            (true, format!("outputs and exit status agree{with}{notes}"))
        }
        Verdict::Unstable => (
            true,
            format!(
                "exit status agrees{with}; the native program's own output differs from run to run \
                 in more than numbers, so output is not compared (--ignore leaves lines out)"
            ),
        ),
        Verdict::Differ(difference) => (false, differ(&with, difference)),
    }
}

fn differ(with: &str, d: &Difference) -> String {
    let show = |line: &Option<String>| line.clone().unwrap_or("(no such line)".into());
    let place = match d.line {
        0 => "a line".to_owned(),
        n => format!("line {n}"),
    };
    format!(
        "the outputs differ{with}, first in {place}:\n  native: {}\n  ompvm:  {}\nIf that line may \
         vary, leave it out with --ignore REGEX{}; otherwise the program depends on its \
         environment or on chance, or ompvm has a defect",
        show(&d.native),
        show(&d.ours),
        if d.number {
            " or raise --tolerance"
        } else {
            ""
        },
    )
}

/// Returns every run as a row of CSV.
pub fn csv(all: &[Series]) -> String {
    let mut text = String::from("threads,pair,side,wall_s,cpu_s,peak_bytes,end\n");
    for series in all {
        let threads = series.threads.map_or(String::new(), |t| t.to_string());
        for (i, (ours, theirs)) in series.pairs.iter().enumerate() {
            for (side, run) in [("ompvm", ours), ("native", theirs)] {
                text.push_str(&format!(
                    "{threads},{},{side},{:.6},{:.6},{},{}\n",
                    i + 1,
                    run.wall,
                    run.cpu,
                    run.peak,
                    run.end
                ));
            }
        }
    }
    text
}

/// Returns settings, runs and summary as JSON.
pub fn json(options: &CompareOptions, file: &Path, native: &Native, all: &[Series]) -> String {
    let spread = |s: Spread| json!({"median": s.median, "min": s.min, "max": s.max});
    let figure = |series: &Series, figure: Figure| {
        let [ours, theirs] = series.spreads(figure);
        json!({
            "ompvm": spread(ours),
            "native": spread(theirs),
            "ratio": spread(series.ratio(figure)),
        })
    };
    let run = |r: &Run| {
        json!({
            "wall_s": r.wall, "cpu_s": r.cpu, "peak_bytes": r.peak, "end": r.end.to_string(),
        })
    };
    let series: Vec<Value> = all
        .iter()
        .map(|s| {
            let (agree, text) = verdict(s);
            json!({
                "threads": s.threads,
                "wall_s": figure(s, WALL),
                "cpu_s": figure(s, CPU),
                "peak_bytes": figure(s, PEAK),
                "agree": agree,
                "verdict": text,
                "pairs": s.pairs.iter()
                    .map(|(ours, theirs)| json!({"ompvm": run(ours), "native": run(theirs)}))
                    .collect::<Vec<_>>(),
            })
        })
        .collect();
    let value = json!({
        "file": file.display().to_string(),
        "native": native.described,
        "tier": name(&options.tier),
        "cache": name(&options.cache),
        "runs": options.runs,
        "warmup": options.warmup,
        "environment": openmp_variables().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "series": series,
    });
    format!("{value:#}\n")
}
