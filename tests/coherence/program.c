// A random program that tests the coherence of memory of host and devices. A generator (generate.rs) replaces the lines
// that begin with `//@` by random regions; this file has what all programs share.
//
// Its arguments are the first seed, the number of seeds, and a mask of the steps to perform (hexadecimal, all by default).
// Each seed is a sequence of steps on three lanes, which are separate sets of arrays. The program prints a checksum of
// all data for each. It is well defined: lanes share no data while several threads use them, regions have no races, and
// the state of each array says which copies are current, so that updates precede each access. Values are integers
// below 2^53, so results are exact in any order. TRACE=1 prints the steps.
#define _GNU_SOURCE
#ifdef _OPENMP
#include <omp.h>
#else
// One thread computes the reference.
#define omp_get_thread_num() 0
#define omp_get_num_threads() 1
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long Word;
typedef struct {
  Word state;
} Random;
static Word mix(Word z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}
static long draw(Random *r, Word below) {
  r->state += 0x9E3779B97F4A7C15u;
  return (long)(mix(r->state) % below);
}
static long least(long a, long b) { return a < b ? a : b; }

enum { UNSIGNED, LONG, DOUBLE };
enum { HEAP, PAGES, FIXED };
enum { LANES = 3, PER_TYPE = 3, ARRAYS = 3 * PER_TYPE, GLOBALS = 4, MOST = 20000 };
static const long SIZES[] = {sizeof(unsigned), sizeof(long), sizeof(double)};
//@sizes

// An array and its copies. It is present on the device while it is `held` (by enter data) or `scoped` (by a structured
// mapping or a declaration); `host` and `device` say which copies are current.
typedef struct {
  char *p;
  long n;
  int type, kind, held, scoped, host, device;
} Array;
typedef struct {
  Array arrays[ARRAYS];
  Word sum;
  int alone;
} Lane;
static Lane lanes[LANES];
static Array globals[GLOBALS];
// Arrays of the lanes in one variable for each type, or in variables of their own.
static unsigned fixed_unsigned[LANES][FIXED_UNSIGNED], own_unsigned[FIXED_UNSIGNED], other_unsigned[FIXED_UNSIGNED];
static long fixed_long[LANES][FIXED_LONG], own_long[FIXED_LONG], other_long[FIXED_LONG];
static double fixed_double[LANES][FIXED_DOUBLE], own_double[FIXED_DOUBLE], other_double[FIXED_DOUBLE];
static void *fixed(int lane, int type) {
  void *shared[] = {fixed_unsigned[lane], fixed_long[lane], fixed_double[lane]};
  void *own[] = {own_unsigned, own_long, own_double}, *other[] = {other_unsigned, other_long, other_double};
  return SHARED_VARIABLES || lane == 0 ? shared[type] : lane == 1 ? own[type] : other[type];
}
#pragma omp begin declare target
unsigned table[TABLE];
double vector[VECTOR];
long counter, factor;
#pragma omp end declare target
static int tracing;
#define TRACE(...) (tracing ? (void)fprintf(stderr, __VA_ARGS__) : (void)0)
#define LOW(x) ((long)(x) & 0xffff)

