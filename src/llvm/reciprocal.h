// Division of small numbers by multiplication, for loops on GPUs, whose own division is slow.
//
// Leaves to the passes that use it (narrow_indices.cpp, tile_loops.cpp): the check that the numbers
// are below 2^31, and where the reciprocal is computed.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace ompvm {

/// Quotient and remainder of a small number by a loop-invariant divisor.
struct Divided {
  llvm::Value *quotient, *remainder;
};

/// Divides by multiplying with the reciprocal.
///
/// With r = floor((2^32 - 1) / d), n * r / 2^32 is at most n / d and, for n below 2^31, at least
/// n / d - 1. So the quotient that it rounds down to is right or one too small.
inline Divided divide(llvm::IRBuilder<> &build, llvm::Value *number, llvm::Value *divisor,
                      llvm::Value *reciprocal) {
  llvm::Value *quotient =
      build.CreateIntrinsic(llvm::Intrinsic::nvvm_mulhi_ui, {number, reciprocal});
  llvm::Value *rest = build.CreateSub(number, build.CreateMul(quotient, divisor));
  llvm::Value *less = build.CreateICmpUGE(rest, divisor);
  return {build.CreateSelect(less, build.CreateAdd(quotient, build.getInt32(1)), quotient),
          build.CreateSelect(less, build.CreateSub(rest, divisor), rest)};
}

} // namespace ompvm
