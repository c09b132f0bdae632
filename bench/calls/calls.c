// Prints the time of a call of an empty function through the C library, in nanoseconds of processor time: the median
// of 101 batches. Arguments: the bitcode of guest.c, a tier (0 interp to 3 auto), a function.
#define _POSIX_C_SOURCE 200809L
#include <ompvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 101, CALLS = 200000 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  ompvm_engine *engine = ompvm_engine_new();
  ompvm_module *module;
  ompvm_config *config = ompvm_config_new();
  ompvm_process *process;
  const ompvm_function *function;
  ompvm_config_set_tier(config, (ompvm_tier)atoi(argv[2]));
  ompvm_check(ompvm_module_from_file(engine, argv[1], &module));
  ompvm_check(ompvm_module_start(engine, module, config, &process));
  ompvm_check(ompvm_process_function(process, argv[3], NULL, &function));
  ompvm_value argument = {.i64 = 0}, result;
  double times[BATCHES];
  for (int batch = 0; batch < BATCHES; batch++) {
    double start = now();
    for (int i = 0; i < CALLS; i++) {
      ompvm_error *error = ompvm_call(function, &argument, &result);
      if (error)
        ompvm_check(error);
    }
    times[batch] = (now() - start) / CALLS;
  }
  qsort(times, BATCHES, sizeof times[0], compare);
  printf("C %s: %.1f ns, least %.1f\n", argv[3], times[BATCHES / 2], times[0]);
}
