// OSR entries: functions that continue at the head of a loop with the values of an interpreter
// frame.
//
// The loop becomes a function of the frame. At its exits, the values that are live there are stored
// in the frame, and the interpreter continues at that block. So only the loop is compiled, which is
// quick. An exception that leaves the loop is received in compiled code, so its landing pad is
// compiled with the loop and the function is left behind it. If all that is impossible (the loop is
// irreducible or allocates on the stack), everything that may follow the head is compiled, up to the
// function's return. Quick code tests before each further iteration whether better code exists, and
// then leaves at the head, where only the head's own values have changed since entry.
//
// The choice of loops and the locations of values in the frame are given by the caller.

#include "added.h"
#include <llvm-c/Core.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

using namespace llvm;

namespace {

/// Ways to recover a value from an interpreter frame; as `LocationKind` in `shim.rs`.
enum LocationKind : uint32_t {
  Nowhere = 0, // the value lives within one block
  Slot = 1, // its slot form is at `offset`
  Derived = 2, // it is recomputed from its operands
  Address = 3, // it is the address `offset` of the frame
  Dead = 4, // it is not computed: it has no uses
};

struct ValueLocation {
  uint32_t kind;
  uint32_t offset;
};

/// Returned instead of a block number if the function has returned.
constexpr uint32_t Returned = -1;

/// Returns the type of a value's slot form in memory; null if it cannot be loaded.
Type *memoryType(Type *type) {
  LLVMContext &context = type->getContext();
  if (auto *integer = dyn_cast<IntegerType>(type)) {
    return IntegerType::get(context, alignTo(integer->getBitWidth(), 64));
  }
  if (auto *vector = dyn_cast<FixedVectorType>(type)) {
    Type *lane = vector->getElementType();
    if (lane->isX86_FP80Ty())
      return nullptr;
    if (auto *integer = dyn_cast<IntegerType>(lane)) {
      unsigned bits = std::max(8u, unsigned(PowerOf2Ceil(integer->getBitWidth())));
      return FixedVectorType::get(IntegerType::get(context, bits), vector->getNumElements());
    }
    return type;
  }
  if (type->isFloatingPointTy() || type->isPointerTy() || type->isStructTy() || type->isArrayTy())
    return type->isSized() ? type : nullptr;
  return nullptr;
}

class Entry {
  using Blocks = SmallSetVector<BasicBlock *, 16>;

  Function &old;
  Function *fresh = nullptr;
  BasicBlock *head = nullptr;
  BasicBlock *entry = nullptr;
  ArrayRef<ValueLocation> locations;
  /// True if the entry leaves for better code.
  bool yields;
  DenseMap<Value *, unsigned> number;
  DenseMap<BasicBlock *, unsigned> blockNumber;
  DenseMap<Value *, Value *> values;
  std::string failure;

public:
  Entry(Function &old, ArrayRef<ValueLocation> locations, bool yields)
      : old(old), locations(locations), yields(yields) {}

  Value *address(IRBuilder<> &b, uint32_t offset) {
    return b.CreateConstGEP1_64(b.getInt8Ty(), fresh->getArg(0), offset);
  }

  Value *fail(const Twine &why) {
    if (failure.empty())
      failure = why.str();
    return nullptr;
  }

  /// Loads a value from the frame, in the entry block.
  Value *load(IRBuilder<> &b, Type *type, ValueLocation location) {
    Value *at = address(b, location.offset);
    if (location.kind == Address)
      return at;
    Type *memory = memoryType(type);
    if (!memory)
      return fail("a value live across the loop has a type that cannot be transferred");
    Value *v = b.CreateAlignedLoad(memory, at, Align(8));
    return memory == type ? v : b.CreateTrunc(v, type);
  }

  /// Stores a value in slot form, which may be shorter than its words.
  bool store(IRBuilder<> &b, Value *v, Value *at) {
    Type *memory = memoryType(v->getType());
    if (!memory)
      return fail("a value live after the loop has a type that cannot be transferred") != nullptr;
    if (memory != v->getType())
      v = b.CreateZExt(v, memory);
    b.CreateAlignedStore(v, at, Align(8));
    return true;
  }

  ValueLocation locationOf(Instruction *i) {
    auto n = number.find(i);
    return n == number.end() ? ValueLocation{Nowhere, 0} : locations[n->second];
  }

