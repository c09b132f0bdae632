// A null pointer in a region.
// signal: 6
// stderr-has: through a null pointer (0x8)
// stderr-has: null.c:8
int main(void) {
  double *p = 0, x = 0;
#pragma omp target firstprivate(p) map(from : x)
  x = p[1];
  return x != 0;
}
