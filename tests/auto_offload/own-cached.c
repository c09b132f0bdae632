// The same as own.c without thread-local storage: the runtime keeps the threads' copies.
// flags: -g -fnoopenmp-use-tls
#include "own.c"
