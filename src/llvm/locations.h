// Locations of memory accesses, for passes that look for adjacent accesses.
//
// This is no alias analysis: locations with different bases cannot be compared.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

namespace ompvm {

/// Location of an access: a byte offset from a base pointer, or from an element of the base.
struct Location {
  llvm::Value *base, *index = nullptr;
  int64_t scale = 0, offset = 0;

  bool same_base(const Location &other) const {
    return base == other.base && index == other.index && scale == other.scale;
  }
};

inline Location location(const llvm::DataLayout &layout, llvm::Value *pointer) {
  using namespace llvm;
  unsigned width = layout.getIndexTypeSizeInBits(pointer->getType());
  APInt offset(width, 0);
  Location at;
  at.base = pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  auto *element = dyn_cast<GEPOperator>(at.base);
  SmallMapVector<Value *, APInt, 4> indices;
  APInt more_offset = offset;
  if (element && element->collectOffset(layout, width, indices, more_offset) &&
      indices.size() == 1 && indices.front().first->getType()->isIntegerTy(width)) {
    // Like these sums, addresses are computed modulo a power of two.
    offset = more_offset;
    auto [index, scale] = indices.front();
    Value *less;
    const APInt *more;
    if (PatternMatch::match(index, PatternMatch::m_AddLike(PatternMatch::m_Value(less),
                                                           PatternMatch::m_APInt(more)))) {
      offset += *more * scale;
      index = less;
    }
    at.index = index;
    at.scale = scale.getSExtValue();
    at.base =
        element->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset,
                                                                        /*AllowNonInbounds=*/true);
  }
  at.offset = offset.getSExtValue();
  return at;
}

} // namespace ompvm
