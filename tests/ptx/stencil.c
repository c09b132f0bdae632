/* Two collapsed loops with 64-bit indices.
 * without: bar. call st.shared ld.local st.local
 * with: ld.global.b64 st.global.b64
 */
void stencil(double *a, double *b, long n) {
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : b[ : n *n]) map(to : a[ : n *n])
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++)
      b[i * n + j] = a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j];
}
int main(void) { return 0; }
