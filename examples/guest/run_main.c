#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void bye(void) { puts("bye"); }

int main(int argc, char **argv) {
  long sum = 0;
  atexit(bye);
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++)
    sum += i;
  printf("%s: %d arguments, sum %ld\n", argv[0], argc - 1, sum);
  return argc;
}
