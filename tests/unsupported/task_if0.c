// OpenMP 5.2, section 12.5: an undeferred task.
// exit: 125
// stderr-has: __kmpc_omp_task_begin_if0
// stderr-has: task_if0.c:7
int main(void) {
  int x = 0;
#pragma omp task shared(x) if (0)
  x = 1;
  return x != 1;
}
