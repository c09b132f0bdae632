// OpenMP 5.2, sections 10.2 and 11.7: the teams of a league have initial threads of their own, parallel regions of their own, and share a distribute loop and a reduction.
// levels: O0 O2
// env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false KMP_TEAMS_THREAD_LIMIT=1000
// stdout: ok
#include "../../check.h"
#include <pthread.h>
enum { TEAMS = 4, N = 1000 };
static pthread_t starter[TEAMS];
static int came, seen[N];

// Every team waits for all others, if the implementation runs them concurrently.
static void meet(void) {
#pragma omp teams num_teams(TEAMS)
  {
    CHECK(omp_get_num_teams() == TEAMS && omp_get_thread_num() == 0 && omp_get_num_threads() == 1);
    CHECK(omp_get_level() == 0 && omp_get_active_level() == 0);
    starter[omp_get_team_num()] = pthread_self();
    __atomic_fetch_add(&came, 1, __ATOMIC_SEQ_CST);
    SPIN_UNTIL(__atomic_load_n(&came, __ATOMIC_SEQ_CST) == TEAMS);
    CHECK(came == TEAMS);
  }
  CHECK(pthread_equal(starter[0], pthread_self()));
  for (int i = 0; i < TEAMS; i++)
    for (int j = 0; j < i; j++)
      CHECK(!pthread_equal(starter[i], starter[j]));
}

static void share(int round) {
  long sum = 0, threads = 0;
#pragma omp teams num_teams(TEAMS) thread_limit(2) reduction(+ : sum, threads)
  {
    CHECK(omp_get_thread_limit() == 2);
    int team = omp_get_team_num(), inside = 0;
#pragma omp distribute
    for (int i = 0; i < N; i++) {
      sum += i;
      __atomic_fetch_add(&seen[i], 1, __ATOMIC_RELAXED);
    }
#pragma omp parallel num_threads(2) reduction(+ : inside)
    {
      CHECK(omp_get_team_num() == team && omp_get_num_teams() == TEAMS && omp_get_level() == 1);
      CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_team_size(0) == 1);
      inside += 1;
#pragma omp barrier
#pragma omp single
#pragma omp task shared(inside)
      CHECK(omp_get_num_threads() == 2);
    }
    CHECK(inside == 2);
    threads += inside;
  }
  CHECK(sum == N * (N - 1L) / 2 && threads == 2 * TEAMS);
  for (int i = 0; i < N; i++)
    CHECK(seen[i] == round);
}

static void combined(void) {
  long sum = 0;
  int last = -1;
#pragma omp teams distribute parallel for num_teams(TEAMS) collapse(2) reduction(+ : sum) dist_schedule(static, 7)
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 25; j++)
      sum += i * 25 + j;
  CHECK(sum == N * (N - 1L) / 2);
#pragma omp teams distribute num_teams(TEAMS) lastprivate(last)
  for (int i = 0; i < 77; i++)
    last = i;
  CHECK(last == 76);
}

// More teams than any machine has threads for.
static void many(void) {
  int sum = 0, most = 0;
#pragma omp teams num_teams(500) reduction(+ : sum) reduction(max : most)
  {
    sum += 1;
    most = omp_get_team_num();
  }
  CHECK(sum == 500 && most == 499);
}

static void *of_another_thread(void *unused) {
  combined();
  return unused;
}

int main(void) {
  meet();
  for (int round = 1; round <= 20; round++) {
    pthread_t other;
    pthread_create(&other, NULL, of_another_thread, NULL);
    share(round);
    combined();
    pthread_join(other, NULL);
  }
  many();
  return DONE();
}
