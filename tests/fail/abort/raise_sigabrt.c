// SIGABRT raised by the program itself.
// levels: O0 O2
// signal: 6
#include <signal.h>
int main(void) { return raise(SIGABRT); }
