// flags: -std=c23
// _Generic, _Static_assert, constexpr, nullptr, typeof, auto, digit separators and binary literals of C23.
#include <stdio.h>
#include <stddef.h>
#define T(x)                                                                                                           \
  _Generic((x),                                                                                                        \
      int: "int",                                                                                                      \
      unsigned: "unsigned",                                                                                            \
      long: "long",                                                                                                    \
      double: "double",                                                                                                \
      float: "float",                                                                                                  \
      char *: "char*",                                                                                                 \
      const char *: "cchar*",                                                                                          \
      default: "other")
static constexpr int K = 1'000;
_Static_assert(K == 1000);
enum big : unsigned long { B = 0xffff'ffff'ffff };
int main(void) {
  auto a = 5L;
  typeof(a) b = 0b1010;
  int *p = nullptr;
  bool t = true;
  printf("%s %s %s %s %s %s %s\n", T(1), T(2u), T(a), T(1.0f), T("s"), T('c'), T(p));
  printf("%ld %d %d %zu %lx %d\n", b, p == nullptr, t, sizeof(bool), (unsigned long)B, K);
  int arr[] = {};
  return (int)sizeof arr;
}
