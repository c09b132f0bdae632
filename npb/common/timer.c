/*
 * The clock of the benchmarks: OpenMP's own, so that a run needs no other
 * system call than the OpenMP runtime makes anyway.
 */
#include "npb.h"

#include <omp.h>

double npb_wtime(void)
{
    return omp_get_wtime();
}
