//! A module placed in memory: addresses of its symbols, initial values, thread_local template.
//!
//! Guest pointers are host pointers, so an image is built as a static linker and loader would: one
//! mapping for variables, one for constants (read-only afterwards, so a write faults as it does
//! natively), a stub per defined function, and the process's own addresses for symbols that are
//! only declared. Zero-initialized variables are never touched, so large ones cost no memory.
//!
//! The caller resolves undefined symbols (`tier::link`) and runs the constructors.

use super::code_addresses::CodeAddresses;
use super::func::{FuncRef, StubKind, Stubs};
use super::huge;
use super::linker_symbols::{self, ProgramLayout};
use super::thread;
use super::throws;
use cranelift_entity::{EntityRef, SecondaryMap};
use hashbrown::HashMap;
use ompvm_ir::{
    AliasId, BinOp, CastOp, Const, ConstExpr, ConstId, FuncId, Global, GlobalId, GlobalRef,
    IFuncId, Linkage, Module, Type, TypeId, Xtor,
};
use ompvm_support::error::Error;
use once_cell::race::OnceBox;
use parking_lot::Mutex;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The kind of a symbol to resolve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A variable.
    Variable,
    /// A thread_local variable. Only its existence matters.
    ThreadLocal,
}

/// A mapping, unmapped when dropped.
#[derive(Debug)]
pub(super) struct Mapping {
    pub base: usize,
    pub len: usize,
}

impl Mapping {
    pub fn new(len: usize, prot: i32) -> Result<Mapping, Error> {
        if len == 0 {
            return Ok(Mapping { base: 0, len: 0 });
        }
        let map = |low: i32| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | low;
            // SAFETY: a fresh anonymous mapping.
            unsafe { libc::mmap(ptr::null_mut(), len, prot, flags, -1, 0) }
        };
        // Low addresses fit compiled code's 32-bit displacements, as in a native executable.
        let mut p = libc::MAP_FAILED;
        if len <= LARGEST_LOW {
            p = map(libc::MAP_32BIT);
        }
        if p == libc::MAP_FAILED {
            p = map(0);
        }
        if p == libc::MAP_FAILED {
            return Err(Error::Host(format!(
                "no memory for {len} bytes of the program's data: {}",
                std::io::Error::last_os_error()
            )));
        }
        Ok(Mapping {
            base: p as usize,
            len,
        })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: this value owns the mapping, and the image that used it is being dropped.
            unsafe { libc::munmap(self.base as *mut c_void, self.len) };
        }
    }
}

/// A jump to a function that 32-bit distances do not reach, with the cell that it reads.
#[derive(Debug)]
struct FarJump {
    stubs: Stubs,
    _target: Box<AtomicUsize>,
}

/// A placed module.
#[derive(Debug)]
pub struct Image {
    /// The module.
    pub module: Arc<Module>,
    /// The defined functions.
    pub funcs: Box<[FuncRef]>,
    /// One more than the index into `funcs`; 0 if the function is not defined here.
    func_index: SecondaryMap<FuncId, u32>,
    /// Addresses of functions that are not defined here.
    native: SecondaryMap<FuncId, usize>,
    globals: SecondaryMap<GlobalId, usize>,
    /// One more than the offset in the thread's block; 0 if the variable is not in it.
    tls_offsets: SecondaryMap<GlobalId, usize>,
    tls_init: Box<[u8]>,
    tls_align: usize,
    stubs: Stubs,
    ifunc_cells: Box<[AtomicUsize]>,
    /// Jumps to functions of libraries, by their addresses; see [`Image::nearby_jump`].
    jumps: Mutex<HashMap<usize, FarJump>>,
    /// Addresses of labels and, if tools trace calls, of call sites.
    pub code_addresses: CodeAddresses,
    data: Mapping,
    constants: Mapping,
    serial: u64,
    /// The cell in which compiled code finds a thread's block, chosen at the first use.
    fast_tls: OnceLock<Option<usize>>,
    /// The C++ library that the module was linked with, unless it is the process's own.
    cpp: OnceLock<throws::Library>,
}

