// Marks loops for unrolling that LLVM's own heuristics leave rolled.
//
// 1. Nests over the rows of a small matrix. Elimination in a five by five block is three loops, the
//    inner ones shorter with each iteration of the outer. LLVM judges a loop that determines
//    another one's trip count by size alone, and clang at -O2 leaves it rolled and vectorizes its
//    inner loops for unknown trip counts. A solver (LU of the NAS benchmarks) then runs loop after
//    loop for a hundred instructions, with the matrix in memory. Unrolled from the outside in, each
//    trip count is a constant, and the matrix fits in registers.
// 2. Loops that clang vectorized for 128-bit registers, with one vector per iteration and unrolling
//    disabled. Two iterations have the adjacent accesses that `repack_vectors.cpp` packs. The same
//    holds for loops with two vectors per iteration that write several arrays: two iterations fill
//    a cache line of each (`cluster_stores.cpp`).
//
// This pass only marks. LLVM's passes unroll as for `#pragma unroll`; they and the passes that must
// follow are `NESTS` and `VECTORS` in `native/pipeline.rs`.

#include "analyses.h"
#include "interleaved.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <utility>

using namespace llvm;

namespace {

/// Width of the vectors that clang makes for every x86-64, in bits.
constexpr unsigned NARROW = 128;
/// The same in bytes.
constexpr unsigned VECTOR = NARROW / 8;
/// Fewest iterations of a loop over vectors, if their number is a constant.
constexpr unsigned FEW = 8;
/// Most iterations of a nest's outer loop, and largest size of a nest, in instructions of all of
/// these.
constexpr unsigned LONGEST = 8, LARGEST = 800;
/// Most iterations of an inner loop: rows of a small matrix are no longer. And the largest size of
/// a nest once all of its loops are unrolled.
constexpr unsigned LONGEST_INSIDE = 2 * LONGEST, LARGEST_UNROLLED = 4 * LARGEST;

const char *const FULL = "llvm.loop.unroll.full";

unsigned size(const Loop *loop) {
  unsigned sum = 0;
  for (const BasicBlock *block : loop->blocks())
    sum += block->sizeWithoutDebug();
  return sum;
}

/// Returns true if a loop's trip count is affine in the iteration of an outer loop.
bool follows(const Loop *inner, const Loop *outer, ScalarEvolution &evolution) {
  auto *count = dyn_cast<SCEVAddRecExpr>(evolution.getBackedgeTakenCount(inner));
  return count && count->getLoop() == outer && count->isAffine() &&
         isa<SCEVConstant>(count->getStart()) && isa<SCEVConstant>(count->getOperand(1));
}

/// Returns the maximum trip count of such a loop over all iterations of the outer one. A negative
/// number counts as 0: another branch bypasses the loop then.
uint64_t longest(const Loop *inner, unsigned outer, ScalarEvolution &evolution) {
  auto *count = cast<SCEVAddRecExpr>(evolution.getBackedgeTakenCount(inner));
  auto of = [&](unsigned i) {
    const SCEV *at =
        count->evaluateAtIteration(evolution.getConstant(count->getType(), i), evolution);
    auto *constant = dyn_cast<SCEVConstant>(at);
    if (!constant)
      return UINT64_MAX;
    const APInt &number = constant->getAPInt();
    return number.isNegative() ? 0 : number.getLimitedValue(UINT32_MAX) + 1;
  };
  return std::max(of(0), of(outer - 1));
}

/// Returns an upper bound of a loop's instructions in one iteration of its parent, once it is
/// unrolled with its inner loops of known trip count.
uint64_t unrolled(const Loop *loop, uint64_t trips, ScalarEvolution &evolution) {
  uint64_t sum = size(loop);
  for (const Loop *inner : *loop) {
    uint64_t times = std::max(evolution.getSmallConstantMaxTripCount(inner), 1u);
    sum += unrolled(inner, times <= LONGEST_INSIDE ? times : 1, evolution);
  }
  return sum * trips;
}

/// Marks a nest that qualifies. Returns true if it did.
bool mark_nest(Loop *loop, ScalarEvolution &evolution) {
  unsigned trips = evolution.getSmallConstantTripCount(loop);
  if (trips < 2 || trips > LONGEST || hasUnrollTransformation(loop) != TM_Unspecified ||
      size(loop) * trips > LARGEST)
    return false;
  SmallVector<Loop *, 4> inside;
  for (Loop *inner : *loop)
    if (follows(inner, loop, evolution) && hasUnrollTransformation(inner) == TM_Unspecified)
      inside.push_back(inner);
  uint64_t all = uint64_t(size(loop)) * trips;
  for (Loop *inner : inside) {
    uint64_t times = longest(inner, trips, evolution);
    if (times > LONGEST_INSIDE)
      return false;
    // Half of the longest one on average.
    all += unrolled(inner, times, evolution) * trips / 2;
  }
  if (inside.empty() || all > LARGEST_UNROLLED)
    return false;
  addStringMetadataToLoop(loop, FULL);
  for (Loop *inner : inside)
    addStringMetadataToLoop(inner, FULL);
  return true;
}

/// A loop that clang vectorized.
class VectorLoop {
  Loop *loop;
  ScalarEvolution &evolution;
  const DataLayout &layout;
  /// Stride of the accesses in bytes, the same for all.
  uint64_t step = 0;

public:
  VectorLoop(Loop *loop, ScalarEvolution &evolution)
      : loop(loop), evolution(evolution), layout(loop->getHeader()->getDataLayout()) {}

