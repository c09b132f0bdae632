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
        if !self.known_intrinsic(i, &name[5..], call, dst, ret) {
            self.thunk(i, dst);
        }
    }

    fn copy(&mut self, dst: u16, a: Operand) {
        let n = self.words(self.type_of(a));
        let a = self.operand(a);
        self.mov(dst, a, n);
    }

    fn known_intrinsic(
        &mut self,
        i: usize,
        name: &str,
        call: &'a Call,
        dst: u16,
        ret: TypeId,
    ) -> bool {
        let args = &call.args;
        let base = name.split('.').next().unwrap_or(name);
        match base {
            "dbg" | "lifetime" | "assume" | "donothing" | "prefetch" | "sideeffect"
            | "pseudoprobe" => {
                return true;
            }
            "var" if name.starts_with("var.annotation") => return true,
            "invariant" if name.starts_with("invariant.end") => return true,
            "invariant" => {
                // `invariant.start` returns a pointer that only `invariant.end` takes.
                self.emit(op::const_word, isa::Di { dst, imm: 0 });
                return true;
            }
            "experimental" if name.starts_with("experimental.noalias.scope.decl") => return true,
            "experimental" if name.starts_with("experimental.constrained.") => {
                return self.constrained(
                    i,
                    &name["experimental.constrained.".len()..],
                    args,
                    dst,
                    ret,
                );
            }
            _ => {}
        }
        match base {
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
            "stacksave" => {
                self.emit(op::stack_save, isa::D { dst });
            }
            "stackrestore" => {
                let a = self.operand(args[0]);
                match self.guard {
                    Some(_) => self.guard_op(op::stack_restore_guarded, a),
                    None => {
                        self.emit(op::stack_restore, isa::A { a });
                    }
                }
            }
            "stackguard" => {
                self.emit(op::guard_value, isa::D { dst });
            }
            "stackprotector" => {
                let (reg, base) = (self.operand(args[0]), self.operand(args[1]));
                self.emit(op::store64, isa::Mem { reg, base, off: 0 });
            }
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
                let imm = i64::from(args[0].unpack().is_err());
                self.emit(op::const_word, isa::Di { dst, imm });
            }
            "objectsize" => {
                let imm = if self.int_const(args[1]).unwrap_or(0) != 0 {
                    0
                } else {
                    -1i64
                };
                let imm = if matches!(self.ty(ret), Type::Int(32)) {
                    i64::from(imm as u32)
                } else {
                    imm
                };
                self.emit(op::const_word, isa::Di { dst, imm });
            }
            // Addresses in the interpreter's own frame: not null, and different in each frame.
            "frameaddress" | "returnaddress" if self.int_const(args[0]) != Some(0) => {
                self.emit(op::const_word, isa::Di { dst, imm: 0 });
            }
            "frameaddress" => {
                self.emit(op::lea, isa::Doff { dst, off: 0 });
            }
            "returnaddress" | "addressofreturnaddress" => {
                self.emit(op::lea, isa::Doff { dst, off: -8 });
                if base == "returnaddress" {
                    self.emit(
                        op::load64,
                        isa::Mem {
                            reg: dst,
                            base: dst,
                            off: 0,
                        },
                    );
                }
            }
            "get" if name == "get.rounding" => {
                self.emit(op::const_word, isa::Di { dst, imm: 1 });
            }
            "va_start" => {
                let a = self.operand(args[0]);
                self.emit(op::va_start, isa::A { a });
            }
            "va_end" => {}
            "va_copy" => {
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
            "eh" if name.starts_with("eh.typeid.for") => {
                let Err(info) = args[0].unpack() else {
                    return false;
                };
                let imm = i64::from(self.type_number(info));
                self.emit(op::const_word, isa::Di { dst, imm });
            }
            "read_register" | "read_volatile_register" => self.read_register(args[0], dst, ret),
            "eh" if name == "eh.sjlj.setjmp" => self.sjlj_set(args[0], dst),
            "eh" if name == "eh.sjlj.longjmp" => self.sjlj_long(args[0]),
            "init" if name == "init.trampoline" => {
                let target = trampoline::init as *const () as usize;
                self.native_integers(target, args, dst);
            }
            "adjust" if name == "adjust.trampoline" => {
                let target = trampoline::adjust as *const () as usize;
                self.native_integers(target, args, dst);
            }
            // Programs set their rounding mode with these; a thunk would start LLVM in each run.
            #[cfg(target_arch = "x86_64")]
            "x86" if name == "x86.sse.stmxcsr" => {
                let target = fp_env::store_to as *const () as usize;
                self.native_integers(target, args, dst);
            }
            #[cfg(target_arch = "x86_64")]
            "x86" if name == "x86.sse.ldmxcsr" => {
                let target = fp_env::load_from as *const () as usize;
                self.native_integers(target, args, dst);
            }
            "load" if name.starts_with("load.relative") => {
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
            _ => {
                if matches!(self.ty(ret), Type::Vector { .. }) {
                    return self.vector_intrinsic(base, args, dst, ret);
                }
                if let Some(what) = name.strip_prefix("vector.reduce.") {
                    return self.reduce(what, args, dst, ret);
                }
                return self.arithmetic(i, name, base, args, dst, ret);
            }
        }
        true
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
    fn constrained(
        &mut self,
        i: usize,
        name: &str,
        args: &[Operand],
        dst: u16,
        ret: TypeId,
    ) -> bool {
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
        self.arithmetic(i, name, base, args, dst, ret)
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
        _i: usize,
        name: &str,
        base: &str,
        args: &[Operand],
        dst: u16,
        ret: TypeId,
    ) -> bool {
        let s = self.scalar(ret);
        let float = |f: Opcode<Da>, d: Opcode<Da>| match s {
            Scalar::Float => Some(f),
            Scalar::Double => Some(d),
            _ => None,
        };
        let int1 = |c: [Opcode<Da>; 4]| match s {
            Scalar::Int(w) => Some(c[w]),
            _ => None,
        };
        let one = match base {
            "sqrt" => float(op::sqrt32, op::sqrt64),
            "fabs" => float(op::fabs32, op::fabs64),
            "floor" => float(op::floor32, op::floor64),
            "ceil" => float(op::ceil32, op::ceil64),
            "trunc" => float(op::ftrunc32, op::ftrunc64),
            "rint" | "nearbyint" => float(op::rint32, op::rint64),
            "round" => float(op::round32, op::round64),
            "roundeven" => float(op::roundeven32, op::roundeven64),
            "abs" => int1([op::abs8, op::abs16, op::abs32, op::abs64]),
            "ctpop" if matches!(self.ty(ret), Type::Int(1..=64)) => Some(op::ctpop),
            "ctlz" => int1([op::ctlz8, op::ctlz16, op::ctlz32, op::ctlz64]),
            "cttz" => int1([op::cttz8, op::cttz16, op::cttz32, op::cttz64]),
            "bswap" => match s {
                Scalar::Int(w @ 1..) => Some([op::bswap16, op::bswap32, op::bswap64][w - 1]),
                _ => None,
            },
            "bitreverse" => int1([
                op::bitreverse8,
                op::bitreverse16,
                op::bitreverse32,
                op::bitreverse64,
            ]),
            _ => None,
        };
        if let Some(code) = one {
            self.unary(code, dst, args[0]);
            return true;
        }
        let int2 = |c: [Opcode<Dab>; 4]| match s {
            Scalar::Int(w) => Some(c[w]),
            _ => None,
        };
        let float2 = |f: Opcode<Dab>, d: Opcode<Dab>| match s {
            Scalar::Float => Some(f),
            Scalar::Double => Some(d),
            _ => None,
        };
        let small = matches!(self.ty(ret), Type::Int(1..=64));
        let two = match base {
            "smin" => int2([op::smin8, op::smin16, op::smin32, op::smin64]),
            "smax" => int2([op::smax8, op::smax16, op::smax32, op::smax64]),
            "umin" if small => Some(op::umin),
            "umax" if small => Some(op::umax),
            "copysign" => float2(op::copysign32, op::copysign64),
            "minnum" => float2(op::fmin32, op::fmin64),
            "maxnum" => float2(op::fmax32, op::fmax64),
            "powi" if matches!(self.ty(self.type_of(args[1])), Type::Int(32)) => {
                float2(op::powi32, op::powi64)
            }
            "sadd" if name.starts_with("sadd.sat") => int2([
                op::sadd_sat8,
                op::sadd_sat16,
                op::sadd_sat32,
                op::sadd_sat64,
            ]),
            "uadd" if name.starts_with("uadd.sat") => int2([
                op::uadd_sat8,
                op::uadd_sat16,
                op::uadd_sat32,
                op::uadd_sat64,
            ]),
            "ssub" if name.starts_with("ssub.sat") => int2([
                op::ssub_sat8,
                op::ssub_sat16,
                op::ssub_sat32,
                op::ssub_sat64,
            ]),
            "usub" if name.starts_with("usub.sat") => int2([
                op::usub_sat8,
                op::usub_sat16,
                op::usub_sat32,
                op::usub_sat64,
            ]),
            _ if name.contains(".with.overflow") => self.overflow(base, args[0]),
            _ => None,
        };
        if let Some(code) = two {
            let (a, b) = (self.operand(args[0]), self.operand(args[1]));
            self.emit(code, Dab { dst, a, b });
            return true;
        }
        let three: Option<Opcode<Dabc>> = match (base, s) {
            ("fmuladd", Scalar::Float) => Some(op::muladd32),
            ("fma", Scalar::Double) => Some(op::fma64),
            ("fma", Scalar::Float) => Some(op::fma32),
            ("fshl", Scalar::Int(w)) => Some([op::fshl8, op::fshl16, op::fshl32, op::fshl64][w]),
            ("fshr", Scalar::Int(w)) => Some([op::fshr8, op::fshr16, op::fshr32, op::fshr64][w]),
            _ => None,
        };
        if (base, s) == ("fmuladd", Scalar::Double) {
            self.multiply_add(false, dst, args[0], args[1], args[2]);
            return true;
        }
        if let Some(code) = three {
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
