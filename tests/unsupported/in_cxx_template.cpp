// An unsupported construct in a C++ template and in a lambda, each reported with its own line.
// flags: -fopenmp-targets=x86_64-pc-linux-gnu
// exit: 125
// stderr-has: __tgt_target_data_update_mapper
// stderr-has: in_cxx_template.cpp:9
// stderr-has: __tgt_target_data_begin_mapper
// stderr-has: in_cxx_template.cpp:16
template <class T> static void fill(T *v, int n) {
#pragma omp target update from(v[0 : n])
  for (int i = 0; i < n; i++) v[i] = i;
}
int main() {
  double v[5];
  fill(v, 5);
  auto set = [&] {
#pragma omp target enter data map(to : v)
    v[0] = 1;
  };
  set();
  return 0;
}
