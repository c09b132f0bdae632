; exit: 41
; flags: -lstdc++
; invoke, landingpad with cleanup, catch, filter-free typeids, resume, thrown through the C++ runtime by hand.
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
@_ZTIi = external constant ptr
@_ZTIl = external constant ptr
declare ptr @__cxa_allocate_exception(i64)
declare void @__cxa_throw(ptr, ptr, ptr)
declare ptr @__cxa_begin_catch(ptr)
declare void @__cxa_end_catch()
declare i32 @__gxx_personality_v0(...)
declare i32 @llvm.eh.typeid.for.p0(ptr)
define internal void @thrower(i32 %x) noinline {
  %e = call ptr @__cxa_allocate_exception(i64 4)
  store i32 %x, ptr %e
  call void @__cxa_throw(ptr %e, ptr @_ZTIi, ptr null)
  unreachable
}
define internal void @middle(i32 %x) noinline personality ptr @__gxx_personality_v0 {
  invoke void @thrower(i32 %x) to label %ok unwind label %lp
ok:
  ret void
lp:
  %l = landingpad { ptr, i32 } cleanup
  call void @p(i64 3228)
  resume { ptr, i32 } %l
}
define i32 @main() personality ptr @__gxx_personality_v0 {
  invoke void @middle(i32 41) to label %ok unwind label %lp
ok:
  ret i32 1
lp:
  %l = landingpad { ptr, i32 } catch ptr @_ZTIl catch ptr @_ZTIi
  %sel = extractvalue { ptr, i32 } %l, 1
  %want = call i32 @llvm.eh.typeid.for.p0(ptr @_ZTIi)
  %is = icmp eq i32 %sel, %want
  br i1 %is, label %int, label %other
int:
  %ex = extractvalue { ptr, i32 } %l, 0
  %o = call ptr @__cxa_begin_catch(ptr %ex)
  %v = load i32, ptr %o
  call void @__cxa_end_catch()
  %z = zext i32 %v to i64
  call void @p(i64 %z)
  call void @nlp()
  ret i32 %v
other:
  resume { ptr, i32 } %l
}
