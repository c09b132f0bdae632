// Tiling of loops over the grid: iterations go to blocks as tiles of two or three indices.
//
// A collapsed loop gives its iterations to the grid's threads in order, so that a block gets a
// piece of one row. That is unfavorable for three kinds of bodies: those that also read neighboring
// rows and planes (each row of a tile serves its neighbors from the multiprocessor's own cache),
// those whose addresses are consecutive in the outer index (adjacent threads then touch distant
// lines of memory), and those that iterate until their data says stop (the lanes of a warp then
// wait less for each other). CUDA programs use two-dimensional blocks there. Without a schedule
// clause a program has no promise about which iterations a thread gets, so the loop becomes
//
//     for (the block's tiles)
//       for (the planes of a tile)
//         if (x, y and z are in the loop's bounds)
//           the body
//
// where a tile is W threads along the index with consecutive addresses, and the block's other
// factor along the other one. With three indices and neighbors, a block goes through PLANES planes
// one after the other. x, y and z replace the divisions by which the body computed its indices.
//
// The lowering marks loops whose threads are interchangeable: their induction variable starts at
// `__ompvm_grid_part`. If that value has another use (detection of the last iteration), the loop is
// left alone. The original loop remains for large trip counts, for odd block sizes, and for cases
// in which tiles would be mostly empty.
//
// Compilers divide in either order: clang by the iterations of a plane, then the remainder by those
// of a row; flang by a row, then the quotient by the rows of a plane.
//
// Loops with more than three indices, several exits or convergent calls are not handled.

#include "loop_versions.h"
#include "reciprocal.h"

#include <llvm-c/Core.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// Largest loop that is copied, in instructions.
constexpr unsigned LARGEST = 600;
/// Exclusive bound of small numbers: sums and padded products of them fit in 32 bits.
constexpr uint64_t SMALL = 1ull << 29;
/// Logarithm of a tile's width in threads: a memory line, or a sector if lanes end at different
/// times.
constexpr unsigned LINE = 5, SECTOR = 3;
/// Logarithm of the number of planes that a block goes through.
constexpr unsigned PLANES = 3;
/// Number of loads from one array at which a body counts as reading its neighborhood.
constexpr unsigned NEIGHBORS = 3;
/// Largest distance of consecutive accesses, in bytes.
constexpr int64_t CONSECUTIVE = 16;

/// Returns true for integer casts between types of 32 or more bits.
bool resizes(const Value *value) {
  auto *cast = dyn_cast<CastInst>(value);
  return isa<FreezeInst>(value) ||
         (cast && (isa<ZExtInst>(cast) || isa<SExtInst>(cast) || isa<TruncInst>(cast)) &&
          cast->getSrcTy()->isIntegerTy() && cast->getType()->isIntegerTy() &&
          cast->getSrcTy()->getIntegerBitWidth() >= 32 &&
          cast->getType()->getIntegerBitWidth() >= 32);
}

/// Strips casts from a number; the lower 32 bits are the same.
Value *stripped(Value *value) {
  for (Value *inner = nullptr;;) {
    if (resizes(value))
      value = cast<Instruction>(value)->getOperand(0);
    else if (match(value, m_AShr(m_Shl(m_Value(inner), m_SpecificInt(32)), m_SpecificInt(32))) ||
             match(value, m_And(m_Value(inner), m_SpecificInt(0xffffffff))))
      value = inner;
    else
      return value;
  }
}

/// Returns true if the lower 32 bits of two numbers are the same.
bool same(Value *a, Value *b) {
  a = stripped(a), b = stripped(b);
  auto *one = dyn_cast<ConstantInt>(a), *other = dyn_cast<ConstantInt>(b);
  return one && other ? one->getZExtValue() == other->getZExtValue() : a == b;
}

bool calls(Value *value, StringRef name) {
  auto *call = dyn_cast<CallInst>(value);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == name;
}

/// A loop over the grid, and the divisions in its body.
struct Shape {
  PHINode *counter = nullptr;
  Instruction *next = nullptr;
  Value *first = nullptr, *last = nullptr;
  CallInst *share = nullptr; // the first iteration of this device's share, if there are several
  Value *row = nullptr, *plane = nullptr; // the divisors; `plane` is null with two indices
  SmallVector<Value *, 4> divisors;       // all forms of the divisors
  // rest = y * row + x, rows = z * (rows of a plane) + y
  SmallVector<Instruction *, 4> x, y, z, rest, rows;
};

/// Change of an address per step of an index.
struct Change {
  enum { KNOWN, SYMBOLIC, UNKNOWN } kind = KNOWN;
  int64_t bytes = 0;

