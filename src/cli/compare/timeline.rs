//! Draws a timeline of our side: what was compiled when, and in which tier its time went.
//!
//! [`Timeline::read`] parses the file of `ompvm run --timeline FILE`. [`Timeline::draw`] draws the
//! shares of the samples over time and, below, a row per function: queued, being compiled, entered.
//! The timeline comes from a run of its own, because measured runs take no samples. [`super::plot`]
//! draws the speed-up.

use super::plot::{LEFT, RIGHT, WIDTH, cut, escape, head, step, tick_text};
use crate::api::timeline::CodeKind;
use std::fmt::Write as _;

/// Most functions that get a row.
const ROWS: usize = 20;
/// Most time slices for which samples are counted.
const SLICES: usize = 60;
/// Top of the sample area.
const TOP: f64 = 64.0;
/// Bottom of the sample area.
const FLOOR: f64 = 164.0;
/// Height of a row.
const ROW: f64 = 18.0;
/// Most characters of a function's name.
const NAME: usize = 28;
/// Left edge of the time axis; names are on its left.
const START: f64 = 220.0;

/// Event in the life of a function.
#[derive(Clone, Debug, PartialEq)]
enum EventKind {
    /// Found hot.
    Queued,
    /// Entered, after a compilation of this many milliseconds.
    Compiled(f64),
    /// Loaded from the cache.
    Cached,
    /// Left in the tier below.
    Skipped,
}

#[derive(Clone, Debug, PartialEq)]
struct Event {
    at: f64,
    function: String,
    kind: EventKind,
    told: String,
}

/// The events and samples of one run.
#[derive(Debug, Default)]
pub struct Timeline {
    events: Vec<Event>,
    samples: Vec<(f64, CodeKind)>,
}

impl Timeline {
    /// Parses the lines of a run; other lines are skipped.
    pub fn read(text: &str) -> Timeline {
        let mut all = Timeline::default();
        for line in text.lines() {
            let Some((at, told)) = line
                .strip_prefix("ompvm: ")
                .and_then(|l| l.split_once(" ms  "))
                .and_then(|(at, told)| Some((at.trim().parse::<f64>().ok()?, told)))
            else {
                continue;
            };
            if let Some(kind) = told.strip_prefix("in ") {
                let kind = CodeKind::ALL.into_iter().find(|k| k.name() == kind);
                all.samples.extend(kind.map(|kind| (at, kind)));
            } else if let Some((function, what)) =
                told.strip_prefix('`').and_then(|t| t.split_once("` "))
            {
                all.events.push(Event {
                    at,
                    function: function.to_owned(),
                    kind: what_happened(what),
                    told: what.to_owned(),
                });
            }
        }
        all
    }

