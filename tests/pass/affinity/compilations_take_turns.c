// A compiling thread rotates over the processors of a team that has them all, and is bound to none of them
// when it is idle.
// stdout: ok
// env: OMP_DYNAMIC=false
// options: --tier=auto --no-cache
// native: there are no threads of ours
#define _GNU_SOURCE
#include "../../check.h"
#include <dirent.h>
#include <sched.h>
#include <string.h>

enum { N = 4096 };

// Returns the number of compiling threads that may not run on every processor.
static int bound(int processors) {
  int found = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks && (task = readdir(tasks));) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "r");
    if (!file)
      continue;
    cpu_set_t set;
    found += fgets(name, sizeof name, file) && !strncmp(name, "ompvm compile", 13) &&
             !sched_getaffinity(atoi(task->d_name), sizeof set, &set) && CPU_COUNT(&set) < processors;
    fclose(file);
  }
  if (tasks)
    closedir(tasks);
  return found;
}

int main(void) {
  int left = 1;
  cpu_set_t set;
  CHECK(!sched_getaffinity(0, sizeof set, &set));
  int processors = CPU_COUNT(&set);
  double end = omp_get_wtime() + 0.3, sum = 0;
#pragma omp parallel num_threads(processors) reduction(+ : sum)
  {
    double a[N] = {0};
    while (omp_get_wtime() < end) {
      for (int i = 1; i < N; i++)
        a[i] = a[i - 1] * 0.5 + i;
      for (int i = 1; i < N; i++)
        sum += a[i] > 100 ? a[i] : -a[i];
    }
  }
  CHECK(sum == sum);
  for (end = omp_get_wtime() + 5; left && omp_get_wtime() < end;)
    left = bound(processors);
  CHECK(!left);
  return DONE();
}
