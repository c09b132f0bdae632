//! Generates programs that test the coherence of memory between host and devices.
//!
//! A program is `program.c`, which has the steps of all programs, with random regions and random
//! frequencies of the steps. A region takes arrays of random sizes from a pool, makes the copies
//! current that it reads, and records which copies it has changed. So programs are well defined,
//! and every correct implementation prints the same. Values stay below 2^53; results do not depend
//! on the order of additions.

use std::fmt::Write;

/// The part that all programs share.
const PROGRAM: &str = include_str!("program.c");
/// Names of the steps and their usual weights; in the order of the program's enumeration.
const STEPS: [(&str, u64); 22] = [
    ("region", 50),
    ("plain", 30),
    ("write", 8),
    ("read", 8),
    ("enter", 10),
    ("leave", 8),
    ("resize", 6),
    ("remap", 6),
    ("advise", 3),
    ("protect", 3),
    ("file", 5),
    ("copy", 5),
    ("sort", 3),
    ("data", 8),
    ("object", 5),
    ("list", 3),
    ("device", 4),
    ("stack", 3),
    ("scratch", 4),
    ("global", 5),
    ("threads", 8),
    ("fork", 1),
];
/// Numbers of steps, of `target` regions and of regions without `target`.
pub const LENGTH: u32 = 16;
const REGIONS: usize = 9;
const PLAIN: usize = 5;

/// Random numbers by SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Bodies of regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Writes elements from those of the same index.
    Map,
    /// Reads elements at computed or loaded indices.
    Gather,
    /// Writes elements at permuted indices.
    Permute,
    /// Adds to elements atomically.
    Atomic,
    /// Reads neighbors.
    Halo,
    /// Reduces to a scalar, and may write an array meanwhile.
    Reduce,
    /// Reduces to an array on the stack.
    Bins,
    /// Collapses two loops; one side is transposed.
    Collapse,
    /// Adds in a critical section.
    Critical,
    /// Runs in one thread.
    Serial,
    /// Distributes rows, each of which is a parallel loop.
    Nested,
    /// Two loops in one parallel region.
    Phases,
    /// Calls a function with pointers.
    Call,
    /// Finds its arrays through a structure.
    View,
    /// Reads variables of `declare target`.
    ReadGlobals,
    /// Changes variables of `declare target`.
    WriteGlobals,
    /// Returns a private value of the last iteration.
    Last,
    /// Two regions without waiting, and a wait.
    Nowait,
}

const KINDS: [(Kind, &str); 18] = [
    (Kind::Map, "map"),
    (Kind::Gather, "gather"),
    (Kind::Permute, "permute"),
    (Kind::Atomic, "atomic"),
    (Kind::Halo, "halo"),
    (Kind::Reduce, "reduce"),
    (Kind::Bins, "bins"),
    (Kind::Collapse, "collapse"),
    (Kind::Critical, "critical"),
    (Kind::Serial, "serial"),
    (Kind::Nested, "nested"),
    (Kind::Phases, "phases"),
    (Kind::Call, "call"),
    (Kind::View, "view"),
    (Kind::ReadGlobals, "read-globals"),
    (Kind::WriteGlobals, "write-globals"),
    (Kind::Last, "last"),
    (Kind::Nowait, "nowait"),
];

/// Returns the names of the features that can be left out.
pub fn features() -> Vec<&'static str> {
    let steps = STEPS.iter().map(|s| s.0);
    let more = [
        "always",
        "resident",
        "implicit",
        "pointer",
        "host",
        "view-globals",
        "chunked-host",
        "sections",
        "shared-variables",
    ];
    steps.chain(KINDS.iter().map(|k| k.1)).chain(more).collect()
}

