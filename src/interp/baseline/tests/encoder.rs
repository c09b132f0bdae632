//! Tests the encoder against an independent decoder: each form, with every register and all kinds
//! of memory operands, is one instruction of the emitted length with the intended meaning.
//!
//! The templates' choice of forms is not tested here.

use super::decoded;
use crate::asm::{Alu, Asm, G, Mem, NO_INDEX, Rm, at, cc, pp};
use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

const GPR: [[Register; 16]; 4] = {
    use Register::*;
    [
        [
            AL, CL, DL, BL, SPL, BPL, SIL, DIL, R8L, R9L, R10L, R11L, R12L, R13L, R14L, R15L,
        ],
        [
            AX, CX, DX, BX, SP, BP, SI, DI, R8W, R9W, R10W, R11W, R12W, R13W, R14W, R15W,
        ],
        [
            EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI, R8D, R9D, R10D, R11D, R12D, R13D, R14D, R15D,
        ],
        [
            RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15,
        ],
    ]
};
const XMM: [Register; 16] = {
    use Register::*;
    [
        XMM0, XMM1, XMM2, XMM3, XMM4, XMM5, XMM6, XMM7, XMM8, XMM9, XMM10, XMM11, XMM12, XMM13,
        XMM14, XMM15,
    ]
};

/// Widths, as the logarithm of their bytes.
const B: usize = 0;
const W: usize = 1;
const D: usize = 2;
const Q: usize = 3;

fn width(wide: bool) -> usize {
    if wide { Q } else { D }
}

/// An expected operand.
#[derive(Clone, Copy, Debug)]
enum Want {
    G(usize, u8),
    X(u8),
    /// Memory of this many bytes; 0 if the instruction implies it.
    Mem(Mem, usize),
    Imm(i64),
    /// An immediate of which only the low 32 bits count.
    Low(i32),
}

/// Expects a general register or memory.
fn g(width: usize, rm: Rm) -> Want {
    match rm {
        Rm::Reg(r) => Want::G(width, r),
        Rm::Mem(m) => Want::Mem(m, 1 << width),
    }
}

/// Expects a vector register or memory.
fn x(rm: Rm) -> Want {
    match rm {
        Rm::Reg(r) => Want::X(r),
        Rm::Mem(m) => Want::Mem(m, 0),
    }
}

fn meets(inst: &Instruction, k: u32, want: Want) -> bool {
    match want {
        Want::G(width, r) => {
            inst.op_kind(k) == OpKind::Register && inst.op_register(k) == GPR[width][usize::from(r)]
        }
        Want::X(r) => {
            inst.op_kind(k) == OpKind::Register && inst.op_register(k) == XMM[usize::from(r)]
        }
        Want::Mem(m, bytes) => {
            let index = match m.index {
                NO_INDEX => Register::None,
                i => GPR[Q][usize::from(i)],
            };
            inst.op_kind(k) == OpKind::Memory
                && (bytes == 0 || inst.memory_size().size() == bytes)
                && inst.memory_base() == GPR[Q][usize::from(m.base)]
                && inst.memory_index() == index
                && (index == Register::None || inst.memory_index_scale() == 1 << m.scale)
                && inst.memory_displacement64() as i64 == i64::from(m.disp)
        }
        Want::Imm(v) => inst.immediate(k) as i64 == v,
        Want::Low(v) => inst.immediate(k) as i32 == v,
    }
}

/// Checks that `emit` appends exactly one instruction, with this mnemonic and these operands.
#[track_caller]
fn check(emit: impl FnOnce(&mut Asm), mnemonic: M, wants: &[Want]) {
    let mut asm = Asm::default();
    emit(&mut asm);
    let all = decoded(&asm.code);
    let [inst] = all[..] else {
        panic!("{mnemonic:?} {wants:?}: {:x?} is {all:?}", asm.code)
    };
    let fits = inst.mnemonic() == mnemonic
        && inst.len() == asm.code.len()
        && inst.op_count() as usize == wants.len()
        && (0..).zip(wants).all(|(k, &want)| meets(&inst, k, want));
    assert!(fits, "{mnemonic:?} {wants:?}: {:x?} is {inst}", asm.code);
}

/// Returns memory operands of every kind: bases and indices that need a SIB byte, a displacement or
/// a prefix bit, and displacements of each length.
fn places() -> Vec<Mem> {
    let mut all = Vec::new();
    for base in 0..16 {
        for disp in [0, 1, -128, 127, 128, -129, 0x1234_5678, i32::MIN] {
            all.push(at(base, disp));
            for (index, scale) in [(0, 0), (5, 1), (9, 2), (12, 3), (13, 0)] {
                all.push(Mem {
                    base,
                    index,
                    scale,
                    disp,
                });
            }
        }
    }
    all
}

/// Returns every register and every kind of memory operand.
fn operands() -> Vec<Rm> {
    (0..16)
        .map(Rm::Reg)
        .chain(places().into_iter().map(Rm::Mem))
        .collect()
}

/// Registers whose numbers need different encodings.
const SOME: [G; 5] = [0, 4, 5, 8, 15];

