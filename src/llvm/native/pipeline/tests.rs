//! Tests of ompvm's own passes on small pieces of IR, including what each must leave alone.

use super::*;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;

/// Returns a handle of inkwell's module.
fn handle<'c>(module: &'c inkwell::module::Module<'_>) -> Module<'c> {
    // SAFETY: the handle is live while the module is borrowed.
    unsafe { Module::from_raw(module.as_mut_ptr()) }
}

/// Returns a function of two pointers with these lines after vector re-packing.
fn repacked(lines: &str) -> String {
    let text = format!(
        "define void @f(ptr %to, ptr %from) {{\n{lines}  ret void\n}}\ndeclare void @g()\n"
    );
    crate::initialize_target();
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "pairs");
    let module = context.create_module_from_ir(buffer).unwrap();
    let machine = HostMachine::for_module(handle(&module), true).unwrap();
    shim::repack_vectors(handle(&module), machine.handle());
    module.verify().unwrap();
    module.print_to_string().to_string()
}

/// Returns two lines of a sum; `between` comes before the second, whose operands are swapped.
fn lines(between: &str) -> String {
    format!(
        "  %a = load <2 x double>, ptr %from, align 8, !alias.scope !1
  %b = fadd <2 x double> %a, splat (double 3.0)
  store <2 x double> %b, ptr %to, align 8, !noalias !1
{between}  %q = getelementptr i8, ptr %from, i64 16
  %c = load <2 x double>, ptr %q, align 8, !alias.scope !1
  %d = fadd <2 x double> splat (double 4.0), %c
  %p = getelementptr i8, ptr %to, i64 16
  store <2 x double> %d, ptr %p, align 8, !noalias !1
"
    )
}

fn with_scopes(lines: &str) -> String {
    let scopes = "!0 = distinct !{!0}\n!1 = !{!2}\n!2 = distinct !{!2, !0}\n";
    repacked(&format!(
        "{lines}  ret void\n}}\n{scopes}define void @h() {{\n"
    ))
}

#[test]
fn pairs_of_vectors_are_repacked() {
    if !std::arch::is_x86_feature_detected!("avx") {
        return;
    }
    let one = with_scopes(&lines(""));
    assert!(one.contains("fadd <4 x double>"), "{one}");
    assert!(!one.contains("store <2 x double>"), "{one}");
    // The first half is also stored elsewhere: after the wide value it is extracted from it; before
    // that exists it has to stay.
    let elsewhere = "  store <2 x double> %b, ptr null, align 8, !noalias !1\n";
    let behind = with_scopes(&format!("{}{elsewhere}", lines("")));
    assert!(behind.contains("shufflevector <4 x double>"), "{behind}");
    assert!(!behind.contains("fadd <2 x double>"), "{behind}");
    let between = with_scopes(&lines(elsewhere));
    assert!(!between.contains("<4 x double>"), "{between}");
}

/// Returns the product of two complex numbers with a third, given by `product`, in clang's
/// vectorized form with separate parts.
fn complex(product: &str) -> String {
    let product = product.replace('\n', "\n  ");
    format!(
        "  %a = load <2 x double>, ptr %from, align 8
  %q = getelementptr i8, ptr %from, i64 16
  %b = load <2 x double>, ptr %q, align 8
  %re = shufflevector <2 x double> %a, <2 x double> %b, <2 x i32> <i32 0, i32 2>
  %im = shufflevector <2 x double> %a, <2 x double> %b, <2 x i32> <i32 1, i32 3>
  {product}
  %low = shufflevector <2 x double> %x, <2 x double> %y, <2 x i32> <i32 0, i32 2>
  store <2 x double> %low, ptr %to, align 8
  %high = shufflevector <2 x double> %x, <2 x double> %y, <2 x i32> <i32 1, i32 3>
  %p = getelementptr i8, ptr %to, i64 16
  store <2 x double> %high, ptr %p, align 8
"
    )
}

/// Multiplication by 2 + 3i, as clang's front end emits it.
const TIMES: &str = "%m = fmul <2 x double> %re, splat (double 2.0)
%n = fmul <2 x double> splat (double 3.0), %im
%x = fsub <2 x double> %m, %n
%o = fmul <2 x double> %im, splat (double 2.0)
%r = fmul <2 x double> %re, splat (double 3.0)
%y = fadd <2 x double> %r, %o";

