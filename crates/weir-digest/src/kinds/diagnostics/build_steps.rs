//! What make, cmake and ninja print around the compiler: their steps, and how those ended.

use crate::text::number;

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

/// Returns the sort of step that a build announces.
pub(super) fn step(text: &str) -> Option<&'static str> {
    match *text.as_bytes().first()? {
        b'[' => {
            let (_, rest) = number(text.get(1..)?.trim_start())?;
            let said = match rest.strip_prefix("%] ") {
                Some(said) => said,
                None => number(rest.strip_prefix('/')?)?.1.strip_prefix("] ")?,
            };
            #[rustfmt::skip]
            const SORTS: &[&str] = &[
                "Building", "Linking", "Built target", "Generating", "Automatic", "Compiling", "Scanning", "Re-running",
            ];
            SORTS.iter().find(|sort| said.starts_with(**sort)).copied()
        }
        b' ' => {
            let inner = text.trim_start();
            const SORTS: &[&str] = &["CC ", "CXX ", "LD ", "AR ", "AS ", "CCLD ", "CXXLD ", "GEN ", "HOSTCC ", "LINK "];
            let sort = SORTS.iter().find(|sort| inner.starts_with(**sort))?;
            let file = inner.get(sort.len()..)?.trim();
            (text.len() - inner.len() <= 4 && !file.contains("  ") && file.contains('.')).then_some(sort.trim())
        }
        b'm' | b'g' | b'c' | b'/' => {
            if text.starts_with("make")
                && (text.contains("]: Entering directory")
                    || text.contains("]: Leaving directory")
                    || text.starts_with("make: Entering")
                    || text.starts_with("make: Leaving"))
            {
                return Some("folders entered or left");
            }
            let program = text.split(' ').next()?.rsplit('/').next()?;
            let compiles = matches!(program, "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++") && text.contains(" -");
            compiles.then_some("compiler commands")
        }
        _ => None,
    }
}

/// Returns the target that make failed to build: the text before the closing bracket.
pub(super) fn target(text: &str) -> Option<&str> {
    let (_, inner) = text.split_once("*** [")?;
    let (inner, _) = inner.split_once("] Error ")?;
    Some(inner.rsplit(": ").next().unwrap_or(inner))
}