#[test]
fn moves_of_general_registers() {
    for rm in operands() {
        for d in 0..16 {
            if rm != Rm::Reg(d) {
                check(|a| a.mov(d, rm), M::Mov, &[Want::G(Q, d), g(Q, rm)]);
            }
            check(|a| a.mov32(d, rm), M::Mov, &[Want::G(D, d), g(D, rm)]);
        }
    }
    for m in places() {
        for r in 0..16 {
            check(|a| a.store(m, r), M::Mov, &[Want::Mem(m, 8), Want::G(Q, r)]);
        }
        for imm in [0, 1, -1, i32::MIN, i32::MAX] {
            let want = [Want::Mem(m, 8), Want::Imm(i64::from(imm))];
            check(|a| a.store_imm(m, imm), M::Mov, &want);
        }
    }
    let mut nothing = Asm::default();
    nothing.mov(3, Rm::Reg(3));
    assert!(nothing.code.is_empty());
}

#[test]
fn constants_take_the_shortest_form() {
    for d in 0..16 {
        check(|a| a.mov_imm(d, 0), M::Xor, &[Want::G(D, d), Want::G(D, d)]);
        for imm in [1u64, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff] {
            // Bits 32 to 63 become zero.
            let want = [Want::G(D, d), Want::Low(imm as i32)];
            check(|a| a.mov_imm(d, imm), M::Mov, &want);
        }
        for imm in [
            -1i64,
            -0x8000_0000,
            i64::MIN,
            0x1_0000_0000,
            0x7fff_0000_1234_5678,
        ] {
            let want = [Want::G(Q, d), Want::Imm(imm)];
            check(|a| a.mov_imm(d, imm as u64), M::Mov, &want);
        }
    }
}

#[test]
fn arithmetic() {
    let ops = [
        (Alu::Add, M::Add),
        (Alu::Or, M::Or),
        (Alu::And, M::And),
        (Alu::Sub, M::Sub),
        (Alu::Xor, M::Xor),
        (Alu::Cmp, M::Cmp),
    ];
    for (op, name) in ops {
        for wide in [false, true] {
            let w = width(wide);
            for rm in operands() {
                for d in SOME {
                    check(|a| a.alu(op, wide, d, rm), name, &[Want::G(w, d), g(w, rm)]);
                }
                for imm in [0, 1, -1, 127, -128, 128, i32::MIN] {
                    let want = [g(w, rm), Want::Low(imm)];
                    check(|a| a.alu_imm(op, wide, rm, imm), name, &want);
                }
            }
        }
    }
}

#[test]
fn products_shifts_and_addresses() {
    for wide in [false, true] {
        let w = width(wide);
        for d in 0..16 {
            for rm in operands() {
                for imm in [3, -128, 128, i32::MAX] {
                    let want = [Want::G(w, d), g(w, rm), Want::Low(imm)];
                    check(|a| a.imul_imm(wide, d, rm, imm), M::Imul, &want);
                }
            }
            for (which, name) in [(4, M::Shl), (5, M::Shr), (7, M::Sar)] {
                for by in [1, 7, 31] {
                    let want = [Want::G(w, d), Want::Imm(by)];
                    check(|a| a.shift_imm(which, wide, d, by as u8), name, &want);
                }
                let want = [Want::G(w, d), Want::G(B, 1)];
                check(|a| a.shift_cl(which, wide, d), name, &want);
            }
            for m in places() {
                check(
                    |a| a.lea(wide, d, m),
                    M::Lea,
                    &[Want::G(w, d), Want::Mem(m, 0)],
                );
            }
        }
    }
}

#[test]
fn extensions_and_conditions() {
    for rm in operands() {
        for d in SOME {
            for wide in [false, true] {
                let to = Want::G(width(wide), d);
                check(|a| a.movsx(8, wide, d, rm), M::Movsx, &[to, g(B, rm)]);
                check(|a| a.movsx(16, wide, d, rm), M::Movsx, &[to, g(W, rm)]);
            }
            let (d64, d32) = (Want::G(Q, d), Want::G(D, d));
            check(|a| a.movsx(32, true, d, rm), M::Movsxd, &[d64, g(D, rm)]);
            check(|a| a.movsx(32, false, d, rm), M::Mov, &[d32, g(D, rm)]);
            check(|a| a.movzx(8, d, rm), M::Movzx, &[d32, g(B, rm)]);
            check(|a| a.movzx(16, d, rm), M::Movzx, &[d32, g(W, rm)]);
            check(|a| a.movzx(32, d, rm), M::Mov, &[d32, g(D, rm)]);
            for (condition, [_, cmov]) in CONDITIONS {
                check(|a| a.cmov(condition, d, rm), cmov, &[d64, g(Q, rm)]);
            }
        }
    }
    for d in 0..16 {
        for (condition, [set, _]) in CONDITIONS {
            check(|a| a.setcc(condition, d), set, &[Want::G(B, d)]);
        }
    }
}

