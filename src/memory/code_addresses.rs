//! Synthetic code addresses: for labels, and for calls that a tool traces.
//!
//! A reserved area of inaccessible addresses holds one range per function, in which each
//! instruction of its bitcode has an address, in order. Interpreted code has no native addresses,
//! and the addresses of bytecode are not known when a table of labels is written into memory.
//! Labels (`&&label`) and the return addresses of calls (`codeptr_ra` of OMPT) come from the same
//! area, so a tool can compare them and find the function of each.
//!
//! An instruction is one byte long. Phis and jumps have no length, so the address behind a call
//! equals that behind a jump which follows it. But no two blocks share an address.
//!
//! Compiled code uses the same addresses of labels, except where a tool traces calls: see
//! `labels.rs` of the compiled tier. Its return addresses are its own.

use super::image::Mapping;
use cranelift_entity::SecondaryMap;
use hashbrown::HashMap;
use ompvm_ir::{BlockId, Body, Const, FuncId, Module, Op};
use ompvm_support::error::Error;

const PAGE: usize = 4096;

/// The address range of one module.
#[derive(Debug)]
pub struct CodeAddresses {
    area: Mapping,
    /// Start of each function's range in the area; `None` without one.
    starts: SecondaryMap<FuncId, Option<u32>>,
    /// The functions with a range, in order.
    order: Vec<(u32, FuncId)>,
    /// The labels whose addresses are taken.
    labels: Vec<(FuncId, BlockId)>,
    /// One more than the label at each offset, in functions that have labels: those come first.
    at: Vec<u32>,
    addresses: HashMap<(FuncId, BlockId), usize>,
    all: bool,
}

impl CodeAddresses {
    /// Assigns addresses to functions whose labels' addresses are taken, and with `all` to every
    /// defined function.
    pub fn new(module: &Module, all: bool) -> Result<CodeAddresses, Error> {
        let mut starts: SecondaryMap<FuncId, Option<u32>> = SecondaryMap::new();
        let mut order: Vec<(u32, FuncId)> = Vec::new();
        let (mut labels, mut at) = (Vec::new(), Vec::new());
        for constant in module.consts.values() {
            let Const::BlockAddress(f, block) = constant else {
                continue;
            };
            let Some(body) = &module.functions[*f].body else {
                continue;
            };
            labels.push((*f, *block));
            if starts[*f].is_none() {
                starts[*f] = Some(at.len() as u32);
                order.push((at.len() as u32, *f));
                at.resize(at.len() + length(body), 0);
            }
        }
        labels.sort_unstable();
        labels.dedup();
        let mut label_offsets = HashMap::with_capacity(labels.len());
        for &(start, f) in &order {
            let Some(body) = &module.functions[f].body else {
                continue;
            };
            let offsets = block_offsets(body);
            let first = labels.partition_point(|l| l.0 < f);
            for (n, &label) in labels.iter().enumerate().skip(first) {
                if label.0 != f {
                    break;
                }
                if let Some(offset) = offsets.get(label.1.as_u32() as usize) {
                    let offset = (start + offset) as usize;
                    at[offset] = n as u32 + 1;
                    label_offsets.insert(label, offset);
                }
            }
        }
        let mut end = at.len();
        if all {
            for (id, f) in &module.functions {
                if let Some(body) = &f.body
                    && starts[id].is_none()
                    && let Ok(start) = u32::try_from(end)
                {
                    starts[id] = Some(start);
                    order.push((start, id));
                    end += length(body);
                }
            }
        }
        let area = Mapping::new(end.next_multiple_of(PAGE), libc::PROT_NONE)?;
        Ok(CodeAddresses {
            addresses: label_offsets
                .into_iter()
                .map(|(label, offset)| (label, area.base + offset))
                .collect(),
            area,
            starts,
            order,
            labels,
            at,
            all,
        })
    }

    /// Returns the address of a label; 0 if the module never takes it.
    pub fn label(&self, func: FuncId, block: BlockId) -> usize {
        self.addresses.get(&(func, block)).map_or(0, |&a| a)
    }

    /// Returns the labels whose addresses are taken, each with the offset of its address from the
    /// start of its function's range.
    pub fn label_offsets(&self) -> impl Iterator<Item = (FuncId, BlockId, u32)> {
        self.labels.iter().filter_map(|&(f, block)| {
            let address = self.addresses.get(&(f, block))?;
            Some((f, block, (address - self.start(f)?) as u32))
        })
    }

    /// Returns the start of a function's range; `None` without one.
    pub fn start(&self, func: FuncId) -> Option<usize> {
        Some(self.area.base + self.starts[func]? as usize)
    }

    /// Returns true if every defined function has a range, so that tools can compare labels with
    /// the return addresses of calls.
    pub fn has_returns(&self) -> bool {
        self.all
    }

    /// Returns the label with this address.
    pub fn label_at(&self, address: usize) -> Option<(FuncId, BlockId)> {
        let n = *self.at.get(address.wrapping_sub(self.area.base))?;
        self.labels.get((n as usize).wrapping_sub(1)).copied()
    }

    /// Returns the function in whose range an address lies.
    pub fn function_at(&self, address: usize) -> Option<FuncId> {
        let offset = u32::try_from(address.wrapping_sub(self.area.base)).ok()?;
        if offset as usize >= self.area.len {
            return None;
        }
        let next = self.order.partition_point(|&(start, _)| start <= offset);
        Some(self.order[next.checked_sub(1)?].1)
    }

    /// Returns the address behind each instruction of a function; `None` unless every function has
    /// a range.
    pub fn return_addresses(&self, func: FuncId, body: &Body) -> Option<Vec<usize>> {
        let start = self.starts[func].filter(|_| self.all)?;
        let start = self.area.base + start as usize;
        let mut ends = vec![0; body.insts.len()];
        walk(
            body,
            |_, _| {},
            |inst, end| ends[inst] = start + end as usize,
        );
        Some(ends)
    }

    /// Returns each function with its first address and its length.
    pub fn ranges(&self) -> impl Iterator<Item = (FuncId, usize, usize)> {
        let ends = self.order.iter().skip(1).map(|&(start, _)| start as usize);
        let list = self.order.iter().zip(ends.chain([self.area.len]));
        list.map(|(&(start, f), end)| (f, self.area.base + start as usize, end - start as usize))
    }
}

/// Returns an upper bound of a function's length.
fn length(body: &Body) -> usize {
    body.insts.len() + body.blocks.len() + 1
}

/// Calls `block` with the offset of each block, and `inst` with the offset behind each instruction.
fn walk(body: &Body, mut block: impl FnMut(usize, u32), mut inst: impl FnMut(usize, u32)) {
    let (mut at, mut taken) = (0, None);
    for (b, range) in body.blocks.iter().enumerate() {
        if taken == Some(at) {
            at += 1;
        }
        taken = Some(at);
        block(b, at);
        for i in range.start..range.end {
            at += u32::from(!matches!(
                body.insts[i as usize].op,
                Op::Phi { .. } | Op::Br { .. }
            ));
            inst(i as usize, at);
        }
    }
}

fn block_offsets(body: &Body) -> Vec<u32> {
    let mut offsets = vec![0; body.blocks.len()];
    walk(body, |b, at| offsets[b] = at, |_, _| {});
    offsets
}
