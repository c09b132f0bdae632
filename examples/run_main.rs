//! Runs a guest's main with arguments and takes its exit status as a value.

#[path = "guest/compile.rs"]
mod compile;

use ompvm::api::{Config, Engine, Error, Linker, Module};

fn main() -> Result<(), Error> {
    let bytes = compile::compile("run_main.c");
    let engine = Engine::default();
    let module = Module::from_bytes(&engine, "run_main.bc", &bytes)?;
    let program = Linker::new(&engine).link(&module)?;
    let config = Config::new()
        .num_threads(2)
        .arg("guest")
        .arg("one")
        .arg("two");
    let status = program.start(config)?.run_main()?;
    println!("the guest returned {}", status.code());
    assert_eq!(status.code(), 3);
    Ok(())
}
