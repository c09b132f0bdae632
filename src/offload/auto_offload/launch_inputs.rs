//! Finds what a run of a region uses, from the arguments of this run and the plan's roots: argument
//! words, memory and trip counts.
//!
//! A root is passed by value, as an object, or as a copy whose words are passed one by one. Copies
//! may contain pointers that lead further. An object is a block that stays on the device
//! ([`super::residency`]) or a piece of the frame ([`super::frame`]).
//!
//! Nothing is moved to the device here; [`super::launch`] does that.

use super::decision::TransferSize;
use super::frame::FramePiece;
use super::heap;
use super::probe::{is_readable, try_read};
use super::residency::{self, Objects};
use super::{Region, RegionPlan};
use hashbrown::HashMap;
use ompvm_kmpc::hooks;
use ompvm_llvm::kernelize::{Access, Expression, LoopKernel, Origin, Passing};

/// An argument word of a kernel.
#[derive(Clone, Copy, Debug)]
enum ArgumentWord {
    Number(u64),
    /// An address in a resident block or in a piece of the frame.
    Address(usize),
    /// An address that is only compared with others: in a block or piece, at its end, or elsewhere.
    Compared(usize),
}

/// A block that the region uses on the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resident {
    pub block: heap::Block,
    pub write: bool,
}

/// A root, or the memory reached from it through pointers at the given offsets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PointerPath {
    root: u32,
    path: Vec<u32>,
}

/// Arguments and memory of a run.
#[derive(Debug, Default)]
pub(super) struct LaunchInputs {
    words: Vec<ArgumentWord>,
    pub residents: Vec<Resident>,
    pub pieces: Vec<FramePiece>,
    /// Memory whose contents were passed as argument words.
    copied: Vec<(usize, usize)>,
    /// Contents of that memory.
    contents: HashMap<PointerPath, Vec<u8>>,
    /// First and last iteration of each loop, if known before the launch.
    pub bounds: Vec<Option<(i64, i64)>>,
}

/// Maximum bytes of stack that are copied for a region.
const MAX_STACK_BYTES: u64 = 64 << 20;

/// Determines arguments and memory of a run from the roots of the plan.
///
/// # Safety
/// The region must be one that the runtime starts, with the arguments that its plan describes.
pub(super) unsafe fn collect(
    region: &Region,
    plan: &RegionPlan,
    start: &hooks::RegionStart,
    objects: &mut Objects,
) -> Result<LaunchInputs, String> {
    let mut inputs = LaunchInputs::default();
    for (n, root) in plan.roots.iter().enumerate() {
        let (address, known) = match &root.origin {
            Origin::Captured(index) => {
                if *index >= start.argc as u32 {
                    return Err("it was started with too few arguments".into());
                }
                // SAFETY: `index` is below `argc`.
                (unsafe { *start.argv.add(*index as usize) } as usize, None)
            }
            Origin::Global(name) => match region.program.variables.get(name) {
                Some(&(address, size)) => (address, Some(size)),
                None => {
                    return Err(format!(
                        "the variable `{name}` does not belong to the program"
                    ));
                }
            },
        };
        let place = PointerPath {
            root: n as u32,
            path: Vec::new(),
        };
        // SAFETY: by this function's contract, the plan describes the argument.
        unsafe { inputs.add_root(place, &root.passing, address, known, objects)? };
    }
    let word = |root: u32, path: &[u32], offset: u32, bytes: u32| {
        let place = PointerPath {
            root,
            path: path.to_vec(),
        };
        let from = inputs.contents.get(&place)?;
        let part = from.get(offset as usize..(offset + bytes) as usize)?;
        let mut word = [0; 8];
        word.get_mut(..part.len())?.copy_from_slice(part);
        Some(u64::from_le_bytes(word))
    };
    let evaluate = |e: &Expression| e.evaluate(&word);
    let bounds = |phase: &LoopKernel| {
        let (first, last) = phase.bounds.as_ref()?;
        Some((evaluate(first)?, evaluate(last)?))
    };
    let bounds = plan.phases.iter().map(bounds).collect();
    inputs.bounds = bounds;
    for &(start, size) in &inputs.copied {
        let changed = |from: usize, len: usize| from < start + size && start < from + len;
        let object = inputs
            .residents
            .iter()
            .any(|r| r.write && changed(r.block.start, r.block.size));
        let piece = inputs
            .pieces
            .iter()
            .any(|p| p.write && changed(p.start, p.size));
        if object || piece {
            return Err("it changes a variable that determines the memory it uses".into());
        }
    }
    Ok(inputs)
}

