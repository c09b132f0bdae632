// dlsym, dlopen(NULL), dladdr and backtrace_symbols find the program's own symbols; RTLD_NEXT finds the next definitions.
// flags: -rdynamic -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int exported(int x) { return x * 7; }
__attribute__((noinline)) static int hidden(int x) { return x + 1; }
int table[3] = {4, 5, 6};
const char message[] = "message";
__thread int mine = 5;
int weak_one(void) __attribute__((weak));
int weak_one(void) { return 8; }
extern int another(int) __attribute__((alias("exported")));

static int wrapped;
char *getenv(const char *name) {
  static char *(*real)(const char *);
  if (!real)
    real = (char *(*)(const char *))dlsym(RTLD_NEXT, "getenv");
  wrapped++;
  return real(name);
}
double cos(double x) {
  double (*real)(double) = (double (*)(double))dlsym(RTLD_NEXT, "cos");
  wrapped++;
  return real(x) + 100;
}

static void *thread(void *p) {
  int *other = dlsym(RTLD_DEFAULT, "mine");
  *other = 9;
  return (void *)(long)(other == &mine && other != p);
}

int main(void) {
  void *whole = dlopen(NULL, RTLD_NOW);
  int (*f)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "exported");
  int (*g)(int) = (int (*)(int))dlsym(whole, "another");
  int *t = dlsym(whole, "table");
  printf("%d %d %d %d %d\n", f(3), g(2), t[2], f == exported, t == table);
  printf("%d %s %d\n", dlsym(whole, "hidden") != NULL, (char *)dlsym(whole, "message"),
         ((int (*)(void))dlsym(whole, "weak_one"))());
  printf("%d\n", dlsym(RTLD_DEFAULT, "no such symbol") == NULL && dlerror() != NULL);
  int *own = dlsym(RTLD_DEFAULT, "mine");
  pthread_t id;
  void *result;
  pthread_create(&id, NULL, thread, own);
  pthread_join(id, &result);
  printf("%d %ld %d\n", own == &mine, (long)result, mine);
  setenv("SOME_NAME", "value", 1);
  volatile double zero = 0;
  const char *value = getenv("SOME_NAME");
  printf("%s %.1f %d\n", value, cos(zero), wrapped >= 2);
  int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "puts");
  next("next");
  printf("%d %d\n", dlsym(RTLD_NEXT, "exported") == NULL, dlsym(RTLD_DEFAULT, "puts") != NULL);
  printf("%d\n", dlvsym(RTLD_NEXT, "puts", "GLIBC_2.2.5") != NULL);
  Dl_info info;
  printf("%d", dladdr((void *)exported, &info));
  int same = info.dli_sname && (!strcmp(info.dli_sname, "exported") || !strcmp(info.dli_sname, "another"));
  printf(" %d %d %d", same, info.dli_saddr == (void *)exported, info.dli_fname != NULL);
  printf(" %d %s\n", dladdr(&table[1], &info), info.dli_sname);
  printf("%d %d\n", info.dli_saddr == table, info.dli_fbase != NULL);
  const ElfW(Sym) *symbol = NULL;
  printf("%d", dladdr1((void *)exported, &info, (void **)&symbol, RTLD_DL_SYMENT));
  printf(" %d\n", symbol && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC);
  printf("%d", dladdr((void *)puts, &info));
  printf(" %d\n", info.dli_fname && strstr(info.dli_fname, "libc") != NULL);
  void *list[2] = {(void *)exported, (void *)puts};
  char **names = backtrace_symbols(list, 2);
  printf("%d %d\n", strstr(names[0], "exported") || strstr(names[0], "another"), strstr(names[1], "libc") != NULL);
  free(names);
  fflush(stdout);
  FILE *file = tmpfile();
  backtrace_symbols_fd(list, 2, fileno(file));
  rewind(file);
  char text[512];
  int lines = 0;
  while (fgets(text, sizeof text, file))
    lines++;
  printf("%d %d\n", lines, hidden(1));
}
