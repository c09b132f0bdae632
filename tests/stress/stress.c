// A random program made of OpenMP constructs: nested regions, teams, tasks, cancellation, locks, threads that OpenMP did not
// create, with random delays between them. Every construct checks its own result. The same seed makes the same decisions;
// the threads' interleaving differs from run to run.
//
//   stress SEED ROUNDS KEPT     prints `ok CONSTRUCTS`, or the first checks that failed; exit status 0 or 1
//
// Every round executes the same constructs. Memory in use after a quarter of them and after the last is compared: more than KEPT
// bytes between them is a leak; less is memory that threads keep for reuse. `cargo xtask stress` runs it under random settings in every tier.
#include <malloc.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;
static long constructs;

static void fail(int line, const char *what) {
  if (__atomic_fetch_add(&failures, 1, __ATOMIC_SEQ_CST) < 8) {
    printf("FAIL line %d: %s\n", line, what);
    fflush(stdout);
  }
}
#define EXPECT(...) ((__VA_ARGS__) ? (void)0 : fail(__LINE__, #__VA_ARGS__))

// Random numbers of one thread or task: xorshift64*.
typedef struct { uint64_t state; } rng;
static uint64_t next(rng *r) {
  r->state ^= r->state >> 12;
  r->state ^= r->state << 25;
  r->state ^= r->state >> 27;
  return r->state * 0x2545F4914F6CDD1DULL;
}
static int below(rng *r, int n) { return (int)((next(r) >> 33) % (unsigned)n); }
static rng child(uint64_t seed, int number) {
  rng r = {(seed ^ ((uint64_t)number + 1) * 0x9E3779B97F4A7C15ULL) | 1};
  next(&r);
  return r;
}

static void delay(rng *r) {
  switch (below(r, 24)) {
  case 0: usleep((unsigned)below(r, 200)); break;
  case 1: sched_yield(); break;
  case 2:
    for (volatile int i = 0, n = below(r, 3000); i < n; i++) {}
    break;
  default: break;
  }
}

static int threads(rng *r) { return 1 + below(r, 6); }

static void construct(rng *r, int depth);

// ---- worksharing

static void loops(rng *r) {
  int n = below(r, 400), count = threads(r);
  unsigned char *seen = calloc((size_t)n + 1, 1);
  long sum = 0;
  int last = -1;
  omp_sched_t kind[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  omp_set_schedule((omp_sched_t)(kind[below(r, 4)] | (below(r, 2) ? omp_sched_monotonic : 0)), below(r, 9));
  uint64_t seed = next(r);
  int which = below(r, 6);
#pragma omp parallel num_threads(count) reduction(+ : sum)
  {
    rng own = child(seed, omp_get_thread_num());
    delay(&own);
    switch (which) {
    case 0:
#pragma omp for schedule(runtime) lastprivate(last)
      for (int i = 0; i < n; i++) { seen[i]++; sum += i; last = i; }
      break;
    case 1:
#pragma omp for schedule(dynamic, 3) nowait
      for (int i = 0; i < n; i++) { seen[i]++; sum += i; }
      break;
    case 2:
#pragma omp for schedule(nonmonotonic : dynamic) nowait
      for (int i = n - 1; i >= 0; i--) { seen[i]++; sum += i; delay(&own); }
      break;
    case 3:
#pragma omp for schedule(guided, 2)
      for (int i = 0; i < n; i++) { seen[i]++; sum += i; }
      break;
    case 4:
#pragma omp for schedule(static, 5)
      for (int i = 0; i < n; i++) { seen[i]++; sum += i; }
      break;
    default:
#pragma omp for collapse(2) schedule(runtime)
      for (int i = 0; i < n / 7 + 1; i++)
        for (int j = 0; j < 7; j++)
          if (i * 7 + j < n) { seen[i * 7 + j]++; sum += i * 7 + j; }
    }
    delay(&own);
  }
  EXPECT(sum == (long)n * (n - 1) / 2);
  for (int i = 0; i < n; i++)
    if (seen[i] != 1) { fail(__LINE__, "an iteration was not executed once"); break; }
  if (which == 0 && n > 0) EXPECT(last == n - 1);
  free(seen);
}

static void ordered_loops(rng *r) {
  int n = below(r, 60), position = 0, bad = 0;
  uint64_t seed = next(r);
#pragma omp parallel num_threads(threads(r))
  {
    rng own = child(seed, omp_get_thread_num());
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < n; i++) {
      delay(&own);
#pragma omp ordered
      if (position++ != i) bad++;
    }
  }
  EXPECT(bad == 0 && position == n);
  long *x = malloc(sizeof *x * ((size_t)n + 1));
  x[0] = 1;
#pragma omp parallel for num_threads(threads(r)) ordered(1) schedule(dynamic, 2)
  for (int i = 1; i <= n; i++) {
#pragma omp ordered depend(sink : i - 1)
    x[i] = x[i - 1] * 3 % 1000003 + i;
#pragma omp ordered depend(source)
  }
  long y = 1;
  for (int i = 1; i <= n; i++) y = y * 3 % 1000003 + i;
  EXPECT(x[n] == y);
  free(x);
}

