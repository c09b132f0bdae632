// OpenMP 5.2, section 12.7: taskyield.
// exit: 125
// stderr-has: __kmpc_omp_taskyield
// stderr-has: taskyield.c:6
int main(void) {
#pragma omp taskyield
  return 0;
}
