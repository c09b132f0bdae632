//! Compiles cells with clang, which starts before a cell is known.
//!
//! Loading clang takes as long as compiling a cell. So a compiler waits for its text on a pipe while
//! the user writes the cell.

use crate::api::source::{self, Language, Source};
use crate::api::{Engine, compilers};
use ompvm_support::error::Error;
use std::process::Child;

/// A compiler for cells.
#[derive(Debug)]
pub(super) struct CellCompiler {
    engine: Engine,
    waiting: Option<Child>,
}

impl CellCompiler {
    pub(super) fn new(engine: Engine) -> CellCompiler {
        let mut compiler = CellCompiler {
            engine,
            waiting: None,
        };
        compiler.prepare();
        compiler
    }

    /// Starts the process that will compile the next cell, if none waits. Its first use reports why
    /// it cannot be started.
    pub(super) fn prepare(&mut self) {
        if self.waiting.is_none() {
            self.waiting = self.source().command(self.engine.settings()).spawn().ok();
        }
    }

    fn source(&self) -> Source {
        // Threadprivate variables of other modules are found by their addresses.
        Source::text(Language::C, "cell", "")
            .flags(["-fnoopenmp-use-tls", "-fno-diagnostics-show-line-numbers"])
            .flags(self.engine.compiler_flags.iter().cloned())
    }

    /// Compiles a program to bitcode. Returns it with the compiler's warnings.
    ///
    /// # Errors
    /// Returns [`Error::Input`] with the compiler's messages, or if it cannot be started.
    pub(super) fn compile(&mut self, name: &str, text: String) -> Result<(Vec<u8>, String), Error> {
        let fail = |cause: String| Error::Input {
            file: name.to_owned(),
            cause,
        };
        let mut command = self.source().command(self.engine.settings());
        let child = match self.waiting.take() {
            Some(child) => Ok(child),
            None => command.spawn(),
        };
        let ended = child.and_then(|child| source::finish(child, Some(text)));
        let ended = ended.map_err(|e| fail(compilers::not_started(&command, &e)))?;
        let messages = messages(&String::from_utf8_lossy(&ended.stderr));
        match ended.status.success() {
            true => Ok((ended.stdout, messages)),
            false if messages.is_empty() => {
                Err(fail(format!("the compiler ended with {}", ended.status)))
            }
            false => Err(fail(format!(
                "the compiler does not accept it:\n{}",
                messages.trim_end()
            ))),
        }
    }
}

impl Drop for CellCompiler {
    fn drop(&mut self) {
        if let Some(mut child) = self.waiting.take() {
            // It may have ended by itself, for a wrong option.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns the compiler's messages without those about ompvm's own text, each once: the expression
/// whose value is shown is compiled several times.
fn messages(text: &str) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut message = String::new();
    let mut end = |message: &mut String| {
        let own = message.contains("__OMPVM_") || message.starts_with("show.h:");
        let message = std::mem::take(message);
        if !own && !message.trim().is_empty() && !kept.contains(&message) {
            kept.push(message);
        }
    };
    for line in text.split_inclusive('\n') {
        let words = [": error: ", ": warning: ", ": note: ", ": fatal error: "];
        let begins = words.iter().any(|word| line.contains(word));
        let summary = line.trim_end().ends_with(" generated.");
        if begins || summary {
            end(&mut message);
        }
        if !summary {
            message.push_str(line);
        }
    }
    end(&mut message);
    kept.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_said_once() {
        let text = "cell-1:1:1: error: use of undeclared identifier 'x'\n    x\n    ^\n\
                    show.h:3:1: note: expanded from macro '__OMPVM_SHOW'\n    y\n\
                    cell-1:1:1: error: use of undeclared identifier 'x'\n    x\n    ^\n\
                    2 errors generated.\n";
        assert_eq!(
            messages(text),
            "cell-1:1:1: error: use of undeclared identifier 'x'\n    x\n    ^\n"
        );
    }
}
