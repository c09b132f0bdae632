//! Tests of the symbols and instructions in compiled objects.

use super::parallel_read;
use crate::native::{
    Bitcode, CompileRequest, DebugLevel, FunctionBinding, Level, Session, Unit, VariableBinding,
};
use crate::parallel_read::read;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use ompvm_ir::LineTables;
use std::sync::Arc;
use std::time::Duration;

fn bitcode(text: &str) -> Bitcode {
    let file = ("test.ll".to_owned(), text.as_bytes().to_vec());
    Bitcode::new(Arc::from([file]), LineTables::default())
}

/// Returns the names of a module's functions in order.
fn names(text: &str) -> Vec<Box<str>> {
    text.lines()
        .map(str::trim)
        .filter(|l| l.starts_with("define") || l.starts_with("declare"))
        .filter_map(|l| Some(l.split_once('@')?.1.split_once('(')?.0.into()))
        .collect()
}

/// Returns a request for functions of a module without variables.
fn request(names: Vec<Box<str>>, functions: Vec<FunctionBinding>) -> CompileRequest {
    CompileRequest {
        names,
        functions,
        variables: Vec::new(),
        labels: Vec::new(),
        thread_cell: false,
        debug: DebugLevel::Lines,
        contracted: false,
        switches_stacks: false,
        fail: None,
    }
}

/// Returns the undefined symbols in the object of a module without variables; `functions` are the
/// module's, in order.
fn open_names(text: &str, functions: &[FunctionBinding], level: Level) -> Vec<String> {
    let request = request(names(text), functions.to_vec());
    let unit = Unit {
        level,
        ..Unit::default()
    };
    let object = Session::open(&request, &bitcode(text))
        .compile(&unit)
        .expect("an object")
        .remove(0);
    let file = object::File::parse(&*object.bytes).expect("an ELF file");
    let mut names: Vec<String> = file
        .symbols()
        .filter(|s| s.is_undefined())
        .filter_map(|s| Some(s.name().ok()?.to_owned()))
        .filter(|name| !name.is_empty())
        .collect();
    names.sort();
    names
}

const LOOP: &str = "
    define i32 @f(i32 %gtid) {
      %last = alloca i32
      %lower = alloca i32
      %upper = alloca i32
      %stride = alloca i32
      store i32 0, ptr %lower
      store i32 999, ptr %upper
      call void @__kmpc_for_static_init_4(ptr null, i32 %gtid, i32 34, ptr %last, ptr %lower, ptr %upper, ptr %stride, i32 1, i32 1)
      call void @__kmpc_for_static_fini(ptr null, i32 %gtid)
      call void @__kmpc_barrier(ptr null, i32 %gtid)
      %r = load i32, ptr %lower
      ret i32 %r
    }
    declare void @__kmpc_for_static_init_4(ptr, i32, i32, ptr, ptr, ptr, ptr, i32, i32)
    declare void @__kmpc_for_static_fini(ptr, i32)
    declare void @__kmpc_barrier(ptr, i32)";

/// A function with constants, a call that may throw, and a vectorized loop.
const MIXED: &str = "
    define void @g(ptr %a, i64 %n) personality ptr @p {
      invoke void @h(double 2.5) to label %loop unwind label %caught
    loop:
      %i = phi i64 [ 0, %0 ], [ %next, %loop ]
      %at = getelementptr double, ptr %a, i64 %i
      %x = load double, ptr %at
      %y = fmul double %x, 1.5
      store double %y, ptr %at
      %next = add i64 %i, 1
      %more = icmp ult i64 %next, %n
      br i1 %more, label %loop, label %end
    caught:
      %pad = landingpad { ptr, i32 } catch ptr null
      br label %end
    end:
      ret void
    }
    declare void @h(double)
    declare i32 @p(...)";

