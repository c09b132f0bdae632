//! One file of the cache: a mark, a checksum, the bytes.
//!
//! The checksum is over the program's key and the entry's name, too, so that a file at another
//! place is not taken for what should be there. It guards against damage, not against whoever may
//! write to the user's own folder.

use super::key::Key;

const MARK: &[u8; 8] = b"ompvm 1\n";
const HEAD: usize = MARK.len() + 32;

fn checksum(key: &Key, name: &str, bytes: &[u8]) -> [u8; 32] {
    let mut hash = blake3::Hasher::new_keyed(key);
    hash.update(&(name.len() as u64).to_le_bytes());
    hash.update(name.as_bytes());
    hash.update(bytes);
    *hash.finalize().as_bytes()
}

/// The file that keeps `bytes`.
pub(super) fn pack(key: &Key, name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(HEAD + bytes.len());
    file.extend(MARK);
    file.extend(checksum(key, name, bytes));
    file.extend(bytes);
    file
}

/// What a file keeps; `None` when it is damaged or another's.
pub(super) fn unpack(key: &Key, name: &str, mut file: Vec<u8>) -> Option<Vec<u8>> {
    let good = {
        let (head, bytes) = file.split_at_checked(HEAD)?;
        let (mark, sum) = head.split_at(MARK.len());
        mark == MARK && sum == checksum(key, name, bytes)
    };
    good.then(|| {
        file.drain(..HEAD);
        file
    })
}
