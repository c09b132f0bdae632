// Memory that is on the device, handed to the C library and the system: read, written, reallocated, freed.
#include "../check.h"
#include <sys/uio.h>
#include <unistd.h>
enum { N = 50000 };
static void add(int *x, int n, int v) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] += v;
}
int main(void) {
  int *x = malloc(sizeof(int) * N);
  for (int i = 0; i < N; i++) x[i] = i;
  add(x, N, 1);
  FILE *f = tmpfile();
  CHECK(fwrite(x, sizeof(int), N, f) == N);
  add(x, N, 1);
  rewind(f);
  CHECK(fread(x, sizeof(int), N, f) == N);
  add(x, N, 1);
  for (int i = 0; i < N; i++) CHECK(x[i] == i + 2);
  add(x, N, 1);
  int fd = fileno(f);
  CHECK(pwrite(fd, x, sizeof(int) * N, 0) == (long)sizeof(int) * N);
  add(x, N, 5);
  CHECK(pread(fd, x + N / 2, sizeof(int) * N / 2, 0) == (long)sizeof(int) * N / 2);
  add(x, N, 0);
  CHECK(x[0] == 8 && x[N / 2] == 3 && x[N / 2 - 1] == N / 2 - 1 + 8);
  struct iovec parts[2] = {{x, sizeof(int) * 10}, {x + 100, sizeof(int) * 10}};
  add(x, N, 1);
  CHECK(writev(fd, parts, 2) == 80);
  add(x, N, 1);
  // Grown and shrunk, then used on the device again.
  x = realloc(x, sizeof(int) * 2 * N);
  CHECK(x[0] == 10);
  for (int i = N; i < 2 * N; i++) x[i] = 0;
  add(x, 2 * N, 1);
  x = realloc(x, sizeof(int) * 100);
  CHECK(x[0] == 11 && x[99] == 99 + 11);
  add(x, 100, 1);
  CHECK(x[0] == 12);
  x = realloc(x, sizeof(int) * N);
  CHECK(x[99] == 99 + 12);
  // Freed there: the next block may lie at the same place.
  for (int r = 0; r < 20; r++) {
    int *y = r % 2 ? calloc(N, sizeof(int)) : malloc(sizeof(int) * N);
    if (r % 2 == 0) memset(y, 0, sizeof(int) * N);
    add(y, N, r);
    if (r % 3) CHECK(y[N - 1] == r && y[0] == r);
    free(y);
  }
  void *aligned = NULL;
  CHECK(posix_memalign(&aligned, 256, sizeof(int) * N) == 0);
  memset(aligned, 0, sizeof(int) * N);
  add(aligned, N, 4);
  CHECK(((int *)aligned)[N - 1] == 4);
  free(aligned), free(x), fclose(f);
  return DONE();
}