#[test]
fn code_does_not_depend_on_units_generated_before() {
    let compile = |text: &str, level: Level| {
        let names = names(text);
        let mut functions = vec![FunctionBinding::External; names.len()];
        functions[0] = FunctionBinding::Compiled;
        let request = request(names, functions);
        let unit = Unit {
            level,
            ..Unit::default()
        };
        let objects = Session::open(&request, &bitcode(text)).compile(&unit);
        objects.expect("an object").remove(0).bytes
    };
    let alone = |text, level| {
        let thread = std::thread::spawn(move || compile(text, level));
        thread.join().expect("the thread ends")
    };
    for (text, level) in [
        (LOOP, Level::Quick),
        (MIXED, Level::Full),
        (LOOP, Level::Full),
        (MIXED, Level::Quick),
        (MIXED, Level::Full),
        (LOOP, Level::Quick),
    ] {
        assert!(
            compile(text, level) == alone(text, level),
            "{level:?} {text}"
        );
    }
}

#[test]
fn static_loops_are_divided_without_a_runtime_call() {
    let functions = [
        FunctionBinding::Compiled,
        FunctionBinding::External,
        FunctionBinding::External,
        FunctionBinding::External,
    ];
    // The runtime remains for threads that it does not know and teams that have to wait.
    assert_eq!(
        open_names(LOOP, &functions, Level::Full),
        [
            "__kmpc_barrier",
            "__kmpc_for_static_init_4",
            "ompvm.threads"
        ]
    );
    assert_eq!(
        open_names(LOOP, &functions, Level::Quick),
        [
            "__kmpc_barrier",
            "__kmpc_for_static_fini",
            "__kmpc_for_static_init_4"
        ]
    );
}

#[test]
fn chunked_loops_are_divided_without_a_runtime_call() {
    let functions = [
        FunctionBinding::Compiled,
        FunctionBinding::External,
        FunctionBinding::External,
        FunctionBinding::External,
    ];
    let text = LOOP.replace("i32 34", "i32 33");
    let names = open_names(&text, &functions, Level::Full);
    assert!(names.contains(&"ompvm.threads".to_owned()), "{names:?}");
}

#[test]
fn other_schedules_and_steps_go_to_the_runtime() {
    let functions = [
        FunctionBinding::Compiled,
        FunctionBinding::External,
        FunctionBinding::External,
        FunctionBinding::External,
    ];
    for (from, to) in [("i32 34", "i32 45"), ("i32 1, i32 1)", "i32 3, i32 1)")] {
        let text = LOOP
            .replace(from, to)
            .replace("call void @__kmpc_barrier(ptr null, i32 %gtid)", "");
        let functions = &functions[..];
        let names = open_names(&text, functions, Level::Full);
        assert_eq!(names, ["__kmpc_for_static_init_4"], "{to}");
    }
}

#[test]
fn entries_defined_by_the_program_stay() {
    let text = "
        define void @__kmpc_end_single(ptr %ident, i32 %gtid) noinline {
          call void @note()
          ret void
        }
        define void @f(i32 %gtid) {
          call void @__kmpc_end_single(ptr null, i32 %gtid)
          ret void
        }
        declare void @note()";
    let functions = [
        FunctionBinding::Compiled,
        FunctionBinding::Compiled,
        FunctionBinding::External,
    ];
    assert_eq!(open_names(text, &functions, Level::Full), ["note"]);
}

#[test]
fn no_pass_changes_rounding() {
    // Fused, approximated or reassociated, these would be other instructions.
    let text = "
        define double @f(double %a, double %b, double %c) {
          %p = fmul fast double %a, %b
          %s = fadd fast double %p, %c
          %q = fdiv fast double %s, 3.0
          %n = fsub fast double %q, %s
          %r = fadd fast double %n, %s
          ret double %r
        }";
    let request = request(names(text), vec![FunctionBinding::Compiled]);
    let object = Session::open(&request, &bitcode(text))
        .compile(&Unit::default())
        .expect("an object")
        .remove(0);
    let file = object::File::parse(&*object.bytes).expect("an ELF file");
    let code =
        object::ObjectSection::data(&file.section_by_name(".text").expect("code")).expect("bytes");
    // The scalar double operations of SSE2 and AVX end in these opcodes: mul, add, div, sub, add.
    let operations: Vec<u8> = code
        .iter()
        .copied()
        .filter(|b| matches!(b, 0x58 | 0x59 | 0x5c | 0x5e))
        .collect();
    assert_eq!(operations, [0x59, 0x58, 0x5e, 0x5c, 0x58]);
}

