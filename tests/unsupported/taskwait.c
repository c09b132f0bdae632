// OpenMP 5.2, section 15.5: taskwait.
// exit: 125
// stderr-has: __kmpc_omp_taskwait
// stderr-has: taskwait.c:6
int main(void) {
#pragma omp taskwait
  return 0;
}
