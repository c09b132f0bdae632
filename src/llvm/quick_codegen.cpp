// The passes of code generation that quick code goes without: both schedulers of instructions.
//
// They take a seventh of the time in which a small unit is compiled at the quick level. Without
// them the code keeps the order of the IR, which clang and `hoist_indices.cpp` have chosen, and the
// processors that run it reorder instructions themselves.
//
// LLVM builds its pipeline of code generation in one call and offers a callback for changes. The
// callback is the process's, so that a variable of the thread says which level is generated.

#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/Target/RegisterTargetPassConfigCallback.h>

using namespace llvm;

namespace {
thread_local bool quick = false;
} // namespace

/// Registers the callback, once. No thread generates code before this. The callback stays
/// registered at the end of the process, when threads may still compile.
extern "C" void ompvm_watch_code_generation() {
  static const auto *const callback = new RegisterTargetPassConfigCallback(
      [](TargetMachine &, PassManagerBase &, TargetPassConfig *passes) {
        if (!quick)
          return;
        passes->disablePass(&MachineSchedulerID);
        passes->disablePass(&PostRASchedulerID);
      });
  (void)callback;
}

/// Selects the passes for the code that this thread generates next.
extern "C" void ompvm_generate_quick_code(bool on) { quick = on; }
