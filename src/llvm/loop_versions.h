// Loop versioning: a loop and a copy of it behind a guard.
//
// The reason for versioning, and the differences between the versions, are the caller's.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace ompvm {

/// Result of versioning a loop.
struct Versions {
  llvm::BasicBlock *chosen; // before the original loop, which runs if the guard holds
  llvm::Loop *other; // the copy
};

/// Copies a loop nest. The guard is computed at the end of the nest's preheader; the copy runs if
/// it does not hold. The nest must have a preheader, dedicated exits, and be in LCSSA form.
inline Versions version(llvm::Loop *loop, llvm::Value *guard, const char *suffix,
                        llvm::DominatorTree &tree, llvm::LoopInfo &loops) {
  using namespace llvm;
  BasicBlock *check = loop->getLoopPreheader();
  BasicBlock *before = SplitBlock(check, check->getTerminator(), &tree, &loops, nullptr,
                                  Twine(suffix + 1) + ".ph");
  ValueToValueMapTy map;
  SmallVector<BasicBlock *, 16> blocks;
  SmallVector<BasicBlock *, 4> exits;
  loop->getUniqueExitBlocks(exits);
  Loop *other = cloneLoopWithPreheader(before, check, loop, map, suffix, &loops, &tree, blocks);
  remapInstructionsInBlocks(blocks, map);
  Instruction *end = check->getTerminator();
  IRBuilder<> build(end);
  build.CreateCondBr(guard, before, other->getLoopPreheader());
  end->eraseFromParent();
  for (BasicBlock *exit : exits)
    for (PHINode &phi : exit->phis())
      for (unsigned i = 0, n = phi.getNumIncomingValues(); i < n; i++) {
        BasicBlock *from = phi.getIncomingBlock(i);
        if (!loop->contains(from))
          continue;
        Value *value = phi.getIncomingValue(i);
        auto mapped = map.find(value);
        phi.addIncoming(mapped == map.end() ? value : cast<Value>(mapped->second),
                        cast<BasicBlock>(map[from]));
      }
  // Blocks after the nest are reached from both versions, so the guard dominates them; another loop
  // among them may be versioned next.
  SmallVector<BasicBlock *, 4> behind;
  for (BasicBlock *block : loop->blocks())
    for (DomTreeNode *child : *tree.getNode(block))
      if (!loop->contains(child->getBlock()))
        behind.push_back(child->getBlock());
  for (BasicBlock *block : behind)
    tree.changeImmediateDominator(block, check);
  return {before, other};
}

} // namespace ompvm