/// Returns the program of a seed without some features.
pub fn program(seed: u64, without: &[String]) -> String {
    let mut random = Random(seed.wrapping_mul(0xD1B5_4A32_D192_ED03));
    let r = &mut random;
    let mut regions = String::new();
    let mut serial = [String::new(), String::new()];
    let mut names = [String::new(), String::new()];
    for (target, count) in [(true, REGIONS), (false, PLAIN)] {
        for index in 0..count {
            let made = Region::random(r, target, index, without);
            regions += &made.text;
            let at = usize::from(!target);
            let _ = write!(serial[at], "{}, ", u32::from(made.serial));
            let _ = write!(names[at], "{}, ", made.name);
        }
    }
    let _ = writeln!(
        regions,
        "enum {{ REGIONS = {REGIONS}, PLAIN = {PLAIN}, LENGTH = {LENGTH} }};"
    );
    for (at, name) in ["regions", "plain"].into_iter().enumerate() {
        let _ = writeln!(
            regions,
            "static void (*const {name}[])(Lane *, Random *) = {{{}}};",
            names[at]
        );
    }
    for (at, name) in ["REGION", "PLAIN"].into_iter().enumerate() {
        let _ = writeln!(
            regions,
            "static const char {name}_SERIAL[] = {{{}}};",
            serial[at]
        );
    }
    let mut constants = sizes(r);
    let shared = u32::from(!without.iter().any(|w| w == "shared-variables"));
    let _ = writeln!(
        constants,
        "enum {{ VIEW_USED = {}, SHARED_VARIABLES = {shared} }};",
        view_used(without)
    );
    let text = PROGRAM.replace("//@sizes\n", &constants);
    let text = text.replace("//@regions\n", &regions);
    let text = text.replace("//@weights\n", &weights(r, without));
    format!("// Program {seed}\n{text}")
}

/// Returns the set of arrays that structures do not point to: none, or the globals.
fn view_used(without: &[String]) -> u64 {
    match without.iter().any(|w| w == "view-globals") {
        true => 0xf << 9,
        false => 0,
    }
}

/// Returns the sizes of variables.
fn sizes(r: &mut Random) -> String {
    let size = |r: &mut Random, large: u64| match r.below(4) {
        0 => 1 + r.below(200),
        1 => 1000 + r.below(4000),
        2 => 512 * (1 + r.below(16)),
        _ => large + r.below(1000),
    };
    format!(
        "enum {{ FIXED_UNSIGNED = {}, FIXED_LONG = {}, FIXED_DOUBLE = {}, TABLE = {}, VECTOR = {} }};\n",
        size(r, 16384),
        size(r, 8192),
        size(r, 8192),
        size(r, 4000),
        size(r, 8192)
    )
}

/// Returns the weights of the steps.
fn weights(r: &mut Random, without: &[String]) -> String {
    let mut total = 0;
    let (mut list, mut names) = (String::new(), String::new());
    for (name, usual) in STEPS {
        // Programs differ in what they do often.
        let weight = match r.below(6) {
            _ if without.iter().any(|w| w == name) => 0,
            0 => usual * 3,
            1 => usual / 3,
            _ => usual,
        };
        total += weight;
        let _ = write!(list, "{weight}, ");
        let _ = write!(names, "\"{name}\", ");
    }
    format!(
        "static const int WEIGHTS[STEPS] = {{{list}}};\nenum {{ TOTAL = {total} }};\n\
         static const char *const STEP_NAMES[STEPS] = {{{names}}};\n"
    )
}

/// How a region maps an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mapping {
    /// By `to`, `from` or `tofrom`.
    Plain,
    /// With `always`.
    Always,
    /// It is present; the clause says so.
    Resident,
    /// It is present, and no clause names it.
    Implicit,
    /// It is present, and the region gets the device's address.
    Pointer,
}

/// An array that a region uses.
#[derive(Clone, Copy, Debug)]
struct Use {
    /// Name in the region; the upper case names its state.
    name: char,
    element: &'static str,
    written: bool,
    /// True if all elements of the section are written before they are read.
    overwritten: bool,
    /// True if only the elements of the loop's indices are used.
    own: bool,
    mapping: Mapping,
}

impl Use {
    fn state(&self) -> char {
        self.name.to_ascii_uppercase()
    }

    fn section(&self) -> String {
        match self.own {
            true => format!("{}[lo : n]", self.name),
            false => format!("{0}[0 : n{0}]", self.name),
        }
    }

