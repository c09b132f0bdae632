//! GDB's JIT interface: a list of object files in memory, and a function at which the debugger
//! stops to read it (GDB manual, "JIT Compilation Interface").
//!
//! A process may define the names of the list and the function only once. LLVM, which is linked in,
//! defines them, and they are used here as in any other program.
//!
//! A reader plug-in is not needed, because gdb understands DWARF in ELF.

use super::{Agent, AgentState, Loaded};
use crate::process::CODE;
use std::io;
use std::ptr;

#[repr(C)]
struct Entry {
    next: *mut Entry,
    prev: *mut Entry,
    object: *const u8,
    size: u64,
}

#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

unsafe extern "C" {
    static mut __jit_debug_descriptor: Descriptor;
    fn __jit_debug_register_code();
}

/// The agent for gdb.
pub struct Gdb;

/// An entry of the list and the object that it refers to.
struct Registered {
    entry: Box<Entry>,
    _object: Vec<u8>,
}

// SAFETY: the entry is accessed only under the lock, or by the debugger, which stops all threads.
unsafe impl Send for Registered {}
// SAFETY: the entry is accessed only under the lock, or by the debugger, which stops all threads.
unsafe impl Sync for Registered {}

impl Agent for Gdb {
    fn loaded(&self, what: &Loaded<'_>) -> io::Result<Option<AgentState>> {
        let object = what.code.described(what.object).map_err(io::Error::other)?;
        let mut entry = Box::new(Entry {
            next: ptr::null_mut(),
            prev: ptr::null_mut(),
            object: object.as_ptr(),
            size: object.len() as u64,
        });
        let _guard = CODE.gdb_list.lock();
        // SAFETY: the lock guards the list. The entry is boxed, so its address stays valid until it
        // is removed.
        unsafe {
            entry.next = __jit_debug_descriptor.first;
            if let Some(next) = entry.next.as_mut() {
                next.prev = &raw mut *entry;
            }
            __jit_debug_descriptor.first = &raw mut *entry;
            tell(REGISTER, &raw mut *entry);
        }
        Ok(Some(Box::new(Registered {
            entry,
            _object: object,
        })))
    }
}

/// # Safety
/// The caller must hold the lock, and the entry must be live.
unsafe fn tell(action: u32, entry: *mut Entry) {
    // SAFETY: the entry is live and the list locked by this function's contract. The function that
    // is called is empty.
    unsafe {
        __jit_debug_descriptor.action = action;
        __jit_debug_descriptor.relevant = entry;
        __jit_debug_register_code();
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let _guard = CODE.gdb_list.lock();
        // SAFETY: the lock is held, and neighbors are live entries of the list.
        unsafe {
            match self.entry.prev.as_mut() {
                Some(prev) => prev.next = self.entry.next,
                None => __jit_debug_descriptor.first = self.entry.next,
            }
            if let Some(next) = self.entry.next.as_mut() {
                next.prev = self.entry.prev;
            }
            tell(UNREGISTER, &raw mut *self.entry);
        }
    }
}
