//! Tests that linking without reading functions twice gives the same program.

use super::parallel_read::bitcode;
use super::*;
use crate::lazy_link::{link, merge};

/// The inline functions of each file.
const INLINE: &str = r#"
target triple = "x86_64-pc-linux-gnu"
$small = comdat any
@shared = linkonce_odr global i32 7
define linkonce_odr i32 @small(i8 zeroext %x) comdat { %y = zext i8 %x to i32 %z = add i32 %y, 1 ret i32 %z }
define linkonce_odr ptr @counter() { ret ptr @shared }
define weak i32 @chosen() { ret i32 1 }
define linkonce i32 @overridden() { ret i32 1 }
declare void @inner(ptr, ptr nest, i8 zeroext)
"#;
const FIRST: &str = r#"
define i32 @main() { %a = call i32 @second() %b = call i32 @small(i8 zeroext 2) %c = add i32 %a, %b ret i32 %c }
declare i32 @second()
"#;
const SECOND: &str = r#"
define i32 @second() {
  %x = alloca i8
  call void @inner(ptr null, ptr %x, i8 3)
  %a = call i32 @small(i8 zeroext 3) %b = call i32 @overridden() %c = call ptr @counter()
  ret i32 %a
}
define linkonce_odr i32 @only_here() { ret i32 9 }
@table = global [2 x ptr] [ptr @small, ptr @only_here]
"#;
const THIRD: &str = r#"
target triple = "x86_64-pc-linux-gnu"
define i32 @overridden() { ret i32 2 }
define void @inner(ptr %a, ptr nest %outer, i8 zeroext %b) { store i8 %b, ptr %outer ret void }
"#;

fn files(texts: &[String]) -> Vec<Input> {
    let file = |(number, text): (usize, &String)| Input {
        name: format!("{number}.bc"),
        ..bitcode(text)
    };
    texts.iter().enumerate().map(file).collect()
}

/// Returns the lines of a module's text, sorted: linking may change the order of symbols.
fn sorted(module: &Module) -> Vec<String> {
    let mut lines: Vec<String> = module.to_string().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn files_with_the_same_inline_functions_give_the_same_module() {
    let [first, second] = [FIRST, SECOND].map(|text| format!("{INLINE}{text}"));
    for texts in [
        vec![first.clone(), second.clone(), THIRD.to_owned()],
        vec![THIRD.to_owned(), second, first],
    ] {
        let files = files(&texts);
        let lazily = linked(&files, false, false, link).expect("nothing unusual");
        let lazily = lazily.unwrap_or_else(|e| panic!("{e}"));
        let eagerly = one(&files, false, false).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(sorted(&lazily), sorted(&eagerly));
        assert_eq!(lazily.symbols.len(), eagerly.symbols.len());
        let merged = input("merged.bc", &merge(&files).expect("nothing unusual"));
        let merged = one(&[merged], false, false).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(sorted(&merged), sorted(&eagerly));
    }
}

#[test]
fn unusual_files_are_left_to_the_reader_that_says_why() {
    let twice = |name| format!("{INLINE}define i32 @{name}() {{ ret i32 1 }}");
    let is_left = |files: &[Input]| linked(files, false, false, link).is_none();
    let same = files(&[twice("same"), twice("same")]);
    assert!(is_left(&same));
    let error = one(&same, false, false).unwrap_err().to_string();
    assert!(
        error.contains("symbol `same` is also defined in 0.bc"),
        "{error}"
    );
    let text = input("text.ll", twice("text").as_bytes());
    assert!(is_left(&[same[0].clone(), text]));
    let good = files(&[twice("one"), twice("two")]);
    assert!(!is_left(&good));
    for at in (0..good[1].bytes.len()).step_by(11) {
        // Damage has the same result either way.
        let mut damaged = good.clone();
        damaged[1].bytes[at] ^= 1 << (at % 8);
        if let (Some(Ok(lazily)), Ok(eagerly)) = (
            linked(&damaged, false, false, link),
            one(&damaged, false, false),
        ) {
            assert_eq!(sorted(&lazily), sorted(&eagerly), "byte {at}");
        }
    }
}
