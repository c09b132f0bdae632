// Index narrowing: versions loops so that their divisions have 32 bits.
//
// A collapsed loop counts in 64 bits, and each iteration recovers its indices by division. A GPU
// divides 64 bits with a hundred instructions. LLVM's code generator tests at each division whether
// 32 bits would do, and dependent instructions wait for that test. This pass tests once, before the
// loop, whether its bounds, step and divisors are small. Then so are the induction variable and all
// quotients and remainders of it. Indices derived from them by adding a constant do not overflow
// either, so 64-bit values computed from them (the addresses of a row and of its neighbors) can be
// shared.
//
// The divisors are loop-invariant, so the reciprocal of each is computed once, by one division, and
// an iteration multiplies and corrects by at most one (Granlund and Montgomery, PLDI 1994, with a
// remainder in place of a second word). A GPU's own 32-bit division takes several times as long: it
// converts to floating point and back each time.
//
// This is sound because the loop continues while the next value is at most the last one; small
// numbers add up without overflow, and signed and unsigned comparisons of them agree.
//
// Large loops, loops with convergent calls, and induction variables that start below zero are left
// alone.

#include "loop_versions.h"
#include "reciprocal.h"

#include <llvm-c/Core.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// Largest loop that is copied, in instructions.
constexpr unsigned LARGEST = 600;
/// Exclusive bound of small numbers: the sum of two fits in a signed 32-bit integer.
constexpr uint64_t SMALL = 1ull << 30;

/// A counted loop.
struct Counting {
  PHINode *counter = nullptr;
  Instruction *next = nullptr;
  Value *first = nullptr, *step = nullptr;
  // Passes that learned more on some paths of an iteration leave several names for it.
  SmallVector<Value *, 2> last;
};

/// Returns the loop-invariant values that a value may be; empty if it may be something else.
SmallVector<Value *, 2> choices(const Loop *loop, Value *value) {
  SmallVector<Value *, 2> found;
  SmallVector<Value *, 4> open{value};
  SmallPtrSet<Value *, 8> seen;
  while (!open.empty()) {
    Value *one = open.pop_back_val();
    if (!seen.insert(one).second)
      continue;
    auto *phi = dyn_cast<PHINode>(one);
    if (loop->isLoopInvariant(one))
      found.push_back(one);
    else if (phi)
      append_range(open, phi->incoming_values());
    else
      return {};
  }
  return found;
}

bool wide(const Value *value) { return value->getType()->isIntegerTy(64); }

bool divides(const Instruction &i) {
  switch (i.getOpcode()) {
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return wide(&i);
  default:
    return false;
  }
}

/// Recognizes a loop that counts in 64 bits up to a loop-invariant bound.
Counting counting(const Loop *loop) {
  BasicBlock *before = loop->getLoopPreheader(), *latch = loop->getLoopLatch();
  auto *end = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
  auto *test = end && end->isConditional() ? dyn_cast<ICmpInst>(end->getCondition()) : nullptr;
  if (!before || !test || !wide(test->getOperand(0)))
    return {};
  auto predicate = test->getPredicate();
  if (!loop->contains(end->getSuccessor(0)))
    predicate = CmpInst::getInversePredicate(predicate);
  Value *left = test->getOperand(0), *right = test->getOperand(1);
  if (!isa<BinaryOperator>(left)) {
    std::swap(left, right);
    predicate = CmpInst::getSwappedPredicate(predicate);
  }
  bool below = predicate == CmpInst::ICMP_ULT || predicate == CmpInst::ICMP_ULE ||
               predicate == CmpInst::ICMP_SLT || predicate == CmpInst::ICMP_SLE;
  auto *next = dyn_cast<Instruction>(left);
  auto last = choices(loop, right);
  if (!below || !next || last.empty())
    return {};
  for (PHINode &phi : loop->getHeader()->phis()) {
    Value *step = nullptr;
    if (phi.getIncomingValueForBlock(latch) == next &&
        match(next, m_c_Add(m_Specific(&phi), m_Value(step))) && loop->isLoopInvariant(step))
      return {&phi, next, phi.getIncomingValueForBlock(before), step, last};
  }
  return {};
}