// Loops and sections with nowait, more of them than the runtime has buffers for.
static void chains(rng *r) {
  enum { LOOPS = 24, MOST = 64 };
  int hits[LOOPS][MOST] = {{0}}, n = 1 + below(r, MOST), bad = 0;
  uint64_t seed = next(r);
#pragma omp parallel num_threads(threads(r))
  {
    rng own = child(seed, omp_get_thread_num());
    for (int k = 0; k < LOOPS; k++) {
      delay(&own);
      switch (k % 5) {
      case 0:
#pragma omp for schedule(dynamic, 3) nowait
        for (int i = 0; i < n; i++) hits[k][i]++;
        break;
      case 1:
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < n; i++) hits[k][i]++;
        break;
      case 2:
#pragma omp for schedule(static, 2) nowait
        for (int i = 0; i < n; i++) hits[k][i]++;
        break;
      case 3:
#pragma omp sections nowait
        {
#pragma omp section
          for (int i = 0; i < n / 2; i++) hits[k][i]++;
#pragma omp section
          for (int i = n / 2; i < n; i++) hits[k][i]++;
        }
        break;
      default:
#pragma omp single nowait
        for (int i = 0; i < n; i++) hits[k][i]++;
      }
    }
  }
  for (int k = 0; k < LOOPS; k++)
    for (int i = 0; i < n; i++) bad += hits[k][i] != 1;
  EXPECT(bad == 0);
}

static void wavefronts(rng *r) {
  enum { MOST = 24 };
  static const unsigned prime = 1000003;
  unsigned cell[MOST + 1][MOST + 1], model[MOST + 1][MOST + 1];
  int rows = 1 + below(r, MOST), columns = 1 + below(r, MOST), bad = 0;
  for (int i = 0; i <= MOST; i++)
    for (int j = 0; j <= MOST; j++)
      cell[i][j] = model[i][j] = i && j ? model[i - 1][j] * 3 % prime + model[i][j - 1] : 1;
  uint64_t seed = next(r);
#pragma omp parallel num_threads(threads(r))
  {
    rng own = child(seed, omp_get_thread_num());
#pragma omp for ordered(2) schedule(dynamic)
    for (int i = 1; i <= rows; i++)
      for (int j = 1; j <= columns; j++) {
        delay(&own);
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
        cell[i][j] = cell[i - 1][j] * 3 % prime + cell[i][j - 1];
#pragma omp ordered depend(source)
      }
  }
  for (int i = 1; i <= rows; i++)
    for (int j = 1; j <= columns; j++) bad += cell[i][j] != model[i][j];
  EXPECT(bad == 0);
}

static void shares(rng *r) {
  int count = threads(r), parts = 0, alone = 0, masters = 0, critical = 0, team = 0;
  long common = below(r, 1000000), got = 0;
  uint64_t seed = next(r);
#pragma omp parallel num_threads(count) reduction(+ : got)
  {
    rng own = child(seed, omp_get_thread_num());
    long value = 0;
#pragma omp master
    {
#pragma omp atomic write
      team = omp_get_num_threads();
#pragma omp atomic
      masters++;
    }
    for (int round = 0; round < 4; round++) {
      delay(&own);
#pragma omp sections nowait
      {
#pragma omp section
        {
#pragma omp atomic
          parts++;
        }
#pragma omp section
        {
#pragma omp atomic
          parts++;
        }
#pragma omp section
        {
#pragma omp atomic
          parts++;
        }
      }
#pragma omp single copyprivate(value)
      {
        value = common + round;
        alone++;
      }
      got += value;
#pragma omp critical(stress_shares)
      critical++;
    }
  }
  EXPECT(parts == 12 && alone == 4 && masters == 1);
  EXPECT(critical == 4 * team);
  EXPECT(got == team * (4 * common + 6));
}

