//! Scalars that products of vectors take in all lanes, in generated programs: they are loaded from an
//! array, which stores and calls change between their uses, also across branches and loops. A
//! postponed load must not move behind these.

use super::{Gen, Ty};

/// Elements of the array, a power of two.
const ELEMENTS: usize = 32;
/// Greatest number of lanes.
const MOST_LANES: usize = 8;

/// The names of a generated kernel.
struct Kernel {
    lane: Ty,
    lanes: usize,
    /// The vector type, and the one of vectors in memory.
    vector: String,
    stored: String,
    scalars: Vec<String>,
    vectors: Vec<String>,
}

impl Gen {
    pub(super) fn broadcast_function(&mut self) {
        let lane = self
            .rng
            .pick(&[Ty::F64, Ty::F64, Ty::F64, Ty::F32, Ty::U64, Ty::U32]);
        let lanes = match lane.bits() {
            64 => self.rng.pick(&[2, 2, 2, 4]),
            _ => self.rng.pick(&[4, 4, MOST_LANES]),
        };
        let (vector, stored) = (self.fresh("V"), self.fresh("W"));
        let (scalar, bytes) = (lane.c(), lanes * lane.bits() as usize / 8);
        self.line(&format!(
            "typedef {scalar} {vector} __attribute__((vector_size({bytes})));"
        ));
        self.line(&format!(
            "typedef {scalar} {stored} __attribute__((vector_size({bytes}), aligned({}), may_alias));",
            lane.bits() / 8
        ));
        let (touch, kernel) = (self.fresh("bt"), self.fresh("bc"));
        self.line(&format!(
            "__attribute__((noinline)) void {touch}({scalar} *p, u64 i) {{ p[i & {}] = ({scalar})i; }}",
            ELEMENTS - 1
        ));
        self.open(&format!(
            "__attribute__((noinline)) void {kernel}({scalar} *p, u64 i, u64 n, {vector} m, {vector} o) {{"
        ));
        let mut k = Kernel {
            lane,
            lanes,
            vector: vector.clone(),
            stored,
            scalars: Vec::new(),
            vectors: vec!["m".into(), "o".into()],
        };
        self.load(&mut k);
        self.steps(&mut k, &touch, 7, 0);
        self.close();

        let name = self.begin(150);
        let room = ELEMENTS + MOST_LANES;
        self.line(&format!("{scalar} a[{room}];"));
        let step = 3 + self.rng.below(20);
        self.line(&format!(
            "for (int i = 0; i < {room}; i++) a[i] = ({scalar})((i * {step}) % 23) / 8;"
        ));
        let lanes = |from: usize| {
            let values: Vec<String> = (0..k.lanes).map(|i| (from + i).to_string()).collect();
            values.join(", ")
        };
        self.line(&format!(
            "{vector} m = {{{}}}, o = {{{}}};",
            lanes(2),
            lanes(7)
        ));
        self.line(&format!("{kernel}(a, p0, (u64)p1 & 3, m, o);"));
        self.open(&format!("for (int i = 0; i < {room}; i++) {{"));
        self.trail("a[i]", lane);
        self.close();
        self.end(name, "p0 * 11");
    }

    /// Returns an element of the array.
    fn shared_element(&mut self) -> String {
        let (i, mask) = (self.rng.below(8), ELEMENTS - 1);
        match self.rng.below(3) {
            0 => format!("p[{i}]"),
            1 => format!("p[(i + {i}) & {mask}]"),
            _ => format!("p[(i * 3 + {i}) & {mask}]"),
        }
    }

    /// Loads a scalar and puts it into all lanes of a vector.
    fn load(&mut self, k: &mut Kernel) {
        let (s, v) = (self.fresh("s"), self.fresh("v"));
        let from = self.shared_element();
        self.line(&format!("{} {s} = {from};", k.lane.c()));
        let all = vec![s.as_str(); k.lanes].join(", ");
        self.line(&format!("{} {v} = {{{all}}};", k.vector));
        // A scalar with other uses is not postponed.
        if k.scalars.is_empty() || self.rng.chance(30) {
            k.scalars.push(s);
        }
        k.vectors.push(v);
    }

    fn steps(&mut self, k: &mut Kernel, touch: &str, count: usize, depth: usize) {
        for _ in 0..count + self.rng.below(5) {
            let (x, y, z) = (
                self.rng.pick(&k.vectors),
                self.rng.pick(&k.vectors),
                self.rng.pick(&k.vectors),
            );
            let (to, op) = (self.shared_element(), self.rng.pick(&["+", "-"]));
            let (s, few) = (self.rng.pick(&k.scalars), self.rng.below(8));
            match self.rng.below(12) {
                0 | 1 => self.load(k),
                2..=4 => self.line(&format!("*({} *)&{to} = {x} * {y};", k.stored)),
                5 => self.line(&format!("*({} *)&{to} = {x} * {y} {op} {z};", k.stored)),
                6 => self.line(&format!(
                    "*({0} *)&{to} = *({0} *)&{to} * {x} {op} {y};",
                    k.stored
                )),
                7 => {
                    let v = self.fresh("v");
                    self.line(&format!("{} {v} = {x} * {y} {op} {z};", k.vector));
                    k.vectors.push(v);
                }
                8 => {
                    let other = self.shared_element();
                    self.line(&format!("{to} = {s} * {other} {op} {s};"));
                }
                9 => self.line(&format!("{touch}(p, i + {few});")),
                10 if depth < 2 => {
                    self.open(&format!("for (u64 k = 0; k <= n; k++, i += {few}) {{"));
                    self.inner_steps(k, touch, depth);
                }
                11 if depth < 2 => {
                    self.open("if ((i ^ n) & 1) {");
                    self.inner_steps(k, touch, depth);
                }
                _ => self.line(&format!("{to} = {s};")),
            }
        }
    }

    /// Writes the body of a block, whose variables end with it.
    fn inner_steps(&mut self, k: &mut Kernel, touch: &str, depth: usize) {
        let (scalars, vectors) = (k.scalars.len(), k.vectors.len());
        self.steps(k, touch, 1, depth + 1);
        k.scalars.truncate(scalars);
        k.vectors.truncate(vectors);
        self.close();
    }
}