static int present(const Array *a) { return a->held + a->scoped > 0; }
static long bytes(const Array *a) { return a->n * SIZES[a->type]; }
static void update_to(Array *a, long first, long count) {
  char *p = a->p;
  long from = first * SIZES[a->type], len = count * SIZES[a->type];
#pragma omp target update to(p[from : len])
}
static void update_from(Array *a, long first, long count) {
  char *p = a->p;
  long from = first * SIZES[a->type], len = count * SIZES[a->type];
#pragma omp target update from(p[from : len])
}
// Makes the host's copy current.
static void to_host(Array *a) {
  if (present(a) && !a->host) update_from(a, 0, a->n), a->host = 1;
}
// Makes the device's copy current, if there is one.
static void to_device(Array *a) {
  if (present(a) && !a->device) update_to(a, 0, a->n), a->device = 1;
}
static void wrote_host(Array *a) { a->host = 1, a->device = 0; }
static void wrote_device(Array *a) { a->device = present(a), a->host = !present(a); }
static void enter(Array *a, int way) {
  char *p = a->p;
  long n = bytes(a);
  if (way == 1 && !present(a)) {
#pragma omp target enter data map(alloc : p[ : n])
    a->device = 0;
  } else if (way == 2) {
    to_host(a);
#pragma omp target enter data map(always, to : p[ : n])
    a->device = 1;
  } else {
    if (!present(a)) a->device = 1;
#pragma omp target enter data map(to : p[ : n])
  }
  a->held++;
}
static void hold(Array *a) {
  if (!present(a)) enter(a, 0);
}
static void leave(Array *a, int way) {
  char *p = a->p;
  long n = bytes(a);
  if (!a->held) return;
  int last = a->held == 1 && !a->scoped;
  if (way == 0) {
    to_host(a);
#pragma omp target exit data map(release : p[ : n])
  } else if (way == 1 && !a->scoped) {
    to_host(a);
#pragma omp target exit data map(delete : p[ : n])
    a->held = 1;
  } else if (way == 2) {
    to_device(a);
#pragma omp target exit data map(always, from : p[ : n])
    a->host = 1;
  } else {
    if (last) to_device(a), a->host = 1;
#pragma omp target exit data map(from : p[ : n])
  }
  if (--a->held + a->scoped == 0) a->device = 0;
}
static void leave_all(Array *a) {
  while (a->held) leave(a, 3);
}

static Array *pick(Lane *l, Random *r, int type, int *used) {
  Array *all[ARRAYS + GLOBALS];
  int count = 0;
  for (int i = 0; i < ARRAYS; i++)
    if (l->arrays[i].type == type && !(*used >> i & 1)) all[count++] = &l->arrays[i];
  for (int i = 0; i < GLOBALS; i++)
    if (l->alone && globals[i].type == type && !(*used >> (ARRAYS + i) & 1)) all[count++] = &globals[i];
  Array *a = all[draw(r, count)];
  int at = a >= globals && a < globals + GLOBALS ? ARRAYS + (int)(a - globals) : (int)(a - l->arrays);
  *used |= 1 << at;
  TRACE(" %d:%s%ld%s", at, a->kind == HEAP ? "h" : a->kind == PAGES ? "p" : "f", a->n, present(a) ? "+" : "");
  return a;
}
static Array *pick_any(Lane *l, Random *r) {
  int used = 0;
  return pick(l, r, (int)draw(r, 3), &used);
}
static void note(Lane *l, Word value) { l->sum = mix(l->sum * 31 + value); }
static void set(Array *a, long i, long value) {
  if (a->type == UNSIGNED) ((unsigned *)a->p)[i] = (unsigned)LOW(value);
  else if (a->type == LONG) ((long *)a->p)[i] = LOW(value);
  else ((double *)a->p)[i] = (double)LOW(value);
}
static long get(const Array *a, long i) {
  if (a->type == UNSIGNED) return ((unsigned *)a->p)[i];
  if (a->type == LONG) return ((long *)a->p)[i];
  return (long)((double *)a->p)[i];
}
static Word sum_of(const Array *a, long first, long count) {
  Word s = 0;
  for (long i = first; i < first + count; i++) s = s * 31 + (Word)get(a, i);
  return s;
}
static void fill(Array *a, long first, long count, long seed) {
  for (long i = first; i < first + count; i++) set(a, i, seed + i * 7);
}

//@regions

enum {
  S_REGION, S_PLAIN, S_WRITE, S_READ, S_ENTER, S_LEAVE, S_RESIZE, S_REMAP, S_ADVISE, S_PROTECT, S_FILE, S_COPY,
  S_SORT, S_DATA, S_OBJECT, S_LIST, S_DEVICE, S_STACK, S_SCRATCH, S_GLOBAL, S_THREADS, S_FORK, STEPS
};
//@weights
static void step(Lane *l, Random *r, int depth);

