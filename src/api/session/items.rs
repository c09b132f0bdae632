//! Splits a cell into items: directives, declarations, functions, statements, and the expression
//! whose value is shown.
//!
//! C's grammar needs to know which names are types. Here a name before another name is a type, and
//! so is one before `*` and a name that is declared there (`FILE *file = ...;`), unless it is a
//! variable or a function of the session. The compiler checks the result.

use super::lex::{Kind, Token, Tokens, tokens};
use std::ops::Range;

/// Role of an item in its cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// `#if`, `#else`, `#endif` and their relatives.
    Conditional,
    /// Another directive, for this cell and for later ones.
    Directive,
    /// A pragma of OpenMP that belongs to declarations.
    Declarative,
    /// A pragma of OpenMP that belongs to the statement behind it, or stands alone.
    Executable,
    /// A declaration that is no definition of a function.
    Declaration,
    /// A definition of a function.
    Function,
    Statement,
    /// An expression without `;`, the last item.
    Expression,
}

/// A part of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Item {
    pub role: Role,
    /// Its tokens in the cell's list.
    pub tokens: Range<usize>,
}

/// A cell's items.
#[derive(Debug)]
pub(super) struct Items {
    pub tokens: Vec<Token>,
    pub list: Vec<Item>,
    /// True if the cell can only be the beginning of one.
    pub open: bool,
    /// True if the cell is open inside of brackets, a comment or a line.
    pub inside: bool,
}

const TYPE_WORDS: &[&str] = &[
    "void",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "_Bool",
    "bool",
    "_Complex",
    "_Float16",
    "__int128",
    "_BitInt",
    "struct",
    "union",
    "enum",
    "typeof",
    "__typeof__",
    "__typeof",
    "typeof_unqual",
    "__auto_type",
    "__builtin_va_list",
];

const OTHER_SPECIFIERS: &[&str] = &[
    "const",
    "volatile",
    "restrict",
    "_Atomic",
    "typedef",
    "static",
    "extern",
    "inline",
    "__inline",
    "__inline__",
    "register",
    "auto",
    "constexpr",
    "_Thread_local",
    "thread_local",
    "__thread",
    "_Noreturn",
    "_Alignas",
    "alignas",
    "__attribute__",
    "__extension__",
];

/// Words that begin a statement, but no expression.
const CONTROL: &[&str] = &[
    "if", "else", "for", "while", "do", "switch", "return", "goto", "break", "continue", "case",
    "default",
];

/// Words that begin an expression.
const OPERATORS: &[&str] = &[
    "sizeof", "_Alignof", "alignof", "_Generic", "__real__", "__imag__", "__real", "__imag", "asm",
    "__asm__",
];

/// Returns true for a word that names a type, alone or with the words behind it.
pub(super) fn is_type_word(word: &str) -> bool {
    TYPE_WORDS.contains(&word)
}

/// Returns true for another word that may stand among the specifiers of a declaration.
pub(super) fn is_other_specifier(word: &str) -> bool {
    OTHER_SPECIFIERS.contains(&word)
}

/// Splits a cell. `is_value` returns true for the names of variables and functions.
pub(super) fn split(text: &str, is_value: &dyn Fn(&str) -> bool) -> Items {
    let Tokens { list: tokens, open } = tokens(text);
    let mut splitter = Splitter {
        text,
        tokens: &tokens,
        is_value,
    };
    let mut list: Vec<Item> = Vec::new();
    let (mut at, mut unfinished) = (0, false);
    while at < tokens.len() {
        let behind_pragma = list.last().is_some_and(|i| i.role == Role::Executable);
        let (item, ended) = splitter.item(at, behind_pragma);
        at = item.tokens.end;
        unfinished = !ended;
        list.push(item);
    }
    let executable = list.last().is_some_and(|i| i.role == Role::Executable);
    let stands_alone = list
        .last()
        .is_some_and(|i| splitter.stands_alone(&tokens[i.tokens.start]));
    Items {
        open: open || unfinished || executable && !stands_alone,
        inside: open,
        tokens,
        list,
    }
}

struct Splitter<'a> {
    text: &'a str,
    tokens: &'a [Token],
    is_value: &'a dyn Fn(&str) -> bool,
}

