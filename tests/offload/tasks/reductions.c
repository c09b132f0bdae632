// OpenMP 5.2, sections 5.5.9 to 5.5.11 and 12.5.1: reductions of tasks, and the affinity clause, in device code.
#include "../../check.h"
int main(void) {
  int sum = 0, all = 0, loop = 0, fast = 0, kept[8] = {0};
  double product = 1;
#pragma omp target map(tofrom : sum)
#pragma omp taskgroup task_reduction(+ : sum)
  for (int i = 1; i <= 10; i++) {
#pragma omp task in_reduction(+ : sum)
    sum += i;
  }
  CHECK(sum == 55);
#pragma omp target parallel reduction(task, + : all) num_threads(4) map(tofrom : all)
  {
#pragma omp task in_reduction(+ : all)
    all += 10;
    all += 1;
  }
  CHECK(all % 11 == 0 && all >= 11);
#pragma omp target map(tofrom : loop)
#pragma omp parallel for reduction(task, + : loop)
  for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+ : loop)
    loop += i;
  }
  CHECK(loop == 4950);
#pragma omp target map(tofrom : product)
#pragma omp taskloop reduction(* : product)
  for (int i = 1; i <= 10; i++) product *= i;
  CHECK(product == 3628800);
#pragma omp target map(tofrom : kept)
  for (int i = 0; i < 8; i++) {
#pragma omp task affinity(kept[i]) depend(out : kept[i]) shared(kept)
    kept[i] = i + 1;
  }
  for (int i = 0; i < 8; i++) CHECK(kept[i] == i + 1);
#pragma omp target parallel map(tofrom : fast)
#pragma omp single
#pragma omp taskloop simd reduction(max : fast)
  for (int i = 0; i < 50; i++) fast = fast > i ? fast : i;
  CHECK(fast == 49);
  return DONE();
}
