//! Bodies of regions, of each kind: loops, clauses, and what they do with arrays.

use super::Random;
use super::region::{Kind, Mapping, Parts, Use};
use std::fmt::Write;

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
    pub(super) fn random(r: &mut Random, kind: Kind, target: bool, index: usize) -> Parts {
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
}
