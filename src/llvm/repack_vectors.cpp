// Vector re-packing: packs pairs of vectors into vectors of twice the length.
//
// The input was vectorized by clang for 128-bit registers, and LLVM's passes do not widen it: they
// pack scalars only (their own repacking, `-slp-revec`, is experimental and aborts on some input).
// Straight-line code over the rows of a block, as solvers have it after small loops are unrolled,
// then executes two instructions where this processor needs one.
//
// Two vector stores to adjacent locations are the root of a tree. Its nodes are pairs of like
// instructions; its leaves are pairs of adjacent loads, or values joined from two vectors. If the
// tree saves instructions, each pair becomes one instruction at the position of the later of the
// two, where the operands of both are available. A memory access moves to the other of its pair
// only if no instruction in between can observe it.
//
// Complex numbers arrive with separate parts: shuffles deinterleave them after loads and interleave
// them before stores. There a wide vector holds its two operands interleaved (`Node::mix`), which
// is the order in memory, and most shuffles disappear. If one part is a sum and the other a
// difference, both are computed (x86 has one instruction for that). If only one part is negated, a
// factor takes the sign, which is free if the factor is loop-invariant.
//
// Arithmetic is not reordered: each element is computed as before. Nothing is packed across blocks.
// A load that would have to wait for two smaller stores shortly before it is not widened, and
// neither are vector sums carried over iterations.

#include "analyses.h"
#include "interleaved.h"
#include "locations.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Local.h>

#include <array>
#include <numeric>

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace ompvm;

namespace {

/// Largest distance of a pair, in instructions.
constexpr unsigned FAR = 400;
/// Number of instructions before a load that are searched for smaller stores to its memory.
constexpr unsigned RECENT = 200;
/// Largest depth of a tree, and most nodes.
constexpr unsigned DEEPEST = 24, MOST = 128;
/// Number of times that a tree is rebuilt without impossible nodes.
constexpr unsigned TRIES = 6;
/// Fewest instructions that a tree must save.
constexpr int WORTH = 2;

enum class Kind {
  Same, // one instruction for two
  Load, // one load for two
  Twice, // both are the same value
  Halves, // both are halves of one vector of twice the length
  Passed, // shuffles, the second of which begins with the operand that the first ends with
  Mixed, // shuffles that interleave first and second parts
  Parted, // shuffles that deinterleave pairs into first and second parts
  Signed, // the same except for the sign of one
  Joined, // both stay as they are and are joined
};

/// Cost of interleaving two 128-bit vectors, in instructions.
constexpr int MIXING = 3;

struct Node {
  Node(Value *first, Value *second, bool mix) : first(first), second(second), mix(mix) {}

  Value *first, *second;
  bool mix; // the elements of the two are interleaved, not concatenated
  Kind kind = Kind::Joined;
  std::optional<unsigned> sign; // the operand whose sign changes
  unsigned parts[2] = {}; // the parts taken from deinterleaved pairs
  SmallVector<Instruction *, 4> gone; // instructions that become dead
  bool up = false; // the wide load is at the position of the earlier of the two
  SmallVector<unsigned, 3> operands;
  Value *wide = nullptr;
};

using Pair = std::pair<Value *, Value *>;

/// The pairs of a block.
class Repacker {
public:
  Repacker(BasicBlock &block, AAResults &aliases, unsigned bits)
      : block(block), layout(block.getDataLayout()), aliases(aliases), bits(bits) {}

