//! `ompvm repl`: reads cells of C from the terminal or a pipe, and runs each at once.
//!
//! [`Session`] compiles and runs the cells. This module puts lines together to cells, and prints
//! values and errors. The history of a terminal is in the folder of the cache.

use super::args::{self, ReplOptions};
use super::{FAILED, compiler_flags, message};
use crate::api::{Completeness, Config, Engine, ExitStatus, Session, Tier};
use ompvm_support::error::Error;
use ompvm_support::message::Message;
use ompvm_support::settings::Settings;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
A cell is C with OpenMP: directives, declarations, functions and statements. It ends with the line
that completes it; an empty line ends one to which more could belong. Variables, functions, types,
macros and headers stay for later cells. The value of an expression without `;` is printed.

  :load FILE   run a file as one cell
  :help        print this text
  :quit        end, as the end of the input and exit() do
";

/// Exit status after a cell of a pipe or a file failed.
const CELL_FAILED: u8 = 1;

/// Reads and runs cells until the input ends.
pub fn run(options: ReplOptions, settings: &Settings) -> ExitCode {
    let engine = Engine::default().compiler_flags(compiler_flags(&options.build.cflags));
    let config = Config::new().arg("ompvm").tier(match options.tier {
        args::Tier::Interp => Tier::Interp,
        args::Tier::Baseline => Tier::Baseline,
        args::Tier::Opt => Tier::Opt,
        args::Tier::Auto => Tier::Auto,
    });
    let session = match Session::new(&engine, options.build.configure(config)) {
        Ok(session) => session,
        Err(error) => return message::failed(&error),
    };
    let mut repl = Repl {
        session,
        lines: Lines::new(settings),
        failed: false,
    };
    match repl.run(&options.files) {
        Ok(Some(status)) => {
            drop(repl);
            // The low byte of a status is what a process ends with.
            ExitCode::from(status.code() as u8)
        }
        Ok(None) if repl.failed => ExitCode::from(CELL_FAILED),
        Ok(None) => ExitCode::SUCCESS,
        Err(error) => {
            ompvm_support::message!(Input, "cannot read or write: {error}");
            ExitCode::from(FAILED)
        }
    }
}

struct Repl {
    session: Session,
    lines: Lines,
    /// True if a cell failed that nobody typed.
    failed: bool,
}

impl Repl {
    /// Returns the status if a cell calls `exit`.
    fn run(&mut self, files: &[PathBuf]) -> io::Result<Option<ExitStatus>> {
        for file in files {
            if let Some(status) = self.load(file)? {
                return Ok(Some(status));
            }
        }
        let mut cell = String::new();
        while let Some(line) = self.lines.next(!cell.is_empty())? {
            let line = match line {
                Line::Text(line) => line,
                Line::Interrupted => {
                    cell.clear();
                    continue;
                }
            };
            let words = line.trim();
            if cell.is_empty() && words.starts_with(':') {
                match words.split_once(char::is_whitespace) {
                    None if matches!(words, ":quit" | ":q") => return Ok(None),
                    None if words == ":help" => print!("{HELP}"),
                    Some((":load", file)) => {
                        if let Some(status) = self.load(Path::new(file.trim()))? {
                            return Ok(Some(status));
                        }
                    }
                    _ => {
                        ompvm_support::message!(Note, "`{words}` is no command; `:help` lists them")
                    }
                }
                continue;
            }
            let ends = words.is_empty();
            cell.push_str(&line);
            cell.push('\n');
            match self.session.completeness(&cell) {
                Completeness::Open => continue,
                Completeness::Unfinished if !ends => continue,
                _ => {}
            }
            if let Some(status) = self.cell(&std::mem::take(&mut cell))? {
                return Ok(Some(status));
            }
        }
        if cell.trim().is_empty() {
            return Ok(None);
        }
        self.cell(&cell)
    }

    fn load(&mut self, file: &Path) -> io::Result<Option<ExitStatus>> {
        match fs::read_to_string(file) {
            Ok(text) => self.cell(&text),
            Err(error) => {
                self.fail(&Error::Input {
                    file: file.display().to_string(),
                    cause: error.to_string(),
                });
                Ok(None)
            }
        }
    }

    /// Runs a cell, and prints its warnings, and its value or error.
    fn cell(&mut self, text: &str) -> io::Result<Option<ExitStatus>> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        self.lines.remember(text);
        match self.session.run(text) {
            Ok(result) => {
                eprint!("{}", result.warnings);
                if let Some(value) = result.value {
                    let mut out = io::stdout();
                    writeln!(out, "{value}")?;
                    out.flush()?;
                }
                Ok(result.exit)
            }
            Err(error) => {
                self.fail(&error);
                Ok(None)
            }
        }
    }

    fn fail(&mut self, error: &Error) {
        Message::of_error(error).print();
        self.failed |= !self.lines.interactive();
    }
}

enum Line {
    Text(String),
    /// The user pressed Ctrl-C, which drops the cell.
    Interrupted,
}

/// The input: a terminal with an editor of lines, or another file.
enum Lines {
    Terminal {
        editor: Box<DefaultEditor>,
        history: Option<PathBuf>,
    },
    Other(io::StdinLock<'static>),
}

impl Lines {
    fn new(settings: &Settings) -> Lines {
        let stdin = io::stdin();
        if !stdin.is_terminal() {
            return Lines::Other(stdin.lock());
        }
        let Ok(mut editor) = DefaultEditor::new() else {
            return Lines::Other(stdin.lock());
        };
        let history = settings.cache_folder.as_ref();
        let history = history.map(|folder| folder.join("repl-history"));
        if let Some(file) = &history {
            // The first session has no history.
            let _ = editor.load_history(file);
        }
        println!(
            "ompvm {}: C with OpenMP; :help, :quit",
            env!("CARGO_PKG_VERSION")
        );
        Lines::Terminal {
            editor: Box::new(editor),
            history,
        }
    }

    fn interactive(&self) -> bool {
        matches!(self, Lines::Terminal { .. })
    }

    /// Returns the next line, `None` at the end. `inside` says that a cell has begun.
    fn next(&mut self, inside: bool) -> io::Result<Option<Line>> {
        match self {
            Lines::Terminal { editor, .. } => {
                match editor.readline(if inside { ". " } else { "> " }) {
                    Ok(line) => Ok(Some(Line::Text(line))),
                    Err(ReadlineError::Interrupted) => Ok(Some(Line::Interrupted)),
                    Err(ReadlineError::Eof) => Ok(None),
                    Err(ReadlineError::Io(error)) => Err(error),
                    Err(other) => Err(io::Error::other(other)),
                }
            }
            Lines::Other(input) => {
                let mut bytes = Vec::new();
                if input.read_until(b'\n', &mut bytes)? == 0 {
                    return Ok(None);
                }
                let line = String::from_utf8_lossy(&bytes);
                Ok(Some(Line::Text(line.trim_end_matches(['\n', '\r']).into())))
            }
        }
    }

    /// Appends a cell to the history of the terminal.
    fn remember(&mut self, cell: &str) {
        if let Lines::Terminal { editor, history } = self {
            let _ = editor.add_history_entry(cell.trim_end());
            if let Some(file) = history {
                // A session without a history is one all the same.
                let _ = file.parent().map(fs::create_dir_all);
                let _ = editor.save_history(file);
            }
        }
    }
}
