// A SIGFPE that is sent is nobody's division.
// signal: 8
#include <signal.h>
#include <unistd.h>
int main(void) {
  kill(getpid(), SIGFPE);
  pause();
}
