// An unsupported construct in a C++ template and in a lambda, each reported with its own line.
// exit: 125
// stderr-has: __kmpc_taskloop
// stderr-has: in_cxx_template.cpp:8
// stderr-has: __kmpc_omp_task
// stderr-has: in_cxx_template.cpp:15
template <class T> static void fill(T *v, int n) {
#pragma omp taskloop
  for (int i = 0; i < n; i++) v[i] = i;
}
int main() {
  double v[5];
  fill(v, 5);
  auto set = [&] {
#pragma omp task shared(v)
    v[0] = 1;
  };
  set();
  return 0;
}
