//! Tests of loops that are counted, that are entered by OSR, and that leave quick code for better
//! code.

use super::compiler::Compiler;
use super::libraries::Libraries;
use super::link::{Environment, link};
use super::policy::TierPolicy;
use super::process::{self, Process, ProcessOptions};
use super::runtime;
use super::sample::hot::HotSample;
use cranelift_entity::EntityRef;
use hashbrown::HashMap;
use ompvm_interp::frame::{LoweredFunction, OsrPoint};
use ompvm_interp::osr;
use ompvm_ir::{BlockId, GlobalRef};
use ompvm_jit::{Level, OsrEntry, Unit};
use ompvm_llvm::{Input, read};
use ompvm_memory::code_addresses::CodeAddresses;
use ompvm_memory::func::FuncRef;
use ompvm_memory::image::Image;
use ompvm_support::settings;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A loop with two numbers that are swapped in each iteration, one from before the loop, and one
/// that an inner loop computes. The result depends on all of them.
const LOOP: &str = "target triple = \"x86_64-unknown-linux-gnu\"
define i64 @rounds(i64 %n, i64 %k) {
start:
  %twice = mul i64 %k, 2
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %last ]
  %a = phi i64 [ 1, %start ], [ %b, %last ]
  %b = phi i64 [ 2, %start ], [ %a, %last ]
  %sum = phi i64 [ 0, %start ], [ %more, %last ]
  br label %inner
inner:
  %j = phi i64 [ 0, %loop ], [ %j1, %inner ]
  %s = phi i64 [ %sum, %loop ], [ %s1, %inner ]
  %s1 = add i64 %s, %twice
  %j1 = add i64 %j, 1
  %again = icmp slt i64 %j1, %a
  br i1 %again, label %inner, label %last
last:
  %x = mul i64 %s1, 3
  %more = xor i64 %x, %b
  %next = add i64 %i, 1
  %go = icmp slt i64 %next, %n
  br i1 %go, label %loop, label %end
end:
  %r = add i64 %more, %a
  ret i64 %r
}";

fn expected(n: i64, k: i64) -> i64 {
    let (mut a, mut b, mut sum) = (1, 2, 0i64);
    for i in 0.. {
        for _ in 0..a {
            sum = sum.wrapping_add(k * 2);
        }
        sum = sum.wrapping_mul(3) ^ b;
        if i + 1 >= n {
            break;
        }
        (a, b) = (b, a);
    }
    sum.wrapping_add(a)
}

/// The program, interpreted.
struct Guest(Process);

impl Guest {
    fn compiler(&self) -> Compiler {
        let overrides = HashMap::new();
        Compiler::new(self.image(), &overrides, None, false, settings::DEFAULT)
    }

    fn new() -> Guest {
        Guest::in_tier(TierPolicy::Interp)
    }

    fn in_tier(mode: TierPolicy) -> Guest {
        let input = Input {
            name: "test.ll".into(),
            bytes: LOOP.into(),
        };
        let environment = Environment {
            runtime: runtime::lookup_for(false),
            exports: Default::default(),
            executable: false,
            host: Default::default(),
            programs: Default::default(),
            libraries: Libraries::default(),
            archives: Vec::new(),
            natives: None,
            assembly: None,
            cache_entry: None,
            policy: None,
            late: false,
            overrides: process::embedded_overrides(),
            heap_limit: None,
        };
        runtime::init();
        let linked = link(Arc::new(read(&[input]).unwrap()), environment).unwrap();
        let options = ProcessOptions {
            mode,
            args: vec![c"test".into()],
            ..ProcessOptions::default()
        };
        let guest = Guest(Process::start(linked, options).unwrap());
        guest.check(1);
        guest
    }

    fn image(&self) -> &Image {
        self.0.image()
    }

    fn func(&self) -> &FuncRef {
        let Some(GlobalRef::Func(id)) = self.image().module.symbol("rounds") else {
            panic!("no function")
        };
        self.image().func_ref(id).unwrap()
    }

    /// Runs `n` iterations.
    fn check(&self, n: i64) {
        let address = self.func().stub;
        // SAFETY: the stub is that of the function above, which has this type.
        let rounds: extern "C-unwind" fn(i64, i64) -> i64 = unsafe { std::mem::transmute(address) };
        assert_eq!(rounds(n, 5), expected(n, 5), "{n}");
    }

