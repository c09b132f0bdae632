// Labels whose addresses are taken, in compiled code.
//
// A label's address is the same in every tier: an offset from a symbol of its function. Jumps to
// such addresses become switches over the labels' numbers, which a table holds by offset. So label
// addresses may be stored anywhere, and a frame may change tiers with some in its values. No block
// of compiled code has its address taken, so inlining and copying are as for other functions.
//
// The offsets are given by the caller.

#include "added.h"
#include <llvm-c/Core.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

using namespace llvm;

namespace {

/// A label: the number of its block, and the offset of its address; as `LabelOffset` in `mod.rs`.
struct Label {
  uint32_t block;
  uint32_t offset;
};

/// Creates the table of the labels' numbers by their offsets from the first.
template <typename Number>
Constant *numbers(LLVMContext &context, ArrayRef<Label> labels, uint32_t first, uint32_t last) {
  SmallVector<Number, 0> list(last - first + 1);
  for (auto [n, label] : enumerate(labels))
    list[label.offset - first] = n;
  return ConstantDataArray::get(context, list);
}

class Lowering {
  Function &f;
  Constant *start;
  ArrayRef<Label> labels;
  DenseMap<BasicBlock *, unsigned> number;
  GlobalVariable *table = nullptr;
  uint32_t first = 0;

public:
  Lowering(Function &f, Constant *start, ArrayRef<Label> labels)
      : f(f), start(start), labels(labels) {}

  Constant *address(uint32_t offset) {
    Type *byte = Type::getInt8Ty(f.getContext());
    Constant *by = ConstantInt::get(Type::getInt64Ty(f.getContext()), offset);
    return ConstantExpr::getGetElementPtr(byte, start, by);
  }

  /// Replaces the addresses of the labels.
  void replace() {
    SmallVector<BasicBlock *, 64> blocks;
    for (BasicBlock &b : f)
      blocks.push_back(&b);
    for (auto [n, label] : enumerate(labels)) {
      if (label.block >= blocks.size())
        continue;
      BasicBlock *block = blocks[label.block];
      number[block] = n;
      if (BlockAddress *known = BlockAddress::lookup(block)) {
        known->replaceAllUsesWith(address(label.offset));
        known->destroyConstant();
      }
    }
  }

  void makeTable() {
    auto less = [](const Label &a, const Label &b) { return a.offset < b.offset; };
    first = min_element(labels, less)->offset;
    uint32_t last = max_element(labels, less)->offset;
    LLVMContext &context = f.getContext();
    Constant *list = labels.size() <= 256 ? numbers<uint8_t>(context, labels, first, last)
                     : labels.size() <= 65536
                         ? numbers<uint16_t>(context, labels, first, last)
                         : numbers<uint32_t>(context, labels, first, last);
    table = new GlobalVariable(*f.getParent(), list->getType(), true, GlobalValue::PrivateLinkage,
                               list, "ompvm.labels");
    table->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  }

  /// Returns the number of the label with an address.
  Value *numberAt(IRBuilder<> &b, Value *at) {
    Type *word = b.getInt64Ty();
    auto added = [](Value *v) {
      if (auto *i = dyn_cast<Instruction>(v))
        markAdded(*i);
      return v;
    };
    Value *whole = added(b.CreatePtrToInt(at, word));
    Value *offset = added(b.CreateSub(whole, ConstantExpr::getPtrToInt(address(first), word)));
    Value *entry = added(b.CreateGEP(b.getInt8Ty(), table, scaled(b, offset, added)));
    auto *type = cast<IntegerType>(table->getValueType()->getArrayElementType());
    LoadInst *load = b.CreateAlignedLoad(type, entry, Align(type->getBitWidth() / 8));
    load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(f.getContext(), {}));
    APInt end(type->getBitWidth(), labels.size());
    if (end == labels.size())
      load->setMetadata(LLVMContext::MD_range,
                        MDBuilder(f.getContext()).createRange(APInt(end.getBitWidth(), 0), end));
    return added(load);
  }

  template <typename Added> Value *scaled(IRBuilder<> &b, Value *offset, Added added) {
    unsigned size = table->getValueType()->getArrayElementType()->getIntegerBitWidth() / 8;
    return size == 1 ? offset : added(b.CreateMul(offset, b.getInt64(size)));
  }

  /// Replaces a jump by a switch. A target without a label cannot be reached.
  void lower(IndirectBrInst *jump) {
    BasicBlock *from = jump->getParent();
    SmallVector<BasicBlock *, 32> targets;
    SmallPtrSet<BasicBlock *, 32> seen;
    for (unsigned n = 0; n < jump->getNumDestinations(); n++) {
      BasicBlock *to = jump->getDestination(n);
      if (number.contains(to) && seen.insert(to).second)
        targets.push_back(to);
      else
        to->removePredecessor(from, /*KeepOneInputPHIs=*/true);
    }
    IRBuilder<> b(jump);
    if (targets.empty()) {
      b.CreateUnreachable();
    } else {
      if (!table)
        makeTable();
      Value *value = numberAt(b, jump->getAddress());
      SwitchInst *to = b.CreateSwitch(value, targets.front(), targets.size() - 1);
      for (BasicBlock *target : drop_begin(targets))
        to->addCase(ConstantInt::get(cast<IntegerType>(value->getType()), number[target]), target);
    }
    jump->eraseFromParent();
  }

  GlobalVariable *run() {
    replace();
    for (BasicBlock &block : f)
      if (auto *jump = dyn_cast_or_null<IndirectBrInst>(block.getTerminator()))
        lower(jump);
    return table;
  }
};

} // namespace

/// Replaces the addresses of a function's labels by offsets from `start`, and its jumps to them by
/// switches. Returns the variable that it added; null without one.
extern "C" LLVMValueRef ompvm_lower_labels(LLVMValueRef function, LLVMValueRef start,
                                           const Label *labels, size_t count) {
  Lowering lowering(*unwrap<Function>(function), unwrap<Constant>(start),
                    ArrayRef<Label>(labels, count));
  return wrap(lowering.run());
}
