// Makes two of each vector that was made for two registers.
//
// Who compiles for registers of 128 bits makes vectors of 256 knowing that they will be two: what goes from one half
// to the other costs nothing then. With registers of 256 bits it costs an instruction each time, and SP of
// the NAS benchmarks 4 percent, BT and LU 3. As two they come to the passes, and `pairs.cpp` packs what gains by it.
//
// How: LLVM's scalarizer, with fragments of 128 bits. What not: functions without such vectors of
// floating-point numbers; those in which a call that may throw ends a block, behind which the scalarizer would
// put its instructions (LLVM 22).

#include "analyses.h"

#include <llvm-c/Core.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>

using namespace llvm;

namespace {

constexpr unsigned BITS = 128;

bool qualifies(Function &f) {
  bool any = false;
  for (Instruction &i : instructions(f)) {
    if (i.isTerminator() && isa<CallBase>(i))
      return false;
    auto *vector = dyn_cast<FixedVectorType>(i.getType());
    any |= vector && vector->getElementType()->isFloatingPointTy() &&
           vector->getPrimitiveSizeInBits().getFixedValue() > BITS;
  }
  return any;
}

} // namespace

/// Does so in a module's functions.
extern "C" void ompvm_split(LLVMModuleRef wrapped) {
  SmallVector<Function *, 4> some;
  for (Function &f : *unwrap(wrapped))
    if (!f.isDeclaration() && qualifies(f))
      some.push_back(&f);
  if (some.empty())
    return;
  ompvm::Analyses analyses;
  ScalarizerPassOptions options;
  options.ScalarizeMinBits = BITS;
  options.ScalarizeLoadStore = true;
  for (Function *f : some)
    ScalarizerPass(options).run(*f, analyses.of_functions());
}
