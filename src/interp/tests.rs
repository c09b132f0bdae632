//! Tests of the instruction table. Programs are compared with native code by the differential tests
//! (tests/diff).

use super::isa::INSTRUCTIONS;

#[test]
fn every_instruction_has_a_handler_and_whole_words() {
    assert_eq!(INSTRUCTIONS.handlers.len(), INSTRUCTIONS.info.len());
    for info in INSTRUCTIONS.info {
        assert_eq!(info.bytes % 8, 0, "{}", info.name);
        assert!(!info.effect.is_empty(), "{}", info.name);
    }
}

#[test]
fn instruction_names_are_distinct() {
    let mut names: Vec<_> = INSTRUCTIONS.info.iter().map(|i| i.name).collect();
    names.sort_unstable();
    let n = names.len();
    names.dedup();
    assert_eq!(names.len(), n);
}