  /// Returns the value that an instruction had before the loop was entered.
  Value *before(Instruction *i) {
    auto known = values.find(i);
    if (known != values.end())
      return known->second;
    ValueLocation location = locationOf(i);
    IRBuilder<> b(entry->getTerminator());
    Value *v = nullptr;
    switch (location.kind) {
    case Slot:
    case Address:
      v = load(b, i->getType(), location);
      break;
    case Derived: {
      if (isa<PHINode>(i) || i->mayHaveSideEffects() || i->mayReadFromMemory())
        return fail("a value live across the loop is not in the interpreter frame");
      Instruction *copy = i->clone();
      for (Use &u : copy->operands())
        if (auto *operand = dyn_cast<Instruction>(u.get()))
          if (operand->getParent() != entry) {
            Value *o = before(operand);
            if (!o) {
              copy->deleteValue();
              return nullptr;
            }
            u.set(o);
          }
      copy->insertBefore(entry->getTerminator()->getIterator());
      v = copy;
      break;
    }
    default:
      return fail("a value live across the loop is not in the interpreter frame");
    }
    values[i] = v;
    return v;
  }

  /// Stores the result in slot form instead of returning it.
  bool result(ReturnInst *ret, uint32_t words) {
    IRBuilder<> b(ret);
    if (Value *v = ret->getReturnValue()) {
      Value *out = fresh->getArg(1);
      for (uint32_t w = 0; w < words; w++)
        b.CreateAlignedStore(b.getInt64(0), b.CreateConstGEP1_64(b.getInt64Ty(), out, w), Align(8));
      if (!store(b, v, out))
        return false;
    }
    b.CreateRet(b.getInt32(Returned));
    ret->eraseFromParent();
    return true;
  }

  /// Handles a loop that cannot be left at its exits, so that everything after it is compiled, too.
  /// Fails for quick code, which must be able to leave for better code.
  bool cannotLeave() {
    return !yields ||
           fail("quick code could not leave the loop, so optimized code is compiled at once") !=
               nullptr;
  }

  /// Ends the function at the loop's exits if possible. Returns false on failure.
  bool leaveAtExits(BasicBlock *block, const ValueToValueMapTy &map) {
    DominatorTree tree(old);
    LoopInfo loops(tree);
    Loop *loop = loops.getLoopFor(block);
    if (!loop || loop->getHeader() != block)
      return cannotLeave();
    Blocks inside;
    for (BasicBlock *b : loop->blocks())
      inside.insert(cast<BasicBlock>(map.lookup(b)));
    SmallSetVector<std::pair<BasicBlock *, BasicBlock *>, 8> edges;
    MapVector<BasicBlock *, SmallVector<Instruction *, 8>> wanted;
    for (unsigned n = 0; n < inside.size(); n++) {
      BasicBlock *from = inside[n];
      if (isa<CallBrInst>(from->getTerminator()) || isa<IndirectBrInst>(from->getTerminator()))
        return cannotLeave();
      if (any_of(*from, [](Instruction &i) { return isa<AllocaInst>(i); }))
        return cannotLeave();
      for (BasicBlock *to : successors(from))
        if (to->isLandingPad())
          inside.insert(to);
        else if (to->isEHPad())
          return cannotLeave();
    }
    for (BasicBlock *from : inside)
      for (BasicBlock *to : successors(from))
        if (!inside.contains(to)) {
          edges.insert({from, to});
          wanted[to];
        }
    for (BasicBlock *b : inside)
      for (Instruction &i : *b)
        if (locationOf(&i).kind == Slot) {
          Blocks live = wantedIn(&i, inside);
          for (auto &[exit, values] : wanted)
            if (live.contains(exit))
              values.push_back(&i);
        }
    for (auto &[from, to] : edges) {
      BasicBlock *end = BasicBlock::Create(fresh->getContext(), "", fresh);
      IRBuilder<> b(end);
      for (Instruction *i : wanted[to])
        if (!store(b, i, address(b, locationOf(i).offset)))
          return false;
      for (PHINode &phi : to->phis())
        if (ValueLocation location = locationOf(&phi); location.kind == Slot)
          if (!store(b, phi.getIncomingValueForBlock(from), address(b, location.offset)))
            return false;
      b.CreateRet(b.getInt32(blockNumber[to]));
      from->getTerminator()->replaceSuccessorWith(to, end);
    }
    return !yields || yieldAtHead(inside);
  }

