//! What make, cmake and ninja print around the compiler: their steps, and how those ended.

use crate::text::{number, starts};

/// Returns whether a line says how a step, or the whole build, ended.
pub(super) fn outcome(text: &str) -> bool {
    let make = text.starts_with("make") || text.starts_with("gmake") || text.starts_with("ninja: ");
    if make && (text.contains("*** ") || text.contains(" not remade because of errors") || text.starts_with("ninja: "))
    {
        return true;
    }
    text.starts_with("FAILED: ")
        || text.starts_with("collect2: ")
        || text.contains(": error: linker command failed")
        || text.ends_with(": some warnings being treated as errors")
        || ((text.starts_with("clang") || text.starts_with("gcc: ") || text.starts_with("cc1"))
            && text.contains(": error: "))
        || text.starts_with("Undefined symbols for architecture")
}

pub(super) fn is_step(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'[') => numbered(text).is_some_and(|said| starts(said, &SORTS)),
        Some(b' ') => {
            let inner = text.trim_start();
            let file = SHORT.iter().find_map(|sort| inner.strip_prefix(sort)).map_or("", str::trim);
            text.len() - inner.len() <= 4 && !file.contains("  ") && file.contains('.')
        }
        Some(b'm' | b'g' | b'c' | b'/') => {
            let folders = text.starts_with("make")
                && (text.contains("]: Entering directory")
                    || text.contains("]: Leaving directory")
                    || text.starts_with("make: Entering")
                    || text.starts_with("make: Leaving"));
            let program = text.split(' ').next().and_then(|path| path.rsplit('/').next());
            let compiles = matches!(program, Some("gcc" | "g++" | "cc" | "c++" | "clang" | "clang++"));
            folders || (compiles && text.contains(" -"))
        }
        _ => false,
    }
}

/// How steps begin after their number, and how make abbreviates them.
#[rustfmt::skip]
const SORTS: [&str; 8] = [
    "Building", "Linking", "Built target", "Generating", "Automatic", "Compiling", "Scanning", "Re-running",
];
const SHORT: [&str; 10] = ["CC ", "CXX ", "LD ", "AR ", "AS ", "CCLD ", "CXXLD ", "GEN ", "HOSTCC ", "LINK "];

/// Returns the text after `[ 12%] ` or `[3/40] `.
fn numbered(text: &str) -> Option<&str> {
    let (_, rest) = number(text.strip_prefix('[')?.trim_start())?;
    rest.strip_prefix("%] ").or_else(|| number(rest.strip_prefix('/')?)?.1.strip_prefix("] "))
}

/// Returns the target that make failed to build: the text before the closing bracket.
pub(super) fn target(text: &str) -> Option<&str> {
    let (_, inner) = text.split_once("*** [")?;
    let (inner, _) = inner.split_once("] Error ")?;
    Some(inner.rsplit(": ").next().unwrap_or(inner))
}