impl LaunchInputs {
    /// Adds the argument words and memory of a root, or of a pointer reached from it.
    ///
    /// # Safety
    /// The address must be the program's value of that root or pointer.
    unsafe fn add_root(
        &mut self,
        place: PointerPath,
        passing: &Passing,
        address: usize,
        known: Option<usize>,
        objects: &mut Objects,
    ) -> Result<(), String> {
        let (size, pointers) = match passing {
            Passing::Value => {
                self.words.push(ArgumentWord::Number(address as u64));
                let bytes = (address as u64).to_le_bytes().to_vec();
                self.contents.insert(place, bytes);
                return Ok(());
            }
            Passing::Object(access) => return self.add_object(address, access, known, objects),
            Passing::Copy { size, pointers } => (*size as usize, pointers),
        };
        if address == 0 {
            return Err("it reads an invalid pointer".into());
        }
        objects.copy_to_host(address, size, false);
        self.copied.push((address, size));
        let mut bytes = vec![0u8; size.next_multiple_of(8)];
        // The region may dereference pointers from memory conditionally only, so they are checked.
        if place.path.is_empty() || heap::find(address).is_some() {
            // SAFETY: the region itself reads these bytes of its argument.
            unsafe {
                std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size);
            }
        } else if !try_read(address, &mut bytes[..size]) {
            return Err("it reads an invalid pointer".into());
        }
        for word in 0..bytes.len() / 8 {
            let at = 8 * word;
            let mut value = [0; 8];
            value.copy_from_slice(&bytes[at..at + 8]);
            let value = u64::from_le_bytes(value);
            match pointers.iter().find(|(offset, _)| *offset as usize == at) {
                Some((offset, passing)) => {
                    let mut further = place.clone();
                    further.path.push(*offset);
                    // SAFETY: `value` is the program's pointer at that offset.
                    unsafe { self.add_root(further, passing, value as usize, None, objects)? };
                }
                None => self.words.push(ArgumentWord::Number(value)),
            }
        }
        self.contents.insert(place, bytes);
        Ok(())
    }

    /// Adds an address argument and the memory it refers to.
    fn add_object(
        &mut self,
        address: usize,
        access: &Access,
        known: Option<usize>,
        objects: &mut Objects,
    ) -> Result<(), String> {
        if !access.read && !access.write {
            self.words.push(ArgumentWord::Compared(address));
            return Ok(());
        }
        self.words.push(ArgumentWord::Address(address));
        if address == 0 {
            return Ok(());
        }
        let size = access.size.or(known.map(|k| k as u64));
        let block = heap::find(address);
        if let Some(block) = block.filter(heap::Block::owns_pages) {
            let known = objects.get(block.start).is_some();
            let ends = [block.start, block.start + block.size - 1];
            if !known && !ends.into_iter().all(is_readable) {
                return Err("it uses unmapped memory".into());
            }
            match self
                .residents
                .iter_mut()
                .find(|r| r.block.start == block.start)
            {
                Some(resident) => resident.write |= access.write,
                None => self.residents.push(Resident {
                    block,
                    write: access.write,
                }),
            }
            return Ok(());
        }
        let (start, size) = match (block, size) {
            (Some(block), _) => (block.start, block.size),
            (None, Some(size)) if size <= MAX_STACK_BYTES => (address, size as usize),
            (None, Some(size)) => {
                return Err(format!(
                    "it uses {size} bytes of a stack, more than can be copied"
                ));
            }
            (None, None) => {
                return Err("it uses memory of unknown size".into());
            }
        };
        objects.copy_to_host(start, size, access.write);
        self.pieces.push(FramePiece {
            start,
            size,
            write: access.write,
            at: 0,
        });
        Ok(())
    }
}

