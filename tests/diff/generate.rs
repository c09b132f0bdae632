//! Generates random C programs for the differential tests: `program(seed)` returns the same text
//! for the same seed on every machine, and the program prints the same on every correct
//! implementation.
//!
//! The programs are well defined by construction, so a difference is always a fault of one side.
//! Integer arithmetic uses unsigned types wide enough not to promote to `int`; shift amounts and
//! array indices are masked; divisions use guarded helpers. Floating-point values come from exactly
//! rounded operations only (contraction is off: clang folds a constant `a * b + c` with one
//! rounding at -O2 and runs it with two at -O0) and are printed as bits (NaN as one value). Calls
//! never stand inside a larger expression, whose order would be unspecified. Every loop and call
//! burns fuel, so a program ends after a bounded number of steps.
//!
//! Compiles and runs nothing. [`program`] does not cover the library, threads or exceptions;
//! [`source`] does, for the fuzzer.

use std::fmt::Write;

#[path = "generate_broadcast.rs"]
mod broadcast;
#[path = "generate_complex.rs"]
mod complex;
#[path = "generate_cpp.rs"]
mod cpp;
#[path = "generate_expr.rs"]
mod expr;
#[path = "generate_fns.rs"]
mod fns;
#[path = "generate_lanes.rs"]
mod lanes;
#[path = "generate_omp.rs"]
mod omp;
#[path = "generate_stmt.rs"]
mod stmt;
#[path = "generate_wide.rs"]
mod wide;

pub use wide::{Source, source};

/// Steps (loop iterations and calls) after which a generated program winds down.
const FUEL: u32 = 12_000;

/// The scalar types of expressions.
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
    const INTS: [Ty; 8] = [
        Ty::I8,
        Ty::U8,
        Ty::I16,
        Ty::U16,
        Ty::I32,
        Ty::U32,
        Ty::I64,
        Ty::U64,
    ];

    /// Returns the C spelling, by the typedefs of the prelude.
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

    /// Returns the width in bits.
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

    /// Returns the unsigned type in which arithmetic on this type neither overflows nor promotes to
    /// `int`.
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

/// The signature of a generated function.
#[derive(Clone)]
struct Func {
    name: String,
    params: Vec<Ty>,
    ret: Ty,
}

/// A struct type with its fields; a width marks a bit-field.
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

    /// Returns a number below `n`, which is not zero.
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

/// The state of a program's generation.
struct Gen {
    rng: Rng,
    out: String,
    indent: usize,
    vars: Vec<Var>,
    funcs: Vec<Func>,
    structs: Vec<Struct>,
    /// Global arrays: name, element type, length (a power of two).
    arrays: Vec<(String, Ty, usize)>,
    /// Number of functions with signature `u64 (u64, u64)`, which make up the table of function
    /// pointers.
    uniform: usize,
    next_id: usize,
    /// Number of loops around the current statement.
    loops: usize,
    with_i128: bool,
    with_vectors: bool,
}

const PRELUDE: &str = r#"#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
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

/// Returns the C program of `seed`: one file without arguments or input that prints a trail of
/// checksums and exits with a small status. It compiles with clang and gcc as GNU C11.
pub fn program(seed: u64) -> String {
    let mut g = generator(seed);
    g.with_i128 = g.rng.chance(40);
    g.with_vectors = g.rng.chance(40);
    let _ = writeln!(
        g.out,
        "// Generated by tests/diff/generate.rs from seed {seed}."
    );
    g.out.push_str(&PRELUDE.replace("FUEL_", &FUEL.to_string()));
    g.globals();
    let count = 3 + g.rng.below(5);
    for _ in 0..count {
        match g.rng.below(9) {
            0 if !g.structs.is_empty() => g.struct_function(),
            1 if g.with_vectors => g.vector_function(),
            2 => g.recursive_function(),
            3 => g.machine_function(),
            4 if g.with_vectors => g.complex_function(),
            8 if g.with_vectors => g.broadcast_function(),
            4 | 5 => g.scalar_function(true),
            _ => g.scalar_function(false),
        }
    }
    g.scalar_function(true);
    g.main();
    g.out
}

/// Returns a generator for `seed` that has written nothing.
fn generator(seed: u64) -> Gen {
    Gen {
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
    }
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

    fn globals(&mut self) {
        for _ in 0..2 + self.rng.below(3) {
            let (ty, len) = (self.any_type(), 1 << (3 + self.rng.below(4)));
            let name = self.fresh("g");
            let values: Vec<String> = (0..self.rng.below(8) + 1)
                .map(|_| self.constant(ty))
                .collect();
            let line = format!(
                "static {} {name}[{len}] = {{{}}};",
                ty.c(),
                values.join(", ")
            );
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
                let bits = (!ty.is_float() && ty.bits() == 32 && self.rng.chance(50))
                    .then(|| 2 + self.rng.below(30) as u32);
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
            assert_eq!(
                text.matches('{').count(),
                text.matches('}').count(),
                "seed {seed}"
            );
            assert_eq!(
                text.matches('(').count(),
                text.matches(')').count(),
                "seed {seed}"
            );
            assert!(
                text.len() < 200_000,
                "seed {seed} gives {} bytes",
                text.len()
            );
            assert_eq!(text.matches("int main(void)").count(), 1, "seed {seed}");
        }
    }

    #[test]
    fn the_features_all_appear() {
        let all: String = (0..100).map(program).collect();
        for feature in [
            "__int128",
            "v4u a",
            "switch (",
            "goto L",
            "&&halt",
            "while (",
            "struct S",
            "table[",
            "float",
            " : ",
            "may_alias",
        ] {
            assert!(
                all.contains(feature),
                "{feature} never appears in 100 programs"
            );
        }
    }
}
