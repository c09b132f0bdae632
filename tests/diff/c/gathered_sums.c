/* Sums over gathered values: loops whose loads are reordered (llvm/hoist_indices.cpp), and loops that must keep their order. */
#include <stdio.h>

enum { ROWS = 300, WIDTH = 11 };

static int start[ROWS + 1], column[ROWS * WIDTH];
static double element[ROWS * WIDTH], x[ROWS], y[ROWS];
static long next[ROWS], weight[ROWS];

/* One chain of additions, two values for each iteration once it is unrolled. */
static double row(int i)
{
    double sum = 0.0;
    for (int k = start[i]; k < start[i + 1]; k++)
        sum += element[k] * x[column[k]];
    return sum;
}

/* Indices of indices. */
static long twice(int i)
{
    long sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
        sum = 3 * sum + weight[next[column[k]]];
    return sum;
}

/* An index that is the previous value: nothing is known at the iteration's start. */
static long chase(long at, int steps)
{
    long sum = 0;
    for (int k = 0; k < steps; k++) {
        sum = 5 * sum + weight[at];
        at = next[at];
    }
    return sum;
}

/* Stores to memory that later iterations load. */
static double spread(int i)
{
    double sum = 0.0;
    for (int k = start[i]; k < start[i + 1]; k++) {
        sum += element[k] * x[column[k]];
        x[column[k]] = sum * 0.125;
    }
    return sum;
}

int main(void)
{
    int n = 0;
    for (int i = 0; i < ROWS; i++) {
        start[i] = n;
        for (int k = 0; k < i % WIDTH; k++, n++) {
            column[n] = (i * 7 + k * 31) % ROWS;
            element[n] = 1.0 / (1 + n % 97) - 0.5;
        }
        x[i] = 0.25 * (i % 13) - 1.0;
        next[i] = (i * 11 + 5) % ROWS;
        weight[i] = i * i % 101;
    }
    start[ROWS] = n;
    long whole = 0;
    for (int repeat = 0; repeat < 40; repeat++) {
#pragma omp parallel for reduction(+ : whole)
        for (int i = 0; i < ROWS; i++) {
            y[i] = row(i);
            whole += twice(i) % 1009 + chase(i, 1 + i % 19) % 1009;
        }
        for (int i = 0; i < ROWS; i++)
            x[i] = 0.5 * y[i] - x[i];
    }
    double sum = 0.0;
    for (int i = 0; i < ROWS; i++)
        sum += spread(i);
    printf("%ld %.17g\n", whole, sum);
    return 0;
}