    /// Returns the clause that maps the array.
    fn clause(&self) -> String {
        let section = self.section();
        match (self.mapping, self.written, self.overwritten) {
            (Mapping::Plain, true, true) => format!(" map(from : {section})"),
            (Mapping::Plain, true, false) => format!(" map(tofrom : {section})"),
            (Mapping::Plain, false, _) => format!(" map(to : {section})"),
            (Mapping::Always, true, _) => format!(" map(always, tofrom : {section})"),
            (Mapping::Always, false, _) => format!(" map(always, to : {section})"),
            (Mapping::Resident, ..) => format!(" map(present, alloc : {section})"),
            (Mapping::Implicit, ..) => String::new(),
            (Mapping::Pointer, ..) => format!(" is_device_ptr({})", self.name),
        }
    }
}

/// A region in its function.
struct Region {
    name: String,
    text: String,
    /// True if it may only run while no other thread runs regions.
    serial: bool,
}

/// Parts of a region's function.
struct Parts {
    uses: Vec<Use>,
    /// Declarations before the region.
    before: String,
    /// Clauses beside those for arrays.
    clauses: String,
    directive: String,
    body: String,
    after: String,
    /// Globals that it reads and writes by their names, as numbers of `globals`.
    reads: Vec<usize>,
    writes: Vec<usize>,
}

impl Region {
    fn random(r: &mut Random, target: bool, index: usize, without: &[String]) -> Region {
        let allowed = |k: &&(Kind, &str)| {
            !without.iter().any(|w| w == k.1) && (target || k.0 != Kind::Nowait)
        };
        let kinds: Vec<Kind> = KINDS.iter().filter(allowed).map(|k| k.0).collect();
        let kind = kinds[r.below(kinds.len() as u64) as usize];
        let name = format!("{}{index}", if target { "region" } else { "plain" });
        let mut parts = Parts::random(r, kind, target, index);
        let lacks = |feature: &str| without.iter().any(|w| w == feature);
        if target {
            for used in &mut parts.uses {
                used.mapping = match r.below(10) {
                    0 if !lacks("always") => Mapping::Always,
                    1 if !lacks("resident") => Mapping::Resident,
                    2 if !lacks("implicit") && kind != Kind::View => Mapping::Implicit,
                    3 if !lacks("pointer") && kind != Kind::View => Mapping::Pointer,
                    _ => Mapping::Plain,
                };
            }
        }
        let pointers = parts.uses.iter().any(|u| u.mapping == Mapping::Pointer);
        let may_stay = target && !pointers && kind != Kind::Nowait && !lacks("host") && r.one_in(3);
        if may_stay && lacks("chunked-host") && parts.directive.contains("teams") {
            parts.directive = parts
                .directive
                .replace(" schedule(static, ", " num_threads(");
        }
        if lacks("sections") {
            parts.uses.iter_mut().for_each(|u| u.own = false);
            // What a whole array is mapped from must all be written.
            let permutes = kind == Kind::Permute;
            parts
                .uses
                .iter_mut()
                .for_each(|u| u.overwritten &= permutes);
        }
        let serial = !parts.writes.is_empty();
        Region {
            text: parts.text(&name, kind, target, may_stay),
            name,
            serial,
        }
    }
}

const ELEMENTS: [&str; 3] = ["unsigned", "long", "double"];

fn array(r: &mut Random, name: char, written: bool, own: bool) -> Use {
    Use {
        name,
        element: ELEMENTS[r.below(3) as usize],
        written,
        overwritten: false,
        own,
        mapping: Mapping::Plain,
    }
}

/// Returns an expression of type `long` of these operands.
fn expression(r: &mut Random, operands: &[String]) -> String {
    let mut text = String::new();
    for (at, operand) in operands.iter().enumerate() {
        if at > 0 {
            text += r.of(&[" + ", " - ", " + 3 * ", " ^ ", " + "]);
        }
        let _ = write!(text, "LOW({operand})");
    }
    match r.below(5) {
        0 => format!("{text} * k1"),
        1 => format!("{text} + i * k2"),
        2 => format!("({text} & 1 ? k1 : i) + {text}"),
        3 => format!("(i % 3 ? {text} : k2)"),
        _ => format!("{text} + k1"),
    }
}

/// Returns an index into an array of `n` elements that follows from `i`.
fn index_of(r: &mut Random, n: &str) -> String {
    match r.below(4) {
        0 => format!("(i * k2 + k1) % {n}"),
        1 => format!("{n} - 1 - i % {n}"),
        2 => format!("(i / 3) % {n}"),
        _ => format!("(i + k1) % {n}"),
    }
}

