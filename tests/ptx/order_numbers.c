/* A loop that queries the thread's number keeps its order.
 * without: clz.b32
 */
#include <omp.h>
void numbers(int *restrict who, const float *restrict a, float *restrict b, int n, int m) {
#pragma omp target teams distribute parallel for collapse(2) map(from : who[ : n * m]) map(tofrom : b[ : n * m]) map(to : a[ : n * m])
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      who[i * m + j] = omp_get_thread_num();
      b[i * m + j] = a[(i - 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1] + a[(i + 1) * m + j];
    }
}
int main(void) { return 0; }
