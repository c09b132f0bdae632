//! `__cpu_features2`: the features beyond the first 32 of `__builtin_cpu_supports`.
//!
//! Natively the compiler's static runtime defines it; libgcc_s has only the words before
//! (`__cpu_model`). The numbers of the features are the interface of GCC and clang: feature `n` is
//! bit `n % 32` of word `n / 32 - 1`. Intel's SDM (volume 2, CPUID) and AMD's APM (volume 3,
//! appendix E) document the CPUID bits.

use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::sync::OnceLock;

/// Processor state that the system must save for a feature.
#[derive(Clone, Copy)]
enum RequiredState {
    Always,
    /// Any extended state.
    Saved,
    Avx,
    Avx512,
    Amx,
    Apx,
}
use RequiredState::{Always, Amx, Apx, Avx, Avx512, Saved};

/// A result register of CPUID.
#[derive(Clone, Copy)]
enum CpuidRegister {
    A,
    B,
    C,
    D,
}
use CpuidRegister::{A, B, C, D};

/// Leaf, subleaf and register, and each feature's bit in it, number and required state.
type FeatureBits = (
    u32,
    u32,
    CpuidRegister,
    &'static [(u32, u32, RequiredState)],
);

#[rustfmt::skip]
const FEATURE_BITS: [FeatureBits; 14] = [
    (1, 0, C, &[
        (0, 5, Always), (1, 19, Always), (9, 6, Always), (12, 14, Avx), (13, 46, Always), (19, 7, Always),
        (20, 8, Always), (22, 58, Always), (23, 2, Always), (25, 18, Always), (26, 81, Saved), (27, 62, Always),
        (28, 9, Avx), (29, 49, Avx), (30, 69, Always),
    ]),
    (1, 0, D, &[
        (8, 47, Always), (15, 0, Always), (23, 1, Always), (24, 51, Always), (25, 3, Always), (26, 4, Always),
    ]),
    (7, 0, B, &[
        (0, 50, Always), (2, 73, Always), (3, 16, Always), (4, 52, Always), (5, 10, Avx), (8, 17, Always),
        (11, 71, Always), (16, 15, Avx512), (17, 22, Avx512), (18, 70, Always), (19, 40, Always),
        (21, 27, Avx512), (23, 43, Always), (24, 44, Always), (26, 25, Avx512), (27, 24, Avx512),
        (28, 23, Avx512), (29, 74, Always), (30, 21, Avx512), (31, 20, Avx512),
    ]),
    (7, 0, C, &[
        (0, 65, Always), (1, 26, Avx512), (4, 64, Always), (5, 79, Always), (6, 31, Avx512), (7, 75, Always),
        (8, 32, Always), (9, 78, Avx), (10, 33, Avx), (11, 34, Avx512), (12, 35, Avx512), (14, 30, Avx512),
        (22, 68, Always), (23, 90, Always), (25, 42, Always), (27, 60, Always), (28, 59, Always),
        (29, 48, Always),
    ]),
    (7, 0, D, &[
        (2, 28, Avx512), (3, 29, Avx512), (5, 88, Always), (8, 37, Avx512), (14, 72, Always), (16, 77, Always),
        (18, 63, Always), (20, 53, Always), (22, 87, Amx), (23, 94, Avx512), (24, 85, Amx), (25, 86, Amx),
    ]),
    (7, 1, A, &[
        (0, 109, Avx), (1, 108, Avx), (2, 110, Avx), (3, 105, Always), (4, 93, Avx), (5, 36, Avx512),
        (7, 102, Always), (21, 103, Amx), (22, 89, Always), (23, 99, Avx), (31, 121, Always),
    ]),
    (7, 1, D, &[
        (4, 100, Avx), (5, 101, Avx), (8, 106, Amx), (10, 107, Avx), (14, 104, Always), (15, 112, Always),
        (19, 114, Avx512), (21, 111, Apx),
    ]),
    (0xd, 1, A, &[(0, 83, Saved), (1, 82, Saved), (3, 84, Saved)]),
    (0x14, 0, B, &[(4, 67, Always)]),
    (0x19, 0, B, &[(0, 91, Always), (2, 92, Always)]),
    (0x1e, 1, A, &[(4, 120, Amx), (6, 118, Amx), (7, 117, Amx), (8, 122, Amx)]),
    (0x8000_0001, 0, C, &[
        (0, 54, Always), (5, 57, Always), (5, 41, Always), (6, 11, Always), (8, 66, Always), (11, 13, Avx),
        (15, 56, Always), (16, 12, Avx), (21, 76, Always), (29, 61, Always),
    ]),
    (0x8000_0001, 0, D, &[(29, 55, Always)]),
    (0x8000_0008, 0, B, &[(0, 45, Always), (9, 80, Always)]),
];

