// Definite initialization of variables, and trip counts of loops.
//
// Every use of an address is followed. A read is stale unless writes that dominate it cover its
// bytes: stores and fills at constant offsets, and loops of known trip count that store consecutive
// elements in each iteration, or several stores together in a loop that a compiler unrolled. A
// value that is read and only flows back into the same variable (`a[k] += 1`) is not observed.
//
// Paths are what dominators say, so a variable that is written in both branches of a condition
// counts as not written.

#include <llvm-c/Core.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

using namespace llvm;

namespace {

/// Depth to which calls are followed.
constexpr unsigned DEEPEST = 16;

/// Classification of a use; as in `shim.rs`.
enum Finding : int { FINE = 0, UNINITIALIZED = 1, ESCAPES = 2 };

struct Analyses {
  TargetLibraryInfoImpl names;
  TargetLibraryInfo library;
  AssumptionCache assumptions;
  DominatorTree tree;
  LoopInfo loops;
  ScalarEvolution evolution;
  explicit Analyses(Function &f)
      : names(Triple(f.getParent()->getTargetTriple())), library(names), assumptions(f), tree(f),
        loops(tree), evolution(f, library, assumptions, tree, loops) {}
};

/// Bytes that are written, and the point from which that holds: after an instruction or after a
/// loop.
struct Written {
  int64_t from, to;
  const Instruction *at;
  const Loop *loop;
};

/// Bytes that each iteration of the loops around a block writes.
struct Step {
  const SCEV *where;
  int64_t size;
  const BasicBlock *block;
  const Instruction *at;
  const Loop *behind;
};

/// Bytes that a loop writes at a stride that leaves gaps.
struct Strided {
  const Loop *loop;
  const SCEV *start;
  int64_t size, step;
  uint64_t trips;
};

struct Read {
  Instruction *at;
  Value *address;
  uint64_t size; // 0 if unknown
};

class Variable {
public:
  Variable(Function &f, Value *root, uint64_t size) : function(f), root(root), size(size), of(f) {}

  /// Returns the first finding other than FINE.
  Finding look(bool outside, unsigned depth, Instruction *&culprit);

private:
  Function &function;
  Value *root;
  uint64_t size;
  Analyses of;
  SmallPtrSet<Value *, 16> addresses;
  SmallVector<Read, 16> reads;
  SmallVector<Written, 16> written;
  SmallVector<Step, 16> steps;
  SmallVector<Strided, 16> strided;

