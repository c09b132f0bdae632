//! Draws speed-up against threads: SVG, or an HTML page with it.
//!
//! Two lines with axes need no library. Colors follow the reader's light or dark setting through
//! one style sheet. Figures are in `<title>` elements, so pointing at a mark shows them.

use super::Series;
use std::fmt::Write as _;
use std::path::Path;

pub(super) const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
pub(super) const LEFT: f64 = 64.0;
pub(super) const RIGHT: f64 = 24.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 52.0;

/// Style sheet. Blue and orange are distinct with any color vision, on either background. It has no
/// variables, which programs other than browsers do not support.
const STYLE: &str = "\
svg{font:13px system-ui,sans-serif}text,.kept{fill:#1b1f24}\
.ground{fill:#fff}.grid{stroke:#d6dae0}.axis,.queued{stroke:#1b1f24}\
.ideal{stroke:#1b1f24;stroke-dasharray:2 5;fill:none}\
.ours{stroke:#0b62c4}.native{stroke:#b85a00}\
polyline{fill:none;stroke-width:2.5}circle.ours,.in-compiled{fill:#0b62c4}\
rect.native,.in-ours{fill:#b85a00}.in-baseline{fill:#3f8f6b}\
.in-libraries,.compiling{fill:#d6dae0}.queued{fill:none}\
.title{font-size:16px;font-weight:600}\
@media (prefers-color-scheme:dark){text,.kept{fill:#e4e7eb}\
.ground{fill:#14171b}.grid{stroke:#3a4048}.axis,.queued,.ideal{stroke:#e4e7eb}\
.ours{stroke:#6db1ff}.native{stroke:#ffa94d}circle.ours,.in-compiled{fill:#6db1ff}\
rect.native,.in-ours{fill:#ffa94d}.in-baseline{fill:#6cc79c}\
.in-libraries,.compiling{fill:#3a4048}}";

/// Refuses names that end in neither `.svg` nor `.html`, before anything has run.
pub fn check_name(path: &Path) -> Result<(), String> {
    match path.extension().and_then(|x| x.to_str()) {
        Some("svg" | "html") => Ok(()),
        _ => Err(format!(
            "--plot {}: the name has to end in .svg or .html",
            path.display()
        )),
    }
}

/// Returns the picture. Both sides' speed-ups are relative to the native program's median with the
/// fewest threads, so that their heights compare.
pub fn speedup(title: &str, peer: &str, all: &[Series]) -> String {
    let mut points: Vec<Point> = all.iter().filter_map(Point::from_series).collect();
    points.sort_by_key(|p| p.threads);
    let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) else {
        return empty(title);
    };
    let base = first.walls[1][1];
    let highest = points
        .iter()
        .flat_map(|p| p.walls)
        .map(|w| base / w[0])
        .fold(1.0, f64::max);
    let scale = Scale {
        low: f64::from(first.threads),
        high: f64::from(last.threads),
        // Leaves room above the highest mark.
        step: step(highest * 1.05, 5),
        top: 0.0,
    };
    let top = (highest * 1.05 / scale.step).ceil() * scale.step;
    let scale = Scale { top, ..scale };
    let mut svg = head(title, &format!("speed-up of ompvm and of {peer}"), HEIGHT);
    axes(&mut svg, &scale, &points);
    // Ideal scaling of the native program.
    let ideal = |t: f64| (t / scale.low).min(scale.top);
    let bend = (scale.low * scale.top).min(scale.high);
    let _ = writeln!(
        svg,
        "<polyline class=\"ideal\" points=\"{:.1},{:.1} {:.1},{:.1}\"><title>perfect \
         scaling</title></polyline>",
        scale.x(scale.low),
        scale.y(1.0),
        scale.x(bend),
        scale.y(ideal(bend))
    );
    for (side, class, name) in [(1, "native", peer), (0, "ours", "ompvm")] {
        let line: Vec<String> = points
            .iter()
            .map(|p| {
                let (x, y) = (
                    scale.x(f64::from(p.threads)),
                    scale.y(base / p.walls[side][1]),
                );
                format!("{x:.1},{y:.1}")
            })
            .collect();
        let _ = writeln!(
            svg,
            "<polyline class=\"{class}\" points=\"{}\"/>",
            line.join(" ")
        );
        for p in &points {
            mark(&mut svg, &scale, p, side, class, name, base);
        }
    }
    legend(&mut svg, peer);
    svg.push_str("</svg>\n");
    svg
}

