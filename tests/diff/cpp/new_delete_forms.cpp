// exit: 3
// new and delete in all forms: placement, arrays with cookies, nothrow, aligned, replaced global operators.
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <new>
static int news, dels;
static bool counting;
void *operator new(std::size_t n) {
  if (counting) news++;
  void *p = std::malloc(n ? n : 1);
  if (!p) throw std::bad_alloc();
  return p;
}
void operator delete(void *p) noexcept {
  if (counting) dels++;
  std::free(p);
}
void operator delete(void *p, std::size_t) noexcept {
  if (counting) dels++;
  std::free(p);
}
struct T {
  static int n;
  int v = 7;
  T() { n++; }
  ~T() { n--; }
};
int T::n;
struct alignas(64) Al {
  char c[100];
};
int main() {
  counting = true;
  int *volatile i = new int(5);
  T *volatile a = new T[10];
  Al *volatile al = new Al;
  T *volatile nt = new (std::nothrow) T;
  alignas(T) unsigned char buf[sizeof(T)];
  T *pl = new (buf) T;
  int alive = T::n;
  bool ok = reinterpret_cast<std::uintptr_t>(al) % 64 == 0;
  int iv = *i, pv = pl->v;
  pl->~T();
  delete i;
  delete[] a;
  delete al;
  delete nt;
  counting = false;
  std::printf("%d %d %d %d %d %d %d\n", alive, ok, iv, pv, T::n, news, dels);
  volatile std::size_t huge = SIZE_MAX / 2;
  try {
    char *volatile p = static_cast<char *>(::operator new(huge));
    (void)p;
    std::puts("wrong");
  } catch (const std::bad_alloc &) { std::puts("bad_alloc"); }
  return news;
}
