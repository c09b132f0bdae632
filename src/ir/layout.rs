//! Sizes, alignments and offsets of types on x86-64 System V (and every 64-bit Linux target whose
//! data layout agrees), as LLVM's data layout computes them.
//!
//! Parses the data layouts of x86-64 only; the reader refuses modules for other targets.

use super::module::Module;
use super::types::{FloatKind, Type, TypeId, TypeTable};

/// Size and alignment in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Bytes that a value occupies when stored (`store size`).
    pub store: u64,
    /// Distance between two elements of an array (`alloc size`).
    pub size: u64,
    /// ABI alignment.
    pub align: u64,
}

fn round_up(n: u64, align: u64) -> u64 {
    n.div_ceil(align) * align
}

impl TypeTable {
    /// Returns the layout of a type; zero-sized for types that have none.
    pub fn layout(&self, ty: TypeId) -> Layout {
        let simple = |store: u64, align: u64| Layout {
            store,
            size: round_up(store, align),
            align,
        };
        match &self[ty] {
            Type::Int(bits) => {
                let store = u64::from(*bits).div_ceil(8);
                simple(store, store.next_power_of_two().min(16))
            }
            Type::Float(kind) => match kind {
                FloatKind::Half | FloatKind::BFloat => simple(2, 2),
                FloatKind::Float => simple(4, 4),
                FloatKind::Double => simple(8, 8),
                FloatKind::X86Fp80 => simple(10, 16),
                FloatKind::Fp128 => simple(16, 16),
            },
            Type::Ptr(_) => simple(8, 8),
            Type::Vector { elem, len, .. } => {
                let bits = self.lane_bits(*elem) * u64::from(*len);
                let store = bits.div_ceil(8);
                simple(store, store.next_power_of_two().max(1))
            }
            Type::Array { elem, len } => {
                let e = self.layout(*elem);
                Layout {
                    store: e.size * len,
                    size: e.size * len,
                    align: e.align,
                }
            }
            Type::Struct { fields, packed } => {
                let mut end = 0;
                let mut align = 1;
                for &field in fields {
                    let f = self.layout(field);
                    if !packed {
                        end = round_up(end, f.align);
                        align = align.max(f.align);
                    }
                    end += f.size;
                }
                let size = round_up(end, align);
                Layout {
                    store: size,
                    size,
                    align,
                }
            }
            _ => Layout {
                store: 0,
                size: 0,
                align: 1,
            },
        }
    }

    /// Returns the bits of one vector lane (64 for a pointer).
    pub fn lane_bits(&self, elem: TypeId) -> u64 {
        match &self[elem] {
            Type::Int(bits) => u64::from(*bits),
            Type::Float(FloatKind::X86Fp80) => 80,
            _ => self.layout(elem).store * 8,
        }
    }

    /// Returns the byte offset of a field of a struct.
    ///
    /// # Panics
    /// If `ty` is not a struct with that field.
    pub fn field_offset(&self, ty: TypeId, field: usize) -> u64 {
        let Type::Struct { fields, packed } = &self[ty] else {
            unreachable!("field_offset of a struct");
        };
        let mut end = 0;
        for (i, &f) in fields.iter().enumerate() {
            let l = self.layout(f);
            if !packed {
                end = round_up(end, l.align);
            }
            if i == field {
                return end;
            }
            end += l.size;
        }
        unreachable!("struct has no field {field}")
    }
}

impl Module {
    /// Returns the layout of a type of this module.
    pub fn layout(&self, ty: TypeId) -> Layout {
        self.types.layout(ty)
    }
}
