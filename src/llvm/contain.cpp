// C++ side of `contain.rs`: reports what LLVM is doing on this thread, and diverts LLVM and the C++
// library when memory runs out.
//
// For crash messages LLVM keeps a list of running passes with their functions. Its entries lie on
// the stack of the thread, or of the coroutine that was abandoned.

#include <llvm-c/Core.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/PrettyStackTrace.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <new>

using namespace llvm;

/// Leaves this thread's coroutine, or returns if there is none.
extern "C" void ompvm_out_of_memory();

/// Returns the innermost entry of LLVM's list. Async-signal-safe.
extern "C" const void *ompvm_running_passes() { return SavePrettyStackState(); }

/// Describes the entries between two, innermost first, one line each.
extern "C" char *ompvm_describe_passes(const void *from, const void *to) {
  constexpr unsigned MOST = 12;
  std::string text;
  raw_string_ostream out(text);
  auto *entry = static_cast<const PrettyStackTraceEntry *>(from);
  for (unsigned i = 0; entry && entry != to && i < MOST; i++, entry = entry->getNextEntry())
    entry->print(out);
  return LLVMCreateMessage(text.c_str());
}

/// Unwinds the list past the entries of an abandoned coroutine.
extern "C" void ompvm_restore_passes(const void *to) { RestorePrettyStackState(to); }

/// Makes LLVM call `ompvm_out_of_memory` when an allocation of the C library fails.
extern "C" void ompvm_handle_bad_alloc() {
  install_bad_alloc_error_handler([](void *, const char *, bool) {
    ompvm_out_of_memory();
    std::abort();
  });
}

/// The C++ library's `operator new`. Weak, because the linker defines the name only with `--wrap`
/// (`build.rs`).
extern "C" void *__real__Znwm(std::size_t size) __attribute__((weak));

/// Replaces `operator new` in the whole executable: LLVM cannot unwind an exception.
extern "C" void *__wrap__Znwm(std::size_t size) {
  if (void *block = operator new(size, std::nothrow))
    return block;
  ompvm_out_of_memory();
  return __real__Znwm(size);
}

/// Fails as LLVM does, for tests.
extern "C" void ompvm_fail_fatally() { reportFatalUsageError("an injected failure"); }
extern "C" void ompvm_fail_for_memory() {
  volatile std::size_t size = std::size_t(1) << 62;
  operator delete(operator new(size));
}
