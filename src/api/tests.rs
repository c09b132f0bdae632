//! Tests of the API on textual IR: linking errors, exits, faults, host functions.

use super::*;

const HEAD: &str = "target triple = \"x86_64-unknown-linux-gnu\"\n";

fn module(text: &str) -> Result<Module, Error> {
    let text = format!("{HEAD}{text}");
    Module::from_bytes(&Engine::default(), "test.ll", text.as_bytes())
}

fn start(text: &str) -> Result<Process, Error> {
    Linker::new(&Engine::default())
        .link(&module(text)?)?
        .start(Config::new().arg("test"))
}

#[test]
fn everything_unresolved_is_named_with_its_use() {
    let e = start(
        "declare void @nobody()\n declare i32 @somebody(i32)\n @data = external global i32\n
         declare void @not_used()\n declare extern_weak void @maybe()\n
         define void @f() { call void @nobody() %x = load i32, ptr @data %y = call i32 @somebody(i32 %x)
           %c = icmp ne ptr @maybe, null ret void }",
    )
    .unwrap_err();
    let text = e.to_string();
    assert_eq!(
        text.lines().next().unwrap(),
        "unresolved symbols: `data` (used in `f`), `nobody` (used in `f`), `somebody` (used in `f`)"
    );
    assert!(text.contains("--with FILE"), "{text}");
}

#[test]
fn missing_runtime_entries_are_reported_when_linking() {
    let m = module(
        "declare void @GOMP_parallel()\n define void @f() { call void @GOMP_parallel() ret void }",
    )
    .unwrap();
    assert_eq!(m.check().len(), 1);
    let e = Linker::new(&Engine::default()).link(&m).unwrap_err();
    assert!(
        matches!(&e, Error::Unsupported(list) if list[0].function.as_deref() == Some("f")),
        "{e}"
    );
}

#[test]
fn bad_input_names_the_file() {
    let e = Module::from_bytes(&Engine::default(), "empty.bc", b"").unwrap_err();
    assert!(e.to_string().starts_with("empty.bc: "), "{e}");
    let e = Module::from_files(&Engine::default(), &["/".into()]).unwrap_err();
    assert_eq!(e.to_string(), "/: it is a directory");
    let e = start("define i32 @f() { ret i32 0 }")
        .unwrap()
        .run_main()
        .unwrap_err();
    assert_eq!(e.to_string(), "test.ll: the program has no main function");
}

const EXITS: &str = "
@order = global i32 0
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @ctor, ptr null }]
@llvm.global_dtors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @dtor, ptr null }]
declare i32 @atexit(ptr)
declare void @exit(i32)
declare void @note(i32)
define internal void @ctor() { call void @note(i32 1) ret void }
define internal void @dtor() { call void @note(i32 4) ret void }
define internal void @handler() { call void @note(i32 3) ret void }
define i32 @main(i32 %argc, ptr %argv) {
  call void @note(i32 2)
  %r = call i32 @atexit(ptr @handler)
  %many = icmp sgt i32 %argc, 1
  br i1 %many, label %leave, label %back
leave:
  call void @exit(i32 9)
  unreachable
back:
  ret i32 7
}";

#[test]
fn main_exit_and_handlers_run_in_order() {
    use std::sync::{Arc, Mutex};
    for (args, status) in [(vec!["a"], 7), (vec!["a", "b"], 9)] {
        let engine = Engine::default();
        let notes = Arc::new(Mutex::new(Vec::new()));
        let mut linker = Linker::new(&engine);
        let sink = notes.clone();
        linker
            .func("note", move |n: i32| sink.lock().unwrap().push(n))
            .unwrap();
        let config = args.iter().fold(Config::new(), |c, a| c.arg(*a));
        let program = linker.link(&module(EXITS).unwrap()).unwrap();
        let process = program.start(config).unwrap();
        assert_eq!(process.run_main().unwrap().code(), status);
        assert_eq!(*notes.lock().unwrap(), [1, 2, 3, 4]);
        let again = process.run_main().unwrap_err();
        assert!(
            matches!(&again, Error::Host(why) if why.contains("called before")),
            "{again}"
        );
        assert_eq!(notes.lock().unwrap().len(), 4);
    }
}

