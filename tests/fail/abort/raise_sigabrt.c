// SIGABRT raised by the program itself.
// signal: 6
#include <signal.h>
int main(void) { return raise(SIGABRT); }
