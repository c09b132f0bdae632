// Splits vectors that span two registers.
//
// A compiler that targets 128-bit registers may create 256-bit vectors, each two registers, between
// whose halves moves are free. With 256-bit registers each move across the halves is an
// instruction. After splitting, `repack_vectors.cpp` packs again what gains by it.
//
// The work is done by LLVM's scalarizer with fragments of 128 bits. Functions without such
// floating-point vectors are skipped, and so are functions with a block that ends in a call that
// may throw: the scalarizer would insert instructions after that call (LLVM 22).

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

/// Splits wide vectors in a module's functions.
extern "C" void ompvm_split_vectors(LLVMModuleRef wrapped) {
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