// SAFETY: the FuncRefs' raw pointers lead back to this image; everything else is immutable after
// `place`, atomic, or behind a lock. The guest's threads share the guest's data as natively.
unsafe impl Send for Image {}
// SAFETY: the same argument as for `Send`.
unsafe impl Sync for Image {}

const PAGE: usize = 4096;
/// The largest data placed in the low gigabyte, which compiled code shares.
const LARGEST_LOW: usize = 768 << 20;

/// Returns true for LLVM's own bookkeeping symbols (`llvm.used`, intrinsics).
fn is_internal(name: &str) -> bool {
    name.starts_with("llvm.")
}

/// Returns true if fresh zeroed memory already has this initial value.
fn is_zero(module: &Module, id: ConstId) -> bool {
    matches!(
        module.consts[id],
        Const::Zero | Const::Null | Const::Undef | Const::Poison | Const::Int(0)
    )
}

impl Image {
    /// Places a module in memory. `resolve` returns addresses of symbols that it does not define.
    /// With `trace_calls`, call sites get addresses for tools that trace calls.
    ///
    /// # Errors
    /// All unresolved symbols at once, or the reason why the host refused memory.
    pub fn place(
        module: Arc<Module>,
        trace_calls: bool,
        resolve: &mut dyn FnMut(&str, SymbolKind) -> Option<usize>,
    ) -> Result<Arc<Image>, Error> {
        let layout = DataLayout::of(&module);
        let (constants, data, bounds) = layout.map(&module)?;
        let mut unresolved = Vec::new();
        let mut native = SecondaryMap::new();
        let mut func_index = SecondaryMap::new();
        let mut defined = Vec::new();
        for (id, f) in &module.functions {
            if is_internal(&f.name) {
                continue;
            }
            let here = f.body.is_some();
            if here && f.linkage != Linkage::AvailableExternally {
                defined.push(id);
                func_index[id] = defined.len() as u32;
                continue;
            }
            let bound = || bounds.and_then(|b| b.address(&f.name));
            match resolve(&f.name, SymbolKind::Function).or_else(bound) {
                Some(address) => native[id] = address,
                None if here => {
                    defined.push(id);
                    func_index[id] = defined.len() as u32;
                }
                None if f.linkage == Linkage::ExternWeak => {}
                None => unresolved.push(f.name.to_string()),
            }
        }
        let first_constant = constants.base + bounds.map_or(0, |b| b.head);
        let mut globals = SecondaryMap::new();
        let mut large = Vec::new();
        for &(id, offset) in &layout.data {
            globals[id] = data.base + offset;
            let global = &module.globals[id];
            let size = module.layout(global.ty).size as usize;
            if size >= huge::LARGE && global.init.is_some_and(|i| is_zero(&module, i)) {
                large.push((globals[id], size));
            }
        }
        huge::advise(&large);
        for &(id, offset) in &layout.constants {
            globals[id] = first_constant + offset;
        }
        for (id, g) in &module.globals {
            if is_internal(&g.name) || is_defined(&module, id) {
                continue;
            }
            let kind = if g.thread_local {
                SymbolKind::ThreadLocal
            } else {
                SymbolKind::Variable
            };
            let found = resolve(&g.name, kind)
                .or_else(|| layout.section_bound(&g.name, &globals))
                .or_else(|| bounds.and_then(|b| b.address(&g.name)));
            match found {
                Some(address) => globals[id] = address,
                None if g.linkage == Linkage::ExternWeak => {}
                None => unresolved.push(g.name.to_string()),
            }
        }
        if !unresolved.is_empty() {
            unresolved.sort();
            return Err(Error::Unresolved(unresolved));
        }
        let code_addresses = CodeAddresses::new(&module, trace_calls)?;
        let stubs = Stubs::new(defined.len() + module.ifuncs.len()).map_err(Error::Host)?;
        let funcs: Box<[FuncRef]> = defined
            .iter()
            .enumerate()
            .map(|(i, &id)| FuncRef {
                stub: stubs.address(i),
                entry: AtomicUsize::new(super::abi::entry_address()),
                code: AtomicPtr::new(ptr::null_mut()),
                id,
                fingerprint: super::abi::fingerprint(&module, &module.functions[id].params),
                called: AtomicBool::new(false),
                direct: AtomicUsize::new(0),
                image: ptr::null(),
                plan: OnceBox::new(),
            })
            .collect();
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let mut image = Arc::new(Image {
            funcs,
            func_index,
            native,
            globals,
            tls_offsets: layout.tls_offsets,
            tls_init: vec![0; layout.tls_len].into(),
            tls_align: layout.tls_align,
            stubs,
            jumps: Mutex::default(),
            ifunc_cells: module.ifuncs.keys().map(|_| AtomicUsize::new(0)).collect(),
            code_addresses,
            data,
            constants,
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            fast_tls: OnceLock::new(),
            cpp: OnceLock::new(),
            module,
        });
        let address = Arc::as_ptr(&image);
        let this = Arc::get_mut(&mut image)
            .unwrap_or_else(|| ompvm_support::bug!("a new image is shared"));
        for f in &mut this.funcs {
            f.image = address;
        }
        this.write_stubs()?;
        this.initialize(&layout.data)?;
        this.initialize(&layout.constants)?;
        this.initialize_tls();
        if let Some(bounds) = bounds {
            let addresses = |list: &[Xtor]| -> Vec<usize> {
                list.iter().map(|x| this.eval(x.func) as usize).collect()
            };
            let (constructors, destructors) =
                (addresses(&this.module.ctors), addresses(&this.module.dtors));
            // SAFETY: `DataLayout::map` made the mapping with this layout; it is not shared yet.
            unsafe { bounds.write(&constructors, &destructors) };
        }
        if this.constants.len > 0 {
            // SAFETY: the image's own mapping, fully written.
            unsafe {
                libc::mprotect(
                    this.constants.base as *mut c_void,
                    this.constants.len,
                    libc::PROT_READ,
                );
            }
        }
        Ok(image)
    }