/// Combines two pictures, the second below the first.
pub fn below(first: &str, second: &str) -> String {
    let height = |svg: &str| -> f64 {
        let value = svg.split_once("height=\"").map(|(_, rest)| rest);
        let value = value.and_then(|v| v.split_once('"')?.0.parse().ok());
        value.unwrap_or(HEIGHT)
    };
    let (upper, lower) = (height(first), height(second));
    let all = upper + lower;
    let moved = second.replacen("<svg ", &format!("<svg y=\"{upper}\" "), 1);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {all}\" \
         width=\"{WIDTH}\" height=\"{all}\">\n{first}{moved}</svg>\n"
    )
}

/// Returns an HTML page with a picture and the table below it.
pub fn page(title: &str, picture: &str, table: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{0}</title>\
         <style>body{{margin:2rem auto;max-width:44rem;padding:0 1rem;color-scheme:light dark;\
         font:15px system-ui,sans-serif}}svg{{max-width:100%;height:auto}}pre{{overflow:auto}}\
         @media (prefers-color-scheme:dark){{body{{background:#14171b;color:#e4e7eb}}}}</style>\
         </head>\n<body>\n{picture}<pre>{1}</pre>\n</body></html>\n",
        escape(title),
        escape(table)
    )
}

/// One team size: seconds of the fastest, the median and the slowest run of both sides.
#[derive(Clone, Copy)]
struct Point {
    threads: u32,
    walls: [[f64; 3]; 2],
}

impl Point {
    fn from_series(series: &Series) -> Option<Point> {
        if series.pairs.is_empty() {
            return None;
        }
        Some(Point {
            // Without --threads there is one series, whose team size the environment sets.
            threads: series.threads.unwrap_or(1),
            walls: series.walls().map(|s| [s.min, s.median, s.max]),
        })
    }
}

struct Scale {
    low: f64,
    high: f64,
    top: f64,
    step: f64,
}

impl Scale {
    fn x(&self, threads: f64) -> f64 {
        let room = WIDTH - LEFT - RIGHT - 40.0;
        if self.high <= self.low {
            return LEFT + 20.0 + room / 2.0;
        }
        LEFT + 20.0 + room * (threads - self.low) / (self.high - self.low)
    }

    fn y(&self, speedup: f64) -> f64 {
        let room = HEIGHT - TOP - BOTTOM;
        HEIGHT - BOTTOM - room * speedup / self.top
    }
}

/// Returns the distance between ticks, 1, 2 or 5 times a power of ten, with which at most `most`
/// ticks reach `value`.
pub(super) fn step(value: f64, most: u32) -> f64 {
    let rough = (value / f64::from(most)).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
    let enough = |s: &f64| s * f64::from(most) >= value * (1.0 - 1e-9);
    steps.into_iter().find(enough).unwrap_or(10.0 * power)
}

/// Formats a number on an axis with ticks at this distance.
pub(super) fn tick_text(value: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).max(0.0) as usize;
    format!("{value:.digits$}")
}

/// Cuts a text to at most `most` characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    kept + "…"
}

/// Most characters of a title.
const TITLE: usize = 56;
/// Most characters of the other side's name.
const PEER: usize = 64;

/// Returns the start of a picture with its title.
pub(super) fn head(title: &str, description: &str, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n<title>{0}: {1}</title>\n\
         <style>{STYLE}</style>\n<rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"26\">{2}</text>\n",
        escape(title),
        escape(description),
        escape(&cut(title, TITLE))
    )
}

fn empty(title: &str) -> String {
    format!(
        "{}<text x=\"{LEFT}\" y=\"60\">no run was counted</text></svg>\n",
        head(title, "no run was counted", HEIGHT)
    )
}

fn axes(svg: &mut String, scale: &Scale, points: &[Point]) {
    let (right, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let ticks = (scale.top / scale.step).round() as u32;
    for i in 0..=ticks {
        let value = scale.step * f64::from(i);
        let y = scale.y(value);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            tick_text(value, scale.step)
        );
    }
    // Labels are placed from the right, because the largest team size matters most; overlapping
    // ones are left out.
    let mut room = f64::MAX;
    for p in points.iter().rev() {
        let x = scale.x(f64::from(p.threads));
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{floor}\" y2=\"{}\"/>",
            floor + 5.0,
        );
        let text = p.threads.to_string();
        let half = 4.5 * text.len() as f64;
        if x + half <= room {
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
                floor + 20.0,
            );
            room = x - half - 4.0;
        }
    }
    let middle = f64::midpoint(TOP, floor);
    let _ = writeln!(
        svg,
        "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{floor}\" y2=\"{floor}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">threads</text>\
         <text transform=\"translate(18 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">\
         speed-up (times native with {} thread{})</text>",
        f64::midpoint(LEFT, right),
        HEIGHT - 10.0,
        points[0].threads,
        if points[0].threads == 1 { "" } else { "s" },
    );
}

