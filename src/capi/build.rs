//! Sets the linker options of the shared library: its soname, and that it stays loaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libompvm.so.0");
    // Threads wait in its code, and handlers of signals lead there.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
