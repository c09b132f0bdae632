// The loops that newer code generators call: chunks of threads, of teams, and of both, in four widths.
// not-on: processors
#include "../../check.h"
#ifdef __NVPTX__
#define END ;
#else
// The host has no such entries: its version of a region is not run.
#define END {}
#endif
#pragma omp begin declare target
#define ENTRIES(S, T)                                                                                       \
  void __kmpc_for_static_loop_##S(void *, void (*)(T, void *), void *, T, T, T, unsigned char) END       \
  void __kmpc_distribute_static_loop_##S(void *, void (*)(T, void *), void *, T, T, unsigned char) END   \
  void __kmpc_distribute_for_static_loop_##S(void *, void (*)(T, void *), void *, T, T, T, T, unsigned char) END
ENTRIES(4, int)
ENTRIES(4u, unsigned)
ENTRIES(8, long)
ENTRIES(8u, unsigned long)
static void note(int *where, long i) {
#pragma omp atomic
  where[i] += 1 + 10 * omp_get_thread_num() + 1000 * omp_get_team_num();
}
static void body_4(int i, void *where) { note(where, i); }
static void body_4u(unsigned i, void *where) { note(where, i); }
static void body_8(long i, void *where) { note(where, i); }
static void body_8u(unsigned long i, void *where) { note(where, (long)i); }
#pragma omp end declare target
enum { N = 103 };
static int where[N];
static int good(int threads, int teams, int thread_chunk, int team_chunk) {
  int wrong = 0;
  for (int i = 0; i < N; i++) {
    int team = 0, inside = i;
    if (teams > 1) {
      // Without a chunk size for teams, a team's chunk consists of its threads' chunks.
      int span = team_chunk ? team_chunk : threads * (thread_chunk ? thread_chunk : 1);
      team = i / span % teams;
      inside = i % span;
    }
    int thread = inside / (thread_chunk ? thread_chunk : 1) % threads;
    wrong += where[i] != 1 + 10 * thread + 1000 * team;
    where[i] = 0;
  }
  return !wrong;
}
#define ALL(S, T)                                                                                           \
  for (int chunk = 0; chunk < 8; chunk += 3) {                                                               \
    _Pragma("omp target parallel num_threads(8) map(tofrom : where)")                                        \
        __kmpc_for_static_loop_##S(0, body_##S, where, N, 8, chunk, 0);                                      \
    CHECK(good(8, 1, chunk, 0));                                                                             \
    for (int team = 0; team < 30; team += 10) {                                                              \
      _Pragma("omp target teams num_teams(3) map(tofrom : where)")                                           \
      _Pragma("omp parallel num_threads(8)")                                                                 \
          __kmpc_distribute_for_static_loop_##S(0, body_##S, where, N, 8, team, chunk, 0);                   \
      CHECK(good(8, 3, chunk, team));                                                                        \
    }                                                                                                        \
  }                                                                                                          \
  _Pragma("omp target teams num_teams(3) map(tofrom : where)")                                               \
      __kmpc_distribute_static_loop_##S(0, body_##S, where, N, 5, 0);                                        \
  CHECK(good(1, 3, 0, 5));                                                                                   \
  _Pragma("omp target teams num_teams(3) map(tofrom : where)")                                               \
      __kmpc_distribute_static_loop_##S(0, body_##S, where, N, 0, 0);                                        \
  CHECK(good(1, 3, 0, 35));                                                                                  \
  _Pragma("omp target teams num_teams(3) map(tofrom : where)") {                                             \
    __kmpc_distribute_static_loop_##S(0, body_##S, where, 0, 5, 0);                                          \
    __kmpc_distribute_static_loop_##S(0, body_##S, where, N, 200, 0);                                        \
  }                                                                                                          \
  CHECK(good(1, 3, 0, 200))
int main(void) {
  ALL(4, int);
  ALL(4u, unsigned);
  ALL(8, long);
  ALL(8u, unsigned long);
  return DONE();
}