fn mark(
    svg: &mut String,
    scale: &Scale,
    p: &Point,
    side: usize,
    class: &str,
    name: &str,
    base: f64,
) {
    let [fastest, median, slowest] = p.walls[side];
    let shift = if side == 0 { -3.0 } else { 3.0 };
    let x = scale.x(f64::from(p.threads));
    let y = scale.y(base / median);
    let (low, high) = (scale.y(base / slowest), scale.y(base / fastest));
    let _ = write!(
        svg,
        "<g><title>{}, threads {}: {median:.4} s ({fastest:.4} to {slowest:.4}), speed-up {:.2}\
         </title><line class=\"{class}\" x1=\"{bar:.1}\" x2=\"{bar:.1}\" y1=\"{high:.1}\" \
         y2=\"{low:.1}\"/>",
        escape(name),
        p.threads,
        base / median,
        bar = x + shift,
    );
    if side == 0 {
        let _ = writeln!(
            svg,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/></g>"
        );
    } else {
        let _ = writeln!(
            svg,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\"/></g>",
            x - 4.0,
            y - 4.0
        );
    }
}

fn legend(svg: &mut String, peer: &str) {
    let _ = writeln!(
        svg,
        "<circle class=\"ours\" cx=\"{:.1}\" cy=\"44\" r=\"4.5\"/><text x=\"{:.1}\" \
         y=\"48\">ompvm</text>\
         <rect class=\"native\" x=\"{:.1}\" y=\"40\" width=\"8\" height=\"8\"/>\
         <text x=\"{:.1}\" y=\"48\">{}</text>",
        LEFT + 5.0,
        LEFT + 16.0,
        LEFT + 80.0,
        LEFT + 95.0,
        escape(&cut(peer, PEER))
    );
}

/// Escapes text for XML and HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        for (value, distance) in [
            (1.05, 0.5),
            (2.0, 0.5),
            (2.1, 0.5),
            (4.1, 1.0),
            (9.9, 2.0),
            (16.8, 5.0),
            (63.0, 20.0),
            (0.3, 0.1),
        ] {
            let found = step(value, 5);
            assert!((found - distance).abs() < 1e-9, "{value}: {found}");
        }
        assert_eq!(tick_text(1.5, 0.5), "1.5");
        assert_eq!(tick_text(20.0, 20.0), "20");
        assert_eq!(tick_text(0.02, 0.01), "0.02");
    }

    #[test]
    fn all_marks_lie_inside_the_picture() {
        let run = |wall: f64| [wall * 0.9, wall, wall * 1.2];
        let scale = Scale {
            low: 1.0,
            high: 64.0,
            top: 70.0,
            step: 10.0,
        };
        let sizes = [1, 2, 3, 4, 8, 16, 32, 64];
        let points = sizes.map(|threads| Point {
            threads,
            walls: [run(1.0); 2],
        });
        let mut svg = String::new();
        axes(&mut svg, &scale, &points);
        assert!(svg.contains(">64</text>") && svg.contains(">16</text>"));
        assert!(
            !svg.contains(">2</text>") || !svg.contains(">3</text>"),
            "{svg}"
        );
        assert_eq!(cut("a long name", 6).chars().count(), 6);
        let title = head(&"x".repeat(300), "d", 100.0);
        let shown = title.rsplit_once("<text").unwrap().1;
        assert!(shown.len() < 120, "{shown}");
    }

    #[test]
    fn a_second_picture_is_placed_below_the_first() {
        let (first, second) = (head("a", "b", 400.0), head("c", "d", 120.5));
        let both = below(&(first + "</svg>"), &(second + "</svg>"));
        assert!(both.starts_with("<svg ") && both.contains("viewBox=\"0 0 640 520.5\""));
        assert!(both.contains("<svg y=\"400\" "));
        assert_eq!(both.matches("</svg>").count(), 3);
    }

    #[test]
    fn names_are_checked_and_text_is_escaped() {
        assert!(check_name(Path::new("a.svg")).is_ok() && check_name(Path::new("a.html")).is_ok());
        assert!(check_name(Path::new("a.png")).unwrap_err().contains(".svg"));
        assert_eq!(escape("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    }
}
