//! From the arrays that compilers pass to one list, mappers called.
//!
//! A mapper (`declare mapper`) is a function of the program that pushes the items one object is made
//! of; it may push items that have mappers themselves. All of them are called here, before anything
//! is looked up, so none of the program's code runs while a table is locked.

use super::kind;
use std::ffi::c_void;

/// One item of a map clause.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// The base: what the region's argument is about, or the pointer's address.
    pub base: usize,
    /// The first byte.
    pub begin: usize,
    /// Bytes.
    pub size: i64,
    /// See [`kind`].
    pub kind: u64,
    /// The first item of what a mapper pushed.
    pub first_of_mapper: bool,
    /// Its place in the compiler's arrays; none for what mappers push.
    pub index: Option<usize>,
}

impl Item {
    /// Whether all of the bits are set.
    pub fn is(&self, bits: u64) -> bool {
        self.kind & bits == bits
    }

    /// Whether it is a part of another item.
    pub fn is_member(&self) -> bool {
        self.kind & kind::MEMBER_OF != 0
    }

    /// Whether it is not mapped at all.
    pub fn is_private(&self) -> bool {
        self.kind & (kind::LITERAL | kind::PRIVATE) != 0
    }
}

/// The arrays.
#[derive(Clone, Copy, Debug)]
pub struct Arrays {
    /// How many items.
    pub count: usize,
    /// Bases.
    pub bases: *mut usize,
    /// First bytes.
    pub begins: *const usize,
    /// Sizes.
    pub sizes: *const i64,
    /// Kinds.
    pub kinds: *const u64,
    /// Mappers; may be null, and so may each.
    pub mappers: *const usize,
}

type Mapper = unsafe extern "C-unwind" fn(
    handle: *mut c_void,
    base: usize,
    begin: usize,
    size: i64,
    kind: u64,
    name: *const c_void,
);

/// What a mapper pushes into.
#[derive(Default)]
struct Components(Vec<Component>);

#[derive(Clone, Copy)]
struct Component {
    base: usize,
    begin: usize,
    size: i64,
    kind: u64,
}

/// `__tgt_mapper_num_components`.
pub unsafe extern "C-unwind" fn count(handle: *mut c_void) -> i64 {
    // SAFETY: the handle that the mapper was given.
    unsafe { &*handle.cast::<Components>() }.0.len() as i64
}

/// `__tgt_push_mapper_component`.
pub unsafe extern "C-unwind" fn push(
    handle: *mut c_void,
    base: usize,
    begin: usize,
    size: i64,
    kind: u64,
    _name: *const c_void,
) {
    // SAFETY: as above.
    unsafe { &mut *handle.cast::<Components>() }
        .0
        .push(Component {
            base,
            begin,
            size,
            kind,
        });
}

/// The list of a construct.
///
/// # Safety
/// The arrays are as long as said, as compilers make them.
pub unsafe fn items(arrays: &Arrays) -> Vec<Item> {
    let mut list = Vec::with_capacity(arrays.count);
    for n in 0..arrays.count {
        // SAFETY: the caller's contract.
        unsafe {
            let item = Item {
                base: *arrays.bases.add(n),
                begin: *arrays.begins.add(n),
                size: *arrays.sizes.add(n),
                kind: *arrays.kinds.add(n),
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
            let mut components = Components::default();
            let call = std::mem::transmute::<usize, Mapper>(mapper);
            call(
                (&raw mut components).cast(),
                item.base,
                item.begin,
                item.size,
                item.kind,
                std::ptr::null(),
            );
            for (m, c) in components.0.into_iter().enumerate() {
                list.push(Item {
                    base: c.base,
                    begin: c.begin,
                    size: c.size,
                    kind: c.kind,
                    first_of_mapper: m == 0,
                    index: None,
                });
            }
        }
    }
    list
}
