//! Rare instructions, compiled by LLVM one at a time.
//!
//! For an instruction without a handler (x87 and half arithmetic, odd vectors, masked and target
//! intrinsics, 16-byte atomics, inline assembly) [`Thunks::get`] writes a small function in textual
//! IR that loads the operands from their slots, performs that instruction, and stores the result to
//! its slots. LLVM compiles the function, and the interpreter calls it. The interpreter is thus
//! complete without hundreds of handlers that no profile shows, and inline assembly could not be
//! interpreted at all.
//!
//! A thunk costs an indirect call and, once, a compilation by LLVM; hot instructions therefore have
//! handlers.
//!
//! The slot form is documented in [`super`]. A thunk's text is the key of its code, in this process
//! and in the program's cache entry: a later run links the cached object and does not start LLVM.

use hashbrown::HashMap;
use ompvm_cache::CacheEntry;
use ompvm_ir::inline_asm::{displaced, inputs, is_immediate};
use ompvm_ir::{
    self as ir, AtomicScope, Callee, Const, ConstId, FloatKind, Function, GlobalRef, Inst, Module,
    Op, Operand, Ordering, Type, TypeId,
};
use ompvm_llvm::native::snippet::{self, SnippetCompiler};
use ompvm_llvm::native::{host_features_with, host_lacks};
use ompvm_memory::image::Image;
use ompvm_memory::internal_thread;
use ompvm_memory::link::{LinkedCode, NEAR};
use ompvm_memory::signal_safe;
use ompvm_support::{builtins, fork_lock};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

/// A compiled thunk: `args[i]` points at the slots of operand `i`, `out` at the slots of the
/// result.
pub type ThunkFn = unsafe extern "C-unwind" fn(out: *mut u64, args: *const *const u64);

/// A thunk and the operands that its caller passes, in order. It must not outlive its [`Thunks`].
#[derive(Clone, Debug)]
pub struct Thunk {
    /// The code.
    pub code: ThunkFn,
    /// The operands that `args` points at, in order.
    pub operands: Box<[Operand]>,
}

/// The compiled thunks of a process.
#[derive(Default, Debug)]
pub struct Thunks {
    state: Mutex<CompiledThunks>,
}

#[derive(Default, Debug)]
pub(super) struct CompiledThunks {
    compiler: Option<SnippetCompiler>,
    compiled: HashMap<String, ThunkFn>,
    /// The linked code, which owns the thunks' memory.
    code: Vec<LinkedCode>,
    /// The cache entry of each live image that has one, by the image's serial number.
    cache_entries: HashMap<u64, Arc<CacheEntry>>,
}

impl Thunks {
    /// Returns the mutex, for the fork handlers that hold it.
    pub(super) fn state(&self) -> &Mutex<CompiledThunks> {
        &self.state
    }

    /// Keeps the objects of an image's thunks for later runs, until [`Thunks::detach_cache`].
    pub(super) fn attach_cache(&self, image: u64, cache_entry: Arc<CacheEntry>) {
        fork_lock::lock(&self.state)
            .cache_entries
            .insert(image, cache_entry);
    }

    /// Ends [`Thunks::attach_cache`].
    pub(super) fn detach_cache(&self, image: u64) {
        fork_lock::lock(&self.state).cache_entries.remove(&image);
    }

