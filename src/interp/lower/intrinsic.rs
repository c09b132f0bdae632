//! LLVM intrinsics: those with handlers, those without effect here, and the others as thunks.
//!
//! Vector intrinsics with handlers are in `vector`.

use super::Lowering;
use super::inst::width;
use crate::isa::{self, Da, Dab, Dabc, Opcode, op};
use crate::thunk::metadata_string;
use ompvm_ir::{Call, FloatKind, JUMP_BUFFER, JUMP_BUFFER_WORD, Operand, Type, TypeId};
use ompvm_memory::trampoline;
#[cfg(target_arch = "x86_64")]
use ompvm_support::fp_env;

/// The scalar type of an intrinsic's operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scalar {
    /// An integer, by width index among 8, 16, 32, 64.
    Int(usize),
    Float,
    Double,
    Other,
}

impl<'a> Lowering<'a> {
    fn scalar(&self, ty: TypeId) -> Scalar {
        match self.ty(ty) {
            Type::Int(bits) => width(*bits).map_or(Scalar::Other, Scalar::Int),
            Type::Float(FloatKind::Float) => Scalar::Float,
            Type::Float(FloatKind::Double) => Scalar::Double,
            _ => Scalar::Other,
        }
    }

    pub(super) fn intrinsic(&mut self, i: usize, name: &str, call: &'a Call, dst: u16) {
        let ret = self.body.insts[i].ty;
        if !self.known_intrinsic(&name[5..], call, dst, ret) {
            self.thunk(i, dst);
        }
    }

    fn copy(&mut self, dst: u16, a: Operand) {
        let n = self.words(self.type_of(a));
        let a = self.operand(a);
        self.mov(dst, a, n);
    }

    /// Emits an intrinsic by handlers. Returns false if none exist for it.
    fn known_intrinsic(&mut self, name: &str, call: &'a Call, dst: u16, ret: TypeId) -> bool {
        let args = &call.args;
        let base = name.split('.').next().unwrap_or(name);
        match base {
            "dbg" | "lifetime" | "assume" | "donothing" | "prefetch" | "sideeffect"
            | "pseudoprobe" | "va_end" => {}
            "var" if name.starts_with("var.annotation") => {}
            "invariant" if name.starts_with("invariant.end") => {}
            // `invariant.start` returns a pointer that only `invariant.end` takes.
            "invariant" => self.number(dst, 0),
            "experimental" => {
                if name.starts_with("experimental.noalias.scope.decl") {
                    return true;
                }
                return match name.strip_prefix("experimental.constrained.") {
                    Some(name) => self.constrained(name, args, dst, ret),
                    None => self.computation(name, base, args, dst, ret),
                };
            }
            "expect" | "launder" | "strip" | "ssa" => self.copy(dst, args[0]),
            "ptr" if name.starts_with("ptr.annotation") => self.copy(dst, args[0]),
            "ptrmask" => {
                let (a, b) = (self.operand(args[0]), self.operand(args[1]));
                self.emit(op::and, Dab { dst, a, b });
            }
            "threadlocal" => match self.thread_local(args[0]) {
                Some((global, off)) => self.tls(dst, global, off),
                None => self.copy(dst, args[0]),
            },
            "memcpy" | "memmove" | "memset" if !name.contains("element") => {
                self.block_operation(base, args)
            }
            "load" if name.starts_with("load.relative") => self.load_relative(args, dst),
            "stacksave" => {
                self.emit(op::stack_save, isa::D { dst });
            }
            "stackrestore" => self.stack_restore(args[0]),
            "stackguard" => {
                self.emit(op::guard_value, isa::D { dst });
            }
            "stackprotector" => {
                let (reg, base) = (self.operand(args[0]), self.operand(args[1]));
                self.emit(op::store64, isa::Mem { reg, base, off: 0 });
            }
            "frameaddress" | "returnaddress" | "addressofreturnaddress" => {
                self.frame_address(base, args, dst);
            }
            "read_register" | "read_volatile_register" => self.read_register(args[0], dst, ret),
            "trap" | "ubsantrap" => {
                self.emit(op::trap, isa::Nil);
            }
            "debugtrap" => {
                self.emit(op::debugtrap, isa::Nil);
            }
            "readcyclecounter" => {
                self.emit(op::cycle_counter, isa::D { dst });
            }
            "is" if name.starts_with("is.constant") => {
                self.number(dst, i64::from(args[0].unpack().is_err()));
            }
            "objectsize" => self.object_size(args, dst, ret),
            "va_start" => {
                let a = self.operand(args[0]);
                self.emit(op::va_start, isa::A { a });
            }
            "va_copy" => self.va_copy(args),
            "eh" if name.starts_with("eh.typeid.for") => {
                let Err(info) = args[0].unpack() else {
                    return false;
                };
                let number = i64::from(self.type_number(info));
                self.number(dst, number);
            }
            "vector" if let Some(what) = name.strip_prefix("vector.reduce.") => {
                return self.reduce(what, args, dst, call.fast);
            }
            "eh" if name == "eh.sjlj.setjmp" => self.sjlj_set(args[0], dst),
            "eh" if name == "eh.sjlj.longjmp" => self.sjlj_long(args[0]),
            "init" | "adjust" | "get" | "x86" if let Some(target) = native_helper(name) => {
                self.native_integers(target, args, dst);
            }
            _ => return self.computation(name, base, args, dst, ret),
        }
        true
    }