/// Returns the directive of a loop.
fn loop_directive(r: &mut Random, target: bool) -> String {
    let mut text = match (target, r.below(10)) {
        (false, _) => "parallel for".to_owned(),
        (true, 0) => "target parallel for".to_owned(),
        (true, 1) => "target teams loop".to_owned(),
        (true, 2) => "target teams distribute parallel for simd".to_owned(),
        (true, 3) => "target teams distribute".to_owned(),
        (true, _) => "target teams distribute parallel for".to_owned(),
    };
    let parallel = text.contains("parallel");
    if text.contains("teams") {
        if r.one_in(4) {
            let _ = write!(text, " num_teams({})", 1 + r.below(9));
        }
        if r.one_in(4) {
            let _ = write!(
                text,
                " thread_limit({})",
                [8, 32, 64, 100][r.below(4) as usize]
            );
        }
        if text.contains("distribute") && r.one_in(6) {
            let _ = write!(text, " dist_schedule(static, {})", 1 + r.below(200));
        }
    }
    if parallel && r.one_in(4) {
        text += r.of(&[
            " schedule(static, 1)",
            " schedule(static, 7)",
            " schedule(dynamic, 3)",
            " schedule(guided)",
        ]);
    }
    text
}

/// A loop over the elements with the loop's own indices.
const OWN: &str = "for (long i = lo; i < lo + n; i++) {";

impl Parts {
    fn random(r: &mut Random, kind: Kind, target: bool, index: usize) -> Parts {
        let mut parts = Parts {
            uses: Vec::new(),
            before: String::new(),
            clauses: String::new(),
            directive: loop_directive(r, target),
            body: String::new(),
            after: String::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        };
        match kind {
            Kind::Map | Kind::Gather | Kind::Last => parts.elementwise(r, kind),
            Kind::Permute | Kind::Atomic | Kind::Halo => parts.moving(r, kind),
            Kind::Reduce | Kind::Bins => parts.reducing(r, kind),
            Kind::Collapse | Kind::Nested => parts.two_loops(r, kind, target),
            Kind::Critical | Kind::Serial | Kind::Phases => parts.one_team(r, kind, target),
            Kind::Call | Kind::View => parts.through_pointers(r, kind, target, index),
            Kind::ReadGlobals | Kind::WriteGlobals => parts.globals(r, kind),
            Kind::Nowait => parts.nowait(r),
        }
        parts
    }

    /// Replaces `loop`, in whose regions there must be no atomic.
    fn without_loop(&mut self) {
        self.directive = self
            .directive
            .replace("teams loop", "teams distribute parallel for");
    }

    fn elementwise(&mut self, r: &mut Random, kind: Kind) {
        self.uses = vec![array(r, 'a', true, true), array(r, 'b', false, true)];
        let mut operands = vec!["b[i]".to_owned()];
        if kind == Kind::Gather {
            self.uses[1].own = false;
            operands[0] = format!("b[{}]", index_of(r, "nb"));
            if r.one_in(2) {
                self.uses.push(array(r, 'c', false, true));
                operands[0] = "b[LOW(c[i]) % nb]".into();
            }
        } else if r.one_in(2) {
            self.uses.push(array(r, 'c', false, true));
            operands.push("c[i]".into());
        }
        match r.one_in(2) {
            true => operands.push("a[i]".into()),
            false => self.uses[0].overwritten = true,
        }
        let value = expression(r, &operands);
        let element = self.uses[0].element;
        if kind == Kind::Last {
            self.before = "long last = 0;".into();
            self.clauses = " lastprivate(last)".into();
            // clang does not map the variable by itself.
            if self.directive.starts_with("target") {
                self.directive = "target teams distribute parallel for".into();
                self.clauses += " map(tofrom : last)";
            }
            self.body = format!("{OWN}\n  last = {value};\n  a[i] = ({element})LOW(last);\n}}");
            self.after = "note(L, (Word)last);".into();
        } else {
            self.body = format!("{OWN}\n  a[i] = ({element})LOW({value});\n}}");
        }
    }

