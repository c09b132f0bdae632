//! The project's own build commands.

fn main() {}
