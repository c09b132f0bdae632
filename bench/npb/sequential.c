/* The OpenMP functions that the benchmarks call, for a build without -fopenmp: a team of one.
 * With it, one-thread runs are held against the program as if OpenMP did not exist. */
#include <time.h>

int omp_get_max_threads(void) { return 1; }

int omp_get_num_threads(void) { return 1; }

int omp_get_thread_num(void) { return 0; }

double omp_get_wtime(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
