// The guest's own status 125 is passed through without a message.
// levels: O0 O2
// exit: 125
// stdout: mine
#include <stdio.h>
int main(void) { puts("mine"); return 125; }
