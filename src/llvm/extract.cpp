// Moves functions of an opened program into a module of their own.
//
// A unit needs few of a large program's symbols, and opening such a program takes longer than
// compiling most units. So the program stays open, and a unit is a module in its context: the
// functions, and declarations of all that they refer to. Constants keep their values, which may
// be folded. LLVM's reader remembers where in the bitcode a body is, so that a function whose
// body was moved away can be read again.
//
// Lines stay, since their nodes belong to the context; locations of variables are dropped. Which
// units are parts is decided by `native::Session`.

#include <llvm-c/Core.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/GlobalIFunc.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

using namespace llvm;

namespace {

/// Metadata that may refer to symbols, which would be those of the program.
constexpr StringRef KINDS[] = {"callees", "associated", "func_sanitize", "implicit.ref"};

const RemapFlags FLAGS = RF_NoModuleLevelChanges | RF_IgnoreMissingLocals;

using Found = void (*)(void *to, LLVMValueRef source, LLVMValueRef copy);

class Part : ValueMaterializer {
  Module &source;
  std::unique_ptr<Module> module;
  ValueToValueMapTy map;
  Found found;
  void *to;
  SmallVector<unsigned, 4> symbolic;
  /// Variables whose values are still those of the program.
  SmallVector<std::pair<GlobalVariable *, GlobalVariable *>, 8> valued;

  void place(GlobalValue *from, GlobalValue *copy) {
    map[from] = copy;
    found(to, wrap(from), wrap(copy));
  }

  static GlobalValue::LinkageTypes outside(const GlobalValue *symbol) {
    return symbol->hasExternalWeakLinkage() ? GlobalValue::ExternalWeakLinkage
                                            : GlobalValue::ExternalLinkage;
  }

  Function *create(Function *from, GlobalValue::LinkageTypes linkage) {
    Function *copy = Function::Create(from->getFunctionType(), linkage, from->getAddressSpace(),
                                      from->getName(), module.get());
    copy->copyAttributesFrom(from);
    place(from, copy);
    return copy;
  }

  Function *declare(Function *from) {
    Function *copy = create(from, outside(from));
    copy->setPersonalityFn(nullptr);
    copy->setPrefixData(nullptr);
    copy->setPrologueData(nullptr);
    return copy;
  }

  GlobalVariable *declare(GlobalVariable *from) {
    bool constant = from->isConstant() && from->hasInitializer();
    auto *copy = new GlobalVariable(
        *module, from->getValueType(), from->isConstant(),
        constant ? from->getLinkage() : outside(from), nullptr, from->getName(), nullptr,
        from->getThreadLocalMode(), from->getAddressSpace(), from->isExternallyInitialized());
    copy->copyAttributesFrom(from);
    SmallVector<std::pair<unsigned, MDNode *>, 2> attached;
    from->getAllMetadata(attached);
    for (auto [kind, node] : attached)
      if (kind != LLVMContext::MD_dbg && !is_contained(symbolic, kind))
        copy->addMetadata(kind, *node);
    place(from, copy);
    if (constant)
      valued.emplace_back(from, copy);
    return copy;
  }

  /// Declares a symbol of the program when a moved function first refers to it.
  Value *materialize(Value *value) override {
    if (auto *function = dyn_cast<Function>(value))
      return declare(function);
    if (auto *variable = dyn_cast<GlobalVariable>(value))
      return declare(variable);
    if (auto *alias = dyn_cast<GlobalAlias>(value))
      return MapValue(alias->getAliasee(), map, FLAGS, nullptr, this);
    if (auto *picked = dyn_cast<GlobalIFunc>(value)) {
      auto *copy = Function::Create(cast<FunctionType>(picked->getValueType()),
                                    GlobalValue::ExternalLinkage, picked->getAddressSpace(),
                                    picked->getName(), module.get());
      place(picked, copy);
      return copy;
    }
    return nullptr;
  }

  void drop_symbolic(Function &function) {
    for (Instruction &i : instructions(function)) {
      i.dropDbgRecords();
      if (i.hasMetadataOtherThanDebugLoc())
        for (unsigned kind : symbolic)
          i.setMetadata(kind, nullptr);
    }
    for (unsigned kind : symbolic)
      function.setMetadata(kind, nullptr);
  }

public:
  Part(Module &source, Found found, void *to)
      : source(source), module(new Module(source.getModuleIdentifier(), source.getContext())),
        found(found), to(to) {
    module->setSourceFileName(source.getSourceFileName());
    module->setDataLayout(source.getDataLayout());
    module->setTargetTriple(source.getTargetTriple());
    for (StringRef kind : KINDS)
      symbolic.push_back(source.getContext().getMDKindID(kind));
  }

  /// Copies the flags that are numbers or texts, and the list of debug information.
  void copy_flags() {
    if (NamedMDNode *flags = source.getModuleFlagsMetadata())
      for (MDNode *flag : flags->operands())
        if (flag->getNumOperands() == 3 &&
            (isa<MDString>(flag->getOperand(2)) ||
             mdconst::hasa<ConstantInt>(flag->getOperand(2))))
          module->getOrInsertModuleFlagsMetadata()->addOperand(flag);
    if (NamedMDNode *units = source.getNamedMetadata("llvm.dbg.cu"))
      for (MDNode *unit : units->operands())
        module->getOrInsertNamedMetadata("llvm.dbg.cu")->addOperand(unit);
  }

  /// Reads functions and moves their bodies.
  Error move(ArrayRef<Function *> functions) {
    for (Function *from : functions)
      create(from, from->getLinkage());
    for (Function *from : functions) {
      if (Error e = from->materialize())
        return e;
      auto *copy = cast<Function>(map[from]);
      copy->stealArgumentListFrom(*from);
      copy->splice(copy->end(), from);
      copy->copyMetadata(from, 0);
      from->clearMetadata();
      from->setIsMaterializable(true);
      drop_symbolic(*copy);
      RemapFunction(*copy, map, FLAGS, nullptr, this);
    }
    while (!valued.empty()) {
      auto [from, copy] = valued.pop_back_val();
      copy->setInitializer(MapValue(from->getInitializer(), map, FLAGS, nullptr, this));
    }
    return Error::success();
  }

  std::unique_ptr<Module> take() { return std::move(module); }
};

} // namespace

/// Moves the bodies of functions of an opened module, of which no label's address is taken, into a
/// new module, with declarations of all that they use. Calls `found` for each symbol and its copy.
extern "C" LLVMModuleRef ompvm_extract(LLVMModuleRef source, const LLVMValueRef *functions,
                                       size_t count, Found found, void *to, char **error) {
  SmallVector<Function *, 16> list;
  for (size_t i = 0; i < count; i++)
    list.push_back(unwrap<Function>(functions[i]));
  Part part(*unwrap(source), found, to);
  if (Error e = part.move(list)) {
    *error = LLVMCreateMessage(toString(std::move(e)).c_str());
    return nullptr;
  }
  part.copy_flags();
  return wrap(part.take().release());
}
