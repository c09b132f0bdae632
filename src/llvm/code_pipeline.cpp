// Code generation: its passes, built once for a thread and a level.
//
// LLVM's C interface builds the passes anew for each module. That takes two thirds of the time that
// they then work on a small function. LLVM supports a second module in the same passes
// (`llc -compile-twice`): each run begins and ends with a reset. After a failure the state is
// unknown, and the caller disposes of the pipeline, or forgets it. The reset of LLVM 22 keeps the
// symbols of local labels in assembly (`MCContext::LocalSymbols`), though their memory is freed, so
// that the second module with such labels writes to freed memory. Hence a module with local labels
// is the last of its pipeline.
//
// Quick code goes without the schedulers of instructions, which take a seventh of the time in which
// a small unit is compiled at the quick level. Without them the code keeps the order of the IR, which
// clang and `hoist_indices.cpp` have chosen, and the processors that run it reorder instructions
// themselves. LLVM builds the passes in one call and offers a callback for changes. The callback is
// the process's, so that a variable of the thread says for which passes it is.

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/RegisterTargetPassConfigCallback.h>
#include <llvm/Target/TargetMachine.h>

using namespace llvm;

namespace {

/// The passes that this thread builds for quick code.
thread_local const PassManagerBase *quick = nullptr;

/// Returns true if assembly may define a local label: a number before a colon.
bool may_define_label(StringRef assembly) {
  for (size_t colon = assembly.find(':'); colon != StringRef::npos;
       colon = assembly.find(':', colon + 1))
    if (colon > 0 && isDigit(assembly[colon - 1]))
      return true;
  return false;
}

/// The passes that generate an object file, and its bytes.
struct CodePipeline {
  SmallVector<char, 0> bytes;
  raw_svector_ostream out{bytes};
  legacy::PassManager passes;
};

} // namespace

/// Registers the callback, once. No thread generates code before this. The callback stays
/// registered at the end of the process, when threads may still compile.
extern "C" void ompvm_watch_code_generation() {
  static const auto *const callback = new RegisterTargetPassConfigCallback(
      [](TargetMachine &, PassManagerBase &passes, TargetPassConfig *config) {
        if (quick != &passes)
          return;
        config->disablePass(&MachineSchedulerID);
        config->disablePass(&PostRASchedulerID);
      });
  (void)callback;
}

/// Builds the passes of a machine, which must outlive them; null if it has no object files.
extern "C" CodePipeline *ompvm_new_code_pipeline(LLVMTargetMachineRef wrapped, bool is_quick) {
  auto *machine = reinterpret_cast<TargetMachine *>(wrapped);
  auto pipeline = std::make_unique<CodePipeline>();
  quick = is_quick ? &pipeline->passes : nullptr;
  bool failed = machine->addPassesToEmitFile(pipeline->passes, pipeline->out, nullptr,
                                             CodeGenFileType::ObjectFile);
  quick = nullptr;
  return failed ? nullptr : pipeline.release();
}

/// Generates the object file of a module that has the machine's layout of data. Its bytes stay until
/// the next one.
extern "C" const char *ompvm_generate_object(CodePipeline *pipeline, LLVMModuleRef module,
                                             size_t *length) {
  pipeline->bytes.clear();
  pipeline->passes.run(*unwrap(module));
  *length = pipeline->bytes.size();
  return pipeline->bytes.data();
}

/// Returns true if a module's assembly may define local labels.
extern "C" bool ompvm_may_define_labels(LLVMModuleRef wrapped) {
  const Module &module = *unwrap(wrapped);
  if (may_define_label(module.getModuleInlineAsm()))
    return true;
  for (const Function &function : module)
    for (const Instruction &i : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&i))
        if (auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
          if (may_define_label(assembly->getAsmString()))
            return true;
  return false;
}

extern "C" void ompvm_dispose_code_pipeline(CodePipeline *pipeline) { delete pipeline; }
