//! Copies between the host and memory that lies on several members.
//!
//! Each member has a link of its own to the host, and threads that fill its buffers, so large pieces
//! of different members are copied at the same time.

use super::Group;
use super::memory::Piece;
use crate::device::{Queue, Result};
use ompvm_memory::internal_pool;
use parking_lot::{Mutex, RwLockReadGuard, RwLockWriteGuard};
use std::collections::BTreeSet;
use std::time::Instant;

/// Total size in bytes from which members copy at the same time: starting threads takes a while.
const TOGETHER_BYTES: usize = 8 << 20;

impl Group {
    /// Keeps blocks where they are while memory is copied. Without common memory, copies of
    /// different threads follow each other.
    pub(super) fn copying(&self) -> Copying<'_> {
        match self.memory.is_common() {
            true => Copying {
                _shared: Some(self.memory.stay()),
                _alone: None,
            },
            false => Copying {
                _shared: None,
                _alone: Some(self.memory.exclude()),
            },
        }
    }

    /// Copies to the host; no other thread copies.
    ///
    /// # Safety
    /// As for [`crate::device::Device::download`].
    pub(super) unsafe fn read(&self, to: *mut u8, from: u64, len: usize) -> Result<()> {
        let target = to as usize;
        let download = |piece: &Piece| {
            let member = &self.members[piece.member];
            let to = (target + piece.offset) as *mut u8;
            // SAFETY: the piece lies within the range, which is writable by this function's
            // contract.
            unsafe { member.download(Queue::SYNC, to, piece.address, piece.len) }
        };
        if let Some(in_place) = self.memory.give_in_place(from, target as u64, len as u64) {
            return in_place.iter().try_for_each(|piece| {
                let since = Instant::now();
                download(piece)?;
                self.launcher.add_copy(piece.member, since.elapsed());
                Ok(())
            });
        }
        let pieces = self.memory.read(from, len as u64);
        self.copy_pieces(&pieces, download)
    }

    /// Copies pieces: those of one member one after the other, and those of different members at the
    /// same time if there are many bytes and each member has a link of its own.
    fn copy_pieces(
        &self,
        pieces: &[Piece],
        copy: impl Fn(&Piece) -> Result<()> + Sync,
    ) -> Result<()> {
        if let [piece] = pieces {
            return copy(piece);
        }
        let members: BTreeSet<usize> = pieces.iter().map(|piece| piece.member).collect();
        let total: usize = pieces.iter().map(|piece| piece.len).sum();
        if members.len() < 2 || total < TOGETHER_BYTES || !self.memory.is_common() {
            return pieces.iter().try_for_each(copy);
        }
        let waiting = Mutex::new(members);
        let failed = Mutex::new(None);
        let next = || waiting.lock().pop_first();
        internal_pool::run(self.members.len(), &|| {
            while let Some(member) = next() {
                let mut own = pieces.iter().filter(|piece| piece.member == member);
                if let Err(failure) = own.try_for_each(&copy) {
                    failed.lock().get_or_insert(failure);
                }
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// Copies from the host; no other thread copies.
    ///
    /// # Safety
    /// As for [`crate::device::Device::upload`].
    pub(super) unsafe fn write(&self, to: u64, from: *const u8, len: usize) -> Result<()> {
        if self.memory.take_in_place(to, from as u64, len as u64) {
            return Ok(());
        }
        let source = from as usize;
        let pieces = self.memory.written(&self.members, to, len as u64)?;
        self.copy_pieces(&pieces, |piece| {
            let member = &self.members[piece.member];
            let from = (source + piece.offset) as *const u8;
            // SAFETY: the piece lies within the range, which is readable by this function's
            // contract.
            unsafe { member.upload(Queue::SYNC, piece.address, from, piece.len)? };
            self.launcher.begin(piece.member);
            Ok(())
        })
    }
}

/// A claim on the memory of a group while it is copied.
pub(super) struct Copying<'a> {
    _shared: Option<RwLockReadGuard<'a, ()>>,
    _alone: Option<RwLockWriteGuard<'a, ()>>,
}
