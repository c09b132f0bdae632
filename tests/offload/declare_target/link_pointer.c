// OpenMP 5.2, section 7.8 (link): file-scope variables that are on the device only while they are mapped, with a pointer among them.
#include "../../check.h"
int table[100], *pointer, scale = 3;
#pragma omp declare target link(table, pointer, scale)
#pragma omp begin declare target
static int at(int i) { return table[i] * scale + pointer[i % 4]; }
#pragma omp end declare target
int main(void) {
  int some[4] = {1, 2, 3, 4}, sum = 0, d = omp_get_default_device();
  for (int i = 0; i < 100; i++) table[i] = i;
  pointer = some;
  CHECK(!omp_target_is_present(table, d));
#pragma omp target map(to : table, scale, pointer, pointer[0 : 4]) map(tofrom : sum)
  for (int i = 0; i < 100; i++) sum += at(i);
  CHECK(sum == 3 * 4950 + 250);
  CHECK(!omp_target_is_present(table, d));
  sum = 0, scale = 1;
#pragma omp target data map(tofrom : table[10 : 10]) map(to : scale)
  {
#pragma omp target map(tofrom : sum)
    for (int i = 10; i < 20; i++) sum += table[i] * scale, table[i] = 0;
  }
  CHECK(sum == 145 && table[10] == 0 && table[20] == 20);
  return DONE();
}