#[test]
fn host_functions_must_have_the_declared_signature() {
    let engine = Engine::default();
    let mut linker = Linker::new(&engine);
    linker.func("note", |_: f64| {}).unwrap();
    let e = linker
        .link(&module(EXITS).unwrap())
        .unwrap()
        .start(Config::new())
        .unwrap_err();
    assert_eq!(
        e.to_string(),
        "the host function `note` is void(double), but the program declares void(i32)"
    );
}

#[test]
fn functions_are_called_with_scalars_and_faults_are_values() {
    let p = start(
        "@count = global i64 5
         @resolved = ifunc i8 (i8), ptr @pick
         @other = alias i64 (i64), ptr @add
         define internal i8 @twice(i8 %x) { %y = shl i8 %x, 1 ret i8 %y }
         define internal ptr @pick() { ret ptr @twice }
         define i64 @add(i64 %x) { %c = load i64, ptr @count %s = add i64 %x, %c store i64 %s, ptr @count ret i64 %s }
         define i8 @negate(i8 signext %x) { %y = sub i8 0, %x ret i8 %y }
         define float @mix(i1 zeroext %b, float %x, ptr %p) {
           %v = load float, ptr %p  %s = fadd float %v, %x
           %r = select i1 %b, float %s, float %x  ret float %r }
         define i8 @through(i8 %x) { %y = call i8 @resolved(i8 %x) ret i8 %y }
         define i32 @divide(i32 %a, i32 %b) { %q = sdiv i32 %a, %b ret i32 %q }
         define void @stop() { unreachable }",
    )
    .unwrap();
    // SAFETY: the types are the signatures of the functions above.
    unsafe {
        let add = p.typed_func::<(i64,), i64>("other").unwrap();
        assert_eq!(add.call((10,)).unwrap(), 15);
        assert_eq!(add.call((-20,)).unwrap(), -5);
        assert_eq!(p.global::<i64>("count").unwrap().read(), -5);
        assert_eq!(
            p.typed_func::<(i8,), i8>("negate")
                .unwrap()
                .call((5,))
                .unwrap(),
            -5
        );
        assert_eq!(
            p.typed_func::<(i8,), i8>("through")
                .unwrap()
                .call((-7,))
                .unwrap(),
            -14
        );
        let mix = p.typed_func::<(bool, f32, &[f32]), f32>("mix").unwrap();
        assert_eq!(mix.call((true, 0.5, &[2.0])).unwrap(), 2.5);
        let divide = p.typed_func::<(i32, i32), i32>("divide").unwrap();
        assert_eq!(divide.call((7, 2)).unwrap(), 3);
        for _ in 0..2 {
            let Err(Error::Trap(t)) = divide.call((7, 0)) else {
                panic!("no trap")
            };
            assert_eq!(t.kind, TrapKind::IntegerDivision);
            assert_eq!(t.function.as_deref(), Some("divide"));
        }
        let stop = p.typed_func::<(), ()>("stop").unwrap();
        assert!(matches!(
            stop.call(()),
            Err(Error::Trap(Trap {
                kind: TrapKind::Unreachable,
                ..
            }))
        ));
        assert!(p.typed_func::<(i32,), i64>("add").is_err());
        assert!(p.typed_func::<(), ()>("nothing").is_err());
    }
}