impl Splitter<'_> {
    fn word(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(token) if token.kind == Kind::Word => &self.text[token.span.clone()],
            _ => "",
        }
    }

    fn is(&self, at: usize, character: u8) -> bool {
        self.tokens.get(at).is_some_and(|t| t.is(character))
    }

    /// Returns the item that begins at a token, and whether it is complete.
    fn item(&mut self, start: usize, behind_pragma: bool) -> (Item, bool) {
        if self.tokens[start].kind == Kind::Directive {
            let role = directive_role(&self.text[self.tokens[start].span.clone()]);
            let tokens = start..start + 1;
            return (Item { role, tokens }, true);
        }
        let declares = !behind_pragma && self.declares(start);
        let control = CONTROL.contains(&self.word(start))
            || self.is(start, b'{')
            || self.is(start, b'}')
            || self.is_label(start);
        let mut assigned = false;
        let mut role = match (declares, control) {
            (true, _) => Role::Declaration,
            (false, true) => Role::Statement,
            (false, false) if behind_pragma => Role::Statement,
            (false, false) => Role::Expression,
        };
        for at in start..self.tokens.len() {
            let token = &self.tokens[at];
            if token.depth > 0 {
                continue;
            }
            let tokens = start..at + 1;
            match token.kind {
                Kind::Punctuation(b'=') => assigned = true,
                Kind::Punctuation(b'{') if declares && !assigned && self.ends_header(start, at) => {
                    role = Role::Function;
                }
                Kind::Punctuation(b';') => {
                    if role == Role::Expression {
                        role = Role::Statement;
                    }
                    return (Item { role, tokens }, true);
                }
                Kind::Punctuation(b'}') if role == Role::Function => {
                    return (Item { role, tokens }, true);
                }
                // Pieces of one statement may be separate items: all go into the same function.
                Kind::Punctuation(b'}') if role == Role::Statement && !declares => {
                    return (Item { role, tokens }, true);
                }
                _ => {}
            }
        }
        let tokens = start..self.tokens.len();
        // An operator at the end continues in the next line.
        let operator = match self.tokens.last().map(|t| t.kind) {
            Some(Kind::Punctuation(b'+' | b'-')) => {
                let before = self.tokens.len().checked_sub(2);
                before.is_none_or(|at| self.tokens[at].kind != self.tokens[at + 1].kind)
            }
            Some(Kind::Punctuation(c)) => b"*/%&|^<>=,?:!~.".contains(&c),
            _ => false,
        };
        let complete = role == Role::Expression && !operator;
        (Item { role, tokens }, complete)
    }

    /// Returns true if a brace at `brace` begins the body of a function.
    fn ends_header(&self, start: usize, brace: usize) -> bool {
        let mut end = brace;
        while end > start && self.is(end - 1, b')') {
            let opens = |&at: &usize| self.tokens[at].depth == 0 && self.is(at, b'(');
            let Some(open) = (start..end - 1).rev().find(opens) else {
                return false;
            };
            // `struct __attribute__((packed)) { ... }` ends with a bracket, too.
            if open == start || self.word(open - 1) != "__attribute__" {
                return open > start;
            }
            end = open - 1;
        }
        false
    }

    fn is_label(&self, start: usize) -> bool {
        !self.word(start).is_empty() && self.is(start + 1, b':') && !self.is(start + 2, b':')
    }

    /// Returns true if the item is a declaration.
    fn declares(&self, start: usize) -> bool {
        let first = self.word(start);
        if matches!(first, "_Static_assert" | "static_assert") {
            return true;
        }
        if first == "__extension__" && self.is(start + 1, b'(') {
            return false;
        }
        if is_type_word(first) || is_other_specifier(first) {
            return true;
        }
        if [CONTROL, OPERATORS]
            .iter()
            .any(|list| list.contains(&first))
            || first.is_empty()
            || (self.is_value)(first)
        {
            return false;
        }
        let mut at = start + 1;
        let mut pointer = false;
        while self.is(at, b'*') || matches!(self.word(at), "const" | "volatile" | "restrict") {
            pointer |= self.is(at, b'*');
            at += 1;
        }
        let second = self.word(at);
        if second.is_empty()
            || [CONTROL, OPERATORS]
                .iter()
                .any(|list| list.contains(&second))
        {
            return false;
        }
        // `a * b` is an expression, `T *b;` a declaration.
        !pointer
            || self.is(at + 1, b'=') && !self.is(at + 2, b'=')
            || [b';', b',', b'[', b'('].iter().any(|&c| self.is(at + 1, c))
    }

    /// Returns true if a pragma of OpenMP is a construct without a statement.
    fn stands_alone(&self, token: &Token) -> bool {
        const ALONE: [&str; 10] = [
            "barrier",
            "taskwait",
            "taskyield",
            "flush",
            "cancel",
            "cancellation",
            "depobj",
            "interop",
            "error",
            "scan",
        ];
        let text = &self.text[token.span.clone()];
        let mut words = pragma_words(text);
        let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        ALONE.contains(&first)
            || first == "target" && matches!(second, "enter" | "exit" | "update")
            || first == "ordered" && text.contains("doacross")
            || first == "ordered" && text.contains("depend")
    }
}