    /// Returns the thunk for one instruction of `function`, which is placed in `image`.
    ///
    /// # Errors
    /// A sentence that names the instruction that cannot be compiled, or LLVM's reason.
    pub fn get(
        &self,
        module: &Module,
        function: &Function,
        inst: &Inst,
        image: Option<&Image>,
    ) -> Result<Thunk, String> {
        let mut text = ThunkWriter::new(module, function, image);
        text.instruction(inst)?;
        let operands = std::mem::take(&mut text.operands).into_boxed_slice();
        let body = text.finish();
        let mut state = fork_lock::lock(&self.state);
        if let Some(&code) = state.compiled.get(&body) {
            return Ok(Thunk { code, operands });
        }
        let cache_entry = image.and_then(|i| state.cache_entries.get(&i.serial()).cloned());
        let cache_entry = cache_entry.filter(|_| !names_addresses(&body));
        signal_safe::permit_termination();
        let mut compiler = state.compiler.take();
        let link = |object: &[u8]| LinkedCode::new(object, &|name| resolve_symbol(name, image));
        // Linked there as well: the registration of unwind tables allocates in the C library.
        let (compiler, linked) = internal_thread::run(|| {
            if let Some(object) = cache_entry.as_ref().and_then(|s| s.thunk(&body)) {
                return (compiler.take(), Ok(link(&object)));
            }
            let (compiler, object) = snippet::compile_contained(compiler.take(), &body);
            if let (Some(cache_entry), Ok(object)) = (&cache_entry, &object) {
                cache_entry.put_thunk(&body, object);
            }
            (compiler, object.map(|object| link(&object)))
        });
        state.compiler = compiler;
        let linked = linked.map_err(|why| {
            match matches!(inst.op.as_call(), Some(c) if matches!(c.callee, Callee::Asm(_))) {
                true => format!("inline assembly that LLVM does not take ({why})"),
                false => why,
            }
        })??;
        let address = linked.lookup(THUNK)?;
        // SAFETY: the text defines `THUNK` as a function of this type.
        let code = unsafe { std::mem::transmute::<usize, ThunkFn>(address) };
        state.code.push(linked);
        state.compiled.insert(body, code);
        Ok(Thunk { code, operands })
    }
}

/// The name of a thunk's function.
const THUNK: &str = "ompvm.thunk";
/// Prefix of names that stand for an address of the process, in hexadecimal digits.
const ADDRESS: &str = "ompvm.a";

/// The form of a constant address in a thunk's text.
const CONSTANT_ADDRESS: &str = "inttoptr (i64 ";

/// Returns true if a thunk's text contains addresses of this process, so that no later run can
/// reuse it.
fn names_addresses(text: &str) -> bool {
    text.contains(ADDRESS) || text.contains(CONSTANT_ADDRESS)
}

/// Resolves a thunk's external name: an address by its digits, a library function of the code
/// generator, or a symbol of the program that assembly names. Other names are resolved in the
/// process.
fn resolve_symbol(name: &str, image: Option<&Image>) -> Option<usize> {
    if let Some(digits) = name.strip_prefix(ADDRESS) {
        return usize::from_str_radix(digits, 16).ok();
    }
    let symbol = image.and_then(|i| i.module.symbol(name));
    match (symbol, image) {
        (Some(symbol), Some(image)) => Some(image.symbol_address(symbol)),
        _ => builtins::address(name),
    }
}

/// Returns true if rare instructions of a function fault, because it requires features that the
/// processor lacks.
pub fn lacks_features(function: &Function) -> bool {
    !function.features.is_empty() && internal_thread::run(|| host_lacks(&function.features))
}

/// Checks that an instruction can be written as a thunk (a cheap test for the load-time check).
pub fn check_expressible(module: &Module, function: &Function, inst: &Inst) -> Result<(), String> {
    ThunkWriter::new(module, function, None).instruction(inst)
}

/// Returns the text of a metadata argument that is a string.
pub(super) fn metadata_string(module: &Module, arg: Operand) -> Option<String> {
    match &module.consts[arg.unpack().err()?] {
        Const::Data(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        _ => None,
    }
}

struct ThunkWriter<'m> {
    module: &'m Module,
    function: &'m Function,
    image: Option<&'m Image>,
    operands: Vec<Operand>,
    declares: String,
    body: String,
    temporaries: u32,
}

impl<'m> ThunkWriter<'m> {
    fn new(module: &'m Module, function: &'m Function, image: Option<&'m Image>) -> Self {
        ThunkWriter {
            module,
            function,
            image,
            operands: Vec::new(),
            declares: String::new(),
            body: String::new(),
            temporaries: 0,
        }
    }