#[test]
fn complex_arithmetic_is_repacked_interleaved() {
    if !std::arch::is_x86_feature_detected!("avx") {
        return;
    }
    let whole = repacked(&complex(TIMES));
    assert!(!whole.contains("<2 x double>"), "{whole}");
    assert_eq!(whole.matches("= fmul <4 x double>").count(), 2, "{whole}");
    assert_eq!(whole.matches("= fsub <4 x double>").count(), 1, "{whole}");
    assert_eq!(whole.matches("= fadd <4 x double>").count(), 1, "{whole}");
    // Multiplication by the conjugate: the sum comes first.
    let conjugate = TIMES
        .replace("fsub <2 x double> %m, %n", "fadd <2 x double> %m, %n")
        .replace("fadd <2 x double> %r, %o", "fsub <2 x double> %o, %r");
    let whole = repacked(&complex(&conjugate));
    assert!(!whole.contains("<2 x double>"), "{whole}");
    assert_eq!(whole.matches("= fadd <4 x double>").count(), 1, "{whole}");
    // With one rounding: the sign moves to the constant factor.
    let fused = "%m = fmul <2 x double> %re, splat (double 2.0)
%n = fneg <2 x double> %im
%x = call <2 x double> @llvm.fma.v2f64(<2 x double> %n, <2 x double> splat (double 3.0), <2 x double> %m)
%r = fmul <2 x double> %im, splat (double 2.0)
%y = call <2 x double> @llvm.fma.v2f64(<2 x double> %re, <2 x double> splat (double 3.0), <2 x double> %r)";
    let whole = repacked(&complex(fused));
    let body = whole.split_once('}').unwrap().0;
    assert!(!body.contains("<2 x double>"), "{whole}");
    assert!(!body.contains("fneg"), "{whole}");
    // Four registers that hold parts of two numbers each become two of whole numbers.
    let halves = complex(TIMES)
        .replace("%low = shufflevector <2 x double> %x, <2 x double> %y, <2 x i32> <i32 0, i32 2>",
            "%z = shufflevector <2 x double> %x, <2 x double> %y, <4 x i32> <i32 0, i32 2, i32 1, i32 3>
  %low = shufflevector <4 x double> %z, <4 x double> poison, <2 x i32> <i32 0, i32 1>")
        .replace("%high = shufflevector <2 x double> %x, <2 x double> %y, <2 x i32> <i32 1, i32 3>",
            "%high = shufflevector <4 x double> %z, <4 x double> poison, <2 x i32> <i32 2, i32 3>");
    let whole = repacked(&halves);
    assert!(!whole.contains("<2 x double>"), "{whole}");
}

#[test]
fn a_sign_change_follows_its_operand() {
    // The second part, the later of the two, is joined with the first one right after it.
    let lines = "  %u = load <2 x double>, ptr %from, align 8
  %x = fneg <2 x double> %u
  %q = getelementptr i8, ptr %from, i64 64
  %y = load <2 x double>, ptr %q, align 8
  %low = shufflevector <2 x double> %x, <2 x double> %y, <2 x i32> <i32 0, i32 2>
  %high = shufflevector <2 x double> %x, <2 x double> %y, <2 x i32> <i32 1, i32 3>
  %c = fadd <2 x double> %low, splat (double 1.0)
  %d = fadd <2 x double> %high, splat (double 1.0)
  store <2 x double> %c, ptr %to, align 8
  %p = getelementptr i8, ptr %to, i64 16
  store <2 x double> %d, ptr %p, align 8
";
    let whole = repacked(lines);
    assert!(whole.contains("xor <4 x i64>"), "{whole}");
}

#[test]
fn parts_with_other_users_are_not_repacked() {
    let apart = format!("{TIMES}\nstore <2 x double> %re, ptr null, align 8");
    let whole = repacked(&complex(&apart));
    assert!(!whole.contains("fmul <4 x double>"), "{whole}");
    // Not complex arithmetic: one part is a quotient.
    let quotient = TIMES.replace("fadd <2 x double> %r, %o", "fdiv <2 x double> %r, %o");
    let whole = repacked(&complex(&quotient));
    assert!(!whole.contains("fdiv <4 x double>"), "{whole}");
}

#[test]
fn pairs_with_observable_order_are_not_repacked() {
    // A call may end the thread or read what was stored; a fence orders; without scopes the second
    // load may read what the first line stored.
    for between in ["  call void @g()\n", "  fence seq_cst\n"] {
        let both = with_scopes(&lines(between));
        assert!(
            both.contains("store <2 x double>") && !both.contains("store <4 x"),
            "{both}"
        );
    }
    let open = lines("")
        .replace(", !alias.scope !1", "")
        .replace(", !noalias !1", "");
    let both = repacked(&open);
    assert!(!both.contains("store <4 x double>"), "{both}");
}

/// Returns a loop that writes two vectors to each of two arrays alternately.
fn in_turn(apart: &str) -> String {
    format!(
        "define void @f(ptr {apart} %a, ptr {apart} %b, ptr {apart} %c, i64 %n) {{
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %p = getelementptr double, ptr %c, i64 %i
  %x = load <2 x double>, ptr %p, align 8
  %q = getelementptr i8, ptr %p, i64 16
  %y = load <2 x double>, ptr %q, align 8
  %x2 = fadd <2 x double> %x, splat (double 1.0)
  %y2 = fadd <2 x double> %y, splat (double 1.0)
  %x3 = fmul <2 x double> %x, splat (double 3.0)
  %y3 = fmul <2 x double> %y, splat (double 3.0)
  %pa = getelementptr double, ptr %a, i64 %i
  store <2 x double> %x2, ptr %pa, align 8
  %qa = getelementptr i8, ptr %pa, i64 16
  store <2 x double> %y2, ptr %qa, align 8
  %pb = getelementptr double, ptr %b, i64 %i
  store <2 x double> %x3, ptr %pb, align 8
  %qb = getelementptr i8, ptr %pb, i64 16
  store <2 x double> %y3, ptr %qb, align 8
  %next = add nuw i64 %i, 4
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop, !llvm.loop !0
out:
  ret void
}}
!0 = distinct !{{!0, !1, !2}}
!1 = !{{!\"llvm.loop.isvectorized\", i32 1}}
!2 = !{{!\"llvm.loop.unroll.runtime.disable\"}}
"
    )
}

#[test]
fn stores_are_clustered_by_line() {
    if !std::arch::is_x86_feature_detected!("avx") {
        return;
    }
    /// Returns the target array of each wide store, in order, up to the loop's end.
    fn order(text: &str) -> String {
        let lines = text.lines().map(str::trim);
        let wide = lines.filter(|l| l.starts_with("store <4 x double>"));
        let sums: Vec<&str> = text
            .lines()
            .filter(|l| l.contains("fadd <4 x double>"))
            .filter_map(|l| l.trim().split(' ').next())
            .collect();
        wide.map(|l| {
            if sums.iter().any(|s| l.contains(&format!("{s},"))) {
                'a'
            } else {
                'b'
            }
        })
        .collect()
    }
    let apart = optimized(&in_turn("noalias"), false);
    assert!(order(&apart).starts_with("aabb"), "{apart}");
}

/// Returns the order of stores after clustering in a loop that writes half a line to each of two
/// arrays alternately.
fn clustered(apart: &str, between: &str) -> String {
    let text = format!(
        "declare void @g()
define void @f(ptr {apart} %a, ptr {apart} %b, <4 x double> %v, i64 %n) {{
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %pa = getelementptr double, ptr %a, i64 %i
  %pb = getelementptr double, ptr %b, i64 %i
  store <4 x double> %v, ptr %pa, align 8
  store <4 x double> %v, ptr %pb, align 8
  {between}
  %qa = getelementptr i8, ptr %pa, i64 32
  %qb = getelementptr i8, ptr %pb, i64 32
  store <4 x double> %v, ptr %qa, align 8
  store <4 x double> %v, ptr %qb, align 8
  %next = add nuw i64 %i, 8
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop
out:
  ret void
}}
"
    );
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "lines");
    let module = context.create_module_from_ir(buffer).unwrap();
    shim::cluster_stores(handle(&module));
    module.verify().unwrap();
    let text = module.print_to_string().to_string();
    let stores = text.lines().filter(|l| l.trim().starts_with("store"));
    let places = stores.filter_map(|l| l.split_once("ptr %")?.1.get(..2));
    places.collect::<Vec<_>>().join(" ")
}

#[test]
fn stores_with_observable_order_are_not_clustered() {
    assert_eq!(clustered("noalias", ""), "pa qa pb qb");
    assert_eq!(clustered("", ""), "pa pb qa qb", "they may be one array");
    // A call may end the thread. Stores of the other array move past a load of what was stored.
    let ends = clustered("noalias", "call void @g()");
    assert_eq!(ends, "pa pb qa qb");
    let read = clustered("noalias", "%x = load double, ptr %pb");
    assert_eq!(read, "pb pa qa qb");
}

/// Runs all passes over a module's text.
fn optimized(text: &str, wide: bool) -> String {
    made(text, wide, Level::Full)
}

fn made(text: &str, wide: bool, level: Level) -> String {
    crate::initialize_target();
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "full");
    let module = context.create_module_from_ir(buffer).unwrap();
    let machine = HostMachine::for_module(handle(&module), true).unwrap();
    let unit = UnitProperties {
        inline: false,
        several: false,
        wide,
    };
    optimize(handle(&module), &machine, level, unit).unwrap();
    module.verify().unwrap();
    module.print_to_string().to_string()
}

/// Returns a loop as clang vectorizes it: each number and both of its neighbors, of which the next
/// iteration has one.
fn neighbors(to: &str) -> String {
    format!(
        "define void @f(ptr noalias %from, ptr noalias %other, i64 %n) {{
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %before = phi <2 x double> [ zeroinitializer, %0 ], [ %c, %loop ]
  %p = getelementptr double, ptr %from, i64 %i
  %a = load <2 x double>, ptr %p, align 8
  %next = add nuw i64 %i, 2
  %q = getelementptr double, ptr %from, i64 %next
  %c = load <2 x double>, ptr %q, align 8
  %s = shufflevector <2 x double> %before, <2 x double> %c, <2 x i32> <i32 1, i32 2>
  %t = fadd <2 x double> %s, %a
  %u = fadd <2 x double> %t, %c
  %o = getelementptr double, ptr {to}
  store <2 x double> %u, ptr %o, align 8
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop, !llvm.loop !0
out:
  ret void
}}
!0 = distinct !{{!0, !1, !2}}
!1 = !{{!\"llvm.loop.isvectorized\", i32 1}}
!2 = !{{!\"llvm.loop.unroll.runtime.disable\"}}
"
    )
}

#[test]
fn vector_loops_are_unrolled_and_repacked() {
    if !std::arch::is_x86_feature_detected!("avx") {
        return;
    }
    let apart = optimized(&neighbors("%other, i64 %i"), false);
    assert_eq!(apart.matches("fadd <4 x double>").count(), 2, "{apart}");
    assert_eq!(apart.matches("store <4 x double>").count(), 1, "{apart}");
    // The next iteration reads what one iteration writes.
    let after = optimized(&neighbors("%from, i64 %next"), false);
    assert!(!after.contains("store <4 x double>"), "{after}");
}

/// Returns the lines, in order, of a loop over `count` gathered values that load or add to the sum.
/// `between` comes after the first sum.
fn gathering(count: usize, between: &str) -> Vec<String> {
    let one = |k: usize| {
        let before = k.checked_sub(1).map_or("sum".into(), |b| format!("sum{b}"));
        let between = if k == 0 { between } else { "" };
        format!(
            "  %i{k} = add i64 %i, {k}
  %pa{k} = getelementptr double, ptr %a, i64 %i{k}
  %a{k} = load double, ptr %pa{k}
  %pc{k} = getelementptr i64, ptr %c, i64 %i{k}
  %c{k} = load i64, ptr %pc{k}
  %pp{k} = getelementptr double, ptr %p, i64 %c{k}
  %p{k} = load double, ptr %pp{k}
  %m{k} = fmul double %a{k}, %p{k}
  %sum{k} = fadd double %{before}, %m{k}
{between}"
        )
    };
    let all: String = (0..count).map(one).collect();
    let last = count - 1;
    let text = format!(
        "define double @f(ptr %a, ptr %c, ptr %p, i64 %n) {{
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi double [ 0.0, %0 ], [ %sum{last}, %loop ]
{all}  %next = add i64 %i, {count}
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop
out:
  ret double %sum{last}
}}
declare void @g()
"
    );
    let made = made(&text, false, Level::Quick);
    let lines = made.lines().map(str::trim);
    let wanted = |l: &str| l.contains(" = load") || l.contains(" = fadd");
    let name = |l: &str| l.split(" = ").next().unwrap().to_owned();
    lines.filter(|l| wanted(l)).map(name).collect()
}

#[test]
fn index_loads_are_hoisted() {
    let early = ["%c0", "%c1", "%a0", "%a1", "%p0", "%sum0", "%p1", "%sum1"];
    assert_eq!(gathering(2, ""), early);
    // Groups of eight are limited by registers; the next ones follow where the first of the group
    // was.
    let five = gathering(5, "").join(" ");
    let first = "%c0 %c1 %c2 %c3 %a0 %a1 %a2 %a3 %p0 %sum0 %p1 %sum1 %p2 %sum2 %p3 %sum3";
    assert_eq!(five, format!("{first} %c4 %a4 %p4 %sum4"));
    // Instructions that may write or end the program stay before what follows them.
    let late = ["%a0", "%c0", "%p0", "%sum0", "%a1", "%c1", "%p1", "%sum1"];
    assert_eq!(gathering(2, "  store double %sum0, ptr %p\n"), late);
    assert_eq!(gathering(2, "  call void @g()\n"), late);
}

#[test]
fn vectors_spanning_two_registers_are_split() {
    // Swapped halves: a shuffle across lanes as one vector, no instruction as two.
    let text = "define void @f(ptr noalias %to, ptr noalias %from) {
  %a = load <4 x double>, ptr %from, align 8
  %b = shufflevector <4 x double> %a, <4 x double> poison, <4 x i32> <i32 2, i32 3, i32 0, i32 1>
  %c = fmul <4 x double> %b, %b
  store <4 x double> %c, ptr %to, align 8
  ret void
}
";
    let narrow = optimized(text, false);
    assert!(!narrow.contains("shufflevector"), "{narrow}");
    assert!(narrow.contains("fmul <2 x double>"), "{narrow}");
    let wide = optimized(text, true);
    assert!(wide.contains("fmul <4 x double>"), "{wide}");
}

