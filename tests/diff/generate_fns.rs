//! Functions of generated programs, one generator per shape: scalar code, structs by value,
//! vectors, recursion, a small state machine of labels as values, and `main`, which calls them all.
//! Calls are separate statements, since the order of calls inside one expression would be
//! unspecified.

use super::{FUEL, Func, Gen, Ty, Var};

impl Gen {
    pub(super) fn scalar_function(&mut self, uniform: bool) {
        let name = if uniform {
            format!("h{}", self.uniform)
        } else {
            self.fresh("f")
        };
        let ret = if uniform { Ty::U64 } else { self.any_type() };
        let params: Vec<Ty> = if uniform {
            vec![Ty::U64; 2]
        } else {
            (0..1 + self.rng.below(9))
                .map(|_| self.any_type())
                .collect()
        };
        let list: Vec<String> = params
            .iter()
            .enumerate()
            .map(|(i, t)| format!("{} p{i}", t.c()))
            .collect();
        let attr = self.rng.pick(&["", "", "__attribute__((noinline)) "]);
        self.open(&format!(
            "{attr}static {} {name}({}) {{",
            ret.c(),
            list.join(", ")
        ));
        self.vars = params
            .iter()
            .enumerate()
            .map(|(i, t)| Var {
                name: format!("p{i}"),
                ty: *t,
                writable: true,
            })
            .collect();
        self.line(&format!("if (--fuel < 0) return ({})p0;", ret.c()).replace(
            "p0;",
            if params[0].is_float() && !ret.is_float() {
                "d2i((double)p0);"
            } else {
                "p0;"
            },
        ));
        for _ in 0..2 + self.rng.below(3) {
            let ty = self.any_type();
            self.declare(ty);
        }
        for _ in 0..3 + self.rng.below(5) {
            self.statement(2);
        }
        for var in self.vars.clone() {
            if self.rng.chance(50) {
                self.trail(&var.name, var.ty);
            }
        }
        let value = self.expr(ret, 2);
        self.line(&format!("return {value};"));
        self.close();
        if uniform {
            self.uniform += 1;
        }
        self.funcs.push(Func { name, params, ret });
    }

    /// Generates a pair of functions: one that takes and returns a struct by value, one that makes
    /// and hashes it.
    pub(super) fn struct_function(&mut self) {
        let s = self.rng.pick(&self.structs.clone());
        let (step, name) = (self.fresh("sv"), self.fresh("f"));
        self.vars = vec![Var {
            name: "k".into(),
            ty: Ty::U32,
            writable: true,
        }];
        for (field, ty, _) in &s.fields {
            self.vars.push(Var {
                name: format!("s.{field}"),
                ty: *ty,
                writable: true,
            });
            self.vars.push(Var {
                name: format!("q->{field}"),
                ty: *ty,
                writable: true,
            });
        }
        let head = format!(
            "struct {} {step}(struct {} s, u32 k, struct {} *q)",
            s.name, s.name, s.name
        );
        self.open(&format!("__attribute__((noinline)) static {head} {{"));
        for _ in 0..3 + self.rng.below(4) {
            self.assign();
        }
        self.line("return s;");
        self.close();
        self.open(&format!("static u64 {name}(u64 p0) {{"));
        self.vars = vec![Var {
            name: "p0".into(),
            ty: Ty::U64,
            writable: false,
        }];
        self.line("if (--fuel < 0) return p0;");
        for object in ["a", "b"] {
            let values: Vec<String> = s
                .fields
                .iter()
                .map(|(_, ty, _)| self.expr(*ty, 1))
                .collect();
            self.line(&format!(
                "struct {} {object} = {{{}}};",
                s.name,
                values.join(", ")
            ));
        }
        self.line(&format!(
            "for (u32 i = 0; i < 6; i++) a = {step}(i & 1 ? b : a, i, &b);"
        ));
        for object in ["a", "b"] {
            for (field, ty, _) in &s.fields {
                self.trail(&format!("{object}.{field}"), *ty);
            }
        }
        self.line("return p0 * 3 + 1;");
        self.close();
        self.funcs.push(Func {
            name,
            params: vec![Ty::U64],
            ret: Ty::U64,
        });
    }

    pub(super) fn vector_function(&mut self) {
        let name = self.fresh("f");
        self.open(&format!("static u64 {name}(u64 p0, u32 p1) {{"));
        self.line("if (--fuel < 0) return p0;");
        self.line("v4u a = {(u32)p0, p1, (u32)(p0 >> 32), 7}, b = {1, (u32)opaque, 3, p1 * 5}, c = a ^ b;");
        self.open("for (int i = 0; i < 5 && --fuel > 0; i++) {");
        for _ in 0..3 + self.rng.below(5) {
            let (x, y, z) = (
                self.rng.pick(&["a", "b", "c"]),
                self.rng.pick(&["a", "b", "c"]),
                self.rng.pick(&["a", "b", "c"]),
            );
            let k = self.rng.below(31) + 1;
            let text = match self.rng.below(8) {
                0 => format!("{x} = {y} + {z};"),
                1 => format!("{x} = {y} * {z};"),
                2 => format!("{x} = {y} - {z};"),
                3 => format!("{x} ^= {y} >> ({z} & 31);"),
                4 => format!("{x} = {y} << {k} | {z} >> {};", 32 - k),
                5 => format!("{x} = (v4u)({y} > {z}) & {x};"),
                6 => format!("{x}[(u32)i & 3] = {y}[{}] + {k};", k & 3),
                _ => format!("{x} = {y} / ({z} | 1) + {k};"),
            };
            self.line(&text);
        }
        self.close();
        self.line("for (int i = 0; i < 4; i++) trail((u64)a[i] << 32 ^ (u64)b[i] << 16 ^ c[i]);");
        self.line("return p0 ^ a[1];");
        self.close();
        self.funcs.push(Func {
            name,
            params: vec![Ty::U64, Ty::U32],
            ret: Ty::U64,
        });
    }

