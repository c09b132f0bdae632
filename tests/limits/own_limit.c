// The program limits its address space itself before it forks a large team.
#include <omp.h>
#include <stdio.h>
#include <sys/resource.h>

static long pages(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%ld", &pages) != 1)
    pages = 0;
  if (file)
    fclose(file);
  return pages;
}

int main(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages() * 4096 + (200L << 20);
  setrlimit(RLIMIT_AS, &limit);
  int n = 0, size = 0, again = 0;
#pragma omp parallel num_threads(1000) reduction(+ : n) reduction(max : size)
  {
    n++;
    size = omp_get_num_threads();
  }
  printf("%d %d\n", n == size, n >= 1 && n < 1000);
#pragma omp parallel num_threads(2) reduction(+ : again)
  again++;
  printf("%d\n", again >= 1);
}