#[test]
fn nests_over_small_matrices_are_unrolled() {
    let text = "define void @f(ptr noalias %m, ptr noalias %x) {
  br label %outer
outer:
  %k = phi i64 [ 0, %0 ], [ %up, %behind ]
  %row = getelementptr [5 x double], ptr %m, i64 %k
  %at = getelementptr double, ptr %row, i64 %k
  %diagonal = load double, ptr %at
  %pivot = fdiv double 1.0, %diagonal
  store double %pivot, ptr %at
  %up = add nuw nsw i64 %k, 1
  %last = icmp eq i64 %k, 4
  br i1 %last, label %behind, label %rows
rows:
  %r = phi i64 [ %up, %outer ], [ %below, %step ]
  %other = getelementptr [5 x double], ptr %m, i64 %r
  %first = getelementptr double, ptr %other, i64 %k
  %scale = load double, ptr %first
  %factor = fmul double %scale, %pivot
  br label %columns
columns:
  %c = phi i64 [ %up, %rows ], [ %right, %columns ]
  %p = getelementptr double, ptr %row, i64 %c
  %a = load double, ptr %p
  %b = fmul double %a, %factor
  %q = getelementptr double, ptr %other, i64 %c
  %old = load double, ptr %q
  %new = fsub double %old, %b
  store double %new, ptr %q
  %right = add nuw nsw i64 %c, 1
  %end = icmp eq i64 %right, 5
  br i1 %end, label %step, label %columns
step:
  %mine = getelementptr double, ptr %x, i64 %k
  %u = load double, ptr %mine
  %v = fmul double %u, %factor
  %its = getelementptr double, ptr %x, i64 %r
  %w = load double, ptr %its
  %z = fsub double %w, %v
  store double %z, ptr %its
  %below = add nuw nsw i64 %r, 1
  %bottom = icmp eq i64 %below, 5
  br i1 %bottom, label %behind, label %rows
behind:
  %done = icmp eq i64 %up, 5
  br i1 %done, label %out, label %outer
out:
  ret void
}
";
    let made = optimized(text, false);
    assert!(!made.contains("br i1"), "{made}");
}

