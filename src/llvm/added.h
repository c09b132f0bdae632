// Instructions that the tier below does not have, and whose values it never needs.

#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/Metadata.h>

constexpr const char *AddedKind = "ompvm.added";

/// Marks an instruction that the tier below does not have.
inline void markAdded(llvm::Instruction &i) {
  i.setMetadata(AddedKind, llvm::MDNode::get(i.getContext(), {}));
}

/// Returns true if the tier below does not have an instruction.
inline bool isAdded(const llvm::Instruction &i) { return i.getMetadata(AddedKind) != nullptr; }
