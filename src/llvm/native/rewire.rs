//! Rewires a module's symbols to names that mean the same in every process ([`super::symbol`]).
//!
//! Variables become declarations; constants keep their value for folding. A function's address,
//! wherever it is taken, becomes a symbol of its own that refers to its stub, so that pointers
//! compare equal in every tier; direct calls stay direct. `thread_local` variables become offsets
//! from a block that is fetched once per function. Functions that must stay interpreted become
//! declarations whose calls go to their stubs. No address appears in the code.
//!
//! Results must not depend on the tier that computes them. So `llvm.fmuladd` becomes a
//! multiplication and an addition, as on the guest's own target, and nothing is contracted beyond
//! what [`contract`](crate::contract) made `llvm.fma` for every tier.
//!
//! This module does not optimize.

use super::fast_paths::{self, FastPaths};
use super::osr_landing;
use super::symbol::Symbol;
use super::target_attributes;
use super::{CompileRequest, FunctionBinding, Level, VariableBinding};
use crate::contract::ROUNDING;
use crate::parse::{Parsed, functions};
use crate::raw::{copy_text, llvm, take_message};
use crate::reader::{is_bookkeeping, list, name_of, section_of};
use crate::shim::{copy_abi_attributes, materialize_thread_locals, replace_function};
use hashbrown::HashMap;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{
    LLVMAttributeFunctionIndex, LLVMInlineAsmDialect, LLVMIntPredicate, LLVMLinkage, LLVMOpcode,
    LLVMTailCallKind, LLVMVisibility,
};
use ompvm_ir::inline_asm::{displaced, inputs, is_immediate};
use ompvm_ir::{JUMP_BUFFER, JUMP_BUFFER_WORD};
use std::ptr::null_mut;

/// A module that is ready for the code generator.
pub(crate) struct Rewired {
    /// Number and symbol of each compiled function.
    pub compiled: Vec<(usize, String)>,
    /// Index in the unit and symbol of each OSR entry.
    pub entries: Vec<(usize, String)>,
    /// Number of each function that is not compiled, with the reason.
    pub skipped: Vec<(usize, String)>,
    /// True if there are landing pads: their tables need full addresses, which only
    /// position-independent code has.
    pub position_independent: bool,
    /// True if there are calls for the always-inline pass.
    pub inline: bool,
    /// True if the compiler that made the vectors knew of wide registers.
    pub wide: bool,
}

/// Functions that return twice and that compiled code may call: compiled code has its own versions.
const JUMPS: [&str; 4] = ["setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp"];

/// Functions that affect their caller's frame however they are declared, with the reason why their
/// callers stay interpreted.
const FRAMES: [(&str, &str); 3] = [
    ("vfork", "it calls a function that returns twice"),
    ("getcontext", "it calls a function that returns twice"),
    (
        "__pthread_register_cancel",
        "it registers a handler for thread cancellation",
    ),
];

/// An OSR entry, a function that the module did not have.
pub(crate) struct OsrFunction {
    /// Index in the unit.
    pub index: usize,
    /// Number of the function that contains the loop.
    pub function: usize,
    /// The entry's symbol.
    pub name: String,
    /// The entry's function.
    pub value: LLVMValueRef,
}

struct Work<'a> {
    parsed: &'a Parsed,
    request: &'a CompileRequest,
    level: Level,
    extra: &'a [OsrFunction],
    out: Rewired,
}

/// Rewires the module.
pub(crate) fn rewire(
    parsed: &Parsed,
    request: &CompileRequest,
    level: Level,
    extra: &[OsrFunction],
) -> Result<Rewired, String> {
    let mut work = Work {
        parsed,
        request,
        level,
        extra,
        out: Rewired {
            compiled: Vec::new(),
            entries: Vec::new(),
            skipped: Vec::new(),
            position_independent: false,
            inline: false,
            wide: false,
        },
    };
    work.rewire_module()?;
    Ok(work.out)
}

/// Lists a function's current instructions.
pub(super) fn instructions(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut out = Vec::new();
    let mut block = llvm!(core::LLVMGetFirstBasicBlock(function));
    while !block.is_null() {
        let mut inst = llvm!(core::LLVMGetFirstInstruction(block));
        while !inst.is_null() {
            out.push(inst);
            inst = llvm!(core::LLVMGetNextInstruction(inst));
        }
        block = llvm!(core::LLVMGetNextBasicBlock(block));
    }
    out
}

/// Lists the allocas of constant size in a block.
fn fixed_allocas(block: LLVMBasicBlockRef) -> Vec<LLVMValueRef> {
    let mut found = Vec::new();
    let mut inst = llvm!(core::LLVMGetFirstInstruction(block));
    while !inst.is_null() {
        if !llvm!(core::LLVMIsAAllocaInst(inst)).is_null() {
            let count = llvm!(core::LLVMGetOperand(inst, 0));
            if llvm!(core::LLVMIsConstant(count)) != 0 {
                found.push(inst);
            }
        }
        inst = llvm!(core::LLVMGetNextInstruction(inst));
    }
    found
}

fn is_call(inst: LLVMValueRef) -> bool {
    matches!(
        llvm!(core::LLVMGetInstructionOpcode(inst)),
        LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr
    )
}

fn has_uses(value: LLVMValueRef) -> bool {
    !llvm!(core::LLVMGetFirstUse(value)).is_null()
}

/// Renames a value. Fails if a symbol of the guest already has the name.
fn rename(value: LLVMValueRef, symbol: Symbol) -> Result<String, String> {
    let name = symbol.to_string();
    llvm!(core::LLVMSetValueName2(
        value,
        name.as_ptr().cast(),
        name.len()
    ));
    if *name_of(value) == *name {
        Ok(name)
    } else {
        Err(format!("the program has a symbol `{name}`"))
    }
}

