// OpenMP 5.2, section 12.6: taskloop with grainsize, num_tasks, nogroup, collapse, lastprivate, reduction, downwards and unsigned.
// flags: -fopenmp-version=50
// stdout: ok
#include "../../check.h"
int main(void) {
  int v[1000], last = -1, tasks = 0;
  memset(v, 0, sizeof v);
#pragma omp taskloop grainsize(3) shared(v)
  for (int i = 0; i < 10; i++) v[i] = i;
  CHECK(v[9] == 9);
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop lastprivate(last)
    for (int i = 0; i < 1000; i++) {
      v[i] = 2 * i;
      last = i;
    }
    CHECK(last == 999);
    for (int i = 0; i < 1000; i++) CHECK(v[i] == 2 * i);
#pragma omp taskloop num_tasks(7) shared(tasks)
    for (int i = 0; i < 7; i++) {
#pragma omp atomic
      tasks++;
    }
    CHECK(tasks == 7);
    long sum = 0;
#pragma omp taskloop reduction(+ : sum)
    for (long i = 100; i > 0; i -= 3) sum += i;
    CHECK(sum == 1717);
    int cells = 0;
#pragma omp taskgroup task_reduction(+ : cells)
    {
#pragma omp taskloop collapse(2) nogroup in_reduction(+ : cells)
      for (int i = 0; i < 20; i++)
        for (unsigned k = 5; k < 15; k++) cells++;
    }
    CHECK(cells == 200);
    int none = 0;
#pragma omp taskloop
    for (int i = 5; i < 5; i++) none++;
    CHECK(none == 0);
    int alone = 0;
#pragma omp taskloop if (0) num_tasks(4) shared(alone)
    for (int i = 0; i < 40; i++) alone++;
    CHECK(alone == 40);
    unsigned char *p = (unsigned char *)v;
#pragma omp taskloop firstprivate(p) nogroup
    for (unsigned long long i = 0xfffffffffffffff0ull; i < 0xffffffffffffffffull; i++) p[i & 15] = 7;
#pragma omp taskwait
    for (int i = 0; i < 15; i++) CHECK(p[i] == 7);
  }
  return DONE();
}