    fn write_stubs(&self) -> Result<(), Error> {
        let functions = self
            .funcs
            .iter()
            .map(|f| StubKind::Function(ptr::from_ref(f)));
        let jumps = self
            .ifunc_cells
            .iter()
            .map(|c| StubKind::Jump(ptr::from_ref(c)));
        let kinds: Vec<_> = functions.chain(jumps).collect();
        self.stubs.write(&kinds).map_err(Error::Host)
    }

    fn initialize(&self, list: &[(GlobalId, usize)]) -> Result<(), Error> {
        for &(id, _) in list {
            let g = &self.module.globals[id];
            let Some(init) = g.init else { continue };
            if is_zero(&self.module, init) {
                continue;
            }
            let len = self.module.layout(g.ty).size as usize;
            // SAFETY: the variable lies in a mapping of this image, which is not shared yet.
            let out = unsafe {
                std::slice::from_raw_parts_mut(
                    ptr::with_exposed_provenance_mut(self.globals[id]),
                    len,
                )
            };
            self.const_to_memory(init, out);
        }
        Ok(())
    }

    fn initialize_tls(&mut self) {
        let mut bytes = std::mem::take(&mut self.tls_init);
        for (id, g) in &self.module.globals {
            if let (Some(offset), Some(init)) = (self.tls_offset(id), g.init) {
                let len = self.module.layout(g.ty).size as usize;
                self.const_to_memory(init, &mut bytes[offset..offset + len]);
            }
        }
        self.tls_init = bytes;
    }

    /// Sets the module's own C++ library. Must be called before any of its code runs.
    pub fn set_cpp(&self, library: throws::Library) {
        let _ = self.cpp.set(library);
    }

