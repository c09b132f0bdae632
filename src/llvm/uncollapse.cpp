// Uncollapsing: the nest of loops for a loop that divides its counter.
//
// `collapse(2)` and loops over flattened arrays compute their indices by division: `k / n` and
// `k % n` for a counter `k`. A division takes longer than many bodies, and LLVM vectorizes no
// access whose address depends on one. This pass puts a loop over the quotients around the loop:
//
//   for (k = first; k <= last;) {
//     q = k / n, r = k % n;
//     row = min(n - r, last - k + 1);
//     for (i = 0; i < row; i++, k++, r++)
//       body(q, r);
//   }
//
// The iterations and their order stay. A signed division of a negative number, or by one, has rows of
// a single iteration, as its remainder does not count up to the divisor.
//
// The pass leaves loops alone that contain loops, whose bodies outweigh a division, loops with
// several exits, and divisors that are small constants. Three indices take two applications.

#include "analyses.h"

#include <llvm-c/Core.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MustExecute.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

using namespace llvm;

namespace {

/// Smallest constant divisor for which a loop over rows pays.
constexpr uint64_t SHORTEST = 16;
/// Most work before the loop to find its trip count, in simple instructions.
constexpr unsigned MOST_WORK = 16;
/// Most loops that are put around one.
constexpr unsigned DEEPEST = 3;

/// Divisions of a loop's counter by one divisor.
struct Divisions {
  Value *dividend = nullptr, *divisor = nullptr;
  const SCEV *first = nullptr; // the dividend of the first iteration
  bool is_signed = false;
  SmallVector<BinaryOperator *, 4> all;
};

bool is_signed(const BinaryOperator *i) {
  return i->getOpcode() == Instruction::SDiv || i->getOpcode() == Instruction::SRem;
}

bool is_remainder(const BinaryOperator *i) {
  return i->getOpcode() == Instruction::SRem || i->getOpcode() == Instruction::URem;
}

/// Returns true if a function contains a division of integers.
bool divides(const Function &f) {
  for (const BasicBlock &block : f)
    for (const Instruction &i : block)
      if (auto *operation = dyn_cast<BinaryOperator>(&i))
        if (operation->isIntDivRem())
          return true;
  return false;
}

class Uncollapsing {
  Function &f;
  FunctionAnalysisManager &analyses;

public:
  Uncollapsing(Function &f, FunctionAnalysisManager &analyses) : f(f), analyses(analyses) {}

  /// Uncollapses the loops that qualify. Returns true if there were any.
  bool run() {
    // Each change invalidates every analysis, so loops are identified by their headers.
    SmallVector<BasicBlock *, 8> heads;
    for (Loop *loop : analyses.getResult<LoopAnalysis>(f).getLoopsInPreorder())
      if (loop->isInnermost())
        heads.push_back(loop->getHeader());
    bool changed = false;
    for (BasicBlock *head : heads)
      for (unsigned depth = 0; depth < DEEPEST && uncollapse(head); depth++)
        changed = true;
    return changed;
  }

private:
  bool uncollapse(BasicBlock *head) {
    auto &tree = analyses.getResult<DominatorTreeAnalysis>(f);
    auto &loops = analyses.getResult<LoopAnalysis>(f);
    auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(f);
    Loop *loop = loops.getLoopFor(head);
    if (!loop || findStringMetadataForLoop(loop, "llvm.loop.isvectorized"))
      return false;
    BasicBlock *latch = loop->getLoopLatch();
    if (!latch || loop->getExitingBlock() != latch || !isa<BranchInst>(latch->getTerminator()))
      return false;
    Divisions divisions = find(loop, evolution);
    if (divisions.all.empty())
      return false;
    const SCEV *count = evolution.getBackedgeTakenCount(loop);
    if (isa<SCEVCouldNotCompute>(count) || !count->getType()->isIntegerTy() ||
        !loop->getLoopPredecessor())
      return false;
    SCEVExpander expander(evolution, "uncollapse");
    Instruction *before = loop->getLoopPredecessor()->getTerminator();
    if (!expander.isSafeToExpandAt(count, before) ||
        !expander.isSafeToExpandAt(divisions.first, before) ||
        expander.isHighCostExpansion(count, loop, MOST_WORK,
                                     &analyses.getResult<TargetIRAnalysis>(f), before))
      return false;
    simplifyLoop(loop, &tree, &loops, &evolution, nullptr, nullptr, /*PreserveLCSSA=*/false);
    formLCSSARecursively(*loop, tree, &loops, &evolution);
    if (loop->getLoopPreheader() && loop->hasDedicatedExits())
      nest(loop, divisions, count, expander);
    analyses.invalidate(f, PreservedAnalyses::none());
    return true;
  }

