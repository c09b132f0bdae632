//! Tests of files that are read back, intact and damaged.

use super::{Cache, file};

const KEY: [u8; 32] = [7; 32];

#[test]
fn a_file_is_read_back() {
    let packed = file::pack(&KEY, "module", b"some bytes");
    let bytes = file::unpack(&KEY, "module", packed);
    assert_eq!(bytes.as_deref(), Some(&b"some bytes"[..]));
}

#[test]
fn any_flipped_bit_or_truncation_is_detected() {
    let packed = file::pack(&KEY, "module", &[0x5a; 100]);
    for at in 0..packed.len() {
        for bit in 0..8 {
            let mut damaged = packed.clone();
            damaged[at] ^= 1 << bit;
            assert_eq!(file::unpack(&KEY, "module", damaged), None, "{at}:{bit}");
        }
        assert_eq!(file::unpack(&KEY, "module", packed[..at].to_vec()), None);
    }
    let mut longer = packed.clone();
    longer.push(0);
    assert_eq!(file::unpack(&KEY, "module", longer), None);
}

#[test]
fn a_file_of_another_entry_is_refused() {
    let packed = file::pack(&KEY, "module", b"bytes");
    assert_eq!(file::unpack(&[8; 32], "module", packed.clone()), None);
    assert_eq!(file::unpack(&KEY, "unit-1", packed), None);
}

#[test]
fn a_missing_folder_is_empty() {
    let cache = Cache::new("/nonexistent/ompvm").limit(5);
    let content = cache.content();
    assert_eq!((content.programs, content.bytes, content.limit), (0, 0, 5));
    assert_eq!(cache.clear(), 0);
}
