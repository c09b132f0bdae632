//! Compares the outputs of two programs as a person would: times differ from run to run, the rest
//! must not.
//!
//! A line is a sequence of words and numbers. Words must agree. Numbers must agree, with three
//! exceptions: (1) a number that the native runs themselves do not repeat is not compared, (2) nor
//! is one on a line that names a time or a rate, and (3) a number with a fraction may differ by a
//! tolerance, because reductions add in another order and fused multiplications round once. If the
//! native runs print their lines in varying order, or if the order is the only difference, lines
//! are compared as a multiset. All numbers and lines that were excused are counted and reported.
//! `exact` turns all of this off.

use regex_lite::Regex;
use std::collections::BTreeMap;

/// Rules of a comparison.
#[derive(Debug)]
pub struct Rules {
    /// Patterns of lines that are left out.
    pub ignore: Vec<Regex>,
    /// True to compare the remaining lines byte by byte.
    pub exact: bool,
    /// Largest relative difference of numbers with a fraction.
    pub tolerance: f64,
}

/// Result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The outputs agree, apart from excused differences.
    Agree(Excused),
    /// The native program's lines differ from run to run in more than numbers.
    Unstable,
    /// The outputs differ.
    Differ(Difference),
}

/// Excused differences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excused {
    /// Numbers that the native runs do not repeat, or on a line about time.
    pub masked: usize,
    /// Numbers equal within the tolerance only.
    pub close: usize,
    /// Lines left out.
    pub ignored: usize,
    /// True if lines were compared without regard to their order.
    pub unordered: bool,
}

/// The first line that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the line in the native program's output, from 1.
    pub line: usize,
    /// The native program's line, if it has one.
    pub native: Option<String>,
    /// Our line, if there is one.
    pub ours: Option<String>,
    /// True if only a number differs; more native runs may show that it varies.
    pub number: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Number(&'a str),
}

/// Compares our outputs of all runs with the native program's outputs of all runs.
pub fn judge(native: &[&str], ours: &[&str], rules: &Rules) -> Verdict {
    let mut passed = Excused::default();
    let natives: Vec<Vec<(usize, &str)>> =
        native.iter().map(|t| compared_lines(t, rules)).collect();
    let Some(first) = natives.first() else {
        return Verdict::Agree(passed);
    };
    passed.ignored = native[0].lines().count() - first.len();
    if rules.exact {
        if natives
            .iter()
            .any(|n| !n.iter().map(|l| l.1).eq(first.iter().map(|l| l.1)))
        {
            return Verdict::Unstable;
        }
        return ours
            .iter()
            .find_map(|text| exact(first, &compared_lines(text, rules)))
            .map_or(Verdict::Agree(passed), Verdict::Differ);
    }
    let Some(template) = Template::from_runs(&natives) else {
        return as_sets(&natives, ours, rules, passed);
    };
    passed.masked = template.masked();
    for text in ours {
        let lines = compared_lines(text, rules);
        match template.check(&lines, rules.tolerance) {
            Ok(close) => passed.close = passed.close.max(close),
            Err(_) if sorted(first) == sorted(&lines) => passed.unordered = true,
            Err(difference) => return Verdict::Differ(difference),
        }
    }
    Verdict::Agree(passed)
}

/// Returns the lines that are not left out, with their numbers.
fn compared_lines<'a>(text: &'a str, rules: &Rules) -> Vec<(usize, &'a str)> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !rules.ignore.iter().any(|r| r.is_match(line)))
        .map(|(i, line)| (i + 1, line))
        .collect()
}

fn exact(native: &[(usize, &str)], ours: &[(usize, &str)]) -> Option<Difference> {
    (0..native.len().max(ours.len())).find_map(|i| {
        let (a, b) = (native.get(i), ours.get(i));
        (a.map(|l| l.1) != b.map(|l| l.1)).then(|| difference(a, b, i, false))
    })
}

fn difference(
    native: Option<&(usize, &str)>,
    ours: Option<&(usize, &str)>,
    index: usize,
    number: bool,
) -> Difference {
    Difference {
        line: native.or(ours).map_or(index + 1, |l| l.0),
        native: native.map(|l| l.1.to_owned()),
        ours: ours.map(|l| l.1.to_owned()),
        number,
    }
}

