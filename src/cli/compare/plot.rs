//! Speed-up against threads as a picture: SVG, or a page of HTML around it.
//!
//! Why our own writer: two lines with axes need no library. Colours follow the reader's light or
//! dark setting through one style sheet; figures stand in `<title>` elements, so pointing at a
//! mark shows them.

use super::Series;
use std::fmt::Write as _;
use std::path::Path;

pub(super) const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
pub(super) const LEFT: f64 = 64.0;
pub(super) const RIGHT: f64 = 24.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 52.0;

/// Blue and orange that people with any colour vision tell apart, on either ground.
const STYLE: &str = "\
:root{--ground:#fff;--ink:#1b1f24;--faint:#d6dae0;--ours:#0b62c4;--native:#b85a00;--middle:#3f8f6b}\
@media (prefers-color-scheme:dark){:root{--ground:#14171b;--ink:#e4e7eb;--faint:#3a4048;\
--ours:#6db1ff;--native:#ffa94d;--middle:#6cc79c}}\
svg{font:13px system-ui,sans-serif;fill:var(--ink)}\
.ground{fill:var(--ground)}.grid{stroke:var(--faint)}.axis{stroke:var(--ink)}\
.ideal{stroke:var(--ink);stroke-dasharray:2 5;fill:none}\
.ours{stroke:var(--ours)}.native{stroke:var(--native)}\
polyline{fill:none;stroke-width:2.5}circle.ours{fill:var(--ours)}\
rect.native{fill:var(--native)}\
.in-ours{fill:var(--native)}.in-baseline{fill:var(--middle)}.in-compiled{fill:var(--ours)}\
.in-libraries,.compiling{fill:var(--faint)}.queued{fill:none;stroke:var(--ink)}\
.kept{fill:var(--ink)}.title{font-size:16px;font-weight:600}";

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

/// The picture. Speed-up is over the native program's median with the fewest threads, for both
/// sides, so that their heights compare.
pub fn speedup(title: &str, peer: &str, all: &[Series]) -> String {
    let mut points: Vec<Point> = all.iter().filter_map(Point::of).collect();
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
        top: nice(highest),
    };
    let mut svg = head(title, &format!("speed-up of ompvm and of {peer}"), HEIGHT);
    axes(&mut svg, &scale, &points);
    // Perfect scaling of the native program.
    let ideal = |t: f64| (t / scale.low).min(scale.top);
    let bend = (scale.low * scale.top).min(scale.high);
    let _ = writeln!(
        svg,
        "<polyline class=\"ideal\" points=\"{:.1},{:.1} {:.1},{:.1}\"><title>perfect scaling</title></polyline>",
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

/// Two pictures as one, the second below the first.
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

/// A page around a picture, with the table below it.
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
    fn of(series: &Series) -> Option<Point> {
        if series.pairs.is_empty() {
            return None;
        }
        Some(Point {
            // Without --threads there is one series, of whatever size the environment gives.
            threads: series.threads.unwrap_or(1),
            walls: series.walls().map(|s| [s.min, s.median, s.max]),
        })
    }
}

struct Scale {
    low: f64,
    high: f64,
    top: f64,
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

/// The next of 1, 1.5, 2, 3, 4, 6, 8 times a power of ten above a value.
fn nice(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|&v| v >= value * 1.02)
        .unwrap_or(15.0 * power)
}

/// The beginning of a picture, with its title.
pub(super) fn head(title: &str, description: &str, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n<title>{0}: {1}</title>\n\
         <style>{STYLE}</style>\n<rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"26\">{0}</text>\n",
        escape(title),
        escape(description)
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
    let steps = if (scale.top * 2.0) % 3.0 == 0.0 { 3 } else { 4 };
    for i in 0..=steps {
        let value = scale.top * f64::from(i) / f64::from(steps);
        let y = scale.y(value);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            short(value)
        );
    }
    for p in points {
        let x = scale.x(f64::from(p.threads));
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{floor}\" y2=\"{}\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            floor + 5.0,
            floor + 20.0,
            p.threads
        );
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

fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
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
        "<circle class=\"ours\" cx=\"{:.1}\" cy=\"44\" r=\"4.5\"/><text x=\"{:.1}\" y=\"48\">ompvm</text>\
         <rect class=\"native\" x=\"{:.1}\" y=\"40\" width=\"8\" height=\"8\"/>\
         <text x=\"{:.1}\" y=\"48\">{}</text>",
        LEFT + 5.0,
        LEFT + 16.0,
        LEFT + 80.0,
        LEFT + 95.0,
        escape(peer)
    );
}

/// Text as XML and HTML want it.
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
    fn tops_are_round_and_above() {
        for (value, top) in [
            (1.0, 1.5),
            (1.9, 2.0),
            (3.95, 6.0),
            (14.0, 15.0),
            (9.9, 15.0),
        ] {
            assert!((nice(value) - top).abs() < 1e-9, "{value}: {}", nice(value));
        }
    }

    #[test]
    fn one_picture_lies_below_the_other() {
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
