//! Damages bytes: bits, words, lengths, lines, and parts of other files.

use std::path::Path;

/// A stream of numbers by SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(u64);

impl Random {
    /// Returns the stream of one input.
    pub fn new(seed: u64, n: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0xD1B5_4A32_D192_ED03) ^ n);
        random.next();
        random
    }

    /// Returns the next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Returns one of the elements.
    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// The intact files of a surface.
pub struct Corpus {
    pub files: Vec<Vec<u8>>,
}

impl Corpus {
    /// Loads the files of a surface, in the order of their names.
    pub fn load(folder: &Path, surface: &str) -> Corpus {
        let surface = match surface {
            "contained" => "bitcode",
            other => other,
        };
        let list = std::fs::read_dir(folder.join(surface))
            .into_iter()
            .flatten();
        let mut names: Vec<_> = list.flatten().map(|e| e.path()).collect();
        names.sort();
        let files: Vec<_> = names.iter().filter_map(|n| std::fs::read(n).ok()).collect();
        Corpus { files }
    }

    /// Returns one of the files.
    pub fn pick(&self, random: &mut Random) -> &[u8] {
        match self.files.is_empty() {
            true => b"",
            false => &self.files[random.below(self.files.len())],
        }
    }
}

/// Numbers at which lengths and counts go wrong.
const NUMBERS: [u64; 12] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
];

/// Returns a damaged copy of one of the corpus's files.
pub fn bytes(corpus: &Corpus, random: &mut Random) -> Vec<u8> {
    let mut bytes = corpus.pick(random).to_vec();
    for _ in 0..1 + random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(10) {
            0..4 => bytes[at] ^= 1 << random.below(8),
            4 => bytes[at] = random.next() as u8,
            5 => {
                let size = [1, 2, 4, 8][random.below(4)];
                let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                let size = size.min(bytes.len() - at);
                bytes[at..at + size].copy_from_slice(&number[..size]);
            }
            6 => bytes.truncate(at),
            7 => {
                let end = (at + 1 + random.below(64)).min(bytes.len());
                bytes.drain(at..end);
            }
            8 => {
                let end = (at + 1 + random.below(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, part);
            }
            _ => splice(&mut bytes, corpus, random),
        }
    }
    bytes
}

/// Overwrites a part with a part of another file.
fn splice(bytes: &mut [u8], corpus: &Corpus, random: &mut Random) {
    let other = corpus.pick(random);
    let size = (1 + random.below(256)).min(other.len()).min(bytes.len());
    let from = random.below(other.len() - size + 1);
    let to = random.below(bytes.len() - size + 1);
    bytes[to..to + size].copy_from_slice(&other[from..from + size]);
}

/// Words that change the meaning of textual IR.
const WORDS: [&str; 40] = [
    "i1",
    "i32",
    "i64",
    "i65535",
    "float",
    "double",
    "ptr",
    "void",
    "x86_fp80",
    "fp128",
    "token",
    "label",
    "metadata",
    "null",
    "undef",
    "poison",
    "zeroinitializer",
    "true",
    "0",
    "-1",
    "4294967295",
    "99999999999999999999",
    "<4 x i32>",
    "<vscale x 2 x i64>",
    "[0 x i8]",
    "[4294967296 x i8]",
    "{}",
    "{ i32, ptr }",
    "%x",
    "@f",
    "!0",
    "#0",
    "align 3",
    "align 4294967296",
    "addrspace(7)",
    "musttail",
    "inalloca",
    "byval(i32)",
    "blockaddress(@f, %x)",
    "!{!0, !1}",
];

/// Returns a damaged copy of one of the corpus's texts.
pub fn text(corpus: &Corpus, random: &mut Random) -> Vec<u8> {
    if random.below(4) == 0 {
        return bytes(corpus, random);
    }
    let text = String::from_utf8_lossy(corpus.pick(random)).into_owned();
    let other = String::from_utf8_lossy(corpus.pick(random)).into_owned();
    let others: Vec<&str> = other.lines().collect();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + random.below(3) {
        if lines.is_empty() {
            break;
        }
        let at = random.below(lines.len());
        match random.below(8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[random.below(lines.len())].clone()),
            2 if !others.is_empty() => lines.insert(at, random.pick(&others).to_owned()),
            3 => {
                let to = random.below(lines.len());
                lines.swap(at, to);
            }
            _ => lines[at] = replace_word(&lines[at], random),
        }
    }
    lines.join("\n").into_bytes()
}

/// Replaces a word of a line.
fn replace_word(line: &str, random: &mut Random) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    let at = random.below(words.len());
    words[at] = random.pick(&WORDS);
    words.join(" ")
}
