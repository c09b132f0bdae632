//! The table is complete.

use super::table::ROWS;
use crate::interp::isa::INFO;

#[test]
fn every_instruction_is_described() {
    let missing: Vec<&str> = ROWS
        .iter()
        .zip(INFO)
        .filter(|(row, _)| !row.known)
        .map(|(_, info)| info.name)
        .collect();
    assert!(missing.is_empty(), "without a row in `table`: {missing:?}");
}
