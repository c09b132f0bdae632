// OpenMP 5.2, sections 5.4.3 and 5.4.4: private and firstprivate arrays and structures at each level of a combined construct.
#include "../../check.h"
struct box { int v[6]; float f; };
int main(void) {
  int a[8], out[100];
  struct box b = {{1, 2, 3, 4, 5, 6}, 0.5f};
  for (int i = 0; i < 8; i++) a[i] = i;
#pragma omp target teams distribute parallel for firstprivate(a, b) map(from : out)
  for (int i = 0; i < 100; i++) {
    a[i % 8] += 100;      // of this thread alone
    b.v[i % 6] = -i;
    out[i] = a[i % 8] % 100 + b.v[i % 6] + (int)(b.f * 2);
  }
  for (int i = 0; i < 100; i++) CHECK(out[i] == i % 8 - i + 1);
  CHECK(a[3] == 3 && b.v[0] == 1);
  int scratch[32];
  for (int i = 0; i < 32; i++) scratch[i] = 1;
#pragma omp target teams num_teams(6) private(scratch) map(tofrom : out)
  {
    for (int i = 0; i < 32; i++) scratch[i] = omp_get_team_num();
#pragma omp distribute parallel for
    for (int i = 0; i < 100; i++) out[i] = scratch[i % 32] == omp_get_team_num();
  }
  for (int i = 0; i < 100; i++) CHECK(out[i] == 1);
  CHECK(scratch[0] == 1);
  return DONE();
}