  bool some() const { return kind != KNOWN || bytes != 0; }
  bool consecutive() const { return kind == KNOWN && bytes != 0 && std::abs(bytes) <= CONSECUTIVE; }
};

Change operator+(Change a, Change b) {
  if (a.kind == Change::UNKNOWN || b.kind == Change::UNKNOWN)
    return {Change::UNKNOWN};
  if (a.kind == Change::SYMBOLIC || b.kind == Change::SYMBOLIC)
    return {Change::SYMBOLIC};
  return {Change::KNOWN, a.bytes + b.bytes};
}

Change operator*(Change a, int64_t by) {
  return a.kind == Change::KNOWN ? Change{Change::KNOWN, a.bytes * by} : a;
}

/// Wraps a change to the number's type: compilers write a negative factor as its low bits (2095106
/// << 11 for -2046 << 11).
Change fit(Change change, const Value *number) {
  unsigned bits = number->getType()->getScalarSizeInBits();
  if (change.kind != Change::KNOWN || bits == 0 || bits >= 64)
    return change;
  return {Change::KNOWN, SignExtend64(static_cast<uint64_t>(change.bytes), bits)};
}

class Tiling {
  Function &f;
  const DataLayout &layout;
  DominatorTree tree;
  LoopInfo loops;

public:
  explicit Tiling(Function &f) : f(f), layout(f.getDataLayout()), tree(f), loops(tree) {}

  /// Tiles one loop of the function. Returns true if it did.
  bool run() {
    for (Loop *loop : loops.getLoopsInPreorder()) {
      simplifyLoop(loop, &tree, &loops, nullptr, nullptr, nullptr, /*PreserveLCSSA=*/false);
      Shape shape;
      if (recognized(loop, shape) && tile(loop, shape))
        return true;
    }
    return false;
  }

private:
  static bool takes_copies(const Loop *loop) {
    unsigned size = 0;
    for (BasicBlock *block : loop->blocks()) {
      size += block->size();
      for (Instruction &i : *block) {
        auto *call = dyn_cast<CallBase>(&i);
        if (i.getType()->isTokenTy() || (call && (call->cannotDuplicate() || call->isConvergent())))
          return false;
      }
    }
    return size <= LARGEST;
  }

  /// Returns true if a value is a thread's number in the grid, or that behind the first iteration
  /// of a device's share.
  static bool starts_share(Value *first, CallInst *&share) {
    share = nullptr;
    first = stripped(first);
    if (calls(first, "__ompvm_grid_part"))
      return true;
    Value *a = nullptr, *b = nullptr;
    if (!match(first, m_c_Add(m_Value(a), m_Value(b))))
      return false;
    a = stripped(a), b = stripped(b);
    if (calls(a, "__ompvm_grid_part"))
      std::swap(a, b);
    if (!calls(a, "__ompvm_share_first") || !calls(b, "__ompvm_grid_part"))
      return false;
    share = cast<CallInst>(a);
    return true;
  }

  bool recognized(Loop *loop, Shape &shape) {
    BasicBlock *before = loop->getLoopPreheader(), *latch = loop->getLoopLatch();
    auto *end = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
    auto *test = end && end->isConditional() ? dyn_cast<ICmpInst>(end->getCondition()) : nullptr;
    if (!before || !test || loop->getExitingBlock() != latch || !takes_copies(loop))
      return false;
    auto predicate = test->getPredicate();
    if (!loop->contains(end->getSuccessor(0)))
      predicate = CmpInst::getInversePredicate(predicate);
    Value *left = test->getOperand(0), *right = test->getOperand(1);
    if (!isa<BinaryOperator>(left)) {
      std::swap(left, right);
      predicate = CmpInst::getSwappedPredicate(predicate);
    }
    bool at_most = predicate == CmpInst::ICMP_ULE || predicate == CmpInst::ICMP_SLE;
    bool below = predicate == CmpInst::ICMP_ULT || predicate == CmpInst::ICMP_SLT;
    auto *next = dyn_cast<Instruction>(left);
    if ((!at_most && !below) || !next || !loop->isLoopInvariant(right))
      return false;
    for (PHINode &phi : loop->getHeader()->phis()) {
      Value *step = nullptr;
      Value *first = phi.getIncomingValueForBlock(before);
      if (phi.getIncomingValueForBlock(latch) == next &&
          match(next, m_c_Add(m_Specific(&phi), m_Value(step))) &&
          starts_share(first, shape.share) && calls(stripped(step), "__ompvm_grid_parts"))
        shape.counter = &phi, shape.first = first;
    }
    if (!shape.counter)
      return false;
    shape.next = next;
    IRBuilder<> build(before->getTerminator());
    if (shape.share)
      // The number of all devices' iterations, of which the loop's bounds are a share.
      shape.last = build.CreateAdd(shape.share->getArgOperand(0), build.getInt64(-1));
    else
      shape.last =
          at_most ? right : build.CreateAdd(right, ConstantInt::getAllOnesValue(right->getType()));
    return divisions(loop, shape);
  }

