/* Sieve of Eratosthenes: byte loads and stores, integer adds, branches. */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    enum { N = 6000000 };
    unsigned char *composite = calloc(N + 1, 1);
    int primes = 0;
    for (int i = 2; i <= N; i++) {
        if (composite[i]) continue;
        primes++;
        for (long j = (long)i * i; j <= N; j += i) composite[j] = 1;
    }
    printf("%d\n", primes);
    free(composite);
    return 0;
}
