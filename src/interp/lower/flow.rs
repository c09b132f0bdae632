//! The control flow of a function, and the live intervals of its values.
//!
//! Blocks are numbered in reverse postorder, in which a definition comes before its uses. A value
//! that leaves the range from its definition to its last use can come back only by a branch to a
//! loop that begins inside that range; so its interval extends to the end of such loops. Intervals
//! have no holes: one may cover blocks where its value is dead, which costs a slot, but never a
//! value.
//!
//! Positions count as in [`super::slots`], but in the order of the blocks here.

use ompvm_ir::Body;

/// The positions where a value may be live, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) start: i64,
    pub(super) end: i64,
}

impl Interval {
    /// The interval of a value that is never live.
    pub(super) const EMPTY: Interval = Interval {
        start: i64::MAX,
        end: i64::MIN,
    };
    /// The interval of a value that shares its slot with none.
    pub(super) const ALWAYS: Interval = Interval {
        start: i64::MIN,
        end: i64::MAX,
    };

    /// Returns the smallest interval with both in it.
    pub(super) fn union(self, other: Interval) -> Interval {
        Interval {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Adds a position.
    pub(super) fn add(&mut self, at: i64) {
        *self = self.union(Interval { start: at, end: at });
    }
}

/// The blocks' edges and order.
pub(super) struct Flow {
    pub(super) succs: Edges,
    pub(super) preds: Edges,
    /// Difference between the positions here and in the order of the body, of each block.
    shift: Vec<i64>,
    loops: Loops,
}

impl Flow {
    pub(super) fn new(body: &Body) -> Flow {
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for (b, block) in body.blocks.iter().enumerate() {
            let insts = &body.insts[block.start as usize..block.end as usize];
            let Some(last) = insts.last() else { continue };
            last.op
                .for_each_successor(&mut |s| edges.push((b as u32, s.as_u32())));
        }
        let bounds: Vec<(u32, u32)> = body.blocks.iter().map(|b| (b.start, b.end)).collect();
        Flow::of_edges(&bounds, &edges)
    }

    /// Builds the flow of blocks, given by their first instruction and the one after the last.
    fn of_edges(bounds: &[(u32, u32)], edges: &[(u32, u32)]) -> Flow {
        let n = bounds.len();
        let mut succs = Edges::new(n, edges.iter().copied());
        succs.sort();
        let preds = Edges::new(n, edges.iter().map(|&(b, s)| (s, b)));
        let mut shift = vec![0; n];
        let mut number = vec![0u32; n];
        let mut at = 0;
        for (k, &b) in reverse_postorder(&succs, n).iter().enumerate() {
            let (start, end) = bounds[b as usize];
            shift[b as usize] = at - i64::from(start) * 2;
            number[b as usize] = k as u32;
            at += i64::from(end - start) * 2;
        }
        let position = |b: u32, at: u32| i64::from(at) * 2 + shift[b as usize];
        let backward = edges
            .iter()
            .filter(|(from, to)| number[*to as usize] <= number[*from as usize]);
        let loops = Loops::new(backward.map(|&(from, head)| Interval {
            start: position(head, bounds[head as usize].0),
            end: position(from, bounds[from as usize].1) - 1,
        }));
        Flow {
            succs,
            preds,
            shift,
            loops,
        }
    }

    /// Converts a position in block `b` to the order here.
    pub(super) fn position(&self, b: u32, at: i64) -> i64 {
        at + self.shift[b as usize]
    }

    /// Returns the last position at which a value may be live that is defined at `def` and used at
    /// `last`, the last of its uses.
    pub(super) fn extended(&self, def: i64, last: i64) -> i64 {
        let mut end = last;
        while let Some(farther) = self.loops.farthest(def, end).filter(|&f| f > end) {
            end = farther;
        }
        end
    }
}

/// Returns all blocks in reverse postorder; those that nothing reaches come last. Blocks that
/// follow in the body are visited first, so that the order of a compiler's output is kept:
/// `succs` is sorted.
fn reverse_postorder(succs: &Edges, n: usize) -> Vec<u32> {
    let mut order = Vec::with_capacity(n);
    let mut seen = vec![false; n];
    let mut stack: Vec<(u32, &[u32])> = Vec::new();
    if n > 0 {
        seen[0] = true;
        stack.push((0, succs.neighbors(0)));
    }
    while let Some((b, next)) = stack.last_mut() {
        match next.split_last() {
            Some((&s, others)) => {
                *next = others;
                if !std::mem::replace(&mut seen[s as usize], true) {
                    stack.push((s, succs.neighbors(s)));
                }
            }
            None => {
                order.push(*b);
                stack.pop();
            }
        }
    }
    order.reverse();
    order.extend((0..n as u32).filter(|&b| !seen[b as usize]));
    order
}

/// The loops of a function: where each begins, and the farthest position that branches back there.
struct Loops {
    /// Positions of the heads, ascending.
    heads: Vec<i64>,
    /// Row `k` has the farthest ends of `1 << k` loops from each head on.
    farthest: Vec<Vec<i64>>,
}

impl Loops {
    fn new(backward: impl Iterator<Item = Interval>) -> Loops {
        let mut all: Vec<Interval> = backward.collect();
        all.sort_unstable_by_key(|l| (l.start, l.end));
        let heads = all.iter().map(|l| l.start).collect();
        let mut farthest = vec![all.iter().map(|l| l.end).collect::<Vec<i64>>()];
        let mut width = 1;
        while width * 2 <= all.len() {
            let row = &farthest[farthest.len() - 1];
            let pairs = row.iter().zip(&row[width..]);
            farthest.push(pairs.map(|(&a, &b)| a.max(b)).collect());
            width *= 2;
        }
        Loops { heads, farthest }
    }

    /// Returns the farthest end of the loops that begin after `def`, at `end` or before.
    fn farthest(&self, def: i64, end: i64) -> Option<i64> {
        let first = self.heads.partition_point(|&h| h <= def);
        let after = self.heads.partition_point(|&h| h <= end);
        let row = (after.checked_sub(first)?).checked_ilog2()?;
        let ends = &self.farthest[row as usize];
        Some(ends[first].max(ends[after - (1 << row)]))
    }
}

/// An adjacency list: for each block a list of other blocks.
pub(super) struct Edges {
    start: Vec<u32>,
    list: Vec<u32>,
}

impl Edges {
    /// Builds the lists of `n` blocks from pairs (block, other).
    fn new(n: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Edges {
        let mut start = vec![0u32; n + 2];
        for (b, _) in pairs.clone() {
            start[b as usize + 2] += 1;
        }
        for b in 2..start.len() {
            start[b] += start[b - 1];
        }
        let mut list = vec![0; start[n + 1] as usize];
        for (b, other) in pairs {
            let at = &mut start[b as usize + 1];
            list[*at as usize] = other;
            *at += 1;
        }
        Edges { start, list }
    }

    /// Sorts each list.
    fn sort(&mut self) {
        for ends in self.start.windows(2) {
            self.list[ends[0] as usize..ends[1] as usize].sort_unstable();
        }
    }

    pub(super) fn neighbors(&self, b: u32) -> &[u32] {
        let b = b as usize;
        &self.list[self.start[b] as usize..self.start[b + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::{Edges, Flow};

    /// Returns random numbers below a bound (xorshift).
    fn random(seed: u64) -> impl FnMut(usize) -> usize {
        let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move |below| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 11) as usize % below
        }
    }

    /// Returns the blocks that paths from the entry reach without block `but`.
    fn reached(succs: &Edges, n: usize, but: Option<u32>) -> Vec<bool> {
        let mut seen = vec![false; n];
        let mut work = vec![0u32];
        while let Some(b) = work.pop() {
            if Some(b) != but && !std::mem::replace(&mut seen[b as usize], true) {
                work.extend(succs.neighbors(b));
            }
        }
        seen
    }

    /// Compares the interval of a definition in `def` with the blocks in which it is live.
    fn check(flow: &Flow, bounds: &[(u32, u32)], def: u32, uses: &[u32], what: &str) {
        let middle = |b: u32| flow.position(b, i64::from(bounds[b as usize].0) * 2 + 2);
        let start = middle(def);
        let last = uses.iter().map(|&u| middle(u)).max().unwrap_or(start);
        let end = flow.extended(start, last);
        let mut live_in = vec![false; bounds.len()];
        let mut work: Vec<u32> = uses.iter().copied().filter(|&u| u != def).collect();
        while let Some(b) = work.pop() {
            if std::mem::replace(&mut live_in[b as usize], true) {
                continue;
            }
            for &p in flow.preds.neighbors(b) {
                let behind = flow.position(p, i64::from(bounds[p as usize].1) * 2 - 1);
                assert!(
                    (start..=end).contains(&behind),
                    "{what}: live at the end of block {p} ({behind}), not in {start}..={end}"
                );
                if p != def {
                    work.push(p);
                }
            }
        }
    }

    #[test]
    fn intervals_cover_what_is_live() {
        let mut checked = 0;
        for seed in 1..400 {
            let mut next = random(seed);
            let n = 2 + next(14);
            let bounds: Vec<(u32, u32)> = (0..n as u32).map(|b| (b * 3, b * 3 + 3)).collect();
            // The entry has no predecessors.
            let edges: Vec<(u32, u32)> = (0..n as u32)
                .flat_map(|b| std::iter::repeat_n(b, 2))
                .map(|b| (b, 1 + next(n - 1) as u32))
                .collect();
            let flow = Flow::of_edges(&bounds, &edges);
            let reachable = reached(&flow.succs, n, None);
            for def in (0..n as u32).filter(|&b| reachable[b as usize]) {
                let around = reached(&flow.succs, n, Some(def));
                let below = |b: &u32| reachable[*b as usize] && !around[*b as usize];
                let dominated: Vec<u32> = (0..n as u32).filter(below).collect();
                for _ in 0..4 {
                    let uses: Vec<u32> = (0..1 + next(3))
                        .map(|_| dominated[next(dominated.len())])
                        .collect();
                    check(
                        &flow,
                        &bounds,
                        def,
                        &uses,
                        &format!("seed {seed}, {edges:?}"),
                    );
                    checked += 1;
                }
            }
        }
        assert!(checked > 5_000, "{checked}");
    }

    #[test]
    fn a_value_of_one_case_is_not_live_in_the_others() {
        // A loop (1) around a switch with three cases of two blocks; 8 joins, 9 leaves.
        let edges = [
            (0, 1),
            (1, 2),
            (1, 4),
            (1, 6),
            (1, 9),
            (2, 3),
            (4, 5),
            (6, 7),
            (3, 8),
            (5, 8),
            (7, 8),
            (8, 1),
        ];
        let bounds: Vec<(u32, u32)> = (0..10).map(|b| (b * 3, b * 3 + 3)).collect();
        let flow = Flow::of_edges(&bounds, &edges);
        let (def, last) = (flow.position(2, 6), flow.position(3, 11));
        assert_eq!(flow.extended(def, last), last);
        // A value from before the loop is live to its end.
        assert_eq!(flow.extended(0, last), flow.position(8, 53));
    }
}
