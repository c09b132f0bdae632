//! Generates programs that test the coherence of memory between host and devices.
//!
//! A program is `program.c`, which has the steps of all programs, with random regions and random
//! frequencies of the steps. A region takes arrays of random sizes from a pool, makes the copies
//! current that it reads, and records which copies it has changed. So programs are well defined,
//! and every correct implementation prints the same. Values stay below 2^53; results do not depend
//! on the order of additions.

mod body;
mod region;

use region::{KINDS, Region};
use std::fmt::Write;

/// The part that all programs share.
const PROGRAM: &str = include_str!("program.c");
/// Names of the steps and their usual weights; in the order of the program's enumeration.
const STEPS: [(&str, u64); 22] = [
    ("region", 50),
    ("plain", 30),
    ("write", 8),
    ("read", 8),
    ("enter", 10),
    ("leave", 8),
    ("resize", 6),
    ("remap", 6),
    ("advise", 3),
    ("protect", 3),
    ("file", 5),
    ("copy", 5),
    ("sort", 3),
    ("data", 8),
    ("object", 5),
    ("list", 3),
    ("device", 4),
    ("stack", 3),
    ("scratch", 4),
    ("global", 5),
    ("threads", 8),
    ("fork", 1),
];
/// Numbers of steps, of `target` regions and of regions without `target`.
pub const LENGTH: u32 = 16;
const REGIONS: usize = 9;
const PLAIN: usize = 5;

/// Random numbers by SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Returns the names of the features that can be left out.
pub fn features() -> Vec<&'static str> {
    let steps = STEPS.iter().map(|s| s.0);
    let more = [
        "always",
        "resident",
        "implicit",
        "pointer",
        "host",
        "view-globals",
        "chunked-host",
        "sections",
        "shared-variables",
    ];
    steps.chain(KINDS.iter().map(|k| k.1)).chain(more).collect()
}

/// Returns the program of a seed without some features.
pub fn program(seed: u64, without: &[String]) -> String {
    let mut random = Random(seed.wrapping_mul(0xD1B5_4A32_D192_ED03));
    let r = &mut random;
    let mut regions = String::new();
    let mut serial = [String::new(), String::new()];
    let mut names = [String::new(), String::new()];
    for (target, count) in [(true, REGIONS), (false, PLAIN)] {
        for index in 0..count {
            let made = Region::random(r, target, index, without);
            regions += &made.text;
            let at = usize::from(!target);
            let _ = write!(serial[at], "{}, ", u32::from(made.serial));
            let _ = write!(names[at], "{}, ", made.name);
        }
    }
    let _ = writeln!(
        regions,
        "enum {{ REGIONS = {REGIONS}, PLAIN = {PLAIN}, LENGTH = {LENGTH} }};"
    );
    for (at, name) in ["regions", "plain"].into_iter().enumerate() {
        let _ = writeln!(
            regions,
            "static void (*const {name}[])(Lane *, Random *) = {{{}}};",
            names[at]
        );
    }
    for (at, name) in ["REGION", "PLAIN"].into_iter().enumerate() {
        let _ = writeln!(
            regions,
            "static const char {name}_SERIAL[] = {{{}}};",
            serial[at]
        );
    }
    let mut constants = sizes(r);
    let shared = u32::from(!without.iter().any(|w| w == "shared-variables"));
    let _ = writeln!(
        constants,
        "enum {{ VIEW_USED = {}, SHARED_VARIABLES = {shared} }};",
        view_used(without)
    );
    let text = PROGRAM.replace("//@sizes\n", &constants);
    let text = text.replace("//@regions\n", &regions);
    let text = text.replace("//@weights\n", &weights(r, without));
    format!("// Program {seed}\n{text}")
}

/// Returns the set of arrays that structures do not point to: none, or the globals.
fn view_used(without: &[String]) -> u64 {
    match without.iter().any(|w| w == "view-globals") {
        true => 0xf << 9,
        false => 0,
    }
}

/// Returns the sizes of variables.
fn sizes(r: &mut Random) -> String {
    let size = |r: &mut Random, large: u64| match r.below(4) {
        0 => 1 + r.below(200),
        1 => 1000 + r.below(4000),
        2 => 512 * (1 + r.below(16)),
        _ => large + r.below(1000),
    };
    format!(
        "enum {{ FIXED_UNSIGNED = {}, FIXED_LONG = {}, FIXED_DOUBLE = {}, TABLE = {}, VECTOR = {} }};\n",
        size(r, 16384),
        size(r, 8192),
        size(r, 8192),
        size(r, 4000),
        size(r, 8192)
    )
}

/// Returns the weights of the steps.
fn weights(r: &mut Random, without: &[String]) -> String {
    let mut total = 0;
    let (mut list, mut names) = (String::new(), String::new());
    for (name, usual) in STEPS {
        // Programs differ in what they do often.
        let weight = match r.below(6) {
            _ if without.iter().any(|w| w == name) => 0,
            0 => usual * 3,
            1 => usual / 3,
            _ => usual,
        };
        total += weight;
        let _ = write!(list, "{weight}, ");
        let _ = write!(names, "\"{name}\", ");
    }
    format!(
        "static const int WEIGHTS[STEPS] = {{{list}}};\nenum {{ TOTAL = {total} }};\n\
         static const char *const STEP_NAMES[STEPS] = {{{names}}};\n"
    )
}