  /// Marks the loop if it qualifies. Returns true if it did.
  bool mark() {
    unsigned trips = evolution.getSmallConstantTripCount(loop);
    if (loop->getNumBlocks() != 1 || (trips && trips < FEW) ||
        hasUnrollTransformation(loop) != TM_Unspecified || !qualifies())
      return false;
    MDNode *old = loop->getLoopID();
    LLVMContext &context = old->getContext();
    auto two = ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), 2));
    MDNode *count = MDNode::get(context, {MDString::get(context, "llvm.loop.unroll.count"), two});
    loop->setLoopID(makePostTransformationMetadata(context, old, {"llvm.loop.unroll."}, {count}));
    return true;
  }

private:
  bool narrow(Type *type) {
    auto *vector = dyn_cast<FixedVectorType>(type);
    return vector && layout.getTypeSizeInBits(vector) == NARROW;
  }

  /// Returns true if an access advances by one or two vectors in each iteration.
  bool follows(Value *pointer) {
    auto *at = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(pointer));
    if (!at || at->getLoop() != loop || !at->isAffine())
      return false;
    auto *by = dyn_cast<SCEVConstant>(at->getOperand(1));
    if (!by || (by->getAPInt() != VECTOR && by->getAPInt() != 2 * VECTOR))
      return false;
    uint64_t before = std::exchange(step, by->getAPInt().getZExtValue());
    return before == 0 || before == step;
  }

  /// Returns true if a value of the previous iteration is only used combined with this iteration's.
  static bool carried(PHINode &phi) {
    return all_of(phi.users(), [&](User *user) {
      auto *shuffle = dyn_cast<ShuffleVectorInst>(user);
      return shuffle && shuffle->getOperand(0) == &phi && shuffle->getOperand(1) != &phi;
    });
  }

  /// Returns true for a vector that splitting has left wide, except for interleaved parts of
  /// complex numbers, which are split again where they are stored.
  bool too_wide(Instruction &i) {
    auto *shuffle = dyn_cast<ShuffleVectorInst>(&i);
    return i.getType()->isVectorTy() && layout.getTypeSizeInBits(i.getType()) > NARROW &&
           !(shuffle && isa<FixedVectorType>(i.getType()) && ompvm::interleaves(shuffle));
  }

  bool qualifies() {
    unsigned stores = 0;
    for (Instruction &i : *loop->getHeader()) {
      if (auto *phi = dyn_cast<PHINode>(&i)) {
        if (phi->getType()->isVectorTy() ? !(narrow(phi->getType()) && carried(*phi))
                                         : !evolution.isSCEVable(phi->getType()))
          return false;
      } else if (auto *load = dyn_cast<LoadInst>(&i)) {
        if (!load->isSimple() || !narrow(load->getType()) || !follows(load->getPointerOperand()))
          return false;
      } else if (auto *store = dyn_cast<StoreInst>(&i)) {
        if (!store->isSimple() || !narrow(store->getValueOperand()->getType()) ||
            !follows(store->getPointerOperand()))
          return false;
        stores++;
      } else if (auto *call = dyn_cast<CallInst>(&i)) {
        if (!isTriviallyVectorizable(call->getIntrinsicID()))
          return false;
      } else if (i.mayReadOrWriteMemory() || too_wide(i)) {
        return false;
      }
    }
    return stores * VECTOR > (step == VECTOR ? 0 : step);
  }
};

} // namespace

/// Marks a module's loops. Returns 1 if there was a nest, plus 2 if there was a loop over vectors.
extern "C" int ompvm_mark_unroll(LLVMModuleRef wrapped, LLVMTargetMachineRef machine) {
  ompvm::Analyses analyses;
  FunctionAnalysisManager &of = analyses.of_functions();
  int found = 0;
  for (Function &f : *unwrap(wrapped)) {
    if (f.isDeclaration())
      continue;
    auto &loops = of.getResult<LoopAnalysis>(f);
    if (loops.empty())
      continue;
    auto target = reinterpret_cast<TargetMachine *>(machine)->getTargetTransformInfo(f);
    bool wide =
        target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue() >=
        2 * NARROW;
    for (Loop *loop : loops.getLoopsInPreorder()) {
      auto evolution = [&]() -> ScalarEvolution & {
        return of.getResult<ScalarEvolutionAnalysis>(f);
      };
      if (!loop->isInnermost())
        found |= mark_nest(loop, evolution()) ? 1 : 0;
      else if (wide && findStringMetadataForLoop(loop, "llvm.loop.isvectorized"))
        found |= VectorLoop(loop, evolution()).mark() ? 2 : 0;
    }
  }
  return found;
}
