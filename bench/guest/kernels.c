/* Guest functions of the criterion benches: one pattern of instructions each. */

double dot(long n, const double *x, const double *y) {
    double sum = 0;
#pragma clang loop vectorize(disable) unroll(disable)
    for (long i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

unsigned long collatz(unsigned long n) {
    unsigned long steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n >> 1;
        steps++;
    }
    return steps;
}

long fork_join(long times) {
    long sum = 0;
    for (long i = 0; i < times; i++) {
#pragma omp parallel reduction(+ : sum)
        sum += 1;
    }
    return sum;
}

int nothing(void) { return 0; }
