// Tells `contain.rs` what LLVM is doing on this thread, and has LLVM and the C++ library call us where there is no
// memory.
//
// LLVM keeps a list of the passes that run, with their functions, for the message of a crash. Its entries lie on
// the stack of the thread, or of the coroutine that was left.

#include <llvm-c/Core.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/PrettyStackTrace.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <new>

using namespace llvm;

/// Leaves the coroutine of this thread, or returns where there is none.
extern "C" void ompvm_out_of_memory();

/// The innermost entry of what LLVM is doing. Async-signal-safe.
extern "C" const void *ompvm_doing() { return SavePrettyStackState(); }

/// Describes the entries between two, the innermost first, a line for each.
extern "C" char *ompvm_describe_doing(const void *from, const void *to) {
  constexpr unsigned MOST = 12;
  std::string text;
  raw_string_ostream out(text);
  auto *entry = static_cast<const PrettyStackTraceEntry *>(from);
  for (unsigned i = 0; entry && entry != to && i < MOST; i++, entry = entry->getNextEntry())
    entry->print(out);
  return LLVMCreateMessage(text.c_str());
}

/// Forgets what a coroutine that was left was doing.
extern "C" void ompvm_restore_doing(const void *to) { RestorePrettyStackState(to); }

/// Has LLVM call us where an allocation of the C library fails.
extern "C" void ompvm_handle_bad_alloc() {
  install_bad_alloc_error_handler([](void *, const char *, bool) {
    ompvm_out_of_memory();
    std::abort();
  });
}

/// The C++ library's `operator new`. Weak: it has this name only where the linker was told so (`build.rs`).
extern "C" void *__real__Znwm(std::size_t size) __attribute__((weak));

/// Stands before `operator new` for everything in the executable: LLVM cannot unwind an exception.
extern "C" void *__wrap__Znwm(std::size_t size) {
  if (void *block = operator new(size, std::nothrow))
    return block;
  ompvm_out_of_memory();
  return __real__Znwm(size);
}

/// Fails as LLVM does, for tests.
extern "C" void ompvm_fail_fatally() { reportFatalUsageError("a failure that was asked for"); }
extern "C" void ompvm_fail_for_memory() {
  volatile std::size_t size = std::size_t(1) << 62;
  operator delete(operator new(size));
}
