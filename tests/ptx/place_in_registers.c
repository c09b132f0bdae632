/* A thread's coordinates and captured variables stay in registers over barriers, and queries of them are
 * inlined.
 * with: bar
 * without: level_of threads_of wanted_of counted_barrier call.uni
 */
#include <omp.h>

void steps(int *restrict to, const int *restrict from, int n, int rounds, int teams) {
#pragma omp target teams num_teams(teams) thread_limit(96) map(to : from[0 : n]) map(tofrom : to[0 : n])
  {
    int row[96];
#pragma omp parallel
    {
      int size = omp_get_num_threads(), me = omp_get_thread_num();
      int at = omp_get_team_num() * size + me;
      row[me] = at < n ? from[at] : 0;
#pragma omp barrier
      for (int i = 0; i < rounds; i++) {
        int next = row[me] + row[(me + 1) % size];
#pragma omp barrier
        row[me] = next;
#pragma omp barrier
      }
      if (at < n)
        to[at] = row[me];
    }
  }
}
int main(void) { return 0; }
