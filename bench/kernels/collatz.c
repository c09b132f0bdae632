/* Collatz chains: 64-bit integer arithmetic with unpredictable branches. */
#include <stdio.h>

int main(void) {
    unsigned long total = 0;
    for (unsigned long i = 1; i < 200000; i++) {
        unsigned long n = i, steps = 0;
        while (n != 1) {
            n = n & 1 ? 3 * n + 1 : n >> 1;
            steps++;
        }
        total += steps;
    }
    printf("%lu\n", total);
    return 0;
}
