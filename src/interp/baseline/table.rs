//! The operands, control flow and template of each bytecode instruction.
//!
//! Each instruction of the table of `isa` has one row. Liveness analysis and the register cache
//! use its operands. [`Template::Handler`] runs the interpreter's handler. An instruction without a
//! row is also run by its handler, and its function is compiled as if the instruction might read
//! every slot; a test requires that all instructions have rows. `emit` generates the machine code
//! of templates.

use super::BASELINE;
use super::asm::{Alu, cc, pp};
use ompvm_interp::frame::{CallSite, ThunkSite};
use ompvm_interp::isa::{self, Enc, INSTRUCTIONS, op};
use std::mem::offset_of;

/// The preferred location of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandClass {
    /// A general register.
    G,
    /// A vector register: a float or double.
    X,
    /// A vector register: two words.
    P,
    /// Vector registers, two words each.
    V,
    /// Any register: one word that is only moved.
    N,
    /// Memory, for handlers.
    M,
}

/// The number of words of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordCount {
    /// A fixed number of words.
    Fixed(u8),
    /// The number in the u16 at this offset.
    N(u8),
    /// The words that hold the lanes counted at the first offset, of the second number of bytes
    /// each.
    Lanes(u8, u8),
    /// The words that hold the lanes counted at one offset, of the bytes counted at the other.
    Sized(u8, u8),
    /// The words that hold the bytes counted by the u32 at this offset.
    Bytes(u8),
    /// The words that hold the bytes counted by the u16 at this offset.
    Bytes16(u8),
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandField {
    /// Offset of its slot number in the instruction.
    pub at: u8,
    /// True for an operand that is written (and not read).
    pub def: bool,
    /// Preferred location.
    pub class: OperandClass,
    /// Its size.
    pub words: WordCount,
}

/// Operands besides the fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExtraOperands {
    /// None.
    None,
    /// Slot numbers after an instruction of the first number of bytes, counted at the second
    /// offset.
    Tail(u8, u8),
    /// The arguments of a `CallSite` whose address is at this offset.
    CallSite(u8),
    /// Both of the above.
    TailAndSite(u8, u8, u8),
    /// The operands of a `ThunkSite` at this offset.
    ThunkSite(u8),
    /// Lanes of this size, listed after a `Shuffle`.
    Shuffle(u8),
    /// Parts of slots, for `Bytes`; the destination keeps the bytes that are not written.
    MoveBytes,
    /// A lane of this many bytes, which becomes the whole of slot `to`.
    LoadLane(u8),
}

/// The control flow after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Falls through.
    Next,
    /// Branches by the distances at these offsets, counted from the instruction's first byte; the
    /// second offset is 0 if there is only one.
    Branch(u8, u8),
    /// Branches as `switch` does.
    Table,
    /// Branches as `switch_search` does.
    Search,
    /// Branches to any block.
    Anywhere,
    /// Leaves the function.
    Stop,
    /// Falls through, and does so again later (setjmp).
    Twice,
}

/// The description of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Operands that are fields.
    pub fields: &'static [OperandField],
    /// The operands besides the fields.
    pub extra: ExtraOperands,
    /// The control flow after the instruction.
    pub flow: Flow,
    /// The way in which the instruction is compiled.
    pub template: Template,
    /// True if the instruction has a row.
    pub known: bool,
}

/// A comparison: condition, width in bits, true if signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comparison(pub u8, pub u8, pub bool);

/// An ordered comparison of floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatComparison {
    Eq,
    Lt,
    Le,
    Ne,
    Ord,
    NotEq,
    NotLt,
    NotLe,
    NotNe,
    NotOrd,
}

/// The use of a loaded operand `v`, with the opcode of the operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FusedOp {
    /// `a op v`.
    Forward(u8),
    /// `v op a`.
    Backward(u8),
    /// `a * v + c`.
    FactorLoaded,
    /// `a * c + v`.
    TermLoaded,
    /// `c - a * v`.
    NegFactorLoaded,
}

/// The way in which an instruction is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Template {
    /// None: the handler runs.
    Handler,
    Enter,
    Jump,
    MoveJump,
    BranchIf,
    Branch(Comparison),
    BranchImm(Comparison),
    BranchTest,
    BranchFloat(FloatComparison, bool),
    Step(Comparison),
    StepImm(Comparison),
    Count,
    Call(bool),
    Call1(bool),
    Walk(Comparison),
    WalkImm(Comparison),
    Inc(Comparison),
    IncImm(Comparison),
    Ret0,
    Ret1,
    Move,
    MoveWide,
    ConstWord,
    Lea,
    MoveBytes,
    LoadLane(u8),
    Mask,
    SextBits,
    Select,
    Choose(Comparison),
    ChooseFloat(FloatComparison),
    ChooseImm(Comparison),
    ChooseTest,
    Affine(u8),
    NegMul,
    Arith(Alu, u8),
    Mul(u8),
    Divide {
        bits: u8,
        signed: bool,
        rem: bool,
    },
    Shift(u8, u8),
    ArithImm(Alu, u8),
    RsubImm(u8),
    MulImm(u8),
    ShiftImm(u8, u8),
    Compare(Comparison),
    CompareImm(Comparison),
    Sext(u8, bool),
    MinMax(Comparison),
    Abs(u8),
    Float(u8, bool),
    FloatUnary(FloatUnary, bool),
    FloatCompare(FloatComparison, bool),
    MulAdd(bool),
    MulSub,
    NegMulAdd,
    FloatToFloat(bool),
    FloatToInt {
        double: bool,
        wide: bool,
        bits: u8,
    },
    IntToFloat {
        double: bool,
        bits: u8,
        signed: bool,
    },
    Load(u8, AddressForm),
    Store(u8, AddressForm),
    LoadPair(AddressForm),
    StorePair(AddressForm),
    Gep(bool),
    Fused {
        how: FusedOp,
        pair: bool,
        index: AddressForm,
    },
    ScaleAddLoaded,
    StoreResult(u8, AddressForm),
    StoreMulAdd(AddressForm),
    BothLoaded(u8, bool),
    AccumulateBoth,
    Gather,
    LoadWords,
    StoreWords,
    IntsToDoubles,
    DoublesToInts,
    FloatExtreme(u8, bool),
    StoreSum,
    Accumulate(bool),
    PairLoaded,
    StackSave,
    StackRestore,
    Packed(u8, u8, u8),
    PackedMulAdd,
    Scale(bool),
    Pair,
    Quad,
    PackedN(u8, u8, u8),
    /// Opcode of a shift of lanes by lanes; true for lanes of 64 bits.
    ShiftN(u8, bool),
    /// True for lanes of 64 bits.
    CompareN(LaneTest, bool),
    SelectN(bool),
    MulAddN(bool),
    UnaryN(u8, bool),
    MoveWords,
    ZeroWords,
    Shuffle,
    /// Prefix, map and opcode of a packed operation, and the bits of a lane.
    Reduce(u8, u8, u8, u8),
    FillWords,
    MemcpyFixed,
    Tls,
    Rmw(u8, bool, u8),
}

/// A comparison of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneTest {
    Equal,
    NotEqual,
    /// Signed.
    Less,
    /// Signed.
    LessOrEqual,
    /// A predicate of `vcmpps`.
    Float(u8),
}

impl LaneTest {
    /// Returns true if the machine instruction tests the opposite.
    pub fn is_inverted(self) -> bool {
        matches!(self, LaneTest::NotEqual | LaneTest::LessOrEqual)
    }
}

/// An operation on one float.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatUnary {
    Neg,
    Abs,
    Sqrt,
    Round(u8),
}

/// The form of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressForm {
    /// `base + off`.
    None,
    /// `base + index * scale + off`.
    Full,
    /// `base + sext32(index) * scale + off`.
    Signed,
    /// `frame + off`.
    Frame,
}

const W1: WordCount = WordCount::Fixed(1);
const W2: WordCount = WordCount::Fixed(2);
const W4: WordCount = WordCount::Fixed(4);

