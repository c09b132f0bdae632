//! Calls single guest functions with scalars and slices; a fault comes back as a value.

#[path = "guest/compile.rs"]
mod compile;

use ompvm::api::{Config, Engine, Error, GuestPtr, Linker, Module};

fn main() -> Result<(), Error> {
    let engine = Engine::default();
    let module = Module::from_bytes(
        &engine,
        "call_function.bc",
        &compile::compile("call_function.c"),
    )?;
    let process = Linker::new(&engine)
        .link(&module)?
        .start(Config::new().num_threads(2))?;

    let x: Vec<f64> = (0..1000).map(f64::from).collect();
    let mut y = vec![1.0; x.len()];
    // SAFETY: the C function takes (int, double, const double *, double *) and stays inside n.
    let axpy = unsafe { process.typed_func::<(i32, f64, &[f64], &mut [f64]), f64>("axpy")? };
    let sum = axpy.call((x.len() as i32, 2.0, &x, &mut y))?;
    println!("sum {sum}, last {}", y[999]);
    assert_eq!((sum, y[999]), (1_000_000.0, 1999.0));

    // SAFETY: the C function takes (const int *, long).
    let element = unsafe { process.typed_func::<(GuestPtr<i32>, i64), i32>("element")? };
    let values = process.alloc_slice(&[10, 20, 30])?;
    assert_eq!(element.call((values.ptr(), 2))?, 30);
    let fault = element.call((GuestPtr::NULL, 0));
    println!("a null pointer: {}", fault.as_ref().unwrap_err());
    assert!(matches!(fault, Err(Error::Trap(_))));

    let calls = process
        .global::<i32>("calls")
        .expect("the guest defines it");
    // SAFETY: an int of the guest, and no guest code runs now.
    assert_eq!(unsafe { calls.read() }, 2);

    // SAFETY: never called: the signature is wrong and says so.
    let wrong = unsafe { process.typed_func::<(f64,), f64>("element") };
    println!("{}", wrong.unwrap_err());
    Ok(())
}
