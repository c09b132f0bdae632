//! Converts the compiler's arrays to a list of items and calls mappers.
//!
//! A mapper (`declare mapper`) is a function of the program that pushes the components of one
//! object; these may have mappers themselves. All mappers are called here, before any look-up, so
//! no code of the program runs while a mapping table is locked.

use super::map_type;
use std::ffi::c_void;

/// One item of a map clause.
#[derive(Clone, Copy, Debug)]
pub struct MapItem {
    /// Base address that the kernel argument refers to, or the pointer's address.
    pub base: usize,
    /// Address of the first byte.
    pub begin: usize,
    /// Size in bytes.
    pub size: i64,
    /// Map-type flags; see [`map_type`].
    pub map_type: u64,
    /// True for the first component that a mapper pushes.
    pub first_of_mapper: bool,
    /// Index in the compiler's arrays; `None` for components that mappers push.
    pub index: Option<usize>,
}

impl MapItem {
    /// Returns true if all of the bits are set.
    pub fn is(&self, bits: u64) -> bool {
        self.map_type & bits == bits
    }

    /// Returns true for a member of another item.
    pub fn is_member(&self) -> bool {
        self.map_type & map_type::MEMBER_OF != 0
    }

    /// Returns true for items that are not mapped.
    pub fn is_private(&self) -> bool {
        self.map_type & (map_type::LITERAL | map_type::PRIVATE) != 0
    }
}

/// The arrays that describe the items of a construct.
#[derive(Clone, Copy, Debug)]
pub struct MapArrays {
    /// Number of items.
    pub count: usize,
    /// Base addresses.
    pub bases: *mut usize,
    /// Addresses of the first bytes.
    pub begins: *const usize,
    /// Sizes in bytes.
    pub sizes: *const i64,
    /// Map-type flags.
    pub map_types: *const u64,
    /// Mapper functions; the array may be null, as may its elements.
    pub mappers: *const usize,
}

type Mapper = unsafe extern "C-unwind" fn(
    handle: *mut c_void,
    base: usize,
    begin: usize,
    size: i64,
    map_type: u64,
    name: *const c_void,
);

/// The list that a mapper pushes its components to.
#[derive(Default)]
struct MapperComponents(Vec<MapperComponent>);

#[derive(Clone, Copy)]
struct MapperComponent {
    base: usize,
    begin: usize,
    size: i64,
    map_type: u64,
}

/// `__tgt_mapper_num_components`.
pub unsafe extern "C-unwind" fn count(handle: *mut c_void) -> i64 {
    // SAFETY: mappers pass the handle that `collect` gave them, a `MapperComponents`.
    unsafe { &*handle.cast::<MapperComponents>() }.0.len() as i64
}

/// `__tgt_push_mapper_component`.
pub unsafe extern "C-unwind" fn push(
    handle: *mut c_void,
    base: usize,
    begin: usize,
    size: i64,
    map_type: u64,
    _name: *const c_void,
) {
    // SAFETY: mappers pass the handle that `collect` gave them, a `MapperComponents`.
    unsafe { &mut *handle.cast::<MapperComponents>() }
        .0
        .push(MapperComponent {
            base,
            begin,
            size,
            map_type,
        });
}

/// Returns the items of a construct and calls mappers.
///
/// # Safety
/// The arrays must have `count` elements, as compilers make them.
pub unsafe fn collect(arrays: &MapArrays) -> Vec<MapItem> {
    let mut list = Vec::with_capacity(arrays.count);
    for n in 0..arrays.count {
        // SAFETY: by this function's contract; `n` is below `count`. Non-null mappers are functions
        // of this type.
        unsafe {
            let item = MapItem {
                base: *arrays.bases.add(n),
                begin: *arrays.begins.add(n),
                size: *arrays.sizes.add(n),
                map_type: *arrays.map_types.add(n),
                first_of_mapper: false,
                index: Some(n),
            };
            let mapper = if arrays.mappers.is_null() || item.is_private() {
                0
            } else {
                *arrays.mappers.add(n)
            };
            if mapper == 0 {
                list.push(item);
                continue;
            }
            let mut components = MapperComponents::default();
            let call = std::mem::transmute::<usize, Mapper>(mapper);
            call(
                (&raw mut components).cast(),
                item.base,
                item.begin,
                item.size,
                item.map_type,
                std::ptr::null(),
            );
            for (m, c) in components.0.into_iter().enumerate() {
                list.push(MapItem {
                    base: c.base,
                    begin: c.begin,
                    size: c.size,
                    map_type: c.map_type,
                    first_of_mapper: m == 0,
                    index: None,
                });
            }
        }
    }
    list
}
