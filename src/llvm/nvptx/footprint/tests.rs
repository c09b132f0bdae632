//! Tests of the analysis and evaluation of footprints.

use super::interval::Interval;
use super::*;
use crate::handles::Module;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use omp_abi::League;

/// Terms of a loop over the grid with `n` iterations, where `n` is argument 2, on 10 blocks of
/// 32 threads.
fn grid() -> (Vec<Term>, TermId) {
    let terms = vec![
        Term::Word(2, 64),
        Term::ShareFirst(0),
        Term::ShareEnd(0),
        Term::Below(Quantity::GridThreads),
        Term::Quantity(Quantity::GridThreads),
        Term::Operation(Operation::Add, 64, vec![1, 3]),
        Term::Induction {
            start: 5,
            step: 4,
            end: Some(LoopEnd {
                start: 5,
                step: 4,
                bound: 2,
                comparison: Comparison::Less,
                before: false,
                unsigned: true,
                guarded: true,
                bits: 64,
            }),
            bits: 64,
        },
    ];
    (terms, 6)
}

/// Returns the offsets of one access for each of four shares of a loop of `n` iterations.
fn offsets(terms: Vec<Term>, offset: TermId, n: u64) -> Vec<Option<Range<i64>>> {
    let footprint = Footprint {
        unknown: None,
        terms,
        accesses: vec![Access {
            parameter: 1,
            written: true,
            offset: Some(offset),
            bytes: 8,
            ends: false,
        }],
        by_iterations: true,
    };
    let quarter = 1 << 62;
    let of = |part: u64| {
        let league = League {
            part: part as u32,
            parts: 4,
            from: quarter * part,
            to: if part == 3 { 0 } else { quarter * (part + 1) },
            first: 0,
            teams: 0,
        };
        let ranges = footprint.ranges(&LaunchShape {
            words: &[0, 4096, n],
            blocks: 10,
            threads: 32,
            league,
            ends: part == 0,
        });
        ranges[0].offsets.clone()
    };
    (0..4).map(of).collect()
}

#[test]
fn footprints_of_shares_meet() {
    let (mut terms, i) = grid();
    let bytes = terms.len() as TermId;
    terms.push(Term::Constant(8));
    terms.push(Term::Operation(Operation::Mul, 64, vec![i, bytes]));
    let found = offsets(terms.clone(), bytes + 1, 4000);
    let ranges = [0..8000, 8000..16000, 16000..24000, 24000..32000];
    assert_eq!(found, ranges.map(Some));
    // Of fewer iterations than threads, too.
    let found = offsets(terms, bytes + 1, 400);
    let ranges = [0..800, 800..1600, 1600..2400, 2400..3200];
    assert_eq!(found, ranges.map(Some));
}

#[test]
fn footprints_of_collapsed_loops_cover_whole_rows() {
    // Row i / 100 and column i % 100 of rows of 128 elements.
    let (mut terms, i) = grid();
    let at = terms.len() as TermId;
    terms.push(Term::Constant(100));
    terms.push(Term::Constant(1024));
    terms.push(Term::Constant(8));
    terms.push(Term::Operation(Operation::UDiv, 64, vec![i, at]));
    terms.push(Term::Operation(Operation::URem, 64, vec![i, at]));
    terms.push(Term::Operation(Operation::Mul, 64, vec![at + 3, at + 1]));
    terms.push(Term::Operation(Operation::Mul, 64, vec![at + 4, at + 2]));
    terms.push(Term::Operation(Operation::Add, 64, vec![at + 5, at + 6]));
    let found = offsets(terms, at + 7, 4000);
    assert_eq!(found[0], Some(0..9 * 1024 + 800));
    assert_eq!(found[3], Some(30 * 1024..39 * 1024 + 800));
}

