// System calls that read and write data that is on the device: vectors at an offset, and records of the system.
#include "../check.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>
enum { N = 1 << 16 };
static double all[N];
static struct {
  double data[N];
  struct stat state;
  struct rusage usage;
  struct utsname name;
} mixed;
int main(void) {
  double *a = malloc(N * sizeof *a);
  for (int round = 0; round < 3; round++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
      a[i] = i + round;
      all[i] = 2.0 * i;
      mixed.data[i] = 3.0 * i + round;
    }
  }
  char name[] = "/tmp/vectorsXXXXXX";
  int file = mkstemp(name);
  CHECK(file >= 0);
  struct iovec out[2] = {{a, N * sizeof *a}, {all, sizeof all}};
  CHECK(pwritev(file, out, 2, 16) == 2 * (ssize_t)sizeof all);
  CHECK(fstat(file, &mixed.state) == 0 && mixed.state.st_size == 16 + 2 * (off_t)sizeof all);
  CHECK(getrusage(RUSAGE_SELF, &mixed.usage) == 0 && uname(&mixed.name) == 0);
#pragma omp parallel for
  for (int i = 0; i < N; i++) a[i] = all[i] = 0;
  CHECK(preadv(file, out, 2, 16) == 2 * (ssize_t)sizeof all);
  int right = 0;
  for (int i = 0; i < N; i++) right += a[i] == i + 2 && all[i] == 2.0 * i && mixed.data[i] == 3.0 * i + 2;
  CHECK(right == N);
  close(file);
  unlink(name);
  free(a);
  return DONE();
}