    /// Emits an intrinsic that computes its result from its arguments. Returns false if no handlers
    /// exist for it.
    fn computation(
        &mut self,
        name: &str,
        base: &str,
        args: &[Operand],
        dst: u16,
        ret: TypeId,
    ) -> bool {
        if matches!(self.ty(ret), Type::Vector { .. }) {
            return self.vector_intrinsic(base, args, dst, ret);
        }
        self.arithmetic(name, base, args, dst, ret)
    }

    /// Emits `dst = imm`.
    fn number(&mut self, dst: u16, imm: i64) {
        self.emit(op::const_word, isa::Di { dst, imm });
    }

    /// Adds to an address the 32-bit distance that a table holds.
    fn load_relative(&mut self, args: &[Operand], dst: u16) {
        let (a, b) = (self.operand(args[0]), self.operand(args[1]));
        let (p, rel) = (self.temp(1), self.temp(1));
        self.emit(op::add64, Dab { dst: p, a, b });
        self.emit(
            op::load32,
            isa::Mem {
                reg: rel,
                base: p,
                off: 0,
            },
        );
        self.emit(op::sext32_64, Da { dst: rel, a: rel });
        self.emit(op::add64, Dab { dst, a, b: rel });
    }

    fn stack_restore(&mut self, to: Operand) {
        let a = self.operand(to);
        match self.guard {
            Some(_) => self.guard_op(op::stack_restore_guarded, a),
            None => {
                self.emit(op::stack_restore, isa::A { a });
            }
        }
    }

    /// Returns addresses in the interpreter's own frame, which are not null and different in each
    /// frame. Those of a caller's frame are null.
    fn frame_address(&mut self, base: &str, args: &[Operand], dst: u16) {
        if base != "addressofreturnaddress" && self.int_const(args[0]) != Some(0) {
            self.number(dst, 0);
            return;
        }
        let off = if base == "frameaddress" { 0 } else { -8 };
        self.emit(op::lea, isa::Doff { dst, off });
        if base == "returnaddress" {
            let (reg, base) = (dst, dst);
            self.emit(op::load64, isa::Mem { reg, base, off: 0 });
        }
    }

    /// Answers that an object's size is unknown: with the smallest or the largest number, as the
    /// second argument asks.
    fn object_size(&mut self, args: &[Operand], dst: u16, ret: TypeId) {
        let smallest = self.int_const(args[1]).unwrap_or(0) != 0;
        let unknown = match self.ty(ret) {
            _ if smallest => 0,
            Type::Int(32) => i64::from(u32::MAX),
            _ => -1,
        };
        self.number(dst, unknown);
    }

    fn va_copy(&mut self, args: &[Operand]) {
        let (reg, base) = (self.operand(args[0]), self.operand(args[1]));
        self.emit(
            op::memcpy_fixed,
            isa::Memn {
                reg,
                base,
                off: 0,
                bytes: 24,
            },
        );
    }

    /// Reads one of the stack's registers: the end of the guest's stack, or the frame.
    fn read_register(&mut self, name: Operand, dst: u16, ret: TypeId) {
        let name = metadata_string(self.m, name).unwrap_or_default();
        match &*name {
            "rsp" | "esp" => self.emit(op::stack_save, isa::D { dst }),
            _ => self.emit(op::lea, isa::Doff { dst, off: 0 }),
        };
        if matches!(self.ty(ret), Type::Int(32)) {
            let b = self.word(u64::from(u32::MAX));
            self.emit(op::and, Dab { dst, a: dst, b });
        }
    }

    /// Calls a function of the interpreter that takes words.
    fn native_integers(&mut self, target: usize, args: &[Operand], dst: u16) {
        let slots: Vec<u16> = args.iter().map(|&a| self.operand(a)).collect();
        let n = slots.len() as u16;
        let mask = u64::MAX;
        let ops = isa::Native {
            dst,
            n,
            target,
            mask,
        };
        self.emit(op::native, ops);
        self.tail(&slots);
    }