  bool run() {
    bool changed = false;
    // By base of their locations, in the order of the block.
    using From = std::tuple<Value *, Value *, int64_t>;
    MapVector<From, SmallVector<std::pair<int64_t, StoreInst *>, 8>> stores;
    for (Instruction &i : block)
      if (auto *store = dyn_cast<StoreInst>(&i);
          store && store->isSimple() && fits(store->getValueOperand()->getType())) {
        Location at = location(layout, store->getPointerOperand());
        stores[{at.base, at.index, at.scale}].push_back({at.offset, store});
      }
    SmallVector<std::pair<StoreInst *, StoreInst *>, 16> roots;
    for (auto &[from, some] : stores) {
      SmallPtrSet<StoreInst *, 8> taken;
      stable_sort(some, [](auto &a, auto &b) { return a.first < b.first; });
      for (size_t i = 0; i + 1 < some.size(); i++) {
        auto [low, first] = some[i];
        auto [high, second] = some[i + 1];
        bool adjacent =
            first->getValueOperand()->getType() == second->getValueOperand()->getType() &&
            high - low == size(first->getValueOperand());
        if (adjacent && taken.insert(second).second && taken.insert(first).second)
          roots.push_back({first, second});
      }
    }
    sort(roots, [](auto &a, auto &b) { return a.first->comesBefore(b.first); });
    for (auto [first, second] : roots)
      changed |= pack(first, second);
    return changed;
  }

private:
  BasicBlock &block;
  const DataLayout &layout;
  AAResults &aliases;
  unsigned bits;
  std::vector<Node> nodes;
  DenseMap<std::pair<Pair, unsigned>, unsigned> known;
  DenseSet<Pair> refused;
  DenseSet<Value *> shared; // loads in two pairs; they stay for users outside the tree
  StoreInst *roots[2] = {};

  int64_t size(Value *value) { return layout.getTypeStoreSize(value->getType()); }

  /// Returns true if two vectors of a type fit in one register and their elements are contiguous.
  bool fits(Type *type) {
    auto *vector = dyn_cast<FixedVectorType>(type);
    if (!vector)
      return false;
    Type *element = vector->getElementType();
    uint64_t whole = layout.getTypeSizeInBits(type);
    return (element->isFloatTy() || element->isDoubleTy() || element->isIntegerTy()) &&
           layout.typeSizeEqualsStoreSize(element) && whole >= 128 && whole * 2 <= bits &&
           isPowerOf2_64(whole);
  }

  static Instruction *earlier(Instruction *a, Instruction *b) { return a->comesBefore(b) ? a : b; }
  static Instruction *later(Instruction *a, Instruction *b) { return a->comesBefore(b) ? b : a; }

  /// Returns true if no instruction between two accesses can observe that the earlier access moves
  /// to the later one, or, with `up`, the later to the earlier.
  bool moves(Instruction *a, Instruction *b, bool up) {
    Instruction *from = earlier(a, b), *to = later(a, b);
    MemoryLocation moved = MemoryLocation::get(up ? to : from);
    bool store = isa<StoreInst>(a);
    unsigned steps = 0;
    for (Instruction *i = from->getNextNode(); i != to; i = i->getNextNode()) {
      if (++steps > FAR)
        return false;
      // If execution ends in between, a store would be lost or a load executed too early.
      if ((store || up) && !isGuaranteedToTransferExecutionToSuccessor(i))
        return false;
      if (!i->mayReadOrWriteMemory())
        continue;
      // The root's own stores will follow all loads of the tree.
      if (!store && !up && (i == roots[0] || i == roots[1]))
        continue;
      ModRefInfo can = aliases.getModRefInfo(i, moved);
      if (store ? isModOrRefSet(can) : isModSet(can))
        return false;
    }
    return true;
  }

  /// Returns true if a load of both vectors, executed at `before`, would wait for smaller stores.
  bool just_stored(LoadInst *first, Instruction *before) {
    Location at = location(layout, first->getPointerOperand());
    int64_t whole = size(first) * 2;
    unsigned steps = 0;
    for (Instruction *i = before->getPrevNode(); i && ++steps <= RECENT; i = i->getPrevNode()) {
      auto *store = dyn_cast<StoreInst>(i);
      if (!store || store == roots[0] || store == roots[1])
        continue;
      Location other = location(layout, store->getPointerOperand());
      int64_t length = size(store->getValueOperand());
      if (other.same_base(at) && other.offset < at.offset + whole &&
          at.offset < other.offset + length)
        return length < whole;
    }
    return false;
  }

  bool adjacent(LoadInst *a, LoadInst *b) {
    Location low = location(layout, a->getPointerOperand());
    Location high = location(layout, b->getPointerOperand());
    return low.same_base(high) && high.offset - low.offset == size(a);
  }

