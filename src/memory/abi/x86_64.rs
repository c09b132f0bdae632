//! Call plans on x86-64 (System V psABI 1.0, section 3.2.3, as LLVM applies it to IR types).
//!
//! A plan is a list of moves between slots (the form of SSA values in an interpreter frame) and
//! registers or stack words, made once per signature or variadic call site. clang has already
//! turned C's struct rules into IR types and attributes, so the rules here are LLVM's: every
//! first-class aggregate is flattened into its leaves, and a leaf that finds no register goes to
//! the stack.
//!
//! Vectors of 256 bits go to ymm registers, since code is compiled for this processor's features,
//! and to the stack in variadic calls.
//!
//! Refuses, with the reason: vectors of other widths beyond 128 bits (their registers depend on the
//! callee's attributes), vectors of 256 bits on processors without AVX, values that LLVM splits
//! (integers of 65 to 127 bits, short vectors of small integers), conventions other than C, and
//! struct results that need more registers than there are.

mod registers;
mod variadic;

pub use registers::{RegisterCall, ResultRegisters, Word};
pub use variadic::{SAVE_AREA, VariadicArgs};

use super::x86_64_calls::{NativeFrame, Outgoing, entry_address, raw_call, wide_entry_address};
use ompvm_ir::{FloatKind, Function, Module, ParamAttrs, Type, TypeId};
use std::mem::MaybeUninit;
use std::ptr;

/// The native location of one leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Location {
    /// General register by number in argument (or result) order.
    Gpr(u8),
    /// Vector register.
    Xmm(u8),
    /// x87 stack position (results only).
    St(u8),
    /// The static chain register.
    Nest,
    /// Byte offset in the stack arguments.
    Stack(u32),
}

/// One leaf of an argument or result.
#[derive(Clone, Copy, Debug)]
struct Move {
    place: Location,
    /// Index of the argument.
    arg: u32,
    /// Byte offset of the leaf in the argument's slots.
    offset: u32,
    /// Bytes of the leaf in slot form.
    bytes: u8,
    /// Significant bits of an integer leaf of at most 64 bits; 0 for everything else.
    bits: u8,
    /// True if the leaf is sign-extended to 64 bits for a native call.
    sign: bool,
    /// True if the value has its slots to itself, so that the rest of them is cleared.
    whole: bool,
}

/// An argument copied to the stack (`byval`).
#[derive(Clone, Copy, Debug)]
struct ByVal {
    arg: u32,
    bytes: u32,
    stack: u32,
}

/// The native locations of all arguments and of the result of one signature or one variadic call
/// site.
#[derive(Clone, Debug)]
pub struct CallPlan {
    moves: Box<[Move]>,
    copies: Box<[ByVal]>,
    ret: Box<[Move]>,
    stack_bytes: u32,
    /// Alignment of the stack arguments: a power of two, at least 16.
    stack_align: u32,
    gprs: u8,
    xmms: u8,
    x87: u8,
    variadic: bool,
    /// True if an argument or the result has a vector of 256 bits in a register.
    wide: bool,
    /// The result's slots (8 bytes each).
    ret_slots: u32,
    /// Index of the argument that is the hidden pointer to the result, which rax returns too.
    sret: Option<u32>,
    simple_ints: Option<u8>,
    simple_doubles: Option<u8>,
}

/// The state of `va_start`: the places behind those of the fixed parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaStart {
    /// Bytes of general registers used by the fixed parameters.
    pub gp_offset: u32,
    /// 48 plus bytes of vector registers used by the fixed parameters.
    pub fp_offset: u32,
    /// Byte offset of the first variadic argument in the frame's stack arguments.
    pub overflow: u32,
}

