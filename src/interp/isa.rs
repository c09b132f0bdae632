//! The bytecode of tier 0: one table of all instructions.
//!
//! [`isa!`] lists each instruction once (name, operand shape, effect). It expands to the typed
//! opcodes that the lowering emits ([`op`]), the table of handlers ([`HANDLERS`]; an instruction
//! without a handler does not compile) and the disassembler's descriptions ([`INFO`]).
//!
//! The bytecode is direct-threaded: word 0 of an instruction is its handler's address, followed by
//! the operands packed as the shape's `repr(C)` struct (u16 slot numbers, i32 branch distances,
//! immediates). Decoding is a load, and the next handler is reached by one indirect jump.
//!
//! Nothing here depends on LLVM's instructions: `lower` selects the opcodes and [`exec`] implements
//! them.
//!
//! Branch distances are in bytes from the first byte of the branch instruction. Shapes that end in
//! `n: u16` are followed by that many packed u16 slots, padded to a word ([`tail_bytes`]).

use super::exec::{self, Handler};
use ompvm_memory::abi::RegisterCall;
use std::marker::PhantomData;

/// A slot number of the current frame.
pub type S = u16;

/// The operands of one instruction as encoded in the code.
pub trait Shape: Copy + 'static {
    /// Formats field names and values for the disassembler.
    fn fields(&self) -> String;
}

/// An opcode, typed by the shape of its operands.
#[derive(Clone, Copy)]
pub struct Opcode<T: Shape> {
    /// The row in [`INFO`] and [`HANDLERS`].
    pub number: u16,
    shape: PhantomData<T>,
}

/// An instruction's description for the disassembler.
pub struct Info {
    /// The instruction's name.
    pub name: &'static str,
    /// The effect in the notation of the table.
    pub effect: &'static str,
    /// Bytes of the fixed part, handler address included.
    pub bytes: usize,
    /// Formats the operands at this address (just after the handler's address).
    pub fields: unsafe fn(*const u64) -> String,
}

/// An instruction in memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Enc<T: Shape> {
    /// The handler.
    pub handler: Handler,
    /// The operands.
    pub ops: T,
}

/// Returns the bytes taken by `n` slot numbers after an instruction.
pub const fn tail_bytes(n: usize) -> usize {
    (n * 2).next_multiple_of(8)
}

/// Appends packed slot numbers, padded to a word.
pub fn push_tail(code: &mut Vec<u64>, slots: &[u16]) {
    for four in slots.chunks(4) {
        let mut word = 0u64;
        for (i, &s) in four.iter().enumerate() {
            word |= u64::from(s) << (16 * i);
        }
        code.push(word);
    }
}

impl InRegisters {
    /// Returns the operands of a call of `target`, whose slots are the words of `call`.
    pub fn new(call: &RegisterCall, dst: S, target: usize) -> InRegisters {
        InRegisters {
            dst,
            words: call.result_words,
            n: (call.integers.len() + call.floats.len()) as u16,
            floats: u16::from(call.has_floats),
            result: call.result as u16,
            target,
            mask: call.mask,
        }
    }
}

/// Formats the operands at an address.
///
/// # Safety
/// `at` is the address of an instruction of shape `T`.
unsafe fn show<T: Shape>(at: *const u64) -> String {
    // SAFETY: `at` is the address of an instruction of shape `T` (the caller's contract).
    unsafe { (*at.cast::<Enc<T>>()).ops.fields() }
}

/// An operand's text in the disassembler. Addresses differ from run to run and are left out.
trait Field: Copy {
    fn text(self) -> String;
}
impl Field for usize {
    fn text(self) -> String {
        "@".to_owned()
    }
}
macro_rules! numbers {
    ($($t:ty)*) => { $(
        impl Field for $t {
            fn text(self) -> String {
                self.to_string()
            }
        }
    )* };
}
numbers! { u16 u32 i32 u64 i64 }

macro_rules! shapes {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty),* $(,)? })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            #[expect(missing_docs, reason = "the fields are named as in the effects of the table")]
            pub struct $name { $(pub $field: $ty),* }
            impl Shape for $name {
                fn fields(&self) -> String {
                    let text: &[String] =
                        &[$(format!("{}={}", stringify!($field), self.$field.text())),*];
                    text.join(" ")
                }
            }
        )*
    };
}

/// No operands.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Nil;
impl Shape for Nil {
    fn fields(&self) -> String {
        String::new()
    }
}

