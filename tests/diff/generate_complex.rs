//! Arrays of complex numbers in generated programs: a loop over them that clang vectorizes with
//! separate real and imaginary parts, in the shapes of solvers and transforms (products,
//! conjugates, signs, exchanged parts), and lookalikes. If arrays may overlap, the loop only reads
//! the first two.

use super::{Gen, Ty};

/// The texts of the real and the imaginary part.
type Parts = [String; 2];

impl Gen {
    pub(super) fn complex_function(&mut self) {
        let real = self.rng.pick(&[Ty::F32, Ty::F64, Ty::F64]);
        let (c, r) = (self.fresh("C"), real.c());
        let most = 24;
        self.line(&format!("typedef struct {{ {r} re, im; }} {c};"));
        let kernel = self.fresh("cl");
        let apart = self.rng.pick(&["restrict ", "restrict ", ""]);
        // C's `restrict` has another name in C++.
        let apart = apart.replace("restrict", "__restrict");
        self.open(&format!(
            "__attribute__((noinline)) static void {kernel}(int n, {c} w, {c} v, const {c} *{apart}a, \
             const {c} *{apart}b, {c} *{apart}c, {c} *{apart}d, {r} *{apart}p) {{"
        ));
        self.open("for (int i = 0; i < n; i++) {");
        let mut from: Vec<Parts> = ["a[i]", "b[i]", "w", "v"].map(parts).to_vec();
        if self.rng.chance(30) {
            from.push(parts("a[i + 1]"));
        }
        if self.rng.chance(20) {
            from.push(["a[i].im".into(), "a[i].re".into()]);
        }
        for to in ["c", "d"].iter().take(1 + self.rng.below(2)) {
            let depth = 1 + self.rng.below(3);
            let [re, im] = self.complex(real, &from, depth);
            self.line(&format!("{to}[i].re = {re};"));
            self.line(&format!("{to}[i].im = {im};"));
        }
        if self.rng.chance(25) {
            let part = self.rng.pick(&["c[i].re", "a[i].im", "c[i].im * w.re"]);
            self.line(&format!("p[i] = {part};"));
        }
        self.close();
        self.close();

        let name = self.begin(200);
        self.line(&format!(
            "{c} a[{}], b[{0}], c[{most}], d[{most}]; {r} p[{most}];",
            most + 1
        ));
        self.open(&format!("for (int i = 0; i <= {most}; i++) {{"));
        let (k, l) = (3 + self.rng.below(20), 5 + self.rng.below(20));
        self.line(&format!("a[i].re = ({r})((i * {k}) % 23 - 11) / 8;"));
        self.line(&format!("a[i].im = ({r})((i * {l}) % 19 - 9) / 4;"));
        self.line("b[i].re = a[i].im - 1; b[i].im = a[i].re * a[i].im;");
        self.line(&format!(
            "if (i < {most}) c[i].re = c[i].im = d[i].re = d[i].im = p[i] = ({r})i;"
        ));
        self.close();
        self.line(&format!(
            "{c} w = {{({r})1.25, ({r})-0.75}}, v = {{({r})0.5, ({r})(u8)(p0 * 3) / 16}};"
        ));
        let second = self.rng.pick(&["a", "b", "b"]);
        self.line(&format!(
            "{kernel}((int)(p0 % {}), w, v, a, {second}, c, d, p);",
            most + 1
        ));
        self.open(&format!("for (int i = 0; i < {most}; i++) {{"));
        for x in ["c[i].re", "c[i].im", "d[i].re", "d[i].im", "p[i]"] {
            self.trail(x, real);
        }
        self.close();
        self.end(name, "p0 * 5");
    }

    fn complex(&mut self, real: Ty, from: &[Parts], depth: usize) -> Parts {
        if depth == 0 {
            return self.rng.pick(from);
        }
        let [a, b] = self.complex(real, from, depth - 1);
        let [c, d] = self.complex(real, from, depth - 1);
        match self.rng.below(10) {
            0 => [format!("({a} + {c})"), format!("({b} + {d})")],
            1 => [format!("({a} - {c})"), format!("({b} - {d})")],
            2 | 3 => {
                let product = [
                    format!("{a} * {d} + {b} * {c}"),
                    format!("{c} * {b} + {a} * {d}"),
                ];
                let im = self.rng.pick(&product);
                [format!("({a} * {c} - {b} * {d})"), format!("({im})")]
            }
            4 => [
                format!("({a} * {c} + {b} * {d})"),
                format!("({a} * {d} - {b} * {c})"),
            ],
            5 => [format!("({a} * w.re)"), format!("({b} * w.re)")],
            6 => [format!("(-{b})"), a],
            7 => [a, format!("(-{b})")],
            8 => {
                let fma = if real == Ty::F32 { "fmaf" } else { "fma" };
                [
                    format!("__builtin_{fma}(-{a}, w.im, {c})"),
                    format!("__builtin_{fma}({b}, w.im, {d})"),
                ]
            }
            _ => {
                let op = self.rng.pick(&["+", "-", "*"]);
                [
                    format!("({a} {op} {d})"),
                    format!("({b} > {c} ? {b} : {c})"),
                ]
            }
        }
    }
}

/// Returns the parts of a number.
fn parts(number: &str) -> Parts {
    [format!("{number}.re"), format!("{number}.im")]
}
