//! Statements of generated programs: assignments, branches, loops, switches and loops by `goto`.
//! Each loop burns fuel, so that a program ends no matter what its conditions are. Calls and whole
//! functions are generated elsewhere.

use super::{Gen, Ty, Var};

impl Gen {
    pub(super) fn block(&mut self, depth: usize) {
        let keep = self.vars.len();
        if self.rng.chance(40) {
            let ty = self.any_type();
            self.declare(ty);
        }
        for _ in 0..1 + self.rng.below(3) {
            self.statement(depth);
        }
        self.vars.truncate(keep);
    }

    pub(super) fn statement(&mut self, depth: usize) {
        match self.rng.below(if depth == 0 { 8 } else { 14 }) {
            0..=2 => self.assign(),
            3 | 4 => {
                let (name, ty, len) = self.rng.pick(&self.arrays.clone());
                let (index, value) = (self.expr(Ty::U32, 1), self.expr(ty, 2));
                self.line(&format!("{name}[(u32)({index}) & {}] = {value};", len - 1));
            }
            5 => self.call(),
            6 => {
                let ty = self.any_type();
                let value = self.expr(ty, 3);
                self.trail(&value, ty);
            }
            7 if self.loops > 0 && self.rng.chance(60) => {
                let (c, word) = (self.condition(1), self.rng.pick(&["break", "continue"]));
                self.line(&format!("if {c} {word};"));
            }
            7 => self.assign(),
            8 | 9 => {
                let c = self.condition(2);
                self.open(&format!("if ({c}) {{"));
                self.block(depth - 1);
                if self.rng.chance(50) {
                    self.indent -= 1;
                    self.open("} else {");
                    self.block(depth - 1);
                }
                self.close();
            }
            10 | 11 => self.loop_statement(depth),
            12 => self.switch(depth),
            _ => self.goto_loop(depth),
        }
    }

    pub(super) fn assign(&mut self) {
        let targets: Vec<Var> = self.vars.iter().filter(|v| v.writable).cloned().collect();
        if targets.is_empty() {
            return;
        }
        let target = self.rng.pick(&targets);
        let value = self.expr(target.ty, 3);
        self.line(&format!("{} = {value};", target.name));
    }

    pub(super) fn loop_statement(&mut self, depth: usize) {
        let counter = self.fresh("it");
        let limit = 1 + self.rng.below(12);
        let ty = self.rng.pick(&[Ty::I32, Ty::U32, Ty::U8, Ty::I64, Ty::I16]);
        let form = self.rng.below(3);
        let step = 1 + self.rng.below(3);
        match form {
            0 => self.open(&format!(
                "for ({} {counter} = 0; {counter} < {limit} && --fuel > 0; {counter} += {step}) {{",
                ty.c()
            )),
            1 => {
                self.line(&format!("{} {counter} = {limit};", ty.c()));
                self.open(&format!("while ({counter}-- > 0 && --fuel > 0) {{"));
            }
            _ => {
                self.line(&format!("{} {counter} = 0;", ty.c()));
                self.open("do {");
            }
        }
        self.vars.push(Var {
            name: counter.clone(),
            ty,
            writable: false,
        });
        self.loops += 1;
        self.block(depth - 1);
        self.loops -= 1;
        self.vars.pop();
        if form == 2 {
            self.indent -= 1;
            self.line(&format!("}} while (++{counter} < {limit} && --fuel > 0);"));
        } else {
            self.close();
        }
    }

    /// Generates a loop of a label and a `goto`. Its body has no `break` or `continue`, which would
    /// belong to the enclosing loop.
    pub(super) fn goto_loop(&mut self, depth: usize) {
        let (label, counter) = (self.fresh("L"), self.fresh("k"));
        let limit = 1 + self.rng.below(6);
        self.line(&format!("int {counter} = 0;"));
        self.open(&format!("{label}: {{"));
        let outer = std::mem::take(&mut self.loops);
        self.block(depth - 1);
        self.loops = outer;
        self.close();
        self.line(&format!(
            "if (++{counter} < {limit} && --fuel > 0) goto {label};"
        ));
    }

    pub(super) fn switch(&mut self, depth: usize) {
        let ty = self.any_int();
        let ty = if ty.bits() == 128 { Ty::U64 } else { ty };
        let mask = self.rng.pick(&[3u32, 7, 15, 63]);
        let sparse = self.rng.chance(30);
        let value = self.expr(ty, 2);
        let scale = if sparse && ty.bits() >= 32 {
            1_000_003
        } else {
            1
        };
        self.open(&format!(
            "switch ((({})({value}) & {mask}) * {scale}) {{",
            ty.c()
        ));
        let mut at = 0;
        for _ in 0..2 + self.rng.below(6) {
            if at > mask {
                break;
            }
            self.open(&format!("case {}: {{", at * scale));
            // A break inside the case must leave the switch, not the loop around it.
            let outer = std::mem::take(&mut self.loops);
            self.block(depth - 1);
            self.loops = outer;
            if self.rng.chance(75) {
                self.line("break;");
            } else {
                self.line("__attribute__((fallthrough));");
            }
            self.close();
            at += 1 + self.rng.below(if mask > 15 { 9 } else { 2 }) as u32;
        }
        self.open("default: {");
        let outer = std::mem::take(&mut self.loops);
        self.block(depth - 1);
        self.loops = outer;
        self.line("break;");
        self.close();
        self.close();
    }

    pub(super) fn declare(&mut self, ty: Ty) {
        let name = self.fresh("v");
        let value = self.expr(ty, 2);
        self.line(&format!("{} {name} = {value};", ty.c()));
        self.vars.push(Var {
            name,
            ty,
            writable: true,
        });
    }

    /// Prints or hashes `value` of type `ty`.
    pub(super) fn trail(&mut self, value: &str, ty: Ty) {
        let call = match ty {
            Ty::F32 => format!("trail(fbits({value}));"),
            Ty::F64 => format!("trail(dbits({value}));"),
            Ty::I128 | Ty::U128 => {
                format!("trail((u64)({value}) ^ (u64)((u128)({value}) >> 64) * 3);")
            }
            _ => format!("trail((u64)({value}));"),
        };
        self.line(&call);
    }
}
