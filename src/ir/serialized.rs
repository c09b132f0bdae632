//! Serialization of a module with lazy deserialization.
//!
//! [`save`] writes a module. [`load`] reads its symbols, types and constants, which placing and
//! linking need, and leaves bodies and source locations as bytes until their first use ([`Lazy`]).
//! So a program whose code is already compiled starts without decoding its instructions. Threads
//! that use a part at the same time each decode it, and one result is kept. Waiting for another
//! thread could last for ever: in a child of `fork`, which lacks that thread, and in a signal
//! handler that describes a fault.
//!
//! Checks only the form of the bytes; their owner ensures that they are the right ones. Does not
//! save the files and the module's name.

use super::debug::{DebugInfo, File, Loc, Scope};
use super::function::{Block, Body, BodySize, Function};
use super::module::{Alias, Global, GlobalRef, IFunc, Module, Xtor};
use super::types::{Type, TypeTable};
use super::{AliasId, Const, FuncId, GlobalId, IFuncId, TypeId};
use cranelift_entity::PrimaryMap;
use hashbrown::HashMap;
use once_cell::race::OnceBox;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A part of a module, decoded at its first use.
#[derive(Default)]
pub struct Lazy<T> {
    /// The value, if the part was not loaded or was changed since.
    value: Option<T>,
    decoded: OnceBox<T>,
    encoded: Option<Encoded>,
}

/// The position of a part's bytes.
#[derive(Clone)]
struct Encoded {
    bytes: Arc<Vec<u8>>,
    start: u32,
    end: u32,
}

/// A type that can be a lazy part.
pub trait LazyPart: Default {
    /// Decodes the part.
    ///
    /// # Errors
    /// The bytes do not have the form of the part.
    fn decode(bytes: &[u8]) -> Result<Self, postcard::Error>;
}

impl<T: LazyPart> Lazy<T> {
    fn lazily(encoded: Encoded) -> Self {
        Lazy {
            value: None,
            decoded: OnceBox::new(),
            encoded: Some(encoded),
        }
    }

    fn decode(&self) -> T {
        self.try_decode()
            .unwrap_or_else(|e| ompvm_support::bug!("a saved module does not decode: {e}"))
    }

    fn try_decode(&self) -> Result<T, postcard::Error> {
        match &self.encoded {
            None => Ok(T::default()),
            Some(encoded) => {
                T::decode(&encoded.bytes[encoded.start as usize..encoded.end as usize])
            }
        }
    }

    /// Decodes the part; `None` if the bytes have not its form.
    fn decode_now(&mut self) -> Option<()> {
        if self.value.is_none() {
            self.value = Some(self.try_decode().ok()?);
        }
        Some(())
    }
}

impl<T> From<T> for Lazy<T> {
    fn from(value: T) -> Self {
        Lazy {
            value: Some(value),
            decoded: OnceBox::new(),
            encoded: None,
        }
    }
}

impl<T: LazyPart> Deref for Lazy<T> {
    type Target = T;
    fn deref(&self) -> &T {
        match &self.value {
            Some(value) => value,
            None => self.decoded.get_or_init(|| Box::new(self.decode())),
        }
    }
}

impl<T: LazyPart> DerefMut for Lazy<T> {
    fn deref_mut(&mut self) -> &mut T {
        if self.value.is_none() {
            self.value = Some(self.decode());
        }
        self.value
            .as_mut()
            .unwrap_or_else(|| ompvm_support::bug!("a part that was just decoded is not there"))
    }
}

impl<T: fmt::Debug> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value.as_ref().or(self.decoded.get()) {
            Some(value) => value.fmt(f),
            None => f.write_str("(not looked at)"),
        }
    }
}

impl LazyPart for Body {
    fn decode(bytes: &[u8]) -> Result<Self, postcard::Error> {
        postcard::from_bytes(bytes)
    }
}