    fn finish(self) -> String {
        // Code for the host's own features would differ from the guest's native build: AVX-512's
        // bfloat conversions flush denormals, FMA contracts. Only code that names such features may
        // use them.
        let host = self.body.contains("@llvm.x86.") || self.body.contains(" asm ");
        let own = &self.function.features;
        let features = if host {
            let rare = !own.is_empty();
            let asked = rare
                .then(|| internal_thread::run(|| host_features_with(own)))
                .flatten();
            asked.map_or_else(String::new, |f| format!(" \"target-features\"=\"{f}\""))
        } else {
            let f16c = std::arch::is_x86_feature_detected!("f16c");
            let f16c = if f16c { ",+f16c" } else { "" };
            let comma = if own.is_empty() { "" } else { "," };
            format!(" \"target-cpu\"=\"x86-64\" \"target-features\"=\"+cx16{f16c}{comma}{own}\"")
        };
        let strict = if self.body.contains(".constrained.") {
            " strictfp"
        } else {
            ""
        };
        // Assembly may push, so nothing may lie below the stack pointer.
        format!(
            "target triple = \"{}\"\n{}define void @{THUNK}(ptr %out, ptr %args) uwtable \
             noredzone{strict}{features} {{\n{}  ret void\n}}\n",
            self.module.triple, self.declares, self.body
        )
    }

