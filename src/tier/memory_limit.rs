//! Binds a program's allocating functions: to the wrappers of its memory limit, or to those that
//! record blocks for compiled code.
//!
//! The C library's and C++'s functions are found in libraries, and bound one by one. OpenMP's are
//! the runtime's own, which compiled code finds without the linker; so they are overridden.

use super::link::{Environment, RuntimeLookup};
use ompvm_memory::heap;
use ompvm_memory::heap_limit::{HeapLimit, RUNTIME_FUNCTIONS};
use ompvm_support::error::Error;
use std::sync::Arc;

impl Environment {
    /// Lets the program's heap memory count, unless it has no limit.
    ///
    /// # Errors
    /// Fails if the system refuses memory for the code that counts.
    pub fn limit_memory(&mut self, limit: Option<Arc<HeapLimit>>) -> Result<(), Error> {
        let Some(limit) = limit else { return Ok(()) };
        // Auto-offload replaces functions of the C library.
        for (name, address) in &mut self.overrides {
            if let Some(wrapper) = limit.wrapper_of(name, *address)? {
                *address = wrapper;
            }
        }
        for name in RUNTIME_FUNCTIONS {
            if !self.overrides.contains_key(name)
                && let RuntimeLookup::Address(address) = (self.runtime)(name)
                && let Some(wrapper) = limit.wrapper_of(name, address)?
            {
                self.overrides.insert(name, wrapper);
            }
        }
        self.heap_limit = Some(limit);
        Ok(())
    }

    /// Returns what the program calls in place of a library's function.
    pub(super) fn allocator(&self, name: &str, address: usize) -> RuntimeLookup {
        let found = match &self.heap_limit {
            Some(limit) => limit.wrapper_of(name, address),
            None => Ok(heap::wrapper_of(name, address)),
        };
        match found {
            Ok(wrapper) => RuntimeLookup::Address(wrapper.unwrap_or(address)),
            Err(error) => RuntimeLookup::Unsupported(format!("`{name}`: {error}")),
        }
    }
}
