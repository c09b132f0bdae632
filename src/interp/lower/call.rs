//! Calls: selects the form of call instruction for each call site.
//!
//! Calls have several forms, because most callees are known and take few words. Intrinsics are in
//! `intrinsic`.

use super::Lowering;
use crate::exec::MAX_DIRECT_ARGS;
use crate::frame::{CallSite, SiteData};
use crate::isa::{self, Enc, INSTRUCTIONS, op};
use ompvm_ir::{
    BinOp, BlockId, Call, Callee, FloatKind, FuncId, GlobalRef, Op, Operand, ParamAttrs, TailKind,
    Type, TypeId,
};
use ompvm_memory::abi::{CallPlan, VariadicArgs, fingerprint};
use std::sync::Arc;

/// The normal and the unwind destination of an invoke.
type Invoke = Option<(BlockId, BlockId)>;

const NO_ATTRS: &ParamAttrs = &ParamAttrs {
    byval: None,
    sret: None,
    element: None,
    align: 0,
    signext: false,
    zeroext: false,
    nest: false,
    noalias: false,
};

impl<'a> Lowering<'a> {
    pub(super) fn call(&mut self, i: usize, call: &'a Call, dst: u16, invoke: Invoke) {
        if self.guard.is_some() && self.leaves_for_good(i, call, invoke) {
            self.check_guard();
        }
        let before = self.here();
        self.call_only(i, call, dst);
        if let Some(behind) = &self.behind {
            self.traced_calls.push((self.here(), behind[i]));
        }
        if let Some((normal, unwind)) = invoke {
            // The instruction that can throw is the last one emitted.
            let at = self.ops.iter().rev().find(|o| o.0 >= before).map(|o| o.0);
            if let Some(at) = at {
                let after = self.here();
                self.landing(at as usize, after, unwind.as_u32() as usize);
            }
            self.edge(self.current, normal.as_u32() as usize);
        }
    }

    /// Returns true if a call is the function's last: a tail call, or one that does not return and
    /// may throw.
    fn leaves_for_good(&self, i: usize, call: &Call, invoke: Invoke) -> bool {
        if call.tail == TailKind::MustTail {
            return true;
        }
        let next = match invoke {
            Some((normal, _)) => self.body.blocks[normal.as_u32() as usize].start as usize,
            None => i + 1,
        };
        let ends = matches!(
            self.body.insts.get(next).map(|inst| &inst.op),
            Some(Op::Unreachable)
        );
        let attrs = match &call.callee {
            Callee::Symbol(symbol) => match self.image.resolve_alias(*symbol) {
                GlobalRef::Func(id) => Some(self.m.functions[id].attrs),
                _ => None,
            },
            _ => None,
        };
        (ends || attrs.is_some_and(|a| a.noreturn)) && !attrs.is_some_and(|a| a.nounwind)
    }

