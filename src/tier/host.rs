//! Functions of the embedder, written as Rust closures, that the guest calls like C functions.
//!
//! Each gets a native-callable stub, so that the guest, native libraries and the OpenMP runtime can
//! all call it. The closure's arguments are read from the registers that the stub saved (System V:
//! the n-th integer or pointer, the n-th float, then the stack).
//!
//! Variadic functions and structs by value are not supported.

use super::signature::Signature;
use super::value::{GuestValue, ValueKind};
use ompvm_memory::abi::NativeFrame;
use ompvm_memory::func::{HostEntry, StubKind, Stubs};
use ompvm_support::error::Error;

/// A function of the embedder, callable at [`HostFunction::address`] while this value lives.
#[derive(Debug)]
pub struct HostFunction {
    /// Kinds of the parameters.
    pub params: Vec<ValueKind>,
    /// Kind of the result.
    pub ret: ValueKind,
    stubs: Stubs,
    _entry: Box<HostEntry>,
}

impl HostFunction {
    /// Creates a host function from a closure.
    ///
    /// # Errors
    /// Fails if the system has no memory for the stub.
    pub fn new<P, R>(closure: impl IntoHost<P, R>) -> Result<HostFunction, Error> {
        let (params, ret, run) = closure.into_host();
        HostFunction::with_entry(params, ret, run)
    }

    /// Creates a host function from a closure over slots: an integer in the low bits and extended
    /// as the signature says, an address, or the bits of a number.
    ///
    /// # Errors
    /// Fails if the system has no memory for the stub.
    pub fn of_slots(
        signature: Signature,
        closure: impl Fn(&[u64]) -> u64 + Send + Sync + 'static,
    ) -> Result<HostFunction, Error> {
        let (params, ret) = (signature.kinds(), signature.ret.kind);
        let run = move |frame: &mut NativeFrame| {
            let mut reader = Reader::new(frame);
            let slots = signature.params.iter();
            let slots: Vec<u64> = slots.map(|p| p.extend(reader.next_slot(p.kind))).collect();
            let result = signature.ret.extend(closure(&slots));
            put_slot(frame, signature.ret.kind, result);
        };
        HostFunction::with_entry(params, ret, Box::new(run))
    }

    fn with_entry(params: Vec<ValueKind>, ret: ValueKind, run: Run) -> Result<HostFunction, Error> {
        let entry = Box::new(HostEntry { run });
        let stubs = Stubs::new(1).map_err(Error::Host)?;
        stubs
            .write(&[StubKind::Host(&raw const *entry)])
            .map_err(Error::Host)?;
        Ok(HostFunction {
            params,
            ret,
            stubs,
            _entry: entry,
        })
    }

    /// Returns the address that the guest calls.
    pub fn address(&self) -> usize {
        self.stubs.address(0)
    }
}

/// Reads arguments in order.
struct Reader<'f> {
    frame: &'f NativeFrame,
    gpr: usize,
    xmm: usize,
    stack: usize,
}

