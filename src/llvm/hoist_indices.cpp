// Hoists the index loads of loops over gathered values.
//
// In a product of a sparse matrix and a vector, an index is loaded, the value it refers to is
// loaded and multiplied, and each addition waits for the previous sum. The additions bound the
// loop, provided that their operands arrive in time. Unrolled by two, the second index and its
// factor are loaded after the first addition, which is slower than any order that loads indices
// early. This pass puts all indices first, then the loads whose addresses are known, then the rest.
// LLVM's scheduler keeps the order it is given.
//
// It skips loops of more than one block, loops with stores or calls, over which no load moves, and
// very long ones, since LLVM renumbers a block's instructions after each move.

#include <llvm-c/Core.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

using namespace llvm;

namespace {

/// Fewest gathers for which the pass acts, and most known loads that are hoisted together: each
/// takes a register.
constexpr unsigned FEW = 2, MOST = 8;
/// Most known loads in a loop.
constexpr unsigned LONGEST = 64;

/// A block that is a loop.
class IndexHoisting {
  BasicBlock &block;
  /// Values computed from loads of this iteration.
  SmallPtrSet<Value *, 16> behind;
  /// IndexHoisting whose addresses are known at the start of the iteration.
  SmallVector<LoadInst *, 8> known;
  /// Known loads that gathers compute their addresses from.
  SmallPtrSet<Value *, 8> indices;
  /// Moved instructions, and the instruction before which the next one is placed.
  SmallPtrSet<Value *, 16> moved;
  Instruction *to = nullptr;

public:
  IndexHoisting(BasicBlock &block) : block(block) {}

  void order() {
    if (!qualifies())
      return;
    for (ArrayRef<LoadInst *> left = known; !left.empty();) {
      ArrayRef<LoadInst *> some = left.take_front(MOST);
      left = left.drop_front(some.size());
      to = to ? some.front() : &*block.getFirstNonPHIIt();
      for (LoadInst *load : some)
        if (indices.contains(load))
          hoist(load);
      for (LoadInst *load : some)
        if (!indices.contains(load))
          hoist(load);
    }
  }

private:
  bool computed(Value *value) {
    auto *i = dyn_cast<Instruction>(value);
    return i && i->getParent() == &block && !isa<PHINode>(i);
  }

  /// Records the loads that a value is computed from.
  void trace(Value *value) {
    SmallVector<Value *, 8> todo{value};
    SmallPtrSet<Value *, 16> seen;
    while (!todo.empty()) {
      Value *v = todo.pop_back_val();
      if (!computed(v) || !seen.insert(v).second)
        continue;
      if (isa<LoadInst>(v))
        indices.insert(v);
      else
        append_range(todo, cast<Instruction>(v)->operands());
    }
  }

  bool qualifies() {
    unsigned gathers = 0;
    for (Instruction &i : block) {
      if (isa<PHINode>(&i) || i.isTerminator())
        continue;
      auto *load = dyn_cast<LoadInst>(&i);
      if (load ? !load->isSimple()
               : i.mayReadOrWriteMemory() || !isGuaranteedToTransferExecutionToSuccessor(&i))
        return false;
      bool late = any_of(i.operands(), [&](Value *v) { return behind.contains(v); });
      if (load && late) {
        gathers++;
        trace(load->getPointerOperand());
      } else if (load) {
        known.push_back(load);
      }
      if (load || late)
        behind.insert(&i);
    }
    return gathers >= FEW && known.size() <= LONGEST;
  }

  /// Moves an instruction, preceded by the instructions that it is computed from, after those moved
  /// before.
  void hoist(Instruction *i) {
    for (Value *v : i->operands())
      if (computed(v) && !moved.contains(v) && !cast<Instruction>(v)->comesBefore(to))
        hoist(cast<Instruction>(v));
    moved.insert(i);
    if (i == to)
      to = i->getNextNode();
    else
      i->moveBefore(to->getIterator());
  }
};

} // namespace

/// Reorders loads in a module's loops.
extern "C" void ompvm_hoist_indices(LLVMModuleRef wrapped) {
  for (Function &f : *unwrap(wrapped))
    for (BasicBlock &block : f)
      if (is_contained(successors(&block), &block))
        IndexHoisting(block).order();
}