macro_rules! n_of {
    ($shape:ident) => {
        WordCount::N(offset_of!(Enc<isa::$shape>, ops.n) as u8)
    };
}
macro_rules! lanes_of {
    ($shape:ident $bytes:literal) => {
        WordCount::Lanes(offset_of!(Enc<isa::$shape>, ops.n) as u8, $bytes)
    };
}
macro_rules! is_def {
    (def) => {
        true
    };
    (from) => {
        false
    };
}
macro_rules! rows {
    ($rows:ident; $($shape:ident [$($role:ident $field:ident $class:ident $words:expr),*] {
        $($name:ident $template:expr),* $(,)?
    })*) => { $( {
        const FIELDS: &[OperandField] = &[$(OperandField {
            at: offset_of!(Enc<isa::$shape>, ops.$field) as u8,
            def: is_def!($role),
            class: OperandClass::$class,
            words: $words,
        }),*];
        $({
            // The opcode's type proves that the shape is right.
            let code: isa::Opcode<isa::$shape> = op::$name;
            $rows[code.number as usize] = Row {
                fields: FIELDS,
                extra: ExtraOperands::None,
                flow: Flow::Next,
                template: $template,
                known: true,
            };
        })*
    } )* };
}
macro_rules! handlers {
    ($rows:ident; $($shape:ident [$($role:ident $field:ident $class:ident $words:expr),*]: $($name:ident)*;)*) => {
        rows! { $rows; $($shape [$($role $field $class $words),*] { $($name Template::Handler),* })* }
    };
}

/// Returns the rows, by opcode number.
pub fn rows() -> &'static [Row] {
    BASELINE.rows.get_or_init(|| Box::new(make()))
}

fn make() -> Vec<Row> {
    let nothing = Row {
        fields: &[],
        extra: ExtraOperands::None,
        flow: Flow::Next,
        template: Template::Handler,
        known: false,
    };
    let mut rows = vec![nothing; INSTRUCTIONS.handlers.len()];
    control(&mut rows);
    moves(&mut rows);
    integers(&mut rows);
    floats(&mut rows);
    memory(&mut rows);
    vectors(&mut rows);
    rows
}

// Each of the following functions is one table: a row per opcode, with its operands and template.

fn control(r: &mut [Row]) {
    use Template as T;
    let (e, b, l) = (cc::E, cc::B, cc::L);
    rows! { r;
        Enter [] { enter T::Enter, enter0 T::Enter }
        Br [] { jump T::Jump }
        DaBr [def dst N W1, from a N W1] { mov_jump T::MoveJump }
        Bra [from a G W1] { br_if T::BranchIf }
        Brab [from a G W1, from b G W1] {
            br_eq T::Branch(Comparison(e, 64, false)), br_ult T::Branch(Comparison(b, 64, false)),
            br_ule T::Branch(Comparison(cc::BE, 64, false)),
            br_slt8 T::Branch(Comparison(l, 8, true)), br_slt16 T::Branch(Comparison(l, 16, true)),
            br_slt32 T::Branch(Comparison(l, 32, true)),
            br_slt64 T::Branch(Comparison(l, 64, true)),
            br_sle8 T::Branch(Comparison(cc::LE, 8, true)),
            br_sle16 T::Branch(Comparison(cc::LE, 16, true)),
            br_sle32 T::Branch(Comparison(cc::LE, 32, true)),
            br_sle64 T::Branch(Comparison(cc::LE, 64, true)),
        }
        Brab [from a X W1, from b X W1] {
            br_foeq32 T::BranchFloat(FloatComparison::Eq, false),
            br_folt32 T::BranchFloat(FloatComparison::Lt, false),
            br_fole32 T::BranchFloat(FloatComparison::Le, false),
            br_fone32 T::BranchFloat(FloatComparison::Ne, false),
            br_ford32 T::BranchFloat(FloatComparison::Ord, false),
            br_foeq64 T::BranchFloat(FloatComparison::Eq, true),
            br_folt64 T::BranchFloat(FloatComparison::Lt, true),
            br_fole64 T::BranchFloat(FloatComparison::Le, true),
            br_fone64 T::BranchFloat(FloatComparison::Ne, true),
            br_ford64 T::BranchFloat(FloatComparison::Ord, true),
        }
        Brab [from a G W1, from b G W1] {
            br_eq32 T::Branch(Comparison(e, 32, false)),
            br_ult32 T::Branch(Comparison(b, 32, false)),
            br_ule32 T::Branch(Comparison(cc::BE, 32, false)),
        }
        Brwalk [def dst G W1, from a G W1, from b G W1, from s G W1] {
            walk_eq32 T::Walk(Comparison(e, 32, false)),
            walk_eq64 T::Walk(Comparison(e, 64, false)),
            walk_slt32 T::Walk(Comparison(l, 32, true)),
            walk_slt64 T::Walk(Comparison(l, 64, true)),
            walk_ult32 T::Walk(Comparison(b, 32, false)),
            walk_ult64 T::Walk(Comparison(b, 64, false)),
        }
        Brwalki [def dst G W1, from a G W1, from s G W1] {
            walk_eqi32 T::WalkImm(Comparison(e, 32, false)),
            walk_eqi64 T::WalkImm(Comparison(e, 64, false)),
            walk_slti32 T::WalkImm(Comparison(l, 32, true)),
            walk_slti64 T::WalkImm(Comparison(l, 64, true)),
            walk_ulti32 T::WalkImm(Comparison(b, 32, false)),
            walk_ulti64 T::WalkImm(Comparison(b, 64, false)),
        }
        Brinc [def dst G W1, from a G W1, from x G W1, from y G W1] {
            inc_br_eq T::Inc(Comparison(e, 64, false)),
            inc_br_eq32 T::Inc(Comparison(e, 32, false)),
            inc_br_slt32 T::Inc(Comparison(l, 32, true)),
            inc_br_slt64 T::Inc(Comparison(l, 64, true)),
            inc_br_ult T::Inc(Comparison(b, 64, false)),
        }
        Brinci [def dst G W1, from a G W1, from x G W1] {
            inc_br_eqi T::IncImm(Comparison(e, 64, false)),
            inc_br_eqi32 T::IncImm(Comparison(e, 32, false)),
            inc_br_slti32 T::IncImm(Comparison(l, 32, true)),
            inc_br_slti64 T::IncImm(Comparison(l, 64, true)),
            inc_br_ulti T::IncImm(Comparison(b, 64, false)),
        }
        Brai [from a G W1] {
            br_eqi32 T::BranchImm(Comparison(e, 32, false)),
            br_ulti32 T::BranchImm(Comparison(b, 32, false)),
            br_eqi T::BranchImm(Comparison(e, 64, false)),
            br_ulti T::BranchImm(Comparison(b, 64, false)),
            br_slti32 T::BranchImm(Comparison(l, 32, true)),
            br_slti64 T::BranchImm(Comparison(l, 64, true)),
            br_test T::BranchTest,
        }
        Brstep [def dst G W1, from a G W1, from b G W1] {
            step_eq32 T::Step(Comparison(e, 32, false)),
            step_eq64 T::Step(Comparison(e, 64, false)),
            step_slt32 T::Step(Comparison(l, 32, true)),
            step_slt64 T::Step(Comparison(l, 64, true)),
            step_ult32 T::Step(Comparison(b, 32, false)),
            step_ult64 T::Step(Comparison(b, 64, false)),
        }
        Brstepi [def dst G W1, from a G W1] {
            step_eqi32 T::StepImm(Comparison(e, 32, false)),
            step_eqi64 T::StepImm(Comparison(e, 64, false)),
            step_slti32 T::StepImm(Comparison(l, 32, true)),
            step_slti64 T::StepImm(Comparison(l, 64, true)),
            step_ulti32 T::StepImm(Comparison(b, 32, false)),
            step_ulti64 T::StepImm(Comparison(b, 64, false)),
        }
        Count [] { count T::Count }
        Nil [] { ret0 T::Ret0 }
        A [from a N W1] { ret1 T::Ret1 }
        // The callee's return writes the result, before the instruction after the call.
        Call [def dst M WordCount::N(offset_of!(Enc<isa::Call>, ops.words) as u8)] {
            call T::Call(false), call0 T::Call(true), call4 T::Call(true),
        }
        Call1 [def dst M WordCount::N(offset_of!(Enc<isa::Call1>, ops.words) as u8), from a N W1] {
            call1 T::Call1(true), call1_far T::Call1(false),
        }
        NativeF [def dst X W1, from a X W1] { native_d T::Handler, native_f T::Handler }
        NativeF [def dst X W1, from a X W1, from b X W1] { native_dd T::Handler,
            native_ff T::Handler }
    }
    handlers! { r;
        Switch [from a M W1]: switch_table switch_search;
        A [from a M W1]: indirect resume va_start;
        Ret [from a M n_of!(Ret)]: retn;
        Nil []: exit unreachable trap debugtrap;
        Call []: tail_call;
        CallPtr [def dst M WordCount::N(offset_of!(Enc<isa::CallPtr>, ops.words) as u8),
            from target M W1]: call_ptr;
        CallPtr [from target M W1]: tail_call_ptr;
        Native [def dst M W1]: native;
        InRegisters [def dst M WordCount::N(offset_of!(Enc<isa::InRegisters>, ops.words) as u8)]:
            native_registers;
        InRegisters []: compiled_registers;
        Site []: native_plan thunk unsupported;
        Dabn [def dst M W1, from a M W1, from b M W1]: setjmp;
        Ab [from a M W1, from b M W1]: longjmp;
        Da [def dst M W1, from a M W1]: va_arg_int va_arg_double;
    }
    for (number, then, els) in [
        (op::jump.number, offset_of!(Enc<isa::Br>, ops.target), 0),
        (
            op::mov_jump.number,
            offset_of!(Enc<isa::DaBr>, ops.target),
            0,
        ),
    ] {
        r[number as usize].flow = Flow::Branch(then as u8, els);
    }
    for row in r.iter_mut() {
        macro_rules! two {
            ($shape:ident) => {
                Flow::Branch(
                    offset_of!(Enc<isa::$shape>, ops.then) as u8,
                    offset_of!(Enc<isa::$shape>, ops.els) as u8,
                )
            };
        }
        row.flow = match row.template {
            T::BranchIf => two!(Bra),
            T::Branch(_) | T::BranchFloat(..) => two!(Brab),
            T::BranchImm(_) | T::BranchTest => two!(Brai),
            T::Step(_) => two!(Brstep),
            T::StepImm(_) => two!(Brstepi),
            T::Walk(_) => two!(Brwalk),
            T::WalkImm(_) => two!(Brwalki),
            T::Inc(_) => two!(Brinc),
            T::IncImm(_) => two!(Brinci),
            _ => row.flow,
        };
    }
    r[op::switch_table.number as usize].flow = Flow::Table;
    r[op::switch_search.number as usize].flow = Flow::Search;
    r[op::indirect.number as usize].flow = Flow::Anywhere;
    r[op::setjmp.number as usize].flow = Flow::Twice;
    let stop = [
        op::ret0.number,
        op::ret1.number,
        op::retn.number,
        op::exit.number,
        op::compiled_registers.number,
        op::tail_call.number,
        op::tail_call_ptr.number,
        op::resume.number,
        op::unreachable.number,
        op::trap.number,
        op::unsupported.number,
        op::longjmp.number,
    ];
    for number in stop {
        r[number as usize].flow = Flow::Stop;
    }
    macro_rules! tail {
        ($shape:ident) => {
            (
                size_of::<Enc<isa::$shape>>() as u8,
                offset_of!(Enc<isa::$shape>, ops.n) as u8,
            )
        };
    }
    let (bytes, n) = tail!(Call);
    for call in [op::call, op::call0, op::call4] {
        r[call.number as usize].extra = ExtraOperands::Tail(bytes, n);
    }
    r[op::tail_call.number as usize].extra = ExtraOperands::Tail(bytes, n);
    let (bytes, n) = tail!(Native);
    r[op::native.number as usize].extra = ExtraOperands::Tail(bytes, n);
    let (bytes, n) = tail!(InRegisters);
    r[op::native_registers.number as usize].extra = ExtraOperands::Tail(bytes, n);
    let (bytes, n) = tail!(CallPtr);
    let site = offset_of!(Enc<isa::CallPtr>, ops.site) as u8;
    r[op::call_ptr.number as usize].extra = ExtraOperands::TailAndSite(bytes, n, site);
    r[op::tail_call_ptr.number as usize].extra = ExtraOperands::TailAndSite(bytes, n, site);
    let site = offset_of!(Enc<isa::Site>, ops.site) as u8;
    r[op::native_plan.number as usize].extra = ExtraOperands::CallSite(site);
    r[op::thunk.number as usize].extra = ExtraOperands::ThunkSite(site);
}