    fn moving(&mut self, r: &mut Random, kind: Kind) {
        self.uses = vec![array(r, 'a', true, false), array(r, 'b', false, false)];
        let element = self.uses[0].element;
        self.body = match kind {
            Kind::Permute => {
                self.uses[0].overwritten = true;
                let to = r.of(&[
                    "na - 1 - i",
                    "(i + k1) % na",
                    "i % 2 ? i / 2 : na - 1 - i / 2",
                ]);
                let from = format!("b[{}]", index_of(r, "nb"));
                let value = expression(r, &[from]);
                format!(
                    "for (long i = 0; i < na; i++) {{\n  a[{to}] = ({element})LOW({value});\n}}"
                )
            }
            Kind::Atomic => {
                let to = index_of(r, "na");
                let from = format!("b[{}]", index_of(r, "nb"));
                let value = expression(r, &[from]);
                self.without_loop();
                format!(
                    "for (long i = 0; i < n; i++) {{\n#pragma omp atomic\n  \
                     a[{to}] += ({element})(({value}) & 0xff);\n}}"
                )
            }
            _ => {
                let far = ["1", "1", "k2"][r.below(3) as usize];
                let operands = [
                    format!("b[i - {far}]"),
                    "b[i]".into(),
                    format!("b[i + {far}]"),
                ];
                let value = expression(r, &operands);
                format!(
                    "for (long i = {far}; i < n0 - {far}; i++) {{\n  \
                     a[i] = ({element})LOW({value});\n}}"
                )
            }
        };
    }

    fn reducing(&mut self, r: &mut Random, kind: Kind) {
        self.uses = vec![array(r, 'b', false, true)];
        let mut operands = vec!["b[i]".to_owned()];
        if r.one_in(2) {
            self.uses.push(array(r, 'c', false, false));
            operands.push(format!("c[{}]", index_of(r, "nc")));
        }
        let value = expression(r, &operands);
        let mut body = String::new();
        if kind == Kind::Bins {
            self.before = "long bins[8] = {k1};".into();
            self.clauses = " reduction(+ : bins)".into();
            // clang vectorizes additions to elements of a reduction's array as if they differed.
            self.directive = self.directive.replace(" simd", "");
            body = format!("  long v = LOW({value});\n  bins[v & 7] += v;\n");
            self.after = "for (int i = 0; i < 8; i++) note(L, (Word)bins[i]);".into();
        } else {
            let of = r.of(&["long", "double", "long", "unsigned"]);
            let operator = match of {
                "double" => r.of(&["+", "max", "min"]),
                _ => r.of(&["+", "+", "max", "min", "^", "|"]),
            };
            self.before = format!("{of} s = ({of})k1;");
            self.clauses = format!(" reduction({operator} : s)");
            let _ = writeln!(body, "  {of} v = ({of})LOW({value});");
            body += &match operator {
                "max" => "  if (v > s) s = v;\n".to_owned(),
                "min" => "  if (v < s) s = v;\n".to_owned(),
                operator => format!("  s {operator}= v;\n"),
            };
            self.after = "note(L, (Word)s);".into();
        }
        if r.one_in(3) {
            let written = array(r, 'a', true, true);
            let _ = writeln!(body, "  a[i] = ({})(v + LOW(a[i]));", written.element);
            body = body.replace("(v + LOW(a[i]))", "LOW(v + LOW(a[i]))");
            self.uses.push(written);
        }
        if self.directive.starts_with("target") {
            self.clauses += match kind {
                Kind::Bins => " map(tofrom : bins)",
                _ => " map(tofrom : s)",
            };
        }
        self.body = format!("{OWN}\n{body}}}");
    }