/// Returns the words of a directive behind `#pragma omp`.
fn pragma_words(text: &str) -> impl Iterator<Item = &str> {
    let apart = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    text.split(apart).filter(|w| !w.is_empty()).skip(2)
}

/// Returns the role of a directive.
fn directive_role(text: &str) -> Role {
    let words = text.trim_start_matches('#').trim_start();
    let first = words.split(|c: char| !c.is_ascii_alphabetic()).next();
    match first.unwrap_or_default() {
        "if" | "ifdef" | "ifndef" | "elif" | "elifdef" | "elifndef" | "else" | "endif" => {
            Role::Conditional
        }
        "pragma" if words["pragma".len()..].trim_start().starts_with("omp") => {
            match pragma_words(text).next().unwrap_or("") {
                "threadprivate" | "declare" | "begin" | "end" | "requires" | "assumes"
                | "groupprivate" => Role::Declarative,
                _ => Role::Executable,
            }
        }
        _ => Role::Directive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(text: &str) -> Vec<Role> {
        let items = split(text, &|name| ["a", "b"].contains(&name));
        items.list.into_iter().map(|i| i.role).collect()
    }

    #[test]
    fn items_have_their_roles() {
        use Role::*;
        for (text, expected) in [
            ("int n = 5;", &[Declaration][..]),
            ("size_t n; FILE *f = 0;", &[Declaration, Declaration]),
            ("a * b", &[Expression]),
            ("sizeof a", &[Expression]),
            ("__extension__ (1)", &[Expression]),
            ("a * b;", &[Statement]),
            ("f(2)", &[Expression]),
            ("int f(int x) { return x; } f(2)", &[Function, Expression]),
            (
                "struct P { int x; } p = {1}; p.x",
                &[Declaration, Expression],
            ),
            (
                "struct __attribute__((packed)) { int x; } p;",
                &[Declaration],
            ),
            ("struct P f(void) { }", &[Function]),
            ("int x[] = {1, 2};", &[Declaration]),
            (
                "for (int i = 0; i < 3; i++) { a; } b",
                &[Statement, Expression],
            ),
            (
                "#include <a.h>\n#if 1\n#endif",
                &[Directive, Conditional, Conditional],
            ),
            ("#pragma omp threadprivate(a)", &[Declarative]),
            (
                "#pragma omp parallel\nprintf(\"x\");",
                &[Executable, Statement],
            ),
            ("(struct P){1, 2}", &[Expression]),
        ] {
            assert_eq!(roles(text), expected, "{text}");
        }
    }

    #[test]
    fn beginnings_are_open() {
        let open = |text| split(text, &|_| false).open;
        for text in [
            "int f(int x)",
            "for (;;)",
            "#pragma omp parallel for",
            "1 +",
            "int n = 5",
            "f(",
        ] {
            assert!(open(text), "{text}");
        }
        for text in [
            "#pragma omp barrier",
            "i++",
            "1 + 2",
            "struct P { int x; };",
            "",
        ] {
            assert!(!open(text), "{text}");
        }
    }
}