/// Returns a loop `a[i] = b[ix[i]] + a[i]` for i below the bound; `end` is appended to its last
/// branch.
fn scatter(bound: &str, end: &str) -> String {
    format!(
        "define void @f(ptr %a, ptr %b, ptr %ix, i64 %n) {{
         entry:
           br label %loop
         loop:
           %i = phi i64 [ 0, %entry ], [ %next, %loop ]
           %p = getelementptr i32, ptr %ix, i64 %i
           %k = load i32, ptr %p
           %j = sext i32 %k to i64
           %q = getelementptr float, ptr %b, i64 %j
           %x = load float, ptr %q
           %r = getelementptr float, ptr %a, i64 %i
           %y = load float, ptr %r
           %z = fadd float %x, %y
           store float %z, ptr %r
           %next = add nuw i64 %i, 1
           %more = icmp ult i64 %next, {bound}
           br i1 %more, label %loop, label %out{end}
         out:
           ret void
         }}
         !0 = distinct !{{!0, !1}}
         !1 = !{{!\"llvm.loop.isvectorized\", i32 1}}"
    )
}

#[test]
fn loops_are_versioned_for_aliasing_where_that_may_help() {
    let asks = |text: &str, level| {
        let open = open_names(text, &[FunctionBinding::Compiled], level);
        open.iter().any(|name| name == "ompvm.distinct")
    };
    assert!(asks(&scatter("%n", ""), Level::Full));
    assert!(asks(&scatter("4000", ""), Level::Full));
    assert!(!asks(&scatter("%n", ""), Level::Quick));
    assert!(!asks(&scatter("4", ""), Level::Full), "it is short");
    let vectorized = scatter("%n", ", !llvm.loop !0");
    assert!(!asks(&vectorized, Level::Full), "it is vectorized already");
    let one = scatter("%n", "").replace("ptr %b, i64 %j", "ptr %a, i64 %j");
    let one = one.replace("ptr %ix, i64 %i", "ptr %a, i64 %i");
    assert!(!asks(&one, Level::Full), "there is one array");
}

