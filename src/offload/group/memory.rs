//! The memory of a group: where each block lies, and which copies of it exist.
//!
//! A large block is striped over the members in contiguous parts, in their order, as the shares of
//! a divided loop are, until the sections that kernels use suggest other parts
//! ([`super::placement`]). A small one lies on the first member. A variable of an image exists once
//! per
//! member: the first one's is the original, and writes go to all.
//!
//! Each block has a version, which every write increments. Copies ([`super::replicas`]) remember
//! the version that they were made of.

use super::directory::Directory;
use super::distributed::{self, Views};
use super::placement::{self, Sections};
use super::replicas::Replicas;
use crate::device::{Device, Failure, Fault, HostSection, MemoryKind, Result, Section, Stripes};
use ompvm_support::log;
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Alignment of striped ranges: that of memory pages of devices.
const STRIPE_ALIGN: u64 = 2 << 20;

/// Size in bytes from which a block without common memory is divided when the host writes it.
const DIVIDED: u64 = 16 << 10;

/// Alignment of copies of smaller blocks.
const SPREAD_ALIGN: u64 = 256;

/// Number of launches on the first member after which the host writes to that one alone.
const ALONE: u32 = 4;

/// A part of a range that lies on one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Index of the member.
    pub member: usize,
    /// Address.
    pub address: u64,
    /// Offset in the range.
    pub offset: usize,
    /// Size in bytes.
    pub len: usize,
}

/// Location of a block.
#[derive(Clone, Debug)]
pub(super) enum Location {
    /// In memory of the first member. Without common memory no other one has a copy.
    First,
    /// In parts on all members.
    Striped(Stripes),
    /// A variable, at these addresses on the members.
    Variable(Vec<u64>),
    /// In copies of the members, which have no common memory. The first one is at the block's own
    /// address.
    Distributed {
        /// Addresses of the copies.
        copies: Vec<Option<u64>>,
        /// Bytes in front that preserve the alignment.
        padding: u64,
        /// Alignment.
        align: u64,
        /// Holders of the bytes.
        directory: Directory,
        /// Copies that members of other processes access.
        views: Views,
        /// The member whose copy is the host's memory itself.
        in_place: Option<InPlace>,
    },
}

/// Host memory that a member uses as its copy of a block while the program waits for a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InPlace {
    /// The member.
    pub member: usize,
    /// True if the member may write it.
    pub writable: bool,
}

impl Location {
    /// Returns the address of a member's own copy of the block at `start`.
    pub(super) fn copy_on(&self, member: usize, start: u64) -> Option<u64> {
        match self {
            Location::First | Location::Striped(_) => Some(start),
            Location::Variable(addresses) => addresses.get(member).copied(),
            Location::Distributed { copies, .. } => copies[member],
        }
    }
}

/// A block of memory.
#[derive(Debug)]
pub(super) struct Block {
    /// Size in bytes.
    pub size: u64,
    /// Bytes in front that preserve the alignment, and have no contents.
    pub padding: u64,
    pub location: Location,
    /// Number of writes so far.
    pub version: u64,
    pub replicas: Replicas,
    /// The sections of it that kernels use.
    pub sections: Sections,
    /// Bytes that were copied between members since the report asked.
    pub copied: u64,
}

impl Block {
    /// Lets other members have copies of a block without common memory, which lies on the first one.
    pub(super) fn spread(&mut self, start: u64, members: usize) {
        if !matches!(self.location, Location::First) {
            return;
        }
        let mut copies = vec![None; members];
        copies[0] = Some(start);
        let mut directory = Directory::new(members);
        directory.write(0, self.contents());
        self.location = Location::Distributed {
            copies,
            padding: self.padding,
            align: SPREAD_ALIGN,
            directory,
            views: Views::default(),
            in_place: None,
        };
    }

    /// Returns the offsets of its contents, which may follow padding.
    pub(super) fn contents(&self) -> Range<u64> {
        self.padding..self.size
    }
}

/// The memory of a group.
#[derive(Debug)]
pub(super) struct Memory {
    blocks: Mutex<Blocks>,
    members: usize,
    /// True if all members can access all memory.
    common: bool,
    /// The member that uses host memory in place. What the host writes then goes to the first one
    /// alone, since that member's share is small.
    in_place: Option<usize>,
    /// Held for reading by what uses blocks at their location, and for writing by what moves them.
    moving: RwLock<()>,
    /// True once other code may use blocks at any time, so none can be moved.
    fixed: AtomicBool,
    /// Number of launches on the first member since the latest one on several.
    alone: AtomicU32,
    /// Number of changes to who holds which bytes of blocks without common memory.
    changes: AtomicU64,
    /// True once there are variables of an image.
    has_variables: AtomicBool,
}

