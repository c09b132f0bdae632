//! Values of environment variables: OpenMP's and ompvm's own are read without a panic, and a value
//! that is refused gets a message that names its variable.
//!
//! An input is lines of `NAME=VALUE`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ompvm_kmpc::{env, icv};
use ompvm_support::settings::Settings;

fuzz_target!(|text: &str| {
    let of = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        lines
            .rev()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    };
    let mut settings = icv::Settings::default();
    let mut warnings = Vec::new();
    env::read(
        &mut settings,
        &|name| of(name).map(str::to_owned),
        &mut |warning| warnings.push(warning),
    );
    let (_, own) = Settings::read(&|name| of(name).map(Into::into));
    for warning in warnings.iter().chain(&own) {
        let named = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .any(|(key, _)| !key.is_empty() && warning.contains(key));
        assert!(named, "names no variable: {warning}");
    }
});