/// The levels of the psABI, each with the features beyond the previous one: x86-64, -v2, -v3, -v4.
const LEVELS: [(u32, &[u32]); 4] = [
    (95, &[]),
    (96, &[46, 54, 2, 5, 6, 7, 8]),
    (97, &[9, 10, 16, 17, 49, 14, 57, 58]),
    (98, &[15, 21, 23, 22, 20]),
];

/// Returns the words of all features, including the first 32.
fn words() -> [u32; 4] {
    let last = __cpuid(0).eax;
    let last_extended = __cpuid(0x8000_0000).eax;
    let saved = __cpuid(1).ecx >> 27 & 1 != 0;
    let state = match saved {
        // SAFETY: the bit above says that the system has enabled the instruction.
        true => unsafe { state() },
        false => 0,
    };
    let has = |what: RequiredState| match what {
        Always => true,
        Saved => saved,
        Avx => state & 0x6 == 0x6,
        Avx512 => state & 0xe6 == 0xe6,
        Amx => state & 0x6_0000 == 0x6_0000,
        Apx => state & 0x8_0000 != 0,
    };
    let mut words = [0u32; 4];
    let mut set = |n: u32| words[n as usize / 32] |= 1 << (n % 32);
    for (leaf, subleaf, register, features) in FEATURE_BITS {
        let most = if leaf >= 0x8000_0000 {
            last_extended
        } else {
            last
        };
        if leaf > most || subleaf > 0 && leaf == 7 && __cpuid_count(7, 0).eax < subleaf {
            continue;
        }
        let all = __cpuid_count(leaf, subleaf);
        let answer = match register {
            A => all.eax,
            B => all.ebx,
            C => all.ecx,
            D => all.edx,
        };
        for &(bit, number, needed) in features {
            if answer >> bit & 1 != 0 && has(needed) {
                set(number);
            }
        }
    }
    for (level, asks) in LEVELS {
        let known = |n: &u32| words[*n as usize / 32] >> (n % 32) & 1 != 0;
        if !asks.iter().all(known) {
            break;
        }
        words[level as usize / 32] |= 1 << (level % 32);
    }
    words
}

/// Returns the state components that the system saves.
///
/// # Safety
/// The system has enabled `xgetbv`.
#[target_feature(enable = "xsave")]
unsafe fn state() -> u64 {
    // SAFETY: enabled by contract.
    unsafe { _xgetbv(0) }
}

/// Returns the address of `__cpu_features2`.
pub fn second_words() -> usize {
    /// The variable that programs read, at one address in the process, as natively.
    static WORDS: OnceLock<[u32; 4]> = OnceLock::new();
    (&raw const WORDS.get_or_init(words)[1]) as usize
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn features_agree_with_the_standard_library() {
        let words = words();
        let has = |n: u32| words[n as usize / 32] >> (n % 32) & 1 != 0;
        for (number, found) in [
            (2, is_x86_feature_detected!("popcnt")),
            (9, is_x86_feature_detected!("avx")),
            (10, is_x86_feature_detected!("avx2")),
            (14, is_x86_feature_detected!("fma")),
            (15, is_x86_feature_detected!("avx512f")),
            (16, is_x86_feature_detected!("bmi1")),
            (20, is_x86_feature_detected!("avx512vl")),
            (31, is_x86_feature_detected!("avx512vbmi2")),
            (32, is_x86_feature_detected!("gfni")),
            (36, is_x86_feature_detected!("avx512bf16")),
            (40, is_x86_feature_detected!("adx")),
            (49, is_x86_feature_detected!("f16c")),
            (57, is_x86_feature_detected!("lzcnt")),
            (58, is_x86_feature_detected!("movbe")),
            (69, is_x86_feature_detected!("rdrand")),
            (70, is_x86_feature_detected!("rdseed")),
            (74, is_x86_feature_detected!("sha")),
            (78, is_x86_feature_detected!("vaes")),
            (82, is_x86_feature_detected!("xsavec")),
            (94, is_x86_feature_detected!("avx512fp16")),
        ] {
            assert_eq!(has(number), found, "feature {number}");
        }
        assert!(has(95));
    }
}
