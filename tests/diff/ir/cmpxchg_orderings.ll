; cmpxchg, strong and weak, with every pair of orderings, and fences.
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
@v = internal global [5 x i64] [i64 0, i64 1, i64 77, i64 256, i64 -1]
@mi8 = internal global i8 0, align 8
@mi16 = internal global i16 0, align 8
@mi32 = internal global i32 0, align 8
@mi64 = internal global i64 0, align 8
define internal void @pair(i64 %a, i64 %b) noinline {
  %ai8 = trunc i64 %a to i8
  %bi8 = trunc i64 %b to i8
  store i8 %ai8, ptr @mi8
  %x1 = cmpxchg ptr @mi8, i8 %bi8, i8 77 monotonic monotonic
  %l1 = extractvalue {i8, i1} %x1, 0
  %k1 = extractvalue {i8, i1} %x1, 1
  %zl1 = zext i8 %l1 to i64
  call void @p(i64 %zl1)
  %zk1 = zext i1 %k1 to i64
  call void @p(i64 %zk1)
  store i8 %ai8, ptr @mi8
  %x3 = cmpxchg ptr @mi8, i8 %bi8, i8 77 monotonic acquire
  %l3 = extractvalue {i8, i1} %x3, 0
  %k3 = extractvalue {i8, i1} %x3, 1
  %zl3 = zext i8 %l3 to i64
  call void @p(i64 %zl3)
  %zk3 = zext i1 %k3 to i64
  call void @p(i64 %zk3)
  store i8 %ai8, ptr @mi8
  %x4 = cmpxchg weak ptr @mi8, i8 %bi8, i8 77 monotonic acquire
  %l4 = extractvalue {i8, i1} %x4, 0
  %k4 = extractvalue {i8, i1} %x4, 1
  %zl4 = zext i8 %l4 to i64
  call void @p(i64 %zl4)
  %zk4 = zext i1 %k4 to i64
  call void @p(i64 %zk4)
  store i8 %ai8, ptr @mi8
  %x5 = cmpxchg ptr @mi8, i8 %bi8, i8 77 monotonic seq_cst
  %l5 = extractvalue {i8, i1} %x5, 0
  %k5 = extractvalue {i8, i1} %x5, 1
  %zl5 = zext i8 %l5 to i64
  call void @p(i64 %zl5)
  %zk5 = zext i1 %k5 to i64
  call void @p(i64 %zk5)
  store i8 %ai8, ptr @mi8
  %x7 = cmpxchg ptr @mi8, i8 %bi8, i8 77 acquire monotonic
  %l7 = extractvalue {i8, i1} %x7, 0
  %k7 = extractvalue {i8, i1} %x7, 1
  %zl7 = zext i8 %l7 to i64
  call void @p(i64 %zl7)
  %zk7 = zext i1 %k7 to i64
  call void @p(i64 %zk7)
  store i8 %ai8, ptr @mi8
  %x9 = cmpxchg ptr @mi8, i8 %bi8, i8 77 acquire acquire
  %l9 = extractvalue {i8, i1} %x9, 0
  %k9 = extractvalue {i8, i1} %x9, 1
  %zl9 = zext i8 %l9 to i64
  call void @p(i64 %zl9)
  %zk9 = zext i1 %k9 to i64
  call void @p(i64 %zk9)
  store i8 %ai8, ptr @mi8
  %x10 = cmpxchg weak ptr @mi8, i8 %bi8, i8 77 acquire acquire
  %l10 = extractvalue {i8, i1} %x10, 0
  %k10 = extractvalue {i8, i1} %x10, 1
  %zl10 = zext i8 %l10 to i64
  call void @p(i64 %zl10)
  %zk10 = zext i1 %k10 to i64
  call void @p(i64 %zk10)
  store i8 %ai8, ptr @mi8
  %x11 = cmpxchg ptr @mi8, i8 %bi8, i8 77 acquire seq_cst
  %l11 = extractvalue {i8, i1} %x11, 0
  %k11 = extractvalue {i8, i1} %x11, 1
  %zl11 = zext i8 %l11 to i64
  call void @p(i64 %zl11)
  %zk11 = zext i1 %k11 to i64
  call void @p(i64 %zk11)
  store i8 %ai8, ptr @mi8
  %x13 = cmpxchg ptr @mi8, i8 %bi8, i8 77 release monotonic
  %l13 = extractvalue {i8, i1} %x13, 0
  %k13 = extractvalue {i8, i1} %x13, 1
  %zl13 = zext i8 %l13 to i64
  call void @p(i64 %zl13)
  %zk13 = zext i1 %k13 to i64
  call void @p(i64 %zk13)
  store i8 %ai8, ptr @mi8
  %x15 = cmpxchg ptr @mi8, i8 %bi8, i8 77 release acquire
  %l15 = extractvalue {i8, i1} %x15, 0
  %k15 = extractvalue {i8, i1} %x15, 1
  %zl15 = zext i8 %l15 to i64
  call void @p(i64 %zl15)
  %zk15 = zext i1 %k15 to i64
  call void @p(i64 %zk15)
  store i8 %ai8, ptr @mi8
  %x16 = cmpxchg weak ptr @mi8, i8 %bi8, i8 77 release acquire
  %l16 = extractvalue {i8, i1} %x16, 0
  %k16 = extractvalue {i8, i1} %x16, 1
  %zl16 = zext i8 %l16 to i64
  call void @p(i64 %zl16)
  %zk16 = zext i1 %k16 to i64
  call void @p(i64 %zk16)
  store i8 %ai8, ptr @mi8
  %x17 = cmpxchg ptr @mi8, i8 %bi8, i8 77 release seq_cst
  %l17 = extractvalue {i8, i1} %x17, 0
  %k17 = extractvalue {i8, i1} %x17, 1
  %zl17 = zext i8 %l17 to i64
  call void @p(i64 %zl17)
  %zk17 = zext i1 %k17 to i64
  call void @p(i64 %zk17)
  store i8 %ai8, ptr @mi8
  %x19 = cmpxchg ptr @mi8, i8 %bi8, i8 77 acq_rel monotonic
  %l19 = extractvalue {i8, i1} %x19, 0
  %k19 = extractvalue {i8, i1} %x19, 1
  %zl19 = zext i8 %l19 to i64
  call void @p(i64 %zl19)
  %zk19 = zext i1 %k19 to i64
  call void @p(i64 %zk19)
  store i8 %ai8, ptr @mi8
  %x21 = cmpxchg ptr @mi8, i8 %bi8, i8 77 acq_rel acquire
  %l21 = extractvalue {i8, i1} %x21, 0
  %k21 = extractvalue {i8, i1} %x21, 1
  %zl21 = zext i8 %l21 to i64
  call void @p(i64 %zl21)
  %zk21 = zext i1 %k21 to i64
  call void @p(i64 %zk21)
  store i8 %ai8, ptr @mi8
  %x22 = cmpxchg weak ptr @mi8, i8 %bi8, i8 77 acq_rel acquire
  %l22 = extractvalue {i8, i1} %x22, 0
  %k22 = extractvalue {i8, i1} %x22, 1
  %zl22 = zext i8 %l22 to i64
  call void @p(i64 %zl22)
  %zk22 = zext i1 %k22 to i64
  call void @p(i64 %zk22)
  store i8 %ai8, ptr @mi8
  %x23 = cmpxchg ptr @mi8, i8 %bi8, i8 77 acq_rel seq_cst
  %l23 = extractvalue {i8, i1} %x23, 0
  %k23 = extractvalue {i8, i1} %x23, 1
  %zl23 = zext i8 %l23 to i64
  call void @p(i64 %zl23)
  %zk23 = zext i1 %k23 to i64
  call void @p(i64 %zk23)
  store i8 %ai8, ptr @mi8
  %x25 = cmpxchg ptr @mi8, i8 %bi8, i8 77 seq_cst monotonic
  %l25 = extractvalue {i8, i1} %x25, 0
  %k25 = extractvalue {i8, i1} %x25, 1
  %zl25 = zext i8 %l25 to i64
  call void @p(i64 %zl25)
  %zk25 = zext i1 %k25 to i64
  call void @p(i64 %zk25)
  store i8 %ai8, ptr @mi8
  %x27 = cmpxchg ptr @mi8, i8 %bi8, i8 77 seq_cst acquire
  %l27 = extractvalue {i8, i1} %x27, 0
  %k27 = extractvalue {i8, i1} %x27, 1
  %zl27 = zext i8 %l27 to i64
  call void @p(i64 %zl27)
  %zk27 = zext i1 %k27 to i64
  call void @p(i64 %zk27)
  store i8 %ai8, ptr @mi8
  %x28 = cmpxchg weak ptr @mi8, i8 %bi8, i8 77 seq_cst acquire
  %l28 = extractvalue {i8, i1} %x28, 0
  %k28 = extractvalue {i8, i1} %x28, 1
  %zl28 = zext i8 %l28 to i64
  call void @p(i64 %zl28)
  %zk28 = zext i1 %k28 to i64
  call void @p(i64 %zk28)
  store i8 %ai8, ptr @mi8
  %x29 = cmpxchg ptr @mi8, i8 %bi8, i8 77 seq_cst seq_cst
  %l29 = extractvalue {i8, i1} %x29, 0
  %k29 = extractvalue {i8, i1} %x29, 1
  %zl29 = zext i8 %l29 to i64
  call void @p(i64 %zl29)
  %zk29 = zext i1 %k29 to i64
  call void @p(i64 %zk29)
  %ai16 = trunc i64 %a to i16
  %bi16 = trunc i64 %b to i16
  store i16 %ai16, ptr @mi16
  %x31 = cmpxchg ptr @mi16, i16 %bi16, i16 77 monotonic monotonic
  %l31 = extractvalue {i16, i1} %x31, 0
  %k31 = extractvalue {i16, i1} %x31, 1
  %zl31 = zext i16 %l31 to i64
  call void @p(i64 %zl31)
  %zk31 = zext i1 %k31 to i64
  call void @p(i64 %zk31)
  store i16 %ai16, ptr @mi16
  %x33 = cmpxchg ptr @mi16, i16 %bi16, i16 77 monotonic acquire
  %l33 = extractvalue {i16, i1} %x33, 0
  %k33 = extractvalue {i16, i1} %x33, 1
  %zl33 = zext i16 %l33 to i64
  call void @p(i64 %zl33)
  %zk33 = zext i1 %k33 to i64
  call void @p(i64 %zk33)
  store i16 %ai16, ptr @mi16
  %x34 = cmpxchg weak ptr @mi16, i16 %bi16, i16 77 monotonic acquire
  %l34 = extractvalue {i16, i1} %x34, 0
  %k34 = extractvalue {i16, i1} %x34, 1
  %zl34 = zext i16 %l34 to i64
  call void @p(i64 %zl34)
  %zk34 = zext i1 %k34 to i64
  call void @p(i64 %zk34)
  store i16 %ai16, ptr @mi16
  %x35 = cmpxchg ptr @mi16, i16 %bi16, i16 77 monotonic seq_cst
  %l35 = extractvalue {i16, i1} %x35, 0
  %k35 = extractvalue {i16, i1} %x35, 1
  %zl35 = zext i16 %l35 to i64
  call void @p(i64 %zl35)
  %zk35 = zext i1 %k35 to i64
  call void @p(i64 %zk35)
  store i16 %ai16, ptr @mi16
  %x37 = cmpxchg ptr @mi16, i16 %bi16, i16 77 acquire monotonic
  %l37 = extractvalue {i16, i1} %x37, 0
  %k37 = extractvalue {i16, i1} %x37, 1
  %zl37 = zext i16 %l37 to i64
  call void @p(i64 %zl37)
  %zk37 = zext i1 %k37 to i64
  call void @p(i64 %zk37)
  store i16 %ai16, ptr @mi16
  %x39 = cmpxchg ptr @mi16, i16 %bi16, i16 77 acquire acquire
  %l39 = extractvalue {i16, i1} %x39, 0
  %k39 = extractvalue {i16, i1} %x39, 1
  %zl39 = zext i16 %l39 to i64
  call void @p(i64 %zl39)
  %zk39 = zext i1 %k39 to i64
  call void @p(i64 %zk39)
  store i16 %ai16, ptr @mi16
  %x40 = cmpxchg weak ptr @mi16, i16 %bi16, i16 77 acquire acquire
  %l40 = extractvalue {i16, i1} %x40, 0
  %k40 = extractvalue {i16, i1} %x40, 1
  %zl40 = zext i16 %l40 to i64
  call void @p(i64 %zl40)
  %zk40 = zext i1 %k40 to i64
  call void @p(i64 %zk40)
  store i16 %ai16, ptr @mi16
  %x41 = cmpxchg ptr @mi16, i16 %bi16, i16 77 acquire seq_cst
  %l41 = extractvalue {i16, i1} %x41, 0
  %k41 = extractvalue {i16, i1} %x41, 1
  %zl41 = zext i16 %l41 to i64
  call void @p(i64 %zl41)
  %zk41 = zext i1 %k41 to i64
  call void @p(i64 %zk41)
  store i16 %ai16, ptr @mi16
  %x43 = cmpxchg ptr @mi16, i16 %bi16, i16 77 release monotonic
  %l43 = extractvalue {i16, i1} %x43, 0
  %k43 = extractvalue {i16, i1} %x43, 1
  %zl43 = zext i16 %l43 to i64
  call void @p(i64 %zl43)
  %zk43 = zext i1 %k43 to i64
  call void @p(i64 %zk43)
  store i16 %ai16, ptr @mi16
  %x45 = cmpxchg ptr @mi16, i16 %bi16, i16 77 release acquire
  %l45 = extractvalue {i16, i1} %x45, 0
  %k45 = extractvalue {i16, i1} %x45, 1
  %zl45 = zext i16 %l45 to i64
  call void @p(i64 %zl45)
  %zk45 = zext i1 %k45 to i64
  call void @p(i64 %zk45)
  store i16 %ai16, ptr @mi16
  %x46 = cmpxchg weak ptr @mi16, i16 %bi16, i16 77 release acquire
  %l46 = extractvalue {i16, i1} %x46, 0
  %k46 = extractvalue {i16, i1} %x46, 1
  %zl46 = zext i16 %l46 to i64
  call void @p(i64 %zl46)
  %zk46 = zext i1 %k46 to i64
  call void @p(i64 %zk46)
  store i16 %ai16, ptr @mi16
  %x47 = cmpxchg ptr @mi16, i16 %bi16, i16 77 release seq_cst
  %l47 = extractvalue {i16, i1} %x47, 0
  %k47 = extractvalue {i16, i1} %x47, 1
  %zl47 = zext i16 %l47 to i64
  call void @p(i64 %zl47)
  %zk47 = zext i1 %k47 to i64
  call void @p(i64 %zk47)
  store i16 %ai16, ptr @mi16
  %x49 = cmpxchg ptr @mi16, i16 %bi16, i16 77 acq_rel monotonic
  %l49 = extractvalue {i16, i1} %x49, 0
  %k49 = extractvalue {i16, i1} %x49, 1
  %zl49 = zext i16 %l49 to i64
  call void @p(i64 %zl49)
  %zk49 = zext i1 %k49 to i64
  call void @p(i64 %zk49)
  store i16 %ai16, ptr @mi16
  %x51 = cmpxchg ptr @mi16, i16 %bi16, i16 77 acq_rel acquire
  %l51 = extractvalue {i16, i1} %x51, 0
  %k51 = extractvalue {i16, i1} %x51, 1
  %zl51 = zext i16 %l51 to i64
  call void @p(i64 %zl51)
  %zk51 = zext i1 %k51 to i64
  call void @p(i64 %zk51)
  store i16 %ai16, ptr @mi16
  %x52 = cmpxchg weak ptr @mi16, i16 %bi16, i16 77 acq_rel acquire
  %l52 = extractvalue {i16, i1} %x52, 0
  %k52 = extractvalue {i16, i1} %x52, 1
  %zl52 = zext i16 %l52 to i64
  call void @p(i64 %zl52)
  %zk52 = zext i1 %k52 to i64
  call void @p(i64 %zk52)
  store i16 %ai16, ptr @mi16
  %x53 = cmpxchg ptr @mi16, i16 %bi16, i16 77 acq_rel seq_cst
  %l53 = extractvalue {i16, i1} %x53, 0
  %k53 = extractvalue {i16, i1} %x53, 1
  %zl53 = zext i16 %l53 to i64
  call void @p(i64 %zl53)
  %zk53 = zext i1 %k53 to i64
  call void @p(i64 %zk53)
  store i16 %ai16, ptr @mi16
  %x55 = cmpxchg ptr @mi16, i16 %bi16, i16 77 seq_cst monotonic
  %l55 = extractvalue {i16, i1} %x55, 0
  %k55 = extractvalue {i16, i1} %x55, 1
  %zl55 = zext i16 %l55 to i64
  call void @p(i64 %zl55)
  %zk55 = zext i1 %k55 to i64
  call void @p(i64 %zk55)
  store i16 %ai16, ptr @mi16
  %x57 = cmpxchg ptr @mi16, i16 %bi16, i16 77 seq_cst acquire
  %l57 = extractvalue {i16, i1} %x57, 0
  %k57 = extractvalue {i16, i1} %x57, 1
  %zl57 = zext i16 %l57 to i64
  call void @p(i64 %zl57)
  %zk57 = zext i1 %k57 to i64
  call void @p(i64 %zk57)
  store i16 %ai16, ptr @mi16
  %x58 = cmpxchg weak ptr @mi16, i16 %bi16, i16 77 seq_cst acquire
  %l58 = extractvalue {i16, i1} %x58, 0
  %k58 = extractvalue {i16, i1} %x58, 1
  %zl58 = zext i16 %l58 to i64
  call void @p(i64 %zl58)
  %zk58 = zext i1 %k58 to i64
  call void @p(i64 %zk58)
  store i16 %ai16, ptr @mi16
  %x59 = cmpxchg ptr @mi16, i16 %bi16, i16 77 seq_cst seq_cst
  %l59 = extractvalue {i16, i1} %x59, 0
  %k59 = extractvalue {i16, i1} %x59, 1
  %zl59 = zext i16 %l59 to i64
  call void @p(i64 %zl59)
  %zk59 = zext i1 %k59 to i64
  call void @p(i64 %zk59)
  %ai32 = trunc i64 %a to i32
  %bi32 = trunc i64 %b to i32
  store i32 %ai32, ptr @mi32
  %x61 = cmpxchg ptr @mi32, i32 %bi32, i32 77 monotonic monotonic
  %l61 = extractvalue {i32, i1} %x61, 0
  %k61 = extractvalue {i32, i1} %x61, 1
  %zl61 = zext i32 %l61 to i64
  call void @p(i64 %zl61)
  %zk61 = zext i1 %k61 to i64
  call void @p(i64 %zk61)
  store i32 %ai32, ptr @mi32
  %x63 = cmpxchg ptr @mi32, i32 %bi32, i32 77 monotonic acquire
  %l63 = extractvalue {i32, i1} %x63, 0
  %k63 = extractvalue {i32, i1} %x63, 1
  %zl63 = zext i32 %l63 to i64
  call void @p(i64 %zl63)
  %zk63 = zext i1 %k63 to i64
  call void @p(i64 %zk63)
  store i32 %ai32, ptr @mi32
  %x64 = cmpxchg weak ptr @mi32, i32 %bi32, i32 77 monotonic acquire
  %l64 = extractvalue {i32, i1} %x64, 0
  %k64 = extractvalue {i32, i1} %x64, 1
  %zl64 = zext i32 %l64 to i64
  call void @p(i64 %zl64)
  %zk64 = zext i1 %k64 to i64
  call void @p(i64 %zk64)
  store i32 %ai32, ptr @mi32
  %x65 = cmpxchg ptr @mi32, i32 %bi32, i32 77 monotonic seq_cst
  %l65 = extractvalue {i32, i1} %x65, 0
  %k65 = extractvalue {i32, i1} %x65, 1
  %zl65 = zext i32 %l65 to i64
  call void @p(i64 %zl65)
  %zk65 = zext i1 %k65 to i64
  call void @p(i64 %zk65)
  store i32 %ai32, ptr @mi32
  %x67 = cmpxchg ptr @mi32, i32 %bi32, i32 77 acquire monotonic
  %l67 = extractvalue {i32, i1} %x67, 0
  %k67 = extractvalue {i32, i1} %x67, 1
  %zl67 = zext i32 %l67 to i64
  call void @p(i64 %zl67)
  %zk67 = zext i1 %k67 to i64
  call void @p(i64 %zk67)
  store i32 %ai32, ptr @mi32
  %x69 = cmpxchg ptr @mi32, i32 %bi32, i32 77 acquire acquire
  %l69 = extractvalue {i32, i1} %x69, 0
  %k69 = extractvalue {i32, i1} %x69, 1
  %zl69 = zext i32 %l69 to i64
  call void @p(i64 %zl69)
  %zk69 = zext i1 %k69 to i64
  call void @p(i64 %zk69)
  store i32 %ai32, ptr @mi32
  %x70 = cmpxchg weak ptr @mi32, i32 %bi32, i32 77 acquire acquire
  %l70 = extractvalue {i32, i1} %x70, 0
  %k70 = extractvalue {i32, i1} %x70, 1
  %zl70 = zext i32 %l70 to i64
  call void @p(i64 %zl70)
  %zk70 = zext i1 %k70 to i64
  call void @p(i64 %zk70)
  store i32 %ai32, ptr @mi32
  %x71 = cmpxchg ptr @mi32, i32 %bi32, i32 77 acquire seq_cst
  %l71 = extractvalue {i32, i1} %x71, 0
  %k71 = extractvalue {i32, i1} %x71, 1
  %zl71 = zext i32 %l71 to i64
  call void @p(i64 %zl71)
  %zk71 = zext i1 %k71 to i64
  call void @p(i64 %zk71)
  store i32 %ai32, ptr @mi32
  %x73 = cmpxchg ptr @mi32, i32 %bi32, i32 77 release monotonic
  %l73 = extractvalue {i32, i1} %x73, 0
  %k73 = extractvalue {i32, i1} %x73, 1
  %zl73 = zext i32 %l73 to i64
  call void @p(i64 %zl73)
  %zk73 = zext i1 %k73 to i64
  call void @p(i64 %zk73)
  store i32 %ai32, ptr @mi32
  %x75 = cmpxchg ptr @mi32, i32 %bi32, i32 77 release acquire
  %l75 = extractvalue {i32, i1} %x75, 0
  %k75 = extractvalue {i32, i1} %x75, 1
  %zl75 = zext i32 %l75 to i64
  call void @p(i64 %zl75)
  %zk75 = zext i1 %k75 to i64
  call void @p(i64 %zk75)
  store i32 %ai32, ptr @mi32
  %x76 = cmpxchg weak ptr @mi32, i32 %bi32, i32 77 release acquire
  %l76 = extractvalue {i32, i1} %x76, 0
  %k76 = extractvalue {i32, i1} %x76, 1
  %zl76 = zext i32 %l76 to i64
  call void @p(i64 %zl76)
  %zk76 = zext i1 %k76 to i64
  call void @p(i64 %zk76)
  store i32 %ai32, ptr @mi32
  %x77 = cmpxchg ptr @mi32, i32 %bi32, i32 77 release seq_cst
  %l77 = extractvalue {i32, i1} %x77, 0
  %k77 = extractvalue {i32, i1} %x77, 1
  %zl77 = zext i32 %l77 to i64
  call void @p(i64 %zl77)
  %zk77 = zext i1 %k77 to i64
  call void @p(i64 %zk77)
  store i32 %ai32, ptr @mi32
  %x79 = cmpxchg ptr @mi32, i32 %bi32, i32 77 acq_rel monotonic
  %l79 = extractvalue {i32, i1} %x79, 0
  %k79 = extractvalue {i32, i1} %x79, 1
  %zl79 = zext i32 %l79 to i64
  call void @p(i64 %zl79)
  %zk79 = zext i1 %k79 to i64
  call void @p(i64 %zk79)
  store i32 %ai32, ptr @mi32
  %x81 = cmpxchg ptr @mi32, i32 %bi32, i32 77 acq_rel acquire
  %l81 = extractvalue {i32, i1} %x81, 0
  %k81 = extractvalue {i32, i1} %x81, 1
  %zl81 = zext i32 %l81 to i64
  call void @p(i64 %zl81)
  %zk81 = zext i1 %k81 to i64
  call void @p(i64 %zk81)
  store i32 %ai32, ptr @mi32
  %x82 = cmpxchg weak ptr @mi32, i32 %bi32, i32 77 acq_rel acquire
  %l82 = extractvalue {i32, i1} %x82, 0
  %k82 = extractvalue {i32, i1} %x82, 1
  %zl82 = zext i32 %l82 to i64
  call void @p(i64 %zl82)
  %zk82 = zext i1 %k82 to i64
  call void @p(i64 %zk82)
  store i32 %ai32, ptr @mi32
  %x83 = cmpxchg ptr @mi32, i32 %bi32, i32 77 acq_rel seq_cst
  %l83 = extractvalue {i32, i1} %x83, 0
  %k83 = extractvalue {i32, i1} %x83, 1
  %zl83 = zext i32 %l83 to i64
  call void @p(i64 %zl83)
  %zk83 = zext i1 %k83 to i64
  call void @p(i64 %zk83)
  store i32 %ai32, ptr @mi32
  %x85 = cmpxchg ptr @mi32, i32 %bi32, i32 77 seq_cst monotonic
  %l85 = extractvalue {i32, i1} %x85, 0
  %k85 = extractvalue {i32, i1} %x85, 1
  %zl85 = zext i32 %l85 to i64
  call void @p(i64 %zl85)
  %zk85 = zext i1 %k85 to i64
  call void @p(i64 %zk85)
  store i32 %ai32, ptr @mi32
  %x87 = cmpxchg ptr @mi32, i32 %bi32, i32 77 seq_cst acquire
  %l87 = extractvalue {i32, i1} %x87, 0
  %k87 = extractvalue {i32, i1} %x87, 1
  %zl87 = zext i32 %l87 to i64
  call void @p(i64 %zl87)
  %zk87 = zext i1 %k87 to i64
  call void @p(i64 %zk87)
  store i32 %ai32, ptr @mi32
  %x88 = cmpxchg weak ptr @mi32, i32 %bi32, i32 77 seq_cst acquire
  %l88 = extractvalue {i32, i1} %x88, 0
  %k88 = extractvalue {i32, i1} %x88, 1
  %zl88 = zext i32 %l88 to i64
  call void @p(i64 %zl88)
  %zk88 = zext i1 %k88 to i64
  call void @p(i64 %zk88)
  store i32 %ai32, ptr @mi32
  %x89 = cmpxchg ptr @mi32, i32 %bi32, i32 77 seq_cst seq_cst
  %l89 = extractvalue {i32, i1} %x89, 0
  %k89 = extractvalue {i32, i1} %x89, 1
  %zl89 = zext i32 %l89 to i64
  call void @p(i64 %zl89)
  %zk89 = zext i1 %k89 to i64
  call void @p(i64 %zk89)
  store i64 %a, ptr @mi64
  %x91 = cmpxchg ptr @mi64, i64 %b, i64 77 monotonic monotonic
  %l91 = extractvalue {i64, i1} %x91, 0
  %k91 = extractvalue {i64, i1} %x91, 1
  call void @p(i64 %l91)
  %zk91 = zext i1 %k91 to i64
  call void @p(i64 %zk91)
  store i64 %a, ptr @mi64
  %x93 = cmpxchg ptr @mi64, i64 %b, i64 77 monotonic acquire
  %l93 = extractvalue {i64, i1} %x93, 0
  %k93 = extractvalue {i64, i1} %x93, 1
  call void @p(i64 %l93)
  %zk93 = zext i1 %k93 to i64
  call void @p(i64 %zk93)
  store i64 %a, ptr @mi64
  %x94 = cmpxchg weak ptr @mi64, i64 %b, i64 77 monotonic acquire
  %l94 = extractvalue {i64, i1} %x94, 0
  %k94 = extractvalue {i64, i1} %x94, 1
  call void @p(i64 %l94)
  %zk94 = zext i1 %k94 to i64
  call void @p(i64 %zk94)
  store i64 %a, ptr @mi64
  %x95 = cmpxchg ptr @mi64, i64 %b, i64 77 monotonic seq_cst
  %l95 = extractvalue {i64, i1} %x95, 0
  %k95 = extractvalue {i64, i1} %x95, 1
  call void @p(i64 %l95)
  %zk95 = zext i1 %k95 to i64
  call void @p(i64 %zk95)
  store i64 %a, ptr @mi64
  %x97 = cmpxchg ptr @mi64, i64 %b, i64 77 acquire monotonic
  %l97 = extractvalue {i64, i1} %x97, 0
  %k97 = extractvalue {i64, i1} %x97, 1
  call void @p(i64 %l97)
  %zk97 = zext i1 %k97 to i64
  call void @p(i64 %zk97)
  store i64 %a, ptr @mi64
  %x99 = cmpxchg ptr @mi64, i64 %b, i64 77 acquire acquire
  %l99 = extractvalue {i64, i1} %x99, 0
  %k99 = extractvalue {i64, i1} %x99, 1
  call void @p(i64 %l99)
  %zk99 = zext i1 %k99 to i64
  call void @p(i64 %zk99)
  store i64 %a, ptr @mi64
  %x100 = cmpxchg weak ptr @mi64, i64 %b, i64 77 acquire acquire
  %l100 = extractvalue {i64, i1} %x100, 0
  %k100 = extractvalue {i64, i1} %x100, 1
  call void @p(i64 %l100)
  %zk100 = zext i1 %k100 to i64
  call void @p(i64 %zk100)
  store i64 %a, ptr @mi64
  %x101 = cmpxchg ptr @mi64, i64 %b, i64 77 acquire seq_cst
  %l101 = extractvalue {i64, i1} %x101, 0
  %k101 = extractvalue {i64, i1} %x101, 1
  call void @p(i64 %l101)
  %zk101 = zext i1 %k101 to i64
  call void @p(i64 %zk101)
  store i64 %a, ptr @mi64
  %x103 = cmpxchg ptr @mi64, i64 %b, i64 77 release monotonic
  %l103 = extractvalue {i64, i1} %x103, 0
  %k103 = extractvalue {i64, i1} %x103, 1
  call void @p(i64 %l103)
  %zk103 = zext i1 %k103 to i64
  call void @p(i64 %zk103)
  store i64 %a, ptr @mi64
  %x105 = cmpxchg ptr @mi64, i64 %b, i64 77 release acquire
  %l105 = extractvalue {i64, i1} %x105, 0
  %k105 = extractvalue {i64, i1} %x105, 1
  call void @p(i64 %l105)
  %zk105 = zext i1 %k105 to i64
  call void @p(i64 %zk105)
  store i64 %a, ptr @mi64
  %x106 = cmpxchg weak ptr @mi64, i64 %b, i64 77 release acquire
  %l106 = extractvalue {i64, i1} %x106, 0
  %k106 = extractvalue {i64, i1} %x106, 1
  call void @p(i64 %l106)
  %zk106 = zext i1 %k106 to i64
  call void @p(i64 %zk106)
  store i64 %a, ptr @mi64
  %x107 = cmpxchg ptr @mi64, i64 %b, i64 77 release seq_cst
  %l107 = extractvalue {i64, i1} %x107, 0
  %k107 = extractvalue {i64, i1} %x107, 1
  call void @p(i64 %l107)
  %zk107 = zext i1 %k107 to i64
  call void @p(i64 %zk107)
  store i64 %a, ptr @mi64
  %x109 = cmpxchg ptr @mi64, i64 %b, i64 77 acq_rel monotonic
  %l109 = extractvalue {i64, i1} %x109, 0
  %k109 = extractvalue {i64, i1} %x109, 1
  call void @p(i64 %l109)
  %zk109 = zext i1 %k109 to i64
  call void @p(i64 %zk109)
  store i64 %a, ptr @mi64
  %x111 = cmpxchg ptr @mi64, i64 %b, i64 77 acq_rel acquire
  %l111 = extractvalue {i64, i1} %x111, 0
  %k111 = extractvalue {i64, i1} %x111, 1
  call void @p(i64 %l111)
  %zk111 = zext i1 %k111 to i64
  call void @p(i64 %zk111)
  store i64 %a, ptr @mi64
  %x112 = cmpxchg weak ptr @mi64, i64 %b, i64 77 acq_rel acquire
  %l112 = extractvalue {i64, i1} %x112, 0
  %k112 = extractvalue {i64, i1} %x112, 1
  call void @p(i64 %l112)
  %zk112 = zext i1 %k112 to i64
  call void @p(i64 %zk112)
  store i64 %a, ptr @mi64
  %x113 = cmpxchg ptr @mi64, i64 %b, i64 77 acq_rel seq_cst
  %l113 = extractvalue {i64, i1} %x113, 0
  %k113 = extractvalue {i64, i1} %x113, 1
  call void @p(i64 %l113)
  %zk113 = zext i1 %k113 to i64
  call void @p(i64 %zk113)
  store i64 %a, ptr @mi64
  %x115 = cmpxchg ptr @mi64, i64 %b, i64 77 seq_cst monotonic
  %l115 = extractvalue {i64, i1} %x115, 0
  %k115 = extractvalue {i64, i1} %x115, 1
  call void @p(i64 %l115)
  %zk115 = zext i1 %k115 to i64
  call void @p(i64 %zk115)
  store i64 %a, ptr @mi64
  %x117 = cmpxchg ptr @mi64, i64 %b, i64 77 seq_cst acquire
  %l117 = extractvalue {i64, i1} %x117, 0
  %k117 = extractvalue {i64, i1} %x117, 1
  call void @p(i64 %l117)
  %zk117 = zext i1 %k117 to i64
  call void @p(i64 %zk117)
  store i64 %a, ptr @mi64
  %x118 = cmpxchg weak ptr @mi64, i64 %b, i64 77 seq_cst acquire
  %l118 = extractvalue {i64, i1} %x118, 0
  %k118 = extractvalue {i64, i1} %x118, 1
  call void @p(i64 %l118)
  %zk118 = zext i1 %k118 to i64
  call void @p(i64 %zk118)
  store i64 %a, ptr @mi64
  %x119 = cmpxchg ptr @mi64, i64 %b, i64 77 seq_cst seq_cst
  %l119 = extractvalue {i64, i1} %x119, 0
  %k119 = extractvalue {i64, i1} %x119, 1
  call void @p(i64 %l119)
  %zk119 = zext i1 %k119 to i64
  call void @p(i64 %zk119)
  fence acquire
  fence release
  fence acq_rel
  fence seq_cst
  fence syncscope("singlethread") seq_cst
  call void @nlp()
  ret void
}
define i32 @main() {
entry:
  br label %oi
oi:
  %i = phi i64 [ 0, %entry ], [ %i1, %on ]
  br label %oj
oj:
  %j = phi i64 [ 0, %oi ], [ %j1, %oj ]
  %pa = getelementptr [5 x i64], ptr @v, i64 0, i64 %i
  %pb = getelementptr [5 x i64], ptr @v, i64 0, i64 %j
  %a = load volatile i64, ptr %pa
  %b = load volatile i64, ptr %pb
  call void @pair(i64 %a, i64 %b)
  %j1 = add i64 %j, 1
  %jd = icmp eq i64 %j1, 5
  br i1 %jd, label %on, label %oj
on:
  %i1 = add i64 %i, 1
  %id = icmp eq i64 %i1, 5
  br i1 %id, label %end, label %oi
end:
  ret i32 0
}