impl Work<'_> {
    fn rewire_module(&mut self) -> Result<(), String> {
        let module = self.parsed.module;
        llvm!(core::LLVMSetModuleInlineAsm2(module, c"".as_ptr(), 0));
        let mut all = functions(module);
        all.retain(|&f| self.extra.iter().all(|e| e.value != f));
        let mut globals = Vec::new();
        for g in list(llvm!(core::LLVMGetFirstGlobal(module)), |v| {
            llvm!(core::LLVMGetNextGlobal(v))
        })
        .collect::<Vec<_>>()
        {
            if is_bookkeeping(&name_of(g), section_of(g).as_deref()) {
                llvm!(core::LLVMDeleteGlobal(g));
            } else {
                globals.push(g);
            }
        }
        if all.len() != self.request.functions.len()
            || globals.len() != self.request.variables.len()
        {
            return Err("the files changed since they were read".into());
        }
        self.aliases();
        self.ifuncs()?;
        materialize_thread_locals(module);
        // A unit may be read from the file itself, in which calls lack what declarations say.
        copy_abi_attributes(module);
        let mut interpreted = self.choose(&all, &globals)?;
        self.landings(&globals, &mut interpreted);
        // Functions that were not read are deleted below.
        let here: Vec<bool> = all
            .iter()
            .map(|&f| llvm!(core::LLVMIsDeclaration(f)) == 0)
            .collect();
        let callees = self.addresses(&all, &interpreted)?;
        let fast_paths = match self.level {
            Level::Full => fast_paths::link(module, self.parsed.context)?,
            Level::Quick => FastPaths::default(),
        };
        let block = self.globals(&globals)?;
        for (number, &function) in all.iter().enumerate() {
            if self.request.functions[number] == FunctionBinding::Compiled
                && !interpreted.contains_key(&number)
                && here[number]
            {
                self.body(function, &callees, &fast_paths, &block)?;
                self.definition(number, function)?;
            }
        }
        for extra in self.extra {
            if interpreted.contains_key(&extra.function) {
                llvm!(core::LLVMDeleteFunction(extra.value));
                continue;
            }
            self.body(extra.value, &callees, &fast_paths, &block)?;
            in_no_place(extra.value);
            self.out.wide |= target_attributes::knew_wide(extra.value);
            target_attributes::set(extra.value);
            self.out.entries.push((extra.index, extra.name.clone()));
        }
        for &variable in block.keys() {
            if has_uses(variable) {
                return Err("a thread_local variable is used in an unknown way".into());
            }
            llvm!(core::LLVMDeleteGlobal(variable));
        }
        self.out.inline |= fast_paths.sweep();
        self.finish(&callees);
        Ok(())
    }

    /// Makes OSR entries continue with exceptions that landed in their frames.
    fn landings(
        &mut self,
        globals: &[LLVMValueRef],
        interpreted: &mut HashMap<usize, &'static str>,
    ) {
        if self.extra.is_empty() {
            return;
        }
        let variables = globals.iter().enumerate().map(|(n, &g)| (g, n)).collect();
        for extra in self.extra {
            let done = osr_landing::take_over(self.parsed.module, extra.value, &variables);
            if let Err(why) = done {
                interpreted.insert(extra.function, why);
                self.out.skipped.push((extra.function, why.to_owned()));
            }
        }
    }

    /// Declares a function for a symbol.
    fn declare(&self, symbol: Symbol, ty: LLVMTypeRef) -> Result<LLVMValueRef, String> {
        let new = llvm!(core::LLVMAddFunction(self.parsed.module, c"".as_ptr(), ty));
        rename(new, symbol)?;
        Ok(new)
    }

    /// Replaces every use of an alias by its aliasee.
    fn aliases(&mut self) {
        let module = self.parsed.module;
        let all: Vec<_> = list(llvm!(core::LLVMGetFirstGlobalAlias(module)), |v| {
            llvm!(core::LLVMGetNextGlobalAlias(v))
        })
        .collect();
        if all.is_empty() {
            return;
        }
        // LLVM's C interface cannot erase an alias, so it is redirected to a harmless variable.
        let byte = llvm!(core::LLVMInt8TypeInContext(self.parsed.context));
        let rest = llvm!(core::LLVMAddGlobal(module, byte, c"ompvm.rest".as_ptr()));
        let zero = llvm!(core::LLVMConstInt(byte, 0, 0));
        llvm!(core::LLVMSetInitializer(rest, zero));
        llvm!(core::LLVMSetLinkage(rest, LLVMLinkage::LLVMInternalLinkage));
        for alias in all {
            let target = llvm!(core::LLVMAliasGetAliasee(alias));
            if has_uses(alias) {
                llvm!(core::LLVMReplaceAllUsesWith(alias, target));
            }
            llvm!(core::LLVMAliasSetAliasee(alias, rest));
            llvm!(core::LLVMSetLinkage(
                alias,
                LLVMLinkage::LLVMInternalLinkage
            ));
        }
    }

    fn ifuncs(&mut self) -> Result<(), String> {
        let module = self.parsed.module;
        let all: Vec<_> = list(llvm!(core::LLVMGetFirstGlobalIFunc(module)), |v| {
            llvm!(core::LLVMGetNextGlobalIFunc(v))
        })
        .collect();
        for (i, ifunc) in all.into_iter().enumerate() {
            let ty = llvm!(core::LLVMGlobalGetValueType(ifunc));
            let new = self.declare(Symbol::IFunc(i), ty)?;
            llvm!(core::LLVMReplaceAllUsesWith(ifunc, new));
            llvm!(core::LLVMEraseGlobalIFunc(ifunc));
        }
        Ok(())
    }

    /// Chooses the functions that must stay interpreted, with the reason.
    fn choose(
        &mut self,
        all: &[LLVMValueRef],
        globals: &[LLVMValueRef],
    ) -> Result<HashMap<usize, &'static str>, String> {
        let mut out: HashMap<usize, &'static str> = HashMap::new();
        // An OSR entry must stay interpreted if its function must.
        let entries = self.extra.iter().map(|e| (e.value, e.function));
        let number: HashMap<LLVMValueRef, usize> = all
            .iter()
            .enumerate()
            .map(|(i, &f)| (f, i))
            .chain(entries)
            .collect();
        let kind = "returns_twice";
        let twice_kind = llvm!(core::LLVMGetEnumAttributeKindForName(
            kind.as_ptr().cast(),
            kind.len()
        ));
        for &f in all {
            let has = !llvm!(core::LLVMGetEnumAttributeAtIndex(
                f,
                LLVMAttributeFunctionIndex,
                twice_kind
            ))
            .is_null();
            let name = name_of(f);
            let listed = FRAMES.iter().find(|(known, _)| *known == &*name);
            let why = match listed {
                Some(&(_, why)) => why,
                None if has && !JUMPS.contains(&&*name) => FRAMES[0].1,
                None => continue,
            };
            for user in users(f).unwrap_or_default() {
                if let Some(&n) = number.get(&user) {
                    out.insert(n, why);
                }
            }
        }
        for (&f, &n) in &number {
            if self.request.functions[n] != FunctionBinding::Compiled {
                continue;
            }
            let mut block = llvm!(core::LLVMGetFirstBasicBlock(f));
            while !block.is_null() {
                let last = llvm!(core::LLVMGetBasicBlockTerminator(block));
                match llvm!(core::LLVMGetInstructionOpcode(last)) {
                    LLVMOpcode::LLVMIndirectBr => {
                        let address = llvm!(core::LLVMGetOperand(last, 0));
                        // clang leaves one without an address where nothing jumps.
                        if llvm!(core::LLVMIsUndef(address)) == 0 {
                            out.insert(n, "it jumps to addresses of labels");
                        }
                    }
                    LLVMOpcode::LLVMCallBr => {
                        out.insert(n, "its assembly jumps to labels");
                    }
                    _ => {}
                }
                block = llvm!(core::LLVMGetNextBasicBlock(block));
            }
        }
        let foreign = "it uses a library's thread_local variable";
        for (i, &g) in globals.iter().enumerate() {
            if self.request.variables[i] != VariableBinding::Foreign {
                continue;
            }
            for user in users(g).unwrap_or_default() {
                if let Some(&n) = number.get(&user) {
                    out.insert(n, foreign);
                }
            }
        }
        for (&n, &why) in &out {
            if self.request.functions[n] == FunctionBinding::Compiled {
                self.out.skipped.push((n, why.to_owned()));
            }
        }
        self.out.skipped.sort_unstable();
        Ok(out)
    }

    /// Gives every function's address a symbol of its own, and maps the symbol to the target of
    /// direct calls.
    fn addresses(
        &mut self,
        all: &[LLVMValueRef],
        interpreted: &HashMap<usize, &'static str>,
    ) -> Result<HashMap<LLVMValueRef, LLVMValueRef>, String> {
        let pointer = llvm!(core::LLVMPointerTypeInContext(self.parsed.context, 0));
        let null = llvm!(core::LLVMConstNull(pointer));
        let mut callees = HashMap::new();
        for (n, &f) in all.iter().enumerate() {
            let (address, compiled) = match self.request.functions[n] {
                FunctionBinding::Intrinsic => continue,
                FunctionBinding::Compiled => (Symbol::Stub(n), !interpreted.contains_key(&n)),
                FunctionBinding::External => (Symbol::External(n), false),
                FunctionBinding::Null => {
                    if has_uses(f) {
                        llvm!(core::LLVMReplaceAllUsesWith(f, null));
                    }
                    llvm!(core::LLVMDeleteFunction(f));
                    continue;
                }
            };
            let body = llvm!(core::LLVMIsDeclaration(f)) == 0;
            // Functions that other units compile are called through their stubs.
            let (compiled, elsewhere) = (compiled && body, compiled && !body);
            if !has_uses(f) && !body {
                continue;
            }
            let ty = llvm!(core::LLVMGlobalGetValueType(f));
            let symbol = self.declare(address, ty)?;
            replace_function(f, symbol);
            if compiled {
                callees.insert(symbol, f);
            } else if body || elsewhere {
                llvm!(core::LLVMDeleteFunction(f));
            } else {
                // The name tells the code generator what a library function does.
                llvm!(core::LLVMSetLinkage(f, LLVMLinkage::LLVMExternalLinkage));
                callees.insert(symbol, f);
            }
        }
        Ok(callees)
    }

    /// Turns variables into declarations. Returns the offsets of the thread-local ones.
    fn globals(
        &mut self,
        globals: &[LLVMValueRef],
    ) -> Result<HashMap<LLVMValueRef, usize>, String> {
        let module = self.parsed.module;
        let pointer = llvm!(core::LLVMPointerTypeInContext(self.parsed.context, 0));
        let null = llvm!(core::LLVMConstNull(pointer));
        let mut offsets = HashMap::new();
        for (n, &g) in globals.iter().enumerate() {
            let defined = llvm!(core::LLVMIsDeclaration(g)) == 0;
            let near = match self.request.variables[n] {
                VariableBinding::ThreadLocal(offset) => {
                    offsets.insert(g, offset);
                    continue;
                }
                VariableBinding::Foreign => continue,
                VariableBinding::Null => {
                    if has_uses(g) {
                        llvm!(core::LLVMReplaceAllUsesWith(g, null));
                    }
                    if !defined {
                        llvm!(core::LLVMDeleteGlobal(g));
                    }
                    continue;
                }
                VariableBinding::Near => true,
                VariableBinding::Far => false,
            };
            if near {
                rename(g, Symbol::Variable(n))?;
                llvm!(comdat::LLVMSetComdat(g, null_mut()));
                llvm!(core::LLVMSetSection(g, c"".as_ptr()));
                let constant = llvm!(core::LLVMIsGlobalConstant(g)) != 0;
                if defined && constant {
                    llvm!(core::LLVMSetLinkage(
                        g,
                        LLVMLinkage::LLVMAvailableExternallyLinkage
                    ));
                } else {
                    llvm!(core::LLVMSetInitializer(g, null_mut()));
                    llvm!(core::LLVMSetLinkage(g, LLVMLinkage::LLVMExternalLinkage));
                }
                llvm!(core::LLVMSetVisibility(
                    g,
                    LLVMVisibility::LLVMHiddenVisibility
                ));
                continue;
            }
            // A new declaration, because the old one may promise to be near.
            let ty = llvm!(core::LLVMGlobalGetValueType(g));
            let new = llvm!(core::LLVMAddGlobal(module, ty, c"".as_ptr()));
            rename(new, Symbol::Variable(n))?;
            let align = llvm!(core::LLVMGetAlignment(g));
            llvm!(core::LLVMSetAlignment(new, align));
            let constant = llvm!(core::LLVMIsGlobalConstant(g));
            llvm!(core::LLVMSetGlobalConstant(new, constant));
            llvm!(core::LLVMReplaceAllUsesWith(g, new));
            llvm!(core::LLVMDeleteGlobal(g));
        }
        Ok(offsets)
    }

    /// Rewrites a body: direct calls, fast paths of the runtime, thread-local addresses, fused
    /// multiplications.
    fn body(
        &mut self,
        function: LLVMValueRef,
        callees: &HashMap<LLVMValueRef, LLVMValueRef>,
        fast_paths: &FastPaths,
        offsets: &HashMap<LLVMValueRef, usize>,
    ) -> Result<(), String> {
        let context = self.parsed.context;
        let builder = llvm!(core::LLVMCreateBuilderInContext(context));
        let mut block: LLVMValueRef = null_mut();
        if llvm!(core::LLVMHasPersonalityFn(function)) != 0 {
            self.out.position_independent = true;
            // LLVM recognizes personalities by name.
            let personality = llvm!(core::LLVMGetPersonalityFn(function));
            if let Some(&named) = callees.get(&personality) {
                llvm!(core::LLVMSetPersonalityFn(function, named));
            }
        }
        for inst in instructions(function) {
            if !llvm!(core::LLVMIsABinaryOperator(inst)).is_null()
                && llvm!(core::LLVMCanValueUseFastMathFlags(inst)) != 0
                && llvm!(core::LLVMGetFastMathFlags(inst)) & ROUNDING != 0
            {
                self.exact(inst, builder);
                continue;
            }
            if !llvm!(core::LLVMIsAAllocaInst(inst)).is_null() {
                on_a_line(self.parsed.module, inst);
                continue;
            }
            if !is_call(inst) {
                continue;
            }
            let callee = llvm!(core::LLVMGetCalledValue(inst));
            if let Some(&direct) = callees.get(&callee) {
                let short = match llvm!(core::LLVMGetInstructionOpcode(inst)) {
                    LLVMOpcode::LLVMCall => fast_paths.replacement(direct),
                    _ => None,
                };
                let last = llvm!(core::LLVMGetNumOperands(inst)) as u32 - 1;
                llvm!(core::LLVMSetOperand(inst, last, short.unwrap_or(direct)));
                if short.is_none() {
                    stay_below(inst, direct);
                }
                continue;
            }
            stay_below(inst, callee);
            if is_threadlocal_address(inst) {
                let variable = llvm!(core::LLVMGetOperand(inst, 0));
                let Some(&offset) = offsets.get(&variable) else {
                    continue;
                };
                if block.is_null() {
                    block = self.thread_block(function, builder)?;
                }
                llvm!(core::LLVMPositionBuilderBefore(builder, inst));
                let byte = llvm!(core::LLVMInt8TypeInContext(context));
                let word = llvm!(core::LLVMInt64TypeInContext(context));
                let mut index = llvm!(core::LLVMConstInt(word, offset as u64, 0));
                let at = llvm!(core::LLVMBuildInBoundsGEP2(
                    builder,
                    byte,
                    block,
                    &mut index,
                    1,
                    c"".as_ptr()
                ));
                llvm!(core::LLVMReplaceAllUsesWith(inst, at));
                llvm!(core::LLVMInstructionEraseFromParent(inst));
                continue;
            }
            if !llvm!(core::LLVMIsAInlineAsm(callee)).is_null() {
                self.assembly(inst, callee, function, builder)?;
                continue;
            }
            if self.control(inst, callee, function, builder)? {
                continue;
            }
            if intrinsic(callee, "llvm.fmuladd") {
                llvm!(core::LLVMPositionBuilderBefore(builder, inst));
                let flags = llvm!(core::LLVMGetFastMathFlags(inst)) & !ROUNDING;
                let operand = |i| llvm!(core::LLVMGetOperand(inst, i));
                let (a, b, c) = (operand(0), operand(1), operand(2));
                let product = llvm!(core::LLVMBuildFMul(builder, a, b, c"".as_ptr()));
                let sum = llvm!(core::LLVMBuildFAdd(builder, product, c, c"".as_ptr()));
                for new in [product, sum] {
                    if !llvm!(core::LLVMIsAInstruction(new)).is_null() {
                        llvm!(core::LLVMSetFastMathFlags(new, flags));
                    }
                }
                llvm!(core::LLVMReplaceAllUsesWith(inst, sum));
                llvm!(core::LLVMInstructionEraseFromParent(inst));
            }
        }
        llvm!(core::LLVMDisposeBuilder(builder));
        Ok(())
    }

    /// Disables the red zone of functions whose assembly pushes, and makes memory operands begin
    /// with a number where the template adds to them (`4+$0`).
    fn assembly(
        &self,
        inst: LLVMValueRef,
        callee: LLVMValueRef,
        function: LLVMValueRef,
        builder: LLVMBuilderRef,
    ) -> Result<(), String> {
        let context = self.parsed.context;
        let mut len = 0;
        let text = llvm!(core::LLVMGetInlineAsmAsmString(callee, &mut len));
        let mut template = copy_text(text, len).into_string();
        if template.contains("push") || template.contains("call") {
            let kind = "noredzone";
            let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
                kind.as_ptr().cast(),
                kind.len()
            ));
            let attribute = llvm!(core::LLVMCreateEnumAttribute(context, kind, 0));
            let on = LLVMAttributeFunctionIndex;
            llvm!(core::LLVMAddAttributeAtIndex(function, on, attribute));
        }
        let text = llvm!(core::LLVMGetInlineAsmConstraintString(callee, &mut len));
        let constraints = copy_text(text, len);
        self.function_operands(inst, &constraints)?;
        let dialect = llvm!(core::LLVMGetInlineAsmDialect(callee));
        let opcode = llvm!(core::LLVMGetInstructionOpcode(inst));
        if !template.contains("+$")
            || opcode != LLVMOpcode::LLVMCall
            || !matches!(dialect, LLVMInlineAsmDialect::LLVMInlineAsmDialectATT)
        {
            return Ok(());
        }
        let assembly = |ty: LLVMTypeRef, template: &str, constraints: &str, like: [i32; 3]| {
            llvm!(core::LLVMGetInlineAsm(
                ty,
                template.as_ptr().cast(),
                template.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                like[0],
                like[1],
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                like[2]
            ))
        };
        let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
        let mut pointers = [pointer];
        let ty = llvm!(core::LLVMFunctionType(pointer, pointers.as_mut_ptr(), 1, 0));
        // The origin of the address is hidden, so it is printed as a register alone.
        let hide = assembly(ty, "", "=r,0", [0; 3]);
        llvm!(core::LLVMPositionBuilderBefore(builder, inst));
        for (index, input) in inputs(&constraints).iter().enumerate() {
            let moved = input
                .indirect
                .then(|| displaced(&template, input.number))
                .flatten();
            let Some(moved) = moved else { continue };
            template = moved;
            let mut address = llvm!(core::LLVMGetOperand(inst, index as u32));
            let address = &raw mut address;
            let name = c"".as_ptr();
            let hidden = llvm!(core::LLVMBuildCall2(builder, ty, hide, address, 1, name));
            llvm!(core::LLVMSetOperand(inst, index as u32, hidden));
        }
        let like = [
            llvm!(core::LLVMGetInlineAsmHasSideEffects(callee)),
            llvm!(core::LLVMGetInlineAsmNeedsAlignedStack(callee)),
            llvm!(core::LLVMGetInlineAsmCanUnwind(callee)),
        ];
        let ty = llvm!(core::LLVMGetInlineAsmFunctionType(callee));
        let new = assembly(ty, &template, &constraints, like);
        let last = llvm!(core::LLVMGetNumOperands(inst)) as u32 - 1;
        llvm!(core::LLVMSetOperand(inst, last, new));
        Ok(())
    }

    /// Replaces functions as constant operands of assembly by symbols that a constraint for
    /// constants accepts: the code generator must not look them up in the global offset table.
    fn function_operands(&self, inst: LLVMValueRef, constraints: &str) -> Result<(), String> {
        for (index, input) in inputs(constraints).iter().enumerate() {
            let value = llvm!(core::LLVMGetOperand(inst, index as u32));
            if !is_immediate(input.code) || llvm!(core::LLVMIsAFunction(value)).is_null() {
                continue;
            }
            let number = match Symbol::parse(&name_of(value)) {
                Some(Symbol::Stub(n) | Symbol::External(n)) => n,
                _ => continue,
            };
            let symbol = Symbol::Operand(number);
            let name = symbol.to_string();
            let known = llvm!(core::LLVMGetNamedFunctionWithLength(
                self.parsed.module,
                name.as_ptr().cast(),
                name.len()
            ));
            let own = match known.is_null() {
                true => self.declare(symbol, llvm!(core::LLVMGlobalGetValueType(value)))?,
                false => known,
            };
            let hidden = LLVMVisibility::LLVMHiddenVisibility;
            llvm!(core::LLVMSetVisibility(own, hidden));
            llvm!(core::LLVMSetOperand(inst, index as u32, own));
        }
        Ok(())
    }

    /// Replaces intrinsics whose expansion would not work across tiers: jumps of
    /// `__builtin_setjmp`, and trampolines, which LLVM would write into memory that is not
    /// executable. Returns true if it replaced the call.
    fn control(
        &mut self,
        inst: LLVMValueRef,
        callee: LLVMValueRef,
        function: LLVMValueRef,
        builder: LLVMBuilderRef,
    ) -> Result<bool, String> {
        let context = self.parsed.context;
        let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
        let nothing = llvm!(core::LLVMVoidTypeInContext(context));
        let int = llvm!(core::LLVMInt32TypeInContext(context));
        if llvm!(core::LLVMIsAFunction(callee)).is_null()
            || llvm!(core::LLVMGetIntrinsicID(callee)) == 0
        {
            return Ok(false);
        }
        let name = name_of(callee);
        let operand = |i| llvm!(core::LLVMGetOperand(inst, i));
        let call = match &*name {
            _ if name.starts_with("llvm.read_") && name.contains("register.i") => {
                // The code generator accepts rbp only in functions with a frame pointer.
                match &*register_name(operand(0)) {
                    "rbp" | "ebp" => self.frame_address(inst, builder),
                    _ => return Ok(false),
                }
            }
            "llvm.init.trampoline" => {
                let parts = [operand(0), operand(1), operand(2)];
                self.outer_call(Symbol::InitTrampoline, nothing, inst, builder, &parts)?
            }
            "llvm.adjust.trampoline" => {
                let parts = [operand(0)];
                self.outer_call(Symbol::AdjustTrampoline, pointer, inst, builder, &parts)?
            }
            "llvm.eh.sjlj.setjmp" => {
                let entry = llvm!(core::LLVMGetEntryBasicBlock(function));
                let first = llvm!(core::LLVMGetFirstInstruction(entry));
                llvm!(core::LLVMPositionBuilderBefore(builder, first));
                let byte = llvm!(core::LLVMInt8TypeInContext(context));
                let ty = llvm!(core::LLVMArrayType2(byte, u64::from(JUMP_BUFFER)));
                let record = llvm!(core::LLVMBuildAlloca(builder, ty, c"".as_ptr()));
                llvm!(core::LLVMSetAlignment(record, 16));
                llvm!(core::LLVMPositionBuilderBefore(builder, inst));
                let place = self.record_place(operand(0), builder);
                llvm!(core::LLVMBuildStore(builder, record, place));
                let call = self.outer_call(Symbol::SetJump, int, inst, builder, &[record])?;
                let kind = "returns_twice";
                let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
                    kind.as_ptr().cast(),
                    kind.len()
                ));
                let twice = llvm!(core::LLVMCreateEnumAttribute(context, kind, 0));
                let on = LLVMAttributeFunctionIndex;
                llvm!(core::LLVMAddCallSiteAttribute(call, on, twice));
                call
            }
            "llvm.eh.sjlj.longjmp" => {
                llvm!(core::LLVMPositionBuilderBefore(builder, inst));
                let place = self.record_place(operand(0), builder);
                let record = llvm!(core::LLVMBuildLoad2(builder, pointer, place, c"".as_ptr()));
                let one = llvm!(core::LLVMConstInt(int, 1, 0));
                self.outer_call(Symbol::LongJump, nothing, inst, builder, &[record, one])?
            }
            _ => return Ok(false),
        };
        if has_uses(inst) {
            llvm!(core::LLVMReplaceAllUsesWith(inst, call));
        }
        llvm!(core::LLVMInstructionEraseFromParent(inst));
        Ok(true)
    }

    /// Computes the frame's address as an integer of the width of `inst`.
    fn frame_address(&self, inst: LLVMValueRef, builder: LLVMBuilderRef) -> LLVMValueRef {
        const NAME: &str = "llvm.frameaddress";
        let module = self.parsed.module;
        let id = llvm!(core::LLVMLookupIntrinsicID(
            NAME.as_ptr().cast(),
            NAME.len()
        ));
        let mut pointer = llvm!(core::LLVMPointerTypeInContext(self.parsed.context, 0));
        let function = llvm!(core::LLVMGetIntrinsicDeclaration(
            module,
            id,
            &mut pointer,
            1
        ));
        let int = llvm!(core::LLVMInt32TypeInContext(self.parsed.context));
        let mut level = llvm!(core::LLVMConstInt(int, 0, 0));
        let ty = llvm!(core::LLVMGlobalGetValueType(function));
        llvm!(core::LLVMPositionBuilderBefore(builder, inst));
        let address = llvm!(core::LLVMBuildCall2(
            builder,
            ty,
            function,
            &mut level,
            1,
            c"".as_ptr()
        ));
        let to = llvm!(core::LLVMTypeOf(inst));
        llvm!(core::LLVMBuildPtrToInt(builder, address, to, c"".as_ptr()))
    }

    /// Computes the address of the word in a `__builtin_setjmp` buffer that holds its jump buffer's
    /// address.
    fn record_place(&self, buffer: LLVMValueRef, builder: LLVMBuilderRef) -> LLVMValueRef {
        let byte = llvm!(core::LLVMInt8TypeInContext(self.parsed.context));
        let word = llvm!(core::LLVMInt64TypeInContext(self.parsed.context));
        let mut at = llvm!(core::LLVMConstInt(word, JUMP_BUFFER_WORD as u64, 0));
        let index = &raw mut at;
        let name = c"".as_ptr();
        llvm!(core::LLVMBuildInBoundsGEP2(
            builder, byte, buffer, index, 1, name
        ))
    }

    /// Calls a function of ompvm before `inst`, at its source location.
    fn outer_call(
        &mut self,
        symbol: Symbol,
        ret: LLVMTypeRef,
        inst: LLVMValueRef,
        builder: LLVMBuilderRef,
        args: &[LLVMValueRef],
    ) -> Result<LLVMValueRef, String> {
        let mut types: Vec<LLVMTypeRef> =
            args.iter().map(|&a| llvm!(core::LLVMTypeOf(a))).collect();
        let count = args.len() as u32;
        let ty = llvm!(core::LLVMFunctionType(ret, types.as_mut_ptr(), count, 0));
        let name = symbol.to_string();
        let known = llvm!(core::LLVMGetNamedFunctionWithLength(
            self.parsed.module,
            name.as_ptr().cast(),
            name.len()
        ));
        let function = match known.is_null() {
            true => self.declare(symbol, ty)?,
            false => known,
        };
        llvm!(core::LLVMPositionBuilderBefore(builder, inst));
        let mut args = args.to_vec();
        let call = llvm!(core::LLVMBuildCall2(
            builder,
            ty,
            function,
            args.as_mut_ptr(),
            count,
            c"".as_ptr()
        ));
        let place = llvm!(debuginfo::LLVMInstructionGetDebugLoc(inst));
        llvm!(debuginfo::LLVMInstructionSetDebugLoc(call, place));
        Ok(call)
    }

    /// Replaces an instruction by the same operation without permission to round differently:
    /// LLVM's C interface can set such flags but not clear them.
    fn exact(&self, inst: LLVMValueRef, builder: LLVMBuilderRef) {
        llvm!(core::LLVMPositionBuilderBefore(builder, inst));
        let flags = llvm!(core::LLVMGetFastMathFlags(inst)) & !ROUNDING;
        let opcode = llvm!(core::LLVMGetInstructionOpcode(inst));
        let a = llvm!(core::LLVMGetOperand(inst, 0));
        let b = llvm!(core::LLVMGetOperand(inst, 1));
        let new = llvm!(core::LLVMBuildBinOp(builder, opcode, a, b, c"".as_ptr()));
        if !llvm!(core::LLVMIsAInstruction(new)).is_null() {
            llvm!(core::LLVMSetFastMathFlags(new, flags));
        }
        llvm!(core::LLVMReplaceAllUsesWith(inst, new));
        llvm!(core::LLVMInstructionEraseFromParent(inst));
    }

    /// Fetches the thread's block once at the start of a function.
    fn thread_block(
        &mut self,
        function: LLVMValueRef,
        builder: LLVMBuilderRef,
    ) -> Result<LLVMValueRef, String> {
        let helper = self.helper()?;
        let entry = llvm!(core::LLVMGetEntryBasicBlock(function));
        let first = llvm!(core::LLVMGetFirstInstruction(entry));
        llvm!(core::LLVMPositionBuilderBefore(builder, first));
        let ty = llvm!(core::LLVMGlobalGetValueType(helper));
        let variables = fixed_allocas(entry);
        let call = llvm!(core::LLVMBuildCall2(
            builder,
            ty,
            helper,
            null_mut(),
            0,
            c"".as_ptr()
        ));
        // Inlining the call splits the block there, and allocas behind it would no longer be part
        // of the fixed frame.
        llvm!(core::LLVMPositionBuilderBefore(builder, call));
        for variable in variables {
            llvm!(core::LLVMInstructionRemoveFromParent(variable));
            llvm!(core::LLVMInsertIntoBuilder(builder, variable));
        }
        // A call that is inlined needs a debug location if its function has a subprogram.
        let scope = llvm!(debuginfo::LLVMGetSubprogram(function));
        if !scope.is_null() {
            let place = llvm!(debuginfo::LLVMDIBuilderCreateDebugLocation(
                self.parsed.context,
                0,
                0,
                scope,
                null_mut()
            ));
            llvm!(debuginfo::LLVMInstructionSetDebugLoc(call, place));
        }
        Ok(call)
    }

    /// Defines `ptr ompvm.block()`, which returns the cell's contents, or creates the block.
    fn helper(&mut self) -> Result<LLVMValueRef, String> {
        let (module, context) = (self.parsed.module, self.parsed.context);
        let known = llvm!(core::LLVMGetNamedFunction(module, c"ompvm.block".as_ptr()));
        if !known.is_null() {
            return Ok(known);
        }
        let pointer = llvm!(core::LLVMPointerTypeInContext(context, 0));
        let mut params = [pointer];
        let make_type = llvm!(core::LLVMFunctionType(pointer, params.as_mut_ptr(), 1, 0));
        let make = self.declare(Symbol::MakeBlock, make_type)?;
        let ty = llvm!(core::LLVMFunctionType(pointer, null_mut(), 0, 0));
        let helper = llvm!(core::LLVMAddFunction(module, c"ompvm.block".as_ptr(), ty));
        llvm!(core::LLVMSetLinkage(
            helper,
            LLVMLinkage::LLVMInternalLinkage
        ));
        for name in ["alwaysinline", "nounwind"] {
            let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
                name.as_ptr().cast(),
                name.len()
            ));
            let attribute = llvm!(core::LLVMCreateEnumAttribute(context, kind, 0));
            llvm!(core::LLVMAddAttributeAtIndex(
                helper,
                LLVMAttributeFunctionIndex,
                attribute
            ));
        }
        target_attributes::forbid_wide_vectors(helper);
        target_attributes::set(helper);
        self.out.inline = true;
        let cell = match self.request.thread_cell {
            true => Some(self.outside(Symbol::ThreadCell, THREAD_POINTER)?),
            false => None,
        };
        let image = self.outside(Symbol::Image, 0)?;
        let builder = llvm!(core::LLVMCreateBuilderInContext(context));
        let block = |name: &std::ffi::CStr| {
            llvm!(core::LLVMAppendBasicBlockInContext(
                context,
                helper,
                name.as_ptr()
            ))
        };
        let entry = block(c"entry");
        let known = cell.map(|cell| {
            let (found, slow) = (block(c"found"), block(c"slow"));
            llvm!(core::LLVMPositionBuilderAtEnd(builder, entry));
            let value = llvm!(core::LLVMBuildLoad2(builder, pointer, cell, c"".as_ptr()));
            let null = llvm!(core::LLVMConstNull(pointer));
            let none = llvm!(core::LLVMBuildICmp(
                builder,
                LLVMIntPredicate::LLVMIntEQ,
                value,
                null,
                c"".as_ptr()
            ));
            llvm!(core::LLVMBuildCondBr(builder, none, slow, found));
            llvm!(core::LLVMPositionBuilderAtEnd(builder, found));
            llvm!(core::LLVMBuildRet(builder, value));
            slow
        });
        let slow = known.unwrap_or(entry);
        llvm!(core::LLVMPositionBuilderAtEnd(builder, slow));
        let mut argument = image;
        let made = llvm!(core::LLVMBuildCall2(
            builder,
            make_type,
            make,
            &mut argument,
            1,
            c"".as_ptr()
        ));
        llvm!(core::LLVMBuildRet(builder, made));
        llvm!(core::LLVMDisposeBuilder(builder));
        Ok(helper)
    }

    /// Declares a variable for a symbol.
    fn outside(&self, symbol: Symbol, address_space: u32) -> Result<LLVMValueRef, String> {
        let pointer = llvm!(core::LLVMPointerTypeInContext(self.parsed.context, 0));
        let new = llvm!(core::LLVMAddGlobalInAddressSpace(
            self.parsed.module,
            pointer,
            c"".as_ptr(),
            address_space
        ));
        rename(new, symbol)?;
        if address_space == THREAD_POINTER {
            // Resolved at link time like near symbols, without a table of addresses.
            llvm!(core::LLVMSetVisibility(
                new,
                LLVMVisibility::LLVMHiddenVisibility
            ));
        }
        Ok(new)
    }

    /// Makes a compiled function external under its own symbol, for this processor.
    fn definition(&mut self, number: usize, function: LLVMValueRef) -> Result<(), String> {
        let name = rename(function, Symbol::Function(number))?;
        llvm!(core::LLVMSetLinkage(
            function,
            LLVMLinkage::LLVMExternalLinkage
        ));
        in_no_place(function);
        self.out.wide |= target_attributes::knew_wide(function);
        target_attributes::set(function);
        self.out.compiled.push((number, name));
        Ok(())
    }

    /// Deletes symbols that are no longer used.
    fn finish(&mut self, callees: &HashMap<LLVMValueRef, LLVMValueRef>) {
        for &symbol in callees.keys() {
            if !has_uses(symbol) {
                llvm!(core::LLVMDeleteFunction(symbol));
            }
        }
        if self.request.dump {
            let text = llvm!(core::LLVMPrintModuleToString(self.parsed.module));
            eprintln!("{}", take_message(text));
        }
    }
}

