//! Retargets the textual form of device code to the host and removes address spaces.
//!
//! Pointers of different address spaces are different types throughout a module, and LLVM has no
//! pass that unifies them; in the text they are a suffix. LLVM prints one canonical form, so a
//! small scanner that knows strings and comments suffices.

/// Rewrites a module that LLVM printed.
pub(crate) fn retarget(printed: &str, layout: &str) -> String {
    let mut out = String::with_capacity(printed.len());
    for line in printed.lines() {
        if line.starts_with("target datalayout = ") {
            out.push_str(&format!("target datalayout = \"{layout}\"\n"));
        } else if line.starts_with("target triple = ") {
            out.push_str("target triple = \"x86_64-unknown-linux-gnu\"\n");
        } else {
            rewrite(line, &mut out);
            out.push('\n');
        }
    }
    out
}

/// Rewrites one line; strings stay unchanged.
fn rewrite(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some(quote) = rest.find('"') {
        let (before, from) = rest.split_at(quote);
        plain(before, out);
        let end = from[1..].find('"').map_or(from.len(), |n| n + 2);
        out.push_str(&from[..end]);
        rest = &from[end..];
    }
    plain(rest, out);
}

/// Rewrites text without strings.
fn plain(mut text: &str, out: &mut String) {
    const SPACE: &str = "addrspace(";
    loop {
        let words = [
            SPACE,
            "addrspacecast ",
            "addrspacecast(",
            "ptx_kernel ",
            "ptx_device ",
        ];
        let found = words
            .iter()
            .filter_map(|w| Some((text.find(w)?, *w)))
            .min_by_key(|f| f.0);
        let Some((at, word)) = found else {
            out.push_str(text);
            return;
        };
        let (before, from) = text.split_at(at);
        match word {
            SPACE => {
                let end = from.find(')').map_or(from.len(), |n| n + 1);
                text = &from[end..];
                // One of the surrounding blanks is removed, too.
                out.push_str(before.strip_suffix(' ').unwrap_or(before));
            }
            "ptx_kernel " | "ptx_device " => {
                out.push_str(before);
                text = &from[word.len()..];
            }
            _ => {
                out.push_str(before);
                out.push_str("bitcast");
                text = &from["addrspacecast".len()..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rewrite;

    fn line(text: &str) -> String {
        let mut out = String::new();
        rewrite(text, &mut out);
        out
    }

    #[test]
    fn address_spaces_are_removed_outside_of_strings() {
        assert_eq!(
            line("  %16 = addrspacecast ptr %6 to ptr addrspace(5)"),
            "  %16 = bitcast ptr %6 to ptr"
        );
        assert_eq!(
            line(
                "@x = internal addrspace(3) global ptr addrspacecast (ptr addrspace(1) @y to ptr), \
                 align 4"
            ),
            "@x = internal global ptr bitcast (ptr @y to ptr), align 4"
        );
        assert_eq!(
            line("@s = constant [4 x i8] c\"addrspace(3)\\22\", align 1"),
            "@s = constant [4 x i8] c\"addrspace(3)\\22\", align 1"
        );
        assert_eq!(
            line("define weak_odr protected ptx_kernel void @k(ptr addrspace(1) %0, i64 %1) #0 {"),
            "define weak_odr protected void @k(ptr %0, i64 %1) #0 {"
        );
        assert_eq!(
            line("call void @f(ptr addrspace(1) %p)"),
            "call void @f(ptr %p)"
        );
    }
}
