//! OpenMP of generated programs. The result of a region does not depend on the division of its
//! work: elements are written by index, updates commute, floating-point sums are of small whole
//! numbers, `ordered` keeps the order, and bodies are free of calls, output and fuel. So any number
//! of threads and any schedule print the same.
//!
//! Uses no tasks or `target`, which this version refuses, nor cancellation, whose outcome is
//! random.

use super::{Gen, Ty, Var};

/// One reduction: operator, type, and the way in which a value is combined.
struct Reduction {
    name: String,
    op: &'static str,
    ty: Ty,
}

impl Gen {
    pub(super) fn openmp_function(&mut self, cpp: bool) {
        match self.rng.below(10) {
            0..=4 => self.loop_function(cpp),
            5 | 6 => self.region_function(cpp),
            7 => self.threadprivate_function(),
            8 => self.nested_function(),
            _ => self.simd_function(),
        }
    }

    fn schedule(&mut self) -> String {
        let kind = self.rng.pick(&[
            "",
            "static",
            "dynamic",
            "guided",
            "auto",
            "runtime",
            "static",
            "dynamic",
            "monotonic: dynamic",
            "nonmonotonic: dynamic",
            "nonmonotonic: guided",
        ]);
        if kind.is_empty() {
            return String::new();
        }
        let chunk = if kind != "auto" && kind != "runtime" && self.rng.chance(50) {
            format!(", {}", 1 + self.rng.below(9))
        } else {
            String::new()
        };
        format!(" schedule({kind}{chunk})")
    }

    fn team(&mut self) -> String {
        let mut text = String::new();
        if self.rng.chance(30) {
            text += &format!(" num_threads({})", 1 + self.rng.below(5));
        }
        if self.rng.chance(12) {
            let c = self.condition(1);
            text += &format!(" if({c})");
        }
        if self.rng.chance(10) {
            text += self.rng.pick(&[" proc_bind(close)", " proc_bind(spread)"]);
        }
        text
    }

    fn reductions(&mut self) -> Vec<Reduction> {
        let mut list = Vec::new();
        for _ in 0..self.rng.below(4) {
            let (op, types): (&str, &[Ty]) = self.rng.pick(&[
                (
                    "+",
                    &[Ty::U8, Ty::U16, Ty::U32, Ty::U64, Ty::F64, Ty::F32][..],
                ),
                ("*", &[Ty::U32, Ty::U64]),
                ("^", &Ty::INTS),
                ("|", &Ty::INTS),
                ("&", &Ty::INTS),
                ("max", &Ty::INTS),
                ("min", &Ty::INTS),
                ("&&", &[Ty::U8, Ty::I32, Ty::I64]),
                ("||", &[Ty::U8, Ty::I32]),
            ]);
            let ty = self.rng.pick(types);
            let name = self.fresh("red");
            let start = match op {
                _ if ty.is_float() => "4".into(),
                "*" => "3".into(),
                _ => self.expr(ty, 1),
            };
            self.line(&format!("{} {name} = {start};", ty.c()));
            list.push(Reduction { name, op, ty });
        }
        list
    }

    fn join(&mut self, r: &Reduction) {
        let (n, t) = (&r.name, r.ty.c());
        let value = if r.ty.is_float() {
            let e = self.expr(Ty::U8, 2);
            format!("({t})(u8)({e})")
        } else {
            self.expr(r.ty, 2)
        };
        let text = match r.op {
            "max" => format!("{{ {t} t_ = {value}; if (t_ > {n}) {n} = t_; }}"),
            "min" => format!("{{ {t} t_ = {value}; if (t_ < {n}) {n} = t_; }}"),
            "&&" | "||" => format!("{n} = {n} {} ({value});", r.op),
            "+" | "*" if !r.ty.is_float() => {
                format!(
                    "{n} = ({t})(({w}){n} {} ({w})({value}));",
                    r.op,
                    w = r.ty.wide()
                )
            }
            op => format!("{n} {op}= {value};"),
        };
        self.line(&text);
    }

    fn clauses(list: &[Reduction]) -> String {
        list.iter()
            .map(|r| format!(" reduction({}: {})", r.op, r.name))
            .collect()
    }

