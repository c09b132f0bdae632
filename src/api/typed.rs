//! Calls guest functions from Rust with checked signatures.
//!
//! Signatures are compared with the guest's, because a wrong one is an error here but memory
//! corruption in C. The types are known when the Rust code is compiled, so each argument goes
//! straight to its register. A signature with more arguments than
//! registers, or with special attributes, is called through a call plan.
//!
//! The meaning of the arguments is not checked, so creating a [`TypedFunc`] is `unsafe`.

use super::func;
use super::registers::{NextRegister, register_call};
use ompvm_ir::{FuncId, Function};
use ompvm_memory::activation::ArgumentRegisters;
use ompvm_support::error::Error;
use ompvm_tier::process::{self, Process, RegisterCall};
use ompvm_tier::value::{GuestPtr, GuestValue, ValueKind};
use std::fmt;
use std::marker::PhantomData;

/// Most arguments of a call from Rust.
const MAX_ARGUMENTS: usize = 8;

/// An argument of a guest function: a scalar, a pointer, or a slice, of which the guest gets the
/// address.
pub trait Argument: sealed::Argument {
    /// Kind of the argument in the guest.
    const KIND: ValueKind;
    /// True if a C caller sign-extends it.
    const SIGNED: bool;
    /// Converts to the low bits of a slot, sign-extended if signed.
    fn slot(self) -> u64;
}

macro_rules! scalars {
    ($($t:ty),*) => {$(
        impl sealed::Argument for $t {}
        impl Argument for $t {
            const KIND: ValueKind = <$t as GuestValue>::KIND;
            const SIGNED: bool = <$t as GuestValue>::SIGNED;
            #[inline]
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
    #[inline]
    fn slot(self) -> u64 {
        self.to_slot()
    }
}

impl<T> sealed::Argument for &[T] {}
impl<T> Argument for &[T] {
    const KIND: ValueKind = ValueKind::Ptr;
    const SIGNED: bool = false;
    #[inline]
    fn slot(self) -> u64 {
        self.as_ptr().expose_provenance() as u64
    }
}

impl<T> sealed::Argument for &mut [T] {}
impl<T> Argument for &mut [T] {
    const KIND: ValueKind = ValueKind::Ptr;
    const SIGNED: bool = false;
    #[inline]
    fn slot(self) -> u64 {
        self.as_mut_ptr().expose_provenance() as u64
    }
}

/// Restricts [`Argument`] and [`Arguments`] to the types of this file.
mod sealed {
    use ompvm_memory::activation::ArgumentRegisters;

    pub trait Argument {}
    pub trait Tuple {
        /// Returns the argument registers; those for integers and for numbers must suffice.
        fn registers(self) -> ArgumentRegisters;
    }
}

/// The arguments of a guest function: a tuple of up to eight [`Argument`]s.
pub trait Arguments: sealed::Tuple {
    /// Kinds of the arguments in the guest.
    const KINDS: &'static [ValueKind];
    /// For each argument, true if a C caller sign-extends it.
    const SIGNED: &'static [bool];
    /// Returns the arguments in slot form.
    fn slots(self) -> [u64; MAX_ARGUMENTS];
}

macro_rules! tuples {
    ($(($($p:ident)*))*) => {$(
        impl<$($p: Argument),*> sealed::Tuple for ($($p,)*) {
            #[inline]
            #[allow(non_snake_case, reason = "the tuple's fields are named as their types")]
            #[allow(unused, reason = "a tuple may be empty")]
            fn registers(self) -> ArgumentRegisters {
                let ($($p,)*) = self;
                let mut registers = ArgumentRegisters::undefined();
                let mut next = NextRegister::default();
                $(registers.set(next.take($p::KIND), $p.slot());)*
                registers
            }
        }
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
        }
    )*};
}
tuples! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E G) (A B C D E G H) (A B C D E G H I) }

/// A guest function with a checked signature. Threads may share it.
pub struct TypedFunc<'p, P, R> {
    process: &'p Process,
    id: FuncId,
    /// The call if the arguments all go in registers, as C callers extend them.
    call: Option<RegisterCall>,
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

/// Returns true if a C call extends narrow arguments as the function expects.
fn is_plain<P: Arguments>(function: &Function) -> bool {
    let mut params = function.params.iter().zip(P::KINDS).zip(P::SIGNED);
    params.all(|((attrs, &kind), &signed)| {
        let narrow = matches!(kind, ValueKind::Int(bits) if bits < 32);
        !narrow || attrs.signext == signed
    })
}

impl<'p, P: Arguments, R: GuestValue> TypedFunc<'p, P, R> {
    pub(super) fn new(process: &'p Process, name: &str) -> Result<Self, Error> {
        let image = process.image();
        let module = &image.module;
        let id = func::find(process, name)?;
        let function = &module.functions[id];
        let call = || register_call(process, id, P::KINDS, R::KIND);
        match process::signature(module, function) {
            Some((params, ret)) if params == P::KINDS && ret == R::KIND => Ok(TypedFunc {
                process,
                id,
                call: is_plain::<P>(function).then(call).flatten(),
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
        let Some(call) = &self.call else {
            return self.call_by_plan(arguments);
        };
        let registers = arguments.registers();
        // SAFETY: `new` checked the signature and that the registers suffice, and the caller of
        // `typed_func` vouched for its meaning.
        let result = unsafe { self.process.call_registers(call, &registers)? };
        Ok(R::from_slot(result))
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
