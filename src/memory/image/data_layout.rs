//! Offsets of an image's variables, as a static linker would choose them.
//!
//! Variables of one named section are adjacent, since guests walk over sections from `__start_NAME`
//! to `__stop_NAME`. Constants are apart from data, because their pages become read-only.
//!
//! Nothing is written here: [`super::Image::place`] fills the memory.

use super::mapping::Mapping;
use super::{PAGE, is_internal, is_zero};
use crate::linker_symbols::{self, ProgramLayout};
use cranelift_entity::SecondaryMap;
use hashbrown::HashMap;
use ompvm_ir::{Global, GlobalId, Linkage, Module};
use ompvm_support::error::Error;

/// The least bytes of a variable that may get pages of its own.
pub const LARGE: usize = 64 << 10;

/// Offsets of all variables before their memory is mapped.
pub(super) struct DataLayout {
    pub data: Vec<(GlobalId, usize)>,
    pub data_len: usize,
    /// Start of zero-initialized data, if a linker-defined symbol needs it.
    pub initialized: Option<usize>,
    pub constants: Vec<(GlobalId, usize)>,
    pub const_len: usize,
    pub tls_offsets: SecondaryMap<GlobalId, usize>,
    pub tls_len: usize,
    pub tls_align: usize,
    /// First and last variable of each named section, and the size of the last one.
    pub sections: HashMap<Box<str>, (GlobalId, GlobalId, usize)>,
}

impl DataLayout {
    /// Lays out a module's variables. With `separate_large`, large ones get pages of their own.
    pub fn new(module: &Module, separate_large: bool) -> DataLayout {
        let mut this = DataLayout {
            data: Vec::new(),
            data_len: 0,
            initialized: linker_symbols::needed_by(module).then_some(0),
            constants: Vec::new(),
            const_len: 0,
            tls_offsets: SecondaryMap::new(),
            tls_len: 0,
            tls_align: 16,
            sections: HashMap::new(),
        };
        // Variables of one named section are adjacent (`__start_NAME`, `__stop_NAME`).
        let mut ids: Vec<GlobalId> = module.globals.keys().collect();
        let bounded = this.initialized.is_some();
        let last = |g: &Global| {
            bounded && g.section.is_none() && g.init.is_some_and(|i| is_zero(module, i))
        };
        ids.sort_by_key(|&id| {
            let g = &module.globals[id];
            (last(g), g.section.clone())
        });
        for id in ids {
            let g = &module.globals[id];
            if !is_defined(module, id) || is_internal(&g.name) {
                continue;
            }
            let layout = module.layout(g.ty);
            let size = layout.size as usize;
            // LLVM gives 16 bytes to a large variable without an alignment, and relies on it.
            let least = if g.align == 0 && size > 16 { 16 } else { 1 };
            let align = (g.align as usize).max(layout.align as usize).max(least);
            let place = |end: &mut usize| {
                let at = end.next_multiple_of(align);
                *end = at + size.max(1);
                at
            };
            if g.thread_local {
                this.tls_offsets[id] = place(&mut this.tls_len) + 1;
                this.tls_align = this.tls_align.max(align);
                continue;
            }
            if g.constant && g.section.is_none() {
                let at = place(&mut this.const_len);
                this.constants.push((id, at));
            } else if size >= LARGE && g.section.is_none() && separate_large {
                this.data_len = this.data_len.next_multiple_of(PAGE);
                let at = place(&mut this.data_len);
                this.data_len = this.data_len.next_multiple_of(PAGE);
                this.data.push((id, at));
            } else {
                let at = place(&mut this.data_len);
                this.data.push((id, at));
            }
            if !last(g) {
                this.initialized = this.initialized.map(|_| this.data_len);
            }
            if let Some(section) = &g.section {
                let entry = this
                    .sections
                    .entry(section.clone())
                    .or_insert((id, id, size));
                (entry.1, entry.2) = (id, size);
            }
        }
        this
    }

    /// Maps memory for constants and for data. If a program names linker-defined symbols, both are
    /// adjacent, and the first also holds the header.
    pub fn map(&self, module: &Module) -> Result<(Mapping, Mapping, Option<ProgramLayout>), Error> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let Some(initialized) = self.initialized else {
            let data = Mapping::new(self.data_len, access)?;
            return Ok((Mapping::new(self.const_len, access)?, data, None));
        };
        let head = ProgramLayout::head(module);
        let constants = self.const_len.next_multiple_of(PAGE);
        // One more byte, so that the end is an address of the program, too.
        let mut first = Mapping::new(head + constants + self.data_len + 1, access)?;
        let second = first.split_off(head + constants);
        let bounds = ProgramLayout {
            base: first.base,
            head,
            constants,
            initialized,
            data: self.data_len,
            arrays: [module.ctors.len(), module.dtors.len()],
        };
        Ok((first, second, Some(bounds)))
    }

    pub fn section_bound(
        &self,
        name: &str,
        globals: &SecondaryMap<GlobalId, usize>,
    ) -> Option<usize> {
        if let Some(section) = name.strip_prefix("__start_") {
            return self.sections.get(section).map(|s| globals[s.0]);
        }
        let section = name.strip_prefix("__stop_")?;
        self.sections.get(section).map(|s| globals[s.1] + s.2)
    }
}

pub(super) fn is_defined(module: &Module, id: GlobalId) -> bool {
    let g = &module.globals[id];
    g.init.is_some() && g.linkage != Linkage::AvailableExternally
}