  /// Rates how well a pair of operands would pack.
  int affinity(Value *a, Value *b, bool mix) {
    if (a == b || (isa<Constant>(a) && isa<Constant>(b)))
      return 2;
    auto *one = dyn_cast<Instruction>(a), *other = dyn_cast<Instruction>(b);
    if (!one || !other || one->getOpcode() != other->getOpcode() || one->getParent() != &block ||
        other->getParent() != &block)
      return 0;
    if (mix && one->isBinaryOp()) {
      int common = 0;
      for (Value *v : one->operands())
        if (is_contained(other->operands(), v))
          common = std::max(
              common, isa<Instruction>(v) && cast<Instruction>(v)->getParent() == &block ? 1 : 2);
      return 1 + common;
    }
    auto *load = dyn_cast<LoadInst>(one);
    return load ? 3 * adjacent(load, cast<LoadInst>(other)) : 1;
  }

  static bool sum(Instruction *i) {
    return i->getOpcode() == Instruction::FAdd || i->getOpcode() == Instruction::FSub;
  }

  /// Returns true if one instruction of twice the length computes both; for interleaved vectors, a
  /// sum and a difference also match.
  bool alike(Instruction *a, Instruction *b, bool mix) {
    if (mix && sum(a) && sum(b))
      return true;
    if (!a->isSameOperationAs(b, Instruction::CompareIgnoringAlignment |
                                     Instruction::CompareUsingIntersectedAttrs))
      return false;
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(a)) {
      // Within 128 bits: shuffles across lanes cost more than they save.
      Type *type = shuffle->getOperand(0)->getType();
      return !mix && fits(type) && fits(a->getType()) &&
             shuffle->getShuffleMask() == cast<ShuffleVectorInst>(b)->getShuffleMask();
    }
    if (auto *call = dyn_cast<IntrinsicInst>(a)) {
      Intrinsic::ID id = call->getIntrinsicID();
      if (!isTriviallyVectorizable(id) || call->hasOperandBundles())
        return false;
      for (unsigned i = 0; i < call->arg_size(); i++) {
        Value *mine = call->getArgOperand(i), *its = cast<CallInst>(b)->getArgOperand(i);
        if (mine->getType()->isVectorTy() ? !isa<FixedVectorType>(mine->getType()) : mine != its)
          return false;
        if (isVectorIntrinsicWithScalarOpAtArg(id, i, nullptr) && mine != its)
          return false;
        // Intrinsics are mangled by their first type only if all types are equal.
        if (mine->getType()->isVectorTy() && mine->getType() != call->getType())
          return false;
      }
      return true;
    }
    if (auto *select = dyn_cast<SelectInst>(a))
      return select->getCondition()->getType()->isVectorTy() ||
             select->getCondition() == cast<SelectInst>(b)->getCondition();
    if (isa<BitCastInst>(a))
      return false;
    return a->isBinaryOp() || a->isUnaryOp() || a->isCast() || isa<CmpInst>(a);
  }

  /// Returns true if two shuffles take three consecutive vectors.
  bool passes(Instruction *a, Instruction *b) {
    auto *first = dyn_cast<ShuffleVectorInst>(a), *second = dyn_cast<ShuffleVectorInst>(b);
    return first && second && first->getType() == second->getType() && fits(first->getType()) &&
           first->getOperand(0)->getType() == first->getType() &&
           first->getOperand(1) == second->getOperand(0) &&
           first->getOperand(0) != first->getOperand(1) &&
           first->getOperand(1) != second->getOperand(1) && isa<LoadInst>(first->getOperand(1)) &&
           isa<LoadInst>(second->getOperand(1));
  }

