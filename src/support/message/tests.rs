//! The table of kinds, its page, and the parts of places.

use super::json::split_place;
use super::*;
use std::collections::HashSet;

#[test]
fn the_table_has_each_kind_in_the_order_of_the_definition() {
    for (i, row) in KINDS.iter().enumerate() {
        assert_eq!(row.kind as usize, i, "{}", row.name);
    }
    assert_eq!(Kind::Warning as usize + 1, KINDS.len());
    let names: HashSet<_> = KINDS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), KINDS.len());
}

#[test]
fn the_page_on_messages_has_the_table() {
    let mut table = String::from("| Kind | Blame | End | Remedy |\n|---|---|---|---|\n");
    for row in KINDS {
        let end = match row.ending {
            Ending::Status(status) => format!("status {status}"),
            Ending::Signal => "the signal".to_owned(),
            Ending::Continues => "goes on".to_owned(),
        };
        table += &format!(
            "| `{}` | {} | {end} | {} |\n",
            row.name,
            row.blame.name(),
            row.remedy
        );
    }
    let page = include_str!("../../../docs/src/messages.md");
    assert!(page.contains(&table), "messages.md lacks\n{table}");
}

#[test]
fn places_have_parts() {
    assert_eq!(split_place("a.c:12:3"), ("a.c", Some(12), Some(3)));
    assert_eq!(split_place("a:b.c:12"), ("a:b.c", Some(12), None));
    assert_eq!(split_place("a.c"), ("a.c", None, None));
    assert_eq!(split_place(""), ("", None, None));
}