    /// Fills a buffer of five words (`__builtin_setjmp`): stores in it the address of a jump buffer
    /// in this frame, which lives as long as a jump is allowed, and fills that jump buffer.
    fn sjlj_set(&mut self, buffer: Operand, dst: u16) {
        let off = self.alloca_bytes.next_multiple_of(16);
        self.alloca_bytes = off + JUMP_BUFFER;
        let place = self.temp(1);
        self.put_address(super::address::Addr::Frame(off as i32), place);
        let base = self.operand(buffer);
        let off = JUMP_BUFFER_WORD;
        let reg = place;
        self.emit(op::store64, isa::Mem { reg, base, off });
        let (a, b) = (place, place);
        self.emit(op::setjmp, isa::Dabn { dst, a, b, n: 0 });
    }

    /// Jumps to where `buffer` was filled; `__builtin_setjmp` returns 1 there.
    fn sjlj_long(&mut self, buffer: Operand) {
        let base = self.operand(buffer);
        let a = self.temp(1);
        let off = JUMP_BUFFER_WORD;
        self.emit(op::load64, isa::Mem { reg: a, base, off });
        let b = self.word(1);
        self.emit(op::longjmp, isa::Ab { a, b });
    }

    /// Lowers constrained intrinsics. Handlers compute at run time under the rounding mode of that
    /// moment, so they implement the constrained forms unchanged.
    fn constrained(&mut self, name: &str, args: &[Operand], dst: u16, ret: TypeId) -> bool {
        use ompvm_ir::{BinOp, CastOp};
        let base = name.split('.').next().unwrap_or(name);
        let binary = match base {
            "fadd" => Some(BinOp::FAdd),
            "fsub" => Some(BinOp::FSub),
            "fmul" => Some(BinOp::FMul),
            "fdiv" => Some(BinOp::FDiv),
            "frem" => Some(BinOp::FRem),
            _ => None,
        };
        if let Some(o) = binary {
            return match self.ty(ret) {
                Type::Float(kind) => self.float_binary(o, *kind, dst, args[0], args[1]),
                Type::Vector { elem, len, .. } => {
                    self.vector_binary(o, *elem, *len, dst, args[0], args[1])
                }
                _ => false,
            };
        }
        let cast = match base {
            "sitofp" => Some(CastOp::SiToFp),
            "uitofp" => Some(CastOp::UiToFp),
            "fptosi" => Some(CastOp::FpToSi),
            "fptoui" => Some(CastOp::FpToUi),
            "fpext" => Some(CastOp::FpExt),
            "fptrunc" => Some(CastOp::FpTrunc),
            _ => None,
        };
        if let Some(o) = cast {
            let from = self.type_of(args[0]);
            return if matches!(self.ty(ret), Type::Vector { .. }) {
                self.vector_cast(o, from, ret, dst, args[0])
            } else {
                self.cast(o, from, ret, dst, args[0])
            };
        }
        if matches!(base, "fcmp" | "fcmps") {
            // The predicate is metadata, which the module does not keep.
            return false;
        }
        if matches!(self.ty(ret), Type::Vector { .. }) {
            return self.vector_intrinsic(base, args, dst, ret);
        }
        self.arithmetic(name, base, args, dst, ret)
    }

    fn block_operation(&mut self, base: &str, args: &[Operand]) {
        if base != "memset"
            && let Some(bytes) = self.int_const(args[2]).and_then(|n| u32::try_from(n).ok())
            && bytes <= 4096
        {
            if bytes > 0 {
                let (reg, base) = (self.operand(args[0]), self.operand(args[1]));
                self.emit(
                    op::memcpy_fixed,
                    isa::Memn {
                        reg,
                        base,
                        off: 0,
                        bytes,
                    },
                );
            }
            return;
        }
        if base == "memset"
            && let (Some(byte), Some(bytes)) = (self.int_const(args[1]), self.int_const(args[2]))
            && (8..=128).contains(&bytes)
            && bytes % 8 == 0
        {
            let addr = self.address(args[0]);
            let (base, off) = self.plain_form(addr);
            let reg = self.word(u64::from_ne_bytes([byte as u8; 8]));
            let bytes = bytes as u32;
            self.emit(
                op::fill_words,
                isa::Memn {
                    reg,
                    base,
                    off,
                    bytes,
                },
            );
            return;
        }
        let (a, b, c) = (
            self.operand(args[0]),
            self.operand(args[1]),
            self.operand(args[2]),
        );
        let code = match base {
            "memcpy" => op::memcpy,
            "memmove" => op::memmove,
            _ => op::memset,
        };
        self.emit(code, isa::Abc { a, b, c });
    }

