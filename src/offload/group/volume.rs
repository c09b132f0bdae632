//! Simulation of the bytes that members of a group without common memory send each other.
//!
//! [`Simulation`] follows launches as a group does, with the same footprints, directories and
//! transfers, but without devices: so the communication of a program can be found out for numbers
//! of ranks that no machine at hand has. Shares are equal. Bytes that several members write cost
//! nothing here, and neither do records of reductions.

use super::directory::Directory;
use super::distributed::uses::{Uses, contested_bytes, transfers, uses};
use super::distributed::{Views, directory};
use super::image::Words;
use super::memory::{Block, Blocks, Location, parts};
use super::placement::Sections;
use super::replicas::Replicas;
use crate::device::Section;
use omp_abi::League;
use ompvm_llvm::nvptx::footprint::{Footprint, LaunchShape};

/// A group whose launches are simulated.
#[derive(Debug)]
pub struct Simulation {
    members: usize,
    blocks: Blocks,
    next: u64,
}

/// Bytes that each member received before a launch.
pub type Received = Vec<u64>;

impl Simulation {
    /// Creates a group of that many members.
    pub fn new(members: usize) -> Simulation {
        Simulation {
            members,
            blocks: Blocks::new(),
            next: 1 << 40,
        }
    }

    /// Allocates a block of that many bytes which the host has written, and returns its address.
    pub fn allocate(&mut self, size: u64) -> u64 {
        let start = self.next;
        self.next += size.next_multiple_of(4096) + 4096;
        let mut directory = Directory::new(self.members);
        for (member, bytes) in parts(size, self.members).enumerate() {
            directory.write(member, bytes);
        }
        let block = Block {
            size,
            padding: 0,
            location: Location::Distributed {
                copies: vec![Some(start); self.members],
                padding: 0,
                align: 16,
                directory,
                views: Views::default(),
                in_place: None,
            },
            version: 0,
            replicas: Replicas::new(self.members),
            sections: Sections::default(),
            copied: 0,
        };
        self.blocks.insert(start, block);
        start
    }

    /// Simulates a launch of `threads` threads in each of as many blocks as `iterations` need.
    /// Returns what each member received before it; `None` if one member would run it.
    pub fn launch(
        &mut self,
        footprint: &Footprint,
        words: &[u64],
        iterations: u64,
        threads: u32,
    ) -> Option<Received> {
        let members = self.members as u64;
        let share = iterations.div_ceil(members);
        let blocks = u32::try_from(share.div_ceil(threads.into())).ok()?.max(1);
        let given = Words {
            values: words.to_vec(),
            sections: words
                .iter()
                .map(|&start| Section { start, size: 0 })
                .collect(),
        };
        let border = |n: u64| ((u128::from(n) << 64) / u128::from(members)) as u64;
        let all: Option<Vec<Uses>> = (0..members)
            .map(|n| {
                let league = League {
                    part: n as u32,
                    parts: members as u32,
                    from: border(n),
                    to: border(n + 1),
                    first: n as u32 * blocks,
                    teams: members as u32 * blocks,
                };
                let shape = LaunchShape {
                    words,
                    blocks,
                    threads,
                    league,
                    ends: n == 0,
                };
                uses(&mut self.blocks, footprint, &given, &shape, Uses::default())
            })
            .collect();
        let all = all?;
        contested_bytes(&all)?;
        let mut received = vec![0; self.members];
        for (start, transfer) in transfers(&mut self.blocks, &all) {
            received[transfer.to] += transfer.bytes.end - transfer.bytes.start;
            if let Some(directory) = directory(&mut self.blocks, start) {
                directory.add(transfer.to, transfer.bytes);
            }
        }
        for (n, used) in all.iter().enumerate() {
            for (&start, written) in &used.written {
                if let Some(directory) = directory(&mut self.blocks, start) {
                    written.iter().for_each(|b| directory.write(n, b.clone()));
                }
            }
        }
        Some(received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ompvm_llvm::nvptx::footprint::{Access, Operation, Quantity, Term};

    /// Returns the footprint of `to[i] = from[i] + from[i + 1]` for i below argument 3, in which
    /// argument 1 is `from` and argument 2 is `to`.
    fn neighbors() -> Footprint {
        let access = |parameter, offset, written| Access {
            parameter,
            written,
            offset: Some(offset),
            bytes: 8,
            ends: false,
        };
        Footprint {
            unknown: None,
            terms: vec![
                Term::Word(3, 64),
                Term::ShareFirst(0),
                Term::ShareEnd(0),
                Term::Constant(-1),
                Term::Operation(Operation::Add, 64, vec![2, 3]),
                // From the first to the last iteration of the share.
                Term::Operation(Operation::Either, 64, vec![1, 4]),
                Term::Constant(8),
                Term::Operation(Operation::Mul, 64, vec![5, 6]),
                Term::Operation(Operation::Add, 64, vec![7, 6]),
                Term::Quantity(Quantity::Threads),
            ],
            accesses: vec![access(1, 7, false), access(1, 8, false), access(2, 7, true)],
            by_iterations: true,
        }
    }

    #[test]
    fn offload_group_simulated_members_receive_their_halos() {
        let n = 1000;
        let mut group = Simulation::new(4);
        let (a, b) = (group.allocate(8 * (n + 1)), group.allocate(8 * (n + 1)));
        let kernel = neighbors();
        let mut launch = |from, to| group.launch(&kernel, &[0, from, to, n], n, 32);
        // The host's arrays are small, so they lie on the first member.
        let first = launch(a, b).expect("the footprint is known");
        // Members receive what they may write, too, since they may leave some of it.
        assert_eq!(first, [0, 8 * 501, 8 * 501, 8 * 501]);
        // The last element belongs to nobody's share.
        assert_eq!(launch(b, a), Some(vec![8, 8, 8, 8]));
        assert_eq!(launch(a, b), Some(vec![8, 8, 8, 0]));
        assert_eq!(launch(b, a), Some(vec![8, 8, 8, 0]));
    }

    #[test]
    fn offload_group_simulated_launches_need_footprints() {
        let mut group = Simulation::new(2);
        let a = group.allocate(8000);
        let unknown = Footprint {
            unknown: Some("it follows pointers in memory".into()),
            ..Footprint::default()
        };
        assert_eq!(group.launch(&unknown, &[0, a], 1000, 32), None);
    }
}
