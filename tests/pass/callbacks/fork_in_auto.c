// A child process made by fork while code is compiled beside the program: parent and child compute
// the same with what was compiled before and what is called for the first time after.
// stdout: ok
// options: --tier=auto
// levels: O0 O2
#include "fork_with_machine_code.c"
