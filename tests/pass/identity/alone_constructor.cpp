// The same in a constructor, before main.
// levels: O0 O2
// stdout: allowed 1, team 2
#include "../../check.h"
#include <cerrno>
#include <sched.h>

struct Early {
  bool allowed = unshare(CLONE_NEWUSER) == 0 || errno != EINVAL;
};
static Early early;

int main() {
  int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
  n++;
  printf("allowed %d, team %d\n", early.allowed, n);
}
