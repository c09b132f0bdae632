/* A loop over the grid with one team per 256 iterations, as CUDA programs count blocks: each thread advances by the size of
 * the grid, so the device may run fewer teams.
 * with: %nctaid.x
 */
void scale(float *a, int n) {
#pragma omp target teams distribute parallel for num_teams((n + 255) / 256) thread_limit(256) map(tofrom : a[ : n])
  for (int i = 0; i < n; i++)
    a[i] *= 2;
}
int main(void) { return 0; }
