//! Analysis of a region's memory accesses and their addresses.
//!
//! Each access is traced to something that the host can name: an argument, a variable of the
//! program, a pointer that lies in either and is not changed, or a private variable. A region with
//! any other access stays on the host, because it is unknown which memory the device would need.

use super::kernel_sequence::{self, derived_from};
use super::loops::{self, Loop};
use super::runtime_calls::{PREFIX, STATIC_FINI};
use super::{Access, Origin, Passing, Refusal, Root, has_no_effect, refuse, refuse_at};
use crate::handles::{
    Call, Function, Instruction, Module, Opcode, Ordering, Position, Type, Value,
};
use crate::shim;
use hashbrown::HashSet;
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

pub(super) struct AccessAnalysis<'m> {
    module: Module<'m>,
    function: Function<'m>,
    touched: BTreeMap<Source, SourceAccess>,
}

/// Returns the origin of an argument or variable; `None` for other values.
pub(super) fn origin<'m>(function: Function<'m>, value: Value<'m>) -> Option<Origin> {
    if value.as_variable().is_some() {
        return Some(Origin::Global(value.name().into()));
    }
    let index = function.parameters().skip(2).position(|p| p == value)?;
    Some(Origin::Captured(index as u32))
}

/// Returns how an address is reached from an argument or variable: the offsets of the pointers on
/// the way, and the final offset.
pub(super) fn path<'m>(
    module: Module<'m>,
    function: Function<'m>,
    address: Value<'m>,
) -> Option<(Origin, Vec<u32>, u32)> {
    let (base, offset) = shim::constant_offset(module, address);
    let offset = u32::try_from(offset).ok()?;
    if let Some(origin) = origin(function, base) {
        return Some((origin, Vec::new(), offset));
    }
    let (origin, mut offsets, at) = path(module, function, base.as_load()?.pointer())?;
    offsets.push(at);
    Some((origin, offsets, offset))
}

/// Returns the host data that a region with these loops needs: all arguments, then variables.
pub(super) fn roots<'m>(
    module: Module<'m>,
    function: Function<'m>,
    loops: &[Loop<'m>],
) -> Result<Vec<Root>, Refusal> {
    let look = AccessAnalysis::at(module, function)?;
    match loops {
        [] => return Err(refuse("its loop is never reached")),
        [only] => look.around(only)?,
        several => kernel_sequence::check(&look, function, several)?,
    }
    look.passing()
}

/// Returns the host data like [`roots`], without restrictions on code around the loops.
pub(super) fn all_roots<'m>(
    module: Module<'m>,
    function: Function<'m>,
) -> Result<Vec<Root>, Refusal> {
    AccessAnalysis::at(module, function)?.passing()
}

/// Returns the indices of the region's roots that a part of it writes.
pub(super) fn written<'m>(
    module: Module<'m>,
    part: Function<'m>,
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

