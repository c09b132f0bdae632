/* Nothing to do, nothing done.
 * without: bar. call st.shared ld. st.
 */
void empty(void) {
#pragma omp target
  {}
}
int main(void) { return 0; }