  /// Finds quotients and remainders of numbers. Returns false if a divisor is not loop-invariant.
  static bool divided(const Loop *loop, Shape &shape, ArrayRef<Instruction *> numbers,
                      SmallVectorImpl<Value *> &divisors,
                      MapVector<Instruction *, std::pair<bool, Value *>> &found) {
    SmallVector<Instruction *, 8> open(numbers);
    while (!open.empty()) {
      Instruction *number = open.pop_back_val();
      for (User *user : number->users()) {
        auto *i = dyn_cast<Instruction>(user);
        if (!i || !loop->contains(i) || found.contains(i))
          continue;
        if (resizes(i)) {
          open.push_back(i);
          continue;
        }
        auto op = i->getOpcode();
        bool quotient = op == Instruction::UDiv || op == Instruction::SDiv;
        bool remainder = op == Instruction::URem || op == Instruction::SRem;
        Value *by = quotient || remainder ? i->getOperand(1) : nullptr;
        // Shifts and masks are divisions by a power of two.
        const APInt *amount;
        if (match(i, m_Shr(m_Specific(number), m_APInt(amount))) && amount->ult(29) &&
            !amount->isZero())
          quotient = true, by = ConstantInt::get(i->getType(), 1ull << amount->getZExtValue());
        else if (match(i, m_And(m_Specific(number), m_APInt(amount))) && amount->isMask() &&
                 amount->ult(SMALL))
          remainder = true, by = ConstantInt::get(i->getType(), amount->getZExtValue() + 1);
        if (!by || i->getOperand(0) != number)
          continue;
        if (!loop->isLoopInvariant(by))
          return false;
        shape.divisors.push_back(by);
        if (none_of(divisors, [&](Value *known) { return same(known, by); }))
          divisors.push_back(by);
        found.insert({i, {quotient, by}});
      }
    }
    // A remainder expressed by its quotient, as compilers rewrite it.
    SmallVector<std::pair<Instruction *, Value *>, 4> more;
    for (auto &[i, how] : found) {
      if (!how.first)
        continue;
      SmallVector<Instruction *, 4> names{i};
      for (User *user : i->users())
        if (resizes(user))
          names.push_back(cast<Instruction>(user));
      for (Instruction *name : names)
        for (User *product : name->users()) {
          Value *factor = nullptr;
          if (!match(product, m_c_Mul(m_Specific(name), m_Value(factor))) ||
              !same(factor, how.second))
            continue;
          for (User *difference : make_early_inc_range(product->users())) {
            Value *whole = nullptr, *more_than = nullptr;
            auto *sub = dyn_cast<Instruction>(difference);
            // A constant that was added to the remainder may have been moved to the number.
            if (sub && loop->contains(sub) &&
                match(sub, m_Sub(m_Add(m_Value(whole), m_ImmConstant()), m_Specific(product))) &&
                stripped(whole) == stripped(i->getOperand(0))) {
              more_than = cast<Instruction>(sub->getOperand(0))->getOperand(1);
              IRBuilder<> build(sub);
              auto *plain = cast<Instruction>(build.CreateSub(whole, product));
              sub->replaceAllUsesWith(build.CreateAdd(plain, more_than));
              difference = sub = plain;
            }
            // If the factor differs from the divisor in its upper half, only the lower half is a
            // remainder.
            auto halves = [&](User *user) {
              return (isa<TruncInst>(user) && user->getType()->getIntegerBitWidth() <= 32) ||
                     match(user, m_Shl(m_Specific(difference), m_SpecificInt(32))) ||
                     match(user, m_And(m_Specific(difference), m_SpecificInt(0xffffffff)));
            };
            if (sub && loop->contains(sub) &&
                match(sub, m_Sub(m_Value(whole), m_Specific(product))) &&
                stripped(whole) == stripped(i->getOperand(0)) &&
                (factor == how.second || sub->getType()->isIntegerTy(32) ||
                 all_of(sub->users(), halves)))
              more.push_back({sub, how.second});
          }
        }
    }
    for (auto &[i, by] : more)
      found.insert({i, {false, by}});
    return true;
  }

