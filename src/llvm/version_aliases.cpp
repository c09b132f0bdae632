// Alias versioning: loops in two versions, one of which assumes that its arrays do not overlap.
//
// A compiler rarely sees that the pointers of a loop point into different heap blocks, but a
// running process can look them up. If that may help the passes (the loop stores through one
// pointer, accesses another that might alias it, and is not vectorized yet), the loop's nest is
// copied. At its head, `ompvm.distinct` tests whether every pointer that the nest's accesses are
// based on is the start of a heap block of its own, and whether the bytes at fixed offsets from
// other pointers (what a region captured) lie in none of these blocks. If so, a version runs in
// which accesses based on different pointers are marked as not aliasing (scoped noalias metadata);
// otherwise the original.
//
// This is sound because an access based on a pointer stays in the block that the pointer points to,
// a rule that LLVM's own analyses rely on, and variables are not part of the heap.
//
// Pointers computed inside the nest (rows of an array of pointers) are left alone, and so are loops
// that are entered often for a short time, whose guard would cost more than it gains.

#include "analyses.h"
#include "loop_versions.h"

#include <llvm-c/Core.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/DomTreeUpdater.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

using namespace llvm;

namespace {

/// Largest nest that is copied, in instructions.
constexpr unsigned LARGEST = 1200;
/// Most pointers that a guard looks up.
constexpr unsigned MOST = 24;
/// Fewest dynamic instructions of a loop for which a guard pays, and assumed trip count of an inner
/// loop.
constexpr uint64_t WORTH = 4096, INSIDE = 16;
/// Most pairs of accesses that are examined in a loop.
constexpr unsigned PAIRS = 4096;

/// The accesses of a nest that are based on one pointer.
struct Base {
  SmallVector<Instruction *, 8> accesses;
  bool variable = false; // a local or global variable
  bool fixed = true; // all accesses are at constant offsets from the pointer,
  int64_t low = 0, high = 0; // within this range of bytes
};

/// The bases of a nest's accesses.
struct Bases {
  MapVector<Value *, Base> known;
  // pointers to look up as starts of blocks; pointers with fixed offsets
  SmallVector<Value *, 8> heap, places;
  unsigned others = 0; // accesses based on pointers computed in the nest
};

/// Returns true for loads and stores that are neither atomic nor volatile.
bool plain(const Instruction &i) {
  if (auto *load = dyn_cast<LoadInst>(&i))
    return load->isSimple();
  if (auto *store = dyn_cast<StoreInst>(&i))
    return store->isSimple();
  return false;
}

/// Returns the single object that an address is based on; null if there are several.
Value *base(const Value *address, LoopInfo &loops) {
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(address, objects, &loops, 0);
  return objects.size() == 1 ? const_cast<Value *>(objects[0]) : nullptr;
}

class AliasVersioning {
  Function &f;
  FunctionAnalysisManager &analyses;

public:
  AliasVersioning(Function &f, FunctionAnalysisManager &analyses) : f(f), analyses(analyses) {}

  /// Versions the loops that qualify. Returns true if there were any.
  bool run() {
    // Versioning invalidates every analysis, so loops are identified by their headers.
    SmallVector<BasicBlock *, 8> heads;
    auto &loops = analyses.getResult<LoopAnalysis>(f);
    for (Loop *loop : loops)
      collect(loop, heads);
    for (BasicBlock *head : heads)
      version(head);
    return !heads.empty();
  }

private:
  /// Collects the headers of the outermost nests that qualify.
  void collect(Loop *loop, SmallVectorImpl<BasicBlock *> &heads) {
    if (qualifies(loop))
      heads.push_back(loop->getHeader());
    else
      for (Loop *inner : *loop)
        collect(inner, heads);
  }