/// LLVM's address space for addresses relative to the thread pointer on x86-64.
const THREAD_POINTER: u32 = 257;
/// Resets visibility, comdat and section that the guest's compiler chose.
fn in_no_place(function: LLVMValueRef) {
    llvm!(core::LLVMSetVisibility(
        function,
        LLVMVisibility::LLVMDefaultVisibility
    ));
    llvm!(comdat::LLVMSetComdat(function, null_mut()));
    llvm!(core::LLVMSetSection(function, c"".as_ptr()));
}

/// Aligns a large local variable to a cache line. Otherwise every other 32-byte access may cross
/// one.
fn on_a_line(module: LLVMModuleRef, alloca: LLVMValueRef) {
    const LINE: u32 = 64;
    const LARGE: u64 = 256;
    let ty = llvm!(core::LLVMGetAllocatedType(alloca));
    let layout = llvm!(target::LLVMGetModuleDataLayout(module));
    let large = llvm!(core::LLVMTypeIsSized(ty)) != 0
        && llvm!(target::LLVMABISizeOfType(layout, ty)) >= LARGE;
    if large && llvm!(core::LLVMGetAlignment(alloca)) < LINE {
        llvm!(core::LLVMSetAlignment(alloca, LINE));
    }
}

pub(super) fn intrinsic(callee: LLVMValueRef, prefix: &str) -> bool {
    !llvm!(core::LLVMIsAFunction(callee)).is_null() && name_of(callee).starts_with(prefix)
}

