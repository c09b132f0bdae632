//! Takes declarations apart: specifiers, and declarators with names and initial values.
//!
//! A variable of a cell is a global variable. An initial value that the compiler accepts there stays
//! with it; another one is assigned in the cell's function, in the order of the cell's statements.
//! Later cells get each variable and function as a declaration without a value.

use super::items::{is_other_specifier, is_type_word};
use super::lex::{Kind, Token};
use std::ops::Range;

/// A declaration: ranges are indices into the cell's tokens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Declaration {
    /// The specifiers, such as `static const int`.
    pub specifiers: Range<usize>,
    /// The braces among the specifiers, of a structure or an enumeration that is defined.
    pub body: Option<Range<usize>>,
    pub declarators: Vec<Declarator>,
    /// True for `typedef`.
    pub is_typedef: bool,
    /// True for `extern`, or an assertion: nothing is defined.
    pub is_extern: bool,
    /// True for `_Thread_local` and its synonyms.
    pub thread_local: bool,
}

/// A declared name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Declarator {
    pub name: String,
    /// Its tokens, such as `*x[3]`.
    pub tokens: Range<usize>,
    /// Index of the name.
    pub at: usize,
    pub init: Option<Range<usize>>,
    /// True for a function that is declared without a body.
    pub is_function: bool,
    /// True for an array.
    pub is_array: bool,
    /// The brackets of an array whose first extent comes from its initial value.
    pub open_extent: Option<usize>,
}

/// The tokens of a cell.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub text: &'a str,
    pub tokens: &'a [Token],
}