// ---- synchronization

static void barriers(rng *r) {
  enum { MOST = 8 };
  int stamp[MOST] = {0}, bad = 0, phases = 1 + below(r, 12);
  uint64_t seed = next(r);
#pragma omp parallel num_threads(threads(r))
  {
    int me = omp_get_thread_num(), n = omp_get_num_threads();
    rng own = child(seed, me);
    for (int phase = 1; phase <= phases; phase++) {
      delay(&own);
      stamp[me] = phase;
#pragma omp barrier
      for (int i = 0; i < n; i++)
        if (stamp[i] != phase) {
#pragma omp atomic
          bad++;
        }
#pragma omp barrier
    }
  }
  EXPECT(bad == 0);
}

static void locks(rng *r) {
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_sync_hint_t hint[] = {omp_sync_hint_none, omp_sync_hint_contended, omp_sync_hint_speculative};
  omp_init_lock_with_hint(&lock, hint[below(r, 3)]);
  omp_init_nest_lock(&nest);
  int plain = 0, nested = 0, team = 0, tries = 0, times = below(r, 40);
  uint64_t seed = next(r);
#pragma omp parallel num_threads(threads(r))
  {
    rng own = child(seed, omp_get_thread_num());
#pragma omp single nowait
    {
#pragma omp atomic write
      team = omp_get_num_threads();
    }
    for (int i = 0; i < times; i++) {
      omp_set_lock(&lock);
      plain++;
      delay(&own);
      omp_unset_lock(&lock);
      omp_set_nest_lock(&nest);
      if (omp_test_nest_lock(&nest) == 2) nested++;
      omp_unset_nest_lock(&nest);
      omp_unset_nest_lock(&nest);
      if (omp_test_lock(&lock)) {
        tries++;
        omp_unset_lock(&lock);
      }
    }
  }
  EXPECT(plain == team * times && nested == team * times && tries <= team * times);
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
}

static int own_copy;
#pragma omp threadprivate(own_copy)

static void privates(rng *r) {
  int value = below(r, 1000), bad = 0;
  own_copy = value;
#pragma omp parallel num_threads(threads(r)) copyin(own_copy) reduction(+ : bad)
  {
    bad += own_copy != value;
    own_copy += omp_get_thread_num();
    bad += own_copy != value + omp_get_thread_num();
  }
  EXPECT(bad == 0);
}

typedef struct { long low, high; } range;
#pragma omp declare reduction(cover : range : omp_out.low = omp_in.low < omp_out.low ? omp_in.low : omp_out.low, \
                              omp_out.high = omp_in.high > omp_out.high ? omp_in.high : omp_out.high)        \
    initializer(omp_priv = {1 << 30, -1})

static void reductions(rng *r) {
  int n = 1 + below(r, 300);
  long bins[5] = {0}, product = 1;
  double total = 0;
  range all = {1 << 30, -1};
#pragma omp parallel for num_threads(threads(r)) reduction(+ : bins[:5], total) reduction(cover : all) reduction(^ : product)
  for (int i = 0; i < n; i++) {
    bins[i % 5]++;
    total += .5;
    product ^= i;
    if (i < all.low) all.low = i;
    if (i > all.high) all.high = i;
  }
  long x = 1, sum = 0;
  for (int i = 0; i < n; i++) x ^= i;
  for (int i = 0; i < 5; i++) sum += bins[i];
  EXPECT(sum == n && total == n * .5 && product == x && all.low == 0 && all.high == n - 1);
}

// ---- tasks

