// OpenMP 5.2, section 12.5: task.
// exit: 125
// stderr-has: __kmpc_omp_task
// stderr-has: task.c:9
int main(void) {
  int x = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task shared(x)
  x = 1;
  return x != 1;
}
