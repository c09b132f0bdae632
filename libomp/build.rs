//! Sets the linker options of the shared library: libomp's soname, and the symbol version `VERSION`
//! that programs linked with libomp require.
//!
//! The library stays loaded when the library that loaded it is closed, like libomp: its threads
//! wait in its code. GNU ld cannot combine a second version script with rustc's own; rust-lld (the
//! default linker), lld and mold can.

fn main() {
    let dir = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo:rerun-if-changed=libomp.map");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libomp.so.5");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={dir}/libomp.map");
}
