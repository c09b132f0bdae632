//! Analysis of a region's memory accesses and their addresses.
//!
//! Each access is traced to something that the host can name: an argument, a variable of the
//! program, a pointer that lies in either and is not changed, or a private variable. A region with
//! any other access stays on the host, because it is unknown which memory the device would need.

use super::kernel_sequence;
use super::loops::{self, Loop};
use super::runtime_calls::{PREFIX, STATIC_FINI};
use super::{Access, Origin, Passing, Refusal, Root, constant, refuse, users};
use crate::nvptx::{called, instructions};
use crate::raw::llvm;
use crate::reader::name_of;
use crate::shim;
use hashbrown::HashSet;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMTypeKind};
use std::collections::BTreeMap;

/// Size of the largest memory block that is passed as words, in bytes.
const COPIED: u64 = 256;

/// Origin of an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Source {
    /// The memory of an argument or variable, or memory reached from it through the pointers at
    /// these offsets in turn.
    Of(Origin, Vec<u32>),
    /// Private or constant memory.
    Private,
}

/// Accesses to the memory of a source.
#[derive(Clone, Copy, Debug, Default)]
struct SourceAccess {
    read: bool,
    write: bool,
    /// True if accesses are not at known offsets.
    anywhere: bool,
    /// End of the farthest known access, in bytes.
    end: u64,
}

pub(super) struct AccessAnalysis {
    module: LLVMModuleRef,
    function: LLVMValueRef,
    touched: BTreeMap<Source, SourceAccess>,
}

/// Returns the origin of an argument or variable; `None` for other values.
pub(super) fn origin(function: LLVMValueRef, value: LLVMValueRef) -> Option<Origin> {
    if !llvm!(core::LLVMIsAGlobalVariable(value)).is_null() {
        return Some(Origin::Global(name_of(value).into_string()));
    }
    let count = llvm!(core::LLVMCountParams(function));
    (2..count)
        .find(|&i| llvm!(core::LLVMGetParam(function, i)) == value)
        .map(|i| Origin::Captured(i - 2))
}

/// Returns how an address is reached from an argument or variable: the offsets of the pointers on
/// the way, and the final offset.
pub(super) fn path(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    address: LLVMValueRef,
) -> Option<(Origin, Vec<u32>, u32)> {
    let (base, offset) = shim::constant_offset(module, address);
    let offset = u32::try_from(offset).ok()?;
    if let Some(origin) = origin(function, base) {
        return Some((origin, Vec::new(), offset));
    }
    if llvm!(core::LLVMIsALoadInst(base)).is_null() {
        return None;
    }
    let through = llvm!(core::LLVMGetOperand(base, 0));
    let (origin, mut offsets, at) = path(module, function, through)?;
    offsets.push(at);
    Some((origin, offsets, offset))
}

/// Returns the host data that a region with these loops needs: all arguments, then variables.
pub(super) fn roots(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    loops: &[Loop],
) -> Result<Vec<Root>, Refusal> {
    let look = AccessAnalysis::at(module, function)?;
    match loops {
        [] => return Err(refuse("its loop is never reached", None)),
        [only] => around(module, function, only)?,
        several => kernel_sequence::check(&look, function, several)?,
    }
    look.passing()
}

/// Returns the host data like [`roots`], without restrictions on code around the loops.
pub(super) fn all_roots(
    module: LLVMModuleRef,
    function: LLVMValueRef,
) -> Result<Vec<Root>, Refusal> {
    AccessAnalysis::at(module, function)?.passing()
}

/// Returns the indices of the region's roots that a part of it writes.
pub(super) fn written(
    module: LLVMModuleRef,
    part: LLVMValueRef,
    roots: &[Root],
) -> Result<Vec<u32>, Refusal> {
    let look = AccessAnalysis::at(module, part)?;
    let writes = |origin: &Origin| {
        let of = |s: &Source| matches!(s, Source::Of(o, _) if o == origin);
        look.touched.iter().any(|(s, t)| t.write && of(s))
    };
    // Any other sources are addresses within the roots.
    let beside = |s: &Source| match s {
        Source::Of(origin, _) => roots.iter().all(|r| r.origin != *origin),
        Source::Private => false,
    };
    let any = look.touched.iter().any(|(s, t)| t.write && beside(s));
    let numbers = (0u32..).zip(roots);
    Ok(numbers
        .filter(|(_, r)| any || writes(&r.origin))
        .map(|(n, _)| n)
        .collect())
}