static long fib(int n, uint64_t seed) {
  if (n < 2) return n;
  long a, b;
  rng r = child(seed, n);
  uint64_t left = next(&r), right = next(&r);
  int now = below(&r, 8) == 0;
  delay(&r);
  if (below(&r, 4) == 0) {
#pragma omp task shared(a) untied if (!now)
    a = fib(n - 1, left);
  } else {
#pragma omp task shared(a) final(n < 4) mergeable
    a = fib(n - 1, left);
  }
#pragma omp task shared(b) priority(n)
  b = fib(n - 2, right);
  if (below(&r, 8) == 0) {
#pragma omp taskyield
  }
#pragma omp taskwait
  return a + b;
}

static void task_trees(rng *r) {
  static const long value[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
  int n = below(r, 13);
  long total = 0;
  uint64_t seed = next(r);
#pragma omp parallel num_threads(threads(r)) reduction(+ : total)
#pragma omp single
  total += fib(n, seed);
  EXPECT(total == value[n]);
}

static void dependences(rng *r) {
  enum { CELLS = 6, MOST = 120 };
  uint64_t cell[CELLS] = {1, 2, 3, 4, 5, 6}, model[CELLS] = {1, 2, 3, 4, 5, 6}, seed = next(r);
  int steps = below(r, MOST), to[MOST], from[MOST], added = 0, wanted = 0;
  for (int i = 0; i < steps; i++) {
    to[i] = below(r, CELLS);
    from[i] = below(r, CELLS);
    model[to[i]] = model[to[i]] * 31 + model[from[i]] + (uint64_t)i;
  }
#pragma omp parallel num_threads(threads(r))
#pragma omp single
  {
    for (int i = 0; i < steps; i++) {
      int a = to[i], b = from[i];
#pragma omp task firstprivate(i, a, b, seed) depend(inout : cell[a]) depend(in : cell[b])
      {
        rng own = child(seed, i);
        delay(&own);
        cell[a] = cell[a] * 31 + cell[b] + (uint64_t)i;
      }
    }
    // Members of a set exclude each other, in any order.
    for (int i = 0; i < steps / 4; i++) {
      wanted += i;
#pragma omp task firstprivate(i) depend(mutexinoutset : added)
      added += i;
    }
#pragma omp taskwait depend(in : added)
    EXPECT(added == wanted);
  }
  EXPECT(memcmp(cell, model, sizeof cell) == 0);
}

static void task_loops(rng *r) {
  int n = below(r, 500), grain = 1 + below(r, 40), kind = below(r, 3);
  long sum = 0, grouped = 0;
#pragma omp parallel num_threads(threads(r))
#pragma omp single
  {
    if (kind == 0) {
#pragma omp taskloop grainsize(grain) reduction(+ : sum)
      for (int i = 0; i < n; i++) sum += i;
    } else if (kind == 1) {
#pragma omp taskloop num_tasks(grain) reduction(+ : sum)
      for (int i = 0; i < n; i++) sum += i;
    } else {
#pragma omp taskloop simd reduction(+ : sum)
      for (int i = 0; i < n; i++) sum += i;
    }
#pragma omp taskgroup task_reduction(+ : grouped)
    for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i) in_reduction(+ : grouped)
      grouped += i;
    }
  }
  EXPECT(sum == (long)n * (n - 1) / 2 && grouped == sum);
}

// Reductions with participating tasks: of a region, of a loop, of a taskloop's group.
static void task_reductions(rng *r) {
  int n = below(r, 200), some = below(r, 8), team = 0;
  long mine = 0, all = 0, grouped = 0;
  uint64_t seed = next(r);
#pragma omp parallel num_threads(threads(r)) reduction(task, + : mine)
  {
    rng own = child(seed, omp_get_thread_num());
#pragma omp atomic
    team++;
    for (int i = 0; i < some; i++) {
#pragma omp task firstprivate(i) in_reduction(+ : mine)
      mine += i;
      delay(&own);
    }
    mine += 1000;
  }
  EXPECT(mine == team * (1000L + some * (some - 1) / 2));
#pragma omp parallel num_threads(threads(r))
  {
#pragma omp for reduction(task, + : all) schedule(dynamic, 4)
    for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i) in_reduction(+ : all)
      all += i;
      all += 1;
    }
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : grouped)
      {
#pragma omp taskloop nogroup in_reduction(+ : grouped) grainsize(7)
        for (int i = 0; i < n; i++) grouped += i;
#pragma omp taskloop in_reduction(+ : grouped) num_tasks(5)
        for (int i = 0; i < n; i++) grouped += 1;
      }
    }
  }
  EXPECT(all == (long)n * (n - 1) / 2 + n && grouped == all);
}

