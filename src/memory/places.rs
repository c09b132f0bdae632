//! Synthetic code addresses: for labels, and for calls that a tool traces.
//!
//! A reserved range of inaccessible addresses holds one stretch per function, in which each
//! instruction of its bitcode has an address, in order. Interpreted code has no native addresses,
//! and the addresses of bytecode are not known when a table of labels is written into memory.
//! Labels (`&&label`) and the return addresses of calls (`codeptr_ra` of OMPT) come from the same
//! range, so a tool can compare them and find the function of each.
//!
//! An instruction is one byte long. Phis and jumps have no length, so the address behind a call
//! equals that behind a jump which follows it. But no two blocks share an address.
//!
//! Compiled code uses its own addresses.

use super::image::Mapping;
use crate::ir::{BlockId, Body, Const, FuncId, Module, Op};
use crate::support::error::Error;
use cranelift_entity::SecondaryMap;
use hashbrown::HashMap;

const PAGE: usize = 4096;

/// The address range of one module.
#[derive(Debug)]
pub struct Places {
    area: Mapping,
    /// Start of each function's stretch in the range; `None` without one.
    starts: SecondaryMap<FuncId, Option<u32>>,
    /// The functions with a stretch, in order.
    order: Vec<(u32, FuncId)>,
    /// The labels whose addresses are taken.
    labels: Vec<(FuncId, BlockId)>,
    /// One more than the label at each offset, in functions that have labels: those come first.
    at: Vec<u32>,
    addresses: HashMap<(FuncId, BlockId), usize>,
    all: bool,
}

impl Places {
    /// Assigns addresses to functions whose labels' addresses are taken, and with `all` to every
    /// defined function.
    pub(super) fn new(module: &Module, all: bool) -> Result<Places, Error> {
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
        let mut places = HashMap::with_capacity(labels.len());
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
                    let place = (start + offset) as usize;
                    at[place] = n as u32 + 1;
                    places.insert(label, place);
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
        Ok(Places {
            addresses: places
                .into_iter()
                .map(|(label, place)| (label, area.base + place))
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

    /// Returns the label with this address.
    pub fn label_at(&self, address: usize) -> Option<(FuncId, BlockId)> {
        let n = *self.at.get(address.wrapping_sub(self.area.base))?;
        self.labels.get((n as usize).wrapping_sub(1)).copied()
    }

    /// Returns the function in whose stretch an address lies.
    pub fn function_at(&self, address: usize) -> Option<FuncId> {
        let offset = u32::try_from(address.wrapping_sub(self.area.base)).ok()?;
        if offset as usize >= self.area.len {
            return None;
        }
        let next = self.order.partition_point(|&(start, _)| start <= offset);
        Some(self.order[next.checked_sub(1)?].1)
    }

    /// Returns the address behind each instruction of a function; `None` unless every function has
    /// a stretch.
    pub fn behind(&self, func: FuncId, body: &Body) -> Option<Vec<usize>> {
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
    pub fn stretches(&self) -> impl Iterator<Item = (FuncId, usize, usize)> {
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

#[cfg(all(test, feature = "vm"))]
mod tests {
    use super::*;
    use crate::ir::GlobalRef;
    use crate::llvm::{Input, read};

    #[test]
    fn memory_places_are_in_order_and_apart() {
        let text = "target triple = \"x86_64-unknown-linux-gnu\"\n\
            @table = global [3 x ptr] [ptr blockaddress(@f, %a), ptr blockaddress(@f, %b), \
              ptr blockaddress(@f, %c)]\n\
            declare void @g()\n\
            define void @f() {\n\
            call void @g()\ncall void asm \"nop\", \"\"()\nbr label %a\n\
            a:\nbr label %b\n\
            b:\ncall void @g()\nbr label %c\n\
            c:\nret void\n}\n\
            define void @h() {\ncall void @g()\nret void\n}\n"
            .as_bytes()
            .to_vec();
        let name = "test.ll".into();
        let module = read(&[Input { name, bytes: text }]).unwrap();
        let function = |name: &str| match module.symbol(name) {
            Some(GlobalRef::Func(f)) => (f, &**module.functions[f].body.as_ref().unwrap()),
            _ => panic!("no {name}"),
        };
        let ((f, body), (h, other)) = (function("f"), function("h"));
        let few = Places::new(&module, false).unwrap();
        assert_eq!(few.behind(f, body), None);
        assert_eq!(few.stretches().count(), 1);
        let places = Places::new(&module, true).unwrap();
        let label = |n| places.label(f, BlockId::from_u32(n));
        let behind = places.behind(f, body).unwrap();
        // Behind the first call lies the assembly, one byte long, and then the label.
        assert_eq!(label(1), behind[0] + 1);
        assert!(
            label(1) < label(2) && label(2) < label(3),
            "empty blocks are apart"
        );
        assert_eq!(label(0), 0, "nobody takes it");
        for n in 1..4 {
            let block = BlockId::from_u32(n);
            assert_eq!(places.label_at(label(n)), Some((f, block)));
        }
        assert_eq!(places.label_at(behind[0]), None);
        let after = places.behind(h, other).unwrap()[0];
        assert_eq!(places.function_at(after), Some(h));
        assert_eq!(places.function_at(behind[0]), Some(f));
        assert_eq!(places.function_at(0), None);
    }
}
