//! Placement of a striped block by the sections that kernels use.
//!
//! A block is striped as a whole at first. Programs keep several arrays in one block, such as all
//! grids of a multigrid method, and then the halves of the block are not the halves of each array.
//! The maps of `target` regions name the sections. After some launches the sections with the most
//! traffic are striped each for itself, and small ones lie on the first member alone.
//!
//! Sections of unknown size, as those of plain loops, have no effect. A block with very many
//! sections stays as it is.

use crate::device::{StripedPart, Stripes};

/// Number of launches after which a placement is planned first. Each later attempt waits for
/// [`PATIENCE`] times as many.
const FIRST: u64 = 32;
const PATIENCE: u64 = 8;
/// Maximum number of attempts.
const ATTEMPTS: u32 = 3;
/// Maximum number of sections.
const MOST: usize = 64;
/// Divisor of a block's size that gives the number of bytes which a new placement must move.
const WORTH_MOVING: u64 = 16;

/// The sections of a block that kernels use.
#[derive(Debug, Default)]
pub(super) struct Sections {
    used: Vec<Used>,
    launches: u64,
    attempts: u32,
}

/// A section and the number of launches that use it.
#[derive(Clone, Copy, Debug)]
struct Used {
    /// Offset in the block.
    start: u64,
    end: u64,
    launches: u64,
}

impl Sections {
    /// Records that a launch uses `size` bytes from offset `start`. Returns true if it is time to
    /// plan a placement.
    pub(super) fn record(&mut self, start: u64, size: u64) -> bool {
        if size == 0 || self.attempts >= ATTEMPTS {
            return false;
        }
        let end = start.saturating_add(size);
        let known = self
            .used
            .iter()
            .position(|u| u.start == start && u.end == end);
        match known {
            Some(n) => self.used[n].launches += 1,
            None if self.used.len() == MOST => {
                self.attempts = ATTEMPTS;
                self.used.clear();
                return false;
            }
            None => self.used.push(Used {
                start,
                end,
                launches: 1,
            }),
        }
        self.launches += 1;
        let due = self.launches >= FIRST * PATIENCE.pow(self.attempts);
        self.attempts += u32::from(due);
        due
    }

    /// Returns the parts of a better placement on that many members; `None` if there is none.
    pub(super) fn plan(&self, stripes: &Stripes, members: usize) -> Option<Vec<StripedPart>> {
        let size = stripes.size();
        let mut builder = Builder {
            parts: Vec::new(),
            stripes,
            members: members as u64,
        };
        let mut begin = 0;
        for section in self.chosen() {
            builder.place(begin, section.start);
            builder.place(section.start, section.end.min(size));
            begin = section.end;
        }
        builder.place(begin, size);
        let parts = builder.finish();
        let worth = moved(&stripes.parts, &parts) > size / WORTH_MOVING;
        worth.then_some(parts)
    }

    /// Returns the sections with the most traffic that do not overlap, in the order of addresses.
    fn chosen(&self) -> Vec<Used> {
        let mut by_traffic = self.used.clone();
        let traffic = |u: &Used| u.launches.saturating_mul(u.end - u.start);
        by_traffic.sort_by_key(|u| std::cmp::Reverse(traffic(u)));
        let mut chosen: Vec<Used> = Vec::new();
        for used in by_traffic {
            let apart = |c: &Used| used.end <= c.start || c.end <= used.start;
            if chosen.iter().all(apart) {
                chosen.push(used);
            }
        }
        chosen.sort_by_key(|u| u.start);
        chosen
    }
}

/// The parts of a placement, built from the first address on.
struct Builder<'a> {
    parts: Vec<StripedPart>,
    stripes: &'a Stripes,
    members: u64,
}

