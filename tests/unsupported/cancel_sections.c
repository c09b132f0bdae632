// OpenMP 5.2, section 16.1: cancel in sections.
// exit: 125
// stderr-has: __kmpc_cancel
// stderr-has: cancel_sections.c:10
int main(void) {
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
#pragma omp cancel sections
    }
  }
  return 0;
}