/// Refuses code around the loop whose effect depends on how often it runs.
fn around(module: LLVMModuleRef, function: LLVMValueRef, only: &Loop) -> Result<(), Refusal> {
    let block = |i| llvm!(core::LLVMGetInstructionParent(i));
    let begin = only.begin;
    let before = loops::reaching(function, &[block(begin)]);
    let mut begun = false;
    for instruction in instructions(function) {
        begun |= instruction == begin;
        let here = block(instruction);
        let early = before.contains(&here) || (here == block(begin) && !begun);
        let opcode = llvm!(core::LLVMGetInstructionOpcode(instruction));
        let atomic = matches!(
            opcode,
            LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg
        );
        if early && (atomic || shared_store(module, function, instruction)) {
            return Err(refuse(
                "memory is written before the loop, once for each thread",
                Some(instruction),
            ));
        }
        // Code after the loop may be in the block of its end.
        if atomic && !only.contains(instruction) {
            return Err(refuse(
                "an atomic update outside of the loop, once for each thread",
                Some(instruction),
            ));
        }
    }
    Ok(())
}

/// Returns true for a store to memory that is not private.
fn shared_store(module: LLVMModuleRef, function: LLVMValueRef, instruction: LLVMValueRef) -> bool {
    if llvm!(core::LLVMIsAStoreInst(instruction)).is_null() {
        return false;
    }
    let look = AccessAnalysis {
        module,
        function,
        touched: BTreeMap::new(),
    };
    let address = llvm!(core::LLVMGetOperand(instruction, 1));
    let found = look.sources(address, instruction);
    found.is_ok_and(|list| list.iter().any(|(s, _)| *s != Source::Private))
}

impl AccessAnalysis {
    /// Analyzes a function.
    fn at(module: LLVMModuleRef, function: LLVMValueRef) -> Result<AccessAnalysis, Refusal> {
        let mut look = AccessAnalysis {
            module,
            function,
            touched: BTreeMap::new(),
        };
        for instruction in instructions(function) {
            look.instruction(instruction)?;
        }
        Ok(look)
    }

    /// Returns true if the region writes to the memory of a source.
    pub(super) fn changes(&self, source: &Source) -> bool {
        self.touched.get(source).is_some_and(|t| t.write)
    }

    fn operand(&self, instruction: LLVMValueRef, index: u32) -> LLVMValueRef {
        llvm!(core::LLVMGetOperand(instruction, index))
    }

    fn size(&self, of: LLVMTypeRef) -> u64 {
        let layout = llvm!(target::LLVMGetModuleDataLayout(self.module));
        llvm!(target::LLVMStoreSizeOfType(layout, of))
    }

    fn instruction(&mut self, instruction: LLVMValueRef) -> Result<(), Refusal> {
        use LLVMOpcode::*;
        let of = |value| llvm!(core::LLVMTypeOf(value));
        match llvm!(core::LLVMGetInstructionOpcode(instruction)) {
            LLVMLoad => {
                let ordering = llvm!(core::LLVMGetOrdering(instruction));
                if !relaxed(ordering) {
                    return Err(refuse(
                        "an atomic read that waits for other threads' writes",
                        Some(instruction),
                    ));
                }
                let size = self.size(of(instruction));
                self.access(instruction, self.operand(instruction, 0), Some(size), false)
            }
            LLVMStore => {
                if !relaxed(llvm!(core::LLVMGetOrdering(instruction))) {
                    return Err(refuse("a flush of other writes", Some(instruction)));
                }
                let value = self.operand(instruction, 0);
                let address = self.operand(instruction, 1);
                if holds_pointer(of(value)) {
                    let own = self.sources(address, instruction)?;
                    if own.iter().any(|(s, _)| *s != Source::Private) {
                        return Err(refuse("an address is stored in memory", Some(instruction)));
                    }
                }
                let size = self.size(of(value));
                self.access(instruction, address, Some(size), true)
            }
            LLVMAtomicRMW | LLVMAtomicCmpXchg => {
                let ordering = match llvm!(core::LLVMIsAAtomicRMWInst(instruction)).is_null() {
                    false => llvm!(core::LLVMGetOrdering(instruction)),
                    true => llvm!(core::LLVMGetCmpXchgSuccessOrdering(instruction)),
                };
                if !relaxed(ordering) {
                    return Err(refuse(
                        "an atomic update that orders other accesses",
                        Some(instruction),
                    ));
                }
                let size = self.size(of(self.operand(instruction, 1)));
                let address = self.operand(instruction, 0);
                self.access(instruction, address, Some(size), false)?;
                self.access(instruction, address, Some(size), true)
            }
            LLVMPtrToInt => {
                self.number(instruction)?;
                self.address(instruction, self.operand(instruction, 0))
            }
            LLVMICmp if holds_pointer(of(self.operand(instruction, 0))) => {
                self.address(instruction, self.operand(instruction, 0))?;
                self.address(instruction, self.operand(instruction, 1))
            }
            LLVMIntToPtr => Err(refuse(
                "an address is computed from an integer",
                Some(instruction),
            )),
            LLVMCall => self.call(instruction),
            _ => Ok(()),
        }
    }

