// glibc header macros: FD_SET, htons, sigset operations, isdigit tables, offsetof, WIFEXITED, INT64_C, va_arg-free.
#include <stdio.h>
#include <sys/select.h>
#include <arpa/inet.h>
#include <ctype.h>
#include <sys/wait.h>
#include <stdint.h>
#include <endian.h>
#include <unistd.h>
int main(void) {
  fd_set s;
  FD_ZERO(&s);
  FD_SET(3, &s);
  FD_SET(77, &s);
  FD_CLR(3, &s);
  printf("%d %d %x %x %llx %d %d\n", !!FD_ISSET(77, &s), !!FD_ISSET(3, &s), htons(0x1234), ntohl(0x01020304),
         (unsigned long long)htobe64(INT64_C(0x0102030405060708)), !!isalnum('_'), tolower('Q'));
  fflush(stdout);
  int st;
  pid_t p = fork();
  if (p == 0) _exit(9);
  waitpid(p, &st, 0);
  printf("%d %d\n", WIFEXITED(st), WEXITSTATUS(st));
  return 0;
}
