/* Iterations of data-dependent length form tiles in both indices.
 * with at -O2: clz.b32
 */
void until(int *restrict to, int n, int m) {
#pragma omp target teams distribute parallel for collapse(2) map(from : to[ : n * m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float x = i * 0.001f, y = j * 0.001f;
      int rounds = 0;
      while (rounds < 200 && x * x + y * y < 4) {
        float next = x * x - y * y + i * 0.001f;
        y = 2 * x * y + j * 0.001f;
        x = next;
        rounds++;
      }
      to[i * m + j] = rounds;
    }
}
int main(void) { return 0; }
