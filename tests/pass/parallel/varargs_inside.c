// OpenMP 5.2, section 10.1: variadic guest functions and vsnprintf called from every thread.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <stdarg.h>
static long add(int n, ...) {
  va_list ap; long s = 0;
  va_start(ap, n);
  for (int i = 0; i < n; i++) s += i % 2 ? (long)va_arg(ap, double) : va_arg(ap, long);
  va_end(ap);
  return s;
}
static void text(char *to, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  vsnprintf(to, 64, format, ap);
  va_end(ap);
}
int main(void) {
#pragma omp parallel num_threads(4)
  {
    int me = omp_get_thread_num(); char buffer[64], want[64];
    CHECK(add(10, 1L, 2.0, 3L, 4.0, 5L, 6.0, 7L, 8.0, (long)me, 10.0) == 46 + me);
    text(buffer, "%d %.2f %s %c", me, me / 4.0, "text", 'a' + me);
    strcpy(want, "0 0.00 text a");
    want[0] += me, want[12] += me, want[4] = "0257"[me], want[5] = "0505"[me];
    CHECK(!strcmp(buffer, want));
  }
  return DONE();
}
