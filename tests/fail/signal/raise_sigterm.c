// SIGTERM raised by the program.
// signal: 15
// stdout: before
#include <signal.h>
#include <stdio.h>
int main(void) { puts("before"), fflush(stdout); raise(SIGTERM); puts("after"); return 0; }