/// The native lines, and which of their numbers are compared.
struct Template<'a> {
    lines: Vec<(&'a (usize, &'a str), Tokens<'a>)>,
}

/// Words and numbers, each with whether it is compared.
type Tokens<'a> = Vec<(Token<'a>, bool)>;

impl<'a> Template<'a> {
    /// Returns `None` if the native runs differ in more than numbers.
    fn from_runs(natives: &'a [Vec<(usize, &'a str)>]) -> Option<Template<'a>> {
        let first = natives.first()?;
        if natives.iter().any(|n| n.len() != first.len()) {
            return None;
        }
        let mut lines = Vec::new();
        for (i, line) in first.iter().enumerate() {
            let timed = names_a_time(line.1);
            let mut tokens: Tokens = tokens(line.1)
                .into_iter()
                .map(|t| {
                    let counts = !(timed && matches!(t, Token::Number(_)));
                    (t, counts)
                })
                .collect();
            for other in &natives[1..] {
                let other = self::tokens(other[i].1);
                if other.len() != tokens.len() {
                    return None;
                }
                for ((mine, counts), other) in tokens.iter_mut().zip(other) {
                    match (&*mine, other) {
                        (Token::Word(a), Token::Word(b)) if *a == b => {}
                        (Token::Number(a), Token::Number(b)) => *counts &= *a == b,
                        _ => return None,
                    }
                }
            }
            lines.push((line, tokens));
        }
        Some(Template { lines })
    }

    fn masked(&self) -> usize {
        let all = self.lines.iter().flat_map(|l| &l.1);
        all.filter(|(_, counts)| !counts).count()
    }

    /// Returns how many numbers agree within the tolerance only, or the first difference. A
    /// difference in words takes precedence over one in numbers, which more runs may explain.
    fn check(&self, ours: &[(usize, &str)], tolerance: f64) -> Result<usize, Difference> {
        let mut close = 0;
        let mut numbers = None;
        for i in 0..self.lines.len().max(ours.len()) {
            let (Some((line, tokens)), Some(our_line)) = (self.lines.get(i), ours.get(i)) else {
                return Err(difference(
                    self.lines.get(i).map(|l| l.0),
                    ours.get(i),
                    i,
                    false,
                ));
            };
            let our_tokens = self::tokens(our_line.1);
            if our_tokens.len() != tokens.len() {
                return Err(difference(Some(line), Some(our_line), i, false));
            }
            for ((mine, counts), our) in tokens.iter().zip(&our_tokens) {
                let number = match (mine, our) {
                    (Token::Word(a), Token::Word(b)) if a == b => continue,
                    (Token::Number(_), Token::Number(_)) if !counts => continue,
                    (Token::Number(a), Token::Number(b)) if a == b => continue,
                    (Token::Number(a), Token::Number(b)) if is_close(a, b, tolerance) => {
                        close += 1;
                        continue;
                    }
                    (Token::Number(_), Token::Number(_)) => true,
                    _ => false,
                };
                let found = difference(Some(line), Some(our_line), i, number);
                if !number {
                    return Err(found);
                }
                numbers.get_or_insert(found);
            }
        }
        numbers.map_or(Ok(close), Err)
    }
}

fn sorted<'a>(lines: &[(usize, &'a str)]) -> Vec<&'a str> {
    let mut lines: Vec<&str> = lines.iter().map(|l| l.1).collect();
    lines.sort_unstable();
    lines
}

/// Returns the lines as a multiset, with every number replaced.
fn keys(lines: &[(usize, &str)]) -> BTreeMap<String, usize> {
    let mut keys = BTreeMap::new();
    for (_, line) in lines {
        let words: Vec<&str> = tokens(line)
            .iter()
            .map(|t| match t {
                Token::Word(w) => *w,
                Token::Number(_) => "#",
            })
            .collect();
        *keys.entry(words.join(" ")).or_insert(0) += 1;
    }
    keys
}

