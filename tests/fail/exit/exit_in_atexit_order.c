// Handlers run in reverse order of registration, after main's status is fixed.
// levels: O0 O2
// exit: 4
// stdout: main
// stdout: second
// stdout: first
#include <stdio.h>
#include <stdlib.h>
static void first(void) { puts("first"); }
static void second(void) { puts("second"); }
int main(void) { atexit(first); atexit(second); puts("main"); return 4; }
