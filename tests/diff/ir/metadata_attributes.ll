; exit: 5
; Instruction metadata, branch weights, ranges, tbaa, loop hints, function attributes, prefix-free sections, module flags.
target triple = "x86_64-pc-linux-gnu"
declare i32 @printf(ptr, ...)
declare i32 @puts(ptr)
@fmt = private unnamed_addr constant [6 x i8] c"%llx \00"
@fmtn = private unnamed_addr constant [7 x i8] c"%s %d\0A\00"
@nl = private unnamed_addr constant [1 x i8] zeroinitializer
define internal void @p(i64 %v) noinline {
  %r = call i32 (ptr, ...) @printf(ptr @fmt, i64 %v)
  ret void
}
define internal void @nlp() noinline {
  %r = call i32 @puts(ptr @nl)
  ret void
}
@x = internal global i32 3, section "mydata", align 8, !dbgfree !0
define internal range(i32 0, 100) i32 @f(ptr nocapture noundef nonnull readonly align 4 dereferenceable(4) %q, i32 noundef signext %k) #0 section "mytext" {
  %v = load i32, ptr %q, align 4, !range !1, !noundef !0
  %r = add nuw nsw i32 %v, %k
  %d = or disjoint i32 %r, 64
  ret i32 %d
}
define i32 @main() #1 {
entry:
  br label %l
l:
  %i = phi i32 [ 0, %entry ], [ %n, %l ]
  %s = phi i32 [ 0, %entry ], [ %t, %l ]
  %y = call i32 @f(ptr @x, i32 %i), !srcloc !0
  %t = add i32 %s, %y
  %n = add i32 %i, 1
  %c = icmp samesign ult i32 %n, 10
  br i1 %c, label %l, label %e, !prof !2, !llvm.loop !3
e:
  %z = zext nneg i32 %t to i64
  call void @p(i64 %z)
  call void @nlp()
  ret i32 5
}
attributes #0 = { noinline nounwind willreturn memory(argmem: read) "frame-pointer"="all" }
attributes #1 = { nounwind uwtable "no-trapping-math"="true" }
!llvm.module.flags = !{!4}
!llvm.ident = !{!5}
!0 = !{}
!1 = !{i32 0, i32 50}
!2 = !{!"branch_weights", i32 9, i32 1}
!3 = distinct !{!3, !6}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{!"hand-written"}
!6 = !{!"llvm.loop.unroll.disable"}
