// Variadic arguments that are aligned above 16 bytes (x86-64 psABI, section 3.2.3), beside others.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <stdarg.h>

typedef struct {
  _Alignas(32) int numbers[8];
} Wide;
typedef struct {
  _Alignas(128) char letter;
} Page;

static long sum(int n, ...) {
  va_list list;
  va_start(list, n);
  long total = va_arg(list, int);
  Wide wide = va_arg(list, Wide);
  total += wide.numbers[0] + wide.numbers[7];
  total += (long)va_arg(list, double);
  total += va_arg(list, Page).letter;
  total += va_arg(list, int);
  total += (long)va_arg(list, long double);
  total += va_arg(list, Wide).numbers[3];
  va_end(list);
  return total;
}
static long (*volatile by_pointer)(int, ...) = sum;

int main(void) {
  Wide wide = {{1, 2, 3, 4, 5, 6, 7, 8}};
  Page page = {'a'};
  long expected = 10 + 1 + 8 + 2 + 'a' + 20 + 3 + 4;
#pragma omp parallel
  {
    CHECK(sum(1, 10, wide, 2.0, page, 20, 3.0L, wide) == expected);
    CHECK(by_pointer(1, 10, wide, 2.0, page, 20, 3.0L, wide) == expected);
  }
  return DONE();
}