/// Only for a better candidate.
const RARELY: &str = "i1 %more, label %change, label %latch";

/// Runs the passes on a search that keeps its best candidates in an array: `change` holds the lines
/// of the path that changes them, taken as `branch` says.
fn search(change: &str, branch: &str, more: &str) -> (bool, String) {
    let sum: String = (0..20)
        .map(|k| {
            format!(
                "  %a{k} = getelementptr double, ptr %best, i64 {k}
  %b{k} = load double, ptr %a{k}
  %s{} = fadd double %s{k}, %b{k}\n",
                k + 1
            )
        })
        .collect();
    let text = format!(
        "define double @f(ptr %from, i64 %n, double %s0) {{
entry:
  %best = alloca [20 x double], align 16
  call void @llvm.memset.p0.i64(ptr %best, i8 0, i64 160, i1 false)
{more}  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %p = getelementptr double, ptr %from, i64 %i
  %x = load double, ptr %p
  %first = load double, ptr %best
  %more = fcmp ogt double %x, %first
  br {branch}
change:
{change}  br label %latch
latch:
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
{sum}  ret double %s20
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @g(ptr)
"
    );
    crate::initialize_target();
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "search");
    let module = context.create_module_from_ir(buffer).unwrap();
    let machine = HostMachine::for_module(handle(&module), true).unwrap();
    let kept = shim::keep_in_memory(handle(&module));
    machine.run_passes(handle(&module), STRAIGHT).unwrap();
    machine.run_passes(handle(&module), LAST).unwrap();
    if kept {
        shim::release_arrays(handle(&module));
    }
    module.verify().unwrap();
    (kept, module.print_to_string().to_string())
}

