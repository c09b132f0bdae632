// quick_exit(5) runs at_quick_exit handlers and no atexit handlers.
// levels: O0 O2
// exit: 5
// stdout: quick
#include <stdio.h>
#include <stdlib.h>
static void slow(void) { puts("slow"); }
static void quick(void) { puts("quick"), fflush(stdout); }
int main(void) { atexit(slow); at_quick_exit(quick); quick_exit(5); }