fn moves(r: &mut [Row]) {
    use Template as T;
    rows! { r;
        Da [def dst N W1, from a N W1] { mov T::Move }
        Da [def dst P W2, from a P W2] { mov128 T::MoveWide }
        Di [def dst N W1] { const_word T::ConstWord }
        Doff [def dst G W1] { lea T::Lea }
        Bytes [] { mov_bytes T::MoveBytes, load_lane8 T::LoadLane(8), load_lane16 T::LoadLane(16),
            load_lane32 T::LoadLane(32) }
        Dam [def dst G W1, from a G W1] { mask T::Mask }
        Dai [def dst G W1, from a G W1] { sext_bits T::SextBits }
        Dabc [def dst N W1, from a G W1, from b N W1, from c N W1] { select T::Select }
        Sel [def dst N W1, from x G W1, from y G W1, from a N W1, from b N W1] {
            sel_eq T::Choose(Comparison(cc::E, 64, false)),
            sel_ult T::Choose(Comparison(cc::B, 64, false)),
            sel_slt32 T::Choose(Comparison(cc::L, 32, true)),
            sel_slt64 T::Choose(Comparison(cc::L, 64, true)),
        }
        Sel [def dst N W1, from x X W1, from y X W1, from a N W1, from b N W1] {
            sel_folt64 T::ChooseFloat(FloatComparison::Lt),
            sel_fole64 T::ChooseFloat(FloatComparison::Le),
        }
        Seli [def dst N W1, from x G W1, from a N W1, from b N W1] {
            sel_eqi T::ChooseImm(Comparison(cc::E, 64, false)),
            sel_ulti T::ChooseImm(Comparison(cc::B, 64, false)),
            sel_slti32 T::ChooseImm(Comparison(cc::L, 32, true)),
            sel_slti64 T::ChooseImm(Comparison(cc::L, 64, true)),
            sel_test T::ChooseTest,
        }
        Daii [def dst G W1, from a G W1] { affine32 T::Affine(32), affine64 T::Affine(64) }
        Dab [def dst P W2, from a X W1, from b X W1] { pair64 T::Pair }
        Quad [def dst V W4, from a X W1, from b X W1, from c X W1, from d X W1] { quad64 T::Quad }
        Dan [def dst V n_of!(Dan), from a V n_of!(Dan)] { mov_words T::MoveWords }
        Dan [def dst V n_of!(Dan)] { zero_words T::ZeroWords }
    }
    handlers! { r;
        Dabcn [def dst M n_of!(Dabcn), from a M W1, from b M n_of!(Dabcn),
            from c M n_of!(Dabcn)]: select_words;
    }
    r[op::mov_bytes.number as usize].extra = ExtraOperands::MoveBytes;
    r[op::load_lane8.number as usize].extra = ExtraOperands::LoadLane(1);
    r[op::load_lane16.number as usize].extra = ExtraOperands::LoadLane(2);
    r[op::load_lane32.number as usize].extra = ExtraOperands::LoadLane(4);
}

