// OpenMP 5.2, section 15.8.4: atomic update on every integer type, under contention.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#define TYPE(T) { \
    T up = 0, mixed = 5; \
    _Pragma("omp parallel num_threads(4)") \
    for (int i = 0; i < 250; i++) { \
      _Pragma("omp atomic") up++; \
      _Pragma("omp atomic update") mixed += (T)3; \
      _Pragma("omp atomic") mixed = mixed - (T)1; \
      _Pragma("omp atomic") --mixed; \
    } \
    CHECK(up == (T)1000 && mixed == (T)1005); }
int main(void) {
  TYPE(signed char) TYPE(unsigned char) TYPE(short) TYPE(unsigned short) TYPE(int) TYPE(unsigned) TYPE(long) TYPE(unsigned long long)
  return DONE();
}