  /// Ends the function at the back edges if the flag is set. Only the head's phis need storing:
  /// every other value of the loop is recomputed, and values from before the loop are still in the
  /// frame.
  bool yieldAtHead(const Blocks &inside) {
    for (BasicBlock *from : inside) {
      if (count(successors(from), head) != 1)
        continue;
      LLVMContext &context = fresh->getContext();
      BasicBlock *again = BasicBlock::Create(context, "", fresh);
      BasicBlock *end = BasicBlock::Create(context, "", fresh);
      IRBuilder<> b(again);
      LoadInst *flag = b.CreateAlignedLoad(b.getInt32Ty(), fresh->getArg(2), Align(4));
      flag->setAtomic(AtomicOrdering::Monotonic);
      MDNode *seldom = MDBuilder(context).createUnlikelyBranchWeights();
      b.CreateCondBr(b.CreateICmpNE(flag, b.getInt32(0)), end, head, seldom);
      b.SetInsertPoint(end);
      for (PHINode &phi : head->phis()) {
        if (ValueLocation location = locationOf(&phi); location.kind == Slot)
          if (!store(b, phi.getIncomingValueForBlock(from), address(b, location.offset)))
            return false;
        phi.replaceIncomingBlockWith(from, again);
      }
      b.CreateRet(b.getInt32(blockNumber[head]));
      from->getTerminator()->replaceSuccessorWith(head, again);
    }
    return true;
  }

  /// Returns the blocks outside a loop at whose start a value of the loop is live: a later
  /// instruction reads its slot, or that of a value derived from it. Paths through the loop, which
  /// would recompute the value, do not count.
  Blocks wantedIn(Instruction *value, const Blocks &inside) {
    Blocks live;
    SmallVector<BasicBlock *, 16> todo;
    auto reach = [&](BasicBlock *block) {
      if (!inside.contains(block) && live.insert(block))
        todo.push_back(block);
    };
    SmallSetVector<Instruction *, 8> read;
    read.insert(value);
    for (unsigned n = 0; n < read.size(); n++)
      for (Use &use : read[n]->uses()) {
        auto *user = cast<Instruction>(use.getUser());
        uint32_t kind = locationOf(user).kind;
        if (kind == Derived)
          read.insert(user);
        else if (kind == Dead)
          continue;
        else if (auto *phi = dyn_cast<PHINode>(user))
          reach(phi->getIncomingBlock(use));
        else
          reach(user->getParent());
      }
    while (!todo.empty())
      for (BasicBlock *before : predecessors(todo.pop_back_val()))
        reach(before);
    return live;
  }

  void clone(unsigned block, StringRef name, uint32_t words) {
    LLVMContext &context = old.getContext();
    Type *pointer = PointerType::get(context, 0);
    auto *type = FunctionType::get(Type::getInt32Ty(context), {pointer, pointer, pointer}, false);
    fresh = Function::Create(type, GlobalValue::ExternalLinkage, name, old.getParent());
    entry = BasicBlock::Create(context, "", fresh);
    IRBuilder<> b(entry);
    ValueToValueMapTy map;
    unsigned n = 0;
    for (Argument &a : old.args()) {
      ValueLocation location = locations[n++];
      Value *v =
          location.kind == Nowhere ? PoisonValue::get(a.getType()) : load(b, a.getType(), location);
      if (!v)
        return;
      map[&a] = v;
    }
    // A temporary terminator; the branch to the loop replaces it.
    Instruction *end = b.CreateUnreachable();
    SmallVector<ReturnInst *, 8> returns;
    CloneFunctionInto(fresh, &old, map, CloneFunctionChangeType::LocalChangesOnly, returns);
    AttributeMask drop;
    drop.addAttribute(Attribute::Memory);
    drop.addAttribute(Attribute::AllocSize);
    drop.addAttribute(Attribute::AllocKind);
    drop.addAttribute(Attribute::Speculatable);
    drop.addAttribute(Attribute::NoReturn);
    fresh->removeFnAttrs(drop);
    AttributeList attributes = fresh->getAttributes();
    fresh->setAttributes(AttributeList::get(context, attributes.getFnAttrs(), {}, {}));
    fresh->setLinkage(GlobalValue::ExternalLinkage);
    fresh->setComdat(nullptr);
    for (BasicBlock &bb : old)
      for (Instruction &i : bb)
        if (!isAdded(i))
          number[cast<Instruction>(map[&i])] = n++;
    unsigned at = 0;
    BasicBlock *from = nullptr;
    for (BasicBlock &bb : old) {
      auto *copy = cast<BasicBlock>(map[&bb]);
      if (at == block) {
        from = &bb;
        head = copy;
      }
      blockNumber[copy] = at++;
    }
    if (head->isEHPad()) {
      fail("its loop begins with a landing pad");
      return;
    }
    end->eraseFromParent();
    IRBuilder<>(entry).CreateBr(head);
    for (ReturnInst *ret : returns)
      if (!result(ret, words))
        return;
    if (leaveAtExits(from, map))
      repair();
  }

