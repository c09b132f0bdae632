// Puts the stores of a loop that go to one line of the cache behind each other.
//
// A processor hands its stores to the cache in their order. Where the lines are not in the first level, a store to
// another line than the one before it waits for that line, and so does the next, which goes back to the first: a loop
// that writes half a line to each of two arrays in turn took 3.0 to 3.5 ns for 64 bytes, one that writes whole lines
// 1.8 (FT's butterflies, 128 KiB, Intel Emerald Rapids; on AMD's Zen 4 both take the same). Loops whose iterations
// write too little for that are unrolled before (`unroll.cpp`).
//
// How: in loops of one block, stores of vectors to neighbouring places move down to the last of those that make up a
// line, where nothing in between can tell.
//
// What not: no load moves; where lines begin is not known, arrays begin at one (`native/prepare.rs`).

#include "analyses.h"
#include "places.h"

#include <llvm-c/Core.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

using namespace llvm;
using namespace ompvm;

namespace {

/// Bytes of a line.
constexpr int64_t LINE = 64;
/// Bytes of the least store that is worth a move.
constexpr int64_t LEAST = 16;
/// The longest loop, in instructions.
constexpr unsigned LONGEST = 400;

struct Part {
  int64_t offset, size;
  StoreInst *store;
};

/// Whether nothing can tell that a store is made where a later one is.
bool sinks(StoreInst *store, StoreInst *to, AAResults &aliases) {
  MemoryLocation moved = MemoryLocation::get(store);
  for (Instruction *i = store->getNextNode(); i != to; i = i->getNextNode())
    if (!isGuaranteedToTransferExecutionToSuccessor(i) ||
        (i->mayReadOrWriteMemory() && isModOrRefSet(aliases.getModRefInfo(i, moved))))
      return false;
  return true;
}

/// Moves the stores of a line to the last of them, the farthest last so that none has to pass another one.
void gather(MutableArrayRef<Part> line, AAResults &aliases) {
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

void stores(BasicBlock &block, AAResults &aliases) {
  const DataLayout &layout = block.getDataLayout();
  using From = std::tuple<Value *, Value *, int64_t>;
  MapVector<From, SmallVector<Part, 8>> streams;
  for (Instruction &i : block)
    if (auto *store = dyn_cast<StoreInst>(&i); store && store->isSimple()) {
      int64_t size = layout.getTypeStoreSize(store->getValueOperand()->getType());
      Place at = place(layout, store->getPointerOperand());
      if (store->getValueOperand()->getType()->isVectorTy() && size >= LEAST)
        streams[{at.base, at.index, at.scale}].push_back({at.offset, size, store});
    }
  if (streams.size() < 2)
    return;
  for (auto &[from, parts] : streams) {
    stable_sort(parts, [](auto &a, auto &b) { return a.offset < b.offset; });
    for (size_t first = 0, end; first < parts.size(); first = end) {
      int64_t bytes = parts[first].size;
      for (end = first + 1; end < parts.size() && parts[end].offset == parts[first].offset + bytes &&
                            bytes + parts[end].size <= LINE;
           end++)
        bytes += parts[end].size;
      if (bytes == LINE)
        gather(MutableArrayRef(parts).slice(first, end - first), aliases);
    }
  }
}

} // namespace

extern "C" void ompvm_lines(LLVMModuleRef wrapped) {
  ompvm::Analyses analyses;
  for (Function &f : *unwrap(wrapped))
    for (BasicBlock &block : f)
      if (is_contained(successors(&block), &block) && block.size() <= LONGEST)
        stores(block, analyses.of_functions().getResult<AAManager>(f));
}
