// An update of unmapped data with the present modifier.
// flags: -fopenmp-version=51
// signal: 6
// stderr-has: 40 bytes at
// stderr-has: are not mapped, but the `present` modifier asks for that
// stderr-has: update_not_present.c:9
int main(void) {
  int v[10] = {0};
#pragma omp target update to(present : v)
  return 0;
}
