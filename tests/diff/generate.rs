//! Writes random C programs for the differential test: `program(seed)` gives the same text for the same seed on every
//! machine, and the program prints the same on every correct implementation.
//!
//! The programs are well defined by construction, so a difference is always a fault of one side: integer arithmetic
//! goes through unsigned types wide enough not to promote to `int`, shift amounts and array indices are masked,
//! divisions go through guarded helpers, floating values are only ever made by exactly rounded operations and printed
//! through their bits (NaN as one value), calls never stand inside a larger expression (their order would be open),
//! and every loop and call burns fuel, so a program ends after a bounded number of steps.
//!
//! It does not compile or run anything, and it does not try to reach the library, threads or exceptions: the
//! hand-written programs beside it do.

use std::fmt::Write;

/// Steps (loop iterations and calls) after which a generated program winds down.
const FUEL: u32 = 12_000;

/// The scalar types that expressions are built of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ty {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    I128,
    U128,
    F32,
    F64,
}

impl Ty {
    const INTS: [Ty; 8] = [Ty::I8, Ty::U8, Ty::I16, Ty::U16, Ty::I32, Ty::U32, Ty::I64, Ty::U64];

    /// The C spelling, by the typedefs of the prelude.
    fn c(self) -> &'static str {
        match self {
            Ty::I8 => "i8",
            Ty::U8 => "u8",
            Ty::I16 => "i16",
            Ty::U16 => "u16",
            Ty::I32 => "i32",
            Ty::U32 => "u32",
            Ty::I64 => "i64",
            Ty::U64 => "u64",
            Ty::I128 => "i128",
            Ty::U128 => "u128",
            Ty::F32 => "float",
            Ty::F64 => "double",
        }
    }

    /// Width in bits.
    fn bits(self) -> u32 {
        match self {
            Ty::I8 | Ty::U8 => 8,
            Ty::I16 | Ty::U16 => 16,
            Ty::I32 | Ty::U32 | Ty::F32 => 32,
            Ty::I64 | Ty::U64 | Ty::F64 => 64,
            Ty::I128 | Ty::U128 => 128,
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    /// The unsigned type in which arithmetic on this type neither overflows nor promotes to `int`.
    fn wide(self) -> &'static str {
        match self.bits() {
            8 | 16 | 32 => "u32",
            64 => "u64",
            _ => "u128",
        }
    }
}

/// A variable in scope.
#[derive(Clone)]
struct Var {
    name: String,
    ty: Ty,
    /// False for loop counters, which bodies only read.
    writable: bool,
}

/// The signature of a function already written.
#[derive(Clone)]
struct Func {
    name: String,
    params: Vec<Ty>,
    ret: Ty,
}

