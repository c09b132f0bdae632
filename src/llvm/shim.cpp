// Operations that LLVM has only in its C++ interface: lazy reading of bitcode, replacement of
// functions and values, outlining of blocks.
//
// The functions keep no state and make no policy; each works on the module that it is given.
// Messages are allocated with LLVMCreateMessage, and the caller disposes of them.

#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/DebugInfo.h>
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

/// Opens bitcode without reading any function. The bytes must outlive the module. Without `types`,
/// debug information is read as for a function that another module imports: on demand, and without
/// the members of structures.
extern "C" LLVMModuleRef ompvm_open_lazily(LLVMContextRef context, const char *bytes, size_t size,
                                    int types, char **error) {
  MemoryBufferRef buffer(StringRef(bytes, size), "input");
  auto module = getLazyBitcodeModule(buffer, *unwrap(context), /*ShouldLazyLoadMetadata=*/true,
                                     /*IsImporting=*/!types);
  if (!module) {
    *error = message(toString(module.takeError()));
    return nullptr;
  }
  return wrap(module->release());
}

/// Returns true if this version of LLVM wrote the bitcode, so that reading it upgrades nothing.
extern "C" int ompvm_is_current(const char *bytes, size_t size) {
  auto producer = getBitcodeProducerString(MemoryBufferRef(StringRef(bytes, size), "input"));
  if (!producer) {
    consumeError(producer.takeError());
    return 0;
  }
  return StringRef(*producer).consume_front("LLVM") &&
         StringRef(*producer).drop_front(4).starts_with(Twine(LLVM_VERSION_MAJOR).str() + ".");
}

/// Reads the metadata of an opened module.
extern "C" int ompvm_read_metadata(LLVMModuleRef module, char **error) {
  if (Error e = unwrap(module)->materializeMetadata()) {
    *error = message(toString(std::move(e)));
    return 1;
  }
  return 0;
}

/// Reads everything of an opened module that is still unread.
extern "C" int ompvm_read_all(LLVMModuleRef module, char **error) {
  if (Error e = unwrap(module)->materializeAll()) {
    *error = message(toString(std::move(e)));
    return 1;
  }
  return 0;
}

extern "C" int ompvm_read_function(LLVMValueRef function, char **error) {
  if (Error e = unwrap<Function>(function)->materialize()) {
    *error = message(toString(std::move(e)));
    return 1;
  }
  return 0;
}

