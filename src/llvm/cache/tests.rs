//! Tests of entries that are read back, intact and damaged.

use super::{Cache, entry, size};

const KEY: [u8; 32] = [7; 32];

#[test]
fn an_entry_is_read_back() {
    let file = entry::pack(&KEY, "module", b"some bytes");
    let bytes = entry::unpack(&KEY, "module", file);
    assert_eq!(bytes.as_deref(), Some(&b"some bytes"[..]));
}

#[test]
fn every_flipped_bit_and_every_cut_is_noticed() {
    let file = entry::pack(&KEY, "module", &[0x5a; 100]);
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << bit;
            assert_eq!(entry::unpack(&KEY, "module", damaged), None, "{at}:{bit}");
        }
        assert_eq!(entry::unpack(&KEY, "module", file[..at].to_vec()), None);
    }
    let mut longer = file.clone();
    longer.push(0);
    assert_eq!(entry::unpack(&KEY, "module", longer), None);
}

#[test]
fn an_entry_of_another_is_not_taken() {
    let file = entry::pack(&KEY, "module", b"bytes");
    assert_eq!(entry::unpack(&[8; 32], "module", file.clone()), None);
    assert_eq!(entry::unpack(&KEY, "unit-1", file), None);
}

#[test]
fn sizes_are_understood() {
    assert_eq!(size("1000"), Some(1000));
    assert_eq!(size("2K"), Some(2048));
    assert_eq!(size(" 3 MiB "), Some(3 << 20));
    assert_eq!(size("1G"), Some(1 << 30));
    for wrong in ["", "M", "-1", "1T", "1.5G"] {
        assert_eq!(size(wrong), None, "{wrong}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_empty() {
    let cache = Cache::new("/nonexistent/ompvm").limit(5);
    let content = cache.content();
    assert_eq!((content.programs, content.bytes, content.limit), (0, 0, 5));
    assert_eq!(cache.clear(), 0);
}
