/* A reduction exchanges lanes' values without a call, and block memory holds the warps' sums only.
 * with: shfl.sync
 * without: level_of threads_of counted_barrier call.uni
 */
double sum(const double *from, int n) {
  double all = 0;
#pragma omp target teams distribute parallel for reduction(+ : all) map(to : from[0 : n])
  for (int i = 0; i < n; i++)
    all += from[i] * from[i];
  return all;
}
int main(void) { return 0; }
