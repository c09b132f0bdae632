// OpenMP 5.2, section 5.5.11: declare reduction with an initializer over a structure (the position of a maximum).
// stdout: ok
// levels: O0 O2
#include "../../check.h"
struct top { double value; int at; };
static void better(struct top *out, const struct top *in) {
  if (in->value > out->value || (in->value == out->value && in->at < out->at)) *out = *in;
}
#pragma omp declare reduction(top : struct top : better(&omp_out, &omp_in)) initializer(omp_priv = (struct top){-1e30, 1 << 30})
int main(void) {
  struct top best = {-5, -1};
#pragma omp parallel for num_threads(4) reduction(top : best)
  for (int i = 0; i < 500; i++) {
    struct top mine = {(double)(i * 37 % 101), i};
    better(&best, &mine);
  }
  CHECK(best.value == 100 && best.at == 30);
  return DONE();
}
