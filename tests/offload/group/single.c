// Several devices as one: the other numbers name single devices, each with its own data.
// options: --device=emulated:3 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
enum { N = 4096 };
int main(void) {
  CHECK(omp_get_num_devices() == 3 && omp_get_default_device() == 0 && omp_get_initial_device() == 3);
  static int x[N];
  for (int d = 0; d < 3; d++) {
    int on = -1;
    for (int i = 0; i < N; i++)
      x[i] = i;
#pragma omp target data map(tofrom : x) device(d)
    {
      CHECK(omp_target_is_present(x, d));
      for (int other = 0; other < 3; other++)
        CHECK(other == d || !omp_target_is_present(x, other));
#pragma omp target teams distribute parallel for device(d)
      for (int i = 0; i < N; i++)
        x[i] += d;
#pragma omp target device(d) map(from : on)
      on = omp_get_device_num();
    }
    CHECK(on == d);
    int wrong = 0;
    for (int i = 0; i < N; i++)
      wrong += x[i] != i + d;
    CHECK(wrong == 0);
  }
  // Memory of the group is accessible to each of its members, and to regions without a clause.
  int *p = omp_target_alloc(sizeof(int) * N, 0), sum = 0;
  CHECK(omp_target_memcpy(p, x, sizeof(int) * N, 0, 0, 0, omp_get_initial_device()) == 0);
#pragma omp target teams distribute parallel for is_device_ptr(p) reduction(+ : sum)
  for (int i = 0; i < N; i++)
    sum += p[i] - 2;
  CHECK(sum == N * (N - 1) / 2);
#pragma omp target teams distribute parallel for is_device_ptr(p) device(2)
  for (int i = 0; i < N; i++)
    p[i] = -p[i];
  int back[N];
  CHECK(omp_target_memcpy(back, p, sizeof(int) * N, 0, 0, omp_get_initial_device(), 0) == 0);
  for (int i = 0; i < N; i++)
    CHECK(back[i] == -(i + 2));
  omp_target_free(p, 0);
  return DONE();
}
