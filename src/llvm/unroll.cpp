// Says of loops that they are to be unrolled where LLVM's own measure leaves them.
//
// 1. Nests over the rows of a small matrix. The elimination in a block of five times five is three loops,
// the inner ones shorter with each iteration of the outer. A loop in which another one's length changes is
// measured by its size alone, and clang, which meets it at -O2, leaves it, and vectorises what is inside
// for a length it does not know: a solver (LU of the NAS benchmarks) then goes from loop to loop for what is
// a hundred instructions, with the matrix in memory. Unrolled from outside to inside each length is a
// constant, and the matrix is registers.
// 2. Loops that clang vectorised for registers of 128 bits, one vector for each iteration, and said of them
// that nobody unroll them. Two iterations have the neighbours that `pairs.cpp` packs. And such with two vectors for
// each iteration that write several arrays: two iterations fill a line of the cache of each (`lines.cpp`).
//
// What not: nothing is unrolled here. LLVM's passes do it as they do for `#pragma unroll`; what must follow
// (`NESTS`, `VECTORS` in `native/pipeline.rs`) is theirs, too.

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

/// Bits of the vectors that clang makes for every x86-64.
constexpr unsigned NARROW = 128;
/// And their bytes.
constexpr unsigned VECTOR = NARROW / 8;
/// The fewest iterations of a loop over vectors, where their number is a constant.
constexpr unsigned FEW = 8;
/// The longest outer loop of a nest, in iterations, and the largest nest, in instructions with all of these.
constexpr unsigned LONGEST = 8, LARGEST = 800;
/// The longest loop inside of it: rows of a small matrix are no longer. And the largest nest once all of its loops are
/// unrolled.
constexpr unsigned LONGEST_INSIDE = 2 * LONGEST, LARGEST_UNROLLED = 4 * LARGEST;

const char *const FULL = "llvm.loop.unroll.full";

unsigned size(const Loop *loop) {
  unsigned sum = 0;
  for (const BasicBlock *block : loop->blocks())
    sum += block->sizeWithoutDebug();
  return sum;
}

/// Whether the length of a loop is a constant in each iteration of another one, but not the same.
bool follows(const Loop *inner, const Loop *outer, ScalarEvolution &evolution) {
  auto *count = dyn_cast<SCEVAddRecExpr>(evolution.getBackedgeTakenCount(inner));
  return count && count->getLoop() == outer && count->isAffine() && isa<SCEVConstant>(count->getStart()) &&
         isa<SCEVConstant>(count->getOperand(1));
}

/// The most iterations that such a loop has, of all iterations of the outer one. Where the number would be negative
/// something else leads around the loop.
uint64_t longest(const Loop *inner, unsigned outer, ScalarEvolution &evolution) {
  auto *count = cast<SCEVAddRecExpr>(evolution.getBackedgeTakenCount(inner));
  auto of = [&](unsigned i) {
    const SCEV *at = count->evaluateAtIteration(evolution.getConstant(count->getType(), i), evolution);
    auto *constant = dyn_cast<SCEVConstant>(at);
    if (!constant)
      return UINT64_MAX;
    const APInt &number = constant->getAPInt();
    return number.isNegative() ? 0 : number.getLimitedValue(UINT32_MAX) + 1;
  };
  return std::max(of(0), of(outer - 1));
}

/// An upper bound of a loop's instructions in one iteration of what is around it, once it is unrolled with the loops
/// in it that have a known length.
uint64_t unrolled(const Loop *loop, uint64_t trips, ScalarEvolution &evolution) {
  uint64_t sum = size(loop);
  for (const Loop *inner : *loop) {
    uint64_t times = std::max(evolution.getSmallConstantMaxTripCount(inner), 1u);
    sum += unrolled(inner, times <= LONGEST_INSIDE ? times : 1, evolution);
  }
  return sum * trips;
}

/// Says so of a nest that qualifies.
bool nest(Loop *loop, ScalarEvolution &evolution) {
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
    // Half of the longest one, on the average.
    all += unrolled(inner, times, evolution) * trips / 2;
  }
  if (inside.empty() || all > LARGEST_UNROLLED)
    return false;
  addStringMetadataToLoop(loop, FULL);
  for (Loop *inner : inside)
    addStringMetadataToLoop(inner, FULL);
  return true;
}

/// A loop that clang vectorised.
class Vectors {
  Loop *loop;
  ScalarEvolution &evolution;
  const DataLayout &layout;
  /// Bytes from what one iteration accesses to what the next one does, the same everywhere.
  uint64_t step = 0;

public:
  Vectors(Loop *loop, ScalarEvolution &evolution)
      : loop(loop), evolution(evolution), layout(loop->getHeader()->getDataLayout()) {}

  /// Says so of the loop if it qualifies.
  bool mark() {
    unsigned trips = evolution.getSmallConstantTripCount(loop);
    if (loop->getNumBlocks() != 1 || (trips && trips < FEW) || hasUnrollTransformation(loop) != TM_Unspecified ||
        !qualifies())
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

  /// Whether an access is to one vector after the other, or to two after the two before.
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

  /// A value of the iteration before, of which only what is put together with this one's is used.
  static bool carried(PHINode &phi) {
    return all_of(phi.users(), [&](User *user) {
      auto *shuffle = dyn_cast<ShuffleVectorInst>(user);
      return shuffle && shuffle->getOperand(0) == &phi && shuffle->getOperand(1) != &phi;
    });
  }

  /// Whether it is a vector that splitting left, and not the parts of complex numbers mixed, which are two again
  /// where they are stored.
  bool too_wide(Instruction &i) {
    auto *shuffle = dyn_cast<ShuffleVectorInst>(&i);
    return i.getType()->isVectorTy() && layout.getTypeSizeInBits(i.getType()) > NARROW &&
           !(shuffle && isa<FixedVectorType>(i.getType()) && ompvm::mixes(shuffle));
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

/// Says so of a module's loops; 1 if there was a nest, and 2 if there was a loop over vectors.
extern "C" int ompvm_unroll(LLVMModuleRef wrapped, LLVMTargetMachineRef machine) {
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
    bool wide = target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue() >= 2 * NARROW;
    for (Loop *loop : loops.getLoopsInPreorder()) {
      auto evolution = [&]() -> ScalarEvolution & { return of.getResult<ScalarEvolutionAnalysis>(f); };
      if (!loop->isInnermost())
        found |= nest(loop, evolution()) ? 1 : 0;
      else if (wide && findStringMetadataForLoop(loop, "llvm.loop.isvectorized"))
        found |= Vectors(loop, evolution()).mark() ? 2 : 0;
    }
  }
  return found;
}
