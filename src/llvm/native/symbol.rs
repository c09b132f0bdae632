//! Names by which generated code refers to entities outside of it.
//!
//! An object refers to names and holds no address, so it can be cached and linked into any process
//! that runs the same module. Numbers count the module's functions, variables and ifuncs in order,
//! without LLVM's own bookkeeping variables. A name without the `ompvm.` prefix is a function of
//! the process, or one that the module declares under that name.

use std::fmt;

/// Meaning of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Symbol {
    /// `ompvm.g{N}`: a variable.
    Variable(usize),
    /// `ompvm.s{N}`: a function's stub, which is the function's address to the guest.
    Stub(usize),
    /// `ompvm.f{N}`: a function's compiled code, or its stub if the object does not define it.
    Function(usize),
    /// `ompvm.x{N}`: a function that the module only declares, or that stays interpreted.
    External(usize),
    /// `ompvm.a{N}`: a function's address as a constant operand of assembly, which may be far.
    Operand(usize),
    /// `ompvm.i{N}`: an ifunc.
    IFunc(usize),
    /// `ompvm.l{N}`: the start of a function's synthetic addresses, which are those of its labels.
    Labels(usize),
    /// `ompvm.t{N}`: the record of a library's thread_local variable.
    LibraryVariable(usize),
    /// `ompvm.library_variable`: `ptr(ptr record)`, returns the thread's instance of the variable.
    LibraryInstance,
    /// `ompvm.tls_cell`: its value is the distance from the thread pointer to the cell that holds
    /// the address of the thread's block; the cell is null until the block exists.
    ThreadCell,
    /// `ompvm.make_block`: `ptr(image)`, creates the thread's block and fills the cell.
    MakeBlock,
    /// `ompvm.threads`: the runtime's table of threads.
    Threads,
    /// `ompvm.image`: its address is the image's.
    Image,
    /// `ompvm.distinct`: `i1(ptr, i32, i32)`, returns true if the given number of pointers are
    /// starts of different heap blocks and the given number of places lie in none of them.
    Distinct,
    /// `ompvm.init_trampoline`: `void(ptr buffer, ptr function, ptr chain)`, creates a trampoline.
    InitTrampoline,
    /// `ompvm.adjust_trampoline`: `ptr(ptr buffer)`, returns the address to call for a trampoline.
    AdjustTrampoline,
    /// `ompvm.set_jump`: `i32(ptr)`, `setjmp` of compiled code.
    SetJump,
    /// `ompvm.long_jump`: `void(ptr, i32)`, `longjmp` of compiled code.
    LongJump,
}

const PREFIX: &str = "ompvm.";

impl Symbol {
    /// Parses a name; `None` if it lacks the prefix or is malformed.
    pub fn parse(name: &str) -> Option<Symbol> {
        let rest = name.strip_prefix(PREFIX)?;
        match rest {
            "tls_cell" => return Some(Symbol::ThreadCell),
            "library_variable" => return Some(Symbol::LibraryInstance),
            "make_block" => return Some(Symbol::MakeBlock),
            "threads" => return Some(Symbol::Threads),
            "image" => return Some(Symbol::Image),
            "distinct" => return Some(Symbol::Distinct),
            "init_trampoline" => return Some(Symbol::InitTrampoline),
            "adjust_trampoline" => return Some(Symbol::AdjustTrampoline),
            "set_jump" => return Some(Symbol::SetJump),
            "long_jump" => return Some(Symbol::LongJump),
            _ => {}
        }
        let (kind, number) = rest.split_at_checked(1)?;
        let number = number.parse().ok()?;
        Some(match kind {
            "g" => Symbol::Variable(number),
            "s" => Symbol::Stub(number),
            "f" => Symbol::Function(number),
            "x" => Symbol::External(number),
            "a" => Symbol::Operand(number),
            "i" => Symbol::IFunc(number),
            "l" => Symbol::Labels(number),
            "t" => Symbol::LibraryVariable(number),
            _ => return None,
        })
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symbol::Variable(n) => write!(f, "{PREFIX}g{n}"),
            Symbol::Stub(n) => write!(f, "{PREFIX}s{n}"),
            Symbol::Function(n) => write!(f, "{PREFIX}f{n}"),
            Symbol::External(n) => write!(f, "{PREFIX}x{n}"),
            Symbol::Operand(n) => write!(f, "{PREFIX}a{n}"),
            Symbol::IFunc(n) => write!(f, "{PREFIX}i{n}"),
            Symbol::Labels(n) => write!(f, "{PREFIX}l{n}"),
            Symbol::LibraryVariable(n) => write!(f, "{PREFIX}t{n}"),
            Symbol::LibraryInstance => write!(f, "{PREFIX}library_variable"),
            Symbol::ThreadCell => write!(f, "{PREFIX}tls_cell"),
            Symbol::MakeBlock => write!(f, "{PREFIX}make_block"),
            Symbol::Threads => write!(f, "{PREFIX}threads"),
            Symbol::Image => write!(f, "{PREFIX}image"),
            Symbol::Distinct => write!(f, "{PREFIX}distinct"),
            Symbol::InitTrampoline => write!(f, "{PREFIX}init_trampoline"),
            Symbol::AdjustTrampoline => write!(f, "{PREFIX}adjust_trampoline"),
            Symbol::SetJump => write!(f, "{PREFIX}set_jump"),
            Symbol::LongJump => write!(f, "{PREFIX}long_jump"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Symbol;

    #[test]
    fn every_name_is_parsed() {
        for symbol in [
            Symbol::Variable(0),
            Symbol::Stub(7),
            Symbol::Function(12),
            Symbol::External(3),
            Symbol::Operand(4),
            Symbol::IFunc(1),
            Symbol::Labels(2),
            Symbol::LibraryVariable(9),
            Symbol::LibraryInstance,
            Symbol::ThreadCell,
            Symbol::MakeBlock,
            Symbol::Threads,
            Symbol::Image,
            Symbol::Distinct,
            Symbol::InitTrampoline,
            Symbol::AdjustTrampoline,
            Symbol::SetJump,
            Symbol::LongJump,
        ] {
            assert_eq!(Symbol::parse(&symbol.to_string()), Some(symbol));
        }
        for other in [
            "memcpy",
            "ompvm.",
            "ompvm.q1",
            "ompvm.g",
            "ompvm.g-1",
            "ompvm.gä",
        ] {
            assert_eq!(Symbol::parse(other), None, "{other}");
        }
    }
}
