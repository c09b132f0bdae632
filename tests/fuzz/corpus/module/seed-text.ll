define i32 @f(i32 %x) {
  %y = add nsw i32 %x, 1
  ret i32 %y
}
@g = global [3 x double] zeroinitializer