impl Source<'_> {
    pub(super) fn word(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(token) if token.kind == Kind::Word => &self.text[token.span.clone()],
            _ => "",
        }
    }

    pub(super) fn is(&self, at: usize, character: u8) -> bool {
        self.tokens.get(at).is_some_and(|t| t.is(character))
    }

    /// Returns the end of a group that begins with the bracket `at`.
    fn group_end(&self, at: usize, end: usize) -> usize {
        let depth = self.tokens[at].depth;
        let closes = |i: &usize| self.tokens[*i].depth <= depth;
        (at + 1..end).find(closes).map_or(end, |i| i + 1)
    }

    /// Takes the declaration in a range of tokens apart. Its last token may be `;`, or the brace
    /// that begins the body of a function.
    pub(super) fn declaration(&self, range: Range<usize>) -> Declaration {
        let end = match self.is(range.end - 1, b';') || self.is(range.end - 1, b'{') {
            true => range.end - 1,
            false => range.end,
        };
        let mut found = Declaration {
            specifiers: range.start..range.start,
            body: None,
            declarators: Vec::new(),
            is_typedef: false,
            is_extern: false,
            thread_local: false,
        };
        let mut at = range.start;
        let mut has_type = false;
        while at < end {
            let word = self.word(at);
            match word {
                "typedef" => found.is_typedef = true,
                "extern" => found.is_extern = true,
                "_Thread_local" | "thread_local" | "__thread" => found.thread_local = true,
                "_Static_assert" | "static_assert" => {
                    found.is_extern = true;
                    at = end;
                    break;
                }
                "struct" | "union" | "enum" => {
                    has_type = true;
                    at += 1;
                    while self.word(at) == "__attribute__" {
                        at = self.group_end(at + 1, end);
                    }
                    if !self.word(at).is_empty() {
                        at += 1;
                    }
                    if self.is(at, b'{') {
                        let body_end = self.group_end(at, end);
                        found.body = Some(at..body_end);
                        at = body_end;
                    }
                    continue;
                }
                _ if is_type_word(word) => has_type = true,
                _ if is_other_specifier(word) => {}
                // The first unknown name is that of a type.
                _ if !word.is_empty() && !has_type => has_type = true,
                _ => break,
            }
            at += 1;
            let group = matches!(
                word,
                "typeof"
                    | "__typeof__"
                    | "__typeof"
                    | "typeof_unqual"
                    | "__attribute__"
                    | "_Alignas"
                    | "alignas"
                    | "_BitInt"
                    | "_Atomic"
            );
            if group && self.is(at, b'(') {
                at = self.group_end(at, end);
            }
        }
        found.specifiers.end = at;
        while at < end {
            let stop = (at..end).find(|&i| self.tokens[i].depth == 0 && self.is(i, b','));
            let stop = stop.unwrap_or(end);
            found.declarators.extend(self.declarator(at..stop));
            at = stop + 1;
        }
        found
    }

    fn declarator(&self, range: Range<usize>) -> Option<Declarator> {
        let assigned = |&i: &usize| self.tokens[i].depth == 0 && self.is(i, b'=');
        let assigned = range.clone().find(assigned);
        let tokens = range.start..assigned.unwrap_or(range.end);
        let mut at = tokens.start;
        while at < tokens.end {
            match self.word(at) {
                "__attribute__" => at = self.group_end(at + 1, tokens.end) - 1,
                word if !word.is_empty() && !is_other_specifier(word) => break,
                _ => {}
            }
            at += 1;
        }
        if at >= tokens.end {
            return None;
        }
        let is_array = self.is(at + 1, b'[');
        Some(Declarator {
            name: self.word(at).to_owned(),
            at,
            init: assigned.map(|i| i + 1..range.end),
            is_function: self.is(at + 1, b'('),
            is_array,
            open_extent: (is_array && self.is(at + 2, b']')).then_some(at + 1),
            tokens,
        })
    }

    /// Returns true if an initial value looks like a constant of C: it calls nothing and uses no
    /// variable except by its address. `is_value` returns true for variables and functions.
    pub(super) fn looks_constant(
        &self,
        init: Range<usize>,
        is_value: &dyn Fn(&str) -> bool,
    ) -> bool {
        init.clone().all(|at| {
            let word = self.word(at);
            if word.is_empty() || is_type_word(word) || is_other_specifier(word) {
                return true;
            }
            let behind = |c| at > init.start && self.is(at - 1, c);
            // A member in a designator.
            if behind(b'.') || word == "sizeof" || word == "_Alignof" {
                return true;
            }
            let starts = at == init.start + 1
                || at > init.start + 1 && b"({,=".iter().any(|&c| self.is(at - 2, c));
            let address = behind(b'&') && starts;
            let plain = !b"([.-".iter().any(|&c| self.is(at + 1, c));
            plain && (address || !is_value(word))
        })
    }

    /// Returns the number of values in the braces of an initial value; `None` with designators.
    pub(super) fn count(&self, init: Range<usize>) -> Option<usize> {
        if !self.is(init.start, b'{') {
            return None;
        }
        let depth = self.tokens[init.start].depth + 1;
        let inner = init.start + 1..init.end - 1;
        if inner.clone().any(|i| {
            self.tokens[i].depth == depth && self.is(i, b'[') && {
                self.is(i - 1, b',') || self.is(i - 1, b'{')
            }
        }) {
            return None;
        }
        let commas = inner
            .clone()
            .filter(|&i| self.tokens[i].depth == depth && self.is(i, b','));
        let last = self.is(init.end - 2, b',');
        Some(commas.count() + usize::from(!last && !inner.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::session::lex;

    fn parse(text: &str) -> (Vec<String>, String, Declaration) {
        let tokens = lex::tokens(text).list;
        let source = Source {
            text,
            tokens: &tokens,
        };
        let found = source.declaration(0..tokens.len());
        let names = found.declarators.iter().map(|d| d.name.clone()).collect();
        let range = &tokens[found.specifiers.start].span.start;
        let end = tokens[found.specifiers.end - 1].span.end;
        (names, text[*range..end].to_owned(), found)
    }

    #[test]
    fn declarators_are_found() {
        for (text, specifiers, names) in [
            (
                "static const int n = 5, *p = &n;",
                "static const int",
                &["n", "p"][..],
            ),
            ("FILE *f = fopen(a, b);", "FILE", &["f"]),
            (
                "unsigned long x[] = {1, 2}, y;",
                "unsigned long",
                &["x", "y"],
            ),
            (
                "struct P { int x, y; } p = {1, 2};",
                "struct P { int x, y; }",
                &["p"],
            ),
            ("int (*fp)(int, double) = twice;", "int", &["fp"]),
            ("struct P { int x; };", "struct P { int x; }", &[]),
            ("int f(int x), g(void);", "int", &["f", "g"]),
            ("typeof(a + b) c;", "typeof(a + b)", &["c"]),
            ("size_t const n = 1;", "size_t const", &["n"]),
        ] {
            let (found, text_of, _) = parse(text);
            assert_eq!(
                (&found[..], &*text_of),
                (
                    &names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>()[..],
                    specifiers
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn values_of_arrays_are_counted() {
        for (text, expected) in [
            ("int x[] = {1, f(2, 3), 4,};", Some(3)),
            ("int x[] = {[3] = 1};", None),
            ("int x[] = {};", Some(0)),
        ] {
            let tokens = lex::tokens(text).list;
            let source = Source {
                text,
                tokens: &tokens,
            };
            let found = source.declaration(0..tokens.len());
            let init = found.declarators[0].init.clone().unwrap();
            assert_eq!(source.count(init), expected, "{text}");
        }
    }
}
