//! Gives Rust closures to the guest, which calls them like C functions, from several threads.

#[path = "guest/compile.rs"]
mod compile;

use ompvm::api::{Config, Engine, Error, GuestPtr, Linker, Module};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

fn main() -> Result<(), Error> {
    let engine = Engine::default();
    let module = Module::from_bytes(
        &engine,
        "host_functions.bc",
        &compile::compile("host_functions.c"),
    )?;
    let calls = Arc::new(AtomicU32::new(0));
    let report = Arc::new(Mutex::new(None));

    let mut linker = Linker::new(&engine);
    let counter = calls.clone();
    linker.func("host_price", move |item: i32| -> f64 {
        counter.fetch_add(1, Ordering::Relaxed);
        f64::from(item) * 0.5
    })?;
    let slot = report.clone();
    linker.func("host_report", move |what: GuestPtr<u8>, value: f64| {
        // SAFETY: the guest passes a C string.
        let what = unsafe { what.read_str() };
        println!("{what}: {value}");
        *slot.lock().unwrap() = Some((what, value));
    })?;

    let process = linker.link(&module)?.start(Config::new().num_threads(2))?;
    // SAFETY: the C function takes one int.
    let total = unsafe { process.typed_func::<(i32,), ()>("total")? };
    total.call((100,))?;
    assert_eq!(calls.load(Ordering::Relaxed), 100);
    assert_eq!(*report.lock().unwrap(), Some(("total".to_owned(), 2475.0)));
    Ok(())
}
