//! Guest memory and the boundary between guest and native code.
//!
//! Guest pointers are host pointers, so this layer has no address space of its own. It owns
//! - the placement of a module's data ([`image`]) and the symbols that a linker would define for it
//!   ([`linker_symbols`]),
//! - the sizes of native stacks and the per-thread state ([`stack`], [`thread`], [`worker`]),
//! - the native-callable addresses of guest functions ([`func`]),
//! - the calling convention in both directions ([`abi`]),
//! - the entry into guest code, and its exits by exception and by long jump ([`activation`]),
//! - faults of the guest ([`signals`]), and dumps of its threads ([`dump`]),
//! - the installation of its signal handlers ([`signal_actions`]), and the work that they may need
//!   at any point ([`signal_safe`]),
//! - the table of the guest's heap blocks ([`heap`]),
//! - the limits of its heap memory ([`heap_limit`]) and of its instructions ([`fuel`]),
//! - synthetic code addresses ([`code_addresses`]), and
//! - threads for internal work that must leave no traces on the guest's threads
//!   ([`internal_thread`]).
//!
//! Knows no opcode, no tier and nothing of OpenMP: the layers that do register hooks here.

pub mod abi;
pub mod activation;
pub mod altstack;
pub mod backtrace;
pub mod code_addresses;
mod current;
pub mod dump;
pub mod fuel;
pub mod func;
pub mod handler_mask;
pub mod heap;
pub mod heap_limit;
mod hooks;
mod huge;
pub mod image;
pub mod internal_pool;
pub mod internal_thread;
pub mod interrupt;
pub mod interruption;
pub mod jump;
pub mod link;
pub mod linker_symbols;
pub mod signal_actions;
pub mod signal_safe;
pub mod signals;
pub mod stack;
pub mod thread;
pub mod throws;
pub mod trampoline;
pub mod walk;
pub mod worker;

// The unit tests alone are linked without the C++ library that `throws` calls.
#[cfg(test)]
#[link(name = "stdc++")]
unsafe extern "C" {}
