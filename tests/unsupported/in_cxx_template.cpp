// An unsupported construct in a C++ template and in a lambda, each reported with its own line.
// exit: 125
// stderr-has: omp_get_interop_int
// stderr-has: in_cxx_template.cpp:9
// stderr-has: omp_get_num_interop_properties
// stderr-has: in_cxx_template.cpp:15
#include <omp.h>
template <class T> static void fill(T *v, int n) {
  (void)omp_get_interop_int(omp_interop_none, omp_ipr_fr_id, &n);
  for (int i = 0; i < n; i++) v[i] = i;
}
int main() {
  double v[5];
  fill(v, 5);
  auto set = [&] { return omp_get_num_interop_properties(v); };
  return set();
}
