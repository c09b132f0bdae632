// OpenMP 5.2, section 15.8.4: every binary operator of atomic update, in both operand orders.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  unsigned mul = 1, band = ~0u, bor = 0, bxor = 0, shl = 1, shr = 1u << 30, div = 1u << 20; int left = 1000, rdiv = 3; double d = 1, q = 1024, r = 1;
#pragma omp parallel num_threads(4)
  {
    int me = omp_get_thread_num();
#pragma omp atomic
    mul *= 3;
#pragma omp atomic
    band &= ~(1u << me);
#pragma omp atomic
    bor = bor | 1u << me;
#pragma omp atomic
    bxor ^= 7u << me;
#pragma omp atomic
    shl <<= 2;
#pragma omp atomic
    shr >>= 3;
#pragma omp atomic
    div /= 4;
#pragma omp atomic
    left = 1 - left;
#pragma omp atomic
    rdiv = 3 / rdiv;
#pragma omp atomic
    d *= 2;
#pragma omp atomic
    q /= 2;
#pragma omp atomic
    r = 4 / r;
  }
  CHECK(mul == 81 && band == ~15u && bor == 15 && bxor == (7 ^ 14 ^ 28 ^ 56) && shl == 256 && shr == 1u << 18 && div == 1u << 12);
  CHECK(left == 1000 && rdiv == 3 && d == 16 && q == 64 && r == 1);
  return DONE();
}
