//! Semantics of warp operations. PTX ISA 8.3, sections 9.7.8.6 (shfl.sync), 9.7.12.6 to 9.7.12.9
//! (vote, match, activemask, redux).

/// A warp operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum WarpOp {
    /// Barrier of the lanes.
    Sync,
    /// Value of a lane with a lower number, by distance.
    ShuffleUp,
    /// Value of a lane with a higher number, by distance.
    ShuffleDown,
    /// Value of the lane whose number differs by an exclusive or.
    ShuffleXor,
    /// Value of the lane with the given number.
    ShuffleIndex,
    /// Mask of lanes whose predicate is true.
    Ballot,
    /// True if the predicate of any lane is true.
    Any,
    /// True if the predicates of all lanes are true.
    All,
    /// True if the predicates of all lanes are equal.
    Uniform,
    /// Mask of lanes with the same value.
    MatchAny,
    /// Mask of all lanes if they have the same value, else 0.
    MatchAll,
    /// Sum.
    Add,
    /// Unsigned minimum.
    Min,
    /// Unsigned maximum.
    Max,
    /// Signed minimum.
    MinSigned,
    /// Signed maximum.
    MaxSigned,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

const ALL: [WarpOp; 19] = [
    WarpOp::Sync,
    WarpOp::ShuffleUp,
    WarpOp::ShuffleDown,
    WarpOp::ShuffleXor,
    WarpOp::ShuffleIndex,
    WarpOp::Ballot,
    WarpOp::Any,
    WarpOp::All,
    WarpOp::Uniform,
    WarpOp::MatchAny,
    WarpOp::MatchAll,
    WarpOp::Add,
    WarpOp::Min,
    WarpOp::Max,
    WarpOp::MinSigned,
    WarpOp::MaxSigned,
    WarpOp::And,
    WarpOp::Or,
    WarpOp::Xor,
];

/// Packs a value with the lane and clamp operands of a shuffle.
pub fn shuffle_value(value: u32, lane: u32, clamp: u32) -> u64 {
    u64::from(value) | u64::from(lane & 0x1f) << 32 | u64::from(clamp & 0x1f1f) << 40
}

/// Returns the result of `lane`, whose operand is `own`; `values` holds the operands of all
/// participating lanes.
pub fn result(kind: u32, mask: u32, lane: u32, own: u64, values: &[(u32, u64)]) -> u64 {
    let Some(&op) = ALL.get(kind as usize) else {
        return 0;
    };
    let low = |v: u64| v as u32;
    let all = || values.iter().map(|v| low(v.1));
    let fold = |f: fn(u32, u32) -> u32| u64::from(all().reduce(f).unwrap_or(0));
    let lanes_of = |value: u32| {
        let same = values.iter().filter(|v| low(v.1) == value);
        u64::from(same.fold(0u32, |m, v| m | 1 << v.0))
    };
    match op {
        WarpOp::Sync => 0,
        WarpOp::ShuffleUp | WarpOp::ShuffleDown | WarpOp::ShuffleXor | WarpOp::ShuffleIndex => {
            let by = (own >> 32) as u32 & 0x1f;
            let clamp = (own >> 40) as u32 & 0x1f;
            let segment = (own >> 48) as u32 & 0x1f;
            let most = lane & segment | clamp & !segment;
            let least = lane & segment;
            let (from, valid) = match op {
                WarpOp::ShuffleUp => (
                    lane.wrapping_sub(by),
                    lane as i64 - by as i64 >= most as i64,
                ),
                WarpOp::ShuffleDown => (lane + by, lane + by <= most),
                WarpOp::ShuffleXor => (lane ^ by, lane ^ by <= most),
                _ => {
                    let j = least | by & !segment;
                    (j, j <= most)
                }
            };
            let found = values.iter().find(|v| valid && v.0 == from);
            u64::from(low(found.map_or(own, |v| v.1)))
        }
        WarpOp::Ballot => {
            let yes = values.iter().filter(|v| v.1 != 0);
            u64::from(yes.fold(0u32, |m, v| m | 1 << v.0))
        }
        WarpOp::Any => u64::from(values.iter().any(|v| v.1 != 0)),
        WarpOp::All => u64::from(values.iter().all(|v| v.1 != 0)),
        WarpOp::Uniform => u64::from(values.iter().all(|v| v.1 == own)),
        WarpOp::MatchAny => lanes_of(low(own)),
        WarpOp::MatchAll => {
            if values.iter().all(|v| v.1 == own) {
                u64::from(mask)
            } else {
                0
            }
        }
        WarpOp::Add => fold(u32::wrapping_add),
        WarpOp::Min => fold(u32::min),
        WarpOp::Max => fold(u32::max),
        WarpOp::MinSigned => fold(|a, b| (a as i32).min(b as i32) as u32),
        WarpOp::MaxSigned => fold(|a, b| (a as i32).max(b as i32) as u32),
        WarpOp::And => fold(|a, b| a & b),
        WarpOp::Or => fold(|a, b| a | b),
        WarpOp::Xor => fold(|a, b| a ^ b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffle(op: WarpOp, by: u32, clamp: u32) -> Vec<u64> {
        let values: Vec<(u32, u64)> = (0..32)
            .map(|n| (n, shuffle_value(100 + n, by, clamp)))
            .collect();
        (0..32)
            .map(|n| result(op as u32, !0, n, values[n as usize].1, &values))
            .collect()
    }

    #[test]
    fn offload_warp_shuffles() {
        let down = shuffle(WarpOp::ShuffleDown, 4, 0x1f);
        assert_eq!((down[0], down[27], down[28]), (104, 131, 128));
        let up = shuffle(WarpOp::ShuffleUp, 4, 0);
        assert_eq!((up[3], up[4], up[31]), (103, 100, 127));
        let xor = shuffle(WarpOp::ShuffleXor, 1, 0x1f);
        assert_eq!((xor[0], xor[1]), (101, 100));
        let index = shuffle(WarpOp::ShuffleIndex, 7, 0x1f);
        assert!(index.iter().all(|&v| v == 107));
        // Shuffles within each half of a warp.
        let half = shuffle(WarpOp::ShuffleDown, 8, 0x100f | 0x1000);
        assert_eq!((half[0], half[8], half[16]), (108, 108, 124));
    }

    #[test]
    fn offload_warp_operations_match_their_numbers() {
        for (n, op) in ALL.iter().enumerate() {
            assert_eq!(*op as usize, n);
        }
    }
}
