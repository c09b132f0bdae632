//! `ompvm repl`: cells from a pipe, what stays between them, and errors after which the session goes
//! on.
//!
//! Each cell starts clang, so a test is one session with many cells. Leaves the splitting of cells
//! to the unit tests of `src/api/session`, and the editor of lines to its crate.

use crate::compilers::Place;
use crate::run::{End, Ran};
use libtest_mimic::Trial;

/// Runs a session with these cells.
fn session(name: &str, options: &str, cells: &str) -> Result<Ran, String> {
    Place::new(name)?.ran(&format!("ompvm repl {options}"), cells)
}

/// Checks what a session without errors prints.
fn prints(name: &str, options: &str, cells: &str, expected: &str) -> Result<(), String> {
    let ran = session(name, options, cells)?;
    // Builds without a baseline tier say so at the start of each cell.
    let message = |line: &str| !line.starts_with("ompvm: the baseline tier is not used");
    let silent = !ran.stderr.lines().any(message);
    match ran.end == End::Exit(0) && ran.stdout == expected && silent {
        true => Ok(()),
        false => Err(format!("should print {expected:?}: {}", ran.summary())),
    }
}

const CELLS: &str = r#"
int n = 1000;
n
#include <stdio.h>
#define HALF(x) ((x) / 2)
double square(double x)
{
  return x * x;
}
square(n) + HALF(3.0)
double sum = square(0);
#pragma omp parallel for reduction(+: sum)
for (int i = 0; i < n; i++)
  sum += i;
sum
printf("before ");
sum / n
double square(double x) { return -x; }
square(2)
n += 1;
int xs[] = {1, n, 3};
xs[1] + sizeof xs / sizeof *xs
for (int i = 0; i < 3; i++)
  printf("%d ", xs[i]);
#pragma omp parallel num_threads(2)
{
#pragma omp barrier
#pragma omp single
  printf("once\n");
}
"#;

const OUTPUT: &str = "1000\n1000001.5\n499500.0\nbefore 499.5\n-2.0\n1004\n1 1001 3 once\n";

/// Checks variables, functions, macros, a redefinition, regions, and the order of the output.
fn cells() -> Result<(), String> {
    for tier in ["auto", "interp", "baseline"] {
        prints("repl-cells", &format!("--tier={tier}"), CELLS, OUTPUT)?;
    }
    Ok(())
}

/// Checks how values of each type are shown.
fn values() -> Result<(), String> {
    let cells = r#"
1 + 1
1.0f / 4
2.5L
(char)'\n'
(_Bool)1
"a\tb"
(void *)0
18446744073709551615u
struct P { int x; double y; } p = {1, 2};
p
struct P q = {p.x, p.y + 1}, *r = &q;
r->y
1.0 + 2.0i
(void)p
const double third = 1.0 / 3, root = p.y;
root
char text[] = "abc", *first = "def";
text
sizeof text + (first[0] == 'd')
enum { A, B, C } e = C;
e
"#;
    let expected = "2\n0.25\n2.5\n'\\n'\ntrue\n\"a\\tb\"\nNULL\n18446744073709551615\n\
                    struct P {\n  int x = 1\n  double y = 2.000000\n}\n3.0\n1.0 + 2.0i\n2.0\n\
                    \"abc\"\n5\n2\n";
    prints("repl-values", "", cells, expected)
}

/// Checks that threadprivate variables, threads and the heap persist.
fn state() -> Result<(), String> {
    let cells = r#"
#include <stdlib.h>
int own = 3;
#pragma omp threadprivate(own)
#pragma omp parallel num_threads(3) copyin(own)
own += 1;
own += 10;
int all = 0;
#pragma omp parallel num_threads(3) reduction(+: all)
all += own;
all
int *block = malloc(4 * sizeof *block);
block[3] = 7;
block[3]
extern int omp_get_max_threads(void);
omp_get_max_threads()
"#;
    prints("repl-state", "", cells, "22\n7\n3\n")
}

/// Checks that a session goes on after errors and faults, which are named by their lines.
fn errors() -> Result<(), String> {
    let cells = "\
int n = 1;
int bad = n +
  missing;
n
int bad = n + 1;
bad
int *null = 0, *other = &n;
n = 5; *null = 3;
n
#pragma omp parallel num_threads(2)
{
  n / missing;
}
_Thread_local int t;
void nothing(void);
nothing();
n + 1
:nonsense
";
    let ran = session("repl-errors", "", cells)?;
    let messages = [
        "cell-2:2:3: error: use of undeclared identifier 'missing'",
        "access through a null pointer (address 0x0) at cell-7:1",
        "cell-9:3:7: error: use of undeclared identifier 'missing'",
        "cell-10:1: cells cannot share a thread-local variable",
        "`nothing`",
        "`:nonsense` is no command",
    ];
    let complete = messages.iter().all(|message| ran.stderr.contains(message));
    let once = ran.stderr.matches("cell-9:3").count() == 1;
    match ran.end == End::Exit(1) && ran.stdout == "1\n2\n5\n6\n" && complete && once {
        true => Ok(()),
        false => Err(format!("should say {messages:?}: {}", ran.summary())),
    }
}

/// Checks the ends of a session, its commands and its options.
fn commands() -> Result<(), String> {
    let p = Place::new("repl-commands")?;
    p.write(
        "first.c",
        "int n = N;\nint twice(int x) { return 2 * x; }\n",
    )?;
    p.write("second.c", "#include <stdlib.h>\nn += 1;\ntwice(n)\n")?;
    let line = "ompvm repl --cflags=-DN=4 first.c";
    for (cells, status, expected) in [
        ("n\n:quit\nn", 0, "4\n"),
        (":load second.c\nn", 0, "10\n5\n"),
        (":load second.c\nexit(n);\nn", 5, "10\n"),
        (":load missing.c\nn\n", 1, "4\n"),
        ("int f(int x)\n\nn", 0, "4\n"),
    ] {
        let ran = p.ran(line, cells)?;
        if ran.end != End::Exit(status) || ran.stdout != expected {
            return Err(format!(
                "{cells:?} should print {expected:?}: {}",
                ran.summary()
            ));
        }
    }
    let ran = p.ran("ompvm repl", ":help\n")?;
    match ran.stdout.contains(":load FILE") {
        true => Ok(()),
        false => Err(format!("should list the commands: {}", ran.summary())),
    }
}

/// Returns the trials of this file.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("repl/cells", || Ok(cells()?)),
        Trial::test("repl/values", || Ok(values()?)),
        Trial::test("repl/state", || Ok(state()?)),
        Trial::test("repl/errors", || Ok(errors()?)),
        Trial::test("repl/commands", || Ok(commands()?)),
    ]
}
