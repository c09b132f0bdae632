//! Format of a file in the cache: a magic number, a checksum, the bytes.
//!
//! The checksum also covers the program's key and the file's name, so a file in the wrong place is
//! not accepted. It guards against damage, not against someone who can write to the user's folder.

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

/// Returns the contents of the file that stores `bytes`.
pub(super) fn pack(key: &Key, name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(HEAD + bytes.len());
    file.extend(MARK);
    file.extend(checksum(key, name, bytes));
    file.extend(bytes);
    file
}

/// Returns the bytes that a file stores; `None` if the file is damaged or belongs elsewhere.
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