static void *fulfil(void *event) {
  usleep(50);
  omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
  return NULL;
}

static void events(rng *r) {
  int done = 0, foreign = below(r, 3) == 0;
  pthread_t helper;
#pragma omp parallel num_threads(threads(r))
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : done)
    {
#pragma omp atomic
      done++;
    }
    if (foreign) {
      pthread_create(&helper, NULL, fulfil, (void *)(uintptr_t)event);
    } else {
#pragma omp task firstprivate(event)
      omp_fulfill_event(event);
    }
#pragma omp task depend(in : done)
    EXPECT(done == 1);
#pragma omp taskwait
    EXPECT(done == 1);
  }
  if (foreign) pthread_join(helper, NULL);
}

// ---- cancellation

static void cancellations(rng *r) {
  int n = 1 + below(r, 200), at = below(r, n), executed = 0, entered = 0, left = 0, kind = below(r, 4);
  uint64_t seed = next(r);
  if (kind == 0) {
#pragma omp parallel num_threads(threads(r))
    {
      rng own = child(seed, omp_get_thread_num());
#pragma omp for schedule(dynamic)
      for (int i = 0; i < n; i++) {
#pragma omp atomic
        executed++;
        delay(&own);
        if (i == at) {
#pragma omp cancel for
        }
#pragma omp cancellation point for
      }
    }
    EXPECT(executed >= 1 && executed <= n);
    if (!omp_get_cancellation()) EXPECT(executed == n);
  } else if (kind == 1) {
#pragma omp parallel num_threads(threads(r))
    {
      rng own = child(seed, omp_get_thread_num());
#pragma omp atomic
      entered++;
      delay(&own);
      if (below(&own, 2)) {
#pragma omp cancel parallel
      }
#pragma omp barrier
#pragma omp cancellation point parallel
#pragma omp atomic
      left++;
    }
    EXPECT(entered >= 1 && left <= entered);
    if (!omp_get_cancellation()) EXPECT(left == entered);
  } else if (kind == 2) {
    int rounds = 1 + below(r, 4);
#pragma omp parallel num_threads(threads(r))
    {
      rng own = child(seed, omp_get_thread_num());
      for (int round = 0; round < rounds; round++) {
        delay(&own);
#pragma omp sections
        {
#pragma omp section
          {
#pragma omp atomic
            executed++;
            delay(&own);
#pragma omp cancel sections
#pragma omp atomic
            left++;
          }
#pragma omp section
          {
#pragma omp atomic
            executed++;
#pragma omp cancellation point sections
          }
#pragma omp section
          {
#pragma omp atomic
            executed++;
          }
        }
      }
    }
    EXPECT(executed >= 1 && executed <= 3 * rounds && left <= rounds);
    if (!omp_get_cancellation()) EXPECT(executed == 3 * rounds && left == rounds);
  } else {
#pragma omp parallel num_threads(threads(r))
#pragma omp single
    {
#pragma omp taskgroup
      for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i)
        {
#pragma omp atomic
          executed++;
          if (i == at) {
#pragma omp cancel taskgroup
          }
        }
      }
#pragma omp task
      {
#pragma omp atomic
        left++;
      }
    }
    EXPECT(executed >= 1 && executed <= n && left == 1);
    if (!omp_get_cancellation()) EXPECT(executed == n);
  }
}

// ---- nesting