    /// Returns a loop header over `len` iterations, with a counter of any type and direction, and
    /// the number of the iteration.
    fn header(&mut self, i: &str, len: usize) -> (String, String, Ty) {
        let ty = self
            .rng
            .pick(&[Ty::I32, Ty::U32, Ty::I64, Ty::U64, Ty::I16]);
        let (t, step) = (ty.c(), 1 + self.rng.below(4));
        let from = self.rng.below(20);
        let to = from + len * step;
        match self.rng.below(5) {
            0 => (
                format!("for ({t} {i} = {}; {i} > {from}; {i} -= {step})", to),
                format!("(({to} - {i}) / {step})"),
                ty,
            ),
            1 if step == 1 => (
                format!("for ({t} {i} = {from}; {i} != {to}; {i}++)"),
                format!("({i} - {from})"),
                ty,
            ),
            2 => (
                format!("for ({t} {i} = {from}; {i} <= ({t})({to} - {step}); {i} += {step})"),
                format!("(({i} - {from}) / {step})"),
                ty,
            ),
            _ => (
                format!("for ({t} {i} = {from}; {i} < {to}; {i} += {step})"),
                format!("(({i} - {from}) / {step})"),
                ty,
            ),
        }
    }

    /// Generates the body of an iteration: private work, one element, the reductions.
    fn iteration(&mut self, out: &str, ty: Ty, index: &str, list: &[Reduction], cpp: bool) {
        let keep = self.vars.len();
        let outer: Vec<Var> = self.vars.clone();
        for v in &mut self.vars {
            v.writable = false;
        }
        self.locals(2);
        let count = 1 + self.rng.below(3);
        self.pure_block(count, 2);
        if cpp && self.rng.chance(25) {
            let c = self.condition(1);
            let e = self.expr(Ty::U64, 1);
            let target = self
                .vars
                .iter()
                .rev()
                .find(|v| v.writable && !v.ty.is_float());
            if let Some(v) = target.cloned() {
                self.line(&format!(
                    "try {{ Quiet q(1); if ({c}) throw Failure({e}); {n} ^= ({t})q.v; }} catch (const Failure &f) {{ {n} = ({t})(({n} & 63) + (f.code & 63)); }}",
                    n = v.name,
                    t = v.ty.c()
                ));
            }
        }
        let value = self.expr(ty, 2);
        self.line(&format!("{out}[{index}] = {value};"));
        for r in list {
            if self.rng.chance(30) {
                let c = self.condition(1);
                self.open(&format!("if ({c}) {{"));
                self.join(r);
                self.close();
            } else {
                self.join(r);
            }
        }
        self.vars.truncate(keep);
        self.vars = outer;
    }

    /// Prints reductions and an array.
    fn show(&mut self, list: &[Reduction], out: &str, ty: Ty, len: usize) {
        for r in list {
            self.trail(&r.name, r.ty);
        }
        self.open(&format!("for (int k = 0; k < {len}; k++) {{"));
        self.trail(&format!("{out}[k]"), ty);
        self.close();
    }