  /// Classifies a pair of shuffles. Returns false if they do not match.
  bool shuffles(unsigned me, ShuffleVectorInst *a, ShuffleVectorInst *b, unsigned depth) {
    if (nodes[me].mix) {
      if (!part(a) || !part(b) || !(same_operand(a, b) || same_operands(a, b)))
        return false;
      nodes[me].kind = Kind::Parted;
      nodes[me].parts[0] = *part(a);
      nodes[me].parts[1] = *part(b);
      nodes[me].gone = {a, b};
      if (!same_operand(a, b)) {
        unsigned inner = node(a->getOperand(0), a->getOperand(1), depth + 1);
        nodes[me].operands = {inner};
      }
      return true;
    }
    auto *mixing = interleave_halves(a, b) ? a : nullptr;
    if (halves(a, b)) {
      nodes[me].kind = Kind::Halves;
      mixing = dyn_cast<ShuffleVectorInst>(a->getOperand(0));
      if (!mixing || mixing->getParent() != &block || !interleaves(mixing))
        return true;
    }
    if (!mixing)
      return false;
    unsigned before = nodes.size();
    unsigned inner = node(mixing->getOperand(0), mixing->getOperand(1), depth + 1, true);
    if (nodes[inner].kind != Kind::Joined && nodes[inner].kind != Kind::Twice) {
      nodes[me].kind = Kind::Mixed;
      nodes[me].operands = {inner};
      if (mixing != a)
        nodes[me].gone = {mixing};
      return true;
    }
    while (nodes.size() > before) {
      Node n = nodes.back();
      nodes.pop_back();
      known.erase({{n.first, n.second}, n.mix});
    }
    return nodes[me].kind == Kind::Halves;
  }

  /// Returns true if an instruction's first two operands are factors, either of which can carry the
  /// product's sign.
  static bool multiplies(Instruction *i) {
    auto *call = dyn_cast<IntrinsicInst>(i);
    return i->getOpcode() == Instruction::FMul ||
           (call && call->getIntrinsicID() == Intrinsic::fma);
  }

  /// Drops negations of factors if exactly one of the two products has an odd number of them.
  void unsign(unsigned me, MutableArrayRef<Pair> factors) {
    bool odd[2] = {};
    SmallVector<Instruction *, 4> gone;
    SmallVector<Pair, 2> without;
    for (auto [x, y] : factors) {
      Value *of[2] = {x, y};
      for (int i = 0; i < 2; i++)
        if (Value *positive; match(of[i], m_FNeg(m_Value(positive)))) {
          auto *negation = dyn_cast<Instruction>(of[i]);
          if (!negation || negation->getParent() != &block)
            continue;
          gone.push_back(negation);
          of[i] = positive;
          odd[i] = !odd[i];
        }
      without.push_back({of[0], of[1]});
    }
    if (odd[0] == odd[1])
      return;
    copy(without, factors.begin());
    nodes[me].sign = odd[0] ? 0 : 1;
    nodes[me].gone = gone;
  }