    fn attrs<'c>(&self, call: &'c Call, i: usize) -> &'c ParamAttrs {
        call.arg_attrs.get(i).unwrap_or(NO_ATTRS)
    }

    fn call_only(&mut self, i: usize, call: &'a Call, dst: u16) {
        let symbol = match &call.callee {
            Callee::Asm(_) => {
                self.thunk(i, dst);
                return;
            }
            Callee::Pointer(p) => {
                self.pointer_call(call, *p, dst);
                return;
            }
            Callee::Symbol(s) => self.image.resolve_alias(*s),
        };
        let GlobalRef::Func(id) = symbol else {
            let address = self.image.symbol_address(symbol) as u64;
            let target = self.word(address);
            self.call_through(call, target, 0, dst);
            return;
        };
        let f = &self.m.functions[id];
        if f.name.starts_with("llvm.") {
            self.intrinsic(i, &f.name, call, dst);
            return;
        }
        if self.special(&f.name, call, dst) {
            return;
        }
        match self.image.func_ref(id) {
            Some(func) => {
                let same = func.fingerprint == self.fingerprint(call, call.args.len());
                let func = std::ptr::from_ref(func) as usize;
                let (_, _, variadic) = f.signature(self.m);
                if variadic || !same {
                    let target = self.word(self.image.func_address(id) as u64);
                    self.call_through(call, target, 0, dst);
                } else {
                    self.guest_call(call, id, func, dst);
                }
            }
            None => self.native_call(call, id, dst),
        }
    }

    /// Returns the fingerprint of a call's fixed arguments and its result.
    fn fingerprint(&self, call: &Call, fixed: usize) -> u32 {
        let args = call.args.iter().enumerate().take(fixed);
        let args = args.map(|(i, &arg)| (self.type_of(arg), self.attrs(call, i)));
        fingerprint(self.m, args, self.fn_type(call.fn_ty).0)
    }

    /// Returns the slots of the fixed arguments' words, after copying byval arguments.
    fn argument_words(&mut self, call: &Call, fixed: usize) -> Vec<u16> {
        let mut words = Vec::with_capacity(call.args.len());
        for (i, &arg) in call.args.iter().enumerate().take(fixed) {
            let mut slot = self.operand(arg);
            let attrs = self.attrs(call, i);
            if let Some(ty) = attrs.byval {
                slot = self.byval_copy(slot, ty, attrs.align);
            }
            for w in 0..self.words(self.type_of(arg)) {
                words.push(slot + w);
            }
        }
        words
    }

    /// Copies a byval argument into this frame; returns the slot of the copy's address.
    fn byval_copy(&mut self, pointer: u16, ty: TypeId, align: u32) -> u16 {
        let bytes = self.m.layout(ty).size as u32;
        // The frame is aligned to 16 bytes, so a stricter alignment rounds the address down.
        let slack = align.saturating_sub(16);
        let off = self.alloca_bytes.next_multiple_of(16) + slack;
        self.alloca_bytes = off + bytes;
        let dst = self.temp(1);
        self.put_address(super::address::Addr::Frame(off as i32), dst);
        if slack > 0 {
            let mask = self.word(!(u64::from(align) - 1));
            let round = isa::Dab {
                dst,
                a: dst,
                b: mask,
            };
            self.emit(op::and, round);
        }
        self.emit(
            op::memcpy_fixed,
            isa::Memn {
                reg: dst,
                base: pointer,
                off: 0,
                bytes,
            },
        );
        dst
    }

    fn guest_call(&mut self, call: &Call, callee: FuncId, func: usize, dst: u16) {
        let (ret, _, _) = self.fn_type(call.fn_ty);
        let words = self.words(ret);
        let tail = call.tail == TailKind::MustTail;
        if let [arg] = call.args[..]
            && !tail
            && self.attrs(call, 0).byval.is_none()
            && self.words(self.type_of(arg)) == 1
        {
            let (arg, imm) = match self.postponed(arg) {
                Some(&Op::Binary {
                    op: BinOp::Add,
                    a,
                    b,
                    ..
                }) => (a, self.imm(b).unwrap_or(0)),
                _ => (arg, 0),
            };
            let a = self.operand(arg);
            let ops = isa::Call1 {
                dst,
                words,
                a,
                func,
                imm,
            };
            let at = self.emit(op::call1, ops);
            self.calls.push(at);
            return;
        }
        let mut slots = self.argument_words(call, call.args.len());
        // A call with another type than the callee's may pass more than the callee takes.
        slots.truncate(self.parameter_words(callee));
        let ops = isa::Call {
            dst,
            words,
            n: slots.len() as u16,
            func,
        };
        let code = match slots.len() {
            _ if tail => op::tail_call,
            0 => op::call0,
            1..=4 => op::call4,
            _ => op::call,
        };
        let at = self.emit(code, ops);
        if !tail && slots.len() <= 4 {
            self.calls.push(at);
        }
        self.tail(&slots);
    }

    /// Returns the number of words of a function's parameters.
    fn parameter_words(&self, callee: FuncId) -> usize {
        let (_, params, _) = self.m.functions[callee].signature(self.m);
        params.iter().map(|&p| usize::from(self.words(p))).sum()
    }

    /// Returns true if `user` is a call that passes a one-word sum and can add its constant.
    pub(super) fn passes_sum(&self, user: &ompvm_ir::Op) -> bool {
        let Op::Call(call) = user else { return false };
        let Callee::Symbol(s) = &call.callee else {
            return false;
        };
        let GlobalRef::Func(id) = self.image.resolve_alias(*s) else {
            return false;
        };
        call.args.len() == 1
            && call.tail != TailKind::MustTail
            && self.image.func_ref(id).is_some()
            && !self.m.functions[id].signature(self.m).2
    }

    /// Switches calls to the form that reads the frame's end from the thread's state, if the frame
    /// grows.
    pub(super) fn finish_calls(&mut self) {
        if !self.dynamic {
            return;
        }
        for at in std::mem::take(&mut self.calls) {
            let k = self.ops.partition_point(|o| (o.0 as usize) < at);
            let single = self.ops[k].1 == op::call1.number;
            // SAFETY: a call was emitted at `at`; all its forms have the handler in the first word.
            unsafe {
                let call = self.code.as_mut_ptr().byte_add(at).cast::<Enc<isa::Call>>();
                let far = if single {
                    op::call1_far.number
                } else {
                    op::call.number
                };
                (*call).handler = INSTRUCTIONS.handlers[far as usize];
                self.ops[k].1 = far;
            }
        }
    }

    pub(super) fn fn_type(&self, ty: TypeId) -> (TypeId, &'a [TypeId], bool) {
        match self.ty(ty) {
            Type::Func {
                ret,
                params,
                variadic,
            } => (*ret, params, *variadic),
            _ => (ty, &[], false),
        }
    }

    fn pointer_call(&mut self, call: &Call, p: Operand, dst: u16) {
        let target = self.operand(p);
        self.call_through(call, target, 0, dst);
    }

    /// Returns the types and attributes of a call's arguments.
    fn arguments(&self, call: &Call) -> Vec<(TypeId, ParamAttrs)> {
        let args = call.args.iter().enumerate();
        args.map(|(i, &a)| (self.type_of(a), self.attrs(call, i).clone()))
            .collect()
    }

    /// Plans a call whose callee may be native.
    fn plan(&mut self, call: &Call) -> Option<CallPlan> {
        let (ret, _, variadic) = self.fn_type(call.fn_ty);
        let args = self.arguments(call);
        CallPlan::new(self.m, call.fn_ty, &args, (ret, &call.ret_attrs), variadic)
            .inspect_err(|why| self.unsupported(&format!("a call with {why}")))
            .ok()
    }

    /// Creates the data of a call site whose callee may be native.
    fn site(&mut self, call: &Call, target: usize, plan: CallPlan) -> Option<usize> {
        let (_, params, variadic) = self.fn_type(call.fn_ty);
        let args = self.arguments(call);
        let rest = variadic.then(|| VariadicArgs::new(self.m, &args, params.len(), &plan));
        let rest = match rest.transpose() {
            Ok(rest) => rest,
            Err(why) => {
                self.unsupported(&format!("a call with {why}"));
                return None;
            }
        };
        let slots: Vec<u16> = call.args.iter().map(|&a| self.operand(a)).collect();
        let site = Box::new(CallSite {
            plan: Arc::new(plan),
            args: slots.into(),
            words: args.iter().map(|&(ty, _)| self.words(ty)).collect(),
            target,
            variadic: rest,
            fingerprint: self.fingerprint(call, params.len()),
        });
        let at = std::ptr::from_ref(&*site) as usize;
        self.sites.push(SiteData::Call(site));
        Some(at)
    }

    fn call_through(&mut self, call: &Call, target: u16, native: usize, dst: u16) {
        let (ret, params, _) = self.fn_type(call.fn_ty);
        let site = self.plan(call);
        let Some(site) = site.and_then(|plan| self.site(call, native, plan)) else {
            return;
        };
        let slots = self.argument_words(call, params.len());
        let words = self.words(ret);
        let ops = isa::CallPtr {
            dst,
            words,
            n: slots.len() as u16,
            target,
            site,
        };
        if call.tail == TailKind::MustTail {
            self.emit(op::tail_call_ptr, ops);
        } else {
            self.emit(op::call_ptr, ops);
        }
        self.tail(&slots);
    }

    fn native_call(&mut self, call: &Call, id: FuncId, dst: u16) {
        let target = self.image.func_address(id);
        if target == 0 {
            let target = self.word(0);
            self.call_through(call, target, 0, dst);
            return;
        }
        let (ret, _, _) = self.fn_type(call.fn_ty);
        if let Some(slots) = self.integer_arguments(call) {
            let mask = match self.ty(ret) {
                Type::Void | Type::Ptr(_) => Some(u64::MAX),
                Type::Int(64) => Some(u64::MAX),
                Type::Int(bits @ 1..=63) => Some((1u64 << bits) - 1),
                _ => None,
            };
            if let Some(mask) = mask {
                self.emit(
                    op::native,
                    isa::Native {
                        dst,
                        n: slots.len() as u16,
                        target,
                        mask,
                    },
                );
                self.tail(&slots);
                return;
            }
        }
        if let Some(code) = self.float_form(call, ret) {
            let a = self.operand(call.args[0]);
            let b = call.args.get(1).map_or(a, |&b| self.operand(b));
            self.emit(code, isa::NativeF { dst, a, b, target });
            return;
        }
        let Some(plan) = self.plan(call) else {
            return;
        };
        if let Some(registers) = plan.in_registers() {
            let starts: Vec<u16> = call.args.iter().map(|&a| self.operand(a)).collect();
            let ops = isa::InRegisters::new(&registers, dst, target);
            let slots = registers.words(|w| starts[usize::from(w.argument)] + w.word);
            self.emit(op::native_registers, ops);
            self.tail(&slots);
        } else if let Some(site) = self.site(call, target, plan) {
            self.emit(op::native_plan, isa::Site { dst, n: 0, site });
        }
    }

    /// Returns the slots if every argument is an integer or pointer that is passed as its slot is.
    fn integer_arguments(&mut self, call: &Call) -> Option<Vec<u16>> {
        if call.args.len() > MAX_DIRECT_ARGS {
            return None;
        }
        for (i, &a) in call.args.iter().enumerate() {
            let attrs = self.attrs(call, i);
            if attrs.byval.is_some() || attrs.nest || attrs.sret.is_some() {
                return None;
            }
            match self.ty(self.type_of(a)) {
                Type::Int(1..=64) | Type::Ptr(_) => {}
                _ => return None,
            }
        }
        let mut slots = Vec::with_capacity(call.args.len());
        for (i, &a) in call.args.iter().enumerate() {
            let slot = self.operand(a);
            let slot = match *self.ty(self.type_of(a)) {
                Type::Int(bits @ 1..=31) if self.attrs(call, i).signext => {
                    self.sign_extended(slot, bits)
                }
                _ => slot,
            };
            slots.push(slot);
        }
        Some(slots)
    }

    fn float_form(&self, call: &Call, ret: TypeId) -> Option<isa::Opcode<isa::NativeF>> {
        let (_, _, variadic) = self.fn_type(call.fn_ty);
        if variadic {
            return None;
        }
        let kind = match self.ty(ret) {
            Type::Float(k @ (FloatKind::Float | FloatKind::Double)) => *k,
            _ => return None,
        };
        let same = call
            .args
            .iter()
            .all(|&a| *self.ty(self.type_of(a)) == Type::Float(kind));
        match (call.args.len(), kind) {
            _ if !same => None,
            (1, FloatKind::Double) => Some(op::native_d),
            (2, FloatKind::Double) => Some(op::native_dd),
            (1, FloatKind::Float) => Some(op::native_f),
            (2, FloatKind::Float) => Some(op::native_ff),
            _ => None,
        }
    }

    /// Lowers setjmp and longjmp, which refer to interpreter frames rather than native ones.
    fn special(&mut self, name: &str, call: &Call, dst: u16) -> bool {
        match (name, call.args.len()) {
            ("setjmp" | "_setjmp", 1) => {
                let a = self.operand(call.args[0]);
                self.emit(op::setjmp, isa::Dabn { dst, a, b: a, n: 0 });
            }
            ("sigsetjmp" | "__sigsetjmp", 2) => {
                let (a, b) = (self.operand(call.args[0]), self.operand(call.args[1]));
                self.emit(op::setjmp, isa::Dabn { dst, a, b, n: 1 });
            }
            ("longjmp" | "_longjmp" | "siglongjmp" | "__longjmp_chk", 2) => {
                let (a, b) = (self.operand(call.args[0]), self.operand(call.args[1]));
                self.emit(op::longjmp, isa::Ab { a, b });
            }
            _ => return false,
        }
        true
    }
}