    /// Returns the module's own C++ library; `None` if it uses the process's.
    pub fn cpp(&self) -> Option<&throws::Library> {
        self.cpp.get()
    }

    /// Returns a number that no other image of the process ever had.
    #[inline]
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Returns the index of this image's cell for [`thread::fast_block`]; `None` if no cell is
    /// left.
    pub fn fast_tls(&self) -> Option<usize> {
        *self.fast_tls.get_or_init(thread::take_fast_cell)
    }

    /// Returns the initial bytes and the alignment of a thread's block of thread_locals.
    pub fn tls_template(&self) -> (&[u8], usize) {
        (&self.tls_init, self.tls_align)
    }

    /// Returns the address of a function: its stub, or its address in the process; 0 for an
    /// undefined weak one and for intrinsics.
    pub fn func_address(&self, id: FuncId) -> usize {
        match self.func_ref(id) {
            Some(f) => f.stub,
            None => self.native[id],
        }
    }

    /// Returns the reference of a function defined here.
    pub fn func_ref(&self, id: FuncId) -> Option<&FuncRef> {
        let n = self.func_index[id];
        if n == 0 {
            None
        } else {
            Some(&self.funcs[n as usize - 1])
        }
    }

    /// Returns start and length of the functions, the constants and the data.
    pub fn segments(&self) -> [(usize, usize); 3] {
        let [constants, data] = [&self.constants, &self.data].map(|m| (m.base, m.len));
        [self.stubs.pages(), constants, data]
    }

    /// Returns the address of a variable that is not thread_local; 0 for an undefined weak one.
    pub fn global_address(&self, id: GlobalId) -> usize {
        self.globals[id]
    }

    /// Returns the offset of a thread_local variable in the thread's block, if it is defined here.
    pub fn tls_offset(&self, id: GlobalId) -> Option<usize> {
        self.tls_offsets[id].checked_sub(1)
    }

    /// Returns this thread's address of a thread_local variable, wherever it is defined.
    pub fn tls_address(&self, id: GlobalId) -> usize {
        if let Some(offset) = self.tls_offset(id) {
            // SAFETY: `current` returns this thread's state.
            return unsafe { thread::tls_block(thread::current(), self) } as usize + offset;
        }
        let name = std::ffi::CString::new(&*self.module.globals[id].name).unwrap_or_default();
        // SAFETY: the name is a C string; dlsym returns the calling thread's instance.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize }
    }

    /// Returns the address of any symbol that is not thread_local.
    pub fn symbol_address(&self, symbol: GlobalRef) -> usize {
        match symbol {
            GlobalRef::Func(f) => self.func_address(f),
            GlobalRef::Var(g) => self.global_address(g),
            GlobalRef::Alias(a) => self.alias_address(a),
            GlobalRef::IFunc(i) => self.ifunc_address(i),
        }
    }

    /// Returns the address of an alias.
    pub fn alias_address(&self, id: AliasId) -> usize {
        self.eval(self.module.aliases[id].target) as usize
    }

    /// Returns the address of an ifunc: a stub that jumps to the target that [`Image::set_ifunc`]
    /// stored.
    pub fn ifunc_address(&self, id: IFuncId) -> usize {
        self.stubs.address(self.funcs.len() + id.index())
    }

    /// Stores the target that an ifunc's resolver returned.
    pub fn set_ifunc(&self, id: IFuncId, target: usize) {
        self.ifunc_cells[id.index()].store(target, Ordering::Release);
    }

    /// Returns the target that an ifunc's resolver returned; 0 before that.
    pub fn ifunc_target(&self, id: IFuncId) -> usize {
        self.ifunc_cells[id.index()].load(Ordering::Acquire)
    }