/// Reads the named functions of an opened module; the others become declarations.
extern "C" int ompvm_read_selected(LLVMModuleRef wrapped, const char *const *names,
                                   const size_t *lengths, size_t count, int debug, char **error) {
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

/// Returns true if a module has more debug information than line tables.
extern "C" int ompvm_has_types(LLVMModuleRef module) {
  return any_of(unwrap(module)->debug_compile_units(), [](DICompileUnit *unit) {
    return unit->getEmissionKind() == DICompileUnit::FullDebug;
  });
}

/// Strips a module's debug information down to line tables and returns its bitcode. Returns null
/// for a module that has no more than line tables, unless it is to be written in any case.
extern "C" LLVMMemoryBufferRef ompvm_write_with_line_tables(LLVMModuleRef wrapped, bool always) {
  Module &module = *unwrap(wrapped);
  if (!always && !ompvm_has_types(wrapped))
    return nullptr;
  stripNonLineTableDebugInfo(module);
  // Subprograms of declarations only describe calls to a debugger.
  for (Function &f : module)
    if (f.isDeclaration())
      f.setSubprogram(nullptr);
  return LLVMWriteBitcodeToMemoryBuffer(wrapped);
}

/// Creates a linker of several modules into one, which must outlive it. The linker looks through
/// the types of that module once: with one for each link, the time grows with the square of the
/// number of modules.
extern "C" Linker *ompvm_new_linker(LLVMModuleRef module) { return new Linker(*unwrap(module)); }

extern "C" void ompvm_dispose_linker(Linker *linker) { delete linker; }

/// Links a module into the linker's. Consumes the module. Returns true on failure.
extern "C" int ompvm_link_next(Linker *linker, LLVMModuleRef module) {
  return linker->linkInModule(std::unique_ptr<Module>(unwrap(module)));
}

/// Links the parts of a library that a module uses. Consumes the library.
extern "C" int ompvm_link_needed(LLVMModuleRef module, LLVMModuleRef library) {
  std::unique_ptr<Module> from(unwrap(library));
  return Linker::linkModules(*unwrap(module), std::move(from), Linker::LinkOnlyNeeded);
}

/// Removes a module's flags.
extern "C" void ompvm_drop_module_flags(LLVMModuleRef module) {
  if (NamedMDNode *flags = unwrap(module)->getModuleFlagsMetadata())
    flags->eraseFromParent();
}

/// Replaces aliases by their aliasees, and ifuncs by declarations: a module that keeps only some of
/// its definitions can have neither.
extern "C" void ompvm_resolve_aliases(LLVMModuleRef module) {
  Module *m = unwrap(module);
  for (GlobalAlias &alias : make_early_inc_range(m->aliases())) {
    alias.replaceAllUsesWith(alias.getAliasee());
    alias.eraseFromParent();
  }
  for (GlobalIFunc &picked : make_early_inc_range(m->ifuncs())) {
    Function *plain =
        Function::Create(cast<FunctionType>(picked.getValueType()), GlobalValue::ExternalLinkage,
                         picked.getAddressSpace(), "", m);
    plain->takeName(&picked);
    picked.replaceAllUsesWith(plain);
    picked.eraseFromParent();
  }
}

/// Turns a definition into a declaration.
extern "C" void ompvm_drop_body(LLVMValueRef function) {
  Function *f = unwrap<Function>(function);
  f->deleteBody();
  f->setComdat(nullptr);
}

/// Returns the base that a pointer is derived from by constant offsets, and their sum.
extern "C" LLVMValueRef ompvm_constant_offset(LLVMModuleRef module, LLVMValueRef pointer,
                                              int64_t *offset) {
  const DataLayout &layout = unwrap(module)->getDataLayout();
  Value *value = unwrap(pointer);
  APInt sum(layout.getIndexTypeSizeInBits(value->getType()), 0);
  value = value->stripAndAccumulateConstantOffsets(layout, sum, /*AllowNonInbounds=*/true);
  *offset = sum.getSExtValue();
  return wrap(value);
}

/// Replaces a variable by `instead`, which dominates all uses, within one function.
extern "C" void ompvm_replace_in_function(LLVMValueRef function, LLVMValueRef variable,
                                 LLVMValueRef instead) {
  Function *f = unwrap<Function>(function);
  Constant *constant = unwrap<Constant>(variable);
  convertUsersOfConstantsToInstructions({constant}, f);
  constant->replaceUsesWithIf(unwrap(instead), [f](Use &use) {
    auto *user = dyn_cast<Instruction>(use.getUser());
    return user && user->getFunction() == f;
  });
}

/// Replaces all uses of a function by another function, except in block addresses.
extern "C" void ompvm_replace_function(LLVMValueRef function, LLVMValueRef instead) {
  Value *from = unwrap(function), *to = unwrap(instead);
  auto label = [](User *user) { return isa<BlockAddress>(user); };
  if (none_of(from->users(), label))
    from->replaceAllUsesWith(to);
  else
    from->replaceUsesWithIf(to, [&](Use &use) { return !label(use.getUser()); });
}

/// Removes a function's personality. Nothing in the function may catch an exception.
extern "C" void ompvm_drop_personality(LLVMValueRef function) {
  Function *f = unwrap<Function>(function);
  if (f->hasPersonalityFn())
    f->setPersonalityFn(nullptr);
}

/// Copies ABI attributes of parameters from a callee's declaration to its direct calls. flang's
/// calls of internal procedures lack `nest`, and the symbol that replaces the callee in compiled
/// code has no attributes.
extern "C" void ompvm_copy_abi_attributes(LLVMModuleRef module) {
  constexpr Attribute::AttrKind HOW[] = {
      Attribute::Nest,      Attribute::InReg,      Attribute::ZExt,
      Attribute::SExt,      Attribute::StructRet,  Attribute::ByVal,
      Attribute::SwiftSelf, Attribute::SwiftError, Attribute::SwiftAsync};
  for (Function &f : *unwrap(module)) {
    AttributeList said = f.getAttributes();
    for (unsigned n = 0; n < f.arg_size(); n++) {
      AttributeSet of = said.getParamAttrs(n);
      if (!of.hasAttributes())
        continue;
      for (Attribute::AttrKind kind : HOW) {
        if (!of.hasAttribute(kind))
          continue;
        for (Use &use : f.uses()) {
          auto *call = dyn_cast<CallBase>(use.getUser());
          if (call && call->isCallee(&use) && call->getFunctionType() == f.getFunctionType() &&
              !call->getAttributes().hasParamAttr(n, kind))
            call->addParamAttr(n, of.getAttribute(kind));
        }
      }
    }
  }
}

/// The parameters of Swift's conventions that have registers of their own.
static constexpr Attribute::AttrKind SWIFT_PARAMETERS[] = {
    Attribute::SwiftSelf, Attribute::SwiftError, Attribute::SwiftAsync};

/// Makes the parameters of Swift's conventions plain ones, as they are in the tiers below.
extern "C" void ompvm_clear_swift_parameters(LLVMValueRef function) {
  Function *f = unwrap<Function>(function);
  for (Attribute::AttrKind kind : SWIFT_PARAMETERS) {
    unsigned at;
    while (f->getAttributes().hasAttrSomewhere(kind, &at))
      f->removeParamAttr(at - AttributeList::FirstArgIndex, kind);
  }
}

/// Makes the arguments for such parameters plain ones, and the variables of errors plain memory.
extern "C" void ompvm_clear_swift_arguments(LLVMValueRef instruction) {
  auto *call = unwrap<CallBase>(instruction);
  for (Attribute::AttrKind kind : SWIFT_PARAMETERS) {
    unsigned at;
    while (call->getAttributes().hasAttrSomewhere(kind, &at)) {
      unsigned n = at - AttributeList::FirstArgIndex;
      call->removeParamAttr(n, kind);
      if (auto *place = dyn_cast<AllocaInst>(call->getArgOperand(n)))
        place->setSwiftError(false);
    }
  }
}

/// Removes all attributes of a parameter.
extern "C" void ompvm_drop_parameter_attributes(LLVMValueRef function, unsigned index) {
  Function *f = unwrap<Function>(function);
  f->setAttributes(f->getAttributes().removeParamAttributes(f->getContext(), index));
}

/// Copies a function.
extern "C" LLVMValueRef ompvm_clone_function(LLVMValueRef function) {
  ValueToValueMapTy map;
  return wrap(CloneFunction(unwrap<Function>(function), map));
}

/// Splits a block so that a new one begins with the instruction.
extern "C" LLVMBasicBlockRef ompvm_split_before(LLVMValueRef instruction) {
  auto *at = unwrap<Instruction>(instruction);
  return wrap(at->getParent()->splitBasicBlock(at->getIterator()));
}

/// Creates a block through which the blocks `from` reach their common successor `to`.
extern "C" LLVMBasicBlockRef ompvm_merge_predecessors(LLVMBasicBlockRef to,
                                                      const LLVMBasicBlockRef *from,
                                                      size_t count) {
  SmallVector<BasicBlock *, 8> blocks;
  for (size_t i = 0; i < count; i++)
    blocks.push_back(unwrap(from[i]));
  return wrap(SplitBlockPredecessors(unwrap(to), blocks, ".gathered"));
}

/// Outlines single-entry blocks, of which the first is the entry, into a function. Returns null if
/// that is impossible.
extern "C" LLVMValueRef ompvm_outline_blocks(const LLVMBasicBlockRef *list, size_t count) {
  SmallVector<BasicBlock *, 16> blocks;
  for (size_t i = 0; i < count; i++)
    blocks.push_back(unwrap(list[i]));
  CodeExtractorAnalysisCache cache(*blocks.front()->getParent());
  CodeExtractor extractor(blocks, nullptr, false, nullptr, nullptr, nullptr, false, true);
  if (!extractor.isEligible())
    return nullptr;
  return wrap(extractor.extractCodeRegion(cache));
}

/// Inlines a call. Returns true on success.
extern "C" LLVMBool ompvm_inline_call(LLVMValueRef call) {
  InlineFunctionInfo info;
  return InlineFunction(*unwrap<CallBase>(call), info).isSuccess();
}

/// Disables unrolling of innermost loops that carry a floating-point number between iterations and
/// convert floating-point numbers to integers.
extern "C" void ompvm_disable_unrolling(LLVMModuleRef module) {
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
