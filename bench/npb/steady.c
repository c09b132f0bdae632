/* Calls a benchmark several times in one process: linked with the benchmark's own files, whose
 * main is renamed by -Dmain=npb_main. One line per call, `call N SECONDS`; from the second call
 * on memory is touched, threads run and code is compiled. The number of calls is the argument. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int npb_main(void);

#undef main
int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 5;
    int wrong = 0;
    for (int i = 1; i <= calls; i++) {
        double start = omp_get_wtime();
        wrong |= npb_main();
        printf("call %d %.6f\n", i, omp_get_wtime() - start);
    }
    return wrong;
}