static void leagues(rng *r) {
  int n = below(r, 300);
  long sum = 0;
#pragma omp teams distribute parallel for num_teams(1 + below(r, 3)) thread_limit(1 + below(r, 3)) reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += i;
  EXPECT(sum == (long)n * (n - 1) / 2);
  long teams = 0, members = 0, done = 0;
  int wanted = 1 + below(r, 5), bad = 0;
  uint64_t seed = next(r);
  sum = 0;
#pragma omp teams num_teams(wanted) thread_limit(1 + below(r, 4)) reduction(+ : sum, teams, members, done, bad)
  {
    rng own = child(seed, omp_get_team_num());
    long inside = 0, tasks = 0, count = 0;
    delay(&own);
    bad += omp_get_thread_num() != 0 || omp_get_level() != 0;
    teams++;
#pragma omp distribute dist_schedule(static, 3)
    for (int i = 0; i < n; i++) sum += i;
#pragma omp parallel reduction(+ : inside)
    {
      inside++;
#pragma omp single
      {
        count = omp_get_num_threads();
        for (int i = 0; i < 5; i++) {
#pragma omp task shared(tasks)
          {
#pragma omp atomic
            tasks++;
          }
        }
      }
    }
    bad += inside != count || tasks != 5;
    members += inside;
    done += tasks;
  }
  EXPECT(sum == (long)n * (n - 1) / 2 && bad == 0 && teams >= 1 && teams <= wanted && done == 5 * teams);
  EXPECT(members >= teams);
}

static void nested(rng *r, int depth) {
  uint64_t seed = next(r);
  int levels = omp_get_max_active_levels(), level = omp_get_level(), bad = 0;
  omp_set_max_active_levels(1 + below(r, 4));
#pragma omp parallel num_threads(1 + below(r, 4)) reduction(+ : bad)
  {
    rng own = child(seed, omp_get_thread_num());
    bad += omp_get_level() != level + 1;
    bad += omp_get_ancestor_thread_num(level + 1) != omp_get_thread_num();
    construct(&own, depth - 1);
    if (below(&own, 2)) construct(&own, depth - 1);
  }
  EXPECT(bad == 0 && omp_get_level() == level);
  omp_set_max_active_levels(levels);
}

static void in_tasks(rng *r, int depth) {
  uint64_t seed = next(r);
  int count = below(r, 4);
#pragma omp parallel num_threads(1 + below(r, 4))
#pragma omp single
  {
    for (int i = 0; i < count; i++) {
#pragma omp task firstprivate(i)
      {
        rng own = child(seed, i);
        construct(&own, depth - 1);
      }
    }
  }
}

typedef struct { uint64_t seed; int depth; } order;

static void *elsewhere(void *argument) {
  order *o = argument;
  rng own = child(o->seed, 99);
  construct(&own, o->depth);
  return NULL;
}

static void foreign(rng *r, int depth) {
  order o = {next(r), depth - 1};
  pthread_t other;
  if (pthread_create(&other, NULL, elsewhere, &o) != 0) return;
  construct(r, depth - 1);
  pthread_join(other, NULL);
}

static void construct(rng *r, int depth) {
  __atomic_fetch_add(&constructs, 1, __ATOMIC_RELAXED);
  delay(r);
  int inner = depth > 0 ? 6 : 0;
  // Leagues are nested inside of no region.
  int league = omp_get_level() == 0;
  switch (below(r, 14 + inner + league)) {
  case 0: loops(r); break;
  case 1: ordered_loops(r); break;
  case 2: shares(r); break;
  case 3: barriers(r); break;
  case 4: locks(r); break;
  case 5: privates(r); break;
  case 6: reductions(r); break;
  case 7: task_trees(r); break;
  case 8: dependences(r); break;
  case 9: below(r, 2) ? task_loops(r) : events(r); break;
  case 10: cancellations(r); break;
  case 11: chains(r); break;
  case 12: wavefronts(r); break;
  case 13: task_reductions(r); break;
  case 14: case 15: case 16:
    if (inner) nested(r, depth); else leagues(r);
    break;
  case 17: case 18: in_tasks(r, depth); break;
  case 19: foreign(r, depth); break;
  default: leagues(r);
  }
}

int main(int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
  int rounds = argc > 2 ? atoi(argv[2]) : 3;
  size_t kept = argc > 3 ? strtoull(argv[3], NULL, 0) : (size_t)-1 / 2;
  size_t early = 0, late = 0;
  for (int round = 0; round < rounds; round++) {
    rng r = child(seed, 7);
    for (int i = 0; i < 25 && !failures; i++) construct(&r, 3);
    late = mallinfo2().uordblks;
    if (round == rounds / 4) early = late;
  }
  if (late > early + kept) {
    printf("LEAK: %zu bytes in use after round %d, %zu after round %d\n", early, rounds / 4 + 1, late, rounds);
    return 1;
  }
  if (!failures) printf("ok %ld\n", constructs);
  return failures != 0;
}
