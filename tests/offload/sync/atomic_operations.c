// OpenMP 5.2, section 15.8.4: every operation that atomic update allows, both ways round.
#include "../../check.h"
int main(void) {
  unsigned and_ = ~0u, or_ = 0, xor_ = 0, left = 1, right = 1u << 31, sub = 1000, rsub = 3, div = 1u << 20;
  double q = 1 << 10;
#pragma omp target teams distribute parallel for map(tofrom : and_, or_, xor_, left, right, sub, rsub, div, q)
  for (int i = 0; i < 16; i++) {
#pragma omp atomic
    and_ &= ~(1u << i);
#pragma omp atomic
    or_ |= 1u << i;
#pragma omp atomic
    xor_ = xor_ ^ (3u << i);
#pragma omp atomic
    left <<= 1;
#pragma omp atomic
    right >>= 1;
#pragma omp atomic
    sub = sub - i;
#pragma omp atomic
    rsub = 10 - rsub;
#pragma omp atomic
    div /= 2;
    if (i % 2) {
#pragma omp atomic
      q = q / 2;
    }
  }
  unsigned x = 0;
  for (int i = 0; i < 16; i++) x ^= 3u << i;
  CHECK(and_ == 0xffff0000 && or_ == 0xffff && xor_ == x && left == 1 << 16 && right == 1 << 15);
  CHECK(sub == 1000 - 120 && rsub == 3 && div == 16 && q == 4);
  return DONE();
}
