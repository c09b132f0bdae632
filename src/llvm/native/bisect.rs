//! Compiles as much of a unit as LLVM can compile.
//!
//! LLVM may give up on one function of many ([`contain`]). The culprit is found by LLVM's list of
//! running passes, or else by bisection. The other functions are compiled without it. The culprit
//! is compiled once more by itself, with the passes of quick code if it had others; if that fails,
//! too, it stays in the tier below.
//!
//! The consequences for callers are left to `tier::call_closure`, and what is remembered to
//! `cache`.

use super::{CompileError, Level, Object, Session, Unit, fault_injection, pipeline};
use crate::contain;
use crate::native::symbol::Symbol;
use ompvm_support::log;
use std::time::Duration;

/// Prefix of the reason for a function on which LLVM gave up.
pub const CANNOT_COMPILE: &str = "LLVM cannot compile it";
/// Processor time limit of an attempt, plus one for each mebibyte of the program; a hundred times
/// the usual.
const TIME: Duration = Duration::from_secs(30);
const TIME_PER_MEBIBYTE: Duration = Duration::from_secs(20);

/// Limit of failed members of a unit; above it the others are not tried one by one.
const MOST: usize = 32;

/// A function or loop of a unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Member {
    Function(usize),
    /// Index in the whole unit's entries.
    Entry(usize),
}

impl Session<'_> {
    /// Returns the time limit of an attempt.
    fn limit(&self) -> Duration {
        let mebibytes = (self.bitcode.size() >> 20) as u32;
        let injected = fault_injection::limit(self.request.fail.as_ref());
        injected.unwrap_or(TIME + TIME_PER_MEBIBYTE * mebibytes)
    }

    /// Compiles a unit in as few pieces as possible. [`Object::skipped`] lists what cannot be
    /// compiled.
    ///
    /// # Errors
    /// Returns the reason if nothing of the program can be compiled.
    pub fn compile(&mut self, unit: &Unit) -> Result<Vec<Object>, String> {
        let mut objects = Vec::new();
        match self.contained(unit) {
            Ok(object) => objects.push(object),
            Err(CompileError::Whole(why)) => return Err(why),
            Err(trouble) => {
                let functions = match &unit.functions {
                    None => (0..self.request.names.len()).collect(),
                    Some(list) => list.clone(),
                };
                let functions = functions.into_iter().map(Member::Function);
                let entries = (0..unit.entries.len()).map(Member::Entry);
                let members: Vec<Member> = entries.chain(functions).collect();
                self.divide(unit, &members, trouble, &mut objects)?;
            }
        }
        Ok(objects)
    }

    fn contained(&self, unit: &Unit) -> Result<Object, CompileError> {
        let done = contain::run(self.limit(), || self.attempt(unit));
        done.unwrap_or_else(|failure| {
            pipeline::forget_machines();
            let mut symbols = symbols(&failure.passes);
            let culprit = symbols.next();
            let passes = failure.passes.lines().next().unwrap_or_default();
            let pass = passes
                .split(['"', '\''])
                .nth(1)
                .map(|p| format!(" in the pass `{p}`"));
            tracing::info!(
                target: log::LLVM,
                why = failure.why,
                pass,
                culprit,
                transient = failure.transient,
                "LLVM gave up"
            );
            Err(CompileError::Part {
                why: failure.why + &pass.unwrap_or_default(),
                culprit,
                transient: failure.transient,
            })
        })
    }

    /// Compiles members of a unit that could not be compiled together.
    fn divide(
        &self,
        whole: &Unit,
        members: &[Member],
        trouble: CompileError,
        out: &mut Vec<Object>,
    ) -> Result<(), String> {
        let (why, culprit, transient) = match trouble {
            CompileError::Whole(why) => return Err(why),
            CompileError::Part {
                why,
                culprit,
                transient,
            } => (why, culprit, transient),
        };
        let failed = out.iter().filter(|o| o.bytes.is_empty()).count();
        if failed >= MOST {
            let why =
                format!("too many functions of its unit failed, and it was not tried alone: {why}");
            out.extend(members.iter().map(|&m| refusal(whole, m, &why, transient)));
            return Ok(());
        }
        let culprit = culprit.and_then(|symbol| member(&symbol, whole));
        match (members, culprit) {
            ([], _) => {}
            (&[one], _) => out.push(self.retry_alone(whole, one, why, transient)?),
            (_, Some(culprit)) if members.contains(&culprit) => {
                let rest: Vec<Member> = members.iter().copied().filter(|m| *m != culprit).collect();
                out.push(self.retry_alone(whole, culprit, why, transient)?);
                self.compile_part(whole, &rest, out)?;
            }
            _ => {
                tracing::debug!(target: log::LLVM, members = members.len(), why, "divides a unit");
                let (first, second) = members.split_at(members.len() / 2);
                self.compile_part(whole, first, out)?;
                self.compile_part(whole, second, out)?;
            }
        }
        Ok(())
    }

    fn compile_part(
        &self,
        whole: &Unit,
        members: &[Member],
        out: &mut Vec<Object>,
    ) -> Result<(), String> {
        match self.contained(&part(whole, members, whole.degraded)) {
            Ok(mut object) => {
                number_entries(&mut object, members);
                out.push(object);
                Ok(())
            }
            Err(trouble) => self.divide(whole, members, trouble, out),
        }
    }

    /// Compiles a member that failed in quick code, or refuses it.
    fn retry_alone(
        &self,
        whole: &Unit,
        member: Member,
        why: String,
        transient: bool,
    ) -> Result<Object, String> {
        let number = number(whole, member);
        let (mut why, mut transient) = (why, transient);
        if whole.level == Level::Full && !whole.degraded {
            tracing::debug!(
                target: log::LLVM,
                function = &*self.request.names[number],
                "compiles a function alone and quickly"
            );
            match self.contained(&part(whole, &[member], true)) {
                Ok(mut object) => {
                    number_entries(&mut object, &[member]);
                    object.degraded.push((number, why));
                    return Ok(object);
                }
                Err(CompileError::Whole(why)) => return Err(why),
                Err(CompileError::Part {
                    why: w,
                    transient: t,
                    ..
                }) => (why, transient) = (w, transient | t),
            }
        }
        Ok(refusal(whole, member, &why, transient))
    }
}

