// Six million tail calls through pointers while compiled code takes over: whichever tier calls which, the
// stack does not grow.
// options: --tier=auto
// stdout: 1739876632
#define TIMES 1000000
#include "../../diff/c/tail_calls_musttail.c"
