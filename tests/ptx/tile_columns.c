/* Adjacent threads take the index in which addresses are consecutive, here the outer one.
 * with at -O2: clz.b32
 */
#define N 2048
void columns(float *restrict b, const float *restrict a) {
#pragma omp target teams distribute parallel for collapse(2) map(from : b[ : N * N]) map(to : a[ : N * N])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      b[i + j * N] = 2 * a[i + j * N];
}
int main(void) { return 0; }