fn integers(r: &mut [Row]) {
    use Alu::{Add, And, Or, Sub, Xor};
    use Template as T;
    let (e, ne, b, be, l, le) = (cc::E, cc::NE, cc::B, cc::BE, cc::L, cc::LE);
    let t = |c, w, s| T::Compare(Comparison(c, w, s));
    let ti = |c, w, s| T::CompareImm(Comparison(c, w, s));
    let m = |c, w, s| T::MinMax(Comparison(c, w, s));
    let d = |bits, signed, rem| T::Divide { bits, signed, rem };
    rows! { r;
        Dab [def dst G W1, from a G W1, from b G W1] {
            add8 T::Arith(Add, 8), add16 T::Arith(Add, 16), add32 T::Arith(Add, 32),
            add64 T::Arith(Add, 64),
            sub8 T::Arith(Sub, 8), sub16 T::Arith(Sub, 16), sub32 T::Arith(Sub, 32),
            sub64 T::Arith(Sub, 64),
            and T::Arith(And, 64), or T::Arith(Or, 64), xor T::Arith(Xor, 64),
            mul8 T::Mul(8), mul16 T::Mul(16), mul32 T::Mul(32), mul64 T::Mul(64),
            shl8 T::Shift(4, 8), shl16 T::Shift(4, 16), shl32 T::Shift(4, 32),
            shl64 T::Shift(4, 64),
            lshr8 T::Shift(5, 8), lshr16 T::Shift(5, 16), lshr32 T::Shift(5, 32),
            lshr64 T::Shift(5, 64),
            ashr8 T::Shift(7, 8), ashr16 T::Shift(7, 16), ashr32 T::Shift(7, 32),
            ashr64 T::Shift(7, 64),
            eq t(e, 64, false), ne t(ne, 64, false), ult t(b, 64, false), ule t(be, 64, false),
            slt8 t(l, 8, true), slt16 t(l, 16, true), slt32 t(l, 32, true), slt64 t(l, 64, true),
            sle8 t(le, 8, true), sle16 t(le, 16, true), sle32 t(le, 32, true),
            sle64 t(le, 64, true),
            smin8 m(l, 8, true), smin16 m(l, 16, true), smin32 m(l, 32, true),
            smin64 m(l, 64, true),
            smax8 m(cc::G, 8, true), smax16 m(cc::G, 16, true), smax32 m(cc::G, 32, true),
            smax64 m(cc::G, 64, true),
            umin m(b, 64, false), umax m(cc::A, 64, false),
            udiv32 d(32, false, false), udiv64 d(64, false, false), urem32 d(32, false, true),
            urem64 d(64, false, true),
            sdiv32 d(32, true, false), sdiv64 d(64, true, false), srem32 d(32, true, true),
            srem64 d(64, true, true),
        }
        Dai [def dst G W1, from a G W1] {
            addi32 T::ArithImm(Add, 32), addi64 T::ArithImm(Add, 64),
            andi T::ArithImm(And, 64), ori T::ArithImm(Or, 64), xori T::ArithImm(Xor, 64),
            rsubi32 T::RsubImm(32), rsubi64 T::RsubImm(64), muli32 T::MulImm(32),
            muli64 T::MulImm(64),
            shli32 T::ShiftImm(4, 32), shli64 T::ShiftImm(4, 64), lshri32 T::ShiftImm(5, 32),
            lshri64 T::ShiftImm(5, 64), ashri32 T::ShiftImm(7, 32), ashri64 T::ShiftImm(7, 64),
            eqi ti(e, 64, false), nei ti(ne, 64, false), ulti ti(b, 64, false),
            ugti ti(cc::A, 64, false),
            slti32 ti(l, 32, true), slti64 ti(l, 64, true), sgti32 ti(cc::G, 32, true),
            sgti64 ti(cc::G, 64, true),
        }
        Da [def dst G W1, from a G W1] {
            sext8_16 T::Handler, sext8_32 T::Sext(8, false), sext8_64 T::Sext(8, true),
            sext16_32 T::Sext(16, false), sext16_64 T::Sext(16, true), sext32_64 T::Sext(32, true),
            abs32 T::Abs(32), abs64 T::Abs(64),
        }
    }
    handlers! { r;
        Dab [def dst M W1, from a M W1, from b M W1]:
            udiv8 udiv16 urem8 urem16 sdiv8 sdiv16 srem8 srem16
            sadd_sat8 sadd_sat16 sadd_sat32 sadd_sat64 uadd_sat8 uadd_sat16 uadd_sat32 uadd_sat64
            ssub_sat8 ssub_sat16 ssub_sat32 ssub_sat64 usub_sat8 usub_sat16 usub_sat32 usub_sat64
            sadd_ov8 sadd_ov16 sadd_ov32 uadd_ov8 uadd_ov16 uadd_ov32
            ssub_ov8 ssub_ov16 ssub_ov32 usub_ov8 usub_ov16 usub_ov32
            smul_ov8 smul_ov16 smul_ov32 umul_ov8 umul_ov16 umul_ov32;
        Dab [def dst M W2, from a M W1, from b M W1]:
            sadd_ov64 uadd_ov64 ssub_ov64 usub_ov64 smul_ov64 umul_ov64;
        Da [def dst M W1, from a M W1]:
            abs8 abs16 ctpop ctlz8 ctlz16 ctlz32 ctlz64 cttz8 cttz16 cttz32 cttz64 bswap16 bswap32
            bswap64
            bitreverse8 bitreverse16 bitreverse32 bitreverse64;
        Dabc [def dst M W1, from a M W1, from b M W1, from c M W1]:
            fshl8 fshl16 fshl32 fshl64 fshr8 fshr16 fshr32 fshr64;
        Dab [def dst M W2, from a M W2, from b M W2]:
            add128 sub128 mul128 and128 or128 xor128 shl128 lshr128 ashr128 udiv128 sdiv128 urem128
            srem128;
        Dab [def dst M W1, from a M W2, from b M W2]: eq128 ne128 ult128 ule128 slt128 sle128;
        Da [def dst M W2, from a M W1]: zext128 sext128;
    }
}

