// Support for bitcode written for link-time optimization: files of several modules, and intrinsics
// that a linker would have replaced.
//
// A file of `-flto=thin -fsplit-lto-unit` (also of `-funified-lto`) holds one module with the code
// and one with the virtual tables, which are linked as a linker would. `llvm.type.checked.load` of
// `-fvirtual-function-elimination` becomes the load that it stands for, and its check is true: no
// table was eliminated, and control-flow integrity is not checked here.
//
// Nothing is optimized across modules; index and summary are ignored.

#include <llvm-c/Core.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>

using namespace llvm;

static char *message(const Twine &text) { return LLVMCreateMessage(text.str().c_str()); }

/// Removes from a module's assembly the lines that splitting added: further names of its local
/// symbols, for assembly that uses them.
static void forget_conditional_names(Module &module) {
  std::string kept;
  SmallVector<StringRef> lines;
  StringRef(module.getModuleInlineAsm()).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    if (!line.ltrim().starts_with(".lto_set_conditional"))
      kept += (line + "\n").str();
  module.setModuleInlineAsm(kept);
}

/// Reads all modules of a bitcode file and links them into the first.
extern "C" LLVMModuleRef ompvm_read_modules(LLVMContextRef context, const char *bytes, size_t size,
                                            char **error) {
  auto list = getBitcodeModuleList(MemoryBufferRef(StringRef(bytes, size), "input"));
  if (!list) {
    *error = message(toString(list.takeError()));
    return nullptr;
  }
  std::unique_ptr<Module> whole;
  for (BitcodeModule &part : *list) {
    auto module = part.parseModule(*unwrap(context));
    if (!module) {
      *error = message(toString(module.takeError()));
      return nullptr;
    }
    if (!whole) {
      whole = std::move(*module);
    } else if (Linker::linkModules(*whole, std::move(*module))) {
      *error = message("its modules cannot be linked with each other");
      return nullptr;
    }
  }
  if (whole)
    forget_conditional_names(*whole);
  else
    *error = message("no module in it");
  return wrap(whole.release());
}

/// Replaces checked loads in the functions read so far. The intrinsic for their relative form is
/// declared in any case, so that function numbers do not depend on what has been read.
extern "C" void ompvm_lower_checked_loads(LLVMModuleRef wrapped) {
  Module &module = *unwrap(wrapped);
  for (Intrinsic::ID id :
       {Intrinsic::type_checked_load, Intrinsic::type_checked_load_relative}) {
    Function *checked = module.getFunction(Intrinsic::getBaseName(id));
    if (!checked)
      continue;
    Type *i32 = Type::getInt32Ty(module.getContext());
    Function *relative = nullptr;
    if (id == Intrinsic::type_checked_load_relative)
      relative = Intrinsic::getOrInsertDeclaration(&module, Intrinsic::load_relative, {i32});
    for (User *user : make_early_inc_range(checked->users())) {
      auto *call = dyn_cast<CallInst>(user);
      if (!call || call->getCalledOperand() != checked)
        continue;
      IRBuilder<> at(call);
      Value *table = call->getArgOperand(0), *offset = call->getArgOperand(1);
      Value *loaded;
      if (relative)
        loaded = at.CreateCall(relative, {table, offset});
      else
        loaded = at.CreateLoad(at.getPtrTy(), at.CreatePtrAdd(table, offset));
      Value *pair = at.CreateInsertValue(PoisonValue::get(call->getType()), loaded, 0);
      pair = at.CreateInsertValue(pair, at.getTrue(), 1);
      call->replaceAllUsesWith(pair);
      call->eraseFromParent();
    }
  }
}
