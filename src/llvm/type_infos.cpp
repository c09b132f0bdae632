// Tables for the executable's type infos, so that the loader need not bind four thousand of them to
// the C++ library.
//
// LLVM's classes have type infos, each of which refers to a virtual table of libstdc++. In an
// executable at a fixed address these are almost all of its relocations: a third of the loader's
// work, and a page to copy for each 4 KiB of constant data. Here the executable has tables of its
// own, which the linker binds, and fills them from the library. Only the executable is linked with
// this file (`build.rs`): in another program type infos may be needed earlier.

#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <exception>

namespace {
/// Words of the largest of these tables in the C++ ABI that GCC 3.4 and later have.
constexpr size_t WORDS = 11;
using Table = void *[WORDS];
} // namespace

#define TABLE(variable, symbol)                                                                    \
  extern "C" __attribute__((visibility("hidden"))) Table variable asm(symbol);                     \
  Table variable;
TABLE(class_table, "_ZTVN10__cxxabiv117__class_type_infoE")
TABLE(single_table, "_ZTVN10__cxxabiv120__si_class_type_infoE")
TABLE(multiple_table, "_ZTVN10__cxxabiv121__vmi_class_type_infoE")

/// Ends a call of a missing override in our own code or LLVM's. The guest's calls reach the
/// library's function.
extern "C" __attribute__((visibility("hidden"), noreturn)) void __cxa_pure_virtual() {
  std::terminate();
}

/// Copies what the C++ library has, as a copy relocation would.
__attribute__((constructor)) static void fill() {
  const struct {
    Table &table;
    const char *symbol;
  } tables[] = {
      {class_table, "_ZTVN10__cxxabiv117__class_type_infoE"},
      {single_table, "_ZTVN10__cxxabiv120__si_class_type_infoE"},
      {multiple_table, "_ZTVN10__cxxabiv121__vmi_class_type_infoE"},
  };
  for (const auto &one : tables)
    if (const void *real = dlsym(RTLD_DEFAULT, one.symbol))
      memcpy(one.table, real, sizeof(Table));
}