fn number(whole: &Unit, member: Member) -> usize {
    match member {
        Member::Function(f) => f,
        Member::Entry(e) => whole.entries[e].function,
    }
}

/// Creates the object of a member that cannot be compiled: the reason alone.
fn refusal(whole: &Unit, member: Member, why: &str, transient: bool) -> Object {
    let why = format!("{CANNOT_COMPILE}: {why}");
    Object {
        level: whole.level,
        bytes: Vec::new(),
        functions: Vec::new(),
        entries: Vec::new(),
        skipped: vec![(number(whole, member), why)],
        degraded: Vec::new(),
        transient,
        times: [Duration::ZERO; 3],
    }
}

/// Creates the unit of these members.
fn part(whole: &Unit, members: &[Member], degraded: bool) -> Unit {
    let mut unit = Unit {
        functions: Some(Vec::new()),
        entries: Vec::new(),
        level: whole.level,
        degraded,
    };
    for member in members {
        match *member {
            Member::Function(f) => unit.functions.get_or_insert_default().push(f),
            Member::Entry(e) => unit.entries.push(whole.entries[e].clone()),
        }
    }
    unit
}

/// Renumbers the entries of a part as in the whole unit.
fn number_entries(object: &mut Object, members: &[Member]) {
    let entries = members.iter().filter_map(|m| match m {
        Member::Entry(e) => Some(*e),
        Member::Function(_) => None,
    });
    let entries: Vec<usize> = entries.collect();
    for (index, _) in &mut object.entries {
        *index = entries[*index];
    }
}

/// Returns the compiled functions' symbols in a text, in order.
fn symbols(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "._".contains(c)))
        .filter(|word| {
            entry(word).is_some() || matches!(Symbol::parse(word), Some(Symbol::Function(_)))
        })
        .map(str::to_owned)
}

/// Parses an OSR entry's symbol into function and block.
fn entry(symbol: &str) -> Option<(usize, u32)> {
    let (function, block) = symbol.strip_prefix("ompvm.o")?.split_once('.')?;
    Some((function.parse().ok()?, block.parse().ok()?))
}

/// Finds the member with a symbol.
fn member(symbol: &str, whole: &Unit) -> Option<Member> {
    if let Some((function, block)) = entry(symbol) {
        let mut all = whole.entries.iter();
        let at = all.position(|e| e.function == function && e.block == block);
        return at.map(Member::Entry);
    }
    match Symbol::parse(symbol) {
        Some(Symbol::Function(f)) => Some(Member::Function(f)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn culprit_is_found_in_running_passes() {
        let text = "Running pass \"slp-vectorizer\" on function \"ompvm.f12\"\n\
            Running pass \"function(slp-vectorizer)\" on module \"input\"";
        assert_eq!(symbols(text).collect::<Vec<_>>(), ["ompvm.f12"]);
        let text = "Running pass 'X86 DAG->DAG Instruction Selection' on function '@ompvm.o3.17'";
        assert_eq!(symbols(text).collect::<Vec<_>>(), ["ompvm.o3.17"]);
        assert_eq!(entry("ompvm.o3.17"), Some((3, 17)));
        assert_eq!(symbols("on function '@main', ompvm.block").next(), None);
    }
}
