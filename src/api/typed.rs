//! Calls guest functions from Rust with checked signatures.
//!
//! Signatures are compared with the guest's, because a wrong one is an error here but memory
//! corruption in C. The types are known when the Rust code is compiled, so a call is an ordinary C
//! call of the function's address, without a list of arguments ([`Arguments::call`]). A signature
//! that C's rules for these types do not cover is called through a call plan.
//!
//! The meaning of the arguments is not checked, so creating a [`TypedFunc`] is `unsafe`.

use super::func;
use ompvm_ir::{FuncId, Function};
use ompvm_support::error::Error;
use ompvm_tier::process::{self, CallKind, Process};
use ompvm_tier::value::{GuestPtr, GuestValue, ValueKind};
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Most arguments of a call from Rust.
const MAX_ARGUMENTS: usize = 8;

/// An argument of a guest function: a scalar, a pointer, or a slice, of which the guest gets the
/// address.
pub trait Argument: sealed::Argument {
    /// Kind of the argument in the guest.
    const KIND: ValueKind;
    /// True if a C caller sign-extends it.
    const SIGNED: bool;
    /// Type with which C functions take the argument.
    type Native: Copy;
    /// Converts to a C argument.
    fn native(self) -> Self::Native;
    /// Converts to the low bits of a slot.
    fn slot(self) -> u64;
}

macro_rules! scalars {
    ($($t:ty),*) => {$(
        impl sealed::Argument for $t {}
        impl Argument for $t {
            const KIND: ValueKind = <$t as GuestValue>::KIND;
            const SIGNED: bool = <$t as GuestValue>::SIGNED;
            type Native = <$t as GuestValue>::Native;
            #[inline]
            fn native(self) -> Self::Native {
                self.to_native()
            }
            fn slot(self) -> u64 {
                self.to_slot()
            }
        }
    )*};
}
scalars!(
    i8, u8, i16, u16, i32, u32, i64, u64, isize, usize, bool, f32, f64
);

impl<T: 'static> sealed::Argument for GuestPtr<T> {}
impl<T: 'static> Argument for GuestPtr<T> {
    const KIND: ValueKind = ValueKind::Ptr;
    const SIGNED: bool = false;
    type Native = *mut c_void;
    #[inline]
    fn native(self) -> *mut c_void {
        self.to_native()
    }
    fn slot(self) -> u64 {
        self.to_slot()
    }
}

impl<T> sealed::Argument for &[T] {}
impl<T> Argument for &[T] {
    const KIND: ValueKind = ValueKind::Ptr;
    const SIGNED: bool = false;
    type Native = *mut c_void;
    #[inline]
    fn native(self) -> *mut c_void {
        self.as_ptr().cast_mut().cast()
    }
    fn slot(self) -> u64 {
        self.as_ptr().expose_provenance() as u64
    }
}

impl<T> sealed::Argument for &mut [T] {}
impl<T> Argument for &mut [T] {
    const KIND: ValueKind = ValueKind::Ptr;
    const SIGNED: bool = false;
    type Native = *mut c_void;
    #[inline]
    fn native(self) -> *mut c_void {
        self.as_mut_ptr().cast()
    }
    fn slot(self) -> u64 {
        self.as_mut_ptr().expose_provenance() as u64
    }
}

/// Restricts [`Argument`] and [`Arguments`] to the types of this file.
mod sealed {
    pub trait Argument {}
    pub trait Tuple {}
}

/// The arguments of a guest function: a tuple of up to eight [`Argument`]s.
pub trait Arguments: sealed::Tuple {
    /// Kinds of the arguments in the guest.
    const KINDS: &'static [ValueKind];
    /// For each argument, true if a C caller sign-extends it.
    const SIGNED: &'static [bool];
    /// Returns the arguments in slot form.
    fn slots(self) -> [u64; MAX_ARGUMENTS];
    /// Calls a C function with the arguments.
    ///
    /// # Safety
    /// `target` must be the address of a function with these parameters and the result `R`.
    unsafe fn call<R: GuestValue>(self, target: usize) -> R::Native;
}

