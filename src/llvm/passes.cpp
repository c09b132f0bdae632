// Runs passes, as far as what they make stays in proportion to what they were given.
//
// A pass that copies code (unrolling, versions of loops, inlining) may do so again and again in a nest, and what
// follows takes time for each copy. So the functions are counted after each pass that changed them. Once one has
// grown out of proportion, or the passes have taken far longer than usual, those that may be left out are, and the
// caller gets to know (`Growth` in `native/pipeline.rs`). Does not decide what is done instead.

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

/// A function may become so many times as large, and so many instructions larger than that. LLVM's own thresholds
/// keep loops below it: the fewest instructions count, a loop of ten may be vectorised, unrolled and given a version.
constexpr uint64_t FACTOR = 16, ROOM = 6000;
/// The same of all functions together.
constexpr uint64_t FACTOR_OF_ALL = 8, ROOM_OF_ALL = 12000;
/// Processor time of the passes, in microseconds, and for each instruction that they were given: twenty to fifty
/// times what is usual.
constexpr int64_t TIME = 100'000, TIME_PER_INSTRUCTION = 500;

using Clock = std::chrono::steady_clock;

int64_t own_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000 + time.tv_nsec / 1000;
}

class Growth {
  DenseMap<const Function *, uint64_t> sizes;
  uint64_t total = 0;
  Clock::time_point start = Clock::now();
  int64_t own_start = own_time();

public:
  /// The function that grew, if it is known, and what happened.
  std::string culprit, what;

  explicit Growth(const Module &module) {
    for (const Function &f : module) {
      if (f.isDeclaration())
        continue;
      uint64_t size = f.getInstructionCount();
      sizes[&f] = size;
      total += size;
    }
  }

  bool exceeded() const { return !what.empty(); }

  void look(const Function &f) {
    if (exceeded() || f.isDeclaration())
      return;
    uint64_t before = sizes.lookup(&f), now = f.getInstructionCount();
    if (now > FACTOR * before + ROOM) {
      culprit = f.getName().str();
      grew(now, before);
    }
  }

  void look(const Module &module) {
    uint64_t now = 0;
    for (const Function &f : module) {
      look(f);
      now += f.getInstructionCount();
    }
    if (!exceeded() && now > FACTOR_OF_ALL * total + ROOM_OF_ALL)
      grew(now, total);
  }

  void look_at_clock() {
    int64_t most = TIME + TIME_PER_INSTRUCTION * int64_t(total);
    if (exceeded() || Clock::now() - start < std::chrono::microseconds(most))
      return;
    if (int64_t took = own_time() - own_start; took > most)
      what = "its passes took " + std::to_string(took / 1000) + " ms";
    else
      start = Clock::now() - std::chrono::microseconds(took);
  }

  /// A loop that `unroll` passes have worked on, a function, or several.
  void look(StringRef pass, Any &unit) {
    if (auto *f = any_cast<const Function *>(&unit))
      look(**f);
    else if (auto *loop = any_cast<const Loop *>(&unit)) {
      if (pass.contains("Unroll"))
        look(*(*loop)->getHeader()->getParent());
    } else if (auto *group = any_cast<const LazyCallGraph::SCC *>(&unit)) {
      for (LazyCallGraph::Node &node : **group)
        look(node.getFunction());
    } else if (auto *module = any_cast<const Module *>(&unit))
      look(**module);
  }

private:
  void grew(uint64_t now, uint64_t before) {
    what = "its passes made " + std::to_string(now) + " instructions of " + std::to_string(before);
  }
};

} // namespace

/// Counts a module's functions as they are.
extern "C" Growth *ompvm_growth(LLVMModuleRef module) { return new Growth(*unwrap(module)); }

extern "C" void ompvm_dispose_growth(Growth *growth) { delete growth; }

/// Says what grew out of proportion: null if nothing did, else messages.
extern "C" char *ompvm_grown(Growth *growth, LLVMModuleRef module, char **culprit) {
  growth->look(*unwrap(module));
  if (!growth->exceeded())
    return nullptr;
  *culprit = LLVMCreateMessage(growth->culprit.c_str());
  return LLVMCreateMessage(growth->what.c_str());
}

/// Runs passes, named as `opt -passes=` does; `growth` may be null.
extern "C" int ompvm_passes(LLVMModuleRef wrapped, const char *passes, LLVMTargetMachineRef machine,
                            Growth *growth, char **error) {
  Module &module = *unwrap(wrapped);
  PassInstrumentationCallbacks callbacks;
  PassBuilder builder(reinterpret_cast<TargetMachine *>(machine), PipelineTuningOptions(), std::nullopt,
                      &callbacks);
  LoopAnalysisManager of_loops;
  FunctionAnalysisManager of_functions;
  CGSCCAnalysisManager of_groups;
  ModuleAnalysisManager of_modules;
  builder.registerLoopAnalyses(of_loops);
  builder.registerFunctionAnalyses(of_functions);
  builder.registerCGSCCAnalyses(of_groups);
  builder.registerModuleAnalyses(of_modules);
  builder.crossRegisterProxies(of_loops, of_functions, of_groups, of_modules);
  // Functions that must not be optimised are left out by these.
  StandardInstrumentations standard(module.getContext(), /*DebugLogging=*/false);
  standard.registerCallbacks(callbacks, &of_modules);
  if (growth) {
    callbacks.registerShouldRunOptionalPassCallback([growth](StringRef, Any) {
      growth->look_at_clock();
      return !growth->exceeded();
    });
    callbacks.registerAfterPassCallback([growth](StringRef pass, Any unit, const PreservedAnalyses &kept) {
      if (!kept.areAllPreserved() && !growth->exceeded())
        growth->look(pass, unit);
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
