// Unrolling of the functions that combine the values of a reduction on a GPU.
//
// For an array in a `reduction` clause, the compiler's functions copy and combine element by
// element in loops. The array must then lie in memory, and a step of the reduction over a warp
// waits for memory at each element. Without loops the elements are registers.
//
// This only marks the loops; LLVM's passes unroll them. They must know the number of iterations. A
// loop that compares the rest of an array in bytes has one that LLVM cannot compute, since the
// rest might wrap; here the iterations are counted out, and the loop gets a counter.
//
// Functions are known by the calls of the runtime that they are passed to. Loops of unknown length,
// and long ones, are left alone: for a large array the code would grow by more than it saves.

#include <llvm-c/Core.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CBindingWrapping.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;

namespace {

/// Largest size of a reduction's values in bytes. The assembler takes seconds for larger ones.
constexpr uint64_t LARGEST = 256;
/// Largest number of iterations of a loop that is unrolled: one for each word of the values.
constexpr unsigned LONGEST = LARGEST / 4;

/// An entry of the runtime that gets such functions, and the index of its argument that is the size
/// of the values.
struct Entry {
  const char *name;
  unsigned size;
};
constexpr Entry ENTRIES[] = {{"__kmpc_nvptx_parallel_reduce_nowait_v2", 1},
                             {"__kmpc_nvptx_teams_reduce_nowait_v2", 3}};

/// Returns the functions that the module passes to reductions of the runtime.
SmallPtrSet<Function *, 8> reduction_functions(Module &module) {
  SmallPtrSet<Function *, 8> found;
  for (const Entry &known : ENTRIES) {
    Function *entry = module.getFunction(known.name);
    if (!entry)
      continue;
    for (User *user : entry->users()) {
      auto *call = dyn_cast<CallBase>(user);
      if (!call || call->getCalledFunction() != entry || call->arg_size() <= known.size)
        continue;
      auto *size = dyn_cast<ConstantInt>(call->getArgOperand(known.size));
      if (!size || size->getZExtValue() > LARGEST)
        continue;
      for (Value *argument : call->args())
        if (auto *function = dyn_cast<Function>(argument))
          found.insert(function);
    }
  }
  return found;
}

/// Returns whether an exit condition holds for a number.
bool holds(const ICmpInst *condition, const APInt &number, const APInt &bound) {
  return ICmpInst::compare(number, bound, condition->getPredicate());
}

/// Gives a loop that compares a linear function of its iteration with a constant at its end a
/// counter instead, and returns the number of iterations; 0 if it is another loop, or too long.
unsigned count_out(Loop *loop, ScalarEvolution &evolution) {
  BasicBlock *latch = loop->getLoopLatch(), *header = loop->getHeader();
  if (!latch || loop->getExitingBlock() != latch)
    return 0;
  auto *branch = dyn_cast<BranchInst>(latch->getTerminator());
  if (!branch || !branch->isConditional())
    return 0;
  auto *condition = dyn_cast<ICmpInst>(branch->getCondition());
  auto *bound = condition ? dyn_cast<ConstantInt>(condition->getOperand(1)) : nullptr;
  if (!bound)
    return 0;
  auto *linear = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(condition->getOperand(0)));
  if (!linear || linear->getLoop() != loop || !linear->isAffine())
    return 0;
  auto *start = dyn_cast<SCEVConstant>(linear->getStart());
  auto *step = dyn_cast<SCEVConstant>(linear->getOperand(1));
  if (!start || !step)
    return 0;
  bool goes_on = branch->getSuccessor(0) == header;
  APInt number = start->getAPInt();
  unsigned trips = 1;
  for (; holds(condition, number, bound->getValue()) == goes_on; trips++) {
    if (trips == LONGEST)
      return 0;
    number += step->getAPInt();
  }
  IRBuilder<> at_end(branch);
  IntegerType *type = at_end.getInt32Ty();
  PHINode *counter = PHINode::Create(type, 2, "", header->begin());
  Value *next = at_end.CreateAdd(counter, at_end.getInt32(1), "", true, true);
  for (BasicBlock *before : predecessors(header))
    counter->addIncoming(before == latch ? next : at_end.getInt32(0), before);
  Value *limit = at_end.getInt32(trips);
  branch->setCondition(goes_on ? at_end.CreateICmpULT(next, limit)
                               : at_end.CreateICmpUGE(next, limit));
  evolution.forgetLoop(loop);
  return trips;
}

void mark_loops(Function &function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  AssumptionCache assumptions(function);
  TargetLibraryInfoImpl library(function.getParent()->getTargetTriple());
  TargetLibraryInfo info(library);
  ScalarEvolution evolution(function, info, assumptions, dominators, loops);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    unsigned trips = evolution.getSmallConstantTripCount(loop);
    if (trips == 0)
      trips = count_out(loop, evolution);
    if (trips < 2 || trips > LONGEST)
      continue;
    LLVMContext &context = function.getContext();
    auto *full = MDNode::get(context, MDString::get(context, "llvm.loop.unroll.full"));
    loop->setLoopID(
        makePostTransformationMetadata(context, loop->getLoopID(), {"llvm.loop.unroll."}, {full}));
  }
}

} // namespace

extern "C" void ompvm_unroll_reductions(LLVMModuleRef module) {
  for (Function *function : reduction_functions(*unwrap(module)))
    if (!function->isDeclaration())
      mark_loops(*function);
}