impl<'m> AccessAnalysis<'m> {
    /// Analyzes a function.
    fn at(module: Module<'m>, function: Function<'m>) -> Result<AccessAnalysis<'m>, Refusal> {
        let mut look = AccessAnalysis {
            module,
            function,
            touched: BTreeMap::new(),
        };
        for instruction in function.instructions() {
            look.instruction(instruction)?;
        }
        Ok(look)
    }

    /// Refuses code around the loop whose effect depends on how often it runs.
    fn around(&self, only: &Loop<'m>) -> Result<(), Refusal> {
        let begins_in = only.begin.block();
        let before = loops::reaching(self.function, vec![begins_in]);
        let mut begun = false;
        for instruction in self.function.instructions() {
            begun |= instruction == only.begin;
            let here = instruction.block();
            let early = before.contains(&here) || (here == begins_in && !begun);
            let atomic = matches!(
                instruction.opcode(),
                Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg
            );
            if early && (atomic || self.stores_to_shared(instruction)) {
                return Err(refuse_at(
                    "memory is written before the loop, once for each thread",
                    instruction,
                ));
            }
            // Code after the loop may be in the block of its end.
            if atomic && !only.contains(instruction) {
                return Err(refuse_at(
                    "an atomic update outside of the loop, once for each thread",
                    instruction,
                ));
            }
        }
        Ok(())
    }

    /// Returns true for a store to memory that is not private.
    fn stores_to_shared(&self, instruction: Instruction<'m>) -> bool {
        instruction.as_store().is_some_and(|store| {
            let found = self.sources(store.pointer(), instruction);
            found.is_ok_and(|list| list.iter().any(|(s, _)| *s != Source::Private))
        })
    }

    /// Returns true if the region writes to the memory of a source.
    pub(super) fn changes(&self, source: &Source) -> bool {
        self.touched.get(source).is_some_and(|t| t.write)
    }

    fn size(&self, of: Type<'m>) -> u64 {
        self.module.layout().stored(of)
    }

    fn instruction(&mut self, instruction: Instruction<'m>) -> Result<(), Refusal> {
        use Opcode::*;
        match instruction.opcode() {
            LLVMLoad => {
                if !relaxed(instruction) {
                    return Err(refuse_at(
                        "an atomic read that waits for other threads' writes",
                        instruction,
                    ));
                }
                let size = self.size(instruction.of());
                self.access(instruction, instruction.operand(0), Some(size), false)
            }
            LLVMStore => {
                if !relaxed(instruction) {
                    return Err(refuse_at("a flush of other writes", instruction));
                }
                let (value, address) = (instruction.operand(0), instruction.operand(1));
                if holds_pointer(value.of()) {
                    let own = self.sources(address, instruction)?;
                    if own.iter().any(|(s, _)| *s != Source::Private) {
                        return Err(refuse_at("an address is stored in memory", instruction));
                    }
                }
                let size = self.size(value.of());
                self.access(instruction, address, Some(size), true)
            }
            LLVMAtomicRMW | LLVMAtomicCmpXchg => {
                if !relaxed(instruction) {
                    return Err(refuse_at(
                        "an atomic update that orders other accesses",
                        instruction,
                    ));
                }
                let size = self.size(instruction.operand(1).of());
                let address = instruction.operand(0);
                self.access(instruction, address, Some(size), false)?;
                self.access(instruction, address, Some(size), true)
            }
            LLVMPtrToInt => {
                number(instruction)?;
                self.address(instruction, instruction.operand(0))
            }
            LLVMICmp if holds_pointer(instruction.operand(0).of()) => {
                self.address(instruction, instruction.operand(0))?;
                self.address(instruction, instruction.operand(1))
            }
            LLVMIntToPtr => Err(refuse_at(
                "an address is computed from an integer",
                instruction,
            )),
            LLVMCall => match instruction.as_call() {
                Some(call) => self.call(call),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn call(&mut self, call: Call<'m>) -> Result<(), Refusal> {
        let Some(callee) = call.callee() else {
            return Ok(());
        };
        let name = callee.name();
        if name.starts_with(PREFIX) || &*name == STATIC_FINI || has_no_effect(&name) {
            return Ok(());
        }
        let size = || {
            let size = call.argument(2).signed();
            size.and_then(|n| u64::try_from(n).ok())
        };
        if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            self.access(call, call.argument(0), size(), true)?;
            return self.access(call, call.argument(1), size(), false);
        }
        if name.starts_with("llvm.memset.") {
            return self.access(call, call.argument(0), size(), true);
        }
        if &*name == "llvm.threadlocal.address.p0" {
            return Err(refuse_at("a threadprivate variable", call));
        }
        // Output parameters, such as those of `modf`.
        for argument in call.arguments().filter(|a| holds_pointer(a.of())) {
            self.access(call, argument, None, true)?;
        }
        Ok(())
    }

    /// Records that an address itself is used: it must be of the same side as the ones that it is
    /// compared with.
    fn address(&mut self, at: Instruction<'m>, address: Value<'m>) -> Result<(), Refusal> {
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
        at: impl Into<Instruction<'m>>,
        address: Value<'m>,
        size: Option<u64>,
        write: bool,
    ) -> Result<(), Refusal> {
        for (source, offset) in self.sources(address, at.into())? {
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
        address: Value<'m>,
        at: Instruction<'m>,
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
            let Some(instruction) = base.as_instruction() else {
                match constant_parts(base) {
                    Some(part) => open.push((part, None)),
                    None => return Err(refuse_at("an address that is a constant integer", at)),
                }
                continue;
            };
            match instruction.opcode() {
                Opcode::LLVMFreeze => open.push((instruction.operand(0), distance)),
                Opcode::LLVMAlloca => found.push((Source::Private, distance)),
                Opcode::LLVMLoad => found.push((self.pointer(instruction, at)?, distance)),
                Opcode::LLVMIntToPtr => {
                    return Err(refuse_at("an address is computed from an integer", at));
                }
                _ => match derived_from(base) {
                    Some(pointers) => open.extend(pointers.into_iter().map(|p| (p, None))),
                    None => return Err(refuse_at("an address of unknown origin", at)),
                },
            }
        }
        Ok(found)
    }

    /// Returns the source of an argument or variable.
    fn direct(&self, base: Value<'m>) -> Option<Source> {
        let variable = base.as_variable();
        if variable.is_some_and(|v| v.is_read_only() && !v.is_declaration()) {
            return Some(Source::Private);
        }
        if base.is_zero() || base.is_undef() {
            return Some(Source::Private);
        }
        origin(self.function, base).map(|o| Source::Of(o, Vec::new()))
    }

    /// Returns the source of a pointer that is loaded from memory that the host can read.
    fn pointer(&self, load: Instruction<'m>, at: Instruction<'m>) -> Result<Source, Refusal> {
        match path(self.module, self.function, load.operand(0)) {
            Some((origin, mut offsets, offset)) if offset % 8 == 0 => {
                offsets.push(offset);
                Ok(Source::Of(origin, offsets))
            }
            _ => Err(refuse_at(
                "it is reached through a pointer in memory that the host cannot read",
                at,
            )),
        }
    }

    /// Decides how each source is passed.
    fn passing(&self) -> Result<Vec<Root>, Refusal> {
        let count = self.function.parameter_count() - 2;
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
        match self.module.variable(name) {
            Some(variable) if variable.is_thread_local() => {
                Err(refuse(format!("the variable `{name}` is threadprivate")))
            }
            _ => Ok(()),
        }
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
                let at = Position::Parameter(index + 2);
                self.function.attribute_value(at, "dereferenceable")
            }
            Origin::Global(name) => {
                let variable = self.module.variable(name)?;
                (!variable.is_declaration()).then(|| self.size(variable.contents()))
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

/// Returns true for accesses that do not order others.
fn relaxed(access: Instruction<'_>) -> bool {
    access.ordering().is_none_or(|ordering| {
        matches!(
            ordering,
            Ordering::LLVMAtomicOrderingNotAtomic
                | Ordering::LLVMAtomicOrderingUnordered
                | Ordering::LLVMAtomicOrderingMonotonic
        )
    })
}

/// Refuses uses of an address as an integer, other than comparisons and differences.
fn number(instruction: Instruction<'_>) -> Result<(), Refusal> {
    use Opcode::*;
    let harmless = |user: Value<'_>| {
        matches!(
            user.opcode(),
            Some(LLVMSub | LLVMICmp | LLVMAnd | LLVMOr | LLVMAdd)
        )
    };
    match instruction.users().all(harmless) {
        true => Ok(()),
        false => Err(refuse_at("an address is used as an integer", instruction)),
    }
}

/// Returns the base of a constant address.
fn constant_parts(value: Value<'_>) -> Option<Value<'_>> {
    (value.constant_opcode()? == Opcode::LLVMGetElementPtr).then(|| value.operand(0))
}

fn holds_pointer(of: Type<'_>) -> bool {
    of.is_pointer()
        || of.element().is_some_and(holds_pointer)
        || of.fields().into_iter().any(holds_pointer)
}