macro_rules! tuples {
    ($(($($p:ident)*))*) => {$(
        impl<$($p: Argument),*> sealed::Tuple for ($($p,)*) {}
        impl<$($p: Argument),*> Arguments for ($($p,)*) {
            const KINDS: &'static [ValueKind] = &[$($p::KIND),*];
            const SIGNED: &'static [bool] = &[$($p::SIGNED),*];
            #[allow(non_snake_case, reason = "the tuple's fields are named as their types")]
            fn slots(self) -> [u64; MAX_ARGUMENTS] {
                let ($($p,)*) = self;
                let mut slots = [0; MAX_ARGUMENTS];
                let given: &[u64] = &[$($p.slot()),*];
                slots[..given.len()].copy_from_slice(given);
                slots
            }
            #[inline]
            #[allow(non_snake_case, reason = "the tuple's fields are named as their types")]
            unsafe fn call<Out: GuestValue>(self, target: usize) -> Out::Native {
                let ($($p,)*) = self;
                // SAFETY: `target` is a function of this type by this function's contract.
                unsafe {
                    let f = std::mem::transmute::<
                        usize,
                        extern "C-unwind" fn($($p::Native),*) -> Out::Native,
                    >(target);
                    f($($p.native()),*)
                }
            }
        }
    )*};
}
tuples! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E G) (A B C D E G H) (A B C D E G H I) }

/// A guest function with a checked signature. Threads may share it.
pub struct TypedFunc<'p, P, R> {
    process: &'p Process,
    id: FuncId,
    /// Address of the function if a C call with `P` and `R` fits it; else 0.
    target: usize,
    kind: CallKind,
    marker: PhantomData<fn(P) -> R>,
}

impl<P, R> fmt::Debug for TypedFunc<'_, P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "TypedFunc({})",
            self.process.image().module.functions[self.id].name
        )
    }
}

/// Returns true if a C call extends narrow arguments as the function expects, and no parameter has
/// a special attribute.
fn is_plain<P: Arguments>(function: &Function) -> bool {
    let params = function.params.iter().zip(P::KINDS).zip(P::SIGNED);
    let plain = params.into_iter().all(|((attrs, &kind), &signed)| {
        let narrow = matches!(kind, ValueKind::Int(bits) if bits < 32);
        attrs.byval.is_none() && !attrs.nest && (!narrow || attrs.signext == signed)
    });
    plain && function.params.len() == P::KINDS.len()
}

impl<'p, P: Arguments, R: GuestValue> TypedFunc<'p, P, R> {
    pub(super) fn new(process: &'p Process, name: &str) -> Result<Self, Error> {
        let image = process.image();
        let module = &image.module;
        let id = func::find(process, name)?;
        let function = &module.functions[id];
        let stub = image.func_ref(id).map_or(0, |f| f.stub);
        match process::signature(module, function) {
            Some((params, ret)) if params == P::KINDS && ret == R::KIND => Ok(TypedFunc {
                process,
                id,
                target: if is_plain::<P>(function) { stub } else { 0 },
                kind: process.call_kind(id),
                marker: PhantomData,
            }),
            Some((params, ret)) => Err(Error::Host(format!(
                "`{name}` is {}, not {}",
                show(&params, ret),
                show(P::KINDS, R::KIND)
            ))),
            None => Err(Error::Host(format!(
                "`{name}` has structs, vectors or variadic arguments, which Rust cannot pass"
            ))),
        }
    }

    /// Calls the function on this thread.
    ///
    /// # Errors
    /// Returns [`Error::Trap`] if the guest faults, see [after a trap](super#after-a-trap);
    /// [`Error::Host`] if it calls `exit`.
    #[inline]
    pub fn call(&self, arguments: P) -> Result<R, Error> {
        if self.target == 0 {
            return self.call_by_plan(arguments);
        }
        let mut out = MaybeUninit::<R::Native>::uninit();
        // SAFETY: `new` checked the signature, and the caller of `typed_func` vouched for its
        // meaning. Slices and scalars have nothing to drop. Without an error the function has
        // returned, so `out` is set.
        unsafe {
            let target = self.target;
            self.process.call_guest(self.kind, || {
                out.write(arguments.call::<R>(target));
            })?;
            Ok(R::from_native(out.assume_init()))
        }
    }

    #[cold]
    fn call_by_plan(&self, arguments: P) -> Result<R, Error> {
        let mut slots = arguments.slots();
        let slots = &mut slots[..P::KINDS.len()];
        for (slot, kind) in slots.iter_mut().zip(P::KINDS) {
            if let ValueKind::Int(bits) = *kind
                && bits < 64
            {
                *slot &= (1 << bits) - 1;
            }
        }
        let mut ret = 0;
        // SAFETY: `new` checked the signature, and the caller of `typed_func` vouched for its
        // meaning.
        unsafe { self.process.call(self.id, slots, &mut ret)? };
        Ok(R::from_slot(ret))
    }
}

fn show(params: &[ValueKind], ret: ValueKind) -> String {
    let list: Vec<_> = params.iter().map(ToString::to_string).collect();
    format!("{ret}({})", list.join(", "))
}