  unsigned node(Value *a, Value *b, unsigned depth, bool mix = false) {
    if (auto found = known.find({{a, b}, mix}); found != known.end())
      return found->second;
    unsigned me = nodes.size();
    known[{{a, b}, mix}] = me;
    nodes.emplace_back(a, b, mix);
    auto *one = dyn_cast<Instruction>(a), *other = dyn_cast<Instruction>(b);
    bool here = one && other && one->getParent() == &block && other->getParent() == &block;
    if (a == b && !(here && mix && isa<ShuffleVectorInst>(a))) {
      nodes[me].kind = Kind::Twice;
      return me;
    }
    if (!here || depth > DEEPEST || nodes.size() > MOST || refused.contains({a, b}))
      return me;
    if (auto *load = dyn_cast<LoadInst>(one)) {
      auto *more = dyn_cast<LoadInst>(other);
      if (!more || mix || !load->isSimple() || !more->isSimple() ||
          load->getType() != more->getType() || !fits(load->getType()) || !adjacent(load, more))
        return me;
      bool down = moves(load, more, false);
      if ((down || moves(load, more, true)) &&
          !just_stored(load, down ? later(load, more) : earlier(load, more))) {
        nodes[me].kind = Kind::Load;
        nodes[me].up = !down;
      }
      return me;
    }
    if (isa<ShuffleVectorInst>(one) && isa<ShuffleVectorInst>(other) &&
        shuffles(me, cast<ShuffleVectorInst>(one), cast<ShuffleVectorInst>(other), depth))
      return me;
    if (a == b) {
      nodes[me].kind = Kind::Twice;
      return me;
    }
    if (!mix && passes(one, other)) {
      unsigned inner = node(one->getOperand(1), other->getOperand(1), depth + 1);
      if (nodes[inner].kind == Kind::Load) {
        nodes[me].kind = Kind::Passed;
        nodes[me].operands = {inner};
        return me;
      }
    }
    if (bool first = one->getOpcode() == Instruction::FNeg;
        mix && first != (other->getOpcode() == Instruction::FNeg)) {
      Instruction *negation = first ? one : other;
      Value *positive = negation->getOperand(0);
      unsigned inner = node(first ? positive : a, first ? b : positive, depth + 1, mix);
      nodes[me].kind = Kind::Signed;
      nodes[me].sign = first ? 0 : 1;
      nodes[me].gone = {negation};
      nodes[me].operands = {inner};
      return me;
    }
    if (!alike(one, other, mix))
      return me;
    nodes[me].kind = Kind::Same;
    SmallVector<Pair, 3> operands;
    auto *call = dyn_cast<CallInst>(one);
    unsigned count = call ? call->arg_size() : one->getNumOperands();
    for (unsigned i = 0; i < count; i++)
      if (one->getOperand(i)->getType()->isVectorTy())
        operands.push_back({one->getOperand(i), other->getOperand(i)});
    if (mix && multiplies(one))
      unsign(me, MutableArrayRef(operands).take_front(2));
    bool free[] = {one->isCommutative(), other->isCommutative()};
    if ((free[0] || free[1]) && operands.size() >= 2 && !isa<CmpInst>(one)) {
      auto &[a0, b0] = operands[0];
      auto &[a1, b1] = operands[1];
      if (affinity(a0, b1, mix) + affinity(a1, b0, mix) >
          affinity(a0, b0, mix) + affinity(a1, b1, mix)) {
        if (free[1])
          std::swap(b0, b1);
        else
          std::swap(a0, a1);
      }
    }
    SmallVector<unsigned, 3> made;
    for (auto [x, y] : operands)
      made.push_back(node(x, y, depth + 1, mix));
    nodes[me].operands = made;
    return me;
  }

  bool whole(const Node &n) {
    return n.kind == Kind::Same || n.kind == Kind::Load || n.kind == Kind::Passed ||
           n.kind == Kind::Mixed;
  }

  /// Returns true if a pair is a sum and a difference.
  static bool alternates(const Node &n) {
    return n.kind == Kind::Same &&
           cast<Instruction>(n.first)->getOpcode() != cast<Instruction>(n.second)->getOpcode();
  }

  /// Returns true if changing the sign is free because it can be done before the loop.
  bool steady(const Node &n) {
    auto *i = dyn_cast<Instruction>(n.first);
    return n.kind == Kind::Twice ? !i || i->getParent() != &block
                                 : isa<Constant>(n.first) && isa<Constant>(n.second);
  }

  /// Returns the factor of a product that takes its sign.
  unsigned signed_factor(const Node &n) {
    return !steady(nodes[n.operands[0]]) && steady(nodes[n.operands[1]]);
  }

  /// Returns the position of a pair's wide instruction.
  Instruction *where(const Node &n) {
    auto *a = cast<Instruction>(n.first), *b = cast<Instruction>(n.second);
    return n.up ? earlier(a, b) : later(a, b);
  }

  /// Returns true if a value has users outside the tree. Clears `late` if one of them precedes the
  /// wide instruction.
  bool outside(const Node &n, Value *value, const DenseSet<Value *> &members, bool &late) {
    bool any = false;
    for (User *user : value->users()) {
      if (members.contains(user))
        continue;
      any = true;
      auto *i = cast<Instruction>(user);
      if (i->getParent() == &block && !isa<PHINode>(i) && i->comesBefore(where(n)))
        late = false;
    }
    return any;
  }

