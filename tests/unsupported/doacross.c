// OpenMP 5.2, section 15.9.6: cross-iteration dependences of a doacross loop nest.
// exit: 125
// stderr-has: __kmpc_doacross_init
// stderr-has: doacross.c:12
// stderr-has: __kmpc_doacross_wait
// stderr-has: doacross.c:13
// stderr-has: __kmpc_doacross_post
// stderr-has: doacross.c:15
int main(void) {
  int v[20] = {1};
#pragma omp parallel for ordered(1) num_threads(2)
  for (int i = 1; i < 20; i++) {
#pragma omp ordered depend(sink : i - 1)
    v[i] = v[i - 1] + 1;
#pragma omp ordered depend(source)
  }
  return v[19] != 20;
}
