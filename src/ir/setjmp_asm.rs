//! Finds routines in assembly that save the registers of their caller, as `setjmp` does.
//!
//! Code that jumps back to such a routine's caller returns from the routine a second time. That is
//! possible only while the caller's frame is native code's. A routine that switches stacks saves
//! the registers, too, but loads others; each stack then has its own frames, so every tier can run
//! it.
//!
//! Reads text: routines in object files are not found.

/// The registers that a function preserves, without the stack pointer (System V ABI for x86-64,
/// "Register Usage").
const PRESERVED: [&str; 6] = ["rbx", "rbp", "r12", "r13", "r14", "r15"];

/// Returns the name of the first routine that stores all preserved registers and loads none.
pub fn saving_routine(assembly: &str) -> Option<&str> {
    let mut routine = Routine::default();
    let mut intel = false;
    for line in assembly.split(['\n', ';']) {
        let line = line.split('#').next().unwrap_or_default();
        let mut line = line.split("//").next().unwrap_or_default().trim();
        while let Some((label, rest)) = line.split_once(':') {
            let label = label.trim().trim_matches('"');
            if label.contains(char::is_whitespace) {
                break;
            }
            if !label.starts_with(|c: char| c == '.' || c.is_ascii_digit()) {
                if routine.saves() {
                    return Some(routine.name);
                }
                routine = Routine {
                    name: label,
                    ..Routine::default()
                };
            }
            line = rest.trim();
        }
        match line.split_whitespace().next() {
            Some(".intel_syntax") => intel = true,
            Some(".att_syntax") => intel = false,
            _ => routine.add(line, intel),
        }
    }
    routine.saves().then_some(routine.name)
}

#[derive(Default)]
struct Routine<'a> {
    name: &'a str,
    /// A bit for each of [`PRESERVED`] that is stored outside of the routine's own stack.
    stored: u8,
    /// True if a preserved register or the stack pointer gets another value.
    loads: bool,
}

impl Routine<'_> {
    fn saves(&self) -> bool {
        self.stored == (1 << PRESERVED.len()) - 1 && !self.loads
    }

    /// Adds an instruction. Arithmetic on the stack pointer is not a load.
    fn add(&mut self, line: &str, intel: bool) {
        let Some((name, operands)) = line.split_once(char::is_whitespace) else {
            return;
        };
        let (source, target) = match (operands.rsplit_once(','), intel) {
            (Some((source, target)), false) if !target.contains(')') || target.contains('(') => {
                (source, target)
            }
            // The comma is in an address with an index, such as `8(%rdi,%rax,8)`.
            (Some(_), false) => match operands.split_once(',') {
                Some(parts) => parts,
                None => return,
            },
            (Some(_), true) => match operands.split_once(',') {
                Some((target, source)) => (source, target),
                None => return,
            },
            (None, _) => ("", operands),
        };
        let register = |text: &str| {
            let text = text.trim().trim_start_matches('%');
            PRESERVED.iter().position(|r| *r == text)
        };
        let moves = name.starts_with("mov") || name.starts_with("lea");
        if moves || name.starts_with("pop") || name.starts_with("xchg") {
            let stack_pointer = target.trim().trim_start_matches('%') == "rsp";
            self.loads |= register(target).is_some() || stack_pointer;
        }
        let memory = target.contains(['(', '[']) && !target.contains("rsp");
        if let (true, true, Some(number)) = (moves, memory, register(source)) {
            self.stored |= 1 << number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::saving_routine;

    const SAVE: &str = ".text\n.globl save\nsave:\n movq (%rsp), %rax\n movq %rax, 16(%rdi)\n \
        movq %rbp, 24(%rdi)\n movq %rsp, 32(%rdi)\n movq %rbx, 40(%rdi); movq %r12, 48(%rdi)\n \
        movq %r13, 56(%rdi) # kept\n movq %r14, 64(%rdi)\n1: movq %r15, 72(%rdi)\n xorl %eax, %eax\n ret\n";

    #[test]
    fn finds_the_routine_that_saves() {
        assert_eq!(saving_routine(SAVE), Some("save"));
        let between = format!("first:\n ret\n{SAVE}last:\n movq 40(%rdi), %rbx\n ret\n");
        assert_eq!(saving_routine(&between), Some("save"));
        let intel = ".intel_syntax noprefix\n\"save\":\nmov [rdi], rbx\nmov [rdi+8], rbp\n\
            mov [rdi+16], r12\nmov [rdi+24], r13\nmov [rdi+32], r14\nmov [rdi+40], r15\nlea rdx, [rsp+8]\n\
            mov [rdi+48], rdx\nret\n.att_syntax\n";
        assert_eq!(saving_routine(intel), Some("save"));
    }

    #[test]
    fn leaves_routines_that_switch_stacks_or_keep_registers() {
        assert_eq!(saving_routine(""), None);
        let switch = SAVE.replace(" xorl", " movq 32(%rsi), %rsp\n xorl");
        assert_eq!(saving_routine(&switch), None);
        assert_eq!(saving_routine(&SAVE.replace("%rdi", "%rsp")), None);
        assert_eq!(
            saving_routine(&SAVE.replace("movq %r14, 64(%rdi)", "nop")),
            None
        );
    }
}
