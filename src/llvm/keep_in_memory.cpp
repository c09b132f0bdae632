// Keeps arrays in memory whose elements a loop would carry in more registers than there are.
//
// Unrolling turns the indices of small arrays into constants. SROA then makes a value of each
// element, or LICM one for the duration of a loop. An element that a loop changes only on some
// paths becomes a phi at the loop's header. A search that keeps its best candidates has dozens of
// them (`zran3` of MG with `bubble` inlined). The register allocator spills them all, and each
// iteration copies the spilled values although it changes almost none of them. In memory they cost
// an iteration nothing.
//
// A call of a function without a body takes the array's address, so that SROA does not split it.
// The accesses in loops are volatile, so that LICM does not hoist elements. `ompvm_release_arrays`
// removes both before code generation.
//
// Left to LLVM are arrays whose address escapes, which stay in memory anyway, elements that each
// iteration writes, such as accumulators, and loops with few such elements.

#include "analyses.h"

#include <llvm-c/Core.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallBitVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <optional>

using namespace llvm;

namespace {

/// Most elements that a loop may carry without writing them in each iteration.
constexpr unsigned MOST = 12;
/// Fewest elements of an array; smaller ones are a value or two.
constexpr unsigned FEW = 4;
/// Most elements examined in a function, and most accesses to one array.
constexpr unsigned ELEMENTS = 1024, ACCESSES = 4096;

const char *const HOLDER = "ompvm.in_memory";

/// The elements of a function's arrays that LLVM could promote to values.
class CarriedArrays {
  Function &function;
  LoopInfo &loops;
  DominatorTree &dominators;
  const DataLayout &layout;

  struct Access {
    Instruction *at;
    unsigned first, last; // range of elements
    bool store;
  };
  struct Element {
    AllocaInst *array;
    int64_t offset;
  };
  SmallVector<Element, 64> elements;
  DenseMap<BasicBlock *, SmallVector<Access, 8>> accesses;

public:
  CarriedArrays(Function &function, FunctionAnalysisManager &of)
      : function(function), loops(of.getResult<LoopAnalysis>(function)),
        dominators(of.getResult<DominatorTreeAnalysis>(function)),
        layout(function.getDataLayout()) {}

  /// Makes the accesses to an array in loops volatile and tags each.
  void make_volatile(AllocaInst *array) {
    MDNode *note = MDNode::get(array->getContext(), {});
    SmallVector<Value *, 16> todo{array};
    while (!todo.empty())
      for (User *user : todo.pop_back_val()->users()) {
        auto *i = cast<Instruction>(user);
        auto *load = dyn_cast<LoadInst>(i);
        auto *store = dyn_cast<StoreInst>(i);
        if (isa<GetElementPtrInst>(i)) {
          todo.push_back(i);
        } else if ((load || store) && loops.getLoopFor(i->getParent())) {
          load ? load->setVolatile(true) : store->setVolatile(true);
          i->setMetadata(HOLDER, note);
        }
      }
  }

  /// Returns the arrays to keep in memory.
  SmallSetVector<AllocaInst *, 4> find() {
    SmallSetVector<AllocaInst *, 4> found;
    for (Instruction &i : function.getEntryBlock())
      if (auto *array = dyn_cast<AllocaInst>(&i))
        collect(array);
    MapVector<Loop *, SmallBitVector> changed = changed_on_some_paths();
    changed.remove_if([](auto &of) { return of.second.count() <= MOST; });
    if (changed.empty())
      return found;
    DenseMap<BasicBlock *, SmallBitVector> live = live_at_start();
    for (auto &[loop, some] : changed) {
      SmallBitVector carried = some;
      carried &= live[loop->getHeader()];
      if (carried.count() > MOST)
        for (unsigned e : carried.set_bits())
          found.insert(elements[e].array);
    }
    return found;
  }

private:
  struct Part {
    Instruction *at;
    int64_t from, to; // range of bytes
    bool store;
  };