/// Moves this many candidates down and appends a new one.
fn moved(count: usize) -> String {
    let step = |k| {
        format!(
            "  %q{k} = getelementptr double, ptr %best, i64 {}
  %v{k} = load double, ptr %q{k}
  %r{k} = getelementptr double, ptr %best, i64 {k}
  store double %v{k}, ptr %r{k}\n",
            k + 1
        )
    };
    let steps: String = (0..count - 1).map(step).collect();
    format!(
        "{steps}  %last = getelementptr double, ptr %best, i64 {}
  store double %x, ptr %last\n",
        count - 1
    )
}

#[test]
fn arrays_of_many_candidates_stay_in_memory() {
    let (kept, text) = search(&moved(20), RARELY, "");
    assert!(kept);
    assert!(!text.contains("phi double"), "{text}");
    assert!(
        !text.contains("volatile") && !text.contains("in_memory"),
        "{text}"
    );
}

#[test]
fn elements_written_in_each_iteration_become_values() {
    assert!(!search(&moved(20), "label %change", "").0);
}

#[test]
fn arrays_of_few_candidates_become_values() {
    let (kept, text) = search(&moved(8), RARELY, "");
    assert!(!kept && text.contains("phi double"), "{text}");
}

#[test]
fn elements_written_before_use_are_not_carried() {
    // All elements are stored before they are loaded, also after the loop.
    let clear = "  call void @llvm.memset.p0.i64(ptr %best, i8 0, i64 160, i1 false)\n";
    let change = format!("{clear}{}{clear}", moved(20));
    let (kept, _) = search(&change, RARELY, "");
    // The loop's results are loaded at the end, so they are carried all the same.
    assert!(kept);
    let only_inside = change.replace("%best", "%own");
    assert!(
        !search(
            &only_inside,
            RARELY,
            "  %own = alloca [20 x double], align 16\n"
        )
        .0
    );
}

