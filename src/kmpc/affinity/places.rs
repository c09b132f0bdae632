//! Lists of places given by `OMP_PLACES`, `KMP_AFFINITY` and `KMP_HW_SUBSET`, and their resolution
//! on a machine. OpenMP 5.2, section 21.1.6; the `KMP_` variables follow LLVM's documentation.
//!
//! Parsing a value and applying it are separate, so that a bad value is found before the machine is
//! examined. Processors that the process may not use are removed from places; empty places are
//! dropped.

use ompvm_support::machine::{Machine, TopologyLevel};

/// Processors of a place, ascending.
pub type Place = Vec<usize>;

/// A parsed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacesRequest {
    /// An abstract name with an optional number of places.
    Each(TopologyLevel, Option<usize>),
    /// Explicit places.
    List(Vec<Place>),
}

/// The abstract names, in the plural of `OMP_PLACES`; the first of a level is displayed.
const NAMES: [(&str, TopologyLevel); 7] = [
    ("threads", TopologyLevel::Thread),
    ("cores", TopologyLevel::Core),
    ("ll_caches", TopologyLevel::Cache),
    ("numa_domains", TopologyLevel::Numa),
    ("sockets", TopologyLevel::Socket),
    ("dice", TopologyLevel::Socket),
    ("packages", TopologyLevel::Socket),
];

/// Returns the name of a level in `OMP_PLACES`.
pub fn level_name(level: TopologyLevel) -> &'static str {
    NAMES
        .iter()
        .find(|(_, l)| *l == level)
        .map_or("", |(name, _)| name)
}

/// Parses a value of `OMP_PLACES`.
pub fn parse(text: &str) -> Option<PlacesRequest> {
    let lower = text.trim().to_ascii_lowercase();
    if lower.starts_with(['{', '!']) {
        return parse_list(&lower).map(PlacesRequest::List);
    }
    let (word, count) = match lower.split_once('(') {
        Some((word, rest)) => {
            let number = rest.trim_end().strip_suffix(')')?.trim();
            (word, Some(number.parse().ok().filter(|&n: &usize| n > 0)?))
        }
        None => (lower.as_str(), None),
    };
    let level = NAMES.iter().find(|(name, _)| *name == word.trim())?.1;
    Some(PlacesRequest::Each(level, count))
}

/// Parses a value that [`parse`] refuses, as far as possible: an abstract name with a bad number of
/// places stands for all its places.
pub fn parse_leniently(text: &str) -> Option<PlacesRequest> {
    parse(text.split_once('(')?.0)
}

/// Maximum processor number in a value, so that a typing error does not exhaust the memory.
const MAX_CPU: i64 = 1 << 16;

/// A cursor over a value.
struct Text<'a>(&'a str);

impl Text<'_> {
    fn eat(&mut self, c: char) -> bool {
        let rest = self.0.trim_start();
        match rest.strip_prefix(c) {
            Some(after) => {
                self.0 = after;
                true
            }
            None => false,
        }
    }

    fn number(&mut self) -> Option<i64> {
        let rest = self.0.trim_start();
        let (sign, digits) = match rest.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, rest.strip_prefix('+').unwrap_or(rest)),
        };
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        let value: i64 = digits[..end].parse().ok()?;
        self.0 = &digits[end..];
        (value <= MAX_CPU).then_some(sign * value)
    }

    /// Parses `[:length[:stride]]`.
    fn interval(&mut self) -> Option<(i64, i64)> {
        if !self.eat(':') {
            return Some((1, 1));
        }
        let length = self.number().filter(|&n| n > 0)?;
        let stride = if self.eat(':') { self.number()? } else { 1 };
        Some((length, stride))
    }

    fn at_end(&self) -> bool {
        self.0.trim().is_empty()
    }
}

/// Parses `{..}` without its interval.
fn parse_place(text: &mut Text<'_>) -> Option<Vec<i64>> {
    if !text.eat('{') {
        return None;
    }
    let mut numbers = Vec::new();
    let mut excluded = Vec::new();
    loop {
        let target = match text.eat('!') {
            true => &mut excluded,
            false => &mut numbers,
        };
        let first = text.number().filter(|&n| n >= 0)?;
        let (length, stride) = text.interval()?;
        target.extend((0..length).map(|i| first + i * stride));
        if text.eat('}') {
            break;
        }
        if !text.eat(',') {
            return None;
        }
    }
    numbers.retain(|n| !excluded.contains(n));
    numbers
        .iter()
        .all(|n| (0..=MAX_CPU).contains(n))
        .then_some(numbers)
}