shapes! {
    /// A destination.
    D { dst: S }
    /// One source.
    A { a: S }
    /// Two sources.
    Ab { a: S, b: S }
    /// Three sources.
    Abc { a: S, b: S, c: S }
    /// Destination and source.
    Da { dst: S, a: S }
    /// Destination and two sources.
    Dab { dst: S, a: S, b: S }
    /// Destination and three sources.
    Dabc { dst: S, a: S, b: S, c: S }
    /// Destination and two sources, for `n` words or lanes.
    Dabn { dst: S, a: S, b: S, n: u16 }
    /// Destination and three sources, for `n` words or lanes.
    Dabcn { dst: S, a: S, b: S, c: S, n: u16 }
    /// Destination and source, for `n` words or lanes.
    Dan { dst: S, a: S, n: u16 }
    /// Destination, source, an immediate.
    Dai { dst: S, a: S, imm: i32 }
    /// Destination and an immediate word.
    Di { dst: S, imm: i64 }
    /// Destination and a 32-bit offset.
    Doff { dst: S, off: i32 }
    /// Destination, source and a 64-bit mask.
    Dam { dst: S, a: S, mask: u64 }
    /// Address `base + off`; `reg` is loaded or stored.
    Mem { reg: S, base: S, off: i32 }
    /// Address `base + index * scale + off`.
    Memx { reg: S, base: S, index: S, scale: i32, off: i32 }
    /// Arithmetic on `a`, `c` and the value at `base + off`.
    Fm { dst: S, a: S, c: S, base: S, off: i32 }
    /// Arithmetic on `a` and the value at `base + index * scale + off`.
    Fx { dst: S, a: S, base: S, index: S, scale: i32, off: i32 }
    /// Arithmetic on `a`, `c` and the value at `base + index * scale + off`.
    Fcx { dst: S, a: S, c: S, base: S, index: S, scale: i32, off: i32 }
    /// Arithmetic on `a`, `c` and the values at `base + index * scale + off` and `base2 + index2 *
    /// scale2 + off2`.
    Fxx {
        dst: S, c: S, base: S, index: S, base2: S, index2: S,
        scale: i32, off: i32, scale2: i32, off2: i32,
    }
    /// Arithmetic on the values at `base + index * scale + off` and at `base3 + i * scale3 + off3`
    /// for the 32-bit `i` at `base2 + index * scale2 + off2`.
    Fg {
        dst: S, c: S, base: S, index: S, base2: S, base3: S,
        scale: i32, off: i32, scale2: i32, off2: i32, scale3: i32, off3: i32,
    }
    /// Arithmetic on `a`, `b` and the value at `from + from_off`, stored at `base + off`.
    Fms { a: S, b: S, from: S, base: S, from_off: i32, off: i32 }
    /// Arithmetic on `a` and the value at `base + index * scale + off`, stored at `to + to_off`.
    Fxs { a: S, base: S, index: S, to: S, scale: i32, off: i32, to_off: i32 }
    /// Destination, source, a factor and an addend.
    Daii { dst: S, a: S, factor: i32, imm: i32 }
    /// A comparison of `x` and `y` that selects `a` or `b`.
    Sel { dst: S, x: S, y: S, a: S, b: S }
    /// A comparison of `x` and an immediate that selects `a` or `b`.
    Seli { dst: S, x: S, a: S, b: S, imm: i32 }
    /// Destination and four sources.
    Quad { dst: S, a: S, b: S, c: S, d: S }
    /// Address `base + off` and a number of bytes.
    Memn { reg: S, base: S, off: i32, bytes: u32 }
    /// Function entry: bytes of the frame, number of constants, their values and slots.
    Enter { count: u16, pool: usize, slots: usize }
    /// An unconditional branch.
    Br { target: i32 }
    /// A move and a branch.
    DaBr { dst: S, a: S, target: i32 }
    /// A branch on one slot.
    Bra { a: S, then: i32, els: i32 }
    /// A branch on two slots.
    Brab { a: S, b: S, then: i32, els: i32 }
    /// A branch on a slot and an immediate.
    Brai { a: S, imm: i32, then: i32, els: i32 }
    /// `dst = a + step`, then a branch comparing `dst` with `b`.
    Brstep { dst: S, a: S, b: S, step: i32, then: i32, els: i32 }
    /// `dst = a + step`, then a branch comparing `dst` with `imm`.
    Brstepi { dst: S, a: S, step: i32, imm: i32, then: i32, els: i32 }
    /// `dst = a + s`, then a branch comparing `dst` with `b`.
    Brwalk { dst: S, a: S, s: S, b: S, then: i32, els: i32 }
    /// `dst = a + s`, then a branch comparing `dst` with `imm`.
    Brwalki { dst: S, a: S, s: S, imm: i32, then: i32, els: i32 }
    /// `dst = a + step`, then a branch comparing `x` with `y`.
    Brinc { dst: S, a: S, x: S, y: S, step: i32, then: i32, els: i32 }
    /// `dst = a + step`, then a branch comparing `x` with `imm`.
    Brinci { dst: S, a: S, x: S, step: i32, imm: i32, then: i32, els: i32 }
    /// A switch: `n` entries follow.
    Switch { a: S, n: u32, default: i32, low: u64 }
    /// A return of `n` words.
    Ret { a: S, n: u16 }
    /// A call of a guest function: `n` argument words follow; `words` results expected.
    Call { dst: S, words: u16, n: u16, func: usize }
    /// A call of a guest function with the argument `a + imm`; `words` results expected.
    Call1 { dst: S, words: u16, a: S, func: usize, imm: i32 }
    /// A call through a pointer: `n` argument words follow, then the site's data.
    CallPtr { dst: S, words: u16, n: u16, target: S, site: usize }
    /// A call of a native function with integer arguments: `n` slots follow; the result is masked.
    Native { dst: S, n: u16, target: usize, mask: u64 }
    /// A call with words in registers: `n` slots follow, for six general and eight vector
    /// registers; these are used if `floats` is not 0. `result` is a `ResultRegisters`, whose first
    /// word is masked.
    InRegisters {
        dst: S, words: u16, n: u16, floats: u16, result: u16, target: usize, mask: u64,
    }
    /// A call of a native function of one or two floating-point arguments.
    NativeF { dst: S, a: S, b: S, target: usize }
    /// A call whose data is kept with the lowered function.
    Site { dst: S, n: u16, site: usize }
    /// An allocation in the frame.
    Alloca { dst: S, count: S, size: u32, align: u32 }
    /// An allocation in a function whose guard is at `off`.
    AllocaGuarded { dst: S, count: S, size: u32, align: u32, off: i32 }
    /// The guard at `off`; `fail` is called if it was overwritten.
    Guard { a: S, off: i32, fail: usize }
    /// An atomic read-modify-write.
    Rmw { dst: S, ptr: S, value: S }
    /// A compare-and-exchange: `{old, success}` at `dst`, with the flag at byte `flag`.
    Cas { dst: S, ptr: S, expected: S, new: S, flag: u16 }
    /// A shuffle of `n` lanes: sources follow as u32 lane numbers from the frame's start.
    Shuffle { dst: S, n: u16 }
    /// Copies `bytes` bytes between frame positions given in bytes.
    Bytes { to: u32, from: u32, bytes: u32 }
    /// An access to a lane at a variable index.
    Lane { dst: S, a: S, b: S, index: S, size: u16, n: u16, words: u16 }
    /// The thread's copy of the variable at `off` of its image's block.
    Tls { dst: S, off: u32, serial: u64, image: usize }
    /// A number to add to the counter.
    Count { n: u64 }
    /// A number to take from the thread's share of the fuel in `tank`.
    Charge { n: u64, tank: usize }
}

