// Functions of the benchmark of calls: an empty one, and one that calls a function of the C library.
#include <stdlib.h>

int nothing(void) { return 0; }
int calls_library(int n) { return n ? abs(rand()) : n; }
