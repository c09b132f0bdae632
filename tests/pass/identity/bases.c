// `dladdr` and `dl_iterate_phdr` agree: each address of the program lies in a segment of one object, whose lowest segment begins at
// the base that `dladdr` returns. A library for backtraces computes offsets from both.
// flags: -Wl,--export-dynamic
// levels: O0 O2
// stdout: ok
#define _GNU_SOURCE
#include "../../check.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

int variable = 3;
const int constant[4] = {1, 2, 3, 4};
int zeros[10000];
__attribute__((noinline)) int exported(int x) { return x * variable + constant[x & 3]; }
__attribute__((weak)) int weak_one(void) { return zeros[1]; }
static int callback(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

struct query {
  const char *address;
  int found;
  unsigned long lowest, bias;
  unsigned flags;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
  struct query *q = data;
  unsigned long lowest = -1ul;
  int here = 0;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    if (h->p_type != PT_LOAD)
      continue;
    const char *start = (const char *)info->dlpi_addr + h->p_vaddr;
    if ((unsigned long)start < lowest)
      lowest = (unsigned long)start & -4096ul;
    if (q->address >= start && q->address < start + h->p_memsz) {
      here++;
      q->flags = h->p_flags;
    }
  }
  if (here) {
    q->found += here;
    q->lowest = lowest;
    q->bias = info->dlpi_addr;
  }
  return 0;
}

static struct query agrees(const void *address) {
  struct query q = {address, 0, 0, 0, 0};
  Dl_info info = {0};
  CHECK(dladdr(address, &info) != 0);
  dl_iterate_phdr(visit, &q);
  CHECK(q.found == 1);
  CHECK((unsigned long)info.dli_fbase == q.lowest);
  CHECK(!memcmp(info.dli_fbase, ELFMAG, SELFMAG));
  return q;
}

int main(void) {
  CHECK(agrees((void *)main).flags & PF_X);
  CHECK(agrees((void *)exported).flags & PF_X);
  CHECK(agrees((void *)weak_one).flags & PF_X);
  CHECK(agrees((void *)callback).flags & PF_X);
  CHECK(agrees(&variable).flags & PF_W);
  CHECK(agrees(&zeros[9999]).flags & PF_W);
  CHECK(!(agrees(constant).flags & PF_W));
  agrees((void *)dlsym(RTLD_DEFAULT, "puts"));
  CHECK(exported(weak_one() + 1) == 5);
  return DONE();
}
