// SIGPIPE has its default action, not the ignored one that Rust programs start with.
// levels: O0 O2
// signal: 13
#include <signal.h>
int main(void) { return raise(SIGPIPE); }
