//! Slot sharing.

/// State of slot sharing.
#[derive(Default, Debug)]
pub(super) struct Slots;