    /// Returns the picture; `None` if there is nothing to draw.
    pub fn draw(&self, title: &str) -> Option<String> {
        let ends = self.events.iter().map(|e| e.at);
        let end = ends
            .chain(self.samples.iter().map(|s| s.0))
            .fold(0.0, f64::max);
        if self.events.is_empty() && self.samples.is_empty() {
            return None;
        }
        let end = end.max(0.1) * 1.02;
        let x = |at: f64| START + (WIDTH - RIGHT - START) * (at / end).clamp(0.0, 1.0);
        let rows = self.rows();
        let shown = rows.len().min(ROWS);
        let bottom = FLOOR + 30.0 + ROW * shown as f64;
        let height = bottom + if rows.len() > shown { 46.0 } else { 28.0 };
        let mut svg = head(
            title,
            "what was compiled when, and where the time went",
            height,
        );
        legend(&mut svg);
        self.areas(&mut svg, end, &x);
        axis(&mut svg, end, &x, bottom);
        for (k, name) in rows.iter().take(shown).enumerate() {
            let y = FLOOR + 34.0 + ROW * k as f64;
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
                 <line class=\"grid\" x1=\"{START}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
                START - 8.0,
                y + 4.0,
                escape(&cut(name, NAME)),
                WIDTH - RIGHT,
            );
            let mut queued = None;
            for event in self.events.iter().filter(|e| e.function == **name) {
                mark(&mut svg, event, queued, y, &x);
                queued = (event.kind == EventKind::Queued).then_some(event.at);
            }
        }
        if rows.len() > shown {
            let _ = writeln!(
                svg,
                "<text x=\"{START}\" y=\"{:.1}\">and {} more functions</text>",
                height - 8.0,
                rows.len() - shown
            );
        }
        svg.push_str("</svg>\n");
        Some(svg)
    }

    /// Returns the functions with events, in the order of their first event; those that were never
    /// compiled come last.
    fn rows(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        let compiled = |e: &&Event| e.kind != EventKind::Skipped;
        let first = self.events.iter().filter(compiled);
        let then = self.events.iter().filter(|e| !compiled(e));
        for event in first.chain(then) {
            if !names.contains(&event.function.as_str()) {
                names.push(&event.function);
            }
        }
        names
    }

    /// Draws the shares of the samples in each time slice, stacked.
    fn areas(&self, svg: &mut String, end: f64, x: &impl Fn(f64) -> f64) {
        // Each slice gets several samples, so that a share is meaningful.
        let slices = (self.samples.len() / 4).clamp(8, SLICES);
        let mut counts = vec![[0u32; CodeKind::ALL.len()]; slices];
        for &(at, kind) in &self.samples {
            let slice = ((at / end * slices as f64) as usize).min(slices - 1);
            counts[slice][kind as usize] += 1;
        }
        for (slice, counts) in counts.iter().enumerate() {
            let all: u32 = counts.iter().sum();
            let from = end * slice as f64 / slices as f64;
            let to = end * (slice + 1) as f64 / slices as f64;
            let mut y = FLOOR;
            for (kind, &n) in CodeKind::ALL
                .into_iter()
                .zip(counts)
                .filter(|(_, n)| **n > 0)
            {
                let height = (FLOOR - TOP) * f64::from(n) / f64::from(all);
                y -= height;
                let _ = writeln!(
                    svg,
                    "<rect class=\"{}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" \
                     height=\"{height:.1}\">\
                     <title>{from:.1} to {to:.1} ms: {n} of {all} samples in {}</title></rect>",
                    class(kind),
                    x(from),
                    x(to) - x(from),
                    kind.name(),
                );
            }
        }
    }
}

fn what_happened(told: &str) -> EventKind {
    if told.starts_with("queued for compilation") {
        EventKind::Queued
    } else if told.starts_with("loaded from the cache") {
        EventKind::Cached
    } else if told.starts_with("compiled ") {
        let took = told.split_once(" in ").map(|(_, t)| t);
        let took = took.and_then(|t| t.split_once(" ms")?.0.parse().ok());
        EventKind::Compiled(took.unwrap_or(0.0))
    } else {
        EventKind::Skipped
    }
}

fn class(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Ours => "in-ours",
        CodeKind::Baseline => "in-baseline",
        CodeKind::Compiled => "in-compiled",
        CodeKind::Elsewhere => "in-libraries",
    }
}

fn legend(svg: &mut String) {
    let mut x = LEFT;
    for kind in CodeKind::ALL {
        let _ = writeln!(
            svg,
            "<rect class=\"{}\" x=\"{x:.1}\" y=\"40\" width=\"9\" height=\"9\"/>\
             <text x=\"{:.1}\" y=\"49\">{}</text>",
            class(kind),
            x + 14.0,
            kind.name()
        );
        x += 36.0 + 7.0 * kind.name().len() as f64;
    }
}

fn axis(svg: &mut String, end: f64, x: &impl Fn(f64) -> f64, bottom: f64) {
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">share of samples</text>\
         <line class=\"axis\" x1=\"{START}\" x2=\"{:.1}\" y1=\"{FLOOR}\" y2=\"{FLOOR}\"/>",
        START - 8.0,
        f64::midpoint(TOP, FLOOR) + 4.0,
        WIDTH - RIGHT,
    );
    let distance = step(end, 6);
    for k in 0..=(end / distance) as u32 {
        let at = distance * f64::from(k);
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{FLOOR}\" y2=\"{1}\"/>\
             <text x=\"{0:.1}\" y=\"{2:.1}\" text-anchor=\"middle\">{3} ms</text>",
            x(at),
            FLOOR + 5.0,
            bottom + 18.0,
            tick_text(at, distance),
        );
    }
}