#[test]
fn an_uncaught_exception_comes_back_as_a_trap_each_time() {
    let text = "@_ZTIi = external constant ptr
         declare ptr @__cxa_allocate_exception(i64)
         declare void @__cxa_throw(ptr, ptr, ptr)
         declare void @_ZSt9terminatev()
         declare void @abort()
         define void @raise() { call void @inner() ret void }
         define void @inner() noinline { %e = call ptr @__cxa_allocate_exception(i64 4) store i32 5, ptr %e
           call void @__cxa_throw(ptr %e, ptr @_ZTIi, ptr null) unreachable }
         define void @give_up() { call void @_ZSt9terminatev() unreachable }
         define void @stop() { call void @abort() unreachable }";
    for tier in [Tier::Interp, Tier::Opt] {
        let program = Linker::new(&Engine::default())
            .link(&module(text).unwrap())
            .unwrap();
        let config = Config::new().arg("test").tier(tier);
        let p = program.start(config).unwrap();
        let trap = |name: &str| {
            // SAFETY: the functions take and return nothing.
            let function = unsafe { p.typed_func::<(), ()>(name) }.unwrap();
            let Err(Error::Trap(t)) = function.call(()) else {
                panic!("no trap")
            };
            t
        };
        for _ in 0..2 {
            let t = trap("raise");
            assert_eq!(t.kind, TrapKind::UncaughtException, "{tier:?}");
            assert_eq!(t.detail.as_deref(), Some("int"));
            assert_eq!(t.function.as_deref(), Some("inner"));
            // An exception that was caught before is no longer current.
            for name in ["give_up", "stop"] {
                let t = trap(name);
                assert_eq!(t.kind, TrapKind::Abort, "{tier:?}");
                assert_eq!(t.detail, None);
                assert_eq!(t.function.as_deref(), Some(name));
            }
        }
    }
}

#[test]
fn unsupported_entries_may_fail_when_reached() {
    let text = "declare void @GOMP_parallel()
         define i32 @main(i32 %n) { %c = icmp sgt i32 %n, 1 br i1 %c, label %a, label %b
         a: call void @GOMP_parallel() br label %b
         b: ret i32 7 }";
    let engine = Engine::default();
    let module = module(text).unwrap();
    assert!(Linker::new(&engine).link(&module).is_err());
    let mut linker = Linker::new(&engine);
    let program = linker.late_unsupported(true).link(&module).unwrap();
    let run = |config: Config| program.start(config).unwrap().run_main().unwrap().code();
    assert_eq!(run(Config::new().arg("test")), 7);
    assert_eq!(run(Config::new().arg("test").arg("more")), 125);
}

/// Threads of the host call the same program concurrently: each has its own thread_local variable,
/// faults, exits and teams.
#[test]
fn host_threads_call_concurrently() {
    let text = "@mine = internal thread_local global i64 0
         @all = global i64 0
         declare void @exit(i32)
         declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
         define i64 @count(i64 %n) {
           %old = load i64, ptr @mine %new = add i64 %old, %n store i64 %new, ptr @mine
           %was = atomicrmw add ptr @all, i64 %n seq_cst ret i64 %new }
         define i32 @divide(i32 %a, i32 %b) { %q = sdiv i32 %a, %b ret i32 %q }
         define void @stop() { call void @exit(i32 3) unreachable }
         define internal void @body(ptr %g, ptr %b, ptr %sum) {
           %was = atomicrmw add ptr %sum, i64 1 seq_cst ret void }
         define i64 @team() { %sum = alloca i64 store i64 0, ptr %sum
           call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @body, ptr %sum)
           %n = load i64, ptr %sum ret i64 %n }";
    for tier in [Tier::Interp, Tier::Opt, Tier::Auto] {
        let program = Linker::new(&Engine::default())
            .link(&module(text).unwrap())
            .unwrap();
        let config = Config::new().arg("test").tier(tier).num_threads(3);
        let process = program.start(config).unwrap();
        // SAFETY: these are the functions' signatures.
        let (count, divide, stop, team) = unsafe {
            (
                process.typed_func::<(i64,), i64>("count").unwrap(),
                process.typed_func::<(i32, i32), i32>("divide").unwrap(),
                process.typed_func::<(), ()>("stop").unwrap(),
                process.typed_func::<(), i64>("team").unwrap(),
            )
        };
        let team_size = team.call(()).unwrap();
        let work = || {
            for i in 1..=200 {
                assert_eq!(count.call((1,)).unwrap(), i);
                assert_eq!(divide.call((i as i32, 1)).unwrap(), i as i32);
                match i % 50 {
                    10 => assert!(matches!(divide.call((1, 0)), Err(Error::Trap(_)))),
                    20 => assert!(matches!(stop.call(()), Err(Error::Host(_)))),
                    30 => assert_eq!(team.call(()).unwrap(), team_size),
                    _ => {}
                }
            }
        };
        for _ in 0..3 {
            std::thread::scope(|scope| {
                for _ in 0..6 {
                    scope.spawn(work);
                }
            });
        }
        // SAFETY: no guest code runs while the memory is accessed.
        let all = unsafe { process.global::<i64>("all").unwrap().read() };
        assert_eq!(all, 3 * 6 * 200, "{tier:?}");
    }
}

