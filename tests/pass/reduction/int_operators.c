// OpenMP 5.2, section 5.5.8: every integer reduction operator against its serial result, on values that distinguish them.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  enum { N = 97 };
  unsigned v[N];
  for (int i = 0; i < N; i++) v[i] = i * 2654435761u | 0x10;
  unsigned add = 3, mul = 5, band = ~0x100u, bor = 1, bxor = 9, s_add = 3, s_mul = 5, s_band = ~0x100u, s_bor = 1, s_bxor = 9;
  int land = 1, lor = 0;
  for (int i = 0; i < N; i++) s_add += v[i], s_mul *= v[i] | 1, s_band &= v[i] | 0x300, s_bor |= v[i] & 0xff0, s_bxor ^= v[i];
#pragma omp parallel for num_threads(4) reduction(+ : add) reduction(* : mul) reduction(& : band) reduction(| : bor) reduction(^ : bxor) reduction(&& : land) reduction(|| : lor)
  for (int i = 0; i < N; i++) {
    add += v[i], mul *= v[i] | 1, band &= v[i] | 0x300, bor |= v[i] & 0xff0, bxor ^= v[i];
    land = land && v[i];
    lor = lor || i == 60;
  }
  CHECK(add == s_add && mul == s_mul && band == s_band && bor == s_bor && bxor == s_bxor && land == 1 && lor == 1);
  return DONE();
}
