// Gathers what must run on a device before its first kernel in one function.
//
// A compiler lists constructors in `llvm.global_ctors`. Two kinds of initial contents become stores
// in that function, too: those of variables that point to each other in a circle, which PTX cannot
// express, and, in code for several devices, addresses of variables that device code may write,
// since only the host knows where these are (`nvptx/share_variables.rs`).
//
// Destructors are not run: a device's memory ends with the program.

#include <llvm-c/Core.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

using namespace llvm;

namespace {

/// Returns true for lists that LLVM reads, and for the descriptions of kernels.
bool belongs_to_compiler(const GlobalVariable &variable) {
  return variable.getName().starts_with("llvm.") ||
         variable.getName().ends_with("_kernel_environment");
}

/// Adds the variables that a constant refers to, without looking into theirs.
void collect(Constant *c, SetVector<GlobalVariable *> &found, DenseSet<Constant *> &seen) {
  if (auto *variable = dyn_cast<GlobalVariable>(c)) {
    found.insert(variable);
    return;
  }
  if (isa<GlobalValue, ConstantData, BlockAddress>(c) || !seen.insert(c).second)
    return;
  for (Use &use : c->operands())
    collect(cast<Constant>(use), found, seen);
}

SetVector<GlobalVariable *> references(GlobalVariable &variable) {
  SetVector<GlobalVariable *> found;
  DenseSet<Constant *> seen;
  if (variable.hasInitializer() && !belongs_to_compiler(variable))
    collect(variable.getInitializer(), found, seen);
  return found;
}

/// Returns true if an instruction uses a constant, or an initializer other than the compiler's.
/// Compilers keep variables by references that nothing uses.
bool is_reached(Constant *c, DenseSet<Constant *> &seen) {
  if (!seen.insert(c).second)
    return false;
  return any_of(c->users(), [&](User *user) {
    if (auto *variable = dyn_cast<GlobalVariable>(user))
      return !belongs_to_compiler(*variable) && is_reached(variable, seen);
    return isa<Instruction>(user) || (isa<Constant>(user) && is_reached(cast<Constant>(user), seen));
  });
}

/// Finds the variables that point to each other in a circle (R. Tarjan, Depth-first search and
/// linear graph algorithms, 1972).
class Circles {
  struct Node {
    unsigned number, low;
    bool open;
  };
  DenseMap<GlobalVariable *, Node> nodes;
  SmallVector<GlobalVariable *> stack;

  unsigned visit(GlobalVariable *variable) {
    unsigned number = nodes.size(), low = number;
    nodes[variable] = {number, number, true};
    stack.push_back(variable);
    bool self = false;
    for (GlobalVariable *other : references(*variable)) {
      self |= other == variable;
      auto known = nodes.find(other);
      if (known == nodes.end())
        low = std::min(low, visit(other));
      else if (known->second.open)
        low = std::min(low, known->second.number);
    }
    if (low == number) {
      bool many = stack.back() != variable;
      for (GlobalVariable *last = nullptr; last != variable;) {
        last = stack.pop_back_val();
        nodes[last].open = false;
        if (many || self)
          members.insert(last);
      }
    }
    return low;
  }

public:
  SetVector<GlobalVariable *> members;

  explicit Circles(Module &module) {
    for (GlobalVariable &variable : module.globals())
      if (!nodes.contains(&variable))
        visit(&variable);
  }
};

/// Moves addresses of variables from initial contents to stores.
class Stores {
  IRBuilder<> &builder;
  const DataLayout &layout;

  bool holds_address(Constant *c) {
    SetVector<GlobalVariable *> found;
    DenseSet<Constant *> seen;
    collect(c, found, seen);
    return !found.empty();
  }

  /// Returns the constant without addresses, which it stores at an offset.
  Constant *without(GlobalVariable &variable, Constant *c, uint64_t offset) {
    if (!holds_address(c))
      return c;
    if (!isa<ConstantAggregate>(c) || isa<VectorType>(c->getType())) {
      Value *at = ConstantExpr::getGetElementPtr(builder.getInt8Ty(), &variable,
                                                 builder.getInt64(offset));
      builder.CreateAlignedStore(c, at, Align(1));
      return Constant::getNullValue(c->getType());
    }
    SmallVector<Constant *> parts;
    auto *fields = dyn_cast<StructType>(c->getType());
    for (unsigned n = 0; n < c->getNumOperands(); n++) {
      auto *part = cast<Constant>(c->getOperand(n));
      uint64_t start = fields ? layout.getStructLayout(fields)->getElementOffset(n).getFixedValue()
                              : n * layout.getTypeAllocSize(part->getType()).getFixedValue();
      parts.push_back(without(variable, part, offset + start));
    }
    if (fields)
      return ConstantStruct::get(fields, parts);
    return ConstantArray::get(cast<ArrayType>(c->getType()), parts);
  }

public:
  Stores(IRBuilder<> &builder, const DataLayout &layout) : builder(builder), layout(layout) {}

  void move(GlobalVariable &variable) {
    variable.setConstant(false);
    variable.setInitializer(without(variable, variable.getInitializer(), 0));
  }
};

/// Returns the listed constructors by priority, and removes the lists.
SmallVector<Constant *> take_constructors(Module &module) {
  SmallVector<std::pair<uint64_t, Constant *>> rows;
  if (auto *list = module.getNamedGlobal("llvm.global_ctors"); list && list->hasInitializer())
    for (Use &use : list->getInitializer()->operands())
      if (auto *row = dyn_cast<ConstantStruct>(use); row && !row->getOperand(1)->isNullValue())
        if (auto *priority = dyn_cast<ConstantInt>(row->getOperand(0)))
          rows.push_back({priority->getZExtValue(), row->getOperand(1)});
  stable_sort(rows, [](auto &a, auto &b) { return a.first < b.first; });
  for (const char *name : {"llvm.global_ctors", "llvm.global_dtors"})
    if (GlobalVariable *list = module.getNamedGlobal(name); list && list->use_empty())
      list->eraseFromParent();
  SmallVector<Constant *> constructors;
  for (auto &row : rows)
    constructors.push_back(row.second);
  return constructors;
}

} // namespace

/// Makes the function; `divided` is true for code for several devices. Returns false if nothing has
/// to run.
extern "C" int ompvm_gather_constructors(LLVMModuleRef wrapped, const char *name, int divided) {
  Module &module = *unwrap(wrapped);
  SetVector<GlobalVariable *> moved = Circles(module).members;
  for (GlobalVariable &variable : module.globals()) {
    auto may_change = [](GlobalVariable *other) { return !other->isConstant(); };
    DenseSet<Constant *> seen;
    if (divided && any_of(references(variable), may_change) && is_reached(&variable, seen))
      moved.insert(&variable);
  }
  SmallVector<Constant *> constructors = take_constructors(module);
  moved.remove_if([](GlobalVariable *v) { return !v->hasInitializer() || v->isThreadLocal(); });
  if (moved.empty() && constructors.empty())
    return false;
  auto *of = FunctionType::get(Type::getVoidTy(module.getContext()), false);
  Function *all = Function::Create(of, GlobalValue::ExternalLinkage, name, module);
  IRBuilder<> builder(BasicBlock::Create(module.getContext(), "", all));
  Stores stores(builder, module.getDataLayout());
  for (GlobalVariable *variable : moved)
    stores.move(*variable);
  for (Constant *constructor : constructors)
    builder.CreateCall(of, constructor);
  builder.CreateRetVoid();
  return true;
}
