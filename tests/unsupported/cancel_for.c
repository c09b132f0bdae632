// OpenMP 5.2, section 16.2: cancel and cancellation point in a worksharing loop.
// exit: 125
// stderr-has: __kmpc_cancel
// stderr-has: cancel_for.c:11
// stderr-has: __kmpc_cancellationpoint
// stderr-has: cancel_for.c:13
int main(void) {
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 10; i++) {
    if (i == 5) {
#pragma omp cancel for
    }
#pragma omp cancellation point for
  }
  return 0;
}