/// Destructors of thread_local objects run when their thread ends if the program still exists, and
/// never otherwise.
#[test]
fn destructors_of_threads_run_while_the_program_lives() {
    let text = "@__dso_handle = external global i8
         @gone = global i64 0
         declare i32 @__cxa_thread_atexit(ptr, ptr, ptr)
         define internal void @destroy(ptr %p) { %was = atomicrmw add ptr %p, i64 1 seq_cst ret void }
         define i32 @begin() { %r = call i32 @__cxa_thread_atexit(ptr @destroy, ptr @gone, ptr @__dso_handle) ret i32 %r }";
    for tier in [Tier::Interp, Tier::Opt] {
        let program = Linker::new(&Engine::default())
            .link(&module(text).unwrap())
            .unwrap();
        let process = program.start(Config::new().arg("test").tier(tier)).unwrap();
        let begin = || {
            // SAFETY: this is the function's signature.
            let begin = unsafe { process.typed_func::<(), i32>("begin") }.unwrap();
            assert_eq!(begin.call(()).unwrap(), 0);
        };
        // A scope waits for the closure only; a join also for the thread's destructors.
        std::thread::scope(|scope| scope.spawn(begin).join()).unwrap();
        begin();
        // SAFETY: no guest code runs while the memory is accessed.
        let gone = unsafe { process.global::<i64>("gone").unwrap().read() };
        assert_eq!(gone, 1, "{tier:?}");
        // This thread outlives the program.
        let (ready, wait) = std::sync::mpsc::channel::<()>();
        let (registered, told) = std::sync::mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let process = std::sync::Arc::new(std::sync::Mutex::new(Some(process)));
            let theirs = process.clone();
            let other = scope.spawn(move || {
                {
                    let process = theirs.lock().unwrap();
                    let process = process.as_ref().unwrap();
                    // SAFETY: this is the function's signature.
                    let begin = unsafe { process.typed_func::<(), i32>("begin") }.unwrap();
                    assert_eq!(begin.call(()).unwrap(), 0);
                }
                registered.send(()).unwrap();
                wait.recv().unwrap();
            });
            told.recv().unwrap();
            drop(process.lock().unwrap().take());
            ready.send(()).unwrap();
            other.join().unwrap();
        });
    }
}