  Bases bases(Loop *loop) {
    auto &loops = analyses.getResult<LoopAnalysis>(f);
    Bases found;
    for (BasicBlock *block : loop->blocks())
      for (Instruction &i : *block) {
        if (!plain(i))
          continue;
        Value *on = base(getLoadStorePointerOperand(&i), loops);
        bool known = on && loop->isLoopInvariant(on) && (variable(on) || available(on, loop));
        if (known)
          add(found.known[on], on, &i);
        else
          found.others++;
      }
    for (auto &[on, base] : found.known) {
      base.variable = variable(on);
      if (!base.variable)
        (base.fixed ? found.places : found.heap).push_back(on);
    }
    return found;
  }

  void add(Base &base, Value *on, Instruction *access) {
    const DataLayout &layout = f.getParent()->getDataLayout();
    TypeSize size = layout.getTypeStoreSize(getLoadStoreType(access));
    APInt distance(64, 0);
    Value *address = getLoadStorePointerOperand(access);
    if (address->stripAndAccumulateConstantOffsets(layout, distance, true) != on ||
        size.isScalable())
      base.fixed = false;
    int64_t low = distance.getSExtValue(), high = low + (int64_t)size.getKnownMinValue();
    bool first = base.accesses.empty();
    base.low = first ? low : std::min(base.low, low);
    base.high = first ? high : std::max(base.high, high);
    base.accesses.push_back(access);
  }

  /// Returns true if the base is not part of the heap. The result of an allocation does not count:
  /// another pointer may be a copy of it.
  static bool variable(const Value *on) {
    auto *argument = dyn_cast<Argument>(on);
    return isa<AllocaInst>(on) || isa<GlobalVariable>(on) || (argument && argument->hasByValAttr());
  }

  /// Returns true for pointers that are available at the nest's head and can be looked up.
  bool available(const Value *on, const Loop *loop) {
    auto *made = dyn_cast<Instruction>(on);
    return !isa<Constant>(on) && on->getType()->isPointerTy() &&
           on->getType()->getPointerAddressSpace() == 0 &&
           (!made || analyses.getResult<DominatorTreeAnalysis>(f).dominates(
                         made, loop->getHeader()->getFirstNonPHIIt()));
  }

  bool qualifies(Loop *loop) {
    unsigned size = 0;
    for (BasicBlock *block : loop->blocks()) {
      size += block->size();
      if (size > LARGEST || block->isEHPad() || !plainEnd(block->getTerminator()))
        return false;
      for (Instruction &i : *block)
        if (i.getType()->isTokenTy() || (isa<CallBase>(i) && cast<CallBase>(i).cannotDuplicate()))
          return false;
    }
    if (!loop->isLoopSimplifyForm() && !loop->getLoopPredecessor())
      return false;
    Bases found = bases(loop);
    unsigned known = 0;
    for (auto &[on, base] : found.known)
      known += base.accesses.size();
    // If most bases are computed inside, a nested loop may know more.
    if (found.heap.empty() || found.heap.size() + found.places.size() > MOST ||
        found.known.size() < 2 || (found.others * 3 > known && !loop->isInnermost()))
      return false;
    return longEnough(loop) && may_gain(loop, found);
  }

  static bool plainEnd(const Instruction *end) {
    return isa<BranchInst>(end) || isa<SwitchInst>(end);
  }

  /// Returns false for loops known to be short. Trip counts known only at run time are tested by
  /// the guard.
  bool longEnough(Loop *loop) {
    auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(f);
    const SCEV *count = evolution.getBackedgeTakenCount(loop);
    if (auto *constant = dyn_cast<SCEVConstant>(count))
      return constant->getAPInt().uge(least(loop));
    return !isa<SCEVCouldNotCompute>(count) || depth(loop) > 2;
  }

  /// Returns the fewest iterations, not counting the first.
  static uint64_t least(const Loop *loop) {
    uint64_t size = 0;
    for (BasicBlock *block : loop->blocks())
      size += block->size();
    return std::max<uint64_t>(WORTH / (size * (loop->isInnermost() ? 1 : INSIDE)), 4);
  }

