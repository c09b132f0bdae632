//! Damaged device images: a program with one ends by itself, with a message if the image is
//! refused.
//!
//! The program is textual IR, whose image is a constant that can be changed and put back. Many
//! random changes cover what the image reader trusts. Does not check the words of the message,
//! apart from the blame: LLVM has many.

use crate::compile::llvm_bin;
use crate::run::{End, LIMIT, Ran, run};
use crate::{ompvm, root};
use libtest_mimic::Trial;
use std::process::Command;
use std::time::Duration;

const PROGRAM: &str = "\
#include <stdio.h>
int main(void) {
  int v[8] = {0}, sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : v) reduction(+ : sum)
  for (int i = 0; i < 8; i++) v[i] = i * 3, sum += i;
  printf(\"computed %d %d\\n\", v[7], sum);
  return 0;
}
";

/// Bytes of the header and the entry (`offload::image` describes them).
const HEADER: usize = 72;

/// Returns one trial per kind of damage.
pub fn trials() -> Vec<Trial> {
    let trial = |name: &str, check: fn(&Guest) -> Result<(), String>| {
        let title = format!("images/{name}");
        let file = name.to_owned();
        Trial::test(title, move || Ok(check(&Guest::new(&file)?)?))
    };
    vec![
        trial("whole", |g| {
            let ran = g.run(&g.image, "mandatory")?;
            computed(&ran)
        }),
        trial("truncated", |g| {
            let at = [1, 7, 8, 23, 24, 39, HEADER, 100, g.image.len() / 2];
            for keep in at.into_iter().chain([g.image.len() - 1]) {
                g.refused(&g.image[..keep], "it is truncated")?;
            }
            Ok(())
        }),
        trial("foreign", |g| {
            g.refused(&changed(&g.image, 0, 0x55), "it has no device image header")?;
            g.refused(&changed(&g.image, 4, 0x06), "its version is 7")?;
            g.refused(&[0x55; 64], "")?;
            // No image for a device: the host's version runs.
            computed(&g.run(&[0; 64], "default")?)
        }),
        trial("sizes", |g| {
            for at in (8..HEADER).step_by(8) {
                for n in [
                    0,
                    1,
                    g.image.len() as u64 + 1,
                    1 << 32,
                    1 << 63,
                    u64::MAX - 7,
                    u64::MAX,
                ] {
                    let mut image = g.image.clone();
                    image[at..at + 8].copy_from_slice(&n.to_le_bytes());
                    g.survives(&image)?;
                }
            }
            Ok(())
        }),
        trial("bits_of_the_header", |g| g.flips(0..200, 40)),
        trial("bits_of_the_code", |g| g.flips(200..g.image.len(), 60)),
    ]
}

/// The program as text around its image.
struct Guest {
    name: String,
    before: Vec<u8>,
    image: Vec<u8>,
    after: Vec<u8>,
}

impl Guest {
    fn new(name: &str) -> Result<Guest, String> {
        let folder = root().join("target/guests");
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let source = folder.join(format!("image_{name}.c"));
        std::fs::write(&source, PROGRAM).map_err(|e| e.to_string())?;
        let text = source.with_extension("ll");
        let mut clang = Command::new(llvm_bin().join("clang"));
        clang.args(["-O1", "-fopenmp", "--offload-arch=sm_90", "-nogpulib"]);
        clang.args(["--cuda-feature=+ptx83", "-S", "-emit-llvm", "-o"]);
        let built = run(clang.arg(&text).arg(&source), "", LIMIT)?;
        if built.end != End::Exit(0) {
            return Err(built.summary());
        }
        let text = std::fs::read(text).map_err(|e| e.to_string())?;
        let start = b"@llvm.embedded.object = private constant [";
        let missing = || "the program has no image".to_owned();
        let at = find(&text, start).ok_or_else(missing)?;
        let open = at + find(&text[at..], b"c\"").ok_or_else(missing)? + 2;
        let close = open + find(&text[open..], b"\"").ok_or_else(missing)?;
        Ok(Guest {
            name: name.to_owned(),
            before: text[..at].to_vec(),
            image: decoded(&text[open..close])?,
            after: text[close + 1..].to_vec(),
        })
    }

    fn run(&self, image: &[u8], policy: &str) -> Result<Ran, String> {
        let mut text = self.before.clone();
        let bytes: String = image.iter().map(|b| format!("\\{b:02X}")).collect();
        let length = image.len();
        text.extend(
            format!("@llvm.embedded.object = private constant [{length} x i8] c\"{bytes}\"")
                .bytes(),
        );
        text.extend(&self.after);
        let file = root().join(format!("target/guests/image_{}.damaged.ll", self.name));
        std::fs::write(&file, text).map_err(|e| e.to_string())?;
        let mut command = Command::new(ompvm());
        command.args(["run", "--device=emulated"]).arg(file);
        command
            .env("OMP_NUM_THREADS", "2")
            .env("OMP_TARGET_OFFLOAD", policy)
            .env("OMPVM_TARGET_TIMEOUT", "5");
        run(&mut command, "", Duration::from_secs(30))
    }

    /// Checks that the image is refused at load, for this reason.
    fn refused(&self, image: &[u8], why: &str) -> Result<(), String> {
        let ran = self.run(image, "default")?;
        let told = format!("its device image is damaged: {why}");
        if ran.end == End::Exit(125) && ran.stdout.is_empty() && ran.stderr.contains(&told) {
            return Ok(());
        }
        Err(format!("`{told}` is missing: {}", ran.summary()))
    }

    /// Checks that the program ends by itself, normally or with ompvm's message about the cause.
    fn survives(&self, image: &[u8]) -> Result<(), String> {
        let ran = self.run(image, "default")?;
        let ours = ran.stderr.contains("ompvm: ") && !ran.stderr.contains("panicked");
        match ran.end {
            // Changed code may compute something else, or fault as a device reports.
            End::Exit(0) if ran.stdout.starts_with("computed ") => Ok(()),
            End::Exit(125) | End::Signal(libc::SIGABRT) if ours => Ok(()),
            _ => Err(ran.summary()),
        }
    }

    /// Flips bits at pseudo-random positions, the same in every run.
    fn flips(&self, range: std::ops::Range<usize>, count: u64) -> Result<(), String> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..count {
            let at = range.start + random(range.len());
            let bits = 1 << random(8);
            self.survives(&changed(&self.image, at, bits))
                .map_err(|e| format!("byte {at}, bits {bits:#x}: {e}"))?;
        }
        Ok(())
    }
}

fn computed(ran: &Ran) -> Result<(), String> {
    if ran.end == End::Exit(0) && ran.stdout == "computed 21 28\n" {
        return Ok(());
    }
    Err(ran.summary())
}

fn changed(image: &[u8], at: usize, bits: u8) -> Vec<u8> {
    let mut image = image.to_vec();
    image[at] ^= bits;
    image
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|w| w == what)
}

/// Decodes a constant string of LLVM's textual IR.
fn decoded(text: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (byte, used) = match &text[at..] {
            [b'\\', b'\\', ..] => (b'\\', 2),
            [b'\\', high, low, ..] => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).map_err(|e| e.to_string())?;
                (
                    u8::from_str_radix(digits, 16).map_err(|e| e.to_string())?,
                    3,
                )
            }
            [byte, ..] => (*byte, 1),
            [] => break,
        };
        bytes.push(byte);
        at += used;
    }
    Ok(bytes)
}