  bool divisions(const Loop *loop, Shape &shape) {
    SmallVector<Value *, 4> outer, inner;
    MapVector<Instruction *, std::pair<bool, Value *>> of_counter, of_rest;
    if (!divided(loop, shape, {shape.counter}, outer, of_counter) || outer.empty() ||
        outer.size() > 2)
      return false;
    SmallVector<Instruction *, 8> rests;
    for (auto &[i, how] : of_counter)
      if (!how.first)
        rests.push_back(i);
    if (!divided(loop, shape, rests, inner, of_rest) || inner.size() > 1 ||
        (inner.empty() && outer.size() > 1))
      return false;
    // flang's order divides the quotient by the rows of a plane, clang's the plane's remainder by
    // the row.
    MapVector<Instruction *, std::pair<bool, Value *>> of_rows;
    if (inner.empty()) {
      shape.row = outer[0];
      SmallVector<Value *, 4> heights;
      SmallVector<Instruction *, 8> quotients;
      for (auto &[i, how] : of_counter)
        if (how.first)
          quotients.push_back(i);
      if (!divided(loop, shape, quotients, heights, of_rows) || heights.size() > 1)
        return false;
      if (!heights.empty()) {
        IRBuilder<> build(loop->getLoopPreheader()->getTerminator());
        Type *wide = build.getInt64Ty();
        shape.plane = build.CreateMul(build.CreateZExtOrTrunc(heights[0], wide),
                                      build.CreateZExtOrTrunc(shape.row, wide));
        shape.divisors.push_back(shape.plane);
      }
    } else {
      shape.row = inner[0];
      for (Value *by : outer)
        if (!same(by, shape.row))
          shape.plane = shape.plane ? nullptr : by;
      if (!shape.plane)
        return false;
      // A remainder by the row must not be divided by the row again.
      for (auto &[i, how] : of_rest) {
        Value *number = stripped(i->getOperand(0));
        auto from = of_counter.find(dyn_cast<Instruction>(number));
        if (from != of_counter.end() && !from->second.first && same(from->second.second, shape.row))
          return false;
      }
    }
    for (auto &[i, how] : of_counter) {
      bool by_row = same(how.second, shape.row);
      if (!shape.plane)
        (how.first ? shape.y : shape.x).push_back(i);
      else if (by_row)
        (how.first ? shape.rows : shape.x).push_back(i);
      else
        (how.first ? shape.z : shape.rest).push_back(i);
    }
    for (auto &[i, how] : of_rest)
      (how.first ? shape.y : shape.x).push_back(i);
    for (auto &[i, how] : of_rows)
      (how.first ? shape.z : shape.y).push_back(i);
    return true;
  }

  /// Returns the change of a value when x, or y, increases by one.
  Change change(const Loop *loop, const Shape &shape, Value *value, bool of_y, unsigned depth = 0) {
    auto *i = dyn_cast<Instruction>(value);
    if (!i || loop->isLoopInvariant(i))
      return {};
    auto *row = dyn_cast<ConstantInt>(shape.row);
    Change by_row = row ? Change{Change::KNOWN, row->getSExtValue()} : Change{Change::SYMBOLIC};
    if (is_contained(shape.x, i))
      return {Change::KNOWN, of_y ? 0 : 1};
    if (is_contained(shape.y, i) || is_contained(shape.rows, i))
      return {Change::KNOWN, of_y ? 1 : 0};
    if (is_contained(shape.z, i))
      return {};
    if (i == shape.counter || is_contained(shape.rest, i))
      return of_y ? by_row : Change{Change::KNOWN, 1};
    if (depth > 24)
      return {Change::UNKNOWN};
    auto part = [&](unsigned n) { return change(loop, shape, i->getOperand(n), of_y, depth + 1); };
    switch (i->getOpcode()) {
    case Instruction::Trunc:
      return fit(part(0), i);
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Freeze:
    case Instruction::AddrSpaceCast:
    case Instruction::BitCast:
      return part(0);
    case Instruction::Add:
      return fit(part(0) + part(1), i);
    case Instruction::Or:
      return cast<PossiblyDisjointInst>(i)->isDisjoint() ? part(0) + part(1)
                                                         : Change{Change::UNKNOWN};
    case Instruction::Sub:
      return fit(part(0) + part(1) * -1, i);
    case Instruction::Shl:
      if (auto *by = dyn_cast<ConstantInt>(i->getOperand(1)); by && by->getZExtValue() <= 32)
        return fit(part(0) * (1ll << by->getZExtValue()), i);
      return {Change::UNKNOWN};
    case Instruction::AShr:
      // Back from the upper half, where a 32-bit number was sign-extended.
      if (auto *by = dyn_cast<ConstantInt>(i->getOperand(1)); by && by->getZExtValue() <= 32) {
        Change whole = part(0);
        int64_t unit = 1ll << by->getZExtValue();
        if (whole.kind == Change::KNOWN && whole.bytes % unit == 0)
          return {Change::KNOWN, whole.bytes / unit};
        return whole.kind == Change::KNOWN ? Change{Change::UNKNOWN} : whole;
      }
      return {Change::UNKNOWN};
    case Instruction::Mul: {
      Change left = part(0), right = part(1);
      if (!left.some() && !right.some())
        return {};
      if (left.some() && right.some())
        return {Change::UNKNOWN};
      auto *factor = dyn_cast<ConstantInt>(i->getOperand(left.some() ? 1 : 0));
      Change changing = left.some() ? left : right;
      if (changing.kind == Change::UNKNOWN)
        return changing;
      return factor ? fit(changing * factor->getSExtValue(), i) : Change{Change::SYMBOLIC};
    }
    case Instruction::GetElementPtr: {
      auto *gep = cast<GetElementPtrInst>(i);
      Change sum = change(loop, shape, gep->getPointerOperand(), of_y, depth + 1);
      SmallMapVector<Value *, APInt, 4> variable;
      APInt constant(64, 0);
      if (!gep->collectOffset(layout, 64, variable, constant))
        return {Change::UNKNOWN};
      for (auto &[index, scale] : variable)
        sum = sum + change(loop, shape, index, of_y, depth + 1) * scale.getSExtValue();
      return sum;
    }
    default:
      for (Value *operand : i->operands())
        if (change(loop, shape, operand, of_y, depth + 1).some())
          return {Change::UNKNOWN};
      // A phi of an inner loop, or a value computed from memory, may change for other reasons than
      // the index.
      return isa<PHINode>(i) || i->mayReadFromMemory() ? Change{Change::UNKNOWN} : Change{};
    }
  }