/// Parses a list of places in braces. `!` before a place stands for all other processors, up to
/// [`MAX_CPU`]; see [`resolve`].
fn parse_list(text: &str) -> Option<Vec<Place>> {
    let mut text = Text(text);
    let mut places = Vec::new();
    loop {
        if text.eat('!') {
            let but = parse_place(&mut text)?;
            places.push(
                (0..=MAX_CPU as usize)
                    .filter(|&cpu| !but.contains(&(cpu as i64)))
                    .collect(),
            );
        } else {
            let first = parse_place(&mut text)?;
            let (length, stride) = text.interval()?;
            for i in 0..length {
                let moved = first.iter().map(|n| n + i * stride);
                let moved = moved.map(|n| (0..=MAX_CPU).contains(&n).then_some(n as usize));
                let mut moved: Place = moved.collect::<Option<_>>()?;
                moved.sort_unstable();
                moved.dedup();
                places.push(moved);
            }
        }
        if text.at_end() {
            return Some(places);
        }
        if !text.eat(',') {
            return None;
        }
    }
}

/// Returns the places of a request on a machine, none if no place is left. Adds each listed
/// processor that is not allowed to `ignored`.
pub fn resolve(request: &PlacesRequest, machine: &Machine, ignored: &mut Vec<usize>) -> Vec<Place> {
    match request {
        PlacesRequest::Each(level, count) => {
            let mut groups = machine.groups(*level);
            groups.truncate(count.unwrap_or(usize::MAX));
            groups
        }
        PlacesRequest::List(places) => {
            let allowed = |cpu: usize| machine.processors.iter().any(|p| p.cpu == cpu);
            let mut kept = Vec::new();
            for place in places {
                let (inside, outside): (Place, Place) =
                    place.iter().partition(|&&cpu| allowed(cpu));
                // A complement names processors that do not exist and that were not requested
                // explicitly.
                if place.len() < MAX_CPU as usize / 2 {
                    ignored.extend(outside);
                }
                if !inside.is_empty() {
                    kept.push(inside);
                }
            }
            ignored.sort_unstable();
            ignored.dedup();
            kept
        }
    }
}

/// Order of the places of `KMP_AFFINITY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AffinityOrder {
    /// No binding.
    None,
    /// Like [`AffinityOrder::None`], and the affinity routines do nothing.
    Disabled,
    /// Neighbors next to each other, except for the innermost `permute` levels.
    Compact(usize),
    /// Neighbors as far apart as possible.
    Scatter(usize),
    /// Spread over the cores, with neighbors of a core together: depends on the team's size.
    Balanced,
    /// Explicit places.
    Explicit(Vec<Place>),
    /// Only modifiers were given.
    Unspecified,
}

/// A value of `KMP_AFFINITY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KmpAffinity {
    /// Type of the affinity.
    pub order: AffinityOrder,
    /// Topology level that a place consists of.
    pub granularity: Option<TopologyLevel>,
    /// Place of thread 0.
    pub offset: usize,
    /// True if the binding is displayed.
    pub verbose: bool,
    /// True if the initial affinity mask of the process is respected.
    pub respect: bool,
    /// True if a thread of the program returns to its previous mask after each outermost region.
    pub reset: bool,
}