fn as_sets(
    natives: &[Vec<(usize, &str)>],
    ours: &[&str],
    rules: &Rules,
    mut passed: Excused,
) -> Verdict {
    let wanted = keys(&natives[0]);
    if natives.iter().any(|n| keys(n) != wanted) {
        return Verdict::Unstable;
    }
    passed.unordered = true;
    for text in ours {
        let lines = compared_lines(text, rules);
        let found = keys(&lines);
        if found == wanted {
            continue;
        }
        let lacking = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| {
            a.iter()
                .find(|(k, n)| b.get(*k).unwrap_or(&0) < n)
                .map(|(k, _)| k.clone())
        };
        return Verdict::Differ(Difference {
            line: 0,
            native: lacking(&wanted, &found),
            ours: lacking(&found, &wanted),
            number: false,
        });
    }
    Verdict::Agree(passed)
}

/// Splits a line into words and numbers; white space only separates.
fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for word in line.split_whitespace() {
        let mut start = 0;
        let mut at = 0;
        while at < word.len() {
            let inside = word[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let length = if inside { 0 } else { number(&word[at..]) };
            if length == 0 {
                at += word[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            if start < at {
                tokens.push(Token::Word(&word[start..at]));
            }
            tokens.push(Token::Number(&word[at..at + length]));
            at += length;
            start = at;
        }
        if start < word.len() {
            tokens.push(Token::Word(&word[start..]));
        }
    }
    tokens
}

/// Returns the length of the number at the start of a text (0: none): decimal with sign, fraction
/// and exponent (also Fortran's `D`), hexadecimal after `0x`, or printf's infinity and NaN.
fn number(text: &str) -> usize {
    let b = text.as_bytes();
    let digits = |from: usize, hex: bool| {
        b[from.min(b.len())..]
            .iter()
            .take_while(|c| {
                if hex {
                    c.is_ascii_hexdigit()
                } else {
                    c.is_ascii_digit()
                }
            })
            .count()
    };
    if b.len() > 2 && b[0] == b'0' && b[1] == b'x' && digits(2, true) > 0 {
        return 2 + digits(2, true);
    }
    let mut at = usize::from(matches!(b.first(), Some(b'+' | b'-')));
    let unusual = b
        .get(at..at + 3)
        .is_some_and(|w| w.eq_ignore_ascii_case(b"inf") || w.eq_ignore_ascii_case(b"nan"));
    if unusual && !b.get(at + 3).is_some_and(u8::is_ascii_alphanumeric) {
        return at + 3;
    }
    let whole = digits(at, false);
    at += whole;
    let mut fraction = 0;
    if b.get(at) == Some(&b'.') {
        fraction = digits(at + 1, false);
        if whole + fraction > 0 {
            at += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return 0;
    }
    if matches!(b.get(at), Some(b'e' | b'E' | b'd' | b'D')) {
        let sign = usize::from(matches!(b.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign, false);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    at
}

/// Returns true if two numbers with a fraction or an exponent differ by at most the tolerance,
/// relative to the larger one or to a thousandth, so that residuals near zero pass, too.
fn is_close(a: &str, b: &str, tolerance: f64) -> bool {
    let real = |s: &str| {
        let plain = !s.starts_with("0x") && s.contains(['.', 'e', 'E', 'd', 'D']);
        plain.then(|| s.replace(['d', 'D'], "e").parse::<f64>().ok())?
    };
    match (real(a), real(b)) {
        (Some(x), Some(y)) => (x - y).abs() <= tolerance * x.abs().max(y.abs()).max(1e-3),
        _ => false,
    }
}

/// Returns true if a line speaks of a time or a rate.
fn names_a_time(line: &str) -> bool {
    const WORDS: [&str; 18] = [
        "time",
        "times",
        "timer",
        "seconds",
        "second",
        "sec",
        "secs",
        "elapsed",
        "ms",
        "us",
        "ns",
        "speedup",
        "rate",
        "bandwidth",
        "throughput",
        "latency",
        "date",
        "overhead",
    ];
    let line = line.to_lowercase();
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '/');
    words.any(|w| {
        WORDS.contains(&w) || w.ends_with("/s") || w.ends_with("flops") || w.ends_with("/sec")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        ignore: Vec::new(),
        exact: false,
        tolerance: 1e-9,
    };

    fn agree(native: &[&str], ours: &[&str]) -> Excused {
        match judge(native, ours, &RULES) {
            Verdict::Agree(passed) => passed,
            other => panic!("{other:?}"),
        }
    }

    fn differ(native: &[&str], ours: &[&str]) -> Difference {
        match judge(native, ours, &RULES) {
            Verdict::Differ(difference) => difference,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_same_agrees() {
        assert_eq!(agree(&["a 1\n", "a 1\n"], &["a 1\n"]), Excused::default());
        assert_eq!(agree(&[""], &[""]), Excused::default());
    }

    #[test]
    fn numbers_that_vary_natively_are_not_compared() {
        assert_eq!(
            agree(&["x 1\ny 5\n", "x 2\ny 5\n"], &["x 7\ny 5\n"]).masked,
            1
        );
        let d = differ(&["x 1\ny 5\n", "x 2\ny 5\n"], &["x 7\ny 6\n"]);
        assert_eq!((d.line, d.number), (2, true));
        assert_eq!(d.ours.as_deref(), Some("y 6"));
    }

    #[test]
    fn times_are_not_compared() {
        let (a, b) = ("Time in seconds = 0.01\n", "Time in seconds =      12.5\n");
        assert_eq!(agree(&[a], &[b]).masked, 1);
        assert_eq!(agree(&["12 Mop/s"], &["15 Mop/s"]).masked, 1);
        assert_eq!(agree(&["MB/s: inf"], &["MB/s: -0.00"]).masked, 1);
        differ(&["sometimes 3"], &["sometimes 4"]);
        differ(&["info 3 nano"], &["info 3 info"]);
        differ(&["x nan"], &["x 1.0"]);
    }

    #[test]
    fn fractions_have_a_tolerance_and_counts_have_none() {
        assert_eq!(agree(&["e 1.0000000001"], &["e 1.0000000002"]).close, 1);
        assert_eq!(agree(&["r 1.3E-14"], &["r -0.2D-13"]).close, 1);
        differ(&["n 1000000000001"], &["n 1000000000002"]);
        differ(&["e 1.001"], &["e 1.002"]);
    }

    #[test]
    fn words_and_lines_must_agree() {
        assert!(!differ(&["yes\n"], &["no\n"]).number);
        assert_eq!(differ(&["a\nb\n"], &["a\n"]).native.as_deref(), Some("b"));
        assert_eq!(differ(&["a\n"], &["a\nb\n"]).line, 2);
        // A difference in words is reported before an earlier one in numbers.
        assert_eq!(differ(&["a 1\nb\n"], &["a 2\nc\n"]).line, 2);
        differ(&["x1"], &["x2"]);
    }

    #[test]
    fn threads_may_print_in_any_order() {
        assert!(agree(&["t a\nt b\n", "t b\nt a\n"], &["t b\nt a\n"]).unordered);
        assert!(agree(&["t a\nt b\n"], &["t b\nt a\n"]).unordered);
        let d = differ(&["t a\nt b\n", "t b\nt a\n"], &["t b\nt c\n"]);
        assert_eq!(d.native.as_deref(), Some("t a"));
        assert_eq!(judge(&["a\n", "b\n"], &["a\n"], &RULES), Verdict::Unstable);
    }

    #[test]
    fn lines_can_be_left_out() {
        let rules = Rules {
            ignore: vec![Regex::new("^build").unwrap()],
            ..RULES
        };
        let verdict = judge(&["build x\na\n"], &["build y\na\n"], &rules);
        let expected = Excused {
            ignored: 1,
            ..Excused::default()
        };
        assert_eq!(verdict, Verdict::Agree(expected));
    }

    #[test]
    fn exact_means_exact() {
        let rules = Rules {
            exact: true,
            ..RULES
        };
        let verdict = judge(&["a  1\n"], &["a 1\n"], &rules);
        assert!(matches!(verdict, Verdict::Differ(_)), "{verdict:?}");
        assert_eq!(judge(&["1\n", "2\n"], &["1\n"], &rules), Verdict::Unstable);
    }

    #[test]
    fn splitting() {
        let found = tokens("x=-1.5e-3, p=0x7fF a1 (2) 3.");
        let numbers: Vec<_> = found
            .iter()
            .filter_map(|t| match t {
                Token::Number(n) => Some(*n),
                Token::Word(_) => None,
            })
            .collect();
        assert_eq!(numbers, ["-1.5e-3", "0x7fF", "2", "3."]);
    }
}
