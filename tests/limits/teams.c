// Forks large teams, as a region, in a region, and with tasks; each may be smaller, all are consistent.
#include <omp.h>
#include <stdio.h>
#define SIZE 1500

int main(void) {
  int n = 0, size = 0, inner = 0, threads = 0, tasks = 0;
#pragma omp parallel num_threads(SIZE) reduction(+ : n) reduction(max : size)
  {
    n++;
    size = omp_get_num_threads();
  }
  printf("%d %d\n", n == size, n >= 1 && n <= SIZE);
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : inner, threads)
  {
#pragma omp parallel num_threads(SIZE) reduction(+ : inner)
    inner++;
    int mine = 0;
#pragma omp parallel num_threads(SIZE) reduction(max : mine)
    mine = omp_get_num_threads();
    threads += mine;
  }
  printf("%d\n", inner >= 1 && threads >= 1);
#pragma omp parallel num_threads(SIZE)
#pragma omp single
  for (int i = 0; i < 100; i++)
#pragma omp task
  {
#pragma omp atomic
    tasks++;
  }
  printf("%d\n", tasks);
}