    fn two_loops(&mut self, r: &mut Random, kind: Kind, target: bool) {
        self.uses = vec![array(r, 'a', true, false), array(r, 'b', false, false)];
        self.before = "long rows = 1 + draw(r, 40), width = na / rows;".into();
        let element = self.uses[0].element;
        let from = r.of(&[
            "b[(y * rows + x) % nb]",
            "b[(x * width + y) % nb]",
            "b[y % nb]",
        ]);
        let to = r.of(&["x * width + y", "x * width + y", "y * rows + x"]);
        let mut operands = vec![from.to_owned()];
        if r.one_in(2) {
            operands.push(format!("a[{to}]"));
        }
        let value = expression(r, &operands);
        let assign = format!("    long i = x + y;\n    a[{to}] = ({element})LOW({value});\n");
        let outer = "for (long x = 0; x < rows; x++) {";
        let inner = "for (long y = 0; y < width; y++) {";
        let outer = outer.replace(" {", "");
        if kind == Kind::Collapse {
            self.clauses = " collapse(2)".into();
            // The order of a `dist_schedule` says nothing new here.
            self.directive = match target {
                true => r
                    .of(&[
                        "target teams distribute parallel for",
                        "target parallel for",
                    ])
                    .to_owned(),
                false => "parallel for".into(),
            };
            self.body = format!("{outer}\n  {inner}\n{assign}  }}");
        } else {
            self.directive = match target {
                true => "target teams distribute".into(),
                false => "parallel for".into(),
            };
            let parallel = match target {
                true => "#pragma omp parallel for\n",
                false => "",
            };
            self.body = format!("{outer} {{\n{parallel}  {inner}\n{assign}  }}\n}}");
        }
    }

    fn one_team(&mut self, r: &mut Random, kind: Kind, target: bool) {
        self.uses = vec![array(r, 'a', true, false), array(r, 'b', false, false)];
        let (to, from) = (self.uses[0].element, self.uses[1].element);
        let operand = format!("b[{}]", index_of(r, "nb"));
        let value = expression(r, &[operand]);
        let prefix = if target { "target " } else { "" };
        let map = if target { " map(tofrom : s)" } else { "" };
        self.before = "long s = 0;".into();
        self.after = "note(L, (Word)s);".into();
        match kind {
            Kind::Critical => {
                self.directive = format!("{prefix}parallel for");
                self.clauses = map.into();
                self.body = format!(
                    "for (long i = 0; i < least(n0, 150); i++) {{\n  long v = LOW({value});\n\
                     #pragma omp critical\n  {{\n    s += v;\n    a[0] += ({to})v;\n  }}\n}}"
                );
            }
            Kind::Serial => {
                self.directive = if target {
                    "target".into()
                } else {
                    String::new()
                };
                self.clauses = map.into();
                self.body = format!(
                    "for (long i = 1; i < least(na, 400); i++) {{\n  \
                     a[i] = ({to})LOW(LOW(a[i - 1]) + {value});\n  s += LOW(a[i]);\n}}"
                );
            }
            _ => {
                self.uses[1].written = true;
                self.directive = format!("{prefix}parallel");
                self.clauses = map.into();
                self.body = format!(
                    "{{\n#pragma omp for\n  for (long i = 0; i < na; i++) {{\n    \
                     a[i] = ({to})LOW({value});\n  }}\n#pragma omp single\n  s += LOW(a[na - 1]);\n\
                     #pragma omp for\n  for (long i = 0; i < nb; i++) {{\n    \
                     b[i] = ({from})LOW(a[(i * k2) % na] + s);\n  }}\n}}"
                );
            }
        }
    }

    fn through_pointers(&mut self, r: &mut Random, kind: Kind, target: bool, index: usize) {
        self.uses = vec![array(r, 'a', true, false), array(r, 'b', false, false)];
        let (to, from) = (self.uses[0].element, self.uses[1].element);
        if kind == Kind::Call {
            let operand = format!("b[{}]", index_of(r, "nb"));
            let value = expression(r, &[operand]);
            let name = format!("f{}{index}", if target { 't' } else { 'p' });
            // The function stands before the region's own.
            self.before = format!(
                "@static void {name}({to} *a, const {from} *b, long nb, long i, long k1, long k2) {{\n  \
                 a[i] = ({to})LOW(LOW(a[i]) + {value});\n}}\n#pragma omp declare target to({name})\n"
            );
            self.body =
                format!("for (long i = 0; i < na; i++) {{\n  {name}(a, b, nb, i, k1, k2);\n}}");
            return;
        }
        let value = expression(r, &["v.b[i % v.nb]".into(), "v.a[i]".into()]);
        self.before = format!(
            "struct {{\n  {to} *a;\n  {from} *b;\n  long na, nb;\n}} v = {{a, b, na, nb}};"
        );
        self.body = format!("for (long i = 0; i < na; i++) {{\n  v.a[i] = ({to})LOW({value});\n}}");
        self.after = "note(L, (Word)(v.a == a) + (v.b == b));".into();
    }