    /// Returns the symbol at the end of a chain of aliases, or the last alias if its target is no
    /// symbol.
    pub fn resolve_alias(&self, symbol: GlobalRef) -> GlobalRef {
        let mut symbol = symbol;
        while let GlobalRef::Alias(a) = symbol {
            match self.module.consts[self.module.aliases[a].target] {
                Const::Global(next) => symbol = next,
                _ => break,
            }
        }
        symbol
    }

    /// Returns the thread_local variable and byte offset that a constant address refers to, if any.
    pub fn tls_constant(&self, id: ConstId) -> Option<(GlobalId, i64)> {
        match &self.module.consts[id] {
            Const::Global(symbol) => match self.resolve_alias(*symbol) {
                GlobalRef::Var(g) if self.module.globals[g].thread_local => Some((g, 0)),
                _ => None,
            },
            Const::Expr(ConstExpr::Gep {
                elem,
                base,
                indices,
            }) => {
                let (g, at) = self.tls_constant(*base)?;
                Some((g, at + self.gep_offset(*elem, indices, 0)))
            }
            Const::Expr(ConstExpr::Cast(_, inner)) => self.tls_constant(*inner),
            _ => None,
        }
    }

    /// Writes a constant in slot form (see the rules in `interp`); `out` has the length of its
    /// slots.
    pub fn const_to_slots(&self, id: ConstId, out: &mut [u64]) {
        out.fill(0);
        let ty = self.module.const_type(id);
        match &self.module.types[ty] {
            Type::Vector { elem, len, .. } => {
                let bits = self.module.types.lane_bits(*elem);
                let stride = bits.div_ceil(8).next_power_of_two();
                let bytes = as_bytes(out);
                for lane in 0..u64::from(*len) {
                    let v = self.lane(id, ty, lane);
                    let at = (lane * stride) as usize;
                    let n = (stride as usize).min(16);
                    bytes[at..at + n].copy_from_slice(&v.to_le_bytes()[..n]);
                }
            }
            Type::Array { .. } | Type::Struct { .. } => {
                let len = self.module.layout(ty).size as usize;
                self.const_to_memory(id, &mut as_bytes(out)[..len]);
            }
            Type::Int(bits) if *bits > 128 => {
                let len = self.module.layout(ty).store as usize;
                self.const_to_memory(id, &mut as_bytes(out)[..len]);
            }
            _ => {
                let v = self.eval(id);
                for (i, slot) in out.iter_mut().take(2).enumerate() {
                    *slot = (v >> (64 * i)) as u64;
                }
            }
        }
    }

    /// Writes a constant in memory form; `out` has at least the constant's store size.
    pub fn const_to_memory(&self, id: ConstId, out: &mut [u8]) {
        let ty = self.module.const_type(id);
        match &self.module.consts[id] {
            Const::Zero | Const::Null | Const::Undef | Const::Poison | Const::Unsupported(_) => {
                out.fill(0);
            }
            Const::Data(bytes) => out[..bytes.len()].copy_from_slice(bytes),
            Const::BigInt(words) => {
                let store = self.module.layout(ty).store as usize;
                for (to, from) in out[..store].chunks_mut(8).zip(words.iter()) {
                    to.copy_from_slice(&from.to_le_bytes()[..to.len()]);
                }
            }
            Const::Aggregate(items) => match &self.module.types[ty] {
                Type::Struct { .. } => {
                    for (i, &item) in items.iter().enumerate() {
                        let at = self.module.types.field_offset(ty, i) as usize;
                        let len = self.module.layout(self.module.const_type(item)).size as usize;
                        self.const_to_memory(item, &mut out[at..at + len]);
                    }
                }
                Type::Array { elem, .. } => {
                    let size = self.module.layout(*elem).size as usize;
                    for (i, &item) in items.iter().enumerate() {
                        if !is_zero(&self.module, item) {
                            self.const_to_memory(item, &mut out[i * size..(i + 1) * size]);
                        }
                    }
                }
                Type::Vector { elem, .. } => {
                    let bits = self.module.types.lane_bits(*elem) as usize;
                    out.fill(0);
                    for (i, &item) in items.iter().enumerate() {
                        put_bits(out, i * bits, bits, self.eval(item));
                    }
                }
                _ => {}
            },
            _ if matches!(self.module.types[ty], Type::Vector { .. }) => {
                if let Type::Vector { elem, len, .. } = &self.module.types[ty] {
                    let bits = self.module.types.lane_bits(*elem) as usize;
                    out.fill(0);
                    for lane in 0..*len as usize {
                        put_bits(out, lane * bits, bits, self.lane(id, ty, lane as u64));
                    }
                }
            }
            _ => {
                let store = (self.module.layout(ty).store as usize).min(16);
                let v = self.eval(id).to_le_bytes();
                out[..store].copy_from_slice(&v[..store]);
            }
        }
    }