/// Result of [`Memory::use_sections`].
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionUse {
    /// Hash of the striped blocks, in the order of the parameters.
    pub blocks: u64,
    /// True if a block moved.
    pub moved: bool,
}

/// Blocks by address.
pub(super) type Blocks = BTreeMap<u64, Block>;

/// Returns the block that contains an address, and its start.
pub(super) fn find(blocks: &mut Blocks, address: u64) -> Option<(u64, &mut Block)> {
    let (&start, block) = blocks.range_mut(..=address).next_back()?;
    (address - start < block.size.max(1)).then_some((start, block))
}

impl Memory {
    /// Creates the memory of a group of that many members. `common` says whether each can access
    /// what lies on others, `in_place` which member can use host memory as its copy.
    pub(super) fn new(members: usize, common: bool, in_place: Option<usize>) -> Memory {
        Memory {
            blocks: Mutex::default(),
            members,
            common,
            in_place,
            moving: RwLock::default(),
            fixed: AtomicBool::new(false),
            alone: AtomicU32::new(0),
            changes: AtomicU64::new(0),
            has_variables: AtomicBool::new(false),
        }
    }

    /// Notes how a launch without common memory runs: what the host writes follows the launches. A
    /// `trial` of the first member alone counts as many.
    pub(super) fn note_launch(&self, divided: bool, trial: bool) {
        let before = self.alone.load(Ordering::Relaxed);
        let alone = match (divided, trial) {
            (true, _) => 0,
            (false, true) => ALONE,
            (false, false) => before.saturating_add(1),
        };
        self.alone.store(alone, Ordering::Relaxed);
        if divided {
            self.note_change();
        }
    }

    /// Notes that other members hold bytes than before, of blocks without common memory.
    pub(super) fn note_change(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Returns the number of such changes.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Returns true if there are variables of an image, which each member has.
    pub(super) fn has_variables(&self) -> bool {
        self.has_variables.load(Ordering::Acquire)
    }

    /// Keeps all blocks where they are while the result lives.
    pub(super) fn stay(&self) -> RwLockReadGuard<'_, ()> {
        self.moving.read()
    }

    /// Returns true if all members can access all memory.
    pub(super) fn is_common(&self) -> bool {
        self.common
    }

    /// Returns the member that uses host memory in place: the processors among GPUs.
    pub(super) fn helper(&self) -> Option<usize> {
        self.in_place
    }

