//! Parameters of a kernel that lead to nothing but the results of its reduction over teams.
//!
//! Only the thread that ends the reduction accesses them, and only once. So they may lie in host
//! memory that the device accesses: such a launch copies nothing, neither before the kernel nor
//! behind it. Runs after inlining, when the calls of `__ompvm_ends_reduction` are still there.

use super::footprint::reached_before_end;
use crate::handles::{Module, Opcode, Value};
use hashbrown::HashSet;

/// Returns the set of these parameters: bit `n` is set for parameter `n`, of the first 64.
pub(super) fn results(module: Module, kernel: &str) -> u64 {
    let Some(kernel) = module.function(kernel).filter(|f| !f.is_declaration()) else {
        return 0;
    };
    let early = reached_before_end(kernel);
    if kernel.blocks().all(|block| early.contains(&block)) {
        return 0;
    }
    let late = |value: Value| {
        let instruction = value.as_instruction();
        instruction.is_some_and(|i| i.function() == kernel && !early.contains(&i.block()))
    };
    let parameters = kernel.parameters().enumerate().take(64);
    parameters
        .filter(|(_, parameter)| parameter.of().is_pointer() && is_result(*parameter, late))
        .fold(0, |set, (n, _)| set | 1 << n)
}

/// Returns true if a pointer is used to load and store alone, and everywhere `late`.
fn is_result(parameter: Value, late: impl Fn(Value) -> bool) -> bool {
    let (mut seen, mut open) = (HashSet::new(), vec![parameter]);
    let mut accessed = false;
    while let Some(pointer) = open.pop() {
        if !seen.insert(pointer) {
            continue;
        }
        for user in pointer.users() {
            let Some(instruction) = user.as_instruction() else {
                return false;
            };
            match instruction.opcode() {
                Opcode::LLVMGetElementPtr if instruction.operand(0) == pointer => open.push(user),
                Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast | Opcode::LLVMFreeze => {
                    open.push(user);
                }
                Opcode::LLVMLoad if late(user) => accessed = true,
                Opcode::LLVMStore if instruction.operand(0) != pointer && late(user) => {
                    accessed = true;
                }
                _ => return false,
            }
        }
    }
    accessed
}

#[cfg(test)]
mod tests {
    use super::results;
    use crate::handles::Module;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// Returns the results of a kernel with parameters `%a` and `%b` and these instructions before
    /// its reduction's end and behind it.
    fn of(before: &str, behind: &str) -> u64 {
        let text = format!(
            "declare i32 @__ompvm_ends_reduction(i32)
declare void @other(ptr)
define void @kernel(ptr %env, ptr %a, ptr %b) {{
  {before}
  %ends = call i32 @__ompvm_ends_reduction(i32 1)
  %is = icmp eq i32 %ends, 1
  br i1 %is, label %end, label %done
end:
  {behind}
  br label %done
done:
  ret void
}}
"
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "results");
        let module = context.create_module_from_ir(buffer).unwrap();
        // SAFETY: the module outlives the call.
        results(unsafe { Module::from_raw(module.as_mut_ptr()) }, "kernel")
    }

    const ADD: &str = "%old = load double, ptr %a
  %sum = fadd double %old, 1.0
  store double %sum, ptr %a";

    #[test]
    fn nvptx_results_are_accessed_where_the_reduction_ends() {
        assert_eq!(of("", ADD), 0b010);
        let second = "%next = getelementptr i8, ptr %b, i64 8
  store i64 0, ptr %next";
        assert_eq!(of("", &format!("{ADD}\n  {second}")), 0b110);
        assert_eq!(of("", ""), 0);
    }

    #[test]
    fn nvptx_results_are_accessed_nowhere_else() {
        assert_eq!(of("%early = load double, ptr %a", ADD), 0);
        let kept = ["store ptr %a, ptr %b", "call void @other(ptr %a)"];
        for kept in kept {
            let found = of("", &format!("{ADD}\n  {kept}"));
            assert_eq!(found & 0b010, 0, "{kept}");
        }
        let either = "%c = getelementptr i8, ptr %a, i64 4
  store i32 1, ptr %c";
        assert_eq!(of(either, ADD), 0);
    }
}