/// Prevents a tail call of native code, so that the function stays on the stack below it: otherwise
/// a fault there (a double `free`, for example) could not be located in the program.
fn stay_below(inst: LLVMValueRef, callee: LLVMValueRef) {
    let opcode = |i| llvm!(core::LLVMGetInstructionOpcode(i));
    if opcode(inst) != LLVMOpcode::LLVMCall
        || llvm!(core::LLVMIsAFunction(callee)).is_null()
        || llvm!(core::LLVMGetTailCallKind(inst)) == LLVMTailCallKind::LLVMTailCallKindMustTail
        || llvm!(core::LLVMGetIntrinsicID(callee)) != 0
        || matches!(
            Symbol::parse(&name_of(callee)),
            Some(Symbol::Function(_) | Symbol::Stub(_))
        )
    {
        return;
    }
    // Skips to the next instruction that is more than bookkeeping.
    let after = |mut i: LLVMValueRef| {
        while opcode(i) == LLVMOpcode::LLVMPHI || !llvm!(core::LLVMIsAIntrinsicInst(i)).is_null() {
            i = llvm!(core::LLVMGetNextInstruction(i));
        }
        i
    };
    let mut next = after(llvm!(core::LLVMGetNextInstruction(inst)));
    if opcode(next) == LLVMOpcode::LLVMBr && llvm!(core::LLVMIsConditional(next)) == 0 {
        let block = llvm!(core::LLVMGetSuccessor(next, 0));
        next = after(llvm!(core::LLVMGetFirstInstruction(block)));
    }
    if opcode(next) == LLVMOpcode::LLVMRet {
        let kind = LLVMTailCallKind::LLVMTailCallKindNoTail;
        llvm!(core::LLVMSetTailCallKind(inst, kind));
    }
}