  /// Records the accesses to an array if its address does not escape.
  void collect(AllocaInst *array) {
    std::optional<TypeSize> size = array->getAllocationSize(layout);
    if (!array->isStaticAlloca() || !size || size->isScalable())
      return;
    int64_t end = size->getFixedValue();
    SmallVector<Part, 64> parts;
    SmallVector<std::pair<Value *, int64_t>, 16> todo{{array, 0}};
    while (!todo.empty()) {
      auto [pointer, offset] = todo.pop_back_val();
      for (User *user : pointer->users()) {
        if (parts.size() + todo.size() > ACCESSES)
          return;
        if (auto *gep = dyn_cast<GetElementPtrInst>(user)) {
          APInt more(64, 0);
          if (gep->accumulateConstantOffset(layout, more))
            todo.push_back({gep, offset + more.getSExtValue()});
          else if (is_accessed_only(gep))
            parts.push_back({gep, 0, end, false});
          else
            return;
        } else if (auto *load = dyn_cast<LoadInst>(user)) {
          if (!load->isSimple() || !add(parts, load, offset, load->getType(), false))
            return;
        } else if (auto *store = dyn_cast<StoreInst>(user)) {
          if (!store->isSimple() || store->getValueOperand() == pointer ||
              !add(parts, store, offset, store->getValueOperand()->getType(), true))
            return;
        } else if (auto *some = dyn_cast<MemIntrinsic>(user)) {
          auto *length = dyn_cast<ConstantInt>(some->getLength());
          if (!length || some->isVolatile())
            return;
          parts.push_back({some, offset, offset + int64_t(length->getZExtValue()),
                           some->getRawDest() == pointer});
        } else if (auto *intrinsic = dyn_cast<IntrinsicInst>(user);
                   intrinsic && intrinsic->isLifetimeStartOrEnd()) {
          // The previous contents are dead.
          parts.push_back({intrinsic, 0, end, true});
        } else {
          return;
        }
      }
    }
    note(array, end, parts);
  }

  /// Returns true if an address, and addresses made of it, are only loaded from and stored to.
  static bool is_accessed_only(Value *address) {
    return all_of(address->users(), [&](User *user) {
      if (isa<GetElementPtrInst>(user))
        return is_accessed_only(user);
      auto *load = dyn_cast<LoadInst>(user);
      auto *store = dyn_cast<StoreInst>(user);
      return load ? load->isSimple()
                  : store && store->isSimple() && store->getValueOperand() != address;
    });
  }

  bool add(SmallVectorImpl<Part> &parts, Instruction *at, int64_t offset, Type *type, bool store) {
    TypeSize size = layout.getTypeStoreSize(type);
    if (size.isScalable())
      return false;
    parts.push_back({at, offset, offset + int64_t(size.getFixedValue()), store});
    return true;
  }

  /// Splits the array into elements at the starts of its accesses.
  void note(AllocaInst *array, int64_t end, ArrayRef<Part> parts) {
    SmallVector<int64_t, 64> starts;
    for (const Part &part : parts)
      if (part.from >= 0 && part.from < end)
        starts.push_back(part.from);
    sort(starts);
    starts.erase(llvm::unique(starts), starts.end());
    if (starts.size() < FEW || elements.size() + starts.size() > ELEMENTS)
      return;
    unsigned base = elements.size();
    for (int64_t start : starts)
      elements.push_back({array, start});
    auto index = [&](int64_t at) {
      return base + unsigned(lower_bound(starts, at) - starts.begin());
    };
    for (const Part &part : parts)
      accesses[part.at->getParent()].push_back(
          {part.at, index(part.from), index(part.to), part.store});
  }

