// The mappings that a thread of a large team takes, in tenths: its stack and its guard page.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int mappings(void) {
  FILE *file = fopen("/proc/self/maps", "r");
  int lines = 0, c;
  while (file && (c = getc(file)) != EOF)
    lines += c == '\n';
  if (file)
    fclose(file);
  return lines;
}

int main(void) {
  int n = 0, after = 0, before = mappings();
#pragma omp parallel num_threads(1500) reduction(+ : n)
  {
    n++;
    free(malloc(100));
#pragma omp barrier
#pragma omp master
    after = mappings();
  }
  printf("%d %d\n", n, (after - before) * 10 / n <= 25);
}