impl<'f> Reader<'f> {
    fn new(frame: &'f NativeFrame) -> Reader<'f> {
        Reader {
            frame,
            gpr: 0,
            xmm: 0,
            stack: 0,
        }
    }

    fn next<T: GuestValue>(&mut self) -> T {
        T::from_slot(self.next_slot(T::KIND))
    }

    /// Reads the next argument; the bits above its kind's are undefined.
    fn next_slot(&mut self, kind: ValueKind) -> u64 {
        match kind {
            ValueKind::F32 | ValueKind::F64 if self.xmm < 8 => {
                self.xmm += 1;
                self.frame.xmm[self.xmm - 1] as u64
            }
            ValueKind::Int(_) | ValueKind::Ptr if self.gpr < 6 => {
                self.gpr += 1;
                self.frame.gpr[self.gpr - 1]
            }
            ValueKind::Void => 0,
            _ => {
                self.stack += 1;
                // SAFETY: the caller passed as many arguments as the signature has, because `link`
                // checks that the guest declares the same signature.
                unsafe { self.frame.stack.cast::<u64>().add(self.stack - 1).read() }
            }
        }
    }
}

fn put_slot(frame: &mut NativeFrame, kind: ValueKind, slot: u64) {
    match kind {
        ValueKind::F32 | ValueKind::F64 => frame.ret_xmm[0] = u128::from(slot),
        _ => frame.ret_gpr[0] = slot,
    }
}

type Run = Box<dyn Fn(&mut NativeFrame) + Send + Sync>;

/// A closure that can be a host function: up to eight arguments and a result, each a
/// [`GuestValue`]. Several guest threads may call it at once.
pub trait IntoHost<P, R>: Send + Sync + 'static {
    /// Returns the kinds of the parameters and the result, and the closure over the saved
    /// registers.
    fn into_host(self) -> (Vec<ValueKind>, ValueKind, Run);
}

macro_rules! hosts {
    ($(($($p:ident)*))*) => {$(
        impl<F, R, $($p),*> IntoHost<($($p,)*), R> for F
        where
            F: Fn($($p),*) -> R + Send + Sync + 'static,
            R: GuestValue,
            $($p: GuestValue,)*
        {
            fn into_host(self) -> (Vec<ValueKind>, ValueKind, Run) {
                let run = move |frame: &mut NativeFrame| {
                    #[allow(unused_mut, unused_variables, reason = "not used without arguments")]
                    let mut args = Reader::new(frame);
                    // Arguments are evaluated from left to right, so each reads the next slot.
                    let result = self($(args.next::<$p>()),*);
                    put_slot(frame, R::KIND, result.to_slot());
                };
                (vec![$($p::KIND),*], R::KIND, Box::new(run))
            }
        }
    )*};
}
hosts! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E G) (A B C D E G H) (A B C D E G H I) }

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    #[test]
    fn closures_are_called_through_c_function_pointers() {
        let base = 100i64;
        let sum = Arc::new(AtomicI64::new(0));
        let in_call = sum.clone();
        let f = HostFunction::new(move |a: i32, b: f64, c: u8, d: f32, e: bool| -> f64 {
            in_call.fetch_add(i64::from(a) + i64::from(c), Ordering::Relaxed);
            base as f64 + f64::from(a) + b + f64::from(c) + f64::from(d) + f64::from(u8::from(e))
        })
        .unwrap();
        assert_eq!(f.params.len(), 5);
        // SAFETY: the function type is the closure's signature.
        let call = unsafe {
            std::mem::transmute::<usize, extern "C" fn(i32, f64, u8, f32, bool) -> f64>(f.address())
        };
        assert_eq!(call(-1, 0.5, 200, 2.0, true), 302.5);
        let g = HostFunction::new(
            |a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64, h: i32| {
                a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * i64::from(h)
            },
        )
        .unwrap();
        let signature = "int (float, unsigned char, double, short)".parse().unwrap();
        let dynamic = HostFunction::of_slots(signature, |slots| {
            let sum = f64::from(f32::from_bits(slots[0] as u32)) + f64::from_bits(slots[2]);
            (sum as i64 + slots[1] as i64 + slots[3] as i64) as u64
        })
        .unwrap();
        // SAFETY: the function type is the signature above.
        let call = unsafe {
            std::mem::transmute::<usize, extern "C" fn(f32, u8, f64, i16) -> i32>(dynamic.address())
        };
        assert_eq!(call(1.5, 200, 2.5, -300), -96);
        type G = extern "C" fn(i64, i64, i64, i64, i64, i64, i64, i32) -> i64;
        // SAFETY: the function type is the closure's signature.
        let call = unsafe { std::mem::transmute::<usize, G>(g.address()) };
        assert_eq!(call(1, 1, 1, 1, 1, 1, 1, -1), 20);
    }
}
