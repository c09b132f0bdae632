//! Types, interned: two equal types have the same [`TypeId`].
//!
//! Named structs are kept by structure only (names carry no meaning after linking); an opaque
//! struct is [`Type::Opaque`]. Pointers are opaque, as in every LLVM since 15.

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
    /// An integer of that many bits (1 to 2^23).
    Int(u32),
    /// A floating-point number.
    Float(FloatKind),
    /// A pointer in that address space.
    Ptr(u32),
    /// A vector of `len` lanes; `scalable` ones are read but never run on x86-64.
    Vector {
        /// Lane type: integer, float or pointer.
        elem: TypeId,
        /// Number of lanes (the minimum when scalable).
        len: u32,
        /// Whether the number of lanes is a run-time multiple.
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
        /// No padding between fields.
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
        /// Takes more arguments after the fixed ones.
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

/// The interner.
#[derive(Default, Debug)]
pub struct TypeTable {
    types: PrimaryMap<TypeId, Type>,
    index: HashMap<Type, TypeId>,
}

impl TypeTable {
    /// The id of `ty`, adding it when new.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.index.get(&ty) {
            return id;
        }
        let id = self.types.push(ty.clone());
        self.index.insert(ty, id);
        id
    }

    /// The types, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Type> {
        self.types.values()
    }

    /// A table of types in that order, for reading only.
    pub(super) fn read_only(types: Vec<Type>) -> TypeTable {
        TypeTable {
            types: types.into_iter().collect(),
            index: HashMap::new(),
        }
    }

    /// The number of types.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

impl std::ops::Index<TypeId> for TypeTable {
    type Output = Type;
    fn index(&self, id: TypeId) -> &Type {
        &self.types[id]
    }
}