    fn arithmetic(
        &mut self,
        name: &str,
        base: &str,
        args: &[Operand],
        dst: u16,
        ret: TypeId,
    ) -> bool {
        let s = self.scalar(ret);
        let small = matches!(self.ty(ret), Type::Int(1..=64));
        if let Some(code) = unary_handler(base, s, small) {
            self.unary(code, dst, args[0]);
            return true;
        }
        let binary = match base {
            "powi" if !matches!(self.ty(self.type_of(args[1])), Type::Int(32)) => None,
            _ => binary_handler(name, base, s, small),
        };
        let overflow = || {
            let asked = name.contains(".with.overflow");
            asked.then(|| self.overflow(base, args[0])).flatten()
        };
        if let Some(code) = binary.or_else(overflow) {
            let (a, b) = (self.operand(args[0]), self.operand(args[1]));
            self.emit(code, Dab { dst, a, b });
            return true;
        }
        if (base, s) == ("fmuladd", Scalar::Double) {
            self.multiply_add(false, dst, args[0], args[1], args[2]);
            return true;
        }
        if let Some(code) = ternary_handler(base, s) {
            let (a, b, c) = (
                self.operand(args[0]),
                self.operand(args[1]),
                self.operand(args[2]),
            );
            self.emit(code, Dabc { dst, a, b, c });
            return true;
        }
        self.math(base, args, dst, s)
    }

    fn overflow(&self, base: &str, a: Operand) -> Option<Opcode<Dab>> {
        let Scalar::Int(w) = self.scalar(self.type_of(a)) else {
            return None;
        };
        Some(match base {
            "sadd" => [op::sadd_ov8, op::sadd_ov16, op::sadd_ov32, op::sadd_ov64][w],
            "uadd" => [op::uadd_ov8, op::uadd_ov16, op::uadd_ov32, op::uadd_ov64][w],
            "ssub" => [op::ssub_ov8, op::ssub_ov16, op::ssub_ov32, op::ssub_ov64][w],
            "usub" => [op::usub_ov8, op::usub_ov16, op::usub_ov32, op::usub_ov64][w],
            "smul" => [op::smul_ov8, op::smul_ov16, op::smul_ov32, op::smul_ov64][w],
            "umul" => [op::umul_ov8, op::umul_ov16, op::umul_ov32, op::umul_ov64][w],
            _ => return None,
        })
    }

    /// Calls functions of libm that LLVM represents by intrinsics.
    fn math(&mut self, base: &str, args: &[Operand], dst: u16, s: Scalar) -> bool {
        macro_rules! libm {
            ($($intrinsic:literal $d:ident $f:ident $n:literal;)*) => {{
                unsafe extern "C" { $(fn $d(); fn $f();)* }
                match base {
                    $($intrinsic => Some(($d as *const () as usize, $f as *const () as usize, $n)),)*
                    _ => None,
                }
            }};
        }
        let found = libm! {
            "sin" sin sinf 1; "cos" cos cosf 1; "tan" tan tanf 1;
            "asin" asin asinf 1; "acos" acos acosf 1; "atan" atan atanf 1;
            "sinh" sinh sinhf 1; "cosh" cosh coshf 1; "tanh" tanh tanhf 1;
            "exp" exp expf 1; "exp2" exp2 exp2f 1; "exp10" exp10 exp10f 1;
            "log" log logf 1; "log2" log2 log2f 1; "log10" log10 log10f 1;
            "pow" pow powf 2; "atan2" atan2 atan2f 2;
        };
        let Some((d, f, n)) = found else { return false };
        let (target, codes) = match s {
            Scalar::Double => (d, [op::native_d, op::native_dd]),
            Scalar::Float => (f, [op::native_f, op::native_ff]),
            _ => return false,
        };
        let a = self.operand(args[0]);
        let b = if n == 2 { self.operand(args[1]) } else { a };
        self.emit(codes[n - 1], isa::NativeF { dst, a, b, target });
        true
    }
}

