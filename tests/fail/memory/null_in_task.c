// A null access in a task is reported with the task's source line.
// env: OMP_NUM_THREADS=4
// signal: 11
// stderr-has: null_in_task.c:13
int *volatile nowhere;
int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 16; i++) {
#pragma omp task firstprivate(i)
    {
      if (i == 7)
        *nowhere = i;
    }
  }
  return 0;
}
