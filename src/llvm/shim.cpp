// What LLVM's C interface lacks: reading some functions of a module only, and entering a function
// at the head of one of its loops.
//
// Why C++: lazy reading and the repair of SSA form are there in LLVM's C++ interface only. What
// not: no policy and no state; every function works on the module that it is given. Messages
// are allocated with LLVMCreateMessage; the caller disposes of them.

#include <llvm-c/Core.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GVMaterializer.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/CodeExtractor.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

using namespace llvm;

static char *message(const Twine &text) { return LLVMCreateMessage(text.str().c_str()); }

/// Opens bitcode without reading any function. The bytes must outlive the module.
extern "C" LLVMModuleRef ompvm_open(LLVMContextRef context, const char *bytes, size_t size,
                                    char **error) {
  MemoryBufferRef buffer(StringRef(bytes, size), "input");
  auto module = getLazyBitcodeModule(buffer, *unwrap(context), /*ShouldLazyLoadMetadata=*/true);
  if (!module) {
    *error = message(toString(module.takeError()));
    return nullptr;
  }
  return wrap(module->release());
}

/// Reads the functions that `wanted` says, by number; the others become declarations.
/// `names` holds the name of each function of the module as it is when read as a whole.
extern "C" int ompvm_select(LLVMModuleRef wrapped, const char *const *names, const size_t *lengths,
                            size_t count, int debug, char **error) {
  Module &module = *unwrap(wrapped);
  StringSet<> wanted;
  for (size_t i = 0; i < count; i++)
    wanted.insert(StringRef(names[i], lengths[i]));
  if (!debug)
    if (GVMaterializer *reader = module.getMaterializer())
      reader->setStripDebugInfo();
  for (Function &f : module) {
    if (!f.isMaterializable())
      continue;
    if (wanted.contains(f.getName())) {
      if (Error e = f.materialize()) {
        *error = message(toString(std::move(e)));
        return 1;
      }
    } else {
      f.deleteBody();
      f.setComdat(nullptr);
    }
  }
  if (Error e = module.materializeAll()) {
    *error = message(toString(std::move(e)));
    return 1;
  }
  return 0;
}

/// Links what a module uses of a library, which is consumed.
extern "C" int ompvm_link_needed(LLVMModuleRef module, LLVMModuleRef library) {
  std::unique_ptr<Module> from(unwrap(library));
  return Linker::linkModules(*unwrap(module), std::move(from), Linker::LinkOnlyNeeded);
}

/// Forgets a module's flags.
extern "C" void ompvm_forget_flags(LLVMModuleRef module) {
  if (NamedMDNode *flags = unwrap(module)->getModuleFlagsMetadata())
    flags->eraseFromParent();
}

