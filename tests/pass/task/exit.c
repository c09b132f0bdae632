// OpenMP 5.2, section 12.5: the program may end in a task, while others wait.
// env: OMP_NUM_THREADS=4
// exit: 3
// stdout: leaving
#include <stdio.h>
#include <stdlib.h>
int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
      puts("leaving");
      exit(3);
    }
#pragma omp taskwait
  }
  return 0;
}
