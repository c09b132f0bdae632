// A region that the device cannot run, for its assembly, uses and changes data that is on the device: a structure with a
// pointer, sections. Data that it does not use keeps the host's value.
#include "../../check.h"
struct list {
  int *v, n;
};
#pragma omp begin declare target
int total, step = 3;
#pragma omp end declare target
int main(void) {
  struct list l = {malloc(100 * sizeof(int)), 100};
  int *p = malloc(100 * sizeof(int)), other = 5;
  for (int i = 0; i < 100; i++) l.v[i] = p[i] = 0;
#pragma omp target data map(tofrom : l, l.v[0 : 100], p[0 : 100]) map(to : other)
  {
#pragma omp target
    for (int i = 0; i < 100; i++) l.v[i] = i, p[i] = 1, total += step;
    other = 9;
#pragma omp target
    {
      __asm__ volatile("" ::: "memory");
      l.v[3] *= 2, l.n += omp_is_initial_device();
      p[4] += 5;
    }
#pragma omp target
    l.v[3] += 100, p[4] += 100, l.n++;
  }
  CHECK(l.v[3] == 106 && p[4] == 106 && l.n == 102 && other == 9);
#pragma omp target update from(total)
  CHECK(total == 300);
  return DONE();
}
