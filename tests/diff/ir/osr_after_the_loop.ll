; options: --no-cache
; env: OMPVM_CHAOS=6
; Compiled loops leave the values that the code behind them reads: of an address with the loop's next index, and none
; that only unused code names, whose slot may have another value.
target triple = "x86_64-pc-linux-gnu"

@doubles = global [4096 x double] zeroinitializer
@line = private constant [6 x i8] c"%lld\0A\00"

declare i32 @printf(ptr, ...)

; An address of the next element, behind the loop as a number.
define i64 @number(ptr %p, i64 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %j = add i64 %i, 1
  %q = getelementptr double, ptr %p, i64 %j
  %h = ptrtoint ptr %q to i64
  %o = getelementptr double, ptr %p, i64 %i
  %v = load double, ptr %o
  %w = fadd double %v, 1.0
  store double %w, ptr %o
  %c = icmp ult i64 %j, %n
  br i1 %c, label %loop, label %done
done:
  %b = ptrtoint ptr %p to i64
  %d = sub i64 %h, %b
  ret i64 %d
}

; A field of the next element, behind the loop.
define i64 @field(ptr %p, i64 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %j = add i64 %i, 1
  %q = getelementptr { double, double }, ptr %p, i64 %j
  %h = getelementptr i8, ptr %q, i64 8
  %v = load double, ptr %q
  %o = getelementptr double, ptr %p, i64 %i
  store double %v, ptr %o
  %c = icmp ult i64 %j, %n
  br i1 %c, label %loop, label %done
done:
  %d = load double, ptr %h
  %r = fptosi double %d to i64
  ret i64 %r
}

; The same on an edge into a block that two loops reach.
define i64 @merged(ptr %p, i64 %n, i1 %other) noinline {
entry:
  br i1 %other, label %second, label %first
first:
  %i = phi i64 [ 0, %entry ], [ %j, %first ]
  %j = add i64 %i, 1
  %q = getelementptr double, ptr %p, i64 %j
  %h = ptrtoint ptr %q to i64
  %o = getelementptr double, ptr %p, i64 %i
  store double 2.0, ptr %o
  %c = icmp ult i64 %j, %n
  br i1 %c, label %first, label %done
second:
  %k = phi i64 [ 0, %entry ], [ %l, %second ]
  %l = add i64 %k, 2
  %x = getelementptr double, ptr %p, i64 %l
  %y = ptrtoint ptr %x to i64
  %z = getelementptr double, ptr %p, i64 %k
  store double 3.0, ptr %z
  %e = icmp ult i64 %l, %n
  br i1 %e, label %second, label %done
done:
  %end = phi i64 [ %h, %first ], [ %y, %second ]
  %b = ptrtoint ptr %p to i64
  %d = sub i64 %end, %b
  ret i64 %d
}

; A value of the loop that only unused code reads.
define i64 @unused(ptr %p, i64 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %o = getelementptr double, ptr %p, i64 %i
  %v = load double, ptr %o
  %j = add i64 %i, 1
  %x = fcmp olt double %v, 1000.0
  %s = select i1 %x, double %v, double 0.75
  store double %s, ptr %o
  %c = icmp eq i64 %j, %n
  br i1 %c, label %done, label %loop
done:
  %dead = xor i1 %x, true
  %r = mul i64 %j, 3
  %r2 = add i64 %r, %i
  ret i64 %r2
}

define i32 @main() {
entry:
  br label %set
set:
  %i = phi i64 [ 0, %entry ], [ %i2, %set ]
  %d = getelementptr double, ptr @doubles, i64 %i
  %f = uitofp i64 %i to double
  store double %f, ptr %d
  %i2 = add i64 %i, 1
  %more = icmp ult i64 %i2, 4096
  br i1 %more, label %set, label %run
run:
  %k = phi i64 [ 20, %set ], [ %k2, %run ]
  %sum = phi i64 [ 0, %set ], [ %sum5, %run ]
  %a = call i64 @field(ptr @doubles, i64 %k)
  %b = call i64 @number(ptr @doubles, i64 %k)
  %c = call i64 @merged(ptr @doubles, i64 %k, i1 false)
  %e = call i64 @merged(ptr @doubles, i64 %k, i1 true)
  %u = call i64 @unused(ptr @doubles, i64 %k)
  %sum1 = add i64 %sum, %a
  %sum2 = add i64 %sum1, %b
  %sum3 = add i64 %sum2, %c
  %sum4 = add i64 %sum3, %e
  %sum5 = add i64 %sum4, %u
  %w1 = call i32 (ptr, ...) @printf(ptr @line, i64 %a)
  %w2 = call i32 (ptr, ...) @printf(ptr @line, i64 %b)
  %w3 = call i32 (ptr, ...) @printf(ptr @line, i64 %c)
  %w4 = call i32 (ptr, ...) @printf(ptr @line, i64 %e)
  %w5 = call i32 (ptr, ...) @printf(ptr @line, i64 %u)
  %k2 = add i64 %k, 300
  %again = icmp ult i64 %k2, 2000
  br i1 %again, label %run, label %end
end:
  %w = call i32 (ptr, ...) @printf(ptr @line, i64 %sum5)
  ret i32 0
}