/// Narrow arguments and results are extended as the function's declaration says, in both kinds of
/// calls.
#[test]
fn narrow_values_are_extended_as_declared() {
    let text = "define signext i8 @s8(i8 signext %a) { %b = sext i8 %a to i32 %c = sub i32 %b, 1 %d = trunc i32 %c to i8 ret i8 %d }
         define zeroext i16 @u16(i16 zeroext %a) { %b = zext i16 %a to i32 %c = lshr i32 %b, 1 %d = trunc i32 %c to i16 ret i16 %d }
         define i64 @wide(i8 signext %a) { %b = sext i8 %a to i64 ret i64 %b }
         define zeroext i1 @not(i1 zeroext %a) { %b = xor i1 %a, true ret i1 %b }
         define double @eight(i32 %a, double %b, float %c, i64 %d, i8 signext %e, double %f, i32 %g, i64 %h) {
           %c1 = fpext float %c to double %a1 = sitofp i32 %a to double %d1 = sitofp i64 %d to double
           %e1 = sitofp i8 %e to double %g1 = sitofp i32 %g to double %h1 = sitofp i64 %h to double
           %x1 = fadd double %a1, %b %x2 = fadd double %x1, %c1 %x3 = fadd double %x2, %d1
           %x4 = fadd double %x3, %e1 %x5 = fadd double %x4, %f %x6 = fadd double %x5, %g1
           %x7 = fadd double %x6, %h1 ret double %x7 }";
    for tier in [Tier::Interp, Tier::Opt] {
        let program = Linker::new(&Engine::default())
            .link(&module(text).unwrap())
            .unwrap();
        let p = program.start(Config::new().arg("test").tier(tier)).unwrap();
        // SAFETY: these are the functions' signatures. One has the other signedness, so it is
        // called through a call plan.
        unsafe {
            assert_eq!(
                p.typed_func::<(i8,), i8>("s8")
                    .unwrap()
                    .call((-3,))
                    .unwrap(),
                -4
            );
            assert_eq!(
                p.typed_func::<(u8,), u8>("s8")
                    .unwrap()
                    .call((0x80,))
                    .unwrap(),
                0x7f
            );
            let half = p.typed_func::<(u16,), u16>("u16").unwrap();
            assert_eq!(half.call((0xfffe,)).unwrap(), 0x7fff);
            let half = p.typed_func::<(i16,), i16>("u16").unwrap();
            assert_eq!(half.call((-2,)).unwrap(), 0x7fff);
            for way in [-1i8, 5] {
                let wide = p.typed_func::<(i8,), i64>("wide").unwrap();
                assert_eq!(wide.call((way,)).unwrap(), i64::from(way));
                let wide = p.typed_func::<(u8,), i64>("wide").unwrap();
                assert_eq!(wide.call((way as u8,)).unwrap(), i64::from(way));
            }
            let not = p.typed_func::<(bool,), bool>("not").unwrap();
            assert!(!not.call((true,)).unwrap() && not.call((false,)).unwrap());
            let eight = p
                .typed_func::<(i32, f64, f32, i64, i8, f64, i32, i64), f64>("eight")
                .unwrap();
            assert_eq!(eight.call((-1, 2.0, 3.0, 4, -5, 6.0, 7, 8)).unwrap(), 24.0);
        }
    }
}

/// Functions are called with types that are known at run time: in registers, with arguments on the
/// stack, and through a function of the host.
#[test]
fn functions_are_called_with_slots() {
    let text = "declare i32 @twice(float, i8 zeroext)
         define signext i8 @s8(i8 signext %a) { %b = sext i8 %a to i32 %c = sub i32 %b, 1 %d = trunc i32 %c to i8 ret i8 %d }
         define zeroext i1 @not(i1 zeroext %a) { %b = xor i1 %a, true ret i1 %b }
         define float @mix(double %a, i32 %b, float %c, ptr %p) {
           %v = load float, ptr %p %s = fadd float %v, %c %b1 = sitofp i32 %b to float
           %a1 = fptrunc double %a to float %t = fadd float %s, %b1 %u = fadd float %t, %a1 ret float %u }
         define i64 @many(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i64 %f, i64 %g, i16 signext %h) {
           %x = mul i64 %a, 10 %y = add i64 %x, %g %z = sext i16 %h to i64 %r = add i64 %y, %z ret i64 %r }
         define i32 @through(i8 zeroext %a) { %r = call i32 @twice(float 1.5, i8 zeroext %a) ret i32 %r }
         define void @stop() { unreachable }
         define void @variadic(...) { ret void }";
    for tier in [Tier::Interp, Tier::Opt] {
        let engine = Engine::default();
        let mut linker = Linker::new(&engine);
        linker
            .func_of_slots("twice", "int (float, unsigned char)", |slots| {
                (f32::from_bits(slots[0] as u32) * 2.0) as u64 + slots[1]
            })
            .unwrap();
        let program = linker.link(&module(text).unwrap()).unwrap();
        let p = program.start(Config::new().arg("test").tier(tier)).unwrap();
        let call = |name: &str, signature: Option<&str>, slots: &[u64]| {
            // SAFETY: the arguments fit the functions above.
            unsafe { p.func(name, signature).unwrap().call(slots) }
        };
        assert_eq!(call("s8", None, &[0xfd]).unwrap() as i64, -4);
        let unsigned = Some("uint8_t (signed char)");
        assert_eq!(call("s8", unsigned, &[0xfd]).unwrap(), 252);
        assert_eq!(call("not", None, &[0xff02]).unwrap(), 1);
        let added = 4.0f32;
        let slots = [
            1.5f64.to_bits(),
            -2i64 as u64,
            u64::from(0.25f32.to_bits()),
            (&raw const added).expose_provenance() as u64,
        ];
        let mix = call(
            "mix",
            Some("float (double, int, float, float const *)"),
            &slots,
        );
        assert_eq!(f32::from_bits(mix.unwrap() as u32), 3.75);
        let many = call("many", None, &[1, 2, 3, 4, 5, 6, 7, 0xffff_fffe]);
        assert_eq!(many.unwrap(), 15);
        assert_eq!(call("through", None, &[200]).unwrap(), 203);
        assert!(matches!(call("stop", None, &[]), Err(Error::Trap(_))));
        assert!(call("s8", None, &[]).is_err());
        let refused =
            |name: &str, signature: &str| p.func(name, Some(signature)).unwrap_err().to_string();
        assert_eq!(
            refused("not", "int (int)"),
            "`not` is i1(i1), not i32(i32) (`int (int)`)"
        );
        assert!(refused("variadic", "void ()").contains("variadic"));
    }
}