    pub(super) fn recursive_function(&mut self) {
        let (inner, name) = (self.fresh("rec"), self.fresh("f"));
        let ty = self.any_int();
        let t = ty.c();
        self.vars = vec![
            Var {
                name: "x".into(),
                ty,
                writable: true,
            },
            Var {
                name: "n".into(),
                ty: Ty::U32,
                writable: false,
            },
        ];
        self.open(&format!("static {t} {inner}(u32 n, {t} x) {{"));
        let stop = self.expr(ty, 2);
        self.line(&format!("if (n == 0 || --fuel < 0) return {stop};"));
        self.assign();
        let branch = self.condition(1);
        let (a, b) = (self.expr(ty, 2), self.expr(ty, 1));
        self.line(&format!("{t} r = {inner}(n - 1, {a});"));
        self.line(&format!(
            "if {branch} r = ({t})(({w})r + ({w}){inner}(n / 2, {b}));",
            w = ty.wide()
        ));
        self.line("return r;");
        self.close();
        self.open(&format!("static {t} {name}({t} p0) {{"));
        let depth = 5 + self.rng.below(8);
        self.line(&format!("{t} r = {inner}({depth}, p0);"));
        self.trail("r", ty);
        self.line("return r;");
        self.close();
        self.funcs.push(Func {
            name,
            params: vec![ty],
            ret: ty,
        });
    }

    /// Generates a small state machine driven by labels as values.
    pub(super) fn machine_function(&mut self) {
        let name = self.fresh("f");
        let ops = 3 + self.rng.below(4);
        self.open(&format!("static u64 {name}(u64 p0) {{"));
        self.vars = vec![
            Var {
                name: "x".into(),
                ty: Ty::U64,
                writable: true,
            },
            Var {
                name: "y".into(),
                ty: Ty::I32,
                writable: true,
            },
        ];
        let labels: Vec<String> = (0..ops).map(|i| format!("&&op{i}")).collect();
        self.line(&format!(
            "static const void *const ops[] = {{{}, &&halt}};",
            labels.join(", ")
        ));
        let code: Vec<String> = (0..16).map(|_| self.rng.below(ops).to_string()).collect();
        self.line(&format!(
            "static const u8 code[] = {{{}, {ops}}};",
            code.join(", ")
        ));
        self.line("u64 x = p0; i32 y = 5; u32 pc = 0; int left = 60;");
        self.line("goto *ops[code[pc++]];");
        for i in 0..ops {
            self.line(&format!("op{i}:"));
            self.assign();
            if self.rng.chance(40) {
                let c = self.condition(1);
                let to = self.rng.below(16);
                self.line(&format!("if ({c} && --left > 0 && --fuel > 0) pc = {to};"));
            }
            self.line("goto *ops[code[pc++]];");
        }
        self.line("halt:");
        self.line("trail(x); trail((u64)y);");
        self.line("return x ^ (u64)y;");
        self.close();
        self.funcs.push(Func {
            name,
            params: vec![Ty::U64],
            ret: Ty::U64,
        });
    }

    pub(super) fn main(&mut self) {
        self.open("int main(void) {");
        self.line("u64 v = opaque;");
        self.vars = vec![Var {
            name: "v".into(),
            ty: Ty::U64,
            writable: false,
        }];
        for func in self.funcs.clone() {
            let rounds = 2 + self.rng.below(4);
            self.open(&format!("for (int n = 0; n < {rounds}; n++) {{"));
            self.line(&format!("fuel = {};", FUEL as usize / self.funcs.len()));
            let args: Vec<String> = func.params.iter().map(|t| self.expr(*t, 2)).collect();
            self.line(&format!(
                "{} r = {}({});",
                func.ret.c(),
                func.name,
                args.join(", ")
            ));
            self.trail("r", func.ret);
            self.line("v = v * 0x5851f42d4c957f2du + (unsigned)n + 1;");
            self.close();
        }
        for (name, ty, len) in self.arrays.clone() {
            self.open(&format!("for (int i = 0; i < {len}; i++) {{"));
            self.trail(&format!("{name}[i]"), ty);
            self.close();
        }
        self.line("printf(\"%u %016llx\\n\", trail_count, (unsigned long long)hash_);");
        self.line("return (int)(hash_ % 7);");
        self.close();
    }

    /// Generates a call of an earlier function, directly or through the table, and keeps its result
    /// in a fresh variable.
    pub(super) fn call(&mut self) {
        if self.funcs.is_empty() {
            return self.assign();
        }
        let func = self.rng.pick(&self.funcs.clone());
        let args: Vec<String> = func.params.iter().map(|t| self.expr(*t, 2)).collect();
        let name = self.fresh("r");
        let pointer =
            self.uniform > 0 && func.params == [Ty::U64, Ty::U64] && func.name.starts_with('h');
        if pointer && self.rng.chance(60) {
            let index = self.expr(Ty::U32, 1);
            self.line("{");
            self.line(&format!(
                "  static u64 (*const table[])(u64, u64) = {{{}}};",
                (0..self.uniform)
                    .map(|i| format!("h{i}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
            self.line(&format!(
                "  u64 {name} = table[(u32)({index}) % {}u]({}); trail({name});",
                self.uniform,
                args.join(", ")
            ));
            self.line("}");
            return;
        }
        self.line(&format!(
            "{} {name} = {}({});",
            func.ret.c(),
            func.name,
            args.join(", ")
        ));
        self.trail(&name, func.ret);
        // Not added to the scope: the declaration may be in a switch case that is left early.
    }
}
