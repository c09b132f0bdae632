//! Writes the C program of a cell: what earlier cells declared, what this one declares, and a
//! function with its statements.
//!
//! Each piece stands behind a `#line` directive at its own columns, so messages and line tables
//! name the places in the cell.

use super::declaration::{Declaration, Declarator, Source};
use super::items::{self, Item, Items, Role};
use super::lex::{Kind, Token};
use super::shown;
use ompvm_support::error::Error;
use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;

/// Stands in an [`Entry`] for an extent that is known when the cell has been compiled.
pub(super) const EXTENT: char = '\u{1}';

/// A declaration for later cells.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The names that it declares; that of a macro begins with `#`.
    pub names: Vec<String>,
    /// Other names that it is about.
    pub about: Vec<String>,
    pub text: String,
    /// True for variables and functions.
    pub is_value: bool,
}

/// The program of a cell.
#[derive(Debug, Default)]
pub(super) struct CellProgram {
    pub text: String,
    pub entries: Vec<Entry>,
    /// Name of the function with the statements, if there are any.
    pub function: Option<String>,
    /// True if later cells can call functions of this one.
    pub defines_functions: bool,
    /// Variables whose number of elements the compiler counts, see [`extent_name`].
    pub extents: Vec<String>,
}

/// Returns the name of the variable that holds the number of elements of an array.
pub(super) fn extent_name(variable: &str) -> String {
    format!("__ompvm_extent_{variable}")
}

/// Returns true if an entry is hidden by new declarations of names.
pub(super) fn is_replaced(entry: &Entry, names: &HashSet<&str>) -> bool {
    let mut all = entry.names.iter().chain(&entry.about);
    all.any(|name| names.contains(&**name))
}

/// Writes the program of the cell `name`, such as `cell-3`, after the entries `before`.
///
/// With `assign_all` no initial value is a constant.
///
/// # Errors
/// Returns [`Error::Input`] for a declaration that cells cannot share.
pub(super) fn write(
    name: &str,
    text: &str,
    cell: &Items,
    before: &[Entry],
    assign_all: bool,
) -> Result<CellProgram, Error> {
    let mut writer = Writer {
        name,
        source: Source {
            text,
            tokens: &cell.tokens,
        },
        before,
        assign_all,
        file: String::new(),
        body: String::new(),
        pending: String::new(),
        shows: false,
        program: CellProgram::default(),
    };
    for item in &cell.list {
        writer.item(item)?;
    }
    Ok(writer.finish())
}

struct Writer<'a> {
    name: &'a str,
    source: Source<'a>,
    before: &'a [Entry],
    assign_all: bool,
    /// Declarations and definitions of the cell.
    file: String,
    /// Statements of the cell.
    body: String,
    /// Pragmas that belong to the next function.
    pending: String,
    shows: bool,
    program: CellProgram,
}

