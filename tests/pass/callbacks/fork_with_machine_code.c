// A child process made by fork while machine code exists: functions that the parent compiled before and
// after, and functions that neither has compiled yet, return the same results in both.
// stdout: ok
// options: --tier=baseline
// levels: O0 O2
#include "../../check.h"
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#define KEEP __attribute__((noinline))

KEEP static uint64_t before(uint64_t n) {
  uint64_t h = 14695981039346656037u;
  for (uint64_t i = 0; i < n; i++) h = (h ^ (i & 255)) * 1099511628211u;
  return h;
}
KEEP static double of_parent(int n) {
  double s = 0;
  for (int i = 1; i <= n; i++) s += 1.0 / i;
  return s;
}
KEEP static double of_child(int n) {
  double s = 1;
  for (int i = 1; i <= n; i++) s = s * 0.5 + i;
  return s;
}
KEEP static int of_both(const int *v, int n) {
  int most = v[0];
  for (int i = 1; i < n; i++) most = v[i] > most ? v[i] : most;
  return most;
}
KEEP static long in_region(int n) {
  long sum = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += (long)i * i;
  return sum;
}

struct results {
  uint64_t before;
  double child, parent;
  int both;
  long region;
};

static const int numbers[] = {3, -7, 12, 5, 11};

static struct results all(void) {
  struct results r = {before(1000), of_child(50), of_parent(50), of_both(numbers, 5), in_region(100)};
  return r;
}

static int same(struct results a, struct results b) {
  return a.before == b.before && a.child == b.child && a.parent == b.parent && a.both == b.both && a.region == b.region;
}

int main(void) {
  int go[2], back[2];
  CHECK(pipe(go) == 0 && pipe(back) == 0);
  CHECK(before(1000) == before(1000));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    char c;
    struct results mine;
    // The parent has compiled more by now, into memory that both share.
    if (read(go[0], &c, 1) != 1) _exit(2);
    mine = all();
    if (write(back[1], &mine, sizeof mine) != sizeof mine) _exit(3);
    // A child of the child, too.
    pid_t grandchild = fork();
    if (grandchild == 0) _exit(same(all(), mine) ? 18 : 1);
    int status = 0;
    waitpid(grandchild, &status, 0);
    _exit(WIFEXITED(status) && WEXITSTATUS(status) == 18 ? 17 : 4);
  }
  double early = of_parent(50);
  CHECK(write(go[1], "x", 1) == 1);
  struct results mine = all(), other;
  CHECK(mine.parent == early);
  CHECK(mine.both == 12 && mine.region == 328350);
  CHECK(read(back[0], &other, sizeof other) == sizeof other);
  CHECK(same(mine, other));
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 17);
  CHECK(same(all(), mine));
  return DONE();
}
