// OpenMP 5.2, section 12.5.1: a task with an affinity clause.
// flags: -fopenmp-version=50
// exit: 125
// stderr-has: __kmpc_omp_reg_task_with_affinity
// stderr-has: task_affinity.c:8
int main(void) {
  int x = 0;
#pragma omp task shared(x) affinity(x)
  x = 1;
  return 0;
}