/// Returns the instructions that compute quotients and remainders of the induction variable.
SmallVector<Instruction *, 8> parts(const Loop *loop, const Counting &counting) {
  SmallVector<Instruction *, 8> found;
  SmallPtrSet<Value *, 8> small;
  small.insert(counting.counter);
  SmallVector<Instruction *, 16> open{counting.counter};
  while (!open.empty()) {
    Value *of = open.pop_back_val();
    for (User *user : of->users()) {
      auto *i = dyn_cast<Instruction>(user);
      if (!i || !loop->contains(i) || small.contains(i))
        continue;
      Value *whole = nullptr, *by = nullptr;
      bool quotient = divides(*i) && small.contains(i->getOperand(0)) &&
                      loop->isLoopInvariant(i->getOperand(1));
      // A remainder expressed by its quotient, as compilers rewrite it.
      bool remainder = match(i, m_Sub(m_Value(whole), m_c_Mul(m_Value(by), m_Value()))) &&
                       small.contains(whole) && wide(i) && [&] {
                         auto *product = cast<Instruction>(i->getOperand(1));
                         for (unsigned n : {0u, 1u}) {
                           auto *divided = dyn_cast<Instruction>(product->getOperand(n));
                           if (divided && small.contains(divided) && divides(*divided) &&
                               (divided->getOpcode() == Instruction::UDiv ||
                                divided->getOpcode() == Instruction::SDiv) &&
                               divided->getOperand(0) == whole &&
                               divided->getOperand(1) == product->getOperand(1 - n))
                             return true;
                         }
                         return false;
                       }();
      // Entering the loop has already branched on the frozen value, so it is not poison.
      bool same = isa<FreezeInst>(i) && wide(i);
      if (quotient || remainder || same) {
        small.insert(i);
        found.push_back(i);
        open.push_back(i);
        // A remainder may have been visited before its quotient was known.
        if (auto *again = dyn_cast<Instruction>(of))
          open.push_back(again);
      }
    }
  }
  return found;
}

class IndexNarrowing {
  Function &f;
  DominatorTree tree;
  LoopInfo loops;
  AssumptionCache assumptions;
  TargetLibraryInfoImpl names;
  TargetLibraryInfo library;
  ScalarEvolution evolution;

public:
  explicit IndexNarrowing(Function &f)
      : f(f), tree(f), loops(tree), assumptions(f), names(f.getParent()->getTargetTriple()),
        library(names), evolution(f, library, assumptions, tree, loops) {}

  void run() {
    SmallVector<Loop *, 8> chosen;
    for (Loop *loop : loops) {
      simplifyLoop(loop, &tree, &loops, &evolution, &assumptions, nullptr, /*PreserveLCSSA=*/false);
      for (Loop *inner : loop->getLoopsInPreorder())
        hoist(inner);
      collect(loop, chosen);
    }
    for (Loop *loop : chosen)
      version(loop);
  }

private:
  /// Hoists loop-invariant divisors that are merely frozen inside the loop.
  static void hoist(Loop *loop) {
    Instruction *end =
        loop->getLoopPreheader() ? loop->getLoopPreheader()->getTerminator() : nullptr;
    for (BasicBlock *block : loop->blocks())
      for (Instruction &i : make_early_inc_range(*block))
        if (end && isa<FreezeInst>(i) && loop->isLoopInvariant(i.getOperand(0)))
          i.moveBefore(end->getIterator());
  }

  /// Collects the outermost loops that qualify.
  void collect(Loop *loop, SmallVectorImpl<Loop *> &chosen) {
    if (qualifies(loop))
      chosen.push_back(loop);
    else
      for (Loop *inner : *loop)
        collect(inner, chosen);
  }

  bool qualifies(Loop *loop) {
    unsigned size = 0;
    bool some = false;
    for (BasicBlock *block : loop->blocks()) {
      size += block->size();
      if (size > LARGEST)
        return false;
      for (Instruction &i : *block) {
        auto *call = dyn_cast<CallBase>(&i);
        if (i.getType()->isTokenTy() || (call && (call->cannotDuplicate() || call->isConvergent())))
          return false;
        some |= divides(i) && !isa<Constant>(i.getOperand(1));
      }
    }
    if (!some)
      return false;
    Counting how = counting(loop);
    return how.counter && any_of(parts(loop, how), [](Instruction *i) {
             return divides(*i) && !isa<Constant>(i->getOperand(1));
           });
  }

  void version(Loop *loop) {
    formLCSSARecursively(*loop, tree, &loops, &evolution);
    BasicBlock *check = loop->getLoopPreheader();
    Counting how = counting(loop);
    if (!check || !loop->hasDedicatedExits() || !how.counter)
      return;
    auto small = parts(loop, how);
    SmallSetVector<Value *, 8> asked;
    asked.insert_range(how.last);
    asked.insert(how.step);
    // The first value differs between threads: testing it where its bound is known would make
    // threads diverge.
    if (none_of(how.last, [&](Value *last) {
          return evolution.isLoopEntryGuardedByCond(
              loop, CmpInst::ICMP_ULE, evolution.getSCEV(how.first), evolution.getSCEV(last));
        }))
      asked.insert(how.first);
    for (Instruction *i : small)
      if (divides(*i))
        asked.insert(i->getOperand(1));
    IRBuilder<> build(check->getTerminator());
    Value *all = build.getInt64(0);
    for (Value *value : asked)
      all = build.CreateOr(all, value);
    Value *guard = build.CreateICmpULT(all, build.getInt64(SMALL));
    BasicBlock *before = ompvm::version(loop, guard, ".small", tree, loops).chosen;
    narrow(how, small, before->getTerminator());
    evolution.forgetAllLoops();
  }

