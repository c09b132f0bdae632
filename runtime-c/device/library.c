/* C and C++ library functions that programs call, implemented on the four functions that a
 * device provides: vprintf, malloc, free and __assertfail. */
#include "device.h"

ENTRY void __assert_fail(const char *expression, const char *file, uint32_t line,
                         const char *function) {
  __assertfail(expression, file, line, function, 1);
}
ENTRY int32_t puts(const char *text) {
  struct {
    const char *text;
  } arguments = {text};
  return vprintf("%s\n", &arguments);
}
ENTRY int32_t putchar(int32_t character) {
  struct {
    int32_t character;
  } arguments = {character};
  vprintf("%c", &arguments);
  return character;
}
ENTRY void *calloc(size_t count, size_t size) {
  if (size != 0 && count > (size_t)-1 / size)
    return NULL;
  char *memory = malloc(count * size);
  if (memory)
    for (size_t i = 0; i < count * size; i++)
      memory[i] = 0;
  return memory;
}
ENTRY __attribute__((noreturn)) void abort(void) { __builtin_trap(); }
ENTRY __attribute__((noreturn)) void exit(int32_t status) {
  (void)status;
  __builtin_trap();
}

ENTRY size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length])
    length++;
  return length;
}
ENTRY int32_t strcmp(const char *a, const char *b) {
  while (*a && *a == *b)
    a++, b++;
  return (int32_t)(uint8_t)*a - (int32_t)(uint8_t)*b;
}
ENTRY int32_t memcmp(const void *a, const void *b, size_t size) {
  const uint8_t *x = a, *y = b;
  for (size_t i = 0; i < size; i++)
    if (x[i] != y[i])
      return (int32_t)x[i] - (int32_t)y[i];
  return 0;
}

/* A device has no exceptions, so an operator new that finds no memory ends the kernel. */
ENTRY void *_Znwm(size_t size) { return allocate(size, "operator new"); }
ENTRY void *_Znam(size_t size) { return allocate(size, "operator new[]"); }
ENTRY void _ZdlPv(void *memory) { free(memory); }
ENTRY void _ZdaPv(void *memory) { free(memory); }
ENTRY void _ZdlPvm(void *memory, size_t size) {
  (void)size;
  free(memory);
}
ENTRY void _ZdaPvm(void *memory, size_t size) {
  (void)size;
  free(memory);
}
ENTRY __attribute__((noreturn)) void __cxa_pure_virtual(void) { __builtin_trap(); }
