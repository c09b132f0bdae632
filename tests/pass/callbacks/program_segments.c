// dl_iterate_phdr lists the program first, without a name: its variables lie in a writable segment, its
// constants in a read-only one, as a collector expects that searches them for roots. Libraries follow; a result
// other than 0 ends the iteration; the callback may query the loader.
// levels: O0 O2
// flags: -D_GNU_SOURCE -ldl
// stdout: ok
#include "../../check.h"
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *next;
  long value;
};
static struct node *in_bss;
static struct node *in_data = (struct node *)1;
struct node *visible[3] = {0, (struct node *)2, 0};
const long table[4] = {3, 1, 4, 1};
__attribute__((aligned(64))) static char large[100000];

struct found {
  const void *address;
  int objects, first, flags;
};

static int look(struct dl_phdr_info *info, size_t size, void *data) {
  struct found *f = data;
  CHECK(size >= sizeof *info || size >= offsetof(struct dl_phdr_info, dlpi_phnum) + sizeof info->dlpi_phnum);
  CHECK(f->objects > 0 || !info->dlpi_name[0]);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    ElfW(Addr) start = info->dlpi_addr + p->p_vaddr;
    if (p->p_type == PT_LOAD && (ElfW(Addr))f->address - start < p->p_memsz) {
      f->first = f->objects == 0;
      f->flags = p->p_flags;
    }
  }
  f->objects++;
  return 0;
}

static struct found find(const void *address) {
  struct found f = {address, 0, 0, 0};
  CHECK(dl_iterate_phdr(look, &f) == 0);
  CHECK(f.objects > 1);
  return f;
}

// Counts the words of the program's data that equal a value, as a collector does.
struct scan {
  uintptr_t value;
  int seen;
};

static int scan(struct dl_phdr_info *info, size_t size, void *data) {
  struct scan *s = data;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
      continue;
    uintptr_t start = (info->dlpi_addr + p->p_vaddr + 7) & ~(uintptr_t)7;
    uintptr_t end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
    for (; start + 8 <= end; start += 8)
      s->seen += *(volatile uintptr_t *)start == ~s->value;
  }
  return 1;
}

static int stop(struct dl_phdr_info *info, size_t size, void *data) {
  (void)info;
  (void)size;
  CHECK(dlsym(RTLD_DEFAULT, "malloc") != 0);
  return ++*(int *)data == 2 ? 42 : 0;
}

static volatile uintptr_t kept[2];

int main(void) {
  static int counted;
  const void *variables[] = {&in_bss, &in_data, &visible[1], &large[99999], &counted};
  for (int i = 0; i < 5; i++) {
    struct found f = find(variables[i]);
    CHECK(f.first && (f.flags & PF_W));
  }
  struct found f = find(&table[2]);
  CHECK(f.first && !(f.flags & PF_W));
  f = find(malloc);
  CHECK(!f.first);
  int on_stack = 0;
  f = find(&on_stack);
  CHECK(!f.flags);

  in_bss = malloc(sizeof *in_bss);
  in_bss->next = in_data;
  kept[1] = ~(uintptr_t)in_bss;
  struct scan s = {(uintptr_t)in_bss, 0};
  CHECK(dl_iterate_phdr(scan, &s) == 1);
  CHECK(s.seen == 1);
#pragma omp parallel num_threads(4)
  {
    int calls = 0;
    CHECK(dl_iterate_phdr(stop, &calls) == 42 && calls == 2);
    CHECK(find(&in_bss).first);
  }
  counted = (int)strlen(large);
  CHECK(counted == 0);
  printf("ok\n");
  return 0;
}
