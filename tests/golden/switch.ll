; Dense keys become a table, sparse ones a search, two keys comparisons.
define i32 @golden(i32 %a) {
  switch i32 %a, label %far [
    i32 1, label %one
    i32 2, label %two
    i32 4, label %two
  ]
far:
  switch i32 %a, label %few [
    i32 100, label %one
    i32 100000, label %two
    i32 200000, label %one
  ]
few:
  switch i32 %a, label %other [
    i32 7, label %one
    i32 9, label %two
  ]
one:
  ret i32 11
two:
  ret i32 22
other:
  ret i32 %a
}
define i32 @main() {
  %r = call i32 @golden(i32 3)
  ret i32 0
}
