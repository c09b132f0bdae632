// A loop in two versions, with a guard before them.
//
// What not: nothing is known here of why, or of what makes the versions differ.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace ompvm {

/// What became of a loop.
struct Versions {
  llvm::BasicBlock *chosen; // before the loop that was there, which runs where the guard holds
  llvm::Loop *other;        // the copy
};

/// Copies a nest; the copy is what runs where the guard does not hold, which is computed at the end of the
/// nest's preheader. The nest has a preheader, exits of its own, and phis there for what is used behind it.
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
  // What is behind the nest is reached from both, so from the guard on; another loop there may be next.
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
