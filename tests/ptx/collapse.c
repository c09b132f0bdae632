/* Two collapsed loops: an iteration computes its indices in 32 bits, by the reciprocal of the divisor, which is
 * computed before the loop; the addresses of three rows come from one multiplication.
 * with: div.u32
 * with: mul.hi.u32
 */
void stencil(double *a, double *b, int n) {
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : b[ : n *n]) map(to : a[ : n *n])
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      b[(long)i * n + j] = a[(long)(i - 1) * n + j] + a[(long)i * n + j] + a[(long)(i + 1) * n + j];
}
int main(void) { return 0; }
