// Analysis managers of a module, filled on demand.
//
// Invalidation is left to the caller: whoever changes a function says which analyses remain valid.
#pragma once

#include <llvm/Passes/PassBuilder.h>

namespace ompvm {

/// The analysis managers of all four IR units, registered with each other.
class Analyses {
  // Declared in reverse order of destruction.
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;

public:
  Analyses() {
    llvm::PassBuilder builder;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  /// Returns the manager of function analyses.
  llvm::FunctionAnalysisManager &of_functions() { return functions; }
};

} // namespace ompvm