/// Returns a fingerprint of what decides where the fixed arguments and the result go and how their
/// slots look, 0 for whole words in integer registers. `args` has the type and the attributes of
/// each.
///
/// Two sides of a call with different fingerprints can differ in every place, so only a native call
/// passes between them what machine code would. `sret` counts, because the callee returns that
/// argument, too. Types count, because a slot holds a structure or a wider integer in another form
/// than the integer that the other side declares.
pub fn fingerprint<'a>(
    module: &Module,
    args: impl Iterator<Item = (TypeId, &'a ParamAttrs)>,
    ret: TypeId,
) -> u32 {
    // FNV-1a over whole numbers.
    let add = |hash: u32, number: u32| (hash ^ number).wrapping_mul(0x0100_0193);
    let form = |ty: TypeId| match &module.types[ty] {
        Type::Int(64) | Type::Ptr(_) | Type::Void => None,
        Type::Int(bits) => Some((4, *bits)),
        Type::Float(kind) => Some((5, *kind as u32)),
        Type::Vector { .. } => Some((6, module.layout(ty).size as u32)),
        _ => Some((7, module.layout(ty).size as u32)),
    };
    let result = form(ret).map_or(0, |(kind, size)| add(add(0, kind), size));
    args.enumerate().fold(result, |hash, (i, (ty, attrs))| {
        let (kind, size) = match attrs {
            ParamAttrs { byval: Some(_), .. } => (1, 0),
            ParamAttrs { nest: true, .. } => (2, 0),
            ParamAttrs { sret: Some(_), .. } => (3, 0),
            _ => match form(ty) {
                Some(form) => form,
                None => return hash,
            },
        };
        let hash = add(add(add(hash, kind), i as u32 + 1), size);
        match attrs.byval {
            Some(ty) => {
                let bytes = module.layout(ty).size as u32;
                add(add(hash, bytes), attrs.align.max(8))
            }
            None => hash,
        }
    })
}

/// Bits of a ymm register.
const WIDE_BITS: u64 = 256;

/// Returns the address that the stub of a function jumps to until the function is compiled.
pub fn first_entry(module: &Module, types: impl IntoIterator<Item = TypeId>) -> usize {
    // Without AVX such a function has no plan, and an entry from native code is refused.
    let wide = types.into_iter().any(|ty| has_wide(module, ty));
    match wide && std::arch::is_x86_feature_detected!("avx") {
        true => wide_entry_address(),
        false => entry_address(),
    }
}

/// Returns true if a value of this type has vectors of 256 bits.
fn has_wide(module: &Module, ty: TypeId) -> bool {
    match &module.types[ty] {
        Type::Vector { scalable: true, .. } => false,
        Type::Vector { elem, len, .. } => {
            module.types.lane_bits(*elem) * u64::from(*len) == WIDE_BITS
        }
        Type::Array { elem, .. } => has_wide(module, *elem),
        Type::Struct { fields, .. } => fields.iter().any(|&field| has_wide(module, field)),
        _ => false,
    }
}

/// A leaf without a location.
struct Leaf {
    offset: u32,
    class: Class,
    whole: bool,
}

#[derive(Clone, Copy)]
enum Class {
    /// At most 64 bits.
    Int(u8),
    /// 128 bits.
    Wide,
    /// Bytes in a vector register.
    Sse(u8),
    X87,
}

fn leaves(
    module: &Module,
    ty: TypeId,
    offset: u32,
    whole: bool,
    out: &mut Vec<Leaf>,
) -> Result<(), String> {
    let class = match &module.types[ty] {
        Type::Void => return Ok(()),
        Type::Int(bits @ 1..=64) => Class::Int(*bits as u8),
        Type::Int(128) => Class::Wide,
        // Up to 127 bits, LLVM passes two words that need not stay together.
        Type::Int(bits) => return Err(format!("an integer of {bits} bits passed to native code")),
        Type::Ptr(_) => Class::Int(64),
        Type::Float(kind) => match kind {
            FloatKind::Half | FloatKind::BFloat => Class::Sse(2),
            FloatKind::Float => Class::Sse(4),
            FloatKind::Double => Class::Sse(8),
            FloatKind::Fp128 => Class::Sse(16),
            FloatKind::X86Fp80 => Class::X87,
        },
        Type::Vector {
            elem,
            len,
            scalable,
        } => {
            let lane = module.types.lane_bits(*elem);
            let bits = lane * u64::from(*len);
            let wide =
                bits == WIDE_BITS && lane <= 64 && std::arch::is_x86_feature_detected!("avx");
            if *scalable || bits > 128 && !wide {
                return Err(format!("a vector of {bits} bits passed to native code"));
            }
            let integers = matches!(module.types[*elem], Type::Int(_));
            if lane < 8 || !lane.is_power_of_two() || integers && lane > 64 {
                return Err(format!(
                    "a vector of {lane}-bit lanes passed to native code"
                ));
            }
            // LLVM passes these lane by lane.
            if integers && lane <= 16 && bits < 64 && !len.is_power_of_two() {
                return Err(format!("a vector of {bits} bits passed to native code"));
            }
            if *len == 1 && !matches!(module.types[*elem], Type::Float(_)) {
                Class::Int(lane.min(64) as u8)
            } else {
                Class::Sse((bits / 8) as u8)
            }
        }
        Type::Array { elem, len } => {
            let size = module.layout(*elem).size as u32;
            if *len > 64 {
                return Err("a long array passed by value to native code".into());
            }
            for i in 0..*len as u32 {
                leaves(module, *elem, offset + i * size, false, out)?;
            }
            return Ok(());
        }
        Type::Struct { fields, .. } => {
            for (i, &field) in fields.iter().enumerate() {
                let at = offset + module.types.field_offset(ty, i) as u32;
                leaves(module, field, at, false, out)?;
            }
            return Ok(());
        }
        other => return Err(format!("a value of type {other:?} passed to native code")),
    };
    out.push(Leaf {
        offset,
        class,
        whole,
    });
    Ok(())
}