    /// Returns the bytecode of the function and the index of the outer loop's head.
    fn code(&self) -> (&'static LoweredFunction, usize) {
        let code = self.func().code.load(Ordering::Acquire);
        // SAFETY: the function was called, so it was lowered, and lowered code is never freed.
        let code = unsafe { &*code.cast_const().cast::<LoweredFunction>() };
        let outer = |h: &OsrPoint| h.block == Some(BlockId::from_u32(1));
        (code, code.osr_points.iter().position(outer).unwrap())
    }
}

#[test]
fn an_interpreted_program_stays_so_beside_a_compiled_one() {
    let compiled = Guest::in_tier(TierPolicy::Baseline);
    let interpreted = Guest::in_tier(TierPolicy::Interp);
    compiled.check(9);
    interpreted.check(9);
    let attempted = |guest: &Guest| guest.code().0.baseline_attempted.load(Ordering::Relaxed);
    assert!(!attempted(&interpreted));
    // Needs a build and a processor with a baseline tier.
    assert_eq!(attempted(&compiled), ompvm_baseline::available().is_ok());
}

#[test]
fn back_edges_are_counted_for_a_limited_time() {
    let guest = Guest::new();
    let (code, outer) = guest.code();
    let head = &code.osr_points[outer];
    let counted = || head.patched.load(Ordering::Relaxed) != 0;
    let hits = || head.hits.load(Ordering::Relaxed);
    osr::count_back_edges(code, true);
    guest.check(9);
    assert!((8..=9).contains(&hits()) && counted(), "{}", hits());
    guest.check(100_000);
    let most = hits();
    assert!(!counted() && (1000..100_000).contains(&most), "{most}");
    guest.check(9);
    assert_eq!(hits(), most);
    // The next counting starts from zero.
    osr::count_back_edges(code, true);
    assert!(counted() && hits() == 0);
    osr::count_back_edges(code, false);
    assert!(!counted());
}

#[test]
fn entries_of_compiled_loops_are_counted() {
    let guest = Guest::new();
    let (code, outer) = guest.code();
    let head = &code.osr_points[outer];
    let compiler = guest.compiler();
    enter(&guest, &compiler, Level::Full, 0);
    guest.check(50);
    let hits = || head.hits.load(Ordering::Relaxed);
    assert_eq!(hits(), 0);
    osr::count_back_edges(code, true);
    // Each call enters the loop once.
    for n in 1..4 {
        guest.check(50);
        assert_eq!(hits(), n);
    }
    osr::count_back_edges(code, false);
    guest.check(50);
    assert_eq!(hits(), 3);
}

/// Compiles the outer loop and enters it after `after` iterations.
fn enter(guest: &Guest, compiler: &Compiler, level: Level, after: u32) {
    let (code, outer) = guest.code();
    let (locations, words) = osr::value_locations(code).unwrap();
    let entry = OsrEntry {
        function: code.func.index(),
        block: 1,
        words,
        locations,
    };
    let unit = Unit {
        functions: Some(Vec::new()),
        entries: vec![entry],
        level,
        degraded: false,
    };
    let done = compiler.compile(guest.image(), &unit).unwrap();
    let (_, address) = done[0].entries[0];
    osr::install_entry(code, outer, address, after, level == Level::Quick);
}

#[test]
fn calls_and_iterations_are_counted_together() {
    let guest = Guest::new();
    let now = Instant::now();
    let mut sample = HotSample::new(guest.code().0, now);
    sample.start_counting(now);
    guest.check(50);
    let (calls, hits) = (sample.calls(), sample.hits());
    assert!(calls > 0 && hits >= 50 * calls);
    // A call was noticed, and counting goes on.
    sample.look_for_calls(now);
    guest.check(50);
    assert_eq!((sample.calls(), sample.hits()), (calls * 2, hits * 2));
    sample.stop_counting();
    guest.check(50);
    assert_eq!((sample.calls(), sample.hits()), (calls * 2, hits * 2));
}

