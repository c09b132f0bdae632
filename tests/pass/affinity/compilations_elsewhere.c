// OpenMP 5.2, section 10.1.3: a bound thread has its place to itself, also while its code is being compiled.
// stdout: ok
// env: OMP_PLACES=threads OMP_PROC_BIND=close OMP_NUM_THREADS=1 OMPVM_AHEAD=never
// options: --tier=auto --no-cache
// native: there are no threads of ours
#define _GNU_SOURCE
#include "../../check.h"
#include <dirent.h>
#include <sched.h>
#include <string.h>

// Returns 1 if a compiling thread may run on a processor, 0 if not; -1 if there is no such thread.
static int shares(int cpu) {
  int found = -1;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks && (task = readdir(tasks));) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "r");
    if (!file)
      continue;
    cpu_set_t set;
    if (fgets(name, sizeof name, file) && !strncmp(name, "ompvm compile", 13) &&
        !sched_getaffinity(atoi(task->d_name), sizeof set, &set) && found != 1)
      found = CPU_ISSET(cpu, &set) != 0;
    fclose(file);
  }
  if (tasks)
    closedir(tasks);
  return found;
}

int main(void) {
  int processors = omp_get_num_procs(), cpu = -1, shared = -1;
  volatile double sum = 0;
#pragma omp parallel
  cpu = sched_getcpu();
  // A starting thread may be seen before it has moved.
  for (double end = omp_get_wtime() + 3; shared != 0 && omp_get_wtime() < end;) {
    for (int i = 0; i < 1000000; i++)
      sum += i;
    shared = shares(cpu);
  }
  CHECK(processors < 2 || shared != 1);
  return DONE();
}
