/* Columns of the interior of a square of constant size: the negative factor that remains of the divisions appears as
 * its low bits.
 * with at -O2: clz.b32
 */
#define N 2048
void inside(float *restrict b, const float *restrict a) {
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : b[ : N * N]) map(to : a[ : N * N])
  for (int i = 1; i <= N - 2; i++)
    for (int j = 1; j <= N - 2; j++)
      b[i + j * N] = 2 * a[i + j * N];
}
int main(void) { return 0; }
