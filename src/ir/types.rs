//! Types, interned: two equal types have the same [`TypeId`].
//!
//! A named struct is represented by its structure only (names carry no meaning after linking); an
//! opaque struct is [`Type::Opaque`]. Pointers are opaque, as in every LLVM since 15.

use cranelift_entity::{PrimaryMap, entity_impl};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// Reference to an interned [`Type`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TypeId(u32);
entity_impl!(TypeId, "ty");

/// The floating-point formats of LLVM IR on x86-64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum FloatKind {
    /// IEEE 754 binary16.
    Half,
    /// bfloat16.
    BFloat,
    /// IEEE 754 binary32.
    Float,
    /// IEEE 754 binary64.
    Double,
    /// The x87 80-bit extended format, 16 bytes in memory.
    X86Fp80,
    /// IEEE 754 binary128.
    Fp128,
}

/// One type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Type {
    /// No value.
    Void,
    /// An integer with this number of bits (1 to 2^23).
    Int(u32),
    /// A floating-point number.
    Float(FloatKind),
    /// A pointer in this address space.
    Ptr(u32),
    /// A vector of `len` lanes. Scalable ones are read but never run on x86-64.
    Vector {
        /// Lane type: integer, float or pointer.
        elem: TypeId,
        /// Number of lanes (the minimum if scalable).
        len: u32,
        /// True if the number of lanes is a run-time multiple of `len`.
        scalable: bool,
    },
    /// An array.
    Array {
        /// Element type.
        elem: TypeId,
        /// Number of elements.
        len: u64,
    },
    /// A struct.
    Struct {
        /// Field types in order.
        fields: Box<[TypeId]>,
        /// True if there is no padding between fields.
        packed: bool,
    },
    /// A struct without a body.
    Opaque,
    /// A function type.
    Func {
        /// Return type.
        ret: TypeId,
        /// Fixed parameters.
        params: Box<[TypeId]>,
        /// True if more arguments may follow the fixed ones.
        variadic: bool,
    },
    /// A label (a block used as a value).
    Label,
    /// Metadata passed to an intrinsic.
    Metadata,
    /// A token (of `llvm.call.preallocated.setup` or the coroutine intrinsics).
    Token,
    /// The AMX tile type.
    Amx,
    /// A target extension type, by name.
    Target(Box<str>),
}

/// The table of interned types.
#[derive(Default, Debug)]
pub struct TypeTable {
    types: PrimaryMap<TypeId, Type>,
    index: HashMap<Type, TypeId>,
}

impl TypeTable {
    /// Returns the id of `ty`, which is added if it is new.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.index.get(&ty) {
            return id;
        }
        let id = self.types.push(ty.clone());
        self.index.insert(ty, id);
        id
    }

    /// Returns the types, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Type> {
        self.types.values()
    }

    /// Makes a table of types in this order, for reading only.
    pub(super) fn read_only(types: Vec<Type>) -> TypeTable {
        TypeTable {
            types: types.into_iter().collect(),
            index: HashMap::new(),
        }
    }

    /// Returns the number of types.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Returns true if the table is empty.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

impl std::ops::Index<TypeId> for TypeTable {
    type Output = Type;
    #[inline]
    fn index(&self, id: TypeId) -> &Type {
        &self.types[id]
    }
}
