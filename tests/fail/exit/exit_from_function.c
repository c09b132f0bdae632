// exit(3) deep in serial calls.
// levels: O0 O2
// exit: 3
// stdout: out
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static void down(int n) { if (n == 0) { printf("out\n"); exit(3); } down(n - 1); }
int main(void) { down(20); puts("not reached"); return 0; }