fn floats(r: &mut [Row]) {
    use FloatComparison::{Eq, Le, Lt, Ne, NotEq, NotLe, NotLt, NotNe, NotOrd, Ord};
    use FloatUnary::{Abs, Neg, Round, Sqrt};
    use Template as T;
    let c = T::FloatCompare;
    let u = T::FloatUnary;
    let f = |double, wide, bits| T::FloatToInt { double, wide, bits };
    let i = |double, bits, signed| T::IntToFloat {
        double,
        bits,
        signed,
    };
    rows! { r;
        Dab [def dst X W1, from a X W1, from b X W1] {
            fadd32 T::Float(0x58, false), fsub32 T::Float(0x5c, false),
            fmul32 T::Float(0x59, false), fdiv32 T::Float(0x5e, false),
            fadd64 T::Float(0x58, true), fsub64 T::Float(0x5c, true), fmul64 T::Float(0x59, true),
            fdiv64 T::Float(0x5e, true),
            negmul64 T::NegMul,
            fmin32 T::FloatExtreme(0x5d, false), fmin64 T::FloatExtreme(0x5d, true),
            fmax32 T::FloatExtreme(0x5f, false), fmax64 T::FloatExtreme(0x5f, true),
        }
        Da [def dst X W1, from a X W1] {
            fneg32 u(Neg, false), fneg64 u(Neg, true), fabs32 u(Abs, false), fabs64 u(Abs, true),
            sqrt32 u(Sqrt, false), sqrt64 u(Sqrt, true), roundeven32 u(Round(8), false),
            roundeven64 u(Round(8), true),
            floor32 u(Round(9), false), floor64 u(Round(9), true), ceil32 u(Round(10), false),
            ceil64 u(Round(10), true),
            ftrunc32 u(Round(11), false), ftrunc64 u(Round(11), true), rint32 u(Round(4), false),
            rint64 u(Round(4), true),
            f32_f64 T::FloatToFloat(true), f64_f32 T::FloatToFloat(false),
        }
        Dabc [def dst X W1, from a X W1, from b X W1, from c X W1] {
            muladd32 T::MulAdd(false), muladd64 T::MulAdd(true), mulsub64 T::MulSub,
            negmuladd64 T::NegMulAdd,
        }
        Dab [def dst G W1, from a X W1, from b X W1] {
            foeq32 c(Eq, false), folt32 c(Lt, false), fole32 c(Le, false), fone32 c(Ne, false),
            ford32 c(Ord, false),
            fune32 c(NotEq, false), fuge32 c(NotLt, false), fugt32 c(NotLe, false),
            fueq32 c(NotNe, false), funo32 c(NotOrd, false),
            foeq64 c(Eq, true), folt64 c(Lt, true), fole64 c(Le, true), fone64 c(Ne, true),
            ford64 c(Ord, true),
            fune64 c(NotEq, true), fuge64 c(NotLt, true), fugt64 c(NotLe, true),
            fueq64 c(NotNe, true), funo64 c(NotOrd, true),
        }
        Da [def dst G W1, from a X W1] {
            f64_i8 f(true, false, 8), f64_i16 f(true, false, 16), f64_i32 f(true, false, 32),
            f64_i64 f(true, true, 64),
            f64_u8 f(true, false, 8), f64_u16 f(true, false, 16), f64_u32 f(true, true, 32),
            f64_u64 T::Handler,
            f32_i8 f(false, false, 8), f32_i16 f(false, false, 16), f32_i32 f(false, false, 32),
            f32_i64 f(false, true, 64),
            f32_u8 f(false, false, 8), f32_u16 f(false, false, 16), f32_u32 f(false, true, 32),
            f32_u64 T::Handler,
        }
        Da [def dst X W1, from a G W1] {
            i8_f64 i(true, 8, true), i16_f64 i(true, 16, true), i32_f64 i(true, 32, true),
            i64_f64 i(true, 64, true),
            u32_f64 i(true, 32, false), u64_f64 T::Handler,
            i8_f32 i(false, 8, true), i16_f32 i(false, 16, true), i32_f32 i(false, 32, true),
            i64_f32 i(false, 64, true),
            u32_f32 i(false, 32, false), u64_f32 T::Handler,
        }
    }
    handlers! { r;
        Dab [def dst M W1, from a M W1, from b M W1]:
            frem32 frem64 copysign32 copysign64 powi32 powi64;
        Dabc [def dst M W1, from a M W1, from b M W1, from c M W1]: fma32 fma64;
        Da [def dst M W1, from a M W1]: round32 round64;
    }
}

fn memory(r: &mut [Row]) {
    use AddressForm::{Frame, Full, None, Signed};
    use FusedOp::{Backward, FactorLoaded, Forward, NegFactorLoaded, TermLoaded};
    use Template as T;
    let s = |how, index| T::Fused {
        how,
        pair: false,
        index,
    };
    let v = |how, index| T::Fused {
        how,
        pair: true,
        index,
    };
    const BYTES: WordCount = WordCount::Bytes(offset_of!(Enc<isa::Memn>, ops.bytes) as u8);
    const LANE_WORDS: WordCount = WordCount::N(offset_of!(Enc<isa::Lane>, ops.words) as u8);
    const LANE: WordCount = WordCount::Bytes16(offset_of!(Enc<isa::Lane>, ops.size) as u8);
    const LANES: WordCount = WordCount::Sized(
        offset_of!(Enc<isa::Lane>, ops.n) as u8,
        offset_of!(Enc<isa::Lane>, ops.size) as u8,
    );
    rows! { r;
        Mem [def reg N W1, from base G W1] {
            aload8 T::Load(8, None), aload16 T::Load(16, None), aload32 T::Load(32, None),
            aload64 T::Load(64, None),
            load8 T::Load(8, None), load16 T::Load(16, None), load32 T::Load(32, None),
            load64 T::Load(64, None),
        }
        Mem [def reg P W2, from base G W1] { load128 T::LoadPair(None) }
        Mem [from reg N W1, from base G W1] {
            astore8 T::Store(8, None), astore16 T::Store(16, None), astore32 T::Store(32, None),
            astore64 T::Store(64, None),
            store8 T::Store(8, None), store16 T::Store(16, None), store32 T::Store(32, None),
            store64 T::Store(64, None),
        }
        Mem [from reg P W2, from base G W1] { store128 T::StorePair(None) }
        Memx [def reg N W1, from base G W1, from index G W1] {
            load8x T::Load(8, Full), load16x T::Load(16, Full), load32x T::Load(32, Full),
            load64x T::Load(64, Full),
            load8s T::Load(8, Signed), load16s T::Load(16, Signed), load32s T::Load(32, Signed),
            load64s T::Load(64, Signed),
            gep T::Gep(false), gep_s T::Gep(true),
        }
        Memx [def reg P W2, from base G W1, from index G W1] { load128x T::LoadPair(Full),
            load128s T::LoadPair(Signed) }
        Memx [from reg N W1, from base G W1, from index G W1] {
            store8x_loop T::Store(8, Full), store16x_loop T::Store(16, Full),
            store32x_loop T::Store(32, Full), store64x_loop T::Store(64, Full),
            store8x T::Store(8, Full), store16x T::Store(16, Full), store32x T::Store(32, Full),
            store64x T::Store(64, Full),
            store8s T::Store(8, Signed), store16s T::Store(16, Signed),
            store32s T::Store(32, Signed), store64s T::Store(64, Signed),
        }
        Memx [from reg P W2, from base G W1, from index G W1] { store128x T::StorePair(Full),
            store128s T::StorePair(Signed) }
        Mem [def reg N W1] {
            load8f T::Load(8, Frame), load16f T::Load(16, Frame), load32f T::Load(32, Frame),
            load64f T::Load(64, Frame),
        }
        Mem [def reg P W2] { load128f T::LoadPair(Frame) }
        Mem [from reg N W1] {
            store8f T::Store(8, Frame), store16f T::Store(16, Frame), store32f T::Store(32, Frame),
            store64f T::Store(64, Frame),
        }
        Mem [from reg P W2] { store128f T::StorePair(Frame) }
        Fm [def dst X W1, from a X W1, from base G W1] {
            fadd64_m s(Forward(0x58), None), fsub64_m s(Forward(0x5c), None),
            frsub64_m s(Backward(0x5c), None), fmul64_m s(Forward(0x59), None),
        }
        Fm [def dst P W2, from a P W2, from base G W1] {
            v2fadd_m v(Forward(0x58), None), v2fsub_m v(Forward(0x5c), None),
            v2frsub_m v(Backward(0x5c), None), v2fmul_m v(Forward(0x59), None),
        }
        Fx [def dst X W1, from a X W1, from base G W1, from index G W1] {
            fadd64_x s(Forward(0x58), Full), fadd64_x_loop s(Forward(0x58), Full),
            fsub64_x s(Forward(0x5c), Full), frsub64_x s(Backward(0x5c), Full),
            fmul64_x s(Forward(0x59), Full),
        }
        Fx [def dst P W2, from a P W2, from base G W1, from index G W1] {
            v2fadd_x v(Forward(0x58), Full), v2fsub_x v(Forward(0x5c), Full),
            v2frsub_x v(Backward(0x5c), Full), v2fmul_x v(Forward(0x59), Full),
        }
        Fm [def dst X W1, from a X W1, from base G W1, from c X W1] {
            negmuladd64_m s(NegFactorLoaded, None), muladd64_m s(FactorLoaded, None),
            muladd64_am s(TermLoaded, None),
        }
        Fm [def dst P W2, from a P W2, from base G W1, from c P W2] {
            v2muladd_m v(FactorLoaded, None), v2muladd_am v(TermLoaded, None),
        }
        Fm [def dst P W2, from a X W1, from base G W1,
            from c P W2] { v2scaleadd_m T::ScaleAddLoaded }
        Fcx [def dst X W1, from a X W1, from base G W1, from index G W1, from c X W1] {
            negmuladd64_x s(NegFactorLoaded, Full), muladd64_x_loop s(FactorLoaded, Full),
            muladd64_x s(FactorLoaded, Full), muladd64_s s(FactorLoaded, Signed),
            muladd64_ax s(TermLoaded, Full),
        }
        Fcx [def dst P W2, from a P W2, from base G W1, from index G W1, from c P W2] {
            v2muladd_x v(FactorLoaded, Full), v2muladd_ax v(TermLoaded, Full),
        }
        Fm [from dst X W1, from a X W1, from base G W1] {
            fadd64_st T::StoreResult(0x58, None), fsub64_st T::StoreResult(0x5c, None),
            fmul64_st T::StoreResult(0x59, None),
        }
        Fcx [from dst X W1, from a X W1, from base G W1, from index G W1] {
            fadd64_stx T::StoreResult(0x58, Full), fsub64_stx T::StoreResult(0x5c, Full),
            fmul64_stx T::StoreResult(0x59, Full),
        }
        Fm [from dst X W1, from a X W1, from base G W1,
            from c X W1] { muladd64_st T::StoreMulAdd(None) }
        Fcx [from dst X W1, from a X W1, from base G W1, from index G W1,
            from c X W1] { muladd64_stx T::StoreMulAdd(Full) }
        Fxx [def dst X W1, from c X W1, from base G W1, from index G W1, from base2 G W1,
            from index2 G W1] {
            muladd64_xx T::BothLoaded(0x59, true), muladd64_xx_loop T::BothLoaded(0x59, true),
        }
        Fxx [def dst X W1, from base G W1, from index G W1, from base2 G W1, from index2 G W1] {
            fadd64_xx T::BothLoaded(0x58, false), fsub64_xx T::BothLoaded(0x5c, false),
            fmul64_xx T::BothLoaded(0x59, false),
        }
        Fxx [from c X W1, from base G W1, from index G W1, from base2 G W1, from index2 G W1] {
            macc64_xx T::AccumulateBoth, macc64_xx_loop T::AccumulateBoth,
        }
        Fg [def dst X W1, from c X W1, from base G W1, from index G W1, from base2 G W1,
            from base3 G W1] {
            muladd64_gather T::Gather, muladd64_gather_loop T::Gather,
        }
        Fms [from a X W1, from b X W1, from from G W1, from base G W1] { muladd64_ls T::StoreSum }
        Fms [from a X W1, from from G W1, from base G W1] { macc64_m T::Accumulate(false) }
        Fxs [from a X W1, from base G W1, from index G W1,
            from to G W1] { macc64_x T::Accumulate(true) }
        Fms [def a P W2, from from G W1, from base G W1] { pair64_m T::PairLoaded }
        Memn [def reg V BYTES, from base G W1] { load_bytes T::LoadWords }
        Memn [from reg V BYTES, from base G W1] { store_bytes T::StoreWords }
        Memn [from reg N W1, from base G W1] { fill_words T::FillWords }
        Memn [from reg G W1, from base G W1] { memcpy_fixed T::MemcpyFixed }
        Rmw [def dst G W1, from ptr G W1, from value G W1] {
            xchg32 T::Rmw(0x87, false, 32), xchg64 T::Rmw(0x87, false, 64),
            aadd32 T::Rmw(0xc1, false, 32),
            aadd64 T::Rmw(0xc1, false, 64), asub32 T::Rmw(0xc1, true, 32),
            asub64 T::Rmw(0xc1, true, 64),
        }
        Tls [def dst G W1] { tls_address T::Tls }
        D [def dst G W1] { stack_save T::StackSave }
        A [from a G W1] { stack_restore T::StackRestore }
    }
    handlers! { r;
        Alloca [def dst M W1, from count M W1]: alloca;
        AllocaGuarded [def dst M W1, from count M W1]: alloca_guarded;
        Guard [from a M W1]: stack_restore_guarded;
        Guard []: guard_set guard_check;
        Charge []: charge;
        Abc [from a M W1, from b M W1, from c M W1]: memcpy memmove memset;
        D [def dst M W1]: cycle_counter guard_value;
        Mem [from reg M W1, from base M W1]: sstore8 sstore16 sstore32 sstore64;
        Rmw [def dst M W1, from ptr M W1, from value M W1]:
            xchg8 xchg16 aadd8 aadd16 asub8 asub16
            aand8 aand16 aand32 aand64 anand8 anand16 anand32 anand64 aor8 aor16 aor32 aor64
            axor8 axor16 axor32 axor64 amax8 amax16 amax32 amax64 amin8 amin16 amin32 amin64
            aumax8 aumax16 aumax32 aumax64 aumin8 aumin16 aumin32 aumin64
            afadd32 afadd64 afsub32 afsub64 afmax32 afmax64 afmin32 afmin64;
        Cas [from ptr M W1, from expected M W1, from new M W1]: cas8 cas16 cas32 cas64;
        Nil []: fence;
        Lane [def dst M LANE, from a M LANES, from index M W1]: extract_var;
        Lane [def dst M LANE_WORDS, from a M LANE_WORDS, from b M W1, from index M W1]: insert_var;
    }
}