  /// Builds the tree of two stores and returns the number of instructions that it saves.
  int build() {
    for (unsigned tries = 0; tries < TRIES; tries++) {
      nodes.clear();
      known.clear();
      node(roots[0]->getValueOperand(), roots[1]->getValueOperand(), 0);
      DenseSet<Value *> members{roots[0], roots[1]};
      // A value in two pairs would be computed twice, which pays for loads only. A value that is
      // joined with another is needed before its own pair's position.
      DenseSet<Value *> apart;
      for (Node &n : nodes)
        if (n.kind == Kind::Joined || n.kind == Kind::Twice)
          apart.insert_range(std::array{n.first, n.second});
        else if (n.kind == Kind::Passed)
          apart.insert(cast<Instruction>(n.first)->getOperand(0)); // stays as it is, see `emit`
      bool possible = true;
      shared.clear();
      for (Node &n : nodes) {
        if (!whole(n))
          continue;
        bool fails = apart.contains(n.first) || apart.contains(n.second);
        for (Value *value : {n.first, n.second})
          if (!members.insert(value).second) {
            shared.insert(value);
            fails |= n.kind != Kind::Load;
          }
        if (fails) {
          refused.insert({n.first, n.second});
          possible = false;
        }
      }
      for (Node &n : nodes)
        members.insert_range(n.gone);
      DenseSet<Value *> gone;
      int saved = 1;
      for (Node &n : nodes) {
        if (!possible)
          break;
        bool late = true;
        for (Instruction *i : n.gone)
          if (apart.contains(i) ||
              !all_of(i->users(), [&](User *user) { return members.contains(user); })) {
            refused.insert({n.first, n.second});
            possible = false;
          } else {
            saved += gone.insert(i).second;
          }
        if (n.sign && n.kind == Kind::Same)
          saved -= !steady(nodes[n.operands[signed_factor(n)]]);
        if (whole(n)) {
          // A shared load dies with its last user; Kind::Passed takes two shuffles.
          bool ours[] = {!shared.contains(n.first), !shared.contains(n.second)};
          saved += ours[0] + ours[1] - 1 - (n.kind == Kind::Passed) + (n.kind == Kind::Mixed);
          if (alternates(n) && cast<Instruction>(n.first)->getOpcode() == Instruction::FAdd)
            saved--;
          if (ours[0])
            saved -= outside(n, n.first, members, late) && n.mix;
          if (ours[1])
            saved -= outside(n, n.second, members, late);
          if (!late) {
            refused.insert({n.first, n.second});
            possible = false;
          }
        } else if (n.kind == Kind::Twice) {
          auto *i = dyn_cast<Instruction>(n.first);
          saved -= i && i->getParent() == &block;
        } else if (n.kind == Kind::Parted) {
          saved -= n.parts[0] != 0 || n.parts[1] != 1;
        } else if (n.kind == Kind::Joined && !(isa<Constant>(n.first) && isa<Constant>(n.second))) {
          saved -= n.mix ? MIXING : 1;
        }
      }
      bool late = true;
      for (Value *value : shared)
        saved += !outside(nodes.front(), value, members, late);
      if (possible)
        return saved;
    }
    return 0;
  }

  Type *twice(Type *type) {
    return VectorType::getDoubleElementsVectorType(cast<VectorType>(type));
  }

  /// Returns the position after both values, or the start of the block if they come from elsewhere.
  BasicBlock::iterator behind(Value *a, Value *b) {
    Instruction *last = nullptr;
    for (Value *value : {a, b})
      if (auto *i = dyn_cast<Instruction>(value); i && i->getParent() == &block && !isa<PHINode>(i))
        last = last ? later(last, i) : i;
    return last ? std::next(last->getIterator()) : block.getFirstInsertionPt();
  }

  Value *joined(IRBuilder<> &build, Value *a, Value *b, bool mix) {
    auto mask = mix ? interleaving_mask(length(a)) : concatenating_mask(length(a));
    if (a == b)
      for (int &i : mask)
        i %= length(a);
    return build.CreateShuffleVector(a, a == b ? PoisonValue::get(a->getType()) : b, mask);
  }

  /// Interleaves a sum and a difference. Processors have an instruction that begins with the
  /// difference.
  Value *alternating(IRBuilder<> &build, Instruction *a, Instruction *b, Value *x, Value *y) {
    auto flags = [&](Value *made) {
      if (auto *i = dyn_cast<Instruction>(made)) {
        i->copyIRFlags(a);
        i->andIRFlags(b);
      }
      return made;
    };
    if (a->getOpcode() == Instruction::FAdd)
      return flags(build.CreateFAdd(x, flip_sign(build, y, 1)));
    Value *difference = flags(build.CreateFSub(x, y));
    return blend(build, difference, flags(build.CreateFAdd(x, y)));
  }

