//! Reads device images from the section `.llvm.offloading`.
//!
//! The format is LLVM's `OffloadBinary`, version 1; a section holds several, each padded to eight
//! bytes: `{u32 magic, u32 version, u64 size, u64 entry, u64 entry_size}`, with the entry `{u16
//! image kind, u16 offload kind, u32 flags, u64 strings, u64 count, u64 image, u64 image_size}`.
//! Strings are pairs of offsets of zero-terminated strings. The contents of an image are not
//! checked here: the linker finds damaged ones.

/// A device image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Target triple (`nvptx64-nvidia-cuda`).
    pub triple: String,
    /// Architecture (`sm_90`).
    pub arch: String,
    /// Bitcode.
    pub bytes: Vec<u8>,
}

const MAGIC: u32 = 0xad10_ff10;
/// Image kind: bitcode.
const BITCODE: u16 = 2;
/// Offload kind: OpenMP.
const OPENMP: u16 = 1;

/// Reads the OpenMP bitcode images of a section.
///
/// # Errors
/// A description of the damage.
pub fn read(mut bytes: &[u8]) -> Result<Vec<Image>, String> {
    let mut images = Vec::new();
    while bytes.iter().any(|&b| b != 0) {
        let size = read_number(bytes, 8, 8)?;
        if read_number(bytes, 0, 4)? != u64::from(MAGIC) {
            return Err("it has no device image header".into());
        }
        let version = read_number(bytes, 4, 4)?;
        if version != 1 {
            return Err(format!(
                "its version is {version}, but only version 1 is supported"
            ));
        }
        let whole = slice_of(bytes, 0, size)?;
        images.extend(read_image(whole)?);
        bytes = &bytes[(size as usize).next_multiple_of(8).min(bytes.len())..];
        if size == 0 {
            return Err("its size is 0".into());
        }
    }
    Ok(images)
}

fn read_image(bytes: &[u8]) -> Result<Option<Image>, String> {
    let entry = slice_of(
        bytes,
        read_number(bytes, 16, 8)?,
        read_number(bytes, 24, 8)?,
    )?;
    if read_number(entry, 2, 2)? != u64::from(OPENMP) {
        return Ok(None);
    }
    let kind = read_number(entry, 0, 2)?;
    let (strings, count) = (read_number(entry, 8, 8)?, read_number(entry, 16, 8)?);
    let image = slice_of(
        bytes,
        read_number(entry, 24, 8)?,
        read_number(entry, 32, 8)?,
    )?;
    let mut found = Image {
        triple: String::new(),
        arch: String::new(),
        bytes: image.to_vec(),
    };
    for n in 0..count.min(64) {
        let pair = slice_of(bytes, strings.saturating_add(16 * n), 16)?;
        let key = read_string(bytes, read_number(pair, 0, 8)?)?;
        let value = read_string(bytes, read_number(pair, 8, 8)?)?;
        match key.as_str() {
            "triple" => found.triple = value,
            "arch" => found.arch = value,
            _ => {}
        }
    }
    // Machine code images are skipped.
    Ok((kind == u64::from(BITCODE)).then_some(found))
}

fn slice_of(bytes: &[u8], start: u64, len: u64) -> Result<&[u8], String> {
    let end = start.checked_add(len);
    let range = end.and_then(|end| bytes.get(start as usize..end as usize));
    range.ok_or_else(|| "it is truncated".to_owned())
}

fn read_number(bytes: &[u8], at: usize, len: usize) -> Result<u64, String> {
    let bytes = slice_of(bytes, at as u64, len as u64)?;
    Ok(bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
}

fn read_string(bytes: &[u8], at: u64) -> Result<String, String> {
    let rest = bytes.get(at as usize..).unwrap_or(&[]);
    let end = rest.iter().position(|&b| b == 0);
    let end = end.ok_or_else(|| "it contains an unterminated string".to_owned())?;
    Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut b = Vec::new();
        b.extend(MAGIC.to_le_bytes());
        b.extend(1u32.to_le_bytes());
        b.extend(144u64.to_le_bytes());
        b.extend(32u64.to_le_bytes());
        b.extend(40u64.to_le_bytes());
        b.extend([2, 0, 1, 0, 0, 0, 0, 0]);
        for n in [72u64, 2, 136, 4] {
            b.extend(n.to_le_bytes());
        }
        for n in [104u64, 111, 116, 121] {
            b.extend(n.to_le_bytes());
        }
        b.extend(b"triple\0nvpt\0arch\0sm_90\0");
        b.resize(136, 0);
        b.extend(b"BC\xc0\xde");
        b.resize(144, 0);
        b
    }

    #[test]
    fn offload_images_are_read() {
        let image = sample();
        let images = read(&image).unwrap();
        assert_eq!(images.len(), 1);
        assert_eq!(images[0].triple, "nvpt");
        assert_eq!(images[0].arch, "sm_90");
        assert_eq!(images[0].bytes, b"BC\xc0\xde");
        let two = [image.clone(), image].concat();
        assert_eq!(read(&two).unwrap().len(), 2);
    }

    #[test]
    fn offload_damaged_images_are_reported() {
        let good = sample();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0xff;
            // Reading must not panic; the result does not matter.
            let _ = read(&bad);
            let _ = read(&good[..at]);
        }
        // Extreme values of every number.
        for at in [8, 16, 24, 40, 48, 56, 64, 72, 80, 88, 96] {
            for n in [
                0,
                1,
                143,
                145,
                1 << 31,
                1 << 32,
                1 << 63,
                u64::MAX - 7,
                u64::MAX,
            ] {
                let mut bad = good.clone();
                bad[at..at + 8].copy_from_slice(&n.to_le_bytes());
                let _ = read(&bad);
            }
        }
        assert!(read(&good[..100]).is_err());
        let mut bad = good.clone();
        bad[0] = 0;
        assert!(read(&bad).is_err());
    }
}