fn vectors(r: &mut [Row]) {
    use Template as T;
    let p66 = pp::P66;
    let n = |pp, opcode| T::PackedN(pp, 1, opcode);
    let n38 = |opcode| T::PackedN(p66, 2, opcode);
    let float = |predicate, wide| T::CompareN(LaneTest::Float(predicate), wide);
    rows! { r;
        Dab [def dst P W2, from a P W2, from b P W2] {
            v2fadd T::Packed(p66, 1, 0x58), v2fsub T::Packed(p66, 1, 0x5c),
            v2fmul T::Packed(p66, 1, 0x59), v2fdiv T::Packed(p66, 1, 0x5e),
            v2add64 T::Packed(p66, 1, 0xd4), v4add32 T::Packed(p66, 1, 0xfe),
        }
        Dabc [def dst P W2, from a P W2, from b P W2, from c P W2] { v2muladd T::PackedMulAdd }
        Dab [def dst P W2, from a X W1, from b P W2] { v2scale T::Scale(false) }
        Dabc [def dst P W2, from a X W1, from b P W2, from c P W2] { v2scaleadd T::Scale(true) }
        Dabn [def dst V n_of!(Dabn), from a V n_of!(Dabn), from b V n_of!(Dabn)] {
            vadd8 n(p66, 0xfc), vadd16 n(p66, 0xfd), vadd32 n(p66, 0xfe), vadd64 n(p66, 0xd4),
            vsub8 n(p66, 0xf8), vsub16 n(p66, 0xf9), vsub32 n(p66, 0xfa), vsub64 n(p66, 0xfb),
            vmul16 n(p66, 0xd5), vmul32 n38(0x40), vmul8 T::Handler, vmul64 T::Handler,
            vfadd32 n(0, 0x58), vfadd64 n(p66, 0x58), vfsub32 n(0, 0x5c), vfsub64 n(p66, 0x5c),
            vfmul32 n(0, 0x59), vfmul64 n(p66, 0x59), vfdiv32 n(0, 0x5e), vfdiv64 n(p66, 0x5e),
            vand n(p66, 0xdb), vor n(p66, 0xeb), vxor n(p66, 0xef),
            vsmin8 n38(0x38), vsmin16 n(p66, 0xea), vsmin32 n38(0x39), vsmax8 n38(0x3c),
            vsmax16 n(p66, 0xee), vsmax32 n38(0x3d),
            vumin8 n(p66, 0xda), vumin16 n38(0x3a), vumin32 n38(0x3b), vumax8 n(p66, 0xde),
            vumax16 n38(0x3e), vumax32 n38(0x3f),
        }
        Dabn [def dst V n_of!(Dabn), from a V n_of!(Dabn), from b V n_of!(Dabn)] {
            vshl32 T::ShiftN(0x47, false), vshl64 T::ShiftN(0x47, true),
            vlshr32 T::ShiftN(0x45, false), vlshr64 T::ShiftN(0x45, true),
            vashr32 T::ShiftN(0x46, false),
        }
        Dabn [def dst V lanes_of!(Dabn 1), from a V lanes_of!(Dabn 4), from b V lanes_of!(Dabn 4)] {
            veq32 T::CompareN(LaneTest::Equal, false), vne32 T::CompareN(LaneTest::NotEqual, false),
            vslt32 T::CompareN(LaneTest::Less, false),
            vsle32 T::CompareN(LaneTest::LessOrEqual, false),
            vfoeq32 float(0, false), vfolt32 float(1, false), vfole32 float(2, false),
            vfuno32 float(3, false), vfune32 float(4, false), vfuge32 float(5, false),
            vfugt32 float(6, false), vford32 float(7, false), vfueq32 float(8, false),
            vfone32 float(12, false),
        }
        Dabn [def dst V lanes_of!(Dabn 1), from a V lanes_of!(Dabn 8), from b V lanes_of!(Dabn 8)] {
            veq64 T::CompareN(LaneTest::Equal, true), vne64 T::CompareN(LaneTest::NotEqual, true),
            vslt64 T::CompareN(LaneTest::Less, true),
            vsle64 T::CompareN(LaneTest::LessOrEqual, true),
            vfoeq64 float(0, true), vfolt64 float(1, true), vfole64 float(2, true),
            vfuno64 float(3, true), vfune64 float(4, true), vfuge64 float(5, true),
            vfugt64 float(6, true), vford64 float(7, true), vfueq64 float(8, true),
            vfone64 float(12, true),
        }
        Dabcn [def dst V lanes_of!(Dabcn 4), from a V lanes_of!(Dabcn 1),
            from b V lanes_of!(Dabcn 4), from c V lanes_of!(Dabcn 4)] { vselect32 T::SelectN(false) }
        Dabcn [def dst V lanes_of!(Dabcn 8), from a V lanes_of!(Dabcn 1),
            from b V lanes_of!(Dabcn 8), from c V lanes_of!(Dabcn 8)] { vselect64 T::SelectN(true) }
        Dabcn [def dst V n_of!(Dabcn), from a V n_of!(Dabcn), from b V n_of!(Dabcn),
            from c V n_of!(Dabcn)] {
            vmuladd32 T::MulAddN(false), vmuladd64 T::MulAddN(true),
        }
        Dan [def dst V n_of!(Dan), from a V n_of!(Dan)] {
            vfneg32 T::UnaryN(0x57, false), vfneg64 T::UnaryN(0x57, true),
            vfabs32 T::UnaryN(0x54, false),
            vfabs64 T::UnaryN(0x54, true), vsqrt32 T::UnaryN(0x51, false),
            vsqrt64 T::UnaryN(0x51, true),
        }
        Dan [def dst V lanes_of!(Dan 8), from a V lanes_of!(Dan 4)] { vi32_f64 T::IntsToDoubles }
        Dan [def dst V lanes_of!(Dan 4), from a V lanes_of!(Dan 8)] { vf64_i32 T::DoublesToInts }
        Shuffle [] { shuffle64 T::Shuffle }
        Dan [def dst G W1, from a V lanes_of!(Dan 4)] {
            red_add32 T::Reduce(p66, 1, 0xfe, 32), red_mul32 T::Reduce(p66, 2, 0x40, 32),
            red_and32 T::Reduce(p66, 1, 0xdb, 32), red_or32 T::Reduce(p66, 1, 0xeb, 32),
            red_xor32 T::Reduce(p66, 1, 0xef, 32), red_smin32 T::Reduce(p66, 2, 0x39, 32),
            red_smax32 T::Reduce(p66, 2, 0x3d, 32), red_umin32 T::Reduce(p66, 2, 0x3b, 32),
            red_umax32 T::Reduce(p66, 2, 0x3f, 32),
        }
        Dan [def dst G W1, from a V lanes_of!(Dan 8)] {
            red_add64 T::Reduce(p66, 1, 0xd4, 64), red_and64 T::Reduce(p66, 1, 0xdb, 64),
            red_or64 T::Reduce(p66, 1, 0xeb, 64), red_xor64 T::Reduce(p66, 1, 0xef, 64),
        }
    }
    handlers! { r;
        Dan [def dst M n_of!(Dan), from a M n_of!(Dan)]:
            vfloor32 vfloor64 vceil32 vceil64 vftrunc32 vftrunc64 vrint32 vrint64
            vctpop8 vctpop16 vctpop32 vctpop64 vctlz32 vctlz64 vcttz32 vcttz64
            vbswap16 vbswap32 vbswap64 vabs8 vabs16 vabs32 vabs64;
        Dabn [def dst M n_of!(Dabn), from a M n_of!(Dabn), from b M n_of!(Dabn)]:
            vshl8 vshl16 vlshr8 vlshr16 vashr8 vashr16 vashr64 vsmin64 vsmax64 vumin64 vumax64;
        Dabn [def dst M lanes_of!(Dabn 1), from a M lanes_of!(Dabn 1), from b M lanes_of!(Dabn 1)]:
            veq8 vne8 vult8 vule8 vslt8 vsle8;
        Dabn [def dst M lanes_of!(Dabn 1), from a M lanes_of!(Dabn 2), from b M lanes_of!(Dabn 2)]:
            veq16 vne16 vult16 vule16 vslt16 vsle16;
        Dabn [def dst M lanes_of!(Dabn 1), from a M lanes_of!(Dabn 4), from b M lanes_of!(Dabn 4)]:
            vult32 vule32;
        Dabn [def dst M lanes_of!(Dabn 1), from a M lanes_of!(Dabn 8), from b M lanes_of!(Dabn 8)]:
            vult64 vule64;
        Dabn [def dst M lanes_of!(Dabn 1), from a M lanes_of!(Dabn 1), from b M lanes_of!(Dabn 1)]:
            vudiv8 vsdiv8 vurem8 vsrem8;
        Dabn [def dst M lanes_of!(Dabn 2), from a M lanes_of!(Dabn 2), from b M lanes_of!(Dabn 2)]:
            vudiv16 vsdiv16 vurem16 vsrem16;
        Dabn [def dst M lanes_of!(Dabn 4), from a M lanes_of!(Dabn 4), from b M lanes_of!(Dabn 4)]:
            vudiv32 vsdiv32 vurem32 vsrem32;
        Dabn [def dst M lanes_of!(Dabn 8), from a M lanes_of!(Dabn 8), from b M lanes_of!(Dabn 8)]:
            vudiv64 vsdiv64 vurem64 vsrem64;
        Dabcn [def dst M n_of!(Dabcn), from a M n_of!(Dabcn), from b M n_of!(Dabcn),
            from c M n_of!(Dabcn)]: vfma32 vfma64;
        Dabcn [def dst M lanes_of!(Dabcn 1), from a M lanes_of!(Dabcn 1),
            from b M lanes_of!(Dabcn 1), from c M lanes_of!(Dabcn 1)]: vselect8;
        Dabcn [def dst M lanes_of!(Dabcn 2), from a M lanes_of!(Dabcn 1),
            from b M lanes_of!(Dabcn 2), from c M lanes_of!(Dabcn 2)]: vselect16;
        Dan [def dst M lanes_of!(Dan 1), from a M lanes_of!(Dan 1)]: vzext1_8 vsext1_8;
        Dan [def dst M lanes_of!(Dan 2),
            from a M lanes_of!(Dan 1)]: vzext1_16 vsext1_16 vzext8_16 vsext8_16;
        Dan [def dst M lanes_of!(Dan 4),
            from a M lanes_of!(Dan 1)]: vzext1_32 vsext1_32 vzext8_32 vsext8_32;
        Dan [def dst M lanes_of!(Dan 8),
            from a M lanes_of!(Dan 1)]: vzext1_64 vsext1_64 vzext8_64 vsext8_64;
        Dan [def dst M lanes_of!(Dan 4), from a M lanes_of!(Dan 2)]: vzext16_32 vsext16_32;
        Dan [def dst M lanes_of!(Dan 8), from a M lanes_of!(Dan 2)]: vzext16_64 vsext16_64;
        Dan [def dst M lanes_of!(Dan 8),
            from a M lanes_of!(Dan 4)]: vzext32_64 vsext32_64 vu32_f64 vf32_i64 vf32_f64;
        Dan [def dst M lanes_of!(Dan 1), from a M lanes_of!(Dan 2)]: vtrunc16_8;
        Dan [def dst M lanes_of!(Dan 1), from a M lanes_of!(Dan 4)]: vtrunc32_8;
        Dan [def dst M lanes_of!(Dan 1), from a M lanes_of!(Dan 8)]: vtrunc64_8;
        Dan [def dst M lanes_of!(Dan 2), from a M lanes_of!(Dan 4)]: vtrunc32_16;
        Dan [def dst M lanes_of!(Dan 2), from a M lanes_of!(Dan 8)]: vtrunc64_16;
        Dan [def dst M lanes_of!(Dan 4), from a M lanes_of!(Dan 8)]: vtrunc64_32 vi64_f32 vf64_f32;
        Dan [def dst M lanes_of!(Dan 4), from a M lanes_of!(Dan 4)]: vi32_f32 vu32_f32 vf32_i32;
        Dan [def dst M lanes_of!(Dan 8), from a M lanes_of!(Dan 8)]: vi64_f64 vu64_f64 vf64_i64;
        Shuffle []: shuffle8 shuffle16 shuffle32;
        Dan [def dst M W1, from a M lanes_of!(Dan 1)]:
            red_add8 red_and8 red_or8 red_xor8 red_smax8 red_smin8 red_umax8 red_umin8;
        Dan [def dst M W1, from a M lanes_of!(Dan 2)]:
            red_add16 red_and16 red_or16 red_xor16 red_smax16 red_smin16 red_umax16 red_umin16;
        Dan [def dst M W1, from a M lanes_of!(Dan 4)]:
            red_fmax32 red_fmin32;
        Dan [def dst M W1, from a M lanes_of!(Dan 8)]:
            red_mul64 red_smax64 red_smin64 red_umax64 red_umin64 red_fmax64 red_fmin64;
        Dabn [def dst M W1, from a M W1, from b M lanes_of!(Dabn 4)]:
            red_fadd32 red_fmul32 red_fadd_halves32 red_fmul_halves32;
        Dabn [def dst M W1, from a M W1, from b M lanes_of!(Dabn 8)]:
            red_fadd64 red_fmul64 red_fadd_halves64 red_fmul_halves64;
    }
    if !std::arch::is_x86_feature_detected!("avx2") {
        for row in r
            .iter_mut()
            .filter(|row| matches!(row.template, T::ShiftN(..)))
        {
            row.template = T::Handler;
        }
    }
    r[op::shuffle8.number as usize].extra = ExtraOperands::Shuffle(1);
    r[op::shuffle16.number as usize].extra = ExtraOperands::Shuffle(2);
    r[op::shuffle32.number as usize].extra = ExtraOperands::Shuffle(4);
    r[op::shuffle64.number as usize].extra = ExtraOperands::Shuffle(8);
}