/// Draws an event: a thin line while the function waits, a bar while it is compiled, a dot when it
/// is entered.
fn mark(svg: &mut String, event: &Event, queued: Option<f64>, y: f64, x: &impl Fn(f64) -> f64) {
    let title = format!(
        "<title>{}: {:.1} ms, {}</title>",
        escape(&event.function),
        event.at,
        escape(&event.told)
    );
    let dot = |class: &str| {
        format!(
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\">{title}</circle>",
            x(event.at)
        )
    };
    let drawn = match event.kind {
        EventKind::Queued => dot("queued"),
        EventKind::Cached => dot("kept"),
        EventKind::Skipped => format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">×{title}</text>",
            x(event.at),
            y + 4.0
        ),
        EventKind::Compiled(took) => {
            let from = x(event.at - took);
            let wait = queued.map_or(String::new(), |q| {
                format!(
                    "<line class=\"axis\" x1=\"{:.1}\" x2=\"{from:.1}\" y1=\"{y:.1}\" \
                     y2=\"{y:.1}\"/>",
                    x(q).min(from)
                )
            });
            format!(
                "{wait}<rect class=\"compiling\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
                 height=\"8\">{title}</rect>{}",
                y - 4.0,
                (x(event.at) - from).max(1.0),
                dot("in-compiled")
            )
        }
    };
    svg.push_str(&drawn);
    svg.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
ompvm: compiled 1 functions and 1 loops in 2 units (900 bytes): parse 0.1 ms, prepare 0.2\n\
ompvm:       3.0 ms  `f<int>` queued for compilation: sampled for 2.0 ms, no recent calls\n\
ompvm:      12.5 ms  `f<int>` compiled for its loop at block 2 in 8.5 ms, 1 in the unit\n\
ompvm:      14.0 ms  `q` compiled quickly for its callers in 1.5 ms, 1 in the unit\n\
ompvm:       0.2 ms  `g` loaded from the cache\n\
ompvm:       0.3 ms  `h` stays interpreted: it jumps to labels' addresses\n\
the program's own line: 7 ms  in vain\n\
ompvm:       1.0 ms  in interpreter and runtime\n\
ompvm:      20.0 ms  in compiled code\n";

    #[test]
    fn lines_are_understood() {
        let all = Timeline::read(TEXT);
        let what: Vec<_> = all.events.iter().map(|e| (&*e.function, &e.kind)).collect();
        let want = [
            ("f<int>", &EventKind::Queued),
            ("f<int>", &EventKind::Compiled(8.5)),
            ("q", &EventKind::Compiled(1.5)),
            ("g", &EventKind::Cached),
            ("h", &EventKind::Skipped),
        ];
        assert_eq!(what, want);
        assert_eq!(
            all.samples,
            [(1.0, CodeKind::Ours), (20.0, CodeKind::Compiled)]
        );
        assert_eq!(all.rows(), ["f<int>", "q", "g", "h"]);
    }

    #[test]
    fn a_picture_has_every_event_and_sample() {
        let svg = Timeline::read(TEXT).draw("p.bc").unwrap();
        for part in [
            "f&lt;int&gt;: 12.5 ms, compiled for its loop",
            "class=\"compiling\"",
            "class=\"kept\"",
            "1 of 1 samples in compiled code",
            "1 of 1 samples in interpreter and runtime",
            "20 ms</text>",
        ] {
            assert!(svg.contains(part), "{part} is not in\n{svg}");
        }
        assert!(!svg.contains("vain"));
        assert_eq!(Timeline::read("nothing\n").draw("p.bc"), None);
    }

    #[test]
    fn many_functions_are_counted() {
        let text: String = (0..30)
            .map(|i| format!("ompvm: {i}.0 ms  `f{i}` loaded from the cache\n"))
            .collect();
        let svg = Timeline::read(&text).draw("p.bc").unwrap();
        assert!(svg.contains("and 10 more functions"));
    }
}