/// Returns a kernel's argument words with the device's addresses. The first two are the launch
/// environment and the scratch arena.
pub(super) fn argument_words(
    frame: u64,
    inputs: &LaunchInputs,
    objects: &mut Objects,
) -> Result<Vec<u64>, String> {
    let mut words = vec![0, 0];
    for word in &inputs.words {
        words.push(match *word {
            ArgumentWord::Number(number) => number,
            ArgumentWord::Compared(address) => translate(address, frame, inputs, objects)
                .or_else(|| {
                    // The address may be the end of a block.
                    let before = address.checked_sub(1)?;
                    Some(translate(before, frame, inputs, objects)? + 1)
                })
                .unwrap_or(address as u64),
            ArgumentWord::Address(address) => translate(address, frame, inputs, objects)
                .ok_or_else(|| "an argument points to unknown memory".to_owned())?,
        });
    }
    Ok(words)
}

/// Returns the device address of a host address.
fn translate(
    address: usize,
    frame: u64,
    inputs: &LaunchInputs,
    objects: &mut Objects,
) -> Option<u64> {
    if address == 0 {
        return Some(0);
    }
    for resident in &inputs.residents {
        let start = resident.block.start;
        if (start..start + resident.block.size).contains(&address) {
            return Some(objects.get(start)?.device + (address - start) as u64);
        }
    }
    let piece = inputs
        .pieces
        .iter()
        .find(|p| (p.start..p.start + p.size.max(1)).contains(&address))?;
    Some(frame + (piece.at + address - piece.start) as u64)
}

/// Returns the total trip count of a region's loops, if it is known before they run.
///
/// # Safety
/// As for [`collect`].
pub(super) unsafe fn trips(
    region: &Region,
    plan: &RegionPlan,
    start: &hooks::RegionStart,
) -> Option<u64> {
    let word = |root: u32, path: &[u32], offset: u32, bytes: u32| {
        let root = plan.roots.get(root as usize)?;
        let mut address = match &root.origin {
            // SAFETY: by this function's contract, `argv` has an entry for each captured argument.
            Origin::Captured(index) => unsafe { *start.argv.add(*index as usize) as usize },
            Origin::Global(name) => region.program.variables.get(name)?.0,
        };
        if root.passing == Passing::Value {
            return Some(address as u64);
        }
        let mut value = [0; 8];
        for &step in path {
            if address == 0 || !try_read(address + step as usize, &mut value) {
                return None;
            }
            address = u64::from_le_bytes(value) as usize;
        }
        if address == 0 {
            return None;
        }
        value = [0; 8];
        let to = value.get_mut(..bytes as usize)?;
        // SAFETY: the region itself reads these bytes first.
        unsafe {
            let from = (address + offset as usize) as *const u8;
            std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len());
        }
        Some(u64::from_le_bytes(value))
    };
    let bounds = |phase: &LoopKernel| {
        let (first, last) = phase.bounds.as_ref()?;
        Some((first.evaluate(&word)?, last.evaluate(&word)?))
    };
    plan.phases.iter().map(|phase| count(&bounds(phase))).sum()
}

/// Returns the trip count of a loop from its first and last iteration.
pub(super) fn count(bounds: &Option<(i64, i64)>) -> Option<u64> {
    bounds.map(|(first, last)| match last < first {
        true => 0,
        false => last.wrapping_sub(first) as u64 + 1,
    })
}

/// Returns the bytes that a run of the region would move, or `None` if it cannot run on the device.
///
/// # Safety
/// As for [`collect`].
pub(super) unsafe fn transfer_size(
    region: &Region,
    plan: &RegionPlan,
    start: &hooks::RegionStart,
) -> Option<TransferSize> {
    if !residency::is_device_usable() {
        return None;
    }
    let mut objects = residency::lock_objects();
    // SAFETY: by this function's contract.
    let inputs = unsafe { collect(region, plan, start, &mut objects) }.ok()?;
    let mut moves = TransferSize::default();
    let of = |applies: bool, size: usize| if applies { size as u64 } else { 0 };
    for piece in &inputs.pieces {
        moves.to += piece.size as u64;
        moves.from += of(piece.write, piece.size);
    }
    for resident in &inputs.residents {
        let size = resident.block.size;
        let (here, there) = match objects.get(resident.block.start) {
            Some(object) => (object.on_host, object.on_device),
            None => (true, false),
        };
        moves.to += of(!there, size);
        moves.from += of(resident.write, size);
        moves.to_host += of(!here, size);
    }
    Some(moves)
}
