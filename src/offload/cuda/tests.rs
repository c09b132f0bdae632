//! What can be tested without a GPU: `tests/` has a driver of its own for the rest.