    fn globals(&mut self, r: &mut Random, kind: Kind) {
        self.uses = vec![array(r, 'a', true, true), array(r, 'b', false, true)];
        let operands = match r.below(3) {
            0 => vec!["b[i]".into(), "table[i % TABLE]".into(), "factor".into()],
            1 => vec!["a[i]".into(), "vector[(i + k1) % VECTOR]".into()],
            _ => vec!["b[i]".into(), "factor".into()],
        };
        let value = expression(r, &operands);
        self.reads = vec![0, 1, 3];
        let element = self.uses[0].element;
        let assign = format!("  a[i] = ({element})LOW({value});\n");
        if kind == Kind::ReadGlobals {
            self.body = format!("{OWN}\n{assign}}}");
            return;
        }
        // What it writes, it reads at the own index only.
        let value = expression(r, &["b[i]".into(), "factor".into()]);
        let (writes, change) = match r.below(3) {
            0 => (
                vec![2],
                format!("#pragma omp atomic\n  counter += ({value}) & 0xff;\n"),
            ),
            1 => (
                vec![0],
                format!(
                    "  if (i < TABLE) {{\n    table[i] = (unsigned)LOW(table[i] + {value});\n  }}\n"
                ),
            ),
            _ => (
                vec![1, 2],
                format!(
                    "  if (i < VECTOR) {{\n    vector[i] = (double)LOW({value});\n  }}\n\
                     #pragma omp atomic\n  counter += i;\n"
                ),
            ),
        };
        self.writes = writes;
        self.without_loop();
        self.reads = vec![0, 1, 2, 3];
        self.body = format!("{OWN}\n{change}  a[i] = ({element})LOW(b[i] + k1);\n}}");
    }

    fn nowait(&mut self, r: &mut Random) {
        self.uses = vec![
            array(r, 'a', true, false),
            array(r, 'b', true, false),
            array(r, 'c', false, false),
        ];
        let (a, b) = (self.uses[0].element, self.uses[1].element);
        let from = format!("c[{}]", index_of(r, "nc"));
        let first = expression(r, &["a[i]".into(), from]);
        // Either the regions share only what they read, or the second one follows the first.
        let (second, depend) = match r.one_in(2) {
            true => (
                expression(r, &["a[i % na]".into()]),
                " depend(inout : a[0])",
            ),
            false => (expression(r, &["c[i % nc]".into()]), ""),
        };
        self.clauses = format!(" nowait{depend}");
        self.directive = "target teams distribute parallel for".into();
        self.body = format!(
            "for (long i = 0; i < na; i++) {{\n  a[i] = ({a})LOW({first});\n}}\n@next\n\
             for (long i = 0; i < nb; i++) {{\n  b[i] = ({b})LOW({second});\n}}\n#pragma omp taskwait"
        );
    }

