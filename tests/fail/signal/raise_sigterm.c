// SIGTERM raised by the program.
// levels: O0 O2
// signal: 15
// stdout: before
#include <signal.h>
#include <stdio.h>
int main(void) { puts("before"), fflush(stdout); raise(SIGTERM); puts("after"); return 0; }
