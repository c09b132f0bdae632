//! Splits the text of a cell into C's tokens, with their places in the text.
//!
//! The tokens serve to find the items of a cell and the names that it declares. An operator of
//! several characters is several tokens. Leaves errors to the compiler, which gets the text.

use std::ops::Range;

/// Kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A number, a string or a character.
    Literal,
    /// One character of an operator or a bracket.
    Punctuation(u8),
    /// A line of the preprocessor, with its continuation lines.
    Directive,
}

/// A token with its bytes in the text and the number of brackets around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
    /// Brackets around the token; those of a bracket itself are not counted.
    pub depth: usize,
}

impl Token {
    /// Returns true if the token is this character.
    pub(super) fn is(&self, character: u8) -> bool {
        self.kind == Kind::Punctuation(character)
    }
}

/// The tokens of a text.
#[derive(Debug)]
pub(super) struct Tokens {
    pub list: Vec<Token>,
    /// True if a bracket or a comment is open at the end, or if the last line is continued.
    pub open: bool,
}

/// Returns the tokens of a text.
pub(super) fn tokens(text: &str) -> Tokens {
    let bytes = text.as_bytes();
    let mut list: Vec<Token> = Vec::new();
    let (mut at, mut depth, mut open) = (0, 0_usize, false);
    let mut line_begins = true;
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        let kind = match byte {
            b'\n' => {
                line_begins = true;
                at += 1;
                continue;
            }
            b'\\' if is_line_end(bytes, at + 1) => {
                at += 1;
                open = text[at..].trim().is_empty();
                continue;
            }
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if bytes[at..].starts_with(b"//") => {
                at = line_end(bytes, at);
                continue;
            }
            b'/' if bytes[at..].starts_with(b"/*") => {
                match text[at + 2..].find("*/") {
                    Some(length) => at += length + 4,
                    None => {
                        open = true;
                        at = bytes.len();
                    }
                }
                continue;
            }
            b'#' if line_begins => {
                at = line_end(bytes, at);
                open |= text[..at].ends_with('\\');
                Kind::Directive
            }
            b'"' | b'\'' => {
                at = literal_end(bytes, at);
                Kind::Literal
            }
            _ if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 => {
                at += word_length(&bytes[at..], |_| false);
                // A prefix, as in `u8"text"`, belongs to the literal.
                match bytes.get(at) {
                    Some(b'"' | b'\'') if at - start <= 2 => {
                        at = literal_end(bytes, at);
                        Kind::Literal
                    }
                    _ => Kind::Word,
                }
            }
            _ if byte.is_ascii_digit()
                || byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) =>
            {
                at += word_length(&bytes[at..], |c| c == b'.');
                // The sign of an exponent.
                while bytes.get(at).is_some_and(|c| b"+-".contains(c))
                    && b"eEpP".contains(&bytes[at - 1])
                    && !(bytes[start..at].starts_with(b"0x") && b"eE".contains(&bytes[at - 1]))
                {
                    at += 1 + word_length(&bytes[at + 1..], |c| c == b'.');
                }
                Kind::Literal
            }
            _ => {
                at += 1;
                if b")]}".contains(&byte) {
                    depth = depth.saturating_sub(1);
                }
                Kind::Punctuation(byte)
            }
        };
        line_begins = false;
        list.push(Token {
            kind,
            span: start..at,
            depth,
        });
        if b"([{".contains(&byte) && matches!(kind, Kind::Punctuation(_)) {
            depth += 1;
        }
    }
    Tokens {
        list,
        open: open || depth > 0,
    }
}

fn is_line_end(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at), None | Some(b'\n')) || bytes[at..].starts_with(b"\r\n")
}

/// Returns the end of a line without its newline, after the lines that continue it.
fn line_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' && at + 1 < bytes.len() {
            2
        } else {
            1
        };
    }
    at.min(bytes.len())
}

/// Returns the end of a string or a character, at the latest the end of its line.
fn literal_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' => at += 1,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at.min(bytes.len())
}

fn word_length(bytes: &[u8], also: impl Fn(u8) -> bool) -> usize {
    let is_part = |&c: &u8| c.is_ascii_alphanumeric() || c == b'_' || c >= 0x80 || also(c);
    bytes.iter().take_while(|c| is_part(c)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let list = tokens(text).list;
        list.into_iter().map(|t| &text[t.span]).collect()
    }

    #[test]
    fn literals_and_comments_hide_what_they_contain() {
        assert_eq!(
            words("f(\"a;}\\\"\", ';') /* { */ + 1e-5; // {"),
            ["f", "(", "\"a;}\\\"\"", ",", "';'", ")", "+", "1e-5", ";"]
        );
        assert!(!tokens("'{' /* ( */").open);
    }

    #[test]
    fn directives_are_lines_with_their_continuations() {
        assert_eq!(
            words("#define A \\\n  1\nx # y"),
            ["#define A \\\n  1", "x", "#", "y"]
        );
    }

    #[test]
    fn open_brackets_comments_and_lines_are_seen() {
        for text in ["f(", "{ }  {", "/* a", "#define A \\", "x + \\\n"] {
            assert!(tokens(text).open, "{text:?}");
        }
        assert!(!tokens("f() }").open);
    }
}
