// Guest frames of an exception that nothing catches; names as in the source.
// levels: O0 O2
// signal: 6
// stderr-has: of type `std::runtime_error`
// stderr-has: #0 leaf at tests/fail/backtrace/uncaught_chain.cpp:12
// stderr-has: #1 run at tests/fail/backtrace/uncaught_chain.cpp:14
// stderr-has: main at tests/fail/backtrace/uncaught_chain.cpp:18
#include <stdexcept>
volatile int sink;
namespace work {
__attribute__((noinline)) void leaf(int n) {
  if (n > 0) throw std::runtime_error("no");
}
template <class T> struct Job { __attribute__((noinline)) void run(T n) { leaf(n), sink = 1; } };
}
int main(int argc, char **) {
  work::Job<int> job;
  job.run(argc), sink = 2;
}
