// Moves addresses of thread-local variables from constants to instructions.
//
// Such an address belongs to the calling thread, so code has to compute it, but LLVM's constants
// hold it like any other. There are two steps, because functions are entered in the middle by the
// numbers of their instructions:
//
// 1. When a function is read, constant expressions beyond the address of a variable or of a place
//    in it become instructions, for all tiers alike and in an order that depends on the function
//    alone.
// 2. For compilation, each function calls `llvm.threadlocal.address` for each variable once, at its
//    start. clang does so itself where a function may continue on another thread.

#include <llvm-c/Core.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

using namespace llvm;

namespace {

class Constants {
  DenseMap<const Constant *, bool> known;

public:
  /// Returns true if a constant holds the address of a thread-local variable.
  bool holds(const Constant *c) {
    if (auto *symbol = dyn_cast<GlobalValue>(c))
      return symbol->isThreadLocal();
    if (!isa<ConstantExpr, ConstantAggregate>(c))
      return false;
    if (auto found = known.find(c); found != known.end())
      return found->second;
    bool any = any_of(c->operands(), [&](const Use &use) { return holds(cast<Constant>(use)); });
    return known[c] = any;
  }

  /// Returns true for the address of a variable or of a place in it, which every tier can compute.
  bool is_place(const Constant *c) {
    if (isa<GlobalValue>(c))
      return true;
    auto *e = dyn_cast<ConstantExpr>(c);
    return e && e->getOpcode() == Instruction::GetElementPtr && c->getType()->isPointerTy() &&
           is_place(e->getOperand(0)) && none_of(drop_begin(e->operands()), [&](const Use &use) {
             return holds(cast<Constant>(use));
           });
  }

  /// Builds instructions for a constant. Inserts them directly, since the builder's methods would
  /// fold them to a constant again.
  Value *build(Constant *c, IRBuilder<> &builder) {
    if (!holds(c) || is_place(c))
      return c;
    if (auto *e = dyn_cast<ConstantExpr>(c)) {
      Instruction *i = e->getAsInstruction();
      for (Use &use : i->operands())
        use.set(build(cast<Constant>(use), builder));
      return builder.Insert(i);
    }
    Value *sum = PoisonValue::get(c->getType());
    Type *number = Type::getInt32Ty(c->getContext());
    for (unsigned n = 0; n < c->getNumOperands(); n++) {
      Value *part = build(cast<Constant>(c->getOperand(n)), builder);
      if (c->getType()->isVectorTy())
        sum = builder.Insert(InsertElementInst::Create(sum, part, ConstantInt::get(number, n)));
      else
        sum = builder.Insert(InsertValueInst::Create(sum, part, n));
    }
    return sum;
  }

  void expand(Instruction &user) {
    DenseMap<std::pair<BasicBlock *, Constant *>, Value *> at_ends;
    for (Use &use : user.operands()) {
      auto *c = dyn_cast<Constant>(use);
      if (!c || isa<ConstantData>(c) || !holds(c) || is_place(c))
        continue;
      auto *phi = dyn_cast<PHINode>(&user);
      if (!phi) {
        IRBuilder<> builder(&user);
        use.set(build(c, builder));
        continue;
      }
      BasicBlock *block = phi->getIncomingBlock(use);
      Value *&value = at_ends[{block, c}];
      if (!value) {
        IRBuilder<> builder(block->getTerminator());
        value = build(c, builder);
      }
      use.set(value);
    }
  }
};

bool has_thread_locals(const Module &module) {
  return any_of(module.globals(), [](const GlobalVariable &g) { return g.isThreadLocal(); });
}

} // namespace

/// Runs the first step on the functions read so far.
extern "C" void ompvm_expand_thread_locals(LLVMModuleRef wrapped) {
  Module &module = *unwrap(wrapped);
  if (!has_thread_locals(module))
    return;
  Constants constants;
  for (Function &function : module) {
    SmallVector<Instruction *, 256> all;
    for (Instruction &i : instructions(function))
      all.push_back(&i);
    for (Instruction *i : all)
      constants.expand(*i);
  }
}

/// Runs the second step.
extern "C" void ompvm_materialize_thread_locals(LLVMModuleRef wrapped) {
  Module &module = *unwrap(wrapped);
  DenseMap<std::pair<Function *, GlobalVariable *>, Instruction *> asked;
  for (GlobalVariable &variable : module.globals()) {
    if (!variable.isThreadLocal())
      continue;
    convertUsersOfConstantsToInstructions({&variable});
    variable.removeDeadConstantUsers();
    for (Use &use : make_early_inc_range(variable.uses())) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      auto *call = dyn_cast_or_null<IntrinsicInst>(user);
      if (!user || (call && call->getIntrinsicID() == Intrinsic::threadlocal_address))
        continue;
      Function *function = user->getFunction();
      Instruction *&address = asked[{function, &variable}];
      if (!address) {
        BasicBlock &entry = function->getEntryBlock();
        IRBuilder<> builder(&entry, entry.begin());
        if (DISubprogram *scope = function->getSubprogram())
          builder.SetCurrentDebugLocation(DILocation::get(module.getContext(), 0, 0, scope));
        address = builder.CreateThreadLocalAddress(&variable);
      }
      use.set(address);
    }
  }
}