    /// An address as an integer may only be compared and subtracted.
    fn number(&self, instruction: LLVMValueRef) -> Result<(), Refusal> {
        use LLVMOpcode::*;
        for user in users(instruction) {
            let harmless = !llvm!(core::LLVMIsAInstruction(user)).is_null()
                && matches!(
                    llvm!(core::LLVMGetInstructionOpcode(user)),
                    LLVMSub | LLVMICmp | LLVMAnd | LLVMOr | LLVMAdd
                );
            if !harmless {
                return Err(refuse(
                    "an address is used as an integer",
                    Some(instruction),
                ));
            }
        }
        Ok(())
    }

    fn call(&mut self, call: LLVMValueRef) -> Result<(), Refusal> {
        let Some(callee) = called(call) else {
            return Ok(());
        };
        let name = name_of(callee);
        if name.starts_with(PREFIX)
            || &*name == STATIC_FINI
            || name.starts_with("llvm.lifetime.")
            || name.starts_with("llvm.dbg.")
            || name.starts_with("llvm.assume")
            || name.starts_with("llvm.experimental.noalias")
            || name.starts_with("llvm.prefetch")
            || name.starts_with("llvm.invariant.")
        {
            return Ok(());
        }
        let size = |look: &AccessAnalysis| {
            let size = constant(look.operand(call, 2));
            size.and_then(|n| u64::try_from(n).ok())
        };
        if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            self.access(call, self.operand(call, 0), size(self), true)?;
            return self.access(call, self.operand(call, 1), size(self), false);
        }
        if name.starts_with("llvm.memset.") {
            return self.access(call, self.operand(call, 0), size(self), true);
        }
        if &*name == "llvm.threadlocal.address.p0" {
            return Err(refuse("a threadprivate variable", Some(call)));
        }
        // Output parameters, such as those of `modf`.
        for index in 0..llvm!(core::LLVMGetNumArgOperands(call)) {
            let argument = self.operand(call, index);
            if holds_pointer(llvm!(core::LLVMTypeOf(argument))) {
                self.access(call, argument, None, true)?;
            }
        }
        Ok(())
    }

    /// Records that an address itself is used: it must be of the same side as the ones that it is
    /// compared with.
    fn address(&mut self, at: LLVMValueRef, address: LLVMValueRef) -> Result<(), Refusal> {
        for (source, _) in self.sources(address, at)? {
            if source != Source::Private {
                self.touched.entry(source).or_default();
            }
        }
        Ok(())
    }

    /// Records an access; without a size it may be anywhere.
    fn access(
        &mut self,
        at: LLVMValueRef,
        address: LLVMValueRef,
        size: Option<u64>,
        write: bool,
    ) -> Result<(), Refusal> {
        for (source, offset) in self.sources(address, at)? {
            if source == Source::Private {
                continue;
            }
            let touched = self.touched.entry(source).or_default();
            touched.read |= !write;
            touched.write |= write;
            match (offset.and_then(|o| u64::try_from(o).ok()), size) {
                (Some(offset), Some(size)) => touched.end = touched.end.max(offset + size),
                _ => touched.anywhere = true,
            }
        }
        Ok(())
    }

    /// Returns the origins of an address, each with the offset if it is known.
    pub(super) fn sources(
        &self,
        address: LLVMValueRef,
        at: LLVMValueRef,
    ) -> Result<Vec<(Source, Option<i64>)>, Refusal> {
        let mut found: Vec<(Source, Option<i64>)> = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![(address, Some(0i64))];
        while let Some((value, distance)) = open.pop() {
            let (base, offset) = shim::constant_offset(self.module, value);
            let distance = distance.map(|d| d + offset);
            if !seen.insert((base, distance)) {
                continue;
            }
            if let Some(source) = self.direct(base) {
                found.push((source, distance));
                continue;
            }
            if llvm!(core::LLVMIsAInstruction(base)).is_null() {
                match constant_parts(base) {
                    Some(part) => open.push((part, None)),
                    None => return Err(refuse("an address that is a constant integer", Some(at))),
                }
                continue;
            }
            use LLVMOpcode::*;
            match llvm!(core::LLVMGetInstructionOpcode(base)) {
                LLVMGetElementPtr => open.push((self.operand(base, 0), None)),
                LLVMPHI => {
                    for index in 0..llvm!(core::LLVMCountIncoming(base)) {
                        let value = llvm!(core::LLVMGetIncomingValue(base, index));
                        open.push((value, None));
                    }
                }
                LLVMSelect => {
                    open.push((self.operand(base, 1), None));
                    open.push((self.operand(base, 2), None));
                }
                LLVMFreeze => open.push((self.operand(base, 0), distance)),
                LLVMAlloca => found.push((Source::Private, distance)),
                LLVMLoad => {
                    let source = self.pointer(base, at)?;
                    found.push((source, distance));
                }
                LLVMIntToPtr => {
                    return Err(refuse("an address is computed from an integer", Some(at)));
                }
                _ => return Err(refuse("an address of unknown origin", Some(at))),
            }
        }
        Ok(found)
    }

    /// Returns the source of an argument or variable.
    fn direct(&self, base: LLVMValueRef) -> Option<Source> {
        let variable = !llvm!(core::LLVMIsAGlobalVariable(base)).is_null();
        if variable
            && llvm!(core::LLVMIsGlobalConstant(base)) != 0
            && llvm!(core::LLVMIsDeclaration(base)) == 0
        {
            return Some(Source::Private);
        }
        if llvm!(core::LLVMIsNull(base)) != 0
            || llvm!(core::LLVMIsUndef(base)) != 0
            || llvm!(core::LLVMIsPoison(base)) != 0
        {
            return Some(Source::Private);
        }
        origin(self.function, base).map(|o| Source::Of(o, Vec::new()))
    }

    /// Returns the source of a pointer that is loaded from memory that the host can read.
    fn pointer(&self, load: LLVMValueRef, at: LLVMValueRef) -> Result<Source, Refusal> {
        match path(self.module, self.function, self.operand(load, 0)) {
            Some((origin, mut offsets, offset)) if offset % 8 == 0 => {
                offsets.push(offset);
                Ok(Source::Of(origin, offsets))
            }
            _ => Err(refuse(
                "it is reached through a pointer in memory that the host cannot read",
                Some(at),
            )),
        }
    }

    /// Decides how each source is passed.
    fn passing(&self) -> Result<Vec<Root>, Refusal> {
        let count = llvm!(core::LLVMCountParams(self.function)) - 2;
        let mut origins: Vec<Origin> = (0..count).map(Origin::Captured).collect();
        for source in self.touched.keys() {
            let Source::Of(origin, _) = source else {
                continue;
            };
            if !origins.contains(origin) {
                origins.push(origin.clone());
            }
        }
        let mut roots = Vec::new();
        for origin in origins {
            if let Origin::Global(name) = &origin {
                self.global(name)?;
            }
            let passing = self.pass(&origin, &[])?;
            roots.push(Root { origin, passing });
        }
        Ok(roots)
    }

    fn global(&self, name: &str) -> Result<(), Refusal> {
        let text = format!("{name}\0");
        let variable = llvm!(core::LLVMGetNamedGlobal(self.module, text.as_ptr().cast()));
        if !variable.is_null() && llvm!(core::LLVMIsThreadLocal(variable)) != 0 {
            return Err(refuse(
                format!("the variable `{name}` is threadprivate"),
                None,
            ));
        }
        Ok(())
    }

    fn pass(&self, origin: &Origin, offsets: &[u32]) -> Result<Passing, Refusal> {
        let direct = self
            .touched
            .get(&Source::Of(origin.clone(), offsets.to_vec()));
        let Some(direct) = direct else {
            return Ok(Passing::Value);
        };
        let mut next: Vec<u32> = Vec::new();
        for source in self.touched.keys() {
            if let Source::Of(of, path) = source
                && of == origin
                && path.len() > offsets.len()
                && path.starts_with(offsets)
                && !next.contains(&path[offsets.len()])
            {
                next.push(path[offsets.len()]);
            }
        }
        if !direct.read && !direct.write {
            return Ok(Passing::Object(Access::default()));
        }
        if !direct.write && !direct.anywhere && direct.end <= COPIED {
            let pointer = |&offset: &u32| {
                let path = [offsets, &[offset]].concat();
                Ok((offset, self.pass(origin, &path)?))
            };
            return Ok(Passing::Copy {
                size: direct.end as u32,
                pointers: next.iter().map(pointer).collect::<Result<_, Refusal>>()?,
            });
        }
        if !next.is_empty() {
            return Err(refuse(
                "a pointer in memory that the region changes leads to further memory",
                None,
            ));
        }
        let known = match offsets {
            [] => self.known_size(origin),
            _ => None,
        };
        Ok(Passing::Object(access(direct, known)))
    }

    /// Returns the size that the compiler promises, or a variable's size.
    fn known_size(&self, origin: &Origin) -> Option<u64> {
        match origin {
            Origin::Captured(index) => {
                let name = c"dereferenceable";
                let kind = llvm!(core::LLVMGetEnumAttributeKindForName(
                    name.as_ptr(),
                    name.count_bytes()
                ));
                let found = llvm!(core::LLVMGetEnumAttributeAtIndex(
                    self.function,
                    index + 3,
                    kind
                ));
                (!found.is_null()).then(|| llvm!(core::LLVMGetEnumAttributeValue(found)))
            }
            Origin::Global(name) => {
                let text = format!("{name}\0");
                let variable = llvm!(core::LLVMGetNamedGlobal(self.module, text.as_ptr().cast()));
                if variable.is_null() || llvm!(core::LLVMIsDeclaration(variable)) != 0 {
                    return None;
                }
                Some(self.size(llvm!(core::LLVMGlobalGetValueType(variable))))
            }
        }
    }
}