  void repair() {
    for (PHINode &phi : head->phis()) {
      Value *v = locations[number[&phi]].kind == Slot ? before(&phi)
                                                   : PoisonValue::get(phi.getType());
      if (!v)
        return;
      phi.addIncoming(v, entry);
    }
    DominatorTree tree(*fresh);
    SmallVector<Instruction *, 64> all;
    for (Instruction &i : instructions(fresh))
      if (i.getParent() != entry && !i.getType()->isVoidTy())
        all.push_back(&i);
    for (Instruction *i : all) {
      bool here = tree.isReachableFromEntry(i->getParent());
      SmallVector<Use *, 8> lost;
      for (Use &u : i->uses()) {
        auto *user = cast<Instruction>(u.getUser());
        auto *phi = dyn_cast<PHINode>(user);
        BasicBlock *location = phi ? phi->getIncomingBlock(u) : user->getParent();
        if (tree.isReachableFromEntry(location) && !(here && tree.dominates(i, u)))
          lost.push_back(&u);
      }
      if (lost.empty())
        continue;
      Value *was = before(i);
      if (!was)
        return;
      if (!here) {
        for (Use *u : lost)
          u->set(was);
        continue;
      }
      SSAUpdater updater;
      updater.Initialize(i->getType(), "");
      updater.AddAvailableValue(entry, was);
      updater.AddAvailableValue(i->getParent(), i);
      for (Use *u : lost)
        updater.RewriteUse(*u);
    }
    removeUnreachableBlocks(*fresh);
    // Lifetime markers apply to allocas; the frame's memory has none.
    SmallVector<Instruction *, 8> gone;
    for (Instruction &i : instructions(fresh))
      if (i.isLifetimeStartOrEnd() && !isa<AllocaInst>(i.getOperand(i.getNumOperands() - 2)))
        gone.push_back(&i);
    for (Instruction *i : gone)
      i->eraseFromParent();
  }

  bool usable(unsigned block) {
    size_t count = old.arg_size(), blocks = old.size();
    if (old.isVarArg())
      return fail("it is variadic") != nullptr;
    for (Instruction &i : instructions(old)) {
      count += !isAdded(i);
      if (auto *call = dyn_cast<CallBase>(&i); call && call->hasFnAttr(Attribute::ReturnsTwice))
        return fail("it calls a function that returns twice") != nullptr;
      if (auto *call = dyn_cast<CallInst>(&i); call && call->isMustTailCall())
        return fail("it contains a `musttail` call") != nullptr;
      if (auto *call = dyn_cast<IntrinsicInst>(&i))
        switch (call->getIntrinsicID()) {
        case Intrinsic::stacksave:
        case Intrinsic::stackrestore:
        case Intrinsic::vastart:
        case Intrinsic::frameaddress:
        case Intrinsic::returnaddress:
        case Intrinsic::eh_sjlj_setjmp:
          return fail("it accesses its own stack frame") != nullptr;
        default:
          break;
        }
    }
    if (count != locations.size() || block >= blocks)
      return fail("the files changed since they were read") != nullptr;
    return true;
  }

  Function *make(unsigned block, StringRef name, uint32_t words, char **error) {
    if (usable(block))
      clone(block, name, words);
    if (failure.empty())
      return fresh;
    if (fresh) {
      fresh->deleteBody();
      fresh->eraseFromParent();
    }
    *error = LLVMCreateMessage(failure.c_str());
    return nullptr;
  }
};

} // namespace

/// Creates `i32 name(ptr slots, ptr out, ptr flag)`, which continues at the head of a loop of
/// `function` with the values that an interpreter frame holds. It returns the number of the block
/// to continue at, with that block's live values in the frame, or -1 if the function has returned,
/// with the result's slot form at `out`. With `yields`, it leaves at the head if the flag, an i32,
/// is set.
extern "C" LLVMValueRef ompvm_osr_entry(LLVMValueRef function, uint32_t block, const char *name,
                                        size_t length, uint32_t words,
                                        const ValueLocation *locations, size_t count, bool yields,
                                        char **error) {
  Entry entry(*unwrap<Function>(function), ArrayRef<ValueLocation>(locations, count), yields);
  return wrap(entry.make(block, StringRef(name, length), words, error));
}
