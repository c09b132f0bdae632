/* An empty region, which compiles to an empty kernel.
 * without: bar. call st.shared ld. st.
 */
void empty(void) {
#pragma omp target
  {}
}
int main(void) { return 0; }