/// A struct type: fields by name; a width marks a bit-field.
#[derive(Clone)]
struct Struct {
    name: String,
    fields: Vec<(String, Ty, Option<u32>)>,
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not zero.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// One program in the making.
struct Gen {
    rng: Rng,
    out: String,
    indent: usize,
    vars: Vec<Var>,
    funcs: Vec<Func>,
    structs: Vec<Struct>,
    /// Global arrays: name, element type, length (a power of two).
    arrays: Vec<(String, Ty, usize)>,
    /// Functions of the signature `u64 (u64, u64)`, which make up the table of function pointers.
    uniform: usize,
    next_id: usize,
    /// How many loops enclose the statement being written.
    loops: usize,
    with_i128: bool,
    with_vectors: bool,
}

const PRELUDE: &str = r#"#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef int8_t i8; typedef uint8_t u8; typedef int16_t i16; typedef uint16_t u16;
typedef int32_t i32; typedef uint32_t u32; typedef int64_t i64; typedef uint64_t u64;
typedef __int128 i128; typedef unsigned __int128 u128;
typedef u32 v4u __attribute__((vector_size(16)));
static u64 hash_ = 0xcbf29ce484222325u;
static unsigned trail_count;
static int fuel = FUEL_;
static void trail(u64 x) {
  hash_ = (hash_ ^ x) * 0x100000001b3u;
  hash_ ^= hash_ >> 29;
  if (++trail_count % 61 == 0) printf("%u %016llx\n", trail_count, (unsigned long long)hash_);
}
static u64 fbits(float x) { u32 u; if (x != x) return 0x7fc00000; memcpy(&u, &x, 4); return u; }
static u64 dbits(double x) { u64 u; if (x != x) return 0x7ff8; memcpy(&u, &x, 8); return u; }
static i64 d2i(double x) { return x > -4e18 && x < 4e18 ? (i64)x : 77; }
#define DIV(T, U) \
  static inline T div_##T(T a, T b) { if (b == 0) return a; if ((T)-1 < (T)0 && b == (T)-1) return (T)(0 - (U)a); return (T)(a / b); } \
  static inline T rem_##T(T a, T b) { if (b == 0) return 1; if ((T)-1 < (T)0 && b == (T)-1) return 0; return (T)(a % b); }
DIV(i8, u32) DIV(u8, u32) DIV(i16, u32) DIV(u16, u32) DIV(i32, u32) DIV(u32, u32) DIV(i64, u64) DIV(u64, u64) DIV(i128, u128) DIV(u128, u128)
"#;

/// The C program of `seed`: one file without arguments or input that prints a trail of checksums and exits with a
/// small status. It compiles with clang and gcc as GNU C11.
pub fn program(seed: u64) -> String {
    let mut g = Gen {
        rng: Rng(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x6a09_e667_f3bc_c908),
        out: String::new(),
        indent: 0,
        vars: Vec::new(),
        funcs: Vec::new(),
        structs: Vec::new(),
        arrays: Vec::new(),
        uniform: 0,
        next_id: 0,
        loops: 0,
        with_i128: false,
        with_vectors: false,
    };
    g.with_i128 = g.rng.chance(40);
    g.with_vectors = g.rng.chance(40);
    let _ = writeln!(g.out, "// Generated by tests/diff/generate.rs from seed {seed}.");
    g.out.push_str(&PRELUDE.replace("FUEL_", &FUEL.to_string()));
    g.globals();
    let count = 3 + g.rng.below(5);
    for _ in 0..count {
        match g.rng.below(8) {
            0 if !g.structs.is_empty() => g.struct_function(),
            1 if g.with_vectors => g.vector_function(),
            2 => g.recursive_function(),
            3 => g.machine_function(),
            4 | 5 => g.scalar_function(true),
            _ => g.scalar_function(false),
        }
    }
    g.scalar_function(true);
    g.main();
    g.out
}

impl Gen {
    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next_id += 1;
        format!("{prefix}{}", self.next_id)
    }

    fn any_int(&mut self) -> Ty {
        if self.with_i128 && self.rng.chance(12) {
            return self.rng.pick(&[Ty::I128, Ty::U128]);
        }
        self.rng.pick(&Ty::INTS)
    }

    fn any_type(&mut self) -> Ty {
        if self.rng.chance(15) { self.rng.pick(&[Ty::F32, Ty::F64]) } else { self.any_int() }
    }