/// Tables by opcode number.
pub struct InstructionSet {
    /// The handlers.
    pub handlers: &'static [Handler],
    /// The descriptions.
    pub info: &'static [Info],
}

macro_rules! isa {
    ($($shape:ident $effect:literal : $($name:ident)+ ;)*) => {
        #[derive(Clone, Copy)]
        #[repr(u16)]
        #[expect(non_camel_case_types, reason = "named as the handlers are")]
        enum OpcodeNumber { $($($name),+),* }

        /// The codes, by name, typed with the shape of their operands.
        #[expect(non_upper_case_globals, reason = "named as the handlers are")]
        pub mod op {
            use super::*;
            $($(
                #[doc = $effect]
                pub const $name: Opcode<$shape> =
                    Opcode { number: OpcodeNumber::$name as u16, shape: PhantomData };
            )+)*
        }

        /// The instructions. The process has one interpreter; bytecode and machine code hold the
        /// handlers' addresses.
        pub static INSTRUCTIONS: InstructionSet = InstructionSet {
            handlers: &[$($(exec::$name),+),*],
            info: &[$($(Info {
                name: stringify!($name),
                effect: $effect,
                bytes: size_of::<Enc<$shape>>(),
                fields: show::<$shape>,
            }),+),*],
        };
    };
}

