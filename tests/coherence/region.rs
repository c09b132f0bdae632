//! Regions of the generated programs: which arrays they use and how those are mapped, and the text of
//! a region's function around its body.
//!
//! Bodies are left to [`super::body`].

use super::Random;
use std::fmt::Write;

/// Bodies of regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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

pub(super) const KINDS: [(Kind, &str); 18] = [
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

/// How a region maps an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mapping {
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
pub(super) struct Use {
    /// Name in the region; the upper case names its state.
    pub(super) name: char,
    pub(super) element: &'static str,
    pub(super) written: bool,
    /// True if all elements of the section are written before they are read.
    pub(super) overwritten: bool,
    /// True if only the elements of the loop's indices are used.
    pub(super) own: bool,
    pub(super) mapping: Mapping,
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
pub(super) struct Region {
    pub(super) name: String,
    pub(super) text: String,
    /// True if it may only run while no other thread runs regions.
    pub(super) serial: bool,
}

/// Parts of a region's function.
pub(super) struct Parts {
    pub(super) uses: Vec<Use>,
    /// Declarations before the region.
    pub(super) before: String,
    /// Clauses beside those for arrays.
    pub(super) clauses: String,
    pub(super) directive: String,
    pub(super) body: String,
    pub(super) after: String,
    /// Globals that it reads and writes by their names, as numbers of `globals`.
    pub(super) reads: Vec<usize>,
    pub(super) writes: Vec<usize>,
}

impl Region {
    pub(super) fn random(r: &mut Random, target: bool, index: usize, without: &[String]) -> Region {
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

impl Parts {
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
