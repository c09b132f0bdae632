// A child of `fork` has all data, whether it was on the device or not, and continues without a device.
// env: OMPVM_TEST=1
// flags: -g
// stderr-has: the device belongs to the parent process
#include "../check.h"
#include <sys/wait.h>
#include <unistd.h>
enum { N = 30000 };
static void add(int *x, int v) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) x[i] += v;
}
int main(void) {
  int *x = calloc(N, sizeof(int));
  add(x, 1);
  fflush(NULL);
  int child = fork();
  if (child == 0) {
    CHECK(x[0] == 1 && x[N - 1] == 1);
    add(x, 1);
    CHECK(x[0] == 2 && x[N - 1] == 2);
    exit(check_failures ? 1 : 0);
  }
  add(x, 2);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(x[0] == 3 && x[N - 1] == 3);
  free(x);
  return DONE();
}