    fn loop_function(&mut self, cpp: bool) {
        let name = self.begin(400);
        let len = 1 + self.rng.below(200);
        let ty = self.any_type();
        let out = self.fresh("out");
        self.line(&format!("static {} {out}[{}];", ty.c(), len.max(8) * 2));
        let list = self.reductions();
        let mut clauses = Self::clauses(&list);
        let pair = self.rng.chance(20);
        if pair {
            self.line("Pair pair = pair_zero();");
            clauses += " reduction(pair: pair)";
        }
        if self.rng.chance(40) {
            clauses += " firstprivate(p1)";
        }
        let last = self.rng.chance(30);
        if last {
            self.line("u64 last = 1;");
            clauses += " lastprivate(last)";
        }
        let ordered = !last && self.rng.chance(15);
        if ordered {
            self.line("u64 chain = p0;");
            clauses += " ordered";
        }
        let schedule = self.schedule();
        // libomp does not always find the last iteration when threads steal chunks.
        let steals = schedule.contains("dynamic") || schedule.contains("runtime");
        let refused = ordered && schedule.contains("nonmonotonic");
        if !(refused || (last && steals)) {
            clauses += &schedule;
        }
        let (i, collapse) = (self.fresh("at"), !ordered && self.rng.chance(20));
        let team = self.team();
        let split = self.rng.chance(25);
        if split {
            self.line(&format!("#pragma omp parallel{team}"));
            self.line(&format!(
                "#pragma omp for{clauses}{}",
                if collapse { " collapse(2)" } else { "" }
            ));
        } else {
            let construct = self
                .rng
                .pick(&["parallel for", "parallel for", "parallel for simd"]);
            let construct = if ordered || cpp {
                "parallel for"
            } else {
                construct
            };
            self.line(&format!(
                "#pragma omp {construct}{team}{clauses}{}",
                if collapse { " collapse(2)" } else { "" }
            ));
        }
        let keep = self.vars.len();
        let index;
        if collapse {
            let j = self.fresh("bt");
            let inner = 1 + self.rng.below(6);
            self.line(&format!(
                "for (int {i} = 0; {i} < {}; {i}++)",
                len.div_ceil(inner)
            ));
            self.open(&format!("for (int {j} = 0; {j} < {inner}; {j}++) {{"));
            index = format!("{i} * {inner} + {j}");
            self.vars.push(self.var(&i, Ty::I32, false));
            self.vars.push(self.var(&j, Ty::I32, false));
        } else {
            let (header, number, counter) = self.header(&i, len);
            self.open(&format!("{header} {{"));
            index = number;
            self.vars.push(self.var(&i, counter, false));
        }
        self.iteration(&out, ty, &index, &list, cpp);
        if pair {
            let e = self.expr(Ty::U64, 2);
            self.line(&format!("{{ Pair one; one.sum = {e}; one.mix = (u32)one.sum * 3; one.any = 1; pair_add(&pair, &one); }}"));
        }
        if last {
            let e = self.expr(Ty::U64, 2);
            self.line(&format!("last = {e};"));
        }
        if ordered {
            self.line("#pragma omp ordered");
            self.line(&format!("chain = chain * 3 + (u64)({index});"));
        }
        self.vars.truncate(keep);
        self.close();
        self.show(&list, &out, ty, len);
        for (on, text) in [
            (pair, "trail(pair.sum ^ pair.mix ^ pair.any);"),
            (last, "trail(last);"),
            (ordered, "trail(chain);"),
        ] {
            if on {
                self.line(text);
            }
        }
        self.end(name, "p0 + 3");
    }