impl Lazy<Body> {
    /// Returns the size of the body, without decoding its instructions.
    pub fn size(&self) -> BodySize {
        let of = |blocks: &[Block]| BodySize {
            insts: blocks.last().map_or(0, |b| b.end as usize),
            blocks: blocks.len(),
        };
        if let Some(body) = self.value.as_ref().or(self.decoded.get()) {
            return of(&body.blocks);
        }
        let Some(Encoded { bytes, start, end }) = &self.encoded else {
            return BodySize::default();
        };
        postcard::take_from_bytes::<Vec<Block>>(&bytes[*start as usize..*end as usize])
            .map_or_else(|_| BodySize::default(), |(blocks, _)| of(&blocks))
    }
}

impl LazyPart for DebugInfo {
    fn decode(bytes: &[u8]) -> Result<Self, postcard::Error> {
        let (files, scopes, locs): (Vec<File>, Vec<Scope>, Vec<Loc>) = postcard::from_bytes(bytes)?;
        Ok(DebugInfo {
            files: files.into_iter().collect(),
            scopes: scopes.into_iter().collect(),
            locs: locs.into_iter().collect(),
        })
    }
}

/// The part that is decoded at once. The type parameters are the tables, which are borrowed for
/// saving.
#[derive(Serialize, Deserialize)]
struct Header<Text, Types, Consts, Globals, Functions, Aliases, IFuncs> {
    triple: Text,
    data_layout: Text,
    module_asm: Text,
    assembly: serde_bytes::ByteBuf,
    switches_stacks: bool,
    types: Types,
    consts: Consts,
    const_types: Vec<Option<TypeId>>,
    globals: Globals,
    functions: Functions,
    aliases: Aliases,
    ifuncs: IFuncs,
    ctors: Vec<Xtor>,
    dtors: Vec<Xtor>,
    uses: Box<[GlobalRef]>,
    /// Length of each function's body; the bodies follow the head in this order.
    bodies: Vec<Option<u32>>,
}

type Saving<'m> = Header<
    &'m str,
    Vec<&'m Type>,
    Vec<&'m Const>,
    Vec<&'m Global>,
    Vec<&'m Function>,
    Vec<&'m Alias>,
    Vec<&'m IFunc>,
>;
type Loaded =
    Header<String, Vec<Type>, Vec<Const>, Vec<Global>, Vec<Function>, Vec<Alias>, Vec<IFunc>>;

/// Serializes a module; `uses` are the symbols that linking it needs.
///
/// # Errors
/// The module cannot be serialized.
pub fn save(module: &Module, uses: Box<[GlobalRef]>) -> Result<Vec<u8>, postcard::Error> {
    let mut rest = Vec::new();
    let mut bodies = Vec::with_capacity(module.functions.len());
    for function in module.functions.values() {
        let Some(body) = &function.body else {
            bodies.push(None);
            continue;
        };
        let bytes = postcard::to_allocvec(&**body)?;
        bodies.push(Some(bytes.len() as u32));
        rest.extend(bytes);
    }
    let head = Saving {
        triple: &module.triple,
        data_layout: &module.data_layout,
        module_asm: &module.module_asm,
        assembly: module.assembly.clone().into(),
        switches_stacks: module.switches_stacks,
        types: module.types.iter().collect(),
        consts: module.consts.values().collect(),
        const_types: module
            .consts
            .keys()
            .map(|c| module.const_types[c])
            .collect(),
        globals: module.globals.values().collect(),
        functions: module.functions.values().collect(),
        aliases: module.aliases.values().collect(),
        ifuncs: module.ifuncs.values().collect(),
        ctors: module.ctors.clone(),
        dtors: module.dtors.clone(),
        uses,
        bodies,
    };
    let head = postcard::to_allocvec(&head)?;
    let mut bytes = Vec::with_capacity(8 + head.len() + rest.len());
    bytes.extend((head.len() as u64).to_le_bytes());
    bytes.extend(head);
    bytes.extend(rest);
    let debug = (
        module.debug.files.values().collect::<Vec<_>>(),
        module.debug.scopes.values().collect::<Vec<_>>(),
        module.debug.locs.values().collect::<Vec<_>>(),
    );
    postcard::to_extend(&debug, bytes)
}