/// Counts of a program outlive it, under its functions' names.
#[test]
fn counts_stay_after_a_program_ends() {
    let run = |name: &str| {
        let text = format!("define i64 @{name}(i64 %n) {{ %r = add i64 %n, 1 ret i64 %r }}");
        let program = Linker::new(&Engine::default())
            .link(&module(&text).unwrap())
            .unwrap();
        let process = program
            .start(Config::new().arg("test").stats(true))
            .unwrap();
        // SAFETY: this is the function's signature.
        let function = unsafe { process.typed_func::<(i64,), i64>(name) }.unwrap();
        assert_eq!(function.call((1,)).unwrap(), 2);
        process.stats()
    };
    let names = ["counted_first", "counted_second", "counted_third"];
    let [_, _, stats] = names.map(run);
    for name in names {
        let row = stats.rows.iter().find(|row| row.function == name);
        assert_eq!(row.map(|row| (row.entries, row.instructions)), Some((1, 2)));
    }
}

#[test]
fn sources_are_compiled() {
    let engine = Engine::default();
    let text = "#warning look\n#include <math.h>\ndouble root(double x) { return sqrt(x) / D; }";
    let source = Source::text(Language::C, "root.c", text).flag("-DD=2");
    let module = Module::from_source(&engine, &source).unwrap();
    let warnings = module.warnings();
    assert!(warnings.starts_with("root.c:1:2: warning: "), "{warnings}");
    let program = Linker::new(&engine).link(&module).unwrap();
    let process = program.start(Config::new()).unwrap();
    // SAFETY: the function has this signature.
    let root = unsafe { process.typed_func::<(f64,), f64>("root").unwrap() };
    assert_eq!(root.call((16.0,)).unwrap(), 2.0);
}

#[test]
fn messages_of_the_compiler_name_the_source() {
    let engine = Engine::default();
    for language in [Language::C, Language::Cpp] {
        let source = Source::text(language, "dir/a \"b\".c", "int f(void) {\n  return y; }");
        let error = Module::from_source(&engine, &source).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Input { .. }), "{text}");
        assert!(text.contains("\ndir/a \"b\".c:2:10: error: "), "{text}");
    }
    let file = std::path::Path::new("none.c");
    let source = Source::file(file).unwrap();
    assert!(Module::from_source(&engine, &source).is_err());
    assert!(Source::file("program.bc").is_none());
}