/// Reads a u16 of an instruction.
///
/// # Safety
/// `ip` is an instruction with a u16 at byte `at`.
#[inline(always)]
pub unsafe fn u16_at(ip: *const u64, at: u8) -> u16 {
    // SAFETY: the instruction has a u16 at byte `at` (the caller's contract).
    unsafe { ip.byte_add(at as usize).cast::<u16>().read() }
}

/// Reads an i32 of an instruction.
///
/// # Safety
/// `ip` is an instruction with an i32 at byte `at`.
#[inline(always)]
pub unsafe fn i32_at(ip: *const u64, at: u8) -> i32 {
    // SAFETY: the instruction has an i32 at byte `at` (the caller's contract).
    unsafe { ip.byte_add(at as usize).cast::<i32>().read() }
}

impl OperandField {
    /// Returns the operand's first slot.
    ///
    /// # Safety
    /// `ip` is an instruction with this field.
    #[inline(always)]
    pub unsafe fn slot(&self, ip: *const u64) -> u16 {
        // SAFETY: the instruction has this field (the caller's contract).
        unsafe { u16_at(ip, self.at) }
    }

    /// Returns the operand's number of words.
    ///
    /// # Safety
    /// As for [`OperandField::slot`].
    #[inline(always)]
    pub unsafe fn count(&self, ip: *const u64) -> u16 {
        // SAFETY: the instruction has this field (the caller's contract).
        unsafe {
            match self.words {
                WordCount::Fixed(n) => u16::from(n),
                WordCount::N(at) => u16_at(ip, at),
                WordCount::Lanes(at, bytes) => {
                    (u32::from(u16_at(ip, at)) * u32::from(bytes)).div_ceil(8) as u16
                }
                WordCount::Sized(n, size) => {
                    (u32::from(u16_at(ip, n)) * u32::from(u16_at(ip, size))).div_ceil(8) as u16
                }
                WordCount::Bytes16(at) => u16_at(ip, at).div_ceil(8),
                WordCount::Bytes(at) => (i32_at(ip, at) as u32).div_ceil(8) as u16,
            }
        }
    }
}

