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
    assert_eq!(
        e.to_string(),
        "unresolved symbols: `data` (used in `f`), `nobody` (used in `f`), `somebody` (used in `f`)"
    );
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
        let mut process = program.start(config).unwrap();
        assert_eq!(process.run_main().unwrap().code(), status);
        assert_eq!(*notes.lock().unwrap(), [1, 2, 3, 4]);
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
    // SAFETY: the signatures are those above.
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
            // What was not caught before is forgotten.
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
fn what_is_unsupported_can_wait_until_it_is_reached() {
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
