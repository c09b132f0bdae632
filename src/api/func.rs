//! Calls guest functions whose types are known only at run time, for libraries of other languages.
//!
//! Rust programs use [`super::TypedFunc`], whose calls are compiled with their types. Here
//! arguments are slots of 64 bits.

use super::registers::{Extension, Placed, places, register_call};
use ompvm_ir::{FuncId, Function, GlobalRef, Inst, Op};
use ompvm_memory::activation::ArgumentRegisters;
use ompvm_support::error::Error;
use ompvm_tier::process::{self, Process, RegisterCall};
use ompvm_tier::signature::{Scalar, Signature};
use ompvm_tier::value::ValueKind;
use std::fmt;

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
    /// The call if the arguments all go in registers.
    call: Option<RegisterCall>,
    /// The registers of the arguments, and the extension that the function expects of each.
    places: Box<[Placed]>,
    /// The extension of the result; `None` without a result.
    result: Option<Extension>,
    brief: bool,
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
fn expected(function: &Function, kinds: &[ValueKind]) -> Vec<Scalar> {
    let params = function.params.iter().zip(kinds);
    let scalars = params.map(|(attributes, &kind)| Scalar {
        kind,
        signed: attributes.signext,
    });
    scalars.collect()
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
        Ok(Func {
            process,
            id,
            name: name.to_owned(),
            call: register_call(process, id, &kinds, ret),
            places: places(&expected(function, &kinds)),
            result: (ret != ValueKind::Void).then(|| Extension::of(signature.ret)),
            signature,
            brief: is_brief(function),
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
        if slots.len() != self.places.len() {
            return Err(self.wrong_count(slots.len()));
        }
        let Some(call) = &self.call else {
            // SAFETY: this function's contract is the callee's.
            return unsafe { self.call_by_plan(slots) };
        };
        let mut registers = ArgumentRegisters::undefined();
        for (slot, place) in slots.iter().zip(&self.places) {
            let value = place.extension.extend(*slot);
            registers.set(place.register.into(), value);
        }
        // SAFETY: `new` found that all arguments go in registers, which are set, and this
        // function's contract vouches for their meaning.
        let result = unsafe { self.process.call_registers(call, &registers)? };
        Ok(self.result.map_or(0, |extension| extension.extend(result)))
    }

    /// # Safety
    /// The contract of [`Self::call`].
    #[cold]
    unsafe fn call_by_plan(&self, slots: &[u64]) -> Result<u64, Error> {
        let unsigned = |scalar: &Scalar| Scalar {
            signed: false,
            ..*scalar
        };
        // A plan extends the bits itself.
        let slots = slots.iter().zip(&self.signature.params);
        let slots: Vec<u64> = slots
            .map(|(slot, scalar)| unsigned(scalar).extend(*slot))
            .collect();
        let mut ret = 0;
        // SAFETY: `new` read the signature, and the caller vouched for its meaning.
        unsafe { self.process.call(self.id, &slots, &mut ret)? };
        Ok(self.signature.ret.extend(ret))
    }

    #[cold]
    fn wrong_count(&self, given: usize) -> Error {
        let expected = self.places.len();
        let name = &self.name;
        Error::Host(format!(
            "`{name}` takes {expected} arguments, and got {given}"
        ))
    }
}
