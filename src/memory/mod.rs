//! Guest memory and the boundary between guest and native code.
//!
//! Guest pointers are host pointers, so there is no address space of our own: what this layer
//! owns is where a module's data lies ([`image`]), how large native stacks are and per-thread blocks
//! ([`stack`], [`thread`]), the native-callable addresses of guest functions ([`func`]), the
//! calling convention both ways ([`abi`]), one entry into guest code and its two unusual exits
//! ([`activation`]), what happens when the guest faults ([`signals`]), which blocks of the heap
//! the guest has ([`heap`]), addresses for what has no code ([`places`]), and threads for work that must
//! not leave traces on the guest's ([`own_thread`]).
//!
//! What not: nothing here knows an opcode, a tier or OpenMP; those register hooks.

pub mod abi;
pub mod activation;
pub mod altstack;
#[cfg(feature = "vm")]
pub mod backtrace;
pub mod bounds;
pub mod func;
#[cfg(feature = "vm")]
pub mod heap;
mod huge;
pub mod image;
pub mod jump;
#[cfg(feature = "vm")]
pub mod link;
#[cfg(feature = "vm")]
pub mod own_thread;
pub mod places;
#[cfg(feature = "vm")]
pub mod signals;
pub mod stack;
pub mod thread;
#[cfg(feature = "vm")]
pub mod throws;
#[cfg(feature = "vm")]
pub mod trampoline;
#[cfg(feature = "vm")]
pub mod walk;
pub mod worker;
