// OpenMP 5.2, section 5.8.3: a pointer that is on the device already is attached when its target is mapped.
#include "../../check.h"
struct list { int n; double *values; };
int main(void) {
  struct list l = {5, NULL};
  double room[5] = {1, 2, 3, 4, 5}, sum = 0;
  l.values = room;
#pragma omp target enter data map(to : l)
#pragma omp target enter data map(to : l.values[0 : 5])
#pragma omp target map(tofrom : sum)
  for (int i = 0; i < l.n; i++) sum += l.values[i], l.values[i] *= 2;
  CHECK(sum == 15);
#pragma omp target update from(l.values[0 : 5])
  CHECK(room[4] == 10 && l.values == room);
#pragma omp target exit data map(release : l.values[0 : 5], l)
  CHECK(!omp_target_is_present(&l, omp_get_default_device()) && !omp_target_is_present(room, omp_get_default_device()));
  return DONE();
}
