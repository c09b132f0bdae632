/*
 * Verification of figures and the closing report. The report keeps the layout
 * that readers (people and scripts) of these benchmarks expect: a label, an
 * equals sign at column 18, the value set flush right.
 *
 * Nothing is timed or computed here, and the report does not end the program:
 * main returns npb_exit_status, so its arrays and its team end in good order.
 */
#include "npb.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>

bool npb_close_enough(double computed, double reference, double tolerance)
{
    return fabs((computed - reference) / reference) <= tolerance;
}

bool npb_check(const char *what, double computed, double reference,
               double tolerance)
{
    bool right = npb_close_enough(computed, reference, tolerance);
    printf(" %s %-12s %22.14E  reference %22.14E  error %9.2E\n",
           right ? " " : "*", what, computed, reference,
           fabs((computed - reference) / reference));
    return right;
}

static void size_text(const struct npb_result *r, char *text, size_t length)
{
    if (r->dimensions == 3)
        snprintf(text, length, "%" PRId64 "x%" PRId64 "x%" PRId64, r->size[0],
                 r->size[1], r->size[2]);
    else
        snprintf(text, length, "%" PRId64, r->size[0]);
}

void npb_banner(const struct npb_result *r)
{
    char size[64];
    size_text(r, size, sizeof size);
    printf("\n NAS Parallel Benchmarks (C, OpenMP) - %s Benchmark\n\n", r->name);
    printf(" Class: %c  Size: %s  Iterations: %d  Threads: %d\n\n",
           NPB_CLASS_LETTER, size, r->iterations, omp_get_max_threads());
}

void npb_report(const struct npb_result *r)
{
    int threads = omp_get_max_threads();
    double rate = r->seconds > 0.0 ? r->operations * 1e-6 / r->seconds : 0.0;
    char size[64];
    size_text(r, size, sizeof size);
    printf("\n\n %s Benchmark Completed.\n", r->name);
    printf(" Class           = %24c\n", NPB_CLASS_LETTER);
    printf(" Size            = %24s\n", size);
    printf(" Iterations      = %24d\n", r->iterations);
    printf(" Time in seconds = %24.4f\n", r->seconds);
    printf(" Total threads   = %24d\n", threads);
    printf(" Mop/s total     = %24.2f\n", rate);
    printf(" Mop/s/thread    = %24.2f\n", rate / threads);
    printf(" Operation type  = %24s\n", r->operation);
    printf(" Verification    = %24s\n",
           r->verified ? "SUCCESSFUL" : "UNSUCCESSFUL");
}

int npb_exit_status(const struct npb_result *r)
{
    return r->verified ? 0 : 1;
}
