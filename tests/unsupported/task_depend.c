// OpenMP 5.2, section 15.9.5: tasks with dependences.
// exit: 125
// stderr-has: __kmpc_omp_task_with_deps
// stderr-has: task_depend.c:11
// stderr-has: task_depend.c:13
int main(void) {
  int x = 0, y = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task shared(x) depend(out : x)
    x = 1;
#pragma omp task shared(x, y) depend(in : x)
    y = x;
  }
  return y != 1;
}