    /// Generates a region with several constructs in it.
    fn region_function(&mut self, cpp: bool) {
        let name = self.begin(700);
        let len = 1 + self.rng.below(64);
        let ty = self.any_type();
        let (a, b) = (self.fresh("out"), self.fresh("out"));
        self.line(&format!("static {t} {a}[64], {b}[64];", t = ty.c()));
        self.line("u64 sum = 0, mix = 1, one = 0, two = 0, three = 0, got = 0, firsts = 0; u32 count = 0; i32 lo = 1 << 30; double ds = 0;");
        let team = self.team();
        self.open(&format!("#pragma omp parallel{team} firstprivate(p1)\n{{"));
        let (i, j) = (self.fresh("at"), self.fresh("at"));
        for _ in 0..2 + self.rng.below(5) {
            let nowait = self.rng.chance(40);
            let wait = if nowait { " nowait" } else { "" };
            let e = self.expr(Ty::U64, 2);
            let e2 = self.expr(Ty::U64, 2);
            match self.rng.below(10) {
                0 => {
                    let schedule = self.schedule();
                    self.line(&format!("#pragma omp for{schedule}{wait}"));
                    self.open(&format!("for (int {i} = 0; {i} < {len}; {i}++) {{"));
                    self.vars.push(self.var(&i, Ty::I32, false));
                    self.iteration(&a, ty, &i, &[], cpp);
                    self.vars.pop();
                    self.close();
                    self.line("#pragma omp barrier");
                }
                1 => {
                    let schedule = self.schedule();
                    self.line(&format!("#pragma omp for{schedule} reduction(+: ds)"));
                    self.open(&format!("for (u32 {j} = 0; {j} < {len}; {j}++) {{"));
                    self.line(&format!(
                        "{b}[{j}] = {a}[({j} * 7) % {len}u]; ds += {j} & 7;"
                    ));
                    self.close();
                }
                2 => {
                    self.line(&format!("#pragma omp sections{wait}"));
                    self.open("{");
                    for target in ["one", "two", "three"] {
                        let e = self.expr(Ty::U64, 2);
                        self.line("#pragma omp section");
                        self.line(&format!("{target} = {target} * 3 + ({e});"));
                    }
                    self.close();
                    if nowait {
                        self.line("#pragma omp barrier");
                    }
                }
                3 => {
                    let mine = self.fresh("mine");
                    self.line(&format!("u64 {mine} = 0;"));
                    self.line(&format!("#pragma omp single copyprivate({mine})"));
                    self.line(&format!("{{ {mine} = {e}; got += {mine}; }}"));
                    self.line("#pragma omp critical");
                    self.line(&format!("mix |= {mine};"));
                    self.line("#pragma omp barrier");
                }
                4 => {
                    let named = self.rng.pick(&["", "(a)", "(b)"]);
                    self.line(&format!("#pragma omp for{wait}"));
                    self.open(&format!("for (int {i} = 0; {i} < {len}; {i}++) {{"));
                    // Each critical name guards its own variable, so that two names never guard the
                    // same one.
                    let target = match named {
                        "(a)" => "got",
                        "(b)" => "three",
                        _ => "firsts",
                    };
                    self.line(&format!("#pragma omp critical{named}"));
                    self.line(&format!("{target} += (u64){i} * ({e2});"));
                    self.close();
                    self.line("#pragma omp barrier");
                }
                5 => {
                    let op = self.rng.pick(&[
                        "atomic\n  sum += X;",
                        "atomic\n  mix ^= X;",
                        "atomic\n  mix |= X;",
                        "atomic\n  count++;",
                        "atomic\n  ds += 3;",
                        "atomic seq_cst\n  sum -= X;",
                    ]);
                    self.line("#pragma omp for");
                    self.open(&format!("for (int {i} = 0; {i} < {len}; {i}++) {{"));
                    self.line(&format!(
                        "#pragma omp {}",
                        op.replace('X', &format!("((u64){i} * 5 + ({e}))"))
                    ));
                    self.close();
                }
                6 => {
                    let who = self.rng.pick(&["masked", "master"]);
                    self.line(&format!("#pragma omp {who}"));
                    self.line(&format!("two += {e};"));
                    self.line("#pragma omp barrier");
                }
                7 => {
                    self.line(&format!("#pragma omp for{wait}"));
                    self.open(&format!("for (int {i} = 0; {i} < {len}; {i}++) {{"));
                    self.line(&format!(
                        "omp_set_lock(&lock_); sum += (u64){i} ^ ({e}); omp_unset_lock(&lock_);"
                    ));
                    self.close();
                    self.line("#pragma omp barrier");
                }
                8 => {
                    self.line("{ int t_ = omp_get_thread_num(), n_ = omp_get_num_threads();");
                    self.open(&format!("for (int {i} = t_; {i} < {len}; {i} += n_) {{"));
                    self.vars.push(self.var(&i, Ty::I32, false));
                    self.iteration(&b, ty, &i, &[], cpp);
                    self.vars.pop();
                    self.close();
                    self.line("}");
                    self.line("#pragma omp barrier");
                }
                _ => {
                    let schedule = self.rng.pick(&["", " schedule(dynamic, 2)"]);
                    self.line(&format!("#pragma omp for reduction(min: lo){schedule}"));
                    self.line(&format!("for (int {i} = 0; {i} < {len}; {i}++) {{ i32 t_ = (i32)({e}) ^ ({i} * 77); if (t_ < lo) lo = t_; }}"));
                }
            }
        }
        self.close();
        self.line("trail(sum); trail(mix); trail(one + two + three); trail(got + firsts); trail(count + (u64)lo); trail(dbits(ds));");
        self.show(&[], &a, ty, len);
        self.show(&[], &b, ty, len);
        self.end(name, "p0 ^ sum");
    }