  static unsigned depth(const Loop *loop) {
    unsigned most = 0;
    for (const Loop *inner : *loop)
      most = std::max(most, depth(inner));
    return most + 1;
  }

  /// Returns true if an innermost loop that is not vectorized has a store and another access that
  /// only the guard can separate.
  bool may_gain(Loop *loop, const Bases &found) {
    if (!loop->isInnermost()) {
      for (Loop *inner : *loop)
        if (may_gain(inner, found))
          return true;
      return false;
    }
    if (findStringMetadataForLoop(loop, "llvm.loop.isvectorized"))
      return false;
    auto &alias = analyses.getResult<AAManager>(f);
    BatchAAResults batch(alias);
    unsigned pairs = 0;
    for (auto &[on, base] : found.known)
      for (Instruction *store : base.accesses) {
        if (!isa<StoreInst>(store) || !loop->contains(store))
          continue;
        for (auto &[other, more] : found.known) {
          if (other == on || !apart(base, more))
            continue;
          for (Instruction *access : more.accesses) {
            if (!loop->contains(access))
              continue;
            if (++pairs > PAIRS)
              return false;
            if (!batch.isNoAlias(whole(store), whole(access)))
              return true;
          }
        }
      }
    return false;
  }

  static bool heap(const Base &base) { return !base.variable && !base.fixed; }

  /// Returns true if the guard or LLVM proves that two bases do not alias. Two fixed locations may
  /// coincide, and one may lie in a variable.
  static bool apart(const Base &a, const Base &b) {
    return heap(a) || heap(b) || (a.variable && b.variable);
  }

  /// Returns everything that an access may touch in the course of a loop.
  static MemoryLocation whole(const Instruction *access) {
    return MemoryLocation(getLoadStorePointerOperand(access), LocationSize::beforeOrAfterPointer(),
                          access->getAAMetadata());
  }

  void version(BasicBlock *head) {
    auto &tree = analyses.getResult<DominatorTreeAnalysis>(f);
    auto &loops = analyses.getResult<LoopAnalysis>(f);
    auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(f);
    Loop *loop = loops.getLoopFor(head);
    simplifyLoop(loop, &tree, &loops, &evolution, nullptr, nullptr, /*PreserveLCSSA=*/false);
    formLCSSARecursively(*loop, tree, &loops, &evolution);
    BasicBlock *check = loop->getLoopPreheader();
    if (!check || !loop->hasDedicatedExits())
      return;
    Bases found = bases(loop);
    if (found.heap.empty())
      return;
    Value *guard = emit_guard(loop, check, found, evolution, tree, loops);
    add_scopes(found, ompvm::version(loop, guard, ".apart", tree, loops).chosen);
    PreservedAnalyses none = PreservedAnalyses::none();
    analyses.invalidate(f, none);
  }

