// OpenMP 5.2, sections 5.5.8 and 5.5.11: a reduction whose elements are large, so that many teams need much memory.
#include "../../check.h"
typedef struct { long sum[40]; int least; } wide;
static void join(wide *out, const wide *in) {
  for (int i = 0; i < 40; i++) out->sum[i] += in->sum[i];
  if (in->least < out->least) out->least = in->least;
}
#pragma omp declare target(join)
#pragma omp declare reduction(join : wide : join(&omp_out, &omp_in)) initializer(omp_priv = {{0}, 1 << 30})
int main(void) {
  wide w = {{0}, 1 << 30};
#pragma omp target teams distribute parallel for num_teams(40) reduction(join : w) map(tofrom : w)
  for (int i = 0; i < 4000; i++) {
    w.sum[i % 40] += i;
    int v = (i * 31) % 4001 + 5;
    if (v < w.least) w.least = v;
  }
  for (int k = 0; k < 40; k++) CHECK(w.sum[k] == 100L * k + 40L * 4950);
  CHECK(w.least == 5);
  return DONE();
}