impl Writer<'_> {
    fn token(&self, at: usize) -> &Token {
        &self.source.tokens[at]
    }

    /// Returns the text of tokens behind a directive with its place. The tokens for which `hidden`
    /// holds are blanks.
    fn placed(&self, range: Range<usize>, hidden: impl Fn(usize) -> bool) -> String {
        let text = self.source.text;
        let start = self.token(range.start).span.start;
        let line = 1 + text[..start].matches('\n').count();
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let mut placed = format!("#line {line} \"{}\"\n", self.name);
        let blank = |c: char| if c.is_whitespace() { c } else { ' ' };
        placed.extend(text[begin..start].chars().map(blank));
        let mut at = start;
        for index in range {
            let span = self.token(index).span.clone();
            placed.push_str(&text[at..span.start]);
            match hidden(index) {
                true => placed.extend(text[span.clone()].chars().map(blank)),
                false => placed.push_str(&text[span.clone()]),
            }
            at = span.end;
        }
        placed
    }

    fn item(&mut self, item: &Item) -> Result<(), Error> {
        let range = item.tokens.clone();
        let text = self.placed(range.clone(), |_| false);
        match item.role {
            Role::Conditional => {
                for part in [&mut self.file, &mut self.body] {
                    let _ = writeln!(part, "{text}");
                }
                self.remember(Vec::new(), format!("{text}\n"), false);
            }
            Role::Directive | Role::Declarative => self.directive(item.role, range, text),
            Role::Executable => {
                let _ = writeln!(self.body, "{text}");
            }
            Role::Statement => {
                let ended = [b';', b'}']
                    .iter()
                    .any(|&c| self.source.is(range.end - 1, c));
                let end = if ended { "" } else { ";" };
                let _ = writeln!(self.body, "{text}\n{end}");
            }
            Role::Expression => {
                self.shows = true;
                // A directive cannot stand inside the arguments of a macro.
                let (place, rest) = text.split_once('\n').unwrap_or_default();
                let line = self.source.text[..self.token(range.start).span.start]
                    .matches('\n')
                    .count();
                let place = place.replacen(&(line + 1).to_string(), &line.to_string(), 1);
                let _ = writeln!(self.body, "{place}\n__OMPVM_SHOW(\n{rest}\n)");
            }
            Role::Function => self.function(range),
            Role::Declaration => self.declaration(range)?,
        }
        Ok(())
    }

    fn remember(&mut self, names: Vec<String>, text: String, is_value: bool) {
        self.program.entries.push(Entry {
            names,
            about: Vec::new(),
            text,
            is_value,
        });
    }

    fn directive(&mut self, role: Role, range: Range<usize>, text: String) {
        let own = &self.source.text[self.token(range.start).span.clone()];
        let words: Vec<&str> = own
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .filter(|w| !w.is_empty())
            .collect();
        let names = match words[..] {
            ["define" | "undef", name, ..] => vec![format!("#{name}")],
            _ => Vec::new(),
        };
        let _ = writeln!(self.file, "{text}");
        if role == Role::Declarative && words.get(2) == Some(&"declare") {
            let next = ["simd", "variant"];
            if words.get(3).is_some_and(|word| next.contains(word)) {
                self.pending.push_str(&text);
                self.pending.push('\n');
                return;
            }
        }
        let about = match words[..] {
            ["pragma", "omp", "threadprivate", ref names @ ..] => names,
            _ => &[],
        };
        self.program.entries.push(Entry {
            names,
            about: about.iter().map(|name| (*name).to_owned()).collect(),
            text: format!("{text}\n"),
            is_value: false,
        });
    }

    fn is_hidden_specifier(&self, at: usize) -> bool {
        const HIDDEN: [&str; 6] = [
            "static",
            "inline",
            "__inline",
            "__inline__",
            "extern",
            "register",
        ];
        self.token(at).depth == 0 && HIDDEN.contains(&self.source.word(at))
    }

    fn function(&mut self, range: Range<usize>) {
        let opens = |&at: &usize| self.token(at).depth == 0 && self.source.is(at, b'{');
        let brace = range.clone().find(opens).unwrap_or(range.end - 1);
        let header = self.source.declaration(range.start..brace + 1);
        let hidden = |at: usize| at < brace && self.is_hidden_specifier(at);
        let definition = self.placed(range.clone(), hidden);
        let prototype = self.placed(range.start..brace, hidden);
        let names = header.declarators.into_iter().map(|d| d.name).collect();
        let _ = writeln!(self.file, "{definition}");
        let pending = std::mem::take(&mut self.pending);
        self.remember(names, format!("{pending}{prototype};\n"), true);
        self.program.defines_functions = true;
    }

    fn declaration(&mut self, range: Range<usize>) -> Result<(), Error> {
        let found = self.source.declaration(range.clone());
        self.check(&found)?;
        let ended = if self.source.is(range.end - 1, b';') {
            ""
        } else {
            ";"
        };
        let whole = format!("{}{ended}\n", self.placed(range.clone(), |_| false));
        let names = || found.declarators.iter().map(|d| d.name.clone()).collect();
        if found.declarators.is_empty() || found.is_typedef || found.is_extern {
            self.file.push_str(&whole);
            let is_value = found.is_extern && !found.declarators.is_empty();
            if !found.specifiers.is_empty() && !whole.contains("tatic_assert") {
                let names = if is_value { names() } else { Vec::new() };
                self.remember(names, whole, is_value);
            }
            return Ok(());
        }
        let specifiers = found.specifiers.clone();
        // The names of a definition, `struct P { ... }`, serve all declarators.
        let mut hidden_body = 0..0;
        if let Some(body) = &found.body
            && !self.source.word(body.start - 1).is_empty()
            && !matches!(
                self.source.word(body.start - 1),
                "struct" | "union" | "enum"
            )
        {
            hidden_body = body.clone();
            let definition = self.placed(specifiers.start..body.end, |at| {
                self.is_hidden_specifier(at)
                    || matches!(self.source.word(at), "const" | "volatile")
                        && self.token(at).depth == 0
            });
            let text = format!("{definition};\n");
            self.file.push_str(&text);
            self.remember(Vec::new(), text, false);
        } else if found.body.is_some() {
            // Each copy of a structure without a name is another type.
            let text = self.placed(range.clone(), |at| self.is_hidden_specifier(at));
            let _ = writeln!(self.file, "{text}{ended}");
            let init = |at| {
                found
                    .declarators
                    .iter()
                    .filter_map(|d| d.init.as_ref())
                    .any(|i| i.start - 1 <= at && at < i.end)
            };
            let text = self.placed(range, |at| self.is_hidden_specifier(at) || init(at));
            let text = text.replacen('\n', "\nextern ", 1);
            self.remember(names(), format!("{text}{ended}\n"), true);
            return Ok(());
        }
        for declarator in &found.declarators {
            self.variable(&specifiers, &hidden_body, declarator);
        }
        Ok(())
    }

    /// Writes one variable, or a function without a body.
    fn variable(
        &mut self,
        specifiers: &Range<usize>,
        hidden_body: &Range<usize>,
        declarator: &Declarator,
    ) {
        let Declarator { name, tokens, .. } = declarator;
        let others = specifiers.end..tokens.start;
        let hidden = |at: usize| {
            hidden_body.contains(&at) || others.contains(&at) || self.is_hidden_specifier(at)
        };
        let declared = self.placed(specifiers.start..tokens.end, hidden);
        if declarator.is_function {
            let _ = writeln!(self.file, "{declared};");
            self.remember(vec![name.clone()], format!("{declared};\n"), true);
            return;
        }
        let external = declared.replacen('\n', "\nextern ", 1);
        let external = match declarator.open_extent {
            Some(at) => self.with_extent(&external, at, &EXTENT.to_string(), tokens.end),
            None => external,
        };
        let constant = declarator.init.clone().is_none_or(|init| {
            let values = |word: &str| self.is_value(word);
            !self.assign_all && self.source.looks_constant(init, &values)
        });
        let counted = declarator.open_extent.is_some();
        match &declarator.init {
            None => {
                let _ = writeln!(self.file, "{declared};");
            }
            Some(init) if constant => {
                let text = self.placed(specifiers.start..init.end, hidden);
                let _ = writeln!(self.file, "{text};");
            }
            Some(init) => {
                let pointer = tokens.clone().rev().find(|&at| self.source.is(at, b'*'));
                let changed = pointer.unwrap_or(specifiers.start)..tokens.end;
                // Assigned once here, and a constant for later cells.
                let hidden = |at: usize| {
                    hidden(at)
                        || self.source.word(at) == "const"
                            && changed.contains(&at)
                            && self.token(at).depth == 0
                };
                let mut text = self.placed(specifiers.start..tokens.end, hidden);
                if let Some(at) = declarator.open_extent
                    && let Some(count) = self.source.count(init.clone())
                {
                    text = self.with_extent(&text, at, &count.to_string(), tokens.end);
                }
                let _ = writeln!(self.file, "{text};");
                self.assign(name, init, declarator.is_array);
            }
        }
        if counted {
            let extent = extent_name(name);
            let _ = writeln!(
                self.file,
                "const unsigned long {extent} = sizeof({name}) / sizeof({name}[0]);"
            );
            self.program.extents.push(name.clone());
        }
        self.remember(vec![name.clone()], format!("{external};\n"), true);
    }

    /// Writes the assignment of an initial value to the cell's function.
    fn assign(&mut self, name: &str, init: &Range<usize>, is_array: bool) {
        let value = self.placed(init.clone(), |_| false);
        let _ = match is_array || self.source.is(init.start, b'{') {
            true => writeln!(
                self.body,
                "{{ __typeof__({name}) __ompvm_init =\n{value}\n\
                 ; __builtin_memcpy((void *)&{name}, &__ompvm_init, sizeof {name}); }}"
            ),
            false => writeln!(self.body, "{name} =\n{value}\n;"),
        };
    }

    /// Returns `text`, which ends with the token before `end`, with an extent behind a bracket.
    fn with_extent(&self, text: &str, bracket: usize, extent: &str, end: usize) -> String {
        let behind = self.token(end - 1).span.end - self.token(bracket).span.end;
        let (head, tail) = text.split_at(text.len() - behind);
        format!("{head}{extent}{tail}")
    }

    fn is_value(&self, word: &str) -> bool {
        let all = self.before.iter().chain(&self.program.entries);
        all.filter(|e| e.is_value)
            .any(|e| e.names.iter().any(|n| n == word))
    }

    fn check(&self, found: &Declaration) -> Result<(), Error> {
        let specifiers = || found.specifiers.clone();
        let why = if found.thread_local {
            "cells cannot share a thread-local variable; declare a plain one with \
             `#pragma omp threadprivate`"
        } else if specifiers().any(|at| self.source.word(at) == "__auto_type")
            || !found.declarators.is_empty()
                && specifiers().any(|at| self.source.word(at) == "auto")
                && !specifiers().any(|at| items::is_type_word(self.source.word(at)))
        {
            "later cells declare the variable again; write its type, or `typeof(...)`"
        } else {
            return Ok(());
        };
        let start = self.token(found.specifiers.start).span.start;
        let line = 1 + self.source.text[..start].matches('\n').count();
        Err(Error::Input {
            file: format!("{}:{line}", self.name),
            cause: why.to_owned(),
        })
    }

    fn finish(self) -> CellProgram {
        let mut program = self.program;
        let names: HashSet<&str> = program
            .entries
            .iter()
            .flat_map(|e| e.names.iter().map(String::as_str))
            .collect();
        let text = &mut program.text;
        if self.shows {
            let _ = writeln!(text, "#line 1 \"show.h\"\n{}", shown::HEAD);
        }
        for entry in self.before.iter().filter(|e| !is_replaced(e, &names)) {
            text.push_str(&entry.text);
        }
        text.push_str(&self.file);
        let has_statement = self.source.tokens.iter().any(|t| t.kind != Kind::Directive);
        if has_statement && !self.body.trim().is_empty() {
            let function = format!("__{}", self.name.replace('-', "_"));
            let _ = writeln!(text, "void {function}(void) {{\n{}}}", self.body);
            program.function = Some(function);
        }
        program
    }
}
