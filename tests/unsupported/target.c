// OpenMP 5.2, section 13.8: target with an offload device in the build.
// flags: -fopenmp-targets=x86_64-pc-linux-gnu
// exit: 125
// stderr-has: __tgt_target_kernel
// stderr-has: target.c:8
int main(void) {
  int x = 0;
#pragma omp target map(tofrom : x)
  x = 1;
  return x != 1;
}
