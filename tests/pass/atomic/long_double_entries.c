// OpenMP 5.2, section 15.8.4: the runtime's entries for atomic updates of long double and its complex numbers, which other
// compilers call.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <complex.h>
typedef long double ld;
typedef long double _Complex lc;
#define ENTRIES(T, F)                                                                                                 \
  void F##_add(void *, int, T *, T), F##_sub(void *, int, T *, T), F##_mul(void *, int, T *, T),                      \
      F##_div(void *, int, T *, T), F##_sub_rev(void *, int, T *, T), F##_div_rev(void *, int, T *, T),               \
      F##_wr(void *, int, T *, T);                                                                                    \
  T F##_add_cpt(void *, int, T *, T, int), F##_sub_cpt(void *, int, T *, T, int), F##_mul_cpt(void *, int, T *, T, int), \
      F##_div_cpt(void *, int, T *, T, int), F##_sub_cpt_rev(void *, int, T *, T, int),                               \
      F##_div_cpt_rev(void *, int, T *, T, int), F##_rd(void *, int, T *), F##_swp(void *, int, T *, T);
ENTRIES(ld, __kmpc_atomic_float10)
ENTRIES(lc, __kmpc_atomic_cmplx10)
void __kmpc_atomic_float10_min(void *, int, ld *, ld), __kmpc_atomic_float10_max(void *, int, ld *, ld);
ld __kmpc_atomic_float10_min_cpt(void *, int, ld *, ld, int), __kmpc_atomic_float10_max_cpt(void *, int, ld *, ld, int);
int __kmpc_global_thread_num(void *);
#define G __kmpc_global_thread_num(0)
#define A(op) __kmpc_atomic_float10_##op
#define C(op) __kmpc_atomic_cmplx10_##op
static ld sum, most = -1, guarded[3];
static lc turn = 1;
int main(void) {
  const ld tiny = 1.0L / (1ll << 62);
  ld x = 1;
  A(add)(0, G, &x, tiny);
  CHECK(x - 1 == tiny);
  A(sub)(0, G, &x, tiny);
  A(mul)(0, G, &x, 12);
  A(div)(0, G, &x, 5);
  CHECK(x == 12.0L / 5);
  A(sub_rev)(0, G, &x, 3);
  CHECK(x == 3 - 12.0L / 5);
  A(div_rev)(0, G, &x, 7);
  CHECK(x == 7 / (3 - 12.0L / 5));
  A(wr)(0, G, &x, 8);
  CHECK(A(rd)(0, G, &x) == 8 && A(swp)(0, G, &x, 9) == 8 && x == 9);
  CHECK(A(add_cpt)(0, G, &x, 1, 1) == 10 && A(add_cpt)(0, G, &x, 1, 0) == 10 && x == 11);
  CHECK(A(sub_cpt)(0, G, &x, 1, 1) == 10 && A(mul_cpt)(0, G, &x, 3, 0) == 10 && A(div_cpt)(0, G, &x, 4, 1) == 7.5L);
  CHECK(A(sub_cpt_rev)(0, G, &x, 10, 1) == 2.5L && A(div_cpt_rev)(0, G, &x, 5, 0) == 2.5L && x == 2);
  A(min)(0, G, &x, 3);
  A(max)(0, G, &x, 1);
  CHECK(x == 2 && A(min_cpt)(0, G, &x, 1, 1) == 1 && A(max_cpt)(0, G, &x, 6, 1) == 6 && x == 6);
  // The bytes beside the ten bytes do not change.
  memset(guarded, 0x5a, sizeof guarded);
  A(wr)(0, G, &guarded[1], 1);
  CHECK(((unsigned char *)&guarded[1])[10] == 0x5a && guarded[1] == 1);
  lc z = 1 + 2 * I;
  C(add)(0, G, &z, 1 - 1 * I);
  C(mul)(0, G, &z, 3 + 1 * I);
  CHECK(z == 5 + 5 * I);
  C(div)(0, G, &z, 1 + 2 * I);
  CHECK(z == 3 - 1 * I);
  C(sub)(0, G, &z, 1);
  C(sub_rev)(0, G, &z, 4 + 4 * I);
  CHECK(z == 2 + 5 * I);
  C(wr)(0, G, &z, 1 + 1 * I);
  C(div_rev)(0, G, &z, 4);
  CHECK(z == 2 - 2 * I && C(rd)(0, G, &z) == z && C(swp)(0, G, &z, 7) == 2 - 2 * I && z == 7);
  CHECK(C(add_cpt)(0, G, &z, 1 * I, 1) == 7 + 1 * I && C(sub_cpt)(0, G, &z, 7, 0) == 7 + 1 * I && z == 1 * I);
  CHECK(C(mul_cpt)(0, G, &z, 1 * I, 1) == -1 && C(div_cpt)(0, G, &z, 2, 1) == -0.5L);
  CHECK(C(sub_cpt_rev)(0, G, &z, 1, 1) == 1.5L && C(div_cpt_rev)(0, G, &z, 3, 0) == 1.5L && z == 2);
#pragma omp parallel
  for (int i = 0; i < 1000; i++) {
    A(add)(0, G, &sum, 1 + tiny);
    A(max)(0, G, &most, i);
    C(mul)(0, G, &turn, 1 * I);
  }
  int n = omp_get_max_threads();
  CHECK(sum > 1000 * n && sum < 1000 * n + 1e-9L && most == 999);
  CHECK(turn == 1);
  return DONE();
}