/// Splits at commas outside of brackets.
fn split_at_commas(text: &str) -> Vec<&str> {
    let mut depth = 0;
    text.split(|c| {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}

/// Parses `proclist=[..]`: numbers, ranges `a-b[:stride]`, and sets in braces.
fn proclist(text: &str) -> Option<Vec<Place>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let mut places = Vec::new();
    for part in split_at_commas(inner) {
        if let Some(set) = part.strip_prefix('{') {
            let set = set.strip_suffix('}')?;
            let cpus = set.split(',').map(|n| n.trim().parse().ok());
            places.push(cpus.collect::<Option<_>>()?);
            continue;
        }
        let (range, stride) = match part.split_once(':') {
            Some((range, stride)) => (range, stride.trim().parse().ok().filter(|&s| s > 0)?),
            None => (part, 1),
        };
        let (from, to) = match range.split_once('-') {
            Some((from, to)) => (from.trim().parse().ok()?, to.trim().parse().ok()?),
            None => (range.parse().ok()?, range.parse().ok()?),
        };
        let range: std::ops::RangeInclusive<usize> = from..=to;
        if to > MAX_CPU as usize {
            return None;
        }
        places.extend(range.step_by(stride).map(|cpu| vec![cpu]));
    }
    (!places.is_empty()).then_some(places)
}

/// Parses a value of `GOMP_CPU_AFFINITY`: explicit places, separated by blanks or commas.
pub fn parse_gomp(text: &str) -> Option<KmpAffinity> {
    let words: Vec<_> = text.split([' ', ',']).filter(|w| !w.is_empty()).collect();
    parse_kmp(&format!(
        "granularity=fine,explicit,proclist=[{}]",
        words.join(",")
    ))
}

/// Parses a value of `KMP_AFFINITY`.
pub fn parse_kmp(text: &str) -> Option<KmpAffinity> {
    let lower = text.trim().to_ascii_lowercase();
    let mut value = KmpAffinity {
        order: AffinityOrder::Unspecified,
        granularity: None,
        offset: 0,
        verbose: false,
        respect: true,
        reset: false,
    };
    let mut list = None;
    let mut explicit = false;
    let mut numbers = Vec::new();
    for part in split_at_commas(&lower) {
        match part {
            "none" => value.order = AffinityOrder::None,
            "disabled" => value.order = AffinityOrder::Disabled,
            "compact" => value.order = AffinityOrder::Compact(0),
            "scatter" => value.order = AffinityOrder::Scatter(0),
            "balanced" => value.order = AffinityOrder::Balanced,
            "explicit" => explicit = true,
            "verbose" => value.verbose = true,
            "respect" => value.respect = true,
            "norespect" => value.respect = false,
            "reset" => value.reset = true,
            "noreset" => value.reset = false,
            "noverbose" | "warnings" | "nowarnings" | "duplicates" | "noduplicates" | "" => {}
            _ => match part.split_once('=') {
                Some(("granularity" | "gran", level)) => {
                    value.granularity = Some(match level.trim() {
                        "fine" | "thread" => TopologyLevel::Thread,
                        "core" | "tile" => TopologyLevel::Core,
                        "ll_cache" | "l3_cache" => TopologyLevel::Cache,
                        "numa" | "node" | "numa_domain" => TopologyLevel::Numa,
                        "socket" | "package" | "die" => TopologyLevel::Socket,
                        "group" => TopologyLevel::Machine,
                        _ => return None,
                    });
                }
                Some(("proclist", cpus)) => list = Some(proclist(cpus.trim())?),
                Some(_) => return None,
                None => numbers.push(part.parse::<usize>().ok()?),
            },
        }
    }
    let (permute, offset) = match (&value.order, numbers.as_slice()) {
        (_, []) => (0, 0),
        (AffinityOrder::Compact(_) | AffinityOrder::Scatter(_), [permute]) => (*permute, 0),
        (AffinityOrder::Compact(_) | AffinityOrder::Scatter(_), [permute, offset]) => {
            (*permute, *offset)
        }
        _ => return None,
    };
    value.offset = offset;
    match &mut value.order {
        AffinityOrder::Compact(p) | AffinityOrder::Scatter(p) => *p = permute,
        _ => {}
    }
    if explicit || (list.is_some() && value.order == AffinityOrder::Unspecified) {
        value.order = AffinityOrder::Explicit(list?);
    }
    Some(value)
}

/// Returns the places of a value of `KMP_AFFINITY`, in the order of the threads.
pub fn resolve_kmp(value: &KmpAffinity, machine: &Machine, ignored: &mut Vec<usize>) -> Vec<Place> {
    if let AffinityOrder::Explicit(list) = &value.order {
        return resolve(&PlacesRequest::List(list.clone()), machine, ignored);
    }
    let granularity = value.granularity.unwrap_or(TopologyLevel::Core);
    let groups = machine.groups(granularity);
    // For each place: its indices among its siblings, from the outermost level inwards.
    let levels = [
        TopologyLevel::Socket,
        TopologyLevel::Core,
        TopologyLevel::Thread,
    ];
    let mut keyed: Vec<(Vec<usize>, Place)> = groups
        .into_iter()
        .map(|place| {
            let mut outer = TopologyLevel::Machine;
            let mut path = Vec::new();
            for level in levels.into_iter().filter(|&l| l >= granularity) {
                path.push(number_within(machine, outer, level, place[0]));
                outer = level;
            }
            (path, place)
        })
        .collect();
    keyed.sort_by_cached_key(|(path, _)| {
        let depth = path.len();
        // The `swift` innermost levels vary slowest, the innermost of all first; scatter is the
        // reverse of compact.
        let swift = match value.order {
            AffinityOrder::Compact(permute) => permute.min(depth),
            AffinityOrder::Scatter(permute) => (depth - 1).saturating_sub(permute),
            _ => 0,
        };
        let inner = path.iter().rev().take(swift);
        inner
            .chain(&path[..depth - swift])
            .copied()
            .collect::<Vec<_>>()
    });
    keyed.into_iter().map(|(_, place)| place).collect()
}

/// Returns the index of the group of `inner` with `cpu` within its group of `outer`.
fn number_within(
    machine: &Machine,
    outer: TopologyLevel,
    inner: TopologyLevel,
    cpu: usize,
) -> usize {
    let groups = machine.groups(outer);
    let around = groups.iter().find(|g| g.contains(&cpu));
    let inside = machine.groups(inner);
    let siblings = inside
        .iter()
        .filter(|g| around.is_some_and(|a| a.contains(&g[0])));
    siblings.take_while(|g| !g.contains(&cpu)).count()
}

/// Applies `KMP_HW_SUBSET`: parts `[n|*]unit[@skip]` from the outermost unit inwards,
/// separated by commas. Returns `None`, and leaves the machine unchanged, if the text cannot be
/// parsed or leaves no processor.
pub fn apply_hw_subset(text: &str, machine: &mut Machine) -> Option<()> {
    let mut smaller = machine.clone();
    let lower = text.trim().to_ascii_lowercase();
    let mut wanted = Vec::new();
    for part in lower.trim_start_matches(':').split([',', 'x']) {
        let part = part.trim();
        let (part, skip) = match part.split_once(['@', '+']) {
            Some((part, skip)) => (part, skip.trim().parse().ok()?),
            None => (part, 0),
        };
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let count = match &part[..digits] {
            "" => usize::MAX,
            number => number.parse().ok().filter(|&n: &usize| n > 0)?,
        };
        let unit = part[digits..].trim_start_matches('*');
        let unit = if unit.len() > 2 {
            unit.trim_end_matches('s')
        } else {
            unit
        };
        let level = match unit {
            "s" | "socket" => TopologyLevel::Socket,
            "d" | "die" => TopologyLevel::Socket,
            "n" | "numa" | "numa_domain" => TopologyLevel::Numa,
            "l3" | "l3_cache" | "ll" | "ll_cache" => TopologyLevel::Cache,
            "c" | "core" => TopologyLevel::Core,
            "t" | "thread" => TopologyLevel::Thread,
            _ => return None,
        };
        wanted.push((level, skip, count));
    }
    wanted.sort_by_key(|&(level, ..)| std::cmp::Reverse(level));
    let mut outer = TopologyLevel::Machine;
    for (level, skip, count) in wanted {
        smaller.restrict(outer, level, skip, count);
        outer = level;
    }
    if smaller.processors.is_empty() {
        return None;
    }
    *machine = smaller;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ompvm_support::machine::{fictitious, format_cpu_list};

    fn machine(name: &str) -> Machine {
        let tree = fictitious::tree(name, 2, 8, 2);
        Machine::read(&tree.0, &(0..32).collect::<Vec<_>>())
    }

    fn places(text: &str, machine: &Machine) -> Vec<String> {
        let request = parse(text).unwrap();
        let places = resolve(&request, machine, &mut Vec::new());
        places.iter().map(|p| format_cpu_list(p)).collect()
    }

    #[test]
    fn kmpc_places_by_name() {
        let m = machine("names");
        assert_eq!(places("threads", &m)[..3], ["0", "16", "1"]);
        assert_eq!(places(" Cores ", &m).len(), 16);
        assert_eq!(places("cores(3)", &m), ["0,16", "1,17", "2,18"]);
        for two in ["sockets", "ll_caches", "numa_domains"] {
            assert_eq!(places(two, &m), ["0-7,16-23", "8-15,24-31"]);
        }
        assert_eq!(places("sockets(5)", &m).len(), 2);
    }

    #[test]
    fn kmpc_places_by_list() {
        let m = machine("list");
        assert_eq!(places("{0,1},{2:4:2},{7}", &m), ["0,1", "2,4,6,8", "7"]);
        assert_eq!(places("{0:4}:4:4", &m), ["0-3", "4-7", "8-11", "12-15"]);
        assert_eq!(places("{6,7}:3:-2", &m), ["6,7", "4,5", "2,3"]);
        assert_eq!(places("{0:4,!2}", &m), ["0,1,3"]);
        assert_eq!(places("!{1:31}", &m), ["0"]);
        assert_eq!(places("{30:4},{40}", &m), ["30,31"]);
        let mut ignored = Vec::new();
        resolve(&parse("{0,99}").unwrap(), &m, &mut ignored);
        assert_eq!(ignored, [99]);
    }

    #[test]
    fn kmpc_places_refuse_malformed_values() {
        for bad in [
            "",
            "core",
            "cores(",
            "cores()",
            "cores(0)",
            "{",
            "{}",
            "{0",
            "{0}}",
            "{0}:",
            "{0}:0",
            "{-1}",
            "{0}:3:-1",
            "{a}",
            "0,1",
            "{0},",
            "{0;1}",
            "{99999999999}",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn kmpc_places_parse_names_leniently() {
        assert_eq!(
            parse_leniently("sockets("),
            Some(PlacesRequest::Each(TopologyLevel::Socket, None))
        );
        assert_eq!(
            parse_leniently("threads()"),
            Some(PlacesRequest::Each(TopologyLevel::Thread, None))
        );
        assert_eq!(parse_leniently("sock(3)"), None);
    }

    #[test]
    fn kmpc_affinity_orders() {
        let m = machine("orders");
        let order = |text: &str| -> Vec<String> {
            let value = parse_kmp(text).unwrap();
            let places = resolve_kmp(&value, &m, &mut Vec::new());
            places.iter().map(|p| format_cpu_list(p)).take(4).collect()
        };
        assert_eq!(order("compact"), ["0,16", "1,17", "2,18", "3,19"]);
        assert_eq!(order("granularity=fine,compact"), ["0", "16", "1", "17"]);
        assert_eq!(order("granularity=fine,compact,1,0"), ["0", "1", "2", "3"]);
        assert_eq!(order("scatter"), ["0,16", "8,24", "1,17", "9,25"]);
        assert_eq!(order("scatter,granularity=thread"), ["0", "8", "1", "9"]);
        assert_eq!(
            order("explicit,proclist=[3,1-2,{4,5}]"),
            ["3", "1", "2", "4,5"]
        );
        assert_eq!(order("granularity=socket,compact").len(), 2);
        let v = parse_kmp("verbose,none").unwrap();
        assert!(v.verbose && v.order == AffinityOrder::None);
        assert_eq!(parse_kmp("compact,0,3").unwrap().offset, 3);
        assert_eq!(
            parse_kmp("disabled").unwrap().order,
            AffinityOrder::Disabled
        );
        for bad in [
            "foo",
            "explicit",
            "explicit,proclist=[x]",
            "compact,1,2,3",
            "granularity=x",
        ] {
            assert_eq!(parse_kmp(bad), None, "{bad}");
        }
    }

    #[test]
    fn kmpc_hw_subset() {
        let mut m = machine("hw");
        assert!(apply_hw_subset("1s,4c,1t", &mut m).is_some());
        assert_eq!(format_cpu_list(&m.groups(TopologyLevel::Machine)[0]), "0-3");
        let mut m = machine("hw2");
        assert!(apply_hw_subset("2sockets,2cores@1,*t", &mut m).is_some());
        assert_eq!(
            format_cpu_list(&m.groups(TopologyLevel::Machine)[0]),
            "1,2,9,10,17,18,25,26"
        );
        assert!(apply_hw_subset("3q", &mut m).is_none());
        assert!(apply_hw_subset("1c@99", &mut m).is_none());
        assert_eq!(m.processors.len(), 8);
    }
}
