//! Tests of the baseline compiler's parts by themselves: table, encoder, register cache, memory.
//!
//! What not: whether functions compute the same as interpreted; the harness runs guests for that.

mod encoder;
mod memory;
mod registers;

use super::table::rows;
use crate::interp::isa::INFO;
use iced_x86::{Decoder, DecoderOptions, Instruction};

/// What machine code says to a decoder that is not ours.
fn decoded(code: &[u8]) -> Vec<Instruction> {
    Decoder::new(64, code, DecoderOptions::NONE)
        .iter()
        .collect()
}

#[test]
fn every_instruction_is_described() {
    let missing: Vec<&str> = rows()
        .iter()
        .zip(INFO)
        .filter(|(row, _)| !row.known)
        .map(|(_, info)| info.name)
        .collect();
    assert!(missing.is_empty(), "without a row in `table`: {missing:?}");
}
