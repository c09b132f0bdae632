// The analyses of a module, made when they are asked for.
//
// What not: nothing is told of changes; who changes a function says what of it stays.
#pragma once

#include <llvm/Passes/PassBuilder.h>

namespace ompvm {

/// The managers of all four kinds, which know each other.
class Analyses {
  // In the order in which they may be destroyed from the last to the first.
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

  /// Those of functions.
  llvm::FunctionAnalysisManager &of_functions() { return functions; }
};

} // namespace ompvm
