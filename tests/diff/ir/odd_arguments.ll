; env: OMPVM_CHAOS=3
; Arguments and results that LLVM passes in parts of its own choice: integers of 65 to 127 bits, a vector of one 128-bit
; integer, short vectors of small integers.
target triple = "x86_64-pc-linux-gnu"

@line = private constant [12 x i8] c"%llx %llx \0A\00"

declare i32 @printf(ptr, ...)

define i65 @i65(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i65 %x, i64 %last) noinline {
entry:
  %y = freeze i65 %x
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %v = phi i65 [ %y, %entry ], [ %w, %loop ]
  %s = add i64 %i, %last
  %k = zext i64 %s to i65
  %w = add i65 %v, %k
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %a
  br i1 %more, label %loop, label %done
done:
  %r = freeze i65 %w
  ret i65 %r
}

define i96 @i96(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i96 %x, i64 %last) noinline {
entry:
  %y = freeze i96 %x
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %v = phi i96 [ %y, %entry ], [ %w, %loop ]
  %s = add i64 %i, %last
  %k = zext i64 %s to i96
  %w = add i96 %v, %k
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %a
  br i1 %more, label %loop, label %done
done:
  %r = freeze i96 %w
  ret i96 %r
}

define i127 @i127(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i127 %x, i64 %last) noinline {
entry:
  %y = freeze i127 %x
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %v = phi i127 [ %y, %entry ], [ %w, %loop ]
  %s = add i64 %i, %last
  %k = zext i64 %s to i127
  %w = add i127 %v, %k
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %a
  br i1 %more, label %loop, label %done
done:
  %r = freeze i127 %w
  ret i127 %r
}

define <1 x i128> @v1(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, <1 x i128> %x, i64 %last) noinline {
entry:
  %y = bitcast <1 x i128> %x to i128
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %v = phi i128 [ %y, %entry ], [ %w, %loop ]
  %s = add i64 %i, %last
  %k = zext i64 %s to i128
  %w = add i128 %v, %k
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %a
  br i1 %more, label %loop, label %done
done:
  %r = bitcast i128 %w to <1 x i128>
  ret <1 x i128> %r
}

define <3 x i8> @v3b(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, <3 x i8> %x, i64 %last) noinline {
entry:
  %y = bitcast <3 x i8> %x to i24
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %v = phi i24 [ %y, %entry ], [ %w, %loop ]
  %s = add i64 %i, %last
  %k = trunc i64 %s to i24
  %w = add i24 %v, %k
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %a
  br i1 %more, label %loop, label %done
done:
  %r = bitcast i24 %w to <3 x i8>
  ret <3 x i8> %r
}

define <3 x i16> @v3s(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, <3 x i16> %x, i64 %last) noinline {
entry:
  %y = bitcast <3 x i16> %x to i48
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %v = phi i48 [ %y, %entry ], [ %w, %loop ]
  %s = add i64 %i, %last
  %k = trunc i64 %s to i48
  %w = add i48 %v, %k
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %a
  br i1 %more, label %loop, label %done
done:
  %r = bitcast i48 %w to <3 x i16>
  ret <3 x i16> %r
}

define <5 x i8> @v5b(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, <5 x i8> %x, i64 %last) noinline {
entry:
  %y = bitcast <5 x i8> %x to i40
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %v = phi i40 [ %y, %entry ], [ %w, %loop ]
  %s = add i64 %i, %last
  %k = trunc i64 %s to i40
  %w = add i40 %v, %k
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %a
  br i1 %more, label %loop, label %done
done:
  %r = bitcast i40 %w to <5 x i8>
  ret <5 x i8> %r
}

define <7 x i8> @v7b(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, <7 x i8> %x, i64 %last) noinline {
entry:
  %y = bitcast <7 x i8> %x to i56
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %v = phi i56 [ %y, %entry ], [ %w, %loop ]
  %s = add i64 %i, %last
  %k = trunc i64 %s to i56
  %w = add i56 %v, %k
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %a
  br i1 %more, label %loop, label %done
done:
  %r = bitcast i56 %w to <7 x i8>
  ret <7 x i8> %r
}

