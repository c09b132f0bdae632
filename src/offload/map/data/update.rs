//! `target update`: copies between the host and what is mapped already. OpenMP 5.2, section 13.9.
//!
//! A section with gaps is copied by one copy per contiguous piece. An update maps nothing.

use super::{DataConstruct, map_type, not_mapped};
use crate::device::{Failure, Result};
use crate::map::items::MapItem;
use crate::map::table::Lookup;
use crate::program;

/// A dimension of a non-contiguous section.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Dimension {
    offset: u64,
    count: u64,
    stride: u64,
}

impl DataConstruct<'_> {
    /// Updates the items of a `target update`.
    ///
    /// # Safety
    /// As for [`DataConstruct::leave`].
    ///
    /// # Errors
    /// As for [`DataConstruct::enter`].
    pub unsafe fn update(&mut self, items: &[MapItem]) -> Result<()> {
        for item in items {
            if item.is_private() || item.is(map_type::ATTACH) {
                continue;
            }
            // SAFETY: by this function's contract; a non-contiguous item points to `size`
            // dimensions.
            unsafe {
                if item.is(map_type::NON_CONTIGUOUS) {
                    // clang 22 passes the size in bytes instead if it is known at run time only.
                    const MOST: i64 = 32;
                    if !(1..=MOST).contains(&item.size) {
                        return Err(Failure::Unsupported {
                            reason: "an update of a section with gaps whose length the compiler \
                                     does not know: it passes no number of dimensions"
                                .into(),
                            place: None,
                        });
                    }
                    let dims = item.begin as *const Dimension;
                    let dims =
                        std::slice::from_raw_parts(dims, usize::try_from(item.size).unwrap_or(0));
                    self.update_dims(item, dims, item.base)?;
                } else {
                    let size = usize::try_from(item.size).unwrap_or(0);
                    self.update_piece(item, item.begin, size)?;
                }
            }
        }
        Ok(())
    }

    /// Updates one contiguous range.
    ///
    /// # Safety
    /// As for [`DataConstruct::update`].
    unsafe fn update_piece(&mut self, item: &MapItem, begin: usize, size: usize) -> Result<()> {
        let Lookup::Contained(start) = self.table.find(begin, size) else {
            if item.is(map_type::PRESENT) && !program::is_unified() {
                return not_mapped(begin, size);
            }
            return Ok(());
        };
        if size == 0 {
            return Ok(());
        }
        // SAFETY: by `update`'s contract, the range is readable and writable.
        unsafe {
            if item.is(map_type::FROM) {
                self.download(start, begin, size)?;
            }
            if item.is(map_type::TO)
                && let Some(device) = self.table.translate(begin, size)
                && let Some(memory) = self.table.get(start).map(|range| range.memory)
            {
                self.upload(memory, device, begin, size)?;
                self.reattach(start, begin, size)?;
                if begin == start && self.table.get(start).is_some_and(|r| r.size == size) {
                    self.table.copied(start);
                }
            }
        }
        Ok(())
    }

    /// Updates a non-contiguous section with one copy per contiguous piece.
    ///
    /// clang passes a dimension's first index, and as its stride the distance in bytes between
    /// elements of the section. If the section takes, say, every third element, the first index
    /// still counts elements of the array. Their size is known for the innermost dimension only,
    /// from the one after it, which is the element itself.
    ///
    /// # Safety
    /// As for [`DataConstruct::update`].
    unsafe fn update_dims(
        &mut self,
        item: &MapItem,
        dims: &[Dimension],
        base: usize,
    ) -> Result<()> {
        let mut begin = base;
        for (n, dim) in dims.iter().enumerate() {
            let unit = match dims.get(n + 1) {
                Some(element) if n + 2 == dims.len() => element.stride,
                _ => dim.stride,
            };
            begin += (dim.offset * unit) as usize;
        }
        let mut piece = 1;
        let mut outer = dims;
        while let Some((dim, rest)) = outer.split_last()
            && (piece == dim.stride || outer.len() == dims.len())
        {
            piece = dim.count * dim.stride;
            outer = rest;
        }
        // SAFETY: by `update`'s contract, the section is readable and writable.
        unsafe { self.update_pieces(item, outer, begin, piece as usize) }
    }

    /// Updates a piece of `piece` bytes for each index of all dimensions.
    ///
    /// # Safety
    /// As for [`DataConstruct::update`].
    unsafe fn update_pieces(
        &mut self,
        item: &MapItem,
        dims: &[Dimension],
        begin: usize,
        piece: usize,
    ) -> Result<()> {
        // SAFETY: by `update`'s contract, the section is readable and writable.
        unsafe {
            let Some((dim, inner)) = dims.split_first() else {
                return self.update_piece(item, begin, piece);
            };
            for n in 0..dim.count {
                let at = begin + (n * dim.stride) as usize;
                self.update_pieces(item, inner, at, piece)?;
            }
        }
        Ok(())
    }
}
