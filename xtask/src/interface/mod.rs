//! Records of the public interfaces: of the crate, and of the C library.
//!
//! A record lists every public item in one line. A line that is gone or different breaks programs, so
//! `cargo xtask interface` and a test refuse it unless the version in the record's first line has
//! changed, too: the minor version of the crate (the major one from 1.0), and `OMPVM_ABI`. New lines are compatible; the
//! command records them.
//!
//! Compares text: a change of a line that breaks nothing is refused, too, and is made in the record by
//! hand. Knows no bounds of generic parameters that callers fulfil by chance.

mod c;
mod rust;

use crate::process::root;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A public interface as it is now.
struct Interface {
    /// Name of the record below `tests/interface`.
    record: &'static str,
    /// The version that must change with an incompatible change.
    version: String,
    items: BTreeSet<String>,
}

fn all() -> Result<[Interface; 2], String> {
    Ok([rust::interface()?, c::interface()?])
}

/// Compares a record with the lines of an interface. Returns the lines to add.
fn compare<'a>(record: &str, interface: &'a Interface) -> Result<Vec<&'a str>, String> {
    let mut lines = record.lines();
    let version = lines.next().unwrap_or_default();
    let recorded: BTreeSet<&str> = lines.collect();
    let gone: Vec<_> = recorded
        .iter()
        .filter(|line| !interface.items.contains(**line))
        .collect();
    if version == interface.version && !gone.is_empty() {
        let list: String = gone.iter().map(|line| format!("\n  {line}")).collect();
        return Err(format!(
            "these were public in {version} and are gone or different: restore them, or raise the version{list}"
        ));
    }
    let items = interface.items.iter().map(String::as_str);
    Ok(items.filter(|item| !recorded.contains(item)).collect())
}

fn path(interface: &Interface) -> PathBuf {
    root().join("tests/interface").join(interface.record)
}

/// Records new items, unless others changed without a new version.
pub fn run() -> Result<(), String> {
    for interface in all()? {
        let path = path(&interface);
        let record = std::fs::read_to_string(&path).unwrap_or_default();
        let added = compare(&record, &interface)?.len();
        let lines = interface.items.iter().map(String::as_str);
        let lines: Vec<_> = [&*interface.version].into_iter().chain(lines).collect();
        std::fs::write(&path, lines.join("\n") + "\n")
            .map_err(|e| format!("{}: {e}", path.display()))?;
        println!(
            "{}: {}, {added} new items",
            interface.record, interface.version
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_recorded_and_compatible() {
        for interface in all().unwrap() {
            let record = std::fs::read_to_string(path(&interface)).unwrap();
            assert_eq!(
                record.lines().next(),
                Some(&*interface.version),
                "record it: cargo xtask interface"
            );
            let added = compare(&record, &interface).unwrap();
            assert!(
                added.is_empty(),
                "record these: cargo xtask interface\n{added:#?}"
            );
        }
    }

    #[test]
    fn changes_need_a_new_version() {
        let mut interface = Interface {
            record: "",
            version: "crate 0.1".into(),
            items: ["fn a()".to_owned(), "fn b(i32)".to_owned()].into(),
        };
        assert_eq!(
            compare("crate 0.1\nfn a()\n", &interface),
            Ok(vec!["fn b(i32)"])
        );
        assert!(compare("crate 0.1\nfn a()\nfn b(i64)\n", &interface).is_err());
        interface.version = "crate 0.2".into();
        assert_eq!(
            compare("crate 0.1\nfn a()\nfn b(i64)\n", &interface),
            Ok(vec!["fn b(i32)"])
        );
    }
}