define i32 @main() {
entry:
  br label %loop
loop:
  %p = phi i64 [ 9876543210987, %entry ], [ %p2, %loop ]
  %xi650 = zext i64 %p to i65
  %xi651 = mul i65 %xi650, 12345678901
  %xi652 = freeze i65 %xi651
  %xi653 = call i65 @i65(i64 20, i64 2, i64 3, i64 4, i64 5, i65 %xi652, i64 %p)
  %xi654 = freeze i65 %xi653
  %xi655 = trunc i65 %xi654 to i64
  %xi656 = lshr i65 %xi654, 32
  %xi657 = trunc i65 %xi656 to i64
  %xi658 = call i32 (ptr, ...) @printf(ptr @line, i64 %xi655, i64 %xi657)
  %xi960 = zext i64 %p to i96
  %xi961 = mul i96 %xi960, 12345678901
  %xi962 = freeze i96 %xi961
  %xi963 = call i96 @i96(i64 20, i64 2, i64 3, i64 4, i64 5, i96 %xi962, i64 %p)
  %xi964 = freeze i96 %xi963
  %xi965 = trunc i96 %xi964 to i64
  %xi966 = lshr i96 %xi964, 32
  %xi967 = trunc i96 %xi966 to i64
  %xi968 = call i32 (ptr, ...) @printf(ptr @line, i64 %xi965, i64 %xi967)
  %xi1270 = zext i64 %p to i127
  %xi1271 = mul i127 %xi1270, 12345678901
  %xi1272 = freeze i127 %xi1271
  %xi1273 = call i127 @i127(i64 20, i64 2, i64 3, i64 4, i64 5, i127 %xi1272, i64 %p)
  %xi1274 = freeze i127 %xi1273
  %xi1275 = trunc i127 %xi1274 to i64
  %xi1276 = lshr i127 %xi1274, 32
  %xi1277 = trunc i127 %xi1276 to i64
  %xi1278 = call i32 (ptr, ...) @printf(ptr @line, i64 %xi1275, i64 %xi1277)
  %xv10 = zext i64 %p to i128
  %xv11 = mul i128 %xv10, 12345678901
  %xv12 = bitcast i128 %xv11 to <1 x i128>
  %xv13 = call <1 x i128> @v1(i64 20, i64 2, i64 3, i64 4, i64 5, <1 x i128> %xv12, i64 %p)
  %xv14 = bitcast <1 x i128> %xv13 to i128
  %xv15 = trunc i128 %xv14 to i64
  %xv16 = lshr i128 %xv14, 32
  %xv17 = trunc i128 %xv16 to i64
  %xv18 = call i32 (ptr, ...) @printf(ptr @line, i64 %xv15, i64 %xv17)
  %xv3b0 = trunc i64 %p to i24
  %xv3b1 = mul i24 %xv3b0, 201
  %xv3b2 = bitcast i24 %xv3b1 to <3 x i8>
  %xv3b3 = call <3 x i8> @v3b(i64 20, i64 2, i64 3, i64 4, i64 5, <3 x i8> %xv3b2, i64 %p)
  %xv3b4 = bitcast <3 x i8> %xv3b3 to i24
  %xv3b5 = zext i24 %xv3b4 to i64
  %xv3b7 = add i64 %xv3b5, 1
  %xv3b8 = call i32 (ptr, ...) @printf(ptr @line, i64 %xv3b5, i64 %xv3b7)
  %xv3s0 = trunc i64 %p to i48
  %xv3s1 = mul i48 %xv3s0, 201
  %xv3s2 = bitcast i48 %xv3s1 to <3 x i16>
  %xv3s3 = call <3 x i16> @v3s(i64 20, i64 2, i64 3, i64 4, i64 5, <3 x i16> %xv3s2, i64 %p)
  %xv3s4 = bitcast <3 x i16> %xv3s3 to i48
  %xv3s5 = zext i48 %xv3s4 to i64
  %xv3s7 = add i64 %xv3s5, 1
  %xv3s8 = call i32 (ptr, ...) @printf(ptr @line, i64 %xv3s5, i64 %xv3s7)
  %xv5b0 = trunc i64 %p to i40
  %xv5b1 = mul i40 %xv5b0, 201
  %xv5b2 = bitcast i40 %xv5b1 to <5 x i8>
  %xv5b3 = call <5 x i8> @v5b(i64 20, i64 2, i64 3, i64 4, i64 5, <5 x i8> %xv5b2, i64 %p)
  %xv5b4 = bitcast <5 x i8> %xv5b3 to i40
  %xv5b5 = zext i40 %xv5b4 to i64
  %xv5b7 = add i64 %xv5b5, 1
  %xv5b8 = call i32 (ptr, ...) @printf(ptr @line, i64 %xv5b5, i64 %xv5b7)
  %xv7b0 = trunc i64 %p to i56
  %xv7b1 = mul i56 %xv7b0, 201
  %xv7b2 = bitcast i56 %xv7b1 to <7 x i8>
  %xv7b3 = call <7 x i8> @v7b(i64 20, i64 2, i64 3, i64 4, i64 5, <7 x i8> %xv7b2, i64 %p)
  %xv7b4 = bitcast <7 x i8> %xv7b3 to i56
  %xv7b5 = zext i56 %xv7b4 to i64
  %xv7b7 = add i64 %xv7b5, 1
  %xv7b8 = call i32 (ptr, ...) @printf(ptr @line, i64 %xv7b5, i64 %xv7b7)
  %p2 = add i64 %p, 1000000000000000
  %again = icmp ult i64 %p2, 8000000000000000
  br i1 %again, label %loop, label %end
end:
  ret i32 0
}