/// Returns the function of ompvm that implements an intrinsic.
fn native_helper(name: &str) -> Option<usize> {
    Some(match name {
        "init.trampoline" => trampoline::init as *const () as usize,
        "adjust.trampoline" => trampoline::adjust as *const () as usize,
        // Programs set and read their rounding mode with these; a thunk would start LLVM in each
        // run.
        #[cfg(target_arch = "x86_64")]
        "get.rounding" => fp_env::rounding as *const () as usize,
        #[cfg(target_arch = "x86_64")]
        "x86.sse.stmxcsr" => fp_env::store_to as *const () as usize,
        #[cfg(target_arch = "x86_64")]
        "x86.sse.ldmxcsr" => fp_env::load_from as *const () as usize,
        _ => return None,
    })
}

impl Scalar {
    /// Returns the handler of an integer's width.
    fn int<S: isa::Shape>(self, codes: [Opcode<S>; 4]) -> Option<Opcode<S>> {
        match self {
            Scalar::Int(w) => Some(codes[w]),
            _ => None,
        }
    }

    /// Returns the handler of a float's width.
    fn float<S: isa::Shape>(self, single: Opcode<S>, double: Opcode<S>) -> Option<Opcode<S>> {
        match self {
            Scalar::Float => Some(single),
            Scalar::Double => Some(double),
            _ => None,
        }
    }
}

/// Returns the handler of an intrinsic with one operand. `small` is true if the result is an
/// integer of one word.
fn unary_handler(base: &str, s: Scalar, small: bool) -> Option<Opcode<Da>> {
    match base {
        "sqrt" => s.float(op::sqrt32, op::sqrt64),
        "fabs" => s.float(op::fabs32, op::fabs64),
        "floor" => s.float(op::floor32, op::floor64),
        "ceil" => s.float(op::ceil32, op::ceil64),
        "trunc" => s.float(op::ftrunc32, op::ftrunc64),
        "rint" | "nearbyint" => s.float(op::rint32, op::rint64),
        "round" => s.float(op::round32, op::round64),
        "roundeven" => s.float(op::roundeven32, op::roundeven64),
        "abs" => s.int([op::abs8, op::abs16, op::abs32, op::abs64]),
        "ctpop" if small => Some(op::ctpop),
        "ctlz" => s.int([op::ctlz8, op::ctlz16, op::ctlz32, op::ctlz64]),
        "cttz" => s.int([op::cttz8, op::cttz16, op::cttz32, op::cttz64]),
        "bswap" => match s {
            Scalar::Int(w @ 1..) => Some([op::bswap16, op::bswap32, op::bswap64][w - 1]),
            _ => None,
        },
        "bitreverse" => s.int([
            op::bitreverse8,
            op::bitreverse16,
            op::bitreverse32,
            op::bitreverse64,
        ]),
        _ => None,
    }
}

/// Returns the handler of an intrinsic with two operands. `small` is true if the result is an
/// integer of one word.
fn binary_handler(name: &str, base: &str, s: Scalar, small: bool) -> Option<Opcode<Dab>> {
    match base {
        "smin" => s.int([op::smin8, op::smin16, op::smin32, op::smin64]),
        "smax" => s.int([op::smax8, op::smax16, op::smax32, op::smax64]),
        "umin" if small => Some(op::umin),
        "umax" if small => Some(op::umax),
        "copysign" => s.float(op::copysign32, op::copysign64),
        "minnum" => s.float(op::fmin32, op::fmin64),
        "maxnum" => s.float(op::fmax32, op::fmax64),
        "powi" => s.float(op::powi32, op::powi64),
        "sadd" if name.starts_with("sadd.sat") => s.int([
            op::sadd_sat8,
            op::sadd_sat16,
            op::sadd_sat32,
            op::sadd_sat64,
        ]),
        "uadd" if name.starts_with("uadd.sat") => s.int([
            op::uadd_sat8,
            op::uadd_sat16,
            op::uadd_sat32,
            op::uadd_sat64,
        ]),
        "ssub" if name.starts_with("ssub.sat") => s.int([
            op::ssub_sat8,
            op::ssub_sat16,
            op::ssub_sat32,
            op::ssub_sat64,
        ]),
        "usub" if name.starts_with("usub.sat") => s.int([
            op::usub_sat8,
            op::usub_sat16,
            op::usub_sat32,
            op::usub_sat64,
        ]),
        _ => None,
    }
}

/// Returns the handler of an intrinsic with three operands.
fn ternary_handler(base: &str, s: Scalar) -> Option<Opcode<Dabc>> {
    match (base, s) {
        ("fmuladd", Scalar::Float) => Some(op::muladd32),
        ("fma", _) => s.float(op::fma32, op::fma64),
        ("fshl", _) => s.int([op::fshl8, op::fshl16, op::fshl32, op::fshl64]),
        ("fshr", _) => s.int([op::fshr8, op::fshr16, op::fshr32, op::fshr64]),
        _ => None,
    }
}