#[test]
fn arrays_with_escaping_addresses_are_left_alone() {
    assert!(!search(&moved(20), RARELY, "  call void @g(ptr %best)\n").0);
}

#[test]
fn a_field_of_an_element_that_is_not_known_is_memory_too() {
    let more = "  %which = load i64, ptr %from
  %pair = getelementptr [2 x double], ptr %best, i64 %which
  %second = getelementptr i8, ptr %pair, i64 8
  store double 1.0, ptr %second\n";
    let (kept, text) = search(&moved(20), RARELY, more);
    assert!(kept && !text.contains("phi double"), "{text}");
    let more = format!("{more}  call void @g(ptr %second)\n");
    assert!(!search(&moved(20), RARELY, &more).0);
}

#[test]
fn volatile_accesses_of_the_guest_stay_volatile() {
    let more = "  store volatile double 0.0, ptr %from\n";
    let (kept, text) = search(&moved(20), RARELY, more);
    assert!(kept);
    assert_eq!(text.matches("volatile").count(), 1, "{text}");
}

/// Returns a nest of `trips` iterations of one over `first`, `first + step` and so on, with
/// `inside` at the end of the inner loop.
fn growing(trips: u32, first: i64, step: i64, inside: &str) -> String {
    let last = i64::from(trips) - 1;
    format!(
        "define void @f(ptr noalias %b, ptr noalias %c, ptr noalias %e) {{
  br label %outer
outer:
  %k = phi i64 [ 0, %0 ], [ %up, %behind ]
  %most = phi i64 [ {first}, %0 ], [ %more, %behind ]
  br label %inner
inner:
  %i = phi i64 [ 0, %outer ], [ %next, %join ]
  %p = getelementptr i32, ptr %b, i64 %i
  %x = load i32, ptr %p
  %q = getelementptr i32, ptr %c, i64 %i
  %y = load i32, ptr %q
  %same = icmp eq i32 %x, %y
  br i1 %same, label %count, label %step
count:
  %old = load i32, ptr %e
  %new = add i32 %old, 1
  store i32 %new, ptr %e
  br label %step
step:
{inside}
join:
  %next = add nuw nsw i64 %i, 1
  %end = icmp eq i64 %next, %most
  br i1 %end, label %behind, label %inner
behind:
  %more = add nsw i64 %most, {step}
  %up = add nuw nsw i64 %k, 1
  %done = icmp eq i64 %k, {last}
  br i1 %done, label %out, label %outer
out:
  ret void
}}
"
    )
}