#[test]
fn footprints_keep_to_the_width_of_numbers() {
    let apply = |operation: Operation, bits, values: &[(i128, i128)]| {
        let operands: Vec<_> = values
            .iter()
            .map(|&(low, high)| Some(Interval { low, high }))
            .collect();
        let found = operation.apply(bits, &operands);
        found.map(|i| (i.low, i.high))
    };
    use Operation::*;
    assert_eq!(apply(Add, 32, &[(0, 10), (-1, -1)]), Some((-1, 9)));
    assert_eq!(apply(ZeroExtend, 32, &[(-1, 9)]), None);
    assert_eq!(
        apply(ZeroExtend, 32, &[(-4, -1)]),
        Some(((1 << 32) - 4, (1 << 32) - 1))
    );
    assert_eq!(
        apply(SignExtend, 32, &[((1 << 32) - 4, (1 << 32) - 1)]),
        Some((-4, -1))
    );
    assert_eq!(apply(Mul, 32, &[(0, 1 << 20), (0, 1 << 20)]), None);
    assert_eq!(apply(URem, 32, &[(130, 140), (100, 100)]), Some((30, 40)));
    assert_eq!(apply(URem, 32, &[(90, 140), (100, 100)]), Some((0, 99)));
    assert_eq!(apply(SRem, 32, &[(-5, 5), (3, 3)]), Some((-2, 2)));
    assert_eq!(apply(And, 64, &[(3, 300), (-256, -256)]), Some((0, 256)));
    assert_eq!(apply(Or, 64, &[(0, 6), (1, 1)]), Some((1, 7)));
    assert_eq!(apply(SDiv, 64, &[(-7, 7), (2, 2)]), Some((-3, 3)));
    assert_eq!(apply(LShr, 64, &[(-1, 1), (1, 1)]), None);
}

#[test]
fn footprints_of_falling_loops_are_mirrored() {
    // for (i = 9; i > 2; i -= 1)
    let terms = vec![
        Term::Constant(9),
        Term::Constant(-1),
        Term::Constant(2),
        Term::Induction {
            start: 0,
            step: 1,
            end: Some(LoopEnd {
                start: 0,
                step: 1,
                bound: 2,
                comparison: Comparison::Greater,
                before: false,
                unsigned: false,
                guarded: false,
                bits: 32,
            }),
            bits: 32,
        },
    ];
    assert_eq!(offsets(terms, 3, 1)[0], Some(3..17));
}

/// Analyzes `@kernel` of a module that also has a kernel whose footprint is unknown.
fn analyzed(body: &str) -> Footprint {
    let text = format!(
        "define void @other(ptr %environment, ptr %p) {{
  %q = load ptr, ptr %p
  store i32 1, ptr %q
  ret void
}}
define void @kernel(ptr %environment, ptr %p, i64 %n) {{
{body}
  ret void
}}
"
    );
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "kernel");
    let module = context.create_module_from_ir(buffer).unwrap();
    // SAFETY: the module outlives the call.
    analyze(
        unsafe { Module::from_raw(module.as_mut_ptr()) },
        "kernel",
        true,
    )
}

#[test]
fn footprints_of_inline_assembly() {
    // As in NVIDIA's mathematics library.
    let computes = "  %x = load float, ptr %p
  %y = call float asm \"rcp.approx.ftz.f32 $0,$1;\", \"=f,f\"(float %x)
  store float %y, ptr %p";
    let footprint = analyzed(computes);
    assert_eq!(footprint.unknown, None);
    assert_eq!(footprint.accesses.len(), 2);
    let accesses = "  call void asm sideeffect \"membar.gl;\", \"~{memory}\"()";
    assert!(analyzed(accesses).unknown.is_some());
    let by_operand = "  %x = call i32 asm \"ld.b32 $0,[$1];\", \"=r,l\"(ptr %p)";
    assert!(analyzed(by_operand).unknown.is_some());
}

#[test]
fn footprints_of_loops_over_narrow_counters() {
    // `for (int i = 0; i < n; i++) p[i] = 0`, as LLVM extends the counter.
    let body = "  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %at = getelementptr inbounds i32, ptr %p, i64 %i
  store i32 0, ptr %at
  %shifted = shl nuw nsw i64 %i, 32
  %sum = add nuw i64 %shifted, 4294967296
  %next = ashr exact i64 %sum, 32
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:";
    let footprint = analyzed(body);
    assert_eq!(footprint.unknown, None);
    let ranges = footprint.ranges(&LaunchShape {
        words: &[0, 4096, 100],
        blocks: 1,
        threads: 1,
        league: League {
            part: 0,
            parts: 1,
            from: 0,
            to: 0,
            first: 0,
            teams: 0,
        },
        ends: true,
    });
    assert_eq!(ranges[0].offsets, Some(0..400));
}
