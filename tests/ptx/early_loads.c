/* Loads precede divisions, which the assembler expands to branches: all loads are in flight at once.
 * with: div.rn.f32
 * order: ld.global.b32 div.rn.f32
 */
void quotients(float *a, float *b, float *c, float *d, float *q, int n) {
#pragma omp target teams distribute parallel for map(to : a[ : n], b[ : n], c[ : n], d[ : n]) map(from : q[ : n])
  for (int i = 0; i < n; i++)
    q[i] = a[i] / b[i] + c[i] / d[i];
}
int main(void) { return 0; }