static long random_size(Random *r, int type) {
  switch (draw(r, 8)) {
  case 0: return 1 + draw(r, 8);
  case 1: return 20 + draw(r, 300);
  case 2: return 512 * (1 + draw(r, 8));
  case 3: return 1000 + draw(r, 1000);
  case 4: case 5: return 1500 + draw(r, 2500);
  case 6: return 3000 + draw(r, 3000);
  default: return (8192 + draw(r, 2000)) * (type == UNSIGNED ? 2 : 1);
  }
}
static size_t room(const Array *a) { return ((size_t)bytes(a) + 4095) & ~(size_t)4095; }
static char *new_pages(size_t size) {
  return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static void obtain(Array *a) { a->p = a->kind == PAGES ? new_pages(room(a)) : malloc(bytes(a)); }
static void discard(Array *a) {
  if (a->kind == PAGES) munmap(a->p, room(a));
  else if (a->kind == HEAP) free(a->p);
}

static void write_step(Lane *l, Random *r) {
  Array *a = pick_any(l, r);
  long first = draw(r, a->n), count = 1 + draw(r, a->n - first), seed = draw(r, 1000);
  if (draw(r, 3) == 0) first = 0, count = a->n;
  if (present(a) && draw(r, 2)) {
    // Both copies are current before and after.
    to_device(a), to_host(a);
    fill(a, first, count, seed);
    update_to(a, first, count);
  } else {
    if (count < a->n) to_host(a);
    if (draw(r, 3) == 0) memset(a->p + first * SIZES[a->type], 0, count * SIZES[a->type]);
    else fill(a, first, count, seed);
    wrote_host(a);
  }
}
static void read_step(Lane *l, Random *r) {
  Array *a = pick_any(l, r);
  long first = draw(r, a->n), count = 1 + draw(r, a->n - first);
  if (present(a) && a->device && !a->host) update_from(a, first, count);
  note(l, sum_of(a, first, count));
}
static void resize_step(Lane *l, Random *r) {
  Array *a = pick_any(l, r);
  if (a->kind != HEAP || a->scoped) return;
  leave_all(a);
  long old = a->n, size = random_size(r, a->type);
  if (draw(r, 3) == 0) {
    free(a->p);
    a->n = size;
    obtain(a);
    old = 0;
  } else {
    if (draw(r, 2)) size = old + draw(r, 2000);
    a->p = realloc(a->p, size * SIZES[a->type]);
    a->n = size;
    note(l, sum_of(a, 0, least(old, size)));
  }
  if (size > old) fill(a, old, size - old, draw(r, 1000));
  wrote_host(a);
}
static void remap_step(Lane *l, Random *r) {
  Array *a = pick_any(l, r);
  if (a->kind != PAGES || a->scoped) return;
  leave_all(a);
  long old = a->n, size = random_size(r, a->type);
  size_t before = room(a);
  a->n = size;
  switch (draw(r, 3)) {
  case 0: {
    char *next = new_pages(room(a));
    memcpy(next, a->p, least(old, size) * SIZES[a->type]);
    munmap(a->p, before);
    a->p = next;
    break;
  }
  case 1:
    munmap(a->p, before);
    obtain(a);
    old = 0;
    break;
  default: a->p = mremap(a->p, before, room(a), MREMAP_MAYMOVE);
  }
  if (size > old) fill(a, old, size - old, draw(r, 1000));
  wrote_host(a);
}
static void advise_step(Lane *l, Random *r) {
  Array *a = pick_any(l, r);
  if (a->kind != PAGES) return;
  madvise(a->p, room(a), MADV_DONTNEED);
  wrote_host(a);
}
static void protect_step(Lane *l, Random *r) {
  Array *a = pick_any(l, r);
  if (a->kind != PAGES) return;
  to_host(a);
  mprotect(a->p, room(a), PROT_READ);
  note(l, sum_of(a, 0, a->n));
  mprotect(a->p, room(a), PROT_READ | PROT_WRITE);
}
static void file_step(Lane *l, Random *r) {
  int used = 0, type = (int)draw(r, 3);
  Array *a = pick(l, r, type, &used), *b = pick(l, r, type, &used);
  long count = least(a->n, b->n), size = count * SIZES[type], got = 0;
  to_host(a), to_host(b);
  int fd = memfd_create("coherence", 0);
  if (draw(r, 2)) {
    got += write(fd, a->p, size);
    got += pread(fd, b->p, size, 0);
  } else if (draw(r, 2)) {
    struct iovec out[2] = {{a->p, size / 2}, {a->p + size / 2, size - size / 2}};
    struct iovec in[2] = {{b->p, size / 3}, {b->p + size / 3, size - size / 3}};
    got += writev(fd, out, 2);
    lseek(fd, 0, SEEK_SET);
    got += readv(fd, in, 2);
  } else {
    FILE *f = fdopen(fd, "w+");
    got += (long)fwrite(a->p, 1, size, f);
    rewind(f);
    got += (long)fread(b->p, 1, size, f);
    fclose(f), fd = -1;
  }
  if (fd >= 0) close(fd);
  note(l, (Word)(got == 2 * size));
  wrote_host(b);
}
static void copy_step(Lane *l, Random *r) {
  int used = 0, type = (int)draw(r, 3);
  Array *a = pick(l, r, type, &used), *b = pick(l, r, type, &used);
  long count = 1 + draw(r, least(a->n, b->n)), size = SIZES[type];
  long from = draw(r, a->n - count + 1), to = draw(r, b->n - count + 1);
  to_host(a), to_host(b);
  if (draw(r, 3)) memcpy(b->p + to * size, a->p + from * size, count * size);
  else memmove(b->p, b->p + to * size, count * size);
  note(l, (Word)(memcmp(a->p, b->p, least(a->n, b->n) * size) == 0));
  wrote_host(b);
}
static int by_unsigned(const void *a, const void *b) {
  unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
  return (x > y) - (x < y);
}
static int by_long(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}
static int by_double(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static void sort_step(Lane *l, Random *r) {
  Array *a = pick_any(l, r);
  to_host(a);
  qsort(a->p, least(a->n, 700), SIZES[a->type], a->type == UNSIGNED ? by_unsigned : a->type == LONG ? by_long : by_double);
  wrote_host(a);
}
static void data_step(Lane *l, Random *r, int depth) {
  int used = 0, count = 1 + (int)draw(r, 3);
  Array *a = pick(l, r, (int)draw(r, 3), &used), *b = pick(l, r, (int)draw(r, 3), &used);
  char *p = a->p, *q = b->p;
  long n = bytes(a), m = bytes(b);
  if (!present(a)) a->device = 1;
  if (!present(b)) b->device = 1;
  TRACE(" {\n");
#pragma omp target data map(tofrom : p[ : n]) map(to : q[ : m])
  {
    a->scoped++, b->scoped++;
    for (int i = 0; i < count; i++) step(l, r, depth + 1);
    // The end copies `a` if it is the last to hold it, and never `b`.
    to_host(b);
    a->scoped--, b->scoped--;
    if (!present(a)) a->scoped++, to_device(a), a->scoped--, a->host = 1, a->device = 0;
    if (!present(b)) b->device = 0;
  }
  TRACE(" }");
}
typedef struct {
  double *x;
  unsigned *y;
  long n, m, k, sum;
} Object;
static void object_step(Lane *l, Random *r, int depth) {
  int used = VIEW_USED, count = 1 + (int)draw(r, 3);
  Array *a = pick(l, r, DOUBLE, &used), *b = pick(l, r, UNSIGNED, &used);
  Object *o = malloc(sizeof *o);
  *o = (Object){(double *)a->p, (unsigned *)b->p, a->n, b->n, draw(r, 50), 0};
  if (!present(a)) a->device = 1;
  if (!present(b)) b->device = 1;
  TRACE(" {\n");
  // One construct: pointers are attached if they or what they point to become present by it.
#pragma omp target enter data map(to : o[ : 1], o->x[ : o->n], o->y[ : o->m])
  a->scoped++, b->scoped++;
  for (int i = 0; i < count; i++) {
    to_device(a), to_device(b);
    if (draw(r, 2)) {
#pragma omp target teams distribute parallel for map(present, alloc : o[ : 1])
      for (long j = 0; j < o->n; j++) o->x[j] = (double)LOW(o->x[j] + LOW(o->y[j % o->m]) * o->k);
      wrote_device(a);
    } else {
      long s = 0, n = o->n;
#pragma omp target teams distribute parallel for map(present, alloc : o[ : 1]) map(tofrom : s) reduction(+ : s)
      for (long j = 0; j < o->m; j++) s += LOW(o->y[j] += (unsigned)LOW(o->x[j % n]));
      wrote_device(b);
      note(l, (Word)s);
#pragma omp target map(present, alloc : o[ : 1])
      o->sum += s & 0xff;
    }
    if (draw(r, 2)) {
      o->k = draw(r, 50);
#pragma omp target update to(o->k)
    }
    if (draw(r, 2)) step(l, r, depth + 1);
  }
  to_host(a), to_host(b);
  a->scoped--, b->scoped--;
  if (!present(a)) a->device = 0;
  if (!present(b)) b->device = 0;
#pragma omp target update from(o->sum)
#pragma omp target exit data map(release : o[ : 1], o->x[ : o->n], o->y[ : o->m])
  note(l, (Word)o->sum + ((char *)o->x == a->p) + ((char *)o->y == b->p));
  free(o);
  TRACE(" }");
}
typedef struct Node {
  struct Node *next;
  long value;
  unsigned *data;
  long n;
} Node;
static void list_step(Lane *l, Random *r) {
  Node *head = NULL;
  int count = 1 + (int)draw(r, 4), rounds = 1 + (int)draw(r, 3);
  for (int i = 0; i < count; i++) {
    Node *q = malloc(sizeof *q);
    *q = (Node){head, i, NULL, 1 + draw(r, 40)};
    q->data = malloc(sizeof(unsigned) * q->n);
    for (long j = 0; j < q->n; j++) q->data[j] = (unsigned)(i + j);
    head = q;
  }
#pragma omp target enter data map(to : head[ : 1])
  for (Node *q = head; q; q = q->next) {
#pragma omp target enter data map(to : q->data[ : q->n])
    if (q->next) {
#pragma omp target enter data map(to : q->next[ : 1])
    }
  }
  for (int i = 0; i < rounds; i++) {
    long s = 0;
#pragma omp target map(present, alloc : head[ : 1]) map(tofrom : s)
    for (Node *q = head; q; q = q->next)
      for (long j = 0; j < q->n; j++) q->data[j] += (unsigned)q->value, q->value += 3, s += q->data[j];
    note(l, (Word)s);
    if (draw(r, 2)) {
      head->data[0] = (unsigned)i;
#pragma omp target update to(head->data[ : 1])
    }
  }
  for (Node *q = head; q; q = q->next) {
#pragma omp target update from(q->value)
#pragma omp target update from(q->data[ : q->n])
    for (long j = 0; j < q->n; j++) note(l, q->data[j] + (Word)q->value);
  }
  for (Node *q = head; q; q = q->next) {
#pragma omp target exit data map(release : q->data[ : q->n])
    if (q->next) {
#pragma omp target exit data map(release : q->next[ : 1])
    }
  }
#pragma omp target exit data map(release : head[ : 1])
  while (head) {
    Node *q = head;
    head = q->next;
    free(q->data), free(q);
  }
}
#ifndef _OPENMP
static void *device_alloc(size_t n) { return malloc(n); }
static void device_free(void *p) { free(p); }
static void to_buffer(void *to, void *from, size_t n) { memcpy(to, from, n); }
static void from_buffer(void *to, void *from, size_t n) { memcpy(to, from, n); }
#else
static int device(void) { return omp_get_default_device(); }
static void *device_alloc(size_t n) { return omp_target_alloc(n, device()); }
static void device_free(void *p) { omp_target_free(p, device()); }
static void to_buffer(void *to, void *from, size_t n) {
  omp_target_memcpy(to, from, n, 0, 0, device(), omp_get_initial_device());
}
static void from_buffer(void *to, void *from, size_t n) {
  omp_target_memcpy(to, from, n, 0, 0, omp_get_initial_device(), device());
}
#endif
static void device_step(Lane *l, Random *r) {
  int used = 0;
  Array *a = pick(l, r, LONG, &used), *b = pick(l, r, LONG, &used);
  long n = least(a->n, b->n), k = draw(r, 50), half = draw(r, n + 1);
  long *d = device_alloc(n * sizeof(long));
  if (!d) abort();
  to_host(a), to_host(b);
  to_buffer(d, a->p, half * sizeof(long));
  to_buffer(d + half, a->p + half * sizeof(long), (n - half) * sizeof(long));
#pragma omp target teams distribute parallel for is_device_ptr(d)
  for (long i = 0; i < n; i++) d[i] = LOW(d[i] + i * k);
  from_buffer(b->p, d, n * sizeof(long));
  wrote_host(b);
  device_free(d);
}
static void stack_step(Lane *l, Random *r) {
  long local[300], k = draw(r, 100), s = 0;
  for (int i = 0; i < 300; i++) local[i] = i * k;
  if (draw(r, 2)) {
#pragma omp target teams distribute parallel for map(tofrom : local)
    for (int i = 0; i < 300; i++) local[i] = LOW(local[i] * 3 + i);
  }
#pragma omp parallel for
  for (int i = 0; i < 300; i++) local[i] = LOW(local[i] + k * i);
  for (int i = 0; i < 300; i++) s = s * 3 + local[i] & 0xffffff;
  note(l, (Word)s);
}
// Uses an array that only the device has; afterwards neither copy counts.
static void scratch_step(Lane *l, Random *r) {
  int used = 0;
  Array *a = pick(l, r, DOUBLE, &used), *b = pick(l, r, LONG, &used);
  double *x = (double *)a->p;
  long *y = (long *)b->p, n = a->n, m = b->n, k = draw(r, 50);
  to_device(b);
#pragma omp target data map(alloc : x[ : n])
  {
#pragma omp target teams distribute parallel for
    for (long i = 0; i < n; i++) x[i] = (double)(i * k & 0xff);
#pragma omp target teams distribute parallel for map(tofrom : y[ : m])
    for (long i = 0; i < m; i++) y[i] = LOW(y[i] + (long)x[(i * 7 + k) % n]);
  }
  wrote_device(b);
  fill(a, 0, n, k);
  wrote_host(a);
}
static void global_step(Lane *l, Random *r) {
  Array *a = &globals[draw(r, GLOBALS)];
  long first = draw(r, a->n), count = 1 + draw(r, a->n - first);
  to_host(a);
  note(l, sum_of(a, first, count));
  fill(a, first, count, draw(r, 1000));
  wrote_host(a);
  if (draw(r, 2)) {
    factor = draw(r, 20);
    wrote_host(&globals[3]);
#pragma omp target update to(factor)
    globals[3].device = 1;
  }
}
typedef struct {
  Lane *lane;
  Word seed;
  int count;
} Work;
static void *work(void *argument) {
  Work *w = argument;
  Random r = {w->seed};
  for (int i = 0; i < w->count; i++) step(w->lane, &r, 1);
  return NULL;
}
static void threads_step(Random *r) {
  int n = 2 + (int)draw(r, LANES - 1);
  Work works[LANES];
  for (int i = 0; i < GLOBALS; i++) to_host(&globals[i]), to_device(&globals[i]);
  for (int i = 0; i < n; i++) {
    lanes[i].alone = 0;
    works[i] = (Work){&lanes[i], (Word)draw(r, 1000000), 1 + (int)draw(r, 3)};
  }
  TRACE(" %d threads {\n", n);
  if (draw(r, 2)) {
#pragma omp parallel num_threads(n)
    for (int i = omp_get_thread_num(); i < n; i += omp_get_num_threads()) work(&works[i]);
  } else {
    pthread_t ids[LANES];
    for (int i = 0; i < n; i++) pthread_create(&ids[i], NULL, work, &works[i]);
    for (int i = 0; i < n; i++) pthread_join(ids[i], NULL);
  }
  for (int i = 0; i < n; i++) lanes[i].alone = 1;
  TRACE(" }");
}
static void fork_step(Lane *l, Random *r) {
  Array *a = pick_any(l, r);
  to_host(a);
  pid_t child = fork();
  if (child == 0) _exit((int)(sum_of(a, 0, a->n) & 0x7f));
  int status = 0;
  waitpid(child, &status, 0);
  note(l, (Word)status);
}

static void step(Lane *l, Random *r, int depth) {
  int kind, region;
  do {
    long at = draw(r, TOTAL);
    for (kind = 0; at >= WEIGHTS[kind]; kind++) at -= WEIGHTS[kind];
    region = (int)draw(r, kind == S_PLAIN ? PLAIN : REGIONS);
  } while (((kind == S_DATA || kind == S_OBJECT) && depth >= 2) || (kind == S_THREADS && depth) ||
           ((kind == S_GLOBAL || kind == S_FORK) && !l->alone) ||
           (!l->alone && ((kind == S_REGION && REGION_SERIAL[region]) || (kind == S_PLAIN && PLAIN_SERIAL[region]))));
  TRACE("%*s%s", depth * 2 + 2, "", STEP_NAMES[kind]);
  switch (kind) {
  case S_REGION: TRACE(" region%d", region), regions[region](l, r); break;
  case S_PLAIN: TRACE(" plain%d", region), plain[region](l, r); break;
  case S_WRITE: write_step(l, r); break;
  case S_READ: read_step(l, r); break;
  case S_ENTER: enter(pick_any(l, r), (int)draw(r, 3)); break;
  case S_LEAVE: leave(pick_any(l, r), (int)draw(r, 4)); break;
  case S_RESIZE: resize_step(l, r); break;
  case S_REMAP: remap_step(l, r); break;
  case S_ADVISE: advise_step(l, r); break;
  case S_PROTECT: protect_step(l, r); break;
  case S_FILE: file_step(l, r); break;
  case S_COPY: copy_step(l, r); break;
  case S_SORT: sort_step(l, r); break;
  case S_DATA: data_step(l, r, depth); break;
  case S_OBJECT: object_step(l, r, depth); break;
  case S_LIST: list_step(l, r); break;
  case S_DEVICE: device_step(l, r); break;
  case S_STACK: stack_step(l, r); break;
  case S_SCRATCH: scratch_step(l, r); break;
  case S_GLOBAL: global_step(l, r); break;
  case S_THREADS: threads_step(r); break;
  case S_FORK: fork_step(l, r); break;
  }
  TRACE("\n");
}

static void begin(Word seed) {
  Random r = {seed};
  char *own[GLOBALS] = {(char *)table, (char *)vector, (char *)&counter, (char *)&factor};
  long sizes[GLOBALS] = {TABLE, VECTOR, 1, 1};
  int types[GLOBALS] = {UNSIGNED, DOUBLE, LONG, LONG};
  for (int i = 0; i < GLOBALS; i++) {
    globals[i] = (Array){own[i], sizes[i], types[i], FIXED, 0, 1, 1, 0};
    fill(&globals[i], 0, sizes[i], draw(&r, 100));
  }
  for (int t = 0; t < LANES; t++) {
    lanes[t].sum = 0, lanes[t].alone = 1;
    for (int i = 0; i < ARRAYS; i++) {
      Array *a = &lanes[t].arrays[i];
      int type = i / PER_TYPE, kind = i % PER_TYPE;
      *a = (Array){NULL, random_size(&r, type), type, kind, 0, 0, 1, 0};
      if (kind == FIXED) {
        a->p = fixed(t, type);
        a->n = type == UNSIGNED ? FIXED_UNSIGNED : type == LONG ? FIXED_LONG : FIXED_DOUBLE;
      } else
        obtain(a);
      fill(a, 0, a->n, draw(&r, 1000));
    }
  }
}
static Word end(void) {
  Word sum = 0;
  for (int i = 0; i < GLOBALS; i++) {
    while (globals[i].held) leave(&globals[i], 3);
    to_host(&globals[i]);
    sum = mix(sum + sum_of(&globals[i], 0, globals[i].n));
  }
  for (int t = 0; t < LANES; t++) {
    for (int i = 0; i < ARRAYS; i++) {
      Array *a = &lanes[t].arrays[i];
      leave_all(a);
      sum = mix(sum + sum_of(a, 0, a->n));
      discard(a);
    }
    sum = mix(sum + lanes[t].sum);
  }
  return sum;
}
int main(int argc, char **argv) {
  Word first = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
  Word mask = argc > 3 ? strtoul(argv[3], NULL, 16) : ~0ul;
  tracing = getenv("TRACE") != NULL;
  for (Word seed = first; seed < first + count; seed++) {
    begin(mix(seed));
    for (int i = 0; i < LENGTH; i++) {
      Random r = {mix(seed * 1000 + (Word)i)};
      Lane *l = &lanes[draw(&r, LANES)];
      if (!(mask >> i & 1)) continue;
      TRACE("%lu/%d lane %d:", seed, i, (int)(l - lanes));
      step(l, &r, 0);
    }
    printf("%lu %016lx\n", seed, end());
    fflush(stdout);
  }
  return 0;
}
