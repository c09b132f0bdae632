//! Prints failures, and sets the appearance of messages ([`mod@ompvm_support::message`]).

use super::FAILED;
use super::args::{Color, MessageOptions};
use ompvm_support::error::Error;
use ompvm_support::message::{self, Kind, Message};
use std::process::ExitCode;

/// Prints an error and returns the exit status.
pub fn failed(error: &Error) -> ExitCode {
    Message::of_error(error).print();
    let kind = Kind::of_error(error);
    if matches!(kind, Kind::Unsupported | Kind::NotAllowed) && !message::is_json() {
        eprintln!("{}", kind.row().remedy);
    }
    ExitCode::from(FAILED)
}

/// Sets the format that the options name.
pub fn set_format(options: MessageOptions) {
    if let Some(format) = options.message_format {
        message::set_format(format);
    }
}

/// Sets colours, and the format of panics, after the settings have been read.
pub fn set_appearance(options: Option<MessageOptions>) {
    message::set_color(match options.and_then(|options| options.color) {
        Some(Color::Always) => true,
        Some(Color::Never) => false,
        // Heeds NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM.
        Some(Color::Auto) | None => {
            anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
        }
    });
    if message::is_json() {
        std::panic::set_hook(Box::new(|panic| {
            let text = panic.payload_as_str().unwrap_or("a panic without a text");
            let place = panic.location().map(ToString::to_string);
            Message::new(Kind::Defect, &text)
                .place(place.as_deref().unwrap_or(""))
                .print();
        }));
    }
}

/// Prints wrong usage as a message if that has a format other than text. Returns false if it does not.
pub fn wrong_usage(shown: &clap::Error) -> bool {
    if !message::is_json() || !shown.use_stderr() {
        return false;
    }
    let text = shown.render().to_string();
    let text = text.trim_end().trim_start_matches("error: ");
    Message::new(Kind::Usage, &text).print();
    true
}