  /// Returns, for each loop, the elements that it stores to, but not in each iteration.
  MapVector<Loop *, SmallBitVector> changed_on_some_paths() {
    MapVector<Loop *, SmallBitVector> some, always;
    for (BasicBlock &block : function) {
      auto here = accesses.find(&block);
      Loop *loop = loops.getLoopFor(&block);
      if (here == accesses.end() || !loop)
        continue;
      BasicBlock *latch = loop->getLoopLatch();
      auto &into = latch && dominators.dominates(&block, latch) ? always : some;
      SmallBitVector &set = into[loop];
      set.resize(elements.size());
      for (const Access &access : here->second)
        if (access.store && !isa<LifetimeIntrinsic>(access.at))
          set.set(access.first, access.last);
    }
    for (auto &[loop, set] : always)
      if (some.contains(loop))
        some[loop].reset(set);
    return some;
  }

  /// Returns, for each block, the elements that are live at its start.
  DenseMap<BasicBlock *, SmallBitVector> live_at_start() {
    DenseMap<BasicBlock *, SmallBitVector> needed, written, live;
    for (auto &[block, here] : accesses) {
      // In program order.
      sort(here, [](const Access &a, const Access &b) {
        return a.at != b.at && a.at->comesBefore(b.at);
      });
      SmallBitVector need(elements.size()), write(elements.size());
      for (const Access &access : here) {
        SmallBitVector set(elements.size());
        set.set(access.first, access.last);
        if (access.store)
          write |= set;
        else
          need |= set.reset(write);
      }
      needed[block] = std::move(need);
      written[block] = std::move(write);
    }
    for (BasicBlock &block : function)
      live[&block].resize(elements.size());
    for (bool again = true; again;) {
      again = false;
      for (BasicBlock *block : post_order(&function)) {
        SmallBitVector now(elements.size());
        for (BasicBlock *next : successors(block))
          now |= live[next];
        if (auto write = written.find(block); write != written.end())
          now.reset(write->second);
        if (auto need = needed.find(block); need != needed.end())
          now |= need->second;
        SmallBitVector &before = live[block];
        if (now != before) {
          before = std::move(now);
          again = true;
        }
      }
    }
    return live;
  }
};

} // namespace

/// Keeps such arrays of a module in memory until `ompvm_release_arrays`. Returns 1 if there was
/// one.
extern "C" int ompvm_keep_in_memory(LLVMModuleRef wrapped) {
  Module &module = *unwrap(wrapped);
  std::optional<ompvm::Analyses> analyses; // not needed for most modules
  int found = 0;
  for (Function &f : module) {
    if (f.isDeclaration() || none_of(f.getEntryBlock(), [](Instruction &i) {
          auto *array = dyn_cast<AllocaInst>(&i);
          return array && array->getAllocatedType()->isAggregateType();
        }))
      continue;
    if (!analyses)
      analyses.emplace();
    FunctionAnalysisManager &of = analyses->of_functions();
    if (of.getResult<LoopAnalysis>(f).empty())
      continue;
    CarriedArrays carried(f, of);
    for (AllocaInst *array : carried.find()) {
      carried.make_volatile(array);
      FunctionCallee holder = module.getOrInsertFunction(
          HOLDER, Type::getVoidTy(module.getContext()), array->getType());
      IRBuilder<> builder(array->getParent(), std::next(array->getIterator()));
      builder.CreateCall(holder, {array});
      found = 1;
    }
  }
  return found;
}

/// Removes the calls and volatile flags that kept arrays in memory.
extern "C" void ompvm_release_arrays(LLVMModuleRef wrapped) {
  Function *holder = unwrap(wrapped)->getFunction(HOLDER);
  if (!holder)
    return;
  SmallPtrSet<Function *, 4> functions;
  for (User *user : make_early_inc_range(holder->users())) {
    auto *call = cast<Instruction>(user);
    functions.insert(call->getFunction());
    call->eraseFromParent();
  }
  holder->eraseFromParent();
  for (Function *f : functions)
    for (Instruction &i : instructions(*f))
      if (i.getMetadata(HOLDER)) {
        if (auto *load = dyn_cast<LoadInst>(&i))
          load->setVolatile(false);
        else if (auto *store = dyn_cast<StoreInst>(&i))
          store->setVolatile(false);
        i.setMetadata(HOLDER, nullptr);
      }
}
