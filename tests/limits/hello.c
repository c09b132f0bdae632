// A team of four threads, and a block of memory.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int n = 0;
#pragma omp parallel num_threads(4) reduction(+ : n)
  n++;
  void *block = malloc(1 << 20);
  printf("%d %d\n", n, block != 0);
  free(block);
}