/// A function with a variable of class type, and a declaration that is described by its class.
const DESCRIBED: &str = "
    define i32 @f(ptr %o, i32 %x) !dbg !10 {
        #dbg_value(ptr %o, !20, !DIExpression(), !30)
      %y = call i32 @method(ptr %o, i32 %x), !dbg !30
      %z = mul i32 %y, %x, !dbg !31
      ret i32 %z, !dbg !32
    }
    declare !dbg !11 i32 @method(ptr, i32)
    !llvm.dbg.cu = !{!0}
    !llvm.module.flags = !{!2, !3}
    !0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: \"test\", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug)
    !1 = !DIFile(filename: \"t.cpp\", directory: \"/\")
    !2 = !{i32 2, !\"Debug Info Version\", i32 3}
    !3 = !{i32 7, !\"Dwarf Version\", i32 5}
    !4 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)
    !5 = distinct !DICompositeType(tag: DW_TAG_class_type, name: \"Class\", file: !1, line: 1, size: 32, elements: !6, identifier: \"_ZTS5Class\")
    !6 = !{!7, !12}
    !7 = !DIDerivedType(tag: DW_TAG_member, name: \"m\", scope: !5, file: !1, line: 2, baseType: !4, size: 32)
    !8 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !5, size: 64)
    !9 = !DISubroutineType(types: !{!4, !8, !4})
    !10 = distinct !DISubprogram(name: \"f\", scope: !1, file: !1, line: 10, type: !9, scopeLine: 10, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !{!20})
    !11 = !DISubprogram(name: \"method\", scope: !5, file: !1, line: 3, type: !9, spFlags: DISPFlagOptimized)
    !12 = !DISubprogram(name: \"method\", scope: !5, file: !1, line: 3, type: !9, spFlags: 0)
    !20 = !DILocalVariable(name: \"o\", arg: 1, scope: !10, file: !1, line: 10, type: !8)
    !30 = !DILocation(line: 11, column: 3, scope: !10)
    !31 = !DILocation(line: 12, column: 3, scope: !10)
    !32 = !DILocation(line: 13, column: 3, scope: !10)";

#[test]
fn line_tables_give_the_same_code_and_the_same_lines() {
    let request = request(
        names(DESCRIBED),
        vec![FunctionBinding::Compiled, FunctionBinding::External],
    );
    let program = bitcode(DESCRIBED);
    let sections = || {
        let unit = Unit::default();
        let mut objects = Session::open(&request, &program).compile(&unit);
        let bytes = objects.as_mut().expect("an object").remove(0).bytes;
        let file = object::File::parse(&*bytes).expect("an ELF file");
        [".text", ".debug_line"].map(|name| {
            let section = file.section_by_name(name).expect(name);
            section.data().expect("bytes").to_vec()
        })
    };
    let whole = sections();
    program.opened(Duration::from_secs(60));
    let lean = program.line_tables().expect("written after that long");
    assert!(lean.len() < program.bytes().expect("valid IR").len());
    assert_eq!(whole, sections());
}

#[test]
fn a_program_without_types_gets_no_second_form() {
    let program = bitcode(LOOP);
    program.opened(Duration::from_secs(60));
    assert!(program.line_tables().is_none());
}

/// Functions that the reader changes: one rounds once, one has a thread-local address as a constant.
const CHANGED: &str = "
    target triple = \"x86_64-pc-linux-gnu\"
    @cells = thread_local global [4 x double] zeroinitializer
    define double @f(double %a, double %b) {
      %sum = call double @llvm.fmuladd.f64(double %a, double %b, double 2.5)
      %twice = call double @g(double %sum)
      ret double %twice
    }
    define double @g(double %x) {
      %old = load double, ptr getelementptr ([4 x double], ptr @cells, i64 0, i64 2)
      %new = fadd double %old, %x
      ret double %new
    }
    declare double @llvm.fmuladd.f64(double, double, double)";

#[test]
fn units_take_over_what_the_reader_has_opened() {
    let file = parallel_read::bitcode(CHANGED);
    let module = read(&file, true, 2).expect("nothing odd");
    let left = || module.opened.lock().expect("no panic").len();
    while left() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let names: Vec<Box<str>> = module.functions.values().map(|f| f.name.clone()).collect();
    let bindings = module.functions.values().map(|f| match &f.body {
        Some(_) => FunctionBinding::Compiled,
        None => FunctionBinding::Intrinsic,
    });
    let mut request = request(names, bindings.collect());
    request.variables = vec![VariableBinding::ThreadLocal(0)];
    request.contracted = true;
    let compile = |program: &Bitcode, functions: &[usize]| {
        let unit = Unit {
            functions: Some(functions.to_vec()),
            ..Unit::default()
        };
        let mut objects = Session::open(&request, program).compile(&unit);
        objects.as_mut().expect("an object").remove(0).bytes
    };
    let opened = Bitcode::of(&module);
    let fresh = Bitcode::new(module.files.clone(), LineTables::default());
    // The later units need functions whose bodies an earlier one has taken.
    for functions in [&[0][..], &[1], &[0, 1], &[0]] {
        assert_eq!(compile(&opened, functions), compile(&fresh, functions));
    }
    assert_eq!(left(), 1, "one source serves one thread");
    opened.close();
    assert_eq!(left(), 0);
}

#[test]
fn several_files_are_linked_once() {
    let request = request(
        vec!["f".into(), "g".into()],
        vec![FunctionBinding::Compiled; 2],
    );
    let files = [("f", 1), ("g", 2)].map(|(name, value)| {
        let text = format!("define i32 @{name}() {{ ret i32 {value} }}");
        (format!("{name}.ll"), text.into_bytes())
    });
    let program = Bitcode::new(Arc::from(files), LineTables::default());
    let compile = |program: &Bitcode| {
        let mut objects = Session::open(&request, program).compile(&Unit::default());
        objects.as_mut().expect("an object").remove(0).bytes
    };
    let code = compile(&program);
    let linked = program.line_tables().expect("kept for later runs");
    // A later run has these bytes alone.
    let later = Bitcode::new(Arc::from([]), LineTables::default());
    later.take_line_tables(linked.to_vec());
    assert_eq!(compile(&later), code);
}

/// Functions that use every kind of symbol: constants with and without a name, an alias, an
/// indirect function, a thread-local variable and functions as values and as callees.
const MANY: &str = "
    @0 = private unnamed_addr constant [3 x i32] [i32 7, i32 8, i32 9]
    @table = internal constant [2 x ptr] [ptr @second, ptr @outside]
    @counter = global i32 5
    @mine = thread_local global i32 0
    @other = alias i32, ptr @counter
    @picked = ifunc i32 (), ptr @pick
    define internal ptr @pick() { ret ptr @outside }
    define i32 @first(i64 %i) personality ptr @judge {
      %c = getelementptr i32, ptr @0, i64 %i
      %a = load i32, ptr %c
      %t = getelementptr ptr, ptr @table, i64 %i
      %f = load ptr, ptr %t
      %b = invoke i32 %f() to label %on unwind label %no, !callees !0
    on:
      %p = call ptr @llvm.threadlocal.address.p0(ptr @mine)
      %d = load i32, ptr %p
      %e = load i32, ptr @other
      %s = call i32 @picked()
      %x = add i32 %a, %b
      %y = add i32 %d, %e
      %z = add i32 %x, %y
      %r = add i32 %z, %s
      ret i32 %r
    no:
      %pad = landingpad { ptr, i32 } cleanup
      resume { ptr, i32 } %pad
    }
    define internal i32 @second() {
      %a = load i32, ptr @counter
      %b = call i32 @outside()
      %c = add i32 %a, %b
      ret i32 %c
    }
    declare i32 @outside()
    declare i32 @judge(...)
    declare ptr @llvm.threadlocal.address.p0(ptr)
    !0 = !{ptr @second, ptr @outside}";

#[test]
fn units_of_an_opened_program_have_what_they_use() {
    use FunctionBinding::{Compiled, External, Intrinsic};
    let functions = vec![Compiled, Compiled, Compiled, External, External, Intrinsic];
    let mut request = request(names(MANY), functions);
    request.variables = vec![
        VariableBinding::Near,
        VariableBinding::Near,
        VariableBinding::Far,
        VariableBinding::ThreadLocal(16),
    ];
    let program = bitcode(MANY);
    let compile = |function: usize, program: &Bitcode| {
        let unit = Unit {
            functions: Some(vec![function]),
            ..Unit::default()
        };
        let mut objects = Session::open(&request, program).compile(&unit);
        let object = objects.as_mut().expect("an object").remove(0);
        assert_eq!(object.functions.len(), 1, "{:?}", object.skipped);
        object.bytes
    };
    let first = compile(1, &program);
    let second = compile(2, &program);
    // The same from an opened program and from one that is opened for it.
    assert_eq!(compile(1, &program), first);
    assert_eq!(compile(1, &bitcode(MANY)), first);
    assert_eq!(compile(2, &bitcode(MANY)), second);
    let undefined = |bytes: &[u8]| {
        let file = object::File::parse(bytes).expect("an ELF file");
        let mut names: Vec<String> = file
            .symbols()
            .filter(|s| s.is_undefined())
            .filter_map(|s| Some(s.name().ok()?.to_owned()))
            .filter(|name| !name.is_empty())
            .collect();
        names.sort();
        names
    };
    assert_eq!(undefined(&second), ["ompvm.g2", "outside"]);
    let used = undefined(&first);
    for name in ["ompvm.g0", "ompvm.g1", "ompvm.g2", "ompvm.i0"] {
        assert!(used.iter().any(|n| n == name), "{name} in {used:?}");
    }
    assert!(!used.iter().any(|n| n == "ompvm.f2"), "{used:?}");
}
