// .symver: an old version of a library's function under a name of the program's own.
#include <stdio.h>
#include <string.h>

__asm__(".symver old_memcpy, memcpy@GLIBC_2.2.5");
__asm__(".symver old_realpath,realpath@GLIBC_2.2.5");

void *old_memcpy(void *, const void *, size_t);
char *old_realpath(const char *, char *);

int main(void) {
  char from[] = "copied", to[16];
  old_memcpy(to, from, sizeof from);
  char *nothing = old_realpath("/", NULL);
  printf("%s %d\n", to, nothing == NULL);
}
