//! Lowers functions before the program calls them, because the run before did.
//!
//! Lowering takes about as long as executing an instruction some hundred times, and the baseline
//! compiler adds as much: most of the time that a short program takes longer than natively, once its
//! loops are in the cache. The persisted profile lists the functions in the order of their first
//! calls ([`super::profile`]). The sampling thread goes through this list while the program starts,
//! between its samples.
//!
//! A run that takes another path finds functions lowered in vain, on a processor that it does not
//! use; with one processor nothing is lowered ahead.

use super::profile::EarlierLowered;
use cranelift_entity::EntityRef;
use ompvm_interp::{self as interp, LoweredAhead};
use ompvm_ir::FuncId;
use ompvm_memory::image::Image;
use ompvm_support::topology;
use std::time::Instant;

/// The functions that are still to be lowered, last first.
#[derive(Debug, Default)]
pub struct LowerAhead {
    left: Vec<EarlierLowered>,
}

impl LowerAhead {
    /// Takes the functions that an earlier run lowered, in the order of their calls.
    pub fn new(earlier: &[EarlierLowered]) -> LowerAhead {
        let left = match topology::usable_cpus() {
            1 => Vec::new(),
            _ => earlier.iter().rev().copied().collect(),
        };
        LowerAhead { left }
    }

    /// Lowers functions until `end`. Functions that the program has called meanwhile are passed
    /// over.
    pub fn lower_until(&mut self, image: &Image, end: Instant) {
        while let Some(next) = self.left.pop() {
            let Some(func) = image.func_ref(FuncId::new(next.function as usize)) else {
                continue;
            };
            match interp::lower_ahead(func, next.warm) {
                LoweredAhead::Late => continue,
                LoweredAhead::InTime => {}
                // The program is as far as this thread, and will call the next one soon.
                LoweredAhead::Awaited => self.leave_next(),
            }
            if Instant::now() >= end {
                return;
            }
        }
    }

    /// Puts the next function behind the one after it.
    fn leave_next(&mut self) {
        if let [.., after, next] = self.left.as_mut_slice() {
            std::mem::swap(after, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_is_called_next_is_left_for_later() {
        let one = |function| EarlierLowered {
            function,
            warm: false,
        };
        let mut ahead = LowerAhead {
            left: [4, 3, 2, 1].map(one).to_vec(),
        };
        ahead.left.pop();
        ahead.leave_next();
        let order: Vec<u32> = ahead.left.iter().rev().map(|l| l.function).collect();
        assert_eq!(order, [3, 2, 4]);
        ahead.left.truncate(1);
        ahead.leave_next();
        assert_eq!(ahead.left, [one(4)]);
    }
}
