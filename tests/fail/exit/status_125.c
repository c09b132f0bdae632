// The guest's own status 125 is passed through without a message.
// exit: 125
// stdout: mine
#include <stdio.h>
int main(void) { puts("mine"); return 125; }
