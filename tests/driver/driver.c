/* A mock CUDA driver without a GPU, for tests of a driver's failures.
 *
 * Memory of the devices is the host's; a launch runs nothing. `MOCK` selects the failure: `memory=N` (no
 * more than N bytes at a time), `paged=1` (more than that in managed memory), `launch=CODE`, `kernel=CODE`
 * (reported at synchronization), `to=CODE`, `from=CODE` (copies), `context=CODE`, `module=CODE`, `link=CODE`,
 * `init=CODE`. There are `devices=N`, and with `only=D` the others work. Built by the harness.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Code;
typedef uint64_t Address;

static long setting(const char *key, long otherwise) {
  const char *mock = getenv("MOCK"), *found = mock ? strstr(mock, key) : NULL;
  return found ? atol(found + strlen(key)) : otherwise;
}

static __thread int current;

/* A failure of the current device. */
static Code failure(const char *key) {
  return setting("only=", current) == current ? (Code)setting(key, 0) : 0;
}

Code cuInit(unsigned flags) { (void)flags; return (Code)setting("init=", 0); }
Code cuDriverGetVersion(int *v) { *v = 13000; return 0; }
Code cuDeviceGetCount(int *n) { *n = (int)setting("devices=", 1); return 0; }
Code cuDeviceGet(int *d, int n) { *d = n; return 0; }
Code cuDeviceGetName(char *name, int size, int d) { (void)d; snprintf(name, (size_t)size, "mock"); return 0; }
Code cuDeviceGetUuid(unsigned char *uuid, int d) {
  for (int i = 0; i < 16; i++) uuid[i] = (unsigned char)(17 * i + d);
  return 0;
}
Code cuDeviceGetAttribute(int *v, int what, int d) {
  (void)d;
  switch (what) {
  case 1: *v = 1024; break;
  case 5: *v = 1 << 30; break;
  case 10: *v = 32; break;
  case 16: *v = 4; break;
  case 39: *v = 2048; break;
  case 75: *v = 9; break;
  case 76: *v = 0; break;
  case 89: *v = (int)setting("paged=", 0); break;
  default: *v = 65536;
  }
  return 0;
}
Code cuDeviceTotalMem_v2(size_t *n, int d) { (void)d; *n = 1u << 30; return 0; }
static int launched[8];
Code cuDevicePrimaryCtxRetain(void **c, int d) {
  current = d;
  *c = (void *)(intptr_t)(d + 1);
  return failure("context=");
}
Code cuCtxSetCurrent(void *c) { current = c ? (int)(intptr_t)c - 1 : 0; return 0; }
Code cuCtxSynchronize(void) { return launched[current] ? failure("kernel=") : 0; }
Code cuMemAlloc_v2(Address *a, size_t n) {
  if (setting("only=", current) == current && (long)n > setting("memory=", 1L << 40)) return 2;
  *a = (Address)malloc(n);
  return 0;
}
Code cuMemFree_v2(Address a) { free((void *)a); return 0; }
Code cuMemHostAlloc(void **p, size_t n, unsigned f) { (void)f; *p = malloc(n); return 0; }
Code cuMemFreeHost(void *p) { free(p); return 0; }
Code cuMemGetInfo_v2(size_t *left, size_t *total) { *left = *total = (size_t)setting("memory=", 1L << 40); return 0; }
Code cuMemAllocManaged(Address *a, size_t n, unsigned f) {
  (void)f;
  if (!setting("paged=", 0)) return cuMemAlloc_v2(a, n);
  *a = (Address)malloc(n);
  return 0;
}
Code cuMemAdvise(Address a, size_t n, int advice, int d) { (void)a, (void)n, (void)advice, (void)d; return 0; }
Code cuMemHostRegister_v2(void *p, size_t n, unsigned f) { (void)p, (void)n, (void)f; return 0; }
Code cuMemHostUnregister(void *p) { (void)p; return 0; }
Code cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t n, void *s) { (void)s; memcpy((void *)to, from, n); return failure("to="); }
Code cuMemcpyDtoHAsync_v2(void *to, Address from, size_t n, void *s) { (void)s; memcpy(to, (void *)from, n); return failure("from="); }
Code cuMemcpyDtoDAsync_v2(Address to, Address from, size_t n, void *s) { (void)s; memcpy((void *)to, (void *)from, n); return 0; }
Code cuMemsetD8Async(Address to, unsigned char v, size_t n, void *s) { (void)s; memset((void *)to, v, n); return 0; }
Code cuStreamCreate(void **s, unsigned f) { (void)f; *s = (void *)2; return 0; }
Code cuStreamSynchronize(void *s) { (void)s; return cuCtxSynchronize(); }
Code cuStreamQuery(void *s) { (void)s; return cuCtxSynchronize(); }
Code cuStreamWaitEvent(void *s, void *e, unsigned f) { (void)s, (void)e, (void)f; return 0; }
Code cuEventCreate(void **e, unsigned f) { (void)f; *e = (void *)3; return 0; }
Code cuEventRecord(void *e, void *s) { (void)e, (void)s; return 0; }
Code cuEventSynchronize(void *e) { (void)e; return 0; }
Code cuModuleLoadDataEx(void **m, const void *d, unsigned n, int *o, void **v) { (void)d, (void)n, (void)o, (void)v; *m = (void *)4; return failure("module="); }
Code cuModuleUnload(void *m) { (void)m; return 0; }
Code cuModuleGetFunction(void **f, void *m, const char *name) { (void)m, (void)name; *f = (void *)5; return 0; }
Code cuModuleGetGlobal_v2(Address *a, size_t *n, void *m, const char *name) { (void)a, (void)n, (void)m, (void)name; return 500; }
Code cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int b, size_t s) { (void)f, (void)b, (void)s; *n = 16; return 0; }
Code cuFuncSetAttribute(void *f, int a, int v) { (void)f, (void)a, (void)v; return 0; }
Code cuFuncGetAttribute(int *v, int a, void *f) { (void)a, (void)f; *v = 1024; return 0; }
Code cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned s, void *stream, void **p, void **x) {
  (void)f, (void)a, (void)b, (void)c, (void)d, (void)e, (void)g, (void)s, (void)stream, (void)p, (void)x;
  launched[current] = 1;
  return failure("launch=");
}
Code cuLinkCreate_v2(unsigned n, int *o, void **v, void **l) {
  if (n >= 1 && o[0] == 5 && setting("link=", 0))
    strcpy(v[0], "ptxas fatal: the mock takes no PTX");
  *l = (void *)6;
  return 0;
}
Code cuLinkAddData_v2(void *l, int k, void *d, size_t n, const char *name, unsigned c, int *o, void **v) {
  (void)l, (void)k, (void)d, (void)n, (void)name, (void)c, (void)o, (void)v;
  return (Code)setting("link=", 0);
}
Code cuLinkComplete(void *l, void **d, size_t *n) { (void)l; static char code[] = "code"; *d = code; *n = sizeof code; return 0; }
Code cuLinkDestroy(void *l) { (void)l; return 0; }
Code cuGetErrorName(Code c, const char **t) { (void)c; *t = "CUDA_ERROR_MOCK"; return 0; }
Code cuGetErrorString(Code c, const char **t) { (void)c; *t = "a mocked error"; return 0; }
