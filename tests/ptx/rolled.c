/* A generator of random numbers in doubles, as the NAS benchmarks have it: one chain of operations over all
 * iterations, which unrolling does not shorten, and for which NVIDIA's assembler takes 16 s if it is unrolled.
 * with: nounroll
 */
static double next(double *seed) {
  const double r23 = 0x1p-23, t23 = 0x1p23, r46 = 0x1p-46, t46 = 0x1p46, a = 1220703125.0;
  double a1 = (double)(int)(r23 * a), a2 = a - t23 * a1;
  double x1 = (double)(int)(r23 * *seed), x2 = *seed - t23 * x1;
  double t1 = a1 * x2 + a2 * x1;
  double z = t1 - t23 * (double)(int)(r23 * t1);
  double t3 = t23 * z + a2 * x2;
  *seed = t3 - t46 * (double)(int)(r46 * t3);
  return r46 * *seed;
}
void fill(double (*rows)[512], long n) {
#pragma omp target teams distribute parallel for map(from : rows[ : n])
  for (long i = 0; i < n; i++) {
    double seed = 314159265.0 + (double)i;
    for (int k = 0; k < 512; k++)
      rows[i][k] = next(&seed);
  }
}
int main(void) { return 0; }