impl Row {
    /// Calls `f(slot, words)` for operands that are read besides the fields, and `d` for those
    /// written.
    ///
    /// # Safety
    /// `ip` is an instruction that this row describes.
    pub unsafe fn extras(
        &self,
        ip: *const u64,
        f: &mut impl FnMut(u16, u16),
        d: &mut impl FnMut(u16, u16),
    ) {
        // SAFETY: the row describes the instruction (the caller's contract), so lists and sites are
        // laid out as its handler reads them.
        unsafe {
            let tail = |bytes: u8, n: u8, f: &mut dyn FnMut(u16, u16)| {
                let slots = ip.byte_add(bytes as usize).cast::<u16>();
                for i in 0..u16_at(ip, n) {
                    f(*slots.add(i as usize), 1);
                }
            };
            let site = |at: u8, f: &mut dyn FnMut(u16, u16)| {
                let site = &*(*ip.byte_add(at as usize).cast::<*const CallSite>());
                for (&slot, &words) in site.args.iter().zip(&site.words) {
                    f(slot, words);
                }
            };
            match self.extra {
                ExtraOperands::None => {}
                ExtraOperands::Tail(bytes, n) => tail(bytes, n, f),
                ExtraOperands::CallSite(at) => site(at, f),
                ExtraOperands::TailAndSite(bytes, n, at) => {
                    tail(bytes, n, f);
                    site(at, f);
                }
                ExtraOperands::ThunkSite(at) => {
                    let site = &*(*ip.byte_add(at as usize).cast::<*const ThunkSite>());
                    for (&slot, &words) in site.args.iter().zip(&site.words) {
                        f(slot, words);
                    }
                }
                ExtraOperands::Shuffle(size) => {
                    let o = &(*ip.cast::<Enc<isa::Shuffle>>()).ops;
                    let lanes = ip.byte_add(size_of::<Enc<isa::Shuffle>>()).cast::<u32>();
                    for i in 0..o.n as usize {
                        f((*lanes.add(i) * u32::from(size) / 8) as u16, 1);
                    }
                    d(o.dst, (u32::from(o.n) * u32::from(size) / 8) as u16);
                }
                ExtraOperands::MoveBytes => {
                    let o = &(*ip.cast::<Enc<isa::Bytes>>()).ops;
                    let words = |at: u32| ((at + o.bytes).div_ceil(8) - at / 8) as u16;
                    f((o.from / 8) as u16, words(o.from));
                    // Bytes that are not overwritten keep their value.
                    f((o.to / 8) as u16, words(o.to));
                }
                ExtraOperands::LoadLane(_) => {
                    let o = &(*ip.cast::<Enc<isa::Bytes>>()).ops;
                    f((o.from / 8) as u16, 1);
                    d(o.to as u16, 1);
                }
            }
        }
    }
}