  Value *pointer(IRBuilder<> &build, Instruction *low, Instruction *high, bool reachable) {
    Value *at = getPointerOperand(low);
    if (reachable)
      return at;
    // The lower address is not computed yet.
    return build.CreatePtrAdd(getPointerOperand(high), build.getInt64(-size(high)));
  }

  Value *emit(unsigned number) {
    if (nodes[number].wide)
      return nodes[number].wide;
    SmallVector<Value *, 3> operands;
    for (unsigned i : SmallVector<unsigned, 3>(nodes[number].operands))
      operands.push_back(emit(i));
    Node &n = nodes[number];
    if (n.kind == Kind::Halves)
      return n.wide = cast<ShuffleVectorInst>(n.first)->getOperand(0);
    if (n.kind == Kind::Parted || n.kind == Kind::Signed) {
      // After its operand, which may itself stand right after the pair.
      Value *from = operands.empty() ? cast<Instruction>(n.first)->getOperand(0) : operands[0];
      IRBuilder<> build(&block, behind(from, from));
      return n.wide = n.sign ? flip_sign(build, from, *n.sign)
                             : select_parts(build, from, n.parts[0], n.parts[1]);
    }
    if (!whole(n)) {
      IRBuilder<> build(&block, behind(n.first, n.second));
      return n.wide = joined(build, n.first, n.second, n.mix);
    }
    if (n.kind == Kind::Mixed)
      return n.wide = operands[0];
    auto *a = cast<Instruction>(n.first), *b = cast<Instruction>(n.second);
    IRBuilder<> build(where(n));
    build.SetCurrentDebugLocation(where(n)->getDebugLoc());
    if (alternates(n))
      return n.wide = alternating(build, a, b, operands[0], operands[1]);
    if (n.sign) {
      Value *&factor = operands[signed_factor(n)];
      factor = flip_sign(build, factor, *n.sign);
    }
    Value *made;
    if (auto *load = dyn_cast<LoadInst>(a)) {
      bool reachable = !n.up || a->comesBefore(b);
      Align align =
          reachable ? load->getAlign() : commonAlignment(cast<LoadInst>(b)->getAlign(), size(b));
      made = build.CreateAlignedLoad(twice(a->getType()), pointer(build, a, b, reachable), align);
      propagateMetadata(cast<Instruction>(made), {a, b});
      // Range metadata describes one of the vectors.
      cast<Instruction>(made)->setMetadata(LLVMContext::MD_range, nullptr);
    } else if (n.kind == Kind::Passed) {
      Value *before = a->getOperand(0);
      int length = cast<FixedVectorType>(before->getType())->getNumElements();
      SmallVector<int, 16> all(2 * length, PoisonMaskElem), mask;
      std::iota(all.begin(), all.begin() + length, 0);
      for (int from : cast<ShuffleVectorInst>(a)->getShuffleMask())
        mask.push_back(from < length ? from : from + length);
      for (int from : cast<ShuffleVectorInst>(b)->getShuffleMask())
        mask.push_back(from < 0 ? from : from + 2 * length);
      made = build.CreateShuffleVector(build.CreateShuffleVector(before, all), operands[0], mask);
    } else if (auto *shuffle = dyn_cast<ShuffleVectorInst>(a)) {
      int length = cast<FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements();
      SmallVector<int, 16> mask;
      for (int half = 0; half < 2; half++)
        for (int from : shuffle->getShuffleMask())
          mask.push_back(from < 0        ? from
                         : from < length ? half * length + from
                                         : length + half * length + from);
      made = build.CreateShuffleVector(operands[0], operands[1], mask);
    } else if (auto *call = dyn_cast<IntrinsicInst>(a)) {
      SmallVector<Value *, 3> arguments;
      unsigned next = 0;
      for (Value *argument : call->args())
        arguments.push_back(argument->getType()->isVectorTy() ? operands[next++] : argument);
      made = build.CreateIntrinsic(call->getIntrinsicID(), {twice(call->getType())}, arguments);
    } else if (auto *select = dyn_cast<SelectInst>(a)) {
      bool scalar = !select->getCondition()->getType()->isVectorTy();
      Value *condition = scalar ? select->getCondition() : operands[0];
      made = build.CreateSelect(condition, operands[1 - scalar], operands[2 - scalar]);
    } else if (auto *compare = dyn_cast<CmpInst>(a)) {
      made = build.CreateCmp(compare->getPredicate(), operands[0], operands[1]);
    } else if (auto *cast = dyn_cast<CastInst>(a)) {
      made = build.CreateCast(cast->getOpcode(), operands[0], twice(a->getType()));
    } else if (a->isUnaryOp()) {
      made = build.CreateUnOp(static_cast<Instruction::UnaryOps>(a->getOpcode()), operands[0]);
    } else {
      made = build.CreateBinOp(static_cast<Instruction::BinaryOps>(a->getOpcode()), operands[0],
                               operands[1]);
    }
    if (!isa<LoadInst>(a) && isa<Instruction>(made)) {
      cast<Instruction>(made)->copyIRFlags(a);
      cast<Instruction>(made)->andIRFlags(b);
    }
    return n.wide = made;
  }