    /// Keeps other threads from using blocks while the result lives.
    pub(super) fn exclude(&self) -> RwLockWriteGuard<'_, ()> {
        self.moving.write()
    }

    /// Keeps all blocks where they are from now on.
    pub(super) fn fix(&self) {
        self.fixed.store(true, Ordering::Release);
    }

    /// Records the sections of striped blocks that a launch uses, and moves parts of a block if
    /// others suit them better. `settle` waits for earlier operations.
    ///
    /// # Errors
    /// Failures of the devices.
    pub(super) fn use_sections(
        &self,
        members: &[Arc<dyn Device>],
        sections: impl Iterator<Item = Section>,
        settle: impl Fn() -> Result<()>,
    ) -> Result<SectionUse> {
        let mut blocks = self.blocks.lock();
        let mut due = Vec::new();
        let mut hasher = DefaultHasher::new();
        for section in sections {
            let Some((start, block)) = find(&mut blocks, section.start) else {
                continue;
            };
            if !matches!(block.location, Location::Striped(_)) {
                continue;
            }
            hasher.write_u64(start);
            if block.sections.record(section.start - start, section.size) && !due.contains(&start) {
                due.push(start);
            }
        }
        let mut used = SectionUse {
            blocks: hasher.finish(),
            moved: false,
        };
        if due.is_empty() || self.fixed.load(Ordering::Acquire) {
            return Ok(used);
        }
        for start in due {
            let Some(block) = blocks.get_mut(&start) else {
                continue;
            };
            let Location::Striped(stripes) = &mut block.location else {
                continue;
            };
            // Another thread may be copying; then the block moves at a later launch, or never.
            let (Some(parts), Some(_moving)) = (
                block.sections.plan(stripes, self.members),
                self.moving.try_write(),
            ) else {
                continue;
            };
            settle()?;
            let devices: Vec<&dyn Device> = members.iter().map(|m| &**m).collect();
            let moved = members[0].move_striped(&devices, stripes, &parts)?;
            tracing::debug!(
                target: log::OFFLOAD,
                address = format_args!("{start:#x}"),
                bytes = block.size,
                ?parts,
                moved,
                "planned another placement of a block"
            );
            if moved {
                block.copied += placement::moved(&stripes.parts, &parts);
                stripes.parts = parts;
                used.moved = true;
            }
        }
        Ok(used)
    }

    /// Locks the table of blocks.
    pub(super) fn blocks(&self) -> parking_lot::MutexGuard<'_, Blocks> {
        self.blocks.lock()
    }

    /// Allocates a block after `padding` bytes, and returns the start of the padding; see
    /// [`Device::alloc_padded`]. `host` is host memory that a member may use as its copy.
    pub(super) fn alloc(
        &self,
        members: &[Arc<dyn Device>],
        host: Option<HostSection>,
        padding: u64,
        size: u64,
        align: u64,
    ) -> Result<u64> {
        if !self.common {
            let start = members[0].alloc_padded(padding, size, align)?;
            if padding + size < DIVIDED && align <= SPREAD_ALIGN {
                self.insert(start, padding, size, Location::First);
                return Ok(start);
            }
            let mut copies = vec![None; self.members];
            copies[0] = Some(start);
            let in_place = self.in_place.zip(host).map(|(member, host)| {
                copies[member] = Some(host.start - padding);
                InPlace {
                    member,
                    writable: host.filled,
                }
            });
            let location = Location::Distributed {
                copies,
                padding,
                align,
                directory: Directory::new(self.members),
                views: Views::default(),
                in_place,
            };
            self.insert(start, padding, size, location);
            self.note_change();
            return Ok(start);
        }
        let devices: Vec<&dyn Device> = members.iter().map(|m| &**m).collect();
        let stripes = match align <= STRIPE_ALIGN {
            true => match members[0].alloc_striped(&devices, padding + size) {
                // The first member may page what all together have no memory for.
                Err(Failure::OutOfMemory { .. }) => None,
                answer => answer?,
            },
            false => None,
        };
        let (start, location) = match stripes {
            Some(stripes) => (stripes.start, Location::Striped(stripes)),
            None => (
                members[0].alloc_padded(padding, size, align)?,
                Location::First,
            ),
        };
        self.insert(start, padding, size, location);
        Ok(start)
    }

    fn insert(&self, start: u64, padding: u64, size: u64, location: Location) {
        let block = Block {
            size: padding + size,
            padding,
            location,
            version: 0,
            replicas: Replicas::new(self.members),
            sections: Sections::default(),
            copied: 0,
        };
        self.blocks.lock().insert(start, block);
    }

    /// Records a variable of an image.
    pub(super) fn add_variable(&self, addresses: Vec<u64>, size: u64) {
        let start = addresses[0];
        self.has_variables.store(true, Ordering::Release);
        self.insert(start, 0, size, Location::Variable(addresses));
    }

    pub(super) fn free(&self, members: &[Arc<dyn Device>], address: u64) -> Result<()> {
        let Some(block) = self.blocks.lock().remove(&address) else {
            return Err(Failure::Fault(Box::new(Fault {
                what: format!("the freed address {address:#x} is not allocated"),
                place: None,
                thread: None,
                help: None,
            })));
        };
        block.replicas.free(members)?;
        match block.location {
            Location::First => members[0].free(address, MemoryKind::Device),
            Location::Striped(stripes) => members[0].free_striped(&stripes),
            Location::Variable(_) => Ok(()),
            Location::Distributed {
                mut copies,
                mut views,
                in_place,
                ..
            } => {
                self.note_change();
                views.close(members);
                if let Some(host) = in_place {
                    copies[host.member] = None;
                }
                let copies = members.iter().zip(copies);
                let mut existing = copies.filter_map(|(member, at)| Some((member, at?)));
                existing.try_for_each(|(member, at)| member.free(at, MemoryKind::Device))
            }
        }
    }

    /// Returns true if an address belongs to a block.
    pub(super) fn owns(&self, address: u64) -> bool {
        find(&mut self.blocks.lock(), address).is_some()
    }

    /// Returns the pieces of a range that is about to be read.
    pub(super) fn read(&self, address: u64, len: u64) -> Vec<Piece> {
        let mut blocks = self.blocks.lock();
        let Some((start, block)) = find(&mut blocks, address) else {
            return vec![whole(address, len)];
        };
        pieces(&block.location, start, address, len)
    }

    /// Returns the pieces of a range that is about to be written, on each member that has a copy
    /// which must not differ. Large ranges without common memory are divided among the members.
    ///
    /// # Errors
    /// Failures of the devices.
    pub(super) fn written(
        &self,
        members: &[Arc<dyn Device>],
        address: u64,
        len: u64,
    ) -> Result<Vec<Piece>> {
        let mut blocks = self.blocks.lock();
        let Some((start, block)) = find(&mut blocks, address) else {
            return Ok(vec![whole(address, len)]);
        };
        block.version += 1;
        if let Location::Distributed { .. } = block.location {
            self.note_change();
            let (from, to) = (address - start, address - start + len);
            let alone = self.alone.load(Ordering::Relaxed) >= ALONE;
            let members_written = if self.in_place.is_some() || alone {
                1
            } else {
                self.members
            };
            let parts = parts(block.size, members_written);
            let mut list = Vec::new();
            for (member, part) in parts.enumerate() {
                let bytes = part.start.max(from)..part.end.min(to);
                if bytes.is_empty() {
                    continue;
                }
                distributed::allocate(members, &mut blocks, start, member)?;
                let Some(Block {
                    location:
                        Location::Distributed {
                            copies, directory, ..
                        },
                    ..
                }) = blocks.get_mut(&start)
                else {
                    continue;
                };
                directory.write(member, bytes.clone());
                list.push(Piece {
                    member,
                    address: copies[member].unwrap_or(start) + bytes.start,
                    offset: (bytes.start - from) as usize,
                    len: (bytes.end - bytes.start) as usize,
                });
            }
            return Ok(list);
        }
        let Location::Variable(addresses) = &block.location else {
            return Ok(pieces(&block.location, start, address, len));
        };
        let copies = addresses.iter().enumerate();
        let pieces = copies.map(|(member, &at)| Piece {
            member,
            address: at + (address - start),
            offset: 0,
            len: len as usize,
        });
        Ok(pieces.collect())
    }
}