    /// Returns one lane of a vector constant.
    fn lane(&self, id: ConstId, ty: TypeId, lane: u64) -> u128 {
        match &self.module.consts[id] {
            Const::Aggregate(items) => self.eval(items[lane as usize]),
            Const::Data(bytes) => {
                let Type::Vector { elem, .. } = &self.module.types[ty] else {
                    return 0;
                };
                let n = self.module.layout(*elem).store as usize;
                let at = lane as usize * n;
                let mut v = [0u8; 16];
                v[..n].copy_from_slice(&bytes[at..at + n]);
                u128::from_le_bytes(v)
            }
            Const::Int(v) | Const::Float(v) => *v, // a splat
            // A vector of addresses.
            Const::Expr(ConstExpr::Gep {
                elem,
                base,
                indices,
            }) => {
                let base = self.scalar_or_lane(*base, lane) as i64;
                base.wrapping_add(self.gep_offset(*elem, indices, lane)) as u64 as u128
            }
            Const::Expr(ConstExpr::Cast(
                CastOp::BitCast | CastOp::IntToPtr | CastOp::PtrToInt | CastOp::PtrToAddr,
                inner,
            )) => self.scalar_or_lane(*inner, lane),
            _ => 0,
        }
    }

    /// Returns a scalar constant, or a lane of a vector constant.
    fn scalar_or_lane(&self, id: ConstId, lane: u64) -> u128 {
        let ty = self.module.const_type(id);
        match &self.module.types[ty] {
            Type::Vector { .. } => self.lane(id, ty, lane),
            _ => self.eval(id),
        }
    }

    /// Returns the value of a scalar constant, zero-extended.
    pub fn eval(&self, id: ConstId) -> u128 {
        let ty = self.module.const_type(id);
        let bits = self.scalar_bits(ty);
        let v = match &self.module.consts[id] {
            Const::Int(v) | Const::Float(v) => *v,
            Const::Global(symbol) => self.symbol_address(*symbol) as u128,
            Const::BlockAddress(f, b) => self.code_addresses.label(*f, *b) as u128,
            Const::Expr(e) => self.eval_expr(e, bits),
            Const::Data(_) | Const::Aggregate(_) => {
                let mut bytes = [0u8; 16];
                if self.module.layout(ty).store <= 16 {
                    self.const_to_memory(id, &mut bytes);
                }
                u128::from_le_bytes(bytes)
            }
            _ => 0,
        };
        mask(v, bits)
    }