  Finding collect(unsigned depth, Instruction *&culprit);
  bool returns(Value *value);
  void write(Instruction *at, Value *address, uint64_t bytes);
  void follow(Step next);
  std::optional<int64_t> place(const SCEV *address);
  std::optional<uint64_t> runs(const Loop *loop, const BasicBlock *block);
  void join();
  bool covered(const Read &read);
};

/// Returns true if a value that was read only flows back to the variable.
bool Variable::returns(Value *value) {
  SmallVector<Value *, 8> open{value};
  SmallPtrSet<Value *, 8> seen;
  while (!open.empty()) {
    Value *next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (User *user : next->users()) {
      if (auto *store = dyn_cast<StoreInst>(user)) {
        const SCEV *where = of.evolution.getSCEV(store->getPointerOperand());
        if (of.evolution.getPointerBase(where) != of.evolution.getSCEV(root))
          return false;
        continue;
      }
      auto *operation = dyn_cast<BinaryOperator>(user);
      bool divides = operation && (operation->getOpcode() == Instruction::UDiv ||
                                   operation->getOpcode() == Instruction::SDiv ||
                                   operation->getOpcode() == Instruction::URem ||
                                   operation->getOpcode() == Instruction::SRem);
      auto *select = dyn_cast<SelectInst>(user);
      bool chooses = select && select->getCondition() == next;
      if (divides || chooses ||
          !isa<BinaryOperator, UnaryOperator, CastInst, PHINode, SelectInst>(user) ||
          user->getType()->isPtrOrPtrVectorTy())
        return false;
      open.push_back(user);
    }
  }
  return true;
}

/// Returns an address's offset in the variable, if it is a constant.
std::optional<int64_t> Variable::place(const SCEV *address) {
  const SCEV *offset = of.evolution.getMinusSCEV(address, of.evolution.getSCEV(root));
  if (auto *number = dyn_cast<SCEVConstant>(offset))
    return number->getAPInt().trySExtValue();
  return std::nullopt;
}

/// Returns how often a block runs each time that a loop runs to its end.
std::optional<uint64_t> Variable::runs(const Loop *loop, const BasicBlock *block) {
  BasicBlock *latch = loop->getLoopLatch(), *leaves = loop->getExitingBlock();
  if (!latch || !leaves || !of.tree.dominates(block, latch))
    return std::nullopt;
  auto *times = dyn_cast<SCEVConstant>(of.evolution.getBackedgeTakenCount(loop));
  if (!times || times->getAPInt().getActiveBits() > 62)
    return std::nullopt;
  uint64_t back = times->getAPInt().getZExtValue();
  return of.tree.dominates(block, leaves) ? back + 1 : back;
}

/// Rewrites zero-extended indices that are non-negative while a block runs to recurrences in the
/// wide type.
class Widening : public SCEVRewriteVisitor<Widening> {
public:
  using Runs = function_ref<std::optional<uint64_t>(const Loop *)>;
  Widening(ScalarEvolution &evolution, Runs runs) : SCEVRewriteVisitor(evolution), runs(runs) {}
  const SCEV *visitZeroExtendExpr(const SCEVZeroExtendExpr *wide) {
    auto *moves = dyn_cast<SCEVAddRecExpr>(wide->getOperand());
    if (!moves || !moves->isAffine() || SE.getTypeSizeInBits(moves->getType()) > 32)
      return wide;
    auto *start = dyn_cast<SCEVConstant>(moves->getStart());
    auto *step = dyn_cast<SCEVConstant>(moves->getStepRecurrence(SE));
    auto times = runs(moves->getLoop());
    if (!start || !step || !times || *times == 0 || *times > UINT32_MAX)
      return wide;
    int64_t first = start->getAPInt().getSExtValue(), by = step->getAPInt().getSExtValue();
    int64_t last = first + by * int64_t(*times - 1);
    if (first < 0 || last < 0 || last > INT32_MAX)
      return wide;
    Type *type = wide->getType();
    return SE.getAddRecExpr(SE.getConstant(type, uint64_t(first)),
                            SE.getConstant(type, uint64_t(by), /*isSigned=*/true), moves->getLoop(),
                            SCEV::FlagAnyWrap);
  }

private:
  Runs runs;
};

void Variable::write(Instruction *at, Value *address, uint64_t bytes) {
  const BasicBlock *block = at->getParent();
  auto times = [&](const Loop *loop) {
    return loop->contains(block) ? runs(loop, block) : std::nullopt;
  };
  Widening widening(of.evolution, times);
  const SCEV *where = widening.visit(of.evolution.getSCEV(address));
  steps.push_back({where, int64_t(bytes), block, at, nullptr});
}

/// Extends a write over the loops around it.
void Variable::follow(Step next) {
  ScalarEvolution &evolution = of.evolution;
  while (auto *moves = dyn_cast<SCEVAddRecExpr>(next.where)) {
    const Loop *loop = moves->getLoop();
    auto *step = dyn_cast<SCEVConstant>(moves->getStepRecurrence(evolution));
    if (!moves->isAffine() || !step || !loop->contains(next.block))
      return;
    auto trips = runs(loop, next.block);
    if (!trips || *trips == 0)
      return;
    int64_t distance = step->getAPInt().getSExtValue();
    const SCEV *first = moves->getStart();
    if (*trips > uint64_t(INT64_MAX) / 2 / uint64_t(std::max<int64_t>(std::abs(distance), 1)))
      return;
    if (distance < 0) {
      first = evolution.getAddExpr(
          first, evolution.getConstant(step->getType(), uint64_t(distance) * (*trips - 1),
                                       /*isSigned=*/true));
      distance = -distance;
    }
    if (distance > next.size) {
      // Other stores of the loop may fill the gaps.
      strided.push_back({loop, first, next.size, distance, *trips});
      return;
    }
    next = {first, next.size + distance * int64_t(*trips - 1), loop->getHeader(), nullptr, loop};
  }
  if (auto start = place(next.where))
    written.push_back({*start, *start + next.size, next.at, next.behind});
}

/// Extends all writes; stores of a loop that together cover its stride count as one.
void Variable::join() {
  for (const Step &step : steps)
    follow(step);
  for (size_t done = 0; done < strided.size();) {
    SmallVector<Strided, 16> group(strided.begin() + done, strided.end());
    done = strided.size();
    for (const Strided &first : group) {
      SmallVector<std::pair<int64_t, int64_t>, 8> parts;
      for (const Strided &next : group) {
        if (next.loop != first.loop || next.step != first.step || next.trips != first.trips)
          continue;
        auto *apart = dyn_cast<SCEVConstant>(of.evolution.getMinusSCEV(next.start, first.start));
        if (apart && !apart->getAPInt().isNegative() && apart->getAPInt().getActiveBits() < 63)
          parts.push_back({apart->getAPInt().getSExtValue(), next.size});
      }
      llvm::sort(parts);
      int64_t end = 0;
      for (auto [from, size] : parts)
        if (from <= end)
          end = std::max(end, from + size);
      if (end >= first.step)
        follow({first.start, end + first.step * int64_t(first.trips - 1), first.loop->getHeader(),
                nullptr, first.loop});
    }
  }
}

bool Variable::covered(const Read &read) {
  int64_t from = 0, to = int64_t(size);
  auto at = place(of.evolution.getSCEV(read.address));
  if (at && read.size > 0)
    from = *at, to = *at + int64_t(read.size);
  auto before = [&](const Written &w) {
    if (w.at)
      return of.tree.dominates(w.at, read.at);
    const BasicBlock *block = read.at->getParent();
    return !w.loop->contains(block) && of.tree.dominates(w.loop->getHeader(), block);
  };
  bool more = true;
  while (from < to && more) {
    more = false;
    for (const Written &w : written)
      if (w.from <= from && w.to > from && before(w))
        from = w.to, more = true;
  }
  return from >= to;
}

/// Classifies the uses of an argument in the callee.
Finding argument(CallBase &call, unsigned index, uint64_t size, unsigned depth,
                 Instruction *&culprit) {
  Function *callee = call.getCalledFunction();
  if (!callee || callee->isDeclaration() || callee->isVarArg() || depth >= DEEPEST ||
      index >= callee->arg_size() || callee->isInterposable()) {
    culprit = &call;
    return ESCAPES;
  }
  return Variable(*callee, callee->getArg(index), size).look(true, depth + 1, culprit);
}

Finding Variable::collect(unsigned depth, Instruction *&culprit) {
  const DataLayout &layout = function.getParent()->getDataLayout();
  auto bytes = [&](Type *type) { return layout.getTypeStoreSize(type).getKnownMinValue(); };
  SmallVector<Value *, 16> open{root};
  SmallVector<std::pair<Use *, Instruction *>, 32> uses;
  while (!open.empty()) {
    Value *pointer = open.pop_back_val();
    if (!addresses.insert(pointer).second)
      continue;
    for (Use &use : pointer->uses()) {
      auto *at = dyn_cast<Instruction>(use.getUser());
      if (!at)
        return ESCAPES;
      if (!of.tree.isReachableFromEntry(at->getParent()))
        continue;
      if (isa<GetElementPtrInst, PHINode, FreezeInst>(at) ||
          (isa<SelectInst>(at) && use.getOperandNo() > 0))
        open.push_back(at);
      else
        uses.push_back({&use, at});
    }
  }
  for (auto [use, at] : uses) {
    culprit = at;
    Value *pointer = use->get();
    if (auto *load = dyn_cast<LoadInst>(at)) {
      if (load->isVolatile())
        return ESCAPES;
      if (!returns(load))
        reads.push_back({at, pointer, bytes(load->getType())});
    } else if (auto *store = dyn_cast<StoreInst>(at)) {
      if (store->isVolatile() || use->getOperandNo() != StoreInst::getPointerOperandIndex())
        return ESCAPES;
      write(at, pointer, bytes(store->getValueOperand()->getType()));
    } else if (auto *update = dyn_cast<AtomicRMWInst>(at)) {
      if (update->isVolatile() || use->getOperandNo() != AtomicRMWInst::getPointerOperandIndex())
        return ESCAPES;
      if (!returns(update))
        reads.push_back({at, pointer, bytes(update->getType())});
    } else if (auto *fill = dyn_cast<MemIntrinsic>(at)) {
      auto *count = dyn_cast<ConstantInt>(fill->getLength());
      if (fill->isVolatile())
        return ESCAPES;
      if (use->getOperandNo() != 0)
        reads.push_back({at, pointer, count ? count->getZExtValue() : 0});
      else if (count)
        write(at, pointer, count->getZExtValue());
    } else if (auto *call = dyn_cast<CallBase>(at)) {
      auto *intrinsic = dyn_cast<IntrinsicInst>(call);
      if (intrinsic && (intrinsic->isLifetimeStartOrEnd() || intrinsic->isAssumeLikeIntrinsic()))
        continue;
      if (!call->isArgOperand(use))
        return ESCAPES;
      if (Finding found = argument(*call, call->getArgOperandNo(use), size, depth, culprit))
        return found;
    } else {
      return ESCAPES;
    }
  }
  return FINE;
}

Finding Variable::look(bool outside, unsigned depth, Instruction *&culprit) {
  if (Finding found = collect(depth, culprit))
    return found;
  join();
  for (const Read &read : reads)
    // Elsewhere, a region may run between the write and the read.
    if (outside || !covered(read)) {
      culprit = read.at;
      return UNINITIALIZED;
    }
  culprit = nullptr;
  return FINE;
}

} // namespace