  /// Returns the loop's divisions of a counter that increases by one by an invariant divisor.
  Divisions find(Loop *loop, ScalarEvolution &evolution) {
    Divisions found;
    bool may_trap = true;
    for (BasicBlock *block : loop->blocks())
      for (Instruction &i : *block) {
        auto *operation = dyn_cast<BinaryOperator>(&i);
        if (!operation || !operation->isIntDivRem() || operation->getType()->isVectorTy())
          continue;
        Value *dividend = operation->getOperand(0), *divisor = operation->getOperand(1);
        bool same = found.dividend == dividend && found.divisor == divisor &&
                    found.is_signed == is_signed(operation);
        if (!same && (!found.all.empty() || !counts(dividend, loop, evolution) ||
                      !loop->isLoopInvariant(divisor) || is_small(divisor)))
          continue;
        found.dividend = dividend;
        found.divisor = divisor;
        found.first = cast<SCEVAddRecExpr>(evolution.getSCEV(dividend))->getStart();
        found.is_signed = is_signed(operation);
        found.all.push_back(operation);
        may_trap &= !always_divides(operation, loop);
      }
    if (may_trap)
      found.all.clear();
    return found;
  }

  /// Returns true if a division may as well take place at the start of each iteration.
  bool always_divides(BinaryOperator *operation, Loop *loop) {
    if (isSafeToSpeculativelyExecute(operation))
      return true;
    auto &tree = analyses.getResult<DominatorTreeAnalysis>(f);
    SimpleLoopSafetyInfo safety;
    safety.computeLoopSafetyInfo(loop);
    return safety.isGuaranteedToExecute(*operation, &tree, loop) &&
           tree.dominates(operation->getParent(), loop->getLoopLatch());
  }

  static bool counts(Value *value, Loop *loop, ScalarEvolution &evolution) {
    auto *recurrence = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(value));
    return recurrence && recurrence->getLoop() == loop && recurrence->isAffine() &&
           recurrence->getStepRecurrence(evolution)->isOne();
  }

  static bool is_small(Value *divisor) {
    auto *constant = dyn_cast<ConstantInt>(divisor);
    return constant && constant->getValue().abs().ult(SHORTEST);
  }