namespace {

/// How a value of the function is found in an interpreter's frame.
enum Kind : uint32_t {
  Nowhere = 0, // it lives inside one block only
  Slot = 1,    // its slot form is at `offset`
  Derived = 2, // it is computed from its operands
  Address = 3, // it is the address `offset` of the frame
};

struct Place {
  uint32_t kind;
  uint32_t offset;
};

/// The type that a value's slot form has in memory; null when it has none that can be loaded.
Type *memoryType(Type *type) {
  LLVMContext &context = type->getContext();
  if (auto *integer = dyn_cast<IntegerType>(type)) {
    unsigned bits = integer->getBitWidth();
    return bits > 128 ? nullptr : IntegerType::get(context, bits <= 64 ? 64 : 128);
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
  Function &old;
  Function *fresh = nullptr;
  BasicBlock *head = nullptr;
  BasicBlock *entry = nullptr;
  ArrayRef<Place> places;
  DenseMap<Value *, unsigned> number;
  DenseMap<Value *, Value *> values;
  std::string failure;

public:
  Entry(Function &old, ArrayRef<Place> places) : old(old), places(places) {}

  Value *address(IRBuilder<> &b, uint32_t offset) {
    return b.CreateConstGEP1_64(b.getInt8Ty(), fresh->getArg(0), offset);
  }

  Value *fail(const Twine &why) {
    if (failure.empty())
      failure = why.str();
    return nullptr;
  }

  /// A value as the interpreter has it, in the entry block.
  Value *load(IRBuilder<> &b, Type *type, Place place) {
    Value *at = address(b, place.offset);
    if (place.kind == Address)
      return at;
    Type *memory = memoryType(type);
    if (!memory)
      return fail("a value that lives across its loop has an unusual type");
    Value *v = b.CreateAlignedLoad(memory, at, Align(8));
    return memory == type ? v : b.CreateTrunc(v, type);
  }

  /// The value that an instruction had before the loop was entered.
  Value *before(Instruction *i) {
    auto known = values.find(i);
    if (known != values.end())
      return known->second;
    auto n = number.find(i);
    Place place = n == number.end() ? Place{Nowhere, 0} : places[n->second];
    IRBuilder<> b(entry->getTerminator());
    Value *v = nullptr;
    switch (place.kind) {
    case Slot:
    case Address:
      v = load(b, i->getType(), place);
      break;
    case Derived: {
      if (isa<PHINode>(i) || i->mayHaveSideEffects() || i->mayReadFromMemory())
        return fail("a value that lives across its loop is not in the frame");
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
      return fail("a value that lives across its loop is not in the frame");
    }
    values[i] = v;
    return v;
  }

  /// Stores the result in slot form instead of returning it.
  bool result(ReturnInst *ret, uint32_t words) {
    IRBuilder<> b(ret);
    if (Value *v = ret->getReturnValue()) {
      Type *memory = memoryType(v->getType());
      if (!memory)
        return fail("its result has an unusual type") != nullptr;
      Value *out = fresh->getArg(1);
      for (uint32_t w = 0; w < words; w++)
        b.CreateAlignedStore(b.getInt64(0), b.CreateConstGEP1_64(b.getInt64Ty(), out, w), Align(8));
      if (memory != v->getType())
        v = b.CreateZExt(v, memory);
      b.CreateAlignedStore(v, out, Align(8));
    }
    b.CreateRetVoid();
    ret->eraseFromParent();
    return true;
  }

  void clone(unsigned block, StringRef name, uint32_t words) {
    LLVMContext &context = old.getContext();
    Type *pointer = PointerType::get(context, 0);
    auto *type = FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false);
    fresh = Function::Create(type, GlobalValue::ExternalLinkage, name, old.getParent());
    entry = BasicBlock::Create(context, "", fresh);
    IRBuilder<> b(entry);
    ValueToValueMapTy map;
    unsigned n = 0;
    for (Argument &a : old.args()) {
      Place place = places[n++];
      Value *v = place.kind == Nowhere ? PoisonValue::get(a.getType()) : load(b, a.getType(), place);
      if (!v)
        return;
      map[&a] = v;
    }
    // Ended for the time being; the branch to the loop takes its place.
    Instruction *end = b.CreateUnreachable();
    SmallVector<ReturnInst *, 8> returns;
    CloneFunctionInto(fresh, &old, map, CloneFunctionChangeType::LocalChangesOnly, returns);
    AttributeMask drop;
    drop.addAttribute(Attribute::Memory);
    drop.addAttribute(Attribute::AllocSize);
    drop.addAttribute(Attribute::AllocKind);
    drop.addAttribute(Attribute::Speculatable);
    fresh->removeFnAttrs(drop);
    AttributeList attributes = fresh->getAttributes();
    fresh->setAttributes(AttributeList::get(context, attributes.getFnAttrs(), {}, {}));
    fresh->setLinkage(GlobalValue::ExternalLinkage);
    fresh->setComdat(nullptr);
    for (BasicBlock &bb : old)
      for (Instruction &i : bb)
        number[cast<Instruction>(map[&i])] = n++;
    unsigned at = 0;
    for (BasicBlock &bb : old)
      if (at++ == block)
        head = cast<BasicBlock>(map[&bb]);
    if (head->isEHPad()) {
      fail("its loop begins with a landing pad");
      return;
    }
    end->eraseFromParent();
    IRBuilder<>(entry).CreateBr(head);
    for (ReturnInst *ret : returns)
      if (!result(ret, words))
        return;
    repair();
  }

  void repair() {
    for (PHINode &phi : head->phis()) {
      Value *v = places[number[&phi]].kind == Slot ? before(&phi)
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
        BasicBlock *place = phi ? phi->getIncomingBlock(u) : user->getParent();
        if (tree.isReachableFromEntry(place) && !(here && tree.dominates(i, u)))
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
    // Lifetimes are those of allocas; the frame's memory has none.
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
      count++;
      if (auto *call = dyn_cast<CallBase>(&i); call && call->hasFnAttr(Attribute::ReturnsTwice))
        return fail("it calls a function that returns twice") != nullptr;
      if (auto *call = dyn_cast<CallInst>(&i); call && call->isMustTailCall())
        return fail("it has a call that must be in its place") != nullptr;
      if (auto *call = dyn_cast<IntrinsicInst>(&i))
        switch (call->getIntrinsicID()) {
        case Intrinsic::stacksave:
        case Intrinsic::stackrestore:
        case Intrinsic::vastart:
        case Intrinsic::frameaddress:
        case Intrinsic::returnaddress:
          return fail("it handles its own stack frame") != nullptr;
        default:
          break;
        }
    }
    if (count != places.size() || block >= blocks)
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
    *error = message(failure);
    return nullptr;
  }
};

} // namespace

/// Makes `void name(ptr slots, ptr out)`, which goes on at the head of a loop of `function` with
/// the values that an interpreter's frame holds, and leaves the result's slot form at `out`.
extern "C" LLVMValueRef ompvm_loop_entry(LLVMValueRef function, uint32_t block, const char *name,
                                         size_t length, uint32_t words, const Place *places,
                                         size_t count, char **error) {
  Entry entry(*unwrap<Function>(function), ArrayRef<Place>(places, count));
  return wrap(entry.make(block, StringRef(name, length), words, error));
}

/// Turns a definition into a declaration.
extern "C" void ompvm_forget_body(LLVMValueRef function) {
  Function *f = unwrap<Function>(function);
  f->deleteBody();
  f->setComdat(nullptr);
}

/// What a pointer is derived from by constant offsets, and their sum.
extern "C" LLVMValueRef ompvm_constant_offset(LLVMModuleRef module, LLVMValueRef pointer,
                                              int64_t *offset) {
  const DataLayout &layout = unwrap(module)->getDataLayout();
  Value *value = unwrap(pointer);
  APInt sum(layout.getIndexTypeSizeInBits(value->getType()), 0);
  value = value->stripAndAccumulateConstantOffsets(layout, sum, /*AllowNonInbounds=*/true);
  *offset = sum.getSExtValue();
  return wrap(value);
}

/// Has a function use `instead` where it uses a variable, which dominates all of the uses.
extern "C" void ompvm_replace_in(LLVMValueRef function, LLVMValueRef variable,
                                 LLVMValueRef instead) {
  Function *f = unwrap<Function>(function);
  Constant *constant = unwrap<Constant>(variable);
  convertUsersOfConstantsToInstructions({constant}, f);
  constant->replaceUsesWithIf(unwrap(instead), [f](Use &use) {
    auto *user = dyn_cast<Instruction>(use.getUser());
    return user && user->getFunction() == f;
  });
}

/// Puts another function in a function's place everywhere but in the addresses of its labels.
extern "C" void ompvm_replace_function(LLVMValueRef function, LLVMValueRef instead) {
  Value *from = unwrap(function), *to = unwrap(instead);
  auto label = [](User *user) { return isa<BlockAddress>(user); };
  if (none_of(from->users(), label))
    from->replaceAllUsesWith(to);
  else
    from->replaceUsesWithIf(to, [&](Use &use) { return !label(use.getUser()); });
}

/// Forgets who handles a function's exceptions, where nothing in it can catch one.
extern "C" void ompvm_forget_personality(LLVMValueRef function) {
  Function *f = unwrap<Function>(function);
  if (f->hasPersonalityFn())
    f->setPersonalityFn(nullptr);
}

/// Takes away all that is said of a parameter.
extern "C" void ompvm_forget_parameter(LLVMValueRef function, unsigned index) {
  Function *f = unwrap<Function>(function);
  f->setAttributes(f->getAttributes().removeParamAttributes(f->getContext(), index));
}

/// A copy of a function.
extern "C" LLVMValueRef ompvm_clone(LLVMValueRef function) {
  ValueToValueMapTy map;
  return wrap(CloneFunction(unwrap<Function>(function), map));
}

/// Has a block begin with an instruction.
extern "C" LLVMBasicBlockRef ompvm_split_before(LLVMValueRef instruction) {
  auto *at = unwrap<Instruction>(instruction);
  return wrap(at->getParent()->splitBasicBlock(at->getIterator()));
}

/// A block through which these go to one that they all lead to.
extern "C" LLVMBasicBlockRef ompvm_gather(LLVMBasicBlockRef to, const LLVMBasicBlockRef *from,
                                          size_t count) {
  SmallVector<BasicBlock *, 8> blocks;
  for (size_t i = 0; i < count; i++)
    blocks.push_back(unwrap(from[i]));
  return wrap(SplitBlockPredecessors(unwrap(to), blocks, ".gathered"));
}

/// Makes a function of blocks, of which the first alone is entered; null when that cannot be.
extern "C" LLVMValueRef ompvm_extract(const LLVMBasicBlockRef *list, size_t count) {
  SmallVector<BasicBlock *, 16> blocks;
  for (size_t i = 0; i < count; i++)
    blocks.push_back(unwrap(list[i]));
  CodeExtractorAnalysisCache cache(*blocks.front()->getParent());
  CodeExtractor extractor(blocks, nullptr, false, nullptr, nullptr, nullptr, false, true);
  if (!extractor.isEligible())
    return nullptr;
  return wrap(extractor.extractCodeRegion(cache));
}

/// Puts the body of a function in the place of a call.
extern "C" LLVMBool ompvm_inline(LLVMValueRef call) {
  InlineFunctionInfo info;
  return InlineFunction(*unwrap<CallBase>(call), info).isSuccess();
}

/// Has nobody unroll innermost loops that carry a floating-point number from one iteration to the next and
/// make whole numbers of some.
extern "C" void ompvm_keep_rolled(LLVMModuleRef module) {
  auto carries = [](const Loop &loop) {
    return any_of(loop.getHeader()->phis(),
                  [](const PHINode &phi) { return phi.getType()->isFloatingPointTy(); });
  };
  auto rounds = [](const Loop &loop) {
    return any_of(loop.blocks(), [](const BasicBlock *block) {
      return any_of(*block, [](const Instruction &i) { return isa<FPToSIInst, FPToUIInst>(i); });
    });
  };
  for (Function &function : *unwrap(module)) {
    if (function.isDeclaration())
      continue;
    DominatorTree tree(function);
    LoopInfo loops(tree);
    for (Loop *loop : loops.getLoopsInPreorder())
      if (loop->isInnermost() && carries(*loop) && rounds(*loop))
        loop->setLoopAlreadyUnrolled();
  }
}
