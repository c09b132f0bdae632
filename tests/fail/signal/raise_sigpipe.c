// SIGPIPE has its default action, not the ignored one that Rust programs start with.
// signal: 13
#include <signal.h>
int main(void) { return raise(SIGPIPE); }
