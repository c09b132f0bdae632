// OpenMP 5.2, section 16.1: cancel of a parallel region.
// exit: 125
// stderr-has: __kmpc_cancel
// stderr-has: cancel_parallel.c:8
int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp cancel parallel
  }
  return 0;
}
