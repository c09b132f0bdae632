/* A region that queries the runtime's numbers starts no other region; the queries read special registers.
 * without: level_of threads_of call.uni ld.shared st.shared bar
 */
#include <omp.h>

void numbers(int *to, int n) {
#pragma omp target teams distribute parallel for map(from : to[0 : n])
  for (int i = 0; i < n; i++)
    to[i] = omp_get_thread_num() + 1000 * omp_get_num_threads() + 1000000 * omp_get_team_num();
}
int main(void) { return 0; }