    /// Returns the function.
    fn text(&self, name: &str, kind: Kind, target: bool, may_stay: bool) -> String {
        let mut out = String::new();
        let before = match self.before.strip_prefix('@') {
            Some(function) => {
                out += function;
                ""
            }
            None => &self.before,
        };
        let w = &mut out;
        let _ = writeln!(w, "static void {name}(Lane *L, Random *r) {{");
        let by_name = self.reads.iter().chain(&self.writes);
        let used: u64 = by_name.map(|g| 1u64 << (9 + g)).fold(0, |a, b| a | b);
        let or = if kind == Kind::View {
            " | VIEW_USED"
        } else {
            ""
        };
        let _ = writeln!(w, "  int used = {used}{or};");
        let element = |u: &Use| u.element.to_ascii_uppercase();
        for u in &self.uses {
            let s = u.state();
            let _ = writeln!(w, "  Array *{s} = pick(L, r, {}, &used);", element(u));
        }
        let mut least = String::from("MOST");
        for u in &self.uses {
            let n = u.name;
            let _ = writeln!(w, "  long n{n} = {}->n;", u.state());
            least = format!("least({least}, n{n})");
        }
        let _ = writeln!(
            w,
            "  long k1 = draw(r, 50), k2 = 1 + draw(r, 20), n0 = {least}, lo = 0, n = n0;"
        );
        let _ = writeln!(
            w,
            "  if (draw(r, 3) == 0) lo = draw(r, n), n = 1 + draw(r, n - lo);"
        );
        if may_stay {
            let _ = writeln!(w, "  int here = draw(r, 4) == 0;");
        }
        self.prepare(w, target, may_stay);
        for u in &self.uses {
            let (n, s, t) = (u.name, u.state(), u.element);
            let _ = writeln!(w, "  {t} *{n} = ({t} *){s}->p;");
        }
        if !before.is_empty() {
            let _ = writeln!(w, "  {before}");
        }
        let pointers: Vec<_> = self
            .uses
            .iter()
            .filter(|u| u.mapping == Mapping::Pointer)
            .collect();
        for u in &pointers {
            let _ = writeln!(
                w,
                "#pragma omp target data use_device_ptr({})\n  {{",
                u.name
            );
        }
        let all: Vec<Use> = self.uses.clone();
        let (mut first, mut second) = (all.clone(), all);
        if kind == Kind::Nowait {
            first.remove(1);
            second.remove(if self.clauses.contains("depend") {
                2
            } else {
                0
            });
            second
                .iter_mut()
                .filter(|u| u.name == 'a')
                .for_each(|u| u.written = false);
        }
        let directive = self.directive_text(&first, kind, target, may_stay);
        let next = self.directive_text(&second, kind, target, may_stay);
        let body = self.body.replace("@next", &next);
        let _ = writeln!(w, "{directive}\n{body}");
        for _ in &pointers {
            let _ = writeln!(w, "  }}");
        }
        self.record(w, target, may_stay);
        let _ = writeln!(w, "  {}\n}}", self.after);
        out
    }

    /// Returns the directive with all clauses.
    fn directive_text(&self, uses: &[Use], kind: Kind, target: bool, may_stay: bool) -> String {
        if self.directive.is_empty() {
            return String::new();
        }
        let mut text = format!("#pragma omp {}{}", self.directive, self.clauses);
        if target && kind == Kind::View {
            text += " map(to : v)";
            for u in uses {
                text += &u
                    .clause()
                    .replace(&format!("{}[", u.name), &format!("v.{}[", u.name));
            }
        } else if target {
            for u in uses {
                text += &u.clause();
            }
        }
        if may_stay {
            text += " if(target : !here)";
        }
        text
    }

    /// Makes the copies current that the region reads.
    fn prepare(&self, w: &mut String, target: bool, may_stay: bool) {
        let states = || {
            let arrays = self.uses.iter().map(|u| u.state().to_string());
            arrays.chain(self.by_name())
        };
        if !target {
            for s in states() {
                let _ = writeln!(w, "  to_host({s});");
            }
            return;
        }
        if may_stay {
            let list: Vec<String> = states().map(|s| format!("to_host({s})")).collect();
            let _ = writeln!(w, "  if (here) {};", list.join(", "));
        }
        for u in &self.uses {
            let s = u.state();
            let _ = match u.mapping {
                Mapping::Plain => Ok(()),
                Mapping::Always => writeln!(w, "  to_host({s});"),
                _ => writeln!(w, "  hold({s});"),
            };
        }
        for s in states() {
            let _ = writeln!(w, "  to_device({s});");
        }
    }

    /// Returns the states of globals that are used by name.
    fn by_name(&self) -> impl Iterator<Item = String> {
        let mut all = self.reads.clone();
        all.extend(&self.writes);
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|g| format!("&globals[{g}]"))
    }

    /// Records which copies the region has changed.
    fn record(&self, w: &mut String, target: bool, may_stay: bool) {
        let mut changed: Vec<(String, bool)> = Vec::new();
        for u in self.uses.iter().filter(|u| u.written) {
            changed.push((u.state().to_string(), u.mapping == Mapping::Always));
        }
        for g in &self.writes {
            changed.push((format!("&globals[{g}]"), false));
        }
        for (s, always) in changed {
            let on_device = match always {
                true => format!("(to_host({s}), to_device({s}))"),
                false => format!("wrote_device({s})"),
            };
            let _ = match (target, may_stay) {
                (false, _) => writeln!(w, "  wrote_host({s});"),
                (true, false) => writeln!(w, "  {on_device};"),
                (true, true) => writeln!(w, "  here ? wrote_host({s}) : {on_device};"),
            };
        }
    }
}
