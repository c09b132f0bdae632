//! The README's example of embedding, with the file that it reads. A test compares the two texts.

#[path = "guest/compile.rs"]
mod compile;

use ompvm::api::{Config, Engine, Error, Linker, Module};

fn main() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("ompvm-readme-{}", std::process::id()));
    let input = |e: std::io::Error| Error::Host(e.to_string());
    std::fs::create_dir(&folder).map_err(input)?;
    std::fs::write(folder.join("kernel.bc"), compile::compile("kernel.c")).map_err(input)?;
    std::env::set_current_dir(&folder).map_err(input)?;
    let result = embed();
    std::fs::remove_dir_all(&folder).map_err(input)?;
    assert_eq!(result?, 32.0);
    Ok(())
}

fn embed() -> Result<f64, Error> {
    let engine = Engine::default();
    let module = Module::from_files(&engine, &["kernel.bc".into()])?;
    let process = Linker::new(&engine)
        .link(&module)?
        .start(Config::new().num_threads(4))?;
    // SAFETY: the C function is `double dot(long, const double *, const double *)`.
    let dot = unsafe { process.typed_func::<(i64, &[f64], &[f64]), f64>("dot")? };
    let sum = dot.call((3, &[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]))?;
    println!("{sum}");
    Ok(sum)
}
