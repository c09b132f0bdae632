//! Calls guest functions whose types are known only at run time, for libraries of other languages.
//!
//! Rust programs use [`super::TypedFunc`], whose calls are compiled with their types. Here
//! arguments are slots of 64 bits. A call whose arguments all go in registers loads every argument
//! register of the System V ABI and leaves those that the function does not use undefined, so one
//! piece of code calls functions of every such type. Other calls go through a call plan.

use ompvm_ir::{FuncId, Function, GlobalRef, Inst, Op};
use ompvm_support::error::Error;
use ompvm_tier::process::{self, CallKind, Process};
use ompvm_tier::signature::{Scalar, Signature};
use ompvm_tier::value::ValueKind;
use std::fmt;

/// Argument registers for integers and pointers, and for numbers (System V ABI, 3.2.3).
const GENERAL: usize = 6;
const VECTOR: usize = 8;

/// Type of a function with the argument registers for integers and pointers.
type GeneralRegisters = extern "C-unwind" fn(u64, u64, u64, u64, u64, u64) -> u64;

/// Type of a function with all argument registers.
type AllRegisters<R> =
    extern "C-unwind" fn(u64, u64, u64, u64, u64, u64, f64, f64, f64, f64, f64, f64, f64, f64) -> R;

/// A guest function with a signature that is known at run time. Threads may share it.
///
/// ```no_run
/// # use ompvm::api::{Config, Engine, Error, Linker, Module};
/// # fn main() -> Result<(), Error> {
/// # let engine = Engine::default();
/// # let module = Module::from_files(&engine, &["solver.bc".into()])?;
/// # let process = Linker::new(&engine).link(&module)?.start(Config::new())?;
/// let scale = process.func("scale", Some("double (double, int)"))?;
/// // SAFETY: the C function is `double scale(double, int)`.
/// let result = unsafe { scale.call(&[1.5f64.to_bits(), 3])? };
/// println!("{}", f64::from_bits(result));
/// # Ok(())
/// # }
/// ```
pub struct Func<'p> {
    process: &'p Process,
    id: FuncId,
    name: String,
    signature: Signature,
    /// Address of the function if its arguments all go in registers; else 0.
    target: usize,
    /// How the callee expects each argument to be extended.
    expected: Box<[Scalar]>,
    /// True if the result is in a vector register.
    float_result: bool,
    brief: bool,
    kind: CallKind,
}

/// Most instructions of a function that counts as brief.
const BRIEF: usize = 64;

/// Returns true if a function is a few instructions in a row, without calls.
fn is_brief(function: &Function) -> bool {
    let Some(body) = &function.body else {
        return false;
    };
    let is_call =
        |inst: &Inst| matches!(inst.op, Op::Call(_) | Op::Invoke { .. } | Op::CallBr { .. });
    body.blocks.len() == 1 && body.insts.len() <= BRIEF && !body.insts.iter().any(is_call)
}

impl fmt::Debug for Func<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Func({}: {})", self.name, self.signature)
    }
}

/// Returns how a function expects its arguments to be extended.
fn expected(function: &Function, kinds: &[ValueKind]) -> Box<[Scalar]> {
    let params = function.params.iter().zip(kinds);
    let scalars = params.map(|(attributes, &kind)| Scalar {
        kind,
        signed: attributes.signext,
    });
    scalars.collect()
}

/// Returns true if all arguments go in registers and none has a special attribute.
fn in_registers(function: &Function, kinds: &[ValueKind]) -> bool {
    let is_vector = |kind: &&ValueKind| matches!(kind, ValueKind::F32 | ValueKind::F64);
    let vector = kinds.iter().filter(is_vector).count();
    let plain = function
        .params
        .iter()
        .all(|attributes| attributes.byval.is_none() && !attributes.nest);
    cfg!(target_arch = "x86_64")
        && plain
        && function.params.len() == kinds.len()
        && vector <= VECTOR
        && kinds.len() - vector <= GENERAL
}

/// Finds a function of a program by its name, or by that of an alias.
///
/// # Errors
/// Returns [`Error::Host`] if there is none.
pub(super) fn find(process: &Process, name: &str) -> Result<FuncId, Error> {
    let image = process.image();
    match image.module.symbol(name).map(|s| image.resolve_alias(s)) {
        Some(GlobalRef::Func(id)) => Ok(id),
        _ => Err(Error::Host(format!("the program has no function `{name}`"))),
    }
}

