//! Vectors of generated programs: one lane type and width per function, passed by value, in loops,
//! shuffled, converted and reduced. Integer lanes are unsigned where they wrap; floating-point
//! lanes are exactly rounded.

use super::{Gen, Ty};

impl Gen {
    pub(super) fn lanes_function(&mut self) {
        let lane = self
            .rng
            .pick(&[Ty::U8, Ty::U16, Ty::U32, Ty::U64, Ty::I32, Ty::F32, Ty::F64]);
        let bytes = self.rng.pick(&[8usize, 16, 16, 32, 64]);
        let lanes = bytes * 8 / lane.bits() as usize;
        let (v, m) = (self.fresh("V"), self.fresh("M"));
        let unsigned = match lane.bits() {
            8 => "u8",
            16 => "u16",
            32 => "u32",
            _ => "u64",
        };
        self.line(&format!(
            "typedef {} {v} __attribute__((vector_size({bytes})));",
            lane.c()
        ));
        self.line(&format!(
            "typedef {unsigned} {m} __attribute__((vector_size({bytes})));"
        ));
        let helper = self.fresh("lv");
        self.open(&format!(
            "__attribute__((noinline)) static {v} {helper}({v} a, {v} b, {v} *p) {{"
        ));
        let text = self.operation(lane, &v, &m, ["a", "b", "a"], lanes);
        self.line(&text);
        self.line(
            "*p = *p + b;"
                .replace('+', if lane == Ty::I32 { "^" } else { "+" })
                .as_str(),
        );
        self.line("return a;");
        self.close();
        let name = self.begin(100);
        let values: Vec<String> = (0..lanes).map(|_| self.expr(lane, 1)).collect();
        self.line(&format!("{v} a = {{{}}}, b = a, c = a;", values.join(", ")));
        let trips = 4 + self.rng.below(12);
        self.open(&format!("for (u32 i = 0; i < {trips}; i++) {{"));
        for _ in 0..2 + self.rng.below(5) {
            let names = [
                self.rng.pick(&["a", "b", "c"]),
                self.rng.pick(&["a", "b", "c"]),
                self.rng.pick(&["a", "b", "c"]),
            ];
            let text = self.operation(lane, &v, &m, names, lanes);
            self.line(&text);
        }
        if self.rng.chance(60) {
            self.line(&format!("b = {helper}(a, c, &c);"));
        }
        self.close();
        if !lane.is_float() && self.rng.chance(50) {
            let reduce = self.rng.pick(&["xor", "or", "and", "max", "min", "add"]);
            let reduce = if lane == Ty::I32 && reduce == "add" {
                "xor"
            } else {
                reduce
            };
            self.line(&format!("trail((u64)__builtin_reduce_{reduce}(a));"));
        }
        self.open(&format!("for (int i = 0; i < {lanes}; i++) {{"));
        for x in ["a[i]", "b[i]", "c[i]"] {
            self.trail(x, lane);
        }
        self.close();
        self.end(name, "p0 * 7");
    }

    fn operation(&mut self, lane: Ty, v: &str, m: &str, names: [&str; 3], lanes: usize) -> String {
        let [x, y, z] = names;
        let k = self.rng.below(lanes);
        let shuffle: Vec<String> = (0..lanes)
            .map(|_| self.rng.below(2 * lanes).to_string())
            .collect();
        let shuffle = format!(
            "{x} = __builtin_shufflevector({y}, {z}, {});",
            shuffle.join(", ")
        );
        let compare = self.rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let select = format!(
            "{{ {m} t = ({m})({y} {compare} {z}); {x} = ({v})((t & ({m}){y}) | (~t & ({m}){x})); }}"
        );
        if lane.is_float() {
            return match self.rng.below(9) {
                0 => format!("{x} = {y} + {z};"),
                1 => format!("{x} = {y} * {z};"),
                2 => format!("{x} = {y} - {z};"),
                3 => format!("{x} = {y} / ({z} + 3);"),
                4 => select,
                5 => shuffle,
                6 => format!("{x}[{k}] = {y}[{}] * 0.5f;", (k + 1) % lanes),
                7 => format!("{x} = __builtin_elementwise_abs({y});"),
                _ => format!("{x} = __builtin_elementwise_floor({y} * 1.5f);"),
            };
        }
        let mask = lane.bits() - 1;
        if lane == Ty::I32 {
            return match self.rng.below(7) {
                0 => format!("{x} = {y} ^ {z};"),
                1 => format!("{x} = {y} >> ({z} & {mask});"),
                2 => select,
                3 => shuffle,
                4 => format!("{x} = __builtin_elementwise_max({y}, {z});"),
                5 => format!("{x} = ({v})(({m}){y} + ({m}){z});"),
                _ => format!("{x} = __builtin_elementwise_min({y}, ~{z});"),
            };
        }
        match self.rng.below(12) {
            0 => format!("{x} = {y} + {z};"),
            1 => format!("{x} = {y} * {z};"),
            2 => format!("{x} = {y} - {z};"),
            3 => format!("{x} = {y} / ({z} | 1);"),
            4 => format!("{x} = {y} % ({z} | 1);"),
            5 => format!("{x} ^= {y} >> ({z} & {mask});"),
            6 => format!("{x} = {y} << ({z} & {mask});"),
            7 => select,
            8 => shuffle,
            9 => format!("{x}[(p0 + i) % {lanes}u] = {y}[{k}] + 1;").replace(
                "(p0 + i)",
                // The helper has neither variable.
                if self.out.ends_with("*p) {\n") {
                    "(u64)b[0]"
                } else {
                    "(p0 + i)"
                },
            ),
            10 => format!("{x} = __builtin_elementwise_max({y}, {z}) + 1;"),
            _ => format!("{x} = ~{y} & {z};"),
        }
    }
}