fn int_move(place: Location, arg: u32, offset: u32, bits: u8, sign: bool, whole: bool) -> Move {
    Move {
        place,
        arg,
        offset,
        bytes: bits.div_ceil(8),
        bits,
        sign,
        whole,
    }
}

/// Registers and stack bytes allocated so far.
#[derive(Default)]
struct Allocation {
    gpr: u8,
    xmm: u8,
    stack: u32,
    stack_align: u32,
    variadic: bool,
    /// True once a ymm register is allocated.
    wide: bool,
}

impl Allocation {
    fn stack(&mut self, bytes: u32, align: u32) -> u32 {
        self.stack_align = self.stack_align.max(align);
        let at = self.stack.next_multiple_of(align);
        self.stack = at + bytes.next_multiple_of(8);
        at
    }
    fn gpr(&mut self) -> Location {
        if self.gpr < 6 {
            self.gpr += 1;
            Location::Gpr(self.gpr - 1)
        } else {
            Location::Stack(self.stack(8, 8))
        }
    }
    fn xmm(&mut self, bytes: u8) -> Location {
        let wide = u64::from(bytes) * 8 == WIDE_BITS;
        if self.xmm < 8 && !(wide && self.variadic) {
            self.wide |= wide;
            self.xmm += 1;
            Location::Xmm(self.xmm - 1)
        } else {
            let align = u32::from(bytes).next_power_of_two().max(8);
            Location::Stack(self.stack(u32::from(bytes), align))
        }
    }
}

/// The arguments' part of a plan.
struct ArgumentPlan {
    moves: Vec<Move>,
    copies: Vec<ByVal>,
    alloc: Allocation,
    sret: Option<u32>,
    /// Number of arguments if all are whole integers in registers.
    simple_ints: Option<u8>,
    /// Number of arguments if all are doubles in registers.
    simple_doubles: Option<u8>,
    /// Leaves of the current argument.
    leaves: Vec<Leaf>,
}

impl Default for ArgumentPlan {
    fn default() -> ArgumentPlan {
        ArgumentPlan {
            moves: Vec::new(),
            copies: Vec::new(),
            alloc: Allocation::default(),
            sret: None,
            simple_ints: Some(0),
            simple_doubles: Some(0),
            leaves: Vec::new(),
        }
    }
}

impl ArgumentPlan {
    fn add(
        &mut self,
        module: &Module,
        arg: u32,
        ty: TypeId,
        attrs: &ParamAttrs,
    ) -> Result<(), String> {
        if let Some(inner) = attrs.byval {
            let bytes = module.layout(inner).size as u32;
            let align = attrs.align.max(8);
            self.copies.push(ByVal {
                arg,
                bytes,
                stack: self.alloc.stack(bytes, align),
            });
            (self.simple_ints, self.simple_doubles) = (None, None);
            return Ok(());
        }
        if attrs.nest {
            self.moves
                .push(int_move(Location::Nest, arg, 0, 64, false, true));
            (self.simple_ints, self.simple_doubles) = (None, None);
            return Ok(());
        }
        if attrs.sret.is_some() {
            self.sret = Some(arg);
            self.simple_ints = None;
        }
        let mut list = std::mem::take(&mut self.leaves);
        list.clear();
        leaves(module, ty, 0, true, &mut list)?;
        for leaf in &list {
            self.add_leaf(arg, leaf, attrs.signext);
        }
        self.leaves = list;
        Ok(())
    }

