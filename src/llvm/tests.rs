//! Snippets of textual IR, read and looked at.

use super::*;

fn read_text(text: &str) -> Result<Module, Error> {
    read(&[Input {
        name: "test.ll".into(),
        bytes: text.as_bytes().to_vec(),
    }])
}

#[test]
fn version_is_22() {
    assert_eq!(version().0, 22);
}

#[test]
fn smallest() {
    let m = read_text("define i32 @main() {\n ret i32 7\n}\n").unwrap();
    assert_eq!(m.functions.len(), 1);
}
