; Static allocas are frame slots; a short memset and memcpy are one instruction each.
define i32 @golden(i32 %a, ptr %p) {
  %x = alloca i32
  %b = alloca [4 x i64]
  store i32 %a, ptr %x
  call void @llvm.memset.p0.i64(ptr %b, i8 0, i64 32, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %p, i64 16, i1 false)
  %at = getelementptr [4 x i64], ptr %b, i64 0, i64 1
  %l = load i32, ptr %at
  %y = load i32, ptr %x
  %s = add i32 %l, %y
  ret i32 %s
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
@data = global [4 x double] zeroinitializer
define i32 @main() {
  %r = call i32 @golden(i32 3, ptr @data)
  ret i32 0
}