    fn add_leaf(&mut self, arg: u32, leaf: &Leaf, signext: bool) {
        let Leaf { offset, whole, .. } = *leaf;
        let float_move = |place, bytes| Move {
            place,
            arg,
            offset,
            bytes,
            bits: 0,
            sign: false,
            whole,
        };
        match leaf.class {
            Class::Int(bits) => {
                let place = self.alloc.gpr();
                self.simple_doubles = None;
                let exact = bits >= 32 || !signext;
                self.simple_ints = self
                    .simple_ints
                    .filter(|_| whole && exact && matches!(place, Location::Gpr(_)))
                    .map(|n| n + 1);
                self.moves
                    .push(int_move(place, arg, offset, bits, signext, whole));
            }
            Class::Wide => {
                (self.simple_ints, self.simple_doubles) = (None, None);
                let (lo, hi) = if self.alloc.gpr + 2 <= 6 {
                    (self.alloc.gpr(), self.alloc.gpr())
                } else {
                    let at = self.alloc.stack(16, 16);
                    (Location::Stack(at), Location::Stack(at + 8))
                };
                self.moves.push(int_move(lo, arg, offset, 64, false, whole));
                self.moves
                    .push(int_move(hi, arg, offset + 8, 64, false, whole));
            }
            Class::Sse(bytes) => {
                self.simple_ints = None;
                let place = self.alloc.xmm(bytes);
                self.simple_doubles = self
                    .simple_doubles
                    .filter(|_| whole && bytes == 8 && matches!(place, Location::Xmm(_)))
                    .map(|n| n + 1);
                self.moves.push(float_move(place, bytes));
            }
            Class::X87 => {
                (self.simple_ints, self.simple_doubles) = (None, None);
                let place = Location::Stack(self.alloc.stack(16, 16));
                self.moves.push(float_move(place, 10));
            }
        }
    }
}

impl CallPlan {
    /// Plans a call with these actual arguments (variadic ones included).
    ///
    /// `_fn_ty` is the call site's function type; the arguments' own types decide.
    ///
    /// # Errors
    /// The reason why such a call cannot be made, as a phrase.
    pub fn new(
        module: &Module,
        _fn_ty: TypeId,
        args: &[(TypeId, ParamAttrs)],
        ret: (TypeId, &ParamAttrs),
        variadic: bool,
    ) -> Result<CallPlan, String> {
        let mut plan = ArgumentPlan::default();
        plan.alloc.variadic = variadic;
        for (i, (ty, attrs)) in args.iter().enumerate() {
            plan.add(module, i as u32, *ty, attrs)?;
        }
        let (ret_moves, x87) = plan_return(module, ret.0)?;
        let ret_bytes = module.layout(ret.0).size as u32;
        let (mut ints, mut doubles) = (plan.simple_ints, plan.simple_doubles);
        match &module.types[ret.0] {
            Type::Void => doubles = None,
            Type::Int(1..=64) | Type::Ptr(_) => doubles = None,
            Type::Float(FloatKind::Double) => ints = None,
            _ => (ints, doubles) = (None, None),
        }
        if variadic {
            (ints, doubles) = (None, None);
        }
        Ok(CallPlan {
            moves: plan.moves.into(),
            copies: plan.copies.into(),
            ret: ret_moves.into(),
            stack_bytes: plan.alloc.stack,
            stack_align: plan.alloc.stack_align.max(16),
            gprs: plan.alloc.gpr,
            xmms: plan.alloc.xmm,
            x87,
            variadic,
            wide: plan.alloc.wide || has_wide(module, ret.0),
            ret_slots: ret_bytes.div_ceil(8),
            sret: plan.sret,
            simple_ints: ints,
            simple_doubles: doubles,
        })
    }

