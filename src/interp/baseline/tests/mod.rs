//! Unit tests of the baseline compiler's parts: table, encoder, register cache, memory.
//!
//! The test harness runs guests to compare compiled with interpreted functions.

mod code_memory;
mod encoder;
mod registers;

use super::table::rows;
use iced_x86::{Decoder, DecoderOptions, Instruction};
use ompvm_interp::isa::INSTRUCTIONS;

/// Decodes machine code with an independent decoder.
fn decoded(code: &[u8]) -> Vec<Instruction> {
    Decoder::new(64, code, DecoderOptions::NONE)
        .iter()
        .collect()
}

#[test]
fn every_instruction_is_described() {
    let missing: Vec<&str> = rows()
        .iter()
        .zip(INSTRUCTIONS.info)
        .filter(|(row, _)| !row.known)
        .map(|(_, info)| info.name)
        .collect();
    assert!(missing.is_empty(), "without a row in `table`: {missing:?}");
}
