/* What OpenMP constructs cost, by the EPCC method.
 *
 * The method is the published one (J. M. Bull, "Measuring Synchronisation and Scheduling Overheads
 * in OpenMP", EWOMP 1999; J. M. Bull, F. Reid, N. McDonnell, "A Microbenchmark Suite for OpenMP
 * Tasks", IWOMP 2012): a delay of known length is executed under a construct many times, the time
 * of the same delays without the construct is subtracted, and the rest is divided by the number of
 * executions. The code is ours.
 *
 * One line per construct: name, tab, overhead in microseconds (median of the outer repetitions; the
 * smallest with --min). For loop schedules the overhead is that of one loop of 1,024 iterations per
 * thread; "loop by hand" is such a loop without a construct, in equal parts before a barrier. Run the
 * same executable with LD_LIBRARY_PATH on each runtime to be compared, with the length of the delay
 * that the first of them printed (--length): on uneven processors each finds another.
 *
 *   epcc [--min] [--outer N] [--target MICROSECONDS] [--length N] [name...]
 *
 * It measures synchronisation and loop schedules; tasks and data clauses (arraybench) are not here.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS_PER_THREAD = 1024, MAX_OUTER = 1000 };

static int outer = 20;
static double target = 1000e-6;
static int smallest;
static int threads;

static int delay_length;
static omp_lock_t lock;

/* Some work that takes a time proportional to `length` and that no compiler removes. */
__attribute__((noinline)) static void delay(int length) {
  float a = 0.0f;
  for (int i = 0; i < length; i++)
    a += (float)i;
  if (a < 0.0f)
    printf("%f\n", a);
}

/* The length for which delay() takes `seconds`. */
static int length_for(double seconds) {
  int length = 1;
  for (int repeats = 1000;; length += length / 8 + 1) {
    double best = 1.0;
    for (int trial = 0; trial < 3; trial++) {
      double start = omp_get_wtime();
      for (int i = 0; i < repeats; i++)
        delay(length);
      double t = (omp_get_wtime() - start) / repeats;
      if (t < best)
        best = t;
    }
    if (best >= seconds)
      return length;
  }
}

/* --- Synchronisation: each test executes its construct `n` times around one delay. --- */

static void ref_plain(long n) {
  for (long i = 0; i < n; i++)
    delay(delay_length);
}

static void test_parallel(long n) {
  for (long i = 0; i < n; i++) {
#pragma omp parallel
    delay(delay_length);
  }
}

static void test_for(long n) {
#pragma omp parallel
  for (long i = 0; i < n; i++) {
#pragma omp for
    for (int k = 0; k < threads; k++)
      delay(delay_length);
  }
}

static void test_parallel_for(long n) {
  for (long i = 0; i < n; i++) {
#pragma omp parallel for
    for (int k = 0; k < threads; k++)
      delay(delay_length);
  }
}

static void test_barrier(long n) {
#pragma omp parallel
  for (long i = 0; i < n; i++) {
    delay(delay_length);
#pragma omp barrier
  }
}

static void test_single(long n) {
#pragma omp parallel
  for (long i = 0; i < n; i++) {
#pragma omp single
    delay(delay_length);
  }
}

static void test_critical(long n) {
#pragma omp parallel
  for (long i = 0; i < n / threads; i++) {
#pragma omp critical
    delay(delay_length);
  }
}

static void test_lock(long n) {
#pragma omp parallel
  for (long i = 0; i < n / threads; i++) {
    omp_set_lock(&lock);
    delay(delay_length);
    omp_unset_lock(&lock);
  }
}

static void test_ordered(long n) {
#pragma omp parallel for ordered schedule(static, 1)
  for (long i = 0; i < n; i++) {
#pragma omp ordered
    delay(delay_length);
  }
}

static float atomic_sum;

static void ref_atomic(long n) {
  volatile float sum = 0.0f;
  for (long i = 0; i < n; i++)
    sum += 1.0f;
}

static void test_atomic(long n) {
#pragma omp parallel
  for (long i = 0; i < n / threads; i++) {
#pragma omp atomic
    atomic_sum += 1.0f;
  }
}

static long reduced;

static void ref_reduction(long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    delay(delay_length);
    sum += 1;
  }
  reduced = sum;
}

static void test_reduction(long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
#pragma omp parallel reduction(+ : sum)
    {
      delay(delay_length);
      sum += 1;
    }
  }
  reduced = sum;
}

/* --- Schedules: each test executes `n` loops. --- */

static void ref_loop(long n) {
  for (long i = 0; i < n; i++)
    for (int k = 0; k < ITERATIONS_PER_THREAD; k++)
      delay(delay_length);
}

#define SCHEDULE_TEST(name, ...)                                                                   \
  static void name(long n) {                                                                       \
    _Pragma("omp parallel") for (long i = 0; i < n; i++) {                                         \
      __VA_ARGS__                                                                                  \
      for (int k = 0; k < ITERATIONS_PER_THREAD * threads; k++)                                    \
        delay(delay_length);                                                                       \
    }                                                                                              \
  }
/* The same work in equal parts without a loop construct: what the processors' own unevenness costs
 * at a barrier. */
