// Offloading is mandatory, and there is no device.
// env: OMP_TARGET_OFFLOAD=MANDATORY
// options: --device=host
// signal: 6
// stderr-has: OMP_TARGET_OFFLOAD is `mandatory`, but there is no device
// stderr-has: in the target region at
// stderr-has: mandatory.c:10 (main)
int main(void) {
  int x = 0;
#pragma omp target map(tofrom : x)
  x = 1;
  return x;
}