  /// Rewrites the guarded version to 32 bits; `before` is the end of the block before it.
  void narrow(const Counting &how, ArrayRef<Instruction *> small, Instruction *before) {
    Type *word = Type::getInt32Ty(f.getContext());
    DenseMap<Value *, std::pair<Value *, Value *>> reciprocals;
    // Returns the divisor in 32 bits and its reciprocal. A zero divisor that no iteration divides
    // by is harmless.
    auto reciprocal = [&](Value *divisor) {
      auto &known = reciprocals[divisor];
      if (!known.first) {
        IRBuilder<> outside(before);
        Value *narrowed = outside.CreateTrunc(divisor, word);
        Value *some = outside.CreateBinaryIntrinsic(Intrinsic::umax, narrowed, outside.getInt32(1));
        known = {narrowed, outside.CreateUDiv(outside.getInt32(~0u), some)};
      }
      return known;
    };
    IRBuilder<> build(&*how.counter->getParent()->getFirstInsertionPt());
    auto half = [&](Value *value) { return build.CreateTrunc(value, word); };
    auto *low = cast<Instruction>(half(how.counter));
    Value *counter = build.CreateZExt(low, how.counter->getType(), "", /*IsNonNeg=*/true);
    how.counter->replaceUsesWithIf(
        counter, [&](Use &use) { return use.getUser() != low && use.getUser() != how.next; });
    for (Instruction *i : small) {
      build.SetInsertPoint(i);
      Value *result = nullptr;
      switch (i->getOpcode()) {
      case Instruction::Freeze:
        result = half(i->getOperand(0));
        break;
      case Instruction::UDiv:
      case Instruction::SDiv:
      case Instruction::URem:
      case Instruction::SRem: {
        auto [divisor, factor] = reciprocal(i->getOperand(1));
        ompvm::Divided both = ompvm::divide(build, half(i->getOperand(0)), divisor, factor);
        bool whole = i->getOpcode() == Instruction::UDiv || i->getOpcode() == Instruction::SDiv;
        result = whole ? both.quotient : both.remainder;
        break;
      }
      default: {
        auto *product = cast<Instruction>(i->getOperand(1));
        Value *less = build.CreateMul(half(product->getOperand(0)), half(product->getOperand(1)));
        result = build.CreateSub(half(i->getOperand(0)), less);
      }
      }
      Value *widened = build.CreateZExt(result, i->getType(), "", /*IsNonNeg=*/true);
      i->replaceAllUsesWith(widened);
      indices(widened);
    }
    indices(counter);
  }

  /// Rewrites 32-bit sums of a small number and a constant, extended to 64 bits, as 64-bit sums.
  void indices(Value *small) {
    SmallVector<std::pair<Instruction *, Value *>, 8> made;
    for (User *user : small->users()) {
      // The number shifted to the upper half, and back, or back by less to multiply it.
      if (match(user, m_Shl(m_Specific(small), m_SpecificInt(32)))) {
        back(user, small, 0, made);
        const APInt *more;
        for (User *sum : user->users())
          if (match(sum, m_Add(m_Specific(user), m_APInt(more))) && more->countr_zero() >= 32)
            back(sum, small, more->getSExtValue() / (1ll << 32), made);
      }
      if (match(user, m_Trunc(m_Specific(small))) && user->getType()->isIntegerTy(32)) {
        extended(user, small, 0, made);
        const APInt *more;
        for (User *sum : user->users())
          if (match(sum, m_Add(m_Specific(user), m_APInt(more))))
            extended(sum, small, more->getSExtValue(), made);
      }
    }
    for (auto [old, instead] : made)
      old->replaceAllUsesWith(instead);
  }

  static Value *sum(IRBuilder<> &build, Value *small, int64_t more) {
    return build.CreateAdd(small, build.getInt64(more), "", /*HasNUW=*/more >= 0, /*HasNSW=*/true);
  }

  static bool harmless(int64_t more) { return more < (int64_t)SMALL && more > -(int64_t)SMALL; }

  static void back(User *upper, Value *small, int64_t more,
                   SmallVectorImpl<std::pair<Instruction *, Value *>> &made) {
    const APInt *by;
    for (User *user : upper->users())
      if (match(user, m_AShr(m_Specific(upper), m_APInt(by))) && by->ule(32) && harmless(more)) {
        auto *old = cast<Instruction>(user);
        IRBuilder<> build(old);
        Value *whole = sum(build, small, more);
        made.push_back({old, build.CreateShl(whole, 32 - by->getZExtValue())});
      }
  }

  static void extended(User *narrow, Value *small, int64_t more,
                       SmallVectorImpl<std::pair<Instruction *, Value *>> &made) {
    for (User *user : narrow->users())
      if (isa<SExtInst>(user) && wide(user) && harmless(more)) {
        auto *old = cast<Instruction>(user);
        IRBuilder<> build(old);
        made.push_back({old, sum(build, small, more)});
      }
  }
};

} // namespace

/// Versions a module's loops that divide their induction variable.
extern "C" void ompvm_narrow_indices(LLVMModuleRef module) {
  for (Function &f : *unwrap(module))
    if (!f.isDeclaration())
      IndexNarrowing(f).run();
}