/// Returns the parts of a block without common memory that members get when the host writes it.
pub(super) fn parts(size: u64, members: usize) -> impl Iterator<Item = Range<u64>> {
    let parts = if size >= DIVIDED { members } else { 1 } as u64;
    let border = move |n: u64| (u128::from(size) * u128::from(n) / u128::from(parts)) as u64;
    (0..parts).map(move |n| border(n)..border(n + 1))
}

/// Returns a range that lies on the first member.
fn whole(address: u64, len: u64) -> Piece {
    Piece {
        member: 0,
        address,
        offset: 0,
        len: len as usize,
    }
}

/// Returns the pieces of a range in the block at `start`.
pub(super) fn pieces(location: &Location, start: u64, address: u64, len: u64) -> Vec<Piece> {
    if let Location::Distributed {
        copies, directory, ..
    } = location
    {
        let from = address - start;
        let held = directory.pieces(from..from + len).into_iter();
        let pieces = held.map(|(member, bytes)| Piece {
            member,
            address: copies[member].unwrap_or(start) + bytes.start,
            offset: (bytes.start - from) as usize,
            len: (bytes.end - bytes.start) as usize,
        });
        return pieces.collect();
    }
    let Location::Striped(stripes) = location else {
        return vec![whole(address, len)];
    };
    let (from, to) = (address - start, address - start + len);
    let mut begin = 0;
    let mut list = Vec::new();
    for part in &stripes.parts {
        let (first, last) = (from.max(begin), to.min(part.end));
        if first < last {
            list.push(Piece {
                member: part.member,
                address: start + first,
                offset: (first - from) as usize,
                len: (last - first) as usize,
            });
        }
        begin = part.end;
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::StripedPart;

    #[test]
    fn offload_group_ranges_are_cut_at_the_ends_of_parts() {
        let part = |(member, end)| StripedPart { end, member };
        let stripes = Location::Striped(Stripes {
            start: 1000,
            parts: [(0, 100), (1, 200), (2, 300)].map(part).to_vec(),
            unit: 100,
            worthwhile: 300,
        });
        let cut = |address, len| -> Vec<(usize, u64, usize, usize)> {
            pieces(&stripes, 1000, address, len)
                .into_iter()
                .map(|p| (p.member, p.address, p.offset, p.len))
                .collect()
        };
        assert_eq!(cut(1000, 100), [(0, 1000, 0, 100)]);
        assert_eq!(cut(1050, 100), [(0, 1050, 0, 50), (1, 1100, 50, 50)]);
        assert_eq!(
            cut(1099, 202),
            [(0, 1099, 0, 1), (1, 1100, 1, 100), (2, 1200, 101, 100)]
        );
        assert_eq!(cut(1250, 0), []);
    }
}