    /// Plans a call with a function's own fixed parameters.
    ///
    /// # Errors
    /// The same as for [`CallPlan::new`].
    pub fn for_function(module: &Module, function: &Function) -> Result<CallPlan, String> {
        let (ret, params, variadic) = function.signature(module);
        let args: Vec<_> = params
            .iter()
            .enumerate()
            .map(|(i, &ty)| (ty, function.params.get(i).cloned().unwrap_or_default()))
            .collect();
        CallPlan::new(
            module,
            function.ty,
            &args,
            (ret, &function.ret_attrs),
            variadic,
        )
    }

    /// Calls a native function.
    ///
    /// # Safety
    /// `target` is a function of the planned signature; `args[i]` points to the slots of argument
    /// `i`, `ret` to the slots of the result (may dangle if there are none). The callee may unwind
    /// or be left by a jump, so this function owns nothing but memory.
    pub unsafe fn call(&self, target: usize, args: &[*const u64], ret: *mut u64) {
        const INLINE: usize = 48;
        let words = self.stack_bytes.div_ceil(8) as usize;
        if words == 0 {
            // SAFETY: no move goes to the stack; target, arguments and result are as planned by
            // contract.
            unsafe { self.call_with(target, args, ret, ptr::null_mut(), 0) }
        } else if words <= INLINE {
            let mut stack = [0u64; INLINE];
            // SAFETY: the buffer holds all words; target, arguments and result are as planned by
            // contract.
            unsafe { self.call_with(target, args, ret, stack.as_mut_ptr(), words) }
        } else {
            let mut stack = vec![0u64; words];
            // SAFETY: the buffer has exactly these words; target, arguments and result are as
            // planned by contract.
            unsafe { self.call_with(target, args, ret, stack.as_mut_ptr(), words) }
        }
    }

    /// Calls a native function with a buffer for its stack arguments.
    ///
    /// # Safety
    /// The contract of [`CallPlan::call`]; `stack` has `words` words.
    #[inline(always)]
    unsafe fn call_with(
        &self,
        target: usize,
        args: &[*const u64],
        ret: *mut u64,
        stack: *mut u64,
        words: usize,
    ) {
        // Registers that no argument uses stay uninitialized: the callee does not read them.
        let mut out = MaybeUninit::<Outgoing>::uninit();
        let out = out.as_mut_ptr();
        // SAFETY: every move stays inside the slots and buffers that the plan was made for.
        unsafe {
            (*out).stack = stack;
            (*out).stack_words = words as u64;
            (*out).stack_mask = !(u64::from(self.stack_align) - 1);
            (*out).rax = u64::from(self.xmms);
            (*out).ret_x87 = u64::from(self.x87);
            (*out).is_wide = u64::from(self.wide);
            let stack: *mut u8 = stack.cast();
            for m in &self.moves {
                let from = args[m.arg as usize].cast::<u8>().add(m.offset as usize);
                match m.place {
                    Location::Gpr(n) => (*out).gpr[n as usize] = load_int(from, m),
                    Location::Nest => (*out).nest = load_int(from, m),
                    Location::Xmm(n) => {
                        let to: *mut u8 = match self.wide {
                            true => (&raw mut (*out).wide.arguments[n as usize]).cast(),
                            false => (&raw mut (*out).xmm[n as usize]).cast(),
                        };
                        copy_small(from, to, m.bytes);
                    }
                    Location::Stack(at) if m.bits != 0 => {
                        stack
                            .add(at as usize)
                            .cast::<u64>()
                            .write(load_int(from, m));
                    }
                    Location::Stack(at) => copy_small(from, stack.add(at as usize), m.bytes),
                    Location::St(_) => {}
                }
            }
            for c in &self.copies {
                let from = ptr::with_exposed_provenance::<u8>(*args[c.arg as usize] as usize);
                ptr::copy_nonoverlapping(from, stack.add(c.stack as usize), c.bytes as usize);
            }
            raw_call(target, out);
            for m in &self.ret {
                let to = ret.cast::<u8>().add(m.offset as usize);
                match m.place {
                    Location::Gpr(n) => store_int(to, m, (*out).ret_gpr[n as usize]),
                    Location::Xmm(n) if self.wide => {
                        store_bytes(to, m, (&raw const (*out).wide.results[n as usize]).cast())
                    }
                    Location::Xmm(n) => {
                        store_bytes(to, m, (&raw const (*out).ret_xmm[n as usize]).cast())
                    }
                    Location::St(n) => {
                        store_bytes(to, m, (&raw const (*out).ret_st[n as usize]).cast())
                    }
                    Location::Nest | Location::Stack(_) => {}
                }
            }
        }
    }

