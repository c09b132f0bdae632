//! OSR loop selection: chooses loops to compile before, or instead of, their function.
//!
//! [`select`] finds the loops in which nearly all of a function's time is spent, if they are a
//! small part of the effort of compiling the function. They are compiled soon, on several
//! processors at once, and the tier below runs the code between them. A function that is one loop
//! nest gains nothing from this. Entering compiled code costs some ten nanoseconds, so a loop is
//! replaced by its inner loops only if it iterates rarely.
//!
//! Back-edge counts end at a few thousand (`interp::osr`), so the hottest loops count for less
//! than they are. [`super::sample`] knows how hot the function itself is.

use super::units;
use ompvm_ir::{BlockId, FuncId, Module};

/// Divisor: loops with less than this part of the weight are left to the tier below.
const COLD_PART: u64 = 20;
/// Divisor: a loop is replaced by its inner loops if less than this part of its weight lies outside
/// of them.
const OUTSIDE_PART: u64 = 10;
/// Most iterations, while counted for at least half a millisecond, of a loop that may be replaced
/// by its inner loops.
const MAX_ITERATIONS: u32 = 32;
/// Divisor: the loops are chosen if they take at most this part of the function's compile effort.
const CHEAP_PART: usize = 2;

/// An executed loop.
#[derive(Debug)]
struct Loop {
    /// Index among the heads.
    index: usize,
    head: BlockId,
    hits: u32,
    /// The blocks of the loop, in order.
    blocks: Vec<BlockId>,
    /// Compile effort of the loop.
    effort: usize,
    /// Estimated work executed in the loop, inner loops included.
    weight: u64,
}

impl Loop {
    fn contains(&self, other: &Loop) -> bool {
        self.head != other.head && self.blocks.binary_search(&other.head).is_ok()
    }
}

/// Returns the indices of the loops to compile. `heads` holds the index, first block and back-edge
/// count of each loop. Returns none if the function should be compiled as a whole.
pub fn select(module: &Module, function: FuncId, heads: &[(usize, BlockId, u32)]) -> Vec<usize> {
    let loops = executed(module, function, heads);
    let inside = |l: &Loop| loops.iter().filter(|o| l.contains(o)).count();
    // Loops are visited from the outside in. Within a loop, only inner loops that no other inner
    // loop contains are next.
    let next = |within: Option<&Loop>| {
        let of = |l: &&Loop| within.is_none_or(|w| w.contains(l));
        let found: Vec<&Loop> = loops.iter().filter(of).collect();
        let outermost = |l: &&Loop| !found.iter().any(|o| o.contains(l));
        found.iter().copied().filter(outermost).collect::<Vec<_>>()
    };
    let weight = |list: &[&Loop]| list.iter().map(|l| l.weight).sum::<u64>();
    let mut todo = next(None);
    let all = weight(&todo);
    let whole = units::effort(module, function);
    let mut chosen: Vec<&Loop> = Vec::new();
    while let Some(l) = todo.pop() {
        let parts = if l.hits <= MAX_ITERATIONS && inside(l) > 0 {
            next(Some(l))
        } else {
            Vec::new()
        };
        if weight(&parts) > l.weight - l.weight / OUTSIDE_PART {
            todo.extend(parts);
        } else if l.weight > all / COLD_PART {
            chosen.push(l);
        }
    }
    if chosen.iter().map(|l| l.effort).sum::<usize>() > whole / CHEAP_PART {
        return Vec::new();
    }
    chosen.iter().map(|l| l.index).collect()
}

fn executed(module: &Module, function: FuncId, heads: &[(usize, BlockId, u32)]) -> Vec<Loop> {
    let mut loops: Vec<Loop> = heads
        .iter()
        .filter(|&&(.., hits)| hits > 0)
        .map(|&(index, head, hits)| {
            let blocks = units::in_loop(module, function, head);
            Loop {
                index,
                head,
                hits,
                effort: units::effort_of(module, function, &blocks),
                blocks,
                weight: 0,
            }
        })
        .filter(|l| !l.blocks.is_empty())
        .collect();
    let own = |l: &Loop| {
        let inner: Vec<&Loop> = loops.iter().filter(|o| l.contains(o)).collect();
        let here = |b: &BlockId| !inner.iter().any(|o| o.blocks.binary_search(b).is_ok());
        let blocks: Vec<BlockId> = l.blocks.iter().copied().filter(here).collect();
        u64::from(l.hits) * units::effort_of(module, function, &blocks) as u64
    };
    let own: Vec<u64> = loops.iter().map(own).collect();
    for i in 0..loops.len() {
        let within = |j: &usize| *j == i || loops[i].contains(&loops[*j]);
        loops[i].weight = (0..loops.len()).filter(within).map(|j| own[j]).sum();
    }
    loops
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;
    use ompvm_llvm::{Input, read};

    /// Returns a function whose outer loop, at block 1, contains loops of one block each, at blocks
    /// 2, 3, and so on, with the given numbers of stores.
    fn nest(sizes: &[usize]) -> (Module, FuncId) {
        let mut text =
            String::from("define void @f(ptr %p) {\nstart: br label %b1\nb1: br label %b2\n");
        for (i, size) in sizes.iter().enumerate() {
            let b = i + 2;
            text += &format!("b{b}:\n");
            for k in 0..*size {
                text += &format!("store volatile i32 {k}, ptr %p\n");
            }
            text += &format!("%c{b} = load volatile i1, ptr %p\n");
            text += &format!("br i1 %c{b}, label %b{b}, label %b{}\n", b + 1);
        }
        let last = sizes.len() + 2;
        text += &format!("b{last}: %c = load volatile i1, ptr %p\n");
        text += "br i1 %c, label %b1, label %end\nend: ret void\n}\n";
        let text = format!("target triple = \"x86_64-unknown-linux-gnu\"\n{text}");
        let name = "nest.ll".into();
        let bytes = text.into_bytes();
        let module = read(&[Input { name, bytes }]).unwrap();
        (module, FuncId::new(0))
    }

    fn chosen(sizes: &[usize], hits: &[u32]) -> Vec<usize> {
        let (module, f) = nest(sizes);
        let heads: Vec<_> = hits
            .iter()
            .enumerate()
            .map(|(i, &h)| (i, BlockId::from_u32(i as u32 + 1), h))
            .collect();
        let mut found = select(&module, f, &heads);
        found.sort_unstable();
        found
    }

    #[test]
    fn hot_loops_of_a_large_function_are_chosen() {
        assert_eq!(chosen(&[10, 200, 20, 200], &[3, 8000, 3, 9, 3]), [1]);
        assert_eq!(chosen(&[10, 200, 20, 200], &[3, 8000, 3, 4000, 3]), [1, 3]);
    }

    #[test]
    fn a_loop_with_many_iterations_is_not_divided() {
        // The loop is nearly the whole function then.
        assert!(chosen(&[10, 200, 20, 200], &[300, 8000, 300, 900, 300]).is_empty());
    }

    #[test]
    fn a_function_that_is_one_loop_is_compiled_whole() {
        assert!(chosen(&[300, 10], &[3, 8000, 3]).is_empty());
        assert!(chosen(&[300, 10], &[0, 0, 0]).is_empty());
    }
}