    fn eval_expr(&self, e: &ConstExpr, bits: u32) -> u128 {
        match e {
            ConstExpr::Gep {
                elem,
                base,
                indices,
            } => {
                let base = self.eval(*base) as i64;
                base.wrapping_add(self.gep_offset(*elem, indices, 0)) as u64 as u128
            }
            ConstExpr::Cast(op, inner) => {
                let v = self.eval(*inner);
                match op {
                    CastOp::SExt => {
                        let from = self.scalar_bits(self.module.const_type(*inner));
                        sign_extend(v, from) as u128
                    }
                    CastOp::Trunc => self.distance(*inner, bits).unwrap_or(v),
                    _ => v,
                }
            }
            ConstExpr::Binary(op, a, b) => {
                let (x, y) = (self.eval(*a), self.eval(*b));
                let (sx, sy) = (sign_extend(x, bits), sign_extend(y, bits));
                let shift = y.min(127) as u32;
                match op {
                    BinOp::Add => x.wrapping_add(y),
                    BinOp::Sub => x.wrapping_sub(y),
                    BinOp::Mul => x.wrapping_mul(y),
                    BinOp::UDiv => x.checked_div(y).unwrap_or(0),
                    BinOp::URem => x.checked_rem(y).unwrap_or(0),
                    BinOp::SDiv => sx.checked_div(sy).unwrap_or(0) as u128,
                    BinOp::SRem => sx.checked_rem(sy).unwrap_or(0) as u128,
                    BinOp::Shl => x << shift,
                    BinOp::LShr => x >> shift,
                    BinOp::AShr => (sx >> shift) as u128,
                    BinOp::And => x & y,
                    BinOp::Or => x | y,
                    BinOp::Xor => x ^ y,
                    _ => 0,
                }
            }
        }
    }

    /// Returns the distance from an address to a function, as relative virtual tables store it in
    /// `bits` bits, through a nearby jump; `None` if the constant is something else or the direct
    /// distance fits.
    fn distance(&self, difference: ConstId, bits: u32) -> Option<u128> {
        let Const::Expr(ConstExpr::Binary(BinOp::Sub, to, from)) = &self.module.consts[difference]
        else {
            return None;
        };
        let Const::Expr(ConstExpr::Cast(CastOp::PtrToInt, function)) = &self.module.consts[*to]
        else {
            return None;
        };
        let Const::Global(GlobalRef::Func(_)) = self.module.consts[*function] else {
            return None;
        };
        let (to, from) = (self.eval(*to) as i64, self.eval(*from) as i64);
        let fits = |distance: i64| i32::try_from(distance).is_ok();
        if bits != 32 || to == 0 || fits(to.wrapping_sub(from)) {
            return None;
        }
        let nearby_jump = self.nearby_jump(to as usize)? as i64;
        Some(nearby_jump.wrapping_sub(from) as u64 as u128)
    }

    /// Returns an address among the stubs that jumps to the function at `target`, as an entry of a
    /// native linker's procedure linkage table does; `None` if memory is short.
    fn nearby_jump(&self, target: usize) -> Option<usize> {
        let mut jumps = self.jumps.lock();
        if let Some(jump) = jumps.get(&target) {
            return Some(jump.stubs.address(0));
        }
        let stubs = Stubs::new(1).ok()?;
        let cell = Box::new(AtomicUsize::new(target));
        stubs.write(&[StubKind::Jump(&raw const *cell)]).ok()?;
        let address = stubs.address(0);
        let jump = FarJump {
            stubs,
            _target: cell,
        };
        jumps.insert(target, jump);
        Some(address)
    }

    fn scalar_bits(&self, ty: TypeId) -> u32 {
        match &self.module.types[ty] {
            Type::Int(bits) => (*bits).min(128),
            Type::Ptr(_) => 64,
            _ => 128,
        }
    }

    /// Returns the byte offset that constant `getelementptr` indices add.
    fn gep_offset(&self, elem: TypeId, indices: &[ConstId], lane: u64) -> i64 {
        let types = &self.module.types;
        let mut at = 0i64;
        let mut ty = elem;
        for (i, &index) in indices.iter().enumerate() {
            let index_ty = self.module.const_type(index);
            let bits = match &types[index_ty] {
                Type::Vector { elem, .. } => self.scalar_bits(*elem),
                _ => self.scalar_bits(index_ty),
            };
            let n = sign_extend(self.scalar_or_lane(index, lane), bits) as i64;
            if i == 0 {
                at = at.wrapping_add(n.wrapping_mul(types.layout(ty).size as i64));
                continue;
            }
            match &types[ty] {
                Type::Struct { fields, .. } => {
                    at = at.wrapping_add(types.field_offset(ty, n as usize) as i64);
                    ty = fields[n as usize];
                }
                Type::Array { elem, .. } | Type::Vector { elem, .. } => {
                    at = at.wrapping_add(n.wrapping_mul(types.layout(*elem).size as i64));
                    ty = *elem;
                }
                _ => {}
            }
        }
        at
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        thread::forget_image(self.serial);
    }
}

