//! The OpenMP runtime as the linker sees it: its table of entries, by name.
//!
//! Symbols that the guest defines itself take precedence and are never looked up here.

use super::link::RuntimeLookup;
use super::registry::REGISTRY;
use ompvm_interp as interp;
use ompvm_kmpc::waits::report;
use ompvm_kmpc::{self as kmpc, abi, lock, ompt, table};
use ompvm_llvm::{contain, guard};
use ompvm_memory::{backtrace, dump, signals};
use ompvm_offload as offload;
use ompvm_support::log;
use std::ffi::c_void;

/// Looks up a name in our runtime.
pub fn lookup(name: &str) -> RuntimeLookup {
    if lock::named::wanted()
        && let Some(entry) = lock::named::entry(name)
    {
        return RuntimeLookup::Address(entry.0 as usize);
    }
    match table::lookup(name).or_else(|| offload::table::lookup(name)) {
        Some(entry) => match entry.status {
            table::Status::Unsupported { reason } => {
                RuntimeLookup::Unsupported(format!("`{name}` ({reason})"))
            }
            // Variadic entries have the C calling convention of the ABI.
            table::Status::Supported => RuntimeLookup::Address(match name {
                "__kmpc_fork_call" => abi::fork_call_variadic as *const () as usize,
                "__kmpc_fork_teams" => abi::fork_teams_variadic as *const () as usize,
                _ => entry.address.0 as usize,
            }),
        },
        None => match table::missing_reason(name) {
            Some(reason) => RuntimeLookup::Unsupported(format!("`{name}` ({reason})")),
            None => RuntimeLookup::Unknown,
        },
    }
}

/// Looks up a name like [`lookup`] for programs that may have a tool: entries are reached through
/// gates.
pub fn lookup_traced(name: &str) -> RuntimeLookup {
    match ompt::gates::gate(name) {
        Some(gate) => RuntimeLookup::Address(gate.0 as usize),
        None => lookup(name),
    }
}

/// Returns the lookup function for a program that does, or does not, define `ompt_start_tool`.
pub fn lookup_for(tool: bool) -> fn(&str) -> RuntimeLookup {
    if ompt::wanted(tool) {
        lookup_traced
    } else {
        lookup
    }
}

/// Returns how a team was forked; see [`backtrace::ForkHook`].
fn forked(team: *const c_void, number: u32) -> Option<backtrace::Fork> {
    // SAFETY: the hook passes null or a team that an earlier call returned, on the same thread.
    let forked = unsafe { kmpc::fork_origin(team.cast(), number) }?;
    Some(backtrace::Fork {
        arguments: forked.arguments as usize,
        count: forked.count,
        outer: (forked.outer.0.cast(), forked.outer.1),
        own: forked.own,
    })
}

/// Installs the handlers for faults of guest code and lets them contain LLVM's; once per process.
pub fn install_fault_handlers() {
    REGISTRY.fault_handlers.call_once(|| {
        guard::register_fault_handler(signals::set_compiler_hook(contain::on_fault));
        signals::install();
    });
}

/// Lets faults, cancellation and time limits of embedded programs end the calls of whole teams; once
/// per process.
pub fn contain_regions() {
    REGISTRY.containment.call_once(|| {
        interp::prepare_interrupts();
        kmpc::containment::install();
    });
}

/// Registers the interpreter as the tier that runs guest functions, and tells the fault handlers,
/// dumps and the log about OpenMP's threads; once per process.
pub fn init() {
    REGISTRY.hooks.call_once(|| {
        interp::install();
        ompt::gate::set_callers(interp::address_after_call);
        signals::set_thread_hook(|| kmpc::region_position().map(|c| c.thread_num));
        signals::set_region_hooks(report::current_region, report::write_parallel);
        dump::set_describe_hook(report::describe);
        report::set_variable_hook(super::dlfcn::write_variable);
        log::set_number_hook(|| kmpc::thread::current_if_known().map(|t| t.gtid as u32));
        let entry = kmpc::abi::fork_call_variadic as *const () as usize;
        backtrace::set_fork_hook(forked, (entry, kmpc::abi::distance_to_frame));
    });
}