fn access(touched: &SourceAccess, known: Option<u64>) -> Access {
    let end = (!touched.anywhere).then_some(touched.end);
    Access {
        read: touched.read,
        write: touched.write,
        size: known.or(end),
    }
}

fn relaxed(ordering: LLVMAtomicOrdering) -> bool {
    matches!(
        ordering,
        LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
            | LLVMAtomicOrdering::LLVMAtomicOrderingUnordered
            | LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic
    )
}

/// Returns the base of a constant address.
fn constant_parts(value: LLVMValueRef) -> Option<LLVMValueRef> {
    let expression = !llvm!(core::LLVMIsAConstantExpr(value)).is_null();
    let opcode = expression.then(|| llvm!(core::LLVMGetConstOpcode(value)))?;
    (opcode == LLVMOpcode::LLVMGetElementPtr).then(|| llvm!(core::LLVMGetOperand(value, 0)))
}

fn holds_pointer(of: LLVMTypeRef) -> bool {
    use LLVMTypeKind::*;
    match llvm!(core::LLVMGetTypeKind(of)) {
        LLVMPointerTypeKind => true,
        LLVMVectorTypeKind | LLVMArrayTypeKind => {
            holds_pointer(llvm!(core::LLVMGetElementType(of)))
        }
        LLVMStructTypeKind => (0..llvm!(core::LLVMCountStructElementTypes(of)))
            .any(|i| holds_pointer(llvm!(core::LLVMStructGetTypeAtIndex(of, i)))),
        _ => false,
    }
}
