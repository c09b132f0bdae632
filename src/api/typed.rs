//! Guest functions called from Rust with checked signatures.
//!
//! Why signatures are compared with the guest's: a wrong one is an error here and memory
//! corruption in C. What not: what the arguments mean, which is why making one is `unsafe`.

use crate::ir::{FuncId, GlobalRef};
use crate::support::error::Error;
use crate::tier::process::{self, Process};
use crate::tier::value::{GuestPtr, GuestValue, ValueKind};
use std::fmt;
use std::marker::PhantomData;

/// One argument of a guest function: a scalar, a pointer, or a slice (of which the guest gets the
/// address).
pub trait Argument {
    /// What the guest sees.
    const KIND: ValueKind;
    /// In the low bits of a slot.
    fn slot(self) -> u64;
}

macro_rules! scalars {
    ($($t:ty),*) => {$(
        impl Argument for $t {
            const KIND: ValueKind = <$t as GuestValue>::KIND;
            fn slot(self) -> u64 {
                self.to_slot()
            }
        }
    )*};
}
scalars!(
    i8, u8, i16, u16, i32, u32, i64, u64, isize, usize, bool, f32, f64
);

impl<T: 'static> Argument for GuestPtr<T> {
    const KIND: ValueKind = ValueKind::Ptr;
    fn slot(self) -> u64 {
        self.to_slot()
    }
}

impl<T> Argument for &[T] {
    const KIND: ValueKind = ValueKind::Ptr;
    fn slot(self) -> u64 {
        self.as_ptr().expose_provenance() as u64
    }
}

impl<T> Argument for &mut [T] {
    const KIND: ValueKind = ValueKind::Ptr;
    fn slot(self) -> u64 {
        self.as_mut_ptr().expose_provenance() as u64
    }
}

/// The arguments of a guest function: a tuple of up to eight [`Argument`]s.
pub trait Arguments {
    /// What the guest sees.
    fn kinds() -> Vec<ValueKind>;
    /// Their slots.
    fn slots(self) -> Vec<u64>;
}

macro_rules! tuples {
    ($(($($p:ident)*))*) => {$(
        impl<$($p: Argument),*> Arguments for ($($p,)*) {
            fn kinds() -> Vec<ValueKind> {
                vec![$($p::KIND),*]
            }
            #[allow(non_snake_case, reason = "the tuple's fields are named as their types")]
            fn slots(self) -> Vec<u64> {
                let ($($p,)*) = self;
                vec![$($p.slot()),*]
            }
        }
    )*};
}
tuples! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E G) (A B C D E G H) (A B C D E G H I) }

/// A guest function with a checked signature, as long as its process lives.
pub struct TypedFunc<'p, P, R> {
    process: &'p Process,
    id: FuncId,
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

impl<'p, P: Arguments, R: GuestValue> TypedFunc<'p, P, R> {
    pub(super) fn new(process: &'p Process, name: &str) -> Result<Self, Error> {
        let module = &process.image().module;
        let symbol = module
            .symbol(name)
            .map(|s| process.image().resolve_alias(s));
        let Some(GlobalRef::Func(id)) = symbol else {
            return Err(Error::Host(format!("the program has no function `{name}`")));
        };
        let wanted = (P::kinds(), R::KIND);
        match process::signature(module, &module.functions[id]) {
            Some(found) if found == wanted => Ok(TypedFunc {
                process,
                id,
                marker: PhantomData,
            }),
            Some(found) => Err(Error::Host(format!(
                "`{name}` is {}, not {}",
                show(&found),
                show(&wanted)
            ))),
            None => Err(Error::Host(format!(
                "`{name}` has structs, vectors or variadic arguments, which Rust cannot pass"
            ))),
        }
    }

    /// Calls the function on this thread.
    ///
    /// # Errors
    /// [`Error::Trap`] when the guest faults, after which see [the module](super#after-a-trap);
    /// [`Error::Host`] when it calls `exit`.
    pub fn call(&self, arguments: P) -> Result<R, Error> {
        let mut slots = arguments.slots();
        for (slot, kind) in slots.iter_mut().zip(P::kinds()) {
            if let ValueKind::Int(bits) = kind
                && bits < 64
            {
                *slot &= (1 << bits) - 1;
            }
        }
        let mut ret = 0;
        // SAFETY: the signature was checked, and its meaning promised, when this was made.
        unsafe { self.process.call(self.id, &slots, &mut ret)? };
        Ok(R::from_slot(ret))
    }
}

fn show((params, ret): &(Vec<ValueKind>, ValueKind)) -> String {
    let list: Vec<_> = params.iter().map(ToString::to_string).collect();
    format!("{ret}({})", list.join(", "))
}
