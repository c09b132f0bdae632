// An unsupported construct in a C++ template and in a lambda, each reported with its own line.
// exit: 125
// stderr-has: ompx_interop_add_completion_callback
// stderr-has: in_cxx_template.cpp:9
// stderr-has: __kmpc_pause_resource
// stderr-has: in_cxx_template.cpp:15
extern "C" int __kmpc_pause_resource(void *), ompx_interop_add_completion_callback(void);
template <class T> static void fill(T *v, int n) {
  (void)ompx_interop_add_completion_callback();
  for (int i = 0; i < n; i++) v[i] = i;
}
int main() {
  double v[5];
  fill(v, 5);
  auto set = [&] { return __kmpc_pause_resource(v); };
  return set();
}