/// Returns the register that a metadata argument names.
fn register_name(argument: LLVMValueRef) -> Box<str> {
    let count = llvm!(core::LLVMGetMDNodeNumOperands(argument)) as usize;
    let mut operands = vec![null_mut(); count];
    llvm!(core::LLVMGetMDNodeOperands(argument, operands.as_mut_ptr()));
    let mut len = 0;
    match operands.first() {
        Some(&name) if !name.is_null() => {
            let text = llvm!(core::LLVMGetMDString(name, &mut len));
            copy_text(text, len as usize)
        }
        _ => "".into(),
    }
}

fn is_threadlocal_address(inst: LLVMValueRef) -> bool {
    is_call(inst)
        && intrinsic(
            llvm!(core::LLVMGetCalledValue(inst)),
            "llvm.threadlocal.address",
        )
}

/// Lists the functions whose instructions use a value; `None` if there are none.
fn users(value: LLVMValueRef) -> Option<Vec<LLVMValueRef>> {
    let mut out = Vec::new();
    let mut at = llvm!(core::LLVMGetFirstUse(value));
    while !at.is_null() {
        let user = llvm!(core::LLVMGetUser(at));
        at = llvm!(core::LLVMGetNextUse(at));
        if !llvm!(core::LLVMIsAInstruction(user)).is_null() {
            let block = llvm!(core::LLVMGetInstructionParent(user));
            out.push(llvm!(core::LLVMGetBasicBlockParent(block)));
        }
    }
    (!out.is_empty()).then_some(out)
}