  /// Puts a loop over the quotients around a loop.
  void nest(Loop *loop, const Divisions &divisions, const SCEV *count, SCEVExpander &expander) {
    LLVMContext &context = f.getContext();
    BasicBlock *before = loop->getLoopPreheader(), *head = loop->getHeader(),
               *latch = loop->getLoopLatch(), *exit = loop->getExitBlock();
    auto *type = cast<IntegerType>(divisions.dividend->getType());
    auto *wide = cast<IntegerType>(count->getType());
    if (wide->getBitWidth() < type->getBitWidth())
      wide = type;
    IRBuilder<> build(before->getTerminator());
    Value *counted = expander.expandCodeFor(count, count->getType(), before->getTerminator());
    Value *from = expander.expandCodeFor(divisions.first, type, before->getTerminator());
    build.SetInsertPoint(before->getTerminator());
    Value *last = build.CreateZExt(counted, wide);
    // The loop branches by the counter now.
    from = build.CreateFreeze(from);
    auto *row = BasicBlock::Create(context, "row", &f, head);
    auto *next = BasicBlock::Create(context, "row.next", &f, exit);
    before->getTerminator()->replaceSuccessorWith(head, row);

    // Values that iterations hand on pass from row to row.
    build.SetInsertPoint(row);
    for (PHINode &phi : head->phis()) {
      PHINode *handed = build.CreatePHI(phi.getType(), 2, phi.getName() + ".row");
      handed->setDebugLoc(phi.getDebugLoc());
      handed->addIncoming(phi.getIncomingValueForBlock(before), before);
      handed->addIncoming(phi.getIncomingValueForBlock(latch), next);
      phi.setIncomingValueForBlock(before, handed);
      phi.replaceIncomingBlockWith(before, row);
    }
    PHINode *left = build.CreatePHI(wide, 2, "left"); // iterations from here on, less one
    left->addIncoming(last, before);

    PHINode *start = build.CreatePHI(type, 2, "start"); // the counter
    start->addIncoming(from, before);
    Value *divisor = divisions.divisor;
    build.SetCurrentDebugLocation(divisions.all.front()->getDebugLoc());
    bool by_sign = divisions.is_signed;
    Value *quotient = by_sign ? build.CreateSDiv(start, divisor, "quotient")
                              : build.CreateUDiv(start, divisor, "quotient");
    Value *first = by_sign ? build.CreateSRem(start, divisor, "remainder")
                           : build.CreateURem(start, divisor, "remainder");
    // Iterations of the row, less one: up to the divisor, and no further than the counter's type.
    auto *one = ConstantInt::get(type, 1);
    Value *length = build.CreateSub(build.CreateSub(divisor, one), first);
    unsigned bits = type->getBitWidth();
    APInt most = by_sign ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
    Value *room = build.CreateSub(ConstantInt::get(type, most), start);
    length = build.CreateBinaryIntrinsic(Intrinsic::umin, length, room);
    if (by_sign) {
      Value *rising = build.CreateAnd(build.CreateICmpSGE(start, ConstantInt::get(type, 0)),
                                      build.CreateICmpSGT(divisor, ConstantInt::get(type, 0)));
      length = build.CreateSelect(rising, length, ConstantInt::get(type, 0));
    }
    length = build.CreateBinaryIntrinsic(Intrinsic::umin, build.CreateZExt(length, wide), left,
                                         nullptr, "row.last");
    build.CreateBr(head);

    // The loop over the row.
    build.SetInsertPoint(head, head->begin());
    PHINode *index = build.CreatePHI(wide, 2, "in.row");
    PHINode *remainder = build.CreatePHI(type, 2, "remainder");
    auto *end = cast<BranchInst>(latch->getTerminator());
    build.SetInsertPoint(end);
    index->addIncoming(ConstantInt::get(wide, 0), row);
    index->addIncoming(build.CreateNUWAdd(index, ConstantInt::get(wide, 1)), latch);
    remainder->addIncoming(first, row);
    remainder->addIncoming(build.CreateAdd(remainder, one, "", /*HasNUW=*/!by_sign,
                                           /*HasNSW=*/by_sign),
                           latch);
    bool leaves_first = end->getSuccessor(0) == exit;
    end->setCondition(leaves_first ? build.CreateICmpEQ(index, length)
                                   : build.CreateICmpNE(index, length));
    end->replaceSuccessorWith(exit, next);
    for (BinaryOperator *division : divisions.all) {
      division->replaceAllUsesWith(is_remainder(division) ? remainder : quotient);
      division->eraseFromParent();
    }

    // Behind a row.
    build.SetInsertPoint(next);
    exit->replacePhiUsesWith(latch, next);
    Value *rest = build.CreateSub(build.CreateSub(left, length), ConstantInt::get(wide, 1));
    left->addIncoming(rest, next);
    Value *step = build.CreateAdd(build.CreateTrunc(length, type), one);
    start->addIncoming(build.CreateAdd(start, step), next);
    build.CreateCondBr(build.CreateICmpEQ(left, length), exit, row);
  }
};

} // namespace

/// Uncollapses a module's loops. Returns 1 if there was one.
extern "C" int ompvm_uncollapse(LLVMModuleRef wrapped) {
  SmallVector<Function *, 4> some;
  for (Function &f : *unwrap(wrapped))
    if (divides(f))
      some.push_back(&f);
  // Most units divide nothing, and to prepare analyses takes its time.
  if (some.empty())
    return 0;
  ompvm::Analyses analyses;
  int changed = 0;
  for (Function *f : some)
    changed |= Uncollapsing(*f, analyses.of_functions()).run();
  return changed;
}
