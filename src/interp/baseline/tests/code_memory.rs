//! Code memory in a process and in the child that it forks.

use crate::code_memory::append;

/// Generates `mov eax, N; ret`.
fn constant(n: u32) -> extern "C" fn() -> u32 {
    let mut code = vec![0xb8];
    code.extend(n.to_le_bytes());
    code.push(0xc3);
    let at = append(&code).expect("room for code");
    // SAFETY: the code at `at` is a function of that type.
    unsafe { std::mem::transmute::<usize, extern "C" fn() -> u32>(at) }
}

#[test]
fn a_child_of_fork_makes_code_of_its_own() {
    let both = constant(7);
    // SAFETY: the child only appends, calls and ends.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let first = constant(11);
        let second = constant(13);
        let right = both() == 7 && first() == 11 && second() == 13;
        // SAFETY: ends the child without the exit handlers of the test's process.
        unsafe { libc::_exit(if right { 42 } else { 1 }) };
    }
    let ours = constant(17);
    let mut status = 0;
    // SAFETY: `child` is a child of this process.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 42);
    assert_eq!((both(), ours(), constant(19)()), (7, 17, 19));
}