    fn threadprivate_function(&mut self) {
        let name = self.begin(300);
        let threads = 1 + self.rng.below(4);
        let (e, e2) = (self.expr(Ty::U64, 2), self.expr(Ty::U64, 1));
        self.line(&format!(
            "u64 total = 0; double part = 0; own = {e}; own_d = 2;"
        ));
        let copyin = self.rng.chance(70);
        self.open(&format!(
            "#pragma omp parallel num_threads({threads}){} reduction(+: part)\n{{",
            if copyin { " copyin(own, own_d)" } else { "" }
        ));
        if !copyin {
            self.line("own = p0; own_d = 1;");
        }
        let i = self.fresh("at");
        self.line(&format!(
            "for (int {i} = 0; {i} < 20; {i}++) {{ own = own * 3 + ({e2}); own_d += 1; }}"
        ));
        self.line("part += own_d;");
        self.line("#pragma omp critical");
        self.line("total += own;");
        self.close();
        self.line("trail(total); trail(dbits(part)); trail(own);");
        self.end(name, "p0 + total");
    }

    fn nested_function(&mut self) {
        let name = self.begin(700);
        let (outer, inner) = (1 + self.rng.below(4), 1 + self.rng.below(3));
        let levels = 1 + self.rng.below(3);
        let e = self.expr(Ty::U64, 2);
        let (i, j) = (self.fresh("at"), self.fresh("bt"));
        let rows = 1 + self.rng.below(9);
        let schedule = self.schedule();
        self.line(&format!(
            "u64 sum = 0; omp_set_max_active_levels({levels}); static u64 grid[9][24];"
        ));
        self.line(&format!(
            "#pragma omp parallel for num_threads({outer}) reduction(+: sum)"
        ));
        self.open(&format!("for (int {i} = 0; {i} < {rows}; {i}++) {{"));
        self.line("u64 part = 0;");
        self.line(&format!(
            "#pragma omp parallel for num_threads({inner}) reduction(^: part){schedule}"
        ));
        self.open(&format!("for (int {j} = 0; {j} < 24; {j}++) {{"));
        self.vars.push(self.var(&i, Ty::I32, false));
        self.vars.push(self.var(&j, Ty::I32, false));
        let value = self.expr(Ty::U64, 3);
        self.line(&format!(
            "grid[{i}][{j}] = {value}; part ^= grid[{i}][{j}] * 3 + ({e});"
        ));
        self.vars.truncate(2);
        self.close();
        self.line("sum += part;");
        self.close();
        self.line(&format!("trail(sum); for (int k = 0; k < {rows}; k++) for (int l = 0; l < 24; l += 5) trail(grid[k][l]);"));
        self.end(name, "sum");
    }

    fn simd_function(&mut self) {
        let name = self.begin(300);
        let len = 1 + self.rng.below(150);
        let ty = self
            .rng
            .pick(&[Ty::I32, Ty::U8, Ty::U16, Ty::U64, Ty::F32, Ty::F64]);
        let out = self.fresh("out");
        self.line(&format!("static {} {out}[160]; u64 sum = 0;", ty.c()));
        let i = self.fresh("at");
        let directive = self.rng.pick(&[
            "#pragma omp simd reduction(+: sum)",
            "#pragma omp simd reduction(+: sum) simdlen(8)",
            "#pragma omp parallel for simd reduction(+: sum) schedule(static, 16)",
        ]);
        self.line(directive);
        self.open(&format!("for (int {i} = 0; {i} < {len}; {i}++) {{"));
        self.vars.push(self.var(&i, Ty::I32, false));
        let (value, more) = (self.expr(ty, 3), self.expr(Ty::U64, 2));
        self.line(&format!("{out}[{i}] = {value}; sum += {more};"));
        self.vars.pop();
        self.close();
        self.line("trail(sum);");
        self.show(&[], &out, ty, len);
        self.end(name, "p0 - sum");
    }
}
