// Runs passes and bounds the growth of the code that they work on.
//
// A pass that copies code (unrolling, loop versioning, inlining) may do so again and again in a
// nest, and later passes take time for each copy. So functions are measured after each pass that
// changed them. Once a function has grown out of proportion, or the passes have taken far longer
// than usual, the optional passes are skipped, and the caller is told (`GrowthGuard` in
// `native/pipeline.rs`). The reaction is the caller's.

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/StandardInstrumentations.h>
#include <llvm/Target/TargetMachine.h>

#include <chrono>
#include <ctime>

using namespace llvm;

namespace {

/// Bound on a function's size: this factor times its original size plus this many instructions.
/// LLVM's own thresholds keep loops below it. The constant dominates for small functions: a loop of
/// ten instructions may be vectorized, unrolled and versioned.
constexpr uint64_t FACTOR = 16, ROOM = 6000;
/// The same bound for all functions together.
constexpr uint64_t FACTOR_OF_ALL = 8, ROOM_OF_ALL = 12000;
/// Processor time of the passes, in microseconds, plus a share for each original instruction;
/// twenty to fifty times the usual.
constexpr int64_t TIME = 100'000, TIME_PER_INSTRUCTION = 500;

using Clock = std::chrono::steady_clock;

int64_t own_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000 + time.tv_nsec / 1000;
}

/// Counts instructions, after every pass. `Function::getInstructionCount` calls a function object
/// for each of them, to leave out debug intrinsics.
uint64_t size_of(const Function &function) {
  uint64_t size = 0;
  for (const BasicBlock &block : function)
    size += block.size();
  return size;
}

class GrowthGuard {
  DenseMap<const Function *, uint64_t> sizes;
  uint64_t total = 0;
  Clock::time_point start = Clock::now();
  int64_t own_start = own_time();

public:
  /// Name of the function that grew, if known, and a description.
  std::string culprit, what;

  explicit GrowthGuard(const Module &module) {
    for (const Function &f : module) {
      if (f.isDeclaration())
        continue;
      uint64_t size = size_of(f);
      sizes[&f] = size;
      total += size;
    }
  }

  bool exceeded() const { return !what.empty(); }

  void measure(const Function &f) {
    if (exceeded() || f.isDeclaration())
      return;
    uint64_t before = sizes.lookup(&f), now = size_of(f);
    if (now > FACTOR * before + ROOM) {
      culprit = f.getName().str();
      report(now, before);
    }
  }

  void measure(const Module &module) {
    uint64_t now = 0;
    for (const Function &f : module) {
      measure(f);
      now += size_of(f);
    }
    if (!exceeded() && now > FACTOR_OF_ALL * total + ROOM_OF_ALL)
      report(now, total);
  }

  void check_time() {
    int64_t most = TIME + TIME_PER_INSTRUCTION * int64_t(total);
    if (exceeded() || Clock::now() - start < std::chrono::microseconds(most))
      return;
    if (int64_t took = own_time() - own_start; took > most)
      what = "its passes took " + std::to_string(took / 1000) + " ms";
    else
      start = Clock::now() - std::chrono::microseconds(took);
  }

  /// Measures the unit of a pass: a function, several functions, or a loop after an unrolling pass.
  void measure(StringRef pass, Any &unit) {
    if (auto *f = any_cast<const Function *>(&unit))
      measure(**f);
    else if (auto *loop = any_cast<const Loop *>(&unit)) {
      if (pass.contains("Unroll"))
        measure(*(*loop)->getHeader()->getParent());
    } else if (auto *group = any_cast<const LazyCallGraph::SCC *>(&unit)) {
      for (LazyCallGraph::Node &node : **group)
        measure(node.getFunction());
    } else if (auto *module = any_cast<const Module *>(&unit))
      measure(**module);
  }

private:
  void report(uint64_t now, uint64_t before) {
    what = "its passes grew it from " + std::to_string(before) + " to " + std::to_string(now) +
           " instructions";
  }
};

} // namespace

/// Records the current sizes of a module's functions.
extern "C" GrowthGuard *ompvm_record_sizes(LLVMModuleRef module) {
  return new GrowthGuard(*unwrap(module));
}

extern "C" void ompvm_dispose_sizes(GrowthGuard *growth) { delete growth; }

/// Describes what grew out of proportion; null if nothing did. The caller disposes of the messages.
extern "C" char *ompvm_exceeded_growth(GrowthGuard *growth, LLVMModuleRef module, char **culprit) {
  growth->measure(*unwrap(module));
  if (!growth->exceeded())
    return nullptr;
  *culprit = LLVMCreateMessage(growth->culprit.c_str());
  return LLVMCreateMessage(growth->what.c_str());
}

/// Runs passes, named as for `opt -passes=`; `growth` may be null.
extern "C" int ompvm_run_passes(LLVMModuleRef wrapped, const char *passes,
                                LLVMTargetMachineRef machine, GrowthGuard *growth, char **error) {
  Module &module = *unwrap(wrapped);
  PassInstrumentationCallbacks callbacks;
  PassBuilder builder(reinterpret_cast<TargetMachine *>(machine), PipelineTuningOptions(),
                      std::nullopt, &callbacks);
  LoopAnalysisManager of_loops;
  FunctionAnalysisManager of_functions;
  CGSCCAnalysisManager of_groups;
  ModuleAnalysisManager of_modules;
  builder.registerLoopAnalyses(of_loops);
  builder.registerFunctionAnalyses(of_functions);
  builder.registerCGSCCAnalyses(of_groups);
  builder.registerModuleAnalyses(of_modules);
  builder.crossRegisterProxies(of_loops, of_functions, of_groups, of_modules);
  // These skip functions that must not be optimized.
  StandardInstrumentations standard(module.getContext(), /*DebugLogging=*/false);
  standard.registerCallbacks(callbacks, &of_modules);
  if (growth) {
    callbacks.registerShouldRunOptionalPassCallback([growth](StringRef, Any) {
      growth->check_time();
      return !growth->exceeded();
    });
    callbacks.registerAfterPassCallback(
        [growth](StringRef pass, Any unit, const PreservedAnalyses &kept) {
          if (!kept.areAllPreserved() && !growth->exceeded())
            growth->measure(pass, unit);
        });
  }
  ModulePassManager pipeline;
  if (Error e = builder.parsePassPipeline(pipeline, passes)) {
    *error = LLVMCreateMessage(toString(std::move(e)).c_str());
    return 1;
  }
  pipeline.run(module, of_modules);
  return 0;
}
