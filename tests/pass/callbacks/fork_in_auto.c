// A child process made by fork while code is compiled concurrently: parent and child compute
// the same with code compiled before and functions first called after.
// stdout: ok
// options: --tier=auto
// levels: O0 O2
#include "fork_with_machine_code.c"
