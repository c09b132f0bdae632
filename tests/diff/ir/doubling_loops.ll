; Loops whose counter is its own step: doubled in each iteration.
target triple = "x86_64-pc-linux-gnu"

@ints = global [600 x i64] zeroinitializer
@doubles = global [600 x double] zeroinitializer
@line = private constant [5 x i8] c"%lx\0A\00"

declare i32 @printf(ptr, ...)
declare double @llvm.fmuladd.f64(double, double, double)

define i64 @fill_i8(ptr %p, i64 %n, i8 %v) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 1, %entry ], [ %j, %loop ]
  %q = getelementptr i8, ptr %p, i64 %i
  store i8 %v, ptr %q
  %j = add i64 %i, %i
  %c = icmp slt i64 %j, %n
  br i1 %c, label %loop, label %done
done:
  ret i64 %j
}

define i64 @fill_i16(ptr %p, i64 %n, i16 %v) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 1, %entry ], [ %j, %loop ]
  %q = getelementptr i16, ptr %p, i64 %i
  store i16 %v, ptr %q
  %j = add i64 %i, %i
  %c = icmp ult i64 %j, %n
  br i1 %c, label %loop, label %done
done:
  ret i64 %j
}

define i64 @fill_i32(ptr %p, i64 %n, i32 %v) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 1, %entry ], [ %j, %loop ]
  %q = getelementptr i32, ptr %p, i64 %i
  store i32 %v, ptr %q
  %j = add i64 %i, %i
  %c = icmp slt i64 %j, %n
  br i1 %c, label %loop, label %done
done:
  ret i64 %j
}

define i64 @fill_i64(ptr %p, i64 %n, i64 %v) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 1, %entry ], [ %j, %loop ]
  %q = getelementptr i64, ptr %p, i64 %i
  store i64 %v, ptr %q
  %j = add i64 %i, %i
  %c = icmp ult i64 %j, %n
  br i1 %c, label %loop, label %done
done:
  ret i64 %j
}

define i64 @sum(ptr %p, i64 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 1, %entry ], [ %j, %loop ]
  %s = phi double [ 0.0, %entry ], [ %s2, %loop ]
  %a = getelementptr double, ptr %p, i64 %i
  %x = load double, ptr %a
  %s2 = fadd double %s, %x
  %j = add i64 %i, %i
  %c = icmp slt i64 %j, %n
  br i1 %c, label %loop, label %done
done:
  %bits = bitcast double %s2 to i64
  ret i64 %bits
}

define i64 @scaled(ptr %p, double %f, i64 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 1, %entry ], [ %j, %loop ]
  %s = phi double [ 0.0, %entry ], [ %s2, %loop ]
  %a = getelementptr double, ptr %p, i64 %i
  %x = load double, ptr %a
  %s2 = call double @llvm.fmuladd.f64(double %x, double %f, double %s)
  %j = add i64 %i, %i
  %c = icmp slt i64 %j, %n
  br i1 %c, label %loop, label %done
done:
  %bits = bitcast double %s2 to i64
  ret i64 %bits
}

define i64 @product(ptr %p, ptr %q, i64 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 1, %entry ], [ %j, %loop ]
  %s = phi double [ 0.0, %entry ], [ %s2, %loop ]
  %a = getelementptr double, ptr %p, i64 %i
  %x = load double, ptr %a
  %b = getelementptr double, ptr %q, i64 %i
  %y = load double, ptr %b
  %s2 = call double @llvm.fmuladd.f64(double %x, double %y, double %s)
  %j = add i64 %i, %i
  %c = icmp slt i64 %j, %n
  br i1 %c, label %loop, label %done
done:
  %bits = bitcast double %s2 to i64
  ret i64 %bits
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
  %more = icmp ult i64 %i2, 600
  br i1 %more, label %set, label %run
run:
  %r0 = call i64 @fill_i8(ptr @ints, i64 300, i8 1)
  %w0 = call i32 (ptr, ...) @printf(ptr @line, i64 %r0)
  %r1 = call i64 @fill_i16(ptr @ints, i64 500, i16 2)
  %w1 = call i32 (ptr, ...) @printf(ptr @line, i64 %r1)
  %r2 = call i64 @fill_i32(ptr @ints, i64 2, i32 3)
  %w2 = call i32 (ptr, ...) @printf(ptr @line, i64 %r2)
  %r3 = call i64 @fill_i64(ptr @ints, i64 301, i64 4)
  %w3 = call i32 (ptr, ...) @printf(ptr @line, i64 %r3)
  %r4 = call i64 @sum(ptr @doubles, i64 500)
  %w4 = call i32 (ptr, ...) @printf(ptr @line, i64 %r4)
  %r5 = call i64 @scaled(ptr @doubles, double 0.5, i64 260)
  %w5 = call i32 (ptr, ...) @printf(ptr @line, i64 %r5)
  %r6 = call i64 @product(ptr @doubles, ptr @doubles, i64 600)
  %w6 = call i32 (ptr, ...) @printf(ptr @line, i64 %r6)
  br label %hash
hash:
  %k = phi i64 [ 0, %run ], [ %k2, %hash ]
  %h = phi i64 [ 0, %run ], [ %h3, %hash ]
  %e = getelementptr i64, ptr @ints, i64 %k
  %v = load i64, ptr %e
  %h2 = mul i64 %h, 31
  %h3 = add i64 %h2, %v
  %k2 = add i64 %k, 1
  %again = icmp ult i64 %k2, 600
  br i1 %again, label %hash, label %end
end:
  %w = call i32 (ptr, ...) @printf(ptr @line, i64 %h3)
  ret i32 0
}