/// Each condition, with the decoder's mnemonics that depend on it.
const CONDITIONS: [(u8, [M; 2]); 12] = [
    (cc::O, [M::Seto, M::Cmovo]),
    (cc::B, [M::Setb, M::Cmovb]),
    (cc::AE, [M::Setae, M::Cmovae]),
    (cc::E, [M::Sete, M::Cmove]),
    (cc::NE, [M::Setne, M::Cmovne]),
    (cc::BE, [M::Setbe, M::Cmovbe]),
    (cc::A, [M::Seta, M::Cmova]),
    (cc::P, [M::Setp, M::Cmovp]),
    (cc::NP, [M::Setnp, M::Cmovnp]),
    (cc::L, [M::Setl, M::Cmovl]),
    (cc::LE, [M::Setle, M::Cmovle]),
    (cc::G, [M::Setg, M::Cmovg]),
];

#[test]
fn jumps_lead_to_their_labels() {
    let mut asm = Asm::default();
    let (back, ahead) = (asm.label(), asm.label());
    assert!(!asm.is_bound(ahead));
    asm.bind(back);
    asm.mov(0, Rm::Reg(1));
    asm.jcc(cc::NE, ahead);
    asm.jmp(back);
    asm.jcc(cc::L, back);
    asm.jmp(ahead);
    asm.bind(ahead);
    asm.mov(1, Rm::Reg(2));
    asm.resolve();
    let all = decoded(&asm.code);
    let names: Vec<M> = all.iter().map(Instruction::mnemonic).collect();
    assert_eq!(names, [M::Mov, M::Jne, M::Jmp, M::Jl, M::Jmp, M::Mov]);
    let to = u64::from(asm.position(ahead));
    assert_eq!(to, all[5].ip());
    let targets: Vec<u64> = all[1..5]
        .iter()
        .map(Instruction::near_branch_target)
        .collect();
    assert_eq!(targets, [to, 0, 0, to]);
    for rm in operands() {
        check(|a| a.jmp_rm(rm), M::Jmp, &[g(Q, rm)]);
    }
}

#[test]
fn bytes_and_halves() {
    for rm in operands() {
        for r in 0..16 {
            check(|a| a.op8(0x88, r, rm), M::Mov, &[g(B, rm), Want::G(B, r)]);
            check(|a| a.op16(0x89, r, rm), M::Mov, &[g(W, rm), Want::G(W, r)]);
        }
    }
}

#[test]
fn vector_registers() {
    for m in places() {
        let p = |bytes| Want::Mem(m, bytes);
        for r in 0..16 {
            let v = Want::X(r);
            check(|a| a.vload64(r, m), M::Vmovsd, &[v, p(8)]);
            check(|a| a.vload32(r, m), M::Vmovss, &[v, p(4)]);
            check(|a| a.vload128(r, m), M::Vmovups, &[v, p(16)]);
            check(|a| a.vstore64(m, r), M::Vmovsd, &[p(8), v]);
            check(|a| a.vstore32(m, r), M::Vmovss, &[p(4), v]);
            check(|a| a.vstore128(m, r), M::Vmovups, &[p(16), v]);
        }
    }
    for a in 0..16 {
        for b in 0..16 {
            let (ga, xb) = (Want::G(Q, a), Want::X(b));
            check(|s| s.vmovq_to_g(a, b), M::Vmovq, &[ga, xb]);
            check(|s| s.vmovq_from_g(b, a), M::Vmovq, &[xb, ga]);
            check(
                |s| s.vpextrq_high(a, b),
                M::Vpextrq,
                &[ga, xb, Want::Imm(1)],
            );
            if a != b {
                check(|s| s.vmov(a, b), M::Vmovaps, &[Want::X(a), xb]);
            }
        }
    }
}

#[test]
fn vector_arithmetic_in_each_map_and_prefix() {
    // The `0f` map by prefix, then `0f38` and `0f3a`.
    let forms = [
        (pp::NONE, 1, 0x58, M::Vaddps),
        (pp::P66, 1, 0x58, M::Vaddpd),
        (pp::F3, 1, 0x59, M::Vmulss),
        (pp::F2, 1, 0x5c, M::Vsubsd),
        (pp::P66, 1, 0x14, M::Vunpcklpd),
        (pp::P66, 1, 0x15, M::Vunpckhpd),
        (pp::P66, 2, 0x40, M::Vpmulld),
    ];
    for (prefix, map, opcode, name) in forms {
        for rm in operands() {
            for d in SOME {
                for v in SOME {
                    let want = [Want::X(d), Want::X(v), x(rm)];
                    let emit = |a: &mut Asm| a.vex(prefix, map, false, opcode, d, v, rm);
                    check(emit, name, &want);
                    if map == 1 {
                        check(|a| a.v(prefix, opcode, d, v, rm), name, &want);
                    }
                }
                let want = [Want::X(d), Want::X(9), x(rm), Want::Imm(1)];
                let blend = |a: &mut Asm| {
                    a.vex(pp::P66, 3, false, 0x0b, d, 9, rm);
                    a.imm8(1);
                };
                check(blend, M::Vroundsd, &want);
            }
        }
    }
}