    /// Writes the parameters' slots from the frame of a call from native code.
    ///
    /// # Safety
    /// The frame belongs to a call with the planned signature; `dst[i]` points to the slots of
    /// parameter `i`.
    pub unsafe fn read_args(&self, frame: &NativeFrame, dst: &[*mut u64]) {
        // SAFETY: every move stays inside the slots and the frame that the plan was made for.
        unsafe {
            for m in &self.moves {
                let to = dst[m.arg as usize].cast::<u8>().add(m.offset as usize);
                match m.place {
                    Location::Gpr(n) => store_int(to, m, frame.gpr[n as usize]),
                    Location::Nest => store_int(to, m, frame.nest),
                    Location::Xmm(n) if self.wide => {
                        let from = &raw const (*frame.wide).arguments[n as usize];
                        store_bytes(to, m, from.cast());
                    }
                    Location::Xmm(n) => {
                        store_bytes(to, m, (&raw const frame.xmm[n as usize]).cast())
                    }
                    Location::Stack(at) => {
                        let from = frame.stack.add(at as usize);
                        if m.bits != 0 {
                            store_int(to, m, from.cast::<u64>().read());
                        } else {
                            store_bytes(to, m, from);
                        }
                    }
                    Location::St(_) => {}
                }
            }
            for c in &self.copies {
                *dst[c.arg as usize] = frame.stack.add(c.stack as usize).expose_provenance() as u64;
            }
        }
    }

    /// Writes the result of a call from native code.
    ///
    /// # Safety
    /// `ret` points to the result's slots (may dangle if there are none).
    pub unsafe fn write_ret(&self, frame: &mut NativeFrame, ret: *const u64) {
        frame.ret_x87 = u64::from(self.x87);
        // SAFETY: every move stays inside the result's slots and the frame.
        unsafe {
            for m in &self.ret {
                let from = ret.cast::<u8>().add(m.offset as usize);
                match m.place {
                    Location::Gpr(n) => frame.ret_gpr[n as usize] = load_int(from, m),
                    Location::Xmm(n) if self.wide => {
                        let to = &raw mut (*frame.wide).results[n as usize];
                        copy_small(from, to.cast(), m.bytes);
                    }
                    Location::Xmm(n) => {
                        copy_small(from, (&raw mut frame.ret_xmm[n as usize]).cast(), m.bytes);
                    }
                    Location::St(n) => {
                        copy_small(from, (&raw mut frame.ret_st[n as usize]).cast(), m.bytes);
                    }
                    Location::Nest | Location::Stack(_) => {}
                }
            }
        }
        if let Some(arg) = self.sret {
            // The hidden pointer is the first general register in every C signature.
            let found = self.moves.iter().find(|m| m.arg == arg);
            if let Some(Move {
                place: Location::Gpr(n),
                ..
            }) = found
            {
                frame.ret_gpr[0] = frame.gpr[*n as usize];
            }
        }
    }

    /// Returns `Some(n)` if all `n` arguments are integers or pointers in registers, passed as
    /// their slots are, and the result is void, a pointer or an integer of at most 64 bits (rax's
    /// upper bits may be anything). Always `None` for variadic calls.
    pub fn simple_ints(&self) -> Option<usize> {
        self.simple_ints.map(usize::from)
    }

    /// Returns `Some(n)` if all `n` arguments and the result are `double` in registers.
    pub fn simple_doubles(&self) -> Option<usize> {
        self.simple_doubles.map(usize::from)
    }

    /// Returns the position of the first variadic argument, for a plan of the fixed parameters.
    pub fn va_start(&self) -> VaStart {
        VaStart {
            gp_offset: 8 * u32::from(self.gprs),
            fp_offset: 48 + 16 * u32::from(self.xmms),
            overflow: self.stack_bytes,
        }
    }

    /// Returns the number of 8-byte slots of the result.
    pub fn ret_slots(&self) -> usize {
        self.ret_slots as usize
    }

