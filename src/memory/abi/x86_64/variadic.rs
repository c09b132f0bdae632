//! The variadic arguments of a call between guest functions, written where `va_start` finds them.
//!
//! They get the places of a native call. A list with all arguments on the stack would be simpler
//! but is wrong: `va_arg` aligns a structure that is aligned to 16 bytes on the stack and not in
//! registers, and the call, where it has become two integers, does not tell that.

use super::{ArgumentPlan, ByVal, CallPlan, Location, Move, VaStart, copy_small, load_int};
use ompvm_ir::{Module, ParamAttrs, TypeId};
use std::ptr;

/// Bytes of the register save area (System V psABI 1.0, figure 3.33).
pub const SAVE_AREA: usize = VECTORS + 8 * 16;
/// Offset of the vector registers in the register save area.
const VECTORS: usize = 6 * 8;

/// The places of the variadic arguments of one call site.
#[derive(Debug)]
pub struct VariadicArgs {
    moves: Box<[Move]>,
    copies: Box<[ByVal]>,
    /// The places behind those of the fixed arguments.
    pub start: VaStart,
    /// Bytes of all arguments on the stack.
    pub stack_bytes: u32,
    /// Alignment of the arguments on the stack: a power of two, at least 16.
    pub stack_align: u32,
}

impl VariadicArgs {
    /// Returns the places of the arguments from number `fixed` on in the plan of a variadic call
    /// with these arguments.
    ///
    /// # Errors
    /// The same as for [`CallPlan::new`].
    pub fn new(
        module: &Module,
        args: &[(TypeId, ParamAttrs)],
        fixed: usize,
        plan: &CallPlan,
    ) -> Result<VariadicArgs, String> {
        let mut before = ArgumentPlan::default();
        before.alloc.variadic = true;
        for (i, (ty, attrs)) in args.iter().take(fixed).enumerate() {
            before.add(module, i as u32, *ty, attrs)?;
        }
        let variadic = |arg: u32| arg as usize >= fixed;
        let moves = plan.moves.iter().filter(|m| variadic(m.arg));
        let copies = plan.copies.iter().filter(|c| variadic(c.arg));
        Ok(VariadicArgs {
            moves: moves.copied().collect(),
            copies: copies.copied().collect(),
            start: VaStart {
                gp_offset: 8 * u32::from(before.alloc.gpr),
                fp_offset: VECTORS as u32 + 16 * u32::from(before.alloc.xmm),
                overflow: before.alloc.stack,
            },
            stack_bytes: plan.stack_bytes,
            stack_align: plan.stack_align,
        })
    }

    /// Writes the arguments to a register save area and to the stack.
    ///
    /// # Safety
    /// `arg(i)` points to the slots of argument `i`; `save` has [`SAVE_AREA`] bytes, and `stack`
    /// the planned bytes and alignment.
    pub unsafe fn write(&self, arg: impl Fn(u32) -> *const u64, save: *mut u8, stack: *mut u8) {
        // SAFETY: every move stays inside the slots and areas that the plan was made for.
        unsafe {
            for m in &self.moves {
                let from = arg(m.arg).cast::<u8>().add(m.offset as usize);
                let to = match m.place {
                    Location::Gpr(n) => save.add(8 * n as usize),
                    Location::Xmm(n) => save.add(VECTORS + 16 * n as usize),
                    Location::Stack(at) => stack.add(at as usize),
                    Location::Nest | Location::St(_) => continue,
                };
                match m.bits {
                    0 => copy_small(from, to, m.bytes),
                    _ => to.cast::<u64>().write(load_int(from, m)),
                }
            }
            for c in &self.copies {
                let from = ptr::with_exposed_provenance::<u8>(*arg(c.arg) as usize);
                ptr::copy_nonoverlapping(from, stack.add(c.stack as usize), c.bytes as usize);
            }
        }
    }
}
