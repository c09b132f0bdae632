// The program may have a few threads only (RLIMIT_NPROC, which holds for users other than root).
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void) {
  struct rlimit limit = {6, 6};
  setrlimit(RLIMIT_NPROC, &limit);
  if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0)
    return 9;
  int n = 0, size = 0, tasks = 0;
#pragma omp parallel num_threads(200) reduction(+ : n) reduction(max : size)
  {
    n++;
    size = omp_get_num_threads();
  }
  printf("%d %d\n", n == size, n >= 1 && n < 200);
#pragma omp parallel num_threads(200)
#pragma omp single
  for (int i = 0; i < 100; i++)
#pragma omp task
  {
#pragma omp atomic
    tasks++;
  }
  printf("%d\n", tasks);
#pragma omp teams num_teams(4) thread_limit(8)
#pragma omp parallel
#pragma omp atomic
  tasks++;
  printf("%d\n", tasks > 100);
}
