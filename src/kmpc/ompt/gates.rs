//! A gate for every entry of the runtime, for guests of a virtual machine if there may be a tool.
//!
//! Entries without a traced form have one, too, since a thread becomes known to the tool at its
//! first call of any entry. The shared library has jumps of its own for that.

use std::arch::naked_asm;
use std::ffi::c_void;

use super::gate;
use crate::for_each_runtime_entry;
use crate::table::{Address, ENTRIES};

macro_rules! through {
    ($name:literal) => {{
        #[unsafe(naked)]
        unsafe extern "C-unwind" fn through() {
            naked_asm!(
                "lea r11, [rip + 2f]",
                "jmp {gate}",
                "2:",
                concat!(".asciz \"", $name, "\""),
                gate = sym gate::enter,
            )
        }
        Address(through as *const c_void)
    }};
}

macro_rules! gates {
    (
        supported {
            $($name:literal ($($arg:ident),*) $(-> $ret:ident)? = $path:path, $spec:literal;)*
        }
        variadic {
            $($v_name:literal ($($v_arg:ident),*)
                = $v_path:path, $v_entry:path, $v_spec:literal;)*
        }
        unsupported {
            $($reason:literal, $u_spec:literal: [$($u_name:literal,)*];)*
        }
    ) => {
        /// The gates, in the order of [`ENTRIES`], without those to unsupported entries.
        const GATES: &[Address] = &[$(through!($name),)* $(through!($v_name),)*];
    };
}
for_each_runtime_entry!(gates);

/// Returns the gate to an entry, to be called like the entry.
pub fn gate(name: &str) -> Option<Address> {
    GATES.get(ENTRIES.position(name)?).copied()
}