#[test]
fn use_of_quick_code_is_observed() {
    let guest = Guest::new();
    let (code, outer) = guest.code();
    let compiler = guest.compiler();
    enter(&guest, &compiler, Level::Quick, 0);
    let probe = || osr::probe_loop(code, outer);
    // Before the first query no use is known, so it counts as used.
    assert!(probe() && !probe());
    guest.check(50);
    assert!(probe() && !probe());
    enter(&guest, &compiler, Level::Full, 0);
    guest.check(50);
    assert!(!probe());

    let func = guest.func();
    assert!(!func.was_called());
    let compile = |level| {
        let unit = Unit {
            functions: Some(vec![func.id.index()]),
            entries: Vec::new(),
            level,
            degraded: false,
        };
        compiler.compile(guest.image(), &unit).unwrap();
    };
    compile(Level::Quick);
    assert!(!func.was_called() && !func.was_called());
    for _ in 0..2 {
        guest.check(50);
        assert!(func.was_called() && !func.was_called());
    }
    // New code replaces the code that records its use.
    guest.check(3);
    compile(Level::Full);
    guest.check(50);
    assert!(!func.was_called());
}

#[test]
fn quick_code_of_a_loop_leaves_for_better_code() {
    let guest = Guest::new();
    let (code, outer) = guest.code();
    let compiler = guest.compiler();
    let enter = |level, after| enter(&guest, &compiler, level, after);
    // The loop is entered at the second iteration; while it is counted, each pass of the head
    // counts.
    enter(Level::Quick, 1);
    let head = &code.osr_points[outer];
    let came_by = || head.hits.swap(0, Ordering::Relaxed);
    guest.check(50);
    assert_eq!(came_by(), 2);
    osr::always_exit(code, outer);
    guest.check(50);
    assert_eq!(came_by(), 50);
    let quick = head.code.load(Ordering::Relaxed);
    enter(Level::Quick, 1);
    assert_eq!(head.code.load(Ordering::Relaxed), quick);
    enter(Level::Full, 1);
    assert_ne!(head.code.load(Ordering::Relaxed), quick);
    guest.check(50);
    // Code of the full level does not leave the loop.
    assert_eq!(came_by(), 2);
    for n in 2..9 {
        guest.check(n);
    }
}

#[test]
fn code_addresses_are_in_order_and_distinct() {
    let text = "target triple = \"x86_64-unknown-linux-gnu\"\n\
        @table = global [3 x ptr] [ptr blockaddress(@f, %a), ptr blockaddress(@f, %b), \
          ptr blockaddress(@f, %c)]\n\
        declare void @g()\n\
        define void @f() {\n\
        call void @g()\ncall void asm \"nop\", \"\"()\nbr label %a\n\
        a:\nbr label %b\n\
        b:\ncall void @g()\nbr label %c\n\
        c:\nret void\n}\n\
        define void @h() {\ncall void @g()\nret void\n}\n"
        .as_bytes()
        .to_vec();
    let name = "test.ll".into();
    let module = read(&[Input { name, bytes: text }]).unwrap();
    let function = |name: &str| match module.symbol(name) {
        Some(GlobalRef::Func(f)) => (f, &**module.functions[f].body.as_ref().unwrap()),
        _ => panic!("no {name}"),
    };
    let ((f, body), (h, other)) = (function("f"), function("h"));
    let few = CodeAddresses::new(&module, false).unwrap();
    assert_eq!(few.return_addresses(f, body), None);
    assert_eq!(few.ranges().count(), 1);
    let addresses = CodeAddresses::new(&module, true).unwrap();
    let label = |n| addresses.label(f, BlockId::from_u32(n));
    let behind = addresses.return_addresses(f, body).unwrap();
    // Behind the first call lies the assembly, one byte long, and then the label.
    assert_eq!(label(1), behind[0] + 1);
    assert!(
        label(1) < label(2) && label(2) < label(3),
        "empty blocks are apart"
    );
    assert_eq!(label(0), 0, "nobody takes it");
    for n in 1..4 {
        let block = BlockId::from_u32(n);
        assert_eq!(addresses.label_at(label(n)), Some((f, block)));
    }
    assert_eq!(addresses.label_at(behind[0]), None);
    let after = addresses.return_addresses(h, other).unwrap()[0];
    assert_eq!(addresses.function_at(after), Some(h));
    assert_eq!(addresses.function_at(behind[0]), Some(f));
    assert_eq!(addresses.function_at(0), None);
}