/// Classifies the uses of a variable of `size` bytes, whose address is an instruction's result, and
/// gives the offending instruction: UNINITIALIZED if it is read before it is written, ESCAPES if
/// its address escapes. With `outside`, no read counts as preceded by a write.
extern "C" int ompvm_check_initialized(LLVMValueRef address, uint64_t size, int outside,
                                   LLVMValueRef *culprit) {
  auto *root = unwrap<Instruction>(address);
  Instruction *at = nullptr;
  Finding found = Variable(*root->getFunction(), root, size).look(outside != 0, 0, at);
  *culprit = wrap(at);
  return found;
}

/// Returns an upper bound of how often a block runs, as the product of the trip counts of the loops
/// around it, up to a loop in which functions of the module are called; 0 if unknown.
extern "C" uint64_t ompvm_max_trips(LLVMBasicBlockRef wrapped) {
  BasicBlock *block = unwrap(wrapped);
  Analyses of(*block->getParent());
  uint64_t trips = 1;
  auto calls = [](const Instruction &i) {
    auto *call = dyn_cast<CallBase>(&i);
    return call && call->getCalledFunction() && !call->getCalledFunction()->isDeclaration();
  };
  for (Loop *loop = of.loops.getLoopFor(block); loop; loop = loop->getParentLoop()) {
    if (any_of(loop->blocks(), [&](BasicBlock *b) { return any_of(*b, calls); }))
      break;
    uint64_t most = of.evolution.getSmallConstantMaxTripCount(loop);
    if (most == 0 || trips > UINT32_MAX)
      return 0;
    trips *= most;
  }
  return trips;
}
