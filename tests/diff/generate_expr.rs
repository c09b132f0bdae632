//! Expressions of generated programs. Every one is free of side effects and defined for all values
//! of its variables: arithmetic uses unsigned types, shifts are masked, and divisions use helpers
//! of the prelude. Statements, which have effects, are generated elsewhere.

use super::{Gen, Ty, Var};

impl Gen {
    pub(super) fn any_int(&mut self) -> Ty {
        if self.with_i128 && self.rng.chance(12) {
            return self.rng.pick(&[Ty::I128, Ty::U128]);
        }
        self.rng.pick(&Ty::INTS)
    }

    pub(super) fn any_type(&mut self) -> Ty {
        if self.rng.chance(15) {
            self.rng.pick(&[Ty::F32, Ty::F64])
        } else {
            self.any_int()
        }
    }

    pub(super) fn constant(&mut self, ty: Ty) -> String {
        if ty.is_float() {
            let value = self.rng.pick(&[
                "0.0",
                "1.0",
                "-1.5",
                "0.1",
                "3.25",
                "1e10",
                "-7.0",
                "0.333",
                "123456.789",
                "1e-20",
            ]);
            return format!("({}){value}", ty.c());
        }
        let raw = match self.rng.below(5) {
            0 => self.rng.below(4) as u64,
            1 => self.rng.below(256) as u64,
            2 => u64::MAX - self.rng.below(3) as u64,
            3 => 1 << self.rng.below(64),
            _ => self.rng.next(),
        };
        match ty {
            Ty::I128 | Ty::U128 if self.rng.chance(50) => {
                let high = self.rng.next();
                format!("({})((u128)0x{high:x}u << 64 | 0x{raw:x}u)", ty.c())
            }
            _ => format!("({})0x{raw:x}u", ty.c()),
        }
    }

    /// Returns an expression of type `ty` without side effects, defined for all values of its
    /// variables.
    pub(super) fn expr(&mut self, ty: Ty, depth: usize) -> String {
        if depth == 0 || self.rng.chance(12) {
            return self.leaf(ty);
        }
        if ty.is_float() {
            return self.float_expr(ty, depth);
        }
        let (t, w, mask) = (ty.c(), ty.wide(), ty.bits() - 1);
        match self.rng.below(16) {
            0..=5 => {
                let op = self.rng.pick(&["+", "-", "*", "&", "|", "^", "+", "^"]);
                let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                format!("({t})(({w})({a}) {op} ({w})({b}))")
            }
            6 => {
                let (a, b) = (self.expr(ty, depth - 1), self.expr(Ty::U32, depth - 1));
                format!("({t})(({w})({a}) << ((u32)({b}) & {mask}))")
            }
            7 => {
                let (a, b) = (self.expr(ty, depth - 1), self.expr(Ty::U8, depth - 1));
                format!("({t})(({t})({a}) >> ((u32)({b}) & {mask}))")
            }
            8 => {
                let op = self.rng.pick(&["div", "rem"]);
                let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                format!("{op}_{t}({a}, {b})")
            }
            9 => {
                let k = 2 + self.rng.below(120);
                let op = self.rng.pick(&["/", "%"]);
                let a = self.expr(ty, depth - 1);
                format!("({t})(({t})({a}) {op} ({t}){k})")
            }
            10 => {
                let from = self.any_type();
                let a = self.expr(from, depth - 1);
                if from.is_float() {
                    format!("({t})d2i((double)({a}))")
                } else {
                    format!("({t})({a})")
                }
            }
            11 => {
                let (c, a, b) = (
                    self.condition(depth - 1),
                    self.expr(ty, depth - 1),
                    self.expr(ty, depth - 1),
                );
                format!("({c} ? {a} : {b})")
            }
            12 => format!("({t})({})", self.condition(depth - 1)),
            13 => {
                let op = self.rng.pick(&["~", "0 - "]);
                let a = self.expr(ty, depth - 1);
                format!("({t})({op}({w})({a}))")
            }
            14 => self.builtin(ty, depth),
            _ => self.element(ty, depth - 1),
        }
    }

    pub(super) fn float_expr(&mut self, ty: Ty, depth: usize) -> String {
        let t = ty.c();
        match self.rng.below(8) {
            0..=4 => {
                let op = self.rng.pick(&["+", "-", "*", "/"]);
                let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                format!("({t})(({t})({a}) {op} ({t})({b}))")
            }
            5 => {
                let from = self.any_int();
                let a = self.expr(from, depth - 1);
                format!("({t})({a})")
            }
            6 => {
                let from = self.rng.pick(&[Ty::F32, Ty::F64]);
                let a = self.expr(from, depth - 1);
                format!("({t})({a})")
            }
            _ => {
                let (c, a, b) = (
                    self.condition(depth - 1),
                    self.expr(ty, depth - 1),
                    self.expr(ty, depth - 1),
                );
                format!("({c} ? {a} : -({b}))")
            }
        }
    }

    pub(super) fn builtin(&mut self, ty: Ty, depth: usize) -> String {
        let t = ty.c();
        let a = self.expr(Ty::U64, depth - 1);
        let call = match self.rng.below(6) {
            0 => format!("__builtin_popcountll({a})"),
            1 => format!("__builtin_clzll(({a}) | 1)"),
            2 => format!("__builtin_ctzll(({a}) | 0x8000000000000000u)"),
            3 => format!("__builtin_bswap64({a})"),
            4 => format!("__builtin_bswap32((u32)({a}))"),
            _ => format!("__builtin_parityll({a})"),
        };
        format!("({t}){call}")
    }

    /// Returns a truth value, as an `int` expression.
    pub(super) fn condition(&mut self, depth: usize) -> String {
        if depth > 0 && self.rng.chance(20) {
            let op = self.rng.pick(&["&&", "||"]);
            let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
            return format!("({a} {op} {b})");
        }
        let ty = self.any_type();
        let op = self.rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let (a, b) = (self.expr(ty, depth.min(1)), self.leaf(ty));
        format!("(({a}) {op} ({b}))")
    }

    pub(super) fn leaf(&mut self, ty: Ty) -> String {
        if self.rng.chance(75) {
            let same: Vec<Var> = self.vars.iter().filter(|v| v.ty == ty).cloned().collect();
            if !same.is_empty() {
                return self.rng.pick(&same).name;
            }
            let ints: Vec<Var> = self
                .vars
                .iter()
                .filter(|v| !v.ty.is_float())
                .cloned()
                .collect();
            if !ints.is_empty() && self.rng.chance(70) {
                return format!("({}){}", ty.c(), self.rng.pick(&ints).name);
            }
        }
        self.constant(ty)
    }

    /// Returns a read of a global array at a masked index.
    pub(super) fn element(&mut self, ty: Ty, depth: usize) -> String {
        let (name, elem, len) = self.rng.pick(&self.arrays.clone());
        let index = self.expr(Ty::U32, depth.min(2));
        let read = format!("{name}[(u32)({index}) & {}]", len - 1);
        match (elem.is_float(), ty.is_float()) {
            (true, false) => format!("({})d2i((double){read})", ty.c()),
            _ => format!("({}){read}", ty.c()),
        }
    }
}