impl Builder<'_> {
    /// Stripes a section over the members if it is large enough, else puts it on the first one.
    fn place(&mut self, from: u64, to: u64) {
        let size = to.saturating_sub(from);
        if size < self.stripes.worthwhile {
            return self.extend(to, 0);
        }
        for n in 1..=self.members {
            let end = u128::from(size) * u128::from(n) / u128::from(self.members);
            self.extend(from + end as u64, n as usize - 1);
        }
    }

    /// Extends the placement to about `end`, on a member.
    fn extend(&mut self, end: u64, member: usize) {
        let unit = self.stripes.unit;
        let end = ((end + unit / 2) / unit * unit).min(self.stripes.size());
        let begin = self.parts.last().map_or(0, |part| part.end);
        match self.parts.last_mut() {
            _ if end <= begin => {}
            Some(last) if last.member == member => last.end = end,
            _ => self.parts.push(StripedPart { end, member }),
        }
    }

    fn finish(mut self) -> Vec<StripedPart> {
        let end = self.stripes.size();
        match self.parts.last_mut() {
            Some(last) => last.end = end,
            None => self.parts.push(StripedPart { end, member: 0 }),
        }
        self.parts
    }
}

/// Returns the number of bytes that lie on another member in the second placement.
pub(super) fn moved(before: &[StripedPart], after: &[StripedPart]) -> u64 {
    let (mut at, mut bytes, mut n) = (0, 0, 0);
    for part in after {
        while at < part.end && n < before.len() {
            let end = part.end.min(before[n].end);
            if before[n].member != part.member {
                bytes += end.saturating_sub(at);
            }
            at = end.max(at);
            n += usize::from(end == before[n].end);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripes(parts: &[(usize, u64)]) -> Stripes {
        Stripes {
            start: 0,
            parts: parts.iter().map(part).collect(),
            unit: 10,
            worthwhile: 40,
        }
    }

    fn part(&(member, end): &(usize, u64)) -> StripedPart {
        StripedPart { end, member }
    }

    fn planned(used: &[(u64, u64, u64)], stripes: &Stripes) -> Option<Vec<(usize, u64)>> {
        let mut sections = Sections::default();
        for &(start, size, launches) in used {
            for _ in 0..launches {
                sections.record(start, size);
            }
        }
        let parts = sections.plan(stripes, 2)?;
        Some(parts.iter().map(|p| (p.member, p.end)).collect())
    }

    #[test]
    fn offload_group_sections_are_striped_each_for_itself() {
        let whole = stripes(&[(0, 570), (1, 1140)]);
        // Grids of 10, 30, 100 and 1,000 bytes: small ones stay together.
        let grids = [(0, 10, 9), (10, 30, 9), (40, 100, 9), (140, 1000, 9)];
        let placed = planned(&grids, &whole);
        let expected = vec![(0, 90), (1, 140), (0, 640), (1, 1140)];
        assert_eq!(placed, Some(expected.clone()));
        // The same again gains nothing.
        assert_eq!(planned(&grids, &stripes(&expected)), None);
    }

    #[test]
    fn offload_group_the_sections_with_the_most_traffic_decide() {
        let whole = stripes(&[(0, 500), (1, 1000)]);
        assert_eq!(planned(&[(0, 1000, 5), (0, 400, 5)], &whole), None);
        let placed = planned(&[(0, 1000, 2), (0, 400, 6)], &whole);
        assert_eq!(placed, Some(vec![(0, 200), (1, 400), (0, 700), (1, 1000)]));
    }

    #[test]
    fn offload_group_placements_are_planned_ever_more_rarely() {
        let mut sections = Sections::default();
        let due: Vec<u64> = (1..=20_000).filter(|_| sections.record(0, 8)).collect();
        assert_eq!(due, [32, 256, 2048]);
        let mut many = Sections::default();
        let due = (0..10_000).filter(|n| many.record(n * 8, 8));
        assert_eq!(due.count(), 1);
        assert!(many.chosen().is_empty());
    }

    #[test]
    fn offload_group_moved_bytes_are_those_with_another_member() {
        let parts = |list: &[(usize, u64)]| -> Vec<StripedPart> { list.iter().map(part).collect() };
        assert_eq!(
            moved(&parts(&[(0, 50), (1, 100)]), &parts(&[(0, 50), (1, 100)])),
            0
        );
        assert_eq!(
            moved(
                &parts(&[(0, 50), (1, 100)]),
                &parts(&[(1, 10), (0, 70), (1, 100)])
            ),
            30
        );
    }
}
