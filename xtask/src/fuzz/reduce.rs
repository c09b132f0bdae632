//! Reduces a failing program: removes statements while it still fails.
//!
//! Generated programs have one statement per line and blocks that start with a line ending in `{`
//! and end with the line that closes it. Candidates for removal are a line or a whole block,
//! largest first, then a block's first and last line without its contents. Expressions are not
//! reduced.

use std::ops::Range;
use std::time::{Duration, Instant};

/// Returns the smallest text found within the limit that still fails, and the number of candidates
/// tried.
pub fn reduce(text: &str, limit: Duration, mut fails: impl FnMut(&str) -> bool) -> (String, usize) {
    let start = Instant::now();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut tried = 0;
    loop {
        let before = lines.len();
        let mut spans = spans(&lines);
        spans.sort_by_key(|s| std::cmp::Reverse(s.len()));
        let mut at = 0;
        while at < spans.len() && start.elapsed() < limit {
            let span = spans[at].clone();
            let candidate = without(&lines, std::slice::from_ref(&span));
            tried += 1;
            if fails(&candidate.join("\n")) {
                let removed = span.len();
                lines = candidate;
                spans = spans
                    .into_iter()
                    .skip(at + 1)
                    .filter(|s| s.end <= span.start || s.start >= span.end || s.len() > removed)
                    .map(|s| shift(s, &span))
                    .collect();
                at = 0;
                continue;
            }
            at += 1;
        }
        for block in blocks(&lines).into_iter().rev() {
            if start.elapsed() > limit {
                break;
            }
            let head = block.start..block.start + 1;
            let end = block.end - 1..block.end;
            let candidate = without(&lines, &[head, end]);
            tried += 1;
            if fails(&candidate.join("\n")) {
                lines = candidate;
                break;
            }
        }
        if lines.len() == before || start.elapsed() > limit {
            return (lines.join("\n") + "\n", tried);
        }
    }
}

fn without(lines: &[String], spans: &[Range<usize>]) -> Vec<String> {
    let gone = |i: &usize| spans.iter().any(|s| s.contains(i));
    (0..lines.len())
        .filter(|i| !gone(i))
        .map(|i| lines[i].clone())
        .collect()
}

/// Returns a span's position after another one was removed.
fn shift(span: Range<usize>, out: &Range<usize>) -> Range<usize> {
    if span.start >= out.end {
        span.start - out.len()..span.end - out.len()
    } else if span.end >= out.end {
        span.start..span.end - out.len()
    } else {
        span
    }
}

fn depth_change(line: &str) -> i32 {
    let count = |c| line.matches(c).count() as i32;
    count('{') - count('}')
}

/// Returns all blocks, from the line that opens one to the line that closes it.
fn blocks(lines: &[String]) -> Vec<Range<usize>> {
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let closes_first = line.trim_start().starts_with('}');
        let change = depth_change(line);
        if change < 0 || closes_first {
            for _ in 0..change.min(-1).unsigned_abs() {
                if let Some(start) = open.pop() {
                    found.push(start..i + 1);
                }
            }
        }
        if change > 0 || (closes_first && line.trim_end().ends_with('{')) {
            for _ in 0..change.max(1) {
                open.push(i);
            }
        }
    }
    found
}

/// Returns all spans that can be removed on their own.
fn spans(lines: &[String]) -> Vec<Range<usize>> {
    let mut all = blocks(lines);
    // A span of `} else {` includes its branch but not the closing line, which then closes the
    // block before.
    let branches: Vec<_> = all
        .iter()
        .filter(|b| lines[b.start].trim_start().starts_with('}'))
        .map(|b| b.start..b.end - 1)
        .collect();
    all.extend(branches);
    for (i, line) in lines.iter().enumerate() {
        if depth_change(line) == 0 && !line.trim_start().starts_with('}') && !line.is_empty() {
            all.push(i..i + 1);
            // A directive may be removed alone or together with its statement.
            if line.trim_start().starts_with("#pragma") && i + 1 < lines.len() {
                match all.iter().find(|s| s.start == i + 1).cloned() {
                    Some(block) => all.push(i..block.end),
                    None => all.push(i..i + 2),
                }
            }
        }
    }
    all.sort_by_key(|s| (s.start, s.end));
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_matters() {
        let text = "a;\nif (x) {\n  b;\n  BAD;\n} else {\n  c;\n}\nfor () {\n  d;\n}\ne;\n";
        let (small, _) = reduce(text, Duration::from_secs(5), |t| {
            t.contains("BAD") && t.matches('{').count() == t.matches('}').count()
        });
        assert_eq!(small, "  BAD;\n");
    }

    #[test]
    fn finds_blocks() {
        let lines: Vec<String> = ["f {", "  g {", "  }", "  x;", "}"]
            .map(String::from)
            .to_vec();
        assert_eq!(blocks(&lines), [1..3, 0..5]);
    }
}
