// Guest frames of a call of a pure virtual function, on a worker.
// levels: O0 O2
// env: OMP_NUM_THREADS=2
// signal: 6
// stderr-has: ask at tests/fail/backtrace/pure_virtual_worker.cpp:13
// stderr-has: Base at tests/fail/backtrace/pure_virtual_worker.cpp:14
// stderr-has: forked at
// stderr-has: main at tests/fail/backtrace/pure_virtual_worker.cpp:18
extern "C" int omp_get_thread_num(void);
volatile int sink;
struct Base {
  virtual int value() const = 0;
  __attribute__((noinline)) int ask() const { return value() + 1; }
  __attribute__((noinline)) Base() { sink = ask(); }
};
struct Derived : Base { int value() const override { return 1; } };
int main() {
#pragma omp parallel
  if (omp_get_thread_num() == 1) {
    Derived d;
    sink = d.value();
  }
  return 0;
}