  /// Extracts a pair's members from the wide vector for their remaining users.
  void take_out(Node &n, const DenseSet<Value *> &members) {
    for (int half = 0; half < 2; half++) {
      Value *old = half ? n.second : n.first;
      if (shared.contains(old) ||
          all_of(old->users(), [&](User *user) { return members.contains(user); }))
        continue;
      int length = cast<FixedVectorType>(old->getType())->getNumElements();
      SmallVector<int, 8> mask;
      for (int i = 0; i < length; i++)
        mask.push_back(n.mix ? 2 * i + half : half * length + i);
      // Right after the wide value, which is an instruction of its own before all of its users.
      auto *wide = dyn_cast<Instruction>(n.wide);
      IRBuilder<> build(wide ? wide->getNextNode() : where(n));
      Value *part = build.CreateShuffleVector(n.wide, PoisonValue::get(n.wide->getType()), mask);
      old->replaceUsesWithIf(part, [&](Use &use) { return !members.contains(use.getUser()); });
    }
  }

  bool pack(StoreInst *first, StoreInst *second) {
    roots[0] = first;
    roots[1] = second;
    refused.clear();
    if (!moves(first, second, false) || build() < WORTH)
      return false;
    Value *wide = emit(0);
    DenseSet<Value *> members{first, second};
    for (Node &n : nodes) {
      if (whole(n))
        members.insert_range(std::array{n.first, n.second});
      members.insert_range(n.gone);
    }
    for (Node &n : nodes)
      if (whole(n))
        take_out(n, members);
    IRBuilder<> build(later(first, second));
    build.SetCurrentDebugLocation(later(first, second)->getDebugLoc());
    auto *store = build.CreateAlignedStore(wide, first->getPointerOperand(), first->getAlign());
    propagateMetadata(store, {first, second});
    first->eraseFromParent();
    second->eraseFromParent();
    SmallVector<WeakTrackingVH, 32> dead;
    for (Node &n : nodes)
      if (whole(n))
        dead.append({n.first, n.second});
    RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
    return true;
  }
};

} // namespace

/// Packs pairs of a module's vectors as far as the machine's registers have room.
extern "C" void ompvm_repack_vectors(LLVMModuleRef wrapped, LLVMTargetMachineRef machine) {
  Module &module = *unwrap(wrapped);
  ompvm::Analyses analyses;
  for (Function &f : module) {
    if (f.isDeclaration())
      continue;
    auto target = reinterpret_cast<TargetMachine *>(machine)->getTargetTransformInfo(f);
    unsigned bits =
        target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
    if (bits < 256)
      continue;
    for (BasicBlock &block : f)
      Repacker(block, analyses.of_functions().getResult<AAManager>(f), bits).run();
  }
}
