// OpenMP 5.2, section 15.4: taskgroup waits for the tasks in it and their descendants, taskwait for children only.
// stdout: ok
#include "../../check.h"
static void tree(int depth, int *count) {
#pragma omp atomic
  (*count)++;
  if (depth == 0) return;
  for (int i = 0; i < 3; i++) {
#pragma omp task
    tree(depth - 1, count);
  }
}
int main(void) {
  int x = 0;
#pragma omp taskgroup
  x++;
  CHECK(x == 1);
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 20; round++) {
    int count = 0, inner = 0, outer = 0;
#pragma omp taskgroup
    tree(5, &count);
    CHECK(count == 364);
#pragma omp taskgroup
    {
#pragma omp task shared(outer)
#pragma omp atomic
      outer++;
#pragma omp taskgroup
      {
#pragma omp task shared(inner)
        tree(3, &inner);
      }
      CHECK(inner == 40);
    }
    CHECK(outer == 1);
  }
  return DONE();
}
