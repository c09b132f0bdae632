/* A reduction shuffles within warps, once per block and not per iteration.
 * without: ld.local st.local
 * with: shfl.sync.down.b32 ld.global.b64
 */
double dot(double *x, double *y, long n) {
  double sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(to : x[ : n], y[ : n])
  for (long i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}
int main(void) { return 0; }