impl<'p> Func<'p> {
    pub(super) fn new(
        process: &'p Process,
        name: &str,
        declared: Option<&str>,
    ) -> Result<Func<'p>, Error> {
        let image = process.image();
        let module = &image.module;
        let id = find(process, name)?;
        let function = &module.functions[id];
        let Some((kinds, ret)) = process::signature(module, function) else {
            return Err(Error::Host(format!(
                "`{name}` has structs, vectors or variadic arguments, which cannot be passed"
            )));
        };
        let own = Signature {
            params: kinds.iter().map(|&kind| Scalar::of_kind(kind)).collect(),
            ret: Scalar::of_kind(ret),
        };
        let signature = match declared {
            None => own,
            Some(text) => {
                let declared: Signature = text.parse().map_err(Error::Host)?;
                if declared.kinds() != kinds || declared.ret.kind != ret {
                    return Err(Error::Host(format!(
                        "`{name}` is {own}, not {declared} (`{text}`)"
                    )));
                }
                declared
            }
        };
        let target = match in_registers(function, &kinds) {
            true => image.func_ref(id).map_or(0, |f| f.stub),
            false => 0,
        };
        Ok(Func {
            process,
            id,
            name: name.to_owned(),
            signature,
            target,
            expected: expected(function, &kinds),
            float_result: matches!(ret, ValueKind::F32 | ValueKind::F64),
            brief: is_brief(function),
            kind: process.call_kind(id),
        })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the types of the parameters and the result: as declared, or else as in the program.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Returns true if a call takes a few nanoseconds whatever the arguments, so that giving up a
    /// lock for it costs more than the call.
    pub fn is_brief(&self) -> bool {
        self.brief
    }

    /// Calls the function on this thread.
    ///
    /// Each slot holds an integer in its low bits, an address, the bits of a `double`, or the bits
    /// of a `float` in the lower half. So does the result; an integer is extended as the signature
    /// says.
    ///
    /// # Errors
    /// Returns [`Error::Trap`] if the guest faults, see [after a trap](super#after-a-trap);
    /// [`Error::Host`] if it calls `exit`, or if the number of slots is wrong.
    ///
    /// # Safety
    /// The arguments must have the meaning that the guest's function gives them.
    #[inline]
    pub unsafe fn call(&self, slots: &[u64]) -> Result<u64, Error> {
        if slots.len() != self.expected.len() {
            return Err(self.wrong_count(slots.len()));
        }
        if self.target == 0 {
            // SAFETY: this function's contract is the callee's.
            return unsafe { self.call_by_plan(slots) };
        }
        let mut general = [0; GENERAL];
        let mut vector = [0.0; VECTOR];
        let (mut g, mut v) = (0, 0);
        for (slot, scalar) in slots.iter().zip(&self.expected) {
            let slot = scalar.extend(*slot);
            match scalar.kind {
                ValueKind::F32 | ValueKind::F64 => {
                    vector[v % VECTOR] = f64::from_bits(slot);
                    v += 1;
                }
                _ => {
                    general[g % GENERAL] = slot;
                    g += 1;
                }
            }
        }
        let mut result = 0;
        let target = self.target;
        // Closures take the arrays by reference, so that little is copied.
        let (general, vector, out) = (&general, &vector, &mut result);
        // SAFETY: `new` found that all arguments go in registers of these two kinds, in order, and
        // a callee ignores the registers that it has no argument for. The result is in rax or in
        // xmm0 by its kind. The closure has nothing to drop.
        unsafe {
            if self.float_result {
                self.process.call_guest(self.kind, || {
                    let call = std::mem::transmute::<usize, AllRegisters<f64>>(target);
                    let ([a, b, c, d, e, f], [s, t, u, v, w, x, y, z]) = (*general, *vector);
                    *out = call(a, b, c, d, e, f, s, t, u, v, w, x, y, z).to_bits();
                })
            } else if v == 0 {
                self.process.call_guest(self.kind, || {
                    let call = std::mem::transmute::<usize, GeneralRegisters>(target);
                    let [a, b, c, d, e, f] = *general;
                    *out = call(a, b, c, d, e, f);
                })
            } else {
                self.process.call_guest(self.kind, || {
                    let call = std::mem::transmute::<usize, AllRegisters<u64>>(target);
                    let ([a, b, c, d, e, f], [s, t, u, v, w, x, y, z]) = (*general, *vector);
                    *out = call(a, b, c, d, e, f, s, t, u, v, w, x, y, z);
                })
            }?;
        }
        Ok(match self.signature.ret.kind {
            ValueKind::Void => 0,
            _ => self.signature.ret.extend(result),
        })
    }

    /// # Safety
    /// The contract of [`Self::call`].
    #[cold]
    unsafe fn call_by_plan(&self, slots: &[u64]) -> Result<u64, Error> {
        let slots = slots.iter().zip(&self.expected);
        // A plan extends the bits itself.
        let slots: Vec<u64> = slots
            .map(|(slot, s)| {
                Scalar {
                    signed: false,
                    ..*s
                }
                .extend(*slot)
            })
            .collect();
        let mut ret = 0;
        // SAFETY: `new` read the signature, and the caller vouched for its meaning.
        unsafe { self.process.call(self.id, &slots, &mut ret)? };
        Ok(self.signature.ret.extend(ret))
    }

    #[cold]
    fn wrong_count(&self, given: usize) -> Error {
        let expected = self.expected.len();
        let name = &self.name;
        Error::Host(format!(
            "`{name}` takes {expected} arguments, and got {given}"
        ))
    }
}