fn as_bytes(slots: &mut [u64]) -> &mut [u8] {
    // SAFETY: any bytes are valid u64s, and the lengths agree.
    unsafe { std::slice::from_raw_parts_mut(slots.as_mut_ptr().cast(), slots.len() * 8) }
}

fn mask(v: u128, bits: u32) -> u128 {
    if bits >= 128 {
        v
    } else {
        v & ((1 << bits) - 1)
    }
}

fn sign_extend(v: u128, bits: u32) -> i128 {
    let shift = 128 - bits.clamp(1, 128);
    ((v << shift) as i128) >> shift
}

fn put_bits(out: &mut [u8], at: usize, bits: usize, v: u128) {
    if at.is_multiple_of(8) && bits.is_multiple_of(8) {
        let n = bits / 8;
        out[at / 8..at / 8 + n].copy_from_slice(&v.to_le_bytes()[..n]);
        return;
    }
    for i in 0..bits {
        if v >> i & 1 != 0 {
            out[(at + i) / 8] |= 1 << ((at + i) % 8);
        }
    }
}

fn is_defined(module: &Module, id: GlobalId) -> bool {
    let g = &module.globals[id];
    g.init.is_some() && g.linkage != Linkage::AvailableExternally
}

/// The least bytes of a variable that may get pages of its own.
pub const LARGE: usize = 64 << 10;

static SEPARATE_LARGE: AtomicBool = AtomicBool::new(false);

/// Gives large variables of programs placed from now on pages of their own.
pub fn separate_large_variables() {
    SEPARATE_LARGE.store(true, Ordering::Relaxed);
}

fn separates_large() -> bool {
    SEPARATE_LARGE.load(Ordering::Relaxed)
}

/// Offsets of all variables before their memory is mapped.
struct DataLayout {
    data: Vec<(GlobalId, usize)>,
    data_len: usize,
    /// Start of zero-initialized data, if a linker-defined symbol needs it.
    initialized: Option<usize>,
    constants: Vec<(GlobalId, usize)>,
    const_len: usize,
    tls_offsets: SecondaryMap<GlobalId, usize>,
    tls_len: usize,
    tls_align: usize,
    /// First and last variable of each named section, and the size of the last one.
    sections: HashMap<Box<str>, (GlobalId, GlobalId, usize)>,
}

impl DataLayout {
    fn of(module: &Module) -> DataLayout {
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
            } else if size >= LARGE && g.section.is_none() && separates_large() {
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
    fn map(&self, module: &Module) -> Result<(Mapping, Mapping, Option<ProgramLayout>), Error> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let Some(initialized) = self.initialized else {
            let data = Mapping::new(self.data_len, access)?;
            return Ok((Mapping::new(self.const_len, access)?, data, None));
        };
        let head = ProgramLayout::head(module);
        let constants = self.const_len.next_multiple_of(PAGE);
        // One more byte, so that the end is an address of the program, too.
        let mut first = Mapping::new(head + constants + self.data_len + 1, access)?;
        let second = Mapping {
            base: first.base + head + constants,
            len: self.data_len + 1,
        };
        first.len = head + constants;
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

    fn section_bound(&self, name: &str, globals: &SecondaryMap<GlobalId, usize>) -> Option<usize> {
        if let Some(section) = name.strip_prefix("__start_") {
            return self.sections.get(section).map(|s| globals[s.0]);
        }
        let section = name.strip_prefix("__stop_")?;
        self.sections.get(section).map(|s| globals[s.1] + s.2)
    }
}
