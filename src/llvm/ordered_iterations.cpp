// Removes the marks of independent iterations from loops whose iterations may depend on each other.
//
// Clang marks the loop over a chunk of a dynamic or guided schedule with
// `llvm.loop.parallel_accesses`, as if no iteration accessed what another one does. OpenMP says so
// of different threads alone (OpenMP 5.2, section 11.5): a chunk's iterations run one after the
// other, and may use the thread's own data, such as the bins of a histogram that is reduced or
// counters by thread number. The vectorizer then loses updates. Clang's own code shows it with
// -march=native on processors with AVX-512.
//
// Loops that the program itself calls independent, by `simd` or `assume_safety`, keep the mark:
// they have `llvm.loop.vectorize.enable`, too.

#include <llvm-c/Core.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

using namespace llvm;

namespace {

/// Returns the name of a property in a loop's metadata; empty for other operands.
StringRef name(const Metadata *operand) {
  auto *node = dyn_cast_or_null<MDNode>(operand);
  if (!node || node->getNumOperands() == 0)
    return "";
  auto *string = dyn_cast_or_null<MDString>(node->getOperand(0));
  return string ? string->getString() : "";
}

/// Returns true if a loop's metadata asks for vector code.
bool asks_for_vectors(const MDNode *loop) {
  for (const MDOperand &operand : loop->operands())
    if (name(operand) == "llvm.loop.vectorize.enable") {
      auto *node = cast<MDNode>(operand);
      auto *value = node->getNumOperands() > 1
                        ? mdconst::dyn_extract_or_null<ConstantInt>(node->getOperand(1))
                        : nullptr;
      return value && !value->isZero();
    }
  return false;
}

/// Returns a loop's metadata without the mark; null if it has none or keeps it.
MDNode *unmarked(MDNode *loop) {
  SmallVector<Metadata *, 8> kept = {nullptr};
  for (const MDOperand &operand : drop_begin(loop->operands()))
    if (name(operand) != "llvm.loop.parallel_accesses")
      kept.push_back(operand);
  if (kept.size() == loop->getNumOperands() || asks_for_vectors(loop))
    return nullptr;
  // The first operand is the node itself, which makes it distinct.
  MDNode *result = MDNode::getDistinct(loop->getContext(), kept);
  result->replaceOperandWith(0, result);
  return result;
}

} // namespace

/// Removes wrong marks of independent iterations in a module's functions.
extern "C" void ompvm_order_iterations(LLVMModuleRef wrapped) {
  DenseMap<MDNode *, MDNode *> changed;
  for (Function &f : *unwrap(wrapped))
    for (BasicBlock &block : f) {
      Instruction *end = block.getTerminator();
      MDNode *loop = end ? end->getMetadata(LLVMContext::MD_loop) : nullptr;
      if (!loop || loop->getNumOperands() < 2)
        continue;
      auto [entry, fresh] = changed.try_emplace(loop, nullptr);
      if (fresh)
        entry->second = unmarked(loop);
      if (entry->second)
        end->setMetadata(LLVMContext::MD_loop, entry->second);
    }
}