isa! {
    // Control.
    Enter "claims the frame, copies the constants": enter;
    Enter "claims the frame": enter0;
    Br "goes to target": jump;
    DaBr "dst = a; goes to target": mov_jump;
    Bra "branches on bit 0 of a": br_if;
    Brab "branches on a comparison of two slots":
        br_eq br_eq32 br_ult br_ult32 br_ule br_ule32 br_slt8 br_slt16 br_slt32 br_slt64 br_sle8
        br_sle16 br_sle32 br_sle64
        br_foeq32 br_folt32 br_fole32 br_fone32 br_ford32
        br_foeq64 br_folt64 br_fole64 br_fone64 br_ford64;
    Brai "branches on a comparison with an immediate":
        br_eqi br_eqi32 br_ulti br_ulti32 br_slti32 br_slti64;
    Brai "branches on whether a & imm is not 0": br_test;
    Brstep "dst = a + step, then branches on a comparison of dst with b":
        step_eq32 step_eq64 step_slt32 step_slt64 step_ult32 step_ult64;
    Brstepi "dst = a + step, then branches on a comparison of dst with imm":
        step_eqi32 step_eqi64 step_slti32 step_slti64 step_ulti32 step_ulti64;
    Brwalk "dst = a + s, then branches on a comparison of dst with b":
        walk_eq32 walk_eq64 walk_slt32 walk_slt64 walk_ult32 walk_ult64;
    Brwalki "dst = a + s, then branches on a comparison of dst with imm":
        walk_eqi32 walk_eqi64 walk_slti32 walk_slti64 walk_ulti32 walk_ulti64;
    Brinc "dst = a + step (64 bits), then branches on a comparison of x with y":
        inc_br_eq inc_br_eq32 inc_br_slt32 inc_br_slt64 inc_br_ult;
    Brinci "dst = a + step (64 bits), then branches on a comparison of x with imm":
        inc_br_eqi inc_br_eqi32 inc_br_slti32 inc_br_slti64 inc_br_ulti;
    Switch "branches to the entry numbered a - low, or to default": switch_table;
    Switch "branches to the entry whose key is a (sorted keys), or to default": switch_search;
    A "branches to the block whose address is in a": indirect;
    Nil "returns nothing": ret0;
    A "returns one word": ret1;
    Ret "returns n words": retn;
    Nil "ends the run of the interpreter": exit;
    Call "calls a guest function": call;
    Call "calls a guest function from a frame that allocates nothing; no arguments": call0;
    Call1 "calls a guest function from a frame that allocates nothing; the argument is a + imm":
        call1;
    Call1 "calls a guest function; the argument is a + imm": call1_far;
    Call "calls a guest function from a frame that allocates nothing; at most 4 argument words":
        call4;
    Call "calls a guest function in place of the current frame (tail call)": tail_call;
    CallPtr "calls through a pointer": call_ptr;
    CallPtr "calls through a pointer in place of the current frame (tail call)": tail_call_ptr;
    Native "calls a native function with integer arguments": native;
    InRegisters "calls a native function with its arguments in registers": native_registers;
    InRegisters "calls compiled code with the frame's first slots, and returns": compiled_registers;
    NativeF "calls a native f(double)": native_d;
    NativeF "calls a native f(double, double)": native_dd;
    NativeF "calls a native f(float)": native_f;
    NativeF "calls a native f(float, float)": native_ff;
    Site "calls a native function by its call plan": native_plan;
    Site "calls a compiled thunk": thunk;
    Dabn "saves the position for longjmp in [a], and the signal mask if n and b": setjmp;
    Ab "jumps to the position that setjmp saved": longjmp;
    A "continues unwinding": resume;
    A "starts a variable argument list": va_start;
    Da "the next integer or pointer of a variable argument list": va_arg_int;
    Da "the next double of a variable argument list": va_arg_double;
    Nil "unreachable code": unreachable;
    Nil "__builtin_trap": trap;
    Nil "__builtin_debugtrap": debugtrap;
    Site "reports an unsupported operation": unsupported;
    Count "counts instructions (--stats)": count;
    Charge "takes n instructions from the program's fuel": charge;

    // Moves and constants.
    Da "dst = a": mov;
    Da "dst = a, two words": mov128;
    Dan "dst = a, n words": mov_words;
    Di "dst = imm": const_word;
    Doff "dst = address of the frame + off": lea;
    Bytes "copies bytes inside the frame": mov_bytes;
    Bytes "slot `to` = the lane at byte `from` of the frame": load_lane8 load_lane16 load_lane32;
    Dan "dst = 0, n words": zero_words;
    Dam "dst = a & mask": mask;
    Dai "dst = a sign-extended from imm bits": sext_bits;
    Dabc "dst = a ? b : c": select;
    Sel "dst = x pred y ? a : b": sel_eq sel_ult sel_slt32 sel_slt64 sel_folt64 sel_fole64;
    Seli "dst = x pred imm ? a : b": sel_eqi sel_ulti sel_slti32 sel_slti64;
    Seli "dst = x & imm ? a : b": sel_test;
    Dabcn "dst = a ? b : c, n words": select_words;

    // Integers. Slots are zero-extended, so widths matter only where high bits do.
    Dab "dst = a + b": add8 add16 add32 add64;
    Dab "dst = a - b": sub8 sub16 sub32 sub64;
    Dab "dst = a * b": mul8 mul16 mul32 mul64;
    Dab "dst = a / b": udiv8 udiv16 udiv32 udiv64 sdiv8 sdiv16 sdiv32 sdiv64;
    Dab "dst = a % b": urem8 urem16 urem32 urem64 srem8 srem16 srem32 srem64;
    Dab "dst = a << b": shl8 shl16 shl32 shl64;
    Dab "dst = a >> b": lshr8 lshr16 lshr32 lshr64 ashr8 ashr16 ashr32 ashr64;
    Dab "dst = a op b": and or xor;
    Dai "dst = a + imm": addi32 addi64;
    Dai "dst = imm - a": rsubi32 rsubi64;
    Dai "dst = a * imm": muli32 muli64;
    Daii "dst = a * factor + imm": affine32 affine64;
    Dai "dst = a op imm": andi ori xori;
    Dai "dst = a shifted by imm": shli32 shli64 lshri32 lshri64 ashri32 ashri64;
    Dab "dst = a pred b":
        eq ne ult ule slt8 slt16 slt32 slt64 sle8 sle16 sle32 sle64;
    Dai "dst = a pred imm": eqi nei ulti ugti slti32 slti64 sgti32 sgti64;
    Da "dst = a, sign-extended":
        sext8_16 sext8_32 sext8_64 sext16_32 sext16_64 sext32_64;
    Dab "dst = min or max of a and b":
        smin8 smin16 smin32 smin64 smax8 smax16 smax32 smax64 umin umax;
    Da "dst = |a|": abs8 abs16 abs32 abs64;
    Da "dst = number of ones": ctpop;
    Da "dst = leading zeros": ctlz8 ctlz16 ctlz32 ctlz64;
    Da "dst = trailing zeros": cttz8 cttz16 cttz32 cttz64;
    Da "dst = bytes of a reversed": bswap16 bswap32 bswap64;
    Da "dst = bits of a reversed": bitreverse8 bitreverse16 bitreverse32 bitreverse64;
    Dabc "dst = high part of (a:b) << c": fshl8 fshl16 fshl32 fshl64;
    Dabc "dst = low part of (a:b) >> c": fshr8 fshr16 fshr32 fshr64;
    Dab "dst = a op b, saturating":
        sadd_sat8 sadd_sat16 sadd_sat32 sadd_sat64 uadd_sat8 uadd_sat16 uadd_sat32 uadd_sat64
        ssub_sat8 ssub_sat16 ssub_sat32 ssub_sat64 usub_sat8 usub_sat16 usub_sat32 usub_sat64;
    Dab "dst = {a op b, overflow}":
        sadd_ov8 sadd_ov16 sadd_ov32 sadd_ov64 uadd_ov8 uadd_ov16 uadd_ov32 uadd_ov64
        ssub_ov8 ssub_ov16 ssub_ov32 ssub_ov64 usub_ov8 usub_ov16 usub_ov32 usub_ov64
        smul_ov8 smul_ov16 smul_ov32 smul_ov64 umul_ov8 umul_ov16 umul_ov32 umul_ov64;

    // 128-bit integers (two slots).
    Dab "dst = a op b, 128 bits": add128 sub128 mul128 and128 or128 xor128 shl128 lshr128 ashr128;
    Dab "dst = a op b, 128 bits": udiv128 sdiv128 urem128 srem128;
    Dab "dst = a pred b, 128 bits": eq128 ne128 ult128 ule128 slt128 sle128;
    Da "dst = a extended to 128 bits": zext128 sext128;

    // Floating point.
    Dab "dst = a op b, float": fadd32 fsub32 fmul32 fdiv32 frem32;
    Dab "dst = a op b, double": fadd64 fsub64 fmul64 fdiv64 frem64;
    Da "dst = op a, float":
        fneg32 fabs32 sqrt32 floor32 ceil32 ftrunc32 rint32 round32 roundeven32;
    Da "dst = op a, double":
        fneg64 fabs64 sqrt64 floor64 ceil64 ftrunc64 rint64 round64 roundeven64;
    Dab "dst = op(a, b)":
        copysign32 copysign64 fmin32 fmin64 fmax32 fmax64 powi32 powi64;
    Dabc "dst = a * b + c, rounded twice": muladd32 muladd64;
    Dabc "dst = a * b - c, rounded twice": mulsub64;
    Dabc "dst = c - a * b, rounded twice": negmuladd64;
    Dab "dst = -a * b": negmul64;
    Fm "dst = c - a * [base + off]": negmuladd64_m;
    Fcx "dst = c - a * [base + index * scale + off]": negmuladd64_x;
    Dabc "dst = a * b + c, rounded once": fma32 fma64;
    Dab "dst = a pred b, float":
        foeq32 folt32 fole32 fone32 ford32 fune32 fuge32 fugt32 fueq32 funo32;
    Dab "dst = a pred b, double":
        foeq64 folt64 fole64 fone64 ford64 fune64 fuge64 fugt64 fueq64 funo64;
    Da "dst = a converted":
        f32_f64 f64_f32 f64_i8 f64_i16 f64_i32 f64_i64 f64_u8 f64_u16 f64_u32 f64_u64
        f32_i8 f32_i16 f32_i32 f32_i64 f32_u8 f32_u16 f32_u32 f32_u64
        i8_f64 i16_f64 i32_f64 i64_f64 u32_f64 u64_f64
        i8_f32 i16_f32 i32_f32 i64_f32 u32_f32 u64_f32;

    // Memory.
    Mem "reg = [base + off]": load8 load16 load32 load64 load128;
    Memx "reg = [base + index * scale + off]": load8x load16x load32x load64x load128x;
    Memx "reg = [base + sext32(index) * scale + off]": load8s load16s load32s load64s load128s;
    Memn "reg = [base + off], some bytes": load_bytes;
    Mem "[base + off] = reg": store8 store16 store32 store64 store128;
    Memx "[base + index * scale + off] = reg": store8x store16x store32x store64x store128x;
    Memx "[base + sext32(index) * scale + off] = reg":
        store8s store16s store32s store64s store128s;
    Memn "[base + off] = reg, some bytes": store_bytes;
    Mem "reg = [frame + off]": load8f load16f load32f load64f load128f;
    Mem "[frame + off] = reg": store8f store16f store32f store64f store128f;
    Memx "reg = base + index * scale + off": gep;
    Memx "reg = base + sext32(index) * scale + off": gep_s;
    Fm "dst = a op [base + off]; r: operands swapped":
        fadd64_m fsub64_m frsub64_m fmul64_m v2fadd_m v2fsub_m v2frsub_m v2fmul_m;
    Fx "dst = a op [base + index * scale + off]; r: operands swapped":
        fadd64_x fsub64_x frsub64_x fmul64_x v2fadd_x v2fsub_x v2frsub_x v2fmul_x;
    Fm "dst = a * [base + off] + c": muladd64_m v2muladd_m;
    Fcx "dst = a * [base + index * scale + off] + c": muladd64_x v2muladd_x;
    Fcx "dst = a * [base + sext32(index) * scale + off] + c": muladd64_s;
    Fxx "dst = [base + index * scale + off] * [base2 + index2 * scale2 + off2] + c": muladd64_xx;
    Fxx "dst = [base + index * scale + off] op [base2 + index2 * scale2 + off2]":
        fadd64_xx fsub64_xx fmul64_xx;
    Fg "dst = [base + index * scale + off] * [base3 + i * scale3 + off3] + c for the signed 32-bit \
        i = [base2 + index * scale2 + off2]":
        muladd64_gather;
    // A loop of one instruction: the instruction and the step after it, which adds to its index and
    // branches back (`exec/repeat.rs`). The baseline tier compiles it as the form without `_loop`,
    // followed by the step.
    Memx "[base + index * scale + off] = reg, repeated with the step that follows":
        store8x_loop store16x_loop store32x_loop store64x_loop;
    Fx "dst = a + [base + index * scale + off], repeated with the step that follows":
        fadd64_x_loop;
    Fcx "dst = a * [base + index * scale + off] + c, repeated with the step that follows":
        muladd64_x_loop;
    Fxx "dst = [base + index * scale + off] * [base2 + index2 * scale2 + off2] + c, repeated with \
        the step that follows":
        muladd64_xx_loop;
    Fxx "[base2 + index2 * scale2 + off2] += c * [base + index * scale + off], repeated with the \
        step that follows":
        macc64_xx_loop;
    Fg "as muladd64_gather, repeated with the step that follows": muladd64_gather_loop;
    Fm "dst = a * c + [base + off]": muladd64_am v2muladd_am;
    Fcx "dst = a * c + [base + index * scale + off]": muladd64_ax v2muladd_ax;
    Fm "dst = a in both lanes * [base + off] + c": v2scaleadd_m;
    Fm "[base + off] = a op dst": fadd64_st fsub64_st fmul64_st;
    Fcx "[base + index * scale + off] = a op dst": fadd64_stx fsub64_stx fmul64_stx;
    Fm "[base + off] = a * dst + c": muladd64_st;
    Fcx "[base + index * scale + off] = a * dst + c": muladd64_stx;
    Fms "[base + off] = a * b + [from + from_off]": muladd64_ls;
    Fms "[base + off] += a * [from + from_off]": macc64_m;
    Fxs "[to + to_off] += a * [base + index * scale + off]": macc64_x;
    Fxx "[base2 + index2 * scale2 + off2] += c * [base + index * scale + off]": macc64_xx;
    Fms "a = {[from + from_off], [base + off]}": pair64_m;
    Alloca "dst = a new block of count * size bytes": alloca;
    D "dst = the stack pointer": stack_save;
    A "the stack pointer = a": stack_restore;
    AllocaGuarded "dst = a new block of count * size bytes, with a guard above it": alloca_guarded;
    Guard "the stack pointer = a; checks the guards of blocks below": stack_restore_guarded;
    D "dst = the thread's guard": guard_value;
    Guard "puts the thread's guard into the frame": guard_set;
    Guard "checks the frame's guards": guard_check;
    Abc "copies c bytes from b to a": memcpy memmove;
    Abc "fills c bytes at a with b": memset;
    Memn "copies bytes from base to reg": memcpy_fixed;
    Memn "[base + off] = reg, repeatedly, some bytes (a multiple of 8)": fill_words;
    Tls "dst = address of the thread's copy": tls_address;
    D "dst = the cycle counter": cycle_counter;

    // Atomics.
    Mem "reg = [base + off], acquire": aload8 aload16 aload32 aload64;
    Mem "[base + off] = reg, release": astore8 astore16 astore32 astore64;
    Mem "[base + off] = reg, sequentially consistent": sstore8 sstore16 sstore32 sstore64;
    Rmw "dst = [ptr]; [ptr] = dst op value":
        xchg8 xchg16 xchg32 xchg64 aadd8 aadd16 aadd32 aadd64 asub8 asub16 asub32 asub64
        aand8 aand16 aand32 aand64 anand8 anand16 anand32 anand64 aor8 aor16 aor32 aor64
        axor8 axor16 axor32 axor64 amax8 amax16 amax32 amax64 amin8 amin16 amin32 amin64
        aumax8 aumax16 aumax32 aumax64 aumin8 aumin16 aumin32 aumin64
        afadd32 afadd64 afsub32 afsub64 afmax32 afmax64 afmin32 afmin64;
    Cas "dst = {[ptr], swapped}": cas8 cas16 cas32 cas64;
    Nil "full fence": fence;

    // Vectors: n words (elementwise) or n lanes.
    Dabn "dst = a op b, n words of lanes":
        vadd8 vadd16 vadd32 vadd64 vsub8 vsub16 vsub32 vsub64 vmul8 vmul16 vmul32 vmul64
        vfadd32 vfadd64 vfsub32 vfsub64 vfmul32 vfmul64 vfdiv32 vfdiv64 vand vor vxor
        vshl8 vshl16 vshl32 vshl64 vlshr8 vlshr16 vlshr32 vlshr64 vashr8 vashr16 vashr32 vashr64
        vsmin8 vsmin16 vsmin32 vsmin64 vsmax8 vsmax16 vsmax32 vsmax64
        vumin8 vumin16 vumin32 vumin64 vumax8 vumax16 vumax32 vumax64;
    Dab "dst = a op b, two doubles": v2fadd v2fsub v2fmul v2fdiv v2add64;
    Dab "dst = a op b, four 32-bit lanes": v4add32;
    Dabc "dst = a * b + c, two doubles, rounded twice": v2muladd;
    Dab "dst = a in both lanes * b, two doubles": v2scale;
    Dabc "dst = a in both lanes * b + c, two doubles": v2scaleadd;
    Quad "dst = {a, b, c, d}": quad64;
    Dabcn "dst = a * b + c, n words of lanes, rounded twice": vmuladd32 vmuladd64;
    Dabcn "dst = a * b + c, n words of lanes, rounded once": vfma32 vfma64;
    Dan "dst = -a, n words": vfneg32 vfneg64;
    Dan "dst = |a|, n words": vfabs32 vfabs64;
    Dan "dst = sqrt(a), n words": vsqrt32 vsqrt64;
    Dan "dst = a rounded to an integer, n words":
        vfloor32 vfloor64 vceil32 vceil64 vftrunc32 vftrunc64 vrint32 vrint64;
    Dan "dst = number of ones in each lane, n words": vctpop8 vctpop16 vctpop32 vctpop64;
    Dan "dst = leading or trailing zeros of each lane, n words": vctlz32 vctlz64 vcttz32 vcttz64;
    Dan "dst = bytes of each lane reversed, n words": vbswap16 vbswap32 vbswap64;
    Dan "dst = |a| of integers, n words": vabs8 vabs16 vabs32 vabs64;
    Dabn "dst = a pred b, n lanes":
        veq8 veq16 veq32 veq64 vne8 vne16 vne32 vne64 vult8 vult16 vult32 vult64
        vule8 vule16 vule32 vule64 vslt8 vslt16 vslt32 vslt64 vsle8 vsle16 vsle32 vsle64
        vfoeq32 vfolt32 vfole32 vfone32 vford32 vfune32 vfuge32 vfugt32 vfueq32 vfuno32
        vfoeq64 vfolt64 vfole64 vfone64 vford64 vfune64 vfuge64 vfugt64 vfueq64 vfuno64;
    Dabn "dst = a / b, n lanes": vudiv8 vudiv16 vudiv32 vudiv64 vsdiv8 vsdiv16 vsdiv32 vsdiv64;
    Dabn "dst = a % b, n lanes": vurem8 vurem16 vurem32 vurem64 vsrem8 vsrem16 vsrem32 vsrem64;
    Dabcn "dst = a ? b : c, n lanes": vselect8 vselect16 vselect32 vselect64;
    Dan "dst = a converted, n lanes":
        vzext1_8 vzext1_16 vzext1_32 vzext1_64 vsext1_8 vsext1_16 vsext1_32 vsext1_64
        vzext8_16 vzext8_32 vzext8_64 vzext16_32 vzext16_64 vzext32_64
        vsext8_16 vsext8_32 vsext8_64 vsext16_32 vsext16_64 vsext32_64
        vtrunc16_8 vtrunc32_8 vtrunc64_8 vtrunc32_16 vtrunc64_16 vtrunc64_32
        vi32_f32 vi32_f64 vi64_f32 vi64_f64 vu32_f32 vu32_f64 vu64_f64
        vf32_i32 vf64_i32 vf32_i64 vf64_i64 vf32_f64 vf64_f32;
    Shuffle "dst = lanes": shuffle8 shuffle16 shuffle32 shuffle64;
    Dab "dst = {a, b}": pair64;
    Lane "dst = a[index]": extract_var;
    Lane "dst = a with lane index replaced by b": insert_var;
    Dan "dst = sum or combination of n lanes":
        red_add8 red_add16 red_add32 red_add64 red_mul32 red_mul64 red_and8 red_and16 red_and32
        red_and64
        red_or8 red_or16 red_or32 red_or64 red_xor8 red_xor16 red_xor32 red_xor64
        red_smax8 red_smax16 red_smax32 red_smax64 red_smin8 red_smin16 red_smin32 red_smin64
        red_umax8 red_umax16 red_umax32 red_umax64 red_umin8 red_umin16 red_umin32 red_umin64
        red_fmax32 red_fmax64 red_fmin32 red_fmin64;
    Dabn "dst = a + lanes of b in order": red_fadd32 red_fadd64 red_fmul32 red_fmul64;
    Dabn "dst = a + lanes of b, halves first":
        red_fadd_halves32 red_fadd_halves64 red_fmul_halves32 red_fmul_halves64;
}
