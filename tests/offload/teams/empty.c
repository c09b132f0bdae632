// OpenMP 5.2, section 11.6: loops without iterations, and with one.
#include "../../check.h"
int main(int argc, char **argv) {
  int v[2] = {0, 0}, n = argc - 1;
  (void)argv;
#pragma omp target teams distribute parallel for map(tofrom : v)
  for (int i = 0; i < n; i++) v[0]++;
#pragma omp target teams distribute parallel for map(tofrom : v)
  for (int i = 0; i <= n; i++) v[1]++;
#pragma omp target parallel for map(tofrom : v)
  for (int i = 5; i < 5; i++) v[0]++;
  CHECK(v[0] == 0 && v[1] == 1);
  return DONE();
}
