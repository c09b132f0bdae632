// The present modifier without a mapping.
// flags: -fopenmp-version=51
// signal: 6
// stderr-has: 80 bytes at
// stderr-has: are not mapped, but the `present` modifier asks for that
// stderr-has: not_present.c:9
int main(void) {
  int v[20] = {0};
#pragma omp target map(present, tofrom : v)
  v[6] = 1;
  return 0;
}
