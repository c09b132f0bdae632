//! Operands of inline assembly, as its constraints and its template describe them.
//!
//! Constraints are LLVM's ("Inline Asm Constraint String" in its language reference), which number
//! operands in their order, without clobbers and labels. Does not assemble.

/// An operand of inline assembly that is passed as an argument.
#[derive(Debug, PartialEq, Eq)]
pub struct Input<'c> {
    /// The operand's number in the template.
    pub number: usize,
    /// The operand's constraint.
    pub code: &'c str,
    /// True if the operand is the address of memory that the assembly accesses (`*m`).
    pub indirect: bool,
}

/// Returns the operands of inline assembly that are arguments, in order.
pub fn inputs(constraints: &str) -> Vec<Input<'_>> {
    let operands = constraints
        .split(',')
        .filter(|c| !c.starts_with(['~', '!']))
        .enumerate();
    operands
        .filter_map(|(number, code)| {
            let output = code.strip_prefix('=').map(|o| o.trim_start_matches('&'));
            let indirect = output.unwrap_or(code).starts_with('*');
            (output.is_none() || indirect).then_some(Input {
                number,
                code,
                indirect,
            })
        })
        .collect()
}

/// Returns true if a constraint takes constants only.
pub fn is_immediate(code: &str) -> bool {
    !code.is_empty() && code.chars().all(|c| "insIJKLMNOeZEF".contains(c))
}

/// Returns the template with a zero inserted before operand `number` where the template adds it to
/// a displacement: `4+0$0` for `4+$0`. So it assembles if the operand is a plain register,
/// `(%rax)`. `None` if nothing is added to the operand.
pub fn displaced(template: &str, number: usize) -> Option<String> {
    let mut parts = template.split("+$");
    let mut out = parts.next()?.to_owned();
    let mut found = false;
    for rest in parts {
        let bare = rest.strip_prefix('{').unwrap_or(rest);
        let digits = bare.len() - bare.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let own = bare[..digits].parse() == Ok(number);
        // With a modifier (`${0:H}`) the operand may print its own displacement.
        let zero = own && !bare[digits..].starts_with(':');
        found |= zero;
        out.push_str(if zero { "+0$" } else { "+$" });
        out.push_str(rest);
    }
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_of_assembly_have_their_numbers_and_forms() {
        let found = inputs("=r,=*&m,={@ccz},*m,i,0,!i,~{memory}");
        let list: Vec<_> = found.iter().map(|i| (i.number, i.indirect)).collect();
        assert_eq!(list, [(1, true), (3, true), (4, false), (5, false)]);
        assert!(is_immediate("i") && is_immediate("ns") && !is_immediate("ri"));
        for (template, number, expected) in [
            ("movl $$8, 4+$0", 0, Some("movl $$8, 4+0$0")),
            ("movl 4+${1}, 8+$1", 1, Some("movl 4+0${1}, 8+0$1")),
            ("movl $$8, 4+${1:H}", 1, None),
            ("movl $$8, 4+$10", 1, None),
            ("movl $0, $1", 1, None),
            ("addl $$1+2, $1", 1, None),
        ] {
            assert_eq!(
                displaced(template, number).as_deref(),
                expected,
                "{template}"
            );
        }
    }
}