#[test]
fn nests_over_large_matrices_stay_loops() {
    let plain = "  br label %join";
    let deep = "  br label %third
third:
  %t = phi i64 [ 0, %step ], [ %t1, %third ]
  %z = getelementptr i32, ptr %b, i64 %t
  %v = load i32, ptr %z
  %w = add i32 %v, 1
  store i32 %w, ptr %z
  %t1 = add nuw nsw i64 %t, 1
  %last = icmp eq i64 %t, 11
  br i1 %last, label %join, label %third";
    for (trips, first, step, inside) in [
        (4, 256, 256, plain),
        (8, 32, 32, plain),
        (2, 1000, 1, plain),
        (4, 4096, -1000, plain),
        (8, 100_000, 7, plain),
        (8, 16, 16, deep),
        (6, 14, 0, deep),
    ] {
        let made = optimized(&growing(trips, first, step, inside), false);
        let lines = made.lines().count();
        // LLVM may unroll the outer loop; a vectorized inner loop with its remainder takes up to
        // 180 lines.
        let most = 700.max(180 * trips as usize);
        assert!(lines < most, "{trips} {first} {step}: {lines} lines");
        let quick = super::super::Level::Quick;
        let lines = self::made(&growing(trips, first, step, inside), false, quick);
        assert!(lines.lines().count() < 300, "{lines}");
    }
}

#[test]
fn excessive_growth_is_reported() {
    // A loop whose author asked for full unrolling.
    let text = growing(1, 5000, 0, "  br label %join").replace(
        "br i1 %end, label %behind, label %inner\n",
        "br i1 %end, label %behind, label %inner, !llvm.loop !0\n",
    ) + "!0 = distinct !{!0, !1}\n!1 = !{!\"llvm.loop.unroll.full\"}\n";
    crate::initialize_target();
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "full");
    let module = context.create_module_from_ir(buffer).unwrap();
    let machine = HostMachine::for_module(handle(&module), true).unwrap();
    let unit = UnitProperties {
        inline: false,
        several: false,
        wide: false,
    };
    match optimize(handle(&module), &machine, Level::Full, unit) {
        Err(CompileError::Part { why, culprit, .. }) => {
            assert!(why.starts_with("its passes grew it "), "{why}");
            assert_eq!(culprit.as_deref(), Some("f"));
        }
        other => panic!("{other:?}"),
    }
}