  /// Properties of the body that call for another order.
  struct Preferences {
    bool outer_first = false; // addresses are consecutive in y
    bool neighbors = false, diverges = false;
  };

  Preferences preferences(Loop *loop, const Shape &shape) {
    Preferences wanted;
    unsigned along_x = 0, along_y = 0;
    MapVector<const Value *, unsigned> loads;
    for (BasicBlock *block : loop->blocks())
      for (Instruction &i : *block) {
        Value *pointer = getLoadStorePointerOperand(&i);
        if (!pointer)
          continue;
        Change x = change(loop, shape, pointer, false), y = change(loop, shape, pointer, true);
        along_x += x.consecutive();
        along_y += y.consecutive();
        if (isa<LoadInst>(i) && x.some() && y.some() && x.kind != Change::UNKNOWN &&
            y.kind != Change::UNKNOWN)
          loads[getUnderlyingObject(pointer)]++;
      }
    wanted.outer_first = along_y > along_x;
    wanted.neighbors = any_of(loads, [](auto &entry) { return entry.second >= NEIGHBORS; });
    for (Loop *inner : loop->getLoopsInPreorder()) {
      SmallVector<BasicBlock *, 4> leaving;
      if (inner == loop)
        continue;
      inner->getExitingBlocks(leaving);
      for (BasicBlock *block : leaving)
        if (auto *branch = dyn_cast<BranchInst>(block->getTerminator());
            branch && branch->isConditional())
          wanted.diverges |= compares_floats(branch->getCondition());
    }
    return wanted;
  }

  /// Returns true if a condition compares floating-point numbers.
  static bool compares_floats(Value *condition, unsigned depth = 0) {
    if (isa<FCmpInst>(condition))
      return true;
    auto *i = dyn_cast<Instruction>(condition);
    return i && depth < 4 && i->getType()->isIntegerTy(1) && !isa<PHINode>(i) &&
           any_of(i->operands(), [&](Value *part) { return compares_floats(part, depth + 1); });
  }

  /// Returns the branch that skips the loop for threads without an iteration; null if the thread
  /// number has a use other than that branch and the loop.
  BranchInst *skip_branch(const Loop *loop, const Shape &shape) {
    auto *part = cast<Instruction>(stripped(shape.first));
    SmallVector<Instruction *, 4> open{part};
    ICmpInst *asks = nullptr;
    while (!open.empty())
      for (User *user : open.pop_back_val()->users()) {
        auto *i = cast<Instruction>(user);
        if (i == shape.counter)
          continue;
        if (isa<ZExtInst>(i) || isa<SExtInst>(i) || isa<TruncInst>(i) || isa<FreezeInst>(i))
          open.push_back(i);
        else if (isa<ICmpInst>(i) && (!asks || asks == i) && !loop->contains(i))
          asks = cast<ICmpInst>(i);
        else
          return nullptr;
      }
    if (!asks || !asks->hasOneUse())
      return nullptr;
    auto *branch = dyn_cast<BranchInst>(*asks->user_begin());
    if (!branch)
      return nullptr;
    // Behind the branch there is only the path to the loop, free of side effects, which any thread
    // may take.
    BasicBlock *at = loop->getLoopPreheader();
    while (at && at != branch->getParent()) {
      if (at->getTerminator()->getNumSuccessors() != 1 ||
          any_of(*at, [](Instruction &i) { return i.mayHaveSideEffects(); }))
        return nullptr;
      at = at->getSinglePredecessor();
    }
    return at && branch->getSuccessor(0) != branch->getSuccessor(1) ? branch : nullptr;
  }

