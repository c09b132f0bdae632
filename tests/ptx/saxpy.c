/* One loop over the grid, with adjacent iterations in adjacent threads; no runtime call is left.
 * without: bar. call st.shared ld.local st.local
 * with: ld.global.b32 st.global.b32 fma.rn.f32
 */
void saxpy(float *x, float *y, int n, float a) {
#pragma omp target teams distribute parallel for map(tofrom : y[ : n]) map(to : x[ : n])
  for (int i = 0; i < n; i++)
    y[i] += a * x[i];
}
int main(void) { return 0; }