    fn fresh(&mut self) -> String {
        self.temporaries += 1;
        format!("%t{}", self.temporaries)
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.body, "  {line}");
    }

    /// Returns the type in LLVM's syntax.
    fn ty(&self, ty: TypeId) -> Result<String, String> {
        Ok(match &self.module.types[ty] {
            Type::Void => "void".into(),
            Type::Int(bits) => format!("i{bits}"),
            Type::Float(kind) => kind.llvm_name().into(),
            Type::Ptr(0) => "ptr".into(),
            Type::Ptr(space) => format!("ptr addrspace({space})"),
            Type::Vector {
                elem,
                len,
                scalable: false,
            } => {
                format!("<{len} x {}>", self.ty(*elem)?)
            }
            Type::Array { elem, len } => format!("[{len} x {}]", self.ty(*elem)?),
            Type::Struct { fields, packed } => {
                let fields: Result<Vec<_>, _> = fields.iter().map(|&f| self.ty(f)).collect();
                let fields = fields?.join(", ");
                if *packed {
                    format!("<{{{fields}}}>")
                } else {
                    format!("{{{fields}}}")
                }
            }
            other => return Err(format!("a value of type {other:?}")),
        })
    }

    /// Returns the type that a value of type `ty` has in its slots; `None` if it is the type
    /// itself.
    fn slot_form(&self, ty: TypeId) -> Result<Option<String>, String> {
        Ok(match &self.module.types[ty] {
            Type::Int(bits) => {
                let whole = bits.next_multiple_of(64);
                (whole != *bits).then(|| format!("i{whole}"))
            }
            Type::Vector { elem, len, .. } => match &self.module.types[*elem] {
                Type::Int(bits @ 1..=128) => {
                    let lane = bits.next_power_of_two().max(8);
                    (lane != *bits).then(|| format!("<{len} x i{lane}>"))
                }
                Type::Float(FloatKind::X86Fp80) => return Err("a vector of long double".into()),
                _ => None,
            },
            _ => None,
        })
    }

    /// Returns the operand as `TYPE NAME`: a literal if it is a small constant, otherwise a load
    /// from its slot.
    fn operand(&mut self, operand: Operand) -> Result<String, String> {
        Ok(format!(
            "{} {}",
            self.ty(self.function.operand_type(self.module, operand))?,
            self.value(operand)?
        ))
    }

    /// Returns the operand's name without its type.
    fn value(&mut self, operand: Operand) -> Result<String, String> {
        if let Err(constant) = operand.unpack()
            && let Some(text) = self.literal(constant)
        {
            return Ok(text);
        }
        let ty = self.function.operand_type(self.module, operand);
        let index = self.operands.len();
        self.operands.push(operand);
        let cell = self.fresh();
        self.line(format_args!(
            "{cell} = getelementptr ptr, ptr %args, i64 {index}"
        ));
        let slot = self.fresh();
        self.line(format_args!("{slot} = load ptr, ptr {cell}"));
        let value = self.fresh();
        let name = self.ty(ty)?;
        match self.slot_form(ty)? {
            None => self.line(format_args!("{value} = load {name}, ptr {slot}, align 8")),
            Some(wide) => {
                let raw = self.fresh();
                self.line(format_args!("{raw} = load {wide}, ptr {slot}, align 8"));
                self.line(format_args!("{value} = trunc {wide} {raw} to {name}"));
            }
        }
        Ok(value)
    }

    fn literal(&self, constant: ConstId) -> Option<String> {
        let ty = &self.module.types[self.module.const_type(constant)];
        match (&self.module.consts[constant], ty) {
            (Const::Int(v), Type::Int(1)) => Some(if *v == 1 { "true" } else { "false" }.into()),
            (Const::Int(v), Type::Int(_)) => Some(v.to_string()),
            (Const::Null, Type::Ptr(_)) => Some("null".into()),
            (Const::Zero, _) => Some("zeroinitializer".into()),
            (Const::Undef | Const::Poison, Type::Metadata) => None,
            (Const::Undef | Const::Poison, _) => Some("zeroinitializer".into()),
            _ => None,
        }
    }

    /// Returns a constant operand of inline assembly as a constant of the thunk, a symbol or a
    /// number; `None` if the operand is to be loaded from its slots.
    fn constant(&mut self, operand: Operand, code: &str) -> Result<Option<String>, String> {
        let Err(constant) = operand.unpack() else {
            return Ok(None);
        };
        if self.literal(constant).is_some() {
            return Ok(None);
        }
        let ty = self.module.const_type(constant);
        let immediate = is_immediate(code);
        let whole = match &self.module.types[ty] {
            Type::Ptr(_) => false,
            Type::Int(1..=64) if immediate => true,
            _ => return Ok(None),
        };
        let Some(image) = self.image else {
            // Without an image the caller only asks whether the thunk can be written.
            return Ok(Some(if whole { "0" } else { "null" }.into()));
        };
        if image.tls_constant(constant).is_some() {
            return Ok(None);
        }
        let value = image.eval(constant) as u64;
        if whole {
            return Ok(Some(value.to_string()));
        }
        let function = matches!(
            self.module.consts[constant],
            Const::Global(GlobalRef::Func(_))
        );
        if (value as usize) < NEAR || function && immediate {
            let name = format!("{ADDRESS}{value:x}");
            let declaration = format!("@{name} = external dso_local global i8\n");
            if !self.declares.contains(&declaration) {
                self.declares.push_str(&declaration);
            }
            return Ok(Some(format!("@{name}")));
        }
        Ok(immediate.then(|| format!("{CONSTANT_ADDRESS}{value} to ptr)")))
    }

    /// Copies an address to a register through assembly, which hides its origin, so that the
    /// template prints the register alone.
    fn register(&mut self, value: &str) -> String {
        let hidden = self.fresh();
        self.line(format_args!(
            "{hidden} = call ptr asm \"\", \"=r,0\"(ptr {value})"
        ));
        hidden
    }

    /// Returns the text of a metadata argument that is a string (rounding mode, exception
    /// behavior).
    fn metadata_string(&self, arg: Operand) -> Option<String> {
        metadata_string(self.module, arg)
    }

    fn store_result(&mut self, ty: TypeId, value: &str) -> Result<(), String> {
        let name = self.ty(ty)?;
        match self.slot_form(ty)? {
            None => self.line(format_args!("store {name} {value}, ptr %out, align 8")),
            Some(wide) => {
                let raw = self.fresh();
                self.line(format_args!("{raw} = zext {name} {value} to {wide}"));
                self.line(format_args!("store {wide} {raw}, ptr %out, align 8"));
            }
        }
        Ok(())
    }

    /// Writes `asm goto`: slot 0 of `out` receives the number of the successor taken (0 the
    /// fallthrough, then the indirect ones in order), and the result follows from slot 1.
    fn goto(&mut self, inst: &Inst, call: &ir::Call, labels: usize) -> Result<(), String> {
        let text = self.call(inst, call)?;
        let text = text.replacen("call ", "callbr ", 1);
        let targets: Vec<String> = (1..=labels).map(|i| format!("label %to{i}")).collect();
        let void = matches!(self.module.types[inst.ty], Type::Void);
        let name = if void { "" } else { "%r = " };
        self.line(format_args!(
            "{name}{text} to label %to0 [{}]",
            targets.join(", ")
        ));
        for label in 0..=labels {
            let _ = writeln!(self.body, "to{label}:");
            self.line(format_args!("store i64 {label}, ptr %out"));
            if !void {
                let form = self.slot_form(inst.ty)?;
                let ty = self.ty(inst.ty)?;
                let cell = self.fresh();
                self.line(format_args!("{cell} = getelementptr i64, ptr %out, i64 1"));
                match form {
                    None => self.line(format_args!("store {ty} %r, ptr {cell}, align 8")),
                    Some(wide) => {
                        let raw = self.fresh();
                        self.line(format_args!("{raw} = zext {ty} %r to {wide}"));
                        self.line(format_args!("store {wide} {raw}, ptr {cell}, align 8"));
                    }
                }
            }
            if label < labels {
                self.line(format_args!("ret void"));
            }
        }
        Ok(())
    }

    fn instruction(&mut self, inst: &Inst) -> Result<(), String> {
        if let Op::CallBr { call, indirect, .. } = &inst.op {
            return self.goto(inst, call, indirect.len());
        }
        let result = self.right_hand_side(inst)?;
        if matches!(self.module.types[inst.ty], Type::Void) {
            self.line(format_args!("{result}"));
            return Ok(());
        }
        self.line(format_args!("%r = {result}"));
        self.store_result(inst.ty, "%r")
    }

    /// Loads the operands; returns the text after `%r = `.
    fn right_hand_side(&mut self, inst: &Inst) -> Result<String, String> {
        Ok(match &inst.op {
            Op::Binary { op, a, b, .. } => {
                let a = self.operand(*a)?;
                format!("{} {a}, {}", op.llvm_name(), self.value(*b)?)
            }
            Op::FNeg { a } => format!("fneg {}", self.operand(*a)?),
            Op::Cast { op, a } => {
                let a = self.operand(*a)?;
                format!("{} {a} to {}", op.llvm_name(), self.ty(inst.ty)?)
            }
            Op::ICmp { pred, a, b } => {
                let a = self.operand(*a)?;
                format!("icmp {} {a}, {}", pred.llvm_name(), self.value(*b)?)
            }
            Op::FCmp { pred, a, b } => {
                let a = self.operand(*a)?;
                format!("fcmp {} {a}, {}", pred.llvm_name(), self.value(*b)?)
            }
            Op::Select { cond, a, b } => {
                let cond = self.operand(*cond)?;
                let a = self.operand(*a)?;
                format!("select {cond}, {a}, {}", self.operand(*b)?)
            }
            Op::Freeze { a } => format!("freeze {}", self.operand(*a)?),
            Op::ExtractElement { vector, index } => {
                let vector = self.operand(*vector)?;
                format!("extractelement {vector}, {}", self.operand(*index)?)
            }
            Op::InsertElement {
                vector,
                elem,
                index,
            } => {
                let vector = self.operand(*vector)?;
                let elem = self.operand(*elem)?;
                format!("insertelement {vector}, {elem}, {}", self.operand(*index)?)
            }
            Op::ShuffleVector { a, b, mask } => {
                let a = self.operand(*a)?;
                let b = self.operand(*b)?;
                format!("shufflevector {a}, {b}, {}", shuffle_mask(mask))
            }
            Op::Load { .. } | Op::Store { .. } | Op::CmpXchg { .. } | Op::AtomicRmw { .. } => {
                self.memory_access(inst)?
            }
            Op::Gep {
                elem,
                base,
                indices,
                ..
            } => {
                let mut text = format!("getelementptr {}", self.ty(*elem)?);
                for operand in std::iter::once(base).chain(indices) {
                    let _ = write!(text, ", {}", self.operand(*operand)?);
                }
                text
            }
            Op::Call(call) | Op::Invoke { call, .. } => return self.call(inst, call),
            Op::Unsupported(text) => return Err(text.to_string()),
            other => return Err(format!("{other:?}")),
        })
    }

    /// Loads the operands of an access; returns the text after `%r = `.
    fn memory_access(&mut self, inst: &Inst) -> Result<String, String> {
        Ok(match &inst.op {
            Op::Load {
                ptr,
                align,
                volatile,
                ordering,
                scope,
            } => {
                let ptr = self.operand(*ptr)?;
                let atomic = atomic_suffix(*ordering, *scope);
                let kind = access_kind(*ordering, *volatile);
                let ty = self.ty(inst.ty)?;
                format!("load{kind} {ty}, {ptr}{atomic}, align {}", (*align).max(1))
            }
            Op::Store {
                value,
                ptr,
                align,
                volatile,
                ordering,
                scope,
            } => {
                let value = self.operand(*value)?;
                let ptr = self.operand(*ptr)?;
                let atomic = atomic_suffix(*ordering, *scope);
                let kind = access_kind(*ordering, *volatile);
                format!(
                    "store{kind} {value}, {ptr}{atomic}, align {}",
                    (*align).max(1)
                )
            }
            Op::CmpXchg {
                ptr,
                expected,
                new,
                success,
                failure,
                weak,
                scope,
            } => {
                let ptr = self.operand(*ptr)?;
                let expected = self.operand(*expected)?;
                let new = self.operand(*new)?;
                format!(
                    "cmpxchg{} {ptr}, {expected}, {new}{} {} {}",
                    if *weak { " weak" } else { "" },
                    scope_name(*scope),
                    success.llvm_name(),
                    failure.llvm_name()
                )
            }
            Op::AtomicRmw {
                op,
                ptr,
                value,
                ordering,
                scope,
            } => {
                let ptr = self.operand(*ptr)?;
                let value = self.operand(*value)?;
                format!(
                    "atomicrmw {} {ptr}, {value}{}",
                    op.llvm_name(),
                    atomic_suffix(*ordering, *scope)
                )
            }
            other => return Err(format!("{other:?}")),
        })
    }

    fn call(&mut self, inst: &Inst, call: &ir::Call) -> Result<String, String> {
        let ret = self.ty(inst.ty)?;
        match &call.callee {
            Callee::Symbol(GlobalRef::Func(id)) => {
                let name = &self.module.functions[*id].name;
                if !name.starts_with("llvm.") {
                    return Err(format!("a call of `{name}`"));
                }
                let mut types = Vec::new();
                let mut args = Vec::new();
                for &arg in &call.args {
                    let ty = self.function.operand_type(self.module, arg);
                    if matches!(self.module.types[ty], Type::Metadata) {
                        let Some(text) = self.metadata_string(arg) else {
                            return Err(format!("the intrinsic `{name}`"));
                        };
                        types.push("metadata".into());
                        args.push(format!("metadata !\"{}\"", escape(&text)));
                        continue;
                    }
                    types.push(self.ty(ty)?);
                    args.push(self.operand(arg)?);
                }
                let _ = writeln!(self.declares, "declare {ret} @{name}({})", types.join(", "));
                Ok(format!("call {ret} @{name}({})", args.join(", ")))
            }
            Callee::Asm(asm) => {
                let mut args = Vec::new();
                let inputs = inputs(&asm.constraints);
                let mut template = asm.template.to_string();
                for (i, &arg) in call.args.iter().enumerate() {
                    let Some(input) = inputs.get(i) else {
                        return Err("inline assembly with more operands than constraints".into());
                    };
                    let ty = self.ty(self.function.operand_type(self.module, arg))?;
                    let value = match self.constant(arg, input.code)? {
                        Some(value) => value,
                        None => self.value(arg)?,
                    };
                    if !input.indirect {
                        args.push(format!("{ty} {value}"));
                        continue;
                    }
                    let value = match displaced(&template, input.number) {
                        Some(text) if !asm.intel => {
                            template = text;
                            self.register(&value)
                        }
                        _ => value,
                    };
                    // LLVM may keep the operand in a register, which it stores in this type
                    // afterwards. Compilers before 14 do not name the type.
                    let attrs = call.arg_attrs.get(i);
                    let element = match attrs.and_then(|attrs| attrs.element) {
                        Some(element) => self.ty(element)?,
                        None => "i64".into(),
                    };
                    args.push(format!("{ty} elementtype({element}) {value}"));
                }
                Ok(format!(
                    "call {ret} asm {}{}\"{}\", \"{}\"({})",
                    if asm.side_effects { "sideeffect " } else { "" },
                    if asm.intel { "inteldialect " } else { "" },
                    escape(&template),
                    escape(&asm.constraints),
                    args.join(", ")
                ))
            }
            _ => Err("a call of a function".into()),
        }
    }
}