/// Loads a module saved as `bytes`, without name and files; `None` if the bytes do not have the
/// form.
pub fn load(bytes: Vec<u8>) -> Option<Module> {
    let mut at = 8usize;
    let len = u64::from_le_bytes(bytes.get(..at)?.try_into().ok()?) as usize;
    let head: Loaded = decode(bytes.get(at..at.checked_add(len)?)?)?;
    at += len;
    let total = u32::try_from(bytes.len()).ok()?;
    let bytes = Arc::new(bytes);
    let mut part = |len: u32| {
        let start = u32::try_from(at).ok()?;
        let end = start.checked_add(len).filter(|&end| end <= total)?;
        at = end as usize;
        Some(Encoded {
            bytes: bytes.clone(),
            start,
            end,
        })
    };
    let mut functions: PrimaryMap<FuncId, Function> = PrimaryMap::new();
    for (mut function, len) in head.functions.into_iter().zip(head.bodies) {
        if let Some(len) = len {
            function.body = Some(Lazy::lazily(part(len)?));
        }
        functions.push(function);
    }
    let debug = part(0)?;
    let mut module = Module {
        triple: head.triple,
        data_layout: head.data_layout,
        module_asm: head.module_asm,
        assembly: head.assembly.into_vec(),
        switches_stacks: head.switches_stacks,
        types: TypeTable::read_only(head.types),
        consts: head.consts.into_iter().collect(),
        globals: head.globals.into_iter().collect(),
        functions,
        aliases: head.aliases.into_iter().collect(),
        ifuncs: head.ifuncs.into_iter().collect(),
        ctors: head.ctors,
        dtors: head.dtors,
        debug: Lazy::lazily(Encoded {
            end: total,
            ..debug
        }),
        linked_before: Some(head.uses),
        contracted: false,
        ..Module::default()
    };
    for (id, ty) in module.consts.keys().zip(head.const_types) {
        module.const_types[id] = ty;
    }
    module.symbols = symbols(&module);
    Some(module)
}

/// Loads a module as [`load`] does, and decodes every part now. The module counts as not linked.
pub fn load_all(bytes: Vec<u8>) -> Option<Module> {
    let mut module = load(bytes)?;
    module.linked_before = None;
    for function in module.functions.values_mut() {
        if let Some(body) = &mut function.body {
            body.decode_now()?;
        }
    }
    module.debug.decode_now()?;
    Some(module)
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}

/// Returns the named symbols of a module.
fn symbols(module: &Module) -> HashMap<Box<str>, GlobalRef> {
    fn named<'m, I: 'm + Copy>(
        table: impl Iterator<Item = (I, &'m Box<str>)>,
        kind: impl Fn(I) -> GlobalRef,
    ) -> impl Iterator<Item = (Box<str>, GlobalRef)> {
        table
            .filter(|(_, name)| !name.is_empty())
            .map(move |(id, name)| (name.clone(), kind(id)))
    }
    let functions = module
        .functions
        .iter()
        .map(|(i, f): (FuncId, _)| (i, &f.name));
    let globals = module
        .globals
        .iter()
        .map(|(i, g): (GlobalId, _)| (i, &g.name));
    let aliases = module
        .aliases
        .iter()
        .map(|(i, a): (AliasId, _)| (i, &a.name));
    let ifuncs = module
        .ifuncs
        .iter()
        .map(|(i, f): (IFuncId, _)| (i, &f.name));
    named(functions, GlobalRef::Func)
        .chain(named(globals, GlobalRef::Var))
        .chain(named(aliases, GlobalRef::Alias))
        .chain(named(ifuncs, GlobalRef::IFunc))
        .collect()
}
