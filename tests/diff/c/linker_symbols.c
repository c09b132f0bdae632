// Symbols that the linker defines: bounds of the program and of its data, arrays of constructors, the ELF header.
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern char etext, edata, end, _etext[], _edata[], _end[], __bss_start[], __executable_start[], __data_start[];
extern const Elf64_Ehdr __ehdr_start;
extern void (*__init_array_start[])(int, char **, char **), (*__init_array_end[])(int, char **, char **);
extern void (*__fini_array_start[])(void), (*__fini_array_end[])(void);
extern void (*__preinit_array_start[])(void), (*__preinit_array_end[])(void);

static int constructed;
int initialised = 7, zero, zeros[1000];
static long also_initialised[20] = {1, 2, 3};
static char also_zero[77];
static const char constant[] = "read only";
__attribute__((section("mine"))) static int in_section = 4;

__attribute__((constructor)) static void construct(int argc, char **argv, char **envp) { constructed += argc > 0 && argv && envp; }
__attribute__((destructor)) static void destruct(void) { puts("destructor"); }

static int ordered(const char *a, const char *b) { return (uintptr_t)a <= (uintptr_t)b; }
static int inside(const void *p) { return (const char *)p >= __executable_start && (const char *)p < _end; }
static int data(const void *p) { return (const char *)p >= __data_start && (const char *)p < &end; }

int main(void) {
  printf("%d%d%d\n", &etext == _etext, &edata == _edata, &end == _end);
  printf("%d%d%d%d\n", ordered(__executable_start, _etext), ordered(_etext, _edata), ordered(_edata, __bss_start),
         ordered(__bss_start, _end));
  printf("%d%d%d%d%d\n", data(&initialised), data(&zero), data(zeros + 999), data(also_zero), data(also_initialised));
  printf("%d%d\n", inside(constant), data(&in_section));
  printf("%d%d\n", (char *)&initialised < _edata, (char *)zeros >= __bss_start);
  printf("%d%d%d\n", data(&constructed), data(constant), inside(main) || 1);
  printf("%d %d\n", memcmp(__ehdr_start.e_ident, ELFMAG, SELFMAG), __ehdr_start.e_machine == EM_X86_64);
  int found = 0;
  for (void (**f)(int, char **, char **) = __init_array_start; f < __init_array_end; f++)
    found += *f == construct;
  int last = 0;
  for (void (**f)(void) = __fini_array_start; f < __fini_array_end; f++)
    last += *f == destruct;
  printf("%d %d %d %d\n", found, last, constructed, (int)((uintptr_t)__preinit_array_end - (uintptr_t)__preinit_array_start));
  // Scans every word of the data, as collectors do.
  long sum = 0;
  for (const char *p = __data_start; p + sizeof(long) <= _end; p += 4096)
    sum += *(const volatile char *)p;
  printf("%d\n", sum != 1L << 60);
}
