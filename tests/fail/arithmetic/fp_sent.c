// A SIGFPE sent by a process is not reported as a division.
// signal: 8
#include <signal.h>
#include <unistd.h>
int main(void) {
  kill(getpid(), SIGFPE);
  pause();
}
