// Calls that need a single-threaded process in the middle of hot code: earlier samples and compiled code are not lost, and
// the program's results do not change.
// levels: O0 O2
// stdout: 40 calls allowed, 1333333330000
#include "../../check.h"
#include <cerrno>
#include <sched.h>
#include <vector>

__attribute__((noinline)) static long step(std::vector<long> &v) {
  long sum = 0;
  for (std::size_t i = 0; i < v.size(); i++) {
    v[i] = static_cast<long>(i);
    sum += v[i] * (v[i] + 1) / 2;
  }
  return sum;
}

int main() {
  std::vector<long> v(20000);
  int allowed = 0;
  long sum = 0;
  for (int round = 0; round < 40; round++) {
    sum = step(v);
    allowed += unshare(CLONE_SIGHAND) == 0 || errno != EINVAL;
  }
  printf("%d calls allowed, %ld\n", allowed, sum);
}