  /// Emits the guard at the nest's head.
  Value *emit_guard(Loop *loop, BasicBlock *check, const Bases &found, ScalarEvolution &evolution,
             DominatorTree &tree, LoopInfo &loops) {
    DomTreeUpdater updater(tree, DomTreeUpdater::UpdateStrategy::Eager);
    Module &module = *f.getParent();
    LLVMContext &context = f.getContext();
    auto *pointer = PointerType::get(context, 0);
    // The starts of blocks, then for each fixed location its first byte and its end.
    auto *array = ArrayType::get(pointer, found.heap.size() + 2 * found.places.size());
    IRBuilder<> entry(&*f.getEntryBlock().getFirstInsertionPt());
    AllocaInst *list = entry.CreateAlloca(array);
    Instruction *end = check->getTerminator();
    IRBuilder<> build(end);
    const SCEV *count = evolution.getBackedgeTakenCount(loop);
    Value *enough = nullptr;
    SCEVExpander expander(evolution, "trip");
    if (!isa<SCEVCouldNotCompute>(count) && !isa<SCEVConstant>(count) &&
        expander.isSafeToExpandAt(count, end)) {
      Value *trip = expander.expandCodeFor(count, count->getType(), end);
      build.SetInsertPoint(end);
      enough = build.CreateICmpUGE(trip, ConstantInt::get(trip->getType(), least(loop)));
    }
    // The test only runs if the loop is long enough.
    Instruction *at = end;
    if (enough)
      at = SplitBlockAndInsertIfThen(enough, end, /*Unreachable=*/false, nullptr, &updater, &loops);
    build.SetInsertPoint(at);
    unsigned next = 0;
    auto put = [&](Value *value) {
      build.CreateStore(value, build.CreateConstInBoundsGEP2_32(array, list, 0, next++));
    };
    for (Value *start : found.heap)
      put(start);
    for (Value *place : found.places) {
      const Base &base = found.known.find(place)->second;
      put(build.CreateConstGEP1_64(build.getInt8Ty(), place, base.low));
      put(build.CreateConstGEP1_64(build.getInt8Ty(), place, base.high));
    }
    FunctionCallee distinct = module.getOrInsertFunction(
        "ompvm.distinct", build.getInt1Ty(), pointer, build.getInt32Ty(), build.getInt32Ty());
    auto *callee = cast<Function>(distinct.getCallee());
    callee->setDoesNotThrow();
    callee->setWillReturn();
    CallInst *call = build.CreateCall(distinct, {list, build.getInt32(found.heap.size()),
                                                build.getInt32(found.places.size())});
    if (DISubprogram *scope = f.getSubprogram())
      call->setDebugLoc(DILocation::get(context, 0, 0, scope));
    if (!enough)
      return call;
    auto *join = cast<Instruction>(end)->getParent();
    build.SetInsertPoint(&*join->begin());
    PHINode *both = build.CreatePHI(build.getInt1Ty(), 2);
    for (BasicBlock *from : predecessors(join))
      both->addIncoming(from == at->getParent() ? cast<Value>(call) : build.getFalse(), from);
    return both;
  }

  /// Adds alias scopes and noalias metadata to each access.
  void add_scopes(const Bases &found, BasicBlock *before) {
    LLVMContext &context = f.getContext();
    MDBuilder make(context);
    MDNode *domain = make.createAnonymousAliasScopeDomain("apart");
    SmallVector<Metadata *, 16> scopes;
    for (size_t i = 0; i < found.known.size(); i++)
      scopes.push_back(make.createAnonymousAliasScope(domain));
    // A pass that copies the version must create scopes of its own for the copy.
    IRBuilder<> build(before->getTerminator());
    for (Metadata *scope : scopes)
      build.CreateNoAliasScopeDeclaration(MDNode::get(context, {scope}));
    size_t own = 0;
    for (auto &[on, base] : found.known) {
      SmallVector<Metadata *, 16> others;
      size_t number = 0;
      for (auto &[other, more] : found.known) {
        if (other != on && apart(base, more))
          others.push_back(scopes[number]);
        number++;
      }
      MDNode *mine = MDNode::get(context, {scopes[own++]});
      MDNode *not_mine = MDNode::get(context, others);
      for (Instruction *i : base.accesses) {
        auto add = [i](unsigned kind, MDNode *node) {
          i->setMetadata(kind, MDNode::concatenate(i->getMetadata(kind), node));
        };
        add(LLVMContext::MD_alias_scope, mine);
        if (!others.empty())
          add(LLVMContext::MD_noalias, not_mine);
      }
    }
  }
};

} // namespace

/// Versions a module's loops. Returns 1 if it versioned any.
extern "C" int ompvm_version_aliases(LLVMModuleRef wrapped) {
  Module &module = *unwrap(wrapped);
  ompvm::Analyses analyses;
  int changed = 0;
  for (Function &f : module)
    if (!f.isDeclaration())
      changed |= AliasVersioning(f, analyses.of_functions()).run();
  return changed;
}
