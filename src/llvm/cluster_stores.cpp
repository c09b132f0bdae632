// Clusters the stores of a loop that go to one cache line.
//
// A processor commits its stores to the cache in program order. If the lines are not in the first
// level, a store to another line than the previous one waits for that line, and the next store,
// back to the first line, waits again: loops that alternately write half a line to each of two
// arrays are slower on Intel's processors than loops that write whole lines. Loops whose iterations
// write too little for that are unrolled before (`mark_unroll.cpp`).
//
// In loops of one block, vector stores to adjacent locations sink to the last store of their line
// if no instruction in between can observe it.
//
// Loads do not move. The alignment of lines is not known; arrays begin at one
// (`native/rewire/body.rs`).

#include "analyses.h"
#include "locations.h"

#include <llvm-c/Core.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

using namespace llvm;
using namespace ompvm;

namespace {

/// Size of a cache line, in bytes.
constexpr int64_t LINE = 64;
/// Size of the smallest store that is worth a move, in bytes.
constexpr int64_t LEAST = 16;
/// Size of the longest loop, in instructions.
constexpr unsigned LONGEST = 400;

struct Part {
  int64_t offset, size;
  StoreInst *store;
};

/// Returns true if no instruction can observe that a store is made where a later one is.
bool sinks(StoreInst *store, StoreInst *to, AAResults &aliases) {
  MemoryLocation moved = MemoryLocation::get(store);
  for (Instruction *i = store->getNextNode(); i != to; i = i->getNextNode())
    if (!isGuaranteedToTransferExecutionToSuccessor(i) ||
        (i->mayReadOrWriteMemory() && isModOrRefSet(aliases.getModRefInfo(i, moved))))
      return false;
  return true;
}

/// Sinks the stores of a line to the last of them. Later stores go first, so that none has to pass
/// another one.
void sink_line(MutableArrayRef<Part> line, AAResults &aliases) {
  sort(line, [](auto &a, auto &b) { return b.store->comesBefore(a.store); });
  StoreInst *to = line.front().store;
  for (Part &part : line.drop_front()) {
    if (part.store->getNextNode() != to) {
      if (!sinks(part.store, to, aliases))
        return;
      part.store->moveBefore(to->getIterator());
    }
    to = part.store;
  }
}

void cluster(BasicBlock &block, AAResults &aliases) {
  const DataLayout &layout = block.getDataLayout();
  using From = std::tuple<Value *, Value *, int64_t>;
  MapVector<From, SmallVector<Part, 8>> streams;
  for (Instruction &i : block)
    if (auto *store = dyn_cast<StoreInst>(&i); store && store->isSimple()) {
      int64_t size = layout.getTypeStoreSize(store->getValueOperand()->getType());
      Location at = location(layout, store->getPointerOperand());
      if (store->getValueOperand()->getType()->isVectorTy() && size >= LEAST)
        streams[{at.base, at.index, at.scale}].push_back({at.offset, size, store});
    }
  if (streams.size() < 2)
    return;
  for (auto &[from, parts] : streams) {
    stable_sort(parts, [](auto &a, auto &b) { return a.offset < b.offset; });
    for (size_t first = 0, end; first < parts.size(); first = end) {
      int64_t bytes = parts[first].size;
      for (end = first + 1;
           end < parts.size() && parts[end].offset == parts[first].offset + bytes &&
           bytes + parts[end].size <= LINE;
           end++)
        bytes += parts[end].size;
      if (bytes == LINE)
        sink_line(MutableArrayRef(parts).slice(first, end - first), aliases);
    }
  }
}

} // namespace

extern "C" void ompvm_cluster_stores(LLVMModuleRef wrapped) {
  ompvm::Analyses analyses;
  for (Function &f : *unwrap(wrapped))
    for (BasicBlock &block : f)
      if (is_contained(successors(&block), &block) && block.size() <= LONGEST)
        cluster(block, analyses.of_functions().getResult<AAManager>(f));
}