    fn constant(&mut self, ty: Ty) -> String {
        if ty.is_float() {
            let value = self.rng.pick(&["0.0", "1.0", "-1.5", "0.1", "3.25", "1e10", "-7.0", "0.333", "123456.789", "1e-20"]);
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

    /// An expression of type `ty` without side effects; its value is defined whatever the variables hold.
    fn expr(&mut self, ty: Ty, depth: usize) -> String {
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
                if from.is_float() { format!("({t})d2i((double)({a}))") } else { format!("({t})({a})") }
            }
            11 => {
                let (c, a, b) = (self.condition(depth - 1), self.expr(ty, depth - 1), self.expr(ty, depth - 1));
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

    fn float_expr(&mut self, ty: Ty, depth: usize) -> String {
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
                let (c, a, b) = (self.condition(depth - 1), self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                format!("({c} ? {a} : -({b}))")
            }
        }
    }

    fn builtin(&mut self, ty: Ty, depth: usize) -> String {
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

    /// A truth value, as an `int` expression.
    fn condition(&mut self, depth: usize) -> String {
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

    fn leaf(&mut self, ty: Ty) -> String {
        if self.rng.chance(75) {
            let same: Vec<Var> = self.vars.iter().filter(|v| v.ty == ty).cloned().collect();
            if !same.is_empty() {
                return self.rng.pick(&same).name;
            }
            let ints: Vec<Var> = self.vars.iter().filter(|v| !v.ty.is_float()).cloned().collect();
            if !ints.is_empty() && self.rng.chance(70) {
                return format!("({}){}", ty.c(), self.rng.pick(&ints).name);
            }
        }
        self.constant(ty)
    }

    /// A read of a global array at a masked index.
    fn element(&mut self, ty: Ty, depth: usize) -> String {
        let (name, elem, len) = self.rng.pick(&self.arrays.clone());
        let index = self.expr(Ty::U32, depth.min(2));
        let read = format!("{name}[(u32)({index}) & {}]", len - 1);
        match (elem.is_float(), ty.is_float()) {
            (true, false) => format!("({})d2i((double){read})", ty.c()),
            _ => format!("({}){read}", ty.c()),
        }
    }

    fn globals(&mut self) {
        for _ in 0..2 + self.rng.below(3) {
            let (ty, len) = (self.any_type(), 1 << (3 + self.rng.below(4)));
            let name = self.fresh("g");
            let values: Vec<String> = (0..self.rng.below(8) + 1).map(|_| self.constant(ty)).collect();
            let line = format!("static {} {name}[{len}] = {{{}}};", ty.c(), values.join(", "));
            self.line(&line);
            self.arrays.push((name, ty, len));
        }
        let seed = self.rng.next();
        self.line(&format!("static volatile u64 opaque = 0x{seed:x}u;"));
        for _ in 0..self.rng.below(3) {
            let name = self.fresh("S");
            let mut fields = Vec::new();
            for i in 0..2 + self.rng.below(4) {
                let ty = self.any_type();
                let bits = (!ty.is_float() && ty.bits() == 32 && self.rng.chance(50)).then(|| 2 + self.rng.below(30) as u32);
                fields.push((format!("m{i}"), ty, bits));
            }
            let mut text = format!("struct {name} {{");
            for (field, ty, bits) in &fields {
                let _ = match bits {
                    Some(bits) => write!(text, " {} {field} : {bits};", ty.c()),
                    None => write!(text, " {} {field};", ty.c()),
                };
            }
            text.push_str(" };");
            self.line(&text);
            self.structs.push(Struct { name, fields });
        }
    }

    /// Prints or hashes `value` of type `ty`.
    fn trail(&mut self, value: &str, ty: Ty) {
        let call = match ty {
            Ty::F32 => format!("trail(fbits({value}));"),
            Ty::F64 => format!("trail(dbits({value}));"),
            Ty::I128 | Ty::U128 => format!("trail((u64)({value}) ^ (u64)((u128)({value}) >> 64) * 3);"),
            _ => format!("trail((u64)({value}));"),
        };
        self.line(&call);
    }

    fn declare(&mut self, ty: Ty) {
        let name = self.fresh("v");
        let value = self.expr(ty, 2);
        self.line(&format!("{} {name} = {value};", ty.c()));
        self.vars.push(Var { name, ty, writable: true });
    }

    fn scalar_function(&mut self, uniform: bool) {
        let name = if uniform { format!("h{}", self.uniform) } else { self.fresh("f") };
        let ret = if uniform { Ty::U64 } else { self.any_type() };
        let params: Vec<Ty> =
            if uniform { vec![Ty::U64; 2] } else { (0..1 + self.rng.below(9)).map(|_| self.any_type()).collect() };
        let list: Vec<String> = params.iter().enumerate().map(|(i, t)| format!("{} p{i}", t.c())).collect();
        let attr = self.rng.pick(&["", "", "__attribute__((noinline)) "]);
        self.open(&format!("{attr}static {} {name}({}) {{", ret.c(), list.join(", ")));
        self.vars =
            params.iter().enumerate().map(|(i, t)| Var { name: format!("p{i}"), ty: *t, writable: true }).collect();
        self.line(&format!("if (--fuel < 0) return ({})p0;", ret.c()).replace(
            "p0;",
            if params[0].is_float() && !ret.is_float() { "d2i((double)p0);" } else { "p0;" },
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

    fn block(&mut self, depth: usize) {
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

    fn statement(&mut self, depth: usize) {
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

    fn assign(&mut self) {
        let targets: Vec<Var> = self.vars.iter().filter(|v| v.writable).cloned().collect();
        if targets.is_empty() {
            return;
        }
        let target = self.rng.pick(&targets);
        let value = self.expr(target.ty, 3);
        self.line(&format!("{} = {value};", target.name));
    }

    fn loop_statement(&mut self, depth: usize) {
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
        self.vars.push(Var { name: counter.clone(), ty, writable: false });
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

    /// A loop made of a label and a `goto`; `break` and `continue` inside belong to the enclosing loop, so none are
    /// written there.
    fn goto_loop(&mut self, depth: usize) {
        let (label, counter) = (self.fresh("L"), self.fresh("k"));
        let limit = 1 + self.rng.below(6);
        self.line(&format!("int {counter} = 0;"));
        self.open(&format!("{label}: {{"));
        let outer = std::mem::take(&mut self.loops);
        self.block(depth - 1);
        self.loops = outer;
        self.close();
        self.line(&format!("if (++{counter} < {limit} && --fuel > 0) goto {label};"));
    }

    fn switch(&mut self, depth: usize) {
        let ty = self.any_int();
        let ty = if ty.bits() == 128 { Ty::U64 } else { ty };
        let mask = self.rng.pick(&[3u32, 7, 15, 63]);
        let sparse = self.rng.chance(30);
        let value = self.expr(ty, 2);
        let scale = if sparse && ty.bits() >= 32 { 1_000_003 } else { 1 };
        self.open(&format!("switch ((({})({value}) & {mask}) * {scale}) {{", ty.c()));
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

    /// A call of an earlier function, directly or through the table, its result kept in a fresh variable.
    fn call(&mut self) {
        if self.funcs.is_empty() {
            return self.assign();
        }
        let func = self.rng.pick(&self.funcs.clone());
        let args: Vec<String> = func.params.iter().map(|t| self.expr(*t, 2)).collect();
        let name = self.fresh("r");
        let pointer = self.uniform > 0 && func.params == [Ty::U64, Ty::U64] && func.name.starts_with('h');
        if pointer && self.rng.chance(60) {
            let index = self.expr(Ty::U32, 1);
            self.line("{");
            self.line(&format!(
                "  static u64 (*const table[])(u64, u64) = {{{}}};",
                (0..self.uniform).map(|i| format!("h{i}")).collect::<Vec<_>>().join(", ")
            ));
            self.line(&format!(
                "  u64 {name} = table[(u32)({index}) % {}u]({}); trail({name});",
                self.uniform,
                args.join(", ")
            ));
            self.line("}");
            return;
        }
        self.line(&format!("{} {name} = {}({});", func.ret.c(), func.name, args.join(", ")));
        self.trail(&name, func.ret);
        // Not added to the scope: the declaration may sit in a switch case that is left early.
    }

    /// A pair of functions: one that takes and gives a struct by value, one that makes and hashes it.
    fn struct_function(&mut self) {
        let s = self.rng.pick(&self.structs.clone());
        let (step, name) = (self.fresh("sv"), self.fresh("f"));
        self.vars = vec![Var { name: "k".into(), ty: Ty::U32, writable: true }];
        for (field, ty, _) in &s.fields {
            self.vars.push(Var { name: format!("s.{field}"), ty: *ty, writable: true });
            self.vars.push(Var { name: format!("q->{field}"), ty: *ty, writable: true });
        }
        let head = format!("struct {} {step}(struct {} s, u32 k, struct {} *q)", s.name, s.name, s.name);
        self.open(&format!("__attribute__((noinline)) static {head} {{"));
        for _ in 0..3 + self.rng.below(4) {
            self.assign();
        }
        self.line("return s;");
        self.close();
        self.open(&format!("static u64 {name}(u64 p0) {{"));
        self.vars = vec![Var { name: "p0".into(), ty: Ty::U64, writable: false }];
        self.line("if (--fuel < 0) return p0;");
        for object in ["a", "b"] {
            let values: Vec<String> = s.fields.iter().map(|(_, ty, _)| self.expr(*ty, 1)).collect();
            self.line(&format!("struct {} {object} = {{{}}};", s.name, values.join(", ")));
        }
        self.line(&format!("for (u32 i = 0; i < 6; i++) a = {step}(i & 1 ? b : a, i, &b);"));
        for object in ["a", "b"] {
            for (field, ty, _) in &s.fields {
                self.trail(&format!("{object}.{field}"), *ty);
            }
        }
        self.line("return p0 * 3 + 1;");
        self.close();
        self.funcs.push(Func { name, params: vec![Ty::U64], ret: Ty::U64 });
    }

    fn vector_function(&mut self) {
        let name = self.fresh("f");
        self.open(&format!("static u64 {name}(u64 p0, u32 p1) {{"));
        self.line("if (--fuel < 0) return p0;");
        self.line("v4u a = {(u32)p0, p1, (u32)(p0 >> 32), 7}, b = {1, (u32)opaque, 3, p1 * 5}, c = a ^ b;");
        self.open("for (int i = 0; i < 5 && --fuel > 0; i++) {");
        for _ in 0..3 + self.rng.below(5) {
            let (x, y, z) = (self.rng.pick(&["a", "b", "c"]), self.rng.pick(&["a", "b", "c"]), self.rng.pick(&["a", "b", "c"]));
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
        self.funcs.push(Func { name, params: vec![Ty::U64, Ty::U32], ret: Ty::U64 });
    }

    fn recursive_function(&mut self) {
        let (inner, name) = (self.fresh("rec"), self.fresh("f"));
        let ty = self.any_int();
        let t = ty.c();
        self.vars = vec![
            Var { name: "x".into(), ty, writable: true },
            Var { name: "n".into(), ty: Ty::U32, writable: false },
        ];
        self.open(&format!("static {t} {inner}(u32 n, {t} x) {{"));
        let stop = self.expr(ty, 2);
        self.line(&format!("if (n == 0 || --fuel < 0) return {stop};"));
        self.assign();
        let branch = self.condition(1);
        let (a, b) = (self.expr(ty, 2), self.expr(ty, 1));
        self.line(&format!("{t} r = {inner}(n - 1, {a});"));
        self.line(&format!("if {branch} r = ({t})(({w})r + ({w}){inner}(n / 2, {b}));", w = ty.wide()));
        self.line("return r;");
        self.close();
        self.open(&format!("static {t} {name}({t} p0) {{"));
        let depth = 5 + self.rng.below(8);
        self.line(&format!("{t} r = {inner}({depth}, p0);"));
        self.trail("r", ty);
        self.line("return r;");
        self.close();
        self.funcs.push(Func { name, params: vec![ty], ret: ty });
    }

    /// A small machine driven by labels as values.
    fn machine_function(&mut self) {
        let name = self.fresh("f");
        let ops = 3 + self.rng.below(4);
        self.open(&format!("static u64 {name}(u64 p0) {{"));
        self.vars = vec![
            Var { name: "x".into(), ty: Ty::U64, writable: true },
            Var { name: "y".into(), ty: Ty::I32, writable: true },
        ];
        let labels: Vec<String> = (0..ops).map(|i| format!("&&op{i}")).collect();
        self.line(&format!("static const void *const ops[] = {{{}, &&halt}};", labels.join(", ")));
        let code: Vec<String> = (0..16).map(|_| self.rng.below(ops).to_string()).collect();
        self.line(&format!("static const u8 code[] = {{{}, {ops}}};", code.join(", ")));
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
        self.funcs.push(Func { name, params: vec![Ty::U64], ret: Ty::U64 });
    }

    fn main(&mut self) {
        self.open("int main(void) {");
        self.line("u64 v = opaque;");
        self.vars = vec![Var { name: "v".into(), ty: Ty::U64, writable: false }];
        for func in self.funcs.clone() {
            let rounds = 2 + self.rng.below(4);
            self.open(&format!("for (int n = 0; n < {rounds}; n++) {{"));
            self.line(&format!("fuel = {};", FUEL as usize / self.funcs.len()));
            let args: Vec<String> = func.params.iter().map(|t| self.expr(*t, 2)).collect();
            self.line(&format!("{} r = {}({});", func.ret.c(), func.name, args.join(", ")));
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
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn same_seed_gives_the_same_program() {
        for seed in [0, 1, 77, u64::MAX] {
            assert_eq!(program(seed), program(seed));
        }
    }

    #[test]
    fn seeds_give_different_programs() {
        let mut all: Vec<String> = (0..200).map(program).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 200);
    }

    #[test]
    fn programs_are_balanced_and_bounded_in_size() {
        for seed in 0..200 {
            let text = program(seed);
            assert_eq!(text.matches('{').count(), text.matches('}').count(), "seed {seed}");
            assert_eq!(text.matches('(').count(), text.matches(')').count(), "seed {seed}");
            assert!(text.len() < 200_000, "seed {seed} gives {} bytes", text.len());
            assert_eq!(text.matches("int main(void)").count(), 1, "seed {seed}");
        }
    }

    #[test]
    fn the_features_all_appear() {
        let all: String = (0..100).map(program).collect();
        for feature in ["__int128", "v4u a", "switch (", "goto L", "&&halt", "while (", "struct S", "table[", "float", " : "] {
            assert!(all.contains(feature), "{feature} never appears in 100 programs");
        }
    }
}
