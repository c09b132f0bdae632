// OpenMP 5.2, sections 5.5.9 and 5.5.10: task_reduction and in_reduction, nested and of user-defined types.
// flags: -fopenmp-version=50
// stdout: ok
#include "../../check.h"
typedef struct { long sum, count; } Pair;
#pragma omp declare reduction(merge : Pair : omp_out.sum += omp_in.sum, omp_out.count += omp_in.count) initializer(omp_priv = {0, 0})
static int nodes;
static void tree(int depth) {
#pragma omp task in_reduction(+ : nodes)
  {
    nodes++;
    if (depth > 0) {
      tree(depth - 1);
      tree(depth - 1);
    }
  }
}
int main(void) {
  int sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
  {
#pragma omp task in_reduction(+ : sum)
    sum++;
  }
  CHECK(sum == 1);
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 10; round++) {
    int total = 5;
    double product = 1;
    Pair pair = {0, 0};
    int v[3] = {0, 0, 0};
#pragma omp taskgroup task_reduction(+ : total) task_reduction(* : product) task_reduction(merge : pair) task_reduction(+ : v)
    {
      for (int i = 1; i <= 100; i++) {
#pragma omp task in_reduction(+ : total) in_reduction(merge : pair) in_reduction(+ : v)
        {
          total += i;
          pair.sum += 2 * i;
          pair.count++;
          v[i % 3]++;
        }
        if (i <= 10) {
#pragma omp task in_reduction(* : product)
          product *= 2;
        }
      }
    }
    CHECK(total == 5055 && product == 1024 && pair.sum == 10100 && pair.count == 100);
    CHECK(v[0] == 33 && v[1] == 34 && v[2] == 33);
    nodes = 0;
#pragma omp taskgroup task_reduction(+ : nodes)
    tree(6);
    CHECK(nodes == 127);
  }
  return DONE();
}