    /// Returns true if the call is variadic.
    pub fn is_variadic(&self) -> bool {
        self.variadic
    }
}

fn plan_return(module: &Module, ty: TypeId) -> Result<(Vec<Move>, u8), String> {
    let mut list = Vec::new();
    leaves(module, ty, 0, true, &mut list)?;
    let (mut gpr, mut xmm, mut st) = (0u8, 0u8, 0u8);
    let mut moves = Vec::new();
    for leaf in &list {
        let Leaf { offset, whole, .. } = *leaf;
        match leaf.class {
            Class::Int(bits) => {
                moves.push(int_move(Location::Gpr(gpr), 0, offset, bits, false, whole));
                gpr += 1;
            }
            Class::Wide => {
                moves.push(int_move(Location::Gpr(gpr), 0, offset, 64, false, whole));
                moves.push(int_move(
                    Location::Gpr(gpr + 1),
                    0,
                    offset + 8,
                    64,
                    false,
                    whole,
                ));
                gpr += 2;
            }
            Class::Sse(bytes) => {
                moves.push(Move {
                    place: Location::Xmm(xmm),
                    arg: 0,
                    offset,
                    bytes,
                    bits: 0,
                    sign: false,
                    whole,
                });
                xmm += 1;
            }
            Class::X87 => {
                moves.push(Move {
                    place: Location::St(st),
                    arg: 0,
                    offset,
                    bytes: 10,
                    bits: 0,
                    sign: false,
                    whole,
                });
                st += 1;
            }
        }
    }
    if gpr > 3 || xmm > 4 || st > 2 {
        return Err("a result that needs more registers than there are".into());
    }
    Ok((moves, st))
}

/// Loads an integer leaf and extends it to 64 bits.
///
/// # Safety
/// `from` has the move's bytes.
#[inline(always)]
unsafe fn load_int(from: *const u8, m: &Move) -> u64 {
    let mut v = 0u64;
    // SAFETY: at most eight bytes, readable by contract.
    unsafe {
        match m.bytes {
            8 => v = from.cast::<u64>().read_unaligned(),
            4 => v = u64::from(from.cast::<u32>().read_unaligned()),
            n => ptr::copy_nonoverlapping(from, (&raw mut v).cast(), n as usize),
        }
    }
    let shift = 64 - u32::from(m.bits);
    if m.sign {
        ((v << shift) as i64 >> shift) as u64
    } else {
        (v << shift) >> shift
    }
}

/// Stores an integer leaf, truncated to its bits.
///
/// # Safety
/// `to` has the move's bytes, or a whole slot if the value has it to itself.
#[inline(always)]
unsafe fn store_int(to: *mut u8, m: &Move, value: u64) {
    let shift = 64 - u32::from(m.bits);
    let v = (value << shift) >> shift;
    // SAFETY: writable for that length by contract.
    unsafe {
        if m.whole {
            to.cast::<u64>().write_unaligned(v);
        } else {
            ptr::copy_nonoverlapping((&raw const v).cast(), to, m.bytes as usize);
        }
    }
}

/// Copies a few bytes, with single moves for the common lengths.
///
/// # Safety
/// Both have `bytes` bytes.
#[inline(always)]
unsafe fn copy_small(from: *const u8, to: *mut u8, bytes: u8) {
    // SAFETY: both are valid for `bytes` bytes by contract.
    unsafe {
        match bytes {
            8 => to
                .cast::<u64>()
                .write_unaligned(from.cast::<u64>().read_unaligned()),
            4 => to
                .cast::<u32>()
                .write_unaligned(from.cast::<u32>().read_unaligned()),
            n => ptr::copy_nonoverlapping(from, to, n as usize),
        }
    }
}

/// Stores a leaf that is not an integer.
///
/// # Safety
/// `from` has the move's bytes; `to` has them too, or whole slots if the value has them to itself.
#[inline(always)]
unsafe fn store_bytes(to: *mut u8, m: &Move, from: *const u8) {
    // SAFETY: both are valid for these lengths by contract.
    unsafe {
        if m.whole && !m.bytes.is_multiple_of(8) {
            let slots = usize::from(m.bytes).div_ceil(8);
            ptr::write_bytes(to.cast::<u64>(), 0, slots);
        }
        copy_small(from, to, m.bytes);
    }
}