  Value *special(IRBuilder<> &build, Intrinsic::ID id) { return build.CreateIntrinsic(id, {}); }

  bool tile(Loop *loop, Shape &shape) {
    Preferences asked = preferences(loop, shape);
    if (!asked.outer_first && !asked.neighbors && !asked.diverges)
      return false;
    BranchInst *skip = skip_branch(loop, shape);
    if (!skip)
      return false;
    formLCSSARecursively(*loop, tree, &loops, nullptr);
    BasicBlock *check = loop->getLoopPreheader(), *latch = loop->getLoopLatch(),
               *header = loop->getHeader();
    BasicBlock *exit = loop->getUniqueExitBlock();
    if (!exit || !loop->hasDedicatedExits())
      return false;
    // A value that leaves the loop must be one that it carries.
    MapVector<PHINode *, PHINode *> leaving;
    for (PHINode &phi : exit->phis()) {
      Value *value = phi.getIncomingValueForBlock(latch);
      PHINode *carried = nullptr;
      for (PHINode &other : header->phis())
        if (&other != shape.counter && other.getIncomingValueForBlock(latch) == value)
          carried = &other;
      if (!carried && !loop->isLoopInvariant(value))
        return false;
      leaving[&phi] = carried;
    }

    unsigned width = asked.diverges && !asked.neighbors ? SECTOR : LINE;
    unsigned planes = shape.plane && asked.neighbors ? PLANES : 0;
    Type *word = Type::getInt32Ty(f.getContext());
    IRBuilder<> build(check->getTerminator());
    auto number = [&](uint64_t n) { return build.getInt32(n); };
    auto wide = [&](Value *value) { return build.CreateZExtOrTrunc(value, build.getInt64Ty()); };
    auto half = [&](Value *value) { return build.CreateZExtOrTrunc(value, word); };
    Value *row64 = wide(shape.row), *plane64 = shape.plane ? wide(shape.plane) : nullptr;
    Value *all = wide(shape.last);
    for (Value *divisor : shape.divisors)
      all = build.CreateOr(all, wide(divisor));
    Value *last = half(shape.last), *trips = build.CreateAdd(last, number(1));
    auto divisor = [&](Value *value) {
      return build.CreateBinaryIntrinsic(Intrinsic::umax, half(value), number(1));
    };
    Value *row = divisor(row64), *plane = plane64 ? divisor(plane64) : nullptr;
    auto above = [&](Value *n, Value *d) {
      return build.CreateUDiv(build.CreateAdd(n, build.CreateSub(d, number(1))), d);
    };
    Value *rows = factor(build, shape, plane ? shape.plane : nullptr, row);
    if (!rows)
      rows = above(plane ? plane : trips, row);
    Value *depth = plane ? above(trips, plane) : nullptr;
    Value *block = special(build, Intrinsic::nvvm_read_ptx_sreg_ntid_x);
    Value *thread = special(build, Intrinsic::nvvm_read_ptx_sreg_tid_x);
    Value *team = special(build, Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
    Value *teams = special(build, Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
    // The tile: 2^width by 2^height threads.
    Value *log = build.CreateSub(
        number(31), build.CreateBinaryIntrinsic(Intrinsic::ctlz, block, build.getFalse()));
    Value *height = build.CreateSub(log, number(width));
    Value *along = build.CreateAnd(thread, number((1u << width) - 1)),
          *across = build.CreateLShr(thread, number(width));
    Value *first_size = asked.outer_first ? rows : row,
          *second_size = asked.outer_first ? row : rows;
    Value *high = build.CreateShl(number(1), height);
    auto tiles = [&](Value *size, Value *edge, Value *shift) {
      return build.CreateLShr(build.CreateAdd(size, build.CreateSub(edge, number(1))), shift);
    };
    Value *first_tiles = tiles(first_size, number(1u << width), number(width));
    Value *second_tiles = tiles(second_size, high, height);
    Value *face = build.CreateMul(first_tiles, second_tiles);
    Value *groups =
        plane ? build.CreateMul(face, tiles(depth, number(1u << planes), number(planes))) : face;
    // Block sizes that are powers of two, and tiles that are mostly full.
    auto fits = [&](Value *size, Value *edge) {
      Value *even =
          build.CreateICmpEQ(build.CreateAnd(size, build.CreateSub(edge, number(1))), number(0));
      return build.CreateOr(even, build.CreateICmpUGE(size, build.CreateShl(edge, number(2))));
    };
    Value *guard = build.CreateICmpULT(all, build.getInt64(SMALL));
    guard = build.CreateAnd(guard, build.CreateICmpEQ(block, build.CreateShl(number(1), log)));
    guard = build.CreateAnd(guard, build.CreateICmpUGE(block, number(1u << LINE)));
    guard = build.CreateAnd(guard, fits(first_size, number(1u << width)));
    guard = build.CreateAnd(guard, fits(second_size, high));
    // Several devices share the tiles as they share iterations.
    Value *from = team, *until = groups;
    if (shape.share) {
      Function *share_first = shape.share->getCalledFunction();
      Function *share_end = f.getParent()->getFunction("__ompvm_share_end");
      if (!share_end)
        return false;
      until = half(build.CreateCall(share_end, {wide(groups)}));
      from = build.CreateAdd(half(build.CreateCall(share_first, {wide(groups)})), team);
    }
    auto reciprocal = [&](Value *d) { return build.CreateUDiv(number(~0u), d); };
    Value *by_first = reciprocal(first_tiles);
    Value *by_face = plane ? reciprocal(face) : nullptr;

    // Threads without an iteration in the old order may have one in the new.
    ompvm::Versions made = ompvm::version(loop, guard, ".linear", tree, loops);
    reach(skip, made);

    // An outer loop over the block's tiles surrounds the loop over the planes of one tile.
    BasicBlock *before = made.chosen;
    BasicBlock *body = SplitBlock(header, header->getFirstNonPHIIt());
    latch = latch == header ? body : latch;
    BasicBlock *around = BasicBlock::Create(f.getContext(), "tiled", &f, header);
    BasicBlock *again = BasicBlock::Create(f.getContext(), "tiled.plane", &f, exit);
    BasicBlock *further = BasicBlock::Create(f.getContext(), "tiled.next", &f, exit);
    before->getTerminator()->replaceUsesOfWith(header, around);
    header->getTerminator()->eraseFromParent();

    build.SetInsertPoint(around);
    PHINode *group = build.CreatePHI(word, 2, "tile");
    // Loop-carried values: at the start of a tile and of an iteration, after an iteration and after
    // the tile.
    struct Carried {
      PHINode *tile, *iteration, *behind, *last;
    };
    SmallVector<Carried, 4> carried;
    for (PHINode &phi : header->phis())
      if (&phi != shape.counter)
        carried.push_back({build.CreatePHI(phi.getType(), 2), &phi, nullptr, nullptr});
    Value *first_layer = nullptr, *tile = group;
    if (plane) {
      ompvm::Divided both = ompvm::divide(build, group, face, by_face);
      first_layer = build.CreateShl(both.quotient, number(planes));
      tile = both.remainder;
    }
    ompvm::Divided place = ompvm::divide(build, tile, first_tiles, by_first);
    Value *one = build.CreateAdd(build.CreateShl(place.remainder, number(width)), along);
    Value *other = build.CreateAdd(build.CreateShl(place.quotient, height), across);
    Value *x = asked.outer_first ? other : one, *y = asked.outer_first ? one : other;
    Value *rest = build.CreateAdd(build.CreateMul(y, row), x);
    Value *valid = build.CreateAnd(build.CreateICmpULT(x, row), build.CreateICmpULT(group, until));
    valid = build.CreateAnd(valid, build.CreateICmpULT(rest, plane ? plane : trips));
    build.CreateCondBr(valid, header, further);

    build.SetInsertPoint(header);
    PHINode *count = nullptr;
    Value *layer = first_layer, *whole = rest;
    if (planes) {
      count = PHINode::Create(word, 2, "plane", header->begin());
      layer = build.CreateAdd(first_layer, count);
    }
    if (plane)
      whole = build.CreateAdd(build.CreateMul(layer, plane), rest);
    auto replace = [&](ArrayRef<Instruction *> old, Value *with) {
      for (Instruction *i : old)
        i->replaceAllUsesWith(i->getType()->isIntegerTy(64)
                                  ? build.CreateZExt(with, i->getType(), "", /*IsNonNeg=*/true)
                                  : build.CreateZExtOrTrunc(with, i->getType()));
    };
    replace(shape.x, x);
    replace(shape.y, y);
    if (plane) {
      replace(shape.z, layer);
      replace(shape.rest, rest);
      replace(shape.rows, build.CreateAdd(build.CreateMul(layer, rows), y));
    }
    replace({shape.counter}, whole);
    if (plane)
      build.CreateCondBr(build.CreateICmpULE(whole, last), body, again);
    else
      build.CreateBr(body);

    // The value that an iteration leaves, or the previous one if none ran.
    build.SetInsertPoint(again);
    for (Carried &one : carried) {
      one.behind = build.CreatePHI(one.iteration->getType(), 2);
      one.behind->addIncoming(one.iteration->getIncomingValueForBlock(latch), latch);
      if (plane)
        one.behind->addIncoming(one.iteration, header);
    }
    if (planes) {
      Value *following = build.CreateAdd(count, number(1));
      count->addIncoming(number(0), around);
      count->addIncoming(following, again);
      build.CreateCondBr(build.CreateICmpULT(following, number(1u << planes)), header, further);
    } else {
      build.CreateBr(further);
    }
    build.SetInsertPoint(further);
    for (Carried &one : carried) {
      one.last = build.CreatePHI(one.iteration->getType(), 2);
      one.last->addIncoming(one.behind, again);
      one.last->addIncoming(one.tile, around);
      one.tile->addIncoming(one.iteration->getIncomingValueForBlock(before), before);
      one.tile->addIncoming(one.last, further);
    }
    Value *following = build.CreateAdd(group, teams);
    build.CreateCondBr(build.CreateICmpULT(following, until), around, exit);
    group->addIncoming(from, before);
    group->addIncoming(following, further);
    for (auto &[phi, from] : leaving) {
      int at = phi->getBasicBlockIndex(latch);
      phi->setIncomingBlock(at, further);
      for (Carried &one : carried)
        if (one.iteration == from)
          phi->setIncomingValue(at, one.last);
    }
    latch->getTerminator()->eraseFromParent();
    BranchInst::Create(again, latch);
    shape.counter->eraseFromParent();
    for (Carried &one : carried) {
      while (one.iteration->getNumIncomingValues())
        one.iteration->removeIncomingValue(0u, /*DeletePHIIfEmpty=*/false);
      one.iteration->addIncoming(one.tile, around);
      if (planes)
        one.iteration->addIncoming(one.behind, again);
    }
    return true;
  }

  /// Returns the rows of a plane, or of all, if their product with the row exists as a factor pair.
  static Value *factor(IRBuilder<> &build, const Shape &shape, Value *plane, Value *row) {
    Value *product = plane, *a = nullptr, *b = nullptr;
    if (!plane && !match(shape.last, m_Add(m_Value(product), m_AllOnes())))
      return nullptr;
    if (!match(stripped(product), m_Mul(m_Value(a), m_Value(b))))
      return nullptr;
    if (same(a, shape.row))
      std::swap(a, b);
    return same(b, shape.row) ? build.CreateZExtOrTrunc(a, row->getType()) : nullptr;
  }

  /// Lets all threads reach the versions, and lets those without an iteration skip the linear one
  /// alone.
  void reach(BranchInst *skip, const ompvm::Versions &made) {
    BasicBlock *from = skip->getParent(), *check = made.chosen->getSinglePredecessor();
    BasicBlock *linear = made.other->getLoopPreheader();
    bool first = tree.dominates(skip->getSuccessor(0), check);
    BasicBlock *past = skip->getSuccessor(first ? 1 : 0);
    auto *asks = cast<ICmpInst>(skip->getCondition());
    BasicBlock *ask = BasicBlock::Create(f.getContext(), "linear.ask", &f, linear);
    check->getTerminator()->replaceUsesOfWith(linear, ask);
    linear->replacePhiUsesWith(check, ask);
    auto *own = cast<ICmpInst>(asks->clone());
    own->insertInto(ask, ask->end());
    BranchInst::Create(first ? linear : past, first ? past : linear, own, ask);
    for (PHINode &phi : past->phis())
      phi.addIncoming(phi.getIncomingValueForBlock(from), ask);
    CallInst *share = nullptr;
    for (unsigned n : {0u, 1u})
      if (starts_share(asks->getOperand(n), share))
        asks->setOperand(n, ConstantInt::get(asks->getOperand(n)->getType(), 0));
  }
};

} // namespace

/// Tiles the loops over the grid that gain by it, and inlines the grid numbers of the others.
extern "C" void ompvm_tile_loops(LLVMModuleRef module) {
  SmallVector<CallInst *, 8> numbers;
  for (Function &f : *unwrap(module))
    if (!f.isDeclaration())
      Tiling(f).run();
  for (StringRef name :
       {"__ompvm_grid_part", "__ompvm_grid_parts", "__ompvm_share_first", "__ompvm_share_end",
        "__ompvm_ends_reduction"})
    if (Function *f = unwrap(module)->getFunction(name))
      for (User *user : f->users())
        if (auto *call = dyn_cast<CallInst>(user))
          numbers.push_back(call);
  for (CallInst *call : numbers) {
    InlineFunctionInfo info;
    InlineFunction(*call, info);
  }
}
