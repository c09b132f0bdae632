// Shuffles of vectors of pairs, such as complex numbers.
//
// A compiler that computes with several pairs at a time deinterleaves two vectors of pairs into
// first and second parts, and interleaves two result vectors into two vectors of pairs.
//
// Groups of more than two parts are not handled.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <optional>

namespace ompvm {

inline unsigned length(llvm::Value *vector) {
  return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

/// Mask that interleaves two vectors of `length` elements.
inline llvm::SmallVector<int, 16> interleaving_mask(unsigned length) {
  llvm::SmallVector<int, 16> mask;
  for (unsigned i = 0; i < length; i++)
    mask.append({int(i), int(length + i)});
  return mask;
}

/// Mask that concatenates two vectors of `length` elements.
inline llvm::SmallVector<int, 16> concatenating_mask(unsigned length) {
  llvm::SmallVector<int, 16> mask;
  for (unsigned i = 0; i < 2 * length; i++)
    mask.push_back(i);
  return mask;
}

/// Returns true if two shuffles have the same two operands, each as long as the result.
inline bool same_operands(llvm::ShuffleVectorInst *a, llvm::ShuffleVectorInst *b) {
  return a->getOperand(0) == b->getOperand(0) && a->getOperand(1) == b->getOperand(1) &&
         a->getType() == a->getOperand(0)->getType() && b->getType() == a->getType();
}

/// Returns true if a shuffle interleaves two vectors into one of twice the length.
inline bool interleaves(llvm::ShuffleVectorInst *shuffle) {
  return length(shuffle) == 2 * length(shuffle->getOperand(0)) &&
         shuffle->getShuffleMask() ==
             llvm::ArrayRef<int>(interleaving_mask(length(shuffle->getOperand(0))));
}

/// Returns true if two shuffles interleave two vectors, `a` their first halves and `b` their
/// second.
inline bool interleave_halves(llvm::ShuffleVectorInst *a, llvm::ShuffleVectorInst *b) {
  if (!same_operands(a, b))
    return false;
  auto all = interleaving_mask(length(a));
  llvm::ArrayRef<int> order(all);
  return a->getShuffleMask() == order.take_front(length(a)) &&
         b->getShuffleMask() == order.drop_front(length(a));
}

/// Returns true if two shuffles have one operand of twice their length.
inline bool same_operand(llvm::ShuffleVectorInst *a, llvm::ShuffleVectorInst *b) {
  return a->getOperand(0) == b->getOperand(0) && a->getType() == b->getType() &&
         length(a->getOperand(0)) == 2 * length(a);
}

/// Returns true if two shuffles are the first and second half of a vector.
inline bool halves(llvm::ShuffleVectorInst *a, llvm::ShuffleVectorInst *b) {
  auto all = concatenating_mask(length(a));
  llvm::ArrayRef<int> order(all);
  return same_operand(a, b) && a->getShuffleMask() == order.take_front(length(a)) &&
         b->getShuffleMask() == order.drop_front(length(a));
}

/// Returns the part of the pairs in two vectors that a shuffle extracts, 0 or 1.
inline std::optional<unsigned> part(llvm::ShuffleVectorInst *shuffle) {
  for (unsigned part = 0; part < 2; part++) {
    llvm::SmallVector<int, 16> mask;
    for (unsigned i = 0; i < length(shuffle); i++)
      mask.push_back(2 * i + part);
    if (shuffle->getShuffleMask() == llvm::ArrayRef<int>(mask))
      return part;
  }
  return std::nullopt;
}

/// Returns pairs made of the parts `first` and `second` of other pairs.
inline llvm::Value *select_parts(llvm::IRBuilder<> &build, llvm::Value *pairs, unsigned first,
                          unsigned second) {
  if (first == 0 && second == 1)
    return pairs;
  llvm::SmallVector<int, 16> mask;
  for (unsigned i = 0; i < length(pairs); i += 2)
    mask.append({int(i + first), int(i + second)});
  return build.CreateShuffleVector(pairs, mask);
}

/// Returns pairs with the first parts of one vector and the second parts of the other.
inline llvm::Value *blend(llvm::IRBuilder<> &build, llvm::Value *firsts, llvm::Value *seconds) {
  llvm::SmallVector<int, 16> mask;
  for (unsigned i = 0; i < length(firsts); i++)
    mask.push_back(i % 2 ? length(firsts) + i : i);
  return build.CreateShuffleVector(firsts, seconds, mask);
}

/// Returns pairs with the sign of one part flipped.
inline llvm::Value *flip_sign(llvm::IRBuilder<> &build, llvm::Value *pairs, unsigned part) {
  auto *type = llvm::cast<llvm::VectorType>(pairs->getType());
  auto *integer = llvm::cast<llvm::VectorType>(llvm::VectorType::getInteger(type));
  llvm::Type *element = integer->getElementType();
  llvm::Constant *of[] = {llvm::ConstantInt::get(element, 0), llvm::ConstantInt::get(element, 0)};
  of[part] =
      llvm::ConstantInt::get(element, llvm::APInt::getSignMask(element->getIntegerBitWidth()));
  llvm::SmallVector<llvm::Constant *, 16> all;
  for (unsigned i = 0; i < length(pairs); i++)
    all.push_back(of[i % 2]);
  llvm::Value *bits = build.CreateBitCast(pairs, integer);
  return build.CreateBitCast(build.CreateXor(bits, llvm::ConstantVector::get(all)), type);
}

} // namespace ompvm