/// Escapes text for a quoted string of LLVM's syntax.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' | 0..=0x1f | 0x7f.. => {
                let _ = write!(out, "\\{byte:02X}");
            }
            _ => out.push(byte as char),
        }
    }
    out
}

fn scope_name(scope: AtomicScope) -> &'static str {
    match scope {
        AtomicScope::System => "",
        AtomicScope::SingleThread => " syncscope(\"singlethread\")",
    }
}

/// Returns the words between the name of an access and its type.
fn access_kind(ordering: Ordering, volatile: bool) -> &'static str {
    match (ordering != Ordering::NotAtomic, volatile) {
        (false, false) => "",
        (false, true) => " volatile",
        (true, false) => " atomic",
        (true, true) => " atomic volatile",
    }
}

/// Returns a mask as a vector constant; a negative number is a lane without a value.
fn shuffle_mask(mask: &[i32]) -> String {
    let lane = |&m: &i32| match m {
        ..0 => "i32 poison".into(),
        m => format!("i32 {m}"),
    };
    let lanes: Vec<String> = mask.iter().map(lane).collect();
    format!("<{} x i32> <{}>", lanes.len(), lanes.join(", "))
}

fn atomic_suffix(ordering: Ordering, scope: AtomicScope) -> String {
    if ordering == Ordering::NotAtomic {
        String::new()
    } else {
        format!("{} {}", scope_name(scope), ordering.llvm_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ompvm_ir::{
        BinOp, Body, FastMath, FuncId, FunctionAttrs, IntFlags, Linkage, ParamAttrs, Value,
    };

    /// Builds a module with one function `f(params)` whose only instruction is `op` of type `ty`.
    fn module(params: &[Type], ty: Type, op: impl Fn(&mut Module) -> Op) -> Module {
        let mut m = Module {
            triple: "x86_64-pc-linux-gnu".into(),
            ..Module::default()
        };
        let params: Vec<TypeId> = params.iter().map(|t| m.types.intern(t.clone())).collect();
        let ret = m.types.intern(ty);
        let fn_ty = m.types.intern(Type::Func {
            ret,
            params: params.clone().into(),
            variadic: false,
        });
        let op = op(&mut m);
        m.functions.push(Function {
            name: "f".into(),
            ty: fn_ty,
            params: vec![ParamAttrs::default(); params.len()].into(),
            ret_attrs: ParamAttrs::default(),
            attrs: FunctionAttrs::default(),
            features: Box::default(),
            calling_convention: 0,
            linkage: Linkage::External,
            section: None,
            personality: None,
            scope: None,
            body: Some(
                Body {
                    insts: vec![Inst {
                        op,
                        ty: ret,
                        loc: None,
                    }],
                    blocks: vec![],
                }
                .into(),
            ),
        });
        m
    }

    fn run(m: &Module, args: &[&[u64]], out: &mut [u64]) {
        let f = &m.functions[FuncId::from_u32(0)];
        let thunks = Thunks::default();
        let thunk = thunks
            .get(m, f, &f.body.as_ref().unwrap().insts[0], None)
            .unwrap();
        assert_eq!(thunk.operands.len(), args.len());
        let pointers: Vec<*const u64> = args.iter().map(|a| a.as_ptr()).collect();
        // SAFETY: the slices hold the slots of operands and result.
        unsafe { (thunk.code)(out.as_mut_ptr(), pointers.as_ptr()) };
    }

    fn values(n: u32) -> Vec<Operand> {
        (0..n).map(|i| Operand::value(Value::from_u32(i))).collect()
    }

    #[test]
    fn odd_integers_keep_their_canonical_form() {
        let v = values(2);
        let m = module(&[Type::Int(24), Type::Int(24)], Type::Int(24), |_| {
            Op::Binary {
                op: BinOp::Sub,
                a: v[0],
                b: v[1],
                flags: IntFlags::default(),
                fast: FastMath::default(),
            }
        });
        let mut out = [u64::MAX];
        run(&m, &[&[1], &[2]], &mut out);
        assert_eq!(out[0], 0xff_ffff);
    }

    #[test]
    fn half_precision_rounds() {
        let v = values(2);
        let half = Type::Float(FloatKind::Half);
        let m = module(&[half.clone(), half.clone()], half, |_| Op::Binary {
            op: BinOp::FAdd,
            a: v[0],
            b: v[1],
            flags: IntFlags::default(),
            fast: FastMath::default(),
        });
        let mut out = [0];
        run(&m, &[&[0x3c00], &[0x3c00]], &mut out);
        assert_eq!(out[0] & 0xffff, 0x4000);
    }

    #[test]
    fn inline_assembly_runs() {
        let v = values(1);
        let m = module(&[Type::Int(64)], Type::Int(64), |m| {
            let fn_ty = m.types.intern(Type::Void);
            Op::Call(Box::new(ir::Call {
                callee: Callee::Asm(Box::new(ir::AsmCall {
                    template: "bswapq $0".into(),
                    constraints: "=r,0,~{dirflag},~{fpsr},~{flags}".into(),
                    side_effects: true,
                    intel: false,
                })),
                fn_ty,
                args: Box::new([v[0]]),
                arg_attrs: Box::new([]),
                ret_attrs: ParamAttrs::default(),
                tail: ir::TailKind::None,
                calling_convention: 0,
                fast: FastMath::default(),
                bundles: Box::new([]),
            }))
        });
        let mut out = [0];
        run(&m, &[&[0x0102_0304_0506_0708]], &mut out);
        assert_eq!(out[0], 0x0807_0605_0403_0201);
    }

    #[test]
    fn assembly_that_llvm_does_not_take_is_an_error() {
        let m = module(&[], Type::Void, |m| {
            let fn_ty = m.types.intern(Type::Void);
            Op::Call(Box::new(ir::Call {
                callee: Callee::Asm(Box::new(ir::AsmCall {
                    template: "frobnicate %eax".into(),
                    constraints: String::new().into(),
                    side_effects: true,
                    intel: false,
                })),
                fn_ty,
                args: Box::new([]),
                arg_attrs: Box::new([]),
                ret_attrs: ParamAttrs::default(),
                tail: ir::TailKind::None,
                calling_convention: 0,
                fast: FastMath::default(),
                bundles: Box::new([]),
            }))
        });
        let f = &m.functions[FuncId::from_u32(0)];
        let inst = &f.body.as_ref().unwrap().insts[0];
        let why = Thunks::default().get(&m, f, inst, None).unwrap_err();
        assert!(why.contains("frobnicate"), "{why}");
    }

    #[test]
    fn what_cannot_be_written_is_an_error() {
        let m = module(&[Type::Int(8)], Type::Amx, |_| Op::Freeze {
            a: Operand::value(Value::from_u32(0)),
        });
        let f = &m.functions[FuncId::from_u32(0)];
        assert!(check_expressible(&m, f, &f.body.as_ref().unwrap().insts[0]).is_err());
    }
}