static void test_by_hand(long n) {
#pragma omp parallel
  for (long k = 0; k < n; k++) {
    for (int i = 0; i < ITERATIONS_PER_THREAD; i++)
      delay(delay_length);
#pragma omp barrier
  }
}

SCHEDULE_TEST(test_static, _Pragma("omp for schedule(static)"))
SCHEDULE_TEST(test_static_1, _Pragma("omp for schedule(static, 1)"))
SCHEDULE_TEST(test_static_8, _Pragma("omp for schedule(static, 8)"))
SCHEDULE_TEST(test_static_64, _Pragma("omp for schedule(static, 64)"))
SCHEDULE_TEST(test_dynamic_1, _Pragma("omp for schedule(dynamic, 1)"))
SCHEDULE_TEST(test_dynamic_8, _Pragma("omp for schedule(dynamic, 8)"))
SCHEDULE_TEST(test_dynamic_64, _Pragma("omp for schedule(dynamic, 64)"))
SCHEDULE_TEST(test_guided_1, _Pragma("omp for schedule(guided, 1)"))
SCHEDULE_TEST(test_guided_8, _Pragma("omp for schedule(guided, 8)"))
SCHEDULE_TEST(test_guided_64, _Pragma("omp for schedule(guided, 64)"))

struct test {
  const char *name;
  void (*test)(long);
  void (*reference)(long);
  double delay; /* seconds */
};

static const struct test tests[] = {
    {"parallel", test_parallel, ref_plain, 0.1e-6},
    {"for", test_for, ref_plain, 0.1e-6},
    {"parallel for", test_parallel_for, ref_plain, 0.1e-6},
    {"barrier", test_barrier, ref_plain, 0.1e-6},
    {"single", test_single, ref_plain, 0.1e-6},
    {"critical", test_critical, ref_plain, 0.1e-6},
    {"lock/unlock", test_lock, ref_plain, 0.1e-6},
    {"ordered", test_ordered, ref_plain, 0.1e-6},
    {"atomic", test_atomic, ref_atomic, 0.1e-6},
    {"reduction", test_reduction, ref_reduction, 0.1e-6},
    {"loop by hand", test_by_hand, ref_loop, 0.1e-6},
    {"static", test_static, ref_loop, 0.1e-6},
    {"static,1", test_static_1, ref_loop, 0.1e-6},
    {"static,8", test_static_8, ref_loop, 0.1e-6},
    {"static,64", test_static_64, ref_loop, 0.1e-6},
    {"dynamic,1", test_dynamic_1, ref_loop, 0.1e-6},
    {"dynamic,8", test_dynamic_8, ref_loop, 0.1e-6},
    {"dynamic,64", test_dynamic_64, ref_loop, 0.1e-6},
    {"guided,1", test_guided_1, ref_loop, 0.1e-6},
    {"guided,8", test_guided_8, ref_loop, 0.1e-6},
    {"guided,64", test_guided_64, ref_loop, 0.1e-6},
};

static double timed(void (*f)(long), long n) {
  double start = omp_get_wtime();
  f(n);
  return omp_get_wtime() - start;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median (or the smallest) of `outer` timings of `n` executions. */
static double typical(void (*f)(long), long n) {
  static double times[MAX_OUTER];
  f(n);
  for (int i = 0; i < outer; i++)
    times[i] = timed(f, n);
  qsort(times, (size_t)outer, sizeof times[0], by_value);
  return times[smallest ? 0 : outer / 2];
}

static void measure(const struct test *t) {
  long n = threads;
  t->test(n);
  while (timed(t->test, n) < target)
    n *= 2;
  double with = typical(t->test, n), without = typical(t->reference, n);
  printf("%s\t%.4f\n", t->name, (with - without) / (double)n * 1e6);
  fflush(stdout);
}

int main(int argc, char **argv) {
  int first_name = argc;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--min")) {
      smallest = 1;
    } else if (!strcmp(argv[i], "--outer") && i + 1 < argc) {
      outer = atoi(argv[++i]);
    } else if (!strcmp(argv[i], "--target") && i + 1 < argc) {
      target = atof(argv[++i]) * 1e-6;
    } else if (!strcmp(argv[i], "--length") && i + 1 < argc) {
      delay_length = atoi(argv[++i]);
    } else if (argv[i][0] == '-') {
      fprintf(stderr, "usage: epcc [--min] [--outer N] [--target MICROSECONDS] [--length N] [name...]\n");
      return 2;
    } else {
      first_name = i;
      break;
    }
  }
  if (outer < 1 || outer > MAX_OUTER || !(target > 0)) {
    fprintf(stderr, "epcc: --outer takes 1 to %d, --target a positive number\n", MAX_OUTER);
    return 2;
  }
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  omp_init_lock(&lock);
  if (delay_length < 1)
    printf("length\t%d\n", delay_length = length_for(tests[0].delay));
  for (size_t t = 0; t < sizeof tests / sizeof tests[0]; t++) {
    int wanted = first_name == argc;
    for (int i = first_name; i < argc; i++)
      wanted |= !strcmp(argv[i], tests[t].name);
    if (wanted)
      measure(&tests[t]);
  }
  omp_destroy_lock(&lock);
  return 0;
}
