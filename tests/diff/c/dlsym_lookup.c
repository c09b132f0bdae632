// exit: 4
// flags: -D_GNU_SOURCE -ldl
// dlsym and dladdr from the guest: libc and libm symbols found by name and called.
#include <stdio.h>
#include <dlfcn.h>
int main(void) {
  size_t (*len)(const char *) = (size_t (*)(const char *))dlsym(RTLD_DEFAULT, "strlen");
  void *h = dlopen("libm.so.6", RTLD_NOW);
  double (*c)(double) = (double (*)(double))dlsym(h, "floor");
  int (*pf)(const char *, ...) = (int (*)(const char *, ...))dlsym(RTLD_DEFAULT, "printf");
  void *none = dlsym(RTLD_DEFAULT, "surely_not_defined_anywhere");
  pf("%zu %g %d\n", len("seven"), c(2.75), none == 0);
  return (int)len("four");
}
