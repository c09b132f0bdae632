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
//
// A program that switches stacks may leave a function by a call on one thread and return to it on
// another. LLVM moves the intrinsic over calls, and its x86 code still reads the register of the
// thread at each access. So in such a program ([`ompvm_switches_stacks`]) both steps fetch an
// address again behind each call that may switch.

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

/// Functions of libraries that switch stacks.
constexpr StringRef SWITCHING[] = {"swapcontext",   "setcontext",       "makecontext",
                                   "jump_fcontext", "ontop_fcontext"};

bool is_address_call(const Value *v) {
  auto *call = dyn_cast<IntrinsicInst>(v);
  return call && call->getIntrinsicID() == Intrinsic::threadlocal_address;
}

/// Returns true for a thread-local address, and for one at a constant distance from it.
bool is_address(const Value *v) {
  auto *gep = dyn_cast<GetElementPtrInst>(v);
  return is_address_call(v) ||
         (gep && gep->hasAllConstantIndices() && is_address(gep->getPointerOperand()));
}

/// Returns true for a call that may return on another thread. Calls of the OpenMP runtime do not.
bool may_switch(const Instruction &i) {
  auto *call = dyn_cast<CallBase>(&i);
  if (!call || isa<IntrinsicInst>(i) || call->onlyReadsMemory() || call->doesNotReturn())
    return false;
  auto *callee = call->getCalledFunction();
  return !callee ||
         !(callee->getName().starts_with("__kmpc_") || callee->getName().starts_with("omp_"));
}

/// The parts of a function's blocks that no call which may switch divides.
class Sections {
public:
  /// A block, and the call that the section follows; null for its first section.
  using Section = std::pair<BasicBlock *, Instruction *>;

private:
  DenseMap<Instruction *, Instruction *> call_before;

public:
  bool divided = false;

  explicit Sections(Function &function) {
    for (BasicBlock &block : function) {
      Instruction *last = nullptr;
      for (Instruction &i : block) {
        call_before[&i] = last;
        if (may_switch(i)) {
          last = &i;
          divided = true;
        }
      }
    }
  }

  Section of(Instruction *i) const { return {i->getParent(), call_before.lookup(i)}; }

  /// Returns the section in which a use needs its value.
  Section of(const Use &use) const {
    auto *user = cast<Instruction>(use.getUser());
    auto *phi = dyn_cast<PHINode>(user);
    return of(phi ? phi->getIncomingBlock(use)->getTerminator() : user);
  }

  /// Inserts an instruction at the start of a section, behind those inserted before.
  void insert(Instruction *i, Section section) {
    auto [block, call] = section;
    auto place = call ? std::next(call->getIterator()) : block->getFirstInsertionPt();
    while (place != block->end() &&
           (isa<AllocaInst>(*place) || (is_address(&*place) && added.contains(&*place))))
      ++place;
    i->insertBefore(*block, place);
    call_before[i] = call;
    added.insert(i);
  }

private:
  SmallPtrSet<Instruction *, 16> added;
};

/// Fetches the addresses of a function again behind calls that may switch.
void fetch_again(Function &function) {
  if (none_of(instructions(function), [](Instruction &i) { return is_address_call(&i); }))
    return;
  Sections sections(function);
  if (!sections.divided)
    return;
  SmallVector<Instruction *, 256> all;
  for (Instruction &i : instructions(function))
    all.push_back(&i);
  DenseMap<std::pair<Instruction *, Sections::Section>, Instruction *> copies;
  auto copy = [&](auto &copy, Instruction *address, Sections::Section section) -> Instruction * {
    if (auto known = copies.lookup({address, section}))
      return known;
    Instruction *again = address->clone();
    if (auto *gep = dyn_cast<GetElementPtrInst>(again))
      gep->setOperand(0, copy(copy, cast<Instruction>(gep->getPointerOperand()), section));
    sections.insert(again, section);
    return copies[{address, section}] = again;
  };
  // The addresses that others are computed from come last.
  for (bool of_addresses : {false, true})
    for (Instruction *user : all) {
      if (is_address(user) != of_addresses)
        continue;
      for (Use &use : user->operands()) {
        auto *address = dyn_cast<Instruction>(use);
        if (!address || !is_address(address))
          continue;
        auto section = sections.of(use);
        if (section != sections.of(address))
          use.set(copy(copy, address, section));
      }
    }
  for (Instruction *i : reverse(all))
    if (i->use_empty() && is_address(i))
      i->eraseFromParent();
}

bool has_thread_locals(const Module &module) {
  return any_of(module.globals(), [](const GlobalVariable &g) { return g.isThreadLocal(); });
}

} // namespace

/// Returns true if a program has code that switches stacks, as far as its declarations show: it
/// calls a function of a library that does, or has functions in assembly.
extern "C" bool ompvm_switches_stacks(LLVMModuleRef wrapped) {
  const Module &module = *unwrap(wrapped);
  return !module.getModuleInlineAsm().empty() ||
         any_of(SWITCHING, [&](StringRef name) { return module.getFunction(name); }) ||
         any_of(module, [](const Function &f) { return f.hasFnAttribute(Attribute::Naked); });
}

/// Runs the first step on the functions read so far.
extern "C" void ompvm_expand_thread_locals(LLVMModuleRef wrapped, bool switches) {
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
    if (switches)
      fetch_again(function);
  }
}

/// Runs the second step.
extern "C" void ompvm_materialize_thread_locals(LLVMModuleRef wrapped, bool switches) {
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
  if (switches)
    for (Function &function : module)
      fetch_again(function);
}
