// OpenMP 5.2, section 11.6: loops over 64-bit and unsigned variables, with steps, downwards.
#include "../../check.h"
int main(void) {
  long sum = 0, down = 0;
  unsigned u = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (long i = 1L << 40; i < (1L << 40) + 300; i += 3) sum += i - (1L << 40);
  CHECK(sum == 3 * (99 * 100 / 2));
#pragma omp target teams distribute parallel for reduction(+ : down)
  for (long i = 100; i > -100; i -= 7) down += i;
  long expected = 0;
  for (long i = 100; i > -100; i -= 7) expected += i;
  CHECK(down == expected);
#pragma omp target parallel for reduction(+ : u)
  for (unsigned i = 4000000000u; i < 4000000100u; i++) u += i - 4000000000u;
  CHECK(u == 4950);
  return DONE();
}
